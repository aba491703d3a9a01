//! Pictures as they are looked at by a program: well-formed, bounded, with the cells that are there.

use resvg::usvg::roxmltree::{Document, Node};

use super::*;
use crate::viz::device::DISK;
use crate::viz::map::Map;
use crate::viz::tests::{EVERYTHING, folder, make, model, stock};

const HOSTILE: &str =
    "<script>alert('1')</script> & \"quoted\" \u{202e}\u{1b}[2J ]]> and much more";

/// A database of some sort, scanned.
fn some(sql: &str) -> Model {
    let (library, folder) = (stock(), folder());
    let path = folder.path().join("some.db");
    drop(make(&library, &path, &format!("BEGIN; {sql} COMMIT;")));
    model(&path)
}

fn everything(model: &Model) -> Selection {
    Selection::new(model, &[], None).unwrap()
}

fn picture(titles: &[&str], model: &Model, selection: &Selection) -> Picture {
    let figures = Figures::of(model, DISK);
    let files: Vec<DrawnFile<'_>> = titles
        .iter()
        .map(|title| DrawnFile {
            title: (*title).to_owned(),
            model,
            figures: &figures,
            selection,
        })
        .collect();
    draw(&files).unwrap()
}

fn texts(svg: &Document<'_>) -> Vec<String> {
    let texts = svg.descendants().filter(|n| n.has_tag_name("text"));
    texts.map(|n| n.text().unwrap_or("").to_owned()).collect()
}

/// Lengths of all runs that have the colour of a class.
fn length(svg: &Document<'_>, class: &str) -> i32 {
    let of_class = |n: &Node<'_, '_>| n.attribute("class") == Some(class);
    svg.descendants()
        .filter(|n| n.has_tag_name("path") && of_class(n))
        .flat_map(|n| n.attribute("d").unwrap_or("").split('h').skip(1))
        .map(|run| run.split('m').next().unwrap().parse::<i32>().unwrap())
        .sum()
}

/// The class of a colour in the style of a picture.
fn class(svg: &str, colour: Colour) -> Option<String> {
    let rule = format!("{{color:{}}}", colour.hex().0);
    let before = &svg[..svg.find(&rule)?];
    Some(before[before.rfind('.')? + 1..].to_owned())
}

/// Pages of b-trees in turns, `run` of each.
fn in_turns(model: &mut Model, pages: u32, run: u32) {
    let trees = model.trees.len() as u32 - 1;
    model.map = Map::new(pages);
    for n in 1..=pages {
        let owner = 1 + (n - 1) / run % trees;
        model
            .map
            .set(n, PageKind::TableLeaf, Some(owner as usize), 0);
        model.map.set_fill(n, u64::from(255 - n % 5 * 60), 255);
    }
}

#[test]
fn hostile_names_stay_names() {
    let quoted = HOSTILE.replace('"', "\"\"");
    let model = some(&format!(
        "CREATE TABLE \"{quoted}\"(a); CREATE TABLE plain(a);"
    ));
    for titles in [&[HOSTILE][..], &[HOSTILE, "b.db"]] {
        let picture = picture(titles, &model, &everything(&model));
        let svg = picture.svg(Paper::Both);
        let document = Document::parse(&svg).expect("well-formed XML");
        let mut elements = document.descendants();
        assert!(elements.all(|n| !n.has_tag_name("script")));
        assert!(!svg.contains(['\u{202e}', '\u{1b}']));
        assert!(svg.contains("&lt;script&gt;"));
        assert!(picture.png(Paper::Light).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_small_file_is_drawn_byte_by_byte() {
    let model = some(EVERYTHING);
    let picture = picture(&["small.db"], &model, &everything(&model));
    let svg = picture.svg(Paper::Light);
    let document = Document::parse(&svg).unwrap();
    let pages = u64::from(model.map.pages());
    let texts = texts(&document);
    assert!(texts.iter().any(|t| t == "small.db"), "{texts:?}");
    assert!(texts.iter().any(|t| t.contains(&text::thousands(pages))));
    assert!(texts.iter().any(|t| t == "large (table)"));
    assert!(texts.iter().any(|t| t == "overflow page"));
    // Each page says what it is.
    let named = document.descendants().filter(|n| {
        let text = n.text().unwrap_or("");
        n.has_tag_name("title") && text.starts_with("page ")
    });
    assert_eq!(named.count() as u64, pages);
    assert!(svg.contains("<title>page 1: table leaf of sqlite_schema, "));
    // What is drawn of the bytes of all pages is all of them.
    let Scale::Bytes(boxes) = Scale::of(model.map.pages(), 874) else {
        panic!("no bytes")
    };
    let (selection, figures) = (everything(&model), Figures::of(&model, DISK));
    let file = DrawnFile {
        title: String::new(),
        model: &model,
        figures: &figures,
        selection: &selection,
    };
    let paths = bytes::draw(&file, boxes, &mut Kinds::default()).unwrap();
    let drawn: i32 = paths
        .bytes
        .into_values()
        .flat_map(|runs| {
            runs.end()
                .split('h')
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .map(|run| run.split('m').next().unwrap().parse::<i32>().unwrap())
        .sum();
    assert_eq!(drawn, boxes.width * bytes::FINE * model.map.pages() as i32);
}

#[test]
fn each_page_has_a_cell_in_the_colour_of_its_b_tree() {
    let mut model = some("CREATE TABLE a(x); CREATE TABLE b(x);");
    in_turns(&mut model, 5_000, 3);
    for n in 1..=5_000 {
        model.map.set_fill(n, 1, 1);
    }
    model.map.set(7, PageKind::FreeLeaf, None, 0);
    let svg = picture(&["m.db"], &model, &everything(&model)).svg(Paper::Light);
    let document = Document::parse(&svg).unwrap();
    let Scale::Pages(grid) = Scale::of(5_000, 874) else {
        panic!("bytes")
    };
    assert_eq!(grid.pages, 1);
    let palette = Palette::of(&[&model]);
    let cells = |colour| {
        let class = class(&svg, colour).unwrap();
        length(&document, &class) / grid.size
    };
    assert_eq!(cells(palette.tree("a")), 2_501 - 1);
    assert_eq!(cells(palette.tree("b")), 2_499);
    assert_eq!(cells(palette.kind(PageKind::FreeLeaf)), 1);
}

#[test]
fn files_side_by_side_have_one_scale_and_the_same_colours() {
    let model = some(EVERYTHING);
    let two = picture(&["before.db", "after.db"], &model, &everything(&model));
    let svg = two.svg(Paper::Both);
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document);
    let names = |name| texts.iter().filter(|t| *t == name).count();
    // Above its map, and above its numbers.
    assert_eq!((names("before.db"), names("after.db")), (2, 2));
    assert_eq!(names("plain (table)"), 1);
    let (light, dark) = svg
        .split_once("@media (prefers-color-scheme:dark)")
        .unwrap();
    let palette = Palette::of(&[&model]);
    let (by_day, at_night) = palette.tree("large").hex();
    assert!(light.contains(&by_day) && dark.contains(&at_night));
    assert!(!two.svg(Paper::Light).contains("@media"));
    // The same file twice is the same map twice.
    let twice: Vec<&str> = document
        .descendants()
        .filter(|n| n.has_tag_name("path"))
        .filter_map(|n| n.attribute("d"))
        .filter(|d| d.len() > 500)
        .collect();
    assert!(!twice.is_empty());
    for d in &twice {
        assert_eq!(twice.iter().filter(|other| other == &d).count() % 2, 0);
    }
}

#[test]
fn what_is_not_asked_for_fades_or_is_left_out() {
    let model = some(EVERYTHING);
    let only = Selection::new(&model, &["large".to_owned()], None).unwrap();
    let svg = picture(&["m.db"], &model, &only).svg(Paper::Light);
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document);
    assert!(texts.iter().any(|t| t == "large (table)"));
    assert!(texts.iter().any(|t| t == "not asked for"));
    assert!(!texts.iter().any(|t| t == "plain (table)"));
    let palette = Palette::of(&[&model]);
    assert!(class(&svg, palette.tree("large")).is_some());
    assert!(class(&svg, palette.tree("plain")).is_none());

    let some = Selection::new(&model, &[], Some("3-7".parse().unwrap())).unwrap();
    let svg = picture(&["m.db"], &model, &some).svg(Paper::Light);
    assert!(svg.contains("pages 3 to 7"));
    assert_eq!(svg.matches("<title>page ").count(), 5);
    assert!(svg.contains("<title>page 3: "));
}

#[test]
fn the_largest_file_makes_no_large_picture() {
    let names = (0..40).map(|i| format!("CREATE TABLE t{i}(x);"));
    let mut model = some(&names.collect::<String>());
    // The worst there is: no two pages side by side have a colour and brightness.
    for (pages, run) in [(100_000, 1), (1_000_000, 1), (1_000_000, 500)] {
        in_turns(&mut model, pages, run);
        let picture = picture(&["large.db"], &model, &everything(&model));
        let svg = picture.svg(Paper::Both);
        assert!(svg.len() < LARGEST + 50_000, "{pages}: {} bytes", svg.len());
        assert!(picture.height < 1_500);
        let document = Document::parse(&svg).unwrap();
        let texts = texts(&document);
        let several = |t: &String| t.starts_with("Each cell is ") && t.contains(" pages, ");
        assert!(pages < 1_000_000 || texts.iter().any(several), "{texts:?}");
        assert!(texts.iter().any(|t| t.starts_with("and 29 others")));
    }
    let png = picture(&["large.db"], &model, &everything(&model)).png(Paper::Light);
    assert!(png.unwrap().starts_with(b"\x89PNG"));
}
