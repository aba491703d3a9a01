//! `hpsqlite defrag`: puts the pages of a database in order, slice by slice, while others use it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::ProgressBar;

use crate::library::LibraryOption;
use crate::sys::{Db, Library, OPEN_NOMUTEX, OPEN_READWRITE, Value};
use crate::{interrupt, output, text};

/// What stands below the help.
pub const HELP: &str = "\
A file whose tables and indexes grew together, or whose keys came in no order, is scattered: a scan \
jumps from page to page. VACUUM puts it in order, and locks everybody out meanwhile. This does the \
same in slices of some milliseconds, each a transaction of its own (PRAGMA hp_defrag), with a pause of \
half its time behind it. Between them others read and write as ever, and during one they read, in WAL \
mode; in other modes they wait that long, as for any commit. The file does not grow, and free pages \
are cut off its end. Rows that were deleted leave room in pages that only VACUUM gives back.

Ctrl-C ends it behind the slice that is running. What has been moved stays so, and the next time it \
goes on from there. If others write so much that it comes to no end, it stops; longer slices may help \
then.

Exit status: 0 if the file is in order, 1 if others write too much for that, 2 if the database cannot \
be used, 130 interrupted.

Examples:
  hpsqlite defrag app.db
  hpsqlite defrag app.db --slice 10";

#[derive(Args)]
pub struct DefragArgs {
    /// The database file
    database: PathBuf,
    /// How long a slice takes at most, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    slice: u32,
    #[command(flatten)]
    lib: LibraryOption,
}

/// Exit status if others write so much that it comes to no end.
const ENDLESS: u8 = 1;
/// How long a lock of another program is waited for, in milliseconds.
const BUSY_MS: i32 = 5_000;
/// It stops when so many slices that moved pages have left no fewer than there had been, ...
const MOVED_IN_VAIN: u32 = 1_000;
/// ... or so many in a row have moved none, because what they had found out was no longer true.
const READ_IN_VAIN: u32 = 20_000;

/// Puts the file in order; returns the exit status.
pub fn run(args: &DefragArgs) -> Result<u8> {
    let library = Library::load(&args.lib.path()?)?;
    let path = &args.database;
    let opened = library.open(path, OPEN_READWRITE | OPEN_NOMUTEX);
    let db = opened.with_context(|| format!("cannot open {}", path.display()))?;
    db.busy_timeout(BUSY_MS);
    let cannot = || format!("cannot put {} in order", path.display());
    let pages = size(&db).with_context(cannot)?;
    let mut run = DefragRun::new(args.slice)?;
    let end = run.slices(&db, path);
    run.bar.finish_and_clear();
    match end.with_context(cannot)? {
        DefragEnd::Done => {
            run.summary(pages, size(&db).with_context(cannot)?)?;
            Ok(0)
        }
        DefragEnd::Interrupted => {
            run.tell_what_is_left();
            Err(interrupt::Interrupted.into())
        }
        DefragEnd::Endless => {
            run.tell_what_is_left();
            eprintln!("hpsqlite: others write so much that it comes to no end");
            Ok(ENDLESS)
        }
    }
}

/// Bytes of the file, as the database knows it.
fn size(db: &Db<'_>) -> Result<u64> {
    let number = |sql| -> Result<u64> {
        let value = db.first(sql)?.context("there is no answer")?;
        Ok(value.parse()?)
    };
    Ok(number("PRAGMA page_count")? * number("PRAGMA page_size")?)
}

enum DefragEnd {
    Done,
    Interrupted,
    Endless,
}

/// All slices of a file.
struct DefragRun {
    sql: String,
    bar: ProgressBar,
    begun: Instant,
    slices: u64,
    longest: Duration,
    moved: u64,
    left: u64,
}

impl DefragRun {
    fn new(ms: u32) -> Result<DefragRun> {
        Ok(DefragRun {
            sql: format!("PRAGMA hp_defrag({ms})"),
            bar: output::bar("{wide_bar} {percent:>3} %  {msg}  {elapsed}")?,
            begun: Instant::now(),
            slices: 0,
            longest: Duration::ZERO,
            moved: 0,
            left: 0,
        })
    }

    fn slices(&mut self, db: &Db<'_>, path: &Path) -> Result<DefragEnd> {
        let mut least = u64::MAX;
        let (mut moved_in_vain, mut read_in_vain) = (0, 0);
        loop {
            let (moved, took) = self.slice(db, path)?;
            if self.left == 0 {
                return Ok(DefragEnd::Done);
            }
            if interrupt::raised() {
                return Ok(DefragEnd::Interrupted);
            }
            match moved {
                0 => read_in_vain += 1,
                _ if self.left < least => (moved_in_vain, read_in_vain) = (0, 0),
                _ => (moved_in_vain, read_in_vain) = (moved_in_vain + 1, 0),
            }
            if moved > 0 {
                least = least.min(self.left);
            }
            if moved_in_vain >= MOVED_IN_VAIN || read_in_vain >= READ_IN_VAIN {
                return Ok(DefragEnd::Endless);
            }
            std::thread::sleep(took / 2);
        }
    }

    /// One slice: the pages that it moved, and how long it took.
    fn slice(&mut self, db: &Db<'_>, path: &Path) -> Result<(u64, Duration)> {
        let begun = Instant::now();
        let mut statement = db.prepare(&self.sql)?.context("there is no statement")?;
        if !statement.step()? {
            bail!(
                "the library for {} is another SQLite, which has no PRAGMA hp_defrag",
                path.display()
            );
        }
        let number = |i| match statement.value(i) {
            Value::Integer(n) => u64::try_from(n).unwrap_or(0),
            _ => 0,
        };
        let (moved, left) = (number(0), number(1));
        while statement.step()? {}
        let took = begun.elapsed();
        self.slices += 1;
        self.longest = self.longest.max(took);
        self.moved += moved;
        self.left = left;
        self.show(moved);
        Ok((moved, took))
    }

    fn show(&self, moved: u64) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(self.moved + self.left);
        self.bar.set_position(self.moved);
        self.bar.set_message(match (moved, self.left) {
            (0, 1..) => "looking where pages are".to_owned(),
            _ => format!("{} left", text::plural(self.left, "page", "pages")),
        });
    }

    fn tell_what_is_left(&self) {
        eprintln!(
            "hpsqlite: {} moved, about {} left",
            text::plural(self.moved, "page is", "pages are"),
            text::thousands(self.left)
        );
    }

    fn summary(&self, before: u64, after: u64) -> Result<()> {
        Ok(output::to_terminal(|out| {
            if self.moved == 0 && before == after {
                return writeln!(out, "it is in order: {}", text::bytes(after));
            }
            writeln!(
                out,
                "{} moved in {}, in {} of at most {}: {}, {} before",
                text::plural(self.moved, "page", "pages"),
                text::seconds(self.begun.elapsed().as_secs_f64()),
                text::plural(self.slices, "slice", "slices"),
                text::seconds(self.longest.as_secs_f64()),
                text::bytes(after),
                text::bytes(before),
            )
        })?)
    }
}
