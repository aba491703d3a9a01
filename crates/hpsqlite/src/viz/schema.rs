//! What the schema says beyond names: which indexes are redundant, which foreign keys have none, how
//! old the statistics of ANALYZE are, and what an index without a name of its own is for.
//!
//! ```text
//! Model::schema()       what SQLite says (catalog.rs)
//! title(name)           "primary key of lineitem" in place of sqlite_autoindex_lineitem_1
//! redundant()           indexes that another one can stand in for
//! missing()             foreign keys that no index begins with
//! statistics(rows)      whether ANALYZE counted about as many rows as there are
//! ```
//!
//! An index on (a) is redundant beside one on (a, b): whatever is looked up or sorted by a goes as
//! well by the other, and each write changes one b-tree fewer. It is not if it is UNIQUE, which is a
//! rule and not an access path, or partial, which makes it smaller than the other.

use serde::Serialize;

/// A table that ANALYZE counted so many rows of is still the same: SQLite's own PRAGMA optimize looks
/// at tables again when they have grown tenfold, and plans change long before that.
const SAME: f64 = 0.25;
/// A plan for a table with fewer rows than this is good whatever is known of it.
const FEW_ROWS: u64 = 1000;

/// An index as the schema has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    pub name: String,
    pub table: String,
    pub is_unique: bool,
    pub is_partial: bool,
    pub origin: IndexOrigin,
    /// What its keys are of; without the rowid that follows.
    pub columns: Vec<IndexColumn>,
}

/// Why there is an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexOrigin {
    Created,
    Unique,
    PrimaryKey,
}

/// A column of an index; an expression has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexColumn {
    pub name: Option<String>,
    pub descending: bool,
    pub collation: String,
}

/// Columns of a table that refer to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    pub table: String,
    pub columns: Vec<String>,
    pub parent: String,
}

/// An index that another one can stand in for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redundant {
    pub index: String,
    pub table: String,
    /// The one that does what it does.
    pub beside: String,
    /// Whether both are of the same columns, and not the one of fewer.
    pub is_same: bool,
}

/// What is known of the statistics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Statistics {
    /// No table is large enough for them, or none has an index.
    NotNeeded,
    Never,
    Fresh,
    Stale {
        tables: Vec<StaleTable>,
    },
}

/// A table that is not as it was when ANALYZE looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleTable {
    pub table: String,
    pub rows: u64,
    /// None: ANALYZE has not seen it.
    pub then: Option<u64>,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    pub indexes: Vec<Index>,
    pub foreign_keys: Vec<ForeignKey>,
    /// The columns of each table's primary key.
    pub primary_keys: Vec<(String, Vec<String>)>,
    /// Of each table that ANALYZE has seen, how many rows it had; none where there are no statistics.
    pub counted: Option<Vec<(String, u64)>>,
}

impl Schema {
    /// What a b-tree is called, or is for where SQLite made its name.
    pub fn title(&self, name: &str) -> String {
        let known = self.indexes.iter().find(|i| i.name == name);
        match known {
            Some(Index {
                origin: IndexOrigin::PrimaryKey,
                table,
                ..
            }) => format!("primary key of {table}"),
            Some(
                index @ Index {
                    origin: IndexOrigin::Unique,
                    ..
                },
            ) => format!("unique {} of {}", index.columns_in_words(), index.table),
            _ => name.to_owned(),
        }
    }

    /// Indexes that could be dropped.
    pub fn redundant(&self) -> Vec<Redundant> {
        let created = |i: &&Index| i.origin == IndexOrigin::Created && !i.is_partial;
        let found = self.indexes.iter().filter(created).filter_map(|index| {
            let others = || self.indexes.iter().filter(|o| o.name != index.name);
            let beside = others().find(|other| self.stands_in(other, index))?;
            Some(Redundant {
                index: index.name.clone(),
                table: index.table.clone(),
                beside: beside.name.clone(),
                is_same: beside.columns.len() == index.columns.len(),
            })
        });
        found.collect()
    }

    /// Whether `other` does all that `index` does.
    fn stands_in(&self, other: &Index, index: &Index) -> bool {
        let begins = other.table == index.table
            && !other.is_partial
            && other.columns.starts_with(&index.columns)
            && index.columns.iter().all(|c| c.name.is_some());
        if !begins || (index.is_unique && !other.is_unique) {
            return false;
        }
        if other.columns.len() > index.columns.len() {
            return !index.is_unique;
        }
        // Of two of the same columns the one stays that a constraint, or UNIQUE, needs; else the first.
        let place = |i: &Index| self.indexes.iter().position(|o| o.name == i.name);
        let rank = |i: &Index| (i.origin == IndexOrigin::Created, !i.is_unique, place(i));
        rank(other) < rank(index)
    }

    /// Foreign keys whose columns no index begins with: to delete or change a row of the parent reads
    /// the whole table.
    pub fn missing(&self) -> Vec<&ForeignKey> {
        let is_missing = |key: &&ForeignKey| {
            let named = |name: &str| {
                let mut columns = key.columns.iter();
                columns.any(|c| c.eq_ignore_ascii_case(name))
            };
            let first = key.columns.len();
            let of_index = self.indexes.iter().any(|i| {
                i.table == key.table
                    && !i.is_partial
                    && i.columns.len() >= first
                    && i.columns[..first]
                        .iter()
                        .all(|c| c.name.as_deref().is_some_and(named))
            });
            let of_key = self.primary_keys.iter().any(|(table, columns)| {
                *table == key.table
                    && columns.len() >= first
                    && columns[..first].iter().all(|c| named(c))
            });
            !of_index && !of_key
        };
        self.foreign_keys.iter().filter(is_missing).collect()
    }

    /// Whether ANALYZE saw tables about as they are; `rows` gives how many rows a table has.
    pub fn statistics(&self, rows: impl Fn(&str) -> Option<u64>) -> Statistics {
        let mut tables: Vec<&str> = self.indexes.iter().map(|i| i.table.as_str()).collect();
        tables.sort_unstable();
        tables.dedup();
        let known = tables.iter().filter_map(|t| Some((*t, rows(t)?)));
        let large: Vec<(&str, u64)> = known.filter(|(_, rows)| *rows >= FEW_ROWS).collect();
        let Some(counted) = self.counted.as_ref().filter(|c| !c.is_empty()) else {
            return match large.is_empty() {
                true => Statistics::NotNeeded,
                false => Statistics::Never,
            };
        };
        let then = |table: &str| counted.iter().find(|c| c.0 == table).map(|c| c.1);
        let is_stale = |(table, rows): &(&str, u64)| match then(table) {
            Some(then) => then.abs_diff(*rows) as f64 > SAME * then.max(*rows) as f64,
            None => true,
        };
        let stale = large.iter().filter(|t| is_stale(t));
        let tables: Vec<StaleTable> = stale
            .map(|&(table, rows)| StaleTable {
                table: table.to_owned(),
                rows,
                then: then(table),
            })
            .collect();
        match tables.is_empty() {
            true => Statistics::Fresh,
            false => Statistics::Stale { tables },
        }
    }
}

impl Index {
    fn columns_in_words(&self) -> String {
        let names = self.columns.iter();
        let names = names.map(|c| c.name.as_deref().unwrap_or("an expression"));
        format!("({})", names.collect::<Vec<_>>().join(", "))
    }
}
