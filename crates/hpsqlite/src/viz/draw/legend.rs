//! What stands below the maps: the largest b-trees, the kinds of pages, and how to read it all.

use std::collections::HashMap;

use super::ink::{FAINT, SHEET, WRITTEN};
use super::{Drawing, LEVELS, PADDING, Scale, WIDTH, pages};
use crate::chart::font;
use crate::text;
use crate::viz::map::PageKind;
use crate::viz::palette::{Colour, INK, PAPER};

/// So many b-trees are listed.
const LISTED: usize = 12;
/// From line to line.
const LINE: i32 = 20;
/// The side of a square of colour.
const SQUARE: i32 = 13;
/// The width of a column of numbers.
const COLUMN: i32 = 78;
const TEXT: f64 = 12.0;

/// A b-tree, in all files together.
struct LegendEntry {
    name: String,
    role: &'static str,
    pages: u64,
    /// Its place in each file.
    places: Vec<Option<usize>>,
}

/// How a kind of pages is shown.
#[derive(Clone, Copy)]
enum LegendSample {
    Plain,
    Corner,
    Dot,
    Frame,
    Stripes,
    Kept,
    Dashed,
    Thick,
    Dotted,
}

impl Drawing<'_> {
    pub(super) fn legend(&mut self) {
        self.y += 22;
        self.trees();
        self.y += 8;
        self.samples();
        self.y += 6;
        for note in self.notes() {
            for line in font::wrap(&note, 11.0, f64::from(WIDTH - 2 * PADDING), 3) {
                self.y += 16;
                self.small((PADDING, self.y), &line);
            }
        }
    }

    /// All b-trees that are asked for, the largest first.
    fn entries(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (f, file) in self.files.iter().enumerate() {
            for (t, tree) in file.model.trees.iter().enumerate() {
                if !file.selection.has_tree(t) {
                    continue;
                }
                let key = tree.name.to_ascii_lowercase();
                let at = *known.entry(key).or_insert(entries.len());
                if at == entries.len() {
                    entries.push(LegendEntry {
                        name: tree.name.clone(),
                        role: tree.role.name(),
                        pages: 0,
                        places: vec![None; self.files.len()],
                    });
                }
                entries[at].pages += tree.pages() + tree.reserved;
                entries[at].places[f] = Some(t);
            }
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.pages));
        entries
    }

    /// The b-trees with their numbers.
    fn trees(&mut self) {
        let entries = self.entries();
        let several = self.files.len() > 1;
        let reserved = self.files.iter().any(|file| {
            let trees = file.model.trees.iter().enumerate();
            trees
                .filter(|(t, _)| file.selection.has_tree(*t))
                .any(|(_, tree)| tree.reserved > 0)
        });
        let heads: &[&str] = match (several, reserved) {
            (false, false) => &["pages", "fill", "runs", "scatter"],
            (false, true) => &["pages", "reserved", "fill", "runs", "scatter"],
            (true, _) => &["pages", "scatter"],
        };
        let wide = (COLUMN * heads.len() as i32 + 16) * self.files.len() as i32;
        let room = f64::from(WIDTH - 2 * PADDING - SQUARE - 8 - wide).max(120.0);
        let longest = entries
            .iter()
            .take(LISTED)
            .map(|entry| font::width(&words(entry), TEXT))
            .fold(120.0, f64::max);
        let names = longest.min(room);
        let column = |f: usize, i: usize| {
            let before = f as i32 * (COLUMN * heads.len() as i32 + 16);
            PADDING + SQUARE + 8 + names as i32 + before + COLUMN * (i as i32 + 1)
        };
        if several {
            let room = f64::from(COLUMN * heads.len() as i32 - 8);
            let titles = self.titles(TEXT, room);
            let lines = titles.iter().map(Vec::len).max().unwrap_or(1) as i32;
            for (f, title) in titles.iter().enumerate() {
                // They stand on the numbers below.
                let first = lines - title.len() as i32;
                for (line, title) in (first..).zip(title) {
                    let y = self.y + 15 * line;
                    self.right((column(f, heads.len() - 1), y), "s", title);
                }
            }
            self.y += 15 * (lines - 1) + LINE - 3;
        }
        for f in 0..self.files.len() {
            for (i, head) in heads.iter().enumerate() {
                self.right((column(f, i), self.y), "n", head);
            }
        }
        for entry in entries.iter().take(LISTED) {
            self.y += LINE;
            let colour = self.palette.tree(&entry.name);
            self.square(PADDING, colour, LegendSample::Plain);
            let name = font::fit(&words(entry), TEXT, names);
            self.text((PADDING + SQUARE + 8, self.y), "b", &name);
            for (f, place) in entry.places.iter().enumerate() {
                let Some(t) = *place else { continue };
                let numbers = self.numbers(f, t, heads);
                for (i, number) in numbers.iter().enumerate() {
                    self.right((column(f, i), self.y), "b", number);
                }
            }
        }
        if let Some(others) = entries.get(LISTED..).filter(|others| !others.is_empty()) {
            self.y += LINE;
            let pages: u64 = others.iter().map(|entry| entry.pages).sum();
            let line = format!(
                "and {} with {}",
                text::plural(others.len() as u64, "other", "others"),
                text::plural(pages, "page", "pages")
            );
            self.text((PADDING + SQUARE + 8, self.y), "b", &line);
        }
    }

    /// The numbers of a b-tree in one file, for these columns.
    fn numbers(&self, f: usize, t: usize, heads: &[&str]) -> Vec<String> {
        let numbers = &self.files[f].figures.trees[t];
        let one = |head: &&str| match *head {
            "pages" => text::thousands(numbers.pages),
            "reserved" => text::thousands(numbers.reserved_pages),
            "fill" => format!("{:.0} %", 100.0 * numbers.leaf_fill),
            "runs" => text::thousands(numbers.order.runs),
            _ if numbers.order.steps == 0 => "–".to_owned(),
            _ => format!("{:.0} %", 100.0 * numbers.order.scatter),
        };
        heads.iter().map(one).collect()
    }

    /// The kinds of pages that are there.
    fn samples(&mut self) {
        let mut samples: Vec<(Colour, LegendSample, &str)> = Vec::new();
        let plain = INK.mixed(PAPER, 0.45);
        let bytes = matches!(self.scale, Scale::Bytes(_));
        let marked = match self.scale {
            Scale::Bytes(_) => true,
            Scale::Pages(grid) => grid.size >= pages::MARKED,
        };
        let kinds = &self.kinds;
        if marked {
            let (index, interior) = match bytes {
                true => (LegendSample::Dashed, LegendSample::Thick),
                false => (LegendSample::Corner, LegendSample::Frame),
            };
            if kinds.has(PageKind::TableLeaf) {
                samples.push((plain, LegendSample::Plain, "leaf of a table"));
            }
            if kinds.has(PageKind::IndexLeaf) {
                samples.push((plain, index, "leaf of an index"));
            }
            if kinds.has(PageKind::TableInterior) || kinds.has(PageKind::IndexInterior) {
                samples.push((plain, interior, "interior page"));
            }
        }
        if kinds.has(PageKind::Overflow) {
            let sample = if bytes {
                LegendSample::Dotted
            } else {
                LegendSample::Stripes
            };
            samples.push((plain, sample, "overflow page"));
        }
        if kinds.has(PageKind::Reserved) {
            samples.push((
                plain,
                LegendSample::Kept,
                "reserved for the b-tree of its colour",
            ));
        }
        for kind in PageKind::ALL {
            let dot = kind == PageKind::FreeTrunk && marked && !bytes;
            let sample = if dot {
                LegendSample::Dot
            } else {
                LegendSample::Plain
            };
            if kinds.of_nobody.contains(&(kind as u8)) {
                samples.push((self.palette.kind(kind), sample, kind.name()));
            }
        }
        if kinds.left {
            samples.push((INK.mixed(PAPER, 0.1), LegendSample::Plain, "not asked for"));
        }
        self.y += LINE;
        let mut x = PADDING;
        for (colour, sample, name) in samples {
            let width = SQUARE + 7 + font::width(name, TEXT) as i32;
            x = self.on_line(x, width);
            self.square(x, colour, sample);
            self.text((x + SQUARE + 7, self.y), "b", name);
            x += width + 20;
        }
        let steps = (i32::from(LEVELS) + 1) * SQUARE;
        let name = match bytes {
            true => "header, cell pointers, not used, cells",
            false => "the fuller, the stronger",
        };
        x = self.on_line(x, steps + 7 + font::width(name, TEXT) as i32);
        if bytes {
            let tones = [
                INK,
                INK.mixed(plain, 0.45),
                plain.mixed(PAPER, 0.16),
                plain,
                plain.mixed(PAPER, 0.68),
            ];
            for (i, tone) in (0..).zip(tones) {
                self.square(x + i * SQUARE, tone, LegendSample::Plain);
            }
        } else {
            for level in 0..=LEVELS {
                let fill = (u32::from(level) * 255 / u32::from(LEVELS)) as u8;
                self.square(
                    x + i32::from(level) * SQUARE,
                    plain.filled(fill),
                    LegendSample::Plain,
                );
            }
        }
        self.text((x + steps + 7, self.y), "b", name);
    }

    /// Goes to the next line if something has no room on this one.
    fn on_line(&mut self, x: i32, width: i32) -> i32 {
        if x == PADDING || x + width <= WIDTH - PADDING {
            return x;
        }
        self.y += LINE;
        PADDING
    }

    /// A square of a colour, with the mark of a kind of pages.
    fn square(&mut self, x: i32, colour: Colour, sample: LegendSample) {
        let (y, class) = (self.y - 11, self.colours.class(colour));
        let s = SQUARE;
        let pale = self.colours.class(colour.mixed(PAPER, 0.3));
        let inner = s - 1;
        let boxed = |class: &str, extra: &str| {
            format!(
                "<rect class=\"{pale}\" x=\"{x}\" y=\"{y}\" width=\"{s}\" height=\"{s}\" \
                 fill=\"currentColor\"/><rect class=\"{class}\" x=\"{x}.5\" y=\"{y}.5\" \
                 width=\"{inner}\" height=\"{inner}\" fill=\"none\" stroke=\"currentColor\"{extra}/>"
            )
        };
        let base = match sample {
            LegendSample::Dashed => boxed(&class, " stroke-dasharray=\"4 2\""),
            LegendSample::Dotted => boxed(&class, " stroke-dasharray=\"1 2\""),
            LegendSample::Thick => boxed(WRITTEN, " stroke-width=\"2\""),
            _ => format!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{s}\" height=\"{s}\" \
                 fill=\"currentColor\"/>"
            ),
        };
        let over = |class: &str, x: i32, y: i32, width: i32, height: i32| {
            format!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
                 height=\"{height}\" fill=\"currentColor\"/>"
            )
        };
        let (dot, notch) = (pages::dot(s + 1), pages::notch(s + 1));
        let mark = match sample {
            LegendSample::Corner => over(SHEET, x + s - notch, y, notch, notch),
            LegendSample::Dot => {
                let inside = (s - dot) / 2;
                over(SHEET, x + inside, y + inside, dot, dot)
            }
            LegendSample::Frame => format!(
                "<path class=\"{WRITTEN}\" d=\"M{0} {1}h{2}v{2}h-{2}z\" fill=\"none\" \
                 stroke=\"currentColor\" stroke-width=\"2\"/>",
                x + 1,
                y + 1,
                s - 2
            ),
            LegendSample::Stripes | LegendSample::Kept => format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{s}\" height=\"{s}\" fill=\"url(#{})\"/>",
                if matches!(sample, LegendSample::Kept) {
                    "kept"
                } else {
                    "over"
                }
            ),
            LegendSample::Plain
            | LegendSample::Dashed
            | LegendSample::Thick
            | LegendSample::Dotted => String::new(),
        };
        self.put(format_args!("{base}{mark}\n"));
    }

    /// How the map is to be read.
    fn notes(&self) -> Vec<String> {
        let (row, _) = self.scale.row();
        let row = text::thousands(row.into());
        let map = match self.scale {
            Scale::Bytes(_) => format!(
                "Each box is a page, {row} in a row, in the order of the file; in it are its bytes where \
                 they are."
            ),
            Scale::Pages(grid) if grid.pages == 1 => {
                format!("Each cell is a page, {row} in a row, in the order of the file.")
            }
            Scale::Pages(grid) => format!(
                "Each cell is {} pages, {row} pages in a row, in the order of the file. Where several \
                 b-trees share a cell they take turns, as often as each has pages there.",
                text::thousands(grid.pages.into())
            ),
        };
        let scatter = "Scatter: the share of steps from leaf to leaf, in the order of keys, that do not \
                       go on in the file.";
        let runs = " Runs: leaves that follow each other.";
        let runs = if self.files.len() == 1 { runs } else { "" };
        vec![map, format!("{scatter}{runs}")]
    }

    fn right(&mut self, (x, y): (i32, i32), class: &str, text: &str) {
        let colour = if class == "n" { FAINT } else { WRITTEN };
        let text = crate::chart::escape(text);
        self.put(format_args!(
            "<text class=\"{class} e {colour}\" x=\"{x}\" y=\"{y}\">{text}</text>\n"
        ));
    }

    fn small(&mut self, (x, y): (i32, i32), text: &str) {
        let text = crate::chart::escape(text);
        self.put(format_args!(
            "<text class=\"l {FAINT}\" x=\"{x}\" y=\"{y}\">{text}</text>\n"
        ));
    }
}

/// The name of a b-tree, and what it is.
fn words(entry: &LegendEntry) -> String {
    format!(
        "{} ({})",
        text::shorten(&text::printable(&entry.name), 60),
        entry.role
    )
}
