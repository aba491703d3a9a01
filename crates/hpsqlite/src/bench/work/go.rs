//! Jobs of benchmarks written in Go, as `go test -bench` runs them: drivers of SQLite for Go.
//!
//! Each driver is a package of a module, since two of them may not be in one program. It is built
//! before every job, which takes nothing where nothing has changed, and each step is a process of
//! its own.
//!
//! | option | meaning |
//! |---|---|
//! | `module` | the folder of the Go module, seen from the suite file; by default `drivers/go/bench` of the source that this tool was built in |
//! | `package` | the package of the engine, below the module |
//! | `tags` | build tags of the package |
//! | `benchmark` | of a step: the whole name, `SelectByID/driver=mattn/pattern=P1/goroutines=1` |
//! | `benchtime` | how long a sample takes, or how many operations (`0.3s`, `1x`); by default `1s` |
//! | `go` | the command of Go |
//!
//! An engine with a library is built against it and runs with it. A line `# in force: NAME=VALUE ...`
//! before that of the benchmark tells the settings that the engine has; `driver`, `version`, `sqlite`
//! and `hp` make its version. Benchmarks verify their answers by themselves and fail if one is wrong.
//! Times of the processor, memory and bytes of the device are not told: most of what such a process
//! does is not measured.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::options::JobOptions;
use super::{DataWanted, Say, Work};
use crate::bench::dataset;
use crate::bench::engine::{Unavailable, server};
use crate::bench::model::{Effective, Job, Line, Sample, Step, Values};
use crate::{interrupt, text};

/// The module of this project's benchmarks, seen from the folder of the executable, in `dist/bin` as
/// in cargo's own folder.
const MODULE: &str = "../../drivers/go/bench";
/// What a line begins with that tells settings.
const IN_FORCE: &str = "# in force: ";
/// How often it is looked whether a process has ended.
const TICK: Duration = Duration::from_millis(10);
/// More of what a failed benchmark says would hide the rest of the report.
const MOST_WORDS: usize = 400;

/// The folder of a job's module, whether it is there or not.
fn module(options: &Values, folder: &Path) -> Result<PathBuf> {
    match options.get("module").map(String::as_str) {
        None | Some("") => {
            let tool = std::env::current_exe()?;
            Ok(tool.parent().unwrap_or(Path::new("/")).join(MODULE))
        }
        Some(module) => Ok(std::path::absolute(folder.join(module))?),
    }
}

/// Benchmarks written in Go.
pub struct GoBenchmarks;

impl Work for GoBenchmarks {
    fn options(&self) -> Vec<&'static str> {
        vec!["benchmark", "benchtime", "go", "module", "package", "tags"]
    }

    fn has_engine(&self, _engine: &str, _is_sqlite: bool, options: &Values) -> bool {
        // A driver is a package.
        options.contains_key("package")
    }

    /// `module`, the folder of the Go module, and `cache`, where programs are kept.
    fn data(&self, wanted: &DataWanted<'_>) -> Result<Values> {
        let module = module(wanted.options, wanted.folder)?;
        dataset::places(&[("module", &module), ("cache", wanted.cache.folder())])
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        run(job, say)
    }
}

/// Does the steps of a job, telling each line to `say`.
fn run(job: &Job, say: Say<'_>) -> Result<()> {
    let binary = build(job)?;
    let mut first = true;
    for step in &job.steps {
        let (effective, sample) =
            measure(job, step, &binary).with_context(|| format!("step {}", step.name))?;
        if first {
            say(Line::Ready(effective))?;
            first = false;
        }
        if !step.unmeasured {
            say(Line::Sample(sample))?;
        }
    }
    Ok(())
}

/// Builds the benchmarks of the engine's package, if they are not built; gives the program.
fn build(job: &Job) -> Result<PathBuf> {
    let options = JobOptions::of(job, None);
    let path = |name| options.text(name).map(PathBuf::from);
    let module = path("module").context("there is no module")?;
    let package = options
        .text("package")
        .with_context(|| format!("there is no package for {}", job.name()))?;
    let tags = options.text("tags").unwrap_or_default();
    if !module.join("go.mod").is_file() {
        bail!(Unavailable(format!(
            "there is no Go module at {}: the benchmarks are in the project's source, and the option module \
             names their folder",
            module.display()
        )));
    }
    let which = format!("{}\n{package}\n{tags}\n{:?}", module.display(), job.library);
    let name = format!("go-{package}-{}.test", text::fingerprint(which.as_bytes()));
    let binary = path("cache")
        .context("there is no cache")?
        .join(name.replace('/', "-"));
    let go = options.text("go").unwrap_or("go");
    let log = job.folder.join("build.log");
    let mut command = server::own(go, "golang-go", &log, &module)?;
    command
        .args(["test", "-c", "-tags", tags, "-o"])
        .arg(&binary)
        .arg(format!("./{package}"));
    if let Some(library) = &job.library {
        link(&mut command, library);
    }
    if !ended(&mut command)?.success() {
        bail!(Unavailable(format!(
            "{package} cannot be built: {}",
            text::shorten(&server::tail(&log), MOST_WORDS)
        )));
    }
    Ok(binary)
}

/// Has C code compiled for a library that is not the system's.
fn link(command: &mut Command, library: &Path) {
    let folder = library.parent().unwrap_or(Path::new("/"));
    let also = |name: &str, flag: &str, path: &Path, separator: &str| {
        let mut all = OsString::from(flag);
        all.push(path);
        if let Some(before) = std::env::var_os(name) {
            all.push(separator);
            all.push(before);
        }
        all
    };
    command.env(
        "PKG_CONFIG_PATH",
        also("PKG_CONFIG_PATH", "", &folder.join("pkgconfig"), ":"),
    );
    // Naming flags takes the place of Go's own, so these are named too.
    command.env(
        "CGO_CFLAGS",
        also("CGO_CFLAGS", "-O2 -g -I", &folder.join("../include"), " "),
    );
    command.env("CGO_LDFLAGS", also("CGO_LDFLAGS", "-O2 -g -L", folder, " "));
}

/// Runs the benchmark of a step; gives what it told of its settings, and the sample.
fn measure(job: &Job, step: &Step, binary: &Path) -> Result<(Effective, Sample)> {
    let options = JobOptions::of(job, Some(step));
    let name = options.text("benchmark").context("there is no benchmark")?;
    let benchtime = options.text("benchtime").unwrap_or("1s");
    let log = job.folder.join("benchmark.log");
    // Of one step only.
    let _ = std::fs::remove_file(&log);
    let program = binary.to_str().context("a path that is not UTF-8")?;
    let mut command = server::own(program, "", &log, &job.folder)?;
    command
        .args(["-test.run=^$", "-test.benchmem", "-test.timeout=0"])
        .arg(format!("-test.bench={}", pattern(name)))
        .arg(format!("-test.benchtime={benchtime}"))
        .env("TMPDIR", &job.folder);
    if let Some(folder) = job.library.as_deref().and_then(Path::parent) {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let status = ended(&mut command)?;
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let words = || text::shorten(said.trim(), MOST_WORDS);
    if !status.success() {
        bail!("{name}: {status}: {}", words());
    }
    let figures = said.lines().find_map(|line| GoFigures::of(line, name));
    let figures = figures.ok_or_else(|| anyhow!("there is no benchmark {name}: {}", words()))?;
    Ok((effective(job, &said), figures.sample(&step.name)))
}

/// Ends a process that is not waited for.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended by itself, or what it does is no longer wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a command to end.
fn ended(command: &mut Command) -> Result<ExitStatus> {
    let name = |program: &OsStr| program.to_string_lossy().into_owned();
    let child = command.spawn();
    let mut child =
        Running(child.with_context(|| format!("cannot start {}", name(command.get_program())))?);
    loop {
        interrupt::check()?;
        if let Some(status) = child.0.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(TICK);
    }
}

/// The pattern that only a benchmark of this whole name matches.
fn pattern(name: &str) -> String {
    let one = |part: &str| {
        let mut escaped = String::new();
        for c in part.chars() {
            if c.is_ascii_punctuation() {
                escaped.push('\\');
            }
            escaped.push(c);
        }
        escaped
    };
    let mut parts = name.split('/');
    let first = format!("^Benchmark{}$", one(parts.next().unwrap_or_default()));
    let rest = parts.map(|part| format!("/^{}$", one(part)));
    first + &rest.collect::<String>()
}

/// What Go says of a benchmark.
#[derive(Debug, PartialEq)]
struct GoFigures {
    operations: u64,
    nanoseconds: f64,
    allocations: f64,
    bytes: f64,
}

impl GoFigures {
    /// Those of a line, if it is of this benchmark: `BenchmarkName-8   1000   123.4 ns/op   5 B/op ...`.
    fn of(line: &str, name: &str) -> Option<GoFigures> {
        let mut words = line.split_whitespace();
        let of = words
            .next()?
            .strip_prefix("Benchmark")?
            .strip_prefix(name)?;
        // The number of processors, if it is more than one.
        let is_it = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit());
        if !of.is_empty() && !of.strip_prefix('-').is_some_and(is_it) {
            return None;
        }
        let operations = words.next()?.parse().ok()?;
        let words: Vec<&str> = words.collect();
        let value = |unit: &str| {
            let mut pairs = words.chunks_exact(2);
            pairs.find(|p| p[1] == unit).and_then(|p| p[0].parse().ok())
        };
        Some(GoFigures {
            operations,
            nanoseconds: value("ns/op")?,
            allocations: value("allocs/op").unwrap_or(0.0),
            bytes: value("B/op").unwrap_or(0.0),
        })
    }

    fn sample(&self, step: &str) -> Sample {
        let all = |each: f64| each * self.operations as f64;
        Sample {
            step: step.to_owned(),
            seconds: all(self.nanoseconds) / 1e9,
            operations: self.operations,
            allocations: all(self.allocations) as u64,
            allocated: all(self.bytes) as u64,
            ..Sample::default()
        }
    }
}

/// What is told of settings before the benchmark.
fn effective(job: &Job, said: &str) -> Effective {
    let line = said.lines().find_map(|line| line.strip_prefix(IN_FORCE));
    let pairs = line.unwrap_or_default().split_whitespace();
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    let mut settings: Values = pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    let mut version = vec![job.name().to_owned()];
    settings.remove("driver");
    if let Some(own) = settings.remove("version") {
        version[0].push_str(&format!(" {own}"));
    }
    for (name, words) in [("sqlite", "SQLite"), ("hp", "High Performance")] {
        version.extend(settings.remove(name).map(|v| format!("{words} {v}")));
    }
    // What is measured is told by the axes.
    for axis in job.options.keys() {
        settings.remove(axis);
    }
    Effective {
        version: version.join(", "),
        settings,
        durability: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_name_is_matched() {
        assert_eq!(
            pattern("SelectByID/driver=a.b/n=1"),
            r"^BenchmarkSelectByID$/^driver\=a\.b$/^n\=1$"
        );
    }

    #[test]
    fn a_line_of_go_gives_figures() {
        let line =
            "BenchmarkRead/n=1-2   \t     300\t      4021 ns/op\t     956 B/op\t      21 allocs/op";
        let figures = GoFigures::of(line, "Read/n=1").unwrap();
        let sample = figures.sample("read");
        assert_eq!((sample.operations, sample.allocations), (300, 6300));
        assert_eq!(sample.allocated, 300 * 956);
        assert!((sample.seconds - 300.0 * 4021e-9).abs() < 1e-12);
        // One processor, other units, no allocations.
        let line = "BenchmarkRead/n=1 5 0.25 ns/op 3.1 MB/s";
        let figures = GoFigures::of(line, "Read/n=1").unwrap();
        assert_eq!((figures.nanoseconds, figures.bytes), (0.25, 0.0));
    }

    #[test]
    fn lines_of_others_give_none() {
        for line in [
            "BenchmarkRead/n=10-2 300 4021 ns/op",
            "BenchmarkRead/n=1/x-2 300 4021 ns/op",
            "BenchmarkRead/n=1-2",
            "BenchmarkRead/n=1-2 --- FAIL",
            "goos: linux",
            "",
        ] {
            assert_eq!(GoFigures::of(line, "Read/n=1"), None, "{line}");
        }
    }
}
