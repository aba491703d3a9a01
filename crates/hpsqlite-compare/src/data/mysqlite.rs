//! The table of the MySQLite project's benchmark: two columns of integers, a few keys.
//!
//! The values are drawn by a seeded generator, in no order, so that every machine makes the same
//! file and no row comes where a sort would want it.

use anyhow::{Result, bail};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Written, generate};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;
pub const ROWS: u64 = 10_000_000;
pub const KEYS: u64 = 5;

const SEED: u64 = 10;

const DDL: &str = "CREATE TABLE T(key_col INT, val_col INT)";

/// Values of `val_col` are below this: nine digits, mostly four bytes in the file.
const VALUES: u64 = 1_000_000_000;

/// Writes table `T` with `rows` rows, in which `key_col` has `keys` values.
pub fn write(rows: u64, keys: u64, target: &DataTarget<'_>) -> Result<Written> {
    if rows == 0 || keys == 0 || keys > rows {
        bail!("there must be at least one key, and no more keys than rows");
    }
    let mut random = SplitMix64(SEED);
    generate(target, rows, |to| {
        let rows = (0..rows).map(|_| Pair {
            key: 1 + random.below(keys),
            value: random.below(VALUES),
        });
        to.table("T", DDL, rows)
    })
}

struct Pair {
    key: u64,
    value: u64,
}

impl DataRow for Pair {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.key as i64);
        to.int(self.value as i64);
    }
}
