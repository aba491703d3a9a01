//! What the page shows of a file as a whole.

use std::sync::Arc;

use axum::response::Response;
use serde::Serialize;

use super::answer::{Answer, NOBODY, json};
use super::files::Files;
use super::refusal::Refusal;
use crate::text;
use crate::viz::advice::Advice;
use crate::viz::device::Device;
use crate::viz::figures::Figures;
use crate::viz::file::Header;
use crate::viz::map::PageKind;
use crate::viz::numbers::{Numbers, Whole};
use crate::viz::palette::{Colour, Palette};
use crate::viz::tree::{Tree, TreeRole};
use crate::viz::wal;
use crate::viz::walk::Model;

#[derive(Serialize)]
struct FileSummary<'a> {
    title: String,
    path: String,
    header: &'a Header,
    bytes: u64,
    pages: u32,
    page_size: u32,
    usable: usize,
    notes: Vec<String>,
    /// In the order of their numbers in the map.
    kinds: Vec<KindFacts>,
    trees: Vec<TreeInSummary<'a>>,
    whole: Option<&'a Whole>,
    advice: &'a [Advice],
    device: Device,
    problem_count: u64,
    wal: Option<wal::Facts>,
    scanned: bool,
}

#[derive(Serialize)]
struct KindFacts {
    letter: char,
    name: &'static str,
    colour: Colour,
}

#[derive(Serialize)]
struct TreeInSummary<'a> {
    name: &'a str,
    /// What it is for, where SQLite made its name.
    title: String,
    table: &'a str,
    role: TreeRole,
    root: u32,
    sql: &'a str,
    pages: u64,
    depth: usize,
    colour: Colour,
    numbers: Option<&'a Numbers>,
}

impl<'a> TreeInSummary<'a> {
    fn of(
        t: usize,
        model: &Model,
        tree: &'a Tree,
        palette: &Palette,
        figures: Option<&'a Figures>,
    ) -> TreeInSummary<'a> {
        TreeInSummary {
            name: &tree.name,
            title: model.title(t),
            table: &tree.table,
            role: tree.role,
            root: tree.root,
            sql: &tree.sql,
            pages: tree.pages(),
            depth: tree.levels.len(),
            colour: palette.tree(&tree.name),
            numbers: figures.and_then(|figures| figures.trees.get(t)),
        }
    }
}

/// All of it.
pub fn of(files: &Files, f: usize) -> Answer<Response> {
    let file = files.get(f)?;
    let all = files.all();
    // Each file is locked once: to lock it twice may wait for the scan, which waits for us.
    let models: Vec<_> = all.iter().map(|(_, opened)| opened.model()).collect();
    let palette = Palette::of(&models.iter().map(|model| &**model).collect::<Vec<_>>());
    let place = all
        .iter()
        .position(|(_, opened)| Arc::ptr_eq(opened, &file));
    let model = place
        .and_then(|i| models.get(i))
        .ok_or_else(|| Refusal::not_found("the file was opened anew"))?;
    let figures = file.figures();
    let image = &model.image;
    let kind = |kind: &PageKind| KindFacts {
        letter: kind.letter(),
        name: kind.name(),
        colour: palette.kind_alone(*kind),
    };
    let summary = FileSummary {
        title: files.title(f),
        path: image.path.to_string_lossy().into_owned(),
        header: &image.header,
        bytes: image.bytes,
        pages: image.pages,
        page_size: image.header.page_size,
        usable: model.usable(),
        notes: notes(&image.notes, model.trees.len()),
        kinds: PageKind::ALL.iter().map(kind).collect(),
        trees: (0..)
            .zip(&model.trees)
            .map(|(t, tree)| TreeInSummary::of(t, model, tree, &palette, figures))
            .collect(),
        whole: figures.map(|figures| &figures.whole),
        advice: figures.map_or(&[], |figures| &figures.advice),
        device: files.device,
        problem_count: model.problems.count,
        wal: image.wal.as_ref().map(wal::Wal::facts),
        scanned: model.scanned,
    };
    json(&summary)
}

/// What is to be known of the file, and that the map cannot tell so many b-trees apart.
fn notes(of_file: &[String], trees: usize) -> Vec<String> {
    let mut notes = of_file.to_vec();
    let most = usize::from(NOBODY);
    if trees > most {
        notes.push(format!(
            "There are {} tables and indexes. The map shows the pages of the first {} as theirs, and \
             those of the others as nobody's; all else is complete.",
            text::thousands(trees as u64),
            text::thousands(most as u64)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_b_trees_than_the_map_has_numbers_for_are_told() {
        let known = ["A log.".to_owned()];
        assert_eq!(notes(&known, 65_535), known);
        let told = notes(&known, 65_536);
        assert_eq!((told.len(), &told[0]), (2, &known[0]));
        assert!(told[1].contains("65,536 tables"), "{told:?}");
        assert!(told[1].contains("the first 65,535 as"), "{told:?}");
    }
}
