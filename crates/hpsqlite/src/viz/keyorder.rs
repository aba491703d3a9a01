//! Whether the keys of indexes, and of tables without rowid, come in order.
//!
//! How a key is ordered is in the SQL of the schema, which is not parsed here, and may name collations
//! that only the application knows. But that is not needed. Where two keys that follow each other first
//! differ in column `i`, that column goes up or down, and in a sound b-tree it does the same
//! everywhere. So each pair has a vote; those that are outvoted are out of order. Texts only vote if
//! neither the table's nor the index's SQL has the word COLLATE: then they are ordered by
//! their bytes. Otherwise texts that are not the same could be anything, and the pair has no vote.
//!
//! Pairs are neighbours in a page, and the first and last key of a leaf with the keys beside them in
//! the pages above, of which the start is kept ([`mark`]). What is in overflow pages has no vote.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::map::Problems;
use super::page::{Btree, Cell};
use super::record;

/// Columns of a key that are looked at.
const COLUMNS: usize = 16;
/// So many places that are out of order are told of a column.
const TOLD: usize = 100;

/// No start of a key is known.
pub const UNKNOWN: i64 = i64::MAX;

/// A value as far as it is at hand.
enum KnownValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8], bool),
    Blob(&'a [u8], bool),
}

/// The values of a record, of which the start is at hand.
struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
    header: usize,
    body: usize,
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Option<Parts<'a>> {
        let (header, at) = record::varint(bytes)?;
        let header = usize::try_from(header).ok()?;
        Some(Parts {
            bytes,
            at,
            header,
            body: header,
        })
    }

    /// None: there is no more, or it is not known.
    fn next(&mut self) -> Option<KnownValue<'a>> {
        if self.at >= self.header {
            return None;
        }
        let (serial, n) = record::varint(self.bytes.get(self.at..)?)?;
        self.at += n;
        let len = usize::try_from(record::length(serial)).ok()?;
        let end = self.body.checked_add(len)?;
        let there = end.min(self.bytes.len());
        let bytes = self.bytes.get(self.body..there).unwrap_or_default();
        let whole = bytes.len() == len;
        self.body = end;
        Some(match serial {
            0 => KnownValue::Null,
            8 => KnownValue::Integer(0),
            9 => KnownValue::Integer(1),
            7 if whole => KnownValue::Real(f64::from_bits(record::integer(bytes) as u64)),
            1..=6 if whole => KnownValue::Integer(record::integer(bytes)),
            n if n < 12 => return None,
            n if n % 2 == 0 => KnownValue::Blob(bytes, whole),
            _ => KnownValue::Text(bytes, whole),
        })
    }
}

impl KnownValue<'_> {
    /// Of NULL, numbers, texts and blobs the later are greater.
    fn class(&self) -> u64 {
        match self {
            KnownValue::Null => 0,
            KnownValue::Integer(_) | KnownValue::Real(_) => 1,
            KnownValue::Text(..) => 2,
            KnownValue::Blob(..) => 3,
        }
    }

    /// As SQLite sorts; None: it cannot be told.
    fn compare(&self, other: &KnownValue<'_>, binary: bool) -> Option<Ordering> {
        match (self, other) {
            (KnownValue::Integer(a), KnownValue::Integer(b)) => Some(a.cmp(b)),
            (KnownValue::Real(a), KnownValue::Real(b)) => a.partial_cmp(b),
            (KnownValue::Integer(a), KnownValue::Real(b)) => {
                known(*b, |b| record::integer_with_real(*a, b))
            }
            (KnownValue::Real(a), KnownValue::Integer(b)) => {
                known(*a, |a| record::integer_with_real(*b, a).reverse())
            }
            (KnownValue::Text(a, whole_a), KnownValue::Text(b, whole_b)) => {
                if binary {
                    bytes(a, *whole_a, b, *whole_b)
                } else {
                    (*whole_a && *whole_b && a == b).then_some(Ordering::Equal)
                }
            }
            (KnownValue::Blob(a, whole_a), KnownValue::Blob(b, whole_b)) => {
                bytes(a, *whole_a, b, *whole_b)
            }
            _ => Some(self.class().cmp(&other.class())),
        }
    }
}

/// SQLite takes what is no number for NULL.
fn known(real: f64, compare: impl Fn(f64) -> Ordering) -> Option<Ordering> {
    (!real.is_nan()).then(|| compare(real))
}

fn bytes(a: &[u8], whole_a: bool, b: &[u8], whole_b: bool) -> Option<Ordering> {
    let both = a.len().min(b.len());
    match a[..both].cmp(&b[..both]) {
        Ordering::Equal if whole_a && whole_b => Some(a.len().cmp(&b.len())),
        Ordering::Equal => None,
        order => Some(order),
    }
}

/// The first column in which two keys differ, and how. None: that cannot be told.
fn compare(a: &[u8], b: &[u8], binary: bool) -> Option<(usize, Ordering)> {
    let (mut a, mut b) = (Parts::of(a)?, Parts::of(b)?);
    for column in 0..COLUMNS {
        let order = a.next()?.compare(&b.next()?, binary)?;
        if order != Ordering::Equal {
            return Some((column, order));
        }
    }
    None
}

/// The start of a key as a number: of two keys with different numbers the one with the greater
/// number has the greater first column.
pub fn mark(key: &[u8], binary: bool) -> i64 {
    let start = |bytes: &[u8], whole: bool| {
        let mut first = [0; 8];
        let n = bytes.len().min(8);
        first[..n].copy_from_slice(&bytes[..n]);
        (whole || n == 8).then_some(u64::from_be_bytes(first))
    };
    let real = |x: f64| {
        let bits = if x == 0.0 { 0 } else { x.to_bits() };
        let sign = 1 << 63;
        (!x.is_nan()).then_some(if bits & sign == 0 { bits | sign } else { !bits })
    };
    let Some(part) = Parts::of(key).and_then(|mut parts| parts.next()) else {
        return UNKNOWN;
    };
    let value = match part {
        KnownValue::Null => Some(0),
        KnownValue::Integer(n) => real(n as f64),
        KnownValue::Real(x) => real(x),
        KnownValue::Text(..) if !binary => Some(0),
        KnownValue::Text(bytes, whole) | KnownValue::Blob(bytes, whole) => start(bytes, whole),
    };
    match value {
        Some(value) => ((part.class() << 62 | value >> 2) ^ 1 << 63) as i64,
        None => UNKNOWN,
    }
}

/// Which way a column goes, and where.
#[derive(Debug, Default)]
struct ColumnWay {
    pairs: u64,
    /// Page and cell of the second of a pair, one a page.
    at: Vec<(u32, usize)>,
}

/// The votes on one column of one b-tree.
#[derive(Debug, Default)]
struct Votes {
    up: ColumnWay,
    down: ColumnWay,
}

/// The votes of all b-trees.
#[derive(Debug, Default)]
pub struct Elections {
    votes: BTreeMap<(usize, usize), Votes>,
}

impl Elections {
    /// Counts the pairs of a page; `before` and `after` are the marks of the keys around it.
    pub fn count(
        &mut self,
        tree: usize,
        n: u32,
        btree: &Btree<'_>,
        binary: bool,
        (before, after): (i64, i64),
    ) {
        let cells: Vec<(usize, Cell)> = (0..btree.cells)
            .filter_map(|i| Some((i, btree.cell(i).ok()?)))
            .collect();
        // Most pairs differ in the same column in the same way: these are entered together.
        let mut same = (0, Ordering::Equal, 0, 0);
        let mut add = |column: usize, order: Ordering, cell: usize| {
            if (same.0, same.1) != (column, order) {
                self.enter(tree, n, same);
                same = (column, order, 0, cell);
            }
            same.2 += 1;
        };
        let key = |cell: &Cell| btree.local_payload(cell);
        let marks = |a: i64, b: i64| (a != UNKNOWN && b != UNKNOWN).then(|| a.cmp(&b));
        let strict = |order: &Ordering| *order != Ordering::Equal;
        if let Some((i, first)) = cells.first()
            && let Some(order) = marks(before, mark(key(first), binary)).filter(strict)
        {
            add(0, order, *i);
        }
        for pair in cells.windows(2) {
            let (i, cell) = &pair[1];
            if let Some((column, order)) = compare(key(&pair[0].1), key(cell), binary) {
                add(column, order, *i);
            }
        }
        if let Some((i, last)) = cells.last()
            && let Some(order) = marks(mark(key(last), binary), after).filter(strict)
        {
            add(0, order, *i);
        }
        self.enter(tree, n, same);
    }

    fn enter(
        &mut self,
        tree: usize,
        n: u32,
        (column, order, pairs, cell): (usize, Ordering, u64, usize),
    ) {
        if pairs == 0 {
            return;
        }
        let votes = self.votes.entry((tree, column)).or_default();
        let way = match order {
            Ordering::Less => &mut votes.up,
            _ => &mut votes.down,
        };
        way.pairs += pairs;
        if way.at.len() < TOLD && way.at.last().is_none_or(|&(page, _)| page != n) {
            way.at.push((n, cell));
        }
    }

    /// Says what was outvoted.
    pub fn tell(self, problems: &mut Problems) {
        for ((_, column), Votes { up, down }) in self.votes {
            let (few, here, elsewhere) = if up.pairs < down.pairs {
                (up, "up", "down")
            } else {
                (down, "down", "up")
            };
            for (page, cell) in few.at {
                let what = format!(
                    "the key of cell {cell} is out of order: column {} of it goes {here} there, and \
                     {elsewhere} in the rest of the b-tree",
                    column + 1
                );
                problems.add(page, what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of one or two values, each with its serial type.
    fn key(values: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![values.len() as u8 + 1];
        bytes.extend(values.iter().map(|v| v.0));
        values.iter().for_each(|v| bytes.extend_from_slice(v.1));
        bytes
    }

    fn text(s: &str) -> Vec<u8> {
        key(&[(13 + 2 * s.len() as u8, s.as_bytes()), (1, &[5])])
    }

    #[test]
    fn the_column_that_tells_keys_apart() {
        let up = |column| Some((column, Ordering::Less));
        let one = key(&[(9, &[]), (1, &[3])]);
        let real = key(&[(7, &1f64.to_be_bytes()), (1, &[4])]);
        assert_eq!(compare(&one, &real, true), up(1), "1 and 1.0 are equal");
        assert_eq!(compare(&key(&[(0, &[])]), &one, true), up(0));
        assert_eq!(compare(&text("Ab"), &text("ab"), true), up(0));
        assert_eq!(compare(&text("Ab"), &text("ab"), false), None);
        assert_eq!(compare(&text("ab"), &text("ab"), true), None);
        assert_eq!(compare(&one, &text("ab"), false), up(0));
        // Cut texts that start with the same are not told apart.
        let (a, b) = (text("abcdef"), text("abcdeg"));
        assert_eq!(compare(&a[..7], &b[..7], true), None);
        assert_eq!(compare(&[], &one, true), None);
    }

    #[test]
    fn marks_are_in_the_order_of_keys() {
        let real = |x: f64| key(&[(7, &x.to_be_bytes())]);
        let integer = |n: i64| key(&[(6, &n.to_be_bytes())]);
        let ascending = [
            key(&[(0, &[])]),
            real(f64::NEG_INFINITY),
            integer(i64::MIN),
            real(-1.5),
            integer(-1),
            integer(0),
            real(0.5),
            integer(i64::MAX),
            real(1e300),
            text("B"),
            text("a"),
            text("abcdefg"),
            key(&[(12, &[])]),
            key(&[(14, &[255])]),
        ];
        for pair in ascending.windows(2) {
            assert!(mark(&pair[0], true) < mark(&pair[1], true), "{pair:?}");
            assert!(mark(&pair[0], false) <= mark(&pair[1], false), "{pair:?}");
        }
        assert_eq!(mark(&real(-0.0), true), mark(&integer(0), true));
        assert_eq!(mark(&text("abcdefgh")[..8], true), UNKNOWN);
        assert_eq!(mark(&real(f64::NAN), true), UNKNOWN);
    }
}
