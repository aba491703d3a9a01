//! `hpsqlite query` and `hpsqlite FILE`: rows as each reader wants them, and every value whole.

mod common;

use common::{Place, Worker};

/// A place with x.db, whose table v has a value of each type, and names that need care.
fn values() -> Place {
    let place = Place::new();
    let mut worker = Worker::on(&place, &place.path("x.db"));
    worker.sql("CREATE TABLE v(a, \"b|c\", d)");
    worker.sql("INSERT INTO v VALUES(1, 2.5, 'plain'), (NULL, 1e999, 'a \"q\", b'), (-7, 3.0, '')");
    worker.sql("INSERT INTO v VALUES(9223372036854775807, 'x|y' || char(10) || 'z', x'00ff')");
    place
}

#[test]
fn without_a_terminal_rows_are_comma_separated() {
    let place = values();
    let expected = "a,b|c,d\n1,2.5,plain\n,Inf,\"a \"\"q\"\", b\"\n-7,3.0,\"\"\n\
                    9223372036854775807,\"x|y\nz\",x'00ff'\n";
    for arguments in [
        &["query", "x.db", "SELECT * FROM v"][..],
        &["query", "x.db", "SELECT * FROM v", "--csv"],
    ] {
        assert_eq!(place.run(arguments).expect(0).out, expected);
    }
    // A row of one NULL is a line with something on it.
    assert_eq!(
        place.run(&["query", "x.db", "SELECT NULL n"]).expect(0).out,
        "n\n\"\"\n"
    );
}

#[test]
fn json_has_types_and_a_name_for_each_column() {
    let place = values();
    let out = place
        .run(&["query", "x.db", "--json", "SELECT *, 1 a FROM v"])
        .expect(0)
        .out;
    assert_eq!(
        out,
        "[{\"a\":1,\"b|c\":2.5,\"d\":\"plain\",\"a:2\":1},\n\
         {\"a\":null,\"b|c\":9.0e+999,\"d\":\"a \\\"q\\\", b\",\"a:2\":1},\n\
         {\"a\":-7,\"b|c\":3.0,\"d\":\"\",\"a:2\":1},\n\
         {\"a\":9223372036854775807,\"b|c\":\"x|y\\nz\",\"d\":\"00ff\",\"a:2\":1}]\n"
    );
    let none = place
        .run(&["query", "x.db", "--json", "SELECT a FROM v WHERE 0"])
        .expect(0)
        .out;
    assert_eq!(none, "[]\n");
}

#[test]
fn a_table_has_aligned_columns_and_markdown_ends_no_cell_early() {
    let place = values();
    let sql = "SELECT a, \"b|c\" FROM v WHERE a <> 1 OR a IS NULL";
    assert_eq!(
        place.run(&["query", "x.db", "--table", sql]).expect(0).out,
        "a                    b|c\n\
         -------------------  -----\n\
         NULL                 Inf\n\
         \u{20}                -7    3.0\n\
         9223372036854775807  x|y z\n"
            .replace("NULL                 Inf", "NULL                   Inf")
    );
    assert_eq!(
        place
            .run(&["query", "x.db", "--markdown", sql])
            .expect(0)
            .out,
        "| a | b\\|c |\n| --- | --- |\n|  | Inf |\n| -7 | 3.0 |\n| 9223372036854775807 | x\\|y<br>z |\n"
    );
}

/// Widths are those of the first rows; what comes later is whole, if not aligned.
#[test]
fn a_long_table_is_written_as_it_comes() {
    let place = values();
    let sql = "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<5000)
               SELECT iif(i=4000, 'long enough', 'x') s FROM c";
    let out = place.run(&["query", "x.db", "--table", sql]).expect(0).out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 5002);
    assert_eq!([lines[0], lines[1], lines[4001]], ["s", "-", "long enough"]);
}

#[test]
fn of_several_statements_the_last_one_is_shown() {
    let place = values();
    let sql = "PRAGMA hp_threads=1; SELECT 5; -- not this\n SELECT 6 AS n; ; /* end */";
    assert_eq!(place.run(&["query", "x.db", sql]).expect(0).out, "n\n6\n");
    for nothing in ["", " ; -- x", "/**/"] {
        place
            .run(&["query", "x.db", nothing])
            .fails_with("there is no statement");
    }
}

#[test]
fn only_write_writes() {
    let place = values();
    let insert = "INSERT INTO v VALUES(2, 2, 2)";
    place
        .run(&["query", "x.db", insert])
        .fails_with("to let a statement write, give --write: attempt to write a readonly database");
    assert_eq!(
        place
            .run(&["query", "x.db", "--write", insert])
            .expect(0)
            .out,
        ""
    );
    assert_eq!(
        place
            .run(&["query", "x.db", "SELECT count(*) n FROM v"])
            .expect(0)
            .out,
        "n\n5\n"
    );
    place
        .run(&["query", "none.db", "SELECT 1"])
        .fails_with("there is no file none.db");
    assert!(!place.path("none.db").exists());
    place
        .run(&[
            "query",
            "none.db",
            "--write",
            "CREATE TABLE t(a); SELECT * FROM t",
        ])
        .expect(0);
    assert!(place.path("none.db").exists());
    let memory = "CREATE TABLE t(a); INSERT INTO t VALUES(3); SELECT a FROM t";
    assert_eq!(
        place.run(&["query", ":memory:", memory]).expect(0).out,
        "a\n3\n"
    );
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    let place = values();
    place
        .run(&["query", "x.db", "SELECT 1;\nSELECT a, nope FROM v"])
        .fails_with("no such column: nope, at: nope FROM v");
    place
        .run(&["query", "x.db", "--csv", "--json", "SELECT 1"])
        .expect(2)
        .says("cannot be used with");
}

#[test]
fn the_library_is_ours_or_another() {
    let place = values();
    let version = ["query", "x.db", "SELECT hp_version() v"];
    let ours = format!("v\n{}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(&version).expect(0).out, ours);
    place
        .run(&[&version[..], &["--lib", "stock"]].concat())
        .fails_with("no such function: hp_version, at: hp_version() v");
}

#[test]
fn a_file_is_opened_in_the_shell_beside_the_tool() {
    let place = values();
    place
        .run(&["x.db"])
        .expect(2)
        .says("bin/sqlite3 is missing: `make` builds it");
    place.script("bin/sqlite3", "#!/bin/sh\necho \"shell: $*\"\nexit 7\n");
    for (arguments, line) in [
        (&["x.db", "SELECT 1"][..], "shell: x.db SELECT 1\n"),
        (&[":memory:", "-json"], "shell: :memory: -json\n"),
        (&["new.db"], "shell: new.db\n"),
        (&["shell", "-csv", "x.db"], "shell: -csv x.db\n"),
        (&["shell"], "shell: \n"),
    ] {
        assert_eq!(place.run(arguments).expect(7).out, line);
    }
    place
        .run(&["qery", "x.db"])
        .expect(2)
        .says("unrecognized subcommand 'qery'");
}
