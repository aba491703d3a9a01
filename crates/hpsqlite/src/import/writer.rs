//! The one connection that inserts the rows.
//!
//! Packed rows are appended. All others go through one prepared INSERT, whose parameters get what a
//! row changes. Texts are bound where they are in the block (SQLITE_STATIC).
//!
//! A packed row that cannot be appended, because its key is not the greatest one so far, is inserted,
//! and so are all rows that follow: keys that are out of order once are so again.

use std::sync::Arc;

use anyhow::{Context, Result};

use super::bad::{BadRow, BadRowFile};
use super::rows::{
    CellChange, Fault, ImportColumn, NewValue, Oddity, OddityCount, ReadRow, ReadRows, RowBlock,
    RowReader,
};
use super::table::ImportTable;
use crate::sys::{Db, SqlError, Stmt};

/// Codes of errors that are of one row. Others are of the database.
const TOO_BIG: i32 = 18;
const CONSTRAINT: i32 = 19;
const MISMATCH: i32 = 20;

pub struct TableWriter<'d> {
    db: &'d Db<'d>,
    insert: Stmt<'d>,
    pub reader: Arc<RowReader>,
    table: &'d ImportTable,
    columns: &'d [ImportColumn],
    rules: WriteRules,
    /// The file, as messages name it.
    file: String,
    bad: Option<BadRowFile>,
    /// Rows of this transaction so far.
    uncommitted: u64,
    pub tally: ImportTally,
}

/// What has become of the rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportTally {
    pub inserted: u64,
    /// Left out by ON CONFLICT IGNORE.
    pub ignored: u64,
    pub bad: u64,
    pub committed: u64,
    /// Lines of the file that are done, and bytes of rows, unpacked.
    pub lines: u64,
    pub bytes: u64,
    pub odd: [OddityCount; Oddity::ALL.len()],
}

/// How rows are written.
pub struct WriteRules {
    /// A transaction has so many rows.
    pub commit: Option<u64>,
    /// Whether a row may be left out without an error.
    pub may_ignore: bool,
}

impl<'d> TableWriter<'d> {
    pub fn new(
        db: &'d Db<'d>,
        sql: &str,
        table: &'d ImportTable,
        columns: &'d [ImportColumn],
        rules: WriteRules,
        read: Box<ReadRows>,
    ) -> Result<TableWriter<'d>> {
        let insert = db.prepare(sql)?.context("an INSERT is a statement")?;
        Ok(TableWriter {
            db,
            reader: Arc::new(RowReader::new(read, insert.row_maker())),
            insert,
            table,
            columns,
            rules,
            file: String::new(),
            bad: None,
            uncommitted: 0,
            tally: ImportTally::default(),
        })
    }

    /// Says of what file the rows are, how many of its lines come before them, and where bad ones go.
    pub fn begin_file(&mut self, name: &str, lines: u64, bad: Option<BadRowFile>) {
        self.file = name.to_owned();
        self.tally.lines = lines;
        self.bad = bad;
    }

    /// Inserts the rows of a block.
    pub fn write(&mut self, block: &mut RowBlock) -> Result<()> {
        let mut appended = 0;
        if block.is_packed {
            appended = self.append(block)?;
            if appended < block.rows.len() {
                self.reader.stop_packing();
                self.reader.read_changes(block);
            }
        }
        if !block.is_packed {
            self.insert(block, appended)?;
        }
        for (sum, own) in self.tally.odd.iter_mut().zip(&block.odd) {
            if sum.rows == 0 {
                sum.first = self.tally.lines + own.first + 1;
            }
            sum.rows += own.rows;
        }
        self.tally.lines += u64::from(block.lines);
        self.tally.bytes += block.bytes.len() as u64;
        Ok(())
    }

    /// Appends packed rows; gives how many rows are done.
    fn append(&mut self, block: &RowBlock) -> Result<usize> {
        let reader = Arc::clone(&self.reader);
        let Some(maker) = &reader.maker else {
            return Ok(0);
        };
        let mut faults = block.faults.iter();
        let (mut at, mut from) = (0, 0);
        while let Some(row) = block.rows.get(at) {
            if row.is_bad {
                if let Some(fault) = faults.next() {
                    self.put_aside(block, row, self.faulty(fault))?;
                }
                at += 1;
                continue;
            }
            // As many as come before a bad one and belong to this transaction.
            let most = self.rules.commit.map_or(u64::MAX, |n| n - self.uncommitted);
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let rest = block.rows[at..].iter().take(most);
            let rows = rest.take_while(|row| !row.is_bad).count();
            let end = block.rows[at + rows - 1].changes_end as usize;
            let (done, outcome) = self.insert.append(maker, &block.packed[from..end]);
            at += done;
            self.count(done as u64)?;
            if outcome.is_err()
                && let Some(row) = block.rows.get(at)
            {
                outcome.with_context(|| self.place(row))?;
            }
            if done < rows {
                break;
            }
            from = end;
        }
        Ok(at)
    }

    /// Inserts the rows of a block but for the first ones, which are done.
    fn insert(&mut self, block: &RowBlock, appended: usize) -> Result<()> {
        let mut changes = &block.changes[..];
        let mut done = 0;
        let mut faults = block.faults.iter();
        for (i, row) in block.rows.iter().enumerate() {
            let (own, later) = changes.split_at((row.changes_end - done) as usize);
            (changes, done) = (later, row.changes_end);
            if i < appended {
                // What does not change is what it was in these.
                match row.is_bad {
                    true => _ = faults.next(),
                    false => self.bind(block, own)?,
                }
                continue;
            }
            if row.is_bad {
                if let Some(fault) = faults.next() {
                    self.put_aside(block, row, self.faulty(fault))?;
                }
                continue;
            }
            let bound = self.bind(block, own);
            bound.with_context(|| self.place(row))?;
            match self.insert.step() {
                Ok(_) if self.rules.may_ignore && self.db.changes() == 0 => {
                    self.tally.ignored += 1;
                }
                Ok(_) => self.count(1)?,
                Err(e) => self.failed(block, row, e)?,
            }
            self.insert.reset();
        }
        Ok(())
    }

    #[inline]
    fn bind(&mut self, block: &RowBlock, changes: &[CellChange]) -> Result<(), SqlError> {
        for &change in changes {
            let (parameter, value) = change.get();
            let parameter = parameter as i32 + 1;
            let (bytes, from, length) = match value {
                NewValue::Null => {
                    self.insert.bind_null(parameter)?;
                    continue;
                }
                NewValue::Integer(n) => {
                    self.insert.bind_int(parameter, n)?;
                    continue;
                }
                NewValue::Real(r) => {
                    self.insert.bind_real(parameter, r)?;
                    continue;
                }
                NewValue::Verbatim(from, length) => (&block.bytes, from, length),
                NewValue::Made(from, length) => (&block.made, from, length),
            };
            let text = &bytes[from..from + length];
            // SAFETY: the block is borrowed until all its rows have been inserted, and the first row
            // of the next one binds every parameter before the statement is stepped again.
            unsafe { self.insert.bind_utf8_static(parameter, text)? };
        }
        Ok(())
    }

    /// So many rows have been inserted, of one transaction.
    #[inline]
    fn count(&mut self, rows: u64) -> Result<()> {
        self.tally.inserted += rows;
        self.uncommitted += rows;
        if self.rules.commit == Some(self.uncommitted) {
            self.insert.reset();
            self.commit()?;
            self.db.exec("BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    /// Ends the transaction. Foreign keys may be checked as late as here.
    pub fn commit(&mut self) -> Result<()> {
        match self.db.exec("COMMIT") {
            Err(e) if e.is_constraint() => Err(BadRow {
                file: self.file.clone(),
                line: self.tally.lines,
                column: None,
                reason: format!("{e} at the end of the transaction"),
                is_one_row: false,
            }
            .into()),
            done => {
                done?;
                self.tally.committed = self.tally.inserted;
                self.uncommitted = 0;
                Ok(())
            }
        }
    }

    /// Ends the file of bad rows, if there is one; gives its name.
    pub fn end(self) -> Result<Option<String>> {
        self.bad.map(BadRowFile::end).transpose()
    }

    fn failed(&mut self, block: &RowBlock, row: &ReadRow, e: SqlError) -> Result<()> {
        let of_row = matches!(e.code & 0xff, TOO_BIG | CONSTRAINT | MISMATCH);
        // A trigger may have rolled back.
        if !of_row || !self.db.in_transaction() {
            return Err(e).with_context(|| self.place(row));
        }
        let why = self.refused(row, &e);
        self.insert.reset();
        self.put_aside(block, row, why)
    }

    fn place(&self, row: &ReadRow) -> String {
        format!("{}:{}", self.file, self.line(row.line))
    }

    /// The number of a line that so many lines of the block come before.
    fn line(&self, line: u32) -> u64 {
        self.tally.lines + u64::from(line) + 1
    }

    /// Writes a row to the file of bad ones, if there is one.
    fn put_aside(&mut self, block: &RowBlock, row: &ReadRow, why: BadRow) -> Result<()> {
        let Some(bad) = &mut self.bad else {
            return Err(why.into());
        };
        self.tally.bad += 1;
        let bytes = &block.bytes[row.start as usize..row.end as usize];
        bad.add(&why, bytes).context("cannot put a bad row aside")
    }

    /// What is said of a row in which a worker has found a fault.
    fn faulty(&self, fault: &Fault) -> BadRow {
        let named = fault.column.and_then(|column| {
            let name = &self.columns.get(column)?.name;
            Some((column + 1, name.clone()))
        });
        self.bad_row(fault.line, named, fault.reason.clone())
    }

    /// What is said of a row that SQLite has refused.
    fn refused(&self, row: &ReadRow, e: &SqlError) -> BadRow {
        let column = match e.code & 0xff {
            MISMATCH => self.table.key.clone(),
            // "NOT NULL constraint failed: t.a" names the column, "UNIQUE …: t.a, t.b" several.
            CONSTRAINT if !e.message.contains(", ") => {
                let of_table = |column: &&ImportColumn| {
                    e.message
                        .ends_with(&format!("{}.{}", self.table.name, column.name))
                };
                let found = self.table.columns.iter().find(of_table);
                found.map(|column| column.name.clone())
            }
            _ => None,
        };
        let named = column.and_then(|name| {
            let place = self.columns.iter().position(|column| column.name == name)?;
            Some((place + 1, name))
        });
        let reason = match e.code & 0xff {
            MISMATCH => format!("{e}: the key must be an integer"),
            _ => e.to_string(),
        };
        self.bad_row(row.line, named, reason)
    }

    fn bad_row(&self, line: u32, column: Option<(usize, String)>, reason: String) -> BadRow {
        BadRow {
            file: self.file.clone(),
            line: self.line(line),
            column,
            reason,
            is_one_row: true,
        }
    }
}
