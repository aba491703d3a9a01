//! The pairs of a job: what is in key number i after so many writes.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::data::random::{SplitMix64, mix};

/// The pairs of a job.
pub struct Pairs {
    pub seed: u64,
    pub key_size: usize,
    pub value_size: usize,
}

impl Pairs {
    pub fn key(&self, i: u64, to: &mut Vec<u8>) {
        to.clear();
        to.resize(self.key_size, b'0');
        let (mut rest, mut at) = (i, self.key_size);
        while rest > 0 && at > 0 {
            at -= 1;
            to[at] += (rest % 10) as u8;
            rest /= 10;
        }
    }

    /// The value that key `i` has after it was written `version` times.
    pub fn value(&self, i: u64, version: u32, to: &mut Vec<u8>) {
        let mut random = SplitMix64(mix(self.seed ^ mix(i) ^ u64::from(version)));
        to.clear();
        while to.len() < self.value_size {
            let bytes = random.bits().to_le_bytes();
            to.extend_from_slice(&bytes[..bytes.len().min(self.value_size - to.len())]);
        }
    }
}

pub fn hash(key: &[u8], value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64_with_seed(key, 0))
}
