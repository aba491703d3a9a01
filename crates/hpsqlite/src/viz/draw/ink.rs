//! Runs of equal cells as SVG paths, and the colours that they are drawn with.
//!
//! A run is a horizontal line that is as thick as a cell is high: `m12 0h36` after the one before
//! it in the same row. So a cell that differs from all around it takes about seven bytes, and a
//! million equal ones take a line for each row of cells.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::viz::palette::{Colour, INK, PAPER};

/// Which paper a picture is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    Light,
    Dark,
    /// Light or dark as the reader has it.
    Both,
}

/// Classes of what every picture has: the sheet, what is written on it, and what is of less weight.
pub const SHEET: &str = "c0";
pub const WRITTEN: &str = "c1";
pub const FAINT: &str = "c2";

/// The colours of a picture, each with the name of a class.
#[derive(Debug)]
pub struct Colours {
    classes: HashMap<Colour, usize>,
    list: Vec<Colour>,
}

impl Colours {
    pub fn new() -> Colours {
        let mut colours = Colours {
            classes: HashMap::new(),
            list: Vec::new(),
        };
        for colour in [PAPER, INK, INK.mixed(PAPER, 0.68)] {
            colours.class(colour);
        }
        colours
    }

    /// The class of a colour.
    pub fn class(&mut self, colour: Colour) -> String {
        let next = self.list.len();
        let class = *self.classes.entry(colour).or_insert(next);
        if class == next {
            self.list.push(colour);
        }
        format!("c{class}")
    }

    /// The rules of all classes.
    pub fn style(&self, paper: Paper) -> String {
        let rules = |dark: bool| {
            let mut css = String::new();
            for (class, colour) in self.list.iter().enumerate() {
                let (light, at_night) = colour.hex();
                // Writing to a String succeeds.
                let _ = write!(
                    css,
                    ".c{class}{{color:{}}}",
                    if dark { at_night } else { light }
                );
            }
            css
        };
        match paper {
            Paper::Light => rules(false),
            Paper::Dark => rules(true),
            Paper::Both => format!(
                "{}\n@media (prefers-color-scheme:dark){{{}}}",
                rules(false),
                rules(true)
            ),
        }
    }
}

/// A path of runs, in the order of rows.
#[derive(Debug, Default)]
pub struct RunsPath {
    data: String,
    /// Where the pen is.
    x: i32,
    y: i32,
    /// A run that may go on.
    open: Option<InkRun>,
    pub count: usize,
}

#[derive(Debug, Clone, Copy)]
struct InkRun {
    from: i32,
    to: i32,
    y: i32,
}

impl RunsPath {
    /// Adds `length` units from `x` on, to the last run if it ends there.
    pub fn add(&mut self, x: i32, y: i32, length: i32) {
        if let Some(open) = &mut self.open
            && (open.to, open.y) == (x, y)
        {
            open.to += length;
            return;
        }
        self.flush();
        self.open = Some(InkRun {
            from: x,
            to: x + length,
            y,
        });
    }

    fn flush(&mut self) {
        let Some(run) = self.open.take() else { return };
        let (dx, dy) = (run.from - self.x, run.y - self.y);
        let between = if dy < 0 { "" } else { " " };
        let _ = write!(self.data, "m{dx}{between}{dy}h{}", run.to - run.from);
        (self.x, self.y) = (run.to, run.y);
        self.count += 1;
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.open.is_none()
    }

    /// The path's `d`.
    pub fn end(mut self) -> String {
        self.flush();
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_run() {
        let mut runs = RunsPath::default();
        for x in [0, 3, 6, 12] {
            runs.add(x, 0, 3);
        }
        runs.add(0, 3, 3);
        assert_eq!(runs.end(), "m0 0h9m3 0h3m-15 3h3");
    }

    #[test]
    fn each_colour_is_said_once() {
        let mut colours = Colours::new();
        assert_eq!(colours.class(PAPER), SHEET);
        assert_eq!(colours.class(INK), WRITTEN);
        assert_eq!(colours.class(INK.filled(0)), "c3");
        let both = colours.style(Paper::Both);
        assert_eq!(both.matches(".c1{color:").count(), 2);
        let (light, dark) = both.split_once("@media").unwrap();
        assert_eq!(light.trim(), colours.style(Paper::Light));
        assert!(dark.contains(&colours.style(Paper::Dark)));
    }
}
