//! `hpsqlite system`: the switch of the Debian package, which is a script of its own so that it works
//! where this program does not.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;

const SCRIPT: &str = "/usr/sbin/hpsqlite-system";

/// What stands below the help.
pub const HELP: &str = "\
Works where the Debian package is installed, by its command hpsqlite-system, whose page (man \
hpsqlite-system) says more. `on` and `off` need root.";

#[derive(Clone, Copy, ValueEnum)]
pub enum SwitchCommand {
    /// Programs that link libsqlite3.so.0 use High Performance SQLite from their next start
    On,
    /// They use the system's SQLite again
    Off,
    /// Which library the dynamic linker gives, and which processes still use another one
    Status,
}

/// Becomes the script, whose exit status is the command's.
pub fn run(command: SwitchCommand) -> Result<u8> {
    if !Path::new(SCRIPT).exists() {
        bail!(
            "{SCRIPT} is missing: it comes with the Debian package, which `make deb` builds; \
             `hpsqlite exec` runs a single program on the library"
        );
    }
    let word = match command {
        SwitchCommand::On => "on",
        SwitchCommand::Off => "off",
        SwitchCommand::Status => "status",
    };
    Err(anyhow!(Command::new(SCRIPT).arg(word).exec()).context(format!("cannot run {SCRIPT}")))
}
