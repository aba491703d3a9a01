//! What a statement reads: the worker of `hpsqlite viz` by itself, and by way of the server.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use common::server::Server;
use common::{Place, Worker, processes_with, wait_until};
use serde_json::{Value, json};

const OURS: &str = "lib/libsqlite3.so.0";
const STOCK: &str = "libexec/hpsqlite/libsqlite3-stock.so";
const BOTH: [&str; 2] = [STOCK, OURS];

/// What a worker said.
#[derive(Debug, Default)]
struct Said {
    started: Value,
    ended: Value,
    failed: Value,
    pages: Vec<u32>,
}

impl Said {
    /// Why it did not run, or not to its end.
    fn error(&self) -> &str {
        let failed = self.failed["message"].as_str();
        let ended = self.ended["error"]["message"].as_str();
        failed.or(ended).unwrap_or_default()
    }

    /// Pages in the order in which they were read first.
    fn first_reads(&self) -> Vec<u32> {
        let mut seen = std::collections::HashSet::new();
        let pages = self.pages.iter().copied();
        pages.filter(|&page| seen.insert(page)).collect()
    }
}

fn start(place: &Place, library: &str, database: &Path, sql: &str) -> (Child, ChildStdin) {
    started(
        place,
        &["viz-worker", library, database.to_str().unwrap()],
        sql,
    )
}

fn started(place: &Place, arguments: &[&str], sql: &str) -> (Child, ChildStdin) {
    let mut child = place
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&(sql.len() as u32).to_le_bytes()).unwrap();
    input.write_all(sql.as_bytes()).unwrap();
    (child, input)
}

/// Takes all that a worker says.
fn listen(mut child: Child, input: ChildStdin) -> Said {
    let mut bytes = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    let mut said = Said::default();
    let mut rest = &bytes[..];
    while let [tag, a, b, c, d, after @ ..] = rest {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let (content, after) = after.split_at(length);
        rest = after;
        if *tag == b'p' {
            let words = content.chunks_exact(4);
            let words = words.map(|w| u32::from_le_bytes(w.try_into().unwrap()));
            said.pages.extend(words);
            continue;
        }
        let event: Value = serde_json::from_slice(content).unwrap();
        for (name, place) in [
            ("Started", &mut said.started),
            ("Ended", &mut said.ended),
            ("Failed", &mut said.failed),
        ] {
            if let Some(what) = event.get(name) {
                *place = what.clone();
            }
        }
    }
    assert_eq!(rest, b"");
    said
}

fn query(place: &Place, library: &str, database: &Path, sql: &str) -> Said {
    let (child, input) = start(place, library, database, sql);
    listen(child, input)
}

/// Everything that `viz` knows of a database.
fn model(place: &Place, database: &Path) -> Value {
    let file = database.to_str().unwrap();
    place.run(&["viz", file, "--json", "model.json"]).expect(0);
    serde_json::from_str(&place.text("model.json")).unwrap()
}

fn tree<'v>(model: &'v Value, name: &str) -> &'v Value {
    let trees = model["trees"].as_array().unwrap();
    trees.iter().find(|tree| tree["name"] == name).unwrap()
}

fn leaves(tree: &Value) -> Vec<u32> {
    let leaves = tree["leaves"].as_array().unwrap().iter();
    leaves.map(|n| n.as_u64().unwrap() as u32).collect()
}

/// A database of two tables that grew together, made after some PRAGMAs.
fn interleaved(place: &Place, name: &str, pragmas: &[&str]) -> std::path::PathBuf {
    let path = place.path(name);
    let mut worker = Worker::on(place, &path);
    worker.sql("PRAGMA hp_extent=off");
    for pragma in pragmas {
        worker.sql(pragma);
    }
    worker.sql("CREATE TABLE t(n INTEGER PRIMARY KEY, s TEXT, b BLOB)");
    worker.sql("CREATE TABLE \"<other>\"(n INTEGER PRIMARY KEY, s TEXT)");
    for part in 0..20 {
        let rows = format!(
            "WITH c(i) AS (SELECT {0} UNION ALL SELECT i+1 FROM c WHERE i<{0}+99) ",
            part * 100
        );
        worker.sql(&format!(
            "{rows} INSERT INTO t SELECT i, 'Text '||hex(zeroblob(100)), \
             zeroblob(CASE WHEN i%500=7 THEN 150000 ELSE 0 END) FROM c"
        ));
        worker.sql(&format!(
            "{rows} INSERT INTO \"<other>\" SELECT i, 'Text '||hex(zeroblob(60)) FROM c"
        ));
    }
    path
}

#[test]
fn a_scan_reads_each_leaf_once_in_the_order_of_keys() {
    let place = Place::new();
    let kinds: [&[&str]; 5] = [
        &[],
        &["PRAGMA page_size=512"],
        &["PRAGMA page_size=65536"],
        &["PRAGMA encoding='UTF-16le'", "PRAGMA page_size=1024"],
        &["PRAGMA auto_vacuum=FULL"],
    ];
    for (i, pragmas) in kinds.iter().enumerate() {
        let path = interleaved(&place, &format!("{i}.db"), pragmas);
        let model = model(&place, &path);
        let wanted = leaves(tree(&model, "t"));
        assert!(wanted.len() > 5);
        for library in BOTH {
            let said = query(&place, library, &path, "SELECT n, s FROM t");
            assert_eq!(said.error(), "");
            assert_eq!(said.ended["row_count"], 2000);
            assert_eq!(said.ended["rows"].as_array().unwrap().len(), 200);
            assert_eq!(said.ended["pages"], said.pages.len());
            // Page 1, with which a transaction begins; the root; the other interior pages.
            assert_eq!(said.pages[0], 1);
            assert_eq!(said.pages[1], tree(&model, "t")["root"]);
            let read = said.pages.iter().copied();
            let read: Vec<u32> = read.filter(|n| wanted.contains(n)).collect();
            assert_eq!(read, wanted, "{library} {pragmas:?}");
            let mut all = said.pages.clone();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), said.pages.len(), "no page is read twice");
            let pages = tree(&model, "t")["levels"].as_array().unwrap().iter();
            let pages: u64 = pages.map(|level| level["pages"].as_u64().unwrap()).sum();
            assert_eq!(all.len() as u64, pages + 1, "{library} {pragmas:?}");
        }
    }
}

#[test]
fn our_own_scan_shows_the_same_pages_by_fewer_calls() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let model = model(&place, &path);
    let wanted = leaves(tree(&model, "<other>"));
    let sql = "SELECT sum(length(s)), max(n) FROM \"<other>\"";
    let stock = query(&place, STOCK, &path, sql);
    let ours = query(&place, OURS, &path, sql);
    let step = ours.started["plan"][0]["detail"].as_str().unwrap();
    assert!(step.contains("VECTORIZED"), "{step}");
    assert_eq!(stock.ended["rows"], ours.ended["rows"]);
    // It looks at the first leaf to see whether the table is small, and again when it scans.
    assert_eq!(ours.first_reads(), stock.pages);
    assert!(ours.pages.len() <= stock.pages.len() + 1);
    let read = stock.pages.iter().copied();
    let read: Vec<u32> = read.filter(|n| wanted.contains(n)).collect();
    assert_eq!(read, wanted);
    assert_eq!(stock.ended["calls"], stock.ended["pages"]);
    let calls = ours.ended["calls"].as_u64().unwrap();
    assert!(calls < ours.ended["pages"].as_u64().unwrap());
}

#[test]
fn a_look_up_reads_the_way_down() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &["PRAGMA page_size=512"]);
    let model = model(&place, &path);
    let t = tree(&model, "t");
    for library in BOTH {
        let said = query(&place, library, &path, "SELECT s FROM t WHERE n=1234");
        let depth = t["levels"].as_array().unwrap().len();
        assert!(depth > 2);
        assert_eq!(said.pages.len(), 1 + depth, "{said:?}");
        let leaf = *said.pages.last().unwrap();
        let pages = format!("{leaf}-{leaf}");
        place
            .run(&["viz", "my.db", "--pages", &pages, "--json", "one.json"])
            .expect(0);
        let one: Value = serde_json::from_str(&place.text("one.json")).unwrap();
        let page = &one["pages"][0];
        let mut way: Vec<u64> = vec![1];
        let above = page["around"]["path"].as_array().unwrap().iter();
        way.extend(above.map(|n| n.as_u64().unwrap()));
        way.push(leaf.into());
        let read: Vec<u64> = said.pages.iter().map(|&n| n.into()).collect();
        assert_eq!(read, way);
        let cells = page["cells"].as_array().unwrap();
        assert!(cells.iter().any(|cell| cell["rowid"] == 1234));
    }
}

#[test]
fn overflow_pages_are_seen_with_both_libraries() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let model = model(&place, &path);
    let kinds: Vec<char> = model["map"]["kind"].as_str().unwrap().chars().collect();
    let chains = kinds.iter().filter(|&&kind| kind == 'o').count();
    assert!(chains > 100);
    for library in BOTH {
        let said = query(&place, library, &path, "SELECT sum(length(hex(b))) FROM t");
        assert_eq!(said.error(), "");
        let read = said.first_reads();
        let overflow = read.iter().filter(|&&n| kinds[n as usize - 1] == 'o');
        assert_eq!(overflow.count(), chains, "{library}");
    }
}

#[test]
fn frames_of_the_log_are_pages() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let mut writer = Worker::on(&place, &path);
    writer.sql("PRAGMA journal_mode=WAL");
    writer.sql("PRAGMA wal_autocheckpoint=0");
    writer.sql("UPDATE t SET s='changed' WHERE n%100<50");
    let wanted = leaves(tree(&model(&place, &path), "t"));
    let before = place.list(".");
    for library in BOTH {
        let sql = "SELECT count(*) FROM t WHERE s='changed' AND n>=0";
        let said = query(&place, library, &path, sql);
        assert_eq!(said.error(), "");
        assert_eq!(said.ended["rows"][0][0]["value"], "1000");
        assert_eq!(said.started["immutable"], false);
        assert!(said.ended["from_log"].as_u64().unwrap() > 10);
        let read = said.first_reads().into_iter();
        let read: Vec<u32> = read.filter(|n| wanted.contains(n)).collect();
        assert_eq!(read, wanted, "{library}");
    }
    assert_eq!(place.list("."), before);

    // Copied without its wal-index, it is read without one being left.
    std::fs::create_dir(place.path("copy")).unwrap();
    for name in ["my.db", "my.db-wal"] {
        std::fs::copy(place.path(name), place.path(&format!("copy/{name}"))).unwrap();
    }
    let said = query(
        &place,
        STOCK,
        &place.path("copy/my.db"),
        "SELECT count(*) FROM t WHERE s='changed'",
    );
    assert_eq!(said.ended["rows"][0][0]["value"], "1000");
    assert_eq!(place.list("copy"), ["my.db", "my.db-wal"]);

    // Without a log there is nothing to lock, and no file is made.
    writer.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    drop(writer);
    assert!(!place.path("my.db-wal").exists());
    let before = place.list(".");
    for library in BOTH {
        let said = query(&place, library, &path, "SELECT count(*) FROM t");
        assert_eq!(said.ended["rows"][0][0]["value"], "2000");
        assert_eq!(said.started["immutable"], true);
    }
    assert_eq!(place.list("."), before);
}

#[test]
fn the_schema_is_not_trusted() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let mut worker = Worker::on(&place, &path);
    worker.sql("CREATE VIEW v AS SELECT load_extension('x.so') FROM t");
    worker.sql("CREATE VIEW w AS SELECT n FROM t WHERE n<3");
    drop(worker);
    for library in BOTH {
        let said = query(&place, library, &path, "SELECT * FROM v");
        assert!(
            said.error().contains("unsafe use of load_extension()"),
            "{said:?}"
        );
        assert_eq!(query(&place, library, &path, "SELECT * FROM w").error(), "");
    }
}

#[test]
fn a_file_in_use_is_read_as_it_was_committed() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let mut writer = Worker::on(&place, &path);
    writer.sql("BEGIN IMMEDIATE");
    writer.sql("DELETE FROM t WHERE n>=1000");
    let count = |library| {
        let said = query(&place, library, &path, "SELECT count(*) FROM t");
        said.ended["rows"][0][0]["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for library in BOTH {
        assert_eq!(count(library), "2000");
    }
    // The reader leaves the writer's locks alone, and the writer does not wait for it.
    writer.sql("COMMIT");
    for library in BOTH {
        assert_eq!(count(library), "1000");
    }
}

#[test]
fn nothing_can_be_written() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    Worker::on(&place, &path).sql("CREATE INDEX ts ON t(s)");
    let bytes = std::fs::read(&path).unwrap();
    let files = (place.list("."), place.list("tmp"));
    let refused = [
        "INSERT INTO t(s) VALUES('x')",
        "INSERT INTO t(s) VALUES('x') RETURNING n",
        "UPDATE t SET s='x'",
        "DELETE FROM t",
        "REPLACE INTO t(n) VALUES(1)",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "CREATE TABLE x(a)",
        "CREATE TEMP TABLE x(a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "CREATE INDEX i ON t(s)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN c",
        "ATTACH 'other.db' AS other",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'other.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "SAVEPOINT s",
        "COMMIT",
        "PRAGMA journal_mode=WAL",
        "PRAGMA journal_mode=DELETE",
        "PRAGMA user_version=5",
        "PRAGMA application_id=5",
        "PRAGMA wal_checkpoint",
        "PRAGMA incremental_vacuum",
        "PRAGMA optimize",
        "PRAGMA query_only=OFF",
        "PRAGMA writable_schema=ON",
        "PRAGMA trusted_schema=ON",
        "PRAGMA temp_store_directory='.'",
        "PRAGMA hp_threads=8",
        "SELECT * FROM pragma_optimize",
        "SELECT load_extension('x.so')",
        "SELECT writefile('other.db', 'x')",
        "SELECT readfile('my.db')",
        "SELECT edit('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT 1; DELETE FROM t",
        "",
        "-- nothing",
    ];
    for sql in refused {
        for library in BOTH {
            let said = query(&place, library, &path, sql);
            assert_ne!(said.error(), "", "{sql:?} ran");
            // One begins, and is refused where it would act.
            assert!(said.pages.iter().all(|&n| n == 1), "{sql:?} read");
        }
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!((place.list("."), place.list("tmp")), files);
    for (sql, why) in [
        (
            "ATTACH 'o' AS o",
            "Only reading is allowed here, not ATTACH.",
        ),
        (
            "CREATE TEMP TABLE x(a)",
            "Only reading is allowed here, not a change of the schema.",
        ),
        (
            "PRAGMA user_version=5",
            "Only reading is allowed here, not PRAGMA user_version.",
        ),
        (
            "SELECT 1; SELECT 2",
            "There is more than one statement; one is run at a time.",
        ),
    ] {
        assert_eq!(query(&place, STOCK, &path, sql).error(), why);
    }
    let said = query(&place, STOCK, &path, "SELECT x FROM t");
    assert_eq!(said.error(), "no such column: x");
    assert_eq!(said.failed["offset"], 7);
}

#[test]
fn all_that_only_reads_runs() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    for sql in [
        "SELECT 1; -- that is\n; /* all */ ; -- here",
        "VALUES(1)",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c LIMIT 3) SELECT * FROM c",
        "SELECT name FROM sqlite_schema",
        "SELECT * FROM pragma_table_info('t')",
        "PRAGMA user_version",
        "PRAGMA index_list(t)",
        "PRAGMA quick_check",
        "EXPLAIN SELECT * FROM t",
        "SELECT * FROM t WHERE n=?1",
        "SELECT s, count(*) FROM t GROUP BY s ORDER BY 2 DESC",
        "SELECT row_number() OVER (ORDER BY s), json_group_array(n) FROM t GROUP BY n LIMIT 5",
    ] {
        for library in BOTH {
            assert_eq!(query(&place, library, &path, sql).error(), "", "{sql}");
        }
    }
    // Modules that would write to their tables as well.
    let mut worker = Worker::on(&place, &path);
    worker.sql("CREATE VIRTUAL TABLE \"r\"\"t\" USING rtree(id, x0, x1)");
    worker.sql("INSERT INTO \"r\"\"t\" SELECT n, n, n+1 FROM t");
    worker.sql("CREATE VIRTUAL TABLE f USING fts5(s)");
    worker.sql("INSERT INTO f SELECT 'word'||n FROM t");
    drop(worker);
    for library in BOTH {
        for sql in [
            "SELECT count(*) FROM \"r\"\"t\" WHERE x0>=10 AND x1<=13",
            "SELECT count(*)+2 FROM f WHERE f MATCH 'word77'",
        ] {
            let said = query(&place, library, &path, sql);
            assert_eq!(said.ended["rows"][0][0]["value"], "3", "{said:?}");
            assert!(said.pages.len() > 2);
        }
    }
    // sqlite_schema is read as any other table, though its pages were read to open the file.
    let said = query(&place, STOCK, &path, "SELECT name FROM sqlite_schema");
    assert_eq!(said.pages, [1]);
}

#[test]
fn values_are_cut_and_sorting_on_disk_is_told() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &["PRAGMA encoding='UTF-16be'"]);
    let sql = "SELECT NULL, 7, 1e300, 'é\u{1f980}', x'0aff', replace(hex(zeroblob(999)),'0','é')";
    let said = query(&place, STOCK, &path, sql);
    let long = "é".repeat(300);
    assert_eq!(
        said.ended["rows"][0],
        json!([
            {"type": "null", "value": ""},
            {"type": "integer", "value": "7"},
            {"type": "real", "value": "1e300"},
            {"type": "text", "value": "é\u{1f980}"},
            {"type": "blob", "value": "0aff", "bytes": 2},
            {"type": "text", "value": long, "bytes": 3996},
        ])
    );
    let sql = "SELECT s FROM (SELECT t.s||hex(zeroblob(2000)) AS s FROM t, \"<other>\" LIMIT 9000) \
               ORDER BY s";
    let said = query(&place, STOCK, &path, sql);
    assert_eq!(said.error(), "");
    assert!(said.ended["temporary_files"].as_u64().unwrap() > 0);
    assert!(said.ended["temporary_bytes"].as_u64().unwrap() > 1_000_000);
    assert!(place.list("tmp").is_empty());
}

/// Starts to measure a statement.
fn measuring(place: &Place, library: &str, database: &Path, sql: &str) -> (Child, ChildStdin) {
    let database = database.to_str().unwrap();
    started(place, &["viz-worker", library, database, "--measure"], sql)
}

fn measured(place: &Place, library: &str, database: &Path, sql: &str) -> Said {
    let (child, input) = measuring(place, library, database, sql);
    listen(child, input)
}

#[test]
fn a_statement_is_measured_and_what_would_help_it_is_told() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let sql = "SELECT sum(length(s)), max(n) FROM \"<other>\"";
    let mut rows = Vec::new();
    for library in BOTH {
        let said = measured(&place, library, &path, sql);
        assert_eq!(said.error(), "");
        let times = said.ended["times"].as_array().unwrap();
        assert!((2..=5).contains(&times.len()), "{times:?}");
        assert!(times.iter().all(|t| t.as_f64().is_some_and(|t| t > 0.0)));
        // Its reads are not watched.
        assert_eq!((said.pages.len(), &said.ended["pages"]), (0, &json!(0)));
        assert_eq!(said.ended["row_count"], 1);
        let became = if library == OURS {
            json!("accelerated")
        } else {
            Value::Null
        };
        assert_eq!(said.ended["reasons"]["became"], became, "{said:?}");
        rows.push(said.ended["rows"].clone());
    }
    assert_eq!(rows[0], rows[1]);

    // All rows have the same text: an index on it helps nobody, until they have different ones.
    let by_text = "SELECT count(*) FROM t WHERE s='Text 7'";
    let said = measured(&place, OURS, &path, by_text);
    assert_eq!(said.ended["indexes"], json!([]), "{said:?}");
    Worker::on(&place, &path).sql("UPDATE t SET s='Text '||n");
    let before = (std::fs::read(&path).unwrap(), place.list("."));
    let said = measured(&place, OURS, &path, by_text);
    assert_eq!(
        said.ended["indexes"][0]["sql"], "CREATE INDEX t_s ON t(s);",
        "{said:?}"
    );
    let step = said.ended["indexes"][0]["step"].as_str().unwrap();
    assert!(step.contains("INDEX t_s (s=?)"), "{step}");
    assert_eq!((std::fs::read(&path).unwrap(), place.list(".")), before);
}

#[test]
fn nothing_can_be_written_by_what_is_measured_and_it_can_be_stopped() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let before = (std::fs::read(&path).unwrap(), place.list("."));
    for sql in [
        "DELETE FROM t",
        "CREATE TEMP TABLE x(a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'other.db'",
        "PRAGMA hp_threads=8",
        "PRAGMA hp_stats=1",
        "SELECT load_extension('x.so')",
        "SELECT writefile('other.db', 'x')",
        "SELECT 1; DELETE FROM t",
    ] {
        for library in BOTH {
            assert_ne!(
                measured(&place, library, &path, sql).error(),
                "",
                "{sql} ran"
            );
        }
    }
    assert_eq!((std::fs::read(&path).unwrap(), place.list(".")), before);
    for library in BOTH {
        let (child, mut input) = measuring(&place, library, &path, ENDLESS);
        input.write_all(b"s").unwrap();
        let said = listen(child, input);
        assert_eq!(said.ended["stopped"], true);
        assert_eq!(said.ended["times"], json!([]));
    }
}

/// Never ends, whatever it is run on.
const ENDLESS: &str = "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) SELECT max(i) FROM c";

#[test]
fn a_statement_can_be_stopped_and_never_outlives_who_asked() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    for library in BOTH {
        let (child, mut input) = start(&place, library, &path, ENDLESS);
        input.write_all(b"s").unwrap();
        let said = listen(child, input);
        assert_eq!(said.ended["stopped"], true);
        assert_eq!(said.error(), "interrupted");

        let (mut child, input) = start(&place, library, &path, ENDLESS);
        drop(input);
        assert!(!child.wait().unwrap().success());
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let root = tree(&model(&place, &path), "t")["root"].as_u64().unwrap() as usize;
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(root - 1) * 4096..root * 4096].fill(0x5a);
    std::fs::write(place.path("bad.db"), &bytes).unwrap();
    std::fs::write(place.path("text.db"), b"nothing of that kind").unwrap();
    for library in BOTH {
        let said = query(&place, library, &place.path("bad.db"), "SELECT * FROM t");
        assert!(said.error().contains("the file is damaged"), "{said:?}");
        let said = query(&place, library, &place.path("text.db"), "SELECT 1 FROM t");
        assert!(
            said.error().starts_with("file is not a database"),
            "{said:?}"
        );
        let said = query(&place, library, &place.path("none.db"), "SELECT 1");
        assert!(said.error().starts_with("cannot open"), "{said:?}");
    }
}

/// Asks the page's server to run a statement on its first file.
fn ask(server: &Server, sql: &str, library: &str, id: &str) -> TcpStream {
    let body = json!({"sql": sql, "library": library, "id": id});
    server.send("POST", "api/0/query", &body.to_string())
}

#[test]
fn the_page_is_told_what_was_read_of_what() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let model = model(&place, &path);
    let server = Server::on(&place, "my.db");
    for library in ["stock", "hp"] {
        let sql = "SELECT n, s FROM \"<other>\" WHERE s LIKE 'T%'";
        let (status, answer) = Server::json(ask(&server, sql, library, library));
        assert_eq!((status, &answer["error"]), (200, &Value::Null), "{answer}");
        let (_, bytes) =
            Server::bytes(server.send("GET", &format!("api/query/{library}/reads"), ""));
        let pages: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect();
        assert_eq!(answer["id"], library);
        assert_eq!(answer["running"], false);
        assert_eq!(answer["reads"], pages.len());
        let adjacent = pages.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert_eq!(answer["adjacent"], adjacent);
        let again = pages.windows(2).filter(|w| w[1] == w[0]).count();
        assert_eq!(answer["again"], again);
        assert_eq!(answer["runs"]["count"], pages.len() - adjacent - again);
        assert_eq!(answer["row_count"], 2000);
        assert_eq!(answer["more"], true);
        // All of the table and nothing of the other one, beside the page where the schema begins.
        let other = tree(&model, "<other>");
        let trees = answer["trees"].as_array().unwrap();
        assert_eq!(trees.len(), 2, "{answer}");
        assert_eq!(trees[0]["read"], other["pages"]);
        assert_eq!(trees[0]["pages"], other["pages"]);
        let kinds = answer["kinds"].as_array().unwrap().iter();
        let kinds: u64 = kinds.map(|kind| kind["read"].as_u64().unwrap()).sum();
        assert_eq!(answer["distinct"], kinds);
    }
    let (_, answer) = Server::json(ask(&server, "DELETE FROM t", "hp", "d"));
    assert_eq!(
        answer["error"]["message"],
        "Only reading is allowed here, not DELETE."
    );
    // Names are not used twice, and are plain.
    assert_eq!(Server::json(ask(&server, "SELECT 1", "hp", "d")).0, 400);
    assert_eq!(Server::json(ask(&server, "SELECT 1", "hp", "../d")).0, 400);
    let send = |body: &str| Server::json(server.send("POST", "api/0/query", body)).0;
    assert_eq!(send("{"), 400);
    assert_eq!(send(r#"{"sql":"SELECT 1","library":"/lib/x.so"}"#), 400);
    assert_eq!(send(r#"{"sql":"SELECT 1","library":"hp"}"#), 200);
    let nobody = server.send("GET", "api/query/nobody/reads", "");
    assert_eq!(Server::json(nobody).0, 404);
}

#[test]
fn reads_are_not_told_of_another_file_than_is_shown() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let server = Server::on(&place, "my.db");
    let count = |id: &str| Server::json(ask(&server, "SELECT count(*) FROM t", "stock", id));
    let notes = |answer: &Value| answer["notes"].to_string();
    let (status, answer) = count("before");
    assert_eq!(status, 200, "{answer}");
    assert!(!notes(&answer).contains("written to since"), "{answer}");
    {
        let mut worker = Worker::on(&place, &path);
        worker.sql("CREATE TABLE later(a)");
    }
    wait_until(|| {
        let (_, files) = Server::json(server.send("GET", "api/files", ""));
        files[0].get("changed").is_some()
    });
    let (status, answer) = count("written");
    assert_eq!(status, 200, "{answer}");
    assert!(notes(&answer).contains("written to since"), "{answer}");
    std::fs::copy(&path, place.path("new.db")).unwrap();
    std::fs::rename(place.path("new.db"), &path).unwrap();
    let (status, answer) = count("replaced");
    assert_eq!(status, 409, "{answer}");
    let why = answer["error"].as_str().unwrap();
    assert!(
        why.starts_with("Another file has taken its place."),
        "{why}"
    );
    let (status, _) = Server::json(server.send("POST", "api/0/reload", "{}"));
    assert_eq!((status, count("anew").0), (200, 200));
}

/// Workers that run on a database.
fn workers(database: &Path) -> Vec<u32> {
    let all = processes_with(database.to_str().unwrap()).into_iter();
    all.filter(|pid| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("viz-worker"))
    })
    .collect()
}

#[test]
fn what_nobody_waits_for_ends_and_what_crashes_is_told() {
    let place = Place::new();
    let path = interleaved(&place, "my.db", &[]);
    let server = Server::on(&place, path.to_str().unwrap());
    let runs = || workers(&path).len();

    // Stopped by name: what there is comes at once.
    let waiting = ask(&server, ENDLESS, "hp", "one");
    wait_until(|| runs() == 1);
    let start = Instant::now();
    let (status, _) = Server::json(server.send("DELETE", "api/query/one", ""));
    assert_eq!(status, 200);
    let (_, answer) = Server::json(waiting);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(answer["stopped"], true);
    assert!(
        answer["plan"]
            .as_array()
            .is_some_and(|plan| !plan.is_empty())
    );

    // The page goes.
    let waiting = ask(&server, ENDLESS, "stock", "two");
    wait_until(|| runs() == 1);
    drop(waiting);
    wait_until(|| runs() == 0);
    let two = || Server::json(server.send("GET", "api/query/two", "")).1;
    wait_until(|| two()["running"] == false);

    // It goes while the statement is being started.
    for i in 0..5 {
        drop(ask(&server, ENDLESS, "stock", &format!("gone-{i}")));
        std::thread::sleep(Duration::from_millis(100));
    }
    wait_until(|| runs() == 0);

    // Two run at a time; a crash is an answer.
    let (a, b) = (
        ask(&server, ENDLESS, "stock", "three"),
        ask(&server, ENDLESS, "hp", "four"),
    );
    wait_until(|| runs() == 2);
    assert_eq!(Server::json(ask(&server, "SELECT 1", "hp", "five")).0, 429);
    for pid in workers(&path) {
        // SAFETY: a plain system call on a process of this test.
        unsafe { libc::kill(pid as libc::pid_t, libc::SIGABRT) };
    }
    for waiting in [a, b] {
        let (status, answer) = Server::json(waiting);
        assert_eq!(status, 200);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("crashed with signal 6"), "{message}");
    }
    let (_, answer) = Server::json(ask(&server, "SELECT 1", "hp", "six"));
    assert_eq!(answer["rows"][0][0]["value"], "1");
}
