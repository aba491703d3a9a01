//! Whether reports may be trusted: what they say of samples whose truth is known.
//!
//! Samples come from a model of a machine's noise, seeded, so that this is no matter of luck or of
//! the machine it runs on. Both engines of a trial share a drift (the machine gets warm, a
//! neighbour comes and goes) and now and then a disturbance of up to a half; each sample for itself
//! varies by a hundredth and has a heavy tail. Real time is measured by `make lab-check`.

use super::tests::suite;
use super::*;
use crate::bench::model::Sample;
use crate::bench::model::{ENGINE, Values};
use crate::bench::store::{Environment, RunSession};
use crate::bench::store::{Recorded, StoredPoint};
use crate::bench::suite::chart::Presentation;
use crate::data::random::SplitMix64;

/// What this machine does to times.
struct Noise {
    random: SplitMix64,
    drift: f64,
}

impl Noise {
    fn uniform(&mut self) -> f64 {
        (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// What all samples of the next trial share.
    fn trial(&mut self) -> f64 {
        self.drift += 0.01 * self.normal();
        match self.uniform() < 0.1 {
            true => self.drift.exp() * (1.0 + 0.5 * self.uniform()),
            false => self.drift.exp(),
        }
    }

    /// What one sample has for itself.
    fn own(&mut self) -> f64 {
        let plain = (0.01 * self.normal()).exp();
        match self.uniform() < 0.07 {
            // Pareto's distribution: seldom, and then much.
            true => plain * (1.0 + 0.05 * ((1.0 - self.uniform()).powf(-1.0 / 1.5) - 1.0)),
            false => plain,
        }
    }
}

/// Results of two engines, the second of which takes `factor` times as long.
fn results(noise: &mut Noise, trials: u32, factor: f64) -> Results {
    let mut sides = [("stock", 1.0), ("other", factor)].map(|(engine, factor)| {
        let point = StoredPoint {
            id: 1,
            axes: [(ENGINE.to_owned(), engine.to_owned())].into(),
            asked: Values::new(),
            effective: None,
            samples: Vec::new(),
            problems: Vec::new(),
        };
        (point, factor)
    });
    for trial in 1..=trials {
        let common = noise.trial();
        for (point, factor) in &mut sides {
            let seconds = 0.02 * *factor * common * noise.own();
            point.samples.push(Recorded {
                trial,
                sample: Sample {
                    step: "read".to_owned(),
                    seconds,
                    operations: 1,
                    ..Sample::default()
                },
                session: 1,
                at: String::new(),
                load: 0.0,
            });
        }
    }
    Results {
        suite: suite(""),
        suite_hash: String::new(),
        sessions: vec![RunSession {
            id: 1,
            began: String::new(),
            tool: String::new(),
            environment: Environment::default(),
        }],
        points: sides.map(|(point, _)| point).into(),
        warnings: Vec::new(),
    }
}

/// The comparison of the second engine with the first, as the report has it.
fn compared(noise: &mut Noise, trials: u32, factor: f64) -> Comparison {
    let made = results(noise, trials, factor);
    let report = Report::build(made, None, Presentation::default(), TOLERANCE);
    let cell = report.charts[0]
        .cell("other", "")
        .expect("the engine's cell");
    cell.speedup.expect("a comparison with stock")
}

const REPORTS: usize = 60;

/// Of many reports, how many have the truth in their interval, and how many give each verdict.
fn shares(trials: u32, factor: f64) -> (f64, f64, f64) {
    let share = |n: usize| n as f64 / REPORTS as f64;
    let (mut inside, mut better, mut worse) = (0, 0, 0);
    for seed in 0..REPORTS {
        let mut noise = Noise {
            random: SplitMix64(seed as u64 * 1000 + u64::from(trials)),
            drift: 0.0,
        };
        let c = compared(&mut noise, trials, factor);
        let truth = 1.0 / factor;
        inside += usize::from(c.speedup.low <= truth && truth <= c.speedup.high);
        better += usize::from(c.verdict == Verdict::Better);
        worse += usize::from(c.verdict == Verdict::Worse);
    }
    (share(inside), share(better), share(worse))
}

/// Three standard deviations of a share of `REPORTS`.
fn chance(share: f64) -> f64 {
    3.0 * (share * (1.0 - share) / REPORTS as f64).sqrt()
}

/// Five trials fall the same way by chance once in sixteen; more do so less often than in twenty.
#[test]
fn two_copies_of_one_library_are_no_difference() {
    for (trials, promised) in [(5, 1.0 / 16.0), (10, 0.05), (20, 0.05)] {
        let (inside, better, worse) = shares(trials, 1.0);
        let wrong = better + worse;
        assert!(
            wrong <= promised + chance(promised),
            "{trials} trials: {wrong} wrong"
        );
        assert!(
            inside >= 1.0 - promised - chance(promised),
            "{trials} trials: {inside}"
        );
    }
}

#[test]
fn a_tenth_is_found_and_reported_as_a_tenth() {
    for (trials, found) in [(5, 0.8), (10, 0.95), (20, 0.99)] {
        let (inside, better, worse) = shares(trials, 1.1);
        assert!(
            inside >= 0.94 - chance(0.06),
            "{trials} trials: {inside} inside"
        );
        assert_eq!(better, 0.0, "{trials} trials");
        assert!(
            worse >= found - chance(found),
            "{trials} trials: {worse} found"
        );
    }
}

/// Fewer trials would be wrong too often, whatever they show.
#[test]
fn four_trials_tell_nothing() {
    assert_eq!(shares(4, 2.0), (shares(4, 2.0).0, 0.0, 0.0));
}
