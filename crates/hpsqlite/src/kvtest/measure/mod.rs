//! `run`: the measuring, apart from what it is asked by and printed with.
//!
//! ```text
//! look      what is there: keys, sizes, whether values can be checked; not measured
//! for each run
//!   cold?   drop the files from the system's cache
//!   work    each thread: open, settings, BEGIN, ( read or write, check ) ..., COMMIT, close
//!   check   what was written is read by a new connection
//! ```
//!
//! The time of a run is that from before the first connection is opened until after the last one is
//! closed, less that of the checks between operations (or of making the values to be written). One
//! thread stops its clock for them. Several threads check while others work, and one that stands
//! may just have no processor; so what is taken off there is the processor time of all checks, in
//! equal parts for as many threads as can run at once. Where threads wait for one another's
//! transactions this takes off too little, never too much.

mod clock;
mod keys;
mod plan;
mod settings;
mod target;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::interrupt;
use crate::kvtest::place::{self, PathKind};
use crate::kvtest::stats::Counter;
use crate::sample::{Effective, Sample};
use crate::sys::Library;
use settings::durability;
use target::Test;

pub use keys::visited;
pub use plan::{VisitOrder, VisitPlan};
pub use target::WrongValue;

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// What the engine said about itself.
    pub effective: Effective,
    /// The largest key that was used.
    pub max_id: u64,
    /// Whether what was read was compared with what had been written; values made by other
    /// programs cannot be.
    pub verified: bool,
    /// What was dropped from the system's cache before each run.
    pub cold: Option<String>,
    pub runs: Vec<MeasuredRun>,
    /// Lines of `PRAGMA integrity_check`.
    pub integrity: Vec<String>,
    pub warnings: Vec<String>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct MeasuredRun {
    pub sample: Sample,
    /// Operations that found no value under their key.
    pub misses: u64,
    /// The time of each operation that found one, in nanoseconds, thread by thread.
    pub nanoseconds: Vec<u64>,
    pub stats: Vec<Counter>,
}

/// Does all runs of a plan; `progress` hears how far they are, from 0 to 1.
pub fn measure(plan: &VisitPlan, progress: &dyn Fn(f64)) -> Result<Measured> {
    let kind = PathKind::of(&plan.target)?;
    let library = match (kind, &plan.library) {
        (PathKind::Database, Some(path)) => Some(Library::load(path)?),
        (PathKind::Database, None) => bail!("a database needs a library"),
        (PathKind::Files(_), _) => None,
    };
    let test = Test::look(plan, kind, library.as_ref())?;
    let mut measured = Measured {
        effective: Effective::default(),
        max_id: test.max_id,
        verified: test.checkable || plan.update,
        cold: None,
        runs: Vec::new(),
        integrity: Vec::new(),
        warnings: test.ignored_options(),
    };
    for number in 0..plan.repeat {
        if plan.cold {
            measured.cold = Some(test.make_cold()?);
        }
        interrupt::check()?;
        let done = |part: f64| progress((number as f64 + part) / plan.repeat as f64);
        let (run, settings) = test.run(number, &done)?;
        if number == 0 {
            measured.effective.settings = settings;
        }
        if number == 0 && !plan.cold && run.sample.device_read > run.sample.bytes / 10 {
            measured.warnings.push(format!(
                "the first run read {} from the device, so it was not warm; with --repeat, later runs are",
                crate::text::bytes(run.sample.device_read)
            ));
        }
        measured.runs.push(run);
    }
    let space = test.space()?;
    for run in &mut measured.runs {
        run.sample.space = space;
    }
    measured.effective.version = match &library {
        Some(library) => version(library, &plan.target)?,
        None => "files".to_owned(),
    };
    test.compare_settings(&mut measured);
    measured.effective.durability = durability(plan, kind, &measured.effective.settings);
    if plan.integrity_check
        && let Some(library) = &library
    {
        let db = place::open(library, &plan.target)?;
        db.stop_on_interrupt();
        measured.integrity = db.column("PRAGMA integrity_check")?;
    }
    Ok(measured)
}

/// `SQLite 3.54.1`, and our version where it is ours.
fn version(library: &Library, file: &Path) -> Result<String> {
    let db = place::open(library, file)?;
    let ours = place::value(&db, "SELECT hp_version()").ok();
    Ok(match ours {
        Some(hp) => format!("SQLite {} with hpsqlite {hp}", library.version()),
        None => format!("SQLite {}", library.version()),
    })
}
