//! Prints which library answers, the plan of the first query, and all answers.

#[path = "../../questions.rs"]
mod questions;

use rusqlite::{Connection, Result};

fn main() -> Result<()> {
    let db = Connection::open_in_memory()?;
    for statement in questions::setup() {
        db.execute_batch(statement)?;
    }
    let version = db.query_row("SELECT hp_version()", [], |row| row.get::<_, String>(0));
    println!("library\t{}", version.unwrap_or_else(|_| "stock".into()));
    for (label, query) in questions::queries() {
        let mut statement = db.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            println!("{label}\t{}", row.get::<_, String>("detail")?);
        }
    }
    Ok(())
}
