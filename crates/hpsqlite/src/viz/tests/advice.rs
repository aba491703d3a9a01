//! What is advised of files that are damaged, scattered for one reason or another, or without fault.

use std::path::Path;

use super::{folder, make, model, stock};
use crate::viz::advice;
use crate::viz::catalog;
use crate::viz::device::DISK;
use crate::viz::numbers;
use crate::viz::walk::Model;

/// What is advised of a model, in order.
fn advised(model: &Model) -> Vec<String> {
    let (trees, whole) = numbers::of(model, DISK);
    let schema = catalog::ask_by(&stock(), model).ok();
    let advice = advice::of(model, &trees, &whole, DISK, schema.as_ref());
    advice.iter().map(ToString::to_string).collect()
}

/// What is advised of a new database.
fn of(name: &str, sql: &str) -> Vec<String> {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join(name);
    drop(make(&library, &path, sql));
    advised(&model(&path))
}

/// Rows 1 to n.
fn rows(n: u32) -> String {
    format!("WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<{n})")
}

fn about<'a>(advice: &'a [String], part: &str) -> &'a str {
    let mut found = advice.iter().filter(|a| a.contains(part));
    let first = found.next();
    assert!(found.next().is_none(), "{part} twice: {advice:#?}");
    first.unwrap_or_else(|| panic!("nothing about {part}: {advice:#?}"))
}

fn place(advice: &[String], part: &str) -> usize {
    let found = advice.iter().position(|a| a.contains(part));
    found.unwrap_or_else(|| panic!("nothing about {part}: {advice:#?}"))
}

#[test]
fn a_damaged_file_is_to_be_restored_and_nothing_else() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("damaged");
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT); CREATE TABLE gone(s);
         {0} INSERT INTO t SELECT i*7919%100003, hex(zeroblob(50)) FROM c;
         {0} INSERT INTO gone SELECT hex(zeroblob(90)) FROM c; DROP TABLE gone;",
        rows(5000)
    );
    drop(make(&library, &path, &sql));
    assert!(advised(&model(&path)).len() > 1);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4 * 4096..5 * 4096].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let damaged = model(&path);
    let advice = advised(&damaged);
    assert_eq!(advice.len(), 1, "{advice:#?}");
    let (backup, recover) = (
        place_in(&advice[0], "backup"),
        place_in(&advice[0], ".recover"),
    );
    assert!(backup < recover, "{advice:#?}");
    assert!(advice[0].contains("do not VACUUM"), "{advice:#?}");
    let count = damaged.problems.count;
    let told = match count {
        1 => "1 problem was found".to_owned(),
        n => format!("{n} problems were found"),
    };
    assert!(advice[0].contains(&told), "{advice:#?}");
}

fn place_in(text: &str, part: &str) -> usize {
    text.find(part)
        .unwrap_or_else(|| panic!("no {part}: {text}"))
}

#[test]
fn full_leaves_in_free_pages_were_not_split_at_random() {
    // Rows in order into pages that a table gave back here and there: small rows, then a few a page.
    for (bytes, n) in [(50, 13_000), (400, 2_000)] {
        let advice = of(
            "reused",
            &format!(
                "CREATE TABLE old(id INTEGER PRIMARY KEY, s TEXT); CREATE TABLE new(id INTEGER PRIMARY KEY, s TEXT);
                 {0} INSERT INTO old SELECT i, hex(randomblob({bytes})) FROM c;
                 DELETE FROM old WHERE id*16/{n}%3=0 OR id%300<100;
                 DELETE FROM old WHERE id%300<200;
                 {1} INSERT INTO new SELECT i, hex(randomblob({bytes})) FROM c;",
                rows(n),
                rows(n * 2 / 3)
            ),
        );
        let about_new = advice
            .iter()
            .find(|a| a.contains("new is scattered") || a.contains("new are"));
        let words = about_new.unwrap_or_else(|| panic!("{bytes}: {advice:#?}"));
        assert!(words.contains("took free pages"), "{bytes}: {advice:#?}");
        assert!(
            !advice.iter().any(|a| a.contains("in no order, so pages")),
            "{advice:#?}"
        );
    }
    // Rows in no order split pages, whose halves have room.
    for (bytes, n) in [(50, 13_000), (400, 2_000)] {
        let advice = of(
            "random",
            &format!(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT);
                 {} INSERT INTO t SELECT i*7919%100003, hex(randomblob({bytes})) FROM c;",
                rows(n)
            ),
        );
        let words = about(&advice, "t is scattered");
        assert!(words.contains("keys came in no order"), "{bytes}: {words}");
        assert!(words.contains(" in place of "), "{words}");
    }
}

#[test]
fn leaves_in_order_give_no_reason_for_advice() {
    for bytes in [20, 700] {
        let advice = of(
            "order",
            &format!(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT); {}
                 INSERT INTO t SELECT i, hex(randomblob({bytes}+i%100)) FROM c;",
                rows(3000)
            ),
        );
        assert_eq!(advice, [""; 0]);
    }
}

#[test]
fn what_saves_most_comes_first_and_what_is_small_is_not_said() {
    let shop = |n| {
        format!(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p, s TEXT, n INT);
         CREATE TABLE small(id INTEGER PRIMARY KEY, p REFERENCES p);
         CREATE INDEX c_n ON c(n); CREATE INDEX c_ns ON c(n, s); CREATE UNIQUE INDEX small_p ON small(id, p);
         INSERT INTO p VALUES(1);
         {0} INSERT INTO c SELECT i, 1, hex(randomblob(100)), i*7919%10007 FROM c;
         {1} INSERT INTO small SELECT i, 1 FROM c;",
        rows(n),
        rows(n / 10)
    )
    };
    let advice = of("shop", &shop(10_000));
    let key = about(&advice, "begins with its foreign key (p)");
    assert!(
        key.starts_with("No index of c begins") && key.contains("of a cold scan"),
        "{key}"
    );
    let never = about(&advice, "ANALYZE has never run here");
    assert!(never.contains("read all of c, "), "{never}");
    let redundant = about(&advice, "The index c_n is the beginning of c_ns");
    assert!(redundant.contains("gives back"), "{redundant}");
    let order = ["foreign key", "ANALYZE has never", "The index c_n is"].map(|p| place(&advice, p));
    assert!(order.is_sorted(), "{advice:#?}");

    // The same, of fewer rows, beside what is more than a hundred times as large: nothing of it is worth a word.
    let advice = of(
        "large",
        &format!(
            "{} CREATE TABLE large(b BLOB); INSERT INTO large VALUES(zeroblob(50000000));",
            shop(1200)
        ),
    );
    let of_shop = |a: &&String| !a.contains("large");
    assert_eq!(advice.iter().filter(of_shop).count(), 0, "{advice:#?}");
}

#[test]
fn vacuum_comes_before_an_index_that_takes_less() {
    let advice = of(
        "free",
        &format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, s TEXT); CREATE TABLE gone(s);
             {0} INSERT INTO t SELECT i, i, hex(randomblob(100)) FROM c;
             CREATE INDEX one ON t(a); CREATE INDEX two ON t(a, s); ANALYZE;
             {0} INSERT INTO gone SELECT hex(randomblob(300)) FROM c; DROP TABLE gone;",
            rows(5000)
        ),
    );
    let order = ["VACUUM would give back", "The index one is"].map(|p| place(&advice, p));
    assert!(order.is_sorted(), "{advice:#?}");
    assert!(!advice.iter().any(|a| a.contains("ANALYZE")), "{advice:#?}");
}

#[test]
fn what_is_told_in_a_terminal_has_no_names_that_sqlite_made() {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("names");
    let sql = format!(
        "CREATE TABLE t(a TEXT PRIMARY KEY, s TEXT); {}
         INSERT INTO t SELECT hex(randomblob(20)), i FROM c;",
        rows(9000)
    );
    drop(make(&library, &path, &sql));
    let text = text_of(&path);
    assert!(text.contains("primary key of t is scattered"), "{text}");
    assert!(text.contains("ANALYZE has never run here"), "{text}");
    assert!(!text.contains("sqlite_autoindex"), "{text}");
    drop(make(
        &library,
        &folder.path().join("one"),
        "PRAGMA user_version=1",
    ));
    let text = text_of(&folder.path().join("one"));
    assert!(text.contains(" in 1 page of 4,096 bytes"), "{text}");
}

/// What `--text` prints.
fn text_of(path: &Path) -> String {
    let model = model(path);
    let (trees, whole) = numbers::of(&model, DISK);
    let schema = catalog::ask_by(&stock(), &model).ok();
    assert!(model.schema.set(schema).is_ok(), "nobody asked before");
    let figures = crate::viz::figures::Figures {
        advice: advice::of(&model, &trees, &whole, DISK, model.schema()),
        trees,
        whole,
        device: DISK,
    };
    let mut text = Vec::new();
    let selection = crate::viz::select::Selection::new(&model, &[], None).unwrap();
    crate::viz::show::numbers(&model, &figures, &selection, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}
