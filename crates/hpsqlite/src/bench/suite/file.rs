//! A suite file as it is written, and as the files that its parts would be.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Deserialize;

use super::chart::{ChartPlan, TablePlan};
use super::scalar::{OneOrMore, Scalar};
use crate::bench::model::{JobKind, PART, Values};

/// A suite file as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    pub title: String,
    #[serde(default)]
    pub about: String,
    pub kind: JobKind,
    #[serde(default = "seven")]
    pub trials: u32,
    #[serde(default)]
    pub cold: bool,
    #[serde(default = "one")]
    pub seed: u64,
    #[serde(default)]
    pub options: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub axes: BTreeMap<String, OneOrMore>,
    #[serde(default)]
    pub pragmas: BTreeMap<String, BTreeMap<String, Scalar>>,
    #[serde(default)]
    pub engines: BTreeMap<String, Engine>,
    #[serde(default)]
    pub step: Vec<StepFile>,
    #[serde(default)]
    pub set: Vec<SetFile>,
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, OneOrMore>>,
    #[serde(default)]
    pub chart: Vec<ChartPlan>,
    #[serde(default)]
    pub part: Vec<SuitePart>,
    #[serde(default)]
    pub table: Vec<TablePlan>,
    /// Names of values as to be shown in all charts.
    #[serde(default)]
    pub names: Values,
    pub quick: Option<Quick>,
}

/// A product of axes of its own, in a file that has several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuitePart {
    pub name: String,
    /// What is measured in it; stands before its first chart.
    #[serde(default)]
    pub about: String,
    pub trials: Option<u32>,
    pub cold: Option<bool>,
    #[serde(default)]
    pub options: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub axes: BTreeMap<String, OneOrMore>,
    #[serde(default)]
    pub step: Vec<StepFile>,
    #[serde(default)]
    pub set: Vec<SetFile>,
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, OneOrMore>>,
    #[serde(default)]
    pub chart: Vec<ChartPlan>,
    pub quick: Option<Quick>,
}

impl SuiteFile {
    /// The file as those of its parts would be, had each a file of its own; itself if it has none.
    pub fn parts(&self) -> Result<Vec<SuiteFile>> {
        if self.part.is_empty() {
            return Ok(vec![self.clone()]);
        }
        if !(self.step.is_empty() && self.exclude.is_empty() && self.chart.is_empty()) {
            bail!("the file has parts: [[step]], [[exclude]] and [[chart]] belong into a [[part]]");
        }
        if self.axes.contains_key(PART) {
            bail!("axis {PART}: the file has parts, which are this axis");
        }
        let mut files = Vec::new();
        for (i, part) in self.part.iter().enumerate() {
            if self.part[..i].iter().any(|p| p.name == part.name) {
                bail!("[[part]] {} is there twice", part.name);
            }
            let name = OneOrMore::One(Scalar::Text(part.name.clone()));
            let mut file = self.clone();
            file.part.clear();
            file.trials = part.trials.unwrap_or(self.trials);
            file.cold = part.cold.unwrap_or(self.cold);
            file.options.extend(part.options.clone());
            file.axes.extend(part.axes.clone());
            file.axes.insert(PART.to_owned(), name);
            file.step = part.step.clone();
            file.set.extend(part.set.clone());
            file.exclude = part.exclude.clone();
            file.chart = part.chart.clone();
            for chart in &mut file.chart {
                let only = OneOrMore::One(Scalar::Text(part.name.clone()));
                chart.only.insert(PART.to_owned(), only);
            }
            if let Some(chart) = file.chart.first_mut()
                && chart.about.is_empty()
            {
                chart.about = part.about.clone();
            }
            let mut quick = self.quick.clone().unwrap_or_default();
            if let Some(own) = &part.quick {
                quick.trials = own.trials.or(quick.trials);
                quick.options.extend(own.options.clone());
                quick.axes.extend(own.axes.clone());
            }
            file.quick = Some(quick);
            files.push(file);
        }
        Ok(files)
    }

    /// The name of the part that it is.
    pub fn part_name(&self) -> Option<String> {
        self.axes.get(PART).and_then(|v| v.texts().pop())
    }
}

fn seven() -> u32 {
    7
}

pub fn one() -> u64 {
    1
}

/// What `--quick` changes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    pub trials: Option<u32>,
    /// The parts that are measured; none named are all.
    #[serde(default)]
    pub parts: Vec<String>,
    #[serde(default)]
    pub options: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub axes: BTreeMap<String, OneOrMore>,
}

/// An engine beside `stock`, `ours` and those that the lab has by name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// A libsqlite3.so; relative paths are seen from the suite file. Or `stock` or `ours`.
    pub library: Option<PathBuf>,
    /// The engine of the lab that it is, with options of its own.
    pub like: Option<String>,
    #[serde(default)]
    pub options: BTreeMap<String, Scalar>,
}

/// Options that only some points have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetFile {
    /// Those that have one of these values of each axis.
    #[serde(rename = "where")]
    pub place: BTreeMap<String, OneOrMore>,
    pub options: BTreeMap<String, Scalar>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct StepFile {
    pub name: String,
    #[serde(default)]
    pub unmeasured: bool,
    /// Whether it is to be cold where the suite is not, or the other way round.
    pub cold: Option<bool>,
    #[serde(flatten)]
    pub options: BTreeMap<String, Scalar>,
}
