//! What one measured piece of work took, and on what: said by the lab and by `kvtest` in the same words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Names of axes or options and their values, as they stand in the suite file and in charts.
pub type Values = BTreeMap<String, String>;

/// What an engine said about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// Name and version, as to be shown.
    pub version: String,
    /// Settings read back, not those asked for.
    pub settings: Values,
    /// What a crash of the process, of the system, or of the power may lose.
    pub durability: String,
}

impl Effective {
    /// The settings in a line, for a person: no more of a library's source id than tells it from others.
    pub fn settings_words(&self) -> String {
        const ID: usize = 32;
        let one = |(name, value): (&String, &String)| match name.as_str() {
            "source_id" => format!("{name}={}", crate::text::shorten(value, ID)),
            _ => format!("{name}={value}"),
        };
        self.settings.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// What one step took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub step: String,
    /// Wall time of all operations together, in seconds.
    pub seconds: f64,
    /// User and system time of the process, and of its server if it has one.
    pub user: f64,
    pub system: f64,
    /// Reads, writes, or runs of the statement.
    pub operations: u64,
    /// How many there would have been, where the time that the step may take ran out before; else 0.
    #[serde(default)]
    pub asked: u64,
    /// Writes that went on beside them, in a step that reads while writing.
    #[serde(default)]
    pub beside: u64,
    /// How often an operation waited for a lock of another connection, or began again for one.
    #[serde(default)]
    pub retries: u64,
    /// Bytes of values that were read or written.
    pub bytes: u64,
    /// Largest resident size during the step, in bytes, of process and server; of an engine that is
    /// a process of its own, its alone. What was in memory before the clock ran counts. Where the
    /// system does not let a peak be forgotten, it is the largest since the process began.
    pub peak_memory: u64,
    /// Allocations of the benchmark's own language, and their bytes, in all operations together; 0 where
    /// it does not count them.
    #[serde(default)]
    pub allocations: u64,
    #[serde(default)]
    pub allocated: u64,
    /// Bytes that went to or came from the device (`/proc/self/io`).
    pub device_read: u64,
    pub device_written: u64,
    /// Disk space of the data afterwards, in bytes.
    pub space: u64,
    /// Hash of what was read: the same for every engine, or an answer is wrong.
    pub answer: String,
    /// Seconds an operation at some percentiles, where operations were timed one by one: `50`,
    /// `95`, `99`, `99.9`, `100`.
    pub percentiles: Values,
}
