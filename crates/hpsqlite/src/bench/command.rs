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
use super::suite::{Changes, SUITES, Suite, TEMPLATE, quoted};
use super::work;
use crate::output::{self, OutputFile};
use crate::sys::Library;
use crate::{libs, text};

/// What stands below the help.
pub const HELP: &str = "\
Data sets and the stores of engines are kept below $XDG_CACHE_HOME/hpsqlite/bench (usually
~/.cache); `clean` removes them. Servers are started there by the lab itself and end with it.

Engines are `stock`, `ours`, and those that `bench engines` lists; `bench list` names those of each
suite. One that is not installed is left out, with a note; one that --set engine=... asks for is an
error then.

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
    /// Say which suites come with the lab, what they measure, and with which engines
    List {
        /// Only the names, a line each
        #[arg(long)]
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
        BenchCommand::List { names } => list(*names).map(|()| 0),
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

fn list(only_names: bool) -> Result<()> {
    let mut table = output::plain_table();
    for (name, _) in SUITES {
        if only_names {
            println!("{name}");
            continue;
        }
        let suite = Suite::load(Path::new(name), &Changes::default())?;
        let about = suite.about.trim().replace('\n', " ");
        let engines = engines::of(&suite).join(", ");
        table.add_row([
            (*name).to_owned(),
            format!("{}\n{about}\nEngines: {engines}", suite.title),
        ]);
    }
    if only_names {
        return Ok(());
    }
    output::to_terminal(|out| output::print_table(&table, out))
        .context("cannot write to standard output")
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
            let words = std::env::args_os().skip(1);
            let again: Vec<String> = words.map(|w| quoted(&w.to_string_lossy())).collect();
            eprintln!(
                "What was measured is in {}; this goes on where it stopped:\n  hpsqlite {}",
                results.display(),
                again.join(" ")
            );
        }
        run?
    };
    let status = reports(&results, None, &args.outputs)?;
    output::to_terminal(|out| {
        writeln!(out, "{}: {}", results.display(), told(&tally))?;
        if tally.failed + tally.unavailable > 0 {
            writeln!(
                out,
                "The same command tries again what failed or could not be measured here, with the \
                 trials of it that were given up, and nothing else."
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
