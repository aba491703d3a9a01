//! Values as they stand in a suite file.

use serde::{Deserialize, Serialize};

/// A value in a suite file: `4`, `0.5`, `true` and `"4"` mean their text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Scalar {
    pub fn text(&self) -> String {
        match self {
            Scalar::Bool(true) => "on".to_owned(),
            Scalar::Bool(false) => "off".to_owned(),
            Scalar::Integer(n) => n.to_string(),
            Scalar::Real(x) => x.to_string(),
            Scalar::Text(s) => s.clone(),
        }
    }
}

/// A value in a suite file, or a list of such.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    More(Vec<Scalar>),
    One(Scalar),
}

impl OneOrMore {
    pub fn texts(&self) -> Vec<String> {
        match self {
            OneOrMore::One(s) => vec![s.text()],
            OneOrMore::More(list) => list.iter().map(Scalar::text).collect(),
        }
    }

    /// Whether this value is one of them.
    pub fn has(&self, value: &str) -> bool {
        self.texts().iter().any(|text| text == value)
    }
}
