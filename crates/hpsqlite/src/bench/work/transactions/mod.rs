//! Jobs of transactions: many small statements on a database that they change, by one connection
//! or by several, each in a thread of its own ([`step`]), and they in processes of their own ([`process`]).
//!
//! | option | meaning |
//! |---|---|
//! | `workload` | what the steps are: `statements` (see [`statements`]) or `tatp` (see [`tatp`]) |
//! | `database` | a file to begin with; the job works on a copy of its own. By default a new one |
//! | `operations` | operations of a step, over all connections |
//! | `seconds` | in place of them: each connection goes on until the time is up |
//! | `warm_up` | operations of each connection before the clock starts; 0 by default |
//! | `threads` | connections; 1 by default |
//! | `processes` | in so many processes, with `threads` connections each; 1 by default: this one |
//! | `by` | of a step: `stock` or `ours` does it, whatever the engine of the job is |
//! | `needs` | a compile-time option, such as `ENABLE_FTS5`, without which a library is left out |
//! | `pragma.NAME` | set on each connection, and read back; one of a step, on those of the step, which fails where it is ignored |
//!
//! Steps follow one another on the same file. Each opens connections of its own and prepares its
//! statements before the clock starts; that is from the first operation to the end of the last
//! one. Closing, which may bring a log into the database, is not timed; space is told after it.
//!
//! **The same seed gives the same work**: what operation number j does follows from the seed, the
//! step and j, by whichever connection it is done. **What is read** is hashed operation by
//! operation, and the sum of the hashes is the answer, with what the workload itself has to say of
//! the database afterwards. Where several connections write, what one of them reads depends on
//! the others, and only the latter is the answer.
//!
//! **Locks** are waited for by `sqlite3_busy_timeout()`, and an operation for which that is not
//! enough begins again, which is counted.
//!
//! With `seconds` the percentiles have one more, `least`: the operations of the connection that did
//! fewest, as a share of the mean. Operation number j is then one of the connections' own, of which
//! each has every N-th.

pub mod part;
mod process;
pub mod statements;
mod step;
pub mod tatp;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::options::JobOptions;
use super::{DataWanted, Say, Work};
use crate::bench::dataset;
use crate::bench::model::{Job, Line, Step, Values};
use crate::bench::{connection, engine};
use crate::compare::{cache, worker};
use crate::data::random::mix;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE, SqlError, Stmt};
use crate::{interrupt, libs};
use step::StepRun;

/// How long a lock is waited for while connections are opened.
const BUSY_MS: i32 = 60_000;
/// How long an operation begins again for a lock that SQLite itself does not wait for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of rows that are hashed at a time.
const HASH_BUFFER: usize = 1 << 16;

/// How often operations of a job have begun again for a lock.
static BEGUN_AGAIN: AtomicU64 = AtomicU64::new(0);

/// What the steps of a job can be.
pub trait Workload {
    /// What a step does; one that there is not is an error.
    fn work(&self, step: &Step) -> Result<Box<dyn StepWork>>;
}

/// What one step does.
pub trait StepWork: Sync {
    /// Operations over all connections.
    fn operations(&self) -> u64;

    /// Looks at the database before the first operation.
    fn before(&mut self, _db: &Db<'_>) -> Result<()> {
        Ok(())
    }

    /// Prepares what one connection needs.
    fn client<'d>(&'d self, db: &'d Db<'d>) -> Result<Box<dyn Client + 'd>>;

    /// Looks at the database after the last operation: an error if it is not as it has to be. What
    /// it gives is part of the answer. `sum` is that of what the clients counted; `alone` says that
    /// there was one client, so that the same seed leaves the same database.
    fn check(&self, _db: &Db<'_>, _sum: i64, _alone: bool) -> Result<String> {
        Ok(String::new())
    }
}

/// What one connection does.
pub trait Client {
    /// Does operation `j`, a transaction or a part of one. All that is random in it comes from
    /// `random`; what it reads is told to `read`.
    fn operation(
        &mut self,
        j: u64,
        random: u64,
        read: &mut OperationReading,
    ) -> Result<(), SqlError>;

    /// Ends the last transaction.
    fn finish(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    /// Whether nothing it does changes the database.
    fn readonly(&self) -> bool;

    /// What it counts of its own, for [`StepWork::check`].
    fn count(&self) -> i64 {
        0
    }
}

/// Hashes what an operation reads.
#[derive(Default)]
pub struct OperationReading {
    buffer: Vec<u8>,
    hash: u64,
}

impl OperationReading {
    /// The row on which the statement stands.
    pub fn row(&mut self, stmt: &Stmt<'_>, columns: i32) {
        worker::encode(stmt, columns, &mut self.buffer);
        if self.buffer.len() >= HASH_BUFFER {
            self.fold();
        }
    }

    /// Anything else that is part of the answer.
    pub fn note(&mut self, what: u8) {
        self.buffer.push(what);
    }

    fn fold(&mut self) {
        self.hash = xxh3_64_with_seed(&self.buffer, self.hash);
        self.buffer.clear();
    }

    /// The hash of all since the last one, which was read by operation `j`.
    fn end(&mut self, j: u64) -> u64 {
        self.fold();
        // Numbers of operations make the sum depend on which of them read what.
        mix(std::mem::take(&mut self.hash) ^ mix(j))
    }
}

/// Runs a statement to its end, once more for a lock that SQLite did not wait for.
///
/// Gives the number of rows.
pub fn run(stmt: &mut Stmt<'_>, read: &mut OperationReading) -> Result<u64, SqlError> {
    let columns = stmt.columns();
    let mut rows = 0;
    let mut row = first(stmt);
    while let Ok(true) = row {
        read.row(stmt, columns);
        rows += 1;
        row = stmt.step();
    }
    stmt.reset();
    row.map(|_| rows)
}

/// Goes to the first row, as often as a lock is in the way.
fn first(stmt: &mut Stmt<'_>) -> Result<bool, SqlError> {
    first_counting(stmt, &BEGUN_AGAIN)
}

/// The same, counting in `waits` how often.
fn first_counting(stmt: &mut Stmt<'_>, again: &AtomicU64) -> Result<bool, SqlError> {
    let mut since = None;
    loop {
        match stmt.step() {
            Err(e) if e.is_busy() && !interrupt::raised() => {
                stmt.reset();
                if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    return Err(e);
                }
                again.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}

/// Prepares one statement.
pub fn prepare<'d>(db: &'d Db<'d>, sql: &str) -> Result<Stmt<'d>> {
    db.prepare(sql)
        .map_err(|e| anyhow!("{e}: {sql}"))?
        .with_context(|| format!("no statement: {sql}"))
}

/// Statements that write, by one connection or by several.
pub struct Transactions;

impl Work for Transactions {
    fn options(&self) -> Vec<&'static str> {
        let own = [
            "before",
            "by",
            "check",
            "copies",
            "length",
            "needs",
            "operations",
            "processes",
            "seconds",
            "sql",
            "threads",
            "transaction",
            "warm_up",
            "workload",
        ];
        [&own, &dataset::OPTIONS[..]].concat()
    }

    fn steps_connect(&self) -> bool {
        true
    }

    /// `database`, the file that the job makes a copy of, where it begins with one, and `cache`.
    fn data(&self, wanted: &DataWanted<'_>) -> Result<Values> {
        let named = ["database", "setup", "data"];
        if !named.iter().any(|n| wanted.options.contains_key(*n)) {
            return Ok(Values::new());
        }
        let database = dataset::database(wanted.options, wanted.folder, wanted.cache)?;
        dataset::places(&[("database", &database), ("cache", wanted.cache.folder())])
    }

    fn leaves_behind(&self) -> bool {
        true
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        run_job(job, say)
    }
}

/// What the steps of a job are.
fn workload_of(job: &Job) -> Result<Box<dyn Workload + '_>> {
    Ok(match JobOptions::of(job, None).text("workload") {
        Some("statements") => Box::new(statements::StatementSteps::new(job)),
        Some("tatp") => Box::new(tatp::Tatp::new(job)?),
        Some(other) => bail!("workload={other}: there are statements and tatp"),
        None => bail!("there is no workload: say statements or tatp in [options]"),
    })
}

/// Does the steps of a job, telling each line to `say`.
fn run_job(job: &Job, say: Say<'_>) -> Result<()> {
    let path = job
        .library
        .as_deref()
        .with_context(|| format!("{} is no SQLite library", job.engine))?;
    let all = JobOptions::of(job, None);
    let workload = workload_of(job)?;
    // A step that there is not is told before the first one is measured.
    for step in &job.steps {
        workload
            .work(step)
            .with_context(|| format!("step {}", step.name))?;
    }
    let place = JobDatabase::new(job)?;
    let mut libraries = BTreeMap::from([(path.to_owned(), Library::load(path)?)]);
    {
        let library = &libraries[path];
        let db = place.open(library)?;
        if let Some(option) = all.text("needs") {
            let has = db.first(&format!("SELECT sqlite_compileoption_used('{option}')"));
            if has.unwrap_or(None).as_deref() != Some("1") {
                bail!(engine::Unavailable(format!(
                    "this SQLite was built without SQLITE_{option}"
                )));
            }
        }
        say(Line::Ready(connection::effective(
            library,
            &db,
            &place.pragmas,
        )?))?;
    }
    for step in &job.steps {
        interrupt::check()?;
        let by = match step.options.get("by").map(String::as_str) {
            None => path.to_owned(),
            Some("stock") => libs::stock()?,
            Some("ours") => libs::ours()?,
            Some(other) => bail!("step {}: by={other}: it is stock or ours", step.name),
        };
        if !libraries.contains_key(&by) {
            libraries.insert(by.clone(), Library::load(&by)?);
        }
        let run = StepRun {
            job,
            step,
            place: &place,
            library: &libraries[&by],
        };
        let context = || format!("step {}", step.name);
        match run.sample(&*workload, say) {
            Ok(_) if step.unmeasured => {}
            Ok(sample) => say(Line::Sample(sample))?,
            Err(e) => {
                say(job.not_cold(step, e).with_context(context)?)?;
                let step = &step.as_preparation();
                let run = StepRun { step, ..run };
                run.sample(&*workload, say).with_context(context)?;
            }
        }
    }
    Ok(())
}

/// The database of a job.
pub struct JobDatabase {
    /// Nothing else is in it.
    folder: PathBuf,
    file: PathBuf,
    pragmas: Values,
}

impl JobDatabase {
    fn new(job: &Job) -> Result<JobDatabase> {
        let place = JobDatabase::existing(job);
        let (folder, file) = (&place.folder, &place.file);
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        if let Some(from) = job.options.get("database") {
            std::fs::copy(from, file)
                .with_context(|| format!("cannot copy {from} to {}", file.display()))?;
            // Or else the first transaction that waits for the disk would wait for all of the copy.
            File::open(file)?.sync_all()?;
        }
        Ok(place)
    }

    /// That of a job that goes on in another process.
    fn existing(job: &Job) -> JobDatabase {
        let folder = job.folder.join("database");
        JobDatabase {
            file: folder.join("test.db"),
            folder,
            pragmas: connection::pragmas(&job.options),
        }
    }

    fn open<'l>(&self, library: &'l Library) -> Result<Db<'l>> {
        let flags = OPEN_READWRITE | OPEN_CREATE;
        connection::open(library, &self.file, flags, BUSY_MS, &self.pragmas)
    }

    /// Makes the system forget the database.
    fn cool(&self) -> Result<()> {
        let files = engine::files(&self.folder)?;
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        cache::drop_files(&files)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::bench::report::tests::library;

    #[test]
    fn a_lock_of_another_connection_is_waited_for_and_counted() {
        static WAITS: AtomicU64 = AtomicU64::new(0);
        let waits = || WAITS.load(Ordering::Relaxed);
        let library = library();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.db");
        let open = || library.open(&file, OPEN_READWRITE | OPEN_CREATE).unwrap();
        open().exec("CREATE TABLE t(a)").unwrap();
        let write = |db: &Db<'_>| {
            let mut insert = prepare(db, "INSERT INTO t VALUES(1)").unwrap();
            first_counting(&mut insert, &WAITS)
        };
        let before = waits();
        let locked = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let other = open();
                // COMMIT waits for the shared lock that the other one may just have.
                other.exec("PRAGMA busy_timeout=10000").unwrap();
                other.exec("BEGIN IMMEDIATE").unwrap();
                locked.wait();
                // Not for ever: where no wait is counted the test fails, and does not hang.
                let since = Instant::now();
                while waits() == before && since.elapsed() < PATIENCE / 4 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other.exec("COMMIT").unwrap();
            });
            let db = open();
            locked.wait();
            write(&db).unwrap();
        });
        assert!(waits() > before);
        assert_eq!(
            open().first("SELECT count(*) FROM t").unwrap().unwrap(),
            "1"
        );
    }

    #[test]
    fn the_hash_tells_what_was_read_by_which_operation() {
        let read = |notes: &[u8], j| {
            let mut reading = OperationReading::default();
            notes.iter().for_each(|n| reading.note(*n));
            reading.end(j)
        };
        assert_eq!(read(b"ab", 1), read(b"ab", 1));
        assert_ne!(read(b"ab", 1), read(b"ba", 1));
        assert_ne!(read(b"ab", 1), read(b"ab", 2));
        // Two operations that change places give another sum.
        let sum = |a: u64, b: u64| a.wrapping_add(b);
        assert_ne!(
            sum(read(b"a", 1), read(b"b", 2)),
            sum(read(b"b", 1), read(b"a", 2))
        );
    }
}
