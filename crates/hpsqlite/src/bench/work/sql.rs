//! Jobs of statements that read a database, on one SQLite library.
//!
//! | option | meaning |
//! |---|---|
//! | `database` | the file; the runner has made it |
//! | `sql` | the statement of a step |
//! | `pragma.NAME` | set before the first step, and read back |
//! | `analyze` | `on`: the database has statistics, see [`crate::bench::dataset`] |
//! | `before` | runs before those that count; by default one or two |
//! | `repeat` | runs a sample; by default as many as take [`SAMPLE_SECONDS`] |
//! | `threads` | so many threads run the statement, each on a connection of its own |
//! | `limit` | seconds that a statement may take; then it is left out, which is said |
//!
//! A sample is the time from preparing a statement to its last row, every value read and hashed
//! (`compare`'s clock); where `threads` is given, also as 1, the time from the first one's beginning
//! to the last one's end. Unless it is to be cold, the statement runs once or twice before that, on
//! every connection. It runs once more afterwards, without limit, for the answer that is compared.
//! Statements that write would find their work done: [`super::transactions`] measures them.

use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::options::JobOptions;
use super::{DataWanted, Say, Work, caught};
use crate::bench::answer::{Answer, AnswerReading, AnswerWay};
use crate::bench::connection;
use crate::bench::dataset;
use crate::bench::meter::Meter;
use crate::bench::model::{Job, Line, Sample, Step, Values};
use crate::compare::{cache, protocol, worker};
use crate::interrupt;
use crate::kvtest::place as files;
use crate::sys::{Db, Library, OPEN_READONLY, SqlError};

/// Shorter runs are repeated within a sample: the clock and waking up would be most of it.
const SAMPLE_SECONDS: f64 = 0.005;
/// So quick a statement runs once more before its repetitions are chosen.
const QUICK: f64 = 0.1;
const MAX_REPEAT: f64 = 100_000.0;
/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;
/// SQLITE_INTERRUPT.
const INTERRUPTED: i32 = 9;

/// Statements that read a database.
pub struct SqlStatements;

impl Work for SqlStatements {
    fn options(&self) -> Vec<&'static str> {
        let own = [
            "before", "duckdb", "limit", "python", "repeat", "sql", "threads", "writes",
        ];
        [&own, &dataset::OPTIONS[..]].concat()
    }

    /// `database`, the file that the statements run on, and `cache`, the folder of data sets, for copies of
    /// the file in other formats.
    fn data(&self, wanted: &DataWanted<'_>) -> Result<Values> {
        let database = dataset::database(wanted.options, wanted.folder, wanted.cache)?;
        dataset::places(&[("database", &database), ("cache", wanted.cache.folder())])
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        run(job, say)
    }
}

/// The same on an engine that is no SQLite library, which the database is copied to.
pub struct OtherEngine {
    pub name: &'static str,
    /// Does the steps of a job, telling each line to `say`.
    pub run: fn(&Job, Say<'_>) -> Result<()>,
}

impl Work for OtherEngine {
    fn options(&self) -> Vec<&'static str> {
        SqlStatements.options()
    }

    fn has_engine(&self, engine: &str, is_sqlite: bool, _options: &Values) -> bool {
        is_sqlite || engine == self.name
    }

    fn data(&self, wanted: &DataWanted<'_>) -> Result<Values> {
        SqlStatements.data(wanted)
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        (self.run)(job, say)
    }
}

/// Does the steps of a job, telling each line to `say`.
fn run(job: &Job, say: Say<'_>) -> Result<()> {
    let path = job
        .library
        .as_ref()
        .with_context(|| format!("{} is no SQLite library", job.engine))?;
    let library = Library::load(path)?;
    let file = database(job)?;
    let place = SqlPlace {
        library: &library,
        file,
        pragmas: connection::pragmas(&job.options),
    };
    let mut first = true;
    for step in &job.steps {
        interrupt::check()?;
        let db = place.open()?;
        if first {
            say(Line::Ready(connection::effective(
                &library,
                &db,
                &place.pragmas,
            )?))?;
            first = false;
        }
        tell(job, step, measure(job, step, &place, &db), say)?;
    }
    Ok(())
}

/// The file of a job, which is only read.
pub fn database(job: &Job) -> Result<PathBuf> {
    let database = JobOptions::of(job, None).text("database");
    Ok(PathBuf::from(database.context("there is no database")?))
}

/// Says what came of a step.
pub fn tell(job: &Job, step: &Step, measured: Result<Sample, Stopped>, say: Say<'_>) -> Result<()> {
    match measured {
        Ok(_) if step.unmeasured => Ok(()),
        Ok(sample) => say(Line::Sample(sample)),
        Err(Stopped::TooLong) => say(left_out(job, step)),
        Err(Stopped::Failed(e)) => {
            let line = job.not_cold(step, e);
            say(line.with_context(|| format!("step {}", step.name))?)
        }
    }
}

/// What is said of a statement that took longer than `limit`.
fn left_out(job: &Job, step: &Step) -> Line {
    let limit = JobOptions::of(job, Some(step))
        .text("limit")
        .unwrap_or_default();
    Line::LeftOut {
        step: step.name.clone(),
        why: format!(
            "{} takes more than {limit} s, so it is left out of the results of {}.",
            step.name,
            job.name()
        ),
    }
}

/// How often a statement is run for a sample; `once` runs it and gives its seconds.
pub fn repetitions(
    options: &JobOptions<'_>,
    mut once: impl FnMut() -> Result<f64, Stopped>,
) -> Result<u64, Stopped> {
    let mut seconds = once()?;
    if seconds < QUICK {
        // The first run is slower than the next ones.
        seconds = once()?;
    }
    let enough = || (SAMPLE_SECONDS / seconds.max(1e-9)).ceil();
    let asked = options.counted("repeat")?;
    Ok(asked.unwrap_or_else(|| enough().clamp(1.0, MAX_REPEAT) as u64))
}

/// How long so many runs may take together.
pub fn limit_of(limit: Option<Duration>, runs: u64) -> Option<Duration> {
    let all = |one: Duration| Duration::try_from_secs_f64(one.as_secs_f64() * runs as f64);
    limit.map(|one| all(one).unwrap_or(Duration::MAX))
}

/// A statement of a step and how it is to be run.
struct Question<'j> {
    sql: &'j str,
    limit: Option<Duration>,
    way: AnswerWay,
}

/// Why a statement gave no sample.
pub enum Stopped {
    /// It took longer than it may.
    TooLong,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Stopped {
    fn from(e: anyhow::Error) -> Stopped {
        Stopped::Failed(e)
    }
}

/// Does something with the connection, and interrupts that at the limit.
fn within<T>(limit: Option<Duration>, db: &Db<'_>, work: impl FnOnce() -> T) -> T {
    let Some(limit) = limit else {
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

/// What several runs of a statement took, and what they gave.
struct StatementRuns {
    /// The sum of the runs.
    total: protocol::RunTime,
    outcome: protocol::Outcome,
    start: Instant,
    end: Instant,
}

impl Question<'_> {
    /// Runs it so many times, timing each.
    fn run(&self, db: &Db<'_>, times: u64) -> Result<StatementRuns, Stopped> {
        within(limit_of(self.limit, times), db, || {
            let start = Instant::now();
            let (mut total, outcome) = self.once(db)?;
            for _ in 1..times {
                let (sample, again) = self.once(db)?;
                total.seconds += sample.seconds;
                total.user += sample.user;
                total.system += sample.system;
                if again != outcome {
                    return Err(changed().into());
                }
            }
            Ok(StatementRuns {
                total,
                outcome,
                start,
                end: Instant::now(),
            })
        })
    }

    fn once(&self, db: &Db<'_>) -> Result<(protocol::RunTime, protocol::Outcome), Stopped> {
        interrupt::check().map_err(anyhow::Error::from)?;
        let (sample, outcome) = worker::once(db, self.sql);
        match &outcome.error {
            Some(e) if self.limit.is_some() && e.code & 0xff == INTERRUPTED => {
                Err(Stopped::TooLong)
            }
            Some(e) => Err(anyhow!("{}", e.message).into()),
            None => Ok((sample, outcome)),
        }
    }

    /// Runs it without a clock, for all that an answer is compared by.
    fn answer(&self, db: &Db<'_>) -> Result<Answer> {
        interrupt::check()?;
        let read = || -> Result<Answer, SqlError> {
            let Some(mut stmt) = db.prepare(self.sql)? else {
                return Ok(AnswerReading::of(self.way, 0).end());
            };
            let columns = stmt.columns();
            let mut reading = AnswerReading::of(self.way, columns);
            while stmt.step()? {
                reading.row(&stmt, columns);
            }
            Ok(reading.end())
        };
        read().map_err(|e| anyhow!("{e}"))
    }
}

/// The error of a statement that is not steady.
pub fn changed() -> anyhow::Error {
    anyhow!("the statement gave another answer when it ran again")
}

/// Measures a step on an open connection.
fn measure(job: &Job, step: &Step, place: &SqlPlace<'_>, db: &Db<'_>) -> Result<Sample, Stopped> {
    let options = JobOptions::of(job, Some(step));
    let question = Question {
        sql: options.text("sql").context("there is no sql")?,
        limit: options.seconds("limit")?,
        way: match options.on("analyze")? {
            true => AnswerWay::Analyzed,
            false => AnswerWay::Plain,
        },
    };
    let threads = options.counted("threads")?;
    if let (Some(times), false) = (options.counted("before")?, step.cold) {
        question.run(db, times)?;
    }
    let repeat = match step.cold {
        true => 1,
        false => repetitions(&options, || Ok(question.run(db, 1)?.total.seconds))?,
    };
    let timed = Timed {
        question: &question,
        place,
        cold: step.cold,
        threads: threads.unwrap_or(1),
        repeat,
    };
    let (runs, mut sample) = timed.run(db)?;
    let answer = question.answer(db)?;
    if (answer.rows, &answer.ordered) != (runs.outcome.rows, &runs.outcome.hash) {
        return Err(changed().into());
    }
    match threads {
        Some(_) => sample.seconds = (runs.end - runs.start).as_secs_f64(),
        None => {
            sample.seconds = runs.total.seconds;
            sample.user = runs.total.user;
            sample.system = runs.total.system;
        }
    }
    sample.step.clone_from(&step.name);
    sample.operations = repeat * timed.threads;
    sample.answer = answer.text();
    let files = files::database_files(&place.file);
    sample.space = files.iter().map(|file| files::space(file)).sum();
    Ok(sample)
}

/// Where the threads of a step open their connections.
struct SqlPlace<'l> {
    library: &'l Library,
    file: PathBuf,
    pragmas: Values,
}

impl SqlPlace<'_> {
    fn open(&self) -> Result<Db<'_>> {
        connection::open(
            self.library,
            &self.file,
            OPEN_READONLY,
            BUSY_MS,
            &self.pragmas,
        )
    }
}

/// The part of a step that counts.
struct Timed<'a> {
    question: &'a Question<'a>,
    place: &'a SqlPlace<'a>,
    cold: bool,
    threads: u64,
    repeat: u64,
}

impl Timed<'_> {
    /// This thread runs the statement on `db`, where it has already run unless it is to be cold; the
    /// others run it on connections of their own, which they make ready in the same way before.
    /// Gives all runs as one, and what the process took meanwhile.
    fn run(&self, db: &Db<'_>) -> Result<(StatementRuns, Sample), Stopped> {
        let barrier = Barrier::new(usize::try_from(self.threads).map_err(anyhow::Error::from)?);
        std::thread::scope(|scope| {
            let other = || {
                let db = caught(|| self.place.open());
                let ready = match &db {
                    Ok(db) => caught(|| self.make_ready(db, false)),
                    Err(_) => Ok(()),
                };
                // All wait for all, also for one that has no connection: until nobody reads the
                // file any more, and until it has been dropped.
                barrier.wait();
                barrier.wait();
                let db = db?;
                ready?;
                self.question.run(&db, self.repeat)
            };
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(other)).collect();
            let ready = caught(|| self.make_ready(db, true));
            barrier.wait();
            let dropped = match self.cold {
                true => caught(|| cache::drop_files(&[&self.place.file])),
                false => Ok(()),
            };
            let meter = Meter::start();
            barrier.wait();
            let mine = match (ready, dropped) {
                (Ok(()), Ok(())) => self.question.run(db, self.repeat),
                (Err(e), _) => Err(e),
                (_, Err(e)) => Err(e.into()),
            };
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                let done = thread.join();
                done.unwrap_or_else(|_| Err(anyhow!("a thread panicked").into()))
            };
            let others: Vec<Result<StatementRuns, Stopped>> =
                others.into_iter().map(join).collect();
            let sample = meter.stop();
            let mut all = mine?;
            for other in others {
                let other = other?;
                if other.outcome != all.outcome {
                    return Err(anyhow!("a thread got another answer than another one").into());
                }
                all.start = all.start.min(other.start);
                all.end = all.end.max(other.end);
            }
            Ok((all, sample))
        })
    }

    /// Runs the statement once on a connection, unless it has; or makes that forget what it has read.
    fn make_ready(&self, db: &Db<'_>, has_run: bool) -> Result<(), Stopped> {
        if self.cold {
            let forgotten = db.exec("PRAGMA shrink_memory");
            forgotten.map_err(|e| anyhow!("{e}"))?;
        } else if !has_run {
            self.question.run(db, 1)?;
        }
        Ok(())
    }
}
