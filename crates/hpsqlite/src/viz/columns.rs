//! What the columns of a b-tree's records are called, and how its keys are ordered.
//!
//! That is in the SQL of the schema, and only SQLite reads SQL. It is asked: but on a copy that has
//! the pages of the schema and nothing else, a temporary file with holes where the other pages are.
//! So no lock is taken on the database, nothing is made beside it, damage elsewhere in it
//! does not matter, and what counts is what the model shows: the log is laid over it. SQLite only
//! parses the schema there and answers PRAGMAs of it; nothing of the schema is run.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tempfile::NamedTempFile;

use super::page::Btree;
use super::record::{Collation, SortColumn};
use super::tree::TreeRole;
use super::walk::Model;
use crate::libs;
use crate::sys::{Db, Library, OPEN_READONLY};

/// A schema with more b-trees than this would take SQLite long to parse.
const MANY: usize = 20_000;

/// A column of the records of a b-tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// None: an expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its type as declared; empty in indexes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub declared: String,
    /// The rowid by another name: a record has NULL in its place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_rowid: bool,
    /// If keys are ordered by it: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyColumn>,
}

/// How a column of a key is ordered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyColumn {
    pub descending: bool,
    /// The name of the collating sequence.
    pub collation: String,
}

/// The order of a key; an error in words where only the application knows it.
pub fn order(columns: &[Stored]) -> Result<Vec<SortColumn>> {
    let keys = columns.iter().map_while(|column| column.key.as_ref());
    keys.map(|key| {
        Ok(SortColumn {
            descending: key.descending,
            collation: match key.collation.to_ascii_uppercase().as_str() {
                "BINARY" => Collation::Binary,
                "NOCASE" => Collation::NoCase,
                "RTRIM" => Collation::RTrim,
                _ => bail!(
                    "its texts are ordered by {}, which only the application has",
                    key.collation
                ),
            },
        })
    })
    .collect()
}

impl Model {
    /// The columns of a b-tree's records in the order in which they are stored.
    pub fn columns(&self, t: usize) -> Result<Vec<Stored>> {
        let library = Library::load(&libs::stock().or_else(|_| libs::ours())?)?;
        self.columns_by(&library, t)
    }

    /// The same, asked of a library.
    pub fn columns_by(&self, library: &Library, t: usize) -> Result<Vec<Stored>> {
        let tree = self.trees.get(t).context("there is no such b-tree")?;
        if self.trees.len() > MANY {
            bail!("the schema has more than {MANY} tables and indexes");
        }
        let copy = self.copy_of_schema().context("cannot copy the schema")?;
        let db = library.open(copy.path(), OPEN_READONLY)?;
        db.exec("PRAGMA trusted_schema=OFF")?;
        Ok(match tree.role {
            TreeRole::Schema => table(&db, "sqlite_schema")?,
            TreeRole::Table => table(&db, &tree.name)?,
            TreeRole::Index => index(&db, &tree.name)?,
            TreeRole::WithoutRowid => {
                let key = primary_key(&db, &tree.name)?;
                index(&db, &key.context("its primary key is not known")?)?
            }
        })
    }

    /// A database that has the schema and holes.
    fn copy_of_schema(&self) -> Result<NamedTempFile> {
        self.copy_of([0])
    }

    /// A database that has some b-trees, the schema being the first, and holes.
    pub(super) fn copy_of(&self, trees: impl IntoIterator<Item = usize>) -> Result<NamedTempFile> {
        if self.trees.len() > MANY {
            bail!("the schema has more than {MANY} tables and indexes");
        }
        let copy = NamedTempFile::new()?;
        let file = copy.as_file();
        let size = u64::from(self.image.header.page_size);
        file.set_len(u64::from(self.map.pages()) * size)?;
        for t in trees {
            for level in 0..self.trees[t].levels.len() {
                for n in self.level(t, level)? {
                    let mut page = self.page(n)?;
                    self.copy_chains(file, n, &page)?;
                    if n == 1 {
                        own_header(&mut page, self.map.pages());
                    }
                    file.write_all_at(&page, u64::from(n - 1) * size)?;
                }
            }
        }
        Ok(copy)
    }

    /// Copies the overflow pages of a page.
    fn copy_chains(&self, file: &File, n: u32, page: &[u8]) -> io::Result<()> {
        let size = u64::from(self.image.header.page_size);
        let Ok(btree) = Btree::parse(page, n, self.usable()) else {
            return Ok(());
        };
        for cell in (0..btree.cells).filter_map(|i| btree.cell(i).ok()) {
            let rest = cell.payload - cell.local as u64;
            let most = rest.div_ceil(self.usable() as u64 - 4) as usize;
            for n in self.chain(cell.overflow, most)? {
                file.write_all_at(&self.page(n)?, u64::from(n - 1) * size)?;
            }
        }
        Ok(())
    }
}

/// Makes a header say what is true of the copy: no log, no free list, as many pages.
fn own_header(page: &mut [u8], pages: u32) {
    page[18] = 1;
    page[19] = 1;
    page[28..32].copy_from_slice(&pages.to_be_bytes());
    page[32..40].fill(0);
    page.copy_within(24..28, 92);
}

/// A name as a text of SQL.
fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

/// The stored columns of a table with rowids: all but generated ones that are computed.
fn table(db: &Db<'_>, name: &str) -> Result<Vec<Stored>> {
    let sql = format!("PRAGMA table_xinfo({})", quoted(name));
    let mut rows = db.prepare(&sql)?.context("no statement")?;
    let mut columns = Vec::new();
    let mut key = Vec::new();
    while rows.step()? {
        let [name, declared, place, hidden] = [1, 2, 5, 6].map(|i| rows.text(i));
        if hidden == "2" {
            continue;
        }
        if place != "0" {
            key.push(columns.len());
        }
        columns.push(Stored {
            name: Some(name),
            declared,
            is_rowid: false,
            key: None,
        });
    }
    // INTEGER PRIMARY KEY, of which SQLite makes no index.
    if let [i] = key[..]
        && columns[i].declared.eq_ignore_ascii_case("integer")
        && primary_key(db, name)?.is_none()
    {
        columns[i].is_rowid = true;
    }
    if columns.is_empty() {
        bail!("SQLite does not find {name} in the schema");
    }
    Ok(columns)
}

/// The index that is a table's primary key.
fn primary_key(db: &Db<'_>, table: &str) -> Result<Option<String>> {
    let sql = format!("PRAGMA index_list({})", quoted(table));
    let mut rows = db.prepare(&sql)?.context("no statement")?;
    while rows.step()? {
        if rows.text(3) == "pk" {
            return Ok(Some(rows.text(1)));
        }
    }
    Ok(None)
}

/// The columns of an index's entries: its own, and those that lead to the row.
fn index(db: &Db<'_>, name: &str) -> Result<Vec<Stored>> {
    let sql = format!("PRAGMA index_xinfo({})", quoted(name));
    let mut rows = db.prepare(&sql)?.context("no statement")?;
    let mut columns = Vec::new();
    while rows.step()? {
        let [column, name, descending, collation, key] = [1, 2, 3, 4, 5].map(|i| rows.text(i));
        columns.push(Stored {
            name: match column.as_str() {
                "-1" => Some("rowid".to_owned()),
                "-2" => None,
                _ => Some(name),
            },
            declared: String::new(),
            is_rowid: false,
            key: (key == "1").then(|| KeyColumn {
                descending: descending == "1",
                collation,
            }),
        });
    }
    if columns.is_empty() {
        bail!("SQLite does not find {name} in the schema");
    }
    Ok(columns)
}
