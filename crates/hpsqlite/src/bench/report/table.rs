//! Tables of a suite: few numbers, each summed over steps, beside numbers from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Results;
use super::cut::value;
use crate::bench::model::Values;
use crate::bench::suite::chart::{ColumnPlan, Measure, TablePlan};
use crate::compare::stats;
use crate::text;

/// A table with its numbers.
#[derive(Debug, Clone, Serialize)]
pub struct ReportTable {
    pub title: String,
    pub about: String,
    pub columns: Vec<String>,
    pub rows: Vec<TableRow>,
    /// What the numbers are of: the operations of each step.
    pub steps: String,
    /// What the numbers in square brackets mean, from 1 on.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct TableRow {
    pub name: String,
    /// One for each column.
    pub cells: Vec<TableCell>,
}

/// What stands at a place of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TableCell {
    /// As it is to be shown, without the notes.
    pub text: String,
    /// The median over the trials, where it was measured.
    pub median: Option<f64>,
    pub quartiles: Option<(f64, f64)>,
    pub trials: usize,
    /// Numbers of notes.
    pub notes: Vec<usize>,
}

impl TableCell {
    /// `12.3 s [1, 2]`.
    pub fn words(&self) -> String {
        if self.notes.is_empty() {
            return self.text.clone();
        }
        let notes: Vec<String> = self.notes.iter().map(usize::to_string).collect();
        format!("{} [{}]", self.text, notes.join(", "))
    }
}

/// The columns of a table: those that it names, or one for each combination of the values of some axes, in
/// the order of the points.
fn columns(plan: &TablePlan, results: &Results) -> Vec<ColumnPlan> {
    if plan.each.is_empty() {
        return plan.column.clone();
    }
    let mut columns = Vec::new();
    let mut known = BTreeSet::new();
    for point in &results.points {
        let here = |axis: &str| value(point, "", axis);
        let values: Vec<&str> = plan.each.iter().map(|axis| here(axis)).collect();
        if plan.only.iter().all(|(a, v)| here(a) == v) && known.insert(values.clone()) {
            let names: Vec<&str> = values.iter().map(|v| plan.name(v)).collect();
            let values = values.into_iter().map(str::to_owned);
            columns.push(ColumnPlan {
                name: names.join(", "),
                only: plan.each.iter().cloned().zip(values).collect(),
                text: None,
            });
        }
    }
    columns
}

/// Works a table out.
pub fn table(plan: &TablePlan, results: &Results) -> ReportTable {
    let mut notes = Vec::new();
    let mut steps = Vec::new();
    let columns = columns(plan, results);
    let rows = plan.row.iter().map(|row| TableRow {
        name: row.name.clone(),
        cells: columns
            .iter()
            .enumerate()
            .map(|(i, column)| match (row.cells.get(i), &column.text) {
                (Some(text), _) => TableCell {
                    text: text.clone(),
                    ..TableCell::default()
                },
                (None, Some(text)) => TableCell {
                    text: text.clone(),
                    ..TableCell::default()
                },
                (None, None) => {
                    let mut only = plan.only.clone();
                    only.extend(column.only.clone());
                    only.extend(row.only.clone());
                    let measure = row.measure.as_ref().unwrap_or(&plan.measure);
                    measured(plan, measure, &only, results, &mut notes, &mut steps)
                }
            })
            .collect(),
    });
    let rows = rows.collect();
    ReportTable {
        title: plan.title.clone(),
        about: plan.about.clone(),
        columns: columns.into_iter().map(|c| c.name).collect(),
        rows,
        steps: steps.join(" and "),
        notes,
    }
}

/// The sum over the steps in each trial, and the median of these.
fn measured(
    plan: &TablePlan,
    measure: &Measure,
    only: &Values,
    results: &Results,
    notes: &mut Vec<String>,
    steps: &mut Vec<String>,
) -> TableCell {
    let mut note = |text: String| match notes.iter().position(|n| *n == text) {
        Some(at) => at + 1,
        None => {
            notes.push(text);
            notes.len()
        }
    };
    let mut sums: BTreeMap<u32, (f64, usize)> = BTreeMap::new();
    let mut told = Vec::new();
    let mut cut = false;
    let mut reasons = Vec::new();
    for point in &results.points {
        let fits = |step: &str| only.iter().all(|(a, v)| value(point, step, a) == v);
        for recorded in &point.samples {
            let sample = &recorded.sample;
            let wanted = plan.steps.is_empty() || plan.steps.contains(&sample.step);
            if !wanted || !fits(&sample.step) {
                continue;
            }
            let Some(value) = measure.of(sample) else {
                continue;
            };
            let sum = sums.entry(recorded.trial).or_default();
            *sum = (sum.0 + value, sum.1 + 1);
            cut |= sample.asked > 0;
            let operations = text::thousands(sample.operations.max(sample.asked));
            let words = format!("{}, {operations} times", plan.name(&sample.step));
            // Of a single operation it does not matter how many there were.
            if !measure.is_of_one() && !steps.contains(&words) {
                steps.push(words);
            }
            if let Some(e) = &point.effective
                && !told.contains(&e.durability)
                && !e.durability.is_empty()
            {
                told.push(e.durability.clone());
            }
        }
        if fits("") {
            reasons.extend(point.problems.iter().map(|p| p.reason.clone()));
        }
    }
    // A trial that has not all steps would be too small a sum.
    let wanted = match plan.steps.len() {
        0 => sums.values().map(|s| s.1).max().unwrap_or(0),
        n => n,
    };
    let values: Vec<f64> = sums
        .values()
        .filter(|s| s.1 == wanted)
        .map(|s| s.0)
        .collect();
    if values.is_empty() {
        reasons.dedup();
        return TableCell {
            text: "not measured".to_owned(),
            notes: reasons.into_iter().take(1).map(note).collect(),
            ..TableCell::default()
        };
    }
    let mut numbers: Vec<usize> = told.into_iter().map(|d| note(durable(&d))).collect();
    if cut && matches!(measure, Measure::Time | Measure::ProcessorTime) {
        numbers.push(note(
            "Reckoned: measured for as long as the suite allows, as if it went on like that."
                .to_owned(),
        ));
    }
    let median = stats::summary(&values).median;
    TableCell {
        text: measure.value(median),
        median: Some(median),
        quartiles: Some(stats::quartiles(&values)),
        trials: values.len(),
        notes: numbers,
    }
}

/// What an engine says of its durability, as a sentence.
fn durable(durability: &str) -> String {
    format!("{}.", text::capitalised(durability))
}
