//! The server as its clients see it, by raw bytes where no browser would send such.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::files::CopyOf;
use super::{Files, Limits, PageServer, assets};
use crate::data::random::SplitMix64;
use crate::sys::Db;
use crate::viz::copy::CopyKind;
use crate::viz::tests::{EVERYTHING, folder, make, model, stock};

/// So short that a test can wait for them.
const SHORT: Limits = Limits {
    connections: 4,
    head: Duration::from_millis(300),
    body: Duration::from_millis(300),
    taken: Duration::from_millis(500),
    once: Duration::from_millis(100),
    ..Limits::ORDINARY
};
/// How long something may take that happens in another thread.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server in a thread of its own.
struct Site {
    address: String,
    port: u16,
    once: String,
    files: Arc<Files>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    fn of(paths: &[&Path]) -> Site {
        Site::with(paths, Limits::ORDINARY)
    }

    fn with(paths: &[&Path], limits: Limits) -> Site {
        let files = Arc::new(Files::default());
        for path in paths {
            let name = path.file_name().unwrap().to_str().unwrap();
            files.open(name, path).unwrap();
        }
        let server = PageServer::listen(files.clone(), 0, limits).unwrap();
        let address = server.address();
        let once = server.address_for_once().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            server.run(|| stopped.load(Ordering::Relaxed)).unwrap();
        });
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        Site {
            port: rest.split('/').next().unwrap().parse().unwrap(),
            address,
            once,
            files,
            stop,
            thread: Some(thread),
        }
    }

    /// `/TOKEN/` and what is below it.
    fn path(&self, below: &str) -> String {
        let token = self.address.rsplit('/').nth(1).unwrap();
        format!("/{token}/{below}")
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// What comes back for some bytes.
    fn raw(&self, bytes: &[u8]) -> HttpReply {
        let mut stream = self.connect();
        // Who is refused early may find the connection closed.
        let _ = stream.write_all(bytes);
        HttpReply::read(&mut stream)
    }

    /// The same for bytes that are no whole request.
    fn raw_and_gone(&self, bytes: &[u8]) -> HttpReply {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        HttpReply::read(&mut stream)
    }

    /// A request with these lines of head, to which its own name is added.
    fn request(&self, line: &str, head: &[&str], body: &str) -> HttpReply {
        let mut text = format!(
            "{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n",
            self.port
        );
        for line in head {
            text += &format!("{line}\r\n");
        }
        self.raw(format!("{text}\r\n{body}").as_bytes())
    }

    fn get(&self, below: &str) -> HttpReply {
        self.request(&format!("GET {}", self.path(below)), &[], "")
    }

    fn post(&self, below: &str, body: &str) -> HttpReply {
        let length = format!("Content-Length: {}", body.len());
        let head = ["Content-Type: application/json", &length];
        self.request(&format!("POST {}", self.path(below)), &head, body)
    }

    fn json(&self, below: &str) -> Value {
        self.get(below).json()
    }

    fn numbers(&self, below: &str) -> Vec<u32> {
        let bytes = self.get(below).expect(200).body;
        let number = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
        bytes.chunks_exact(4).map(number).collect()
    }

    /// Waits until all files were scanned.
    fn scanned(self) -> Site {
        wait_until(|| {
            let all = self.json("api/files");
            let all = all.as_array().unwrap();
            all.iter().all(|file| file["state"] == "ready")
        });
        self
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

#[track_caller]
fn wait_until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "it did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[derive(Debug)]
struct HttpReply {
    /// 0: the connection was closed without an answer.
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl HttpReply {
    fn read(stream: &mut TcpStream) -> HttpReply {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
        let (head, body) = match end {
            Some(end) => (&bytes[..end], &bytes[end + 4..]),
            None => (&bytes[..], &[][..]),
        };
        let head = String::from_utf8_lossy(head).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        HttpReply {
            status: status.unwrap_or(0),
            head,
            body: body.to_vec(),
        }
    }

    #[track_caller]
    fn expect(self, status: u16) -> HttpReply {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    #[track_caller]
    fn json(self) -> Value {
        let reply = self.expect(200);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// The sentence of a refusal.
    #[track_caller]
    fn refused(self, status: u16) -> String {
        let reply = self.expect(status);
        let json: Value = serde_json::from_slice(&reply.body).unwrap();
        json["error"].as_str().unwrap().to_owned()
    }
}

/// A folder with a database of every kind of b-tree.
fn everything() -> (TempDir, std::path::PathBuf) {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("every <b>thing");
    drop(make(
        &library,
        &path,
        &format!("PRAGMA page_size=512; BEGIN; {EVERYTHING} COMMIT;"),
    ));
    (folder, path)
}

fn exec(db: &Db<'_>, sql: &str) {
    db.exec(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
}

#[test]
fn the_page_and_its_files_are_served_and_nothing_else() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let page = site.get("").expect(200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.text().contains("<script type=\"importmap\" nonce=\""));
    // A request to a folder is no request to a file, nor is one out of the folder.
    for name in [
        "web/",
        "web/no-such.js",
        "web/index.html",
        "web/.gitignore",
        "web/..",
        "web/../mod.rs",
        "web/%2e%2e%2fmod.rs",
        "web/..%2f..%2f..%2f..%2fCargo.toml",
        "web/%2fetc%2fpasswd",
        "web/%00.js",
        "web/a%ff.js",
        "web//etc/passwd",
        "web/map",
        "web/map/",
        "web/map//view.js",
        "web/map/no-such.js",
        "web/map/view.js/",
        "web/map/.hidden.js",
        "web/map/../app.js",
        "web/map/%2e%2e/app.js",
        "web/map/..%2fapp.js",
        "web/map/../../mod.rs",
        "web/map%5cview.js",
        "../../etc/passwd",
        "%2e%2e/",
        "api",
        "api/0",
        "api/files/0",
        "index.html",
    ] {
        site.get(name).refused(404);
    }
}

#[test]
fn every_file_of_the_page_is_served_under_its_name() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let mut served = 0;
    for name in assets::names().filter(|name| name != "index.html") {
        let reply = site.get(&format!("web/{name}")).expect(200);
        let kind = reply.header("content-type").unwrap();
        assert!(
            kind.starts_with("text/") && kind.ends_with("; charset=utf-8"),
            "{name}: {kind}"
        );
        assert_eq!(reply.body, assets::bytes(&name).unwrap(), "{name}");
        served += 1;
    }
    assert!(served > 50, "{served} files");
}

/// What modules and index.html name is there, so that a file that was moved is not asked for.
#[test]
fn every_file_that_the_page_names_is_there() {
    let names: Vec<String> = assets::names().collect();
    let mut imports = 0;
    for name in &names {
        let text = String::from_utf8(assets::bytes(name).unwrap()).unwrap();
        for opening in ["from \"viz/", "import(\"viz/", "=\"web/"] {
            for (at, _) in text.match_indices(opening) {
                let other = text[at + opening.len()..].split('"').next().unwrap();
                assert!(names.iter().any(|name| name == other), "{name}: {other}");
                imports += 1;
            }
        }
    }
    assert!(imports > 100, "{imports} imports");
}

#[test]
fn without_the_token_there_is_nothing() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let token = site.path("").replace('/', "");
    assert_eq!(token.len(), 32, "128 bits");
    let other = Site::of(&[&path]);
    assert_ne!(other.path(""), site.path(""), "each server has its own");
    let mut last = token.clone();
    last.replace_range(31.., if token.ends_with('0') { "1" } else { "0" });
    for wrong in ["", "x", &token[..31], &format!("{token}0"), &last] {
        for below in ["", "api/files", "api/0/page/1/bytes", "web/app.js"] {
            let reply = site.request(&format!("GET /{wrong}/{below}"), &[], "");
            assert_eq!(reply.refused(404), "there is nothing here");
        }
    }
    for path in ["/", "/api/files", &format!("//{token}/"), "/favicon.ico"] {
        site.request(&format!("GET {path}"), &[], "").refused(404);
    }
    // Who leaves out the last slash is shown the way.
    let reply = site.request(&format!("GET /{token}"), &[], "").expect(303);
    assert_eq!(reply.header("location"), Some(&*site.path("")));
}

#[test]
fn the_address_that_a_browser_is_started_with_is_good_for_once() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    assert!(!site.once.contains(site.path("").trim_matches('/')));
    let code = site.once.rsplit('/').next().unwrap();
    let line = format!("GET /{code}");
    let reply = site.request(&line, &[], "").expect(303);
    assert_eq!(reply.header("location"), Some(&*site.path("")));
    site.request(&line, &[], "").refused(404);
    site.request(&format!("GET /{code}/api/files"), &[], "")
        .refused(404);
    // A browser that does not come in time is none.
    let site = Site::with(&[&path], SHORT);
    std::thread::sleep(2 * SHORT.once);
    let code = site.once.rsplit('/').next().unwrap();
    site.request(&format!("GET /{code}"), &[], "").refused(404);
}

#[test]
fn it_answers_to_its_own_name_only() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let ask = |head: &str| {
        let line = format!("GET {} HTTP/1.1", site.path("api/files"));
        site.raw(format!("{line}\r\n{head}Connection: close\r\n\r\n").as_bytes())
    };
    let port = site.port;
    for name in ["127.0.0.1", "localhost"] {
        ask(&format!("Host: {name}:{port}\r\n")).expect(200);
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1",
        "127.0.0.1:1",
        &format!("127.0.0.1:{port}0"),
        &format!("user@127.0.0.1:{port}"),
        &format!("0.0.0.0:{port}"),
        &format!("[::1]:{port}"),
        "",
    ] {
        ask(&format!("Host: {host}\r\n")).refused(403);
    }
    assert_eq!(ask("").status / 100, 4, "no name at all");
    ask(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")).refused(403);
    // As a proxy is asked.
    let line = format!("GET http://evil.example{}", site.path("api/files"));
    site.request(&line, &[], "").refused(403);
}

#[test]
fn what_changes_something_comes_from_its_own_page_and_is_json() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let line = format!("POST {}", site.path("api/0/reload"));
    let post = |head: &[&str]| site.request(&line, head, "");
    let (json, empty) = ("Content-Type: application/json", "Content-Length: 0");
    post(&[json, empty]).expect(200);
    for own in ["127.0.0.1", "localhost"] {
        let origin = format!("Origin: http://{own}:{}", site.port);
        post(&[json, empty, &origin]).expect(200);
    }
    for foreign in [
        "https://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "null",
        &format!("https://127.0.0.1:{}", site.port),
    ] {
        let origin = format!("Origin: {foreign}");
        post(&[json, empty, &origin]).refused(403);
        let line = format!("DELETE {}", site.path("api/query/1"));
        site.request(&line, &[&origin], "").refused(403);
    }
    // What a form can send.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ] {
        post(&[empty, &format!("Content-Type: {kind}")]).refused(415);
    }
    post(&[empty]).refused(415);
    // To look is no change, and the other way round.
    site.get("api/0/reload").expect(405);
    site.post("api/files", "").expect(405);
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let mut nonces = Vec::new();
    for reply in [
        site.get(""),
        site.get(""),
        site.get("api/files"),
        site.get("api/0/page/1/bytes"),
        site.get("api/0/page/0"),
        site.request("GET /wrong/", &[], ""),
        site.request("GET /", &["Host: evil.example"], ""),
        site.post("api/files", ""),
    ] {
        let header = |name| reply.header(name).unwrap_or_default();
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert!(!reply.head.contains("set-cookie"));
        assert!(!reply.head.contains("access-control-allow"));
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        for rule in [
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"));
        if header("content-type").starts_with("text/html") {
            let nonce = policy.split("'nonce-").nth(1).unwrap();
            let nonce = nonce.split('\'').next().unwrap().to_owned();
            let own = format!("<script type=\"importmap\" nonce=\"{nonce}\">");
            assert!(reply.text().contains(&own));
            nonces.push(nonce);
        }
    }
    assert_eq!(nonces.len(), 2);
    assert_ne!(nonces[0], nonces[1], "nobody can foretell it");
}

#[test]
fn large_requests_are_refused() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let long = "x".repeat(1 << 20);
    assert_eq!(site.post("api/0/reload", &long).status, 200, "just fits");
    let too_long = format!("{long}x");
    assert_eq!(site.post("api/0/reload", &too_long).status, 413);
    // A length that is never sent is not waited for beyond the time for a body; one that is not
    // told is counted.
    let chunk = format!("{:x}\r\n{long}\r\n", long.len());
    let chunked = [
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
    ];
    let line = format!("POST {}", site.path("api/0/reload"));
    let body = format!("{chunk}{chunk}0\r\n\r\n");
    assert_eq!(site.request(&line, &chunked, &body).status, 413);
    // Heads: a long address, a long line, many lines.
    let heads = [
        format!("GET /{long} HTTP/1.1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(2000)),
    ];
    for head in heads {
        let status = site.raw_and_gone(head.as_bytes()).status;
        assert!(matches!(status, 0 | 400 | 414 | 431), "{status}");
    }
    site.get("api/files").expect(200);
}

#[test]
fn slow_clients_are_not_waited_for() {
    let (_folder, path) = everything();
    let site = Site::with(&[&path], SHORT);
    let start = Instant::now();
    // As many as there may be, of each kind: without a word, within the head, within the body, after
    // an answer.
    let head = format!("Host: 127.0.0.1:{}\r\n", site.port);
    let line = site.path("api/0/reload");
    let json = "Content-Type: application/json\r\nContent-Length: 9\r\n";
    for words in [
        String::new(),
        format!("GET {line} HTTP/1.1\r\n{head}X-Slow: "),
        format!("POST {line} HTTP/1.1\r\n{head}{json}\r\n{{"),
        format!("GET {} HTTP/1.1\r\n{head}\r\n", site.path("api/files")),
    ] {
        let idle: Vec<TcpStream> = (0..SHORT.connections)
            .map(|_| {
                let mut stream = site.connect();
                stream.write_all(words.as_bytes()).unwrap();
                stream
            })
            .collect();
        site.get("api/files").expect(200);
        drop(idle);
    }
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn who_does_not_know_the_token_does_not_keep_others_waiting() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let line = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", site.port);
    let answers = |path: &str| {
        let mut stream = site.connect();
        let _ = write!(stream, "{}\r\n", line(path));
        let _ = write!(stream, "{}Connection: close\r\n\r\n", line(path));
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).matches("HTTP/1.1 ").count()
    };
    assert_eq!(answers("/nothing/"), 1, "the connection ends with it");
    assert_eq!(answers(&site.path("api/files")), 2);
    // With few connections left those without a word are not waited for so long.
    let limits = Limits {
        connections: 4,
        head: PATIENCE + Duration::from_secs(1),
        ..Limits::ORDINARY
    };
    let site = Site::with(&[&path], limits);
    let idle: Vec<TcpStream> = (0..limits.connections).map(|_| site.connect()).collect();
    site.get("api/files").expect(200);
    drop(idle);
}

#[test]
fn clients_that_take_no_answer_are_not_waited_for() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("large");
    let rows = "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<40)
                INSERT INTO t SELECT zeroblob(1000000) FROM c;";
    drop(make(
        &library,
        &path,
        &format!("PRAGMA page_size=512; CREATE TABLE t(b); BEGIN; {rows} COMMIT;"),
    ));
    let site = Site::with(&[&path], SHORT).scanned();
    let map = site.get("api/0/map").expect(200).body.len();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
        site.path("api/0/map"),
        site.port
    );
    // So many that no buffer of the system holds the answers.
    let requests = request.repeat((64 << 20) / map + 1);
    let idle: Vec<TcpStream> = (0..SHORT.connections)
        .map(|_| {
            let mut stream = site.connect();
            stream.write_all(requests.as_bytes()).unwrap();
            stream
        })
        .collect();
    site.get("api/files").expect(200);
    drop(idle);
}

#[test]
fn no_request_ends_in_a_fault() {
    let (folder, path) = everything();
    let sound = std::fs::read(&path).unwrap();
    let mut random = SplitMix64(6);
    let mut below = |n: usize| random.below(n as u64) as usize;
    let mut sites = vec![Site::of(&[&path])];
    for i in 0..6 {
        let mut bytes = sound.clone();
        for _ in 0..40 {
            // Not the header: that one is looked at when a file is opened.
            let at = 100 + below(bytes.len() - 100);
            bytes[at] = below(256) as u8;
        }
        let damaged = folder.path().join(format!("damaged {i}"));
        std::fs::write(&damaged, bytes).unwrap();
        sites.push(Site::of(&[&damaged]));
    }
    let values = [
        "0",
        "1",
        "2",
        "7",
        "65535",
        "4294967295",
        "4294967296",
        "-1",
        "1e9",
        "x",
        "%00",
        "",
        "18446744073709551615",
        "99999999999999999999",
        "%22%5d",
        "%ff",
        "..",
        "a%2fb",
    ];
    let mut questions: Vec<String> = Vec::new();
    for a in values {
        for one in [
            "page/{}",
            "page/{}/bytes",
            "tree/{}",
            "tree/{}/path?rowid=1",
            "chain/{}",
        ] {
            questions.push(format!("api/0/{}", one.replace("{}", a)));
        }
        for one in [
            "api/{}/summary",
            "api/{}/map",
            "api/0/map?from={}",
            "api/0/map?count={}",
            "api/0/map?from={}&count=1048576",
            "api/0/page/1?frame={}",
            "api/0/page/1/bytes?frame={}",
            "api/0/page/1/bytes?file={}",
            "api/0/tree/1/level/{}",
            "api/0/tree/1/level/{}/fan",
            "api/0/tree/1/path?rowid={}",
            "api/0/tree/1/path?page={}",
            "api/0/tree/1/path?key={}",
            "api/0/tree/3/path?key=%5b{}%5d",
            "api/0/tree/3/path?key={}&page={}",
            "api/0/find?text={}",
            "api/0/find?text=rowid+{}",
            "api/0/find?text=plain+{}",
            "api/0/find?text=words+{}",
            "api/0/find?{}",
            "api/0/{}",
            "{}",
        ] {
            questions.push(one.replace("{}", a));
        }
    }
    for (i, site) in sites.iter().enumerate() {
        let every = 1 + 6 * usize::from(i > 0);
        for question in questions.iter().skip(i).step_by(every) {
            let reply = site.get(question);
            let fine = matches!(reply.status, 200 | 303 | 400 | 404 | 405 | 415);
            assert!(fine, "{question}: {} {}", reply.head, reply.text());
        }
    }
    let deep = "[".repeat(100_000);
    let bodies = [
        "",
        "{}",
        "[]",
        "null",
        "\u{0}",
        "{\"of\": 99, \"kind\": \"hp\"}",
        "{\"of\": -1, \"kind\": \"hp\"}",
        "{\"of\": 0, \"kind\": \"../x\"}",
        "{\"sql\": \"SELECT 1\", \"library\": \"/bin/sh\"}",
        "{\"sql\": 5, \"library\": \"hp\"}",
        &deep,
    ];
    for body in bodies {
        for below in ["api/copy", "api/0/query", "api/9/query", "api/9/device"] {
            let reply = sites[0].post(below, body);
            let fine = matches!(reply.status, 400 | 404 | 409 | 422);
            assert!(fine, "{below} {body:.40}: {}", reply.head);
        }
    }
    for below in ["api/copy/0", "api/copy/99", "api/copy/x", "api/query/x"] {
        let line = format!("DELETE {}", sites[0].path(below));
        sites[0].request(&line, &[], "").refused(404);
    }
    sites[0].get("api/0/differs/9?from=1").refused(404);
    sites[0].get("api/0/differs/0?from=0").refused(400);
    sites[0].get("api/0/differs/0?from=x").refused(400);
    // Every page of every file can be looked at.
    for site in &sites[1..] {
        let pages = site.json("api/files")[0]["pages"].as_u64().unwrap();
        for n in (1..=pages).step_by(5) {
            site.get(&format!("api/0/page/{n}")).expect(200);
        }
    }
    // What is no HTTP.
    let site = &sites[0];
    for bytes in [
        &b"\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let status = site.raw_and_gone(bytes).status;
        assert!(status == 0 || status / 100 == 4, "{status}");
    }
    site.get("api/files").expect(200);
}

#[test]
fn the_map_and_the_summary_are_the_model() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]).scanned();
    let model = model(&path);
    let files = site.json("api/files");
    let pages = model.map.pages();
    assert_eq!(files[0]["title"], "every <b>thing");
    assert_eq!(files[0]["path"], path.to_str().unwrap());
    assert_eq!(files[0]["pages"], pages);
    assert_eq!(
        (&files[0]["done"], &files[0]["total"]),
        (&json!(pages), &json!(pages))
    );
    assert!(files[0].get("changed").is_none());

    let summary = site.json("api/0/summary");
    assert_eq!(summary["header"]["page_size"], 512);
    assert_eq!(summary["scanned"], true);
    assert_eq!(summary["wal"], Value::Null);
    assert_eq!(summary["problem_count"], 0);
    assert!(summary["whole"]["payload"].as_u64().unwrap() > 0);
    let trees = summary["trees"].as_array().unwrap();
    assert_eq!(trees.len(), model.trees.len());
    for (tree, expected) in trees.iter().zip(&model.trees) {
        assert_eq!(tree["name"], expected.name);
        assert_eq!(tree["root"], expected.root);
        assert_eq!(tree["numbers"]["pages"], expected.pages());
        assert_eq!(tree["depth"], expected.levels.len());
        let light = tree["colour"]["light"].as_str().unwrap();
        assert!(light.starts_with('#') && light.len() == 7);
    }
    let letters: Vec<char> = summary["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["letter"].as_str().unwrap().chars().next().unwrap())
        .collect();

    let all = site.get("api/0/map").expect(200).body;
    assert_eq!(all.len(), 4 * pages as usize);
    let (owners, rest) = all.split_at(2 * pages as usize);
    let (kinds, fills) = rest.split_at(pages as usize);
    for n in 1..=pages {
        let i = n as usize - 1;
        let owner = u16::from_le_bytes([owners[2 * i], owners[2 * i + 1]]);
        let expected = model.map.owner(n).map_or(65535, |t| t as u16);
        assert_eq!(owner, expected, "page {n}");
        assert_eq!(letters[kinds[i] as usize], model.map.kind(n).letter());
        assert_eq!(fills[i], model.map.fill(n));
    }
    // Parts of it; beyond the end there is nothing.
    let part = site.get("api/0/map?from=3&count=2").expect(200).body;
    let expected = [&owners[4..8], &kinds[2..4], &fills[2..4]].concat();
    assert_eq!(part, expected);
    let last = format!("api/0/map?from={pages}&count=10");
    assert_eq!(site.get(&last).expect(200).body.len(), 4);
    let beyond = format!("api/0/map?from={}&count=10", pages + 1);
    assert!(site.get(&beyond).expect(200).body.is_empty());
    site.get("api/0/map?from=0").refused(400);
    site.get("api/0/map?count=1048577").refused(400);
}

#[test]
fn pages_trees_and_chains_can_be_asked_for() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]).scanned();
    let model = model(&path);
    let bytes = std::fs::read(&path).unwrap();
    let page = site.json("api/0/page/1");
    assert_eq!(page["number"], 1);
    assert_eq!(page["parts"][0]["what"], "file-header");
    let seventh = site.get("api/0/page/7/bytes").expect(200).body;
    assert_eq!(seventh, bytes[6 * 512..7 * 512]);
    assert_eq!(site.get("api/0/page/7/bytes?file=1").body, seventh);
    site.get("api/0/page/7/bytes?frame=0").refused(404);
    let last = model.map.pages();
    let beyond = site.get(&format!("api/0/page/{}", last + 1)).refused(404);
    assert_eq!(
        beyond,
        format!("there is no page {}: the last one is {last}", last + 1)
    );

    let number = |name: &str| model.trees.iter().position(|t| t.name == name).unwrap();
    let t = number("plain");
    let plain = &model.trees[t];
    let tree = site.json(&format!("api/0/tree/{t}"));
    assert_eq!(tree["levels"].as_array().unwrap().len(), plain.levels.len());
    assert_eq!(
        site.numbers(&format!("api/0/tree/{t}/level/0")),
        [plain.root]
    );
    let leaves = plain.levels.len() - 1;
    assert_eq!(
        site.numbers(&format!("api/0/tree/{t}/level/{leaves}")),
        plain.leaves
    );
    let fan = site.numbers(&format!("api/0/tree/{t}/level/{}/fan", leaves - 1));
    assert_eq!(fan.iter().sum::<u32>() as usize, plain.leaves.len());
    let way = site.json(&format!("api/0/tree/{t}/path?rowid=400"));
    assert_eq!(way["pages"][0], plain.root);
    assert!(way["cell"].is_u64());
    let gone = site.json(&format!("api/0/tree/{t}/path?rowid=3"));
    assert_eq!(gone["cell"], Value::Null, "the row was deleted");
    let to_page = site.json(&format!("api/0/tree/{t}/path?page={}", plain.leaves[2]));
    assert_eq!(to_page["pages"][leaves], plain.leaves[2]);
    site.get(&format!("api/0/tree/{t}/path")).refused(400);
    site.get(&format!("api/0/tree/{t}/path?rowid=1&page=2"))
        .refused(400);
    site.get("api/0/tree/99").refused(404);
    site.get(&format!("api/0/tree/{t}/level/9")).refused(404);

    // A chain, asked for by its second page; the list of free pages by its last trunk.
    let large = &model.trees[number("large")];
    let holder = large.chains.longest_of;
    let all = 1..=last;
    let kind = |n: u32| model.map.kind(n).letter();
    let first = all
        .clone()
        .find(|&n| kind(n) == 'o' && model.map.parent(n) == holder)
        .unwrap();
    let second = all
        .clone()
        .find(|&n| kind(n) == 'o' && model.map.parent(n) == first)
        .unwrap();
    let chain = site.json(&format!("api/0/chain/{second}"));
    assert_eq!(chain["pages"][0], first);
    assert_eq!(
        chain["pages"].as_array().unwrap().len() as u64,
        large.chains.longest
    );
    assert_eq!(chain["more"], false);
    let trunks: Vec<u32> = all.filter(|&n| kind(n) == 'F').collect();
    let list = site.json(&format!("api/0/chain/{}", trunks.last().unwrap()));
    assert_eq!(list["pages"][0], model.image.header.first_trunk);
    assert_eq!(list["pages"].as_array().unwrap().len(), trunks.len());
    let none = site
        .get(&format!("api/0/chain/{}", plain.root))
        .refused(404);
    assert!(none.ends_with("it is in no chain"), "{none}");
}

#[test]
fn a_text_means_pages_rows_and_names() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]).scanned();
    let find = |text: &str| {
        let text: String = text.bytes().map(|b| format!("%{b:02x}")).collect();
        site.json(&format!("api/0/find?text={text}"))
    };
    let labels = |text: &str| -> Vec<String> {
        let found = find(text);
        let found = found.as_array().unwrap().iter();
        found
            .map(|one| one["label"].as_str().unwrap().to_owned())
            .collect()
    };
    for text in ["page 2", "Page #2", "2"] {
        assert_eq!(find(text)[0]["what"], "page", "{text}");
        assert_eq!(find(text)[0]["page"], 2, "{text}");
    }
    assert_eq!(
        labels("page 2"),
        ["page 2: interior page of a table of plain"]
    );
    let row = find("plain 400");
    assert_eq!(
        (&row[0]["what"], row.as_array().unwrap().len()),
        (&json!("row"), 1)
    );
    let page = site.json(&format!("api/0/page/{}", row[0]["page"]));
    let cell = row[0]["cell"].as_u64().unwrap() as usize;
    assert_eq!(page["cells"][cell]["rowid"], 400);
    assert_eq!(find("PLAIN rowid 400"), row);
    assert_eq!(find("plain: 400"), row);
    // Of all tables that have such a row; -42,081 is a rowid of "random".
    let rows = labels("rowid 2");
    assert!(
        rows.iter()
            .any(|l| l.starts_with("row 2 of plain: on page")),
        "{rows:?}"
    );
    assert!(
        rows.iter().any(|l| l.starts_with("row 2 of gone: on page")),
        "{rows:?}"
    );
    assert!(labels("rowid -42081")[0].starts_with("row -42081 of random"));
    assert!(labels("plain 3").is_empty(), "the row was deleted");
    // Names, the likeliest first.
    assert!(labels("plain")[0].starts_with("plain: table, "));
    assert!(labels("plain")[1].starts_with("plain_n: index, "));
    assert!(labels("ARGE_")[0].starts_with("large_b"));
    assert!(labels("<script>").is_empty());
    assert!(labels("").is_empty());
    assert!(labels(&"9".repeat(2000)).is_empty());
}

#[test]
fn the_log_is_told_frame_by_frame() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("wal");
    let db = make(
        &library,
        &path,
        "PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;
         CREATE TABLE t(a); PRAGMA wal_checkpoint(TRUNCATE);
         INSERT INTO t VALUES('one'); INSERT INTO t VALUES('two');",
    );
    let site = Site::of(&[&path]).scanned();
    let frames = site.numbers("api/0/wal");
    assert_eq!(frames, [2, 1, 2, 2, 2, 2], "page, commit, size after it");
    let wal = &site.json("api/0/summary")["wal"];
    assert_eq!(
        (
            &wal["frames"],
            &wal["commits"],
            &wal["versions"],
            &wal["to_checkpoint"]
        ),
        (&json!(2), &json!(2), &json!(1), &json!(1))
    );
    // Each version of the page can be read.
    let has = |below: &str, text: &str| {
        let body = site.get(below).expect(200).body;
        body.windows(text.len()).any(|w| w == text.as_bytes())
    };
    let page = "api/0/page/2/bytes";
    assert!(has(page, "two"));
    assert!(!has(&format!("{page}?frame=0"), "two") && has(&format!("{page}?frame=0"), "one"));
    assert!(!has(&format!("{page}?file=1"), "one"));
    let old = site.json("api/0/page/2?frame=0");
    assert_eq!(old["cells"].as_array().unwrap().len(), 1);
    site.get(&format!("{page}?frame=2")).refused(404);
    site.get("api/0/page/1/bytes?frame=0").refused(404);
    drop(db);
}

#[test]
fn damage_is_told_page_by_page() {
    let (folder, path) = everything();
    let mut bytes = std::fs::read(&path).unwrap();
    let leaf = model(&path).trees[1].leaves[3];
    bytes[(leaf as usize - 1) * 512] = 0x77;
    let damaged = folder.path().join("damaged");
    std::fs::write(&damaged, bytes).unwrap();
    let site = Site::of(&[&damaged]).scanned();
    let told = site.json("api/0/problems");
    assert_eq!(told["count"], told["problems"].as_array().unwrap().len());
    assert_eq!(told["problems"][0]["page"], leaf);
    assert_eq!(told["problems"][0]["tree"], 1);
    assert_eq!(told["count"], site.json("api/0/summary")["problem_count"]);
    // That page can be looked at all the same.
    site.get(&format!("api/0/page/{leaf}")).expect(200);
}

#[test]
fn a_file_that_changes_is_told_and_can_be_opened_anew() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("changing");
    let db = make(
        &library,
        &path,
        "CREATE TABLE t(a); INSERT INTO t VALUES(1);",
    );
    let site = Site::of(&[&path]).scanned();
    assert!(site.json("api/files")[0].get("changed").is_none());
    exec(&db, "CREATE TABLE another(b)");
    let changed = || site.json("api/files")[0].get("changed").cloned();
    wait_until(|| changed().is_some());
    assert_eq!(
        changed().unwrap(),
        "The file was written to while it was read."
    );
    let names = || {
        let summary = site.json("api/0/summary");
        summary["trees"].as_array().map(Vec::len)
    };
    assert_eq!(names(), Some(2), "what is shown stays");
    let files = site.post("api/0/reload", "{}").json();
    assert_eq!(files[0]["pages"], 3);
    assert_eq!((names(), changed()), (Some(3), None));
    wait_until(|| site.json("api/files")[0]["state"] == "ready");
    // If it cannot be opened any more the old state stays, with a word why.
    drop(db);
    std::fs::write(&path, "gone").unwrap();
    let why = site.post("api/0/reload", "{}").refused(409);
    assert!(why.contains("is no SQLite database"), "{why}");
    assert_eq!(names(), Some(3));
    site.post("api/1/reload", "{}").refused(404);
}

#[test]
fn a_file_that_is_replaced_or_removed_is_told() {
    let (folder, path) = everything();
    let other = folder.path().join("other");
    std::fs::copy(&path, &other).unwrap();
    let site = Site::of(&[&path]).scanned();
    std::fs::rename(&other, &path).unwrap();
    let changed = || site.json("api/files")[0].get("changed").cloned();
    wait_until(|| changed() == Some(json!("Another file has taken its place.")));
    site.post("api/0/reload", "").json();
    assert_eq!(changed(), None);
    std::fs::remove_file(&path).unwrap();
    wait_until(|| changed() == Some(json!("It is not there any more.")));
    site.get("api/0/page/1").expect(200);
}

#[test]
fn a_page_of_cells_that_lie_over_one_another_does_not_swell() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("swollen");
    drop(make(
        &library,
        &path,
        "PRAGMA page_size=65536; CREATE TABLE t(b); INSERT INTO t VALUES(zeroblob(3000));",
    ));
    let mut bytes = std::fs::read(&path).unwrap();
    let page = &mut bytes[65536..];
    let cell = [page[8], page[9]];
    page[3..5].copy_from_slice(&10_000u16.to_be_bytes());
    for pointer in page[8..20_008].chunks_exact_mut(2) {
        pointer.copy_from_slice(&cell);
    }
    std::fs::write(&path, bytes).unwrap();
    let site = Site::of(&[&path]).scanned();
    let answer = site.get("api/0/page/2").expect(200).body;
    assert!(answer.len() < 8 << 20, "{}", answer.len());
    let page: Value = serde_json::from_slice(&answer).unwrap();
    let cells = page["cells"].as_array().unwrap();
    assert_eq!(cells[0]["record"][0]["len"], 3000);
    assert_eq!(
        cells[9_999]["error"],
        "it is left out: cells lie over one another"
    );
}

#[test]
fn two_files_have_the_same_colours_for_the_same_names() {
    let (folder, one) = everything();
    let library = stock();
    let two = folder.path().join("two");
    let db = make(
        &library,
        &two,
        "CREATE TABLE first(a); CREATE TABLE plain(a);",
    );
    exec(&db, "INSERT INTO first VALUES(zeroblob(1000000))");
    let site = Site::of(&[&one, &two]).scanned();
    let colour = |f: usize, name: &str| {
        let summary = site.json(&format!("api/{f}/summary"));
        let trees = summary["trees"].as_array().unwrap();
        let tree = trees.iter().find(|tree| tree["name"] == name).unwrap();
        tree["colour"].clone()
    };
    assert_eq!(colour(0, "plain"), colour(1, "plain"));
    assert_ne!(colour(1, "first"), colour(1, "plain"));
    assert_eq!(site.json("api/files").as_array().unwrap().len(), 2);
    site.get("api/2/summary").refused(404);
}

const VACUUMED: CopyOf = CopyOf {
    of: 0,
    kind: CopyKind::Vacuumed,
};

#[test]
fn a_copy_is_a_file_from_the_beginning() {
    let (folder, path) = everything();
    let site = Site::of(&[&path]);
    let made = folder.path().join("made");
    let (f, progress) = site.files.add_copy("VACUUMed", &made, VACUUMED);
    progress.total.store(10, Ordering::Relaxed);
    progress.done.store(4, Ordering::Relaxed);
    let status = site.json("api/files")[f].clone();
    assert_eq!(
        (&status["state"], &status["done"], &status["total"]),
        (&json!("copying"), &json!(4), &json!(10))
    );
    assert_eq!(status["copy"], json!({"of": 0, "kind": "vacuumed"}));
    assert_eq!(site.get("api/1/map").refused(404), "the copy is being made");
    std::fs::copy(&path, &made).unwrap();
    site.files
        .made(f, &made, vec!["Made by a test.".to_owned()]);
    wait_until(|| site.json("api/files")[f]["state"] == "ready");
    site.get("api/1/map").expect(200);
    assert_eq!(
        site.json("api/1/summary")["notes"],
        json!(["Made by a test."])
    );
    let (g, _) = site
        .files
        .add_copy("another", &folder.path().join("never made"), VACUUMED);
    site.files.failed(g, "no room".to_owned());
    let status = site.json("api/files")[g].clone();
    assert_eq!(
        (&status["state"], &status["error"]),
        (&json!("failed"), &json!("no room"))
    );
}

#[test]
fn pages_that_differ_are_told() {
    let (folder, path) = everything();
    let other = folder.path().join("other");
    let mut bytes = std::fs::read(&path).unwrap();
    let size = model(&path).image.header.page_size as usize;
    for n in [2, 5] {
        bytes[(n - 1) * size + 7] ^= 1;
    }
    // It has a page less.
    bytes.truncate(bytes.len() - size);
    std::fs::write(&other, &bytes).unwrap();
    let larger = folder.path().join("larger");
    make(
        &stock(),
        &larger,
        "PRAGMA page_size=8192; CREATE TABLE t(x)",
    );
    let site = Site::of(&[&path, &other, &larger]);
    let pages = bytes.len() / size;
    let marks = site.get("api/0/differs/1?from=1").expect(200).body;
    assert_eq!(marks.len(), pages);
    let different: Vec<usize> = (1..=pages).filter(|n| marks[n - 1] == 1).collect();
    assert_eq!(different, [2, 5]);
    assert_eq!(
        site.get("api/1/differs/0?from=5").expect(200).body,
        marks[4..]
    );
    assert!(
        site.get("api/0/differs/0?from=1")
            .expect(200)
            .body
            .iter()
            .all(|&m| m == 0)
    );
    let after = site.get("api/0/differs/1?from=4000000000").expect(200);
    assert!(after.body.is_empty());
    site.get("api/0/differs/1?from=0").refused(400);
    let why = site.get("api/0/differs/2?from=1").refused(400);
    assert!(why.contains("pages cannot be compared"), "{why}");
    site.get("api/0/differs/9?from=1").refused(404);
}

#[test]
fn what_cannot_be_copied_is_refused() {
    let (_folder, path) = everything();
    let site = Site::of(&[&path]);
    let copy = |body| site.post("api/copy", body);
    copy(r#"{"of": 7, "kind": "hp"}"#).refused(404);
    copy(r#"{"of": 0, "kind": "shredded"}"#).refused(400);
    copy("{").refused(400);
    let stop = format!("DELETE {}", site.path("api/copy/0"));
    let why = site.request(&stop, &[], "").refused(404);
    assert_eq!(why, "file 0 is no copy");
    assert_eq!(site.json("api/files").as_array().unwrap().len(), 1);
}
