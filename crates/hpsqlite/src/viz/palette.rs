//! Colours: which b-tree has which, in every view and picture.
//!
//! The largest b-trees have the first colours of [`COLOURS`]. Those are told apart by who sees red and
//! green alike, and the first eight also in grey, by how light they are; they were found by
//! searching for the largest differences in OKLab, seen with three kinds of colour blindness. A
//! b-tree keeps its colour from the opening of the file on, and when more files are opened: files
//! come in the order in which they were opened, and only what opening tells is asked for.

use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::map::PageKind;
use super::walk::Model;

/// A colour on light and on dark paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour {
    pub light: [u8; 3],
    pub dark: [u8; 3],
}

/// What pictures are drawn on.
pub const PAPER: Colour = colour(0xffffff, 0x14181c);
/// What is written, and marks on pages.
pub const INK: Colour = colour(0x1d2329, 0xe4e9ee);

/// The schema is in every file, and small.
const SCHEMA: Colour = colour(0x5b6472, 0x8993a2);

/// The largest b-trees' first.
const COLOURS: [Colour; 24] = [
    colour(0x1256b2, 0x3c7edd),
    colour(0xd27908, 0xf2973a),
    colour(0x3cd8a2, 0x5bf0b9),
    colour(0x860257, 0xb1417e),
    colour(0x118cb8, 0x42adda),
    colour(0xc1332f, 0xe26359),
    colour(0xb987fc, 0xccadfd),
    colour(0xe8cf23, 0xfae353),
    colour(0x7a5aec, 0x9788f7),
    colour(0x5c2986, 0x8553b2),
    colour(0xff95d9, 0xfebde5),
    colour(0xfe4f75, 0xfe8e9d),
    colour(0x6c380f, 0x975f39),
    colour(0xc14f9c, 0xe173bb),
    colour(0x93bb48, 0xacd563),
    colour(0xa0c6ff, 0xc4dbfe),
    colour(0x5e8e5d, 0x7daf7c),
    colour(0x56b6b9, 0x72d1d4),
    colour(0xe364db, 0xf291ea),
    colour(0x3525b5, 0x5861c9),
    colour(0x91404d, 0xba6470),
    colour(0x8b3f93, 0xb264b9),
    colour(0x0c7219, 0x3f9842),
    colour(0x46416b, 0x6c6895),
];

/// How much of a page's colour is left where the page is empty.
const EMPTY: f64 = 0.3;

const fn colour(light: u32, dark: u32) -> Colour {
    const fn bytes(rgb: u32) -> [u8; 3] {
        [(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8]
    }
    Colour {
        light: bytes(light),
        dark: bytes(dark),
    }
}

/// As CSS and SVG write it.
fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// `share` of one, the rest of the other.
fn mixed(one: [u8; 3], other: [u8; 3], share: f64) -> [u8; 3] {
    let mix = |a: u8, b: u8| f64::from(a) * share + f64::from(b) * (1.0 - share);
    [0, 1, 2].map(|i| mix(one[i], other[i]).round() as u8)
}

impl Colour {
    /// On light and on dark paper, as CSS and SVG write it.
    pub fn hex(self) -> (String, String) {
        (hex(self.light), hex(self.dark))
    }

    /// The colour of a page that is `fill` of 255 full: the emptier, the more of the paper is seen.
    /// The map of the page does the same: 0.3 + 0.7 * fill / 255 of the colour, the rest paper.
    pub fn filled(self, fill: u8) -> Colour {
        let share = EMPTY + (1.0 - EMPTY) * f64::from(fill) / 255.0;
        self.mixed(PAPER, share)
    }

    /// `share` of this colour, the rest of another.
    pub fn mixed(self, other: Colour, share: f64) -> Colour {
        Colour {
            light: mixed(self.light, other.light, share),
            dark: mixed(self.dark, other.dark, share),
        }
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (light, dark) = self.hex();
        let mut both = to.serialize_struct("Colour", 2)?;
        both.serialize_field("light", &light)?;
        both.serialize_field("dark", &dark)?;
        both.end()
    }
}

/// The colours of the b-trees of some files.
#[derive(Debug, Default)]
pub struct Palette {
    /// By the name in small letters.
    trees: HashMap<String, Colour>,
}

impl Palette {
    /// Gives colours to the b-trees of files, the same to those of one name.
    pub fn of(models: &[&Model]) -> Palette {
        let sizes = models.iter().map(|model| {
            let trees = model.trees.iter().skip(1);
            // Overflow pages are not known before the scan.
            trees.map(|tree| (tree.name.as_str(), tree.btree_pages() + tree.reserved))
        });
        Palette::of_sizes(sizes)
    }

    /// `files`: for each the names of its b-trees and their sizes.
    fn of_sizes<'a>(files: impl Iterator<Item = impl Iterator<Item = (&'a str, u64)>>) -> Palette {
        let mut names: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for trees in files {
            let mut trees: Vec<(&str, u64)> = trees.collect();
            trees.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
            let lower = trees.iter().map(|(name, _)| name.to_ascii_lowercase());
            names.extend(lower.filter(|name| seen.insert(name.clone())));
        }
        Palette {
            trees: names
                .into_iter()
                .enumerate()
                .map(|(i, name)| (name, nth(i)))
                .collect(),
        }
    }

    /// The colour of a b-tree.
    pub fn tree(&self, name: &str) -> Colour {
        let found = self.trees.get(&name.to_ascii_lowercase());
        found.copied().unwrap_or(SCHEMA)
    }

    /// The colour of a page that no b-tree owns.
    pub fn kind(&self, kind: PageKind) -> Colour {
        match kind {
            PageKind::Unknown => colour(0xe9ecef, 0x22282e),
            PageKind::FreeLeaf | PageKind::Reserved => colour(0xd3d8dd, 0x39424b),
            PageKind::FreeTrunk => colour(0xa4adb6, 0x5f6b77),
            PageKind::PointerMap => colour(0x7f7458, 0xa89b78),
            PageKind::LockByte => INK,
            PageKind::Orphan => colour(0xe6004c, 0xff5c8a),
            PageKind::TableLeaf
            | PageKind::TableInterior
            | PageKind::IndexLeaf
            | PageKind::IndexInterior
            | PageKind::Overflow => SCHEMA,
        }
    }

    /// The colour of a kind of page where colours tell kinds, not b-trees.
    pub fn kind_alone(&self, kind: PageKind) -> Colour {
        match kind {
            PageKind::TableLeaf => COLOURS[0],
            PageKind::IndexLeaf => COLOURS[1],
            PageKind::Overflow => COLOURS[2],
            PageKind::TableInterior => COLOURS[3],
            PageKind::IndexInterior => COLOURS[5],
            PageKind::Reserved => COLOURS[6],
            kind => self.kind(kind),
        }
    }
}

/// The colour of the b-tree in this place: after the last one they come again, with more and
/// more grey.
fn nth(i: usize) -> Colour {
    const GREY: Colour = colour(0x9aa3ac, 0x76808a);
    let around = (i / COLOURS.len()).min(3);
    COLOURS[i % COLOURS.len()].mixed(GREY, 1.0 - 0.25 * around as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn palette(files: &[&[(&'static str, u64)]]) -> Palette {
        Palette::of_sizes(files.iter().map(|trees| trees.iter().copied()))
    }

    #[test]
    fn the_largest_come_first_and_keep_their_colours_with_a_second_file() {
        let first: &[(&str, u64)] = &[("small", 3), ("Large", 900), ("middle", 40)];
        let one = palette(&[first]);
        assert_eq!(one.tree("Large"), COLOURS[0]);
        assert_eq!(one.tree("large"), COLOURS[0]);
        assert_eq!(one.tree("middle"), COLOURS[1]);
        let both = palette(&[first, &[("other", 5000), ("small", 4000)]]);
        for (name, _) in first {
            assert_eq!(both.tree(name), one.tree(name), "{name}");
        }
        assert_eq!(both.tree("other"), COLOURS[3]);
        assert_eq!(both.tree("sqlite_schema"), SCHEMA);
    }

    /// How light a colour is to the eye, 0 to 1.
    fn lightness([r, g, b]: [u8; 3]) -> f64 {
        let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
        (0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)).cbrt()
    }

    #[test]
    fn the_first_eight_are_told_apart_in_grey() {
        for one in [|c: &Colour| c.light, |c: &Colour| c.dark] {
            let mut all: Vec<f64> = COLOURS[..8].iter().map(|c| lightness(one(c))).collect();
            all.sort_by(f64::total_cmp);
            assert!(all.windows(2).all(|w| w[1] - w[0] > 0.02), "{all:?}");
        }
    }

    #[test]
    fn a_hundred_b_trees_have_different_colours() {
        let all: HashSet<Colour> = (0..96).map(nth).collect();
        assert_eq!(all.len(), 96);
        assert_eq!(nth(10_000).light.len(), 3);
    }

    #[test]
    fn fuller_pages_have_more_colour() {
        let full = COLOURS[0];
        assert_eq!(full.filled(255), full);
        let empty = full.filled(0);
        assert!(lightness(empty.light) > lightness(full.light));
        assert!(lightness(empty.dark) < lightness(full.dark));
        assert_eq!(
            serde_json::to_string(&full).unwrap(),
            r##"{"light":"#1256b2","dark":"#3c7edd"}"##
        );
    }
}
