//! Statements on a results file, with what they bind and give.

use anyhow::{Context, Result, anyhow};
use serde::Deserialize;

use crate::sys::{Db, Stmt, Value};

/// A value to bind.
pub enum Bound<'a> {
    Integer(i64),
    Real(f64),
    Text(&'a str),
}

pub fn json<T: for<'a> Deserialize<'a>>(s: &str) -> Result<T> {
    serde_json::from_str(s).with_context(|| format!("the results file holds '{s}'"))
}

pub fn bound<'d>(db: &'d Db<'_>, sql: &str, values: &'d [Bound<'d>]) -> Result<Stmt<'d>> {
    let mut statement = db
        .prepare(sql)?
        .ok_or_else(|| anyhow!("an empty statement"))?;
    for (i, value) in (1..).zip(values) {
        match value {
            Bound::Integer(n) => statement.bind_int(i, *n)?,
            Bound::Real(r) => statement.bind_real(i, *r)?,
            // SAFETY: the statement lives no longer than `values`, which is borrowed as long.
            Bound::Text(s) => unsafe { statement.bind_text_static(i, s)? },
        }
    }
    Ok(statement)
}

pub fn write(db: &Db<'_>, sql: &str, values: &[Bound<'_>]) -> Result<()> {
    let mut statement = bound(db, sql, values)?;
    while statement.step()? {}
    Ok(())
}

pub fn rows(db: &Db<'_>, sql: &str, mut each: impl FnMut(&Stmt<'_>) -> Result<()>) -> Result<()> {
    let mut statement = bound(db, sql, &[])?;
    while statement.step()? {
        each(&statement)?;
    }
    Ok(())
}

pub fn number(db: &Db<'_>, sql: &str) -> Result<i64> {
    let mut statement = bound(db, sql, &[])?;
    match statement.step()? {
        true => Ok(integer(&statement, 0)),
        false => Ok(0),
    }
}

pub fn integer(row: &Stmt<'_>, i: i32) -> i64 {
    match row.value(i) {
        Value::Integer(n) => n,
        _ => 0,
    }
}

pub fn real(row: &Stmt<'_>, i: i32) -> f64 {
    match row.value(i) {
        Value::Real(r) => r,
        Value::Integer(n) => n as f64,
        // A value that is no number is stored as NULL.
        _ => f64::NAN,
    }
}
