//! Cells beside one another, and beside those of older results.

use super::chart::{Chart, ChartCell};
use super::verdict::Comparison;
use crate::bench::suite::chart::{ChartPlan, Measure};
use crate::compare::stats;

/// Values as times, of which a smaller one is better.
fn as_times(measure: &Measure, values: impl Iterator<Item = f64>) -> Vec<f64> {
    match measure.smaller_is_better() {
        true => values.collect(),
        false => values.map(|v| 1.0 / v).collect(),
    }
}

/// Fills in the speed-ups over the base, of trials that both have.
pub fn speedups(plan: &ChartPlan, cells: &mut [ChartCell]) {
    let Some(base) = &plan.base else { return };
    let in_series = cells.iter().any(|c| c.series == *base);
    for i in 0..cells.len() {
        let at = match in_series {
            true => cells
                .iter()
                .position(|c| c.series == *base && c.x == cells[i].x),
            false => cells
                .iter()
                .position(|c| c.x == *base && c.series == cells[i].series),
        };
        let Some(at) = at else { continue };
        if at == i {
            cells[i].is_base = true;
            continue;
        }
        cells[i].speedup = compared(plan, &cells[at], &cells[i]);
    }
}

/// How many times as good a cell is as another, by the trials that both have.
pub fn compared(plan: &ChartPlan, base: &ChartCell, cell: &ChartCell) -> Option<Comparison> {
    let (a, b): (Vec<f64>, Vec<f64>) = cell
        .values
        .iter()
        .filter_map(|(trial, b)| Some((*base.values.get(trial)?, *b)))
        .filter(|(a, b)| *a > 0.0 && *b > 0.0)
        .unzip();
    if a.is_empty() {
        return None;
    }
    let (a, b) = (
        as_times(&plan.measure, a.into_iter()),
        as_times(&plan.measure, b.into_iter()),
    );
    Some(Comparison::of(stats::speedup(&a, &b), a.len(), 0.0))
}

/// Fills in what changed since the older results.
pub fn compare(chart: &mut Chart, old: &[Chart], tolerance: f64) {
    let same = |o: &&Chart| match (o.separate.is_empty(), chart.separate.is_empty()) {
        (false, false) => o.separate == chart.separate,
        // A run of fewer values has fewer charts.
        _ => old.len() == 1,
    };
    let Some(old) = old.iter().find(same) else {
        return;
    };
    for cell in &mut chart.cells {
        let Some(was) = old.cell(&cell.x, &cell.series) else {
            continue;
        };
        let positive = |c: &ChartCell| {
            c.values
                .values()
                .copied()
                .filter(|v| *v > 0.0)
                .collect::<Vec<_>>()
        };
        let measure = &chart.plan.measure;
        let (a, b) = (
            as_times(measure, positive(was).into_iter()),
            as_times(measure, positive(cell).into_iter()),
        );
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let trials = a.len().min(b.len());
        cell.change = Some(Comparison::of(
            stats::speedup_apart(&a, &b),
            trials,
            tolerance,
        ));
    }
}
