//! `hpsqlite compare`: the same statements on two SQLite libraries in turn.
//!
//! Each library lives in a worker process of its own ([`worker`], reached
//! through a [`session`]). A statement first runs once on each side and the
//! answers are compared; then rounds of A, B, A, B follow, every one of which
//! must give that answer again. All that is found out goes into a
//! [`report::Report`], from which the table, the JSON file and the page are made.

pub mod cache;
pub mod command;
pub mod protocol;
pub mod report;
pub mod script;
mod session;
pub mod stats;
pub mod worker;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::interrupt;
use protocol::{
    Outcome, PreparedStatement, ROWS_A_CHUNK, Ran, ReportedError, Request, ResultColumn,
    WorkerReply,
};
use report::{CacheState, CompareReport, Database, Difference, Machine, Side, Statement};
use script::{Script, SqlText, StatementKind};
use session::{WorkerSession, out_of_turn};

/// Fewer rounds say nothing about the spread.
pub const MIN_RUNS: u32 = 5;
/// Where no number of rounds is asked for: quick statements get more of them, ...
const MAX_RUNS: f64 = 25.0;
/// ... as many as fit into this time.
const SECONDS_A_STATEMENT: f64 = 3.0;
/// A run shorter than this is repeated within its sample: the clock, the caches left by the
/// other process and the wake-up of this one would be most of it.
const MIN_SAMPLE_SECONDS: f64 = 0.002;
const MAX_REPEAT: f64 = 10_000.0;
/// A side whose answers seem to vary is asked so often whether they do.
const STEADY_RUNS: usize = 3;
/// A run shorter than this gets new processes every round: where code and data happen to lie in
/// memory makes one process some per cent quicker than the next, for as long as it lives.
const FRESH_SECONDS: f64 = 0.1;

/// A library and the settings it gets.
pub struct SideOptions {
    pub label: String,
    pub library: PathBuf,
    pub pragmas: Vec<String>,
}

/// What to compare and how.
pub struct CompareOptions {
    pub database: PathBuf,
    /// The side it is compared with, and the side of which the speed-up is told.
    pub sides: [SideOptions; 2],
    /// Work on a copy, so that statements may write.
    pub scratch: bool,
    /// Make the OS forget the database before each run.
    pub cold: bool,
    /// Rounds a statement; by default as many as fit into some seconds.
    pub runs: Option<u32>,
    /// Runs of each side before the first one that counts.
    pub warmup: u32,
}

/// Runs all statements of the scripts on both sides.
pub fn compare(options: &CompareOptions, scripts: &[Script]) -> Result<CompareReport> {
    let database = find_database(&options.database)?;
    let before = Stamp::of(&database);
    let side_files = ["-wal", "-shm"].map(|suffix| side_file(&database, suffix));
    let alone = !side_files.iter().any(|f| f.exists());

    let mut result = compare_files(options, &database, scripts);
    let changed = Stamp::of(&database) != before;
    if alone && !changed && side_files.iter().any(|f| f.exists()) {
        tidy(&options.sides[0].library, &database);
    }
    if changed && result.as_ref().is_ok_and(|r| r.status() != report::SAME) {
        result = Err(anyhow!(
            "{} was changed by another program meanwhile, so the answers cannot be compared",
            options.database.display()
        ));
    }
    result
}

fn compare_files(
    options: &CompareOptions,
    database: &Path,
    scripts: &[Script],
) -> Result<CompareReport> {
    let [a, b] = &options.sides;
    let mut sessions = [
        WorkerSession::start(&a.label, &a.library)?,
        WorkerSession::start(&b.label, &b.library)?,
    ];
    let scratch = match options.scratch {
        true => Some(Scratch::copy(&mut sessions[0], database)?),
        false => None,
    };
    let mut sides = Vec::new();
    for (i, (session, side)) in sessions.iter_mut().zip(&options.sides).enumerate() {
        let file = scratch.as_ref().map_or(database, |s| &s.files[i]);
        let opened = session
            .open(file, options.scratch, &side.pragmas)
            .with_context(|| options.database.display().to_string())?;
        sides.push(Side {
            label: side.label.clone(),
            opened,
        });
    }

    let queries = split(&mut sessions[0], scripts)?;
    let mut run = CompareRun {
        options,
        sessions,
        files: match &scratch {
            Some(s) => s.files.clone(),
            None => [database.to_owned(), database.to_owned()],
        },
        stateful: false,
        bar: progress_bar(),
    };
    if !options.scratch {
        run.check_all(&queries)?;
    }
    let mut statements = Vec::new();
    for (i, sql) in queries.iter().enumerate() {
        run.bar
            .set_prefix(format!("{} of {}", i + 1, queries.len()));
        statements.push(run.statement(i + 1, sql)?);
    }
    drop(run);

    Ok(CompareReport {
        hpsqlite: env!("CARGO_PKG_VERSION").to_owned(),
        when: jiff::Timestamp::now()
            .round(jiff::Unit::Second)
            .map_or_else(|_| String::new(), |t| t.to_string()),
        machine: Machine::this(),
        database: Database {
            path: options.database.display().to_string(),
            bytes: std::fs::metadata(database)?.len(),
            page_size: sides[0].opened.page_size,
            journal_mode: sides[0].opened.journal_mode.clone(),
            encoding: sides[0].opened.encoding.clone(),
            scratch: options.scratch,
        },
        cache: if options.cold {
            CacheState::Cold
        } else {
            CacheState::Warm
        },
        sides,
        statements,
    })
}

/// The file with its full path, or why it is none.
fn find_database(path: &Path) -> Result<PathBuf> {
    let full = path.canonicalize().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => anyhow!("no such file: {}", path.display()),
        _ => anyhow!("{}: {e}", path.display()),
    })?;
    if full.is_dir() {
        bail!("{} is a folder, not a database", path.display());
    }
    std::fs::File::open(&full).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(full)
}

fn side_file(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What tells that a database was written to.
#[derive(PartialEq)]
struct Stamp {
    file: Option<(u64, SystemTime)>,
    /// An empty log is as good as none: even a reader makes one.
    log: Option<(u64, SystemTime)>,
}

impl Stamp {
    fn of(database: &Path) -> Stamp {
        let stamp = |path: &Path| {
            let meta = std::fs::metadata(path).ok()?;
            Some((meta.len(), meta.modified().ok()?))
        };
        Stamp {
            file: stamp(database),
            log: stamp(&side_file(database, "-wal")).filter(|s| s.0 > 0),
        }
    }
}

/// Removes the empty log that reading a database in WAL mode leaves, by SQLite's own means.
fn tidy(library: &Path, database: &Path) {
    // A database that may only be read keeps it: that is no failure of the comparison.
    let _ = WorkerSession::start_anyway("tidy", library).and_then(|mut session| {
        session.ask(&Request::Tidy {
            database: database.to_owned(),
        })
    });
}

/// Two copies of the database in a temporary folder, removed when dropped.
struct Scratch {
    files: [PathBuf; 2],
    _folder: tempfile::TempDir,
}

impl Scratch {
    fn copy(session: &mut WorkerSession, database: &Path) -> Result<Scratch> {
        let folder = tempfile::Builder::new().prefix("hpsqlite-").tempdir()?;
        let files = ["a.db", "b.db"].map(|name| folder.path().join(name));
        let bar = crate::output::progress(0)
            .with_finish(ProgressFinish::AndClear)
            .with_style(
                ProgressStyle::with_template("copying {wide_bar} {percent:>3} %  {eta} left")
                    .expect("a valid template"),
            );
        for (i, file) in files.iter().enumerate() {
            session.copy(database, file, |done, all| {
                bar.set_length(2 * all);
                bar.set_position(done + i as u64 * all);
            })?;
        }
        Ok(Scratch {
            files,
            _folder: folder,
        })
    }
}

/// Cuts the scripts into statements.
fn split(session: &mut WorkerSession, scripts: &[Script]) -> Result<Vec<SqlText>> {
    let mut all = Vec::new();
    for script in scripts {
        let reply = session.demand(&Request::Split {
            sql: script.text.clone(),
        })?;
        let WorkerReply::Pieces(pieces) = reply else {
            return Err(out_of_turn(&reply));
        };
        all.extend(pieces.into_iter().map(|piece| SqlText::new(script, piece)));
    }
    if all.is_empty() {
        bail!("there is no statement to run");
    }
    Ok(all)
}

fn progress_bar() -> ProgressBar {
    let bar = crate::output::progress(1)
        .with_finish(ProgressFinish::AndClear)
        .with_style(
            ProgressStyle::with_template("{prefix}  {wide_bar}  run {pos}/{len}  {msg}")
                .expect("a valid template"),
        );
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The work going on.
struct CompareRun<'o> {
    options: &'o CompareOptions,
    sessions: [WorkerSession; 2],
    /// The file that each side has open.
    files: [PathBuf; 2],
    /// Whether the connections hold what earlier statements did to them, so that new ones would differ.
    stateful: bool,
    bar: ProgressBar,
}

impl CompareRun<'_> {
    /// Finds wrong and writing statements before minutes are spent on those before them.
    fn check_all(&mut self, queries: &[SqlText]) -> Result<()> {
        for sql in queries {
            if sql.kind == StatementKind::Once {
                // Later statements may need what this one attaches.
                return Ok(());
            }
            self.prepare(sql)?;
        }
        Ok(())
    }

    /// An error if neither library can prepare the statement, or if it may not run.
    fn prepare(&mut self, sql: &SqlText) -> Result<()> {
        let mut errors = Vec::new();
        let mut readonly = true;
        for session in &mut self.sessions {
            match session.ask(&Request::Prepare {
                sql: sql.text.clone(),
            })? {
                WorkerReply::Prepared(PreparedStatement { readonly: r }) => readonly &= r,
                WorkerReply::Sql(e) => errors.push(e),
                other => return Err(out_of_turn(&other)),
            }
        }
        match &errors[..] {
            [a, b] if a.code == b.code && a.message == b.message => {
                bail!("{}: {}", sql.place(a.offset), a.advice())
            }
            [e, ..] if e.is_circumstance() => bail!("{}", e.advice()),
            _ => {}
        }
        if !readonly && !self.options.scratch && sql.kind != StatementKind::Once {
            bail!(
                "{}: this statement writes to the database; --scratch runs it on a copy",
                sql.place(None)
            );
        }
        Ok(())
    }

    fn statement(&mut self, number: usize, sql: &SqlText) -> Result<Statement> {
        self.prepare(sql)?;
        let writes =
            self.options.scratch && sql.kind == StatementKind::Ordinary && !self.readonly(sql)?;
        let mut result = Statement {
            number,
            title: sql.title.clone(),
            sql: sql.text.clone(),
            place: sql.place(None),
            outcome: None,
            difference: None,
            plans: Vec::new(),
            repeat: 1,
            fresh: false,
            samples: [Vec::new(), Vec::new()],
            summaries: None,
            speedup: None,
        };
        for session in &mut self.sessions {
            let reply = session.ask(&Request::Plan {
                sql: sql.text.clone(),
            })?;
            let WorkerReply::Plan(plan) = reply else {
                return Err(out_of_turn(&reply));
            };
            result.plans.push(plan);
        }

        self.bar.set_position(0);
        self.bar.set_length(1);
        self.bar.set_message("first answers");
        let undo = writes;
        self.stateful |= writes || sql.kind != StatementKind::Ordinary;
        let [a, b] = self.round(sql, 1, undo)?;
        let answers = [a.outcome, b.outcome];
        result.difference = self.difference(sql, undo, &answers)?;
        let same = result.difference.is_none();
        let mut unsteady = [false; 2];
        if (same || result.varies())
            && sql.kind != StatementKind::Once
            && answers[0].error.is_none()
        {
            let seconds = [
                self.warm_up(0, sql, undo, a.sample.seconds)?,
                self.warm_up(1, sql, undo, b.sample.seconds)?,
            ];
            if !self.options.cold && !undo && sql.kind == StatementKind::Ordinary {
                let quicker = seconds[0].min(seconds[1]).max(1e-9);
                result.repeat = (MIN_SAMPLE_SECONDS / quicker).ceil().clamp(1.0, MAX_REPEAT) as u32;
            }
            result.fresh = !self.stateful && seconds[0].max(seconds[1]) < FRESH_SECONDS;
            let round = (seconds[0] + seconds[1]) * f64::from(result.repeat);
            let runs = self.options.runs.unwrap_or_else(|| {
                (SECONDS_A_STATEMENT / round).clamp(f64::from(MIN_RUNS), MAX_RUNS) as u32
            });
            self.bar.set_length(runs.into());
            for run in 1..=runs {
                self.bar.set_position(run.into());
                for (side, answer) in answers.iter().enumerate() {
                    if result.fresh {
                        self.renew(side)?;
                        self.warm_up(side, sql, undo, 0.0)?;
                    }
                    let ran = self.run(side, sql, result.repeat, undo)?;
                    unsteady[side] |= !ran.steady || ran.outcome != *answer;
                    result.samples[side].push(ran.sample);
                }
                self.bar.set_message(result.summarise());
            }
            if same {
                result.difference = self.unsteady(unsteady);
            }
        }
        if writes {
            // Once for good, so that the statements after it find what it wrote.
            self.round(sql, 1, false)?;
        }
        if same {
            let [answer, _] = answers;
            result.outcome = Some(answer);
        }
        Ok(result)
    }

    /// Replaces the worker process of a side.
    fn renew(&mut self, side: usize) -> Result<()> {
        let options = &self.options.sides[side];
        let mut session = WorkerSession::start(&options.label, &options.library)?;
        session.open(&self.files[side], self.options.scratch, &options.pragmas)?;
        self.sessions[side] = session;
        Ok(())
    }

    fn readonly(&mut self, sql: &SqlText) -> Result<bool> {
        match self.sessions[0].ask(&Request::Prepare {
            sql: sql.text.clone(),
        })? {
            WorkerReply::Prepared(p) => Ok(p.readonly),
            _ => Ok(true),
        }
    }

    /// The runs of a side that do not count, of which the last took `seconds`; returns the
    /// seconds that a run takes after them.
    fn warm_up(&mut self, side: usize, sql: &SqlText, undo: bool, seconds: f64) -> Result<f64> {
        if self.options.cold || sql.kind == StatementKind::Plain {
            return Ok(seconds);
        }
        // The first answer was one warm-up. A quick statement needs another: the first run of a
        // connection also reads the schema.
        let quick = seconds < MIN_SAMPLE_SECONDS;
        let more = self.options.warmup.saturating_sub(1).max(quick.into());
        let mut seconds = seconds;
        for _ in 0..more {
            seconds = self.run(side, sql, 1, undo)?.sample.seconds;
        }
        Ok(seconds)
    }

    /// One run of each side.
    fn round(&mut self, sql: &SqlText, repeat: u32, undo: bool) -> Result<[Ran; 2]> {
        Ok([
            self.run(0, sql, repeat, undo)?,
            self.run(1, sql, repeat, undo)?,
        ])
    }

    fn run(&mut self, side: usize, sql: &SqlText, repeat: u32, undo: bool) -> Result<Ran> {
        interrupt::check()?;
        if self.options.cold {
            self.chill(side)?;
        }
        let reply = self.sessions[side].ask(&Request::Run {
            sql: sql.text.clone(),
            repeat,
            undo,
        })?;
        let WorkerReply::Ran(ran) = reply else {
            return Err(out_of_turn(&reply));
        };
        match &ran.outcome.error {
            Some(e) if e.is_circumstance() => {
                bail!(
                    "{}: {} ({})",
                    self.options.database.display(),
                    e.advice(),
                    self.sessions[side].label
                )
            }
            _ => Ok(ran),
        }
    }

    /// Makes the worker and the OS forget the database.
    fn chill(&mut self, side: usize) -> Result<()> {
        self.sessions[side].demand(&Request::Shrink)?;
        let file = &self.files[side];
        cache::drop_files(&[file, &side_file(file, "-wal")]).context("--cold")
    }

    /// Where two answers differ, if they do.
    fn difference(
        &mut self,
        sql: &SqlText,
        undo: bool,
        answers: &[Outcome; 2],
    ) -> Result<Option<Difference>> {
        let [a, b] = answers;
        if a == b {
            return Ok(None);
        }
        if a.columns != b.columns && a.error.is_none() && b.error.is_none() {
            return Ok(Some(Difference::Columns {
                a: a.columns.clone(),
                b: b.columns.clone(),
            }));
        }
        if sql.kind == StatementKind::Ordinary {
            let mut unsteady = [false; 2];
            let mut ends_alike = [true; 2];
            for (side, answer) in answers.iter().enumerate() {
                for _ in 0..STEADY_RUNS {
                    let again = self.run(side, sql, 1, undo)?.outcome;
                    unsteady[side] |= again != *answer;
                    ends_alike[side] &= again.rows == answer.rows && again.error == answer.error;
                }
            }
            // Where each side always has as many rows, or its error, as before, and the other one has
            // not, random() is no excuse.
            let ends_differ = ends_alike == [true; 2] && (a.rows != b.rows || a.error != b.error);
            if let Some(difference) = self.unsteady(unsteady)
                && !ends_differ
            {
                return Ok(Some(difference));
            }
            if unsteady != [false; 2] {
                return Ok(Some(Difference::Ending {
                    rows: [a.rows, b.rows],
                    a: a.error.clone(),
                    b: b.error.clone(),
                }));
            }
            if let Some(row) = self.first_different_row(sql, undo, &a.columns)? {
                return Ok(Some(row));
            }
        }
        let error = |o: &Outcome| -> Option<ReportedError> { o.error.clone() };
        Ok(Some(Difference::Ending {
            rows: [a.rows, b.rows],
            a: error(a),
            b: error(b),
        }))
    }

    /// What it is called if a side does not give the same answer as itself.
    fn unsteady(&self, unsteady: [bool; 2]) -> Option<Difference> {
        let side = match unsteady {
            [false, false] => return None,
            [true, true] => return Some(Difference::Varies),
            [true, false] => 0,
            [false, true] => 1,
        };
        Some(Difference::Unsteady {
            label: self.sessions[side].label.clone(),
        })
    }

    fn first_different_row(
        &mut self,
        sql: &SqlText,
        undo: bool,
        columns: &[ResultColumn],
    ) -> Result<Option<Difference>> {
        let mut digests = Vec::new();
        for session in &mut self.sessions {
            match session.ask(&Request::Digests {
                sql: sql.text.clone(),
                undo,
            })? {
                WorkerReply::Digests(d) => digests.push(d),
                other => return Err(out_of_turn(&other)),
            }
        }
        let (a, b) = (&digests[0], &digests[1]);
        let common = a
            .chunks
            .iter()
            .zip(&b.chunks)
            .take_while(|(a, b)| a == b)
            .count();
        let from = common as u64 * ROWS_A_CHUNK;
        let mut rows = Vec::new();
        for session in &mut self.sessions {
            match session.ask(&Request::Rows {
                sql: sql.text.clone(),
                undo,
                from,
            })? {
                WorkerReply::Rows(r) => rows.push(r),
                other => return Err(out_of_turn(&other)),
            }
        }
        let common = rows[0]
            .iter()
            .zip(&rows[1])
            .take_while(|(a, b)| a == b)
            .count();
        let (row_a, row_b) = (rows[0].get(common).cloned(), rows[1].get(common).cloned());
        if row_a.is_none() && row_b.is_none() {
            return Ok(None);
        }
        Ok(Some(Difference::Row {
            number: from + common as u64 + 1,
            columns: columns.iter().map(|c| c.name.clone()).collect(),
            reordered: a.unordered == b.unordered,
            a: row_a,
            b: row_b,
        }))
    }
}
