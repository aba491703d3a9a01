//! What is to be measured.

use std::path::PathBuf;

use serde::Serialize;

/// The order in which keys are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VisitOrder {
    Asc,
    Desc,
    Random,
}

/// What to measure.
#[derive(Debug, Clone, Serialize)]
pub struct VisitPlan {
    /// A database or a folder of files.
    pub target: PathBuf,
    /// The SQLite library, for a database.
    pub library: Option<PathBuf>,
    pub order: VisitOrder,
    /// Values to read or write in a run.
    pub count: u64,
    /// The largest key; by default the largest one there is.
    pub max_id: Option<u64>,
    /// The first key.
    pub start: u64,
    pub update: bool,
    pub blob_api: bool,
    /// `PRAGMA cache_size`.
    pub cache_size: i64,
    /// `PRAGMA mmap_size`.
    pub mmap: u64,
    pub journal_mode: Option<String>,
    /// `PRAGMA synchronous=OFF`.
    pub no_sync: bool,
    /// Other PRAGMAs for each connection, and read back from it: name and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pragmas: Vec<(String, String)>,
    /// Whether files are synchronised after each write.
    pub fsync: bool,
    /// Whether each operation is a transaction of its own.
    pub multi_transactions: bool,
    pub no_checkpoint: bool,
    pub integrity_check: bool,
    /// Whether to collect SQLite's and the system's counters.
    pub stats: bool,
    pub threads: u64,
    pub repeat: u64,
    pub cold: bool,
    /// The same seed gives the same work.
    pub seed: u64,
}
