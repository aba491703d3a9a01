//! Prints which library answers, the plan of the first query, and all answers.

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Text)]
    detail: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut db = SqliteConnection::establish(":memory:")?;
    for statement in include_str!("../../setup.sql").lines() {
        db.batch_execute(statement)?;
    }
    let version = sql_query("SELECT hp_version() AS detail").get_result::<Answer>(&mut db);
    println!(
        "library\t{}",
        version.map_or_else(|_| "stock".into(), |row| row.detail)
    );
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
        for row in sql_query(query).load::<Answer>(&mut db)? {
            println!("{label}\t{}", row.detail);
        }
    }
    Ok(())
}
