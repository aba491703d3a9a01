//! Child processes that run cases: one regime each, and expendable, since a
//! library under test may crash or hang.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::execute::{self, Difference, Kind, Options, Report, Tally};
use crate::generate;
use crate::library::Library;
use crate::regime::Regime;

/// A case that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The two libraries, and whether to plant errors into ours.
#[derive(Clone, Debug)]
pub struct Pair {
    pub stock: PathBuf,
    pub ours: PathBuf,
    /// A library that a worker process loads before all others, such as the
    /// run time of a sanitizer.
    pub preload: Option<PathBuf>,
    pub plant: bool,
}

impl Pair {
    /// A process of this program that does `task` with the two libraries.
    pub fn command(&self, task: &str) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(task)
            .arg("--stock")
            .arg(&self.stock)
            .arg("--ours")
            .arg(&self.ours);
        if let Some(library) = &self.preload {
            command.env("LD_PRELOAD", library);
        }
        Ok(command)
    }

    /// Fails unless both libraries load and are what their names say.
    pub fn check(&self, stand_in: bool) -> Result<()> {
        let mut command = self.command("check")?;
        if stand_in {
            command.arg("--stand-in");
        }
        if !command
            .status()
            .context("cannot start a process")?
            .success()
        {
            bail!("these libraries cannot be compared");
        }
        Ok(())
    }
}

/// What a worker is asked, a line of JSON each; it answers with a `Report`.
#[derive(Serialize, Deserialize)]
enum Job {
    Seed(u64),
    Case(Box<Case>),
}

/// A worker process, started when first needed and again after a crash.
pub struct Worker {
    pair: Pair,
    regime: &'static Regime,
    running: Option<Running>,
}

struct Running {
    child: Child,
    jobs: ChildStdin,
    reports: Receiver<String>,
}

impl Worker {
    pub fn new(pair: &Pair, regime: &'static Regime) -> Worker {
        Worker {
            pair: pair.clone(),
            regime,
            running: None,
        }
    }

    pub fn seed(&mut self, seed: u64) -> Result<Report> {
        self.perform(&Job::Seed(seed))
    }

    pub fn case(&mut self, case: &Case) -> Result<Report> {
        self.perform(&Job::Case(Box::new(case.clone())))
    }

    fn perform(&mut self, job: &Job) -> Result<Report> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let sent = writeln!(running.jobs, "{}", serde_json::to_string(job)?)
            .and_then(|()| running.jobs.flush());
        let answer = match sent {
            Ok(()) => running.reports.recv_timeout(PATIENCE),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let (kind, ours) = match answer {
            Ok(line) => {
                self.running = Some(running);
                return Ok(serde_json::from_str(&line)?);
            }
            Err(RecvTimeoutError::Timeout) => {
                running.child.kill()?;
                running.child.wait()?;
                (
                    Kind::Hang,
                    format!("no answer within {} s", PATIENCE.as_secs()),
                )
            }
            Err(RecvTimeoutError::Disconnected) => (
                Kind::Crash,
                format!("the process ended: {}", running.child.wait()?),
            ),
        };
        let difference = Difference {
            kind,
            step: 0,
            stock: String::new(),
            ours,
        };
        Ok(Report {
            difference: Some(difference),
            tally: Tally::default(),
        })
    }

    fn start(&self) -> Result<Running> {
        let mut command = self.pair.command("worker")?;
        for pragma in self.regime.pragmas {
            command.arg("--pragma").arg(pragma);
        }
        if self.pair.plant {
            command.arg("--plant");
        }
        command
            .env("HPSQLITE_TEST", self.regime.switches)
            .env_remove("HPSQLITE");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a worker")?;
        let jobs = child
            .stdin
            .take()
            .context("a worker without standard input")?;
        let output = child
            .stdout
            .take()
            .context("a worker without standard output")?;
        let (sender, reports) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(|line| line.ok()) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Running {
            child,
            jobs,
            reports,
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.jobs);
            let _ = running.child.wait();
        }
    }
}

/// The worker's side: answers jobs from standard input until it ends.
pub fn serve(pair: &Pair, pragmas: Vec<String>) -> Result<()> {
    let libraries = Library::open_both(&pair.stock, &pair.ours, false)?;
    let options = Options {
        pragmas,
        plant: pair.plant,
    };
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let mut output = std::io::stdout().lock();
    for (i, line) in std::io::stdin().lock().lines().enumerate() {
        let case = match serde_json::from_str(&line?)? {
            Job::Seed(seed) => generate::case(seed),
            Job::Case(case) => *case,
        };
        let place = folder.path().join(i.to_string());
        std::fs::create_dir(&place)?;
        let report = execute::run(&case, libraries, &place, &options)?;
        std::env::set_current_dir(folder.path())?;
        std::fs::remove_dir_all(&place)?;
        writeln!(output, "{}", serde_json::to_string(&report)?)?;
        output.flush()?;
    }
    Ok(())
}

/// Says what the two libraries are, and fails unless they can be compared.
pub fn check(stock: &Path, ours: &Path, stand_in: bool) -> Result<()> {
    let [stock, ours] = Library::open_both(stock, ours, false)?;
    let version = match ours.hp_version() {
        Some(version) => format!("hp_version {version}"),
        None if stand_in => "a stand-in: nothing of ours is tested".to_string(),
        None => bail!("the library given as ours has no hp_version()"),
    };
    eprintln!(
        "stock {}\nours  {} ({version})",
        stock.source_id(),
        ours.source_id()
    );
    Ok(())
}
