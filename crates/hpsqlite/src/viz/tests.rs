//! The model against SQLite: the same pages, the same numbers, the same complaints.

use std::collections::HashMap;
use std::path::Path;

use tempfile::TempDir;

use super::map::Kind;
use super::page::{self, Btree, What};
use super::scan::Scan;
use super::tree::Role;
use super::walk::Model;
use crate::libs;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE};

fn stock() -> Library {
    libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so")
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A new database with the result of some SQL.
fn make<'l>(library: &'l Library, path: &Path, sql: &str) -> Db<'l> {
    let db = library.open(path, OPEN_READWRITE | OPEN_CREATE).unwrap();
    db.exec(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    db
}

/// Opened and scanned.
fn model(path: &Path) -> Model {
    let mut model = Model::open(path).unwrap();
    scan(&mut model);
    model
}

fn scan(model: &mut Model) {
    let mut scan = Scan::new(model);
    while scan.step(model).unwrap() {}
    scan.finish(model).unwrap();
}

/// Tables and indexes of every kind: rows in order and at random, large values, keys of text, rows
/// that were deleted.
const EVERYTHING: &str = "
CREATE TABLE plain(id INTEGER PRIMARY KEY, n INT, t TEXT);
CREATE INDEX plain_n ON plain(n);
CREATE TABLE random(id INTEGER PRIMARY KEY, t TEXT);
CREATE TABLE words(w TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
CREATE TABLE large(id INTEGER PRIMARY KEY, b BLOB);
CREATE INDEX large_b ON large(b);
CREATE TABLE empty(a, b UNIQUE);
CREATE TABLE gone(id INTEGER PRIMARY KEY, t);
CREATE VIEW v AS SELECT * FROM plain;
CREATE TRIGGER tr AFTER DELETE ON empty BEGIN SELECT 1; END;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<700)
  INSERT INTO plain SELECT i, (i*7919)%1009, 'row number '||i FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<400)
  INSERT INTO random SELECT (i*7919)%100003-50000, 'Wört '||i FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<400)
  INSERT INTO words SELECT 'word '||((i*7919)%10007), i FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<24)
  INSERT INTO large SELECT i, CAST(substr(hex(zeroblob(4000)), 1, i*i*12)||i AS BLOB) FROM c;
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300)
  INSERT INTO gone SELECT i, 'to be deleted '||i FROM c;
DELETE FROM gone WHERE id>3;
DELETE FROM plain WHERE id%3=0 AND id<300;
";

/// What dbstat says of one page.
struct Stat {
    name: String,
    path: String,
    page: u32,
    kind: String,
    cells: u64,
    payload: u64,
    unused: u64,
}

fn dbstat(db: &Db<'_>) -> Vec<Stat> {
    let sql = "SELECT name, path, pageno, pagetype, ncell, payload, unused FROM dbstat
               ORDER BY name, path";
    let mut rows = db.prepare(sql).unwrap().unwrap();
    let mut stats = Vec::new();
    while rows.step().unwrap() {
        stats.push(Stat {
            name: rows.text(0),
            path: rows.text(1),
            page: rows.text(2).parse().unwrap(),
            kind: rows.text(3),
            cells: rows.text(4).parse().unwrap(),
            payload: rows.text(5).parse().unwrap(),
            // Of an empty page of 65,536 bytes dbstat takes the start of the content, 65,536 in two
            // bytes, for 0.
            unused: match rows.text(6).parse::<i64>().unwrap() {
                n if n < 0 => (n + 65536) as u64,
                n => n as u64,
            },
        });
    }
    stats
}

/// Checks that the model of a file says of every page what dbstat says of it, and that every byte
/// has a place.
#[track_caller]
fn agrees_with_dbstat(path: &Path, db: &Db<'_>) -> Model {
    let model = model(path);
    assert_eq!(model.problems.found, [], "{}", path.display());
    let stats = dbstat(db);
    let by_path: HashMap<(&str, &str), u32> = stats
        .iter()
        .map(|s| ((s.name.as_str(), s.path.as_str()), s.page))
        .collect();
    let usable = model.usable();
    let mut of_trees = 0;
    for stat in &stats {
        let place = model.map.place(stat.page);
        let here = format!("page {} of {}: {place:?}", stat.page, path.display());
        let tree = &model.trees[place.owner.expect(&here)];
        assert_eq!(tree.name, stat.name, "{here}");
        of_trees += 1;
        // The path of a page is its parent's and a number; overflow pages have a plus sign.
        let (above, last) = stat
            .path
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or_default();
        let parent = if let Some((cell, n)) = last.split_once('+') {
            let n = u32::from_str_radix(n, 16).unwrap();
            match n.checked_sub(1) {
                Some(n) => by_path[&(stat.name.as_str(), &*format!("{above}/{cell}+{n:06x}"))],
                // dbstat names the cell, by its place, below its page.
                None => by_path[&(stat.name.as_str(), &*format!("{above}/"))],
            }
        } else if stat.path == "/" {
            0
        } else {
            by_path[&(stat.name.as_str(), &*format!("{above}/"))]
        };
        assert_eq!(place.parent, parent, "{here} {}", stat.path);
        let page = model.page(stat.page).unwrap();
        if stat.kind == "overflow" {
            assert_eq!(place.kind, Kind::Overflow, "{here}");
            let used = usable as u64 - stat.unused;
            assert_eq!(u64::from(place.fill), used * 255 / usable as u64, "{here}");
            continue;
        }
        let leaf = stat.kind == "leaf";
        assert_eq!((place.kind.is_leaf(), place.kind.is_btree()), (leaf, true));
        let btree = Btree::parse(&page, stat.page, usable).unwrap();
        let sum = btree.examine(&mut Vec::new(), |_| {}, |what| panic!("{here}: {what}"));
        assert_eq!(
            (sum.cells, sum.payload, sum.unused),
            (stat.cells, stat.payload, stat.unused),
            "{here}"
        );
    }
    for (t, tree) in model.trees.iter().enumerate() {
        let own = || stats.iter().filter(|s| s.name == tree.name);
        let total = |of: fn(&Stat) -> u64| own().map(of).sum::<u64>();
        assert_eq!(tree.pages(), own().count() as u64, "{}", tree.name);
        assert_eq!(tree.payload(), total(|s| s.payload), "{}", tree.name);
        assert_eq!(tree.unused(), total(|s| s.unused), "{}", tree.name);
        // In the order of paths, leaves are in the order of keys.
        let leaves: Vec<u32> = own().filter(|s| s.kind == "leaf").map(|s| s.page).collect();
        assert_eq!(tree.leaves, leaves, "{}", tree.name);
        let sql = match tree.role {
            Role::Index => format!(
                "SELECT count(*) FROM {0} INDEXED BY {1}",
                tree.table, tree.name
            ),
            _ => format!("SELECT count(*) FROM {}", tree.name),
        };
        if !tree.name.starts_with("sqlite_auto") {
            let count = db.first(&sql).unwrap().unwrap();
            assert_eq!(tree.entries().to_string(), count, "{t}: {}", tree.name);
        }
    }
    let pages = 1..=model.map.pages();
    let free = pages.clone().filter(|&n| model.map.kind(n).is_free());
    let free = free.count();
    assert_eq!(
        db.first("PRAGMA freelist_count").unwrap().unwrap(),
        free.to_string()
    );
    let special = pages
        .filter(|&n| matches!(model.map.kind(n), Kind::PointerMap | Kind::LockByte))
        .count();
    assert_eq!(
        db.first("PRAGMA page_count").unwrap().unwrap(),
        (of_trees + free + special).to_string()
    );
    every_byte_has_a_place(&model, true);
    model
}

/// Checks that the parts of every page follow each other from its first byte to its last.
fn every_byte_has_a_place(model: &Model, sound: bool) {
    for n in 1..=model.map.pages() {
        let page = model.page(n).unwrap();
        let parts = page::layout(&page, n, model.usable(), model.page_role(n));
        let mut end = 0;
        for part in &parts {
            assert_eq!(part.at, end, "page {n}: {parts:?}");
            assert!(part.len > 0, "page {n}: {parts:?}");
            assert!(!sound || part.what != What::Unknown, "page {n}: {parts:?}");
            end += part.len;
        }
        assert_eq!(end, page.len(), "page {n}");
    }
}

#[test]
fn every_kind_of_database_is_as_dbstat_says() {
    let (library, folder) = (stock(), folder());
    let kinds = [
        ("512", "PRAGMA page_size=512;"),
        ("1024", "PRAGMA page_size=1024;"),
        ("4096", "PRAGMA page_size=4096;"),
        ("8192", "PRAGMA page_size=8192;"),
        ("65536", "PRAGMA page_size=65536;"),
        (
            "utf16le",
            "PRAGMA page_size=1024; PRAGMA encoding='UTF-16le';",
        ),
        (
            "utf16be",
            "PRAGMA page_size=1024; PRAGMA encoding='UTF-16be';",
        ),
        ("full", "PRAGMA page_size=512; PRAGMA auto_vacuum=full;"),
        (
            "incremental",
            "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental;",
        ),
        ("wal", "PRAGMA page_size=1024; PRAGMA journal_mode=wal;"),
    ];
    for (name, pragmas) in kinds {
        let path = folder.path().join(name);
        let db = make(
            &library,
            &path,
            &format!("{pragmas} BEGIN; {EVERYTHING} COMMIT;"),
        );
        let model = agrees_with_dbstat(&path, &db);
        let encoding = db.first("PRAGMA encoding").unwrap().unwrap();
        assert_eq!(model.image.header.encoding.name(), encoding);
        assert_eq!(model.tree_named("words").unwrap().role, Role::WithoutRowid);
        assert_eq!(model.tree_named("v").map(|t| &t.name), None);
    }
}
