//! Clocks of threads, which stand while a thread checks.

use std::time::{Duration, Instant};

use crate::compare::stats as times;
use crate::kvtest::stats;
use crate::sample::Values;

/// How long the clock of a thread stood, and the processor time that this took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    pub wall: Duration,
    pub cpu: Duration,
}

impl Standing {
    /// The seconds of `span` without the checks of so many threads.
    pub fn taken_off(&self, span: Duration, threads: u64, processors: u64) -> f64 {
        let checks = match threads {
            1 => self.wall.as_secs_f64(),
            _ => self.cpu.as_secs_f64() / threads.min(processors) as f64,
        };
        span.as_secs_f64() - checks
    }

    pub fn add(&mut self, other: Standing) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

/// When a clock was stopped.
pub struct StoppedClock {
    pub wall: Instant,
    pub cpu: Duration,
}

impl StoppedClock {
    pub fn now() -> StoppedClock {
        let wall = Instant::now();
        let cpu = stats::thread_time();
        StoppedClock { wall, cpu }
    }

    /// Starts the clock again, once; tells when that was.
    pub fn go(&self, standing: &mut Standing) -> Instant {
        standing.cpu += stats::thread_time().saturating_sub(self.cpu);
        let now = Instant::now();
        standing.wall += now - self.wall;
        now
    }
}

/// Seconds at the percentiles of the times.
pub fn percentiles(nanoseconds: &[u64]) -> Values {
    let mut sorted = nanoseconds.to_vec();
    sorted.sort_unstable();
    times::percentiles(&sorted, |time| time as f64 / 1e9)
}
