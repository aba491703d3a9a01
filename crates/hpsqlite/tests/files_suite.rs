//! `hpsqlite bench run files`: the charts of "35% Faster Than The Filesystem", from data sets that
//! are made once.

mod common;

use common::Place;
use serde_json::Value;

#[test]
fn the_suite_files_runs_and_tells_where_files_are_as_fast() {
    let place = Place::new();
    let sizes = "size=1 kB,2 kB";
    let engines = "engine=flat,ours";
    let set = [
        "--set",
        sizes,
        "--set",
        engines,
        "--set",
        "total=20 kB",
        "--set",
        "trials=2",
    ];
    let run = [
        "bench", "run", "files", "--quick", "--json", "f.json", "--html", "f.html",
    ];
    let run = [&run[..], &set].concat();
    // 2 engines, 2 sizes, 6 parts; 2 trials.
    place.run(&run).expect(0).says("48 measured now");

    let report: Value = serde_json::from_str(&place.text("f.json")).unwrap();
    let charts = report["charts"].as_array().unwrap();
    assert_eq!(charts.len(), 6);
    let page = place.text("f.html");
    for chart in charts {
        let found = chart["break_even"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{}", chart["plan"]["title"]);
        for one in found {
            let words = one["words"].as_str().unwrap();
            assert!(words.contains("break-even"), "{words}");
            assert!(page.contains(words), "{words}");
        }
        let cells = chart["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 4);
        for cell in cells {
            assert_eq!(cell["ignored"].as_array().unwrap().len(), 0, "{cell}");
        }
    }
    assert_eq!(report["differing"].as_array().unwrap().len(), 0);
    // A database and a folder, for each size.
    let data = place.list("cache/hpsqlite/bench/data");
    assert_eq!(data.len(), 4, "{data:?}");
    assert!(place.list("cache/hpsqlite/bench/work").is_empty());

    let mapped = charts[2]["cells"][1]["effective"]["settings"]["mmap_size"].clone();
    assert_eq!(mapped, "2000000000");
    place
        .run(&run)
        .expect(0)
        .says("0 measured now, 48 from before");
    assert_eq!(place.list("cache/hpsqlite/bench/data"), data);
}

#[test]
fn what_an_engine_cannot_do_is_shown_as_ignored() {
    let place = Place::new();
    let suite = r#"
title = "Settings of files"
kind = "blobs"
trials = 1
[options]
size = 1000
values = 5
access = "blob-api"
"pragma.mmap_size" = 100000
fsync = "on"
[axes]
engine = ["flat", "ours"]
[[step]]
name = "write-random"
"#;
    std::fs::write(place.path("s.toml"), suite).unwrap();
    place
        .run(&["bench", "run", "s.toml"])
        .expect(0)
        .says("no effect in files in one folder: access=blob-api was ignored, it is not known.")
        .says("no effect in files in one folder: mmap_size=100000 was ignored, it is not known.")
        .says("fsync=on was ignored, it is not known.");
}

#[test]
fn a_spoiled_or_a_missing_data_set_is_no_end() {
    let place = Place::new();
    let suite = r#"
title = "Spoiled"
kind = "blobs"
trials = 1
[options]
size = "1 kB"
values = 20
[axes]
engine = ["flat", "tree", "gone"]
[engines.gone]
library = "gone.so"
[[step]]
name = "read-sequential"
"#;
    std::fs::write(place.path("s.toml"), suite).unwrap();
    let run = ["bench", "run", "s.toml"];
    place
        .run(&run)
        .expect(1)
        .says("2 measured now, 1 failed")
        .says("gone.so");
    let sets = place.list("cache/hpsqlite/bench/data");
    let flat = sets
        .iter()
        .find(|name| name.contains("files=flat"))
        .unwrap();
    let file = format!("cache/hpsqlite/bench/data/{flat}/000003");
    std::fs::write(place.path(&file), vec![0; 1000]).unwrap();
    let again = [&run[..], &["--results", "again.db"]].concat();
    place
        .run(&again)
        .expect(1)
        .says("1 measured now, 2 failed")
        .says("the value of key 3 in");
}
