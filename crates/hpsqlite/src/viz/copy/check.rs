//! Whether a copy has the content of its source.

use anyhow::{Context, Result, bail};

use super::replay::{CopiedTable, quoted, there_is_a_sequence};
use crate::compare::worker::RowHash;
use crate::sys::Db;

/// Values are compared in files of at most so many bytes; in larger ones rows are counted.
const SMALL: u64 = 256 << 20;

/// How much was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// All values.
    Values,
    /// The number of rows of each table.
    Counts,
}

/// An error if the copy has other content; `bytes`: how large the source is.
pub fn check(from: &Db<'_>, to: &Db<'_>, tables: &[CopiedTable], bytes: u64) -> Result<Checked> {
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema
                  WHERE name <> 'sqlite_sequence' ORDER BY 1, 2, 3";
    if digest(from, schema)? != digest(to, schema)? {
        bail!("the copy has another schema");
    }
    let checked = if bytes <= SMALL {
        Checked::Values
    } else {
        Checked::Counts
    };
    for table in tables {
        let name = &table.name;
        // VACUUM leaves it out where no table has AUTOINCREMENT any more.
        if name == "sqlite_sequence" && !there_is_a_sequence(to)? {
            continue;
        }
        let count = format!("SELECT count(*) FROM {}", quoted(name));
        let rows = to.first(&count)?.unwrap_or_default();
        if rows != table.rows.to_string() {
            bail!(
                "table {name} has {} rows, and {rows} in the copy",
                table.rows
            );
        }
        if checked == Checked::Values && digest(from, &table.select)? != digest(to, &table.select)?
        {
            bail!("table {name} has other values in the copy");
        }
    }
    Ok(checked)
}

/// A hash of all values that a query gives, with their types and in their order.
fn digest(db: &Db<'_>, sql: &str) -> Result<u128> {
    let mut hash = RowHash::default();
    let mut rows = db.prepare(sql)?.context("an empty statement")?;
    let columns = rows.columns();
    while rows.step()? {
        hash.row(&rows, columns);
    }
    Ok(hash.digest())
}
