//! The colours of pages and pictures, but for those of engines: see [`super::engines`].

use super::engines::{self, ENGINES};

/// Rules of charts, on a page and in a picture.
const CHART: &str = include_str!("chart.css");
/// Rules of pages.
const PAGE: &str = include_str!("page.css");

/// A name, and its colour on light and on dark paper.
const COLOURS: [(&str, &str, &str); 8] = [
    ("paper", "#ffffff", "#14181c"),
    ("ink", "#1d2329", "#e4e9ee"),
    ("faint", "#5d6874", "#98a4b0"),
    ("line", "#dde2e7", "#2c343c"),
    ("panel", "#f5f7f9", "#1b2127"),
    ("wrong", "#b3261e", "#ff8a80"),
    ("error", "#1d2329", "#f2f5f8"),
    ("unclear", "#c9a227", "#d9b64a"),
];

/// Those and the colours of engines.
fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let engines = ENGINES.iter().map(|e| (e.key, e.light, e.dark));
    COLOURS.into_iter().chain(engines)
}

/// The rules of charts, with colours by name.
fn chart() -> String {
    format!("{CHART}{}", engines::rules())
}

/// What a page begins with: light or dark as the reader has it.
pub fn page() -> String {
    let variables = |dark: bool| {
        let one =
            |(name, a, b): (&str, &str, &str)| format!("--{name}: {};", if dark { b } else { a });
        all().map(one).collect::<Vec<_>>().join(" ")
    };
    format!(
        ":root {{ color-scheme: light dark; {} }}\n\
         @media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{PAGE}{}{}",
        variables(false),
        variables(true),
        engines::keys(),
        chart()
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
    all().fold(chart(), |css, (name, a, b)| {
        css.replace(&format!("var(--{name})"), if dark { b } else { a })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::engines::EngineColours;

    #[test]
    fn every_colour_has_a_value() {
        assert!(!standalone().contains("var("));
        for (i, _) in page().match_indices("var(--") {
            let page = page();
            let name = page[i + 6..].split(')').next().unwrap();
            assert!(all().any(|c| c.0 == name), "{name}");
        }
    }

    #[test]
    fn every_engine_has_rules_in_charts_and_beside_names() {
        for EngineColours { key, .. } in ENGINES {
            assert!(page().contains(&format!("rect.{key}, circle.{key}")));
            assert!(page().contains(&format!(".key.{key} ")));
        }
    }
}
