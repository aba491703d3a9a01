//! `hpsqlite query`: the rows of a statement, as people or other programs read them.

mod format;
mod table;
mod value;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use crate::compare::script::Script;
use crate::compare::worker::next_statement;
use crate::library::LibraryOption;
use crate::sys::{Library, OPEN_CREATE, OPEN_READONLY, OPEN_READWRITE, SqlError, Stmt};
use crate::{interrupt, output, text};
use format::{Csv, Json, Markdown, RowWriter};
use table::TextTable;
use value::RowValue;

/// What stands below the help.
pub const HELP: &str = "\
Of several statements the rows of the last one are written; the others, such as PRAGMAs, only run. \
The file is opened for reading; statements that write want --write.

--table is the default on a terminal, --csv elsewhere. A table on a terminal is as wide as that, and \
cells that end in … are cut there; in all other cases values are whole. NULL is an empty field in \
CSV, and an empty text is \"\". A blob is the text x'0102' in tables, CSV and Markdown, and \
hexadecimal digits in JSON. JSON is a list of objects, one a line, with numbers as SQLite writes \
them; a name that is there twice is told apart by :2.

There is no --parquet: the crate that writes it brings 20 others with it. DuckDB writes Parquet from \
a SQLite file: COPY (SELECT * FROM sqlite_scan('app.db', 'event')) TO 'event.parquet'.

Exit status: 0; 2 if a statement is wrong or fails, 130 interrupted.

Examples:
  hpsqlite query app.db 'SELECT kind, count(*) FROM event GROUP BY kind'
  hpsqlite query app.db --json 'SELECT * FROM event LIMIT 10'
  hpsqlite query app.db --csv - <report.sql >report.csv
  hpsqlite query app.db --write 'UPDATE event SET kind = 2 WHERE kind = 1'";

#[derive(Args)]
pub struct QueryArgs {
    /// The database file, or :memory:
    file: PathBuf,
    /// SQL to run; - reads it from standard input
    sql: String,
    /// Write a table with aligned columns
    #[arg(long, group = "format")]
    table: bool,
    /// Write comma-separated values with a header
    #[arg(long, group = "format")]
    csv: bool,
    /// Write a JSON list of objects
    #[arg(long, group = "format")]
    json: bool,
    /// Write a Markdown table
    #[arg(long, group = "format")]
    markdown: bool,
    /// Let statements write to the file, which is made if it is not there
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    lib: LibraryOption,
}

/// How long a lock of another program is waited for, in milliseconds.
const BUSY_MS: i32 = 5_000;

/// Runs the statements and writes the rows of the last one; returns the exit status.
pub fn run(args: &QueryArgs) -> Result<u8> {
    let library = Library::load(&args.lib.path()?)?;
    let sql = match args.sql.as_str() {
        "-" => Script::file(Path::new("-"))?.text,
        sql => sql.to_owned(),
    };
    let in_memory = args.file == Path::new(":memory:");
    if !args.write && !in_memory && !args.file.exists() {
        bail!("there is no file {}", args.file.display());
    }
    let db = match args.write {
        _ if in_memory => library.open_memory(),
        true => library.open(&args.file, OPEN_READWRITE | OPEN_CREATE),
        false => library.open(&args.file, OPEN_READONLY),
    };
    let db = db.with_context(|| format!("cannot open {}", args.file.display()))?;
    db.busy_timeout(BUSY_MS);
    db.stop_on_interrupt();
    let mut rest = next_statement(&sql);
    if rest.is_empty() {
        bail!("there is no statement");
    }
    loop {
        let (statement, tail) = db.prepare_first(rest).map_err(|e| misread(e, rest))?;
        let Some(mut statement) = statement else {
            bail!("there is no statement: {}", text::shorten(rest, 40));
        };
        rest = next_statement(tail);
        let done = match rest {
            "" => write(args, &mut statement),
            _ => run_to_end(&mut statement),
        };
        done.or_else(|e| failed(e, args))?;
        if rest.is_empty() {
            return Ok(0);
        }
    }
}

fn run_to_end(statement: &mut Stmt<'_>) -> Result<()> {
    while statement.step()? {}
    Ok(())
}

/// Writes all rows of a statement, if it is one that has columns.
fn write(args: &QueryArgs, statement: &mut Stmt<'_>) -> Result<()> {
    let columns = statement.columns();
    if columns == 0 {
        return run_to_end(statement);
    }
    let out = io::stdout();
    let is_terminal = out.is_terminal();
    let mut out = BufWriter::new(out.lock());
    let mut writer: Box<dyn RowWriter> = if args.json {
        Box::new(Json::default())
    } else if args.markdown {
        Box::new(Markdown)
    } else if args.csv || (!args.table && !is_terminal) {
        Box::new(Csv)
    } else {
        Box::new(TextTable::new(output::columns_of_terminal()))
    };
    let names: Vec<String> = (0..columns).map(|i| statement.column_name(i)).collect();
    writer.begin(&names, &mut out)?;
    while statement.step()? {
        let row: Vec<RowValue<'_>> = (0..columns).map(|i| RowValue::of(statement, i)).collect();
        writer.row(&row, &mut out)?;
    }
    writer.end(&mut out)?;
    Ok(out.flush()?)
}

/// A statement that SQLite does not understand, with the place where it stops.
fn misread(e: SqlError, sql: &str) -> anyhow::Error {
    let place = e.offset.and_then(|o| sql.get(o..)).unwrap_or_default();
    match place.lines().next() {
        None | Some("") => e.into(),
        Some(line) => anyhow!("{e}, at: {}", text::shorten(line, 60)),
    }
}

/// What is said of a statement that failed; a reader that has seen enough is no failure.
fn failed(e: anyhow::Error, args: &QueryArgs) -> Result<()> {
    const READONLY: i32 = 8;
    interrupt::check()?;
    if let Some(e) = e.downcast_ref::<io::Error>()
        && e.kind() == io::ErrorKind::BrokenPipe
    {
        return Ok(());
    }
    let reads_only = e
        .downcast_ref::<SqlError>()
        .is_some_and(|e| e.code & 0xff == READONLY);
    match reads_only && !args.write {
        true => Err(e.context("to let a statement write, give --write")),
        false => Err(e),
    }
}
