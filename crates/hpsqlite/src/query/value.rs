//! A value of a row, with the text that SQLite makes of it.

use std::borrow::Cow;
use std::fmt::Write;

use crate::sys::{Stmt, Value};

pub enum RowValue<'a> {
    Null,
    /// The digits.
    Integer(String),
    /// The shortest text that is this number, as SQLite has it.
    Real(Cow<'a, str>),
    /// Bytes that are no UTF-8 are replaced.
    Text(Cow<'a, str>),
    Blob(&'a [u8]),
}

impl<'a> RowValue<'a> {
    /// Column `i` of the row that the statement stands on.
    pub fn of(statement: &'a Stmt<'_>, i: i32) -> RowValue<'a> {
        match statement.value(i) {
            Value::Null => RowValue::Null,
            Value::Integer(n) => RowValue::Integer(n.to_string()),
            Value::Real(_) => RowValue::Real(String::from_utf8_lossy(statement.as_text(i))),
            Value::Text(t) => RowValue::Text(String::from_utf8_lossy(t)),
            Value::Blob(b) => RowValue::Blob(b),
        }
    }

    /// The value as a person reads it; NULL is `null`.
    pub fn shown(&self, null: &'a str) -> Cow<'_, str> {
        match self {
            RowValue::Null => Cow::Borrowed(null),
            RowValue::Integer(digits) => Cow::Borrowed(digits),
            RowValue::Real(text) | RowValue::Text(text) => Cow::Borrowed(text),
            RowValue::Blob(bytes) => Cow::Owned(format!("x'{}'", hexadecimal(bytes))),
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(self, RowValue::Integer(_) | RowValue::Real(_))
    }
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
