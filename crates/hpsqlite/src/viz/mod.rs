//! `hpsqlite viz`: a database file page by page.
//!
//! ```text
//! file ─ wal      file: header, pages, the log laid over them
//!   │
//! walk            opening: interior pages, schema and free list say who owns which page
//!   │
//! scan            every page once: what it holds, what is wrong, overflow chains
//!   │
//! map, tree ──── numbers ──── show (terminal)
//!   └─────────── problems ─── check (terminal)
//! ```
//!
//! `ask` has the questions that pictures ask: a page by its number, a b-tree by its name, the path to a
//! key, neighbours, chains.
//!
//! The file is read by code of our own (`page`, `record`), never through SQLite: so what is damaged
//! can be looked at as well, and nothing that is in the file decides what is run. It is opened
//! read-only, without locks. A file of 10 GB is open after reading a few thousand pages; the rest is
//! read when it is asked for, or by the scan.

pub mod ask;
pub mod file;
pub mod map;
pub mod numbers;
pub mod page;
pub mod record;
pub mod scan;
pub mod show;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod wal;
pub mod walk;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::{interrupt, output};
use scan::Scan;
use walk::Model;

/// What `hpsqlite viz` is told.
#[derive(Args)]
pub struct Arguments {
    /// The database file; it may be in use
    pub db: PathBuf,
    /// Look for damage page by page
    #[arg(long)]
    pub check: bool,
}

/// Does what was asked; returns the exit status.
pub fn run(args: &Arguments) -> Result<u8> {
    let mut model = Model::open(&args.db)?;
    scan_all(&mut model)?;
    if args.check {
        output::to_terminal(|out| show::problems(&model, out))?;
        return Ok(u8::from(model.problems.count > 0));
    }
    output::to_terminal(|out| show::numbers(&model, out))?;
    Ok(0)
}

/// Scans the file, with a bar that shows how far it came.
fn scan_all(model: &mut Model) -> Result<()> {
    let bar = ProgressBar::new(u64::from(model.map.pages()))
        .with_style(
            ProgressStyle::with_template("{bar:30} {human_pos} of {human_len} pages, {eta} left")?
                .progress_chars("=> "),
        )
        .with_finish(ProgressFinish::AndClear);
    let mut scan = Scan::new(model);
    let path = model.image.path.clone();
    let failed = || format!("cannot read {}", path.display());
    while scan.step(model).with_context(failed)? {
        interrupt::check()?;
        bar.set_position(u64::from(scan.done()));
    }
    scan.finish(model).with_context(failed)
}
