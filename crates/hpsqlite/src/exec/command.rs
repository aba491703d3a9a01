//! `hpsqlite exec` on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::ExecOptions;
use crate::libs;

/// What stands below the help.
pub const HELP: &str = "\
The program is told to use our libsqlite3.so.0 in place of the system's by LD_LIBRARY_PATH, and \
where it insists on a folder of its own by LD_PRELOAD. Programs that it starts get the same. One \
that carries its own SQLite, is statically linked or runs with another user's rights cannot be \
reached, and runs as it would without us. Neither can SQLite's shell of another version, such as \
Debian's, which refuses other libraries: `hpsqlite FILE` opens ours.

That is told on standard error: before it runs, if it can be known then, and when it has ended, of \
what it and the programs that it started have really loaded. Nothing is told if all of it is ours; \
--verbose tells that too, with the number of queries taken over. A process waits for the end of the \
program and passes signals on to it; with --quiet there is none, and the command becomes the \
program. Statically linked programs that it starts are found by looking now and then, so one that \
ends within some milliseconds may be missed.

Exit status: the program's; 126 or 127 if it cannot be run or found; with --check 0 if the program \
is reached (or links no SQLite but may load it later), 1 if it cannot be.

Examples:
  hpsqlite exec -- python3 report.py
  hpsqlite exec --check -- php";

#[derive(Args)]
pub struct ExecArgs {
    /// Only say whether the program can be reached
    #[arg(long)]
    check: bool,
    /// Tell also what runs on our library, and how many queries were taken over
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,
    /// Tell nothing, and become the program
    #[arg(short, long)]
    quiet: bool,
    /// The library to run on [default: High Performance SQLite]
    #[arg(long, value_name = "PATH")]
    lib: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

/// Runs the program, or says whether it can be reached; returns its exit status.
pub fn run(args: &ExecArgs) -> Result<u8> {
    let library = match &args.lib {
        Some(path) => path
            .canonicalize()
            .with_context(|| format!("no such library: {}", path.display()))?,
        None => libs::ours()?,
    };
    let options = ExecOptions {
        library: &library,
        ours: args.lib.is_none(),
        check: args.check,
        verbose: args.verbose,
        quiet: args.quiet,
    };
    super::exec(&options, &args.command)
}
