//! QDBM (`libqdbm.so.14`): Depot, a hash table in a file, and Villa, a B+ tree upon Depot.
//!
//! It has one handle a file and no locks: threads take turns. A bucket a pair is what its manual
//! advises for Depot; the option `buckets` says otherwise.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Result, bail};

use super::{
    Effective, InSession, KeyValue, Pair, Session, StorePlan, api, c_path, load, not_installed,
    on_off, values,
};

const WRITER: c_int = 2;
const CREATE: c_int = 4;
const OVERWRITE: c_int = 0;
const FORWARD: c_int = 0;

type Depot = *mut c_void;
type Villa = *mut c_void;
type Compare = *const c_void;

api! { "" {
    dpecodeptr() -> *mut c_int;
    dperrmsg(c_int) -> *const c_char;
    dpopen(*const c_char, c_int, c_int) -> Depot;
    dpclose(Depot) -> c_int;
    dpput(Depot, *const c_char, c_int, *const c_char, c_int, c_int) -> c_int;
    dpgetwb(Depot, *const c_char, c_int, c_int, c_int, *mut c_char) -> c_int;
    dpsync(Depot) -> c_int;
    dpbnum(Depot) -> c_int;
    vlopen(*const c_char, c_int, Compare) -> Villa;
    vlclose(Villa) -> c_int;
    vlput(Villa, *const c_char, c_int, *const c_char, c_int, c_int) -> c_int;
    vlgetcache(Villa, *const c_char, c_int, *mut c_int) -> *const c_char;
    vlsync(Villa) -> c_int;
    vltranbegin(Villa) -> c_int;
    vltrancommit(Villa) -> c_int;
    vltranabort(Villa) -> c_int;
    vlcurjump(Villa, *const c_char, c_int, c_int) -> c_int;
    vlcurnext(Villa) -> c_int;
    vlcurkeycache(Villa, *mut c_int) -> *const c_char;
    vlcurvalcache(Villa, *mut c_int) -> *const c_char;
} }

/// `DP_ENOITEM`
const NO_ITEM: c_int = 5;

#[derive(Clone, Copy)]
enum Handle {
    Depot(Depot),
    Villa(Villa),
}

struct Qdbm {
    api: Api,
    version: String,
    sync: bool,
    value_size: usize,
    handle: Mutex<Handle>,
}

// SAFETY: the handle is used only by who holds its mutex.
unsafe impl Sync for Qdbm {}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let kind = plan.choice("kind", &["depot", "villa"])?;
    let buckets = plan.number("buckets")?.unwrap_or(plan.count);
    let library = load(&["libqdbm.so.14"], "QDBM", "libqdbm14")?;
    // SAFETY: two variables of the library: its version, and the function that compares as memcmp does.
    let (version, compare) = unsafe {
        let missing = |_| not_installed("A QDBM with these variables", "libqdbm14");
        let version = **library
            .get::<*const *const c_char>(c"dpversion")
            .map_err(missing)?;
        let compare = **library
            .get::<*const Compare>(c"VL_CMPLEX")
            .map_err(missing)?;
        (CStr::from_ptr(version), compare)
    };
    let version = format!("QDBM {}", version.to_string_lossy());
    // SAFETY: it is QDBM's library by its name.
    let api = unsafe { Api::resolve(library)? };
    let file = c_path(&plan.folder.join(kind))?;
    // SAFETY: the name ends with a NUL.
    let handle = unsafe {
        if kind == "villa" {
            Handle::Villa((api.vlopen)(file.as_ptr(), WRITER | CREATE, compare))
        } else {
            let buckets = c_int::try_from(buckets)?;
            Handle::Depot((api.dpopen)(file.as_ptr(), WRITER | CREATE, buckets))
        }
    };
    let opened = match handle {
        Handle::Depot(h) | Handle::Villa(h) => !h.is_null(),
    };
    if !opened {
        bail!("QDBM: {}", message(&api));
    }
    Ok(Box::new(Qdbm {
        api,
        version,
        sync: plan.sync()? == Some(true),
        value_size: plan.value_size,
        handle: Mutex::new(handle),
    }))
}

/// The text of the last error of this thread.
fn message(api: &Api) -> String {
    // SAFETY: the texts of errors are constant.
    unsafe { CStr::from_ptr((api.dperrmsg)(*(api.dpecodeptr)())) }
        .to_string_lossy()
        .into_owned()
}

/// A string of bytes for QDBM.
fn parts(bytes: &[u8]) -> Result<(*const c_char, c_int)> {
    Ok((bytes.as_ptr().cast(), c_int::try_from(bytes.len())?))
}

impl Qdbm {
    fn handle(&self) -> MutexGuard<'_, Handle> {
        // A thread that panicked left nothing half-done of ours.
        self.handle.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn check(&self, ok: c_int) -> Result<()> {
        if ok == 0 {
            bail!("QDBM: {}", message(&self.api));
        }
        Ok(())
    }

    /// After a call that found nothing: false, or the error if it was one.
    fn nothing(&self) -> Result<bool> {
        // SAFETY: the place of the code of the last error.
        if unsafe { *(self.api.dpecodeptr)() } == NO_ITEM {
            return Ok(false);
        }
        bail!("QDBM: {}", message(&self.api))
    }

    fn put(&self, handle: Handle, key: &[u8], value: &[u8]) -> Result<()> {
        let ((key, n), (value, m)) = (parts(key)?, parts(value)?);
        // SAFETY: the handle is open and ours alone; the library copies both.
        self.check(unsafe {
            match handle {
                Handle::Depot(h) => (self.api.dpput)(h, key, n, value, m, OVERWRITE),
                Handle::Villa(h) => (self.api.vlput)(h, key, n, value, m, OVERWRITE),
            }
        })
    }

    fn sync(&self, handle: Handle) -> Result<()> {
        // SAFETY: the handle is open and ours alone.
        self.check(unsafe {
            match handle {
                Handle::Depot(h) => (self.api.dpsync)(h),
                Handle::Villa(h) => (self.api.vlsync)(h),
            }
        })
    }
}

impl Drop for Qdbm {
    fn drop(&mut self) {
        // SAFETY: no session is left.
        unsafe {
            match *self.handle() {
                Handle::Depot(h) => (self.api.dpclose)(h),
                Handle::Villa(h) => (self.api.vlclose)(h),
            }
        };
    }
}

impl KeyValue for Qdbm {
    fn effective(&self) -> Result<Effective> {
        let mut settings = values([("sync", on_off(self.sync))]);
        let kind = match *self.handle() {
            Handle::Depot(h) => {
                // SAFETY: the handle is open.
                let buckets = unsafe { (self.api.dpbnum)(h) };
                settings.insert("buckets".to_owned(), buckets.to_string());
                "depot"
            }
            Handle::Villa(_) => "villa",
        };
        settings.insert("kind".to_owned(), kind.to_owned());
        Ok(Effective {
            version: format!("{} ({kind})", self.version),
            settings,
            durability: if self.sync {
                "what was written is on the device; a crash in the middle of a write may leave the file damaged"
            } else {
                "a crash of the process, the system or the power loses what was not flushed, and \
                 may leave the file damaged"
            }
            .to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut QdbmThread {
            store: self,
            value: vec![0; self.value_size],
        })
    }

    fn flush(&self) -> Result<()> {
        self.sync(*self.handle())
    }
}

struct QdbmThread<'s> {
    store: &'s Qdbm,
    value: Vec<u8>,
}

impl Session for QdbmThread<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let handle = self.store.handle();
        self.store.put(*handle, key, value)?;
        if self.store.sync {
            self.store.sync(*handle)?;
        }
        Ok(())
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        let handle = self.store.handle();
        let api = &self.store.api;
        if let Handle::Villa(h) = *handle {
            // SAFETY: the handle is open and ours alone.
            self.store.check(unsafe { (api.vltranbegin)(h) })?;
        }
        let mut done = pairs
            .iter()
            .try_for_each(|(k, v)| self.store.put(*handle, k, v));
        if let Handle::Villa(h) = *handle {
            // SAFETY: as above; a transaction was begun.
            let ended = unsafe {
                if done.is_ok() {
                    (api.vltrancommit)(h)
                } else {
                    (api.vltranabort)(h)
                }
            };
            done = done.and_then(|()| self.store.check(ended));
        }
        done?;
        if self.store.sync {
            self.store.sync(*handle)?;
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let handle = self.store.handle();
        let api = &self.store.api;
        let (key, n) = parts(key)?;
        let mut size = 0;
        match *handle {
            Handle::Depot(h) => {
                let room = c_int::try_from(self.value.len())?;
                let to = self.value.as_mut_ptr().cast();
                // SAFETY: the handle is ours alone, and the buffer as large as is told.
                size = unsafe { (api.dpgetwb)(h, key, n, 0, room, to) };
                let Ok(size) = usize::try_from(size) else {
                    return self.store.nothing();
                };
                found(&self.value[..size]);
            }
            Handle::Villa(h) => {
                // SAFETY: the handle is ours alone; what it gives stays until the next call.
                let value = unsafe {
                    let at = (api.vlgetcache)(h, key, n, &mut size);
                    if at.is_null() {
                        return self.store.nothing();
                    }
                    bytes(at, size)
                };
                found(value);
            }
        }
        Ok(true)
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let handle = self.store.handle();
        let Handle::Villa(h) = *handle else {
            return Ok(false);
        };
        let api = &self.store.api;
        let (from, n) = parts(from)?;
        // SAFETY: the handle is ours alone, the cursor stands on a pair when it is asked for one,
        // and what it gives stays until the cursor moves.
        unsafe {
            let mut there = (api.vlcurjump)(h, from, n, FORWARD) != 0;
            while there {
                let (mut k, mut v) = (0, 0);
                let key = (api.vlcurkeycache)(h, &mut k);
                let value = (api.vlcurvalcache)(h, &mut v);
                if key.is_null() || value.is_null() {
                    break;
                }
                if !each(bytes(key, k), bytes(value, v)) {
                    return Ok(true);
                }
                there = (api.vlcurnext)(h) != 0;
            }
        }
        self.store.nothing()?;
        Ok(true)
    }
}

/// # Safety
/// `n` bytes are at `at` for as long as `'a`.
unsafe fn bytes<'a>(at: *const c_char, n: c_int) -> &'a [u8] {
    // SAFETY: by the caller's promise; sizes are not negative.
    unsafe { std::slice::from_raw_parts(at.cast(), n.max(0) as usize) }
}
