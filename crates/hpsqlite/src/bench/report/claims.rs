//! What a report claims: its tables in a few sentences, and as figures.
//!
//! A chart of many steps has a mean, one along an axis its break-even points: both say what it comes
//! to ([`Chart::findings`]). Of all others it is counted what was better or worse than what it is
//! compared with, or, where engines are compared with one another, which was best how often.

use std::collections::BTreeSet;

use super::{Chart, ChartCell, Report, Verdict};
use crate::bench::model::ENGINE;
use crate::text;

/// Of fewer engines none is called the best.
const FEWEST: usize = 3;

/// The claims of a report, a sentence each.
pub fn sentences(report: &Report) -> Vec<String> {
    let several = report.charts.len() > 1;
    let mut all = Vec::new();
    for chart in &report.charts {
        for words in chart.findings() {
            all.push(match several {
                true => format!("{}: {words}", chart.title()),
                false => words.to_owned(),
            });
        }
    }
    let bare = report.charts.iter().filter(|c| c.findings().count() == 0);
    let bare: Vec<&Chart> = bare.collect();
    let measures: BTreeSet<String> = bare.iter().filter_map(|c| against_base(c)).collect();
    let tallies = counted(&bare, measures.len() > 1);
    all.extend(tallies.iter().map(Tally::words));
    all.extend(winners(&bare).iter().map(Winners::words));
    all
}

/// The same in a few figures.
pub fn figures(report: &Report) -> String {
    let charts: Vec<&Chart> = report.charts.iter().collect();
    let mut means: Vec<(&str, Vec<String>)> = Vec::new();
    for (chart, mean) in charts
        .iter()
        .flat_map(|c| c.means.iter().map(move |m| (c, m)))
    {
        let name = chart.plan.name(&mean.series);
        let ratio = text::ratio(mean.ratio);
        match means.iter_mut().find(|(known, _)| *known == name) {
            Some((_, ratios)) => ratios.push(ratio),
            None => means.push((name, vec![ratio])),
        }
    }
    let means = means.iter().map(|(n, r)| format!("{n} {}", r.join(", ")));
    let mut all: Vec<String> = means.collect();
    if all.is_empty() {
        let tallies = counted(&charts, false);
        let several = tallies.iter().any(|t| t.base != tallies[0].base);
        all = tallies.iter().map(|t| t.short(several)).collect();
    }
    if all.is_empty() {
        all = winners(&charts).iter().map(Winners::short).collect();
    }
    all.join("; ")
}

/// How the results of a series compare with those of the base.
struct Tally<'r> {
    /// By which measure, where several are kept apart.
    measure: String,
    series: &'r str,
    base: &'r str,
    all: usize,
    better: usize,
    worse: usize,
    /// Those with too few trials.
    unknown: usize,
    /// Times as good, of those that are better and worse.
    best: f64,
    worst: f64,
}

impl Tally<'_> {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |n: usize, words: String| {
            if n > 0 {
                parts.push(format!("{n} {words}"));
            }
        };
        let better = format!("better (at best {})", text::ratio(self.best));
        let worse = format!("worse (at worst {})", text::ratio(self.worst));
        part(self.better, better);
        part(self.worse, worse);
        part(self.unknown, "with too few trials to tell".to_owned());
        let clear = self.better + self.worse + self.unknown;
        part(self.all - clear, "with no clear difference".to_owned());
        let measure = match self.measure.is_empty() {
            true => String::new(),
            false => format!("{}: ", text::capitalised(&self.measure)),
        };
        let Tally {
            series, base, all, ..
        } = self;
        let parts = parts.join(", ");
        format!("{measure}{series} against {base}: of {all} results {parts}.")
    }

    /// `several`: there are others with another base.
    fn short(&self, several: bool) -> String {
        let Tally {
            series,
            base,
            all,
            better,
            worse,
            unknown,
            ..
        } = self;
        let against = match several {
            true => format!(" against {base}"),
            false => String::new(),
        };
        match all - unknown {
            0 => format!("{series}{against}: too few trials to tell"),
            told => format!("{series}{against} {better} of {told} better, {worse} worse"),
        }
    }
}

/// What a chart measures whose series stand beside a base.
fn against_base(chart: &Chart) -> Option<String> {
    let beside = chart.plan.series.is_some() && chart.plan.base.is_some();
    beside.then(|| chart.plan.measure.words())
}

/// Counts what is beside a base, for each measure if they are kept apart.
fn counted<'r>(charts: &[&'r Chart], apart: bool) -> Vec<Tally<'r>> {
    let mut tallies: Vec<Tally<'r>> = Vec::new();
    for chart in charts {
        let (Some(measure), Some(base)) = (against_base(chart), &chart.plan.base) else {
            continue;
        };
        let measure = if apart { measure } else { String::new() };
        for (cell, found) in chart.cells.iter().filter_map(|c| Some((c, c.speedup?))) {
            let names = (chart.plan.name(&cell.series), chart.plan.name(base));
            let is = |t: &Tally<'_>| (t.series, t.base) == names && t.measure == measure;
            let known = tallies.iter().position(is);
            let at = known.unwrap_or_else(|| {
                tallies.push(Tally {
                    measure: measure.clone(),
                    series: names.0,
                    base: names.1,
                    all: 0,
                    better: 0,
                    worse: 0,
                    unknown: 0,
                    best: 0.0,
                    worst: f64::INFINITY,
                });
                tallies.len() - 1
            });
            let tally = &mut tallies[at];
            let ratio = found.speedup.ratio;
            tally.all += 1;
            match found.verdict {
                // A difference that cannot be seen in the figure is none to claim.
                Verdict::Better | Verdict::Worse if text::ratio(ratio) == text::ratio(1.0) => {}
                Verdict::Better => {
                    tally.better += 1;
                    tally.best = tally.best.max(ratio);
                }
                Verdict::Worse => {
                    tally.worse += 1;
                    tally.worst = tally.worst.min(ratio);
                }
                Verdict::Unknown => tally.unknown += 1,
                Verdict::NoDifference | Verdict::TooNoisy => {}
            }
        }
    }
    tallies
}

/// Which engine was best how often, by one measure.
struct Winners<'r> {
    measure: String,
    /// The most engines that were compared.
    engines: usize,
    won: Vec<(&'r str, usize)>,
}

impl Winners<'_> {
    fn all(&self) -> usize {
        self.won.iter().map(|(_, n)| n).sum()
    }

    fn words(&self) -> String {
        let (measure, engines, all) = (text::capitalised(&self.measure), self.engines, self.all());
        let won = self.won.iter().map(|(name, n)| format!("{name} in {n}"));
        let won = won.collect::<Vec<_>>().join(", ");
        format!("{measure}, the best of up to {engines} engines in {all} comparisons: {won}.")
    }

    fn short(&self) -> String {
        let first = self.won.first();
        let first = first.map(|(name, n)| format!("{name} best in {n} of {}", self.all()));
        first.unwrap_or_default()
    }
}

/// Looks for the best engine wherever several are beside one another and none is the base, or each
/// is a bar.
fn winners<'r>(charts: &[&'r Chart]) -> Vec<Winners<'r>> {
    let mut all: Vec<Winners<'r>> = Vec::new();
    for chart in charts {
        let (engine, other): (fn(&ChartCell) -> &str, &[String]) = match &chart.plan.series {
            _ if chart.plan.x == ENGINE => (|c| &c.x, &chart.series),
            Some(series) if series == ENGINE && chart.plan.base.is_none() => {
                (|c| &c.series, &chart.xs)
            }
            _ => continue,
        };
        for at in other {
            let here = |c: &&ChartCell| match chart.plan.x == ENGINE {
                true => c.series == *at,
                false => c.x == *at,
            };
            let cells: Vec<&'r ChartCell> = chart.cells.iter().filter(here).collect();
            let by_median = |a: &&&ChartCell, b: &&&ChartCell| a.median.total_cmp(&b.median);
            let best = match chart.plan.measure.smaller_is_better() {
                true => cells.iter().min_by(by_median),
                false => cells.iter().max_by(by_median),
            };
            let Some(best) = best.filter(|_| cells.len() >= FEWEST) else {
                continue;
            };
            let measure = chart.plan.measure.words();
            let known = all.iter().position(|w| w.measure == measure);
            let place = known.unwrap_or_else(|| {
                all.push(Winners {
                    measure,
                    engines: 0,
                    won: Vec::new(),
                });
                all.len() - 1
            });
            let winners = &mut all[place];
            winners.engines = winners.engines.max(cells.len());
            let name = chart.plan.name(engine(best));
            match winners.won.iter_mut().find(|(known, _)| *known == name) {
                Some((_, n)) => *n += 1,
                None => winners.won.push((name, 1)),
            }
        }
    }
    for winners in &mut all {
        winners.won.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    }
    all
}
