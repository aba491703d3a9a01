//! Is anything slower than stock? Times generated queries on both libraries,
//! on small and large tables, with and without indexes and ANALYZE.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};

use crate::case::Step;
use crate::generate::large;
use crate::library::{Connection, Library, Setup};
use crate::value::Value;
use crate::worker::Pair;

/// What is asked for.
pub struct Campaign {
    pub seed: u64,
    /// Rows of the tables.
    pub sizes: Vec<usize>,
    /// Queries a database.
    pub queries: usize,
    /// Only the query of this name.
    pub only: Option<String>,
    /// A query is slower if stock's time over ours is less.
    pub threshold: f64,
    /// Where tables and timings stay, so that the next run goes on.
    pub folder: Option<PathBuf>,
    /// Begin no query after so many seconds.
    pub seconds: Option<u64>,
}

/// A sample lasts at least so long: fast queries run several times in it.
const SAMPLE: Duration = Duration::from_millis(2);
/// How long the samples of one query take together, on one side, if its time allows.
const TOGETHER: Duration = Duration::from_millis(100);
/// Samples of a query, on each side.
const FEWEST: usize = 5;
const MOST: usize = 25;
/// Measurements in a row that must find a query slower.
const ROUNDS: usize = 3;
/// Slower queries are not measured.
const PATIENCE: Duration = Duration::from_secs(10);

/// One query measured.
struct Timing {
    name: String,
    sql: String,
    taken: bool,
    stock: f64,
    ours: f64,
}

impl Timing {
    fn ratio(&self) -> f64 {
        self.stock / self.ours
    }

    /// A line of the log.
    fn record(&self) -> String {
        let mut line = format!(
            "{}\t{}\t{}\t{}\t",
            self.name, self.stock, self.ours, self.taken
        );
        // Text of a query may hold any character.
        let _ = write!(line, "{:?}", self.sql);
        line
    }

    fn parse(line: &str) -> Option<Timing> {
        let mut fields = line.splitn(5, '\t');
        Some(Timing {
            name: fields.next()?.to_string(),
            stock: fields.next()?.parse().ok()?,
            ours: fields.next()?.parse().ok()?,
            taken: fields.next()?.parse().ok()?,
            sql: fields.next()?.to_string(),
        })
    }

    fn line(&self) -> String {
        format!(
            "{:.3}x  stock {:.3} ms, ours {:.3} ms  {}{}\n    {}",
            self.ratio(),
            self.stock * 1e3,
            self.ours * 1e3,
            self.name,
            if self.taken { ", taken over" } else { "" },
            self.sql
        )
    }
}

/// Runs the campaign and prints what it found; true if nothing is slower.
pub fn run(pair: &Pair, campaign: &Campaign) -> Result<bool> {
    if std::env::var_os("HPSQLITE_TEST").is_some() || std::env::var_os("HPSQLITE").is_some() {
        bail!("HPSQLITE and HPSQLITE_TEST change what is measured: unset them");
    }
    let libraries = Library::open_both(&pair.stock, &pair.ours, true)?;
    let temporary = tempfile::tempdir().context("no temporary folder")?;
    let folder = campaign.folder.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    let log = folder.join("timings");
    let (mut timings, mut skipped) = read_log(&log)?;
    let mut log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(&log)?;
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template(
        "{pos} queries, {elapsed}: {msg}",
    )?);
    let begin = Instant::now();
    let is_over = || {
        campaign
            .seconds
            .is_some_and(|most| begin.elapsed().as_secs() >= most)
    };
    for &rows in &campaign.sizes {
        let rng = &mut Rng::with_seed(campaign.seed.wrapping_mul(31).wrapping_add(rows as u64));
        let (schema, tables) = large::tables(rng, rows);
        let steps: Vec<Step> = (0..campaign.queries)
            .map(|_| large::query(rng, &tables))
            .collect();
        for kind in ["plain", "analyzed"] {
            let file = folder.join(format!("{}-{rows}-{kind}.db", campaign.seed));
            if !file.exists() {
                let new = file.with_extension("new");
                make(libraries[0], &new, &schema)?;
                if kind == "analyzed" {
                    make(libraries[0], &new, &["ANALYZE".to_string()])?;
                }
                std::fs::rename(&new, &file)?;
            }
            let connections = [open(libraries[0], &file)?, open(libraries[1], &file)?];
            for (number, step) in steps.iter().enumerate() {
                let name = format!("{}-{rows}-{kind}-{number}", campaign.seed);
                bar.set_message(name.clone());
                match &campaign.only {
                    Some(only) if *only != name => continue,
                    None if skipped.contains(&name) => continue,
                    None if timings.iter().any(|t| t.name == name) => continue,
                    None if is_over() => break,
                    _ => bar.inc(1),
                }
                match query(&connections, step, name.clone(), campaign.threshold)? {
                    Some(timing) => {
                        if timing.ratio() < campaign.threshold {
                            bar.suspend(|| println!("slower: {}", timing.line()));
                        }
                        writeln!(log, "{}", timing.record())?;
                        timings.retain(|t| t.name != name);
                        timings.push(timing);
                    }
                    None => {
                        writeln!(log, "{name}")?;
                        skipped.push(name);
                    }
                }
            }
            for connection in connections {
                connection.close();
            }
            if campaign.folder.is_none() {
                std::fs::remove_file(&file)?;
            }
        }
    }
    bar.finish_and_clear();
    if is_over() {
        println!(
            "stopped after {} seconds: the same command goes on",
            begin.elapsed().as_secs()
        );
    }
    Ok(report(timings, skipped.len(), campaign.threshold))
}

/// The timings that earlier runs left in the log, and the names of queries that could
/// not be measured.
fn read_log(log: &Path) -> Result<(Vec<Timing>, Vec<String>)> {
    let (mut timings, mut skipped) = (Vec::<Timing>::new(), Vec::new());
    let text = if log.exists() {
        std::fs::read_to_string(log)?
    } else {
        String::new()
    };
    for line in text.lines() {
        match Timing::parse(line) {
            Some(timing) => {
                timings.retain(|t| t.name != timing.name);
                timings.push(timing);
            }
            None => skipped.push(line.to_string()),
        }
    }
    Ok((timings, skipped))
}

fn open(library: &'static Library, file: &Path) -> Result<Connection> {
    Connection::open(library, &file.to_string_lossy(), &Setup::default())
}

/// Runs statements on the file, in one transaction.
fn make(stock: &'static Library, file: &Path, statements: &[String]) -> Result<()> {
    let connection = open(stock, file)?;
    let run = |sql: &str| {
        let done = connection.execute(sql);
        done.map_err(|failure| anyhow::anyhow!("{}: {sql}", failure.message))
    };
    run("PRAGMA synchronous=OFF")?;
    run("BEGIN")?;
    statements.iter().try_for_each(|sql| run(sql))?;
    run("COMMIT")?;
    connection.close();
    Ok(())
}

/// Measures one query; nothing if it fails or takes too long.
fn query(
    connections: &[Connection; 2],
    step: &Step,
    name: String,
    threshold: f64,
) -> Result<Option<Timing>> {
    let sql = step.sql.render();
    let (Some(stock), Some(ours)) = (
        once(&connections[0], &sql, &step.binds),
        once(&connections[1], &sql, &step.binds),
    ) else {
        return Ok(None);
    };
    if stock.max(ours) > PATIENCE.as_secs_f64() {
        return Ok(None);
    }
    let plan = connections[1].rows(&format!("EXPLAIN QUERY PLAN {sql}"));
    let taken = plan.unwrap_or_default().iter().flatten().any(
        |value| matches!(value, Value::Text(b) if String::from_utf8_lossy(b).contains("VECTORIZED")),
    );
    let mut timing = Timing {
        name,
        taken,
        stock,
        ours,
        sql,
    };
    // What other processes do may make one measurement wrong, but hardly three.
    for round in 0..ROUNDS {
        let samples = measure(connections, &timing.sql, &step.binds, stock, 1 + 2 * round);
        (timing.stock, timing.ours) = samples;
        if timing.ratio() >= threshold {
            break;
        }
    }
    Ok(Some(timing))
}

/// Seconds from the text of a query to its last row; nothing if it fails.
fn once(connection: &Connection, sql: &str, binds: &[Value]) -> Option<f64> {
    let start = Instant::now();
    let mut statement = connection.prepare(sql).ok()?;
    statement.bind(binds);
    while statement.step().ok()? {}
    drop(statement);
    Some(start.elapsed().as_secs_f64())
}

/// The medians of both sides, in seconds, whose samples take turns.
fn measure(
    connections: &[Connection; 2],
    sql: &str,
    binds: &[Value],
    estimate: f64,
    effort: usize,
) -> (f64, f64) {
    let repeat = (SAMPLE.as_secs_f64() / estimate)
        .ceil()
        .clamp(1.0, 10_000.0) as usize;
    let most = TOGETHER.as_secs_f64() / (estimate * repeat as f64);
    let count = effort * (most as usize).clamp(FEWEST, MOST);
    let mut samples = [Vec::new(), Vec::new()];
    for i in 0..count * 2 {
        // stock ours, ours stock, stock ours …
        let side = (i % 2) ^ (i / 2 % 2);
        let start = Instant::now();
        for _ in 0..repeat {
            once(&connections[side], sql, binds);
        }
        samples[side].push(start.elapsed().as_secs_f64() / repeat as f64);
    }
    let [stock, ours] = samples.map(median);
    (stock, ours)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// The distribution of the ratios, and the worst ten.
fn report(mut timings: Vec<Timing>, skipped: usize, threshold: f64) -> bool {
    timings.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    let of = |taken: bool| -> Vec<f64> {
        let own = timings.iter().filter(|t| t.taken == taken);
        own.map(Timing::ratio).collect()
    };
    println!("stock's time over ours     count   worst     1 %    10 %    50 %    90 %    best");
    for (what, ratios) in [("taken over", of(true)), ("left to stock", of(false))] {
        if ratios.is_empty() {
            continue;
        }
        let at = |share: usize| ratios[(ratios.len() - 1) * share / 100];
        println!(
            "  {what:<22} {:>7} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
            ratios.len(),
            at(0),
            at(1),
            at(10),
            at(50),
            at(90),
            at(100)
        );
    }
    println!("the worst ten (seed-rows-statistics-number; --only NAME measures one again):");
    for timing in timings.iter().take(10) {
        println!("  {}", timing.line());
    }
    let slower = timings.iter().filter(|t| t.ratio() < threshold).count();
    println!(
        "{} queries, {skipped} more failed or took too long; {slower} slower than {threshold}x",
        timings.len()
    );
    slower == 0
}
