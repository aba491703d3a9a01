//! Jobs of keys and values in any engine.
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

mod load;
mod pairs;
mod step;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::options::JobOptions;
use super::{Say, Work};
use crate::bench::engine::{self, KeyValue, Pair, StorePlan};
use crate::bench::meter::percentiles;
use crate::bench::model::{Job, Line, Sample, Step, Values};
use crate::compare::cache;
use crate::data::random::shuffled;
use crate::interrupt;
use load::PairLoad;
use pairs::Pairs;
use step::{KeyOrder, PairStep};

/// Pairs in a batch of those that were not written in time.
const CATCH_UP: usize = 10_000;
/// A job that has more pairs than this is a mistake.
const MOST_PAIRS: u64 = 1 << 32;

/// Pairs of a key and a value.
pub struct Pairwise;

impl Work for Pairwise {
    fn options(&self) -> Vec<&'static str> {
        vec![
            "batch",
            "buckets",
            "cache_size",
            "connection",
            "count",
            "index",
            "key_size",
            "kind",
            "method",
            "partitions",
            "reads",
            "seconds",
            "storage",
            "sync",
            "table",
            "tablespace",
            "threads",
            "value_size",
            "writes",
        ]
    }

    fn has_engine(&self, engine: &str, is_sqlite: bool, _options: &Values) -> bool {
        is_sqlite || engine::is_known(engine)
    }

    fn leaves_behind(&self) -> bool {
        true
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        key_value(job, say)
    }
}

/// Does the steps of a job, telling each line to `say`.
fn key_value(job: &Job, say: Say<'_>) -> Result<()> {
    let mut run = PairJob::new(job, say)?;
    say(Line::Ready(run.store()?.effective()?))?;
    for step in &job.steps {
        let context = || format!("step {}", step.name);
        match run.step(step) {
            Ok(_) if step.unmeasured => {}
            Ok(sample) => say(Line::Sample(sample))?,
            Err(e) => {
                say(job.not_cold(step, e).with_context(context)?)?;
                run.step(&step.as_preparation()).with_context(context)?;
            }
        }
    }
    Ok(())
}

/// A job that is being done.
struct PairJob<'j> {
    say: Say<'j>,
    plan: StorePlan<'j>,
    pairs: Pairs,
    store: Option<Box<dyn KeyValue>>,
    /// How often each key was written.
    versions: Vec<u32>,
    written: bool,
    /// Whether a step that should have written more ran out of time.
    cut: bool,
}

impl<'j> PairJob<'j> {
    fn new(job: &'j Job, say: Say<'j>) -> Result<PairJob<'j>> {
        let options = JobOptions::of(job, None);
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
            PairStep::named(&step.name).with_context(|| format!("step {}", step.name))?;
            let options = JobOptions::of(job, Some(step));
            sessions = sessions.max(options.number("threads", 1)?);
        }
        ensure!(
            (1..=1024).contains(&sessions),
            "threads={sessions}: there may be 1 to 1024"
        );
        let mut run = PairJob {
            say,
            plan: StorePlan {
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
        let (pairs, say) = (&self.pairs, self.say);
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
                say(Line::Progress((n * CATCH_UP) as f64 / left.len() as f64))?;
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
        let what = PairStep::named(&step.name)?;
        let options = JobOptions::of(self.plan.job, Some(step));
        let count = self.plan.count;
        let operations = match what {
            PairStep::Read(_) | PairStep::ReadWhileWriting => {
                options.number("reads", count)?.max(1)
            }
            _ => options.number("writes", count)?.clamp(1, count),
        };
        if matches!(what, PairStep::Fill(_)) && self.written {
            self.renew()?;
        }
        if !matches!(what, PairStep::Fill(_) | PairStep::Batch) {
            self.catch_up(matches!(what, PairStep::Overwrite))?;
        }
        if step.cold {
            self.cool()?;
        }
        let salt = xxh3_64_with_seed(step.name.as_bytes(), self.plan.job.seed);
        let load = PairLoad {
            what,
            pairs: &self.pairs,
            versions: &self.versions,
            order: match what {
                PairStep::Fill(KeyOrder::Sequential) | PairStep::Read(_) => Vec::new(),
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
        let mut done = load.run(store, self.say)?;
        let answer = load.verify(&done)?;
        store.flush()?;
        let space = store.space(&self.plan.folder)?;
        if done.beside > 0 {
            load.restore(store, done.beside.min(count))?;
            store.flush()?;
        }
        if !matches!(what, PairStep::Read(_) | PairStep::ReadWhileWriting) {
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

/// Removes a folder that may not be there.
fn remove(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
