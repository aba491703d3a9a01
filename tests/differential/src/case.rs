//! A test case: how a database comes to be, and what is then asked of it.

use serde::{Deserialize, Serialize};

use crate::generate::traits::Traits;
use crate::library::Setup;
use crate::sql::Sql;
use crate::value::Value;

/// Everything one seed leads to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    pub seed: u64,
    /// Make the database in a file, once, by stock; else in memory, on each side.
    pub file: bool,
    pub setup: Setup,
    pub schema: Vec<Statement>,
    pub session: Vec<Step>,
    /// Read text results as UTF-16.
    pub wide: bool,
}

/// A statement that makes the database. Failures are of no interest here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Statement {
    Sql(Sql),
    Create {
        /// All before the list of columns, and all after it.
        head: String,
        columns: Vec<Column>,
        constraints: Vec<Sql>,
        tail: String,
    },
    Insert {
        table: String,
        columns: Vec<String>,
        rows: Vec<Vec<Value>>,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub definition: Sql,
}

/// Rows that one INSERT statement carries when rendered.
const ROWS_AN_INSERT: usize = 100;

impl Statement {
    /// The SQL statements to run.
    pub fn render(&self) -> Vec<String> {
        match self {
            Statement::Sql(sql) => vec![sql.render()],
            Statement::Create {
                head,
                columns,
                constraints,
                tail,
            } => {
                let mut items: Vec<String> = columns
                    .iter()
                    .map(|c| format!("{}{}", c.name, c.definition.render()))
                    .collect();
                items.extend(constraints.iter().map(Sql::render));
                vec![format!("{head}({}){tail}", items.join(", "))]
            }
            Statement::Insert {
                table,
                columns,
                rows,
            } => rows
                .chunks(ROWS_AN_INSERT)
                .map(|rows| {
                    let rows: Vec<String> = rows
                        .iter()
                        .map(|row| {
                            let row: Vec<String> = row.iter().map(Value::literal).collect();
                            format!("({})", row.join(","))
                        })
                        .collect();
                    format!(
                        "INSERT OR IGNORE INTO {table}({}) VALUES {}",
                        columns.join(","),
                        rows.join(",")
                    )
                })
                .collect(),
        }
    }
}

/// One thing done in the session on both libraries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub sql: Sql,
    pub binds: Vec<Value>,
    /// 0, or 1: a second connection of the same library to the same file.
    pub connection: usize,
    /// Run once more, after `again`, from the same prepared statement and with
    /// these parameters.
    pub again: Option<Again>,
    /// Statements run when this many rows have been read.
    pub pause: Option<(u32, Vec<Sql>)>,
    /// Rows after which the statement is reset.
    pub stop: Option<u32>,
    /// What a query uses.
    pub traits: Traits,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Again {
    pub between: Vec<Sql>,
    pub binds: Vec<Value>,
}

impl Step {
    pub fn new(sql: Sql) -> Step {
        Step {
            sql,
            binds: Vec::new(),
            connection: 0,
            again: None,
            pause: None,
            stop: None,
            traits: Traits::default(),
        }
    }
}

impl Case {
    /// An SQL script for the sqlite3 shell that does the same, as far as a
    /// shell can; what it cannot is said in comments.
    pub fn script(&self, pragmas: &[String]) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        if self.setup != Setup::default() {
            line(format!("-- the application's set-up: {:?}", self.setup));
        }
        if self.wide {
            line("-- text is read by sqlite3_column_text16()".into());
        }
        if self.file {
            line(
                "-- on a new file, which is closed and opened again before the PRAGMA hp_offload"
                    .into(),
            );
        }
        for statement in self.schema.iter().flat_map(Statement::render) {
            line(format!("{statement};"));
        }
        for pragma in pragmas {
            line(format!("{pragma};"));
        }
        for step in &self.session {
            let with = |binds: &[Value]| -> Vec<String> {
                let set = |(i, v): (usize, &Value)| {
                    format!(
                        ".parameter set ?{} \"{}\"",
                        i + 1,
                        v.literal().replace('"', "\\\"")
                    )
                };
                binds.iter().enumerate().map(set).collect()
            };
            with(&step.binds).into_iter().for_each(&mut line);
            if step.connection > 0 {
                line("-- on a second connection:".into());
            }
            if let Some((rows, inner)) = &step.pause {
                let inner: Vec<String> = inner.iter().map(Sql::render).collect();
                line(format!(
                    "-- in the next one, after {rows} rows: {}",
                    inner.join("; ")
                ));
            }
            if let Some(rows) = step.stop {
                line(format!("-- the next one is reset after {rows} rows"));
            }
            line(format!("{};", step.sql.render()));
            if let Some(again) = &step.again {
                for sql in &again.between {
                    line(format!("{};", sql.render()));
                }
                with(&again.binds).into_iter().for_each(&mut line);
                line("-- the same prepared statement again:".into());
                line(format!("{};", step.sql.render()));
            }
        }
        out
    }
}
