//! What is counted: against SQLite's own figures, and where the answer is known.

use std::path::Path;

use super::{folder, make, model, stock};
use crate::sys::Db;
use crate::viz::device::DISK;
use crate::viz::figures::Figures;
use crate::viz::numbers::Numbers;
use crate::viz::walk::Model;

fn figures(path: &Path) -> Figures {
    Figures::of(&model(path), DISK)
}

fn number(db: &Db<'_>, sql: &str) -> u64 {
    db.first(sql).unwrap().unwrap().parse().unwrap()
}

/// Indexes of all orders, on values of all types that follow each other.
const ORDERS: &str = "
CREATE TABLE t(a, b, c TEXT COLLATE NOCASE, d REAL);
CREATE TABLE plain(a, b, c TEXT);
CREATE TABLE pk(a TEXT, b INT, c, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
CREATE INDEX up ON t(a, b);
CREATE INDEX down ON t(a DESC, b);
CREATE INDEX mixed ON t(c, a DESC, d);
CREATE INDEX trimmed ON t(c COLLATE RTRIM DESC, d DESC);
CREATE INDEX some ON t(d) WHERE b>3;
CREATE INDEX expression ON t(abs(a), lower(c));
CREATE INDEX texts ON plain(c, b DESC);
CREATE INDEX everything ON plain(a DESC, c, b);
WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000)
  INSERT INTO t SELECT
    CASE i%7 WHEN 0 THEN NULL WHEN 1 THEN (i*7919)%1009 WHEN 2 THEN (i*7919)%1009/2.0 WHEN 3 THEN 'T'||(i%50)
      WHEN 4 THEN CAST('b'||(i%90) AS BLOB) WHEN 5 THEN -(i%40)+0.0 ELSE 1<<(i%62) END,
    CASE i%5 WHEN 0 THEN 9007199254740992+i%3 WHEN 1 THEN 9007199254740993.0 ELSE i%11 END,
    CASE i%3 WHEN 0 THEN 'Wört ' WHEN 1 THEN 'wÖRT' ELSE 'word  ' END||char(65+i%60),
    (i%100-50)*0.5 FROM c;
INSERT INTO plain SELECT a, b, c||hex(zeroblob(rowid%25)) FROM t;
INSERT INTO pk SELECT c||rowid, (rowid*7919)%101, a FROM t;
";

#[test]
fn keys_of_sound_indexes_are_in_order_whatever_the_schema_says() {
    let (library, folder) = (stock(), folder());
    for (name, pragmas) in [
        ("utf8", "PRAGMA page_size=1024;"),
        ("le", "PRAGMA page_size=512; PRAGMA encoding='UTF-16le';"),
        ("be", "PRAGMA page_size=4096; PRAGMA encoding='UTF-16be';"),
        (
            "legacy",
            "PRAGMA legacy_file_format=1; PRAGMA page_size=512;",
        ),
    ] {
        let path = folder.path().join(name);
        drop(make(
            &library,
            &path,
            &format!("{pragmas} BEGIN; {ORDERS} COMMIT;"),
        ));
        assert_eq!(model(&path).problems.found, [], "{name}");
    }
}

/// Swaps two pages of a file of pages of 512 bytes, or two cell pointers of one.
fn swapped(sound: &Path, damaged: &Path, swap: impl Fn(&mut [u8])) -> Vec<(u32, String)> {
    let mut bytes = std::fs::read(sound).unwrap();
    swap(&mut bytes);
    std::fs::write(damaged, bytes).unwrap();
    let problems = model(damaged).problems.found;
    problems.into_iter().map(|p| (p.page, p.what)).collect()
}

#[test]
fn keys_out_of_order_are_found_within_pages_and_between_them() {
    let (library, folder) = (stock(), folder());
    let (path, damaged) = (folder.path().join("sound"), folder.path().join("damaged"));
    drop(make(
        &library,
        &path,
        &format!("PRAGMA page_size=512; BEGIN; {ORDERS} COMMIT;"),
    ));
    let model = model(&path);
    for name in [
        "up",
        "down",
        "some",
        "expression",
        "texts",
        "everything",
        "pk",
    ] {
        let leaves = &model.tree_named(name).unwrap().leaves;
        let (one, other) = (leaves[leaves.len() / 3], leaves[2 * leaves.len() / 3]);
        let at = |n: u32| (n as usize - 1) * 512;
        let found = swapped(&path, &damaged, |bytes| {
            // The array of cell pointers is behind the header of 8 bytes.
            let first = at(one) + 8;
            bytes[first..first + 4].rotate_left(2);
        });
        assert!(found.len() == 1 && found[0].0 == one, "{name}: {found:?}");
        assert!(found[0].1.contains("is out of order: column"), "{found:?}");
        let found = swapped(&path, &damaged, |bytes| {
            for i in 0..512 {
                bytes.swap(at(one) + i, at(other) + i);
            }
        });
        let out_of_order = found
            .iter()
            .filter(|p| p.1.contains("is out of order: column"));
        let pages: Vec<u32> = out_of_order.map(|p| p.0).collect();
        assert!(
            pages.contains(&one) || pages.contains(&other),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn fragmentation_and_fan_out_are_those_of_sqlite3_analyzer() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("analyzed");
    let db = make(
        &library,
        &path,
        "PRAGMA page_size=512;
         CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT UNIQUE); CREATE TABLE b(id INTEGER PRIMARY KEY, v BLOB);
         BEGIN;
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<2000)
           INSERT INTO a SELECT (i*7919)%10007, 'text '||i FROM c;
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<200)
           INSERT INTO b SELECT i, zeroblob(10*i) FROM c;
         COMMIT;",
    );
    let figures = figures(&path);
    for n in &figures.trees {
        // Its definitions: leaves whose page does not follow another of the b-tree, in the order of
        // the file; and pages but the root for each interior page.
        let gaps = format!(
            "SELECT count(*) FROM (SELECT pagetype, pageno-lag(pageno) OVER (ORDER BY pageno) AS step
             FROM dbstat WHERE name='{}') WHERE pagetype='leaf' AND step>1",
            n.name
        );
        assert_eq!(n.non_sequential, number(&db, &gaps), "{}", n.name);
        let children = format!(
            "SELECT coalesce((sum(pagetype<>'overflow')-1)/nullif(sum(pagetype='internal'), 0), 0)
             FROM dbstat WHERE name='{}'",
            n.name
        );
        assert_eq!(
            n.average_fan_out as u64,
            number(&db, &children),
            "{}",
            n.name
        );
    }
    let whole = &figures.whole;
    let kinds: u64 = whole.kinds.iter().map(|k| k.1).sum();
    assert_eq!(
        (kinds, whole.pages),
        (number(&db, "PRAGMA page_count"), kinds)
    );
    let runs: u64 = figures.trees.iter().map(|n| n.order.runs).sum();
    assert_eq!(
        (whole.order.runs, whole.order.runs_by_length.iter().sum()),
        (runs, runs)
    );
}

fn of<'f>(figures: &'f Figures, name: &str) -> &'f Numbers {
    figures.trees.iter().find(|n| n.name == name).unwrap()
}

#[test]
fn a_cold_scan_goes_elsewhere_for_chains_that_are_not_behind_their_row() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("chains");
    let rows = "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<100)";
    let db = make(
        &library,
        &path,
        &format!(
            "PRAGMA page_size=512;
             CREATE TABLE late(id INTEGER PRIMARY KEY, b BLOB); CREATE TABLE small(id INTEGER PRIMARY KEY, t TEXT);
             BEGIN; {rows} INSERT INTO late SELECT i, x'01' FROM c; {rows} INSERT INTO small SELECT i, hex(zeroblob(60)) FROM c;
             UPDATE late SET b=zeroblob(3000) WHERE id%2=0; COMMIT;"
        ),
    );
    let before = figures(&path);
    let (late, small) = (of(&before, "late"), of(&before, "small"));
    assert_eq!(late.overflow.chains, 50);
    assert!(late.overflow.away > 0, "{:?}", late.overflow);
    assert_eq!(late.scan.bytes, late.pages * 512);
    assert_eq!(
        late.scan.bytes - late.scan_leaves.bytes,
        late.overflow_pages * 512
    );
    assert_eq!(small.scan, small.scan_leaves);
    assert!((late.cold_scan - DISK.seconds(late.scan)).abs() < 1e-12);

    // VACUUM writes each leaf's chains behind it.
    db.exec("VACUUM").unwrap();
    let after = figures(&path);
    let late = of(&after, "late");
    assert_eq!((late.overflow.chains, late.overflow.jumps), (50, 0));
    assert!(late.overflow.away * 10 < 50, "{:?}", late.overflow);
    assert!(late.order.scatter < 0.1, "{:?}", late.order);
    // Who does not want the chains reads less, but has to step over them.
    assert!(late.scan_leaves.requests > late.scan.requests);
    assert!(late.order.steps_over * 2 > late.order.steps);
    assert!(late.scan.requests * 4 < of(&before, "late").scan.requests);
}

#[test]
fn a_b_tree_in_one_piece_is_one_request() {
    let (library, folder) = (stock(), folder());
    let rows = "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<100)
                INSERT INTO t SELECT i, hex(zeroblob(30)) FROM c";
    let requests = |name: &str, before: &str| {
        let path = folder.path().join(name);
        let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, s)";
        drop(make(
            &library,
            &path,
            &format!("PRAGMA page_size=512; {table}; {before}; {rows}"),
        ));
        let figures = figures(&path);
        let t = of(&figures, "t");
        assert_eq!((t.depth, t.interior_pages, t.order.jumps()), (2, 1, 0));
        t.scan.requests
    };
    assert_eq!(
        requests("together", ""),
        1,
        "the root leads over to the leaves"
    );
    assert_eq!(requests("apart", "CREATE TABLE other(a)"), 2);
}

#[test]
fn advice_on_many_b_trees_is_one_sentence_for_each_reason() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("many");
    let mut sql = String::from("PRAGMA page_size=512; BEGIN;");
    for i in 0..9 {
        sql += &format!("CREATE TABLE t{i}(id INTEGER PRIMARY KEY, t TEXT);");
    }
    for round in 0..40 {
        for i in 0..9 {
            sql += &format!(
                "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<12)
                 INSERT INTO t{i} SELECT {round}*100+i, hex(zeroblob(60)) FROM c;"
            );
        }
    }
    let model: Model = {
        drop(make(&library, &path, &(sql + "COMMIT;")));
        model(&path)
    };
    let figures = Figures::of(&model, DISK);
    let told: Vec<String> = figures.advice.iter().map(ToString::to_string).collect();
    let scattered: Vec<&String> = told.iter().filter(|a| a.contains("scattered")).collect();
    assert_eq!(scattered.len(), 1, "{told:?}");
    assert!(
        scattered[0].contains(" and 3 others are scattered: "),
        "{told:?}"
    );
    assert!(
        scattered[0].contains("they grew at the same time"),
        "{told:?}"
    );
    let json = serde_json::to_value(&figures.advice).unwrap();
    let links = json
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|a| a.as_array().unwrap());
    assert_eq!(
        links.filter(|part| part["tree"].is_u64()).count(),
        6,
        "{json}"
    );
}

#[test]
fn a_log_in_figures() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("log");
    let db = make(
        &library,
        &path,
        "PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;
         CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
         WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<10) INSERT INTO t SELECT i, zeroblob(400) FROM c;
         PRAGMA wal_checkpoint; UPDATE t SET v=zeroblob(399) WHERE id=1;
         UPDATE t SET v=zeroblob(398) WHERE id IN (1, 2, 9);",
    );
    let model = model(&path);
    let wal = model.image.wal.as_ref().unwrap();
    let facts = wal.facts();
    assert_eq!((facts.commits, facts.committed, facts.frames), (2, 4, 4));
    assert_eq!((facts.versions, facts.to_checkpoint), (3, 3));
    assert_eq!(
        (facts.checkpoint_bytes, facts.checkpoint_runs),
        (3 * 512, 2)
    );
    assert_eq!((facts.copied, facts.sequence), (0, 1));
    assert!(facts.old > 0 && facts.damage.is_none(), "{facts:?}");
    drop(db);
}
