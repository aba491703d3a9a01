//! Writing the content of a database into a new file, as an application would that fills all its
//! tables at the same time.
//!
//! Tables and indexes are made first, in the order of the schema. Then come rows, of all tables
//! in turn: when half of the rows of one are there, half of the rows of each other are. Each table's
//! rows come in the order of its rowids, or of its PRIMARY KEY if it has none, and indexes are
//! filled by that as they are in an application. So one sees what either library makes of tables that
//! grow together; VACUUM, which copies one after the other, does not show that.
//!
//! What VACUUM does is done as VACUUM does it: views, triggers and virtual tables are entered into the
//! schema without being run, and what is in a virtual table is in its shadow tables, which are
//! tables like others.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use anyhow::{Context, Result, anyhow, bail};

use super::{CopyProgress, explained};
use crate::sys::{Db, Stmt, Value};

/// Rows that are written before a commit.
pub const ROWS_A_TRANSACTION: u64 = 1000;

/// A row of the schema.
struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    root: i64,
    /// None: SQLite made it for a constraint of its table.
    sql: Option<String>,
}

/// A table with rows.
pub struct CopiedTable {
    pub name: String,
    pub rows: u64,
    /// Gives all of it: the rowid first where it can be asked for, in the order of keys.
    pub select: String,
    insert: String,
    columns: i32,
}

impl CopiedTable {
    /// Whether SQLite keeps it for itself: it is filled last.
    fn is_internal(&self) -> bool {
        self.name
            .get(..7)
            .is_some_and(|s| s.eq_ignore_ascii_case("sqlite_"))
    }
}

/// An SQL identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn number(db: &Db<'_>, sql: &str) -> Result<i64> {
    let n = db.first(sql)?.and_then(|n| n.parse().ok());
    n.ok_or_else(|| anyhow!("{sql} gives no number"))
}

/// Text that must be what the file says, to the letter.
fn exact(stmt: &Stmt<'_>, i: i32) -> Result<Option<String>> {
    match stmt.value(i) {
        Value::Null => Ok(None),
        Value::Text(t) => match std::str::from_utf8(t) {
            Ok(t) => Ok(Some(t.to_owned())),
            Err(_) => bail!("its schema has text that is not valid"),
        },
        _ => bail!("its schema has something else than text"),
    }
}

fn schema(db: &Db<'_>) -> Result<Vec<SchemaEntry>> {
    let sql = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid";
    let mut rows = db.prepare(sql)?.context("no schema")?;
    let mut entries = Vec::new();
    while rows.step()? {
        let text = |i| exact(&rows, i).map(Option::unwrap_or_default);
        entries.push(SchemaEntry {
            kind: text(0)?,
            name: text(1)?,
            table: text(2)?,
            root: match rows.value(3) {
                Value::Integer(n) => n,
                _ => 0,
            },
            sql: exact(&rows, 4)?,
        });
    }
    Ok(entries)
}

/// The tables that have pages, those without a rowid told apart.
pub fn tables(db: &Db<'_>) -> Result<Vec<CopiedTable>> {
    let mut rowless = HashMap::new();
    let sql = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main'";
    let mut rows = db.prepare(sql)?.context("no list of tables")?;
    while rows.step()? {
        rowless.insert(exact(&rows, 0)?.unwrap_or_default(), rows.text(1) == "1");
    }
    drop(rows);
    let entries = schema(db)?;
    let tables = entries.iter().filter(|e| e.kind == "table" && e.root > 0);
    tables
        .map(|e| {
            let has_rowid = !rowless.get(&e.name).copied().unwrap_or(false);
            table(db, &e.name, has_rowid).with_context(|| format!("table {}", e.name))
        })
        .collect()
}

fn table(db: &Db<'_>, name: &str, has_rowid: bool) -> Result<CopiedTable> {
    let quoted_name = quoted(name);
    let mut columns = Vec::new();
    // Hidden ones are generated: they follow from the others.
    let mut rows = db
        .prepare(&format!("PRAGMA table_xinfo({quoted_name})"))?
        .context("no list of columns")?;
    let mut all = Vec::new();
    while rows.step()? {
        let column = exact(&rows, 1)?.unwrap_or_default();
        if rows.text(6) == "0" {
            columns.push(quoted(&column));
        }
        all.push(column.to_lowercase());
    }
    let mut order = String::new();
    // A column may have taken the name; one that has taken all of them leaves no way to the rowid.
    let names = ["rowid", "_rowid_", "oid"];
    let rowid = names.into_iter().find(|&n| !all.iter().any(|c| c == n));
    if has_rowid && let Some(rowid) = rowid {
        columns.insert(0, rowid.to_owned());
        order = format!(" ORDER BY {rowid}");
    }
    let list = columns.join(", ");
    let places = vec!["?"; columns.len()].join(", ");
    Ok(CopiedTable {
        rows: number(db, &format!("SELECT count(*) FROM {quoted_name}"))? as u64,
        // A scan of an index that has all columns would give another order.
        select: format!("SELECT {list} FROM {quoted_name} NOT INDEXED{order}"),
        insert: format!("INSERT INTO {quoted_name}({list}) VALUES({places})"),
        columns: columns.len() as i32,
        name: name.to_owned(),
    })
}

/// Fills the new database `to` with the content of `from`; gives the tables that were filled. `from`
/// is left within the transaction that all of it was read in.
pub fn replay(
    from: &Db<'_>,
    to: &Db<'_>,
    reserved: u8,
    progress: &CopyProgress,
) -> Result<Vec<CopiedTable>> {
    from.exec("BEGIN")?;
    let entries = schema(from)?;
    settings(from, to, reserved)?;
    make_tables(to, &entries)?;
    let tables = tables(from)?;
    let all = tables.iter().map(|table| table.rows).sum();
    progress.begin(all);
    let (internal, ordinary): (Vec<&CopiedTable>, Vec<&CopiedTable>) =
        tables.iter().partition(|table| table.is_internal());
    fill_in_turn(from, to, &ordinary, progress)?;
    fill_internal(from, to, &internal)?;
    enter_rootless(to, &entries)?;
    for name in ["user_version", "application_id"] {
        let n = number(from, &format!("PRAGMA {name}"))?;
        to.exec(&format!("PRAGMA {name} = {n}"))?;
    }
    Ok(tables)
}

/// What must be said before a file has its first page; and nothing of safety, as the file is thrown
/// away if anything goes wrong.
fn settings(from: &Db<'_>, to: &Db<'_>, reserved: u8) -> Result<()> {
    let page_size = number(from, "PRAGMA page_size")?;
    to.exec(&format!("PRAGMA page_size = {page_size}"))?;
    to.reserve_bytes(reserved)?;
    let encoding = from.first("PRAGMA encoding")?.unwrap_or_default();
    to.exec(&format!("PRAGMA encoding = '{encoding}'"))?;
    let auto_vacuum = number(from, "PRAGMA auto_vacuum")?;
    to.exec(&format!("PRAGMA auto_vacuum = {auto_vacuum}"))?;
    to.exec(
        "PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA locking_mode = exclusive;
         PRAGMA cache_size = -65536; PRAGMA foreign_keys = off;
         PRAGMA ignore_check_constraints = on",
    )?;
    Ok(())
}

fn make_tables(to: &Db<'_>, entries: &[SchemaEntry]) -> Result<()> {
    // So that names which SQLite keeps for itself may be given.
    to.exec("PRAGMA writable_schema = on; BEGIN")?;
    for entry in entries.iter().filter(|e| e.root > 0) {
        let Some(sql) = &entry.sql else { continue };
        if entry.name == "sqlite_sequence" && there_is_a_sequence(to)? {
            continue;
        }
        if !sql
            .get(..6)
            .is_some_and(|s| s.eq_ignore_ascii_case("create"))
        {
            bail!("the schema has no statement for {}", entry.name);
        }
        (|| {
            let mut made = to.prepare(sql)?.context("an empty statement")?;
            made.step()?;
            anyhow::Ok(())
        })()
        .map_err(explained)
        .with_context(|| format!("{} {}", entry.kind, entry.name))?;
    }
    to.exec("COMMIT; PRAGMA writable_schema = off")?;
    Ok(())
}

/// Whether there is the table that SQLite makes together with one that has AUTOINCREMENT.
pub fn there_is_a_sequence(db: &Db<'_>) -> Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'";
    Ok(number(db, sql)? > 0)
}

/// One table on its way.
struct Filling<'d> {
    rows: Stmt<'d>,
    insert: Stmt<'d>,
    done: u64,
}

fn fill_in_turn(
    from: &Db<'_>,
    to: &Db<'_>,
    tables: &[&CopiedTable],
    progress: &CopyProgress,
) -> Result<()> {
    let mut filling = Vec::new();
    // The next row of each table, by where it is between the first and the last.
    let mut next = BinaryHeap::new();
    for (i, table) in tables.iter().enumerate() {
        filling.push(Filling {
            rows: from.prepare(&table.select)?.context("no rows")?,
            insert: to.prepare(&table.insert)?.context("no way to insert")?,
            done: 0,
        });
        next.extend(place(0, table.rows).map(|at| Reverse((at, i))));
    }
    to.exec("BEGIN")?;
    let mut written = 0;
    while let Some(Reverse((_, i))) = next.pop() {
        let (table, one) = (tables[i], &mut filling[i]);
        let row = || format!("row {} of table {}", one.done + 1, table.name);
        copy_row(table, &mut one.rows, &mut one.insert)
            .map_err(explained)
            .with_context(row)?;
        one.done += 1;
        next.extend(place(one.done, table.rows).map(|at| Reverse((at, i))));
        written += 1;
        progress.done(written);
        if written % ROWS_A_TRANSACTION == 0 {
            to.exec("COMMIT; BEGIN").map_err(|e| explained(e.into()))?;
        }
    }
    to.exec("COMMIT").map_err(|e| explained(e.into()))
}

/// Where row `n` of so many is between the first row and the last; none if there is no such row.
fn place(n: u64, rows: u64) -> Option<u64> {
    const PARTS: u128 = 1 << 60;
    let at = (2 * u128::from(n) + 1) * PARTS / (2 * u128::from(rows)).max(1);
    (n < rows).then(|| u64::try_from(at).unwrap_or(u64::MAX))
}

fn copy_row(table: &CopiedTable, rows: &mut Stmt<'_>, insert: &mut Stmt<'_>) -> Result<()> {
    if !rows.step()? {
        bail!("there are fewer rows than were counted");
    }
    for i in 0..table.columns {
        insert.bind_column(i + 1, rows, i)?;
    }
    insert.step()?;
    insert.reset();
    Ok(())
}

/// The last numbers of AUTOINCREMENT, and what ANALYZE found.
fn fill_internal(from: &Db<'_>, to: &Db<'_>, tables: &[&CopiedTable]) -> Result<()> {
    to.exec("BEGIN")?;
    for table in tables {
        to.exec(&format!("DELETE FROM {}", quoted(&table.name)))?;
        let mut rows = from.prepare(&table.select)?.context("no rows")?;
        let mut insert = to.prepare(&table.insert)?.context("no way to insert")?;
        for _ in 0..table.rows {
            copy_row(table, &mut rows, &mut insert).map_err(explained)?;
        }
    }
    to.exec("COMMIT").map_err(|e| explained(e.into()))
}

/// Enters what has no pages.
fn enter_rootless(to: &Db<'_>, entries: &[SchemaEntry]) -> Result<()> {
    to.exec("PRAGMA writable_schema = on; BEGIN")?;
    let sql =
        "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES(?, ?, ?, 0, ?)";
    let mut insert = to.prepare(sql)?.context("no way to insert")?;
    for entry in entries.iter().filter(|e| e.root == 0) {
        let sql = entry.sql.as_deref().unwrap_or_default();
        for (i, text) in (1..).zip([&entry.kind, &entry.name, &entry.table, sql]) {
            // SAFETY: the texts are the entry's, which outlives this.
            unsafe { insert.bind_text_static(i, text)? };
        }
        insert.step()?;
        insert.reset();
    }
    drop(insert);
    to.exec("COMMIT; PRAGMA writable_schema = reset")
        .map_err(|e| explained(e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_grow_at_the_same_time() {
        let rows = [4, 2, 0, 1];
        let mut order: Vec<(u64, usize)> = Vec::new();
        for (i, &rows) in rows.iter().enumerate() {
            order.extend(
                (0..rows + 1)
                    .filter_map(|n| place(n, rows))
                    .map(|at| (at, i)),
            );
        }
        order.sort_unstable();
        let tables: Vec<usize> = order.into_iter().map(|(_, i)| i).collect();
        assert_eq!(tables, [0, 1, 0, 3, 0, 1, 0]);
    }

    #[test]
    fn the_largest_tables_have_places() {
        let most = i64::MAX as u64;
        let last = place(most - 1, most).unwrap();
        assert!(place(0, most) < place(most / 2, most) && place(most / 2, most) < Some(last));
        assert_eq!(place(most, most), None);
    }
}
