//! The suites of statements that come with the lab: every statement runs on all engines at a tiny size,
//! and the answers are the same.

mod common;

use std::collections::BTreeMap;

use common::{Place, skipped};

/// Runs a suite once with these settings: each engine has to answer all statements, and alike.
fn suite(name: &str, statements: usize, settings: &[&str]) {
    let place = Place::new();
    let [results, csv] = ["tmp/results.db", "tmp/samples.csv"].map(|f| place.path(f));
    let mut run = vec!["bench", "run", name, "--set", "trials=1"];
    run.extend(["--results", results.to_str().unwrap()]);
    run.extend(["--csv", csv.to_str().unwrap()]);
    for setting in settings {
        run.extend(["--set", setting]);
    }
    // An engine that is not installed is no failure.
    let done = place.run(&run).expect(0);
    // But for the last sentence, which says how to try again what failed or is not installed.
    let told = done
        .out
        .lines()
        .filter(|line| !line.starts_with("The same command"));
    for line in told {
        for wrong in ["Different answers", "failed", "is left out"] {
            assert!(!line.contains(wrong), "{done:#?}");
        }
    }
    if done.out.contains("DuckDB is not installed") {
        skipped("DuckDB is not compared: its Python module is not installed");
        done.says("1 cannot be measured here");
    }
    let mut samples: BTreeMap<String, usize> = BTreeMap::new();
    for line in place.text("tmp/samples.csv").lines().skip(1) {
        let engine = line.split(',').next().unwrap();
        *samples.entry(engine.to_owned()).or_default() += 1;
    }
    assert!(samples.contains_key("stock") && samples.contains_key("ours"));
    for (engine, n) in samples {
        assert_eq!(n, statements, "{engine}");
    }
}

#[test]
fn groupby() {
    suite("groupby", 10, &["rows=3000", "groups=10"]);
}

#[test]
fn clickbench() {
    suite("clickbench", 43, &["rows=3000"]);
}

#[test]
fn mysqlite() {
    suite("mysqlite", 4, &["rows=5000", "joined=1000"]);
}

#[test]
fn tpch() {
    // A slow machine has to answer all of it too.
    suite("tpch", 22, &["sf=0.01", "limit=600"]);
}

#[test]
fn scans() {
    suite("scans", 6, &["sf=0.01"]);
}

#[test]
fn ssb() {
    suite("ssb", 13, &["sf=0.01", "limit=600"]);
}

#[test]
fn mail() {
    suite("mail", 19, &["messages=1000", "limit=600"]);
}

#[test]
fn a_wrong_answer_of_duckdb_is_caught() {
    let place = Place::new();
    let file = place.path("tmp/wrong.toml");
    std::fs::write(
        &file,
        r#"
title = "Wrong"
kind = "sql"
trials = 1
[options]
setup = "CREATE TABLE t(n INTEGER, s TEXT, b BLOB); INSERT INTO t VALUES(1,'a',x'00ff'),(NULL,'it''s \"b\"',NULL),(3000000000,'',x'')"
[axes]
engine = ["stock", "duckdb"]
[[step]]
name = "loaded"
sql = "SELECT n, s FROM t"
[[step]]
name = "blobs"
sql = "SELECT n, length(b) AS size FROM t"
duckdb = "SELECT n, octet_length(b) AS size FROM t"
[[step]]
name = "wrong"
sql = "SELECT n, s FROM t"
duckdb = "SELECT n, upper(s) FROM t"
"#,
    )
    .unwrap();
    let (file, results) = (file.to_str().unwrap(), place.path("tmp/results.db"));
    let run = ["bench", "run", file, "--results", results.to_str().unwrap()];
    let done = place.run(&run);
    if done.out.contains("DuckDB is not installed") {
        return skipped("DuckDB's Python module is not installed");
    }
    let done = done.expect(1);
    assert_eq!(
        done.out.matches("Different answers").count(),
        1,
        "{done:#?}"
    );
    done.says("Different answers: wrong: duckdb gives 3 rows");
}

#[test]
fn an_engine_that_is_missing_is_said_with_what_installs_it() {
    let place = Place::new();
    let python = place.script(
        "python-without",
        "#!/bin/sh\nexec python3 -S -E -I \"$@\"\n",
    );
    let file = place.path("tmp/missing.toml");
    let text = r#"
title = "Missing"
kind = "sql"
trials = 1
[options]
setup = "CREATE TABLE t(n)"
python = "PYTHON"
[axes]
engine = ["stock", "duckdb"]
[[step]]
name = "one"
sql = "SELECT 1"
"#;
    let check = |python: &str, says: &str| {
        std::fs::write(&file, text.replace("PYTHON", python)).unwrap();
        let results = place.path("tmp/results.db");
        let _ = std::fs::remove_file(&results);
        let file = file.to_str().unwrap();
        let run = ["bench", "run", file, "--results", results.to_str().unwrap()];
        place
            .run(&run)
            .expect(0)
            .says("1 measured now, 1 cannot be measured here")
            .says(says);
        // What was asked for by name and is not there is an error.
        std::fs::remove_file(&results).unwrap();
        place
            .run(&[&run[..], &["--set", "engine=stock,duckdb"]].concat())
            .expect(1)
            .says(says);
    };
    check(
        python.to_str().unwrap(),
        "DuckDB is not installed for this Python: python3 -m pip install duckdb",
    );
    check("no-python-at-all", "no-python-at-all is not installed");
}
