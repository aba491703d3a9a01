//! The tables of a results file, and whether a file is one.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::sql::{number, rows};
use crate::sys::{Db, Library, SqlError};

/// The version of the schema.
pub const VERSION: i64 = 1;
/// `PRAGMA application_id` of results files: `HPbn`.
pub const APPLICATION: i64 = 0x4850_626e;

pub const SCHEMA: [&str; 11] = [
    "CREATE TABLE suite(id INTEGER PRIMARY KEY CHECK(id=1), name TEXT NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE session(id INTEGER PRIMARY KEY, began TEXT NOT NULL, tool TEXT NOT NULL, environment TEXT NOT NULL)",
    "CREATE TABLE point(id INTEGER PRIMARY KEY, axes TEXT NOT NULL UNIQUE, asked TEXT NOT NULL)",
    "CREATE TABLE effective(point INTEGER PRIMARY KEY REFERENCES point, version TEXT NOT NULL, settings TEXT NOT NULL, durability TEXT NOT NULL)",
    "CREATE TABLE sample(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, step TEXT NOT NULL,
       seconds REAL, user REAL, system REAL, operations INTEGER, asked INTEGER, beside INTEGER, retries INTEGER, bytes INTEGER, peak_memory INTEGER,
       device_read INTEGER, device_written INTEGER, space INTEGER, answer TEXT, percentiles TEXT,
       session INTEGER REFERENCES session, at TEXT, load REAL, PRIMARY KEY(point, trial, step))",
    "CREATE TABLE trial(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, PRIMARY KEY(point, trial))",
    "CREATE TABLE problem(point INTEGER NOT NULL REFERENCES point, trial INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY(point, trial))",
    "CREATE TABLE warning(text TEXT PRIMARY KEY, at TEXT NOT NULL)",
    BUILD,
    LEFT_OUT,
    ALLOCATION,
];

/// The tables, those that name others before them.
pub const OF_SUITE: [&str; 11] = [
    "allocation",
    "left_out",
    "build",
    "warning",
    "problem",
    "trial",
    "sample",
    "effective",
    "point",
    "session",
    "suite",
];

/// The first files of this version have none of these three.
pub const BUILD: &str = "CREATE TABLE IF NOT EXISTS build(point INTEGER PRIMARY KEY REFERENCES point, libraries TEXT NOT NULL)";
pub const LEFT_OUT: &str = "CREATE TABLE IF NOT EXISTS left_out(point INTEGER NOT NULL REFERENCES point, step TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY(point, step))";
pub const ALLOCATION: &str = "CREATE TABLE IF NOT EXISTS allocation(point INTEGER NOT NULL, trial INTEGER NOT NULL, step TEXT NOT NULL, allocations INTEGER NOT NULL, allocated INTEGER NOT NULL, PRIMARY KEY(point, trial, step))";

pub fn open<'l>(library: &'l Library, path: &Path, flags: i32) -> Result<Db<'l>> {
    let db = library
        .open(path, flags)
        .with_context(|| format!("cannot open {}", path.display()))?;
    db.busy_timeout(10_000);
    Ok(db)
}

/// Whether it is a results file that this version understands, and whole.
pub fn check(db: &Db<'_>) -> Result<()> {
    let application = number(db, "PRAGMA application_id").map_err(|e| unreadable(&e))?;
    if application != APPLICATION {
        bail!("this is no results file of hpsqlite bench");
    }
    match number(db, "PRAGMA user_version")? {
        VERSION => {}
        newer if newer > VERSION => bail!(
            "the results file has format {newer}, and this hpsqlite knows up to {VERSION}: a newer hpsqlite reads it"
        ),
        other => bail!("the results file has format {other}, which this hpsqlite does not know"),
    }
    let mut first = String::new();
    rows(db, "PRAGMA quick_check(1)", |row| {
        first = row.text(0);
        Ok(())
    })
    .map_err(|e| unreadable(&e))?;
    if first != "ok" {
        bail!(
            "the results file is damaged or was cut off: {}",
            first.lines().last().unwrap_or("")
        );
    }
    Ok(())
}

/// What an error of the first look into a file means.
pub fn unreadable(e: &anyhow::Error) -> anyhow::Error {
    const CORRUPT: i32 = 11;
    const NO_DATABASE: i32 = 26;
    match e.downcast_ref::<SqlError>().map(|e| e.code & 0xff) {
        Some(CORRUPT) => anyhow!("the results file is damaged or was cut off: {e:#}"),
        Some(NO_DATABASE) => anyhow!("this is no results file of hpsqlite bench: {e:#}"),
        _ => anyhow!("cannot read the results file: {e:#}"),
    }
}
