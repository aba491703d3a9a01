//! One page, byte by byte.
//!
//! [`Btree`] reads a page of a b-tree; [`layout`] gives any page as a list of named parts, so that
//! every byte belongs to exactly one of them, whatever the bytes are.

use serde::{Serialize, Serializer};

use super::file;
use super::wal::be32;

/// Entries of a pointer map are this long: a type and a page.
pub const POINTER: usize = 5;
/// Smallest freeblock; what is smaller is a fragment.
const FREEBLOCK: usize = 4;

/// What shape a page of a b-tree has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageShape {
    IndexInterior = 2,
    TableInterior = 5,
    IndexLeaf = 10,
    TableLeaf = 13,
}

impl PageShape {
    pub fn of(flag: u8) -> Option<PageShape> {
        match flag {
            2 => Some(PageShape::IndexInterior),
            5 => Some(PageShape::TableInterior),
            10 => Some(PageShape::IndexLeaf),
            13 => Some(PageShape::TableLeaf),
            _ => None,
        }
    }

    pub fn is_leaf(self) -> bool {
        matches!(self, PageShape::IndexLeaf | PageShape::TableLeaf)
    }

    /// Whether keys are rowids.
    pub fn is_table(self) -> bool {
        matches!(self, PageShape::TableInterior | PageShape::TableLeaf)
    }
}

/// A cell of a b-tree page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Offset in the page.
    pub at: usize,
    /// Bytes in the page.
    pub size: usize,
    /// The page with what comes before this key; 0 in leaves.
    #[serde(skip_serializing_if = "is_zero")]
    pub child: u32,
    /// The key, in tables.
    #[serde(serialize_with = "exact")]
    pub rowid: Option<i64>,
    /// Bytes of the record.
    pub payload: u64,
    /// Where the part of the record starts that is in this page, and how long it is.
    pub local_at: usize,
    pub local: usize,
    /// First page of the rest; 0 if there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub overflow: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn exact<S: Serializer>(n: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    match n {
        Some(n) => super::record::exact(n, to),
        None => to.serialize_none(),
    }
}

/// A page of a b-tree.
#[derive(Debug, Clone, Copy)]
pub struct Btree<'a> {
    /// The page without the bytes that are reserved for extensions.
    bytes: &'a [u8],
    /// Where its header starts: 100 on page 1.
    start: usize,
    pub shape: PageShape,
    pub cells: usize,
    /// Where the content of cells starts.
    pub content: usize,
    pub first_freeblock: usize,
    /// Bytes between cells that are too few for a freeblock, as the header counts them.
    pub fragments: usize,
    /// The page with what comes after the last key; 0 in leaves.
    pub right: u32,
}

fn be16(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| usize::from(b[0]) << 8 | usize::from(b[1]))
}

/// A variable-length integer; beyond the page there are zeros.
fn varint(bytes: &[u8], at: usize) -> (u64, usize) {
    let mut padded = [0; 9];
    let rest = bytes.get(at..).unwrap_or_default();
    let n = rest.len().min(9);
    padded[..n].copy_from_slice(&rest[..n]);
    super::record::varint(&padded).unwrap_or((0, 1))
}

impl<'a> Btree<'a> {
    /// Reads the header of page `n`.
    pub fn parse(page: &'a [u8], n: u32, usable: usize) -> Result<Btree<'a>, String> {
        let bytes = &page[..usable];
        let start = if n == 1 { file::HEADER } else { 0 };
        let flag = bytes[start];
        let shape = PageShape::of(flag).ok_or_else(|| {
            format!("it should be a page of a b-tree, but its first byte is {flag}")
        })?;
        let cells = be16(bytes, start + 3);
        if cells > (page.len() - 8) / 6 {
            return Err(format!("it cannot have {cells} cells"));
        }
        let content = match be16(bytes, start + 5) {
            0 => 65536,
            at => at,
        };
        let leaf = shape.is_leaf();
        Ok(Btree {
            bytes,
            start,
            shape,
            cells,
            content,
            first_freeblock: be16(bytes, start + 1),
            fragments: usize::from(bytes[start + 7]),
            right: if leaf { 0 } else { be32(bytes, start + 8) },
        })
    }

    /// Where the array of cell pointers starts.
    fn pointers(&self) -> usize {
        self.start + if self.shape.is_leaf() { 8 } else { 12 }
    }

    /// Where the array of cell pointers ends.
    pub fn pointers_end(&self) -> usize {
        self.pointers() + 2 * self.cells
    }

    /// The cell at place `i` of the order of keys.
    pub fn cell(&self, i: usize) -> Result<Cell, String> {
        let at = be16(self.bytes, self.pointers() + 2 * i);
        let usable = self.bytes.len();
        if at < self.content.min(usable) || at < self.pointers_end() || at > usable - 4 {
            return Err(format!(
                "cell {i} is said to be at byte {at}, but cells are from {} to {}",
                self.content.max(self.pointers_end()),
                usable - 4
            ));
        }
        let leaf = self.shape.is_leaf();
        let mut next = at;
        let child = if leaf {
            0
        } else {
            next += 4;
            be32(self.bytes, at)
        };
        let mut payload = 0;
        if self.shape != PageShape::TableInterior {
            let (n, len) = varint(self.bytes, next);
            // SQLite counts it in 32 bits.
            payload = n & 0xffff_ffff;
            next += len;
        }
        let mut rowid = None;
        if self.shape.is_table() {
            let (n, len) = varint(self.bytes, next);
            rowid = Some(n as i64);
            next += len;
        }
        let local = self.local(payload);
        let mut end = next + local;
        let overflows = (local as u64) < payload;
        let overflow = if overflows {
            end += 4;
            be32(self.bytes, end - 4)
        } else {
            0
        };
        let size = (end - at).max(FREEBLOCK);
        if at + size > usable {
            return Err(format!(
                "cell {i} at byte {at} goes beyond the end of the page"
            ));
        }
        Ok(Cell {
            at,
            size,
            child,
            rowid,
            payload,
            local_at: next,
            local,
            overflow,
        })
    }

    /// How much of a record of `payload` bytes is in the page.
    fn local(&self, payload: u64) -> usize {
        let usable = self.bytes.len();
        let least = (usable - 12) * 32 / 255 - 23;
        let most = match self.shape {
            PageShape::TableLeaf => usable - 35,
            _ => (usable - 12) * 64 / 255 - 23,
        };
        if payload <= most as u64 {
            return payload as usize;
        }
        let local = least + ((payload - least as u64) % (usable as u64 - 4)) as usize;
        if local <= most { local } else { least }
    }

    /// Freeblocks, as offset and length, and what is wrong with their list, if anything is.
    pub fn freeblocks(&self) -> (Vec<(usize, usize)>, Option<String>) {
        let usable = self.bytes.len();
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        let mut at = self.first_freeblock;
        while at > 0 {
            let least = match blocks.last() {
                Some((last, len)) => last + len + FREEBLOCK,
                None => self.content,
            };
            let size = be16(self.bytes, at + 2);
            if at < least || at > usable - FREEBLOCK || at + size > usable || size < FREEBLOCK {
                let wrong = format!("the freeblock at byte {at} of {size} bytes cannot be there");
                return (blocks, Some(wrong));
            }
            blocks.push((at, size));
            at = be16(self.bytes, at);
        }
        (blocks, None)
    }

    /// Bytes of the local part of a cell's record.
    pub fn local_payload(&self, cell: &Cell) -> &'a [u8] {
        &self.bytes[cell.local_at..cell.local_at + cell.local]
    }

    /// Goes through the whole page: counts, and says what is wrong. `used` is scratch space.
    pub fn examine(
        &self,
        used: &mut Vec<(u32, u32)>,
        mut each: impl FnMut(&Cell),
        mut wrong: impl FnMut(String),
    ) -> Sum {
        let usable = self.bytes.len();
        let mut sum = Sum {
            cells: self.cells as u64,
            ..Sum::default()
        };
        let mut whole = true;
        if self.content < self.pointers_end() || self.content > usable {
            wrong(format!(
                "the content is said to start at byte {}, but the cell pointers end at {} and the \
                 page at {usable}",
                self.content,
                self.pointers_end()
            ));
            whole = false;
        }
        used.clear();
        for i in 0..self.cells {
            match self.cell(i) {
                Ok(cell) => {
                    sum.payload += cell.local as u64;
                    sum.largest = sum.largest.max(cell.payload);
                    if let Some(&header) = self.local_payload(&cell).first()
                        && header < 2
                    {
                        wrong(format!(
                            "the record of cell {i} has a header of {header} bytes"
                        ));
                        whole = false;
                    }
                    used.push((cell.at as u32, (cell.at + cell.size) as u32));
                    each(&cell);
                }
                Err(e) => {
                    wrong(e);
                    whole = false;
                }
            }
        }
        let (blocks, error) = self.freeblocks();
        if let Some(e) = error {
            wrong(e);
            whole = false;
        }
        let free: usize = blocks.iter().map(|b| b.1).sum();
        let gap = self.content.min(usable).saturating_sub(self.pointers_end());
        sum.unused = (gap + free + self.fragments) as u64;
        if whole {
            used.extend(blocks.iter().map(|&(at, n)| (at as u32, (at + n) as u32)));
            used.sort_unstable();
            let mut end = self.content as u32;
            let mut fragments = 0;
            for &(from, to) in used.iter() {
                if from < end {
                    wrong(format!("byte {from} is used twice"));
                    return sum;
                }
                fragments += from - end;
                end = to;
            }
            fragments += usable as u32 - end;
            if fragments as usize != self.fragments {
                wrong(format!(
                    "there are {fragments} bytes between cells, but the header counts {}",
                    self.fragments
                ));
            }
        }
        sum
    }
}

/// What a page of a b-tree holds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    pub cells: u64,
    /// Bytes of records in this page.
    pub payload: u64,
    /// Bytes that hold nothing.
    pub unused: u64,
    /// Bytes of the largest record that starts here, all of it.
    pub largest: u64,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PagePart {
    /// Offset in the page.
    pub at: usize,
    pub len: usize,
    pub what: ByteUse,
    /// The place of a cell in the order of keys, or of an entry in its list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// What bytes of a page are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteUse {
    FileHeader,
    PageHeader,
    CellPointers,
    Cell,
    Freeblock,
    /// Bytes between cells, at most three in one place.
    Fragment,
    /// Between the cell pointers and the content, or after the last entry of a list.
    Unallocated,
    /// At the end of each page, for extensions.
    Reserved,
    /// The number of the next page of a chain, of the free list too.
    NextPage,
    Payload,
    /// How many pages a trunk lists.
    Count,
    FreePages,
    /// Who the pages that a trunk lists are reserved for.
    Mark,
    Pointers,
    /// A page that is free, or used by nothing, or never used: bytes left over from earlier use.
    Nothing,
    /// Bytes that do not make sense as what they should be.
    Unknown,
}

/// How a page is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageRole {
    Btree,
    /// An overflow page with this many bytes of payload.
    Overflow(usize),
    Trunk,
    PointerMap,
    Nothing,
}

/// The parts of page `n`, in the order of its bytes and without a gap.
pub fn layout(page: &[u8], n: u32, usable: usize, role: PageRole) -> Vec<PagePart> {
    let mut parts = Vec::new();
    let mut add = |at: usize, len: usize, what, index| {
        parts.push(PagePart {
            at,
            len,
            what,
            index,
        });
    };
    let mut between = ByteUse::Unknown;
    if n == 1 {
        add(0, file::HEADER, ByteUse::FileHeader, None);
    }
    add(usable, page.len() - usable, ByteUse::Reserved, None);
    match role {
        PageRole::Btree => {
            if let Ok(tree) = Btree::parse(page, n, usable) {
                let header = tree.pointers() - tree.start;
                add(tree.start, header, ByteUse::PageHeader, None);
                add(tree.pointers(), 2 * tree.cells, ByteUse::CellPointers, None);
                for i in 0..tree.cells {
                    if let Ok(cell) = tree.cell(i) {
                        add(cell.at, cell.size, ByteUse::Cell, Some(i));
                    }
                }
                for (at, len) in tree.freeblocks().0 {
                    add(at, len, ByteUse::Freeblock, None);
                }
                let end = tree.pointers_end();
                let gap = tree.content.min(usable).saturating_sub(end);
                add(end, gap, ByteUse::Unallocated, None);
                between = ByteUse::Fragment;
            }
        }
        PageRole::Overflow(payload) => {
            add(0, 4, ByteUse::NextPage, None);
            add(4, payload.min(usable - 4), ByteUse::Payload, None);
            between = ByteUse::Unallocated;
        }
        PageRole::Trunk => {
            add(0, 4, ByteUse::NextPage, None);
            add(4, 4, ByteUse::Count, None);
            let listed = trunk_leaves(page, usable).len();
            add(8, 4 * listed, ByteUse::FreePages, None);
            if reserved(page, n, usable).is_some() {
                add(usable - 8, 8, ByteUse::Mark, None);
            }
            between = ByteUse::Unallocated;
        }
        PageRole::PointerMap => {
            add(0, usable / POINTER * POINTER, ByteUse::Pointers, None);
            between = ByteUse::Unallocated;
        }
        PageRole::Nothing => between = ByteUse::Nothing,
    }
    whole(parts, page.len(), between)
}

/// Makes parts follow each other: what lies over another part is cut, what lies between two
/// is `between`.
fn whole(mut parts: Vec<PagePart>, size: usize, between: ByteUse) -> Vec<PagePart> {
    parts.retain(|part| part.len > 0);
    parts.sort_by_key(|part| part.at);
    let mut out: Vec<PagePart> = Vec::with_capacity(parts.len());
    let mut end = 0;
    let filler = |at: usize, to: usize| PagePart {
        at,
        len: to - at,
        // A fragment has at most three bytes: more were lost.
        what: match between {
            ByteUse::Fragment if to - at >= FREEBLOCK => ByteUse::Unknown,
            what => what,
        },
        index: None,
    };
    for mut part in parts {
        let to = (part.at + part.len).min(size);
        if to <= end {
            continue;
        }
        if part.at > end {
            out.push(filler(end, part.at));
            end = part.at;
        }
        part.at = end;
        part.len = to - end;
        end = to;
        out.push(part);
    }
    if end < size {
        out.push(filler(end, size));
    }
    out
}

/// The free pages that a trunk lists, as many as there can be.
pub fn trunk_leaves(page: &[u8], usable: usize) -> impl ExactSizeIterator<Item = u32> + '_ {
    let n = (be32(page, 4) as usize).min(usable / 4 - 2);
    page[8..8 + 4 * n].chunks_exact(4).map(|b| be32(b, 0))
}

/// Whom a run of free pages is reserved for, by the mark that High Performance SQLite leaves at the
/// end of a trunk (`engine/src/hp_extent.c`): the root of the b-tree, and how many of the pages
/// that the trunk lists.
pub fn reserved(page: &[u8], n: u32, usable: usize) -> Option<(u32, usize)> {
    const LEAVES: u32 = 0x6870_4504;
    const INTERIOR: u32 = 0x6870_4505;
    let mark = be32(page, usable - 8);
    let root = be32(page, usable - 4);
    let listed = be32(page, 4) as usize;
    if !matches!(mark, LEAVES | INTERIOR) || root == 0 || listed > usable / 4 - 8 {
        return None;
    }
    let run = (1..).map(|i| n.checked_sub(i));
    let reserved = trunk_leaves(page, usable)
        .zip(run)
        .take_while(|&(leaf, wanted)| Some(leaf) == wanted);
    Some((root, reserved.count()))
}
