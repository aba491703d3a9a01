//! Statements: where one ends, what it does, and whether a cluster may run it.

use std::ffi::CString;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail, ensure};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi};

use crate::request;

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// It reads: any node can answer it.
    Read,
    /// It changes data or schema: the leader has it written by all nodes.
    Write,
    /// `BEGIN`, `COMMIT` or `END`, around statements that are one transaction anyway.
    Bracket,
    /// It cannot be prepared yet: an earlier statement makes what it names.
    Later,
}

/// What a statement is, and the names of its columns
pub struct Judged {
    pub kind: Kind,
    pub columns: Vec<String>,
}

/// Functions whose value depends on when, or by whom, they are called. hiqlite lets the date functions
/// fail in a write whatever their arguments are.
const NOT_IN_WRITES: &[&str] = &[
    "random",
    "randomblob",
    "date",
    "time",
    "datetime",
    "julianday",
    "unixepoch",
    "strftime",
    "timediff",
    "total_changes",
    "current_timestamp",
    "current_date",
    "current_time",
];
/// PRAGMAs with an argument that only read.
const READING_PRAGMAS: &[&str] = &[
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "foreign_key_check",
    "integrity_check",
    "quick_check",
    "hp_stats",
];
/// Tables that belong to the cluster: hiqlite's own, and ours.
const OURS: &[&str] = &["_metadata", request::TABLE];

const TEMP: &str =
    "TEMP is not for a cluster: a node that starts again does not have what it makes";

/// Cuts a text into statements, as SQLite does: not within quotes, comments and triggers.
pub fn split(text: &str) -> Result<Vec<String>> {
    let mut statements = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest[from..].find(';') {
        let end = from + at + 1;
        let candidate = CString::new(&rest[..end]).context("a statement has a zero byte")?;
        // SAFETY: the text ends with a zero byte and is read only.
        if unsafe { ffi::sqlite3_complete(candidate.as_ptr()) } == 1 {
            statements.push(rest[..end].trim().to_string());
            rest = &rest[end..];
            from = 0;
        } else {
            from = end;
        }
    }
    statements.push(rest.trim().to_string());
    statements.retain(|statement| !is_empty(statement));
    Ok(statements)
}

/// Is there nothing but space, comments and a semicolon?
fn is_empty(statement: &str) -> bool {
    bare(statement).is_empty()
}

/// A statement from its first word on
fn bare(statement: &str) -> &str {
    let mut rest = statement.trim_start_matches([' ', '\t', '\n', '\r', ';']);
    loop {
        let end = if rest.starts_with("--") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 1)
        } else {
            return rest;
        };
        match end {
            Some(end) => rest = rest[end + 1..].trim_start_matches([' ', '\t', '\n', '\r', ';']),
            None => return "",
        }
    }
}

/// Do all statements begin as those do that only read? A node knows; this is for who has not asked one yet.
pub fn looks_like_read(text: &str) -> bool {
    let reads = |statement: &String| {
        let first = bare(statement);
        ["select", "values", "explain", "pragma"]
            .iter()
            .any(|word| {
                first
                    .get(..word.len())
                    .is_some_and(|begin| begin.eq_ignore_ascii_case(word))
            })
    };
    split(text).is_ok_and(|all| !all.is_empty() && all.iter().all(reads))
}

/// What the authorizer saw.
#[derive(Default)]
struct Seen {
    functions: Vec<String>,
    refused: Option<String>,
    bracket: bool,
    /// It makes a table, and reads rows for it
    defines: bool,
    selects: bool,
    makes_trigger: bool,
}

/// Judges one statement on a connection to the node's database that cannot write.
pub fn judge(db: &Connection, statement: &str) -> Result<Judged> {
    let of_kind = |kind| {
        Ok(Judged {
            kind,
            columns: Vec::new(),
        })
    };
    let seen = Arc::new(Mutex::new(Seen::default()));
    let sink = Arc::clone(&seen);
    db.authorizer(Some(move |context: AuthContext<'_>| {
        if let Ok(mut seen) = sink.lock() {
            look(&mut seen, &context);
        }
        Authorization::Allow
    }))?;
    let prepared = db.prepare(statement).map(|statement| {
        let columns: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(String::from)
            .collect();
        (statement.readonly(), columns)
    });
    db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let seen = std::mem::take(&mut *seen.lock().expect("no thread panics while it looks"));
    if let Some(refused) = seen.refused {
        bail!("{refused}");
    }
    if seen.bracket {
        return of_kind(Kind::Bracket);
    }
    let (readonly, columns) = match prepared {
        Ok(prepared) => prepared,
        Err(error) if error.to_string().contains("no such") => {
            judge_text(statement)?;
            let mut words = bare(statement).split_whitespace();
            let first = words.next().unwrap_or("");
            let second = words.next().unwrap_or("").to_lowercase();
            ensure!(!["temp", "temporary"].contains(&second.as_str()), "{TEMP}");
            ensure!(
                !["attach", "detach", "vacuum"].contains(&first.to_lowercase().as_str()),
                "{first} is not for a cluster"
            );
            return of_kind(Kind::Later);
        }
        Err(error) => bail!("{}", first_line(&error.to_string())),
    };
    if readonly {
        return Ok(Judged {
            kind: Kind::Read,
            columns,
        });
    }
    if seen.makes_trigger {
        judge_text(statement)?;
    }
    // A table may have CURRENT_TIMESTAMP as a default; what then happens is up to its rows.
    let functions = if seen.defines && !seen.selects {
        Vec::new()
    } else {
        seen.functions
    };
    for name in functions {
        ensure!(
            !request::FUNCTIONS.contains(&name.as_str()),
            "{name}() belongs to the cluster itself"
        );
        ensure!(
            !NOT_IN_WRITES.contains(&name.as_str()),
            "{name}() in a write would give each node another value: compute it first and pass it as a parameter"
        );
    }
    ensure!(
        columns.is_empty(),
        "RETURNING is not passed on by the cluster: write first, then read"
    );
    ensure!(
        !first_word(statement).eq_ignore_ascii_case("vacuum"),
        "VACUUM is not for a cluster: each node does it on its own, at night"
    );
    of_kind(Kind::Write)
}

fn look(seen: &mut Seen, context: &AuthContext<'_>) {
    let mut refuse = |what: String| {
        seen.refused.get_or_insert(what);
    };
    match context.action {
        AuthAction::CreateTable { table_name } | AuthAction::AlterTable { table_name, .. } => {
            seen.defines = true;
            if is_ours(table_name) {
                refuse(format!(
                    "the table {table_name} belongs to the cluster itself"
                ));
            }
        }
        AuthAction::CreateTrigger { table_name, .. } if !is_ours(table_name) => {
            seen.makes_trigger = true;
        }
        AuthAction::Select => seen.selects = true,
        AuthAction::Function { function_name } => seen.functions.push(function_name.to_lowercase()),
        AuthAction::Transaction { operation } => {
            let operation = format!("{operation:?}").to_lowercase();
            if operation.contains("rollback") {
                refuse(
                    "ROLLBACK has nothing to undo: statements sent together are one transaction"
                        .into(),
                );
            } else {
                seen.bracket = true;
            }
        }
        AuthAction::Savepoint { .. } => {
            refuse(
                "SAVEPOINT is not for a cluster: statements sent together are one transaction"
                    .into(),
            );
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            refuse("ATTACH is not for a cluster: other nodes do not have that file".into());
        }
        AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. } => refuse(TEMP.into()),
        AuthAction::Pragma {
            pragma_name,
            pragma_value: Some(_),
        } if !READING_PRAGMAS.contains(&pragma_name.to_lowercase().as_str()) => {
            refuse(format!(
                "PRAGMA {pragma_name} with a value is not for a cluster: nodes set their own"
            ));
        }
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::DropTable { table_name }
        | AuthAction::CreateIndex { table_name, .. }
        | AuthAction::CreateTrigger { table_name, .. }
            if is_ours(table_name) =>
        {
            refuse(format!(
                "the table {table_name} belongs to the cluster itself"
            ));
        }
        _ => {}
    }
}

fn is_ours(table: &str) -> bool {
    OURS.iter().any(|name| table.eq_ignore_ascii_case(name))
}

/// Judges by its words what SQLite cannot be asked about yet: a statement that names what is not made, and what a
/// trigger does, of which SQLite only says when something fires it.
fn judge_text(statement: &str) -> Result<()> {
    let lower = statement.to_lowercase();
    let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let named = lower
        .split(|c| !of_name(c))
        .find(|word| is_ours(word) || request::FUNCTIONS.contains(word));
    if let Some(name) = named {
        bail!("{name} belongs to the cluster itself");
    }
    Ok(())
}

fn first_word(statement: &str) -> &str {
    statement.split_whitespace().next().unwrap_or("")
}

/// rusqlite adds the statement behind what SQLite says of it.
pub fn first_line(message: &str) -> &str {
    message
        .lines()
        .next()
        .unwrap_or(message)
        .split(" in SELECT")
        .next()
        .unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(statement: &str) -> String {
        let db = Connection::open_in_memory().unwrap();
        request::register(&db).unwrap();
        db.execute_batch(
            "CREATE TABLE t(a, b); CREATE TABLE _metadata(key, data);
             CREATE TABLE _hpsqlite_requests(number, id, what, answer)",
        )
        .unwrap();
        match judge(&db, statement) {
            Ok(judged) => format!("{:?}", judged.kind),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn statements_end_where_sqlite_ends_them() {
        let text = "SELECT ';' -- a;\n; /* ; */ CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END;\n\n-- last\n";
        let statements = split(text).unwrap();
        assert_eq!(statements.len(), 2, "{statements:?}");
        assert!(statements[1].ends_with("END;"));
        assert_eq!(
            split("SELECT 1; ; SELECT 2").unwrap(),
            ["SELECT 1;", "SELECT 2"]
        );
        assert!(split(" -- nothing").unwrap().is_empty());
    }

    #[test]
    fn texts_that_read() {
        for text in [
            "select 1",
            "/* a */ -- b\n EXPLAIN DELETE FROM t",
            "VALUES(1)",
            ";PRAGMA table_info(t)",
            "SELECT 1; -- a\n SELECT 2",
        ] {
            assert!(looks_like_read(text), "{text}");
        }
        for text in [
            "",
            "WITH a AS (SELECT 1) DELETE FROM t",
            "INSERT INTO t SELECT 1",
            "selec",
            "ä",
            "PRAGMA optimize; DELETE FROM t",
        ] {
            assert!(!looks_like_read(text), "{text}");
        }
    }

    #[test]
    fn kinds() {
        assert_eq!(judged("SELECT random() FROM t"), "Read");
        assert_eq!(judged("PRAGMA table_info(t)"), "Read");
        assert_eq!(judged("INSERT INTO t VALUES(1, upper('x'))"), "Write");
        assert_eq!(
            judged("CREATE TABLE u(x DEFAULT CURRENT_TIMESTAMP)"),
            "Write"
        );
        assert_eq!(judged("BEGIN"), "Bracket");
        assert_eq!(judged("INSERT INTO later VALUES(1)"), "Later");
        assert_eq!(judged("INSERT INTO later(my_metadata) VALUES(1)"), "Later");
        assert_eq!(
            judged("CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END"),
            "Write"
        );
    }

    #[test]
    fn what_nodes_would_not_do_alike_is_refused() {
        for (statement, says) in [
            ("INSERT INTO t SELECT random(), 1", "random() in a write"),
            ("UPDATE t SET a=CURRENT_DATE", "current_date() in a write"),
            ("CREATE TABLE u AS SELECT random()", "random() in a write"),
            ("INSERT INTO t VALUES(1,2) RETURNING a", "RETURNING"),
            ("ATTACH 'x' AS y", "ATTACH"),
            ("PRAGMA journal_mode=DELETE", "PRAGMA journal_mode"),
            ("DELETE FROM _metadata", "belongs to the cluster"),
            (
                "UPDATE _HPSQLITE_requests SET answer=1",
                "belongs to the cluster",
            ),
            (
                "ALTER TABLE _hpsqlite_requests ADD x",
                "belongs to the cluster",
            ),
            (
                "CREATE TABLE _hpsqlite_requests(x)",
                "belongs to the cluster",
            ),
            (
                "CREATE INDEX i ON _hpsqlite_requests(what)",
                "belongs to the cluster",
            ),
            ("DROP TABLE _hpsqlite_requests", "belongs to the cluster"),
            (
                "INSERT INTO t SELECT hp_request_note(1), 1",
                "belongs to the cluster",
            ),
            (
                "UPDATE _hpsqlite_requests SET answer=(SELECT a FROM later)",
                "belongs to the cluster",
            ),
            (
                "INSERT INTO later SELECT data FROM [_Metadata]",
                "belongs to the cluster",
            ),
            (
                "INSERT INTO later SELECT hp_request_note(1)",
                "belongs to the cluster",
            ),
            (
                "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM \"_hpsqlite_requests\"; END",
                "belongs to the cluster",
            ),
            (
                "CREATE TRIGGER r AFTER INSERT ON later BEGIN DELETE FROM _metadata; END",
                "belongs to the cluster",
            ),
            ("CREATE TEMP TABLE t(a)", "TEMP is not"),
            ("CREATE TEMP VIEW t AS SELECT 1", "TEMP is not"),
            (
                "CREATE TEMPORARY TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END",
                "TEMP is not",
            ),
            (
                "CREATE TEMP TRIGGER r AFTER INSERT ON later BEGIN DELETE FROM t; END",
                "TEMP is not",
            ),
            ("ATTACH (SELECT a FROM later) AS y", "ATTACH"),
            ("VACUUM INTO (SELECT a FROM later)", "VACUUM"),
            ("VACUUM", "VACUUM"),
            ("ROLLBACK", "ROLLBACK"),
            ("SELEC 1", "syntax error"),
        ] {
            let answer = judged(statement);
            assert!(answer.contains(says), "{statement}: {answer}");
        }
    }
}
