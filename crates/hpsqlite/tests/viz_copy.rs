//! The worker process of `hpsqlite viz` that makes copies: the same content, whatever the database is
//! like; and nothing that is left where it cannot be made.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::server::Server;
use common::{Done, Place, Worker, interrupt_when, processes_with, wait_until};

const KINDS: [(&str, &str); 3] = [
    ("vacuumed", "libexec/hpsqlite/libsqlite3-stock.so"),
    ("stock", "libexec/hpsqlite/libsqlite3-stock.so"),
    ("hp", "lib/libsqlite3.so.0"),
];

/// All that a table may be, with names that nobody should give.
const EVERYTHING: &str = r#"
PRAGMA synchronous = off;
PRAGMA user_version = 7;
PRAGMA application_id = 123456;
CREATE TABLE many(id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT UNIQUE,
  s GENERATED ALWAYS AS (t || 'x') STORED, v AS (id + 1));
CREATE TABLE plain(x, y);
CREATE INDEX partial ON plain(y, x DESC) WHERE y > 3;
CREATE INDEX expression ON plain(lower(y));
CREATE TABLE words(n, w TEXT, PRIMARY KEY(w COLLATE NOCASE DESC)) WITHOUT ROWID;
CREATE INDEX covering ON words(n, w);
CREATE TABLE names(rowid, _rowid_, t);
CREATE TABLE "a ""<b>' --;"("se lect" INT, "x""y" TEXT) STRICT;
CREATE TABLE parent(id INTEGER PRIMARY KEY);
CREATE TABLE child(p REFERENCES parent(id), CHECK(p > 0));
CREATE TABLE empty(a, b);
CREATE TABLE large(b BLOB);
CREATE TABLE gone(id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE VIRTUAL TABLE search USING fts5(t);
CREATE VIRTUAL TABLE boxes USING rtree(id, a, b);
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<600)
  INSERT INTO many(t) SELECT 'tähx ' || (i*7919%10007) FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<900)
  INSERT INTO plain SELECT CASE i%4 WHEN 0 THEN NULL WHEN 1 THEN -0.0 WHEN 2 THEN x'00ff' ELSE i END, i%13 FROM c;
INSERT INTO plain VALUES(CAST(x'ff41' AS TEXT), 'a' || char(0) || 'b');
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300)
  INSERT INTO words SELECT i%17, 'Word ' || (i*7919%10007) FROM c;
INSERT INTO names(rowid, _rowid_, t, oid) VALUES(1, 2, 'three', 40), (NULL, NULL, NULL, 5);
INSERT INTO "a ""<b>' --;" VALUES(1, 'one'), (2, '</script>');
INSERT INTO parent VALUES(1);
INSERT INTO child VALUES(1);
PRAGMA foreign_keys = off;
PRAGMA ignore_check_constraints = on;
INSERT INTO child VALUES(99), (-1);
INSERT INTO large VALUES(zeroblob(100000)), (x''), (randomblob(70000));
INSERT INTO gone VALUES(41);
DELETE FROM gone;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300)
  INSERT INTO search SELECT 'word' || i || ' other' || (i%7) FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300) INSERT INTO boxes SELECT i, i, i+1 FROM c;
DELETE FROM plain WHERE rowid % 7 = 0;
CREATE VIEW hollow AS SELECT * FROM nowhere;
CREATE TRIGGER would_write AFTER INSERT ON many BEGIN INSERT INTO plain VALUES(new.id, new.t); END;
ANALYZE;
"#;

/// What must be the same in a copy.
const SAME: [&str; 20] = [
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2",
    "SELECT * FROM many",
    "SELECT rowid, * FROM plain ORDER BY rowid",
    "SELECT rowid, * FROM plain INDEXED BY expression ORDER BY lower(y), rowid",
    "SELECT * FROM words ORDER BY w",
    "SELECT oid, * FROM names",
    r#"SELECT * FROM "a ""<b>' --;""#,
    "SELECT rowid, * FROM child",
    "SELECT rowid, * FROM large",
    "SELECT * FROM gone",
    "SELECT * FROM empty",
    "SELECT rowid, * FROM search",
    "SELECT rowid FROM search WHERE search MATCH 'other3'",
    "SELECT * FROM boxes WHERE a > 100 AND b < 150 ORDER BY id",
    "SELECT * FROM sqlite_sequence ORDER BY rowid",
    "SELECT * FROM sqlite_stat1 ORDER BY rowid",
    "PRAGMA user_version",
    "PRAGMA application_id",
    "PRAGMA integrity_check",
    "SELECT * FROM pragma_page_size, pragma_encoding, pragma_auto_vacuum",
];

/// Runs statements one after the other; each ends with a line.
fn run(db: &mut Worker, script: &str) {
    let mut statement = String::new();
    for line in script.lines() {
        statement.push_str(line);
        statement.push('\n');
        if !line.ends_with(';') {
            continue;
        }
        db.sql(&statement);
        statement.clear();
    }
}

fn copy_command(place: &Place, kind: (&str, &str), source: &Path, target: &str) -> Command {
    let library = place.path(kind.1);
    let mut command = place.command(&["viz-copy", kind.0, library.to_str().unwrap()]);
    command.arg(source).arg(target);
    command.current_dir(place.path("tmp"));
    command
}

/// What the worker process says last.
#[track_caller]
fn copied(place: &Place, kind: (&str, &str), source: &Path) -> (PathBuf, Done) {
    let target = format!("{}.db", kind.0);
    let path = place.path("tmp").join(&target);
    let _ = std::fs::remove_file(&path);
    let output = copy_command(place, kind, source, &target).output().unwrap();
    (path, Done::of(&output))
}

/// The values of all tables, and of what tells that nothing else has changed.
fn content(place: &Place, path: &Path) -> Vec<String> {
    let mut db = Worker::on(place, path);
    SAME.iter().map(|sql| db.hash(sql)).collect()
}

#[test]
fn a_copy_of_any_database_has_its_content() {
    let place = Place::new();
    for (name, settings) in [
        ("512", "PRAGMA page_size = 512"),
        ("4096", "PRAGMA page_size = 4096"),
        ("65536", "PRAGMA page_size = 65536"),
        ("UTF-16le", "PRAGMA encoding = 'UTF-16le'"),
        ("UTF-16be", "PRAGMA encoding = 'UTF-16be'"),
        ("full", "PRAGMA auto_vacuum = full"),
        ("incremental", "PRAGMA auto_vacuum = incremental"),
        ("wal", "PRAGMA journal_mode = wal"),
    ] {
        let source = place.path(&format!("{name} ?#%.db"));
        let mut db = Worker::on(&place, &source);
        db.sql(settings);
        run(&mut db, EVERYTHING);
        drop(db);
        let before = beside(&source);
        let wanted = {
            // Reading a database in WAL mode would leave files beside it.
            let other = place.path("wanted.db");
            std::fs::copy(&source, &other).unwrap();
            content(&place, &other)
        };
        for kind in KINDS {
            let (copy, done) = copied(&place, kind, &source);
            done.says("the values of all its rows were compared")
                .expect(0);
            for (sql, (found, wanted)) in
                SAME.iter().zip(content(&place, &copy).iter().zip(&wanted))
            {
                assert_eq!(found, wanted, "{} of {name}: {sql}", kind.0);
            }
            assert_eq!(beside(&source), before, "{} of {name}", kind.0);
            assert_eq!(place.list("tmp"), [format!("{}.db", kind.0)]);
            std::fs::remove_file(copy).unwrap();
        }
    }
}

/// Names and contents of the files whose names start with a database's.
fn beside(database: &Path) -> Vec<(String, Vec<u8>)> {
    let name = database.file_name().unwrap().to_str().unwrap();
    let entries = std::fs::read_dir(database.parent().unwrap()).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|e| e.unwrap())
        .filter(|e| e.file_name().to_str().unwrap().starts_with(name))
        // What the shared memory of a log says is for those who have it open.
        .map(|e| match e.file_name().into_string().unwrap() {
            shared if shared.ends_with("-shm") => (shared, Vec::new()),
            name => (name, std::fs::read(e.path()).unwrap()),
        })
        .collect();
    files.sort();
    files
}

#[test]
fn reserved_bytes_of_pages_are_kept() {
    let place = Place::new();
    let source = place.path("reserved.db");
    let mut db = Worker::on(&place, &source);
    db.sql("PRAGMA page_size = 1024");
    db.sql("CREATE TABLE t(x)");
    drop(db);
    // Of an empty database VACUUM makes anything; its header says what the new file shall have.
    let mut bytes = std::fs::read(&source).unwrap();
    for page in bytes.chunks_exact_mut(1024) {
        let header = if page.starts_with(b"SQLite") { 100 } else { 0 };
        if header == 100 {
            page[20] = 32;
            // The only cell goes up by as much.
            let at = u16::from_be_bytes([page[105], page[106]]) as usize;
            page.copy_within(at..1024, at - 32);
            let moved = ((at - 32) as u16).to_be_bytes();
            page[105..107].copy_from_slice(&moved);
            page[108..110].copy_from_slice(&moved);
        } else {
            page[header + 5..header + 7].copy_from_slice(&992u16.to_be_bytes());
        }
    }
    std::fs::write(&source, bytes).unwrap();
    let mut db = Worker::on(&place, &source);
    db.sql("WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<500) INSERT INTO t SELECT i||' long' FROM c");
    assert_eq!(db.rows("PRAGMA integrity_check"), ["ok"]);
    drop(db);
    for kind in KINDS {
        let (copy, done) = copied(&place, kind, &source);
        done.says("compared").expect(0);
        assert_eq!(std::fs::read(copy).unwrap()[20], 32, "{}", kind.0);
    }
}

#[test]
fn a_database_with_a_log_is_copied_as_it_was_last_committed() {
    let place = Place::new();
    let source = place.path("log.db");
    let mut db = Worker::on(&place, &source);
    db.sql("PRAGMA journal_mode = wal");
    db.sql("CREATE TABLE t(x)");
    db.sql("INSERT INTO t VALUES('in the log')");
    // In use: a writer in the middle of a transaction is not waited for.
    db.sql("BEGIN IMMEDIATE");
    db.sql("INSERT INTO t VALUES('not committed')");
    let before = beside(&source);
    assert_eq!(before.len(), 3);
    let one = |copy: &Path| Worker::on(&place, copy).rows("SELECT x FROM t");
    for kind in KINDS {
        let (copy, done) = copied(&place, kind, &source);
        done.expect(0);
        assert_eq!(one(&copy), ["in the log"], "{}", kind.0);
        assert_eq!(beside(&source), before);
    }
    // Left by a program that was killed and whose shared memory is gone.
    db.kill();
    drop(db);
    std::fs::remove_file(place.path("log.db-shm")).unwrap();
    let before = beside(&source);
    for kind in KINDS {
        let (copy, done) = copied(&place, kind, &source);
        done.expect(0);
        assert_eq!(one(&copy), ["in the log"], "{}", kind.0);
        assert_eq!(beside(&source), before);
        assert!(!place.list("tmp").contains(&"source.db".to_owned()));
    }
}

#[test]
fn shared_memory_without_a_log_is_left_alone() {
    let place = Place::new();
    let source = place.path("left.db");
    let mut db = Worker::on(&place, &source);
    db.sql("PRAGMA journal_mode = wal");
    db.sql("CREATE TABLE t(x)");
    drop(db);
    wait_until(|| beside(&source).len() == 1);
    std::fs::write(place.path("left.db-shm"), [0; 32768]).unwrap();
    let before = beside(&source);
    for kind in KINDS {
        copied(&place, kind, &source).1.expect(0);
        assert_eq!(beside(&source), before, "{}", kind.0);
    }
}

#[test]
fn what_the_application_brings_with_it_is_named() {
    let place = Place::new();
    for (sql, what) in [
        (
            "CREATE TABLE t(x COLLATE theirs UNIQUE)",
            "the collation theirs",
        ),
        (
            "CREATE TABLE t(x); CREATE INDEX i ON t(theirs(x))",
            "the function theirs",
        ),
        (
            "CREATE TABLE t(x, y AS (theirs(x)) STORED)",
            "the function theirs",
        ),
    ] {
        let source = place.path("application.db");
        let _ = std::fs::remove_file(&source);
        let mut db = Worker::on(&place, &source);
        db.sql("PRAGMA writable_schema = on");
        for (i, part) in (2..).zip(sql.split("; ")) {
            let (name, kind) = if part.contains("INDEX") {
                ("i", "index")
            } else {
                ("t", "table")
            };
            // The pages of tables and indexes that such statements would make.
            db.sql(&format!("CREATE TABLE page{i}(x)"));
            db.sql(&format!(
                "UPDATE sqlite_schema SET type = '{kind}', name = '{name}', tbl_name = 't', sql = '{part}' \
                 WHERE name = 'page{i}'"
            ));
        }
        if sql.contains("UNIQUE") {
            db.sql("CREATE TABLE other(x)");
            db.sql(
                "UPDATE sqlite_schema SET type = 'index', name = 'sqlite_autoindex_t_1', \
                 tbl_name = 't', sql = NULL WHERE name = 'other'",
            );
        }
        drop(db);
        for kind in KINDS {
            let (_, done) = copied(&place, kind, &source);
            done.says(&format!("it needs {what}, which the application brings"));
        }
    }
}

/// A database that takes a while to copy.
fn large(place: &Place) -> PathBuf {
    let source = place.path("large.db");
    let mut db = Worker::on(place, &source);
    db.sql("CREATE TABLE t(a, b)");
    db.sql("CREATE INDEX i ON t(b)");
    db.sql(
        "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<60000)
         INSERT INTO t SELECT i, hex(randomblob(40)) FROM c",
    );
    source
}

#[test]
fn a_file_that_may_not_grow_is_an_error_with_advice() {
    let place = Place::new();
    let source = large(&place);
    for kind in KINDS {
        let command = copy_command(&place, kind, &source, "full.db");
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -f 1024; exec \"$@\"", "sh"]);
        limited.arg(command.get_program()).args(command.get_args());
        limited.current_dir(place.path("tmp")).stdin(Stdio::null());
        let done = Done::of(&limited.output().unwrap());
        done.says("set TMPDIR").expect(0);
        let _ = std::fs::remove_file(place.path("tmp/full.db"));
    }
}

#[test]
fn what_is_left_of_tables_that_were_dropped_is_no_difference() {
    let place = Place::new();
    for sql in [
        // VACUUM does not keep the empty sqlite_sequence.
        [
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
            "DROP TABLE t",
        ],
        // A module that nobody here has.
        [
            "PRAGMA writable_schema = on",
            "INSERT INTO sqlite_schema VALUES('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING theirs(a)')",
        ],
    ] {
        let source = place.path("dropped.db");
        let _ = std::fs::remove_file(&source);
        let mut db = Worker::on(&place, &source);
        db.sql("CREATE TABLE kept(a)");
        db.sql("INSERT INTO kept VALUES(1)");
        for sql in sql {
            db.sql(sql);
        }
        drop(db);
        for kind in KINDS {
            let (copy, done) = copied(&place, kind, &source);
            done.says("the values of all its rows were compared");
            assert_eq!(Worker::on(&place, &copy).rows("SELECT a FROM kept"), ["1"]);
        }
    }
}

#[test]
fn a_damaged_database_is_an_error() {
    let place = Place::new();
    let source = large(&place);
    let mut bytes = std::fs::read(&source).unwrap();
    for page in bytes.chunks_exact_mut(4096).skip(1).step_by(7) {
        page[..8].fill(0xee);
    }
    std::fs::write(&source, bytes).unwrap();
    for kind in KINDS {
        let (_, done) = copied(&place, kind, &source);
        done.says("Failed").says("malformed").expect(0);
    }
}

#[test]
fn a_transaction_that_was_cut_off_is_told_and_left() {
    let place = Place::new();
    let source = large(&place);
    let mut db = Worker::on(&place, &source);
    db.sql("PRAGMA cache_size = 10");
    db.sql("PRAGMA synchronous = off");
    db.sql("BEGIN");
    db.sql("UPDATE t SET b = 'cut off' WHERE a < 2000");
    db.kill();
    drop(db);
    let before = beside(&source);
    assert_eq!(before.len(), 2);
    for kind in KINDS {
        let (_, done) = copied(&place, kind, &source);
        done.says("a transaction was cut off while it was written");
        assert_eq!(beside(&source), before, "{}", kind.0);
    }
}

#[test]
fn a_database_that_is_being_written_is_waited_for_and_then_left() {
    let place = Place::new();
    let source = large(&place);
    let mut db = Worker::on(&place, &source);
    db.sql("BEGIN EXCLUSIVE");
    let (_, done) = copied(&place, KINDS[2], &source);
    done.says("another program is writing to it");
}

#[test]
fn a_worker_goes_with_the_process_that_started_it() {
    let place = Place::new();
    let source = large(&place);
    let command = copy_command(&place, KINDS[1], &source, "orphan.db");
    // A shell that waits for it, as the tool does.
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\"; exit 0", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell
        .current_dir(place.path("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut shell = shell.spawn().unwrap();
    let target = place.path("tmp/orphan.db");
    wait_until(|| target.metadata().is_ok_and(|meta| meta.len() > 0));
    shell.kill().unwrap();
    shell.wait().unwrap();
    let source = source.to_str().unwrap();
    wait_until(|| processes_with(source).is_empty());
}

/// Whether the copy is being written.
fn grows(place: &Place) -> bool {
    let folders = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|e| e.path()).collect::<Vec<_>>()
    };
    let copies = folders(&place.path("tmp"));
    let copies = copies.iter().flat_map(|folder| folders(folder));
    let mut files = copies.flat_map(|folder| folders(&folder));
    files.any(|file| file.metadata().is_ok_and(|meta| meta.len() > 0))
}

#[test]
fn a_copy_stays_until_its_file_is_another() {
    let place = Place::new();
    let path = place.database("my.db");
    let server = Server::on(&place, "my.db");
    let copy = || {
        let wanted = r#"{"of": 0, "kind": "stock"}"#;
        let (status, begun) = Server::json(server.send("POST", "api/copy", wanted));
        assert_eq!(status, 200, "{begun}");
        let f = begun["file"].as_u64().unwrap() as usize;
        let state = || Server::json(server.send("GET", "api/files", "")).1[f]["state"].clone();
        wait_until(|| state() == "ready");
        f
    };
    let on_disk = || {
        let mut folders = place.list("tmp");
        // A file beside it is there while a thread of the server asks SQLite for a schema.
        folders.retain(|name| name.starts_with("hpsqlite-viz-"));
        assert_eq!(folders.len(), 1);
        place.list(&format!("tmp/{}", folders[0])).len()
    };
    assert_eq!((copy(), copy()), (1, 1), "it is not made again");
    // Stopping what is there does nothing.
    let (status, _) = Server::bytes(server.send("DELETE", "api/copy/1", ""));
    assert_eq!((status, copy()), (204, 1));
    Worker::on(&place, &path).sql("CREATE TABLE another(x)");
    assert_eq!(on_disk(), 1);
    assert_eq!(
        Server::json(server.send("POST", "api/0/reload", "{}")).0,
        200
    );
    let (_, files) = Server::json(server.send("GET", "api/files", ""));
    let why = "it was of the file as it was before, and is removed; make it again";
    assert_eq!((&files[1]["error"], on_disk()), (&why.into(), 0));
    assert_eq!((copy(), on_disk()), (2, 1));
}

#[test]
fn ctrl_c_leaves_nothing_of_a_copy() {
    let place = Place::new();
    let source = large(&place);
    for option in ["--vacuumed", "--stock", "--hp"] {
        let command = place.command(&["viz", "--no-browser", option, source.to_str().unwrap()]);
        interrupt_when(command, || grows(&place)).says("http://127.0.0.1:");
        assert_eq!(place.list("tmp"), [""; 0], "{option}");
        assert_eq!(beside(&source).len(), 1);
    }
}

#[test]
fn a_worker_that_is_killed_is_told_and_leaves_nothing() {
    let place = Place::new();
    let source = large(&place);
    let picture = place.path("map.svg");
    let child = place
        .command(&["viz", "--stock", source.to_str().unwrap(), "--svg"])
        .arg(&picture)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| grows(&place));
    let library = place.path(KINDS[1].1).canonicalize().unwrap();
    let worker = format!(
        "viz-copy\0stock\0{}\0{}",
        library.display(),
        source.display()
    );
    for pid in processes_with(&worker) {
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.unwrap().success());
    }
    let done = Done::of(&child.wait_with_output().unwrap());
    done.says("was ended by signal 9").expect(2);
    assert_eq!(place.list("tmp"), [""; 0]);
    assert!(!picture.exists());
}

#[test]
fn a_copy_that_cannot_begin_is_told_at_once() {
    let place = Place::new();
    let source = large(&place);
    std::fs::remove_file(place.path("lib/libsqlite3.so.0")).unwrap();
    let done = place.run(&[
        "viz",
        "--no-browser",
        "--stock",
        "--hp",
        source.to_str().unwrap(),
    ]);
    done.says("no library at").expect(2);
    assert_eq!(place.list("tmp"), [""; 0]);
}
