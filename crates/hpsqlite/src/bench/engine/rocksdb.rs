//! RocksDB (`librocksdb.so`, its C interface): a log-structured merge tree.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use anyhow::{Result, bail};

use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan, api, c_path, load, on_off};

const NAMES: [&str; 5] = [
    "librocksdb.so.10.2",
    "librocksdb.so.9.10",
    "librocksdb.so.8.9",
    "librocksdb.so.7.8",
    "librocksdb.so",
];

/// What is told of the settings that it writes beside its data.
const TOLD: [&str; 5] = [
    "compression",
    "write_buffer_size",
    "block_size",
    "use_fsync",
    "max_background_jobs",
];

type Raw = *mut c_void;
type Text = *const c_char;
type Error = *mut *mut c_char;

api! { "rocksdb_" {
    options_create() -> Raw;
    options_destroy(Raw);
    options_set_create_if_missing(Raw, c_uchar);
    open(Raw, Text, Error) -> Raw;
    close(Raw);
    free(*mut c_void);
    writeoptions_create() -> Raw;
    writeoptions_destroy(Raw);
    writeoptions_set_sync(Raw, c_uchar);
    writeoptions_get_sync(Raw) -> c_uchar;
    readoptions_create() -> Raw;
    readoptions_destroy(Raw);
    put(Raw, Raw, Text, usize, Text, usize, Error);
    get_pinned(Raw, Raw, Text, usize, Error) -> Raw;
    pinnableslice_value(Raw, *mut usize) -> Text;
    pinnableslice_destroy(Raw);
    writebatch_create() -> Raw;
    writebatch_put(Raw, Text, usize, Text, usize);
    writebatch_destroy(Raw);
    write(Raw, Raw, Raw, Error);
    create_iterator(Raw, Raw) -> Raw;
    iter_seek(Raw, Text, usize);
    iter_valid(Raw) -> c_uchar;
    iter_next(Raw);
    iter_key(Raw, *mut usize) -> Text;
    iter_value(Raw, *mut usize) -> Text;
    iter_get_error(Raw, Error);
    iter_destroy(Raw);
    flushoptions_create() -> Raw;
    flushoptions_destroy(Raw);
    flush(Raw, Raw, Error);
} }

struct Rocks {
    api: Api,
    db: Raw,
    write: Raw,
    read: Raw,
    folder: PathBuf,
}

// SAFETY: the database may be used by all threads, and so may options that do not change.
unsafe impl Sync for Rocks {}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    let sync = plan.sync()? == Some(true);
    let library = load(
        &NAMES,
        "RocksDB",
        "librocksdb7.8 (in Debian 13: librocksdb9.10)",
    )?;
    // SAFETY: it is RocksDB's library by its name.
    let api = unsafe { Api::resolve(library)? };
    let folder = c_path(&plan.folder)?;
    // SAFETY: options are made, used and destroyed in this order; the name ends with a NUL.
    unsafe {
        let options = (api.options_create)();
        (api.options_set_create_if_missing)(options, 1);
        let mut error = ptr::null_mut();
        let db = (api.open)(options, folder.as_ptr(), &mut error);
        (api.options_destroy)(options);
        check(&api, error)?;
        let write = (api.writeoptions_create)();
        (api.writeoptions_set_sync)(write, c_uchar::from(sync));
        let read = (api.readoptions_create)();
        Ok(Box::new(Rocks {
            api,
            db,
            write,
            read,
            folder: plan.folder.clone(),
        }))
    }
}

/// An error that the library gave, if it did.
fn check(api: &Api, error: *mut c_char) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the library gave a string that is ours to free.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        (api.free)(error.cast());
        text
    };
    bail!("RocksDB: {text}")
}

/// The settings in the newest of the files that the engine writes for people to read.
fn settings(folder: &Path) -> Result<BTreeMap<String, String>> {
    let newest = super::files(folder)?
        .into_iter()
        .filter(|f| {
            f.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("OPTIONS-"))
        })
        .max();
    let Some(file) = newest else {
        return Ok(BTreeMap::new());
    };
    let text = std::fs::read_to_string(file)?;
    Ok(text
        .lines()
        .filter_map(|line| line.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

impl Drop for Rocks {
    fn drop(&mut self) {
        // SAFETY: no session is left.
        unsafe {
            (self.api.close)(self.db);
            (self.api.writeoptions_destroy)(self.write);
            (self.api.readoptions_destroy)(self.read);
        }
    }
}

impl KeyValue for Rocks {
    fn effective(&self) -> Result<Effective> {
        let all = settings(&self.folder)?;
        let version = all.get("rocksdb_version").map_or("", String::as_str);
        // SAFETY: the options are alive.
        let sync = unsafe { (self.api.writeoptions_get_sync)(self.write) } != 0;
        let mut told: BTreeMap<String, String> = TOLD
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone())))
            .collect();
        told.insert("sync".to_owned(), on_off(sync));
        Ok(Effective {
            version: format!("RocksDB {version}").trim_end().to_owned(),
            settings: told,
            durability: if sync {
                "no crash loses a committed write"
            } else {
                "a crash of the process loses nothing; of the system or the power, recent writes"
            }
            .to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut RocksThread(self))
    }

    fn flush(&self) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the database is open; it waits for the end unless told otherwise.
        unsafe {
            let options = (self.api.flushoptions_create)();
            (self.api.flush)(self.db, options, &mut error);
            (self.api.flushoptions_destroy)(options);
        }
        check(&self.api, error)
    }
}

struct RocksThread<'s>(&'s Rocks);

/// # Safety
/// `n` bytes are at `at` for as long as `'a`.
unsafe fn bytes<'a>(at: Text, n: usize) -> &'a [u8] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts(at.cast(), n) }
}

impl Session for RocksThread<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let store = self.0;
        let mut error = ptr::null_mut();
        // SAFETY: the database is open and copies both.
        unsafe {
            (store.api.put)(
                store.db,
                store.write,
                key.as_ptr().cast(),
                key.len(),
                value.as_ptr().cast(),
                value.len(),
                &mut error,
            );
        }
        check(&store.api, error)
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        let store = self.0;
        let mut error = ptr::null_mut();
        // SAFETY: the batch lives from its creation to its destruction and copies what it is given.
        unsafe {
            let batch = (store.api.writebatch_create)();
            for (key, value) in pairs {
                (store.api.writebatch_put)(
                    batch,
                    key.as_ptr().cast(),
                    key.len(),
                    value.as_ptr().cast(),
                    value.len(),
                );
            }
            (store.api.write)(store.db, store.write, batch, &mut error);
            (store.api.writebatch_destroy)(batch);
        }
        check(&store.api, error)
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let store = self.0;
        let mut error = ptr::null_mut();
        let at = key.as_ptr().cast();
        // SAFETY: the database is open; the slice is used before it is destroyed.
        unsafe {
            let slice = (store.api.get_pinned)(store.db, store.read, at, key.len(), &mut error);
            check(&store.api, error)?;
            if slice.is_null() {
                return Ok(false);
            }
            let mut size = 0;
            let value = (store.api.pinnableslice_value)(slice, &mut size);
            found(bytes(value, size));
            (store.api.pinnableslice_destroy)(slice);
        }
        Ok(true)
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let store = self.0;
        let mut error = ptr::null_mut();
        // SAFETY: the iterator is valid where it is asked, and what it gives stays until it moves.
        unsafe {
            let iterator = (store.api.create_iterator)(store.db, store.read);
            (store.api.iter_seek)(iterator, from.as_ptr().cast(), from.len());
            while (store.api.iter_valid)(iterator) != 0 {
                let (mut n, mut m) = (0, 0);
                let key = (store.api.iter_key)(iterator, &mut n);
                let value = (store.api.iter_value)(iterator, &mut m);
                if !each(bytes(key, n), bytes(value, m)) {
                    break;
                }
                (store.api.iter_next)(iterator);
            }
            (store.api.iter_get_error)(iterator, &mut error);
            (store.api.iter_destroy)(iterator);
        }
        check(&store.api, error)?;
        Ok(true)
    }
}
