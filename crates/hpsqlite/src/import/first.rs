//! The first block of the file: rows that are skipped, the header, and a sample of the others.

use anyhow::Result;
use memchr::memchr_iter;

use super::ImportArgs;
use super::bad::BadRow;
use super::csv::CsvRecords;
use super::cut::Records;
use super::guess::{self, GuessedType};
use super::input::{BLOCK, InputBlocks};
use super::names;
use super::rows::{ColumnValues, ImportColumn};
use super::table::ImportTable;
use crate::sys::Db;
use crate::text;

pub struct FirstBlock {
    /// From the first row on that is not skipped, and from the first row of data on once the header
    /// has been taken.
    pub bytes: Vec<u8>,
    /// Lines of the file before them.
    pub lines: u64,
    records: Records,
}

impl FirstBlock {
    /// Reads about so many bytes, and skips rows at their beginning.
    pub fn read(
        blocks: &mut InputBlocks,
        wanted: usize,
        skip: u64,
        records: Records,
    ) -> Result<FirstBlock> {
        let mut first = FirstBlock {
            bytes: Vec::new(),
            lines: 0,
            records,
        };
        let mut skip = skip;
        loop {
            let read = blocks.next(&mut first.bytes, wanted.max(BLOCK));
            read.map_err(|e| e.told(&blocks.file().name, first.lines))?;
            if first.bytes.is_empty() {
                break;
            }
            while skip > 0 && !first.bytes.is_empty() {
                let (rows, end) = first.some_rows(skip);
                skip -= rows;
                first.drop_to(end);
            }
            if !first.bytes.is_empty() {
                break;
            }
        }
        Ok(first)
    }

    /// At most so many rows at the beginning: how many there are, and where they end.
    fn some_rows(&self, most: u64) -> (u64, usize) {
        match self.records {
            Records::Fields { separator } => {
                let mut records = CsvRecords::of(&self.bytes, separator);
                let mut rows = 0;
                while rows < most && records.next().is_some() {
                    rows += 1;
                }
                (rows, records.at)
            }
            Records::Lines => {
                let all = self.bytes.len();
                let ends = memchr_iter(b'\n', &self.bytes).map(|newline| newline + 1);
                let ends = ends.chain([all]);
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                ends.take(most)
                    .zip(1..)
                    .fold((0, 0), |_, (end, rows)| (rows, end))
            }
        }
    }

    fn drop_to(&mut self, end: usize) {
        self.lines += memchr_iter(b'\n', &self.bytes[..end]).count() as u64;
        self.bytes.drain(..end);
    }

    /// About how many rows there are in so many bytes.
    pub fn rows_in(&self, size: u64) -> u64 {
        let rows = memchr_iter(b'\n', &self.bytes).count() as u64;
        rows * size / (self.bytes.len() as u64).max(1)
    }

    /// Makes a table for the file.
    pub fn make_table(&self, args: &ImportArgs, db: &Db<'_>, name: &str) -> Result<ImportTable> {
        let columns: Vec<(String, GuessedType)> = match self.records {
            Records::Lines => guess::from_objects(&self.bytes),
            Records::Fields { separator } => {
                let mut records = CsvRecords::of(&self.bytes, separator);
                let header = records.next().unwrap_or_default();
                let names = match args.no_header {
                    true => (1..=header.len()).map(|i| format!("c{i}")).collect(),
                    false => new_names(&header),
                };
                if args.no_header {
                    records.at = 0;
                }
                let types = match args.types {
                    true => guess::from_fields(
                        records,
                        names.len(),
                        args.null.as_deref().map(str::as_bytes),
                    ),
                    false => vec![GuessedType::Text; names.len()],
                };
                names.into_iter().zip(types).collect()
            }
        };
        if columns.is_empty() {
            return Err(self.bad_first_row(name, "there is nothing to name columns after"));
        }
        let untyped = self.records == Records::Lines && !args.types;
        let columns = columns.into_iter().map(|(name, kind)| match untyped {
            true => (name, "", ColumnValues::Text),
            false => (name, kind.declared(), kind.values()),
        });
        ImportTable::create(db, &args.table, columns.collect())
    }

    fn bad_first_row(&self, file: &str, reason: &str) -> anyhow::Error {
        let why = BadRow {
            file: file.to_owned(),
            line: self.lines + 1,
            column: None,
            reason: reason.to_owned(),
            is_one_row: false,
        };
        why.into()
    }

    /// Takes the header off the rows, if there is one; gives the columns that rows have.
    pub fn take_header(
        &mut self,
        args: &ImportArgs,
        table: &ImportTable,
        file: &str,
    ) -> Result<Vec<ImportColumn>> {
        let Records::Fields { separator } = self.records else {
            return Ok(table.columns.clone());
        };
        if args.no_header {
            return Ok(table.columns.clone());
        }
        let mut records = CsvRecords::of(&self.bytes, separator);
        let header = records.next().unwrap_or_default();
        if table.is_new {
            self.drop_to(records.at);
            return Ok(table.columns.clone());
        }
        match named_columns(&header, table) {
            Ok(columns) if !columns.is_empty() => {
                self.drop_to(records.at);
                Ok(columns)
            }
            Ok(_) if args.header => Err(self.bad_first_row(file, "there is no header")),
            Err(reason) if args.header => Err(self.bad_first_row(file, &reason)),
            _ => Ok(table.columns.clone()),
        }
    }
}

/// The columns of a table that a header names, or why it does not.
fn named_columns(header: &[Vec<u8>], table: &ImportTable) -> Result<Vec<ImportColumn>, String> {
    let names = table.names();
    let mut places = Vec::new();
    for field in header {
        let field = String::from_utf8_lossy(field);
        let Some(place) = names.find(&field) else {
            let field = text::shorten(&text::printable(&field), 40);
            return Err(format!("table {} has no column \"{field}\"", table.name));
        };
        if places.contains(&place) {
            return Err(format!("the header has \"{field}\" twice"));
        }
        places.push(place);
    }
    let columns = places.into_iter().map(|place| table.columns[place].clone());
    Ok(columns.collect())
}

/// The names of a new table's columns; tells which have got others than they have in the header.
fn new_names(header: &[Vec<u8>]) -> Vec<String> {
    let names = names::from_header(header);
    let renamed = header.iter().zip(&names).filter_map(|(field, name)| {
        let given = String::from_utf8_lossy(field);
        (given != name.as_str()).then(|| format!("\"{given}\" is \"{name}\""))
    });
    let renamed: Vec<String> = renamed.collect();
    if !renamed.is_empty() {
        let renamed = text::printable(&text::list(&renamed));
        eprintln!("hpsqlite: columns have other names than in the header: {renamed}");
    }
    names
}
