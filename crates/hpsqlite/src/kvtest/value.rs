//! The values: seeded, incompressible, the same on every machine, and able to tell whether they
//! are whole.
//!
//! ```text
//! | head: low bytes of hash(rest, key, length) | rest: the generator's bytes |
//!   half of the value, at most 8 bytes
//! ```
//!
//! So a value that was read needs nothing but its key to be checked, whoever wrote it and however
//! often it was overwritten.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::data::random::SplitMix64;

/// The largest head.
const HEAD: usize = 8;

/// Raised whenever the same seed makes other values, or `make` other files of them.
pub const VERSION: u32 = 1;
/// The seed of what `kvtest init` writes.
pub const SEED: u64 = 35;

fn head_len(content: &[u8]) -> usize {
    content.len().div_ceil(2).min(HEAD)
}

/// Spreads keys, so that neighbours have nothing in common.
fn spread(key: i64, seed: u64) -> u64 {
    SplitMix64(seed ^ (key as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)).bits()
}

/// Makes the value of `key`; another seed makes another value.
pub fn fill(content: &mut [u8], key: i64, seed: u64) {
    let head = head_len(content);
    let mut random = SplitMix64(spread(key, seed));
    for chunk in content[head..].chunks_mut(8) {
        chunk.copy_from_slice(&random.bits().to_le_bytes()[..chunk.len()]);
    }
    let hash = hash(content, key).to_le_bytes();
    content[..head].copy_from_slice(&hash[..head]);
}

/// The hash of a value, of its key and its length.
pub fn hash(content: &[u8], key: i64) -> u64 {
    let seed = spread(key, content.len() as u64);
    xxh3_64_with_seed(&content[head_len(content)..], seed)
}

/// Whether the value says of itself what `hash` is.
pub fn has_hash(content: &[u8], hash: u64) -> bool {
    let head = head_len(content);
    content[..head] == hash.to_le_bytes()[..head]
}

/// The size of the value of `key`: `size`, give or take `variance`, and at least 1.
pub fn size(key: i64, size: u64, variance: u64, seed: u64) -> u64 {
    let mut random = SplitMix64(spread(key, !seed));
    (size + random.below(2 * variance + 1))
        .saturating_sub(variance)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(len: usize, key: i64, seed: u64) -> Vec<u8> {
        let mut content = vec![0; len];
        fill(&mut content, key, seed);
        content
    }

    fn whole(content: &[u8], key: i64) -> bool {
        has_hash(content, hash(content, key))
    }

    #[test]
    fn a_changed_bit_a_missing_byte_and_a_wrong_key_are_seen() {
        for len in [16, 17, 1000] {
            let good = made(len, 7, SEED);
            assert!(whole(&good, 7));
            assert!(!whole(&good, 8));
            assert!(!whole(&good[..len - 1], 7));
            for byte in 0..len {
                let mut bad = good.clone();
                bad[byte] ^= 0x10;
                assert!(!whole(&bad, 7), "byte {byte} of {len}");
            }
        }
    }

    #[test]
    fn the_smallest_values_are_whole_as_well() {
        for len in 0..16 {
            assert!(whole(&made(len, 3, SEED), 3), "{len} bytes");
        }
    }

    #[test]
    fn another_key_or_seed_is_another_value() {
        let value = made(100, 1, SEED);
        assert_eq!(value, made(100, 1, SEED));
        assert_ne!(value, made(100, 2, SEED));
        assert_ne!(value, made(100, 1, SEED + 1));
    }

    #[test]
    fn sizes_vary_within_bounds() {
        let sizes: Vec<u64> = (1..=1000).map(|k| size(k, 100, 10, SEED)).collect();
        assert_eq!(sizes.iter().min(), Some(&90));
        assert_eq!(sizes.iter().max(), Some(&110));
        assert!((1..=1000).all(|k| size(k, 100, 0, SEED) == 100));
        assert!((1..=1000).any(|k| size(k, 5, 50, SEED) == 1));
    }
}
