//! SQL values as they go into a database and come out of a query.

use serde::{Deserialize, Serialize};

/// One value of SQLite's five storage classes. Text is bytes: SQLite passes
/// invalid encodings through, and so must whoever compares two of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    Null,
    Int(i64),
    #[serde(with = "bits")]
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Value {
    pub fn text(s: &str) -> Value {
        Value::Text(s.as_bytes().to_vec())
    }

    /// The same value and the same type, down to the sign of zero.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }

    /// An SQL literal that yields this value, whatever bytes are in it.
    pub fn literal(&self) -> String {
        match self {
            Value::Null => "NULL".into(),
            Value::Int(i) => i.to_string(),
            Value::Real(r) if r.is_infinite() => if *r > 0.0 { "9e999" } else { "-9e999" }.into(),
            Value::Real(r) => format!("{r:?}"),
            Value::Blob(b) => format!("x'{}'", hex(b)),
            Value::Text(b) => match std::str::from_utf8(b) {
                Ok(s) if !s.chars().any(char::is_control) => {
                    format!("'{}'", s.replace('\'', "''"))
                }
                _ => format!("CAST(x'{}' AS TEXT)", hex(b)),
            },
        }
    }

    /// Simpler values to try in its place, the simplest first.
    pub fn simpler(&self) -> Vec<Value> {
        let mut out = Vec::new();
        let mut add = |v: Value| {
            if !v.same(self) && v.literal().len() <= self.literal().len() {
                out.push(v)
            }
        };
        if *self != Value::Null {
            add(Value::Null);
        }
        match self {
            Value::Null => {}
            Value::Int(_) => {
                add(Value::Int(0));
                add(Value::Int(1));
            }
            Value::Real(_) => {
                add(Value::Int(0));
                add(Value::Real(0.5));
            }
            Value::Text(b) => {
                add(Value::text(""));
                add(Value::text("a"));
                add(Value::Text(b[..b.len() / 2].to_vec()));
            }
            Value::Blob(b) => {
                add(Value::Blob(Vec::new()));
                add(Value::Blob(b[..b.len() / 2].to_vec()));
            }
        }
        out
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// JSON knows no infinities: a real travels as the bits of its double.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(r: &f64, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(r.to_bits())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        u64::deserialize(d).map(f64::from_bits)
    }
}
