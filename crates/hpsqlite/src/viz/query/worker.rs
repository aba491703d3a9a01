//! The process that runs one statement and tells what it reads.
//!
//! It is a process of its own for three reasons. One that opens and closes a database file by itself,
//! as the rest of `viz` does, loses SQLite's locks on it. A library that crashes over a damaged file
//! takes nothing else with it. And system calls can be watched in one place only.
//!
//! Nothing can be written, and it is not the text of the statement that decides it:
//!
//! 1. The connection is opened for reading only, with `query_only`; no database can be attached.
//! 2. SQLite asks `allow` for everything that a statement would do: reading rows, calling functions
//!    and a list of PRAGMAs that only tell something are allowed.
//! 3. What was prepared has to be read-only, and one statement (`sqlite3_stmt_readonly()`).
//! 4. The system calls below open nothing for writing but temporary files (`trace`).
//!
//! A schema may be hostile as well: it is not trusted (`SQLITE_DBCONFIG_TRUSTED_SCHEMA`), triggers do
//! not run, extensions cannot be loaded, memory and temporary files are bounded.

use std::ffi::c_int;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::protocol::{
    self, BLOB_SHOWN, Event, LONGEST, PlanLine, QueryValue, ROWS, SHOWN, STOP, Started,
    StatementEnd, TEXT_SHOWN, Tag, ValueType,
};
use super::trace;
use crate::compare::worker::next_statement;
use crate::missing;
use crate::reasons::{Acceleration, QueryCounts, Reasons, RunFacts};
use crate::sys::{Db, Library, OPEN_READONLY, SqlError, Stmt, Value};
use crate::viz::copy::replay::quoted;
use crate::viz::open::beside;

/// How long a lock of another program is waited for.
const BUSY_MS: i32 = 2000;
/// Most memory of the library: while reads are watched,
const MEMORY: i64 = 1 << 30;
/// and while it is measured, as an application would have it.
const MEASURED_MEMORY: i64 = 2 << 30;
/// Most bytes of a temporary file.
const TEMPORARY: u64 = 8 << 30;
/// How often what was read is handed on, however slowly it comes, and whether to stop is looked at.
const TICK: Duration = Duration::from_millis(100);

/// A statement that is measured runs so many times,
const RUNS: usize = 5;
/// or until that took so many seconds; twice at least,
const ENOUGH: f64 = 2.0;
/// unless once took so many.
const LONG: f64 = 20.0;
/// How long it is counted whether an index would find few rows.
const PATIENCE: Duration = Duration::from_secs(2);

/// What SQLite was not allowed to do last.
static REFUSED: Mutex<Option<String>> = Mutex::new(None);
/// Whether the statement is to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Runs the statement that comes on standard input on `database`, and writes frames to standard
/// output (see `protocol`): which pages it reads, or with `measure` how long it takes. Ends when
/// standard input does.
pub fn serve(library: &Path, database: &Path, measure: bool) -> Result<()> {
    limit_process();
    let sql = read_statement()?;
    std::thread::spawn(listen);
    if let Err(e) = run(library, database, &sql, measure) {
        let error = match e.downcast::<SqlError>() {
            Ok(e) => protocol::Error {
                message: explain(&e),
                offset: e.offset,
            },
            Err(e) => protocol::Error {
                message: format!("{e:#}"),
                offset: None,
            },
        };
        tell(&Event::Failed(error));
    }
    Ok(())
}

/// A crash leaves no file behind, and temporary files are bounded.
fn limit_process() {
    let limits = [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, TEMPORARY as libc::rlim_t),
    ];
    // SAFETY: plain system calls.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        for (what, most) in limits {
            let limit = libc::rlimit {
                rlim_cur: most,
                rlim_max: most,
            };
            libc::setrlimit(what, &limit);
        }
    }
}

/// Standard input without a buffer, so that what has not been read can be waited for.
fn input() -> std::io::Result<File> {
    Ok(std::io::stdin().as_fd().try_clone_to_owned()?.into())
}

fn read_statement() -> Result<String> {
    let mut input = input()?;
    let mut length = [0; 4];
    input.read_exact(&mut length).context("the statement")?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        bail!("the statement is longer than {LONGEST} bytes");
    }
    let mut sql = vec![0; length];
    input.read_exact(&mut sql).context("the statement")?;
    Ok(String::from_utf8(sql)?)
}

/// Writes a frame. Without a reader there is nothing left to do.
fn send(tag: Tag, content: &[u8]) {
    let mut out = std::io::stdout().lock();
    if protocol::write(&mut out, tag, content)
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}

fn tell(event: &Event) {
    // Numbers, texts and lists of them can always be written as JSON.
    send(
        Tag::Event,
        &serde_json::to_vec(event).expect("an event as JSON"),
    );
}

fn tell_pages(pages: &[u32]) {
    let bytes: Vec<u8> = pages.iter().flat_map(|n| n.to_le_bytes()).collect();
    send(Tag::Pages, &bytes);
}

fn run(library: &Path, database: &Path, sql: &str, measure: bool) -> Result<()> {
    let library = Library::load(library)?;
    library.limit_memory(if measure { MEASURED_MEMORY } else { MEMORY });
    let database = database
        .canonicalize()
        .with_context(|| format!("cannot open {}", database.display()))?;
    let sink: trace::Sink = Box::new(tell_pages);
    trace::install(&library, &database, (!measure).then_some(sink))?;
    let immutable = needs_no_log(&database);
    let open = || -> Result<Db<'_>, SqlError> {
        if immutable {
            library.open_immutable(&database)
        } else {
            library.open(&database, OPEN_READONLY)
        }
    };
    let steps = {
        let db = open()?;
        guard(&db, measure)?;
        // Before EXPLAIN could hide what it is.
        let parameters = prepare(&db, sql)?.parameters().len();
        (plan(&db, sql)?, parameters)
    };
    // A connection of its own: nothing that was read for the plan is in its cache.
    let db = open()?;
    let page_size = guard(&db, measure)?;
    tell(&Event::Started(Started {
        plan: steps.0.clone(),
        parameters: steps.1,
        library: library.version(),
        page_size,
        immutable,
    }));
    std::thread::scope(|scope| {
        let interrupter = db.interrupter();
        scope.spawn(move || {
            loop {
                std::thread::sleep(TICK);
                if STOPPED.load(Ordering::Relaxed) {
                    // It only ends what runs at this moment.
                    interrupter.interrupt();
                }
                trace::hand_on();
            }
        });
        let end = match measure {
            true => measured(&library, &db, sql, &steps.0),
            false => query(&db, sql, Some(page_size)),
        };
        tell(&Event::Ended(end));
        // Nobody waits for the other thread.
        std::process::exit(0)
    })
}

/// Waits for the byte that stops the statement. At the end of the input the process ends: nobody
/// wants to know any more.
fn listen() {
    let mut byte = [0];
    loop {
        match input().and_then(|mut input| input.read(&mut byte)) {
            Ok(1) if byte[0] == STOP => STOPPED.store(true, Ordering::Relaxed),
            Ok(1) => {}
            _ => std::process::exit(1),
        }
    }
}

/// Whether a database in WAL mode has no log: then SQLite would make one, with a wal-index, even
/// to read. It is told that nobody writes.
fn needs_no_log(database: &Path) -> bool {
    const WAL: u8 = 2;
    let mut head = [0; 20];
    let read = File::open(database).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && (head[18] == WAL || head[19] == WAL) && !beside(database, "-wal").exists()
}

/// Closes all ways to write, reads the schema and forgets its pages; gives the page size.
fn guard(db: &Db<'_>, measure: bool) -> Result<u32, SqlError> {
    const ENABLE_TRIGGER: c_int = 1003;
    const ENABLE_LOAD_EXTENSION: c_int = 1005;
    const DEFENSIVE: c_int = 1010;
    const WRITABLE_SCHEMA: c_int = 1011;
    const DQS_DML: c_int = 1013;
    const DQS_DDL: c_int = 1014;
    const TRUSTED_SCHEMA: c_int = 1017;
    const LIMIT_VDBE_OP: c_int = 5;
    const LIMIT_ATTACHED: c_int = 7;
    const LIMIT_WORKER_THREADS: c_int = 11;
    for (what, on) in [
        (ENABLE_TRIGGER, false),
        (ENABLE_LOAD_EXTENSION, false),
        (DEFENSIVE, true),
        (WRITABLE_SCHEMA, false),
        (DQS_DML, false),
        (DQS_DDL, false),
        (TRUSTED_SCHEMA, false),
    ] {
        db.switch(what, on);
    }
    db.limit(LIMIT_ATTACHED, 0);
    db.limit(LIMIT_WORKER_THREADS, 0);
    db.limit(LIMIT_VDBE_OP, 10_000_000);
    db.busy_timeout(BUSY_MS);
    db.exec("PRAGMA query_only=ON; PRAGMA mmap_size=0")?;
    if !measure {
        // One thread, so that reads have an order; a library that does not know the PRAGMA has none.
        db.exec("PRAGMA hp_threads=1")?;
    }
    db.exec("SELECT count(*) FROM sqlite_schema")?;
    connect_rtrees(db)?;
    let page_size = db.first("PRAGMA page_size")?;
    db.exec("PRAGMA shrink_memory")?;
    db.allow_only(allow);
    Ok(page_size.and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// The module of R-trees prepares the statements that write to them when a table is first used, which
/// `allow` would take for writing. So they are used before it is asked, by what gives no row.
fn connect_rtrees(db: &Db<'_>) -> Result<(), SqlError> {
    let names = db.column(
        "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage=0 AND sql LIKE '%using%rtree%' \
         LIMIT 100",
    )?;
    for name in names {
        // One that is damaged says so when it is asked for.
        let _ = db.prepare(&format!("SELECT 1 FROM main.{} LIMIT 0", quoted(&name)));
    }
    Ok(())
}

/// PRAGMAs that tell something about what they are given,
const TELLING: [&str; 10] = [
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];
/// and about the database, if they are given nothing.
const TELLING_ALONE: [&str; 15] = [
    "application_id",
    "auto_vacuum",
    "cache_size",
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "encoding",
    "freelist_count",
    "function_list",
    "hp_stats",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
];
/// Functions that do more than to compute.
const ACTING: [&str; 6] = [
    "edit",
    "fts3_tokenizer",
    "load_extension",
    "readfile",
    "writefile",
    "sqlite_log",
];

/// What a statement may do.
fn allow(action: i32, first: &str, second: &str) -> bool {
    const PRAGMA: i32 = 19;
    const READ: i32 = 20;
    const SELECT: i32 = 21;
    const FUNCTION: i32 = 31;
    const RECURSIVE: i32 = 33;
    let is_in = |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    let allowed = match action {
        READ | SELECT | RECURSIVE => true,
        FUNCTION => !is_in(&ACTING, second),
        PRAGMA => is_in(&TELLING, first) || (second.is_empty() && is_in(&TELLING_ALONE, first)),
        _ => false,
    };
    if !allowed && let Ok(mut refused) = REFUSED.lock() {
        *refused = Some(match action {
            PRAGMA => format!("PRAGMA {first}"),
            FUNCTION => format!("{second}()"),
            // How SQLite itself writes to its list of tables.
            _ if first.starts_with("sqlite_") => "a change of the schema".to_owned(),
            _ => action_name(action).to_owned(),
        });
    }
    allowed
}

/// What SQLite's numbers of actions stand for.
fn action_name(action: i32) -> &'static str {
    match action {
        1..=8 | 29 => "CREATE",
        9 => "DELETE",
        10..=17 | 30 => "DROP",
        18 => "INSERT",
        22 => "a transaction",
        23 => "UPDATE",
        24 => "ATTACH",
        25 => "DETACH",
        26 => "ALTER TABLE",
        27 => "REINDEX",
        28 => "ANALYZE",
        32 => "SAVEPOINT",
        _ => "this",
    }
}

/// SQLite's message, with what is behind it.
fn explain(e: &SqlError) -> String {
    const AUTH: i32 = 23;
    const NOTADB: i32 = 26;
    let refused = REFUSED.lock().ok().and_then(|mut r| r.take());
    match (e.code & 0xff, refused) {
        (AUTH, Some(what)) => format!("Only reading is allowed here, not {what}."),
        (5 | 6, _) => format!("{}: another program is writing to the file; try again.", e),
        (8, _) => format!(
            "{e}: SQLite would have to undo or repair something in the file first, and may not write."
        ),
        (11 | NOTADB, _) => format!("{e}: the file is damaged; Problems says where."),
        _ if e.message.starts_with("unsafe use of") => format!(
            "{e}: a view or the like in this file calls it, and what is in the file is not trusted here. \
             Type what the view would do."
        ),
        (7, _) => format!("{e}: the statement wants more than it may have here."),
        _ => e.message.clone(),
    }
}

/// The one statement in `sql`, which has to be one that only reads.
fn prepare<'d>(db: &'d Db<'_>, sql: &str) -> Result<Stmt<'d>> {
    let (statement, rest) = db.prepare_first(sql)?;
    let Some(statement) = statement else {
        bail!("There is no statement.");
    };
    if !next_statement(rest).is_empty() {
        bail!("There is more than one statement; one is run at a time.");
    }
    if !statement.readonly() {
        bail!("Only reading is allowed here, and this statement writes.");
    }
    Ok(statement)
}

/// The steps of EXPLAIN QUERY PLAN; what cannot be explained has none.
fn plan(db: &Db<'_>, sql: &str) -> Result<Vec<PlanLine>, SqlError> {
    let mut steps = Vec::new();
    if let Ok(Some(mut stmt)) = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) {
        let number = |stmt: &Stmt<'_>, i| match stmt.value(i) {
            Value::Integer(n) => n,
            _ => 0,
        };
        while stmt.step()? {
            steps.push(PlanLine {
                id: number(&stmt, 0),
                parent: number(&stmt, 1),
                detail: stmt.text(3),
            });
        }
    }
    Ok(steps)
}

/// Runs the statement several times, and says how long each run took and why.
fn measured(library: &Library, db: &Db<'_>, sql: &str, plan: &[PlanLine]) -> StatementEnd {
    let before = QueryCounts::of(db);
    let mut end = query(db, sql, None);
    if end.error.is_none() {
        end.times.push(end.seconds);
        while end.times.len() < RUNS
            && (end.times.len() < 2 || end.times.iter().sum::<f64>() < ENOUGH)
            && end.seconds < LONG
        {
            let again = query(db, sql, None);
            if again.error.is_some() {
                break;
            }
            end.times.push(again.seconds);
        }
    }
    let steps: Vec<&str> = plan.iter().map(|step| step.detail.as_str()).collect();
    if let (Some(before), Some(after)) = (&before, &QueryCounts::of(db)) {
        let reasons = Reasons::of(RunFacts {
            sql,
            plan: &steps,
            before,
            after,
        });
        // What did not run to its end may have been on its way.
        let is_known = end.error.is_none() || reasons.became == Acceleration::Refused;
        end.reasons = is_known.then_some(reasons);
        // What cannot be planned without the rows has no suggestion.
        let mut indexes = missing::suggest(library, db, sql).unwrap_or_default();
        indexes.retain(|index| missing::finds_few(db, index, PATIENCE));
        end.indexes = indexes;
    }
    end
}

/// Runs the statement to its end, or until it is stopped. Its reads are noted, in pages of
/// `page_size` bytes, if there is one.
fn query(db: &Db<'_>, sql: &str, page_size: Option<u32>) -> StatementEnd {
    let mut end = StatementEnd::default();
    let mut room = SHOWN;
    if let Some(page_size) = page_size {
        trace::begin(page_size);
    }
    let start = Instant::now();
    let result = prepare(db, sql).and_then(|mut stmt| {
        let columns = stmt.columns();
        end.columns = (0..columns).map(|i| stmt.column_name(i)).collect();
        while stmt.step()? {
            end.row_count += 1;
            if end.row_count <= ROWS as u64 && room > 0 {
                let row: Vec<QueryValue> = (0..columns).map(|i| cell(stmt.value(i))).collect();
                let size: usize = row.iter().map(|cell| cell.value.len() + 16).sum();
                room = room.saturating_sub(size);
                end.rows.push(row);
            }
        }
        Ok(())
    });
    end.seconds = start.elapsed().as_secs_f64();
    let counts = trace::end();
    end.pages = counts.pages;
    end.from_log = counts.from_log;
    end.calls = counts.calls;
    end.temporary_files = counts.temporary_files;
    end.temporary_bytes = counts.temporary_bytes;
    if let Err(e) = result {
        end.stopped = STOPPED.load(Ordering::Relaxed);
        let (message, offset) = match e.downcast::<SqlError>() {
            Ok(e) => (explain(&e), e.offset),
            Err(e) => (format!("{e:#}"), None),
        };
        end.error = Some(protocol::Error { message, offset });
    }
    end
}

/// A value as it is shown, cut if it is long.
fn cell(value: Value<'_>) -> QueryValue {
    let whole = |kind, value| QueryValue {
        kind,
        value,
        bytes: None,
    };
    match value {
        Value::Null => whole(ValueType::Null, String::new()),
        Value::Integer(n) => whole(ValueType::Integer, n.to_string()),
        // The shortest text that reads back as this very number.
        Value::Real(r) => whole(ValueType::Real, format!("{r:?}")),
        Value::Text(t) => {
            // Four bytes a character at most, and one may have been cut through.
            let start = &t[..t.len().min(TEXT_SHOWN * 4)];
            let text = String::from_utf8_lossy(start);
            let shown: String = text.chars().take(TEXT_SHOWN).collect();
            let cut = t.len() > start.len() || shown.len() < text.len();
            QueryValue {
                kind: ValueType::Text,
                value: shown,
                bytes: cut.then_some(t.len() as u64),
            }
        }
        Value::Blob(b) => QueryValue {
            kind: ValueType::Blob,
            value: b[..b.len().min(BLOB_SHOWN)]
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect(),
            bytes: Some(b.len() as u64),
        },
    }
}
