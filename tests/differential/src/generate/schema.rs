//! Random schemas and their rows.

use fastrand::Rng;

use super::spread::Spread;
use super::traits::{Trait, Traits};
use super::{chance, pick};
use crate::case::{Column, Statement};
use crate::cat;
use crate::sql::Sql;
use crate::value::Value;

/// What the query generator knows of a column.
#[derive(Clone, Debug)]
pub struct Col {
    pub name: String,
    pub spread: Spread,
    pub generated: bool,
    /// What a query has that reads it.
    pub traits: Traits,
}

/// What the query generator knows of a table.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Col>,
    pub rows: usize,
    pub rowid: bool,
    pub view: bool,
    /// A table made to be looked up: each column of its unique key, beside the column
    /// of the first table whose values it has.
    pub key: Vec<(String, String)>,
    /// Columns that an index begins with.
    pub searched: Vec<usize>,
    /// What every query has that reads it.
    pub traits: Traits,
}

impl Table {
    /// Its name without its schema.
    pub fn bare(&self) -> String {
        let name = self
            .name
            .split_once('.')
            .map_or(&*self.name, |(_, bare)| bare);
        name.to_string()
    }
}

const TYPES: [&str; 20] = [
    "INTEGER",
    "INTEGER",
    "INT",
    "BIGINT",
    "REAL",
    "REAL",
    "DOUBLE",
    "FLOAT",
    "TEXT",
    "TEXT",
    "TEXT",
    "VARCHAR(10)",
    "NUMERIC",
    "DECIMAL(10,2)",
    "BOOLEAN",
    "DATE",
    "BLOB",
    "",
    "",
    "ANY",
];
const STRICT_TYPES: [&str; 6] = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"];
const COLLATIONS: [&str; 5] = ["NOCASE", "RTRIM", "BINARY", "NOCASE", "BACKWARD"];

/// How many rows the tables get: mostly few, so that much is tried; sometimes
/// enough for several levels of a small-paged tree.
fn row_count(rng: &mut Rng) -> usize {
    match rng.u8(0..20) {
        0 => 0,
        1 => 1,
        2..=5 => rng.usize(2..12),
        6..=13 => rng.usize(12..120),
        14..=18 => rng.usize(120..600),
        _ => rng.usize(600..2500),
    }
}

fn column_count(rng: &mut Rng) -> usize {
    match rng.u8(0..20) {
        0 => rng.usize(14..20),
        1 => rng.usize(60..140),
        _ => rng.usize(1..9),
    }
}

/// A table `name` (qualified by its schema), with the statements that make and
/// fill it.
pub fn table(rng: &mut Rng, name: &str, traits: Traits, out: &mut Vec<Statement>) -> Table {
    let without_rowid = chance(rng, 12);
    let strict = chance(rng, 8);
    let mut table = Table {
        name: name.to_string(),
        columns: Vec::new(),
        rows: 0,
        rowid: !without_rowid,
        view: false,
        key: Vec::new(),
        searched: Vec::new(),
        traits: match without_rowid {
            true => traits.with(Trait::WithoutRowid),
            false => traits,
        },
    };
    let mut columns = Vec::new();
    let mut constraints = Vec::new();
    let count = column_count(rng);
    let rowid_column = (!without_rowid && chance(rng, 35)).then(|| rng.usize(0..count));
    for i in 0..count {
        let name = if chance(rng, 4) {
            format!("\"c {i}\"")
        } else {
            format!("c{i}")
        };
        let ty = if strict {
            pick(rng, &STRICT_TYPES)
        } else {
            pick(rng, &TYPES)
        };
        let mut col = Col {
            name: name.clone(),
            spread: Spread::random(rng, ty),
            generated: false,
            traits: Traits::default(),
        };
        let mut options = Vec::new();
        if rowid_column == Some(i) {
            options.push(Sql::from(" INTEGER PRIMARY KEY"));
            col.spread = Spread::Unique;
            col.traits.add(Trait::RowidName);
        } else {
            if !ty.is_empty() {
                options.push(if strict {
                    Sql::from(format!(" {ty}"))
                } else {
                    Sql::opt(format!(" {ty}").into())
                });
            }
            if chance(rng, 25) {
                let collation = *pick(rng, &COLLATIONS);
                if collation == "BACKWARD" {
                    col.traits.add(Trait::UserCollation);
                }
                options.push(Sql::opt(format!(" COLLATE {collation}").into()));
            }
            if chance(rng, 8) {
                options.push(Sql::opt(" NOT NULL DEFAULT 7".into()));
            }
            if chance(rng, 3) && !without_rowid {
                options.push(Sql::opt(" UNIQUE".into()));
                table.traits.add(Trait::Indexed);
            }
            if i > 0 && chance(rng, 10) {
                let of = rng.usize(0..i);
                let other = &table.columns[of].name;
                let formula = match rng.u8(0..11) {
                    0 => format!("{other}+1"),
                    1 => format!("{other}||'x'"),
                    2 => format!("abs({other})"),
                    3 => format!("{other} IS NULL"),
                    4 => format!("length({other})"),
                    5 => format!("substr({other},1,4)"),
                    6 => format!("CASE WHEN {other}>2 THEN {other} ELSE 'few' END"),
                    7 => format!("same({other})"),
                    8 => format!("{other}*0.1"),
                    9 => format!("CAST({other} AS TEXT)"),
                    _ => format!("upper({other})"),
                };
                // SQLite reads freed memory (OP_TypeCheck) when a query shows a virtual column
                // of a STRICT table while the schema changes.
                let kind = if strict {
                    "STORED"
                } else {
                    *pick(rng, &["VIRTUAL", "STORED"])
                };
                options.push(Sql::opt(format!(" AS ({formula}) {kind}").into()));
                col.generated = true;
                col.traits.join(table.columns[of].traits);
                if kind == "VIRTUAL" {
                    col.traits.add(Trait::Virtual);
                }
            }
        }
        columns.push(Column {
            name,
            definition: Sql::Cat(options),
        });
        table.columns.push(col);
    }
    if without_rowid {
        let keys: Vec<Sql> = (0..rng.usize(1..=count.min(3)))
            .map(|i| format!("c{i}").into())
            .collect();
        for (i, key) in keys.iter().enumerate() {
            table.columns[i].name = key.render();
            columns[i].name = key.render();
            table.columns[i].generated = false;
            table.columns[i].traits = Traits::default();
            columns[i].definition = if strict {
                " ANY".into()
            } else {
                Sql::opt(" NUMERIC".into())
            };
        }
        table.columns[0].spread = Spread::Unique;
        constraints.push(cat!["PRIMARY KEY(", Sql::list(",", 1, keys), ")"]);
    }
    let tail = match (strict, without_rowid) {
        (true, true) => " STRICT, WITHOUT ROWID",
        (true, false) => " STRICT",
        (false, true) => " WITHOUT ROWID",
        (false, false) => "",
    };
    out.push(Statement::Create {
        head: format!("CREATE TABLE {name}"),
        columns,
        constraints,
        tail: tail.into(),
    });
    let total = row_count(rng);
    let total = if count > 50 { total.min(60) } else { total };
    let early = if chance(rng, 25) {
        rng.usize(0..=total)
    } else {
        total
    };
    insert(rng, &mut table, early, out);
    if early < total {
        for i in 0..rng.usize(1..3) {
            add_column(rng, &mut table, count + i, strict, out);
        }
        insert(rng, &mut table, total - early, out);
    }
    if chance(rng, 7) && count < 20 {
        bulk(rng, &mut table, out);
    }
    disturb(rng, &table, out);
    table
}

/// A table `name` with a unique key that has values of columns of `of`, under its own types and
/// collations, so that a join finds some of them.
pub fn looked_up(rng: &mut Rng, name: &str, of: &Table, out: &mut Vec<Statement>) -> Table {
    let width = if chance(rng, 25) { 2 } else { 1 };
    let without_rowid = chance(rng, 15);
    let rowid = width == 1 && !without_rowid && chance(rng, 30);
    let mut columns = Vec::new();
    let mut known = Vec::new();
    let mut key = Vec::new();
    let mut from = Vec::new();
    for i in 0..width + 2 {
        let column = if i < width {
            format!("k{i}")
        } else {
            format!("v{}", i - width)
        };
        let source = pick(rng, &of.columns).clone();
        let ty = if rowid && i == 0 {
            "INTEGER"
        } else {
            *pick(rng, &TYPES)
        };
        let mut definition = vec![Sql::from(format!(" {ty}"))];
        if rowid && i == 0 {
            definition.push(" PRIMARY KEY".into());
        } else if chance(rng, 25) {
            let collation = *pick(rng, &["NOCASE", "RTRIM", "BINARY"]);
            definition.push(Sql::opt(format!(" COLLATE {collation}").into()));
        }
        if i < width {
            key.push((column.clone(), source.name.clone()));
        }
        from.push(source.name.clone());
        known.push(Col {
            name: column.clone(),
            generated: false,
            ..source
        });
        columns.push(Column {
            name: column,
            definition: Sql::Cat(definition),
        });
    }
    let names: Vec<&str> = key.iter().map(|(column, _)| column.as_str()).collect();
    let constraint = match (rowid, without_rowid || chance(rng, 40)) {
        (true, _) => vec![],
        (_, true) => vec![format!("PRIMARY KEY({})", names.join(",")).into()],
        _ => vec![format!("UNIQUE({})", names.join(",")).into()],
    };
    let all: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    out.push(Statement::Create {
        head: format!("CREATE TABLE {name}"),
        columns,
        constraints: constraint,
        tail: if without_rowid { " WITHOUT ROWID" } else { "" }.into(),
    });
    // Not many: where types differ stock has no use for the key.
    let part = *pick(
        rng,
        &[
            " LIMIT 200",
            " WHERE length(1||k)%3>0 LIMIT 200",
            " LIMIT 20",
        ],
    );
    let shown: Vec<String> = (0..from.len())
        .map(|i| {
            format!(
                "{} AS {}",
                from[i],
                if i == 0 { "k".into() } else { format!("f{i}") }
            )
        })
        .collect();
    out.push(Statement::Sql(
        format!(
            "INSERT OR IGNORE INTO {name}({}) SELECT * FROM (SELECT {} FROM {}){part}",
            all.join(","),
            shown.join(", "),
            of.name
        )
        .into(),
    ));
    Table {
        name: name.into(),
        columns: known,
        rows: of.rows,
        rowid: !without_rowid,
        view: false,
        key,
        searched: Vec::new(),
        traits: of.traits,
    }
}

/// Thousands of rows, made by formulas: several batches, runs of pages, levels
/// of the tree, and groups enough for the hash table to grow.
fn bulk(rng: &mut Rng, table: &mut Table, out: &mut Vec<Statement>) {
    let count = *pick(rng, &[1500, 5000, 20000]);
    let used: Vec<&Col> = table.columns.iter().filter(|c| !c.generated).collect();
    let mut value = |col: &Col| {
        let (a, b) = (rng.usize(1..9999), *pick(rng, &[2, 7, 50, 1000, 100_000]));
        match rng.u8(0..16) {
            _ if col.traits.has(Trait::RowidName) => "NULL".into(),
            0..=2 => format!("i*{a}%{b}"),
            3 => format!("i*{a}%{b}*0.37"),
            4 => format!("'k'||(i*{a}%{b})"),
            5 => format!(
                "CASE i%5 WHEN 0 THEN i*{a}%{b} WHEN 1 THEN i*{a}%{b}*1.0 WHEN 2 THEN ''||(i%{b}) ELSE NULL END"
            ),
            6 => format!("i-{a}"),
            7 => format!("i*{a}*100000000000000"),
            8 => format!("CASE WHEN i%{b} THEN 'w'||(i%9) ELSE hex(zeroblob(i%700)) END"),
            9 => format!("CASE WHEN i>{count}/2 THEN i%{b} ELSE i*0.5 END"),
            10 => format!("substr('abcdefghijklmnopqrstuvwxyz', 1+i*{a}%{b}%26, i%20)"),
            11 => format!("date('1992-01-01', (i*{a}%2500)||' days')"),
            12 => format!("printf('id%010d', i*{a}%{b})"),
            13 => format!("CASE i%7 WHEN 3 THEN 1e16*(i%3-1) ELSE i%{b}*0.01 END"),
            14 => format!("(i*{a}%3-1)*(4611686018427387904-i%{b})"),
            _ => "i".into(),
        }
    };
    let values: Vec<String> = used.iter().map(|col| value(col)).collect();
    let names: Vec<&str> = used.iter().map(|col| col.name.as_str()).collect();
    out.push(Statement::Sql(
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{count}) \
             INSERT OR IGNORE INTO {}({}) SELECT {} FROM n",
            table.name,
            names.join(","),
            values.join(",")
        )
        .into(),
    ));
    table.rows += count;
}

/// More rows, as a statement that knows its rows.
pub fn insert(rng: &mut Rng, table: &mut Table, count: usize, out: &mut Vec<Statement>) {
    if count == 0 {
        return;
    }
    let nulls: Vec<u8> = table
        .columns
        .iter()
        .map(|_| *pick(rng, &[0, 0, 5, 30, 90]))
        .collect();
    let used: Vec<usize> = (0..table.columns.len())
        .filter(|&i| !table.columns[i].generated)
        .collect();
    let rows = (0..count)
        .map(|r| {
            used.iter()
                .map(|&i| match &table.columns[i].spread {
                    Spread::Unique => Spread::Unique.draw(rng, table.rows + r),
                    _ if chance(rng, nulls[i]) => Value::Null,
                    spread => spread.draw(rng, table.rows + r),
                })
                .collect()
        })
        .collect();
    table.rows += count;
    out.push(Statement::Insert {
        table: table.name.clone(),
        columns: used
            .iter()
            .map(|&i| table.columns[i].name.clone())
            .collect(),
        rows,
    });
}

/// ALTER TABLE … ADD COLUMN, mostly with a default that old rows show.
fn add_column(rng: &mut Rng, table: &mut Table, i: usize, strict: bool, out: &mut Vec<Statement>) {
    let name = format!("c{i}");
    let ty = if strict {
        pick(rng, &STRICT_TYPES)
    } else {
        pick(rng, &TYPES)
    };
    let spread = Spread::random(rng, ty);
    let default = spread.draw(rng, 0);
    let (mut generated, mut traits) = (false, Traits::default());
    let option = match rng.u8(0..6) {
        0 => Sql::from(""),
        1 if !strict => {
            generated = true;
            traits = table.columns[0].traits.with(Trait::Virtual);
            Sql::opt(format!(" AS ({} || 1) VIRTUAL", table.columns[0].name).into())
        }
        2 => Sql::opt(format!(" NOT NULL DEFAULT {}", pick(rng, &["0", "'x'", "1.5"])).into()),
        _ => match &default {
            Value::Text(_) | Value::Blob(_) if default.literal().starts_with("CAST") => {
                " DEFAULT 'd'".into()
            }
            Value::Int(_) | Value::Real(_) => {
                Sql::opt(format!(" DEFAULT ({})", default.literal()).into())
            }
            _ => Sql::opt(format!(" DEFAULT {}", default.literal()).into()),
        },
    };
    out.push(Statement::Sql(cat![
        format!("ALTER TABLE {} ADD COLUMN {name} {ty}", table.name),
        option
    ]));
    table.columns.push(Col {
        name,
        spread,
        generated,
        traits,
    });
}

/// Sometimes deletes, changes and drops, which leave holes and free pages.
fn disturb(rng: &mut Rng, table: &Table, out: &mut Vec<Statement>) {
    let mut sql = |text: String| out.push(Statement::Sql(text.into()));
    let name = &table.name;
    let column = &table.columns[rng.usize(0..table.columns.len())].name;
    if chance(rng, 20) && table.rowid {
        sql(format!(
            "DELETE FROM {name} WHERE rowid % {} = 1",
            rng.u8(2..9)
        ));
    }
    if chance(rng, 15) {
        let value = Spread::Mix(vec![Spread::Long(800), Spread::Reals, Spread::Odd])
            .draw(rng, 0)
            .literal();
        let rows = if table.rowid {
            format!(" WHERE rowid % {} = 0", rng.u8(2..9))
        } else {
            String::new()
        };
        sql(format!(
            "UPDATE OR IGNORE {name} SET {column} = {value}{rows}"
        ));
    }
    // Rowids of every length, of several in one page, and negative ones
    if chance(rng, 15) && table.rowid {
        let factor = pick(rng, &["-1", "97", "30011", "1048576", "1099511627776"]);
        let rows = match rng.u8(0..3) {
            0 => format!(" WHERE rowid % {} = 0", rng.u8(2..9)),
            1 => format!(" WHERE rowid > {}", rng.u8(0..200)),
            _ => String::new(),
        };
        sql(format!(
            "UPDATE OR IGNORE {name} SET rowid = rowid * {factor}{rows}"
        ));
    }
    if chance(rng, 4) && table.columns.len() > 1 {
        sql(format!("ALTER TABLE {name} DROP COLUMN {column}"));
    }
}

/// CREATE INDEX, of one of the usual sorts.
pub fn index(rng: &mut Rng, table: &mut Table, number: usize) -> Sql {
    table.traits.add(Trait::Indexed);
    let (schema, bare) = table.name.split_once('.').unwrap_or(("", &table.name));
    let schema = if schema.is_empty() {
        String::new()
    } else {
        format!("{schema}.")
    };
    let mut keys = Vec::new();
    // As many keys as may cover a query.
    for _ in 0..rng.usize(1..5) {
        let number = rng.usize(0..table.columns.len());
        if keys.is_empty() {
            table.searched.push(number);
        }
        let column = &table.columns[number].name;
        let key = match rng.u8(0..20) {
            0 => format!("{column}+0"),
            1 => format!("substr({column},1,4)"),
            2 => format!("lower({column})"),
            _ => column.clone(),
        };
        let collation = if chance(rng, 15) {
            format!(" COLLATE {}", pick(rng, &COLLATIONS))
        } else {
            String::new()
        };
        keys.push(format!("{key}{collation}{}", pick(rng, &["", "", " DESC"])).into());
    }
    let last = &table.columns[table.columns.len() - 1].name;
    let partial = match rng.u8(0..20) {
        0..=1 => format!(" WHERE {} IS NOT NULL", table.columns[0].name),
        2 => format!(" WHERE {last} > 2"),
        _ => String::new(),
    };
    cat![
        format!("CREATE INDEX {schema}i{number} ON {bare}("),
        Sql::list(",", 1, keys),
        ")",
        Sql::opt(partial.into())
    ]
}
