//! `hpsqlite cluster`: a program of its own, so that this one does not carry Raft and its three hundred
//! crates.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// The program's name.
const PROGRAM: &str = "hpsqlite-cluster";

/// What stands below the help.
pub const HELP: &str = "\
`make cluster` builds it. `hpsqlite cluster --help` lists its commands: start, sql, status, add, \
stop, backup, prove. docs/cluster.md is the how-to.";

/// The program, which lies beside this one.
pub fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()
        .context("cannot find this program")?
        .with_file_name(PROGRAM);
    if !program.exists() {
        bail!(
            "{} is missing: `make cluster` builds it, in some minutes",
            program.display()
        );
    }
    Ok(program)
}

/// Becomes the program, whose exit status is the command's.
pub fn run(arguments: &[OsString]) -> Result<u8> {
    let program = program()?;
    let error = Command::new(&program).args(arguments).exec();
    Err(anyhow!(error).context(format!("cannot run {}", program.display())))
}
