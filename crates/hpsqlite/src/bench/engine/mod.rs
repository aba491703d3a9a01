//! The key-value engines of the shoot-out: one trait, one file an engine.
//!
//! | `engine` of a job | file | words that may follow, joined by `-`, the usual one first |
//! |---|---|---|
//! | anything, where the job names a library | `sqlite` | `rowid` `clustered`; `tuned` |
//! | `lmdb` | `lmdb` | |
//! | `berkeleydb` | `berkeley` | `btree` `hash`; `plain` `transactional` |
//! | `qdbm` | `qdbm` | `depot` `villa` |
//! | `rocksdb` | `rocksdb` | |
//! | `redb` | `redb` | |
//! | `memcached` | `memcached` | `unix` `tcp` |
//! | `redis` | `redis` | `unix` `tcp` |
//! | `mariadb` | `mariadb` | `innodb` `aria` `myisam` `memory`; `btree`, or for `memory` `hash`; `partitioned`; `pertable` `shared`; `unix` `tcp` |
//!
//! Words can be given as options too: `table=clustered`. What is shared libraries is loaded at
//! run time; servers are started in the job's folder. Nothing is measured here: an engine is
//! told what to do by a job of keys and values.

mod berkeley;
mod lmdb;
mod mariadb;
mod memcached;
mod qdbm;
mod redb;
mod redis;
mod rocksdb;
pub mod server;
pub mod sqlite;

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::model::{Effective, Job, Values};
use server::EngineServer;

/// Pairs of a key and a value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// What is done in a session.
pub type InSession<'w> = &'w mut dyn FnMut(&mut dyn Session) -> Result<()>;

/// An open store of pairs, used by several threads, each in a session of its own.
pub trait KeyValue: Sync {
    /// Version, settings read back, and durability.
    fn effective(&self) -> Result<Effective>;

    /// Opens a session (a connection, a reader) for the calling thread, and closes it after `work`.
    fn session(&self, work: InSession<'_>) -> Result<()>;

    /// Brings what was written to where it stays, so that space can be told and files be forgotten
    /// by the system. There is nothing to do for what a server has in its memory.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// The server, if it is one: its time and memory count.
    fn server(&self) -> Option<&EngineServer> {
        None
    }

    /// Disk space of the pairs, in bytes, in the folder of the plan.
    fn space(&self, folder: &Path) -> Result<u64> {
        space(folder)
    }

    /// Whether what was written is still there when the store is closed and opened again, as it
    /// has to be for a cold read. What a server reads from its files again is in memory before the
    /// first command.
    fn survives_closing(&self) -> bool {
        self.server().is_none()
    }
}

/// What one thread does with a store.
pub trait Session {
    /// Writes a pair, in a transaction of its own where there are transactions.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Writes pairs, all in one transaction where there are transactions.
    fn put_all(&mut self, pairs: &[Pair]) -> Result<()>;

    /// Gives the value of the key to `found`; false where there is none.
    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Goes through the pairs in the order of their keys, from the first that is not before
    /// `from`, until `each` returns false. False if the engine has no order: then it is asked for
    /// one key after the other.
    fn scan(&mut self, _from: &[u8], _each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        Ok(false)
    }
}

/// The error of an engine that is not there, or cannot do what was asked: why, and what helps.
#[derive(Debug)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unavailable {}

/// Something that is not installed, and the Debian packages that have it.
fn not_installed(what: &str, packages: &str) -> anyhow::Error {
    anyhow!(Unavailable(format!(
        "{what} is not installed: apt-get install --no-install-recommends {packages}"
    )))
}

/// What a store is to be like.
pub struct StorePlan<'j> {
    pub job: &'j Job,
    /// An empty folder, or the one that a store of the same plan left.
    pub folder: PathBuf,
    /// Most pairs there will be, and sizes in bytes.
    pub count: u64,
    pub key_size: usize,
    pub value_size: usize,
    /// Most sessions at the same time.
    pub sessions: usize,
}

impl StorePlan<'_> {
    fn option(&self, name: &str) -> Option<&str> {
        self.job.options.get(name).map(String::as_str)
    }

    /// The first part of the engine's name.
    fn base(&self) -> &str {
        self.job.engine.split('-').next().unwrap_or_default()
    }

    fn has_word(&self, word: &str) -> bool {
        self.job.engine.split('-').skip(1).any(|w| w == word)
    }

    /// Which of `words` was chosen by the option `name` or stands in the engine's name; else the first.
    fn choice<'w>(&self, name: &str, words: &[&'w str]) -> Result<&'w str> {
        if let Some(asked) = self.option(name) {
            return words.iter().find(|w| **w == asked).copied().ok_or_else(|| {
                anyhow!(Unavailable(format!(
                    "{} has no {name}={asked}; it has {}",
                    self.base(),
                    words.join(", ")
                )))
            });
        }
        Ok(words.iter().find(|w| self.has_word(w)).unwrap_or(&words[0]))
    }

    /// An option that is a number.
    fn number(&self, name: &str) -> Result<Option<u64>> {
        self.option(name)
            .map(|text| {
                text.parse()
                    .with_context(|| format!("{name}={text}: it is a whole number"))
            })
            .transpose()
    }

    /// `sync`: whether a write is on the device when it returns; `None` is the engine's own way.
    fn sync(&self) -> Result<Option<bool>> {
        match self.option("sync") {
            None | Some("default") => Ok(None),
            Some("on") => Ok(Some(true)),
            Some("off") => Ok(Some(false)),
            Some(other) => bail!("sync={other}: it is on, off, or default"),
        }
    }

    /// Bytes of all keys and values together.
    fn bytes(&self) -> u64 {
        self.count * (self.key_size + self.value_size) as u64
    }
}

/// Opens the store that the plan's job asks for.
pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    if plan.job.library.is_some() {
        return sqlite::open(plan);
    }
    let own = words(plan.base());
    let strange = |word: &&str| is_known(plan.base()) && !own.contains(word);
    if let Some(word) = plan.job.engine.split('-').skip(1).find(strange) {
        bail!(Unavailable(format!("{} knows no {word}", plan.base())));
    }
    match plan.base() {
        "berkeleydb" => berkeley::open(plan),
        "lmdb" => lmdb::open(plan),
        "mariadb" => mariadb::open(plan),
        "memcached" => memcached::open(plan),
        "qdbm" => qdbm::open(plan),
        "redb" => redb::open(plan),
        "redis" => redis::open(plan),
        "rocksdb" => rocksdb::open(plan),
        other => Err(anyhow!(Unavailable(format!(
            "no such engine: {other} (a SQLite needs a library)"
        )))),
    }
}

/// Words that may follow the name of an engine.
pub fn words(name: &str) -> &'static [&'static str] {
    let found = WORDS.iter().find(|(base, _)| *base == name);
    found.map_or(&[], |(_, words)| words)
}

/// Whether this is the name of an engine that is no SQLite, with words that it knows.
pub fn is_known(name: &str) -> bool {
    let mut parts = name.split('-');
    let base = parts.next().unwrap_or_default();
    WORDS.iter().any(|(known, _)| *known == base) && parts.all(|word| words(base).contains(&word))
}

/// Words that may follow an engine's name.
const WORDS: [(&str, &[&str]); 8] = [
    ("berkeleydb", &["btree", "hash", "plain", "transactional"]),
    ("lmdb", &[]),
    (
        "mariadb",
        &[
            "innodb",
            "aria",
            "myisam",
            "memory",
            "btree",
            "hash",
            "partitioned",
            "pertable",
            "shared",
            "unix",
            "tcp",
        ],
    ),
    ("memcached", &["unix", "tcp"]),
    ("qdbm", &["depot", "villa"]),
    ("redb", &[]),
    ("redis", &["unix", "tcp"]),
    ("rocksdb", &[]),
];

/// Disk space of everything in a folder, in bytes.
pub fn space(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for file in files(folder)? {
        // A server may have removed it meanwhile.
        if let Ok(data) = file.symlink_metadata() {
            sum += data.blocks() * 512;
        }
    }
    Ok(sum)
}

/// All plain files below a folder.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", folder.display())),
        };
        for entry in entries {
            let entry = entry?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Loads a shared library by the names it may have.
fn load(names: &[&str], what: &str, packages: &str) -> Result<libloading::Library> {
    for name in names {
        // SAFETY: loading runs the library's initialisers; these are the system's own libraries.
        if let Ok(library) = unsafe { libloading::Library::new(*name) } {
            return Ok(library);
        }
    }
    Err(not_installed(what, packages))
}

/// Declares the functions of a shared library and how they are looked up.
macro_rules! api {
    ($prefix:literal { $($name:ident($($arg:ty),*) $(-> $ret:ty)?;)* }) => {
        struct Api {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            // Never unloaded while the functions can still be called.
            _library: libloading::Library,
        }

        impl Api {
            /// # Safety
            /// The library must be the one whose functions are declared here.
            unsafe fn resolve(library: libloading::Library) -> anyhow::Result<Api> {
                // SAFETY: the caller vouches for the library; names and types are its interface.
                unsafe {
                    Ok(Api {
                        $($name: *library.get(concat!($prefix, stringify!($name), "\0")).map_err(|_| {
                            anyhow::anyhow!(super::Unavailable(concat!(
                                "the installed library has no function ", $prefix, stringify!($name)
                            ).to_owned()))
                        })?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}
use api;

fn values<const N: usize>(pairs: [(&str, String); N]) -> Values {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// A path for a function of C.
fn c_path(path: &Path) -> Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::CString::new(path.as_os_str().as_bytes())?)
}
