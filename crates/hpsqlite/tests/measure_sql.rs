//! `hpsqlite measure` does one job of the benchmark lab: statements on a SQLite library.

mod common;

use common::{Place, skipped};
use serde_json::{Value, json};

fn step(name: &str, sql: &str) -> Value {
    json!({"name": name, "options": {"sql": sql}, "cold": false, "unmeasured": false})
}

/// Does a job on a database with a table `t` of 1000 rows; gives its lines.
fn measure(place: &Place, engine: &str, options: &Value, steps: &[Value]) -> Vec<Value> {
    let database = place.path("tmp/data.db");
    if !database.exists() {
        let made = place.run(&[
            "data",
            "mysqlite",
            "--rows",
            "1000",
            database.to_str().unwrap(),
        ]);
        made.expect(0);
    }
    let library = match engine {
        "stock" => "libexec/hpsqlite/libsqlite3-stock.so",
        _ => "lib/libsqlite3.so.0",
    };
    let mut options = options.clone();
    options["database"] = json!(database);
    let folder = place.path("tmp/job");
    std::fs::create_dir_all(&folder).unwrap();
    let job = json!({
        "kind": "sql", "engine": engine, "library": place.path(library), "folder": folder,
        "options": options, "steps": steps, "seed": 1,
    });
    place.measure(&job)
}

#[test]
fn a_statement_has_the_same_answer_on_both_libraries_and_its_times() {
    let place = Place::new();
    let sql = "SELECT key_col, count(*), avg(val_col) FROM t GROUP BY key_col";
    let mut answers = Vec::new();
    for engine in ["stock", "ours"] {
        let lines = measure(&place, engine, &json!({}), &[step("group", sql)]);
        assert_eq!(lines.len(), 2, "{lines:?}");
        let version = lines[0]["ready"]["version"].as_str().unwrap();
        assert_eq!(version.contains("High Performance"), engine == "ours");
        let sample = &lines[1]["sample"];
        assert_eq!(sample["step"], "group");
        assert!(sample["seconds"].as_f64().unwrap() > 0.0);
        assert!(
            sample["operations"].as_u64().unwrap() > 1,
            "it is quick, so it is repeated"
        );
        assert!(sample["peak_memory"].as_u64().unwrap() > 1 << 20);
        answers.push(sample["answer"].clone());
    }
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].as_str().unwrap().starts_with("5 rows, "));
}

#[test]
fn settings_are_read_back_also_those_that_did_nothing() {
    let place = Place::new();
    let options = json!({"pragma.cache_size": "-1234", "pragma.no_such_thing": "5",
        "pragma.page_size": "1024"});
    let lines = measure(&place, "stock", &options, &[step("one", "SELECT 1")]);
    let settings = &lines[0]["ready"]["settings"];
    assert_eq!(settings["cache_size"], "-1234");
    assert_eq!(settings["no_such_thing"], "unknown to this library");
    assert_eq!(settings["page_size"], "4096", "a file keeps its page size");
    assert_eq!(settings["journal_mode"], "delete");
}

#[test]
fn the_largest_memory_is_that_of_the_step() {
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return skipped("the largest memory so far cannot be forgotten here");
    }
    let place = Place::new();
    let steps = [
        step("large", "SELECT length(hex(zeroblob(50000000)))"),
        step("small", "SELECT 1"),
    ];
    let lines = measure(&place, "stock", &json!({}), &steps);
    let peak = |line: &Value| line["sample"]["peak_memory"].as_u64().unwrap();
    assert!(peak(&lines[1]) > 100_000_000, "{lines:?}");
    assert!(peak(&lines[2]) < 100_000_000, "{lines:?}");
}

#[test]
fn space_is_what_the_file_takes_on_the_disk() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    measure(&place, "stock", &json!({}), &[]);
    // A hole at the end: SQLite does not mind.
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(place.path("tmp/data.db"))
        .unwrap();
    file.set_len(1 << 30).unwrap();
    let lines = measure(&place, "stock", &json!({}), &[step("one", "SELECT 1")]);
    let blocks = file.metadata().unwrap().blocks();
    assert_eq!(lines[1]["sample"]["space"], blocks * 512);
}

#[test]
fn a_step_that_cannot_be_done_is_named_with_sqlites_error() {
    let place = Place::new();
    let steps = [
        step("right", "SELECT 1"),
        step("wrong", "SELECT no_such_column FROM t"),
    ];
    let lines = measure(&place, "stock", &json!({}), &steps);
    let why = lines.last().unwrap()["failed"].as_str().unwrap();
    assert!(
        why.contains("step wrong") && why.contains("no such column"),
        "{why}"
    );
    let lines = measure(
        &place,
        "stock",
        &json!({}),
        &[step("writes", "DELETE FROM t")],
    );
    let why = lines.last().unwrap()["failed"].as_str().unwrap();
    assert!(why.contains("readonly"), "{why}");
}

#[test]
fn a_statement_that_takes_too_long_is_left_out_and_the_others_are_not() {
    let place = Place::new();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n)
        SELECT count(*) FROM n, t";
    for engine in ["stock", "ours"] {
        let mut steps = [step("endless", endless), step("one", "SELECT 1")];
        steps[0]["options"]["limit"] = json!("0.05");
        let lines = measure(&place, engine, &json!({}), &steps);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[1]["leftout"]["step"], "endless");
        let why = lines[1]["leftout"]["why"].as_str().unwrap();
        assert!(
            why.starts_with("endless takes more than 0.05 s, so it is left out"),
            "{why}"
        );
        assert_eq!(lines[2]["sample"]["step"], "one");
    }
}

#[test]
fn threads_run_the_statement_at_the_same_time() {
    let place = Place::new();
    let steps = [step("sum", "SELECT sum(val_col) FROM t")];
    let one = measure(&place, "stock", &json!({"repeat": "10"}), &steps);
    let options = json!({"repeat": "10", "threads": "4"});
    let four = measure(&place, "stock", &options, &steps);
    assert_eq!(one[1]["sample"]["operations"], 10);
    assert_eq!(four[1]["sample"]["operations"], 40);
    assert_eq!(one[1]["sample"]["answer"], four[1]["sample"]["answer"]);
    for (option, wrong, says) in [
        ("threads", "0", "threads=0: it is a number from 1 on"),
        ("limit", "abc", "limit=abc: it is a number of seconds"),
    ] {
        let lines = measure(&place, "stock", &json!({option: wrong}), &steps);
        let why = lines.last().unwrap()["failed"].as_str().unwrap();
        assert!(why.contains(says), "{why}");
    }
}
