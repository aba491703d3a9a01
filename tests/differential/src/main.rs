//! Random schemas, data and queries on stock SQLite and on ours, compared to
//! the letter.

mod case;
mod execute;
mod generate;
mod library;
mod regime;
mod shrink;
mod slower;
mod sql;
mod value;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use case::Case;
use execute::{Difference, Tally};
use generate::traits::TRAITS;
use regime::{REGIMES, Regime};
use slower::{Campaign, Tables};
use worker::{Pair, Worker};

/// Seeds of a plain `run`, in every regime.
const SEEDS: u64 = 250;

/// Of the queries that the library says it takes over, at least so many in a
/// hundred must be taken over where that is forced; fewer means that the test
/// tests nothing.
const LEAST_TAKEN: u64 = 85;

/// How long a failure is made smaller.
const SHRINKING: Duration = Duration::from_secs(120);

/// Compares our SQLite with stock on random databases and queries.
#[derive(Parser)]
#[command(name = "hpsqlite-differential", version)]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a fixed number of seeds in every regime.
    Run(Run),
    /// Go on until stopped, from a new seed each time; shrink what is found.
    Fuzz(Fuzz),
    /// Time generated queries on both libraries: is anything slower than stock?
    Slower(Slower),
    /// Prove that a wrong answer is noticed and made small.
    Selftest(Libraries),
    #[command(hide = true)]
    Worker(Serve),
    #[command(hide = true)]
    Once(Once),
    #[command(hide = true)]
    Check(Libraries),
}

#[derive(Args, Clone)]
struct Libraries {
    /// The unpatched library.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/libexec/hpsqlite/libsqlite3-stock.so"))]
    stock: PathBuf,
    /// Our library.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/lib/libsqlite3.so.0"))]
    ours: PathBuf,
    /// Load this library first, such as the run time of a sanitizer.
    #[arg(long)]
    preload: Option<PathBuf>,
    /// Accept a second stock library as ours.
    #[arg(long)]
    stand_in: bool,
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    libraries: Libraries,
    /// Only this seed; what it finds is made small.
    #[arg(long)]
    seed: Option<u64>,
    /// How many seeds, from 1.
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// Only this regime.
    #[arg(long, value_parser = regime_name)]
    regime: Option<&'static Regime>,
    /// Processes at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Do not make failures small.
    #[arg(long)]
    no_shrink: bool,
    /// Print the case of --seed as an SQL script, and do not run it.
    #[arg(long, requires = "seed")]
    show: bool,
    /// Tell for each trait of a query how many of those it decides about were taken over,
    /// and for what reasons others were not.
    #[arg(long)]
    traits: bool,
    /// Print the eligible queries that were left to stock where that is forced.
    #[arg(long)]
    left: bool,
}

#[derive(Args)]
struct Fuzz {
    #[command(flatten)]
    libraries: Libraries,
    /// The first seed; a new one each time if not given.
    #[arg(long)]
    from: Option<u64>,
    /// Only this regime.
    #[arg(long, value_parser = regime_name)]
    regime: Option<&'static Regime>,
    /// Processes at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Stop after so many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Stop after so many different failures.
    #[arg(long)]
    failures: Option<usize>,
    /// Where the scripts and cases of failures go.
    #[arg(long, default_value = "target/fuzz-findings")]
    out: PathBuf,
}

#[derive(Args)]
struct Slower {
    #[command(flatten)]
    libraries: Libraries,
    /// Another seed, other tables and queries.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure joins instead: stars and snowflakes of tables with unique keys.
    #[arg(long)]
    joins: bool,
    /// Measure searches instead: indexes that find few rows or many, of narrow and wide tables.
    #[arg(long, conflicts_with = "joins")]
    searched: bool,
    /// Run each query in processes of its own, once: what programs wait for that start, ask and
    /// end. It is slower if it takes 1.3 times stock's time and 2 ms, or more.
    #[arg(long)]
    first: bool,
    /// With --first: take the processor's time, of all threads, not the clock's.
    #[arg(long, requires = "first")]
    processor: bool,
    /// Rows of the tables; of the largest, for joins.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "100,1000,10000,100000,1000000"
    )]
    sizes: Vec<usize>,
    /// Queries for each size, measured with and without ANALYZE.
    #[arg(long, default_value_t = 40)]
    queries: usize,
    /// Only the query of this name.
    #[arg(long)]
    only: Option<String>,
    /// A query is slower if stock's time over ours is less.
    #[arg(long, default_value_t = 0.97)]
    threshold: f64,
    /// Leave out queries that take stock more seconds than this.
    #[arg(long, default_value = "10", value_parser = seconds)]
    patience: Duration,
    /// Keep tables and timings here; another run measures what is not yet measured.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Stop after so many seconds: with --folder a campaign may run in pieces.
    #[arg(long)]
    seconds: Option<u64>,
}

#[derive(Args)]
struct Once {
    #[arg(long)]
    stock: PathBuf,
    #[arg(long)]
    ours: PathBuf,
    #[arg(long)]
    side: usize,
    #[arg(long)]
    file: PathBuf,
}

#[derive(Args)]
struct Serve {
    #[arg(long)]
    stock: PathBuf,
    #[arg(long)]
    ours: PathBuf,
    #[arg(long)]
    pragma: Vec<String>,
    #[arg(long)]
    plant: bool,
}

fn regime_name(name: &str) -> Result<&'static Regime, String> {
    let names: Vec<&str> = REGIMES.iter().map(|r| r.name).collect();
    regime::find(name).ok_or_else(|| format!("the regimes are {}", names.join(", ")))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    let result = match Command::parse().task {
        Task::Run(options) => run(&options),
        Task::Fuzz(options) => fuzz(&options),
        Task::Selftest(libraries) => libraries
            .pair()
            .and_then(|pair| selftest(&pair))
            .map(|()| true),
        Task::Slower(options) => options.libraries.pair().and_then(|pair| {
            let campaign = Campaign {
                seed: options.seed,
                tables: match (options.joins, options.searched) {
                    (true, _) => Tables::Joins,
                    (_, true) => Tables::Searched,
                    _ => Tables::One,
                },
                first: options.first,
                processor: options.processor,
                sizes: options.sizes,
                queries: options.queries,
                only: options.only,
                threshold: options.threshold,
                patience: options.patience,
                folder: options.folder,
                seconds: options.seconds,
            };
            slower::run(&pair, &campaign)
        }),
        Task::Worker(options) => {
            let pair = Pair {
                stock: options.stock,
                ours: options.ours,
                preload: None,
                plant: options.plant,
            };
            worker::serve(&pair, options.pragma).map(|()| true)
        }
        Task::Once(options) => {
            let pair = Pair {
                stock: options.stock,
                ours: options.ours,
                preload: None,
                plant: false,
            };
            slower::serve(&pair, options.side, &options.file).map(|()| true)
        }
        Task::Check(options) => {
            worker::check(&options.stock, &options.ours, options.stand_in).map(|()| true)
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hpsqlite-differential: {error:#}");
            ExitCode::from(2)
        }
    }
}

impl Libraries {
    /// Both paths, checked: workers have their own current folder.
    fn pair(&self) -> Result<Pair> {
        let full = |path: &Path| {
            path.canonicalize()
                .with_context(|| format!("no library {} (run make)", path.display()))
        };
        let pair = Pair {
            stock: full(&self.stock)?,
            ours: full(&self.ours)?,
            preload: self.preload.clone(),
            plant: false,
        };
        pair.check(self.stand_in)?;
        Ok(pair)
    }
}

/// What one seed gave in one regime.
struct Outcome {
    seed: u64,
    regime: &'static Regime,
    difference: Option<Difference>,
    tally: Tally,
}

/// Runs `seeds` in `regimes` on `jobs` workers, and tells `each` of every one
/// until it says stop.
fn sweep(
    pair: &Pair,
    regimes: &[&'static Regime],
    seeds: std::ops::Range<u64>,
    jobs: usize,
    each: impl FnMut(Outcome) -> Result<bool> + Send,
) -> Result<()> {
    let each = Mutex::new(each);
    let next = AtomicU64::new(0);
    // A job is a regime and a run of seeds: workers live long, and regimes take turns.
    const RUN: u64 = 20;
    let runs = (seeds.end - seeds.start)
        .div_ceil(RUN)
        .saturating_mul(regimes.len() as u64);
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            loop {
                let job = next.fetch_add(1, Relaxed);
                if job >= runs {
                    return Ok(());
                }
                let regime = regimes[(job % regimes.len() as u64) as usize];
                let first = seeds.start + job / regimes.len() as u64 * RUN;
                let mut worker = Worker::new(pair, regime);
                for seed in first..(first + RUN).min(seeds.end) {
                    let report = worker.seed(seed)?;
                    let outcome = Outcome {
                        seed,
                        regime,
                        difference: report.difference,
                        tally: report.tally,
                    };
                    let mut each = each
                        .lock()
                        .map_err(|_| anyhow::anyhow!("another worker failed"))?;
                    if !each(outcome)? {
                        next.store(runs, Relaxed);
                        return Ok(());
                    }
                }
            }
        };
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker
                .join()
                .map_err(|_| anyhow::anyhow!("a worker thread panicked"))??;
        }
        Ok(())
    })
}

fn run(options: &Run) -> Result<bool> {
    if let (Some(seed), true) = (options.seed, options.show) {
        print!("{}", generate::case(seed).script(&[]));
        return Ok(true);
    }
    let pair = options.libraries.pair()?;
    let regimes: Vec<&Regime> = REGIMES
        .iter()
        .filter(|r| options.regime.is_none_or(|o| o.name == r.name))
        .collect();
    let seeds = options
        .seed
        .map_or(1..options.seeds + 1, |seed| seed..seed + 1);
    let bar = ProgressBar::new((seeds.end - seeds.start) * regimes.len() as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} cases {msg}")?,
    );
    let (mut passed, mut failed) = (0, Vec::new());
    if options.seed.is_none() {
        selftest(&pair).context("the tester fails its own test")?;
        passed += 1;
    }
    let (mut all, mut forced) = (Tally::default(), Tally::default());
    sweep(&pair, &regimes, seeds, options.jobs, |outcome| {
        bar.inc(1);
        all.add(&outcome.tally);
        if outcome.regime.forced {
            forced.add(&outcome.tally);
        }
        match outcome.difference {
            None => passed += 1,
            Some(_) => failed.push(outcome),
        }
        Ok(true)
    })?;
    bar.finish_and_clear();
    for (i, outcome) in failed.iter().enumerate() {
        let Some(difference) = &outcome.difference else {
            continue;
        };
        // One counterexample made small is worth more than ten that are not.
        let shrinks = i == 0 && !options.no_shrink;
        print!(
            "{}",
            finding(
                &pair,
                outcome,
                difference,
                if shrinks { Some(SHRINKING) } else { None }
            )?
            .0
        );
    }
    let share = (forced.eligible_taken * 100)
        .checked_div(forced.eligible)
        .unwrap_or(100);
    println!(
        "{} queries ({} failed alike on both sides), {} taken over",
        all.queries, all.errors, all.taken
    );
    println!(
        "in forced regimes {} of {} queries taken over; of {} eligible ones {} ({share} %), {} left to stock",
        forced.taken,
        forced.queries,
        forced.eligible,
        forced.eligible_taken,
        forced.eligible - forced.eligible_taken
    );
    if options.traits {
        print!("{}", by_trait(&forced));
        println!("what became of statements in forced regimes, with their EXPLAIN QUERY PLAN:");
        for (what, count) in &forced.fates {
            println!("  {what:<48} {count:>8}");
        }
    }
    if options.left {
        forced.left.sort();
        forced.left.dedup();
        forced.left.iter().for_each(|sql| println!("left: {sql}"));
    }
    let mut failures = failed.len();
    if share < LEAST_TAKEN && forced.eligible >= 100 && !options.libraries.stand_in {
        println!(
            "FAILED: fewer than {LEAST_TAKEN} % of the eligible queries were taken over: nothing is tested"
        );
        failures += 1;
    }
    println!("{passed} passed, {failures} failed, 0 skipped");
    Ok(failures == 0)
}

/// A table of traits: what would be taken over if only this one decided.
fn by_trait(tally: &Tally) -> String {
    let lines = TRAITS.iter().zip(&tally.traits).map(|(one, [all, taken])| {
        let share = (taken * 100).checked_div(*all).unwrap_or(0);
        let refused = match (one.refused(), one.ineligible()) {
            (true, _) => "refused",
            (false, true) => "partly",
            (false, false) => "",
        };
        format!("  {one:<14?} {taken:>7} of {all:>7} {share:>4} %  {refused}\n")
    });
    lines.collect()
}

/// A failure as text, with an SQL script that shows it; made small first where
/// time is given for that.
fn finding(
    pair: &Pair,
    outcome: &Outcome,
    difference: &Difference,
    patience: Option<Duration>,
) -> Result<(String, Case)> {
    let (mut case, mut difference) = (generate::case(outcome.seed), difference.clone());
    if let Some(patience) = patience {
        let mut worker = Worker::new(pair, outcome.regime);
        (case, difference) = shrink::shrink(case, difference, &mut worker, patience)?;
    }
    let regime = outcome.regime;
    let mut text = format!(
        "FAILED: seed {} in regime {}: {:?} differ at statement {} of the session\n",
        outcome.seed,
        regime.name,
        difference.kind,
        difference.step + 1
    );
    if patience.is_some() {
        let pragmas: Vec<String> = regime.pragmas.iter().map(|p| p.to_string()).collect();
        text += &format!(
            "-- HPSQLITE_TEST={}\n{}",
            regime.switches,
            case.script(&pragmas)
        );
        text += &format!(
            "-- stock:\n{}\n-- ours:\n{}\n",
            comment(&difference.stock),
            comment(&difference.ours)
        );
    } else {
        text += &format!(
            "  reproduce: run --seed {} --regime {}\n",
            outcome.seed, regime.name
        );
    }
    Ok((text, case))
}

fn comment(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .take(30)
        .map(|line| format!("--   {}", line.chars().take(300).collect::<String>()))
        .collect();
    lines.join("\n")
}

fn fuzz(options: &Fuzz) -> Result<bool> {
    let pair = options.libraries.pair()?;
    let regimes: Vec<&Regime> = REGIMES
        .iter()
        .filter(|r| options.regime.is_none_or(|o| o.name == r.name))
        .collect();
    let from = options
        .from
        .unwrap_or_else(|| u64::from(fastrand::u32(..)) << 20);
    let start = Instant::now();
    let (mut cases, mut findings) = (0u64, 0);
    let mut tally = Tally::default();
    let bar = ProgressBar::new_spinner()
        .with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
    std::fs::create_dir_all(&options.out)
        .with_context(|| format!("cannot make {}", options.out.display()))?;
    eprintln!("seeds from {from}");
    sweep(&pair, &regimes, from..u64::MAX, options.jobs, |outcome| {
        cases += 1;
        tally.add(&outcome.tally);
        bar.set_message(format!(
            "{cases} cases, {} queries, {} taken over, {findings} findings",
            tally.queries, tally.taken
        ));
        bar.tick();
        if let Some(difference) = &outcome.difference {
            let (text, case) = finding(&pair, &outcome, difference, Some(SHRINKING))?;
            bar.suspend(|| println!("{text}"));
            let name = options
                .out
                .join(format!("{}-{}", outcome.seed, outcome.regime.name));
            std::fs::write(name.with_extension("sql"), &text)?;
            std::fs::write(name.with_extension("json"), serde_json::to_string(&case)?)?;
            findings += 1;
        }
        let late = options
            .seconds
            .is_some_and(|s| start.elapsed().as_secs() >= s);
        Ok(!late && options.failures.is_none_or(|most| findings < most))
    })?;
    bar.finish_and_clear();
    println!(
        "{cases} cases, {} queries, {} taken over, {findings} findings",
        tally.queries, tally.taken
    );
    Ok(findings == 0)
}

/// Plants a wrong value into what ours says to queries with a max(), and
/// demands that it is found and that little else is left of the case.
fn selftest(pair: &Pair) -> Result<()> {
    let pair = Pair {
        plant: true,
        ..pair.clone()
    };
    let regime = regime::find("off").context("no regime off")?;
    let mut worker = Worker::new(&pair, regime);
    for seed in 1..50 {
        let Some(difference) = worker.seed(seed)?.difference else {
            continue;
        };
        let (case, _) = shrink::shrink(generate::case(seed), difference, &mut worker, SHRINKING)?;
        let script = case.script(&[]);
        if case.session.len() != 1 || !script.contains("max(") || script.len() > 400 {
            bail!(
                "the wrong value planted for seed {seed} was found but the case not made small:\n{script}"
            );
        }
        return Ok(());
    }
    bail!("50 seeds did not find a planted wrong value")
}
