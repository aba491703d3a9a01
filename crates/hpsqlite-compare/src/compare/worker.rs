//! The process that holds one library: it takes requests on standard input and answers on standard output.
//!
//! Time is taken here, around preparing a statement and stepping it to its end
//! with every value read, so neither the pipe nor the other process is in it.

use std::ffi::CString;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::protocol::{
    Digests, OpenedLibrary, Outcome, Piece, PreparedStatement, ROWS_A_CHUNK, Ran, Request,
    ResultColumn, RunTime, Setting, ShownValue, WorkerReply,
};
use crate::sys::{self, Db, Library, OPEN_CREATE, OPEN_READONLY, OPEN_READWRITE, Stmt, Value};
use crate::usage;

/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;
/// Values are hashed in pieces of about this many bytes.
const HASH_BUFFER: usize = 1 << 16;

/// Serves requests until the tool closes the pipe.
pub fn serve(library: &Path) -> Result<()> {
    die_with_the_tool();
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut output = std::io::BufWriter::new(output);
    let library = match Library::load(library) {
        Ok(library) => library,
        Err(e) => return send(&mut output, &WorkerReply::Failed(format!("{e:#}"))),
    };
    send(&mut output, &WorkerReply::Done)?;
    let mut worker = LibraryWorker {
        library: &library,
        db: None,
    };
    for line in input.lines() {
        let request = serde_json::from_str(&line?).context("a request")?;
        let mut progress =
            |done, all| send(&mut output, &WorkerReply::Progress { done, all }).is_ok();
        let reply = worker.answer(request, &mut progress);
        send(
            &mut output,
            &reply.unwrap_or_else(|e| WorkerReply::Sql(e.into())),
        )?;
    }
    Ok(())
}

fn send(to: &mut impl Write, reply: &WorkerReply) -> Result<()> {
    serde_json::to_writer(&mut *to, reply)?;
    to.write_all(b"\n")?;
    Ok(to.flush()?)
}

/// Ctrl-C is the tool's business, and a worker never outlives it.
pub fn die_with_the_tool() {
    // SAFETY: plain system calls.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

struct LibraryWorker<'l> {
    library: &'l Library,
    db: Option<Db<'l>>,
}

impl<'l> LibraryWorker<'l> {
    fn answer(
        &mut self,
        request: Request,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<WorkerReply, sys::SqlError> {
        match request {
            Request::Open {
                database,
                writable,
                pragmas,
            } => self.open(&database, writable, &pragmas),
            Request::Copy { from, to } => self.copy(&from, &to, progress),
            Request::Tidy { database } => self.tidy(&database),
            Request::Split { sql } => Ok(WorkerReply::Pieces(self.split(&sql))),
            Request::Prepare { sql } => prepare(self.db(), &sql),
            Request::Plan { sql } => plan(self.db(), &sql).map(WorkerReply::Plan),
            Request::Run { sql, repeat, undo } => run(self.db(), &sql, repeat, undo),
            Request::Shrink => {
                self.db().exec("PRAGMA shrink_memory")?;
                Ok(WorkerReply::Done)
            }
            Request::Digests { sql, undo } => digests(self.db(), &sql, undo),
            Request::Rows { sql, undo, from } => rows(self.db(), &sql, undo, from),
        }
    }

    fn db(&self) -> &Db<'l> {
        self.db.as_ref().expect("Open comes before any SQL")
    }

    fn open(
        &mut self,
        database: &Path,
        writable: bool,
        pragmas: &[String],
    ) -> Result<WorkerReply, sys::SqlError> {
        let flags = if writable {
            OPEN_READWRITE
        } else {
            OPEN_READONLY
        };
        let db = self.library.open(database, flags)?;
        db.busy_timeout(BUSY_MS);
        // Opening is lazy: only reading shows that it is a database.
        db.exec("SELECT count(*) FROM sqlite_master")?;
        let mut settings = Vec::new();
        for pragma in pragmas {
            let (name, asked) = pragma.split_once('=').unwrap_or((pragma, ""));
            let statement = format!("PRAGMA {pragma}");
            if !writable && db.prepare(&statement)?.is_some_and(|s| !s.readonly()) {
                return Ok(WorkerReply::Failed(format!(
                    "PRAGMA {pragma} writes to the database; --scratch runs on a copy"
                )));
            }
            db.exec(&statement)?;
            settings.push(Setting {
                name: name.trim().to_owned(),
                asked: asked.trim().to_owned(),
                effective: db.first(&format!("PRAGMA {name}"))?,
            });
        }
        let opened = OpenedLibrary {
            library: self.library.path().to_owned(),
            version: self.library.version(),
            source_id: self.library.source_id(),
            // Only ours knows the function.
            hp_version: db.first("SELECT hp_version()").unwrap_or(None),
            settings,
            compile_options: db.column("PRAGMA compile_options")?,
            page_size: number(&db, "PRAGMA page_size")?,
            journal_mode: db.first("PRAGMA journal_mode")?.unwrap_or_default(),
            encoding: db.first("PRAGMA encoding")?.unwrap_or_default(),
        };
        self.db = Some(db);
        Ok(WorkerReply::Opened(opened))
    }

    fn copy(
        &self,
        from: &Path,
        to: &Path,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<WorkerReply, sys::SqlError> {
        let source = self.library.open(from, OPEN_READONLY)?;
        source.busy_timeout(BUSY_MS);
        let copy = self.library.open(to, OPEN_READWRITE | OPEN_CREATE)?;
        copy.exec("PRAGMA synchronous=OFF")?;
        source.backup_to(&copy, progress)?;
        Ok(WorkerReply::Done)
    }

    fn tidy(&self, database: &Path) -> Result<WorkerReply, sys::SqlError> {
        let db = self.library.open(database, OPEN_READWRITE)?;
        db.exec("SELECT count(*) FROM sqlite_master")?;
        Ok(WorkerReply::Done)
    }

    /// Cuts at each semicolon where SQLite says that a statement is complete.
    fn split(&self, script: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut start = 0;
        let mut add = |from: usize, to: usize| {
            let (sql, skipped) = trim_start(&script[from..to]);
            let sql = sql.trim_end();
            if !sql.is_empty() && sql != ";" {
                pieces.push(Piece {
                    sql: sql.to_owned(),
                    offset: from + skipped,
                });
            }
        };
        for (i, _) in script.match_indices(';') {
            // A NUL would end SQLite's view of the text, here as everywhere.
            let complete =
                CString::new(&script[start..=i]).is_ok_and(|s| self.library.complete(&s));
            if complete {
                add(start, i + 1);
                start = i + 1;
            }
        }
        add(start, script.len());
        pieces
    }
}

/// Drops white space and comments from the start; tells how many bytes that were.
pub fn trim_start(sql: &str) -> (&str, usize) {
    let mut rest = sql;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else {
            return (rest, sql.len() - rest.len());
        }
    }
}

/// Drops from the start what is no statement: white space, comments and semicolons.
pub fn next_statement(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        let (start, dropped) = trim_start(rest);
        rest = start.trim_start_matches(';');
        if dropped == 0 && rest.len() == start.len() {
            return rest;
        }
    }
}

/// The first value of the first row, as a number; 0 where it is none.
fn number(db: &Db<'_>, sql: &str) -> Result<i64, sys::SqlError> {
    Ok(db.first(sql)?.and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn prepare(db: &Db<'_>, sql: &str) -> Result<WorkerReply, sys::SqlError> {
    let readonly = db.prepare(sql)?.is_none_or(|s| s.readonly());
    Ok(WorkerReply::Prepared(PreparedStatement { readonly }))
}

/// The lines of EXPLAIN QUERY PLAN, indented as a tree.
pub fn plan(db: &Db<'_>, sql: &str) -> Result<Vec<String>, sys::SqlError> {
    let mut lines = Vec::new();
    let mut depths = vec![(0, 0)];
    // What EXPLAIN cannot explain (another EXPLAIN) has no plan.
    if let Ok(Some(mut stmt)) = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) {
        while stmt.step()? {
            let (id, parent) = (integer(&stmt, 0), integer(&stmt, 1));
            let depth = depths.iter().find(|d| d.0 == parent).map_or(0, |d| d.1);
            depths.push((id, depth + 1));
            lines.push(format!("{}{}", "  ".repeat(depth), stmt.text(3)));
        }
    }
    Ok(lines)
}

fn integer(stmt: &Stmt<'_>, i: i32) -> i64 {
    match stmt.value(i) {
        Value::Integer(n) => n,
        _ => 0,
    }
}

/// Runs a closure, and takes back what it wrote if `undo` is set.
fn undoing<T>(db: &Db<'_>, undo: bool, work: impl FnOnce() -> T) -> Result<T, sys::SqlError> {
    if undo {
        db.exec("SAVEPOINT hpsqlite_compare")?;
    }
    let result = work();
    if undo {
        // An error may have rolled back the transaction, and the savepoint with it.
        let _ = db.exec("ROLLBACK TO hpsqlite_compare");
        let _ = db.exec("RELEASE hpsqlite_compare");
    }
    Ok(result)
}

fn run(db: &Db<'_>, sql: &str, repeat: u32, undo: bool) -> Result<WorkerReply, sys::SqlError> {
    let mut total = RunTime::default();
    let mut first: Option<Outcome> = None;
    let mut steady = true;
    let before = columns_read(db);
    for _ in 0..repeat {
        let (sample, outcome) = undoing(db, undo, || once(db, sql))?;
        total.seconds += sample.seconds;
        total.user += sample.user;
        total.system += sample.system;
        match &first {
            Some(first) => steady &= *first == outcome,
            None => first = Some(outcome),
        }
    }
    let n = f64::from(repeat);
    let columns = columns_read(db).zip(before);
    Ok(WorkerReply::Ran(Ran {
        sample: RunTime {
            seconds: total.seconds / n,
            user: total.user / n,
            system: total.system / n,
            columns: columns.map(|(after, before)| after.saturating_sub(before)),
        },
        outcome: first.expect("repeat is at least 1"),
        steady,
    }))
}

/// How many runs of leaves this connection has read from columns in memory so far, as ours tells.
fn columns_read(db: &Db<'_>) -> Option<u64> {
    const LINE: &str = "runs of leaves whose columns were in memory";
    let mut stats = db.prepare("PRAGMA hp_stats=full").ok()??;
    while stats.step().ok()? {
        if stats.text(0) == LINE {
            return u64::try_from(integer(&stats, 1)).ok();
        }
    }
    None
}

/// One timed run.
pub fn once(db: &Db<'_>, sql: &str) -> (RunTime, Outcome) {
    let mut outcome = Outcome {
        columns: Vec::new(),
        rows: 0,
        hash: String::new(),
        error: None,
    };
    let mut hash = RowHash::default();
    let before = usage::process_time();
    let start = Instant::now();
    let mut seconds = None;
    match db.prepare(sql) {
        Ok(Some(mut stmt)) => {
            let columns = stmt.columns();
            loop {
                match stmt.step() {
                    Ok(true) => {
                        outcome.rows += 1;
                        hash.row(&stmt, columns);
                    }
                    Ok(false) => break,
                    Err(e) => {
                        outcome.error = Some(e.into());
                        break;
                    }
                }
            }
            seconds = Some(start.elapsed().as_secs_f64());
            outcome.columns = (0..columns)
                .map(|i| ResultColumn {
                    name: stmt.column_name(i),
                    declared: stmt.column_decltype(i),
                })
                .collect();
        }
        Ok(None) => {}
        Err(e) => outcome.error = Some(e.into()),
    }
    let seconds = seconds.unwrap_or_else(|| start.elapsed().as_secs_f64());
    let after = usage::process_time();
    outcome.hash = format!("{:032x}", hash.digest());
    let sample = RunTime {
        seconds,
        user: after.0 - before.0,
        system: after.1 - before.1,
        columns: None,
    };
    (sample, outcome)
}

/// Hashes rows by type and exact value: 1 and 1.0 differ, and so do 0.0 and -0.0.
#[derive(Default)]
pub struct RowHash {
    buffer: Vec<u8>,
    hash: Xxh3,
}

impl RowHash {
    /// Takes the row that the statement stands on.
    pub fn row(&mut self, stmt: &Stmt<'_>, columns: i32) {
        encode(stmt, columns, &mut self.buffer);
        self.taken();
    }

    /// Takes a row that is [`encode`]d.
    pub fn encoded(&mut self, row: &[u8]) {
        self.buffer.extend(row);
        self.taken();
    }

    fn taken(&mut self) {
        if self.buffer.len() >= HASH_BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
    }

    /// The hash of all rows so far.
    pub fn digest(&mut self) -> u128 {
        self.hash.update(&self.buffer);
        self.buffer.clear();
        self.hash.digest128()
    }
}

/// Appends the row so that no two different rows give the same bytes.
pub fn encode(stmt: &Stmt<'_>, columns: i32, to: &mut Vec<u8>) {
    for i in 0..columns {
        encode_value(stmt.value(i), to);
    }
}

/// Appends a value of a row, as [`encode`] does.
pub fn encode_value(value: Value<'_>, to: &mut Vec<u8>) {
    match value {
        Value::Null => to.push(0),
        Value::Integer(n) => {
            to.push(1);
            to.extend(n.to_le_bytes());
        }
        Value::Real(r) => {
            to.push(2);
            to.extend(r.to_bits().to_le_bytes());
        }
        Value::Text(t) => {
            to.push(3);
            to.extend((t.len() as u64).to_le_bytes());
            to.extend(t);
        }
        Value::Blob(b) => {
            to.push(4);
            to.extend((b.len() as u64).to_le_bytes());
            to.extend(b);
        }
    }
}

fn digests(db: &Db<'_>, sql: &str, undo: bool) -> Result<WorkerReply, sys::SqlError> {
    let mut out = Digests {
        chunks: Vec::new(),
        unordered: 0,
    };
    let mut chunk = Xxh3::new();
    let mut n = 0;
    let mut bytes = Vec::new();
    each_row(db, sql, undo, |stmt, columns| {
        bytes.clear();
        encode(stmt, columns, &mut bytes);
        chunk.update(&bytes);
        out.unordered = out.unordered.wrapping_add(xxh3_64(&bytes));
        n += 1;
        if n == ROWS_A_CHUNK {
            out.chunks.push(chunk.digest());
            chunk.reset();
            n = 0;
        }
        true
    })?;
    if n > 0 {
        out.chunks.push(chunk.digest());
    }
    Ok(WorkerReply::Digests(out))
}

fn rows(db: &Db<'_>, sql: &str, undo: bool, from: u64) -> Result<WorkerReply, sys::SqlError> {
    let mut out = Vec::new();
    let mut n = 0;
    each_row(db, sql, undo, |stmt, columns| {
        if n >= from {
            out.push((0..columns).map(|i| cell(stmt.value(i))).collect());
        }
        n += 1;
        n < from + ROWS_A_CHUNK
    })?;
    Ok(WorkerReply::Rows(out))
}

/// Steps through the rows until `row` returns false; an error of the statement only ends it.
fn each_row(
    db: &Db<'_>,
    sql: &str,
    undo: bool,
    mut row: impl FnMut(&Stmt<'_>, i32) -> bool,
) -> Result<(), sys::SqlError> {
    undoing(db, undo, || {
        if let Ok(Some(mut stmt)) = db.prepare(sql) {
            let columns = stmt.columns();
            while matches!(stmt.step(), Ok(true)) && row(&stmt, columns) {}
        }
    })
}

fn cell(value: Value<'_>) -> ShownValue {
    let (kind, value) = match value {
        Value::Null => ("null", "NULL".to_owned()),
        Value::Integer(n) => ("integer", n.to_string()),
        // The shortest text that reads back as this very number.
        Value::Real(r) => ("real", format!("{r:?}")),
        Value::Text(t) => match std::str::from_utf8(t) {
            Ok(t) => ("text", t.to_owned()),
            Err(_) => ("text, not UTF-8", hex(t)),
        },
        Value::Blob(b) => ("blob", hex(b)),
    };
    ShownValue {
        kind: kind.to_owned(),
        value,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, b| {
        // Writing to a String succeeds.
        let _ = write!(out, "{b:02x}");
        out
    })
}
