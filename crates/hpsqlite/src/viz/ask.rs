//! Questions to the model: a page by its number, a b-tree by its name, the way to a key, what is
//! around a page. Each reads a few pages at most, so they can be asked of a file of any size, and
//! while the scan is under way.

use std::cmp::Ordering;
use std::io;

use serde::Serialize;

use super::columns::Stored;
use super::file::Version;
use super::map::{PageFacts, PageKind};
use super::page::{self, Btree, Cell, PagePart};
use super::record::{self, Field, RecordValue, SortColumn};
use super::tree::{Level, Tree, TreeRole};
use super::wal::be32;
use super::walk::{Model, kind_of};

/// Bytes of a record that are decoded for looking at.
const SHOWN: u64 = 4096;
/// Bytes of all records of a page that are decoded. Only where cells lie over one another are there
/// more.
const SHOWN_OF_PAGE: usize = 1 << 18;
/// So many complaints about one page are told.
const NOTES: usize = 100;
/// Bytes of a record that are looked at for a key.
const COMPARED: u64 = 1 << 20;
/// Bytes of all records on the way to a key. A sound b-tree never has more: at least four cells fit
/// into a page, and their records go on elsewhere only if they do not fit.
const COMPARED_ON_WAY: u64 = 256 << 20;

/// All of one page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    pub number: u32,
    #[serde(flatten)]
    pub place: PageFacts,
    /// The frame of the log, from 0, with the version that counts; none: it is in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u32>,
    /// All frames of this page, committed or not, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u32>,
    /// Whether the database file has a version of its own.
    pub in_file: bool,
    /// What it looks like, though it is free or nothing leads to it: what was in it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remains: Option<PageKind>,
    /// What the scan found wrong with it, and what cannot be read now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    pub parts: Vec<PagePart>,
    /// Cells of a page of a b-tree, in the order of keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Entry>,
    pub around: Around,
}

/// A cell with its record.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Its place in the order of keys: cells that cannot be read are left out.
    pub index: usize,
    #[serde(flatten)]
    pub cell: Cell,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub record: Vec<Field>,
    /// Why the record could not be decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The pages that a page is linked with; 0 where there is none.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Around {
    /// From the root down to the page's parent; for overflow pages down to the page with the cell.
    pub path: Vec<u32>,
    /// Before and after it: in the order of keys on its level, in its chain, in its list.
    pub before: u32,
    pub after: u32,
    /// Below it, in the order of keys; what a trunk lists.
    pub children: Vec<u32>,
    /// The first page of the chain that an overflow page is in.
    #[serde(skip_serializing_if = "is_zero")]
    pub chain: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The way from a root to a page, or to a key.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct WayDown {
    /// From the root on.
    pub pages: Vec<u32>,
    /// Of each page the cell that the way goes by; as many as there are cells: the right child.
    pub cells: Vec<usize>,
    /// The place in the last page, if the key is there.
    pub cell: Option<usize>,
}

/// What is known of one b-tree besides its numbers.
#[derive(Debug, Serialize)]
pub struct TreeFacts<'m> {
    /// The root's first.
    pub levels: &'m [Level],
    /// Children of an interior page on average, the level above the leaves first.
    pub fan_out: Vec<f64>,
    /// What its records hold, in their order; empty if that is not known.
    pub columns: Vec<Stored>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_error: Option<String>,
}

/// What leads to a place in a b-tree.
#[derive(Debug, Clone, PartialEq)]
pub enum PathTarget {
    Rowid(i64),
    /// What an entry of an index, or a row of a WITHOUT ROWID table, starts with.
    Key(Vec<RecordValue>),
    Page(u32),
}

impl PathTarget {
    /// A key as JSON: a list of null, numbers, texts, and `{"blob": "hex digits"}` for blobs;
    /// `{"integer": "digits"}` for integers that JSON would round.
    pub fn key(json: &str) -> Result<PathTarget, String> {
        let values: Vec<serde_json::Value> =
            serde_json::from_str(json).map_err(|_| "a key is a JSON list of values".to_owned())?;
        if values.is_empty() {
            return Err("a key has at least one value".to_owned());
        }
        let values: Option<Vec<RecordValue>> = values.iter().map(key_value).collect();
        let wrong =
            "a key has null, numbers, texts, {\"blob\": \"hex\"} or {\"integer\": \"digits\"}";
        values.map(PathTarget::Key).ok_or_else(|| wrong.to_owned())
    }
}

fn key_value(json: &serde_json::Value) -> Option<RecordValue> {
    Some(match json {
        serde_json::Value::Null => RecordValue::Null,
        serde_json::Value::Number(n) => match n.as_i64() {
            Some(n) => RecordValue::Integer(n),
            None => RecordValue::Real(n.as_f64()?),
        },
        serde_json::Value::String(text) => RecordValue::Text(text.clone()),
        serde_json::Value::Object(map) if map.len() == 1 => {
            if let Some(digits) = map.get("integer") {
                RecordValue::Integer(digits.as_str()?.parse().ok()?)
            } else {
                let digits = map.get("blob")?.as_str()?;
                let pairs = digits.as_bytes().chunks(2);
                let byte = |pair: &[u8]| {
                    let pair = std::str::from_utf8(pair).ok().filter(|p| p.len() == 2)?;
                    u8::from_str_radix(pair, 16).ok()
                };
                RecordValue::Blob(pairs.map(byte).collect::<Option<_>>()?)
            }
        }
        _ => return None,
    })
}

impl Model {
    /// The b-tree of this name.
    #[cfg(test)]
    pub fn tree_named(&self, name: &str) -> Option<&Tree> {
        self.trees
            .iter()
            .find(|t| t.name.eq_ignore_ascii_case(name))
    }

    /// The b-tree that a page belongs to, or is reserved for.
    pub fn owner(&self, n: u32) -> Option<&Tree> {
        let owner = self.map.has(n).then(|| self.map.owner(n)).flatten()?;
        self.trees.get(owner)
    }

    /// How a page is to be read.
    pub fn page_role(&self, n: u32) -> io::Result<page::PageRole> {
        Ok(match self.map.kind(n) {
            kind if kind.is_btree() => page::PageRole::Btree,
            PageKind::Overflow => page::PageRole::Overflow(self.overflow_payload(n)?),
            PageKind::FreeTrunk => page::PageRole::Trunk,
            PageKind::PointerMap => page::PageRole::PointerMap,
            _ => page::PageRole::Nothing,
        })
    }

    /// The first page of the chain that an overflow page, or a trunk of the free list, is in, and
    /// how many are before it.
    fn chain_place(&self, n: u32) -> (u32, u64) {
        let (mut first, mut before) = (n, 0);
        while self.map.kind(self.map.parent(first)) == self.map.kind(n) {
            first = self.map.parent(first);
            before += 1;
        }
        (first, before)
    }

    /// The first page of the chain that an overflow page, or a trunk of the free list, is in.
    pub fn chain_start(&self, n: u32) -> u32 {
        self.chain_place(n).0
    }

    /// How many bytes of its record an overflow page holds: up to where it is in its chain, then
    /// what its cell says.
    fn overflow_payload(&self, n: u32) -> io::Result<usize> {
        let room = self.usable() as u64 - 4;
        let (first, before) = self.chain_place(n);
        let holder = self.map.parent(first);
        let page = self.page(holder)?;
        let Ok(btree) = Btree::parse(&page, holder, self.usable()) else {
            return Ok(room as usize);
        };
        let mut cells = (0..btree.cells).filter_map(|i| btree.cell(i).ok());
        let bytes = match cells.find(|cell| cell.overflow == first) {
            Some(cell) => cell.payload - cell.local as u64,
            None => u64::MAX,
        };
        Ok(bytes.saturating_sub(before * room).min(room) as usize)
    }

    /// Everything of one page, as it was last committed.
    pub fn look_at(&self, n: u32) -> io::Result<Page> {
        self.look_at_version(n, Version::Newest)
    }

    /// Everything of one version of a page. An older one is read as what the page is now.
    pub fn look_at_version(&self, n: u32, version: Version) -> io::Result<Page> {
        let mut bytes = vec![0; self.image.header.page_size as usize];
        self.image.read_version(n, version, &mut bytes)?;
        let usable = self.usable();
        let mut role = self.page_role(n)?;
        let remains = self.remains(n, &bytes);
        if remains.is_some() {
            role = page::PageRole::Btree;
        }
        let found = self.problems.found.iter();
        let mut problems: Vec<String> = Vec::new();
        if version == Version::Newest {
            problems.extend(found.filter(|p| p.page == n).map(|p| p.what.clone()));
        }
        let mut note = |what: String| {
            if problems.len() < NOTES && !problems.contains(&what) {
                problems.push(what);
            }
        };
        let mut cells = Vec::new();
        let mut room = SHOWN_OF_PAGE;
        if role == page::PageRole::Btree {
            match Btree::parse(&bytes, n, usable) {
                Ok(btree) => {
                    for i in 0..btree.cells {
                        match btree.cell(i) {
                            Ok(cell) => cells.push(self.entry(&btree, i, cell, &mut room)?),
                            Err(what) => note(what),
                        }
                    }
                    if let (_, Some(what)) = btree.freeblocks() {
                        note(what);
                    }
                }
                Err(what) => note(what),
            }
        }
        let wal = self.image.wal.as_ref();
        let frames = wal.map_or(&[][..], |wal| &wal.frames);
        Ok(Page {
            number: n,
            place: self.map.place(n),
            frame: wal.and_then(|wal| wal.newest(n)),
            frames: (0..)
                .zip(frames)
                .filter(|(_, frame)| frame.page == n)
                .map(|(i, _)| i)
                .collect(),
            in_file: self.image.file_has(n),
            remains,
            problems,
            parts: page::layout(&bytes, n, usable, role),
            cells,
            around: self.around(n, &bytes)?,
        })
    }

    /// What a page that is not in use looks like, if all of it makes sense as that.
    fn remains(&self, n: u32, bytes: &[u8]) -> Option<PageKind> {
        let unused = [PageKind::FreeLeaf, PageKind::Reserved, PageKind::Orphan];
        let btree = Btree::parse(bytes, n, self.usable()).ok()?;
        let fits = (btree.pointers_end()..self.usable()).contains(&btree.content);
        let sound = fits && btree.cells > 0 && btree.freeblocks().1.is_none();
        (unused.contains(&self.map.kind(n))
            && sound
            && (0..btree.cells).all(|i| btree.cell(i).is_ok()))
        .then(|| kind_of(btree.shape))
    }

    /// The bytes of one version of a page.
    pub fn bytes(&self, n: u32, version: Version) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.image.header.page_size as usize];
        self.image.read_version(n, version, &mut bytes)?;
        Ok(bytes)
    }

    /// A cell with its record, if there is `room` for as many bytes.
    fn entry(
        &self,
        btree: &Btree<'_>,
        index: usize,
        cell: Cell,
        room: &mut usize,
    ) -> io::Result<Entry> {
        let mut entry = Entry {
            index,
            cell,
            record: Vec::new(),
            error: None,
        };
        if btree.shape != page::PageShape::TableInterior {
            let shown = cell.payload.min(SHOWN) as usize;
            let Some(left) = room.checked_sub(shown) else {
                entry.error = Some("it is left out: cells lie over one another".to_owned());
                return Ok(entry);
            };
            *room = left;
            let payload = self.payload(btree, &cell, SHOWN)?;
            match record::decode(&payload, self.image.header.encoding) {
                Ok(fields) => entry.record = fields,
                Err(e) => entry.error = Some(e),
            }
        }
        Ok(entry)
    }

    fn around(&self, n: u32, bytes: &[u8]) -> io::Result<Around> {
        let place = self.map.place(n);
        let mut around = Around {
            path: self.path_to_page(n),
            ..Around::default()
        };
        match place.kind {
            kind if kind.is_btree() => {
                around.children = self.children(n, bytes);
                around.before = self.beside(n, -1)?;
                around.after = self.beside(n, 1)?;
            }
            PageKind::Overflow => {
                around.before = place.parent;
                around.after = be32(bytes, 0);
                around.chain = self.chain_start(n);
            }
            PageKind::FreeTrunk => {
                around.before = place.parent;
                around.after = be32(bytes, 0);
                around.children = page::trunk_leaves(bytes, self.usable()).collect();
            }
            PageKind::FreeLeaf | PageKind::Reserved => {
                let trunk = self.page(place.parent)?;
                let list: Vec<u32> = page::trunk_leaves(&trunk, self.usable()).collect();
                let at = list.iter().position(|&leaf| leaf == n);
                let beside = |step| at.and_then(|i: usize| list.get(i.checked_add_signed(step)?));
                around.before = beside(-1).copied().unwrap_or(0);
                around.after = beside(1).copied().unwrap_or(0);
            }
            _ => {}
        }
        Ok(around)
    }

    /// The pages that lead to a page, the root first, itself left out; of overflow pages those that
    /// lead to the page with the cell, and that.
    pub fn path_to_page(&self, n: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = n;
        let kind = self.map.kind(n);
        if !kind.is_btree() && kind != PageKind::Overflow {
            return path;
        }
        // A chain may be long, but no longer than the file.
        for _ in 0..=self.map.pages() {
            at = self.map.parent(at);
            if !self.map.has(at) || path.len() > 64 {
                break;
            }
            if self.map.kind(at) != PageKind::Overflow {
                path.push(at);
            }
        }
        path.reverse();
        path
    }

    /// The pages below an interior page, in the order of keys; none of a leaf.
    fn children(&self, n: u32, bytes: &[u8]) -> Vec<u32> {
        match Btree::parse(bytes, n, self.usable()) {
            Ok(btree) if !btree.shape.is_leaf() => {
                let cells = (0..btree.cells).filter_map(|i| btree.cell(i).ok());
                cells.map(|cell| cell.child).chain([btree.right]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The page before (-1) or after (1) a page of a b-tree on its level, 0 if it is the last.
    pub fn beside(&self, n: u32, step: isize) -> io::Result<u32> {
        // Up until there is a way aside, then down as many levels on the near side.
        let mut at = n;
        let mut up = 0;
        while up < 64 {
            let parent = self.map.parent(at);
            if !self.map.has(parent) {
                return Ok(0);
            }
            up += 1;
            let children = self.children(parent, &self.page(parent)?);
            let place = children.iter().position(|&child| child == at);
            let aside = place.and_then(|i| i.checked_add_signed(step));
            if let Some(&next) = aside.and_then(|i| children.get(i)) {
                let mut down = next;
                for _ in 1..up {
                    if !self.map.has(down) {
                        return Ok(0);
                    }
                    let children = self.children(down, &self.page(down)?);
                    let near = if step > 0 {
                        children.first()
                    } else {
                        children.last()
                    };
                    match near {
                        Some(&child) => down = child,
                        None => break,
                    }
                }
                return Ok(down);
            }
            at = parent;
        }
        Ok(0)
    }

    /// The pages of the overflow chain that starts with `first`, as far as they are in the file and
    /// at most `most`.
    pub fn chain(&self, first: u32, most: usize) -> io::Result<Vec<u32>> {
        let mut pages = Vec::new();
        let mut next = first;
        while self.map.has(next) && pages.len() < most {
            pages.push(next);
            next = be32(&self.page(next)?, 0);
        }
        Ok(pages)
    }

    /// The pages of one level of a b-tree, the root's is 0, in the order of keys.
    pub fn level(&self, t: usize, level: usize) -> io::Result<Vec<u32>> {
        let Some(tree) = self.trees.get(t) else {
            return Ok(Vec::new());
        };
        let leaves_are_last = || tree.leaves.iter().all(|&n| self.map.kind(n).is_leaf());
        if level > 0 && level + 1 == tree.levels.len() && leaves_are_last() {
            return Ok(tree.leaves.clone());
        }
        let mut pages = vec![tree.root];
        for _ in 0..level {
            let mut below = Vec::new();
            for &n in pages.iter().filter(|&&n| !self.map.kind(n).is_leaf()) {
                // A page that several lead to belongs to one of them.
                let own = |&child: &u32| self.map.has(child) && self.map.parent(child) == n;
                below.extend(self.children(n, &self.page(n)?).into_iter().filter(own));
            }
            pages = below;
        }
        Ok(pages)
    }

    /// How many pages each page of a level leads to; none of leaves. In the order of `level`.
    pub fn fan(&self, t: usize, level: usize) -> io::Result<Vec<u32>> {
        let own = |n: u32, child: u32| self.map.has(child) && self.map.parent(child) == n;
        let pages = self.level(t, level)?;
        let children = pages.iter().map(|&n| {
            if self.map.kind(n).is_leaf() {
                return Ok(0);
            }
            let children = self.children(n, &self.page(n)?);
            Ok(children.iter().filter(|&&child| own(n, child)).count() as u32)
        });
        children.collect()
    }

    /// What is known of one b-tree besides its numbers.
    pub fn tree_facts(&self, t: usize) -> Option<TreeFacts<'_>> {
        let tree = self.trees.get(t)?;
        let (columns, columns_error) = match self.columns(t) {
            Ok(columns) => (columns, None),
            Err(e) => (Vec::new(), Some(format!("{e:#}"))),
        };
        Some(TreeFacts {
            levels: &tree.levels,
            fan_out: tree.fan_out(),
            columns,
            columns_error,
        })
    }

    /// The way to a place in a b-tree. An error in words: there is no such way. `order` is how the
    /// columns of the b-tree's key are ordered (see `columns`).
    pub fn way(
        &self,
        t: usize,
        target: &PathTarget,
        order: &[SortColumn],
    ) -> io::Result<Result<WayDown, String>> {
        let Some(tree) = self.trees.get(t) else {
            return Ok(Err("there is no such b-tree".to_owned()));
        };
        let found = match target {
            PathTarget::Rowid(rowid) => self.path_to_rowid(tree, *rowid)?,
            PathTarget::Key(key) => self.path_to_key(tree, key, order)?,
            PathTarget::Page(n) if self.map.has(*n) && self.map.owner(*n) == Some(t) => {
                let mut path = self.path_to_page(*n);
                if self.map.kind(*n).is_btree() {
                    path.push(*n);
                }
                Some((path, None))
            }
            PathTarget::Page(n) => {
                return Ok(Err(format!("page {n} does not belong to {}", tree.name)));
            }
        };
        let Some((pages, cell)) = found else {
            return Ok(Err(match target {
                PathTarget::Rowid(_) => format!("{} has no rowids: its keys are values", tree.name),
                _ => format!("the keys of {} are rowids", tree.name),
            }));
        };
        let mut cells = Vec::with_capacity(pages.len());
        for pair in pages.windows(2) {
            let children = self.children(pair[0], &self.page(pair[0])?);
            let place = children.iter().position(|&child| child == pair[1]);
            cells.push(place.unwrap_or(0));
        }
        cells.extend(cell);
        Ok(Ok(WayDown { pages, cells, cell }))
    }

    /// The way to the first entry of an index, or row of a WITHOUT ROWID table, that starts with a
    /// key: the pages from the root on, and its place in the last one. The order of columns is
    /// what the index was made with; SQLite's `index_xinfo` tells it. None: the b-tree has rowids.
    pub fn path_to_key(
        &self,
        tree: &Tree,
        key: &[RecordValue],
        order: &[SortColumn],
    ) -> io::Result<Option<(Vec<u32>, Option<usize>)>> {
        if matches!(tree.role, TreeRole::Schema | TreeRole::Table) {
            return Ok(None);
        }
        let encoding = self.image.header.encoding;
        let mut path = Vec::new();
        let mut found = None;
        let mut n = tree.root;
        let mut room = COMPARED_ON_WAY;
        while self.map.has(n) && path.len() < 64 {
            path.push(n);
            let page = self.page(n)?;
            let Ok(btree) = Btree::parse(&page, n, self.usable()) else {
                break;
            };
            let mut below = btree.right;
            for (i, cell) in (0..btree.cells).filter_map(|i| Some((i, btree.cell(i).ok()?))) {
                room = room.saturating_sub(cell.payload.min(COMPARED));
                if room == 0 {
                    return Ok(Some((path, None)));
                }
                let payload = self.payload(&btree, &cell, COMPARED)?;
                let fields = record::decode(&payload, encoding).unwrap_or_default();
                let here = record::compare(&fields, key, order, encoding);
                if here != Ordering::Less {
                    if here == Ordering::Equal {
                        found = Some((path.clone(), Some(i)));
                    }
                    below = cell.child;
                    break;
                }
            }
            if btree.shape.is_leaf() {
                break;
            }
            n = below;
        }
        Ok(Some(found.unwrap_or((path, None))))
    }

    /// The way to a rowid in a table: the pages from the root to the leaf where it is or would be,
    /// and its place there. None: the b-tree has no rowids.
    pub fn path_to_rowid(
        &self,
        tree: &Tree,
        rowid: i64,
    ) -> io::Result<Option<(Vec<u32>, Option<usize>)>> {
        if !matches!(tree.role, TreeRole::Schema | TreeRole::Table) {
            return Ok(None);
        }
        let mut path = Vec::new();
        let mut n = tree.root;
        while self.map.has(n) && path.len() < 64 {
            path.push(n);
            let page = self.page(n)?;
            let Ok(btree) = Btree::parse(&page, n, self.usable()) else {
                break;
            };
            let mut cells = (0..btree.cells).filter_map(|i| Some((i, btree.cell(i).ok()?)));
            if btree.shape.is_leaf() {
                let found = cells.find(|(_, cell)| cell.rowid == Some(rowid));
                return Ok(Some((path, found.map(|(i, _)| i))));
            }
            let below = cells.find(|(_, cell)| cell.rowid.is_some_and(|key| rowid <= key));
            n = below.map_or(btree.right, |(_, cell)| cell.child);
        }
        Ok(Some((path, None)))
    }
}
