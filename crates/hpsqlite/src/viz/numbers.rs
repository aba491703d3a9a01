//! What can be counted of a b-tree and of the file, and what may be done about it.
//!
//! **Scatter**, the fragmentation score of a b-tree, is the share of steps from a leaf to the next in
//! the order of keys that do not go on in the file: 0 is a b-tree in one piece, 1 one where every
//! step jumps. A step goes on if the next leaf is the next page, or if all pages between are
//! overflow pages of the same b-tree, since rows with large values are in order when each leaf is
//! followed by what its rows do not fit into. It is a share of steps, not of distances or of
//! gaps in the file: each step that does not go on is one more request to the device,
//! whether it goes to the page before or to the end of the file, and free or foreign pages
//! that a scan never visits cost it nothing. So the time of a cold scan follows from it.

use serde::Serialize;

use super::map::Kind;
use super::tree::{Level, Role, Tree};
use super::walk::Model;
use crate::text;

/// A device that a cold scan is estimated for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Device {
    /// Bytes a second, in one piece.
    pub throughput: f64,
    /// Seconds until a read somewhere else begins.
    pub latency: f64,
}

/// An ordinary solid-state disk.
pub const DISK: Device = Device {
    throughput: 500e6,
    latency: 100e-6,
};

/// How the leaves of a b-tree lie in the file.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Order {
    /// From leaf to leaf in the order of keys.
    pub steps: u64,
    /// Steps that do not go on in the file.
    pub forward_jumps: u64,
    pub backward_jumps: u64,
    /// The share of steps that jump.
    pub scatter: f64,
    /// Pieces of leaves that follow each other, by how many leaves they have.
    pub runs: u64,
    pub median_run: u64,
    pub longest_run: u64,
    /// Numbers of runs of 1, of 2 to 3, of 4 to 7 leaves and so on.
    pub runs_by_length: Vec<u64>,
}

impl Order {
    /// How `tree`'s leaves lie.
    pub fn of(model: &Model, tree: usize) -> Order {
        Order::of_leaves(&model.trees[tree].leaves, |from, to| {
            own_overflow(model, tree, from, to)
        })
    }

    /// `between`: whether all pages after one and before another belong between them.
    fn of_leaves(leaves: &[u32], between: impl Fn(u32, u32) -> bool) -> Order {
        let mut order = Order::default();
        let mut lengths: Vec<u64> = Vec::new();
        let mut run = 0;
        for (i, &leaf) in leaves.iter().enumerate() {
            if let Some(&before) = i.checked_sub(1).and_then(|i| leaves.get(i)) {
                order.steps += 1;
                let goes_on = leaf > before && (leaf - before == 1 || between(before, leaf));
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
        lengths.sort_unstable();
        order.runs = lengths.len() as u64;
        order.median_run = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        order.longest_run = lengths.last().copied().unwrap_or(0);
        for n in lengths {
            let power = n.ilog2() as usize;
            if order.runs_by_length.len() <= power {
                order.runs_by_length.resize(power + 1, 0);
            }
            order.runs_by_length[power] += 1;
        }
        order.scatter = order.jumps() as f64 / order.steps.max(1) as f64;
        order
    }

    pub fn jumps(&self) -> u64 {
        self.forward_jumps + self.backward_jumps
    }
}

/// Whether all pages between two leaves are overflow pages of their b-tree. Each leaf is asked for
/// once, and the search ends with the run of overflow pages after it: all of them together look at
/// no more pages than the file has.
fn own_overflow(model: &Model, tree: usize, from: u32, to: u32) -> bool {
    let own = |n| model.map.kind(n) == Kind::Overflow && model.map.owner(n) == Some(tree);
    (from + 1..to).all(own)
}

/// The numbers of one b-tree.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    pub name: String,
    pub table: String,
    pub role: Role,
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
    pub payload: u64,
    pub unused: u64,
    pub largest_record: u64,
    /// The share of the leaves' bytes that is in use.
    pub leaf_fill: f64,
    pub overflow: super::tree::Chains,
    #[serde(flatten)]
    pub order: Order,
    /// Seconds to read all of its leaves from the device, in the order of keys, one request at
    /// a time.
    pub cold_scan: f64,
}

impl Numbers {
    pub fn of(model: &Model, t: usize, device: Device) -> Numbers {
        let tree = &model.trees[t];
        let size = u64::from(model.image.header.page_size);
        let leaves = tree.leaf_level();
        let order = Order::of(model, t);
        let read = (tree.leaves.len() as u64 * size) as f64;
        let requests = (order.jumps() + 1) as f64;
        Numbers {
            name: tree.name.clone(),
            table: tree.table.clone(),
            role: tree.role,
            root: tree.root,
            pages: tree.pages(),
            leaf_pages: leaves.pages,
            interior_pages: tree.btree_pages() - leaves.pages,
            overflow_pages: tree.chains.pages,
            reserved_pages: tree.reserved,
            bytes: tree.pages() * size,
            entries: tree.entries(),
            depth: tree.levels.len(),
            levels: tree.levels.clone(),
            fan_out: tree.fan_out(),
            payload: tree.payload(),
            unused: tree.unused(),
            largest_record: tree.largest,
            leaf_fill: fill(&leaves, model.usable() as u64),
            overflow: tree.chains,
            cold_scan: read / device.throughput + requests * device.latency,
            order,
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
    /// Of all steps between leaves, the share that jumps.
    pub scatter: f64,
    /// About how many bytes VACUUM would make the file smaller.
    pub vacuum_gives_back: u64,
}

impl Whole {
    pub fn of(model: &Model, numbers: &[Numbers]) -> Whole {
        let size = u64::from(model.image.header.page_size);
        let pages = u64::from(model.map.pages());
        let count = |of: fn(Kind) -> bool| {
            let all = 1..=model.map.pages();
            all.filter(|&n| of(model.map.kind(n))).count() as u64
        };
        let special = count(|kind| matches!(kind, Kind::PointerMap | Kind::LockByte));
        let after: u64 = model.trees.iter().map(|t| packed(t, model.usable())).sum();
        let jumps: u64 = numbers.iter().map(|n| n.order.jumps()).sum();
        let steps: u64 = numbers.iter().map(|n| n.order.steps).sum();
        Whole {
            pages,
            free_pages: count(Kind::is_free),
            reserved_pages: numbers.iter().map(|n| n.reserved_pages).sum(),
            orphan_pages: count(|kind| kind == Kind::Orphan),
            bytes: pages * size,
            payload: numbers.iter().map(|n| n.payload).sum(),
            unused: numbers.iter().map(|n| n.unused).sum(),
            scatter: jumps as f64 / steps.max(1) as f64,
            vacuum_gives_back: pages.saturating_sub(after + special) * size,
        }
    }
}

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
        let needed = (needed as u64).clamp(1, level.pages.max(1));
        ratio = needed as f64 / level.pages.max(1) as f64;
        pages += needed;
    }
    pages
}

/// Below so many leaves nothing is said of a b-tree.
const SMALL: u64 = 64;

/// What may be done, in words; nothing where nothing is worth doing.
pub fn advice(model: &Model, numbers: &[Numbers], whole: &Whole) -> Vec<String> {
    let mut advice = Vec::new();
    let back = whole.vacuum_gives_back;
    if back * 20 > whole.bytes && back > 0 {
        let size = u64::from(model.image.header.page_size);
        let free = (whole.free_pages - whole.reserved_pages.min(whole.free_pages)) * size;
        let mut what = format!(
            "VACUUM would give back about {} of {}",
            text::bytes(back),
            text::bytes(whole.bytes)
        );
        if free > 0 {
            what += &format!("; {} of it are free pages", text::bytes(free.min(back)));
        }
        advice.push(what + ".");
    }
    for (t, numbers) in numbers.iter().enumerate() {
        if numbers.leaf_pages < SMALL {
            continue;
        }
        if numbers.order.scatter > 0.2 {
            advice.push(scattered(model, t, numbers));
        }
        let name = &numbers.name;
        if numbers.leaf_fill < 0.6 {
            let cure = match numbers.role {
                Role::Index if !numbers.name.starts_with("sqlite_autoindex") => {
                    format!("REINDEX {name} or VACUUM")
                }
                _ => "VACUUM".to_owned(),
            };
            advice.push(format!(
                "The leaves of {name} are {:.0} % full: entries were deleted, or came in no order \
                 so that full pages were split in two. {cure} fills them.",
                100.0 * numbers.leaf_fill
            ));
        }
        let chains = &numbers.overflow;
        if chains.pages * 2 > numbers.pages && chains.chains > 0 {
            advice.push(format!(
                "{} of the {} pages of {name} are overflow pages, in chains of up to {}: what does \
                 not fit into a row's leaf. Larger pages hold more of a row; large columns in a \
                 table of their own leave the other columns close together.",
                text::thousands(chains.pages),
                text::thousands(numbers.pages),
                text::thousands(chains.longest)
            ));
        }
    }
    advice
}

/// Why a b-tree is scattered: what the pages after its leaves are, where a step jumps.
fn scattered(model: &Model, t: usize, numbers: &Numbers) -> String {
    let tree = &model.trees[t];
    let mut others = vec![0u64; model.trees.len()];
    for pair in tree.leaves.windows(2) {
        let after = pair[0] + 1;
        if pair[1] != after
            && model.map.has(after)
            && let Some(owner) = model.map.owner(after)
            && owner != t
        {
            others[owner] += 1;
        }
    }
    let order = &numbers.order;
    let jumps = order.jumps().max(1);
    let mut names: Vec<(u64, &str)> = others
        .iter()
        .zip(&model.trees)
        .filter(|&(&n, _)| n * 20 > jumps)
        .map(|(&n, tree)| (n, tree.name.as_str()))
        .collect();
    names.sort_unstable_by_key(|&(n, _)| std::cmp::Reverse(n));
    let foreign: u64 = others.iter().sum();
    let why = if order.backward_jumps * 4 > jumps {
        "keys came in no order, so pages were split wherever a key belonged".to_owned()
    } else if foreign * 2 > jumps && !names.is_empty() {
        let mut some: Vec<String> = names.iter().take(4).map(|(_, n)| (*n).to_owned()).collect();
        if names.len() > some.len() {
            some.push("others".to_owned());
        }
        format!("it grew together with {}", text::list(&some))
    } else {
        "free pages were used again, or rows grew after they were written".to_owned()
    };
    let name = &numbers.name;
    format!(
        "{name} is scattered: {:.0} % of the steps between its leaves jump; {why}. VACUUM puts it in \
         order.",
        100.0 * order.scatter
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_jumps_of_leaves() {
        let overflow = [7, 8];
        let order = Order::of_leaves(&[2, 3, 4, 6, 9, 5, 20, 21], |from, to| {
            (from + 1..to).all(|n| overflow.contains(&n))
        });
        assert_eq!(order.steps, 7);
        assert_eq!(order.forward_jumps, 2); // 4 to 6, 5 to 20; 6 to 9 goes on over 7 and 8.
        assert_eq!(order.backward_jumps, 1);
        assert_eq!(order.runs, 4);
        assert_eq!((order.median_run, order.longest_run), (2, 3));
        assert_eq!(order.runs_by_length, [1, 3]);
        assert!((order.scatter - 3.0 / 7.0).abs() < 1e-9);
        assert_eq!(Order::of_leaves(&[], |_, _| false), Order::default());
        assert_eq!(Order::of_leaves(&[5], |_, _| false).scatter, 0.0);
    }
}
