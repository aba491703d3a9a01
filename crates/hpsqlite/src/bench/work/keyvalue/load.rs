//! One step's operations on an open store, in one thread or several.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::pairs::{Pairs, hash};
use super::step::{KeyOrder, PairStep};
use crate::bench::engine::{KeyValue, Pair, Session};
use crate::bench::meter::Usage;
use crate::bench::model::Line;
use crate::bench::work::{Say, caught};
use crate::data::random::{SplitMix64, mix};
use crate::interrupt;
use crate::timed::{self, Laps, Watch};

/// One step's work.
pub struct PairLoad<'r> {
    pub what: PairStep,
    pub pairs: &'r Pairs,
    /// How often each key was written before the step.
    pub versions: &'r [u32],
    /// In which order keys are written, where it is not their own.
    pub order: Vec<u32>,
    pub salt: u64,
    pub count: u64,
    pub operations: u64,
    pub batch: u64,
    pub threads: u64,
    pub limit: Option<Duration>,
}

/// What all threads did together.
pub struct PairsDone {
    pub seconds: f64,
    /// The operations that were done, a range for each thread.
    pub ranges: Vec<Range<u64>>,
    pub usage: Usage,
    pub beside: u64,
    pub times: Vec<f32>,
    /// Hashes of what was read, operation by operation.
    pub hashes: Vec<u64>,
}

/// What one thread did.
#[derive(Default)]
struct ThreadPairs {
    times: Vec<f32>,
    hashes: Vec<u64>,
    writes: u64,
    /// How many of its operations it did.
    done: u64,
    span: Option<(Instant, Instant)>,
}

/// What the threads of a step share.
struct PairThreads {
    /// All sessions are open.
    start: Barrier,
    /// The clock was read, sessions may close.
    end: Barrier,
    watch: Watch,
    /// When there is no time left.
    deadline: OnceLock<Instant>,
    /// Threads that have not done their part, without one that writes beside them.
    left: AtomicU64,
}

impl PairLoad<'_> {
    /// The key that operation `j` writes.
    pub fn written(&self, j: u64) -> u64 {
        match self.order.get((j % self.count) as usize) {
            Some(i) => u64::from(*i),
            None => j % self.count,
        }
    }

    /// The key that operation `j` reads.
    fn read(&self, j: u64) -> u64 {
        match self.what {
            PairStep::Read(KeyOrder::Sequential) => j % self.count,
            _ => SplitMix64(self.salt ^ mix(j)).below(self.count),
        }
    }

    pub fn run(&self, store: &dyn KeyValue, say: Say<'_>) -> Result<PairsDone> {
        let beside = self.what == PairStep::ReadWhileWriting;
        let all = self.threads + u64::from(beside);
        let parties = usize::try_from(all + 1)?;
        let shared = PairThreads {
            start: Barrier::new(parties),
            end: Barrier::new(parties),
            watch: Watch::default(),
            deadline: OnceLock::new(),
            left: AtomicU64::new(self.threads),
        };
        let servers: Vec<u32> = store.server().map(|s| s.pid()).into_iter().collect();
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
                                shared.watch.stop();
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
                            shared.watch.stop();
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
            timed::wait(&told, threads.len(), |told| {
                let share = shared.watch.share(self.operations);
                // Nobody may be listening any more: then there is nothing to do either.
                if told.is_none() && (interrupt::raised() || say(Line::Progress(share)).is_err()) {
                    shared.watch.stop();
                }
            });
            let usage = Usage::now(&servers).since(&before);
            shared.end.wait();
            let parts: Vec<Result<ThreadPairs>> = threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| bail!("a thread panicked")))
                .collect();
            (parts, usage)
        });
        interrupt::check()?;
        let mut done = PairsDone {
            seconds: 0.0,
            ranges: Vec::new(),
            usage,
            beside: 0,
            times: Vec::new(),
            hashes: Vec::new(),
        };
        let mut spans = Vec::new();
        for (t, part) in (0..).zip(parts) {
            let part = part?;
            if t < self.threads {
                let from = self.range(t).start;
                done.ranges.push(from..from + part.done);
            }
            done.times.extend(part.times);
            done.hashes.extend(part.hashes);
            done.beside += part.writes;
            spans.push(part.span);
        }
        ensure!(!shared.watch.is_stopped(), "stopped");
        done.seconds = timed::whole(spans).map_or(0.0, |(from, to)| (to - from).as_secs_f64());
        Ok(done)
    }

    /// The operations that thread `t` is to do.
    fn range(&self, t: u64) -> Range<u64> {
        self.operations * t / self.threads..self.operations * (t + 1) / self.threads
    }

    /// The part of thread `t`.
    fn part(&self, t: u64, session: &mut dyn Session, shared: &PairThreads) -> Result<ThreadPairs> {
        if t == self.threads {
            return self.write_beside(session, shared);
        }
        let range = self.range(t);
        let start = Instant::now();
        let end = |limit| *shared.deadline.get_or_init(|| start + limit);
        let mut turns = Laps::new(&shared.watch, self.limit.map(end));
        let n = usize::try_from(range.end - range.start)?;
        turns.times.reserve(n);
        let mut hashes = Vec::new();
        match self.what {
            PairStep::Fill(_) | PairStep::Overwrite => {
                let mut pair = Pair::default();
                turns.run(range, |j| {
                    self.pair(j, &mut pair);
                    session.put(&pair.0, &pair.1)?;
                    Ok(1)
                })?;
            }
            PairStep::Batch => {
                let mut pairs: Vec<Pair> = Vec::new();
                let batches = range.clone().step_by(usize::try_from(self.batch)?);
                turns.run(batches, |from| {
                    let n = self.batch.min(range.end - from);
                    pairs.resize_with(usize::try_from(n)?, Pair::default);
                    for (j, pair) in (from..).zip(&mut pairs) {
                        self.pair(j, pair);
                    }
                    session.put_all(&pairs)?;
                    Ok(n)
                })?;
            }
            PairStep::Read(KeyOrder::Sequential) => {
                hashes.reserve(n);
                self.scan(range, session, &mut turns, &mut hashes)?;
            }
            PairStep::Read(KeyOrder::Random) | PairStep::ReadWhileWriting => {
                hashes.reserve(n);
                self.look_up(range, session, &mut turns, &mut hashes)?;
            }
        }
        Ok(ThreadPairs {
            done: turns.done(),
            times: turns.times,
            hashes,
            writes: 0,
            span: Some((start, Instant::now())),
        })
    }

    /// Makes the pair that operation `j` writes.
    fn pair(&self, j: u64, (key, value): &mut Pair) {
        let i = self.written(j);
        let round = (j / self.count) as u32;
        self.pairs.key(i, key);
        self.pairs
            .value(i, self.versions[i as usize] + 1 + round, value);
    }

    /// Gives the first `n` keys that were written beside the readers their values back, so that
    /// what later steps read does not depend on how quick the writer was.
    pub fn restore(&self, store: &dyn KeyValue, n: u64) -> Result<()> {
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
    fn write_beside(&self, session: &mut dyn Session, shared: &PairThreads) -> Result<ThreadPairs> {
        let mut part = ThreadPairs::default();
        let mut pair = Pair::default();
        while shared.left.load(Ordering::Relaxed) > 0 && !shared.watch.is_stopped() {
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
        turns: &mut Laps<'_>,
        hashes: &mut Vec<u64>,
    ) -> Result<()> {
        let mut key = Vec::new();
        turns.run(range, |j| {
            self.pairs.key(self.read(j), &mut key);
            let found = session.get(&key, &mut |value| hashes.push(hash(&key, value)))?;
            ensure!(found, "{}", lost(&key));
            Ok(1)
        })
    }

    fn scan(
        &self,
        range: Range<u64>,
        session: &mut dyn Session,
        turns: &mut Laps<'_>,
        hashes: &mut Vec<u64>,
    ) -> Result<()> {
        let mut key = Vec::new();
        let mut j = range.start;
        while j < range.end && !turns.is_over() {
            self.pairs.key(self.read(j), &mut key);
            // To the last key, then from the first one again.
            let end = range.end.min((j / self.count + 1) * self.count);
            let ordered = session.scan(&key, &mut |key, value| {
                hashes.push(hash(key, value));
                j += 1;
                turns.count() && j < end
            })?;
            if !ordered {
                return self.look_up(j..range.end, session, turns, hashes);
            }
            if j < end && !turns.is_over() {
                self.pairs.key(self.read(j), &mut key);
                bail!("{}", lost(&key));
            }
        }
        Ok(())
    }

    /// Compares what was read with what was written; gives the answer of the step.
    pub fn verify(&self, done: &PairsDone) -> Result<String> {
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
