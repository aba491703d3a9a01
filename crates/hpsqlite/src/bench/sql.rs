//! Jobs of statements on a database, on one SQLite library.
//!
//! | option | meaning |
//! |---|---|
//! | `database` | the file; the runner has made it |
//! | `sql` | the statement of a step |
//! | `pragma.NAME` | set before the first step, and read back |
//! | `write` | `on`: statements may write. Each step then works on a copy of the database |
//! | `analyze` | `on`: the database has statistics, see [`super::dataset`] |
//! | `repeat` | runs a sample; by default as many as take [`SAMPLE_SECONDS`] |
//! | `threads` | so many threads run the statement, each on a connection of its own |
//! | `limit` | seconds that a statement may take; then it is left out, which is said |
//!
//! A sample is the time from preparing a statement to its last row, every value read and hashed
//! (`compare`'s clock); with several threads, the time from the first one's beginning to the last
//! one's end. Before it the statement runs once without being timed, for the answer that is
//! compared; if it is to be cold, that comes afterwards.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::answer::{Answer, Reading, Way};
use super::connection;
use super::meter::Meter;
use super::model::{Job, Line, Sample, Step, Values};
use super::suite::ENGINE;
use crate::compare::{cache, protocol, worker};
use crate::sys::{Db, Library, OPEN_READONLY, OPEN_READWRITE, SqlError};
use crate::{interrupt, usage};

/// Shorter runs are repeated within a sample: the clock and waking up would be most of it.
const SAMPLE_SECONDS: f64 = 0.005;
/// So quick a statement runs once more before its repetitions are chosen.
const QUICK: f64 = 0.1;
const MAX_REPEAT: f64 = 100_000.0;
/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;
/// SQLITE_INTERRUPT.
const INTERRUPTED: i32 = 9;

/// Does the steps of a job, telling each line to `say`.
pub fn run(job: &Job, say: &mut dyn FnMut(Line) -> Result<()>) -> Result<()> {
    let path = job
        .library
        .as_ref()
        .with_context(|| format!("{} is no SQLite library", job.engine))?;
    let library = Library::load(path)?;
    let database = PathBuf::from(option(job, None, "database").context("there is no database")?);
    let writes = on(job, "write")?;
    let mut place = Place {
        library: &library,
        file: database.clone(),
        flags: match writes {
            true => OPEN_READWRITE,
            false => OPEN_READONLY,
        },
        pragmas: connection::pragmas(&job.options),
    };
    let mut first = true;
    for step in &job.steps {
        interrupt::check()?;
        if writes {
            place.file = copied(&database, &job.folder)?;
        }
        let db = place.open()?;
        if first {
            say(Line::Ready(connection::effective(
                &library,
                &db,
                &place.pragmas,
            )?))?;
            first = false;
        }
        match measure(job, step, &place, &db) {
            Ok(_) if step.unmeasured => {}
            Ok(sample) => say(Line::Sample(sample))?,
            Err(Stopped::TooLong) => say(left_out(job, step))?,
            Err(Stopped::Failed(e)) => {
                return Err(e).with_context(|| format!("step {}", step.name));
            }
        }
    }
    Ok(())
}

/// What is said of a statement that took longer than `limit`.
pub fn left_out(job: &Job, step: &Step) -> Line {
    let limit = option(job, Some(step), "limit").unwrap_or_default();
    Line::LeftOut {
        step: step.name.clone(),
        why: format!(
            "{} takes more than {limit} s, so it is left out of the results of {}.",
            step.name,
            name(job)
        ),
    }
}

/// The name of the engine in the suite.
fn name(job: &Job) -> &str {
    job.options
        .get(ENGINE)
        .map_or(job.engine.as_str(), String::as_str)
}

/// How long a statement may take.
pub fn limit(job: &Job, step: &Step) -> Result<Option<Duration>> {
    let Some(limit) = option(job, Some(step), "limit") else {
        return Ok(None);
    };
    let seconds = limit.parse().ok().filter(|s| *s > 0.0);
    let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
    limit.map(Some).with_context(|| {
        format!(
            "limit={:?}: it is a number of seconds",
            option(job, Some(step), "limit")
        )
    })
}

/// Whether an option is `on`; one that is not there is off.
pub fn on(job: &Job, name: &str) -> Result<bool> {
    match option(job, None, name) {
        None | Some("off") => Ok(false),
        Some("on") => Ok(true),
        Some(other) => bail!("{name}={other}: it is on or off"),
    }
}

/// An option that is a number from 1 on.
pub fn number(job: &Job, step: Option<&Step>, name: &str) -> Result<Option<u64>> {
    let Some(text) = option(job, step, name) else {
        return Ok(None);
    };
    let n = text.parse().ok().filter(|n| *n > 0);
    n.map(Some)
        .with_context(|| format!("{name}={text}: it is a number from 1 on"))
}

/// How often a statement that takes so long is run for a sample.
pub fn repetitions(job: &Job, step: &Step, seconds: f64) -> Result<u64> {
    Ok(match number(job, Some(step), "repeat")? {
        Some(n) => n,
        None if on(job, "write")? => 1,
        None => (SAMPLE_SECONDS / seconds.max(1e-9))
            .ceil()
            .clamp(1.0, MAX_REPEAT) as u64,
    })
}

/// An option of the step, or else of the job.
pub fn option<'j>(job: &'j Job, step: Option<&'j Step>, name: &str) -> Option<&'j str> {
    step.and_then(|s| s.options.get(name))
        .or_else(|| job.options.get(name))
        .map(String::as_str)
}

fn copied(database: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join("copy.db");
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = copy.clone().into_os_string();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(e).with_context(|| format!("cannot remove {}", name.display()));
            }
            _ => {}
        }
    }
    std::fs::copy(database, &copy)
        .with_context(|| format!("cannot copy {} to {}", database.display(), copy.display()))?;
    Ok(copy)
}

/// A statement of a step and how it is to be run.
struct Question<'j> {
    sql: &'j str,
    limit: Option<Duration>,
    way: Way,
}

/// Why a statement gave no answer.
enum Stopped {
    TooLong,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Stopped {
    fn from(e: anyhow::Error) -> Stopped {
        Stopped::Failed(e)
    }
}

impl Question<'_> {
    /// Does something with the connection, and interrupts that at the limit.
    fn within_limit<T>(&self, db: &Db<'_>, work: impl FnOnce() -> T) -> T {
        let Some(limit) = self.limit else {
            return work();
        };
        let interrupter = db.interrupter();
        std::thread::scope(|scope| {
            let (done, waiting) = mpsc::channel::<()>();
            scope.spawn(move || {
                // The sender goes when the work is done.
                if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    interrupter.interrupt();
                }
            });
            let result = work();
            drop(done);
            result
        })
    }

    fn stopped(&self, code: i32, message: &str) -> Stopped {
        match self.limit {
            Some(_) if code & 0xff == INTERRUPTED => Stopped::TooLong,
            _ => Stopped::Failed(anyhow!("{message}")),
        }
    }

    /// One timed run.
    fn run(&self, db: &Db<'_>) -> Result<(protocol::Sample, protocol::Outcome), Stopped> {
        interrupt::check().map_err(anyhow::Error::from)?;
        let (sample, outcome) = self.within_limit(db, || worker::once(db, self.sql));
        match &outcome.error {
            Some(e) => Err(self.stopped(e.code, &e.message)),
            None => Ok((sample, outcome)),
        }
    }

    /// Runs it without a clock, for all that an answer is compared by.
    fn answer(&self, db: &Db<'_>) -> Result<Answer, Stopped> {
        interrupt::check().map_err(anyhow::Error::from)?;
        let read = || -> Result<Answer, SqlError> {
            let Some(mut stmt) = db.prepare(self.sql)? else {
                return Ok(Reading::of(self.way, 0).end());
            };
            let columns = stmt.columns();
            let mut reading = Reading::of(self.way, columns);
            while stmt.step()? {
                reading.row(&stmt, columns);
            }
            Ok(reading.end())
        };
        self.within_limit(db, read)
            .map_err(|e| self.stopped(e.code, &e.message))
    }
}

/// Times and the outcome of several runs of a statement.
struct Runs {
    total: protocol::Sample,
    outcome: protocol::Outcome,
}

fn repeated(
    question: &Question<'_>,
    db: &Db<'_>,
    repeat: u64,
    writes: bool,
) -> Result<Runs, Stopped> {
    let mut total = protocol::Sample::default();
    let mut first = None;
    for _ in 0..repeat {
        let (sample, outcome) = question.run(db)?;
        total.seconds += sample.seconds;
        total.user += sample.user;
        total.system += sample.system;
        match &first {
            Some(first) if *first != outcome && !writes => {
                Err(anyhow!(
                    "the statement gave another answer when it ran again"
                ))?;
            }
            Some(_) => {}
            None => first = Some(outcome),
        }
    }
    let outcome = first.ok_or_else(|| anyhow!("repeat is at least 1"))?;
    Ok(Runs { total, outcome })
}

/// Measures a step on an open connection.
fn measure(job: &Job, step: &Step, place: &Place<'_>, db: &Db<'_>) -> Result<Sample, Stopped> {
    let writes = on(job, "write")?;
    let question = Question {
        sql: option(job, Some(step), "sql").context("there is no sql")?,
        limit: limit(job, step)?,
        way: match on(job, "analyze")? {
            true => Way::Analyzed,
            false => Way::Plain,
        },
    };
    let mut repeat = 1;
    let mut answer = None;
    if step.cold {
        cache::drop_files(&[&place.file])?;
        db.exec("PRAGMA shrink_memory")
            .map_err(|e| anyhow!("{e}"))?;
    } else {
        let start = Instant::now();
        answer = Some(question.answer(db)?);
        let mut seconds = start.elapsed().as_secs_f64();
        if seconds < QUICK && !writes {
            // The first run is slower than the next ones.
            seconds = question.run(db)?.0.seconds;
        }
        repeat = repetitions(job, step, seconds)?;
    }
    let threads = number(job, Some(step), "threads")?.unwrap_or(1);
    let meter = Meter::start();
    let runs = match threads {
        1 => repeated(&question, db, repeat, writes)?,
        _ => in_threads(&question, place, threads, repeat, writes)?,
    };
    let mut sample = meter.stop();
    let answer = match answer {
        Some(answer) => answer,
        None => question.answer(db)?,
    };
    if !writes && (answer.rows, &answer.ordered) != (runs.outcome.rows, &runs.outcome.hash) {
        Err(anyhow!(
            "the statement gave another answer when it ran again"
        ))?;
    }
    sample.step.clone_from(&step.name);
    sample.seconds = runs.total.seconds;
    sample.user = runs.total.user;
    sample.system = runs.total.system;
    sample.operations = repeat * threads;
    sample.answer = answer.text();
    sample.space = std::fs::metadata(&place.file)
        .with_context(|| format!("cannot read {}", place.file.display()))?
        .len();
    Ok(sample)
}

/// Where the threads of a step open their connections.
struct Place<'l> {
    library: &'l Library,
    file: PathBuf,
    flags: i32,
    pragmas: Values,
}

impl Place<'_> {
    fn open(&self) -> Result<Db<'_>> {
        connection::open(self.library, &self.file, self.flags, BUSY_MS, &self.pragmas)
    }
}

/// The same statement by several threads, each on a connection of its own. The time is that from
/// the first one's beginning to the last one's end.
fn in_threads(
    question: &Question<'_>,
    place: &Place<'_>,
    threads: u64,
    repeat: u64,
    writes: bool,
) -> Result<Runs, Stopped> {
    let threads = usize::try_from(threads).map_err(anyhow::Error::from)?;
    let barrier = Barrier::new(threads);
    let before = usage::process_time();
    let parts: Vec<Result<(Instant, Instant, Runs), Stopped>> = std::thread::scope(|scope| {
        let one = || {
            let db = place.open();
            // All wait for all, also for one that has no connection.
            barrier.wait();
            let db = db?;
            let start = Instant::now();
            let runs = repeated(question, &db, repeat, writes)?;
            Ok((start, Instant::now(), runs))
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter()
            .map(|t| {
                t.join()
                    .unwrap_or_else(|_| Err(anyhow!("a thread panicked").into()))
            })
            .collect()
    });
    let after = usage::process_time();
    let mut all: Option<(Instant, Instant, Runs)> = None;
    for part in parts {
        let (start, end, runs) = part?;
        all = Some(match all {
            None => (start, end, runs),
            Some((_, _, first)) if first.outcome != runs.outcome && !writes => {
                return Err(anyhow!("a thread got another answer than another one").into());
            }
            Some((s, e, first)) => (s.min(start), e.max(end), first),
        });
    }
    let (start, end, mut runs) = all.context("there are no threads")?;
    runs.total = protocol::Sample {
        seconds: (end - start).as_secs_f64(),
        user: after.0 - before.0,
        system: after.1 - before.1,
    };
    Ok(runs)
}
