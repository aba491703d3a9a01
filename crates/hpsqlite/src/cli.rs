//! The command line: what may be said, and what runs then.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::data::{self, Target};

/// Compare two SQLite libraries on your own data, and run programs on High Performance SQLite.
#[derive(Parser)]
#[command(name = "hpsqlite", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate a well-known data set into an ordinary SQLite file
    #[command(subcommand)]
    Data(DataSet),
}

#[derive(Subcommand)]
enum DataSet {
    /// The eight tables of TPC-H
    Tpch {
        /// Scale factor: 1 is 8.7 million rows in 1.2 GB
        #[arg(long, default_value_t = 1.0, value_name = "N")]
        sf: f64,
        #[command(flatten)]
        to: DataFile,
    },
    /// The group-by table of the H2O.ai database benchmark
    H2o {
        /// Number of rows
        #[arg(long, default_value_t = 5_000_000, value_name = "N")]
        rows: u64,
        /// Number of values of the columns with few values
        #[arg(long, default_value_t = 100, value_name = "N")]
        groups: u64,
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
        Command::Data(set) => {
            let (file, written) = match &set {
                DataSet::Tpch { sf, to } => (&to.file, data::tpch::write(*sf, &to.target())?),
                DataSet::H2o { rows, groups, to } => {
                    (&to.file, data::h2o::write(*rows, *groups, &to.target())?)
                }
            };
            println!("{}: {written}", file.display());
            Ok(0)
        }
    }
}
