//! A process that is asked for something in a line of JSON and answers in one.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use crate::bench::engine::server;
use crate::interrupt;

/// The process; ended when dropped.
pub struct Helper {
    /// Who it is, for errors
    who: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    log: PathBuf,
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It has ended by itself, or what it does is no longer wanted.
        let _ = self.child.kill();
        interrupt::forget(self.child.id());
        let _ = self.child.wait();
    }
}

impl Helper {
    /// Starts it, and gives its first line; what it has to say else is in the file `log`.
    pub fn start(who: &'static str, mut command: Command, log: &Path) -> Result<(Helper, Json)> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        interrupt::remember(child.id());
        let mut helper = Helper {
            who,
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("standard output is piped")),
            child,
            log: log.to_owned(),
        };
        let hello = helper.receive()?;
        if let Some(why) = hello["failed"].as_str() {
            bail!("{who}: {why}");
        }
        Ok((helper, hello))
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks for something; nothing where it took longer than its limit.
    pub fn ask(&mut self, request: Json) -> Result<Option<Json>> {
        let sent = match &mut self.input {
            Some(input) => writeln!(input, "{request}"),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        // What one that has died says tells why.
        let answer = self.receive()?;
        sent.with_context(|| format!("{}'s process takes no requests", self.who))?;
        if let Some(why) = answer["failed"].as_str() {
            bail!("{}: {why}", self.who);
        }
        Ok(answer.get("late").is_none().then_some(answer))
    }

    pub fn demand(&mut self, request: Json) -> Result<Json> {
        self.ask(request)?
            .with_context(|| format!("{}'s process is late", self.who))
    }

    fn receive(&mut self) -> Result<Json> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() {
            interrupt::check()?;
            bail!(
                "{}'s process has ended: {}",
                self.who,
                server::tail(&self.log)
            );
        }
        serde_json::from_str(&line).with_context(|| format!("{}'s process says {line}", self.who))
    }

    /// Lets it close what is open, and waits for that.
    pub fn end(&mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait()?;
        interrupt::forget(self.child.id());
        if !status.success() {
            bail!("{}'s process has ended with {status}", self.who);
        }
        Ok(())
    }
}
