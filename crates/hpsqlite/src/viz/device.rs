//! The device that a database lies on: how long a cold scan takes depends on it.
//!
//! [`measure`] asks the device itself, by reading parts of the file for less than a second: pages at
//! random, one after the other, then pieces in a row. The reads go past the system's cache
//! (`O_DIRECT`). Where a file system cannot do that, ranges are read that were not cached, and dropped
//! from the cache afterwards, so that what was cached stays so. Nothing is written.
//!
//! The two figures are those of one request at a time, since that is how SQLite reads. They are the
//! device's part of a cold scan: what the processor takes comes on top.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::compare::cache;
use crate::data::random::SplitMix64;
use crate::text;

/// What a device is asked for when something is read that is not cached.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeviceReading {
    pub bytes: u64,
    /// Pieces that lie together.
    pub requests: u64,
}

/// A device that cold scans are estimated for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Device {
    /// Bytes a second, in one piece.
    pub throughput: f64,
    /// Seconds until a read somewhere else is done.
    pub latency: f64,
    pub origin: Origin,
}

/// Where the figures of a device come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Assumed,
    Given,
    Measured,
}

/// An ordinary solid-state disk.
pub const DISK: Device = Device {
    throughput: 500e6,
    latency: 100e-6,
    origin: Origin::Assumed,
};

impl Device {
    /// How long a reading takes.
    pub fn seconds(&self, reading: DeviceReading) -> f64 {
        reading.bytes as f64 / self.throughput + reading.requests as f64 * self.latency
    }

    /// As part of a sentence.
    pub fn describe(&self) -> String {
        let figures = format!(
            "{}/s and {} a jump",
            text::bytes(self.throughput as u64),
            text::seconds(self.latency)
        );
        match self.origin {
            Origin::Assumed => {
                format!("an ordinary SSD, {figures}; --device measure measures yours")
            }
            Origin::Given => figures,
            Origin::Measured => format!("{figures}, as measured"),
        }
    }
}

/// What `--device` says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    Measure,
    Given(Device),
}

impl std::str::FromStr for Choice {
    type Err = String;

    fn from_str(s: &str) -> Result<Choice, String> {
        if s == "measure" {
            return Ok(Choice::Measure);
        }
        let figures = s.split_once(',').and_then(|(throughput, latency)| {
            let throughput = text::parse_number(throughput.trim().strip_suffix("/s")?)?;
            let latency = latency.trim();
            let end = latency.find(|c: char| c.is_alphabetic())?;
            let factor = match &latency[end..] {
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                _ => return None,
            };
            Some((throughput, text::parse_number(&latency[..end])? * factor))
        });
        match figures {
            Some((throughput, latency)) if throughput >= 1.0 && latency >= 0.0 => {
                Ok(Choice::Given(Device {
                    throughput,
                    latency,
                    origin: Origin::Given,
                }))
            }
            _ => Err("a device is given as 500MB/s,100us, or as measure".to_owned()),
        }
    }
}

/// What was measured, and how.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MeasuredDevice {
    pub device: Device,
    /// Bytes read in a row.
    pub in_a_row: u64,
    /// Reads at random.
    pub at_random: usize,
    pub seconds: f64,
    /// Past the system's cache; otherwise ranges that were not cached.
    pub direct: bool,
}

/// Bytes of a read at random, and what reads past the cache are aligned to.
const BLOCK: usize = 4096;
/// Bytes of one read in a row: about what the system reads ahead.
const PIECE: usize = 1 << 20;
/// Reads in a row at one place.
const ROW: u64 = 16;
/// Most reads in a row, and at random.
const IN_A_ROW: usize = 256;
const RANDOM: usize = 1000;
/// Fewest reads of either sort.
const FEW: usize = 8;
/// How long the reads of one sort take together, at most.
const LONG: Duration = Duration::from_millis(400);
/// Smaller files say little.
const SMALLEST: u64 = 16 << 20;
/// No device is faster than this.
const MEMORY: f64 = 4e-6;

/// Measures the device that a file is on. An error is a sentence that says why it cannot.
pub fn measure(path: &Path) -> Result<MeasuredDevice, String> {
    let probe = Probe::open(path)?;
    let start = Instant::now();
    let mut random = SplitMix64(seed());
    let (times, _) = probe.read(&mut random, BLOCK, 1, RANDOM)?;
    let at_random = times.len();
    let latency = mean(&times);
    if latency < MEMORY {
        return Err(format!(
            "A read of the file takes {}: it is answered from memory, not by a device.",
            text::seconds(latency)
        ));
    }
    let (times, bytes) = probe.read(&mut random, PIECE, ROW, IN_A_ROW)?;
    let total: f64 = times.iter().sum();
    Ok(MeasuredDevice {
        device: Device {
            throughput: bytes as f64 / total,
            latency,
            origin: Origin::Measured,
        },
        in_a_row: bytes,
        at_random,
        seconds: start.elapsed().as_secs_f64(),
        direct: !probe.cached,
    })
}

/// Other places each time: what was read the last time may be in the device's own cache.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64)
}

/// What reads take on average, the rare slow ones as well: a scan has its share of them.
fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len().max(1) as f64
}

/// A file that is read from its device.
struct Probe {
    file: File,
    bytes: u64,
    /// Whether reads go by way of the system's cache, because they cannot go past it.
    cached: bool,
}

impl Probe {
    fn open(path: &Path) -> Result<Probe, String> {
        let failed = |e: io::Error| format!("{} cannot be read: {e}.", path.display());
        if cache::in_memory(path) {
            return Err(
                "The file is on a file system in memory: there is no device to measure.".to_owned(),
            );
        }
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECT)
            .open(path);
        let (file, cached) = match direct {
            Ok(file) => (file, false),
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
                (File::open(path).map_err(failed)?, true)
            }
            Err(e) => return Err(failed(e)),
        };
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes < SMALLEST {
            return Err(format!(
                "The file has {}; at least {} are needed to measure the device that it is on.",
                text::bytes(bytes),
                text::bytes(SMALLEST)
            ));
        }
        if cached {
            // Otherwise the system reads more than it is asked for.
            advise(&file, 0, 0, libc::POSIX_FADV_RANDOM);
        }
        Ok(Probe {
            file,
            bytes,
            cached,
        })
    }

    /// Reads `most` times `size` bytes, or as often as there is time for, `row` reads at each of some
    /// random places. Gives the seconds of each read, and the bytes of all.
    fn read(
        &self,
        random: &mut SplitMix64,
        size: usize,
        row: u64,
        most: usize,
    ) -> Result<(Vec<f64>, u64), String> {
        let mut memory = vec![0; size + BLOCK];
        let aligned = memory.as_ptr().align_offset(BLOCK);
        let buffer = &mut memory[aligned..aligned + size];
        let length = row * size as u64;
        let blocks = (self.bytes - length) / BLOCK as u64 + 1;
        let mut times = Vec::new();
        let start = Instant::now();
        let mut tries = 0;
        while times.len() < most && start.elapsed() < LONG && tries < 10 * RANDOM {
            tries += 1;
            let place = random.below(blocks) * BLOCK as u64;
            if !self.is_on_device(place, length) {
                continue;
            }
            for i in 0..row {
                let before = Instant::now();
                self.file
                    .read_exact_at(buffer, place + i * size as u64)
                    .map_err(|e| format!("The file cannot be read: {e}."))?;
                times.push(before.elapsed().as_secs_f64());
                if start.elapsed() >= LONG && times.len() >= FEW {
                    break;
                }
            }
            if self.cached {
                advise(&self.file, place, length, libc::POSIX_FADV_DONTNEED);
            }
        }
        if times.len() < FEW {
            return Err(
                "Hardly a part of the file can be read from the device: it is cached, or empty."
                    .to_owned(),
            );
        }
        let bytes = times.len() as u64 * size as u64;
        Ok((times, bytes))
    }

    /// Whether a range has data, and is not cached where that matters.
    fn is_on_device(&self, at: u64, length: u64) -> bool {
        let fd = self.file.as_raw_fd();
        // SAFETY: only the position of our own descriptor is moved, which nobody uses.
        let data = unsafe { libc::lseek(fd, at as libc::off_t, libc::SEEK_DATA) };
        let has_data = if data < 0 {
            // After it there is nothing; any other error: the file system does not tell.
            io::Error::last_os_error().raw_os_error() != Some(libc::ENXIO)
        } else {
            // SAFETY: as above.
            let hole = unsafe { libc::lseek(fd, at as libc::off_t, libc::SEEK_HOLE) };
            data as u64 == at && (hole < 0 || hole as u64 >= at + length)
        };
        let uncached = || {
            let state = cache::resident(&self.file, at, length as usize);
            state.is_ok_and(|pages| !pages.contains(&true))
        };
        has_data && (!self.cached || uncached())
    }
}

fn advise(file: &File, at: u64, length: u64, advice: libc::c_int) {
    let (at, length) = (at as libc::off_t, length as libc::off_t);
    // SAFETY: a plain system call on an open file; advice that is not followed does no harm.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), at, length, advice) };
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_device_as_it_is_given() {
        let given = |s: &str| match s.parse() {
            Ok(Choice::Given(device)) => Some((device.throughput, device.latency)),
            _ => None,
        };
        assert_eq!(given("500MB/s,100us"), Some((500e6, 100.0 * 1e-6)));
        assert_eq!(given("1.5 GB/s, 8 ms"), Some((1.5e9, 8.0 * 1e-3)));
        assert_eq!(given("100 MiB/s,0s"), Some((104_857_600.0, 0.0)));
        for wrong in [
            "",
            "500MB/s",
            "500MB,100us",
            "0MB/s,1us",
            "1MB/s,-1us",
            "fast,1us",
        ] {
            assert_eq!(given(wrong), None, "{wrong}");
        }
        assert_eq!("measure".parse(), Ok(Choice::Measure));
    }

    #[test]
    fn seconds_are_bytes_and_requests() {
        let reading = DeviceReading {
            bytes: 1_000_000_000,
            requests: 10_000,
        };
        assert!((DISK.seconds(reading) - 3.0).abs() < 1e-9);
    }

    /// A file on a disk, and what of it is cached before and after: `Probe` with and without
    /// `O_DIRECT` gives figures and leaves the cache as it was.
    #[test]
    fn measuring_leaves_the_cache_as_it_was() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("file");
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; 24 << 20]).unwrap();
        file.sync_all().unwrap();
        if cache::in_memory(&path) {
            println!("skipped: the source is in memory");
            return;
        }
        advise(&file, 0, 0, libc::POSIX_FADV_DONTNEED);
        let whole = File::open(&path).unwrap();
        let cached = || cache::resident(&whole, 0, 24 << 20).unwrap();
        // One megabyte is cached, by way of a reader that reads no more than that.
        advise(&whole, 0, 0, libc::POSIX_FADV_RANDOM);
        whole.read_exact_at(&mut vec![0; 1 << 20], 8 << 20).unwrap();
        let before = cached();
        assert!(before.contains(&true));

        for buffered in [false, true] {
            let mut probe = Probe::open(&path).unwrap();
            if buffered {
                probe.file = File::open(&path).unwrap();
                probe.cached = true;
                advise(&probe.file, 0, 0, libc::POSIX_FADV_RANDOM);
            }
            let mut random = SplitMix64(1);
            let (times, bytes) = probe.read(&mut random, BLOCK, 1, 20).unwrap();
            assert_eq!((times.len(), bytes), (20, 20 * BLOCK as u64));
            assert_eq!(cached(), before, "buffered: {buffered}");
        }
    }

    #[test]
    fn what_cannot_be_measured_says_why() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let small = folder.path().join("small");
        std::fs::write(&small, [1; 5000]).unwrap();
        let empty = folder.path().join("empty");
        File::create(&empty).unwrap().set_len(64 << 20).unwrap();
        if !cache::in_memory(&small) {
            let why = measure(&small).unwrap_err();
            assert!(
                why.starts_with("The file has 5.0 kB; at least 16.8 MB"),
                "{why}"
            );
            let why = measure(&empty).unwrap_err();
            assert!(why.starts_with("Hardly a part of the file"), "{why}");
        }
        let shm = Path::new("/dev/shm");
        if cache::in_memory(shm)
            && let Ok(file) = tempfile::NamedTempFile::new_in(shm)
        {
            let why = measure(file.path()).unwrap_err();
            assert!(why.contains("in memory"), "{why}");
        }
        assert!(measure(&folder.path().join("nowhere")).is_err());
    }
}
