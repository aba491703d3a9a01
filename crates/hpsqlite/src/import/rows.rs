//! Rows that have been read and wait for the one connection that inserts them.
//!
//! A [`RowBlock`] is what a worker makes of a block of the file. It holds the bytes of the block,
//! and of each row only what differs from the row before it, because SQLite's parameters keep what
//! was bound to them. A table of many columns has few that change from row to row. The first row of
//! a block has all its values, so a block stands for itself.
//!
//! Where the library can make rows in any thread ([`RowMaker`]), a block has them instead of changes,
//! and the writer only appends them. It is all of a block or nothing: if one row cannot be made so,
//! such as one that SQLite will refuse, the block is read again, for its changes.
//!
//! Nothing is allocated for a value. A text is a place in the bytes of the block. One that stands
//! there in another form, such as with doubled quotes, has been written to `made`. The writer binds
//! both by their addresses.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys::{LoadValue, RowMaker};

/// A block whose memory is not kept.
const LARGE: usize = 16 << 20;

/// A parameter gets a value. Parameters are counted from 0.
///
/// It is two numbers so that it stays in registers on its way: there is one for most fields of a
/// file, and the memory of an enum would be written in parts and read as a whole, for which a
/// processor waits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellChange {
    /// From its lowest bit on: 16 of the parameter, 16 of the kind, 32 of a text's length.
    head: u64,
    /// The number, or where the text begins.
    value: u64,
}

/// What a parameter gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NewValue {
    Null,
    Integer(i64),
    Real(f64),
    /// So many bytes from there in the block.
    Verbatim(usize, usize),
    /// So many bytes from there in what was made.
    Made(usize, usize),
}

impl CellChange {
    const NULL: u64 = 0;
    const INTEGER: u64 = 1;
    const REAL: u64 = 2;
    const VERBATIM: u64 = 3;
    const MADE: u64 = 4;

    #[inline]
    pub fn null(parameter: usize) -> CellChange {
        CellChange::of(parameter, CellChange::NULL, 0, 0)
    }

    #[inline]
    pub fn integer(parameter: usize, n: i64) -> CellChange {
        CellChange::of(parameter, CellChange::INTEGER, 0, n as u64)
    }

    #[inline]
    pub fn real(parameter: usize, r: f64) -> CellChange {
        CellChange::of(parameter, CellChange::REAL, 0, r.to_bits())
    }

    #[inline]
    pub fn verbatim(parameter: usize, from: u32, length: u32) -> CellChange {
        CellChange::of(parameter, CellChange::VERBATIM, length, from.into())
    }

    #[inline]
    pub fn made(parameter: usize, from: u32, length: u32) -> CellChange {
        CellChange::of(parameter, CellChange::MADE, length, from.into())
    }

    #[inline]
    fn of(parameter: usize, kind: u64, length: u32, value: u64) -> CellChange {
        // SQLite's tables have 32,767 columns at most.
        let head = parameter as u64 & 0xffff | kind << 16 | u64::from(length) << 32;
        CellChange { head, value }
    }

    /// The parameter, and what it gets.
    #[inline]
    pub fn get(self) -> (usize, NewValue) {
        let length = (self.head >> 32) as usize;
        let value = match self.head >> 16 & 0xffff {
            CellChange::NULL => NewValue::Null,
            CellChange::INTEGER => NewValue::Integer(self.value as i64),
            CellChange::REAL => NewValue::Real(f64::from_bits(self.value)),
            CellChange::VERBATIM => NewValue::Verbatim(self.value as usize, length),
            _ => NewValue::Made(self.value as usize, length),
        };
        (self.head as usize & 0xffff, value)
    }
}

/// A row, whose changes begin where those of the row before end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadRow {
    /// Where its changes end, or in a packed block its bytes.
    pub changes_end: u32,
    /// Lines of the block before it.
    pub line: u32,
    /// Where its bytes are in the block.
    pub start: u32,
    pub end: u32,
    /// Whether it is among the faults, and not to be inserted.
    pub is_bad: bool,
}

/// Why a row is bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which row of the block.
    pub row: usize,
    /// Lines of the block before the fault.
    pub line: u32,
    /// Which column it is in, if it is in one.
    pub column: Option<usize>,
    pub reason: String,
}

/// What is imported although it is not as it should be. The shell does so, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    TooFew,
    TooMany,
    StrayQuote,
    Nul,
}

impl Oddity {
    pub const ALL: [Oddity; 4] = [
        Oddity::TooFew,
        Oddity::TooMany,
        Oddity::StrayQuote,
        Oddity::Nul,
    ];
}

/// The oddities of one kind: how many, and in which line the first one is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OddityCount {
    pub rows: u64,
    pub first: u64,
}

#[derive(Debug, Default)]
pub struct RowBlock {
    pub bytes: Vec<u8>,
    pub made: Vec<u8>,
    pub changes: Vec<CellChange>,
    /// Rows as the library has made them, if it has made all.
    pub packed: Vec<u8>,
    pub is_packed: bool,
    pub rows: Vec<ReadRow>,
    pub faults: Vec<Fault>,
    pub odd: [OddityCount; Oddity::ALL.len()],
    /// Ends of lines in the block.
    pub lines: u32,
    /// How far the file has been read, compressed as it may be.
    pub position: u64,
}

impl RowBlock {
    /// Empties it, and keeps its memory, unless a long record has made it large.
    pub fn clear(&mut self) {
        if self.bytes.capacity() > LARGE {
            *self = RowBlock::default();
            return;
        }
        self.bytes.clear();
        self.clear_rows();
        self.position = 0;
    }

    /// Forgets what was read of its bytes.
    fn clear_rows(&mut self) {
        self.made.clear();
        self.changes.clear();
        self.packed.clear();
        self.is_packed = false;
        self.rows.clear();
        self.faults.clear();
        self.odd = Default::default();
        self.lines = 0;
    }

    /// Makes a row of the changes, which are all its values; false if that cannot be. `bytes` are the
    /// block's.
    pub fn pack(&mut self, packer: &mut RowPacker<'_>, bytes: &[u8]) -> bool {
        let mut room = packer.room;
        packer.values.clear();
        for change in &self.changes {
            let (parameter, value) = change.get();
            debug_assert_eq!(parameter, packer.values.len());
            packer.values.push(match value {
                NewValue::Null => LoadValue::NULL,
                NewValue::Integer(n) => LoadValue::integer(n),
                NewValue::Real(r) => LoadValue::real(r),
                NewValue::Verbatim(from, length) => {
                    room += length;
                    LoadValue::text(&bytes[from..from + length])
                }
                NewValue::Made(from, length) => {
                    room += length;
                    LoadValue::text(&self.made[from..from + length])
                }
            });
        }
        self.changes.clear();
        // SAFETY: the texts are in `bytes` and in `made`.
        let made = unsafe {
            let values = &packer.values;
            packer.maker.row(values, &mut self.packed, room)
        };
        made && u32::try_from(self.packed.len()).is_ok()
    }

    /// Counts an oddity in the line after the first `line` of the block.
    pub fn note(&mut self, oddity: Oddity, line: u32) {
        let count = &mut self.odd[oddity as usize];
        if count.rows == 0 {
            count.first = line.into();
        }
        count.rows += 1;
    }
}

/// What becomes of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnValues {
    /// They stay texts, or become what SQLite makes of texts.
    Text,
    /// The column has the affinity of numbers, so digits may be bound as the integer that SQLite
    /// would make of them: that is quicker.
    Number,
    /// They must be integers or empty, because `--types` took them for that.
    OnlyIntegers,
    /// They must be numbers or empty, for the same reason.
    OnlyNumbers,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportColumn {
    pub name: String,
    pub values: ColumnValues,
}

/// What a worker has to know of the table, and of what the options say of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRules {
    /// The columns that rows have, in the order of the parameters.
    pub columns: Vec<ImportColumn>,
    /// The text that stands for NULL.
    pub null: Option<Vec<u8>>,
    /// Whether rows with oddities are bad.
    pub strict: bool,
}

/// What a worker needs to pack rows.
pub struct RowPacker<'m> {
    maker: &'m RowMaker,
    /// Bytes that a row takes at most, without its texts.
    room: usize,
    values: Vec<LoadValue>,
}

impl<'m> RowPacker<'m> {
    pub fn new(maker: &'m RowMaker, table_columns: usize) -> RowPacker<'m> {
        RowPacker {
            maker,
            room: 128 + 48 * table_columns,
            values: Vec::new(),
        }
    }
}

/// Reads the rows of a block, and packs them if there is something that makes rows: then false says
/// that they have to be read without.
pub type ReadRows = dyn Fn(&mut RowBlock, Option<&RowMaker>) -> bool + Send + Sync;

/// Makes rows of blocks, in any thread.
pub struct RowReader {
    read: Box<ReadRows>,
    pub maker: Option<RowMaker>,
    /// Whether packed rows are of use.
    may_pack: AtomicBool,
}

impl RowReader {
    pub fn new(read: Box<ReadRows>, maker: Option<RowMaker>) -> RowReader {
        RowReader {
            read,
            may_pack: AtomicBool::new(maker.is_some()),
            maker,
        }
    }

    /// Reads the rows of a block.
    pub fn read(&self, block: &mut RowBlock) {
        block.is_packed =
            self.may_pack.load(Ordering::Relaxed) && (self.read)(block, self.maker.as_ref());
        if !block.is_packed {
            self.read_changes(block);
        }
    }

    /// Reads the rows of a block, which may have been read before, as changes.
    pub fn read_changes(&self, block: &mut RowBlock) {
        block.clear_rows();
        (self.read)(block, None);
    }

    /// Rows have to be inserted one by one from now on.
    pub fn stop_packing(&self) {
        self.may_pack.store(false, Ordering::Relaxed);
    }
}
