//! Requests: a write that is sent twice is done once, and answered twice alike.
//!
//!   State::read()    what a node's database says of the cluster's requests
//!   State::new_id()  the id of a new request
//!   transaction()    a write as the log has it: a claim of its id, its statements, its answer
//!   failure()        an error as the log has it, when the write itself has left nothing
//!   find()           the answer of a request, if the log has one
//!   register()       the SQL functions that the above call
//!
//! All nodes have a table of requests, which only the log changes: hiqlite's snapshots carry it, and a
//! node that starts again has it as it has everything else. A row has a number, the id as a hash, a hash
//! of what was asked, and the answer. The claim is an INSERT in the transaction of the write itself. It
//! fails if the id is there, and nothing of the transaction happens then.
//!
//! An error is no part of the transaction that it has undone. It is an entry of its own, which does
//! nothing if the id has an answer already. Nobody is told an answer that is not in the table, so that
//! whatever is tried at the same time, or comes late, the first answer is the only one.
//!
//! An id is `CLUSTER-MARK-REST`. MARK is the number of the newest request when a node gave the id out, so
//! the request itself gets a higher one. A claim must come before MARK + REMEMBERED, and requests are
//! deleted REMEMBERED behind the newest. Hence whoever is let in finds the request if there is one; whoever
//! comes later is refused. No clock takes part. CLUSTER is a word that a new cluster makes up: ids of
//! another one, also of that whose backup it began with, are refused.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result, bail};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::message::{Answer, Ask};

/// The table. It belongs to the cluster, and backups do not have it.
pub const TABLE: &str = "_hpsqlite_requests";
/// Requests that are remembered; 70 bytes each as a rule, and 300 at most beside long errors. A later version may only have less: what an older one
/// has deleted does not come back.
pub const REMEMBERED: i64 = if cfg!(test) { 10 } else { 100_000 };
/// Characters of an error that are remembered
const LONGEST_ERROR: usize = 1000;
/// Bytes of another answer
const LONGEST_ANSWER: usize = 200;
/// What SQLite says of a claim whose id may not be claimed: another cluster's, a forgotten one, or nobody's
pub const NOT_CLAIMED: &str = "NOT NULL constraint failed: _hpsqlite_requests.id";
/// Functions that a client must not call in a write
pub const FUNCTIONS: &[&str] = &["hp_request_note", "hp_request_notes"];

/// A statement of the log, and its parameters
pub type Statement = (Cow<'static, str>, Vec<Value>);

/// The name of a request
#[derive(Clone, Debug, PartialEq)]
pub struct Id {
    text: String,
    cluster: String,
    mark: i64,
}

impl std::fmt::Display for Id {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.text)
    }
}

impl Id {
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = text.splitn(3, '-');
        let cluster = parts.next().unwrap_or("");
        let mark = parts.next().filter(|digits| {
            digits.len() < 19 && digits.bytes().all(|digit| digit.is_ascii_digit())
        });
        let rest = parts.next().unwrap_or("");
        let plain = |text: &str| {
            (1..=64).contains(&text.len())
                && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
        };
        match mark.and_then(|digits| digits.parse().ok()) {
            Some(mark) if plain(cluster) && plain(rest) => Ok(Self {
                text: text.to_string(),
                cluster: cluster.to_string(),
                mark,
            }),
            _ => bail!("\"{text}\" is no id of a request: a node gives them out (GET /request)"),
        }
    }

    /// What stands for it in the table
    fn key(&self) -> Value {
        Value::Blob(Sha256::digest(&self.text)[..16].to_vec())
    }
}

/// What is asked, as a number: one id is for one write.
pub fn what(ask: &Ask) -> i64 {
    let text = serde_json::to_vec(&(&ask.sql, &ask.parameters)).unwrap_or_default();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&Sha256::digest(text)[..8]);
    i64::from_le_bytes(bytes)
}

/// How far a node's table of requests is.
pub struct State {
    cluster: String,
    newest: i64,
}

impl State {
    /// None if the cluster has not had a request yet.
    pub fn read(db: &Connection) -> Result<Option<Self>> {
        let there = db
            .prepare_cached("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?1")?
            .exists([TABLE])?;
        if !there {
            return Ok(None);
        }
        let state = db
            .prepare_cached(
                "SELECT (SELECT id FROM _hpsqlite_requests WHERE number=0), max(number) FROM _hpsqlite_requests",
            )?
            .query_row([], |row| {
                Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
        Ok(match state {
            (Some(cluster), Some(newest)) => Some(Self { cluster, newest }),
            _ => None,
        })
    }

    pub fn new_id(&self) -> Result<Id> {
        Id::parse(&format!("{}-{}-{}", self.cluster, self.newest, random(8)?))
    }

    /// Why an id that the table does not have will not be claimed; none if it may.
    pub fn refuses(&self, id: &Id) -> Option<String> {
        if id.cluster != self.cluster {
            Some(format!(
                "the id {id} is not of this cluster: what it was for is neither written nor refused here"
            ))
        } else if self.newest - id.mark > REMEMBERED {
            Some(format!(
                "the id {id} is forgotten, as {REMEMBERED} requests have come since: look whether it has \
                 been written; it has not been written again"
            ))
        } else {
            None
        }
    }
}

/// Random bytes, as hexadecimal digits
pub fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut random))
        .context("cannot read /dev/urandom")?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Makes the table. Whoever comes second finds it made, and what the first one called the cluster.
pub fn table() -> Result<Vec<Statement>> {
    Ok(vec![
        (
            "CREATE TABLE IF NOT EXISTS _hpsqlite_requests(
               number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, what INTEGER, answer TEXT)"
                .into(),
            Vec::new(),
        ),
        (
            "INSERT INTO _hpsqlite_requests(number, id) VALUES(0, ?1) ON CONFLICT DO NOTHING"
                .into(),
            vec![Value::Text(random(4)?)],
        ),
    ])
}

/// The INSERT of a row whose id is NULL, which fails, if the id may not be claimed.
fn claim(more: &str) -> Cow<'static, str> {
    format!(
        "INSERT INTO _hpsqlite_requests(id, what, answer)
         SELECT CASE WHEN max(number) - ?2 BETWEEN 0 AND {REMEMBERED}
             AND (SELECT id FROM _hpsqlite_requests WHERE number=0) = ?3 THEN ?1 END, ?4, ?5
         FROM _hpsqlite_requests {more}"
    )
    .into()
}

fn claimed(id: &Id, what: i64, answer: Value) -> Vec<Value> {
    vec![
        id.key(),
        Value::Integer(id.mark),
        Value::Text(id.cluster.clone()),
        Value::Integer(what),
        answer,
    ]
}

/// Row 0 is no request.
fn forget() -> Statement {
    let sql = format!(
        "DELETE FROM _hpsqlite_requests
         WHERE number > 0 AND number <= (SELECT max(number) FROM _hpsqlite_requests) - {REMEMBERED}"
    );
    (sql.into(), Vec::new())
}

/// A write as the log has it: one transaction.
pub fn transaction(id: &Id, what: i64, statements: Vec<Statement>) -> Vec<Statement> {
    let note = |first| {
        let sql: &'static str = if first {
            "SELECT hp_request_note(0)"
        } else {
            "SELECT hp_request_note(1)"
        };
        (Cow::from(sql), Vec::new())
    };
    let mut all = Vec::with_capacity(2 * statements.len() + 4);
    all.push((claim("WHERE true"), claimed(id, what, Value::Null)));
    all.push(note(true));
    for statement in statements {
        all.push(statement);
        all.push(note(false));
    }
    all.push((
        "UPDATE _hpsqlite_requests SET answer=hp_request_notes() WHERE id=?1".into(),
        vec![id.key()],
    ));
    all.push(forget());
    all
}

/// An error as the log has it. It changes no answer that is there.
pub fn failure(id: &Id, what: i64, error: &str) -> Vec<Statement> {
    let short: String = error.chars().take(LONGEST_ERROR).collect();
    let answer = Value::Text(serde_json::json!(short).to_string());
    vec![
        (
            claim("WHERE true ON CONFLICT(id) DO NOTHING"),
            claimed(id, what, answer),
        ),
        forget(),
    ]
}

/// What the log says of a request
#[derive(Debug, PartialEq)]
pub enum Found {
    Answers(Vec<Answer>),
    Error(String),
    /// The id was for something else.
    Other,
}

pub fn find(db: &Connection, id: &Id, what: i64) -> Result<Option<Found>> {
    let row = db
        .prepare_cached("SELECT what, answer FROM _hpsqlite_requests WHERE id=?1")?
        .query_row([id.key()], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    let Some((asked, answer)) = row else {
        return Ok(None);
    };
    if asked != Some(what) {
        return Ok(Some(Found::Other));
    }
    Ok(Some(match serde_json::from_str(&answer)? {
        serde_json::Value::String(error) => Found::Error(error),
        counts => Found::Answers(
            unpacked(serde_json::from_value(counts)?)
                .map(|changes| Answer::Changes { changes })
                .collect(),
        ),
    }))
}

/// Numbers of changed rows, as the table has them
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Counts {
    One(u64),
    /// The same number for each of so many statements
    Run(u64, u64),
}

/// The numbers in as few bytes as LONGEST_ANSWER; if there are too many, their sum alone.
fn packed(counts: &[u64]) -> serde_json::Result<String> {
    let list: Vec<Counts> = counts
        .chunk_by(|a, b| a == b)
        .map(|run| match run {
            [one] => Counts::One(*one),
            _ => Counts::Run(run[0], run.len() as u64),
        })
        .collect();
    let text = serde_json::to_string(&list)?;
    if text.len() <= LONGEST_ANSWER {
        return Ok(text);
    }
    serde_json::to_string(&[counts.iter().sum::<u64>()])
}

fn unpacked(counts: Vec<Counts>) -> impl Iterator<Item = usize> {
    counts.into_iter().flat_map(|counts| match counts {
        Counts::One(one) => std::iter::repeat_n(one as usize, 1),
        Counts::Run(one, times) => std::iter::repeat_n(one as usize, times as usize),
    })
}

thread_local! {
    /// The rows that each statement of a transaction has changed, and those of all statements before
    static NOTES: RefCell<(Vec<u64>, u64)> = const { RefCell::new((Vec::new(), 0)) };
}

/// `hp_request_note(0)` begins a list, `hp_request_note(1)` adds how many rows the statement before it has
/// changed, and `hp_request_notes()` is the list. Triggers cannot call them.
pub fn register(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(FUNCTIONS[0], 1, flags, |context| {
        let adds: i64 = context.get(0)?;
        // SAFETY: the connection lives as long as the call, and is not kept.
        let db = unsafe { context.get_connection() }?;
        NOTES.with_borrow_mut(|(counts, before)| {
            let total = db.total_changes();
            if adds == 0 {
                counts.clear();
            } else {
                // SQLite's count is that of an earlier statement if this one changes no rows, as CREATE.
                counts.push(if total == *before { 0 } else { db.changes() });
            }
            *before = total;
        });
        Ok(0)
    })?;
    db.create_scalar_function(FUNCTIONS[1], 0, flags, |_| {
        NOTES.with_borrow(|(counts, _)| {
            packed(counts).map_err(|error| rusqlite::Error::UserFunctionError(error.into()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        register(&db).unwrap();
        apply(
            &db,
            &[(
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b)".into(),
                Vec::new(),
            )],
        )
        .unwrap();
        apply(&db, &table().unwrap()).unwrap();
        db
    }

    /// As hiqlite applies an entry of the log: all of it or nothing
    fn apply(db: &Connection, entry: &[Statement]) -> rusqlite::Result<()> {
        let transaction = db.unchecked_transaction()?;
        for (sql, parameters) in entry {
            let mut statement = transaction.prepare(sql)?;
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            while rows.next()?.is_some() {}
        }
        transaction.commit()
    }

    fn new_id(db: &Connection) -> Id {
        State::read(db).unwrap().unwrap().new_id().unwrap()
    }

    fn write(db: &Connection, id: &Id, statements: &[&str]) -> rusqlite::Result<()> {
        let statements = statements
            .iter()
            .map(|sql| (sql.to_string().into(), Vec::new()))
            .collect();
        apply(db, &transaction(id, 1, statements))
    }

    fn answers(counts: &[usize]) -> Option<Found> {
        let answer = |changes: &usize| Answer::Changes { changes: *changes };
        Some(Found::Answers(counts.iter().map(answer).collect()))
    }

    fn rows(db: &Connection, sql: &str) -> i64 {
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn ids() {
        for text in ["a1-0-b", "00ff-17-my-own-name"] {
            assert_eq!(Id::parse(text).unwrap().to_string(), text);
        }
        let long = format!("a-1-{}", "x".repeat(65));
        for text in [
            "",
            "a",
            "a-1",
            "a-1-",
            "-1-b",
            "a--1-b",
            "a-+1-b",
            "a-1-b c",
            "a-1-'",
            "a-9999999999999999999-b",
            &long,
        ] {
            assert!(Id::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_is_done_once() {
        let db = node();
        let id = new_id(&db);
        let statements = [
            "INSERT INTO t VALUES(1,1),(2,2)",
            "CREATE TABLE u(x)",
            "UPDATE t SET b=b+1 WHERE a=1",
            "DELETE FROM t WHERE a=9",
        ];
        assert_eq!(find(&db, &id, 1).unwrap(), None);
        write(&db, &id, &statements).unwrap();
        assert_eq!(find(&db, &id, 1).unwrap(), answers(&[2, 0, 1, 0]));
        let again = write(&db, &id, &statements).unwrap_err().to_string();
        assert!(again.contains("UNIQUE constraint failed"), "{again}");
        assert_eq!(find(&db, &id, 1).unwrap(), answers(&[2, 0, 1, 0]));
        assert_eq!(rows(&db, "SELECT sum(b) FROM t"), 4);
        assert_eq!(find(&db, &id, 2).unwrap(), Some(Found::Other));
    }

    #[test]
    fn an_answer_is_short() {
        let db = node();
        let stored = |statements: &[String]| -> (String, Option<Found>) {
            let id = new_id(&db);
            let statements: Vec<_> = statements.iter().map(String::as_str).collect();
            write(&db, &id, &statements).unwrap();
            let text = db
                .query_row(
                    "SELECT answer FROM _hpsqlite_requests ORDER BY number DESC",
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            (text, find(&db, &id, 1).unwrap())
        };
        // Statements that change alike are answered one by one, however many they are.
        let alike: Vec<_> = (1..=1000)
            .map(|i| format!("INSERT INTO t VALUES({i},0)"))
            .collect();
        let (text, found) = stored(&alike);
        assert_eq!(text, "[[1,1000]]");
        assert_eq!(found, answers(&[1; 1000]));
        // Of those that do not there is the sum.
        let others: Vec<_> = (1..=1000)
            .map(|i| format!("UPDATE t SET b=1 WHERE a<={i}"))
            .collect();
        let (text, found) = stored(&others);
        assert_eq!(text, "[500500]");
        assert_eq!(found, answers(&[500_500]));
        let (text, found) = stored(&others[..20]);
        assert!(text.len() <= LONGEST_ANSWER, "{text}");
        assert_eq!(found, answers(&(1..=20).collect::<Vec<_>>()));
        // As an earlier version has written it
        assert_eq!(
            unpacked(serde_json::from_str("[1,1,0]").unwrap()).collect::<Vec<_>>(),
            [1, 1, 0]
        );
    }

    #[test]
    fn rows_that_triggers_change_are_not_counted() {
        let db = node();
        db.execute_batch("CREATE TABLE log(x); CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES(1),(2); END").unwrap();
        let id = new_id(&db);
        write(
            &db,
            &id,
            &[
                "INSERT INTO t VALUES(1,1)",
                "INSERT OR IGNORE INTO t VALUES(1,1)",
            ],
        )
        .unwrap();
        assert_eq!(find(&db, &id, 1).unwrap(), answers(&[1, 0]));
        db.execute_batch("CREATE TRIGGER s AFTER INSERT ON t BEGIN SELECT hp_request_note(1); END")
            .unwrap();
        let refused = write(&db, &new_id(&db), &["INSERT INTO t VALUES(3,1)"]).unwrap_err();
        assert!(refused.to_string().contains("unsafe use"), "{refused}");
    }

    #[test]
    fn what_a_statement_sees_of_those_before_it() {
        let db = node();
        let id = new_id(&db);
        write(
            &db,
            &id,
            &[
                "INSERT INTO t VALUES(7,1)",
                "INSERT INTO t VALUES(8, last_insert_rowid())",
                "UPDATE t SET b=0",
                "INSERT INTO t VALUES(9, changes())",
            ],
        )
        .unwrap();
        assert_eq!(rows(&db, "SELECT b FROM t WHERE a=9"), 2);
        db.execute_batch("DELETE FROM t").unwrap();
        write(
            &db,
            &new_id(&db),
            &[
                "INSERT INTO t VALUES(7,1)",
                "INSERT INTO t VALUES(8, last_insert_rowid())",
            ],
        )
        .unwrap();
        assert_eq!(rows(&db, "SELECT b FROM t WHERE a=8"), 7);
    }

    #[test]
    fn the_first_answer_is_the_only_one() {
        let db = node();
        let (id, later) = (new_id(&db), new_id(&db));
        db.execute_batch("INSERT INTO t VALUES(1,1)").unwrap();
        // It fails, leaves nothing, and then could succeed; its error is what is remembered.
        write(
            &db,
            &id,
            &["INSERT INTO t VALUES(2,2)", "INSERT INTO t VALUES(1,1)"],
        )
        .unwrap_err();
        assert_eq!(find(&db, &id, 1).unwrap(), None);
        apply(&db, &failure(&id, 1, "UNIQUE constraint failed: \"t\".a")).unwrap();
        db.execute_batch("DELETE FROM t").unwrap();
        write(&db, &id, &["INSERT INTO t VALUES(1,1)"]).unwrap_err();
        let error = Some(Found::Error("UNIQUE constraint failed: \"t\".a".into()));
        assert_eq!(find(&db, &id, 1).unwrap(), error);
        apply(&db, &failure(&id, 1, "another")).unwrap();
        assert_eq!(find(&db, &id, 1).unwrap(), error);
        // An error that comes after a success changes nothing.
        write(&db, &later, &["INSERT INTO t VALUES(1,1)"]).unwrap();
        apply(&db, &failure(&later, 1, "late")).unwrap();
        assert_eq!(find(&db, &later, 1).unwrap(), answers(&[1]));
        assert_eq!(rows(&db, "SELECT count(*) FROM t"), 1);
    }

    #[test]
    fn a_forgotten_id_is_refused() {
        let db = node();
        let (done, late) = (new_id(&db), new_id(&db));
        write(&db, &done, &["INSERT INTO t VALUES(1,1)"]).unwrap();
        for i in 0..REMEMBERED - 1 {
            assert_eq!(find(&db, &done, 1).unwrap(), answers(&[1]), "{i}");
            assert!(write(&db, &done, &["DELETE FROM t"]).is_err(), "{i}");
            write(&db, &new_id(&db), &["UPDATE t SET b=b+1"]).unwrap();
        }
        // REMEMBERED requests after the mark it is still there, and one request later neither is let in.
        assert_eq!(find(&db, &done, 1).unwrap(), answers(&[1]));
        assert_eq!(State::read(&db).unwrap().unwrap().refuses(&late), None);
        write(&db, &new_id(&db), &["UPDATE t SET b=b+1"]).unwrap();
        assert_eq!(find(&db, &done, 1).unwrap(), None);
        for id in [&done, &late] {
            let error = write(&db, id, &["DELETE FROM t"]).unwrap_err().to_string();
            assert!(error.contains(NOT_CLAIMED), "{error}");
            let error = apply(&db, &failure(id, 1, "x")).unwrap_err().to_string();
            assert!(error.contains(NOT_CLAIMED), "{error}");
            let says = State::read(&db).unwrap().unwrap().refuses(id).unwrap();
            assert!(says.contains("is forgotten"), "{says}");
        }
        assert_eq!(rows(&db, "SELECT count(*) FROM t"), 1);
        assert_eq!(
            rows(&db, "SELECT count(*) FROM _hpsqlite_requests"),
            REMEMBERED + 1
        );
    }

    #[test]
    fn ids_of_another_cluster_are_refused() {
        let (db, other) = (node(), node());
        let id = new_id(&other);
        assert!(write(&db, &id, &["INSERT INTO t VALUES(1,1)"]).is_err());
        assert!(
            State::read(&db)
                .unwrap()
                .unwrap()
                .refuses(&id)
                .unwrap()
                .contains("not of this cluster")
        );
        // A mark that no node has given out yet
        let text = format!("{}-1-x", State::read(&db).unwrap().unwrap().cluster);
        assert!(
            write(
                &db,
                &Id::parse(&text).unwrap(),
                &["INSERT INTO t VALUES(1,1)"]
            )
            .is_err()
        );
        assert_eq!(rows(&db, "SELECT count(*) FROM t"), 0);
    }

    #[test]
    fn nodes_have_the_same_table() {
        let (one, two) = (node(), Connection::open_in_memory().unwrap());
        register(&two).unwrap();
        // A second one that makes the table changes nothing.
        let first = State::read(&one).unwrap().unwrap().cluster;
        apply(&one, &table().unwrap()).unwrap();
        assert_eq!(State::read(&one).unwrap().unwrap().cluster, first);
        assert!(State::read(&two).unwrap().is_none());
        // Another node gets a copy, and then the same entries, though its connection has done other things.
        let mut two = two;
        rusqlite::backup::Backup::new(&one, &mut two)
            .unwrap()
            .run_to_completion(100, std::time::Duration::ZERO, None)
            .unwrap();
        two.execute_batch("CREATE TEMP TABLE x(a); INSERT INTO x VALUES(1),(2),(3)")
            .unwrap();
        let id = new_id(&one);
        for db in [&one, &two] {
            write(
                db,
                &id,
                &["CREATE TABLE v(a)", "INSERT INTO v VALUES(1),(2)"],
            )
            .unwrap();
        }
        let all = |db: &Connection| -> String {
            db.query_row("SELECT group_concat(number || hex(id) || coalesce(what,'') || coalesce(answer,'')) FROM _hpsqlite_requests", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(all(&one), all(&two));
        assert_eq!(find(&two, &id, 1).unwrap(), answers(&[0, 2]));
    }
}
