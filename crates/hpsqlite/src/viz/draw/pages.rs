//! A cell for each page, or for several: a map of a file of any size.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ink::RunsPath;
use super::{DrawnFile, Kinds, LEVELS, Owner, level};
use crate::viz::map::PageKind;

/// Cells so small have no marks.
pub const MARKED: i32 = 6;

/// How large cells are, and how many pages each stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Pixels.
    pub size: i32,
    /// Cells in a row.
    pub columns: i32,
    /// Pages a cell.
    pub pages: u32,
}

/// A grid as high as this is preferred, and one as high as this is the largest.
const GOOD: i32 = 720;
const HIGHEST: i32 = 1050;

impl Grid {
    /// The largest cells with which `pages` fit into a width; `least`: at least so many pages a cell.
    pub fn new(pages: u32, width: i32, least: u32) -> Grid {
        let rows = |columns: i32, each: u32| {
            let cells = pages.div_ceil(each);
            i64::from(cells.div_ceil(columns as u32))
        };
        for size in [16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3] {
            let columns = width / size / 10 * 10;
            let most = if size == 3 { HIGHEST } else { GOOD };
            if least == 1 && rows(columns, 1) * i64::from(size) <= i64::from(most) {
                return Grid {
                    size,
                    columns,
                    pages: 1,
                };
            }
        }
        let (size, columns) = (3, width / 3 / 10 * 10);
        let mut each = 1u32;
        while each < least || rows(columns, each) * i64::from(size) > i64::from(HIGHEST) {
            each = next(each);
        }
        Grid {
            size,
            columns,
            pages: each,
        }
    }

    /// The height of so many pages.
    pub fn height(&self, pages: u32) -> i32 {
        let cells = pages.div_ceil(self.pages);
        cells.div_ceil(self.columns as u32) as i32 * self.size
    }
}

/// 1, 2, 5, 10, 20, 50 and so on.
pub fn next(n: u32) -> u32 {
    let mut power = 1;
    while power * 10 <= n {
        power *= 10;
    }
    match n / power {
        1 => power * 2,
        2 => power * 5,
        _ => power * 10,
    }
}

/// What a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CellLook {
    owner: Owner,
    kind: PageKind,
    fill: u8,
}

/// Paths of a map: by owner and brightness, and marks laid over them.
#[derive(Debug, Default)]
pub struct PagePaths {
    pub base: BTreeMap<(Owner, u8), RunsPath>,
    pub overflow: RunsPath,
    pub reserved: RunsPath,
    pub index: RunsPath,
    /// Outlines of cells.
    pub interior: String,
    pub trunk: RunsPath,
    pub cells: usize,
}

/// The map of a file.
pub fn draw(file: &DrawnFile<'_>, grid: Grid, kinds: &mut Kinds) -> PagePaths {
    let mut paths = PagePaths::default();
    let (first, last) = file.range();
    let mut turns = Turns::default();
    let size = grid.size;
    let mut from = first;
    let mut at = 0;
    while from <= last {
        let to = last.min(from.saturating_add(grid.pages - 1));
        let cell = if from == to {
            one(file, from)
        } else {
            turns.next((from..=to).map(|n| one(file, n)))
        };
        let (x, y) = (at % grid.columns * size, at / grid.columns * size);
        let shade = match cell.owner {
            Owner::Tree(_) if cell.kind.is_free() => LEVELS / 2,
            Owner::Tree(_) => level(cell.fill),
            _ => LEVELS,
        };
        kinds.note(cell.owner, cell.kind);
        let base = paths.base.entry((cell.owner, shade)).or_default();
        base.add(x, y, size);
        mark(&mut paths, cell, (x, y), size);
        at += 1;
        from = match to.checked_add(1) {
            Some(next) => next,
            None => break,
        };
    }
    paths.cells = at as usize;
    paths
}

fn one(file: &DrawnFile<'_>, n: u32) -> CellLook {
    let map = &file.model.map;
    CellLook {
        owner: file.owner(n),
        kind: map.kind(n),
        fill: map.fill(n),
    }
}

/// What lies over a cell.
fn mark(paths: &mut PagePaths, cell: CellLook, (x, y): (i32, i32), size: i32) {
    if cell.owner == Owner::Left {
        return;
    }
    match cell.kind {
        PageKind::Overflow => paths.overflow.add(x, y, size),
        PageKind::Reserved => paths.reserved.add(x, y, size),
        PageKind::FreeTrunk if matches!(cell.owner, Owner::Tree(_)) => {
            paths.reserved.add(x, y, size)
        }
        _ => {}
    }
    if size < MARKED {
        return;
    }
    let dot = dot(size);
    let inside = x + (size - 1 - dot) / 2;
    match cell.kind {
        PageKind::TableInterior | PageKind::IndexInterior => {
            let side = size - 1 - frame(size);
            // Writing to a String succeeds.
            let _ = write!(paths.interior, "M{x} {y}h{side}v{side}h-{side}z");
        }
        PageKind::IndexLeaf => paths.index.add(x + size - 1 - notch(size), y, notch(size)),
        PageKind::FreeTrunk => paths.trunk.add(inside, y, dot),
        _ => {}
    }
}

/// How thick the frame of interior pages is.
pub fn frame(size: i32) -> i32 {
    1 + i32::from(size > 9)
}

/// The side of the square in the middle of trunks.
pub fn dot(size: i32) -> i32 {
    // As odd or even as what is seen of a cell, so that it is in the middle.
    let dot = (size - 1) / 2;
    dot - (size - 1 - dot) % 2
}

/// The side of the corner that leaves of indexes lack.
pub fn notch(size: i32) -> i32 {
    (size / 3).max(2)
}

/// Which of the pages of a cell gives it its colour: where several b-trees share a region they take
/// turns, as often as each has pages there.
#[derive(Debug, Default)]
struct Turns {
    owed: BTreeMap<(Owner, u8), i64>,
}

impl Turns {
    fn next(&mut self, pages: impl Iterator<Item = CellLook>) -> CellLook {
        let mut here: BTreeMap<(Owner, u8), (i64, u64, PageKind)> = BTreeMap::new();
        let mut all = 0;
        for page in pages {
            let key = (page.owner, page.kind as u8);
            let entry = here.entry(key).or_insert((0, 0, page.kind));
            entry.0 += 1;
            entry.1 += u64::from(page.fill);
            all += 1;
        }
        // Nothing is owed to those that are not here.
        self.owed.retain(|key, _| here.contains_key(key));
        for (key, (count, ..)) in &here {
            *self.owed.entry(*key).or_default() += count;
        }
        let most = here.iter().max_by_key(|(key, (count, ..))| {
            let owed = self.owed.get(key).copied().unwrap_or_default();
            (owed, *count)
        });
        let Some((&key, &(count, fill, kind))) = most else {
            return CellLook {
                owner: Owner::Nobody(PageKind::Unknown as u8),
                kind: PageKind::Unknown,
                fill: 0,
            };
        };
        *self.owed.entry(key).or_default() -= all;
        CellLook {
            owner: key.0,
            kind,
            fill: (fill / count.unsigned_abs().max(1)) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_large_as_fits() {
        let of = |pages, width| Grid::new(pages, width, 1);
        assert_eq!((of(100, 874).size, of(100, 874).columns), (16, 50));
        let grid = of(3_000, 425);
        assert!(grid.pages == 1 && grid.height(3_000) <= GOOD, "{grid:?}");
        assert!(grid.size >= MARKED);
        for pages in [90_000, 1_000_000, u32::MAX - 1] {
            for width in [874, 425, 275] {
                let grid = of(pages, width);
                assert!(grid.height(pages) <= HIGHEST, "{pages} {grid:?}");
                let cells = u64::from(pages / grid.pages);
                assert!(cells > 8_000 && cells < 110_000, "{pages} {grid:?}");
            }
        }
        assert_eq!(of(90_000, 874).pages, 1);
        assert_eq!(of(1_000_000, 874).pages, 10);
        assert_eq!(Grid::new(1_000_000, 874, 11).pages, 20);
    }

    #[test]
    fn round_numbers() {
        let all: Vec<u32> = std::iter::successors(Some(1), |&n| Some(next(n)))
            .take(7)
            .collect();
        assert_eq!(all, [1, 2, 5, 10, 20, 50, 100]);
    }

    fn page(tree: usize) -> CellLook {
        CellLook {
            owner: Owner::Tree(tree),
            kind: PageKind::TableLeaf,
            fill: 200,
        }
    }

    #[test]
    fn b_trees_that_share_a_region_take_turns() {
        let mut turns = Turns::default();
        let mut shown = [0; 3];
        for _ in 0..100 {
            // Five pages of one, three of another, two of a third.
            let pages = [0, 1, 0, 2, 0, 1, 0, 2, 0, 1].map(page);
            let cell = turns.next(pages.into_iter());
            assert_eq!(cell.fill, 200);
            let Owner::Tree(tree) = cell.owner else {
                panic!("{cell:?}")
            };
            shown[tree] += 1;
        }
        assert_eq!(shown, [50, 30, 20]);
    }

    #[test]
    fn marks_are_in_the_middle() {
        for size in MARKED..=16 {
            assert_eq!((size - 1 - dot(size)) % 2, 0, "{size}");
            assert!(dot(size) > 0 && dot(size) < size - 1);
        }
    }
}
