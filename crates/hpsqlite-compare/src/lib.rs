//! What every command of `hpsqlite` stands on: libraries by path, worker processes, comparisons of
//! two libraries, data sets, charts, files that are written whole or not at all.
//!
//! It is a crate of its own so that `make demo` builds little: neither pictures nor the server nor
//! the lab.

pub mod chart;
pub mod compare;
pub mod data;
pub mod demo;
pub mod host;
pub mod interrupt;
pub mod libs;
pub mod output;
pub mod sample;
pub mod sys;
pub mod text;
pub mod usage;

use std::process::ExitCode;

/// Exit status after a wrong call or anything that kept the work from being done.
const FAILED: u8 = 2;

/// The exit status of a program that has done what was asked; says what kept it from that.
pub fn exit(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        Err(e) if interrupt::raised() || e.is::<interrupt::Interrupted>() => {
            eprintln!("hpsqlite: interrupted");
            ExitCode::from(interrupt::STATUS)
        }
        Err(e) => {
            eprintln!("hpsqlite: {e:#}");
            ExitCode::from(FAILED)
        }
    }
}
