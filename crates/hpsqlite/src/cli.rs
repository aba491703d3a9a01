//! The command line: which commands there are. What may be said to each stands beside what it does.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    bench, cluster, compare, data, defrag, demo, docs, exec, import, kvtest, query, shell, system,
    viz, why,
};

/// Query, compare and measure databases, look into their files, and run programs on High Performance
/// SQLite.
#[derive(Parser)]
#[command(name = "hpsqlite", version, max_term_width = 100, after_help = HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What stands below the help.
const HELP: &str = "`hpsqlite FILE` opens a database in the shell.";

/// Whether a word is the name of a command.
pub fn is_command(word: &str) -> bool {
    word == "help" || Cli::command().find_subcommand(word).is_some()
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
                | Command::Shell { .. }
                | Command::System { .. }
                | Command::Cluster { .. }
        )
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run SQL, and write the rows as a table, CSV, JSON or Markdown
    #[command(after_help = query::HELP)]
    Query(query::QueryArgs),
    /// Put the rows of a CSV, TSV or JSON lines file into a table
    #[command(after_help = import::HELP)]
    Import(import::ImportArgs),
    /// Put the pages of a database in order, slice by slice, while others use it
    #[command(after_help = defrag::HELP)]
    Defrag(defrag::DefragArgs),
    /// Say whether a query is accelerated, what keeps it from that, and what each step takes
    #[command(after_help = why::HELP)]
    Why(why::WhyArgs),
    /// Open a database in SQLite's shell
    #[command(name = shell::NAME, after_help = shell::HELP, disable_help_flag = true)]
    Shell {
        /// The database, SQL, and what else the shell may be told
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ARGUMENT"
        )]
        arguments: Vec<OsString>,
    },
    /// Run SQL on two libraries in turn: same answers? how much faster? by which plan?
    #[command(after_help = compare::command::HELP)]
    Compare(compare::command::CompareArgs),
    /// The process that holds one library for `compare`
    #[command(hide = true)]
    Worker { library: PathBuf },
    /// The process that runs a statement for `viz`, which comes on standard input
    #[command(hide = true, name = viz::query::WORKER)]
    VizWorker {
        library: PathBuf,
        database: PathBuf,
        /// Take its time in place of its reads
        #[arg(long)]
        measure: bool,
    },
    /// Do one job of the benchmark lab, which comes on standard input, or the part of one in a file
    #[command(hide = true)]
    Measure { part: Option<PathBuf> },
    /// Run a program on High Performance SQLite, or say why it cannot be
    #[command(after_help = exec::command::HELP)]
    Exec(exec::command::ExecArgs),
    /// Give every program of a Debian machine High Performance SQLite, and take it back
    #[command(after_help = system::HELP)]
    System { command: system::SwitchCommand },
    /// Run a replicated cluster on High Performance SQLite
    #[command(after_help = cluster::HELP, disable_help_flag = true)]
    Cluster {
        /// A command of the cluster's and what is said to it
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ARGUMENT"
        )]
        arguments: Vec<OsString>,
    },
    /// Show on TPC-H data what High Performance SQLite does, in a few minutes
    #[command(after_help = demo::HELP)]
    Demo(demo::DemoArgs),
    /// Print docs/cli.md
    #[command(hide = true)]
    Reference,
    /// Generate a well-known data set into an ordinary SQLite file
    #[command(subcommand)]
    Data(data::command::DataSet),
    /// Measure any SQLite, any setting and other engines, and draw what came of it
    #[command(subcommand, after_help = bench::command::HELP)]
    Bench(bench::command::BenchCommand),
    /// Measure blobs in a database against blobs in files, as SQLite's kvtest does
    #[command(name = kvtest::args::NAME, after_help = kvtest::args::HELP, subcommand)]
    Kvtest(kvtest::args::KvtestCommand),
    /// Look at a database file page by page: map, records, b-trees, what a query reads
    #[command(after_help = viz::HELP)]
    Viz(viz::Arguments),
    /// The process that makes one copy of a database for `viz`
    #[command(name = viz::copy::WORKER, hide = true)]
    VizCopy {
        kind: viz::copy::CopyKind,
        library: PathBuf,
        source: PathBuf,
        target: PathBuf,
    },
}

/// Does what was asked; returns the exit status.
pub fn run(cli: Cli) -> Result<u8> {
    match cli.command {
        Command::Query(args) => query::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Defrag(args) => defrag::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Shell { arguments } => shell::run(&arguments),
        Command::Compare(args) => compare::command::run(&args),
        Command::Exec(args) => exec::command::run(&args),
        Command::System { command } => system::run(command),
        Command::Cluster { arguments } => cluster::run(&arguments),
        Command::Demo(args) => demo::run(&args),
        Command::Reference => {
            print!("{}", docs::reference(Cli::command()));
            Ok(0)
        }
        Command::Bench(command) => bench::command::run(&command),
        Command::Kvtest(command) => kvtest::run(&command),
        Command::Viz(args) => viz::run(&args),
        Command::Worker { library } => compare::worker::serve(&library).map(|()| 0),
        Command::VizWorker {
            library,
            database,
            measure,
        } => viz::query::worker::serve(&library, &database, measure).map(|()| 0),
        Command::Measure { part } => bench::measure::serve(part.as_deref()),
        Command::VizCopy {
            kind,
            library,
            source,
            target,
        } => viz::copy::worker::serve(kind, &library, &source, &target),
        Command::Data(set) => data::command::run(&set).map(|()| 0),
    }
}
