//! Reports of made-up samples, by way of a real results file.

use super::*;
use crate::bench::model::{Effective, Values};
use crate::bench::model::{Line, Sample};
use crate::bench::store::{Environment, Store};
use crate::bench::suite::chart::{ChartPlan, Measure, Presentation};
use crate::bench::suite::chart::{ChartShape, Interval};
use crate::picture;
use std::collections::BTreeMap;

/// The stock library.
pub fn library() -> Library {
    crate::libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so")
}

pub fn values(pairs: &[(&str, &str)]) -> Values {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

pub fn suite(text: &str) -> StoredSuite {
    StoredSuite {
        name: "look-ups".to_owned(),
        text: text.to_owned(),
    }
}

pub fn sample(step: &str, seconds: f64) -> Line {
    Line::Sample(Sample {
        step: step.to_owned(),
        seconds,
        user: seconds * 0.6,
        system: seconds * 0.3,
        operations: 10_000,
        bytes: 1_000_000,
        peak_memory: 12_000_000,
        space: 4_000_000,
        answer: "5e1f".to_owned(),
        percentiles: values(&[("50", "0.0000021"), ("99", "0.0000093")]),
        ..Sample::default()
    })
}

pub fn effective(version: &str) -> Line {
    Line::Ready(Effective {
        version: version.to_owned(),
        settings: values(&[("journal_mode", "wal"), ("synchronous", "1")]),
        durability: "a power cut may lose the last transactions".to_owned(),
    })
}

/// What disturbs the machine in a trial, the same for all in it, and what is of each alone.
fn noise(trial: u32, of: u32) -> f64 {
    let common = [1.0, 1.06, 0.97, 1.02, 1.1, 0.99, 1.03, 1.01, 0.98, 1.04];
    let own = [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003, -0.002];
    common[trial as usize % 10] * (1.0 + own[((trial * 3 + of * 5) % 8) as usize])
}

/// A results file with a point for each (engine, seconds) and value of the axis `rows`.
fn results(engines: &[(&str, f64)], sizes: &[&str], trials: u32) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    let path = folder.path().join("results.db");
    let environment = Environment::this(folder.path());
    let store = Store::open(&library, &path, &suite("x = 1"), &environment).unwrap();
    for trial in 0..trials {
        for (nth, (engine, seconds)) in (0..).zip(engines) {
            for (i, size) in (1..).zip(sizes) {
                let axes = values(&[("engine", engine), ("rows", size)]);
                let point = store
                    .point(&axes, &values(&[("journal_mode", "WAL")]))
                    .unwrap();
                let version = match *engine {
                    "stock" => "SQLite 3.54.1",
                    other => other,
                };
                store.record(point, trial, &effective(version)).unwrap();
                let seconds = seconds * f64::from(i) * noise(trial, nth);
                store
                    .record(point, trial, &sample("read", seconds))
                    .unwrap();
                store.finish(point, trial).unwrap();
            }
        }
    }
    store.results().unwrap()
}

fn plan(x: &str, series: Option<&str>, base: Option<&str>) -> ChartPlan {
    ChartPlan {
        title: "Random reads".to_owned(),
        about: String::new(),
        measure: Measure::TimePerOperation,
        x: x.to_owned(),
        series: series.map(str::to_owned),
        separate: Vec::new(),
        base: base.map(str::to_owned),
        only: BTreeMap::new(),
        interval: Interval::Quartiles,
        shape: None,
        break_even: Vec::new(),
        names: Values::new(),
    }
}

fn presented(charts: &[ChartPlan]) -> Presentation {
    Presentation {
        charts: charts.to_owned(),
        ..Presentation::default()
    }
}

fn report(results: Results, plan: ChartPlan) -> Report {
    Report::build(results, None, presented(&[plan]), TOLERANCE)
}

/// A chart of the times of engines at sizes.
pub fn line_chart(
    sizes: &[&str],
    engines: &[(&str, &[f64])],
    trials: u32,
    change: impl FnOnce(&mut ChartPlan),
) -> Chart {
    let names: Vec<(&str, f64)> = engines.iter().map(|(name, _)| (*name, 1.0)).collect();
    let mut results = results(&names, sizes, trials);
    for point in &mut results.points {
        let times = engines
            .iter()
            .find(|(name, _)| *name == point.axes["engine"]);
        let at = sizes.iter().position(|size| *size == point.axes["rows"]);
        let seconds = times.unwrap().1[at.unwrap()];
        for recorded in &mut point.samples {
            recorded.sample.seconds *= seconds / (at.unwrap() + 1) as f64;
        }
    }
    let mut plan = plan("rows", Some("engine"), None);
    change(&mut plan);
    report(results, plan).charts.pop().expect("one chart")
}

fn printed(report: &Report) -> String {
    let mut out = Vec::new();
    terminal::print(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn two_copies_of_the_same_library_are_no_difference() {
    let report = report(
        results(&[("stock", 0.02), ("copy", 0.02)], &["1000"], 10),
        plan("engine", None, Some("stock")),
    );
    let cell = report.charts[0].cell("copy", "").unwrap();
    assert_eq!(cell.speedup.unwrap().verdict, Verdict::NoDifference);
    assert!(printed(&report).contains("no difference"));
}

#[test]
fn what_varies_too_much_is_too_noisy_to_tell() {
    let mut results = results(&[("stock", 0.02), ("copy", 0.02)], &["1000"], 10);
    for point in &mut results.points {
        let copy = point.axes["engine"] == "copy";
        for (i, recorded) in point.samples.iter_mut().enumerate() {
            // 8 µs beside 31 µs, now for the one and now for the other.
            let is_slow = (i % 2 == 0) == copy;
            recorded.sample.seconds = if is_slow { 31e-6 } else { 8e-6 };
        }
    }
    let report = report(results, plan("engine", None, Some("stock")));
    let cell = report.charts[0].cell("copy", "").unwrap();
    assert_eq!(cell.speedup.unwrap().verdict, Verdict::TooNoisy);
    let printed = printed(&report);
    assert!(printed.contains("too noisy to tell (0."), "{printed}");
    assert!(!printed.contains("no difference"), "{printed}");
}

#[test]
fn ten_per_cent_are_reported_as_ten_per_cent() {
    let report = report(
        results(&[("stock", 0.02), ("delayed", 0.022)], &["1000"], 10),
        plan("engine", None, Some("stock")),
    );
    let chart = &report.charts[0];
    let s = chart.cell("delayed", "").unwrap().speedup.unwrap();
    assert_eq!(s.verdict, Verdict::Worse);
    assert!(
        s.speedup.low <= 1.0 / 1.1 && 1.0 / 1.1 <= s.speedup.high,
        "{s:?}"
    );
    assert!(
        s.words(&chart.plan.measure).ends_with(", 10 % more time"),
        "{s:?}"
    );
    assert!(chart.cell("stock", "").unwrap().is_base);
}

#[test]
fn a_rate_that_is_ten_per_cent_higher_is_better() {
    let mut plan = plan("engine", None, Some("stock"));
    plan.measure = Measure::OperationsPerSecond;
    let report = report(
        results(&[("stock", 0.022), ("quick", 0.02)], &["1000"], 10),
        plan,
    );
    let s = report.charts[0].cell("quick", "").unwrap().speedup.unwrap();
    assert_eq!(s.verdict, Verdict::Better);
    assert!(s.speedup.low <= 1.1 && 1.1 <= s.speedup.high, "{s:?}");
}

#[test]
fn few_trials_tell_no_difference() {
    let report = report(
        results(&[("stock", 0.02), ("delayed", 0.04)], &["1000"], 3),
        plan("engine", None, Some("stock")),
    );
    let cell = report.charts[0].cell("delayed", "").unwrap();
    assert_eq!(cell.speedup.unwrap().verdict, Verdict::Unknown);
    assert!(
        report.warnings[0].contains("fewer than 5 trials"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn what_got_slower_since_is_marked_and_makes_the_status() {
    let engines = [("stock", 0.02), ("ours", 0.01)];
    let old = results(&engines, &["1000", "2000"], 7);
    let plans = [plan("rows", Some("engine"), None)];
    let same = Report::build(
        results(&engines, &["1000", "2000"], 7),
        Some(&old),
        presented(&plans),
        TOLERANCE,
    );
    assert_eq!(same.status(), NOT_SLOWER);
    assert!(
        same.verdict()[0].starts_with("None of 4 results differs"),
        "{:?}",
        same.verdict()
    );

    let new = results(&[("stock", 0.02), ("ours", 0.012)], &["1000", "2000"], 7);
    let slower = Report::build(new, Some(&old), presented(&plans), TOLERANCE);
    assert_eq!(slower.status(), SLOWER);
    let worse: Vec<&str> = slower
        .changed(Verdict::Worse)
        .iter()
        .map(|(_, c)| c.series.as_str())
        .collect();
    assert_eq!(worse, ["ours", "ours"]);
    assert!(printed(&slower).contains("20 % more time"));
    assert!(html::page(&slower).contains("class=\"differs\""));
}

#[test]
fn ignored_settings_are_shown_as_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    let path = folder.path().join("results.db");
    let store = Store::open(&library, &path, &suite(""), &Environment::default()).unwrap();
    let asked = values(&[
        ("journal_mode", "WAL"),
        ("synchronous", "full"),
        ("mmap_size", "256MiB"),
    ]);
    let point = store
        .point(&values(&[("engine", "stock")]), &asked)
        .unwrap();
    store.record(point, 0, &effective("SQLite 3.54.1")).unwrap();
    store.record(point, 0, &sample("read", 0.01)).unwrap();
    let report = report(store.results().unwrap(), plan("engine", None, None));
    let words = [
        "mmap_size=256MiB was ignored, it is not known",
        "synchronous=full was ignored, it is 1",
    ];
    for text in [printed(&report), html::page(&report)] {
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
        assert!(!text.contains("journal_mode=WAL was"), "{text}");
    }
}

#[test]
fn numbers_make_lines_and_names_make_bars() {
    let engines = [("stock", 0.02), ("ours", 0.01)];
    let three = results(&engines, &["1 kB", "100 kB", "10 MB"], 5);
    let lines = report(three.clone(), plan("rows", Some("engine"), Some("stock")));
    assert_eq!(lines.charts[0].shape, ChartShape::Lines);
    assert_eq!(lines.charts[0].xs, ["1 kB", "100 kB", "10 MB"]);
    let svg = draw::values(&lines, &lines.charts[0], true).file();
    assert!(svg.contains("logarithmic"), "{svg}");
    let bars = report(three, plan("engine", Some("rows"), None));
    assert_eq!(bars.charts[0].shape, ChartShape::Bars);
}

#[test]
fn different_things_are_never_mixed_in_one_bar() {
    let both = results(&[("stock", 0.02)], &["1000", "2000"], 5);
    let report = report(both, plan("engine", None, None));
    let titles: Vec<String> = report.charts.iter().map(Chart::title).collect();
    assert_eq!(
        titles,
        ["Random reads: rows 1000", "Random reads: rows 2000"]
    );
}

#[test]
fn charts_are_made_for_a_suite_that_names_none() {
    let results = results(&[("stock", 0.02), ("ours", 0.01)], &["1", "2", "4"], 5);
    let report = Report::build(results, None, Presentation::default(), TOLERANCE);
    let chart = &report.charts[0];
    assert_eq!(
        (chart.plan.x.as_str(), chart.plan.series.as_deref()),
        ("rows", Some("engine"))
    );
    assert!(chart.cell("4", "ours").unwrap().speedup.is_some());
}

#[test]
fn unavailable_and_failed_points_are_listed_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    let path = folder.path().join("results.db");
    let store = Store::open(&library, &path, &suite(""), &Environment::default()).unwrap();
    for (engine, rows) in [("stock", "1"), ("qdbm", "1"), ("qdbm", "2")] {
        let axes = values(&[("engine", engine), ("rows", rows)]);
        let point = store.point(&axes, &Values::new()).unwrap();
        let line = match engine {
            "stock" => Line::Failed("the disk is full".to_owned()),
            _ => Line::Unavailable("apt-get install libqdbm14".to_owned()),
        };
        store.record(point, 0, &line).unwrap();
    }
    let report = Report::build(
        store.results().unwrap(),
        None,
        Presentation::default(),
        TOLERANCE,
    );
    let markdown = markdown::page(std::slice::from_ref(&report));
    for text in [printed(&report), html::page(&report), markdown] {
        assert!(text.contains("qdbm (2 points)"), "{text}");
        assert!(text.contains("apt-get install libqdbm14"), "{text}");
        assert!(
            text.contains("stock, 1") && text.contains("the disk is full"),
            "{text}"
        );
    }
}

#[test]
fn hostile_names_are_escaped_everywhere() {
    let hostile = "</title></svg><script>alert('1')</script>\u{1b}[2J\0\u{202e}\",\"x\n=1";
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    let path = folder.path().join("results.db");
    let suite = StoredSuite {
        name: hostile.to_owned(),
        text: hostile.to_owned(),
    };
    let store = Store::open(&library, &path, &suite, &Environment::default()).unwrap();
    let axes = values(&[("engine", hostile), (hostile, hostile)]);
    let point = store.point(&axes, &values(&[(hostile, hostile)])).unwrap();
    store.record(point, 0, &effective(hostile)).unwrap();
    store.record(point, 0, &sample(hostile, 0.1)).unwrap();
    store
        .record(point, 1, &Line::Failed(hostile.to_owned()))
        .unwrap();
    store.warn(hostile).unwrap();
    let mut plan = plan(hostile, Some("engine"), Some(hostile));
    plan.title = hostile.to_owned();
    let report = report(store.results().unwrap(), plan);

    let page = html::page(&report);
    assert!(
        !page.contains("<script") && !page.contains(['\u{1b}', '\0', '\u{202e}']),
        "{page}"
    );
    assert_eq!(
        page.matches("</title>").count(),
        page.matches("<title>").count()
    );
    let text = printed(&report);
    assert!(!text.contains(['\u{1b}', '\0', '\u{202e}']), "{text:?}");
    for (name, svg) in draw::all(&report) {
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
            "{name}"
        );
        assert!(!svg.file().contains("<script"));
        assert!(picture::png(&svg).unwrap().starts_with(b"\x89PNG"));
    }
    let samples = files::samples(&report.results).unwrap();
    let mut read = csv::Reader::from_reader(&samples[..]);
    let rows: Vec<csv::StringRecord> = read.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(&rows[0][0], hostile);
    assert!(serde_json::to_string(&report).is_ok());
}

#[test]
fn every_sample_is_in_the_files() {
    let report = report(
        results(&[("stock", 0.02), ("ours", 0.01)], &["1000"], 6),
        plan("engine", None, Some("stock")),
    );
    let lines = |csv: Vec<u8>| String::from_utf8(csv).unwrap().lines().count();
    assert_eq!(lines(files::samples(&report.results).unwrap()), 1 + 12);
    assert_eq!(lines(files::summaries(&report).unwrap()), 1 + 2);
    let json: serde_json::Value =
        serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(
        json["results"]["points"][1]["samples"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    assert_eq!(
        json["charts"][0]["cells"][1]["speedup"]["verdict"],
        "better"
    );
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = html::page(&report(
        results(&[("stock", 0.02), ("ours", 0.01)], &["1000"], 6),
        plan("engine", None, Some("stock")),
    ));
    for outside in [
        "http://", "https://", "url(", "@import", "<script", "<link", "src=",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Two charts, each for wide and for narrow windows.
    assert_eq!(page.matches("<svg class=\"for-wide\"").count(), 2);
    assert_eq!(page.matches("<svg class=\"for-narrow\"").count(), 2);
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.contains("a power cut may lose the last transactions"));
}

#[test]
fn an_engine_has_one_colour_in_every_chart() {
    // Ours stands first, last, beside others, as a series and as a bar of its own.
    let here = |engines: &[(&str, f64)], plan: ChartPlan| {
        let report = report(results(engines, &["1000"], 6), plan);
        draw::values(&report, &report.charts[0], true).file()
    };
    let two = [("stock", 0.02), ("ours", 0.01)];
    let three = [("ours", 0.01), ("lmdb", 0.01), ("stock", 0.02)];
    for svg in [
        here(&two, plan("rows", Some("engine"), Some("stock"))),
        here(&three, plan("rows", Some("engine"), None)),
        here(&two, plan("engine", None, Some("stock"))),
        here(&three, plan("engine", None, None)),
    ] {
        assert!(svg.contains("<rect class=\"ours\""), "{svg}");
        assert!(svg.contains("<rect class=\"stock\""), "{svg}");
    }
    let alone = here(&[("ours", 0.01)], plan("rows", None, None));
    assert!(alone.contains("<rect class=\"ours\""), "{alone}");
    assert!(!alone.contains("<rect class=\"stock\""), "{alone}");
}

#[test]
fn a_page_has_names_in_its_legends_and_settings_folded_away() {
    let mut plan = plan("rows", Some("engine"), Some("stock"));
    plan.names = values(&[("ours", "HP SQLite"), ("stock", "SQLite")]);
    let report = report(
        results(&[("stock", 0.02), ("ours", 0.01)], &["1000"], 6),
        plan,
    );
    let page = html::page(&report);
    assert!(page.contains(">HP SQLite</text>"));
    // What shows where a mouse rests is not in the way.
    let without_hint = |part: &str| match part.split_once("</title>") {
        Some((_hint, rest)) => rest.to_owned(),
        None => part.to_owned(),
    };
    let page: String = page.split("<title>").map(without_hint).collect();
    let mut open = page.as_str();
    let mut folded = String::new();
    while let Some((before, rest)) = open.split_once("<details") {
        let (inside, after) = rest.split_once("</details>").unwrap();
        assert!(!before.contains("journal_mode"), "{before}");
        folded += inside;
        open = after;
    }
    assert!(!open.contains("journal_mode"), "{open}");
    assert!(folded.contains("journal_mode"), "{folded}");
}

#[test]
fn many_bars_with_long_names_are_drawn() {
    let names: Vec<String> = (0..25)
        .map(|i| {
            format!("MariaDB InnoDB, PARTITION BY KEY in 10, a file a table, by TCP, variant {i}")
        })
        .collect();
    let engines: Vec<(&str, f64)> = names.iter().map(|n| (n.as_str(), 0.01)).collect();
    let sizes: Vec<String> = (0..8).map(|i| format!("size {i}")).collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let report = report(
        results(&engines, &sizes, 1),
        plan("engine", Some("rows"), None),
    );
    let svg = draw::values(&report, &report.charts[0], true);
    assert_eq!(svg.file().matches("rx=\"2\"").count(), 200 + 8);
    assert!(picture::png(&svg).is_ok());
}

#[test]
fn a_wrong_answer_is_told_and_makes_the_status() {
    let sides = [("stock", 1.0), ("ours", 0.5)];
    let plans = [plan("rows", Some("engine"), Some("stock"))];
    let right = Report::build(
        results(&sides, &["10", "20"], 5),
        None,
        presented(&plans),
        TOLERANCE,
    );
    assert_eq!((right.status(), right.differing.len()), (NOT_SLOWER, 0));

    let mut wrong = results(&sides, &["10", "20"], 5);
    let spoiled = wrong
        .points
        .iter_mut()
        .find(|p| p.axes["engine"] == "ours" && p.axes["rows"] == "20");
    spoiled.unwrap().samples[3].sample.answer = "0bad".to_owned();
    let report = Report::build(wrong, None, presented(&plans), TOLERANCE);
    assert_eq!(report.status(), SLOWER);
    assert_eq!(
        report.warnings[0],
        "Different answers: read, rows 20: ours gives 0bad, stock gave 5e1f."
    );
    assert_eq!(report.differing.len(), 1);
}

#[test]
fn several_reports_make_a_page_of_markdown() {
    let sides = [("stock", 0.02), ("ours", 0.01)];
    let mut first = report(
        results(&sides, &["1000", "2000"], 6),
        plan("rows", Some("engine"), Some("stock")),
    );
    first.title = "Look-ups | by *key*".to_owned();
    first.about = "What <b>it</b> is.".to_owned();
    first.command = "hpsqlite bench run look-ups".to_owned();
    // What comes last is neither the fewest trials nor the only day.
    first.charts[0].cells[0].values.pop_last();
    let again = first.results.sessions[0].clone();
    first.results.sessions.push(again);
    first.results.sessions[0].began = "2026-11-21 23:59:00".to_owned();
    first.results.sessions[1].began = "2026-11-22 00:01:00".to_owned();
    let mut last = report(
        results(&sides, &["1000"], 6),
        plan("rows", Some("engine"), None),
    );
    first.charts.append(&mut last.charts);
    let second = report(
        results(&sides, &["1000"], 6),
        plan("engine", None, Some("stock")),
    );
    let page = markdown::page(&[first, second]);

    assert!(page.contains(
        "[Look-ups \\| by \\*key\\*](#look-ups--by-key) | ours 2 of 2 better, 0 worse \
         | `hpsqlite bench run look-ups` \
         | 5 to 6 trials | 2026-11-21 to 2026-11-22 |"
    ));
    assert!(page.contains("What \\<b\\>it\\</b\\> is."));
    // The claims come first, all tables are folded away.
    let claim = page
        .find("\n* ours against stock: of 2 results 2 better (at best ")
        .unwrap();
    let folded = page.find("<details><summary>Tables</summary>").unwrap();
    let table = page.find("\n| rows | stock | ours |").unwrap();
    assert!(claim < folded && folded < table, "{page}");
    assert_eq!(
        page.matches("<details>").count(),
        page.matches("</details>").count()
    );
    assert!(
        page.contains("| rows | stock | ours |\n|---|--:|--:|\n| 1000 | "),
        "{page}"
    );
    assert!(
        page.contains("| engine | time an operation | against stock | what a crash may lose |")
    );
    assert!(page.contains("a power cut may lose the last transactions"));
    assert_eq!(page.matches("\n## ").count(), 2);
    // Both were measured on one machine, which is described once.
    assert_eq!(page.matches("\n[1] ").count(), 1);
    assert!(!page.contains("[2]"));
}

/// Where nothing is compared with one engine, it is said which was best, and how often.
#[test]
fn the_best_of_several_engines_is_a_claim() {
    let engines = [("stock", 0.02), ("ours", 0.01), ("third", 0.03)];
    let by = |x: &str, series: Option<&str>| {
        let made = results(&engines, &["1000", "2000"], 6);
        claims::sentences(&report(made, plan(x, series, None)))
    };
    let words = "Time an operation, the best of up to 3 engines in 2 comparisons: ours in 2.";
    assert_eq!(by("rows", Some("engine")), [words]);
    assert_eq!(by("engine", Some("rows")), [words]);
    assert_eq!(by("engine", None), [words]);
    let two = report(
        results(&engines[..2], &["1000"], 6),
        plan("engine", None, None),
    );
    assert_eq!(
        (claims::sentences(&two).len(), claims::figures(&two).len()),
        (0, 0)
    );
}

/// A table is the sum of its steps in each trial; what ran out of time is reckoned, and said to be.
#[test]
fn a_table_sums_steps_and_says_what_it_rests_on() {
    let mut made = results(&[("stock", 0.02), ("ours", 0.01)], &["10"], 5);
    for point in &mut made.points {
        let more: Vec<_> = point.samples.clone();
        for mut recorded in more {
            recorded.sample.step = "fill".to_owned();
            recorded.sample.seconds = 1.0;
            if point.axes["engine"] == "ours" {
                recorded.sample.asked = recorded.sample.operations * 4;
            }
            point.samples.push(recorded);
        }
    }
    let text = r#"
        title = "Both steps"
        steps = ["read", "fill"]
        only = { rows = "10" }
        column = [
          { name = "SQLite", only = { engine = "stock" } },
          { name = "HP SQLite", only = { engine = "ours" } },
          { name = "No such", only = { engine = "none" } },
          { name = "QDBM", text = "impossible" },
        ]
        row = [{ name = "here" }, { name = "2008", cells = ["1 s", "2 s", "3 s", "4 s"] }]
        names = { fill = "filling" }
    "#;
    let tables = vec![toml::from_str(text).unwrap()];
    let presentation = Presentation {
        tables,
        ..Presentation::default()
    };
    let report = Report::build(made, None, presentation, TOLERANCE);
    let table = &report.tables[0];
    let cells = &table.rows[0].cells;
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a / b - 1.0).abs() < 0.1);
    assert!(
        near(cells[0].median, 1.02) && near(cells[1].median, 4.01),
        "{cells:?}"
    );
    assert_eq!(
        (cells[0].trials, &cells[0].notes, &cells[1].notes),
        (5, &vec![1], &vec![1, 2])
    );
    assert_eq!(
        (&*cells[2].text, &*cells[3].text),
        ("not measured", "impossible")
    );
    assert_eq!(table.rows[1].cells[2].text, "3 s");
    assert_eq!(
        table.notes[0],
        "A power cut may lose the last transactions."
    );
    assert!(table.notes[1].starts_with("Reckoned"), "{table:?}");
    assert!(
        table.steps.contains("filling, 40,000 times"),
        "{}",
        table.steps
    );
    let markdown = markdown::page(std::slice::from_ref(&report));
    for text in [printed(&report), html::page(&report), markdown] {
        assert!(
            text.contains("Both steps") && text.contains("4 s"),
            "{text}"
        );
    }
    let chart = report.charts.iter().find_map(Chart::cut).unwrap();
    assert!(chart.contains("10,000 of 40,000"), "{chart}");
}

/// A column for each combination of the values of axes, and rows of other measures than the table's.
#[test]
fn a_table_has_a_column_for_each_value_of_axes() {
    let mut made = results(&[("stock", 0.02), ("ours", 0.01)], &["10", "20"], 3);
    for sample in made.points.iter_mut().flat_map(|p| &mut p.samples) {
        sample.sample.allocations = 210_000;
        sample.sample.allocated = 30_000_000;
    }
    let text = r#"
        title = "Each"
        measure = "time_per_operation"
        steps = ["read"]
        each = ["rows", "engine"]
        row = [
          { name = "time" },
          { name = "allocations", measure = "allocations" },
          { name = "bytes of 20", only = { rows = "20" }, measure = "allocated" },
        ]
        names = { ours = "HP SQLite" }
    "#;
    let presentation = Presentation {
        tables: vec![toml::from_str(text).unwrap()],
        ..Presentation::default()
    };
    let report = Report::build(made, None, presentation, TOLERANCE);
    let table = &report.tables[0];
    assert_eq!(
        table.columns,
        ["10, stock", "20, stock", "10, HP SQLite", "20, HP SQLite"]
    );
    let texts = |row: usize| -> Vec<&str> {
        let cells = table.rows[row].cells.iter();
        cells.map(|c| c.text.as_str()).collect()
    };
    assert!(texts(0)[0].ends_with("µs"), "{:?}", texts(0));
    assert_eq!(texts(1), ["21"; 4]);
    // A row says more than its column.
    assert_eq!(texts(2), ["3.0 kB"; 4]);
    assert_eq!(table.steps, "");
}

#[test]
fn many_steps_come_to_a_geometric_mean() {
    let words = "ours: 1.00x as fast as stock in the geometric mean of 3 steps, 4.00x at best and 0.25x at worst.";
    assert_eq!(said_of_steps(&["stock", "ours"], ""), words);
    // What one engine did not finish counts for none.
    let words = "in the geometric mean of the 3 of 4 steps that all engines finished, 4.00x at best and 0.25x at worst.";
    let said = said_of_steps(&["stock", "ours", "third"], "third");
    assert_eq!(said.matches(words).count(), 2, "{said}");
}

/// What stands below a chart of three steps, and of one that an engine has not finished.
fn said_of_steps(engines: &[&str], unfinished: &str) -> String {
    let engines: Vec<_> = engines.iter().map(|e| (*e, 0.02)).collect();
    let mut made = results(&engines, &["10"], 5);
    for (step, times) in [("b", 4.0), ("c", 0.25), ("d", 1.0), ("e", 100.0)] {
        for point in &mut made.points {
            if step == "e" && (unfinished.is_empty() || point.axes["engine"] == unfinished) {
                continue;
            }
            let ours = point.axes["engine"] != "stock";
            let more: Vec<_> = point
                .samples
                .iter()
                .filter(|s| s.sample.step == "read")
                .cloned()
                .collect();
            for mut recorded in more {
                recorded.sample.step = step.to_owned();
                recorded.sample.seconds = if ours { 1.0 / times } else { 1.0 };
                point.samples.push(recorded);
            }
        }
    }
    for point in &mut made.points {
        point.samples.retain(|s| s.sample.step != "read");
    }
    let report = report(made, plan("step", Some("engine"), Some("stock")));
    let findings: Vec<&str> = report.charts[0].findings().collect();
    let markdown = markdown::page(std::slice::from_ref(&report));
    for text in [printed(&report), html::page(&report), markdown] {
        assert!(findings.iter().all(|f| text.contains(f)), "{text}");
    }
    findings.join("\n")
}
