//! One SQLite library, loaded beside another that exports the same names, and
//! a safe face on the few calls the tester makes.

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};

use crate::value::Value;

type Db = *mut c_void;
type Stmt = *mut c_void;
type Ctx = *mut c_void;
type Val = *mut c_void;
type Func = unsafe extern "C" fn(Ctx, c_int, *mut Val);
type Collate =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_void, c_int, *const c_void) -> c_int;
type Destroy = *const c_void;

pub const ROW: c_int = 100;
pub const DONE: c_int = 101;
const UTF8: c_int = 1;
const DETERMINISTIC: c_int = 0x800;
const OPEN_READWRITE_CREATE_URI: c_int = 0x46;
const FCNTL_RESERVE_BYTES: c_int = 38;
const LIMIT_LENGTH: c_int = 0;
const CONFIG_LOOKASIDE: c_int = 13;
const TESTCTRL_PRNG_SEED: c_int = 28;

macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions used, as found in one library.
        struct Api {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            config: Variadic,
            test_control: Variadic,
        }

        impl Api {
            fn load(handle: &Handle) -> Result<Api> {
                Ok(Api {
                    $($name: function(handle, concat!("sqlite3_", stringify!($name)))?,)*
                    config: function(handle, "sqlite3_config")?,
                    test_control: function(handle, "sqlite3_test_control")?,
                })
            }
        }
    };
}

type Variadic = unsafe extern "C" fn(c_int, ...) -> c_int;

/// The function called `name`, of type T, which must be as sqlite3.h has it.
fn function<T: Copy>(handle: &Handle, name: &str) -> Result<T> {
    // SAFETY: T is the function's type in every SQLite of version 3.39 or later.
    Ok(*unsafe { handle.get::<T>(name) }.with_context(|| format!("no function {name}"))?)
}

api! {
    sourceid: fn() -> *const c_char;
    memory_used: fn() -> i64;
    open_v2: fn(*const c_char, *mut Db, c_int, *const c_char) -> c_int;
    close: fn(Db) -> c_int;
    interrupt: fn(Db);
    errmsg: fn(Db) -> *const c_char;
    extended_errcode: fn(Db) -> c_int;
    prepare_v2: fn(Db, *const c_char, c_int, *mut Stmt, *mut *const c_char) -> c_int;
    step: fn(Stmt) -> c_int;
    reset: fn(Stmt) -> c_int;
    finalize: fn(Stmt) -> c_int;
    clear_bindings: fn(Stmt) -> c_int;
    bind_null: fn(Stmt, c_int) -> c_int;
    bind_int64: fn(Stmt, c_int, i64) -> c_int;
    bind_double: fn(Stmt, c_int, f64) -> c_int;
    bind_text: fn(Stmt, c_int, *const c_char, c_int, Destroy) -> c_int;
    bind_blob: fn(Stmt, c_int, *const c_void, c_int, Destroy) -> c_int;
    bind_parameter_count: fn(Stmt) -> c_int;
    column_count: fn(Stmt) -> c_int;
    column_name: fn(Stmt, c_int) -> *const c_char;
    column_decltype: fn(Stmt, c_int) -> *const c_char;
    column_origin_name: fn(Stmt, c_int) -> *const c_char;
    column_type: fn(Stmt, c_int) -> c_int;
    column_int64: fn(Stmt, c_int) -> i64;
    column_double: fn(Stmt, c_int) -> f64;
    column_text: fn(Stmt, c_int) -> *const c_uchar;
    column_text16: fn(Stmt, c_int) -> *const c_void;
    column_blob: fn(Stmt, c_int) -> *const c_void;
    column_bytes: fn(Stmt, c_int) -> c_int;
    column_bytes16: fn(Stmt, c_int) -> c_int;
    stmt_readonly: fn(Stmt) -> c_int;
    total_changes64: fn(Db) -> i64;
    get_autocommit: fn(Db) -> c_int;
    txn_state: fn(Db, *const c_char) -> c_int;
    file_control: fn(Db, *const c_char, c_int, *mut c_void) -> c_int;
    limit: fn(Db, c_int, c_int) -> c_int;
    create_function_v2: fn(Db, *const c_char, c_int, c_int, *mut c_void, Option<Func>, Option<Func>,
        Option<unsafe extern "C" fn(Ctx)>, *const c_void) -> c_int;
    create_collation_v2: fn(Db, *const c_char, c_int, *mut c_void, Option<Collate>, *const c_void) -> c_int;
    value_bytes: fn(Val) -> c_int;
    value_type: fn(Val) -> c_int;
    value_int64: fn(Val) -> i64;
    value_text: fn(Val) -> *const c_uchar;
    aggregate_context: fn(Ctx, c_int) -> *mut c_void;
    result_int64: fn(Ctx, i64);
    result_value: fn(Ctx, Val);
    result_error: fn(Ctx, *const c_char, c_int);
}

/// `SQLITE_TRANSIENT`: SQLite copies what it is given.
const TRANSIENT: Destroy = -1isize as Destroy;

/// A loaded library. It stays loaded until the process ends.
pub struct Library {
    api: Api,
    /// Its place in `LOADED`.
    slot: usize,
}

/// Stock (0) and ours (1). It is also where functions that an application
/// registers find the library that calls them.
static LOADED: [OnceLock<Library>; 2] = [OnceLock::new(), OnceLock::new()];

/// What tick() gave last, a library.
static TICKS: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];

impl Library {
    /// Loads stock and ours, each so that its names stay its own, and fails
    /// unless they are different pieces of code.
    /// A `timed` library works as it does for an application; else it is made
    /// to take every allocation from the heap: then what leaks is seen.
    pub fn open_both(stock: &Path, ours: &Path, timed: bool) -> Result<[&'static Library; 2]> {
        let both = [
            Library::open(stock, 0, timed)?,
            Library::open(ours, 1, timed)?,
        ];
        if both[0].api.open_v2 as usize == both[1].api.open_v2 as usize {
            bail!(
                "{} and {} are the same library",
                stock.display(),
                ours.display()
            );
        }
        if both[0].hp_version().is_some() {
            bail!("{} is ours, not stock", stock.display());
        }
        Ok(both)
    }

    fn open(path: &Path, slot: usize, timed: bool) -> Result<&'static Library> {
        let shown = path.display();
        // SAFETY: SQLite's initialisers have no preconditions.
        let handle = unsafe { Handle::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
            .with_context(|| format!("cannot load {shown}"))?;
        let api =
            Api::load(&handle).with_context(|| format!("{shown} is not an SQLite library"))?;
        if !timed {
            // SAFETY: nothing of this library has run so far; the option takes two ints.
            unsafe { (api.config)(CONFIG_LOOKASIDE, 0 as c_int, 0 as c_int) };
        }
        // Function pointers into it live on: it must never be unloaded.
        std::mem::forget(handle);
        Ok(LOADED[slot].get_or_init(|| Library { api, slot }))
    }

    pub fn source_id(&self) -> String {
        // SAFETY: it returns a static string.
        string(unsafe { (self.api.sourceid)() }).unwrap_or_default()
    }

    /// Makes random numbers start anew: rowids after the last one are random.
    pub fn reseed(&self) {
        // SAFETY: the operation takes an int and a connection, which may be NULL.
        unsafe {
            (self.api.test_control)(TESTCTRL_PRNG_SEED, 1 as c_int, ptr::null_mut::<c_void>())
        };
    }

    /// Bytes that SQLite holds.
    pub fn memory_used(&self) -> i64 {
        // SAFETY: it has no preconditions.
        unsafe { (self.api.memory_used)() }
    }

    /// What hp_version() says; nothing for a stock library.
    pub fn hp_version(&'static self) -> Option<String> {
        let connection = Connection::open(self, ":memory:", &Setup::default()).ok()?;
        let version = connection.rows("SELECT hp_version()").ok()?.pop()?.pop()?;
        connection.close();
        match version {
            Value::Text(text) => String::from_utf8(text).ok(),
            other => Some(other.literal()),
        }
    }
}

fn string(text: *const c_char) -> Option<String> {
    // SAFETY: SQLite gives NULL or a NUL-terminated string, valid until its next call.
    (!text.is_null()).then(|| {
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    })
}

/// What an application may have done to a connection before its first query.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Setup {
    /// Replaces like(), a function that the LIKE operator calls.
    pub like: bool,
    /// Replaces the collation NOCASE by one that compares lengths.
    pub nocase: bool,
    /// Replaces length() and abs().
    pub functions: bool,
    /// Replaces sum() by one that adds up lengths.
    pub sum: bool,
    /// Bytes reserved at the end of each page of a new database.
    pub reserve: u8,
    /// SQLITE_LIMIT_LENGTH, where not 0.
    pub length: i32,
}

/// An error of SQLite: extended code and message.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    pub code: i32,
    pub message: String,
}

/// A database connection of one library.
pub struct Connection {
    library: &'static Library,
    db: Db,
}

impl Connection {
    pub fn open(library: &'static Library, file: &str, setup: &Setup) -> Result<Connection> {
        let name = CString::new(file)?;
        let mut db = ptr::null_mut();
        // SAFETY: the arguments are valid for the call; `db` takes the new handle.
        let rc = unsafe {
            (library.api.open_v2)(
                name.as_ptr(),
                &mut db,
                OPEN_READWRITE_CREATE_URI,
                ptr::null(),
            )
        };
        let connection = Connection { library, db };
        if rc != 0 {
            bail!("cannot open {file}: {}", connection.failure().message);
        }
        TICKS[library.slot].store(0, Relaxed);
        match library.slot {
            0 => connection.apply::<0>(setup),
            _ => connection.apply::<1>(setup),
        }
        Ok(connection)
    }

    fn apply<const SLOT: usize>(&self, setup: &Setup) {
        let api = &self.library.api;
        let aggregate = |name: &CStr, args: c_int, step: Func, end: unsafe extern "C" fn(Ctx)| {
            // SAFETY: the connection is open, and the functions ask nothing of their user data.
            unsafe {
                (api.create_function_v2)(
                    self.db,
                    name.as_ptr(),
                    args,
                    UTF8,
                    ptr::null_mut(),
                    None,
                    Some(step),
                    Some(end),
                    ptr::null(),
                )
            };
        };
        let function = |name: &CStr, args: c_int, flags: c_int, f: Func| {
            // SAFETY: the connection is open, and f asks nothing of its user data.
            unsafe {
                (api.create_function_v2)(
                    self.db,
                    name.as_ptr(),
                    args,
                    UTF8 | flags,
                    ptr::null_mut(),
                    Some(f),
                    None,
                    None,
                    ptr::null(),
                )
            };
        };
        let collation = |name: &CStr, f: Collate| {
            // SAFETY: the connection is open, and f reads only the bytes it is given.
            unsafe {
                (api.create_collation_v2)(
                    self.db,
                    name.as_ptr(),
                    UTF8,
                    ptr::null_mut(),
                    Some(f),
                    ptr::null(),
                )
            };
        };
        function(c"tick", 0, 0, tick::<SLOT>);
        function(c"nth", 1, 0, tick::<SLOT>);
        function(c"same", -1, DETERMINISTIC, same::<SLOT>);
        function(c"fails", 1, DETERMINISTIC, fails::<SLOT>);
        aggregate(c"lengths", 1, add_length::<SLOT>, added::<SLOT>);
        aggregate(c"trail", -1, follow::<SLOT>, added::<SLOT>);
        if setup.like {
            function(c"like", 2, DETERMINISTIC, longer::<SLOT>);
            function(c"like", 3, DETERMINISTIC, longer::<SLOT>);
        }
        if setup.functions {
            function(c"length", 1, DETERMINISTIC, same::<SLOT>);
            function(c"abs", 1, DETERMINISTIC, same::<SLOT>);
        }
        if setup.sum {
            aggregate(c"sum", 1, add_length::<SLOT>, added::<SLOT>);
        }
        collation(c"BACKWARD", backward);
        if setup.nocase {
            collation(c"NOCASE", by_length);
        }
        // SAFETY: the connection is open; SQLITE_FCNTL_RESERVE_BYTES takes an int.
        unsafe {
            if setup.reserve > 0 {
                let mut reserve = c_int::from(setup.reserve);
                (api.file_control)(
                    self.db,
                    ptr::null(),
                    FCNTL_RESERVE_BYTES,
                    (&raw mut reserve).cast(),
                );
            }
            if setup.length > 0 {
                (api.limit)(self.db, LIMIT_LENGTH, setup.length);
            }
        }
    }

    fn failure(&self) -> Failure {
        // SAFETY: the connection is open.
        unsafe {
            Failure {
                code: (self.library.api.extended_errcode)(self.db),
                message: string((self.library.api.errmsg)(self.db)).unwrap_or_default(),
            }
        }
    }

    pub fn prepare(&self, sql: &str) -> std::result::Result<Statement, Failure> {
        let mut stmt = ptr::null_mut();
        let length = sql.len() as c_int;
        // SAFETY: the text is valid for the given length.
        let rc = unsafe {
            (self.library.api.prepare_v2)(
                self.db,
                sql.as_ptr().cast(),
                length,
                &mut stmt,
                ptr::null_mut(),
            )
        };
        if rc != 0 {
            return Err(self.failure());
        }
        Ok(Statement {
            library: self.library,
            db: self.db,
            stmt,
        })
    }

    /// Runs one statement to its end and gives its rows.
    pub fn rows(&self, sql: &str) -> std::result::Result<Vec<Vec<Value>>, Failure> {
        let mut statement = self.prepare(sql)?;
        let mut rows = Vec::new();
        while statement.step()? {
            rows.push(statement.row(false));
        }
        Ok(rows)
    }

    /// Runs one statement for its effect.
    pub fn execute(&self, sql: &str) -> std::result::Result<(), Failure> {
        let mut statement = self.prepare(sql)?;
        while statement.step()? {}
        Ok(())
    }

    /// What `run` gives, whose statements are interrupted after this time.
    pub fn within<T>(&self, limit: Duration, run: impl FnOnce() -> T) -> T {
        struct Open(Db);
        // SAFETY: sqlite3_interrupt(), all that is done with it, may be called from any thread.
        unsafe impl Send for Open {}
        let (interrupt, db) = (self.library.api.interrupt, Open(self.db));
        let (done, ended) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let Open(db) = { db };
                if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    // SAFETY: the connection stays open until this thread has ended.
                    unsafe { interrupt(db) };
                }
            });
            let result = run();
            drop(done);
            result
        })
    }

    /// Changed rows so far, autocommit, and the transaction state of all schemas.
    pub fn state(&self) -> (i64, i32, i32) {
        // SAFETY: the connection is open; a NULL schema name asks for all.
        unsafe {
            (
                (self.library.api.total_changes64)(self.db),
                (self.library.api.get_autocommit)(self.db),
                (self.library.api.txn_state)(self.db, ptr::null()),
            )
        }
    }

    /// Closes it; false if SQLite holds that a statement is still open.
    pub fn close(self) -> bool {
        // SAFETY: the handle is not used again.
        unsafe { (self.library.api.close)(self.db) == 0 }
    }
}

/// A prepared statement.
pub struct Statement {
    library: &'static Library,
    db: Db,
    stmt: Stmt,
}

impl Statement {
    /// Resets it and binds `values` to ?1, ?2, …
    pub fn bind(&mut self, values: &[Value]) {
        let api = &self.library.api;
        // SAFETY: the statement is live; TRANSIENT makes SQLite copy text and blobs.
        unsafe {
            (api.reset)(self.stmt);
            (api.clear_bindings)(self.stmt);
            let count = (api.bind_parameter_count)(self.stmt);
            for (i, value) in (1..=count).zip(values) {
                match value {
                    Value::Null => (api.bind_null)(self.stmt, i),
                    Value::Int(v) => (api.bind_int64)(self.stmt, i, *v),
                    Value::Real(v) => (api.bind_double)(self.stmt, i, *v),
                    Value::Text(b) => (api.bind_text)(
                        self.stmt,
                        i,
                        b.as_ptr().cast(),
                        b.len() as c_int,
                        TRANSIENT,
                    ),
                    Value::Blob(b) => (api.bind_blob)(
                        self.stmt,
                        i,
                        b.as_ptr().cast(),
                        b.len() as c_int,
                        TRANSIENT,
                    ),
                };
            }
        }
    }

    /// True for a row, false at the end.
    pub fn step(&mut self) -> std::result::Result<bool, Failure> {
        // SAFETY: the statement and its connection are live (sqlite3_step accepts NULL: an empty statement).
        unsafe {
            if self.stmt.is_null() {
                return Ok(false);
            }
            match (self.library.api.step)(self.stmt) {
                ROW => Ok(true),
                DONE => Ok(false),
                _ => Err(Failure {
                    code: (self.library.api.extended_errcode)(self.db),
                    message: string((self.library.api.errmsg)(self.db)).unwrap_or_default(),
                }),
            }
        }
    }

    pub fn reset(&mut self) {
        // SAFETY: the statement is live.
        unsafe { (self.library.api.reset)(self.stmt) };
    }

    /// Name, declared type and origin of each result column.
    pub fn columns(&self) -> Vec<String> {
        let api = &self.library.api;
        // SAFETY: the statement is live and the index within column_count.
        unsafe {
            (0..(api.column_count)(self.stmt))
                .map(|i| {
                    let part = |text| string(text).unwrap_or_else(|| "-".into());
                    format!(
                        "{} {} {}",
                        part((api.column_name)(self.stmt, i)),
                        part((api.column_decltype)(self.stmt, i)),
                        part((api.column_origin_name)(self.stmt, i))
                    )
                })
                .collect()
        }
    }

    pub fn is_readonly(&self) -> bool {
        // SAFETY: the statement is live.
        unsafe { (self.library.api.stmt_readonly)(self.stmt) != 0 }
    }

    /// The current row; text as UTF-16 bytes if `wide`.
    pub fn row(&self, wide: bool) -> Vec<Value> {
        let api = &self.library.api;
        // SAFETY: a row is current; the bytes are copied before the next call on the statement.
        unsafe {
            (0..(api.column_count)(self.stmt))
                .map(|i| match (api.column_type)(self.stmt, i) {
                    1 => Value::Int((api.column_int64)(self.stmt, i)),
                    2 => Value::Real((api.column_double)(self.stmt, i)),
                    3 if wide => {
                        let p = (api.column_text16)(self.stmt, i);
                        Value::Text(bytes(p, (api.column_bytes16)(self.stmt, i)).to_vec())
                    }
                    3 => {
                        let p = (api.column_text)(self.stmt, i);
                        Value::Text(bytes(p.cast(), (api.column_bytes)(self.stmt, i)).to_vec())
                    }
                    4 => {
                        let p = (api.column_blob)(self.stmt, i);
                        Value::Blob(bytes(p, (api.column_bytes)(self.stmt, i)).to_vec())
                    }
                    _ => Value::Null,
                })
                .collect()
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the statement is live and not used again.
        unsafe { (self.library.api.finalize)(self.stmt) };
    }
}

fn api<const SLOT: usize>() -> &'static Api {
    &LOADED[SLOT]
        .get()
        .expect("a library that calls is loaded")
        .api
}

/// tick() and nth(X): 1, 2, 3, …; shows how often and in which order it was called.
unsafe extern "C" fn tick<const SLOT: usize>(ctx: Ctx, _: c_int, _: *mut Val) {
    let now = TICKS[SLOT].fetch_add(1, Relaxed) + 1;
    // SAFETY: SQLite gave the context.
    unsafe { (api::<SLOT>().result_int64)(ctx, now) }
}

/// same(X, …): X.
unsafe extern "C" fn same<const SLOT: usize>(ctx: Ctx, count: c_int, args: *mut Val) {
    if count > 0 {
        // SAFETY: SQLite gave the context and so many arguments.
        unsafe { (api::<SLOT>().result_value)(ctx, *args) }
    }
}

/// fails(X): X, but an error for 77, 177, 277, …
unsafe extern "C" fn fails<const SLOT: usize>(ctx: Ctx, _: c_int, args: *mut Val) {
    let api = api::<SLOT>();
    // SAFETY: SQLite gave the context and one argument.
    unsafe {
        let value = *args;
        if (api.value_type)(value) == 1 && (api.value_int64)(value) % 100 == 77 {
            (api.result_error)(ctx, c"no such number".as_ptr(), -1);
        } else {
            (api.result_value)(ctx, value);
        }
    }
}

/// The step of trail(X, …): mixes the types and texts of its arguments into a
/// number that depends on the order of the rows.
unsafe extern "C" fn follow<const SLOT: usize>(ctx: Ctx, count: c_int, args: *mut Val) {
    let api = api::<SLOT>();
    // SAFETY: SQLite gave the context and so many arguments; it zeroes the eight bytes at first.
    unsafe {
        let trail: *mut u64 = (api.aggregate_context)(ctx, 8).cast();
        for i in 0..count as usize {
            let value = *args.add(i);
            let kind = (api.value_type)(value) as u8;
            let text = (api.value_text)(value);
            for byte in [kind]
                .iter()
                .chain(bytes(text.cast(), (api.value_bytes)(value)))
            {
                *trail = (*trail ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
}

/// An unusual like(PATTERN, TEXT): is the text longer than the pattern?
unsafe extern "C" fn longer<const SLOT: usize>(ctx: Ctx, _: c_int, args: *mut Val) {
    let api = api::<SLOT>();
    // SAFETY: SQLite gave the context and at least two arguments.
    unsafe {
        let longer = (api.value_bytes)(*args.add(1)) > (api.value_bytes)(*args);
        (api.result_int64)(ctx, i64::from(longer))
    }
}

/// The step of lengths(X), and of an unusual sum(X): adds up lengths.
unsafe extern "C" fn add_length<const SLOT: usize>(ctx: Ctx, _: c_int, args: *mut Val) {
    let api = api::<SLOT>();
    // SAFETY: SQLite gave the context and one argument; it zeroes the eight bytes at first.
    unsafe {
        let total: *mut i64 = (api.aggregate_context)(ctx, 8).cast();
        *total += i64::from((api.value_bytes)(*args));
    }
}

/// The end of lengths(X), trail(X) and that sum(X).
unsafe extern "C" fn added<const SLOT: usize>(ctx: Ctx) {
    let api = api::<SLOT>();
    // SAFETY: SQLite gave the context; without a step there is no total.
    unsafe {
        let total: *const i64 = (api.aggregate_context)(ctx, 0).cast();
        (api.result_int64)(ctx, total.as_ref().copied().unwrap_or(-1))
    }
}

/// # Safety
/// `p` must point to `n` bytes.
unsafe fn bytes<'a>(p: *const c_void, n: c_int) -> &'a [u8] {
    if n == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(p.cast(), n as usize) }
}

/// The collation BACKWARD: descending byte order.
unsafe extern "C" fn backward(
    _: *mut c_void,
    na: c_int,
    a: *const c_void,
    nb: c_int,
    b: *const c_void,
) -> c_int {
    // SAFETY: SQLite gives two texts with their lengths.
    unsafe { bytes(b, nb).cmp(bytes(a, na)) as c_int }
}

/// A collation that tells texts apart by their length alone.
unsafe extern "C" fn by_length(
    _: *mut c_void,
    na: c_int,
    _: *const c_void,
    nb: c_int,
    _: *const c_void,
) -> c_int {
    na.cmp(&nb) as c_int
}
