//! Prints which library answers, the plan of the first query, and all answers.

#[path = "../../questions.rs"]
mod questions;

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
    for statement in questions::setup() {
        db.batch_execute(statement)?;
    }
    let version = sql_query("SELECT hp_version() AS detail").get_result::<Answer>(&mut db);
    println!(
        "library\t{}",
        version.map_or_else(|_| "stock".into(), |row| row.detail)
    );
    for (label, query) in questions::queries() {
        for row in sql_query(query).load::<Answer>(&mut db)? {
            println!("{label}\t{}", row.detail);
        }
    }
    Ok(())
}
