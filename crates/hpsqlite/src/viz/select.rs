//! What of a file is asked for: `--only` and `--pages`.

use anyhow::{Result, anyhow, bail};

use super::walk::Model;
use crate::text;

/// A range of pages as a person gives it: `7`, `7-20`, `7-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub first: u32,
    pub last: u32,
}

impl std::str::FromStr for Range {
    type Err = String;

    fn from_str(s: &str) -> Result<Range, String> {
        let number = |s: &str| s.trim().replace(',', "").parse::<u32>().ok();
        let range = match s.split_once('-') {
            None => number(s).map(|n| (n, n)),
            Some((first, "")) => number(first).map(|first| (first, u32::MAX)),
            Some((first, last)) => number(first).zip(number(last)),
        };
        match range {
            Some((first, last)) if first > 0 && first <= last => Ok(Range { first, last }),
            _ => Err("pages are given as 7, 7-20 or 7-, the first is 1".to_owned()),
        }
    }
}

/// The part of a file that is asked for.
#[derive(Debug)]
pub struct Selection {
    /// By b-tree, whether it is wanted; None: all, and pages of none as well.
    trees: Option<Vec<bool>>,
    pub pages: Option<Range>,
}

impl Selection {
    /// Finds the b-trees that are named; a table's name does not stand for its indexes.
    pub fn new(model: &Model, only: &[String], pages: Option<Range>) -> Result<Selection> {
        if let Some(range) = pages
            && !model.map.has(range.first)
        {
            bail!(
                "there is no page {}: the last one is {}",
                text::thousands(range.first.into()),
                text::thousands(model.map.pages().into())
            );
        }
        let mut trees = vec![false; model.trees.len()];
        for name in only {
            let named = |t: &super::tree::Tree| t.name.eq_ignore_ascii_case(name);
            let t = model.trees.iter().position(named);
            // What is shown in place of a name is one as well.
            let titled = || (0..model.trees.len()).find(|&t| model.title(t) == *name);
            let t = t.or_else(titled);
            let t = t.ok_or_else(|| anyhow!("there is no table or index {name:?}"))?;
            trees[t] = true;
        }
        Ok(Selection {
            trees: (!only.is_empty()).then_some(trees),
            pages,
        })
    }

    pub fn has_tree(&self, t: usize) -> bool {
        self.trees.as_ref().is_none_or(|trees| trees[t])
    }

    /// Whether pages that no b-tree owns are asked for.
    pub fn has_nobody(&self) -> bool {
        self.trees.is_none()
    }

    /// The pages that are asked for, as ranges.
    pub fn ranges(&self, model: &Model) -> Vec<(u32, u32)> {
        let (first, last) = match self.pages {
            Some(range) => (range.first, range.last.min(model.map.pages())),
            None => (1, model.map.pages()),
        };
        let Some(trees) = &self.trees else {
            return vec![(first, last)];
        };
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for n in first..=last {
            if !model.map.owner(n).is_some_and(|t| trees[t]) {
                continue;
            }
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == n => *last = n,
                _ => ranges.push((n, n)),
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_pages() {
        let range = |s: &str| s.parse::<Range>().ok().map(|r| (r.first, r.last));
        assert_eq!(range("7"), Some((7, 7)));
        assert_eq!(range("7-20"), Some((7, 20)));
        assert_eq!(range("1,000-"), Some((1000, u32::MAX)));
        for wrong in ["", "-", "0", "0-4", "5-4", "x", "1-2-3", "-3"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
