//! SQLite, any library of it: one table of keys and values, a connection a session.
//!
//! Options named `pragma.NAME` are set on each connection and read back. The word `tuned` is WAL,
//! `synchronous=normal`, a cache of 64 MiB and a map of 1 GiB, unless options say otherwise.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan};
use crate::bench::connection;
use crate::bench::model::Values;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE, Stmt, Value};

/// How long a writer waits for others.
const BUSY_MS: i32 = 60_000;

const TUNED: [(&str, &str); 4] = [
    ("journal_mode", "wal"),
    ("synchronous", "normal"),
    ("cache_size", "-65536"),
    ("mmap_size", "1073741824"),
];

struct Sqlite {
    library: Library,
    file: PathBuf,
    pragmas: Values,
    table: &'static str,
}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let path = plan.job.library.as_deref().context("no library")?;
    let mut pragmas = Values::new();
    if plan.has_word("tuned") || plan.base() == "tuned" {
        pragmas.extend(TUNED.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }
    if let Some(sync) = plan.sync()? {
        let level = if sync { "full" } else { "off" };
        pragmas.insert("synchronous".to_owned(), level.to_owned());
    }
    pragmas.extend(connection::pragmas(&plan.job.options));
    let store = Sqlite {
        library: Library::load(path)?,
        file: plan.folder.join("kv.db"),
        pragmas,
        table: plan.choice("table", &["rowid", "clustered"])?,
    };
    store.connect()?.exec(&format!(
        "CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY, v BLOB NOT NULL){}",
        if store.table == "clustered" {
            " WITHOUT ROWID"
        } else {
            ""
        }
    ))?;
    Ok(Box::new(store))
}

impl Sqlite {
    fn connect(&self) -> Result<Db<'_>> {
        let flags = OPEN_READWRITE | OPEN_CREATE;
        connection::open(&self.library, &self.file, flags, BUSY_MS, &self.pragmas)
    }
}

impl KeyValue for Sqlite {
    fn effective(&self) -> Result<Effective> {
        let db = self.connect()?;
        let mut effective = connection::effective(&self.library, &db, &self.pragmas)?;
        let table = self.table.to_owned();
        effective.settings.insert("table".to_owned(), table);
        Ok(effective)
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        let db = self.connect()?;
        let prepare =
            |sql: &str| -> Result<Stmt<'_>> { db.prepare(sql)?.context("an empty statement") };
        work(&mut SqliteConnection {
            db: &db,
            put: prepare("INSERT OR REPLACE INTO kv(k,v) VALUES(?1,?2)")?,
            get: prepare("SELECT v FROM kv WHERE k=?1")?,
            scan: prepare("SELECT k,v FROM kv WHERE k>=?1 ORDER BY k")?,
            begin: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
        })
    }

    fn flush(&self) -> Result<()> {
        // Does nothing without a WAL.
        Ok(self.connect()?.exec("PRAGMA wal_checkpoint(TRUNCATE)")?)
    }
}

struct SqliteConnection<'d> {
    db: &'d Db<'d>,
    put: Stmt<'d>,
    get: Stmt<'d>,
    scan: Stmt<'d>,
    begin: Stmt<'d>,
    commit: Stmt<'d>,
}

/// Runs a statement that gives no rows.
fn run(stmt: &mut Stmt<'_>) -> Result<()> {
    let done = stmt.step();
    stmt.reset();
    done?;
    Ok(())
}

fn bytes<'s>(stmt: &'s Stmt<'_>, i: i32) -> &'s [u8] {
    match stmt.value(i) {
        Value::Text(b) | Value::Blob(b) => b,
        _ => &[],
    }
}

impl Session for SqliteConnection<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: both are bound again before the statement's next use.
        unsafe {
            self.put.bind_blob_static(1, key)?;
            self.put.bind_blob_static(2, value)?;
        }
        run(&mut self.put)
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        run(&mut self.begin)?;
        for (key, value) in pairs {
            if let Err(e) = self.put(key, value) {
                // The error to tell is the first one.
                let _ = self.db.exec("ROLLBACK");
                return Err(e);
            }
        }
        run(&mut self.commit)
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        // SAFETY: it is bound again before the statement's next use.
        unsafe { self.get.bind_blob_static(1, key)? };
        let row = self.get.step();
        if let Ok(true) = row {
            found(bytes(&self.get, 0));
        }
        self.get.reset();
        Ok(row?)
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        // SAFETY: it is bound again before the statement's next use.
        unsafe { self.scan.bind_blob_static(1, from)? };
        let end = loop {
            match self.scan.step() {
                Ok(true) if each(bytes(&self.scan, 0), bytes(&self.scan, 1)) => {}
                Ok(_) => break Ok(true),
                Err(e) => break Err(e.into()),
            }
        };
        self.scan.reset();
        end
    }
}
