//! Random queries, mostly aggregates over one table.

use fastrand::Rng;

use super::schema::{Col, Table};
use super::spread::Spread;
use super::{chance, pick};
use crate::case::Step;
use crate::cat;
use crate::sql::Sql;
use crate::value::Value;

/// Builds one query: the tables in sight, and the parameters so far.
pub struct Query<'a> {
    rng: &'a mut Rng,
    tables: &'a [Table],
    /// The table (and its alias) whose columns expressions name.
    from: Vec<(String, &'a Table)>,
    binds: Vec<Value>,
    /// Keep near to what the library says it takes over?
    narrow: bool,
    /// Is the query, so far, wholly of what the library says it takes over?
    eligible: bool,
}

/// A random query with its parameters.
pub fn query(rng: &mut Rng, tables: &[Table]) -> Step {
    let narrow = chance(rng, 60);
    let mut q = Query {
        rng,
        tables,
        from: Vec::new(),
        binds: Vec::new(),
        narrow,
        eligible: narrow,
    };
    let table = q.table();
    q.eligible &= table.rowid
        && !table.indexed
        && !table.view
        && !table.columns.iter().any(|c| c.generated || c.rowid);
    let shape = if narrow { 0 } else { q.rng.u8(0..20) };
    let sql = match shape {
        0..=9 => q.aggregate(table),
        10..=11 => q.plain(table),
        12..=13 => q.join(),
        14..=15 => q.compound(table),
        16 => q.nested(table),
        17 => q.writing(table),
        18 => q.windowed(table),
        _ => q.wrapped(table),
    };
    let (binds, eligible) = (q.binds, q.eligible);
    Step {
        binds,
        eligible,
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

const COMPARISONS: [&str; 8] = ["=", "=", "<", "<=", ">", ">=", "<>", "=="];
const ARITHMETIC: [&str; 8] = ["+", "-", "*", "+", "-", "*", "/", "%"];
const BITS: [&str; 4] = ["&", "|", "<<", ">>"];
const TYPES: [&str; 6] = ["INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "INT"];
const COLLATIONS: [&str; 4] = ["NOCASE", "RTRIM", "BINARY", "BACKWARD"];
const PATTERNS: [&str; 14] = [
    "'a%'",
    "'%a'",
    "'%b%'",
    "'A_'",
    "'_'",
    "'%'",
    "''",
    "'ab'",
    "'1%'",
    "'%.%'",
    "'199_-0%'",
    "'ä%'",
    "'%ca%'",
    "x'6125'",
];

impl<'a> Query<'a> {
    fn table(&mut self) -> &'a Table {
        let tables = self.tables;
        if self.narrow
            && chance(self.rng, 80)
            && let Some(best) = tables.iter().find(|t| t.rowid && !t.view)
        {
            return best;
        }
        &tables[self.rng.usize(0..tables.len())]
    }

    fn chance(&mut self, percent: u8) -> bool {
        chance(self.rng, percent)
    }

    // ---- values

    fn col(&mut self) -> (String, &'a Col) {
        let (alias, table) = self.from[self.rng.usize(0..self.from.len())].clone();
        let col = &table.columns[self.rng.usize(0..table.columns.len())];
        let qualified = self.from.len() > 1 || chance(self.rng, 5);
        (
            if qualified {
                format!("{alias}.{}", col.name)
            } else {
                col.name.clone()
            },
            col,
        )
    }

    fn column(&mut self) -> Sql {
        let (alias, table) = self.from[0].clone();
        if table.rowid && !table.view && self.chance(4) {
            let name = *pick(self.rng, &["rowid", "oid", "_rowid_"]);
            self.eligible = false;
            return Sql::expr(if self.from.len() > 1 {
                format!("{alias}.{name}")
            } else {
                name.into()
            });
        }
        Sql::expr(self.col().0)
    }

    fn constant(&mut self) -> Sql {
        let spread = Spread::Mix(vec![
            Spread::Skewed(10),
            Spread::Small,
            Spread::Reals,
            Spread::Edges,
            Spread::NumericText,
            Spread::Words(20),
            Spread::Constant(Value::Null),
        ]);
        let value = spread.draw(self.rng, 0);
        self.given(value)
    }

    /// A value as a literal or as a parameter.
    fn given(&mut self, value: Value) -> Sql {
        if self.chance(25) && self.binds.len() < 20 {
            self.binds.push(value);
            return Sql::expr(format!("?{}", self.binds.len()));
        }
        Sql::expr(value.literal())
    }

    /// A constant that a column may well hold.
    fn likely(&mut self, col: &Col) -> Sql {
        let row = self.rng.usize(0..200);
        let value = col.spread.draw(self.rng, row);
        let shown = matches!(&value, Value::Text(b) | Value::Blob(b) if b.len() > 60);
        if shown {
            self.constant()
        } else {
            self.given(value)
        }
    }

    fn value(&mut self, depth: u8) -> Sql {
        if depth == 0 {
            return if self.chance(75) {
                self.column()
            } else {
                self.constant()
            };
        }
        let d = depth - 1;
        let wide = if self.narrow { 0 } else { 12 };
        match self.rng.u8(0..20 + wide) {
            0..=7 => self.column(),
            8 => self.constant(),
            9..=13 => {
                let op = *pick(self.rng, &ARITHMETIC);
                Sql::expr(cat!["(", self.value(d), op, self.value(d), ")"])
            }
            14 => {
                let op = *pick(self.rng, &BITS);
                self.eligible = false;
                Sql::expr(cat!["(", self.value(d), op, self.value(d), ")"])
            }
            15 => {
                self.eligible = false;
                Sql::expr(cat!["(", self.value(d), "||", self.value(d), ")"])
            }
            16 => {
                let op = *pick(self.rng, &["-", "+", "~", "- "]);
                self.eligible &= op != "~";
                Sql::expr(cat![op, "(", self.value(d), ")"])
            }
            17..=18 => self.condition(d),
            19 => Sql::expr(cat!["(", self.value(d), ")"]),
            20..=21 => Sql::expr(cat![
                "CAST(",
                self.value(d),
                " AS ",
                *pick(self.rng, &TYPES),
                ")"
            ]),
            22..=23 => self.case(d),
            24 => {
                let collation = *pick(self.rng, &COLLATIONS);
                Sql::expr(cat!["(", self.value(d), " COLLATE ", collation, ")"])
            }
            25 if self.chance(30) => self.subquery(),
            _ => self.function(d),
        }
    }

    fn case(&mut self, d: u8) -> Sql {
        let base = if self.chance(40) {
            self.value(d)
        } else {
            "".into()
        };
        let arms = (0..self.rng.usize(1..3))
            .map(|_| cat![" WHEN ", self.condition(d), " THEN ", self.value(d)])
            .collect();
        let other = if self.chance(70) {
            cat![" ELSE ", self.value(d)]
        } else {
            "".into()
        };
        Sql::expr(cat![
            "(CASE ",
            base,
            Sql::list("", 1, arms),
            Sql::opt(other),
            " END)"
        ])
    }

    fn function(&mut self, d: u8) -> Sql {
        const ONE: [&str; 22] = [
            "abs",
            "length",
            "upper",
            "lower",
            "typeof",
            "quote",
            "hex",
            "round",
            "trim",
            "ltrim",
            "unicode",
            "sign",
            "date",
            "octet_length",
            "likely",
            "unlikely",
            "same",
            "ceil",
            "floor",
            "sqrt",
            "strftime",
            "zeroblob",
        ];
        const TWO: [&str; 10] = [
            "ifnull", "nullif", "coalesce", "min", "max", "instr", "substr", "round", "iif",
            "printf",
        ];
        match self.rng.u8(0..10) {
            0..=4 => match *pick(self.rng, &ONE) {
                "strftime" => Sql::expr(cat!["strftime('%Y', ", self.value(d), ")"]),
                "zeroblob" => Sql::expr(cat!["length(zeroblob(10+0*", self.value(d), "))"]),
                name => Sql::expr(cat![name, "(", self.value(d), ")"]),
            },
            5..=7 => match *pick(self.rng, &TWO) {
                "printf" => Sql::expr(cat![
                    "printf('%s/%d', ",
                    self.value(d),
                    ",",
                    self.value(d),
                    ")"
                ]),
                name => Sql::expr(cat![name, "(", self.value(d), ", ", self.value(d), ")"]),
            },
            8 => Sql::expr(cat!["substr(", self.value(d), ", ", self.value(0), ", 3)"]),
            _ if self.chance(20) => Sql::expr("tick()"),
            _ => Sql::expr(cat![
                "replace(",
                self.value(d),
                ", 'a', ",
                self.value(d),
                ")"
            ]),
        }
    }

    /// A truth value; where it can, one that holds for some rows.
    fn condition(&mut self, depth: u8) -> Sql {
        if depth > 0 && self.chance(35) {
            let d = depth - 1;
            return match self.rng.u8(0..8) {
                0..=3 => Sql::expr(cat![
                    "(",
                    self.condition(d),
                    " AND ",
                    self.condition(d),
                    ")"
                ]),
                4..=6 => Sql::expr(cat!["(", self.condition(d), " OR ", self.condition(d), ")"]),
                _ => Sql::expr(cat!["(NOT ", self.condition(d), ")"]),
            };
        }
        let d = depth.saturating_sub(1);
        let (name, col) = self.col();
        let subject = if self.chance(70) {
            Sql::expr(name)
        } else {
            self.value(d)
        };
        let wide = if self.narrow { 0 } else { 8 };
        let not = *pick(self.rng, &["", "", " NOT"]);
        match self.rng.u8(0..20 + wide) {
            0..=7 => {
                let op = *pick(self.rng, &COMPARISONS);
                let other = if self.chance(65) {
                    self.likely(col)
                } else {
                    self.value(d)
                };
                if self.chance(15) {
                    return Sql::expr(cat!["(", other, op, subject, ")"]);
                }
                Sql::expr(cat!["(", subject, op, other, ")"])
            }
            8..=9 => {
                let (low, high) = (self.likely(col), self.likely(col));
                Sql::expr(cat![
                    "(",
                    subject,
                    not,
                    " BETWEEN ",
                    low,
                    " AND ",
                    high,
                    ")"
                ])
            }
            10..=12 => {
                let count = *pick(self.rng, &[0, 1, 2, 3, 5, 12]);
                let mut items: Vec<Sql> = (0..count).map(|_| self.likely(col)).collect();
                if self.chance(10) {
                    items.push(Sql::expr("NULL"));
                }
                Sql::expr(cat![
                    "(",
                    subject,
                    not,
                    " IN (",
                    Sql::list(",", 0, items),
                    "))"
                ])
            }
            13..=14 => {
                let test = *pick(self.rng, &["IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL"]);
                Sql::expr(cat!["(", subject, " ", test, ")"])
            }
            15 => {
                let op = *pick(
                    self.rng,
                    &["IS", "IS NOT", "IS NOT DISTINCT FROM", "IS DISTINCT FROM"],
                );
                Sql::expr(cat!["(", subject, " ", op, " ", self.likely(col), ")"])
            }
            16..=17 => {
                let escape = if self.chance(10) { " ESCAPE '_'" } else { "" };
                let pattern = *pick(self.rng, &PATTERNS);
                self.eligible &= escape.is_empty();
                Sql::expr(cat![
                    "(",
                    subject,
                    not,
                    " LIKE ",
                    pattern,
                    Sql::opt(escape.into()),
                    ")"
                ])
            }
            18 => subject,
            19 => {
                self.eligible = false;
                let truth = *pick(self.rng, &["TRUE", "FALSE", "NOT TRUE", "NOT FALSE"]);
                Sql::expr(cat!["(", subject, " IS ", truth, ")"])
            }
            20 => Sql::expr(cat![
                "(",
                subject,
                " GLOB ",
                *pick(self.rng, &["'a*'", "'[a-c]*'", "'?'", "'*1*'"]),
                ")"
            ]),
            21 => Sql::expr(cat!["(", subject, not, " LIKE ", self.value(d), ")"]),
            22 => {
                let collation = *pick(self.rng, &COLLATIONS);
                Sql::expr(cat![
                    "(",
                    subject,
                    " = ",
                    self.likely(col),
                    " COLLATE ",
                    collation,
                    ")"
                ])
            }
            23 => {
                let (other, low, high) = (self.value(d), self.value(0), self.constant());
                Sql::expr(cat![
                    "((",
                    subject,
                    ", ",
                    other,
                    ") ",
                    *pick(self.rng, &COMPARISONS),
                    " (",
                    low,
                    ", ",
                    high,
                    "))"
                ])
            }
            24 => {
                let table = &self.tables[self.rng.usize(0..self.tables.len())];
                let column = &table.columns[self.rng.usize(0..table.columns.len())].name;
                Sql::expr(cat![
                    "(",
                    subject,
                    not,
                    " IN (SELECT ",
                    column.as_str(),
                    " FROM ",
                    table.name.as_str(),
                    "))"
                ])
            }
            25 => {
                let table = &self.tables[self.rng.usize(0..self.tables.len())];
                Sql::expr(cat![
                    "EXISTS(SELECT 1 FROM ",
                    table.name.as_str(),
                    " LIMIT 1)"
                ])
            }
            _ => {
                let f = self.function(d);
                Sql::expr(cat![
                    "(",
                    f,
                    *pick(self.rng, &COMPARISONS),
                    self.value(0),
                    ")"
                ])
            }
        }
    }

    fn subquery(&mut self) -> Sql {
        let tables = self.tables;
        let table = &tables[self.rng.usize(0..tables.len())];
        let outer = if self.chance(40) && table.rows < 200 {
            Some(self.value(0))
        } else {
            None
        };
        let saved = std::mem::replace(&mut self.from, vec![(bare(table), table)]);
        let inner = self.aggregate_call(1);
        let filter = match outer {
            Some(outer) => cat![" WHERE ", self.value(0), " = ", outer],
            None => cat![" WHERE ", self.condition(0)],
        };
        self.from = saved;
        Sql::expr(cat![
            "(SELECT ",
            inner,
            " FROM ",
            table.name.as_str(),
            Sql::opt(filter),
            ")"
        ])
    }

    // ---- clauses

    fn filter(&mut self, percent: u8) -> Sql {
        if !self.chance(percent) {
            return "".into();
        }
        let depth = *pick(self.rng, &[0, 1, 1, 2, 3]);
        Sql::opt(cat![" WHERE ", self.condition(depth)])
    }

    fn aggregate_call(&mut self, depth: u8) -> Sql {
        const PLAIN: [&str; 9] = [
            "count", "sum", "sum", "total", "avg", "avg", "min", "max", "max",
        ];
        const OTHER: [&str; 6] = [
            "group_concat",
            "string_agg",
            "json_group_array",
            "group_concat",
            "count",
            "sum",
        ];
        if self.chance(15) {
            return Sql::expr("count(*)");
        }
        if self.narrow || self.chance(60) {
            let name = *pick(self.rng, &PLAIN);
            return Sql::expr(cat![name, "(", self.value(depth), ")"]);
        }
        let mut name = *pick(self.rng, &OTHER);
        if self.chance(50) {
            name = *pick(self.rng, &PLAIN);
        }
        let distinct = if self.chance(35) { "DISTINCT " } else { "" };
        let mut argument = self.value(depth);
        if name == "json_group_array" {
            argument = cat!["quote(", argument, ")"];
        }
        let rest = match name {
            "string_agg" => ", ';'",
            "group_concat" if distinct.is_empty() && self.chance(30) => ", '-'",
            _ => "",
        };
        let order = if self.chance(12) {
            cat![" ORDER BY ", self.value(0)]
        } else {
            "".into()
        };
        let filter = if self.chance(25) {
            cat![" FILTER(WHERE ", self.condition(1), ")"]
        } else {
            "".into()
        };
        Sql::expr(cat![
            name,
            "(",
            Sql::opt(distinct.into()),
            argument,
            rest,
            Sql::opt(order),
            ")",
            Sql::opt(filter)
        ])
    }

    fn source(&mut self, table: &Table) -> Sql {
        let hint = match self.rng.u8(0..30) {
            0 => " NOT INDEXED",
            _ => "",
        };
        cat![" FROM ", table.name.as_str(), Sql::opt(hint.into())]
    }

    /// The main thing: SELECT keys, aggregates … GROUP BY keys.
    fn aggregate(&mut self, table: &'a Table) -> Sql {
        self.from = vec![(bare(table), table)];
        let source = self.source(table);
        self.aggregate_over(source)
    }

    /// An aggregate over a FROM clause whose tables are in `self.from`.
    fn aggregate_over(&mut self, source: Sql) -> Sql {
        let count = *pick(self.rng, &[0, 0, 1, 1, 1, 1, 2, 2, 3, 4]);
        let mut keys = Vec::new();
        for _ in 0..count {
            let depth = *pick(self.rng, &[0, 0, 0, 1, 2]);
            let key = if self.chance(80) && depth == 0 {
                self.column()
            } else {
                self.value(depth)
            };
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
        let calls = *pick(self.rng, &[1, 1, 2, 2, 3, 4, 6]);
        let mut aggregates: Vec<Sql> = Vec::new();
        for _ in 0..calls {
            let depth = *pick(self.rng, &[0, 0, 1, 2]);
            aggregates.push(self.aggregate_call(depth));
        }
        if keys.is_empty() && aggregates.len() == 1 {
            // A lone min() or max() has a plan of its own.
            self.eligible = false;
        }
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
            // Bare columns: from the row of a lone min() or max(), else from a group's last row.
            results.push(self.value(0));
        }
        if self.chance(15) {
            self.rng.shuffle(&mut results);
        }
        let distinct = if self.chance(5) { "DISTINCT " } else { "" };
        let filter = self.filter(60);
        let group = if grouped.is_empty() {
            "".into()
        } else {
            cat![" GROUP BY ", Sql::list(", ", 1, grouped.clone())]
        };
        let having = if self.chance(18) && !grouped.is_empty() {
            let subject = if self.chance(70) {
                pick(self.rng, &aggregates).clone()
            } else {
                self.aggregate_call(1)
            };
            let op = *pick(self.rng, &COMPARISONS);
            Sql::opt(cat![" HAVING ", subject, op, self.constant()])
        } else {
            "".into()
        };
        let order = self.order(&grouped, &aggregates);
        let limit = self.limit();
        cat![
            "SELECT ",
            Sql::opt(distinct.into()),
            Sql::list(", ", 1, results),
            source,
            filter,
            Sql::opt(group),
            having,
            order,
            limit
        ]
    }

    /// ORDER BY as GROUP BY has it, or by aggregates, ordinals, anything.
    fn order(&mut self, keys: &[Sql], aggregates: &[Sql]) -> Sql {
        if !self.chance(35) {
            return "".into();
        }
        let direction = |rng: &mut Rng| {
            *pick(
                rng,
                &[
                    "",
                    "",
                    " DESC",
                    " ASC",
                    " DESC NULLS LAST",
                    " NULLS LAST",
                    " NULLS FIRST",
                ],
            )
        };
        let mut terms = Vec::new();
        if !keys.is_empty() && self.chance(55) {
            let same = self.chance(50);
            let first = direction(self.rng);
            for key in keys {
                let way = if same { first } else { direction(self.rng) };
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
                terms.push(cat![term, Sql::opt(collation.into()), direction(self.rng)]);
            }
        }
        if terms.is_empty() {
            return "".into();
        }
        Sql::opt(cat![" ORDER BY ", Sql::list(", ", 1, terms)])
    }

    fn limit(&mut self) -> Sql {
        if !self.chance(15) {
            return "".into();
        }
        let count = *pick(self.rng, &["1", "2", "5", "0", "-1", "1000"]);
        let offset = if self.chance(30) {
            Sql::opt(format!(" OFFSET {}", self.rng.u8(0..4)).into())
        } else {
            "".into()
        };
        Sql::opt(cat![" LIMIT ", count, offset])
    }

    // ---- other shapes

    /// No aggregate: rows, DISTINCT, ORDER BY, LIMIT.
    fn plain(&mut self, table: &'a Table) -> Sql {
        self.from = vec![(bare(table), table)];
        let mut results = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            results.push(self.value(1));
        }
        let distinct = if self.chance(50) { "DISTINCT " } else { "" };
        let source = self.source(table);
        let filter = self.filter(60);
        let order = self.order(&results, &results);
        let limit = self.limit();
        cat![
            "SELECT ",
            Sql::opt(distinct.into()),
            Sql::list(", ", 1, results),
            source,
            filter,
            order,
            limit
        ]
    }

    /// An aggregate over a join of two small tables.
    fn join(&mut self) -> Sql {
        let small: Vec<&'a Table> = self.tables.iter().filter(|t| t.rows <= 300).collect();
        if small.is_empty() {
            return self.aggregate(&self.tables[0]);
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
        self.aggregate_over(source)
    }

    fn compound(&mut self, table: &'a Table) -> Sql {
        let op = *pick(self.rng, &["UNION ALL", "UNION", "INTERSECT", "EXCEPT"]);
        let one = |q: &mut Self| {
            q.from = vec![(bare(table), table)];
            let (a, b) = (q.value(0), q.aggregate_call(1));
            let group = if q.chance(70) {
                cat![" GROUP BY ", a.clone()]
            } else {
                "".into()
            };
            let filter = q.filter(40);
            cat![
                "SELECT ",
                a,
                ", ",
                b,
                " FROM ",
                table.name.as_str(),
                filter,
                Sql::opt(group)
            ]
        };
        let (left, right) = (one(self), one(self));
        let order = if self.chance(40) {
            " ORDER BY 2, 1"
        } else {
            ""
        };
        cat![left, " ", op, " ", right, Sql::opt(order.into())]
    }

    /// An aggregate over an aggregate.
    fn nested(&mut self, table: &'a Table) -> Sql {
        self.from = vec![(bare(table), table)];
        let (key, inner) = (self.value(1), self.aggregate_call(1));
        let filter = self.filter(50);
        let body = cat![
            "SELECT ",
            key.clone(),
            " AS k, ",
            inner,
            " AS v FROM ",
            table.name.as_str(),
            filter,
            " GROUP BY ",
            key
        ];
        let outer = *pick(
            self.rng,
            &[
                "count(*), sum(v), min(k)",
                "k, v",
                "v, count(*), max(k)",
                "sum(v) OVER (ORDER BY k), k",
            ],
        );
        let group = if outer.starts_with("v, c") {
            " GROUP BY v"
        } else {
            ""
        };
        if self.chance(50) {
            let how = *pick(self.rng, &["", "", " MATERIALIZED", " NOT MATERIALIZED"]);
            return cat![
                "WITH w AS",
                how,
                " (",
                body,
                ") SELECT ",
                outer,
                " FROM w",
                group
            ];
        }
        cat!["SELECT ", outer, " FROM (", body, ")", group]
    }

    /// INSERT … SELECT and CREATE TABLE AS.
    fn writing(&mut self, table: &'a Table) -> Sql {
        let inner = self.aggregate(table);
        if self.chance(50) {
            return cat![
                format!("CREATE TABLE IF NOT EXISTS made{} AS ", self.rng.u8(0..3)),
                inner
            ];
        }
        let values = self.aggregate_call(1);
        let target = table
            .columns
            .iter()
            .find(|c| !c.generated)
            .unwrap_or(&table.columns[0]);
        cat![
            format!(
                "INSERT OR IGNORE INTO {}({}) SELECT ",
                table.name, target.name
            ),
            values,
            " FROM ",
            table.name.as_str()
        ]
    }

    fn windowed(&mut self, table: &'a Table) -> Sql {
        self.from = vec![(bare(table), table)];
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

    /// An aggregate as a part of a larger expression or statement.
    fn wrapped(&mut self, table: &'a Table) -> Sql {
        let inner = self.aggregate(table);
        match self.rng.u8(0..4) {
            0 => cat!["SELECT * FROM (", inner, ")"],
            1 => cat!["SELECT EXISTS(", inner, ")"],
            2 => cat!["SELECT (", inner, ")"],
            _ => cat!["SELECT 1 IN (", inner, ")"],
        }
    }
}

/// A table's name without its schema.
fn bare(table: &Table) -> String {
    table
        .name
        .split_once('.')
        .map_or(&*table.name, |(_, name)| name)
        .to_string()
}
