//! The colours of pages and pictures.

/// Rules of charts, on a page and in a picture.
const CHART: &str = include_str!("chart.css");
/// Rules of pages.
const PAGE: &str = include_str!("page.css");

/// The class of what others are compared with.
pub const BASE: &str = "a";
/// Classes of series, in the order in which they are given away. Told apart by those who see red
/// and green alike as well: neighbours differ in lightness.
pub const SERIES: [&str; 8] = ["b", "c", "d", "e", "f", "g", "h", "i"];

/// A name, and its colour on light and on dark paper.
const COLOURS: [(&str, &str, &str); 17] = [
    ("paper", "#ffffff", "#14181c"),
    ("ink", "#1d2329", "#e4e9ee"),
    ("faint", "#5d6874", "#98a4b0"),
    ("line", "#dde2e7", "#2c343c"),
    ("panel", "#f5f7f9", "#1b2127"),
    ("wrong", "#b3261e", "#ff8a80"),
    ("error", "#1d2329", "#f2f5f8"),
    ("unclear", "#c9a227", "#d9b64a"),
    ("a", "#9aa7b4", "#64717e"),
    ("b", "#1f7a5c", "#3fb68b"),
    ("c", "#e0893b", "#e89b57"),
    ("d", "#2d5fa8", "#6d9ee6"),
    ("e", "#d0629a", "#e285b4"),
    ("f", "#58b4c9", "#6fc6d9"),
    ("g", "#6f4aa0", "#a98bd6"),
    ("h", "#b9b23a", "#cdc75c"),
    ("i", "#8a4b2d", "#c08763"),
];

/// What a page begins with: light or dark as the reader has it.
pub fn page() -> String {
    let variables = |dark: bool| {
        let one =
            |&(name, a, b): &(&str, &str, &str)| format!("--{name}: {};", if dark { b } else { a });
        COLOURS.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    format!(
        ":root {{ color-scheme: light dark; {} }}\n\
         @media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{PAGE}{CHART}",
        variables(false),
        variables(true)
    )
}

/// The style of a picture that is light or dark as the reader has it.
pub fn standalone() -> String {
    format!(
        "{}@media (prefers-color-scheme: dark) {{\n{}}}\n",
        light(),
        colours(true)
    )
}

/// The style of a light picture.
pub fn light() -> String {
    format!(
        "svg {{ font: 13px \"DejaVu Sans\", Verdana, sans-serif; }}\n{}",
        colours(false)
    )
}

/// The rules of charts with colours in place of their names, which not every program knows.
fn colours(dark: bool) -> String {
    COLOURS.iter().fold(CHART.to_owned(), |css, (name, a, b)| {
        css.replace(&format!("var(--{name})"), if dark { b } else { a })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_has_a_value() {
        assert!(!standalone().contains("var("));
        for (i, _) in page().match_indices("var(--") {
            let page = page();
            let name = page[i + 6..].split(')').next().unwrap();
            assert!(COLOURS.iter().any(|c| c.0 == name), "{name}");
        }
    }

    #[test]
    fn every_series_has_a_colour() {
        for class in SERIES.iter().chain([&BASE]) {
            assert!(page().contains(&format!("rect.{class}, circle.{class}")));
        }
    }
}
