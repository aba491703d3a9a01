//! Values and conditions: every kind of expression.

use super::pick;
use super::query::Query;
use super::schema::Col;
use super::spread::Spread;
use super::traits::Trait;
use crate::cat;
use crate::sql::Sql;
use crate::value::Value;

pub const COMPARISONS: [&str; 8] = ["=", "=", "<", "<=", ">", ">=", "<>", "=="];
const ARITHMETIC: [&str; 8] = ["+", "-", "*", "+", "-", "*", "/", "%"];
const BITS: [&str; 4] = ["&", "|", "<<", ">>"];
const TYPES: [&str; 7] = ["INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "INT", "TEXT"];
pub const COLLATIONS: [&str; 4] = ["NOCASE", "RTRIM", "BINARY", "BACKWARD"];
const LIKE_PATTERNS: [&str; 18] = [
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
    "'%%a'",
    "'_%'",
    "'a%b%c'",
    "NULL",
];
const GLOB_PATTERNS: [&str; 14] = [
    "'a*'", "'*a'", "'*b*'", "'[a-c]*'", "'[^a]*'", "'?'", "'*1*'", "''", "'ab'", "'a?c'",
    "'[]a]*'", "'*[0-9]'", "'*'", "'a*b*c'",
];
const SHORT_TEXTS: [&str; 10] = [
    "''", "'a'", "'b'", "' '", "'1'", "'ab'", "'-'", "'%'", "'ä'", "NULL",
];
const SMALL: [&str; 10] = ["0", "1", "2", "3", "-1", "-2", "7", "100", "NULL", "1.5"];

/// Functions: @ is a value, # a small number, $ a short text.
const FUNCTIONS: [&str; 64] = [
    "abs(@)",
    "abs(@)",
    "length(@)",
    "length(@)",
    "upper(@)",
    "lower(@)",
    "typeof(@)",
    "quote(@)",
    "hex(@)",
    "round(@)",
    "round(@, #)",
    "round(@, 1)",
    "trim(@)",
    "ltrim(@)",
    "rtrim(@)",
    "trim(@, $)",
    "ltrim(@, $)",
    "rtrim(@, @)",
    "unicode(@)",
    "char(#, 65)",
    "sign(@)",
    "octet_length(@)",
    "likely(@)",
    "unlikely(@)",
    "likelihood(@, 0.5)",
    "ceil(@)",
    "floor(@)",
    "trunc(@)",
    "sqrt(@)",
    "mod(@, #)",
    "ifnull(@, @)",
    "ifnull(@, 0)",
    "coalesce(@, @)",
    "coalesce(@, @, @)",
    "coalesce(@, 0)",
    "coalesce(@, @||@, @, CAST(@ AS TEXT), @||1)",
    "iif(@, @||@, iif(@, @, @||2))",
    "nullif(@, @)",
    "nullif(@, #)",
    "iif(@, @, @)",
    "iif(@, 1, 0)",
    "min(@, @)",
    "max(@, @)",
    "max(@, 0)",
    "min(@, @, @)",
    "instr(@, $)",
    "instr(@, $)",
    "instr(@, @)",
    "substr(@, #)",
    "substr(@, 1, #)",
    "substr(@, 1, 2)",
    "substr(@, #, #)",
    "substr(@, @, 3)",
    "replace(@, 'a', @)",
    "replace(@, $, $)",
    "printf('%s/%d', @, @)",
    "printf('%.3f|%5d|%x', @, @, @)",
    "format('%q %e', @, @)",
    "length(zeroblob(10+0*@))",
    "like($, @)",
    "glob('*a*', @)",
    "concat(@, @)",
    "concat_ws($, @, @)",
    "soundex(@)",
];

/// Functions of times: ^ is a value that may well be one.
const DATE_FUNCTIONS: [&str; 20] = [
    "date(^)",
    "date(^)",
    "time(^)",
    "datetime(^)",
    "julianday(^)",
    "unixepoch(^)",
    "strftime('%Y', ^)",
    "strftime('%Y', ^)",
    "strftime('%m', ^)",
    "strftime('%Y-%m', ^)",
    "strftime('%d/%H:%M:%S %j %w %W %s %f %%', ^)",
    "CAST(strftime('%Y', ^) AS INTEGER)",
    "date(^, 'start of month')",
    "date(^, '+1 month', '-3 days')",
    "datetime(^, 'unixepoch')",
    "date(^, 'weekday 0')",
    "strftime(^, ^)",
    "substr(^, 1, 4)",
    "substr(^, 1, 7)",
    "time(^, '+90 minutes')",
];

impl<'a> Query<'a> {
    // ---- columns and constants

    pub fn col(&mut self) -> (String, &'a Col) {
        let (alias, table) = self.from[self.rng.usize(0..self.from.len())].clone();
        let mut col = &table.columns[self.rng.usize(0..table.columns.len())];
        for _ in 0..3 {
            if !self.narrow || !col.traits.refused() {
                break;
            }
            col = &table.columns[self.rng.usize(0..table.columns.len())];
        }
        (self.name(&alias, col), col)
    }

    /// The name of a column, whose traits the query has from now on.
    pub fn name(&mut self, alias: &str, col: &Col) -> String {
        self.traits.join(col.traits);
        if self.from.len() > 1 || self.chance(5) {
            format!("{alias}.{}", col.name)
        } else {
            col.name.clone()
        }
    }

    pub fn column(&mut self) -> Sql {
        let (alias, table) = self.from[0].clone();
        if table.rowid && !table.view && self.chance(4) && self.may(Trait::RowidName) {
            let name = *pick(self.rng, &["rowid", "oid", "_rowid_"]);
            return Sql::expr(if self.from.len() > 1 {
                format!("{alias}.{name}")
            } else {
                name.into()
            });
        }
        Sql::expr(self.col().0)
    }

    pub fn constant(&mut self) -> Sql {
        let spread = Spread::Mix(vec![
            Spread::Skewed(10),
            Spread::Small,
            Spread::Reals,
            Spread::Edges,
            Spread::NumericText,
            Spread::Words(20),
            Spread::Dates,
            Spread::Constant(Value::Null),
        ]);
        let value = spread.draw(self.rng, 0);
        self.given(value)
    }

    /// A value as a literal or as a parameter.
    pub fn given(&mut self, value: Value) -> Sql {
        if self.chance(25) && self.binds.len() < 20 {
            self.binds.push(value);
            return Sql::expr(format!("?{}", self.binds.len()));
        }
        Sql::expr(value.literal())
    }

    /// A value that a column may well hold, and that is not too long to read.
    fn likely_value(&mut self, col: &Col) -> Option<Value> {
        let row = self.rng.usize(0..200);
        let value = col.spread.draw(self.rng, row);
        let long = matches!(&value, Value::Text(b) | Value::Blob(b) if b.len() > 60);
        (!long).then_some(value)
    }

    /// The same as SQL.
    pub fn likely(&mut self, col: &Col) -> Sql {
        match self.likely_value(col) {
            Some(value) => self.given(value),
            None => self.constant(),
        }
    }

    // ---- values

    pub fn value(&mut self, depth: u8) -> Sql {
        if depth == 0 {
            return if self.chance(75) {
                self.column()
            } else {
                self.constant()
            };
        }
        let d = depth - 1;
        match self.rng.u8(0..40) {
            0..=9 => self.column(),
            10 if self.chance(20) && self.may(Trait::Fails) => self.failing(),
            10 => self.constant(),
            11..=16 => {
                let op = *pick(self.rng, &ARITHMETIC);
                Sql::expr(cat!["(", self.value(d), op, self.value(d), ")"])
            }
            17 if self.may(Trait::Bits) => {
                let op = *pick(self.rng, &BITS);
                Sql::expr(cat!["(", self.value(d), op, self.value(d), ")"])
            }
            18..=19 if self.may(Trait::Concat) => {
                Sql::expr(cat!["(", self.value(d), "||", self.value(d), ")"])
            }
            20 => Sql::expr(cat![
                *pick(self.rng, &["-", "+", "- "]),
                "(",
                self.value(d),
                ")"
            ]),
            21 if self.may(Trait::Bits) => Sql::expr(cat!["~(", self.value(d), ")"]),
            22..=23 => self.condition(d),
            24 => Sql::expr(cat!["(", self.value(d), ")"]),
            25..=26 if self.may(Trait::Cast) => {
                let ty = *pick(self.rng, &TYPES);
                Sql::expr(cat!["CAST(", self.value(d), " AS ", ty, ")"])
            }
            27..=28 if self.may(Trait::Case) => self.case(d),
            29 if self.may(Trait::Collate) => {
                let collation = self.collation();
                Sql::expr(cat!["(", self.value(d), " COLLATE ", collation, ")"])
            }
            30 if self.chance(30) && self.may(Trait::Subquery) => self.subquery(),
            31..=32 if self.may(Trait::DateFunction) => {
                let template = *pick(self.rng, &DATE_FUNCTIONS);
                self.call(template, d)
            }
            33 => self.user_function(d),
            34..=39 if self.may(Trait::Function) => self.function(d),
            _ => self.column(),
        }
    }

    /// The name of a collation.
    pub fn collation(&mut self) -> &'static str {
        match *pick(self.rng, &COLLATIONS) {
            "BACKWARD" if !self.may(Trait::UserCollation) => "NOCASE",
            name => name,
        }
    }

    fn case(&mut self, d: u8) -> Sql {
        let based = self.chance(40);
        let base = if based { self.value(d) } else { "".into() };
        let most = if self.chance(15) { 14 } else { 4 };
        let arms = (0..self.rng.usize(1..most))
            .map(|_| {
                let (name, col) = self.col();
                let when = if based && self.chance(70) {
                    self.likely(col)
                } else {
                    self.condition(d)
                };
                let then = match self.rng.u8(0..3) {
                    0 => self.constant(),
                    1 => Sql::expr(name),
                    _ => self.value(d),
                };
                cat![" WHEN ", when, " THEN ", then]
            })
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
        let template = *pick(self.rng, &FUNCTIONS);
        self.call(template, d)
    }

    /// A function of the application: same() is deterministic, fails() also
    /// fails on some values, tick() and nth() count their calls.
    fn user_function(&mut self, d: u8) -> Sql {
        match self.rng.u8(0..8) {
            0 if self.may(Trait::Random) => Sql::expr("tick()"),
            1 if self.may(Trait::Random) => self.call("nth(@)", d),
            2 if self.may(Trait::UserFunction) => self.call("fails(@)", d),
            3 if self.may(Trait::UserFunction) => self.call("same(@, @)", d),
            _ if self.may(Trait::UserFunction) => self.call("same(@)", d),
            _ => self.column(),
        }
    }

    /// A call as the template has it, with values in its places.
    fn call(&mut self, template: &str, d: u8) -> Sql {
        let mut pieces = Vec::new();
        let mut text = String::new();
        for c in template.chars() {
            let piece = match c {
                '@' => self.value(d),
                '#' if self.chance(80) => Sql::expr(*pick(self.rng, &SMALL)),
                '#' => self.value(0),
                '$' => Sql::expr(*pick(self.rng, &SHORT_TEXTS)),
                '^' => self.time(d),
                _ => {
                    text.push(c);
                    continue;
                }
            };
            pieces.push(Sql::from(std::mem::take(&mut text)));
            pieces.push(piece);
        }
        pieces.push(text.into());
        Sql::expr(Sql::Cat(pieces))
    }

    /// A column of times if there is one; else, and sometimes, anything.
    fn time(&mut self, d: u8) -> Sql {
        let (alias, table) = self.from[self.rng.usize(0..self.from.len())].clone();
        let times: Vec<&Col> = table
            .columns
            .iter()
            .filter(|c| c.spread.is_time())
            .collect();
        if times.is_empty() || self.chance(15) {
            return self.value(d);
        }
        let col = *pick(self.rng, &times);
        Sql::expr(self.name(&alias, col))
    }

    // ---- errors

    /// Something that raises an error: for a few rows, or for all that get to it. Whether
    /// one does depends on what is tested before.
    pub fn failing(&mut self) -> Sql {
        self.traits.add(Trait::Fails);
        let least = self.given(Value::Int(i64::MIN));
        if self.chance(12) {
            let text = self.given(Value::text("{"));
            return match self.rng.u8(0..3) {
                0 => Sql::expr(cat!["abs(", least, ")"]),
                1 => Sql::expr(cat!["json(", text, ")"]),
                _ => Sql::expr(cat!["(", self.column(), " LIKE ", text, " ESCAPE 'no')"]),
            };
        }
        let (name, col) = self.col();
        let mut rows = vec![cat![
            name,
            *pick(self.rng, &["=", "=", "=", "<", ">="]),
            self.likely(col)
        ]];
        if self.chance(40) {
            let (name, col) = self.col();
            rows.push(cat![name, *pick(self.rng, &["<", ">="]), self.likely(col)]);
        }
        let rows = Sql::list(" AND ", 1, rows);
        match self.rng.u8(0..8) {
            0..=2 => {
                let other = self.column();
                Sql::expr(cat![
                    "abs(CASE WHEN ",
                    rows,
                    " THEN ",
                    least,
                    " ELSE ",
                    other,
                    " END)"
                ])
            }
            3..=4 => Sql::expr(cat![
                "json_extract(CASE WHEN ",
                rows,
                " THEN '{' ELSE '{\"a\":1}' END, '$.a')"
            ]),
            5 => Sql::expr(cat!["abs(", least, "*(", rows, ")+7)"]),
            6 => {
                let subject = self.column();
                Sql::expr(cat![
                    "(",
                    subject,
                    " LIKE '%1%' ESCAPE CASE WHEN ",
                    rows,
                    " THEN 'no' ELSE '!' END)"
                ])
            }
            _ => Sql::expr(cat!["abs(", self.column(), ")"]),
        }
    }

    /// A term of WHERE that fails so. It holds for most other rows.
    pub fn failing_term(&mut self) -> Sql {
        let value = self.failing();
        match self.rng.u8(0..6) {
            0 => cat![value, " IS NOT NULL"],
            1 => cat![value, ">=0"],
            2 => {
                let first = self.condition(0);
                Sql::expr(cat!["(", first, " OR ", value, " IS NOT 7)"])
            }
            3 => {
                let last = self.condition(0);
                Sql::expr(cat!["(", value, " IS NULL OR ", last, ")"])
            }
            4 => cat!["coalesce(", value, ",1)"],
            _ => value,
        }
    }

    // ---- conditions

    /// Many terms that one operator connects: what one of them has decided for a row the
    /// others need not be computed for.
    fn chain(&mut self, d: u8) -> Sql {
        let op = *pick(self.rng, &[" OR ", " OR ", " AND "]);
        let mut all = cat!["(", self.condition(d)];
        for _ in 0..self.rng.usize(2..16) {
            all = cat![all, op, self.condition(d)];
        }
        Sql::expr(cat![all, ")"])
    }

    /// A truth value; where it can, one that holds for some rows.
    pub fn condition(&mut self, depth: u8) -> Sql {
        if depth > 0 && self.chance(35) {
            let d = depth - 1;
            if self.chance(12) {
                return self.chain(d);
            }
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
        let not = *pick(self.rng, &["", "", " NOT"]);
        match self.rng.u8(0..32) {
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
            10..=12 => self.in_list(subject, not, col),
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
            16..=18 => self.like(subject, not, col, d),
            19..=20 if self.may(Trait::Glob) => {
                let pattern = self.pattern(col, &GLOB_PATTERNS, '*');
                Sql::expr(cat!["(", subject, not, " GLOB ", pattern, ")"])
            }
            21 => subject,
            22 if self.may(Trait::IsTrue) => {
                let truth = *pick(self.rng, &["TRUE", "FALSE", "NOT TRUE", "NOT FALSE"]);
                Sql::expr(cat!["(", subject, " IS ", truth, ")"])
            }
            23 if self.may(Trait::Collate) => {
                let collation = self.collation();
                let op = *pick(self.rng, &COMPARISONS);
                Sql::expr(cat![
                    "(",
                    subject,
                    op,
                    self.likely(col),
                    " COLLATE ",
                    collation,
                    ")"
                ])
            }
            24 if self.may(Trait::RowValue) => self.row_value(subject, col, d),
            25 if self.chance(50) && self.may(Trait::Subquery) => self.test_by_query(subject, not),
            26 if self.may(Trait::Function) => {
                let op = *pick(self.rng, &COMPARISONS);
                Sql::expr(cat!["(", self.function(d), op, self.value(0), ")"])
            }
            27 if self.may(Trait::DateFunction) => {
                let year = self.rng.u32(1992..1999);
                let op = *pick(self.rng, &COMPARISONS);
                let part = if self.chance(50) {
                    self.call("strftime('%Y', ^)", d)
                } else {
                    self.call("substr(^, 1, 4)", d)
                };
                Sql::expr(cat!["(", part, op, format!("'{year}'"), ")"])
            }
            28 if self.may_rowid() => self.rowid_range(),
            29 => {
                // Another column: of the same type, or of one that needs affinity.
                let other = self.column();
                let op = *pick(self.rng, &COMPARISONS);
                Sql::expr(cat!["(", subject, op, other, ")"])
            }
            _ => {
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
        }
    }

    fn in_list(&mut self, subject: Sql, not: &str, col: &Col) -> Sql {
        let mut count = *pick(self.rng, &[0, 1, 2, 3, 5, 12, 40, 150]);
        if count > 12 && !self.may(Trait::LongIn) {
            count = 12;
        }
        let mixed = self.chance(20);
        let mut items: Vec<Sql> = (0..count)
            .map(|_| match self.rng.u8(0..10) {
                0 if mixed => self.constant(),
                1 if mixed => self.value(0),
                _ => self.likely(col),
            })
            .collect();
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

    fn like(&mut self, subject: Sql, not: &str, col: &Col, d: u8) -> Sql {
        if self.chance(10) && self.may(Trait::LikeVariable) {
            let pattern = match self.rng.u8(0..2) {
                0 => self.value(d),
                _ => cat![self.column(), "||'%'"],
            };
            return Sql::expr(cat!["(", subject, not, " LIKE ", pattern, ")"]);
        }
        if self.chance(10) && self.may(Trait::LikeEscape) {
            let escaped = [
                "'a\\%%' ESCAPE '\\'",
                "'%\\_%' ESCAPE '\\'",
                "'a%' ESCAPE '%'",
                "'a_%' ESCAPE '_'",
                "'%!%' ESCAPE '!'",
                "'ä%' ESCAPE 'ä'",
                "'1%' ESCAPE NULL",
                "'1%' ESCAPE 'no'",
            ];
            let pattern = *pick(self.rng, &escaped);
            return Sql::expr(cat!["(", subject, not, " LIKE ", pattern, ")"]);
        }
        let pattern = self.pattern(col, &LIKE_PATTERNS, '%');
        Sql::expr(cat!["(", subject, not, " LIKE ", pattern, ")"])
    }

    /// A pattern for LIKE or GLOB: one of the list, or a part of a value that
    /// the column may hold.
    fn pattern(&mut self, col: &Col, list: &[&str], any: char) -> Sql {
        let drawn = match self.likely_value(col) {
            Some(Value::Text(bytes)) => String::from_utf8(bytes).ok(),
            Some(Value::Int(i)) => Some(i.to_string()),
            _ => None,
        };
        let drawn = drawn.filter(|s| !s.chars().any(char::is_control));
        let Some(text) = drawn.filter(|_| self.chance(50)) else {
            return Sql::expr(*pick(self.rng, list));
        };
        let letters: Vec<char> = text.chars().collect();
        let start = self.rng.usize(0..=letters.len() / 2);
        let end = self.rng.usize(start..=letters.len());
        let part: String = letters[start..end].iter().collect();
        let pattern = match self.rng.u8(0..5) {
            0 => format!("{}{any}", letters[..end].iter().collect::<String>()),
            1 => format!("{any}{}", letters[start..].iter().collect::<String>()),
            2 | 3 => format!("{any}{part}{any}"),
            _ => text,
        };
        self.given(Value::text(&pattern))
    }

    fn row_value(&mut self, subject: Sql, col: &Col, d: u8) -> Sql {
        let (other, first, second) = (self.value(d), self.likely(col), self.constant());
        if self.chance(15) {
            return Sql::expr(cat![
                "((",
                subject,
                ", ",
                other,
                ") BETWEEN (",
                first,
                ", 1) AND (",
                second,
                ", 2))"
            ]);
        }
        let op = if self.chance(20) {
            " IS "
        } else {
            *pick(self.rng, &COMPARISONS)
        };
        Sql::expr(cat![
            "((", subject, ", ", other, ") ", op, " (", first, ", ", second, "))"
        ])
    }

    fn may_rowid(&mut self) -> bool {
        let table = self.from[0].1;
        table.rowid && !table.view && self.from.len() == 1 && self.may(Trait::RowidName)
    }

    /// Bounds of the rowid, which an executor may use to read less.
    fn rowid_range(&mut self) -> Sql {
        let rows = self.from[0].1.rows as i64;
        let mut bound = || self.rng.i64(-rows / 4 - 5..rows + rows / 4 + 5);
        let (low, high) = (bound(), bound());
        let text = match self.rng.u8(0..7) {
            0 => format!("(rowid >= {low} AND rowid < {high})"),
            1 => format!("(rowid > {low})"),
            2 => format!("(rowid <= {high})"),
            3 => format!("(rowid BETWEEN {low} AND {high})"),
            4 => format!("(rowid > {low}.5)"),
            5 => format!("(rowid < '{high}')"),
            _ => format!("(rowid IN ({low}, {high}, 1))"),
        };
        Sql::expr(text)
    }

    fn test_by_query(&mut self, subject: Sql, not: &str) -> Sql {
        let table = &self.tables[self.rng.usize(0..self.tables.len())];
        let column = &table.columns[self.rng.usize(0..table.columns.len())].name;
        if self.chance(50) {
            return Sql::expr(cat![
                "EXISTS(SELECT 1 FROM ",
                table.name.as_str(),
                " LIMIT 1)"
            ]);
        }
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

    /// A test by a sub-select that equalities tie to a row around it: nothing if no
    /// table is small enough to be read for each of these.
    pub fn related(&mut self) -> Option<Sql> {
        const VALUES: usize = 300_000;
        let around = self.from.iter().map(|(_, table)| table.rows).max()?;
        let tables = self.tables;
        let inner: Vec<_> = tables
            .iter()
            .filter(|table| table.rows * around <= VALUES && !table.view)
            .collect();
        if inner.is_empty() {
            return None;
        }
        let table = *pick(self.rng, &inner);
        let mut terms = Vec::new();
        for _ in 0..*pick(self.rng, &[1, 1, 1, 2]) {
            let (alias, outer) = pick(self.rng, &self.from);
            let outer = format!("{alias}.{}", pick(self.rng, &outer.columns).name);
            let own = format!("s.{}", pick(self.rng, &table.columns).name);
            terms.push(match self.rng.u8(0..12) {
                0 => cat![own, "=", outer, " COLLATE NOCASE"],
                1 => cat![own, "=+", outer],
                2 => cat![outer, " IS ", own],
                3..=6 => cat![outer, "=", own],
                _ => cat![own, "=", outer],
            });
        }
        let exists = self.chance(50);
        if exists && self.chance(40) {
            let (alias, outer) = pick(self.rng, &self.from);
            let outer = format!("{alias}.{}", pick(self.rng, &outer.columns).name);
            let own = format!("s.{}", pick(self.rng, &table.columns).name);
            let op = *pick(self.rng, &["<>", "<>", "<", "<=", ">", ">="]);
            terms.push(match self.chance(50) {
                true => cat![own, op, outer],
                false => cat![outer, op, own],
            });
        }
        let saved = std::mem::replace(&mut self.from, vec![("s".into(), table)]);
        if self.chance(40) {
            terms.push(self.condition(0));
        }
        if self.chance(12) {
            let at = self.rng.usize(0..=terms.len());
            terms.insert(at, self.failing_term());
        }
        let mut value = match exists {
            true => "1".into(),
            false => self.aggregate_call(0),
        };
        if !exists && self.chance(30) {
            let more = self.aggregate_call(0);
            value = cat!["(", value, *pick(self.rng, &["+", "*", "||"]), more, ")"];
        }
        self.from = saved;
        let query = cat![
            "(SELECT ",
            value,
            format!(" FROM {} AS s WHERE ", table.name),
            Sql::list(" AND ", 1, terms),
            ")"
        ];
        if exists {
            let verb = *pick(self.rng, &["EXISTS ", "NOT EXISTS ", "NOT EXISTS "]);
            return Some(cat![verb, query]);
        }
        let op = *pick(self.rng, &[" < ", " >= ", " = ", " IS ", " <> "]);
        Some(match self.rng.u8(0..4) {
            0 => cat![query, " IS NULL"],
            1 => cat![self.constant(), op, query],
            _ => cat![self.value(0), op, query],
        })
    }

    fn subquery(&mut self) -> Sql {
        let tables = self.tables;
        let table = &tables[self.rng.usize(0..tables.len())];
        let outer = if self.chance(40) && table.rows < 200 {
            Some(self.value(0))
        } else {
            None
        };
        let saved = std::mem::replace(&mut self.from, vec![(table.bare(), table)]);
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
}
