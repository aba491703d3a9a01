//! `hpsqlite measure`: one job, in a process of its own.
//!
//! The job comes as JSON on standard input; a line of JSON for each step goes to standard output.
//!
//! | step | what it does |
//! |---|---|
//! | `fill-sequential` | writes pairs 0 to `writes`-1 into a new store, each in its own transaction |
//! | `fill-random` | the same in another order |
//! | `overwrite` | gives `writes` pairs new values, in random order |
//! | `batch` | as `overwrite`, `batch` pairs a transaction; fills a new store as well |
//! | `read-sequential` | reads `reads` pairs in the order of their keys |
//! | `read-random` | reads the values of `reads` random keys |
//! | `read-while-writing` | the same, while one more thread overwrites; the values are put back |
//!
//! Options: `count` (keys there are), `writes` (by default all), `reads` (by default `count`),
//! `key_size`, `value_size`, `threads`, `batch`, and those of the engine.
//! `seconds` is the most time that a step may take: what is not done by then is not measured, the
//! sample says how much was done and how much was asked for, and pairs that a step should have
//! written are written in large batches before a step that needs them.
//!
//! **What is written** follows from the seed. Key number i is i in decimal with zeros before it;
//! the value is random bytes made of the seed, i, and how often the key has been written.
//! **What is read** is hashed as it comes, and the hashes are compared with those of the values
//! that should be there when the clock has stopped. The answer of a step is made of them.
//!
//! **Time** runs from the first operation to the end of the last one, without opening sessions and
//! without flushing afterwards what the engine chose not to write yet. Each operation is timed, for
//! the percentiles, by one look at the clock; parts of a scan are not.

use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::engine::{self, KeyValue, Pair, Plan, Session, Unavailable};
use super::meter::Usage;
use super::model::{Job, Kind, Line, Sample, Step, Values};
use super::work::{blobs, duckdb, go, sql, transactions};
use crate::compare::{cache, stats};
use crate::data::random::SplitMix64;
use crate::interrupt;

/// How often progress is told and Ctrl-C looked for.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// Pairs in a batch of those that were not written in time.
const CATCH_UP: usize = 10_000;
/// Operations between two looks at whether to stop.
const STRIDE: u64 = 64;
/// A job that has more pairs than this is a mistake.
const MOST_PAIRS: u64 = 1 << 32;

/// Reads a job, does it, and tells what came of it.
pub fn serve() -> Result<u8> {
    die_with_the_runner();
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .context("cannot read the job")?;
    let mut job: Job = serde_json::from_str(&text).context("not a job")?;
    // A server works in another folder than this process.
    job.folder = job
        .folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", job.folder.display()))?;
    let done = match job.kind {
        Kind::KeyValue => key_value(&job),
        Kind::Sql if job.engine == duckdb::NAME => duckdb::run(&job, &mut |line| say(&line)),
        Kind::Sql => sql::run(&job, &mut |line| say(&line)),
        Kind::Blobs => blobs::run(&job, &|line| say(&line)),
        Kind::Transactions => transactions::run_job(&job, &mut |line| say(&line)),
        Kind::Go => go::run(&job, &mut |line| say(&line)),
    };
    let Err(e) = done else { return Ok(0) };
    interrupt::check()?;
    match e.downcast_ref::<Unavailable>() {
        Some(why) => say(&Line::Unavailable(why.to_string()))?,
        None => say(&Line::Failed(format!("{}: {e:#}", job.engine)))?,
    }
    Ok(0)
}

/// Whoever kills the runner kills this, and this one's servers with it.
fn die_with_the_runner() {
    // SAFETY: a plain system call.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn say(line: &Line) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

fn key_value(job: &Job) -> Result<()> {
    let mut run = Run::new(job)?;
    say(&Line::Ready(run.store()?.effective()?))?;
    for step in &job.steps {
        let context = || format!("step {}", step.name);
        match run.step(step) {
            Ok(_) if step.unmeasured => {}
            Ok(sample) => say(&Line::Sample(sample))?,
            Err(e) => {
                say(&job.not_cold(step, e).with_context(context)?)?;
                run.step(&step.as_preparation()).with_context(context)?;
            }
        }
    }
    Ok(())
}

/// Options of a step, or else of its job.
pub(super) struct Options<'j> {
    pub job: &'j Values,
    pub step: Option<&'j Values>,
}

impl<'j> Options<'j> {
    pub fn of(job: &'j Job, step: Option<&'j Step>) -> Options<'j> {
        Options {
            job: &job.options,
            step: step.map(|s| &s.options),
        }
    }

    pub fn text(&self, name: &str) -> Option<&'j str> {
        let value = self.step.and_then(|s| s.get(name)).or(self.job.get(name));
        value.map(String::as_str)
    }

    /// A number of seconds above 0, if it is given.
    pub fn seconds(&self, name: &str) -> Result<Option<Duration>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let seconds = text.parse().ok().filter(|s: &f64| *s > 0.0);
        let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
        limit
            .with_context(|| format!("{name}={text}: it is a number of seconds above 0"))
            .map(Some)
    }

    /// Whether it is `on`; what is not given is off.
    pub fn on(&self, name: &str) -> Result<bool> {
        match self.text(name) {
            None | Some("off") => Ok(false),
            Some("on") => Ok(true),
            Some(other) => bail!("{name}={other}: it is on or off"),
        }
    }

    /// A whole number from 1 on, if it is given.
    pub fn counted(&self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|n| *n > 0);
        number
            .map(Some)
            .with_context(|| format!("{name}={text}: it is a number from 1 on"))
    }

    pub fn number(&self, name: &str, default: u64) -> Result<u64> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .with_context(|| format!("{name}={text}: it is a whole number")),
        }
    }
}

/// The pairs of a job.
struct Pairs {
    seed: u64,
    key_size: usize,
    value_size: usize,
}

impl Pairs {
    fn key(&self, i: u64, to: &mut Vec<u8>) {
        to.clear();
        to.resize(self.key_size, b'0');
        let (mut rest, mut at) = (i, self.key_size);
        while rest > 0 && at > 0 {
            at -= 1;
            to[at] += (rest % 10) as u8;
            rest /= 10;
        }
    }

    /// The value that key `i` has after it was written `version` times.
    fn value(&self, i: u64, version: u32, to: &mut Vec<u8>) {
        let mut random = SplitMix64(mix(self.seed ^ mix(i) ^ u64::from(version)));
        to.clear();
        while to.len() < self.value_size {
            let bytes = random.next().to_le_bytes();
            to.extend_from_slice(&bytes[..bytes.len().min(self.value_size - to.len())]);
        }
    }
}

/// A number that shows nothing of the one it is made of.
pub(super) fn mix(n: u64) -> u64 {
    SplitMix64(n).next()
}

fn hash(key: &[u8], value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64_with_seed(key, 0))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Sequential,
    Random,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Fill(Order),
    Overwrite,
    Batch,
    Read(Order),
    ReadWhileWriting,
}

impl What {
    fn named(name: &str) -> Result<What> {
        Ok(match name {
            "fill-sequential" => What::Fill(Order::Sequential),
            "fill-random" => What::Fill(Order::Random),
            "overwrite" => What::Overwrite,
            "batch" => What::Batch,
            "read-sequential" => What::Read(Order::Sequential),
            "read-random" => What::Read(Order::Random),
            "read-while-writing" => What::ReadWhileWriting,
            _ => bail!("no such step for keys and values"),
        })
    }
}

/// A job that is being done.
struct Run<'j> {
    plan: Plan<'j>,
    pairs: Pairs,
    store: Option<Box<dyn KeyValue>>,
    /// How often each key was written.
    versions: Vec<u32>,
    written: bool,
    /// Whether a step that should have written more ran out of time.
    cut: bool,
}

impl<'j> Run<'j> {
    fn new(job: &'j Job) -> Result<Run<'j>> {
        let options = Options {
            job: &job.options,
            step: None,
        };
        let count = options.number("count", 100_000)?;
        ensure!(
            (1..=MOST_PAIRS).contains(&count),
            "count={count}: it is from 1 to {MOST_PAIRS}"
        );
        let pairs = Pairs {
            seed: job.seed,
            key_size: usize::try_from(options.number("key_size", 16)?)?,
            value_size: usize::try_from(options.number("value_size", 100)?)?,
        };
        let digits = (count - 1).to_string().len();
        ensure!(
            (digits..=200).contains(&pairs.key_size),
            "key_size={}: {count} keys need {digits} to 200 bytes each",
            pairs.key_size
        );
        ensure!(
            (1..=1 << 28).contains(&pairs.value_size),
            "value_size={}: it is from 1 byte to 256 MiB",
            pairs.value_size
        );
        let mut sessions = 1;
        for step in &job.steps {
            What::named(&step.name).with_context(|| format!("step {}", step.name))?;
            let options = Options {
                job: &job.options,
                step: Some(&step.options),
            };
            sessions = sessions.max(options.number("threads", 1)?);
        }
        ensure!(
            (1..=1024).contains(&sessions),
            "threads={sessions}: there may be 1 to 1024"
        );
        let mut run = Run {
            plan: Plan {
                job,
                folder: job.folder.join("store"),
                count,
                key_size: pairs.key_size,
                value_size: pairs.value_size,
                // The writer beside the readers, and one that flushes.
                sessions: usize::try_from(sessions)? + 2,
            },
            pairs,
            store: None,
            versions: vec![0; usize::try_from(count)?],
            written: false,
            cut: false,
        };
        run.renew()?;
        Ok(run)
    }

    fn store(&self) -> Result<&dyn KeyValue> {
        self.store.as_deref().context("the store is closed")
    }

    fn open(&mut self) -> Result<()> {
        self.store = Some(engine::open(&self.plan)?);
        Ok(())
    }

    /// Begins with an empty store.
    fn renew(&mut self) -> Result<()> {
        self.store = None;
        let folder = &self.plan.folder;
        let made = remove(folder).and_then(|()| std::fs::create_dir_all(folder));
        made.with_context(|| format!("cannot make {} anew", folder.display()))?;
        self.versions.fill(0);
        self.written = false;
        self.cut = false;
        self.open()
    }

    /// Writes the pairs that a step before had no time for; other pairs that are not there are a
    /// mistake of the suite, unless it writes into an empty store.
    fn catch_up(&mut self, empty: bool) -> Result<()> {
        let left: Vec<u64> = (0..)
            .zip(&self.versions)
            .filter_map(|(i, v)| (*v == 0).then_some(i))
            .collect();
        ensure!(
            left.is_empty() || self.cut || empty,
            "not all keys have been written; a step that fills has to come before it"
        );
        if left.is_empty() || !self.cut {
            return Ok(());
        }
        let pairs = &self.pairs;
        self.store()?.session(&mut |session| {
            let mut batch: Vec<Pair> = Vec::new();
            for (n, keys) in (1..).zip(left.chunks(CATCH_UP)) {
                batch.resize_with(keys.len(), Pair::default);
                for (i, (key, value)) in keys.iter().zip(&mut batch) {
                    pairs.key(*i, key);
                    pairs.value(*i, 1, value);
                }
                session.put_all(&batch)?;
                interrupt::check()?;
                say(&Line::Progress((n * CATCH_UP) as f64 / left.len() as f64))?;
            }
            Ok(())
        })?;
        for i in left {
            self.versions[i as usize] = 1;
        }
        self.cut = false;
        self.store()?.flush()
    }

    /// Makes the system forget the files; a server forgets what it had in memory by starting again.
    fn cool(&mut self) -> Result<()> {
        let store = self.store()?;
        if !store.survives_closing() {
            bail!(cache::StaysWarm("it keeps its data in memory".to_owned()));
        }
        store.flush()?;
        self.store = None;
        let files = engine::files(&self.plan.folder)?;
        let files: Vec<&Path> = files.iter().map(|f| f.as_path()).collect();
        let dropped = cache::drop_files(&files);
        self.open()?;
        dropped
    }

    fn step(&mut self, step: &Step) -> Result<Sample> {
        let what = What::named(&step.name)?;
        let options = Options {
            job: &self.plan.job.options,
            step: Some(&step.options),
        };
        let count = self.plan.count;
        let operations = match what {
            What::Read(_) | What::ReadWhileWriting => options.number("reads", count)?.max(1),
            _ => options.number("writes", count)?.clamp(1, count),
        };
        if matches!(what, What::Fill(_)) && self.written {
            self.renew()?;
        }
        if !matches!(what, What::Fill(_) | What::Batch) {
            self.catch_up(matches!(what, What::Overwrite))?;
        }
        if step.cold {
            self.cool()?;
        }
        let salt = xxh3_64_with_seed(step.name.as_bytes(), self.plan.job.seed);
        let load = Load {
            what,
            pairs: &self.pairs,
            versions: &self.versions,
            order: match what {
                What::Fill(Order::Sequential) | What::Read(_) => Vec::new(),
                _ => shuffled(count, salt),
            },
            salt,
            count,
            operations,
            batch: options.number("batch", 1000)?.max(1),
            threads: options.number("threads", 1)?.max(1),
            limit: options.seconds("seconds")?,
        };
        let store = self.store()?;
        let mut done = load.run(store)?;
        let answer = load.verify(&done)?;
        store.flush()?;
        let space = store.space(&self.plan.folder)?;
        if done.beside > 0 {
            load.restore(store, done.beside.min(count))?;
            store.flush()?;
        }
        if !matches!(what, What::Read(_) | What::ReadWhileWriting) {
            let done = done.ranges.iter().cloned().flatten();
            let written: Vec<u64> = done.map(|j| load.written(j)).collect();
            self.cut |= (written.len() as u64) < operations;
            for i in written {
                self.versions[i as usize] += 1;
            }
            self.written = true;
        }
        let asked = operations;
        let operations = done.ranges.iter().map(|r| r.end - r.start).sum();
        Ok(Sample {
            step: step.name.clone(),
            seconds: done.seconds,
            user: done.usage.user,
            system: done.usage.system,
            operations,
            asked: if operations < asked { asked } else { 0 },
            beside: done.beside,
            retries: 0,
            allocations: 0,
            allocated: 0,
            bytes: operations * self.pairs.value_size as u64,
            peak_memory: done.usage.peak,
            device_read: done.usage.device_read,
            device_written: done.usage.device_written,
            space,
            answer,
            percentiles: percentiles(&mut done.times),
        })
    }
}

/// Does a thread's work; a panic is an error, because others wait for the thread.
pub(super) fn caught<T, E: From<anyhow::Error>>(
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    // What the work had borrowed is not used any more after an error.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(anyhow!("a thread panicked").into()))
}

/// Removes a folder that may not be there.
fn remove(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// The numbers below `count` in an order that follows from the seed.
pub(super) fn shuffled(count: u64, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).map(|i| i as u32).collect();
    let mut random = SplitMix64(seed);
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

/// Seconds at the percentiles of the times.
pub(super) fn percentiles(times: &mut [f32]) -> Values {
    times.sort_unstable_by(f32::total_cmp);
    stats::percentiles(times, f64::from)
}

/// One step's work.
struct Load<'r> {
    what: What,
    pairs: &'r Pairs,
    /// How often each key was written before the step.
    versions: &'r [u32],
    /// In which order keys are written, where it is not their own.
    order: Vec<u32>,
    salt: u64,
    count: u64,
    operations: u64,
    batch: u64,
    threads: u64,
    limit: Option<Duration>,
}

/// What all threads did together.
struct Done {
    seconds: f64,
    /// The operations that were done, a range for each thread.
    ranges: Vec<Range<u64>>,
    usage: Usage,
    beside: u64,
    times: Vec<f32>,
    /// Hashes of what was read, operation by operation.
    hashes: Vec<u64>,
}

/// What one thread did.
#[derive(Default)]
struct Part {
    times: Vec<f32>,
    hashes: Vec<u64>,
    writes: u64,
    /// How many of its operations it did.
    done: u64,
    span: Option<(Instant, Instant)>,
}

/// What the threads of a step share.
struct Shared {
    /// All sessions are open.
    start: Barrier,
    /// The clock was read, sessions may close.
    end: Barrier,
    stop: AtomicBool,
    /// When there is no time left.
    deadline: OnceLock<Instant>,
    /// Threads that have not done their part, without one that writes beside them.
    left: AtomicU64,
    operations: AtomicU64,
}

impl Load<'_> {
    /// The key that operation `j` writes.
    fn written(&self, j: u64) -> u64 {
        match self.order.get((j % self.count) as usize) {
            Some(i) => u64::from(*i),
            None => j % self.count,
        }
    }

    /// The key that operation `j` reads.
    fn read(&self, j: u64) -> u64 {
        match self.what {
            What::Read(Order::Sequential) => j % self.count,
            _ => SplitMix64(self.salt ^ mix(j)).below(self.count),
        }
    }

    fn run(&self, store: &dyn KeyValue) -> Result<Done> {
        let beside = self.what == What::ReadWhileWriting;
        let all = self.threads + u64::from(beside);
        let parties = usize::try_from(all + 1)?;
        let shared = Shared {
            start: Barrier::new(parties),
            end: Barrier::new(parties),
            stop: AtomicBool::new(false),
            deadline: OnceLock::new(),
            left: AtomicU64::new(self.threads),
            operations: AtomicU64::new(0),
        };
        let servers = store.servers();
        let (tell, told) = std::sync::mpsc::channel();
        let (parts, usage) = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..all)
                .map(|t| {
                    let (shared, tell) = (&shared, tell.clone());
                    scope.spawn(move || {
                        let mut part = None;
                        let mut work = |session: &mut dyn Session| {
                            shared.start.wait();
                            let done = caught(|| self.part(t, session, shared));
                            if done.is_err() {
                                shared.stop.store(true, Ordering::Relaxed);
                            }
                            part = Some(done);
                            shared
                                .left
                                .fetch_sub(u64::from(t < self.threads), Ordering::Relaxed);
                            let _ = tell.send(());
                            shared.end.wait();
                            Ok(())
                        };
                        let session = caught(|| store.session(&mut work));
                        if part.is_none() {
                            // No session: the others must not wait for it.
                            shared.stop.store(true, Ordering::Relaxed);
                            shared.start.wait();
                            let _ = tell.send(());
                            shared.end.wait();
                        }
                        session?;
                        part.context("no session")?
                    })
                })
                .collect();
            let before = Usage::begin(&servers);
            shared.start.wait();
            let mut running = all;
            while running > 0 {
                match told.recv_timeout(TICK) {
                    Ok(()) => running -= 1,
                    Err(_) => {
                        let share = shared.operations.load(Ordering::Relaxed) as f64
                            / self.operations as f64;
                        // Nobody may be listening any more: then there is nothing to do either.
                        if interrupt::raised() || say(&Line::Progress(share.min(1.0))).is_err() {
                            shared.stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
            let usage = Usage::now(&servers).since(&before);
            shared.end.wait();
            let parts: Vec<Result<Part>> = threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| bail!("a thread panicked")))
                .collect();
            (parts, usage)
        });
        interrupt::check()?;
        let mut done = Done {
            seconds: 0.0,
            ranges: Vec::new(),
            usage,
            beside: 0,
            times: Vec::new(),
            hashes: Vec::new(),
        };
        let mut span: Option<(Instant, Instant)> = None;
        for (t, part) in (0..).zip(parts) {
            let part = part?;
            if t < self.threads {
                let from = self.range(t).start;
                done.ranges.push(from..from + part.done);
            }
            done.times.extend(part.times);
            done.hashes.extend(part.hashes);
            done.beside += part.writes;
            if let Some((a, b)) = part.span {
                let (from, to) = span.unwrap_or((a, b));
                span = Some((from.min(a), to.max(b)));
            }
        }
        ensure!(!shared.stop.load(Ordering::Relaxed), "stopped");
        done.seconds = span.map_or(0.0, |(from, to)| (to - from).as_secs_f64());
        Ok(done)
    }

    /// The operations that thread `t` is to do.
    fn range(&self, t: u64) -> Range<u64> {
        self.operations * t / self.threads..self.operations * (t + 1) / self.threads
    }

    /// The part of thread `t`.
    fn part(&self, t: u64, session: &mut dyn Session, shared: &Shared) -> Result<Part> {
        if t == self.threads {
            return self.write_beside(session, shared);
        }
        let range = self.range(t);
        let mut part = Part::default();
        let n = (range.end - range.start) as usize;
        match self.what {
            What::Read(_) | What::ReadWhileWriting => part.hashes.reserve(n),
            _ => {}
        }
        part.times.reserve(n);
        let start = Instant::now();
        if let Some(limit) = self.limit {
            shared.deadline.get_or_init(|| start + limit);
        }
        match self.what {
            What::Fill(_) | What::Overwrite => self.write(range, session, shared, &mut part)?,
            What::Batch => self.write_batches(range, session, shared, &mut part)?,
            What::Read(Order::Sequential) => self.scan(range, session, shared, &mut part)?,
            What::Read(Order::Random) | What::ReadWhileWriting => {
                self.look_up(range, session, shared, &mut part)?;
            }
        }
        part.span = Some((start, Instant::now()));
        Ok(part)
    }

    /// Makes the pair that operation `j` writes.
    fn pair(&self, j: u64, (key, value): &mut Pair) {
        let i = self.written(j);
        let round = (j / self.count) as u32;
        self.pairs.key(i, key);
        self.pairs
            .value(i, self.versions[i as usize] + 1 + round, value);
    }

    fn write(
        &self,
        range: Range<u64>,
        session: &mut dyn Session,
        shared: &Shared,
        part: &mut Part,
    ) -> Result<()> {
        let mut pair = Pair::default();
        let mut clock = Instant::now();
        for j in range {
            if shared.pause(j) {
                break;
            }
            self.pair(j, &mut pair);
            session.put(&pair.0, &pair.1)?;
            part.times.push(lap(&mut clock));
            part.done += 1;
            if shared.is_late(clock) {
                break;
            }
        }
        Ok(())
    }

    fn write_batches(
        &self,
        range: Range<u64>,
        session: &mut dyn Session,
        shared: &Shared,
        part: &mut Part,
    ) -> Result<()> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut clock = Instant::now();
        let mut from = range.start;
        while from < range.end && !shared.is_over() {
            let n = self.batch.min(range.end - from);
            pairs.resize_with(usize::try_from(n)?, Pair::default);
            for (j, pair) in (from..).zip(&mut pairs) {
                self.pair(j, pair);
            }
            session.put_all(&pairs)?;
            part.times.push(lap(&mut clock));
            shared.operations.fetch_add(n, Ordering::Relaxed);
            part.done += n;
            from += n;
        }
        Ok(())
    }

    /// Gives the first `n` keys that were written beside the readers their values back, so that
    /// what later steps read does not depend on how quick the writer was.
    fn restore(&self, store: &dyn KeyValue, n: u64) -> Result<()> {
        store.session(&mut |session| {
            let mut from = 0;
            while from < n {
                let to = n.min(from + self.batch);
                let pairs: Vec<Pair> = (from..to)
                    .map(|j| {
                        let (i, mut pair) = (self.written(j), Pair::default());
                        self.pairs.key(i, &mut pair.0);
                        let version = self.versions[i as usize];
                        self.pairs.value(i, version, &mut pair.1);
                        pair
                    })
                    .collect();
                session.put_all(&pairs)?;
                interrupt::check()?;
                from = to;
            }
            Ok(())
        })
    }

    /// Overwrites, until the readers are done.
    fn write_beside(&self, session: &mut dyn Session, shared: &Shared) -> Result<Part> {
        let mut part = Part::default();
        let mut pair = Pair::default();
        while shared.left.load(Ordering::Relaxed) > 0 && !shared.stop.load(Ordering::Relaxed) {
            self.pair(part.writes, &mut pair);
            session.put(&pair.0, &pair.1)?;
            part.writes += 1;
        }
        Ok(part)
    }

    fn look_up(
        &self,
        range: Range<u64>,
        session: &mut dyn Session,
        shared: &Shared,
        part: &mut Part,
    ) -> Result<()> {
        let mut key = Vec::new();
        let mut clock = Instant::now();
        for j in range {
            if shared.pause(j) {
                break;
            }
            self.pairs.key(self.read(j), &mut key);
            let hashes = &mut part.hashes;
            let found = session.get(&key, &mut |value| hashes.push(hash(&key, value)))?;
            ensure!(found, "{}", lost(&key));
            part.times.push(lap(&mut clock));
            part.done += 1;
            if shared.is_late(clock) {
                break;
            }
        }
        Ok(())
    }

    fn scan(
        &self,
        range: Range<u64>,
        session: &mut dyn Session,
        shared: &Shared,
        part: &mut Part,
    ) -> Result<()> {
        let mut key = Vec::new();
        let mut j = range.start;
        while j < range.end && !shared.is_over() {
            self.pairs.key(self.read(j), &mut key);
            // To the last key, then from the first one again.
            let end = range.end.min((j / self.count + 1) * self.count);
            let before = j;
            let ordered = session.scan(&key, &mut |key, value| {
                part.hashes.push(hash(key, value));
                j += 1;
                j < end && !shared.pause(j)
            })?;
            if !ordered {
                return self.look_up(before..range.end, session, shared, part);
            }
            part.done += j - before;
            if j < end && !shared.is_over() {
                self.pairs.key(self.read(j), &mut key);
                bail!("{}", lost(&key));
            }
        }
        Ok(())
    }

    /// Compares what was read with what was written; gives the answer of the step.
    fn verify(&self, done: &Done) -> Result<String> {
        if done.hashes.is_empty() {
            return Ok(String::new());
        }
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut answer = xxhash_rust::xxh3::Xxh3::new();
        // What was written meanwhile may have been there or not.
        let rounds = done.beside.div_ceil(self.count) as u32;
        let all = done.ranges.iter().cloned().flatten();
        for (j, got) in all.zip(&done.hashes) {
            let i = self.read(j);
            self.pairs.key(i, &mut key);
            let version = self.versions[i as usize];
            let mut right = false;
            for round in 0..=rounds {
                self.pairs.value(i, version + round, &mut value);
                let expected = hash(&key, &value);
                if round == 0 {
                    answer.update(&expected.to_le_bytes());
                }
                right |= expected == *got;
                if right {
                    break;
                }
            }
            ensure!(
                right,
                "the value of key {} is not the one that was written",
                String::from_utf8_lossy(&key)
            );
        }
        // Engines that had no time for all have not read the same.
        let whole = done.hashes.len() as u64 == self.operations;
        Ok(match whole {
            true => format!("{:016x}", answer.digest()),
            false => String::new(),
        })
    }
}

fn lost(key: &[u8]) -> String {
    format!(
        "key {} was written and is not there",
        String::from_utf8_lossy(key)
    )
}

impl Shared {
    /// Counts operations, and says now and then whether to stop.
    fn pause(&self, j: u64) -> bool {
        if !j.is_multiple_of(STRIDE) {
            return false;
        }
        self.operations.fetch_add(STRIDE, Ordering::Relaxed);
        self.is_over()
    }

    /// Whether somebody said to stop, or the time has run out.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_late(Instant::now())
    }

    /// Whether the time had run out then.
    fn is_late(&self, now: Instant) -> bool {
        self.deadline.get().is_some_and(|end| now >= *end)
    }
}

/// Seconds since the last lap.
pub(super) fn lap(clock: &mut Instant) -> f32 {
    let now = Instant::now();
    let time = (now - *clock).as_secs_f32();
    *clock = now;
    time
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::bench::engine::Work;
    use crate::bench::model::Effective;

    /// A store in memory that gives a wrong byte back for one key, or nothing at all.
    struct Spoiled {
        pairs: std::sync::Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
        wrong: &'static [u8],
        gone: &'static [u8],
    }

    impl KeyValue for Spoiled {
        fn effective(&self) -> Result<Effective> {
            Ok(Effective::default())
        }

        fn session(&self, work: Work<'_>) -> Result<()> {
            work(&mut Hand(self))
        }

        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    struct Hand<'s>(&'s Spoiled);

    impl Session for Hand<'_> {
        fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
            let mut value = value.to_vec();
            value[0] ^= u8::from(key == self.0.wrong);
            if key != self.0.gone {
                self.0.pairs.lock().unwrap().insert(key.to_vec(), value);
            }
            Ok(())
        }

        fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
            pairs.iter().try_for_each(|(k, v)| self.put(k, v))
        }

        fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
            let value = self.0.pairs.lock().unwrap().get(key).cloned();
            value.iter().for_each(|v| found(v));
            Ok(value.is_some())
        }

        fn scan(
            &mut self,
            from: &[u8],
            each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
        ) -> Result<bool> {
            let pairs = self.0.pairs.lock().unwrap();
            let _ = pairs.range(from.to_vec()..).all(|(k, v)| each(k, v));
            Ok(true)
        }
    }

    const PAIRS: Pairs = Pairs {
        seed: 1,
        key_size: 4,
        value_size: 20,
    };

    /// Fills a store and reads it in order.
    fn answer(wrong: &'static [u8], gone: &'static [u8], threads: u64) -> Result<String> {
        let store = Spoiled {
            pairs: Default::default(),
            wrong,
            gone,
        };
        let load = |what, versions| Load {
            what,
            pairs: &PAIRS,
            versions,
            order: Vec::new(),
            salt: 5,
            count: 100,
            operations: 100,
            batch: 7,
            threads,
            limit: None,
        };
        load(What::Batch, &[0; 100]).run(&store)?;
        let read = load(What::Read(Order::Sequential), &[1; 100]);
        read.verify(&read.run(&store)?)
    }

    #[test]
    fn every_value_is_verified() {
        let right = answer(b"", b"", 1).unwrap();
        assert_eq!(right.len(), 16);
        assert_eq!(answer(b"", b"", 3).unwrap(), right);
        let says = |result: Result<String>| format!("{:#}", result.unwrap_err());
        assert!(says(answer(b"0042", b"", 1)).contains("key 0042 is not the one"));
        // The next one comes in its place.
        assert!(says(answer(b"", b"0042", 3)).contains("key 0042"));
        assert!(says(answer(b"", b"0099", 1)).contains("0099 was written and is not there"));
    }

    #[test]
    fn keys_are_in_order_and_values_of_their_size() {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        PAIRS.key(0, &mut key);
        assert_eq!(key, b"0000");
        PAIRS.key(9870, &mut key);
        assert_eq!(key, b"9870");
        PAIRS.value(3, 1, &mut value);
        assert_eq!(value.len(), 20);
        let first = value.clone();
        PAIRS.value(3, 2, &mut value);
        assert_ne!(value, first);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let mut times: Vec<f32> = (1..=1000).rev().map(|n| n as f32).collect();
        let found = percentiles(&mut times);
        assert_eq!(found["50"], "500.000000000");
        assert_eq!(found["99.9"], "999.000000000");
        assert_eq!(found["100"], "1000.000000000");
        assert!(percentiles(&mut []).is_empty());
    }

    #[test]
    fn a_shuffle_has_every_number_once() {
        let mut order = shuffled(1000, 3);
        assert_ne!(order, shuffled(1000, 4));
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
    }
}
