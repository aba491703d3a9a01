//! The five tables of the Star Schema Benchmark, by a seeded generator of our own.
//!
//! Columns, numbers of rows, the values that its queries choose by, and their distributions are
//! those of the benchmark's specification (O'Neil, O'Neil and Chen); the rows are not those of its
//! program. All values are integers or texts; prices are in cents.

use std::fmt;

use anyhow::{Context, Result, bail};
use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Written, generate};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;

/// Smaller ones leave no supplier for some nation; larger ones make files that nobody keeps in SQLite.
const SCALES: std::ops::RangeInclusive<f64> = 0.01..=100.0;
const SEED: u64 = 13;

const DATE: &str = "CREATE TABLE date(
  d_datekey INTEGER PRIMARY KEY,
  d_date TEXT NOT NULL,
  d_dayofweek TEXT NOT NULL,
  d_month TEXT NOT NULL,
  d_year INTEGER NOT NULL,
  d_yearmonthnum INTEGER NOT NULL,
  d_yearmonth TEXT NOT NULL,
  d_daynuminweek INTEGER NOT NULL,
  d_daynuminmonth INTEGER NOT NULL,
  d_daynuminyear INTEGER NOT NULL,
  d_monthnuminyear INTEGER NOT NULL,
  d_weeknuminyear INTEGER NOT NULL,
  d_sellingseason TEXT NOT NULL,
  d_lastdayinweekfl INTEGER NOT NULL,
  d_lastdayinmonthfl INTEGER NOT NULL,
  d_holidayfl INTEGER NOT NULL,
  d_weekdayfl INTEGER NOT NULL
)";
const CUSTOMER: &str = "CREATE TABLE customer(
  c_custkey INTEGER PRIMARY KEY,
  c_name TEXT NOT NULL,
  c_address TEXT NOT NULL,
  c_city TEXT NOT NULL,
  c_nation TEXT NOT NULL,
  c_region TEXT NOT NULL,
  c_phone TEXT NOT NULL,
  c_mktsegment TEXT NOT NULL
)";
const SUPPLIER: &str = "CREATE TABLE supplier(
  s_suppkey INTEGER PRIMARY KEY,
  s_name TEXT NOT NULL,
  s_address TEXT NOT NULL,
  s_city TEXT NOT NULL,
  s_nation TEXT NOT NULL,
  s_region TEXT NOT NULL,
  s_phone TEXT NOT NULL
)";
const PART: &str = "CREATE TABLE part(
  p_partkey INTEGER PRIMARY KEY,
  p_name TEXT NOT NULL,
  p_mfgr TEXT NOT NULL,
  p_category TEXT NOT NULL,
  p_brand1 TEXT NOT NULL,
  p_color TEXT NOT NULL,
  p_type TEXT NOT NULL,
  p_size INTEGER NOT NULL,
  p_container TEXT NOT NULL
)";
const LINEORDER: &str = "CREATE TABLE lineorder(
  lo_orderkey INTEGER NOT NULL,
  lo_linenumber INTEGER NOT NULL,
  lo_custkey INTEGER NOT NULL,
  lo_partkey INTEGER NOT NULL,
  lo_suppkey INTEGER NOT NULL,
  lo_orderdate INTEGER NOT NULL,
  lo_orderpriority TEXT NOT NULL,
  lo_shippriority TEXT NOT NULL,
  lo_quantity INTEGER NOT NULL,
  lo_extendedprice INTEGER NOT NULL,
  lo_ordtotalprice INTEGER NOT NULL,
  lo_discount INTEGER NOT NULL,
  lo_revenue INTEGER NOT NULL,
  lo_supplycost INTEGER NOT NULL,
  lo_tax INTEGER NOT NULL,
  lo_commitdate INTEGER NOT NULL,
  lo_shipmode TEXT NOT NULL,
  PRIMARY KEY(lo_orderkey, lo_linenumber)
)";

/// Regions with their nations, which have ten cities each.
const REGIONS: [(&str, [&str; 5]); 5] = [
    (
        "AFRICA",
        ["ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"],
    ),
    (
        "AMERICA",
        ["ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"],
    ),
    ("ASIA", ["CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"]),
    (
        "EUROPE",
        ["FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"],
    ),
    (
        "MIDDLE EAST",
        ["EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"],
    ),
];
const SEGMENTS: [&str; 5] = [
    "AUTOMOBILE",
    "BUILDING",
    "FURNITURE",
    "HOUSEHOLD",
    "MACHINERY",
];
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW"];
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
const COLORS: [&str; 16] = [
    "almond", "azure", "beige", "black", "blue", "brown", "coral", "cyan", "forest", "green",
    "ivory", "lemon", "navy", "orange", "red", "white",
];
const FINISHES: [&str; 5] = ["ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED"];
const SIZES: [&str; 6] = ["ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"];
const METALS: [&str; 5] = ["BRASS", "COPPER", "NICKEL", "STEEL", "TIN"];
const BOXES: [&str; 5] = ["JUMBO", "LG", "MED", "SM", "WRAP"];
const KINDS: [&str; 8] = ["BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"];

/// The days from 1992 to 1998.
const DAYS: u64 = 2557;
/// The last day of an order lies this many days before the last one.
const AFTER_ORDERS: u64 = 151;
/// Lines of an order, at most.
const LINES: u64 = 7;

/// How many rows the tables have at a scale factor.
#[derive(Debug, PartialEq)]
struct Sizes {
    customers: u64,
    suppliers: u64,
    parts: u64,
    orders: u64,
}

impl Sizes {
    fn of(sf: f64) -> Sizes {
        let parts = match sf {
            sf if sf > 1.0 => (1.0 + sf.log2()).floor(),
            sf => sf,
        };
        Sizes {
            customers: (30_000.0 * sf) as u64,
            suppliers: (2_000.0 * sf) as u64,
            parts: (200_000.0 * parts) as u64,
            orders: (1_500_000.0 * sf) as u64,
        }
    }
}

/// Writes the five tables at scale factor `sf` (1 is 6 million rows of lineorder).
pub fn write(sf: f64, target: &DataTarget<'_>) -> Result<Written> {
    if !SCALES.contains(&sf) {
        bail!("the scale factor must be from 0.01 to 100");
    }
    let sizes = Sizes::of(sf);
    let days = days()?;
    let rows =
        sizes.customers + sizes.suppliers + sizes.parts + DAYS + sizes.orders * (1 + LINES) / 2;
    generate(target, rows, |to| {
        // Each table has numbers of its own, so that one may change without the others.
        let mut random = (1..).map(|n| SplitMix64(SEED * 1000 + n));
        let mut next = || random.next().expect("there is always one more");
        to.table("date", DATE, days.iter())?;
        let mut r = next();
        let customers = (1..=sizes.customers).map(|key| Customer(Firm::new(key, &mut r)));
        to.table("customer", CUSTOMER, customers)?;
        let mut r = next();
        let suppliers = (1..=sizes.suppliers).map(|key| Supplier(Firm::new(key, &mut r)));
        to.table("supplier", SUPPLIER, suppliers)?;
        let mut r = next();
        to.table(
            "part",
            PART,
            (1..=sizes.parts).map(|key| SsbPart::new(key, &mut r)),
        )?;
        let mut r = next();
        let orders = (1..=sizes.orders).flat_map(|key| order(key, &sizes, &days, &mut r));
        to.table("lineorder", LINEORDER, orders)
    })
}

fn choose<T: Copy>(random: &mut SplitMix64, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// A day of the calendar.
struct Day {
    date: Date,
    key: i64,
}

fn days() -> Result<Vec<Day>> {
    let first = date(1992, 1, 1);
    (0..DAYS as i64)
        .map(|n| {
            let date = first.checked_add(n.days()).context("a day")?;
            let key = i64::from(date.year()) * 10_000
                + i64::from(date.month()) * 100
                + i64::from(date.day());
            Ok(Day { date, key })
        })
        .collect()
}

impl Day {
    fn weekday(&self) -> &'static str {
        match self.date.weekday() {
            Weekday::Sunday => "Sunday",
            Weekday::Monday => "Monday",
            Weekday::Tuesday => "Tuesday",
            Weekday::Wednesday => "Wednesday",
            Weekday::Thursday => "Thursday",
            Weekday::Friday => "Friday",
            Weekday::Saturday => "Saturday",
        }
    }

    fn month(&self) -> &'static str {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        MONTHS[self.date.month() as usize - 1]
    }

    fn season(&self) -> &'static str {
        match self.date.month() {
            1..=3 => "Winter",
            4 => "Spring",
            5..=8 => "Summer",
            9..=10 => "Fall",
            _ => "Christmas",
        }
    }
}

impl DataRow for &Day {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        let d = self.date;
        let (year, month, in_year) = (d.year(), d.month(), d.day_of_year());
        let in_week = d.weekday().to_sunday_one_offset();
        to.int(self.key);
        to.shown(&format_args!("{} {}, {year}", self.month(), d.day()));
        to.text(self.weekday());
        to.text(self.month());
        to.int(year);
        to.int(i64::from(year) * 100 + i64::from(month));
        to.shown(&format_args!("{}{year}", &self.month()[..3]));
        to.int(in_week);
        to.int(d.day());
        to.int(in_year);
        to.int(month);
        to.int((in_year - 1) / 7 + 1);
        to.text(self.season());
        to.int(in_week == 7);
        to.int(d.day() == d.days_in_month());
        to.int([(1, 1), (7, 4), (12, 24), (12, 25)].contains(&(month, d.day())));
        to.int((2..=6).contains(&in_week));
    }
}

/// What customers and suppliers have in common.
struct Firm {
    key: u64,
    address: u64,
    nation: &'static str,
    nation_number: u64,
    region: &'static str,
    city: u64,
    phone: u64,
    segment: &'static str,
}

impl Firm {
    fn new(key: u64, random: &mut SplitMix64) -> Firm {
        let nation_number = random.below(25);
        let (region, nations) = REGIONS[nation_number as usize / 5];
        Firm {
            key,
            address: random.bits(),
            nation: nations[nation_number as usize % 5],
            nation_number,
            region,
            city: random.below(10),
            phone: random.below(10_000_000_000),
            segment: choose(random, &SEGMENTS),
        }
    }

    /// Address, city, nation, region and phone.
    fn bind(&self, to: &mut Binder<'_, '_, '_>) {
        to.shown(&Letters(self.address));
        // Nine places for the nation and one for the number.
        let nation = &self.nation[..self.nation.len().min(9)];
        to.shown(&format_args!("{nation:9}{}", self.city));
        to.text(self.nation);
        to.text(self.region);
        let (country, rest) = (10 + self.nation_number, self.phone);
        to.shown(&format_args!(
            "{country}-{:03}-{:03}-{:04}",
            rest / 10_000_000,
            rest / 10_000 % 1000,
            rest % 10_000
        ));
    }
}

/// Ten to 25 letters and digits.
struct Letters(u64);

impl fmt::Display for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ALL: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789, ";
        let mut random = SplitMix64(self.0);
        for _ in 0..10 + random.below(16) {
            write!(f, "{}", char::from(choose(&mut random, ALL)))?;
        }
        Ok(())
    }
}

struct Customer(Firm);

impl DataRow for Customer {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.0.key as i64);
        to.shown(&format_args!("Customer#{:09}", self.0.key));
        self.0.bind(to);
        to.text(self.0.segment);
    }
}

struct Supplier(Firm);

impl DataRow for Supplier {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.0.key as i64);
        to.shown(&format_args!("Supplier#{:09}", self.0.key));
        self.0.bind(to);
    }
}

struct SsbPart {
    key: u64,
    colors: [&'static str; 2],
    manufacturer: u64,
    category: u64,
    brand: u64,
    kind: [&'static str; 3],
    size: u64,
    container: [&'static str; 2],
}

impl SsbPart {
    fn new(key: u64, random: &mut SplitMix64) -> SsbPart {
        SsbPart {
            key,
            colors: [choose(random, &COLORS), choose(random, &COLORS)],
            manufacturer: 1 + random.below(5),
            category: 1 + random.below(5),
            brand: 1 + random.below(40),
            kind: [
                choose(random, &SIZES),
                choose(random, &FINISHES),
                choose(random, &METALS),
            ],
            size: 1 + random.below(50),
            container: [choose(random, &BOXES), choose(random, &KINDS)],
        }
    }
}

impl DataRow for SsbPart {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        let (m, c) = (self.manufacturer, self.category);
        to.int(self.key as i64);
        to.shown(&format_args!("{} {}", self.colors[0], self.colors[1]));
        to.shown(&format_args!("MFGR#{m}"));
        to.shown(&format_args!("MFGR#{m}{c}"));
        to.shown(&format_args!("MFGR#{m}{c}{}", self.brand));
        to.text(self.colors[0]);
        to.shown(&format_args!(
            "{} {} {}",
            self.kind[0], self.kind[1], self.kind[2]
        ));
        to.int(self.size as i64);
        to.shown(&format_args!("{} {}", self.container[0], self.container[1]));
    }
}

/// What a part costs, in cents.
fn price(part: u64) -> u64 {
    90_000 + part / 10 % 20_001 + 100 * (part % 1000)
}

#[derive(Clone)]
struct SsbLine {
    order: u64,
    number: u64,
    customer: u64,
    part: u64,
    supplier: u64,
    ordered: i64,
    priority: &'static str,
    quantity: u64,
    extended: u64,
    total: u64,
    discount: u64,
    tax: u64,
    committed: i64,
    mode: &'static str,
}

/// The lines of an order.
fn order(key: u64, sizes: &Sizes, days: &[Day], random: &mut SplitMix64) -> Vec<SsbLine> {
    let day = random.below(DAYS - AFTER_ORDERS);
    let priority = choose(random, &PRIORITIES);
    let customer = 1 + random.below(sizes.customers);
    let mut lines: Vec<SsbLine> = (1..=1 + random.below(LINES))
        .map(|number| {
            let part = 1 + random.below(sizes.parts);
            let quantity = 1 + random.below(50);
            SsbLine {
                order: key,
                number,
                customer,
                part,
                supplier: 1 + random.below(sizes.suppliers),
                ordered: days[day as usize].key,
                priority,
                quantity,
                extended: quantity * price(part),
                total: 0,
                discount: random.below(11),
                tax: random.below(9),
                committed: days[(day + 30 + random.below(61)) as usize].key,
                mode: choose(random, &MODES),
            }
        })
        .collect();
    let total = lines
        .iter()
        .map(|l| l.extended * (100 - l.discount) * (100 + l.tax) / 10_000)
        .sum();
    for line in &mut lines {
        line.total = total;
    }
    lines
}

impl DataRow for SsbLine {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for n in [
            self.order,
            self.number,
            self.customer,
            self.part,
            self.supplier,
        ] {
            to.int(n as i64);
        }
        to.int(self.ordered);
        to.text(self.priority);
        to.text("0");
        for n in [
            self.quantity,
            self.extended,
            self.total,
            self.discount,
            self.extended * (100 - self.discount) / 100,
            6 * price(self.part) / 10,
            self.tax,
        ] {
            to.int(n as i64);
        }
        to.int(self.committed);
        to.text(self.mode);
    }
}
