//! Redis, by its own protocol (RESP).
//!
//! Without `sync` it keeps what its own settings keep, snapshots from time to time. `sync=on` is
//! a log that is brought to the device for each command, `sync=off` one that is every second.

use std::ffi::OsString;

use anyhow::{Context, Result, bail};

use super::server::{self, Address, EngineServer, ServerConnection, Start};
use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan, Values};

/// What is told of its settings.
const TOLD: [&str; 5] = [
    "appendonly",
    "appendfsync",
    "save",
    "io-threads",
    "maxmemory",
];

struct Redis {
    server: EngineServer,
    password: String,
}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let address = Address::of(plan)?;
    let password = server::password()?;
    let folder = plan.folder.to_str().context("a folder that is no text")?;
    // A password, because whoever can connect can make Redis write files; and not among the
    // arguments, which everybody can read.
    let mut settings = format!("requirepass {password}\ndir {folder:?}\ndaemonize no\n");
    match &address {
        Address::Tcp(port) => settings += &format!("bind 127.0.0.1\nport {port}\n"),
        Address::Unix(path) => {
            let path = path.to_str().context("a folder that is no text")?;
            settings += &format!("port 0\nunixsocket {path:?}\nunixsocketperm 700\n");
        }
    }
    settings += match plan.sync()? {
        None => "",
        Some(true) => "save \"\"\nappendonly yes\nappendfsync always\n",
        Some(false) => "save \"\"\nappendonly yes\nappendfsync everysec\n",
    };
    let server = EngineServer::start(
        plan,
        Start {
            program: "redis-server",
            packages: "redis-server",
            arguments: vec![OsString::from("-")],
            input: &settings,
            address: address.clone(),
            ready: &mut |pid| {
                let info = RedisClient::new(&address, &password)?.info()?;
                Ok(info.get("process_id") == Some(&pid.to_string())
                    && info.get("loading").is_some_and(|l| l == "0"))
            },
        },
    )?;
    Ok(Box::new(Redis { server, password }))
}

impl KeyValue for Redis {
    fn effective(&self) -> Result<Effective> {
        let mut client = RedisClient::new(&self.server.address, &self.password)?;
        let mut settings = Values::new();
        for name in TOLD {
            client.command(&[b"CONFIG", b"GET", name.as_bytes()])?;
            let pair = client.list()?;
            settings.insert(name.to_owned(), pair.get(1).cloned().unwrap_or_default());
        }
        let durability = match (&*settings["appendonly"], &*settings["appendfsync"]) {
            ("yes", "always") => "no crash loses a command that was answered",
            ("yes", _) => {
                "a crash of the process loses nothing; of the system or the power, the last second"
            }
            _ if settings["save"].is_empty() => "everything is lost when the server ends",
            _ => {
                "a crash of the process, the system or the power loses what was written since the \
                 last snapshot, which may be an hour"
            }
        };
        settings.insert(
            "connection".to_owned(),
            self.server.address.kind().to_owned(),
        );
        let info = client.info()?;
        Ok(Effective {
            version: format!("Redis {}", info.get("redis_version").map_or("", |v| v)),
            settings,
            durability: durability.to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut RedisClient::new(&self.server.address, &self.password)?)
    }

    fn server(&self) -> Option<&EngineServer> {
        Some(&self.server)
    }
}

struct RedisClient {
    connection: ServerConnection,
    bytes: Vec<u8>,
    line: Vec<u8>,
    value: Vec<u8>,
}

impl RedisClient {
    fn new(address: &Address, password: &str) -> Result<RedisClient> {
        let mut client = RedisClient {
            connection: address.connect()?,
            bytes: Vec::new(),
            line: Vec::new(),
            value: Vec::new(),
        };
        client.command(&[b"AUTH", password.as_bytes()])?;
        client.ok()?;
        Ok(client)
    }

    fn begin(&mut self, words: usize) {
        self.bytes.clear();
        self.bytes
            .extend_from_slice(format!("*{words}\r\n").as_bytes());
    }

    fn word(&mut self, word: &[u8]) {
        let size = format!("${}\r\n", word.len());
        self.bytes.extend_from_slice(size.as_bytes());
        self.bytes.extend_from_slice(word);
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn command(&mut self, words: &[&[u8]]) -> Result<()> {
        self.begin(words.len());
        for word in words {
            self.word(word);
        }
        self.connection.send(&self.bytes)
    }

    fn ok(&mut self) -> Result<()> {
        match self.connection.line(&mut self.line)? {
            b"+OK" => Ok(()),
            other => bail!("Redis answered {}", String::from_utf8_lossy(other)),
        }
    }

    /// The value that is answered, or none.
    fn bulk(&mut self) -> Result<Option<&[u8]>> {
        let line = self.connection.line(&mut self.line)?;
        match line.split_first() {
            Some((b'$', b"-1")) => Ok(None),
            Some((b'$', size)) => {
                let size = server::number(size)?;
                Ok(Some(self.connection.value(size, &mut self.value)?))
            }
            _ => bail!("Redis answered {}", String::from_utf8_lossy(line)),
        }
    }

    /// Several values, as text.
    fn list(&mut self) -> Result<Vec<String>> {
        let line = self.connection.line(&mut self.line)?;
        let Some((b'*', size)) = line.split_first() else {
            bail!("Redis answered {}", String::from_utf8_lossy(line));
        };
        (0..server::number(size)?)
            .map(|_| {
                let value = self.bulk()?.unwrap_or_default();
                Ok(String::from_utf8_lossy(value).into_owned())
            })
            .collect()
    }

    /// What the server says about itself.
    fn info(&mut self) -> Result<Values> {
        self.command(&[b"INFO"])?;
        let text = self.bulk()?.unwrap_or_default();
        Ok(String::from_utf8_lossy(text)
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }
}

impl Session for RedisClient {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.command(&[b"SET", key, value])?;
        self.ok()
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        self.begin(1 + 2 * pairs.len());
        self.word(b"MSET");
        for (key, value) in pairs {
            self.word(key);
            self.word(value);
        }
        self.connection.send(&self.bytes)?;
        self.ok()
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.command(&[b"GET", key])?;
        let value = self.bulk()?;
        if let Some(value) = value {
            found(value);
        }
        Ok(value.is_some())
    }
}
