//! Random queries, mostly over one table: the shapes and their clauses.

use fastrand::Rng;

use super::expression::COMPARISONS;
use super::schema::{Col, Table};
use super::spread::Spread;
use super::traits::{Trait, Traits};
use super::{chance, pick};
use crate::case::Step;
use crate::cat;
use crate::sql::Sql;
use crate::value::Value;

const DIRECTIONS: [&str; 7] = [
    "",
    "",
    " DESC",
    " ASC",
    " DESC NULLS LAST",
    " NULLS LAST",
    " NULLS FIRST",
];

/// Builds one query: the tables in sight, and the parameters so far.
pub struct Query<'a> {
    pub rng: &'a mut Rng,
    pub tables: &'a [Table],
    /// The table (and its alias) whose columns expressions name.
    pub from: Vec<(String, &'a Table)>,
    pub binds: Vec<Value>,
    /// Keep to what the library takes over?
    pub narrow: bool,
    /// What the query uses so far.
    pub traits: Traits,
}

/// A random query with its parameters.
pub fn query(rng: &mut Rng, tables: &[Table]) -> Step {
    let narrow = chance(rng, 65);
    let mut q = Query {
        rng,
        tables,
        from: Vec::new(),
        binds: Vec::new(),
        narrow,
        traits: Traits::default(),
    };
    let table = q.table();
    let sql = match q.rng.u8(0..40) {
        15..=17 => q.select(table),
        18..=19 if q.may(Trait::Rows) => q.rows(table),
        20 if q.may(Trait::LoneCount) => q.count(table),
        21..=22 if q.may(Trait::Join) => q.join(),
        23..=25 if q.may(Trait::Compound) => q.compound(table),
        26..=28 if q.may(Trait::Nested) => q.nested(table),
        29 if q.may(Trait::Nested) => q.arms(table),
        30..=31 if q.may(Trait::Wrapped) => q.wrapped(table),
        32 if q.may(Trait::Writing) => q.writing(table),
        33 if q.may(Trait::Windowed) => q.windowed(table),
        13..=14 if q.may(Trait::Ranked) => q.ranked(table),
        34..=35 if q.may(Trait::Distinct) => q.distinct(table),
        36..=37 if q.may(Trait::Top) => q.ordered(table, true),
        38 if q.may(Trait::Sorted) => q.ordered(table, false),
        _ => q.aggregate(table),
    };
    let (binds, traits) = (q.binds, q.traits);
    Step {
        binds,
        traits,
        ..Step::new(sql)
    }
}

/// Other values for the parameters of a query, of any type.
pub fn other_binds(rng: &mut Rng, binds: &[Value]) -> Vec<Value> {
    let mixed = Spread::Mix(vec![
        Spread::Small,
        Spread::Edges,
        Spread::Reals,
        Spread::NumericText,
        Spread::Odd,
    ]);
    binds
        .iter()
        .map(|v| match rng.u8(0..4) {
            0 => v.clone(),
            1 => Value::Null,
            _ => mixed.draw(rng, 0),
        })
        .collect()
}

/// What a query begins with.
fn select(distinct: &'static str, results: Vec<Sql>, source: Sql, filter: Sql) -> Sql {
    cat![
        "SELECT ",
        Sql::opt(distinct.into()),
        Sql::list(", ", 1, results),
        source,
        filter
    ]
}

impl<'a> Query<'a> {
    fn table(&mut self) -> &'a Table {
        let tables = self.tables;
        if self.narrow
            && self.chance(90)
            && let Some(best) = tables.iter().find(|t| !t.traits.refused())
        {
            return best;
        }
        &tables[self.rng.usize(0..tables.len())]
    }

    pub fn chance(&mut self, percent: u8) -> bool {
        chance(self.rng, percent)
    }

    /// May the query have this trait? If so it has it from now on.
    pub fn may(&mut self, one: Trait) -> bool {
        if self.narrow && one.refused() {
            return false;
        }
        self.traits.add(one);
        true
    }

    /// Expressions name the columns of this table from now on.
    fn look_at(&mut self, table: &'a Table) {
        self.traits.join(table.traits);
        self.from = vec![(table.bare(), table)];
    }

    // ---- clauses

    fn source(&mut self, table: &Table) -> Sql {
        let hint = match self.rng.u8(0..30) {
            0 => " NOT INDEXED",
            _ => "",
        };
        cat![" FROM ", table.name.as_str(), Sql::opt(hint.into())]
    }

    fn filter(&mut self, percent: u8) -> Sql {
        if !self.chance(percent) {
            return "".into();
        }
        let depth = *pick(self.rng, &[0, 1, 1, 2, 3]);
        let mut terms = vec![self.condition(depth)];
        self.may_fail(&mut terms);
        Sql::opt(cat![" WHERE ", Sql::list(" AND ", 1, terms)])
    }

    /// Some terms fail, before or after others.
    pub fn may_fail(&mut self, terms: &mut Vec<Sql>) {
        while self.chance(6) {
            let at = self.rng.usize(0..=terms.len());
            terms.insert(at, self.failing_term());
        }
    }

    /// The same, after these terms.
    fn filter_with(&mut self, percent: u8, mut terms: Vec<Sql>) -> Sql {
        if terms.is_empty() {
            return self.filter(percent);
        }
        if self.chance(percent) {
            let depth = *pick(self.rng, &[0, 1, 1, 2, 3]);
            terms.push(self.condition(depth));
        }
        self.may_fail(&mut terms);
        cat![" WHERE ", Sql::list(" AND ", 1, terms)]
    }

    /// A value to group, sort or compare rows by: mostly a column.
    fn key(&mut self) -> Sql {
        let depth = *pick(self.rng, &[0, 0, 0, 1, 2]);
        let key = if self.chance(80) && depth == 0 {
            self.column()
        } else {
            self.value(depth)
        };
        if self.chance(5) && self.may(Trait::Collate) {
            let collation = self.collation();
            return Sql::expr(cat![key, " COLLATE ", collation]);
        }
        key
    }

    fn direction(&mut self) -> &'static str {
        DIRECTIONS[self.rng.usize(0..DIRECTIONS.len())]
    }

    fn limit(&mut self, percent: u8) -> Sql {
        if !self.chance(percent) {
            return "".into();
        }
        let mut count = *pick(self.rng, &["1", "2", "5", "0", "-1", "20", "1000"]);
        if self.chance(2) {
            count = "abs(-9223372036854775807-1)";
        }
        let offset = if self.chance(30) {
            let skipped = *pick(self.rng, &[0, 1, 2, 3, 10, 100]);
            Sql::opt(format!(" OFFSET {skipped}").into())
        } else {
            "".into()
        };
        Sql::opt(cat![" LIMIT ", count, offset])
    }

    /// ORDER BY as GROUP BY has it, or by aggregates, ordinals, anything.
    fn order(&mut self, keys: &[Sql], aggregates: &[Sql]) -> Sql {
        if !self.chance(35) {
            return "".into();
        }
        let mut terms = Vec::new();
        if !keys.is_empty() && self.chance(55) {
            let same = self.chance(50);
            let first = self.direction();
            for key in keys {
                let way = if same { first } else { self.direction() };
                terms.push(cat![key.clone(), way]);
            }
            if self.chance(20) {
                terms.pop();
            }
        } else {
            for _ in 0..self.rng.usize(1..3) {
                let term = match self.rng.u8(0..4) {
                    0 => Sql::expr("1"),
                    1 => self.value(1),
                    _ => pick(self.rng, aggregates).clone(),
                };
                let collation = if self.chance(8) {
                    " COLLATE NOCASE"
                } else {
                    ""
                };
                terms.push(cat![term, Sql::opt(collation.into()), self.direction()]);
            }
        }
        if terms.is_empty() {
            return "".into();
        }
        Sql::opt(cat![" ORDER BY ", Sql::list(", ", 1, terms)])
    }

    // ---- SELECTs over one table

    /// Something that is finished within one step: groups, DISTINCT, a sort.
    fn select(&mut self, table: &'a Table) -> Sql {
        match self.rng.u8(0..10) {
            5..=6 if self.may(Trait::Distinct) => self.distinct(table),
            7..=8 if self.may(Trait::Top) => self.ordered(table, true),
            9 if self.may(Trait::Sorted) => self.ordered(table, false),
            _ => self.aggregate(table),
        }
    }

    /// The main thing: SELECT keys, aggregates … GROUP BY keys.
    fn aggregate(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let source = self.source(table);
        let searched = if self.chance(40) {
            self.search(table)
        } else {
            None
        };
        match searched {
            Some(term) if self.chance(70) => self.searched(source, term),
            term => self.aggregate_over(source, term.into_iter().collect()),
        }
    }

    /// Plain aggregates of rows that an index may lead to: the order of rows does not show.
    fn searched(&mut self, source: Sql, term: Sql) -> Sql {
        let count = self.rng.usize(0..3);
        let keys: Vec<Sql> = (0..count).map(|_| self.column()).collect();
        let mut results = keys.clone();
        for _ in 0..self.rng.usize(1..4) {
            let call = *pick(
                self.rng,
                &["count", "sum", "avg", "total", "min", "max", "sum"],
            );
            results.push(cat![call, "(", self.column(), ")"]);
        }
        self.traits.add(if keys.is_empty() {
            Trait::LoneMinMax
        } else {
            Trait::Groups
        });
        let filter = self.filter_with(40, vec![term]);
        let order = self.order(&keys, &results[count..]);
        let grouped = match keys.is_empty() {
            true => "".into(),
            false => cat![" GROUP BY ", Sql::list(", ", 1, keys)],
        };
        cat![select("", results, source, filter), grouped, order]
    }

    /// A term by which an index may be searched.
    fn search(&mut self, table: &'a Table) -> Option<Sql> {
        if table.searched.is_empty() {
            return None;
        }
        let number = *pick(self.rng, &table.searched);
        // A column may have been dropped since.
        let col = table.columns.get(number)?;
        let name = self.name(&table.bare(), col);
        let term = match self.rng.u8(0..6) {
            0 => {
                let items = (0..3).map(|_| self.likely(col)).collect();
                cat![name, " IN (", Sql::list(",", 1, items), ")"]
            }
            1 => {
                let low = self.likely(col);
                cat![name, " BETWEEN ", low, " AND ", self.likely(col)]
            }
            _ => {
                let operator = *pick(self.rng, &["=", "=", "<", "<=", ">", ">="]);
                cat![name, format!(" {operator} "), self.likely(col)]
            }
        };
        Some(Sql::expr(cat!["(", term, ")"]))
    }

    /// An aggregate over a FROM clause whose tables are in `self.from`.
    /// `terms` are of its WHERE clause.
    pub fn aggregate_over(&mut self, source: Sql, mut terms: Vec<Sql>) -> Sql {
        while self.chance(15) && self.may(Trait::Subquery) {
            terms.extend(self.related());
        }
        let count = *pick(self.rng, &[0, 0, 1, 1, 1, 1, 2, 2, 3, 4]);
        let mut keys = Vec::new();
        for _ in 0..count {
            let key = self.key();
            keys.push(if self.chance(5) { self.constant() } else { key });
        }
        let mut shown: Vec<Sql> = Vec::new();
        let mut grouped: Vec<Sql> = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            match self.rng.u8(0..10) {
                0 => {
                    shown.push(cat![key.clone(), format!(" AS k{i}")]);
                    grouped.push(Sql::expr(format!("k{i}")));
                }
                1 if shown.len() == i => {
                    shown.push(key.clone());
                    grouped.push(Sql::expr((i + 1).to_string()));
                }
                2 => grouped.push(key.clone()),
                _ => {
                    shown.push(key.clone());
                    grouped.push(key.clone());
                }
            }
        }
        let mut calls = *pick(self.rng, &[1, 1, 2, 2, 3, 4, 6]);
        if keys.is_empty() && calls == 1 && !self.may(Trait::LoneMinMax) {
            calls = 2;
        }
        let mut aggregates: Vec<Sql> = Vec::new();
        for _ in 0..calls {
            let depth = *pick(self.rng, &[0, 0, 1, 2]);
            aggregates.push(self.aggregate_call(depth));
        }
        self.traits.add(if keys.is_empty() {
            Trait::OneRow
        } else {
            Trait::Groups
        });
        let mut results = shown.clone();
        for call in &aggregates {
            let dressed = match self.rng.u8(0..12) {
                0 => Sql::expr(cat!["(", call.clone(), "+1)"]),
                1 => Sql::expr(cat!["round(", call.clone(), ",2)"]),
                2 => Sql::expr(cat!["typeof(", call.clone(), ")"]),
                _ => call.clone(),
            };
            results.push(if self.chance(10) {
                cat![dressed, " AS v"]
            } else {
                dressed
            });
        }
        if self.chance(25) {
            // Bare columns: from the row of a lone min() or max(), else from a group's first row.
            results.push(self.value(0));
        }
        if self.chance(15) {
            self.rng.shuffle(&mut results);
        }
        let distinct = if self.chance(5) { "DISTINCT " } else { "" };
        let filter = self.filter_with(60, terms);
        let group = if grouped.is_empty() {
            "".into()
        } else {
            cat![" GROUP BY ", Sql::list(", ", 1, grouped.clone())]
        };
        let having = if self.chance(25) && !grouped.is_empty() {
            let terms = *pick(self.rng, &[1, 1, 1, 2, 3]);
            let terms = (0..terms).map(|_| self.having(&aggregates)).collect();
            Sql::opt(cat![" HAVING ", Sql::list(" AND ", 1, terms)])
        } else {
            "".into()
        };
        let order = self.order(&grouped, &aggregates);
        let limit = self.limit(15);
        cat![
            select(distinct, results, source, filter),
            Sql::opt(group),
            having,
            order,
            limit
        ]
    }

    /// A term of HAVING.
    fn having(&mut self, aggregates: &[Sql]) -> Sql {
        let subject = if self.chance(70) {
            pick(self.rng, aggregates).clone()
        } else {
            self.aggregate_call(1)
        };
        let op = *pick(self.rng, &COMPARISONS);
        if self.chance(20) {
            cat![self.constant(), op, subject]
        } else {
            cat![subject, op, self.constant()]
        }
    }

    fn results(&mut self) -> Vec<Sql> {
        let count = *pick(self.rng, &[1, 1, 2, 2, 3, 5]);
        (0..count).map(|_| self.key()).collect()
    }

    /// SELECT DISTINCT without an aggregate.
    fn distinct(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let results = self.results();
        let source = self.source(table);
        let filter = self.filter(50);
        let order = self.order(&results, &results);
        let few = self.chance(20) && self.may(Trait::DistinctFew);
        let limit = if few { self.limit(100) } else { "".into() };
        cat![
            "SELECT DISTINCT ",
            Sql::list(", ", 1, results),
            source,
            filter,
            order,
            limit
        ]
    }

    /// Rows in an order, all of them or the first few.
    fn ordered(&mut self, table: &'a Table, top: bool) -> Sql {
        self.look_at(table);
        let mut results = self.results();
        if self.chance(25) && !table.view {
            results = vec!["*".into()];
            self.every_column(table);
        }
        let source = self.source(table);
        let filter = self.filter(50);
        let mut terms = Vec::new();
        for _ in 0..*pick(self.rng, &[1, 1, 1, 2, 2, 3]) {
            let key = self.key();
            terms.push(cat![key, self.direction()]);
        }
        let limit = if top { self.limit(100) } else { "".into() };
        cat![
            "SELECT ",
            Sql::list(", ", 1, results),
            source,
            filter,
            " ORDER BY ",
            Sql::list(", ", 1, terms),
            limit
        ]
    }

    fn every_column(&mut self, table: &Table) {
        for column in &table.columns {
            self.traits.join(column.traits);
        }
    }

    /// Nothing that needs all rows first: stock's code at any rate.
    fn rows(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let results = self.results();
        let source = self.source(table);
        let filter = self.filter(70);
        let limit = self.limit(40);
        cat![
            "SELECT ",
            Sql::list(", ", 1, results),
            source,
            filter,
            limit
        ]
    }

    fn count(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let filter = self.filter(50);
        cat!["SELECT count(*) FROM ", table.name.as_str(), filter]
    }

    // ---- SELECTs made of others

    /// An aggregate over the first table and others that are looked up by their keys.
    fn star(&mut self) -> Sql {
        let tables = self.tables;
        let found: Vec<&'a Table> = tables.iter().filter(|t| !t.key.is_empty()).collect();
        self.from = vec![("x".into(), &tables[0])];
        self.traits.join(tables[0].traits);
        let mut source = vec![Sql::from(format!(" FROM {} AS x", tables[0].name))];
        let mut terms = Vec::new();
        // Without its index stock looks at all rows for each.
        let small = tables[0].rows <= 40;
        for i in 0..self.rng.usize(1..5) {
            let table = *pick(self.rng, &found);
            let name = format!("y{i}");
            let mut equal = Vec::new();
            for (column, of) in &table.key {
                let other = if small && self.chance(15) {
                    self.value(0)
                } else {
                    Sql::expr(format!("x.{of}"))
                };
                let own = format!("{name}.{column}");
                equal.push(match self.rng.u8(if small { 0 } else { 3 }..12) {
                    0 => cat![own, "=", other, " COLLATE NOCASE"],
                    1 => cat![own, "=+", other],
                    2 => cat![other, " IS ", own],
                    3..=6 => cat![other, "=", own],
                    _ => cat![own, "=", other],
                });
            }
            if self.chance(15) {
                let inner = Sql::list(" AND ", 1, equal);
                let verb = if self.chance(85) {
                    "EXISTS"
                } else {
                    "NOT EXISTS"
                };
                let more = if self.chance(40) {
                    let of = pick(self.rng, &table.columns).name.clone();
                    cat![format!(" AND {name}.{of} > "), self.constant()]
                } else {
                    "".into()
                };
                terms.push(cat![
                    verb,
                    format!(" (SELECT 1 FROM {} AS {name} WHERE ", table.name),
                    inner,
                    Sql::opt(more),
                    ")"
                ]);
                continue;
            }
            let on = Sql::list(" AND ", 1, equal);
            let left = self.chance(30);
            self.from.push((name.clone(), table));
            let on = if self.chance(15) {
                let depth = *pick(self.rng, &[0, 0, 1]);
                cat![on, Sql::opt(cat![" AND ", self.condition(depth)])]
            } else {
                on
            };
            if !left && self.chance(50) {
                source.push(format!(", {} AS {name}", table.name).into());
                terms.push(match small && self.chance(15) {
                    true => {
                        let (a, b) = (self.condition(0), self.condition(0));
                        cat!["((", on.clone(), " AND ", a, ") OR (", on, " AND ", b, "))"]
                    }
                    false => on,
                });
            } else {
                let kind = if left { " LEFT JOIN " } else { " JOIN " };
                source.push(cat![kind, format!("{} AS {name} ON ", table.name), on]);
            }
        }
        if self.chance(30) {
            return self.joined(Sql::Cat(source), terms);
        }
        self.aggregate_over(Sql::Cat(source), terms)
    }

    /// Rows of a join, with a test of one of its tables, as they come or in some order.
    fn joined(&mut self, source: Sql, mut terms: Vec<Sql>) -> Sql {
        terms.push(self.condition(0));
        let results: Vec<Sql> = (0..*pick(self.rng, &[1, 2, 3]))
            .map(|_| self.column())
            .collect();
        let filter = self.filter_with(20, terms);
        let order = match self.rng.u8(0..4) {
            0 => cat![" ORDER BY ", self.key(), self.direction()],
            _ => "".into(),
        };
        let limit = self.limit(30);
        let distinct = match self.chance(10) && self.may(Trait::Distinct) {
            true => "DISTINCT ",
            false => "",
        };
        cat![
            select(distinct, results, source, filter),
            Sql::opt(order),
            limit
        ]
    }

    /// An aggregate over a join of two small tables.
    fn join(&mut self) -> Sql {
        let few = self.tables[0].rows <= 700;
        if few && self.tables.iter().any(|t| !t.key.is_empty()) && self.chance(80) {
            return self.star();
        }
        let small: Vec<&'a Table> = self.tables.iter().filter(|t| t.rows <= 300).collect();
        if small.is_empty() {
            return self.aggregate(&self.tables[0]);
        }
        if self.chance(35) {
            return self.partners(&small);
        }
        let (a, b) = (*pick(self.rng, &small), *pick(self.rng, &small));
        let kind = *pick(
            self.rng,
            &[
                " JOIN ",
                " LEFT JOIN ",
                " JOIN ",
                ", ",
                " CROSS JOIN ",
                " RIGHT JOIN ",
                " FULL JOIN ",
            ],
        );
        self.from = vec![("x".into(), a), ("y".into(), b)];
        let on = if kind == ", " {
            "".into()
        } else {
            let (left, right) = (
                &a.columns[self.rng.usize(0..a.columns.len())],
                &b.columns[self.rng.usize(0..b.columns.len())],
            );
            cat![format!(" ON x.{} = y.{}", left.name, right.name)]
        };
        let source = cat![
            " FROM ",
            a.name.as_str(),
            " AS x",
            kind,
            b.name.as_str(),
            " AS y",
            Sql::opt(on)
        ];
        self.aggregate_over(source, Vec::new())
    }

    /// Aggregates of the rows that a LEFT JOIN finds for each row or group of another table.
    fn partners(&mut self, small: &[&'a Table]) -> Sql {
        const CALLS: [&str; 8] = ["count", "count", "sum", "total", "avg", "min", "max", "max"];
        let (a, b) = (*pick(self.rng, small), *pick(self.rng, small));
        let mut on = Vec::new();
        for _ in 0..*pick(self.rng, &[1, 1, 1, 2]) {
            let (left, right) = (pick(self.rng, &a.columns), pick(self.rng, &b.columns));
            on.push(match self.rng.u8(0..8) {
                0 => cat![format!("y.{} = x.{} COLLATE NOCASE", right.name, left.name)],
                1..=3 => cat![format!("x.{} = y.{}", left.name, right.name)],
                _ => cat![format!("y.{} = x.{}", right.name, left.name)],
            });
        }
        self.from = vec![("y".into(), b)];
        if self.chance(30) {
            on.push(self.condition(0));
        }
        let calls: Vec<Sql> = (0..*pick(self.rng, &[1, 1, 2, 3]))
            .map(|_| match self.rng.u8(0..6) {
                0 => "count(*)".into(),
                _ => {
                    let name = *pick(self.rng, &CALLS);
                    Sql::expr(cat![name, "(", self.column(), ")"])
                }
            })
            .collect();
        self.from = vec![("x".into(), a)];
        if self.chance(15) {
            on.push(self.condition(0));
        }
        let mut keys = Vec::new();
        if a.rowid && self.chance(60) {
            keys.push("x.rowid".into());
        }
        for _ in 0..*pick(self.rng, &[0, 0, 1, 1, 2]) {
            keys.push(self.key());
        }
        let filter = self.filter(30);
        let shown: Vec<Sql> = keys.iter().chain(&calls).cloned().collect();
        let order = match self.rng.u8(0..6) {
            0 => cat![format!(" ORDER BY {} DESC", shown.len()), self.limit(50)],
            1 => cat![" ORDER BY 1", self.direction()],
            2 => self.limit(30),
            _ => "".into(),
        };
        let group = match keys.is_empty() {
            true => "".into(),
            false => cat![" GROUP BY ", Sql::list(", ", 1, keys)],
        };
        cat![
            "SELECT ",
            Sql::list(", ", 1, shown),
            format!(" FROM {} AS x LEFT JOIN {} AS y ON ", a.name, b.name),
            Sql::list(" AND ", 1, on),
            filter,
            group,
            Sql::opt(order)
        ]
    }

    /// One part of a compound or of a nested query: two columns, k and v.
    fn pair(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let key = self.key();
        let filter = self.filter(40);
        let name = table.name.as_str();
        match self.rng.u8(0..10) {
            5..=6 if self.may(Trait::Distinct) => {
                let other = self.value(0);
                cat![
                    "SELECT DISTINCT ",
                    key,
                    " AS k, ",
                    other,
                    " AS v FROM ",
                    name,
                    filter
                ]
            }
            7 if self.may(Trait::Top) => {
                // A part of a compound may have no ORDER BY of its own, but a subquery may.
                let (other, by, way) = (self.value(0), self.key(), self.direction());
                let limit = self.limit(100);
                cat![
                    "SELECT k, v FROM (SELECT ",
                    key,
                    " AS k, ",
                    other,
                    " AS v FROM ",
                    name,
                    filter,
                    " ORDER BY ",
                    by,
                    way,
                    limit,
                    ")"
                ]
            }
            _ => {
                let call = self.aggregate_call(1);
                self.traits.add(Trait::Groups);
                cat![
                    "SELECT ",
                    key.clone(),
                    " AS k, ",
                    call,
                    " AS v FROM ",
                    name,
                    filter,
                    " GROUP BY ",
                    key
                ]
            }
        }
    }

    fn compound(&mut self, table: &'a Table) -> Sql {
        let op = *pick(self.rng, &["UNION ALL", "UNION", "INTERSECT", "EXCEPT"]);
        let (left, right) = (self.pair(table), self.pair(table));
        let order = if self.chance(40) {
            cat![" ORDER BY 2, 1", self.direction()]
        } else {
            "".into()
        };
        let limit = self.limit(15);
        cat![left, " ", op, " ", right, Sql::opt(order), limit]
    }

    /// Something over an aggregate, a DISTINCT or a top few: as a subquery of
    /// FROM, or as a common table expression.
    fn nested(&mut self, table: &'a Table) -> Sql {
        let body = self.pair(table);
        let outer = *pick(
            self.rng,
            &[
                "count(*), sum(v), min(k)",
                "k, v",
                "v, count(*), max(k)",
                "DISTINCT v",
                "k, v, count(*) OVER (PARTITION BY v)",
            ],
        );
        let after = match outer {
            "v, count(*), max(k)" => " GROUP BY v",
            "k, v" => *pick(
                self.rng,
                &["", " ORDER BY v, k LIMIT 3", " WHERE v > 2", " LIMIT 2"],
            ),
            _ => "",
        };
        if self.chance(50) {
            let how = *pick(self.rng, &["", "", " MATERIALIZED", " NOT MATERIALIZED"]);
            let twice = self.chance(15) && self.may(Trait::Join);
            let source = if twice { "w JOIN w AS u USING(k)" } else { "w" };
            let outer = if twice { "count(*), max(w.v)" } else { outer };
            let after = if twice { "" } else { after };
            return cat![
                "WITH w AS",
                how,
                " (",
                body,
                ") SELECT ",
                outer,
                " FROM ",
                source,
                after
            ];
        }
        cat!["SELECT ", outer, " FROM (", body, ")", after]
    }

    /// An aggregate over a UNION ALL: the columns are those of its first table. An arm may
    /// be a UNION ALL itself.
    fn arms(&mut self, table: &'a Table) -> Sql {
        let mut arms = Vec::new();
        for i in 0..*pick(self.rng, &[2, 2, 2, 3, 4]) {
            let arm = if self.chance(15) {
                let nested = vec![self.arm(table, i == 0), self.arm(table, false)];
                let filter = self.filter(20);
                let source = cat![" FROM (", Sql::list(" UNION ALL ", 2, nested), ")"];
                select("", vec!["*".into()], source, filter)
            } else {
                self.arm(table, i == 0)
            };
            arms.push(arm);
        }
        self.from = vec![("p".into(), table)];
        let source = cat![" FROM (", Sql::list(" UNION ALL ", 2, arms), ") AS p"];
        self.aggregate_over(source, Vec::new())
    }

    /// One SELECT of a UNION ALL, with as many columns as `table` has.
    fn arm(&mut self, table: &'a Table, first: bool) -> Sql {
        let tables = self.tables;
        let own = match first || self.chance(40) {
            true => table,
            false => pick(self.rng, tables),
        };
        self.look_at(own);
        self.traits.join(table.traits);
        let results: Vec<Sql> = table
            .columns
            .iter()
            .map(|column| match self.rng.u8(0..if first { 20 } else { 10 }) {
                0 => cat![self.constant(), " AS ", column.name.as_str()],
                1 => cat![self.value(1), " AS ", column.name.as_str()],
                2..=4 if !first => cat![self.column(), " AS ", column.name.as_str()],
                _ if std::ptr::eq(own, table) => column.name.as_str().into(),
                _ => self.column(),
            })
            .collect();
        let filter = self.filter(35);
        select("", results, self.source(own), filter)
    }

    /// A query as a part of a larger expression or statement.
    fn wrapped(&mut self, table: &'a Table) -> Sql {
        let inner = self.select(table);
        match self.rng.u8(0..6) {
            0 => cat!["SELECT * FROM (", inner, ")"],
            1 => cat!["SELECT EXISTS(", inner, ")"],
            2 => cat!["SELECT (", inner, ")"],
            3 => cat!["SELECT count(*) FROM (", inner, ")"],
            4 => cat!["SELECT * FROM (", inner, ") LIMIT 3"],
            _ => cat!["SELECT 1 IN (", inner, ")"],
        }
    }

    /// INSERT … SELECT and CREATE TABLE AS.
    fn writing(&mut self, table: &'a Table) -> Sql {
        if self.chance(15) && !table.view {
            return self.deleting(table);
        }
        if self.chance(60) {
            let inner = self.select(table);
            let temp = if self.chance(40) { "TEMP " } else { "" };
            return cat![
                format!(
                    "CREATE {temp}TABLE IF NOT EXISTS made{} AS ",
                    self.rng.u8(0..6)
                ),
                inner
            ];
        }
        self.look_at(table);
        let target: &Col = table
            .columns
            .iter()
            .find(|c| !c.generated)
            .unwrap_or(&table.columns[0]);
        let (key, call) = (self.key(), self.aggregate_call(1));
        let into = cat![format!(
            "INSERT OR IGNORE INTO {}({}) SELECT ",
            table.name, target.name
        )];
        let name = table.name.as_str();
        match self.rng.u8(0..4) {
            0 if self.may(Trait::Distinct) => cat![into, "DISTINCT ", key, " FROM ", name],
            1 if self.may(Trait::Top) => {
                let way = self.direction();
                cat![
                    into,
                    key.clone(),
                    " FROM ",
                    name,
                    " ORDER BY ",
                    key,
                    way,
                    " LIMIT 3"
                ]
            }
            2 => cat![into, call, " FROM ", name, " GROUP BY ", key, " LIMIT 5"],
            _ => cat![into, call, " FROM ", name],
        }
    }

    /// DELETE and UPDATE that fail, or not.
    fn deleting(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let mut terms = vec![self.condition(1), self.failing_term()];
        if let Some(term) = self.related() {
            terms.push(term);
        }
        self.rng.shuffle(&mut terms);
        let terms = Sql::list(" AND ", 1, terms);
        let target = table.columns.iter().find(|c| !c.generated);
        let name = table.name.as_str();
        match target {
            Some(col) if self.chance(60) => {
                let col = col.name.as_str();
                cat![
                    format!("UPDATE OR IGNORE {name} SET {col}={col} WHERE "),
                    terms
                ]
            }
            _ => cat![format!("DELETE FROM {name} WHERE "), terms],
        }
    }

    fn windowed(&mut self, table: &'a Table) -> Sql {
        self.look_at(table);
        let (key, call) = (self.value(0), self.aggregate_call(0));
        cat![
            "SELECT ",
            key.clone(),
            ", count(*), sum(",
            call,
            ") OVER (ORDER BY count(*), ",
            key.clone(),
            ") FROM ",
            table.name.as_str(),
            " GROUP BY ",
            key
        ]
    }

    /// Rows numbered by a window, and only the first ones wanted.
    fn ranked(&mut self, table: &'a Table) -> Sql {
        const NUMBER: [&str; 3] = ["row_number()", "rank()", "dense_rank()"];
        self.look_at(table);
        let mut window = vec![];
        let parts: Vec<Sql> = (0..*pick(self.rng, &[0, 1, 1, 1, 2]))
            .map(|_| self.key())
            .collect();
        if !parts.is_empty() {
            window.push(cat!["PARTITION BY ", Sql::list(", ", 1, parts)]);
        }
        let mut terms = vec![];
        for _ in 0..*pick(self.rng, &[0, 1, 1, 1, 2, 3]) {
            terms.push(cat![self.key(), self.direction()]);
        }
        if !terms.is_empty() {
            window.push(cat!["ORDER BY ", Sql::list(", ", 1, terms)]);
        }
        let over = cat![" OVER (", Sql::list(" ", 0, window), ")"];
        let mut results: Vec<Sql> = self.results();
        results[0] = cat![results[0].clone(), " AS a"];
        let number = *pick(self.rng, &NUMBER);
        results.push(cat![number, over.clone(), " AS r"]);
        match self.rng.u8(0..10) {
            0..=1 => results.push(cat![*pick(self.rng, &NUMBER), over, " AS r2"]),
            2 => results.push(cat![
                *pick(self.rng, &["lag(1)", "lead(1)", "count(*)", "ntile(2)"]),
                over
            ]),
            3 => results.push(cat![
                *pick(self.rng, &NUMBER),
                " OVER (ORDER BY ",
                self.key(),
                ") AS r2"
            ]),
            _ => {}
        }
        if self.chance(15) {
            results.push("*".into());
        }
        let source = self.source(table);
        let filter = self.filter(40);
        let inner = cat!["SELECT ", Sql::list(", ", 2, results), source, filter];
        let inner = match self.rng.u8(0..20) {
            0 => cat![inner, " ORDER BY r DESC"],
            1 => cat![inner, " LIMIT 9"],
            _ => inner,
        };
        let most = *pick(self.rng, &[1, 1, 1, 2, 3, 7, 0, -1, 1500]);
        let most = self.given(Value::Int(most));
        let bound = match self.rng.u8(0..14) {
            0 => cat!["r<", most],
            1 => cat!["r=", most],
            2 => cat![most, ">=r"],
            3 => cat!["r BETWEEN 1 AND ", most],
            4 => cat!["r IN (1,3,", most, ")"],
            5 => cat!["r<='2'"],
            6 => cat!["r<=", most, " OR a IS NULL"],
            7 => cat!["r<=", most, " AND a IS NOT NULL"],
            8 => cat!["r>1 AND r<=", most],
            _ => cat!["r<=", most],
        };
        let order = *pick(self.rng, &["", "", "", " ORDER BY 1, r", " ORDER BY r"]);
        let limit = self.limit(10);
        if self.chance(30) {
            let how = *pick(self.rng, &["", "", " MATERIALIZED", " NOT MATERIALIZED"]);
            let twice = *pick(self.rng, &["", "", "", ", (SELECT max(r) FROM w)"]);
            return cat![
                "WITH w AS",
                how,
                " (",
                inner,
                ") SELECT *",
                twice,
                " FROM w WHERE ",
                bound,
                order,
                limit
            ];
        }
        cat!["SELECT * FROM (", inner, ") WHERE ", bound, order, limit]
    }
}
