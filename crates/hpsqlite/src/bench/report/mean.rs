//! What a chart of many steps comes to: the geometric mean of the speed-ups of each series.

use super::chart::Mean;
use super::{Chart, ChartCell};
use crate::bench::model::ENGINE;
use crate::bench::suite::chart::STEP;
use crate::compare::stats;
use crate::text;

/// A mean of fewer is none.
const FEWEST: usize = 3;

/// The means of a chart whose bars are steps; none of any other.
pub fn of(chart: &Chart) -> Vec<Mean> {
    let Some(base) = chart.plan.base.as_deref().filter(|_| chart.plan.x == STEP) else {
        return Vec::new();
    };
    // An engine lacks just those steps in which it is worst: without them its mean would flatter it.
    let measured = |x: &String| {
        let compared = |c: &ChartCell| c.is_base || c.speedup.is_some();
        let mut series = chart.series.iter();
        series.all(|series| chart.cell(x, series).is_some_and(compared))
    };
    let steps: Vec<&String> = chart.xs.iter().filter(|x| measured(x)).collect();
    let of = match (steps.len(), chart.plan.series.as_deref()) {
        (n, _) if n == chart.xs.len() => format!("{n} steps"),
        (n, Some(ENGINE)) => format!(
            "the {n} of {} steps that all engines finished",
            chart.xs.len()
        ),
        (n, _) => format!("the {n} of {} steps that all finished", chart.xs.len()),
    };
    let one = |series: &String| {
        let cells = steps.iter().filter_map(|x| chart.cell(x, series));
        let ratios: Vec<f64> = cells
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
            "{}: {} {better} {} in the geometric mean of {of}, {} at best and {} at worst.",
            chart.plan.name(series),
            text::ratio(ratio),
            chart.plan.name(base),
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
