//! Where something was measured.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::compare::report::Machine;
use crate::host::{self, Mount};
use crate::text;

/// Where it was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    pub processor: String,
    pub processors: usize,
    /// In bytes.
    pub memory: u64,
    pub kernel: String,
    /// That of the work folder: its kind and the device.
    pub file_system: String,
    /// How the processor's frequency is governed, where that can be read.
    pub governor: Option<String>,
    /// Load average of the last minute when it began.
    pub load: f64,
}

impl Environment {
    /// This machine, for work in a folder.
    pub fn this(folder: &Path) -> Environment {
        let machine = Machine::this();
        let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let governor = std::fs::read_to_string(governor).unwrap_or_default();
        Environment {
            processor: machine.processor,
            processors: machine.processors,
            memory: host::memory(),
            kernel: machine.kernel,
            file_system: Mount::of(folder)
                .map_or_else(String::new, |m| format!("{} on {}", m.kind, m.device)),
            governor: Some(governor.trim().to_owned()).filter(|g| !g.is_empty()),
            load: host::load(),
        }
    }

    /// In a line.
    pub fn words(&self) -> String {
        format!("{}, load {:.2} when it began", self.place(), self.load)
    }

    /// The same without how busy it was.
    pub fn place(&self) -> String {
        let mut parts = vec![
            self.processor.clone(),
            match self.processors {
                1 => "1 processor".to_owned(),
                n => format!("{n} processors"),
            },
        ];
        if self.memory > 0 {
            parts.push(format!("{} of memory", text::bytes(self.memory)));
        }
        parts.push(self.kernel.clone());
        if !self.file_system.is_empty() {
            parts.push(self.file_system.clone());
        }
        if let Some(governor) = &self.governor {
            parts.push(format!("governor {governor}"));
        }
        parts.join(", ")
    }
}
