//! A process that does a part of a step: so many connections of it, each in a thread.
//!
//! The job's process starts it with a file that says what to do, and speaks with it in lines of
//! JSON ([`Helper`]): the process says that its connections are ready, is told to begin, says that
//! it has done its part, and is told to close; the last line is what each connection did. In place
//! of any of these it says why it has failed.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::step::{Crew, Cues, MemberDone, StepRun};
use super::{JobDatabase, workload_of};
use crate::bench::engine::server;
use crate::bench::model::{Job, Step};
use crate::bench::work::helper::Helper;
use crate::interrupt;
use crate::sys::Library;

/// What the process is to do.
#[derive(Debug, Serialize, Deserialize)]
struct PartJob {
    job: Job,
    step: Step,
    /// That of the step.
    library: PathBuf,
    crew: Crew,
}

/// Such a process, seen from that of the job.
pub struct PartProcess {
    helper: Helper,
}

impl PartProcess {
    /// Starts it, and waits until its connections are ready.
    pub fn start(run: &StepRun<'_>, crew: Crew) -> Result<PartProcess> {
        let name = |end| {
            let name = format!("{}-{}.{end}", run.step.name.replace('/', " "), crew.first);
            run.job.folder.join(name)
        };
        let (file, log) = (name("json"), name("log"));
        let part = PartJob {
            job: run.job.clone(),
            step: run.step.clone(),
            library: run.library.path().to_owned(),
            crew,
        };
        std::fs::write(&file, serde_json::to_vec(&part)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
        let program = std::env::current_exe()?;
        let program = program.to_str().context("a path that is not UTF-8")?;
        let mut command = server::own(program, "hpsqlite", &log, &run.job.folder)?;
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

/// Such a process itself: does what the file says.
pub fn serve(file: &Path) -> Result<u8> {
    let say = |line: &Json| -> Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}")?;
        Ok(out.flush()?)
    };
    match do_part(file, &say) {
        Ok(done) => say(&serde_json::to_value(done)?)?,
        Err(e) => say(&json!({"failed": format!("{e:#}")}))?,
    }
    Ok(0)
}

fn do_part(file: &Path, say: &dyn Fn(&Json) -> Result<()>) -> Result<MemberDone> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let part: PartJob = serde_json::from_slice(&text).context("not a part of a job")?;
    let workload = workload_of(&part.job)?;
    let place = JobDatabase::existing(&part.job);
    let library = Library::load(&part.library)?;
    let run = StepRun {
        job: &part.job,
        step: &part.step,
        place: &place,
        library: &library,
    };
    let told = |what: &str| -> Result<()> {
        say(&json!({}))?;
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        if serde_json::from_str(&line).is_ok_and(|word: String| word == what) {
            return Ok(());
        }
        bail!("{what} was to be said, and not {line:?}")
    };
    let cues = Cues {
        start: &|| told("start"),
        end: &|| told("end"),
    };
    run.part(&*workload, part.crew, &cues)
}
