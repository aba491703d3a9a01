//! Whether a statement is accelerated, and what keeps it from that, in words that a user can act on.
//!
//! ```text
//! QueryCounts::of(db)              what PRAGMA hp_stats counts; none of a library that is not ours
//! Reasons::of(facts)          from the counts before and after a run, the steps of the plan, the SQL
//! ```
//!
//! Nothing here knows of files, processes or pages in a browser: whoever ran a statement asks.

use serde::{Deserialize, Serialize};

use crate::sys::Db;

/// What `PRAGMA hp_stats` counts on a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryCounts(Vec<(String, i64)>);

/// Counters whose names are used below.
const RUN: &str = "run";
const FROM_MEMORY: &str = "runs of leaves whose columns were in memory";
const LATE: &str = "begun by SQLite's loops and taken from them";
const SPILLED: &str = "wrote to a file";
const REFUSED: &str = "refused: ";

impl QueryCounts {
    /// What is counted so far; none where the library does not count.
    pub fn of(db: &Db<'_>) -> Option<QueryCounts> {
        let mut rows = db.prepare("PRAGMA hp_stats").ok()??;
        let mut counts = Vec::new();
        while rows.step().ok()? {
            counts.push((rows.text(0), rows.text(1).parse().unwrap_or(0)));
        }
        // A library that does not know the PRAGMA gives no row, and no column.
        (rows.columns() == 2).then_some(QueryCounts(counts))
    }

    /// What one of them counts: a row that is not there counts nothing.
    fn get(&self, name: &str) -> i64 {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map_or(0, |(_, count)| *count)
    }

    /// How much more one of them counts than before.
    fn more(&self, before: &QueryCounts, name: &str) -> i64 {
        self.get(name) - before.get(name)
    }
}

/// What became of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceleration {
    /// The executor ran.
    Accelerated,
    /// There is a plan for it, and SQLite's code ran.
    GivenBack,
    /// There is no plan for it.
    Refused,
}

/// What became of it, and why, a sentence each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasons {
    pub became: Acceleration,
    pub why: Vec<String>,
}

/// What reasons follow from.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    pub sql: &'a str,
    /// The steps of EXPLAIN QUERY PLAN.
    pub plan: &'a [&'a str],
    pub before: &'a QueryCounts,
    pub after: &'a QueryCounts,
}

impl Reasons {
    pub fn of(facts: RunFacts<'_>) -> Reasons {
        let more = |name: &str| facts.after.more(facts.before, name);
        if more(RUN) > 0 {
            return Reasons {
                became: Acceleration::Accelerated,
                why: accelerated(&more),
            };
        }
        let planned = facts.plan.iter().any(|step| is_ours(step));
        let refused = refusals(facts);
        if planned {
            return Reasons {
                became: Acceleration::GivenBack,
                why: vec![given_back(&more)],
            };
        }
        Reasons {
            became: Acceleration::Refused,
            why: match refused.is_empty() {
                true => vec![unknown(facts)],
                false => refused,
            },
        }
    }
}

/// Whether a step of a plan is one that the executor may do.
fn is_ours(step: &str) -> bool {
    [" VECTORIZED", " USING HASH TABLE", " OR, IF LONG, "]
        .iter()
        .any(|mark| step.contains(mark))
}

fn accelerated(more: &dyn Fn(&str) -> i64) -> Vec<String> {
    let mut why = Vec::new();
    if more(LATE) > 0 {
        why.push(
            "SQLite's loops began, and were given up since they would have taken long.".to_owned(),
        );
    }
    if more(FROM_MEMORY) > 0 {
        why.push("Columns that were read before came from memory.".to_owned());
    }
    if more(SPILLED) > 0 {
        why.push(
            "It wrote to a temporary file: with more memory (PRAGMA hp_memory) it would not."
                .to_owned(),
        );
    }
    why
}

fn given_back(more: &dyn Fn(&str) -> i64) -> String {
    if more("given back: small table") > 0 {
        "The table turned out to be small: SQLite's own code is as fast there."
    } else if more("given back: other") > 0 {
        "The executor gave it back while it ran: a function raised an error, memory ran out, a limit is \
         set low, or a page is not as it should be."
    } else {
        "The part that the executor would do was too short to be worth it: SQLite's own code did it."
    }
    .to_owned()
}

/// What was refused, and what would not be, the most telling first.
fn refusals(facts: RunFacts<'_>) -> Vec<String> {
    let has = |part: &str| facts.plan.iter().any(|step| step.contains(part));
    let counted = facts.after.0.iter().filter_map(|(name, _)| {
        let reason = name.strip_prefix(REFUSED)?;
        (facts.after.more(facts.before, name) > 0).then_some(reason)
    });
    let mut found: Vec<(u8, String)> = counted
        .map(|reason| {
            let (rank, words) = match reason {
                "function not deterministic" => (0, CHANGING),
                // A join is refused as a whole, whatever in it is refused.
                "join" | "column not stored" | "other expression" if changes(facts.sql) => {
                    (0, CHANGING)
                }
                "function bound to its place" => (
                    0,
                    "It calls a function that works only where SQLite's own loop calls it.",
                ),
                "join" if has("RIGHT") => (0, "RIGHT JOIN and FULL JOIN are left to SQLite."),
                "join" if by_keys(facts.plan) => (
                    0,
                    "Its tables are joined by unique keys, but something else in it is left to SQLite: \
                     a condition on several tables at once that is no equality, a function of the \
                     application, or a term that may fail before others that leave rows out.",
                ),
                "join" => (
                    0,
                    "The join has no unique key on either side: a join is accelerated if one table is \
                     scanned and each of the others is looked up by its PRIMARY KEY or by all columns \
                     of a UNIQUE index. Where the columns are unique, say so with CREATE UNIQUE INDEX; \
                     where they are not, join to a sub-select that groups by them.",
                ),
                "subquery" => (
                    0,
                    "A sub-select depends on each row around it in a way that one scan cannot answer. It \
                     can if it is an EXISTS or an aggregate of one table, and nothing but equalities tie \
                     it to the row; or write it as a join.",
                ),
                "window function" => (0, WINDOW),
                "row value" => (
                    1,
                    "It uses a row value where the executor takes none: compare the columns one by one, \
                     with AND.",
                ),
                "collation" => (
                    0,
                    "It groups or sorts under a collation of the application, whose order only the \
                     application knows. BINARY, NOCASE and RTRIM are accelerated.",
                ),
                "ORDER BY in an aggregate" => (
                    0,
                    "An aggregate function has an ORDER BY inside that the executor does not sort by.",
                ),
                "order of rows shows" => (
                    1,
                    "An index gives rows in an order that shows in the answer. An ORDER BY with all \
                     columns that matter lets it be a scan.",
                ),
                "too many columns or operations" => (
                    1,
                    "It has more columns, constants or operations than the executor takes. Leave out \
                     what nobody reads, or put long lists of constants into a table.",
                ),
                "not one ordinary table" if has("VIRTUAL TABLE") => (
                    1,
                    "It reads a virtual table or a table-valued function: only its module knows what is \
                     in there.",
                ),
                "not one ordinary table" if has("RECURSIVE STEP") => (
                    1,
                    "It is recursive: each step waits for the rows of the one before.",
                ),
                "not one ordinary table" => (
                    2,
                    "It reads rows that another part of the statement makes one by one (a sub-select or a \
                     WITH), or the database is in UTF-16.",
                ),
                "small table" => (1, "The table is small: SQLite's own code is as fast there."),
                "the planner's search or order is better" => (3, BY_INDEX),
                "column not stored" => (
                    2,
                    "A condition needs columns of several tables at once, or a column that is computed, so \
                     that no table can be filtered by itself.",
                ),
                _ => (
                    2,
                    "An expression in it is of a kind that only SQLite's own code computes.",
                ),
            };
            (rank, words.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    // Of a statement that was refused in several ways the last resort says little.
    let first = found.first().map_or(0, |f| f.0);
    found.retain(|f| f.0 <= first.max(1));
    found.into_iter().map(|f| f.1).collect()
}

const CHANGING: &str = "It calls a function that may give another value each time, such as random(). \
                        Compute it once before, and hand it over as a parameter.";
const WINDOW: &str = "Window functions are left to SQLite, except row_number(), rank() and \
                      dense_rank() of which a WHERE around them keeps the first ones.";
const BY_INDEX: &str = "An index or the rowid leads to its rows, so that SQLite reads only a part of \
                        the table: there is no scan to be accelerated.";

/// Whether a statement seems to call a function that gives another value each time.
fn changes(sql: &str) -> bool {
    let words = sql.to_ascii_lowercase();
    let names = [
        "random",
        "randomblob",
        "changes",
        "total_changes",
        "last_insert_rowid",
    ];
    names.iter().any(|name| {
        words
            .match_indices(name)
            .any(|(i, _)| words[i + name.len()..].trim_start().starts_with('('))
    })
}

/// Whether each table of a join but the first is looked up by its whole key.
fn by_keys(plan: &[&str]) -> bool {
    let loops = plan.iter().filter(|step| {
        (step.starts_with("SCAN ") || step.starts_with("SEARCH ")) && !step.contains("CONSTANT")
    });
    let mut others = loops.skip(1).peekable();
    others.peek().is_some() && others.all(|step| step.contains("PRIMARY KEY (rowid=?)"))
}

/// Nothing was counted: it was not offered to the executor.
fn unknown(facts: RunFacts<'_>) -> String {
    let has = |part: &str| facts.plan.iter().any(|step| step.contains(part));
    let words = facts.sql.to_ascii_lowercase();
    let window = words
        .match_indices("over")
        .any(|(i, _)| words[i + 4..].trim_start().starts_with('('));
    if window {
        WINDOW
    } else if facts.plan.iter().all(|step| step.contains("CONSTANT")) {
        "It reads no table."
    } else if has("SEARCH ") || has(" USING INDEX ") || has(" USING COVERING INDEX ") {
        BY_INDEX
    } else {
        "It filters, sorts and aggregates nothing: each row that is read is also given back, which \
         SQLite's own loop does as fast."
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs;

    /// What became of a statement on a table of orders and one of customers.
    fn became(sql: &str) -> (Acceleration, String) {
        let library = libs::for_tests("lib/libsqlite3.so.0");
        let db = library.open_in_memory().unwrap();
        db.exec(
            "CREATE TABLE c(id INTEGER PRIMARY KEY, name, city);
             CREATE TABLE o(id INTEGER PRIMARY KEY, cust, total);
             WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000)
               INSERT INTO o SELECT i, i*7919%3000, i%97 FROM n;
             WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<9000)
               INSERT INTO c SELECT i, 'name '||i, 'city '||i%50 FROM n;",
        )
        .unwrap();
        let plan = db
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap()
            .map(|mut stmt| {
                let mut steps = Vec::new();
                while stmt.step().unwrap() {
                    steps.push(stmt.text(3));
                }
                steps
            });
        let plan = plan.unwrap();
        let before = QueryCounts::of(&db).expect("it counts");
        db.exec(sql).unwrap();
        let after = QueryCounts::of(&db).unwrap();
        let reasons = Reasons::of(RunFacts {
            sql,
            plan: &plan.iter().map(String::as_str).collect::<Vec<_>>(),
            before: &before,
            after: &after,
        });
        (reasons.became, reasons.why.join(" "))
    }

    #[test]
    fn what_is_accelerated_is_told_from_what_is_refused_and_why() {
        use Acceleration::{Accelerated, Refused};
        for (sql, what, words) in [
            (
                "SELECT city, count(*) FROM c GROUP BY city",
                Accelerated,
                "",
            ),
            (
                "SELECT sum(total) FROM o WHERE random()>0",
                Refused,
                "such as random()",
            ),
            (
                "SELECT name, count(*) FROM o JOIN c ON c.id=o.cust WHERE total=2 AND random()>5 GROUP BY name",
                Refused,
                "such as random()",
            ),
            (
                "SELECT count(*) FROM o a, o b WHERE a.total<b.total AND a.id<10",
                Refused,
                "no unique key on either side",
            ),
            (
                "SELECT sum(total) OVER (ORDER BY id) FROM o LIMIT 1",
                Refused,
                "Window functions",
            ),
            ("SELECT * FROM o WHERE id=5", Refused, "leads to its rows"),
            (
                "SELECT count(*) FROM json_each('[1]')",
                Refused,
                "virtual table",
            ),
            (
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<9) SELECT sum(i) FROM n",
                Refused,
                "recursive",
            ),
            ("SELECT 1", Refused, "reads no table"),
        ] {
            let (became, why) = became(sql);
            assert_eq!(became, what, "{sql}: {why}");
            assert!(why.contains(words), "{sql}: {why}");
        }
    }

    #[test]
    fn a_library_that_counts_nothing_has_no_counts() {
        let library = libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so");
        assert_eq!(QueryCounts::of(&library.open_in_memory().unwrap()), None);
    }
}
