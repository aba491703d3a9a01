//! `--types`: the types of a new table's columns, from the values of a sample.
//!
//! A column of nothing but integers is INTEGER, and one with other numbers REAL; empty fields are
//! NULL in both. All others are TEXT. A text that would not come back as it was, such as 007, is no
//! number. The workers check all rows that come later.

use super::json;
use super::number::{is_plain_integer, is_plain_number};
use super::rows::ColumnValues;

/// What the values of a column have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuessedType {
    /// There were none.
    Nothing,
    Integer,
    Number,
    Text,
}

impl GuessedType {
    /// The type of a column that has this value, too.
    fn with(self, value: GuessedType) -> GuessedType {
        use GuessedType::{Integer, Nothing, Number};
        match (self, value) {
            (Nothing, other) | (other, Nothing) => other,
            (Integer, Integer) => Integer,
            (Integer | Number, Integer | Number) => Number,
            _ => GuessedType::Text,
        }
    }

    fn of_field(field: &[u8]) -> GuessedType {
        match field {
            b"" => GuessedType::Nothing,
            field if is_plain_integer(field) => GuessedType::Integer,
            field if is_plain_number(field) => GuessedType::Number,
            _ => GuessedType::Text,
        }
    }

    fn of_json(value: &str) -> GuessedType {
        match value.as_bytes() {
            [b'n', ..] => GuessedType::Nothing,
            [b't' | b'f', ..] => GuessedType::Integer,
            [b'"' | b'[' | b'{', ..] => GuessedType::Text,
            _ if value.parse::<i64>().is_ok() => GuessedType::Integer,
            _ => GuessedType::Number,
        }
    }

    /// The type as it is declared.
    pub fn declared(self) -> &'static str {
        match self {
            GuessedType::Integer => "INTEGER",
            GuessedType::Number => "REAL",
            GuessedType::Nothing | GuessedType::Text => "TEXT",
        }
    }

    /// What later values must be.
    pub fn values(self) -> ColumnValues {
        match self {
            GuessedType::Integer => ColumnValues::OnlyIntegers,
            GuessedType::Number => ColumnValues::OnlyNumbers,
            GuessedType::Nothing | GuessedType::Text => ColumnValues::Text,
        }
    }
}

/// The types of `columns` columns in some records.
pub fn from_fields(
    records: impl Iterator<Item = Vec<Vec<u8>>>,
    columns: usize,
    null: Option<&[u8]>,
) -> Vec<GuessedType> {
    let mut types = vec![GuessedType::Nothing; columns];
    for fields in records {
        for (kind, field) in types.iter_mut().zip(&fields) {
            if Some(field.as_slice()) != null {
                *kind = kind.with(GuessedType::of_field(field));
            }
        }
    }
    types
}

/// The keys of all objects of a sample, in the order in which they first come, and their types.
pub fn from_objects(bytes: &[u8]) -> Vec<(String, GuessedType)> {
    let mut all: Vec<(String, GuessedType)> = Vec::new();
    let lines = bytes.split(|&b| b == b'\n').map(String::from_utf8_lossy);
    for line in lines {
        for (key, value) in json::objects(&line)
            .into_iter()
            .filter_map(json::keys)
            .flatten()
        {
            let value = GuessedType::of_json(value.get());
            match all
                .iter_mut()
                .find(|(name, _)| name.eq_ignore_ascii_case(&key))
            {
                Some((_, kind)) => *kind = kind.with(value),
                None => all.push((key, value)),
            }
        }
    }
    all
}
