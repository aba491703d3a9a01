//! `hpsqlite compare` on the command line.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::report::{CompareReport, html, terminal};
use super::script::Script;
use super::{CompareOptions, MIN_RUNS, SideOptions};
use crate::libs;
use crate::output::OutputFile;

/// What stands below the help.
pub const HELP: &str = "\
Each library runs in a process of its own. Every statement runs on both and the answers (values \
with their types, to the last digit, and the column names) are compared; then come rounds of A, B, \
A, B. Times are medians, from preparing the statement to its last row. The speed-up has a 95 % \
interval (percentile bootstrap over rounds). Statements quicker than 0.1 s get new processes every \
round, because one process may be some per cent quicker than the next of the same library.

The database is opened for reading only. With --scratch, statements work on two copies in a \
temporary folder (TMPDIR); what a statement writes is undone after each run but the last, and its \
time is that of the statement without the commit.

Exit status: 0 all answers are the same (an error that both libraries give alike while running is \
an answer), 1 an answer differs, 2 the comparison could not be made, 3 none differs, but a statement \
gives another answer each time on either side, as with random(), 130 interrupted.

Examples:
  hpsqlite compare app.db 'SELECT kind, count(*) FROM event GROUP BY kind'
  hpsqlite compare app.db -f queries.sql --html report.html
  hpsqlite compare app.db -f queries.sql --cold --runs 10
  hpsqlite compare app.db -f queries.sql --a /usr/lib/x86_64-linux-gnu/libsqlite3.so.0
  hpsqlite compare app.db -f updates.sql --scratch --pragma synchronous=off";

#[derive(Args)]
pub struct CompareArgs {
    /// The database file
    db: PathBuf,
    /// Statements to run
    #[arg(required_unless_present = "file")]
    sql: Vec<String>,
    /// File with statements to run; - is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// The library compared with [default: the stock library that came with this tool]
    #[arg(long, value_name = "PATH")]
    a: Option<PathBuf>,
    /// The library whose speed-up is told [default: High Performance SQLite]
    #[arg(long, value_name = "PATH")]
    b: Option<PathBuf>,
    /// Set a PRAGMA on both sides
    #[arg(long, value_name = "NAME=VALUE")]
    pragma: Vec<String>,
    /// Set a PRAGMA on side A only
    #[arg(long, value_name = "NAME=VALUE")]
    pragma_a: Vec<String>,
    /// Set a PRAGMA on side B only
    #[arg(long, value_name = "NAME=VALUE")]
    pragma_b: Vec<String>,
    /// Rounds to measure, at least 5 [default: 5 to 25, as many as fit into 3 seconds a statement]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(MIN_RUNS)..))]
    runs: Option<u32>,
    /// Runs of each side before measuring
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "cold")]
    warmup: u32,
    /// Drop the database from the system's cache before each run. The file's owner may do that,
    /// unless another program has it mapped; then root may
    #[arg(long)]
    cold: bool,
    /// Work on a copy, so that statements may write
    #[arg(long)]
    scratch: bool,
    /// Write everything that was measured, with every sample
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with charts, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Compares, writes the files that were asked for, and shows the table; returns the exit status.
pub fn run(args: &CompareArgs) -> Result<u8> {
    let mut scripts = Vec::new();
    for (i, sql) in args.sql.iter().enumerate() {
        scripts.push(Script::argument(i + 1, args.sql.len(), sql));
    }
    for file in &args.file {
        scripts.push(Script::file(file)?);
    }
    let side = |label: [&str; 2],
                path: &Option<PathBuf>,
                other: Result<PathBuf>,
                option: &str,
                own: &[String]| {
        let (label, library) = match path {
            Some(path) => (label[1], path.clone()),
            None => (
                label[0],
                other.with_context(|| format!("{option} is needed"))?,
            ),
        };
        anyhow::Ok(SideOptions {
            label: label.to_owned(),
            library,
            pragmas: args.pragma.iter().chain(own).cloned().collect(),
        })
    };
    let options = CompareOptions {
        database: args.db.clone(),
        sides: [
            side(
                ["stock", "A"],
                &args.a,
                libs::stock(),
                "--a",
                &args.pragma_a,
            )?,
            side(["ours", "B"], &args.b, libs::ours(), "--b", &args.pragma_b)?,
        ],
        scratch: args.scratch,
        cold: args.cold,
        runs: args.runs,
        warmup: args.warmup,
    };
    let json = OutputFile::begin(args.json.as_deref(), [args.db.as_path()])?;
    let html = OutputFile::begin(args.html.as_deref(), [args.db.as_path()])?;
    let report = super::compare(&options, &scripts)?;
    finish(&report, json, html)?;
    terminal::show(&report, true)?;
    Ok(report.status())
}

/// Writes the files that were asked for.
fn finish(
    report: &CompareReport,
    json: Option<OutputFile>,
    html: Option<OutputFile>,
) -> Result<()> {
    if let Some(file) = json {
        file.end(serde_json::to_string_pretty(report)? + "\n")?;
    }
    if let Some(file) = html {
        file.end(html::page(report))?;
    }
    Ok(())
}
