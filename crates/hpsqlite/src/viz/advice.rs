//! What may be done about a file, in words, what saves most first; nothing where nothing is worth
//! doing.
//!
//! Each piece says what it saves. Bytes count as the time in which the device reads them, so that they
//! and the seconds of scans have one order. What concerns less than a hundredth of the file is not
//! said. Of a damaged file nothing is said but how to save it: whatever else would help writes to it.

use std::fmt;

use serde::Serialize;

use super::device::Device;
use super::map::PageKind;
use super::numbers::{Numbers, Whole};
use super::schema::{Schema, Statistics};
use super::tree::TreeRole;
use super::walk::Model;
use crate::text;

/// Below so many leaves nothing is said of a b-tree.
const SMALL: u64 = 64;
/// So many b-trees are named in one sentence, the largest; the others are counted.
const NAMED: usize = 6;
/// Nothing is said of what is a smaller share of the file.
const MATTERS: f64 = 0.01;
/// Leaves that are fuller were not split where a key belonged: that leaves room in both halves.
const FULL: f64 = 0.95;
/// The same of those of which a smaller share has room for one more entry: few large rows leave much
/// of a page empty, however they came.
const WITH_ROOM: f64 = 0.3;
/// Share of its leaves' bytes that a b-tree uses below which they are called half empty.
const HALF_EMPTY: f64 = 0.6;
/// Share of a b-tree's steps that jump from which it is called scattered.
const SCATTERED: f64 = 0.2;
/// What puts pages in order.
const IN_ORDER: &str =
    "VACUUM, or hpsqlite defrag while others use the file (PRAGMA hp_defrag), puts";
/// A table with fewer rows is read as quickly as an index is.
const FEW_ROWS: u64 = 1000;
/// Frames that SQLite lets come together before it begins a checkpoint by itself.
const CHECKPOINT: u64 = 1000;

/// A sentence or two, in parts so that a view can make links of b-trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Advice {
    parts: Vec<AdvicePart>,
    /// Seconds of reading that it saves.
    #[serde(skip)]
    saves: f64,
}

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
        Advice {
            parts: Vec::new(),
            saves: 0.0,
        }
    }

    /// The same, which saves so many seconds.
    fn saving(mut self, seconds: f64) -> Advice {
        self.saves = seconds;
        self
    }

    fn text(mut self, text: impl Into<String>) -> Advice {
        self.parts.push(AdvicePart::Text(text.into()));
        self
    }

    /// The same with b-trees called what they are for.
    pub fn titled(mut self, model: &Model) -> Advice {
        for part in &mut self.parts {
            if let AdvicePart::Tree { tree, name } = part {
                *name = model.title(*tree);
            }
        }
        self
    }

    fn tree(mut self, numbers: &[Numbers], tree: usize) -> Advice {
        let name = numbers[tree].name.clone();
        self.parts.push(AdvicePart::Tree { tree, name });
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
        self.parts.iter().try_for_each(|part| match part {
            AdvicePart::Text(text) => f.write_str(text),
            AdvicePart::Tree { name, .. } => f.write_str(name),
        })
    }
}

/// What advice follows from.
#[derive(Clone, Copy)]
struct AdviceFacts<'a> {
    model: &'a Model,
    numbers: &'a [Numbers],
    whole: &'a Whole,
    device: Device,
}

impl AdviceFacts<'_> {
    /// Whether so many bytes are enough of the file to be spoken of.
    fn matters(&self, bytes: u64) -> bool {
        bytes as f64 >= MATTERS * self.whole.bytes as f64
    }

    /// How long the device reads bytes that lie together.
    fn seconds(&self, bytes: u64) -> f64 {
        bytes as f64 / self.device.throughput
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.numbers.iter().position(|n| n.name == name)
    }
}

/// Everything that is worth saying, what saves most first.
pub fn of(
    model: &Model,
    numbers: &[Numbers],
    whole: &Whole,
    device: Device,
    schema: Option<&Schema>,
) -> Vec<Advice> {
    if model.problems.count > 0 {
        return vec![damaged(model.problems.count)];
    }
    let facts = AdviceFacts {
        model,
        numbers,
        whole,
        device,
    };
    // What saves the same stays in this order.
    let mut advice = schema.map_or(Vec::new(), |schema| of_schema(&facts, schema));
    advice.extend(of_pages(&facts));
    advice.sort_by(|a, b| b.saves.total_cmp(&a.saves));
    advice.into_iter().map(|a| a.titled(model)).collect()
}

/// What is to be done first about a file that is damaged, and instead of everything else.
fn damaged(problems: u64) -> Advice {
    Advice::new().text(format!(
        "The file is damaged: {} {} found. Restore the last backup that is whole. If there is none, \
         recover what can be read into a new file with SQLite's shell: sqlite3 FILE .recover | sqlite3 \
         NEW. Let no program write to the file before that, and do not VACUUM, REINDEX or ANALYZE it.",
        text::plural(problems, "problem", "problems"),
        if problems == 1 { "was" } else { "were" },
    ))
}

/// What pages and b-trees give reason for.
fn of_pages(facts: &AdviceFacts<'_>) -> Vec<Advice> {
    let numbers = facts.numbers;
    let mut advice = Vec::new();
    advice.extend(vacuum(facts));
    advice.extend(checkpoint(facts));
    let large = |t: &usize| numbers[*t].leaf_pages >= SMALL && facts.matters(numbers[*t].bytes);
    let mut trees: Vec<usize> = (0..numbers.len()).filter(large).collect();
    trees.sort_by_key(|&t| std::cmp::Reverse(numbers[t].pages));
    let scattered = trees.iter().copied();
    let scattered: Vec<(usize, Cause, Vec<usize>)> = scattered
        .filter(|&t| numbers[t].order.scatter > SCATTERED)
        .map(|t| {
            let (cause, between) = why(facts.model, numbers, t);
            (t, cause, between)
        })
        .collect();
    for cause in [Cause::Order, Cause::Together, Cause::Reuse] {
        let of: Vec<_> = scattered.iter().filter(|s| s.1 == cause).collect();
        match of[..] {
            [] => {}
            [(t, _, between)] => advice.push(is_scattered(facts, *t, cause, between)),
            _ => {
                let all: Vec<usize> = of.iter().map(|s| s.0).collect();
                advice.push(are_scattered(facts, &all, cause));
            }
        }
    }
    let half_empty = |n: &Numbers| n.leaf_fill < HALF_EMPTY && facts.matters(empty(n));
    let overflow = |n: &Numbers| n.overflow_pages * 2 > n.pages;
    let those = |applies: &dyn Fn(&Numbers) -> bool| -> Vec<usize> {
        let all = trees.iter().copied();
        all.filter(|&t| applies(&numbers[t])).collect()
    };
    advice.extend(leaves_half_empty(facts, &those(&half_empty)));
    advice.extend(mostly_overflow(facts, &those(&overflow)));
    advice
}

/// Bytes of its leaves that a b-tree does not use.
fn empty(n: &Numbers) -> u64 {
    let each = n.bytes / n.pages.max(1);
    ((n.leaf_pages * each) as f64 * (1.0 - n.leaf_fill)) as u64
}

/// What the schema gives reason for: foreign keys without an index, statistics, and indexes that are
/// redundant.
fn of_schema(facts: &AdviceFacts<'_>, schema: &Schema) -> Vec<Advice> {
    let numbers = facts.numbers;
    let mut advice = Vec::new();
    for key in schema.missing() {
        let Some(t) = facts.named(&key.table) else {
            continue;
        };
        let table = &numbers[t];
        if table.entries < FEW_ROWS || !facts.matters(table.bytes) {
            continue;
        }
        let columns = key.columns.join(", ");
        let words = format!(
            " begins with its foreign key ({columns}): to delete or change a row of {} reads all of \
             its {} rows, {} of a cold scan. An index on ({columns}) ends that.",
            key.parent,
            text::thousands(table.entries),
            text::seconds(table.cold_scan)
        );
        let words = Advice::new()
            .text("No index of ")
            .tree(numbers, t)
            .text(words);
        advice.push(words.saving(table.cold_scan));
    }
    advice.extend(statistics(facts, schema));
    for found in schema.redundant() {
        let (Some(t), Some(beside)) = (facts.named(&found.index), facts.named(&found.beside))
        else {
            continue;
        };
        let bytes = numbers[t].bytes;
        if !facts.matters(bytes) {
            continue;
        }
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
                    text::bytes(bytes)
                ))
                .saving(facts.seconds(bytes)),
        );
    }
    advice
}

/// That ANALYZE should run. What it saves is not known: a plan that guesses wrong reads the whole of a
/// table in place of a part, so the largest of those tables says how much that may be.
fn statistics(facts: &AdviceFacts<'_>, schema: &Schema) -> Option<Advice> {
    let entries = |name: &str| Some(facts.numbers[facts.named(name)?].entries);
    let state = schema.statistics(entries);
    let tables: Vec<&str> = match &state {
        Statistics::NotNeeded | Statistics::Fresh => return None,
        Statistics::Never => schema.indexes.iter().map(|i| i.table.as_str()).collect(),
        Statistics::Stale { tables } => tables.iter().map(|t| t.table.as_str()).collect(),
    };
    let tables = tables.into_iter().filter_map(|name| facts.named(name));
    let largest = tables.max_by_key(|&t| facts.numbers[t].bytes)?;
    let largest = &facts.numbers[largest];
    if !facts.matters(largest.bytes) {
        return None;
    }
    let words = match state {
        Statistics::NotNeeded | Statistics::Fresh => return None,
        Statistics::Never => format!(
            "ANALYZE has never run here: SQLite guesses how many rows an index finds. A wrong guess may \
             read all of {}, {} of a cold scan. PRAGMA optimize, or ANALYZE, counts them.",
            largest.name,
            text::seconds(largest.cold_scan)
        ),
        Statistics::Stale { tables } => {
            let first = &tables[0];
            let rows = text::plural(first.rows, "row", "rows");
            let told = match first.then {
                Some(then) => format!(
                    "{} had {} when ANALYZE counted them and has {} now",
                    first.table,
                    text::plural(then, "row", "rows"),
                    text::thousands(first.rows)
                ),
                None => format!("ANALYZE has not seen {}, which has {rows}", first.table),
            };
            let more = match tables.len() - 1 {
                0 => String::new(),
                1 => ", and 1 more table is not as it was".to_owned(),
                n => format!(", and {n} more tables are not as they were"),
            };
            format!("The statistics are stale: {told}{more}. ANALYZE counts anew.")
        }
    };
    Some(Advice::new().text(words).saving(largest.cold_scan))
}

fn vacuum(facts: &AdviceFacts<'_>) -> Option<Advice> {
    let whole = facts.whole;
    let back = whole.vacuum_gives_back;
    if back == 0 || back * 20 <= whole.bytes {
        return None;
    }
    let size = u64::from(facts.model.image.header.page_size);
    let free = whole.free_pages.saturating_sub(whole.reserved_pages) * size;
    let mut what = format!(
        "VACUUM would give back about {} of {}",
        text::bytes(back),
        text::bytes(whole.bytes)
    );
    if free > 0 {
        what += &format!("; {} of it are free pages", text::bytes(free.min(back)));
    }
    Some(Advice::new().text(what + ".").saving(facts.seconds(back)))
}

fn checkpoint(facts: &AdviceFacts<'_>) -> Option<Advice> {
    let image = &facts.model.image;
    let wal = image.wal.as_ref()?;
    let waiting = u64::from(wal.committed - wal.copied);
    let bytes = waiting * u64::from(image.header.page_size);
    if waiting < 2 * CHECKPOINT || !facts.matters(bytes) {
        return None;
    }
    let words = format!(
        "{} committed frames of the write-ahead log ({}) wait for a checkpoint, which SQLite begins at {} \
         unless it is told otherwise: a reader that has been at work for long holds it back, a \
         transaction was that large, or checkpoints are switched off. PRAGMA \
         wal_checkpoint(TRUNCATE) runs one.",
        text::thousands(waiting),
        text::bytes(bytes),
        text::thousands(CHECKPOINT),
    );
    Some(Advice::new().text(words).saving(facts.seconds(bytes)))
}

/// Why a b-tree is scattered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Keys came in no order.
    Order,
    /// It grew while others did, or took pages that they had freed.
    Together,
    /// Free pages were used again.
    Reuse,
}

/// What is said of it: "it" and "its", or of several.
impl Cause {
    fn words(self, one: bool) -> &'static str {
        match (self, one) {
            (Cause::Order, _) => {
                "keys came in no order, so pages were split wherever a key belonged"
            }
            (Cause::Together, true) => "it grew together with many others",
            (Cause::Together, false) => {
                "they grew at the same time, and took the pages of the file in turn"
            }
            (Cause::Reuse, true) => {
                "it took free pages that lay here and there, or rows grew after they were written"
            }
            (Cause::Reuse, false) => {
                "they took free pages that lay here and there, or rows grew after they were written"
            }
        }
    }
}

/// Whether the leaves of a b-tree are about as full as rows leave them that come in the order of
/// keys: a page that is split at a key in its middle has room on both sides.
fn is_packed(model: &Model, n: &Numbers, t: usize) -> bool {
    if n.leaf_fill >= FULL {
        return true;
    }
    let leaf = model.trees[t].leaf_level();
    let usable = model.usable() as u64;
    let used = (leaf.pages * usable).saturating_sub(leaf.unused);
    let entry = used.saturating_sub(8 * leaf.pages) / leaf.cells.max(1);
    // The map knows a page's fill to one part in 255.
    let entry = entry.max(usable / 64);
    let leaves = &model.trees[t].leaves;
    let of_leaves = leaves.iter().filter(|&&n| {
        let kind = model.map.has(n).then(|| model.map.kind(n));
        kind.is_some_and(PageKind::is_leaf)
            && (255 - u64::from(model.map.fill(n))) * usable / 255 >= entry
    });
    of_leaves.count() as f64 <= WITH_ROOM * leaves.len() as f64
}

/// Why a b-tree is scattered, and which others often lie behind its leaves where a step jumps.
fn why(model: &Model, numbers: &[Numbers], t: usize) -> (Cause, Vec<usize>) {
    let order = &numbers[t].order;
    let jumps = order.jumps().max(1);
    if order.backward_jumps * 4 > jumps {
        // A b-tree that grows at its end goes forward, unless free pages are used again: they come in
        // any order.
        let cause = match is_packed(model, &numbers[t], t) {
            true => Cause::Reuse,
            false => Cause::Order,
        };
        return (cause, Vec::new());
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

/// Seconds of a cold scan that a b-tree in one piece saves.
fn in_order_saves(facts: &AdviceFacts<'_>, n: &Numbers) -> f64 {
    n.scan_leaves.requests.saturating_sub(1) as f64 * facts.device.latency
}

/// That a b-tree is scattered; `between` are those that it grew together with.
fn is_scattered(facts: &AdviceFacts<'_>, t: usize, cause: Cause, between: &[usize]) -> Advice {
    let numbers = facts.numbers;
    let this = &numbers[t];
    let saves = in_order_saves(facts, this);
    let advice = Advice::new().tree(numbers, t).text(format!(
        " is scattered: {:.0} % of the steps between its leaves jump, so a cold scan reads it in {}, {} \
         in place of {}; ",
        100.0 * this.order.scatter,
        text::plural(this.scan_leaves.requests, "piece", "pieces"),
        text::seconds(this.cold_scan_leaves),
        text::seconds(this.cold_scan_leaves - saves),
    ));
    let advice = match cause {
        Cause::Together if !between.is_empty() => {
            let some = &between[..between.len().min(4)];
            let advice = advice.text("it grew together with ");
            let advice = advice.trees(numbers, some, between.len() - some.len());
            advice.text(", or one took pages that another had freed")
        }
        _ => advice.text(cause.words(true)),
    };
    advice
        .text(format!(". {IN_ORDER} it in order."))
        .saving(saves)
}

/// The same of several that have one cause.
fn are_scattered(facts: &AdviceFacts<'_>, trees: &[usize], cause: Cause) -> Advice {
    let numbers = facts.numbers;
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
    let sum = |of: &dyn Fn(&Numbers) -> f64| trees.iter().map(|&t| of(&numbers[t])).sum::<f64>();
    let saves = sum(&|n| in_order_saves(facts, n));
    let takes = sum(&|n| n.cold_scan_leaves);
    Advice::new()
        .first(numbers, trees)
        .text(format!(
            " are scattered: {share} % of the steps between their leaves jump, so a cold scan reads each \
             in {pieces} pieces, all of them in {} in place of {}; {}. {IN_ORDER} them in order.",
            text::seconds(takes),
            text::seconds(takes - saves),
            cause.words(false),
        ))
        .saving(saves)
}

fn leaves_half_empty(facts: &AdviceFacts<'_>, trees: &[usize]) -> Option<Advice> {
    let numbers = facts.numbers;
    let &first = trees.first()?;
    let bytes = trees.iter().map(|&t| empty(&numbers[t])).sum::<u64>();
    let advice = Advice::new()
        .text("The leaves of ")
        .first(numbers, trees)
        .text(match trees {
            [one] => format!(" are {:.0} % full", 100.0 * numbers[*one].leaf_fill),
            _ => format!(" are less than {:.0} % full", 100.0 * HALF_EMPTY),
        });
    let advice = advice.text(format!(
        ", so that {} hold nothing: entries were deleted, or came in no order so that full pages were \
         split in two. ",
        text::bytes(bytes)
    ));
    let this = &numbers[first];
    let by_name = this.role == TreeRole::Index && !this.name.starts_with("sqlite_autoindex");
    let advice = match trees {
        [one] if by_name => advice
            .text("REINDEX ")
            .tree(numbers, *one)
            .text(" or VACUUM"),
        _ => advice.text("VACUUM"),
    };
    Some(advice.text(" fills them.").saving(facts.seconds(bytes)))
}

fn mostly_overflow(facts: &AdviceFacts<'_>, trees: &[usize]) -> Option<Advice> {
    let numbers = facts.numbers;
    if trees.is_empty() {
        return None;
    }
    let sum = |of: fn(&Numbers) -> u64| trees.iter().map(|&t| of(&numbers[t])).sum::<u64>();
    let longest = trees.iter().map(|&t| numbers[t].overflow.longest).max();
    let bytes = trees.iter().map(|&t| {
        let each = numbers[t].bytes / numbers[t].pages.max(1);
        numbers[t].overflow_pages * each
    });
    let bytes = bytes.sum::<u64>();
    let advice = Advice::new()
        .text(format!(
            "{} of the {} of ",
            text::thousands(sum(|n| n.overflow_pages)),
            text::plural(sum(|n| n.pages), "page", "pages")
        ))
        .first(numbers, trees)
        .text(format!(
            " ({}) are overflow pages, in chains of up to {}: what does not fit into a row's leaf. Larger \
             pages hold more of a row; large columns in a table of their own leave the other \
             columns close together.",
            text::bytes(bytes),
            text::thousands(longest.unwrap_or(0))
        ));
    Some(advice.saving(facts.seconds(bytes)))
}
