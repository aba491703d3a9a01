//! The SQLite that this process runs on: that it is ours, and what a replicated writer must not do.
//!
//! hiqlite ships statements, not pages. A node whose write fails where the others' succeed, or gives
//! another value, would hold other data from then on without anyone noticing. So a node ends when its
//! writer meets an error of the machine (a full disk, a read that fails, no memory, a file that somebody
//! else has locked or made read-only): when it starts again, hiqlite builds its database anew from a
//! snapshot and the log. SQLite's error log tells of a statement that fails, and not of a commit that does:
//! there a rollback follows the commit hook. Nor does it tell of a lock: `was_locked_out` sees that.
//!
//! What all nodes refuse alike must not end them: they would do it again with each start.
//!
//! `CURRENT_TIMESTAMP`, which hiqlite does not guard as it guards `random()` and `date()`, is an error in
//! a write.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use anyhow::{Context, Result, bail};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionState, ffi};

use crate::request;

/// The name of tokio's threads. hiqlite's writer is the one thread of SQLite's that has no name.
pub const THREADS: &str = "cluster";

/// A variable of the environment with which a node runs on any SQLite: the lab compares ours with stock's.
pub const ANY: &str = "HPSQLITE_CLUSTER_ANY_LIBRARY";

/// The versions of SQLite, of ours and of this program, which all nodes must have alike; an error if the
/// library is another one.
pub fn version() -> Result<String> {
    let db = Connection::open_in_memory().context("SQLite does not open a database in memory")?;
    // The log has statements that another version of this program may not know.
    let with = concat!(", cluster ", env!("CARGO_PKG_VERSION"));
    let Ok(ours) = db.query_row("SELECT hp_version()", [], |row| row.get::<_, String>(0)) else {
        if std::env::var_os(ANY).is_some() {
            return Ok(format!("SQLite {}{with}", rusqlite::version()));
        }
        bail!(
            "this process runs on stock SQLite {}, not on High Performance SQLite: hpsqlite-cluster must \
             lie in bin/ beside lib/libsqlite3.so.0, and LD_LIBRARY_PATH must not name another one",
            rusqlite::version()
        );
    };
    Ok(format!(
        "SQLite {} with hpsqlite {ours}{with}",
        rusqlite::version()
    ))
}

/// Sets up what holds for each connection of the process. Call it before SQLite does anything.
pub fn guard() -> Result<()> {
    // SAFETY: no other thread exists yet, and `failed` calls nothing of SQLite's.
    unsafe { rusqlite::trace::config_log(Some(failed)) }
        .context("SQLite's error log cannot be set")?;
    // SAFETY: `extension` opens and closes no database and leaves the list of extensions alone.
    unsafe { rusqlite::auto_extension::register_auto_extension(extension) }
        .context("functions cannot be registered")
}

/// Is an error of this node's own, so that other nodes need not have it? All nodes have alike what a virtual table
/// says of its rows, as FTS5's integrity-check does, and that a table has no rowids left, which SQLite calls FULL.
fn is_own(code: c_int, disk_is_full: bool) -> bool {
    match code & 0xff {
        _ if matches!(code, ffi::SQLITE_CORRUPT_VTAB | ffi::SQLITE_LOCKED_VTAB) => false,
        ffi::SQLITE_FULL => disk_is_full,
        ffi::SQLITE_IOERR
        | ffi::SQLITE_NOMEM
        | ffi::SQLITE_CORRUPT
        | ffi::SQLITE_CANTOPEN
        | ffi::SQLITE_READONLY
        | ffi::SQLITE_PERM
        | ffi::SQLITE_PROTOCOL
        | ffi::SQLITE_LOCKED
        | ffi::SQLITE_BUSY
        | ffi::SQLITE_INTERRUPT => true,
        _ => false,
    }
}

/// What SQLite writes into its error log.
fn failed(code: c_int, message: &str) {
    // Of the thread's last call that failed; the process ends with the first that failed for this.
    let disk_is_full = rustix::io::Errno::NOSPC.raw_os_error();
    let disk_is_full = std::io::Error::last_os_error().raw_os_error() == Some(disk_is_full);
    if !is_own(code, disk_is_full) {
        return;
    }
    eprintln!("SQLite: {message} (error {code})");
    if std::thread::current().name().is_none() {
        end(match code & 0xff {
            ffi::SQLITE_FULL => "the disk is full",
            ffi::SQLITE_NOMEM => "there was no memory",
            ffi::SQLITE_READONLY | ffi::SQLITE_PERM => "its file may not be written",
            _ => "see above",
        });
    }
}

/// Ends the process before its writer can go on to the next entry.
fn end(cause: &str) -> ! {
    eprintln!(
        "error: a write failed on this node only: it ends, so that it does not differ from the others. \
         Mend the cause ({cause}) and start it again: its data is then built anew"
    );
    std::process::abort();
}

thread_local! {
    /// Has this thread begun a commit, and no statement since?
    static COMMITS: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn traced(
    what: c_uint,
    _: *mut c_void,
    statement: *mut c_void,
    _: *mut c_void,
) -> c_int {
    if what == ffi::SQLITE_TRACE_STMT as c_uint {
        COMMITS.set(false);
        return 0;
    }
    let statement = statement.cast::<ffi::sqlite3_stmt>();
    // SAFETY: SQLite hands the statement that has ended, and neither call changes it.
    let locked_out = unsafe { was_locked_out(statement) };
    if locked_out && std::thread::current().name().is_none() {
        end("another program has locked its file");
    }
    0
}

/// Has a statement ended for a lock? The error log does not tell of SQLITE_BUSY. A statement without rows that
/// has ended and still runs is one that SQLite would try again.
unsafe fn was_locked_out(statement: *mut ffi::sqlite3_stmt) -> bool {
    // SAFETY: as the caller says
    unsafe { ffi::sqlite3_column_count(statement) == 0 && ffi::sqlite3_stmt_busy(statement) != 0 }
}

unsafe extern "C" fn commit_begins(_: *mut c_void) -> c_int {
    COMMITS.set(true);
    0
}

/// SQLite rolls back what it could not commit, or what has been refused: the latter before a commit.
unsafe extern "C" fn rolled_back(_: *mut c_void) {
    if COMMITS.get() && std::thread::current().name().is_none() {
        end("the disk is full, or it cannot be written");
    }
}

unsafe extern "C" fn extension(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the functions do nothing with the connection, and live as long as the process.
    unsafe {
        ffi::sqlite3_trace_v2(
            db,
            (ffi::SQLITE_TRACE_STMT | ffi::SQLITE_TRACE_PROFILE) as c_uint,
            Some(traced),
            null_mut(),
        );
        ffi::sqlite3_commit_hook(db, Some(commit_begins), null_mut());
        ffi::sqlite3_rollback_hook(db, Some(rolled_back), null_mut());
    }
    // SAFETY: SQLite's arguments are passed on, and `guard_clock` keeps to the rules of `guard`.
    unsafe {
        rusqlite::auto_extension::init_auto_extension(db, message, |db| {
            request::register(&db)?;
            guard_total_changes(&db)?;
            guard_clock(db)
        })
    }
}

/// `total_changes()`, which counts what this connection has done since it was opened
fn guard_total_changes(db: &Connection) -> rusqlite::Result<()> {
    db.create_scalar_function("total_changes", 0, FunctionFlags::SQLITE_UTF8, |context| {
        // SAFETY: the connection lives as long as the call, and is not kept.
        let db = unsafe { context.get_connection() }?;
        if db.transaction_state(Some("main"))? == TransactionState::Write {
            return Err(rusqlite::Error::UserFunctionError(
                "total_changes() in a write would give each node another value".into(),
            ));
        }
        Ok(i64::try_from(db.total_changes()).unwrap_or(i64::MAX))
    })
}

/// `CURRENT_TIMESTAMP` and its kin, also as the default of a column.
fn guard_clock(db: Connection) -> rusqlite::Result<()> {
    for (name, format) in [
        ("current_timestamp", "%Y-%m-%d %H:%M:%S"),
        ("current_date", "%Y-%m-%d"),
        ("current_time", "%H:%M:%S"),
    ] {
        db.create_scalar_function(name, 0, FunctionFlags::SQLITE_UTF8, move |context| {
            // SAFETY: the connection lives as long as the call, and is not kept.
            let db = unsafe { context.get_connection() }?;
            if db.transaction_state(Some("main"))? == TransactionState::Write {
                return Err(rusqlite::Error::UserFunctionError(
                    format!(
                        "{} in a write would give each node another value: pass the time as a parameter",
                        name.to_uppercase()
                    )
                    .into(),
                ));
            }
            db.query_row("SELECT strftime(?1, 'now')", [format], |row| row.get::<_, String>(0))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_is_this_nodes_own() {
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_READONLY_DBMOVED,
            ffi::SQLITE_PERM,
            ffi::SQLITE_PROTOCOL,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_INTERRUPT,
        ] {
            assert!(is_own(code, true), "{code}");
        }
        assert!(!is_own(ffi::SQLITE_FULL, false));
        for code in [
            ffi::SQLITE_CONSTRAINT_UNIQUE,
            ffi::SQLITE_ERROR,
            ffi::SQLITE_TOOBIG,
            ffi::SQLITE_CORRUPT_VTAB,
            ffi::SQLITE_LOCKED_VTAB,
        ] {
            assert!(!is_own(code, true), "{code}");
        }
    }

    static LOCKED_OUT: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn counts(
        _: c_uint,
        _: *mut c_void,
        statement: *mut c_void,
        _: *mut c_void,
    ) -> c_int {
        // SAFETY: as in `traced`
        LOCKED_OUT.fetch_add(
            unsafe { was_locked_out(statement.cast()) }.into(),
            Ordering::SeqCst,
        );
        0
    }

    #[test]
    fn a_statement_that_is_locked_out_is_seen() {
        let file = std::env::temp_dir().join(format!("hpsqlite-locked-{}", std::process::id()));
        let (one, two) = (
            Connection::open(&file).unwrap(),
            Connection::open(&file).unwrap(),
        );
        one.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t(a UNIQUE)")
            .unwrap();
        two.busy_timeout(std::time::Duration::ZERO).unwrap();
        // SAFETY: `counts` keeps to what SQLite asks for, and lives as long as the process.
        unsafe {
            let profile = ffi::SQLITE_TRACE_PROFILE as c_uint;
            ffi::sqlite3_trace_v2(two.handle(), profile, Some(counts), null_mut());
        }
        let write = |sql| two.execute_batch(sql).is_ok();
        assert!(write("BEGIN; INSERT INTO t VALUES(1); COMMIT"));
        assert!(!write("INSERT INTO t VALUES(1)"));
        // Rows that nobody reads to the end
        two.query_row("SELECT 1 UNION ALL SELECT 2", [], |_| Ok(()))
            .unwrap();
        assert_eq!(LOCKED_OUT.load(Ordering::SeqCst), 0);
        one.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(!write("BEGIN; INSERT INTO t VALUES(2)"));
        assert_eq!(LOCKED_OUT.load(Ordering::SeqCst), 1);
        drop((one, two));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn total_changes_fails_in_a_write() {
        let db = Connection::open_in_memory().unwrap();
        guard_total_changes(&db).unwrap();
        db.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(1),(2)")
            .unwrap();
        let total = |db: &Connection| db.query_row("SELECT total_changes()", [], |row| row.get(0));
        assert_eq!(total(&db), Ok(2_i64));
        let error = db
            .execute_batch("BEGIN; DELETE FROM t; INSERT INTO t SELECT total_changes()")
            .unwrap_err();
        assert!(error.to_string().contains("in a write"), "{error}");
    }
}
