//! A small binding to a SQLite library that is chosen at run time.
//!
//! The tool links no SQLite of its own: each worker process loads exactly one
//! library with `dlopen` and reaches it through the function pointers below.
//! Only what the tool needs is bound, and only functions that every SQLite of
//! the last ten years exports are required; newer ones are optional.

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow};

use crate::interrupt;

pub const OK: c_int = 0;
const ERROR: c_int = 1;
const BUSY: c_int = 5;
const CONSTRAINT: c_int = 19;
const ROW: c_int = 100;
const DONE: c_int = 101;

pub const OPEN_READONLY: c_int = 0x1;
pub const OPEN_READWRITE: c_int = 0x2;
pub const OPEN_CREATE: c_int = 0x4;
/// Without a mutex of the connection, which one thread then uses at a time.
pub const OPEN_NOMUTEX: c_int = 0x8000;
/// Of `sqlite3_file_control()`: how many bytes at the end of each page are left to extensions.
const RESERVE_BYTES: c_int = 38;

/// Declares the table of function pointers and the code that fills it.
macro_rules! api {
    (required { $($req:ident($($rarg:ty),*) -> $rret:ty;)* }
     optional { $($opt:ident($($oarg:ty),*) -> $oret:ty;)* }
     variadic { $($var:ident: $vtype:ty;)* }) => {
        struct SqliteApi {
            $($req: unsafe extern "C" fn($($rarg),*) -> $rret,)*
            $($opt: Option<unsafe extern "C" fn($($oarg),*) -> $oret>,)*
            $($var: $vtype,)*
        }

        impl SqliteApi {
            /// # Safety
            /// `lib` must be a SQLite library: the symbols are trusted to have the declared types.
            unsafe fn resolve(lib: &libloading::Library) -> Result<SqliteApi, libloading::Error> {
                // SAFETY: the caller vouches for the library; the names and types are SQLite's public interface.
                unsafe {
                    Ok(SqliteApi {
                        $($req: *lib.get(concat!("sqlite3_", stringify!($req), "\0"))?,)*
                        $($opt: lib.get(concat!("sqlite3_", stringify!($opt), "\0")).ok().map(|s| *s),)*
                        $($var: *lib.get(concat!("sqlite3_", stringify!($var), "\0"))?,)*
                    })
                }
            }
        }
    };
}

type RawDb = *mut c_void;
type RawStmt = *mut c_void;
type RawBackup = *mut c_void;
type RawBlob = *mut c_void;
type Progress = extern "C" fn(*mut c_void) -> c_int;
type Text = *const c_char;
type Authorize = extern "C" fn(*mut c_void, c_int, Text, Text, Text, Text) -> c_int;

api! {
    required {
        libversion() -> *const c_char;
        sourceid() -> *const c_char;
        complete(*const c_char) -> c_int;
        open_v2(*const c_char, *mut RawDb, c_int, *const c_char) -> c_int;
        close(RawDb) -> c_int;
        errmsg(RawDb) -> *const c_char;
        errstr(c_int) -> *const c_char;
        extended_errcode(RawDb) -> c_int;
        busy_timeout(RawDb, c_int) -> c_int;
        interrupt(RawDb) -> ();
        changes(RawDb) -> c_int;
        get_autocommit(RawDb) -> c_int;
        prepare_v2(RawDb, *const c_char, c_int, *mut RawStmt, *mut *const c_char) -> c_int;
        step(RawStmt) -> c_int;
        reset(RawStmt) -> c_int;
        finalize(RawStmt) -> c_int;
        stmt_readonly(RawStmt) -> c_int;
        bind_parameter_count(RawStmt) -> c_int;
        bind_parameter_name(RawStmt, c_int) -> *const c_char;
        bind_int64(RawStmt, c_int, i64) -> c_int;
        bind_null(RawStmt, c_int) -> c_int;
        bind_double(RawStmt, c_int, c_double) -> c_int;
        bind_text(RawStmt, c_int, *const c_char, c_int, *const c_void) -> c_int;
        bind_blob(RawStmt, c_int, *const c_void, c_int, *const c_void) -> c_int;
        bind_value(RawStmt, c_int, *const c_void) -> c_int;
        column_value(RawStmt, c_int) -> *const c_void;
        column_count(RawStmt) -> c_int;
        column_name(RawStmt, c_int) -> *const c_char;
        column_type(RawStmt, c_int) -> c_int;
        column_int64(RawStmt, c_int) -> i64;
        column_double(RawStmt, c_int) -> c_double;
        column_text(RawStmt, c_int) -> *const c_char;
        column_blob(RawStmt, c_int) -> *const c_void;
        column_bytes(RawStmt, c_int) -> c_int;
        backup_init(RawDb, *const c_char, RawDb, *const c_char) -> RawBackup;
        backup_step(RawBackup, c_int) -> c_int;
        backup_finish(RawBackup) -> c_int;
        backup_remaining(RawBackup) -> c_int;
        backup_pagecount(RawBackup) -> c_int;
        status64(c_int, *mut i64, *mut i64, c_int) -> c_int;
        db_status(RawDb, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
        limit(RawDb, c_int, c_int) -> c_int;
        set_authorizer(RawDb, Option<Authorize>, *mut c_void) -> c_int;
        vfs_find(*const c_char) -> *mut c_void;
        file_control(RawDb, *const c_char, c_int, *mut c_void) -> c_int;
    }
    optional {
        progress_handler(RawDb, c_int, Option<Progress>, *mut c_void) -> ();
        blob_open(RawDb, *const c_char, *const c_char, *const c_char, i64, c_int, *mut RawBlob) -> c_int;
        blob_reopen(RawBlob, i64) -> c_int;
        blob_bytes(RawBlob) -> c_int;
        blob_read(RawBlob, *mut c_void, c_int, c_int) -> c_int;
        blob_write(RawBlob, *const c_void, c_int, c_int) -> c_int;
        blob_close(RawBlob) -> c_int;
        error_offset(RawDb) -> c_int;
        column_decltype(RawStmt, c_int) -> *const c_char;
        hard_heap_limit64(i64) -> i64;
    }
    variadic {
        config: unsafe extern "C" fn(c_int, ...) -> c_int;
        db_config: unsafe extern "C" fn(RawDb, c_int, ...) -> c_int;
    }
}

type RawLoad = *mut c_void;

/// What our library has to fill a table from several threads: `hp_load_new()` and the like, of
/// hpsqlite.h.
#[derive(Clone, Copy)]
struct LoadApi {
    new: unsafe extern "C" fn(RawStmt) -> RawLoad,
    row: unsafe extern "C" fn(RawLoad, *const LoadValue, *mut u8, i64) -> i64,
    rows: unsafe extern "C" fn(RawLoad, *const u8, i64, *mut i64) -> c_int,
    free: unsafe extern "C" fn(RawLoad) -> (),
}

impl LoadApi {
    /// None where the library is not ours.
    ///
    /// # Safety
    /// As for [`SqliteApi::resolve`].
    unsafe fn resolve(lib: &libloading::Library) -> Option<LoadApi> {
        // SAFETY: these names are of our library alone, and so are their types.
        unsafe {
            Some(LoadApi {
                new: *lib.get(b"hp_load_new\0").ok()?,
                row: *lib.get(b"hp_load_row\0").ok()?,
                rows: *lib.get(b"hp_load_rows\0").ok()?,
                free: *lib.get(b"hp_load_free\0").ok()?,
            })
        }
    }
}

/// Whether a statement that is being prepared may do something: SQLite's number of the action, and
/// its first two details, empty where there are none.
pub type Allow = fn(action: i32, first: &str, second: &str) -> bool;

/// Messages of the error log, with their codes.
static LOG: Mutex<Vec<(c_int, String)>> = Mutex::new(Vec::new());

/// Takes the messages that have come since the last call.
pub fn logged() -> Vec<(c_int, String)> {
    LOG.lock()
        .map(|mut log| std::mem::take(&mut *log))
        .unwrap_or_default()
}

/// A loaded SQLite library.
pub struct Library {
    api: SqliteApi,
    load: Option<LoadApi>,
    // Never unloaded while `api` can still be called.
    _handle: libloading::Library,
    path: PathBuf,
}

impl Library {
    /// Loads the library at `path`, visible to nobody but us.
    pub fn load(path: &Path) -> Result<Library> {
        use libloading::os::unix::{Library as Unix, RTLD_LOCAL, RTLD_NOW};
        if !path.exists() {
            return Err(anyhow!("no such library: {}", path.display()));
        }
        // A path without a slash would be searched in the system's folders.
        let full = path
            .canonicalize()
            .with_context(|| format!("cannot read {}", path.display()))?;
        // SAFETY: loading runs the library's initialisers; SQLite's have none, and the user chose this file.
        let handle: libloading::Library = unsafe { Unix::open(Some(&full), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|e| anyhow!("cannot load {}: {e}", path.display()))?
            .into();
        // SAFETY: a library that exports SQLite's names is taken to be SQLite.
        let api = unsafe { SqliteApi::resolve(&handle) }
            .map_err(|_| anyhow!("{} is no SQLite library", path.display()))?;
        // SAFETY: as above.
        let load = unsafe { LoadApi::resolve(&handle) };
        Ok(Library {
            api,
            load,
            _handle: handle,
            path: full,
        })
    }

    /// Where the library was loaded from, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `sqlite3_libversion()`.
    pub fn version(&self) -> String {
        // SAFETY: returns a constant string.
        unsafe { string((self.api.libversion)()) }
    }

    /// `sqlite3_sourceid()`.
    pub fn source_id(&self) -> String {
        // SAFETY: returns a constant string.
        unsafe { string((self.api.sourceid)()) }
    }

    /// Whether `sql` ends at the end of a statement (`sqlite3_complete()`).
    pub fn complete(&self, sql: &CStr) -> bool {
        // SAFETY: `sql` ends with a NUL.
        unsafe { (self.api.complete)(sql.as_ptr()) != 0 }
    }

    /// `sqlite3_status64()` of the whole process: what `what` counts now, and at most so far.
    pub fn status(&self, what: c_int) -> (i64, i64) {
        let (mut now, mut most) = (0, 0);
        // SAFETY: both places are valid; an unknown counter leaves them as they are.
        unsafe { (self.api.status64)(what, &mut now, &mut most, 0) };
        (now, most)
    }

    /// SQLite's default VFS: a `sqlite3_vfs`, which is there as long as the library.
    pub fn default_vfs(&self) -> *mut c_void {
        // SAFETY: null asks for the default one.
        unsafe { (self.api.vfs_find)(ptr::null()) }
    }

    /// Keeps the messages of SQLite's error log for [`logged`]. To be called before a database is opened.
    pub fn keep_log(&self) {
        const CONFIG_LOG: c_int = 16;
        extern "C" fn keep(_: *mut c_void, code: c_int, text: *const c_char) {
            // SAFETY: SQLite's text ends with a NUL.
            let text = unsafe { string(text) };
            if let Ok(mut log) = LOG.lock() {
                log.push((code, text));
            }
        }
        let keep: extern "C" fn(*mut c_void, c_int, *const c_char) = keep;
        // SAFETY: this option takes a function and what is given to it. A library that is in use already
        // refuses, and then there are no messages.
        unsafe { (self.api.config)(CONFIG_LOG, keep, ptr::null_mut::<c_void>()) };
    }

    /// The most memory that the library may have in this process.
    pub fn limit_memory(&self, bytes: i64) {
        if let Some(limit) = self.api.hard_heap_limit64 {
            // SAFETY: may be called at any time.
            unsafe { limit(bytes) };
        }
    }

    /// Opens a database file for reading only, without locks and without any file beside it: nobody
    /// may write to it meanwhile.
    pub fn open_immutable(&self, path: &Path) -> Result<Db<'_>, SqlError> {
        use std::fmt::Write as _;
        use std::os::unix::ffi::OsStrExt;
        const OPEN_URI: c_int = 0x40;
        let mut uri = "file:".to_owned();
        for &b in path.as_os_str().as_bytes() {
            let _ = match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    write!(uri, "{}", b as char)
                }
                _ => write!(uri, "%{b:02x}"),
            };
        }
        uri.push_str("?immutable=1");
        let name = CString::new(uri).map_err(|_| SqlError::text("a path with a NUL byte"))?;
        self.open_named(&name, OPEN_READONLY | OPEN_URI)
    }

    /// Opens a new database in memory.
    pub fn open_in_memory(&self) -> Result<Db<'_>, SqlError> {
        self.open_named(c":memory:", OPEN_READWRITE | OPEN_CREATE)
    }

    /// Opens a database file with the given `OPEN_*` flags.
    pub fn open(&self, path: &Path, flags: c_int) -> Result<Db<'_>, SqlError> {
        use std::os::unix::ffi::OsStrExt;
        // A path starting with "file:" would be read as a URI where the library was built so.
        let mut bytes = path.as_os_str().as_bytes().to_vec();
        if bytes.starts_with(b"file:") || bytes == b":memory:" || bytes.is_empty() {
            bytes.splice(0..0, *b"./");
        }
        let name = CString::new(bytes).map_err(|_| SqlError::text("a path with a NUL byte"))?;
        self.open_named(&name, flags)
    }

    /// Opens a database in memory.
    pub fn open_memory(&self) -> Result<Db<'_>, SqlError> {
        self.open_named(c":memory:", OPEN_READWRITE | OPEN_CREATE)
    }

    fn open_named(&self, name: &CStr, flags: c_int) -> Result<Db<'_>, SqlError> {
        let mut raw: RawDb = ptr::null_mut();
        // SAFETY: `name` ends with a NUL and `raw` is a valid place for the handle.
        let rc = unsafe { (self.api.open_v2)(name.as_ptr(), &mut raw, flags, ptr::null()) };
        let db = Db { lib: self, raw };
        if rc != OK {
            return Err(db.error(rc, None));
        }
        Ok(db)
    }
}

/// An error that SQLite reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// The extended result code.
    pub code: i32,
    pub message: String,
    /// Byte offset into the SQL where the error is, if SQLite says.
    pub offset: Option<usize>,
}

impl SqlError {
    fn text(message: &str) -> SqlError {
        SqlError {
            code: 1,
            message: message.to_owned(),
            offset: None,
        }
    }

    /// Whether another connection has a lock.
    pub fn is_busy(&self) -> bool {
        self.code & 0xff == BUSY
    }

    /// Whether a constraint forbids it.
    pub fn is_constraint(&self) -> bool {
        self.code & 0xff == CONSTRAINT
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SqlError {}

/// An open database connection; closed when dropped.
pub struct Db<'l> {
    lib: &'l Library,
    raw: RawDb,
}

impl Drop for Db<'_> {
    fn drop(&mut self) {
        // SAFETY: statements borrow the connection, so all are finalized by now.
        unsafe { (self.lib.api.close)(self.raw) };
    }
}

/// Stops the statement that runs on a connection, from any thread.
pub struct Interrupter<'d>(&'d Db<'d>);

// SAFETY: all that can be done with it is sqlite3_interrupt(), which any thread may call as long as
// the connection is open, and it is borrowed here.
unsafe impl Send for Interrupter<'_> {}

impl Interrupter<'_> {
    pub fn interrupt(&self) {
        // SAFETY: as above.
        unsafe { (self.0.lib.api.interrupt)(self.0.raw) };
    }
}

impl<'l> Db<'l> {
    fn error(&self, rc: c_int, offset: Option<usize>) -> SqlError {
        let api = &self.lib.api;
        // SAFETY: errmsg and errstr return strings that live until the next call.
        unsafe {
            if self.raw.is_null() {
                return SqlError {
                    code: rc,
                    message: string((api.errstr)(rc)),
                    offset,
                };
            }
            SqlError {
                code: (api.extended_errcode)(self.raw),
                message: string((api.errmsg)(self.raw)),
                offset,
            }
        }
    }

    #[inline]
    fn check(&self, rc: c_int) -> Result<(), SqlError> {
        if rc == OK {
            Ok(())
        } else {
            Err(self.error(rc, None))
        }
    }

    /// How long to wait for a lock that another connection holds.
    pub fn busy_timeout(&self, ms: i32) {
        // SAFETY: the connection is open.
        unsafe { (self.lib.api.busy_timeout)(self.raw, ms) };
    }

    /// Switches one of SQLite's `SQLITE_DBCONFIG_*` on or off; one that the library does not know
    /// changes nothing.
    pub fn switch(&self, what: c_int, on: bool) {
        let none: *mut c_int = ptr::null_mut();
        // SAFETY: the connection is open; all switches take an int and a place for the answer, which
        // may be null.
        unsafe { (self.lib.api.db_config)(self.raw, what, c_int::from(on), none) };
    }

    /// Sets one of SQLite's `SQLITE_LIMIT_*`.
    pub fn limit(&self, what: c_int, most: c_int) {
        // SAFETY: the connection is open.
        unsafe { (self.lib.api.limit)(self.raw, what, most) };
    }

    /// From now on statements can be prepared only if `allow` says so of all that they would do.
    pub fn allow_only(&self, allow: Allow) {
        extern "C" fn ask(
            allow: *mut c_void,
            action: c_int,
            first: Text,
            second: Text,
            _: Text,
            _: Text,
        ) -> c_int {
            const DENY: c_int = 1;
            // SAFETY: it was made of an `Allow` below; a function's address fits into a pointer.
            let allow = unsafe { std::mem::transmute::<*mut c_void, Allow>(allow) };
            // SAFETY: SQLite gives null or a string.
            let (first, second) = unsafe { (string(first), string(second)) };
            if allow(action, &first, &second) {
                OK
            } else {
                DENY
            }
        }
        // SAFETY: the connection is open; the callback does not touch it.
        unsafe { (self.lib.api.set_authorizer)(self.raw, Some(ask), allow as *mut c_void) };
    }

    /// Something that another thread can stop a running statement with.
    pub fn interrupter(&self) -> Interrupter<'_> {
        Interrupter(self)
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    pub fn changes(&self) -> i64 {
        // SAFETY: the connection is open.
        unsafe { (self.lib.api.changes)(self.raw) }.into()
    }

    /// Whether a transaction that BEGIN began is open still: some errors roll it back.
    pub fn in_transaction(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { (self.lib.api.get_autocommit)(self.raw) == 0 }
    }

    /// Makes Ctrl-C end a statement that runs on this connection.
    pub fn stop_on_interrupt(&self) {
        const INSTRUCTIONS: c_int = 10_000;
        extern "C" fn stop(_: *mut c_void) -> c_int {
            interrupt::raised().into()
        }
        if let Some(set) = self.lib.api.progress_handler {
            // SAFETY: the connection is open; the callback uses no data.
            unsafe { set(self.raw, INSTRUCTIONS, Some(stop), ptr::null_mut()) };
        }
    }

    /// Leaves `bytes` at the end of each page to extensions, in a database that is still empty.
    pub fn reserve_bytes(&self, bytes: u8) -> Result<(), SqlError> {
        let mut bytes = c_int::from(bytes);
        let place = ptr::from_mut(&mut bytes).cast();
        // SAFETY: the connection is open; this control reads and writes one integer.
        let rc = unsafe {
            (self.lib.api.file_control)(self.raw, c"main".as_ptr(), RESERVE_BYTES, place)
        };
        self.check(rc)
    }

    /// `sqlite3_db_status()`: what `what` counts on this connection.
    pub fn status(&self, what: c_int) -> i64 {
        let (mut now, mut most) = (0, 0);
        // SAFETY: the connection is open; an unknown counter leaves the places as they are.
        unsafe { (self.lib.api.db_status)(self.raw, what, &mut now, &mut most, 0) };
        now.into()
    }

    /// Opens the value in column `column` of row `row` of table `table` by the blob API; `None`
    /// where there is no such row, or what is there is neither text nor blob.
    pub fn blob(
        &self,
        table: &CStr,
        column: &CStr,
        row: i64,
        write: bool,
    ) -> Result<Option<Blob<'_>>, SqlError> {
        let Some(open) = self.lib.api.blob_open else {
            return Err(SqlError::text("this library has no blob API"));
        };
        let mut raw: RawBlob = ptr::null_mut();
        // SAFETY: the names end with a NUL, and `raw` is a valid place for the handle.
        let rc = unsafe {
            open(
                self.raw,
                c"main".as_ptr(),
                table.as_ptr(),
                column.as_ptr(),
                row,
                write.into(),
                &mut raw,
            )
        };
        match rc {
            OK => Ok(Some(Blob { db: self, raw })),
            ERROR => Ok(None),
            _ => Err(self.error(rc, None)),
        }
    }

    /// Prepares the one statement in `sql`; `None` where there is only white space or comment.
    pub fn prepare<'d>(&'d self, sql: &str) -> Result<Option<Stmt<'d>>, SqlError> {
        Ok(self.prepare_first(sql)?.0)
    }

    /// Prepares the first statement in `sql`; gives what comes after it as well.
    pub fn prepare_first<'d, 's>(
        &'d self,
        sql: &'s str,
    ) -> Result<(Option<Stmt<'d>>, &'s str), SqlError> {
        let api = &self.lib.api;
        let mut tail = ptr::null();
        let len = c_int::try_from(sql.len()).map_err(|_| SqlError::text("statement too long"))?;
        let mut raw: RawStmt = ptr::null_mut();
        // SAFETY: `sql` is `len` bytes long; SQLite copies what it keeps.
        let rc =
            unsafe { (api.prepare_v2)(self.raw, sql.as_ptr().cast(), len, &mut raw, &mut tail) };
        if rc != OK {
            let offset = api
                .error_offset
                // SAFETY: the connection is open.
                .map(|f| unsafe { f(self.raw) })
                .and_then(|o| usize::try_from(o).ok());
            return Err(self.error(rc, offset));
        }
        let used = (tail as usize).saturating_sub(sql.as_ptr() as usize);
        let statement = (!raw.is_null()).then_some(Stmt { db: self, raw });
        Ok((statement, sql.get(used..).unwrap_or_default()))
    }

    /// Runs statements for their effect, one after the other, ignoring their rows.
    pub fn exec(&self, sql: &str) -> Result<(), SqlError> {
        let mut rest = sql;
        while !rest.is_empty() {
            let (statement, tail) = self.prepare_first(rest)?;
            if let Some(mut statement) = statement {
                while statement.step()? {}
            }
            rest = tail;
        }
        Ok(())
    }

    /// The first column of all rows, as text.
    pub fn column(&self, sql: &str) -> Result<Vec<String>, SqlError> {
        let mut rows = Vec::new();
        if let Some(mut statement) = self.prepare(sql)? {
            while statement.step()? {
                rows.push(statement.text(0));
            }
        }
        Ok(rows)
    }

    /// The first value of the first row, as text.
    pub fn first(&self, sql: &str) -> Result<Option<String>, SqlError> {
        Ok(self.column(sql)?.into_iter().next())
    }

    /// Copies the whole of this database, write-ahead log included, into `to`;
    /// `progress` gets (pages done, pages in all) and stops the copy by returning false.
    pub fn backup_to(
        &self,
        to: &Db<'_>,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<(), SqlError> {
        const PAGES_A_STEP: c_int = 4096;
        let api = &self.lib.api;
        let main = c"main".as_ptr();
        // SAFETY: both connections are open and of the same library.
        let backup = unsafe { (api.backup_init)(to.raw, main, self.raw, main) };
        if backup.is_null() {
            return Err(to.error(1, None));
        }
        loop {
            // SAFETY: `backup` is live until backup_finish.
            let (rc, left, all) = unsafe {
                (
                    (api.backup_step)(backup, PAGES_A_STEP),
                    (api.backup_remaining)(backup) as u64,
                    (api.backup_pagecount)(backup) as u64,
                )
            };
            if rc != OK || !progress(all.saturating_sub(left), all) {
                // SAFETY: finishes what backup_init began; not used afterwards.
                let done = unsafe { (api.backup_finish)(backup) };
                return match rc {
                    DONE | OK => Ok(()),
                    _ => Err(to.error(done, None)),
                };
            }
        }
    }
}

/// A value of a result row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// A prepared statement; finalized when dropped.
pub struct Stmt<'d> {
    db: &'d Db<'d>,
    raw: RawStmt,
}

impl Drop for Stmt<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from prepare_v2 and is finalized once.
        unsafe { (self.db.lib.api.finalize)(self.raw) };
    }
}

impl Stmt<'_> {
    /// Goes to the next row; false at the end.
    pub fn step(&mut self) -> Result<bool, SqlError> {
        // SAFETY: the statement is live.
        match unsafe { (self.db.lib.api.step)(self.raw) } {
            ROW => Ok(true),
            DONE => Ok(false),
            rc => Err(self.db.error(rc, None)),
        }
    }

    /// Makes the statement ready to run again.
    pub fn reset(&mut self) {
        // SAFETY: the statement is live. The code repeats the error of the last step.
        unsafe { (self.db.lib.api.reset)(self.raw) };
    }

    /// Whether running it leaves every database file as it is.
    pub fn readonly(&self) -> bool {
        // SAFETY: the statement is live.
        unsafe { (self.db.lib.api.stmt_readonly)(self.raw) != 0 }
    }

    /// Names of the parameters as written, in their order; empty for those that have none.
    pub fn parameters(&self) -> Vec<String> {
        let api = &self.db.lib.api;
        // SAFETY: the statement is live.
        let count = unsafe { (api.bind_parameter_count)(self.raw) };
        (1..=count)
            // SAFETY: as above; a parameter without a name gives null.
            .map(|i| unsafe { string((api.bind_parameter_name)(self.raw, i)) })
            .collect()
    }

    /// Binds an integer to parameter `i` (from 1).
    #[inline]
    pub fn bind_int(&mut self, i: i32, v: i64) -> Result<(), SqlError> {
        // SAFETY: the statement is live; a wrong index is an error code.
        let rc = unsafe { (self.db.lib.api.bind_int64)(self.raw, i, v) };
        self.check(rc)
    }

    /// Binds NULL to parameter `i` (from 1).
    #[inline]
    pub fn bind_null(&mut self, i: i32) -> Result<(), SqlError> {
        // SAFETY: as for bind_int.
        let rc = unsafe { (self.db.lib.api.bind_null)(self.raw, i) };
        self.check(rc)
    }

    /// Binds a real to parameter `i` (from 1).
    #[inline]
    pub fn bind_real(&mut self, i: i32, v: f64) -> Result<(), SqlError> {
        // SAFETY: as for bind_int.
        let rc = unsafe { (self.db.lib.api.bind_double)(self.raw, i, v) };
        self.check(rc)
    }

    /// Binds text to parameter `i` (from 1) without copying it.
    ///
    /// # Safety
    /// `v` must stay where it is until the parameter is bound again or the statement is dropped.
    pub unsafe fn bind_text_static(&mut self, i: i32, v: &str) -> Result<(), SqlError> {
        let len = c_int::try_from(v.len()).map_err(|_| SqlError::text("text too long"))?;
        // SAFETY: the caller keeps `v` alive; the null destructor is SQLITE_STATIC.
        let rc = unsafe {
            (self.db.lib.api.bind_text)(self.raw, i, v.as_ptr().cast(), len, ptr::null())
        };
        self.check(rc)
    }

    /// Binds bytes as UTF-8 text to parameter `i` (from 1) without copying them.
    ///
    /// # Safety
    /// As for [`Stmt::bind_blob_static`].
    #[inline]
    pub unsafe fn bind_utf8_static(&mut self, i: i32, v: &[u8]) -> Result<(), SqlError> {
        let len = c_int::try_from(v.len()).map_err(|_| SqlError::text("text too long"))?;
        // SAFETY: the caller keeps `v` alive; the null destructor is SQLITE_STATIC.
        let rc = unsafe {
            (self.db.lib.api.bind_text)(self.raw, i, v.as_ptr().cast(), len, ptr::null())
        };
        self.check(rc)
    }

    /// Binds a blob to parameter `i` (from 1) without copying it.
    ///
    /// # Safety
    /// As for [`Stmt::bind_text_static`], except that `v` may go once the statement is no longer
    /// stepped before the parameter is bound again.
    pub unsafe fn bind_blob_static(&mut self, i: i32, v: &[u8]) -> Result<(), SqlError> {
        let len = c_int::try_from(v.len()).map_err(|_| SqlError::text("blob too long"))?;
        // SAFETY: the caller keeps `v` alive; the null destructor is SQLITE_STATIC.
        let rc = unsafe {
            (self.db.lib.api.bind_blob)(self.raw, i, v.as_ptr().cast(), len, ptr::null())
        };
        self.check(rc)
    }

    /// Binds to parameter `i` (from 1) the value of column `column` (from 0) of the row that another
    /// statement stands on, just as it is stored: text keeps its encoding and all its bytes.
    pub fn bind_column(&mut self, i: i32, of: &Stmt<'_>, column: i32) -> Result<(), SqlError> {
        // SAFETY: both statements are live, the other stands on a row. bind_value takes such an
        // unprotected value and copies it; no other thread uses either connection.
        let rc = unsafe {
            let value = (of.db.lib.api.column_value)(of.raw, column);
            (self.db.lib.api.bind_value)(self.raw, i, value)
        };
        self.check(rc)
    }

    #[inline]
    fn check(&self, rc: c_int) -> Result<(), SqlError> {
        self.db.check(rc)
    }

    /// Number of result columns.
    pub fn columns(&self) -> i32 {
        // SAFETY: the statement is live.
        unsafe { (self.db.lib.api.column_count)(self.raw) }
    }

    /// Name of result column `i` (from 0).
    pub fn column_name(&self, i: i32) -> String {
        // SAFETY: the string lives until the next call on this column; it is copied.
        unsafe { string((self.db.lib.api.column_name)(self.raw, i)) }
    }

    /// Declared type of result column `i` (from 0), where it comes straight from a table.
    pub fn column_decltype(&self, i: i32) -> Option<String> {
        let f = self.db.lib.api.column_decltype?;
        // SAFETY: as for column_name; null where there is none.
        let p = unsafe { f(self.raw, i) };
        // SAFETY: as above.
        (!p.is_null()).then(|| unsafe { string(p) })
    }

    /// Value of column `i` (from 0) of the current row.
    pub fn value(&self, i: i32) -> Value<'_> {
        let api = &self.db.lib.api;
        // SAFETY: the statement stands on a row. Text and blob live until the next
        // step, reset or conversion; `step` and `reset` take `&mut self`.
        unsafe {
            match (api.column_type)(self.raw, i) {
                1 => Value::Integer((api.column_int64)(self.raw, i)),
                2 => Value::Real((api.column_double)(self.raw, i)),
                3 => {
                    let p = (api.column_text)(self.raw, i);
                    Value::Text(bytes(p.cast(), (api.column_bytes)(self.raw, i)))
                }
                4 => {
                    let p = (api.column_blob)(self.raw, i);
                    Value::Blob(bytes(p.cast(), (api.column_bytes)(self.raw, i)))
                }
                _ => Value::Null,
            }
        }
    }

    /// Column `i` (from 0) of the current row as SQLite itself makes text of it.
    pub fn as_text(&self, i: i32) -> &[u8] {
        let api = &self.db.lib.api;
        // SAFETY: as for `value`.
        unsafe {
            let p = (api.column_text)(self.raw, i);
            bytes(p.cast(), (api.column_bytes)(self.raw, i))
        }
    }

    /// The first column of the current row as text, for pragmas and the like.
    pub fn text(&self, i: i32) -> String {
        match self.value(i) {
            Value::Null => String::new(),
            Value::Integer(n) => n.to_string(),
            Value::Real(r) => r.to_string(),
            Value::Text(t) | Value::Blob(t) => String::from_utf8_lossy(t).into_owned(),
        }
    }
}

/// A value of a row that a [`RowMaker`] makes: `hp_load_value`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LoadValue {
    value: LoadUnion,
    length: u32,
    kind: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
union LoadUnion {
    integer: i64,
    real: f64,
    text: *const u8,
}

impl LoadValue {
    pub const NULL: LoadValue = LoadValue {
        value: LoadUnion { integer: 0 },
        length: 0,
        kind: 5,
    };

    #[inline]
    pub fn integer(integer: i64) -> LoadValue {
        LoadValue {
            value: LoadUnion { integer },
            length: 0,
            kind: 1,
        }
    }

    #[inline]
    pub fn real(real: f64) -> LoadValue {
        LoadValue {
            value: LoadUnion { real },
            length: 0,
            kind: 2,
        }
    }

    /// A text of UTF-8, which the value does not keep where it is.
    #[inline]
    pub fn text(text: &[u8]) -> LoadValue {
        LoadValue {
            value: LoadUnion {
                text: text.as_ptr(),
            },
            length: text.len() as u32,
            kind: 3,
        }
    }
}

/// Makes rows in any thread, which the connection then only appends (`hp_load_new()`).
pub struct RowMaker {
    api: LoadApi,
    raw: RawLoad,
    /// The statement whose rows they are.
    insert: RawStmt,
    parameters: usize,
}

// SAFETY: hp_load_row() reads what hp_load_new() has found and writes to the caller's memory alone;
// hp_load_free() may be called in any thread. hp_load_rows() needs the statement, which stays in its
// thread.
unsafe impl Send for RowMaker {}
// SAFETY: as above.
unsafe impl Sync for RowMaker {}

impl Drop for RowMaker {
    fn drop(&mut self) {
        // SAFETY: `raw` came from hp_load_new and is freed once.
        unsafe { (self.api.free)(self.raw) };
    }
}

impl RowMaker {
    /// Appends the row of these values, one for each parameter, to `rows`, if it needs no more bytes
    /// than `room`; false if the statement has to insert it.
    ///
    /// # Safety
    /// The texts of the values are where they were.
    #[inline]
    pub unsafe fn row(&self, values: &[LoadValue], rows: &mut Vec<u8>, room: usize) -> bool {
        assert_eq!(values.len(), self.parameters);
        rows.reserve(room);
        let length = rows.len();
        // SAFETY: there is room for so many bytes behind the last one, and as many values as
        // parameters. The caller vouches for their texts.
        let made = unsafe {
            let to = rows.as_mut_ptr().add(length);
            let made = (self.api.row)(self.raw, values.as_ptr(), to, room as i64);
            rows.set_len(length + made as usize);
            made
        };
        made > 0
    }
}

impl Stmt<'_> {
    /// What makes rows for this INSERT; none if it does more than to insert a row.
    pub fn row_maker(&self) -> Option<RowMaker> {
        let api = self.db.lib.load?;
        // SAFETY: the statement is live.
        let (raw, parameters) = unsafe {
            (
                (api.new)(self.raw),
                (self.db.lib.api.bind_parameter_count)(self.raw),
            )
        };
        (!raw.is_null()).then_some(RowMaker {
            api,
            raw,
            insert: self.raw,
            parameters: parameters as usize,
        })
    }

    /// Appends rows that the maker has made, one behind the other. Gives how many it has appended: if
    /// they are less than all, and there is no error, the statement has to insert the next one.
    pub fn append(&mut self, maker: &RowMaker, rows: &[u8]) -> (usize, Result<(), SqlError>) {
        assert!(maker.insert == self.raw);
        let mut done = 0;
        // SAFETY: the maker is of this statement, which is live; the rows are of the maker.
        let rc =
            unsafe { (maker.api.rows)(maker.raw, rows.as_ptr(), rows.len() as i64, &mut done) };
        (done as usize, self.check(rc))
    }
}

/// A handle of the blob API; closed when dropped.
pub struct Blob<'d> {
    db: &'d Db<'d>,
    raw: RawBlob,
}

/// Why the functions of an open handle are there: the one that opened it was.
const HAS_BLOBS: &str = "a library with sqlite3_blob_open() has all of the blob API";

impl Drop for Blob<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from blob_open and is closed once.
        unsafe { self.db.lib.api.blob_close.expect(HAS_BLOBS)(self.raw) };
    }
}

impl Blob<'_> {
    /// Goes to another row; false where there is none, after which the handle is of no use.
    pub fn reopen(&mut self, row: i64) -> Result<bool, SqlError> {
        // SAFETY: the handle is open.
        match unsafe { self.db.lib.api.blob_reopen.expect(HAS_BLOBS)(self.raw, row) } {
            OK => Ok(true),
            ERROR => Ok(false),
            rc => Err(self.db.error(rc, None)),
        }
    }

    /// Size of the value.
    pub fn size(&self) -> usize {
        // SAFETY: the handle is open.
        let len = unsafe { self.db.lib.api.blob_bytes.expect(HAS_BLOBS)(self.raw) };
        usize::try_from(len).unwrap_or(0)
    }

    /// Reads the first bytes of the value, as many as there is room for.
    pub fn read(&self, to: &mut [u8]) -> Result<(), SqlError> {
        let len = c_int::try_from(to.len()).map_err(|_| SqlError::text("value too large"))?;
        let read = self.db.lib.api.blob_read.expect(HAS_BLOBS);
        // SAFETY: the handle is open and `to` has `len` bytes.
        self.db
            .check(unsafe { read(self.raw, to.as_mut_ptr().cast(), len, 0) })
    }

    /// Overwrites the first bytes of the value.
    pub fn write(&mut self, from: &[u8]) -> Result<(), SqlError> {
        let len = c_int::try_from(from.len()).map_err(|_| SqlError::text("value too large"))?;
        let write = self.db.lib.api.blob_write.expect(HAS_BLOBS);
        // SAFETY: the handle is open and `from` has `len` bytes.
        self.db
            .check(unsafe { write(self.raw, from.as_ptr().cast(), len, 0) })
    }
}

/// # Safety
/// `p` must be null or a NUL-terminated string.
unsafe fn string(p: *const c_char) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}

/// # Safety
/// `p` must be null or point to `n` bytes that live as long as `'a`.
unsafe fn bytes<'a>(p: *const u8, n: c_int) -> &'a [u8] {
    if p.is_null() {
        return &[];
    }
    // SAFETY: by the caller's promise; SQLite never gives a negative length.
    unsafe { std::slice::from_raw_parts(p, n as usize) }
}
