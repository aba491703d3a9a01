//! Reports of a results file.
//!
//! ```text
//! results file ──> Results ──┐
//! suite ──> Presentation ────┴─ build ──> Report ──> terminal, HTML page, SVG, PNG, CSV, JSON, Markdown
//! ```
//!
//! A [`Chart`] is made of cells: a bar or a point, the samples of one point of the suite and one
//! step. All formats are made from the cells, so that they say the same.

mod break_even;
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

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use super::answer::{Agreement, Answer, Way};
use super::model::{ENGINE, Effective, Values};
use super::store::{Ignored, Kind, Point, Recorded, Results, Suite};
use super::suite::chart::{ChartPlan, Interval, Measure, Presentation, STEP, Shape};
use crate::compare::stats::{self, Speedup};
use crate::output::OutputFile;
use crate::sys::Library;
use crate::{libs, text};
use break_even::BreakEven;
use mean::Mean;

/// The exit status where nothing got slower than it was, ...
pub const NOT_SLOWER: u8 = 0;
/// ... and where something did, or where engines gave different answers.
pub const SLOWER: u8 = 1;

/// With fewer trials nothing is said about differences: five in a row may be the same way by chance
/// once in sixteen times, three once in four.
const MIN_TRIALS: usize = 5;
/// "No difference" is said where the interval excludes that one is so many times as good as the other.
const SAME: f64 = 1.25;
/// Times whose quartiles are further from the median than this share of it are warned of.
const NOISE: f64 = 0.1;
/// A first trial slower by this than the slowest of the others was not warmed up.
const FIRST: f64 = 1.3;
/// So many different numbers make a line.
const LINE_POINTS: usize = 3;
/// What got slower by less than this share is not reported unless asked for: with many cells, one in
/// forty is beyond its 95 % interval by chance.
pub const TOLERANCE: f64 = 0.02;

/// What is to be made of a results file.
pub struct Options<'a> {
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
    pub presented: &'a dyn Fn(&Suite) -> Result<Presentation>,
}

/// Makes the reports; returns the exit status.
pub fn run(options: &Options<'_>) -> Result<u8> {
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
        pictures(&report, folder, "png", crate::chart::picture::png)?;
    }
    if options.terminal {
        terminal::show(&report).context("cannot write to standard output")?;
    }
    Ok(report.status())
}

/// Makes one Markdown page of several results files, in their order.
pub fn document(
    paths: &[PathBuf],
    presented: &dyn Fn(&Suite) -> Result<Presentation>,
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
    pub tables: Vec<table::Table>,
    pub missing: Vec<Missing>,
    pub warnings: Vec<String>,
    /// When the older results were begun, if there are such.
    pub against: Option<String>,
    /// Where engines, or trials, read different things: a time says nothing there.
    pub differing: Vec<String>,
    pub results: Results,
}

/// What a step of an engine gave.
struct Given<'r> {
    engine: &'r str,
    text: &'r str,
    answer: Option<Answer>,
}

impl<'r> Given<'r> {
    fn of(engine: &'r str, text: &'r str) -> Given<'r> {
        Given {
            engine,
            text,
            answer: Answer::parse(text),
        }
    }

    fn agrees(&self, other: &Given<'_>) -> Agreement {
        match (&self.answer, &other.answer) {
            _ if self.text == other.text => Agreement::Exact,
            (Some(a), Some(b)) => a.agrees(b),
            _ => Agreement::Different,
        }
    }

    fn words(&self) -> String {
        match &self.answer {
            Some(answer) => answer.words(),
            None => self.text.to_owned(),
        }
    }
}

/// What comparing the answers came to.
#[derive(Default)]
struct Answers {
    /// Steps of which not all samples have the same answer, though only the engine differs.
    differing: Vec<String>,
    /// How answers were compared that are not the same to the byte.
    loosely: Vec<String>,
}

impl Answers {
    /// Compares all answers; `name` says how an engine is called.
    fn compare(results: &Results, name: &dyn Fn(&str) -> String) -> Answers {
        let mut known: BTreeMap<(String, &str), Vec<Given<'_>>> = BTreeMap::new();
        let mut out = Answers::default();
        let (mut turned, mut rounded, mut foreign) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for point in &results.points {
            let engine = point.axes.get(ENGINE).map_or("", String::as_str);
            let others: Vec<String> = point
                .axes
                .iter()
                .filter(|(axis, _)| *axis != ENGINE)
                .map(|(axis, value)| format!("{axis} {value}"))
                .collect();
            let others = others.join(", ");
            for recorded in &point.samples {
                let sample = &recorded.sample;
                if sample.answer.is_empty() {
                    continue;
                }
                let given = Given::of(engine, &sample.answer);
                let way = |g: &Given<'_>| g.answer.as_ref().map(|a| a.way);
                let known = known.entry((others.clone(), &sample.step)).or_default();
                // Those that must be equal to the byte, if there are such.
                let alike = known.iter().find(|k| way(k) == way(&given));
                let is_new = alike.is_none();
                let Some(with) = alike.or(known.first()) else {
                    known.push(given);
                    continue;
                };
                match given.agrees(with) {
                    Agreement::Different => {
                        let place = match others.is_empty() {
                            true => sample.step.clone(),
                            false => format!("{}, {others}", sample.step),
                        };
                        out.differing.push(format!(
                            "Different answers: {place}: {engine} gives {}, {} gave {}.",
                            given.words(),
                            with.engine,
                            with.words()
                        ));
                        break;
                    }
                    Agreement::Exact => {}
                    _ if way(&given) == Some(Way::Duckdb) => {
                        foreign.insert(name(engine));
                    }
                    Agreement::OtherOrder => {
                        turned.insert(sample.step.clone());
                    }
                    Agreement::Rounded => {
                        rounded.insert(sample.step.clone());
                    }
                }
                if is_new {
                    known.push(given);
                }
            }
        }
        let list = |names: &BTreeSet<String>| shortened(&names.iter().cloned().collect::<Vec<_>>());
        if !foreign.is_empty() {
            out.loosely.push(format!(
                "The answers of {} are compared by the number of rows and, for each column, the number of NULLs, \
                 the sum of the numbers (to one part in ten million) and a hash of the texts in any order; those of \
                 SQLite libraries to the byte.",
                list(&foreign)
            ));
        }
        if !turned.is_empty() {
            out.loosely.push(format!(
                "With ANALYZE the rows are the same to the byte but come in another order: {}.",
                list(&turned)
            ));
        }
        if !rounded.is_empty() {
            out.loosely.push(format!(
                "With ANALYZE numbers are added up in another order, so they differ in their last digits: {}.",
                list(&rounded)
            ));
        }
        out
    }
}

/// A chart and the numbers in it.
#[derive(Serialize)]
pub struct Chart {
    pub plan: ChartPlan,
    /// The values that this chart is for, where there are several of the plan.
    pub separate: Vec<(String, String)>,
    pub shape: Shape,
    /// Values of x and of the series, in the order in which they stand.
    pub xs: Vec<String>,
    pub series: Vec<String>,
    /// By x, then by series.
    pub cells: Vec<Cell>,
    /// Where lines cross, if the plan asks for it.
    pub break_even: Vec<BreakEven>,
    /// What the speed-ups of many steps come to.
    pub means: Vec<Mean>,
}

/// A bar or a point.
#[derive(Serialize)]
pub struct Cell {
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

/// How many times as good it is as something else.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    pub speedup: Speedup,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Better,
    Worse,
    /// None of [`SAME`] or more.
    NoDifference,
    /// The interval leaves open whether there is one.
    TooNoisy,
    /// Too few trials.
    Unknown,
}

impl Verdict {
    /// As it stands in files.
    fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference",
            Verdict::TooNoisy => "too noisy to tell",
            Verdict::Unknown => "too few trials",
        }
    }
}

impl Comparison {
    fn of(speedup: Speedup, trials: usize, tolerance: f64) -> Comparison {
        let verdict = match speedup {
            _ if trials < MIN_TRIALS => Verdict::Unknown,
            s if s.low > 1.0 && s.ratio > 1.0 + tolerance => Verdict::Better,
            s if s.high < 1.0 && 1.0 / s.ratio > 1.0 + tolerance => Verdict::Worse,
            s if s.low >= 1.0 / SAME && s.high <= SAME => Verdict::NoDifference,
            _ => Verdict::TooNoisy,
        };
        Comparison { speedup, verdict }
    }

    /// In a word or two, as it stands at a bar.
    pub fn short(&self) -> String {
        match self.verdict {
            Verdict::NoDifference | Verdict::TooNoisy => self.verdict.name().to_owned(),
            Verdict::Unknown => format!("about {}", text::ratio(self.speedup.ratio)),
            _ => text::ratio(self.speedup.ratio),
        }
    }

    /// With its interval; what is worse also in per cent.
    pub fn words(&self, measure: &Measure) -> String {
        let Speedup { ratio, low, high } = self.speedup;
        let interval = text::interval(low, high);
        match self.verdict {
            Verdict::Better => format!("{} ({interval})", text::ratio(ratio)),
            Verdict::Worse => {
                let what = match (measure.is_speed(), measure.smaller_is_better()) {
                    (true, true) => "more time",
                    (true, false) => "slower",
                    (false, _) => "more",
                };
                let worse = match measure.smaller_is_better() {
                    // 10 % more time is 0.91 times as fast.
                    true if ratio > 0.5 => format!("{} {what}", text::per_cent(1.0 / ratio - 1.0)),
                    true => format!("{:.1} times as much", 1.0 / ratio),
                    false => format!("{} {what}", text::per_cent(1.0 - ratio)),
                };
                format!("{} ({interval}), {worse}", text::ratio(ratio))
            }
            Verdict::NoDifference | Verdict::TooNoisy => {
                format!("{} ({interval})", self.verdict.name())
            }
            Verdict::Unknown => format!("{} (too few trials)", text::ratio(ratio)),
        }
    }
}

/// What could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    pub kind: Kind,
    pub reason: String,
    /// What the points have in common, and how many they are.
    pub what: String,
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
    pub fn changed(&self, verdict: Verdict) -> Vec<(&Chart, &Cell)> {
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
        let day = |s: &super::store::Session| s.began.get(..10).unwrap_or(&s.began).to_owned();
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
        let compared = |c: &&Cell| c.change.is_some_and(|c| c.verdict != Verdict::Unknown);
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

    fn separate_words(&self) -> String {
        let one = |(axis, value): &(String, String)| match axis == STEP {
            true => self.plan.name(value).to_owned(),
            false => format!("{axis} {}", self.plan.name(value)),
        };
        self.separate.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The cell at these values.
    pub fn cell(&self, x: &str, series: &str) -> Option<&Cell> {
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
fn trials(cells: &[&Cell]) -> String {
    let counts = || cells.iter().map(|c| c.values.len());
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (1, 1) => "1 trial".to_owned(),
        (least, most) if least == most => format!("{most} trials"),
        (least, most) => format!("{least} to {most} trials"),
    }
}

impl Cell {
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

/// The value of an axis for a step of a point.
fn value<'a>(point: &'a Point, step: &'a str, axis: &str) -> &'a str {
    match axis {
        STEP => step,
        _ => point.axes.get(axis).map_or("", String::as_str),
    }
}

/// The axes of a suite that have more than one value, in the order of their names, and `step`.
fn varying(results: &Results) -> Vec<(String, Vec<String>)> {
    let mut axes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |axis: &str, value: &str| {
        let values = axes.entry(axis.to_owned()).or_default();
        if !values.iter().any(|v| v == value) {
            values.push(value.to_owned());
        }
    };
    for point in &results.points {
        for (axis, value) in &point.axes {
            add(axis, value);
        }
        for recorded in &point.samples {
            add(STEP, &recorded.sample.step);
        }
    }
    axes.into_iter().filter(|(_, v)| v.len() > 1).collect()
}

/// Charts that the axes of a suite suggest, where it names none.
fn suggested(results: &Results) -> Vec<ChartPlan> {
    let axes = varying(results);
    let named = |name: &str| axes.iter().find(|(axis, _)| axis == name);
    let series = ["engine", "library"].into_iter().find_map(named);
    let numeric =
        |v: &[String]| v.len() >= LINE_POINTS && v.iter().all(|v| text::parse_number(v).is_some());
    let others = || axes.iter().filter(|a| series.is_none_or(|s| s.0 != a.0));
    let x = others()
        .find(|(_, v)| numeric(v))
        .or_else(|| others().max_by_key(|(_, v)| v.len()));
    let (x, series) = match (x, series) {
        (Some(x), series) => (x.0.clone(), series.map(|s| s.0.clone())),
        (None, Some(series)) => (series.0.clone(), None),
        (None, None) => (STEP.to_owned(), None),
    };
    let operations = results
        .points
        .iter()
        .flat_map(|p| &p.samples)
        .all(|s| s.sample.operations > 1);
    vec![ChartPlan {
        title: text::capitalised(&results.suite.name),
        about: String::new(),
        measure: if operations {
            Measure::TimePerOperation
        } else {
            Measure::Time
        },
        base: results
            .points
            .iter()
            .any(|p| p.axes.values().any(|v| v == "stock"))
            .then(|| "stock".to_owned()),
        x,
        series,
        separate: Vec::new(),
        only: BTreeMap::new(),
        interval: Interval::default(),
        shape: None,
        break_even: Vec::new(),
        names: Values::new(),
    }]
}

/// Samples with what they are samples of.
struct Taken<'a> {
    point: &'a Point,
    recorded: &'a Recorded,
    value: f64,
}

/// Axes that make separate charts, and their values.
type Separate = Vec<(String, String)>;

/// The charts of a plan.
fn cut(plan: &ChartPlan, results: &Results) -> Vec<Chart> {
    let mut taken = Vec::new();
    for point in &results.points {
        for recorded in &point.samples {
            let step = &recorded.sample.step;
            let wanted = || {
                let mut only = plan.only.iter();
                only.all(|(axis, wanted)| wanted.has(value(point, step, axis)))
            };
            if let Some(value) = plan.measure.of(&recorded.sample)
                && wanted()
            {
                taken.push(Taken {
                    point,
                    recorded,
                    value,
                });
            }
        }
    }
    let separate = separate_axes(plan, &taken);
    // In the order of the suite.
    let mut parts: Vec<(Separate, Vec<&Taken>)> = Vec::new();
    for t in &taken {
        let key: Vec<(String, String)> = separate
            .iter()
            .map(|axis| {
                let value = value(t.point, &t.recorded.sample.step, axis);
                (axis.clone(), value.to_owned())
            })
            .collect();
        match parts.iter_mut().find(|p| p.0 == key) {
            Some(part) => part.1.push(t),
            None => parts.push((key, vec![t])),
        }
    }
    // What is the same in all of them needs no mention.
    let constant: Vec<bool> = (0..separate.len())
        .map(|i| parts.iter().all(|p| p.0[i] == parts[0].0[i]))
        .collect();
    let mut charts: Vec<Chart> = parts
        .into_iter()
        .map(|(key, taken)| {
            let key = key.into_iter().zip(&constant).filter(|(_, c)| !**c);
            chart(plan, key.map(|(k, _)| k).collect(), &taken)
        })
        .collect();
    // Said once, before the first of them.
    for chart in charts.iter_mut().skip(1) {
        chart.plan.about.clear();
    }
    charts
}

/// The axes that make charts of their own: those of the plan, and each that would otherwise put
/// samples of different things into one cell.
fn separate_axes(plan: &ChartPlan, taken: &[Taken<'_>]) -> Vec<String> {
    let mut axes = plan.separate.clone();
    let all: BTreeSet<&str> = taken
        .iter()
        .flat_map(|t| t.point.axes.keys().map(String::as_str))
        .chain([STEP])
        .collect();
    for axis in all {
        let named = axis == plan.x || plan.series.as_deref() == Some(axis);
        if named || axes.iter().any(|a| a == axis) {
            continue;
        }
        let mut cells: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
        let mixes = taken.iter().any(|t| {
            let step = &t.recorded.sample.step;
            let key = axes
                .iter()
                .chain(plan.series.iter())
                .chain([&plan.x])
                .map(|a| value(t.point, step, a))
                .collect();
            let here = value(t.point, step, axis);
            *cells.entry(key).or_insert(here) != here
        });
        if mixes {
            axes.push(axis.to_owned());
        }
    }
    axes
}

fn chart(plan: &ChartPlan, separate: Vec<(String, String)>, taken: &[&Taken<'_>]) -> Chart {
    let mut xs: Vec<String> = Vec::new();
    let mut series: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(usize, usize), Vec<&Taken>> = BTreeMap::new();
    for &t in taken {
        let step = &t.recorded.sample.step;
        let place = |all: &mut Vec<String>, value: &str| match all.iter().position(|v| v == value) {
            Some(at) => at,
            None => {
                all.push(value.to_owned());
                all.len() - 1
            }
        };
        let key = (
            place(&mut xs, value(t.point, step, &plan.x)),
            place(
                &mut series,
                plan.series.as_ref().map_or("", |s| value(t.point, step, s)),
            ),
        );
        cells.entry(key).or_default().push(t);
    }
    let mut cells: Vec<Cell> = cells
        .into_iter()
        .map(|((x, s), taken)| cell(plan, &xs[x], &series[s], &taken))
        .collect();
    let numbers: Option<Vec<f64>> = xs.iter().map(|x| text::parse_number(x)).collect();
    if numbers.is_some() {
        let number = |x: &str| text::parse_number(x).unwrap_or(0.0);
        xs.sort_by(|a, b| number(a).total_cmp(&number(b)));
        cells.sort_by(|a, b| number(&a.x).total_cmp(&number(&b.x)));
    }
    let different = numbers.map_or(0, |mut n| {
        n.sort_by(f64::total_cmp);
        n.dedup();
        n.len()
    });
    speedups(plan, &mut cells);
    let mut chart = Chart {
        plan: plan.clone(),
        separate,
        shape: match plan.shape {
            Some(Shape::Lines) if different > 1 => Shape::Lines,
            None if different >= LINE_POINTS => Shape::Lines,
            _ => Shape::Bars,
        },
        xs,
        series,
        cells,
        break_even: Vec::new(),
        means: Vec::new(),
    };
    chart.break_even = break_even::of(&chart);
    chart.means = mean::of(&chart);
    chart
}

fn cell(plan: &ChartPlan, x: &str, series: &str, taken: &[&Taken<'_>]) -> Cell {
    let values: BTreeMap<u32, f64> = taken.iter().map(|t| (t.recorded.trial, t.value)).collect();
    let plain: Vec<f64> = values.values().copied().collect();
    let summary = stats::summary(&plain);
    let quartiles = stats::quartiles(&plain);
    let (low, high) = match plan.interval {
        Interval::Quartiles => quartiles,
        Interval::Confidence => stats::median_interval(&plain),
    };
    let last = taken[taken.len() - 1].point;
    Cell {
        x: x.to_owned(),
        series: series.to_owned(),
        points: taken.iter().map(|t| t.point.id).collect(),
        values,
        median: summary.median,
        low,
        high,
        quartiles,
        least: summary.min,
        most: summary.max,
        cut: taken
            .iter()
            .map(|t| &t.recorded.sample)
            .filter(|s| s.asked > 0)
            .map(|s| (s.operations, s.asked))
            .min(),
        is_base: false,
        speedup: None,
        change: None,
        effective: last.effective.clone(),
        ignored: last.ignored(),
    }
}

/// Values as times, of which a smaller one is better.
fn as_times(measure: &Measure, values: impl Iterator<Item = f64>) -> Vec<f64> {
    match measure.smaller_is_better() {
        true => values.collect(),
        false => values.map(|v| 1.0 / v).collect(),
    }
}

/// Fills in the speed-ups over the base, of trials that both have.
fn speedups(plan: &ChartPlan, cells: &mut [Cell]) {
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
fn compared(plan: &ChartPlan, base: &Cell, cell: &Cell) -> Option<Comparison> {
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
fn compare(chart: &mut Chart, old: &[Chart], tolerance: f64) {
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
        let positive = |c: &Cell| {
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

/// What was not measured, the same reason once.
fn missing(results: &Results) -> Vec<Missing> {
    let mut reasons: BTreeMap<(Kind, &str), Vec<&Point>> = BTreeMap::new();
    for point in &results.points {
        for problem in &point.problems {
            let points = reasons.entry((problem.kind, &problem.reason)).or_default();
            if !points.iter().any(|p| p.id == point.id) {
                points.push(point);
            }
        }
    }
    let varying = varying(results);
    reasons
        .into_iter()
        .map(|((kind, reason), points)| {
            // What these have in common, and others have not.
            let common = varying.iter().filter_map(|(axis, _)| {
                let value = points[0].axes.get(axis)?;
                let same = points.iter().all(|p| p.axes.get(axis) == Some(value));
                same.then(|| value.clone())
            });
            let common = common.collect::<Vec<_>>().join(", ");
            Missing {
                kind,
                reason: reason.to_owned(),
                what: match (common.is_empty(), points.len()) {
                    (false, 1) => common,
                    (true, 1) => "one point".to_owned(),
                    (false, n) => format!("{common} ({n} points)"),
                    (true, n) => format!("{n} points"),
                },
            }
        })
        .collect()
}

/// What a person should know before relying on the numbers, and what helps.
fn advice(results: &Results, charts: &[Chart]) -> Vec<String> {
    let mut out = Vec::new();
    let cells = || {
        charts
            .iter()
            .flat_map(|c| c.cells.iter().map(move |cell| (c, cell)))
    };
    let all = cells().count();
    let few = cells().filter(|(_, c)| c.values.len() < MIN_TRIALS).count();
    if few > 0 {
        out.push(format!(
            "{} of {all} results have fewer than {MIN_TRIALS} trials: too few to tell a difference from chance. \
             More trials (--set trials=7) or a run without --quick, into another results file (--results), cure it.",
            text::thousands(few as u64)
        ));
    }
    let noisy = |(c, cell): &(&Chart, &Cell)| {
        let (low, high) = cell.quartiles;
        c.plan.measure.is_speed()
            && cell.values.len() >= MIN_TRIALS
            && high - low > 2.0 * NOISE * cell.median
    };
    let noisy: Vec<String> = cells()
        .filter(noisy)
        .map(|(c, cell)| name(c, cell))
        .collect();
    if !noisy.is_empty() {
        out.push(format!(
            "The results of {} vary by more than {:.0} %: something else keeps the machine or its disk busy. \
             A quiet machine and more trials (--set trials=15, into another results file) make the \
             intervals narrower.",
            shortened(&noisy),
            NOISE * 100.0
        ));
    }
    let slow_first = |(c, cell): &(&Chart, &Cell)| {
        let Some(first) = cell.values.values().next() else {
            return false;
        };
        let rest: Vec<f64> = cell.values.iter().skip(1).map(|v| *v.1).collect();
        rest.len() + 1 >= MIN_TRIALS
            && c.plan.measure.is_speed()
            && c.plan.measure.smaller_is_better()
            && *first > FIRST * rest.iter().copied().fold(0.0, f64::max)
    };
    let first: Vec<String> = cells()
        .filter(slow_first)
        .map(|(c, cell)| name(c, cell))
        .collect();
    if !first.is_empty() {
        out.push(format!(
            "The first trial of {} was slower than all others, as it is while files are not in the system's \
             cache yet. A [[step]] with unmeasured = true before it in the suite warms up; cold = true \
             measures that and nothing else.",
            shortened(&first)
        ));
    }
    let mut ignored: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for point in &results.points {
        for setting in point.ignored() {
            let version = point.effective.as_ref().map_or("", |e| e.version.as_str());
            let engines = ignored.entry(setting.words()).or_default();
            if !engines.iter().any(|e| e == version) {
                engines.push(version.to_owned());
            }
        }
    }
    for (words, engines) in ignored {
        out.push(format!(
            "A setting had no effect in {}: {words}.",
            text::list(&engines)
        ));
    }
    let busy: f64 = results
        .points
        .iter()
        .flat_map(|p| &p.samples)
        .map(|s| s.load)
        .fold(0.0, f64::max);
    if let Some(session) = results.sessions.last() {
        let processors = session.environment.processors as f64;
        if processors > 0.0 && busy > 2.0 * processors {
            out.push(format!(
                "The load average rose to {busy:.1} on {processors} processors: engines with many threads, or \
                 other programs."
            ));
        }
        if let Some(governor) = &session.environment.governor
            && governor != "performance"
        {
            out.push(format!(
                "The processors' frequency is governed by '{governor}', so that they may be slower at \
                 one time than at another: 'cpupower frequency-set -g performance', as root, keeps it."
            ));
        }
    }
    if let [first, .., last] = &results.sessions[..]
        && let Some(words) = other_environment(first, last)
    {
        out.push(format!("The run was continued on another system: {words}."));
    }
    out
}

/// `InnoDB, read`.
fn name(chart: &Chart, cell: &Cell) -> String {
    let mut parts = Vec::new();
    if !cell.series.is_empty() {
        parts.push(chart.plan.name(&cell.series).to_owned());
    }
    parts.push(chart.plan.name(&cell.x).to_owned());
    if !chart.separate.is_empty() {
        parts.push(chart.separate_words());
    }
    parts.join(", ")
}

/// The first of some names, and how many more there are.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|n| format!("'{n}'")).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    text::list(&shown)
}

fn other_environment(a: &super::store::Session, b: &super::store::Session) -> Option<String> {
    let (a, b) = (&a.environment, &b.environment);
    let words = |e: &super::store::Environment| {
        format!("{}, {} processors, {}", e.processor, e.processors, e.kernel)
    };
    (words(a) != words(b)).then(|| format!("{}; then {}", words(a), words(b)))
}

/// A warning where the older results come from another system.
fn other_place(new: &Results, old: &Results) -> Option<String> {
    let words = other_environment(old.sessions.last()?, new.sessions.last()?)?;
    Some(format!(
        "The older results come from another system, so what differs may be that: {words}."
    ))
}

/// When results were begun.
fn began(results: &Results) -> String {
    let first = results.sessions.first();
    first.map_or("an unknown time".to_owned(), |s| s.began.clone())
}
