//! Opening the file that is copied: read-only, and so that nothing is beside it afterwards that was
//! not there before.
//!
//! SQLite makes a `-shm` file, and a `-wal`, beside a database in WAL mode, even one that it opens
//! for reading, and cannot open it where it may not. So:
//!
//! | journal mode | beside the file | opened |
//! |---|---|---|
//! | rollback | | as usual, with a lock that keeps writers out |
//! | WAL | no log (perhaps a `-shm` that was left), or an empty one only | as immutable; that nobody wrote is looked at afterwards |
//! | WAL | a log and `-shm`: it is in use | as usual; writers go on |
//! | WAL | a log only | its committed content, page by page, is put into a file of our own |

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::sys::{Db, Library, OPEN_READONLY};
use crate::viz::file::Image;
use crate::viz::open::beside;

/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;
/// Bytes that are read at once.
const RUN: usize = 1 << 20;
/// Where the committed content goes if there is a log that nobody has open.
const FLAT: &str = "source.db";

/// The file, open.
pub struct Source<'l> {
    pub db: Db<'l>,
    /// Bytes of the database.
    pub bytes: u64,
    /// Bytes of each page that are left to extensions.
    pub reserved: u8,
    /// State of a file that was opened as immutable.
    before: Option<State>,
}

/// What changes when somebody writes.
type State = (u64, Option<SystemTime>, bool);

fn state(path: &Path) -> Option<State> {
    let meta = fs::metadata(path).ok()?;
    let log = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    Some((meta.len(), meta.modified().ok(), log))
}

impl<'l> Source<'l> {
    /// Opens `path`; another file is made in the folder that we are in if it must be.
    pub fn open(library: &'l Library, path: &Path) -> Result<Source<'l>> {
        let before = state(path);
        // Closed again before SQLite opens the file: closing it later would end SQLite's locks.
        let image = Image::open(path)?;
        let header = image.header.clone();
        let bytes = u64::from(image.pages) * u64::from(header.page_size);
        let flat = is_flattened(&image);
        let immutable = header.read_version == 2 && image.wal.is_none() && !in_use(path);
        if flat {
            flatten(&image, Path::new(FLAT)).context("cannot put its log into a file")?;
        }
        drop(image);
        let db = if flat {
            library.open(Path::new(FLAT), OPEN_READONLY)?
        } else if immutable {
            library.open_immutable(path)?
        } else {
            library.open(path, OPEN_READONLY)?
        };
        db.busy_timeout(BUSY_MS);
        Ok(Source {
            db,
            bytes,
            reserved: header.reserved as u8,
            before: before.filter(|_| immutable),
        })
    }

    /// An error if somebody wrote to a file that was taken for one that nobody writes.
    pub fn is_unchanged(&self, path: &Path) -> Result<()> {
        if self.before.is_some() && state(path) != self.before {
            bail!("another program began to write to it meanwhile; try again");
        }
        Ok(())
    }
}

/// Whether programs have a database in WAL mode open.
fn in_use(path: &Path) -> bool {
    beside(path, "-shm").exists() && beside(path, "-wal").exists()
}

/// Whether the committed content is put into a file of our own, to be copied from there.
pub fn is_flattened(image: &Image) -> bool {
    image.header.read_version == 2 && image.wal.is_some() && !in_use(&image.path)
}

/// Removes what was made beside the copy.
pub fn tidy() {
    let _ = fs::remove_file(FLAT);
}

/// Writes the database as it was last committed to a file in rollback mode.
fn flatten(image: &Image, to: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(RUN, File::create_new(to)?);
    let size = image.header.page_size as usize;
    let mut run = vec![0; RUN.max(size)];
    let mut next = 1;
    while next <= image.pages {
        let count = ((image.pages + 1 - next) as usize).min(run.len() / size);
        let pages = &mut run[..count * size];
        image.read_run(next, pages)?;
        if next == 1 {
            // Written and read by way of a rollback journal.
            pages[18..20].fill(1);
        }
        out.write_all(pages)?;
        next += count as u32;
    }
    out.flush()?;
    Ok(())
}
