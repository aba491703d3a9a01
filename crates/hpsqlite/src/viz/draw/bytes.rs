//! Small files: each page a box, and in it its bytes where they are, from the left to the right.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use super::ink::RunsPath;
use super::{DrawnFile, Kinds, Owner};
use crate::text;
use crate::viz::map::PageKind;
use crate::viz::page::{self, ByteUse, PagePart};

/// Between boxes.
const GAP: i32 = 4;
/// As high as all of it may be.
const HIGHEST: i32 = 800;
/// Columns of bytes in a pixel.
pub const FINE: i32 = 2;
/// Cells narrower than this many columns are not told apart.
const TELL_APART: f64 = 3.0;

/// How large the boxes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boxes {
    pub width: i32,
    pub height: i32,
    /// Boxes in a row.
    pub columns: i32,
}

impl Boxes {
    /// The largest boxes that fit, if there are any in which bytes can be seen.
    pub fn new(pages: u32, room: i32) -> Option<Boxes> {
        for columns in [4, 5, 8, 10, 15, 16, 20, 25, 30, 32, 40] {
            let width = room / columns - GAP;
            if width < 20 {
                break;
            }
            let height = (width * 3 / 10).clamp(8, 24);
            let boxes = Boxes {
                width,
                height,
                columns,
            };
            if boxes.all(pages) <= HIGHEST {
                return Some(boxes);
            }
        }
        None
    }

    /// The height of so many pages.
    pub fn all(&self, pages: u32) -> i32 {
        let rows = i64::from(pages.div_ceil(self.columns as u32));
        i32::try_from(rows * i64::from(self.row())).unwrap_or(i32::MAX)
    }

    /// From row to row.
    pub fn row(&self) -> i32 {
        self.height + GAP
    }

    /// The left upper corner of a box.
    pub fn corner(&self, at: i32) -> (i32, i32) {
        let (column, row) = (at % self.columns, at / self.columns);
        (column * (self.width + GAP), row * self.row())
    }
}

/// What bytes of a page are, as far as it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// Of a cell, and of the next one.
    Cell,
    NextCell,
    /// Not in use: between pointers and cells, and between cells.
    Empty,
    Freeblock,
    Header,
    Pointers,
    /// The page as a whole, if nothing of it is in use.
    Page,
    Wrong,
}

/// The edge of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    Table,
    Index,
    Interior,
    Overflow,
    Free,
}

impl Edge {
    /// The class of its line.
    pub fn class(self) -> &'static str {
        match self {
            Edge::Table | Edge::Free => "",
            Edge::Index => " d",
            Edge::Interior => " i",
            Edge::Overflow => " o",
        }
    }
}

/// Paths of a map.
#[derive(Debug, Default)]
pub struct BytePaths {
    /// In columns, `FINE` to a pixel.
    pub bytes: BTreeMap<(Owner, Tone), RunsPath>,
    pub edges: BTreeMap<(Owner, Edge), String>,
    /// Boxes of pages that are reserved, in pixels.
    pub reserved: String,
    /// What each page is, for who points at it.
    pub names: String,
    pub pages: usize,
}

/// The map of a file.
pub fn draw(file: &DrawnFile<'_>, boxes: Boxes, kinds: &mut Kinds) -> io::Result<BytePaths> {
    let mut paths = BytePaths::default();
    let (first, last) = file.range();
    for (at, n) in (0..).zip(first..=last) {
        let owner = file.owner(n);
        let kind = file.model.map.kind(n);
        kinds.note(owner, kind);
        let (x, y) = boxes.corner(at);
        bytes_of(file, n, owner, boxes, (x, y), &mut paths)?;
        let outline = format!(
            "M{x} {y}h{w}v{h}h-{w}z",
            w = boxes.width - 1,
            h = boxes.height - 1
        );
        let edges = paths.edges.entry((owner, edge(owner, kind))).or_default();
        *edges += &outline;
        let reserved = kind == PageKind::Reserved
            || kind == PageKind::FreeTrunk && file.model.map.owner(n).is_some();
        if reserved && owner != Owner::Left {
            paths.reserved += &outline;
        }
        // Writing to a String succeeds.
        let _ = write!(
            paths.names,
            "<path d=\"{outline}\"><title>{}</title></path>",
            crate::chart::escape(&name(file, n))
        );
        paths.pages += 1;
    }
    Ok(paths)
}

/// What a page is, in words.
fn name(file: &DrawnFile<'_>, n: u32) -> String {
    let mut name = format!(
        "page {}: {}",
        text::thousands(n.into()),
        file.model.map.kind(n).name()
    );
    if let Some(tree) = file.model.owner(n) {
        let _ = write!(name, " of {}", text::shorten(&tree.name, 40));
    }
    let fill = f64::from(file.model.map.fill(n)) / 255.0;
    let _ = write!(name, ", {:.0} % full", fill * 100.0);
    name
}

fn edge(owner: Owner, kind: PageKind) -> Edge {
    match kind {
        _ if owner == Owner::Left => Edge::Table,
        PageKind::TableInterior | PageKind::IndexInterior => Edge::Interior,
        PageKind::IndexLeaf => Edge::Index,
        PageKind::Overflow => Edge::Overflow,
        PageKind::TableLeaf => Edge::Table,
        _ => Edge::Free,
    }
}

/// Adds the bytes of a page.
fn bytes_of(
    file: &DrawnFile<'_>,
    n: u32,
    owner: Owner,
    boxes: Boxes,
    (x, y): (i32, i32),
    paths: &mut BytePaths,
) -> io::Result<()> {
    let columns = boxes.width * FINE;
    if owner == Owner::Left {
        let all = paths.bytes.entry((owner, Tone::Page)).or_default();
        all.add(x * FINE, y, columns);
        return Ok(());
    }
    let model = file.model;
    let bytes = model.page(n)?;
    let parts = page::layout(&bytes, n, model.usable(), model.page_role(n)?);
    let tones = tones(&parts, columns, bytes.len());
    for (column, tone) in (0..).zip(tones) {
        let runs = paths.bytes.entry((owner, tone)).or_default();
        runs.add(x * FINE + column, y, 1);
    }
    Ok(())
}

/// What is seen in each column: the byte in its middle.
fn tones(parts: &[PagePart], columns: i32, size: usize) -> Vec<Tone> {
    let in_a_column = size as f64 / f64::from(columns);
    let cells: Vec<usize> = parts
        .iter()
        .filter(|part| part.what == ByteUse::Cell)
        .map(|part| part.len)
        .collect();
    let mean = cells.iter().sum::<usize>() as f64 / cells.len().max(1) as f64;
    let apart = mean >= TELL_APART * in_a_column;
    let mut tones = Vec::with_capacity(columns as usize);
    let mut cell = 0;
    let mut parts = parts.iter().peekable();
    for column in 0..columns {
        let byte = ((f64::from(column) + 0.5) * in_a_column) as usize;
        while let Some(part) = parts.peek()
            && part.at + part.len <= byte
        {
            cell += usize::from(part.what == ByteUse::Cell);
            parts.next();
        }
        let what = parts.peek().map_or(ByteUse::Unallocated, |part| part.what);
        tones.push(match what {
            ByteUse::Cell if apart && cell % 2 == 1 => Tone::NextCell,
            ByteUse::Cell | ByteUse::Payload | ByteUse::FreePages | ByteUse::Pointers => Tone::Cell,
            ByteUse::FileHeader
            | ByteUse::PageHeader
            | ByteUse::NextPage
            | ByteUse::Count
            | ByteUse::Mark => Tone::Header,
            ByteUse::CellPointers | ByteUse::Reserved => Tone::Pointers,
            ByteUse::Freeblock | ByteUse::Fragment => Tone::Freeblock,
            ByteUse::Unallocated => Tone::Empty,
            ByteUse::Nothing => Tone::Page,
            ByteUse::Unknown => Tone::Wrong,
        });
    }
    tones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_fit_or_there_are_none() {
        for pages in [1, 7, 100, 1_000, 2_000] {
            let boxes = Boxes::new(pages, 874).unwrap();
            assert!(boxes.all(pages) <= HIGHEST, "{pages} {boxes:?}");
            assert!((boxes.width + GAP) * boxes.columns <= 874);
        }
        assert_eq!(Boxes::new(10_000, 874), None);
        assert_eq!(Boxes::new(u32::MAX, 874), None);
    }

    #[test]
    fn bytes_are_where_they_are() {
        let part = |at, len, what| PagePart {
            at,
            len,
            what,
            index: None,
        };
        let parts = [
            part(0, 100, ByteUse::PageHeader),
            part(100, 400, ByteUse::Unallocated),
            part(500, 200, ByteUse::Cell),
            part(700, 200, ByteUse::Cell),
            part(900, 100, ByteUse::Freeblock),
        ];
        use Tone::*;
        assert_eq!(
            tones(&parts, 10, 1000),
            [
                Header, Empty, Empty, Empty, Empty, Cell, Cell, Cell, Cell, Freeblock
            ]
        );
        let fine = tones(&parts, 20, 1000);
        assert_eq!(
            fine[10..19],
            [&[Cell; 4][..], &[NextCell; 4], &[Freeblock; 1]].concat()
        );
    }
}
