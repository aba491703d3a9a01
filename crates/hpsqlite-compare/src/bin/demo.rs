//! `make demo`: the command `hpsqlite demo` in a program that is built in a third of the time.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hpsqlite_compare::{compare, demo, exit, interrupt};

#[derive(Parser)]
#[command(name = "hpsqlite-demo", version, max_term_width = 100, after_help = demo::HELP)]
#[command(args_conflicts_with_subcommands = true)]
struct DemoProgram {
    #[command(subcommand)]
    command: Option<DemoCommand>,
    #[command(flatten)]
    demo: demo::DemoArgs,
}

#[derive(Subcommand)]
enum DemoCommand {
    /// The process that holds one library
    #[command(hide = true)]
    Worker { library: PathBuf },
}

fn main() -> ExitCode {
    let cli = DemoProgram::parse();
    match cli.command {
        Some(DemoCommand::Worker { library }) => exit(compare::worker::serve(&library).map(|()| 0)),
        None => {
            interrupt::watch();
            exit(demo::run(&cli.demo))
        }
    }
}
