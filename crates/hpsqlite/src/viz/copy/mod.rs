//! Copies of a database to compare it with: VACUUMed, or written anew by either library.
//!
//! ```text
//! Job       the tool's side: is there room? starts the worker, hears how far it is
//!   │ pipe
//! worker    a process of its own: loads one library, and answers in lines of JSON
//!   │
//! source    opens the file read-only, so that nothing is left beside it
//! replay    fills a new file as an application would that fills all its tables together
//! check     has the copy the same content?
//! ```
//!
//! A process of its own, because the tool opens and closes the file while it shows it: that would
//! take the locks away which SQLite has on it in the same process.

mod check;
pub mod replay;
mod source;
pub mod worker;

use std::ffi::CString;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::file::Image;
use crate::interrupt::{self, Interrupted};
use crate::sys::SqlError;
use crate::{libs, text};

/// The name of the hidden subcommand that is the worker process.
pub const WORKER: &str = "viz-copy";

/// What is done to the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum CopyKind {
    /// VACUUM INTO by stock SQLite.
    Vacuumed,
    /// Written anew by stock SQLite.
    Stock,
    /// Written anew by High Performance SQLite.
    Hp,
}

impl CopyKind {
    /// What the copy of a file is called.
    pub fn title(self, file: &str) -> String {
        match self {
            CopyKind::Vacuumed => format!("{file}, VACUUMed"),
            CopyKind::Stock => format!("{file}, written anew by SQLite"),
            CopyKind::Hp => format!("{file}, written anew by HP SQLite"),
        }
    }

    fn library(self) -> Result<PathBuf> {
        match self {
            CopyKind::Vacuumed | CopyKind::Stock => libs::stock(),
            CopyKind::Hp => libs::ours(),
        }
    }

    /// The most that is written for a file of so many bytes.
    fn room(self, bytes: u64) -> u64 {
        match self {
            CopyKind::Vacuumed => bytes,
            // Indexes that are filled in no order have pages that are half empty.
            CopyKind::Stock | CopyKind::Hp => bytes + bytes / 2,
        }
    }
}

/// A copy that is whole.
#[derive(Debug)]
pub struct Copied {
    pub path: PathBuf,
    /// How it was made, in sentences.
    pub notes: Vec<String>,
}

/// What the worker process says, one value a line.
#[derive(Debug, Serialize, Deserialize)]
enum Said {
    Progress { done: u64, all: u64 },
    Done { notes: Vec<String> },
    Failed(String),
}

/// How far the copy is.
#[derive(Debug, Default)]
pub struct CopyProgress {
    done: AtomicU64,
    all: AtomicU64,
}

impl CopyProgress {
    /// There is so much to do.
    pub fn begin(&self, all: u64) {
        self.all.store(all, Ordering::Relaxed);
    }

    /// So much of it is done.
    pub fn done(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// An error of SQLite, in words that say what to do where that is known.
fn explained(e: anyhow::Error) -> anyhow::Error {
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    const IOERR: i32 = 10;
    const FULL: i32 = 13;
    const READONLY_ROLLBACK: i32 = 776;
    let Some(sql) = e.downcast_ref::<SqlError>() else {
        return e;
    };
    let message = &sql.message;
    for (start, what) in [
        ("no such collation sequence: ", "collation"),
        ("no such function: ", "function"),
        ("unknown function: ", "function"),
    ] {
        if let Some(name) = message.strip_prefix(start) {
            return anyhow!(
                "it needs the {what} {}, which the application brings with it and SQLite alone does \
                 not know",
                name.trim_end_matches("()")
            );
        }
    }
    match sql.code {
        FULL => anyhow!(
            "the folder for temporary files has no room for it ({message}); set TMPDIR to one with \
             more"
        ),
        code if code & 0xff == IOERR => anyhow!(
            "a file could not be read or written ({message}); if it is that the folder for temporary \
             files has no room, set TMPDIR to one with more"
        ),
        READONLY_ROLLBACK => anyhow!(
            "a transaction was cut off while it was written, and SQLite has to undo it first: open \
             the file once with the program that it belongs to"
        ),
        code if matches!(code & 0xff, BUSY | LOCKED) => {
            anyhow!("another program is writing to it; try again later ({message})")
        }
        _ => e,
    }
}

/// Stops the making of a copy, from another thread.
#[derive(Debug, Default)]
pub struct CopyStop(Mutex<CopyWorker>);

#[derive(Debug, Default)]
struct CopyWorker {
    stopped: bool,
    pid: Option<u32>,
}

impl CopyStop {
    /// Stops it, now or as soon as it begins.
    pub fn stop(&self) {
        let mut worker = self.0.lock().expect("nobody panics with it");
        worker.stopped = true;
        if let Some(pid) = worker.pid {
            // SAFETY: a plain system call; the pid is our own child, not yet waited for.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
        }
    }

    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        self.0.lock().expect("nobody panics with it").stopped
    }

    /// False: it is to stop.
    fn watches(&self, pid: Option<u32>) -> bool {
        let mut worker = self.0.lock().expect("nobody panics with it");
        worker.pid = pid;
        !worker.stopped
    }
}

/// A folder for copies, which is gone with all of them when it is dropped. Only its owner gets into
/// it: SQLite makes files that all may read, and the file that is copied may be private.
pub fn folder() -> Result<TempDir> {
    let place = std::env::temp_dir();
    tempfile::Builder::new()
        .prefix("hpsqlite-viz-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
        .with_context(|| format!("cannot make a folder in {}", place.display()))
}

/// Room that a copy takes while it is made.
#[derive(Debug)]
pub struct Room {
    /// The most of it.
    bytes: u64,
    folder: PathBuf,
}

impl Room {
    /// What is not written yet.
    pub fn left(&self) -> u64 {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten();
        let sizes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
        self.bytes.saturating_sub(sizes.sum())
    }
}

/// A copy that can be made, as far as that is known before.
#[derive(Debug)]
pub struct CopyJob {
    kind: CopyKind,
    source: PathBuf,
    /// The most that is written.
    room: u64,
    library: PathBuf,
    /// Of its own, as SQLite makes other files beside the one that it writes.
    folder: TempDir,
}

impl CopyJob {
    /// Sees that the file can be opened, that the library is there, and that `folder` has room
    /// beside what is `taken` by copies that are being made.
    pub fn new(source: &Path, kind: CopyKind, folder: &Path, taken: u64) -> Result<CopyJob> {
        let shown = source.display();
        let source = source
            .canonicalize()
            .with_context(|| format!("cannot open {shown}"))?;
        let image = Image::open(&source)?;
        let bytes = u64::from(image.pages) * u64::from(image.header.page_size);
        let flat = if source::is_flattened(&image) {
            bytes
        } else {
            0
        };
        let room = kind.room(bytes) + flat;
        there_is_room(room.saturating_add(taken), folder)?;
        Ok(CopyJob {
            kind,
            source,
            room,
            library: kind.library()?,
            folder: tempfile::Builder::new()
                .prefix("copy-")
                .tempdir_in(folder)?,
        })
    }

    /// The room that it will take.
    pub fn room(&self) -> Room {
        Room {
            bytes: self.room,
            folder: self.folder.path().to_owned(),
        }
    }

    /// Makes the copy, which stays until the folder that was given to [`CopyJob::new`] goes. `progress`
    /// gets how much of how much is done; it is 0 of 0 while that is being counted. What was
    /// written of a copy that does not become whole is removed.
    pub fn run(self, stop: &CopyStop, progress: impl FnMut(u64, u64)) -> Result<Copied> {
        let copied = self.work(stop, progress).with_context(|| {
            let what = match self.kind {
                CopyKind::Vacuumed => "a VACUUMed copy of it",
                CopyKind::Stock | CopyKind::Hp => "a new file with its content",
            };
            format!("{}: cannot make {what}", self.source.display())
        })?;
        let _ = self.folder.keep();
        Ok(copied)
    }

    fn work(&self, stop: &CopyStop, mut progress: impl FnMut(u64, u64)) -> Result<Copied> {
        interrupt::check()?;
        let name = match self.kind {
            CopyKind::Vacuumed => "vacuumed.db",
            CopyKind::Stock => "stock.db",
            CopyKind::Hp => "hp.db",
        };
        let kind = self.kind.to_possible_value();
        let mut child = Command::new(std::env::current_exe()?)
            .arg(WORKER)
            .arg(kind.expect("none is left out").get_name())
            .arg(&self.library)
            .arg(&self.source)
            .arg(name)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a worker process")?;
        let pid = child.id();
        interrupt::remember(pid);
        let output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        if !stop.watches(Some(pid)) {
            let _ = child.kill();
        }
        let mut last = None;
        for line in output.lines().map_while(Result::ok) {
            match serde_json::from_str(&line).context("what the worker process says")? {
                Said::Progress { done, all } => progress(done, all),
                said => last = Some(said),
            }
        }
        stop.watches(None);
        interrupt::forget(pid);
        let ended = child.wait();
        if stop.stopped() || interrupt::raised() {
            return Err(Interrupted.into());
        }
        match last {
            Some(Said::Done { notes }) => Ok(Copied {
                path: self.folder.path().join(name),
                notes,
            }),
            Some(Said::Failed(why)) => bail!("{why}"),
            _ => Err(why_it_ended(ended)),
        }
    }
}

/// Why the worker process ended without a word.
fn why_it_ended(ended: io::Result<std::process::ExitStatus>) -> anyhow::Error {
    let how = match ended {
        Ok(status) => match status.signal() {
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!("ended with {status}"),
        },
        Err(e) => e.to_string(),
    };
    anyhow!("the process that was to make it {how}")
}

/// An error if a folder's file system has not so many bytes left.
fn there_is_room(bytes: u64, folder: &Path) -> Result<()> {
    let left = free_space(folder)
        .with_context(|| format!("cannot see how much room is left in {}", folder.display()))?;
    if left < bytes {
        let place = std::env::temp_dir();
        bail!(
            "the copy may need {} in {}, where {} are left; set TMPDIR to a folder with more room",
            text::bytes(bytes),
            place.display(),
            text::bytes(left),
        );
    }
    Ok(())
}

/// Bytes that an ordinary user may still write where a folder is.
fn free_space(folder: &Path) -> io::Result<u64> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: a structure of numbers, for which all bits zero are a value.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a NUL and `found` is a valid place for the answer.
    if unsafe { libc::statvfs(path.as_ptr(), &mut found) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_gets_at_copies() {
        let mode = folder().unwrap().path().metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_without_room_is_told_with_advice() {
        let folder = folder().unwrap();
        assert!(there_is_room(1, folder.path()).is_ok());
        let why = there_is_room(u64::MAX, folder.path())
            .unwrap_err()
            .to_string();
        assert!(
            why.ends_with("set TMPDIR to a folder with more room"),
            "{why}"
        );
    }

    #[test]
    fn room_is_taken_until_it_is_written() {
        let folder = folder().unwrap();
        let room = Room {
            bytes: 1000,
            folder: folder.path().to_owned(),
        };
        assert_eq!(room.left(), 1000);
        std::fs::write(folder.path().join("a"), [0; 400]).unwrap();
        assert_eq!(room.left(), 600);
        std::fs::write(folder.path().join("b"), [0; 700]).unwrap();
        assert_eq!(room.left(), 0);
    }

    #[test]
    fn what_was_stopped_before_it_began_does_not_begin() {
        let stop = CopyStop::default();
        assert!(stop.watches(None));
        stop.stop();
        assert!(stop.stopped() && !stop.watches(None));
    }
}
