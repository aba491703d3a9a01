//! The map: for each page of the file what it is, whose, and how full; and what was found wrong.

use serde::Serialize;

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum PageKind {
    /// Nothing is known of it yet: overflow pages and orphans before the scan.
    Unknown,
    TableLeaf,
    TableInterior,
    IndexLeaf,
    IndexInterior,
    Overflow,
    /// A page of the free list that lists others.
    FreeTrunk,
    FreeLeaf,
    /// A free page that is kept for one b-tree by High Performance SQLite.
    Reserved,
    PointerMap,
    /// The page at 1 GiB, where locks are taken.
    LockByte,
    /// A page that nothing leads to.
    Orphan,
}

impl PageKind {
    pub const ALL: [PageKind; 12] = [
        PageKind::Unknown,
        PageKind::TableLeaf,
        PageKind::TableInterior,
        PageKind::IndexLeaf,
        PageKind::IndexInterior,
        PageKind::Overflow,
        PageKind::FreeTrunk,
        PageKind::FreeLeaf,
        PageKind::Reserved,
        PageKind::PointerMap,
        PageKind::LockByte,
        PageKind::Orphan,
    ];

    /// What it is called, as part of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            PageKind::Unknown => "unknown page",
            PageKind::TableLeaf => "table leaf",
            PageKind::TableInterior => "interior page of a table",
            PageKind::IndexLeaf => "index leaf",
            PageKind::IndexInterior => "interior page of an index",
            PageKind::Overflow => "overflow page",
            PageKind::FreeTrunk => "trunk of the free list",
            PageKind::FreeLeaf => "free page",
            PageKind::Reserved => "reserved page",
            PageKind::PointerMap => "pointer map",
            PageKind::LockByte => "lock-byte page",
            PageKind::Orphan => "page that nothing leads to",
        }
    }

    /// The same with its article.
    pub fn one(self) -> String {
        let name = self.name();
        let article = if name.starts_with(['i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {name}")
    }

    /// One character, for text and for JSON.
    pub fn letter(self) -> char {
        match self {
            PageKind::Unknown => '?',
            PageKind::TableLeaf => 't',
            PageKind::TableInterior => 'T',
            PageKind::IndexLeaf => 'i',
            PageKind::IndexInterior => 'I',
            PageKind::Overflow => 'o',
            PageKind::FreeTrunk => 'F',
            PageKind::FreeLeaf => 'f',
            PageKind::Reserved => 'r',
            PageKind::PointerMap => 'p',
            PageKind::LockByte => 'l',
            PageKind::Orphan => 'x',
        }
    }

    pub fn is_btree(self) -> bool {
        self.is_leaf() || matches!(self, PageKind::TableInterior | PageKind::IndexInterior)
    }

    pub fn is_leaf(self) -> bool {
        matches!(self, PageKind::TableLeaf | PageKind::IndexLeaf)
    }

    pub fn is_free(self) -> bool {
        matches!(
            self,
            PageKind::FreeTrunk | PageKind::FreeLeaf | PageKind::Reserved
        )
    }
}

/// No b-tree owns the page.
pub const NOBODY: u32 = u32::MAX;

/// Ten bytes for each page of the file.
#[derive(Debug)]
pub struct Map {
    kind: Vec<PageKind>,
    /// Place of the b-tree in the list of b-trees, or [`NOBODY`].
    owner: Vec<u32>,
    /// The page that leads here, 0 if it is a root or nothing leads here: the interior page above,
    /// the page with the cell for the first page of an overflow chain, the one before for
    /// the others; the trunk for free pages, the trunk before for trunks.
    parent: Vec<u32>,
    /// How much of the page is in use, 0 to 255.
    fill: Vec<u8>,
}

/// What is known of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PageFacts {
    pub kind: PageKind,
    pub owner: Option<usize>,
    pub parent: u32,
    pub fill: u8,
}

impl Map {
    pub fn new(pages: u32) -> Map {
        let n = pages as usize + 1;
        Map {
            kind: vec![PageKind::Unknown; n],
            owner: vec![NOBODY; n],
            parent: vec![0; n],
            fill: vec![0; n],
        }
    }

    /// Number of pages.
    pub fn pages(&self) -> u32 {
        self.kind.len() as u32 - 1
    }

    /// Whether the file has this page.
    pub fn has(&self, n: u32) -> bool {
        n > 0 && n <= self.pages()
    }

    pub fn kind(&self, n: u32) -> PageKind {
        self.kind[n as usize]
    }

    pub fn owner(&self, n: u32) -> Option<usize> {
        Some(self.owner[n as usize])
            .filter(|&o| o != NOBODY)
            .map(|o| o as usize)
    }

    pub fn parent(&self, n: u32) -> u32 {
        self.parent[n as usize]
    }

    pub fn fill(&self, n: u32) -> u8 {
        self.fill[n as usize]
    }

    pub fn place(&self, n: u32) -> PageFacts {
        PageFacts {
            kind: self.kind(n),
            owner: self.owner(n),
            parent: self.parent(n),
            fill: self.fill(n),
        }
    }

    pub fn set(&mut self, n: u32, kind: PageKind, owner: Option<usize>, parent: u32) {
        self.kind[n as usize] = kind;
        self.owner[n as usize] = owner.map_or(NOBODY, |o| o as u32);
        self.parent[n as usize] = parent;
    }

    pub fn set_kind(&mut self, n: u32, kind: PageKind) {
        self.kind[n as usize] = kind;
    }

    /// Notes that `used` of `all` bytes are in use.
    pub fn set_fill(&mut self, n: u32, used: u64, all: u64) {
        self.fill[n as usize] = (used.min(all) * 255 / all.max(1)) as u8;
    }

    /// How many interior pages are above a page of a b-tree.
    pub fn depth(&self, mut n: u32) -> usize {
        let mut depth = 0;
        while depth < 64 && self.has(self.parent(n)) {
            n = self.parent(n);
            depth += 1;
        }
        depth
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The page; 0 if it is the file.
    pub page: u32,
    pub what: String,
}

/// So many are kept; the others are counted.
const KEPT: usize = 10_000;

/// What was found wrong.
#[derive(Debug, Default)]
pub struct Problems {
    pub found: Vec<Problem>,
    /// All that were found.
    pub count: u64,
}

impl Problems {
    pub fn add(&mut self, page: u32, what: impl Into<String>) {
        self.count += 1;
        if self.found.len() < KEPT {
            self.found.push(Problem {
                page,
                what: what.into(),
            });
        }
    }

    /// In the order of pages.
    pub fn sort(&mut self) {
        self.found.sort_by_key(|p| p.page);
    }
}
