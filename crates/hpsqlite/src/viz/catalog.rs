//! What SQLite says of the indexes in a schema: asked on a copy that has only the pages of the schema
//! and of the statistics, as for columns (columns.rs). What follows from it is in schema.rs.

use anyhow::{Context, Result};

use super::schema::{ForeignKey, Index, IndexColumn, IndexOrigin, Schema};
use super::walk::Model;
use crate::libs;
use crate::sys::{Db, Library, OPEN_READONLY};

/// The table of the statistics.
const STATISTICS: &str = "sqlite_stat1";

impl Model {
    /// What the schema says of indexes: none where SQLite does not take it, or is not there to ask.
    pub fn schema(&self) -> Option<&Schema> {
        let known = self.schema.get_or_init(|| ask(self).ok());
        known.as_ref()
    }

    /// What a b-tree is called, or is for where SQLite made its name.
    pub fn title(&self, t: usize) -> String {
        let name = &self.trees[t].name;
        match self.schema() {
            Some(schema) if name.starts_with("sqlite_autoindex_") => schema.title(name),
            _ => name.clone(),
        }
    }
}

/// Asks the library that came with the tool.
fn ask(model: &Model) -> Result<Schema> {
    ask_by(
        &Library::load(&libs::stock().or_else(|_| libs::ours())?)?,
        model,
    )
}

/// The same, asked of a library.
pub(super) fn ask_by(library: &Library, model: &Model) -> Result<Schema> {
    let statistics = model.trees.iter().position(|t| t.name == STATISTICS);
    let copy = model.copy_of(std::iter::once(0).chain(statistics))?;
    let db = library.open(copy.path(), OPEN_READONLY)?;
    db.exec("PRAGMA trusted_schema=OFF")?;
    Ok(Schema {
        indexes: indexes(&db)?,
        foreign_keys: foreign_keys(&db)?,
        primary_keys: primary_keys(&db)?,
        counted: match statistics {
            Some(_) => Some(counted(&db)?),
            None => None,
        },
    })
}

fn indexes(db: &Db<'_>) -> Result<Vec<Index>> {
    let sql =
        "SELECT m.name, l.name, l.\"unique\", l.origin, l.partial, x.cid, x.name, x.desc, x.coll
        FROM sqlite_schema m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x
        WHERE m.type = 'table' AND x.key = 1 ORDER BY m.rowid, l.seq DESC, x.seqno";
    let mut rows = db.prepare(sql)?.context("no statement")?;
    let mut all: Vec<Index> = Vec::new();
    while rows.step()? {
        let [table, name, unique, origin, partial] = [0, 1, 2, 3, 4].map(|i| rows.text(i));
        let [place, column, descending, collation] = [5, 6, 7, 8].map(|i| rows.text(i));
        let column = IndexColumn {
            name: match place.as_str() {
                "-2" => None,
                "-1" => Some("rowid".to_owned()),
                _ => Some(column),
            },
            descending: descending == "1",
            collation,
        };
        match all.last_mut().filter(|i| i.name == name) {
            Some(index) => index.columns.push(column),
            None => all.push(Index {
                name,
                table,
                is_unique: unique == "1",
                is_partial: partial == "1",
                origin: match origin.as_str() {
                    "pk" => IndexOrigin::PrimaryKey,
                    "u" => IndexOrigin::Unique,
                    _ => IndexOrigin::Created,
                },
                columns: vec![column],
            }),
        }
    }
    Ok(all)
}

fn foreign_keys(db: &Db<'_>) -> Result<Vec<ForeignKey>> {
    let sql = "SELECT m.name, f.seq, f.\"table\", f.\"from\"
        FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
        WHERE m.type = 'table' ORDER BY m.rowid, f.id, f.seq";
    let mut rows = db.prepare(sql)?.context("no statement")?;
    let mut all: Vec<ForeignKey> = Vec::new();
    while rows.step()? {
        let [table, seq, parent, column] = [0, 1, 2, 3].map(|i| rows.text(i));
        match all.last_mut().filter(|_| seq != "0") {
            Some(key) => key.columns.push(column),
            None => all.push(ForeignKey {
                table,
                columns: vec![column],
                parent,
            }),
        }
    }
    Ok(all)
}

fn primary_keys(db: &Db<'_>) -> Result<Vec<(String, Vec<String>)>> {
    let sql = "SELECT m.name, t.name FROM sqlite_schema m JOIN pragma_table_info(m.name) t
        WHERE m.type = 'table' AND t.pk > 0 ORDER BY m.rowid, t.pk";
    let mut rows = db.prepare(sql)?.context("no statement")?;
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    while rows.step()? {
        let [table, column] = [0, 1].map(|i| rows.text(i));
        match all.last_mut().filter(|a| a.0 == table) {
            Some((_, columns)) => columns.push(column),
            None => all.push((table, vec![column])),
        }
    }
    Ok(all)
}

/// How many rows ANALYZE found in each table: the first number of any of its lines.
fn counted(db: &Db<'_>) -> Result<Vec<(String, u64)>> {
    let sql = format!("SELECT tbl, max(CAST(stat AS INTEGER)) FROM {STATISTICS} GROUP BY tbl");
    let mut rows = db.prepare(&sql)?.context("no statement")?;
    let mut all = Vec::new();
    while rows.step()? {
        if let Ok(n) = rows.text(1).parse() {
            all.push((rows.text(0), n));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viz::schema::Statistics;

    /// The schema of a database that is made by these statements.
    fn schema(sql: &str) -> Schema {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.db");
        let library = libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so");
        let flags = crate::sys::OPEN_READWRITE | crate::sys::OPEN_CREATE;
        library.open(&file, flags).unwrap().exec(sql).unwrap();
        ask_by(&library, &Model::open(&file).unwrap()).unwrap()
    }

    fn redundant(sql: &str) -> Vec<(String, String)> {
        let found = schema(sql).redundant().into_iter();
        found.map(|r| (r.index, r.beside)).collect()
    }

    fn pair(a: &str, b: &str) -> Vec<(String, String)> {
        vec![(a.to_owned(), b.to_owned())]
    }

    #[test]
    fn indexes_are_called_what_they_are_for() {
        let s = schema(
            "CREATE TABLE lineitem(a, b, c UNIQUE, PRIMARY KEY(a, b), UNIQUE(b, c));
             CREATE INDEX by_b ON lineitem(b);",
        );
        let titles: Vec<String> = s.indexes.iter().map(|i| s.title(&i.name)).collect();
        for title in [
            "primary key of lineitem",
            "unique (c) of lineitem",
            "unique (b, c) of lineitem",
            "by_b",
        ] {
            assert!(titles.iter().any(|t| t == title), "{title}: {titles:?}");
        }
        assert_eq!(s.title("lineitem"), "lineitem");
    }

    #[test]
    fn an_index_that_another_begins_with_is_redundant() {
        let table = "CREATE TABLE t(a, b, c PRIMARY KEY);";
        let with = |sql: &str| redundant(&format!("{table}{sql}"));
        assert_eq!(
            with("CREATE INDEX one ON t(a); CREATE INDEX two ON t(a, b);"),
            pair("one", "two")
        );
        assert_eq!(
            with("CREATE INDEX again ON t(a); CREATE INDEX more ON t(a);"),
            pair("more", "again"),
            "the first stays"
        );
        assert_eq!(
            with("CREATE INDEX key ON t(c);"),
            pair("key", "sqlite_autoindex_t_1")
        );
    }

    #[test]
    fn an_index_that_does_what_no_other_does_is_not() {
        let table = "CREATE TABLE t(a TEXT, b, c);";
        for sql in [
            "CREATE INDEX one ON t(a); CREATE INDEX two ON t(b, a);",
            "CREATE UNIQUE INDEX one ON t(a); CREATE INDEX two ON t(a, b);",
            "CREATE INDEX one ON t(a) WHERE b > 1; CREATE INDEX two ON t(a, b);",
            "CREATE INDEX one ON t(a); CREATE INDEX two ON t(a, b) WHERE c > 1;",
            "CREATE INDEX one ON t(a COLLATE nocase); CREATE INDEX two ON t(a, b);",
            "CREATE INDEX one ON t(a DESC); CREATE INDEX two ON t(a, b);",
            "CREATE INDEX one ON t(a + 1); CREATE INDEX two ON t(a + 1, b);",
        ] {
            assert_eq!(redundant(&format!("{table}{sql}")), [], "{sql}");
        }
    }

    #[test]
    fn a_foreign_key_wants_an_index_that_begins_with_it() {
        let missing = |sql: &str| {
            let parent = "CREATE TABLE p(x PRIMARY KEY); CREATE TABLE q(x, y, PRIMARY KEY(x, y));";
            let s = schema(&format!("{parent}{sql}"));
            let all = s.missing().into_iter().map(|k| k.columns.join(","));
            all.collect::<Vec<_>>()
        };
        assert_eq!(
            missing("CREATE TABLE c(a REFERENCES p, b REFERENCES p);"),
            ["b", "a"]
        );
        let two = "CREATE TABLE c(a, b, FOREIGN KEY(a, b) REFERENCES q);";
        assert_eq!(missing(two), ["a,b"]);
        for index in ["b, a", "a, b, rowid_of"] {
            let index = index.replace(", rowid_of", "");
            assert_eq!(
                missing(&format!("{two} CREATE INDEX i ON c({index});")),
                [""; 0]
            );
        }
        assert_eq!(missing(&format!("{two} CREATE INDEX i ON c(a);")), ["a,b"]);
        let partial = "CREATE TABLE c(a REFERENCES p, b); CREATE INDEX i ON c(a) WHERE b;";
        assert_eq!(missing(partial), ["a"]);
        let own = "CREATE TABLE c(a INTEGER PRIMARY KEY REFERENCES p);";
        assert_eq!(missing(own), [""; 0], "the rowid is an index");
    }

    #[test]
    fn statistics_are_fresh_stale_or_not_there() {
        let table = "CREATE TABLE t(a); CREATE INDEX i ON t(a);
                     INSERT INTO t SELECT value FROM generate_series(1, 2000);";
        let table = table.replace(
            "SELECT value FROM generate_series(1, 2000)",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n",
        );
        let rows = |n: u64| move |t: &str| (t == "t").then_some(n);
        let never = schema(&table);
        assert_eq!(never.statistics(rows(2000)), Statistics::Never);
        assert_eq!(never.statistics(rows(999)), Statistics::NotNeeded);
        let analyzed = schema(&format!("{table} ANALYZE;"));
        assert_eq!(analyzed.statistics(rows(2000)), Statistics::Fresh);
        assert_eq!(analyzed.statistics(rows(2500)), Statistics::Fresh);
        let Statistics::Stale { tables } = analyzed.statistics(rows(9000)) else {
            panic!("a table that has grown more than fourfold is not as it was");
        };
        assert_eq!(tables[0].then, Some(2000));
        let more = "ANALYZE; CREATE TABLE u(a); CREATE INDEX j ON u(a);";
        let other = schema(&format!("{table} {more}"));
        let Statistics::Stale { tables } = other.statistics(|_| Some(2000)) else {
            panic!("a table that ANALYZE has not seen is not known");
        };
        assert_eq!((tables[0].table.as_str(), tables[0].then), ("u", None));
    }
}
