//! Runs a suite: every point in every trial, each in a process of its own.
//!
//! Trials are the outer loop, so that whatever disturbs the machine for a while
//! disturbs all points alike; within a trial, engines of the same point follow one
//! another, and which of them comes first changes from trial to trial. What has
//! been recorded is not measured again: a run that was stopped goes on.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use super::dataset::{self, Cache};
use super::model::{Job, Line, Step, Values};
use super::suite::{ENGINE, Point, Suite};
use crate::{interrupt, libs};

/// Who keeps what was measured.
pub trait Record {
    /// Whether nothing is left to measure of this point in this trial.
    fn is_done(&self, point: &Values, trial: u32) -> bool;
    /// Keeps what a measuring process said.
    fn line(&mut self, point: &Values, trial: u32, line: &Line) -> Result<()>;
    /// The point has been measured in this trial.
    fn done(&mut self, point: &Values, trial: u32) -> Result<()>;
}

/// What a run came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Jobs that gave their samples.
    pub measured: usize,
    /// Jobs that had been done before.
    pub kept: usize,
    /// Points that cannot be measured here.
    pub unavailable: usize,
    /// Jobs that failed.
    pub failed: usize,
}

/// Where a run keeps what it needs.
pub struct Places<'a> {
    /// The folder of the suite file: relative paths of databases are seen from there.
    pub suite: &'a Path,
    /// Data sets, which stay for the next run.
    pub data: &'a Path,
    /// Stores of engines, which go when their job has ended.
    pub work: &'a Path,
}

/// Measures what has not been measured yet.
pub fn run(suite: &Suite, places: &Places<'_>, record: &mut dyn Record) -> Result<Tally> {
    let mut tally = Tally::default();
    let jobs = suite.points.iter().map(|p| u64::from(p.trials)).sum();
    let bar = progress_bar(jobs);
    let cache = Cache::new(places.data);
    let mut given_up: Vec<&Values> = Vec::new();
    let mut left_out = LeftOut::new();
    let trials = suite.points.iter().map(|p| p.trials).max().unwrap_or(0);
    for trial in 1..=trials {
        for point in turn(&suite.points, trial) {
            if trial > point.trials {
                continue;
            }
            interrupt::check()?;
            bar.set_message(described(&point.values));
            if given_up.contains(&&point.values) {
                bar.inc(1);
                continue;
            }
            if record.is_done(&point.values, trial) {
                tally.kept += 1;
                bar.inc(1);
                continue;
            }
            let who = engine(suite, point)?;
            // Making data has a bar of its own.
            let data = bar.suspend(|| {
                let who = (who.0.as_str(), who.1.as_deref());
                dataset::options(suite.kind, who, &point.options, places.suite, &cache)
            });
            let end = match data {
                Ok(data) => {
                    let (engine, library) = who;
                    let prepared = Prepared {
                        engine,
                        library,
                        data,
                    };
                    job(suite, point, trial, prepared, places, &mut left_out, record)?
                }
                Err(e) => {
                    interrupt::check()?;
                    let line = Line::Failed(format!("{e:#}"));
                    record.line(&point.values, trial, &line)?;
                    End::Failed
                }
            };
            match end {
                End::Measured => tally.measured += 1,
                End::Unavailable => {
                    tally.unavailable += 1;
                    given_up.push(&point.values);
                }
                End::Failed => {
                    tally.failed += 1;
                    given_up.push(&point.values);
                }
            }
            bar.inc(1);
        }
    }
    Ok(tally)
}

fn progress_bar(length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length)
        .with_finish(ProgressFinish::AndClear)
        .with_style(
            ProgressStyle::with_template("{pos}/{len}  {wide_bar}  {eta} left  {msg}")
                .expect("a valid template"),
        );
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn described(values: &Values) -> String {
    let all: Vec<String> = values.iter().map(|(n, v)| format!("{n} {v}")).collect();
    all.join(", ")
}

/// The points in the order of a trial: those that differ by their engine only take turns in being first.
fn turn(points: &[Point], trial: u32) -> Vec<&Point> {
    let mut order = Vec::with_capacity(points.len());
    let mut rest = points;
    while let Some(first) = rest.first() {
        let n = rest
            .iter()
            .take_while(|p| same_but_engine(p, first))
            .count();
        let (group, others) = rest.split_at(n);
        let from = trial as usize % n;
        order.extend(group[from..].iter().chain(&group[..from]));
        rest = others;
    }
    order
}

fn same_but_engine(a: &Point, b: &Point) -> bool {
    let others = |p: &Point| -> Vec<(String, String)> {
        let all = p.values.iter().filter(|(n, _)| *n != ENGINE);
        all.map(|(n, v)| (n.clone(), v.clone())).collect()
    };
    others(a) == others(b)
}

/// Steps that a point need not be asked for again.
type LeftOut = BTreeSet<(Values, String)>;

enum End {
    Measured,
    Unavailable,
    Failed,
}

/// The engine of a point, and its library if it is a SQLite.
fn engine(suite: &Suite, point: &Point) -> Result<(String, Option<PathBuf>)> {
    let name = &point.values[ENGINE];
    let described = suite.engines.get(name);
    let engine = described
        .and_then(|e| e.like.clone())
        .unwrap_or_else(|| name.clone());
    let named = described.and_then(|e| e.library.clone());
    let library = match named.unwrap_or_else(|| PathBuf::from(&engine)) {
        path if path == Path::new("stock") => Some(libs::stock()?),
        path if path == Path::new("ours") => Some(libs::ours()?),
        path => described.and_then(|e| e.library.as_ref()).map(|_| path),
    };
    Ok((engine, library))
}

/// What a job needs beside its point.
struct Prepared {
    engine: String,
    library: Option<PathBuf>,
    /// Where its data is, as options.
    data: Values,
}

/// Runs one job; an error is one of the lab itself, which ends the run.
fn job(
    suite: &Suite,
    point: &Point,
    trial: u32,
    prepared: Prepared,
    places: &Places<'_>,
    left_out: &mut LeftOut,
    record: &mut dyn Record,
) -> Result<End> {
    let folder = tempfile::Builder::new()
        .prefix("job-")
        .tempdir_in(places.work)
        .with_context(|| format!("cannot work in {}", places.work.display()))?;
    let mut options = point.options.clone();
    options.extend(prepared.data);
    let wanted = |s: &&Step| !left_out.contains(&(point.values.clone(), s.name.clone()));
    let steps: Vec<Step> = point.steps.iter().filter(wanted).cloned().collect();
    let job = Job {
        kind: suite.kind,
        engine: prepared.engine,
        library: prepared.library,
        folder: folder.path().to_owned(),
        options,
        steps,
        seed: suite.seed,
    };
    let end = measured(&job, &mut |line| {
        if let Line::LeftOut { step, .. } = line {
            left_out.insert((point.values.clone(), step.clone()));
        }
        record.line(&point.values, trial, line)
    })?;
    if matches!(end, End::Measured) {
        record.done(&point.values, trial)?;
    }
    Ok(end)
}

/// A child process, ended when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended by itself, or what it does is no longer wanted.
        let _ = self.0.kill();
        interrupt::forget(self.0.id());
        let _ = self.0.wait();
    }
}

/// Has a process do the job, and tells what it says.
fn measured(job: &Job, tell: &mut dyn FnMut(&Line) -> Result<()>) -> Result<End> {
    let child = Command::new(std::env::current_exe()?)
        .arg("measure")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a measuring process")?;
    interrupt::remember(child.id());
    let mut process = Process(child);
    let mut input = process.0.stdin.take().expect("standard input is piped");
    // A process that ends at once does not read it; what it says tells why.
    let _ = input.write_all(serde_json::to_string(job)?.as_bytes());
    drop(input);
    let output = process.0.stdout.take().expect("standard output is piped");
    let mut end = End::Measured;
    let (mut samples, mut left_out) = (0, 0);
    for line in BufReader::new(output).lines() {
        let line: Line = match serde_json::from_str(&line?) {
            Ok(line) => line,
            Err(e) => Line::Failed(format!("the measuring process said something odd: {e}")),
        };
        match &line {
            Line::Unavailable(_) => end = End::Unavailable,
            Line::Failed(_) => end = End::Failed,
            Line::Sample(_) => samples += 1,
            Line::LeftOut { .. } => left_out += 1,
            Line::Ready(_) | Line::Progress(_) => {}
        }
        tell(&line)?;
    }
    interrupt::check()?;
    let status = process.0.wait()?;
    let wanted = job.steps.iter().filter(|s| !s.unmeasured).count();
    if matches!(end, End::Measured) && samples + left_out < wanted {
        tell(&Line::Failed(format!(
            "the measuring process ended after {samples} of {wanted} steps: {status}"
        )))?;
        end = End::Failed;
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::Changes;

    #[test]
    fn engines_take_turns_in_being_first() {
        let text =
            "title='t'\nkind='sql'\n[axes]\nengine=['a','b','c']\nn=[1,2]\n[[step]]\nname='s'";
        let suite = Suite::parse("t", text, Path::new("."), &Changes::default()).unwrap();
        let order = |trial| -> Vec<String> {
            let points = turn(&suite.points, trial);
            points
                .iter()
                .map(|p| format!("{}{}", p.values["engine"], p.values["n"]))
                .collect()
        };
        assert_eq!(order(1), ["b1", "c1", "a1", "b2", "c2", "a2"]);
        assert_eq!(order(2), ["c1", "a1", "b1", "c2", "a2", "b2"]);
        assert_eq!(order(3), ["a1", "b1", "c1", "a2", "b2", "c2"]);
    }
}
