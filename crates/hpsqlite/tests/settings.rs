//! What PRAGMAs of the library say is what holds, and why.

mod common;

use common::{Done, Place};

/// The value of `sql` on x.db, with HPSQLITE in the environment if there is a word for it.
fn value_with(place: &Place, hpsqlite: Option<&str>, sql: &str) -> String {
    let mut command = place.command(&["query", "x.db", sql]);
    match hpsqlite {
        Some(word) => command.env("HPSQLITE", word),
        None => command.env_remove("HPSQLITE"),
    };
    let done = Done::of(&command.output().unwrap()).expect(0);
    done.out.lines().skip(1).collect::<Vec<_>>().join("\n")
}

fn value(place: &Place, sql: &str) -> String {
    value_with(place, None, sql)
}

fn place() -> Place {
    let place = Place::new();
    place
        .run(&["query", "x.db", "--write", "CREATE TABLE t(a)"])
        .expect(0);
    place
}

#[test]
fn a_word_that_makes_no_sense_changes_nothing_and_the_value_says_so() {
    let place = place();
    for (set, word, holds) in [
        ("hp_threads=3", "hp_threads=banana", "3"),
        ("hp_threads=3", "hp_threads=-1", "3"),
        ("hp_threads=3", "hp_threads=65", "3"),
        ("hp_offload=force", "hp_offload=banana", "force"),
        ("hp_memory=1000", "hp_memory=much", "1000"),
        ("hp_extent=7", "hp_extent=banana", "7"),
        ("hp_columns=5000", "hp_columns=banana", "5000"),
        ("hp_readahead=off", "hp_readahead=banana", "off"),
        ("hp_log=on", "hp_log=banana", "on"),
    ] {
        assert_eq!(
            value(&place, &format!("PRAGMA {set}; PRAGMA {word}")),
            holds,
            "{word}"
        );
    }
}

#[test]
fn hpsqlite_is_off_by_each_word_for_it() {
    let place = place();
    for word in ["off", "OFF", "0", "no", "No", "false"] {
        let value = |sql| value_with(&place, Some(word), sql);
        assert_eq!(value("PRAGMA hp_offload"), "off", "{word}");
        assert_eq!(value("PRAGMA hp_offload=on"), "off", "{word}");
        assert_eq!(
            value("PRAGMA hp_columns"),
            "off: HPSQLITE in the environment is off",
            "{word}"
        );
    }
    for word in ["on", "1", "yes", "true", "", "offf"] {
        assert_eq!(
            value_with(&place, Some(word), "PRAGMA hp_offload"),
            "on",
            "{word}"
        );
    }
}

#[test]
fn columns_that_are_off_have_a_reason() {
    let place = place();
    assert_eq!(value(&place, "PRAGMA hp_columns"), "auto");
    for (before, reason) in [
        ("PRAGMA hp_columns=off", "off: PRAGMA hp_columns is off"),
        ("PRAGMA hp_columns=0", "off: PRAGMA hp_columns is off"),
        ("PRAGMA hp_offload=off", "off: PRAGMA hp_offload is off"),
    ] {
        assert_eq!(
            value(&place, &format!("{before}; PRAGMA hp_columns")),
            reason
        );
    }
    let memory = place
        .run(&["query", ":memory:", "PRAGMA hp_columns"])
        .expect(0);
    assert_eq!(memory.out, "hp_columns\noff: the database is in memory\n");
}

#[test]
fn statistics_are_of_what_has_happened() {
    let place = place();
    assert_eq!(value(&place, "PRAGMA hp_stats"), "");
    let counted = value(
        &place,
        "SELECT a, count(*) FROM t GROUP BY a; PRAGMA hp_stats",
    );
    assert_eq!(counted, "refused: small table,1");
    let all = value(
        &place,
        "SELECT a, count(*) FROM t GROUP BY a; PRAGMA hp_stats=full",
    );
    assert!(
        all.lines().count() > 20 && all.contains("refused: small table,1\n"),
        "{all}"
    );
    assert!(all.contains("taken over,0\n"), "{all}");
}
