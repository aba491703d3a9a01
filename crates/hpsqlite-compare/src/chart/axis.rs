//! From a value to a place on an axis, and where the ticks are.

/// Values that span more than two decades get a logarithmic axis.
const DECADES: f64 = 2.0;
/// Places each of which is so many times the one before are evenly spread by a logarithm.
const FACTOR: f64 = 1.5;
const MAX_TICKS: f64 = 6.0;

/// An axis between two values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axis {
    Linear { from: f64, to: f64 },
    Logarithmic { from: f64, to: f64 },
}

impl Axis {
    /// The axis for values that are drawn as lengths or heights: from 0, or logarithmic between
    /// whole decades where they span more than two.
    pub fn of_lengths(values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = range(values);
        if least > 0.0 && (most / least).log10() > DECADES {
            // The shortest length stays visible.
            let from = 10f64.powf((least * 0.7).log10().floor());
            return Axis::Logarithmic { from, to: most };
        }
        Axis::Linear {
            from: 0.0,
            to: if most > 0.0 { most } else { 1.0 },
        }
    }

    /// The axis for heights of points: as for lengths, but it begins just below the lowest.
    pub fn of_heights(values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = range(values);
        let magnitude = 10f64.powf(least.log10().floor());
        let from = [5.0, 2.0, 1.0]
            .map(|m| m * magnitude)
            .into_iter()
            .find(|&v| v <= least);
        match (Axis::of_lengths([least, most]), from) {
            (Axis::Logarithmic { to, .. }, Some(from)) => Axis::Logarithmic { from, to },
            (axis, _) => axis,
        }
    }

    /// The axis for places: from the first to the last, logarithmic where they span more than two
    /// decades or where four and more grow by a factor, as 1, 2, 4 and 8 do.
    pub fn of_places(values: impl IntoIterator<Item = f64>) -> Axis {
        let mut all: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let (least, most) = range(all.iter().copied());
        let grows = all.len() >= 4 && all.windows(2).all(|v| v[1] >= v[0] * FACTOR);
        if least > 0.0 && (grows || (most / least).log10() > DECADES) {
            return Axis::Logarithmic {
                from: least,
                to: most,
            };
        }
        Axis::Linear {
            // Where the first is near 0, as numbers of threads are, 0 is shown.
            from: if (0.0..most * 0.3).contains(&least) {
                0.0
            } else {
                least
            },
            to: if most > least { most } else { least + 1.0 },
        }
    }

    pub fn is_logarithmic(self) -> bool {
        matches!(self, Axis::Logarithmic { .. })
    }

    /// Where a value is, from 0 to 1.
    pub fn place(self, value: f64) -> f64 {
        let at = match self {
            Axis::Linear { from, to } => (value - from) / (to - from),
            Axis::Logarithmic { from, .. } if value <= from => 0.0,
            Axis::Logarithmic { from, to } => (value / from).ln() / (to / from).ln(),
        };
        if at.is_finite() {
            at.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Round values.
    pub fn ticks(self) -> Vec<f64> {
        match self {
            Axis::Linear { from, to } => {
                let step = tick_step(to - from);
                let first = (from / step).ceil();
                (0..)
                    .map(|i| (first + f64::from(i)) * step)
                    .take_while(|&t| t <= to + step * 1e-6)
                    .collect()
            }
            Axis::Logarithmic { from, to } => {
                let first = from.log10().ceil() as i32;
                let last = (to.log10() + 1e-9).floor() as i32;
                (first..=last).map(|e| 10f64.powi(e)).collect()
            }
        }
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|v| v.is_finite());
    let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| {
        (least.min(v), most.max(v))
    });
    if least <= most {
        (least, most)
    } else {
        (0.0, 1.0)
    }
}

/// A round number that divides `span` into a few steps.
fn tick_step(span: f64) -> f64 {
    if span <= 0.0 {
        return 1.0;
    }
    let rough = span / MAX_TICKS;
    let magnitude = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * magnitude)
        .into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(rough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(tick_step(12.0), 2.0);
        assert_eq!(tick_step(0.35), 0.1);
        assert_eq!(tick_step(0.0), 1.0);
        let axis = Axis::of_lengths([3.0, 10.0]);
        assert_eq!(axis.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    }

    #[test]
    fn more_than_two_decades_are_logarithmic() {
        assert!(!Axis::of_lengths([1.0, 99.0]).is_logarithmic());
        let axis = Axis::of_lengths([1.0, 500.0]);
        assert_eq!(
            axis,
            Axis::Logarithmic {
                from: 0.1,
                to: 500.0
            }
        );
        assert_eq!(axis.ticks(), [0.1, 1.0, 10.0, 100.0]);
        assert!(axis.place(1.0) > 0.0 && axis.place(500.0) == 1.0);
        assert!(!Axis::of_lengths([0.0, 1000.0]).is_logarithmic());
    }

    #[test]
    fn places_that_double_are_logarithmic() {
        assert!(Axis::of_places([1.0, 2.0, 4.0, 8.0]).is_logarithmic());
        assert!(!Axis::of_places([1.0, 2.0, 3.0, 4.0]).is_logarithmic());
        let heights = Axis::of_heights([0.91, 850.0]);
        assert_eq!(
            heights,
            Axis::Logarithmic {
                from: 0.5,
                to: 850.0
            }
        );
    }

    #[test]
    fn values_that_are_no_numbers_have_a_place() {
        let axis = Axis::of_lengths([f64::NAN, f64::INFINITY]);
        assert_eq!(axis.place(f64::NAN), 0.0);
        assert!(!Axis::of_places([]).ticks().is_empty());
    }
}
