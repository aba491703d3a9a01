//! How many times as good one cell is as another, and whether that is more than chance.

use serde::Serialize;

use crate::bench::suite::chart::Measure;
use crate::compare::stats::Speedup;
use crate::text;

/// With fewer trials nothing is said about differences: five in a row may be the same way by chance
/// once in sixteen times, three once in four.
pub const MIN_TRIALS: usize = 5;
/// "No difference" is said where the interval excludes that one is so many times as good as the other.
const SAME: f64 = 1.25;

/// How many times as good it is as something else.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Comparison {
    #[serde(flatten)]
    pub speedup: Speedup,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Better,
    Worse,
    /// None of [`SAME`] or more.
    NoDifference,
    /// The interval leaves open whether there is one.
    TooNoisy,
    /// Too few trials.
    Unknown,
}

impl Verdict {
    /// As it stands in files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference",
            Verdict::TooNoisy => "too noisy to tell",
            Verdict::Unknown => "too few trials",
        }
    }
}

impl Comparison {
    pub fn of(speedup: Speedup, trials: usize, tolerance: f64) -> Comparison {
        let verdict = match speedup {
            _ if trials < MIN_TRIALS => Verdict::Unknown,
            s if s.low > 1.0 && s.ratio > 1.0 + tolerance => Verdict::Better,
            s if s.high < 1.0 && 1.0 / s.ratio > 1.0 + tolerance => Verdict::Worse,
            s if s.low >= 1.0 / SAME && s.high <= SAME => Verdict::NoDifference,
            _ => Verdict::TooNoisy,
        };
        Comparison { speedup, verdict }
    }

    /// In a word or two, as it stands at a bar.
    pub fn short(&self) -> String {
        match self.verdict {
            Verdict::NoDifference | Verdict::TooNoisy => self.verdict.name().to_owned(),
            Verdict::Unknown => format!("about {}", text::ratio(self.speedup.ratio)),
            _ => text::ratio(self.speedup.ratio),
        }
    }

    /// With its interval; what is worse also in per cent.
    pub fn words(&self, measure: &Measure) -> String {
        let Speedup { ratio, low, high } = self.speedup;
        let interval = text::interval(low, high);
        match self.verdict {
            Verdict::Better => format!("{} ({interval})", text::ratio(ratio)),
            Verdict::Worse => {
                let what = match (measure.is_speed(), measure.smaller_is_better()) {
                    (true, true) => "more time",
                    (true, false) => "slower",
                    (false, _) => "more",
                };
                let worse = match measure.smaller_is_better() {
                    // 10 % more time is 0.91 times as fast.
                    true if ratio > 0.5 => format!("{} {what}", text::per_cent(1.0 / ratio - 1.0)),
                    true => format!("{:.1} times as much", 1.0 / ratio),
                    false => format!("{} {what}", text::per_cent(1.0 - ratio)),
                };
                format!("{} ({interval}), {worse}", text::ratio(ratio))
            }
            Verdict::NoDifference | Verdict::TooNoisy => {
                format!("{} ({interval})", self.verdict.name())
            }
            Verdict::Unknown => format!("{} (too few trials)", text::ratio(ratio)),
        }
    }
}
