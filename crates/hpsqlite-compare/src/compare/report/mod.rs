//! All that a comparison found out; every table and chart is made from it.

pub mod html;
pub mod terminal;

use serde::Serialize;

use super::protocol::{OpenedLibrary, Outcome, ReportedError, ResultColumn, RunTime, ShownValue};
use super::stats::{self, Speedup, Summary};
use crate::text;

/// The exit status where all answers were the same, ...
pub const SAME: u8 = 0;
/// ... and where one was not.
pub const DIFFERENT: u8 = 1;
/// No answer differs from another but those of statements that give another one each time.
pub const VARYING: u8 = 3;

/// The text that EXPLAIN QUERY PLAN shows where ours took a query over.
const TAKEN_OVER: &str = "VECTORIZED";

/// Times whose spread is more than this share of the median are warned of.
const NOISE: f64 = 0.1;

#[derive(Serialize)]
pub struct CompareReport {
    /// Version of this tool.
    pub hpsqlite: String,
    /// UTC.
    pub when: String,
    pub machine: Machine,
    pub database: Database,
    pub cache: CacheState,
    /// The one compared with, and the one whose speed-up is told.
    pub sides: Vec<Side>,
    pub statements: Vec<Statement>,
}

#[derive(Serialize)]
pub struct Machine {
    pub processor: String,
    pub processors: usize,
    pub kernel: String,
}

impl Machine {
    /// The machine this runs on.
    pub fn this() -> Machine {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo
            .lines()
            .find(|l| l.starts_with("model name"))
            .and_then(|l| l.split_once(": "));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Machine {
            processor: model.map_or(std::env::consts::ARCH, |m| m.1).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: format!("Linux {}", kernel.trim()),
        }
    }
}

#[derive(Serialize)]
pub struct Database {
    pub path: String,
    pub bytes: u64,
    pub page_size: i64,
    pub journal_mode: String,
    pub encoding: String,
    /// Whether a copy was worked on.
    pub scratch: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    Warm,
    Cold,
}

impl CacheState {
    /// As a table says it.
    pub fn words(self) -> &'static str {
        match self {
            CacheState::Warm => "warm cache",
            CacheState::Cold => "cold cache",
        }
    }
}

#[derive(Serialize)]
pub struct Side {
    pub label: String,
    #[serde(flatten)]
    pub opened: OpenedLibrary,
}

impl Side {
    /// `SQLite 3.54.1`, and our version where it is ours.
    pub fn version(&self) -> String {
        match &self.opened.hp_version {
            Some(hp) => format!("SQLite {} with hpsqlite {hp}", self.opened.version),
            None => format!("SQLite {}", self.opened.version),
        }
    }
}

#[derive(Serialize)]
pub struct Statement {
    pub number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub sql: String,
    pub place: String,
    /// The answer that both gave.
    pub outcome: Option<Outcome>,
    pub difference: Option<Difference>,
    /// EXPLAIN QUERY PLAN of each side, a line an entry.
    pub plans: Vec<Vec<String>>,
    /// How often the statement ran within each sample.
    pub repeat: u32,
    /// Whether every round had new worker processes.
    pub fresh: bool,
    /// Every measurement, in the order in which they were taken.
    pub samples: [Vec<RunTime>; 2],
    pub summaries: Option<[Summary; 2]>,
    pub speedup: Option<Speedup>,
}

impl Statement {
    /// Works out the summaries from the samples so far; returns a word on the speed-up.
    pub fn summarise(&mut self) -> String {
        let times = |samples: &[RunTime]| samples.iter().map(|s| s.seconds).collect::<Vec<f64>>();
        let [a, b] = [times(&self.samples[0]), times(&self.samples[1])];
        self.summaries = Some([stats::summary(&a), stats::summary(&b)]);
        let speedup = stats::speedup(&a, &b);
        self.speedup = Some(speedup);
        text::ratio(speedup.ratio)
    }

    /// What it is called where there is one line for it.
    pub fn name(&self) -> String {
        match &self.title {
            Some(title) => title.clone(),
            None => self.sql.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether the answers of the two sides differ, and not only from one run to the next.
    pub fn differs(&self) -> bool {
        self.difference.is_some() && !self.varies()
    }

    /// Whether each run on either side gives another answer.
    pub fn varies(&self) -> bool {
        matches!(self.difference, Some(Difference::Varies))
    }

    /// In how many samples of a side it read columns that were in memory.
    pub fn read_columns(&self, side: usize) -> usize {
        let read = |sample: &&RunTime| sample.columns.is_some_and(|n| n > 0);
        self.samples[side].iter().filter(read).count()
    }

    /// Whether a side ran it through our own executor.
    pub fn taken_over(&self, side: usize) -> bool {
        self.plans[side]
            .iter()
            .any(|line| line.contains(TAKEN_OVER))
    }
}

/// How two answers differ.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Difference {
    /// Names or declared types of the result columns.
    Columns {
        a: Vec<ResultColumn>,
        b: Vec<ResultColumn>,
    },
    /// The first row that is not the same; none where that side has no more rows.
    Row {
        number: u64,
        columns: Vec<String>,
        a: Option<Vec<ShownValue>>,
        b: Option<Vec<ShownValue>>,
        /// Both give the same rows, in another order.
        reordered: bool,
    },
    /// The same rows, but not the same end.
    Ending {
        rows: [u64; 2],
        a: Option<ReportedError>,
        b: Option<ReportedError>,
    },
    /// This side does not even give the same answer as itself, and the other one does.
    Unsteady { label: String },
    /// Neither does: random() or the like decides.
    Varies,
}

impl CompareReport {
    /// The exit status: whether all answers were the same.
    pub fn status(&self) -> u8 {
        let all = &self.statements;
        if all.iter().any(Statement::differs) {
            DIFFERENT
        } else if all.iter().any(Statement::varies) {
            VARYING
        } else {
            SAME
        }
    }

    /// The measured statements that run as in stock SQLite although the second library is ours.
    pub fn left_to_stock(&self) -> Vec<&Statement> {
        let ours = self.sides[1].opened.hp_version.is_some();
        let left = |s: &&Statement| ours && s.speedup.is_some() && !s.taken_over(1);
        self.statements.iter().filter(left).collect()
    }

    /// What a person should know before relying on the times.
    pub fn warnings(&self) -> Vec<String> {
        let noisy = |s: &&Statement| {
            let noisy = |t: &Summary| t.spread > NOISE * t.median;
            s.summaries.as_ref().is_some_and(|s| s.iter().any(noisy))
        };
        let noisy: Vec<String> = self
            .statements
            .iter()
            .filter(noisy)
            .map(|s| s.number.to_string())
            .collect();
        if noisy.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "The times of {} vary by more than {:.0} %: something else keeps the machine busy. \
             More --runs make the intervals narrower.",
            text::list(&noisy),
            NOISE * 100.0
        )]
    }

    /// What the whole comes to, in sentences.
    pub fn verdict(&self) -> Vec<String> {
        let (a, b) = (&self.sides[0].label, &self.sides[1].label);
        let mut lines = Vec::new();
        let different = self.statements.iter().filter(|s| s.differs()).count();
        let varying: Vec<String> = self
            .statements
            .iter()
            .filter(|s| s.varies())
            .map(|s| s.number.to_string())
            .collect();
        let all = self.statements.len();
        match (different, all - varying.len()) {
            (_, 0) => {}
            (0, 1) if all == 1 => lines.push("The answers are the same.".to_owned()),
            (0, n) if n == all => {
                lines.push(format!("The answers of all {n} statements are the same."))
            }
            (0, n) => lines.push(format!(
                "The answers of {n} of {all} statements are the same."
            )),
            (1, 1) if all == 1 => lines.push("The answers differ.".to_owned()),
            _ => lines.push(format!(
                "The answers of {different} of {all} statements differ."
            )),
        }
        match &varying[..] {
            [] => {}
            [one] => lines.push(format!(
                "Statement {one} gives another answer each time on either side, so its answers cannot be compared."
            )),
            many => lines.push(format!(
                "Statements {} give another answer each time on either side, so their answers cannot be compared.",
                text::list(many)
            )),
        }
        let speedups: Vec<Speedup> = self.statements.iter().filter_map(|s| s.speedup).collect();
        match &speedups[..] {
            [] => {}
            [s] if !s.clear() => lines.push(format!(
                "There is no clear difference in time between {a} and {b} (95 % interval {}).",
                text::interval(s.low, s.high)
            )),
            [s] => lines.push(format!(
                "{b} {} as {a} (95 % interval {}).",
                text::times_as_fast(s.ratio),
                text::interval(s.low, s.high)
            )),
            many if !many.iter().any(Speedup::clear) => lines.push(format!(
                "There is no clear difference in time between {a} and {b} in any of {} statements.",
                many.len()
            )),
            many => {
                let ratios: Vec<f64> = many.iter().map(|s| s.ratio).collect();
                let best = ratios.iter().copied().fold(f64::MIN, f64::max);
                let worst = ratios.iter().copied().fold(f64::MAX, f64::min);
                lines.push(format!(
                    "{b} {} as {a} on the (geometric) mean of {} statements; at best {}, at worst {}.",
                    text::times_as_fast(stats::geometric_mean(&ratios)),
                    many.len(),
                    text::ratio(best),
                    text::ratio(worst),
                ));
            }
        }
        let left: Vec<String> = self
            .left_to_stock()
            .iter()
            .map(|s| s.number.to_string())
            .collect();
        if !left.is_empty() {
            let (noun, verb) = match left.len() {
                1 => ("Statement", "runs"),
                _ => ("Statements", "run"),
            };
            lines.push(format!(
                "{noun} {} {verb} as in stock SQLite: not taken over.",
                text::list(&left)
            ));
        }
        lines.extend(self.columns_read());
        lines.iter().map(|line| text::capitalised(line)).collect()
    }

    /// Which statements read columns in memory rather than leaves, where some did.
    fn columns_read(&self) -> Option<String> {
        let (mut always, mut mostly) = (Vec::new(), Vec::new());
        for statement in &self.statements {
            match (statement.read_columns(1), statement.samples[1].len()) {
                (0, _) => {}
                (n, all) if n == all => always.push(statement.number.to_string()),
                (n, all) => mostly.push(format!("{} in {n} of {all} runs", statement.number)),
            }
        }
        if !always.is_empty() {
            mostly.insert(0, format!("{} in all runs", text::list(&always)));
        }
        let b = &self.sides[1].label;
        (!mostly.is_empty()).then(|| {
            format!(
                "{b} read columns that earlier runs had left in memory: statement {}.",
                text::list(&mostly)
            )
        })
    }
}
