//! A table of page views of 105 columns, as ClickBench has it: many narrow columns, of which a
//! question reads a few.
//!
//! The names and types of the columns are ClickBench's. Its rows are those of a real site, which are
//! too large to fetch; ours are drawn by a seeded generator, with about as many different values, as
//! many empty texts and as long ones. Rows stand in the order of `CounterID` and `EventTime`, as there.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::random::SplitMix64;
use super::{Binder, DataRow, DataTarget, Written, generate};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;
pub const ROWS: u64 = 2_000_000;

const SEED: u64 = 105;
/// The first day of the month that all rows are of.
const MONTH: &str = "2013-07";
const DAYS: u64 = 31;

/// What the values of a column are drawn from.
#[derive(Clone, Copy)]
enum Kind {
    /// Integers below this.
    Below(u64),
    /// 0 but for one row in the first, then below the second.
    Rare(u64, u64),
    /// A number of 63 bits, one of this many.
    Wide(u64),
    /// Which no other row has.
    Serial,
    Counter,
    Time,
    Date,
    /// An address on one of so many sites, empty in all rows but one in the first.
    Url(u64, u64),
    /// Words, of so many different texts, empty in all rows but one in the first.
    Words(u64, u64),
    /// One of so many codes, empty in all rows but one in the first.
    Code(u64, u64),
}
use Kind::{Below, Code, Counter, Date, Rare, Serial, Time, Url, Wide, Words};

const COLUMNS: &[(&str, Kind)] = &[
    ("WatchID", Serial),
    ("JavaEnable", Below(2)),
    ("Title", Words(4, 60_000)),
    ("GoodEvent", Below(1)),
    ("EventTime", Time),
    ("EventDate", Date),
    ("CounterID", Counter),
    ("ClientIP", Wide(400_000)),
    ("RegionID", Below(5_000)),
    ("UserID", Wide(350_000)),
    ("CounterClass", Below(2)),
    ("OS", Below(90)),
    ("UserAgent", Below(80)),
    ("URL", Url(1, 5_000)),
    ("Referer", Url(2, 3_000)),
    ("IsRefresh", Rare(8, 2)),
    ("RefererCategoryID", Rare(3, 200)),
    ("RefererRegionID", Rare(3, 600)),
    ("URLCategoryID", Rare(2, 200)),
    ("URLRegionID", Rare(2, 600)),
    ("ResolutionWidth", Below(2_600)),
    ("ResolutionHeight", Below(1_600)),
    ("ResolutionDepth", Below(33)),
    ("FlashMajor", Below(12)),
    ("FlashMinor", Below(10)),
    ("FlashMinor2", Code(2, 40)),
    ("NetMajor", Below(4)),
    ("NetMinor", Below(9)),
    ("UserAgentMajor", Below(60)),
    ("UserAgentMinor", Code(1, 60)),
    ("CookieEnable", Below(2)),
    ("JavascriptEnable", Below(2)),
    ("IsMobile", Rare(12, 2)),
    ("MobilePhone", Rare(12, 100)),
    ("MobilePhoneModel", Code(16, 170)),
    ("Params", Code(40, 500)),
    ("IPNetworkID", Wide(100_000)),
    ("TraficSourceID", Below(11)),
    ("SearchEngineID", Rare(7, 90)),
    ("SearchPhrase", Words(7, 120_000)),
    ("AdvEngineID", Rare(150, 60)),
    ("IsArtifical", Below(1)),
    ("WindowClientWidth", Below(2_500)),
    ("WindowClientHeight", Below(1_500)),
    ("ClientTimeZone", Below(24)),
    ("ClientEventTime", Time),
    ("SilverlightVersion1", Below(5)),
    ("SilverlightVersion2", Below(2)),
    ("SilverlightVersion3", Wide(60)),
    ("SilverlightVersion4", Below(2)),
    ("PageCharset", Code(1, 12)),
    ("CodeVersion", Wide(40)),
    ("IsLink", Rare(12, 2)),
    ("IsDownload", Rare(400, 2)),
    ("IsNotBounce", Below(2)),
    ("FUniqID", Wide(300_000)),
    ("OriginalURL", Url(6, 2_000)),
    ("HID", Wide(900_000)),
    ("IsOldCounter", Below(1)),
    ("IsEvent", Below(1)),
    ("IsParameter", Below(1)),
    ("DontCountHits", Rare(10, 2)),
    ("WithHash", Rare(20, 2)),
    ("HitColor", Code(1, 5)),
    ("LocalEventTime", Time),
    ("Age", Rare(2, 60)),
    ("Sex", Rare(2, 3)),
    ("Income", Rare(2, 4)),
    ("Interests", Rare(2, 16_000)),
    ("Robotness", Rare(60, 50)),
    ("RemoteIP", Wide(400_000)),
    ("WindowName", Below(100)),
    ("OpenerName", Below(100)),
    ("HistoryLength", Below(20)),
    ("BrowserLanguage", Code(1, 20)),
    ("BrowserCountry", Code(1, 40)),
    ("SocialNetwork", Code(200, 10)),
    ("SocialAction", Code(200, 10)),
    ("HTTPError", Rare(500, 500)),
    ("SendTiming", Rare(4, 3_000)),
    ("DNSTiming", Rare(4, 300)),
    ("ConnectTiming", Rare(4, 500)),
    ("ResponseStartTiming", Rare(4, 2_000)),
    ("ResponseEndTiming", Rare(4, 3_000)),
    ("FetchTiming", Rare(4, 9_000)),
    ("SocialSourceNetworkID", Rare(100, 15)),
    ("SocialSourcePage", Url(200, 50)),
    ("ParamPrice", Rare(300, 90_000)),
    ("ParamOrderID", Code(300, 9_000)),
    ("ParamCurrency", Code(300, 3)),
    ("ParamCurrencyID", Rare(300, 3)),
    ("OpenstatServiceName", Code(60, 10)),
    ("OpenstatCampaignID", Code(60, 300)),
    ("OpenstatAdID", Code(60, 900)),
    ("OpenstatSourceID", Code(60, 40)),
    ("UTMSource", Code(40, 60)),
    ("UTMMedium", Code(40, 10)),
    ("UTMCampaign", Code(40, 400)),
    ("UTMContent", Code(50, 600)),
    ("UTMTerm", Code(50, 900)),
    ("FromTag", Code(60, 90)),
    ("HasGCLID", Rare(60, 2)),
    ("RefererHash", Wide(90_000)),
    ("URLHash", Wide(120_000)),
    ("CLID", Rare(80, 9_000)),
];

/// Writes table `hits` with `rows` rows.
pub fn write(rows: u64, target: &DataTarget<'_>) -> Result<Written> {
    if rows == 0 {
        bail!("there must be at least one row");
    }
    let mut ddl = String::from("CREATE TABLE hits(");
    for (i, (name, kind)) in COLUMNS.iter().enumerate() {
        let text = matches!(kind, Time | Date | Url(..) | Words(..) | Code(..));
        let comma = if i > 0 { ", " } else { "" };
        write!(
            ddl,
            "{comma}{name} {}",
            if text { "TEXT" } else { "INTEGER" }
        )?;
    }
    ddl.push(')');
    let mut random = SplitMix64(SEED);
    generate(target, rows, |to| {
        to.table(
            "hits",
            &ddl,
            (0..rows).map(|row| View::new(row, rows, &mut random)),
        )
    })
}

/// A row: a number for each column, which tells the value.
struct View {
    row: u64,
    counter: u64,
    /// Seconds since the beginning of the month.
    second: u64,
    draws: Vec<u64>,
}

/// So many sites have the rows, each twice as many as the next but one.
const COUNTERS: u64 = 200;

impl View {
    fn new(row: u64, rows: u64, random: &mut SplitMix64) -> View {
        // The first sites have most rows: the share of those before site c is 1-1/(1+c/20).
        let share = |c: u64| 1.0 - 1.0 / (1.0 + c as f64 / 20.0);
        let at = row as f64 / rows as f64 * share(COUNTERS);
        let counter = ((1.0 / (1.0 - at) - 1.0) * 20.0) as u64;
        let (from, to) = (share(counter), share(counter + 1));
        let month = DAYS * 86_400;
        let second = ((at - from) / (to - from) * month as f64) as u64;
        View {
            row,
            counter,
            second: second.min(month - 1),
            draws: COLUMNS.iter().map(|_| random.bits()).collect(),
        }
    }

    /// Is the value there, in one row of `one_in`? And the rest of the draw.
    fn there(draw: u64, one_in: u64) -> Option<u64> {
        draw.is_multiple_of(one_in).then_some(draw / one_in)
    }

    fn time(&self) -> impl std::fmt::Display {
        let (day, s) = (1 + self.second / 86_400, self.second % 86_400);
        let (hour, minute, second) = (s / 3600, s / 60 % 60, s % 60);
        format!("{MONTH}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// Few values have most rows: the one of two draws that is less.
fn skewed(draw: u64, n: u64) -> u64 {
    ((draw >> 32) % n).min((draw & 0xffff_ffff) % n)
}

impl DataRow for View {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        for (&(_, kind), &draw) in COLUMNS.iter().zip(&self.draws) {
            match kind {
                Below(n) => to.int(skewed(draw, n) as i64),
                Rare(one_in, n) => {
                    to.int(View::there(draw, one_in).map_or(0, |d| skewed(d, n) as i64));
                }
                Wide(n) => to.int((super::random::mix(skewed(draw, n)) >> 1) as i64),
                Serial => to.int((super::random::mix(self.row) >> 1) as i64),
                Counter => to.int(self.counter as i64),
                Time => to.shown(&format_args!("{}", self.time())),
                Date => to.shown(&format_args!("{MONTH}-{:02}", 1 + self.second / 86_400)),
                Url(one_in, sites) => match View::there(draw, one_in) {
                    None => to.shown(&format_args!("")),
                    Some(d) => {
                        let site = skewed(d, sites);
                        let name = if site % 90 == 7 { "google" } else { "example" };
                        to.shown(&format_args!(
                            "http://{name}{site}.ru/catalogue/{}/page.html?id={}",
                            d % 97,
                            skewed(d / 97, 40_000)
                        ));
                    }
                },
                Words(one_in, n) => match View::there(draw, one_in) {
                    None => to.shown(&format_args!("")),
                    Some(d) => {
                        let d = skewed(d, n);
                        let what = if d % 120 == 11 { "Google" } else { "weather" };
                        to.shown(&format_args!("{what} of {} in {}", d / 90, d % 90));
                    }
                },
                Code(one_in, n) => match View::there(draw, one_in) {
                    None => to.shown(&format_args!("")),
                    Some(d) => to.shown(&format_args!("c{}", skewed(d, n))),
                },
            }
        }
    }
}
