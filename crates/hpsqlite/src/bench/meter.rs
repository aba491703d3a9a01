//! What a piece of work took of this process.

use std::time::Instant;

use super::model::Sample;

/// A clock that is running.
pub struct Meter {
    start: Instant,
    cpu: (f64, f64),
    device: (u64, u64),
}

impl Meter {
    pub fn start() -> Meter {
        let device = device();
        let cpu = usage().0;
        Meter {
            start: Instant::now(),
            cpu,
            device,
        }
    }

    /// The times, memory and bytes of a sample; all else of it is the caller's.
    pub fn stop(self) -> Sample {
        let seconds = self.start.elapsed().as_secs_f64();
        let (cpu, peak_memory) = usage();
        let device = device();
        Sample {
            seconds,
            user: cpu.0 - self.cpu.0,
            system: cpu.1 - self.cpu.1,
            peak_memory,
            device_read: device.0.saturating_sub(self.device.0),
            device_written: device.1.saturating_sub(self.device.1),
            ..Sample::default()
        }
    }
}

/// Seconds of user and system time, and the largest resident size in bytes.
fn usage() -> ((f64, f64), u64) {
    // SAFETY: getrusage fills the structure it is given.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (
        (seconds(usage.ru_utime), seconds(usage.ru_stime)),
        usage.ru_maxrss.max(0) as u64 * 1024,
    )
}

/// Bytes that this process had read from devices and written to them, or 0 where the system does
/// not tell.
fn device() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|n| n.trim().parse().ok())
            .unwrap_or(0)
    };
    (field("read_bytes:"), field("write_bytes:"))
}
