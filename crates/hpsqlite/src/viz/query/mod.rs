//! A SELECT, its plan, its first rows, and which pages it reads, in order.
//!
//! ```text
//! serve  ── mod (Query) ── pipe ── worker: SQLite, reading only
//!             │                      │
//!           tally                  trace: open, pread, … under SQLite's VFS
//! ```
//!
//! What is counted: pages that SQLite reads from the file or from its log while it prepares and runs
//! the statement, with a connection of its own whose cache is empty. A page that is looked at again
//! while it is in the cache (2 MB unless the library says otherwise) is not read again. The first
//! is page 1, with which every transaction begins. What reading the schema took, which each
//! connection does once, is left out. High Performance SQLite runs with one thread, so that there is
//! an order; it reads adjacent pages by one call, and each of the pages counts.
//!
//! Or a statement is measured: it runs several times as it would in an application, with all threads
//! and nobody who watches its reads, and the worker says what keeps it from being accelerated and which
//! index would help it.

pub mod protocol;
pub mod tally;
pub mod trace;
pub mod worker;

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::missing::Suggested;
use crate::reasons::Reasons;
use crate::{interrupt, text};
use protocol::{Event, PlanLine, QueryValue, STOP, Started, StatementEnd, Tag};
use tally::{OfKind, OfTree, ReadTally, RunLengths};

/// The name of the worker's subcommand.
pub const WORKER: &str = "viz-worker";
/// How long a statement may run.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How long one that was told to stop may take for that.
const GRACE: Duration = Duration::from_secs(2);

/// A statement that runs or ran in a worker.
#[derive(Debug)]
pub struct Query {
    state: Mutex<QueryState>,
    /// Told when the worker has ended.
    over: Condvar,
    worker: Mutex<QueryWorker>,
}

#[derive(Debug)]
struct QueryWorker {
    child: Child,
    input: Option<ChildStdin>,
}

#[derive(Debug, Default)]
struct QueryState {
    tally: ReadTally,
    started: Option<Started>,
    end: Option<StatementEnd>,
    error: Option<protocol::Error>,
    /// Why it was told to stop.
    stop: Option<StopReason>,
    over: bool,
}

/// Why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    Asked,
    TooLong,
}

/// What the page is told. `error` is there if the statement did not run to its end.
#[derive(Debug, Default, Serialize)]
pub struct QueryAnswer {
    pub id: String,
    pub running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<protocol::Error>,
    /// It was stopped: what is here is of the part that ran.
    pub stopped: bool,
    /// Version of the library.
    pub library: String,
    pub plan: Vec<PlanLine>,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<QueryValue>>,
    pub row_count: u64,
    /// There are rows that are not here.
    pub more: bool,
    pub seconds: f64,
    /// Of a statement that is measured, the seconds of each run; what became of it; what would help.
    pub times: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Reasons>,
    pub indexes: Vec<Suggested>,
    pub reads: u64,
    pub adjacent: u64,
    /// Reads of the page that was read before.
    pub again: u64,
    pub distinct: u64,
    /// How many reads are kept in their order.
    pub kept: usize,
    pub runs: Option<RunLengths>,
    /// Calls of the system that read the pages, and pages that came from the log.
    pub calls: u64,
    pub from_log: u64,
    pub trees: Vec<OfTree>,
    pub kinds: Vec<OfKind>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Query {
    /// Starts a worker. What it writes is to be given to [`Query::follow`].
    pub fn start(
        library: &Path,
        database: &Path,
        sql: &str,
        measure: bool,
        pages: u32,
    ) -> Result<(Query, ChildStdout)> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(WORKER)
            .arg(library)
            .arg(database)
            .args(measure.then_some("--measure"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a worker process")?;
        interrupt::remember(child.id());
        let mut input = child.stdin.take();
        let output = child.stdout.take().expect("standard output is piped");
        let length = u32::try_from(sql.len()).context("the statement is too long")?;
        if let Some(input) = &mut input {
            // A worker that is gone already says so by what it does not answer.
            let _ = input.write_all(&length.to_le_bytes());
            let _ = input.write_all(sql.as_bytes());
        }
        let query = Query {
            state: Mutex::new(QueryState {
                tally: ReadTally::new(pages),
                ..QueryState::default()
            }),
            over: Condvar::new(),
            worker: Mutex::new(QueryWorker { child, input }),
        };
        Ok((query, output))
    }

    /// Takes what the worker says until it ends.
    pub fn follow(&self, mut output: ChildStdout) {
        let said = loop {
            match protocol::read(&mut output) {
                Ok(Some((Tag::Pages, bytes))) => {
                    let words = bytes.chunks_exact(4);
                    let pages = words.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    lock(&self.state).tally.add(pages);
                }
                Ok(Some((Tag::Event, json))) => match serde_json::from_slice(&json) {
                    Ok(Event::Started(started)) => lock(&self.state).started = Some(started),
                    Ok(Event::Ended(end)) => lock(&self.state).end = Some(end),
                    Ok(Event::Failed(error)) => lock(&self.state).error = Some(error),
                    Err(e) => break Err(e.to_string()),
                },
                Ok(None) => break Ok(()),
                Err(e) => break Err(e.to_string()),
            }
        };
        let death = self.bury();
        let mut state = lock(&self.state);
        if state.end.is_none() && state.error.is_none() {
            let message = match (state.stop, said) {
                (Some(_), _) => "The statement was stopped.".to_owned(),
                (None, Err(e)) => format!("The process that ran the statement said nonsense: {e}"),
                (None, Ok(())) => format!(
                    "The process that ran the statement {death}. The file may be damaged; Problems \
                     says where."
                ),
            };
            state.error = Some(protocol::Error {
                message,
                offset: None,
            });
        }
        state.over = true;
        self.over.notify_all();
    }

    /// Ends the worker and says how it ended.
    fn bury(&self) -> String {
        let mut worker = lock(&self.worker);
        drop(worker.input.take());
        interrupt::forget(worker.child.id());
        // It closed its output, most likely because it ends.
        for _ in 0..100 {
            if !matches!(worker.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = worker.child.kill();
        match worker.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("crashed with signal {signal}"),
                None => format!("ended with {status}"),
            },
            Err(e) => format!("is gone: {e}"),
        }
    }

    /// Has the statement end, and its worker if it does not.
    pub fn stop(&self, why: StopReason) {
        {
            let mut state = lock(&self.state);
            if state.over {
                return;
            }
            state.stop.get_or_insert(why);
        }
        if let Some(input) = &mut lock(&self.worker).input {
            let _ = input.write_all(&[STOP]);
        }
        if !self.wait(GRACE) {
            self.kill();
        }
    }

    /// Ends the worker at once.
    pub fn kill(&self) {
        lock(&self.state).stop.get_or_insert(StopReason::Asked);
        let _ = lock(&self.worker).child.kill();
    }

    /// Waits for the end, so long at most; false: it has not come.
    pub fn wait(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let waiting = self.over.wait_timeout_while(state, time, |s| !s.over);
        let (state, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        state.over
    }

    pub fn is_over(&self) -> bool {
        lock(&self.state).over
    }

    /// The pages read so far from read `from` on, as little-endian words.
    pub fn reads(&self, from: usize) -> Vec<u8> {
        let state = lock(&self.state);
        let kept = state.tally.kept.get(from..).unwrap_or_default();
        kept.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    /// What is known of it now, with the b-trees of the file that it runs on.
    pub fn answer(&self, id: &str, model: &crate::viz::walk::Model) -> QueryAnswer {
        let state = lock(&self.state);
        let tally = &state.tally;
        let (trees, kinds) = tally.by_owner(model);
        let mut answer = QueryAnswer {
            id: id.to_owned(),
            running: !state.over,
            error: state.error.clone(),
            stopped: state.stop.is_some(),
            reads: tally.reads,
            adjacent: tally.adjacent,
            again: tally.again,
            distinct: tally.distinct,
            kept: tally.kept.len(),
            runs: Some(tally.runs()).filter(|runs| runs.count > 0),
            trees,
            kinds,
            ..QueryAnswer::default()
        };
        if let Some(started) = &state.started {
            answer.plan.clone_from(&started.plan);
            answer.library.clone_from(&started.library);
        }
        if let Some(end) = &state.end {
            answer.columns.clone_from(&end.columns);
            answer.rows.clone_from(&end.rows);
            answer.row_count = end.row_count;
            answer.more = end.row_count > end.rows.len() as u64;
            answer.seconds = end.seconds;
            answer.times.clone_from(&end.times);
            answer.reasons.clone_from(&end.reasons);
            answer.indexes.clone_from(&end.indexes);
            answer.calls = end.calls;
            answer.from_log = end.from_log;
            answer.stopped = end.stopped;
            answer.error = answer.error.or_else(|| end.error.clone());
        }
        answer.notes = state.notes();
        answer
    }
}

impl QueryState {
    /// What a reader should know, as sentences.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stop == Some(StopReason::TooLong) {
            notes.push(format!(
                "It was stopped after {} seconds. What is shown is of the part that ran.",
                LIMIT.as_secs()
            ));
        }
        if let Some(started) = &self.started {
            if started.immutable {
                notes.push(
                    "The file is in WAL mode and nobody has it open: it was read as one that nobody \
                     writes to, so that no files are left beside it."
                        .to_owned(),
                );
            }
            if started.parameters > 0 {
                notes.push("Parameters of the statement are NULL.".to_owned());
            }
        }
        if let Some(end) = &self.end
            && end.temporary_files > 0
        {
            notes.push(format!(
                "It needed temporary files, for sorting or the like: {} in all, with {} written to \
                 them. They are not counted.",
                end.temporary_files,
                text::bytes(end.temporary_bytes)
            ));
        }
        if self.tally.reads > self.tally.kept.len() as u64 {
            notes.push(format!(
                "The order of the first {} reads is kept; the others are counted only.",
                text::thousands(self.tally.kept.len() as u64)
            ));
        }
        if self.tally.elsewhere > 0 {
            notes.push(
                "It read pages that the file did not have when it was opened here: somebody writes \
                 to it."
                    .to_owned(),
            );
        }
        notes
    }
}
