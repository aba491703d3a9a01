//! Data sets of the lab: made once, kept in the cache folder, and found again by their name.
//!
//! ```text
//! <cache>/bench/data/   data sets, a file or a folder each; .making-* while one is being made
//! <cache>/bench/work/   job-* folders, one for each measuring process, gone when it has ended
//! <cache>/bench/lock    held shared by runs, and alone by `bench clean`
//! ```
//!
//! A [`Name`] holds all that determines the bytes of a data set: its generator with the
//! generator's version, its parameters, and the library where it writes the file. A kind of job
//! that needs data calls [`Cache::get`] with a name and a closure, which gets a path where there is
//! nothing yet and makes a file or a folder there. It is made in a temporary folder and moved to
//! its place when it is whole, so that an interrupted run leaves nothing that looks complete.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::model::{Values, filled};
use crate::data::{DataTarget, Set, h2o, hits, mail, mysqlite, ssb, tatp, tpch};
use crate::sys::{Library, OPEN_CREATE, OPEN_READWRITE};
use crate::{interrupt, libs, text};

/// How the temporary folder begins in which a data set is made.
const MAKING: &str = ".making-";
/// Longer names are cut; what tells them apart is the hash at their end.
const NAME_LENGTH: usize = 80;

/// The lab's folders, in use by a run as long as this lives.
pub struct Home {
    /// Data sets, which stay for the next run.
    pub data: PathBuf,
    /// Stores of engines, which go when their job has ended.
    pub work: PathBuf,
    _lock: File,
}

impl Home {
    /// Makes the folders, if need be, and keeps them from `bench clean`.
    pub fn open() -> Result<Home> {
        let root = root()?;
        let (data, work) = (root.join("data"), root.join("work"));
        for folder in [&data, &work] {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let lock = lock_file(&root)?;
        if lock.try_lock().is_ok() {
            // No run is under way. What cannot be removed is no obstacle; `bench clean` says why.
            for (path, of_run) in entries(&root)? {
                let _ = of_run.then(|| remove(&path));
            }
        }
        lock.lock_shared()
            .with_context(|| format!("cannot lock {}", root.display()))?;
        Ok(Home {
            data,
            work,
            _lock: lock,
        })
    }
}

fn root() -> Result<PathBuf> {
    Ok(libs::cache_folder()?.join("bench"))
}

fn lock_file(root: &Path) -> Result<File> {
    let path = root.join("lock");
    File::options()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))
}

/// What tells a data set from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// A generator and its version, which is raised whenever it makes other bytes.
    pub fn new(generator: &str, version: u32) -> Name {
        Name(format!("{generator}-v{version}"))
    }

    /// With a parameter that the bytes depend on.
    pub fn with(mut self, parameter: &str, value: impl std::fmt::Display) -> Name {
        self.0.push_str(&format!(" {parameter}={value}"));
        self
    }

    /// With the library that writes the file: another build may write other bytes.
    pub fn by(self, library: &Path) -> Result<Name> {
        let bytes =
            std::fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
        let hash = text::fingerprint(&bytes);
        let file = library.file_name().unwrap_or_default().to_string_lossy();
        Ok(self.with("by", format!("{file}-{hash}")))
    }

    /// A generator of the tool with its parameters.
    fn of(set: &Set) -> Name {
        match *set {
            Set::Tpch { sf } => Name::new("tpch", tpch::VERSION).with("sf", sf),
            Set::H2o { rows, groups } => Name::new("h2o", h2o::VERSION)
                .with("rows", rows)
                .with("groups", groups),
            Set::Ssb { sf } => Name::new("ssb", ssb::VERSION).with("sf", sf),
            Set::Mail { messages } => Name::new("mail", mail::VERSION).with("messages", messages),
            Set::Mysqlite { rows, keys } => Name::new("mysqlite", mysqlite::VERSION)
                .with("rows", rows)
                .with("keys", keys),
            Set::Hits { rows } => Name::new("hits", hits::VERSION).with("rows", rows),
            Set::Tatp { subscribers } => {
                Name::new("tatp", tatp::VERSION).with("subscribers", subscribers)
            }
        }
    }

    /// As a file name.
    fn file(&self) -> String {
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '=' => c,
            _ => '-',
        };
        let readable: String = self.0.chars().map(plain).take(NAME_LENGTH).collect();
        format!("{readable}-{}", text::fingerprint(self.0.as_bytes()))
    }
}

/// The folder of data sets.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub fn new(folder: &Path) -> Cache {
        Cache {
            folder: folder.to_owned(),
        }
    }

    /// Where the data sets are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the data set is. If it is not there, `make` makes it as a file or a folder at the path
    /// it is given.
    pub fn get(&self, name: &Name, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let path = self.folder.join(name.file());
        if path.exists() {
            return Ok(path);
        }
        let making = tempfile::Builder::new()
            .prefix(MAKING)
            .tempdir_in(&self.folder)
            .with_context(|| format!("cannot write in {}", self.folder.display()))?;
        let new = making.path().join("new");
        make(&new).with_context(|| format!("cannot make the data set {}", name.0))?;
        interrupt::check()?;
        match std::fs::rename(&new, &path) {
            // Another run was quicker: the same name has the same bytes.
            Err(_) if path.is_dir() => Ok(path),
            Err(e) => Err(e).with_context(|| format!("cannot write {}", path.display())),
            Ok(()) => Ok(path),
        }
    }

    /// The database of a generator, written by `library`; with ANALYZE run by it if that is wanted.
    pub fn database(&self, set: &Set, library: &Path, analyze: bool) -> Result<PathBuf> {
        let (plain, name) = self.generated(set, library)?;
        self.analyzed(plain, name, library, analyze)
    }

    /// The same with indexes, which a script of SQL makes on a copy.
    fn indexed(&self, set: &Set, script: &str, library: &Path, analyze: bool) -> Result<PathBuf> {
        let (plain, name) = self.generated(set, library)?;
        let name = name.with("indexes", text::fingerprint(script.as_bytes()));
        let made = self.changed(&plain, &name, library, script, "indexes")?;
        self.analyzed(made, name, library, analyze)
    }

    fn generated(&self, set: &Set, library: &Path) -> Result<(PathBuf, Name)> {
        let name = Name::of(set).by(library)?;
        let plain = self.get(&name, |path| {
            let target = DataTarget {
                file: path,
                force: false,
                library: Some(library),
            };
            set.write(&target).map(|_| ())
        })?;
        Ok((plain, name))
    }

    /// A database made by a script of SQL, with `library`.
    fn scripted(&self, script: &str, library: &Path, analyze: bool) -> Result<PathBuf> {
        let name = Name::new("setup", 1)
            .with("sql", text::fingerprint(script.as_bytes()))
            .by(library)?;
        let plain = self.get(&name, |path| {
            execute(library, path, &["BEGIN", script, "COMMIT"]).context("setup")
        })?;
        self.analyzed(plain, name, library, analyze)
    }

    /// A copy with statistics, or the database itself.
    fn analyzed(
        &self,
        plain: PathBuf,
        name: Name,
        library: &Path,
        analyze: bool,
    ) -> Result<PathBuf> {
        match analyze {
            true => self.changed(
                &plain,
                &name.with("analyze", "on"),
                library,
                "ANALYZE",
                "ANALYZE",
            ),
            false => Ok(plain),
        }
    }

    /// A copy of a database on which a script has run; `what` names that in errors.
    fn changed(
        &self,
        plain: &Path,
        name: &Name,
        library: &Path,
        script: &str,
        what: &'static str,
    ) -> Result<PathBuf> {
        self.get(name, |path| {
            std::fs::copy(plain, path)
                .with_context(|| format!("cannot copy {}", plain.display()))?;
            execute(library, path, &[script]).context(what)
        })
    }
}

/// Runs statements on a database that nobody needs half-written.
fn execute(library: &Path, path: &Path, statements: &[&str]) -> Result<()> {
    let library = Library::load(library)?;
    let db = library
        .open(path, OPEN_READWRITE | OPEN_CREATE)
        .map_err(|e| anyhow!("{e}"))?;
    db.stop_on_interrupt();
    for sql in ["PRAGMA synchronous=off"].iter().chain(statements) {
        if let Err(e) = db.exec(sql) {
            interrupt::check()?;
            bail!("{e}");
        }
    }
    Ok(())
}

/// The options that say which database it is, or how one is made.
pub const OPTIONS: [&str; 12] = [
    "analyze",
    "data",
    "database",
    "groups",
    "indexes",
    "keys",
    "made_by",
    "messages",
    "rows",
    "setup",
    "sf",
    "subscribers",
];

/// Paths as options.
pub fn places(all: &[(&str, &Path)]) -> Result<Values> {
    let mut more = Values::new();
    for (name, path) in all {
        let text = path
            .to_str()
            .with_context(|| format!("{} is not UTF-8", path.display()))?;
        more.insert((*name).to_owned(), text.to_owned());
    }
    Ok(more)
}

/// The database of statements: one that is there (`database`), made by a script (`setup`), or of a
/// generator (`data`), with indexes that a script makes (`indexes`) or without.
pub fn database(options: &Values, folder: &Path, cache: &Cache) -> Result<PathBuf> {
    let get = |name: &str| options.get(name).map(String::as_str);
    let made_by = match get("made_by") {
        None | Some("stock") => libs::stock()?,
        Some("ours") => libs::ours()?,
        Some(other) => bail!("made_by={other}: a database is made by stock or ours"),
    };
    let analyze = match get("analyze") {
        None | Some("off") => false,
        Some("on") => true,
        Some(other) => bail!("analyze={other}: it is on or off"),
    };
    if get("indexes").is_some() && get("data").is_none() {
        bail!("indexes: they are made on a copy of a data set; [options] needs data");
    }
    match (get("database"), get("setup"), get("data")) {
        (Some(_), None, None) if analyze => {
            bail!("analyze=on: a database of your own is not changed; run ANALYZE on a copy of it")
        }
        (Some(path), None, None) => Ok(folder.join(path)),
        (None, Some(setup), None) => cache.scripted(&filled(setup, options), &made_by, analyze),
        (None, None, Some(data)) => {
            let set = Set::of(data, &get)?;
            match get("indexes") {
                Some(script) => cache.indexed(&set, &filled(script, options), &made_by, analyze),
                None => cache.database(&set, &made_by, analyze),
            }
        }
        _ => bail!("[options] needs one of database, setup and data"),
    }
}

/// Something of the lab's in the cache folder.
#[derive(Debug)]
pub struct Kept {
    pub path: PathBuf,
    pub bytes: u64,
    pub whose: Whose,
}

/// Who needs something in the cache folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// It is a data set.
    Everybody,
    /// A run that is under way.
    Run,
    /// The run that made it was killed.
    Nobody,
}

/// What is in the cache folder, largest first.
pub fn kept() -> Result<Vec<Kept>> {
    let root = root()?;
    if !root.exists() {
        return Ok(Vec::new());
    }
    let lock = lock_file(&root)?;
    let of_runs = match lock.try_lock() {
        Ok(()) => Whose::Nobody,
        Err(_) => Whose::Run,
    };
    kept_in(&root, of_runs)
}

fn kept_in(root: &Path, of_runs: Whose) -> Result<Vec<Kept>> {
    let kept = |(path, of_run): (PathBuf, bool)| Kept {
        bytes: size(&path),
        whose: if of_run { of_runs } else { Whose::Everybody },
        path,
    };
    let mut all: Vec<Kept> = entries(root)?.into_iter().map(kept).collect();
    all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    Ok(all)
}

/// What is in the cache folder, and whether it is of one run only.
fn entries(root: &Path) -> Result<Vec<(PathBuf, bool)>> {
    let mut all = Vec::new();
    for (folder, of_jobs) in [("data", false), ("work", true)] {
        let entries = match std::fs::read_dir(root.join(folder)) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            entries => entries.with_context(|| format!("cannot read {}", root.display()))?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let of_run = of_jobs || name.starts_with(MAKING);
            all.push((path, of_run));
        }
    }
    Ok(all)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match path.is_dir() && !path.is_symlink() {
        true => std::fs::remove_dir_all(path),
        false => std::fs::remove_file(path),
    }
}

/// Removes what the lab has in the cache folder, unless a run uses it; gives what is gone.
pub fn clean() -> Result<Vec<Kept>> {
    let root = root()?;
    if !root.exists() {
        return Ok(Vec::new());
    }
    let lock = lock_file(&root)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!(
            "a run of the lab is using {}: clean it when that has ended",
            root.display()
        ),
        Err(TryLockError::Error(e)) => {
            return Err(e).with_context(|| format!("cannot lock {}", root.display()));
        }
    }
    let all = kept_in(&root, Whose::Nobody)?;
    for one in &all {
        interrupt::check()?;
        remove(&one.path).with_context(|| format!("cannot remove {}", one.path.display()))?;
    }
    Ok(all)
}

/// Bytes on the disk of a file or of all files of a folder.
fn size(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    const BLOCK: u64 = 512;
    let Ok(metadata) = path.symlink_metadata() else {
        return 0;
    };
    let below = match metadata.is_dir() {
        true => std::fs::read_dir(path).into_iter().flatten().flatten(),
        false => return metadata.blocks() * BLOCK,
    };
    metadata.blocks() * BLOCK + below.map(|e| size(&e.path())).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_all_that_determines_the_bytes() {
        let name = |n: u64| Name::new("blobs", 1).with("size", n);
        assert_eq!(name(5), name(5));
        assert_ne!(name(5).file(), name(6).file());
        assert_ne!(name(5).file(), Name::new("blobs", 2).with("size", 5).file());
        assert!(name(5).file().starts_with("blobs-v1-size=5-"));
        // Not told apart by what can be read of them.
        let odd = |s| Name::new("t", 1).with("s", s).file();
        assert_ne!(odd("a/b"), odd("a b"));
        assert!(!odd("../x").contains('/'));
    }

    #[test]
    fn a_data_set_is_made_once_and_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let name = Name::new("t", 1);
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();

        let failed = cache.get(&name, |path| {
            std::fs::create_dir(path)?;
            std::fs::write(path.join("half"), "x")?;
            bail!("the disk is full")
        });
        assert!(format!("{:#}", failed.unwrap_err()).contains("t-v1: the disk is full"));
        assert_eq!(entries(), 0);

        let made = cache.get(&name, |path| {
            std::fs::create_dir(path)?;
            Ok(std::fs::write(path.join("whole"), "x")?)
        });
        let made = made.unwrap();
        assert!(made.join("whole").exists());
        let again = cache.get(&name, |_| bail!("it is there"));
        assert_eq!(again.unwrap(), made);
        assert_eq!(entries(), 1);
    }

    #[test]
    fn another_run_may_have_made_it_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let name = Name::new("t", 1);
        let make = |path: &Path| {
            std::fs::create_dir(path)?;
            Ok(std::fs::write(path.join("whole"), "x")?)
        };
        let path = cache.get(&name, |path| {
            cache.get(&name, make)?;
            make(path)
        });
        assert!(path.unwrap().join("whole").exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
