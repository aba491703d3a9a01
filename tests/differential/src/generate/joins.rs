//! Joins to measure time on: stars and snowflakes, whose tables are found by unique keys.

use fastrand::Rng;

use super::query::Query;
use super::schema::{Col, Table};
use super::spread::Spread;
use super::traits::{Trait, Traits};
use super::{chance, large, pick};
use crate::case::Step;
use crate::cat;
use crate::sql::Sql;
use crate::value::Value;

/// Tables of a query.
const FEWEST: usize = 2;
const MOST: usize = 8;
/// Tables that others refer to.
const DIMENSIONS: usize = 7;
/// Rows of the smallest table.
const SMALLEST: usize = 100;
/// Primes: i*factor%n scatters row numbers, and takes each value below n once.
const FACTORS: [usize; 4] = [7919, 104_729, 1_299_709, 15_485_863];
/// The share of a table's rows that a filter leaves.
const SHARES: [f64; 9] = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0];
/// Where a table has no index for it, stock reads all of it for each row that asks what
/// EXISTS in it. So many rows may be read that way.
const UNINDEXED: usize = 10_000_000;

/// Indexes beside those that keys have.
#[derive(Clone, Copy, PartialEq)]
enum Indexes {
    None,
    /// Of references, and of columns that filters name.
    Plain,
    /// With more columns, so that many queries read nothing else.
    Covering,
}

/// A unique key.
struct Key {
    /// Types, and formulas in which @ is a number that each row has for itself.
    columns: Vec<(&'static str, &'static str)>,
    constraint: &'static str,
    without_rowid: bool,
    /// How values of its columns are spread.
    spread: Spread,
}

/// Columns that have the values of another table's key.
struct Reference {
    to: usize,
    columns: Vec<String>,
}

/// A table of the snowflake.
struct Place {
    table: Table,
    key: Key,
    references: Vec<Reference>,
    indexes: Indexes,
}

/// Statements that make a database with `rows` rows in its largest table, and queries.
pub fn database(rng: &mut Rng, rows: usize, queries: usize) -> (Vec<String>, Vec<Step>) {
    let mut snowflake = Snowflake::default();
    let largest = rng.usize(0..DIMENSIONS);
    for i in 0..DIMENSIONS {
        let indexes = *pick(rng, &[Indexes::None, Indexes::Plain, Indexes::Covering]);
        // What is looked up may be far larger than the rest: there stock's loops are good.
        let rows = if i == largest { rows } else { size(rng, rows) };
        // Of tables before it: snowflakes.
        let references = rng.usize(0..3).min(i);
        let key = key(rng, rows);
        snowflake.add(rng, &format!("d{i}"), rows, key, references, indexes);
    }
    let kinds = [Indexes::None, Indexes::Plain, Indexes::Covering];
    for (i, indexes) in kinds.into_iter().enumerate() {
        let rows = if chance(rng, 65) {
            rows
        } else {
            size(rng, rows)
        };
        let references = rng.usize(4..MOST);
        let key = key(rng, rows);
        snowflake.add(rng, &format!("f{i}"), rows, key, references, indexes);
    }
    let places = snowflake.places;
    let steps = (0..queries).map(|_| query(rng, &places)).collect();
    (snowflake.sql, steps)
}

/// A number of rows up to `most`, as often between 100 and 1,000 as between 1,000 and 10,000.
fn size(rng: &mut Rng, most: usize) -> usize {
    let least = SMALLEST.min(most) as f64;
    (least * (most as f64 / least).powf(rng.f64())) as usize
}

fn key(rng: &mut Rng, rows: usize) -> Key {
    const TEXT: &str = "'id'||substr('0000000000'||@, -10)";
    let (columns, spread) = match rng.u8(0..20) {
        0..=8 => (vec![("INTEGER", "@")], Spread::Below(rows)),
        // Too far apart for an array with a place for each.
        9..=10 => (vec![("INTEGER", "@*977-5")], Spread::Below(rows * 977)),
        11..=15 => (vec![("TEXT", TEXT)], Spread::Prefixed(rows)),
        16..=17 => (
            vec![("INTEGER", "@/7"), ("INTEGER", "@%7")],
            Spread::Below(rows / 7 + 1),
        ),
        _ => (
            vec![("TEXT", "'p'||(@%25)"), ("INTEGER", "@/25")],
            Spread::Below(rows / 25 + 1),
        ),
    };
    let without_rowid = chance(rng, 25);
    let primary = without_rowid || columns.len() > 1 || columns[0].0 == "INTEGER";
    Key {
        constraint: if primary || chance(rng, 30) {
            "PRIMARY KEY"
        } else {
            "UNIQUE"
        },
        columns,
        without_rowid,
        spread,
    }
}

/// A formula of row number i that gives each value below `rows` once.
fn scattered(rng: &mut Rng, rows: usize) -> String {
    let factors: Vec<usize> = FACTORS
        .into_iter()
        .filter(|f| !rows.is_multiple_of(*f))
        .collect();
    format!("(i*{}%{rows})", pick(rng, &factors))
}

/// A formula of row number i, 1 to `rows`, that gives numbers below `of`, or none.
fn referring(rng: &mut Rng, rows: usize, of: usize) -> String {
    // Some have no partner.
    let range = if chance(rng, 15) { of + of / 3 } else { of };
    let number = match rng.u8(0..10) {
        // As orders and their lines are: neighbours have the same.
        0..=2 => format!("((i-1)*{range}/{rows})"),
        3..=4 => {
            let number = scattered(rng, range);
            format!("({number}*{number}/{range})")
        }
        _ => scattered(rng, range),
    };
    if chance(rng, 15) {
        return format!("(CASE WHEN i%10<>3 THEN {number} END)");
    }
    number
}

/// The columns of one key or reference.
fn names(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![name.to_string()],
        _ => (0..count).map(|i| format!("{name}_{i}")).collect(),
    }
}

/// Tables, and the statements that make them.
#[derive(Default)]
struct Snowflake {
    places: Vec<Place>,
    sql: Vec<String>,
}

impl Snowflake {
    /// Adds a table. Its name tells how many rows it has, so a query that is printed does too.
    fn add(
        &mut self,
        rng: &mut Rng,
        name: &str,
        rows: usize,
        key: Key,
        references: usize,
        indexes: Indexes,
    ) {
        let name = format!("{name}_{rows}");
        let own = if chance(rng, 50) {
            "(i-1)".into()
        } else {
            scattered(rng, rows)
        };
        let mut columns: Vec<(String, &str, String, Spread)> = Vec::new();
        let mut group = |names: &[String], key: &Key, number: &str| {
            for (name, (ty, formula)) in names.iter().zip(&key.columns) {
                let value = formula.replace('@', number);
                columns.push((name.clone(), ty, value, key.spread.clone()));
            }
        };
        let keys = names("k", key.columns.len());
        group(&keys, &key, &own);
        let mut known = Vec::new();
        for i in 0..references {
            let to = rng.usize(0..DIMENSIONS.min(self.places.len()));
            let other = &self.places[to];
            let columns = names(&format!("r{i}"), other.key.columns.len());
            let number = referring(rng, rows, other.table.rows);
            group(&columns, &other.key, &number);
            known.push(Reference { to, columns });
        }
        // f for filters that leave a share of the rows, v to add up.
        let number = scattered(rng, rows);
        columns.push(("f".into(), "INTEGER", number, Spread::Below(rows)));
        let value = *pick(rng, &["i*7919%1000", "i*7919%10000*0.01"]);
        columns.push(("v".into(), "NUMERIC", value.into(), Spread::Below(1000)));
        for i in 0..rng.usize(2..6) {
            let (spread, ty, value) = large::column(rng, rows);
            columns.push((format!("c{i}"), ty, value, spread));
        }
        let mut parts: Vec<String> = columns.iter().map(|c| format!("{} {}", c.0, c.1)).collect();
        parts.push(format!("{}({})", key.constraint, keys.join(", ")));
        let tail = if key.without_rowid {
            " WITHOUT ROWID"
        } else {
            ""
        };
        let values: Vec<&str> = columns.iter().map(|c| c.2.as_str()).collect();
        self.sql
            .push(format!("CREATE TABLE {name}({}){tail}", parts.join(", ")));
        self.sql.push(format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{rows}) \
             INSERT INTO {name} SELECT {} FROM n",
            values.join(", ")
        ));
        for wanted in wanted(rng, indexes, &keys, &known) {
            // A plan then tells what an index has.
            self.sql.push(format!(
                "CREATE INDEX {name}_{} ON {name}({})",
                wanted.join("_"),
                wanted.join(", ")
            ));
        }
        let columns = columns.into_iter().map(|(name, _, _, spread)| Col {
            name,
            spread,
            generated: false,
            traits: Traits::default(),
        });
        let table = Table {
            name,
            columns: columns.collect(),
            rows,
            rowid: !key.without_rowid,
            view: false,
            key: Vec::new(),
            searched: Vec::new(),
            traits: Traits::default(),
        };
        self.places.push(Place {
            table,
            key,
            references: known,
            indexes,
        });
    }
}

/// The columns of each index.
fn wanted(
    rng: &mut Rng,
    indexes: Indexes,
    key: &[String],
    references: &[Reference],
) -> Vec<Vec<String>> {
    let with = |columns: &[String], more: &[&str]| -> Vec<String> {
        let more = more.iter().map(|name| name.to_string());
        columns.iter().cloned().chain(more).collect()
    };
    let all: Vec<String> = references.iter().flat_map(|r| r.columns.clone()).collect();
    match indexes {
        Indexes::None => Vec::new(),
        Indexes::Plain => {
            let mut out: Vec<_> = references.iter().map(|r| with(&r.columns, &[])).collect();
            for name in ["f", "c0"] {
                if chance(rng, 60) {
                    out.push(with(&[], &[name]));
                }
            }
            out
        }
        Indexes::Covering => {
            let of = references.iter().map(|r| with(&r.columns, &["f", "v"]));
            let mut out: Vec<_> = of.collect();
            out.push(["f".into()].into_iter().chain(with(&all, &["v"])).collect());
            out.push(["c0".into()].into_iter().chain(with(key, &["f"])).collect());
            out
        }
    }
}

// ---- queries

/// A table of a query.
struct Term<'a> {
    alias: String,
    place: &'a Place,
    /// Column by column, how it is reached; empty for the root.
    equal: Vec<String>,
    left: bool,
    /// Of its ON clause, or of WHERE if it has none.
    filter: Option<String>,
}

/// A join under aggregates, or at times one that shows rows, which stay with stock.
fn query(rng: &mut Rng, places: &[Place]) -> Step {
    let mut q = Query {
        rng,
        tables: &[],
        from: Vec::new(),
        binds: Vec::new(),
        narrow: true,
        traits: Traits::default(),
    };
    let (mut terms, mut conditions) = reach(&mut q, places);
    for _ in 0..*pick(q.rng, &[0, 1, 1, 1, 2, 2, 3]) {
        let at = if q.chance(40) {
            0
        } else {
            q.rng.usize(0..terms.len())
        };
        let term = &mut terms[at];
        // Two ranges of one table would mostly leave nothing.
        if term.filter.is_none() {
            term.filter = Some(share(&mut q, &term.alias, term.place));
        }
    }
    q.from = terms
        .iter()
        .map(|term| (term.alias.clone(), &term.place.table))
        .collect();
    if q.chance(25) {
        fail(&mut q, &mut terms, &mut conditions);
    }
    let source = source(&mut q, terms, &mut conditions);
    let sql = match q.rng.u8(0..20) {
        0 => rows(&mut q, source, conditions),
        1..=5 => q.aggregate_over(source, conditions),
        _ => plain(&mut q, source, conditions),
    };
    let (binds, traits) = (q.binds, q.traits);
    Step {
        binds,
        traits,
        ..Step::new(sql)
    }
}

/// Terms that fail for some rows, of one table or of several, in WHERE or ON.
fn fail<'a>(q: &mut Query<'a>, terms: &mut [Term<'a>], conditions: &mut Vec<Sql>) {
    for _ in 0..*pick(q.rng, &[1, 1, 2]) {
        let from = q.from.clone();
        let at = q.rng.usize(0..terms.len());
        if q.chance(65) {
            q.from = vec![from[at].clone()];
        }
        let term = q.failing_term();
        if terms[at].left && q.chance(60) {
            let more = term.render();
            let filter = terms[at].filter.take();
            terms[at].filter = Some(match filter {
                Some(other) if q.chance(50) => format!("{other} AND {more}"),
                Some(other) => format!("{more} AND {other}"),
                None => more,
            });
        } else {
            conditions.push(term);
        }
        q.from = from;
    }
}

/// The tables of a query, from one that refers to others along references, and tests of
/// what EXISTS.
fn reach<'a>(q: &mut Query<'a>, places: &'a [Place]) -> (Vec<Term<'a>>, Vec<Sql>) {
    let roots: Vec<&Place> = if q.chance(80) {
        places[DIMENSIONS..].iter().collect()
    } else {
        let all = places.iter();
        all.filter(|place| !place.references.is_empty()).collect()
    };
    let root = *pick(q.rng, &roots);
    let mut terms = vec![Term {
        alias: "x".into(),
        place: root,
        equal: Vec::new(),
        left: false,
        filter: None,
    }];
    let mut open: Vec<(usize, &Reference)> = root.references.iter().map(|r| (0, r)).collect();
    let mut tests = Vec::new();
    let count = q.rng.usize(FEWEST..MOST + 1);
    for number in 1..count {
        if number > 1 && q.chance(6) {
            tests.extend(referred(q, places, &terms, number));
            continue;
        }
        if open.is_empty() {
            break;
        }
        let (from, reference) = open.swap_remove(q.rng.usize(0..open.len()));
        let place = &places[reference.to];
        let exists = q.chance(8);
        let alias = format!("{}{number}", if exists { "e" } else { "y" });
        let other = &terms[from].alias;
        let mut equal = Vec::new();
        for (own, of) in names("k", place.key.columns.len())
            .iter()
            .zip(&reference.columns)
        {
            equal.push(if q.chance(50) {
                format!("{alias}.{own}={other}.{of}")
            } else {
                format!("{other}.{of}={alias}.{own}")
            });
        }
        if exists {
            tests.push(exist(q, &alias, place, &equal));
            continue;
        }
        // A table behind one that may have no row may have none either.
        let left = terms[from].left || q.chance(12);
        open.extend(place.references.iter().map(|r| (terms.len(), r)));
        terms.push(Term {
            alias,
            place,
            equal,
            left,
            filter: None,
        });
    }
    (terms, tests)
}

/// A test whether a row EXISTS that refers to a row of one of these tables.
fn referred(q: &mut Query, places: &[Place], terms: &[Term], number: usize) -> Option<Sql> {
    let term = pick(q.rng, terms);
    let alias = format!("e{number}");
    let mut found = Vec::new();
    for place in places {
        let rows = place.table.rows * terms[0].place.table.rows;
        if place.indexes == Indexes::None && rows > UNINDEXED {
            continue;
        }
        for reference in &place.references {
            if std::ptr::eq(&places[reference.to], term.place) {
                found.push((place, reference));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let (place, reference) = *pick(q.rng, &found);
    let own = names("k", term.place.key.columns.len());
    let equal = reference.columns.iter().zip(own);
    let equal: Vec<String> = equal
        .map(|(of, own)| format!("{alias}.{of}={}.{own}", term.alias))
        .collect();
    Some(exist(q, &alias, place, &equal))
}

fn exist(q: &mut Query, alias: &str, place: &Place, equal: &[String]) -> Sql {
    let mut inner = equal.to_vec();
    if q.chance(50) {
        inner.push(share(q, alias, place));
    }
    if q.chance(6) {
        // Of an integer that each table has.
        let least = q.rng.usize(0..place.table.rows);
        let at = q.rng.usize(0..=inner.len());
        let value = format!("CASE {alias}.f WHEN {least} THEN -9223372036854775807-1 ELSE 1 END");
        inner.insert(at, format!("abs({value})"));
        q.traits.add(Trait::Fails);
    }
    let name = &place.table.name;
    let inner = inner.join(" AND ");
    format!("EXISTS (SELECT 1 FROM {name} AS {alias} WHERE {inner})").into()
}

/// A filter that leaves a known share of the rows.
fn share(q: &mut Query, alias: &str, place: &Place) -> String {
    let rows = place.table.rows;
    let left = ((rows as f64 * pick(q.rng, &SHARES)).ceil() as usize).min(rows);
    let first = q.rng.usize(0..rows - left + 1);
    let mut value = |number: usize| q.given(Value::Int(number as i64)).render();
    match first % 3 {
        0 => format!("{alias}.f<{}", value(left)),
        1 => format!("{alias}.f>={}", value(rows - left)),
        _ => format!(
            "{alias}.f BETWEEN {} AND {}",
            value(first),
            value(first + left - 1)
        ),
    }
}

/// FROM; what it leaves to WHERE goes to `conditions`.
fn source(q: &mut Query, mut terms: Vec<Term>, conditions: &mut Vec<Sql>) -> Sql {
    // CROSS JOIN makes stock keep the order.
    let style = *pick(
        q.rng,
        &[
            ", ",
            ", ",
            ", ",
            ", ",
            " JOIN ",
            " JOIN ",
            " JOIN ",
            " CROSS JOIN ",
        ],
    );
    if style == ", " && terms.iter().all(|term| !term.left) && q.chance(50) {
        q.rng.shuffle(&mut terms);
    }
    let mut out = String::from(" FROM ");
    for (i, term) in terms.into_iter().enumerate() {
        if i > 0 {
            out += if term.left { " LEFT JOIN " } else { style };
        }
        out += &format!("{} AS {}", term.place.table.name, term.alias);
        let mut equal = term.equal;
        if term.left {
            equal.extend(term.filter);
        } else {
            conditions.extend(term.filter.map(Sql::from));
        }
        if i > 0 && (term.left || style == " JOIN ") {
            out += &format!(" ON {}", equal.join(" AND "));
        } else {
            conditions.extend(equal.into_iter().map(Sql::from));
        }
    }
    q.rng.shuffle(conditions);
    out.into()
}

/// Any column.
fn column(q: &mut Query) -> String {
    let (alias, table) = pick(q.rng, &q.from);
    format!("{alias}.{}", pick(q.rng, &table.columns).name)
}

/// A column to add up.
fn measure(q: &mut Query) -> String {
    if q.chance(25) {
        return column(q);
    }
    format!("{}.v", pick(q.rng, &q.from).0)
}

/// An aggregate as applications write it.
fn plain(q: &mut Query, source: Sql, mut conditions: Vec<Sql>) -> Sql {
    let keys = *pick(q.rng, &[0, 0, 0, 1, 1, 1, 1, 2, 2, 3]);
    let keys: Vec<String> = (0..keys).map(|_| column(q)).collect();
    let mut results = keys.clone();
    for _ in 0..*pick(q.rng, &[1, 1, 2, 3, 4]) {
        let value = measure(q);
        let call = match q.rng.u8(0..20) {
            0..=5 => "count(*)".into(),
            6 => format!("count(DISTINCT {value})"),
            7..=8 => format!("count({value})"),
            9..=10 => format!("avg({value})"),
            11 => format!("min({value})"),
            12 => format!("max({value})"),
            13 => format!("sum({value}*{})", measure(q)),
            14 => format!("sum(CASE WHEN {}>100 THEN {value} ELSE 0 END)", measure(q)),
            _ => format!("sum({value})"),
        };
        if !results.contains(&call) {
            results.push(call);
        }
    }
    if q.chance(15) {
        // Of any table, or of several: then it belongs where they meet.
        let depth = *pick(q.rng, &[0, 1, 2]);
        conditions.push(q.condition(depth));
    }
    let group = if keys.is_empty() {
        String::new()
    } else {
        let having = if q.chance(8) {
            " HAVING count(*)>2"
        } else {
            ""
        };
        let order = match q.rng.u8(0..10) {
            0 => format!(" ORDER BY {}", keys.join(", ")),
            1..=2 => format!(" ORDER BY {} DESC LIMIT 10", results.len()),
            _ => String::new(),
        };
        format!(" GROUP BY {}{having}{order}", keys.join(", "))
    };
    let results = results.join(", ");
    cat!["SELECT ", results, source, filter(conditions), group]
}

/// The first few rows: they stay with stock, and that must not take longer either.
fn rows(q: &mut Query, source: Sql, conditions: Vec<Sql>) -> Sql {
    let results = format!("SELECT {}, {}", column(q), column(q));
    cat![results, source, filter(conditions), " LIMIT 20"]
}

fn filter(conditions: Vec<Sql>) -> Sql {
    if conditions.is_empty() {
        return "".into();
    }
    cat![" WHERE ", Sql::list(" AND ", 1, conditions)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(seed: u64) -> Vec<String> {
        let (_, steps) = database(&mut Rng::with_seed(seed), 5000, 50);
        steps.iter().map(|step| step.sql.render()).collect()
    }

    #[test]
    fn a_seed_gives_the_same_queries_again() {
        assert_eq!(queries(1), queries(1));
        assert_ne!(queries(1), queries(2));
    }

    #[test]
    fn joins_have_two_to_eight_tables() {
        let tables = |sql: &String| {
            let aliases = ('1'..='7').filter(|n| {
                sql.contains(&format!(" AS y{n}")) || sql.contains(&format!(" AS e{n}"))
            });
            aliases.count() + 1
        };
        let counts: Vec<usize> = (1..20).flat_map(queries).map(|sql| tables(&sql)).collect();
        assert_eq!(counts.iter().min(), Some(&FEWEST));
        assert_eq!(counts.iter().max(), Some(&MOST));
    }
}
