//! MariaDB: a server of the job's own, reached by its C client library (`libmariadb.so.3`).
//!
//! One table of keys and values in one of its storage engines. Statements are prepared, as they
//! are for SQLite.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_ulong, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use anyhow::{Context, Result, bail};

use super::server::{self, Address, EngineServer, Start};
use super::{
    Effective, InSession, KeyValue, Pair, Session, StorePlan, Unavailable, Values, api, load,
};
use crate::bench::dataset::{Cache, Home, Name};
use crate::{interrupt, text};

const PACKAGES: &str = "mariadb-server-core mariadb-client-core libmariadb3";
/// The most bytes of a row in columns that are not BLOBs, with some to spare.
const LARGEST_ROW: usize = 60_000;
/// Rows of a scan that are asked for at once.
const PAGE: usize = 1000;
/// `ER_LOCK_DEADLOCK`
const DEADLOCK: c_uint = 1213;
const NO_DATA: c_int = 100;
const TYPE_BLOB: c_int = 252;
const OPTION_VERIFY_CERTIFICATE: c_int = 21;

/// What is read back of its variables.
const TOLD: [&str; 6] = [
    "innodb_flush_log_at_trx_commit",
    "innodb_file_per_table",
    "innodb_buffer_pool_size",
    "key_buffer_size",
    "max_heap_table_size",
    "flush",
];

/// `MYSQL_BIND` of the library with this number.
#[repr(C)]
struct Bind {
    length: *mut c_ulong,
    is_null: *mut c_char,
    buffer: *mut c_void,
    error: *mut c_char,
    row: *mut c_void,
    functions: [*mut c_void; 3],
    buffer_length: c_ulong,
    offset: c_ulong,
    length_value: c_ulong,
    flags: c_uint,
    pack_length: c_uint,
    buffer_type: c_int,
    /// Error, sign, long data, null.
    bytes: [c_char; 4],
    extension: *mut c_void,
}

impl Bind {
    fn of(bytes: &[u8]) -> Bind {
        Bind {
            length: ptr::null_mut(),
            is_null: ptr::null_mut(),
            buffer: bytes.as_ptr().cast_mut().cast(),
            error: ptr::null_mut(),
            row: ptr::null_mut(),
            functions: [ptr::null_mut(); 3],
            buffer_length: bytes.len() as c_ulong,
            offset: 0,
            length_value: bytes.len() as c_ulong,
            flags: 0,
            pack_length: 0,
            buffer_type: TYPE_BLOB,
            bytes: [0; 4],
            extension: ptr::null_mut(),
        }
    }
}

type Raw = *mut c_void;
type Statement = *mut c_void;
type Answer = *mut c_void;

api! { "mysql_" {
    init(Raw) -> Raw;
    options(Raw, c_int, *const c_void) -> c_int;
    real_connect(Raw, *const c_char, *const c_char, *const c_char, *const c_char, c_uint, *const c_char, c_ulong) -> Raw;
    close(Raw);
    error(Raw) -> *const c_char;
    errno(Raw) -> c_uint;
    real_query(Raw, *const c_char, c_ulong) -> c_int;
    store_result(Raw) -> Answer;
    fetch_row(Answer) -> *mut *mut c_char;
    free_result(Answer);
    get_server_info(Raw) -> *const c_char;
    stmt_init(Raw) -> Statement;
    stmt_prepare(Statement, *const c_char, c_ulong) -> c_int;
    stmt_bind_param(Statement, *mut Bind) -> c_char;
    stmt_bind_result(Statement, *mut Bind) -> c_char;
    stmt_execute(Statement) -> c_int;
    stmt_store_result(Statement) -> c_int;
    stmt_fetch(Statement) -> c_int;
    stmt_free_result(Statement) -> c_char;
    stmt_close(Statement) -> c_char;
    stmt_error(Statement) -> *const c_char;
    stmt_errno(Statement) -> c_uint;
} }

struct Maria {
    api: Api,
    server: EngineServer,
    password: String,
    storage: &'static str,
    hashed: bool,
    shared: bool,
    data: PathBuf,
    key_size: usize,
    value_size: usize,
}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let storage = plan.choice("storage", &["innodb", "aria", "myisam", "memory"])?;
    let memory = storage == "memory";
    if !memory && plan.has_word("hash") {
        bail!(Unavailable(format!("{storage} has no hash index")));
    }
    let index = plan.choice(
        "index",
        if memory {
            &["hash", "btree"]
        } else {
            &["btree"]
        },
    )?;
    let shared = plan.choice("tablespace", &["pertable", "shared"])? == "shared";
    let partitions = match plan.number("partitions")? {
        None if plan.has_word("partitioned") => 10,
        n => n.unwrap_or(0),
    };
    let large = plan.key_size + plan.value_size > LARGEST_ROW;
    if large && memory {
        bail!(Unavailable(
            "MEMORY tables have no values this large".to_owned()
        ));
    }
    let library = load(&["libmariadb.so.3"], "MariaDB's client library", PACKAGES)?;
    // SAFETY: it is the client library by its name.
    let api = unsafe { Api::resolve(library)? };
    let address = Address::of(plan)?;
    let data = plan.folder.join("data");
    if !data.exists() {
        copy(&empty(plan)?, &data)?;
    }
    let password = server::password()?;
    let server = start(plan, &api, &address, &data, &password, shared)?;
    let store = Maria {
        api,
        server,
        password,
        storage,
        hashed: index == "hash",
        shared,
        data,
        key_size: plan.key_size,
        value_size: plan.value_size,
    };
    let connection = store.connect()?;
    connection.run("CREATE DATABASE IF NOT EXISTS bench")?;
    connection.run("USE bench")?;
    connection.run(&format!(
        "CREATE TABLE IF NOT EXISTS kv(k VARBINARY({}) NOT NULL, v {} NOT NULL, \
         PRIMARY KEY(k) USING {index}) ENGINE={storage}{}",
        plan.key_size,
        if large {
            "LONGBLOB".to_owned()
        } else {
            format!("VARBINARY({})", plan.value_size)
        },
        match partitions {
            0 => String::new(),
            n => format!(" PARTITION BY KEY(k) PARTITIONS {n}"),
        }
    ))?;
    drop(connection);
    Ok(Box::new(store))
}

/// An empty data folder. To make one takes seconds, so it is kept with the data sets, for each
/// version and user.
fn empty(plan: &StorePlan<'_>) -> Result<PathBuf> {
    let said = Command::new(server::find("mariadbd", PACKAGES)?)
        .arg("--version")
        .output()
        .context("cannot run mariadbd")?;
    let version = String::from_utf8_lossy(&said.stdout);
    let key = text::fingerprint(format!("{version} {}", server::root()).as_bytes());
    let name = Name::new("mariadb", 1).with("build", key);
    Cache::new(&Home::open()?.data).get(&name, |folder| install(plan, folder))
}

/// Makes an empty data folder.
fn install(plan: &StorePlan<'_>, data: &Path) -> Result<()> {
    let log = plan.job.folder.join("mariadb-install-db.log");
    let mut command = server::own("mariadb-install-db", PACKAGES, &log, &plan.folder)?;
    command
        .arg("--no-defaults")
        .arg(setting("datadir", data))
        .args(["--auth-root-authentication-method=normal"])
        .args(["--skip-test-db", "--skip-name-resolve"]);
    if server::root() {
        command.arg("--user=root");
    }
    let mut child = command.spawn().context("cannot start mariadb-install-db")?;
    interrupt::remember(child.id());
    let status = child.wait();
    interrupt::forget(child.id());
    interrupt::check()?;
    let status = status.context("mariadb-install-db")?;
    if !status.success() {
        bail!("mariadb-install-db: {status}: {}", server::tail(&log));
    }
    Ok(())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in super::files(from)? {
        let copy = to.join(file.strip_prefix(from)?);
        let folder = copy.parent().unwrap_or(to);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::copy(&file, &copy))
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    Ok(())
}

fn setting(name: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(format!("--{name}="));
    argument.push(path);
    argument
}

fn start(
    plan: &StorePlan<'_>,
    api: &Api,
    address: &Address,
    data: &Path,
    password: &str,
    shared: bool,
) -> Result<EngineServer> {
    // Run before anybody can connect. Whoever could would be able to write files as the server.
    let first = plan.job.folder.join("first.sql");
    let text = format!(
        "ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n\
         CREATE USER IF NOT EXISTS 'bench'@'%';\n\
         ALTER USER 'bench'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL ON *.* TO 'bench'@'%';\n\
         DELETE FROM mysql.global_priv WHERE User='';\n\
         FLUSH PRIVILEGES;\n"
    );
    write_secret(&first, &text)?;
    let heap = (plan.count * (plan.key_size + plan.value_size + 128) as u64 * 2).max(16 << 20);
    let mut arguments = vec![
        OsString::from("--no-defaults"),
        setting("datadir", data),
        setting("pid-file", &plan.job.folder.join("mariadb.pid")),
        setting("init-file", &first),
        "--skip-name-resolve".into(),
        "--skip-ssl".into(),
        "--max-allowed-packet=1G".into(),
        format!("--max-connections={}", plan.sessions + 16).into(),
        format!("--max-heap-table-size={heap}").into(),
        format!("--innodb-file-per-table={}", u8::from(!shared)).into(),
    ];
    match address {
        Address::Tcp(port) => {
            arguments.extend(["--bind-address=127.0.0.1".into()]);
            arguments.push(format!("--port={port}").into());
            arguments.push(setting("socket", &plan.job.folder.join("unused")));
        }
        Address::Unix(path) => {
            arguments.extend(["--skip-networking".into(), setting("socket", path)]);
        }
    }
    match plan.sync()? {
        None => {}
        Some(true) => arguments.extend([
            "--innodb-flush-log-at-trx-commit=1".into(),
            "--flush".into(),
        ]),
        Some(false) => arguments.push("--innodb-flush-log-at-trx-commit=2".into()),
    }
    if server::root() {
        arguments.push("--user=root".into());
    }
    let server = EngineServer::start(
        plan,
        Start {
            program: "mariadbd",
            packages: PACKAGES,
            arguments,
            input: "",
            address: address.clone(),
            // Nobody else knows the password.
            ready: &mut |_| Ok(MariadbConnection::open(api, address, password).is_ok()),
        },
    );
    let _ = std::fs::remove_file(&first);
    server
}

/// Writes a file that only we can read.
fn write_secret(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let _ = std::fs::remove_file(path);
    std::fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut f| f.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

impl Maria {
    fn connect(&self) -> Result<MariadbConnection<'_>> {
        MariadbConnection::open(&self.api, &self.server.address, &self.password)
    }
}

impl KeyValue for Maria {
    fn effective(&self) -> Result<Effective> {
        let connection = self.connect()?;
        let mut settings = Values::new();
        for name in TOLD {
            let value = connection.text(&format!("SELECT @@{name}"))?;
            settings.insert(name.to_owned(), value);
        }
        for (name, what) in [
            (
                "storage",
                "engine FROM information_schema.tables WHERE table_name='kv'",
            ),
            (
                "index",
                "index_type FROM information_schema.statistics WHERE table_name='kv'",
            ),
            (
                "partitions",
                "count(partition_name) FROM information_schema.partitions WHERE table_name='kv'",
            ),
        ] {
            let value = connection.text(&format!("SELECT {what} AND table_schema='bench'"))?;
            settings.insert(name.to_owned(), value);
        }
        settings.insert(
            "connection".to_owned(),
            self.server.address.kind().to_owned(),
        );
        // SAFETY: the connection is open; the string is copied.
        let version = unsafe { CStr::from_ptr((self.api.get_server_info)(connection.raw)) };
        let durability = match (self.storage, &*settings["innodb_flush_log_at_trx_commit"]) {
            ("innodb", "1") => "no crash loses a committed transaction",
            ("innodb", "2") => {
                "a crash of the process loses nothing; of the system or the power, the last second"
            }
            ("innodb", _) => "any crash loses the last second",
            ("aria", _) => {
                "a crash loses the last statements at most, and the log brings the table back whole"
            }
            ("myisam", _) => {
                "a crash may lose what was written last and leave the table damaged, to be repaired"
            }
            _ => "everything is lost when the server ends, by a crash or otherwise",
        };
        Ok(Effective {
            version: format!(
                "MariaDB {} ({})",
                version.to_string_lossy(),
                settings["storage"]
            ),
            settings,
            durability: durability.to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        let connection = self.connect()?;
        connection.run("USE bench")?;
        let scan = format!("SELECT k,v FROM kv WHERE k>=? ORDER BY k LIMIT {PAGE}");
        let prepare = |sql: &str| MariadbStatement::new(&connection, sql);
        work(&mut MariadbThread {
            store: self,
            connection: &connection,
            put: prepare("REPLACE INTO kv(k,v) VALUES(?,?)")?,
            get: prepare("SELECT v FROM kv WHERE k=?")?,
            scan: prepare(&scan)?,
            key: vec![0; self.key_size],
            value: vec![0; self.value_size],
        })
    }

    fn flush(&self) -> Result<()> {
        match self.storage {
            // Has a log, and writes the rest when the server ends.
            "innodb" | "memory" => Ok(()),
            _ => self.connect()?.run("FLUSH TABLES bench.kv"),
        }
    }

    fn server(&self) -> Option<&EngineServer> {
        Some(&self.server)
    }

    fn survives_closing(&self) -> bool {
        self.storage != "memory"
    }

    fn space(&self, _folder: &Path) -> Result<u64> {
        // Not what the server has besides: its own tables, logs, undo.
        let mut space = super::space(&self.data.join("bench"))?;
        if self.shared && self.storage == "innodb" {
            use std::os::unix::fs::MetadataExt;
            let file = self.data.join("ibdata1");
            space += file.metadata().map_or(0, |data| data.blocks() * 512);
        }
        Ok(space)
    }
}

struct MariadbConnection<'a> {
    api: &'a Api,
    raw: Raw,
}

impl Drop for MariadbConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by init; statements borrow it and are gone.
        unsafe { (self.api.close)(self.raw) };
    }
}

impl<'a> MariadbConnection<'a> {
    fn open(api: &'a Api, address: &Address, password: &str) -> Result<MariadbConnection<'a>> {
        let password = CString::new(password)?;
        let (port, path) = match address {
            Address::Tcp(port) => (c_uint::from(*port), None),
            Address::Unix(path) => (0, Some(super::c_path(path)?)),
        };
        let host = match path {
            None => c"127.0.0.1",
            Some(_) => c"localhost",
        };
        // SAFETY: init makes the handle; all strings end with a NUL and outlive the call.
        unsafe {
            let raw = (api.init)(ptr::null_mut());
            let connection = MariadbConnection { api, raw };
            if raw.is_null() {
                bail!("MariaDB: no memory");
            }
            let no: c_char = 0;
            (api.options)(raw, OPTION_VERIFY_CERTIFICATE, (&raw const no).cast());
            let done = (api.real_connect)(
                raw,
                host.as_ptr(),
                c"bench".as_ptr(),
                password.as_ptr(),
                ptr::null(),
                port,
                path.as_ref().map_or(ptr::null(), |p| p.as_ptr()),
                0,
            );
            if done.is_null() {
                bail!("MariaDB: {}", connection.message());
            }
            Ok(connection)
        }
    }

    fn message(&self) -> String {
        // SAFETY: a string that stays until the next call.
        unsafe { CStr::from_ptr((self.api.error)(self.raw)) }
            .to_string_lossy()
            .into_owned()
    }

    fn query(&self, sql: &str) -> c_int {
        // SAFETY: the connection is open; the text is as long as is told.
        unsafe { (self.api.real_query)(self.raw, sql.as_ptr().cast(), sql.len() as c_ulong) }
    }

    /// Runs a statement that gives no rows.
    fn run(&self, sql: &str) -> Result<()> {
        if self.query(sql) != 0 {
            bail!("MariaDB: {}: {sql}", self.message());
        }
        Ok(())
    }

    /// The first value of the first row; empty where there is none.
    fn text(&self, sql: &str) -> Result<String> {
        self.run(sql)?;
        // SAFETY: the rows live until they are freed; the value is copied.
        unsafe {
            let answer = (self.api.store_result)(self.raw);
            if answer.is_null() {
                bail!("MariaDB: {}: {sql}", self.message());
            }
            let row = (self.api.fetch_row)(answer);
            let text = if row.is_null() || (*row).is_null() {
                String::new()
            } else {
                CStr::from_ptr(*row).to_string_lossy().into_owned()
            };
            (self.api.free_result)(answer);
            Ok(text)
        }
    }
}

struct MariadbStatement<'a> {
    api: &'a Api,
    raw: Statement,
}

impl Drop for MariadbStatement<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it was made by stmt_init, and is closed once.
            unsafe { (self.api.stmt_close)(self.raw) };
        }
    }
}

impl<'a> MariadbStatement<'a> {
    fn new(connection: &'a MariadbConnection<'a>, sql: &str) -> Result<MariadbStatement<'a>> {
        let api = connection.api;
        // SAFETY: the connection is open and outlives the statement.
        let raw = unsafe { (api.stmt_init)(connection.raw) };
        let statement = MariadbStatement { api, raw };
        if raw.is_null() {
            bail!("MariaDB: no memory");
        }
        // SAFETY: the text is as long as is told.
        let rc = unsafe { (api.stmt_prepare)(raw, sql.as_ptr().cast(), sql.len() as c_ulong) };
        statement.check(rc)?;
        Ok(statement)
    }

    fn check(&self, rc: c_int) -> Result<()> {
        if rc == 0 {
            return Ok(());
        }
        // SAFETY: a string that stays until the next call.
        let text = unsafe { CStr::from_ptr((self.api.stmt_error)(self.raw)) };
        bail!("MariaDB: {}", text.to_string_lossy())
    }

    /// Runs it with these parameters; false if that ended in a deadlock.
    fn execute<const N: usize>(&self, parameters: [&[u8]; N]) -> Result<bool> {
        let mut bound = parameters.map(Bind::of);
        for one in &mut bound {
            one.length = &raw mut one.length_value;
        }
        // SAFETY: what is bound lives until the statement has run.
        unsafe {
            self.check((self.api.stmt_bind_param)(self.raw, bound.as_mut_ptr()).into())?;
            let rc = (self.api.stmt_execute)(self.raw);
            if rc != 0 && (self.api.stmt_errno)(self.raw) == DEADLOCK {
                return Ok(false);
            }
            self.check(rc)?;
        }
        Ok(true)
    }

    /// Gives the rows to `each`, as many bytes of the places as each value has.
    fn rows<const N: usize>(
        &self,
        places: [&mut [u8]; N],
        each: &mut dyn FnMut([&[u8]; N]) -> bool,
    ) -> Result<u64> {
        let mut lengths: [c_ulong; N] = [0; N];
        let lengths = lengths.as_mut_ptr();
        let places = places.map(|place| (place.as_mut_ptr(), place.len()));
        let mut bound = places.map(|_| Bind::of(&[]));
        let mut count = 0;
        // SAFETY: places and lengths live until the rows are freed, and nobody else uses them; a
        // value is not longer than its place, which is looked at.
        let rc = unsafe {
            for (i, one) in bound.iter_mut().enumerate() {
                one.buffer = places[i].0.cast();
                one.buffer_length = places[i].1 as c_ulong;
                one.length = lengths.add(i);
            }
            self.check((self.api.stmt_bind_result)(self.raw, bound.as_mut_ptr()).into())?;
            self.check((self.api.stmt_store_result)(self.raw))?;
            loop {
                let rc = (self.api.stmt_fetch)(self.raw);
                if rc != 0 {
                    break rc;
                }
                count += 1;
                let row = std::array::from_fn(|i| {
                    let n = usize::try_from(*lengths.add(i)).unwrap_or(usize::MAX);
                    std::slice::from_raw_parts(places[i].0.cast_const(), n.min(places[i].1))
                });
                if !each(row) {
                    break NO_DATA;
                }
            }
        };
        // SAFETY: the rows are not used afterwards.
        unsafe { (self.api.stmt_free_result)(self.raw) };
        if rc != NO_DATA {
            self.check(rc)?;
        }
        Ok(count)
    }
}

struct MariadbThread<'s> {
    store: &'s Maria,
    connection: &'s MariadbConnection<'s>,
    put: MariadbStatement<'s>,
    get: MariadbStatement<'s>,
    scan: MariadbStatement<'s>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl MariadbThread<'_> {
    /// Puts all pairs in one transaction, or where there are none under one lock, without which each
    /// row would be brought to the table by itself; false if it ended in a deadlock.
    fn transaction(&mut self, pairs: &[Pair]) -> Result<bool> {
        let (begin, end) = match self.store.storage {
            "innodb" => ("START TRANSACTION", "COMMIT"),
            _ => ("LOCK TABLES kv WRITE", "UNLOCK TABLES"),
        };
        self.connection.run(begin)?;
        for (key, value) in pairs {
            // The server has rolled it back then.
            if !self.put.execute([key, value])? {
                return Ok(false);
            }
        }
        if self.connection.query(end) == 0 {
            return Ok(true);
        }
        // SAFETY: the connection is open.
        if unsafe { (self.connection.api.errno)(self.connection.raw) } == DEADLOCK {
            return Ok(false);
        }
        bail!("MariaDB: {}: {end}", self.connection.message())
    }
}

impl Session for MariadbThread<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // Tried again after a deadlock, as applications have to.
        while !self.put.execute([key, value])? {}
        Ok(())
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        while !self.transaction(pairs)? {}
        Ok(())
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        while !self.get.execute([key])? {}
        let rows = self.get.rows([&mut self.value], &mut |[value]| {
            found(value);
            true
        })?;
        Ok(rows > 0)
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        if self.store.hashed {
            return Ok(false);
        }
        let mut from = from.to_vec();
        loop {
            while !self.scan.execute([&from])? {}
            let mut go_on = true;
            let places = [&mut self.key[..], &mut self.value[..]];
            let rows = self.scan.rows(places, &mut |[key, value]| {
                from.clear();
                from.extend_from_slice(key);
                go_on = each(key, value);
                go_on
            })?;
            if !go_on || rows < PAGE as u64 {
                return Ok(true);
            }
            // The next key that there can be.
            from.push(0);
        }
    }
}
