//! Horizontal bar charts with error bars, as SVG that takes its colours from the page.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const LABEL_WIDTH: f64 = 250.0;
/// Room at the right for the values.
const VALUE_WIDTH: f64 = 90.0;
const BAR: f64 = 18.0;
const BAR_GAP: f64 = 4.0;
const GROUP_GAP: f64 = 14.0;
const AXIS: f64 = 26.0;
/// Characters that fit into [`LABEL_WIDTH`].
const LABEL_CHARS: usize = 32;
const MAX_TICKS: f64 = 6.0;

/// A bar with its error bar.
pub struct Bar {
    /// CSS class that colours it.
    pub class: &'static str,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// What stands at its end.
    pub caption: String,
}

/// Bars that belong together under one label.
pub struct Group {
    pub label: String,
    pub bars: Vec<Bar>,
}

/// How a chart is drawn.
pub struct Chart<'a> {
    /// For those who cannot see it.
    pub title: &'a str,
    pub groups: &'a [Group],
    /// A line across all bars at this value.
    pub reference: Option<f64>,
    /// Text of an axis tick.
    pub tick: &'a dyn Fn(f64) -> String,
}

impl Chart<'_> {
    /// The chart as an SVG element.
    pub fn svg(&self) -> String {
        let max = self
            .groups
            .iter()
            .flat_map(|g| &g.bars)
            .map(|b| b.high.max(b.value))
            .chain(self.reference)
            .fold(0.0, f64::max);
        let step = tick_step(max);
        let plot = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
        let end = if max > 0.0 { max } else { 1.0 };
        let x = |value: f64| LABEL_WIDTH + plot * value / end;
        let rows: f64 = self
            .groups
            .iter()
            .map(|g| g.bars.len() as f64 * (BAR + BAR_GAP) + GROUP_GAP)
            .sum();
        let height = rows + AXIS;

        let mut out = String::new();
        let title = escape(self.title);
        let mut put = |s: std::fmt::Arguments<'_>| {
            // Writing to a String succeeds.
            let _ = out.write_fmt(s);
        };
        put(format_args!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">"
        ));
        let mut tick = 0.0;
        while tick <= end * 1.000_001 {
            put(format_args!(
                "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{rows}\"/>\
                 <text class=\"tick\" x=\"{0:.1}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>",
                x(tick),
                rows + 16.0,
                escape(&(self.tick)(tick)),
            ));
            tick += step;
        }
        let mut y = GROUP_GAP / 2.0;
        for group in self.groups {
            let group_height = group.bars.len() as f64 * (BAR + BAR_GAP) - BAR_GAP;
            put(format_args!(
                "<text class=\"label\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}<title>{}</title></text>",
                LABEL_WIDTH - 10.0,
                y + group_height / 2.0 + 4.5,
                escape(&crate::text::shorten(&group.label, LABEL_CHARS)),
                escape(&group.label),
            ));
            for bar in &group.bars {
                let middle = y + BAR / 2.0;
                put(format_args!(
                    "<rect class=\"{}\" x=\"{LABEL_WIDTH}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"2\"/>",
                    bar.class,
                    (x(bar.value) - LABEL_WIDTH).max(1.0),
                ));
                put(format_args!(
                    "<path class=\"error\" d=\"M{0:.1} {middle:.1}H{1:.1}M{0:.1} {2:.1}v8M{1:.1} {2:.1}v8\"/>",
                    x(bar.low),
                    x(bar.high),
                    middle - 4.0,
                ));
                put(format_args!(
                    "<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x(bar.value.max(bar.high)) + 7.0,
                    middle + 4.5,
                    escape(&bar.caption),
                ));
                y += BAR + BAR_GAP;
            }
            y += GROUP_GAP;
        }
        if let Some(at) = self.reference {
            put(format_args!(
                "<line class=\"reference\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{rows}\"/>",
                x(at)
            ));
        }
        put(format_args!("</svg>"));
        out
    }
}

/// A round number that divides `max` into a few steps.
fn tick_step(max: f64) -> f64 {
    if max <= 0.0 {
        return 1.0;
    }
    let rough = max / MAX_TICKS;
    let magnitude = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * magnitude)
        .into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(rough)
}

/// Text that may stand in HTML and in an attribute.
pub fn escape(s: &str) -> String {
    s.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(tick_step(12.0), 2.0);
        assert_eq!(tick_step(0.35), 0.1);
        assert_eq!(tick_step(0.0), 1.0);
    }

    #[test]
    fn labels_cannot_break_out() {
        let groups = [Group {
            label: "a < '</svg>\"".to_owned(),
            bars: vec![],
        }];
        let chart = Chart {
            title: "t",
            groups: &groups,
            reference: None,
            tick: &|t| t.to_string(),
        };
        assert_eq!(chart.svg().matches("</svg>").count(), 1);
    }
}
