//! Rows of CSV, and of what has another separator.
//!
//! A row with too few fields gets NULL for the rest, and fields too many are left out, as by the
//! shell's `.import`. A text ends at a NUL byte, as there. Both are counted as oddities, which the
//! summary tells; with `--strict` they are faults.

use memchr::memchr;

use super::field::{CsvBytes, CsvField, PADDING, Stop, undouble};
use super::number::{integer_at, is_plain_integer, is_plain_number};
use super::rows::{
    CellChange, ColumnValues, Fault, ImportColumn, Oddity, ReadRow, RowBlock, RowPacker, RowRules,
};
use crate::text;

/// SQLite's longest text (SQLITE_MAX_LENGTH).
const LONGEST_TEXT: usize = 1_000_000_000;
/// Stands for a value that the next row's must not be compared with.
const UNKNOWN: (u32, u32) = (0, u32::MAX);
/// Stands for NULL. No text is as long.
const NULL: (u32, u32) = (1, u32::MAX);

/// Reads all rows of a block, and packs them if there is a packer; false if that cannot be.
pub fn read(
    block: &mut RowBlock,
    rules: &RowRules,
    separator: u8,
    packer: Option<RowPacker<'_>>,
) -> bool {
    let mut bytes = std::mem::take(&mut block.bytes);
    let length = bytes.len();
    bytes.extend_from_slice(&[0; PADDING]);
    let has_nul = memchr(0, &bytes[..length]).is_some();
    let is_utf8 = std::str::from_utf8(&bytes[..length]).is_ok();
    let mut reader = CsvReader {
        csv: CsvBytes {
            bytes: &bytes,
            length,
            separator,
        },
        rules,
        before: vec![UNKNOWN; rules.columns.len()],
        has_nul,
        is_utf8,
        is_careful: has_nul || !is_utf8 || rules.null.is_some() || length > LONGEST_TEXT,
        line: 0,
        fault: None,
        odd: 0,
        packer,
        is_packed: true,
        block,
    };
    let mut at = 0;
    while at < length && reader.is_packed {
        at = reader.row(at);
    }
    reader.block.lines = reader.line;
    let is_packed = reader.is_packed;
    bytes.truncate(length);
    block.bytes = bytes;
    is_packed
}

/// The records of a few bytes as lists of fields: the header, and what comes before it.
pub struct CsvRecords {
    /// With padding.
    bytes: Vec<u8>,
    length: usize,
    separator: u8,
    /// Where the next record is.
    pub at: usize,
}

impl CsvRecords {
    pub fn of(bytes: &[u8], separator: u8) -> CsvRecords {
        let mut padded = bytes.to_vec();
        padded.extend_from_slice(&[0; PADDING]);
        CsvRecords {
            bytes: padded,
            length: bytes.len(),
            separator,
            at: 0,
        }
    }
}

impl Iterator for CsvRecords {
    type Item = Vec<Vec<u8>>;

    fn next(&mut self) -> Option<Vec<Vec<u8>>> {
        let csv = CsvBytes {
            bytes: &self.bytes,
            length: self.length,
            separator: self.separator,
        };
        let mut fields = Vec::new();
        while self.at < csv.length {
            let field = csv.field(self.at);
            let content = &csv.bytes[field.from..field.to];
            let mut text = Vec::new();
            match field.has_doubled {
                true => undouble(content, &mut text),
                false => text.extend_from_slice(content),
            }
            fields.push(text);
            self.at = field.next;
            if field.stop != Stop::Separator {
                break;
            }
        }
        (!fields.is_empty()).then_some(fields)
    }
}

struct CsvReader<'b> {
    csv: CsvBytes<'b>,
    rules: &'b RowRules,
    /// Where the values of the row before are, and how long they are.
    before: Vec<(u32, u32)>,
    has_nul: bool,
    is_utf8: bool,
    /// Whether each value must be looked at: for these two, for the text that is NULL, or because it
    /// may be too long.
    is_careful: bool,
    /// Ends of lines so far.
    line: u32,
    /// The first one of this row.
    fault: Option<Fault>,
    /// Bits of this row's oddities.
    odd: u32,
    packer: Option<RowPacker<'b>>,
    /// Whether all rows so far were packed, if they are to be.
    is_packed: bool,
    block: &'b mut RowBlock,
}

impl CsvReader<'_> {
    /// Reads the row at a place; gives where the next one is.
    fn row(&mut self, start: usize) -> usize {
        let (line, changes) = (self.line, self.block.changes.len());
        let columns = self.rules.columns.len();
        let (mut at, mut column, mut stop) = (start, 0, Stop::Separator);
        while column < columns && stop == Stop::Separator {
            if at == self.csv.length {
                // The file ends with a separator. The shell takes an empty text for the last column
                // only.
                stop = Stop::EndOfFile;
                match column + 1 == columns {
                    true => self.plain_value(column, at, 0),
                    false => self.null(column),
                }
            } else if self.csv.bytes[at] == b'"' || self.is_careful {
                let field = self.csv.field(at);
                self.value(column, &field);
                (at, stop) = (field.next, field.stop);
            } else {
                let field = self.csv.plain(at);
                self.plain_value(column, at, field.to - at);
                (at, stop) = (field.next, field.stop);
            }
            column += 1;
        }
        if column < columns {
            self.odd |= 1 << Oddity::TooFew as u32;
            (column..columns).for_each(|column| self.null(column));
        }
        let mut extra = 0;
        while stop == Stop::Separator {
            self.odd |= 1 << Oddity::TooMany as u32;
            extra += 1;
            if at == self.csv.length {
                break;
            }
            let field = self.csv.field(at);
            self.quotes(column, &field);
            (at, stop) = (field.next, field.stop);
        }
        self.line += u32::from(stop == Stop::Newline);
        if self.odd != 0 {
            self.tell_oddities(line, column + extra);
        }
        let is_bad = self.fault.is_some();
        if is_bad {
            // What was bound is not known now.
            self.block.changes.truncate(changes);
            self.before.fill(UNKNOWN);
            self.block.faults.extend(self.fault.take());
        }
        let mut changes_end = self.block.changes.len();
        if let Some(packer) = &mut self.packer {
            if !is_bad {
                self.is_packed = self.block.pack(packer, self.csv.bytes);
                // The next row is to have all its values.
                self.before.fill(UNKNOWN);
            }
            changes_end = self.block.packed.len();
        }
        self.block.rows.push(ReadRow {
            changes_end: changes_end as u32,
            line,
            start: start as u32,
            end: at as u32,
            is_bad,
        });
        at
    }

    /// Counts what the row has, or makes it a fault.
    fn tell_oddities(&mut self, line: u32, fields: usize) {
        let odd = std::mem::take(&mut self.odd);
        for oddity in Oddity::ALL {
            if odd & 1 << oddity as u32 == 0 {
                continue;
            }
            if !self.rules.strict {
                self.block.note(oddity, line);
            } else if self.fault.is_none() {
                let expected = self.rules.columns.len();
                let reason = match oddity {
                    Oddity::TooFew | Oddity::TooMany => {
                        let fields = text::plural(fields as u64, "field", "fields");
                        let expected = text::plural(expected as u64, "column", "columns");
                        format!("{fields} for {expected}")
                    }
                    Oddity::StrayQuote => "a quote within a quoted field is not doubled".to_owned(),
                    Oddity::Nul => "there is a NUL byte".to_owned(),
                };
                self.set_fault(None, line, reason);
            }
        }
    }

    fn set_fault(&mut self, column: Option<usize>, line: u32, reason: String) {
        if self.fault.is_none() {
            self.fault = Some(Fault {
                row: self.block.rows.len(),
                line,
                column,
                reason,
            });
        }
    }

    fn null(&mut self, column: usize) {
        if self.before[column] != NULL {
            self.before[column] = NULL;
            self.block.changes.push(CellChange::null(column));
        }
    }

    /// What a field in quotes does to lines, and what is wrong with its quotes.
    #[inline]
    fn quotes(&mut self, column: usize, field: &CsvField) {
        if !field.is_quoted {
            return;
        }
        if field.is_open {
            let reason = "the quote that opens here is not closed".to_owned();
            self.set_fault(Some(column), self.line, reason);
        }
        let content = &self.csv.bytes[field.from..field.to];
        self.line += memchr::memchr_iter(b'\n', content).count() as u32;
        if field.has_stray {
            self.odd |= 1 << Oddity::StrayQuote as u32;
        }
    }

    #[inline]
    fn value(&mut self, column: usize, field: &CsvField) {
        self.quotes(column, field);
        let (from, mut to) = (field.from, field.to);
        if self.has_nul
            && let Some(nul) = memchr(0, &self.csv.bytes[from..to])
        {
            self.odd |= 1 << Oddity::Nul as u32;
            to = from + nul;
        }
        let content = &self.csv.bytes[from..to];
        if !self.is_utf8 && std::str::from_utf8(content).is_err() {
            let reason = "this is not UTF-8".to_owned();
            self.set_fault(Some(column), self.line, reason);
        }
        if content.len() > LONGEST_TEXT {
            let reason = "this is longer than 1 GB".to_owned();
            self.set_fault(Some(column), self.line, reason);
        }
        if field.has_doubled {
            self.made_value(column, content);
            return;
        }
        if let Some(null) = &self.rules.null
            && content == null.as_slice()
        {
            if field.is_quoted {
                let place = (from as u32, content.len() as u32);
                let change = self.change(column, place);
                self.before[column] = UNKNOWN;
                self.block.changes.push(change);
            } else {
                self.null(column);
            }
            return;
        }
        self.plain_value(column, from, to - from);
    }

    /// A text that stands in the block as it is.
    #[inline(always)]
    fn plain_value(&mut self, column: usize, from: usize, length: usize) {
        let bytes = self.csv.bytes;
        let (before, before_length) = self.before[column];
        if before_length as usize == length && same(bytes, before as usize, from, length) {
            return;
        }
        let place = (from as u32, length as u32);
        self.before[column] = place;
        let change = self.change(column, place);
        self.block.changes.push(change);
    }

    /// A text with doubled quotes.
    fn made_value(&mut self, column: usize, content: &[u8]) {
        let from = self.block.made.len();
        undouble(content, &mut self.block.made);
        let length = self.block.made.len() - from;
        let values = self.rules.columns[column].values;
        if matches!(
            values,
            ColumnValues::OnlyIntegers | ColumnValues::OnlyNumbers
        ) {
            self.wrong_type(column, content);
        }
        self.before[column] = UNKNOWN;
        let made = CellChange::made(column, from as u32, length as u32);
        self.block.changes.push(made);
    }

    /// What is bound for a text.
    #[inline(always)]
    fn change(&mut self, column: usize, (from, length): (u32, u32)) -> CellChange {
        let verbatim = CellChange::verbatim(column, from, length);
        let values = self.rules.columns[column].values;
        if values == ColumnValues::Text {
            return verbatim;
        }
        let (from, length) = (from as usize, length as usize);
        if values == ColumnValues::Number {
            let integer = integer_at(self.csv.bytes, from, length);
            return integer.map_or(verbatim, |n| CellChange::integer(column, n));
        }
        self.checked_change(column, from, length)
    }

    /// What is bound for a text in a column whose type was guessed.
    fn checked_change(&mut self, column: usize, from: usize, length: usize) -> CellChange {
        let text = &self.csv.bytes[from..from + length];
        let values = self.rules.columns[column].values;
        let fits = match values {
            ColumnValues::OnlyIntegers => is_plain_integer(text),
            ColumnValues::OnlyNumbers => is_plain_number(text),
            ColumnValues::Text | ColumnValues::Number => true,
        };
        match integer_at(self.csv.bytes, from, length) {
            _ if text.is_empty() => return CellChange::null(column),
            Some(n) if fits => return CellChange::integer(column, n),
            _ if !fits => self.wrong_type(column, text),
            _ => {}
        }
        CellChange::verbatim(column, from as u32, length as u32)
    }

    #[cold]
    fn wrong_type(&mut self, column: usize, value: &[u8]) {
        let ImportColumn { values, .. } = self.rules.columns[column];
        let what = match values {
            ColumnValues::OnlyIntegers => "integer",
            _ => "number",
        };
        let shown = text::printable(&String::from_utf8_lossy(value));
        let shown = text::shorten(&shown, 40);
        let reason = format!("\"{shown}\" is no {what}, as all values of the sample are");
        self.set_fault(Some(column), self.line, reason);
    }
}

/// Whether so many bytes at two places are the same.
#[inline]
fn same(bytes: &[u8], a: usize, b: usize, length: usize) -> bool {
    if length > 8 {
        return bytes[a..a + length] == bytes[b..b + length];
    }
    // Eight bytes are there at any place, and those behind the text are shifted out.
    let word = |at: usize| {
        let eight = bytes[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(eight)
    };
    length == 0 || (word(a) ^ word(b)) << (64 - 8 * length) == 0
}
