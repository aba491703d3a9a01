//! `hpsqlite defrag`: pages are in order then, the file holds what it held, and has not grown.

mod common;

use common::Place;
use common::import::{dump, sql};

/// Rows in no order, in two tables that grow together.
const SCATTERED: &str = "PRAGMA synchronous=OFF; PRAGMA page_size=1024; \
    CREATE TABLE a(id INTEGER PRIMARY KEY, x, y); CREATE INDEX ay ON a(y); CREATE TABLE b(k PRIMARY KEY, z); \
    BEGIN; \
    CREATE TRIGGER t AFTER INSERT ON a BEGIN \
        INSERT INTO b VALUES(new.id, zeroblob(new.id%300)); END; \
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) \
        INSERT INTO a SELECT i*7919%20011, hex(zeroblob(i%40)), i*31%9973 FROM n; \
    DROP TRIGGER t; DELETE FROM a WHERE id%5=1; DELETE FROM b WHERE k%7=0; COMMIT";

fn bytes(place: &Place) -> u64 {
    place.path("a.db").metadata().unwrap().len()
}

#[test]
fn a_file_is_put_in_order() {
    let place = Place::new();
    for wal in [false, true] {
        let _ = std::fs::remove_file(place.path("a.db"));
        sql(&place, "a.db", SCATTERED);
        if wal {
            sql(&place, "a.db", "PRAGMA journal_mode=WAL");
        }
        let (was, size) = (dump(&place, "a.db"), bytes(&place));
        let done = place.run(&["defrag", "a.db", "--slice", "20"]).expect(0);
        assert!(done.out.contains(" moved in "), "{done:?}");
        assert_eq!(dump(&place, "a.db"), was);
        assert!(bytes(&place) <= size);
        let again = place.run(&["defrag", "a.db"]).expect(0);
        assert!(again.out.starts_with("it is in order: "), "{again:?}");
        let advice = place.run(&["viz", "a.db", "--text"]).expect(0).out;
        assert!(!advice.contains("scattered"), "{advice}");
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let place = Place::new();
    let missing = place.run(&["defrag", "none.db"]).expect(2);
    assert!(missing.err.contains("cannot open none.db"), "{missing:?}");
    assert!(!place.path("none.db").exists());
    std::fs::write(
        place.path("text"),
        "no database at all, but a text\n".repeat(100),
    )
    .unwrap();
    let text = place.run(&["defrag", "text"]).expect(2);
    assert!(text.err.contains("file is not a database"), "{text:?}");
    sql(&place, "a.db", SCATTERED);
    let stock = place.run(&["defrag", "a.db", "--lib", "stock"]).expect(2);
    assert!(stock.err.contains("no PRAGMA hp_defrag"), "{stock:?}");
    let slice = place.run(&["defrag", "a.db", "--slice", "0"]).expect(2);
    assert!(slice.err.contains("--slice"), "{slice:?}");
}
