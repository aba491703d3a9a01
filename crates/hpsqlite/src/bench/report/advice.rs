//! What a reader should know of results: what is missing, noisy, or was measured elsewhere.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::{Chart, ChartCell};
use super::cut::varying;
use super::verdict::MIN_TRIALS;
use crate::bench::store::{Environment, ProblemKind, Results, RunSession, StoredPoint};
use crate::text;

/// Times whose quartiles are further from the median than this share of it are warned of.
const NOISE: f64 = 0.1;
/// A first trial slower by this than the slowest of the others was not warmed up.
const FIRST: f64 = 1.3;

/// What could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    pub kind: ProblemKind,
    pub reason: String,
    /// What the points have in common, and how many they are.
    pub what: String,
}

/// What was not measured, the same reason once.
pub fn missing(results: &Results) -> Vec<Missing> {
    let mut reasons: BTreeMap<(ProblemKind, &str), Vec<&StoredPoint>> = BTreeMap::new();
    for point in &results.points {
        for problem in &point.problems {
            let points = reasons.entry((problem.kind, &problem.reason)).or_default();
            if !points.iter().any(|p| p.id == point.id) {
                points.push(point);
            }
        }
    }
    let varying = varying(results);
    reasons
        .into_iter()
        .map(|((kind, reason), points)| {
            // What these have in common, and others have not.
            let common = varying.iter().filter_map(|(axis, _)| {
                let value = points[0].axes.get(axis)?;
                let same = points.iter().all(|p| p.axes.get(axis) == Some(value));
                same.then(|| value.clone())
            });
            let common = common.collect::<Vec<_>>().join(", ");
            Missing {
                kind,
                reason: reason.to_owned(),
                what: match (common.is_empty(), points.len()) {
                    (false, 1) => common,
                    (true, 1) => "one point".to_owned(),
                    (false, n) => format!("{common} ({n} points)"),
                    (true, n) => format!("{n} points"),
                },
            }
        })
        .collect()
}

/// What a person should know before relying on the numbers, and what helps.
pub fn advice(results: &Results, charts: &[Chart]) -> Vec<String> {
    let mut out = Vec::new();
    let cells = || {
        charts
            .iter()
            .flat_map(|c| c.cells.iter().map(move |cell| (c, cell)))
    };
    let all = cells().count();
    let few = cells().filter(|(_, c)| c.values.len() < MIN_TRIALS).count();
    if few > 0 {
        out.push(format!(
            "{} of {all} results have fewer than {MIN_TRIALS} trials: too few to tell a difference from chance. \
             More trials (--set trials=7) or a run without --quick, into another results file (--results), cure it.",
            text::thousands(few as u64)
        ));
    }
    let noisy = |(c, cell): &(&Chart, &ChartCell)| {
        let (low, high) = cell.quartiles;
        c.plan.measure.is_speed()
            && cell.values.len() >= MIN_TRIALS
            && high - low > 2.0 * NOISE * cell.median
    };
    let noisy: Vec<String> = cells()
        .filter(noisy)
        .map(|(c, cell)| name(c, cell))
        .collect();
    if !noisy.is_empty() {
        out.push(format!(
            "The results of {} vary by more than {:.0} %: something else keeps the machine or its disk busy. \
             A quiet machine and more trials (--set trials=15, into another results file) make the \
             intervals narrower.",
            shortened(&noisy),
            NOISE * 100.0
        ));
    }
    let slow_first = |(c, cell): &(&Chart, &ChartCell)| {
        let Some(first) = cell.values.values().next() else {
            return false;
        };
        let rest: Vec<f64> = cell.values.iter().skip(1).map(|v| *v.1).collect();
        rest.len() + 1 >= MIN_TRIALS
            && c.plan.measure.is_speed()
            && c.plan.measure.smaller_is_better()
            && *first > FIRST * rest.iter().copied().fold(0.0, f64::max)
    };
    let first: Vec<String> = cells()
        .filter(slow_first)
        .map(|(c, cell)| name(c, cell))
        .collect();
    if !first.is_empty() {
        out.push(format!(
            "The first trial of {} was slower than all others, as it is while files are not in the system's \
             cache yet. A [[step]] with unmeasured = true before it in the suite warms up; cold = true \
             measures that and nothing else.",
            shortened(&first)
        ));
    }
    let mut ignored: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for point in &results.points {
        for setting in point.ignored() {
            let version = point.effective.as_ref().map_or("", |e| e.version.as_str());
            let engines = ignored.entry(setting.words()).or_default();
            if !engines.iter().any(|e| e == version) {
                engines.push(version.to_owned());
            }
        }
    }
    for (words, engines) in ignored {
        out.push(format!(
            "A setting had no effect in {}: {words}.",
            text::list(&engines)
        ));
    }
    let busy: f64 = results
        .points
        .iter()
        .flat_map(|p| &p.samples)
        .map(|s| s.load)
        .fold(0.0, f64::max);
    if let Some(session) = results.sessions.last() {
        let processors = session.environment.processors as f64;
        if processors > 0.0 && busy > 2.0 * processors {
            out.push(format!(
                "The load average rose to {busy:.1} on {processors} processors: engines with many threads, or \
                 other programs."
            ));
        }
        if let Some(governor) = &session.environment.governor
            && governor != "performance"
        {
            out.push(format!(
                "The processors' frequency is governed by '{governor}', so that they may be slower at \
                 one time than at another: 'cpupower frequency-set -g performance', as root, keeps it."
            ));
        }
    }
    if let [first, .., last] = &results.sessions[..]
        && let Some(words) = other_environment(first, last)
    {
        out.push(format!("The run was continued on another system: {words}."));
    }
    out
}

/// `InnoDB, read`.
pub fn name(chart: &Chart, cell: &ChartCell) -> String {
    let mut parts = Vec::new();
    if !cell.series.is_empty() {
        parts.push(chart.plan.name(&cell.series).to_owned());
    }
    parts.push(chart.plan.name(&cell.x).to_owned());
    if !chart.separate.is_empty() {
        parts.push(chart.separate_words());
    }
    parts.join(", ")
}

/// The first of some names, and how many more there are.
pub fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|n| format!("'{n}'")).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    text::list(&shown)
}

fn other_environment(a: &RunSession, b: &RunSession) -> Option<String> {
    let (a, b) = (&a.environment, &b.environment);
    let words =
        |e: &Environment| format!("{}, {} processors, {}", e.processor, e.processors, e.kernel);
    (words(a) != words(b)).then(|| format!("{}; then {}", words(a), words(b)))
}

/// A warning where the older results come from another system.
pub fn other_place(new: &Results, old: &Results) -> Option<String> {
    let words = other_environment(old.sessions.last()?, new.sessions.last()?)?;
    Some(format!(
        "The older results come from another system, so what differs may be that: {words}."
    ))
}

/// When results were begun.
pub fn began(results: &Results) -> String {
    let first = results.sessions.first();
    first.map_or("an unknown time".to_owned(), |s| s.began.clone())
}
