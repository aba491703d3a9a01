//! Keys, shares of threads and times, without a database.

use super::clock::{Standing, percentiles};
use super::keys::Keys;
use super::*;
use crate::kvtest::value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

fn plan() -> VisitPlan {
    VisitPlan {
        target: PathBuf::new(),
        library: None,
        order: VisitOrder::Asc,
        count: 10,
        max_id: None,
        start: 1,
        update: false,
        blob_api: false,
        cache_size: 1000,
        mmap: 0,
        journal_mode: None,
        no_sync: false,
        pragmas: Vec::new(),
        fsync: false,
        multi_transactions: false,
        no_checkpoint: false,
        integrity_check: false,
        stats: false,
        threads: 1,
        repeat: 1,
        cold: false,
        seed: value::SEED,
    }
}

fn visited(plan: &VisitPlan, max_id: u64, thread: u64) -> Vec<i64> {
    let mut keys = Keys::new(plan, max_id, thread);
    (0..keys.count).map(|_| keys.next()).collect()
}

#[test]
fn keys_go_round() {
    let mut plan = plan();
    plan.count = 5;
    assert_eq!(visited(&plan, 3, 0), [1, 2, 3, 1, 2]);
    plan.start = 3;
    assert_eq!(visited(&plan, 3, 0), [3, 1, 2, 3, 1]);
    plan.order = VisitOrder::Desc;
    assert_eq!(visited(&plan, 3, 0), [3, 2, 1, 3, 2]);
    plan.order = VisitOrder::Random;
    plan.count = 1000;
    let mut random = visited(&plan, 3, 0);
    assert_eq!(random, visited(&plan, 3, 0));
    random.sort_unstable();
    random.dedup();
    assert_eq!(random, [1, 2, 3]);
}

#[test]
fn threads_share_keys_and_work() {
    let mut plan = plan();
    plan.threads = 3;
    let all: Vec<Vec<i64>> = (0..3).map(|t| visited(&plan, 10, t)).collect();
    assert_eq!(all, [vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9, 10]]);
}

#[test]
fn what_a_run_visits_is_known_before() {
    let mut plan = plan();
    (plan.threads, plan.count, plan.order) = (3, 12, VisitOrder::Random);
    let by_threads = (0..3).flat_map(|thread| visited(&plan, 100, thread));
    assert!(
        super::visited(&plan, 100)
            .into_iter()
            .eq(BTreeSet::from_iter(by_threads))
    );
}

#[test]
fn threads_that_have_no_processor_are_not_checking() {
    let seconds = Duration::from_secs;
    let standing = Standing {
        wall: seconds(60),
        cpu: seconds(4),
    };
    assert_eq!(standing.taken_off(seconds(100), 1, 2), 40.0);
    assert_eq!(standing.taken_off(seconds(10), 32, 2), 8.0);
    assert_eq!(standing.taken_off(seconds(10), 4, 8), 9.0);
}

#[test]
fn percentiles_are_times_that_were_measured() {
    let times: Vec<u64> = (1..=1000).rev().collect();
    let made = percentiles(&times);
    let at = |name: &str| made[name].as_str();
    assert_eq!(at("50"), "0.000000500");
    assert_eq!(at("99.9"), "0.000000999");
    assert_eq!(at("100"), "0.000001000");
    assert_eq!(percentiles(&[7])["50"], "0.000000007");
}
