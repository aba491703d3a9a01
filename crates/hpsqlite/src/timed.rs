//! Work of threads while a clock runs.
//!
//! ```text
//! Watch     one for all threads: whether to stop, how much is done
//!   Laps    one for each thread: does operations and times them, until they are done, the time has
//!           run out or somebody said stop
//! wait()    for the thread that started them: tells now and then that they are not done
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;

/// How often progress is told and Ctrl-C looked for.
pub const TICK: Duration = Duration::from_millis(100);
/// Operations between two looks at whether to stop.
const STRIDE: u64 = 64;

/// What the threads share with the one that waits for them.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Watch {
    /// No thread goes on.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Operations that were done, by all threads.
    pub fn count(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }

    /// How many of so many operations are done, of 1.
    pub fn share(&self, of: u64) -> f64 {
        (self.done.load(Ordering::Relaxed) as f64 / of.max(1) as f64).min(1.0)
    }
}

/// The operations of one thread.
pub struct Laps<'w> {
    watch: &'w Watch,
    /// When there is no time left.
    end: Option<Instant>,
    done: u64,
    /// Those that the watch knows of.
    counted: u64,
    /// Seconds of each turn.
    pub times: Vec<f32>,
}

impl<'w> Laps<'w> {
    pub fn new(watch: &'w Watch, end: Option<Instant>) -> Laps<'w> {
        Laps {
            watch,
            end,
            done: 0,
            counted: 0,
            times: Vec::new(),
        }
    }

    /// Operations that were done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Does one turn after the other; `work` says how many operations one was.
    pub fn run(
        &mut self,
        turns: impl Iterator<Item = u64>,
        mut work: impl FnMut(u64) -> Result<u64>,
    ) -> Result<()> {
        let mut clock = Instant::now();
        for turn in turns {
            if self.is_stopped() {
                break;
            }
            self.done += work(turn)?;
            self.times.push(lap(&mut clock));
            if self.end.is_some_and(|end| clock >= end) {
                break;
            }
        }
        Ok(())
    }

    /// Counts an operation that has no time of its own; now and then tells whether to go on.
    pub fn count(&mut self) -> bool {
        self.done += 1;
        self.done - self.counted < STRIDE || !self.is_over()
    }

    /// Whether somebody said stop, or the time has run out.
    pub fn is_over(&mut self) -> bool {
        self.counted_all() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether somebody said stop, now and then.
    fn is_stopped(&mut self) -> bool {
        (self.done == 0 || self.done - self.counted >= STRIDE) && self.counted_all()
    }

    /// Tells the watch what was done, and asks it whether to stop.
    fn counted_all(&mut self) -> bool {
        self.watch.count(self.done - self.counted);
        self.counted = self.done;
        self.watch.is_stopped()
    }
}

/// Seconds since the last lap.
fn lap(clock: &mut Instant) -> f32 {
    let now = Instant::now();
    let time = (now - *clock).as_secs_f32();
    *clock = now;
    time
}

/// Waits until so many threads have told something, or none is left that could: hands on what they
/// tell, and nothing each [`TICK`].
pub fn wait<T>(told: &Receiver<T>, threads: usize, mut each: impl FnMut(Option<T>)) {
    let mut running = threads;
    while running > 0 {
        match told.recv_timeout(TICK) {
            Ok(told) => {
                running -= 1;
                each(Some(told));
            }
            Err(RecvTimeoutError::Timeout) => each(None),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
}

/// From the first beginning to the last end.
pub fn whole<T: Copy + Ord>(spans: impl IntoIterator<Item = Option<(T, T)>>) -> Option<(T, T)> {
    let both = |(a, b): (T, T), (from, to)| (a.min(from), b.max(to));
    spans.into_iter().flatten().reduce(both)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn turns_end_with_the_work_the_time_or_a_word() {
        let watch = Watch::default();
        let mut turns = Laps::new(&watch, None);
        turns.run((0..1000).step_by(10), |_| Ok(10)).unwrap();
        assert_eq!((turns.done(), turns.times.len()), (1000, 100));
        assert!(watch.share(1000) > 0.9);

        let mut turns = Laps::new(&watch, Some(Instant::now()));
        turns.run(0..1000, |_| Ok(1)).unwrap();
        assert_eq!(turns.done(), 1);
        assert!(turns.is_over());

        let mut turns = Laps::new(&watch, None);
        let work = |j| {
            if j == 5 {
                watch.stop();
            }
            Ok(1)
        };
        turns.run(0..1000, work).unwrap();
        assert_eq!(turns.done(), STRIDE);
        while turns.count() {}
        assert_eq!(turns.done(), 2 * STRIDE);
    }

    #[test]
    fn nobody_waits_for_threads_that_are_gone() {
        let (tell, told) = channel();
        tell.send(1).unwrap();
        tell.send(2).unwrap();
        drop(tell);
        let mut all = Vec::new();
        wait(&told, 3, |told| all.extend(told));
        assert_eq!(all, [1, 2]);
    }

    #[test]
    fn a_whole_span_has_all_others() {
        assert_eq!(whole([Some((2, 5)), None, Some((1, 3))]), Some((1, 5)));
        assert_eq!(whole::<u64>([None]), None);
    }
}
