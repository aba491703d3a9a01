//! `hpsqlite import` that fails: what is said, and that nothing of the file stays behind.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::import::{dump, numbered, sql, write};
use common::{Done, Place, interrupt_when, shell, wait_until};

#[test]
fn a_bad_row_leaves_nothing_or_is_put_aside() {
    let place = Place::new();
    sql(
        &place,
        "x.db",
        "CREATE TABLE t(k INTEGER PRIMARY KEY, n INT NOT NULL UNIQUE, s TEXT CHECK(length(s)<9))",
    );
    let rows = b"1,10,a\n2,10,b\n\n,20,c\nx,30,d\n3,40,\"too\nlong a text\"\n4,50,\xff\n5,60,f\n";
    write(&place, "x.csv", rows);
    place
        .run(&["import", "x.db", "x.csv", "t"])
        .expect(1)
        .says("hpsqlite: x.csv:2: column 2 \"n\": UNIQUE constraint failed: t.n\n")
        .says("nothing is imported; --bad FILE puts bad rows aside and goes on");
    assert_eq!(sql(&place, "x.db", "SELECT count(*) FROM t"), "0\n");
    let done = place.run(&["import", "x.db", "x.csv", "t", "--bad", "bad.csv"]);
    done.expect(0)
        .says("2 rows into t")
        .says("6 bad rows in bad.csv");
    assert_eq!(sql(&place, "x.db", "SELECT * FROM t"), "1|10|a\n5|60|f\n");
    let bad = std::fs::read(place.path("bad.csv")).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&bad),
        "line,column,reason,row\n\
         2,\"n\",\"UNIQUE constraint failed: t.n\",\"2,10,b\"\n\
         3,\"k\",\"datatype mismatch: the key must be an integer\",\n\
         4,\"k\",\"datatype mismatch: the key must be an integer\",\",20,c\"\n\
         5,\"k\",\"datatype mismatch: the key must be an integer\",\"x,30,d\"\n\
         6,,\"CHECK constraint failed: length(s)<9\",\"3,40,\"\"too\nlong a text\"\"\"\n\
         8,\"s\",\"this is not UTF-8\",\"4,50,\u{fffd}\"\n"
    );
    write(
        &place,
        "y.csv",
        "6,70,a\n7\n8,80,b,c\n9,90,\"d\"e\"\n10,,x\n",
    );
    place
        .run(&["import", "x.db", "y.csv", "t", "--strict"])
        .expect(1)
        .says("y.csv:2: 1 field for 3 columns");
    place
        .run(&["import", "x.db", "y.csv", "t", "--null", ""])
        .expect(1)
        .says("y.csv:2: column 2 \"n\": NOT NULL constraint failed: t.n");
    sql(&place, "x.db", "CREATE TABLE u(k, n, s)");
    place
        .run(&["import", "x.db", "y.csv", "u", "--null", ""])
        .expect(0)
        .says("y.csv:2: this row has too few fields; the rest is NULL; --strict")
        .says("y.csv:3: this row has too many fields")
        .says("y.csv:4: this row has a quote");
    assert_eq!(
        sql(&place, "x.db", "SELECT quote(n) FROM u WHERE k='10'"),
        "NULL\n"
    );
}

/// A bad row in the midst of rows that workers have made.
#[test]
fn a_bad_row_among_many_is_named() {
    let place = Place::new();
    let rows = |bad: &[u64]| {
        let row = |i| match bad.contains(&i) {
            true => format!("{i},\n"),
            false => format!("{i},text {i}\n"),
        };
        (1..=60_000).map(row).collect::<String>()
    };
    let schema = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL)";
    sql(&place, "x.db", schema);
    write(&place, "x.csv", rows(&[55_555]));
    let import = ["import", "x.db", "x.csv", "t", "--null", ""];
    let done = place.run(&import).expect(1);
    done.says("x.csv:55555: column 2 \"b\": NOT NULL constraint failed: t.b\n")
        .says("nothing is imported");
    assert_eq!(sql(&place, "x.db", "SELECT count(*) FROM t"), "0\n");
    let with_commits = [&import[..], &["--commit", "1000"]].concat();
    let done = place.run(&with_commits).expect(1);
    done.says("x.csv:55555: ").says("55,000 rows are committed");
    assert_eq!(
        sql(
            &place,
            "x.db",
            "SELECT count(*), max(a) FROM t; DELETE FROM t"
        ),
        "55000|55000\n"
    );
    write(&place, "x.csv", rows(&[1, 30_000, 30_001, 59_999]));
    let with_bad = [&import[..], &["--bad", "bad.csv"]].concat();
    let done = place.run(&with_bad).expect(0);
    done.says("59,996 rows into t")
        .says("4 bad rows in bad.csv");
    assert_eq!(
        sql(
            &place,
            "x.db",
            "SELECT count(*), sum(a), sum(length(b)>5) FROM t"
        ),
        format!("59996|{}|59996\n", 60_000u64 * 60_001 / 2 - 120_001)
    );
    let bad = place.text("bad.csv");
    let lines = bad.lines().map(|line| line.split(',').next().unwrap());
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines, ["line", "1", "30000", "30001", "59999"]);
    // A key that is there is found by SQLite.
    let done = place.run(&import).expect(1);
    done.says("x.csv:1: column 2 \"b\": NOT NULL constraint failed");
    write(&place, "x.csv", rows(&[]));
    let done = place.run(&import).expect(1);
    done.says("x.csv:2: column 1 \"a\": UNIQUE constraint failed: t.a");
}

#[test]
fn a_quote_that_is_not_closed_is_named_where_it_opens() {
    let place = Place::new();
    let rows = numbered(50_000) + "7,8\n9,\"open\n10,11\n12,13\n";
    write(&place, "x.csv", rows);
    place
        .run(&["import", "x.db", "x.csv", "t"])
        .expect(1)
        .says("x.csv:100003: column 2 \"b\": the quote that opens here is not closed");
    assert!(!place.path("x.db").exists());
}

/// The log would be as large as the rows. The file takes no room on the disk, and its second row stops
/// the import.
#[test]
fn a_transaction_of_4_gb_is_warned_of() {
    let place = Place::new();
    sql(&place, "x.db", "PRAGMA journal_mode=wal; CREATE TABLE t(a)");
    write(&place, "x.csv", b"1\n\xff\n");
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(place.path("x.csv"))
        .unwrap();
    file.set_len(5_000_000_000).unwrap();
    let warning = "x.csv has 5.0 GB or more in one transaction";
    let done = place.run(&["import", "x.db", "x.csv", "t"]).expect(1);
    done.says(warning)
        .says("x.csv:2: column 1 \"a\": this is not UTF-8");
    let with_commits = ["import", "x.db", "x.csv", "t", "--commit", "1000"];
    let done = place.run(&with_commits).expect(1);
    assert!(!done.err.contains(warning), "{done:?}");
}

#[test]
fn commits_keep_what_came_before() {
    let place = Place::new();
    write(&place, "x.csv", numbered(2_500) + "\"\n");
    let done = place.run(&["import", "x.db", "x.csv", "t", "--commit", "1000"]);
    done.expect(1).says("2,000 rows are committed");
    assert_eq!(
        sql(&place, "x.db", "SELECT count(*), max(a+0) FROM t"),
        "2000|2000\n"
    );
}

#[test]
fn what_cannot_be_used_is_named() {
    let place = Place::new();
    write(&place, "x.csv", "a\n1\n");
    write(&place, "empty.csv", "");
    write(&place, "utf16.csv", b"\xff\xfea\0\n\0");
    write(
        &place,
        "text.db",
        "This is no database, but it is long enough to be one.".repeat(20),
    );
    std::fs::create_dir(place.path("folder.csv")).unwrap();
    for (arguments, said) in [
        (
            &["x.db", "none.csv", "t"][..],
            "cannot read none.csv: No such file or directory",
        ),
        (&["x.db", "folder.csv", "t"], "folder.csv is a folder"),
        (
            &["x.db", "utf16.csv", "t"],
            "utf16.csv is UTF-16; make it UTF-8 by iconv",
        ),
        (
            &["x.db", "-", "t"],
            "does not tell what is in it: give --format",
        ),
        (
            &["text.db", "x.csv", "t"],
            "cannot write to text.db: file is not a database",
        ),
        (
            &["folder.csv", "x.csv", "t"],
            "cannot open folder.csv: unable to open database file",
        ),
        (
            &["none/x.db", "x.csv", "t"],
            "cannot open none/x.db: unable to open database file",
        ),
        (
            &["x.db", "x.csv", "t", "--separator", "\""],
            "cannot separate fields",
        ),
        (&["x.db", "x.csv", "sqlite_x"], "cannot make table sqlite_x"),
    ] {
        let all = [&["import"][..], arguments].concat();
        place.run(&all).expect(2).says(said);
        assert!(!place.path("x.db").exists(), "{arguments:?}");
    }
    place
        .run(&["import", "x.db", "empty.csv", "t"])
        .expect(1)
        .says("empty.csv:1: there is nothing to name columns after");
    sql(&place, "x.db", "CREATE TABLE t(a)");
    place
        .run(&["import", "x.db", "empty.csv", "t"])
        .expect(0)
        .says("0 rows into t");
    place
        .run(&["import", "x.db", "x.csv", "t", "--bad", "x.db-wal"])
        .fails_with("x.db-wal belongs to the database; it is not overwritten");
}

/// A command that imports rows, after which nothing comes, but the pipe stays open.
fn endless(place: &Place) -> (Command, std::process::Child) {
    write(place, "x.csv", numbered(100_000));
    let mut source = Command::new("sh")
        .args(["-c", "cat x.csv; exec sleep 60"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut command = place.command(&["import", "x.db", "-", "t", "--format", "csv"]);
    command.stdin(source.stdout.take().unwrap());
    (command, source)
}

fn is_written(place: &Place) -> bool {
    place
        .path("x.db-journal")
        .metadata()
        .is_ok_and(|meta| meta.len() > 0)
}

#[test]
fn control_c_leaves_nothing_behind() {
    let place = Place::new();
    sql(&place, "x.db", "CREATE TABLE t(a, b)");
    let (command, mut source) = endless(&place);
    let done = interrupt_when(command, || is_written(&place));
    source.kill().unwrap();
    source.wait().unwrap();
    done.expect(130).says("interrupted");
    assert!(!place.path("x.db-journal").exists());
    assert_eq!(sql(&place, "x.db", "SELECT count(*) FROM t"), "0\n");
}

#[test]
fn a_process_that_is_killed_leaves_nothing_behind() {
    let place = Place::new();
    sql(
        &place,
        "x.db",
        "CREATE TABLE t(a, b); CREATE INDEX i ON t(a)",
    );
    let before = dump(&place, "x.db");
    let (mut command, mut source) = endless(&place);
    let mut child = command.spawn().unwrap();
    wait_until(|| is_written(&place));
    child.kill().unwrap();
    child.wait().unwrap();
    source.kill().unwrap();
    source.wait().unwrap();
    assert_eq!(dump(&place, "x.db"), before);
    assert_eq!(sql(&place, "x.db", "PRAGMA integrity_check"), "ok\n");
}

/// A lock is waited for, and a disk may be full.
#[test]
fn locks_and_full_disks_are_errors_of_the_database() {
    let place = Place::new();
    sql(&place, "x.db", "CREATE TABLE t(a, b)");
    write(&place, "x.csv", numbered(100_000));
    let mut holder = Command::new(shell())
        .arg(place.path("x.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = holder.stdin.take().unwrap();
    writeln!(input, "BEGIN IMMEDIATE;\nINSERT INTO t VALUES(1,2);").unwrap();
    input.flush().unwrap();
    wait_until(|| place.path("x.db-journal").exists());
    place
        .run(&["import", "x.db", "x.csv", "t"])
        .fails_with("cannot write to x.db: database is locked");
    drop(input);
    holder.wait().unwrap();

    // A limit on the sizes of files is a disk that is full.
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 2000; exec bin/hpsqlite import x.db x.csv t",
        ])
        .current_dir(place.path(""));
    Done::of(&command.output().unwrap())
        .expect(2)
        .says("cannot write to x.db: ");
    assert_eq!(sql(&place, "x.db", "SELECT count(*) FROM t"), "0\n");
}
