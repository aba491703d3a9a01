//! Prints which library answers, the plan of the first query, and all answers.

use rusqlite::{Connection, Result};

fn main() -> Result<()> {
    let db = Connection::open_in_memory()?;
    for statement in include_str!("../../setup.sql").lines() {
        db.execute_batch(statement)?;
    }
    let version = db.query_row("SELECT hp_version()", [], |row| row.get::<_, String>(0));
    println!("library\t{}", version.unwrap_or_else(|_| "stock".into()));
    let queries = include_str!("../../queries.sql").lines();
    let plan = queries
        .clone()
        .next()
        .map(|query| format!("EXPLAIN QUERY PLAN {query}"));
    for (label, query) in plan
        .iter()
        .map(|plan| ("plan", plan.as_str()))
        .chain(queries.map(|query| ("answer", query)))
    {
        let mut statement = db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            println!("{label}\t{}", row.get::<_, String>("detail")?);
        }
    }
    Ok(())
}
