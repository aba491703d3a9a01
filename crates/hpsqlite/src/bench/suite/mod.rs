//! Suite files: what is to be measured, as a product of axes.
//!
//! A suite is a TOML file ([`TEMPLATE`] is one with every part explained). Each
//! axis has values; one value of each axis makes a point, and every point is
//! measured in every trial, unless a rule excludes it. The axis `engine` says
//! what does the work; a statement's template values, named sets of PRAGMAs and
//! any other option may be axes as well.
//!
//! What is no single product is several [`Part`]s: each is a product of its own, with the file's
//! options and axes besides those that it names itself, and all are one run and one page. The axis
//! `part` tells their points apart.

pub mod chart;
pub mod engines;
mod options;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::bench::model::{ENGINE, JobKind, PART, PRAGMA_PREFIX, PRAGMAS, Step, Values, filled};
use crate::text;
use chart::{ChartPlan, STEP, TablePlan};

/// More points than this are a mistake in the file.
const MAX_POINTS: usize = 100_000;

/// The suites that come with the lab.
pub const SUITES: &[(&str, &str)] = &[
    ("connections", include_str!("../suites/connections.toml")),
    ("files", include_str!("../suites/files.toml")),
    (
        "fragmentation",
        include_str!("../suites/fragmentation.toml"),
    ),
    ("go", include_str!("../suites/go.toml")),
    ("groupby", include_str!("../suites/groupby.toml")),
    ("keyvalue", include_str!("../suites/keyvalue.toml")),
    ("mail", include_str!("../suites/mail.toml")),
    ("mysqlite", include_str!("../suites/mysqlite.toml")),
    ("prealloc", include_str!("../suites/prealloc.toml")),
    ("scans", include_str!("../suites/scans.toml")),
    ("speedtest", include_str!("../suites/speedtest.toml")),
    ("ssb", include_str!("../suites/ssb.toml")),
    ("tatp", include_str!("../suites/tatp.toml")),
    ("threads", include_str!("../suites/threads.toml")),
    ("tpch", include_str!("../suites/tpch.toml")),
];

/// What `bench init` writes.
pub const TEMPLATE: &str = include_str!("../template.toml");

/// A suite file as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    about: String,
    kind: JobKind,
    #[serde(default = "seven")]
    trials: u32,
    #[serde(default)]
    cold: bool,
    #[serde(default = "one")]
    seed: u64,
    #[serde(default)]
    options: BTreeMap<String, Scalar>,
    #[serde(default)]
    axes: BTreeMap<String, OneOrMore>,
    #[serde(default)]
    pragmas: BTreeMap<String, BTreeMap<String, Scalar>>,
    #[serde(default)]
    engines: BTreeMap<String, Engine>,
    #[serde(default)]
    step: Vec<StepFile>,
    #[serde(default)]
    set: Vec<SetFile>,
    #[serde(default)]
    exclude: Vec<BTreeMap<String, OneOrMore>>,
    #[serde(default)]
    chart: Vec<ChartPlan>,
    #[serde(default)]
    part: Vec<Part>,
    #[serde(default)]
    table: Vec<TablePlan>,
    /// Names of values as to be shown in all charts.
    #[serde(default)]
    names: Values,
    quick: Option<Quick>,
}

/// A product of axes of its own, in a file that has several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    /// What is measured in it; stands before its first chart.
    #[serde(default)]
    about: String,
    trials: Option<u32>,
    cold: Option<bool>,
    #[serde(default)]
    options: BTreeMap<String, Scalar>,
    #[serde(default)]
    axes: BTreeMap<String, OneOrMore>,
    #[serde(default)]
    step: Vec<StepFile>,
    #[serde(default)]
    set: Vec<SetFile>,
    #[serde(default)]
    exclude: Vec<BTreeMap<String, OneOrMore>>,
    #[serde(default)]
    chart: Vec<ChartPlan>,
    quick: Option<Quick>,
}

impl File {
    /// The file as those of its parts would be, had each a file of its own; itself if it has none.
    fn parts(&self) -> Result<Vec<File>> {
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
    fn part_name(&self) -> Option<String> {
        self.axes.get(PART).and_then(|v| v.texts().pop())
    }
}

fn seven() -> u32 {
    7
}

fn one() -> u64 {
    1
}

/// What `--quick` changes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    trials: Option<u32>,
    /// The parts that are measured; none named are all.
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    options: BTreeMap<String, Scalar>,
    #[serde(default)]
    axes: BTreeMap<String, OneOrMore>,
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
    options: BTreeMap<String, Scalar>,
}

/// Options that only some points have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetFile {
    /// Those that have one of these values of each axis.
    #[serde(rename = "where")]
    place: BTreeMap<String, OneOrMore>,
    options: BTreeMap<String, Scalar>,
}

#[derive(Debug, Clone, Deserialize)]
struct StepFile {
    name: String,
    #[serde(default)]
    unmeasured: bool,
    /// Whether it is to be cold where the suite is not, or the other way round.
    cold: Option<bool>,
    #[serde(flatten)]
    options: BTreeMap<String, Scalar>,
}

/// A value in a suite file: `4`, `0.5`, `true` and `"4"` mean their text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Bool(true) => "on".to_owned(),
            Scalar::Bool(false) => "off".to_owned(),
            Scalar::Integer(n) => n.to_string(),
            Scalar::Real(x) => x.to_string(),
            Scalar::Text(s) => s.clone(),
        }
    }
}

/// A value in a suite file, or a list of such.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    More(Vec<Scalar>),
    One(Scalar),
}

impl OneOrMore {
    fn texts(&self) -> Vec<String> {
        match self {
            OneOrMore::One(s) => vec![s.text()],
            OneOrMore::More(list) => list.iter().map(Scalar::text).collect(),
        }
    }

    /// Whether this value is one of them.
    pub fn has(&self, value: &str) -> bool {
        self.texts().iter().any(|text| text == value)
    }
}

/// A suite, ready to be run.
#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    pub title: String,
    pub about: String,
    pub kind: JobKind,
    pub seed: u64,
    pub engines: BTreeMap<String, Engine>,
    pub charts: Vec<ChartPlan>,
    pub tables: Vec<TablePlan>,
    pub points: Vec<Point>,
    /// What all this came from: the file's text, and what was changed on the command line.
    pub text: String,
}

/// One combination of the values of all axes.
#[derive(Debug, Clone)]
pub struct Point {
    /// Axis and value; what tells this point from the others.
    pub values: Values,
    /// What the job gets: the suite's options, those of the engine, those of the set of PRAGMAs, those
    /// of the rules for it, and the values of the axes.
    pub options: Values,
    pub steps: Vec<Step>,
    pub trials: u32,
}

/// What the command line changes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    pub quick: bool,
    /// `--set name=value` in their order; the value of an axis may be several, with commas between.
    pub set: Vec<(String, String)>,
}

impl Suite {
    /// Reads a suite file, or takes a suite that comes with the lab, by its name.
    pub fn load(path: &Path, changes: &Changes) -> Result<Suite> {
        if let Some((name, text)) = SUITES.iter().find(|(n, _)| path == Path::new(n)) {
            let suite = Suite::parse(name, text, Path::new(""), changes);
            return suite.and_then(Suite::checked).context(*name);
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the suite file {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new("."));
        Suite::parse(&name, &text, folder, changes)
            .and_then(Suite::checked)
            .with_context(|| path.display().to_string())
    }

    /// The suite, if nothing in it would only be noticed after hours: this is asked only of what is to be
    /// measured, as a report may be of results of another version.
    fn checked(self) -> Result<Suite> {
        options::check(&self)?;
        engines::check(&self)?;
        Ok(self)
    }

    /// What an engine of a suite is: its name in the lab, and its library if it is a SQLite, which may be
    /// `stock` or `ours`.
    pub fn engine<'s>(&'s self, name: &'s str) -> (&'s str, Option<&'s Path>) {
        let described = self.engines.get(name);
        let engine = described.and_then(|e| e.like.as_deref()).unwrap_or(name);
        let of_lab = ["stock", "ours"]
            .contains(&engine)
            .then(|| Path::new(engine));
        let library = described.and_then(|e| e.library.as_deref()).or(of_lab);
        (engine, library)
    }

    /// Makes a suite of the text of a file; libraries are looked for from `folder` on.
    pub fn parse(name: &str, text: &str, folder: &Path, changes: &Changes) -> Result<Suite> {
        // The error of the parser tells the line, and shows it.
        let whole: File = toml::from_str(text).map_err(|e| anyhow::anyhow!("{e}"))?;
        let mut files = whole.parts()?;
        let in_part = |file: &File, done: Result<()>| match file.part_name() {
            Some(name) if !whole.part.is_empty() => done.with_context(|| format!("part {name}")),
            _ => done,
        };
        for file in &files {
            in_part(
                file,
                check(file)
                    .and_then(|()| check_rules(file))
                    .and_then(|()| check_break_even(file)),
            )?;
        }
        check_tables(&whole.table, &files)?;
        if changes.quick {
            let parts = whole.quick.clone().unwrap_or_default().parts;
            choose(&mut files, &parts).context("[quick] parts")?;
            for file in &mut files {
                let quick = file.quick.clone().unwrap_or_default();
                file.trials = quick.trials.unwrap_or(file.trials);
                file.options.extend(quick.options);
                file.axes.extend(quick.axes);
            }
        }
        for (name, value) in &changes.set {
            set(&mut files, name, value, !whole.part.is_empty())?;
        }
        let mut all = Vec::new();
        for file in &files {
            in_part(file, check(file))?;
            all.extend(points(file)?);
        }
        let charts = files.iter().flat_map(|f| shown_charts(f, &whole.names));
        let charts = charts.collect();
        let tables = shown_tables(&whole.table, &whole.names, &files);
        let values = common(&files.iter().collect::<Vec<_>>());
        let mut engines = whole.engines.clone();
        for engine in engines.values_mut() {
            if let Some(library) = &mut engine.library
                && !["stock", "ours"]
                    .map(Path::new)
                    .contains(&library.as_path())
            {
                *library = folder.join(&*library);
            }
        }
        Ok(Suite {
            name: name.to_owned(),
            title: filled(&whole.title, &values),
            about: filled(&whole.about, &values),
            kind: whole.kind,
            seed: whole.seed,
            engines,
            charts,
            tables,
            points: all,
            text: described(text, changes),
        })
    }
}

/// What stands before a change of the command line, in the text that results are kept with.
const CHANGED: &str = "# --";

/// The suite file with what was changed, so that results of one are never taken for those of another.
fn described(text: &str, changes: &Changes) -> String {
    let mut all = text.to_owned();
    for change in changes.words() {
        all.push_str(&format!("\n{CHANGED}{change}"));
    }
    all
}

impl Changes {
    /// The options of the command line that make these changes, without their dashes.
    fn words(&self) -> Vec<String> {
        let quick = self.quick.then(|| "quick".to_owned());
        let set = self.set.iter().map(|(n, v)| format!("set {n}={v}"));
        quick.into_iter().chain(set).collect()
    }

    /// What was changed in a suite whose text is kept with results.
    pub fn of(text: &str) -> Changes {
        let mut changes = Changes::default();
        for line in text.lines().rev() {
            match line.strip_prefix(CHANGED) {
                Some("quick") => changes.quick = true,
                Some(set) => {
                    let pair = set.strip_prefix("set ").and_then(|s| s.split_once('='));
                    let Some((name, value)) = pair else { break };
                    changes.set.insert(0, (name.to_owned(), value.to_owned()));
                }
                None => break,
            }
        }
        changes
    }

    /// The command that runs a suite with these changes, as a shell takes it.
    pub fn command(&self, suite: &str) -> String {
        let mut command = format!("hpsqlite bench run {}", quoted(suite));
        if self.quick {
            command.push_str(" --quick");
        }
        for (name, value) in &self.set {
            command.push_str(&format!(" --set {}", quoted(&format!("{name}={value}"))));
        }
        command
    }
}

/// A word of a shell's command.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,=/+:".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The names that hold for the whole file, and those of a chart or a table before them.
fn named(names: &Values, own: &Values) -> Values {
    let mut all = names.clone();
    all.extend(own.clone());
    all
}

/// The charts, with the numbers in their texts as they are measured.
fn shown_charts(file: &File, names: &Values) -> Vec<ChartPlan> {
    let values = spoken(file);
    let mut charts = file.chart.clone();
    for chart in &mut charts {
        chart.title = filled(&chart.title, &values);
        chart.about = filled(&chart.about, &values);
        chart.names = named(names, &chart.names);
        for name in chart.names.values_mut() {
            *name = filled(name, &values);
        }
    }
    charts
}

/// The same of the tables; one of a part that is not measured is left out.
fn shown_tables(tables: &[TablePlan], names: &Values, files: &[File]) -> Vec<TablePlan> {
    let shown = |table: &TablePlan| {
        let part = table.only.get(PART);
        let of: Vec<&File> = files
            .iter()
            .filter(|f| part.is_none_or(|p| f.axes.get(PART).is_some_and(|v| v.has(p))))
            .collect();
        let values = common(&of);
        (!of.is_empty()).then(|| TablePlan {
            title: filled(&table.title, &values),
            about: filled(&table.about, &values),
            names: named(names, &table.names),
            ..table.clone()
        })
    };
    tables.iter().filter_map(shown).collect()
}

/// Options and axes of a part as they stand in a text: `5,000,000`, or `1, 2 and 4`.
fn spoken(file: &File) -> Values {
    let one = |text: String| match text.parse() {
        Ok(n) => text::thousands(n),
        Err(_) => text,
    };
    let options = file.options.iter().map(|(n, v)| (n, vec![v.text()]));
    let axes = file.axes.iter().map(|(n, v)| (n, v.texts()));
    let all = options.chain(axes).map(|(name, values)| {
        let values: Vec<String> = values.into_iter().map(one).collect();
        (name.clone(), text::list(&values))
    });
    all.collect()
}

/// What is the same in all of these parts.
fn common(files: &[&File]) -> Values {
    let mut each = files.iter().map(|file| spoken(file));
    let mut all = each.next().unwrap_or_default();
    for values in each {
        all.retain(|name, value| values.get(name) == Some(value));
    }
    all
}

/// Leaves only the parts of these names; all if there are none.
fn choose(files: &mut Vec<File>, names: &[String]) -> Result<()> {
    let known: Vec<String> = files.iter().filter_map(File::part_name).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        bail!("there is no part {name}; there are {}", known.join(", "));
    }
    if !names.is_empty() {
        files.retain(|f| f.part_name().is_some_and(|n| names.contains(&n)));
    }
    Ok(())
}

/// Sets what has this name in every part that has it.
fn set(files: &mut Vec<File>, name: &str, value: &str, parts: bool) -> Result<()> {
    let values: Vec<String> = value.split(',').map(str::to_owned).collect();
    if name == PART && parts {
        return choose(files, &values).with_context(|| format!("--set {name}={value}"));
    }
    let mut found = false;
    for file in files.iter_mut() {
        if name == "trials" {
            file.trials = value
                .parse()
                .with_context(|| format!("--set trials={value}: want a number"))?;
        } else if let Some(axis) = file.axes.get_mut(name) {
            *axis = OneOrMore::More(values.iter().cloned().map(Scalar::Text).collect());
        } else if file.options.contains_key(name) {
            file.options
                .insert(name.to_owned(), Scalar::Text(value.to_owned()));
        } else {
            continue;
        }
        found = true;
    }
    if !found {
        let names: BTreeSet<&String> = files
            .iter()
            .flat_map(|f| f.axes.keys().chain(f.options.keys()))
            .collect();
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        bail!(
            "--set {name}={value}: the suite has no axis or option of this name; it has {}, and trials",
            names.join(", ")
        );
    }
    Ok(())
}

/// Rules have to be for something of the file as it was written: what is then set may leave it out.
fn check_rules(file: &File) -> Result<()> {
    let quick = file.quick.clone().unwrap_or_default().axes;
    let excluding = file.exclude.iter().map(|rule| ("exclude", rule));
    let excluding = excluding.enumerate();
    let setting = file.set.iter().map(|rule| ("set", &rule.place)).enumerate();
    let showing = file.chart.iter().map(|chart| ("chart", &chart.only));
    for (i, (kind, rule)) in excluding.chain(setting).chain(showing.enumerate()) {
        let rule_name = format!("[[{kind}]] number {}", i + 1);
        for (axis, wanted) in rule {
            let mut values: Vec<String> = match axis.as_str() {
                STEP if kind != "set" => file.step.iter().map(|s| s.name.clone()).collect(),
                _ => match file.axes.get(axis) {
                    Some(values) => values.texts(),
                    None => bail!("{rule_name}: there is no axis {axis}"),
                },
            };
            values.extend(quick.get(axis).map(OneOrMore::texts).unwrap_or_default());
            for value in wanted.texts() {
                if !values.contains(&value) {
                    bail!("{rule_name}: axis {axis} has no value {value}");
                }
            }
        }
    }
    Ok(())
}

/// Tables choose what some part has.
fn check_tables(tables: &[TablePlan], files: &[File]) -> Result<()> {
    for (i, table) in tables.iter().enumerate() {
        let number = i + 1;
        for step in &table.steps {
            if !files.iter().any(|f| f.step.iter().any(|s| s.name == *step)) {
                bail!("[[table]] number {number}: there is no step {step}");
            }
        }
        let chosen = table.column.iter().map(|c| &c.only);
        let chosen = chosen.chain(table.row.iter().map(|r| &r.only));
        for (axis, value) in chosen.chain([&table.only]).flatten() {
            let has = |f: &File| f.axes.get(axis).is_some_and(|v| v.texts().contains(value));
            if axis != STEP && !files.iter().any(has) {
                bail!("[[table]] number {number}: no axis {axis} has a value {value}");
            }
        }
        for axis in &table.each {
            if !files.iter().any(|f| f.axes.contains_key(axis)) {
                bail!("[[table]] number {number}: there is no axis {axis}");
            }
        }
        if table.column.is_empty() == table.each.is_empty() {
            bail!("[[table]] number {number}: it has columns by column or by each");
        }
        for row in &table.row {
            if !row.cells.is_empty() && row.cells.len() != table.column.len() {
                bail!(
                    "[[table]] number {number}: row {} has {} cells, and there are {} columns",
                    row.name,
                    row.cells.len(),
                    table.column.len()
                );
            }
        }
    }
    Ok(())
}

/// Finds what would only be noticed after hours.
fn check(file: &File) -> Result<()> {
    if file.trials == 0 {
        bail!("trials: there must be at least 1");
    }
    if !file.axes.contains_key(ENGINE) {
        bail!("[axes] has no engine: name at least one, such as engine = [\"stock\", \"ours\"]");
    }
    for (axis, values) in &file.axes {
        let values = values.texts();
        if values.is_empty() {
            bail!("axis {axis} has no values");
        }
        for (i, value) in values.iter().enumerate() {
            if values[..i].contains(value) {
                bail!("axis {axis} has {value} twice");
            }
            if axis == PRAGMAS && !file.pragmas.contains_key(value) {
                bail!("axis {PRAGMAS}: there is no [pragmas.{value}]");
            }
        }
    }
    let known = |axis: &str| axis == STEP || file.axes.contains_key(axis);
    for (i, chart) in file.chart.iter().enumerate() {
        let named = [&chart.x].into_iter().chain(&chart.series);
        for axis in named.chain(&chart.separate).chain(chart.only.keys()) {
            if !known(axis) {
                bail!("[[chart]] number {}: there is no axis {axis}", i + 1);
            }
        }
    }
    if file.step.is_empty() {
        bail!("there is no [[step]]: say what is to be measured");
    }
    for (i, step) in file.step.iter().enumerate() {
        if file.step[..i].iter().any(|s| s.name == step.name) {
            bail!("[[step]] {} is there twice", step.name);
        }
    }
    if file.step.iter().all(|s| s.unmeasured) {
        bail!("every [[step]] is unmeasured: nothing would be left to show");
    }
    Ok(())
}

/// Lines can only cross where there are lines.
fn check_break_even(file: &File) -> Result<()> {
    for (i, chart) in file.chart.iter().enumerate() {
        let place = format!("[[chart]] number {}: break_even", i + 1);
        if chart.break_even.is_empty() {
            continue;
        }
        let Some(series) = &chart.series else {
            bail!("{place} compares series, and there are none");
        };
        let values = |axis: &String| match axis.as_str() {
            STEP => file.step.iter().map(|s| s.name.clone()).collect(),
            _ => file
                .axes
                .get(axis)
                .map(OneOrMore::texts)
                .unwrap_or_default(),
        };
        if let Some(name) = values(&chart.x)
            .iter()
            .find(|v| text::parse_number(v).is_none())
        {
            bail!(
                "{place} needs numbers along {}, and {name} is none",
                chart.x
            );
        }
        let known = values(series);
        if let Some(name) = chart.break_even.iter().find(|v| !known.contains(v)) {
            bail!("{place}: axis {series} has no value {name}");
        }
    }
    Ok(())
}

/// All combinations that no rule excludes, in the order of the file's axes by name; the engine
/// changes fastest, so that what is compared is measured side by side.
fn points(file: &File) -> Result<Vec<Point>> {
    let mut axes: Vec<_> = file
        .axes
        .iter()
        .map(|(n, v)| (n.as_str(), v.texts()))
        .collect();
    axes.sort_by_key(|(name, _)| *name == ENGINE);
    let count = axes
        .iter()
        .try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
    if count.is_none_or(|n| n > MAX_POINTS) {
        bail!("the axes have more than {MAX_POINTS} combinations");
    }
    let mut all = vec![Values::new()];
    for (name, values) in &axes {
        all = all
            .iter()
            .flat_map(|point| {
                values.iter().map(move |value| {
                    let mut point = point.clone();
                    point.insert((*name).to_owned(), value.clone());
                    point
                })
            })
            .collect();
    }
    let mut points = Vec::new();
    for values in all {
        let options = options(file, &values);
        let steps: Vec<Step> = file
            .step
            .iter()
            .filter(|step| !excluded(file, &values, &step.name))
            .map(|step| Step {
                name: step.name.clone(),
                options: step
                    .options
                    .iter()
                    .map(|(name, value)| (name.clone(), filled(&value.text(), &options)))
                    .collect(),
                cold: step.cold.unwrap_or(file.cold),
                unmeasured: step.unmeasured,
            })
            .collect();
        if steps.iter().any(|step| !step.unmeasured) {
            points.push(Point {
                values,
                options,
                steps,
                trials: file.trials,
            });
        }
    }
    if points.is_empty() {
        bail!("the rules of [[exclude]] leave nothing to measure");
    }
    Ok(points)
}

/// Whether a rule excludes this step of a point: one all of whose axes match.
fn excluded(file: &File, values: &Values, step: &str) -> bool {
    file.exclude
        .iter()
        .any(|rule| matches(rule, values, Some(step)))
}

/// Whether a point, or a step of it, has one of the values that a rule names of each axis.
fn matches(rule: &BTreeMap<String, OneOrMore>, values: &Values, step: Option<&str>) -> bool {
    rule.iter().all(|(axis, wanted)| {
        let value = match axis.as_str() {
            STEP => step,
            _ => values.get(axis).map(String::as_str),
        };
        value.is_some_and(|value| wanted.has(value))
    })
}

fn options(file: &File, values: &Values) -> Values {
    let texts = |map: &BTreeMap<String, Scalar>| -> Values {
        map.iter().map(|(n, v)| (n.clone(), v.text())).collect()
    };
    let mut all = texts(&file.options);
    if let Some(engine) = file.engines.get(&values[ENGINE]) {
        all.extend(texts(&engine.options));
    }
    if let Some(set) = values.get(PRAGMAS) {
        for (name, value) in texts(&file.pragmas[set]) {
            all.insert(format!("{PRAGMA_PREFIX}{name}"), value);
        }
    }
    for set in &file.set {
        if matches(&set.place, values, None) {
            all.extend(texts(&set.options));
        }
    }
    all.extend(values.clone());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        title = "Two libraries"
        kind = "sql"
        trials = 5
        [options]
        database = "x.db"
        [axes]
        engine = ["stock", "ours"]
        limit = [1, 10, 100]
        pragmas = ["plain", "fast"]
        [pragmas.plain]
        [pragmas.fast]
        synchronous = "off"
        cache_size = -4000
        [[step]]
        name = "top"
        sql = "SELECT * FROM t ORDER BY a LIMIT {limit} -- {nothing}"
        [[step]]
        name = "sum"
        sql = "SELECT sum(a) FROM t"
        [[exclude]]
        engine = "stock"
        limit = [10, 100]
        [[exclude]]
        step = "sum"
        limit = 100
        [[chart]]
        title = "By limit"
        x = "limit"
        series = "engine"
        separate = ["step", "pragmas"]
        base = "stock"
        [quick]
        trials = 2
        axes = { limit = [1] }
    "#;

    fn parse(text: &str, changes: &Changes) -> Result<Suite> {
        Suite::parse("test", text, Path::new("/suites"), changes)
    }

    fn error(text: &str) -> String {
        format!("{:#}", parse(text, &Changes::default()).unwrap_err())
    }

    #[test]
    fn a_suite_is_the_product_of_its_axes_without_what_rules_exclude() {
        let suite = parse(SUITE, &Changes::default()).unwrap();
        // 2 engines, 3 limits, 2 sets are 12; stock has only the limit 1, in both sets.
        assert_eq!(suite.points.len(), 12 - 4);
        assert_eq!(suite.points[0].trials, 5);
        let large = suite
            .points
            .iter()
            .find(|p| p.values["limit"] == "100")
            .unwrap();
        assert_eq!(large.values["engine"], "ours");
        assert_eq!(large.steps.len(), 1);
        assert_eq!(
            large.steps[0].options["sql"],
            "SELECT * FROM t ORDER BY a LIMIT 100 -- {nothing}"
        );
    }

    #[test]
    fn engines_of_one_point_follow_one_another() {
        let suite = parse(SUITE, &Changes::default()).unwrap();
        let first: Vec<_> = suite.points[..2]
            .iter()
            .map(|p| p.values["engine"].as_str())
            .collect();
        assert_eq!(first, ["stock", "ours"]);
    }

    #[test]
    fn some_points_have_options_of_their_own() {
        let rule = "[[set]]\nwhere = { engine = \"ours\", limit = [10, 100] }\n\
                    options = { database = \"y.db\", \"pragma.mmap_size\" = 5 }\n[quick]";
        let text = SUITE.replacen("[quick]", rule, 1);
        let suite = parse(&text, &Changes::default()).unwrap();
        for point in suite.points {
            let (engine, limit) = (&point.values["engine"], &point.values["limit"]);
            let is = engine == "ours" && limit != "1";
            assert_eq!(point.options["database"], if is { "y.db" } else { "x.db" });
            assert_eq!(point.options.contains_key("pragma.mmap_size"), is);
        }
        let wrong = text.replacen("limit = [10, 100] }", "limit = 7 }", 1);
        assert_eq!(error(&wrong), "[[set]] number 1: axis limit has no value 7");
    }

    #[test]
    fn a_set_of_pragmas_becomes_options() {
        let suite = parse(SUITE, &Changes::default()).unwrap();
        let fast = suite
            .points
            .iter()
            .find(|p| p.values["pragmas"] == "fast")
            .unwrap();
        assert_eq!(fast.options["pragma.synchronous"], "off");
        assert_eq!(fast.options["pragma.cache_size"], "-4000");
        assert_eq!(fast.options["database"], "x.db");
    }

    #[test]
    fn the_command_line_changes_a_suite_and_its_description() {
        let quick = Changes {
            quick: true,
            set: vec![("engine".to_owned(), "ours".to_owned())],
        };
        let suite = parse(SUITE, &quick).unwrap();
        assert_eq!((suite.points[0].trials, suite.points.len()), (2, 2));
        let plain = parse(SUITE, &Changes::default()).unwrap();
        assert_ne!(suite.text, plain.text);
    }

    #[test]
    fn libraries_are_looked_for_beside_the_suite() {
        let text = format!("{SUITE}\n[engines.old]\nlibrary = \"old/libsqlite3.so\"");
        let suite = parse(&text, &Changes::default()).unwrap();
        assert_eq!(
            suite.engines["old"].library.as_deref(),
            Some(Path::new("/suites/old/libsqlite3.so"))
        );
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        let cases = [
            (
                "series = \"engine\"",
                "series = \"motor\"",
                "[[chart]] number 1: there is no axis motor",
            ),
            (
                "limit = [1, 10, 100]",
                "limit = []",
                "axis limit has no values",
            ),
            (
                "limit = [1, 10, 100]",
                "limit = [1, 1]",
                "axis limit has 1 twice",
            ),
            (
                "[\"plain\", \"fast\"]",
                "[\"slow\"]",
                "there is no [pragmas.slow]",
            ),
            (
                "limit = [10, 100]",
                "limit = [11]",
                "number 1: axis limit has no value 11",
            ),
            (
                "name = \"sum\"",
                "name = \"top\"",
                "[[step]] top is there twice",
            ),
            ("trials = 5", "trails = 5", "unknown field `trails`"),
            (
                "base = \"stock\"",
                "base = \"stock\"\nbreak_even = [\"files\"]",
                "number 1: break_even: axis engine has no value files",
            ),
            (
                "series = \"engine\"",
                "break_even = [\"stock\"]",
                "number 1: break_even compares series, and there are none",
            ),
            (
                "x = \"limit\"\n        series = \"engine\"",
                "x = \"pragmas\"\n        series = \"engine\"\n        break_even = [\"stock\"]",
                "number 1: break_even needs numbers along pragmas, and plain is none",
            ),
            ("kind = \"sql\"", "kind = \"sgl\"", "unknown variant `sgl`"),
            (
                "base = \"stock\"",
                "only = { step = [\"sum\", \"top\", \"product\"] }",
                "[[chart]] number 1: axis step has no value product",
            ),
            ("engine = [\"stock\", \"ours\"]", "", "[axes] has no engine"),
        ];
        for (from, to, want) in cases {
            assert!(SUITE.contains(from), "{from}");
            let said = error(&SUITE.replacen(from, to, 1));
            assert!(said.contains(want), "{to}: {said}");
        }
        assert!(error("title = \"x\"\nkind = \"sql\"\ntrials = =").contains("line 3"));
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let values: Vec<String> = (0..400).map(|n| n.to_string()).collect();
        let list = values.join(",");
        let text = SUITE.replacen(
            "limit = [1, 10, 100]",
            &format!(
                "limit = [1, 10, 100, {}]\nb = [{list}]\n",
                values[101..].join(",")
            ),
            1,
        );
        assert!(error(&text).contains("more than 100000 combinations"));
    }

    #[test]
    fn the_suites_that_come_with_the_lab_are_suites() {
        for (name, text) in SUITES {
            for quick in [false, true] {
                let changes = Changes {
                    quick,
                    ..Changes::default()
                };
                let suite = Suite::load(Path::new(name), &changes).unwrap();
                assert!(suite.points.len() > 1 && !suite.charts.is_empty(), "{name}");
                assert!(suite.text.starts_with(text), "{name}");
                let mut texts = vec![&suite.title, &suite.about];
                texts.extend(suite.charts.iter().flat_map(|c| [&c.title, &c.about]));
                texts.extend(suite.tables.iter().flat_map(|t| [&t.title, &t.about]));
                let unfilled = texts.iter().find(|text| text.contains('{'));
                assert_eq!(unfilled, None, "{name}");
            }
        }
    }

    /// A step that one library does whatever the engine is may not stand in a bar of another's name.
    #[test]
    fn no_bar_is_of_another_library_than_it_says() {
        for (name, _) in SUITES {
            let suite = Suite::load(Path::new(name), &Changes::default()).unwrap();
            let mut seen = 0;
            for (chart, point) in suite
                .charts
                .iter()
                .flat_map(|c| suite.points.iter().map(move |p| (c, p)))
            {
                let engine = &point.values[ENGINE];
                let library = suite.engines.get(engine).and_then(|e| e.library.as_deref());
                let library = library.unwrap_or(Path::new(engine));
                for step in &point.steps {
                    let shown =
                        !step.unmeasured && matches(&chart.only, &point.values, Some(&step.name));
                    if let Some(by) = step.options.get("by").filter(|_| shown) {
                        let place = format!("{name}: {}: {}", chart.title, step.name);
                        assert_eq!(Path::new(by), library, "{place}");
                        seen += 1;
                    }
                }
            }
            assert_eq!(
                seen > 0,
                ["fragmentation", "prealloc"].contains(name),
                "{name}"
            );
        }
    }

    #[test]
    fn texts_tell_the_numbers_that_are_measured() {
        let text = PARTS
            .replacen(
                "title = \"Two products\"",
                "title = \"Two products of {count}\"",
                1,
            )
            .replacen(
                "title = \"Small\"",
                "title = \"{count} and {engine}, {other}\"",
                1,
            )
            .replacen("title = \"All\"", "title = \"All {count}\"", 1)
            .replacen("{ lmdb = \"LMDB\" }", "{ lmdb = \"LMDB of {count}\" }", 1);
        let with = |quick, count: Option<&str>| {
            let set = count.map(|n| ("count".to_owned(), n.to_owned()));
            let set = set.into_iter().collect();
            let suite = parse(&text, &Changes { quick, set }).unwrap();
            // A report makes its texts of what is kept with the results.
            let kept = parse(&suite.text, &Changes::of(&suite.text)).unwrap();
            assert_eq!((&kept.title, &kept.charts), (&suite.title, &suite.charts));
            let chart = suite.charts[0].clone();
            let table = suite.tables[0].title.clone();
            [
                suite.title,
                table,
                chart.title,
                chart.about,
                chart.names["lmdb"].clone(),
            ]
        };
        // Parts that differ have no number in common.
        assert_eq!(
            with(false, None),
            [
                "Two products of {count}",
                "All {count}",
                "10 and stock and lmdb, {other}",
                "10 pairs.",
                "LMDB of 10"
            ]
        );
        assert_eq!(
            with(true, None)[..4],
            [
                "Two products of 3",
                "All 3",
                "3 and stock and lmdb, {other}",
                "3 pairs."
            ]
        );
        assert_eq!(with(false, Some("5000000"))[3], "5,000,000 pairs.");
        let tables = text.replacen(
            "steps = [\"batch\"]",
            "steps = [\"batch\"]\nonly = { part = \"large\" }",
            1,
        );
        assert_eq!(
            parse(&tables, &Changes::default()).unwrap().tables[0].title,
            "All 1,000"
        );
        let quick = Changes {
            quick: true,
            ..Changes::default()
        };
        assert_eq!(parse(&tables, &quick).unwrap().tables, []);
    }

    #[test]
    fn results_know_the_command_that_made_them() {
        let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        let changes = Changes {
            quick: true,
            set: vec![pair("limit", "1,10"), pair("trials", "3")],
        };
        let suite = parse(SUITE, &changes).unwrap();
        let command = Changes::of(&suite.text).command("mine");
        assert_eq!(
            command,
            "hpsqlite bench run mine --quick --set limit=1,10 --set trials=3"
        );
        assert_eq!(
            Changes::of(SUITE).command("mine"),
            "hpsqlite bench run mine"
        );
        let odd = Changes {
            set: vec![pair("where", "a = 'b'")],
            ..Changes::default()
        };
        assert!(odd.command("m").ends_with(r" --set 'where=a = '\''b'\'''"));
    }

    const PARTS: &str = r#"
        title = "Two products"
        kind = "keyvalue"
        trials = 5
        [options]
        count = 10
        [names]
        stock = "SQLite"
        [quick]
        parts = ["small"]
        options = { count = 3 }
        [[part]]
        name = "small"
        about = "{count} pairs."
        axes = { engine = ["stock", "lmdb"] }
        [[part.step]]
        name = "fill-random"
        [[part.chart]]
        title = "Small"
        x = "engine"
        names = { lmdb = "LMDB" }
        [[part]]
        name = "large"
        trials = 2
        options = { count = 1000 }
        axes = { engine = ["stock"], threads = [1, 2] }
        [[part.step]]
        name = "batch"
        [[part.exclude]]
        threads = 2
        [[table]]
        title = "All"
        steps = ["batch"]
        column = [{ name = "a", only = { part = "large" } }]
        row = [{ name = "here" }]
    "#;

    #[test]
    fn parts_are_suites_of_their_own_in_one_run() {
        let suite = parse(PARTS, &Changes::default()).unwrap();
        let points: Vec<_> = suite
            .points
            .iter()
            .map(|p| {
                let step = p.steps[0].name.as_str();
                (&*p.values[PART], &*p.options["count"], p.trials, step)
            })
            .collect();
        assert_eq!(
            points,
            [
                ("small", "10", 5, "fill-random"),
                ("small", "10", 5, "fill-random"),
                ("large", "1000", 2, "batch")
            ]
        );
        let chart = &suite.charts[0];
        assert_eq!(
            (chart.only[PART].texts(), &*chart.about),
            (vec!["small".to_owned()], "10 pairs.")
        );
        assert_eq!(
            (chart.name("stock"), chart.name("lmdb")),
            ("SQLite", "LMDB")
        );
        assert_eq!(suite.tables[0].name("stock"), "SQLite");
    }

    #[test]
    fn the_command_line_chooses_parts_and_changes_those_that_have_it() {
        let with = |quick, set: &[(&str, &str)]| {
            let set = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
            parse(
                PARTS,
                &Changes {
                    quick,
                    set: set.collect(),
                },
            )
        };
        let quick = with(true, &[]).unwrap();
        assert_eq!(quick.points.len(), 2);
        assert_eq!(quick.points[0].options["count"], "3");
        let large = with(false, &[("part", "large"), ("count", "7")]).unwrap();
        assert_eq!(large.points.len(), 1);
        assert_eq!(large.points[0].options["count"], "7");
        let threads = with(false, &[("threads", "1")]).unwrap();
        assert_eq!(threads.points.len(), 3);
        for (set, says) in [
            (
                ("part", "huge"),
                "there is no part huge; there are small, large",
            ),
            (
                ("depth", "7"),
                "no axis or option of this name; it has count, engine, part, threads",
            ),
        ] {
            let error = format!("{:#}", with(false, &[set]).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn mistakes_in_parts_and_tables_are_told_where_they_are() {
        for (from, to, says) in [
            (
                "name = \"large\"",
                "name = \"small\"",
                "[[part]] small is there twice",
            ),
            (
                "threads = 2",
                "threads = 5",
                "part large: [[exclude]] number 1: axis threads has no value 5",
            ),
            ("[\"small\"]", "[\"tiny\"]", "there is no part tiny"),
            (
                "steps = [\"batch\"]",
                "steps = [\"read\"]",
                "[[table]] number 1: there is no step read",
            ),
            (
                "part = \"large\" }",
                "part = \"no\" }",
                "no axis part has a value no",
            ),
            (
                "{ name = \"here\" }",
                "{ name = \"x\", cells = [\"1\", \"2\"] }",
                "row x has 2 cells, and there are 1 columns",
            ),
            (
                "[options]",
                "step = [{ name = \"x\" }]\n[options]",
                "belong into a [[part]]",
            ),
        ] {
            assert!(PARTS.contains(from), "{from}");
            let changes = Changes {
                quick: to.contains("tiny"),
                ..Changes::default()
            };
            let said = format!(
                "{:#}",
                parse(&PARTS.replacen(from, to, 1), &changes).unwrap_err()
            );
            assert!(said.contains(says), "{to}: {said}");
        }
    }

    #[test]
    fn the_template_is_a_suite() {
        let suite = parse(TEMPLATE, &Changes::default()).unwrap();
        assert!(suite.points.len() > 1);
        parse(
            TEMPLATE,
            &Changes {
                quick: true,
                ..Changes::default()
            },
        )
        .unwrap();
    }
}
