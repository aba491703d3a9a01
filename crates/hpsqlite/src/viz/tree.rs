//! A b-tree: what the schema says of it, and what was counted.

use serde::Serialize;

/// What a b-tree is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeRole {
    /// sqlite_schema, the list of the others.
    Schema,
    Table,
    /// A table whose rows are the entries of an index, by its PRIMARY KEY.
    WithoutRowid,
    Index,
}

impl TreeRole {
    pub fn name(self) -> &'static str {
        match self {
            TreeRole::Schema => "schema",
            TreeRole::Table => "table",
            TreeRole::WithoutRowid => "table, no rowid",
            TreeRole::Index => "index",
        }
    }
}

/// The pages of one level of a b-tree.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Level {
    pub pages: u64,
    pub cells: u64,
    /// Bytes of records in these pages.
    pub payload: u64,
    /// Bytes that hold nothing.
    pub unused: u64,
}

/// Chains of overflow pages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Chains {
    pub chains: u64,
    pub pages: u64,
    pub payload: u64,
    pub unused: u64,
    /// Pages of the longest chain, and the page with the cell it belongs to.
    pub longest: u64,
    pub longest_of: u32,
    /// Steps from a page of a chain to the next that are not to the next page of the file.
    pub jumps: u64,
    /// Chains that lie neither beside their leaf or the one before, nor behind the chain before, in
    /// the order of keys.
    pub away: u64,
}

/// One b-tree.
#[derive(Debug, Clone)]
pub struct Tree {
    pub name: String,
    /// The table that an index is of; a table's own name.
    pub table: String,
    pub role: TreeRole,
    pub root: u32,
    /// The statement that made it, as the schema has it; empty for automatic indexes.
    pub sql: String,
    /// Texts in its keys are ordered by their bytes, as far as the schema tells.
    pub binary: bool,
    /// From the root's down to the leaves'. Pages are counted when the file is opened, the rest
    /// by the scan.
    pub levels: Vec<Level>,
    /// Leaves in the order of keys.
    pub leaves: Vec<u32>,
    pub chains: Chains,
    /// Bytes of the largest record.
    pub largest: u64,
    /// Free pages kept for it, and trunks that list them.
    pub reserved: u64,
}

impl Tree {
    pub fn new(name: String, table: String, role: TreeRole, root: u32, sql: String) -> Tree {
        Tree {
            name,
            table,
            role,
            root,
            sql,
            binary: false,
            levels: Vec::new(),
            leaves: Vec::new(),
            chains: Chains::default(),
            largest: 0,
            reserved: 0,
        }
    }

    /// All its pages of b-trees.
    pub fn btree_pages(&self) -> u64 {
        self.levels.iter().map(|level| level.pages).sum()
    }

    /// All its pages but those that are reserved for it.
    pub fn pages(&self) -> u64 {
        self.btree_pages() + self.chains.pages
    }

    /// Rows of a table, entries of an index. Interior pages of indexes hold entries as well.
    pub fn entries(&self) -> u64 {
        match self.role {
            TreeRole::Schema | TreeRole::Table => self.leaf_level().cells,
            TreeRole::WithoutRowid | TreeRole::Index => {
                self.levels.iter().map(|level| level.cells).sum()
            }
        }
    }

    pub fn leaf_level(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }

    /// Bytes of records, overflow pages included.
    pub fn payload(&self) -> u64 {
        self.levels.iter().map(|level| level.payload).sum::<u64>() + self.chains.payload
    }

    /// Bytes in its pages that hold nothing.
    pub fn unused(&self) -> u64 {
        self.levels.iter().map(|level| level.unused).sum::<u64>() + self.chains.unused
    }

    /// Children of an interior page, on average; of its levels, the one above the leaves first.
    pub fn fan_out(&self) -> Vec<f64> {
        let above = self.levels.iter().rev().skip(1);
        let children = |level: &Level| (level.cells + level.pages) as f64 / level.pages as f64;
        above.map(children).collect()
    }
}
