//! `--json`: the whole model, for scripts.
//!
//! ```text
//! format, version     "hpsqlite-viz" and 1; a change that breaks readers makes it 2
//! tool                version of hpsqlite
//! file                path, bytes, pages, header (as the file has it), wal, notes
//! kinds               letter of the map -> what such a page is
//! device              what cold scans are estimated for
//! trees               the schema first: numbers (see numbers.rs), sql, leaves in the order of keys
//! whole               the numbers of the file
//! advice              sentences
//! problems            page (0: the file) and what is wrong; problem_count counts all of them
//! map                 ranges: first and last page numbers; then, of each page of them in this order:
//!                     kind (one letter a page), owner (place in trees, -1 nobody), parent (see
//!                     map.rs), fill (0 to 255)
//! pages               with --pages: parts, cells, records and neighbours of each (see ask.rs)
//! ```
//!
//! Integers of records and rowids beyond 2^53 are texts: many readers would round them.
//!
//! With `--only` there are the named b-trees and their pages; `owner` counts in `trees` as they
//! are in this file. The file is written as it goes, so a large one needs no memory.

use std::cell::RefCell;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::advice::Advice;
use super::device::Device;
use super::figures::Figures;
use super::file::Header;
use super::map::{PageKind, Problem};
use super::numbers::{Numbers, Whole};
use super::select::Selection;
use super::wal;
use super::walk::Model;

const FORMAT: &str = "hpsqlite-viz";
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    tool: &'static str,
    file: FileFacts<'a>,
    kinds: std::collections::BTreeMap<char, &'static str>,
    device: Device,
    trees: Vec<TreeInJson<'a>>,
    whole: &'a Whole,
    advice: Vec<String>,
    problem_count: u64,
    problems: Vec<&'a Problem>,
    map: MapFacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Sequence<'a>>,
}

#[derive(Serialize)]
struct FileFacts<'a> {
    path: String,
    bytes: u64,
    pages: u32,
    header: &'a Header,
    wal: Option<WalFacts>,
    notes: &'a [String],
    changed: Option<&'static str>,
}

#[derive(Serialize)]
struct WalFacts {
    #[serde(flatten)]
    facts: wal::Facts,
    /// Pages that a checkpoint would write.
    pages_to_checkpoint: Vec<u32>,
}

#[derive(Serialize)]
struct TreeInJson<'a> {
    #[serde(flatten)]
    numbers: &'a Numbers,
    sql: &'a str,
    leaves: &'a [u32],
}

#[derive(Serialize)]
struct MapFacts<'a> {
    ranges: &'a [(u32, u32)],
    kind: String,
    owner: Sequence<'a>,
    parent: Sequence<'a>,
    fill: Sequence<'a>,
}

/// Values that are made while they are written.
struct Sequence<'a>(RefCell<Box<dyn Iterator<Item = Item> + 'a>>);

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Number(i64),
    Page(Box<super::ask::Page>),
    Failed { number: u32, error: String },
}

impl<'a> Sequence<'a> {
    fn new(items: impl Iterator<Item = Item> + 'a) -> Sequence<'a> {
        Sequence(RefCell::new(Box::new(items)))
    }
}

impl Serialize for Sequence<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&mut *self.0.borrow_mut())
    }
}

/// Writes the model, or what is selected of it.
pub fn write(
    model: &Model,
    figures: &Figures,
    selection: &Selection,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let Figures {
        trees: all,
        whole,
        advice,
        ..
    } = figures;
    let image = &model.image;
    let chosen: Vec<usize> = (0..model.trees.len())
        .filter(|&t| selection.has_tree(t))
        .collect();
    let ranges = selection.ranges(model);
    let numbers = || ranges.iter().flat_map(|&(first, last)| first..=last);
    let place = |t: Option<usize>| t.and_then(|t| chosen.binary_search(&t).ok());
    let number = |n: usize| Item::Number(n as i64);
    let page = |n: u32| match model.look_at(n) {
        Ok(page) => Item::Page(Box::new(page)),
        Err(e) => Item::Failed {
            number: n,
            error: e.to_string(),
        },
    };
    let document = Document {
        format: FORMAT,
        version: VERSION,
        tool: env!("CARGO_PKG_VERSION"),
        file: FileFacts {
            path: image.path.to_string_lossy().into_owned(),
            bytes: image.bytes,
            pages: image.pages,
            header: &image.header,
            wal: image.wal.as_ref().map(|wal| WalFacts {
                facts: wal.facts(),
                pages_to_checkpoint: wal.to_checkpoint(),
            }),
            notes: &image.notes,
            changed: image.changed()?,
        },
        kinds: PageKind::ALL
            .iter()
            .map(|k| (k.letter(), k.name()))
            .collect(),
        device: figures.device,
        trees: chosen
            .iter()
            .map(|&t| TreeInJson {
                numbers: &all[t],
                sql: &model.trees[t].sql,
                leaves: &model.trees[t].leaves,
            })
            .collect(),
        whole,
        advice: advice.iter().map(Advice::to_string).collect(),
        problem_count: model.problems.count,
        problems: model.problems.found.iter().collect(),
        map: MapFacts {
            ranges: &ranges,
            kind: numbers().map(|n| model.map.kind(n).letter()).collect(),
            owner: Sequence::new(
                numbers().map(|n| Item::Number(place(model.map.owner(n)).map_or(-1, |t| t as i64))),
            ),
            parent: Sequence::new(numbers().map(|n| number(model.map.parent(n) as usize))),
            fill: Sequence::new(numbers().map(|n| number(usize::from(model.map.fill(n))))),
        },
        pages: selection
            .pages
            .is_some()
            .then(|| Sequence::new(numbers().map(page))),
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}
