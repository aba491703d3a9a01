//! How the values of a column are spread.

use fastrand::Rng;

use crate::value::Value;

/// How a column is clustered.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Rows with one value.
    each: usize,
    /// One value in so many is out of order; 0: none is.
    stray: u64,
    /// Written as text.
    text: bool,
}

/// A way of drawing the values of one column.
#[derive(Clone, Debug)]
pub enum Spread {
    Constant(Value),
    /// Integers from 0, of so many different ones; the low ones far more often.
    Skewed(u64),
    Unique,
    /// Increasing values, each for several rows on end.
    Clustered(Cluster),
    /// Integers from 0, of so many different ones.
    Below(usize),
    /// Both ends of 64 bits, the powers of two near them, and around 2^53.
    Edges,
    Small,
    Reals,
    Decimals,
    /// Numbers written as text, well and badly.
    NumericText,
    Words(usize),
    /// Days, as ISO 8601 writes them.
    Dates,
    /// Days and times in all forms that the date functions know, and garbage.
    Times,
    /// Text of a form such as id0000000123: its first bytes tell nothing.
    Prefixed(usize),
    /// Words that some collations hold for equal: letters of both cases, blanks.
    Cased,
    /// Integers whose sums leave 64 bits, in one order sooner than in another.
    Huge,
    /// Reals that cancel each other, of very different sizes.
    Cancelling,
    /// Text and blobs, up to so many bytes.
    Long(usize),
    /// Text that is no proper text: bad encodings, NULs, blobs.
    Odd,
    /// One of several.
    Mix(Vec<Spread>),
}

const EDGES: [i64; 22] = [
    i64::MAX,
    i64::MIN,
    i64::MAX - 1,
    i64::MIN + 1,
    0,
    1,
    -1,
    127,
    128,
    -128,
    -129,
    32767,
    32768,
    8388607,
    8388608,
    2147483647,
    2147483648,
    140737488355327,
    140737488355328,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
];

const REALS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.0,
    3.0,
    0.1,
    0.2,
    0.3,
    1e300,
    -1e300,
    1e-300,
    5e-324,
    1.7976931348623157e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9007199254740992.0,
    9007199254740993.0,
    9223372036854775807.0,
    -9223372036854775808.0,
    4.35,
    1e15,
];

const NUMERIC_TEXT: [&str; 30] = [
    "1",
    "2",
    "02",
    "2.0",
    " 12 ",
    "12",
    "0x10",
    "1e3",
    "1000",
    "-0",
    "-0.0",
    "+5",
    "5 ",
    "\t7",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1e999",
    "abc",
    "",
    " ",
    ".5",
    "5.",
    "1e",
    "1e+",
    "12abc",
    "1_000",
    "nan",
    "inf",
    "0.30000000000000004",
];

const WORDS: [&str; 20] = [
    "", "a", "A", "b", "B", "ab", "AB", "aB ", "ab  ", "abc", "%", "a%", "a_c", "ä", "Ä", "日本",
    "zz top", "it's", "\\", "z",
];

const TIMES: [&str; 24] = [
    "2020-02-29",
    "2020-02-29 12:34",
    "2020-02-29 12:34:56",
    "2020-02-29T23:59:59.999",
    "1992-12-31 00:00:00+02:00",
    "1992-12-31 00:00:00Z",
    "12:00",
    "12:34:56.5",
    "2451545.5",
    "0",
    "1e6",
    "2020-13-01",
    "2020-02-30",
    "2020-02-31",
    "2020-1-1",
    "0000-01-01",
    "9999-12-31",
    "10000-01-01",
    "-4713-11-24",
    " 2020-01-01",
    "2020-01-01 ",
    "2020-01-01x",
    "20200101",
    "yesterday",
];

const CASED: [&str; 14] = [
    "a", "A", "a ", "A  ", " a", "ab", "aB", "Ab ", "abc", "ABC ", "ä", "Ä", "", " ",
];

impl Spread {
    /// Are its values times?
    pub fn is_time(&self) -> bool {
        match self {
            Spread::Dates | Spread::Times => true,
            Spread::Mix(parts) => parts.iter().any(Spread::is_time),
            _ => false,
        }
    }

    /// A spread for a column of this declared type.
    pub fn random(rng: &mut Rng, declared: &str) -> Spread {
        let clustered = |rng: &mut Rng, text| {
            Spread::Clustered(Cluster {
                each: [1, 4, 4, 60][rng.usize(0..4)],
                stray: [0, 0, 20, 500][rng.usize(0..4)],
                text,
            })
        };
        let numbers = |rng: &mut Rng| match rng.u8(0..14) {
            12..=13 => clustered(rng, false),
            0..=3 => Spread::Skewed([2, 3, 10, 100][rng.usize(0..4)]),
            4 => Spread::Unique,
            5 => Spread::Edges,
            6 => Spread::Small,
            7 => Spread::Decimals,
            8 => Spread::Huge,
            9 => Spread::Cancelling,
            _ => Spread::Reals,
        };
        let texts = |rng: &mut Rng| match rng.u8(0..15) {
            0..=3 => Spread::Words([2, 5, 20][rng.usize(0..3)]),
            4..=5 => Spread::NumericText,
            6 => Spread::Dates,
            7 => Spread::Long([40, 300, 5000][rng.usize(0..3)]),
            8 => Spread::Odd,
            9 => Spread::Dates,
            10 => Spread::Times,
            11 => Spread::Prefixed([3, 50, 1000][rng.usize(0..3)]),
            12 => Spread::Cased,
            14 => clustered(rng, true),
            _ => Spread::Unique,
        };
        if declared == "DATE" && rng.u8(0..4) > 0 {
            return [Spread::Dates, Spread::Times][rng.usize(0..2)].clone();
        }
        let matching = if declared.contains("TEXT")
            || declared.contains("CHAR")
            || declared.contains("BLOB")
        {
            texts(rng)
        } else {
            numbers(rng)
        };
        match rng.u8(0..20) {
            0 => Spread::Constant(
                Spread::Mix(vec![Spread::Reals, Spread::Edges, Spread::Words(20)]).draw(rng, 0),
            ),
            1..=3 => Spread::Mix(vec![numbers(rng), texts(rng), Spread::Reals, Spread::Odd]),
            4 => Spread::Mix(vec![
                Spread::Skewed(5),
                Spread::Mix(vec![Spread::Small, Spread::Reals]),
            ]),
            5..=6 => numbers(rng),
            7 => texts(rng),
            _ => matching,
        }
    }

    /// The value of row number `row`.
    pub fn draw(&self, rng: &mut Rng, row: usize) -> Value {
        match self {
            Spread::Constant(value) => value.clone(),
            Spread::Skewed(n) => {
                let r = rng.f64();
                Value::Int((r * r * *n as f64) as i64)
            }
            Spread::Unique => Value::Int(row as i64 * 7 - 50),
            Spread::Clustered(cluster) => {
                let place = (row / cluster.each) as i64 - 20;
                let stray = cluster.stray > 0 && rng.u64(0..cluster.stray) == 0;
                let value = if stray { rng.i64(-30..30) } else { place };
                match value {
                    _ if cluster.text => Value::Text(format!("no {value:06}").into_bytes()),
                    // A real that equals an integer, and one that is between two.
                    _ if stray && value % 3 == 0 => Value::Real(value as f64),
                    _ if stray && value % 3 == 1 => Value::Real(value as f64 + 0.5),
                    _ => Value::Int(value),
                }
            }
            Spread::Below(n) => Value::Int(rng.i64(0..*n as i64)),
            Spread::Edges => Value::Int(EDGES[rng.usize(0..EDGES.len())]),
            Spread::Small => Value::Int(rng.i64(-300..300)),
            Spread::Reals => Value::Real(match rng.u8(0..3) {
                0 => REALS[rng.usize(0..REALS.len())],
                1 => rng.f64() * 1000.0,
                _ => rng.i64(-5..5) as f64,
            }),
            Spread::Decimals => Value::Real(rng.i64(-100_000..100_000) as f64 / 100.0),
            Spread::NumericText => Value::text(NUMERIC_TEXT[rng.usize(0..NUMERIC_TEXT.len())]),
            Spread::Words(n) => Value::text(WORDS[rng.usize(0..*n.min(&WORDS.len()))]),
            Spread::Dates => Value::Text(
                format!(
                    "{}-{:02}-{:02}",
                    rng.u32(1992..1999),
                    rng.u32(1..13),
                    rng.u32(1..29)
                )
                .into_bytes(),
            ),
            Spread::Times => match rng.u8(0..20) {
                0 => Value::Int(rng.i64(-10_000_000_000..10_000_000_000)),
                1 => Value::Real(rng.f64() * 3_000_000.0),
                2..=9 => Spread::Dates.draw(rng, row),
                _ => Value::text(TIMES[rng.usize(0..TIMES.len())]),
            },
            Spread::Prefixed(n) => Value::Text(format!("id{:010}", rng.usize(0..*n)).into_bytes()),
            Spread::Cased => Value::text(CASED[rng.usize(0..CASED.len())]),
            Spread::Huge => {
                let far = 1i64 << rng.u32(60..63);
                Value::Int(match rng.u8(0..8) {
                    0 => i64::MAX - rng.i64(0..3),
                    1 => i64::MIN + rng.i64(0..3),
                    2..=4 => far - rng.i64(0..100),
                    5..=6 => rng.i64(0..100) - far,
                    _ => rng.i64(-3..3),
                })
            }
            Spread::Cancelling => Value::Real(match rng.u8(0..8) {
                0 => 1e16,
                1 => -1e16,
                2 => 1e100,
                3 => -1e100,
                4 => 0.1,
                _ => rng.f64() - 0.5,
            }),
            Spread::Long(most) => {
                let length = match rng.u8(0..8) {
                    0 => *most,
                    1 => rng.usize(0..=*most),
                    _ => rng.usize(0..=*most / 8),
                };
                let bytes: Vec<u8> = (0..length).map(|i| b'a' + (i % 23) as u8).collect();
                if rng.u8(0..4) == 0 {
                    Value::Blob(bytes)
                } else {
                    Value::Text(bytes)
                }
            }
            Spread::Odd => match rng.u8(0..8) {
                0 => Value::Text(vec![0xff, 0xfe]),
                1 => Value::Text(vec![b'a', 0, b'b']),
                2 => Value::Text(vec![0xe6, 0x97]),
                3 => Value::Text(vec![b'5', 0]),
                4 => Value::Blob(vec![]),
                5 => Value::Blob(b"12".to_vec()),
                6 => Value::Blob(vec![0, 1, 2, rng.u8(..)]),
                _ => Value::Text(vec![b'1', 0xc0, 0x80]),
            },
            Spread::Mix(spreads) => spreads[rng.usize(0..spreads.len())].draw(rng, row),
        }
    }
}
