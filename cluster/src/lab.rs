//! `lab`: a cluster for `hpsqlite bench`, which asks it by lines of JSON on standard input.
//!
//! ```text
//! {"ready": {...}}                                       nodes work: which library, which node is asked
//! {"do": "run", "sql": S, "repeat": N, "limit": L}       the follower answers N times; within L seconds
//!     {"seconds": T, "rows": R}                          each time to the last byte of the answer
//!     {"late": true}                                     it took longer
//! {"do": "rows", "sql": S, "node": I}                    the answer of a node, as it is
//! {"do": "write", "rows": N}                             from now on N rows a second are written; 0 ends it
//!     {"written": X}                                     rows a second that were written until now
//! {"failed": WHY}                                        instead of an answer
//! ```
//! One node leads, the follower is asked and timed, the third one only has the same data. They have
//! different numbers of threads, which must change no answer.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::client::{self, Asker};
use crate::commands::{block_on, plant, seed};
use crate::config::Config;
use crate::library;
use crate::message::Ask;
use crate::trial::Trial;

/// Ports that are tried: those of a cluster are nine in a row.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Rows of a transaction of the writer
const ROWS_A_WRITE: u64 = 10;

#[derive(Args)]
pub struct Lab {
    /// The database
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Let the nodes run on this library of SQLite, whichever it is
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    Run {
        sql: String,
        repeat: u64,
        limit: Option<f64>,
    },
    Rows {
        sql: String,
        node: u64,
    },
    Write {
        rows: u64,
    },
}

pub fn run(dir: &Path, arguments: &Lab) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    let mut lab = match found(dir, arguments) {
        Ok(lab) => lab,
        Err(error) => {
            writeln!(out, "{}", json!({"failed": format!("{error:#}")}))?;
            return Ok(false);
        }
    };
    writeln!(out, "{}", lab.ready()?)?;
    for line in std::io::stdin().lock().lines() {
        let answer = serde_json::from_str(&line?)
            .map_err(anyhow::Error::from)
            .and_then(|request| lab.answer(request));
        let answer = answer.unwrap_or_else(|error| json!({"failed": format!("{error:#}")}));
        writeln!(out, "{answer}")?;
    }
    lab.write(0)?;
    Ok(true)
}

/// Makes the cluster in a folder, and starts it.
fn found(dir: &Path, arguments: &Lab) -> Result<Laboratory> {
    // Where this process's number leads: several labs at the same time shall not try the same ports.
    let first = PORTS.start + (std::process::id() % 1000) as u16 * 9;
    let port = (first..PORTS.end)
        .step_by(9)
        .find(|port| (0..9).all(|i| std::net::TcpListener::bind(("127.0.0.1", port + i)).is_ok()))
        .context("there are no nine free ports in a row")?;
    let config = Config::local(3, port, "lab.db".into())?;
    config.save(dir)?;
    plant(&arguments.from, &seed(dir))?;
    if let Some(library) = &arguments.library {
        let folder = libraries(dir);
        std::fs::create_dir_all(&folder)?;
        std::os::unix::fs::symlink(library, folder.join("libsqlite3.so.0"))
            .with_context(|| format!("cannot link to {}", library.display()))?;
    }
    let mut trial = Trial::new(dir, config, |id, dir| {
        let mut variables = vec![(library::ANY, "1".to_string())];
        if libraries(dir).exists() {
            variables.push(("LD_LIBRARY_PATH", libraries(dir).display().to_string()));
        }
        // The follower is node 2 or 3, and both have as many threads as a machine has for them.
        if id == 1 {
            variables.push(("HPSQLITE_TEST", "threads=1".into()));
        }
        variables
    });
    trial.start()?;
    let _ = std::fs::remove_file(seed(dir));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let leader = trial.leader()?;
    // Node 1 leads as a rule: it founds the cluster.
    let follower = if leader == 3 { 2 } else { 3 };
    Ok(Laboratory {
        asker: Asker::new(&trial.config)?,
        leader,
        follower,
        runtime,
        writer: None,
        trial,
    })
}

fn libraries(dir: &Path) -> PathBuf {
    dir.join("lib")
}

struct Laboratory {
    trial: Trial,
    leader: u64,
    follower: u64,
    runtime: tokio::runtime::Runtime,
    /// Keeps its connections, as a program does
    asker: Asker,
    writer: Option<Writer>,
}

struct Writer {
    begun: Instant,
    end: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<Result<()>>,
}

impl Laboratory {
    fn ready(&self) -> Result<Json> {
        let node = self.trial.config.node(self.follower)?;
        let status = block_on(client::status(&self.trial.config, node))??;
        Ok(json!({"ready": {
            "library": status.library,
            "nodes": self.trial.config.nodes.iter().map(|node| node.id).collect::<Vec<_>>(),
            "leader": self.leader,
            "follower": self.follower,
            "process": self.trial.process(self.follower)?,
        }}))
    }

    fn answer(&mut self, request: Request) -> Result<Json> {
        match request {
            Request::Run { sql, repeat, limit } => self.timed(&sql, repeat, limit),
            Request::Rows { sql, node } => {
                let body = self
                    .runtime
                    .block_on(self.asker.ask(node, &question(&sql)))?;
                let answers: Vec<Json> = serde_json::from_slice(&body)?;
                answers.into_iter().next().context("there is no answer")
            }
            Request::Write { rows } => self.write(rows),
        }
    }

    /// The follower's time, from sending the question to the last byte of the answer.
    fn timed(&self, sql: &str, repeat: u64, limit: Option<f64>) -> Result<Json> {
        let ask = question(sql);
        let limit = limit.map_or(Duration::MAX, Duration::from_secs_f64);
        let begun = Instant::now();
        let mut body = Vec::new();
        for _ in 0..repeat {
            let rest = limit.saturating_sub(begun.elapsed());
            let answer =
                async { tokio::time::timeout(rest, self.asker.ask(self.follower, &ask)).await };
            match self.runtime.block_on(answer) {
                Ok(answered) => body = answered?,
                Err(_) => return Ok(json!({"late": true})),
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let answers: Vec<Json> = serde_json::from_slice(&body)?;
        let rows = answers[0]["rows"].as_array().map_or(0, Vec::len);
        Ok(json!({"seconds": seconds, "rows": rows}))
    }

    /// Ends the writer that there is, and starts one if rows are wanted.
    fn write(&mut self, rows: u64) -> Result<Json> {
        let mut rate = 0.0;
        if let Some(writer) = self.writer.take() {
            writer.end.store(true, Ordering::Relaxed);
            self.runtime.block_on(writer.task)??;
            rate = writer.written.load(Ordering::Relaxed) as f64
                / writer.begun.elapsed().as_secs_f64();
        }
        if rows > 0 {
            let asker = Asker::new(&self.trial.config)?;
            let leader = self.leader;
            let end = Arc::new(AtomicBool::new(false));
            let written = Arc::new(AtomicU64::new(0));
            let table = "CREATE TABLE IF NOT EXISTS written(id INTEGER PRIMARY KEY, text TEXT)";
            self.runtime.block_on(asker.ask(leader, &question(table)))?;
            let task = {
                let (end, written) = (Arc::clone(&end), Arc::clone(&written));
                self.runtime
                    .spawn(async move { write_rows(&asker, leader, rows, &end, &written).await })
            };
            self.writer = Some(Writer {
                begun: Instant::now(),
                end,
                written,
                task,
            });
        }
        Ok(json!({"written": rate}))
    }
}

/// Writes through the leader, in transactions that come at equal intervals.
async fn write_rows(
    asker: &Asker,
    leader: u64,
    rows: u64,
    end: &AtomicBool,
    written: &AtomicU64,
) -> Result<()> {
    let mut clock =
        tokio::time::interval(Duration::from_secs_f64(ROWS_A_WRITE as f64 / rows as f64));
    while !end.load(Ordering::Relaxed) {
        clock.tick().await;
        let first = written.load(Ordering::Relaxed);
        let values: Vec<String> = (first..first + ROWS_A_WRITE)
            .map(|i| format!("(NULL, 'row {i} that is written meanwhile')"))
            .collect();
        let insert = format!("INSERT INTO written VALUES{}", values.join(","));
        asker.ask(leader, &question(&insert)).await?;
        written.fetch_add(ROWS_A_WRITE, Ordering::Relaxed);
    }
    Ok(())
}

fn question(sql: &str) -> Ask {
    Ask {
        sql: sql.into(),
        ..Ask::default()
    }
}
