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
    // Where it stands. Ranked is the first rows of each partition of a window.
    Join Compound Nested Wrapped Windowed Ranked Writing
    // Values.
    Bits Concat Cast Case Function DateFunction LikeEscape LikeVariable Glob
    RowValue IsTrue Collate LongIn UserFunction Random Subquery Fails
    // Aggregate functions; BestOfSome is a min() or max() with DISTINCT or FILTER.
    AggDistinct AggFilter AggOrder AggText AggJson AggUser BestOfSome
    // Tables and columns.
    View WithoutRowid Indexed Utf16 RowidName Virtual UserCollation
}

/// What the library refuses while a statement is prepared, and why. Queries
/// that keep near to what it takes over do without.
const REFUSED: &[(Trait, &str)] = &[
    (Trait::Rows, "nothing in it is finished within one step"),
    (Trait::DistinctFew, "stock stops when it has shown so many"),
    (Trait::Windowed, "window functions"),
    (Trait::Subquery, "runs a query of its own for a value"),
    (Trait::Random, "a function that is not deterministic"),
    (Trait::Utf16, "text would have to be converted"),
];

/// What it takes over in part, and which part it leaves to stock: generated as
/// often as anything, but not demanded.
const PARTLY: &[(Trait, &str)] = &[
    (
        Trait::Top,
        "results that may raise an error; WITHOUT ROWID tables",
    ),
    (Trait::Sorted, "what has no WHERE"),
    (
        Trait::Join,
        "tables that are not reached by unique keys; RIGHT and FULL JOIN, IS, an application's functions",
    ),
    (
        Trait::Fails,
        "terms that may raise an error before SQLite tests others",
    ),
    (
        Trait::Ranked,
        "keys by an application's collation, several windows; WITHOUT ROWID tables",
    ),
    (
        Trait::LoneMinMax,
        "what stock finds at the first row of an index",
    ),
    (
        Trait::BestOfSome,
        "when columns beside show the row of the best",
    ),
    (
        Trait::UserCollation,
        "keys, and min() and max(), by an application's collation",
    ),
    (
        Trait::RowidName,
        "a search by it, and groups whose order it gives",
    ),
    (
        Trait::Indexed,
        "where the planner has a better plan with it",
    ),
    (
        Trait::WithoutRowid,
        "ORDER BY, DISTINCT, and groups whose order its key gives",
    ),
];

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits(u64);

impl Trait {
    fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Does the library always leave it to stock's code?
    pub fn refused(self) -> bool {
        REFUSED.iter().any(|(name, _)| *name == self)
    }

    /// Does it leave it to stock's code, always or at times?
    pub fn ineligible(self) -> bool {
        self.refused() || PARTLY.iter().any(|(name, _)| *name == self)
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

    /// Is one of them always left to stock's code?
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
                .with(Trait::Windowed)
                .deciding()
                .is_empty()
        );
    }
}
