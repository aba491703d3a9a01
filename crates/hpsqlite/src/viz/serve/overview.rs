//! What the page begins with: what is to be known of a file before one looks at anything in it.

use axum::response::Response;
use serde::Serialize;

use super::answer::{Answer, json};
use super::files::Opened;
use crate::viz::advice::Advice;
use crate::viz::figures::Figures;
use crate::viz::schema::{ForeignKey, Redundant, Statistics};
use crate::viz::walk::Model;

#[derive(Serialize)]
struct Overview<'a> {
    /// What matters most comes first.
    advice: &'a [Advice],
    /// None where the schema cannot be read.
    indexes: Option<Indexes<'a>>,
    statistics: Option<Statistics>,
}

#[derive(Serialize)]
struct Indexes<'a> {
    count: usize,
    redundant: Vec<Named<Redundant>>,
    missing: Vec<Named<&'a ForeignKey>>,
    /// All that there are: without any, none is missing an index.
    foreign_keys: usize,
}

/// Something about a b-tree, with its place in the list of b-trees.
#[derive(Serialize)]
struct Named<T> {
    tree: usize,
    /// Its rows, and its bytes.
    entries: u64,
    bytes: u64,
    #[serde(flatten)]
    what: T,
}

/// All of it, once every page was read.
pub fn of(file: &Opened) -> Answer<Response> {
    let model = file.model();
    match file.figures() {
        Some(figures) => json(&overview(&model, figures)),
        None => json(&()),
    }
}

fn overview<'a>(model: &'a Model, figures: &'a Figures) -> Overview<'a> {
    let numbers = &figures.trees;
    let schema = model.schema();
    let named = |name: &str| numbers.iter().position(|n| n.name == name);
    Overview {
        advice: &figures.advice,
        statistics: schema.map(|s| s.statistics(|name| Some(numbers[named(name)?].entries))),
        indexes: schema.map(|schema| Indexes {
            count: schema.indexes.len(),
            redundant: with_trees(schema.redundant(), numbers, |r| &r.index),
            missing: with_trees(schema.missing(), numbers, |k| &k.table),
            foreign_keys: schema.foreign_keys.len(),
        }),
    }
}

fn with_trees<T>(
    all: Vec<T>,
    numbers: &[crate::viz::numbers::Numbers],
    name: impl Fn(&T) -> &str,
) -> Vec<Named<T>> {
    let named = all.into_iter().filter_map(|what| {
        let tree = numbers.iter().position(|n| n.name == name(&what))?;
        Some(Named {
            tree,
            entries: numbers[tree].entries,
            bytes: numbers[tree].bytes,
            what,
        })
    });
    named.collect()
}
