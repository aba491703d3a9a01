//! `hpsqlite bench`: a suite is measured, a stopped run goes on, and reports are made of what it left.

mod common;

use common::{Place, Worker, interrupt_when};

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
fn a_run_without_quick_may_follow_one_with_it() {
    let place = Place::new();
    suite(&place, &(SUITE.to_owned() + "[quick]\ntrials = 1\n"));
    let quick = ["bench", "run", "tmp/counting.toml", "--quick"];
    place.run(&quick).expect(0).says("4 measured now");
    place.run(&quick[..3]).expect(0).says("8 measured now");
    place.run(&quick).expect(0).says("4 from before");
    assert!(place.path("counting.results.db").exists());
    assert!(place.path("counting.quick.results.db").exists());
}

#[test]
fn a_mistyped_command_is_told_and_leaves_nothing_in_the_way() {
    let place = Place::new();
    suite(&place, SUITE);
    let run = |set: &str| place.run(&["bench", "run", "tmp/counting.toml", "--set", set]);
    let engines = "those of this suite's kind are stock, ours, duckdb";
    run("engine=stokc")
        .expect(2)
        .says("no such engine: stokc; ")
        .says(engines);
    run("rwos=10")
        .expect(2)
        .says("no axis or option of this name");
    assert!(!place.path("counting.results.db").exists());
    // What is only found when it is measured.
    run("repeat=x").expect(1).says("4 failed");
    run("repeat=3").expect(0).says("8 measured now");
    // What was measured stays.
    run("repeat=4").expect(2).says("another results file");
}

#[test]
fn engines_are_listed() {
    let place = Place::new();
    let list = place.run(&["bench", "engines"]).expect(0).out;
    for name in ["stock", "ours", "duckdb", "flat", "mariadb", "rocksdb"] {
        assert!(
            list.lines().any(|l| l.trim_start().starts_with(name)),
            "{name}: {list}"
        );
    }
    place
        .run(&["bench", "list", "groupby"])
        .expect(0)
        .says("Engines: stock, first, ours, duckdb");
}

#[test]
fn suites_are_listed_a_line_each() {
    let place = Place::new();
    let names = place.run(&["bench", "list", "--names"]).expect(0).out;
    let list = place.run(&["bench", "list"]).expect(0).out;
    assert_eq!(names.lines().count(), list.lines().count());
    for (name, line) in names.lines().zip(list.lines()) {
        assert!(line.starts_with(&format!("{name} ")), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
    }
    let failed = place.run(&["bench", "list", "tpc"]).expect(2);
    failed.says("the lab has no suite tpc; there are ");
}

#[test]
fn a_library_that_was_built_anew_needs_another_results_file() {
    let place = Place::new();
    let library = place.path("tmp/built.so");
    std::fs::copy(place.path("libexec/hpsqlite/libsqlite3-stock.so"), &library).unwrap();
    let text = SUITE.replace("[\"stock\", \"ours\"]", "[\"stock\", \"built\"]")
        + &format!("[engines.built]\nlibrary = \"{}\"\n", library.display());
    let (file, results) = (suite(&place, &text), results(&place));
    let run = ["bench", "run", &file, "--results", &results];
    place.run(&run).expect(0).says("8 measured now");
    let mut other = std::fs::read(&library).unwrap();
    other.push(0);
    std::fs::write(&library, other).unwrap();
    let done = place.run(&run).expect(2);
    assert!(!done.err.contains("goes on where it stopped"), "{done:?}");
    done.says("holds results of another build of built")
        .says("another file with --results");
    place
        .run(&["bench", "report", &results])
        .expect(0)
        .says("Counting");
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

/// Names of the data sets in the cache folder.
fn data_sets(place: &Place) -> Vec<String> {
    place.list("cache/hpsqlite/bench/data")
}

/// A suite on the data of a generator.
fn of_generator(place: &Place, options: &str) -> String {
    let text = format!(
        r#"
title = "Of a generator"
kind = "sql"
trials = 2
[options]
data = "h2o"
rows = 2000
groups = 10
{options}
[axes]
engine = ["stock", "ours"]
[[step]]
name = "tables"
sql = "SELECT count(*) FROM sqlite_schema"
"#
    );
    suite(place, &text)
}

#[test]
fn a_data_set_is_made_once_and_one_with_statistics_is_another() {
    let place = Place::new();
    let csv = place.path("tmp/samples.csv").to_str().unwrap().to_owned();
    let answers = |options: &str, results: &str| {
        let file = of_generator(&place, options);
        let results = place.path(results).to_str().unwrap().to_owned();
        let run = ["bench", "run", &file, "--results", &results, "--csv", &csv];
        place.run(&run).expect(0).says("4 measured now");
        let csv = place.text("tmp/samples.csv");
        let from = csv.find("1 rows, ").unwrap();
        csv[from..from + 20].to_owned()
    };
    let plain = answers("", "tmp/a.db");
    let first = data_sets(&place);
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].starts_with("h2o-v1-rows=2000-groups=10-"));
    assert_eq!(answers("", "tmp/b.db"), plain);
    assert_eq!(data_sets(&place), first);
    // It has the tables of the statistics as well.
    assert_ne!(answers("analyze = true", "tmp/c.db"), plain);
    assert_eq!(data_sets(&place).len(), 2);
    // So is one with indexes, and that one with statistics.
    let indexes = r#"indexes = "CREATE INDEX a ON x(id1); CREATE INDEX b ON x(id4);""#;
    let before = data_sets(&place);
    answers(indexes, "tmp/d.db");
    let new: Vec<String> = data_sets(&place)
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect();
    assert_eq!(new.len(), 1, "{new:?}");
    let path = place.path(&format!("cache/hpsqlite/bench/data/{}", new[0]));
    let names = Worker::on(&place, &path)
        .rows("SELECT name FROM sqlite_schema WHERE type='index' ORDER BY 1");
    assert_eq!(names, ["a", "b"]);
    answers(&format!("{indexes}\nanalyze = true"), "tmp/e.db");
    assert_eq!(data_sets(&place).len(), 4);
}

#[test]
fn indexes_are_made_on_a_data_set_and_what_is_wrong_with_them_is_said() {
    let place = Place::new();
    let file = of_generator(&place, r#"indexes = "CREATE INDEX a ON nowhere(id1)""#);
    let results = results(&place);
    place
        .run(&["bench", "run", &file, "--results", &results])
        .says("no such table: main.nowhere");
    assert_eq!(data_sets(&place).len(), 1);
}

#[test]
fn clean_removes_what_the_lab_has_made_and_nothing_else() {
    let place = Place::new();
    let clean = |more: &[&str]| place.run(&[&["bench", "clean"], more].concat());
    clean(&[]).expect(0).says("There are no data sets.");
    let (file, results) = (of_generator(&place, ""), results(&place));
    place
        .run(&["bench", "run", &file, "--results", &results])
        .expect(0);
    std::fs::write(place.path("cache/hpsqlite/mine"), "mine").unwrap();
    std::fs::create_dir(place.path("cache/hpsqlite/bench/work/job-killed")).unwrap();
    clean(&["--list"])
        .expect(0)
        .says("h2o-v1-rows=2000")
        .says("job-killed  (of a run that was killed)")
        .says("in all");
    assert_eq!(data_sets(&place).len(), 1);
    clean(&[]).expect(0).says("removed");
    assert!(data_sets(&place).is_empty());
    assert!(place.list("cache/hpsqlite/bench/work").is_empty());
    assert_eq!(place.list("cache/hpsqlite"), ["bench", "mine"]);
}

#[test]
fn what_a_run_uses_is_not_cleaned_away() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("cache/hpsqlite/bench")).unwrap();
    let lock = std::fs::File::create(place.path("cache/hpsqlite/bench/lock")).unwrap();
    lock.lock_shared().unwrap();
    place
        .run(&["bench", "clean"])
        .expect(2)
        .says("a run of the lab is using");
    std::fs::create_dir_all(place.path("cache/hpsqlite/bench/work/job-live")).unwrap();
    place
        .run(&["bench", "clean", "--list"])
        .expect(0)
        .says("job-live  (of a run that is under way)");
    drop(lock);
    place.run(&["bench", "clean"]).expect(0);
}

#[test]
fn what_a_killed_run_left_goes_with_the_next_one_that_is_alone() {
    let place = Place::new();
    let (file, results) = (suite(&place, SUITE), results(&place));
    let run = ["bench", "run", &file, "--results", &results];
    std::fs::create_dir_all(place.path("cache/hpsqlite/bench/work/job-x/store")).unwrap();
    std::fs::create_dir_all(place.path("cache/hpsqlite/bench/data/.making-x")).unwrap();
    let lock = std::fs::File::create(place.path("cache/hpsqlite/bench/lock")).unwrap();
    lock.lock_shared().unwrap();
    place.run(&run).expect(0);
    assert_eq!(place.list("cache/hpsqlite/bench/work"), ["job-x"]);
    drop(lock);
    place.run(&run).expect(0);
    assert_eq!(place.list("cache/hpsqlite/bench/work"), [""; 0]);
    assert!(!place.path("cache/hpsqlite/bench/data/.making-x").exists());
}

#[test]
fn an_interrupted_set_up_leaves_nothing_and_is_made_anew() {
    let place = Place::new();
    let (file, results) = (of_generator(&place, ""), results(&place));
    let mut run = vec!["bench", "run", &file, "--results", &results];
    let large = place.command(&[&run[..], &["--set", "rows=500000000"]].concat());
    let data = place.path("cache/hpsqlite/bench/data");
    let begun = || {
        let mut folders = std::fs::read_dir(&data).into_iter().flatten().flatten();
        folders.any(|f| std::fs::read_dir(f.path()).is_ok_and(|mut d| d.next().is_some()))
    };
    interrupt_when(large, begun).expect(130).says("interrupted");
    assert!(data_sets(&place).is_empty());
    let other = place.path("tmp/other.db").to_str().unwrap().to_owned();
    run[4] = &other;
    place.run(&run).expect(0).says("4 measured now");
    assert_eq!(data_sets(&place).len(), 1);
}

#[test]
fn data_that_cannot_be_made_is_said_and_the_rest_goes_on() {
    let place = Place::new();
    let text = SUITE.replace("INSERT INTO t", "INSERT INTO t{rows}");
    let text = text.replace("CREATE TABLE t(", "CREATE TABLE t10(a,b); CREATE TABLE t(");
    let (file, results) = (suite(&place, &text), results(&place));
    place
        .run(&["bench", "run", &file, "--results", &results])
        .expect(1)
        .says("4 measured now, 2 failed")
        .says("no such table: t20");
    assert_eq!(data_sets(&place).len(), 1);
}

#[test]
fn what_takes_too_long_is_left_out_with_its_reason() {
    let place = Place::new();
    let text = of_generator(&place, "");
    let mut all = std::fs::read_to_string(&text).unwrap();
    all += "[[step]]\nname = \"endless\"\nlimit = 0.05\nsql = \"\"\"
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n\"\"\"\n";
    let (file, results) = (suite(&place, &all), results(&place));
    let run = ["bench", "run", &file, "--results", &results];
    let left_out = "endless takes more than 0.05 s, so it is left out of the results of stock.";
    place
        .run(&run)
        .expect(0)
        .says("4 measured now")
        .says(left_out);
    place
        .run(&run)
        .expect(0)
        .says("4 from before")
        .says(left_out);
}

#[test]
fn a_wrong_answer_is_caught_also_beside_statistics() {
    let place = Place::new();
    let wrong = place.misbehaving("WRONG_LAST_DIGIT");
    let text = format!(
        r#"
title = "Digits"
kind = "sql"
trials = 1
[options]
setup = "CREATE TABLE t(r REAL); INSERT INTO t VALUES(42.5),(1.5)"
[axes]
engine = ["stock", "wrong"]
[engines.wrong]
library = "{wrong}"
[[step]]
name = "reals"
sql = "SELECT r FROM t"
"#
    );
    let (file, results) = (suite(&place, &text), results(&place));
    let run = ["bench", "run", &file, "--results", &results];
    place
        .run(&run)
        .expect(1)
        .says("Different answers: reals: wrong gives 2 rows");
}
