//! Makes a case from a seed. The same seed gives the same case for ever, as
//! long as nobody changes this module.

mod aggregate;
mod expression;
pub mod joins;
pub mod large;
mod query;
mod schema;
pub mod searched;
mod spread;
pub mod traits;

use fastrand::Rng;

use crate::case::{Again, Case, Statement, Step};
use crate::library::Setup;
use crate::sql::Sql;
use schema::{Col, Table};
use spread::Spread;
use traits::{Trait, Traits};

/// Statements of a session.
const MOST_STEPS: usize = 40;
/// One seed of so many is a snowflake.
const SNOWFLAKES: u64 = 8;

fn chance(rng: &mut Rng, percent: u8) -> bool {
    rng.u8(0..100) < percent
}

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.usize(0..items.len())]
}

pub fn case(seed: u64) -> Case {
    let rng = &mut Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let file = chance(rng, 75);
    let mut schema = Vec::new();
    let traits = settings(rng, file, &mut schema);
    let session = if seed % SNOWFLAKES == SNOWFLAKES - 1 {
        snowflake(rng, &mut schema)
    } else {
        let tables = tables(rng, file, traits, &mut schema);
        session(rng, file, tables)
    };
    Case {
        seed,
        file,
        setup: setup(rng),
        schema,
        session,
        wide: chance(rng, 10),
    }
}

/// Tables that refer to each other by unique keys, some of them many leaves large, and
/// queries that join up to eight of them.
fn snowflake(rng: &mut Rng, out: &mut Vec<Statement>) -> Vec<Step> {
    let rows = *pick(rng, &[50, 300, 300, 1000, 4000]);
    let (schema, mut steps) = joins::database(rng, rows, MOST_STEPS);
    out.extend(schema.into_iter().map(|sql| Statement::Sql(sql.into())));
    if chance(rng, 30) {
        out.push(Statement::Sql("ANALYZE".into()));
    }
    for step in &mut steps {
        step.traits.add(Trait::Join);
    }
    steps
}

/// What an application may do to SQLite; mostly nothing.
fn setup(rng: &mut Rng) -> Setup {
    Setup {
        like: chance(rng, 3),
        nocase: chance(rng, 3),
        functions: chance(rng, 3),
        sum: chance(rng, 2),
        reserve: if chance(rng, 5) {
            *pick(rng, &[4, 8, 32, 255])
        } else {
            0
        },
        length: if chance(rng, 3) {
            *pick(rng, &[600, 4000, 20000])
        } else {
            0
        },
    }
}

/// What is set before a database has its first page; gives what all its
/// tables have in common.
fn settings(rng: &mut Rng, file: bool, out: &mut Vec<Statement>) -> Traits {
    let mut traits = Traits::default();
    let mut pragma = |text: String| out.push(Statement::Sql(format!("PRAGMA {text}").into()));
    if chance(rng, 60) {
        let sizes = [512, 512, 1024, 1024, 2048, 4096, 8192, 16384, 32768, 65536];
        pragma(format!("page_size={}", pick(rng, &sizes)));
    }
    if chance(rng, 8) {
        traits.add(Trait::Utf16);
        pragma(format!(
            "encoding='{}'",
            pick(rng, &["UTF-16le", "UTF-16be"])
        ));
    }
    if chance(rng, 30) {
        pragma(format!(
            "auto_vacuum={}",
            pick(rng, &["full", "incremental"])
        ));
    }
    if file && chance(rng, 35) {
        pragma("journal_mode=wal".into());
    }
    traits
}

/// The tables and views of all schemas, with their rows.
fn tables(rng: &mut Rng, file: bool, traits: Traits, out: &mut Vec<Statement>) -> Vec<Table> {
    let mut tables = Vec::new();
    // Temporary and attached schemas belong to a connection: only where each side builds its own.
    let place = if file { 0 } else { rng.u8(0..4) };
    if place == 2 {
        let target = if chance(rng, 50) {
            "':memory:'"
        } else {
            "'other.db'"
        };
        out.push(Statement::Sql(format!("ATTACH {target} AS other").into()));
    }
    for i in 0..*pick(rng, &[1, 1, 1, 2, 2, 3]) {
        let name = match place {
            1 => format!("temp.t{i}"),
            2 => format!("other.t{i}"),
            _ => format!("t{i}"),
        };
        let mut table = schema::table(rng, &name, traits, out);
        if chance(rng, 25) {
            for _ in 0..rng.usize(1..4) {
                let number = out.len();
                out.push(Statement::Sql(schema::index(rng, &mut table, number)));
            }
        }
        tables.push(table);
    }
    if chance(rng, 40) && place == 0 {
        for i in 0..rng.usize(1..4) {
            let table = schema::looked_up(rng, &format!("d{i}"), &tables[0], out);
            tables.push(table);
        }
    }
    if chance(rng, 15) && place == 0 {
        tables.push(view(rng, &tables[0], out));
    }
    let indexed = tables.iter().any(|t| t.traits.has(Trait::Indexed));
    if chance(rng, if indexed { 40 } else { 10 }) {
        out.push(Statement::Sql("ANALYZE".into()));
    }
    if chance(rng, 5) {
        out.push(Statement::Sql("VACUUM".into()));
    }
    tables
}

/// A view of two columns: plain rows, groups, different rows or the first few.
fn view(rng: &mut Rng, table: &Table, out: &mut Vec<Statement>) -> Table {
    let first = &table.columns[0];
    let last = &table.columns[table.columns.len() - 1];
    let (a, b, of) = (&first.name, &last.name, &table.name);
    let body = match rng.u8(0..5) {
        0 => format!("SELECT {a}, count({b}) FROM {of} GROUP BY {a}"),
        1 => format!("SELECT DISTINCT {a}, {b} FROM {of}"),
        2 => format!("SELECT {a}, {b} FROM {of} ORDER BY {b}, {a} LIMIT 50"),
        _ => format!("SELECT {a}, {b} FROM {of} WHERE {b} IS NOT NULL"),
    };
    out.push(Statement::Sql(
        format!("CREATE VIEW v0(a, b) AS {body}").into(),
    ));
    let col = |name: &str, of: &Col| Col {
        name: name.into(),
        ..of.clone()
    };
    Table {
        name: "v0".into(),
        columns: vec![col("a", first), col("b", last)],
        view: true,
        rowid: false,
        searched: Vec::new(),
        traits: table.traits.with(Trait::View),
        ..table.clone()
    }
}

/// Settings of the connection, then queries with changes and transactions
/// between them.
fn session(rng: &mut Rng, file: bool, mut tables: Vec<Table>) -> Vec<Step> {
    let mut steps = Vec::new();
    if chance(rng, 40) {
        steps.push(Step::new(connection_setting(rng).into()));
    }
    let lively = chance(rng, 45);
    for _ in 0..rng.usize(8..MOST_STEPS) {
        if lively && chance(rng, 30) {
            let second = file && chance(rng, 20);
            steps.push(Step {
                connection: usize::from(second),
                ..Step::new(change(rng, &mut tables))
            });
            continue;
        }
        let mut step = query::query(rng, &tables);
        if lively && file && chance(rng, 6) {
            step.connection = 1;
        }
        if chance(rng, 8) {
            let count = if lively { rng.usize(0..3) } else { 0 };
            let between = (0..count).map(|_| change(rng, &mut tables)).collect();
            step.again = Some(Again {
                between,
                binds: query::other_binds(rng, &step.binds),
            });
        }
        if lively && chance(rng, 6) {
            let inner = (0..rng.usize(1..3))
                .map(|_| change(rng, &mut tables))
                .collect();
            step.pause = Some((rng.u32(1..4), inner));
        }
        if chance(rng, 4) {
            step.stop = Some(rng.u32(1..4));
        }
        steps.push(step);
    }
    steps
}

fn connection_setting(rng: &mut Rng) -> String {
    let settings = [
        "PRAGMA cache_size=1",
        "PRAGMA cache_size=10",
        "PRAGMA case_sensitive_like=on",
        "PRAGMA reverse_unordered_selects=on",
        "PRAGMA journal_mode=memory",
        "PRAGMA journal_mode=truncate",
        "PRAGMA journal_mode=off",
        "PRAGMA locking_mode=exclusive",
        "PRAGMA mmap_size=1000000",
        "PRAGMA temp_store=memory",
        "PRAGMA query_only=on",
        "PRAGMA cell_size_check=on",
        "PRAGMA full_column_names=on",
        "PRAGMA short_column_names=off",
        "PRAGMA read_uncommitted=on",
    ];
    pick(rng, &settings).to_string()
}

/// A change of data, schema or transaction.
fn change(rng: &mut Rng, tables: &mut [Table]) -> Sql {
    let at = rng.usize(0..tables.len());
    let table = &mut tables[at];
    let columns = &table.columns;
    let target = columns[rng.usize(0..columns.len())].clone();
    let values = Spread::Mix(vec![
        target.spread.clone(),
        Spread::Edges,
        Spread::Reals,
        Spread::Long(3000),
        Spread::Odd,
    ]);
    let value = values.draw(rng, table.rows).literal();
    let name = table.name.clone();
    match rng.u8(0..24) {
        0..=3 => "BEGIN".into(),
        4 => "BEGIN IMMEDIATE".into(),
        5..=6 => "COMMIT".into(),
        7..=8 => "ROLLBACK".into(),
        9 => "SAVEPOINT s".into(),
        10 => "ROLLBACK TO s".into(),
        11 => "RELEASE s".into(),
        12..=15 => {
            let count = *pick(rng, &[1, 3, 50, 300]);
            table.rows += count;
            let numbers = format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{count})"
            );
            format!(
                "{numbers} INSERT OR IGNORE INTO {name}({}) SELECT {value} FROM n",
                target.name
            )
            .into()
        }
        16..=17 => format!(
            "UPDATE OR IGNORE {name} SET {} = {value} WHERE {}",
            target.name,
            some_rows(rng, table)
        )
        .into(),
        18..=19 => format!("DELETE FROM {name} WHERE {}", some_rows(rng, table)).into(),
        20 => {
            let column = Col {
                name: format!("d{}", rng.u8(0..5)),
                spread: Spread::Words(5),
                generated: false,
                traits: Traits::default(),
            };
            let sql = format!(
                "ALTER TABLE {name} ADD COLUMN {} TEXT DEFAULT 'b'",
                column.name
            );
            if !table.view && !table.columns.iter().any(|c| c.name == column.name) {
                table.columns.push(column);
            }
            sql.into()
        }
        21 if !table.view => {
            let number = 900 + rng.usize(0..4);
            schema::index(rng, table, number)
        }
        22 => pick(
            rng,
            &[
                "ANALYZE",
                "VACUUM",
                "PRAGMA wal_checkpoint(truncate)",
                // Not incremental_vacuum: it gives a row for each free page, and reserved
                // pages are free. tests/crash has it.
                "PRAGMA shrink_memory",
                "REINDEX",
            ],
        )
        .to_string()
        .into(),
        _ => format!("DROP INDEX IF EXISTS i{}", 900 + rng.usize(0..4)).into(),
    }
}

fn some_rows(rng: &mut Rng, table: &Table) -> String {
    let column = &table.columns[rng.usize(0..table.columns.len())].name;
    match rng.u8(0..4) {
        0 => format!("{column} IS NULL"),
        1 if table.rowid => format!("rowid < {}", rng.usize(0..400)),
        2 => format!("{column} > 3"),
        _ => "1".into(),
    }
}
