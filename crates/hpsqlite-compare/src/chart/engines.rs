//! The one colour of each engine, in every chart and page, on light and on dark paper.
//!
//! ```text
//! classes(names)   the CSS class of each series of a chart; an engine has its own
//! variables()      the colours as CSS variables, for pages that draw by themselves
//! rules()          the CSS rules of all classes, for charts
//! name(engine)     the engine as a person writes it
//! ```
//!
//! A reader who has learnt from one chart that green is HP SQLite is misled where it is orange in the
//! next. So a class is given away by the name of the engine and not by its place in the chart. Series
//! that are no engine, such as numbers of threads, take the colours of engines that are not in the
//! chart, and never those of SQLite, ours and DuckDB, which people know.

/// An engine with its colours.
pub struct EngineColours {
    /// What suites and libraries call it, and the class of its bars.
    pub key: &'static str,
    pub name: &'static str,
    pub light: &'static str,
    pub dark: &'static str,
}

const fn engine(
    key: &'static str,
    name: &'static str,
    light: &'static str,
    dark: &'static str,
) -> EngineColours {
    EngineColours {
        key,
        name,
        light,
        dark,
    }
}

/// The published SQLite, which others are compared with.
pub const STOCK: &str = "stock";
/// High Performance SQLite.
pub const OURS: &str = "ours";

/// All of them. Any two are told apart on the same paper, which a test holds. The order from the
/// fourth up is the one in which series that are no engine take colours.
pub const ENGINES: [EngineColours; 14] = [
    engine(STOCK, "SQLite", "#8a97a4", "#7d8a97"),
    engine(OURS, "HP SQLite", "#1f7a5c", "#3fb68b"),
    engine("duckdb", "DuckDB", "#e0893b", "#e89b57"),
    engine("turso", "Turso", "#2f74d0", "#6d9ee6"),
    engine("lmdb", "LMDB", "#d0629a", "#e285b4"),
    engine("rocksdb", "RocksDB", "#3fa9c4", "#6fc6d9"),
    engine("flat", "files in a folder", "#6a3d9a", "#b491e6"),
    engine("berkeleydb", "Berkeley DB", "#b9b23a", "#cdc75c"),
    engine("mariadb", "MariaDB", "#8a4b2d", "#b9784f"),
    engine("tree", "files in a tree", "#b79ad9", "#6f4fa3"),
    engine("redis", "Redis", "#b3243f", "#e0566a"),
    engine("memcached", "memcached", "#6f9424", "#8fbf45"),
    engine("redb", "redb", "#274e5c", "#b9dce6"),
    engine("qdbm", "QDBM", "#d3ab90", "#8d6a50"),
];

/// Engines whose colours nothing else may have.
const RESERVED: usize = 3;

/// The engine as a person writes it, where it is one.
pub fn name(key: &str) -> Option<&'static str> {
    ENGINES.iter().find(|e| e.key == key).map(|e| e.name)
}

/// A class for each series of a chart. The first that is called like an engine has its class; then
/// one whose name begins with an engine's and a hyphen, as `mariadb-innodb`; the rest take what is left.
pub fn classes(series: &[&str]) -> Vec<&'static str> {
    let mut given: Vec<Option<&'static str>> = vec![None; series.len()];
    let exact = |name: &str, key: &str| name == key;
    let variant = |name: &str, key: &str| {
        name.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with('-'))
    };
    for fits in [exact, variant] {
        for (at, name) in series.iter().enumerate() {
            let engine = ENGINES.iter().find(|e| fits(name, e.key));
            if let Some(engine) = engine
                && given[at].is_none()
                && !given.contains(&Some(engine.key))
            {
                given[at] = Some(engine.key);
            }
        }
    }
    let free: Vec<&'static str> = ENGINES[RESERVED..]
        .iter()
        .map(|e| e.key)
        .filter(|key| !given.contains(&Some(key)))
        .collect();
    // With more series than colours the last ones repeat: all were given away only by name.
    let mut free = free
        .iter()
        .copied()
        .chain(ENGINES[RESERVED..].iter().cycle().map(|engine| engine.key));
    given
        .into_iter()
        .map(|class| class.or_else(|| free.next()).unwrap_or(STOCK))
        .collect()
}

/// The class of one side of a comparison of two libraries: ours, and SQLite. Two libraries of one
/// kind have two colours.
pub fn sides(is_ours: [bool; 2]) -> [&'static str; 2] {
    let key = |ours: bool| if ours { OURS } else { STOCK };
    match is_ours {
        // The newer one, which the speed-up is of, keeps the colour.
        [a, b] if a == b => [ENGINES[RESERVED].key, key(b)],
        [a, b] => [key(a), key(b)],
    }
}

/// The colours as CSS variables: `--engine-ours: light-dark(…, …);`.
pub fn variables() -> String {
    let one = |e: &EngineColours| {
        format!(
            "  --engine-{}: light-dark({}, {});\n",
            e.key, e.light, e.dark
        )
    };
    ENGINES.iter().map(one).collect()
}

/// The rules of all classes of charts, with the colours by name: see [`super::style`].
pub fn rules() -> String {
    let one = |e: &EngineColours| {
        format!(
            "rect.{0}, circle.{0} {{ fill: var(--{0}); }} path.{0} {{ stroke: var(--{0}); }}\n",
            e.key
        )
    };
    ENGINES.iter().map(one).collect()
}

/// The rules of the squares beside names on a page.
pub fn keys() -> String {
    let one = |e: &EngineColours| format!(".key.{0} {{ background: var(--{0}); }}\n", e.key);
    ENGINES.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A colour in the OKLab space, in which distances are those that people see.
    fn oklab(hex: &str) -> [f64; 3] {
        let part = |at: usize| {
            let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            match c <= 0.04045 {
                true => c / 12.92,
                false => ((c + 0.055) / 1.055).powf(2.4),
            }
        };
        let (r, g, b) = (part(1), part(3), part(5));
        let l = (0.412_221 * r + 0.536_333 * g + 0.051_446 * b).cbrt();
        let m = (0.211_903 * r + 0.680_700 * g + 0.107_397 * b).cbrt();
        let s = (0.088_302 * r + 0.281_719 * g + 0.629_979 * b).cbrt();
        [
            0.210_454 * l + 0.793_618 * m - 0.004_072 * s,
            1.977_998 * l - 2.428_592 * m + 0.450_594 * s,
            0.025_904 * l + 0.782_772 * m - 0.808_676 * s,
        ]
    }

    fn distance(a: &str, b: &str) -> f64 {
        let (a, b) = (oklab(a), oklab(b));
        (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn an_engine_has_its_colour_wherever_it_stands() {
        assert_eq!(classes(&["ours", "stock"]), [OURS, STOCK]);
        assert_eq!(
            classes(&["duckdb", "flat", "ours"]),
            ["duckdb", "flat", OURS]
        );
        assert_eq!(classes(&["x", "ours", "duckdb"]), ["turso", OURS, "duckdb"]);
    }

    #[test]
    fn settings_of_an_engine_share_its_colour_only_where_it_is_free() {
        let given = classes(&["mariadb-innodb", "mariadb-aria", "stock-ours", "stock"]);
        assert_eq!(given[0], "mariadb");
        assert_eq!(given[3], STOCK);
        assert!(![STOCK, OURS].contains(&given[2]), "{given:?}");
        let mut different = given.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 4, "{given:?}");
    }

    #[test]
    fn what_is_no_engine_never_looks_like_sqlite_ours_or_duckdb() {
        let many: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        let given = classes(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(given.len(), 30);
        assert!(given.iter().all(|c| ![STOCK, OURS, "duckdb"].contains(c)));
    }

    #[test]
    fn the_side_that_is_ours_is_the_same_in_every_comparison() {
        assert_eq!(sides([false, true]), [STOCK, OURS]);
        assert_eq!(sides([true, false]), [OURS, STOCK]);
        assert_eq!(sides([true, true])[1], OURS);
        assert_ne!(sides([true, true])[0], OURS);
    }

    #[test]
    fn any_two_engines_are_told_apart() {
        for (i, a) in ENGINES.iter().enumerate() {
            for b in &ENGINES[..i] {
                for (a, b, names) in [
                    (a.light, b.light, (a.key, b.key)),
                    (a.dark, b.dark, (a.key, b.key)),
                ] {
                    assert!(distance(a, b) > 0.08, "{names:?} {a} {b}");
                }
            }
        }
    }
}
