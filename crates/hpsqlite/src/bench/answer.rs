//! Answers of statements, and whether two are the same.
//!
//! Libraries of SQLite with the same database follow the same plan, so their rows must be equal to
//! the byte and come in the same order. With ANALYZE the plan may be another one: rows of a
//! statement without ORDER BY come in another order then, and what is summed up in another order is
//! rounded in another way. Another database system has types of its own. So three things are kept
//! of an answer: a hash of the rows in their order, a hash that does not depend on the order, and of
//! each column what hardly depends on types: how many NULLs, the sum of its numbers, and a sum of
//! hashes of its texts. A wrong query or wrong data changes the last as well; rounding does not.

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::compare::worker::{RowHash, encode_value};
use crate::sys::{Stmt, Value};

/// Sums of numbers are the same if they differ by less than this share of the sum of amounts.
const TOLERANCE: f64 = 1e-7;

/// How rows were found, which says how much they may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerWay {
    /// SQLite, by the plan that all libraries choose without statistics.
    #[default]
    Plain,
    /// SQLite with ANALYZE.
    Analyzed,
    /// DuckDB.
    Duckdb,
}

/// What a statement gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    #[serde(skip)]
    pub rows: u64,
    pub way: AnswerWay,
    /// Hash of all values with their types, in order; empty where it is not comparable.
    #[serde(default)]
    pub ordered: String,
    /// The same for the same rows in any order.
    #[serde(default)]
    pub unordered: String,
    pub columns: Vec<AnswerColumn>,
}

/// What is kept of a column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerColumn {
    pub nulls: u64,
    pub numbers: u64,
    pub sum: f64,
    /// Sum of the numbers without their signs.
    pub size: f64,
    pub texts: u64,
    /// Sum of the first 32 bits of the MD5 of each text or blob.
    pub hash: u64,
}

/// How far two answers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Exact,
    /// The same rows to the byte, in another order.
    OtherOrder,
    /// Up to rounding and types.
    Rounded,
    Different,
}

impl Answer {
    /// As it is kept with a sample.
    pub fn text(&self) -> String {
        let rest = serde_json::to_string(self).expect("numbers and texts are JSON");
        format!("{} rows, {rest}", self.rows)
    }

    /// Reads what [`Answer::text`] gave; none where it is an answer of another kind.
    pub fn parse(text: &str) -> Option<Answer> {
        let (rows, rest) = text.split_once(" rows, ")?;
        let answer: Answer = serde_json::from_str(rest).ok()?;
        Some(Answer {
            rows: rows.parse().ok()?,
            ..answer
        })
    }

    /// For people.
    pub fn words(&self) -> String {
        let hash = match self.ordered.get(..8) {
            Some(hash) => format!(", hash {hash}…"),
            None => String::new(),
        };
        let columns = self.columns.iter().map(|c| {
            let mut parts = Vec::new();
            if c.nulls > 0 {
                parts.push(format!("{} NULL", c.nulls));
            }
            if c.numbers > 0 {
                parts.push(format!("{} numbers, sum {}", c.numbers, c.sum));
            }
            if c.texts > 0 {
                parts.push(format!("{} texts, hash {:x}", c.texts, c.hash));
            }
            parts.join(", ")
        });
        let columns: Vec<String> = columns.collect();
        format!("{} rows{hash} ({})", self.rows, columns.join("; "))
    }

    /// Compares with another answer to the same question.
    pub fn agrees(&self, other: &Answer) -> Agreement {
        let both = |a: &str, b: &str| !a.is_empty() && a == b;
        if self.rows != other.rows {
            Agreement::Different
        } else if both(&self.ordered, &other.ordered) {
            Agreement::Exact
        } else if self.way == other.way && !self.ordered.is_empty() {
            Agreement::Different
        } else if both(&self.unordered, &other.unordered) {
            Agreement::OtherOrder
        } else if self.columns.len() == other.columns.len()
            && std::iter::zip(&self.columns, &other.columns).all(|(a, b)| a.is_near(b))
        {
            Agreement::Rounded
        } else {
            Agreement::Different
        }
    }
}

impl AnswerColumn {
    fn is_near(&self, other: &AnswerColumn) -> bool {
        let same = |c: &AnswerColumn| (c.nulls, c.numbers, c.texts, c.hash);
        let near = |a: f64, b: f64, size: f64| (a - b).abs() <= TOLERANCE * size || a == b;
        let size = self.size.max(other.size);
        same(self) == same(other)
            && near(self.sum, other.sum, size)
            && near(self.size, other.size, size)
    }

    fn add(&mut self, value: Value<'_>) {
        let number = match value {
            Value::Null => return self.nulls += 1,
            Value::Integer(n) => n as f64,
            Value::Real(r) => r,
            Value::Text(bytes) | Value::Blob(bytes) => {
                self.texts += 1;
                let digest = Md5::digest(bytes);
                let first = [digest[0], digest[1], digest[2], digest[3]];
                self.hash = self.hash.wrapping_add(u32::from_be_bytes(first).into());
                return;
            }
        };
        self.numbers += 1;
        self.sum += number;
        self.size += number.abs();
    }
}

/// An answer that is being read.
#[derive(Default)]
pub struct AnswerReading {
    answer: Answer,
    ordered: RowHash,
    unordered: u64,
    row: Vec<u8>,
}

impl AnswerReading {
    /// Of rows with so many columns.
    pub fn of(way: AnswerWay, columns: i32) -> AnswerReading {
        let mut reading = AnswerReading::default();
        reading.answer.way = way;
        reading
            .answer
            .columns
            .resize(columns.try_into().unwrap_or(0), AnswerColumn::default());
        reading
    }

    /// Takes the row that the statement stands on.
    pub fn row(&mut self, stmt: &Stmt<'_>, columns: i32) {
        self.values((0..columns).map(|i| stmt.value(i)));
    }

    /// Takes a row of values.
    pub fn values<'v>(&mut self, values: impl Iterator<Item = Value<'v>>) {
        self.row.clear();
        for (value, column) in values.zip(&mut self.answer.columns) {
            encode_value(value, &mut self.row);
            column.add(value);
        }
        self.unordered = self.unordered.wrapping_add(xxh3_64(&self.row));
        self.ordered.encoded(&self.row);
        self.answer.rows += 1;
    }

    pub fn end(mut self) -> Answer {
        self.answer.ordered = format!("{:032x}", self.ordered.digest());
        self.answer.unordered = format!("{:016x}", self.unordered);
        self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of rows of a number and a text.
    fn answer(way: AnswerWay, rows: &[(f64, &str)]) -> Answer {
        let mut columns = vec![AnswerColumn::default(), AnswerColumn::default()];
        let (mut ordered, mut unordered) = (Vec::new(), 0u64);
        for (number, text) in rows {
            columns[0].add(Value::Real(*number));
            columns[1].add(Value::Text(text.as_bytes()));
            let row = format!("{number:?}\0{text}\0");
            unordered = unordered.wrapping_add(xxh3_64(row.as_bytes()));
            ordered.extend(row.into_bytes());
        }
        let hash = |n: u64| match way {
            AnswerWay::Duckdb => String::new(),
            _ => format!("{n:016x}"),
        };
        Answer {
            rows: rows.len() as u64,
            way,
            ordered: hash(xxh3_64(&ordered)),
            unordered: hash(unordered),
            columns,
        }
    }

    const ROWS: [(f64, &str); 3] = [(0.1, "a"), (-2.5, "b"), (1e6, "c")];

    #[test]
    fn libraries_agree_to_the_byte_or_not_at_all() {
        let first = answer(AnswerWay::Plain, &ROWS);
        assert_eq!(first.agrees(&first.clone()), Agreement::Exact);
        let mut rounded = ROWS;
        rounded[0].0 += 1e-16;
        let other = answer(AnswerWay::Plain, &rounded);
        assert_ne!(rounded[0].0, ROWS[0].0);
        assert_eq!(first.agrees(&other), Agreement::Different);
        let mut turned = ROWS;
        turned.reverse();
        let other = answer(AnswerWay::Plain, &turned);
        assert_eq!(first.agrees(&other), Agreement::Different);
    }

    #[test]
    fn with_statistics_rows_may_come_in_another_order_and_sums_be_rounded() {
        let first = answer(AnswerWay::Plain, &ROWS);
        let mut rows = ROWS;
        rows.reverse();
        let analyzed = answer(AnswerWay::Analyzed, &rows);
        assert_eq!(first.agrees(&analyzed), Agreement::OtherOrder);
        rows[2].0 += 1e-16;
        let analyzed = answer(AnswerWay::Analyzed, &rows);
        assert_eq!(first.agrees(&analyzed), Agreement::Rounded);
    }

    #[test]
    fn what_is_wrong_is_no_rounding() {
        let first = answer(AnswerWay::Plain, &ROWS);
        assert_eq!(
            first.agrees(&answer(AnswerWay::Duckdb, &ROWS)),
            Agreement::Rounded
        );
        type Change = fn(&mut Vec<(f64, &'static str)>);
        let changes: [Change; 5] = [
            |rows| rows[2].0 += 1.0,
            |rows| rows[1].1 = "d",
            |rows| rows[1].0 = 2.5,
            |rows| rows.truncate(2),
            |rows| rows.push((0.0, "a")),
        ];
        for change in changes {
            let mut rows = ROWS.to_vec();
            change(&mut rows);
            let other = answer(AnswerWay::Duckdb, &rows);
            assert_eq!(first.agrees(&other), Agreement::Different, "{rows:?}");
        }
        let mut null = answer(AnswerWay::Duckdb, &ROWS);
        null.columns[1].nulls = 1;
        assert_eq!(first.agrees(&null), Agreement::Different);
    }

    #[test]
    fn an_answer_is_read_back() {
        let first = answer(AnswerWay::Analyzed, &ROWS);
        assert_eq!(Answer::parse(&first.text()), Some(first.clone()));
        assert!(first.text().starts_with("3 rows, "));
        assert_eq!(Answer::parse("5e1f"), None);
        assert!(first.words().contains("3 numbers, sum 999997.6"));
    }
}
