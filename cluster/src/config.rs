//! `cluster.toml`: who the nodes are, where they listen, and the secret that they share.

use std::fs;
use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::request;

/// The file in the cluster's folder.
pub const FILE: &str = "cluster.toml";
/// Ports of a node: Raft, hiqlite's own API, and the one that `hpsqlite cluster` talks to.
const PORTS: u16 = 3;

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Known to all nodes and to who may use the cluster; at least 32 characters.
    pub secret: String,
    /// The database's file in `node-N/state_machine/db`.
    pub database: String,
    /// Encrypts what nodes say to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    #[serde(rename = "node")]
    pub nodes: Vec<Node>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Tls {
    /// Files in PEM format; names in certificates are verified.
    Files { certificate: PathBuf, key: PathBuf },
    /// `"automatic"`: certificates that each node makes. Who knows the secret is believed.
    Word(String),
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub id: u64,
    /// The address at which the other nodes find it.
    pub host: String,
    /// The address at which it listens (default: `host`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// The first of its three ports.
    pub port: u16,
}

impl Node {
    pub fn raft(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub fn api(&self) -> String {
        format!("{}:{}", self.host, self.port + 1)
    }

    /// Where the node answers `hpsqlite cluster`.
    pub fn control(&self) -> String {
        format!("{}:{}", self.host, self.port + 2)
    }

    pub fn listens_at(&self) -> &str {
        self.listen.as_deref().unwrap_or(&self.host)
    }

    /// Says which of the node's ports another program has.
    pub fn check_ports(&self) -> Result<()> {
        let at: IpAddr = self.listens_at().parse().with_context(|| {
            format!(
                "node {} listens at {}, which is no IP address",
                self.id,
                self.listens_at()
            )
        })?;
        for port in self.port..self.port + PORTS {
            if let Err(error) = TcpListener::bind((at, port)) {
                bail!(
                    "node {} cannot listen at {at}:{port}: {error}; --port takes another first port",
                    self.id
                );
            }
        }
        Ok(())
    }
}

impl Config {
    /// A cluster of this machine: `count` nodes that listen at loopback from `port` on.
    pub fn local(count: u64, port: u16, database: String) -> Result<Self> {
        let mut config = Self {
            secret: request::random(32)?,
            database,
            tls: None,
            nodes: Vec::new(),
        };
        for _ in 0..count {
            config.add_local(port)?;
        }
        Ok(config)
    }

    /// One node more at loopback, behind the ports that are taken; returns its id.
    pub fn add_local(&mut self, port: u16) -> Result<u64> {
        let id = self.nodes.iter().map(|node| node.id).max().unwrap_or(0) + 1;
        let port = self
            .nodes
            .iter()
            .map(|node| node.port.saturating_add(PORTS))
            .max()
            .unwrap_or(port);
        ensure!(
            port <= u16::MAX - PORTS,
            "there are no ports above {port}: choose a lower --port"
        );
        self.nodes.push(Node {
            id,
            host: "127.0.0.1".into(),
            listen: None,
            port,
        });
        Ok(id)
    }

    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
                "there is no cluster in {}: `hpsqlite cluster start` makes one, --dir names another folder",
                folder.display()
            ),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let config: Self =
            toml::from_str(&text).with_context(|| format!("{} is wrong", path.display()))?;
        let mode = fs::metadata(&path)?.permissions().mode();
        ensure!(
            mode & 0o077 == 0,
            "{} has the cluster's secret, and others may read it: chmod 600 it",
            path.display()
        );
        ensure!(
            config.secret.len() >= 32,
            "the secret in {} is shorter than 32 characters",
            path.display()
        );
        ensure!(
            !config.database.is_empty() && !config.database.contains('/'),
            "the database in {} is a name, without a folder",
            path.display()
        );
        for (i, node) in config.nodes.iter().enumerate() {
            ensure!(node.id > 0, "nodes have ids from 1 on ({})", path.display());
            ensure!(
                !config.nodes[..i].iter().any(|other| other.id == node.id),
                "node {} is twice in {}",
                node.id,
                path.display()
            );
        }
        if let Some(Tls::Word(word)) = &config.tls {
            ensure!(
                word == "automatic",
                "tls in {} is \"{word}\", and not \"automatic\"",
                path.display()
            );
        }
        // hiqlite lets this one found the cluster.
        ensure!(
            config.nodes.iter().any(|node| node.id == 1),
            "{} has no node 1",
            path.display()
        );
        Ok(config)
    }

    /// Writes the file anew, readable by its owner only. A reader sees the old file or the new one.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let new = folder.join(format!("{FILE}.new"));
        let text = format!(
            "# A cluster of High Performance SQLite. Whoever can read this may read and change its data.\n{}",
            toml::to_string(self)?
        );
        let write = || -> std::io::Result<()> {
            let _ = fs::remove_file(&new);
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&new)?;
            std::io::Write::write_all(&mut file, text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn node(&self, id: u64) -> Result<&Node> {
        self.nodes
            .iter()
            .find(|node| node.id == id)
            .with_context(|| {
                let ids: Vec<String> = self.nodes.iter().map(|node| node.id.to_string()).collect();
                format!("there is no node {id}: there are {}", ids.join(", "))
            })
    }
}

/// A node's folder: hiqlite's data, the log, the process that runs.
pub fn node_folder(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("node-{id}"))
}

/// The file that a running node holds locked, with the number of its process.
pub fn process_file(folder: &Path, id: u64) -> PathBuf {
    node_folder(folder, id).join("process")
}

/// A node's database.
pub fn node_database(folder: &Path, config: &Config, id: u64) -> PathBuf {
    node_folder(folder, id)
        .join("state_machine/db")
        .join(&config.database)
}
