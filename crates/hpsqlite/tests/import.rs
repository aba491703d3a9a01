//! `hpsqlite import`: the rows of the shell's `.import`, sooner, and all of them or none.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::import::{dump, numbered, sql, sqlite3, write};
use common::{Done, Place};

/// Tables that rows go to; none: a new one.
const TABLES: [Option<&str>; 8] = [
    None,
    Some("CREATE TABLE t(x INTEGER, y REAL, z TEXT)"),
    Some("CREATE TABLE t(x, y NUMERIC, z BLOB)"),
    Some("CREATE TABLE t(x)"),
    Some("CREATE TABLE t(x DATE, y DOUBLE, z VARCHAR(9), w BIGINT)"),
    Some("CREATE TABLE t(x TEXT, y INTEGER, z REAL); CREATE INDEX i ON t(y, z)"),
    Some("CREATE TABLE t(x ANY, y ANY) STRICT"),
    Some("CREATE TABLE t(x INT, y INT CHECK(typeof(y)<>'blob'), z AS (typeof(x)), w DEFAULT 5)"),
];

/// Imports the file into each table by the shell and by ours; what is in the tables is the same.
#[track_caller]
fn equals_shell(place: &Place, mode: &str, file: &str) {
    for table in TABLES {
        for database in ["a.db", "b.db"] {
            let _ = std::fs::remove_file(place.path(database));
            sql(place, database, table.unwrap_or("SELECT 1"));
        }
        let import = format!(".import {file} t");
        let theirs = sqlite3(place, "a.db", &[&format!(".mode {mode}"), &import]);
        let mut arguments = vec!["import", "b.db", file, "t"];
        if table.is_some() {
            arguments.push("--no-header");
        }
        let ours = place.run(&arguments);
        let content = std::fs::read(place.path(file)).unwrap();
        let content = String::from_utf8_lossy(&content[..content.len().min(2000)]);
        assert_eq!(
            dump(place, "b.db"),
            dump(place, "a.db"),
            "{content:?} into {table:?}: {ours:?} {theirs:?}"
        );
    }
}

#[test]
fn rows_are_those_of_the_shell() {
    let place = Place::new();
    let long = format!(
        "a,b,c\n1,\"{}\n\",3\n4,5,6\n",
        "long \"\" text, ".repeat(100_000)
    );
    for content in [
        "a,b,c\n1,2,3\n",
        "a,b,c\n1,2,3",
        "a,b,c\r\n1,2,3\r\n",
        "\u{feff}a,b,c\n1,2,3\n",
        "\u{feff}\"a\",b,c\n1,2,3\n",
        "a,b,c\n1,\"x\ny\",3\r\n\"\r\n\",\"\"\r\n",
        "a,b,c\n\"q\"\"q\",\"\",\"\"\"\"\n\"\"\"\",\"a\"\"\"\"b\",\"\"\n",
        "a,b,c\n1\n1,2\n1,2,3,4\n1,2,3,4,5\n",
        "a,b,c\n\n\n1,2,3\n\n",
        "a,b,c\n1,2,",
        "a,b,c\n1,",
        "a,b,c\n1,2,3,",
        "a,b,c\n1,2,3,4",
        "a,b,c\n1,2,\"3\"",
        "a,b,c\n\"\"",
        "a,b,c\n5\" disk,a\"b,c\"\n",
        "a,b,c\n\"a\"x,b\",c,d\n1,2,3\n",
        "a,b,c\n\"a\"\rb\",\"c\"\r\nd,e,f\n",
        "a,b,c\n1,2\r,3\r\r\n",
        "a,a,A\n1,2,3\n",
        "a,a,a_1,a_2\n1,2,3,4\n",
        "b,a,c,d,e,f,B\n1,2,3,4,5,6,7\n",
        ",,\n1,2,3\n",
        "x\"y,'z',[w]\n1,2,3\n",
        " 12 ,+5,0x10\n012,-0,1e3\n1.0,.5,5.\n1_000,- 1,--1\n",
        "9223372036854775807,9223372036854775808,-9223372036854775808\n\
         -9223372036854775807,99999999999999999999,0000000000000000000000012\n\
         12345678,123456789,1234567890123456\n12345678901234567,999999999999999999,1234567x\n",
        "inf,nan,1e400\n-1e-400,1e22,123456789.123456789\n",
        "a,b,c\nx\0y,1\0,\0\n\"x\0y\",2,3\n",
        "é,ü,漢\nä,ö,😀\n",
        "\n",
        "\r\n",
        "a\n",
        "a",
        "1,2,3\n1,2,3\n1,2,4\n1,2,4\n",
        &long,
    ] {
        write(&place, "x.csv", content);
        equals_shell(&place, "csv", "x.csv");
    }
    for content in ["a\tb,\tc\n1\t\"2\t\n\"\t3\n", "a\tb\n\\t\t\\N\n"] {
        write(&place, "x.tsv", content);
        equals_shell(&place, "tabs", "x.tsv");
    }
}

/// A few numbers in a row that looks random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Any text is some rows. Long ones are cut into blocks, in places that the quotes decide.
#[test]
fn any_text_becomes_the_rows_that_the_shell_makes_of_it() {
    let place = Place::new();
    let pieces = [
        ",",
        ",",
        ",",
        "\n",
        "\n",
        "\"",
        ",\"",
        "\",",
        "\"\n",
        "\"\"",
        "\r\n",
        "\r",
        "1",
        "42",
        "-7",
        "2.5",
        "word",
        "é",
        "another word",
    ];
    for (seeds, length) in [(1..25, 40), (25..28, 400_000)] {
        for seed in seeds {
            let mut numbers = Numbers(seed * 7_919);
            let mut text = "a,b,c\n".to_owned();
            for _ in 0..length {
                text += pieces[numbers.below(pieces.len() as u64) as usize];
            }
            // What is open at the end is an error in ours only.
            text += "\n\"\n,\"x\"\n";
            write(&place, "x.csv", &text);
            if sqlite3(&place, "c.db", &[".import --csv x.csv t"])
                .err
                .contains("unterminated")
            {
                write(&place, "x.csv", text + "\"\n");
            }
            std::fs::remove_file(place.path("c.db")).unwrap();
            equals_shell(&place, "csv", "x.csv");
        }
    }
}

/// Workers make integers of some texts, and SQLite makes numbers of others: it is the same.
#[test]
fn texts_that_look_like_numbers_become_what_the_shell_makes_of_them() {
    let place = Place::new();
    let mut numbers = Numbers(4_711);
    let mut text = "a,b,c\n".to_owned();
    for i in 0..15_000 {
        let digits: String = (0..1 + numbers.below(21))
            .map(|_| char::from(b'0' + numbers.below(10) as u8))
            .collect();
        let before = ["", "", "-", "+", "0", " ", "-0", "\""][numbers.below(8) as usize];
        let behind = ["", "", "", "", ".", ".50", "e2", " ", "/", ":"][numbers.below(10) as usize];
        let quote = if before == "\"" { "\"" } else { "" };
        let end = if i % 3 == 2 { "\n" } else { "," };
        text += &format!("{before}{digits}{behind}{quote}{end}");
    }
    write(&place, "x.csv", text);
    equals_shell(&place, "csv", "x.csv");
}

/// Rows are made by workers while their keys go up, and inserted one by one from then on.
#[test]
fn keys_may_come_in_any_order() {
    const ROWS: u64 = 60_000;
    let place = Place::new();
    let up = |i: u64| 2 * i;
    let down = |i: u64| 2 * (ROWS - i);
    let once_back = |i: u64| if i == 40_000 { 1 } else { 2 * i };
    let orders: [&dyn Fn(u64) -> u64; 3] = [&up, &down, &once_back];
    for (i, order) in orders.into_iter().enumerate() {
        let row = |i| format!("text {i},{},{}.50\n", order(i), i % 7);
        write(&place, "x.csv", (0..ROWS).map(row).collect::<String>());
        for first in ["", "INSERT INTO t VALUES('first', -5, 0)"] {
            let schema = "CREATE TABLE t(s TEXT, k INTEGER PRIMARY KEY, r REAL);";
            for database in ["a.db", "b.db", "c.db"] {
                let _ = std::fs::remove_file(place.path(database));
                sql(&place, database, &format!("{schema}{first}"));
            }
            sqlite3(&place, "a.db", &[".import --csv x.csv t"]).expect(0);
            let import = |database| ["import", database, "x.csv", "t", "--no-header"];
            let done = place.run(&import("b.db"));
            done.expect(0).says("60,000 rows into t");
            let with_commits = [&import("c.db")[..], &["--commit", "777"]].concat();
            place.run(&with_commits).expect(0);
            for database in ["b.db", "c.db"] {
                let ours = dump(&place, database);
                assert!(ours == dump(&place, "a.db"), "order {i}, {database}");
                assert_eq!(sql(&place, database, "PRAGMA integrity_check"), "ok\n");
            }
        }
    }
}

/// SQLite itself has nothing that makes rows in workers.
#[test]
fn both_libraries_make_the_same_rows() {
    let place = Place::new();
    let csv: String = (0..50_000)
        .map(|i| format!("{i},{}.5,\"q\"\"{i}\",2013-07-{:02}, {i} \n", i * 7, i % 31))
        .collect();
    let json: String = (0..50_000)
        .map(|i| match i % 5 {
            0 => format!("{{\"a\":{i},\"b\":\"{i}\",\"c\":{i}.25}}\n"),
            1 => format!("{{\"c\":-{i},\"d\":null,\"e\":\"\\u00e9{i}\"}}\n"),
            2 => format!("{{\"b\":1e{},\"a\":\"{i}.0\",\"c\":\"1e2\"}}\n", i % 300),
            3 => format!("{{\"a\":true,\"d\":[{i}],\"e\":{i}.125,\"c\":{i}}}\n"),
            _ => "{}\n".to_owned(),
        })
        .collect();
    write(&place, "x.csv", csv);
    write(&place, "x.jsonl", json);
    for table in [
        "CREATE TABLE t(a, b, c, d, e)",
        "CREATE TABLE t(a INTEGER, b REAL, c TEXT, d DATE, e NUMERIC)",
        "CREATE TABLE t(a TEXT, b TEXT, c REAL, d BLOB, e TEXT)",
    ] {
        for file in ["x.csv", "x.jsonl"] {
            for database in ["a.db", "b.db"] {
                let _ = std::fs::remove_file(place.path(database));
                sql(&place, database, table);
            }
            let stock = "libexec/hpsqlite/libsqlite3-stock.so";
            let theirs = place.run(&["import", "a.db", file, "t", "--lib", stock]);
            theirs.expect(0).says("50,000 rows into t");
            let ours = place.run(&["import", "b.db", file, "t"]);
            ours.expect(0).says("50,000 rows into t");
            let same = dump(&place, "b.db") == dump(&place, "a.db");
            assert!(same, "{file} into {table}");
        }
    }
}

#[test]
fn the_first_row_is_a_header_if_it_has_names() {
    let place = Place::new();
    write(&place, "x.csv", "b,A\n1,2\n");
    let create = "DROP TABLE IF EXISTS t; CREATE TABLE t(a, b, c DEFAULT 7)";
    for (options, rows) in [
        (&[][..], "2|1|7\n"),
        (&["--header"], "2|1|7\n"),
        (&["--no-header", "--skip", "1"], "1|2|\n"),
        (&["--no-header"], "b|A|\n1|2|\n"),
        (&["--skip", "1"], "1|2|\n"),
    ] {
        sql(&place, "x.db", create);
        let import = ["import", "x.db", "x.csv", "t"];
        place.run(&[&import[..], options].concat()).expect(0);
        assert_eq!(sql(&place, "x.db", "SELECT * FROM t"), rows, "{options:?}");
    }
    write(&place, "y.csv", "b,d\n1,2\n");
    place
        .run(&["import", "x.db", "y.csv", "t", "--header"])
        .expect(1)
        .says("y.csv:1: table t has no column \"d\"");
    place
        .run(&["import", "x.db", "y.csv", "new", "--no-header"])
        .expect(0);
    assert_eq!(sql(&place, "x.db", "SELECT c1, c2 FROM new"), "b|d\n1|2\n");
    place
        .run(&["import", "x.db", "x.csv", "renamed", "--separator", "|"])
        .expect(0);
    write(&place, "z.csv", "k,K\n1,2\n");
    place
        .run(&["import", "x.db", "z.csv", "z"])
        .expect(0)
        .says("\"k\" is \"k_1\" and \"K\" is \"K_2\"");
}

#[test]
fn types_come_from_a_sample_and_hold_for_all_rows() {
    let place = Place::new();
    let rows = "n,r,code,t,empty\n1,1.5,007,x,\n-2,2,1,,\n,,2,3,\n";
    write(&place, "x.csv", rows);
    place
        .run(&["import", "x.db", "x.csv", "t", "--types"])
        .expect(0);
    assert_eq!(
        sql(&place, "x.db", ".schema"),
        "CREATE TABLE IF NOT EXISTS \"t\"(\n\"n\" INTEGER, \"r\" REAL, \"code\" TEXT, \"t\" TEXT,\n \"empty\" TEXT);\n"
    );
    assert_eq!(
        sql(
            &place,
            "x.db",
            "SELECT quote(n), quote(r), quote(code), quote(t), quote(empty) FROM t"
        ),
        "1|1.5|'007'|'x'|''\n-2|2.0|'1'|''|''\nNULL|NULL|'2'|'3'|''\n"
    );
    // The sample is 8 MB.
    let mut long = "n,t\n".to_owned();
    for i in 0..400_000 {
        long += &format!("{i},\"some more words, {i}\"\n");
    }
    long += "1,x\n1O,y\n";
    write(&place, "y.csv", &long);
    let done = place.run(&["import", "x.db", "y.csv", "u", "--types"]);
    done.expect(1).says(
        "y.csv:400003: column 1 \"n\": \"1O\" is no integer, as all values of the sample are",
    );
    assert_eq!(sql(&place, "x.db", ".tables"), "t\n");
    place
        .run(&["import", "x.db", "y.csv", "t", "--types"])
        .fails_with("--types is for a new table, and t is there");
}

#[test]
fn json_lines_have_types_of_their_own() {
    let place = Place::new();
    let rows = r#"{"a": 1, "b": "x\"\u00e9\n", "c": null}

{"b": "plain", "a": -2.5, "d": [1, {"k": 2}]}
{"a": true, "b": false, "C": 12345678901234567890}
  {}
{"a":"","b":{ },"c":1e2}"#;
    write(&place, "x.jsonl", rows);
    place
        .run(&["import", "x.db", "x.jsonl", "t"])
        .expect(0)
        .says("5 rows into t");
    assert_eq!(
        sql(&place, "x.db", ".schema"),
        "CREATE TABLE IF NOT EXISTS \"t\"(\n\"a\", \"b\", \"c\", \"d\");\n"
    );
    let large = sql(&place, "x.db", "SELECT quote(12345678901234567890)");
    let large = large.trim();
    assert_eq!(
        sql(
            &place,
            "x.db",
            "SELECT quote(a), quote(b), quote(c), quote(d) FROM t"
        ),
        format!(
            "1|'x\"é\n'|NULL|NULL\n-2.5|'plain'|NULL|'[1, {{\"k\": 2}}]'\n1|0|{large}|NULL\n\
             NULL|NULL|NULL|NULL\n''|'{{ }}'|100.0|NULL\n"
        )
    );
    // What our own query and the shell write comes back.
    let list = place
        .run(&["query", "x.db", "--json", "SELECT * FROM t"])
        .expect(0)
        .out;
    write(&place, "list.json", list);
    sql(&place, "x.db", "CREATE TABLE u(a, b, c, d)");
    place.run(&["import", "x.db", "list.json", "u"]).expect(0);
    let all = |table: &str| sql(&place, "x.db", &format!("SELECT * FROM {table}"));
    assert_eq!(all("u"), all("t"));
    write(&place, "one.json", r#"[{"a":1},{"a":2}]"#);
    place.run(&["import", "x.db", "one.json", "one"]).expect(0);
    assert_eq!(all("one"), "1\n2\n");

    for (line, said) in [
        (
            r#"{"a": 1, "e": 2}"#,
            "bad.jsonl:2: the table has no column \"e\"",
        ),
        (
            r#"{"a": 1"#,
            "bad.jsonl:2: EOF while parsing an object, at byte 7 of the object",
        ),
        (
            "[1]",
            "bad.jsonl:2: invalid type: integer `1`, expected an object",
        ),
        (r#"{"a": "\ud800"}"#, "bad.jsonl:2: "),
    ] {
        write(&place, "bad.jsonl", format!("{{\"a\":0}}\n{line}\n"));
        place
            .run(&["import", "x.db", "bad.jsonl", "t"])
            .expect(1)
            .says(said);
    }
    assert_eq!(sql(&place, "x.db", "SELECT count(*) FROM t"), "5\n");
    place
        .run(&["import", "x.db", "x.jsonl", "typed", "--types"])
        .expect(0);
    assert!(sql(&place, "x.db", ".schema typed").contains("\"a\" TEXT, \"b\" TEXT, \"c\" REAL"));
}

#[test]
fn a_file_may_be_packed_and_come_through_a_pipe() {
    let place = Place::new();
    let rows = numbered(100_000);
    write(&place, "x.csv", &rows);
    place.run(&["import", "x.db", "x.csv", "plain"]).expect(0);
    let mut packed = gzip(rows.as_bytes());
    // Two members are one file, as bgzip and cat make them.
    packed.extend(gzip(b"100001,z\n"));
    write(&place, "y.csv.gz", &packed);
    place
        .run(&["import", "x.db", "y.csv.gz", "packed"])
        .expect(0)
        .says("100,001 rows into packed");
    for name in ["x.csv", "y.csv.gz"] {
        let mut command = place.command(&["import", "x.db", "-", "piped", "--format", "csv"]);
        command.stdin(std::fs::File::open(place.path(name)).unwrap());
        Done::of(&command.output().unwrap()).expect(0);
    }
    let counts = "SELECT (SELECT sum(a) FROM plain), (SELECT sum(a) FROM packed), \
                  (SELECT sum(a) FROM piped), (SELECT count(*) FROM piped)";
    assert_eq!(
        sql(&place, "x.db", counts),
        "5000050000|5000150001|10000200001|200001\n"
    );
    write(&place, "cut.csv.gz", &packed[..packed.len() / 2]);
    place
        .run(&["import", "x.db", "cut.csv.gz", "cut"])
        .expect(2)
        .says("cannot read cut.csv.gz: ");
    assert!(!sql(&place, "x.db", ".tables").contains("cut"));
    write(&place, "z.csv.zst", b"\x28\xb5\x2f\xfdxxxx");
    place
        .run(&["import", "x.db", "z.csv.zst", "z", "--format", "csv"])
        .expect(2)
        .says("z.csv.zst is compressed; unpack it by zstd");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let packed = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    packed
}

#[test]
fn conflicts_are_bad_rows_or_ignored_or_replaced() {
    let place = Place::new();
    write(&place, "x.csv", "1,new\n2,two\n2,deux\n");
    for (way, rows, said) in [
        ("abort", "1|old\n", "UNIQUE constraint failed: t.k"),
        (
            "ignore",
            "1|old\n2|two\n",
            "2 rows were left out, because the key is there",
        ),
        ("replace", "1|new\n2|deux\n", "3 rows into t"),
    ] {
        sql(
            &place,
            "x.db",
            "DROP TABLE IF EXISTS t; CREATE TABLE t(k INTEGER PRIMARY KEY, s); INSERT INTO t VALUES(1,'old')",
        );
        place
            .run(&["import", "x.db", "x.csv", "t", "--on-conflict", way])
            .says(said);
        assert_eq!(sql(&place, "x.db", "SELECT * FROM t"), rows, "{way}");
    }
}

/// Indexes are made after the rows; everything about them is as it was.
#[test]
fn indexes_statistics_triggers_and_foreign_keys_are_as_with_inserts() {
    let place = Place::new();
    let schema = "CREATE TABLE t(a INTEGER, b TEXT UNIQUE);
        CREATE INDEX  \"i 1\"  ON t ( b COLLATE nocase DESC ) ;
        CREATE INDEX i2 ON t(a) WHERE a%2;
        CREATE INDEX i3 ON t(a+1, length(b));
        CREATE UNIQUE INDEX i4 ON t(a);
        INSERT INTO t VALUES(0, 'zero'); ANALYZE;";
    write(&place, "x.csv", numbered(20_000));
    for database in ["a.db", "b.db"] {
        sql(&place, database, schema);
    }
    sqlite3(&place, "a.db", &[".import --csv --skip 1 x.csv t"]).expect(0);
    place.run(&["import", "b.db", "x.csv", "t"]).expect(0);
    for query in [
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
        "SELECT * FROM sqlite_stat1 ORDER BY idx",
        "SELECT * FROM t INDEXED BY i2 WHERE a%2",
        "SELECT a FROM t INDEXED BY i3 ORDER BY a+1, length(b)",
        "PRAGMA integrity_check",
    ] {
        assert_eq!(
            sql(&place, "b.db", query),
            sql(&place, "a.db", query),
            "{query}"
        );
    }

    let schema = "CREATE TABLE t(a INTEGER, b TEXT); CREATE INDEX i ON t(b); CREATE TABLE log(x);
        CREATE TRIGGER before BEFORE INSERT ON t BEGIN INSERT INTO log VALUES(typeof(NEW.a)); END;
        CREATE TRIGGER after AFTER INSERT ON t BEGIN INSERT INTO log
          SELECT count(*) FROM t INDEXED BY i WHERE b=NEW.b; END;
        CREATE VIEW v AS SELECT a, b FROM t;
        CREATE TRIGGER instead INSTEAD OF INSERT ON v BEGIN INSERT INTO log VALUES(typeof(NEW.a)); END;
        CREATE VIRTUAL TABLE f USING fts5(a, b);";
    write(&place, "y.csv", "1,x\n2,x\nz,y\n");
    for table in ["t", "v", "f"] {
        for database in ["a.db", "b.db"] {
            let _ = std::fs::remove_file(place.path(database));
            sql(&place, database, schema);
        }
        sqlite3(&place, "a.db", &[&format!(".import --csv y.csv {table}")]).expect(0);
        place.run(&["import", "b.db", "y.csv", table]).expect(0);
        assert_eq!(dump(&place, "b.db"), dump(&place, "a.db"), "{table}");
    }
    place
        .run(&["import", "b.db", "y.csv", "i"])
        .fails_with("i is an index");
    sql(&place, "b.db", "CREATE VIEW w AS SELECT 1 a, 2 b");
    place
        .run(&["import", "b.db", "y.csv", "w"])
        .expect(2)
        .says("cannot modify w because it is a view");
}

/// A table of many columns, and values of many megabytes.
#[test]
fn rows_may_be_wide_and_values_long() {
    let place = Place::new();
    let header: Vec<String> = (0..1_900).map(|i| format!("c{i}")).collect();
    let row: Vec<String> = (0..1_900).map(|i| i.to_string()).collect();
    let wide = format!("{}\n{}\n", header.join(","), row.join(","));
    write(&place, "wide.csv", wide);
    place.run(&["import", "x.db", "wide.csv", "wide"]).expect(0);
    assert_eq!(sql(&place, "x.db", "SELECT c1899 FROM wide"), "1899\n");
    let long = "x".repeat(40 << 20);
    write(
        &place,
        "long.csv",
        format!("a,b\n1,\"{long}\"\n2,{long}y\n3,z\n"),
    );
    place.run(&["import", "x.db", "long.csv", "long"]).expect(0);
    assert_eq!(
        sql(&place, "x.db", "SELECT a, length(b) FROM long"),
        "1|41943040\n2|41943041\n3|1\n"
    );
}
