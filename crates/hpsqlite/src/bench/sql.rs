//! Jobs of statements on a database, on one SQLite library.
//!
//! | option | meaning |
//! |---|---|
//! | `database` | the file; the runner has made it |
//! | `sql` | the statement of a step |
//! | `pragma.NAME` | set before the first step, and read back |
//! | `write` | `on`: statements may write. Each step then works on a copy of the database |
//! | `repeat` | runs a sample; by default as many as take [`SAMPLE_SECONDS`] |
//!
//! A sample is the time from preparing a statement to its last row, every value
//! read and hashed. Before it the statement runs once without being timed,
//! unless it is to be cold.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use super::connection;
use super::meter::Meter;
use super::model::{Job, Line, Sample, Step};
use crate::compare::{cache, protocol, worker};
use crate::interrupt;
use crate::sys::{Db, Library, OPEN_READONLY, OPEN_READWRITE};

/// Shorter runs are repeated within a sample: the clock and waking up would be most of it.
const SAMPLE_SECONDS: f64 = 0.005;
const MAX_REPEAT: f64 = 100_000.0;
/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;

/// Does the steps of a job, telling each line to `say`.
pub fn run(job: &Job, say: &mut dyn FnMut(Line) -> Result<()>) -> Result<()> {
    let path = job
        .library
        .as_ref()
        .with_context(|| format!("{} is no SQLite library", job.engine))?;
    let library = Library::load(path)?;
    let database = PathBuf::from(option(job, None, "database").context("there is no database")?);
    let writes = option(job, None, "write") == Some("on");
    let pragmas = connection::pragmas(&job.options);
    let mut first = true;
    for step in &job.steps {
        interrupt::check()?;
        let file = match writes {
            true => copied(&database, &job.folder)?,
            false => database.clone(),
        };
        let flags = if writes {
            OPEN_READWRITE
        } else {
            OPEN_READONLY
        };
        let db = connection::open(&library, &file, flags, BUSY_MS, &pragmas)?;
        if first {
            say(Line::Ready(connection::effective(&library, &db, &pragmas)?))?;
            first = false;
        }
        let sample =
            measure(job, step, &db, &file).with_context(|| format!("step {}", step.name))?;
        if !step.unmeasured {
            say(Line::Sample(sample))?;
        }
    }
    Ok(())
}

fn option<'j>(job: &'j Job, step: Option<&'j Step>, name: &str) -> Option<&'j str> {
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

fn measure(job: &Job, step: &Step, db: &Db<'_>, file: &Path) -> Result<Sample> {
    let sql = option(job, Some(step), "sql").context("there is no sql")?;
    let run = || -> Result<protocol::Outcome> {
        interrupt::check()?;
        let (_, outcome) = worker::once(db, sql);
        match &outcome.error {
            Some(e) => bail!("{}", e.message),
            None => Ok(outcome),
        }
    };
    let mut repeat = 1;
    if step.cold {
        cache::drop_files(&[file])?;
        db.exec("PRAGMA shrink_memory")
            .map_err(|e| anyhow!("{e}"))?;
    } else {
        let start = Instant::now();
        run()?;
        let seconds = start.elapsed().as_secs_f64().max(1e-9);
        repeat = match option(job, Some(step), "repeat") {
            Some(n) => n
                .parse::<u64>()
                .ok()
                .filter(|n| *n > 0)
                .with_context(|| format!("repeat={n}: it is a number from 1 on"))?,
            None if option(job, None, "write") == Some("on") => 1,
            None => (SAMPLE_SECONDS / seconds).ceil().clamp(1.0, MAX_REPEAT) as u64,
        };
    }
    let meter = Meter::start();
    let mut answer = None;
    for _ in 0..repeat {
        let outcome = run()?;
        match &answer {
            None => answer = Some(outcome),
            Some(first) if *first != outcome && option(job, None, "write") != Some("on") => {
                bail!("the statement gave another answer when it ran again")
            }
            Some(_) => {}
        }
    }
    let mut sample = meter.stop();
    let answer = answer.expect("there is at least one run");
    sample.step.clone_from(&step.name);
    sample.operations = repeat;
    sample.answer = format!("{} rows, {}", answer.rows, answer.hash);
    sample.space = std::fs::metadata(file)?.len();
    Ok(sample)
}
