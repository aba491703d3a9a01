//! redb: a copy-on-write B-tree in pure Rust, compiled into this tool.

use anyhow::Result;
use redb::{Database, Durability, ReadableDatabase, TableDefinition, TableError};

use super::{Effective, InSession, KeyValue, Pair, Session, StorePlan, on_off, values};

/// Tells which version was compiled in.
const LOCK: &str = include_str!("../../../../../Cargo.lock");

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("kv");

fn version() -> &'static str {
    LOCK.split_once("\nname = \"redb\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(version, _)| version)
}

struct Redb {
    db: Database,
    durability: Durability,
}

pub fn open(plan: &StorePlan<'_>) -> Result<Box<dyn KeyValue>> {
    Ok(Box::new(Redb {
        db: Database::create(plan.folder.join("kv.redb"))?,
        durability: match plan.sync()? {
            Some(false) => Durability::None,
            _ => Durability::Immediate,
        },
    }))
}

impl Redb {
    fn write<'p>(&self, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Result<()> {
        let mut txn = self.db.begin_write()?;
        txn.set_durability(self.durability)?;
        {
            let mut table = txn.open_table(TABLE)?;
            for (key, value) in pairs {
                table.insert(key, value)?;
            }
        }
        Ok(txn.commit()?)
    }
}

impl KeyValue for Redb {
    fn effective(&self) -> Result<Effective> {
        let sync = !matches!(self.durability, Durability::None);
        Ok(Effective {
            version: format!("redb {}", version()),
            settings: values([("sync", on_off(sync))]),
            durability: if sync {
                "no crash loses a committed transaction"
            } else {
                "a crash of the process, the system or the power loses the transactions since the \
                 last flush"
            }
            .to_owned(),
        })
    }

    fn session(&self, work: InSession<'_>) -> Result<()> {
        work(&mut RedbThread(self))
    }

    fn flush(&self) -> Result<()> {
        // Whatever was committed without being durable becomes so with the next that is.
        let mut txn = self.db.begin_write()?;
        txn.set_durability(Durability::Immediate)?;
        Ok(txn.commit()?)
    }
}

struct RedbThread<'s>(&'s Redb);

impl Session for RedbThread<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.write(std::iter::once((key, value)))
    }

    fn put_all(&mut self, pairs: &[Pair]) -> Result<()> {
        self.0.write(pairs.iter().map(|(k, v)| (&k[..], &v[..])))
    }

    fn get(&mut self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let table = match self.0.db.begin_read()?.open_table(TABLE) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(false),
            table => table?,
        };
        let value = table.get(key)?;
        if let Some(value) = &value {
            found(value.value());
        }
        Ok(value.is_some())
    }

    fn scan(&mut self, from: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        let table = self.0.db.begin_read()?.open_table(TABLE)?;
        for pair in table.range(from..)? {
            let (key, value) = pair?;
            if !each(key.value(), value.value()) {
                break;
            }
        }
        Ok(true)
    }
}
