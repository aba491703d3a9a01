//! Runs a suite: every point in every trial, each in a process of its own.
//!
//! Trials are the outer loop, so that whatever disturbs the machine for a while
//! disturbs all points alike; within a trial, engines of the same point follow one
//! another, and which of them comes first changes from trial to trial. What has
//! been recorded is not measured again: a run that was stopped goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use super::dataset::Cache;
use super::machine;
use super::model::{ENGINE, Job, Line, Sample, Step, Values};
use super::progress::{Progress, same_but_engine};
use super::suite::{Point, Suite};
use super::work::{self, DataWanted, Work};
use crate::{interrupt, libs, text, usage};

/// Who keeps what was measured. Points are told by their place in the suite.
pub trait Record {
    /// Whether nothing is left to measure of this point in this trial.
    fn is_done(&self, point: usize, trial: u32) -> bool;
    /// Keeps what a measuring process said.
    fn line(&mut self, point: usize, trial: u32, line: &Line) -> Result<()>;
    /// The point has been measured in this trial.
    fn done(&mut self, point: usize, trial: u32) -> Result<()>;
    /// Keeps what a person should know.
    fn warn(&mut self, warning: &str) -> Result<()>;
    /// Steps of points that are not measured any more.
    fn left_out(&self) -> Result<BTreeSet<(usize, String)>>;
    /// Tells the samples that there are already.
    fn samples(&self, each: &mut dyn FnMut(usize, &Sample)) -> Result<()>;
}

/// What a run came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RunTally {
    /// Jobs that gave their samples.
    pub measured: usize,
    /// Jobs that had been done before.
    pub kept: usize,
    /// Points that cannot be measured here.
    pub unavailable: usize,
    /// Their engines.
    pub missing: BTreeSet<String>,
    /// Jobs that failed.
    pub failed: usize,
    /// Jobs all steps of which are left out.
    pub left_out: usize,
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
pub fn run(suite: &Suite, places: &Places<'_>, record: &mut dyn Record) -> Result<RunTally> {
    let mut going = Going::begin(suite, places, record)?;
    let trials = suite.points.iter().map(|p| p.trials).max().unwrap_or(0);
    let clock = MachineWatch::start();
    for trial in 1..=trials {
        for nth in turn(&suite.points, trial) {
            if trial <= suite.points[nth].trials && !going.given_up[nth] {
                going.measure(nth, trial)?;
            }
        }
    }
    for warning in clock.warnings() {
        going.record.warn(&warning)?;
    }
    Ok(going.tally)
}

/// A run that is under way.
struct Going<'r> {
    suite: &'r Suite,
    places: &'r Places<'r>,
    record: &'r mut dyn Record,
    progress: Progress<'r>,
    cache: Cache,
    /// Points that failed or cannot be measured here: their later trials are not tried.
    given_up: Vec<bool>,
    /// Steps of points that are not measured any more.
    left_out: BTreeSet<(usize, String)>,
    tally: RunTally,
}

impl<'r> Going<'r> {
    fn begin(
        suite: &'r Suite,
        places: &'r Places<'r>,
        record: &'r mut dyn Record,
    ) -> Result<Going<'r>> {
        let mut progress = Progress::new(suite);
        record.samples(&mut |point, sample| progress.sample(point, sample))?;
        Ok(Going {
            suite,
            places,
            progress,
            cache: Cache::new(places.data),
            given_up: vec![false; suite.points.len()],
            left_out: record.left_out()?,
            record,
            tally: RunTally::default(),
        })
    }

    /// One trial of one point.
    fn measure(&mut self, nth: usize, trial: u32) -> Result<()> {
        interrupt::check()?;
        if self.record.is_done(nth, trial) {
            self.tally.kept += 1;
            self.progress.skip(nth);
            return Ok(());
        }
        let (suite, places) = (self.suite, self.places);
        let point = &suite.points[nth];
        let (engine, library) = engine(suite, point)?;
        let work = work::of(suite.kind, &engine);
        // Making data has a bar of its own.
        let data = self.progress.suspend(|| {
            work.data(&DataWanted {
                engine: &engine,
                library: library.as_deref(),
                options: &point.options,
                folder: places.suite,
                cache: &self.cache,
            })
        });
        self.progress.begin(nth);
        let steps = wanted(work, &point.steps, |step| {
            self.left_out.contains(&(nth, step.to_owned()))
        });
        if steps.iter().all(|s| s.unmeasured) {
            self.record.done(nth, trial)?;
            self.tally.left_out += 1;
            self.progress.skip(nth);
            return Ok(());
        }
        let mut tell = |line: &Line| self.line(nth, trial, line);
        let end = match data {
            Ok(data) => {
                let prepared = PreparedJob {
                    engine,
                    library,
                    data,
                    steps,
                };
                job(suite, point, prepared, places, &mut tell)?
            }
            Err(e) => {
                interrupt::check()?;
                tell(&Line::Failed(format!("{e:#}")))?;
                JobEnd::Failed
            }
        };
        self.end(nth, trial, end)
    }

    /// A line of the measuring process.
    fn line(&mut self, nth: usize, trial: u32, line: &Line) -> Result<()> {
        match line {
            Line::Sample(sample) => self.progress.sample(nth, sample),
            Line::LeftOut { step, .. } => {
                self.left_out.insert((nth, step.clone()));
            }
            _ => {}
        }
        self.progress.show();
        self.record.line(nth, trial, line)
    }

    /// Counts what a job came to.
    fn end(&mut self, nth: usize, trial: u32, end: JobEnd) -> Result<()> {
        match end {
            JobEnd::Measured => {
                self.record.done(nth, trial)?;
                self.tally.measured += 1;
            }
            JobEnd::LeftOut => {
                self.record.done(nth, trial)?;
                self.tally.left_out += 1;
            }
            JobEnd::Unavailable => {
                let name = &self.suite.points[nth].values[ENGINE];
                self.tally.unavailable += 1;
                self.tally.missing.insert(name.clone());
            }
            JobEnd::Failed => self.tally.failed += 1,
        }
        self.given_up[nth] = matches!(end, JobEnd::Unavailable | JobEnd::Failed);
        match self.given_up[nth] {
            true => self.progress.give_up(nth),
            false => self.progress.end(nth),
        }
        Ok(())
    }
}

/// The steps of a job, without those that are left out.
fn wanted(work: &dyn Work, steps: &[Step], left_out: impl Fn(&str) -> bool) -> Vec<Step> {
    let keep = |step: &Step| match left_out(&step.name) {
        false => Some(step.clone()),
        // Steps after it work on what it leaves behind.
        true => work.leaves_behind().then(|| step.as_preparation()),
    };
    steps.iter().filter_map(keep).collect()
}

/// The fingerprints of the SQLite libraries that each point is measured with, by their names.
pub fn builds(suite: &Suite) -> Result<Vec<Values>> {
    let mut known: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
    let mut builds = Vec::new();
    for point in &suite.points {
        let mut build = Values::new();
        let mut add = |name: &str, path: PathBuf| {
            let fingerprint = known.entry(path).or_insert_with_key(|path| {
                // One that cannot be read gives no samples, and its job says why.
                std::fs::read(path).ok().map(|b| text::fingerprint(&b))
            });
            if let Some(fingerprint) = fingerprint {
                build.insert(name.to_owned(), fingerprint.clone());
            }
        };
        if let Some(library) = engine(suite, point)?.1 {
            add(&point.values[ENGINE], library);
        }
        let steps = point.steps.iter().filter_map(|s| s.options.get("by"));
        for name in steps.chain(point.options.get("made_by")) {
            match name.as_str() {
                "stock" => add(name, libs::stock()?),
                "ours" => add(name, libs::ours()?),
                _ => {}
            }
        }
        builds.push(build);
    }
    Ok(builds)
}

/// The points in the order of a trial: those that differ by their engine only take turns in being first.
fn turn(points: &[Point], trial: u32) -> Vec<usize> {
    let mut order = Vec::with_capacity(points.len());
    while order.len() < points.len() {
        let first = order.len();
        let same = |p: &&Point| same_but_engine(p, &points[first]);
        let n = points[first..].iter().take_while(same).count();
        let from = first + trial as usize % n;
        order.extend((from..first + n).chain(first..from));
    }
    order
}

/// What else the processors did while a run went on.
struct MachineWatch {
    start: Instant,
    before: (machine::Ticks, f64),
}

impl MachineWatch {
    fn start() -> MachineWatch {
        MachineWatch {
            start: Instant::now(),
            before: (machine::ticks(), usage::with_children()),
        }
    }

    /// What disturbed, and what helps.
    fn warnings(&self) -> Vec<String> {
        let (ticks, own) = (machine::ticks(), usage::with_children() - self.before.1);
        let seconds = self.start.elapsed().as_secs_f64();
        machine::disturbances(&self.before.0, &ticks, own, seconds)
    }
}

enum JobEnd {
    Measured,
    /// No step can be measured.
    LeftOut,
    Unavailable,
    Failed,
}

/// The engine of a point, and its library if it is a SQLite.
fn engine(suite: &Suite, point: &Point) -> Result<(String, Option<PathBuf>)> {
    let (engine, library) = suite.engine(&point.values[ENGINE]);
    let library = match library {
        Some(path) if path == Path::new("stock") => Some(libs::stock()?),
        Some(path) if path == Path::new("ours") => Some(libs::ours()?),
        path => path.map(Path::to_owned),
    };
    Ok((engine.to_owned(), library))
}

/// What a job needs beside its point.
struct PreparedJob {
    engine: String,
    library: Option<PathBuf>,
    /// Where its data is, as options.
    data: Values,
    steps: Vec<Step>,
}

/// Runs one job; an error is one of the lab itself, which ends the run.
fn job(
    suite: &Suite,
    point: &Point,
    prepared: PreparedJob,
    places: &Places<'_>,
    tell: &mut dyn FnMut(&Line) -> Result<()>,
) -> Result<JobEnd> {
    let folder = tempfile::Builder::new()
        .prefix("job-")
        .tempdir_in(places.work)
        .with_context(|| format!("cannot work in {}", places.work.display()))?;
    let mut options = point.options.clone();
    options.extend(prepared.data);
    let job = Job {
        kind: suite.kind,
        engine: prepared.engine,
        library: prepared.library,
        folder: folder.path().to_owned(),
        options,
        steps: prepared.steps,
        seed: suite.seed,
    };
    measured(&job, tell)
}

/// A child process, ended when dropped.
struct MeasuringProcess(Child);

impl Drop for MeasuringProcess {
    fn drop(&mut self) {
        // It has ended by itself, or what it does is no longer wanted.
        let _ = self.0.kill();
        interrupt::forget(self.0.id());
        let _ = self.0.wait();
    }
}

/// Has a process do the job, and tells what it says.
fn measured(job: &Job, tell: &mut dyn FnMut(&Line) -> Result<()>) -> Result<JobEnd> {
    let child = Command::new(std::env::current_exe()?)
        .arg("measure")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start a measuring process")?;
    interrupt::remember(child.id());
    let mut process = MeasuringProcess(child);
    // Whoever pressed Ctrl-C before it was remembered did not end it.
    interrupt::check()?;
    let mut input = process.0.stdin.take().expect("standard input is piped");
    // A process that ends at once does not read it; what it says tells why.
    let _ = input.write_all(serde_json::to_string(job)?.as_bytes());
    drop(input);
    let output = process.0.stdout.take().expect("standard output is piped");
    let mut end = JobEnd::Measured;
    let (mut samples, mut left_out) = (0, 0);
    for line in BufReader::new(output).lines() {
        let line: Line = match serde_json::from_str(&line?) {
            Ok(line) => line,
            Err(e) => Line::Failed(format!("the measuring process said something odd: {e}")),
        };
        match &line {
            Line::Unavailable(_) => end = JobEnd::Unavailable,
            Line::Failed(_) => end = JobEnd::Failed,
            Line::Sample(_) => samples += 1,
            Line::LeftOut { step, .. } => {
                let is = |s: &&Step| s.name == *step && !s.unmeasured;
                left_out += job.steps.iter().filter(is).count();
            }
            Line::Ready(_) | Line::Progress(_) => {}
        }
        tell(&line)?;
    }
    interrupt::check()?;
    let status = process.0.wait()?;
    let wanted = job.steps.iter().filter(|s| !s.unmeasured).count();
    if matches!(end, JobEnd::Measured) && samples + left_out < wanted {
        tell(&Line::Failed(format!(
            "the measuring process ended after {samples} of {wanted} steps: {status}"
        )))?;
        end = JobEnd::Failed;
    }
    if matches!(end, JobEnd::Measured) && samples == 0 && left_out > 0 {
        end = JobEnd::LeftOut;
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::model::JobKind;
    use crate::bench::suite::Changes;

    #[test]
    fn a_step_that_is_left_out_still_prepares_the_next_ones() {
        let step = |name: &str| Step {
            name: name.to_owned(),
            options: Values::new(),
            cold: true,
            unmeasured: false,
        };
        let steps = [step("fill"), step("read")];
        let told = |kind| -> Vec<(String, bool, bool)> {
            let steps = wanted(work::of(kind, "stock"), &steps, |name| name == "fill").into_iter();
            steps.map(|s| (s.name, s.cold, s.unmeasured)).collect()
        };
        let read = || ("read".to_owned(), true, false);
        let fill = ("fill".to_owned(), false, true);
        assert_eq!(told(JobKind::Sql), [read()]);
        assert_eq!(told(JobKind::KeyValue), [fill, read()]);
    }

    #[test]
    fn engines_take_turns_in_being_first() {
        let text =
            "title='t'\nkind='sql'\n[axes]\nengine=['a','b','c']\nn=[1,2]\n[[step]]\nname='s'";
        let suite = Suite::parse("t", text, Path::new("."), &Changes::default()).unwrap();
        let order = |trial| -> Vec<String> {
            let points = turn(&suite.points, trial);
            points
                .iter()
                .map(|p| &suite.points[*p].values)
                .map(|v| format!("{}{}", v["engine"], v["n"]))
                .collect()
        };
        assert_eq!(order(1), ["b1", "c1", "a1", "b2", "c2", "a2"]);
        assert_eq!(order(2), ["c1", "a1", "b1", "c2", "a2", "b2"]);
        assert_eq!(order(3), ["a1", "b1", "c1", "a2", "b2", "c2"]);
    }
}
