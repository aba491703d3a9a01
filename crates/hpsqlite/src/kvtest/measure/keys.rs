//! Which keys are visited, in which order, by which thread.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::plan::{VisitOrder, VisitPlan};
use crate::data::random::SplitMix64;

/// The keys that a run visits where each of 1 to `max_id` has a value.
pub fn visited(plan: &VisitPlan, max_id: u64) -> BTreeSet<i64> {
    let of_thread = |thread| {
        let mut keys = Keys::new(plan, max_id, thread);
        (0..keys.count).map(move |_| keys.next())
    };
    (0..plan.threads).flat_map(of_thread).collect()
}

/// The keys that a thread visits: a range of its own, from its end or its start again and again.
pub struct Keys {
    pub range: RangeInclusive<i64>,
    pub order: VisitOrder,
    pub count: u64,
    pub next: i64,
    random: SplitMix64,
}

impl Keys {
    pub fn new(plan: &VisitPlan, max_id: u64, thread: u64) -> Keys {
        // In 128 bits, because a key may be as large as 64 allow.
        let part = |all: u64, thread: u64| {
            (u128::from(all) * u128::from(thread) / u128::from(plan.threads)) as u64
        };
        let range = part(max_id, thread) as i64 + 1..=part(max_id, thread + 1) as i64;
        let start = plan.start as i64;
        let mut keys = Keys {
            next: *range.start(),
            range,
            order: plan.order,
            count: part(plan.count, thread + 1) - part(plan.count, thread),
            random: SplitMix64(SplitMix64(plan.seed ^ thread << 32).bits()),
        };
        if keys.range.contains(&start) {
            keys.next = start;
        }
        keys
    }

    pub fn len(&self) -> u64 {
        (self.range.end() - self.range.start()) as u64 + 1
    }

    pub fn next(&mut self) -> i64 {
        let key = self.next;
        let (first, last) = (*self.range.start(), *self.range.end());
        self.next = match self.order {
            VisitOrder::Asc if key >= last => first,
            VisitOrder::Asc => key + 1,
            VisitOrder::Desc if key <= first => last,
            VisitOrder::Desc => key - 1,
            VisitOrder::Random => first + self.random.below(self.len()) as i64,
        };
        key
    }
}
