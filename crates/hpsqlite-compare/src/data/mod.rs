//! Generators of well-known data sets, written into ordinary SQLite files.
//!
//! A file is made under a temporary name in the same folder and renamed when it
//! is whole, so that whatever stops the generator leaves nothing half-written.

pub mod command;
pub mod h2o;
pub mod hits;
pub mod mail;
pub mod mysqlite;
pub mod random;
pub mod ssb;
pub mod tatp;
pub mod tpch;

use std::fmt::{Display, Write as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::output::WholeFile;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE, SqlError, Stmt};
use crate::{interrupt, libs, text};

/// How often, in rows, Ctrl-C and the progress bar are looked after.
const ROWS_A_TICK: u64 = 4096;

/// Where a data set goes and how.
pub struct DataTarget<'a> {
    pub file: &'a Path,
    /// Replace a file that is there.
    pub force: bool,
    /// The SQLite library that writes; stock by default, so that the file owes nothing to ours.
    pub library: Option<&'a Path>,
}

/// A data set: its generator and what that is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Set {
    Tpch { sf: f64 },
    H2o { rows: u64, groups: u64 },
    Mysqlite { rows: u64, keys: u64 },
    Tatp { subscribers: u64 },
    Ssb { sf: f64 },
    Mail { messages: u64 },
    Hits { rows: u64 },
}

impl Set {
    /// The set of a name, with the parameters that `get` gives and the usual ones for others.
    pub fn of<'v>(name: &str, get: &dyn Fn(&str) -> Option<&'v str>) -> Result<Set> {
        let number = |name: &str, usual: f64| {
            get(name).map_or(Ok(usual), |n| {
                n.parse::<f64>()
                    .ok()
                    .filter(|n| n.is_finite() && *n >= 0.0)
                    .with_context(|| format!("{name}={n}: want a number"))
            })
        };
        Ok(match name {
            "tpch" => Set::Tpch {
                sf: number("sf", 1.0)?,
            },
            "h2o" => Set::H2o {
                rows: number("rows", h2o::ROWS as f64)? as u64,
                groups: number("groups", h2o::GROUPS as f64)? as u64,
            },
            "mysqlite" => Set::Mysqlite {
                rows: number("rows", mysqlite::ROWS as f64)? as u64,
                keys: number("keys", mysqlite::KEYS as f64)? as u64,
            },
            "tatp" => Set::Tatp {
                subscribers: number("subscribers", tatp::SUBSCRIBERS as f64)? as u64,
            },
            "ssb" => Set::Ssb {
                sf: number("sf", 1.0)?,
            },
            "mail" => Set::Mail {
                messages: number("messages", mail::MESSAGES as f64)? as u64,
            },
            "hits" => Set::Hits {
                rows: number("rows", hits::ROWS as f64)? as u64,
            },
            other => bail!(
                "data={other}: the data sets are tpch, h2o, mysqlite, tatp, ssb, mail and hits"
            ),
        })
    }

    /// Writes the file.
    pub fn write(&self, target: &DataTarget<'_>) -> Result<Written> {
        match *self {
            Set::Tpch { sf } => tpch::write(sf, target),
            Set::H2o { rows, groups } => h2o::write(rows, groups, target),
            Set::Mysqlite { rows, keys } => mysqlite::write(rows, keys, target),
            Set::Tatp { subscribers } => tatp::write(subscribers, target),
            Set::Ssb { sf } => ssb::write(sf, target),
            Set::Mail { messages } => mail::write(messages, target),
            Set::Hits { rows } => hits::write(rows, target),
        }
    }
}

/// What was written.
pub struct Written {
    pub tables: usize,
    pub rows: u64,
    pub bytes: u64,
    pub seconds: f64,
}

impl Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {}, {} rows, {} in {:.1} s",
            self.tables,
            if self.tables == 1 { "table" } else { "tables" },
            text::thousands(self.rows),
            text::bytes(self.bytes),
            self.seconds
        )
    }
}

/// Makes the file: `fill` creates and fills the tables of a data set of about `rows` rows.
fn generate(
    target: &DataTarget<'_>,
    rows: u64,
    fill: impl FnOnce(&mut Loader<'_>) -> Result<()>,
) -> Result<Written> {
    let file = target.file;
    if file.exists() && !target.force {
        bail!("{} is there already; --force replaces it", file.display());
    }
    let library = Library::load(&match target.library {
        Some(path) => path.to_owned(),
        None => default_library()?,
    })?;
    let output = WholeFile::begin(file)?;

    let start = Instant::now();
    let mut loader = Loader::new(&library, output.path(), rows)?;
    fill(&mut loader).with_context(|| format!("cannot write {}", file.display()))?;
    let (tables, rows) = loader.finish()?;
    let bytes = output.file().metadata()?.len();
    output
        .replace()
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Written {
        tables,
        rows,
        bytes,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn default_library() -> Result<PathBuf> {
    libs::stock().or_else(|_| libs::ours())
}

/// Fills tables of a new database, fast because nobody needs a half-filled one.
struct Loader<'l> {
    db: Db<'l>,
    bar: ProgressBar,
    tables: usize,
    rows: u64,
}

impl<'l> Loader<'l> {
    fn new(library: &'l Library, file: &Path, rows: u64) -> Result<Self> {
        let db = library.open(file, OPEN_READWRITE | OPEN_CREATE)?;
        for sql in [
            "PRAGMA journal_mode=OFF",
            "PRAGMA synchronous=OFF",
            "PRAGMA locking_mode=EXCLUSIVE",
            "PRAGMA cache_size=-65536",
            "BEGIN",
        ] {
            db.exec(sql)?;
        }
        let bar = crate::output::progress(rows)
            .with_finish(ProgressFinish::AndClear)
            .with_style(
                ProgressStyle::with_template(
                    "{msg:9} {wide_bar} {percent:>3} %  {human_pos} rows  {eta} left",
                )
                .expect("a valid template"),
            );
        Ok(Loader {
            db,
            bar,
            tables: 0,
            rows: 0,
        })
    }

    /// Creates the table `name` by `ddl` and inserts all of `rows`.
    fn table<R: DataRow>(
        &mut self,
        name: &'static str,
        ddl: &str,
        rows: impl Iterator<Item = R>,
    ) -> Result<()> {
        self.bar.set_message(name);
        self.db.exec(ddl)?;
        let mut insert = Insert::new(&self.db, name)?;
        for row in rows {
            insert.row(&row)?;
            self.rows += 1;
            if self.rows.is_multiple_of(ROWS_A_TICK) {
                interrupt::check()?;
                self.bar.set_position(self.rows);
            }
        }
        self.tables += 1;
        Ok(())
    }

    /// Ends the file; returns the number of tables and rows.
    fn finish(self) -> Result<(usize, u64)> {
        self.db.exec("COMMIT")?;
        interrupt::check()?;
        Ok((self.tables, self.rows))
    }
}

/// A row that can give its values, in the order of the table's columns.
trait DataRow {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>);
}

/// A prepared INSERT into one table.
struct Insert<'d> {
    stmt: Stmt<'d>,
    /// One buffer a column, for values that have to be formatted first.
    scratch: Vec<String>,
}

impl<'d> Insert<'d> {
    fn new(db: &'d Db<'_>, table: &str) -> Result<Self> {
        let columns = db
            .prepare(&format!("SELECT * FROM {table}"))?
            .map_or(0, |s| s.columns() as usize);
        let marks = vec!["?"; columns].join(",");
        let stmt = db
            .prepare(&format!("INSERT INTO {table} VALUES({marks})"))?
            .expect("an INSERT is a statement");
        Ok(Insert {
            stmt,
            scratch: vec![String::new(); columns],
        })
    }

    fn row(&mut self, row: &impl DataRow) -> Result<(), SqlError> {
        let mut binder = Binder {
            stmt: &mut self.stmt,
            scratch: &mut self.scratch,
            next: 0,
            result: Ok(()),
            texts: PhantomData,
        };
        row.bind(&mut binder);
        binder.result?;
        self.stmt.step()?;
        self.stmt.reset();
        Ok(())
    }
}

/// Takes the values of one row; texts must live as long as the row, `'a`.
struct Binder<'a, 's, 'd> {
    stmt: &'s mut Stmt<'d>,
    scratch: &'s mut [String],
    next: usize,
    result: Result<(), SqlError>,
    texts: PhantomData<&'a str>,
}

impl<'a> Binder<'a, '_, '_> {
    fn int(&mut self, v: impl Into<i64>) {
        self.next += 1;
        let r = self.stmt.bind_int(self.next as i32, v.into());
        self.note(r);
    }

    fn null(&mut self) {
        self.next += 1;
        let r = self.stmt.bind_null(self.next as i32);
        self.note(r);
    }

    fn real(&mut self, v: f64) {
        self.next += 1;
        let r = self.stmt.bind_real(self.next as i32, v);
        self.note(r);
    }

    fn text(&mut self, v: &'a str) {
        self.next += 1;
        // SAFETY: `v` outlives the row, and the statement is stepped before the row goes;
        // the next row binds every parameter again before the next step.
        let r = unsafe { self.stmt.bind_text_static(self.next as i32, v) };
        self.note(r);
    }

    fn blob(&mut self, v: &'a [u8]) {
        self.next += 1;
        // SAFETY: as for texts.
        let r = unsafe { self.stmt.bind_blob_static(self.next as i32, v) };
        self.note(r);
    }

    /// Binds the text form of `v`.
    fn shown(&mut self, v: &impl Display) {
        let buffer = &mut self.scratch[self.next];
        self.next += 1;
        buffer.clear();
        write!(buffer, "{v}").expect("writing to a String succeeds");
        // SAFETY: the buffer stays as it is until the same column of the next row is bound.
        let r = unsafe { self.stmt.bind_text_static(self.next as i32, buffer) };
        self.note(r);
    }

    fn note(&mut self, r: Result<(), SqlError>) {
        if self.result.is_ok() {
            self.result = r;
        }
    }
}
