//! The lab, tested against itself: what it says of libraries with a known fault, and what it keeps
//! when something ends in the middle.
//!
//! What it says of noise is tested on samples of a model, in `src/bench/report/trust.rs`.

mod common;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Done, Place, interrupt_when, processes_with, skipped};
use serde_json::Value;

const STOCK: &str = "libexec/hpsqlite/libsqlite3-stock.so";

/// Eight jobs of two steps each.
const SUITE: &str = r#"
title = "Pairs"
kind = "keyvalue"
trials = 2
[options]
count = 300
key_size = 8
sync = "off"
[axes]
engine = ["stock", "ours"]
value_size = [10, 50]
[[step]]
name = "fill-random"
[[step]]
name = "read-random"
[[chart]]
title = "Pairs"
x = "engine"
base = "stock"
"#;

/// A suite and where its results are to be.
struct Lab {
    place: Place,
    suite: String,
    results: String,
}

impl Lab {
    fn new(suite: &str) -> Lab {
        Lab::at(Place::new(), suite)
    }

    fn at(place: Place, suite: &str) -> Lab {
        let file = place.path("tmp/pairs.toml");
        std::fs::write(&file, suite).unwrap();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        Lab {
            suite: text(file),
            results: text(place.path("tmp/results.db")),
            place,
        }
    }

    fn command(&self) -> Command {
        let arguments = ["bench", "run", &self.suite, "--results", &self.results];
        self.place.command(&arguments)
    }

    fn run(&self) -> Done {
        Done::of(&self.command().output().unwrap())
    }

    /// The report as JSON; the exit status may be that of different answers.
    fn report(&self) -> Value {
        let file = self.place.path("tmp/report.json");
        let path = file.to_str().unwrap();
        self.place
            .run(&["bench", "report", &self.results, "--json", path]);
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Every sample that there is, by point, trial and step, one that is there twice twice.
    fn samples(&self) -> Vec<String> {
        let report = self.report();
        let points = report["results"]["points"].as_array().unwrap();
        let mut all: Vec<String> = points
            .iter()
            .flat_map(|p| {
                let samples = p["samples"].as_array().unwrap();
                samples
                    .iter()
                    .map(|s| format!("{} {} {}", p["axes"], s["trial"], s["step"]))
            })
            .collect();
        all.sort();
        all
    }

    /// Runs it to the end, in as many runs as it takes, and gives what was measured.
    fn to_the_end(&self) -> Vec<String> {
        self.run().expect(0);
        self.samples()
    }
}

fn kill(signal: &str, pid: u32) {
    // It may have ended by itself.
    let _ = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// The processes that run and were started by a process; none can be waited for once it has ended.
fn children(pid: u32) -> Vec<u32> {
    // State and parent stand behind the name, which may have anything in it.
    let stat = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
        let state = rest.next()?.to_owned();
        Some((state, rest.next()?.parse::<u32>().ok()?))
    };
    let runs = |state: &str| !["Z", "X"].contains(&state);
    while stat(pid).is_some_and(|(state, _)| runs(&state)) {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let all = all.filter_map(|e| e.file_name().to_str()?.parse().ok());
        let is_child =
            |child: &u32| stat(*child).is_some_and(|(state, parent)| parent == pid && runs(&state));
        let found: Vec<u32> = all.filter(is_child).collect();
        if !found.is_empty() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Vec::new()
}

/// Kill points spread over a run; what they leave is taken further by the next run.
const KILLS: u32 = 6;
/// How often a point is tried at which the run had ended already, on a machine that became faster.
const TRIES: u32 = 5;

/// Runs the suite with something ending it, or a part of it, at each of several points.
fn killed_anywhere(end: impl Fn(u32)) {
    let lab = Lab::new(SUITE);
    let start = Instant::now();
    lab.run().expect(0);
    let mut duration = start.elapsed();
    let whole = lab.samples();
    assert_eq!(whole.len(), 8 * 2);
    let mut hits = 0;
    for i in 0..KILLS {
        for _ in 0..TRIES {
            std::fs::remove_file(&lab.results).unwrap();
            let start = Instant::now();
            let mut child = lab
                .command()
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(duration * (2 * i + 1) / (2 * KILLS));
            end(child.id());
            // A run that was not ended, and whose jobs were not, gives 0.
            let hit = !child.wait().unwrap().success();
            hits += u32::from(hit);
            assert_eq!(lab.to_the_end(), whole, "killed at {} of {KILLS}", i + 1);
            if hit {
                break;
            }
            duration = duration.min(start.elapsed());
        }
    }
    assert!(hits >= KILLS / 2, "only {hits} of {KILLS} ended anything");
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_set_of_samples() {
    killed_anywhere(|run| kill("KILL", run));
}

#[test]
fn a_measuring_process_that_was_killed_is_measured_again() {
    killed_anywhere(|run| children(run).into_iter().for_each(|c| kill("KILL", c)));
}

#[test]
fn a_run_that_was_interrupted_goes_on_to_the_same_set_of_samples() {
    killed_anywhere(|run| kill("INT", run));
}

#[test]
fn ctrl_c_says_what_goes_on() {
    let lab = Lab::new(&SUITE.replace("count = 300", "count = 3000000"));
    let work = lab.place.path("cache/hpsqlite/bench/work");
    let measuring = || std::fs::read_dir(&work).is_ok_and(|mut jobs| jobs.next().is_some());
    let done = interrupt_when(lab.command(), measuring).expect(130);
    let again = format!("hpsqlite bench run {} --results {}", lab.suite, lab.results);
    done.says("goes on where it stopped").says(&again);
    assert_eq!(lab.place.list("cache/hpsqlite/bench/work"), [""; 0]);
}

#[test]
fn a_wrong_value_is_caught() {
    let place = Place::new();
    let wrong = place.misbehaving_stock("WRONG_BYTE");
    let text = SUITE.replace("\"ours\"", "\"wrong\"")
        + &format!("[engines.wrong]\nlibrary = \"{wrong}\"\n");
    let lab = Lab::at(place, &text);
    lab.run()
        .expect(1)
        .says("wrong: step read-random: the value of key")
        .says("is not the one that was written")
        .says("4 measured now, 2 failed");
}

#[test]
fn a_wrong_answer_of_a_statement_is_caught() {
    let place = Place::new();
    let wrong = place.misbehaving_stock("WRONG_LAST_DIGIT");
    let text = format!(
        r#"
        title = "Answers"
        kind = "sql"
        trials = 1
        options = {{ setup = "CREATE TABLE t(r); INSERT INTO t VALUES(1.5),(42.5),(3.5)" }}
        axes = {{ engine = ["stock", "wrong"] }}
        engines = {{ wrong = {{ library = "{wrong}" }} }}
        step = [{{ name = "all", sql = "SELECT r FROM t" }}, {{ name = "one", sql = "SELECT min(r) FROM t" }}]
        "#
    );
    let lab = Lab::at(place, &text);
    let done = lab
        .run()
        .expect(1)
        .says("Different answers: all: wrong gives");
    assert!(!done.out.contains("Different answers: one"), "{}", done.out);
}

#[test]
fn a_setting_that_was_ignored_is_shown_as_ignored() {
    let text = SUITE.replace(
        "value_size = [10, 50]",
        "value_size = 10\npragmas = [\"odd\"]\n[pragmas.odd]\nno_such = 7\njournal_mode = \"rollback\"\ncache_size = -3000",
    );
    let lab = Lab::new(&text);
    let done = lab.run().expect(0);
    let done = done
        .says("no_such=7 was ignored, it is unknown to this library")
        .says("journal_mode=rollback was ignored, it is delete");
    assert!(
        !done.out.contains("cache_size=-3000 was ignored"),
        "{}",
        done.out
    );
}

#[test]
fn a_server_that_dies_leaves_the_others_their_samples() {
    let text = SUITE
        .replace("\"ours\"", "\"redis\"")
        .replace("value_size = [10, 50]", "value_size = 10")
        // More than can be written in the time; to be read, the rest would have to be written too.
        .replace("count = 300", "count = 1000000\nseconds = 2")
        .replace("[[step]]\nname = \"read-random\"\n", "");
    let lab = Lab::new(&text);
    let mut child = lab
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let folder = lab.place.path("cache").to_str().unwrap().to_owned();
    let mut servers = Vec::new();
    while servers.is_empty() && child.try_wait().unwrap().is_none() {
        // By its command line, or by the folder that it works in.
        servers = processes_with("redis-server");
        servers.retain(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
        });
        std::thread::sleep(Duration::from_millis(5));
    }
    // In the middle of a step of two seconds.
    std::thread::sleep(Duration::from_millis(500));
    servers.iter().for_each(|pid| kill("KILL", *pid));
    let done = Done::of(&child.wait_with_output().unwrap());
    if servers.is_empty() {
        assert!(done.out.contains("apt-get install"), "{done:?}");
        return skipped("redis is not installed");
    }
    let done = done
        .expect(1)
        .says("2 measured now, 1 failed")
        .says("redis");
    done.says("The same command tries again what failed");
    assert_eq!(lab.to_the_end().len(), 2 * 2);
}

/// A small file system of its own, where we may have one.
struct Disk(PathBuf);

impl Disk {
    fn new(at: PathBuf, kilobytes: u32) -> Option<Disk> {
        std::fs::create_dir_all(&at).unwrap();
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&at)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|s| s.success()).then_some(Disk(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_fails_what_does_not_fit_and_nothing_else() {
    let lab = Lab::new(&SUITE.replace("[10, 50]", "[10, 100000]"));
    let Some(_disk) = Disk::new(lab.place.path("cache"), 4000) else {
        return skipped("no file system can be mounted here");
    };
    let done = lab.run().expect(1).says("4 measured now, 2 failed");
    done.says("step fill-random: database or disk is full");
    assert_eq!(lab.samples().len(), 4 * 2);
}

/// The same for whoever may not mount anything: files may not be larger than this.
#[test]
fn a_file_that_may_not_grow_fails_what_does_not_fit_and_nothing_else() {
    let lab = Lab::new(&SUITE.replace("[10, 50]", "[10, 100000]"));
    let mut command = lab.command();
    // SAFETY: only system calls that may be made between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: 4_000_000,
                rlim_max: 4_000_000,
            };
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    let done = Done::of(&command.output().unwrap());
    done.expect(1)
        .says("4 measured now, 2 failed")
        .says("step fill-random: ");
    // Without the limit the same command measures the rest.
    assert_eq!(lab.to_the_end().len(), 8 * 2);
}

#[test]
fn a_full_disk_of_the_results_loses_nothing_that_was_measured() {
    let mut lab = Lab::new(SUITE);
    let folder = lab.place.path("tmp/results");
    let Some(disk) = Disk::new(folder.clone(), 1000) else {
        return skipped("no file system can be mounted here");
    };
    lab.results = folder.join("results.db").to_str().unwrap().to_owned();
    let filler = folder.join("filler");
    // What is left is enough for the tables and some samples.
    std::fs::write(&filler, vec![0; 750_000]).unwrap();
    let done = lab.run().expect(2);
    done.says("cannot write")
        .says("disk is full")
        .says("goes on where it stopped");
    std::fs::remove_file(&filler).unwrap();
    assert_eq!(lab.to_the_end().len(), 8 * 2);
    drop(disk);
}

#[test]
fn what_is_never_cold_is_not_measured_as_cold() {
    let lab = Lab::new(&SUITE.replace("trials = 2", "trials = 2\ncold = true"));
    let Some(_disk) = Disk::new(lab.place.path("cache"), 4000) else {
        return skipped("no file system can be mounted here");
    };
    let done = lab.run().expect(1).says("0 measured now, 8 left out");
    done.says("is on a file system in memory, where nothing is ever cold");
    assert_eq!(lab.samples(), [""; 0]);
}

#[test]
fn a_step_that_cannot_be_cold_leaves_the_others_their_samples() {
    for (step, measured) in [
        ("fill-random", "read-random"),
        ("read-random", "fill-random"),
    ] {
        let name = format!("name = \"{step}\"");
        let lab = Lab::new(&SUITE.replace(&name, &format!("{name}\ncold = true")));
        let Some(_disk) = Disk::new(lab.place.path("cache"), 4000) else {
            return skipped("no file system can be mounted here");
        };
        let done = lab.run().expect(0).says("8 measured now");
        done.says(&format!(
            "{step} cannot be cold, so it is left out of the results of stock"
        ));
        let samples = lab.samples();
        assert_eq!(samples.len(), 8);
        assert!(samples.iter().all(|s| s.contains(measured)), "{samples:?}");
    }
}

#[test]
fn an_engine_that_is_not_installed_is_named_with_what_installs_it() {
    let text = SUITE.replace("\"ours\"", "\"ours\", \"memcached\"");
    let lab = Lab::new(&text);
    // Programs are looked for on the path; none of the servers' is there.
    let empty = lab.place.path("tmp/empty");
    std::fs::create_dir(&empty).unwrap();
    if ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"]
        .iter()
        .any(|f| PathBuf::from(f).join("memcached").exists())
    {
        return skipped("memcached is where programs are always looked for");
    }
    // Whoever runs the suite as it is did not ask for it.
    let run = |more: &[&str]| {
        Done::of(
            &lab.command()
                .args(more)
                .env("PATH", &empty)
                .output()
                .unwrap(),
        )
    };
    run(&[])
        .expect(0)
        .says("memcached is not installed: apt-get install --no-install-recommends memcached")
        .says("8 measured now, 2 cannot be measured here");
    // Results of other engines are in a file of their own.
    std::fs::remove_file(&lab.results).unwrap();
    run(&["--set", "engine=stock,memcached"])
        .expect(1)
        .says("4 measured now, 2 cannot be measured here");
}

#[test]
fn a_bad_suite_file_is_told_with_its_place() {
    for (from, to, says) in [
        ("trials = 2", "trials = two", "line 4"),
        ("[options]", "[optoins]", "unknown field `optoins`"),
        ("x = \"engine\"", "x = \"motor\"", "there is no axis motor"),
    ] {
        let lab = Lab::new(&SUITE.replace(from, to));
        lab.run().expect(2).says("pairs.toml").says(says);
        assert!(!PathBuf::from(&lab.results).exists());
    }
}

/// The lab in real time, on a library that is a tenth slower: `make lab-check`.
#[test]
#[ignore = "measures time, for minutes, on a machine that should be quiet"]
fn a_tenth_is_a_tenth_and_a_copy_is_no_difference() {
    let place = Place::new();
    let slower = place.misbehaving_stock("TENTH_SLOWER");
    let copy = place.path("copy.so");
    std::fs::copy(place.path(STOCK), &copy).unwrap();
    let text = format!(
        r#"
        title = "A library, a copy of it, and one that is a tenth slower"
        kind = "sql"
        trials = 30
        [options]
        setup = """
        CREATE TABLE t(a INTEGER PRIMARY KEY, b);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200000)
        INSERT INTO t SELECT i, i*7919%1000 FROM n;
        """
        repeat = 5
        [axes]
        engine = ["stock", "copy", "slower"]
        [engines.copy]
        library = "{}"
        [engines.slower]
        library = "{slower}"
        [[step]]
        name = "scan"
        sql = "SELECT sum(b), count(*) FROM t WHERE b%3=1"
        [[step]]
        name = "sort"
        sql = "SELECT b, a FROM t ORDER BY b DESC, a LIMIT 10"
        [[step]]
        name = "look-up"
        sql = "SELECT count(*) FROM t AS x JOIN t AS y ON y.a=x.b+1 WHERE x.a<50000"
        [[chart]]
        title = "Time"
        measure = "time_per_operation"
        x = "engine"
        separate = ["step"]
        base = "stock"
        "#,
        copy.display()
    );
    let lab = Lab::at(place, &text);
    lab.run().expect(0);
    let report = lab.report();
    let mut wrong = Vec::new();
    for chart in report["charts"].as_array().unwrap() {
        for cell in chart["cells"].as_array().unwrap() {
            let speedup = &cell["speedup"];
            let Some(ratio) = speedup["ratio"].as_f64() else {
                continue;
            };
            let (low, high) = (
                speedup["low"].as_f64().unwrap(),
                speedup["high"].as_f64().unwrap(),
            );
            let (step, engine) = (chart["separate"][0][1].as_str(), cell["x"].as_str());
            let line = format!(
                "{} {}: {ratio:.4} ({low:.4} to {high:.4}), {}",
                step.unwrap(),
                engine.unwrap(),
                speedup["verdict"]
            );
            writeln!(std::io::stderr().lock(), "{line}").unwrap();
            let truth = match engine {
                Some("copy") => 1.0,
                _ => 1.0 / 1.1,
            };
            // One interval of twenty leaves out the truth; by more than a hundredth none does.
            let outside = truth < low - 0.01 || truth > high + 0.01;
            // Where a tenth is lost in the noise, the machine is too busy to tell anything.
            let lost = truth < 1.0 && speedup["verdict"] != "worse";
            if outside || lost {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
