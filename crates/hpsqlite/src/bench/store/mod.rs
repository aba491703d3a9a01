//! The results file: everything that was measured, as it happens, in one SQLite database.
//!
//! Each line of a measuring process is a transaction of its own. While a run writes, the file is
//! in WAL mode with `synchronous=NORMAL`, in which a commit waits for no disk (that would disturb
//! the step under way) and after an outage of power at most the last samples are missing, never
//! more. A store that is closed leaves an ordinary file without a log beside it.
//!
//! `PRAGMA user_version` is the version of this schema, 1:
//!
//! | table | a row is | columns |
//! |---|---|---|
//! | `suite` | the suite, one row | `name`; `text`, the suite file; `hash` of it |
//! | `session` | a run or its continuation | `id`; `began` (UTC); `tool`, its version; `environment`, JSON of [`Environment`] |
//! | `point` | a combination of axis values | `id`, in the order of the suite; `axes`, canonical JSON: names sorted, values text; `asked`, JSON of the settings asked for |
//! | `effective` | what an engine said about itself, last | `point`; `version`; `settings`, JSON of those read back; `durability` |
//! | `sample` | a measured step | `point`; `trial`, from 1; `step`; the fields of [`Sample`], times in seconds, `percentiles` as JSON; `session`; `at` (UTC); `load`, the load average of the last minute |
//! | `trial` | a trial all steps of which were measured | `point`; `trial` |
//! | `problem` | a point or a trial that could not be measured | `point`; `trial`; `kind`, `unavailable` or `failed`; `reason`; `at` |
//! | `warning` | what a person should know | `text`; `at` |
//! | `build` | what a point was measured with | `point`; `libraries`, JSON of names and fingerprints of the SQLite libraries |
//! | `allocation` | what a measured step allocated | `point`; `trial`; `step`; `allocations`; `allocated` |
//! | `left_out` | a step without samples, of a point | `point`; `step`; `why` |
//!
//! A trial that was stopped half-way is measured again as a whole, and its new samples replace the
//! old ones. A problem is forgotten when its trial succeeds. Figures of two builds of an engine are
//! not mixed: a run that finds another one than the file has samples of is refused.

mod environment;
mod read;
mod results;
mod schema;
mod sql;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::bench::model::{ENGINE, Line, Sample, Values};
use crate::bench::runner::Record;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE};
use crate::{host, text};
use read::{read, suite_of};
use schema::{
    ALLOCATION, APPLICATION, BUILD, LEFT_OUT, OF_SUITE, SCHEMA, VERSION, check, open, unreadable,
};
use sql::{Bound, bound, integer, json, number, rows, write};

pub use environment::Environment;
pub use results::{Ignored, ProblemKind, Recorded, Results, RunSession, StoredPoint, StoredSuite};

/// A results file that is being written.
pub struct Store<'l> {
    // Closed before the lock is given back: closing another handle of the file would end SQLite's locks.
    db: Db<'l>,
    _lock: File,
    path: PathBuf,
    session: i64,
    /// The numbers of a suite's points, in its order.
    points: Vec<i64>,
    /// Trials of points that need not be measured again.
    finished: BTreeSet<(i64, u32)>,
    /// The version of each point's engine that the file has samples of.
    versions: BTreeMap<i64, String>,
}

/// The file holds results of another build of an engine: going on would mix them.
#[derive(Debug)]
pub struct AnotherBuild(String);

impl std::fmt::Display for AnotherBuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "holds results of another build of {}; results of two builds are not mixed: \
             name another file with --results, or remove this one",
            self.0
        )
    }
}

impl std::error::Error for AnotherBuild {}

/// The numbers in a version: what an engine calls itself beside them may depend on its options.
fn numbers(version: &str) -> Vec<&str> {
    version
        .split([' ', ',', '(', ')'])
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
        .collect()
}

impl<'l> Store<'l> {
    /// Opens the results file of a suite, or makes it; a file of another suite is an error.
    pub fn open(
        library: &'l Library,
        path: &Path,
        suite: &StoredSuite,
        environment: &Environment,
    ) -> Result<Store<'l>> {
        let lock = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        // SAFETY: a plain system call on an open file.
        if unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            bail!("{}: another run is writing into it", path.display());
        }
        let db = open(library, path, OPEN_READWRITE | OPEN_CREATE)?;
        let mut store = Store {
            db,
            _lock: lock,
            path: path.to_owned(),
            session: 0,
            points: Vec::new(),
            finished: BTreeSet::new(),
            versions: BTreeMap::new(),
        };
        let opened = store.begin(suite, environment);
        opened.with_context(|| path.display().to_string())?;
        Ok(store)
    }

    fn begin(&mut self, suite: &StoredSuite, environment: &Environment) -> Result<()> {
        let hash = text::fingerprint(suite.text.as_bytes());
        let tables = number(&self.db, "SELECT count(*) FROM sqlite_schema");
        if tables.map_err(|e| unreadable(&e))? == 0 {
            self.db.exec("PRAGMA journal_mode=WAL")?;
            self.db.exec("BEGIN IMMEDIATE")?;
            for table in SCHEMA {
                self.db.exec(table)?;
            }
            self.db
                .exec(&format!("PRAGMA application_id={APPLICATION}"))?;
            self.db.exec(&format!("PRAGMA user_version={VERSION}"))?;
            self.name(suite, &hash)?;
            self.db.exec("COMMIT")?;
        }
        check(&self.db)?;
        let (other, others) = suite_of(&self.db)?;
        if others != hash && number(&self.db, "SELECT EXISTS(SELECT 1 FROM sample)")? == 0 {
            // Nothing has been measured for the other, which may have been mistyped.
            self.take_over(suite, &hash)?;
        } else if others != hash {
            bail!(
                "holds results of the suite '{}' ({others}), not of '{}' ({hash}): a suite that was changed needs \
                 another results file, or this one removed",
                other.name,
                suite.name
            );
        }
        self.db.exec("PRAGMA journal_mode=WAL")?;
        self.db.exec("PRAGMA synchronous=NORMAL")?;
        self.db.exec(BUILD)?;
        self.db.exec(LEFT_OUT)?;
        self.db.exec(ALLOCATION)?;
        self.session = number(&self.db, "SELECT 1+ifnull(max(id),0) FROM session")?;
        let values = [
            Bound::Integer(self.session),
            Bound::Text(&now()),
            Bound::Text(env!("CARGO_PKG_VERSION")),
            Bound::Text(&serde_json::to_string(environment)?),
        ];
        write(&self.db, "INSERT INTO session VALUES(?,?,?,?)", &values)
    }

    /// Makes a file without samples that of another suite.
    fn take_over(&mut self, suite: &StoredSuite, hash: &str) -> Result<()> {
        self.db.exec("BEGIN IMMEDIATE")?;
        for table in OF_SUITE {
            self.db.exec(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        for table in SCHEMA {
            self.db.exec(table)?;
        }
        self.name(suite, hash)?;
        self.db.exec("COMMIT")?;
        Ok(())
    }

    /// Says whose results these are.
    fn name(&self, suite: &StoredSuite, hash: &str) -> Result<()> {
        let values = [
            Bound::Text(&suite.name),
            Bound::Text(&suite.text),
            Bound::Text(hash),
        ];
        self.write("INSERT INTO suite VALUES(1,?,?,?)", &values)
    }

    /// The number of a point, the same every time. `asked` are settings that the engine is asked
    /// for, by the names under which it reads them back.
    pub fn point(&self, axes: &Values, asked: &Values) -> Result<i64> {
        let (axes, asked) = (serde_json::to_string(axes)?, serde_json::to_string(asked)?);
        let values = [Bound::Text(&axes), Bound::Text(&asked)];
        self.write(
            "INSERT INTO point(axes, asked) VALUES(?,?) ON CONFLICT(axes) DO UPDATE SET asked=excluded.asked",
            &values,
        )?;
        self.id(&axes)
    }

    /// Numbers the points of a suite, so that it can be run.
    pub fn prepare<'p>(
        &mut self,
        points: impl Iterator<Item = (&'p Values, Values)>,
    ) -> Result<()> {
        // One transaction: there may be thousands.
        self.db.exec("BEGIN IMMEDIATE")?;
        let numbers = points.map(|(axes, asked)| self.point(axes, &asked));
        let numbers: Result<Vec<i64>> = numbers.collect();
        self.db.exec("COMMIT")?;
        self.points = numbers?;
        self.finished = self.finished()?;
        Ok(())
    }

    /// Keeps what the points will be measured with, in their order: names of libraries and their
    /// fingerprints. An error where there are samples of others.
    pub fn built(&mut self, builds: &[Values]) -> Result<()> {
        let context = self.path.display().to_string();
        let measured: BTreeSet<i64> = self.numbers("SELECT DISTINCT point FROM sample")?;
        let mut before: BTreeMap<i64, Values> = BTreeMap::new();
        rows(&self.db, "SELECT point, libraries FROM build", |row| {
            before.insert(integer(row, 0), json(&row.text(1))?);
            Ok(())
        })
        .with_context(|| context.clone())?;
        for (point, build) in self.points.iter().zip(builds) {
            let Some(before) = before.get(point).filter(|_| measured.contains(point)) else {
                continue;
            };
            for (name, fingerprint) in build {
                if let Some(other) = before.get(name).filter(|other| *other != fingerprint) {
                    let which = format!(
                        "{name} (the library's fingerprint was {other} and is {fingerprint} now)"
                    );
                    // Nothing is measured in this session.
                    self.write(
                        "DELETE FROM session WHERE id=?",
                        &[Bound::Integer(self.session)],
                    )?;
                    return Err(AnotherBuild(which)).with_context(|| context);
                }
            }
        }
        self.db.exec("BEGIN IMMEDIATE")?;
        let pairs = self.points.iter().zip(builds);
        let written: Result<()> =
            pairs
                .filter(|(_, build)| !build.is_empty())
                .try_for_each(|(point, build)| {
                    let libraries = serde_json::to_string(build)?;
                    let values = [Bound::Integer(*point), Bound::Text(&libraries)];
                    self.write("REPLACE INTO build VALUES(?,?)", &values)
                });
        self.db.exec("COMMIT")?;
        written?;
        self.versions = self.versions_measured()?;
        Ok(())
    }

    /// The version of each point's engine, of engines that have samples.
    fn versions_measured(&self) -> Result<BTreeMap<i64, String>> {
        let mut engines = BTreeMap::new();
        let mut by_engine = BTreeMap::new();
        rows(
            &self.db,
            "SELECT id, axes, (SELECT version FROM effective WHERE point=id \
             AND EXISTS(SELECT 1 FROM sample WHERE point=id)) FROM point ORDER BY id",
            |row| {
                let engine = json::<Values>(&row.text(1))?.remove(ENGINE);
                let version = row.text(2);
                if !version.is_empty() {
                    by_engine.insert(engine.clone(), version);
                }
                engines.insert(integer(row, 0), engine);
                Ok(())
            },
        )
        .with_context(|| self.path.display().to_string())?;
        let known = |(point, engine)| Some((point, by_engine.get(&engine)?.clone()));
        Ok(engines.into_iter().filter_map(known).collect())
    }

    /// Whole numbers that a query gives.
    fn numbers(&self, sql: &str) -> Result<BTreeSet<i64>> {
        let mut all = BTreeSet::new();
        rows(&self.db, sql, |row| {
            all.insert(integer(row, 0));
            Ok(())
        })
        .with_context(|| self.path.display().to_string())?;
        Ok(all)
    }

    fn id(&self, axes: &str) -> Result<i64> {
        let found = self.get("SELECT id FROM point WHERE axes=?", &[Bound::Text(axes)]);
        found?.ok_or_else(|| anyhow!("{}: there is no point {axes}", self.path.display()))
    }

    /// The trials of points that need not be measured again.
    pub fn finished(&self) -> Result<BTreeSet<(i64, u32)>> {
        let mut all = BTreeSet::new();
        rows(&self.db, "SELECT point, trial FROM trial", |row| {
            all.insert((integer(row, 0), integer(row, 1) as u32));
            Ok(())
        })
        .with_context(|| self.path.display().to_string())?;
        Ok(all)
    }

    /// Writes down what a measuring process said.
    pub fn record(&self, point: i64, trial: u32, line: &Line) -> Result<()> {
        let (id, nth) = (Bound::Integer(point), Bound::Integer(trial.into()));
        match line {
            Line::Progress(_) => Ok(()),
            Line::Ready(effective) => {
                let version = &effective.version;
                let known = self.versions.get(&point);
                if let Some(known) = known.filter(|known| numbers(known) != numbers(version)) {
                    return Err(AnotherBuild(format!("{known}, which is {version} now")))
                        .with_context(|| self.path.display().to_string());
                }
                self.write(
                    "REPLACE INTO effective VALUES(?,?,?,?)",
                    &[
                        id,
                        Bound::Text(version),
                        Bound::Text(&serde_json::to_string(&effective.settings)?),
                        Bound::Text(&effective.durability),
                    ],
                )
            }
            Line::Sample(s) => {
                let count = |n: u64| Bound::Integer(i64::try_from(n).unwrap_or(i64::MAX));
                // Before the sample, so that none is without.
                self.write(
                    "REPLACE INTO allocation VALUES(?,?,?,?,?)",
                    &[
                        Bound::Integer(point),
                        Bound::Integer(trial.into()),
                        Bound::Text(&s.step),
                        count(s.allocations),
                        count(s.allocated),
                    ],
                )?;
                self.write(
                    "REPLACE INTO sample VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                    &[
                        id,
                        nth,
                        Bound::Text(&s.step),
                        Bound::Real(s.seconds),
                        Bound::Real(s.user),
                        Bound::Real(s.system),
                        count(s.operations),
                        count(s.asked),
                        count(s.beside),
                        count(s.retries),
                        count(s.bytes),
                        count(s.peak_memory),
                        count(s.device_read),
                        count(s.device_written),
                        count(s.space),
                        Bound::Text(&s.answer),
                        Bound::Text(&serde_json::to_string(&s.percentiles)?),
                        Bound::Integer(self.session),
                        Bound::Text(&now()),
                        Bound::Real(host::load()),
                    ],
                )
            }
            Line::LeftOut { step, why } => {
                self.write(
                    "REPLACE INTO left_out VALUES(?,?,?)",
                    &[Bound::Integer(point), Bound::Text(step), Bound::Text(why)],
                )?;
                // Those of trials in which it could still be measured are no fair sample.
                self.write(
                    "DELETE FROM sample WHERE point=? AND step=?",
                    &[id, Bound::Text(step)],
                )?;
                self.warn(why)
            }
            Line::Unavailable(reason) => {
                self.problem(point, trial, ProblemKind::Unavailable, reason)
            }
            Line::Failed(reason) => self.problem(point, trial, ProblemKind::Failed, reason),
        }
    }

    fn problem(&self, point: i64, trial: u32, kind: ProblemKind, reason: &str) -> Result<()> {
        self.write(
            "REPLACE INTO problem VALUES(?,?,?,?,?)",
            &[
                Bound::Integer(point),
                Bound::Integer(trial.into()),
                Bound::Text(kind.name()),
                Bound::Text(reason),
                Bound::Text(&now()),
            ],
        )
    }

    /// All steps of a trial were measured.
    pub fn finish(&self, point: i64, trial: u32) -> Result<()> {
        let values = [Bound::Integer(point), Bound::Integer(trial.into())];
        self.write("INSERT OR IGNORE INTO trial VALUES(?,?)", &values)?;
        // An engine that can be measured is available, whatever another trial said.
        self.write(
            "DELETE FROM problem WHERE point=?1 AND (trial=?2 OR kind='unavailable')",
            &values,
        )
    }

    /// Writes down what a person should know, once.
    pub fn warn(&self, warning: &str) -> Result<()> {
        self.write(
            "INSERT OR IGNORE INTO warning VALUES(?,?)",
            &[Bound::Text(warning), Bound::Text(&now())],
        )
    }

    /// Everything so far.
    pub fn results(&self) -> Result<Results> {
        read(&self.db).with_context(|| self.path.display().to_string())
    }

    fn write(&self, sql: &str, values: &[Bound<'_>]) -> Result<()> {
        write(&self.db, sql, values)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn get(&self, sql: &str, values: &[Bound<'_>]) -> Result<Option<i64>> {
        let mut statement = bound(&self.db, sql, values)?;
        Ok(statement.step()?.then(|| integer(&statement, 0)))
    }
}

/// A runner's points must have been numbered by [`Store::prepare`] before.
impl Record for Store<'_> {
    fn is_done(&self, point: usize, trial: u32) -> bool {
        self.finished.contains(&(self.points[point], trial))
    }

    fn line(&mut self, point: usize, trial: u32, line: &Line) -> Result<()> {
        self.record(self.points[point], trial, line)
    }

    fn done(&mut self, point: usize, trial: u32) -> Result<()> {
        self.finish(self.points[point], trial)
    }

    fn warn(&mut self, warning: &str) -> Result<()> {
        Store::warn(self, warning)
    }

    fn left_out(&self) -> Result<BTreeSet<(usize, String)>> {
        let places: BTreeMap<i64, usize> = self.points.iter().copied().zip(0..).collect();
        let mut all = BTreeSet::new();
        rows(&self.db, "SELECT point, step FROM left_out", |row| {
            if let Some(place) = places.get(&integer(row, 0)) {
                all.insert((*place, row.text(1)));
            }
            Ok(())
        })
        .with_context(|| self.path.display().to_string())?;
        Ok(all)
    }

    fn samples(&self, each: &mut dyn FnMut(usize, &Sample)) -> Result<()> {
        let places: BTreeMap<i64, usize> = self.points.iter().copied().zip(0..).collect();
        for point in self.results()?.points {
            if let Some(place) = places.get(&point.id) {
                point.samples.iter().for_each(|r| each(*place, &r.sample));
            }
        }
        Ok(())
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        // Leaves one file; where somebody reads it just now the log stays beside it, which does no harm.
        let _ = self.db.exec("PRAGMA journal_mode=DELETE");
    }
}

fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%d %H:%M:%S UTC")
        .to_string()
}
