//! CSV: every sample, and what stands in the charts.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::Report;
use crate::bench::store::Results;

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<Vec<u8>> {
    writer
        .into_inner()
        .map_err(|e| e.into_error())
        .context("cannot put the CSV together")
}

/// A line for each sample: the axes, then what was measured, times in seconds.
pub fn samples(results: &Results) -> Result<Vec<u8>> {
    const FIELDS: [&str; 21] = [
        "step",
        "trial",
        "seconds",
        "user",
        "system",
        "operations",
        "asked",
        "beside",
        "retries",
        "bytes",
        "allocations",
        "allocated",
        "peak_memory",
        "device_read",
        "device_written",
        "space",
        "answer",
        "at",
        "load",
        "version",
        "durability",
    ];
    let all = |f: fn(&crate::bench::store::StoredPoint) -> Vec<&String>| -> BTreeSet<&String> {
        results.points.iter().flat_map(f).collect()
    };
    let axes = all(|p| p.axes.keys().collect());
    let settings = all(|p| p.effective.iter().flat_map(|e| e.settings.keys()).collect());
    let percentiles = all(|p| {
        p.samples
            .iter()
            .flat_map(|s| s.sample.percentiles.keys())
            .collect()
    });
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = axes.iter().map(|a| (*a).clone());
    let header = header
        .chain(FIELDS.map(str::to_owned))
        .chain(percentiles.iter().map(|p| format!("p{p}")))
        .chain(settings.iter().map(|s| format!("setting {s}")));
    out.write_record(header)?;
    for point in &results.points {
        let effective = point.effective.clone().unwrap_or_default();
        for r in &point.samples {
            let s = &r.sample;
            let number = |v: f64| {
                if v.is_finite() {
                    v.to_string()
                } else {
                    String::new()
                }
            };
            let fields = [
                s.step.clone(),
                r.trial.to_string(),
                number(s.seconds),
                number(s.user),
                number(s.system),
                s.operations.to_string(),
                s.asked.to_string(),
                s.beside.to_string(),
                s.retries.to_string(),
                s.bytes.to_string(),
                s.allocations.to_string(),
                s.allocated.to_string(),
                s.peak_memory.to_string(),
                s.device_read.to_string(),
                s.device_written.to_string(),
                s.space.to_string(),
                s.answer.clone(),
                r.at.clone(),
                number(r.load),
                effective.version.clone(),
                effective.durability.clone(),
            ];
            let get = |from: &crate::bench::model::Values, key: &str| {
                from.get(key).cloned().unwrap_or_default()
            };
            let axes = axes.iter().map(|a| get(&point.axes, a));
            let percentiles = percentiles.iter().map(|p| get(&s.percentiles, p));
            let settings = settings.iter().map(|k| get(&effective.settings, k));
            out.write_record(axes.chain(fields).chain(percentiles).chain(settings))?;
        }
    }
    finish(out)
}

/// A line for each bar or point of a chart.
pub fn summaries(report: &Report) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "chart",
        "measure",
        "x",
        "series",
        "trials",
        "median",
        "quartile 1",
        "quartile 3",
        "least",
        "most",
        "base",
        "times as good",
        "times as good, low",
        "times as good, high",
        "verdict",
        "change",
        "change, low",
        "change, high",
        "change, verdict",
        "version",
        "durability",
        "settings",
        "ignored",
    ])?;
    for chart in &report.charts {
        for cell in &chart.cells {
            let comparison = |c: Option<super::Comparison>| match c {
                Some(c) => [
                    c.speedup.ratio.to_string(),
                    c.speedup.low.to_string(),
                    c.speedup.high.to_string(),
                    c.verdict.name().to_owned(),
                ],
                None => Default::default(),
            };
            let effective = cell.effective.clone().unwrap_or_default();
            let settings = effective.settings.iter().map(|(k, v)| format!("{k}={v}"));
            let ignored = cell.ignored.iter().map(|i| i.words());
            let first = [
                chart.title(),
                chart.plan.measure.to_string(),
                cell.x.clone(),
                cell.series.clone(),
                cell.values.len().to_string(),
                cell.median.to_string(),
                cell.quartiles.0.to_string(),
                cell.quartiles.1.to_string(),
                cell.least.to_string(),
                cell.most.to_string(),
                chart.plan.base.clone().unwrap_or_default(),
            ];
            let last = [
                effective.version,
                effective.durability,
                settings.collect::<Vec<_>>().join(", "),
                ignored.collect::<Vec<_>>().join(", "),
            ];
            let row = first.into_iter().chain(comparison(cell.speedup));
            out.write_record(row.chain(comparison(cell.change)).chain(last))?;
        }
    }
    finish(out)
}
