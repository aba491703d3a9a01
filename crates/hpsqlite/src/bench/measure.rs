//! `hpsqlite measure`: one job, in a process of its own.
//!
//! The job comes as JSON on standard input; a line of JSON for each step goes to standard output.
//! What is done in between is the job's [`work`].

use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::engine::Unavailable;
use super::model::{Job, Line};
use super::work;
use crate::interrupt;

/// Reads a job, does it, and tells what came of it; or does the part of a job that a file says.
pub fn serve(part: Option<&Path>) -> Result<u8> {
    die_with_the_runner();
    if let Some(file) = part {
        return work::do_part(file, &|line| say(line)).map(|()| 0);
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .context("cannot read the job")?;
    let mut job: Job = serde_json::from_str(&text).context("not a job")?;
    // A server works in another folder than this process.
    job.folder = job
        .folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", job.folder.display()))?;
    let work = work::of(job.kind, &job.engine);
    let done = work.run(&job, &|line| say(&line));
    let Err(e) = done else { return Ok(0) };
    interrupt::check()?;
    match e.downcast_ref::<Unavailable>() {
        Some(why) => say(&Line::Unavailable(why.to_string()))?,
        None => say(&Line::Failed(format!("{}: {e:#}", job.engine)))?,
    }
    Ok(0)
}

/// Whoever kills the runner kills this, and this one's servers with it.
fn die_with_the_runner() {
    // SAFETY: a plain system call.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn say(line: &impl Serialize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
