//! Jobs of transactions: many small statements on a database that they change, by one connection
//! or by several, each in a thread of its own.
//!
//! | option | meaning |
//! |---|---|
//! | `workload` | what the steps are: `statements` (see [`statements`]) or `tatp` (see [`tatp`]) |
//! | `database` | a file to begin with; the job works on a copy of its own. By default a new one |
//! | `operations` | operations of a step, over all connections |
//! | `seconds` | in place of them: each connection goes on until the time is up |
//! | `warm_up` | operations of each connection before the clock starts; 0 by default |
//! | `threads` | connections; 1 by default |
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

pub mod statements;
pub mod tatp;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::options::JobOptions;
use super::{DataWanted, Say, Work, caught};
use crate::bench::dataset;
use crate::bench::meter::{TICK, Usage, lap, percentiles};
use crate::bench::model::{Job, Line, Sample, Step, Values};
use crate::bench::{connection, engine};
use crate::compare::{cache, worker};
use crate::data::random::{SplitMix64, mix};
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE, SqlError, Stmt};
use crate::{interrupt, libs};

/// How long a lock is waited for while connections are opened.
const BUSY_MS: i32 = 60_000;
/// How long an operation begins again for a lock that SQLite itself does not wait for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of rows that are hashed at a time.
const HASH_BUFFER: usize = 1 << 16;
/// Operations between two looks at whether to stop.
const STRIDE: u64 = 64;

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

/// Does the steps of a job, telling each line to `say`.
fn run_job(job: &Job, say: Say<'_>) -> Result<()> {
    let path = job
        .library
        .as_deref()
        .with_context(|| format!("{} is no SQLite library", job.engine))?;
    let all = JobOptions::of(job, None);
    let workload: Box<dyn Workload> = match all.text("workload") {
        Some("statements") => Box::new(statements::StatementSteps::new(job)),
        Some("tatp") => Box::new(tatp::Tatp::new(job)?),
        Some(other) => bail!("workload={other}: there are statements and tatp"),
        None => bail!("there is no workload: say statements or tatp in [options]"),
    };
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
        match run.sample(workload.work(step)?, say) {
            Ok(_) if step.unmeasured => {}
            Ok(sample) => say(Line::Sample(sample))?,
            Err(e) => {
                say(job.not_cold(step, e).with_context(context)?)?;
                let step = &step.as_preparation();
                let run = StepRun { step, ..run };
                run.sample(workload.work(step)?, say)
                    .with_context(context)?;
            }
        }
    }
    Ok(())
}

/// The database of a job.
struct JobDatabase {
    /// Nothing else is in it.
    folder: PathBuf,
    file: PathBuf,
    pragmas: Values,
}

impl JobDatabase {
    fn new(job: &Job) -> Result<JobDatabase> {
        let folder = job.folder.join("database");
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let file = folder.join("test.db");
        if let Some(from) = job.options.get("database") {
            std::fs::copy(from, &file)
                .with_context(|| format!("cannot copy {from} to {}", file.display()))?;
            // Or else the first transaction that waits for the disk would wait for all of the copy.
            File::open(&file)?.sync_all()?;
        }
        Ok(JobDatabase {
            folder,
            file,
            pragmas: connection::pragmas(&job.options),
        })
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

/// A step that is being done.
struct StepRun<'r> {
    job: &'r Job,
    step: &'r Step,
    place: &'r JobDatabase,
    library: &'r Library,
}

/// What threads of a step share.
struct StepShared<'s> {
    work: &'s dyn StepWork,
    operations: u64,
    /// Until when to go on, whatever the number of operations is.
    seconds: Option<Duration>,
    threads: u64,
    warm_up: u64,
    salt: u64,
    /// All connections are open.
    start: Barrier,
    /// What was used has been read, connections may close.
    end: Barrier,
    stop: AtomicBool,
    done: AtomicU64,
}

/// What one thread did.
#[derive(Default)]
struct ThreadDone {
    operations: u64,
    times: Vec<f32>,
    answer: u64,
    count: i64,
    readonly: bool,
    span: Option<(Instant, Instant)>,
}

impl StepRun<'_> {
    /// A connection with the settings of the job and of the step.
    fn open(&self) -> Result<Db<'_>> {
        let db = self.place.open(self.library)?;
        connection::insist(&db, &connection::pragmas(&self.step.options))?;
        Ok(db)
    }

    fn sample(&self, mut work: Box<dyn StepWork>, say: Say<'_>) -> Result<Sample> {
        let options = JobOptions::of(self.job, Some(self.step));
        let threads = options.number("threads", 1)?;
        ensure!(
            (1..=1024).contains(&threads),
            "threads={threads}: there may be 1 to 1024"
        );
        let seconds = match options.number("seconds", 0)? {
            0 => None,
            n => Some(Duration::from_secs(n)),
        };
        work.before(&self.open()?)?;
        if self.step.cold {
            self.place.cool()?;
        }
        let parties = usize::try_from(threads + 1)?;
        let shared = StepShared {
            work: &*work,
            operations: work.operations(),
            seconds,
            threads,
            warm_up: options.number("warm_up", 0)?,
            salt: xxh3_64_with_seed(self.step.name.as_bytes(), self.job.seed),
            start: Barrier::new(parties),
            end: Barrier::new(parties),
            stop: AtomicBool::new(false),
            done: AtomicU64::new(0),
        };
        let mut sample = self.measure(&shared, say)?;
        sample.step.clone_from(&self.step.name);
        sample.space = engine::space(&self.place.folder)?;
        Ok(sample)
    }

    /// Does all operations; looks at the database when they are done.
    fn measure(&self, shared: &StepShared<'_>, say: Say<'_>) -> Result<Sample> {
        let (tell, told) = channel();
        let (parts, usage, retries) = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..shared.threads)
                .map(|t| {
                    let tell = tell.clone();
                    scope.spawn(move || self.thread(t, shared, &tell))
                })
                .collect();
            let again = BEGUN_AGAIN.load(Ordering::Relaxed);
            let before = Usage::begin(&[]);
            shared.start.wait();
            let began = Instant::now();
            let mut running = shared.threads;
            while running > 0 {
                match told.recv_timeout(TICK) {
                    Ok(()) => running -= 1,
                    Err(_) => {
                        let share = shared.share(began.elapsed());
                        // Nobody may be listening any more: then there is nothing to do either.
                        if interrupt::raised() || say(Line::Progress(share)).is_err() {
                            shared.stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
            let usage = Usage::now(&[]).since(&before);
            let retries = BEGUN_AGAIN.load(Ordering::Relaxed) - again;
            shared.end.wait();
            let parts: Vec<Result<ThreadDone>> = threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| bail!("a thread panicked")))
                .collect();
            (parts, usage, retries)
        });
        interrupt::check()?;
        let mut all = ThreadDone {
            readonly: true,
            ..ThreadDone::default()
        };
        let mut least = u64::MAX;
        let mut operations = 0;
        for part in parts {
            let part = part?;
            least = least.min(part.operations);
            operations += part.operations;
            all.times.extend(part.times);
            all.answer = all.answer.wrapping_add(part.answer);
            all.count += part.count;
            all.readonly &= part.readonly;
            if let Some((a, b)) = part.span {
                let (from, to) = all.span.unwrap_or((a, b));
                all.span = Some((from.min(a), to.max(b)));
            }
        }
        ensure!(!shared.stop.load(Ordering::Relaxed), "stopped");
        let mut answer = Vec::new();
        // Of a step that ends with the clock nobody knows how much it reads.
        if shared.seconds.is_none() && (shared.threads == 1 || all.readonly) {
            answer.push(format!("{:016x}", all.answer));
        }
        if !all.readonly {
            let db = self.open()?;
            answer.push(shared.work.check(&db, all.count, shared.threads == 1)?);
        }
        answer.retain(|part| !part.is_empty());
        let mut percentiles = percentiles(&mut all.times);
        if shared.seconds.is_some() {
            let mean = operations as f64 / shared.threads as f64;
            let share = least as f64 / mean.max(1.0);
            percentiles.insert("least".to_owned(), format!("{share:.4}"));
        }
        Ok(Sample {
            seconds: all.span.map_or(0.0, |(from, to)| (to - from).as_secs_f64()),
            user: usage.user,
            system: usage.system,
            operations,
            retries,
            peak_memory: usage.peak,
            device_read: usage.device_read,
            device_written: usage.device_written,
            answer: answer.join(", "),
            percentiles,
            ..Sample::default()
        })
    }

    /// The part of thread `t`.
    fn thread(&self, t: u64, shared: &StepShared<'_>, tell: &Sender<()>) -> Result<ThreadDone> {
        // Whatever happens, the others must not wait for it.
        let db = caught(|| self.open());
        let client = match &db {
            Ok(db) => caught(|| shared.work.client(db)),
            Err(e) => Err(anyhow!("{e:#}")),
        };
        let mut client = client.and_then(|mut client| {
            caught(|| {
                let mut nothing = OperationReading::default();
                for j in shared.operations..shared.operations + shared.warm_up {
                    client.operation(j, shared.random(j), &mut nothing)?;
                }
                client.finish()?;
                Ok(client)
            })
        });
        shared.start.wait();
        let part = match &mut client {
            Ok(client) => caught(|| part(t, &mut **client, shared)),
            Err(e) => Err(anyhow!("{e:#}")),
        };
        if part.is_err() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        let _ = tell.send(());
        shared.end.wait();
        part
    }
}

/// What a thread does while the clock runs.
fn part(t: u64, client: &mut dyn Client, shared: &StepShared<'_>) -> Result<ThreadDone> {
    let mut part = ThreadDone {
        readonly: client.readonly(),
        ..ThreadDone::default()
    };
    let operations: Box<dyn Iterator<Item = u64>> = match shared.seconds {
        Some(_) => Box::new((t..).step_by(usize::try_from(shared.threads)?)),
        None => {
            let of = |t| shared.operations * t / shared.threads;
            part.times.reserve(usize::try_from(of(t + 1) - of(t))?);
            Box::new(of(t)..of(t + 1))
        }
    };
    let mut read = OperationReading::default();
    let start = Instant::now();
    let end = shared.seconds.map(|time| start + time);
    let mut clock = start;
    for j in operations {
        if part.operations.is_multiple_of(STRIDE) {
            shared.done.fetch_add(STRIDE, Ordering::Relaxed);
            if shared.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        client.operation(j, shared.random(j), &mut read)?;
        part.answer = part.answer.wrapping_add(read.end(j));
        part.times.push(lap(&mut clock));
        part.operations += 1;
        if end.is_some_and(|end| clock >= end) {
            break;
        }
    }
    client.finish()?;
    part.span = Some((start, Instant::now()));
    part.count = client.count();
    Ok(part)
}

impl StepShared<'_> {
    /// How much is done, of 1.
    fn share(&self, elapsed: Duration) -> f64 {
        let done = self.done.load(Ordering::Relaxed) as f64;
        let share = match self.seconds {
            Some(time) => elapsed.as_secs_f64() / time.as_secs_f64(),
            None => done / self.operations.max(1) as f64,
        };
        share.min(1.0)
    }

    /// What is random in operation `j`.
    fn random(&self, j: u64) -> u64 {
        SplitMix64(self.salt ^ mix(j)).bits()
    }
}

#[cfg(test)]
mod tests {
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

    /// Panics while a client is made, or at an operation.
    struct Panics(Option<u64>);

    impl StepWork for Panics {
        fn operations(&self) -> u64 {
            10
        }

        fn client<'d>(&'d self, _db: &'d Db<'d>) -> Result<Box<dyn Client + 'd>> {
            match self.0 {
                Some(at) => Ok(Box::new(PanicsAt(at))),
                None => panic!("as it is to be"),
            }
        }
    }

    struct PanicsAt(u64);

    impl Client for PanicsAt {
        fn operation(&mut self, j: u64, _: u64, _: &mut OperationReading) -> Result<(), SqlError> {
            assert_ne!(j, self.0);
            Ok(())
        }

        fn readonly(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_thread_that_panics_ends_the_job_with_an_error() {
        let library = library();
        let folder = tempfile::tempdir().unwrap();
        let step = Step {
            name: "s".to_owned(),
            options: Values::from([("threads".to_owned(), "3".to_owned())]),
            cold: false,
            unmeasured: false,
        };
        let mut job = Job {
            kind: crate::bench::model::JobKind::Transactions,
            engine: "stock".to_owned(),
            library: None,
            folder: folder.path().to_owned(),
            options: Values::new(),
            steps: Vec::new(),
            seed: 1,
        };
        // While connections are made, while they warm up (after the last operation), and then.
        for (at, warm_up) in [(None, 0), (Some(10), 1), (Some(5), 0)] {
            job.options
                .insert("warm_up".to_owned(), warm_up.to_string());
            let run = StepRun {
                job: &job,
                step: &step,
                place: &JobDatabase::new(&job).unwrap(),
                library: &library,
            };
            let e = run.sample(Box::new(Panics(at)), &|_| Ok(()));
            assert_eq!(format!("{:#}", e.unwrap_err()), "a thread panicked");
        }
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
