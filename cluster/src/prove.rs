//! `prove`: what the cluster claims, shown on this machine.
//!
//! Writers send rows with numbers of their own, each as one request, and note outside the cluster which ones
//! were acknowledged. Meanwhile nodes are killed. A request is sent again until it is answered, and while two
//! of three nodes live none may stay without an answer. In the end each node must have every acknowledged row
//! once and none that was not sent, all nodes the same data, and stock SQLite must find their files in order.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use rusqlite::{Connection, OpenFlags};

use crate::client::{self, Asker, Unsettled};
use crate::commands::block_on;
use crate::config::Config;
use crate::message::{Answer, Ask, Cell};
use crate::trial::Trial;

/// Another leader must have answered what was sent before it within this time. It takes less than a second
/// where the machine has time.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(8);
/// Writers at the same time
const WRITERS: i64 = 4;

#[derive(Args)]
pub struct Prove {
    /// Times that the leader is killed and started again
    #[arg(long, default_value_t = 20, value_name = "N")]
    rounds: u32,
    /// First port of the nodes
    #[arg(long, default_value_t = 7400, value_name = "PORT")]
    port: u16,
    /// What decides when the leader is killed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Leave the cluster's folder, and say where it is
    #[arg(long)]
    keep: bool,
}

/// What the writers know
#[derive(Default)]
struct Ledger {
    sent: AtomicI64,
    acknowledged: Mutex<BTreeSet<i64>>,
    end: AtomicBool,
    /// When each writer sent the row whose answer it waits for
    waiting: Mutex<[Option<Instant>; WRITERS as usize]>,
    /// Rows that were sent more than once
    again: AtomicU64,
    /// Rows of which no answer says whether they are written, though most nodes lived
    ambiguous: AtomicU64,
    /// Odd while most nodes are dead; another number each time
    quorum: AtomicU64,
    longest: Mutex<Longest>,
    failed: Mutex<Option<String>>,
}

/// The longest times, of rows that were sent while most nodes lived
#[derive(Default)]
struct Longest {
    /// From when a row was sent to its answer
    wait: Duration,
    /// From when another node led to the answer of what had been sent before
    behind: Duration,
}

impl Ledger {
    fn quorum(&self) -> u64 {
        self.quorum.load(Ordering::SeqCst)
    }

    /// Notes that most nodes die, or that they live again.
    fn turn(&self) {
        self.quorum.fetch_add(1, Ordering::SeqCst);
    }

    fn wait(&self, writer: i64, since: Option<Instant>) {
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting[writer as usize] = since;
        }
    }

    /// How long it takes until what was sent before now is answered.
    fn answered(&self) -> Result<Duration> {
        let now = Instant::now();
        let waits = || {
            self.waiting
                .lock()
                .is_ok_and(|waiting| waiting.iter().flatten().any(|since| *since < now))
        };
        while waits() {
            ensure!(
                now.elapsed() < 2 * client::ANSWERED_WITHIN,
                "a row has no answer {} s after another node led",
                now.elapsed().as_secs()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = now.elapsed();
        if let Ok(mut longest) = self.longest.lock() {
            longest.behind = longest.behind.max(took);
        }
        Ok(took)
    }
}

pub fn run(arguments: &Prove) -> Result<bool> {
    let dir = std::env::temp_dir().join(format!("hpsqlite-cluster-{}", std::process::id()));
    std::fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let done = prove(&dir, arguments);
    if arguments.keep {
        println!("the cluster is in {}", dir.display());
    } else {
        let _ = std::fs::remove_dir_all(&dir);
    }
    done
}

fn prove(dir: &Path, arguments: &Prove) -> Result<bool> {
    let config = Config::local(3, arguments.port, "proof.db".into())?;
    for node in &config.nodes {
        node.check_ports()?;
    }
    config.save(dir)?;
    let mut trial = Trial::new(dir, config, |_, _| Vec::new());
    trial.start()?;
    write(&trial.config, "CREATE TABLE proof(id INTEGER, text TEXT)")??;

    let ledger = Arc::new(Ledger::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|i| {
            let (config, ledger) = (trial.config.clone(), Arc::clone(&ledger));
            std::thread::spawn(move || send_rows(&config, &ledger, i))
        })
        .collect();
    let storm = storm(&mut trial, arguments, &ledger);
    ledger.end.store(true, Ordering::Relaxed);
    for writer in writers {
        ensure!(writer.join().is_ok(), "a writer has failed");
    }
    storm?;
    judge(&mut trial, &ledger)
}

/// Sends rows until the end, each to another node first.
fn send_rows(config: &Config, ledger: &Ledger, writer: i64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(runtime), Ok(asker)) = (runtime, Asker::new(config)) else {
        return;
    };
    let mut turn = writer as usize;
    while !ledger.end.load(Ordering::Relaxed) {
        let id = ledger.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let ask = Ask {
            sql: "INSERT INTO proof VALUES(?1, ?2)".into(),
            parameters: vec![
                Cell::Integer(id),
                Cell::Text(format!("row {id} of writer {writer}")),
            ],
            ..Ask::default()
        };
        let (quorum, begun) = (ledger.quorum(), Instant::now());
        ledger.wait(writer, Some(begun));
        let settled = runtime.block_on(asker.settle(turn, &ask));
        ledger.wait(writer, None);
        turn += 1;
        let lived = quorum % 2 == 0 && quorum == ledger.quorum();
        match settled {
            Ok(settled) => {
                if let Ok(mut acknowledged) = ledger.acknowledged.lock() {
                    acknowledged.insert(id);
                }
                if settled.sent > 1 {
                    ledger.again.fetch_add(1, Ordering::Relaxed);
                }
                if let (true, Ok(mut longest)) = (lived, ledger.longest.lock()) {
                    longest.wait = longest.wait.max(begun.elapsed());
                }
            }
            Err(error) if lived => {
                let doubt = error
                    .downcast_ref::<Unsettled>()
                    .is_some_and(|unsettled| unsettled.doubt.is_some());
                ledger.ambiguous.fetch_add(doubt.into(), Ordering::Relaxed);
                if let Ok(mut failed) = ledger.failed.lock() {
                    failed.get_or_insert_with(|| format!("row {id}: {error:#}"));
                }
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Everything that happens to the nodes.
fn storm(trial: &mut Trial, arguments: &Prove, ledger: &Ledger) -> Result<()> {
    let written = || ledger.acknowledged.lock().map_or(0, |rows| rows.len());
    let mut random = arguments.seed.max(1);
    let mut longest = Duration::ZERO;
    for round in 1..=arguments.rounds {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(100 + random % 1500));
        let leader = trial.leader()?;
        trial.kill(leader)?;
        let took = trial.another_leader(leader)?;
        longest = longest.max(took);
        let behind = ledger.answered()?;
        trial.start()?;
        println!(
            "round {round}: the leader, node {leader}, killed; another one after {:.1} s, all answered {:.2} s later; \
             {} rows acknowledged",
            took.as_secs_f64(),
            behind.as_secs_f64(),
            written()
        );
    }
    println!(
        "the longest time without a leader: {:.1} s",
        longest.as_secs_f64()
    );

    let leader = trial.leader()?;
    trial.signal(leader, rustix::process::Signal::STOP)?;
    let took = trial.another_leader(leader)?;
    let behind = ledger.answered()?;
    std::thread::sleep(Duration::from_secs(2));
    trial.signal(leader, rustix::process::Signal::CONT)?;
    trial.start()?;
    println!(
        "the leader, node {leader}, cut off for {:.1} s and back: node {} led after {:.1} s, all answered {:.2} s later",
        (took + behind).as_secs_f64() + 2.0,
        trial.leader()?,
        took.as_secs_f64(),
        behind.as_secs_f64()
    );

    let leader = trial.leader()?;
    let followers: Vec<u64> = trial
        .config
        .nodes
        .iter()
        .map(|node| node.id)
        .filter(|id| *id != leader)
        .collect();
    ledger.turn();
    for id in &followers {
        trial.kill(*id)?;
    }
    let config = trial.config.clone();
    let refused = write(&config, "INSERT INTO proof VALUES(-1, 'not acknowledged')")?;
    ensure!(
        refused.is_err(),
        "a write was acknowledged by one node of three"
    );
    let ask = Ask {
        sql: "SELECT count(*) FROM proof".into(),
        ..Ask::default()
    };
    let read = block_on(client::ask(&config, config.node(leader)?, &ask))?;
    ensure!(
        read.is_ok(),
        "the node that is left does not read: {:#}",
        read.err().context("no error")?
    );
    println!("two of three killed: writes are refused, reads are answered");
    trial.start()?;

    for node in config.nodes {
        trial.kill(node.id)?;
    }
    trial.start()?;
    println!(
        "all three killed, and started: node {} leads",
        trial.leader()?
    );
    ledger.turn();
    std::thread::sleep(Duration::from_millis(500));
    Ok(())
}

/// Writes through the first node that answers; the inner error is what it, or the lack of one, says.
fn write(config: &Config, sql: &str) -> Result<Result<Vec<Answer>>> {
    let ask = Ask {
        sql: sql.into(),
        ..Ask::default()
    };
    block_on(async {
        let settled = Asker::new(config)?.settle(0, &ask).await?;
        Ok(settled.answers)
    })
}

/// Compares what each node has with what was sent and acknowledged.
fn judge(trial: &mut Trial, ledger: &Ledger) -> Result<bool> {
    let acknowledged = ledger
        .acknowledged
        .lock()
        .map_err(|_| anyhow::anyhow!("a writer has failed"))?;
    let sent = ledger.sent.load(Ordering::Relaxed);
    ensure!(!acknowledged.is_empty(), "nothing was acknowledged");
    // All nodes get up to the newest entry.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let statuses: Vec<_> = block_on(client::statuses(&trial.config))?
            .into_iter()
            .flatten()
            .collect();
        let newest = statuses.iter().map(|status| status.log).max();
        if statuses.len() == trial.config.nodes.len()
            && statuses.iter().all(|status| Some(status.applied) == newest)
        {
            break;
        }
        ensure!(
            Instant::now() < deadline,
            "nodes do not get up to the newest entry within 30 s"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut all = true;
    let (mut lost, mut twice) = (0, 0);
    let mut contents = Vec::new();
    for node in &trial.config.nodes {
        let file = trial.dir.join(format!("node-{}.db", node.id));
        block_on(client::backup(&trial.config, node, &file))??;
        let db = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let rows: Vec<(i64, String)> = db
            .prepare("SELECT id, text FROM proof ORDER BY rowid")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let ids: BTreeSet<i64> = rows.iter().map(|(id, _)| *id).collect();
        let missing = acknowledged.difference(&ids).count();
        let double = rows.len() - ids.len();
        (lost, twice) = (lost.max(missing), twice.max(double));
        // -1 is the row that one node of three may have kept in its log.
        let unsent = ids
            .iter()
            .filter(|id| **id != -1 && !(1..=sent).contains(*id))
            .count();
        let sound = stock_finds_it_sound(&file)?;
        all &= missing == 0 && double == 0 && unsent == 0 && sound == "ok";
        println!(
            "node {}: {} rows; {missing} of {} acknowledged ones lost, {double} twice, {unsent} never sent; \
             integrity_check of stock SQLite: {sound}",
            node.id,
            rows.len(),
            acknowledged.len()
        );
        contents.push(rows);
    }
    let same = contents.windows(2).all(|pair| pair[0] == pair[1]);
    println!(
        "all nodes have the same rows in the same order: {}",
        if same { "yes" } else { "NO" }
    );
    let (wait, behind) = ledger.longest.lock().map_or_else(
        |_| Default::default(),
        |longest| (longest.wait, longest.behind),
    );
    let ambiguous = ledger.ambiguous.load(Ordering::Relaxed);
    println!(
        "rows sent again: {}; the longest wait for an answer: {:.1} s, and after another node led: {:.2} s",
        ledger.again.load(Ordering::Relaxed),
        wait.as_secs_f64(),
        behind.as_secs_f64()
    );
    println!("ambiguous answers: {ambiguous}; rows written twice: {twice}; rows lost: {lost}");
    let failed = ledger.failed.lock().map_or(None, |failed| failed.clone());
    if let Some(failed) = &failed {
        println!("without an answer while most nodes lived: {failed}");
    }
    Ok(all && same && ambiguous == 0 && failed.is_none() && behind < CAUGHT_UP_WITHIN)
}

/// What stock SQLite's integrity_check says of a file. That it is stock SQLite which says so is asked first: our
/// own would find sound what it has written.
fn stock_finds_it_sound(file: &Path) -> Result<String> {
    let ours = of_stock(file, "SELECT hp_version()");
    ensure!(
        ours.as_ref()
            .is_err_and(|why| why.contains("no such function: hp_version")),
        "stock SQLite is to look into {}, and is not to be had: {ours:?}",
        file.display()
    );
    let said = of_stock(file, "PRAGMA integrity_check");
    Ok(said.unwrap_or_else(|why| why))
}

/// The rows that stock SQLite has for a statement, or why it has none.
fn of_stock(file: &Path, sql: &str) -> std::result::Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program.with_file_name("hpsqlite"))
        .args(["query", "--lib", "stock", "--csv"])
        .arg(file)
        .arg(sql)
        .output()
        .map_err(|error| format!("cannot run hpsqlite, which lies beside this program: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if !output.status.success() {
        return Err(text(&output.stderr));
    }
    let rows = text(&output.stdout);
    // The first line is the names of the columns.
    Ok(rows
        .split_once('\n')
        .map_or("", |(_, rows)| rows)
        .to_string())
}
