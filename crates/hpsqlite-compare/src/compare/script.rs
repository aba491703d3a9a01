//! SQL as the user gave it: where each statement stands, and how it may be run.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

use super::protocol::Piece;
use super::worker::trim_start;

/// Some SQL text with the name under which errors point to it.
pub struct Script {
    pub name: String,
    pub text: String,
    /// What the statement is called in tables, instead of its text.
    pub title: Option<String>,
}

impl Script {
    /// SQL from the command line, the `n`th (from 1) of `all` arguments.
    pub fn argument(n: usize, all: usize, text: &str) -> Script {
        let name = match all {
            1 => "SQL".to_owned(),
            _ => format!("SQL {n}"),
        };
        Script {
            name,
            text: text.to_owned(),
            title: None,
        }
    }

    /// SQL from a file; `-` is standard input.
    pub fn file(path: &Path) -> Result<Script> {
        let (name, text) = if path == Path::new("-") {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            ("standard input".to_owned(), read.map(|_| text))
        } else {
            (path.display().to_string(), std::fs::read_to_string(path))
        };
        Ok(Script {
            text: text.with_context(|| format!("cannot read {name}"))?,
            name,
            title: None,
        })
    }
}

/// How a statement is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// Measured; what it writes to a scratch copy is undone after each run but the last.
    Ordinary,
    /// Measured, and not undone because it cannot run inside a transaction.
    Plain,
    /// Run once on each side and not measured: it only changes the connection's state.
    Once,
}

impl StatementKind {
    fn of(sql: &str) -> StatementKind {
        let word: String = sql.chars().take_while(char::is_ascii_alphabetic).collect();
        match word.to_ascii_uppercase().as_str() {
            "BEGIN" | "COMMIT" | "END" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" | "ATTACH"
            | "DETACH" => StatementKind::Once,
            "VACUUM" | "PRAGMA" => StatementKind::Plain,
            _ => StatementKind::Ordinary,
        }
    }
}

/// One statement.
pub struct SqlText {
    pub text: String,
    pub kind: StatementKind,
    pub title: Option<String>,
    script: String,
    /// The text of the script up to the statement.
    before: String,
}

impl SqlText {
    /// The statement `piece` of `script`.
    pub fn new(script: &Script, piece: Piece) -> SqlText {
        SqlText {
            kind: StatementKind::of(trim_start(&piece.sql).0),
            title: script.title.clone(),
            script: script.name.clone(),
            before: script.text[..piece.offset].to_owned(),
            text: piece.sql,
        }
    }

    /// Line and column of a byte of the statement, or the line where it starts.
    pub fn place(&self, offset: Option<usize>) -> String {
        let offset = offset.filter(|&o| self.text.is_char_boundary(o));
        let upto = format!("{}{}", self.before, &self.text[..offset.unwrap_or(0)]);
        let line = upto.matches('\n').count() + 1;
        match offset {
            Some(_) => {
                let column = upto.chars().rev().take_while(|&c| c != '\n').count() + 1;
                format!("{}, line {line}, column {column}", self.script)
            }
            None => format!("{}, line {line}", self.script),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "SELECT 1;\n-- über\nSELECT 'ü' FORM t;";
        let script = Script::argument(1, 1, text);
        let offset = text.rfind("SELECT").unwrap();
        let sql = SqlText::new(
            &script,
            Piece {
                sql: text[offset..].to_owned(),
                offset,
            },
        );
        let form = sql.text.find("FORM");
        assert_eq!(sql.place(form), "SQL, line 3, column 12");
        assert_eq!(sql.place(None), "SQL, line 3");
    }

    #[test]
    fn kinds() {
        assert_eq!(StatementKind::of("select 1"), StatementKind::Ordinary);
        assert_eq!(StatementKind::of("begin"), StatementKind::Once);
        assert_eq!(StatementKind::of("VACUUM;"), StatementKind::Plain);
    }
}
