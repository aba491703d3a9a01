//! Opening a file that may be in use, may be no database, and may be no file at all.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens a file for reading, which must be an ordinary one: a pipe would be waited for, and a device
/// has no size.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        let what = "it is no ordinary file, but a pipe, a device or the like";
        return Err(io::Error::other(what));
    }
    Ok(file)
}

/// The path of a file beside the database.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
