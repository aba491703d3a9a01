//! What is counted of the pages that a statement reads, as they come.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::viz::map::PageKind;
use crate::viz::walk::Model;

/// So many reads are kept in their order; all are counted.
pub const KEPT: usize = 1 << 22;

/// Numbers of reads so far.
#[derive(Debug, Default)]
pub struct ReadTally {
    /// The first reads, in order.
    pub kept: Vec<u32>,
    pub reads: u64,
    /// Reads of the page after the one read before.
    pub adjacent: u64,
    /// Reads of the page that was read before: no steps.
    pub again: u64,
    /// Pages of the file, each counted once.
    pub distinct: u64,
    /// Reads of pages that the file does not have, as it was looked at.
    pub elsewhere: u64,
    /// Pages that the file has.
    pages: u32,
    last: u32,
    /// Pages of the run that has not ended, and how many runs of each length have.
    run: u64,
    runs: BTreeMap<u64, u64>,
    /// A bit a page.
    seen: Vec<u64>,
}

/// How long the runs of adjacent pages were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunLengths {
    pub count: u64,
    pub median: u64,
    pub longest: u64,
}

/// What was read of one b-tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfTree {
    /// Its number in the file's list.
    pub tree: usize,
    /// Different pages of it that were read, and all that it has.
    pub read: u64,
    pub pages: u64,
}

/// Different pages of one kind that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfKind {
    pub letter: char,
    pub read: u64,
}

impl ReadTally {
    /// For a file of so many pages.
    pub fn new(pages: u32) -> ReadTally {
        ReadTally {
            pages,
            seen: vec![0; pages as usize / 64 + 1],
            ..ReadTally::default()
        }
    }

    /// Counts reads.
    pub fn add(&mut self, pages: impl Iterator<Item = u32>) {
        for page in pages {
            self.reads += 1;
            if self.kept.len() < KEPT {
                self.kept.push(page);
            }
            if self.last != 0 && self.last.checked_add(1) == Some(page) {
                self.adjacent += 1;
                self.run += 1;
            } else if self.reads > 1 && self.last == page {
                self.again += 1;
            } else {
                if self.run > 0 {
                    *self.runs.entry(self.run).or_default() += 1;
                }
                self.run = 1;
            }
            self.last = page;
            if (1..=self.pages).contains(&page) {
                let (word, bit) = (&mut self.seen[page as usize / 64], 1 << (page % 64));
                self.distinct += u64::from(*word & bit == 0);
                *word |= bit;
            } else {
                self.elsewhere += 1;
            }
        }
    }

    pub fn runs(&self) -> RunLengths {
        let mut runs = self.runs.clone();
        if self.run > 0 {
            *runs.entry(self.run).or_default() += 1;
        }
        let count = runs.values().sum();
        let mut before = 0;
        let median = runs.iter().find(|&(_, n)| {
            before += n;
            before * 2 >= count
        });
        RunLengths {
            count,
            median: median.map_or(0, |(&length, _)| length),
            longest: runs.last_key_value().map_or(0, |(&length, _)| length),
        }
    }

    fn read(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.seen.iter().enumerate();
        words.flat_map(|(i, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| i as u32 * 64 + bit)
        })
    }

    /// What was read of each b-tree, and of each kind of page; most first.
    pub fn by_owner(&self, model: &Model) -> (Vec<OfTree>, Vec<OfKind>) {
        let mut trees = vec![0; model.trees.len()];
        let mut kinds = [0; PageKind::ALL.len()];
        for page in self.read().filter(|&n| model.map.has(n)) {
            if let Some(n) = model.map.owner(page).and_then(|t| trees.get_mut(t)) {
                *n += 1;
            }
            kinds[model.map.kind(page) as usize] += 1;
        }
        let read = |&(_, n): &(usize, u64)| n > 0;
        let mut trees: Vec<OfTree> = trees
            .into_iter()
            .enumerate()
            .filter(read)
            .map(|(tree, read)| OfTree {
                tree,
                read,
                pages: model.trees[tree].pages(),
            })
            .collect();
        let mut kinds: Vec<OfKind> = kinds
            .into_iter()
            .enumerate()
            .filter(read)
            .map(|(kind, read)| OfKind {
                letter: PageKind::ALL[kind].letter(),
                read,
            })
            .collect();
        trees.sort_by_key(|t| std::cmp::Reverse(t.read));
        kinds.sort_by_key(|k| std::cmp::Reverse(k.read));
        (trees, kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_the_next_page_are_adjacent_and_make_runs() {
        let mut tally = ReadTally::new(100);
        tally.add([1, 5, 6, 7].into_iter());
        // A run goes on over the border of what comes at once.
        tally.add([8, 3, 2, 3, 200, 201].into_iter());
        assert_eq!(tally.reads, 10);
        // 5 6 7 8, 2 3, 200 201
        assert_eq!(tally.adjacent, 5);
        // 1 2 3 5 6 7 8
        assert_eq!(tally.distinct, 7);
        assert_eq!(tally.elsewhere, 2);
        let runs = tally.runs();
        assert_eq!((runs.count, runs.median, runs.longest), (5, 2, 4));
        assert_eq!(tally.kept.len(), 10);
        assert_eq!(runs.count, tally.reads - tally.adjacent);
    }

    #[test]
    fn a_page_read_again_at_once_does_not_end_a_run() {
        let mut tally = ReadTally::new(100);
        tally.add([5, 6, 6].into_iter());
        tally.add([6, 7, 3, 3].into_iter());
        assert_eq!((tally.reads, tally.adjacent, tally.again), (7, 2, 3));
        let runs = tally.runs();
        assert_eq!((runs.count, runs.longest), (2, 3));
        assert_eq!(runs.count, tally.reads - tally.adjacent - tally.again);
    }

    #[test]
    fn pages_that_the_file_does_not_have_are_elsewhere() {
        let mut tally = ReadTally::new(100);
        tally.add([0, 1, 100, 101, 127, 128, u32::MAX].into_iter());
        assert_eq!((tally.distinct, tally.elsewhere), (2, 5));
        assert_eq!(tally.read().collect::<Vec<_>>(), [1, 100]);
    }

    #[test]
    fn nothing_read_is_no_run() {
        let runs = ReadTally::new(0).runs();
        assert_eq!((runs.count, runs.median, runs.longest), (0, 0, 0));
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_is_counted() {
        let mut tally = ReadTally::new(10);
        tally.add((0..KEPT as u32 + 10).map(|n| n % 10 + 1));
        assert_eq!(tally.kept.len(), KEPT);
        assert_eq!(tally.reads, KEPT as u64 + 10);
        assert_eq!(tally.distinct, 10);
    }
}
