//! What `hpsqlite cluster` and a node say to each other: JSON over HTTP, the secret as bearer token.

use rusqlite::types::{Value, ValueRef};
use serde::{Deserialize, Serialize};

#[derive(Clone, Default, Deserialize, Serialize)]
pub struct Ask {
    /// One statement or several; several that write are one transaction.
    pub sql: String,
    /// For `?1`, `?2` … of the only statement
    #[serde(default)]
    pub parameters: Vec<Cell>,
    /// Read what all acknowledged writes left, not what this node has got so far.
    #[serde(default)]
    pub consistent: bool,
    /// Of a request that may be sent again: it is written once, and answered alike. Reads do not need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An id for a request
#[derive(Deserialize, Serialize)]
pub struct Given {
    pub id: String,
}

/// What one node hands to the leader
#[derive(Deserialize, Serialize)]
pub struct Handed {
    /// With an id
    pub ask: Ask,
    /// Nobody has sent this id before.
    pub first: bool,
}

/// A value. JSON's numbers, texts and null are what they look like; the rest is named.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Null(()),
    Integer(i64),
    Real(f64),
    Text(String),
    /// Bytes as hexadecimal digits; also of a text that is no UTF-8
    Blob {
        blob: String,
    },
    /// `inf` or `-inf`, which are no numbers in JSON
    Infinite {
        real: String,
    },
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match value {
            ValueRef::Null => Self::Null(()),
            ValueRef::Integer(i) => Self::Integer(i),
            ValueRef::Real(r) if r.is_infinite() => Self::Infinite {
                real: r.to_string(),
            },
            ValueRef::Real(r) => Self::Real(r),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_string()),
                Err(_) => Self::Blob { blob: hex(bytes) },
            },
            ValueRef::Blob(bytes) => Self::Blob { blob: hex(bytes) },
        }
    }
}

impl Cell {
    /// The value; none if digits are no digits.
    pub fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Null(()) => Value::Null,
            Self::Integer(i) => Value::Integer(*i),
            Self::Real(r) => Value::Real(*r),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Infinite { real } => Value::Real(real.parse().ok()?),
            Self::Blob { blob } => {
                if blob.len() % 2 != 0 || !blob.is_ascii() {
                    return None;
                }
                let byte = |i| u8::from_str_radix(&blob[i..i + 2], 16).ok();
                Value::Blob(
                    (0..blob.len())
                        .step_by(2)
                        .map(byte)
                        .collect::<Option<_>>()?,
                )
            }
        })
    }
}

/// What became of one statement
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Rows {
        columns: Vec<String>,
        rows: Vec<Vec<Cell>>,
    },
    Changes {
        changes: usize,
    },
}

/// Why there is no answer; an error of who asked
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Refusal {
    pub error: String,
    /// Ask this node instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<u64>,
    /// The cluster is at fault: the same may be answered later.
    #[serde(default, skip_serializing_if = "is_false")]
    pub again: bool,
    /// It may have been written.
    #[serde(default, skip_serializing_if = "is_false")]
    pub doubt: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.error)
    }
}

impl std::error::Error for Refusal {}

/// How a node is
#[derive(Clone, Deserialize, Serialize)]
pub struct Status {
    pub id: u64,
    pub process: u32,
    /// The versions of the library
    pub library: String,
    /// starting, leader, follower, candidate or learner; or why it does not work
    pub state: String,
    pub leader: Option<u64>,
    pub term: u64,
    /// The newest entry of its log, and the newest one that its database has
    pub log: u64,
    pub applied: u64,
    /// The newest entry in its snapshot
    pub snapshot: Option<u64>,
    /// Nodes that vote
    pub voters: Vec<u64>,
    /// Bytes of its database, log of SQLite's included
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser of JSON is exact only if it is asked to be.
    #[test]
    fn reals_survive_to_the_last_bit() {
        for i in 1..100_000u32 {
            let real = f64::from(i) * 24_575.8 / 9_683.0;
            let text = serde_json::to_string(&Cell::Real(real)).unwrap();
            let back: Cell = serde_json::from_str(&text).unwrap();
            assert_eq!(back, Cell::Real(real), "{text}");
        }
    }

    #[test]
    fn values_survive_the_way() {
        let values = [
            Value::Null,
            Value::Integer(i64::MAX),
            Value::Real(0.1 + 0.2),
            Value::Real(3.0),
            Value::Real(f64::NEG_INFINITY),
            Value::Text("ä\u{0}'".into()),
            Value::Blob(vec![0, 255]),
        ];
        for value in values {
            let cell = Cell::from(ValueRef::from(&value));
            let text = serde_json::to_string(&cell).unwrap();
            let back: Cell = serde_json::from_str(&text).unwrap();
            assert_eq!(back.value(), Some(value), "{text}");
        }
        assert_eq!(Cell::Blob { blob: "0g".into() }.value(), None);
        assert_eq!(Cell::Blob { blob: "012".into() }.value(), None);
    }
}
