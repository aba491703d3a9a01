//! What a text in the search box may mean: a page, a row, an entry of an index, a b-tree.
//!
//! ```text
//! 12, 1,234, page 12        a page; also the rows with that rowid
//! rowid 12                  rows
//! orders 12, orders rowid 12    the row of that table
//! by_name Anna              the first entry of that index that starts with the value
//! ord                       b-trees whose name contains it
//! ```
//!
//! Only what is there is found: each row is looked up, which takes some pages a table.

use std::io;

use serde::Serialize;

use crate::text::thousands;
use crate::viz::ask::{PathTarget, WayDown};
use crate::viz::columns;
use crate::viz::record::RecordValue;
use crate::viz::tree::{Tree, TreeRole};
use crate::viz::walk::Model;

/// So many b-trees are found by their names.
const NAMES: usize = 50;
/// In so many tables a rowid is looked for if none is named.
const TABLES: usize = 100;
/// A text with more bytes means nothing.
const LONGEST: usize = 1000;

/// Something that a text may mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub what: &'static str,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The b-tree's place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<usize>,
    /// Of a row its place in the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
}

/// What `text` may mean, the likeliest first.
pub fn find(model: &Model, text: &str) -> io::Result<Vec<Found>> {
    let text = text.trim();
    let mut found = Vec::new();
    if text.is_empty() || text.len() > LONGEST {
        return Ok(found);
    }
    if let Some(n) = number(without(text, "page").unwrap_or(text)) {
        found.extend(u32::try_from(n).ok().and_then(|n| page(model, n)));
    }
    if let Some(rowid) = number(without(text, "rowid").unwrap_or(text)) {
        let tables = model.trees.iter().enumerate();
        let tables = tables.filter(|(_, tree)| tree.role == TreeRole::Table);
        for (t, _) in tables.take(TABLES) {
            found.extend(row(model, t, rowid)?);
        }
    }
    let named = model.trees.iter().enumerate();
    let named = named.filter_map(|(t, tree)| Some((t, without(text, &tree.name)?)));
    for (t, rest) in named.take(TABLES) {
        found.extend(within(model, t, rest)?);
    }
    found.extend(names(model, text));
    Ok(found)
}

/// What comes after a word, if the text begins with it.
fn without<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let goes_on = rest.starts_with(|c: char| c.is_whitespace() || c == ':' || c == '#');
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ':' || c == '#');
    (start.eq_ignore_ascii_case(word) && goes_on && !rest.is_empty()).then_some(rest)
}

/// A number as people write it: `1234`, `1,234`, `#1234`.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_start_matches('#').replace(',', "");
    digits.parse().ok()
}

fn page(model: &Model, n: u32) -> Option<Found> {
    let whose = model.owner(n).map(|tree| format!(" of {}", tree.name));
    model.map.has(n).then(|| Found {
        what: "page",
        label: format!(
            "page {}: {}{}",
            thousands(n.into()),
            model.map.kind(n).name(),
            whose.unwrap_or_default()
        ),
        page: Some(n),
        tree: model.map.owner(n),
        cell: None,
    })
}

/// A row by its number.
fn row(model: &Model, t: usize, rowid: i64) -> io::Result<Option<Found>> {
    let way = model.way(t, &PathTarget::Rowid(rowid), &[])?;
    let label = || format!("row {rowid} of {}", model.trees[t].name);
    Ok(way.ok().and_then(|way| at_end(way, t, label)))
}

/// Where a way ends, if what it leads to is there.
fn at_end(way: WayDown, t: usize, label: impl FnOnce() -> String) -> Option<Found> {
    let (cell, page) = (way.cell?, way.pages.last().copied()?);
    Some(Found {
        what: "row",
        label: format!("{}: on page {}", label(), thousands(page.into())),
        page: Some(page),
        tree: Some(t),
        cell: Some(cell),
    })
}

/// A row of a table, or the first entry of an index with a value.
fn within(model: &Model, t: usize, text: &str) -> io::Result<Option<Found>> {
    let tree = &model.trees[t];
    if matches!(tree.role, TreeRole::Table | TreeRole::Schema) {
        return match number(without(text, "rowid").unwrap_or(text)) {
            Some(rowid) => row(model, t, rowid),
            None => Ok(None),
        };
    }
    // Where the order of the key is not known nothing can be found in it.
    let Some(order) = model.columns(t).and_then(|c| columns::order(&c)).ok() else {
        return Ok(None);
    };
    let keys = match PathTarget::key(text) {
        Ok(PathTarget::Key(key)) => vec![key],
        _ => values(text).into_iter().map(|value| vec![value]).collect(),
    };
    for key in keys {
        let way = model.way(t, &PathTarget::Key(key), &order)?;
        let label = || format!("{text} in {}", tree.name);
        if let Some(found) = way.ok().and_then(|way| at_end(way, t, label)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The values that a text may stand for.
fn values(text: &str) -> Vec<RecordValue> {
    let integer = text.parse().ok().map(RecordValue::Integer);
    let real = text.parse().ok().filter(|r: &f64| r.is_finite());
    let null = text
        .eq_ignore_ascii_case("null")
        .then_some(RecordValue::Null);
    let quoted = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    let plain = quoted.map_or_else(|| text.to_owned(), |text| text.replace("''", "'"));
    let all = [integer, real.map(RecordValue::Real), null];
    let all = all.into_iter().flatten().filter(|_| quoted.is_none());
    all.chain([RecordValue::Text(plain)]).collect()
}

/// B-trees by a part of their names, those first that start with it.
fn names(model: &Model, text: &str) -> Vec<Found> {
    let text = text.to_lowercase();
    let place = |tree: &Tree| tree.name.to_lowercase().find(&text);
    let named = model.trees.iter().enumerate();
    let mut named: Vec<_> = named
        .filter_map(|(t, tree)| Some((place(tree)?, tree.name.len(), t)))
        .collect();
    named.sort_unstable();
    let one = |&(_, _, t): &(usize, usize, usize)| {
        let tree = &model.trees[t];
        let pages = tree.pages();
        let s = if pages == 1 { "" } else { "s" };
        Found {
            what: "tree",
            label: format!(
                "{}: {}, {} page{s}",
                tree.name,
                tree.role.name(),
                thousands(pages)
            ),
            page: Some(tree.root),
            tree: Some(t),
            cell: None,
        }
    };
    named.iter().take(NAMES).map(one).collect()
}
