//! Line charts with error bars: where what varies is a number.

use super::axis::Axis;
use super::{Anchor, Canvas, ChartFrame, ChartLayout, Key, Sheet, Svg, escape, font};

const PLOT_HEIGHT: f64 = 340.0;
/// The same in a narrow chart.
const NARROW_PLOT: f64 = 260.0;
/// Names at the ends of lines take as much room as they need, up to this.
const NAME_ROOM: f64 = 190.0;
const NAME_SIZE: f64 = 12.0;
/// Between names that would lie over one another.
const NAME_LINE: f64 = 16.0;
/// So many points and each has its tick.
const FEW_POINTS: usize = 12;

/// A measured point of a line.
pub struct LinePoint {
    pub x: f64,
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// What is to be known of it, where a mouse rests on it.
    pub hint: String,
}

/// A series.
pub struct LineSeries {
    pub class: &'static str,
    pub name: String,
    /// By x.
    pub points: Vec<LinePoint>,
}

/// How a chart is drawn.
pub struct Lines<'a> {
    /// For those who cannot see it.
    pub title: &'a str,
    pub frame: Option<&'a ChartFrame>,
    pub lines: &'a [LineSeries],
    /// A line across at this value.
    pub reference: Option<f64>,
    /// What x is.
    pub x_name: &'a str,
    /// How a value of x is written.
    pub x_tick: &'a dyn Fn(f64) -> String,
    /// Text of a tick at (value, end of the axis).
    pub tick: &'a dyn Fn(f64, f64) -> String,
}

impl Lines<'_> {
    /// Draws the chart.
    pub fn svg(&self) -> Svg {
        Svg::draw(self.title, |layout| self.sheet(layout))
    }

    /// What stands around it: there is no room for names at the ends of lines in a narrow chart, so
    /// they are in its legend.
    fn framed(&self, layout: ChartLayout) -> Option<ChartFrame> {
        let mut frame = self.frame.cloned();
        if layout == ChartLayout::Narrow {
            let named = self.lines.iter().filter(|l| !l.name.is_empty());
            frame.get_or_insert_default().legend = named
                .map(|l| Key {
                    class: l.class,
                    name: l.name.clone(),
                    note: String::new(),
                })
                .collect();
        }
        frame
    }

    fn sheet(&self, layout: ChartLayout) -> Sheet {
        let narrow = layout == ChartLayout::Narrow;
        let frame = self.framed(layout);
        let mut canvas = Canvas::new(frame.as_ref(), layout);
        let plot_height = if narrow { NARROW_PLOT } else { PLOT_HEIGHT };
        let points = || self.lines.iter().flat_map(|l| &l.points);
        let vertical = Axis::of_heights(
            points()
                .flat_map(|p| [p.value, p.low, p.high])
                .filter(|&v| v > 0.0)
                .chain(self.reference),
        );
        let horizontal = Axis::of_places(points().map(|p| p.x));
        let ticks = vertical.ticks();
        let end = ticks.last().copied().unwrap_or(1.0);
        let texts: Vec<String> = ticks
            .iter()
            .map(|&t| (self.tick)(t, if vertical.is_logarithmic() { t } else { end }))
            .collect();
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let left =
            canvas.padding + 4.0 + widest(&mut texts.iter().map(|t| font::width(t, 11.0))) + 8.0;
        let names = widest(&mut self.lines.iter().map(|l| font::width(&l.name, NAME_SIZE)));
        let right = match narrow {
            true => canvas.width - canvas.padding - 6.0,
            false => canvas.width - canvas.padding - names.min(NAME_ROOM) - 22.0,
        };
        let top = canvas.y + 8.0;
        let bottom = top + plot_height;
        // The first and the last point stand clear of the frame.
        let x = |v: f64| left + 14.0 + (right - left - 20.0) * horizontal.place(v);
        let y = |v: f64| bottom - plot_height * vertical.place(v);

        for (&tick, text) in ticks.iter().zip(&texts) {
            canvas.put(format_args!(
                "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>",
                y(tick)
            ));
            canvas.text(left - 8.0, y(tick) + 4.0, "tick", Anchor::End, text);
        }
        canvas.put(format_args!(
            "<line class=\"frame\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\"/>"
        ));
        let mut free = f64::MIN;
        for tick in self.x_ticks(horizontal) {
            let text = (self.x_tick)(tick);
            let half = font::width(&text, 11.0) / 2.0;
            canvas.put(format_args!(
                "<line class=\"frame\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{bottom:.1}\" y2=\"{1:.1}\"/>",
                x(tick),
                bottom + 4.0
            ));
            if x(tick) - half > free {
                canvas.text(x(tick), bottom + 18.0, "tick", Anchor::Middle, &text);
                free = x(tick) + half + 5.0;
            }
        }
        let name = match (horizontal.is_logarithmic(), vertical.is_logarithmic()) {
            (true, true) => format!("{} (both scales are logarithmic)", self.x_name),
            (true, false) => format!("{} (logarithmic scale)", self.x_name),
            (false, true) => format!("{} (the vertical scale is logarithmic)", self.x_name),
            (false, false) => self.x_name.to_owned(),
        };
        let mut below = bottom + 21.0;
        for line in font::wrap(&name, 11.0, right - left, 3) {
            below += 15.0;
            let middle = (left + right) / 2.0;
            canvas.text(middle, below, "axis", Anchor::Middle, &line);
        }
        if let Some(at) = self.reference {
            canvas.put(format_args!(
                "<line class=\"reference\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>",
                y(at)
            ));
        }
        for line in self.lines {
            let path: Vec<String> = line
                .points
                .iter()
                .map(|p| format!("{:.1} {:.1}", x(p.x), y(p.value)))
                .collect();
            if path.is_empty() {
                continue;
            }
            canvas.put(format_args!(
                "<path class=\"line {}\" d=\"M{}\"/>",
                line.class,
                path.join("L")
            ));
        }
        for line in self.lines {
            for p in &line.points {
                let (at, low, high) = (x(p.x), y(p.low), y(p.high));
                canvas.put(format_args!("<g>"));
                if !p.hint.is_empty() {
                    canvas.put(format_args!("<title>{}</title>", escape(&p.hint)));
                }
                if low - high > 7.0 {
                    canvas.put(format_args!(
                        "<path class=\"error\" d=\"M{at:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6\"/>",
                        at - 3.0
                    ));
                }
                canvas.put(format_args!(
                    "<circle class=\"{}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"3.4\"/></g>",
                    line.class,
                    y(p.value)
                ));
            }
        }
        if !narrow {
            self.names(&mut canvas, (right, top, bottom), x, y);
        }
        canvas.y = below + 4.0;
        canvas.notes(frame.as_ref());
        canvas.end()
    }

    /// The names of lines, beside their last points.
    fn names(
        &self,
        canvas: &mut Canvas,
        (right, top, bottom): (f64, f64, f64),
        x: impl Fn(f64) -> f64,
        y: impl Fn(f64) -> f64,
    ) {
        let ends: Vec<Option<(f64, f64)>> = self
            .lines
            .iter()
            .map(|l| l.points.last().map(|p| (x(p.x), y(p.value))))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|e| e.map_or(bottom, |e| e.1)).collect();
        let places = spread(&wanted, top, bottom);
        for ((line, end), place) in self.lines.iter().zip(&ends).zip(places) {
            let Some((at, height)) = *end else { continue };
            canvas.put(format_args!(
                "<path class=\"{}\" fill=\"none\" d=\"M{:.1} {height:.1}L{:.1} {place:.1}\"/>",
                line.class,
                at + 4.0,
                right + 14.0
            ));
            let name = font::fit(&line.name, NAME_SIZE, NAME_ROOM);
            canvas.text(right + 18.0, place + 4.2, "value", Anchor::Start, &name);
        }
    }

    /// The points themselves where they are few, else round values.
    fn x_ticks(&self, axis: Axis) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .lines
            .iter()
            .flat_map(|l| &l.points)
            .map(|p| p.x)
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        match all.len() <= FEW_POINTS {
            true => all,
            false => axis.ticks(),
        }
    }
}

/// Places as near as can be to the wanted ones, none nearer to another than [`NAME_LINE`].
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut free = top;
    for &i in &order {
        places[i] = places[i].max(free);
        free = places[i] + NAME_LINE;
    }
    let mut free = bottom;
    for &i in order.iter().rev() {
        places[i] = places[i].min(free);
        free = places[i] - NAME_LINE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_chart_names_its_lines_in_the_legend() {
        let line = |class, name: &str| LineSeries {
            class,
            name: name.to_owned(),
            points: [1.0, 2.0, 4.0]
                .map(|x| LinePoint {
                    x,
                    value: x * 10.0,
                    low: x * 9.0,
                    high: x * 11.0,
                    hint: String::new(),
                })
                .into(),
        };
        let lines = [line("ours", "HP SQLite"), line("stock", "SQLite")];
        let chart = Lines {
            title: "t",
            frame: Some(&ChartFrame::default()),
            lines: &lines,
            reference: None,
            x_name: "threads",
            x_tick: &|x| x.to_string(),
            tick: &|t, _| t.to_string(),
        };
        let page = chart.svg().element();
        let (wide, narrow) = page.split_once("</svg>").unwrap();
        // A square of the legend for each, beside the name.
        assert_eq!(wide.matches("<rect class=\"ours\"").count(), 0);
        assert_eq!(narrow.matches("<rect class=\"ours\"").count(), 1);
        assert!(wide.contains(">HP SQLite<") && narrow.contains(">HP SQLite<"));
        for x in narrow.split("cx=\"").skip(1) {
            let x: f64 = x.split('"').next().unwrap().parse().unwrap();
            assert!((0.0..=ChartLayout::Narrow.width()).contains(&x), "{x}");
        }
    }

    #[test]
    fn names_at_ends_keep_apart() {
        let mut places = spread(&[100.0, 101.0, 340.0, 339.0, 50.0], 0.0, 340.0);
        assert_eq!(places[4], 50.0);
        places.sort_by(f64::total_cmp);
        assert!(
            places.windows(2).all(|p| p[1] - p[0] >= NAME_LINE - 1e-9),
            "{places:?}"
        );
        assert!(places[4] <= 340.0);
    }
}
