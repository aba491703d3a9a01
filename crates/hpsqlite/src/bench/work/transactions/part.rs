//! A process that does a part of a step, seen from within: see [`process`](super::process).

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};

use super::process::{MemberDone, PartJob};
use super::step::{Cues, StepRun};
use super::{JobDatabase, workload_of};
use crate::sys::Library;

/// Does what the file says, and tells what came of it to `say`.
pub fn serve(file: &Path, say: &dyn Fn(&Json) -> Result<()>) -> Result<()> {
    match do_part(file, say) {
        Ok(done) => say(&serde_json::to_value(done)?),
        Err(e) => say(&json!({"failed": format!("{e:#}")})),
    }
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
