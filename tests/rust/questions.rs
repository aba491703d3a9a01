//! What every program asks: the SQL that makes the tables, and queries.

/// Statements to run first.
pub fn setup() -> impl Iterator<Item = &'static str> {
    include_str!("setup.sql").lines()
}

/// Each query with the label of its rows: the plan of the first one, then all of them.
pub fn queries() -> Vec<(&'static str, String)> {
    let queries = || include_str!("queries.sql").lines();
    let plan = queries()
        .take(1)
        .map(|query| ("plan", format!("EXPLAIN QUERY PLAN {query}")));
    plan.chain(queries().map(|query| ("answer", query.to_owned())))
        .collect()
}
