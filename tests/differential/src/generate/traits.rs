//! What a query uses, and which of it the library leaves to stock's code.

use serde::{Deserialize, Serialize};

macro_rules! traits {
    ($($name:ident)*) => {
        /// Something that a query uses and that may decide whether it is taken over.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Trait { $($name,)* }

        /// All of them, in the order of their numbers.
        pub const TRAITS: &[Trait] = &[$(Trait::$name,)*];
    };
}

traits! {
    // What it is: aggregates with GROUP BY and without, a lone min() or max(),
    // a lone count(*); SELECT DISTINCT, also with a LIMIT; ORDER BY with a LIMIT
    // and without; rows as they come.
    Groups OneRow LoneMinMax LoneCount Distinct DistinctFew Top Sorted Rows
    // Where it stands.
    Join Compound Nested Wrapped Windowed Writing
    // Values.
    Bits Concat Cast Case Function DateFunction LikeEscape LikeVariable Glob
    RowValue IsTrue Collate LongIn UserFunction Random Subquery
    // Aggregate functions; BestOfSome is a min() or max() with DISTINCT or FILTER.
    AggDistinct AggFilter AggOrder AggText AggJson AggUser BestOfSome
    // Tables and columns.
    View WithoutRowid Indexed Utf16 RowidName Virtual UserCollation
}

/// What the library refuses while a statement is prepared, and why. Shorten it
/// when the library learns something: a forced run then demands that it is
/// used, and `run --traits` shows what is ready.
const REFUSED: &[(Trait, &str)] = &[
    (Trait::Rows, "nothing in it is finished within one step"),
    (
        Trait::LoneMinMax,
        "stock stops at the first row of an index, or has a plan of its own",
    ),
    (Trait::LoneCount, "OP_Count counts without looking at rows"),
    (Trait::DistinctFew, "stock stops when it has shown so many"),
    (
        Trait::BestOfSome,
        "whose row the columns beside show is decided by code of stock's own",
    ),
    (Trait::Join, "more than one table"),
    (Trait::Windowed, "window functions"),
    (Trait::Subquery, "runs a query of its own for a value"),
    (Trait::Random, "a function that is not deterministic"),
    (Trait::View, "may be computed row by row"),
    (
        Trait::RowidName,
        "the table may be searched by it, or be in its order already",
    ),
    (
        Trait::Indexed,
        "the planner may have a better plan with the index",
    ),
    (Trait::Utf16, "text would have to be converted"),
];

/// What the library is about to take over: generated as if it did, but not
/// demanded yet.
const LATER: &[Trait] = &[
    Trait::Top,
    Trait::Sorted,
    Trait::AggOrder,
    Trait::WithoutRowid,
    Trait::UserCollation,
];

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits(u64);

impl Trait {
    fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Does the library leave it to stock's code for a reason?
    pub fn refused(self) -> bool {
        REFUSED.iter().any(|(name, _)| *name == self)
    }

    /// Is it left to stock's code, for a reason or for now?
    pub fn ineligible(self) -> bool {
        self.refused() || LATER.contains(&self)
    }
}

impl Traits {
    pub fn add(&mut self, one: Trait) {
        self.0 |= one.bit();
    }

    pub fn join(&mut self, other: Traits) {
        self.0 |= other.0;
    }

    pub fn with(mut self, one: Trait) -> Traits {
        self.add(one);
        self
    }

    pub fn has(self, one: Trait) -> bool {
        self.0 & one.bit() != 0
    }

    /// Are all of them of what the library takes over? A statement without any
    /// is no query.
    pub fn eligible(self) -> bool {
        self.0 != 0 && !TRAITS.iter().any(|t| self.has(*t) && t.ineligible())
    }

    /// Is one of them left to stock's code for a reason?
    pub fn refused(self) -> bool {
        TRAITS.iter().any(|t| self.has(*t) && t.refused())
    }

    /// Those that decide: all if the set is eligible, the ineligible one if it
    /// is the only one, else nothing.
    pub fn deciding(self) -> Vec<Trait> {
        let own = || TRAITS.iter().copied().filter(|t| self.has(*t));
        let refused: Vec<Trait> = own().filter(|t| t.ineligible()).collect();
        match refused.len() {
            0 => own().collect(),
            1 => refused,
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_traits_fit_into_a_set() {
        assert!(TRAITS.len() <= 64);
    }

    #[test]
    fn a_refused_trait_makes_a_set_ineligible() {
        let set = Traits::default().with(Trait::Groups);
        assert!(set.eligible());
        assert!(!set.with(Trait::Random).eligible());
        assert_eq!(set.with(Trait::Random).deciding(), [Trait::Random]);
        assert!(
            set.with(Trait::Random)
                .with(Trait::Join)
                .deciding()
                .is_empty()
        );
    }
}
