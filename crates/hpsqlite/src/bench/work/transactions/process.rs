//! A process that does a part of a step: so many connections of it, each in a thread.
//!
//! The job's process starts it with a file that says what to do, and speaks with it in lines of
//! JSON ([`Helper`]): the process says that its connections are ready, is told to begin, says that
//! it has done its part, and is told to close; the last line is what each connection did. In place
//! of any of these it says why it has failed.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::bench::engine::server;
use crate::bench::meter::Usage;
use crate::bench::model::{Job, Step};
use crate::bench::work::helper::Helper;
use crate::interrupt;

/// How many connections do a step, and which of them are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crew {
    /// Connections of the step, in all its processes.
    pub all: u64,
    pub first: u64,
    pub own: u64,
}

impl Crew {
    /// The same, divided into crews of so many.
    pub fn divided(self, own: u64) -> Vec<Crew> {
        (self.first..self.first + self.own)
            .step_by(own as usize)
            .map(|first| Crew { first, own, ..self })
            .collect()
    }
}

/// What one connection did.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ThreadDone {
    pub operations: u64,
    pub times: Vec<f32>,
    pub answer: u64,
    pub count: i64,
    pub readonly: bool,
    /// From when to when, by a clock that is the same for all processes of the machine; nothing was
    /// done if there is none.
    pub span: Option<(Duration, Duration)>,
}

/// What a member did, and what it used where it is a process of its own.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MemberDone {
    pub threads: Vec<ThreadDone>,
    pub usage: Usage,
    pub retries: u64,
}

/// What the process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartJob {
    pub job: Job,
    pub step: Step,
    /// That of the step.
    pub library: PathBuf,
    pub crew: Crew,
}

/// Such a process, seen from that of the job.
pub struct PartProcess {
    helper: Helper,
}

impl PartProcess {
    /// Starts it, and waits until its connections are ready.
    pub fn start(part: &PartJob) -> Result<PartProcess> {
        let folder = &part.job.folder;
        let name = |end| {
            let step = part.step.name.replace('/', " ");
            folder.join(format!("{step}-{}.{end}", part.crew.first))
        };
        let (file, log) = (name("json"), name("log"));
        std::fs::write(&file, serde_json::to_vec(part)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
        let program = std::env::current_exe()?;
        let program = program.to_str().context("a path that is not UTF-8")?;
        let mut command = server::own(program, "hpsqlite", &log, folder)?;
        command.arg("measure").arg(&file);
        let (helper, _) = Helper::start("a part of the step", command, &log)?;
        // Whoever pressed Ctrl-C before it was remembered did not end it.
        interrupt::check()?;
        Ok(PartProcess { helper })
    }

    pub fn id(&self) -> u32 {
        self.helper.id()
    }

    /// Has it do its part.
    pub fn work(&mut self) -> Result<()> {
        self.helper.demand(json!("start")).map(|_| ())
    }

    /// Has it close its connections; gives what they did.
    pub fn end(&mut self) -> Result<MemberDone> {
        let done = self.helper.demand(json!("end"))?;
        self.helper.end()?;
        serde_json::from_value(done).context("a part of the step tells something odd")
    }
}
