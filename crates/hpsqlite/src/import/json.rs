//! Rows of JSON, one object a line.
//!
//! A key is the name of a column, and a value has its own type: integers, reals, texts and null are
//! those of SQLite, true and false are 1 and 0, and what is nested stays JSON as it is written. A
//! column whose key is missing is NULL. Lines without anything on them are no rows.
//!
//! A list with an object on each line is read as well, as `hpsqlite query --json` and the shell
//! write it: what is around the objects goes. So is a list that stands on one line.

use std::collections::HashMap;
use std::fmt;

use memchr::memchr_iter;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::rows::{CellChange, ColumnValues, Fault, ReadRow, RowBlock, RowPacker, RowRules};

/// Finds columns by their names, as SQLite does: a letter is the same in upper and lower case.
pub struct ColumnNames {
    places: HashMap<String, usize>,
}

impl ColumnNames {
    pub fn of<'n>(names: impl Iterator<Item = &'n str>) -> ColumnNames {
        let places = names.enumerate();
        ColumnNames {
            places: places.map(|(i, n)| (n.to_ascii_lowercase(), i)).collect(),
        }
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        let found = self.places.get(name);
        found
            .or_else(|| self.places.get(&name.to_ascii_lowercase()))
            .copied()
    }
}

/// Reads all rows of a block, and packs them if there is a packer; false if that cannot be.
pub fn read(
    block: &mut RowBlock,
    rules: &RowRules,
    names: &ColumnNames,
    packer: Option<RowPacker<'_>>,
) -> bool {
    let bytes = std::mem::take(&mut block.bytes);
    let mut reader = JsonReader {
        bytes: &bytes,
        rules,
        names,
        row: vec![JsonCell::Missing; rules.columns.len()],
        before: vec![JsonCell::Unknown; rules.columns.len()],
        line: 0,
        packer,
        is_packed: true,
        block,
    };
    let mut start = 0;
    for end in memchr_iter(b'\n', &bytes) {
        reader.line(start, end);
        reader.line += 1;
        start = end + 1;
    }
    if start < bytes.len() {
        reader.line(start, bytes.len());
    }
    let is_packed = reader.is_packed;
    block.lines = memchr_iter(b'\n', &bytes).count() as u32;
    block.bytes = bytes;
    is_packed
}

/// The objects that stand on a line, each where it is.
pub fn objects(line: &str) -> Vec<&str> {
    let line = line.trim();
    if line.starts_with('[')
        && let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(line)
    {
        return list.into_iter().map(RawValue::get).collect();
    }
    let line = line.strip_prefix('[').unwrap_or(line).trim_start();
    let line = line.strip_suffix(']').unwrap_or(line).trim_end();
    let line = line.strip_suffix(',').unwrap_or(line).trim_end();
    match line {
        "" => Vec::new(),
        line => vec![line],
    }
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum JsonCell {
    /// It is not comparable with anything.
    Unknown,
    /// Its key has not come.
    Missing,
    Integer(i64),
    Real(f64),
    Verbatim(u32, u32),
    Made(u32, u32),
}

struct JsonReader<'b> {
    bytes: &'b [u8],
    rules: &'b RowRules,
    names: &'b ColumnNames,
    row: Vec<JsonCell>,
    before: Vec<JsonCell>,
    line: u32,
    packer: Option<RowPacker<'b>>,
    /// Whether all rows so far were packed, if they are to be.
    is_packed: bool,
    block: &'b mut RowBlock,
}

impl<'b> JsonReader<'b> {
    fn line(&mut self, start: usize, end: usize) {
        let line = &self.bytes[start..end];
        match std::str::from_utf8(line) {
            Ok(text) => {
                for object in objects(text) {
                    let done = self.object(object);
                    self.end_row(start, end, done);
                }
            }
            Err(_) => self.end_row(start, end, Err((None, "this is not UTF-8".to_owned()))),
        }
    }

    /// Reads an object into `row`.
    fn object(&mut self, text: &'b str) -> Result<(), (Option<usize>, String)> {
        self.row.fill(JsonCell::Missing);
        let mut json = serde_json::Deserializer::from_str(text);
        let visitor = ObjectVisitor {
            bytes: self.bytes,
            names: self.names,
            row: &mut self.row,
            made: &mut self.block.made,
        };
        let done = json.deserialize_map(visitor).and_then(|()| json.end());
        done.map_err(|e| (None, without_line(&e)))?;
        for (column, cell) in self.row.iter().enumerate() {
            let fits = match self.rules.columns[column].values {
                ColumnValues::OnlyIntegers => {
                    matches!(cell, JsonCell::Missing | JsonCell::Integer(_))
                }
                ColumnValues::OnlyNumbers => {
                    !matches!(cell, JsonCell::Verbatim(..) | JsonCell::Made(..))
                }
                ColumnValues::Text | ColumnValues::Number => true,
            };
            if !fits {
                let reason = "this is of another type than all values of the sample".to_owned();
                return Err((Some(column), reason));
            }
        }
        Ok(())
    }

    /// Adds the row, or its fault.
    fn end_row(&mut self, start: usize, end: usize, done: Result<(), (Option<usize>, String)>) {
        let is_bad = done.is_err();
        match done {
            Ok(()) => self.add_changes(),
            Err((column, reason)) => self.block.faults.push(Fault {
                row: self.block.rows.len(),
                line: self.line,
                column,
                reason,
            }),
        }
        let mut changes_end = self.block.changes.len();
        if let Some(packer) = &mut self.packer {
            if !is_bad && self.is_packed {
                self.is_packed = self.block.pack(packer, self.bytes);
                // The next row is to have all its values.
                self.before.fill(JsonCell::Unknown);
            }
            changes_end = self.block.packed.len();
        }
        self.block.rows.push(ReadRow {
            changes_end: changes_end as u32,
            line: self.line,
            start: start as u32,
            end: end as u32,
            is_bad,
        });
    }

    fn add_changes(&mut self) {
        let text = |from: u32, length: u32| &self.bytes[from as usize..][..length as usize];
        for (column, &cell) in self.row.iter().enumerate() {
            let same = match (cell, self.before[column]) {
                (JsonCell::Verbatim(a, n), JsonCell::Verbatim(b, m)) => text(a, n) == text(b, m),
                (JsonCell::Missing, JsonCell::Missing) => true,
                (JsonCell::Integer(a), JsonCell::Integer(b)) => a == b,
                _ => false,
            };
            self.before[column] = cell;
            if same {
                continue;
            }
            self.block.changes.push(match cell {
                JsonCell::Unknown | JsonCell::Missing => CellChange::null(column),
                JsonCell::Integer(n) => CellChange::integer(column, n),
                JsonCell::Real(r) => CellChange::real(column, r),
                JsonCell::Verbatim(from, length) => CellChange::verbatim(column, from, length),
                JsonCell::Made(from, length) => CellChange::made(column, from, length),
            });
        }
    }
}

/// What serde_json says, with the place in the line in place of "at line 1 column 7".
fn without_line(e: &serde_json::Error) -> String {
    let said = e.to_string();
    match said.rsplit_once(" at line ") {
        Some((what, _)) if e.column() > 0 => {
            format!("{what}, at byte {} of the object", e.column())
        }
        Some((what, _)) => what.to_owned(),
        None => said,
    }
}

/// Puts the values of an object into a row.
struct ObjectVisitor<'r, 'b> {
    bytes: &'b [u8],
    names: &'r ColumnNames,
    row: &'r mut [JsonCell],
    made: &'r mut Vec<u8>,
}

impl<'b> Visitor<'b> for ObjectVisitor<'_, 'b> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(KeySeed(self.names))? {
            let raw: &RawValue = map.next_value()?;
            self.row[column] = cell(raw.get(), self.bytes, self.made).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// A value, whose text is a part of `bytes`.
fn cell(raw: &str, bytes: &[u8], made: &mut Vec<u8>) -> Result<JsonCell, String> {
    let from = raw.as_ptr() as usize - bytes.as_ptr() as usize;
    let verbatim = |from: usize, length: usize| JsonCell::Verbatim(from as u32, length as u32);
    Ok(match raw.as_bytes() {
        [b'"', text @ .., b'"'] if !text.contains(&b'\\') => verbatim(from + 1, text.len()),
        [b'"', ..] => {
            let start = made.len();
            let text: String = serde_json::from_str(raw).map_err(|e| without_line(&e))?;
            made.extend_from_slice(text.as_bytes());
            JsonCell::Made(start as u32, text.len() as u32)
        }
        [b'n', ..] => JsonCell::Missing,
        [b't', ..] => JsonCell::Integer(1),
        [b'f', ..] => JsonCell::Integer(0),
        [b'[' | b'{', ..] => verbatim(from, raw.len()),
        _ => match raw.parse::<i64>() {
            Ok(n) => JsonCell::Integer(n),
            Err(_) => JsonCell::Real(raw.parse().map_err(|_| format!("{raw} is no number"))?),
        },
    })
}

/// A key becomes the place of its column.
struct KeySeed<'r>(&'r ColumnNames);

impl<'b> DeserializeSeed<'b> for KeySeed<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'b>>(self, json: D) -> Result<usize, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        let missing = || E::custom(format!("the table has no column \"{key}\""));
        self.0.find(key).ok_or_else(missing)
    }
}

/// The keys of an object, in their order, with their values; none if it is no object.
pub fn keys(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct KeysVisitor;
    impl<'b> Visitor<'b> for KeysVisitor {
        type Value = Vec<(String, &'b RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(entry) = map.next_entry()? {
                all.push(entry);
            }
            Ok(all)
        }
    }
    let mut json = serde_json::Deserializer::from_str(text);
    json.deserialize_map(KeysVisitor).ok()
}
