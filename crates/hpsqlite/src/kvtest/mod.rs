//! `hpsqlite kvtest`: SQLite's own test of blobs in a database against blobs in files.
//!
//! ```text
//! args ──> make     init, export, stat ─┐
//!   │                                   ├──> show ──> terminal, JSON
//!   └────> measure  run ────────────────┘
//!             └ access: one read or write by SQL, blob API or file
//! ```
//!
//! [`value`] makes the blobs and tells whether one is whole; [`place`] knows where they are kept.
//! Databases are those of SQLite's kvtest (`kv(k INTEGER PRIMARY KEY, v BLOB)`), and either
//! program can use those of the other, though only our values can be checked. [`measure::measure`] prints nothing.

mod access;
pub mod args;
pub mod make;
pub mod measure;
pub mod place;
mod show;
mod stats;
pub mod value;

use std::io::{self, Write};

use anyhow::{Context, Result};
use indicatif::{ProgressFinish, ProgressStyle};

use crate::compare::cache::StaysWarm;
use crate::output::{self, OutputFile};
use args::KvtestCommand;
use measure::WrongValue;
use place::{Layout, PathKind};

/// The exit status where a value or a database is not what it should be.
const WRONG: u8 = 1;

/// Does what was asked; returns the exit status.
pub fn run(command: &KvtestCommand) -> Result<u8> {
    let mut out = io::stdout().lock();
    let status = match command {
        KvtestCommand::Init(args) => {
            let values = make::Values {
                count: args.count,
                size: args.size,
                variance: args.variance,
                page_size: args.pagesize,
                seed: value::SEED,
            };
            let made = make::init(&args.lib.path()?, &args.dbfile, &values, args.force)?;
            show::made(
                &mut out,
                &args.dbfile.display().to_string(),
                "values",
                &made,
            )?;
            0
        }
        KvtestCommand::Export(args) => {
            let layout = if args.tree {
                Layout::Tree
            } else {
                Layout::Flat
            };
            let made = make::export(&args.lib.path()?, &args.dbfile, &args.directory, layout)?;
            show::made(
                &mut out,
                &args.directory.display().to_string(),
                "files",
                &made,
            )?;
            0
        }
        KvtestCommand::Stat(args) => {
            let library = args.lib.path()?;
            if args.vacuum {
                write!(out, "Vacuuming....")?;
                out.flush()?;
                let done = make::vacuum(&library, &args.dbfile);
                writeln!(out, "{}", if done.is_ok() { "       done" } else { "" })?;
                done?;
            }
            let content = make::stat(&library, &args.dbfile)?;
            show::content(&mut out, &content)?;
            if content.integrity == ["ok"] {
                0
            } else {
                WRONG
            }
        }
        KvtestCommand::Run(args) => measure_and_show(args)?,
    };
    out.flush().context("cannot write to standard output")?;
    Ok(status)
}

fn measure_and_show(args: &args::KvtestRunArgs) -> Result<u8> {
    let plan = args.plan()?;
    let kind = PathKind::of(&plan.target)?;
    let json = OutputFile::begin(args.json.as_deref(), [plan.target.as_path()])?;
    let bar = crate::output::progress(1000)
        .with_finish(ProgressFinish::AndClear)
        .with_style(
            ProgressStyle::with_template("{wide_bar} {percent:>3} %  {eta} left")
                .expect("a valid template"),
        );
    let measured = measure::measure(&plan, &|part| bar.set_position((part * 1000.0) as u64));
    drop(bar);
    let measured = match measured {
        Err(e) if e.is::<WrongValue>() => {
            eprintln!("hpsqlite: {e:#}");
            return Ok(WRONG);
        }
        Err(e) if e.is::<StaysWarm>() => return Err(e.context("--cold")),
        other => other?,
    };
    if let Some(file) = json {
        file.end(&(serde_json::to_string(&show::KvtestRecord::new(&plan, &measured))? + "\n"))?;
    }
    let mut out = output::terminal();
    show::measured(&mut out, &plan, &measured, kind)?;
    out.flush().context("cannot write to standard output")?;
    for warning in &measured.warnings {
        eprintln!("hpsqlite: warning: {warning}");
    }
    let whole = measured.integrity.is_empty() || measured.integrity == ["ok"];
    Ok(if whole { 0 } else { WRONG })
}
