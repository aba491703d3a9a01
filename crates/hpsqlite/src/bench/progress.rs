//! What a person sees of a run that is under way: how long it will take, and what it found so far.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use super::model::{ENGINE, Sample, Values};
use super::suite::{Point, Suite};
use crate::compare::stats;
use crate::text;

/// Parts of the bar.
const LENGTH: u64 = 1000;

/// The times that jobs took, from which those of others follow.
///
/// Jobs of one suite may take milliseconds or minutes. One that was done before takes as long as
/// it did; of others, the next best is a job with the same engine, or any.
#[derive(Debug, Default)]
pub struct Times {
    by_point: BTreeMap<usize, Vec<f64>>,
}

impl Times {
    pub fn add(&mut self, point: usize, seconds: f64) {
        self.by_point.entry(point).or_default().push(seconds);
    }

    /// How long these jobs take together; none where nothing is known.
    pub fn expected(&self, points: &[Point], jobs: impl Iterator<Item = usize>) -> Option<f64> {
        if self.by_point.is_empty() {
            return None;
        }
        let mean = |chosen: &dyn Fn(usize) -> bool| {
            let chosen = self.by_point.iter().filter(|(p, _)| chosen(**p));
            let (sum, n) = chosen.fold((0.0, 0), |(sum, n), (_, times)| {
                (sum + stats::summary(times).median, n + 1)
            });
            (n > 0).then(|| sum / f64::from(n))
        };
        let all = mean(&|_| true);
        let mut engines: BTreeMap<&str, Option<f64>> = BTreeMap::new();
        let mut sum = 0.0;
        for job in jobs {
            let engine = points[job].values.get(ENGINE).map_or("", String::as_str);
            let like = |p: usize| points[p].values.get(ENGINE).is_some_and(|e| e == engine);
            let own = self.by_point.get(&job);
            sum += match own {
                Some(times) => stats::summary(times).median,
                None => engines
                    .entry(engine)
                    .or_insert_with(|| mean(&like))
                    .or(all)
                    .unwrap_or(0.0),
            };
        }
        Some(sum)
    }
}

/// The bar of a run.
pub struct Progress<'s> {
    bar: ProgressBar,
    points: &'s [Point],
    /// Jobs that are left, the one under way among them, by point.
    left: Vec<u32>,
    done: usize,
    jobs: usize,
    times: Times,
    /// Seconds an operation so far, by point and step.
    found: BTreeMap<(usize, String), Vec<f64>>,
    began: Instant,
    job: Instant,
    current: usize,
    /// Measured steps of the job under way that have ended.
    ended: usize,
}

impl<'s> Progress<'s> {
    pub fn new(suite: &'s Suite) -> Progress<'s> {
        let style = ProgressStyle::with_template("{prefix}  {bar:16}  {wide_msg}");
        let bar = crate::output::progress(LENGTH)
            .with_finish(ProgressFinish::AndClear)
            .with_style(style.expect("a valid template"));
        bar.enable_steady_tick(Duration::from_millis(200));
        let left: Vec<u32> = suite.points.iter().map(|p| p.trials).collect();
        Progress {
            bar,
            points: &suite.points,
            jobs: left.iter().map(|n| *n as usize).sum(),
            left,
            done: 0,
            times: Times::default(),
            found: BTreeMap::new(),
            began: Instant::now(),
            job: Instant::now(),
            current: 0,
            ended: 0,
        }
    }

    /// Lets something else write on the terminal.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    /// A job begins.
    pub fn begin(&mut self, point: usize) {
        (self.current, self.ended, self.job) = (point, 0, Instant::now());
        self.show();
    }

    /// A step was measured, in this run or before.
    pub fn sample(&mut self, point: usize, sample: &Sample) {
        if sample.operations > 0 {
            let each = sample.seconds / sample.operations as f64;
            let key = (point, sample.step.clone());
            self.found.entry(key).or_default().push(each);
        }
        self.ended += 1;
    }

    /// A job has ended well.
    pub fn end(&mut self, point: usize) {
        self.times.add(point, self.job.elapsed().as_secs_f64());
        self.skip(point);
    }

    /// A job need not be done.
    pub fn skip(&mut self, point: usize) {
        self.left[point] -= 1;
        self.done += 1;
    }

    /// None of the jobs of a point that are left will be done.
    pub fn give_up(&mut self, point: usize) {
        self.done += self.left[point] as usize;
        self.left[point] = 0;
    }

    /// Seconds until the end, as far as can be told.
    fn rest(&self) -> Option<f64> {
        let jobs = self.left.iter().enumerate();
        let jobs = jobs.flat_map(|(p, n)| std::iter::repeat_n(p, *n as usize));
        let all = self.times.expected(self.points, jobs)?;
        let this = [self.current].into_iter();
        let this = self.times.expected(self.points, this)?;
        Some(all - self.job.elapsed().as_secs_f64().min(this))
    }

    /// Draws the bar.
    pub fn show(&self) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar
            .set_prefix(format!("{}/{}", self.done + 1, self.jobs));
        let mut words = Vec::new();
        if let Some(rest) = self.rest() {
            let so_far = self.began.elapsed().as_secs_f64();
            let share = so_far / (so_far + rest).max(1e-9);
            self.bar.set_position((share * LENGTH as f64) as u64);
            words.push(format!("{} left", time(rest)));
        }
        let point = &self.points[self.current];
        words.push(described(&point.values));
        words.extend(self.estimate());
        // The bar cuts it to what the terminal has room for: one line, that goes without a trace.
        self.bar.set_message(words.join("  "));
    }

    /// What is known of the step under way: the median so far, and how that is to the first of the
    /// engines it is compared with.
    fn estimate(&self) -> Option<String> {
        let point = &self.points[self.current];
        let mut steps = point.steps.iter().filter(|s| !s.unmeasured);
        let step = steps.nth(self.ended)?;
        let median = |point: usize| {
            let found = self.found.get(&(point, step.name.clone()))?;
            Some(stats::summary(found).median)
        };
        let Some(own) = median(self.current) else {
            return Some(step.name.clone());
        };
        let mut group = 0..self.points.len();
        let base = group.find(|p| same_but_engine(&self.points[*p], point))?;
        let ratio = match median(base) {
            Some(other) if base != self.current && own > 0.0 => {
                let engine = &self.points[base].values[ENGINE];
                format!(", {} {engine}", text::ratio(other / own))
            }
            _ => String::new(),
        };
        Some(format!("{} {}{ratio}", step.name, text::seconds(own)))
    }
}

/// `12 s`, `3 min`, `1 h 20 min`.
fn time(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        _ if minutes < 100 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

fn described(values: &Values) -> String {
    let all: Vec<String> = values.iter().map(|(n, v)| format!("{n} {v}")).collect();
    all.join(", ")
}

/// Whether two points differ by their engine only.
pub fn same_but_engine(a: &Point, b: &Point) -> bool {
    fn others(p: &Point) -> impl Iterator<Item = (&String, &String)> {
        p.values.iter().filter(|(n, _)| *n != ENGINE)
    }
    others(a).eq(others(b))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bench::suite::Changes;

    fn points() -> Vec<Point> {
        let text = "title='t'\nkind='sql'\n[axes]\nengine=['a','b']\nn=[1,2]\n[[step]]\nname='s'";
        let suite = Suite::parse("t", text, Path::new("."), &Changes::default());
        suite.unwrap().points
    }

    #[test]
    fn the_time_left_is_that_of_the_jobs_that_are_left() {
        let points = points();
        let mut times = Times::default();
        assert_eq!(times.expected(&points, 0..4), None);
        times.add(0, 1.0);
        times.add(1, 100.0);
        // Points 2 and 3 have the engines of points 0 and 1.
        let left = |jobs: &[usize]| times.expected(&points, jobs.iter().copied()).unwrap();
        assert_eq!(left(&[0, 0, 1]), 102.0);
        assert_eq!(left(&[2]), 1.0);
        assert_eq!(left(&[2, 3, 3]), 201.0);
        times.add(1, 300.0);
        times.add(1, 102.0);
        assert_eq!(times.expected(&points, [1].into_iter()), Some(102.0));
    }

    #[test]
    fn an_engine_that_was_not_seen_takes_as_long_as_others() {
        let mut times = Times::default();
        times.add(0, 3.0);
        assert_eq!(times.expected(&points(), [1, 3].into_iter()), Some(6.0));
    }

    #[test]
    fn times_are_for_people() {
        assert_eq!(time(12.4), "12 s");
        assert_eq!(time(200.0), "3 min");
        assert_eq!(time(8000.0), "2 h 13 min");
    }
}
