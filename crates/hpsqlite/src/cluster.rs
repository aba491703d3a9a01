//! `hpsqlite cluster`: a program of its own, so that this one does not carry Raft and its three hundred
//! crates.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;

use crate::beside;

/// The program's name.
const PROGRAM: &str = "hpsqlite-cluster";

/// What stands below the help.
pub const HELP: &str = "\
`make cluster` builds it. `hpsqlite cluster --help` lists its commands: start, sql, status, add, \
stop, backup, prove. docs/cluster.md is the how-to.";

/// The program, which lies beside this one.
pub fn program() -> Result<PathBuf> {
    beside::program(PROGRAM, "`make cluster` builds it, in some minutes")
}

/// Becomes the program, whose exit status is the command's.
pub fn run(arguments: &[OsString]) -> Result<u8> {
    beside::become_program(&program()?, arguments)
}
