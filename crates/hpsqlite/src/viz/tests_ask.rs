//! Questions to the model: ways, levels, versions, columns.

use std::fs;

use super::ask::Target;
use super::columns::{self, Stored};
use super::file::Version;
use super::page::What;
use super::record::{Collation, Value};
use super::tests::{EVERYTHING, folder, make, model, stock};
use super::walk::Model;

fn number(model: &Model, name: &str) -> usize {
    let named = |t: &super::tree::Tree| t.name == name;
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
                let way = model.way(t, &Target::Page(page), &[]).unwrap().unwrap();
                assert_eq!((way.pages.len(), way.cells.len()), (l + 1, l));
                assert_eq!(way.pages.last(), Some(&page));
            }
        }
        assert!(model.level(t, tree.levels.len()).unwrap().is_empty());
    }
    let plain = number(&model, "plain");
    let way = model.way(plain, &Target::Rowid(500), &[]).unwrap().unwrap();
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
    assert!(wrong(words, Target::Rowid(1)).contains("no rowids"));
    assert!(wrong(plain, Target::Key(vec![Value::Null])).contains("are rowids"));
    assert!(wrong(plain, Target::Page(1)).contains("does not belong"));
}

#[test]
fn keys_are_written_as_json() {
    let key =
        Target::key(r#"[null, 1, 1.5, "a", {"blob": "00fF"}, {"integer": "9007199254740993"}]"#);
    let values = vec![
        Value::Null,
        Value::Integer(1),
        Value::Real(1.5),
        Value::Text("a".to_owned()),
        Value::Blob(vec![0, 255]),
        Value::Integer(9_007_199_254_740_993),
    ];
    assert_eq!(key, Ok(Target::Key(values)));
    for wrong in [
        "",
        "[]",
        "1",
        "[[]]",
        r#"[{"blob": "0"}]"#,
        r#"[{"blob": "0é"}]"#,
        "[true]",
    ] {
        assert!(Target::key(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn integers_that_json_readers_would_round_are_texts() {
    let json = |value: Value| serde_json::to_string(&value).unwrap();
    let most = 9_007_199_254_740_991;
    assert_eq!(
        json(Value::Integer(-most)),
        format!(r#"{{"type":"integer","value":-{most}}}"#)
    );
    let beyond = r#"{"type":"integer","value":"9007199254740992"}"#;
    assert_eq!(json(Value::Integer(most + 1)), beyond);
    assert_eq!(
        json(Value::Real(f64::INFINITY)),
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
        if let Value::Text(text) = &shown {
            let inside = bytes.windows(text.len()).any(|w| w == text.as_bytes());
            assert!(inside, "{text}");
        }
        shown
    };
    let is = |s: &str| Value::Text(s.to_owned());
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
    assert!(page.parts.iter().any(|part| part.what == What::Unknown));
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
