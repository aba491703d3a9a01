//! What a piece of work took of this process and of its servers.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::model::{Sample, Values};
use crate::compare::stats;
use crate::usage;

/// A clock that is running.
pub struct Meter {
    start: Instant,
    before: Usage,
}

impl Meter {
    pub fn start() -> Meter {
        let before = Usage::begin(&[]);
        Meter {
            start: Instant::now(),
            before,
        }
    }

    /// The times, memory and bytes of a sample; all else of it is the caller's.
    pub fn stop(self) -> Sample {
        let seconds = self.start.elapsed().as_secs_f64();
        let usage = Usage::now(&[]).since(&self.before);
        Sample {
            seconds,
            user: usage.user,
            system: usage.system,
            peak_memory: usage.peak,
            device_read: usage.device_read,
            device_written: usage.device_written,
            ..Sample::default()
        }
    }
}

/// What this process and its servers have used.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Usage {
    pub user: f64,
    pub system: f64,
    pub device_read: u64,
    pub device_written: u64,
    /// Bytes; not a difference: the largest since [`Usage::begin`].
    pub peak: u64,
}

impl Usage {
    /// What there has been before the clock runs; from now on peaks are new ones.
    pub fn begin(servers: &[u32]) -> Usage {
        usage::forget_peak("self");
        for pid in servers {
            usage::forget_peak(&pid.to_string());
        }
        Usage::now(servers)
    }

    /// The same of one process.
    pub fn begin_of(process: &str) -> Usage {
        usage::forget_peak(process);
        Usage::of(process)
    }

    /// What there has been so far; `servers` are their process ids.
    pub fn now(servers: &[u32]) -> Usage {
        let mut sum = Usage::of("self");
        for pid in servers {
            sum = sum.with(&Usage::of(&pid.to_string()));
        }
        sum
    }

    /// What both have used.
    pub fn with(self, other: &Usage) -> Usage {
        Usage {
            user: self.user + other.user,
            system: self.system + other.system,
            device_read: self.device_read + other.device_read,
            device_written: self.device_written + other.device_written,
            peak: self.peak + other.peak,
        }
    }

    /// What `/proc` tells of a process; zeros of one that has ended.
    pub fn of(process: &str) -> Usage {
        let read = |file| std::fs::read_to_string(format!("/proc/{process}/{file}"));
        let mut usage = Usage::default();
        if process == "self" {
            (usage.user, usage.system) = usage::process_time();
        } else if let Ok(stat) = read("stat") {
            // SAFETY: a plain system call.
            let tick = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
            // The name of the program, in parentheses, may hold anything.
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let field = |n| rest.split_whitespace().nth(n).and_then(|f| f.parse().ok());
            usage.user = field(11).unwrap_or(0.0) / tick;
            usage.system = field(12).unwrap_or(0.0) / tick;
        }
        let number = |text: &str, name: &str| -> u64 {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap_or(0)
        };
        if let Ok(io) = read("io") {
            usage.device_read = number(&io, "read_bytes:");
            usage.device_written = number(&io, "write_bytes:");
        }
        usage.peak = usage::peak_memory(process);
        usage
    }

    /// What was used after `before`.
    pub fn since(self, before: &Usage) -> Usage {
        Usage {
            user: (self.user - before.user).max(0.0),
            system: (self.system - before.system).max(0.0),
            device_read: self.device_read.saturating_sub(before.device_read),
            device_written: self.device_written.saturating_sub(before.device_written),
            peak: self.peak,
        }
    }
}

/// Seconds at the percentiles of the times.
pub fn percentiles(times: &mut [f32]) -> Values {
    times.sort_unstable_by(f32::total_cmp);
    stats::percentiles(times, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let mut times: Vec<f32> = (1..=1000).rev().map(|n| n as f32).collect();
        let found = percentiles(&mut times);
        assert_eq!(found["50"], "500.000000000");
        assert_eq!(found["99.9"], "999.000000000");
        assert_eq!(found["100"], "1000.000000000");
        assert!(percentiles(&mut []).is_empty());
    }
}
