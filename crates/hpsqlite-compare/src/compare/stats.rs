//! Medians, spreads, and the interval of a speed-up.
//!
//! Times are not normally distributed (they have a floor and a long tail), so
//! nothing here assumes it. The middle is the median, the spread half of the
//! interquartile range. The interval of a speed-up is the percentile bootstrap
//! (Efron 1979) of the ratio of medians: rounds, that is pairs of a run of A and
//! the run of B right after it, are drawn with replacement, because what
//! disturbs a machine for a while disturbs both runs of a round.

use std::collections::BTreeMap;

use serde::Serialize;

/// Resamples: enough for the ends of a 95 % interval to be steady in the second digit.
const RESAMPLES: usize = 10_000;
/// What an interval leaves out on each side.
const TAIL: f64 = 0.025;

/// The middle and the spread of some times.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Summary {
    pub median: f64,
    /// Half of the interquartile range.
    pub spread: f64,
    pub min: f64,
    pub max: f64,
}

/// How many times as fast B is as A.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Speedup {
    pub ratio: f64,
    /// 95 % interval.
    pub low: f64,
    pub high: f64,
}

impl Speedup {
    /// Whether the interval leaves out that both are equally fast.
    pub fn clear(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// Summarises times; there must be at least one.
pub fn summary(times: &[f64]) -> Summary {
    let sorted = sorted(times);
    Summary {
        median: quantile(&sorted, 0.5),
        spread: (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / 2.0,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
    }
}

/// The speed-up of `b` over `a`, measured in the same rounds.
pub fn speedup(a: &[f64], b: &[f64]) -> Speedup {
    let rounds = a.len().min(b.len());
    let ratio = |a: &[f64], b: &[f64]| quantile(&sorted(a), 0.5) / quantile(&sorted(b), 0.5);
    let mut random = Draw(rounds as u64);
    let (mut ra, mut rb) = (vec![0.0; rounds], vec![0.0; rounds]);
    let ratios = (0..RESAMPLES)
        .map(|_| {
            for i in 0..rounds {
                let round = random.below(rounds);
                ra[i] = a[round];
                rb[i] = b[round];
            }
            median(&mut ra) / median(&mut rb)
        })
        .collect();
    let (low, high) = interval(ratios);
    Speedup {
        ratio: ratio(a, b),
        low,
        high,
    }
}

/// The speed-up of `b` over `a`, which were measured at different times and so have no rounds in
/// common: both are drawn by themselves.
pub fn speedup_apart(a: &[f64], b: &[f64]) -> Speedup {
    let mut random = Draw((a.len() + b.len()) as u64);
    let ratios = (0..RESAMPLES).map(|_| random.median(a) / random.median(b));
    let (low, high) = interval(ratios.collect());
    let median = |values: &[f64]| quantile(&sorted(values), 0.5);
    Speedup {
        ratio: median(a) / median(b),
        low,
        high,
    }
}

/// The percentiles of the times of operations, by name.
pub const PERCENTILES: [(&str, f64); 5] = [
    ("50", 0.5),
    ("95", 0.95),
    ("99", 0.99),
    ("99.9", 0.999),
    ("100", 1.0),
];

/// Seconds at each of [`PERCENTILES`], by nearest rank: the smallest time that as many operations
/// did not exceed. `sorted` are times in ascending order, of which `seconds` makes seconds; there
/// is nothing where there are none.
pub fn percentiles<T: Copy>(sorted: &[T], seconds: impl Fn(T) -> f64) -> BTreeMap<String, String> {
    let at = |&(name, share): &(&str, f64)| {
        let rank = (share * sorted.len() as f64).ceil() as usize;
        let time = sorted.get(rank.max(1) - 1)?;
        Some((name.to_owned(), format!("{:.9}", seconds(*time))))
    };
    PERCENTILES.iter().filter_map(at).collect()
}

/// The 95 % interval of the median (percentile bootstrap); there must be at least one value.
pub fn median_interval(values: &[f64]) -> (f64, f64) {
    let mut random = Draw(values.len() as u64);
    interval((0..RESAMPLES).map(|_| random.median(values)).collect())
}

/// The quartiles; there must be at least one value.
pub fn quartiles(values: &[f64]) -> (f64, f64) {
    let sorted = sorted(values);
    (quantile(&sorted, 0.25), quantile(&sorted, 0.75))
}

/// What is left of resampled values without the tails.
fn interval(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (quantile(&values, TAIL), quantile(&values, 1.0 - TAIL))
}

/// The mean of ratios.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of values that may be put in another order.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(values, 0.5)
}

/// The `q` quantile of sorted values, interpolated linearly between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (at - at.floor())
}

/// A multiplicative congruential generator (L'Ecuyer 1999): the same samples always give the same interval.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(2_862_933_555_777_941_757)
            .wrapping_add(3_037_000_493);
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }

    /// The median of as many values drawn with replacement.
    fn median(&mut self, values: &[f64]) -> f64 {
        let mut drawn: Vec<f64> = (0..values.len())
            .map(|_| values[self.below(values.len())])
            .collect();
        median(&mut drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_spread() {
        let s = summary(&[5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!((s.median, s.spread, s.min, s.max), (3.0, 1.0, 1.0, 5.0));
        assert_eq!(summary(&[1.0, 2.0]).median, 1.5);
    }

    #[test]
    fn known_delay_is_within_the_interval() {
        // B takes 10 % longer than A in every round, under noise that both share.
        let noise = [1.0, 1.3, 0.9, 1.1, 1.05, 0.95, 1.2, 1.0, 0.98, 1.02];
        let a: Vec<f64> = noise.iter().map(|n| n * 2.0).collect();
        let b: Vec<f64> = noise.iter().map(|n| n * 2.2).collect();
        let s = speedup(&a, &b);
        assert!(
            s.low <= 1.0 / 1.1 + 1e-9 && 1.0 / 1.1 - 1e-9 <= s.high,
            "{s:?}"
        );
        assert!(s.clear(), "{s:?}");
    }

    #[test]
    fn noise_alone_is_no_difference() {
        let a = [1.0, 1.2, 0.9, 1.1, 1.0, 1.3, 0.95];
        let b = [1.1, 1.0, 1.0, 1.2, 0.9, 0.95, 1.3];
        assert!(!speedup(&a, &b).clear());
    }

    #[test]
    fn runs_at_different_times_are_compared_without_rounds() {
        let noise = [1.0, 1.02, 0.99, 1.01, 1.005, 0.995, 1.0];
        let a: Vec<f64> = noise.iter().map(|n| n * 2.0).collect();
        let b: Vec<f64> = noise.iter().rev().map(|n| n * 2.2).collect();
        let s = speedup_apart(&a, &b);
        assert!(
            s.low <= 1.0 / 1.1 && 1.0 / 1.1 <= s.high && s.clear(),
            "{s:?}"
        );
        assert!(!speedup_apart(&a, &a).clear());
    }

    #[test]
    fn interval_of_the_median_is_inside_the_values() {
        let values = [5.0, 1.0, 3.0, 2.0, 4.0];
        let (low, high) = median_interval(&values);
        assert!((1.0..3.0).contains(&low) && high > 3.0 && high <= 5.0);
        assert_eq!(quartiles(&values), (2.0, 4.0));
    }

    #[test]
    fn geometric_mean_of_reciprocals_is_one() {
        assert!((geometric_mean(&[4.0, 0.25, 1.0]) - 1.0).abs() < 1e-12);
    }
}
