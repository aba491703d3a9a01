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
    // a lone count(*); SELECT DISTINCT; ORDER BY with a LIMIT and without;
    // rows as they come.
    Groups OneRow LoneMinMax LoneCount Distinct Top Sorted Rows
    // Where it stands.
    Join Compound Nested Wrapped Windowed Writing
    // Values.
    Bits Concat Cast Case Function DateFunction LikeEscape LikeVariable Glob
    RowValue IsTrue Collate LongIn UserFunction Random Subquery
    // Aggregate functions.
    AggDistinct AggFilter AggOrder AggText AggJson AggUser
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
    (Trait::Distinct, "not yet"),
    (Trait::Top, "not yet"),
    (Trait::Sorted, "not yet"),
    (Trait::Compound, "not yet"),
    (Trait::Nested, "not yet"),
    (Trait::Wrapped, "not yet"),
    (Trait::Writing, "not yet"),
    (Trait::Bits, "not yet"),
    (Trait::Concat, "not yet"),
    (Trait::Cast, "not yet"),
    (Trait::Case, "not yet"),
    (Trait::Function, "not yet"),
    (Trait::DateFunction, "not yet"),
    (Trait::LikeEscape, "not yet"),
    (Trait::LikeVariable, "not yet"),
    (Trait::RowValue, "not yet"),
    (Trait::IsTrue, "not yet"),
    (Trait::UserFunction, "not yet"),
    (Trait::AggDistinct, "not yet"),
    (Trait::AggFilter, "not yet"),
    (Trait::AggOrder, "not yet"),
    (Trait::AggText, "not yet"),
    (Trait::AggJson, "not yet"),
    (Trait::AggUser, "not yet"),
    (Trait::WithoutRowid, "not yet"),
    (Trait::Virtual, "not yet"),
    (Trait::UserCollation, "not yet"),
];

/// A set of traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits(u64);

impl Trait {
    fn bit(self) -> u64 {
        1 << self as u64
    }

    pub fn refused(self) -> bool {
        REFUSED.iter().any(|(name, _)| *name == self)
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

    /// Are all of them of what the library takes over?
    pub fn eligible(self) -> bool {
        !TRAITS.iter().any(|t| self.has(*t) && t.refused())
    }

    /// Those that decide: all if none is refused, the refused one if it is
    /// the only one, else nothing.
    pub fn deciding(self) -> Vec<Trait> {
        let own = || TRAITS.iter().copied().filter(|t| self.has(*t));
        let refused: Vec<Trait> = own().filter(|t| t.refused()).collect();
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
