//! The table that rows go to: one that is there, or a new one.

use anyhow::{Context, Result, bail};

use super::json::ColumnNames;
use super::names::{create, literal, quoted};
use super::rows::{ColumnValues, ImportColumn};
use crate::sys::{Db, SqlError};

/// A table, or a view that takes rows by a trigger.
#[derive(Debug, Clone)]
pub struct ImportTable {
    pub name: String,
    /// Those that an INSERT may name: neither hidden nor computed.
    pub columns: Vec<ImportColumn>,
    /// The column that is the rowid.
    pub key: Option<String>,
    pub has_triggers: bool,
    pub is_new: bool,
}

impl ImportTable {
    /// The table of a name, if there is one.
    pub fn find(db: &Db<'_>, name: &str) -> Result<Option<ImportTable>> {
        let name = literal(name);
        let of_name = format!("FROM main.sqlite_schema WHERE name={name} COLLATE NOCASE");
        let found = rows(
            db,
            &format!("SELECT name, type, sql {of_name} AND type<>'trigger'"),
        )?;
        let Some(found) = found.into_iter().next() else {
            return Ok(None);
        };
        let [name, kind, sql] = &found[..] else {
            bail!("sqlite_schema has other columns");
        };
        if kind == "index" {
            bail!("{name} is an index");
        }
        let name = name.clone();
        let triggers = format!(
            "SELECT 1 FROM main.sqlite_schema WHERE type='trigger' AND tbl_name={} COLLATE NOCASE",
            literal(&name)
        );
        let has_triggers = db.first(&triggers)?.is_some();
        let is_strict = is_strict(db, &name);
        let is_virtual = sql.to_ascii_uppercase().starts_with("CREATE VIRTUAL");
        let takes_integers = kind == "table" && !is_virtual && is_strict.is_some();
        let info = format!(
            "SELECT name, type, pk FROM pragma_table_info({})",
            literal(&name)
        );
        let info = rows(db, &info)?;
        let keys = info.iter().filter(|column| column[2] != "0");
        let key = match &keys.collect::<Vec<_>>()[..] {
            [key] if key[1].eq_ignore_ascii_case("INTEGER") => Some(key[0].clone()),
            _ => None,
        };
        let columns = info.into_iter().map(|column| ImportColumn {
            values: match takes_integers && has_numbers(&column[1], is_strict == Some(true)) {
                true => ColumnValues::Number,
                false => ColumnValues::Text,
            },
            name: column[0].clone(),
        });
        Ok(Some(ImportTable {
            columns: columns.collect(),
            name,
            key,
            has_triggers,
            is_new: false,
        }))
    }

    /// Makes a table.
    pub fn create(
        db: &Db<'_>,
        name: &str,
        columns: Vec<(String, &str, ColumnValues)>,
    ) -> Result<ImportTable> {
        let declared: Vec<(String, &str)> = columns
            .iter()
            .map(|(name, kind, _)| (name.clone(), *kind))
            .collect();
        let made = db.exec(&create(name, &declared));
        made.with_context(|| format!("cannot make table {name}"))?;
        let columns = columns
            .into_iter()
            .map(|(name, _, values)| ImportColumn { name, values });
        Ok(ImportTable {
            name: name.to_owned(),
            columns: columns.collect(),
            key: None,
            has_triggers: false,
            is_new: true,
        })
    }

    /// The places of columns by their names.
    pub fn names(&self) -> ColumnNames {
        ColumnNames::of(self.columns.iter().map(|column| column.name.as_str()))
    }

    /// The statement that inserts a row with these columns of the table.
    pub fn insert(&self, columns: &[ImportColumn], conflict: &str) -> String {
        let table = quoted(&self.name);
        let marks = vec!["?"; columns.len()].join(",");
        let named = match columns.len() == self.columns.len() && columns == self.columns {
            true => String::new(),
            false => {
                let names: Vec<String> = columns.iter().map(|c| quoted(&c.name)).collect();
                format!("({})", names.join(","))
            }
        };
        format!("INSERT {conflict}INTO main.{table}{named} VALUES({marks})")
    }

    /// Whether there are at most so many rows in it.
    pub fn has_at_most(&self, db: &Db<'_>, rows: u64) -> Result<bool, SqlError> {
        let sql = format!(
            "SELECT 1 FROM main.{} LIMIT 1 OFFSET {rows}",
            quoted(&self.name)
        );
        Ok(db.first(&sql)?.is_none())
    }
}

/// Whether a table is STRICT; none where the library does not tell.
fn is_strict(db: &Db<'_>, table: &str) -> Option<bool> {
    let sql = format!(
        "SELECT strict FROM pragma_table_list({}) WHERE schema='main'",
        literal(table)
    );
    Some(db.first(&sql).ok()?? == "1")
}

/// Whether texts that are numbers become numbers in a column of this type (sqlite3AffinityType()).
fn has_numbers(declared: &str, is_strict: bool) -> bool {
    let declared = declared.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if is_strict {
        return ["INT", "INTEGER", "REAL"].contains(&declared.as_str());
    }
    has(&["INT"]) || !(declared.is_empty() || has(&["CHAR", "CLOB", "TEXT", "BLOB"]))
}

/// All rows of a query, as texts.
pub fn rows(db: &Db<'_>, sql: &str) -> Result<Vec<Vec<String>>, SqlError> {
    let mut all = Vec::new();
    if let Some(mut statement) = db.prepare(sql)? {
        while statement.step()? {
            all.push(
                (0..statement.columns())
                    .map(|i| statement.text(i))
                    .collect(),
            );
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities_are_those_of_declared_types() {
        for declared in [
            "INT", "bigint", "CHARINT", "REAL", "DOUBLE", "NUMERIC", "DATE", "ANY",
        ] {
            assert!(has_numbers(declared, false), "{declared}");
        }
        for declared in ["", "TEXT", "VARCHAR(9)", "CLOB", "BLOB"] {
            assert!(!has_numbers(declared, false), "{declared}");
        }
        assert!(has_numbers("INTEGER", true) && !has_numbers("ANY", true));
    }
}
