//! What a chart of many steps comes to: the geometric mean of the speed-ups of each series.

use serde::Serialize;

use super::Chart;
use super::plan::STEP;
use crate::compare::stats;
use crate::text;

/// A mean of fewer is none.
const FEWEST: usize = 3;

/// A series beside the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mean {
    pub series: String,
    /// So many steps have been measured on both.
    pub steps: usize,
    /// How many times as good as the base, as the geometric mean.
    pub ratio: f64,
    pub best: f64,
    pub worst: f64,
    /// All this as a sentence.
    pub words: String,
}

/// The means of a chart whose bars are steps; none of any other.
pub fn of(chart: &Chart) -> Vec<Mean> {
    let Some(base) = chart.plan.base.as_deref().filter(|_| chart.plan.x == STEP) else {
        return Vec::new();
    };
    let one = |series: &String| {
        let ratios: Vec<f64> = chart
            .cells
            .iter()
            .filter(|c| c.series == *series)
            .filter_map(|c| Some(c.speedup?.speedup.ratio))
            .collect();
        if ratios.len() < FEWEST {
            return None;
        }
        let ratio = stats::geometric_mean(&ratios);
        let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let best = ratios.iter().copied().fold(0.0, f64::max);
        let better = match chart.plan.measure.is_speed() {
            true => "as fast as",
            false => "as good as",
        };
        let words = format!(
            "{}: {} {better} {} in the geometric mean of {} steps, {} at best and {} at worst.",
            chart.plan.name(series),
            text::ratio(ratio),
            chart.plan.name(base),
            ratios.len(),
            text::ratio(best),
            text::ratio(worst),
        );
        Some(Mean {
            series: series.clone(),
            steps: ratios.len(),
            ratio,
            best,
            worst,
            words,
        })
    };
    chart.series.iter().filter_map(one).collect()
}
