//! Suites that are right, and what is said of those that are not.

use super::points::matches;
use super::*;
use crate::bench::model::{ENGINE, PART};

const SUITE: &str = r#"
    title = "Two libraries"
    kind = "sql"
    trials = 5
    [options]
    database = "x.db"
    [axes]
    engine = ["stock", "ours"]
    limit = [1, 10, 100]
    pragmas = ["plain", "fast"]
    [pragmas.plain]
    [pragmas.fast]
    synchronous = "off"
    cache_size = -4000
    [[step]]
    name = "top"
    sql = "SELECT * FROM t ORDER BY a LIMIT {limit} -- {nothing}"
    [[step]]
    name = "sum"
    sql = "SELECT sum(a) FROM t"
    [[exclude]]
    engine = "stock"
    limit = [10, 100]
    [[exclude]]
    step = "sum"
    limit = 100
    [[chart]]
    title = "By limit"
    x = "limit"
    series = "engine"
    separate = ["step", "pragmas"]
    base = "stock"
    [quick]
    trials = 2
    axes = { limit = [1] }
"#;

fn parse(text: &str, changes: &Changes) -> Result<Suite> {
    Suite::parse("test", text, Path::new("/suites"), changes)
}

fn error(text: &str) -> String {
    format!("{:#}", parse(text, &Changes::default()).unwrap_err())
}

#[test]
fn a_suite_is_the_product_of_its_axes_without_what_rules_exclude() {
    let suite = parse(SUITE, &Changes::default()).unwrap();
    // 2 engines, 3 limits, 2 sets are 12; stock has only the limit 1, in both sets.
    assert_eq!(suite.points.len(), 12 - 4);
    assert_eq!(suite.points[0].trials, 5);
    let large = suite
        .points
        .iter()
        .find(|p| p.values["limit"] == "100")
        .unwrap();
    assert_eq!(large.values["engine"], "ours");
    assert_eq!(large.steps.len(), 1);
    assert_eq!(
        large.steps[0].options["sql"],
        "SELECT * FROM t ORDER BY a LIMIT 100 -- {nothing}"
    );
}

#[test]
fn engines_of_one_point_follow_one_another() {
    let suite = parse(SUITE, &Changes::default()).unwrap();
    let first: Vec<_> = suite.points[..2]
        .iter()
        .map(|p| p.values["engine"].as_str())
        .collect();
    assert_eq!(first, ["stock", "ours"]);
}

#[test]
fn some_points_have_options_of_their_own() {
    let rule = "[[set]]\nwhere = { engine = \"ours\", limit = [10, 100] }\n\
                options = { database = \"y.db\", \"pragma.mmap_size\" = 5 }\n[quick]";
    let text = SUITE.replacen("[quick]", rule, 1);
    let suite = parse(&text, &Changes::default()).unwrap();
    for point in suite.points {
        let (engine, limit) = (&point.values["engine"], &point.values["limit"]);
        let is = engine == "ours" && limit != "1";
        assert_eq!(point.options["database"], if is { "y.db" } else { "x.db" });
        assert_eq!(point.options.contains_key("pragma.mmap_size"), is);
    }
    let wrong = text.replacen("limit = [10, 100] }", "limit = 7 }", 1);
    assert_eq!(error(&wrong), "[[set]] number 1: axis limit has no value 7");
}

#[test]
fn a_set_of_pragmas_becomes_options() {
    let suite = parse(SUITE, &Changes::default()).unwrap();
    let fast = suite
        .points
        .iter()
        .find(|p| p.values["pragmas"] == "fast")
        .unwrap();
    assert_eq!(fast.options["pragma.synchronous"], "off");
    assert_eq!(fast.options["pragma.cache_size"], "-4000");
    assert_eq!(fast.options["database"], "x.db");
}

#[test]
fn the_command_line_changes_a_suite_and_its_description() {
    let quick = Changes {
        quick: true,
        set: vec![("engine".to_owned(), "ours".to_owned())],
    };
    let suite = parse(SUITE, &quick).unwrap();
    assert_eq!((suite.points[0].trials, suite.points.len()), (2, 2));
    let plain = parse(SUITE, &Changes::default()).unwrap();
    assert_ne!(suite.text, plain.text);
}

#[test]
fn libraries_are_looked_for_beside_the_suite() {
    let text = format!("{SUITE}\n[engines.old]\nlibrary = \"old/libsqlite3.so\"");
    let suite = parse(&text, &Changes::default()).unwrap();
    assert_eq!(
        suite.engines["old"].library.as_deref(),
        Some(Path::new("/suites/old/libsqlite3.so"))
    );
}

#[test]
fn mistakes_are_told_where_they_are() {
    let cases = [
        (
            "series = \"engine\"",
            "series = \"motor\"",
            "[[chart]] number 1: there is no axis motor",
        ),
        (
            "limit = [1, 10, 100]",
            "limit = []",
            "axis limit has no values",
        ),
        (
            "limit = [1, 10, 100]",
            "limit = [1, 1]",
            "axis limit has 1 twice",
        ),
        (
            "[\"plain\", \"fast\"]",
            "[\"slow\"]",
            "there is no [pragmas.slow]",
        ),
        (
            "limit = [10, 100]",
            "limit = [11]",
            "number 1: axis limit has no value 11",
        ),
        (
            "name = \"sum\"",
            "name = \"top\"",
            "[[step]] top is there twice",
        ),
        ("trials = 5", "trails = 5", "unknown field `trails`"),
        (
            "base = \"stock\"",
            "base = \"stock\"\nbreak_even = [\"files\"]",
            "number 1: break_even: axis engine has no value files",
        ),
        (
            "series = \"engine\"",
            "break_even = [\"stock\"]",
            "number 1: break_even compares series, and there are none",
        ),
        (
            "x = \"limit\"\n    series = \"engine\"",
            "x = \"pragmas\"\n    series = \"engine\"\n    break_even = [\"stock\"]",
            "number 1: break_even needs numbers along pragmas, and plain is none",
        ),
        ("kind = \"sql\"", "kind = \"sgl\"", "unknown variant `sgl`"),
        (
            "base = \"stock\"",
            "only = { step = [\"sum\", \"top\", \"product\"] }",
            "[[chart]] number 1: axis step has no value product",
        ),
        ("engine = [\"stock\", \"ours\"]", "", "[axes] has no engine"),
    ];
    for (from, to, want) in cases {
        assert!(SUITE.contains(from), "{from}");
        let said = error(&SUITE.replacen(from, to, 1));
        assert!(said.contains(want), "{to}: {said}");
    }
    assert!(error("title = \"x\"\nkind = \"sql\"\ntrials = =").contains("line 3"));
}

#[test]
fn too_many_combinations_are_refused() {
    let values: Vec<String> = (0..400).map(|n| n.to_string()).collect();
    let list = values.join(",");
    let text = SUITE.replacen(
        "limit = [1, 10, 100]",
        &format!(
            "limit = [1, 10, 100, {}]\nb = [{list}]\n",
            values[101..].join(",")
        ),
        1,
    );
    assert!(error(&text).contains("more than 100000 combinations"));
}

#[test]
fn the_suites_that_come_with_the_lab_are_suites() {
    for (name, text) in SUITES {
        for quick in [false, true] {
            let changes = Changes {
                quick,
                ..Changes::default()
            };
            let suite = Suite::load(Path::new(name), &changes).unwrap();
            assert!(suite.points.len() > 1 && !suite.charts.is_empty(), "{name}");
            assert!(suite.text.starts_with(text), "{name}");
            let mut texts = vec![&suite.title, &suite.about];
            texts.extend(suite.charts.iter().flat_map(|c| [&c.title, &c.about]));
            texts.extend(suite.tables.iter().flat_map(|t| [&t.title, &t.about]));
            let unfilled = texts.iter().find(|text| text.contains('{'));
            assert_eq!(unfilled, None, "{name}");
        }
    }
}

/// A step that one library does whatever the engine is may not stand in a bar of another's name.
#[test]
fn no_bar_is_of_another_library_than_it_says() {
    for (name, _) in SUITES {
        let suite = Suite::load(Path::new(name), &Changes::default()).unwrap();
        let mut seen = 0;
        for (chart, point) in suite
            .charts
            .iter()
            .flat_map(|c| suite.points.iter().map(move |p| (c, p)))
        {
            let engine = &point.values[ENGINE];
            let library = suite.engines.get(engine).and_then(|e| e.library.as_deref());
            let library = library.unwrap_or(Path::new(engine));
            for step in &point.steps {
                let shown =
                    !step.unmeasured && matches(&chart.only, &point.values, Some(&step.name));
                if let Some(by) = step.options.get("by").filter(|_| shown) {
                    let place = format!("{name}: {}: {}", chart.title, step.name);
                    assert_eq!(Path::new(by), library, "{place}");
                    seen += 1;
                }
            }
        }
        assert_eq!(
            seen > 0,
            ["fragmentation", "prealloc"].contains(name),
            "{name}"
        );
    }
}

#[test]
fn texts_tell_the_numbers_that_are_measured() {
    let text = PARTS
        .replacen(
            "title = \"Two products\"",
            "title = \"Two products of {count}\"",
            1,
        )
        .replacen(
            "title = \"Small\"",
            "title = \"{count} and {engine}, {other}\"",
            1,
        )
        .replacen("title = \"All\"", "title = \"All {count}\"", 1)
        .replacen("{ lmdb = \"LMDB\" }", "{ lmdb = \"LMDB of {count}\" }", 1);
    let with = |quick, count: Option<&str>| {
        let set = count.map(|n| ("count".to_owned(), n.to_owned()));
        let set = set.into_iter().collect();
        let suite = parse(&text, &Changes { quick, set }).unwrap();
        // A report makes its texts of what is kept with the results.
        let kept = parse(&suite.text, &Changes::of(&suite.text)).unwrap();
        assert_eq!((&kept.title, &kept.charts), (&suite.title, &suite.charts));
        let chart = suite.charts[0].clone();
        let table = suite.tables[0].title.clone();
        [
            suite.title,
            table,
            chart.title,
            chart.about,
            chart.names["lmdb"].clone(),
        ]
    };
    // Parts that differ have no number in common.
    assert_eq!(
        with(false, None),
        [
            "Two products of {count}",
            "All {count}",
            "10 and stock and lmdb, {other}",
            "10 pairs.",
            "LMDB of 10"
        ]
    );
    assert_eq!(
        with(true, None)[..4],
        [
            "Two products of 3",
            "All 3",
            "3 and stock and lmdb, {other}",
            "3 pairs."
        ]
    );
    assert_eq!(with(false, Some("5000000"))[3], "5,000,000 pairs.");
    let tables = text.replacen(
        "steps = [\"batch\"]",
        "steps = [\"batch\"]\nonly = { part = \"large\" }",
        1,
    );
    assert_eq!(
        parse(&tables, &Changes::default()).unwrap().tables[0].title,
        "All 1,000"
    );
    let quick = Changes {
        quick: true,
        ..Changes::default()
    };
    assert_eq!(parse(&tables, &quick).unwrap().tables, []);
}

#[test]
fn results_know_the_command_that_made_them() {
    let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    let changes = Changes {
        quick: true,
        set: vec![pair("limit", "1,10"), pair("trials", "3")],
    };
    let suite = parse(SUITE, &changes).unwrap();
    let command = Changes::of(&suite.text).command("mine");
    assert_eq!(
        command,
        "hpsqlite bench run mine --quick --set limit=1,10 --set trials=3"
    );
    assert_eq!(
        Changes::of(SUITE).command("mine"),
        "hpsqlite bench run mine"
    );
    let odd = Changes {
        set: vec![pair("where", "a = 'b'")],
        ..Changes::default()
    };
    assert!(odd.command("m").ends_with(r" --set 'where=a = '\''b'\'''"));
}

const PARTS: &str = r#"
    title = "Two products"
    kind = "keyvalue"
    trials = 5
    [options]
    count = 10
    [names]
    stock = "SQLite"
    [quick]
    parts = ["small"]
    options = { count = 3 }
    [[part]]
    name = "small"
    about = "{count} pairs."
    axes = { engine = ["stock", "lmdb"] }
    [[part.step]]
    name = "fill-random"
    [[part.chart]]
    title = "Small"
    x = "engine"
    names = { lmdb = "LMDB" }
    [[part]]
    name = "large"
    trials = 2
    options = { count = 1000 }
    axes = { engine = ["stock"], threads = [1, 2] }
    [[part.step]]
    name = "batch"
    [[part.exclude]]
    threads = 2
    [[table]]
    title = "All"
    steps = ["batch"]
    column = [{ name = "a", only = { part = "large" } }]
    row = [{ name = "here" }]
"#;

#[test]
fn parts_are_suites_of_their_own_in_one_run() {
    let suite = parse(PARTS, &Changes::default()).unwrap();
    let points: Vec<_> = suite
        .points
        .iter()
        .map(|p| {
            let step = p.steps[0].name.as_str();
            (&*p.values[PART], &*p.options["count"], p.trials, step)
        })
        .collect();
    assert_eq!(
        points,
        [
            ("small", "10", 5, "fill-random"),
            ("small", "10", 5, "fill-random"),
            ("large", "1000", 2, "batch")
        ]
    );
    let chart = &suite.charts[0];
    assert_eq!(
        (chart.only[PART].texts(), &*chart.about),
        (vec!["small".to_owned()], "10 pairs.")
    );
    assert_eq!(
        (chart.name("stock"), chart.name("lmdb")),
        ("SQLite", "LMDB")
    );
    assert_eq!(suite.tables[0].name("stock"), "SQLite");
}

#[test]
fn the_command_line_chooses_parts_and_changes_those_that_have_it() {
    let with = |quick, set: &[(&str, &str)]| {
        let set = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        parse(
            PARTS,
            &Changes {
                quick,
                set: set.collect(),
            },
        )
    };
    let quick = with(true, &[]).unwrap();
    assert_eq!(quick.points.len(), 2);
    assert_eq!(quick.points[0].options["count"], "3");
    let large = with(false, &[("part", "large"), ("count", "7")]).unwrap();
    assert_eq!(large.points.len(), 1);
    assert_eq!(large.points[0].options["count"], "7");
    let threads = with(false, &[("threads", "1")]).unwrap();
    assert_eq!(threads.points.len(), 3);
    for (set, says) in [
        (
            ("part", "huge"),
            "there is no part huge; there are small, large",
        ),
        (
            ("depth", "7"),
            "no axis or option of this name; it has count, engine, part, threads",
        ),
    ] {
        let error = format!("{:#}", with(false, &[set]).unwrap_err());
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn mistakes_in_parts_and_tables_are_told_where_they_are() {
    for (from, to, says) in [
        (
            "name = \"large\"",
            "name = \"small\"",
            "[[part]] small is there twice",
        ),
        (
            "threads = 2",
            "threads = 5",
            "part large: [[exclude]] number 1: axis threads has no value 5",
        ),
        ("[\"small\"]", "[\"tiny\"]", "there is no part tiny"),
        (
            "steps = [\"batch\"]",
            "steps = [\"read\"]",
            "[[table]] number 1: there is no step read",
        ),
        (
            "part = \"large\" }",
            "part = \"no\" }",
            "no axis part has a value no",
        ),
        (
            "{ name = \"here\" }",
            "{ name = \"x\", cells = [\"1\", \"2\"] }",
            "row x has 2 cells, and there are 1 columns",
        ),
        (
            "[options]",
            "step = [{ name = \"x\" }]\n[options]",
            "belong into a [[part]]",
        ),
    ] {
        assert!(PARTS.contains(from), "{from}");
        let changes = Changes {
            quick: to.contains("tiny"),
            ..Changes::default()
        };
        let said = format!(
            "{:#}",
            parse(&PARTS.replacen(from, to, 1), &changes).unwrap_err()
        );
        assert!(said.contains(says), "{to}: {said}");
    }
}

#[test]
fn the_template_is_a_suite() {
    let suite = parse(TEMPLATE, &Changes::default()).unwrap();
    assert!(suite.points.len() > 1);
    parse(
        TEMPLATE,
        &Changes {
            quick: true,
            ..Changes::default()
        },
    )
    .unwrap();
}
