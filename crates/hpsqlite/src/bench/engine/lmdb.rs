//! LMDB (`liblmdb.so.0`): a B+tree in a memory map, one writer, readers without locks.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use anyhow::{Result, bail};

use super::{
    Effective, InSession, KeyValue, Pair, Session, StorePlan, api, c_path, load, on_off, values,
};

const NOSYNC: c_uint = 0x1_0000;
const RDONLY: c_uint = 0x2_0000;
const NOTFOUND: c_int = -30798;
const NEXT: c_int = 8;
const SET_RANGE: c_int = 17;

/// `MDB_val`
#[repr(C)]
struct Val {
    size: usize,
    data: *mut c_void,
}

impl Val {
    fn of(bytes: &[u8]) -> Val {
        Val {
            size: bytes.len(),
            data: bytes.as_ptr().cast_mut().cast(),
        }
    }

    fn empty() -> Val {
        Val::of(&[])
    }

    /// # Safety
    /// It was filled by LMDB in a transaction that is still open.
    unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: by the caller's promise; LMDB gives no null where it says that it found a pair.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.size) }
    }
}

/// `MDB_envinfo`
#[repr(C)]
struct Info {
    address: *mut c_void,
    map_size: usize,
    last_page: usize,
    last_transaction: usize,
    max_readers: c_uint,
    readers: c_uint,
}

type Env = *mut c_void;
type Txn = *mut c_void;
type Cursor = *mut c_void;

api! { "mdb_" {
    version(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
    strerror(c_int) -> *const c_char;
    env_create(*mut Env) -> c_int;
    env_set_mapsize(Env, usize) -> c_int;
    env_set_maxreaders(Env, c_uint) -> c_int;
    env_open(Env, *const c_char, c_uint, c_uint) -> c_int;
    env_close(Env);
    env_sync(Env, c_int) -> c_int;
    env_get_flags(Env, *mut c_uint) -> c_int;
    env_info(Env, *mut Info) -> c_int;
    txn_begin(Env, Txn, c_uint, *mut Txn) -> c_int;
    txn_commit(Txn) -> c_int;
    txn_abort(Txn);
    txn_reset(Txn);
    txn_renew(Txn) -> c_int;
    dbi_open(Txn, *const c_char, c_uint, *mut c_uint) -> c_int;
    put(Txn, c_uint, *mut Val, *mut Val, c_uint) -> c_int;
    get(Txn, c_uint, *mut Val, *mut Val) -> c_int;
    cursor_open(Txn, c_uint, *mut Cursor) -> c_int;
    cursor_get(Cursor, *mut Val, *mut Val, c_int) -> c_int;
    cursor_close(Cursor);
} }

struct Lmdb {
    api: Api,
    env: Env,
    table: c_uint,
}

// SAFETY: an environment may be used by all threads; transactions stay in their session.
unsafe impl Sync for Lmdb {}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let library = load(&["liblmdb.so.0"], "LMDB", "liblmdb0")?;
    // SAFETY: it is LMDB's library by its name.
    let api = unsafe { Api::resolve(library)? };
    let mut store = Lmdb {
        api,
        env: ptr::null_mut(),
        table: 0,
    };
    let folder = c_path(&plan.folder)?;
    let flags = match plan.sync()? {
        Some(false) => NOSYNC,
        _ => 0,
    };
    // Address space, not memory or disk: room for trees that are half empty and for copies.
    let map = (plan.bytes().saturating_mul(8) + (1 << 30)).next_multiple_of(1 << 20);
    let readers = c_uint::try_from(plan.sessions)?.max(126) + 8;
    // SAFETY: the calls come in the order that LMDB asks for; what they are given outlives them.
    unsafe {
        let mut env = ptr::null_mut();
        store.check((store.api.env_create)(&mut env))?;
        store.env = env;
        let api = &store.api;
        store.check((api.env_set_mapsize)(store.env, usize::try_from(map)?))?;
        store.check((api.env_set_maxreaders)(store.env, readers))?;
        store.check((api.env_open)(store.env, folder.as_ptr(), flags, 0o600))?;
        let txn = store.begin(0)?;
        let mut table = 0;
        let opened = (api.dbi_open)(txn, ptr::null(), 0, &mut table);
        store.check((api.txn_commit)(txn))?;
        store.check(opened)?;
        store.table = table;
    }
    Ok(Box::new(store))
}

impl Lmdb {
    fn check(&self, rc: c_int) -> Result<()> {
        if rc == 0 {
            return Ok(());
        }
        // SAFETY: the texts of errors are constant.
        let text = unsafe { CStr::from_ptr((self.api.strerror)(rc)) };
        bail!("LMDB: {}", text.to_string_lossy())
    }

    fn begin(&self, flags: c_uint) -> Result<Txn> {
        let mut txn = ptr::null_mut();
        // SAFETY: the environment is open.
        self.check(unsafe { (self.api.txn_begin)(self.env, ptr::null_mut(), flags, &mut txn) })?;
        Ok(txn)
    }

    fn write(
        &self,
        mut each: impl FnMut(&mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let txn = self.begin(0)?;
        let mut put = |key: &[u8], value: &[u8]| {
            let (mut key, mut value) = (Val::of(key), Val::of(value));
            // SAFETY: the transaction is open; LMDB copies both.
            self.check(unsafe { (self.api.put)(txn, self.table, &mut key, &mut value, 0) })
        };
        if let Err(e) = each(&mut put) {
            // SAFETY: the transaction is open and not used afterwards.
            unsafe { (self.api.txn_abort)(txn) };
            return Err(e);
        }
        // SAFETY: as above.
        self.check(unsafe { (self.api.txn_commit)(txn) })
    }
}

impl Drop for Lmdb {
    fn drop(&mut self) {
        if !self.env.is_null() {
            // SAFETY: sessions borrow the store, so no transaction is open.
            unsafe { (self.api.env_close)(self.env) };
        }
    }
}

impl KeyValue for Lmdb {
    fn effective(&self) -> Result<Effective> {
        let (mut flags, mut parts) = (0, [0; 3]);
        let mut info = Info {
            address: ptr::null_mut(),
            map_size: 0,
            last_page: 0,
            last_transaction: 0,
            max_readers: 0,
            readers: 0,
        };
        // SAFETY: the environment is open, and all places are valid.
        unsafe {
            let [a, b, c] = &mut parts;
            (self.api.version)(a, b, c);
            self.check((self.api.env_get_flags)(self.env, &mut flags))?;
            self.check((self.api.env_info)(self.env, &mut info))?;
        }
        let nosync = flags & NOSYNC != 0;
        Ok(Effective {
            version: format!("LMDB {}.{}.{}", parts[0], parts[1], parts[2]),
            settings: values([
                ("sync", on_off(!nosync)),
                ("map_size", info.map_size.to_string()),
                ("max_readers", info.max_readers.to_string()),
            ]),
            durability: if nosync {
                "a crash of the process loses nothing; of the system or the power, recent \
                 transactions, and it may leave the file damaged"
            } else {
                "no crash loses a committed transaction"
            }
            .to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        let reader = self.begin(RDONLY)?;
        // SAFETY: the transaction was just begun.
        unsafe { (self.api.txn_reset)(reader) };
        let done = work(&mut Reader {
            store: self,
            reader,
        });
        // SAFETY: the transaction is not used afterwards.
        unsafe { (self.api.txn_abort)(reader) };
        done
    }

    fn flush(&self) -> Result<()> {
        // SAFETY: the environment is open.
        self.check(unsafe { (self.api.env_sync)(self.env, 1) })
    }
}

struct Reader<'s> {
    store: &'s Lmdb,
    /// A read transaction that is renewed for each read, which is LMDB's cheap way.
    reader: Txn,
}

impl Session for Reader<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.store.write(|put| put(key, value))
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        self.store
            .write(|put| pairs.iter().try_for_each(|(k, v)| put(k, v)))
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let api = &self.store.api;
        let (mut key, mut value) = (Val::of(key), Val::empty());
        // SAFETY: the transaction is renewed before use, and what it gives used before the reset.
        unsafe {
            self.store.check((api.txn_renew)(self.reader))?;
            let rc = (api.get)(self.reader, self.store.table, &mut key, &mut value);
            if rc == 0 {
                found(value.bytes());
            }
            (api.txn_reset)(self.reader);
            if rc != NOTFOUND {
                self.store.check(rc)?;
            }
            Ok(rc == 0)
        }
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let api = &self.store.api;
        let (mut key, mut value) = (Val::of(from), Val::empty());
        let mut cursor = ptr::null_mut();
        // SAFETY: as for `get`; the cursor is closed before the transaction is reset.
        unsafe {
            self.store.check((api.txn_renew)(self.reader))?;
            let mut rc = (api.cursor_open)(self.reader, self.store.table, &mut cursor);
            if rc == 0 {
                rc = (api.cursor_get)(cursor, &mut key, &mut value, SET_RANGE);
                while rc == 0 && each(key.bytes(), value.bytes()) {
                    rc = (api.cursor_get)(cursor, &mut key, &mut value, NEXT);
                }
                (api.cursor_close)(cursor);
            }
            (api.txn_reset)(self.reader);
            if rc != NOTFOUND {
                self.store.check(rc)?;
            }
        }
        Ok(true)
    }
}
