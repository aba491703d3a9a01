//! Horizontal bar charts with error bars.

use super::axis::Axis;
use super::{Anchor, Canvas, ChartFrame, ChartLayout, LABEL_SIZE, Sheet, Svg, escape, font};

/// Labels take as much room as they need, up to this.
const LABEL_ROOM: f64 = 290.0;
const LABEL_LINE: f64 = 16.0;
const DETAIL_SIZE: f64 = 10.5;
const DETAIL_LINE: f64 = 13.5;
/// Between a label and its bars.
const LABEL_GAP: f64 = 12.0;
const BAR_GAP: f64 = 4.0;
const GROUP_GAP: f64 = 14.0;
const AXIS_HEIGHT: f64 = 26.0;
/// Between a label above bars and the first of them.
const LABEL_BELOW: f64 = 3.0;
/// Captions at the ends of bars take this share of a chart at most; the hint has all of them.
const CAPTION_SHARE: f64 = 0.42;

/// A bar with its error bar.
pub struct Bar {
    /// CSS class that colours it.
    pub class: &'static str,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// What stands at its end.
    pub caption: String,
    /// What is to be known of it, where a mouse rests on it.
    pub hint: String,
}

/// Bars that belong together under one label.
pub struct Group {
    pub label: String,
    /// What is written small below the label.
    pub detail: String,
    pub bars: Vec<Bar>,
}

/// How a chart is drawn.
pub struct Bars<'a> {
    /// For those who cannot see it.
    pub title: &'a str,
    pub frame: Option<&'a ChartFrame>,
    pub groups: &'a [Group],
    /// A line across all bars at this value.
    pub reference: Option<f64>,
    /// Text of an axis tick at (value, end of the axis).
    pub tick: &'a dyn Fn(f64, f64) -> String,
}

/// How thick bars are and how large what is written at them.
struct Size {
    bar: f64,
    caption: f64,
    class: &'static str,
}

impl Bars<'_> {
    /// Draws the chart.
    pub fn svg(&self) -> Svg {
        Svg::draw(self.title, |layout| self.sheet(layout))
    }

    fn sheet(&self, layout: ChartLayout) -> Sheet {
        let most = self.groups.iter().map(|g| g.bars.len()).max().unwrap_or(0);
        let size = match most {
            ..=3 => Size {
                bar: 18.0,
                caption: 12.0,
                class: "value over",
            },
            _ => Size {
                bar: 12.0,
                caption: 10.0,
                class: "value tight over",
            },
        };
        let mut canvas = Canvas::new(self.frame, layout);
        let left = canvas.padding;
        let widest = self
            .groups
            .iter()
            .map(|g| {
                font::width(&g.label, LABEL_SIZE).max(font::width(&g.detail, DETAIL_SIZE) / 2.0)
            })
            .fold(60.0, f64::max);
        let narrow = layout == ChartLayout::Narrow;
        // A label stands before its bars, or above them.
        let (label_room, from) = match narrow {
            true => (canvas.width - 2.0 * left, left),
            false => {
                let room = widest.min(LABEL_ROOM) + 2.0;
                (room, left + room + LABEL_GAP)
            }
        };
        let caption_room = self
            .groups
            .iter()
            .flat_map(|g| &g.bars)
            .map(|b| font::width(&b.caption, size.caption))
            .fold(0.0, f64::max)
            .min(canvas.width * CAPTION_SHARE);
        let to = (canvas.width - canvas.padding - caption_room - 12.0).max(from + 120.0);
        let bars = || self.groups.iter().flat_map(|g| &g.bars);
        let ends = |b: &Bar| [b.value, b.high.max(b.value), b.low];
        let axis = match self.reference {
            // A chart of ratios: they are lengths.
            Some(reference) => Axis::of_lengths([bars().flat_map(ends).fold(reference, f64::max)]),
            None => Axis::of_bars(
                bars().flat_map(ends).filter(|&v| v > 0.0),
                self.groups
                    .iter()
                    .map(|g| g.bars.iter().map(|b| b.value).fold(0.0, f64::max))
                    .filter(|&v| v > 0.0),
            ),
        };
        let x = |value: f64| from + (to - from) * axis.place(value);

        // What a group needs: its bars, or its label if that is higher.
        let texts: Vec<(Vec<String>, Vec<String>)> = self
            .groups
            .iter()
            .map(|g| {
                (
                    font::wrap(&g.label, LABEL_SIZE, label_room, 2),
                    font::wrap(&g.detail, DETAIL_SIZE, label_room, 3),
                )
            })
            .collect();
        let bars_height =
            |g: &Group| (g.bars.len() as f64 * (size.bar + BAR_GAP) - BAR_GAP).max(0.0);
        let text_height = |(label, detail): &(Vec<String>, Vec<String>)| {
            label.len() as f64 * LABEL_LINE + detail.len() as f64 * DETAIL_LINE
        };
        let heights: Vec<f64> = self
            .groups
            .iter()
            .zip(&texts)
            .map(|(g, t)| match narrow {
                true => bars_height(g) + text_height(t) + LABEL_BELOW,
                false => bars_height(g).max(text_height(t)),
            })
            .collect();
        let top = canvas.y;
        let bottom = top + heights.iter().map(|h| h + GROUP_GAP).sum::<f64>();

        let ticks = axis.ticks();
        let end = ticks.last().copied().unwrap_or(1.0);
        let mut free = f64::MIN;
        for &tick in &ticks {
            canvas.put(format_args!(
                "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>",
                x(tick),
            ));
            let text = (self.tick)(tick, if axis.is_logarithmic() { tick } else { end });
            let half = font::width(&text, 11.0) / 2.0;
            // One at the edge of the chart moves inwards.
            let at = x(tick).clamp(half, (canvas.width - half).max(half));
            if at - half > free {
                canvas.text(at, bottom + 16.0, "tick", Anchor::Middle, &text);
                free = at + half + 6.0;
            }
        }
        let mut captions = Vec::new();
        let mut y = top + GROUP_GAP / 2.0;
        for ((group, text), height) in self.groups.iter().zip(&texts).zip(&heights) {
            let (place, mut at) = match narrow {
                true => (
                    (from, Anchor::Start, y),
                    y + text_height(text) + LABEL_BELOW,
                ),
                false => (
                    (
                        from - LABEL_GAP,
                        Anchor::End,
                        y + (height - text_height(text)) / 2.0,
                    ),
                    y + (height - bars_height(group)) / 2.0,
                ),
            };
            self.label(&mut canvas, group, text, place);
            for bar in &group.bars {
                let middle = at + size.bar / 2.0;
                canvas.put(format_args!("<g>"));
                if !bar.hint.is_empty() {
                    canvas.put(format_args!("<title>{}</title>", escape(&bar.hint)));
                }
                canvas.put(format_args!(
                    "<rect class=\"{}\" x=\"{from:.1}\" y=\"{at:.1}\" width=\"{:.1}\" height=\"{}\" rx=\"2\"/>",
                    bar.class,
                    (x(bar.value) - from).max(1.0),
                    size.bar,
                ));
                let cap = size.bar * 0.22;
                if x(bar.high) - x(bar.low) > 0.5 {
                    canvas.put(format_args!(
                        "<path class=\"error\" d=\"M{0:.1} {middle:.1}H{1:.1}M{0:.1} {2:.1}v{3:.1}M{1:.1} {2:.1}v{3:.1}\"/>",
                        x(bar.low),
                        x(bar.high),
                        middle - cap,
                        2.0 * cap,
                    ));
                }
                let end = x(bar.value.max(bar.high));
                captions.push((end + 7.0, middle + size.caption * 0.36, &bar.caption));
                canvas.put(format_args!("</g>"));
                at += size.bar + BAR_GAP;
            }
            y += height + GROUP_GAP;
        }
        if let Some(at) = self.reference {
            canvas.put(format_args!(
                "<line class=\"reference\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>",
                x(at)
            ));
        }
        for (x, y, caption) in captions {
            let room = (canvas.width - canvas.padding - x).max(40.0);
            let caption = font::fit(caption, size.caption, room);
            canvas.text(x, y, size.class, Anchor::Start, &caption);
        }
        canvas.y = bottom + AXIS_HEIGHT;
        if axis.is_logarithmic() {
            canvas.text(to, bottom + 31.0, "note", Anchor::End, "logarithmic scale");
            canvas.y += 8.0;
        }
        canvas.notes(self.frame);
        canvas.end()
    }

    fn label(
        &self,
        canvas: &mut Canvas,
        group: &Group,
        (label, detail): &(Vec<String>, Vec<String>),
        (x, anchor, mut y): (f64, Anchor, f64),
    ) {
        canvas.put(format_args!("<g><title>{}</title>", escape(&group.label)));
        for line in label {
            canvas.text(x, y + 12.5, "label over", anchor, line);
            y += LABEL_LINE;
        }
        for line in detail {
            canvas.text(x, y + 10.0, "small faint over", anchor, line);
            y += DETAIL_LINE;
        }
        canvas.put(format_args!("</g>"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64) -> Bar {
        Bar {
            class: "ours",
            value,
            low: value * 0.9,
            high: value * 1.1,
            caption: format!("{value} s"),
            hint: String::new(),
        }
    }

    fn chart(groups: &[Group]) -> String {
        let chart = Bars {
            title: "t",
            frame: None,
            groups,
            reference: None,
            tick: &|t, _| t.to_string(),
        };
        chart.svg().element()
    }

    #[test]
    fn labels_cannot_break_out() {
        let groups = [Group {
            label: "a < '</svg>\"".to_owned(),
            detail: "</text>".to_owned(),
            bars: vec![],
        }];
        assert_eq!(chart(&groups).matches("</svg>").count(), 2);
    }

    #[test]
    fn long_names_do_not_push_anything_off_the_chart() {
        let groups: Vec<Group> = (1..=25)
            .map(|i| Group {
                label: "InnoDB with PARTITION BY KEY in 10 and a file a table ".repeat(3),
                detail: "what a crash may lose ".repeat(20),
                bars: (1..=8).map(|s| bar(f64::from(i * s))).collect(),
            })
            .collect();
        let svg = chart(&groups);
        let (wide, narrow) = svg.split_once("</svg>").unwrap();
        for (svg, layout) in [(wide, ChartLayout::Wide), (narrow, ChartLayout::Narrow)] {
            for x in svg.split(" x=\"").skip(1) {
                let x: f64 = x.split('"').next().unwrap().parse().unwrap();
                assert!((0.0..layout.width()).contains(&x), "{x}");
            }
            assert_eq!(svg.matches("<rect").count(), 200);
        }
    }

    /// Letters of a narrow chart are those of a wide one, so it must not be the wide one scaled.
    #[test]
    fn a_narrow_chart_has_its_labels_above_bars_that_use_its_whole_width() {
        let groups = [Group {
            label: "Sales within Asia by nation (TPC-H Q5)".to_owned(),
            detail: String::new(),
            bars: vec![bar(1.0), bar(2.0)],
        }];
        let svg = chart(&groups);
        let (wide, narrow) = svg.split_once("</svg>").unwrap();
        assert!(wide.contains("viewBox=\"0 0 820 ") && narrow.contains("viewBox=\"0 0 360 "));
        let label = |svg: &str| {
            let text = svg.split("<text class=\"label over\"").nth(1).unwrap();
            text.split("</text>").next().unwrap().to_owned()
        };
        assert!(label(wide).contains("text-anchor=\"end\""));
        assert!(!label(narrow).contains("text-anchor"));
        assert!(label(narrow).contains("Sales within Asia by nation (TPC-H Q5)"));
        let longest = |svg: &str| {
            let widths = svg.split("<rect ").skip(1).map(|r| {
                let width = r.split("width=\"").nth(1).unwrap();
                width.split('"').next().unwrap().parse::<f64>().unwrap()
            });
            widths.fold(0.0, f64::max)
        };
        assert!(
            longest(narrow) > 0.7 * ChartLayout::Narrow.width(),
            "{narrow}"
        );
        // No tick is cut off by the edge.
        for tick in narrow.split("<text class=\"tick\" x=\"").skip(1) {
            let (x, rest) = tick.split_once('"').unwrap();
            let text = rest.split_once('>').unwrap().1.split('<').next().unwrap();
            let (x, half) = (x.parse::<f64>().unwrap(), font::width(text, 11.0) / 2.0);
            assert!(
                x - half > -0.1 && x + half < ChartLayout::Narrow.width() + 0.1,
                "{text}"
            );
        }
    }
}
