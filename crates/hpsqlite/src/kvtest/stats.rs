//! Counters of SQLite and of the system.

use std::time::Duration;

use serde::Serialize;

use crate::sys::{Db, Library};

/// One counter.
#[derive(Debug, Clone, Serialize)]
pub struct Counter {
    pub name: &'static str,
    pub value: i64,
    /// The largest value so far, where that is of interest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i64>,
    pub unit: &'static str,
    /// Whether it counts for all connections together.
    #[serde(skip)]
    whole_process: bool,
}

/// What is of interest in a counter of `sqlite3_status64()`.
enum Of {
    NowAndMost,
    Most,
}

/// Names as SQLite's own test prints them, numbers as `sqlite3_status64()` takes them.
const OF_PROCESS: [(&str, i32, Of, &str); 6] = [
    ("Memory Used:", 0, Of::NowAndMost, "bytes"),
    ("Number of Outstanding Allocations:", 9, Of::NowAndMost, ""),
    ("Number of Pcache Pages Used:", 1, Of::NowAndMost, "pages"),
    (
        "Number of Pcache Overflow Bytes:",
        2,
        Of::NowAndMost,
        "bytes",
    ),
    ("Largest Allocation:", 5, Of::Most, "bytes"),
    ("Largest Pcache Allocation:", 7, Of::Most, "bytes"),
];

/// The same for `sqlite3_db_status()`.
const OF_CONNECTION: [(&str, i32, &str); 4] = [
    ("Pager Heap Usage:", 1, "bytes"),
    ("Page cache hits:", 7, ""),
    ("Page cache misses:", 8, ""),
    ("Page cache writes:", 9, ""),
];

/// Lines of `/proc/self/io` and what they are.
const OF_SYSTEM: [(&str, &str); 7] = [
    ("rchar", "Bytes received by read():"),
    ("wchar", "Bytes sent to write():"),
    ("syscr", "Read() system calls:"),
    ("syscw", "Write() system calls:"),
    ("read_bytes", "Bytes read from storage:"),
    ("write_bytes", "Bytes written to storage:"),
    ("cancelled_write_bytes", "Cancelled write bytes:"),
];

/// The counters of SQLite.
pub fn counters(library: &Library, db: &Db<'_>) -> Vec<Counter> {
    let process = OF_PROCESS.iter().map(|(name, number, of, unit)| {
        let (now, most) = library.status(*number);
        let (value, most) = match of {
            Of::NowAndMost => (now, Some(most)),
            Of::Most => (most, None),
        };
        Counter {
            name,
            value,
            most,
            unit,
            whole_process: true,
        }
    });
    let connection = OF_CONNECTION.iter().map(|(name, number, unit)| Counter {
        name,
        value: db.status(*number),
        most: None,
        unit,
        whole_process: false,
    });
    process.chain(connection).collect()
}

impl Counter {
    /// Adds the counters of another connection.
    pub fn add(to: &mut Vec<Counter>, other: Vec<Counter>) {
        if to.is_empty() {
            *to = other;
            return;
        }
        for (a, b) in to.iter_mut().zip(other) {
            if a.whole_process {
                a.value = a.value.max(b.value);
                a.most = a.most.max(b.most);
            } else {
                a.value += b.value;
            }
        }
    }
}

/// What this process has read from and written to the device so far, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessIo {
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl ProcessIo {
    /// Zeros where the system does not tell.
    pub fn now() -> ProcessIo {
        let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
        let line = |name| line(&text, name).unwrap_or(0) as u64;
        ProcessIo {
            read_bytes: line("read_bytes"),
            write_bytes: line("write_bytes"),
        }
    }

    /// All that the system tells, since the process began.
    pub fn counters() -> Vec<Counter> {
        let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
        let counter = |&(key, name): &(&str, &'static str)| {
            Some(Counter {
                name,
                value: line(&text, key)?,
                most: None,
                unit: "",
                whole_process: true,
            })
        };
        OF_SYSTEM.iter().filter_map(counter).collect()
    }
}

/// The number in the line of `text` that begins with `name:`.
fn line(text: &str, name: &str) -> Option<i64> {
    let found = text
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
    found?.trim().parse().ok()
}

/// Processor time of this thread, exact but not told apart.
pub fn thread_time() -> Duration {
    // SAFETY: clock_gettime fills the structure it is given, which may be all zeros before.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
