//! `hpsqlite why`: whether a statement is accelerated, why not, and what its steps took.

mod common;

use common::{Done, Place, Worker};

/// A place with x.db: sales of 60,000 rows, 12 shops, and `note` whose column `shop` is in no index.
fn sales() -> Place {
    let place = Place::new();
    let mut worker = Worker::on(&place, &place.path("x.db"));
    worker.sql("CREATE TABLE sale(id INTEGER PRIMARY KEY, shop INT, amount REAL, text TEXT)");
    worker.sql("CREATE TABLE shop(id INTEGER PRIMARY KEY, name TEXT)");
    worker.sql("CREATE TABLE note(shop INT, text TEXT)");
    worker.sql("CREATE INDEX sale_shop ON sale(shop)");
    worker.sql(
        "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<60000)
         INSERT INTO sale SELECT i, i%12, i*0.5, 'Some text that makes the table long '||i FROM c",
    );
    worker.sql("INSERT INTO shop SELECT DISTINCT shop, 'Shop '||shop FROM sale");
    worker.sql("INSERT INTO note SELECT shop, text FROM sale");
    worker.sql("CREATE TABLE small(a, b)");
    worker.sql("INSERT INTO small VALUES(1, 2), (1, 3)");
    place
}

fn why(place: &Place, sql: &str) -> Done {
    place.run(&["why", "x.db", sql])
}

/// The line of a step, as words.
fn step(done: &Done, what: &str) -> Vec<String> {
    let line = done.out.lines().find(|l| l.trim().starts_with(what));
    let line = line.unwrap_or_else(|| panic!("no step {what:?} in {done:#?}"));
    line.trim()
        .replacen(what, "", 1)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_accelerated_query_has_its_steps_with_rows_and_times() {
    let place = sales();
    let done = why(
        &place,
        "SELECT shop, sum(amount) FROM sale WHERE id > 30000 GROUP BY shop",
    )
    .expect(0);
    assert!(
        done.out.starts_with("Accelerated.\nThe first run took "),
        "{done:?}"
    );
    let words = step(&done, "sale -> groups");
    assert_eq!(words[1], "30,000", "rows that pass: {words:?}");
    assert!(["ms", "µs", "s"].contains(&words[3].as_str()), "{words:?}");
    let done = done
        .says("SQLite's own loops take ")
        .says("EXPLAIN QUERY PLAN\n  ");
    assert!(done.out.contains("VECTORIZED"), "{done:?}");
}

#[test]
fn columns_that_were_in_memory_are_told() {
    let place = sales();
    let done = why(
        &place,
        "SELECT shop, count(*), sum(length(text)) FROM sale NOT INDEXED GROUP BY shop",
    );
    let words = step(&done.expect(0), "sale -> groups");
    assert_eq!(
        words.last().unwrap(),
        "%",
        "all or a part, not none: {words:?}"
    );
}

#[test]
fn a_join_is_a_hash_table_and_what_reads_it() {
    let place = sales();
    let done = why(
        &place,
        "SELECT name, count(*), sum(length(text)) FROM sale JOIN shop ON shop.id = sale.shop GROUP BY name",
    )
    .expect(0);
    assert_eq!(step(&done, "shop -> a hash table")[..2], ["12", "12"]);
    assert_eq!(step(&done, "sale -> groups")[..2], ["60,000", "60,000"]);
}

#[test]
fn what_keeps_a_query_from_it_is_named_with_what_may_help() {
    let place = sales();
    for (sql, words) in [
        (
            "SELECT count(*) FROM sale s JOIN note n ON n.shop = s.shop AND s.id < 3 WHERE s.text = n.text",
            &["by no unique key", "CREATE UNIQUE INDEX"][..],
        ),
        (
            "SELECT abs(random()) % 5 r, count(*), sum(amount) FROM sale GROUP BY r",
            &[
                "the function random() gives another result each time",
                "(SELECT random())",
            ],
        ),
        (
            "SELECT b, count(*) FROM small GROUP BY b",
            &["the table is small"],
        ),
        (
            "SELECT count(*) FROM sale s FULL JOIN shop ON shop.id = s.shop",
            &["RIGHT and FULL JOIN are SQLite's"],
        ),
        (
            "SELECT value, count(*) FROM json_each('[1]') GROUP BY value",
            &["FROM has something else than tables"],
        ),
        (
            "SELECT * FROM sale WHERE id = 5",
            &["SQLite finds the rows by an index"],
        ),
    ] {
        let done = why(&place, sql);
        assert!(done.out.starts_with("Not accelerated: "), "{sql}: {done:?}");
        let done = done.expect(1);
        for part in words {
            assert!(done.out.contains(part), "{sql}: no {part:?} in {done:?}");
        }
    }
}

#[test]
fn a_statement_that_writes_is_not_run() {
    let place = sales();
    why(&place, "DELETE FROM sale WHERE length(text) > 5").says("it writes, so it was not run");
    let mut worker = Worker::on(&place, &place.path("x.db"));
    assert_eq!(worker.rows("SELECT count(*) FROM sale"), ["60000"]);
}

#[test]
fn a_second_statement_is_an_error_that_shows_it() {
    let place = sales();
    let first = "SELECT count(*) FROM sale";
    let long = format!("SELECT '{}'", "x".repeat(80));
    for (behind, shown) in [
        ("; SELECT count(*) FROM shop", "SELECT count(*) FROM shop"),
        (";SELEC 1;", "SELEC 1;"),
        (
            "; -- and\n/* then */;\tDELETE\nFROM sale",
            "DELETE FROM sale",
        ),
        (&format!("; {long}"), &format!("{}…", &long[..59])),
    ] {
        why(&place, &format!("{first}{behind}")).fails_with(&format!(
            "one statement is wanted, and behind the first one stands: {shown}"
        ));
    }
    let mut worker = Worker::on(&place, &place.path("x.db"));
    assert_eq!(worker.rows("SELECT count(*) FROM sale"), ["60000"]);
}

#[test]
fn comments_and_empty_statements_around_it_are_none() {
    let place = sales();
    let sum = "SELECT shop, sum(amount) FROM sale GROUP BY shop";
    for (before, behind) in [
        ("", ";"),
        (";/**/", " ; -- SELECT 1"),
        (" -- x\n", ";\n;/* y"),
    ] {
        let done = why(&place, &format!("{before}{sum}{behind}")).expect(0);
        assert!(done.out.starts_with("Accelerated.\n"), "{done:?}");
        assert!(done.out.contains("VECTORIZED"), "{done:?}");
    }
}

#[test]
fn what_cannot_be_looked_at() {
    let place = sales();
    why(&place, "SELECT nope FROM sale")
        .expect(2)
        .says("no such column: nope");
    for nothing in ["", " ; ", "/* nothing */"] {
        why(&place, nothing).fails_with("there is no statement");
    }
    place
        .run(&["why", "none.db", "SELECT 1"])
        .fails_with("there is no file none.db");
    let stock = place.path("libexec/hpsqlite/libsqlite3-stock.so");
    place
        .run(&["why", "x.db", "SELECT 1", "--lib", "stock"])
        .fails_with(&format!(
            "{} is not High Performance SQLite",
            stock.display()
        ));
    for word in ["off", "0", "no", "false"] {
        let mut command = place.command(&["why", "x.db", "SELECT count(*) FROM sale"]);
        let done = Done::of(&command.env("HPSQLITE", word).output().unwrap()).expect(1);
        assert_eq!(
            done.out, "Not accelerated: HPSQLITE in the environment is off.\n",
            "{word}"
        );
    }
}
