//! `hpsqlite-engine` makes the C side of `dist/` from the pinned SQLite, the
//! patches in `engine/patches` and the modules in `engine/src`.
//!
//! The steps, one module each: [`upstream`] fetches and checks the pinned
//! files, [`patch`] and [`amalgamation`] make the two headers and `sqlite3.c`,
//! [`toolchain`] compiles and links, [`dist`] puts the results in place.
//! Everything is made in a work folder first; `dist/` changes only by renames
//! once all of it has succeeded.

mod amalgamation;
mod dist;
#[cfg(test)]
mod floors;
mod options;
mod patch;
#[cfg(test)]
mod promises;
mod shell;
mod stamp;
mod toolchain;
mod upstream;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Build the hpsqlite library.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The folder that holds UPSTREAM, OPTIONS, patches/ and src/
    #[arg(long, default_value = "engine", global = true)]
    engine: PathBuf,
    /// Where intermediate files are kept between runs
    #[arg(long, default_value = "target/engine", global = true)]
    work: PathBuf,
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// Make the libraries, headers, amalgamation and shell, with the C compiler that CC names
    Build {
        /// The folder to fill
        #[arg(long, default_value = "dist")]
        dist: PathBuf,
    },
    /// Write only the patched amalgamation and its headers
    Source {
        /// The folder to fill
        #[arg(long, default_value = "dist/src")]
        out: PathBuf,
    },
    /// Print the version of the pinned SQLite
    Version,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.work)
        .with_context(|| format!("cannot make the work folder {}", args.work.display()))?;
    // Two builds at a time would remove each other's objects.
    let lock = std::fs::File::create(args.work.join("lock"))?;
    lock.lock().context("cannot lock the work folder")?;
    let pins = upstream::Pins::read(&args.engine.join("UPSTREAM"))?;
    match &args.step {
        Step::Build { dist } => dist::build(&args.engine, &args.work, dist, &pins),
        Step::Source { out } => {
            amalgamation::make(&args.engine, &args.work, &pins)?.write_to(out)?;
            Ok(())
        }
        Step::Version => {
            println!("{}", pins.sqlite);
            Ok(())
        }
    }
}
