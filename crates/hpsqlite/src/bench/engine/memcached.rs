//! memcached, by its text protocol.
//!
//! It gets enough memory for all pairs: it would forget some otherwise.

use std::ffi::OsString;

use anyhow::{Result, bail};

use super::server::{self, Address, EngineServer, ServerConnection, Start};
use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan, Values};

/// Pairs that are sent before answers are read: their answers fit into the socket's buffer.
const AHEAD: usize = 1000;
/// Values above this need a larger item size than memcached's own.
const USUAL_ITEM: usize = 900_000;
/// What is told of its settings.
const TOLD: [&str; 5] = [
    "maxbytes",
    "num_threads",
    "evictions",
    "item_size_max",
    "maxconns",
];

struct Memcached {
    server: EngineServer,
}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let address = Address::of(plan)?;
    // An item has a head of 56 bytes and more, and sizes go up in steps of a quarter.
    let pair = (plan.key_size + plan.value_size + 100) as u64;
    let megabytes = ((plan.count * pair * 3 / 2) >> 20).max(64) + 16;
    let mut arguments: Vec<OsString> = vec![
        "-m".into(),
        megabytes.to_string().into(),
        "-c".into(),
        (plan.sessions + 64).to_string().into(),
    ];
    match &address {
        Address::Tcp(port) => {
            let port = port.to_string().into();
            arguments.extend(["-l".into(), "127.0.0.1".into(), "-p".into(), port]);
        }
        Address::Unix(path) => {
            arguments.extend(["-s".into(), path.into(), "-a".into(), "0700".into()]);
        }
    }
    if plan.value_size > USUAL_ITEM {
        // It has to be a multiple of its chunks.
        let size = (plan.value_size + (1 << 16)).next_multiple_of(1 << 20);
        arguments.extend(["-I".into(), size.to_string().into()]);
    }
    if server::root() {
        arguments.extend(["-u".into(), "root".into()]);
    }
    let server = EngineServer::start(
        plan,
        Start {
            program: "memcached",
            packages: "memcached",
            arguments,
            input: "",
            address: address.clone(),
            ready: &mut |pid| {
                let found = statistics(&mut address.connect()?, "stats")?;
                Ok(found.get("pid") == Some(&pid.to_string()))
            },
        },
    )?;
    Ok(Box::new(Memcached { server }))
}

/// What a `stats` command answers.
fn statistics(connection: &mut ServerConnection, command: &str) -> Result<Values> {
    connection.send(format!("{command}\r\n").as_bytes())?;
    let mut found = Values::new();
    let mut line = Vec::new();
    loop {
        let line = String::from_utf8_lossy(connection.line(&mut line)?).into_owned();
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("STAT"), Some(name)) => {
                let value = words.collect::<Vec<_>>().join(" ");
                found.insert(name.to_owned(), value);
            }
            (Some("END"), _) => return Ok(found),
            _ => bail!("memcached answered {line}"),
        }
    }
}

impl KeyValue for Memcached {
    fn effective(&self) -> Result<Effective> {
        let mut connection = self.server.address.connect()?;
        let mut settings = statistics(&mut connection, "stats settings")?;
        settings.retain(|name, _| TOLD.contains(&name.as_str()));
        settings.insert(
            "connection".to_owned(),
            self.server.address.kind().to_owned(),
        );
        let all = statistics(&mut connection, "stats")?;
        Ok(Effective {
            version: format!("memcached {}", all.get("version").map_or("", |v| v)),
            settings,
            durability: "everything is lost when the server ends, by a crash or otherwise"
                .to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut MemcachedClient {
            connection: self.server.address.connect()?,
            command: Vec::new(),
            line: Vec::new(),
            value: Vec::new(),
        })
    }

    fn server(&self) -> Option<&EngineServer> {
        Some(&self.server)
    }
}

struct MemcachedClient {
    connection: ServerConnection,
    command: Vec<u8>,
    line: Vec<u8>,
    value: Vec<u8>,
}

impl MemcachedClient {
    fn set(&mut self, key: &[u8], value: &[u8]) {
        self.command.extend_from_slice(b"set ");
        self.command.extend_from_slice(key);
        let rest = format!(" 0 0 {}\r\n", value.len());
        self.command.extend_from_slice(rest.as_bytes());
        self.command.extend_from_slice(value);
        self.command.extend_from_slice(b"\r\n");
    }

    fn stored(&mut self) -> Result<()> {
        match self.connection.line(&mut self.line)? {
            b"STORED" => Ok(()),
            other => bail!("memcached answered {}", String::from_utf8_lossy(other)),
        }
    }
}

impl Session for MemcachedClient {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.command.clear();
        self.set(key, value);
        self.connection.send(&self.command)?;
        self.stored()
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        for some in pairs.chunks(AHEAD) {
            self.command.clear();
            for (key, value) in some {
                self.set(key, value);
            }
            self.connection.send(&self.command)?;
            for _ in some {
                self.stored()?;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.command.clear();
        self.command.extend_from_slice(b"get ");
        self.command.extend_from_slice(key);
        self.command.extend_from_slice(b"\r\n");
        self.connection.send(&self.command)?;
        // "VALUE key flags size", the value, "END"; or only "END".
        let line = self.connection.line(&mut self.line)?;
        if line == b"END" {
            return Ok(false);
        }
        let size = line.rsplit(|b| *b == b' ').next().unwrap_or_default();
        let size = server::number(size)?;
        found(self.connection.value(size, &mut self.value)?);
        match self.connection.line(&mut self.line)? {
            b"END" => Ok(true),
            other => bail!("memcached answered {}", String::from_utf8_lossy(other)),
        }
    }
}
