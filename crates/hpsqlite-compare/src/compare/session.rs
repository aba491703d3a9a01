//! The tool's end of the pipe to a worker process.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

use super::protocol::{OpenedLibrary, ReportedError, Request, WorkerReply};
use crate::interrupt::{self, Interrupted};

/// A worker process with its library; ended when dropped.
pub struct WorkerSession {
    /// `stock`, `ours`, `A` or `B`.
    pub label: String,
    library: PathBuf,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for WorkerSession {
    fn drop(&mut self) {
        // The end of its input is a worker's end; one in the middle of a statement is not waited for.
        drop(self.input.take());
        if interrupt::raised() || std::thread::panicking() {
            let _ = self.child.kill();
        }
        interrupt::forget(self.child.id());
        let _ = self.child.wait();
    }
}

impl WorkerSession {
    /// Starts a worker on `library`.
    pub fn start(label: &str, library: &Path) -> Result<WorkerSession> {
        interrupt::check()?;
        WorkerSession::start_anyway(label, library)
    }

    /// Starts a worker on `library` even after Ctrl-C, to put things in order.
    pub fn start_anyway(label: &str, library: &Path) -> Result<WorkerSession> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("worker")
            .arg(library)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a worker process")?;
        interrupt::remember(child.id());
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let mut session = WorkerSession {
            label: label.to_owned(),
            library: library.to_owned(),
            child,
            input,
            output,
        };
        match session.receive()? {
            WorkerReply::Failed(why) => bail!("{why}"),
            _ => Ok(session),
        }
    }

    /// Sends a request and waits for its reply; SQLite's errors are replies too.
    pub fn ask(&mut self, request: &Request) -> Result<WorkerReply> {
        self.send(request)?;
        self.receive()
    }

    /// Like [`WorkerSession::ask`], where an error of SQLite leaves nothing to go on with.
    pub fn demand(&mut self, request: &Request) -> Result<WorkerReply> {
        match self.ask(request)? {
            WorkerReply::Sql(e) => Err(anyhow!("{}", e.advice())),
            WorkerReply::Failed(why) => bail!("{why}"),
            reply => Ok(reply),
        }
    }

    /// Opens a database and tells what the library made of the settings.
    pub fn open(
        &mut self,
        database: &Path,
        writable: bool,
        pragmas: &[String],
    ) -> Result<OpenedLibrary> {
        match self.demand(&Request::Open {
            database: database.to_owned(),
            writable,
            pragmas: pragmas.to_vec(),
        })? {
            WorkerReply::Opened(opened) => Ok(opened),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Copies a database, telling the progress in pages.
    pub fn copy(
        &mut self,
        from: &Path,
        to: &Path,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<()> {
        self.send(&Request::Copy {
            from: from.to_owned(),
            to: to.to_owned(),
        })?;
        loop {
            match self.receive()? {
                WorkerReply::Progress { done, all } => progress(done, all),
                WorkerReply::Done => return Ok(()),
                WorkerReply::Sql(e) => bail!("cannot copy {}: {}", from.display(), e.advice()),
                other => return Err(out_of_turn(&other)),
            }
        }
    }

    fn send(&mut self, request: &Request) -> Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let sent = self.input.as_mut().map(|input| input.write_all(&line));
        match sent {
            Some(Ok(())) => Ok(()),
            // A closed pipe: the worker is gone.
            _ => Err(self.death()),
        }
    }

    fn receive(&mut self) -> Result<WorkerReply> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(n) if n > 0 => serde_json::from_str(&line).context("a worker's reply"),
            _ => Err(self.death()),
        }
    }

    /// Why the worker is gone.
    fn death(&mut self) -> anyhow::Error {
        interrupt::forget(self.child.id());
        let status = self.child.wait();
        if interrupt::raised() {
            return Interrupted.into();
        }
        let how = match status {
            Ok(s) => match s.signal() {
                Some(signal) => format!("crashed with signal {signal}"),
                None => format!("ended with {s}"),
            },
            Err(e) => e.to_string(),
        };
        anyhow!("{} ({}) {how}", self.label, self.library.display())
    }
}

/// The error for a reply that does not belong to the request.
pub fn out_of_turn(reply: &WorkerReply) -> anyhow::Error {
    match reply {
        WorkerReply::Sql(ReportedError { message, .. }) | WorkerReply::Failed(message) => {
            anyhow!("{message}")
        }
        other => anyhow!("a worker's reply out of turn: {other:?}"),
    }
}
