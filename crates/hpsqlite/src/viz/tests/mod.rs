//! The model against SQLite: the same pages, the same numbers, the same complaints.

mod advice;
mod ask;
mod numbers;

use std::collections::HashMap;
use std::path::Path;

use tempfile::TempDir;

use super::device::DISK;
use super::figures::Figures;
use super::map::PageKind;
use super::page::{self, Btree, ByteUse};
use super::record::RecordValue;
use super::scan::Scan;
use super::tree::TreeRole;
use super::walk::Model;
use crate::data::random::SplitMix64;
use crate::libs;
use crate::sys::{Db, Library, OPEN_CREATE, OPEN_READWRITE};

pub(super) fn stock() -> Library {
    libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so")
}

pub(super) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A new database with the result of some SQL.
pub(super) fn make<'l>(library: &'l Library, path: &Path, sql: &str) -> Db<'l> {
    let db = library.open(path, OPEN_READWRITE | OPEN_CREATE).unwrap();
    db.exec(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    db
}

/// Opened and scanned.
pub(super) fn model(path: &Path) -> Model {
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
pub(super) const EVERYTHING: &str = "
CREATE TABLE plain(id INTEGER PRIMARY KEY, n INT, t TEXT);
CREATE INDEX plain_n ON plain(n);
CREATE TABLE random(id INTEGER PRIMARY KEY, t TEXT);
CREATE TABLE words(w TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
CREATE TABLE large(id INTEGER PRIMARY KEY, b BLOB);
CREATE INDEX large_b ON large(b);
CREATE TABLE empty(a, b UNIQUE);
CREATE TABLE gone(id INTEGER PRIMARY KEY, t);
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

/// Rows of the schema without a b-tree. Not in what is damaged: where the first of its tables is a
/// view, SQLite's integrity_check looks neither at the free list nor for pages of nobody.
const ROOTLESS: &str = "
CREATE VIEW v AS SELECT * FROM plain;
CREATE TRIGGER tr AFTER DELETE ON empty BEGIN SELECT 1; END;
";

/// What dbstat says of one page.
struct DbstatRow {
    name: String,
    path: String,
    page: u32,
    kind: String,
    cells: u64,
    payload: u64,
    unused: u64,
}

fn dbstat(db: &Db<'_>) -> Vec<DbstatRow> {
    let sql = "SELECT name, path, pageno, pagetype, ncell, payload, unused FROM dbstat
               ORDER BY name, path";
    let mut rows = db.prepare(sql).unwrap().unwrap();
    let mut stats = Vec::new();
    while rows.step().unwrap() {
        stats.push(DbstatRow {
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
            assert_eq!(place.kind, PageKind::Overflow, "{here}");
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
        let total = |of: fn(&DbstatRow) -> u64| own().map(of).sum::<u64>();
        assert_eq!(tree.pages(), own().count() as u64, "{}", tree.name);
        assert_eq!(tree.payload(), total(|s| s.payload), "{}", tree.name);
        assert_eq!(tree.unused(), total(|s| s.unused), "{}", tree.name);
        // In the order of paths, leaves are in the order of keys.
        let leaves: Vec<u32> = own().filter(|s| s.kind == "leaf").map(|s| s.page).collect();
        assert_eq!(tree.leaves, leaves, "{}", tree.name);
        let sql = match tree.role {
            TreeRole::Index => format!(
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
        .filter(|&n| matches!(model.map.kind(n), PageKind::PointerMap | PageKind::LockByte))
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
        let parts = page::layout(&page, n, model.usable(), model.page_role(n).unwrap());
        let mut end = 0;
        for part in &parts {
            assert_eq!(part.at, end, "page {n}: {parts:?}");
            assert!(part.len > 0, "page {n}: {parts:?}");
            assert!(
                !sound || part.what != ByteUse::Unknown,
                "page {n}: {parts:?}"
            );
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
            &format!("{pragmas} BEGIN; {EVERYTHING} {ROOTLESS} COMMIT;"),
        );
        let model = agrees_with_dbstat(&path, &db);
        let encoding = db.first("PRAGMA encoding").unwrap().unwrap();
        assert_eq!(model.image.header.encoding.name(), encoding);
        assert_eq!(
            model.tree_named("words").unwrap().role,
            TreeRole::WithoutRowid
        );
        assert_eq!(model.tree_named("v").map(|t| &t.name), None);
    }
}

/// A damaged copy of a database: what a bad disk, a bad copy or a bad program may leave.
fn damage(sound: &[u8], size: usize, random: &mut SplitMix64) -> (Vec<u8>, String) {
    let mut bytes = sound.to_vec();
    let pages = bytes.len() / size;
    let page = |random: &mut SplitMix64| random.below(pages as u64) as usize * size;
    let what = match random.below(20) {
        // One byte, half the time in the header of a page.
        0..=11 => {
            let within = if random.below(2) == 0 {
                16
            } else {
                size as u64
            };
            let at = page(random) + random.below(within) as usize;
            bytes[at] = random.below(256) as u8;
            format!("byte {at} is {}", bytes[at])
        }
        // A number of a page, wherever it is.
        12..=14 => {
            let at = page(random) + random.below(size as u64 / 4) as usize * 4;
            let n = random.below(pages as u64 + 3) as u32;
            bytes[at..at + 4].copy_from_slice(&n.to_be_bytes());
            format!("bytes {at} to {} are the number {n}", at + 3)
        }
        15..=16 => {
            let (a, b) = (page(random), page(random));
            for i in 0..size {
                bytes.swap(a + i, b + i);
            }
            format!("pages {} and {} are swapped", a / size + 1, b / size + 1)
        }
        17..=18 => {
            let (a, b) = (page(random), page(random));
            bytes.copy_within(a..a + size, b);
            format!("page {} is over page {}", a / size + 1, b / size + 1)
        }
        _ => {
            let len = random.below(bytes.len() as u64) as usize;
            bytes.truncate(len);
            format!("{len} bytes are left")
        }
    };
    (bytes, what)
}

/// What SQLite's integrity_check says of a file before it gives up, if it does.
/// None: it cannot be asked.
fn complaints(library: &Library, path: &Path) -> Option<Vec<String>> {
    let db = library.open(path, OPEN_READWRITE).ok()?;
    let mut rows = db.prepare("PRAGMA integrity_check(20)").ok()??;
    let mut said = Vec::new();
    loop {
        match rows.step() {
            Ok(true) => said.push(rows.text(0)),
            Ok(false) => return Some(said),
            Err(_) if said.is_empty() => return None,
            Err(_) => return Some(said),
        }
    }
}

/// Whether integrity_check complains of pages, and not of rows, of values or of an index that does not
/// fit its table.
fn is_about_pages(said: &str) -> bool {
    said.starts_with("*** in database")
}

#[test]
fn damage_that_integrity_check_finds_is_found() {
    const EACH: u64 = 500;
    let (library, folder) = (stock(), folder());
    let kinds = [
        "PRAGMA page_size=512;",
        "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental;",
        "PRAGMA page_size=1024; PRAGMA encoding='UTF-16le'; PRAGMA auto_vacuum=full;",
        "PRAGMA page_size=4096;",
    ];
    let (mut complained, mut refused, mut more, mut missed) = (0, 0, 0, Vec::new());
    let mut random = SplitMix64(1);
    for pragmas in kinds {
        let path = folder.path().join("damaged");
        drop(make(
            &library,
            &path,
            &format!("{pragmas} BEGIN; {EVERYTHING} COMMIT;"),
        ));
        let sound = std::fs::read(&path).unwrap();
        let size = Model::open(&path).unwrap().image.header.page_size as usize;
        for i in 0..EACH {
            let (bytes, what) = damage(&sound, size, &mut random);
            std::fs::write(&path, bytes).unwrap();
            let found = Model::open(&path).map(|mut model| {
                scan(&mut model);
                if i % 50 == 0 {
                    every_byte_has_a_place(&model, false);
                    for n in 1..=model.map.pages() {
                        model.look_at(n).unwrap();
                    }
                }
                model.problems
            });
            let any = !found.as_ref().is_ok_and(|p| p.count == 0);
            let said = complaints(&library, &path);
            let case = format!("{pragmas} {what}: {said:?}; found: {found:?}");
            match said {
                Some(said) if !said.iter().any(|s| is_about_pages(s)) => {
                    more += u32::from(any);
                }
                Some(_) => {
                    complained += 1;
                    if !any {
                        missed.push(case);
                    }
                }
                None => {
                    // SQLite does not go as far as the pages. Mostly the text of the schema is
                    // damaged, which says nothing about pages.
                    refused += 1;
                }
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
    println!(
        "{complained} complaints, {} missed; {refused} files refused; in {} more something was found",
        missed.len(),
        more
    );
    assert!(complained > EACH, "too little damage was done");
    assert_eq!(missed, [] as [String; 0]);
}

#[test]
fn many_tables_and_a_long_free_list() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("many");
    let db = make(
        &library,
        &path,
        "PRAGMA page_size=512; BEGIN; CREATE TABLE gone(x); WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c
         WHERE i<1000) INSERT INTO gone SELECT zeroblob(400) FROM c; CREATE TABLE kept(x); COMMIT",
    );
    db.exec("BEGIN").unwrap();
    for i in 0..200 {
        db.exec(&format!(
            "CREATE TABLE t{i}(a TEXT UNIQUE, b); INSERT INTO t{i} VALUES('Größe {i}', {i})"
        ))
        .unwrap();
    }
    db.exec("COMMIT; DROP TABLE gone").unwrap();
    let model = agrees_with_dbstat(&path, &db);
    assert_eq!(model.trees.len(), 1 + 1 + 2 * 200);
    let trunks = (1..=model.map.pages()).filter(|&n| model.map.kind(n) == PageKind::FreeTrunk);
    let trunks: Vec<u32> = trunks.collect();
    assert!(trunks.len() > 5);
    // From the first on, each trunk leads to the next.
    let (mut n, mut seen) = (model.image.header.first_trunk, 0);
    while n != 0 {
        assert!(trunks.contains(&n));
        seen += 1;
        n = model.look_at(n).unwrap().around.after;
    }
    assert_eq!(seen, trunks.len());
}

#[test]
fn bytes_reserved_for_extensions_belong_to_nobody() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("reserved");
    drop(make(
        &library,
        &path,
        "PRAGMA page_size=1024; PRAGMA user_version=1;",
    ));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] = 40;
    bytes[105..107].copy_from_slice(&(1024u16 - 40).to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    let db = make(&library, &path, &format!("BEGIN; {EVERYTHING} COMMIT;"));
    let model = agrees_with_dbstat(&path, &db);
    assert_eq!(model.usable(), 984);
}

#[test]
fn a_log_is_laid_over_the_file_as_far_as_it_is_committed() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("wal");
    let db = make(
        &library,
        &path,
        &format!(
            "PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;
             BEGIN; {EVERYTHING} COMMIT; PRAGMA wal_checkpoint;
             DELETE FROM random WHERE id<0; CREATE TABLE later(x); INSERT INTO later VALUES(1)"
        ),
    );
    let model = agrees_with_dbstat(&path, &db);
    assert!(model.tree_named("later").is_some());
    let wal = model.image.wal.as_ref().unwrap();
    assert_eq!((wal.commits, wal.damage.as_deref()), (3, None));
    assert!(wal.old > 0, "frames of before the checkpoint");
    assert_eq!(wal.versions(), wal.to_checkpoint().len());
    assert_eq!(wal.to_checkpoint()[0], 1);

    // Pages that spill into the log and are not committed do not count.
    db.exec("PRAGMA cache_size=2; BEGIN; UPDATE plain SET t=t||'!'")
        .unwrap();
    let now = self::model(&path);
    assert!(model.image.changed().unwrap().is_some());
    let wal = now.image.wal.as_ref().unwrap();
    assert!(wal.frames.len() > wal.committed as usize);
    assert_eq!(now.problems.found, []);
    assert_eq!(now.trees[1].payload(), model.trees[1].payload());
    db.exec("COMMIT").unwrap();
    agrees_with_dbstat(&path, &db);

    // A byte of a frame is wrong: the log ends there.
    let log = folder.path().join("wal-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(&path, &copy).unwrap();
    bytes[32 + 24 + 100] ^= 1;
    std::fs::write(folder.path().join("copy-wal"), bytes).unwrap();
    let damaged = self::model(&copy);
    assert!(damaged.problems.found[0].what.contains("frame 1 of"));
    assert_eq!(damaged.image.wal.unwrap().committed, 0);
}

#[test]
fn a_checkpoint_would_write_what_was_not_copied_yet() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("copied");
    let db = make(
        &library,
        &path,
        "PRAGMA journal_mode=wal; CREATE TABLE a(x); CREATE TABLE b(x);
         INSERT INTO a VALUES(1); INSERT INTO b VALUES(1)",
    );
    // A reader keeps the checkpoint from starting the log anew.
    let reader = library.open(&path, OPEN_READWRITE).unwrap();
    reader.exec("BEGIN; SELECT * FROM a").unwrap();
    db.exec("PRAGMA wal_checkpoint; INSERT INTO b VALUES(2)")
        .unwrap();
    let model = model(&path);
    let wal = model.image.wal.as_ref().unwrap();
    assert!(wal.copied > 0);
    assert_eq!(wal.to_checkpoint(), [model.tree_named("b").unwrap().root]);
}

#[test]
fn reserved_pages_are_known_by_their_b_tree() {
    let ours = libs::for_tests("lib/libsqlite3.so.0");
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("extents");
    // Rows of both tables in turn: a b-tree that grows alone reserves nothing.
    let db = make(
        &ours,
        &path,
        "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); BEGIN",
    );
    for _ in 0..500 {
        db.exec("INSERT INTO a VALUES(zeroblob(900)); INSERT INTO b VALUES(zeroblob(900))")
            .unwrap();
    }
    db.exec("COMMIT").unwrap();
    drop(db);
    let db = library.open(&path, OPEN_READWRITE).unwrap();
    let model = agrees_with_dbstat(&path, &db);
    for name in ["a", "b"] {
        let tree = model.tree_named(name).unwrap();
        let owner = model.map.owner(tree.root);
        let of = |kind: PageKind| {
            let all = 1..=model.map.pages();
            all.filter(|&n| model.map.kind(n) == kind && model.map.owner(n) == owner)
                .count() as u64
        };
        assert!(of(PageKind::Reserved) > 0, "{name}");
        assert_eq!(
            of(PageKind::Reserved) + of(PageKind::FreeTrunk),
            tree.reserved
        );
    }
    assert_eq!(model.tree_named("c").unwrap().reserved, 0);
}

/// Bytes of payload in an overflow page.
fn last_payload(model: &Model, n: u32) -> usize {
    let page = model.look_at(n).unwrap();
    let parts = page
        .parts
        .iter()
        .filter(|part| part.what == ByteUse::Payload);
    parts.map(|part| part.len).sum()
}

#[test]
fn questions_about_pages_and_keys() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("questions");
    drop(make(
        &library,
        &path,
        &format!("PRAGMA page_size=512; BEGIN; {EVERYTHING} COMMIT;"),
    ));
    let model = model(&path);
    let large = model.tree_named("LARGE").unwrap();
    for tree in &model.trees {
        for pair in tree.leaves.windows(2) {
            assert_eq!(model.beside(pair[0], 1).unwrap(), pair[1], "{}", tree.name);
            assert_eq!(model.beside(pair[1], -1).unwrap(), pair[0], "{}", tree.name);
        }
        let ends = (tree.leaves[0], *tree.leaves.last().unwrap());
        assert_eq!(model.beside(ends.0, -1).unwrap(), 0);
        assert_eq!(model.beside(ends.1, 1).unwrap(), 0);
        for &leaf in &tree.leaves {
            let path = model.path_to_page(leaf);
            assert_eq!(path.len(), tree.levels.len() - 1, "{}", tree.name);
            assert_eq!(*path.first().unwrap_or(&leaf), tree.root);
            assert_eq!(model.owner(leaf).unwrap().root, tree.root);
        }
    }
    // Row 24 of `large` is in a chain; its key leads to it, and its last page back to the key.
    let (way, place) = model.path_to_rowid(large, 24).unwrap().unwrap();
    let page = model.look_at(*way.last().unwrap()).unwrap();
    let entry = &page.cells[place.unwrap()];
    assert_eq!(entry.cell.rowid, Some(24));
    assert_eq!(entry.record.len(), 2);
    let chain = model.chain(entry.cell.overflow, usize::MAX).unwrap();
    assert_eq!(chain.len() as u64, large.chains.longest);
    assert_eq!(model.path_to_page(chain[chain.len() - 1]), way);
    assert_eq!(model.look_at(chain[1]).unwrap().around.before, chain[0]);
    let (_, nowhere) = model.path_to_rowid(large, 25).unwrap().unwrap();
    assert_eq!(nowhere, None);
    assert_eq!(last_payload(&model, chain[chain.len() - 1]), {
        let all = entry.cell.payload - entry.cell.local as u64;
        (all - (chain.len() as u64 - 1) * 508) as usize
    });

    // By key: every row of the WITHOUT ROWID table, and every key of an index.
    let words = model.tree_named("words").unwrap();
    let entry_at = |path: &[u32], place: usize| {
        let page = model.look_at(*path.last().unwrap()).unwrap();
        let values = page.cells[place].record.iter().map(|f| f.value.clone());
        values.collect::<Vec<RecordValue>>()
    };
    for i in 1..=400 {
        let key = [RecordValue::Text(format!("word {}", i * 7919 % 10007))];
        let (path, place) = model.path_to_key(words, &key, &[]).unwrap().unwrap();
        assert_eq!(
            entry_at(&path, place.expect("a row"))[1],
            RecordValue::Integer(i)
        );
    }
    let index = model.tree_named("plain_n").unwrap();
    let none = [RecordValue::Integer(5000)];
    let (path, place) = model.path_to_key(index, &none, &[]).unwrap().unwrap();
    assert_eq!((path.last(), place), (index.leaves.last(), None));
    let some = [RecordValue::Integer(7919 % 1009)];
    let (path, place) = model.path_to_key(index, &some, &[]).unwrap().unwrap();
    assert_eq!(entry_at(&path, place.unwrap())[0], some[0]);
    assert!(model.path_to_key(large, &some, &[]).unwrap().is_none());
    assert_eq!(model.path_to_rowid(words, 1).unwrap(), None);
}

#[test]
fn what_vacuum_gives_back_is_foretold_and_scatter_explained() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("advice");
    let db = make(
        &library,
        &path,
        "CREATE TABLE a(id INTEGER PRIMARY KEY, k INT, t TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, t TEXT);
         CREATE TABLE r(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE gone(t);
         CREATE TRIGGER both AFTER INSERT ON a BEGIN INSERT INTO b VALUES(NEW.id, NEW.t); END;
         BEGIN;
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<5000)
           INSERT INTO a SELECT i, (i*7919)%100003, hex(zeroblob(50+i%70)) FROM c;
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<5000)
           INSERT INTO r SELECT (i*7919)%100003, hex(zeroblob(50+i%70)) FROM c;
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000)
           INSERT INTO gone SELECT hex(zeroblob(100)) FROM c;
         DROP TABLE gone; DELETE FROM r WHERE id%3=0; COMMIT;",
    );
    let numbers = |model: &Model| {
        let figures = Figures::of(model, DISK);
        let advice: Vec<String> = figures.advice.iter().map(|a| a.to_string()).collect();
        (figures.trees, figures.whole, advice.join("\n"))
    };
    let (_, whole, advice) = numbers(&model(&path));
    assert!(advice.contains("VACUUM would give back"), "{advice}");
    assert!(
        advice.contains("b and a are scattered: ") || advice.contains("a and b are scattered: "),
        "{advice}"
    );
    assert!(advice.contains("they grew at the same time"), "{advice}");
    assert!(advice.contains("r is scattered: "), "{advice}");
    assert!(advice.contains("keys came in no order"), "{advice}");
    assert!(advice.contains("The leaves of r are "), "{advice}");

    db.exec("VACUUM").unwrap();
    let (all, after, advice) = numbers(&model(&path));
    let gave = whole.bytes - after.bytes;
    let error = gave.abs_diff(whole.vacuum_gives_back) as f64 / whole.bytes as f64;
    assert!(error < 0.02, "{gave} and not {}", whole.vacuum_gives_back);
    assert_eq!(advice, "");
    assert!(all.iter().all(|n| n.order.scatter < 0.05), "{all:#?}");
    assert!(after.vacuum_gives_back * 50 < after.bytes);
}
