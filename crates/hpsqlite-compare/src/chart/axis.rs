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
    /// The axis for values that are drawn as lengths or heights: from 0, or logarithmic where they
    /// span more than two decades. A logarithmic one begins at a round number just below the least.
    pub fn of_lengths(values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = range(values);
        if least > 0.0 && (most / least).log10() > DECADES {
            // The shortest length stays visible.
            let from = round_below(least * 0.8).unwrap_or(least);
            return Axis::Logarithmic { from, to: most };
        }
        Axis::Linear {
            from: 0.0,
            to: if most > 0.0 { most } else { 1.0 },
        }
    }

    /// The axis for bars, which begin at zero, so that one that is twice as long stands for twice as
    /// much. Only where whole groups of bars would be too short to be seen it is logarithmic:
    /// `longest` has the longest bar of each group.
    pub fn of_bars(
        values: impl IntoIterator<Item = f64>,
        longest: impl IntoIterator<Item = f64>,
    ) -> Axis {
        let (least, most) = range(values);
        match Axis::of_lengths(longest) {
            Axis::Linear { .. } => Axis::of_lengths([most]),
            Axis::Logarithmic { .. } => Axis::of_lengths([least, most]),
        }
    }

    /// The axis for heights of points: as for lengths, but it begins just below the lowest.
    pub fn of_heights(values: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = range(values);
        match (Axis::of_lengths([least, most]), round_below(least)) {
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
                let (first, last) = (from.log10().floor() as i32, to.log10().floor() as i32);
                let within = |t: &f64| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(t);
                // An axis of few decades has ticks between them, too.
                let parts: &[f64] = match (to / from).log10() {
                    d if d < 1.5 => &[1.0, 2.0, 5.0],
                    d if d < 3.0 => &[1.0, 3.0],
                    _ => &[1.0],
                };
                (first..=last)
                    .flat_map(|e| parts.iter().map(move |part| part * 10f64.powi(e)))
                    .filter(within)
                    .collect()
            }
        }
    }
}

/// The largest of 1, 2 and 5 with any power of ten that is not above a value; none of 0.
fn round_below(value: f64) -> Option<f64> {
    let magnitude = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0]
        .map(|m| m * magnitude)
        .into_iter()
        .find(|&v| v <= value)
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
                from: 0.5,
                to: 500.0
            }
        );
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0]);
        assert!(axis.place(1.0) > 0.0 && axis.place(500.0) == 1.0);
        assert!(!Axis::of_lengths([0.0, 1000.0]).is_logarithmic());
    }

    /// With whole decades as its ends, an axis for 1.01 to 150 would begin at 0.1 and end a third
    /// of its length before the first bar does.
    #[test]
    fn a_logarithmic_axis_wastes_no_third_of_its_length() {
        for least in (0..1000).map(|i| 10f64.powf(f64::from(i) / 250.0 - 2.0)) {
            for span in [101.0, 300.0, 1e4, 1e7] {
                let axis = Axis::of_lengths([least, least * span]);
                assert!(axis.is_logarithmic());
                let wasted = axis.place(least);
                assert!((0.01..0.25).contains(&wasted), "{least} {span}: {wasted}");
                assert_eq!(axis.place(least * span), 1.0);
                assert!(axis.ticks().len() >= 2, "{least} {span}");
            }
        }
    }

    #[test]
    fn bars_are_logarithmic_only_where_a_whole_group_would_vanish() {
        let linear = |to| Axis::Linear { from: 0.0, to };
        // The ratio of two bars of a group is what they are drawn for, however large it is.
        assert_eq!(
            Axis::of_bars([0.002, 4.0, 0.05, 1.0], [4.0, 1.0]),
            linear(4.0)
        );
        assert_eq!(Axis::of_bars([0.82, 152.0], [152.0]), linear(152.0));
        assert_eq!(Axis::of_bars([], []), linear(1.0));
        let axis = Axis::of_bars([0.002, 4.0, 0.001, 0.02], [4.0, 0.02]);
        assert!(axis.is_logarithmic() && axis.place(0.001) > 0.0, "{axis:?}");
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
