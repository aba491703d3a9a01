//! Opening: who owns each page, without reading more than the pages that say so.
//!
//! Read are the free list and the interior pages of every b-tree. How deep a b-tree is is seen on
//! three paths from its root; so the leaves are known from the pages above them. A file of
//! 10 GB has a few thousand such pages. What leaves lead to is found by the scan.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};

use super::file::Image;
use super::keyorder;
use super::map::{Map, PageKind, Problems};
use super::page::{self, Btree, PageShape};
use super::record::{self, RecordValue};
use super::schema::Schema;
use super::tree::{Level, Tree, TreeRole};
use super::wal::be32;
use crate::interrupt;

/// Levels of the deepest b-tree that SQLite reads.
const DEEPEST: usize = 20;
/// Bytes of a row of the schema that are read: the names are at its start.
const SCHEMA_ROW: u64 = 1 << 20;
/// Rows of the schema that are listed.
const SCHEMA_ROWS: usize = 1_000_000;
/// Pages that the system is told of before they are read.
const AHEAD: usize = 256;

/// A database file as far as it is known.
#[derive(Debug)]
pub struct Model {
    pub image: Image,
    pub map: Map,
    /// The schema first, then in its order.
    pub trees: Vec<Tree>,
    pub problems: Problems,
    /// Whether the scan came to its end.
    pub scanned: bool,
    /// Of each leaf, in the order of `Tree::leaves`: the largest rowid it may hold; in indexes the
    /// mark of the key after it (see keyorder.rs).
    pub(super) bounds: Vec<Vec<i64>>,
    /// Interior pages where leaves were expected, found by the scan.
    pub(super) deeper: Vec<u32>,
    /// What the schema says of indexes, once it was asked for; none where it cannot be known.
    pub(super) schema: OnceLock<Option<Schema>>,
}

/// A page on the way down, with the largest rowid below it, or the mark of the key after it.
#[derive(Clone, Copy)]
struct StepDown {
    page: u32,
    parent: u32,
    upper: i64,
}

/// Stands for the parent of a page that was found to be a leaf above the others.
const EARLY: u32 = u32::MAX;

impl Model {
    /// Opens a database file and finds out who owns which page.
    pub fn open(path: &Path) -> Result<Model> {
        let image = Image::open(path)?;
        let pages = image.pages;
        let mut model = Model {
            image,
            map: Map::new(pages),
            trees: Vec::new(),
            problems: Problems::default(),
            scanned: false,
            bounds: Vec::new(),
            deeper: Vec::new(),
            schema: OnceLock::new(),
        };
        for what in &model.image.problems {
            model.problems.add(0, what.as_str());
        }
        model
            .structure()
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(model)
    }

    fn structure(&mut self) -> Result<()> {
        self.special_pages();
        let schema = "sqlite_schema".to_owned();
        self.add_tree(Tree::new(
            schema.clone(),
            schema,
            TreeRole::Schema,
            1,
            String::new(),
        ))?;
        let mut trees = self.read_schema()?;
        find_binary(&mut trees);
        for tree in trees {
            self.add_tree(tree)?;
        }
        self.check_roots();
        self.free_list()
    }

    /// Takes a page for something. False: it cannot be, which is noted.
    pub(super) fn claim(
        &mut self,
        n: u32,
        kind: PageKind,
        owner: Option<usize>,
        parent: u32,
    ) -> bool {
        let named = |owner: Option<usize>| match owner.and_then(|o| self.trees.get(o)) {
            Some(tree) => format!(" of {}", tree.name),
            None => String::new(),
        };
        if !self.map.has(n) {
            let what = if n == 0 {
                format!("{}{} is named as page 0", kind.one(), named(owner))
            } else {
                format!(
                    "{}{} is named as page {n}, but the last page is {}",
                    kind.one(),
                    named(owner),
                    self.map.pages()
                )
            };
            self.problems.add(parent, what);
            return false;
        }
        let before = self.map.place(n);
        if before.kind != PageKind::Unknown {
            let mut what = format!(
                "it is used twice: as {}{} and as {}{}",
                before.kind.one(),
                named(before.owner),
                kind.one(),
                named(owner)
            );
            if parent > 0 {
                what += &format!(" (by page {parent})");
            }
            self.problems.add(n, what);
            return false;
        }
        self.map.set(n, kind, owner, parent);
        true
    }

    /// Pages that are what they are because of where they are.
    fn special_pages(&mut self) {
        let header = self.image.header.clone();
        let lock = header.lock_page();
        if self.map.has(lock) {
            self.claim(lock, PageKind::LockByte, None, 0);
        }
        if header.largest_root == 0 {
            return;
        }
        let step = header.usable() as u32 / page::POINTER as u32 + 1;
        let mut n = 2;
        while self.map.has(n) {
            let map = header.pointer_map_of(n);
            if self.map.has(map) {
                self.claim(map, PageKind::PointerMap, None, 0);
            }
            let Some(next) = n.checked_add(step) else {
                break;
            };
            n = next;
        }
    }

    /// Reads one page into a buffer of its own.
    pub fn page(&self, n: u32) -> std::io::Result<Vec<u8>> {
        let mut page = vec![0; self.image.header.page_size as usize];
        self.image.read(n, &mut page)?;
        Ok(page)
    }

    pub fn usable(&self) -> usize {
        self.image.header.usable()
    }

    /// Adds a b-tree and walks it.
    fn add_tree(&mut self, mut tree: Tree) -> Result<()> {
        interrupt::check()?;
        let t = self.trees.len();
        let root = tree.root;
        if tree.role == TreeRole::Table && self.map.has(root) {
            let page = self.page(root)?;
            let flag = page[if root == 1 { super::file::HEADER } else { 0 }];
            if PageShape::of(flag).is_some_and(|shape| !shape.is_table()) {
                tree.role = TreeRole::WithoutRowid;
            }
        }
        self.trees.push(tree);
        self.bounds.push(Vec::new());
        let depth = self.depth_of(root)?;
        let mut steps = vec![StepDown {
            page: root,
            parent: 0,
            upper: i64::MAX,
        }];
        let mut levels = vec![Level::default(); depth];
        for level in levels.iter_mut().take(depth - 1) {
            steps = self.descend(t, &steps, level)?;
        }
        let is_table = matches!(self.trees[t].role, TreeRole::Schema | TreeRole::Table);
        let kind = if is_table {
            PageKind::TableLeaf
        } else {
            PageKind::IndexLeaf
        };
        let (mut leaves, mut bounds) = (Vec::with_capacity(steps.len()), Vec::new());
        for step in &steps {
            if step.parent == EARLY || self.claim(step.page, kind, Some(t), step.parent) {
                leaves.push(step.page);
                bounds.push(step.upper);
            }
        }
        levels[depth - 1].pages += leaves.len() as u64;
        let tree = &mut self.trees[t];
        tree.levels = levels;
        tree.leaves = leaves;
        self.bounds[t] = bounds;
        Ok(())
    }

    /// Reads the interior pages of one level; gives the pages below in the order of keys.
    fn descend(
        &mut self,
        t: usize,
        steps: &[StepDown],
        level: &mut Level,
    ) -> Result<Vec<StepDown>> {
        let usable = self.usable();
        let binary = self.trees[t].binary;
        let mut page = vec![0; self.image.header.page_size as usize];
        let mut below = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            if i % AHEAD == 0 {
                interrupt::check()?;
                let soon = steps[i..].iter().take(AHEAD);
                self.image.will_read(soon.map(|s| s.page));
            }
            if step.parent == EARLY {
                below.push(*step);
                continue;
            }
            let n = step.page;
            // What kind of page it is, is only known from itself.
            if !self.claim(n, PageKind::TableInterior, Some(t), step.parent) {
                continue;
            }
            self.image.read(n, &mut page)?;
            let btree = match Btree::parse(&page, n, usable) {
                Ok(btree) => btree,
                Err(_) => {
                    // The scan says what is wrong with it.
                    level.pages += 1;
                    continue;
                }
            };
            self.map.set_kind(n, kind_of(btree.shape));
            if btree.shape.is_leaf() {
                self.problems
                    .add(n, "this leaf is higher up than the others of its b-tree");
                below.push(StepDown {
                    parent: EARLY,
                    ..*step
                });
                continue;
            }
            level.pages += 1;
            for i in 0..btree.cells {
                // Cells that cannot be read are reported by the scan.
                if let Ok(cell) = btree.cell(i) {
                    below.push(StepDown {
                        page: cell.child,
                        parent: n,
                        upper: cell
                            .rowid
                            .unwrap_or_else(|| keyorder::mark(btree.local_payload(&cell), binary)),
                    });
                }
            }
            below.push(StepDown {
                page: btree.right,
                parent: n,
                upper: step.upper,
            });
        }
        Ok(below)
    }

    /// The number of levels below and with `root`, as most of three paths have it.
    fn depth_of(&self, root: u32) -> Result<usize> {
        let first = self.path_length(root, |_| 0)?;
        let last = self.path_length(root, |cells| cells)?;
        if first.is_some() && first == last {
            return Ok(first.unwrap_or(1));
        }
        let middle = self.path_length(root, |cells| cells / 2)?;
        let depth = if middle.is_some() && (middle == first || middle == last) {
            middle
        } else {
            first.or(last).or(middle)
        };
        Ok(depth.unwrap_or(1))
    }

    /// How many pages are on a path to a leaf.
    fn path_length(&self, root: u32, choose: impl Fn(usize) -> usize) -> Result<Option<usize>> {
        let mut n = root;
        for depth in 1..=DEEPEST {
            if !self.map.has(n) {
                return Ok(None);
            }
            let page = self.page(n)?;
            let Ok(btree) = Btree::parse(&page, n, self.usable()) else {
                return Ok(None);
            };
            if btree.shape.is_leaf() {
                return Ok(Some(depth));
            }
            let i = choose(btree.cells);
            n = if i < btree.cells {
                match btree.cell(i) {
                    Ok(cell) => cell.child,
                    Err(_) => return Ok(None),
                }
            } else {
                btree.right
            };
        }
        Ok(None)
    }

    /// The b-trees that sqlite_schema lists.
    fn read_schema(&mut self) -> Result<Vec<Tree>> {
        let mut trees = Vec::new();
        for leaf in self.trees[0].leaves.clone() {
            let page = self.page(leaf)?;
            let Ok(btree) = Btree::parse(&page, leaf, self.usable()) else {
                continue;
            };
            for i in 0..btree.cells {
                let Ok(cell) = btree.cell(i) else { continue };
                let row = self.payload(&btree, &cell, SCHEMA_ROW)?;
                match self.schema_row(&row) {
                    Ok(Some(tree)) => trees.push(tree),
                    Ok(None) => {}
                    Err(e) => self.problems.add(
                        leaf,
                        format!("row {} of the schema: {e}", cell.rowid.unwrap_or_default()),
                    ),
                }
                if trees.len() == SCHEMA_ROWS {
                    self.problems
                        .add(0, format!("only {SCHEMA_ROWS} rows of the schema are read"));
                    return Ok(trees);
                }
            }
        }
        Ok(trees)
    }

    /// A row of sqlite_schema: type, name, tbl_name, rootpage, sql. None: it has no b-tree.
    fn schema_row(&self, row: &[u8]) -> Result<Option<Tree>, String> {
        let fields = record::decode(row, self.image.header.encoding)?;
        let text = |i: usize| match fields.get(i).map(|f| &f.value) {
            Some(RecordValue::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let root = match fields.get(3).map(|f| &f.value) {
            Some(RecordValue::Integer(0) | RecordValue::Null) => return Ok(None),
            Some(RecordValue::Integer(n)) => *n,
            _ => return Err("it has no number of a root page".to_owned()),
        };
        let role = match text(0).as_str() {
            "table" => TreeRole::Table,
            "index" => TreeRole::Index,
            other => return Err(format!("{other:?} {:?} has a root page", text(1))),
        };
        let pages = self.map.pages();
        let Some(root) = u32::try_from(root).ok().filter(|&n| self.map.has(n)) else {
            return Err(format!(
                "{:?} has its root on page {root}, but the last page is {pages}",
                text(1)
            ));
        };
        Ok(Some(Tree::new(text(1), text(2), role, root, text(4))))
    }

    /// The first bytes of a cell's record, at most `most`, as far as its overflow chain can be read.
    pub fn payload(
        &self,
        btree: &Btree<'_>,
        cell: &page::Cell,
        most: u64,
    ) -> std::io::Result<Vec<u8>> {
        let mut bytes = btree.local_payload(cell).to_vec();
        let wanted = cell.payload.min(most) as usize;
        let mut next = cell.overflow;
        while bytes.len() < wanted && self.map.has(next) {
            let page = self.page(next)?;
            let n = (wanted - bytes.len()).min(self.usable() - 4);
            bytes.extend_from_slice(&page[4..4 + n]);
            next = be32(&page, 0);
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }

    /// With auto_vacuum the header has the largest root page.
    fn check_roots(&mut self) {
        let largest = self.trees.iter().map(|t| t.root).max().unwrap_or(1);
        let header = &self.image.header;
        if header.largest_root != 0 && header.largest_root != largest {
            let told = header.largest_root;
            let what = format!("the header gives {told} as the largest root, but it is {largest}");
            self.problems.add(0, what);
        }
        if header.largest_root == 0 && header.incremental_vacuum {
            let what = "the header has incremental vacuum without pointer maps";
            self.problems.add(0, what);
        }
    }

    /// Follows the free list.
    fn free_list(&mut self) -> Result<()> {
        let usable = self.usable();
        let told = self.image.header.free_pages;
        let mut count = 0u64;
        let mut parent = 0;
        let mut trunk = self.image.header.first_trunk;
        let mut page = vec![0; self.image.header.page_size as usize];
        while trunk != 0 {
            interrupt::check()?;
            if !self.claim(trunk, PageKind::FreeTrunk, None, parent) {
                break;
            }
            self.image.read(trunk, &mut page)?;
            count += 1;
            let listed = be32(&page, 4) as usize;
            if listed > usable / 4 - 2 {
                let what = format!("this trunk of the free list cannot list {listed} pages");
                self.problems.add(trunk, what);
            }
            let (owner, kept) = self.reserved_for(&page, trunk);
            if let Some(t) = owner {
                self.trees[t].reserved += kept as u64 + 1;
                self.map.set(trunk, PageKind::FreeTrunk, owner, parent);
            }
            let leaves = page::trunk_leaves(&page, usable);
            let used = 8 + 4 * leaves.len() as u64;
            self.map.set_fill(trunk, used, usable as u64);
            if listed <= usable / 4 - 2 {
                for (i, leaf) in leaves.enumerate() {
                    count += 1;
                    if i < kept {
                        self.claim(leaf, PageKind::Reserved, owner, trunk);
                    } else {
                        self.claim(leaf, PageKind::FreeLeaf, None, trunk);
                    }
                }
            }
            parent = trunk;
            trunk = be32(&page, 0);
        }
        if count != u64::from(told) {
            let what = format!("the header counts {told} free pages, the free list has {count}");
            self.problems.add(0, what);
        }
        Ok(())
    }

    /// The b-tree that the pages of a trunk are reserved for, and how many of those that it lists.
    fn reserved_for(&self, page: &[u8], trunk: u32) -> (Option<usize>, usize) {
        page::reserved(page, trunk, self.usable())
            .and_then(|(root, kept)| {
                let owner = self.map.has(root).then(|| self.map.owner(root)).flatten()?;
                (self.trees[owner].root == root).then_some((Some(owner), kept))
            })
            .unwrap_or((None, 0))
    }
}

/// Finds the b-trees without a word of collations in the SQL that made them and their tables.
fn find_binary(trees: &mut [Tree]) {
    let plain = |sql: &str| {
        let word = |w: &[u8]| w.eq_ignore_ascii_case(b"collate");
        !sql.is_empty() && !sql.as_bytes().windows(7).any(word)
    };
    let tables: HashMap<String, bool> = trees
        .iter()
        .filter(|tree| tree.role != TreeRole::Index)
        .map(|tree| (tree.name.to_lowercase(), plain(&tree.sql)))
        .collect();
    for tree in trees {
        let table = tables.get(&tree.table.to_lowercase());
        let own = tree.role == TreeRole::Index && tree.sql.is_empty() || plain(&tree.sql);
        tree.binary = own && table.copied().unwrap_or(false);
    }
}

/// The kind of a b-tree page of this shape.
pub fn kind_of(shape: PageShape) -> PageKind {
    match shape {
        PageShape::TableLeaf => PageKind::TableLeaf,
        PageShape::TableInterior => PageKind::TableInterior,
        PageShape::IndexLeaf => PageKind::IndexLeaf,
        PageShape::IndexInterior => PageKind::IndexInterior,
    }
}
