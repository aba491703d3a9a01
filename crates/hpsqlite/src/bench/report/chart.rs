//! A chart and its cells: what all formats are made from.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::verdict::Comparison;
use crate::bench::model::Effective;
use crate::bench::store::Ignored;
use crate::bench::suite::chart::{ChartPlan, ChartShape, STEP};
use crate::text;

/// A chart and the numbers in it.
#[derive(Serialize)]
pub struct Chart {
    pub plan: ChartPlan,
    /// The values that this chart is for, where there are several of the plan.
    pub separate: Vec<(String, String)>,
    pub shape: ChartShape,
    /// Values of x and of the series, in the order in which they stand.
    pub xs: Vec<String>,
    pub series: Vec<String>,
    /// By x, then by series.
    pub cells: Vec<ChartCell>,
    /// Where lines cross, if the plan asks for it.
    pub break_even: Vec<BreakEven>,
    /// What the speed-ups of many steps come to.
    pub means: Vec<Mean>,
}

/// A bar or a point.
#[derive(Serialize)]
pub struct ChartCell {
    pub x: String,
    pub series: String,
    /// The points of the suite whose samples these are.
    pub points: BTreeSet<i64>,
    /// By trial.
    pub values: BTreeMap<u32, f64>,
    pub median: f64,
    /// Ends of the error bar.
    pub low: f64,
    pub high: f64,
    pub quartiles: (f64, f64),
    pub least: f64,
    pub most: f64,
    /// The fewest operations that were measured, and how many were asked for, where the time of the
    /// step ran out.
    pub cut: Option<(u64, u64)>,
    /// Whether this is what the others are compared with.
    pub is_base: bool,
    pub speedup: Option<Comparison>,
    /// The speed-up over the older results.
    pub change: Option<Comparison>,
    pub effective: Option<Effective>,
    pub ignored: Vec<Ignored>,
}

/// How one series of a chart compares with another along x.
#[derive(Debug, Serialize)]
pub struct BreakEven {
    pub series: String,
    pub against: String,
    /// In the order of x.
    pub crossings: Vec<Crossing>,
    /// At each value of x that both have.
    pub compared: Vec<(String, Comparison)>,
    /// All of it as a sentence.
    pub words: String,
}

/// Where one becomes better or worse than the other.
#[derive(Debug, PartialEq, Serialize)]
pub struct Crossing {
    pub at: f64,
    /// The last x before it and the first one after it where the difference is clear.
    pub between: (String, String),
    /// Whether the series is the better one before it.
    pub better_before: bool,
}

/// A series beside the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mean {
    pub series: String,
    /// So many steps have been measured on all series.
    pub steps: usize,
    /// How many times as good as the base, as the geometric mean.
    pub ratio: f64,
    pub best: f64,
    pub worst: f64,
    /// All this as a sentence.
    pub words: String,
}

impl Chart {
    /// What the numbers come to, a sentence each.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        let crossings = self.break_even.iter().map(|b| b.words.as_str());
        crossings.chain(self.means.iter().map(|m| m.words.as_str()))
    }

    /// The title with what this chart is for.
    pub fn title(&self) -> String {
        match self.separate.is_empty() {
            true => self.plan.title.clone(),
            false => format!("{}: {}", self.plan.title, self.separate_words()),
        }
    }

    pub fn separate_words(&self) -> String {
        let one = |(axis, value): &(String, String)| match axis == STEP {
            true => self.plan.name(value).to_owned(),
            false => format!("{axis} {}", self.plan.name(value)),
        };
        self.separate.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The cell at these values.
    pub fn cell(&self, x: &str, series: &str) -> Option<&ChartCell> {
        self.cells.iter().find(|c| c.x == x && c.series == series)
    }

    /// What was measured with fewer operations than asked for, because its time ran out; none where
    /// nothing was. Where it is most of a chart, how many operations that was stands in its table.
    pub fn cut(&self) -> Option<String> {
        const NAMED: usize = 10;
        let cut = || self.cells.iter().filter_map(|c| Some((c, c.cut?)));
        let all = cut().count();
        let least = cut().map(|(_, (done, _))| done).min()?;
        let most = cut().map(|(_, (done, _))| done).max()?;
        if all > NAMED {
            return Some(format!(
                "{all} of {} were measured with fewer operations than were asked for, with as many as the \
                 time of a step allows: {} to {}.",
                self.cells.len(),
                text::thousands(least),
                text::thousands(most)
            ));
        }
        let names = cut().map(|(c, (done, asked))| {
            let mut name = vec![self.plan.name(&c.x)];
            name.extend((!c.series.is_empty()).then(|| self.plan.name(&c.series)));
            let (done, asked) = (text::thousands(done), text::thousands(asked));
            format!("{} ({done} of {asked})", name.join(", "))
        });
        Some(format!(
            "Measured with fewer operations, as many as the time of a step allows: {}.",
            names.collect::<Vec<_>>().join("; ")
        ))
    }

    /// Fewest and most trials of a cell.
    pub fn trials(&self) -> String {
        trials(&self.cells.iter().collect::<Vec<_>>())
    }
}

/// Fewest and most trials of some cells.
pub fn trials(cells: &[&ChartCell]) -> String {
    let counts = || cells.iter().map(|c| c.values.len());
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (1, 1) => "1 trial".to_owned(),
        (least, most) if least == most => format!("{most} trials"),
        (least, most) => format!("{least} to {most} trials"),
    }
}

impl ChartCell {
    /// What the engine is: version, durability, settings; empty where it did not say.
    pub fn about(&self) -> String {
        let Some(e) = &self.effective else {
            return String::new();
        };
        let parts = [e.version.clone(), e.durability.clone(), e.settings_words()];
        let mut about: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        let ignored: Vec<String> = self.ignored.iter().map(Ignored::words).collect();
        if !ignored.is_empty() {
            about.insert(about.len().min(1), ignored.join(", "));
        }
        about.join("; ")
    }
}
