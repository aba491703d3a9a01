//! Charts with error bars as SVG, on a page or as pictures of their own.
//!
//! A chart says which class a thing has; [`style`] says what colour that is, on light and on dark
//! paper. [`font`] tells how wide texts are, so that none lies over another.

mod axis;
mod bars;
pub mod font;
mod lines;
pub mod style;

use std::fmt::{Arguments, Write as _};

pub use bars::{Bar, Bars, Group};
pub use lines::{LinePoint, LineSeries, Lines};

/// Width of a chart.
const WIDTH: f64 = 820.0;
/// Around a chart with a title.
const PADDING: f64 = 20.0;
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
    /// Where the next thing goes.
    y: f64,
    padding: f64,
}

impl Canvas {
    fn new(frame: Option<&ChartFrame>) -> Canvas {
        let mut canvas = Canvas {
            out: String::new(),
            y: 0.0,
            padding: 0.0,
        };
        let Some(frame) = frame else { return canvas };
        canvas.padding = PADDING;
        canvas.y = 14.0;
        let room = WIDTH - 2.0 * PADDING;
        for line in font::wrap(&frame.title, TITLE_SIZE * font::BOLD, room, 2) {
            canvas.y += 20.0;
            canvas.text(PADDING, canvas.y, "title", Anchor::Start, &line);
        }
        for line in font::wrap(&frame.subtitle, NOTE_SIZE, room, 2) {
            canvas.y += if canvas.y < 40.0 { 19.0 } else { NOTE_LINE };
            canvas.text(PADDING, canvas.y, "note", Anchor::Start, &line);
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
        let noted = legend.iter().any(|k| !k.note.is_empty());
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
            let notes = font::wrap(&key.note, NOTE_SIZE, self.padding + room - at, 2);
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
            for line in font::wrap(note, NOTE_SIZE, WIDTH - 2.0 * PADDING, 3) {
                self.y += NOTE_LINE;
                self.text(PADDING, self.y, "note", Anchor::Start, &line);
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

    /// The whole as an SVG element, with a description for those who cannot see it.
    fn end(self, title: &str) -> Svg {
        Svg {
            title: title.to_owned(),
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

/// A chart that was drawn.
pub struct Svg {
    title: String,
    height: f64,
    content: String,
}

impl Svg {
    /// As a part of a page, which has the style.
    pub fn element(&self) -> String {
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            self.height,
            escape(&self.title),
            self.content
        )
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
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{0}\" viewBox=\"0 0 {WIDTH} {0}\" \
             role=\"img\" aria-label=\"{1}\">\n<title>{1}</title>\n<style>\n{style}</style>\n\
             <rect class=\"paper\" width=\"{WIDTH}\" height=\"{0}\"/>\n{2}\n</svg>\n",
            self.height,
            escape(&self.title),
            self.content.replace("><", ">\n<"),
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
        let mut canvas = Canvas::new(Some(&ChartFrame {
            title: hostile.to_owned(),
            subtitle: hostile.to_owned(),
            legend: vec![Key {
                class: "a",
                name: hostile.to_owned(),
                note: hostile.to_owned(),
            }],
            notes: vec![hostile.to_owned()],
        }));
        canvas.text(0.0, 0.0, "label", Anchor::Start, hostile);
        let svg = canvas.end(hostile);
        assert_eq!(svg.element().matches("</svg>").count(), 1);
        assert!(!svg.file().contains("<script"));
    }
}
