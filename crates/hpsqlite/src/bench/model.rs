//! What the parts of the lab say to each other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::compare::cache::StaysWarm;

pub use crate::sample::{Effective, Sample, Values};

/// The axis that tells the parts of a suite apart, where it has several.
pub const PART: &str = "part";
/// The axis that every suite has.
pub const ENGINE: &str = "engine";
/// The axis whose values are the names of `[pragmas]`.
pub const PRAGMAS: &str = "pragmas";
/// Options of a job that set a PRAGMA begin with this.
pub const PRAGMA_PREFIX: &str = "pragma.";

/// The text with `{name}` replaced by the option of that name, if there is one.
pub fn filled(text: &str, options: &Values) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        match from.find('}').map(|end| (&from[1..end], &from[end + 1..])) {
            Some((name, after)) if options.contains_key(name) => {
                out.push_str(&options[name]);
                rest = after;
            }
            _ => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out + rest
}

/// What kind of work a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Statements on a database.
    Sql,
    /// Large values in a database or in files.
    Blobs,
    /// Pairs of a key and a value in any engine.
    KeyValue,
    /// Transactions of many small statements, on one connection or several.
    Transactions,
    /// Benchmarks written in Go.
    Go,
}

impl JobKind {
    /// As a suite file has it.
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Sql => "sql",
            JobKind::Blobs => "blobs",
            JobKind::KeyValue => "keyvalue",
            JobKind::Transactions => "transactions",
            JobKind::Go => "go",
        }
    }
}

/// What a measuring process is asked to do: one JSON value on its standard input.
///
/// It does the steps in their order, on one open engine, and answers with a line for each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub kind: JobKind,
    /// `stock`, `ours`, `files`, `lmdb`, ...
    pub engine: String,
    /// The SQLite library, where the engine is one.
    pub library: Option<PathBuf>,
    /// A folder that exists, where the engine may keep its data; the job's own.
    pub folder: PathBuf,
    /// What the whole job has: the values of its axes and constants of the suite.
    pub options: Values,
    pub steps: Vec<Step>,
    /// The same seed gives the same work.
    pub seed: u64,
}

/// One measured piece of work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    /// What this step has besides the job's options, or other than they.
    pub options: Values,
    /// Whether files are dropped from the system's cache before it.
    pub cold: bool,
    /// Whether it is only there to prepare the next one, and needs no times.
    pub unmeasured: bool,
}

impl Step {
    /// The step as it is done where it cannot be measured, for the steps after it.
    pub fn as_preparation(&self) -> Step {
        Step {
            cold: false,
            unmeasured: true,
            ..self.clone()
        }
    }
}

impl Job {
    /// The name of the engine in the suite.
    pub fn name(&self) -> &str {
        let name = self.options.get(ENGINE);
        name.map_or(self.engine.as_str(), String::as_str)
    }

    /// What is said of a step that failed because it cannot be cold; other errors stay errors.
    pub fn not_cold(&self, step: &Step, error: anyhow::Error) -> anyhow::Result<Line> {
        let Some(why) = error.downcast_ref::<StaysWarm>() else {
            return Err(error);
        };
        Ok(Line::LeftOut {
            step: step.name.clone(),
            why: format!(
                "{} cannot be cold, so it is left out of the results of {}: {why}.",
                step.name,
                self.name()
            ),
        })
    }
}

/// A line of a measuring process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The engine is there: what it is, and the settings that it really has.
    Ready(Effective),
    /// How far the step is, from 0 to 1; not recorded.
    Progress(f64),
    Sample(Sample),
    /// A step is left out, of the samples and of later trials: why. The other steps go on.
    LeftOut {
        step: String,
        why: String,
    },
    /// The engine cannot do this at all (not installed, an option it does not have): why, and
    /// what helps. The other points of the suite go on.
    Unavailable(String),
    /// The job failed: why.
    Failed(String),
}
