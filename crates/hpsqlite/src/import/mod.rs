//! `hpsqlite import`: the rows of a file into a table, as SQLite's shell imports them, on all
//! processors and in one transaction.
//!
//! | file | what it does |
//! |---|---|
//! | `input.rs`, `cut.rs` | reads the file, and cuts it where records end |
//! | `field.rs`, `csv.rs`, `json.rs`, `number.rs` | make rows of a block |
//! | `rows.rs` | those rows, and what workers know of the table |
//! | `pipeline.rs` | threads, and what goes from one to the next |
//! | `first.rs` | the block with the header, and what it tells of the table |
//! | `table.rs`, `names.rs`, `guess.rs` | the table, a new one with its names and types |
//! | `writer.rs`, `bad.rs` | inserts rows, and puts bad ones aside |
//! | `indexes.rs` | makes indexes after the rows |
//! | `report.rs` | the bar, the summary, and what is told of oddities |
//!
//! Only one connection can write, so workers do all that can be done before: they find values,
//! unescape and check them, make integers of digits where the column would, and have the library make
//! the row of them, which the writer appends. Where a row needs more, because of an index that stays,
//! a trigger or a CHECK, its values are bound, and they leave out what the row before has as well.

mod bad;
mod csv;
mod cut;
mod field;
mod first;
mod guess;
mod indexes;
mod input;
mod json;
mod names;
mod number;
mod pipeline;
mod report;
mod rows;
mod table;
mod writer;

use std::cell::Cell;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::library::LibraryOption;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_NOMUTEX, OPEN_READWRITE, RowMaker, SqlError};
use crate::{interrupt, text};
use bad::{BadRow, BadRowFile};
use cut::Records;
use first::FirstBlock;
use indexes::{set_cache, with_indexes_after};
use input::{BLOCK, InputBlocks, InputFile};
use json::ColumnNames;
use pipeline::Pipeline;
use report::ImportBar;
use rows::{ReadRows, RowBlock, RowPacker, RowRules};
use table::ImportTable;
use writer::{ImportTally, TableWriter, WriteRules};

/// What stands below the help.
pub const HELP: &str = "\
The rows are those of the shell's .import: fields are texts, and the column decides what becomes of \
them, so '12' is an integer in an INTEGER column. A row with too few fields has NULL for the rest, \
and fields too many are left out; the summary counts both, and --strict makes them errors. Fields in \
quotes may have line ends in them, and \"\" is a quote. JSON lines have types of their own: true and \
false are 1 and 0, and lists and objects stay JSON.

A table that is not there is made, with the names of the first row and columns of type TEXT; of JSON \
lines, with the keys of the first megabytes and columns without a type. In a table that is there the \
first row is data, unless all its fields are names of columns: then values go to these columns. \
--header and --no-header say which it is.

All rows are one transaction: whatever stops it leaves the table as it was. In WAL mode others read \
the table as it was until the end, without WAL they wait. Indexes that are not unique are made after \
the rows, if the table has no more rows than come. In WAL mode the log grows as large as the rows; \
--commit keeps it small, and keeps the rows before an error, too.

A row is bad if it is not UTF-8, if a quote is not closed, or if SQLite refuses it, such as by a \
constraint. The first one stops the import, unless --bad puts them aside: that file is CSV with line, \
column, reason and row.

Exit status: 0, also if bad rows are put aside; 1 if a bad row stops it; 2 if the file or the database \
cannot be used, 130 interrupted.

Examples:
  hpsqlite import app.db events.csv event
  hpsqlite import app.db events.csv.gz event --types --bad events.bad.csv
  hpsqlite import app.db log.jsonl log --commit 1000000
  curl … | hpsqlite import app.db - event --format tsv --null ''";

#[derive(Args)]
pub struct ImportArgs {
    /// The database file, which is made if it is not there
    database: PathBuf,
    /// The file with the rows, which may be compressed by gzip; - is standard input
    file: PathBuf,
    /// The table, which is made if it is not there
    table: String,
    /// What the file is, where its name does not end in .csv, .tsv, .jsonl or .ndjson
    #[arg(long, value_enum)]
    format: Option<ImportFormat>,
    /// What separates fields, in place of a comma or a tab
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    separator: Option<u8>,
    /// Leave out the first rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// The first row has the names of columns
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first row is data; a new table has columns c1, c2, …
    #[arg(long)]
    no_header: bool,
    /// Give a new table INTEGER and REAL columns, where all values of the first 8 MB are such
    ///
    /// An empty field of such a column is NULL, and a later value that is no number is bad.
    #[arg(long)]
    types: bool,
    /// Fields without quotes that are this text are NULL
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,
    /// What to do with a row whose key is there already
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnConflict::Abort)]
    on_conflict: OnConflict,
    /// Rows with too few or too many fields, stray quotes or NUL bytes are bad
    #[arg(long)]
    strict: bool,
    /// Put bad rows into this file, with their lines and what is wrong, and go on
    #[arg(long, value_name = "FILE")]
    bad: Option<PathBuf>,
    /// Commit after so many rows
    #[arg(long, value_name = "N")]
    commit: Option<NonZeroU64>,
    #[command(flatten)]
    lib: LibraryOption,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// Fields between commas
    Csv,
    /// Fields between tabs, with quotes as in CSV
    Tsv,
    /// A JSON object on each line
    #[value(alias = "ndjson")]
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// The row is bad
    Abort,
    /// The row is left out
    Ignore,
    /// The row takes the place of the other one
    Replace,
}

/// Exit status if a row is bad.
const BAD: u8 = 1;
/// How long a lock of another program is waited for, in milliseconds.
const BUSY_MS: i32 = 5_000;
/// So much of the file is looked at for types and for keys.
const SAMPLE: usize = 8 << 20;

/// Imports the file; returns the exit status.
pub fn run(args: &ImportArgs) -> Result<u8> {
    let mut tally = ImportTally::default();
    let Err(e) = import(args, &mut tally) else {
        return Ok(0);
    };
    let committed = (tally.committed > 0).then(|| {
        let rows = text::plural(tally.committed, "row is", "rows are");
        format!("{rows} committed")
    });
    let Some(bad) = e.downcast_ref::<BadRow>().filter(|_| !interrupt::raised()) else {
        if let Some(committed) = committed {
            eprintln!("hpsqlite: {committed}");
        }
        return Err(match e.is::<SqlError>() {
            true => e.context(format!("cannot write to {}", args.database.display())),
            false => e,
        });
    };
    let left = committed.unwrap_or_else(|| "nothing is imported".to_owned());
    let cure = match bad.is_one_row && args.bad.is_none() {
        true => "; --bad FILE puts bad rows aside and goes on",
        false => "",
    };
    eprintln!("hpsqlite: {e:#}\nhpsqlite: {left}{cure}");
    Ok(BAD)
}

fn import(args: &ImportArgs, tally: &mut ImportTally) -> Result<()> {
    let begun = Instant::now();
    // It stays as long as the process: threads that are not joined may call it.
    let library: &'static Library = Box::leak(Box::new(Library::load(&args.lib.path()?)?));
    let format = args.format()?;
    let records = args.records(format);
    let mut blocks = InputBlocks::new(InputFile::open(&args.file)?, records);
    let name = blocks.file().name.clone();
    let sample = match args.types || format == ImportFormat::Jsonl {
        true => SAMPLE,
        false => BLOCK,
    };
    let mut first = FirstBlock::read(&mut blocks, sample, args.skip, records)?;

    let new = NewFile::of(&args.database);
    let bad = match &args.bad {
        Some(path) => BadRowFile::begin(path, &args.database, &args.file)?,
        None => None,
    };
    let flags = OPEN_READWRITE | OPEN_CREATE | OPEN_NOMUTEX;
    let opened = library.open(&args.database, flags);
    let db = opened.with_context(|| format!("cannot open {}", args.database.display()))?;
    begin(&db)?;
    let log = LogWarning::of(&db, args)?;
    let table = match ImportTable::find(&db, &args.table)? {
        Some(_) if args.types => bail!("--types is for a new table, and {} is there", args.table),
        Some(table) => table,
        None => first.make_table(args, &db, &name)?,
    };
    let columns = first.take_header(args, &table, &name)?;
    let rules = Arc::new(RowRules {
        columns,
        null: args.null.clone().map(String::into_bytes),
        strict: args.strict,
    });

    let plain_size = blocks.file().size.filter(|_| !blocks.file().is_packed);
    log.tell_of(plain_size.unwrap_or(0), &name);
    let bar = ImportBar::new(blocks.file().size)?;
    let rows = plain_size.map(|size| first.rows_in(size));
    let write = || {
        let sql = table.insert(&rules.columns, args.on_conflict.words());
        let write_rules = WriteRules {
            commit: args.commit.map(NonZeroU64::get),
            may_ignore: args.on_conflict == OnConflict::Ignore,
        };
        let read = read_rows(records, Arc::clone(&rules), table.columns.len());
        let columns = &rules.columns;
        let mut writer = TableWriter::new(&db, &sql, &table, columns, write_rules, read)?;
        writer.begin_file(&name, first.lines, bad);
        let pipeline = Pipeline::start(first.bytes, blocks, &writer.reader)?;
        while let Some(mut block) = pipeline.next(&name, writer.tally.lines)? {
            let done = writer.write(&mut block);
            *tally = writer.tally;
            done?;
            log.tell_of(tally.bytes, &name);
            bar.show(block.position, tally.inserted);
            pipeline.give_back(block);
        }
        Ok(writer)
    };
    set_cache(&db, &table)?;
    let mut writer = match args.commit.is_none() && comes_much(&db, &table, rows)? {
        true => with_indexes_after(&db, &table, write, |indexes| bar.show_indexes(indexes))?,
        false => write()?,
    };
    writer.commit()?;
    *tally = writer.tally;
    let bad = writer.end()?;
    new.stays();
    bar.end();
    report::summary(tally, &name, &table.name, begun.elapsed(), bad.as_deref())
}

impl ImportArgs {
    fn format(&self) -> Result<ImportFormat> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let name = self.file.to_string_lossy().to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Ok(ImportFormat::Csv),
            Some("tsv" | "tab") => Ok(ImportFormat::Tsv),
            Some("jsonl" | "ndjson" | "json") => Ok(ImportFormat::Jsonl),
            _ => bail!(
                "the name {} does not tell what is in it: give --format csv, tsv or jsonl",
                self.file.display()
            ),
        }
    }

    fn records(&self, format: ImportFormat) -> Records {
        let usual = match format {
            ImportFormat::Csv => b',',
            ImportFormat::Tsv => b'\t',
            ImportFormat::Jsonl => return Records::Lines,
        };
        Records::Fields {
            separator: self.separator.unwrap_or(usual),
        }
    }
}

impl OnConflict {
    /// As they stand in an INSERT.
    fn words(self) -> &'static str {
        match self {
            OnConflict::Abort => "",
            OnConflict::Ignore => "OR IGNORE ",
            OnConflict::Replace => "OR REPLACE ",
        }
    }
}

/// A character that can separate fields.
fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r' | 0] => Err("this cannot separate fields".to_owned()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("want one ASCII character".to_owned()),
    }
}

/// Begins the transaction.
fn begin(db: &Db<'_>) -> Result<()> {
    db.busy_timeout(BUSY_MS);
    db.stop_on_interrupt();
    Ok(db.exec("BEGIN IMMEDIATE")?)
}

/// Whether there are no more rows in the table than come: `rows` if that is known.
fn comes_much(db: &Db<'_>, table: &ImportTable, rows: Option<u64>) -> Result<bool> {
    Ok(!table.is_new && table.has_at_most(db, rows.unwrap_or(0))?)
}

/// What the workers do, for a table of so many columns.
fn read_rows(records: Records, rules: Arc<RowRules>, columns: usize) -> Box<ReadRows> {
    match records {
        Records::Fields { separator } => {
            Box::new(move |block: &mut RowBlock, maker: Option<&RowMaker>| {
                let packer = maker.map(|maker| RowPacker::new(maker, columns));
                csv::read(block, &rules, separator, packer)
            })
        }
        Records::Lines => {
            let names = ColumnNames::of(rules.columns.iter().map(|c| c.name.as_str()));
            Box::new(move |block: &mut RowBlock, maker: Option<&RowMaker>| {
                let packer = maker.map(|maker| RowPacker::new(maker, columns));
                json::read(block, &rules, &names, packer)
            })
        }
    }
}

/// A warning that is given once.
struct LogWarning {
    is_due: Cell<bool>,
}

impl LogWarning {
    /// A transaction of so many bytes is worth it.
    const LARGE: u64 = 4_000_000_000;

    fn of(db: &Db<'_>, args: &ImportArgs) -> Result<LogWarning> {
        let has_log = db.first("PRAGMA journal_mode")?.as_deref() == Some("wal");
        Ok(LogWarning {
            is_due: Cell::new(has_log && args.commit.is_none()),
        })
    }

    fn tell_of(&self, bytes: u64, name: &str) {
        if bytes > LogWarning::LARGE && self.is_due.replace(false) {
            eprintln!(
                "hpsqlite: {name} has {} or more in one transaction, and the write-ahead log grows \
                 as large; --commit 1000000 would keep it small",
                text::bytes(bytes)
            );
        }
    }
}

/// A database file that was not there: it goes if nothing was written.
struct NewFile<'p>(Option<&'p Path>);

impl NewFile<'_> {
    fn of(path: &Path) -> NewFile<'_> {
        NewFile((!path.exists()).then_some(path))
    }

    fn stays(mut self) {
        self.0 = None;
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0
            && path.metadata().is_ok_and(|meta| meta.len() == 0)
        {
            // Nothing is lost if it stays.
            let _ = std::fs::remove_file(path);
        }
    }
}
