//! What the worker of a query says: frames of a letter, a length and so many bytes, over a pipe.
//!
//! The worker gets the statement as a length and its bytes; a byte `STOP` after it ends the statement,
//! the end of the pipe ends the worker. It answers `Started`, then pages as they are read, then
//! `Ended`; or `Failed` at once. It reads files that may be hostile, so nothing that it says is believed
//! to be in bounds.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::missing::Suggested;
use crate::reasons::Reasons;

/// Bytes of the longest statement.
pub const LONGEST: usize = 1 << 20;
/// Rows that are shown,
pub const ROWS: usize = 200;
/// characters of a text,
pub const TEXT_SHOWN: usize = 300;
/// bytes of a blob,
pub const BLOB_SHOWN: usize = 64;
/// and bytes of all rows together.
pub const SHOWN: usize = 2 << 20;
/// Ends the statement.
pub const STOP: u8 = b's';
/// No frame is longer.
const FRAME: usize = 64 << 20;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// An [`Event`] as JSON.
    Event = b'e' as isize,
    /// Numbers of pages that were read, in order, as little-endian words of four bytes.
    Pages = b'p' as isize,
}

/// Something that happened in the worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    Started(Started),
    Ended(StatementEnd),
    Failed(Error),
}

/// The statement was prepared, and runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Started {
    pub plan: Vec<PlanLine>,
    /// Parameters such as `?1`; all are NULL.
    pub parameters: usize,
    /// Version of the library.
    pub library: String,
    pub page_size: u32,
    /// The file was opened as one that nobody writes to.
    pub immutable: bool,
}

/// A line of EXPLAIN QUERY PLAN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLine {
    pub id: i64,
    pub parent: i64,
    pub detail: String,
}

/// What came of a statement.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StatementEnd {
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<QueryValue>>,
    /// All rows.
    pub row_count: u64,
    pub seconds: f64,
    /// Pages that were read; how many from the log; by how many calls of the system.
    pub pages: u64,
    pub from_log: u64,
    pub calls: u64,
    pub temporary_files: u64,
    pub temporary_bytes: u64,
    /// Of a statement that is measured, the seconds of each run.
    #[serde(default)]
    pub times: Vec<f64>,
    /// What became of it, if the library is ours.
    #[serde(default)]
    pub reasons: Option<Reasons>,
    /// Indexes that would help it.
    #[serde(default)]
    pub indexes: Vec<Suggested>,
    /// It ended because it was told to.
    pub stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<Error>,
}

/// Why a statement did not run, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    pub message: String,
    /// Byte of the statement where it is, if SQLite says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<usize>,
}

/// A value as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryValue {
    #[serde(rename = "type")]
    pub kind: ValueType,
    pub value: String,
    /// Bytes of the whole value: of blobs, and of texts that were cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
}

/// SQLite's five types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    Null,
    Integer,
    Real,
    Text,
    Blob,
}

/// Writes a frame.
pub fn write(to: &mut impl Write, tag: Tag, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    to.write_all(&[tag as u8])?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(content)
}

/// Reads a frame; none at the end of the pipe, wherever that is.
pub fn read(from: &mut impl Read) -> io::Result<Option<(Tag, Vec<u8>)>> {
    let mut head = [0; 5];
    match from.read_exact(&mut head) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(e) => return Err(e),
    }
    let tag = match head[0] {
        b'e' => Tag::Event,
        b'p' => Tag::Pages,
        _ => return Err(io::Error::other("a frame of an unknown kind")),
    };
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > FRAME {
        return Err(io::Error::other("a frame that is too long"));
    }
    let mut content = Vec::new();
    from.take(length as u64).read_to_end(&mut content)?;
    Ok((content.len() == length).then_some((tag, content)))
}
