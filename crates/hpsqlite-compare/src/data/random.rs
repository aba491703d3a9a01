//! Random numbers for test data.

/// Steele, Lea and Flood's generator: enough for test data, and the same numbers everywhere.
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// A number of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n`-1.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
}

/// A number that shows nothing of the one it is made of.
pub fn mix(n: u64) -> u64 {
    SplitMix64(n).bits()
}

/// The numbers below `count` in an order that follows from the seed.
pub fn shuffled(count: u64, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).map(|i| i as u32).collect();
    let mut random = SplitMix64(seed);
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_has_every_number_once() {
        let mut order = shuffled(1000, 3);
        assert_ne!(order, shuffled(1000, 4));
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
    }
}
