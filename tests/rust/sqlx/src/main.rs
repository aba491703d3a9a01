//! Prints which library answers, the plan of the first query, and all answers.

use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

async fn run() -> Result<(), sqlx::Error> {
    let mut db = SqliteConnection::connect("sqlite::memory:").await?;
    for statement in include_str!("../../setup.sql").lines() {
        sqlx::query(statement).execute(&mut db).await?;
    }
    let version = sqlx::query("SELECT hp_version()").fetch_one(&mut db).await;
    let version = version.map_or_else(|_| "stock".into(), |row| row.get::<String, _>(0));
    println!("library\t{version}");
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
