//! What values are kept in: a database, a folder of files, or a tree of folders.
//!
//! | | key 1 | key 123456 |
//! |---|---|---|
//! | flat folder | `DIR/000001` | `DIR/123456` |
//! | tree | `DIR/00/00/01` | `DIR/12/34/56` |

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::interrupt;
use crate::sys::{Db, Library, OPEN_READWRITE};

/// The table of a database.
pub const TABLE: &str = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)";
/// What `PRAGMA application_id` says of a database whose values can be checked: `kvHP`.
pub const APPLICATION: i64 = 0x6b76_4850;
/// The file that says the same in a folder.
pub const MARK: &str = ".hpsqlite-kvtest";
pub const MARK_TEXT: &str = "Values written by hpsqlite kvtest; each can be checked by itself.\n";

const MAGIC: &[u8] = b"SQLite format 3\0";
/// SQLite's files beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// How files are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Flat,
    Tree,
}

impl Layout {
    /// Appends the name of the file of `key` to `folder`, which ends with a slash.
    pub fn name(self, key: i64, folder: &mut String) {
        use std::fmt::Write;
        match self {
            Layout::Flat => write!(folder, "{key:06}"),
            Layout::Tree => write!(
                folder,
                "{:02}/{:02}/{:02}",
                key / 10_000,
                key / 100 % 100,
                key % 100
            ),
        }
        .expect("writing to a String succeeds");
    }

    /// The path of the file of `key`.
    pub fn path(self, folder: &Path, key: i64) -> PathBuf {
        let mut name = String::new();
        self.name(key, &mut name);
        folder.join(name)
    }
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    Database,
    Files(Layout),
}

impl PathKind {
    /// Looks at `path`.
    pub fn of(path: &Path) -> Result<PathKind> {
        let meta =
            std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        if meta.is_dir() {
            let tree = path.join("00").is_dir();
            return Ok(PathKind::Files(if tree {
                Layout::Tree
            } else {
                Layout::Flat
            }));
        }
        if !meta.is_file() {
            bail!("{} is neither a file nor a folder", path.display());
        }
        let mut start = Vec::new();
        File::open(path)
            .and_then(|f| f.take(MAGIC.len() as u64).read_to_end(&mut start))
            .with_context(|| format!("cannot read {}", path.display()))?;
        if start != MAGIC {
            bail!("{} is no SQLite database", path.display());
        }
        Ok(PathKind::Database)
    }
}

/// Opens a database that has the table `kv`. For writing, where its rights allow that: a reader
/// could leave files of the write-ahead log behind.
pub fn open<'l>(library: &'l Library, path: &Path) -> Result<Db<'l>> {
    if PathKind::of(path)? != PathKind::Database {
        bail!("{} is a folder, not a database", path.display());
    }
    let context = || format!("cannot read {}", path.display());
    let db = library.open(path, OPEN_READWRITE).with_context(context)?;
    db.busy_timeout(BUSY_MS);
    let columns: Vec<String> = db
        .column("SELECT name FROM pragma_table_info('kv')")
        .with_context(context)?;
    if !["k", "v"]
        .iter()
        .all(|c| columns.iter().any(|n| n.eq_ignore_ascii_case(c)))
    {
        bail!(
            "{} has no table kv(k, v); `hpsqlite kvtest init` makes a database that has",
            path.display()
        );
    }
    Ok(db)
}

/// How long a connection waits for the locks of other programs, in milliseconds.
pub const BUSY_MS: i32 = 5_000;
/// How long one of several threads waits for the others: longer than any transaction of a test
/// takes.
pub const BUSY_THREADS_MS: i32 = 600_000;

/// The first value of a query, as text; empty where there is no row.
pub fn value(db: &Db<'_>, sql: &str) -> Result<String> {
    Ok(db.first(sql)?.unwrap_or_default())
}

/// The same as a number; 0 where it is none.
pub fn number(db: &Db<'_>, sql: &str) -> Result<i64> {
    Ok(value(db, sql)?.parse().unwrap_or(0))
}

/// The files of a database that are there.
pub fn database_files(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_owned())
        .chain(beside(path))
        .filter(|p| p.exists())
        .collect()
}

/// Where SQLite keeps its files beside a database.
pub fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    BESIDE.into_iter().map(move |suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// Files of a folder by their keys, sorted, and the disk space of all that is in it.
pub struct Listing {
    pub keys: Vec<i64>,
    pub space: u64,
}

/// Lists a folder.
pub fn list(folder: &Path, layout: Layout) -> Result<Listing> {
    let mut listing = Listing {
        keys: Vec::new(),
        space: space(folder),
    };
    let depth = match layout {
        Layout::Flat => 0,
        Layout::Tree => 2,
    };
    listing.add(folder, depth, 0)?;
    listing.keys.sort_unstable();
    Ok(listing)
}

impl Listing {
    fn add(&mut self, folder: &Path, depth: u32, above: i64) -> Result<()> {
        let context = || format!("cannot read {}", folder.display());
        for entry in std::fs::read_dir(folder).with_context(context)? {
            interrupt::check()?;
            let entry = entry.with_context(context)?;
            let path = entry.path();
            let kind = entry.file_type().with_context(context)?;
            let Some(number) = digits(&entry.file_name()) else {
                continue;
            };
            if depth > 0 && kind.is_dir() {
                self.space += space(&path);
                self.add(&path, depth - 1, above * 100 + number)?;
            } else if depth == 0 && kind.is_file() {
                self.space += space(&path);
                let two = if above > 0 { above * 100 } else { 0 };
                self.keys.push(two + number);
            }
        }
        Ok(())
    }
}

/// How many values there are, and the bytes of all.
pub struct Total {
    pub values: u64,
    pub bytes: u64,
}

/// Counts the values of a database, for which a library is needed, or of a folder.
pub fn total(target: &Path, library: Option<&Path>) -> Result<Total> {
    match PathKind::of(target)? {
        PathKind::Database => {
            let library = Library::load(library.context("a database needs a library")?)?;
            let db = open(&library, target)?;
            db.stop_on_interrupt();
            let number = |sql: &str| {
                number(&db, sql).with_context(|| format!("cannot read {}", target.display()))
            };
            Ok(Total {
                values: number("SELECT count(*) FROM kv")? as u64,
                bytes: number("SELECT sum(length(CAST(v AS BLOB))) FROM kv")? as u64,
            })
        }
        PathKind::Files(layout) => {
            let keys = list(target, layout)?.keys;
            let mut bytes = 0;
            for &key in &keys {
                let path = layout.path(target, key);
                bytes += std::fs::metadata(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?
                    .len();
            }
            Ok(Total {
                values: keys.len() as u64,
                bytes,
            })
        }
    }
}

/// The number that a name of at least two digits is.
fn digits(name: &OsStr) -> Option<i64> {
    let name = name.to_str()?;
    let all = name.len() >= 2 && name.len() <= 18 && name.bytes().all(|b| b.is_ascii_digit());
    all.then(|| name.parse().ok()).flatten()
}

/// Disk space of one file or folder, in bytes.
pub fn space(path: &Path) -> u64 {
    const BLOCK: u64 = 512;
    std::fs::symlink_metadata(path).map_or(0, |m| m.blocks() * BLOCK)
}

/// The folder that a path is in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let name = |layout: Layout, key| layout.path(Path::new("d"), key);
        assert_eq!(name(Layout::Flat, 1), Path::new("d/000001"));
        assert_eq!(name(Layout::Flat, 1_234_567), Path::new("d/1234567"));
        assert_eq!(name(Layout::Tree, 1), Path::new("d/00/00/01"));
        assert_eq!(name(Layout::Tree, 123_456), Path::new("d/12/34/56"));
        assert_eq!(name(Layout::Tree, 1_234_567), Path::new("d/123/45/67"));
    }
}
