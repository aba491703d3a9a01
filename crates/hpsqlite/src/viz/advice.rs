//! What may be done about a file, in words; nothing where nothing is worth doing.

use std::fmt;

use serde::Serialize;

use super::numbers::{Numbers, Whole};
use super::tree::Role;
use super::walk::Model;
use crate::text;

/// Below so many leaves nothing is said of a b-tree.
const SMALL: u64 = 64;
/// So many b-trees are named for one reason, the largest; the others are counted.
const NAMED: usize = 6;
/// Share of a b-tree's steps that jump from which it is called scattered.
const SCATTERED: f64 = 0.2;
/// Frames that SQLite lets come together before it begins a checkpoint by itself.
const CHECKPOINT: u64 = 1000;

/// A sentence or two, in parts so that a view can make links of b-trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Advice(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Part {
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
        self.0.push(Part::Text(text.into()));
        self
    }

    fn tree(mut self, numbers: &[Numbers], tree: usize) -> Advice {
        let name = numbers[tree].name.clone();
        self.0.push(Part::Tree { tree, name });
        self
    }

    /// `a`, `a and b`, `a, b and others`.
    fn trees(mut self, numbers: &[Numbers], trees: &[usize], more: bool) -> Advice {
        for (i, &tree) in trees.iter().enumerate() {
            let last = i + 1 == trees.len() && !more;
            self = match i {
                0 => self,
                _ if last => self.text(" and "),
                _ => self.text(", "),
            };
            self = self.tree(numbers, tree);
        }
        if more { self.text(" and others") } else { self }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Tree { name, .. } => f.write_str(name),
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
    let reasons: [Reason; 3] = [
        Reason {
            applies: |n| n.order.scatter > SCATTERED,
            say: scattered,
            others: "are scattered as well",
        },
        Reason {
            applies: |n| n.leaf_fill < 0.6,
            say: half_empty,
            others: "have leaves that are less than 60 % full as well",
        },
        Reason {
            applies: |n| n.overflow_pages * 2 > n.pages,
            say: overflow,
            others: "have more overflow pages than others as well",
        },
    ];
    for reason in reasons {
        let concerned: Vec<usize> = trees
            .iter()
            .copied()
            .filter(|&t| (reason.applies)(&numbers[t]))
            .collect();
        let named = concerned.iter().take(NAMED);
        advice.extend(named.map(|&t| (reason.say)(model, numbers, t)));
        let more = concerned.len().saturating_sub(NAMED);
        if more > 0 {
            let what = if more == 1 { "b-tree" } else { "b-trees" };
            advice.push(Advice::new().text(format!(
                "{} smaller {what} {}.",
                text::thousands(more as u64),
                reason.others
            )));
        }
    }
    advice
}

/// Something that may be said of a b-tree.
struct Reason {
    applies: fn(&Numbers) -> bool,
    say: fn(&Model, &[Numbers], usize) -> Advice,
    others: &'static str,
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

/// That a b-tree is scattered, and why: what the pages after its leaves are, where a step jumps.
fn scattered(model: &Model, numbers: &[Numbers], t: usize) -> Advice {
    let tree = &model.trees[t];
    let mut others = vec![0u64; model.trees.len()];
    for pair in tree.leaves.windows(2) {
        let after = pair[0] + 1;
        if pair[1] != after
            && model.map.has(after)
            && let Some(owner) = model.map.owner(after)
            && owner != t
        {
            others[owner] += 1;
        }
    }
    let order = &numbers[t].order;
    let jumps = order.jumps().max(1);
    let mut between: Vec<usize> = (0..others.len())
        .filter(|&o| others[o] * 20 > jumps)
        .collect();
    between.sort_by_key(|&o| std::cmp::Reverse(others[o]));
    let foreign: u64 = others.iter().sum();
    let requests = text::thousands(numbers[t].scan_leaves.requests);
    let advice = Advice::new().tree(numbers, t).text(format!(
        " is scattered: {:.0} % of the steps between its leaves jump, so a cold scan reads it in \
         {requests} pieces; ",
        100.0 * order.scatter
    ));
    let advice = if order.backward_jumps * 4 > jumps {
        advice.text("keys came in no order, so pages were split wherever a key belonged")
    } else if foreign * 2 > jumps && !between.is_empty() {
        let some = &between[..between.len().min(4)];
        let advice = advice.text("it grew together with ");
        advice.trees(numbers, some, between.len() > some.len())
    } else {
        advice.text("free pages were used again, or rows grew after they were written")
    };
    advice.text(". VACUUM puts it in order.")
}

fn half_empty(_: &Model, numbers: &[Numbers], t: usize) -> Advice {
    let this = &numbers[t];
    let advice = Advice::new()
        .text("The leaves of ")
        .tree(numbers, t)
        .text(format!(
            " are {:.0} % full: entries were deleted, or came in no order so that full pages were \
             split in two. ",
            100.0 * this.leaf_fill
        ));
    let by_name = this.role == Role::Index && !this.name.starts_with("sqlite_autoindex");
    let advice = if by_name {
        advice.text("REINDEX ").tree(numbers, t).text(" or VACUUM")
    } else {
        advice.text("VACUUM")
    };
    advice.text(" fills them.")
}

fn overflow(_: &Model, numbers: &[Numbers], t: usize) -> Advice {
    let this = &numbers[t];
    Advice::new()
        .text(format!(
            "{} of the {} pages of ",
            text::thousands(this.overflow_pages),
            text::thousands(this.pages)
        ))
        .tree(numbers, t)
        .text(format!(
            " are overflow pages, in chains of up to {}: what does not fit into a row's leaf. Larger \
             pages hold more of a row; large columns in a table of their own leave the other \
             columns close together.",
            text::thousands(this.overflow.longest)
        ))
}
