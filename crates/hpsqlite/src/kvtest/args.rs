//! What `hpsqlite kvtest` may be told.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::measure::{VisitOrder, VisitPlan};
use super::value;
use crate::library::LibraryOption;

/// The name of the command.
pub const NAME: &str = "kvtest";

pub const HELP: &str = "\
Numbers may have a suffix: K, M, G, KB, MB, GB (thousands), KiB, MiB, GiB (1,024), in any case, or \
be hexadecimal (0x1000). Options may begin with one dash, as those of SQLite's kvtest: -count 1000.

Exit status: 0 done; 1 a value read is not what was written, or the integrity check found \
something; 2 it could not be done; 130 interrupted.

Examples:
  hpsqlite kvtest init x1.db --count 100K --size 10K
  hpsqlite kvtest export x1.db x1 --tree
  hpsqlite kvtest run x1.db --count 10K --random --repeat 5
  hpsqlite kvtest run x1.db --count 10K --random --repeat 5 --lib stock
  hpsqlite kvtest run x1 --count 10K --random --repeat 5";

const INIT_HELP: &str = "\
The keys are 1 to N. The values are random bytes that no file system or database can compress, the \
same on every machine, and each holds a hash of itself, its key and its length, by which `run` \
checks it. The file is made under another name and renamed when it is whole.

Examples:
  hpsqlite kvtest init x1.db
  hpsqlite kvtest init x1.db --count 1M --size 1KB --variance 200 --pagesize 8KiB";

const EXPORT_HELP: &str = "\
The value of key 123456 is written to DIR/123456, with --tree to DIR/12/34/56, smaller keys with \
zeros before. The folder is made under another name and renamed when it is whole; an empty one \
that is there is replaced.

Examples:
  hpsqlite kvtest export x1.db x1
  hpsqlite kvtest export x1.db x1-tree --tree";

const STAT_HELP: &str = "\
Exit status 1 if the integrity check finds anything.

Examples:
  hpsqlite kvtest stat x1.db
  hpsqlite kvtest stat x1.db --vacuum";

const RUN_HELP: &str = "\
The time is that from before the database is opened until after it is closed, as in SQLite's \
kvtest, less the time for checking values that were read and for making those to be written, which \
is done between two operations while the clock stands. Values that were written are read again by a \
new connection after the run. Values of databases and folders that `hpsqlite kvtest` did not make \
cannot be checked, which is said; one that SQLite's kvtest has overwritten in a database of ours is \
not what was written there.

With --threads each thread has a connection of its own, a range of the keys of its own, and its part \
of the N operations; the time is that until the last one is done, less the processor time of the \
checks. Threads that write wait for one another: for each write with --multitrans, else for all of a \
thread's. With --repeat the lines show the run in the middle, and each run has a line.

Exit status: 0 done; 1 a value read is not what was written, or the integrity check found \
something; 2 it could not be done; 130 interrupted.

Examples:
  hpsqlite kvtest run x1.db --random --count 10K
  hpsqlite kvtest run x1.db --random --count 10K --blob-api --mmap 1GiB
  hpsqlite kvtest run x1.db --update --jmode wal --multitrans --nosync
  hpsqlite kvtest run x1.db --random --threads 8 --repeat 5 --json x1.json
  hpsqlite kvtest run x1 --random --cold";

#[derive(Subcommand)]
pub enum KvtestCommand {
    /// Make a database of blobs
    #[command(after_help = INIT_HELP)]
    Init(Init),
    /// Write the blobs of a database to files, one each
    #[command(after_help = EXPORT_HELP)]
    Export(Export),
    /// Tell what a database of blobs holds
    #[command(after_help = STAT_HELP)]
    Stat(StatArgs),
    /// Measure reading or overwriting blobs of a database or of files
    #[command(after_help = RUN_HELP)]
    Run(KvtestRunArgs),
}

#[derive(Args)]
pub struct Init {
    /// The database to make
    pub dbfile: PathBuf,
    /// Number of blobs
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    pub count: u64,
    /// Size of a blob in bytes
    #[arg(long, value_name = "N", default_value = "10000", value_parser = positive)]
    pub size: u64,
    /// Let sizes vary by up to N bytes more or fewer (but no blob has none)
    #[arg(long, value_name = "N", default_value = "0", value_parser = unsigned)]
    pub variance: u64,
    /// Page size of the database: a power of 2 from 512 to 65536
    #[arg(long, value_name = "N", default_value = "4096", value_parser = page_size)]
    pub pagesize: u64,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub lib: LibraryOption,
}

#[derive(Args)]
pub struct Export {
    /// The database
    pub dbfile: PathBuf,
    /// The folder to make
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Write a tree of folders with at most 100 files each: DIR/00/00/01
    #[arg(long)]
    pub tree: bool,
    #[command(flatten)]
    pub lib: LibraryOption,
}

#[derive(Args)]
pub struct StatArgs {
    /// The database
    pub dbfile: PathBuf,
    /// Vacuum the database before
    #[arg(long)]
    pub vacuum: bool,
    #[command(flatten)]
    pub lib: LibraryOption,
}

#[derive(Args)]
pub struct KvtestRunArgs {
    /// A database, or a folder of files as `export` makes them, flat or a tree
    #[arg(value_name = "DBFILE|DIR")]
    pub target: PathBuf,
    /// Visit blobs in ascending order of their keys, which is the default
    #[arg(long, overrides_with_all = ["desc", "random"])]
    asc: bool,
    /// Visit blobs in descending order of their keys
    #[arg(long, overrides_with_all = ["asc", "random"])]
    desc: bool,
    /// Visit blobs in random order, the same in every run
    #[arg(long, overrides_with_all = ["asc", "desc"])]
    random: bool,
    /// Number of blobs to read or write in a run
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    count: u64,
    /// The key to start with
    #[arg(long, value_name = "N", default_value = "1", value_parser = key)]
    start: u64,
    /// The largest key to visit [default: the largest one there is]
    #[arg(long, value_name = "N", value_parser = key)]
    max_id: Option<u64>,
    /// Overwrite blobs instead of reading them
    #[arg(long)]
    update: bool,
    /// Use SQLite's functions for incremental blob I/O instead of SQL
    #[arg(long)]
    blob_api: bool,
    /// Set PRAGMA cache_size: pages, or, where it is negative, units of 1,024 bytes
    #[arg(
        long,
        value_name = "N",
        default_value = "1000",
        allow_hyphen_values = true,
        value_parser = integer
    )]
    cache_size: i64,
    /// Set PRAGMA mmap_size: map as much as N bytes of the database into memory
    #[arg(long, value_name = "N", default_value = "0", value_parser = unsigned)]
    mmap: u64,
    /// Set PRAGMA journal_mode before the runs [default: as the database has it]
    #[arg(
        long,
        value_name = "MODE",
        ignore_case = true,
        value_parser = ["delete", "truncate", "persist", "memory", "wal", "off"]
    )]
    jmode: Option<String>,
    /// Set PRAGMA synchronous=OFF
    #[arg(long)]
    nosync: bool,
    /// Flush each file to the device after it was written
    #[arg(long)]
    fsync: bool,
    /// Do each read or write in a transaction of its own, instead of all in one
    #[arg(long)]
    multitrans: bool,
    /// Leave checkpoints of the write-ahead log out of the time
    #[arg(long)]
    nocheckpoint: bool,
    /// Run PRAGMA integrity_check after the test
    #[arg(long)]
    integrity_check: bool,
    /// Show SQLite's counters and the system's
    #[arg(long)]
    stats: bool,
    /// Number of threads
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: u64,
    /// Number of runs
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    repeat: u64,
    /// Drop the database or the files from the system's cache before each run. The owner may do
    /// that, unless another program has them mapped; then root may. Only root may drop names and
    /// inodes of files
    #[arg(long)]
    cold: bool,
    /// Write everything that was measured, with every sample
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    lib: LibraryOption,
}

impl KvtestRunArgs {
    pub fn plan(&self) -> Result<VisitPlan> {
        Ok(VisitPlan {
            target: self.target.clone(),
            // Files need none, and so it need not be there for them.
            library: match self.target.is_dir() {
                true => None,
                false => Some(self.lib.path()?),
            },
            order: match (self.desc, self.random) {
                (true, _) => VisitOrder::Desc,
                (_, true) => VisitOrder::Random,
                _ => VisitOrder::Asc,
            },
            count: self.count,
            max_id: self.max_id,
            start: self.start,
            update: self.update,
            blob_api: self.blob_api,
            cache_size: self.cache_size,
            mmap: self.mmap,
            journal_mode: self.jmode.as_ref().map(|m| m.to_lowercase()),
            no_sync: self.nosync,
            pragmas: Vec::new(),
            fsync: self.fsync,
            multi_transactions: self.multitrans,
            no_checkpoint: self.nocheckpoint,
            integrity_check: self.integrity_check,
            stats: self.stats,
            threads: self.threads,
            repeat: self.repeat,
            cold: self.cold,
            seed: value::SEED,
        })
    }
}

/// The program's arguments, with the second dash that an option of `kvtest` may lack.
pub fn with_two_dashes(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.get(1).is_none_or(|a| a != NAME) {
        return arguments;
    }
    for argument in arguments.iter_mut().skip(2) {
        let Some(text) = argument.to_str() else {
            continue;
        };
        if text == "--" {
            break;
        }
        let mut chars = text.chars();
        let dash = chars.next() == Some('-');
        let letters = chars.take(2).filter(char::is_ascii_alphabetic).count();
        if dash && letters == 2 {
            *argument = format!("-{text}").into();
        }
    }
    arguments
}

/// An integer, with the suffixes of SQLite's kvtest.
fn integer(text: &str) -> Result<i64, String> {
    const SUFFIXES: [(&str, i64); 9] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
    ];
    let lower = text.to_ascii_lowercase();
    let (sign, rest) = match lower.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    let (digits, factor) = SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| Some((rest.strip_suffix(suffix)?, *factor)))
        .unwrap_or((rest, 1));
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    // from_str_radix would take another sign.
    let number = digits.chars().all(|c| c.is_digit(radix));
    let number = number
        .then(|| i64::from_str_radix(digits, radix).ok())
        .flatten();
    number
        .and_then(|n| n.checked_mul(factor))
        .map(|n| n * sign)
        .ok_or_else(|| {
            "not a number, with or without K, M, G, KB, MB, GB, KiB, MiB or GiB".to_owned()
        })
}

fn unsigned(text: &str) -> Result<u64, String> {
    u64::try_from(integer(text)?).map_err(|_| "must not be negative".to_owned())
}

fn positive(text: &str) -> Result<u64, String> {
    match integer(text)? {
        n if n > 0 => Ok(n as u64),
        _ => Err("must be positive".to_owned()),
    }
}

/// A key; the largest integer is left out, so that there is always a next one.
fn key(text: &str) -> Result<u64, String> {
    match positive(text)? {
        n if n < i64::MAX as u64 => Ok(n),
        _ => Err("too large".to_owned()),
    }
}

fn page_size(text: &str) -> Result<u64, String> {
    match unsigned(text)? {
        n @ 512..=65536 if n.is_power_of_two() => Ok(n),
        _ => Err("must be a power of 2 from 512 to 65536".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_suffixes() {
        assert_eq!(integer("10000"), Ok(10_000));
        assert_eq!(integer("10k"), Ok(10_000));
        assert_eq!(integer("10KB"), Ok(10_000));
        assert_eq!(integer("10KiB"), Ok(10_240));
        assert_eq!(integer("1M"), Ok(1_000_000));
        assert_eq!(integer("3mib"), Ok(3 << 20));
        assert_eq!(integer("2GiB"), Ok(2 << 30));
        assert_eq!(integer("-64KiB"), Ok(-65_536));
        assert_eq!(integer("+5"), Ok(5));
        assert_eq!(integer("0x1000"), Ok(4096));
        for wrong in ["", "k", "1.5M", "ten", "--5", "+-5", "1TB", "99999999999G"] {
            assert!(integer(wrong).is_err(), "{wrong}");
        }
        assert!(
            page_size("64KiB").is_ok() && page_size("1000").is_err() && page_size("256").is_err()
        );
        assert!(positive("0").is_err() && unsigned("-1").is_err());
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        let made = |text: &str| -> String {
            let arguments = text.split(' ').map(OsString::from);
            let made: Vec<String> = with_two_dashes(arguments)
                .into_iter()
                .map(|a| a.into_string().unwrap())
                .collect();
            made.join(" ")
        };
        assert_eq!(
            made("hpsqlite kvtest run -x.db -blob-api -count=5 -cache-size -64 -h --asc -- -asc"),
            "hpsqlite kvtest run -x.db --blob-api --count=5 --cache-size -64 -h --asc -- -asc"
        );
        assert_eq!(made("hpsqlite compare -file x"), "hpsqlite compare -file x");
    }
}
