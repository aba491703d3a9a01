//! What a SQLite library reads from its files, seen where it asks the operating system.
//!
//! SQLite's VFS for unix calls the system through a table of functions that a program may replace
//! (`xSetSystemCall()`). Ours are `open`, `pread`, `pwrite` and `unlink`: they do what is asked, if
//! it is allowed, and note it. This is one layer below a VFS of our own, for two reasons: High
//! Performance SQLite reads runs of adjacent pages at once only where it finds the built-in VFS, so
//! another one would change what is to be seen; and four functions are less to get wrong than the
//! structures of a VFS. What High Performance SQLite reads without this table (long chains of
//! overflow pages) it reads with it as soon as `pread` has been replaced.
//!
//! ```text
//! read of the database   offset ÷ page size                    the pages, in order
//! read of the log        offset ÷ (frame header + page size)   the frames, whose headers say which pages
//! anything else          wal-index, temporary files            not counted
//! ```
//!
//! The same functions are a second lock on the door: nothing is opened for writing but temporary files
//! and the wal-index that others use already. Where there is a log and no wal-index, SQLite gets
//! one in memory, so that no file is left behind.
//!
//! There is one trace a process, because system calls are the process's.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::sys::Library;
use crate::viz::file::HEADER as FILE_HEADER;
use crate::viz::open::beside;
use crate::viz::wal::{FRAME, HEADER as LOG_HEADER};

/// Page numbers are handed on when there are so many,
const BATCH: usize = 16 * 1024;
/// or when the last ones were handed on so long ago.
const SOON: Duration = Duration::from_millis(100);
/// How the names of SQLite's temporary files begin.
const TEMPORARY: &[u8] = b"etilqs_";

/// What was counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Pages read, and how many of them from the log.
    pub pages: u64,
    pub from_log: u64,
    /// Calls of the system that read them.
    pub calls: u64,
    /// Temporary files, and bytes written to them.
    pub temporary_files: u64,
    pub temporary_bytes: u64,
}

/// Takes the numbers of pages read.
pub type Sink = Box<dyn FnMut(&[u32]) + Send>;

struct Trace {
    database: Vec<u8>,
    log: Vec<u8>,
    index: Vec<u8>,
    database_file: c_int,
    log_file: c_int,
    index_file: c_int,
    page_size: u64,
    /// Whether reads are noted.
    on: bool,
    counts: Counts,
    pages: Vec<u32>,
    handed_on: Instant,
    sink: Sink,
}

static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

/// The trace, whatever happened to a thread that had it.
fn trace() -> MutexGuard<'static, Option<Trace>> {
    TRACE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Replaces the library's system calls. `database` is the path that SQLite will give the system:
/// without symbolic links. Without a sink nothing is noted, and reading is left as it is: only the
/// door is locked.
pub fn install(library: &Library, database: &Path, sink: Option<Sink>) -> Result<()> {
    let notes = sink.is_some();
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    *trace() = Some(Trace {
        database: bytes(database),
        log: bytes(&beside(database, "-wal")),
        index: bytes(&beside(database, "-shm")),
        database_file: -1,
        log_file: -1,
        index_file: -1,
        page_size: 0,
        on: false,
        counts: Counts::default(),
        pages: Vec::with_capacity(BATCH + 64),
        handed_on: Instant::now(),
        sink: sink.unwrap_or_else(|| Box::new(|_| {})),
    });
    let vfs = library.default_vfs().cast::<Vfs>();
    // SAFETY: SQLite's own `sqlite3_vfs`, or null; its fields up to `version` are in every version.
    let version = unsafe { vfs.as_ref() }.map_or(0, |vfs| vfs.version);
    if version < 3 {
        bail!("the library's VFS does not let its system calls be seen");
    }
    let calls: [(&CStr, *const c_void); 6] = [
        (c"open", open as *const c_void),
        (c"pread", pread as *const c_void),
        (c"pread64", pread as *const c_void),
        (c"pwrite", pwrite as *const c_void),
        (c"pwrite64", pwrite as *const c_void),
        (c"unlink", unlink as *const c_void),
    ];
    for (name, function) in calls {
        if !notes && name.to_bytes().starts_with(b"p") {
            continue;
        }
        // SAFETY: a VFS of version 3 has the method; it keeps the address of a function that has the
        // type of the one it replaces, and is there as long as the process.
        let set = unsafe { (*vfs).set_system_call };
        if let Some(set) = set {
            // SAFETY: as above. A call that this build of SQLite does not use is an error code.
            unsafe { set(vfs, name.as_ptr(), function) };
        }
    }
    Ok(())
}

/// Begins to note what is read, in pages of `page_size` bytes.
pub fn begin(page_size: u32) {
    if let Some(trace) = trace().as_mut() {
        trace.page_size = page_size.into();
        trace.counts = Counts::default();
        trace.on = true;
    }
}

/// Ends noting, and hands on what was noted last.
pub fn end() -> Counts {
    let mut trace = trace();
    let Some(trace) = trace.as_mut() else {
        return Counts::default();
    };
    trace.on = false;
    trace.hand_on();
    trace.counts
}

/// Hands on what has been noted so far.
pub fn hand_on() {
    if let Some(trace) = trace().as_mut() {
        trace.hand_on();
    }
}

impl Trace {
    fn hand_on(&mut self) {
        if !self.pages.is_empty() {
            (self.sink)(&self.pages);
            self.pages.clear();
        }
        self.handed_on = Instant::now();
    }

    /// Notes a read of `bytes` bytes.
    fn note(&mut self, file: c_int, at: u64, bytes: u64) {
        if !self.on || bytes == 0 || self.page_size == 0 {
            return;
        }
        let before = self.pages.len();
        if file == self.database_file {
            // The header alone is looked at to see whether the file has changed.
            if at + bytes <= FILE_HEADER as u64 {
                return;
            }
            let (first, last) = (at / self.page_size, (at + bytes - 1) / self.page_size);
            let number = |n: u64| u32::try_from(n + 1).unwrap_or(u32::MAX);
            self.pages.extend((first..=last).map(number));
        } else if file == self.log_file {
            self.note_frames(file, at, bytes);
            self.counts.from_log += (self.pages.len() - before) as u64;
        }
        let read = self.pages.len() - before;
        if read > 0 {
            self.counts.calls += 1;
            self.counts.pages += read as u64;
        }
        let due = self.pages.len().is_multiple_of(64) && self.handed_on.elapsed() > SOON;
        if self.pages.len() >= BATCH || due {
            self.hand_on();
        }
    }

    /// Notes the pages in the frames that bytes of the log are of. What is only of their headers
    /// does not count.
    fn note_frames(&mut self, file: c_int, at: u64, bytes: u64) {
        let size = FRAME as u64 + self.page_size;
        let mut frame = at.saturating_sub(LOG_HEADER as u64) / size;
        loop {
            let start = LOG_HEADER as u64 + frame * size;
            if start + FRAME as u64 >= at + bytes {
                break;
            }
            if start + size > at {
                let mut number = [0; 4];
                // SAFETY: the buffer has four bytes.
                let read = unsafe {
                    libc::pread(file, number.as_mut_ptr().cast(), 4, start as libc::off_t)
                };
                if read == 4 {
                    self.pages.push(u32::from_be_bytes(number));
                }
            }
            frame += 1;
        }
    }
}

/// The beginning of `sqlite3_vfs`, as `sqlite3.h` has it, up to what is used here.
#[repr(C)]
struct Vfs {
    version: c_int,
    file_size: c_int,
    longest_path: c_int,
    next: *mut Vfs,
    name: *const c_char,
    data: *mut c_void,
    /// xOpen, xDelete, xAccess, xFullPathname; xDlOpen, xDlError, xDlSym, xDlClose; xRandomness,
    /// xSleep, xCurrentTime, xGetLastError.
    methods: [*const c_void; 12],
    /// Since version 2.
    current_time: *const c_void,
    /// Since version 3.
    set_system_call: Option<unsafe extern "C" fn(*mut Vfs, *const c_char, *const c_void) -> c_int>,
}

fn refuse() -> c_int {
    // SAFETY: the address of this thread's errno.
    unsafe { *libc::__errno_location() = libc::EACCES };
    -1
}

fn is_temporary(path: &[u8]) -> bool {
    let name = Path::new(OsStr::from_bytes(path)).file_name();
    name.is_some_and(|name| name.as_bytes().starts_with(TEMPORARY))
}

/// open(): what is written to is a temporary file, or the wal-index.
extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    if path.is_null() {
        return refuse();
    }
    // SAFETY: SQLite gives a path that ends with a NUL.
    let name = unsafe { CStr::from_ptr(path) }.to_bytes();
    let mut trace = trace();
    let Some(trace) = trace.as_mut() else {
        return refuse();
    };
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    if name == trace.index {
        // SAFETY: as asked, except that nothing is made.
        let mut file = unsafe { libc::open(path, flags & !libc::O_CREAT, mode) };
        if file < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT) {
            // SAFETY: a plain system call.
            file = unsafe { libc::memfd_create(c"wal-index".as_ptr(), libc::MFD_CLOEXEC) };
        }
        trace.index_file = file;
        return file;
    }
    let temporary = is_temporary(name) && flags & libc::O_EXCL != 0;
    if writes && !temporary {
        // SQLite then tries to open the log for reading.
        return refuse();
    }
    // SAFETY: as SQLite asked.
    let file = unsafe { libc::open(path, flags, mode) };
    if file >= 0 {
        // Numbers of files are used again, after what had them was closed.
        for known in [
            &mut trace.database_file,
            &mut trace.log_file,
            &mut trace.index_file,
        ] {
            if *known == file {
                *known = -1;
            }
        }
        if name == trace.database {
            trace.database_file = file;
        } else if name == trace.log {
            trace.log_file = file;
        } else if temporary {
            trace.counts.temporary_files += 1;
        }
    }
    file
}

/// pread(), noted.
extern "C" fn pread(
    file: c_int,
    to: *mut c_void,
    bytes: libc::size_t,
    at: libc::off_t,
) -> libc::ssize_t {
    // SAFETY: as SQLite asked.
    let read = unsafe { libc::pread(file, to, bytes, at) };
    if let (Ok(read), Ok(at)) = (u64::try_from(read), u64::try_from(at))
        && let Some(trace) = trace().as_mut()
    {
        trace.note(file, at, read);
    }
    read
}

/// pwrite(), counted.
extern "C" fn pwrite(
    file: c_int,
    from: *const c_void,
    bytes: libc::size_t,
    at: libc::off_t,
) -> libc::ssize_t {
    // SAFETY: as SQLite asked; `open` saw to it which files can be written to.
    let written = unsafe { libc::pwrite(file, from, bytes, at) };
    if let Ok(written) = u64::try_from(written)
        && let Some(trace) = trace().as_mut()
        && file != trace.index_file
    {
        trace.counts.temporary_bytes += written;
    }
    written
}

/// unlink(), of temporary files.
extern "C" fn unlink(path: *const c_char) -> c_int {
    if path.is_null() {
        return refuse();
    }
    // SAFETY: SQLite gives a path that ends with a NUL.
    if !is_temporary(unsafe { CStr::from_ptr(path) }.to_bytes()) {
        return refuse();
    }
    // SAFETY: as SQLite asked.
    unsafe { libc::unlink(path) }
}
