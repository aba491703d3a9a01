//! The option that says on which SQLite a command works.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::libs;

#[derive(Args)]
pub struct LibraryOption {
    /// SQLite library: a path, or `ours`, or `stock` [default: ours]
    #[arg(long, value_name = "PATH")]
    lib: Option<PathBuf>,
}

impl LibraryOption {
    pub fn path(&self) -> Result<PathBuf> {
        match &self.lib {
            None => libs::ours(),
            Some(path) => match path.to_str() {
                Some("ours") => libs::ours(),
                Some("stock") => libs::stock(),
                _ => Ok(path.clone()),
            },
        }
    }
}
