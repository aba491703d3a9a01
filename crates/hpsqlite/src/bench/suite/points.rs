//! The points of a suite: all combinations of its axes that no rule excludes.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::chart::STEP;
use super::file::SuiteFile;
use super::scalar::{OneOrMore, Scalar};
use crate::bench::model::{ENGINE, PRAGMA_PREFIX, PRAGMAS, Step, Values, filled};

/// More points than this are a mistake in the file.
const MAX_POINTS: usize = 100_000;

/// One combination of the values of all axes.
#[derive(Debug, Clone)]
pub struct Point {
    /// Axis and value; what tells this point from the others.
    pub values: Values,
    /// What the job gets: the suite's options, those of the engine, those of the set of PRAGMAs, those
    /// of the rules for it, and the values of the axes.
    pub options: Values,
    pub steps: Vec<Step>,
    pub trials: u32,
}

/// All combinations that no rule excludes, in the order of the file's axes by name; the engine
/// changes fastest, so that what is compared is measured side by side.
pub fn points(file: &SuiteFile) -> Result<Vec<Point>> {
    let mut axes: Vec<_> = file
        .axes
        .iter()
        .map(|(n, v)| (n.as_str(), v.texts()))
        .collect();
    axes.sort_by_key(|(name, _)| *name == ENGINE);
    let count = axes
        .iter()
        .try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
    if count.is_none_or(|n| n > MAX_POINTS) {
        bail!("the axes have more than {MAX_POINTS} combinations");
    }
    let mut all = vec![Values::new()];
    for (name, values) in &axes {
        all = all
            .iter()
            .flat_map(|point| {
                values.iter().map(move |value| {
                    let mut point = point.clone();
                    point.insert((*name).to_owned(), value.clone());
                    point
                })
            })
            .collect();
    }
    let mut points = Vec::new();
    for values in all {
        let options = options(file, &values);
        let steps: Vec<Step> = file
            .step
            .iter()
            .filter(|step| !excluded(file, &values, &step.name))
            .map(|step| Step {
                name: step.name.clone(),
                options: step
                    .options
                    .iter()
                    .map(|(name, value)| (name.clone(), filled(&value.text(), &options)))
                    .collect(),
                cold: step.cold.unwrap_or(file.cold),
                unmeasured: step.unmeasured,
            })
            .collect();
        if steps.iter().any(|step| !step.unmeasured) {
            points.push(Point {
                values,
                options,
                steps,
                trials: file.trials,
            });
        }
    }
    if points.is_empty() {
        bail!("the rules of [[exclude]] leave nothing to measure");
    }
    Ok(points)
}

/// Whether a rule excludes this step of a point: one all of whose axes match.
fn excluded(file: &SuiteFile, values: &Values, step: &str) -> bool {
    file.exclude
        .iter()
        .any(|rule| matches(rule, values, Some(step)))
}

/// Whether a point, or a step of it, has one of the values that a rule names of each axis.
pub fn matches(rule: &BTreeMap<String, OneOrMore>, values: &Values, step: Option<&str>) -> bool {
    rule.iter().all(|(axis, wanted)| {
        let value = match axis.as_str() {
            STEP => step,
            _ => values.get(axis).map(String::as_str),
        };
        value.is_some_and(|value| wanted.has(value))
    })
}

pub fn options(file: &SuiteFile, values: &Values) -> Values {
    let texts = |map: &BTreeMap<String, Scalar>| -> Values {
        map.iter().map(|(n, v)| (n.clone(), v.text())).collect()
    };
    let mut all = texts(&file.options);
    if let Some(engine) = file.engines.get(&values[ENGINE]) {
        all.extend(texts(&engine.options));
    }
    if let Some(set) = values.get(PRAGMAS) {
        for (name, value) in texts(&file.pragmas[set]) {
            all.insert(format!("{PRAGMA_PREFIX}{name}"), value);
        }
    }
    for set in &file.set {
        if matches(&set.place, values, None) {
            all.extend(texts(&set.options));
        }
    }
    all.extend(values.clone());
    all
}
