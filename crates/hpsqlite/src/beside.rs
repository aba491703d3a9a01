//! Programs that lie beside this one and take its place.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// The program `name`; `made_by` says what to do where it is missing.
pub fn program(name: &str, made_by: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()
        .context("cannot find this program")?
        .with_file_name(name);
    if !program.exists() {
        bail!("{} is missing: {made_by}", program.display());
    }
    Ok(program)
}

/// Becomes the program, whose exit status is the command's.
pub fn become_program(program: &Path, arguments: &[OsString]) -> Result<u8> {
    let error = Command::new(program).args(arguments).exec();
    Err(anyhow!(error).context(format!("cannot run {}", program.display())))
}
