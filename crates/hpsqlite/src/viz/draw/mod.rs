//! The map of one or more files as a picture: `--svg` and `--png`.
//!
//! ```text
//! Files ── bytes   small files: each page a box with its bytes where they are
//!   │  └── pages   others: a cell a page, or a cell for several; runs of equal cells
//!   │                 │
//! legend ────────── Picture ── svg(), png()
//! ```
//!
//! Several files are drawn side by side at one scale, with the same colours. A picture has no script
//! and asks for nothing outside; what comes out of the file is escaped and cut.

mod bytes;
mod ink;
mod legend;
mod pages;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::figures::Figures;
use super::map::PageKind;
use super::palette::{Colour, INK, PAPER, Palette};
use super::select::Selection;
use super::walk::Model;
use crate::chart::{escape, font};
use crate::picture;
use crate::text;
use bytes::{Boxes, Edge, Tone};
pub use ink::Paper;
use ink::{Colours, FAINT, RunsPath, SHEET, WRITTEN};
use pages::Grid;

/// Steps of brightness above the emptiest.
const LEVELS: u8 = 4;
/// Pixels, as all lengths here.
const WIDTH: i32 = 960;
const PADDING: i32 = 20;
/// Between the maps of two files.
const BETWEEN: i32 = 28;
/// An SVG is no larger, if larger cells can help that.
const LARGEST: usize = 1_000_000;
/// Lines that are as thick as cells are high, texts in the sizes of titles and labels, edges.
const STYLE: &str = "\
svg{font:12px \"DejaVu Sans\",Verdana,sans-serif}
text{fill:currentColor}
.t{font-size:17px;font-weight:bold}
.h{font-size:15px;font-weight:bold}
.s{font-weight:bold}
.n{font-size:10px}
.l{font-size:11px}
.e{text-anchor:end}
.m{fill:none;shape-rendering:crispEdges}
.m path{stroke:currentColor}
.m .x{stroke:url(#kept)}
.m .f{fill:url(#kept);stroke:none}
.m .v{stroke:url(#over)}
.d{stroke-dasharray:4 2}
.o{stroke-dasharray:1 2}
.i{stroke-width:2}
.p{fill:none;pointer-events:all}
";

/// A file that is drawn.
pub struct DrawnFile<'a> {
    /// What it is called in the picture.
    pub title: String,
    pub model: &'a Model,
    pub figures: &'a Figures,
    pub selection: &'a Selection,
}

impl DrawnFile<'_> {
    /// The pages that are drawn, the first and the last.
    fn range(&self) -> (u32, u32) {
        let last = self.model.map.pages();
        match self.selection.pages {
            Some(range) => (range.first, range.last.min(last)),
            None => (1, last),
        }
    }

    fn pages(&self) -> u32 {
        let (first, last) = self.range();
        (last + 1).saturating_sub(first)
    }

    fn owner(&self, n: u32) -> Owner {
        match self.model.map.owner(n) {
            Some(tree) if self.selection.has_tree(tree) => Owner::Tree(tree),
            None if self.selection.has_nobody() => Owner::Nobody(self.model.map.kind(n) as u8),
            _ => Owner::Left,
        }
    }
}

/// Who gives a page its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// By its place among the file's.
    Tree(usize),
    /// A kind of page that no b-tree owns.
    Nobody(u8),
    /// A page that was not asked for.
    Left,
}

/// The kinds of pages that a picture shows.
#[derive(Debug, Default)]
struct Kinds {
    owned: BTreeSet<u8>,
    of_nobody: BTreeSet<u8>,
    left: bool,
}

impl Kinds {
    fn note(&mut self, owner: Owner, kind: PageKind) {
        match owner {
            Owner::Tree(_) => self.owned.insert(kind as u8),
            Owner::Nobody(kind) => self.of_nobody.insert(kind),
            Owner::Left => {
                self.left = true;
                false
            }
        };
    }

    fn has(&self, kind: PageKind) -> bool {
        self.owned.contains(&(kind as u8))
    }
}

/// The step of brightness of a page.
fn level(fill: u8) -> u8 {
    ((u32::from(fill) * u32::from(LEVELS) + 127) / 255) as u8
}

/// How a page is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Bytes(Boxes),
    Pages(Grid),
}

impl Scale {
    /// The largest that has room for all files side by side.
    fn of(pages: u32, width: i32) -> Scale {
        match Boxes::new(pages, width) {
            Some(boxes) => Scale::Bytes(boxes),
            None => Scale::Pages(Grid::new(pages, width, 1)),
        }
    }

    /// The next smaller one.
    fn smaller(self, pages: u32, width: i32) -> Scale {
        let least = match self {
            Scale::Bytes(_) => 1,
            Scale::Pages(grid) => pages::next(grid.pages),
        };
        Scale::Pages(Grid::new(pages, width, least))
    }

    fn height(self, pages: u32) -> i32 {
        match self {
            Scale::Bytes(boxes) => boxes.all(pages),
            Scale::Pages(grid) => grid.height(pages),
        }
    }

    /// Pages in a row, and the height of a row.
    fn row(self) -> (u32, i32) {
        match self {
            Scale::Bytes(boxes) => (boxes.columns as u32, boxes.row()),
            Scale::Pages(grid) => (grid.columns as u32 * grid.pages, grid.size),
        }
    }
}

/// A picture that was drawn.
pub struct Picture {
    title: String,
    height: i32,
    content: String,
    colours: Colours,
}

/// Draws the maps of files side by side.
pub fn draw(files: &[DrawnFile<'_>]) -> Result<Picture> {
    let models: Vec<&Model> = files.iter().map(|file| file.model).collect();
    let palette = Palette::of(&models);
    let pages = files.iter().map(DrawnFile::pages).max().unwrap_or(1);
    let count = files.len().max(1) as i32;
    let labels = label_width(files);
    let width = (WIDTH - 2 * PADDING - labels - (count - 1) * BETWEEN) / count;
    let mut scale = Scale::of(pages, width);
    loop {
        let drawing = Drawing {
            files,
            palette: &palette,
            scale,
            width,
            labels,
            out: String::new(),
            y: 0,
            colours: Colours::new(),
            kinds: Kinds::default(),
        };
        let picture = drawing.all()?;
        let smaller = scale.smaller(pages, width);
        let coarse = matches!(smaller, Scale::Pages(grid) if grid.pages > pages / 1000 + 1);
        if picture.content.len() <= LARGEST || coarse {
            return Ok(picture);
        }
        scale = smaller;
    }
}

/// Room for the numbers of pages beside the rows.
fn label_width(files: &[DrawnFile<'_>]) -> i32 {
    let last = files.iter().map(|file| file.range().1).max().unwrap_or(1);
    font::width(&text::thousands(last.into()), 10.0) as i32 + 10
}

/// What is to be known of a file.
fn facts(file: &DrawnFile<'_>) -> Vec<String> {
    let (whole, size) = (&file.figures.whole, file.model.image.header.page_size);
    let mut facts = vec![format!(
        "{} in {} of {} bytes",
        text::bytes(whole.bytes),
        text::plural(whole.pages, "page", "pages"),
        text::thousands(size.into())
    )];
    if whole.order.steps > 0 {
        facts.push(format!("scatter {:.0} %", 100.0 * whole.order.scatter));
    }
    if file.pages() < file.model.map.pages() {
        let (first, last) = file.range();
        facts.push(format!(
            "pages {} to {}",
            text::thousands(first.into()),
            text::thousands(last.into())
        ));
    }
    facts
}

/// A picture while it is drawn.
struct Drawing<'a> {
    files: &'a [DrawnFile<'a>],
    palette: &'a Palette,
    scale: Scale,
    /// Of the map of one file.
    width: i32,
    labels: i32,
    out: String,
    /// Where the next thing goes.
    y: i32,
    colours: Colours,
    kinds: Kinds,
}

impl Drawing<'_> {
    fn all(mut self) -> Result<Picture> {
        self.heads();
        self.labels();
        let top = self.y;
        for f in 0..self.files.len() {
            let (x, file) = (self.left(f), &self.files[f]);
            match self.scale {
                Scale::Bytes(boxes) => self
                    .boxes(f, boxes, (x, top))
                    .with_context(|| format!("cannot read {}", file.model.image.path.display()))?,
                Scale::Pages(grid) => self.cells(f, grid, (x, top)),
            }
        }
        let heights = self.files.iter().map(|f| self.scale.height(f.pages()));
        self.y += heights.max().unwrap_or(0);
        self.legend();
        let titles: Vec<String> = self.files.iter().map(|f| f.title.clone()).collect();
        Ok(Picture {
            title: format!("Map of the pages of {}", text::list(&titles)),
            height: self.y + PADDING,
            content: self.out,
            colours: self.colours,
        })
    }

    /// Where the map of a file starts.
    fn left(&self, f: usize) -> i32 {
        PADDING + self.labels + f as i32 * (self.width + BETWEEN)
    }

    /// The name of each file, and what is to be known of it.
    fn heads(&mut self) {
        if let [file] = self.files {
            let room = f64::from(WIDTH - 2 * PADDING);
            let title = font::fit(&file.title, 17.0 * font::BOLD, room);
            self.text((PADDING, 36), "t", &title);
            let line = font::fit(&facts(file).join("; "), 12.0, room);
            self.text((PADDING, 54), "b", &line);
            self.y = 70;
            return;
        }
        let room = f64::from(self.width);
        let titles = self.titles(15.0, room);
        let lines = titles.iter().map(Vec::len).max().unwrap_or(1) as i32;
        let mut lowest = 0;
        for (f, title) in titles.iter().enumerate() {
            let x = self.left(f);
            // They stand on the facts below.
            for (line, title) in (lines - title.len() as i32..).zip(title) {
                self.text((x, 36 + 19 * line), "h", title);
            }
            let mut y = 36 + 19 * (lines - 1) + 2;
            for fact in facts(&self.files[f]) {
                y += 17;
                self.text((x, y), "b", &font::fit(&fact, 12.0, room));
            }
            lowest = lowest.max(y);
        }
        self.y = lowest + 16;
    }

    /// The names of the files in bold letters of a size, in one line or two.
    fn titles(&self, size: f64, room: f64) -> Vec<Vec<String>> {
        let titles = self.files.iter().map(|file| &file.title);
        titles
            .map(|title| font::wrap(title, size * font::BOLD, room, 2))
            .collect()
    }

    /// The numbers of the first pages of some rows.
    fn labels(&mut self) {
        let (pages, height) = self.scale.row();
        // Files may start at different pages; then the numbers are the first one's.
        let Some(file) = self.files.first() else {
            return;
        };
        let first = u64::from(file.range().0);
        let most = self.files.iter().map(DrawnFile::pages).max().unwrap_or(1);
        let rows = u64::from(most.div_ceil(pages));
        let mut each = 1;
        while each * i64::from(height) < 40 {
            each = i64::from(pages::next(each as u32));
        }
        let x = PADDING + self.labels - 8;
        for row in (0..rows).step_by(each as usize) {
            let y = self.y + row as i32 * height + 9;
            let number = text::thousands(first + row * u64::from(pages));
            self.put(format_args!(
                "<text class=\"n e {FAINT}\" x=\"{x}\" y=\"{y}\">{number}</text>\n"
            ));
        }
    }

    /// A map of cells.
    fn cells(&mut self, f: usize, grid: Grid, (x, y): (i32, i32)) {
        let file = &self.files[f];
        let paths = pages::draw(file, grid, &mut self.kinds);
        let middle = f64::from(grid.size) / 2.0;
        self.put(format_args!(
            "<g class=\"m\" transform=\"translate({x} {})\" stroke-width=\"{}\">\n",
            f64::from(y) + middle,
            grid.size
        ));
        let mut owner = None;
        for ((of, level), runs) in paths.base {
            if owner != Some(of) {
                self.begin_owner(f, of, owner.is_some());
                owner = Some(of);
            }
            let colour = self.colour(f, of);
            let full = level == LEVELS;
            let fill = (u32::from(level) * 255 / u32::from(LEVELS)) as u8;
            self.path(if full { colour } else { colour.filled(fill) }, runs);
        }
        if owner.is_some() {
            self.out += "</g>\n";
        }
        self.out += "</g>\n";
        let over = |runs: RunsPath, class: &str, width: i32, down: f64| {
            if runs.is_empty() {
                return String::new();
            }
            format!(
                "<path class=\"{class}\" transform=\"translate({x} {})\" stroke-width=\"{width}\" d=\"{}\"/>\n",
                f64::from(y) + down,
                runs.end()
            )
        };
        // Where there are lines between cells, what is seen of a cell is a pixel less.
        let lines = i32::from(grid.size >= pages::MARKED);
        let seen = f64::from(grid.size - lines);
        let (dot, notch) = (pages::dot(grid.size), pages::notch(grid.size));
        let marks = [
            over(paths.reserved, "x", grid.size, middle),
            over(paths.overflow, "v", grid.size, middle),
            over(paths.index, SHEET, notch, f64::from(notch) / 2.0),
            over(paths.trunk, SHEET, dot, seen / 2.0),
        ];
        self.put(format_args!("<g class=\"m\">\n{}</g>\n", marks.concat()));
        if !paths.interior.is_empty() {
            let frame = pages::frame(grid.size);
            let inside = f64::from(frame) / 2.0;
            self.put(format_args!(
                "<g class=\"m\" stroke-width=\"{frame}\"><path class=\"{WRITTEN}\" \
                 transform=\"translate({} {})\" d=\"{}\"/></g>\n",
                f64::from(x) + inside,
                f64::from(y) + inside,
                paths.interior
            ));
        }
        if lines > 0 {
            let height = grid.height(file.pages());
            let (right, bottom) = (grid.columns * grid.size, height);
            let mut lines = String::new();
            for at in (grid.size..=right).step_by(grid.size as usize) {
                let _ = write!(lines, "M{}.5 0v{bottom}", at - 1);
            }
            for at in (grid.size..=bottom).step_by(grid.size as usize) {
                let _ = write!(lines, "M0 {}.5h{right}", at - 1);
            }
            self.put(format_args!(
                "<g class=\"m\"><path class=\"{SHEET}\" transform=\"translate({x} {y})\" \
                 d=\"{lines}\"/></g>\n"
            ));
        }
    }

    /// A map of boxes with bytes in them.
    fn boxes(&mut self, f: usize, boxes: Boxes, (x, y): (i32, i32)) -> std::io::Result<()> {
        let paths = bytes::draw(&self.files[f], boxes, &mut self.kinds)?;
        self.put(format_args!(
            "<g class=\"m\" transform=\"translate({x} {}) scale({} 1)\" stroke-width=\"{}\">\n",
            f64::from(y) + f64::from(boxes.height) / 2.0,
            1.0 / f64::from(bytes::FINE),
            boxes.height
        ));
        for ((owner, tone), runs) in paths.bytes {
            let colour = self.tone(f, owner, tone);
            self.path(colour, runs);
        }
        self.put(format_args!(
            "</g>\n<g class=\"m\" transform=\"translate({x} {y})\">\n"
        ));
        for ((owner, edge), data) in paths.edges {
            let colour = match edge {
                Edge::Interior => INK,
                Edge::Free => self.colour(f, owner).mixed(INK, 0.7),
                _ => self.colour(f, owner),
            };
            let class = self.colours.class(colour);
            self.put(format_args!(
                "<path class=\"{class}{}\" d=\"{data}\"/>\n",
                edge.class()
            ));
        }
        if !paths.reserved.is_empty() {
            self.put(format_args!(
                "<path class=\"f\" d=\"{}\"/>\n",
                paths.reserved
            ));
        }
        self.put(format_args!(
            "</g>\n<g class=\"p\" transform=\"translate({x} {y})\">{}</g>\n",
            paths.names
        ));
        Ok(())
    }

    /// Starts a group of what one b-tree owns, with its name for who points at it.
    fn begin_owner(&mut self, f: usize, owner: Owner, ends: bool) {
        let end = if ends { "</g>\n" } else { "" };
        let name = match owner {
            Owner::Tree(tree) => text::shorten(&self.files[f].model.trees[tree].name, 60),
            Owner::Nobody(kind) => PageKind::ALL[usize::from(kind)].name().to_owned(),
            Owner::Left => "not asked for".to_owned(),
        };
        self.put(format_args!("{end}<g><title>{}</title>\n", escape(&name)));
    }

    /// The colour of a full page.
    fn colour(&self, f: usize, owner: Owner) -> Colour {
        match owner {
            Owner::Tree(tree) => self.palette.tree(&self.files[f].model.trees[tree].name),
            Owner::Nobody(kind) => self.palette.kind(PageKind::ALL[usize::from(kind)]),
            Owner::Left => INK.mixed(PAPER, 0.1),
        }
    }

    /// The colour of bytes.
    fn tone(&self, f: usize, owner: Owner, tone: Tone) -> Colour {
        let of = self.colour(f, owner);
        match tone {
            Tone::Cell => of,
            Tone::NextCell => of.mixed(PAPER, 0.68),
            Tone::Empty => of.mixed(PAPER, 0.16),
            Tone::Freeblock => INK.mixed(PAPER, 0.22),
            Tone::Header => INK,
            Tone::Pointers => INK.mixed(of, 0.45),
            Tone::Page if matches!(owner, Owner::Tree(_)) => of.mixed(PAPER, 0.65),
            Tone::Page => of,
            Tone::Wrong => self.palette.kind(PageKind::Orphan),
        }
    }

    fn path(&mut self, colour: Colour, runs: RunsPath) {
        let class = self.colours.class(colour);
        self.put(format_args!(
            "<path class=\"{class}\" d=\"{}\"/>\n",
            runs.end()
        ));
    }

    fn text(&mut self, (x, y): (i32, i32), class: &str, text: &str) {
        self.put(format_args!(
            "<text class=\"{class} {WRITTEN}\" x=\"{x}\" y=\"{y}\">{}</text>\n",
            escape(text)
        ));
    }

    fn put(&mut self, s: std::fmt::Arguments<'_>) {
        // Writing to a String succeeds.
        let _ = self.out.write_fmt(s);
    }
}

impl Picture {
    /// The picture as SVG.
    pub fn svg(&self, paper: Paper) -> String {
        let (title, height) = (escape(&self.title), self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{}\n</style>\n\
             <defs>{}{}</defs>\n\
             <rect class=\"{SHEET}\" width=\"{WIDTH}\" height=\"{height}\" \
             fill=\"currentColor\"/>\n{}</svg>\n",
            self.colours.style(paper),
            stripes("over", 45, WRITTEN, 0.5),
            stripes("kept", -45, SHEET, 1.0),
            self.content,
        )
    }

    /// The picture as PNG, on light or on dark paper.
    pub fn png(&self, paper: Paper) -> Result<Vec<u8>> {
        picture::png_of(&self.svg(paper))
    }
}

/// A pattern of stripes that lies over a colour.
fn stripes(id: &str, turned: i32, class: &str, opacity: f64) -> String {
    format!(
        "<pattern id=\"{id}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate({turned})\"><rect class=\"{class}\" width=\"2\" height=\"5\" \
         fill=\"currentColor\" fill-opacity=\"{opacity}\"/></pattern>"
    )
}

#[cfg(test)]
mod tests;
