//! `hpsqlite cluster`: a replicated cluster on High Performance SQLite.
//!
//! `config` is the cluster's file, `node` a process of the cluster, `client` asks nodes from outside, and
//! `message` is what both say to each other. `sql` judges statements, `request` is what the log keeps of a
//! write, so that it is done once, and `write` has it done. `library` guards SQLite, and `commands` is what
//! the user calls. `prove` shows what the cluster claims, and `lab` how fast it is, each on
//! a `trial`.

mod client;
mod commands;
mod config;
mod lab;
mod library;
mod message;
mod node;
mod prove;
mod request;
mod sql;
mod tls;
mod trial;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run a replicated cluster on High Performance SQLite
///
/// Each node is a process with a plain SQLite file. Writes go through the leader to the logs of most nodes
/// before they are acknowledged; reads are answered by any node, in the vectorised executor. Raft, its log
/// and its snapshots are hiqlite's.
#[derive(Parser)]
#[command(
    name = "hpsqlite cluster",
    bin_name = "hpsqlite cluster",
    version,
    max_term_width = 100
)]
struct Arguments {
    /// The cluster's folder
    #[arg(long, global = true, default_value = "cluster", value_name = "FOLDER")]
    dir: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start all nodes of this machine; make the cluster first if there is none
    Start(commands::Start),
    /// Run SQL statements; those that write, and are given together, are one transaction
    Sql(commands::Sql),
    /// Show who leads and how far each node is; exit status 1 unless all nodes work
    Status,
    /// Add a node on this machine
    Add,
    /// Stop all nodes, or one
    Stop(commands::Stop),
    /// Copy the data into a plain SQLite file
    Backup(commands::Backup),
    /// Kill nodes while rows are written, and show that none is lost
    Prove(prove::Prove),
    /// Serve `hpsqlite bench`
    #[command(hide = true)]
    Lab(lab::Lab),
    /// Run one node in the foreground, as a service does
    Node {
        /// The node's number in cluster.toml
        id: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let dir = std::path::absolute(&arguments.dir).unwrap_or(arguments.dir);
    let done = match arguments.command {
        Command::Start(start) => commands::start(&dir, &start),
        Command::Sql(sql) => commands::sql(&dir, &sql),
        Command::Status => commands::status(&dir),
        Command::Add => commands::add(&dir),
        Command::Stop(stop) => commands::stop(&dir, &stop),
        Command::Backup(backup) => commands::backup(&dir, &backup),
        Command::Prove(prove) => prove::run(&prove),
        Command::Lab(arguments) => lab::run(&dir, &arguments),
        Command::Node { id } => {
            let filter = tracing_subscriber::EnvFilter::try_from_env("HPSQLITE_CLUSTER_LOG")
                .unwrap_or_else(|_| "warn,hiqlite=info".into());
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_writer(std::io::stderr)
                .with_ansi(false)
                .init();
            node::run(&dir, id).map(|()| true)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
