//! `hpsqlite measure` does one job of the benchmark lab: benchmarks written in Go.

mod common;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Place, skipped};
use serde_json::{Value, json};

const BENCHMARKS: &str = r##"
package driver

import (
	"fmt"
	"testing"
)

var kept []byte

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			fmt.Printf("# in force: driver=small version=v1.2.3 sqlite=3.50.1 n=%d journal_mode=wal\n", n)
			b.Run("whole", func(b *testing.B) {
				for b.Loop() {
					kept = make([]byte, 64*n)
				}
			})
		})
	}
}

func BenchmarkWrong(b *testing.B) { b.Fatal("7 rows were read, and there are 8") }
"##;

/// A place with a Go module in it, whose package `driver` is the engine; none where there is no Go.
struct Module {
    place: Place,
    /// What Go has compiled already, of its own library.
    compiled: String,
}

impl Module {
    fn new() -> Option<Module> {
        let go = Command::new("go").args(["env", "GOCACHE"]).output();
        let Ok(go) = go else {
            skipped("Go is not installed");
            return None;
        };
        let place = Place::new();
        let package = place.path("tmp").join("module/driver");
        std::fs::create_dir_all(&package).unwrap();
        let module = "module example.org/module\n\ngo 1.24\n";
        std::fs::write(package.join("../go.mod"), module).unwrap();
        std::fs::write(package.join("driver_test.go"), BENCHMARKS).unwrap();
        Some(Module {
            place,
            compiled: String::from_utf8(go.stdout).unwrap().trim().to_owned(),
        })
    }

    fn folder(&self) -> PathBuf {
        self.place.path("tmp/module")
    }

    /// Has a step for each of these benchmarks measured, with some options instead of the usual ones.
    fn measure(&self, benchmarks: &[&str], options: &[(&str, &str)]) -> Vec<Value> {
        let mut all = json!({
            "module": self.folder(), "cache": self.place.path("cache"), "package": "driver",
            "benchtime": "100x", "n": "1",
        });
        for (name, value) in options {
            all[*name] = json!(value);
        }
        let step = |name: &&str| json!({"name": name, "options": {"benchmark": name}, "cold": false, "unmeasured": false});
        let steps: Vec<Value> = benchmarks.iter().map(step).collect();
        let folder = self.place.path("tmp").join("job");
        std::fs::create_dir_all(&folder).unwrap();
        let job = json!({
            "kind": "go", "engine": "small", "library": null, "folder": folder, "options": all,
            "steps": steps, "seed": 1,
        });
        let mut child = self
            .place
            .command(&["measure"])
            .env("GOCACHE", &self.compiled)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", output.status);
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines.lines();
        lines.map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

#[test]
fn a_benchmark_gives_its_figures_and_the_settings_that_it_tells() {
    let Some(module) = Module::new() else { return };
    let lines = module.measure(&["Read/n=1/whole", "Read/n=10/whole"], &[]);
    let ready = &lines[0]["ready"];
    assert_eq!(ready["version"], "small v1.2.3, SQLite 3.50.1");
    // What the axes say is no setting.
    assert_eq!(ready["settings"], json!({"journal_mode": "wal"}));
    for (line, bytes) in lines[1..].iter().zip([64, 640]) {
        let sample = &line["sample"];
        assert_eq!(
            (&sample["operations"], &sample["allocations"]),
            (&json!(100), &json!(100)),
        );
        assert_eq!(sample["allocated"], 100 * bytes, "{sample}");
        assert!(sample["seconds"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(lines.len(), 3);
}

#[test]
fn what_was_changed_is_built_anew() {
    let Some(module) = Module::new() else { return };
    let version = || {
        let lines = module.measure(&["Read/n=1/whole"], &[]);
        lines[0]["ready"]["version"].as_str().unwrap().to_owned()
    };
    assert!(version().contains("v1.2.3"));
    let changed = BENCHMARKS.replace("v1.2.3", "v1.2.4");
    std::fs::write(module.folder().join("driver/driver_test.go"), changed).unwrap();
    assert!(version().contains("v1.2.4"));
}

#[test]
fn a_benchmark_that_fails_or_is_not_there_fails_the_job() {
    let Some(module) = Module::new() else { return };
    for (name, says) in [
        ("Wrong", "7 rows were read, and there are 8"),
        ("Read/n=2/whole", "there is no benchmark Read/n=2/whole"),
        ("Read/n=1", "there is no benchmark Read/n=1"),
    ] {
        let lines = module.measure(&[name], &[]);
        let failed = lines[0]["failed"].as_str().unwrap_or_default();
        assert!(failed.contains(says), "{name}: {lines:?}");
    }
}

#[test]
fn what_is_missing_is_told() {
    let Some(module) = Module::new() else { return };
    for (option, says) in [
        (("go", "no-such-go"), "no-such-go is not installed"),
        (
            ("module", "/nonexistent"),
            "there is no Go module at /nonexistent",
        ),
        (("package", "other"), "other cannot be built"),
    ] {
        let lines = module.measure(&["Read/n=1/whole"], &[option]);
        let why = lines[0]["unavailable"].as_str().unwrap_or_default();
        assert!(why.contains(says), "{option:?}: {lines:?}");
        assert_eq!(lines.len(), 1);
    }
    let broken = BENCHMARKS.replace("kept []byte", "kept []nothing");
    std::fs::write(module.folder().join("driver/driver_test.go"), broken).unwrap();
    let lines = module.measure(&["Read/n=1/whole"], &[]);
    let why = lines[0]["unavailable"].as_str().unwrap_or_default();
    assert!(why.contains("undefined: nothing"), "{lines:?}");
}

#[test]
fn the_suite_of_drivers_says_why_it_measures_none_without_the_source() {
    let place = Place::new();
    let results = place.path("tmp").join("results.db");
    let results = results.to_str().unwrap();
    let engines = "engine=mattn,zombiezen";
    let done = place.run(&[
        "bench",
        "run",
        "go",
        "--quick",
        "--set",
        engines,
        "--results",
        results,
    ]);
    done.expect(1).says("there is no Go module at");
}
