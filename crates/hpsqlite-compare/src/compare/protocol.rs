//! What the tool and its worker processes say to each other: one JSON value a line, over pipes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::sys;

/// Rows covered by one digest of [`WorkerReply::Digests`].
pub const ROWS_A_CHUNK: u64 = 1024;

#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Open the database; answered by `Opened`.
    Open {
        database: PathBuf,
        /// Only ever true for a scratch copy.
        writable: bool,
        /// `name=value` pairs to be set.
        pragmas: Vec<String>,
    },
    /// Copy `from` to `to` through the backup interface; `Progress` until `Done`.
    Copy { from: PathBuf, to: PathBuf },
    /// Open for writing, read and close, so that SQLite removes the side files of an empty log.
    Tidy { database: PathBuf },
    /// Cut a script into its statements; answered by `Pieces`.
    Split { sql: String },
    /// Answered by `Prepared`.
    Prepare { sql: String },
    /// Answered by `Plan`.
    Plan { sql: String },
    /// Run to the end `repeat` times; answered by `Ran`.
    Run {
        sql: String,
        repeat: u32,
        undo: bool,
    },
    /// Forget cached pages; answered by `Done`.
    Shrink,
    /// Digests of the rows in chunks; answered by `Digests`.
    Digests { sql: String, undo: bool },
    /// Rows `from` (counted from 0) to the end of its chunk; answered by `Rows`.
    Rows { sql: String, undo: bool, from: u64 },
}

#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerReply {
    Done,
    Progress {
        done: u64,
        all: u64,
    },
    Opened(OpenedLibrary),
    Pieces(Vec<Piece>),
    Prepared(PreparedStatement),
    Plan(Vec<String>),
    Ran(Ran),
    Digests(Digests),
    Rows(Vec<Vec<ShownValue>>),
    /// SQLite's error to the request as a whole.
    Sql(ReportedError),
    /// Any other failure, ready to be shown.
    Failed(String),
}

/// An error reported by SQLite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedError {
    /// Extended result code.
    pub code: i32,
    pub message: String,
    /// Byte offset into the statement, where SQLite tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<usize>,
}

impl ReportedError {
    /// Whether the machine or another program is the cause, so that it says nothing about the library's answers.
    pub fn is_circumstance(&self) -> bool {
        const BUSY: i32 = 5;
        const LOCKED: i32 = 6;
        const NOMEM: i32 = 7;
        const IOERR: i32 = 10;
        const FULL: i32 = 13;
        const CANTOPEN: i32 = 14;
        matches!(
            self.code & 0xff,
            BUSY | LOCKED | NOMEM | IOERR | FULL | CANTOPEN
        )
    }

    /// The message, with advice where there is some.
    pub fn advice(&self) -> String {
        match self.code & 0xff {
            5 | 6 => format!(
                "{}: another program is using it; try again later",
                self.message
            ),
            8 => format!(
                "{}: one in WAL mode can be read only where files may be made beside it",
                self.message
            ),
            _ => self.message.clone(),
        }
    }
}

impl From<sys::SqlError> for ReportedError {
    fn from(e: sys::SqlError) -> ReportedError {
        ReportedError {
            code: e.code,
            message: e.message,
            offset: e.offset,
        }
    }
}

/// A library and the settings it really has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenedLibrary {
    pub library: PathBuf,
    pub version: String,
    pub source_id: String,
    /// What `hp_version()` gives; none for a library that is not ours.
    pub hp_version: Option<String>,
    pub settings: Vec<Setting>,
    pub compile_options: Vec<String>,
    pub page_size: i64,
    pub journal_mode: String,
    pub encoding: String,
}

/// A PRAGMA that was set, and what it reads back as.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setting {
    pub name: String,
    pub asked: String,
    /// None where the library does not know the PRAGMA or gives no value.
    pub effective: Option<String>,
}

/// A statement of a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Piece {
    pub sql: String,
    /// Where it starts in the script, in bytes.
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PreparedStatement {
    /// Leaves every database file as it is.
    pub readonly: bool,
}

/// The outcome of running a statement to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub columns: Vec<ResultColumn>,
    pub rows: u64,
    /// 128-bit hash of all values with their types, in order.
    pub hash: String,
    /// The error that ended it, after `rows` rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ReportedError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultColumn {
    pub name: String,
    /// Declared type, for a column that comes straight from a table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub declared: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Means over the repetitions.
    pub sample: RunTime,
    /// Of the first repetition.
    pub outcome: Outcome,
    /// Whether all repetitions had this outcome.
    pub steady: bool,
}

/// One measurement, in seconds a run.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct RunTime {
    pub seconds: f64,
    pub user: f64,
    pub system: f64,
    /// How often it read a run of leaves from columns in memory; none where the library has no such thing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub columns: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Digests {
    /// Hash of each run of [`ROWS_A_CHUNK`] rows, in order.
    pub chunks: Vec<u64>,
    /// Sum of the hashes of all rows: the same for the same rows in another order.
    pub unordered: u64,
}

/// A value as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownValue {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: String,
}
