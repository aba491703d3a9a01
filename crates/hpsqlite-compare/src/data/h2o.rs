//! The group-by table of the H2O.ai database benchmark: nine columns, as many rows as asked for.
//!
//! The values are drawn by a seeded generator of our own, so that every machine
//! makes the same file; they are not the rows R's generator draws, but follow
//! the same distributions.

use anyhow::{Result, bail};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Written, generate};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;
pub const ROWS: u64 = 5_000_000;
pub const GROUPS: u64 = 100;

const SEED: u64 = 108;

const DDL: &str = "CREATE TABLE x(
  id1 TEXT, id2 TEXT, id3 TEXT,
  id4 INTEGER, id5 INTEGER, id6 INTEGER,
  v1 INTEGER, v2 INTEGER, v3 REAL
)";

/// Writes table `x` with `rows` rows. `id1`, `id2`, `id4` and `id5` have `groups` values each,
/// `id3` and `id6` have `rows/groups`.
pub fn write(rows: u64, groups: u64, target: &DataTarget<'_>) -> Result<Written> {
    if rows == 0 || groups == 0 || groups > rows {
        bail!("there must be at least one group, and no more groups than rows");
    }
    let mut random = SplitMix64(SEED);
    let large = rows / groups;
    generate(target, rows, |to| {
        let rows = (0..rows).map(|_| X {
            id1: 1 + random.below(groups),
            id2: 1 + random.below(groups),
            id3: 1 + random.below(large),
            id4: 1 + random.below(groups),
            id5: 1 + random.below(groups),
            id6: 1 + random.below(large),
            v1: 1 + random.below(5),
            v2: 1 + random.below(15),
            v3: random.below(100_000_000) as f64 / 1e6,
        });
        to.table("x", DDL, rows)
    })
}

struct X {
    id1: u64,
    id2: u64,
    id3: u64,
    id4: u64,
    id5: u64,
    id6: u64,
    v1: u64,
    v2: u64,
    /// From 0 to 100 with six decimals.
    v3: f64,
}

impl DataRow for X {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.shown(&format_args!("id{:03}", self.id1));
        to.shown(&format_args!("id{:03}", self.id2));
        to.shown(&format_args!("id{:010}", self.id3));
        for v in [self.id4, self.id5, self.id6, self.v1, self.v2] {
            to.int(v as i64);
        }
        to.real(self.v3);
    }
}
