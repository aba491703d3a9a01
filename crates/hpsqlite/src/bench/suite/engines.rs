//! The names of engines: which there are, and whether those of a suite are among them.

use std::io::{self, Write};

use anyhow::{Result, bail};

use super::{Point, Suite};
use crate::bench::engine;
use crate::bench::model::{ENGINE, JobKind};
use crate::bench::work;
use crate::output;

/// Name, the kinds of suites that it is for, and what it is. SQLite is for all.
const KNOWN: [(&str, &[JobKind], &str); 14] = [
    (
        "stock",
        &SQLITE,
        "SQLite as it is published, of our version and options",
    ),
    ("ours", &SQLITE, "High Performance SQLite"),
    (
        "duckdb",
        &[JobKind::Sql],
        "DuckDB, by its module for Python",
    ),
    (
        "cluster",
        &[JobKind::Sql],
        "a node of a cluster that does not lead, asked over HTTP",
    ),
    ("flat", &[JobKind::Blobs], "files in one folder"),
    ("tree", &[JobKind::Blobs], "files in a tree of folders"),
    ("berkeleydb", &[JobKind::KeyValue], "Berkeley DB"),
    ("lmdb", &[JobKind::KeyValue], "LMDB"),
    ("mariadb", &[JobKind::KeyValue], "MariaDB, a server"),
    ("memcached", &[JobKind::KeyValue], "memcached, a server"),
    ("qdbm", &[JobKind::KeyValue], "QDBM"),
    (
        "redb",
        &[JobKind::KeyValue],
        "redb, which is compiled into this tool",
    ),
    ("redis", &[JobKind::KeyValue], "Redis, a server"),
    ("rocksdb", &[JobKind::KeyValue], "RocksDB"),
];
const SQLITE: [JobKind; 5] = [
    JobKind::Sql,
    JobKind::Blobs,
    JobKind::KeyValue,
    JobKind::Transactions,
    JobKind::Go,
];

/// The names of a suite's engines, in the order of the file.
pub fn of(suite: &Suite) -> Vec<&str> {
    let mut names = Vec::new();
    for point in &suite.points {
        let name = point.values[ENGINE].as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// An error where the lab has no engine of a name in the suite: whoever mistyped it should know
/// before anything is measured.
pub fn check(suite: &Suite) -> Result<()> {
    let Some(point) = suite.points.iter().find(|p| !is_known(suite, p)) else {
        return Ok(());
    };
    let of_lab = KNOWN
        .iter()
        .filter(|(_, kinds, _)| kinds.contains(&suite.kind));
    let of_suite = suite.engines.keys().map(String::as_str);
    let mut names: Vec<&str> = of_lab.map(|(name, ..)| *name).collect();
    for name in of_suite {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    bail!(
        "no such engine: {}; those of this suite's kind are {} (`hpsqlite bench engines` tells of \
         them)",
        point.values[ENGINE],
        names.join(", ")
    )
}

fn is_known(suite: &Suite, point: &Point) -> bool {
    let (name, library) = suite.engine(&point.values[ENGINE]);
    work::of(suite.kind, name).has_engine(name, library.is_some(), &point.options)
}

/// Prints what there is.
pub fn list() -> io::Result<()> {
    let mut table = output::plain_table();
    for (name, kinds, about) in KNOWN {
        let kinds = match kinds.len() {
            n if n == SQLITE.len() => "every kind".to_owned(),
            _ => kinds
                .iter()
                .map(|k| k.name())
                .collect::<Vec<_>>()
                .join(", "),
        };
        let words = engine::words(name);
        let about = match words.is_empty() {
            true => about.to_owned(),
            false => format!("{about}; words: {}", words.join(", ")),
        };
        table.add_row([name.to_owned(), kinds, about]);
    }
    output::to_terminal(|out| {
        output::print_table(&table, out)?;
        writeln!(out)?;
        output::write_paragraph(
            out,
            0,
            "Words may follow a name: mariadb-innodb-tcp. A suite may describe engines of its own in \
             [engines.NAME]; `hpsqlite bench list SUITE` names those of a suite that comes with the \
             lab.",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bench::suite::{Changes, SUITES, TEMPLATE};

    fn told(kind: &str, engine: &str) -> String {
        let text = format!(
            "title='t'\nkind='{kind}'\n[engines.mine]\nlibrary='mine.so'\n\
             [axes]\nengine='{engine}'\n[[step]]\nname='s'"
        );
        let suite = Suite::parse("t", &text, Path::new(""), &Changes::default()).unwrap();
        check(&suite).map_or_else(|e| e.to_string(), |()| String::new())
    }

    #[test]
    fn a_name_that_is_no_engine_is_told_with_those_that_are() {
        for (kind, engine) in [
            ("sql", "stock"),
            ("sql", "mine"),
            ("sql", "duckdb"),
            ("transactions", "ours"),
            ("blobs", "tree"),
            ("keyvalue", "mariadb-innodb-tcp"),
        ] {
            assert_eq!(told(kind, engine), "", "{kind} {engine}");
        }
        for (kind, engine) in [
            ("sql", "stokc"),
            ("sql", "flat"),
            ("transactions", "duckdb"),
            ("blobs", "lmdb"),
            ("keyvalue", "mariadb-inno"),
            ("go", "stock"),
        ] {
            let said = told(kind, engine);
            let begins =
                format!("no such engine: {engine}; those of this suite's kind are stock, ours");
            assert!(said.starts_with(&begins), "{said}");
            assert!(said.contains("mine"), "{said}");
        }
    }

    #[test]
    fn every_name_of_the_list_is_an_engine_of_its_kinds() {
        for (name, kinds, _) in KNOWN {
            for kind in kinds.iter().filter(|k| **k != JobKind::Go) {
                assert_eq!(told(kind.name(), name), "", "{name}");
            }
        }
    }

    #[test]
    fn the_suites_of_the_lab_have_no_other() {
        for (name, text) in SUITES.iter().chain([&("template", TEMPLATE)]) {
            let suite = Suite::parse(name, text, Path::new(""), &Changes::default()).unwrap();
            check(&suite).unwrap();
        }
    }
}
