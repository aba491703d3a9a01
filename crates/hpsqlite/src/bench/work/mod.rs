//! What a job does: one trait, one file a kind.
//!
//! | `kind` of a suite | file | what is measured |
//! |---|---|---|
//! | `sql` | `sql`; `duckdb` and `cluster` where that is the engine | statements that read a database |
//! | `keyvalue` | `keyvalue` | pairs of a key and a value, in any of [`super::engine`] |
//! | `blobs` | `blobs` | large values, in a database or in files |
//! | `transactions` | `transactions` | statements that write, by several connections |
//! | `go` | `go` | benchmarks written in Go |
//!
//! The suite asks a [`Work`] for its options and engines, the runner for its data; the measuring process
//! has it do the job.

mod blobs;
mod cluster;
mod duckdb;
mod go;
mod helper;
mod keyvalue;
mod options;
mod sql;
mod transactions;

use std::path::Path;

use anyhow::{Result, anyhow};
use serde_json::Value as Json;

use super::connection;
use super::dataset::Cache;
use super::model::{Job, JobKind, Line, Values};

/// Who hears the lines of a job.
pub type Say<'s> = &'s dyn Fn(Line) -> Result<()>;

/// A kind of job.
pub trait Work: Sync {
    /// The options of its jobs and of their steps.
    fn options(&self) -> Vec<&'static str>;

    /// Whether steps open connections of their own, and may so have settings of their own.
    fn steps_connect(&self) -> bool {
        false
    }

    /// Whether it knows the engine of this name, which may be a SQLite library.
    fn has_engine(&self, _engine: &str, is_sqlite: bool, _options: &Values) -> bool {
        is_sqlite
    }

    /// The settings that a job asks for, by the names under which they are read back.
    fn asked(&self, options: &Values) -> Values {
        connection::pragmas(options)
    }

    /// What a job needs of the cache, as further options of the job.
    fn data(&self, _wanted: &DataWanted<'_>) -> Result<Values> {
        Ok(Values::new())
    }

    /// Whether a step works on what those before it left behind.
    fn leaves_behind(&self) -> bool {
        false
    }

    /// Does the steps of a job, telling each line to `say`.
    fn run(&self, job: &Job, say: Say<'_>) -> Result<()>;
}

/// Whose data a job needs, and where they are.
pub struct DataWanted<'a> {
    /// The engine that is measured, and its library if it is a SQLite.
    pub engine: &'a str,
    pub library: Option<&'a Path>,
    pub options: &'a Values,
    /// Relative paths of the suite are seen from here.
    pub folder: &'a Path,
    pub cache: &'a Cache,
}

/// The work of a kind, where it is the same for all engines.
pub fn of_kind(kind: JobKind) -> &'static dyn Work {
    match kind {
        JobKind::Sql => &sql::SqlStatements,
        JobKind::Blobs => &blobs::LargeValues,
        JobKind::KeyValue => &keyvalue::Pairwise,
        JobKind::Transactions => &transactions::Transactions,
        JobKind::Go => &go::GoBenchmarks,
    }
}

/// The work of a kind on an engine.
pub fn of(kind: JobKind, engine: &str) -> &'static dyn Work {
    match kind {
        JobKind::Sql if engine == cluster::NAME => &cluster::ON_CLUSTER,
        JobKind::Sql if engine == duckdb::NAME => &duckdb::ON_DUCKDB,
        kind => of_kind(kind),
    }
}

/// Does the part of a job that the file says, as a process beside that of the job.
pub fn do_part(file: &Path, say: &dyn Fn(&Json) -> Result<()>) -> Result<()> {
    transactions::part::serve(file, say)
}

/// Does a thread's work; a panic is an error, because others wait for the thread.
fn caught<T, E: From<anyhow::Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // What the work had borrowed is not used any more after an error.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(anyhow!("a thread panicked").into()))
}
