//! What may be done about a file, in words; nothing where nothing is worth doing.

use std::fmt;

use serde::Serialize;

use super::numbers::{Numbers, Whole};
use super::schema::{Schema, Statistics};
use super::tree::TreeRole;
use super::walk::Model;
use crate::text;

/// Below so many leaves nothing is said of a b-tree.
const SMALL: u64 = 64;
/// So many b-trees are named in one sentence, the largest; the others are counted.
const NAMED: usize = 6;
/// Share of its leaves' bytes that a b-tree uses below which they are called half empty.
const HALF_EMPTY: f64 = 0.6;
/// Share of a b-tree's steps that jump from which it is called scattered.
const SCATTERED: f64 = 0.2;
/// A table with fewer rows is read as quickly as an index is.
const FEW_ROWS: u64 = 1000;
/// Frames that SQLite lets come together before it begins a checkpoint by itself.
const CHECKPOINT: u64 = 1000;

/// A sentence or two, in parts so that a view can make links of b-trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Advice(Vec<AdvicePart>);

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum AdvicePart {
    Text(String),
    /// A b-tree, by its place in the list of b-trees.
    Tree {
        tree: usize,
        name: String,
    },
}

impl Advice {
    fn new() -> Advice {
        Advice(Vec::new())
    }

    fn text(mut self, text: impl Into<String>) -> Advice {
        self.0.push(AdvicePart::Text(text.into()));
        self
    }

    /// The same with b-trees called what they are for.
    pub fn titled(mut self, model: &Model) -> Advice {
        for part in &mut self.0 {
            if let AdvicePart::Tree { tree, name } = part {
                *name = model.title(*tree);
            }
        }
        self
    }

    fn tree(mut self, numbers: &[Numbers], tree: usize) -> Advice {
        let name = numbers[tree].name.clone();
        self.0.push(AdvicePart::Tree { tree, name });
        self
    }

    /// `a`, `a and b`, `a, b and 3 others`.
    fn trees(mut self, numbers: &[Numbers], trees: &[usize], more: usize) -> Advice {
        for (i, &tree) in trees.iter().enumerate() {
            let last = i + 1 == trees.len() && more == 0;
            self = match i {
                0 => self,
                _ if last => self.text(" and "),
                _ => self.text(", "),
            };
            self = self.tree(numbers, tree);
        }
        match more {
            0 => self,
            1 => self.text(" and 1 other"),
            _ => self.text(format!(" and {} others", text::thousands(more as u64))),
        }
    }

    /// The first of a list, and how many more there are.
    fn first(self, numbers: &[Numbers], trees: &[usize]) -> Advice {
        let some = &trees[..trees.len().min(NAMED)];
        self.trees(numbers, some, trees.len() - some.len())
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            AdvicePart::Text(text) => f.write_str(text),
            AdvicePart::Tree { name, .. } => f.write_str(name),
        })
    }
}

/// Everything that is worth saying, what concerns the file first.
pub fn of(model: &Model, numbers: &[Numbers], whole: &Whole) -> Vec<Advice> {
    let mut advice = Vec::new();
    advice.extend(vacuum(model, whole));
    advice.extend(checkpoint(model));
    let large = |t: &usize| numbers[*t].leaf_pages >= SMALL;
    let mut trees: Vec<usize> = (0..numbers.len()).filter(large).collect();
    trees.sort_by_key(|&t| std::cmp::Reverse(numbers[t].pages));
    let scattered = trees.iter().copied();
    let scattered: Vec<(usize, Cause, Vec<usize>)> = scattered
        .filter(|&t| numbers[t].order.scatter > SCATTERED)
        .map(|t| {
            let (cause, between) = why(model, numbers, t);
            (t, cause, between)
        })
        .collect();
    for cause in [Cause::Order, Cause::Together, Cause::Reuse] {
        let of: Vec<_> = scattered.iter().filter(|s| s.1 == cause).collect();
        match of[..] {
            [] => {}
            [(t, _, between)] => advice.push(is_scattered(numbers, *t, cause, between)),
            _ => {
                let all: Vec<usize> = of.iter().map(|s| s.0).collect();
                advice.push(are_scattered(numbers, &all, cause));
            }
        }
    }
    let half_empty = |n: &Numbers| n.leaf_fill < HALF_EMPTY;
    let overflow = |n: &Numbers| n.overflow_pages * 2 > n.pages;
    let those = |applies: &dyn Fn(&Numbers) -> bool| -> Vec<usize> {
        let all = trees.iter().copied();
        all.filter(|&t| applies(&numbers[t])).collect()
    };
    advice.extend(leaves_half_empty(numbers, &those(&half_empty)));
    advice.extend(mostly_overflow(numbers, &those(&overflow)));
    advice.into_iter().map(|a| a.titled(model)).collect()
}

/// What the schema gives reason for, what matters most first: foreign keys without an index, then
/// statistics, then indexes that are redundant.
pub fn of_schema(numbers: &[Numbers], schema: &Schema) -> Vec<Advice> {
    let mut advice = Vec::new();
    let named = |name: &str| numbers.iter().position(|n| n.name == name);
    let rows = |name: &str| named(name).map_or(0, |t| numbers[t].entries);
    let mut missing = schema.missing();
    missing.retain(|key| rows(&key.table) >= FEW_ROWS);
    missing.sort_by_key(|key| std::cmp::Reverse(rows(&key.table)));
    for key in missing {
        let Some(t) = named(&key.table) else { continue };
        let columns = key.columns.join(", ");
        advice.push(Advice::new().text("No index of ").tree(numbers, t).text(format!(
            " begins with its foreign key ({columns}): to delete or change a row of {} reads all of \
             its {} rows. An index on ({columns}) ends that.",
            key.parent,
            text::thousands(numbers[t].entries)
        )));
    }
    advice.extend(statistics(
        schema.statistics(|name| Some(numbers[named(name)?].entries)),
    ));
    for found in schema.redundant() {
        let (Some(t), Some(beside)) = (named(&found.index), named(&found.beside)) else {
            continue;
        };
        let why = match found.is_same {
            true => " has the same columns as ",
            false => " is the beginning of ",
        };
        advice.push(
            Advice::new()
                .text("The index ")
                .tree(numbers, t)
                .text(why)
                .tree(numbers, beside)
                .text(format!(
                    ", which does all that it does. To drop it gives back {} and makes writing quicker.",
                    text::bytes(numbers[t].bytes)
                )),
        );
    }
    advice
}

fn statistics(state: Statistics) -> Option<Advice> {
    let words = match state {
        Statistics::NotNeeded | Statistics::Fresh => return None,
        Statistics::Never => "ANALYZE has never run here: SQLite guesses how many rows an index \
                              finds. PRAGMA optimize, or ANALYZE, counts them."
            .to_owned(),
        Statistics::Stale { tables } => {
            let first = &tables[0];
            let rows = text::thousands(first.rows);
            let told = match first.then {
                Some(then) => format!(
                    "{} had {} rows when ANALYZE counted them and has {rows} now",
                    first.table,
                    text::thousands(then)
                ),
                None => format!(
                    "ANALYZE has not seen {}, which has {rows} rows",
                    first.table
                ),
            };
            let more = match tables.len() - 1 {
                0 => String::new(),
                n => format!(", and {n} more tables are not as they were"),
            };
            format!("The statistics are stale: {told}{more}. ANALYZE counts anew.")
        }
    };
    Some(Advice::new().text(words))
}

fn vacuum(model: &Model, whole: &Whole) -> Option<Advice> {
    let back = whole.vacuum_gives_back;
    if back == 0 || back * 20 <= whole.bytes {
        return None;
    }
    let size = u64::from(model.image.header.page_size);
    let free = whole.free_pages.saturating_sub(whole.reserved_pages) * size;
    let mut what = format!(
        "VACUUM would give back about {} of {}",
        text::bytes(back),
        text::bytes(whole.bytes)
    );
    if free > 0 {
        what += &format!("; {} of it are free pages", text::bytes(free.min(back)));
    }
    Some(Advice::new().text(what + "."))
}

fn checkpoint(model: &Model) -> Option<Advice> {
    let wal = model.image.wal.as_ref()?;
    let waiting = u64::from(wal.committed - wal.copied);
    if waiting < 2 * CHECKPOINT {
        return None;
    }
    Some(Advice::new().text(format!(
        "{} committed frames of the write-ahead log wait for a checkpoint, which SQLite begins at {} \
         unless it is told otherwise: a reader that has been at work for long holds it back, a \
         transaction was that large, or checkpoints are switched off. PRAGMA \
         wal_checkpoint(TRUNCATE) runs one.",
        text::thousands(waiting),
        text::thousands(CHECKPOINT),
    )))
}

/// Why a b-tree is scattered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Keys came in no order.
    Order,
    /// It grew while others did.
    Together,
    /// Free pages were used again.
    Reuse,
}

/// Why a b-tree is scattered, and which others often lie behind its leaves where a step jumps.
fn why(model: &Model, numbers: &[Numbers], t: usize) -> (Cause, Vec<usize>) {
    let order = &numbers[t].order;
    let jumps = order.jumps().max(1);
    if order.backward_jumps * 4 > jumps {
        return (Cause::Order, Vec::new());
    }
    let mut others = vec![0u64; model.trees.len()];
    for pair in model.trees[t].leaves.windows(2) {
        let after = pair[0] + 1;
        if pair[1] != after
            && model.map.has(after)
            && let Some(owner) = model.map.owner(after)
            && owner != t
        {
            others[owner] += 1;
        }
    }
    let mut between: Vec<usize> = (0..others.len())
        .filter(|&o| others[o] * 20 > jumps)
        .collect();
    between.sort_by_key(|&o| std::cmp::Reverse(others[o]));
    if others.iter().sum::<u64>() * 2 > jumps {
        (Cause::Together, between)
    } else {
        (Cause::Reuse, Vec::new())
    }
}

/// That a b-tree is scattered; `between` are those that it grew together with.
fn is_scattered(numbers: &[Numbers], t: usize, cause: Cause, between: &[usize]) -> Advice {
    let this = &numbers[t];
    let advice = Advice::new().tree(numbers, t).text(format!(
        " is scattered: {:.0} % of the steps between its leaves jump, so a cold scan reads it in {} \
         pieces; ",
        100.0 * this.order.scatter,
        text::thousands(this.scan_leaves.requests)
    ));
    let advice = match cause {
        Cause::Order => {
            advice.text("keys came in no order, so pages were split wherever a key belonged")
        }
        Cause::Together if between.is_empty() => advice.text("it grew together with many others"),
        Cause::Together => {
            let some = &between[..between.len().min(4)];
            let advice = advice.text("it grew together with ");
            advice.trees(numbers, some, between.len() - some.len())
        }
        Cause::Reuse => {
            advice.text("free pages were used again, or rows grew after they were written")
        }
    };
    advice.text(". VACUUM puts it in order.")
}

/// The same of several that have one cause.
fn are_scattered(numbers: &[Numbers], trees: &[usize], cause: Cause) -> Advice {
    let range = |of: &dyn Fn(&Numbers) -> u64| {
        let all = || trees.iter().map(|&t| of(&numbers[t]));
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        if least == most {
            text::thousands(least)
        } else {
            format!("{} to {}", text::thousands(least), text::thousands(most))
        }
    };
    let share = range(&|n| (100.0 * n.order.scatter).round() as u64);
    let pieces = range(&|n| n.scan_leaves.requests);
    let why = match cause {
        Cause::Order => "keys came in no order, so pages were split wherever a key belonged",
        Cause::Together => "they grew at the same time, and took the pages of the file in turn",
        Cause::Reuse => "free pages were used again, or rows grew after they were written",
    };
    Advice::new().first(numbers, trees).text(format!(
        " are scattered: {share} % of the steps between their leaves jump, so a cold scan reads each \
         in {pieces} pieces; {why}. VACUUM puts them in order."
    ))
}

fn leaves_half_empty(numbers: &[Numbers], trees: &[usize]) -> Option<Advice> {
    let &first = trees.first()?;
    let advice = Advice::new()
        .text("The leaves of ")
        .first(numbers, trees)
        .text(match trees {
            [one] => format!(" are {:.0} % full", 100.0 * numbers[*one].leaf_fill),
            _ => format!(" are less than {:.0} % full", 100.0 * HALF_EMPTY),
        });
    let advice = advice
        .text(": entries were deleted, or came in no order so that full pages were split in two. ");
    let this = &numbers[first];
    let by_name = this.role == TreeRole::Index && !this.name.starts_with("sqlite_autoindex");
    let advice = match trees {
        [one] if by_name => advice
            .text("REINDEX ")
            .tree(numbers, *one)
            .text(" or VACUUM"),
        _ => advice.text("VACUUM"),
    };
    Some(advice.text(" fills them."))
}

fn mostly_overflow(numbers: &[Numbers], trees: &[usize]) -> Option<Advice> {
    if trees.is_empty() {
        return None;
    }
    let sum = |of: fn(&Numbers) -> u64| trees.iter().map(|&t| of(&numbers[t])).sum::<u64>();
    let longest = trees.iter().map(|&t| numbers[t].overflow.longest).max();
    let advice = Advice::new()
        .text(format!(
            "{} of the {} pages of ",
            text::thousands(sum(|n| n.overflow_pages)),
            text::thousands(sum(|n| n.pages))
        ))
        .first(numbers, trees)
        .text(format!(
            " are overflow pages, in chains of up to {}: what does not fit into a row's leaf. Larger \
             pages hold more of a row; large columns in a table of their own leave the other \
             columns close together.",
            text::thousands(longest.unwrap_or(0))
        ));
    Some(advice)
}
