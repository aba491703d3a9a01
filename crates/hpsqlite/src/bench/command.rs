//! `hpsqlite bench`: what may be said, and what runs then.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use super::dataset::{self, Home, Whose};
use super::model::ENGINE;
use super::report;
use super::runner::{self, Places, RunTally};
use super::store::{AnotherBuild, Environment, Store, StoredSuite as Stored};
use super::suite::chart::Presentation;
use super::suite::engines;
use super::suite::{Changes, SUITES, Suite, TEMPLATE, same_command};
use super::work;
use crate::output::{self, Ink, OutputFile};
use crate::sys::Library;
use crate::{libs, text};

/// What stands below the help.
pub const HELP: &str = "\
Data sets and the stores of engines are kept below $XDG_CACHE_HOME/hpsqlite/bench (usually
~/.cache); `clean` removes them. Servers are started there by the lab itself and end with it.

Engines are `stock`, `ours`, and those that `bench engines` lists; `bench list SUITE` names those of
a suite. One that is not installed is left out, with a note; one that --set engine=... asks for is
an error then.

Exit status: 0; 1 where something failed or was left out, an engine that was asked for is missing,
answers differ, or something got slower than --against; 2 for a mistake in the command or the suite
file; 130 after Ctrl-C, with which the same command goes on.";

/// The exit status where something that was wanted has not been measured.
const INCOMPLETE: u8 = 1;

#[derive(Subcommand)]
pub enum BenchCommand {
    /// Write a small suite file with every part explained
    Init {
        /// The file to write
        #[arg(default_value = "suite.toml")]
        file: PathBuf,
    },
    /// Measure a suite, or go on where a run of it was stopped
    Run(RunArgs),
    /// Make reports of a results file
    Report(ReportArgs),
    /// Write one Markdown page of the results of several suites
    Document {
        /// The results files, in the order of the page
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// The file to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        into: Option<PathBuf>,
    },
    /// Say which suites come with the lab, a line each
    List {
        /// The suites to say more of: what they measure, and with which engines
        suites: Vec<String>,
        /// Only the names, a line each
        #[arg(long, conflicts_with = "suites")]
        names: bool,
    },
    /// Say which engines there are
    Engines,
    /// Remove the data sets that runs have made, and what killed runs left
    Clean {
        /// Only say what is there
        #[arg(long)]
        list: bool,
    },
}

#[derive(Args)]
pub struct RunArgs {
    /// The suite file, or the name of a suite of `bench list`
    suite: PathBuf,
    /// Change an axis (values with commas between), an option, or trials
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Measure little, as the suite file says
    #[arg(long)]
    quick: bool,
    /// The results file [default: the suite's name with .results.db, or with --quick
    /// .quick.results.db, in this folder]
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Args)]
pub struct ReportArgs {
    /// The results file
    results: PathBuf,
    /// An older results file: say what got slower, and give exit status 1 if anything did
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Args)]
struct Outputs {
    /// Write a page with charts, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write everything that was measured, with every sample
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write every sample, a line each
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write what the charts show, a line each
    #[arg(long, value_name = "FILE")]
    summary_csv: Option<PathBuf>,
    /// Write the charts as SVG files into a folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write the charts as PNG files into a folder
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
}

/// Does what was asked; returns the exit status.
pub fn run(command: &BenchCommand) -> Result<u8> {
    match command {
        BenchCommand::Init { file } => init(file).map(|()| 0),
        BenchCommand::List { suites, names } => list(suites, *names).map(|()| 0),
        BenchCommand::Engines => engines::list()
            .map(|()| 0)
            .context("cannot write to standard output"),
        BenchCommand::Clean { list } => clean(*list).map(|()| 0),
        BenchCommand::Run(args) => measure(args),
        BenchCommand::Document { results, into } => document(results, into.as_deref()).map(|()| 0),
        BenchCommand::Report(args) => {
            reports(&args.results, args.against.as_deref(), &args.outputs)
        }
    }
}

fn init(file: &Path) -> Result<()> {
    if file == Path::new(output::STDOUT) {
        return output::to_terminal(|out| out.write_all(TEMPLATE.as_bytes()))
            .context("cannot write to standard output");
    }
    let mut new = std::fs::File::options()
        .write(true)
        .create_new(true)
        .open(file)
        .with_context(|| format!("cannot make {}", file.display()))?;
    new.write_all(TEMPLATE.as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!(
        "{0}: a suite; run it with: hpsqlite bench run {0}",
        file.display()
    );
    Ok(())
}

/// Prints the suites that come with the lab, a line each, or all that is to be known of some.
fn list(wanted: &[String], only_names: bool) -> Result<()> {
    let known = || SUITES.iter().map(|(name, _)| *name);
    if let Some(unknown) = wanted.iter().find(|w| !known().any(|name| name == *w)) {
        let names: Vec<&str> = known().collect();
        bail!(
            "the lab has no suite {unknown}; there are {}",
            names.join(", ")
        );
    }
    let suites: Vec<(&str, Suite)> = known()
        .filter(|name| wanted.is_empty() || wanted.iter().any(|w| w == name))
        .map(|name| Ok((name, Suite::load(Path::new(name), &Changes::default())?)))
        .collect::<Result<_>>()?;
    output::to_terminal(|out| {
        if only_names {
            return suites
                .iter()
                .try_for_each(|(name, _)| writeln!(out, "{name}"));
        }
        if !wanted.is_empty() {
            return suites
                .iter()
                .try_for_each(|(name, suite)| describe(name, suite, out));
        }
        let columns = output::width_of_reports().unwrap_or(LINE);
        suites.iter().try_for_each(|(name, suite)| {
            writeln!(out, "{}", one_line(name, &suite.title, columns))
        })
    })
    .context("cannot write to standard output")
}

/// Columns of a line of the list where it is not for a terminal.
const LINE: usize = 80;
/// Room for the longest name of a suite.
const NAME: usize = 15;

/// A suite in one line, which is cut where it would not fit.
fn one_line(name: &str, title: &str, columns: usize) -> String {
    text::shorten(&format!("{name:NAME$}{title}"), columns)
}

/// All that is to be known of a suite.
fn describe(name: &str, suite: &Suite, out: &mut impl Write) -> std::io::Result<()> {
    output::write_inked(out, Ink::Bold, &format!("{name}: {}", suite.title))?;
    output::write_paragraph(out, 1, &suite.about.trim().replace('\n', " "))?;
    let engines = engines::of(suite).join(", ");
    output::write_paragraph(out, 1, &format!("Engines: {engines}"))
}

/// Says what is in the cache folder, and removes it unless it is only to be listed.
fn clean(only_list: bool) -> Result<()> {
    let all = match only_list {
        true => dataset::kept()?,
        false => dataset::clean()?,
    };
    for one in &all {
        let whose = match one.whose {
            Whose::Everybody => "",
            Whose::Run => "  (of a run that is under way)",
            Whose::Nobody => "  (of a run that was killed)",
        };
        println!(
            "{:>10}  {}{whose}",
            text::bytes(one.bytes),
            one.path.display()
        );
    }
    let bytes = text::bytes(all.iter().map(|one| one.bytes).sum());
    match (all.len(), only_list) {
        (0, _) => println!("There are no data sets."),
        (_, true) => println!("{bytes:>10}  in all"),
        (_, false) => println!("{bytes:>10}  removed"),
    }
    Ok(())
}

fn measure(args: &RunArgs) -> Result<u8> {
    let changes = Changes {
        quick: args.quick,
        set: args.set.iter().map(|s| pair(s)).collect::<Result<_>>()?,
    };
    let suite = Suite::load(&args.suite, &changes)?;
    let results = match &args.results {
        Some(path) => path.clone(),
        // Results of the two are never in one file.
        None if args.quick => PathBuf::from(format!("{}.quick.results.db", suite.name)),
        None => PathBuf::from(format!("{}.results.db", suite.name)),
    };
    let home = Home::open()?;
    let library = Library::load(&libs::stock()?)?;
    let tally = {
        let stored = Stored {
            name: suite.name.clone(),
            text: suite.text.clone(),
        };
        let mut store = Store::open(&library, &results, &stored, &Environment::this(&home.work))?;
        let asked = |options| work::of_kind(suite.kind).asked(options);
        let points = suite.points.iter();
        store.prepare(points.map(|p| (&p.values, asked(&p.options))))?;
        store.built(&runner::builds(&suite)?)?;
        let places = Places {
            suite: args.suite.parent().unwrap_or(Path::new(".")),
            data: &home.data,
            work: &home.work,
        };
        let run = runner::run(&suite, &places, &mut store);
        drop(store);
        if run.as_ref().is_err_and(|e| !e.is::<AnotherBuild>()) {
            // The command has a line of its own, whole, so that it can be pasted.
            eprintln!(
                "What was measured is in {}. This command goes on where it stopped:\n\n{}\n",
                results.display(),
                same_command()
            );
        }
        run?
    };
    let status = reports(&results, None, &args.outputs)?;
    output::to_terminal(|out| {
        writeln!(out, "{}: {}", results.display(), told(&tally))?;
        if tally.failed + tally.unavailable > 0 {
            output::write_paragraph(
                out,
                0,
                "The same command tries again what failed or could not be measured here, with the \
                 trials of it that were given up, and nothing else.",
            )?;
        }
        out.flush()
    })
    .context("cannot write to standard output")?;
    let mut asked = changes.set.iter().filter(|(name, _)| name == ENGINE);
    let is_missed = asked.any(|(_, names)| {
        let mut names = names.split(',').map(str::trim);
        names.any(|name| tally.missing.contains(name))
    });
    Ok(match tally.failed + tally.left_out {
        0 if !is_missed => status,
        _ => INCOMPLETE,
    })
}

/// What a run came to, as a sentence.
fn told(tally: &RunTally) -> String {
    let mut parts = vec![format!("{} measured now", tally.measured)];
    for (n, what) in [
        (tally.kept, "from before"),
        (tally.left_out, "left out"),
        (tally.unavailable, "cannot be measured here"),
        (tally.failed, "failed"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    parts.join(", ")
}

fn pair(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => bail!("--set {text}: want NAME=VALUE"),
    }
}

fn reports(results: &Path, against: Option<&Path>, outputs: &Outputs) -> Result<u8> {
    report::run(&report::ReportOptions {
        results: results.to_owned(),
        against: against.map(Path::to_owned),
        tolerance: report::TOLERANCE,
        terminal: true,
        html: outputs.html.clone(),
        json: outputs.json.clone(),
        samples_csv: outputs.csv.clone(),
        summaries_csv: outputs.summary_csv.clone(),
        svg: outputs.svg.clone(),
        png: outputs.png.clone(),
        presented: &presented,
    })
}

fn document(results: &[PathBuf], into: Option<&Path>) -> Result<()> {
    let page = report::document(results, &presented)?;
    match OutputFile::begin(into, [])? {
        Some(file) => file.end(page),
        None => output::to_terminal(|out| out.write_all(page.as_bytes()))
            .context("cannot write to standard output"),
    }
}

/// What the report of a suite shows.
fn presented(suite: &Stored) -> Result<Presentation> {
    // Where libraries are does not matter any more.
    let changes = Changes::of(&suite.text);
    let parsed = Suite::parse(&suite.name, &suite.text, Path::new(""), &changes)
        .context("the suite in the results file")?;
    Ok(Presentation {
        command: changes.command(&suite.name),
        title: parsed.title,
        about: parsed.about,
        charts: parsed.charts,
        tables: parsed.tables,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_the_list_has_one_line_of_80_columns() {
        for (name, _) in SUITES {
            let suite = Suite::load(Path::new(name), &Changes::default()).unwrap();
            assert!(name.len() < NAME, "{name}");
            let line = one_line(name, &suite.title, LINE);
            assert!(
                line.chars().count() <= LINE && !line.contains('\n'),
                "{line}"
            );
            assert!(
                !line.ends_with('…'),
                "the title of {name} does not fit: {line}"
            );
        }
        assert!(one_line("files", "Blobs in files and in SQLite", 30).ends_with('…'));
    }
}
