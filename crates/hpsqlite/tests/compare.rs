//! `hpsqlite compare`: answers, differences, files, errors and exit statuses.

mod common;

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Stdio;

use common::{Done, Place, Worker, interrupt_when, processes_with, wait_until};
use serde_json::Value;

const GROUPED: &str = "SELECT s, count(*), sum(r) FROM t GROUP BY s";

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.text(name)).unwrap()
}

#[test]
fn same_answers_in_all_three_forms() {
    let place = Place::new();
    place.database("t.db");
    let done = place
        .run(&[
            "compare",
            "t.db",
            GROUPED,
            "SELECT count(*) FROM t",
            "--runs",
            "6",
            "--json",
            "o.json",
            "--html",
            "o.html",
        ])
        .expect(0)
        .says("The answers of all 2 statements are the same.")
        .says("same, 7 rows")
        .says("SCAN t");
    assert_eq!(done.err, "");

    let report = json(&place, "o.json");
    assert_eq!(report["cache"], "warm");
    assert_eq!(report["sides"][0]["label"], "stock");
    assert_eq!(report["sides"][1]["label"], "ours");
    assert_ne!(report["sides"][0]["library"], report["sides"][1]["library"]);
    for side in 0..2 {
        assert!(
            report["sides"][side]["source_id"]
                .as_str()
                .unwrap()
                .starts_with("20")
        );
        for statement in 0..2 {
            let statement = &report["statements"][statement];
            let samples = statement["samples"][side].as_array().unwrap();
            assert_eq!(samples.len(), 6);
            assert!(samples.iter().all(|s| s["seconds"].as_f64().unwrap() > 0.0));
            assert!(!statement["plans"][side].as_array().unwrap().is_empty());
        }
    }
    let first = &report["statements"][0];
    assert_eq!(first["outcome"]["rows"], 7);
    assert_eq!(first["outcome"]["columns"][1]["name"], "count(*)");
    let speedup = &first["speedup"];
    assert!(speedup["low"].as_f64() <= speedup["ratio"].as_f64());
    assert!(speedup["ratio"].as_f64() <= speedup["high"].as_f64());

    let page = place.text("o.html");
    // Two charts, each for wide and for narrow windows
    assert_eq!(page.matches("<svg").count(), 4);
    assert!(page.contains("prefers-color-scheme: dark"));
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "the page needs {outside}");
    }
}

#[test]
fn the_last_digit_counts() {
    let place = Place::new();
    place.database("t.db");
    let wrong = place.misbehaving("WRONG_LAST_DIGIT");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT n, r, s FROM t",
            "--b",
            &wrong,
            "--json",
            "o.json",
        ])
        .expect(1)
        .says("the answers differ first in row 2,500")
        .says("≠  r ")
        .says("42.5 (real)")
        .says("42.50000000000001 (real)");
    let difference = &json(&place, "o.json")["statements"][0]["difference"];
    assert_eq!(difference["kind"], "row");
    assert_eq!(difference["number"], 2500);
    assert_eq!(difference["reordered"], false);
    // The same library gives the same answer where it is right.
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT r FROM t WHERE n<100",
            "--b",
            &wrong,
        ])
        .expect(0);
}

#[test]
fn order_values_and_names_count() {
    let place = Place::new();
    place.database("t.db");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT n FROM t",
            "--pragma-b",
            "reverse_unordered_selects=1",
        ])
        .expect(1)
        .says("differ first in row 1\n")
        .says("Both give the same rows, in another order.");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT 'A' LIKE 'a'",
            "--pragma-b",
            "case_sensitive_like=1",
        ])
        .expect(1)
        .says("1 (integer)")
        .says("0 (integer)");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT n FROM t",
            "--pragma-b",
            "short_column_names=0",
            "--pragma-b",
            "full_column_names=1",
        ])
        .expect(1)
        .says("the result columns differ")
        .says("t.n INTEGER");
}

/// random() in a statement does not hide that one side always has another number of rows.
#[test]
fn answers_that_vary_may_have_other_rows_too() {
    let place = Place::new();
    place.database("t.db");
    // Only our library has hp_version().
    let sql = "SELECT random() FROM (SELECT 1 UNION ALL SELECT 1 FROM pragma_function_list \
               WHERE name='hp_version')";
    place
        .run(&["compare", "t.db", sql])
        .expect(1)
        .says("the answers end differently")
        .says("no error after 1 rows")
        .says("no error after 2 rows");
}

/// That is no difference between the libraries: it has a word and a status of its own, and is timed.
#[test]
fn answers_that_vary_on_either_side() {
    let place = Place::new();
    place.database("t.db");
    let done = place
        .run(&["compare", "t.db", "SELECT random()"])
        .expect(3)
        .says("either side gives another answer each time, as with random()");
    assert!(!done.out.contains("DIFFER"), "{done:?}");
    assert!(!done.out.contains("answers are the same"), "{done:?}");
    let line = done
        .out
        .lines()
        .find(|l| l.contains("SELECT random()"))
        .unwrap();
    assert!(line.ends_with(" vary") && line.contains(" ± "), "{line}");
    place
        .run(&["compare", "t.db", "SELECT 1; SELECT random(); SELECT 2"])
        .expect(3)
        .says("The answers of 2 of 3 statements are the same.")
        .says("Statement 2 gives another answer each time on either side");
    let wrong = place.misbehaving("FAILS_MIDWAY");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT n FROM t; SELECT random()",
            "--b",
            &wrong,
        ])
        .expect(1)
        .says("The answers of 1 of 2 statements differ.");
}

#[test]
fn errors_are_answers() {
    let place = Place::new();
    place.database("t.db");
    place
        .run(&["compare", "t.db", "SELECT abs(-9223372036854775807-1)"])
        .expect(0)
        .says("same error: integer overflow");
    let fails = place.misbehaving("FAILS_MIDWAY");
    place
        .run(&["compare", "t.db", "SELECT n FROM t", "--b", &fails])
        .expect(1)
        .says("differ first in row 2,000")
        .says("has no such row");
}

#[test]
fn a_crash_is_told_as_such() {
    let place = Place::new();
    place.database("t.db");
    let crashes = place.misbehaving("CRASHES");
    place
        .run(&["compare", "t.db", "SELECT n FROM t", "--b", &crashes])
        .fails_with(&format!("B ({crashes}) crashed with signal 6"));
}

#[test]
fn a_slow_library_is_slower() {
    let place = Place::new();
    place.database("t.db");
    let slow = place.misbehaving("SLOW");
    place
        .run(&[
            "compare", "t.db", "SELECT 1", "--b", &slow, "--runs", "5", "--json", "o.json",
        ])
        .expect(0)
        .says("times as long as stock");
    let report = json(&place, "o.json");
    let statement = &report["statements"][0];
    // Two steps of 10 ms each.
    assert!(statement["summaries"][1]["min"].as_f64().unwrap() >= 0.02);
    assert!(statement["speedup"]["high"].as_f64().unwrap() < 1.0);
}

#[test]
fn columns_in_memory_are_told() {
    // So many rows that processes are not made anew for each round
    let place = Place::new();
    place
        .run(&["data", "h2o", "x.db", "--rows", "500000"])
        .expect(0);
    let told = "Ours read columns that earlier runs had left in memory: statement 1 in ";
    let run = |more: &[&str]| {
        let sql = "SELECT id1, sum(v1) FROM x GROUP BY id1";
        let mut arguments = vec!["compare", "x.db", sql, "--runs", "6", "--json", "o.json"];
        arguments.extend(more);
        place.run(&arguments).expect(0)
    };
    run(&[]).says(told);
    let samples = json(&place, "o.json")["statements"][0]["samples"].clone();
    let read = |side: usize| {
        let samples = samples[side].as_array().unwrap();
        samples
            .iter()
            .filter_map(|s| s["columns"].as_u64())
            .collect::<Vec<_>>()
    };
    assert!(read(0).is_empty(), "stock has no columns");
    assert_eq!(read(1).len(), 6);
    assert!(read(1)[5] > 0, "{:?}", read(1));
    let done = run(&["--pragma-b", "hp_columns=off"]);
    assert!(!done.out.contains("left in memory"), "{}", done.out);
}

#[test]
fn settings_are_read_back() {
    let place = Place::new();
    place.database("t.db");
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT 1",
            "--pragma",
            "cache_size=123",
            "--pragma-a",
            "hp_no_such=1",
        ])
        .expect(0)
        .says("stock: PRAGMA cache_size=123 reads back 123")
        .says("ours: PRAGMA cache_size=123 reads back 123")
        .says("stock: PRAGMA hp_no_such=1 is not known, ignored");
    place
        .run(&["compare", "t.db", "SELECT 1", "--pragma", "user_version=7"])
        .fails_with("t.db: PRAGMA user_version=7 writes to the database; --scratch runs on a copy");
}

#[test]
fn scripts_from_files_and_standard_input() {
    let place = Place::new();
    place.database("t.db");
    let script =
        "-- first; with a semicolon\nSELECT 1;\nSELECT ';' /* ; */, n FROM t;\n\nselect 2 -- end";
    std::fs::write(place.path("q.sql"), script).unwrap();
    place
        .run(&["compare", "t.db", "-f", "q.sql", "--runs", "5"])
        .expect(0)
        .says("The answers of all 3 statements are the same.");
    let mut child = place
        .command(&["compare", "t.db", "-f", "-", "--runs", "5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"SELECT 1; SELECT 2;")
        .unwrap();
    Done::of(&child.wait_with_output().unwrap())
        .expect(0)
        .says("The answers of all 2 statements are the same.");
    std::fs::write(place.path("wrong.sql"), "SELECT 1;\n\nSELECT n\n  FORM t;").unwrap();
    place
        .run(&["compare", "t.db", "-f", "wrong.sql"])
        .fails_with("wrong.sql, line 4, column 8: near \"t\": syntax error");
    place
        .run(&["compare", "t.db", "SELECT 1", "SELECT x FROM t"])
        .fails_with("SQL 2, line 1, column 8: no such column: x");
}

#[test]
fn wrong_calls_and_wrong_files() {
    let place = Place::new();
    place.database("t.db");
    std::fs::write(
        place.path("text"),
        "this is no database, however long it is".repeat(100),
    )
    .unwrap();
    let fails = |arguments: &[&str], line: &str| place.run(arguments).fails_with(line);
    fails(&["compare", "no.db", "SELECT 1"], "no such file: no.db");
    fails(
        &["compare", "lib", "SELECT 1"],
        "lib is a folder, not a database",
    );
    fails(
        &["compare", "text", "SELECT 1"],
        "text: file is not a database",
    );
    fails(
        &["compare", "t.db", " -- nothing"],
        "there is no statement to run",
    );
    fails(
        &["compare", "t.db", "SELECT 1", "--a", "no.so"],
        "no such library: no.so",
    );
    fails(
        &["compare", "t.db", "-f", "no.sql"],
        "cannot read no.sql: No such file or directory (os error 2)",
    );
    fails(
        &["compare", "t.db", "SELECT 1", "--html", "t.db"],
        "t.db is the database; it is not overwritten",
    );
    place
        .run(&["compare", "t.db", "SELECT 1", "--a", "text"])
        .expect(2)
        .says("hpsqlite: cannot load text: ");
    place
        .run(&["compare", "t.db", "SELECT 1", "--json", "no/o.json"])
        .expect(2)
        .says("hpsqlite: cannot write no/o.json: ");
    place
        .run(&["compare", "t.db", "SELECT 1", "--runs", "4"])
        .expect(2)
        .says("4 is not in 5..");
    place.run(&["compare", "t.db"]).expect(2).says("<SQL>");
    std::fs::remove_file(place.path("lib/libsqlite3.so.0")).unwrap();
    place
        .run(&["compare", "t.db", "SELECT 1"])
        .expect(2)
        .says("hpsqlite: --b is needed: no library at ");
}

/// Names, contents and times of a database and what SQLite may put beside it.
fn state(place: &Place, name: &str) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let files = place.list(".").into_iter().filter(|f| f.starts_with(name));
    files
        .map(|f| {
            let path = place.path(&f);
            let modified = path.metadata().unwrap().modified().unwrap();
            (f, std::fs::read(&path).unwrap(), modified)
        })
        .collect()
}

#[test]
fn the_database_stays_as_it_was() {
    let place = Place::new();
    place.database("t.db");
    let wal = place.database("w.db");
    Worker::on(&place, &wal).sql("PRAGMA journal_mode=wal");
    for name in ["t.db", "w.db"] {
        let before = state(&place, name);
        assert_eq!(before.len(), 1);
        place
            .run(&["compare", name, GROUPED, "--runs", "5"])
            .expect(0);
        assert!(
            state(&place, name) == before,
            "{name} or its neighbours changed"
        );
        place
            .run(&["compare", name, "SELECT 1; DELETE FROM t"])
            .fails_with(
                "SQL, line 1: this statement writes to the database; --scratch runs it on a copy",
            );
        assert!(
            state(&place, name) == before,
            "{name} or its neighbours changed"
        );
    }
}

#[test]
fn rows_that_are_only_in_the_log() {
    let place = Place::new();
    let path = place.database("w.db");
    let mut writer = Worker::on(&place, &path);
    writer.sql("PRAGMA journal_mode=wal");
    writer.sql("INSERT INTO t(n) VALUES(3001)");
    writer.kill();
    let log = |place: &Place| std::fs::read(place.path("w.db-wal")).unwrap();
    let before = (std::fs::read(&path).unwrap(), log(&place));
    assert!(!before.1.is_empty());
    for more in [&[][..], &["--scratch"]] {
        let arguments = [
            "compare",
            "w.db",
            "SELECT max(n) FROM t; SELECT 3001",
            "--runs",
            "5",
            "--json",
            "o.json",
        ];
        place.run(&[&arguments, more].concat()).expect(0);
        let report = json(&place, "o.json");
        assert_eq!(hash(&report, 0), hash(&report, 1));
        assert!(before == (std::fs::read(&path).unwrap(), log(&place)));
    }
}

/// The hash of the rows of a statement, counted from 0.
fn hash(report: &Value, statement: usize) -> &str {
    report["statements"][statement]["outcome"]["hash"]
        .as_str()
        .unwrap()
}

#[test]
fn scratch_copies_may_be_written() {
    let place = Place::new();
    place.database("t.db");
    let before = state(&place, "t.db");
    let script = "DELETE FROM t WHERE n<=1000;
        SELECT count(*) FROM t;
        BEGIN; INSERT INTO t(n, s) SELECT n+10000, s FROM t RETURNING n; COMMIT;
        SELECT count(*) FROM t;
        CREATE TABLE u AS SELECT * FROM t;
        SELECT count(*) FROM u;
        VACUUM;";
    place
        .run(&[
            "compare",
            "t.db",
            script,
            "--scratch",
            "--runs",
            "5",
            "--json",
            "o.json",
        ])
        .expect(0)
        .says("t.db (a copy of it)");
    let report = json(&place, "o.json");
    let deleted = &report["statements"][0];
    assert_eq!(deleted["samples"][0].as_array().unwrap().len(), 5);
    assert_eq!(report["statements"][3]["outcome"]["rows"], 2000);
    // What is written is undone after each run but the last.
    place
        .run(&[
            "compare",
            "t.db",
            "SELECT 2000; SELECT 4000",
            "--json",
            "counts.json",
        ])
        .expect(0);
    let counts = json(&place, "counts.json");
    for (statement, count) in [(1, 0), (5, 1), (7, 1)] {
        assert_eq!(
            hash(&report, statement),
            hash(&counts, count),
            "statement {statement}"
        );
    }
    assert!(state(&place, "t.db") == before);
    assert_eq!(place.list("tmp"), Vec::<String>::new());
}

#[test]
fn a_locked_database() {
    let place = Place::new();
    let path = place.database("t.db");
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    // An exclusive lock, as SQLite's file format places it, held by this process.
    let lock = libc::flock {
        l_type: libc::F_WRLCK as _,
        l_whence: libc::SEEK_SET as _,
        l_start: 0x4000_0002,
        l_len: 510,
        l_pid: 0,
    };
    // SAFETY: a plain system call on an open file.
    assert_eq!(
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock) },
        0
    );
    place
        .run(&["compare", "t.db", "SELECT 1"])
        .fails_with("t.db: database is locked: another program is using it; try again later");
}

#[test]
fn interrupted() {
    const ENDLESS: &str =
        "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) SELECT count(*) FROM c";
    let place = Place::new();
    place.database("t.db");
    let library = place.path("libexec/hpsqlite/libsqlite3-stock.so");
    let library = library.to_str().unwrap();
    let workers = || processes_with(library).len();
    let command = place.command(&["compare", "t.db", ENDLESS, "--scratch"]);
    let done = interrupt_when(command, || workers() > 0 && !place.list("tmp").is_empty());
    assert_eq!(done.err, "hpsqlite: interrupted\n");
    done.expect(130);
    wait_until(|| workers() == 0);
    assert_eq!(place.list("tmp"), Vec::<String>::new());

    Worker::on(&place, &place.path("t.db")).sql("PRAGMA journal_mode=wal");
    let before = state(&place, "t.db");
    let command = place.command(&["compare", "t.db", ENDLESS]);
    interrupt_when(command, || place.path("t.db-shm").exists()).expect(130);
    assert!(state(&place, "t.db") == before);
}

#[test]
fn cold_runs_are_cold_or_refused() {
    let place = Place::new();
    place.database("t.db");
    place
        .run(&[
            "compare", "t.db", GROUPED, "--cold", "--runs", "5", "--json", "o.json",
        ])
        .expect(0)
        .says("cold cache");
    assert_eq!(json(&place, "o.json")["cache"], "cold");
    let memory = Path::new("/dev/shm");
    assert!(memory.is_dir(), "Linux has /dev/shm");
    let folder = tempfile::tempdir_in(memory).unwrap();
    let copy = folder.path().join("t.db");
    std::fs::copy(place.path("t.db"), &copy).unwrap();
    let copy = copy.to_str().unwrap();
    place
        .run(&["compare", copy, GROUPED, "--cold"])
        .fails_with(&format!(
            "--cold: {copy} is on a file system in memory, where nothing is ever cold"
        ));
}

#[test]
fn attached_databases() {
    let place = Place::new();
    place.database("t.db");
    place.database("u.db");
    place
        .run(&[
            "compare",
            "t.db",
            "ATTACH 'u.db' AS u; SELECT count(*) FROM u.t, main.t USING(n)",
            "--runs",
            "5",
        ])
        .expect(0)
        .says("same, 1 row");
}
