//! Tables and queries to measure time on: plainer data than elsewhere, of any
//! size, with the same queries.

use fastrand::Rng;

use super::query;
use super::schema::{Col, Table};
use super::spread::Spread;
use super::traits::{Trait, Traits};
use super::{chance, pick};
use crate::case::Step;

/// Statements that make a database with tables of `rows` rows, and queries.
pub fn database(rng: &mut Rng, rows: usize, queries: usize) -> (Vec<String>, Vec<Step>) {
    let (sql, tables) = tables(rng, rows);
    let steps = (0..queries).map(|_| query(rng, &tables)).collect();
    (sql, steps)
}

/// Makes three tables of `rows` rows: t0 without and t1 with indexes, and t2
/// WITHOUT ROWID. Gives the statements and what queries need to know.
fn tables(rng: &mut Rng, rows: usize) -> (Vec<String>, Vec<Table>) {
    let mut sql = Vec::new();
    let mut tables = Vec::new();
    for name in ["t0", "t1", "t2"] {
        let mut table = Table {
            key: Vec::new(),
            searched: Vec::new(),
            name: name.into(),
            columns: Vec::new(),
            rows,
            rowid: name != "t2",
            view: false,
            traits: match name {
                "t0" => Traits::default(),
                "t1" => Traits::default().with(Trait::Indexed),
                _ => Traits::default().with(Trait::WithoutRowid),
            },
        };
        let (mut definitions, mut values) = (Vec::new(), Vec::new());
        for i in 0..rng.usize(5..11) {
            let (spread, ty, value) = match i {
                0 => (
                    Spread::Below(rows),
                    "INTEGER PRIMARY KEY",
                    "i-1".to_string(),
                ),
                _ => column(rng, rows),
            };
            definitions.push(format!("c{i} {ty}"));
            values.push(value);
            let mut traits = Traits::default();
            if i == 0 && name != "t2" {
                traits.add(Trait::RowidName);
            }
            table.columns.push(Col {
                name: format!("c{i}"),
                spread,
                generated: false,
                traits,
            });
        }
        let tail = if name == "t2" { " WITHOUT ROWID" } else { "" };
        sql.push(format!(
            "CREATE TABLE {name}({}){tail}",
            definitions.join(", ")
        ));
        sql.push(format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) \
             INSERT INTO {name} SELECT {} FROM n",
            values.join(", ")
        ));
        if name == "t1" {
            sql.extend(indexes(rng, &table));
        }
        tables.push(table);
    }
    (sql, tables)
}

/// A column: how its values are spread, its type, and a formula of row number i.
pub fn column(rng: &mut Rng, rows: usize) -> (Spread, &'static str, String) {
    let factor = *pick(rng, &[1, 7, 7919, 104_729]);
    let different = *pick(rng, &[2, 5, 100, 1000, rows.max(10) / 10, rows]);
    let number = format!("i*{factor}%{different}");
    match rng.u8(0..10) {
        0..=2 => (Spread::Below(different), "INTEGER", number),
        3..=4 => (Spread::Decimals, "REAL", format!("({number})*0.37")),
        5 => (
            Spread::Prefixed(different),
            "TEXT",
            format!("'id'||substr('0000000000'||({number}), -10)"),
        ),
        6 => (
            Spread::Dates,
            "DATE",
            format!("date('1992-01-01', (i*{factor}%2500)||' days')"),
        ),
        7 => (
            Spread::Words(20),
            "TEXT",
            "substr('abzzABcatdog', 1+i%9, i%4)".into(),
        ),
        8 => (
            Spread::Mix(vec![Spread::Below(100), Spread::Decimals]),
            "NUMERIC",
            format!("CASE i%4 WHEN 0 THEN i%100 WHEN 1 THEN NULL ELSE ({number})*0.01 END"),
        ),
        _ => {
            let length = *pick(rng, &[10, 60, 300]);
            (
                Spread::Long(20),
                "TEXT",
                format!("substr(hex(zeroblob({length}/2)), 1, i%{length})"),
            )
        }
    }
}

fn indexes(rng: &mut Rng, table: &Table) -> Vec<String> {
    let mut column = || format!("c{}", rng.usize(1..table.columns.len()));
    vec![
        format!("CREATE INDEX x1 ON {}({})", table.name, column()),
        format!(
            "CREATE INDEX x2 ON {}({}, {})",
            table.name,
            column(),
            column()
        ),
        format!(
            "CREATE INDEX x3 ON {}({}) WHERE {} > 3",
            table.name,
            column(),
            column()
        ),
    ]
}

/// A query whose time says something: not one that writes, and none whose work
/// grows faster than its tables.
fn query(rng: &mut Rng, tables: &[Table]) -> Step {
    const LEFT_OUT: [Trait; 5] = [
        Trait::Join,
        Trait::Writing,
        Trait::Windowed,
        Trait::Random,
        Trait::Subquery,
    ];
    loop {
        let table = if chance(rng, 50) {
            0
        } else {
            rng.usize(0..tables.len())
        };
        let step = query::query(rng, &tables[table..=table]);
        if !LEFT_OUT.iter().any(|one| step.traits.has(*one)) {
            return step;
        }
    }
}
