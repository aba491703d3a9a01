//! `init`, `export` and `stat`: making a database of values, the same values as files, and what a
//! database holds.
//!
//! Databases and folders are made under a temporary name beside their own and renamed when they
//! are whole, so that whatever stops the work leaves nothing half-made.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use super::place::{self, APPLICATION, Layout, MARK, MARK_TEXT, TABLE};
use super::value;
use crate::interrupt;
use crate::output::{WholeFile, set_ordinary_folder_mode};
use crate::sys::{Library, OPEN_CREATE, OPEN_READWRITE, Value};

/// The largest value that SQLite takes as it is compiled by default.
const LARGEST: u64 = 1_000_000_000;

/// The values of a database to be made.
pub struct Values {
    pub count: u64,
    pub size: u64,
    pub variance: u64,
    pub page_size: u64,
    pub seed: u64,
}

/// What was made.
pub struct Made {
    pub values: u64,
    /// Bytes of the values.
    pub bytes: u64,
    /// Disk space of file or folder, in bytes.
    pub space: u64,
    pub seconds: f64,
}

/// Makes the database `file` with the values 1 to `count`.
pub fn init(library: &Path, file: &Path, values: &Values, force: bool) -> Result<Made> {
    if values.size + values.variance > LARGEST {
        bail!("SQLite stores values of at most {LARGEST} bytes");
    }
    if file.is_dir() {
        bail!("{} is a folder", file.display());
    }
    if file.exists() && !force {
        bail!("{} is there already; --force replaces it", file.display());
    }
    if let Some(other) = place::beside(file).find(|f| f.exists()) {
        bail!(
            "{} is there: it belongs to a database in use or one that crashed, and would be taken for part of the new one",
            other.display()
        );
    }
    let library = Library::load(library)?;
    let output = WholeFile::begin(file)?;
    let start = Instant::now();
    let context = || format!("cannot write {}", file.display());
    let bytes = fill(&library, output.path(), values).with_context(context)?;
    output.file().sync_all().with_context(context)?;
    let space = place::space(output.path());
    interrupt::check()?;
    output.replace().with_context(context)?;
    Ok(Made {
        values: values.count,
        bytes,
        space,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Fills a new database; returns the bytes of all values.
fn fill(library: &Library, file: &Path, values: &Values) -> Result<u64> {
    let db = library.open(file, OPEN_READWRITE | OPEN_CREATE)?;
    db.exec(&format!("PRAGMA page_size={}", values.page_size))?;
    db.exec(&format!("PRAGMA application_id={APPLICATION}"))?;
    // Nobody needs the file before it is whole.
    db.exec("PRAGMA journal_mode=OFF")?;
    db.exec("PRAGMA synchronous=OFF")?;
    db.exec("BEGIN")?;
    db.exec(TABLE)?;
    let mut insert = db
        .prepare("INSERT INTO kv(k, v) VALUES(?1, ?2)")?
        .context("an INSERT is a statement")?;
    let bar = bar(values.count, "values");
    let (mut bytes, mut content) = (0, Vec::new());
    for key in 1..=values.count as i64 {
        interrupt::check()?;
        let size = value::size(key, values.size, values.variance, values.seed);
        content.resize(size as usize, 0);
        value::fill(&mut content, key, values.seed);
        insert.bind_int(1, key)?;
        // SAFETY: the content stays as it is until the row is inserted, and the next one binds anew.
        unsafe { insert.bind_blob_static(2, &content) }?;
        insert.step()?;
        insert.reset();
        bytes += size;
        bar.inc(1);
    }
    drop(insert);
    db.exec("COMMIT")?;
    Ok(bytes)
}

/// Writes the values of the database `file` to files in the new folder `to`.
pub fn export(library: &Path, file: &Path, to: &Path, layout: Layout) -> Result<Made> {
    let library = Library::load(library)?;
    let db = place::open(&library, file)?;
    match std::fs::read_dir(to).map(|mut entries| entries.next().is_some()) {
        Ok(true) => bail!("{} is not empty; name a new folder", to.display()),
        Ok(false) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) if to.exists() => bail!("{} is there and is no folder", to.display()),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", to.display())),
    }
    // A rename needs a name: not `.`, not `x/..`.
    let to = match to.canonicalize() {
        Ok(full) => full,
        Err(_) => to.to_owned(),
    };
    let folder = place::parent(&to);
    let temporary = tempfile::Builder::new()
        .prefix(".hpsqlite-kvtest-")
        .suffix(".tmp")
        .tempdir_in(folder)
        .with_context(|| format!("cannot write in {}", folder.display()))?;
    let start = Instant::now();
    let context = || format!("cannot write {}", to.display());
    db.stop_on_interrupt();
    let count = place::number(&db, "SELECT count(*) FROM kv")?;
    let bar = bar(count as u64, "files");
    let mut made = Made {
        values: 0,
        bytes: 0,
        space: 0,
        seconds: 0.0,
    };
    let (mut parents, mut last) = (Folders::default(), PathBuf::new());
    let mut select = db
        .prepare("SELECT k, v FROM kv ORDER BY k")?
        .context("a SELECT is a statement")?;
    while select
        .step()
        .with_context(|| format!("cannot read {}", file.display()))?
    {
        interrupt::check()?;
        let key = match select.value(0) {
            Value::Integer(key) if key >= 0 => key,
            _ => bail!("key {} is no name of a file", select.text(0)),
        };
        let content = match select.value(1) {
            Value::Blob(content) | Value::Text(content) => content,
            Value::Null => &[],
            _ => bail!("the value of key {key} is a number, neither blob nor text"),
        };
        let path = layout.path(temporary.path(), key);
        let parent = place::parent(&path);
        if last != parent {
            parents
                .make(temporary.path(), parent)
                .with_context(context)?;
            last = parent.to_owned();
        }
        std::fs::write(&path, content).with_context(context)?;
        made.values += 1;
        made.bytes += content.len() as u64;
        bar.inc(1);
    }
    if layout == Layout::Tree {
        // Also a tree without files is known as one.
        parents
            .make(temporary.path(), &temporary.path().join("00"))
            .with_context(context)?;
    }
    if place::number(&db, "PRAGMA application_id")? == APPLICATION {
        std::fs::write(temporary.path().join(MARK), MARK_TEXT).with_context(context)?;
    }
    sync(temporary.path()).with_context(context)?;
    set_ordinary_folder_mode(temporary.path()).with_context(context)?;
    made.space = place::list(temporary.path(), layout)?.space;
    interrupt::check()?;
    std::fs::rename(temporary.path(), &to).with_context(context)?;
    // Renamed, so there is nothing to remove.
    let _ = temporary.keep();
    made.seconds = start.elapsed().as_secs_f64();
    Ok(made)
}

/// Folders of a tree that were made.
#[derive(Default)]
struct Folders(std::collections::HashSet<PathBuf>);

impl Folders {
    fn make(&mut self, root: &Path, folder: &Path) -> std::io::Result<()> {
        if folder != root && self.0.insert(folder.to_owned()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(())
    }
}

/// Waits until all that was written is on the device, so that it disturbs no measurement.
pub fn sync(folder: &Path) -> std::io::Result<()> {
    let folder = File::open(folder)?;
    // SAFETY: a plain system call on an open folder.
    match unsafe { libc::syncfs(folder.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// What a database holds.
pub struct Content {
    pub entries: i64,
    pub average: i64,
    pub minimum: i64,
    pub maximum: i64,
    pub page_size: i64,
    pub pages: i64,
    pub free: i64,
    /// Lines of `PRAGMA integrity_check`: `ok`, or what is wrong.
    pub integrity: Vec<String>,
}

/// Rewrites a database without free pages.
pub fn vacuum(library: &Path, file: &Path) -> Result<()> {
    let library = Library::load(library)?;
    let db = place::open(&library, file)?;
    db.stop_on_interrupt();
    db.exec("VACUUM")
        .with_context(|| format!("cannot vacuum {}", file.display()))
}

/// Looks what a database holds.
pub fn stat(library: &Path, file: &Path) -> Result<Content> {
    let library = Library::load(library)?;
    let db = place::open(&library, file)?;
    db.stop_on_interrupt();
    let number = |sql: &str| {
        place::number(&db, sql).with_context(|| format!("cannot read {}", file.display()))
    };
    Ok(Content {
        entries: number("SELECT count(*) FROM kv")?,
        average: number("SELECT CAST(avg(length(v)) AS INTEGER) FROM kv")?,
        minimum: number("SELECT min(length(v)) FROM kv")?,
        maximum: number("SELECT max(length(v)) FROM kv")?,
        page_size: number("PRAGMA page_size")?,
        pages: number("PRAGMA page_count")?,
        free: number("PRAGMA freelist_count")?,
        integrity: db.column("PRAGMA integrity_check(10)")?,
    })
}

/// A bar of `all` values.
fn bar(all: u64, unit: &str) -> ProgressBar {
    let template = format!("{{wide_bar}} {{percent:>3}} %  {{human_pos}} {unit}  {{eta}} left");
    crate::output::progress(all)
        .with_finish(ProgressFinish::AndClear)
        .with_style(ProgressStyle::with_template(&template).expect("a valid template"))
}
