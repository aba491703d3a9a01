//! `hpsqlite measure` does one job of the benchmark lab: keys and values in any engine.
//!
//! Engines that are not installed are left out, and it is said which.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use common::Place;
use serde_json::{Value, json};

/// What is not a SQLite.
const ENGINES: [&str; 15] = [
    "lmdb",
    "berkeleydb",
    "berkeleydb-hash",
    "berkeleydb-transactional",
    "berkeleydb-hash-transactional",
    "qdbm-depot",
    "qdbm-villa",
    "rocksdb",
    "redb",
    "memcached",
    "memcached-tcp",
    "redis",
    "redis-tcp",
    "mariadb",
    "mariadb-memory-hash-tcp",
];

const STEPS: [&str; 8] = [
    "fill-sequential",
    "fill-random",
    "read-sequential",
    "read-random",
    "overwrite",
    "batch",
    "read-while-writing",
    "read-random",
];

fn job(
    place: &Place,
    engine: &str,
    library: Option<&str>,
    steps: &[&str],
    options: Value,
) -> Value {
    let folder = place.path(&format!("tmp/{engine}"));
    std::fs::create_dir_all(&folder).unwrap();
    json!({
        "kind": "keyvalue",
        "engine": engine,
        "library": library.map(|l| place.path(l)),
        "folder": folder,
        "options": options,
        "steps": steps.iter().map(|name| json!({
            "name": name, "options": {}, "cold": false, "unmeasured": false,
        })).collect::<Vec<_>>(),
        "seed": 7,
    })
}

fn small() -> Value {
    json!({"count": "300", "reads": "200", "batch": "100", "threads": "2", "sync": "off"})
}

fn answers(lines: &[Value]) -> Vec<&str> {
    lines[1..]
        .iter()
        .map(|l| {
            l["sample"]["answer"]
                .as_str()
                .unwrap_or_else(|| panic!("{l}"))
        })
        .collect()
}

#[test]
fn all_engines_read_the_same() {
    let place = Place::new();
    let stock = "libexec/hpsqlite/libsqlite3-stock.so";
    let reference = place.measure(&job(&place, "stock", Some(stock), &STEPS, small()));
    let expected = answers(&reference);
    assert_eq!(expected.len(), STEPS.len());
    for (step, answer) in STEPS.iter().zip(&expected) {
        assert_eq!(step.starts_with("read"), !answer.is_empty(), "{step}");
    }
    assert_ne!(
        expected[3], expected[7],
        "values were overwritten in between"
    );
    for (engine, library) in [
        ("tuned-clustered", Some(stock)),
        ("ours", Some("lib/libsqlite3.so.0")),
    ]
    .into_iter()
    .chain(ENGINES.map(|e| (e, None)))
    {
        let lines = place.measure(&job(&place, engine, library, &STEPS, small()));
        if let Some(why) = lines[0].get("unavailable") {
            // Not by a macro, whose output is shown only where a test fails.
            writeln!(std::io::stderr(), "skipped: {engine}: {why}").unwrap();
            assert!(library.is_none() && why.as_str().unwrap().contains("apt-get install"));
            continue;
        }
        let ready = &lines[0]["ready"];
        for told in ["version", "durability"] {
            assert_ne!(
                ready[told].as_str().unwrap_or_default(),
                "",
                "{engine}: {lines:?}"
            );
        }
        assert_eq!(answers(&lines), expected, "{engine}");
        for (line, step) in lines[1..].iter().zip(STEPS) {
            let sample = &line["sample"];
            assert_eq!(sample["step"], step, "{engine}");
            assert!(sample["seconds"].as_f64().unwrap() > 0.0, "{engine} {step}");
            let operations = if step.starts_with("read") { 200 } else { 300 };
            assert_eq!(sample["operations"], operations, "{engine} {step}");
            assert_eq!(sample["bytes"], operations * 100, "{engine} {step}");
            assert!(
                sample["peak_memory"].as_u64().unwrap() > 0,
                "{engine} {step}"
            );
        }
        for step in [3, 4] {
            let percentiles = &lines[1 + step]["sample"]["percentiles"];
            for p in ["50", "95", "99", "99.9", "100"] {
                let seconds: f64 = percentiles[p].as_str().unwrap().parse().unwrap();
                assert!(seconds > 0.0, "{engine}: {percentiles}");
            }
        }
    }
}

/// The processes that a process has started, by its main thread.
fn children(pid: u32) -> Vec<u32> {
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// Neither Ctrl-C nor being killed leaves a server behind.
#[test]
fn a_server_ends_with_its_job() {
    let place = Place::new();
    for signal in ["INT", "KILL"] {
        let options = json!({"count": "10000000", "value_size": "10"});
        let job = job(&place, "redis", None, &["fill-sequential"], options);
        let mut child = place.start_job(&job);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        if line.contains("apt-get install") {
            writeln!(std::io::stderr(), "skipped: redis: {line}").unwrap();
            child.wait().unwrap();
            return;
        }
        assert!(line.contains("ready"), "{line}");
        let servers = children(child.id());
        assert_eq!(servers.len(), 1);
        Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal == "INT").then_some(130));
        let start = Instant::now();
        // One that was killed and not yet waited for by anybody has no command line.
        let lives = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
        };
        while servers.iter().any(lives) {
            assert!(start.elapsed() < Duration::from_secs(10), "{signal}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What had no time is not in the sample; the pairs are there nevertheless for the next step.
#[test]
fn a_step_whose_time_ran_out_says_how_much_it_did() {
    let place = Place::new();
    let stock = Some("libexec/hpsqlite/libsqlite3-stock.so");
    let answer = |fill: &str, limit: Option<&str>| {
        let options = json!({"count": "20000", "sync": "off", "batch": "5000"});
        let mut job = job(&place, "stock", stock, &[fill, "read-sequential"], options);
        if let Some(seconds) = limit {
            job["steps"][0]["options"] = json!({"seconds": seconds});
        }
        let lines = place.measure(&job);
        assert_eq!(lines[2]["sample"]["operations"], 20000, "{lines:?}");
        let filled = &lines[1]["sample"];
        let number = |name: &str| filled[name].as_u64().unwrap();
        let numbers = (number("operations"), number("asked"));
        (numbers, lines[2]["sample"]["answer"].clone())
    };
    let (whole, right) = answer("batch", None);
    assert_eq!(whole, (20000, 0));
    let ((done, asked), same) = answer("fill-random", Some("0.01"));
    assert!(0 < done && done < 20000 && asked == 20000, "{done} {asked}");
    assert_eq!(same, right);
}

#[test]
fn a_step_that_only_prepares_is_not_told() {
    let place = Place::new();
    let stock = Some("libexec/hpsqlite/libsqlite3-stock.so");
    let mut job = job(&place, "stock", stock, &["batch", "read-random"], small());
    job["steps"][0]["unmeasured"] = json!(true);
    let lines = place.measure(&job);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1]["sample"]["step"], "read-random");
}

#[test]
fn settings_are_read_back() {
    let place = Place::new();
    let options = json!({
        "count": "10",
        "pragma.journal_mode": "wal",
        "pragma.synchronous": "normal",
        "pragma.no_such": "1",
    });
    let stock = Some("libexec/hpsqlite/libsqlite3-stock.so");
    let lines = place.measure(&job(&place, "stock", stock, &["fill-random"], options));
    let ready = &lines[0]["ready"];
    assert_eq!(ready["settings"]["journal_mode"], "wal");
    assert_eq!(ready["settings"]["synchronous"], "1");
    assert_eq!(ready["settings"]["no_such"], "unknown to this library");
    assert!(ready["durability"].as_str().unwrap().contains("power"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    let stock = Some("libexec/hpsqlite/libsqlite3-stock.so");
    let last = |engine, library, steps: &[&str], options| {
        let lines = place.measure(&job(&place, engine, library, steps, options));
        lines.last().unwrap().to_string()
    };
    for (line, says) in [
        (
            last("no-such", None, &["read-random"], small()),
            "unavailable",
        ),
        (
            last("stock", stock, &["read-random"], small()),
            "not all keys have been written",
        ),
        (last("stock", stock, &["dance"], small()), "step dance"),
        (
            last("stock", stock, &["batch"], json!({"count": "many"})),
            "count=many",
        ),
        (
            last("stock", stock, &["batch"], json!({"seconds": "-1"})),
            "seconds=-1",
        ),
        (
            last("stock", stock, &["batch"], json!({"key_size": "2"})),
            "key_size=2",
        ),
        (
            last("stock", stock, &["batch"], json!({"sync": "maybe"})),
            "sync=maybe",
        ),
        (
            last("stock", stock, &["batch"], json!({"table": "heap"})),
            "rowid, clustered",
        ),
    ] {
        assert!(line.contains(says), "{says}: {line}");
    }
}
