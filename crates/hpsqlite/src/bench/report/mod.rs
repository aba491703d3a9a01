//! Reports of a results file.
//!
//! ```text
//! results file ──> Results ──┐
//! suite ──> Presentation ────┴─ build ──> Report ──> terminal, HTML page, SVG, PNG, CSV, JSON, Markdown
//! ```
//!
//! A [`Chart`] is made of cells: a bar or a point, the samples of one point of the suite and one
//! step. All formats are made from the cells, so that they say the same.

mod advice;
mod answers;
mod break_even;
mod chart;
mod claims;
mod compared;
mod cut;
mod draw;
mod files;
mod html;
mod markdown;
mod mean;
pub mod table;
mod terminal;
#[cfg(test)]
pub mod tests;
#[cfg(test)]
mod trust;
mod verdict;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::bench::store::{Results, StoredSuite};
use crate::bench::suite::chart::Presentation;
use crate::output::OutputFile;
use crate::sys::Library;
use crate::{libs, text};
use advice::{Missing, advice, began, missing, other_place};
use answers::Answers;
use chart::trials;
use compared::compare;
use cut::{cut, suggested};
use verdict::MIN_TRIALS;

pub use chart::{Chart, ChartCell};
pub use verdict::{Comparison, Verdict};

/// The exit status where nothing got slower than it was, ...
pub const NOT_SLOWER: u8 = 0;
/// ... and where something did, or where engines gave different answers.
pub const SLOWER: u8 = 1;
/// What got slower by less than this share is not reported unless asked for: with many cells, one in
/// forty is beyond its 95 % interval by chance.
pub const TOLERANCE: f64 = 0.02;

/// What is to be made of a results file.
pub struct ReportOptions<'a> {
    pub results: PathBuf,
    /// An older results file to compare with.
    pub against: Option<PathBuf>,
    /// What got slower by a smaller share than this is not called slower; usually [`TOLERANCE`].
    pub tolerance: f64,
    /// Whether to print the tables.
    pub terminal: bool,
    pub html: Option<PathBuf>,
    pub json: Option<PathBuf>,
    /// Every sample, a line each.
    pub samples_csv: Option<PathBuf>,
    /// What stands in the charts, a line a bar.
    pub summaries_csv: Option<PathBuf>,
    /// Folders for the charts, a file each.
    pub svg: Option<PathBuf>,
    pub png: Option<PathBuf>,
    /// What a suite's report shows.
    pub presented: &'a dyn Fn(&StoredSuite) -> Result<Presentation>,
}

/// Makes the reports; returns the exit status.
pub fn run(options: &ReportOptions<'_>) -> Result<u8> {
    let begin =
        |path: &Option<PathBuf>| OutputFile::begin(path.as_deref(), [options.results.as_path()]);
    let (html, json) = (begin(&options.html)?, begin(&options.json)?);
    let (samples, summaries) = (begin(&options.samples_csv)?, begin(&options.summaries_csv)?);
    let library = Library::load(&libs::stock()?)?;
    let results = Results::read(&library, &options.results)?;
    let presentation = (options.presented)(&results.suite)?;
    let old = match &options.against {
        Some(path) => Some(Results::read(&library, path)?),
        None => None,
    };
    let report = Report::build(results, old.as_ref(), presentation, options.tolerance);
    if let Some(file) = html {
        file.end(html::page(&report))?;
    }
    if let Some(file) = json {
        file.end(serde_json::to_string_pretty(&report)? + "\n")?;
    }
    if let Some(file) = samples {
        file.end(files::samples(&report.results)?)?;
    }
    if let Some(file) = summaries {
        file.end(files::summaries(&report)?)?;
    }
    if let Some(folder) = &options.svg {
        pictures(&report, folder, "svg", |svg| Ok(svg.file().into_bytes()))?;
    }
    if let Some(folder) = &options.png {
        pictures(&report, folder, "png", crate::picture::png)?;
    }
    if options.terminal {
        terminal::show(&report).context("cannot write to standard output")?;
    }
    Ok(report.status())
}

/// Makes one Markdown page of several results files, in their order.
pub fn document(
    paths: &[PathBuf],
    presented: &dyn Fn(&StoredSuite) -> Result<Presentation>,
) -> Result<String> {
    let library = Library::load(&libs::stock()?)?;
    let mut reports = Vec::new();
    for path in paths {
        let results = Results::read(&library, path)?;
        let presentation = presented(&results.suite)?;
        reports.push(Report::build(results, None, presentation, TOLERANCE));
    }
    Ok(markdown::page(&reports))
}

/// Writes each chart into a file of its own.
fn pictures(
    report: &Report,
    folder: &Path,
    kind: &str,
    make: impl Fn(&crate::chart::Svg) -> Result<Vec<u8>>,
) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, svg) in draw::all(report) {
        let path = folder.join(format!("{name}.{kind}"));
        if let Some(file) = OutputFile::begin(Some(&path), [])? {
            let content = make(&svg).with_context(|| path.display().to_string())?;
            file.end(content)?;
        }
    }
    Ok(())
}

/// All that a report says.
#[derive(Serialize)]
pub struct Report {
    pub title: String,
    pub about: String,
    pub command: String,
    pub charts: Vec<Chart>,
    /// What stands at the end.
    pub tables: Vec<table::ReportTable>,
    pub missing: Vec<Missing>,
    pub warnings: Vec<String>,
    /// When the older results were begun, if there are such.
    pub against: Option<String>,
    /// Where engines, or trials, read different things: a time says nothing there.
    pub differing: Vec<String>,
    pub results: Results,
}

impl Report {
    /// Works everything out.
    pub fn build(
        results: Results,
        old: Option<&Results>,
        presentation: Presentation,
        tolerance: f64,
    ) -> Report {
        let plans = match presentation.charts {
            none if none.is_empty() => suggested(&results),
            plans => plans,
        };
        let title = match presentation.title {
            none if none.is_empty() => text::capitalised(&results.suite.name),
            title => title,
        };
        let tables = presentation.tables.iter();
        let tables = tables.map(|p| table::table(p, &results)).collect();
        let mut charts: Vec<Chart> = plans.iter().flat_map(|p| cut(p, &results)).collect();
        if let Some(old) = old {
            for chart in &mut charts {
                compare(chart, &cut(&chart.plan, old), tolerance);
            }
        }
        let names = |engine: &str| {
            let named = charts.iter().find_map(|c| c.plan.names.get(engine));
            named.map_or(engine, String::as_str).to_owned()
        };
        let answers = Answers::compare(&results, &names);
        let mut warnings = answers.differing.clone();
        warnings.extend(results.warnings.clone());
        warnings.extend(answers.loosely);
        warnings.extend(advice(&results, &charts));
        if let Some(old) = old {
            warnings.extend(other_place(&results, old));
        }
        Report {
            title,
            about: presentation.about,
            command: presentation.command,
            missing: missing(&results),
            charts,
            tables,
            warnings,
            against: old.map(began),
            differing: answers.differing,
            results,
        }
    }

    /// Cells that are beyond their interval other than they were, worse or better.
    pub fn changed(&self, verdict: Verdict) -> Vec<(&Chart, &ChartCell)> {
        let all = self
            .charts
            .iter()
            .flat_map(|c| c.cells.iter().map(move |cell| (c, cell)));
        all.filter(|(_, cell)| cell.change.is_some_and(|c| c.verdict == verdict))
            .collect()
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match self.changed(Verdict::Worse).is_empty() && self.differing.is_empty() {
            true => NOT_SLOWER,
            false => SLOWER,
        }
    }

    /// Fewest and most trials over all charts.
    pub fn trials(&self) -> String {
        let all = self.charts.iter().flat_map(|c| &c.cells);
        trials(&all.collect::<Vec<_>>())
    }

    /// The days of the first and the last run.
    pub fn days(&self) -> String {
        let day = |s: &super::store::RunSession| s.began.get(..10).unwrap_or(&s.began).to_owned();
        match &self.results.sessions[..] {
            [] => String::new(),
            [first, .., last] if day(first) != day(last) => {
                format!("{} to {}", day(first), day(last))
            }
            [first, ..] => day(first),
        }
    }

    /// What the comparison with the older results comes to.
    pub fn verdict(&self) -> Vec<String> {
        let Some(against) = &self.against else {
            return Vec::new();
        };
        let compared = |c: &&ChartCell| c.change.is_some_and(|c| c.verdict != Verdict::Unknown);
        let all = self.charts.iter().flat_map(|c| &c.cells);
        let compared = all.filter(compared).count();
        let (worse, better) = (
            self.changed(Verdict::Worse).len(),
            self.changed(Verdict::Better).len(),
        );
        let noisy = self.changed(Verdict::TooNoisy).len();
        let mut words = vec![match (compared, worse, better) {
            (0, ..) => format!(
                "Nothing can be compared with the results of {against}: there are no cells with at least \
                 {MIN_TRIALS} trials in both."
            ),
            (_, 0, 0) if noisy == compared => {
                format!("{compared} results are too noisy to be compared with those of {against}.")
            }
            (_, 0, 0) => format!(
                "None of {} results differs from those of {against}.",
                compared - noisy
            ),
            _ => format!(
                "Of {compared} results, {worse} got worse and {better} got better since {against}."
            ),
        }];
        if noisy > 0 && compared > noisy {
            words.push(format!("Of {noisy} more it is too noisy to tell."));
        }
        words
    }
}
