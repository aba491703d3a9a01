//! Berkeley DB (`libdb-5.3.so`): a B-tree or a hash table in a file.
//!
//! `plain` is the file by itself, as DBM libraries use it: a crash may damage it, and threads take
//! turns at a lock of ours. `transactional` has a log, locks and recovery.
//!
//! The methods of its handles are members of C structures; the library exports the functions
//! behind them as well, and those are called here, so that no layout of a structure matters.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard};

use anyhow::{Result, bail};

use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan, api, c_path, load, values};

const CREATE: u32 = 0x1;
const THREAD: u32 = 0x20;
const AUTO_COMMIT: u32 = 0x100;
const INIT_LOCK: u32 = 0x100;
const INIT_LOG: u32 = 0x200;
const INIT_MPOOL: u32 = 0x400;
const INIT_TXN: u32 = 0x2000;
const PRIVATE: u32 = 0x1_0000;
const TXN_WRITE_NOSYNC: u32 = 0x20;
const CHECKPOINT_FORCE: u32 = 0x1;
const LOCK_DEFAULT: u32 = 1;
const BTREE: c_int = 1;
const HASH: c_int = 2;
const NEXT: u32 = 0x10;
const SET_RANGE: u32 = 0x1b;
const NOTFOUND: c_int = -30988;
const DEADLOCK: c_int = -30993;
const USERMEM: u32 = 0x800;
/// Locks for transactions of many pairs.
const LOCKS: u32 = 200_000;
const LARGEST_KEY: usize = 256;

/// `DBT`
#[repr(C)]
struct Thing {
    data: *mut c_void,
    size: u32,
    room: u32,
    part_size: u32,
    part_offset: u32,
    application: *mut c_void,
    flags: u32,
}

impl Thing {
    fn of(bytes: &[u8]) -> Result<Thing> {
        Ok(Thing {
            data: bytes.as_ptr().cast_mut().cast(),
            size: u32::try_from(bytes.len())?,
            room: 0,
            part_size: 0,
            part_offset: 0,
            application: ptr::null_mut(),
            flags: 0,
        })
    }

    /// A place for what is read.
    fn place(buffer: &mut [u8]) -> Result<Thing> {
        Ok(Thing {
            room: u32::try_from(buffer.len())?,
            data: buffer.as_mut_ptr().cast(),
            size: 0,
            flags: USERMEM,
            ..Thing::of(&[])?
        })
    }
}

type Env = *mut c_void;
type Handle = *mut c_void;
type Txn = *mut c_void;
type Cursor = *mut c_void;

api! { "" {
    db_full_version(*mut c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> *const c_char;
    db_strerror(c_int) -> *const c_char;
    db_env_create(*mut Env, u32) -> c_int;
    db_create(*mut Handle, Env, u32) -> c_int;
    __env_open_pp(Env, *const c_char, u32, c_int) -> c_int;
    __env_close_pp(Env, u32) -> c_int;
    __env_set_flags(Env, u32, c_int) -> c_int;
    __memp_set_cachesize(Env, u32, u32, c_int) -> c_int;
    __memp_get_cachesize(Env, *mut u32, *mut u32, *mut c_int) -> c_int;
    __lock_set_lk_detect(Env, u32) -> c_int;
    __lock_set_lk_max_locks(Env, u32) -> c_int;
    __lock_set_lk_max_objects(Env, u32) -> c_int;
    __txn_begin_pp(Env, Txn, *mut Txn, u32) -> c_int;
    __txn_commit(Txn, u32) -> c_int;
    __txn_abort(Txn) -> c_int;
    __txn_checkpoint_pp(Env, u32, u32, u32) -> c_int;
    __db_open_pp(Handle, Txn, *const c_char, *const c_char, c_int, u32, c_int) -> c_int;
    __db_close_pp(Handle, u32) -> c_int;
    __db_sync_pp(Handle, u32) -> c_int;
    __db_put_pp(Handle, Txn, *mut Thing, *mut Thing, u32) -> c_int;
    __db_get_pp(Handle, Txn, *mut Thing, *mut Thing, u32) -> c_int;
    __db_cursor_pp(Handle, Txn, *mut Cursor, u32) -> c_int;
    __dbc_get_pp(Cursor, *mut Thing, *mut Thing, u32) -> c_int;
    __dbc_close_pp(Cursor) -> c_int;
} }

struct Berkeley {
    api: Api,
    env: Env,
    db: Handle,
    method: &'static str,
    transactional: bool,
    sync: bool,
    value_size: usize,
    /// Whose turn it is, where the engine has no locks.
    turn: Mutex<()>,
}

// SAFETY: both handles are opened for use by several threads; without locks of the engine each
// use is inside `turn`.
unsafe impl Sync for Berkeley {}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let method = plan.choice("method", &["btree", "hash"])?;
    let kind = plan.choice("kind", &["plain", "transactional"])?;
    let sync = plan.sync()?;
    let cache = plan.number("cache_size")?;
    let library = load(&["libdb-5.3.so"], "Berkeley DB", "libdb5.3")?;
    // SAFETY: it is Berkeley DB's library by its name.
    let api = unsafe { Api::resolve(library)? };
    let mut store = Berkeley {
        api,
        env: ptr::null_mut(),
        db: ptr::null_mut(),
        method,
        // Only a log makes a write durable by itself.
        transactional: kind == "transactional" || sync == Some(true),
        sync: sync != Some(false),
        value_size: plan.value_size,
        turn: Mutex::new(()),
    };
    let folder = c_path(&plan.folder)?;
    let file = CString::new("kv.db")?;
    let (mut env, mut db) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: handles are made, configured, opened in the order that the library asks for; what
    // they are given outlives the calls.
    unsafe {
        store.check((store.api.db_env_create)(&mut env, 0))?;
        store.env = env;
        if let Some(bytes) = cache {
            let (gb, rest) = (bytes >> 30, bytes & ((1 << 30) - 1));
            let (gb, rest) = (u32::try_from(gb)?, u32::try_from(rest)?);
            store.check((store.api.__memp_set_cachesize)(env, gb, rest, 1))?;
        }
        let mut flags = CREATE | PRIVATE | THREAD | INIT_MPOOL;
        let mut open_flags = CREATE | THREAD;
        if store.transactional {
            flags |= INIT_TXN | INIT_LOG | INIT_LOCK;
            open_flags |= AUTO_COMMIT;
            store.check((store.api.__lock_set_lk_detect)(env, LOCK_DEFAULT))?;
            store.check((store.api.__lock_set_lk_max_locks)(env, LOCKS))?;
            store.check((store.api.__lock_set_lk_max_objects)(env, LOCKS))?;
            if !store.sync {
                store.check((store.api.__env_set_flags)(env, TXN_WRITE_NOSYNC, 1))?;
            }
        }
        store.check((store.api.__env_open_pp)(
            env,
            folder.as_ptr(),
            flags,
            0o600,
        ))?;
        store.check((store.api.db_create)(&mut db, env, 0))?;
        store.db = db;
        let kind = if method == "hash" { HASH } else { BTREE };
        store.check((store.api.__db_open_pp)(
            db,
            ptr::null_mut(),
            file.as_ptr(),
            ptr::null(),
            kind,
            open_flags,
            0o600,
        ))?;
    }
    Ok(Box::new(store))
}

impl Berkeley {
    fn check(&self, rc: c_int) -> Result<()> {
        if rc == 0 {
            return Ok(());
        }
        // SAFETY: the texts of errors stay until the next call of this thread.
        let text = unsafe { CStr::from_ptr((self.api.db_strerror)(rc)) };
        bail!("Berkeley DB: {}", text.to_string_lossy())
    }

    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        // A thread that panicked left nothing half-done of ours.
        (!self.transactional).then(|| self.turn.lock().unwrap_or_else(|e| e.into_inner()))
    }

    fn put(&self, txn: Txn, key: &[u8], value: &[u8]) -> Result<c_int> {
        let (mut key, mut value) = (Thing::of(key)?, Thing::of(value)?);
        // SAFETY: the handle is open; the library copies both.
        Ok(unsafe { (self.api.__db_put_pp)(self.db, txn, &mut key, &mut value, 0) })
    }

    /// Puts all pairs in one transaction; the code of an error of the engine.
    fn put_all(&self, pairs: &[Pair]) -> Result<c_int> {
        let mut txn = ptr::null_mut();
        // SAFETY: the environment has transactions.
        self.check(unsafe { (self.api.__txn_begin_pp)(self.env, ptr::null_mut(), &mut txn, 0) })?;
        for (key, value) in pairs {
            let rc = self.put(txn, key, value)?;
            if rc != 0 {
                // SAFETY: the transaction is open and not used afterwards.
                unsafe { (self.api.__txn_abort)(txn) };
                return Ok(rc);
            }
        }
        // SAFETY: as above.
        Ok(unsafe { (self.api.__txn_commit)(txn, 0) })
    }

    /// Tries again what was given up for a deadlock, as applications have to.
    fn retry(&self, mut work: impl FnMut() -> Result<c_int>) -> Result<()> {
        loop {
            match work()? {
                DEADLOCK => {}
                rc => return self.check(rc),
            }
        }
    }
}

impl Drop for Berkeley {
    fn drop(&mut self) {
        // SAFETY: no session is left; a handle is closed once, whether it was opened or not.
        unsafe {
            if !self.db.is_null() {
                (self.api.__db_close_pp)(self.db, 0);
            }
            if !self.env.is_null() {
                (self.api.__env_close_pp)(self.env, 0);
            }
        }
    }
}

impl KeyValue for Berkeley {
    fn effective(&self) -> Result<Effective> {
        let mut parts = [0; 5];
        let (mut gb, mut bytes, mut caches) = (0, 0, 0);
        // SAFETY: all places are valid and the environment is open.
        unsafe {
            let [family, release, a, b, c] = &mut parts;
            (self.api.db_full_version)(family, release, a, b, c);
            self.check((self.api.__memp_get_cachesize)(
                self.env,
                &mut gb,
                &mut bytes,
                &mut caches,
            ))?;
        }
        let durability = match (self.transactional, self.sync) {
            (false, _) => {
                "a crash of the process, the system or the power loses what was not flushed, and \
                 may leave the file damaged"
            }
            (true, false) => {
                "a crash of the process loses nothing; of the system or the power, recent transactions"
            }
            (true, true) => "no crash loses a committed transaction",
        };
        Ok(Effective {
            version: format!("Berkeley DB {}.{}.{}", parts[2], parts[3], parts[4]),
            settings: values([
                ("method", self.method.to_owned()),
                (
                    "kind",
                    if self.transactional {
                        "transactional"
                    } else {
                        "plain"
                    }
                    .to_owned(),
                ),
                (
                    "cache_size",
                    ((u64::from(gb) << 30) + u64::from(bytes)).to_string(),
                ),
            ]),
            durability: durability.to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut BerkeleyThread {
            store: self,
            key: vec![0; LARGEST_KEY],
            value: vec![0; self.value_size],
        })
    }

    fn flush(&self) -> Result<()> {
        let _turn = self.turn();
        // SAFETY: both handles are open.
        self.check(unsafe {
            if self.transactional {
                (self.api.__txn_checkpoint_pp)(self.env, 0, 0, CHECKPOINT_FORCE)
            } else {
                (self.api.__db_sync_pp)(self.db, 0)
            }
        })
    }
}

struct BerkeleyThread<'s> {
    store: &'s Berkeley,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Session for BerkeleyThread<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let _turn = self.store.turn();
        self.store
            .retry(|| self.store.put(ptr::null_mut(), key, value))
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        if self.store.transactional {
            return self.store.retry(|| self.store.put_all(pairs));
        }
        pairs.iter().try_for_each(|(k, v)| self.put(k, v))
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let _turn = self.store.turn();
        let mut there = true;
        let (store, buffer) = (self.store, &mut self.value);
        store.retry(|| {
            let (mut key, mut value) = (Thing::of(key)?, Thing::place(buffer)?);
            // SAFETY: the handle is open; the value goes to the buffer, whose size it is told.
            let rc = unsafe {
                (store.api.__db_get_pp)(store.db, ptr::null_mut(), &mut key, &mut value, 0)
            };
            match rc {
                0 => found(&buffer[..value.size as usize]),
                NOTFOUND => there = false,
                rc => return Ok(rc),
            }
            Ok(0)
        })?;
        Ok(there)
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        if self.store.method == "hash" {
            return Ok(false);
        }
        let _turn = self.store.turn();
        let api = &self.store.api;
        let mut cursor = ptr::null_mut();
        // SAFETY: the handle is open.
        self.store.check(unsafe {
            (api.__db_cursor_pp)(self.store.db, ptr::null_mut(), &mut cursor, 0)
        })?;
        self.key[..from.len()].copy_from_slice(from);
        let mut how = SET_RANGE;
        let mut size = u32::try_from(from.len())?;
        let rc = loop {
            let mut key = Thing::place(&mut self.key)?;
            key.size = size;
            let mut value = Thing::place(&mut self.value)?;
            // SAFETY: the cursor is open; both places are as large as they say.
            let rc = unsafe { (api.__dbc_get_pp)(cursor, &mut key, &mut value, how) };
            if rc != 0 {
                break rc;
            }
            size = key.size;
            if !each(
                &self.key[..size as usize],
                &self.value[..value.size as usize],
            ) {
                break 0;
            }
            how = NEXT;
        };
        // SAFETY: the cursor is not used afterwards.
        unsafe { (api.__dbc_close_pp)(cursor) };
        if rc != NOTFOUND {
            self.store.check(rc)?;
        }
        Ok(true)
    }
}
