//! What a results file holds.

use serde::Serialize;

use super::environment::Environment;
use crate::bench::connection::same_setting;
use crate::bench::model::{Effective, Sample, Values};

/// A suite as a results file has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredSuite {
    pub name: String,
    /// The suite file, and what else decides what is measured.
    pub text: String,
}

/// Everything that a results file holds.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    pub suite: StoredSuite,
    pub suite_hash: String,
    pub sessions: Vec<RunSession>,
    /// In the order of the suite.
    pub points: Vec<StoredPoint>,
    pub warnings: Vec<String>,
}

/// A run or its continuation.
#[derive(Debug, Clone, Serialize)]
pub struct RunSession {
    pub id: i64,
    /// UTC.
    pub began: String,
    /// Version of this tool.
    pub tool: String,
    pub environment: Environment,
}

/// A combination of axis values and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct StoredPoint {
    pub id: i64,
    pub axes: Values,
    /// Settings asked for.
    pub asked: Values,
    pub effective: Option<Effective>,
    /// By trial, then as they were measured.
    pub samples: Vec<Recorded>,
    pub problems: Vec<StoredProblem>,
}

impl StoredPoint {
    /// Settings that were asked for and are not so: the name, what was asked, and what is.
    pub fn ignored(&self) -> Vec<Ignored> {
        let Some(effective) = &self.effective else {
            return Vec::new();
        };
        let differs = |(name, asked): (&String, &String)| {
            let is = effective.settings.get(name);
            match is.is_some_and(|is| same_setting(name, asked, is)) {
                true => None,
                false => Some(Ignored {
                    name: name.clone(),
                    asked: asked.clone(),
                    effective: is.cloned(),
                }),
            }
        };
        self.asked.iter().filter_map(differs).collect()
    }
}

/// A setting that an engine did not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    pub name: String,
    pub asked: String,
    /// None where the engine does not know it.
    pub effective: Option<String>,
}

impl Ignored {
    /// As a table says it.
    pub fn words(&self) -> String {
        match &self.effective {
            Some(value) => format!("{}={} was ignored, it is {value}", self.name, self.asked),
            None => format!("{}={} was ignored, it is not known", self.name, self.asked),
        }
    }
}

/// A sample and when it was taken.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    pub trial: u32,
    #[serde(flatten)]
    pub sample: Sample,
    pub session: i64,
    /// UTC.
    pub at: String,
    /// Load average of the last minute.
    pub load: f64,
}

/// Why something could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredProblem {
    pub trial: u32,
    pub kind: ProblemKind,
    pub reason: String,
}

/// Whether the engine is not there, or the job went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemKind {
    Unavailable,
    Failed,
}

impl ProblemKind {
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Unavailable => "unavailable",
            ProblemKind::Failed => "failed",
        }
    }

    /// As a heading.
    pub fn words(self) -> &'static str {
        match self {
            ProblemKind::Unavailable => "not available",
            ProblemKind::Failed => "failed",
        }
    }
}
