//! What a chart shows: filled in by the suite.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::scalar::OneOrMore;
use crate::bench::model::{Sample, Values};
use crate::text;

/// The axis whose values are the names of steps.
pub const STEP: &str = "step";

/// What a suite's report shows, and what it says of itself; all may be empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Presentation {
    pub title: String,
    /// What is measured, in plain words.
    pub about: String,
    /// The command that measures it.
    pub command: String,
    /// Where there are none, those that the axes suggest are made.
    pub charts: Vec<ChartPlan>,
    /// What the report ends with.
    pub tables: Vec<TablePlan>,
}

/// A table of a suite: a number at each place is a sum over steps of the samples that table, column
/// and row together choose; other places hold a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    pub title: String,
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub measure: Measure,
    /// The steps that are summed; none named are all.
    #[serde(default)]
    pub steps: Vec<String>,
    /// Only points with these values of axes.
    #[serde(default)]
    pub only: Values,
    #[serde(default)]
    pub column: Vec<ColumnPlan>,
    /// Axes each combination of whose values is a column, where none is named.
    #[serde(default)]
    pub each: Vec<String>,
    pub row: Vec<RowPlan>,
    /// Names of steps and values as to be shown.
    #[serde(default)]
    pub names: Values,
}

impl TablePlan {
    /// How a step, or a value of an axis, is shown.
    pub fn name<'a>(&'a self, value: &'a str) -> &'a str {
        self.names.get(value).map_or(value, String::as_str)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnPlan {
    pub name: String,
    #[serde(default)]
    pub only: Values,
    /// What stands in it where nothing can be measured.
    #[serde(default)]
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowPlan {
    pub name: String,
    #[serde(default)]
    pub only: Values,
    /// Another measure than the table's.
    #[serde(default)]
    pub measure: Option<Measure>,
    /// Texts for the columns, in their order, of a row that is not measured.
    #[serde(default)]
    pub cells: Vec<String>,
}

/// A chart of a suite, or several where some axes make separate ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartPlan {
    pub title: String,
    /// What it shows and what follows from it, in plain words; stands before it.
    #[serde(default)]
    pub about: String,
    /// What is shown of each sample.
    #[serde(default)]
    pub measure: Measure,
    /// The axis along which bars or points stand: one of the suite, or `step`.
    pub x: String,
    /// The axis whose values have colours of their own.
    #[serde(default)]
    pub series: Option<String>,
    /// Axes each value of which makes a chart of its own. An axis that is named nowhere and would
    /// mix different things in one bar makes separate charts too.
    #[serde(default)]
    pub separate: Vec<String>,
    /// The value of `series`, or of `x`, that speed-ups are told against.
    #[serde(default)]
    pub base: Option<String>,
    /// Only points and steps with one of these values of each axis.
    #[serde(default)]
    pub only: BTreeMap<String, OneOrMore>,
    /// What error bars span.
    #[serde(default)]
    pub interval: Interval,
    /// Bars or lines, where it is not to be lines for three numbers and more.
    #[serde(default)]
    pub shape: Option<ChartShape>,
    /// Values of `series` of which it is told where each other series is as good as they are: from
    /// which x on, say, files are as fast as a database.
    #[serde(default)]
    pub break_even: Vec<String>,
    /// Names of values as to be shown: `ours = "HP SQLite"`.
    #[serde(default)]
    pub names: Values,
}

impl ChartPlan {
    /// How a value of an axis is shown.
    pub fn name<'a>(&'a self, value: &'a str) -> &'a str {
        match self.names.get(value) {
            Some(name) => name,
            None if value.is_empty() => "-",
            None => value,
        }
    }
}

/// What error bars span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// The middle half of the samples.
    #[default]
    Quartiles,
    /// The 95 % interval of the median.
    Confidence,
}

impl Interval {
    /// As it stands below a chart.
    pub fn words(self) -> &'static str {
        match self {
            Interval::Quartiles => "error bars span the middle half of them (interquartile range)",
            Interval::Confidence => {
                "error bars are the 95 % interval of the median (percentile bootstrap)"
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartShape {
    Bars,
    Lines,
}

/// What is shown of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    #[default]
    Time,
    TimePerOperation,
    OperationsPerSecond,
    BytesPerSecond,
    ProcessorTime,
    PeakMemory,
    DeviceRead,
    DeviceWritten,
    Space,
    /// Of a byte of values, in a step that tells the bytes of all values.
    SpacePerByte,
    /// Operations that began again for a lock of another connection.
    Retries,
    /// Operations of the connection that did fewest, as a share of the mean.
    LeastShare,
    /// Of an operation, in a language that counts them.
    Allocations,
    /// Bytes of these.
    Allocated,
    /// Time of an operation at a percentile, by its name: `p50`, `p99.9`.
    Percentile(String),
}

const MEASURES: [(&str, Measure); 14] = [
    ("time", Measure::Time),
    ("time_per_operation", Measure::TimePerOperation),
    ("operations_per_second", Measure::OperationsPerSecond),
    ("bytes_per_second", Measure::BytesPerSecond),
    ("processor_time", Measure::ProcessorTime),
    ("peak_memory", Measure::PeakMemory),
    ("device_read", Measure::DeviceRead),
    ("device_written", Measure::DeviceWritten),
    ("space", Measure::Space),
    ("space_per_byte", Measure::SpacePerByte),
    ("retries", Measure::Retries),
    ("least_share", Measure::LeastShare),
    ("allocations", Measure::Allocations),
    ("allocated", Measure::Allocated),
];

impl Measure {
    /// The value; none where the sample does not have it.
    pub fn of(&self, s: &Sample) -> Option<f64> {
        let bytes = |n: u64| Some(n as f64);
        let each = |value: f64, by: f64| (by > 0.0).then(|| value / by);
        // What ran out of time would have gone on as it did.
        let whole = match s.asked {
            0 => 1.0,
            asked => asked as f64 / s.operations as f64,
        };
        let value = match self {
            Measure::Time => Some(s.seconds * whole),
            Measure::TimePerOperation => each(s.seconds, s.operations as f64),
            Measure::OperationsPerSecond => each(s.operations as f64, s.seconds),
            Measure::BytesPerSecond => each(s.bytes as f64, s.seconds),
            Measure::ProcessorTime => Some((s.user + s.system) * whole),
            Measure::PeakMemory => bytes(s.peak_memory),
            Measure::DeviceRead => bytes(s.device_read),
            Measure::DeviceWritten => bytes(s.device_written),
            Measure::Space => bytes(s.space),
            Measure::SpacePerByte => each(s.space as f64, s.bytes as f64),
            Measure::Retries => Some(s.retries as f64),
            Measure::LeastShare => s.percentiles.get("least").and_then(|v| v.parse().ok()),
            Measure::Allocations => each(s.allocations as f64, s.operations as f64),
            Measure::Allocated => each(s.allocated as f64, s.operations as f64),
            Measure::Percentile(p) => s.percentiles.get(p).and_then(|v| v.parse().ok()),
        };
        value.filter(|v| v.is_finite() && *v >= 0.0)
    }

    /// Whether a smaller value is a better one.
    pub fn smaller_is_better(&self) -> bool {
        !matches!(
            self,
            Measure::OperationsPerSecond | Measure::BytesPerSecond | Measure::LeastShare
        )
    }

    /// Whether it tells how fast something is.
    pub fn is_speed(&self) -> bool {
        !self.is_size()
            && !matches!(
                self,
                Measure::Retries | Measure::Allocations | Measure::LeastShare
            )
    }

    /// Whether it is of a single operation.
    pub fn is_of_one(&self) -> bool {
        matches!(
            self,
            Measure::TimePerOperation
                | Measure::Allocations
                | Measure::Allocated
                | Measure::Percentile(_)
        )
    }

    fn is_size(&self) -> bool {
        matches!(
            self,
            Measure::PeakMemory
                | Measure::DeviceRead
                | Measure::DeviceWritten
                | Measure::Space
                | Measure::SpacePerByte
                | Measure::Allocated
        )
    }

    /// A value with its unit.
    pub fn value(&self, v: f64) -> String {
        match self {
            Measure::OperationsPerSecond => format!("{}/s", count(v)),
            Measure::BytesPerSecond => format!("{}/s", text::bytes(v as u64)),
            Measure::SpacePerByte => format!("{v:.3}"),
            Measure::LeastShare => format!("{:.0} %", v * 100.0),
            Measure::Retries | Measure::Allocations => text::thousands(v.round() as u64),
            _ if self.is_size() => text::bytes(v as u64),
            _ => text::seconds(v),
        }
    }

    /// A round value at an axis of which `end` is the last tick.
    pub fn tick(&self, v: f64, end: f64) -> String {
        match self {
            Measure::OperationsPerSecond => format!("{}/s", round_count(v, end)),
            Measure::BytesPerSecond => format!("{}/s", round_bytes(v, end)),
            Measure::SpacePerByte => round_count(v, end),
            Measure::LeastShare => format!("{:.0} %", v * 100.0),
            Measure::Retries | Measure::Allocations => round_count(v, end),
            _ if self.is_size() => round_bytes(v, end),
            _ => text::seconds_tick(v, end),
        }
    }

    /// What is measured, as a phrase.
    pub fn words(&self) -> String {
        match self {
            Measure::Time => "time".to_owned(),
            Measure::TimePerOperation => "time an operation".to_owned(),
            Measure::OperationsPerSecond => "operations a second".to_owned(),
            Measure::BytesPerSecond => "bytes of values a second".to_owned(),
            Measure::ProcessorTime => "processor time, user and system".to_owned(),
            Measure::PeakMemory => "largest resident memory".to_owned(),
            Measure::DeviceRead => "bytes read from the device".to_owned(),
            Measure::DeviceWritten => "bytes written to the device".to_owned(),
            Measure::Space => "disk space".to_owned(),
            Measure::SpacePerByte => "bytes of disk space for a byte of values".to_owned(),
            Measure::Retries => "operations begun again for a lock".to_owned(),
            Measure::LeastShare => "the least lucky connection, of the mean".to_owned(),
            Measure::Allocations => "allocations an operation".to_owned(),
            Measure::Allocated => "bytes allocated an operation".to_owned(),
            Measure::Percentile(p) => match p.as_str() {
                "50" => "time of the median operation".to_owned(),
                "100" => "time of the slowest operation".to_owned(),
                _ => format!("time that {p} % of operations stay below"),
            },
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Measure::Percentile(p) = self {
            return write!(f, "p{p}");
        }
        let name = MEASURES.iter().find(|(_, m)| m == self);
        f.write_str(name.map_or("", |m| m.0))
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(s: &str) -> Result<Measure, String> {
        if let Some((_, measure)) = MEASURES.iter().find(|(name, _)| *name == s) {
            return Ok(measure.clone());
        }
        match s.strip_prefix('p') {
            Some(p) if p.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)) => {
                Ok(Measure::Percentile(p.to_owned()))
            }
            _ => Err(format!(
                "'{s}' is no measure; there are {} and percentiles such as p99",
                MEASURES.map(|m| m.0).join(", ")
            )),
        }
    }
}

impl TryFrom<String> for Measure {
    type Error = String;

    fn try_from(s: String) -> Result<Measure, String> {
        s.parse()
    }
}

impl From<Measure> for String {
    fn from(m: Measure) -> String {
        m.to_string()
    }
}

/// A number of operations in three digits or more: `0.52`, `12.3`, `1,234,567`.
fn count(v: f64) -> String {
    match v {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => text::thousands(v.round() as u64),
    }
}

fn round_count(v: f64, end: f64) -> String {
    let (factor, unit) = match end {
        e if e >= 0.5e9 => (1e-9, " billion"),
        e if e >= 0.5e6 => (1e-6, " million"),
        e if e >= 1e4 => (1.0, ""),
        _ => (1.0, ""),
    };
    let value = (v * factor * 1e6).round() / 1e6;
    match value {
        0.0 => "0".to_owned(),
        v if v >= 1e3 => format!("{}{unit}", text::thousands(v as u64)),
        v => format!("{v}{unit}"),
    }
}

fn round_bytes(v: f64, end: f64) -> String {
    let (factor, unit) = match end {
        e if e >= 0.5e12 => (1e-12, "TB"),
        e if e >= 0.5e9 => (1e-9, "GB"),
        e if e >= 0.5e6 => (1e-6, "MB"),
        e if e >= 0.5e3 => (1e-3, "kB"),
        _ => (1.0, "bytes"),
    };
    format!("{} {unit}", (v * factor * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_have_names() {
        for (name, measure) in MEASURES {
            assert_eq!(name.parse(), Ok(measure.clone()));
            assert_eq!(measure.to_string(), name);
        }
        assert_eq!("p99.9".parse(), Ok(Measure::Percentile("99.9".to_owned())));
        let error = "pages".parse::<Measure>().unwrap_err();
        assert!(error.contains("'pages'") && error.contains("time_per_operation"));
    }

    #[test]
    fn values_have_units() {
        assert_eq!(
            Measure::OperationsPerSecond.value(1_234_567.0),
            "1,234,567/s"
        );
        assert_eq!(
            Measure::OperationsPerSecond.tick(1.5e6, 2e6),
            "1.5 million/s"
        );
        assert_eq!(Measure::Space.tick(5e8, 1e9), "0.5 GB");
        assert_eq!(Measure::TimePerOperation.value(2.1e-6), "2.10 µs");
        assert_eq!(Measure::OperationsPerSecond.of(&Sample::default()), None);
    }
}
