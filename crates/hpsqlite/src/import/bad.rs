//! Bad rows: where they are, why they are bad, and the file in which they are put aside.
//!
//! The file is CSV itself: line, column, reason, and the row as it is. So it can be looked through
//! like any other.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::output::OutputFile;

/// A row that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    pub file: String,
    pub line: u64,
    /// Its number, from 1, and its name.
    pub column: Option<(usize, String)>,
    pub reason: String,
    /// Whether `--bad` would put it aside.
    pub is_one_row: bool,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some((number, name)) = &self.column {
            write!(f, "column {number} \"{name}\": ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadRow {}

/// Where bad rows go. The file gets its name at the end, so a failure leaves none.
pub struct BadRowFile {
    output: OutputFile,
    rows: BufWriter<File>,
    path: String,
}

impl BadRowFile {
    pub fn begin(path: &Path, database: &Path, input: &Path) -> Result<Option<BadRowFile>> {
        if let (Ok(a), Ok(b)) = (path.canonicalize(), input.canonicalize())
            && a == b
        {
            bail!("{} is the file that is imported", path.display());
        }
        let Some(output) = OutputFile::begin(Some(path), [database])? else {
            return Ok(None);
        };
        let rows = tempfile::tempfile().context("cannot make a temporary file")?;
        let mut rows = BufWriter::new(rows);
        rows.write_all(b"line,column,reason,row\n")?;
        let path = path.display().to_string();
        Ok(Some(BadRowFile { output, rows, path }))
    }

    /// Puts a row aside.
    pub fn add(&mut self, why: &BadRow, row: &[u8]) -> io::Result<()> {
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        let column = why.column.as_ref().map_or("", |(_, name)| name);
        write!(self.rows, "{}", why.line)?;
        for field in [column.as_bytes(), why.reason.as_bytes(), row] {
            self.rows.write_all(b",")?;
            write_quoted(&mut self.rows, field)?;
        }
        self.rows.write_all(b"\n")
    }

    /// Puts the file in its place; gives its name.
    pub fn end(self) -> Result<String> {
        let mut rows = self.rows.into_inner().map_err(|e| e.into_error())?;
        rows.rewind()?;
        self.output.end_with(|out| {
            let mut piece = vec![0; 64 << 10];
            loop {
                match rows.read(&mut piece)? {
                    0 => return Ok(()),
                    n => out.write_all(&piece[..n])?,
                }
            }
        })?;
        Ok(self.path)
    }
}

/// A field of CSV, in quotes unless it is empty.
fn write_quoted(out: &mut impl Write, field: &[u8]) -> io::Result<()> {
    if field.is_empty() {
        return Ok(());
    }
    out.write_all(b"\"")?;
    let mut rest = field;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        out.write_all(&rest[..=quote])?;
        out.write_all(b"\"")?;
        rest = &rest[quote + 1..];
    }
    out.write_all(rest)?;
    out.write_all(b"\"")
}
