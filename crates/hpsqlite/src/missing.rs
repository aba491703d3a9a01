//! Which index would help a statement. SQLite's own planner says so: the schema is made again in
//! memory, without rows, each index that might help is made there, and its plan tells which of them it
//! uses.
//!
//! ```text
//! schema, statistics ── scratch ── candidates: a column each ── which are used, with = or a range
//!                                  candidates: all of a table's together ── which are used
//!                                  fewer scans than before? ── suggestions
//! ```
//!
//! The statement is prepared there and never run. What the schema says is not trusted: only CREATE
//! TABLE, INDEX and VIEW of it are run, one statement each, and none that selects.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::sys::{Db, Library, SqlError};

/// Columns that are tried.
const MOST: usize = 24;
/// Columns of an index that is suggested.
const COLUMNS: usize = 4;
/// Indexes that are suggested for one statement.
const SUGGESTED: usize = 3;
/// An index that finds a larger share of the rows does not help.
const FEW: f64 = 0.1;
/// How the indexes in the scratch database begin.
const NAME: &str = "hp_candidate_";

/// An index that would help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggested {
    pub table: String,
    pub columns: Vec<String>,
    /// The statement that makes it.
    pub sql: String,
    /// The step of the plan that would use it.
    pub step: String,
    /// Whether all its columns are compared with =.
    pub equal: bool,
}

/// The plan of a statement, and what it does the long way.
struct TriedPlan {
    steps: Vec<String>,
}

impl TriedPlan {
    fn of(db: &Db<'_>, sql: &str) -> Result<TriedPlan, SqlError> {
        let mut steps = Vec::new();
        if let Some(mut stmt) = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))? {
            while stmt.step()? {
                steps.push(stmt.text(3));
            }
        }
        Ok(TriedPlan { steps })
    }

    /// Steps that read a whole table, or make an index for this one statement.
    fn long_ways(&self) -> usize {
        let is_long = |step: &&String| {
            (step.starts_with("SCAN ") && !step.contains("CONSTANT") && !step.contains("VIRTUAL"))
                || step.contains(" AUTOMATIC ")
        };
        self.steps.iter().filter(is_long).count()
    }

    /// The terms by which an index is searched, and the step that says so.
    fn terms(&self, index: &str) -> Option<(Vec<&str>, &str)> {
        self.steps.iter().find_map(|step| {
            let (_, after) = step.split_once(&format!("INDEX {index} ("))?;
            let (terms, _) = after.rsplit_once(')')?;
            Some((terms.split(" AND ").collect(), step.as_str()))
        })
    }
}

/// A column that the statement reads, and how the planner would search an index on it.
#[derive(Debug, Clone, PartialEq)]
struct IndexCandidate {
    table: String,
    column: String,
    search: Option<IndexSearch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum IndexSearch {
    Equal,
    Range,
}

thread_local! {
    /// Tables and columns that a statement reads, as it is prepared.
    static READ: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

const ACTION_READ: i32 = 20;

/// The index that would help `sql`, which runs on `db`; or several, if it needs them together.
pub fn suggest(library: &Library, db: &Db<'_>, sql: &str) -> Result<Vec<Suggested>> {
    if !db.prepare(sql)?.is_some_and(|s| s.readonly()) {
        bail!("indexes are suggested for statements that read");
    }
    let scratch = library.open_in_memory()?;
    // The plan that is asked for is SQLite's own.
    scratch.exec("PRAGMA hp_offload=off; PRAGMA trusted_schema=OFF")?;
    copy_schema(db, &scratch)?;
    scratch.allow_only(|action, first, second| {
        if action == ACTION_READ {
            READ.with_borrow_mut(|read| read.push((first.to_owned(), second.to_owned())));
        }
        true
    });
    READ.with_borrow_mut(Vec::clear);
    let plain = TriedPlan::of(&scratch, sql)?;
    let read = READ.with_borrow_mut(std::mem::take);
    scratch.allow_only(|_, _, _| true);
    if plain.long_ways() == 0 {
        return Ok(Vec::new());
    }
    let mut candidates = candidates(&scratch, read)?;
    try_each(&scratch, sql, &mut candidates)?;
    try_together(&scratch, sql, &mut candidates)?;
    let wanted = indexes_of(&candidates);
    let names = names(&scratch)?;
    create(&scratch, &wanted)?;
    let with = TriedPlan::of(&scratch, sql)?;
    if with.long_ways() >= plain.long_ways() {
        return Ok(Vec::new());
    }
    let found = wanted
        .iter()
        .enumerate()
        .filter_map(|(i, (table, columns))| {
            let (terms, step) = with.terms(&format!("{NAME}{i}"))?;
            let columns = columns[..terms.len().min(columns.len())].to_vec();
            let name = name_of(table, &columns, &names);
            Some(Suggested {
                sql: statement(&name, table, &columns),
                step: step.replace(&format!("{NAME}{i}"), &name),
                equal: terms.iter().all(|term| term.ends_with("=?")),
                table: table.clone(),
                columns,
            })
        });
    Ok(found.take(SUGGESTED).collect())
}

/// Whether an index finds few of the rows at a time, as far as that can be counted in so long; it is
/// taken to if not.
pub fn finds_few(db: &Db<'_>, index: &Suggested, patience: Duration) -> bool {
    if !index.equal {
        return true;
    }
    let columns = index.columns.iter().map(|c| quoted(c)).collect::<Vec<_>>();
    let (columns, table) = (columns.join(", "), quoted(&index.table));
    let sql = format!(
        "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT {columns} FROM {table})) FROM {table}"
    );
    let counted = within(db, patience, || {
        let mut stmt = db.prepare(&sql).ok()??;
        stmt.step().ok()?;
        let number = |i| stmt.text(i).parse::<f64>().ok();
        Some((number(0)?, number(1)?))
    });
    counted.is_none_or(|(rows, different)| rows < 1.0 || 1.0 / different.max(1.0) <= FEW)
}

/// Does something with a connection, and stops it after a time.
fn within<T>(db: &Db<'_>, patience: Duration, work: impl FnOnce() -> T) -> T {
    let (done, over) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let interrupter = db.interrupter();
        scope.spawn(move || {
            if over.recv_timeout(patience) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                interrupter.interrupt();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Makes the tables, indexes and views of a database, and its statistics, in an empty one.
fn copy_schema(db: &Db<'_>, to: &Db<'_>) -> Result<()> {
    to.allow_only(|action, first, _| {
        const DELETE: i32 = 9;
        const INSERT: i32 = 18;
        const UPDATE: i32 = 23;
        match action {
            // CREATE INDEX, TABLE and VIEW; columns and functions in them; REINDEX, which an index begins
            // with.
            1 | 2 | 8 | ACTION_READ | 27 | 31 => true,
            DELETE | INSERT | UPDATE => first.starts_with("sqlite_"),
            _ => false,
        }
    });
    let mut entries = db
        .prepare(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view') \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
        )?
        .context("no schema")?;
    while entries.step()? {
        // What cannot be made, such as a virtual table, is not there; a statement on it has no plan.
        if let Ok((Some(mut create), _)) = to.prepare_first(&entries.text(0)) {
            let _ = create.step();
        }
    }
    to.allow_only(|_, _, _| true);
    let statistics = db.first("SELECT 1 FROM sqlite_schema WHERE name='sqlite_stat1'")?;
    if statistics.is_some() {
        to.exec("ANALYZE")?;
        let mut from = db
            .prepare("SELECT tbl, idx, stat FROM sqlite_stat1")?
            .context("no statistics")?;
        let mut into = to
            .prepare("INSERT INTO sqlite_stat1 VALUES(?1, ?2, ?3)")?
            .context("no statistics")?;
        while from.step()? {
            for i in 0..3 {
                into.bind_column(i + 1, &from, i)?;
            }
            into.step()?;
            into.reset();
        }
        drop(into);
        to.exec("ANALYZE sqlite_schema")?;
    }
    Ok(())
}

/// The columns that an index may begin with: none begins with them yet.
fn candidates(db: &Db<'_>, read: Vec<(String, String)>) -> Result<Vec<IndexCandidate>> {
    let mut candidates: Vec<IndexCandidate> = Vec::new();
    for (table, column) in read {
        let known = candidates
            .iter()
            .any(|c| c.table == table && c.column == column);
        if known || column.is_empty() || candidates.len() == MOST {
            continue;
        }
        let mut asked = db
            .prepare(
                "SELECT 1 FROM pragma_table_info(?1) AS c WHERE c.name=?2 COLLATE nocase AND NOT (c.pk=1 \
                 AND (SELECT max(pk) FROM pragma_table_info(?1))=1) AND EXISTS (SELECT 1 FROM \
                 sqlite_schema WHERE type='table' AND name=?1) AND NOT EXISTS (SELECT 1 FROM \
                 pragma_index_list(?1) AS l JOIN pragma_index_info(l.name) AS i \
                 WHERE l.partial=0 AND i.seqno=0 AND i.name=?2 COLLATE nocase)",
            )?
            .context("no statement")?;
        // SAFETY: both texts are there until the statement is gone.
        unsafe {
            asked.bind_text_static(1, &table)?;
            asked.bind_text_static(2, &column)?;
        }
        let wanted = asked.step()?;
        drop(asked);
        if wanted {
            candidates.push(IndexCandidate {
                table,
                column,
                search: None,
            });
        }
    }
    Ok(candidates)
}

/// Which of them the planner would use alone.
fn try_each(db: &Db<'_>, sql: &str, candidates: &mut [IndexCandidate]) -> Result<()> {
    for candidate in candidates {
        let index = [(candidate.table.clone(), vec![candidate.column.clone()])];
        create(db, &index)?;
        let plan = TriedPlan::of(db, sql)?;
        candidate.search = search(&plan, 0);
        drop_all(db, 1)?;
    }
    Ok(())
}

/// Which of the others it would use together: of a join both sides may be needed.
fn try_together(db: &Db<'_>, sql: &str, candidates: &mut [IndexCandidate]) -> Result<()> {
    let all: Vec<_> = candidates
        .iter()
        .map(|c| (c.table.clone(), vec![c.column.clone()]))
        .collect();
    create(db, &all)?;
    let plan = TriedPlan::of(db, sql)?;
    for (i, candidate) in candidates.iter_mut().enumerate() {
        candidate.search = candidate.search.or(search(&plan, i));
    }
    drop_all(db, all.len())
}

/// How a plan searches candidate `i`.
fn search(plan: &TriedPlan, i: usize) -> Option<IndexSearch> {
    let (terms, _) = plan.terms(&format!("{NAME}{i}"))?;
    Some(match terms[..] {
        [term] if term.ends_with("=?") => IndexSearch::Equal,
        _ => IndexSearch::Range,
    })
}

/// An index for each table: columns that are compared with = first, then one range.
fn indexes_of(candidates: &[IndexCandidate]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for kind in [IndexSearch::Equal, IndexSearch::Range] {
        for candidate in candidates.iter().filter(|c| c.search == Some(kind)) {
            let at = found
                .iter()
                .position(|(table, _)| *table == candidate.table);
            match at {
                None => found.push((candidate.table.clone(), vec![candidate.column.clone()])),
                Some(i) if found[i].1.len() < COLUMNS => found[i].1.push(candidate.column.clone()),
                Some(_) => {}
            }
        }
    }
    found
}

fn create(db: &Db<'_>, indexes: &[(String, Vec<String>)]) -> Result<()> {
    for (i, (table, columns)) in indexes.iter().enumerate() {
        db.exec(&statement(&format!("{NAME}{i}"), table, columns))?;
    }
    Ok(())
}

fn drop_all(db: &Db<'_>, count: usize) -> Result<()> {
    for i in 0..count {
        db.exec(&format!("DROP INDEX {NAME}{i}"))?;
    }
    Ok(())
}

fn statement(name: &str, table: &str, columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
    format!(
        "CREATE INDEX {} ON {}({});",
        quoted(name),
        quoted(table),
        columns.join(", ")
    )
}

/// The names that are taken.
fn names(db: &Db<'_>) -> Result<Vec<String>, SqlError> {
    db.column("SELECT name FROM sqlite_schema")
}

/// A name that says what it is of, and is free.
fn name_of(table: &str, columns: &[String], taken: &[String]) -> String {
    let name = format!("{table}_{}", columns.join("_"));
    let free = |name: &String| !taken.iter().any(|t| t.eq_ignore_ascii_case(name));
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(free).unwrap_or(name)
}

/// A name as SQL has it, in quotes where it may need them.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    // A word of SQL is not told from a name by its letters.
    if name.starts_with(begins) && name.chars().all(plain) && !is_keyword(name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Is it a word that SQL takes for its own where a name may stand?
fn is_keyword(name: &str) -> bool {
    const WORDS: &str = "add all alter and as autoincrement between case check collate commit \
        constraint create default deferrable delete distinct drop else escape except exists foreign \
        from group having in index insert intersect into is isnull join limit not nothing notnull \
        null on or order primary references returning select set table then to transaction union \
        unique update using values when where";
    WORDS.split(' ').any(|word| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs;

    const SHOP: &str = "CREATE TABLE c(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        CREATE TABLE o(id INTEGER PRIMARY KEY, cust INT, at TEXT, total REAL, state TEXT);
        CREATE INDEX o_at ON o(at);
        CREATE TABLE \"order\"(\"group\" TEXT, \"a \"\"b\" INT);
        CREATE VIEW v AS SELECT * FROM o WHERE state='open';
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000)
          INSERT INTO o SELECT i, i%500, i, i%97, CASE i%3 WHEN 0 THEN 'open' ELSE 'done' END FROM n;";

    fn suggested(more: &str, sql: &str) -> Vec<Suggested> {
        let both = [
            "lib/libsqlite3.so.0",
            "libexec/hpsqlite/libsqlite3-stock.so",
        ];
        let [ours, stock] = both.map(|name| {
            let library = libs::for_tests(name);
            let db = library.open_in_memory().unwrap();
            db.exec(&format!("{SHOP}{more}")).unwrap();
            suggest(&library, &db, sql).unwrap_or_else(|e| panic!("{sql}: {e:#}"))
        });
        assert_eq!(ours, stock, "{sql}");
        ours
    }

    fn statements(sql: &str) -> Vec<String> {
        suggested("", sql).into_iter().map(|s| s.sql).collect()
    }

    #[test]
    fn an_index_is_suggested_that_the_planner_uses() {
        for (sql, wanted) in [
            (
                "SELECT * FROM o WHERE cust=7",
                "CREATE INDEX o_cust ON o(cust);",
            ),
            (
                "SELECT * FROM o WHERE total>5 AND cust=?1",
                "CREATE INDEX o_cust_total ON o(cust, total);",
            ),
            (
                "SELECT count(*) FROM v WHERE total BETWEEN 1 AND 2",
                "CREATE INDEX o_state_total ON o(state, total);",
            ),
            (
                "SELECT * FROM \"order\" WHERE \"group\"='x' AND \"a \"\"b\">1",
                "CREATE INDEX \"order_group_a \"\"b\" ON \"order\"(\"group\", \"a \"\"b\");",
            ),
            (
                "SELECT * FROM c JOIN o ON o.cust=c.id WHERE c.id=5",
                "CREATE INDEX o_cust ON o(cust);",
            ),
        ] {
            assert_eq!(statements(sql), [wanted], "{sql}");
        }
        let found = suggested("", "SELECT * FROM o WHERE cust=7");
        assert_eq!(found[0].step, "SEARCH o USING INDEX o_cust (cust=?)");
        assert!(found[0].equal);
    }

    #[test]
    fn none_is_suggested_that_would_not_be_used() {
        for sql in [
            "SELECT * FROM o WHERE id=7",
            "SELECT * FROM o WHERE at='2026'",
            "SELECT sum(total) FROM o",
            "SELECT * FROM o WHERE state LIKE '%x%'",
            "SELECT 1",
            "SELECT * FROM sqlite_schema WHERE name='o'",
        ] {
            assert_eq!(statements(sql), [""; 0], "{sql}");
        }
        let taken = "CREATE TABLE o_cust(a);";
        let found = suggested(taken, "SELECT * FROM o WHERE cust=7");
        assert_eq!(found[0].sql, "CREATE INDEX o_cust_2 ON o(cust);");
    }

    #[test]
    fn both_sides_of_a_join_may_need_one() {
        let sql = "SELECT * FROM c JOIN o ON o.cust=c.id WHERE c.city='x'";
        let found = statements(sql);
        assert!(
            found.contains(&"CREATE INDEX c_city ON c(city);".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn an_index_on_a_column_of_few_values_does_not_help() {
        let library = libs::for_tests("lib/libsqlite3.so.0");
        let db = library.open_in_memory().unwrap();
        db.exec(SHOP).unwrap();
        let few = |sql: &str| {
            let found = suggest(&library, &db, sql).unwrap();
            finds_few(&db, &found[0], Duration::from_secs(60))
        };
        assert!(few("SELECT * FROM o WHERE cust=7"));
        assert!(!few("SELECT * FROM o WHERE state='open'"));
        assert!(
            few("SELECT * FROM o WHERE total>90"),
            "nobody knows of a range"
        );
    }

    #[test]
    fn a_schema_is_not_trusted_and_the_statement_never_runs() {
        let library = libs::for_tests("libexec/hpsqlite/libsqlite3-stock.so");
        let db = library.open_in_memory().unwrap();
        db.exec(SHOP).unwrap();
        db.exec(
            "PRAGMA writable_schema=ON;
             INSERT INTO sqlite_schema VALUES('view', 'w', 'w', 0,
               'CREATE VIEW w AS SELECT 1; ATTACH ''/tmp/no'' AS x');
             INSERT INTO sqlite_schema VALUES('table', 'endless', 'endless', 0,
               'CREATE TABLE endless AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n');",
        )
        .unwrap();
        let endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) \
                       SELECT count(*) FROM n, o WHERE o.cust=5";
        let found = suggest(&library, &db, endless).unwrap();
        assert_eq!(found[0].columns, ["cust"]);
        assert!(suggest(&library, &db, "DELETE FROM o WHERE cust=5").is_err());
    }
}
