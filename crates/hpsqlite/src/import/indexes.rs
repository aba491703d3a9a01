//! Indexes are made after the rows, where that is less work than to keep them up row by row.
//!
//! It happens within the transaction of the import: nobody else sees the table without its indexes,
//! and a failure leaves them as they were. Indexes that keep keys unique stay, because
//! each row asks them. A table with triggers keeps all, because its triggers may.

use anyhow::{Context, Result};

use super::names::{literal, quoted};
use super::table::{ImportTable, rows};
use crate::host;
use crate::sys::Db;

/// Tables in which ANALYZE keeps what it has found of an index. DROP INDEX empties them of it.
const STATISTICS: [&str; 2] = ["sqlite_stat1", "sqlite_stat4"];

/// Pages of a table that only grows are written once and not looked at again.
const SMALL_CACHE: u64 = 16 << 20;
/// An index is read in any order, so its cache may have this share of the memory; one that is made
/// is sorted in as much;
const CACHE_SHARE: u64 = 8;
/// but no more than this.
const MOST_CACHE: u64 = 1 << 30;

/// Sets the page cache for rows of a table.
pub fn set_cache(db: &Db<'_>, table: &ImportTable) -> Result<()> {
    let of_table = format!("pragma_index_list({})", literal(&table.name));
    let has_indexes = db.first(&format!("SELECT 1 FROM {of_table}"))?.is_some();
    // Triggers may do anything, and keys may come in any order.
    let bytes = match has_indexes || table.has_triggers || table.key.is_some() {
        true => (host::memory() / CACHE_SHARE).clamp(SMALL_CACHE, MOST_CACHE),
        false => SMALL_CACHE,
    };
    Ok(db.exec(&format!("PRAGMA cache_size=-{}", bytes >> 10))?)
}

/// Does `work` without the indexes of the table that are not unique, and makes them again; with
/// `also` before the first one is made.
pub fn with_indexes_after<T>(
    db: &Db<'_>,
    table: &ImportTable,
    work: impl FnOnce() -> Result<T>,
    also: impl FnOnce(usize),
) -> Result<T> {
    let indexes = droppable(db, table)?;
    if indexes.is_empty() {
        return work();
    }
    let kept = keep_statistics(db, &indexes)?;
    for (name, _) in &indexes {
        db.exec(&format!("DROP INDEX main.{}", quoted(name)))?;
    }
    let done = work()?;
    also(indexes.len());
    for (name, sql) in &indexes {
        db.exec(sql)
            .with_context(|| format!("cannot make index {name} again"))?;
    }
    for statistics in kept {
        db.exec(&format!(
            "INSERT INTO main.{statistics} SELECT * FROM temp.hp_{statistics};\
             DROP TABLE temp.hp_{statistics}"
        ))?;
    }
    Ok(done)
}

/// The names of indexes that CREATE INDEX has made and that are not unique, with their text.
fn droppable(db: &Db<'_>, table: &ImportTable) -> Result<Vec<(String, String)>> {
    if table.has_triggers {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT s.name, s.sql FROM main.sqlite_schema s JOIN pragma_index_list({}) i
         ON i.name=s.name AND s.type='index' WHERE i.origin='c' AND NOT i.\"unique\"
         ORDER BY s.rowid",
        literal(&table.name)
    );
    let found = rows(db, &sql)?.into_iter();
    Ok(found
        .filter_map(|row| <[String; 2]>::try_from(row).ok())
        .map(|[name, sql]| (name, sql))
        .collect())
}

/// Keeps what ANALYZE has found of the indexes; gives the tables in which there was something.
fn keep_statistics(db: &Db<'_>, indexes: &[(String, String)]) -> Result<Vec<&'static str>> {
    let names: Vec<String> = indexes.iter().map(|(name, _)| literal(name)).collect();
    let mut kept = Vec::new();
    for table in STATISTICS {
        let there = format!("SELECT 1 FROM main.sqlite_schema WHERE name='{table}'");
        if db.first(&there)?.is_some() {
            db.exec(&format!(
                "CREATE TEMP TABLE hp_{table} AS SELECT * FROM main.{table} WHERE idx IN ({})",
                names.join(",")
            ))?;
            kept.push(table);
        }
    }
    Ok(kept)
}
