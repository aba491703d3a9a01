//! Questions to the model: ways, levels, versions, columns.

use std::fs;

use super::{EVERYTHING, folder, make, model, stock};
use crate::data::random::SplitMix64;
use crate::viz::ask::PathTarget;
use crate::viz::columns::{self, Stored};
use crate::viz::file::Version;
use crate::viz::map::PageKind;
use crate::viz::page::ByteUse;
use crate::viz::record::{Collation, RecordValue};
use crate::viz::walk::Model;

fn number(model: &Model, name: &str) -> usize {
    let named = |t: &crate::viz::tree::Tree| t.name == name;
    model.trees.iter().position(named).unwrap()
}

#[test]
fn levels_of_a_b_tree_and_the_way_down() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("levels");
    drop(make(
        &library,
        &path,
        &format!("PRAGMA page_size=512; BEGIN; {EVERYTHING} COMMIT;"),
    ));
    let model = model(&path);
    for (t, tree) in model.trees.iter().enumerate() {
        assert_eq!(model.level(t, 0).unwrap(), [tree.root]);
        for (l, level) in tree.levels.iter().enumerate() {
            let pages = model.level(t, l).unwrap();
            assert_eq!(pages.len() as u64, level.pages, "{} level {l}", tree.name);
            let below = tree.levels.get(l + 1).map_or(0, |below| below.pages);
            let fan: u32 = model.fan(t, l).unwrap().iter().sum();
            assert_eq!(u64::from(fan), below, "{} level {l}", tree.name);
            for &page in pages.iter().step_by(7) {
                let way = model.way(t, &PathTarget::Page(page), &[]).unwrap().unwrap();
                assert_eq!((way.pages.len(), way.cells.len()), (l + 1, l));
                assert_eq!(way.pages.last(), Some(&page));
            }
        }
        assert!(model.level(t, tree.levels.len()).unwrap().is_empty());
    }
    let plain = number(&model, "plain");
    let way = model
        .way(plain, &PathTarget::Rowid(500), &[])
        .unwrap()
        .unwrap();
    for (i, &n) in way.pages.iter().enumerate() {
        let page = model.look_at(n).unwrap();
        let taken = page.cells.get(way.cells[i]).unwrap();
        match way.pages.get(i + 1) {
            Some(&below) => assert_eq!(taken.cell.child, below),
            None => assert_eq!(taken.cell.rowid, Some(500)),
        }
    }
    // What cannot be asked is said in words.
    let words = number(&model, "words");
    let wrong = |t, target| model.way(t, &target, &[]).unwrap().unwrap_err();
    assert!(wrong(words, PathTarget::Rowid(1)).contains("no rowids"));
    assert!(wrong(plain, PathTarget::Key(vec![RecordValue::Null])).contains("are rowids"));
    assert!(wrong(plain, PathTarget::Page(1)).contains("does not belong"));
}

#[test]
fn keys_are_written_as_json() {
    let key = PathTarget::key(
        r#"[null, 1, 1.5, "a", {"blob": "00fF"}, {"integer": "9007199254740993"}]"#,
    );
    let values = vec![
        RecordValue::Null,
        RecordValue::Integer(1),
        RecordValue::Real(1.5),
        RecordValue::Text("a".to_owned()),
        RecordValue::Blob(vec![0, 255]),
        RecordValue::Integer(9_007_199_254_740_993),
    ];
    assert_eq!(key, Ok(PathTarget::Key(values)));
    for wrong in [
        "",
        "[]",
        "1",
        "[[]]",
        r#"[{"blob": "0"}]"#,
        r#"[{"blob": "0é"}]"#,
        "[true]",
    ] {
        assert!(PathTarget::key(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn integers_that_json_readers_would_round_are_texts() {
    let json = |value: RecordValue| serde_json::to_string(&value).unwrap();
    let most = 9_007_199_254_740_991;
    assert_eq!(
        json(RecordValue::Integer(-most)),
        format!(r#"{{"type":"integer","value":-{most}}}"#)
    );
    let beyond = r#"{"type":"integer","value":"9007199254740992"}"#;
    assert_eq!(json(RecordValue::Integer(most + 1)), beyond);
    assert_eq!(
        json(RecordValue::Real(f64::INFINITY)),
        r#"{"type":"real","value":"inf"}"#
    );
}

#[test]
fn every_version_of_a_page_can_be_looked_at() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("versions");
    let db = make(
        &library,
        &path,
        "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
         CREATE TABLE t(id INTEGER PRIMARY KEY, s); INSERT INTO t VALUES(1,'in the file');
         PRAGMA wal_checkpoint(TRUNCATE);
         UPDATE t SET s='first'; UPDATE t SET s='second';",
    );
    let model = model(&path);
    let n = model.tree_named("t").unwrap().root;
    let text = |version| {
        let page = model.look_at_version(n, version).unwrap();
        let bytes = model.bytes(n, version).unwrap();
        let shown = page.cells[0].record[1].value.clone();
        if let RecordValue::Text(text) = &shown {
            let inside = bytes.windows(text.len()).any(|w| w == text.as_bytes());
            assert!(inside, "{text}");
        }
        shown
    };
    let is = |s: &str| RecordValue::Text(s.to_owned());
    let page = model.look_at(n).unwrap();
    assert_eq!(page.frames.len(), 2);
    assert_eq!(page.frame, page.frames.last().copied());
    assert!(page.in_file);
    assert_eq!(text(Version::File), is("in the file"));
    assert_eq!(text(Version::Frame(page.frames[0])), is("first"));
    assert_eq!(text(Version::Frame(page.frames[1])), is("second"));
    assert_eq!(text(Version::Newest), is("second"));
    // A frame of another page, or none.
    assert!(
        model
            .look_at_version(1, Version::Frame(page.frames[0]))
            .is_err()
    );
    assert!(model.bytes(n, Version::Frame(999)).is_err());
    drop(db);
}

#[test]
fn a_damaged_page_says_which_cells_cannot_be_read() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("damaged");
    drop(make(
        &library,
        &path,
        "PRAGMA page_size=512; CREATE TABLE t(a); INSERT INTO t VALUES('a'),('b'),('c');",
    ));
    let mut bytes = fs::read(&path).unwrap();
    let second = 512 + 8 + 2;
    bytes[second] = 0xff;
    fs::write(&path, &bytes).unwrap();
    let page = model(&path).look_at(2).unwrap();
    let places: Vec<usize> = page.cells.iter().map(|entry| entry.index).collect();
    assert_eq!(places, [0, 2]);
    assert!(page.problems[0].starts_with("cell 1 is said to be at byte"));
    assert!(page.parts.iter().any(|part| part.what == ByteUse::Unknown));
}

#[test]
fn a_free_page_shows_what_was_in_it() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("remains");
    drop(make(
        &library,
        &path,
        "PRAGMA page_size=512; CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO b VALUES('gone');
         DROP TABLE b;",
    ));
    let mut bytes = fs::read(&path).unwrap();
    let opened = model(&path);
    // The first free page is the trunk of the list, which begins with numbers of its own.
    let free = opened.look_at(3).unwrap();
    assert_eq!(free.place.kind, PageKind::FreeTrunk);
    assert_eq!(free.remains, None);
    // A page that nothing leads to.
    bytes[512 * 2..512 * 3].copy_from_slice(&fs::read(&path).unwrap()[512..512 * 2]);
    bytes[32..40].fill(0);
    let a = &mut bytes[512 * 2..];
    a[..8].copy_from_slice(&[13, 0, 0, 0, 1, 1, 248, 0]);
    a[8..10].copy_from_slice(&504u16.to_be_bytes());
    a[504..512].copy_from_slice(&[6, 1, 2, 21, b'g', b'o', b'n', b'e']);
    fs::write(&path, &bytes).unwrap();
    let page = model(&path).look_at(3).unwrap();
    assert_eq!(page.place.kind, PageKind::Orphan);
    assert_eq!(page.remains, Some(PageKind::TableLeaf));
    assert_eq!(
        page.cells[0].record[0].value,
        RecordValue::Text("gone".to_owned())
    );
}

#[test]
fn every_key_is_found_whatever_its_order() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("order");
    let db = make(
        &library,
        &path,
        "PRAGMA page_size=512; PRAGMA encoding='UTF-16be';
         CREATE TABLE t(a TEXT, b INT, c);
         WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<400)
           INSERT INTO t SELECT CASE i%3 WHEN 0 THEN 'Word ' ELSE 'wORD ' END||(i*7919%97), i%7, i*0.5
           FROM n;
         CREATE INDEX i ON t(a COLLATE NOCASE DESC, b DESC, c);
         CREATE TABLE w(k TEXT COLLATE RTRIM, n, PRIMARY KEY(n DESC, k)) WITHOUT ROWID;
         INSERT INTO w SELECT a, c FROM t;
         CREATE INDEX other ON t(a COLLATE NOCASE);",
    );
    let model = model(&path);
    for name in ["i", "w", "other"] {
        let t = number(&model, name);
        let columns = model.columns_by(&library, t).unwrap();
        let order = columns::order(&columns).unwrap();
        let mut found = 0;
        for level in 0..model.trees[t].levels.len() {
            for n in model.level(t, level).unwrap() {
                for entry in model.look_at(n).unwrap().cells {
                    let key: Vec<RecordValue> = entry.record.into_iter().map(|f| f.value).collect();
                    let way = model
                        .way(t, &PathTarget::Key(key), &order)
                        .unwrap()
                        .unwrap();
                    assert_eq!((way.pages.last(), way.cell), (Some(&n), Some(entry.index)));
                    found += 1;
                }
            }
        }
        assert_eq!(found, 400, "{name}");
    }
    drop(db);
}

#[test]
fn sqlite_says_what_columns_are_called() {
    let (library, folder) = (stock(), folder());
    for (name, settings) in [
        ("plain", "PRAGMA page_size=512;"),
        (
            "utf16",
            "PRAGMA encoding='UTF-16le'; PRAGMA auto_vacuum=FULL;",
        ),
        (
            "wal",
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;",
        ),
    ] {
        let path = folder.path().join(name);
        let db = make(
            &library,
            &path,
            &format!(
                "{settings}
                 CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, twice AS (a||a), kept AS (a||1) STORED);
                 CREATE INDEX i ON t(a COLLATE NOCASE DESC, lower(kept));
                 CREATE TABLE \"it's <b>\"(id INT PRIMARY KEY, b);
                 CREATE TABLE w(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID;
                 CREATE TABLE long(a DEFAULT '{}');
                 CREATE TABLE gone(a); INSERT INTO gone VALUES(zeroblob(9000)); DROP TABLE gone;",
                "x".repeat(5000)
            ),
        );
        let opened = model(&path);
        let columns = |name: &str| {
            let columns = opened.columns_by(&library, number(&opened, name));
            columns.unwrap_or_else(|e| panic!("{name}: {e:#}"))
        };
        let names = |columns: &[Stored]| -> Vec<String> {
            let shown = |c: &Stored| c.name.clone().unwrap_or_else(|| "(expression)".to_owned());
            columns.iter().map(shown).collect()
        };
        let t = columns("t");
        assert_eq!(names(&t), ["id", "a", "kept"], "{}", path.display());
        assert!(t[0].is_rowid && !t[1].is_rowid);
        let i = columns("i");
        assert_eq!(names(&i), ["a", "(expression)", "rowid"]);
        let order = columns::order(&i).unwrap();
        assert_eq!(order.len(), 2);
        assert!(order[0].descending && order[0].collation == Collation::NoCase);
        let hostile = columns("it's <b>");
        assert_eq!(names(&hostile), ["id", "b"]);
        assert!(!hostile[0].is_rowid, "an INT PRIMARY KEY is no rowid");
        assert_eq!(names(&columns("w")), ["c", "a", "b"]);
        assert_eq!(names(&columns("long")), ["a"]);
        assert_eq!(names(&columns("sqlite_schema")).len(), 5);
        drop(db);
    }
}

#[test]
fn a_damaged_schema_gives_columns_or_a_sentence() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("schema");
    drop(make(
        &library,
        &path,
        "PRAGMA page_size=512; CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b);
         CREATE INDEX i ON t(a DESC); CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID;",
    ));
    let sound = fs::read(&path).unwrap();
    let mut random = SplitMix64(7);
    let (mut told, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut bytes = sound.clone();
        for _ in 0..4 {
            let at = 100 + random.below(412) as usize;
            bytes[at] = random.below(256) as u8;
        }
        fs::write(&path, &bytes).unwrap();
        let Ok(opened) = Model::open(&path) else {
            continue;
        };
        for t in 0..opened.trees.len() {
            match opened.columns_by(&library, t) {
                Ok(columns) => told += usize::from(!columns.is_empty()),
                Err(e) => refused += usize::from(!format!("{e:#}").is_empty()),
            }
        }
    }
    assert!(told > 0 && refused > 0, "{told} {refused}");
}
