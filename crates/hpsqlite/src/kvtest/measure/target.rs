//! A plan at its target: the threads of a run, and what they visit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::clock::{Standing, StoppedClock, percentiles};
use super::keys::Keys;
use super::plan::VisitPlan;
use super::settings::settings;
use super::{Measured, MeasuredRun};
use crate::compare::cache;
use crate::data::random::SplitMix64;
use crate::kvtest::access::{Access, ByBlob, ByFile, BySql};
use crate::kvtest::place::{self, APPLICATION, BUSY_MS, BUSY_THREADS_MS, MARK, PathKind};
use crate::kvtest::stats::{self, Counter, ProcessIo};
use crate::kvtest::value;
use crate::sample::{Sample, Values};
use crate::sys::{Db, Library, OPEN_READWRITE};
use crate::timed::{self, Watch};
use crate::{interrupt, usage};

/// Random keys that are not there, in a row, for each key there could be, before it is an error:
/// missing the only one so often has a chance of one in 500 million.
const PATIENCE: u64 = 20;
/// Operations for whose times there is room from the start.
const RESERVED: usize = 1 << 20;

/// A value is not what was written.
#[derive(Debug)]
pub struct WrongValue {
    key: i64,
    place: String,
}

impl std::fmt::Display for WrongValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the value of key {} in {} is not what was written there",
            self.key, self.place
        )
    }
}

impl std::error::Error for WrongValue {}

/// A plan, and what was found at its target.
pub struct Test<'a> {
    pub plan: &'a VisitPlan,
    kind: PathKind,
    pub library: Option<&'a Library>,
    pub max_id: u64,
    pub checkable: bool,
    /// Sizes of the values by key, where values are to be overwritten.
    sizes: HashMap<i64, u64>,
}

/// What all threads of a run share.
struct RunShared {
    number: u64,
    pub start: Barrier,
    watch: Watch,
}

/// What a thread found out.
#[derive(Default)]
struct ThreadFindings {
    /// From before it opened its connection until after it closed it.
    span: Option<(Instant, Instant)>,
    standing: Standing,
    user: f64,
    system: f64,
    misses: u64,
    pub bytes: u64,
    answer: u64,
    nanoseconds: Vec<u64>,
    /// Hashes of the values that were written last.
    written: HashMap<i64, u64>,
    pub settings: Values,
    stats: Vec<Counter>,
}

impl<'a> Test<'a> {
    /// Looks what is there. As for the original, this also recovers a database from a crash.
    pub fn look(plan: &'a VisitPlan, kind: PathKind, library: Option<&'a Library>) -> Result<Self> {
        let target = &plan.target;
        let mut test = Test {
            plan,
            kind,
            library,
            max_id: plan.max_id.unwrap_or(0),
            checkable: false,
            sizes: HashMap::new(),
        };
        let largest;
        match (kind, library) {
            (PathKind::Database, Some(library)) => {
                let db = place::open(library, target)?;
                db.stop_on_interrupt();
                let context = || format!("cannot read {}", target.display());
                largest = place::number(&db, "SELECT max(k) FROM kv").with_context(context)?;
                test.checkable = place::number(&db, "PRAGMA application_id")? == APPLICATION;
                if let Some(mode) = &plan.journal_mode {
                    // Into WAL mode and out of it only one connection may go.
                    db.exec(&format!("PRAGMA journal_mode={mode}"))
                        .with_context(|| format!("PRAGMA journal_mode={mode}"))?;
                }
                if plan.update {
                    let mut stmt = db
                        .prepare("SELECT k, length(CAST(v AS BLOB)) FROM kv WHERE length(v) > 0")?
                        .context("a SELECT is a statement")?;
                    while stmt.step().with_context(context)? {
                        use crate::sys::Value::Integer;
                        if let (Integer(key), Integer(size)) = (stmt.value(0), stmt.value(1)) {
                            test.sizes.insert(key, size as u64);
                        }
                    }
                }
            }
            (PathKind::Files(layout), _) => {
                let keys = place::list(target, layout)?.keys;
                largest = keys.last().copied().unwrap_or(0);
                test.checkable = target.join(MARK).exists();
                if plan.update {
                    for key in keys {
                        let path = layout.path(target, key);
                        let size = std::fs::metadata(&path)
                            .with_context(|| format!("cannot read {}", path.display()))?
                            .len();
                        test.sizes.insert(key, size);
                    }
                }
            }
            (PathKind::Database, None) => bail!("a database needs a library"),
        }
        if largest < 1 {
            bail!("{} holds no values", target.display());
        }
        if test.max_id == 0 {
            test.max_id = largest as u64;
        }
        if plan.start > test.max_id {
            bail!("--start is beyond the largest key, {}", test.max_id);
        }
        if plan.threads > test.max_id || plan.threads > plan.count {
            bail!("there are more threads than keys or values to visit");
        }
        Ok(test)
    }

    /// What was asked for and does nothing here.
    pub fn ignored_options(&self) -> Vec<String> {
        let plan = self.plan;
        let (options, target): (&[(&str, bool)], _) = match self.kind {
            PathKind::Database => (&[("--fsync", plan.fsync)], "a database"),
            PathKind::Files(_) => (
                &[
                    ("--blob-api", plan.blob_api),
                    ("--integrity-check", plan.integrity_check),
                    ("--jmode", plan.journal_mode.is_some()),
                    ("--mmap", plan.mmap > 0),
                    ("--multitrans", plan.multi_transactions),
                    ("--nocheckpoint", plan.no_checkpoint),
                    ("--nosync", plan.no_sync),
                ],
                "a folder of files",
            ),
        };
        let mut warnings: Vec<String> = options
            .iter()
            .filter(|(_, given)| *given)
            .map(|(option, _)| format!("{option} does nothing on {target}"))
            .collect();
        if plan.fsync && !plan.update && matches!(self.kind, PathKind::Files(_)) {
            warnings.push("--fsync does nothing without --update".to_owned());
        }
        warnings
    }

    /// Tells of settings that SQLite did not take.
    pub fn compare_settings(&self, measured: &mut Measured) {
        let plan = self.plan;
        if self.kind != PathKind::Database {
            return;
        }
        let mut asked = vec![("--cache-size", "cache_size", plan.cache_size.to_string())];
        // A library that cannot map files says nothing.
        if plan.mmap > 0 {
            asked.push(("--mmap", "mmap_size", plan.mmap.to_string()));
        }
        if let Some(mode) = &plan.journal_mode {
            asked.push(("--jmode", "journal_mode", mode.clone()));
        }
        for (option, name, value) in asked {
            let real = measured
                .effective
                .settings
                .get(name)
                .cloned()
                .unwrap_or_default();
            if real != value {
                measured.warnings.push(format!(
                    "{option} {value} was not taken as it is: the library says that {name} is {}",
                    if real.is_empty() { "unknown" } else { &real }
                ));
            }
        }
    }

    /// Drops what is to be read from the system's cache; says what was dropped.
    pub fn make_cold(&self) -> Result<String> {
        match self.kind {
            PathKind::Database => {
                let files = place::database_files(&self.plan.target);
                let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
                cache::drop_files(&files)?;
                Ok("the database".to_owned())
            }
            PathKind::Files(layout) => {
                let keys = place::list(&self.plan.target, layout)?.keys;
                let files: Vec<PathBuf> = keys
                    .iter()
                    .map(|&key| layout.path(&self.plan.target, key))
                    .collect();
                let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
                cache::drop_files(&files)?;
                Ok(match cache::drop_names() {
                    Ok(()) => "contents, names and inodes of the files",
                    Err(_) => {
                        "contents of the files; names and inodes stay in the cache, which only root may drop"
                    }
                }
                .to_owned())
            }
        }
    }

    /// Disk space of all that is there.
    pub fn space(&self) -> Result<u64> {
        match self.kind {
            PathKind::Database => Ok(place::database_files(&self.plan.target)
                .iter()
                .map(|f| place::space(f))
                .sum()),
            PathKind::Files(layout) => Ok(place::list(&self.plan.target, layout)?.space),
        }
    }

    /// One run; also gives the settings that the engine really had.
    pub fn run(&self, number: u64, progress: &dyn Fn(f64)) -> Result<(MeasuredRun, Values)> {
        let shared = RunShared {
            number,
            start: Barrier::new(self.plan.threads as usize),
            watch: Watch::default(),
        };
        usage::forget_peak("self");
        let before = ProcessIo::now();
        let parts: Vec<Result<ThreadFindings>> = std::thread::scope(|scope| {
            let (ended, all_ended) = mpsc::channel::<()>();
            let threads: Vec<_> = (0..self.plan.threads)
                .map(|thread| {
                    let (shared, ended) = (&shared, ended.clone());
                    scope.spawn(move || {
                        let part = self.work(thread, shared);
                        if part.is_err() {
                            shared.watch.stop();
                        }
                        // Nobody waits any more where a thread broke down.
                        let _ = ended.send(());
                        part
                    })
                })
                .collect();
            drop(ended);
            timed::wait(&all_ended, threads.len(), |ended| {
                if ended.is_none() {
                    progress(shared.watch.share(self.plan.count));
                }
            });
            threads
                .into_iter()
                .map(|t| {
                    t.join()
                        .unwrap_or_else(|_| Err(anyhow!("a thread broke down")))
                })
                .collect()
        });
        let after = ProcessIo::now();
        let mut total = ThreadFindings::default();
        // An error of one thread stops the others; theirs, "stopped", says nothing.
        let (parts, errors): (Vec<_>, Vec<_>) = parts.into_iter().partition(Result::is_ok);
        if let Some(error) = errors
            .into_iter()
            .filter_map(Result::err)
            .min_by_key(|e| e.is::<GivenUp>())
        {
            return Err(error);
        }
        for part in parts.into_iter().flatten() {
            total.add(part);
        }
        if self.plan.update {
            self.check_written(&total.written)?;
            total.answer = total
                .written
                .values()
                .fold(0, |sum, hash| sum.wrapping_add(*hash));
        }
        if self.plan.stats {
            total.stats.extend(ProcessIo::counters());
        }
        let sample = Sample {
            step: if self.plan.update { "write" } else { "read" }.to_owned(),
            seconds: total.seconds(self.plan.threads),
            user: total.user,
            system: total.system,
            operations: total.nanoseconds.len() as u64,
            bytes: total.bytes,
            peak_memory: usage::peak_memory("self"),
            device_read: after.read_bytes.saturating_sub(before.read_bytes),
            device_written: after.write_bytes.saturating_sub(before.write_bytes),
            answer: format!("{:016x}", total.answer),
            percentiles: percentiles(&total.nanoseconds),
            ..Sample::default()
        };
        let run = MeasuredRun {
            sample,
            misses: total.misses,
            nanoseconds: total.nanoseconds,
            stats: total.stats,
        };
        Ok((run, total.settings))
    }

    /// The work of one thread.
    fn work(&self, thread: u64, shared: &RunShared) -> Result<ThreadFindings> {
        let mut part = ThreadFindings::default();
        let plan = self.plan;
        let keys = Keys::new(plan, self.max_id, thread);
        let target = plan.target.display();
        shared.start.wait();
        let cpu = usage::thread_time();
        let start = Instant::now();
        let mut standing = Standing::default();
        match (self.kind, self.library) {
            (PathKind::Files(layout), _) => {
                let mut access = ByFile::new(&plan.target, layout, plan.fsync)?;
                standing.add(self.visit(&mut access, keys, shared, &mut part)?);
                part.span = Some((start, Instant::now()));
            }
            (PathKind::Database, Some(library)) => {
                let db = library
                    .open(&plan.target, OPEN_READWRITE)
                    .with_context(|| format!("cannot open {target}"))?;
                db.busy_timeout(match plan.threads {
                    1 => BUSY_MS,
                    _ => BUSY_THREADS_MS,
                });
                self.set(&db)?;
                let clock = StoppedClock::now();
                if thread == 0 {
                    part.settings = settings(&db, library, plan)?;
                }
                clock.go(&mut standing);
                if !plan.multi_transactions {
                    // Several writers that begin as readers would block one another for ever.
                    let immediate = plan.update && plan.threads > 1;
                    db.exec(if immediate {
                        "BEGIN IMMEDIATE"
                    } else {
                        "BEGIN"
                    })?;
                }
                let whole = if plan.blob_api {
                    let mut access = ByBlob::new(&db, plan.update, !plan.multi_transactions);
                    self.visit(&mut access, keys, shared, &mut part)
                } else {
                    let mut access = BySql::new(&db, plan.update)?;
                    self.visit(&mut access, keys, shared, &mut part)
                };
                standing.add(whole?);
                let clock = StoppedClock::now();
                if plan.stats {
                    part.stats = stats::counters(library, &db);
                }
                clock.go(&mut standing);
                if !plan.multi_transactions {
                    db.exec("COMMIT")
                        .with_context(|| format!("cannot write {target}"))?;
                }
                // Closing the last connection copies the write-ahead log into the database.
                if plan.no_checkpoint {
                    part.span = Some((start, Instant::now()));
                    drop(db);
                } else {
                    drop(db);
                    part.span = Some((start, Instant::now()));
                }
            }
            (PathKind::Database, None) => bail!("a database needs a library"),
        }
        // Checking and making values is user time and nothing else.
        let after = usage::thread_time();
        part.user = (after.0 - cpu.0 - standing.cpu.as_secs_f64()).max(0.0);
        part.system = after.1 - cpu.1;
        part.standing = standing;
        Ok(part)
    }

    /// Sets what the plan asks of a connection.
    fn set(&self, db: &Db<'_>) -> Result<()> {
        let plan = self.plan;
        db.exec(&format!("PRAGMA mmap_size={}", plan.mmap))?;
        db.exec(&format!("PRAGMA cache_size={}", plan.cache_size))?;
        if plan.no_sync {
            db.exec("PRAGMA synchronous=OFF")?;
        }
        if let Some(mode) = &plan.journal_mode {
            db.exec(&format!("PRAGMA journal_mode={mode}"))
                .with_context(|| format!("--jmode {mode}"))?;
        }
        if plan.no_checkpoint {
            db.exec("PRAGMA wal_autocheckpoint=0")?;
        }
        for (name, value) in &plan.pragmas {
            db.exec(&format!("PRAGMA {name}={value}"))
                .with_context(|| format!("PRAGMA {name}={value}"))?;
        }
        Ok(())
    }

    /// Reads or writes the values of a thread; returns how long the clock stood.
    fn visit(
        &self,
        access: &mut dyn Access,
        mut keys: Keys,
        shared: &RunShared,
        part: &mut ThreadFindings,
    ) -> Result<Standing> {
        let plan = self.plan;
        let mut standing = Standing::default();
        let mut missed_in_a_row = 0;
        // Two, because a statement keeps the one it was given until it is given the next.
        let mut contents = [Vec::new(), Vec::new()];
        let wanted = keys.count as usize;
        let mut clock = StoppedClock::now();
        part.nanoseconds.reserve(wanted.min(RESERVED));
        let seed = SplitMix64(plan.seed ^ (shared.number + 1)).bits();
        while part.nanoseconds.len() < wanted {
            interrupt::check()?;
            if shared.watch.is_stopped() {
                return Err(GivenUp.into());
            }
            let key = keys.next();
            let found = if plan.update {
                contents.swap(0, 1);
                let content = &mut contents[0];
                match self.sizes.get(&key) {
                    None => None,
                    Some(&size) => {
                        content.resize(size as usize, 0);
                        value::fill(content, key, seed ^ part.nanoseconds.len() as u64);
                        let start = clock.go(&mut standing);
                        // SAFETY: the content stays until the write after the next, when the
                        // statement has been given another one; after the last nobody steps it.
                        let written = unsafe { access.write(key, content) };
                        clock = StoppedClock::now();
                        written.with_context(|| self.failed("write", key))?;
                        part.written.insert(key, value::hash(content, key));
                        Some((content.len(), clock.wall - start))
                    }
                }
            } else {
                let start = clock.go(&mut standing);
                let read = access.read(key);
                clock = StoppedClock::now();
                match read.with_context(|| self.failed("read", key))? {
                    None | Some([]) => None,
                    Some(content) => {
                        let hash = value::hash(content, key);
                        if self.checkable && !value::has_hash(content, hash) {
                            return Err(self.wrong(key));
                        }
                        part.answer = part.answer.wrapping_add(hash);
                        Some((content.len(), clock.wall - start))
                    }
                }
            };
            match found {
                Some((bytes, time)) => {
                    part.bytes += bytes as u64;
                    part.nanoseconds.push(time.as_nanos() as u64);
                    missed_in_a_row = 0;
                    shared.watch.count(1);
                }
                None => {
                    part.misses += 1;
                    missed_in_a_row += 1;
                    if missed_in_a_row > PATIENCE * keys.len() {
                        bail!(
                            "{} has no value under the keys {} to {}",
                            plan.target.display(),
                            keys.range.start(),
                            keys.range.end()
                        );
                    }
                }
            }
        }
        clock.go(&mut standing);
        Ok(standing)
    }

    /// Reads what was written, by a new connection.
    fn check_written(&self, written: &HashMap<i64, u64>) -> Result<()> {
        let check = |access: &mut dyn Access| -> Result<()> {
            for (&key, &hash) in written {
                interrupt::check()?;
                let content = access.read(key).with_context(|| self.failed("read", key))?;
                if content.map(|c| value::hash(c, key)) != Some(hash) {
                    return Err(self.wrong(key));
                }
            }
            Ok(())
        };
        match (self.kind, self.library) {
            (PathKind::Database, Some(library)) => {
                let db = place::open(library, &self.plan.target)?;
                db.exec("BEGIN")?;
                check(&mut BySql::new(&db, false)?)
            }
            (PathKind::Files(layout), _) => {
                check(&mut ByFile::new(&self.plan.target, layout, false)?)
            }
            (PathKind::Database, None) => bail!("a database needs a library"),
        }
    }

    fn failed(&self, what: &str, key: i64) -> String {
        format!(
            "cannot {what} the value of key {key} in {}",
            self.plan.target.display()
        )
    }

    fn wrong(&self, key: i64) -> anyhow::Error {
        let place = self.plan.target.display().to_string();
        WrongValue { key, place }.into()
    }
}

/// A thread ended because another one failed.
#[derive(Debug)]
struct GivenUp;

impl std::fmt::Display for GivenUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for GivenUp {}

impl ThreadFindings {
    /// The time of all threads together.
    fn seconds(&self, threads: u64) -> f64 {
        let span = self.span.map_or(Duration::ZERO, |(start, end)| end - start);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.standing.taken_off(span, threads, processors as u64)
    }

    fn add(&mut self, other: ThreadFindings) {
        self.span = timed::whole([self.span, other.span]);
        self.standing.add(other.standing);
        self.user += other.user;
        self.system += other.system;
        self.misses += other.misses;
        self.bytes += other.bytes;
        self.answer = self.answer.wrapping_add(other.answer);
        self.nanoseconds.extend(other.nanoseconds);
        self.written.extend(other.written);
        self.settings.extend(other.settings);
        Counter::add(&mut self.stats, other.stats);
    }
}
