//! `hpsqlite`, the tool: compares and measures databases, shows what is in their files, and runs
//! programs on High Performance SQLite.

mod bench;
mod cli;
mod cluster;
mod docs;
mod exec;
mod kvtest;
mod missing;
mod picture;
mod reasons;
mod system;
mod viz;

use std::process::ExitCode;

use clap::Parser;
use hpsqlite_compare::{
    chart, compare, data, demo, exit, host, interrupt, libs, output, sample, sys, text, usage,
};

fn main() -> ExitCode {
    let args = cli::Cli::parse_from(kvtest::args::with_two_dashes(std::env::args_os()));
    if args.cleans_up() {
        interrupt::watch();
    }
    exit(cli::run(args))
}
