//! The suites of transactions that come with the lab, from their command to their page, with sizes
//! so small that only what is there is tested, not how long it takes.

mod common;

use common::Place;

/// Runs a suite with these options once; all must be measured, and both libraries must agree.
#[track_caller]
fn measured(suite: &str, set: &[&str], jobs: usize, charts: &[&str]) {
    let place = Place::new();
    let page = place.path("tmp/page.html");
    let mut all = vec![
        "bench",
        "run",
        suite,
        "--quick",
        "--html",
        page.to_str().unwrap(),
    ];
    for option in set.iter().chain(&["trials=1"]) {
        all.extend(["--set", option]);
    }
    let done = place
        .run(&all)
        .expect(0)
        .says(&format!("{jobs} measured now"));
    assert!(!done.out.contains("Different answers"), "{done:#?}");
    let page = place.text("tmp/page.html");
    for chart in charts {
        assert!(page.contains(chart), "{suite} has no chart '{chart}'");
    }
}

#[test]
fn tatp() {
    measured(
        "tatp",
        &[
            "subscribers=60",
            "threads=1,2",
            "reads=50",
            "writes=10",
            "mixed=40",
        ],
        12,
        &[
            "Transactions a second",
            "The slowest of all",
            "GET_NEW_DESTINATION",
        ],
    );
}

#[test]
fn speedtest() {
    measured(
        "speedtest",
        &["rows=300", "each=20", "lookups=50", "ranges=20", "scans=1"],
        10,
        &[
            "Speed test: writing",
            "UPSERT",
            "integrity_check",
            "FTS5: a word",
        ],
    );
}

#[test]
fn writers() {
    measured(
        "writers",
        &["seconds=1", "threads=1,3", "processes=2"],
        6,
        &[
            "The slowest transaction, by threads",
            "the least lucky connection",
            "Transactions a second, by processes",
        ],
    );
}

#[test]
fn connections() {
    measured(
        "connections",
        &["rows=1000", "lookups=200", "ranges=50", "threads=1,3"],
        4,
        &["Look-ups a second, a transaction each"],
    );
}

#[test]
fn threads() {
    measured(
        "threads",
        &[
            "count=300",
            "reads=300",
            "engine=stock,tuned,ours,ours-tuned,redb",
            "threads=1,3",
        ],
        10,
        &[
            "Random reads a second, by threads",
            "while one more thread writes",
        ],
    );
}

#[test]
fn prealloc() {
    measured(
        "prealloc",
        &["rows=400", "extent=off,8,auto"],
        6,
        &[
            "Cold scan of one of 8 tables",
            "Disk space of the file",
            "Time of inserting",
        ],
    );
}

#[test]
fn fragmentation() {
    measured(
        "fragmentation",
        &["rows=400", "replaced=100", "tables=1,3"],
        8,
        &[
            "Reading, by tables that grew together: cold scan, after VACUUM",
            "Reading, by tables that grew together: warm index range, rows replaced",
            "Writing, by tables that grow together: replace rows",
            "SQLite on HP SQLite",
        ],
    );
}

#[test]
fn upkeep() {
    measured(
        "upkeep",
        &["rows=600"],
        50,
        &[
            "Upkeep of a table of 600 rows",
            "foreign_key_check",
            "VACUUM INTO",
            "Statements of few rows, a transaction each, by rows: DELETE",
        ],
    );
}
