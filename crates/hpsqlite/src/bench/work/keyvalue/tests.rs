//! A store that spoils what it is given, and what pairs are made of.

use std::collections::BTreeMap;

use super::*;
use crate::bench::engine::{InSession, Session};
use crate::bench::model::Effective;

/// A store in memory that gives a wrong byte back for one key, or nothing at all.
struct Spoiled {
    pairs: std::sync::Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    wrong: &'static [u8],
    gone: &'static [u8],
}

impl KeyValue for Spoiled {
    fn effective(&self) -> Result<Effective> {
        Ok(Effective::default())
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut Hand(self))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

struct Hand<'s>(&'s Spoiled);

impl Session for Hand<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut value = value.to_vec();
        value[0] ^= u8::from(key == self.0.wrong);
        if key != self.0.gone {
            self.0.pairs.lock().unwrap().insert(key.to_vec(), value);
        }
        Ok(())
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        pairs.iter().try_for_each(|(k, v)| self.put(k, v))
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.0.pairs.lock().unwrap().get(key).cloned();
        value.iter().for_each(|v| found(v));
        Ok(value.is_some())
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let pairs = self.0.pairs.lock().unwrap();
        let _ = pairs.range(from.to_vec()..).all(|(k, v)| each(k, v));
        Ok(true)
    }
}

const PAIRS: Pairs = Pairs {
    seed: 1,
    key_size: 4,
    value_size: 20,
};

/// Fills a store and reads it in order.
fn answer(wrong: &'static [u8], gone: &'static [u8], threads: u64) -> Result<String> {
    let store = Spoiled {
        pairs: Default::default(),
        wrong,
        gone,
    };
    let load = |what, versions| PairLoad {
        what,
        pairs: &PAIRS,
        versions,
        order: Vec::new(),
        salt: 5,
        count: 100,
        operations: 100,
        batch: 7,
        threads,
        limit: None,
    };
    load(PairStep::Batch, &[0; 100]).run(&store, &|_| Ok(()))?;
    let read = load(PairStep::Read(KeyOrder::Sequential), &[1; 100]);
    read.verify(&read.run(&store, &|_| Ok(()))?)
}

#[test]
fn every_value_is_verified() {
    let right = answer(b"", b"", 1).unwrap();
    assert_eq!(right.len(), 16);
    assert_eq!(answer(b"", b"", 3).unwrap(), right);
    let says = |result: Result<String>| format!("{:#}", result.unwrap_err());
    assert!(says(answer(b"0042", b"", 1)).contains("key 0042 is not the one"));
    // The next one comes in its place.
    assert!(says(answer(b"", b"0042", 3)).contains("key 0042"));
    assert!(says(answer(b"", b"0099", 1)).contains("0099 was written and is not there"));
}

#[test]
fn keys_are_in_order_and_values_of_their_size() {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    PAIRS.key(0, &mut key);
    assert_eq!(key, b"0000");
    PAIRS.key(9870, &mut key);
    assert_eq!(key, b"9870");
    PAIRS.value(3, 1, &mut value);
    assert_eq!(value.len(), 20);
    let first = value.clone();
    PAIRS.value(3, 2, &mut value);
    assert_ne!(value, first);
}
