//! `hpsqlite viz` as a server: what it prints, when it starts a browser, how it ends.

mod common;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};

use common::{Place, wait_until};

/// A running server.
struct Serving {
    child: Child,
    line: String,
}

impl Serving {
    fn start(mut command: Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        Serving { child, line }
    }

    fn address(&self) -> &str {
        self.line.split(' ').next().unwrap()
    }

    /// What is below the address.
    fn get(&self, below: &str) -> String {
        get(&format!("{}{below}", self.address()))
    }

    fn interrupt(mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Where a test fails before its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: &str) -> String {
    let (host, path) = address
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap_or_else(|| panic!("{address:?}"));
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn one_line_tells_the_address_and_ctrl_c_ends_it() {
    let place = Place::new();
    place.database("my.db");
    let serving = Serving::start(place.command(&["viz", "my.db"]));
    assert!(serving.line.ends_with("/ (Ctrl-C ends it)\n"));
    assert!(serving.address().starts_with("http://127.0.0.1:"));
    assert!(serving.get("").starts_with("HTTP/1.1 200 OK"));
    let files = serving.get("api/files");
    assert!(
        files.contains(r#""title":"my.db","path":"my.db""#),
        "{files}"
    );
    // A connection that is open keeps nobody.
    let port = serving.address().split('/').nth(2).unwrap();
    let _idle = TcpStream::connect(port).unwrap();
    assert_eq!(serving.interrupt().code(), Some(0));
}

#[test]
fn a_second_file_is_served_and_not_put_into_words() {
    let place = Place::new();
    place.database("my.db");
    std::fs::copy(place.path("my.db"), place.path("other.db")).unwrap();
    let serving = Serving::start(place.command(&["viz", "my.db", "other.db"]));
    assert!(serving.get("api/files").contains(r#""title":"other.db""#));
    assert!(serving.get("api/1/summary").starts_with("HTTP/1.1 200 OK"));
    assert_eq!(serving.interrupt().code(), Some(0));
    for (words, refusal) in [
        ("--text", "cannot be used with"),
        ("--check", "cannot be used with"),
        ("--json=model.json", "cannot be used with"),
        ("--only=t", "are for one file"),
        ("--pages=1", "are for one file"),
    ] {
        place
            .run(&["viz", "my.db", "other.db", words])
            .expect(2)
            .says(refusal);
    }
}

#[test]
fn a_port_may_be_chosen_if_it_is_free() {
    let place = Place::new();
    place.database("my.db");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let arguments = ["viz", "my.db", "--port", &port];
    place.run(&arguments).fails_with(&format!(
        "cannot listen on port {port} of 127.0.0.1: Address already in use (os error 98)"
    ));
    drop(taken);
    let serving = Serving::start(place.command(&arguments));
    let start = format!("http://127.0.0.1:{port}/");
    assert!(serving.address().starts_with(&start));
    // No other address of the machine leads to it.
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X} ", port.parse::<u16>().unwrap());
    let local: Vec<&str> = listening
        .lines()
        .filter(|line| line.contains(" 0A "))
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|local| format!("{local} ").ends_with(&port))
        .collect();
    assert_eq!(local, [format!("0100007F{}", port.trim())]);
}

#[test]
fn what_cannot_be_shown_is_not_served() {
    let place = Place::new();
    place.database("my.db");
    std::fs::write(place.path("text"), "Dear reader").unwrap();
    place
        .run(&["viz", "nowhere"])
        .fails_with("cannot open nowhere: No such file or directory (os error 2)");
    place
        .run(&["viz", "my.db", "text"])
        .fails_with("text is no SQLite database: it starts with \"Dear reader\"");
}

#[test]
fn a_browser_is_opened_where_somebody_looks() {
    let place = Place::new();
    place.database("my.db");
    let browser = place.script("browser", "#!/bin/sh\necho \"$@\" >\"$0.called\"\n");
    let called = || std::fs::read_to_string(place.path("browser.called")).unwrap_or_default();
    let command = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command
            .env("BROWSER", format!("{} --new-window", browser.display()))
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY");
        command
    };

    // On a terminal.
    let (terminal, end) = terminal();
    let mut child = command(&["viz", "my.db"]).stdout(end).spawn().unwrap();
    let mut line = String::new();
    let mut terminal = BufReader::new(terminal);
    terminal.read_line(&mut line).unwrap();
    wait_until(|| called().ends_with('\n'));
    let said = called();
    let once = said.strip_prefix("--new-window ").unwrap().trim();
    // Everybody can see with what a process was started: that address is good for one request.
    let token = line.split('/').nth(3).unwrap();
    assert!(token.len() == 32 && !said.contains(token), "{said}");
    assert!(get(once).contains(&format!("location: /{token}/")));
    assert!(get(once).starts_with("HTTP/1.1 404"));
    child.kill().unwrap();
    child.wait().unwrap();

    // Not if nobody looks, and not if it is not wanted.
    std::fs::remove_file(place.path("browser.called")).unwrap();
    let serving = Serving::start(command(&["viz", "my.db"]));
    serving.get("api/files");
    let (_terminal, end) = self::terminal();
    let mut child = command(&["viz", "my.db", "--no-browser"])
        .stdout(end)
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(called(), "");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Both ends of a terminal.
fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: the call fills in two descriptors, which belong to nobody else.
    unsafe {
        let none = std::ptr::null_mut();
        let made = libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast());
        assert_eq!(made, 0);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}
