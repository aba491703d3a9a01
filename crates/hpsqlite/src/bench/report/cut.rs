//! Cutting results into charts and cells.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{Chart, ChartCell};
use super::compared::speedups;
use super::{break_even, mean};
use crate::bench::model::{ENGINE, Values};
use crate::bench::store::{Recorded, Results, StoredPoint};
use crate::bench::suite::chart::{ChartPlan, ChartShape, Interval, Measure, STEP};
use crate::chart::engines;
use crate::compare::stats;
use crate::text;

/// So many different numbers make a line.
const LINE_POINTS: usize = 3;

/// The value of an axis for a step of a point.
pub fn value<'a>(point: &'a StoredPoint, step: &'a str, axis: &str) -> &'a str {
    match axis {
        STEP => step,
        _ => point.axes.get(axis).map_or("", String::as_str),
    }
}

/// The axes of a suite that have more than one value, in the order of their names, and `step`.
pub fn varying(results: &Results) -> Vec<(String, Vec<String>)> {
    let mut axes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |axis: &str, value: &str| {
        let values = axes.entry(axis.to_owned()).or_default();
        if !values.iter().any(|v| v == value) {
            values.push(value.to_owned());
        }
    };
    for point in &results.points {
        for (axis, value) in &point.axes {
            add(axis, value);
        }
        for recorded in &point.samples {
            add(STEP, &recorded.sample.step);
        }
    }
    axes.into_iter().filter(|(_, v)| v.len() > 1).collect()
}

/// Charts that the axes of a suite suggest, where it names none.
pub fn suggested(results: &Results) -> Vec<ChartPlan> {
    let axes = varying(results);
    let named = |name: &str| axes.iter().find(|(axis, _)| axis == name);
    let series = ["engine", "library"].into_iter().find_map(named);
    let numeric =
        |v: &[String]| v.len() >= LINE_POINTS && v.iter().all(|v| text::parse_number(v).is_some());
    let others = || axes.iter().filter(|a| series.is_none_or(|s| s.0 != a.0));
    let x = others()
        .find(|(_, v)| numeric(v))
        .or_else(|| others().max_by_key(|(_, v)| v.len()));
    let (x, series) = match (x, series) {
        (Some(x), series) => (x.0.clone(), series.map(|s| s.0.clone())),
        (None, Some(series)) => (series.0.clone(), None),
        (None, None) => (STEP.to_owned(), None),
    };
    let operations = results
        .points
        .iter()
        .flat_map(|p| &p.samples)
        .all(|s| s.sample.operations > 1);
    vec![ChartPlan {
        title: text::capitalised(&results.suite.name),
        about: String::new(),
        measure: if operations {
            Measure::TimePerOperation
        } else {
            Measure::Time
        },
        base: results
            .points
            .iter()
            .any(|p| p.axes.values().any(|v| v == "stock"))
            .then(|| "stock".to_owned()),
        x,
        series,
        separate: Vec::new(),
        only: BTreeMap::new(),
        interval: Interval::default(),
        shape: None,
        break_even: Vec::new(),
        names: names_of_engines(&axes),
    }]
}

/// Engines as a person writes them, for a suite that does not name them itself.
fn names_of_engines(axes: &[(String, Vec<String>)]) -> Values {
    let values = axes.iter().filter(|(axis, _)| axis == ENGINE);
    let values = values.flat_map(|(_, values)| values);
    values
        .filter_map(|value| Some((value.clone(), engines::name(value)?.to_owned())))
        .collect()
}

/// Samples with what they are samples of.
struct Taken<'a> {
    point: &'a StoredPoint,
    recorded: &'a Recorded,
    value: f64,
}

/// Axes that make separate charts, and their values.
type Separate = Vec<(String, String)>;

/// The charts of a plan.
pub fn cut(plan: &ChartPlan, results: &Results) -> Vec<Chart> {
    let mut taken = Vec::new();
    for point in &results.points {
        for recorded in &point.samples {
            let step = &recorded.sample.step;
            let wanted = || {
                let mut only = plan.only.iter();
                only.all(|(axis, wanted)| wanted.has(value(point, step, axis)))
            };
            if let Some(value) = plan.measure.of(&recorded.sample)
                && wanted()
            {
                taken.push(Taken {
                    point,
                    recorded,
                    value,
                });
            }
        }
    }
    let separate = separate_axes(plan, &taken);
    // In the order of the suite.
    let mut parts: Vec<(Separate, Vec<&Taken>)> = Vec::new();
    for t in &taken {
        let key: Vec<(String, String)> = separate
            .iter()
            .map(|axis| {
                let value = value(t.point, &t.recorded.sample.step, axis);
                (axis.clone(), value.to_owned())
            })
            .collect();
        match parts.iter_mut().find(|p| p.0 == key) {
            Some(part) => part.1.push(t),
            None => parts.push((key, vec![t])),
        }
    }
    // What is the same in all of them needs no mention.
    let constant: Vec<bool> = (0..separate.len())
        .map(|i| parts.iter().all(|p| p.0[i] == parts[0].0[i]))
        .collect();
    let mut charts: Vec<Chart> = parts
        .into_iter()
        .map(|(key, taken)| {
            let key = key.into_iter().zip(&constant).filter(|(_, c)| !**c);
            chart(plan, key.map(|(k, _)| k).collect(), &taken)
        })
        .collect();
    // Said once, before the first of them.
    for chart in charts.iter_mut().skip(1) {
        chart.plan.about.clear();
    }
    charts
}

/// The axes that make charts of their own: those of the plan, and each that would otherwise put
/// samples of different things into one cell.
fn separate_axes(plan: &ChartPlan, taken: &[Taken<'_>]) -> Vec<String> {
    let mut axes = plan.separate.clone();
    let all: BTreeSet<&str> = taken
        .iter()
        .flat_map(|t| t.point.axes.keys().map(String::as_str))
        .chain([STEP])
        .collect();
    for axis in all {
        let named = axis == plan.x || plan.series.as_deref() == Some(axis);
        if named || axes.iter().any(|a| a == axis) {
            continue;
        }
        let mut cells: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
        let mixes = taken.iter().any(|t| {
            let step = &t.recorded.sample.step;
            let key = axes
                .iter()
                .chain(plan.series.iter())
                .chain([&plan.x])
                .map(|a| value(t.point, step, a))
                .collect();
            let here = value(t.point, step, axis);
            *cells.entry(key).or_insert(here) != here
        });
        if mixes {
            axes.push(axis.to_owned());
        }
    }
    axes
}

fn chart(plan: &ChartPlan, separate: Vec<(String, String)>, taken: &[&Taken<'_>]) -> Chart {
    let mut xs: Vec<String> = Vec::new();
    let mut series: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(usize, usize), Vec<&Taken>> = BTreeMap::new();
    for &t in taken {
        let step = &t.recorded.sample.step;
        let place = |all: &mut Vec<String>, value: &str| match all.iter().position(|v| v == value) {
            Some(at) => at,
            None => {
                all.push(value.to_owned());
                all.len() - 1
            }
        };
        let key = (
            place(&mut xs, value(t.point, step, &plan.x)),
            place(
                &mut series,
                plan.series.as_ref().map_or("", |s| value(t.point, step, s)),
            ),
        );
        cells.entry(key).or_default().push(t);
    }
    let mut cells: Vec<ChartCell> = cells
        .into_iter()
        .map(|((x, s), taken)| cell(plan, &xs[x], &series[s], &taken))
        .collect();
    let numbers: Option<Vec<f64>> = xs.iter().map(|x| text::parse_number(x)).collect();
    if numbers.is_some() {
        let number = |x: &str| text::parse_number(x).unwrap_or(0.0);
        xs.sort_by(|a, b| number(a).total_cmp(&number(b)));
        cells.sort_by(|a, b| number(&a.x).total_cmp(&number(&b.x)));
    }
    let different = numbers.map_or(0, |mut n| {
        n.sort_by(f64::total_cmp);
        n.dedup();
        n.len()
    });
    speedups(plan, &mut cells);
    let mut chart = Chart {
        plan: plan.clone(),
        separate,
        shape: match plan.shape {
            Some(ChartShape::Lines) if different > 1 => ChartShape::Lines,
            None if different >= LINE_POINTS => ChartShape::Lines,
            _ => ChartShape::Bars,
        },
        xs,
        series,
        cells,
        break_even: Vec::new(),
        means: Vec::new(),
    };
    chart.break_even = break_even::of(&chart);
    chart.means = mean::of(&chart);
    chart
}

fn cell(plan: &ChartPlan, x: &str, series: &str, taken: &[&Taken<'_>]) -> ChartCell {
    let values: BTreeMap<u32, f64> = taken.iter().map(|t| (t.recorded.trial, t.value)).collect();
    let plain: Vec<f64> = values.values().copied().collect();
    let summary = stats::summary(&plain);
    let quartiles = stats::quartiles(&plain);
    let (low, high) = match plan.interval {
        Interval::Quartiles => quartiles,
        Interval::Confidence => stats::median_interval(&plain),
    };
    let last = taken[taken.len() - 1].point;
    ChartCell {
        x: x.to_owned(),
        series: series.to_owned(),
        points: taken.iter().map(|t| t.point.id).collect(),
        values,
        median: summary.median,
        low,
        high,
        quartiles,
        least: summary.min,
        most: summary.max,
        cut: taken
            .iter()
            .map(|t| &t.recorded.sample)
            .filter(|s| s.asked > 0)
            .map(|s| (s.operations, s.asked))
            .min(),
        is_base: false,
        speedup: None,
        change: None,
        effective: last.effective.clone(),
        ignored: last.ignored(),
    }
}
