//! docs/cli.md is what the help texts say, and the help texts are there.

mod common;

use common::Place;

#[test]
fn the_reference_is_up_to_date() {
    let place = Place::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let committed = std::fs::read_to_string(path).unwrap();
    let made = place.run(&["reference"]).expect(0).out;
    assert!(
        committed == made,
        "run: dist/bin/hpsqlite reference > docs/cli.md"
    );
    for command in [
        "query",
        "import",
        "defrag",
        "shell",
        "compare",
        "exec",
        "system",
        "demo",
        "data tpch",
        "data h2o",
        "data mysqlite",
        "data tatp",
        "bench init",
        "bench run",
        "bench report",
        "bench document",
        "bench list",
        "bench clean",
        "kvtest init",
        "kvtest export",
        "kvtest stat",
        "kvtest run",
    ] {
        assert!(
            made.contains(&format!("## hpsqlite {command}\n")),
            "{command}"
        );
    }
}

#[test]
fn version_and_help() {
    let place = Place::new();
    let version = place.run(&["--version"]).expect(0).out;
    assert_eq!(version, format!("hpsqlite {}\n", env!("CARGO_PKG_VERSION")));
    place
        .run(&["--help"])
        .expect(0)
        .says("compare")
        .says("exec");
    place.run(&[]).expect(2).says("Usage: hpsqlite <COMMAND>");
    place
        .run(&["no-such"])
        .expect(2)
        .says("unrecognized subcommand");
}

/// A reader goes from the pictures of the README to a page of one's own: the colours must be the same.
#[test]
fn the_pictures_have_the_colours_of_their_engines() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let style = hpsqlite_compare::chart::style::standalone();
    for (picture, engines) in [
        ("groupby.svg", &["ours", "duckdb"][..]),
        ("files.svg", &["tree", "stock", "ours"][..]),
    ] {
        let svg = std::fs::read_to_string(format!("{docs}/{picture}")).unwrap();
        let own = svg.split("<style>\n").nth(1).unwrap();
        let own = own.split("</style>").next().unwrap();
        assert_eq!(own, style, "{picture}");
        for engine in engines {
            assert!(svg.contains(&format!("class=\"{engine}\"")), "{picture}");
        }
    }
}

/// A figure of the README is that of docs/benchmarks.md, by the command that stands beside it.
#[test]
fn the_figures_of_the_readme_are_those_of_the_benchmarks() {
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{top}/README.md")).unwrap();
    let page = std::fs::read_to_string(format!("{top}/docs/benchmarks.md")).unwrap();
    let rows: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with('|') && line.contains("`hpsqlite bench run"))
        .collect();
    assert!(rows.len() >= 6, "the table of the README has gone");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, early, cached, duckdb, command] = cells[..] else {
            panic!("a row of the README has other columns: {row}");
        };
        let section = page
            .split("\n## ")
            .find(|section| section.contains(&format!("\n{command}\n")))
            .unwrap_or_else(|| panic!("{command} is not in docs/benchmarks.md"));
        // "* ENGINE: 20.7x as fast as SQLite in the geometric mean of 10 steps, …"
        let figure = |engine: &str| {
            section
                .lines()
                .find_map(|line| line.strip_prefix(&format!("* {engine}: ")))
                .and_then(|rest| rest.split(' ').next())
                .unwrap_or("")
        };
        let ours = figure("HP SQLite");
        let expected = match figure("HP SQLite, the first time") {
            "" => ["", ours, figure("DuckDB")],
            first => [first, ours, figure("DuckDB")],
        };
        assert_eq!([early, cached, duckdb], expected, "{command}");
    }
}
