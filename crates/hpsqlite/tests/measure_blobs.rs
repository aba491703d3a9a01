//! `hpsqlite measure` does one job of the benchmark lab: large values in a database or in files.

mod common;

use common::Place;
use serde_json::{Value, json};

const OURS: &str = "lib/libsqlite3.so.0";
const STOCK: &str = "libexec/hpsqlite/libsqlite3-stock.so";

/// A place with a database of 50 values, and the same as files in `flat` and `tree`.
fn blobs() -> Place {
    let place = Place::new();
    for arguments in [
        "init x.db --count 50 --size 3000 --variance 2000",
        "export x.db flat",
        "export x.db tree --tree",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        place.run(&[&["kvtest"], &arguments[..]].concat()).expect(0);
    }
    place
}

fn step(name: &str) -> Value {
    json!({"name": name, "options": {}, "cold": false, "unmeasured": false})
}

/// Does a job on the data set of an engine, or on what the options name; gives its lines.
fn measure(place: &Place, engine: &str, options: &Value, steps: &[Value]) -> Vec<Value> {
    let (library, data) = match engine {
        "stock" => (Some(place.path(STOCK)), "x.db"),
        "ours" => (Some(place.path(OURS)), "x.db"),
        files => (None, files),
    };
    let mut options = options.clone();
    if options.get("database").is_none() {
        options["database"] = json!(place.path(data));
    }
    let folder = tempfile::tempdir_in(place.path("tmp")).unwrap();
    place.measure(&json!({
        "kind": "blobs", "engine": engine, "library": library, "folder": folder.path(),
        "options": options, "steps": steps, "seed": 1,
    }))
}

fn answer(lines: &[Value], step: usize) -> &str {
    lines[step + 1]["sample"]["answer"]
        .as_str()
        .unwrap_or_else(|| panic!("{lines:?}"))
}

#[test]
fn every_way_to_the_values_gives_the_same() {
    let place = blobs();
    let steps = [
        "read-sequential",
        "read-random",
        "write-sequential",
        "write-random",
    ]
    .map(step);
    let ways = [
        ("flat", json!({})),
        ("tree", json!({})),
        ("stock", json!({})),
        ("ours", json!({})),
        ("stock", json!({"access": "blob-api"})),
        (
            "ours",
            json!({"access": "blob-api", "transactions": "each"}),
        ),
        (
            "ours",
            json!({"access": "blob-api", "pragma.mmap_size": "1000000"}),
        ),
        (
            "ours",
            json!({"pragma.journal_mode": "wal", "checkpoint": "off"}),
        ),
        (
            "stock",
            json!({"pragma.journal_mode": "off", "pragma.synchronous": "off"}),
        ),
    ];
    let all: Vec<Vec<Value>> = ways
        .iter()
        .map(|(engine, options)| measure(&place, engine, options, &steps))
        .collect();
    for (lines, (engine, options)) in all.iter().zip(&ways) {
        assert_eq!(
            lines.len(),
            1 + steps.len(),
            "{engine} {options}: {lines:?}"
        );
        for i in 0..steps.len() {
            assert_eq!(
                answer(lines, i),
                answer(&all[0], i),
                "{engine} {options} {i}"
            );
            let sample = &lines[i + 1]["sample"];
            assert_eq!(sample["operations"], 50);
            assert!(sample["bytes"].as_u64().unwrap() > 50 * 1000);
            assert!(sample["percentiles"]["99"].is_string());
        }
    }
}

#[test]
fn settings_are_those_that_the_connection_had() {
    let place = blobs();
    let options = json!({"access": "blob-api", "transactions": "each", "pragma.cache_size": "-77",
        "pragma.journal_mode": "wal", "pragma.synchronous": "normal", "pragma.no_such_thing": "1",
        "pragma.mmap_size": "100 kB", "checkpoint": "off"});
    let lines = measure(&place, "ours", &options, &[step("write-random")]);
    let ready = &lines[0]["ready"];
    let settings = [
        ("access", "blob-api"),
        ("transactions", "each"),
        ("cache_size", "-77"),
        ("journal_mode", "wal"),
        ("synchronous", "1"),
        ("mmap_size", "100000"),
        ("checkpoint", "off"),
    ];
    for (name, value) in settings {
        assert_eq!(ready["settings"][name], value, "{name}");
    }
    assert!(ready["settings"].get("no_such_thing").is_none());
    let lost = ready["durability"].as_str().unwrap();
    assert!(lost.contains("recent transactions"), "{lost}");

    let lines = measure(
        &place,
        "tree",
        &json!({"fsync": "on"}),
        &[step("write-random")],
    );
    let ready = &lines[0]["ready"];
    assert_eq!(ready["settings"]["fsync"], "on");
    assert!(
        ready["settings"]["mounted"]
            .as_str()
            .unwrap()
            .contains(" rw")
    );
    assert!(ready["settings"].get("journal_mode").is_none());
    assert!(ready["durability"].as_str().unwrap().contains("no other"));
    let lines = measure(&place, "tree", &json!({}), &[step("read-random")]);
    assert_eq!(lines[0]["ready"]["durability"], "nothing is written");
}

#[test]
fn what_writes_works_on_a_copy_of_its_own() {
    let place = blobs();
    let read = [step("read-sequential")];
    for engine in ["flat", "tree", "ours"] {
        let before = measure(&place, engine, &json!({}), &read);
        let both = [step("write-random"), step("read-sequential")];
        let changed = measure(&place, engine, &json!({}), &both);
        assert_ne!(answer(&changed, 1), answer(&before, 0), "{engine}");
        let after = measure(&place, engine, &json!({}), &read);
        assert_eq!(answer(&after, 0), answer(&before, 0), "{engine}");
    }
    // Reading in another journal mode would change the file as well.
    measure(
        &place,
        "ours",
        &json!({"pragma.journal_mode": "wal"}),
        &read,
    );
    let lines = measure(&place, "ours", &json!({}), &read);
    assert_eq!(lines[0]["ready"]["settings"]["journal_mode"], "delete");
}

#[test]
fn a_wrong_value_is_found() {
    let place = blobs();
    for file in ["flat/000007", "tree/00/00/07"] {
        let path = place.path(file);
        let mut content = std::fs::read(&path).unwrap();
        content[500] ^= 1;
        std::fs::write(path, content).unwrap();
    }
    for engine in ["flat", "tree"] {
        let lines = measure(&place, engine, &json!({}), &[step("read-sequential")]);
        let why = lines.last().unwrap()["failed"].as_str().unwrap();
        assert!(
            why.contains("key 7") && why.contains("not what was written"),
            "{why}"
        );
    }
}

#[test]
fn space_is_what_the_file_system_counts() {
    let place = blobs();
    let lines = measure(&place, "flat", &json!({}), &[step("space")]);
    let sample = &lines[1]["sample"];
    let files = place.list("flat");
    let bytes: u64 = files
        .iter()
        .filter(|name| !name.starts_with('.'))
        .map(|name| {
            std::fs::metadata(place.path("flat").join(name))
                .unwrap()
                .len()
        })
        .sum();
    assert_eq!(
        (&sample["operations"], &sample["bytes"]),
        (&json!(50), &json!(bytes))
    );
    assert!(sample["space"].as_u64().unwrap() > bytes);
    let lines = measure(&place, "stock", &json!({}), &[step("space")]);
    assert_eq!(lines[1]["sample"]["bytes"], bytes);
    let size = std::fs::metadata(place.path("x.db")).unwrap().len();
    assert_eq!(lines[1]["sample"]["space"], size);
}

#[test]
fn a_share_of_the_values_may_be_asked_for() {
    let place = blobs();
    for (asked, done) in [("300%", 150), ("10%", 20), ("7", 7)] {
        let mut read = step("read-random");
        read["options"] = json!({"operations": asked});
        let lines = measure(&place, "tree", &json!({}), &[read]);
        assert_eq!(lines[1]["sample"]["operations"], done, "{asked}");
    }
}

#[test]
fn mistakes_are_told_with_what_helps() {
    let place = blobs();
    let cases = [
        (
            "flat",
            json!({"database": "/no/such/folder"}),
            "read-random",
            "cannot read /no/such/folder",
        ),
        (
            "ours",
            json!({"access": "odbc"}),
            "read-random",
            "access=odbc: it is sql or blob-api",
        ),
        (
            "ours",
            json!({"operations": "some"}),
            "read-random",
            "operations=some: it is a whole number",
        ),
        (
            "ours",
            json!({"threads": "0"}),
            "read-random",
            "threads=0: there may be 1 to 1024",
        ),
        (
            "ours",
            json!({}),
            "read",
            "step read: no such step for large values",
        ),
    ];
    for (engine, options, name, wanted) in cases {
        let lines = measure(&place, engine, &options, &[step(name)]);
        let last = lines.last().unwrap();
        let why = last["failed"]
            .as_str()
            .unwrap_or_else(|| panic!("{options}: {last}"));
        assert!(why.contains(wanted), "{why}");
    }
}

#[test]
fn a_setting_cannot_change_from_step_to_step() {
    let place = blobs();
    let mut read = step("read-random");
    read["options"] = json!({"access": "blob-api"});
    let lines = measure(&place, "ours", &json!({}), &[read]);
    let why = lines[0]["failed"].as_str().unwrap();
    assert!(why.contains("access is for the whole job"), "{why}");
}
