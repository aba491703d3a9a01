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
use crate::generate::{joins, large};
use crate::library::{Connection, Library, Setup};
use crate::value::Value;
use crate::worker::Pair;

/// What is asked for.
pub struct Campaign {
    pub seed: u64,
    /// Joins, not queries over one table.
    pub joins: bool,
    /// Rows of the tables; of the largest, for joins.
    pub sizes: Vec<usize>,
    /// Queries a database.
    pub queries: usize,
    /// Only the query of this name.
    pub only: Option<String>,
    /// A query is slower if stock's time over ours is less.
    pub threshold: f64,
    /// Queries that take stock longer are not measured.
    pub patience: Duration,
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

/// What our library made of a query.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Taken,
    /// Taken over when it was prepared, left to stock when it ran.
    GivenBack,
    Left,
}

const FATES: [(Fate, &str); 3] = [
    (Fate::Taken, "taken over"),
    (Fate::GivenBack, "given back"),
    (Fate::Left, "left to stock"),
];

impl Fate {
    fn name(self) -> &'static str {
        FATES[self as usize].1
    }
}

/// One query measured.
struct Timing {
    name: String,
    sql: String,
    fate: Fate,
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
            self.name,
            self.stock,
            self.ours,
            self.fate.name()
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
            fate: {
                let name = fields.next()?;
                FATES.iter().find(|fate| fate.1 == name)?.0
            },
            sql: fields.next()?.to_string(),
        })
    }

    fn line(&self) -> String {
        format!(
            "{:.3}x  stock {:.3} ms, ours {:.3} ms  {}, {}\n    {}",
            self.ratio(),
            self.stock * 1e3,
            self.ours * 1e3,
            self.name,
            self.fate.name(),
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
        let (what, (schema, steps)) = if campaign.joins {
            ("joins", joins::database(rng, rows, campaign.queries))
        } else {
            ("", large::database(rng, rows, campaign.queries))
        };
        for kind in ["plain", "analyzed"] {
            let base = format!("{what}{}-{rows}-{kind}", campaign.seed);
            let file = folder.join(format!("{base}.db"));
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
                let name = format!("{base}-{number}");
                bar.set_message(name.clone());
                match &campaign.only {
                    Some(only) if *only != name => continue,
                    None if skipped.contains(&name) => continue,
                    None if timings.iter().any(|t| t.name == name) => continue,
                    None if is_over() => break,
                    _ => bar.inc(1),
                }
                match query(&connections, step, name.clone(), campaign)? {
                    Some(timing) => {
                        if timing.ratio() < campaign.threshold {
                            let plans = plans(&connections, &timing.sql);
                            bar.suspend(|| println!("slower: {}\n{plans}", timing.line()));
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
    campaign: &Campaign,
) -> Result<Option<Timing>> {
    let sql = step.sql.render();
    let once = |side: usize, limit: Duration| {
        let side = &connections[side];
        side.within(limit, || once(side, &sql, &step.binds))
    };
    let Some(stock) = once(0, campaign.patience) else {
        return Ok(None);
    };
    // Ours gets longer: what it does not finish in that time is slower.
    let (start, limit) = (Instant::now(), campaign.patience * 2);
    let before = counts(&connections[1]);
    let ours = once(1, limit);
    let after = counts(&connections[1]);
    let finished = ours.is_some();
    if !finished && start.elapsed() < limit {
        return Ok(None);
    }
    let fate = match (after.0 > before.0, after.1 > before.1) {
        (true, _) => Fate::Taken,
        (false, true) => Fate::GivenBack,
        (false, false) => Fate::Left,
    };
    let mut timing = Timing {
        name,
        fate,
        stock,
        ours: ours.unwrap_or(limit.as_secs_f64()),
        sql,
    };
    // What other processes do may make one measurement wrong, but hardly three.
    for round in 0..if finished { ROUNDS } else { 0 } {
        let samples = measure(connections, &timing.sql, &step.binds, stock, 1 + 2 * round);
        (timing.stock, timing.ours) = samples;
        if timing.ratio() >= campaign.threshold {
            break;
        }
    }
    for (i, value) in step.binds.iter().enumerate() {
        let before = if i == 0 { " --" } else { "," };
        let _ = write!(timing.sql, "{before} ?{}={}", i + 1, value.literal());
    }
    Ok(Some(timing))
}

/// How many queries of a connection our code has run so far, and given back to stock's.
fn counts(connection: &Connection) -> (i64, i64) {
    let (mut run, mut back) = (0, 0);
    for row in connection.rows("PRAGMA hp_stats").unwrap_or_default() {
        if let [Value::Text(what), Value::Int(count)] = row.as_slice() {
            match what.as_slice() {
                b"run" => run += count,
                what if what.starts_with(b"given back") => back += count,
                _ => {}
            }
        }
    }
    (run, back)
}

/// The plans of both sides.
fn plans(connections: &[Connection; 2], sql: &str) -> String {
    let mut out = String::new();
    for (name, connection) in ["stock", "ours"].into_iter().zip(connections) {
        let _ = writeln!(out, "    plan of {name}:");
        let rows = connection.rows(&format!("EXPLAIN QUERY PLAN {sql}"));
        for row in rows.unwrap_or_default() {
            if let Some(Value::Text(step)) = row.last() {
                let _ = writeln!(out, "      {}", String::from_utf8_lossy(step));
            }
        }
    }
    out
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
    println!("stock's time over ours     count   worst     1 %    10 %    50 %    90 %    best");
    for (fate, what) in FATES {
        let own = timings.iter().filter(|t| t.fate == fate);
        let ratios: Vec<f64> = own.map(Timing::ratio).collect();
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
