//! Charts with error bars as SVG, on a page or as pictures of their own.
//!
//! A chart says which class a thing has; [`engines`] gives each engine its class and colour, and
//! [`style`] writes the rules for light and for dark paper. [`font`] measures texts, so that none
//! lies over another.
//!
//! A page has each chart twice, laid out for a window and for a telephone, and the style shows the
//! one that fits. One that is only scaled has letters that nobody can read at a third of its width.

mod axis;
mod bars;
pub mod engines;
pub mod font;
mod lines;
pub mod style;

use std::fmt::{Arguments, Write as _};

pub use bars::{Bar, Bars, Group};
pub use lines::{LinePoint, LineSeries, Lines};

/// What a chart is laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChartLayout {
    /// A window, or a picture of its own: labels stand beside bars, names at the ends of lines.
    Wide,
    /// A window that is as narrow as a telephone: labels stand above bars, names in the legend.
    Narrow,
}

impl ChartLayout {
    fn width(self) -> f64 {
        match self {
            ChartLayout::Wide => 820.0,
            ChartLayout::Narrow => 360.0,
        }
    }

    /// Around a chart with a title.
    fn padding(self) -> f64 {
        match self {
            ChartLayout::Wide => 20.0,
            ChartLayout::Narrow => 8.0,
        }
    }

    /// The class that the style shows or hides.
    fn class(self) -> &'static str {
        match self {
            ChartLayout::Wide => "for-wide",
            ChartLayout::Narrow => "for-narrow",
        }
    }
}

const TITLE_SIZE: f64 = 16.0;
const LABEL_SIZE: f64 = 13.0;
const NOTE_SIZE: f64 = 11.0;
const NOTE_LINE: f64 = 15.0;

/// What is written around a chart that stands by itself; a chart on a page that says all this has none.
#[derive(Default, Clone)]
pub struct ChartFrame {
    pub title: String,
    /// What is measured, and in which unit.
    pub subtitle: String,
    /// The series: class, name, and what is to be known of it.
    pub legend: Vec<Key>,
    /// What is written below.
    pub notes: Vec<String>,
}

/// An entry of a legend.
#[derive(Debug, Clone)]
pub struct Key {
    pub class: &'static str,
    pub name: String,
    pub note: String,
}

/// SVG that grows downwards.
struct Canvas {
    out: String,
    layout: ChartLayout,
    width: f64,
    /// Where the next thing goes.
    y: f64,
    padding: f64,
}

impl Canvas {
    fn new(frame: Option<&ChartFrame>, layout: ChartLayout) -> Canvas {
        let mut canvas = Canvas {
            out: String::new(),
            layout,
            width: layout.width(),
            y: 0.0,
            padding: 0.0,
        };
        let Some(frame) = frame else { return canvas };
        canvas.padding = layout.padding();
        let padding = canvas.padding;
        let lines = if layout == ChartLayout::Narrow { 4 } else { 2 };
        canvas.y = 14.0;
        let room = canvas.width - 2.0 * padding;
        for line in font::wrap(&frame.title, TITLE_SIZE * font::BOLD, room, lines) {
            canvas.y += 20.0;
            canvas.text(padding, canvas.y, "title", Anchor::Start, &line);
        }
        for line in font::wrap(&frame.subtitle, NOTE_SIZE, room, lines) {
            canvas.y += if canvas.y < 40.0 { 19.0 } else { NOTE_LINE };
            canvas.text(padding, canvas.y, "note", Anchor::Start, &line);
        }
        canvas.y += 14.0;
        canvas.legend(&frame.legend, room);
        canvas
    }

    /// Names in a row, as many as fit, or one a line where there is more to say of them.
    fn legend(&mut self, legend: &[Key], room: f64) {
        if legend.is_empty() {
            return;
        }
        // There is no room for both columns in a narrow one: the page says the rest.
        let noted = self.layout == ChartLayout::Wide && legend.iter().any(|k| !k.note.is_empty());
        let indent = legend
            .iter()
            .map(|k| font::width(&k.name, 12.0))
            .fold(0.0, f64::max)
            .min(room * 0.35);
        let mut x = self.padding;
        self.y += 6.0;
        for (i, key) in legend.iter().enumerate() {
            let names = match noted {
                true => font::wrap(&key.name, 12.0, indent, 2),
                false => vec![font::fit(&key.name, 12.0, room - 40.0)],
            };
            let width = font::width(names.first().map_or("", String::as_str), 12.0) + 38.0;
            if i > 0 && (noted || x + width - 20.0 > self.padding + room) {
                x = self.padding;
                self.y += 18.0;
            }
            let top = self.y;
            self.put(format_args!(
                "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" rx=\"2\"/>",
                key.class,
                top - 4.0
            ));
            for (line, name) in names.iter().enumerate() {
                let y = top + 6.0 + 15.0 * line as f64;
                self.text(x + 17.0, y, "value", Anchor::Start, name);
            }
            let at = self.padding + 17.0 + indent + 14.0;
            let notes = match noted {
                true => font::wrap(&key.note, NOTE_SIZE, self.padding + room - at, 2),
                false => Vec::new(),
            };
            for (line, note) in notes.iter().enumerate() {
                let y = top + 5.5 + 14.5 * line as f64;
                self.text(at, y, "note", Anchor::Start, note);
            }
            self.y += 14.5 * (names.len().max(notes.len()).max(1) - 1) as f64;
            x += width;
        }
        self.y += 22.0;
    }

    fn notes(&mut self, frame: Option<&ChartFrame>) {
        let Some(frame) = frame else { return };
        self.y += 6.0;
        for note in &frame.notes {
            let lines = if self.layout == ChartLayout::Narrow {
                8
            } else {
                3
            };
            let room = self.width - 2.0 * self.padding;
            for line in font::wrap(note, NOTE_SIZE, room, lines) {
                self.y += NOTE_LINE;
                self.text(self.padding, self.y, "note", Anchor::Start, &line);
            }
        }
        self.y += 16.0;
    }

    fn put(&mut self, s: Arguments<'_>) {
        // Writing to a String succeeds.
        let _ = self.out.write_fmt(s);
    }

    fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>",
            escape(text)
        ));
    }

    fn end(self) -> Sheet {
        Sheet {
            layout: self.layout,
            height: self.y.ceil(),
            content: self.out,
        }
    }
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A chart in one layout.
struct Sheet {
    layout: ChartLayout,
    height: f64,
    content: String,
}

/// A chart that was drawn, with a description for those who cannot see it.
pub struct Svg {
    title: String,
    wide: Sheet,
    narrow: Sheet,
}

impl Svg {
    /// Draws a chart in both layouts.
    fn draw(title: &str, draw: impl Fn(ChartLayout) -> Sheet) -> Svg {
        Svg {
            title: title.to_owned(),
            wide: draw(ChartLayout::Wide),
            narrow: draw(ChartLayout::Narrow),
        }
    }

    /// As a part of a page, which has the style: in both layouts, of which one is shown.
    pub fn element(&self) -> String {
        let one = |sheet: &Sheet| {
            format!(
                "<svg class=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
                sheet.layout.class(),
                sheet.layout.width(),
                sheet.height,
                escape(&self.title),
                sheet.content
            )
        };
        one(&self.wide) + &one(&self.narrow)
    }

    /// As a file of its own, whose paper is light or dark as the reader has it.
    pub fn file(&self) -> String {
        self.document(&style::standalone())
    }

    /// As a file of its own on light paper.
    pub fn light(&self) -> String {
        self.document(&style::light())
    }

    fn document(&self, style: &str) -> String {
        let width = self.wide.layout.width();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{0}\" viewBox=\"0 0 {width} {0}\" \
             role=\"img\" aria-label=\"{1}\">\n<title>{1}</title>\n<style>\n{style}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{0}\"/>\n{2}\n</svg>\n",
            self.wide.height,
            escape(&self.title),
            self.wide.content.replace("><", ">\n<"),
        )
    }
}

/// Text that may stand in HTML, in SVG and in an attribute: characters that XML forbids, and those
/// that reverse the direction of what follows, are replaced.
pub fn escape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if crate::text::is_unprintable(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        let hostile = "a < '</svg>\"><script>alert(1)</script>\u{1b}[2J\0\u{202e}&amp;";
        let escaped = escape(hostile);
        assert!(!escaped.contains(['<', '>', '"', '\'', '\u{1b}', '\0', '\u{202e}']));
        assert!(escaped.contains("&amp;amp;"));
        let frame = ChartFrame {
            title: hostile.to_owned(),
            subtitle: hostile.to_owned(),
            legend: vec![Key {
                class: "ours",
                name: hostile.to_owned(),
                note: hostile.to_owned(),
            }],
            notes: vec![hostile.to_owned()],
        };
        let svg = Svg::draw(hostile, |layout| {
            let mut canvas = Canvas::new(Some(&frame), layout);
            canvas.text(0.0, 0.0, "label", Anchor::Start, hostile);
            canvas.end()
        });
        assert_eq!(svg.element().matches("</svg>").count(), 2);
        assert!(!svg.file().contains("<script"));
    }
}
