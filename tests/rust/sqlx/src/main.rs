//! Prints which library answers, the plan of the first query, and all answers.

#[path = "../../questions.rs"]
mod questions;

use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

async fn run() -> Result<(), sqlx::Error> {
    let mut db = SqliteConnection::connect("sqlite::memory:").await?;
    for statement in questions::setup() {
        sqlx::query(statement).execute(&mut db).await?;
    }
    let version = sqlx::query("SELECT hp_version()").fetch_one(&mut db).await;
    let version = version.map_or_else(|_| "stock".into(), |row| row.get::<String, _>(0));
    println!("library\t{version}");
    for (label, query) in questions::queries() {
        for row in sqlx::query(AssertSqlSafe(query)).fetch_all(&mut db).await? {
            println!("{label}\t{}", row.get::<String, _>("detail"));
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    Ok(runtime.block_on(run())?)
}
