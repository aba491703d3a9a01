//! What `kvtest` prints: the lines of SQLite's own, and then ours.

use std::io::{self, Write};

use serde::Serialize;

use super::make::{Content, Made};
use super::measure::{Measured, MeasuredRun, VisitOrder, VisitPlan};
use super::place::PathKind;
use crate::compare::report::Machine;
use crate::compare::stats::PERCENTILES;
use crate::host::{self, Mount};
use crate::text;

/// What the JSON file holds.
#[derive(Serialize)]
pub struct KvtestRecord<'a> {
    /// Version of this tool.
    hpsqlite: &'static str,
    /// UTC.
    when: String,
    environment: KvtestEnvironment,
    plan: &'a VisitPlan,
    #[serde(flatten)]
    measured: &'a Measured,
}

#[derive(Serialize)]
struct KvtestEnvironment {
    #[serde(flatten)]
    machine: Machine,
    /// Bytes.
    memory: u64,
    /// Type of the file system that the database or the files are on.
    file_system: String,
    /// Processes that ran or waited to, over the last minute.
    load: f64,
}

impl<'a> KvtestRecord<'a> {
    pub fn new(plan: &'a VisitPlan, measured: &'a Measured) -> Self {
        KvtestRecord {
            hpsqlite: env!("CARGO_PKG_VERSION"),
            when: jiff::Timestamp::now()
                .round(jiff::Unit::Second)
                .map_or_else(|_| String::new(), |t| t.to_string()),
            environment: KvtestEnvironment {
                machine: Machine::this(),
                memory: host::memory(),
                file_system: Mount::of(&plan.target).map_or_else(String::new, |m| m.kind),
                load: host::load(),
            },
            plan,
            measured,
        }
    }
}

/// What was made: `1,000 values of 10.0 MB together, 10.3 MB on disk, in 0.1 s`.
pub fn made(out: &mut impl Write, what: &str, unit: &str, made: &Made) -> io::Result<()> {
    writeln!(
        out,
        "{what}: {} {unit} of {} together, {} on disk, in {:.1} s",
        text::thousands(made.values),
        text::bytes(made.bytes),
        text::bytes(made.space),
        made.seconds
    )
}

/// The lines of `stat`.
pub fn content(out: &mut impl Write, content: &Content) -> io::Result<()> {
    for (name, value) in [
        ("Number of entries:", content.entries),
        ("Average value size:", content.average),
        ("Minimum value size:", content.minimum),
        ("Maximum value size:", content.maximum),
        ("Page-size:", content.page_size),
        ("Page-count:", content.pages),
        ("Freelist-count:", content.free),
    ] {
        writeln!(out, "{name:<19} {value:>8}")?;
    }
    for line in &content.integrity {
        writeln!(out, "Integrity-check:    {line}")?;
    }
    Ok(())
}

/// The lines of `run`.
pub fn measured(
    out: &mut impl Write,
    plan: &VisitPlan,
    measured: &Measured,
    kind: PathKind,
) -> io::Result<()> {
    let Some(run) = middle(&measured.runs) else {
        return Ok(());
    };
    for counter in &run.stats {
        let most = counter
            .most
            .map_or(String::new(), |m| format!(" (max {m})"));
        let line = format!(
            "{:<36} {}{most} {}",
            counter.name, counter.value, counter.unit
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    let sample = &run.sample;
    let cycles = sample.operations + run.misses;
    if run.misses > 0 {
        writeln!(out, "{cycles} cycles due to {} misses", run.misses)?;
    }
    let setting = |name: &str| {
        measured
            .effective
            .settings
            .get(name)
            .map_or("", String::as_str)
    };
    if kind == PathKind::Database {
        let version = &measured.effective.version;
        writeln!(
            out,
            "SQLite version: {}",
            version.trim_start_matches("SQLite ")
        )?;
    }
    for line in &measured.integrity {
        writeln!(out, "integrity-check: {line}")?;
    }
    let order = match plan.order {
        VisitOrder::Asc => "--asc",
        VisitOrder::Desc => "--desc",
        VisitOrder::Random => "--random",
    };
    writeln!(
        out,
        "--count {} --max-id {} {order}",
        plan.count, measured.max_id
    )?;
    let flag = |given: bool, name: &'static str| given.then_some(name);
    if kind == PathKind::Database {
        let (cache, mode) = (setting("cache_size"), setting("journal_mode"));
        writeln!(out, "--cache-size {cache} --jmode {mode}")?;
        let blob_api = if plan.blob_api { " --blob-api" } else { "" };
        writeln!(out, "--mmap {}{blob_api}", setting("mmap_size"))?;
        if plan.no_sync {
            writeln!(out, "--nosync")?;
        }
    }
    let database = kind == PathKind::Database;
    let flags = [
        flag(plan.update, "--update"),
        flag(plan.fsync && !database, "--fsync"),
        flag(plan.multi_transactions && database, "--multitrans"),
        flag(plan.no_checkpoint && database, "--nocheckpoint"),
        flag(plan.cold, "--cold"),
    ];
    let mut flags: Vec<String> = flags.into_iter().flatten().map(str::to_owned).collect();
    if plan.threads > 1 {
        flags.push(format!("--threads {}", plan.threads));
    }
    if plan.repeat > 1 {
        flags.push(format!("--repeat {}", plan.repeat));
    }
    if !flags.is_empty() {
        writeln!(out, "{}", flags.join(" "))?;
    }
    if database {
        writeln!(out, "Database page size: {}", setting("page_size"))?;
    }
    let verb = if plan.update { "write" } else { "read" };
    writeln!(out, "Total elapsed time: {:.3}", sample.seconds)?;
    writeln!(out, "Microseconds per BLOB {verb}: {:.3}", micros(run))?;
    writeln!(out, "Content {verb} rate: {:.1} MB/s", rate(run))?;

    writeln!(
        out,
        "Microseconds at percentiles of BLOB {verb}s: {}",
        percentiles(run)
    )?;
    if measured.runs.len() > 1 {
        for (i, run) in measured.runs.iter().enumerate() {
            writeln!(
                out,
                "Run {} of {}: {:.3} s, {:.3} microseconds per BLOB {verb}, {:.1} MB/s",
                i + 1,
                measured.runs.len(),
                run.sample.seconds,
                micros(run),
                rate(run)
            )?;
        }
    }
    writeln!(
        out,
        "User and system time: {:.3} s and {:.3} s; from the device {}, to it {}",
        sample.user,
        sample.system,
        text::bytes(sample.device_read),
        text::bytes(sample.device_written)
    )?;
    writeln!(out, "Disk space: {}", text::bytes(sample.space))?;
    if let Some(cold) = &measured.cold {
        writeln!(out, "Dropped from the cache before each run: {cold}")?;
    }
    if plan.update {
        writeln!(out, "Durability: {}", measured.effective.durability)?;
    }
    writeln!(
        out,
        "Values: {}",
        match (measured.verified, plan.update) {
            (true, false) => "each that was read is whole",
            (true, true) => "all that were written were read again and are whole",
            (false, _) => "not checked, because hpsqlite kvtest did not make them",
        }
    )
}

/// The run whose time is in the middle.
fn middle(runs: &[MeasuredRun]) -> Option<&MeasuredRun> {
    let mut sorted: Vec<&MeasuredRun> = runs.iter().collect();
    sorted.sort_by(|a, b| a.sample.seconds.total_cmp(&b.sample.seconds));
    sorted.get(sorted.len() / 2).copied()
}

fn micros(run: &MeasuredRun) -> f64 {
    run.sample.seconds * 1e6 / (run.sample.operations + run.misses) as f64
}

fn rate(run: &MeasuredRun) -> f64 {
    run.sample.bytes as f64 / 1e6 / run.sample.seconds
}

/// `50 % 1.902, 95 % 2.311, ..., most 40.112`.
fn percentiles(run: &MeasuredRun) -> String {
    let shown = PERCENTILES.iter().filter_map(|&(name, _)| {
        let seconds: f64 = run.sample.percentiles.get(name)?.parse().ok()?;
        let name = match name {
            "100" => "most".to_owned(),
            _ => format!("{name} %"),
        };
        Some(format!("{name} {:.3}", seconds * 1e6))
    });
    shown.collect::<Vec<_>>().join(", ")
}
