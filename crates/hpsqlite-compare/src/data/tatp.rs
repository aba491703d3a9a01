//! The four tables of TATP, the Telecom Application Transaction Processing benchmark.
//!
//! The values are drawn by a seeded generator of our own with the distributions of its
//! specification (version 1.0), so that every machine makes the same file. What belongs to a
//! subscriber follows from his number alone.

use anyhow::{Result, ensure};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Written, generate};

/// Raised whenever the same parameters give another file.
pub const VERSION: u32 = 1;
/// Usual number of subscribers.
pub const SUBSCRIBERS: u64 = 100_000;

const SEED: u64 = 7;

/// Rows a subscriber has on average: himself, 2.5 accesses, 2.5 facilities, and 1.5 calls
/// forwarded by each of these.
const ROWS_EACH: f64 = 1.0 + 2.5 + 2.5 + 3.75;

const ACCESS_INFO: &str = "CREATE TABLE access_info(
  s_id INTEGER NOT NULL REFERENCES subscriber(s_id),
  ai_type INTEGER NOT NULL,
  data1 INTEGER, data2 INTEGER, data3 TEXT, data4 TEXT,
  PRIMARY KEY(s_id, ai_type)
)";
const SPECIAL_FACILITY: &str = "CREATE TABLE special_facility(
  s_id INTEGER NOT NULL REFERENCES subscriber(s_id),
  sf_type INTEGER NOT NULL,
  is_active INTEGER NOT NULL, error_cntrl INTEGER, data_a INTEGER, data_b TEXT,
  PRIMARY KEY(s_id, sf_type)
)";
const CALL_FORWARDING: &str = "CREATE TABLE call_forwarding(
  s_id INTEGER NOT NULL,
  sf_type INTEGER NOT NULL,
  start_time INTEGER NOT NULL,
  end_time INTEGER, numberx TEXT,
  PRIMARY KEY(s_id, sf_type, start_time),
  FOREIGN KEY(s_id, sf_type) REFERENCES special_facility(s_id, sf_type)
)";

fn subscriber_ddl() -> String {
    let columns = |name: &str| -> String {
        (1..=10)
            .map(|n| format!("  {name}_{n} INTEGER,\n"))
            .collect()
    };
    format!(
        "CREATE TABLE subscriber(\n  s_id INTEGER PRIMARY KEY,\n  sub_nbr TEXT NOT NULL UNIQUE,\n{}{}{}  \
         msc_location INTEGER,\n  vlr_location INTEGER\n)",
        columns("bit"),
        columns("hex"),
        columns("byte2")
    )
}

/// The number by which subscriber `s_id` is called.
pub fn number(s_id: u64) -> String {
    format!("{s_id:015}")
}

/// A number that a call is forwarded to.
pub fn any_number(random: &mut SplitMix64) -> String {
    number(random.below(1_000_000_000_000_000))
}

/// Writes the four tables for so many subscribers.
pub fn write(subscribers: u64, target: &DataTarget<'_>) -> Result<Written> {
    ensure!(
        (1..=100_000_000).contains(&subscribers),
        "there may be 1 to 100,000,000 subscribers"
    );
    let all = || 1..=subscribers;
    let rows = (subscribers as f64 * ROWS_EACH) as u64;
    generate(target, rows, |to| {
        to.table("subscriber", &subscriber_ddl(), all().map(Subscriber::new))?;
        to.table("access_info", ACCESS_INFO, all().flat_map(accesses))?;
        to.table(
            "special_facility",
            SPECIAL_FACILITY,
            all().flat_map(facilities),
        )?;
        let calls = all().flat_map(facilities).flat_map(|f| f.calls);
        to.table("call_forwarding", CALL_FORWARDING, calls)
    })
}

/// What is random in one table for one subscriber.
fn random(table: u64, s_id: u64) -> SplitMix64 {
    SplitMix64(SplitMix64(SEED ^ (table << 56) ^ s_id).bits())
}

/// One to four of the types 1 to 4, in their order.
fn types(random: &mut SplitMix64) -> Vec<u64> {
    let mut all = vec![1, 2, 3, 4];
    for _ in 0..random.below(4) {
        let one = random.below(all.len() as u64) as usize;
        all.remove(one);
    }
    all
}

fn capitals(n: usize, random: &mut SplitMix64) -> String {
    (0..n)
        .map(|_| char::from(b'A' + random.below(26) as u8))
        .collect()
}

struct Subscriber {
    s_id: u64,
    sub_nbr: String,
    bits: [u64; 10],
    hex: [u64; 10],
    bytes: [u64; 10],
    locations: [u64; 2],
}

impl Subscriber {
    fn new(s_id: u64) -> Subscriber {
        let mut random = random(1, s_id);
        Subscriber {
            s_id,
            sub_nbr: number(s_id),
            bits: [(); 10].map(|()| random.below(2)),
            hex: [(); 10].map(|()| random.below(16)),
            bytes: [(); 10].map(|()| random.below(256)),
            locations: [(); 2].map(|()| location(&mut random)),
        }
    }
}

/// Where a subscriber is: a number of 32 bits, not 0.
pub fn location(random: &mut SplitMix64) -> u64 {
    1 + random.below((1 << 32) - 1)
}

impl DataRow for Subscriber {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.s_id as i64);
        to.text(&self.sub_nbr);
        let numbers = self.bits.iter().chain(&self.hex).chain(&self.bytes);
        for n in numbers.chain(&self.locations) {
            to.int(*n as i64);
        }
    }
}

struct AccessInfo {
    numbers: [u64; 4],
    data3: String,
    data4: String,
}

fn accesses(s_id: u64) -> Vec<AccessInfo> {
    let mut random = random(2, s_id);
    types(&mut random)
        .into_iter()
        .map(|ai_type| AccessInfo {
            numbers: [s_id, ai_type, random.below(256), random.below(256)],
            data3: capitals(3, &mut random),
            data4: capitals(5, &mut random),
        })
        .collect()
}

impl DataRow for AccessInfo {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for n in self.numbers {
            to.int(n as i64);
        }
        to.text(&self.data3);
        to.text(&self.data4);
    }
}

struct Facility {
    numbers: [u64; 5],
    data_b: String,
    calls: Vec<Call>,
}

fn facilities(s_id: u64) -> Vec<Facility> {
    let mut random = random(3, s_id);
    types(&mut random)
        .into_iter()
        .map(|sf_type| Facility {
            numbers: [
                s_id,
                sf_type,
                u64::from(random.below(100) < 85),
                random.below(256),
                random.below(256),
            ],
            data_b: capitals(5, &mut random),
            calls: calls(s_id, sf_type, &mut random),
        })
        .collect()
}

impl DataRow for Facility {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for n in self.numbers {
            to.int(n as i64);
        }
        to.text(&self.data_b);
    }
}

struct Call {
    numbers: [u64; 4],
    numberx: String,
}

/// None to three, which begin at different hours.
fn calls(s_id: u64, sf_type: u64, random: &mut SplitMix64) -> Vec<Call> {
    let mut starts = vec![0, 8, 16];
    for _ in 0..random.below(4) {
        starts.remove(random.below(starts.len() as u64) as usize);
    }
    starts
        .into_iter()
        .map(|start| Call {
            numbers: [s_id, sf_type, start, start + 1 + random.below(8)],
            numberx: any_number(random),
        })
        .collect()
}

impl DataRow for Call {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for n in self.numbers {
            to.int(n as i64);
        }
        to.text(&self.numberx);
    }
}
