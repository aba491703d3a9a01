//! Where the two libraries are: beside the executable, as `make` and `make install` put them.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

/// Our library, relative to the folder of the executable.
const OURS: &str = "../lib/libsqlite3.so.0";
/// The unpatched library of the same SQLite version and compile options.
const STOCK: &str = "../libexec/hpsqlite/libsqlite3-stock.so";
/// Named in LD_AUDIT.
const AUDITOR: &str = "../libexec/hpsqlite/hpsqlite-loaded.so";

/// The path of our library.
pub fn ours() -> Result<PathBuf> {
    beside_executable(OURS)
}

/// The path of the stock library.
pub fn stock() -> Result<PathBuf> {
    beside_executable(STOCK)
}

/// The library that tells which files a program loads, for `hpsqlite exec`.
pub fn auditor() -> Result<PathBuf> {
    beside_executable(AUDITOR)
}

fn beside_executable(relative: &str) -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let folder = exe.parent().unwrap_or(Path::new("/"));
    let path = folder.join(relative);
    path.canonicalize().map_err(|_| {
        anyhow!(
            "no library at {} (build it with `make`, or name one)",
            path.display()
        )
    })
}

/// A library of `dist`, or of the folder named by HPSQLITE_TEST_LIBS.
#[doc(hidden)]
pub fn for_tests(relative: &str) -> crate::sys::Library {
    let folder = match std::env::var_os("HPSQLITE_TEST_LIBS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist"),
    };
    crate::sys::Library::load(&folder.join(relative))
        .expect("the libraries; run `make`, or set HPSQLITE_TEST_LIBS")
}

/// Where data sets and the like are kept: `$XDG_CACHE_HOME/hpsqlite`, by default below `~/.cache`.
pub fn cache_folder() -> Result<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("hpsqlite"))
        .ok_or_else(|| anyhow!("neither XDG_CACHE_HOME nor HOME is set"))
}
