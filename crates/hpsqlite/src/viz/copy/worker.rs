//! The process that makes one copy: `hpsqlite viz-copy KIND LIBRARY SOURCE TARGET`, in the folder
//! that the copy goes to.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::check::{self, Checked};
use super::replay::{self, ROWS_A_TRANSACTION};
use super::source::{self, Source};
use super::{CopyKind, CopyProgress, Said, explained};
use crate::compare::worker::die_with_the_tool;
use crate::sys::{Library, OPEN_CREATE, OPEN_READONLY, OPEN_READWRITE};
use crate::text;

/// How often it is told how far the copy is.
const TOLD_EVERY: Duration = Duration::from_millis(100);

fn say(said: &Said) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Makes the copy and tells how that went.
pub fn serve(kind: CopyKind, library: &Path, source: &Path, target: &Path) -> Result<u8> {
    die_with_the_tool();
    // SAFETY: a plain system call. Where files may not become so large, writing fails instead.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    static PROGRESS: CopyProgress = CopyProgress {
        done: AtomicU64::new(0),
        all: AtomicU64::new(0),
    };
    let path = target.to_owned();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(TOLD_EVERY);
            let all = PROGRESS.all.load(Ordering::Relaxed);
            let done = match kind {
                // What VACUUM does is seen by the file that it writes.
                CopyKind::Vacuumed => std::fs::metadata(&path)
                    .map_or(0, |meta| meta.len())
                    .min(all),
                CopyKind::Stock | CopyKind::Hp => PROGRESS.done.load(Ordering::Relaxed),
            };
            if say(&Said::Progress { done, all }).is_err() {
                break;
            }
        }
    });
    let made = make(kind, library, source, target, &PROGRESS);
    source::tidy();
    say(&match made {
        Ok(notes) => Said::Done { notes },
        Err(e) => Said::Failed(format!("{:#}", explained(e))),
    })?;
    Ok(0)
}

/// Makes the copy; tells in sentences how.
pub fn make(
    kind: CopyKind,
    library: &Path,
    path: &Path,
    target: &Path,
    progress: &CopyProgress,
) -> Result<Vec<String>> {
    let library = Library::load(library)?;
    let source = Source::open(&library, path)?;
    let from = &source.db;
    let mut notes = Vec::new();
    let checked = match kind {
        CopyKind::Vacuumed => {
            notes.push(format!(
                "Made by VACUUM INTO of SQLite {}.",
                library.version()
            ));
            progress.begin(source.bytes);
            let version = || from.first("PRAGMA data_version");
            let before = version()?;
            {
                let mut vacuum = from.prepare("VACUUM INTO ?1")?.context("no VACUUM INTO")?;
                let name = target
                    .to_str()
                    .context("the name of the copy is not UTF-8")?;
                // SAFETY: the name outlives the statement.
                unsafe { vacuum.bind_text_static(1, name)? };
                vacuum.step()?;
            }
            let to = library.open(target, OPEN_READONLY)?;
            from.exec("BEGIN")?;
            let tables = replay::tables(from)?;
            if version()? == before {
                Some(check::check(from, &to, &tables, source.bytes)?)
            } else {
                None
            }
        }
        CopyKind::Stock | CopyKind::Hp => {
            let to = library.open(target, OPEN_READWRITE | OPEN_CREATE)?;
            // Only ours knows it. What a user gets who sets nothing is what is shown.
            let ours = from.first("SELECT hp_version()").ok().flatten();
            let tables = replay::replay(from, &to, source.reserved, progress)?;
            let rows = tables.iter().map(|table| table.rows).sum();
            notes.push(format!(
                "Written anew by {}: the rows of all tables ({}) in turn, each table's in the order of \
                 its keys, {} a transaction.",
                match &ours {
                    Some(version) => format!(
                        "High Performance SQLite {version} with its default settings (PRAGMA \
                         hp_extent = {})",
                        to.first("PRAGMA hp_extent")?.unwrap_or_default()
                    ),
                    None => format!("SQLite {}", library.version()),
                },
                text::thousands(rows),
                text::thousands(ROWS_A_TRANSACTION),
            ));
            Some(check::check(from, &to, &tables, source.bytes)?)
        }
    };
    source.is_unchanged(path)?;
    notes.push(
        match checked {
            Some(Checked::Values) => {
                "Its schema and the values of all its rows were compared with the file's: they are \
                 the same."
            }
            Some(Checked::Counts) => {
                "Its schema and the number of rows of each table are the same as the file's."
            }
            None => "Its content was not compared: the file was written to meanwhile.",
        }
        .to_owned(),
    );
    Ok(notes)
}
