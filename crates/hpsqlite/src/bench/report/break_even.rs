//! Where two lines cross: the size up to which one engine is the faster, and from which on the other.
//!
//! At each place along x the two are compared as they are everywhere in a report: with a 95 % interval
//! over the trials that both have. Only what is clear counts: a break-even lies between the last
//! place at which one is clearly better and the first at which the other is. Where in between is
//! where the straight line through the logarithms of the ratios, over the logarithms of x, comes
//! to a ratio of one. It is told in two digits, and as "about".

use super::chart::{BreakEven, Crossing};
use super::compared::compared;
use super::{Chart, ChartCell, Comparison, Verdict};
use crate::bench::suite::chart::ChartPlan;
use crate::text;

/// What a chart's plan asks for: each series against each of those that it names.
pub fn of(chart: &Chart) -> Vec<BreakEven> {
    let plan = &chart.plan;
    let mut all = Vec::new();
    for series in &chart.series {
        for against in &plan.break_even {
            if !plan.break_even.contains(series) {
                all.extend(between(chart, series, against));
            }
        }
    }
    all
}

/// A value of x, and how the two compare there.
struct PlaceOnX<'c> {
    x: f64,
    cell: &'c ChartCell,
    comparison: Comparison,
}

fn between(chart: &Chart, series: &str, against: &str) -> Option<BreakEven> {
    let places: Option<Vec<PlaceOnX>> = chart
        .cells
        .iter()
        .filter(|cell| cell.series == series)
        .filter_map(|cell| {
            let other = chart.cell(&cell.x, against)?;
            Some((cell, compared(&chart.plan, other, cell)?))
        })
        .map(|(cell, comparison)| {
            Some(PlaceOnX {
                x: text::parse_number(&cell.x).filter(|x| *x > 0.0)?,
                cell,
                comparison,
            })
        })
        .collect();
    let places = places.filter(|places| places.len() > 1)?;
    let crossings = crossings(&places);
    let words = format!(
        "{} against {}: {}.",
        chart.plan.name(series),
        chart.plan.name(against),
        words(&chart.plan, &places, &crossings)
    );
    Some(BreakEven {
        series: series.to_owned(),
        against: against.to_owned(),
        crossings,
        compared: places
            .iter()
            .map(|p| (p.cell.x.clone(), p.comparison))
            .collect(),
        words,
    })
}

fn crossings(places: &[PlaceOnX<'_>]) -> Vec<Crossing> {
    let is_clear =
        |p: &PlaceOnX<'_>| matches!(p.comparison.verdict, Verdict::Better | Verdict::Worse);
    let clear: Vec<usize> = (0..places.len())
        .filter(|&i| is_clear(&places[i]))
        .collect();
    clear
        .windows(2)
        .map(|pair| &places[pair[0]..=pair[1]])
        .filter(|part| part[0].comparison.verdict != part[part.len() - 1].comparison.verdict)
        .map(|part| {
            let (first, last) = (&part[0], &part[part.len() - 1]);
            Crossing {
                at: zero(part).clamp(first.x, last.x),
                between: (first.cell.x.clone(), last.cell.x.clone()),
                better_before: first.comparison.verdict == Verdict::Better,
            }
        })
        .collect()
}

/// Where the line through the logarithms of the ratios (least squares) is at a ratio of one.
fn zero(places: &[PlaceOnX<'_>]) -> f64 {
    let points: Vec<(f64, f64)> = places
        .iter()
        .map(|p| (p.x.ln(), p.comparison.speedup.ratio.ln()))
        .collect();
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| -> f64 { points.iter().map(|p| of(p.0 - x, p.1 - y)).sum() };
    let slope = sum(&|x, y| x * y) / sum(&|x, _| x * x);
    let at = x - y / slope;
    // A line without a slope has no such place; then the middle is as good as any.
    if at.is_finite() { at } else { x }.exp()
}

/// Places one after another at which the two compare alike.
struct Stretch {
    verdict: Verdict,
    first: usize,
    last: usize,
}

fn words(plan: &ChartPlan, places: &[PlaceOnX<'_>], crossings: &[Crossing]) -> String {
    let end = &places[places.len() - 1].cell.x;
    if places
        .iter()
        .all(|p| p.comparison.verdict == Verdict::Unknown)
    {
        return format!("too few trials to tell the break-even up to {end}");
    }
    let bytes = places.iter().all(|p| p.cell.x.ends_with(['b', 'B', 's']));
    let about = crossings
        .iter()
        .map(|c| format!("about {}", rounded(c.at, bytes)))
        .collect::<Vec<_>>();
    let headline = match &about[..] {
        [] => format!("no break-even up to {end}"),
        about => format!("break-even at {}", text::list(about)),
    };
    let mut stretches: Vec<Stretch> = Vec::new();
    for (i, place) in places.iter().enumerate() {
        let verdict = place.comparison.verdict;
        match stretches.last_mut() {
            Some(stretch) if stretch.verdict == verdict => stretch.last = i,
            _ => stretches.push(Stretch {
                verdict,
                first: i,
                last: i,
            }),
        }
    }
    let told: Vec<String> = stretches
        .iter()
        .map(|s| {
            let what = match (s.verdict, plan.measure.is_speed()) {
                (Verdict::Better, true) => "faster",
                (Verdict::Worse, true) => "slower",
                (Verdict::Better, false) => "less",
                (Verdict::Worse, false) => "more",
                (Verdict::NoDifference, _) => "no difference",
                (Verdict::TooNoisy, _) => "too noisy to tell",
                (Verdict::Unknown, _) => "too few trials",
            };
            let (first, last) = (&places[s.first].cell.x, &places[s.last].cell.x);
            let (begins, ends) = (s.first == 0, s.last + 1 == places.len());
            match (begins, ends) {
                (true, true) => format!("{what} throughout"),
                _ if s.first == s.last => format!("{what} at {first}"),
                (true, false) => format!("{what} up to {last}"),
                (false, true) => format!("{what} from {first} on"),
                (false, false) => format!("{what} from {first} to {last}"),
            }
        })
        .collect();
    format!("{headline}; {}", told.join(", "))
}

/// In two digits: `110 kB`, `1.2 MB`, `35`.
fn rounded(x: f64, bytes: bool) -> String {
    let unit = 10f64.powf(x.log10().floor() - 1.0);
    let round = (x / unit).round() * unit;
    if !bytes {
        return match round {
            r if r >= 1000.0 => text::thousands(r as u64),
            r => format!("{}", (r * 1e6).round() / 1e6),
        };
    }
    let words = text::bytes(round.round() as u64);
    words.replacen(".0 ", " ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::{line_chart, values};

    /// The sentence about `ours` against `files`, from times at sizes in five trials.
    fn told(sizes: &[&str], ours: &[f64], files: &[f64]) -> BreakEven {
        let chart = line_chart(sizes, &[("files", files), ("ours", ours)], 5, |plan| {
            plan.break_even = vec!["files".to_owned()];
            plan.names = values(&[("ours", "HP SQLite"), ("files", "files")]);
        });
        of(&chart).pop().expect("both are there")
    }

    const SIZES: [&str; 4] = ["1 kB", "10 kB", "100 kB", "1 MB"];

    #[test]
    fn it_is_interpolated_on_the_logarithmic_axis() {
        // Twice as fast at 10 kB, half as fast at 100 kB.
        let found = told(&SIZES, &[1.0, 2.0, 8.0, 60.0], &[3.0, 4.0, 4.0, 20.0]);
        assert_eq!(found.crossings.len(), 1);
        let crossing = &found.crossings[0];
        assert!((crossing.at / 31_623.0 - 1.0).abs() < 0.05, "{crossing:?}");
        assert!(crossing.better_before);
        assert_eq!(crossing.between, ("10 kB".to_owned(), "100 kB".to_owned()));
        assert_eq!(
            found.words,
            "HP SQLite against files: break-even at about 32 kB; faster up to 10 kB, slower from 100 kB on."
        );
    }

    #[test]
    fn there_may_be_none() {
        let found = told(&SIZES, &[1.0, 2.0, 8.0, 60.0], &[2.0, 4.0, 9.0, 70.0]);
        assert_eq!(
            found.words,
            "HP SQLite against files: no break-even up to 1 MB; faster throughout."
        );
        let found = told(&SIZES, &[2.0, 4.0, 9.0, 70.0], &[1.0, 2.0, 8.0, 60.0]);
        assert!(
            found.words.ends_with("slower throughout."),
            "{}",
            found.words
        );
        assert!(found.crossings.is_empty());
    }

    #[test]
    fn what_noise_hides_is_no_crossing() {
        // Slower by less than the noise at the largest size.
        let found = told(&SIZES, &[1.0, 2.0, 8.0, 60.0], &[3.0, 4.0, 9.0, 59.99]);
        assert_eq!(
            found.words,
            "HP SQLite against files: no break-even up to 1 MB; faster up to 100 kB, no difference at 1 MB."
        );
    }

    #[test]
    fn the_place_is_sought_between_what_is_clear() {
        // Nothing can be told at the two sizes in between.
        let found = told(
            &["1 kB", "10 kB", "100 kB", "1 MB"],
            &[1.0, 2.0, 8.0, 60.0],
            &[4.0, 2.001, 7.999, 15.0],
        );
        let crossing = &found.crossings[0];
        assert_eq!(crossing.between, ("1 kB".to_owned(), "1 MB".to_owned()));
        assert!((crossing.at / 31_623.0 - 1.0).abs() < 0.1, "{crossing:?}");
        assert!(found.words.contains("no difference from 10 kB to 100 kB"));
    }

    #[test]
    fn lines_may_cross_twice_and_numbers_need_no_unit() {
        let found = told(
            &["1", "10", "100", "1000"],
            &[2.0, 1.0, 1.0, 2.0],
            &[1.0, 2.0, 2.0, 1.0],
        );
        assert_eq!(
            found.words,
            "HP SQLite against files: break-even at about 3.2 and about 320; \
             slower at 1, faster from 10 to 100, slower at 1000."
        );
        assert!(!found.crossings[0].better_before);
    }

    #[test]
    fn few_trials_tell_nothing() {
        let chart = line_chart(
            &SIZES,
            &[("files", &[1.0; 4]), ("ours", &[2.0; 4])],
            3,
            |plan| {
                plan.break_even = vec!["files".to_owned()];
            },
        );
        assert!(
            of(&chart)[0]
                .words
                .ends_with("too few trials to tell the break-even up to 1 MB.")
        );
    }

    #[test]
    fn places_have_two_digits() {
        let told = [1234.0, 116_000.0, 9.96e6, 87.4].map(|x| rounded(x, true));
        assert_eq!(told, ["1.2 kB", "120 kB", "10 MB", "87 bytes"]);
        assert_eq!(
            [3.162, 12_345.0].map(|x| rounded(x, false)),
            ["3.2", "12,000"]
        );
    }
}
