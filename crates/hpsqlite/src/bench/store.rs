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

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::connection::same_setting;
use super::model::{ENGINE, Effective, Line, Sample, Values};
use super::runner::Record;
use crate::compare::report::Machine;
use crate::host::{self, Mount};
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READONLY, OPEN_READWRITE, SqlError, Stmt, Value};
use crate::text;

/// The version of the schema.
const VERSION: i64 = 1;
/// `PRAGMA application_id` of results files: `HPbn`.
const APPLICATION: i64 = 0x4850_626e;

const SCHEMA: [&str; 11] = [
    "CREATE TABLE suite(id INTEGER PRIMARY KEY CHECK(id=1), name TEXT NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE session(id INTEGER PRIMARY KEY, began TEXT NOT NULL, tool TEXT NOT NULL, environment TEXT NOT NULL)",
    "CREATE TABLE point(id INTEGER PRIMARY KEY, axes TEXT NOT NULL UNIQUE, asked TEXT NOT NULL)",
    "CREATE TABLE effective(point INTEGER PRIMARY KEY REFERENCES point, version TEXT NOT NULL, settings TEXT NOT NULL, durability TEXT NOT NULL)",
    "CREATE TABLE sample(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, step TEXT NOT NULL,
       seconds REAL, user REAL, system REAL, operations INTEGER, asked INTEGER, beside INTEGER, retries INTEGER, bytes INTEGER, peak_memory INTEGER,
       device_read INTEGER, device_written INTEGER, space INTEGER, answer TEXT, percentiles TEXT,
       session INTEGER REFERENCES session, at TEXT, load REAL, PRIMARY KEY(point, trial, step))",
    "CREATE TABLE trial(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, PRIMARY KEY(point, trial))",
    "CREATE TABLE problem(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY(point, trial))",
    "CREATE TABLE warning(text TEXT PRIMARY KEY, at TEXT NOT NULL)",
    BUILD,
    LEFT_OUT,
    ALLOCATION,
];
/// The tables, those that name others before them.
const OF_SUITE: [&str; 11] = [
    "allocation",
    "left_out",
    "build",
    "warning",
    "problem",
    "trial",
    "sample",
    "effective",
    "point",
    "session",
    "suite",
];
/// The first files of this version have none of these three.
const BUILD: &str = "CREATE TABLE IF NOT EXISTS build(point INTEGER PRIMARY KEY REFERENCES point, libraries TEXT NOT NULL)";
const LEFT_OUT: &str = "CREATE TABLE IF NOT EXISTS left_out(point INTEGER NOT NULL REFERENCES point, step TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY(point, step))";

const ALLOCATION: &str = "CREATE TABLE IF NOT EXISTS allocation(point INTEGER NOT NULL, trial INTEGER NOT NULL, step TEXT NOT NULL, allocations INTEGER NOT NULL, allocated INTEGER NOT NULL, PRIMARY KEY(point, trial, step))";

/// Where it was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    pub processor: String,
    pub processors: usize,
    /// In bytes.
    pub memory: u64,
    pub kernel: String,
    /// That of the work folder: its kind and the device.
    pub file_system: String,
    /// How the processor's frequency is governed, where that can be read.
    pub governor: Option<String>,
    /// Load average of the last minute when it began.
    pub load: f64,
}

impl Environment {
    /// This machine, for work in a folder.
    pub fn this(folder: &Path) -> Environment {
        let machine = Machine::this();
        let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let governor = std::fs::read_to_string(governor).unwrap_or_default();
        Environment {
            processor: machine.processor,
            processors: machine.processors,
            memory: host::memory(),
            kernel: machine.kernel,
            file_system: Mount::of(folder)
                .map_or_else(String::new, |m| format!("{} on {}", m.kind, m.device)),
            governor: Some(governor.trim().to_owned()).filter(|g| !g.is_empty()),
            load: host::load(),
        }
    }

    /// In a line.
    pub fn words(&self) -> String {
        format!("{}, load {:.2} when it began", self.place(), self.load)
    }

    /// The same without how busy it was.
    pub fn place(&self) -> String {
        let mut parts = vec![
            self.processor.clone(),
            match self.processors {
                1 => "1 processor".to_owned(),
                n => format!("{n} processors"),
            },
        ];
        if self.memory > 0 {
            parts.push(format!("{} of memory", text::bytes(self.memory)));
        }
        parts.push(self.kernel.clone());
        if !self.file_system.is_empty() {
            parts.push(self.file_system.clone());
        }
        if let Some(governor) = &self.governor {
            parts.push(format!("governor {governor}"));
        }
        parts.join(", ")
    }
}

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

/// A suite as a results file has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suite {
    pub name: String,
    /// The suite file, and what else decides what is measured.
    pub text: String,
}

impl<'l> Store<'l> {
    /// Opens the results file of a suite, or makes it; a file of another suite is an error.
    pub fn open(
        library: &'l Library,
        path: &Path,
        suite: &Suite,
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

    fn begin(&mut self, suite: &Suite, environment: &Environment) -> Result<()> {
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
    fn take_over(&mut self, suite: &Suite, hash: &str) -> Result<()> {
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
    fn name(&self, suite: &Suite, hash: &str) -> Result<()> {
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
            Line::Unavailable(reason) => self.problem(point, trial, Kind::Unavailable, reason),
            Line::Failed(reason) => self.problem(point, trial, Kind::Failed, reason),
        }
    }

    fn problem(&self, point: i64, trial: u32, kind: Kind, reason: &str) -> Result<()> {
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

/// Everything that a results file holds.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    pub suite: Suite,
    pub suite_hash: String,
    pub sessions: Vec<Session>,
    /// In the order of the suite.
    pub points: Vec<Point>,
    pub warnings: Vec<String>,
}

/// A run or its continuation.
#[derive(Debug, Clone, Serialize)]
pub struct Session {
    pub id: i64,
    /// UTC.
    pub began: String,
    /// Version of this tool.
    pub tool: String,
    pub environment: Environment,
}

/// A combination of axis values and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub id: i64,
    pub axes: Values,
    /// Settings asked for.
    pub asked: Values,
    pub effective: Option<Effective>,
    /// By trial, then as they were measured.
    pub samples: Vec<Recorded>,
    pub problems: Vec<Problem>,
}

impl Point {
    /// Settings that were asked for and are not so: the name, what was asked, and what is.
    pub fn ignored(&self) -> Vec<Ignored> {
        let Some(effective) = &self.effective else {
            return Vec::new();
        };
        let differs = |(name, asked): (&String, &String)| {
            let is = effective.settings.get(name);
            match is.is_some_and(|is| same_setting(name, asked, is)) {
                true => None,
                false => Some(Ignored {
                    name: name.clone(),
                    asked: asked.clone(),
                    effective: is.cloned(),
                }),
            }
        };
        self.asked.iter().filter_map(differs).collect()
    }
}

/// A setting that an engine did not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    pub name: String,
    pub asked: String,
    /// None where the engine does not know it.
    pub effective: Option<String>,
}

impl Ignored {
    /// As a table says it.
    pub fn words(&self) -> String {
        match &self.effective {
            Some(value) => format!("{}={} was ignored, it is {value}", self.name, self.asked),
            None => format!("{}={} was ignored, it is not known", self.name, self.asked),
        }
    }
}

/// A sample and when it was taken.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    pub trial: u32,
    #[serde(flatten)]
    pub sample: Sample,
    pub session: i64,
    /// UTC.
    pub at: String,
    /// Load average of the last minute.
    pub load: f64,
}

/// Why something could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub trial: u32,
    pub kind: Kind,
    pub reason: String,
}

/// Whether the engine is not there, or the job went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Unavailable,
    Failed,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Unavailable => "unavailable",
            Kind::Failed => "failed",
        }
    }

    /// As a heading.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Unavailable => "not available",
            Kind::Failed => "failed",
        }
    }
}

impl Results {
    /// Reads a results file, which a run may be writing.
    pub fn read(library: &Library, path: &Path) -> Result<Results> {
        let context = || path.display().to_string();
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        // The log of a run that was killed is put in order by whoever opens the file next, if it may.
        let db = open(library, path, OPEN_READWRITE)
            .and_then(|db| check(&db).map(|()| db))
            .or_else(|_| open(library, path, OPEN_READONLY))?;
        check(&db).with_context(context)?;
        read(&db).with_context(context)
    }
}

/// A value to bind.
enum Bound<'a> {
    Integer(i64),
    Real(f64),
    Text(&'a str),
}

fn open<'l>(library: &'l Library, path: &Path, flags: i32) -> Result<Db<'l>> {
    let db = library
        .open(path, flags)
        .with_context(|| format!("cannot open {}", path.display()))?;
    db.busy_timeout(10_000);
    Ok(db)
}

/// Whether it is a results file that this version understands, and whole.
fn check(db: &Db<'_>) -> Result<()> {
    let application = number(db, "PRAGMA application_id").map_err(|e| unreadable(&e))?;
    if application != APPLICATION {
        bail!("this is no results file of hpsqlite bench");
    }
    match number(db, "PRAGMA user_version")? {
        VERSION => {}
        newer if newer > VERSION => bail!(
            "the results file has format {newer}, and this hpsqlite knows up to {VERSION}: a newer hpsqlite reads it"
        ),
        other => bail!("the results file has format {other}, which this hpsqlite does not know"),
    }
    let mut first = String::new();
    rows(db, "PRAGMA quick_check(1)", |row| {
        first = row.text(0);
        Ok(())
    })
    .map_err(|e| unreadable(&e))?;
    if first != "ok" {
        bail!(
            "the results file is damaged or was cut off: {}",
            first.lines().last().unwrap_or("")
        );
    }
    Ok(())
}

/// What an error of the first look into a file means.
fn unreadable(e: &anyhow::Error) -> anyhow::Error {
    const CORRUPT: i32 = 11;
    const NO_DATABASE: i32 = 26;
    match e.downcast_ref::<SqlError>().map(|e| e.code & 0xff) {
        Some(CORRUPT) => anyhow!("the results file is damaged or was cut off: {e:#}"),
        Some(NO_DATABASE) => anyhow!("this is no results file of hpsqlite bench: {e:#}"),
        _ => anyhow!("cannot read the results file: {e:#}"),
    }
}

fn suite_of(db: &Db<'_>) -> Result<(Suite, String)> {
    let mut found = None;
    rows(db, "SELECT name, text, hash FROM suite", |row| {
        let suite = Suite {
            name: row.text(0),
            text: row.text(1),
        };
        found = Some((suite, row.text(2)));
        Ok(())
    })?;
    found.ok_or_else(|| anyhow!("the results file names no suite"))
}

fn read(db: &Db<'_>) -> Result<Results> {
    // One state of the file, whatever a run adds meanwhile.
    db.exec("BEGIN")?;
    let results = read_all(db);
    db.exec("COMMIT")?;
    results
}

fn read_all(db: &Db<'_>) -> Result<Results> {
    let (suite, suite_hash) = suite_of(db)?;
    let mut sessions = Vec::new();
    rows(
        db,
        "SELECT id, began, tool, environment FROM session ORDER BY id",
        |row| {
            sessions.push(Session {
                id: integer(row, 0),
                began: row.text(1),
                tool: row.text(2),
                environment: json(&row.text(3))?,
            });
            Ok(())
        },
    )?;
    let mut points = BTreeMap::new();
    rows(db, "SELECT id, axes, asked FROM point", |row| {
        let id = integer(row, 0);
        let point = Point {
            id,
            axes: json(&row.text(1))?,
            asked: json(&row.text(2))?,
            effective: None,
            samples: Vec::new(),
            problems: Vec::new(),
        };
        points.insert(id, point);
        Ok(())
    })?;
    rows(
        db,
        "SELECT point, version, settings, durability FROM effective",
        |row| {
            let effective = Effective {
                version: row.text(1),
                settings: json(&row.text(2))?,
                durability: row.text(3),
            };
            if let Some(point) = points.get_mut(&integer(row, 0)) {
                point.effective = Some(effective);
            }
            Ok(())
        },
    )?;
    let counted = "SELECT count(*) FROM sqlite_schema WHERE name='allocation'";
    let (counted, from) = match number(db, counted)? {
        0 => ("0, 0", ""),
        _ => (
            "allocations, allocated",
            "LEFT JOIN allocation USING(point, trial, step)",
        ),
    };
    let samples = format!(
        "SELECT point, trial, step, seconds, user, system, operations, asked, beside, retries, bytes, peak_memory, device_read, \
         device_written, space, answer, percentiles, session, at, load, {counted} FROM sample {from} \
         ORDER BY trial, sample.rowid"
    );
    rows(db, &samples, |row| {
        let count = |i| integer(row, i).max(0) as u64;
        let sample = Sample {
            step: row.text(2),
            seconds: real(row, 3),
            user: real(row, 4),
            system: real(row, 5),
            operations: count(6),
            asked: count(7),
            beside: count(8),
            retries: count(9),
            allocations: count(20),
            allocated: count(21),
            bytes: count(10),
            peak_memory: count(11),
            device_read: count(12),
            device_written: count(13),
            space: count(14),
            answer: row.text(15),
            percentiles: json(&row.text(16))?,
        };
        if let Some(point) = points.get_mut(&integer(row, 0)) {
            point.samples.push(Recorded {
                trial: integer(row, 1) as u32,
                sample,
                session: integer(row, 17),
                at: row.text(18),
                load: real(row, 19),
            });
        }
        Ok(())
    })?;
    rows(
        db,
        "SELECT point, trial, kind, reason FROM problem ORDER BY point, trial",
        |row| {
            let problem = Problem {
                trial: integer(row, 1) as u32,
                kind: match row.text(2).as_str() {
                    "unavailable" => Kind::Unavailable,
                    _ => Kind::Failed,
                },
                reason: row.text(3),
            };
            if let Some(point) = points.get_mut(&integer(row, 0)) {
                point.problems.push(problem);
            }
            Ok(())
        },
    )?;
    let mut warnings = Vec::new();
    rows(db, "SELECT text FROM warning ORDER BY rowid", |row| {
        warnings.push(row.text(0));
        Ok(())
    })?;
    Ok(Results {
        suite,
        suite_hash,
        sessions,
        points: points.into_values().collect(),
        warnings,
    })
}

fn json<T: for<'a> Deserialize<'a>>(s: &str) -> Result<T> {
    serde_json::from_str(s).with_context(|| format!("the results file holds '{s}'"))
}

fn bound<'d>(db: &'d Db<'_>, sql: &str, values: &'d [Bound<'d>]) -> Result<Stmt<'d>> {
    let mut statement = db
        .prepare(sql)?
        .ok_or_else(|| anyhow!("an empty statement"))?;
    for (i, value) in (1..).zip(values) {
        match value {
            Bound::Integer(n) => statement.bind_int(i, *n)?,
            Bound::Real(r) => statement.bind_real(i, *r)?,
            // SAFETY: the statement lives no longer than `values`, which is borrowed as long.
            Bound::Text(s) => unsafe { statement.bind_text_static(i, s)? },
        }
    }
    Ok(statement)
}

fn write(db: &Db<'_>, sql: &str, values: &[Bound<'_>]) -> Result<()> {
    let mut statement = bound(db, sql, values)?;
    while statement.step()? {}
    Ok(())
}

fn rows(db: &Db<'_>, sql: &str, mut each: impl FnMut(&Stmt<'_>) -> Result<()>) -> Result<()> {
    let mut statement = bound(db, sql, &[])?;
    while statement.step()? {
        each(&statement)?;
    }
    Ok(())
}

fn number(db: &Db<'_>, sql: &str) -> Result<i64> {
    let mut statement = bound(db, sql, &[])?;
    match statement.step()? {
        true => Ok(integer(&statement, 0)),
        false => Ok(0),
    }
}

fn integer(row: &Stmt<'_>, i: i32) -> i64 {
    match row.value(i) {
        Value::Integer(n) => n,
        _ => 0,
    }
}

fn real(row: &Stmt<'_>, i: i32) -> f64 {
    match row.value(i) {
        Value::Real(r) => r,
        Value::Integer(n) => n as f64,
        // A value that is no number is stored as NULL.
        _ => f64::NAN,
    }
}

fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%d %H:%M:%S UTC")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::{effective, library, sample, suite, values};

    /// A store in a folder of its own.
    fn filled(library: &Library, path: &Path) {
        let store = Store::open(library, path, &suite("a = 1"), &Environment::this(path)).unwrap();
        let point = store
            .point(&values(&[("engine", "stock")]), &Values::new())
            .unwrap();
        store.record(point, 0, &effective("SQLite")).unwrap();
        for trial in 0..200 {
            store.record(point, trial, &sample("read", 0.5)).unwrap();
            store.finish(point, trial).unwrap();
        }
    }

    fn error<T>(result: Result<T>) -> String {
        match result {
            Ok(_) => panic!("no error"),
            Err(e) => format!("{e:#}"),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let environment = Environment::this(folder.path());
        let store = Store::open(&library, &path, &suite("a = 1"), &environment).unwrap();
        let axes = values(&[("threads", "8"), ("engine", "ours")]);
        let point = store
            .point(&axes, &values(&[("cache_size", "-2000")]))
            .unwrap();
        let Line::Sample(mut written) = sample("fill", 1.25) else {
            unreachable!()
        };
        written.device_written = 77;
        written.beside = 5;
        written.asked = 7;
        written.retries = 6;
        store.record(point, 3, &effective("SQLite 3.54.1")).unwrap();
        store
            .record(point, 3, &Line::Sample(written.clone()))
            .unwrap();
        store.record(point, 3, &Line::Progress(0.5)).unwrap();
        store.warn("noisy").unwrap();
        store.warn("noisy").unwrap();
        drop(store);

        let results = Results::read(&library, &path).unwrap();
        assert_eq!(results.suite, suite("a = 1"));
        assert_eq!(results.sessions[0].environment, environment);
        assert!(environment.memory > 0 && environment.processors > 0);
        let read = &results.points[0];
        assert_eq!((&read.axes, read.samples[0].trial), (&axes, 3));
        assert_eq!(read.samples[0].sample, written);
        assert_eq!(read.asked["cache_size"], "-2000");
        assert_eq!(read.effective.as_ref().unwrap().version, "SQLite 3.54.1");
        assert_eq!(results.warnings, ["noisy"]);
    }

    #[test]
    fn a_run_goes_on_where_it_was() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let open =
            || Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
        let store = open();
        let (a, b) = (values(&[("engine", "a")]), values(&[("engine", "b")]));
        let first = store.point(&a, &Values::new()).unwrap();
        store.record(first, 0, &sample("fill", 1.0)).unwrap();
        store.record(first, 0, &sample("read", 1.0)).unwrap();
        store.finish(first, 0).unwrap();
        let second = store.point(&b, &Values::new()).unwrap();
        store.record(second, 0, &sample("fill", 1.0)).unwrap();
        store
            .record(second, 1, &Line::Unavailable("not installed".to_owned()))
            .unwrap();
        drop(store);

        let mut store = open();
        assert_eq!(store.point(&b, &Values::new()).unwrap(), second);
        assert_eq!(store.point(&a, &Values::new()).unwrap(), first);
        let points = [&a, &b].map(|axes| (axes, Values::new()));
        store.prepare(points.into_iter()).unwrap();
        assert_eq!(store.finished().unwrap(), BTreeSet::from([(first, 0)]));
        assert!(store.is_done(0, 0) && !store.is_done(0, 1) && !store.is_done(1, 0));
        let mut samples = Vec::new();
        let mut each = |point, sample: &Sample| samples.push((point, sample.step.clone()));
        store.samples(&mut each).unwrap();
        assert_eq!(samples.len(), 3);
        assert_eq!(store.results().unwrap().points[1].problems.len(), 1);
        // The half trial is measured again.
        store.record(second, 0, &sample("fill", 2.0)).unwrap();
        store.finish(second, 0).unwrap();
        let results = store.results().unwrap();
        assert_eq!(results.sessions.len(), 2);
        assert_eq!(results.points[1].samples.len(), 1);
        assert_eq!(results.points[1].samples[0].sample.seconds, 2.0);
        assert_eq!(results.points[1].problems, []);
    }

    #[test]
    fn results_of_another_build_are_not_mixed() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let axes = ["stock", "ours", "lmdb"].map(|e| values(&[("engine", e)]));
        let open = |stock: &str, ours: &str| {
            let environment = Environment::default();
            let mut store = Store::open(&library, &path, &suite("a = 1"), &environment)?;
            let points = axes.iter().map(|axes| (axes, Values::new()));
            store.prepare(points)?;
            let builds = [("stock", stock), ("ours", ours)].map(|build| values(&[build]));
            store.built(&[&builds[..], &[Values::new()]].concat())?;
            anyhow::Ok(store)
        };
        let is = |version: &str| {
            Line::Ready(Effective {
                version: version.to_owned(),
                ..Effective::default()
            })
        };
        let mut store = open("aa", "bb").unwrap();
        store.line(0, 1, &sample("fill", 1.0)).unwrap();
        store.line(2, 1, &is("LMDB 0.9.31")).unwrap();
        store.line(2, 1, &sample("fill", 1.0)).unwrap();
        drop(store);
        // Of ours there is no sample yet.
        let mut store = open("aa", "cc").unwrap();
        store.line(1, 1, &sample("fill", 1.0)).unwrap();
        drop(store);
        let e = error(open("aa", "dd"));
        for part in ["r.db", "another build of ours", "cc", "dd", "--results"] {
            assert!(e.contains(part), "{e}");
        }
        let mut store = open("aa", "cc").unwrap();
        assert_eq!(store.results().unwrap().sessions.len(), 3);
        store.line(2, 2, &is("LMDB 0.9.31 (a tree)")).unwrap();
        let e = error(store.line(2, 2, &is("LMDB 0.9.32")));
        assert!(
            e.contains("LMDB 0.9.31") && e.contains("LMDB 0.9.32 now"),
            "{e}"
        );
        assert!(store.line(1, 2, &is("SQLite 3.54.1")).is_ok());
    }

    #[test]
    fn a_step_that_was_left_out_stays_so_and_has_no_samples() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let axes = ["a", "b"].map(|engine| values(&[("engine", engine)]));
        let open = || {
            let environment = Environment::default();
            let mut store = Store::open(&library, &path, &suite("a = 1"), &environment).unwrap();
            let points = axes.iter().map(|axes| (axes, Values::new()));
            store.prepare(points).unwrap();
            store
        };
        let mut store = open();
        for (point, step) in [(0, "slow"), (1, "slow"), (1, "quick")] {
            store.line(point, 1, &sample(step, 1.0)).unwrap();
        }
        let late = Line::LeftOut {
            step: "slow".to_owned(),
            why: "it takes more than 1 s".to_owned(),
        };
        store.line(1, 2, &late).unwrap();
        drop(store);
        let store = open();
        let left_out = BTreeSet::from([(1, "slow".to_owned())]);
        assert_eq!(store.left_out().unwrap(), left_out);
        let results = store.results().unwrap();
        let steps = |p: usize| -> Vec<&str> {
            let samples = results.points[p].samples.iter();
            samples.map(|s| s.sample.step.as_str()).collect()
        };
        assert_eq!((steps(0), steps(1)), (vec!["slow"], vec!["quick"]));
        assert_eq!(results.warnings, ["it takes more than 1 s"]);
    }

    #[test]
    fn a_run_that_is_killed_loses_no_sample() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let (path, copy) = (folder.path().join("r.db"), folder.path().join("killed.db"));
        let store = Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
        let point = store.point(&Values::new(), &Values::new()).unwrap();
        for trial in 0..20 {
            store.record(point, trial, &sample("read", 1.0)).unwrap();
        }
        // What a process that is killed just now leaves behind.
        for end in ["", "-wal"] {
            let name = |p: &Path| PathBuf::from(format!("{}{end}", p.display()));
            std::fs::copy(name(&path), name(&copy)).unwrap();
        }
        let left = Results::read(&library, &copy).unwrap();
        assert_eq!(left.points[0].samples.len(), 20);
    }

    #[test]
    fn only_one_run_writes() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let open = || Store::open(&library, &path, &suite("a = 1"), &Environment::default());
        let first = open().unwrap();
        assert!(error(open()).ends_with("another run is writing into it"));
        assert!(
            Results::read(&library, &path).is_ok(),
            "reports may be made meanwhile"
        );
        drop(first);
        assert!(open().is_ok());
    }

    #[test]
    fn a_closed_file_is_one_ordinary_file() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        filled(&library, &folder.path().join("r.db"));
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn results_of_another_suite_are_not_mixed() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        filled(&library, &path);
        let other = Suite {
            name: "writes".to_owned(),
            text: "b = 2".to_owned(),
        };
        let e = error(Store::open(
            &library,
            &path,
            &other,
            &Environment::default(),
        ));
        assert!(
            e.contains("'look-ups'") && e.contains("'writes'") && e.contains("r.db"),
            "{e}"
        );
    }

    #[test]
    fn a_file_that_is_cut_off_or_no_results_gives_a_clear_error() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let both = || {
            let written = Store::open(&library, &path, &suite("a = 1"), &Environment::default());
            [error(written), error(Results::read(&library, &path))]
        };
        let missing = error(Results::read(&library, &path));
        assert!(
            missing.starts_with("cannot read") && missing.contains("r.db"),
            "{missing}"
        );

        filled(&library, &path);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        for e in both() {
            assert!(
                e.contains("r.db") && e.contains("damaged or was cut off"),
                "{e}"
            );
        }
        std::fs::write(
            &path,
            "no database at all, but long enough for a header".repeat(20),
        )
        .unwrap();
        for e in both() {
            assert!(e.contains("r.db") && e.contains("no results file"), "{e}");
        }
        std::fs::remove_file(&path).unwrap();
        let db = library.open(&path, OPEN_READWRITE | OPEN_CREATE).unwrap();
        db.exec("CREATE TABLE t(x)").unwrap();
        drop(db);
        for e in both() {
            assert!(e.contains("no results file"), "{e}");
        }
        std::fs::write(&path, "").unwrap();
        assert!(error(Results::read(&library, &path)).contains("no results file"));
    }

    #[test]
    fn allocations_are_kept_and_the_first_files_have_none() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        let counted = |n| match sample("read", 0.5) {
            Line::Sample(s) => Line::Sample(Sample {
                allocations: n,
                allocated: 10 * n,
                ..s
            }),
            other => other,
        };
        {
            let store =
                Store::open(&library, &path, &suite("a = 1"), &Environment::default()).unwrap();
            let axes = values(&[("engine", "mattn")]);
            let point = store.point(&axes, &Values::new()).unwrap();
            for n in [7, 5] {
                store.record(point, 1, &counted(n)).unwrap();
            }
        }
        let found = || {
            let points = Results::read(&library, &path).unwrap().points;
            let sample = &points[0].samples[0].sample;
            (
                points[0].samples.len(),
                sample.allocations,
                sample.allocated,
            )
        };
        assert_eq!(found(), (1, 5, 50));
        let db = library.open(&path, OPEN_READWRITE).unwrap();
        db.exec("DROP TABLE allocation").unwrap();
        drop(db);
        assert_eq!(found(), (1, 0, 0));
    }

    #[test]
    fn a_file_of_a_newer_version_is_named_as_such() {
        let (folder, library) = (tempfile::tempdir().unwrap(), library());
        let path = folder.path().join("r.db");
        filled(&library, &path);
        let db = library.open(&path, OPEN_READWRITE).unwrap();
        db.exec("PRAGMA user_version=99").unwrap();
        drop(db);
        let e = error(Results::read(&library, &path));
        assert!(e.contains("format 99") && e.contains("newer"), "{e}");
    }
}
