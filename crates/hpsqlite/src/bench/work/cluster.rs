//! Jobs of statements on a node of a cluster that does not lead, over HTTP.
//!
//! `hpsqlite-cluster lab` makes a cluster of three nodes on this machine from the database, and is
//! spoken to by lines of JSON. It has the statements answered by one node, and tells the time from
//! sending one to the last byte of its answer.
//!
//! | option | meaning |
//! |---|---|
//! | `writes` | so many rows a second are written through the leader meanwhile |
//! | `limit`, `repeat` | as for SQLite |
//!
//! Where the engine has a library, all nodes run on it; else on ours. **Answers** are those of all
//! three nodes, which must be the same to the byte: one of them computes with one thread.

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};

use super::Say;
use super::helper::Helper;
use super::options::JobOptions;
use super::sql::{self, OtherEngine, Stopped, limit_of, repetitions, tell};
use crate::bench::answer::{Answer, AnswerReading, AnswerWay};
use crate::bench::engine::{Unavailable, server};
use crate::bench::meter::Usage;
use crate::bench::model::{Effective, Job, Line, Sample, Step, Values};
use crate::cluster;
use crate::interrupt;
use crate::kvtest::place;
use crate::sys::Value;

/// The name of the engine.
pub const NAME: &str = "cluster";
/// Fewer rows than this share of those that were to be written make a sample worthless.
const WRITTEN: f64 = 0.95;

/// Statements that read a database, on a node of a cluster.
pub static ON_CLUSTER: OtherEngine = OtherEngine { name: NAME, run };

/// Does the steps of a job, telling each line to `say`.
fn run(job: &Job, say: Say<'_>) -> Result<()> {
    let mut nodes = Nodes::start(job)?;
    say(Line::Ready(nodes.effective()?))?;
    for step in &job.steps {
        interrupt::check()?;
        let measured = nodes.measure(job, step);
        tell(job, step, measured, say)?;
    }
    nodes.helper.end()
}

/// The cluster of a job.
struct Nodes {
    helper: Helper,
    /// What it told of itself
    ready: Json,
    /// Rows a second that are being written
    writes: u64,
}

impl Nodes {
    fn start(job: &Job) -> Result<Nodes> {
        let program = cluster::program().map_err(|e| anyhow!(Unavailable(format!("{e:#}"))))?;
        let (folder, log) = (job.folder.join("cluster"), job.folder.join("cluster.log"));
        std::fs::create_dir(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let name = program.to_str().context("a path that is not UTF-8")?;
        let mut command = server::own(name, "hpsqlite-cluster", &log, &job.folder)?;
        command
            .arg("--dir")
            .arg(&folder)
            .arg("lab")
            .arg("--from")
            .arg(sql::database(job)?);
        if let Some(library) = &job.library {
            command.arg("--library").arg(library);
        }
        let (helper, mut hello) = Helper::start("the cluster", command, &log)?;
        Ok(Nodes {
            helper,
            ready: hello["ready"].take(),
            writes: 0,
        })
    }

    /// What is in force.
    fn effective(&self) -> Result<Effective> {
        let number = |name: &str| self.ready[name].to_string();
        let mut settings = Values::new();
        settings.insert("nodes".to_owned(), "3, on this machine".to_owned());
        settings.insert("leader".to_owned(), number("leader"));
        settings.insert("asked".to_owned(), number("follower"));
        let library = self.ready["library"].as_str();
        Ok(Effective {
            version: library.context("a cluster without a library")?.to_owned(),
            settings,
            durability:
                "no loss of one machine of three, and no crash, loses a committed transaction"
                    .to_owned(),
        })
    }

    /// Measures a step.
    fn measure(&mut self, job: &Job, step: &Step) -> Result<Sample, Stopped> {
        if step.cold {
            return Err(anyhow!("the nodes of a cluster cannot be cold").into());
        }
        let options = JobOptions::of(job, Some(step));
        let statement = options.text("sql").context("there is no sql")?;
        let limit = options.seconds("limit")?;
        self.write(options.number("writes", 0)?)?;
        let mut run = |repeat: u64| -> Result<Json, Stopped> {
            let limit = limit_of(limit, repeat).map(|l| l.as_secs_f64());
            let request = json!({"do": "run", "sql": statement, "repeat": repeat, "limit": limit});
            self.helper.ask(request)?.ok_or(Stopped::TooLong)
        };
        let time = |done: &Json| done["seconds"].as_f64().context("no time is told");
        let repeat = repetitions(&options, || Ok(time(&run(1)?)?))?;
        let process = self.ready["process"].to_string();
        let before = Usage::begin_of(&process);
        let done = run(repeat)?;
        let usage = Usage::of(&process).since(&before);
        self.written()?;
        let answer = self.answer(statement)?;
        if done["rows"].as_u64() != Some(answer.rows) {
            return Err(sql::changed().into());
        }
        Ok(Sample {
            step: step.name.clone(),
            seconds: time(&done)?,
            user: usage.user,
            system: usage.system,
            operations: repeat,
            peak_memory: usage.peak,
            device_read: usage.device_read,
            device_written: usage.device_written,
            answer: answer.text(),
            space: place::space(&sql::database(job)?),
            ..Sample::default()
        })
    }

    /// Has so many rows a second written from now on.
    fn write(&mut self, rows: u64) -> Result<()> {
        self.writes = rows;
        self.helper.demand(json!({"do": "write", "rows": rows}))?;
        Ok(())
    }

    /// Ends the writing; an error if it was not as much as it had to be.
    fn written(&mut self) -> Result<()> {
        let done = self.helper.demand(json!({"do": "write", "rows": 0}))?;
        let rate = done["written"].as_f64().unwrap_or(0.0);
        if rate < WRITTEN * self.writes as f64 {
            bail!(
                "{} rows a second were to be written, and {rate:.0} were",
                self.writes
            );
        }
        Ok(())
    }

    /// The answer, which all nodes give.
    fn answer(&mut self, sql: &str) -> Result<Answer> {
        let nodes = self.ready["nodes"].as_array().cloned().unwrap_or_default();
        let mut all: Option<(Json, Answer)> = None;
        for node in nodes {
            interrupt::check()?;
            let rows = self
                .helper
                .demand(json!({"do": "rows", "sql": sql, "node": node}))?;
            let answer = answer(&rows)?;
            match &all {
                None => all = Some((node, answer)),
                Some((first, of_first)) if *of_first != answer => bail!(
                    "node {node} answers {}, and node {first} {}",
                    answer.words(),
                    of_first.words()
                ),
                Some(_) => {}
            }
        }
        Ok(all.context("a cluster without nodes")?.1)
    }
}

/// What the rows of an answer come to.
fn answer(rows: &Json) -> Result<Answer> {
    let columns = rows["columns"].as_array().map_or(0, Vec::len);
    let mut reading = AnswerReading::of(AnswerWay::Plain, i32::try_from(columns)?);
    for row in rows["rows"].as_array().context("an answer without rows")? {
        let cells = row.as_array().context("a row that is none")?;
        let blobs: Vec<Vec<u8>> = cells.iter().map(blob).collect::<Result<_>>()?;
        let values = cells.iter().zip(&blobs).map(|(cell, blob)| match cell {
            Json::Null => Value::Null,
            Json::String(text) => Value::Text(text.as_bytes()),
            Json::Number(n) => match n.as_i64() {
                Some(n) => Value::Integer(n),
                None => Value::Real(n.as_f64().unwrap_or(f64::NAN)),
            },
            cell => match cell["real"].as_str() {
                Some("-inf") => Value::Real(f64::NEG_INFINITY),
                Some(_) => Value::Real(f64::INFINITY),
                None => Value::Blob(blob),
            },
        });
        reading.values(values);
    }
    Ok(reading.end())
}

/// The bytes of a value that is a blob, and none of another one.
fn blob(cell: &Json) -> Result<Vec<u8>> {
    let digits = cell["blob"].as_str().unwrap_or_default();
    (0..digits.len())
        .step_by(2)
        .map(|i| {
            let byte = digits.get(i..i + 2);
            let byte = byte.and_then(|b| u8::from_str_radix(b, 16).ok());
            byte.with_context(|| format!("{digits} are no bytes"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_were() {
        let told = |row: Json| answer(&json!({"columns": ["a"], "rows": [[row]]})).unwrap();
        let of = |value: Value<'_>| {
            let mut reading = AnswerReading::of(AnswerWay::Plain, 1);
            reading.values([value].into_iter());
            reading.end()
        };
        assert_eq!(told(json!(1)), of(Value::Integer(1)));
        assert_eq!(told(json!(1.0)), of(Value::Real(1.0)));
        assert_ne!(told(json!(1.0)), of(Value::Integer(1)));
        // The parser of JSON is exact only if it is asked to be.
        let real = 4_036_307_232.363_4 / 9_683.0;
        let read: Json = serde_json::from_str(&format!("{real:?}")).unwrap();
        assert_eq!(told(read), of(Value::Real(real)));
        assert_eq!(told(json!("1")), of(Value::Text(b"1")));
        assert_eq!(told(Json::Null), of(Value::Null));
        assert_eq!(told(json!({"blob": "00ff"})), of(Value::Blob(&[0, 255])));
        assert_eq!(
            told(json!({"real": "-inf"})),
            of(Value::Real(f64::NEG_INFINITY))
        );
        assert!(answer(&json!({"columns": ["a"], "rows": [[{"blob": "0g"}]]})).is_err());
    }
}
