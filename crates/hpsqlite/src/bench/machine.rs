//! What disturbs the machine while something is measured, and what helps.

/// Clock ticks that the processors have spent so far, from `/proc/stat`; zero where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ticks {
    /// On programs and the system itself.
    busy: u64,
    /// Taken by the host of a virtual machine.
    stolen: u64,
    processors: u64,
}

/// From this share of all processors' time on a person is told.
const SHARE: f64 = 0.1;
/// In less time than this nothing can be told, in seconds.
const SHORTEST: f64 = 2.0;

pub fn ticks() -> Ticks {
    parsed(&std::fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn parsed(stat: &str) -> Ticks {
    let mut lines = stat.lines();
    let first = lines.next().unwrap_or_default();
    // user nice system idle iowait irq softirq steal
    let fields: Vec<u64> = first
        .split_whitespace()
        .skip(1)
        .map(|n| n.parse().unwrap_or(0))
        .collect();
    let field = |i: usize| fields.get(i).copied().unwrap_or(0);
    Ticks {
        busy: [0, 1, 2, 5, 6].into_iter().map(field).sum(),
        stolen: field(7),
        processors: lines.take_while(|l| l.starts_with("cpu")).count() as u64,
    }
}

/// What there was between two looks, of `seconds`, in which we used `own` seconds ourselves.
pub fn disturbances(before: &Ticks, after: &Ticks, own: f64, seconds: f64) -> Vec<String> {
    if seconds < SHORTEST || after.processors == 0 {
        return Vec::new();
    }
    // SAFETY: a plain call.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
    let processors = after.processors as f64;
    let used = |ticks: u64| ticks as f64 / per_second / seconds;
    let others = used(after.busy.saturating_sub(before.busy)) - own / seconds;
    let stolen = used(after.stolen.saturating_sub(before.stolen));
    let mut out = Vec::new();
    if others > SHARE * processors {
        out.push(format!(
            "Other programs used {others:.1} of {processors} processors while this was measured. To end \
             them, or to take more trials (--set trials=15, into another results file), makes \
             the intervals narrower."
        ));
    }
    if stolen > SHARE * processors {
        out.push(format!(
            "The host of this virtual machine took {:.0} % of its processors' time away while this was \
             measured. More trials (--set trials=15, into another results file), or a machine of \
             its own, make the intervals narrower.",
            stolen / processors * 100.0
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 0 50 9000 10 5 5 20 0 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n";

    #[test]
    fn the_first_line_is_all_processors() {
        let ticks = parsed(STAT);
        assert_eq!((ticks.busy, ticks.stolen, ticks.processors), (160, 20, 2));
        assert_eq!(parsed(""), Ticks::default());
    }

    /// Ticks are hundredths of a second on Linux.
    #[test]
    fn what_we_use_ourselves_is_no_disturbance() {
        let before = parsed(STAT);
        let after = Ticks {
            busy: before.busy + 1000,
            ..before
        };
        // Ten seconds of processors in ten seconds, all of it ours.
        assert!(disturbances(&before, &after, 10.0, 10.0).is_empty());
        let told = disturbances(&before, &after, 4.0, 10.0);
        assert!(
            told[0].starts_with("Other programs used 0.6 of 2 processors"),
            "{told:?}"
        );
        let stolen = Ticks {
            stolen: before.stolen + 400,
            ..before
        };
        let told = disturbances(&before, &stolen, 0.0, 10.0);
        assert!(told[0].contains("took 20 % of"), "{told:?}");
        assert!(
            disturbances(&before, &after, 0.0, 1.0).is_empty(),
            "too short"
        );
    }
}
