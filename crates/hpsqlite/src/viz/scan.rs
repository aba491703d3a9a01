//! The scan: every page once, in the order of the file.
//!
//! Pages of b-trees are gone through whole: what they hold is counted, what is wrong is noted, and
//! where their cells' overflow chains start is kept. Of pages whose owner is not known the first
//! four bytes are kept: if such a page is in a chain, they are the number of the next. So the
//! chains are followed afterwards in memory, and each page is read once.
//!
//! [`Scan::step`] does a mebibyte, so that whoever runs it can show progress, stop, or let others
//! look at the model in between; [`Scan::finish`] does what is left when all pages were seen.

use std::collections::HashSet;
use std::io;

use super::keyorder::{self, Elections};
use super::map::{PageKind, Problems};
use super::page::{self, Btree};
use super::tree::Level;
use super::wal::be32;
use super::walk::{Model, kind_of};

/// Bytes that are read at once.
const RUN: usize = 1 << 20;
/// A page that has no place in the order of leaves.
const NOWHERE: u32 = u32::MAX;

/// Where a cell's record goes on.
struct Head {
    /// The page with the cell.
    page: u32,
    first: u32,
    /// Bytes of the record that are not in the page.
    bytes: u32,
}

/// A scan on its way.
pub struct Scan {
    next_page: u32,
    run: Vec<u8>,
    /// Pages in `run` that were not entered into the model.
    count: usize,
    used: Vec<(u32, u32)>,
    /// The first four bytes of pages whose owner is not known.
    links: Vec<u32>,
    /// Of each leaf its place among the leaves of its b-tree.
    places: Vec<u32>,
    heads: Vec<Head>,
    elections: Elections,
}

impl Scan {
    pub fn new(model: &Model) -> Scan {
        let pages = model.map.pages() as usize + 1;
        let mut places = vec![NOWHERE; pages];
        for tree in &model.trees {
            for (i, &leaf) in (0..).zip(&tree.leaves) {
                places[leaf as usize] = i;
            }
        }
        let size = model.image.header.page_size as usize;
        Scan {
            next_page: 1,
            run: vec![0; RUN.max(size)],
            count: 0,
            used: Vec::new(),
            links: vec![0; pages],
            places,
            heads: Vec::new(),
            elections: Elections::default(),
        }
    }

    /// Pages that were looked at.
    pub fn done(&self) -> u32 {
        self.next_page - 1
    }

    /// Looks at the next pages. False: there are no more.
    pub fn step(&mut self, model: &mut Model) -> io::Result<bool> {
        let more = self.read(model)?;
        self.digest(model);
        Ok(more)
    }

    /// The first half of a step, for which nobody has to wait: reads the next pages. False: there
    /// are no more.
    pub fn read(&mut self, model: &Model) -> io::Result<bool> {
        let size = model.image.header.page_size as usize;
        let left = (model.map.pages() + 1 - self.next_page) as usize;
        self.count = left.min(self.run.len() / size);
        if self.count > 0 {
            let run = &mut self.run[..self.count * size];
            if let Err(e) = model.image.read_run(self.next_page, run) {
                self.count = 0;
                return Err(e);
            }
        }
        Ok(self.count > 0)
    }

    /// The other half: enters what was read into the model.
    pub fn digest(&mut self, model: &mut Model) {
        let size = model.image.header.page_size as usize;
        let count = std::mem::take(&mut self.count);
        let run = std::mem::take(&mut self.run);
        for (n, page) in (self.next_page..).zip(run[..count * size].chunks_exact(size)) {
            match model.map.kind(n) {
                kind if kind.is_btree() => self.btree(model, n, page),
                PageKind::Unknown => self.links[n as usize] = be32(page, 0),
                _ => {}
            }
        }
        self.next_page += count as u32;
        self.run = run;
    }

    /// Goes through a page of a b-tree.
    fn btree(&mut self, model: &mut Model, n: u32, page: &[u8]) {
        let usable = model.usable();
        let expected = model.map.kind(n);
        let Some(t) = model.map.owner(n) else { return };
        let btree = match Btree::parse(page, n, usable) {
            Ok(btree) => btree,
            Err(e) => {
                model.problems.add(n, e);
                return;
            }
        };
        let found = kind_of(btree.shape);
        if found != expected {
            let what = format!("it should be {}, but it is {}", expected.one(), found.one());
            model.problems.add(n, what);
            model.map.set_kind(n, found);
            if !found.is_leaf() {
                model.deeper.push(n);
            }
        }
        let mut order = RowidOrder::new(model, t, self.places[n as usize], &btree);
        let (heads, problems) = (&mut self.heads, &mut model.problems);
        let mut bad = Vec::new();
        let sum = btree.examine(
            &mut self.used,
            |cell| {
                if (cell.local as u64) < cell.payload {
                    let bytes = cell.payload - cell.local as u64;
                    heads.push(Head {
                        page: n,
                        first: cell.overflow,
                        bytes: bytes as u32,
                    });
                }
                if let Some(rowid) = cell.rowid {
                    order.check(n, rowid, problems);
                }
            },
            |what| bad.push(what),
        );
        for what in bad {
            problems.add(n, what);
        }
        if !btree.shape.is_table() {
            let around = self.around(model, t, n, &btree);
            let binary = model.trees[t].binary;
            self.elections.count(t, n, &btree, binary, around);
        }
        model
            .map
            .set_fill(n, (usable as u64).saturating_sub(sum.unused), usable as u64);
        let depth = model.map.depth(n);
        let tree = &mut model.trees[t];
        tree.largest = tree.largest.max(sum.largest);
        if tree.levels.len() <= depth {
            tree.levels.resize(depth + 1, Level::default());
        }
        let level = &mut tree.levels[depth];
        level.cells += sum.cells;
        level.payload += sum.payload;
        level.unused += sum.unused;
    }

    /// The marks of the keys before and after a leaf of an index.
    fn around(&self, model: &Model, t: usize, n: u32, btree: &Btree<'_>) -> (i64, i64) {
        let bounds = model.bounds.get(t).map_or(&[][..], Vec::as_slice);
        let place = self.places[n as usize];
        if place == NOWHERE || !btree.shape.is_leaf() {
            return (keyorder::UNKNOWN, keyorder::UNKNOWN);
        }
        let mark = |i: Option<usize>| i.and_then(|i| bounds.get(i)).copied();
        let i = place as usize;
        (
            mark(i.checked_sub(1)).unwrap_or(keyorder::UNKNOWN),
            mark(Some(i)).unwrap_or(keyorder::UNKNOWN),
        )
    }

    /// Does what needs all pages to have been seen.
    pub fn finish(mut self, model: &mut Model) -> io::Result<()> {
        self.go_deeper(model)?;
        let heads = std::mem::take(&mut self.heads);
        let ends: Vec<u32> = heads.iter().map(|head| self.chain(model, head)).collect();
        self.chains_away(model, &heads, &ends);
        for n in 1..=model.map.pages() {
            if model.map.kind(n) == PageKind::Unknown {
                model.map.set(n, PageKind::Orphan, None, 0);
            }
        }
        orphans(model);
        std::mem::take(&mut self.elections).tell(&mut model.problems);
        pointer_maps(model)?;
        model.bounds = Vec::new();
        model.problems.sort();
        model.scanned = true;
        Ok(())
    }

    /// Walks what is below interior pages that were taken for leaves.
    fn go_deeper(&mut self, model: &mut Model) -> io::Result<()> {
        let mut gone = HashSet::new();
        while let Some(n) = model.deeper.pop() {
            let Some(owner) = model.map.owner(n).filter(|_| gone.insert(n)) else {
                continue;
            };
            let page = model.page(n)?;
            let Ok(btree) = Btree::parse(&page, n, model.usable()) else {
                continue;
            };
            let cells = (0..btree.cells).filter_map(|i| btree.cell(i).ok());
            let children: Vec<u32> = cells.map(|c| c.child).chain([btree.right]).collect();
            for child in children {
                let known = model.map.has(child) && model.map.kind(child) == PageKind::Unknown;
                let below = if known {
                    model.page(child)?
                } else {
                    Vec::new()
                };
                let kind = match Btree::parse(&below_or_empty(&below, model), child, model.usable())
                {
                    Ok(found) => kind_of(found.shape),
                    Err(_) => PageKind::TableLeaf,
                };
                if model.claim(child, kind, Some(owner), n) {
                    if !kind.is_leaf() {
                        model.deeper.push(child);
                    }
                    let depth = model.map.depth(child);
                    let tree = &mut model.trees[owner];
                    if tree.levels.len() <= depth {
                        tree.levels.resize(depth + 1, Level::default());
                    }
                    tree.levels[depth].pages += 1;
                    self.btree(model, child, &below);
                }
            }
        }
        Ok(())
    }

    /// Counts the chains that a scan in the order of keys has to go elsewhere for.
    fn chains_away(&self, model: &mut Model, heads: &[Head], ends: &[u32]) {
        let mut in_order: Vec<usize> = (0..heads.len()).collect();
        let key = |&i: &usize| {
            let page = heads[i].page;
            (model.map.owner(page), self.places[page as usize])
        };
        // Stable: the chains of one page are in the order of its cells.
        in_order.sort_by_key(key);
        let mut before = (None, 0);
        for i in in_order {
            let head = &heads[i];
            let owner = model.map.owner(head.page);
            let Some(t) = owner else { continue };
            let follows = before.0 == owner && Some(head.first) == u32::checked_add(before.1, 1);
            // A row's chain is written before the leaf that the row then goes to is made: so it may
            // lie behind the leaf before, or end in front of its own.
            let leaves = &model.trees[t].leaves;
            let place = self.places[head.page as usize] as usize;
            let last_leaf = place.checked_sub(1).and_then(|i| leaves.get(i)).copied();
            let behind = |leaf: u32| Some(head.first) == leaf.checked_add(1);
            let near = behind(head.page)
                || last_leaf.is_some_and(behind)
                || Some(head.page) == ends[i].checked_add(1);
            model.trees[t].chains.away += u64::from(!follows && !near);
            before = (owner, ends[i]);
        }
    }

    /// Follows a chain of overflow pages; gives the last of them.
    fn chain(&self, model: &mut Model, head: &Head) -> u32 {
        let room = model.usable() as u64 - 4;
        let Some(t) = model.map.owner(head.page) else {
            return 0;
        };
        let mut left = u64::from(head.bytes);
        let wanted = left.div_ceil(room);
        let (mut from, mut next, mut pages, mut jumps) = (head.page, head.first, 0, 0);
        while left > 0 {
            if next == 0 {
                let what = format!(
                    "the overflow chain of a cell ends after {pages} pages; it should have {wanted}"
                );
                model.problems.add(head.page, what);
                break;
            }
            if !model.claim(next, PageKind::Overflow, Some(t), from) {
                break;
            }
            let here = left.min(room);
            model.map.set_fill(next, here + 4, room + 4);
            let chains = &mut model.trees[t].chains;
            chains.pages += 1;
            chains.payload += here;
            chains.unused += room - here;
            left -= here;
            jumps += u64::from(pages > 0 && next != from + 1);
            pages += 1;
            from = next;
            next = self.links[next as usize];
        }
        if left == 0 && next != 0 {
            let what = format!(
                "the overflow chain of a cell should end after {pages} pages; it goes on to page \
                 {next}"
            );
            model.problems.add(head.page, what);
        }
        let chains = &mut model.trees[t].chains;
        chains.chains += 1;
        chains.jumps += jumps;
        if pages > chains.longest {
            chains.longest = pages;
            chains.longest_of = head.page;
        }
        from
    }
}

/// A page, or one of zeros for a page that is not to be read.
fn below_or_empty<'a>(page: &'a [u8], model: &Model) -> std::borrow::Cow<'a, [u8]> {
    if page.is_empty() {
        vec![0; model.image.header.page_size as usize].into()
    } else {
        page.into()
    }
}

/// Whether rowids come in order, within a page and between what the pages above say.
struct RowidOrder {
    lower: Option<i64>,
    upper: i64,
    /// Interior pages may repeat the largest key below them.
    told: bool,
}

impl RowidOrder {
    fn new(model: &Model, t: usize, place: u32, btree: &Btree<'_>) -> RowidOrder {
        let bounds = model.bounds.get(t).map_or(&[][..], Vec::as_slice);
        let i = place as usize;
        let inner = place == NOWHERE || !btree.shape.is_leaf();
        RowidOrder {
            lower: (!inner && i > 0)
                .then(|| bounds.get(i - 1).copied())
                .flatten(),
            upper: match bounds.get(i) {
                Some(&upper) if !inner => upper,
                _ => i64::MAX,
            },
            told: false,
        }
    }

    /// The next key of the page. One word a page is enough.
    fn check(&mut self, n: u32, rowid: i64, problems: &mut Problems) {
        if !self.told && (self.lower.is_some_and(|lower| rowid <= lower) || rowid > self.upper) {
            problems.add(n, format!("rowid {rowid} is out of order"));
            self.told = true;
        }
        self.lower = Some(rowid);
    }
}

/// Notes runs of pages that nothing leads to.
fn orphans(model: &mut Model) {
    let pages = model.map.pages();
    let mut n = 1;
    while n <= pages {
        let first = n;
        while n <= pages && model.map.kind(n) == PageKind::Orphan {
            n += 1;
        }
        let what = match n - first {
            0 => {
                n += 1;
                continue;
            }
            1 => "nothing leads to this page, and it is not free".to_owned(),
            _ => format!(
                "nothing leads to pages {first} to {}, and they are not free",
                n - 1
            ),
        };
        model.problems.add(first, what);
    }
}

/// Compares pointer maps with what they are of.
fn pointer_maps(model: &mut Model) -> io::Result<()> {
    if model.image.header.largest_root == 0 {
        return Ok(());
    }
    let mut of = 0;
    let mut entries = Vec::new();
    for n in 3..=model.map.pages() {
        let kind = model.map.kind(n);
        if matches!(
            kind,
            PageKind::PointerMap | PageKind::LockByte | PageKind::Orphan
        ) {
            continue;
        }
        let map = model.image.header.pointer_map_of(n);
        if map != of {
            entries = model.page(map)?;
            of = map;
        }
        let parent = model.map.parent(n);
        let expected = match kind {
            kind if kind.is_free() => (2, 0),
            PageKind::Overflow if model.map.kind(parent) == PageKind::Overflow => (4, parent),
            PageKind::Overflow => (3, parent),
            _ if parent == 0 => (1, 0),
            _ => (5, parent),
        };
        let at = (n - map - 1) as usize * page::POINTER;
        let found = (entries[at], be32(&entries, at + 1));
        if found != expected {
            let what = format!(
                "the pointer map on page {map} says {}, but it is {}",
                pointer(found),
                pointer(expected)
            );
            model.problems.add(n, what);
        }
    }
    Ok(())
}

/// An entry of a pointer map in words.
fn pointer((kind, parent): (u8, u32)) -> String {
    match kind {
        1 => "that this is a root".to_owned(),
        2 => "that this is a free page".to_owned(),
        3 => format!("that this is the first overflow page of a cell on page {parent}"),
        4 => format!("that this is an overflow page after page {parent}"),
        5 => format!("that this is a page of a b-tree below page {parent}"),
        n => format!("type {n} of page {parent}"),
    }
}
