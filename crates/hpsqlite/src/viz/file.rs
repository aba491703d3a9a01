//! A database file as bytes: its header, its pages with the log laid over them.
//!
//! The file is opened read-only and no lock is taken, so it may be in use, and may change while it
//! is read. [`Image::changed`] tells whether it did.

use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::open::{beside, open};
use super::record::Encoding;
use super::wal::{FRAME, HEADER as LOG_HEADER, Wal, be32};

/// The first bytes of every database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of the file's header.
pub const HEADER: usize = 100;
/// Byte of the file that SQLite locks; the page with it holds nothing.
const LOCK_BYTE: u64 = 1 << 30;
/// Bits of information in a byte from which data are taken for encrypted.
const RANDOM: f64 = 7.2;

/// What page 1 says of the file.
#[derive(Debug, Clone, Serialize)]
pub struct Header {
    pub page_size: u32,
    /// Bytes at the end of each page that SQLite leaves to extensions.
    pub reserved: u32,
    /// 1 for a rollback journal, 2 for WAL.
    pub write_version: u8,
    pub read_version: u8,
    pub change_counter: u32,
    /// Pages of the database; only counts if `version_valid_for` is the change counter.
    pub pages: u32,
    pub first_trunk: u32,
    pub free_pages: u32,
    pub schema_cookie: u32,
    pub schema_format: u32,
    pub cache_size: i32,
    /// Not 0: the file has pointer maps, because of auto_vacuum.
    pub largest_root: u32,
    pub encoding: Encoding,
    pub user_version: u32,
    pub incremental_vacuum: bool,
    pub application_id: u32,
    pub version_valid_for: u32,
    /// The SQLite that wrote last, as 3054001.
    pub sqlite_version: u32,
}

impl Header {
    fn decode(bytes: &[u8; HEADER]) -> Result<Header> {
        let page_size = match u32::from(bytes[16]) << 8 | u32::from(bytes[17]) {
            1 => 65536,
            n => n,
        };
        if !page_size.is_power_of_two() || !(512..=65536).contains(&page_size) {
            bail!("a damaged SQLite database: its header gives a page size of {page_size} bytes");
        }
        let reserved = u32::from(bytes[20]);
        if page_size - reserved < 480 {
            bail!(
                "a damaged SQLite database: its header leaves {} bytes of a page",
                page_size - reserved
            );
        }
        Ok(Header {
            page_size,
            reserved,
            write_version: bytes[18],
            read_version: bytes[19],
            change_counter: be32(bytes, 24),
            pages: be32(bytes, 28),
            first_trunk: be32(bytes, 32),
            free_pages: be32(bytes, 36),
            schema_cookie: be32(bytes, 40),
            schema_format: be32(bytes, 44),
            cache_size: be32(bytes, 48) as i32,
            largest_root: be32(bytes, 52),
            encoding: match be32(bytes, 56) {
                2 => Encoding::Utf16le,
                3 => Encoding::Utf16be,
                _ => Encoding::Utf8,
            },
            user_version: be32(bytes, 60),
            incremental_vacuum: be32(bytes, 64) != 0,
            application_id: be32(bytes, 68),
            version_valid_for: be32(bytes, 92),
            sqlite_version: be32(bytes, 96),
        })
    }

    /// Bytes of a page that SQLite uses.
    pub fn usable(&self) -> usize {
        (self.page_size - self.reserved) as usize
    }

    /// PRAGMA auto_vacuum in a word.
    pub fn auto_vacuum(&self) -> &'static str {
        match (self.largest_root, self.incremental_vacuum) {
            (0, _) => "none",
            (_, false) => "full",
            (_, true) => "incremental",
        }
    }

    /// The page that SQLite never uses, because locks are taken there.
    pub fn lock_page(&self) -> u32 {
        (LOCK_BYTE / u64::from(self.page_size)) as u32 + 1
    }

    /// The pointer map that page `n` is in, itself included.
    pub fn pointer_map_of(&self, n: u32) -> u32 {
        let group = self.usable() as u32 / 5 + 1;
        let map = (n.saturating_sub(2)) / group * group + 2;
        map + u32::from(map == self.lock_page())
    }
}

/// What tells whether a log was written to.
#[derive(Debug, PartialEq, Eq)]
struct LogState {
    bytes: u64,
    head: [u8; LOG_HEADER],
    /// What is before the page of the first frame that did not hold.
    next: [u8; FRAME],
}

/// Which version of a page is meant, where the log has newer ones than the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// As it was last committed.
    #[default]
    Newest,
    /// As it is in the database file.
    File,
    /// As it is in a frame of the log, counted from 0.
    Frame(u32),
}

/// A database file, opened for looking at.
#[derive(Debug)]
pub struct Image {
    pub path: PathBuf,
    file: File,
    pub header: Header,
    /// Bytes of the file.
    pub bytes: u64,
    /// Pages of the database.
    pub pages: u32,
    pub wal: Option<Wal>,
    /// What is wrong with the file as a whole.
    pub problems: Vec<String>,
    /// What a reader should know of the file.
    pub notes: Vec<String>,
    first_bytes: [u8; HEADER],
    log_then: Option<LogState>,
}

impl Image {
    /// Opens a database; an error is one line that says what the file is instead.
    pub fn open(path: &Path) -> Result<Image> {
        let shown = path.display();
        if path.is_dir() {
            bail!("{shown} is a folder");
        }
        let file = open(path).with_context(|| format!("cannot open {shown}"))?;
        let bytes = file.metadata()?.len();
        let mut first_bytes = [0; HEADER];
        let n = read_at(&file, &mut first_bytes, 0).with_context(|| format!("{shown}"))?;
        if n == 0 {
            bail!("{shown} is empty: SQLite takes that for a database without a table");
        }
        if n < HEADER || first_bytes[..16] != *MAGIC {
            bail!("{shown} {}", what_instead(&file)?);
        }
        let header = Header::decode(&first_bytes).with_context(|| format!("{shown}"))?;
        let mut image = Image {
            path: path.to_owned(),
            file,
            header,
            bytes,
            pages: 0,
            wal: None,
            problems: Vec::new(),
            notes: Vec::new(),
            first_bytes,
            log_then: None,
        };
        image
            .lay_log_over()
            .with_context(|| format!("{shown}-wal"))?;
        image.log_then = image.log_now();
        image.count_pages();
        if journal_is_hot(path) {
            image.notes.push(
                "There is a rollback journal beside the file: a transaction is being written, or \
                 was cut off, and SQLite would undo it. What is shown may be half of it."
                    .to_owned(),
            );
        }
        Ok(image)
    }

    fn lay_log_over(&mut self) -> Result<()> {
        let Some(wal) = Wal::read(&self.path)? else {
            return Ok(());
        };
        if let Some(damage) = &wal.damage {
            self.problems
                .push(format!("the write-ahead log beside the file: {damage}"));
        }
        if wal.committed > 0 && wal.page_size != self.header.page_size {
            self.problems.push(format!(
                "the write-ahead log beside the file has pages of {} bytes: it is of another \
                 database, and is left out",
                wal.page_size
            ));
            return Ok(());
        }
        let first = wal.newest(1);
        self.wal = Some(wal);
        if first.is_some() {
            let mut page = vec![0; self.header.page_size as usize];
            self.read(1, &mut page)?;
            let mut bytes = [0; HEADER];
            bytes.copy_from_slice(&page[..HEADER]);
            self.header = Header::decode(&bytes)?;
        }
        Ok(())
    }

    /// The size of the database, found as SQLite does.
    fn count_pages(&mut self) {
        let size = u64::from(self.header.page_size);
        let (of, there) = match self.wal.as_ref().and_then(Wal::pages) {
            Some(pages) => ("the log", u64::from(pages)),
            None => ("the file", self.bytes.div_ceil(size)),
        };
        let header = &self.header;
        let told = header.pages > 0 && header.version_valid_for == header.change_counter;
        let pages = if told { u64::from(header.pages) } else { there };
        if told && pages > there {
            self.problems.push(format!(
                "the header says that there are {pages} pages, but {of} has {there}"
            ));
        }
        if of == "the file" && !self.bytes.is_multiple_of(size) {
            self.problems.push(format!(
                "the file ends in the middle of a page, {} bytes after a whole one",
                self.bytes % size
            ));
        }
        if told && pages < there {
            self.notes.push(format!(
                "The file has {} pages more than the database; SQLite does not look at them.",
                there - pages
            ));
        }
        let mut pages = pages.min(there);
        if let Some(wal) = &self.wal {
            // A log that makes the file larger holds what is new, but for 64 KiB.
            let most = self.bytes.div_ceil(size) + wal.frames.len() as u64 + 65536 / size;
            if pages > most {
                self.problems.push(format!(
                    "the log gives the database {pages} pages, more than it and the file hold"
                ));
                pages = most;
            }
        }
        self.pages = u32::try_from(pages).unwrap_or(u32::MAX - 1);
    }

    /// Reads one page, as it was last committed. What the file does not have is zero.
    pub fn read(&self, n: u32, page: &mut [u8]) -> io::Result<()> {
        debug_assert_eq!(page.len(), self.header.page_size as usize);
        let (file, at) = match &self.wal {
            Some(wal) if wal.newest(n).is_some_and(|f| f < wal.committed) => {
                let frame = wal.newest(n).unwrap_or_default();
                (&wal.file, wal.offset(frame))
            }
            _ => (&self.file, self.offset(n)),
        };
        let read = read_at(file, page, at)?;
        page[read..].fill(0);
        Ok(())
    }

    /// Reads one version of a page. An error where the log has no such frame of it.
    pub fn read_version(&self, n: u32, version: Version, page: &mut [u8]) -> io::Result<()> {
        let (file, at) = match version {
            Version::Newest => return self.read(n, page),
            Version::File => (&self.file, self.offset(n)),
            Version::Frame(frame) => match &self.wal {
                Some(wal) if wal.frames.get(frame as usize).is_some_and(|f| f.page == n) => {
                    (&wal.file, wal.offset(frame))
                }
                _ => {
                    let what = format!("the log has no frame {frame} of page {n}");
                    return Err(io::Error::new(io::ErrorKind::NotFound, what));
                }
            },
        };
        let read = read_at(file, page, at)?;
        page[read..].fill(0);
        Ok(())
    }

    /// Whether the database file itself has a page; if not, only the log has it.
    pub fn file_has(&self, n: u32) -> bool {
        n > 0 && self.offset(n) < self.bytes
    }

    /// Reads as many pages as fit into `pages`, from page `first` on.
    pub fn read_run(&self, first: u32, pages: &mut [u8]) -> io::Result<()> {
        let read = read_at(&self.file, pages, self.offset(first))?;
        pages[read..].fill(0);
        if self.wal.as_ref().is_some_and(|wal| wal.versions() > 0) {
            let size = self.header.page_size as usize;
            for (n, page) in (first..).zip(pages.chunks_exact_mut(size)) {
                if self.wal.as_ref().is_some_and(|wal| wal.newest(n).is_some()) {
                    self.read(n, page)?;
                }
            }
        }
        Ok(())
    }

    /// Tells the system that these pages will be read soon.
    pub fn will_read(&self, pages: impl Iterator<Item = u32>) {
        for n in pages {
            // SAFETY: the descriptor is open; a hint that nothing depends on.
            unsafe {
                libc::posix_fadvise(
                    self.file.as_raw_fd(),
                    self.offset(n) as libc::off_t,
                    libc::off_t::from(self.header.page_size),
                    libc::POSIX_FADV_WILLNEED,
                );
            }
        }
    }

    /// What was written since the file was opened, as a sentence.
    pub fn changed(&self) -> io::Result<Option<&'static str>> {
        let mut now = [0; HEADER];
        let n = read_at(&self.file, &mut now, 0)?;
        if n < HEADER || now != self.first_bytes || self.file.metadata()?.len() != self.bytes {
            return Ok(Some("The file was written to while it was read."));
        }
        Ok((self.log_now() != self.log_then)
            .then_some("The write-ahead log was written to while it was read."))
    }

    /// Whether this is the file that was opened, and not another of its name.
    pub fn is_same(&self, other: &Metadata) -> bool {
        let own = self.file.metadata();
        own.is_ok_and(|own| (own.dev(), own.ino()) == (other.dev(), other.ino()))
    }

    /// The state of the log beside the file now. A log that started anew is written from its start,
    /// within its old length: then what follows the frames that hold changes.
    fn log_now(&self) -> Option<LogState> {
        let file = open(&beside(&self.path, "-wal")).ok()?;
        let bytes = file.metadata().ok().map(|m| m.len()).filter(|&n| n > 0)?;
        let mut state = LogState {
            bytes,
            head: [0; LOG_HEADER],
            next: [0; FRAME],
        };
        read_at(&file, &mut state.head, 0).ok()?;
        if let Some(wal) = &self.wal {
            read_at(&file, &mut state.next, wal.end()).ok()?;
        }
        Some(state)
    }

    fn offset(&self, n: u32) -> u64 {
        u64::from(n.saturating_sub(1)) * u64::from(self.header.page_size)
    }
}

/// Reads as much as there is.
fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < to.len() {
        match file.read_at(&mut to[done..], at + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Whether there is a journal that SQLite would roll back, as far as that can be seen without locks.
fn journal_is_hot(database: &Path) -> bool {
    const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut start = [0; 8];
    open(&beside(database, "-journal"))
        .and_then(|file| read_at(&file, &mut start, 0))
        .is_ok_and(|n| n == 8 && start == JOURNAL)
}

/// What a file is that is no database, as the rest of a sentence.
fn what_instead(file: &File) -> io::Result<String> {
    const KNOWN: [(&[u8], &str); 8] = [
        (
            b"** This file contains an SQLite 2",
            "is a database of SQLite 2",
        ),
        (
            b"\x37\x7f\x06",
            "is a write-ahead log; name the database beside it",
        ),
        (
            b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
            "is a rollback journal; name the database beside it",
        ),
        (b"\x1f\x8b", "is a gzip file"),
        (b"PK\x03\x04", "is a zip file"),
        (b"\x28\xb5\x2f\xfd", "is a zstd file"),
        (b"\xfd7zXZ", "is an xz file"),
        (
            b"SQLite format 3",
            "starts as a SQLite database and ends within its header",
        ),
    ];
    let mut start = vec![0; 4096];
    let n = read_at(file, &mut start, 0)?;
    start.truncate(n);
    for (first, what) in KNOWN {
        if start.starts_with(first) {
            return Ok(what.to_owned());
        }
    }
    let bits = entropy(&start);
    if n >= 512 && bits > RANDOM {
        return Ok(format!(
            "is encrypted, or no SQLite database: its first {n} bytes look like chance ({bits:.1} \
             of 8 bits of information a byte)"
        ));
    }
    let mut shown = String::new();
    for &b in start.iter().take(16) {
        let _ = match b {
            b' '..=b'~' => write!(shown, "{}", b as char),
            _ => write!(shown, "\\x{b:02x}"),
        };
    }
    Ok(format!("is no SQLite database: it starts with \"{shown}\""))
}

/// Bits of information in a byte, if bytes did not depend on each other.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &b in bytes {
        counts[b as usize] += 1;
    }
    let all = bytes.len() as f64;
    counts
        .iter()
        .filter(|&&n| n > 0)
        .map(|&n| f64::from(n) / all)
        .map(|share| -share * share.log2())
        .sum()
}
