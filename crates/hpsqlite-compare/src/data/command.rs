//! `hpsqlite data` on the command line.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::{DataTarget, Set, h2o, hits, mail, mysqlite, tatp};

#[derive(Subcommand)]
pub enum DataSet {
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
    /// Page views in 105 columns, as ClickBench has them
    Hits {
        /// Number of rows: 2 million are 1.4 GB
        #[arg(long, default_value_t = hits::ROWS, value_name = "N")]
        rows: u64,
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
pub struct DataFile {
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
    fn target(&self) -> DataTarget<'_> {
        DataTarget {
            file: &self.file,
            force: self.force,
            library: self.lib.as_deref(),
        }
    }
}

/// Generates the data set.
pub fn run(set: &DataSet) -> Result<()> {
    let (to, set) = match *set {
        DataSet::Tpch { sf, ref to } => (to, Set::Tpch { sf }),
        DataSet::H2o {
            rows,
            groups,
            ref to,
        } => (to, Set::H2o { rows, groups }),
        DataSet::Mysqlite { rows, keys, ref to } => (to, Set::Mysqlite { rows, keys }),
        DataSet::Ssb { sf, ref to } => (to, Set::Ssb { sf }),
        DataSet::Mail { messages, ref to } => (to, Set::Mail { messages }),
        DataSet::Hits { rows, ref to } => (to, Set::Hits { rows }),
        DataSet::Tatp {
            subscribers,
            ref to,
        } => (to, Set::Tatp { subscribers }),
    };
    let written = set.write(&to.target())?;
    println!("{}: {written}", to.file.display());
    Ok(())
}
