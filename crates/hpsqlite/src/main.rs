//! `hpsqlite`, the tool: compares and measures databases, shows what is in their files, and runs
//! programs on High Performance SQLite.

mod bench;
mod beside;
mod cli;
mod cluster;
mod defrag;
mod docs;
mod exec;
mod import;
mod kvtest;
mod library;
mod missing;
mod picture;
mod query;
mod reasons;
mod shell;
mod system;
mod timed;
mod viz;
mod why;

use std::process::ExitCode;

use clap::Parser;
use hpsqlite_compare::{
    chart, compare, data, demo, exit, host, interrupt, libs, output, sample, sys, text, usage,
};

fn main() -> ExitCode {
    let arguments = kvtest::args::with_two_dashes(std::env::args_os());
    let args = cli::Cli::parse_from(shell::with_its_name(arguments, cli::is_command));
    if args.cleans_up() {
        interrupt::watch();
    }
    exit(cli::run(args))
}
