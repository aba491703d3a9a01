//! Questions to the model: a page by its number, a b-tree by its name, the way to a key, what is
//! around a page. Each reads a few pages at most, so they can be asked of a file of any size, and
//! while the scan is under way.

use std::cmp::Ordering;
use std::io;

use serde::Serialize;

use super::map::{Kind, Place};
use super::page::{self, Btree, Cell, Part};
use super::record::{self, Column, Field, Value};
use super::tree::{Role, Tree};
use super::wal::be32;
use super::walk::Model;

/// Bytes of a record that are decoded for looking at.
const SHOWN: u64 = 4096;
/// Bytes of a record that are looked at for a key.
const COMPARED: u64 = 1 << 20;

/// All of one page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    pub number: u32,
    #[serde(flatten)]
    pub place: Place,
    /// Offset in the file of the version that counts, and the frame of the log that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u32>,
    pub parts: Vec<Part>,
    /// Cells of a page of a b-tree, in the order of keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Entry>,
    pub around: Around,
}

/// A cell with its record.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
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
}

impl Model {
    /// The b-tree of this name.
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
    pub fn page_role(&self, n: u32) -> io::Result<page::Role> {
        Ok(match self.map.kind(n) {
            kind if kind.is_btree() => page::Role::Btree,
            Kind::Overflow => page::Role::Overflow(self.overflow_payload(n)?),
            Kind::FreeTrunk => page::Role::Trunk,
            Kind::PointerMap => page::Role::PointerMap,
            _ => page::Role::Nothing,
        })
    }

    /// How many bytes of its record an overflow page holds: up to where it is in its chain, then
    /// what its cell says.
    fn overflow_payload(&self, n: u32) -> io::Result<usize> {
        let room = self.usable() as u64 - 4;
        let (mut first, mut before) = (n, 0);
        while self.map.kind(self.map.parent(first)) == Kind::Overflow {
            first = self.map.parent(first);
            before += 1;
        }
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

    /// Everything of one page.
    pub fn look_at(&self, n: u32) -> io::Result<Page> {
        let bytes = self.page(n)?;
        let usable = self.usable();
        let role = self.page_role(n)?;
        let mut cells = Vec::new();
        if role == page::Role::Btree
            && let Ok(btree) = Btree::parse(&bytes, n, usable)
        {
            for i in 0..btree.cells {
                if let Ok(cell) = btree.cell(i) {
                    cells.push(self.entry(&btree, cell)?);
                }
            }
        }
        Ok(Page {
            number: n,
            place: self.map.place(n),
            frame: self.image.wal.as_ref().and_then(|wal| wal.newest(n)),
            parts: page::layout(&bytes, n, usable, role),
            cells,
            around: self.around(n, &bytes)?,
        })
    }

    fn entry(&self, btree: &Btree<'_>, cell: Cell) -> io::Result<Entry> {
        let mut entry = Entry {
            cell,
            record: Vec::new(),
            error: None,
        };
        if btree.shape != page::Shape::TableInterior {
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
            Kind::Overflow => {
                around.before = place.parent;
                around.after = be32(bytes, 0);
            }
            Kind::FreeTrunk => {
                around.before = place.parent;
                around.after = be32(bytes, 0);
                around.children = page::trunk_leaves(bytes, self.usable()).collect();
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
        if !kind.is_btree() && kind != Kind::Overflow {
            return path;
        }
        // A chain may be long, but no longer than the file.
        for _ in 0..=self.map.pages() {
            at = self.map.parent(at);
            if !self.map.has(at) || path.len() > 64 {
                break;
            }
            if self.map.kind(at) != Kind::Overflow {
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

    /// The way to the first entry of an index, or row of a WITHOUT ROWID table, that starts with a
    /// key: the pages from the root on, and its place in the last one. The order of columns is
    /// what the index was made with; SQLite's `index_xinfo` tells it. None: the b-tree has rowids.
    pub fn path_to_key(
        &self,
        tree: &Tree,
        key: &[Value],
        order: &[Column],
    ) -> io::Result<Option<(Vec<u32>, Option<usize>)>> {
        if matches!(tree.role, Role::Schema | Role::Table) {
            return Ok(None);
        }
        let encoding = self.image.header.encoding;
        let mut path = Vec::new();
        let mut found = None;
        let mut n = tree.root;
        while self.map.has(n) && path.len() < 64 {
            path.push(n);
            let page = self.page(n)?;
            let Ok(btree) = Btree::parse(&page, n, self.usable()) else {
                break;
            };
            let mut below = btree.right;
            for (i, cell) in (0..btree.cells).filter_map(|i| Some((i, btree.cell(i).ok()?))) {
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
        if !matches!(tree.role, Role::Schema | Role::Table) {
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
