//! `hpsqlite bench`: a suite is measured, a stopped run goes on, and reports are made of what it left.

mod common;

use common::Place;

const SUITE: &str = r#"
title = "Two libraries"
kind = "sql"
trials = 2
[options]
setup = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows})
INSERT INTO t SELECT i, i*i FROM n;
"""
repeat = 2
[axes]
engine = ["stock", "ours"]
rows = [10, 20]
[[step]]
name = "count"
sql = "SELECT count(*), max(b) FROM t WHERE a<={rows}"
[[chart]]
title = "Counting"
x = "rows"
series = "engine"
base = "stock"
"#;

fn suite(place: &Place, text: &str) -> String {
    let file = place.path("tmp/counting.toml");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn results(place: &Place) -> String {
    place.path("tmp/results.db").to_str().unwrap().to_owned()
}

#[test]
fn the_template_is_a_suite_that_runs() {
    let place = Place::new();
    let file = place.path("tmp/suite.toml").to_str().unwrap().to_owned();
    place.run(&["bench", "init", &file]).expect(0);
    place
        .run(&["bench", "init", &file])
        .expect(2)
        .says("cannot make");
    let (page, results) = (place.path("tmp/page.html"), results(&place));
    let page = page.to_str().unwrap();
    let all = [
        "bench",
        "run",
        &file,
        "--quick",
        "--results",
        &results,
        "--html",
        page,
    ];
    place.run(&all).expect(0).says("6 measured now");
    assert!(place.text("tmp/page.html").contains("Time a statement"));
}

#[test]
fn what_has_been_measured_is_not_measured_again() {
    let place = Place::new();
    let (file, results) = (suite(&place, SUITE), results(&place));
    let run = ["bench", "run", &file, "--results", &results];
    place.run(&run).expect(0).says("8 measured now");
    place
        .run(&run)
        .expect(0)
        .says("0 measured now, 8 from before");
    place
        .run(&["bench", "report", &results])
        .expect(0)
        .says("Counting");
}

#[test]
fn every_sample_is_in_the_file_with_the_answer_that_is_wanted() {
    let place = Place::new();
    let (file, results) = (suite(&place, SUITE), results(&place));
    let csv = place.path("tmp/samples.csv").to_str().unwrap().to_owned();
    let run = ["bench", "run", &file, "--results", &results, "--csv", &csv];
    place.run(&run).expect(0);
    let csv = place.text("tmp/samples.csv");
    assert_eq!(csv.lines().count(), 1 + 8);
    assert_eq!(csv.matches("\"1 rows, ").count(), 8, "{csv}");
}

#[test]
fn a_changed_suite_needs_another_results_file() {
    let place = Place::new();
    let (file, results) = (suite(&place, SUITE), results(&place));
    place
        .run(&["bench", "run", &file, "--results", &results])
        .expect(0);
    let run = [
        "bench",
        "run",
        &file,
        "--results",
        &results,
        "--set",
        "rows=10",
    ];
    place.run(&run).expect(2).says("another results file");
}

#[test]
fn one_wrong_engine_leaves_the_others_their_samples() {
    let place = Place::new();
    let text = SUITE.replace("[\"stock\", \"ours\"]", "[\"stock\", \"gone\"]")
        + "[engines.gone]\nlibrary = \"gone.so\"\n";
    let (file, results) = (suite(&place, &text), results(&place));
    let done = place.run(&["bench", "run", &file, "--results", &results]);
    done.expect(1)
        .says("4 measured now, 2 failed")
        .says("no such library");
}
