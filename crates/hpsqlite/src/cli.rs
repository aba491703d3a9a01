//! The command line: what may be said, and what runs then.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use crate::compare::report::{Report, html, terminal};
use crate::compare::script::Script;
use crate::compare::{self, MIN_RUNS, Options, SideOptions};
use crate::data::{Set, Target, h2o, mail, mysqlite, tatp};
use crate::output::OutputFile;
use crate::{bench, demo, docs, exec, kvtest, libs, viz};

/// Compare and measure databases, look into their files, and run programs on High Performance SQLite.
#[derive(Parser)]
#[command(name = "hpsqlite", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

impl Cli {
    /// Whether Ctrl-C must be waited for: a worker is ended by the process that started it, and
    /// what is sent to `exec` is for the program.
    pub fn cleans_up(&self) -> bool {
        !matches!(
            self.command,
            Command::Worker { .. }
                | Command::VizWorker { .. }
                | Command::VizCopy { .. }
                | Command::Exec { .. }
        )
    }
}

const EXEC_HELP: &str = "\
The program is told to use our libsqlite3.so.0 in place of the system's by LD_LIBRARY_PATH, and \
where it insists on a folder of its own by LD_PRELOAD. Programs that it starts get the same. One \
that carries its own SQLite, is statically linked or runs with another user's rights cannot be \
reached, and runs as it would without us.

That is told on standard error: before it runs, if it can be known then, and when it has ended, of \
what it and the programs that it started have really loaded. Nothing is told if all of it is ours; \
--verbose tells that too, with the number of queries taken over. A process waits for the end of the \
program and passes signals on to it; with --quiet there is none, and the command becomes the \
program. Statically linked programs that it starts are found by looking now and then, so one that \
ends within some milliseconds may be missed.

Exit status: the program's; 126 or 127 if it cannot be run or found; with --check 0 if the program \
is reached (or links no SQLite but may load it later), 1 if it cannot be.

Examples:
  hpsqlite exec -- python3 report.py
  hpsqlite exec --check -- php";

const DEMO_HELP: &str = "\
Generates TPC-H data into an ordinary SQLite file, unless it is there from the last time, asks \
stock SQLite and High Performance SQLite the same questions in turn, checks that the answers are \
the same, prints times and speed-ups and writes a page with charts. Exit status as for `hpsqlite \
compare`.";

const COMPARE_HELP: &str = "\
Each library runs in a process of its own. Every statement runs on both and the answers (values \
with their types, to the last digit, and the column names) are compared; then come rounds of A, B, \
A, B. Times are medians, from preparing the statement to its last row. The speed-up has a 95 % \
interval (percentile bootstrap over rounds). Statements quicker than 0.1 s get new processes every \
round, because one process may be some per cent quicker than the next of the same library.

The database is opened for reading only. With --scratch, statements work on two copies in a \
temporary folder (TMPDIR); what a statement writes is undone after each run but the last, and its \
time is that of the statement without the commit.

Exit status: 0 all answers are the same (an error that both libraries give alike while running is \
an answer), 1 an answer differs, 2 the comparison could not be made, 130 interrupted.

Examples:
  hpsqlite compare app.db 'SELECT kind, count(*) FROM event GROUP BY kind'
  hpsqlite compare app.db -f queries.sql --html report.html
  hpsqlite compare app.db -f queries.sql --cold --runs 10
  hpsqlite compare app.db -f queries.sql --a /usr/lib/x86_64-linux-gnu/libsqlite3.so.0
  hpsqlite compare app.db -f updates.sql --scratch --pragma synchronous=off";

#[derive(Subcommand)]
enum Command {
    /// Run SQL on two libraries in turn: same answers? how much faster? by which plan?
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// The process that holds one library for `compare`
    #[command(hide = true)]
    Worker { library: PathBuf },
    /// The process that runs a statement for `viz`, which comes on standard input
    #[command(hide = true, name = viz::query::WORKER)]
    VizWorker { library: PathBuf, database: PathBuf },
    /// Do one job of the benchmark lab, which comes on standard input
    #[command(hide = true)]
    Measure,
    /// Run a program on High Performance SQLite, or say why it cannot be
    #[command(after_help = EXEC_HELP)]
    Exec {
        /// Only say whether the program can be reached
        #[arg(long)]
        check: bool,
        /// Tell also what runs on our library, and how many queries were taken over
        #[arg(short, long, conflicts_with = "quiet")]
        verbose: bool,
        /// Tell nothing, and become the program
        #[arg(short, long)]
        quiet: bool,
        /// The library to run on [default: High Performance SQLite]
        #[arg(long, value_name = "PATH")]
        lib: Option<PathBuf>,
        /// The program and its arguments
        #[arg(
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "CMD"
        )]
        command: Vec<OsString>,
    },
    /// Show on TPC-H data what High Performance SQLite does, in a few minutes
    #[command(after_help = DEMO_HELP)]
    Demo {
        /// Folder for the data and the page [default: hpsqlite in the user's cache folder]
        #[arg(long)]
        dir: Option<PathBuf>,
        /// Scale factor: 1 is 8.7 million rows in 1.3 GB; 0.01, 0.02, or from 0.025 to 100
        #[arg(long, default_value_t = demo::SCALE, value_name = "N")]
        sf: f64,
        /// Rounds to measure, at least 5 [default: 5 to 25, as many as fit into 3 seconds a question]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(MIN_RUNS)..))]
        runs: Option<u32>,
    },
    /// Print docs/cli.md
    #[command(hide = true)]
    Reference,
    /// Generate a well-known data set into an ordinary SQLite file
    #[command(subcommand)]
    Data(DataSet),
    /// Measure any SQLite, any setting and other engines, and draw what came of it
    #[command(subcommand, after_help = bench::command::HELP)]
    Bench(bench::command::Command),
    /// Measure blobs in a database against blobs in files, as SQLite's kvtest does
    #[command(name = kvtest::args::NAME, after_help = kvtest::args::HELP, subcommand)]
    Kvtest(kvtest::args::Command),
    /// Look at a database file page by page: map, records, b-trees, what a query reads
    #[command(after_help = viz::HELP)]
    Viz(viz::Arguments),
    /// The process that makes one copy of a database for `viz`
    #[command(name = viz::copy::WORKER, hide = true)]
    VizCopy {
        kind: viz::copy::Kind,
        library: PathBuf,
        source: PathBuf,
        target: PathBuf,
    },
}

#[derive(Args)]
struct CompareArgs {
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

#[derive(Subcommand)]
enum DataSet {
    /// The eight tables of TPC-H
    Tpch {
        /// Scale factor: 1 is 8.7 million rows in 1.3 GB; 0.01, 0.02, or from 0.025 to 100
        #[arg(long, default_value_t = 1.0, value_name = "N")]
        sf: f64,
        #[command(flatten)]
        to: DataFile,
    },
    /// The group-by table of the H2O.ai database benchmark
    H2o {
        /// Number of rows
        #[arg(long, default_value_t = h2o::ROWS, value_name = "N")]
        rows: u64,
        /// Number of values of the columns with few values
        #[arg(long, default_value_t = h2o::GROUPS, value_name = "N")]
        groups: u64,
        #[command(flatten)]
        to: DataFile,
    },
    /// The table of two integer columns that the MySQLite project measured
    Mysqlite {
        /// Number of rows
        #[arg(long, default_value_t = mysqlite::ROWS, value_name = "N")]
        rows: u64,
        /// Number of values of the column key_col
        #[arg(long, default_value_t = mysqlite::KEYS, value_name = "N")]
        keys: u64,
        #[command(flatten)]
        to: DataFile,
    },
    /// The five tables of the Star Schema Benchmark
    Ssb {
        /// Scale factor: 1 is 6 million lines of orders in 0.7 GB; from 0.01 to 100
        #[arg(long, default_value_t = 1.0, value_name = "N")]
        sf: f64,
        #[command(flatten)]
        to: DataFile,
    },
    /// A mail client's database, whose tables have grown between one another
    Mail {
        /// Number of messages that arrive; some are deleted again
        #[arg(long, default_value_t = mail::MESSAGES, value_name = "N")]
        messages: u64,
        #[command(flatten)]
        to: DataFile,
    },
    /// The four tables of TATP, transactions of a telephone company
    Tatp {
        /// Number of subscribers, each with about ten rows in all
        #[arg(long, default_value_t = tatp::SUBSCRIBERS, value_name = "N")]
        subscribers: u64,
        #[command(flatten)]
        to: DataFile,
    },
}

#[derive(Args)]
struct DataFile {
    /// The file to write
    file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
    /// SQLite library that writes the file [default: the stock library that came with this tool]
    #[arg(long, value_name = "PATH")]
    lib: Option<PathBuf>,
}

impl DataFile {
    fn target(&self) -> Target<'_> {
        Target {
            file: &self.file,
            force: self.force,
            library: self.lib.as_deref(),
        }
    }
}

/// Does what was asked; returns the exit status.
pub fn run(cli: Cli) -> Result<u8> {
    match cli.command {
        Command::Compare(args) => compare(&args),
        Command::Exec {
            check,
            verbose,
            quiet,
            lib,
            command,
        } => {
            let library = match &lib {
                Some(path) => path
                    .canonicalize()
                    .with_context(|| format!("no such library: {}", path.display()))?,
                None => libs::ours()?,
            };
            let options = exec::Options {
                library: &library,
                ours: lib.is_none(),
                check,
                verbose,
                quiet,
            };
            exec::exec(&options, &command)
        }
        Command::Demo { dir, sf, runs } => demo::run(dir.as_deref(), sf, runs),
        Command::Reference => {
            print!("{}", docs::reference());
            Ok(0)
        }
        Command::Bench(command) => bench::command::run(&command),
        Command::Kvtest(command) => kvtest::run(&command),
        Command::Viz(args) => viz::run(&args),
        Command::Worker { library } => compare::worker::serve(&library).map(|()| 0),
        Command::VizWorker { library, database } => {
            viz::query::worker::serve(&library, &database).map(|()| 0)
        }
        Command::Measure => bench::measure::serve(),
        Command::VizCopy {
            kind,
            library,
            source,
            target,
        } => viz::copy::worker::serve(kind, &library, &source, &target),
        Command::Data(set) => {
            let (to, set) = match set {
                DataSet::Tpch { sf, to } => (to, Set::Tpch { sf }),
                DataSet::H2o { rows, groups, to } => (to, Set::H2o { rows, groups }),
                DataSet::Mysqlite { rows, keys, to } => (to, Set::Mysqlite { rows, keys }),
                DataSet::Ssb { sf, to } => (to, Set::Ssb { sf }),
                DataSet::Mail { messages, to } => (to, Set::Mail { messages }),
                DataSet::Tatp { subscribers, to } => (to, Set::Tatp { subscribers }),
            };
            let written = set.write(&to.target())?;
            println!("{}: {written}", to.file.display());
            Ok(0)
        }
    }
}

fn compare(args: &CompareArgs) -> Result<u8> {
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
    let options = Options {
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
    let report = compare::compare(&options, &scripts)?;
    finish(&report, json, html)?;
    terminal::show(&report)?;
    Ok(report.status())
}

/// Writes the files that were asked for.
fn finish(report: &Report, json: Option<OutputFile>, html: Option<OutputFile>) -> Result<()> {
    if let Some(file) = json {
        file.end(serde_json::to_string_pretty(report)? + "\n")?;
    }
    if let Some(file) = html {
        file.end(html::page(report))?;
    }
    Ok(())
}
