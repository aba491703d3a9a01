//! A write-ahead log: which frames hold, and what of each page is the newest committed version.
//!
//! The log is a header and frames, each a page with 24 bytes before it: page number, size of the
//! database after a commit (0 if the frame ends none), two salts, and a checksum of everything up
//! to here. When SQLite starts a log anew it changes the salts and writes over old frames from the
//! start; so the frames that hold are those up to the first whose salts or checksum are not right,
//! and of these the ones up to the last commit count.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use super::open::{beside, open};
use crate::text;

/// Bytes before the frames.
pub const HEADER: usize = 32;
/// Bytes before each frame's page.
pub const FRAME: usize = 24;
/// Bytes at the head of the index that say how far it, and a checkpoint, have come.
const INDEX: usize = 100;
/// First number of a log whose checksums are of little-endian words; of big-endian ones it is
/// one more.
const MAGIC: u32 = 0x377f_0682;

/// One frame of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Frame {
    pub page: u32,
    /// Pages of the database after the commit that this frame ends; 0 if it ends none.
    pub commit: u32,
}

/// What a log says.
#[derive(Debug)]
pub struct Wal {
    pub file: File,
    /// The first bytes, which change when the log starts anew.
    pub header: [u8; HEADER],
    pub bytes: u64,
    pub page_size: u32,
    /// Frames with the right salts and checksums, committed or not.
    pub frames: Vec<Frame>,
    /// How many of them are committed.
    pub committed: u32,
    /// Number of commits.
    pub commits: u32,
    /// How many frames a checkpoint has copied to the database, as the `-shm` file says.
    pub copied: u32,
    /// Frames after these with other salts: of before the log started anew.
    pub old: u64,
    /// Why the log ends where it does, if that is no ordinary end.
    pub damage: Option<String>,
    /// The newest committed frame of each page, from 0.
    newest: HashMap<u32, u32>,
}

/// A log in figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub bytes: u64,
    /// Frames that hold, those of them that are committed, and that a checkpoint has copied.
    pub frames: usize,
    pub committed: u32,
    pub copied: u32,
    pub commits: u32,
    /// Pages with a version in the log.
    pub versions: usize,
    /// Pages that a checkpoint would write, their bytes, and how many pieces of the file they are.
    pub to_checkpoint: usize,
    pub checkpoint_bytes: u64,
    pub checkpoint_runs: usize,
    /// Frames of before the log started anew.
    pub old: u64,
    /// How often it has done so.
    pub sequence: u32,
    pub damage: Option<String>,
}

pub fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// The checksum of the log goes on over `bytes`.
fn checksum(big: bool, mut sum: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let word = |b: &[u8]| {
        let b = [b[0], b[1], b[2], b[3]];
        if big {
            u32::from_be_bytes(b)
        } else {
            u32::from_le_bytes(b)
        }
    };
    for pair in bytes.chunks_exact(8) {
        sum.0 = sum.0.wrapping_add(word(pair)).wrapping_add(sum.1);
        sum.1 = sum.1.wrapping_add(word(&pair[4..])).wrapping_add(sum.0);
    }
    sum
}

/// What changes whenever something was written to a database's log, or a checkpoint copied frames
/// of it: the log's length, time and header, and the head of the index beside it.
pub fn state(database: &Path) -> String {
    let mut known = Vec::new();
    for (suffix, length) in [("-wal", HEADER), ("-shm", INDEX)] {
        let Ok(file) = open(&beside(database, suffix)) else {
            continue;
        };
        if let Ok(meta) = file.metadata() {
            known.extend(meta.len().to_le_bytes());
            known.extend(meta.ino().to_le_bytes());
            // The index is written through memory, which sets no time.
            known.extend(meta.mtime_nsec().to_le_bytes());
            known.extend(meta.mtime().to_le_bytes());
        }
        let mut head = Vec::with_capacity(length);
        if file.take(length as u64).read_to_end(&mut head).is_ok() {
            known.extend(head);
        }
    }
    text::fingerprint(&known)
}

impl Wal {
    /// Reads the log of a database. None: there is none, or nothing is in it.
    pub fn read(database: &Path) -> io::Result<Option<Wal>> {
        let file = match open(&beside(database, "-wal")) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let bytes = file.metadata()?.len();
        if bytes == 0 {
            return Ok(None);
        }
        let mut wal = Wal {
            file: file.try_clone()?,
            header: [0; HEADER],
            bytes,
            page_size: 0,
            frames: Vec::new(),
            committed: 0,
            commits: 0,
            copied: 0,
            old: 0,
            damage: None,
            newest: HashMap::new(),
        };
        wal.parse(&mut BufReader::with_capacity(1 << 20, &file))?;
        wal.copied = wal.copied_of(database).min(wal.committed);
        Ok(Some(wal))
    }

    fn parse(&mut self, input: &mut impl Read) -> io::Result<()> {
        if self.bytes < HEADER as u64 {
            self.damage = Some("it is shorter than its header".to_owned());
            return Ok(());
        }
        input.read_exact(&mut self.header)?;
        let head = self.header;
        let magic = be32(&head, 0);
        if magic & !1 != MAGIC {
            self.damage = Some("it does not start like a log".to_owned());
            return Ok(());
        }
        let big = magic & 1 == 1;
        self.page_size = be32(&head, 8);
        if !self.page_size.is_power_of_two() || !(512..=65536).contains(&self.page_size) {
            self.damage = Some(format!("its page size is {}", self.page_size));
            return Ok(());
        }
        let mut sum = checksum(big, (0, 0), &head[..24]);
        if sum != (be32(&head, 24), be32(&head, 28)) {
            self.damage = Some("the checksum of its header is wrong".to_owned());
            return Ok(());
        }
        let whole = (self.bytes - HEADER as u64) / (FRAME as u64 + u64::from(self.page_size));
        let mut frame = vec![0; FRAME + self.page_size as usize];
        let mut holds = true;
        for n in 0..whole {
            if let Err(e) = input.read_exact(&mut frame) {
                match e.kind() {
                    io::ErrorKind::UnexpectedEof => break, // It was cut while we read.
                    _ => return Err(e),
                }
            }
            let at = Frame {
                page: be32(&frame, 0),
                commit: be32(&frame, 4),
            };
            if frame[8..16] != head[16..24] {
                self.old = whole - n;
                break;
            }
            sum = checksum(big, sum, &frame[..8]);
            sum = checksum(big, sum, &frame[FRAME..]);
            holds &= sum == (be32(&frame, 16), be32(&frame, 20)) && at.page != 0;
            if holds {
                self.frames.push(at);
                if at.commit > 0 {
                    self.committed = self.frames.len() as u32;
                    self.commits += 1;
                }
            } else if at.commit > 0 {
                // Before a commit a checksum may be out of date: a page is written again in its
                // place. After it none is.
                self.damage = Some(format!(
                    "the checksum of frame {} of {whole} is wrong: it and the commits after it do \
                     not count",
                    self.frames.len() + 1
                ));
            }
        }
        for (n, frame) in self.frames[..self.committed as usize].iter().enumerate() {
            self.newest.insert(frame.page, n as u32);
        }
        Ok(())
    }

    /// What the shared memory file says of checkpoints, if it is of this log: the header of the
    /// index, twice, then the number of frames copied. All of it is in the machine's byte order
    /// but for the salts, which are as in the log.
    fn copied_of(&self, database: &Path) -> u32 {
        let mut index = [0; 100];
        let read = open(&beside(database, "-shm")).and_then(|mut f| f.read_exact(&mut index));
        if read.is_err() || index[32..40] != self.header[16..24] {
            return 0;
        }
        u32::from_ne_bytes([index[96], index[97], index[98], index[99]])
    }

    /// Pages of the database after the last commit, if there is one.
    pub fn pages(&self) -> Option<u32> {
        let last = (self.committed as usize).checked_sub(1)?;
        Some(self.frames[last].commit)
    }

    /// The frame that holds the newest committed version of a page.
    pub fn newest(&self, page: u32) -> Option<u32> {
        self.newest.get(&page).copied()
    }

    /// Number of pages with a version in the log.
    pub fn versions(&self) -> usize {
        self.newest.len()
    }

    /// Pages that a checkpoint would write now, in the order of the file.
    pub fn to_checkpoint(&self) -> Vec<u32> {
        let size = self.pages().unwrap_or(0);
        let mut pages: Vec<u32> = self
            .newest
            .iter()
            .filter(|&(&page, &frame)| frame >= self.copied && page <= size)
            .map(|(&page, _)| page)
            .collect();
        pages.sort_unstable();
        pages
    }

    /// All of it in figures.
    pub fn facts(&self) -> Facts {
        let pages = self.to_checkpoint();
        let steps = pages.windows(2).filter(|pair| pair[1] - pair[0] > 1);
        Facts {
            bytes: self.bytes,
            frames: self.frames.len(),
            committed: self.committed,
            copied: self.copied,
            commits: self.commits,
            versions: self.versions(),
            to_checkpoint: pages.len(),
            checkpoint_bytes: pages.len() as u64 * u64::from(self.page_size),
            checkpoint_runs: steps.count() + usize::from(!pages.is_empty()),
            old: self.old,
            sequence: be32(&self.header, 12),
            damage: self.damage.clone(),
        }
    }

    /// Where in the file a frame's page begins.
    pub fn offset(&self, frame: u32) -> u64 {
        self.start_of(u64::from(frame)) + FRAME as u64
    }

    /// Where in the file the frames that hold end.
    pub fn end(&self) -> u64 {
        self.start_of(self.frames.len() as u64)
    }

    fn start_of(&self, frame: u64) -> u64 {
        HEADER as u64 + frame * (FRAME as u64 + u64::from(self.page_size))
    }
}
