//! Suite files: what is to be measured, as a product of axes.
//!
//! A suite is a TOML file ([`TEMPLATE`] is one with every part explained). Each
//! axis has values; one value of each axis makes a point, and every point is
//! measured in every trial, unless a rule excludes it. The axis `engine` says
//! what does the work; a statement's template values, named sets of PRAGMAs and
//! any other option may be axes as well.
//!
//! What is no single product is several parts ([`file`]): each is a product of its own, with the file's
//! options and axes besides those that it names itself, and all are one run and one page. The axis
//! `part` tells their points apart.

mod changes;
pub mod chart;
mod check;
pub mod engines;
mod file;
mod options;
mod points;
mod scalar;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::model::{JobKind, filled};
use changes::{choose, described, set};
use chart::{ChartPlan, TablePlan};
use check::{check, check_break_even, check_rules, check_tables};
use file::{Engine, SuiteFile};
use words::{common, shown_charts, shown_tables};

pub use changes::{Changes, same_command};
pub use points::Point;

/// The suites that come with the lab.
pub const SUITES: &[(&str, &str)] = &[
    ("clickbench", include_str!("../suites/clickbench.toml")),
    ("cluster", include_str!("../suites/cluster.toml")),
    ("connections", include_str!("../suites/connections.toml")),
    ("files", include_str!("../suites/files.toml")),
    (
        "fragmentation",
        include_str!("../suites/fragmentation.toml"),
    ),
    ("go", include_str!("../suites/go.toml")),
    ("groupby", include_str!("../suites/groupby.toml")),
    ("indexed", include_str!("../suites/indexed.toml")),
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
    ("upkeep", include_str!("../suites/upkeep.toml")),
    ("writers", include_str!("../suites/writers.toml")),
];

/// What `bench init` writes.
pub const TEMPLATE: &str = include_str!("../template.toml");

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
        let whole: SuiteFile = toml::from_str(text).map_err(|e| anyhow::anyhow!("{e}"))?;
        let mut files = whole.parts()?;
        let in_part = |file: &SuiteFile, done: Result<()>| match file.part_name() {
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
            all.extend(points::points(file)?);
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
