//! Tables and queries whose searches of an index may be better than a scan, or worse: rows of
//! 50 to 700 bytes, indexes that find 0.1 to 20 % of them, side by side or scattered, and joins
//! that begin at a small table.

use fastrand::Rng;

use super::{chance, pick};
use crate::case::Step;
use crate::sql::Sql;

/// Different values of the columns a0, a1, ...: each is in 0.1 to 20 % of the rows.
const DIFFERENT: [usize; 5] = [1000, 200, 50, 12, 5];
/// About as many bytes have the rows of w0, w1, ...
const WIDTHS: [usize; 4] = [50, 150, 350, 700];
/// Primes: i*factor%n scatters row numbers.
const FACTORS: [usize; 3] = [7919, 104_729, 1_299_709];
/// Rows of the table `kind`.
const KINDS: usize = 20;
/// Different values of the column day.
const DAYS: usize = 2500;

/// Statements that make a database whose large tables have `rows` rows, and queries.
pub fn database(rng: &mut Rng, rows: usize, queries: usize) -> (Vec<String>, Vec<Step>) {
    let rows = rows.max(1000);
    let mut sql = Vec::new();
    let fill = |table: &str, rows: usize, values: &str| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) \
             INSERT INTO {table} SELECT {values} FROM n"
        )
    };
    sql.push("CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT)".into());
    sql.push(fill("kind", KINDS, "i, 'kind '||i"));
    // Refers to a kind, many rows of a large table refer to it.
    sql.push("CREATE TABLE part(id INTEGER PRIMARY KEY, kind INTEGER, lo INTEGER, hi INTEGER, name TEXT)".into());
    sql.push(fill(
        "part",
        rows / 10,
        &format!(
            "i, i*7%{KINDS}+1, i*50%1000, i*50%1000+i%9, 'part number '||i||hex(zeroblob(20))"
        ),
    ));
    sql.push("CREATE INDEX part_kind ON part(kind)".into());
    for (k, width) in WIDTHS.into_iter().enumerate() {
        let spread = |rng: &mut Rng, different: usize| {
            let at = match rng.u8(0..2) {
                0 => "(i-1)".to_string(),
                _ => format!("(i*{}%{rows})", scatter(rng, rows)),
            };
            format!("{at}*{different}/{rows}")
        };
        let mut values = vec!["i".to_string()];
        values.extend(DIFFERENT.map(|different| spread(rng, different)));
        let day = spread(rng, DAYS);
        let part = spread(rng, rows / 10);
        let word = spread(rng, 3000.min(rows));
        let pad = width.saturating_sub(45) / 2;
        values.push(format!("date('2015-01-01', ({day})||' days')"));
        values.push(format!("{part}+1"));
        values.push(format!("i*{}%11", pick(rng, &FACTORS)));
        values.push(format!(
            "CASE i%17 WHEN 0 THEN NULL ELSE i*{}%9973*0.01 END",
            pick(rng, &FACTORS)
        ));
        values.push(format!("'w'||({word})"));
        values.push(format!("hex(zeroblob({pad}))"));
        sql.push(format!(
            "CREATE TABLE w{k}(id INTEGER PRIMARY KEY, a0 INTEGER, a1 INTEGER, a2 INTEGER, a3 INTEGER, \
             a4 INTEGER, day TEXT, part INTEGER, g INTEGER, v REAL, word TEXT, pad TEXT)"
        ));
        sql.push(fill(&format!("w{k}"), rows, &values.join(", ")));
        for i in 0..DIFFERENT.len() {
            let more = *pick(rng, &["", "", "", ", day", ", g"]);
            sql.push(format!("CREATE INDEX w{k}_a{i} ON w{k}(a{i}{more})"));
        }
        for column in ["day", "part"] {
            sql.push(format!("CREATE INDEX w{k}_{column} ON w{k}({column})"));
        }
        // What one row in eight has, once: as returns of what was sold.
        sql.push(format!(
            "CREATE TABLE back{k}(w INTEGER PRIMARY KEY, kind INTEGER, amount REAL, note TEXT)"
        ));
        sql.push(fill(
            &format!("back{k}"),
            rows / 8,
            &format!(
                "i*8, i*{}%{KINDS}+1, i%1000*0.5, hex(zeroblob(15))",
                pick(rng, &FACTORS)
            ),
        ));
        sql.push(format!("CREATE INDEX back{k}_kind ON back{k}(kind)"));
    }
    let steps = (0..queries)
        .map(|_| Step::new(Sql::from(query(rng, rows))))
        .collect();
    (sql, steps)
}

fn scatter(rng: &mut Rng, rows: usize) -> usize {
    loop {
        let factor = *pick(rng, &FACTORS);
        if !rows.is_multiple_of(factor) {
            return factor;
        }
    }
}

/// Terms that an index finds rows by, of table `t`, and perhaps further ones.
fn term(rng: &mut Rng, t: &str) -> String {
    let i = rng.usize(0..DIFFERENT.len());
    let x = rng.usize(0..DIFFERENT[i]);
    let mut term = match rng.u8(0..8) {
        0..=3 => format!("{t}.a{i}={x}"),
        4 => {
            let y = x + rng.usize(0..1 + DIFFERENT[i] / 10);
            format!("{t}.a{i} BETWEEN {x} AND {y}")
        }
        5 => format!(
            "{t}.a{i} IN ({x}, {}, {})",
            (x + 3) % DIFFERENT[i],
            (x + 7) % DIFFERENT[i]
        ),
        _ => {
            let from = rng.usize(0..DAYS);
            let days = *pick(rng, &[1, 5, 30, 200, 500]);
            format!(
                "{t}.day>=date('2015-01-01', '{from} days') AND {t}.day<date('2015-01-01', '{} days')",
                from + days
            )
        }
    };
    if term.contains("date(") && chance(rng, 60) {
        // Literals are looked at when the statement is prepared.
        term = format!(
            "{t}.day BETWEEN '20{}-0{}-10' AND '20{}-0{}-20'",
            15 + x % 5,
            1 + x % 4,
            15 + x % 5 + x % 2,
            1 + x % 4 + x % 3
        );
    }
    match rng.u8(0..6) {
        0 => term + &format!(" AND {t}.g={}", x % 11),
        1 => term + &format!(" AND {t}.pad<>'' AND {t}.v>{}", x % 90),
        _ => term,
    }
}

fn query(rng: &mut Rng, rows: usize) -> String {
    let k = rng.usize(0..WIDTHS.len());
    let w = format!("w{k}");
    let kind = rng.usize(1..=KINDS);
    match rng.u8(0..22) {
        0..=4 => {
            let by = *pick(
                rng,
                &[
                    "g",
                    "word",
                    "day",
                    "word, day",
                    "g, a4",
                    "substr(day, 1, 7)",
                ],
            );
            let end = *pick(
                rng,
                &[
                    "",
                    " ORDER BY 2 DESC LIMIT 10",
                    " ORDER BY n DESC, 1 LIMIT 10 OFFSET 100",
                ],
            );
            format!(
                "SELECT {by}, count(*) AS n, sum(v) FROM {w} WHERE {} GROUP BY {by}{end}",
                term(rng, &w)
            )
        }
        5..=6 => {
            let what = *pick(
                rng,
                &[
                    "count(*), total(v)",
                    "max(v), min(word)",
                    "count(DISTINCT word)",
                    "avg(v), sum(length(pad))",
                ],
            );
            format!("SELECT {what} FROM {w} WHERE {}", term(rng, &w))
        }
        7..=9 => {
            let what = *pick(rng, &["*", "id, v, day", "word, g"]);
            let by = *pick(rng, &["v DESC", "day, id", "word", "g, v"]);
            let limit = *pick(rng, &["", " LIMIT 10", " LIMIT 1", " LIMIT 100 OFFSET 50"]);
            format!(
                "SELECT {what} FROM {w} WHERE {} ORDER BY {by}{limit}",
                term(rng, &w)
            )
        }
        10..=11 => format!(
            "SELECT g, sum(CASE WHEN b.w IS NULL THEN v ELSE v-amount END) FROM {w} LEFT JOIN back{k} b ON b.w={w}.id, kind \
             WHERE b.kind=kind.id AND kind.{} GROUP BY g ORDER BY 2 LIMIT 100",
            pick(
                rng,
                &[
                    format!("name='kind {kind}'"),
                    format!("id={kind}"),
                    "id<4".to_string()
                ]
            )
        ),
        12..=13 => format!(
            "SELECT kind.name, count(*), sum(v) FROM kind, part, {w} WHERE part.kind=kind.id AND {w}.part=part.id \
             AND kind.{} GROUP BY kind.name",
            pick(
                rng,
                &[
                    format!("name='kind {kind}'"),
                    format!("id={kind} AND part.id%7=3"),
                    "id<4".to_string()
                ]
            )
        ),
        14 => format!(
            "SELECT part.kind, count(*), max(v) FROM {w} JOIN part ON part.id={w}.part WHERE {} GROUP BY 1",
            term(rng, &w)
        ),
        15..=16 => {
            let first = format!("(SELECT count(*) FROM {w} WHERE {w}.part=part.id) AS n");
            let second = *pick(
                rng,
                &[
                    "",
                    ", (SELECT count(DISTINCT g) FROM $ WHERE $.part=part.id)",
                    ", (SELECT max(v) FROM $ WHERE $.part=part.id)",
                ],
            );
            let second = second.replace('$', &w);
            let only = *pick(rng, &["", "WHERE part.id%5=1", "WHERE part.kind=3"]);
            format!("SELECT id, {first}{second} FROM part {only} ORDER BY n DESC, id LIMIT 20")
        }
        17 => format!(
            "SELECT count(*) FROM part WHERE id<2000 AND EXISTS (SELECT 1 FROM json_each('[1,5,{kind}]') WHERE value=part.kind)"
        ),
        18 => format!(
            "SELECT kind.name, count(*) FROM kind JOIN part ON part.lo<=kind.id*10 AND part.hi>=kind.id*10 WHERE part.id<{} GROUP BY 1",
            (rows / 10).min(2000)
        ),
        19 => format!(
            "SELECT id, v, count(*) OVER () FROM {w} WHERE {} ORDER BY v LIMIT 20",
            term(rng, &w)
        ),
        20 => format!(
            "SELECT DISTINCT g, word FROM {w} WHERE {} ORDER BY 1, 2 LIMIT 50",
            term(rng, &w)
        ),
        _ => format!(
            "SELECT g, count(*) FROM {w} WHERE part IN (SELECT id FROM part WHERE kind={kind}{}) GROUP BY g",
            pick(rng, &["", " AND id%10=1"])
        ),
    }
}
