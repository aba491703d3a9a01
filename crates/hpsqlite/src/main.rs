//! `hpsqlite`, the tool: compares and measures databases, shows what is in their files, and runs
//! programs on High Performance SQLite.

mod bench;
mod chart;
mod cli;
mod compare;
mod data;
mod demo;
mod docs;
mod exec;
mod host;
mod interrupt;
mod kvtest;
mod libs;
mod output;
mod sample;
mod sys;
mod text;
mod usage;
mod viz;

use std::process::ExitCode;

use clap::Parser;

use interrupt::Interrupted;

/// Exit status after a wrong call or anything that kept the work from being done.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let args = cli::Cli::parse_from(kvtest::args::with_two_dashes(std::env::args_os()));
    if args.cleans_up() {
        interrupt::watch();
    }
    match cli::run(args) {
        Ok(status) => ExitCode::from(status),
        Err(e) if interrupt::raised() || e.is::<Interrupted>() => {
            eprintln!("hpsqlite: interrupted");
            ExitCode::from(interrupt::STATUS)
        }
        Err(e) => {
            eprintln!("hpsqlite: {e:#}");
            ExitCode::from(FAILED)
        }
    }
}
