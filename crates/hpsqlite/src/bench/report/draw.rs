//! The charts of a report.

use super::{Chart, ChartCell, Comparison, Report, Verdict};
use crate::bench::model::ENGINE;
use crate::bench::suite::chart::ChartShape;
use crate::chart::{Bar, Bars, ChartFrame, Group, Key, LinePoint, LineSeries, Lines, Svg, engines};
use crate::text;

/// Longer names of files are cut.
const NAME: usize = 60;

/// Every chart as a picture of its own, with the name of its file.
pub fn all(report: &Report) -> Vec<(String, Svg)> {
    let mut out = Vec::new();
    for (i, chart) in report.charts.iter().enumerate() {
        let name = format!("{:02}-{}", i + 1, file_name(&chart.title()));
        if chart.cells.is_empty() {
            continue;
        }
        out.push((name.clone(), values(report, chart, true)));
        if let Some(svg) = speedups(report, chart, true) {
            out.push((format!("{name}-speedup"), svg));
        }
    }
    out
}

/// Letters and digits of a title.
fn file_name(title: &str) -> String {
    let plain: String = title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|w| !w.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME).collect();
    name.trim_end_matches('-').to_owned()
}

/// What is shown of a cell.
struct Shown {
    value: f64,
    low: f64,
    high: f64,
    caption: String,
}

/// The values themselves; with its title where it stands alone.
pub fn values(report: &Report, chart: &Chart, alone: bool) -> Svg {
    let measure = &chart.plan.measure;
    let shown = |cell: &ChartCell| {
        let value = measure.value(cell.median);
        let caption = match (&cell.speedup, &cell.change) {
            (_, Some(change)) => format!("{value}, {} as before", change.short())
                .replace("no difference as before", "as before")
                .replace("to tell as before", "to tell whether as before"),
            (Some(speedup), None) => format!("{value}, {}", speedup.short()),
            (None, None) => value,
        };
        Some(Shown {
            value: cell.median,
            low: cell.low,
            high: cell.high,
            caption,
        })
    };
    // A page has the settings folded away below the chart.
    let about = match alone {
        true => About::of(chart),
        false => About::Nowhere,
    };
    let mut notes = vec![format!(
        "Medians of {}; {}.",
        chart.trials(),
        chart.plan.interval.words()
    )];
    if let (Some(base), true) = (
        &chart.plan.base,
        chart.shape == ChartShape::Bars && chart.cells.iter().any(|c| c.speedup.is_some()),
    ) {
        notes.push(format!("Speed-ups are against {}.", chart.plan.name(base)));
    }
    // On a page it stands below.
    notes.extend(chart.cut().filter(|_| alone));
    if let (About::Everything(about), true) = (&about, alone) {
        notes.push(format!("All: {about}."));
    }
    if alone {
        notes.extend(chart.findings().map(str::to_owned));
    }
    let better = match measure.smaller_is_better() {
        true => "less is better",
        false => "more is better",
    };
    let frame = ChartFrame {
        title: if alone { chart.title() } else { String::new() },
        subtitle: format!("{}; {better}", text::capitalised(&measure.words())),
        legend: Vec::new(),
        notes,
    };
    draw(
        report,
        chart,
        frame,
        &about,
        alone,
        None,
        &shown,
        &|v, end| measure.tick(v, end),
    )
}

/// The speed-ups over the base, if the chart has one.
pub fn speedups(report: &Report, chart: &Chart, alone: bool) -> Option<Svg> {
    let base = chart.plan.base.as_ref()?;
    if !chart.cells.iter().any(|c| c.speedup.is_some()) {
        return None;
    }
    let shown = |cell: &ChartCell| {
        let speedup = cell.speedup?;
        Some(Shown {
            value: speedup.speedup.ratio,
            low: speedup.speedup.low,
            high: speedup.speedup.high,
            caption: speedup.short(),
        })
    };
    let what = match chart.plan.measure.is_speed() {
        true => "How many times as fast as",
        false => "How many times less than",
    };
    let frame = ChartFrame {
        title: match alone {
            true => format!("{}: against {}", chart.title(), chart.plan.name(base)),
            false => String::new(),
        },
        subtitle: format!(
            "{what} {} ({}); more is better",
            chart.plan.name(base),
            chart.plan.measure.words()
        ),
        legend: Vec::new(),
        notes: vec![
            "Error bars are 95 % intervals (percentile bootstrap over the trials).".to_owned(),
        ],
    };
    Some(draw(
        report,
        chart,
        frame,
        &match alone {
            true => About::of(chart),
            false => About::Nowhere,
        },
        alone,
        Some(1.0),
        &shown,
        &|v, _| text::ratio_tick(v),
    ))
}

#[expect(
    clippy::too_many_arguments,
    reason = "what differs between the two charts of a plan"
)]
fn draw(
    report: &Report,
    chart: &Chart,
    mut frame: ChartFrame,
    about: &About,
    alone: bool,
    reference: Option<f64>,
    shown: &dyn Fn(&ChartCell) -> Option<Shown>,
    tick: &dyn Fn(f64, f64) -> String,
) -> Svg {
    let title = chart.title();
    if alone {
        frame.notes.extend(footer(report));
    }
    let classes = classes(report, chart);
    // The base has no speed-up over itself.
    let without = chart.plan.base.as_ref().filter(|_| reference.is_some());
    if chart.shape == ChartShape::Lines {
        let lines: Vec<LineSeries> = chart
            .series
            .iter()
            .zip(&classes)
            .map(|(series, class)| LineSeries {
                class,
                name: match series.is_empty() {
                    true => String::new(),
                    false => chart.plan.name(series).to_owned(),
                },
                points: chart
                    .cells
                    .iter()
                    .filter(|c| c.series == *series)
                    .filter_map(|c| {
                        let s = shown(c)?;
                        Some(LinePoint {
                            x: text::parse_number(&c.x)?,
                            value: s.value,
                            low: s.low,
                            high: s.high,
                            hint: hint(chart, c, &s.caption),
                        })
                    })
                    .collect(),
            })
            .filter(|l| !l.points.is_empty())
            .collect();
        if matches!(about, About::Series(_)) {
            frame.legend = legend(chart, &classes, about, without);
        }
        return Lines {
            title: &title,
            frame: Some(&frame),
            lines: &lines,
            reference,
            x_name: &chart.plan.x,
            x_tick: &|x| {
                let same = |s: &&String| text::parse_number(s) == Some(x);
                let own = chart.xs.iter().find(same).cloned();
                own.unwrap_or_else(|| text::thousands(x as u64))
            },
            tick,
        }
        .svg();
    }
    let own = classes_of_x(chart);
    let groups: Vec<Group> = chart
        .xs
        .iter()
        .enumerate()
        .map(|(at, x)| {
            let bars = chart
                .series
                .iter()
                .zip(&classes)
                .filter_map(|(series, class)| {
                    let cell = chart.cell(x, series)?;
                    let s = shown(cell)?;
                    Some(Bar {
                        class: match cell.speedup {
                            Some(Comparison {
                                verdict: Verdict::NoDifference | Verdict::TooNoisy,
                                ..
                            }) if reference.is_some() => "unclear",
                            _ => own.get(at).unwrap_or(class),
                        },
                        value: s.value,
                        low: s.low,
                        high: s.high,
                        hint: hint(chart, cell, &s.caption),
                        caption: s.caption,
                    })
                });
            Group {
                label: chart.plan.name(x).to_owned(),
                detail: match about {
                    About::X(about) => about
                        .iter()
                        .find(|a| a.0 == *x)
                        .map_or("", |a| beside(chart.plan.name(x), &a.1)),
                    _ => "",
                }
                .to_owned(),
                bars: bars.collect(),
            }
        })
        .filter(|g| !g.bars.is_empty())
        .collect();
    if chart.series.len() > 1 || matches!(about, About::Series(_)) {
        frame.legend = legend(chart, &classes, about, without);
    }
    Bars {
        title: &title,
        frame: Some(&frame),
        groups: &groups,
        reference,
        tick,
    }
    .svg()
}

/// The colours of the series. One without a name has the colour of its engine, if it is of one.
fn classes(report: &Report, chart: &Chart) -> Vec<&'static str> {
    let names: Vec<&str> = chart.series.iter().map(String::as_str).collect();
    match names[..] {
        [""] => engines::classes(&[the_engine(report, chart).unwrap_or("")]),
        _ => engines::classes(&names),
    }
}

/// The colours of the groups of bars where each is an engine; empty where series have colours.
fn classes_of_x(chart: &Chart) -> Vec<&'static str> {
    let names: Vec<&str> = chart.xs.iter().map(String::as_str).collect();
    let is_engine = |name: &&str| engines::name(name).is_some();
    match chart.plan.series.is_none() && names.iter().any(is_engine) {
        true => engines::classes(&names),
        false => Vec::new(),
    }
}

/// The engine that everything in a chart was measured with.
fn the_engine<'r>(report: &'r Report, chart: &Chart) -> Option<&'r str> {
    let points = report.results.points.iter().filter(|p| {
        let mut cells = chart.cells.iter();
        cells.any(|c| c.points.contains(&p.id))
    });
    let mut names = points.filter_map(|p| p.axes.get(ENGINE).map(String::as_str));
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}

/// The series with their names, but for the one that is left out.
fn legend(
    chart: &Chart,
    classes: &[&'static str],
    about: &About,
    without: Option<&String>,
) -> Vec<Key> {
    let entries = chart.series.iter().zip(classes);
    entries
        .filter(|(series, _)| without != Some(series))
        .map(|(series, class)| Key {
            class,
            name: match series.is_empty() {
                true => chart.plan.measure.words(),
                false => chart.plan.name(series).to_owned(),
            },
            note: match about {
                About::Series(about) => about
                    .iter()
                    .find(|a| a.0 == *series)
                    .map_or("", |a| beside(chart.plan.name(series), &a.1))
                    .to_owned(),
                _ => String::new(),
            },
        })
        .collect()
}

/// What is to be said of an engine beside its name, which need not be said twice.
fn beside<'a>(name: &str, about: &'a str) -> &'a str {
    about
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix("; "))
        .unwrap_or(about)
}

fn hint(chart: &Chart, cell: &ChartCell, caption: &str) -> String {
    let mut name = vec![chart.plan.name(&cell.x)];
    if !cell.series.is_empty() {
        name.push(chart.plan.name(&cell.series));
    }
    format!("{}: {caption}\n{}", name.join(", "), cell.about())
}

/// Where it was measured, and what could not be.
fn footer(report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    let missing: Vec<String> = report.missing.iter().map(|m| m.what.clone()).collect();
    if !missing.is_empty() {
        out.push(format!("Not measured: {}.", missing.join("; ")));
    }
    if let Some(session) = report.results.sessions.last() {
        let e = &session.environment;
        out.push(format!(
            "{}, {} processors, {}, {}. hpsqlite {}, {}.",
            e.processor, e.processors, e.kernel, e.file_system, session.tool, session.began
        ));
    }
    out
}

/// What the engines are, where it is best said: once, at each x, or at each series.
enum About {
    Everything(String),
    X(Vec<(String, String)>),
    Series(Vec<(String, String)>),
    /// Each bar differs, or nothing is known.
    Nowhere,
}

impl About {
    fn of(chart: &Chart) -> About {
        let abouts: Vec<String> = chart.cells.iter().map(ChartCell::about).collect();
        if abouts.iter().all(String::is_empty) {
            return About::Nowhere;
        }
        if abouts.iter().all(|a| *a == abouts[0]) && chart.cells.len() > 1 {
            return About::Everything(abouts[0].clone());
        }
        let by = |key: fn(&ChartCell) -> &String| {
            let mut known: Vec<(String, String)> = Vec::new();
            for (cell, about) in chart.cells.iter().zip(&abouts) {
                match known.iter().find(|k| k.0 == *key(cell)) {
                    Some(k) if k.1 != *about => return None,
                    Some(_) => {}
                    None => known.push((key(cell).clone(), about.clone())),
                }
            }
            Some(known)
        };
        if let Some(known) = by(|c| &c.series) {
            return About::Series(known);
        }
        match by(|c| &c.x) {
            Some(known) if chart.shape == ChartShape::Bars => About::X(known),
            _ => About::Nowhere,
        }
    }
}
