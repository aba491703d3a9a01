//! `hpsqlite measure` does one job of the benchmark lab: transactions on a SQLite library.

mod common;

use common::Place;
use serde_json::{Value, json};

/// A step with these options.
fn step(name: &str, options: Value) -> Value {
    json!({"name": name, "options": options, "cold": false, "unmeasured": false})
}

/// Does a job, with a folder of its own; gives its lines.
fn measure(place: &Place, engine: &str, options: &Value, steps: &[Value]) -> Vec<Value> {
    let library = match engine {
        "stock" => "libexec/hpsqlite/libsqlite3-stock.so",
        _ => "lib/libsqlite3.so.0",
    };
    let folder = tempfile::tempdir_in(place.path("tmp")).unwrap();
    place.measure(&json!({
        "kind": "transactions", "engine": engine, "library": place.path(library),
        "folder": folder.path(), "options": options, "steps": steps, "seed": 1,
    }))
}

fn failure(lines: &[Value]) -> String {
    let last = lines.last().unwrap();
    let why = last["failed"].as_str();
    why.unwrap_or_else(|| panic!("{last}")).to_owned()
}

fn tatp(place: &Place) -> String {
    let file = place.path("tatp.db").to_str().unwrap().to_owned();
    place
        .run(&["data", "tatp", "--subscribers", "500", &file])
        .expect(0)
        .says("4 tables");
    file
}

#[test]
fn the_seven_transactions_read_and_leave_the_same_on_both_libraries() {
    let place = Place::new();
    let options = json!({"workload": "tatp", "database": tatp(&place), "operations": "400",
        "pragma.synchronous": "off"});
    let steps = [
        "GET_SUBSCRIBER_DATA",
        "GET_NEW_DESTINATION",
        "GET_ACCESS_DATA",
        "UPDATE_SUBSCRIBER_DATA",
        "UPDATE_LOCATION",
        "INSERT_CALL_FORWARDING",
        "DELETE_CALL_FORWARDING",
        "mix",
    ]
    .map(|name| step(name, json!({})));
    let (stock, ours) = (
        measure(&place, "stock", &options, &steps),
        measure(&place, "ours", &options, &steps),
    );
    assert_eq!((stock.len(), ours.len()), (9, 9), "{stock:?}");
    assert_eq!(stock[0]["ready"]["settings"]["synchronous"], "0");
    let mut answers = Vec::new();
    for (a, b) in stock[1..].iter().zip(&ours[1..]) {
        let sample = &a["sample"];
        assert_eq!(sample["answer"], b["sample"]["answer"], "{a} {b}");
        assert_eq!(sample["operations"], 400);
        assert_eq!(sample["retries"], 0);
        assert!(sample["space"].as_u64().unwrap() > 100_000);
        assert_eq!(sample["percentiles"].as_object().unwrap().len(), 5);
        answers.push(sample["answer"].as_str().unwrap().to_owned());
    }
    // What reads has the hash of what was read, what writes also that of what is left.
    assert_eq!(answers[0].len(), 16);
    assert_eq!(answers[7].len(), 16 + 2 + 16);
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), 8);
}

#[test]
fn several_connections_read_what_one_reads_and_keep_the_invariants() {
    let place = Place::new();
    let file = tatp(&place);
    let options = |threads: &str| {
        json!({"workload": "tatp", "database": file, "operations": "600", "threads": threads,
            "pragma.journal_mode": "wal", "pragma.synchronous": "off"})
    };
    let steps = ["GET_ACCESS_DATA", "mix"].map(|name| step(name, json!({"warm_up": "10"})));
    let (one, four) = (
        measure(&place, "stock", &options("1"), &steps),
        measure(&place, "stock", &options("4"), &steps),
    );
    assert_eq!(one[1]["sample"]["answer"], four[1]["sample"]["answer"]);
    // Which of them comes first is left to chance, so there is no answer to compare.
    assert_eq!(four[2]["sample"]["answer"], "");
    assert_eq!(four[2]["sample"]["operations"], 600);
}

#[test]
fn a_setting_of_a_step_is_in_force_or_fails_it() {
    let place = Place::new();
    let options = json!({"workload": "statements"});
    let with = |engine: &str, name: &str, value: &str| {
        let text = json!({"sql": format!("PRAGMA {name}"), "operations": "1", format!("pragma.{name}"): value});
        let plain = json!({"sql": format!("PRAGMA {name}"), "operations": "1"});
        let steps = [step("plain", plain), step("set", text)];
        measure(&place, engine, &options, &steps)
    };
    let taken = with("ours", "hp_extent", "32");
    assert_eq!(taken.len(), 3, "{taken:?}");
    let answer = |line: usize| taken[line]["sample"]["answer"].as_str().unwrap().to_owned();
    assert_ne!(answer(1), answer(2));
    let unknown = failure(&with("stock", "hp_extent", "32"));
    assert_eq!(
        unknown,
        "stock: step set: PRAGMA hp_extent=32 was ignored, it is unknown to this library"
    );
    let other = failure(&with("stock", "journal_mode", "rollback"));
    assert_eq!(
        other,
        "stock: step set: PRAGMA journal_mode=rollback was ignored, it is delete"
    );
}

#[test]
fn a_parameter_may_begin_with_any_sign_that_sqlite_knows() {
    let place = Place::new();
    let answer = |sign: &str| {
        let steps = [
            step(
                "create",
                json!({"sql": "CREATE TABLE t(id INTEGER PRIMARY KEY)"}),
            ),
            step(
                "insert",
                json!({"sql": format!("INSERT INTO t VALUES({sign}shuffled)"), "operations": "20",
                    "check": "SELECT count(*), min(id), max(id) FROM t"}),
            ),
        ];
        let options = json!({"workload": "statements"});
        let lines = measure(&place, "stock", &options, &steps);
        let answer = &lines.last().unwrap()["sample"]["answer"];
        answer
            .as_str()
            .unwrap_or_else(|| panic!("{lines:?}"))
            .to_owned()
    };
    let expected = answer(":");
    assert_eq!(answer("@"), expected);
    assert_eq!(answer("$"), expected);
}

#[test]
fn statements_of_a_suite_file_do_what_they_say() {
    let place = Place::new();
    let steps = [
        step(
            "create",
            json!({"sql": "CREATE TABLE t{n}(id INTEGER PRIMARY KEY, k INTEGER, r REAL, w TEXT, s TEXT)",
                "copies": "3"}),
        ),
        step(
            "insert",
            json!({"sql": "INSERT INTO t{n} VALUES(:i, :random, :real, :word, :text)", "copies": "3",
                "operations": "250", "transaction": "100", "keys": "40", "length": "20-30",
                "check": "SELECT count(*), min(id), max(id), min(k), max(k), min(r)>=0, max(r)<1, \
                          min(length(w)), max(length(w)), min(length(s)), max(length(s)) FROM t2"}),
        ),
        step(
            "known",
            json!({"sql": "SELECT 250, 1, 250, 1, 40, 1, 1, 4, 12, 20, 30"}),
        ),
        step(
            "shuffled",
            json!({"sql": "DELETE FROM t0 WHERE id=:shuffled; SELECT changes()", "operations": "250",
                "check": "SELECT count(*) FROM t0"}),
        ),
        step(
            "the same value",
            json!({"sql": "SELECT :random=:random, :random_a=:random_b", "operations": "5", "keys": "1000000"}),
        ),
        step("twins", json!({"sql": "SELECT 1, 0", "operations": "5"})),
        step(
            "none",
            json!({"sql": "SELECT 1", "check": "SELECT count(*) FROM t0"}),
        ),
        step("zero", json!({"sql": "SELECT 1", "check": "SELECT 0"})),
    ];
    let lines = measure(&place, "ours", &json!({"workload": "statements"}), &steps);
    assert_eq!(lines.len(), 9, "{lines:?}");
    let answer = |n: usize| {
        lines[n + 1]["sample"]["answer"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // A script's answer is that of its rows; the other is made of the rows of the check.
    assert_eq!(answer(1).split(", ").nth(1), Some(&*answer(2)));
    assert_eq!(answer(4), answer(5));
    assert_eq!(answer(3).split(", ").nth(1), answer(7).split(", ").nth(1));
    assert_eq!(answer(6), answer(7));
    assert_eq!(lines[2]["sample"]["operations"], 250);
}

#[test]
fn many_connections_write_without_losing_a_row() {
    let place = Place::new();
    let steps = [
        step("create", json!({"sql": "CREATE TABLE t(a INTEGER)"})),
        step(
            "count up",
            json!({"sql": "INSERT INTO t VALUES(:i)", "operations": "300", "threads": "5",
                "transaction": "7", "check": "SELECT count(*), sum(a) FROM t"}),
        ),
        step("wanted", json!({"sql": "SELECT 300, 300*301/2"})),
    ];
    let options = json!({"workload": "statements", "pragma.synchronous": "off"});
    let lines = measure(&place, "stock", &options, &steps);
    assert_eq!(
        lines[2]["sample"]["answer"], lines[3]["sample"]["answer"],
        "{lines:?}"
    );
}

#[test]
fn connections_of_several_processes_do_what_those_of_one_do() {
    let place = Place::new();
    let with = |options: Value| {
        let mut all = json!({"sql": "INSERT INTO t VALUES(:i); SELECT :random", "operations": "300",
            "check": "SELECT count(*), sum(a) FROM t"});
        all.as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        let steps = [
            step("create", json!({"sql": "CREATE TABLE t(a INTEGER)"})),
            step("write", all),
            step(
                "read",
                json!({"sql": "SELECT a FROM t WHERE a=:i", "operations": "300",
                "processes": options["processes"], "threads": options["threads"]}),
            ),
        ];
        let options = json!({"workload": "statements", "pragma.journal_mode": "wal"});
        measure(&place, "ours", &options, &steps)
    };
    let threads = with(json!({"threads": "6", "processes": "1"}));
    let processes = with(json!({"threads": "2", "processes": "3"}));
    for n in [2, 3] {
        let (a, b) = (&threads[n]["sample"], &processes[n]["sample"]);
        assert_eq!(a["answer"], b["answer"], "{threads:?} {processes:?}");
        assert_eq!(b["operations"], 300);
        assert!(b["seconds"].as_f64().unwrap() > 0.0, "{b}");
        assert_eq!(b["percentiles"].as_object().unwrap().len(), 5, "{b}");
        // Each of the processes has loaded the library.
        let memory = |sample: &Value| sample["peak_memory"].as_u64().unwrap();
        assert!(memory(b) > 2 * memory(a), "{a} {b}");
    }
    let timed = with(json!({"threads": "1", "processes": "2", "seconds": "1"}));
    let sample = &timed[2]["sample"];
    assert!((0.9..3.0).contains(&sample["seconds"].as_f64().unwrap()));
    assert!(sample["percentiles"]["least"].is_string(), "{sample}");
    // What fails in one of them, in a transaction, ends all.
    let since = std::time::Instant::now();
    let unlucky = with(
        json!({"threads": "1", "processes": "2", "operations": "40000000", "transaction": "10",
        "sql": "INSERT INTO t VALUES(CASE WHEN :i=77 THEN abs(-9223372036854775807-1) ELSE 1 END)"}),
    );
    let why = failure(&unlucky);
    assert!(
        why.ends_with("step write: a part of the step: integer overflow"),
        "{why}"
    );
    assert!(since.elapsed().as_secs() < 60, "the others are ended");
    let gone = with(json!({"threads": "2", "processes": "2", "sql": "SELECT * FROM gone"}));
    let why = failure(&gone);
    assert!(
        why.contains("step write: a part of the step: no such table: gone"),
        "{why}"
    );
}

#[test]
fn a_step_may_be_done_by_the_other_library() {
    let place = Place::new();
    let steps = [
        step(
            "make",
            json!({"by": "ours", "sql": "CREATE TABLE t AS SELECT hp_version() AS v"}),
        ),
        step(
            "read",
            json!({"by": "stock", "sql": "SELECT count(v) FROM t"}),
        ),
    ];
    let lines = measure(&place, "stock", &json!({"workload": "statements"}), &steps);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let version = lines[0]["ready"]["version"].as_str().unwrap();
    assert!(!version.contains("High Performance"), "{version}");
    let wrong = [step("make", json!({"by": "theirs", "sql": "SELECT 1"}))];
    let lines = measure(&place, "stock", &json!({"workload": "statements"}), &wrong);
    assert!(failure(&lines).contains("step make: by=theirs: it is stock or ours"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    let said = |options: Value, step_options: Value| {
        failure(&measure(
            &place,
            "stock",
            &options,
            &[step("a step", step_options)],
        ))
    };
    let sql = |options: Value| said(json!({"workload": "statements"}), options);
    for (why, words) in [
        (said(json!({}), json!({})), "there is no workload"),
        (
            said(json!({"workload": "tpcc"}), json!({})),
            "workload=tpcc: there are statements and tatp",
        ),
        (
            said(json!({"workload": "tatp"}), json!({})),
            "data = \"tatp\"",
        ),
        (
            said(
                json!({"workload": "tatp", "database": tatp(&place)}),
                json!({}),
            ),
            "step a step: there is no such transaction; there are mix, GET_SUBSCRIBER_DATA",
        ),
        (sql(json!({})), "step a step: there is no sql"),
        (
            sql(json!({"sql": "SELECT :nothing", "operations": "2"})),
            "no parameter is called :nothing",
        ),
        (
            sql(json!({"sql": "SELECT 1", "operations": "none"})),
            "operations=none",
        ),
        (
            sql(json!({"sql": "SELECT 1", "operations": "0"})),
            "operations=0",
        ),
        (sql(json!({"sql": "SELECT 1", "threads": "0"})), "threads=0"),
        (
            sql(json!({"sql": "SELECT 1", "threads": "8", "processes": "129"})),
            "processes=129: there may be 1 to 128 with threads=8",
        ),
        (sql(json!({"sql": "SELEKT 1"})), "syntax error"),
        (
            sql(json!({"sql": "SELECT * FROM gone", "operations": "2", "threads": "3"})),
            "no such table: gone",
        ),
        (
            sql(json!({"sql": "SELECT 1", "length": "many"})),
            "length=many",
        ),
        (
            sql(json!({"sql": "SELECT 1", "before": "PRAGMA x y"})),
            "before: ",
        ),
    ] {
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_library_without_what_is_needed_is_left_out() {
    let place = Place::new();
    let needs = |option: &str| {
        let options = json!({"workload": "statements", "needs": option});
        let steps = [step("one", json!({"sql": "SELECT 1"}))];
        measure(&place, "stock", &options, &steps)
    };
    let why = needs("ENABLE_NOTHING")[0]["unavailable"].clone();
    assert_eq!(why, "this SQLite was built without SQLITE_ENABLE_NOTHING");
    assert_eq!(needs("ENABLE_FTS5").len(), 2);
}

#[test]
fn each_connection_is_prepared_before_the_clock_starts() {
    let place = Place::new();
    let steps = [
        step(
            "create",
            json!({"sql": "CREATE TABLE t(a); INSERT INTO t VALUES(1)"}),
        ),
        step(
            "read",
            json!({"sql": "SELECT a FROM temp.mine", "operations": "2",
            "before": "CREATE TEMP TABLE mine AS SELECT a FROM t", "threads": "2"}),
        ),
    ];
    let lines = measure(&place, "stock", &json!({"workload": "statements"}), &steps);
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn a_database_that_is_none_is_told() {
    let place = Place::new();
    std::fs::write(
        place.path("tmp/text.db"),
        "no database at all\n".repeat(500),
    )
    .unwrap();
    let options = json!({"workload": "tatp", "database": place.path("tmp/text.db")});
    let why = failure(&measure(
        &place,
        "stock",
        &options,
        &[step("mix", json!({}))],
    ));
    assert!(why.contains("not a database"), "{why}");
    let empty = json!({"workload": "tatp", "database": place.database("tmp/other.db")});
    let why = failure(&measure(&place, "stock", &empty, &[step("mix", json!({}))]));
    assert!(
        why.contains("no such table: subscriber") && why.contains("data = \"tatp\""),
        "{why}"
    );
}
