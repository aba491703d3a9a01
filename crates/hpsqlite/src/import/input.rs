//! The file that is imported, as blocks that end where records end.
//!
//! It is read from its beginning to its end, so a pipe will do. What is compressed by gzip is known
//! by its first two bytes, whatever its name is. A block has about [`BLOCK`] bytes, or as many as
//! its first record takes, up to [`LONGEST`].

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use flate2::read::MultiGzDecoder;

use super::bad::BadRow;
use super::cut::{RecordCutter, Records};

/// The name that stands for standard input.
pub const STDIN: &str = "-";
/// What a worker and the writer have of a block stays in the processor's cache.
pub const BLOCK: usize = 256 << 10;
/// SQLite stores a row of at most 1,000,000,000 bytes. With all its quotes doubled it takes twice
/// that in the file.
const LONGEST: usize = 2_000_000_100;
/// A name may lie: such a file is compressed by something that we do not read.
const OTHER_PACKERS: [(&[u8], &str); 4] = [
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "unzip"),
];
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The opened file.
pub struct InputFile {
    /// As messages name it.
    pub name: String,
    /// Its size on disk, if it has one.
    pub size: Option<u64>,
    pub is_packed: bool,
    read: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

/// Counts what is read.
struct CountedRead<R> {
    inner: R,
    position: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(to)?;
        self.position.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl InputFile {
    pub fn open(path: &Path) -> Result<InputFile> {
        if path == Path::new(STDIN) {
            return InputFile::of("standard input".to_owned(), None, io::stdin());
        }
        let name = path.display().to_string();
        let cannot = || format!("cannot read {name}");
        let file = File::open(path).with_context(cannot)?;
        let meta = file.metadata().with_context(cannot)?;
        if meta.is_dir() {
            bail!("{name} is a folder");
        }
        let size = meta.is_file().then_some(meta.len());
        InputFile::of(name, size, file)
    }

    fn of(name: String, size: Option<u64>, inner: impl Read + Send + 'static) -> Result<InputFile> {
        let position = Arc::new(AtomicU64::new(0));
        let mut counted = CountedRead {
            inner,
            position: Arc::clone(&position),
        };
        let mut head = Vec::new();
        let first = counted.by_ref().take(6).read_to_end(&mut head);
        first.with_context(|| format!("cannot read {name}"))?;
        for (mark, tool) in OTHER_PACKERS {
            if head.starts_with(mark) {
                bail!(
                    "{name} is compressed; unpack it by {tool}, into a pipe if you like: FILE may be -"
                );
            }
        }
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            bail!("{name} is UTF-16; make it UTF-8 by iconv -f UTF-16 -t UTF-8");
        }
        let is_packed = head.starts_with(b"\x1f\x8b");
        let all = io::Cursor::new(head).chain(counted);
        Ok(InputFile {
            name,
            size,
            is_packed,
            read: match is_packed {
                true => Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(
                    BLOCK, all,
                ))),
                false => Box::new(all),
            },
            position,
        })
    }
}

/// Why there are no more blocks, other than that the file has ended.
#[derive(Debug)]
pub enum InputError {
    Read(io::Error),
    /// A record of more than [`LONGEST`] bytes begins so many lines after the block before; or the
    /// quote that keeps it from ending does.
    TooLong {
        line: u64,
        quote: bool,
    },
}

/// The blocks of a file.
pub struct InputBlocks {
    file: InputFile,
    records: Records,
    /// What was read behind the end of the last block.
    rest: Vec<u8>,
    has_ended: bool,
    /// Whether nothing was given yet.
    is_first: bool,
}

impl InputBlocks {
    pub fn new(file: InputFile, records: Records) -> InputBlocks {
        InputBlocks {
            file,
            records,
            rest: Vec::new(),
            has_ended: false,
            is_first: true,
        }
    }

    pub fn file(&self) -> &InputFile {
        &self.file
    }

    /// How far the file has been read.
    pub fn position(&self) -> u64 {
        self.file.position.load(Ordering::Relaxed)
    }

    /// Puts the next block of at least `wanted` bytes, if there are so many, into `block`, which is
    /// empty. It stays empty at the end of the file.
    pub fn next(&mut self, block: &mut Vec<u8>, wanted: usize) -> Result<(), InputError> {
        block.append(&mut self.rest);
        let mut wanted = wanted;
        let mut cutter = RecordCutter::new(self.records);
        while !self.has_ended {
            self.fill(block, wanted)?;
            let end = cutter.look(block);
            if end > 0 && !self.has_ended {
                self.rest.extend_from_slice(&block[end..]);
                block.truncate(end);
                break;
            }
            if block.len() - end > LONGEST {
                let upto = &block[..cutter.open().unwrap_or(0)];
                return Err(InputError::TooLong {
                    line: memchr::memchr_iter(b'\n', upto).count() as u64,
                    quote: cutter.open().is_some(),
                });
            }
            wanted = block.len() * 2;
        }
        Ok(())
    }

    /// Reads until the block has as many bytes as are wanted, or the file ends.
    fn fill(&mut self, block: &mut Vec<u8>, wanted: usize) -> Result<(), InputError> {
        let missing = wanted.saturating_sub(block.len());
        // The file may end some bytes later; workers put a few behind the last one.
        block.reserve(missing + 64);
        let read = self.file.read.by_ref().take(missing as u64);
        let mut read = read;
        let n = read.read_to_end(block).map_err(InputError::Read)?;
        self.has_ended = n < missing;
        if std::mem::take(&mut self.is_first) && block.starts_with(UTF8_MARK) {
            block.drain(..UTF8_MARK.len());
        }
        Ok(())
    }
}

impl InputError {
    /// What is said of it, if `lines` lines came before the block.
    pub fn told(&self, name: &str, lines: u64) -> anyhow::Error {
        let (line, reason) = match self {
            InputError::Read(e) => return anyhow!("cannot read {name}: {e}"),
            InputError::TooLong { line, quote: true } => {
                (line, "the quote that opens here is not closed within 2 GB")
            }
            InputError::TooLong { line, .. } => (line, "this line is longer than 2 GB"),
        };
        let why = BadRow {
            file: name.to_owned(),
            line: lines + line + 1,
            column: None,
            reason: reason.to_owned(),
            is_one_row: false,
        };
        why.into()
    }
}
