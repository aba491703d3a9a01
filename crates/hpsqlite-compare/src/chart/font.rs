//! How wide a text is.
//!
//! Measured in DejaVu Sans, which pictures are drawn with. A page is shown in a font of the
//! reader's, which is hardly ever wider.

use std::sync::LazyLock;

use ttf_parser::Face;

static REGULAR: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());

/// A letter that the font lacks is taken to be as wide as high, as Chinese ones are.
const WIDEST: f64 = 1.0;
/// Bold letters are this much wider.
pub const BOLD: f64 = 1.12;

/// The width of `text` at a font size.
pub fn width(text: &str, size: f64) -> f64 {
    let Some(font) = REGULAR.as_ref() else {
        return text.chars().count() as f64 * size * WIDEST;
    };
    let scale = size / f64::from(font.units_per_em());
    text.chars()
        .map(|c| {
            let glyph = font.glyph_index(c).and_then(|g| font.glyph_hor_advance(g));
            glyph.map_or(size * WIDEST, |units| f64::from(units) * scale)
        })
        .sum()
}

/// `text` cut to `room`, with an ellipsis where something is missing.
pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short: Vec<char> = text.chars().collect();
    while short.pop().is_some() {
        let cut: String = short.iter().chain(&['…']).collect();
        if width(&cut, size) <= room {
            return cut;
        }
    }
    "…".to_owned()
}

/// `text` in at most `lines` lines of at most `room`, broken where there is white space if that
/// can be, the last one cut.
pub fn wrap(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && out.len() < lines {
        if out.len() + 1 == lines || width(rest, size) <= room {
            out.push(fit(rest, size, room));
            break;
        }
        let end = |cut: &str| width(cut.trim_end(), size) <= room;
        let space = rest
            .match_indices(char::is_whitespace)
            .map(|(at, _)| at)
            .take_while(|&at| end(&rest[..at]))
            .last();
        let at = space.unwrap_or_else(|| {
            let fits = rest
                .char_indices()
                .map(|(at, c)| at + c.len_utf8())
                .take_while(|&at| end(&rest[..at]));
            let first = rest.chars().next().map_or(rest.len(), char::len_utf8);
            fits.last().unwrap_or(first)
        });
        out.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_wider() {
        assert!(width("WWW", 13.0) > 2.0 * width("iii", 13.0));
        assert!((width("abc", 26.0) / width("abc", 13.0) - 2.0).abs() < 0.05);
        assert_eq!(width("", 13.0), 0.0);
    }

    #[test]
    fn text_is_cut_and_broken_where_it_must_be() {
        let text = "a rather long name of an engine with its settings";
        let cut = fit(text, 13.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 13.0) <= 100.0, "{cut}");
        let lines = wrap(text, 13.0, 150.0, 9);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 13.0) <= 150.0));
        assert_eq!(wrap(text, 13.0, 150.0, 2).len(), 2);
        let solid = "x".repeat(100);
        assert_eq!(wrap(&solid, 13.0, 150.0, 99).concat(), solid);
        assert_eq!(wrap("è", 13.0, 0.0, 3).len(), 1);
    }
}
