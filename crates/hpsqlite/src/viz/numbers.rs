//! What can be counted of a b-tree and of the file.
//!
//! **Scatter**, the fragmentation score of a b-tree, is the share of steps from a leaf to the next in
//! the order of keys that do not go on in the file: 0 is a b-tree in one piece, 1 one where every
//! step jumps. A step goes on if the next leaf is the next page, or if all pages between are
//! other pages of the same b-tree: overflow pages, since rows with large values are in order when each
//! leaf is followed by what its rows do not fit into, or interior pages, which a scan reads when
//! it comes to the leaves below them. It is a share of steps, not of distances or of
//! gaps in the file: each step that does not go on is one more request to the device,
//! whether it goes to the page before or to the end of the file, and free or foreign pages
//! that a scan never visits cost it nothing. So the time of a cold scan follows from it.
//!
//! **Fragmentation** is the figure of that name of `sqlite3_analyzer`, which goes through the pages
//! in the order of the file: the share of a b-tree's pages that are leaves and do not follow
//! another page of it. It cannot tell a b-tree in order from one whose leaves lie side by side in
//! any order, so both are given.
//!
//! **A cold scan** reads all rows in the order of keys when nothing is cached: every page of
//! the b-tree once ([`DeviceReading`]).

use serde::Serialize;

use super::device::{Device, DeviceReading};
use super::map::PageKind;
use super::tree::{Level, Tree, TreeRole};
use super::walk::Model;

/// What can be counted of each b-tree of a file that was scanned, and of the whole file.
pub fn of(model: &Model, device: Device) -> (Vec<Numbers>, Whole) {
    let gaps = gaps(model);
    let mut runs = Vec::new();
    let trees: Vec<Numbers> = (0..model.trees.len())
        .map(|t| Numbers::of(model, t, gaps[t], device, &mut runs))
        .collect();
    let whole = Whole::of(model, &trees, runs);
    (trees, whole)
}

/// How the leaves of a b-tree lie in the file.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct LeafOrder {
    /// From leaf to leaf in the order of keys.
    pub steps: u64,
    /// Steps that do not go on in the file.
    pub forward_jumps: u64,
    pub backward_jumps: u64,
    /// Steps that go on, but over other pages of the b-tree.
    pub steps_over: u64,
    /// The share of steps that jump.
    pub scatter: f64,
    /// Pieces of leaves that follow each other, by how many leaves they have.
    pub runs: u64,
    pub median_run: u64,
    pub longest_run: u64,
    /// Numbers of runs of 1, of 2 to 3, of 4 to 7 leaves and so on.
    pub runs_by_length: Vec<u64>,
}

impl LeafOrder {
    /// How `tree`'s leaves lie; the lengths of its runs are added to `runs`.
    fn of(model: &Model, tree: usize, runs: &mut Vec<u32>) -> LeafOrder {
        LeafOrder::of_leaves(&model.trees[tree].leaves, runs, |from, to| {
            own_between(model, tree, from, to)
        })
    }

    /// `between`: whether all pages after one and before another belong between them.
    fn of_leaves(
        leaves: &[u32],
        runs: &mut Vec<u32>,
        between: impl Fn(u32, u32) -> bool,
    ) -> LeafOrder {
        let mut order = LeafOrder::default();
        let mut lengths: Vec<u32> = Vec::new();
        let mut run = 0;
        for (i, &leaf) in leaves.iter().enumerate() {
            if let Some(&before) = i.checked_sub(1).and_then(|i| leaves.get(i)) {
                order.steps += 1;
                let goes_on = leaf > before && (leaf - before == 1 || between(before, leaf));
                order.steps_over += u64::from(goes_on && leaf - before > 1);
                if !goes_on {
                    order.forward_jumps += u64::from(leaf > before);
                    order.backward_jumps += u64::from(leaf < before);
                    lengths.push(run);
                    run = 0;
                }
            }
            run += 1;
        }
        if run > 0 {
            lengths.push(run);
        }
        runs.extend_from_slice(&lengths);
        order.count_runs(lengths);
        order
    }

    /// The same of several b-trees together.
    fn together(trees: &[Numbers], lengths: Vec<u32>) -> LeafOrder {
        let sum = |of: fn(&LeafOrder) -> u64| trees.iter().map(|n| of(&n.order)).sum();
        let mut order = LeafOrder {
            steps: sum(|order| order.steps),
            forward_jumps: sum(|order| order.forward_jumps),
            backward_jumps: sum(|order| order.backward_jumps),
            steps_over: sum(|order| order.steps_over),
            ..LeafOrder::default()
        };
        order.count_runs(lengths);
        order
    }

    fn count_runs(&mut self, mut lengths: Vec<u32>) {
        lengths.sort_unstable();
        self.runs = lengths.len() as u64;
        self.median_run = lengths.get(lengths.len() / 2).copied().unwrap_or(0).into();
        self.longest_run = lengths.last().copied().unwrap_or(0).into();
        for n in lengths {
            let power = n.max(1).ilog2() as usize;
            if self.runs_by_length.len() <= power {
                self.runs_by_length.resize(power + 1, 0);
            }
            self.runs_by_length[power] += 1;
        }
        self.scatter = self.jumps() as f64 / self.steps.max(1) as f64;
    }

    pub fn jumps(&self) -> u64 {
        self.forward_jumps + self.backward_jumps
    }
}

/// Whether all pages between two leaves belong to their b-tree and are no leaves. Each leaf is asked
/// for once, and the search ends with the run of such pages after it: all of them together look at
/// no more pages than the file has.
fn own_between(model: &Model, tree: usize, from: u32, to: u32) -> bool {
    let own = |n| !model.map.kind(n).is_leaf() && belongs(model, n) == Some(tree);
    (from + 1..to).all(own)
}

/// The b-tree that has this page, free pages that are reserved for it left out.
fn belongs(model: &Model, n: u32) -> Option<usize> {
    let kind = model.map.kind(n);
    (kind.is_btree() || kind == PageKind::Overflow)
        .then(|| model.map.owner(n))
        .flatten()
}

/// Of each b-tree, what lies where in the order of the file.
#[derive(Debug, Default, Clone, Copy)]
struct Gaps {
    /// Leaves that do not follow another of its pages, the first of its pages left out.
    leaves: u64,
    /// Pieces of interior pages alone: one that leads over to a leaf is a piece of leaves, and those
    /// are counted by their jumps.
    interior: u64,
    last: u32,
    /// The last page ended a piece of interior pages alone.
    only_interior: bool,
}

fn gaps(model: &Model) -> Vec<Gaps> {
    let mut gaps = vec![Gaps::default(); model.trees.len()];
    for n in 1..=model.map.pages() {
        let Some(t) = belongs(model, n) else { continue };
        let kind = model.map.kind(n);
        let gap = &mut gaps[t];
        let alone = n - gap.last > 1 || gap.last == 0;
        gap.leaves += u64::from(alone && gap.last > 0 && kind.is_leaf());
        let interior = kind.is_btree() && !kind.is_leaf();
        gap.interior += u64::from(alone && interior);
        // Such a leaf begins a run: the one before it in the order of keys is not just before it.
        gap.interior -= u64::from(!alone && kind.is_leaf() && gap.only_interior);
        gap.only_interior = interior && (alone || gap.only_interior);
        gap.last = n;
    }
    gaps
}

/// The numbers of one b-tree.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub name: String,
    pub table: String,
    pub role: TreeRole,
    pub root: u32,
    pub pages: u64,
    pub leaf_pages: u64,
    pub interior_pages: u64,
    pub overflow_pages: u64,
    pub reserved_pages: u64,
    pub bytes: u64,
    /// Rows, or entries of an index.
    pub entries: u64,
    pub depth: usize,
    pub levels: Vec<Level>,
    /// Children of an interior page on average, the level above the leaves first.
    pub fan_out: Vec<f64>,
    /// The same of all levels; 0 if there is only a root.
    pub average_fan_out: f64,
    pub payload: u64,
    pub unused: u64,
    pub largest_record: u64,
    /// The share of the leaves' bytes that is in use.
    pub leaf_fill: f64,
    pub overflow: super::tree::Chains,
    #[serde(flatten)]
    pub order: LeafOrder,
    /// Leaves that do not follow another page of the b-tree in the file, and their share.
    pub non_sequential: u64,
    pub fragmentation: f64,
    /// What a scan reads, whole rows and without overflow pages: the columns in the leaves.
    pub scan: DeviceReading,
    pub scan_leaves: DeviceReading,
    /// Seconds of these scans on the device that was given, one request at a time.
    pub cold_scan: f64,
    pub cold_scan_leaves: f64,
}

impl Numbers {
    fn of(model: &Model, t: usize, gaps: Gaps, device: Device, runs: &mut Vec<u32>) -> Numbers {
        let tree = &model.trees[t];
        let size = u64::from(model.image.header.page_size);
        let leaves = tree.leaf_level();
        let order = LeafOrder::of(model, t, runs);
        let interior_pages = tree.btree_pages().saturating_sub(leaves.pages);
        let requests = order.jumps() + 1 + gaps.interior;
        let chains = tree.chains;
        let scan_leaves = DeviceReading {
            bytes: tree.btree_pages() * size,
            // What is between leaves is left out, if it is not an interior page that is read as well.
            requests: requests
                + if chains.pages > 0 {
                    order.steps_over
                } else {
                    0
                },
        };
        let scan = DeviceReading {
            bytes: scan_leaves.bytes + chains.pages * size,
            requests: requests + chains.jumps + chains.away,
        };
        Numbers {
            name: tree.name.clone(),
            table: tree.table.clone(),
            role: tree.role,
            root: tree.root,
            pages: tree.pages(),
            leaf_pages: leaves.pages,
            interior_pages,
            overflow_pages: tree.chains.pages,
            reserved_pages: tree.reserved,
            bytes: tree.pages() * size,
            entries: tree.entries(),
            depth: tree.levels.len(),
            levels: tree.levels.clone(),
            fan_out: tree.fan_out(),
            average_fan_out: if interior_pages > 0 {
                (tree.btree_pages() - 1) as f64 / interior_pages as f64
            } else {
                0.0
            },
            payload: tree.payload(),
            unused: tree.unused(),
            largest_record: tree.largest,
            leaf_fill: fill(&leaves, model.usable() as u64),
            overflow: tree.chains,
            order,
            non_sequential: gaps.leaves,
            fragmentation: gaps.leaves as f64 / tree.pages().saturating_sub(1).max(1) as f64,
            scan,
            scan_leaves,
            cold_scan: device.seconds(scan),
            cold_scan_leaves: device.seconds(scan_leaves),
        }
    }
}

fn fill(level: &Level, usable: u64) -> f64 {
    let all = level.pages * usable;
    1.0 - level.unused as f64 / all.max(1) as f64
}

/// The numbers of the file.
#[derive(Debug, Clone, Serialize)]
pub struct Whole {
    pub pages: u64,
    pub free_pages: u64,
    /// Of these, free pages that are kept for a b-tree.
    pub reserved_pages: u64,
    pub orphan_pages: u64,
    pub bytes: u64,
    pub payload: u64,
    pub unused: u64,
    /// How many pages are of what kind; kinds that there are.
    pub kinds: Vec<(PageKind, u64)>,
    /// The leaves of all b-trees.
    #[serde(flatten)]
    pub order: LeafOrder,
    /// About how many bytes VACUUM would make the file smaller.
    pub vacuum_gives_back: u64,
}

impl Whole {
    fn of(model: &Model, numbers: &[Numbers], runs: Vec<u32>) -> Whole {
        let size = u64::from(model.image.header.page_size);
        let pages = u64::from(model.map.pages());
        let mut by_kind = [0u64; PageKind::ALL.len()];
        for n in 1..=model.map.pages() {
            by_kind[model.map.kind(n) as usize] += 1;
        }
        let count = |of: fn(PageKind) -> bool| {
            let all = PageKind::ALL.iter().zip(by_kind);
            all.filter(|&(&k, _)| of(k)).map(|(_, n)| n).sum::<u64>()
        };
        let special = count(|kind| matches!(kind, PageKind::PointerMap | PageKind::LockByte));
        let after: u64 = model.trees.iter().map(|t| packed(t, model.usable())).sum();
        Whole {
            pages,
            free_pages: count(PageKind::is_free),
            reserved_pages: numbers.iter().map(|n| n.reserved_pages).sum(),
            orphan_pages: count(|kind| kind == PageKind::Orphan),
            bytes: pages * size,
            payload: numbers.iter().map(|n| n.payload).sum(),
            unused: numbers.iter().map(|n| n.unused).sum(),
            kinds: PageKind::ALL
                .into_iter()
                .zip(by_kind)
                .filter(|&(_, n)| n > 0)
                .collect(),
            order: LeafOrder::together(numbers, runs),
            vacuum_gives_back: pages.saturating_sub(after + special) * size,
        }
    }
}

/// With fewer cells to a leaf than this, what is left of a page is no small part of it.
const FEW_CELLS: f64 = 8.0;

/// About how many pages a b-tree has after VACUUM, which fills each page until the next cell does
/// not fit: half a cell stays empty.
fn packed(tree: &Tree, usable: usize) -> u64 {
    let mut pages = tree.chains.pages;
    let mut ratio = 1.0;
    for (i, level) in tree.levels.iter().rev().enumerate() {
        let header = if i == 0 { 8.0 } else { 12.0 };
        let all = (level.pages * usable as u64) as f64 - level.pages as f64 * header;
        let used = all - level.unused as f64;
        let cell = used / level.cells.max(1) as f64;
        let room = usable as f64 - header - cell / 2.0;
        // With fewer pages below, an interior page has fewer cells.
        let needed = (used * ratio / room.max(cell).max(1.0)).ceil();
        // Of a few large cells a page holds a whole number, however much of it that leaves empty.
        let whole = ((usable as f64 - header) / cell.max(1.0)).floor();
        let needed = match i {
            0 if whole < FEW_CELLS => needed.max((level.cells as f64 / whole.max(1.0)).ceil()),
            _ => needed,
        };
        let needed = (needed as u64).clamp(1, level.pages.max(1));
        ratio = needed as f64 / level.pages.max(1) as f64;
        pages += needed;
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_jumps_of_leaves() {
        let overflow = [7, 8];
        let mut runs = Vec::new();
        let order = LeafOrder::of_leaves(&[2, 3, 4, 6, 9, 5, 20, 21], &mut runs, |from, to| {
            (from + 1..to).all(|n| overflow.contains(&n))
        });
        assert_eq!(order.steps, 7);
        assert_eq!(order.forward_jumps, 2); // 4 to 6, 5 to 20; 6 to 9 goes on over 7 and 8.
        assert_eq!(order.backward_jumps, 1);
        assert_eq!(order.steps_over, 1);
        assert_eq!(order.runs, 4);
        assert_eq!((order.median_run, order.longest_run), (2, 3));
        assert_eq!(order.runs_by_length, [1, 3]);
        assert!((order.scatter - 3.0 / 7.0).abs() < 1e-9);
        assert_eq!(runs, [3, 2, 1, 2]);
        let empty = LeafOrder::of_leaves(&[], &mut runs, |_, _| false);
        assert_eq!(empty, LeafOrder::default());
        let one = LeafOrder::of_leaves(&[5], &mut runs, |_, _| false);
        assert_eq!(one.scatter, 0.0);
    }
}
