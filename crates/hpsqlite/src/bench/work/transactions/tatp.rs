//! The workload `tatp`: the seven transactions of the Telecom Application Transaction Processing
//! benchmark, on the tables of [`data::tatp`](crate::data::tatp).
//!
//! | step | what it does | share of `mix` |
//! |---|---|--:|
//! | `GET_SUBSCRIBER_DATA` | reads a subscriber by its key | 35 % |
//! | `GET_NEW_DESTINATION` | where calls go now: a join of two tables by their keys | 10 % |
//! | `GET_ACCESS_DATA` | reads what belongs to a subscriber, by a key of two columns | 35 % |
//! | `UPDATE_SUBSCRIBER_DATA` | changes a row in each of two tables, or none | 2 % |
//! | `UPDATE_LOCATION` | changes a subscriber that is found by its number | 14 % |
//! | `INSERT_CALL_FORWARDING` | reads twice, inserts a row | 2 % |
//! | `DELETE_CALL_FORWARDING` | reads, deletes a row | 2 % |
//!
//! As the specification says, some transactions fail by their data: there is no such row, or one
//! too many. They are rolled back, and count as operations. Subscribers are not asked for equally
//! often (the specification's non-uniform distribution). What writes begins with BEGIN IMMEDIATE;
//! foreign keys are enforced.

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::{Client, OperationReading, StepWork, Workload, first, prepare, run};
use crate::bench::model::{Job, Step};
use crate::bench::work::options::JobOptions;
use crate::data::random::SplitMix64;
use crate::data::tatp::{any_number, location, number};
use crate::sys::{Db, SqlError, Stmt, Value};

/// The transactions and their shares of the mix, in per cent.
const TRANSACTIONS: [(&str, Transaction, u64); 7] = [
    ("GET_SUBSCRIBER_DATA", Transaction::GetSubscriberData, 35),
    ("GET_NEW_DESTINATION", Transaction::GetNewDestination, 10),
    ("GET_ACCESS_DATA", Transaction::GetAccessData, 35),
    (
        "UPDATE_SUBSCRIBER_DATA",
        Transaction::UpdateSubscriberData,
        2,
    ),
    ("UPDATE_LOCATION", Transaction::UpdateLocation, 14),
    (
        "INSERT_CALL_FORWARDING",
        Transaction::InsertCallForwarding,
        2,
    ),
    (
        "DELETE_CALL_FORWARDING",
        Transaction::DeleteCallForwarding,
        2,
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    GetSubscriberData,
    GetNewDestination,
    GetAccessData,
    UpdateSubscriberData,
    UpdateLocation,
    InsertCallForwarding,
    DeleteCallForwarding,
}

impl Transaction {
    fn writes(self) -> bool {
        !matches!(
            self,
            Transaction::GetSubscriberData
                | Transaction::GetNewDestination
                | Transaction::GetAccessData
        )
    }
}

/// The benchmark.
pub struct Tatp<'j> {
    job: &'j Job,
}

impl<'j> Tatp<'j> {
    pub fn new(job: &'j Job) -> Result<Tatp<'j>> {
        ensure!(
            job.options.contains_key("database"),
            "tatp needs its tables: say data = \"tatp\" in [options]"
        );
        Ok(Tatp { job })
    }
}

impl Workload for Tatp<'_> {
    fn work(&self, step: &Step) -> Result<Box<dyn StepWork>> {
        let options = JobOptions::of(self.job, Some(step));
        let only = match TRANSACTIONS.iter().find(|(name, ..)| *name == step.name) {
            Some((_, transaction, _)) => Some(*transaction),
            None if step.name == "mix" => None,
            None => bail!(
                "there is no such transaction; there are mix, {}",
                TRANSACTIONS.map(|t| t.0).join(", ")
            ),
        };
        Ok(Box::new(Load {
            only,
            operations: options.number("operations", 10_000)?.max(1),
            subscribers: 0,
            calls: 0,
        }))
    }
}

/// A step.
struct Load {
    /// None for the mix.
    only: Option<Transaction>,
    operations: u64,
    /// Rows of their tables before the step.
    subscribers: u64,
    calls: i64,
}

impl Load {
    fn count(db: &Db<'_>, table: &str) -> Result<i64> {
        let count = db.first(&format!("SELECT count(*) FROM {table}"));
        let count =
            count.map_err(|e| anyhow!("{e}; the database has to be one of data = \"tatp\""))?;
        count.context("no count")?.parse().context("no count")
    }
}

impl StepWork for Load {
    fn operations(&self) -> u64 {
        self.operations
    }

    fn before(&mut self, db: &Db<'_>) -> Result<()> {
        self.subscribers = u64::try_from(Load::count(db, "subscriber")?)?;
        self.calls = Load::count(db, "call_forwarding")?;
        ensure!(self.subscribers > 0, "there are no subscribers");
        Ok(())
    }

    fn client<'d>(&'d self, db: &'d Db<'d>) -> Result<Box<dyn Client + 'd>> {
        Ok(Box::new(TatpConnection::open(
            db,
            self.only,
            self.subscribers,
        )?))
    }

    fn check(&self, db: &Db<'_>, sum: i64, alone: bool) -> Result<String> {
        let (calls, expected) = (Load::count(db, "call_forwarding")?, self.calls + sum);
        ensure!(
            calls == expected,
            "call_forwarding has {calls} rows after transactions that leave {expected}"
        );
        let subscribers = Load::count(db, "subscriber")?;
        ensure!(
            u64::try_from(subscribers)? == self.subscribers,
            "{subscribers} subscribers are left of {}",
            self.subscribers
        );
        let mut read = OperationReading::default();
        let orphans = run(&mut prepare(db, "PRAGMA foreign_key_check")?, &mut read)?;
        ensure!(
            orphans == 0,
            "{orphans} rows belong to no other, as they have to"
        );
        if !alone {
            return Ok(String::new());
        }
        for sql in [
            "SELECT sum(bit_1), sum(vlr_location), count(*) FROM subscriber",
            "SELECT sum(data_a) FROM special_facility",
            "SELECT sum(s_id), sum(end_time), max(numberx), count(*) FROM call_forwarding",
        ] {
            run(&mut prepare(db, sql)?, &mut read)?;
        }
        Ok(format!("{:016x}", read.end(0)))
    }
}

/// A key of the subscribers 1 to `n`, some of them more often than others: the specification's
/// non-uniform distribution.
fn subscriber(n: u64, random: &mut SplitMix64) -> u64 {
    let spread = match n {
        0..=1_000_000 => 65_535,
        1_000_001..=10_000_000 => 1_048_575,
        _ => 2_097_151,
    };
    let (a, b) = (random.below(spread + 1), 1 + random.below(n));
    (a | b) % n + 1
}

/// What a transaction is about; none needs all of it.
struct Subject {
    subscriber: u64,
    /// A type of access or of facility.
    of_type: i64,
    /// When a call forwarding begins, how long it holds, and to which number.
    start: i64,
    hours: i64,
    to: String,
    /// The hour of a call.
    hour: i64,
    bit: i64,
    data: i64,
    location: i64,
}

impl Subject {
    fn drawn(subscribers: u64, random: &mut SplitMix64) -> Subject {
        let mut below = |n| random.below(n) as i64;
        Subject {
            of_type: 1 + below(4),
            start: 8 * below(3),
            hours: 1 + below(8),
            hour: 1 + below(24),
            bit: below(2),
            data: below(256),
            subscriber: subscriber(subscribers, random),
            location: location(random) as i64,
            to: any_number(random),
        }
    }
}

/// One connection with all statements prepared.
struct TatpConnection<'d> {
    db: &'d Db<'d>,
    only: Option<Transaction>,
    subscribers: u64,
    begin: Stmt<'d>,
    commit: Stmt<'d>,
    rollback: Stmt<'d>,
    get_subscriber: Stmt<'d>,
    get_destination: Stmt<'d>,
    get_access: Stmt<'d>,
    set_bit: Stmt<'d>,
    set_data: Stmt<'d>,
    set_location: Stmt<'d>,
    find: Stmt<'d>,
    facilities: Stmt<'d>,
    insert: Stmt<'d>,
    delete: Stmt<'d>,
    /// Rows of `call_forwarding` that were inserted, less those that were deleted.
    added: i64,
}

impl<'d> TatpConnection<'d> {
    fn open(
        db: &'d Db<'d>,
        only: Option<Transaction>,
        subscribers: u64,
    ) -> Result<TatpConnection<'d>> {
        db.exec("PRAGMA foreign_keys=on")?;
        Ok(TatpConnection {
            db,
            only,
            subscribers,
            begin: prepare(db, "BEGIN IMMEDIATE")?,
            commit: prepare(db, "COMMIT")?,
            rollback: prepare(db, "ROLLBACK")?,
            get_subscriber: prepare(db, "SELECT * FROM subscriber WHERE s_id=?")?,
            get_destination: prepare(
                db,
                "SELECT f.numberx FROM special_facility AS s \
                 JOIN call_forwarding AS f ON f.s_id=s.s_id AND f.sf_type=s.sf_type \
                 WHERE s.s_id=?1 AND s.sf_type=?2 AND s.is_active=1 AND f.start_time<=?3 AND f.end_time>?4",
            )?,
            get_access: prepare(
                db,
                "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id=? AND ai_type=?",
            )?,
            set_bit: prepare(db, "UPDATE subscriber SET bit_1=?2 WHERE s_id=?1")?,
            set_data: prepare(
                db,
                "UPDATE special_facility SET data_a=?3 WHERE s_id=?1 AND sf_type=?2",
            )?,
            set_location: prepare(db, "UPDATE subscriber SET vlr_location=?2 WHERE sub_nbr=?1")?,
            find: prepare(db, "SELECT s_id FROM subscriber WHERE sub_nbr=?")?,
            facilities: prepare(db, "SELECT sf_type FROM special_facility WHERE s_id=?")?,
            insert: prepare(db, "INSERT INTO call_forwarding VALUES(?1,?2,?3,?4,?5)")?,
            delete: prepare(
                db,
                "DELETE FROM call_forwarding WHERE s_id=? AND sf_type=? AND start_time=?",
            )?,
            added: 0,
        })
    }

    /// Does one transaction; whether it is to be committed.
    fn transaction(
        &mut self,
        what: Transaction,
        asked: &Subject,
        read: &mut OperationReading,
    ) -> Result<bool, SqlError> {
        let (s_id, of_type) = (asked.subscriber as i64, asked.of_type);
        match what {
            Transaction::GetSubscriberData => {
                bind(&mut self.get_subscriber, &[s_id])?;
                Ok(run(&mut self.get_subscriber, read)? > 0)
            }
            Transaction::GetNewDestination => {
                let values = [s_id, of_type, asked.start, asked.hour];
                bind(&mut self.get_destination, &values)?;
                Ok(run(&mut self.get_destination, read)? > 0)
            }
            Transaction::GetAccessData => {
                bind(&mut self.get_access, &[s_id, of_type])?;
                Ok(run(&mut self.get_access, read)? > 0)
            }
            Transaction::UpdateSubscriberData => {
                bind(&mut self.set_bit, &[s_id, asked.bit])?;
                run(&mut self.set_bit, read)?;
                bind(&mut self.set_data, &[s_id, of_type, asked.data])?;
                run(&mut self.set_data, read)?;
                Ok(self.db.changes() > 0)
            }
            Transaction::UpdateLocation => {
                let name = number(asked.subscriber);
                self.set_location.bind_int(2, asked.location)?;
                // SAFETY: `name` lives until the statement has run, and is bound again before the next run.
                unsafe { self.set_location.bind_text_static(1, &name)? };
                run(&mut self.set_location, read)?;
                Ok(self.db.changes() > 0)
            }
            Transaction::InsertCallForwarding => {
                let s_id = self.found(asked.subscriber, read)?;
                bind(&mut self.facilities, &[s_id])?;
                run(&mut self.facilities, read)?;
                let end = asked.start + asked.hours;
                bind(&mut self.insert, &[s_id, of_type, asked.start, end])?;
                // SAFETY: what is asked for lives until the statement has run, and then as above.
                unsafe { self.insert.bind_text_static(5, &asked.to)? };
                match run(&mut self.insert, read) {
                    Err(e) if e.is_constraint() => Ok(false),
                    other => other.map(|_| true),
                }
            }
            Transaction::DeleteCallForwarding => {
                let s_id = self.found(asked.subscriber, read)?;
                bind(&mut self.delete, &[s_id, of_type, asked.start])?;
                run(&mut self.delete, read)?;
                Ok(self.db.changes() > 0)
            }
        }
    }

    /// Does one transaction as a whole; whether it was committed.
    fn whole(
        &mut self,
        what: Transaction,
        asked: &Subject,
        read: &mut OperationReading,
    ) -> Result<bool, SqlError> {
        if !what.writes() {
            return self.transaction(what, asked, read);
        }
        run(&mut self.begin, read)?;
        let good = self.transaction(what, asked, read)?;
        let end = match good {
            true => &mut self.commit,
            false => &mut self.rollback,
        };
        run(end, read)?;
        self.added += match what {
            Transaction::InsertCallForwarding if good => 1,
            Transaction::DeleteCallForwarding if good => -1,
            _ => 0,
        };
        Ok(good)
    }

    /// The key of the subscriber with this number; 0 if there is none.
    fn found(&mut self, key: u64, read: &mut OperationReading) -> Result<i64, SqlError> {
        let name = number(key);
        // SAFETY: `name` lives until the statement is reset, and is bound again before the next run.
        unsafe { self.find.bind_text_static(1, &name)? };
        let row = first(&mut self.find);
        let mut s_id = 0;
        if let Ok(true) = row {
            read.row(&self.find, 1);
            if let Value::Integer(n) = self.find.value(0) {
                s_id = n;
            }
        }
        self.find.reset();
        row.map(|_| s_id)
    }
}

fn bind(stmt: &mut Stmt<'_>, values: &[i64]) -> Result<(), SqlError> {
    (1..)
        .zip(values)
        .try_for_each(|(i, v)| stmt.bind_int(i, *v))
}

/// The transaction that a number below 100 falls upon.
fn drawn(n: u64) -> Transaction {
    let mut left = n;
    for (_, transaction, share) in TRANSACTIONS {
        if left < share {
            return transaction;
        }
        left -= share;
    }
    TRANSACTIONS[0].1
}

impl Client for TatpConnection<'_> {
    fn operation(
        &mut self,
        _j: u64,
        random: u64,
        read: &mut OperationReading,
    ) -> Result<(), SqlError> {
        let mut random = SplitMix64(random);
        let what = match self.only {
            Some(transaction) => transaction,
            None => drawn(random.below(100)),
        };
        let asked = Subject::drawn(self.subscribers, &mut random);
        let good = self.whole(what, &asked, read)?;
        read.note(good.into());
        Ok(())
    }

    fn readonly(&self) -> bool {
        self.only.is_some_and(|transaction| !transaction.writes())
    }

    fn count(&self) -> i64 {
        self.added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{Library, OPEN_CREATE, OPEN_READWRITE};

    /// Two subscribers. The first has an access of type 2, and facilities of types 1 (active) and
    /// 3; calls to facility 1 go elsewhere from 8 to 12.
    fn small<'l>(library: &'l Library, folder: &std::path::Path) -> Db<'l> {
        let file = folder.join("tatp.db");
        let target = crate::data::DataTarget {
            file: &file,
            force: false,
            library: Some(library.path()),
        };
        crate::data::tatp::write(2, &target).unwrap();
        let db = library.open(&file, OPEN_READWRITE | OPEN_CREATE).unwrap();
        db.exec(
            "DELETE FROM call_forwarding; DELETE FROM special_facility; DELETE FROM access_info;
             UPDATE subscriber SET bit_1=0, vlr_location=77;
             INSERT INTO access_info VALUES(1,2,20,30,'ABC','DEFGH');
             INSERT INTO special_facility VALUES(1,1,1,5,6,'IJKLM'),(1,3,0,7,8,'NOPQR');
             INSERT INTO call_forwarding VALUES(1,1,8,12,'555')",
        )
        .unwrap();
        db
    }

    fn asked(subscriber: u64, of_type: i64) -> Subject {
        Subject {
            subscriber,
            of_type,
            start: 8,
            hours: 5,
            to: "777".to_owned(),
            hour: 10,
            bit: 1,
            data: 99,
            location: 4711,
        }
    }

    /// Whether the transaction was committed, and how many bytes were read in it.
    fn done(client: &mut TatpConnection<'_>, what: Transaction, asked: &Subject) -> (bool, usize) {
        let mut read = OperationReading::default();
        let good = client.whole(what, asked, &mut read).unwrap();
        (good, read.buffer.len())
    }

    #[test]
    fn every_transaction_does_what_it_is_to_do() {
        let library = crate::bench::report::tests::library();
        let folder = tempfile::tempdir().unwrap();
        let db = small(&library, folder.path());
        let mut client = TatpConnection::open(&db, None, 2).unwrap();
        let client = &mut client;
        let rows = |sql: &str| db.column(sql).unwrap().join(" ");
        let calls = "SELECT s_id||':'||sf_type||':'||start_time||':'||end_time||':'||numberx FROM call_forwarding";

        assert!(done(client, Transaction::GetSubscriberData, &asked(2, 1)).1 > 34 * 9);
        assert_eq!(
            done(client, Transaction::GetSubscriberData, &asked(3, 1)),
            (false, 0)
        );
        // 9 bytes a number, 9 and its length a text.
        assert_eq!(
            done(client, Transaction::GetAccessData, &asked(1, 2)),
            (true, 9 + 9 + 12 + 14)
        );
        assert_eq!(
            done(client, Transaction::GetAccessData, &asked(1, 1)),
            (false, 0)
        );

        assert_eq!(
            done(client, Transaction::GetNewDestination, &asked(1, 1)),
            (true, 12)
        );
        let (early, late) = (
            Subject {
                start: 0,
                ..asked(1, 1)
            },
            Subject {
                hour: 12,
                ..asked(1, 1)
            },
        );
        assert_eq!(
            done(client, Transaction::GetNewDestination, &early),
            (false, 0)
        );
        assert_eq!(
            done(client, Transaction::GetNewDestination, &late),
            (false, 0)
        );
        db.exec("UPDATE special_facility SET is_active=0").unwrap();
        assert_eq!(
            done(client, Transaction::GetNewDestination, &asked(1, 1)),
            (false, 0)
        );

        assert!(done(client, Transaction::UpdateSubscriberData, &asked(1, 3)).0);
        assert!(!done(client, Transaction::UpdateSubscriberData, &asked(2, 3)).0);
        assert_eq!(
            rows("SELECT bit_1 FROM subscriber"),
            "1 0",
            "all or nothing"
        );
        assert_eq!(rows("SELECT data_a FROM special_facility"), "6 99");

        assert!(done(client, Transaction::UpdateLocation, &asked(2, 1)).0);
        assert!(!done(client, Transaction::UpdateLocation, &asked(3, 1)).0);
        assert_eq!(rows("SELECT vlr_location FROM subscriber"), "77 4711");

        assert!(done(client, Transaction::InsertCallForwarding, &asked(1, 3)).0);
        assert!(
            !done(client, Transaction::InsertCallForwarding, &asked(1, 3)).0,
            "it is there"
        );
        assert!(
            !done(client, Transaction::InsertCallForwarding, &asked(1, 2)).0,
            "no facility"
        );
        assert_eq!(rows(calls), "1:1:8:12:555 1:3:8:13:777");
        assert_eq!(client.count(), 1);

        assert!(done(client, Transaction::DeleteCallForwarding, &asked(1, 1)).0);
        assert!(!done(client, Transaction::DeleteCallForwarding, &asked(1, 1)).0);
        assert_eq!(rows(calls), "1:3:8:13:777");
        assert_eq!(client.count(), 0);
    }

    #[test]
    fn a_row_that_nobody_inserted_is_noticed() {
        let library = crate::bench::report::tests::library();
        let folder = tempfile::tempdir().unwrap();
        let db = small(&library, folder.path());
        let mut load = Load {
            only: None,
            operations: 1,
            subscribers: 0,
            calls: 0,
        };
        load.before(&db).unwrap();
        assert!(load.check(&db, 0, true).is_ok());
        let wrong = load.check(&db, 1, true).unwrap_err().to_string();
        assert!(
            wrong.contains("1 rows after transactions that leave 2"),
            "{wrong}"
        );
        db.exec("UPDATE call_forwarding SET sf_type=2").unwrap();
        assert!(
            load.check(&db, 0, true)
                .unwrap_err()
                .to_string()
                .contains("belong to no other")
        );
    }

    #[test]
    fn the_mix_has_its_shares_and_subscribers_are_not_asked_for_equally() {
        let writes = (0..100).filter(|n| drawn(*n).writes()).count();
        assert_eq!(writes, 20);
        assert_eq!(
            (0..100)
                .filter(|n| drawn(*n) == Transaction::GetAccessData)
                .count(),
            35
        );
        let mut random = SplitMix64(1);
        let mut asked = vec![0u32; 1000];
        for _ in 0..100_000 {
            asked[subscriber(1000, &mut random) as usize - 1] += 1;
        }
        asked.sort_unstable();
        assert!(asked[0] > 0 && asked[999] > 3 * asked[500], "{asked:?}");
    }
}
