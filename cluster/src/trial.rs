//! A cluster whose nodes are this process's children, and end with it: for `prove` and for the lab.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::client;
use crate::commands::{block_on, node_command, wait_until_healthy};
use crate::config::Config;

/// A cluster without its leader must have another one within this time.
const ELECTED_WITHIN: Duration = Duration::from_secs(5);

pub struct Trial {
    pub dir: PathBuf,
    pub config: Config,
    children: Vec<(u64, Child)>,
    /// Variables of the environment of a node
    environment: Environment,
}

/// Gives the variables of a node.
pub type Environment = fn(u64, &Path) -> Vec<(&'static str, String)>;

impl Drop for Trial {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Trial {
    /// The cluster of a folder, of which no node runs. Call it in the thread that lives longest: nodes end
    /// with the one that starts them.
    pub fn new(dir: &Path, config: Config, environment: Environment) -> Self {
        Self {
            dir: dir.to_path_buf(),
            config,
            children: Vec::new(),
            environment,
        }
    }

    /// Starts the nodes that do not run, and waits until all work.
    pub fn start(&mut self) -> Result<()> {
        for node in &self.config.nodes {
            if self.children.iter().any(|(id, _)| *id == node.id) {
                continue;
            }
            let mut command = node_command(&self.dir, node.id, node.id == 1)?;
            command.envs((self.environment)(node.id, &self.dir));
            // SAFETY: prctl() is async-signal-safe.
            unsafe {
                command.pre_exec(|| {
                    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                    Ok(())
                });
            }
            let child = command
                .spawn()
                .with_context(|| format!("cannot start node {}", node.id))?;
            self.children.push((node.id, child));
        }
        wait_until_healthy(&self.dir, &self.config, &mut self.children).map(drop)
    }

    fn child(&self, id: u64) -> Result<&Child> {
        let found = self.children.iter().find(|(child, _)| *child == id);
        Ok(&found.context("the node does not run")?.1)
    }

    /// The process of a node.
    pub fn process(&self, id: u64) -> Result<u32> {
        Ok(self.child(id)?.id())
    }

    pub fn kill(&mut self, id: u64) -> Result<()> {
        let at = self
            .children
            .iter()
            .position(|(child, _)| *child == id)
            .context("the node does not run")?;
        let (_, mut child) = self.children.swap_remove(at);
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    pub fn signal(&self, id: u64, signal: Signal) -> Result<()> {
        let process = rustix::process::Pid::from_child(self.child(id)?);
        Ok(rustix::process::kill_process(process, signal)?)
    }

    pub fn leader(&self) -> Result<u64> {
        self.leader_but(0)
    }

    /// The leader among all nodes but one, which may take long to answer.
    fn leader_but(&self, lost: u64) -> Result<u64> {
        let mut config = self.config.clone();
        config.nodes.retain(|node| node.id != lost);
        block_on(client::statuses(&config))?
            .into_iter()
            .flatten()
            .find(|status| status.state == "leader")
            .map(|status| status.id)
            .context("no node leads")
    }

    /// How long it takes until one of the others leads.
    pub fn another_leader(&self, lost: u64) -> Result<Duration> {
        let begun = Instant::now();
        loop {
            if self.leader_but(lost).is_ok() {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > 2 * ELECTED_WITHIN {
                bail!(
                    "{} s after node {lost} was killed no other node leads",
                    begun.elapsed().as_secs()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
