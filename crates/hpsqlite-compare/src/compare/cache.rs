//! Making the operating system forget a file, and making sure that it did; or read it again.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::interrupt;

/// Up to this share of a file may stay cached: the kernel keeps a page that is just in use.
const TOLERATED: f64 = 0.01;
/// Files of at most this size are asked for many at a time: the kernel reads them with one request
/// each, in the same pieces of memory, whoever asks.
const SMALL: u64 = 64 << 10;
/// So many of them: enough to keep a device busy.
const AT_A_TIME: usize = 256;
/// Of larger files, so much at a time.
const PIECE: usize = 1 << 20;

/// Why something cannot be read cold here, and what it would need.
#[derive(Debug)]
pub struct StaysWarm(pub String);

impl std::fmt::Display for StaysWarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StaysWarm {}

/// Drops the OS's cached pages of the files, or says what it would need ([`StaysWarm`]).
///
/// First each file by itself, which any user may do; if pages stay (another
/// program has them mapped, say), all of the system's cache, which only root may.
pub fn drop_files(files: &[&Path]) -> Result<()> {
    let files: Vec<&&Path> = files.iter().filter(|f| f.exists()).collect();
    if let Some(file) = files.iter().find(|f| in_memory(f)) {
        bail!(StaysWarm(format!(
            "{} is on a file system in memory, where nothing is ever cold",
            file.display()
        )));
    }
    for file in &files {
        forget(file).with_context(|| format!("cannot drop {} from the cache", file.display()))?;
    }
    if files.iter().all(|f| is_cold(f)) {
        return Ok(());
    }
    let all = std::fs::write("/proc/sys/vm/drop_caches", "1");
    match files.iter().find(|f| !is_cold(f)) {
        None => Ok(()),
        Some(file) => bail!(StaysWarm(format!(
            "{} stays in the system's cache{}",
            file.display(),
            match all {
                Err(_) =>
                    ": run as root, or as the file's owner with no other program using it, and keep it on a disk",
                Ok(()) => ": another program has it mapped",
            }
        ))),
    }
}

/// Drops names and inodes of all file systems, with all else that the system has cached; only
/// root may.
pub fn drop_names() -> std::io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

/// Whether the file is on a tmpfs or ramfs.
pub fn in_memory(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    // SAFETY: fstatfs fills the structure it is given.
    let kind = unsafe {
        let mut fs: libc::statfs = std::mem::zeroed();
        libc::fstatfs(file.as_raw_fd(), &mut fs);
        fs.f_type
    };
    // As plain numbers: C libraries differ in the type of the field.
    let (tmpfs, ramfs) = (0x0102_1994, 0x8584_58f6);
    kind == tmpfs || kind == ramfs
}

fn forget(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    advise(&file, libc::POSIX_FADV_DONTNEED);
    if !is_cold(path) {
        // Only clean pages can be dropped. Of files that are clean this is not asked, because many
        // file systems wait for the device then all the same.
        file.sync_data()?;
        advise(&file, libc::POSIX_FADV_DONTNEED);
    }
    Ok(())
}

fn advise(file: &File, advice: libc::c_int) {
    // SAFETY: a plain system call on an open file; advice that is not followed does no harm.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
}

/// Has the system read files into its cache anew, in this order.
///
/// How fast a cached file is read depends, by half, on which memory it got when it was written or
/// read. Files can only be compared that got theirs in the same way, and several times.
pub fn read_anew(files: &[PathBuf]) -> Result<()> {
    let open = |path: &PathBuf| {
        File::open(path).with_context(|| format!("cannot read {}", path.display()))
    };
    for path in files {
        interrupt::check()?;
        forget(path).with_context(|| format!("cannot drop {} from the cache", path.display()))?;
    }
    let mut buffer = vec![0; PIECE];
    for files in files.chunks(AT_A_TIME) {
        for path in files {
            let file = open(path)?;
            if file.metadata()?.len() <= SMALL {
                advise(&file, libc::POSIX_FADV_WILLNEED);
            }
        }
        for path in files {
            interrupt::check()?;
            let mut file = open(path)?;
            while file
                .read(&mut buffer)
                .with_context(|| format!("cannot read {}", path.display()))?
                > 0
            {}
        }
    }
    Ok(())
}

/// Whether hardly a page of the file is in memory; false where the kernel does not tell.
fn is_cold(path: &Path) -> bool {
    let Ok((resident, pages)) = residency(path) else {
        return false;
    };
    resident as f64 <= (pages as f64 * TOLERATED).max(1.0)
}

/// How many pages of the file are in memory, and how many it has.
fn residency(path: &Path) -> Result<(usize, usize)> {
    let file = File::open(path)?;
    let len = usize::try_from(file.metadata()?.len())?;
    let pages = resident(&file, 0, len)?;
    Ok((pages.iter().filter(|&&there| there).count(), pages.len()))
}

/// Which of the system's pages of a range of a file are in memory; the range starts with a page.
pub fn resident(file: &File, at: u64, len: usize) -> Result<Vec<bool>> {
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: a new mapping that nobody reads through; mincore fills one byte a page
    // of the vector, which has as many; then it is unmapped.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let map = libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            at as libc::off_t,
        );
        if map == libc::MAP_FAILED {
            bail!(std::io::Error::last_os_error());
        }
        let mut state = vec![0u8; len.div_ceil(page)];
        let rc = libc::mincore(map, len, state.as_mut_ptr());
        libc::munmap(map, len);
        if rc != 0 {
            bail!(std::io::Error::last_os_error());
        }
        Ok(state.iter().map(|s| s & 1 == 1).collect())
    }
}
