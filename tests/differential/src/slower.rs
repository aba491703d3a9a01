//! Is anything slower than stock? Times generated queries on both libraries,
//! on small and large tables, with and without indexes and ANALYZE.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};

use crate::case::Step;
use crate::generate::{joins, large, searched};
use crate::library::{Connection, Library, Setup};
use crate::value::Value;
use crate::worker::Pair;

/// What is asked for.
pub struct Campaign {
    pub seed: u64,
    pub tables: Tables,
    /// Each execution is the first one of a new process.
    pub first: bool,
    /// ... of which the processor's time is taken, not the clock's.
    pub processor: bool,
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

/// What the queries are about.
#[derive(Clone, Copy, PartialEq)]
pub enum Tables {
    One,
    Joins,
    /// Tables that have indexes, of which SQLite searches one.
    Searched,
}

/// A first execution is slower if it takes so much longer than stock's, ...
const FIRST_SHARE: f64 = 1.3;
/// ... and so many seconds more.
const FIRST_MORE: f64 = 2e-3;
/// First executions on each side, at least and at most.
const FIRSTS: [usize; 2] = [3, 9];

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

    fn is_slower(&self, campaign: &Campaign) -> bool {
        if campaign.first {
            self.ours > self.stock * FIRST_SHARE + FIRST_MORE
        } else {
            self.ratio() < campaign.threshold
        }
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
        let (what, (schema, steps)) = match campaign.tables {
            Tables::One => ("", large::database(rng, rows, campaign.queries)),
            Tables::Joins => ("joins", joins::database(rng, rows, campaign.queries)),
            Tables::Searched => ("searched", searched::database(rng, rows, campaign.queries)),
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
                let timing = if campaign.first {
                    first(pair, &file, step, name.clone(), campaign)?
                } else {
                    query(&connections, step, name.clone(), campaign)?
                };
                match timing {
                    Some(timing) => {
                        if timing.is_slower(campaign) {
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
    Ok(report(timings, skipped.len(), campaign))
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
    let fate = fate(before, after);
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

fn fate(before: (i64, i64), after: (i64, i64)) -> Fate {
    match (after.0 > before.0, after.1 > before.1) {
        (true, _) => Fate::Taken,
        (false, true) => Fate::GivenBack,
        (false, false) => Fate::Left,
    }
}

/// Measures one query in processes of its own, which take turns; nothing if it fails or takes too
/// long. The shortest time counts: other processes only make it longer.
fn first(
    pair: &Pair,
    file: &Path,
    step: &Step,
    name: String,
    campaign: &Campaign,
) -> Result<Option<Timing>> {
    let mut timing = Timing {
        name,
        sql: step.sql.render(),
        fate: Fate::Left,
        stock: f64::MAX,
        ours: f64::MAX,
    };
    for round in 0..FIRSTS[1] {
        let Some((stock, _)) = process(pair, 0, file, &timing.sql, campaign)? else {
            return Ok(None);
        };
        let Some((ours, fate)) = process(pair, 1, file, &timing.sql, campaign)? else {
            return Ok(None);
        };
        timing.fate = fate;
        timing.stock = timing.stock.min(stock);
        timing.ours = timing.ours.min(ours);
        if stock > campaign.patience.as_secs_f64() {
            return Ok(None);
        }
        if round + 1 >= FIRSTS[0] && !timing.is_slower(campaign) {
            break;
        }
    }
    Ok(Some(timing))
}

/// The seconds of one execution in a process of its own, and what became of it.
fn process(
    pair: &Pair,
    side: usize,
    file: &Path,
    sql: &str,
    campaign: &Campaign,
) -> Result<Option<(f64, Fate)>> {
    let mut command = pair.command("once")?;
    command
        .arg("--side")
        .arg(side.to_string())
        .arg("--file")
        .arg(file);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start a process")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    stdin.write_all(sql.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [clock, processor, fate] = fields.as_slice() else {
        return Ok(None);
    };
    let time = if campaign.processor { processor } else { clock };
    Ok(Some((time.parse()?, FATES[fate.parse::<usize>()?].0)))
}

/// What such a process does: opens the file, runs the query that it reads, and says how many
/// seconds that took.
pub fn serve(pair: &Pair, side: usize, file: &Path) -> Result<()> {
    let mut sql = String::new();
    std::io::stdin().read_to_string(&mut sql)?;
    let library = Library::open_both(&pair.stock, &pair.ours, true)?[side];
    let begin = (Instant::now(), processor_time());
    let connection = open(library, file)?;
    let done = once(&connection, &sql, &[]);
    let (clock, processor) = (begin.0.elapsed(), processor_time() - begin.1);
    if done.is_none() {
        bail!("the query fails");
    }
    let fate = fate((0, 0), counts(&connection));
    println!("{} {processor} {}", clock.as_secs_f64(), fate as usize);
    Ok(())
}

/// Seconds that processors have worked for this process, all threads together.
fn processor_time() -> f64 {
    unsafe extern "C" {
        fn clock() -> std::ffi::c_long;
    }
    // SAFETY: it has no preconditions. POSIX: a million to a second.
    unsafe { clock() as f64 / 1e6 }
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
fn report(mut timings: Vec<Timing>, skipped: usize, campaign: &Campaign) -> bool {
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
    let slower = timings.iter().filter(|t| t.is_slower(campaign)).count();
    let limit = if campaign.first {
        format!(
            "{FIRST_SHARE} times stock's time and {} ms",
            FIRST_MORE * 1e3
        )
    } else {
        format!("{}x", campaign.threshold)
    };
    println!(
        "{} queries, {skipped} more failed or took too long; {slower} slower than {limit}",
        timings.len()
    );
    slower == 0
}
