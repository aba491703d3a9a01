//! Results files that are written, cut off, killed, and read back.

use super::*;
use crate::bench::model::Effective;
use crate::bench::report::tests::{effective, library, sample, suite, values};

/// A store in a folder of its own.
fn filled(library: &Library, path: &Path) {
    let store = Store::open(library, path, &suite("a = 1"), &Environment::this(path)).unwrap();
    let point = store
        .point(&values(&[("engine", "stock")]), &Values::new())
        .unwrap();
    store.record(point, 0, &effective("SQLite")).unwrap();
    for trial in 0..200 {
        store.record(point, trial, &sample("read", 0.5)).unwrap();
        store.finish(point, trial).unwrap();
    }
}

fn error<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(e) => format!("{e:#}"),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let environment = Environment::this(folder.path());
    let store = Store::open(&library, &path, &suite("a = 1"), &environment).unwrap();
    let axes = values(&[("threads", "8"), ("engine", "ours")]);
    let point = store
        .point(&axes, &values(&[("cache_size", "-2000")]))
        .unwrap();
    let Line::Sample(mut written) = sample("fill", 1.25) else {
        unreachable!()
    };
    written.device_written = 77;
    written.beside = 5;
    written.asked = 7;
    written.retries = 6;
    store.record(point, 3, &effective("SQLite 3.54.1")).unwrap();
    store
        .record(point, 3, &Line::Sample(written.clone()))
        .unwrap();
    store.record(point, 3, &Line::Progress(0.5)).unwrap();
    store.warn("noisy").unwrap();
    store.warn("noisy").unwrap();
    drop(store);

    let results = Results::read(&library, &path).unwrap();
    assert_eq!(results.suite, suite("a = 1"));
    assert_eq!(results.sessions[0].environment, environment);
    assert!(environment.memory > 0 && environment.processors > 0);
    let read = &results.points[0];
    assert_eq!((&read.axes, read.samples[0].trial), (&axes, 3));
    assert_eq!(read.samples[0].sample, written);
    assert_eq!(read.asked["cache_size"], "-2000");
    assert_eq!(read.effective.as_ref().unwrap().version, "SQLite 3.54.1");
    assert_eq!(results.warnings, ["noisy"]);
}

#[test]
fn a_run_goes_on_where_it_was() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let open = || Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
    let store = open();
    let (a, b) = (values(&[("engine", "a")]), values(&[("engine", "b")]));
    let first = store.point(&a, &Values::new()).unwrap();
    store.record(first, 0, &sample("fill", 1.0)).unwrap();
    store.record(first, 0, &sample("read", 1.0)).unwrap();
    store.finish(first, 0).unwrap();
    let second = store.point(&b, &Values::new()).unwrap();
    store.record(second, 0, &sample("fill", 1.0)).unwrap();
    store
        .record(second, 1, &Line::Unavailable("not installed".to_owned()))
        .unwrap();
    drop(store);

    let mut store = open();
    assert_eq!(store.point(&b, &Values::new()).unwrap(), second);
    assert_eq!(store.point(&a, &Values::new()).unwrap(), first);
    let points = [&a, &b].map(|axes| (axes, Values::new()));
    store.prepare(points.into_iter()).unwrap();
    assert_eq!(store.finished().unwrap(), BTreeSet::from([(first, 0)]));
    assert!(store.is_done(0, 0) && !store.is_done(0, 1) && !store.is_done(1, 0));
    let mut samples = Vec::new();
    let mut each = |point, sample: &Sample| samples.push((point, sample.step.clone()));
    store.samples(&mut each).unwrap();
    assert_eq!(samples.len(), 3);
    assert_eq!(store.results().unwrap().points[1].problems.len(), 1);
    // The half trial is measured again.
    store.record(second, 0, &sample("fill", 2.0)).unwrap();
    store.finish(second, 0).unwrap();
    let results = store.results().unwrap();
    assert_eq!(results.sessions.len(), 2);
    assert_eq!(results.points[1].samples.len(), 1);
    assert_eq!(results.points[1].samples[0].sample.seconds, 2.0);
    assert_eq!(results.points[1].problems, []);
}

#[test]
fn results_of_another_build_are_not_mixed() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let axes = ["stock", "ours", "lmdb"].map(|e| values(&[("engine", e)]));
    let open = |stock: &str, ours: &str| {
        let environment = Environment::default();
        let mut store = Store::open(&library, &path, &suite("a = 1"), &environment)?;
        let points = axes.iter().map(|axes| (axes, Values::new()));
        store.prepare(points)?;
        let builds = [("stock", stock), ("ours", ours)].map(|build| values(&[build]));
        store.built(&[&builds[..], &[Values::new()]].concat())?;
        anyhow::Ok(store)
    };
    let is = |version: &str| {
        Line::Ready(Effective {
            version: version.to_owned(),
            ..Effective::default()
        })
    };
    let mut store = open("aa", "bb").unwrap();
    store.line(0, 1, &sample("fill", 1.0)).unwrap();
    store.line(2, 1, &is("LMDB 0.9.31")).unwrap();
    store.line(2, 1, &sample("fill", 1.0)).unwrap();
    drop(store);
    // Of ours there is no sample yet.
    let mut store = open("aa", "cc").unwrap();
    store.line(1, 1, &sample("fill", 1.0)).unwrap();
    drop(store);
    let e = error(open("aa", "dd"));
    for part in ["r.db", "another build of ours", "cc", "dd", "--results"] {
        assert!(e.contains(part), "{e}");
    }
    let mut store = open("aa", "cc").unwrap();
    assert_eq!(store.results().unwrap().sessions.len(), 3);
    store.line(2, 2, &is("LMDB 0.9.31 (a tree)")).unwrap();
    let e = error(store.line(2, 2, &is("LMDB 0.9.32")));
    assert!(
        e.contains("LMDB 0.9.31") && e.contains("LMDB 0.9.32 now"),
        "{e}"
    );
    assert!(store.line(1, 2, &is("SQLite 3.54.1")).is_ok());
}

#[test]
fn a_step_that_was_left_out_stays_so_and_has_no_samples() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let axes = ["a", "b"].map(|engine| values(&[("engine", engine)]));
    let open = || {
        let environment = Environment::default();
        let mut store = Store::open(&library, &path, &suite("a = 1"), &environment).unwrap();
        let points = axes.iter().map(|axes| (axes, Values::new()));
        store.prepare(points).unwrap();
        store
    };
    let mut store = open();
    for (point, step) in [(0, "slow"), (1, "slow"), (1, "quick")] {
        store.line(point, 1, &sample(step, 1.0)).unwrap();
    }
    let late = Line::LeftOut {
        step: "slow".to_owned(),
        why: "it takes more than 1 s".to_owned(),
    };
    store.line(1, 2, &late).unwrap();
    drop(store);
    let store = open();
    let left_out = BTreeSet::from([(1, "slow".to_owned())]);
    assert_eq!(store.left_out().unwrap(), left_out);
    let results = store.results().unwrap();
    let steps = |p: usize| -> Vec<&str> {
        let samples = results.points[p].samples.iter();
        samples.map(|s| s.sample.step.as_str()).collect()
    };
    assert_eq!((steps(0), steps(1)), (vec!["slow"], vec!["quick"]));
    assert_eq!(results.warnings, ["it takes more than 1 s"]);
}

#[test]
fn a_run_that_is_killed_loses_no_sample() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let (path, copy) = (folder.path().join("r.db"), folder.path().join("killed.db"));
    let store = Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
    let point = store.point(&Values::new(), &Values::new()).unwrap();
    for trial in 0..20 {
        store.record(point, trial, &sample("read", 1.0)).unwrap();
    }
    // What a process that is killed just now leaves behind.
    for end in ["", "-wal"] {
        let name = |p: &Path| PathBuf::from(format!("{}{end}", p.display()));
        std::fs::copy(name(&path), name(&copy)).unwrap();
    }
    let left = Results::read(&library, &copy).unwrap();
    assert_eq!(left.points[0].samples.len(), 20);
}

#[test]
fn only_one_run_writes() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let open = || Store::open(&library, &path, &suite("a = 1"), &Environment::default());
    let first = open().unwrap();
    assert!(error(open()).ends_with("another run is writing into it"));
    assert!(
        Results::read(&library, &path).is_ok(),
        "reports may be made meanwhile"
    );
    drop(first);
    assert!(open().is_ok());
}

#[test]
fn a_closed_file_is_one_ordinary_file() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    filled(&library, &folder.path().join("r.db"));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn results_of_another_suite_are_not_mixed() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    filled(&library, &path);
    let other = StoredSuite {
        name: "writes".to_owned(),
        text: "b = 2".to_owned(),
    };
    let e = error(Store::open(
        &library,
        &path,
        &other,
        &Environment::default(),
    ));
    assert!(
        e.contains("'look-ups'") && e.contains("'writes'") && e.contains("r.db"),
        "{e}"
    );
}

#[test]
fn a_file_that_is_cut_off_or_no_results_gives_a_clear_error() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let both = || {
        let written = Store::open(&library, &path, &suite("a = 1"), &Environment::default());
        [error(written), error(Results::read(&library, &path))]
    };
    let missing = error(Results::read(&library, &path));
    assert!(
        missing.starts_with("cannot read") && missing.contains("r.db"),
        "{missing}"
    );

    filled(&library, &path);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    for e in both() {
        assert!(
            e.contains("r.db") && e.contains("damaged or was cut off"),
            "{e}"
        );
    }
    std::fs::write(
        &path,
        "no database at all, but long enough for a header".repeat(20),
    )
    .unwrap();
    for e in both() {
        assert!(e.contains("r.db") && e.contains("no results file"), "{e}");
    }
    std::fs::remove_file(&path).unwrap();
    let db = library.open(&path, OPEN_READWRITE | OPEN_CREATE).unwrap();
    db.exec("CREATE TABLE t(x)").unwrap();
    drop(db);
    for e in both() {
        assert!(e.contains("no results file"), "{e}");
    }
    std::fs::write(&path, "").unwrap();
    assert!(error(Results::read(&library, &path)).contains("no results file"));
}

#[test]
fn allocations_are_kept_and_the_first_files_have_none() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    let counted = |n| match sample("read", 0.5) {
        Line::Sample(s) => Line::Sample(Sample {
            allocations: n,
            allocated: 10 * n,
            ..s
        }),
        other => other,
    };
    {
        let store = Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
        let axes = values(&[("engine", "mattn")]);
        let point = store.point(&axes, &Values::new()).unwrap();
        for n in [7, 5] {
            store.record(point, 1, &counted(n)).unwrap();
        }
    }
    let found = || {
        let points = Results::read(&library, &path).unwrap().points;
        let sample = &points[0].samples[0].sample;
        (
            points[0].samples.len(),
            sample.allocations,
            sample.allocated,
        )
    };
    assert_eq!(found(), (1, 5, 50));
    let db = library.open(&path, OPEN_READWRITE).unwrap();
    db.exec("DROP TABLE allocation").unwrap();
    drop(db);
    assert_eq!(found(), (1, 0, 0));
}

#[test]
fn a_file_of_a_newer_version_is_named_as_such() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let path = folder.path().join("r.db");
    filled(&library, &path);
    let db = library.open(&path, OPEN_READWRITE).unwrap();
    db.exec("PRAGMA user_version=99").unwrap();
    drop(db);
    let e = error(Results::read(&library, &path));
    assert!(e.contains("format 99") && e.contains("newer"), "{e}");
}
