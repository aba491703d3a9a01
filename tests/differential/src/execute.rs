//! Runs a case on both libraries and compares what they say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Statement, Step};
use crate::generate::traits::{TRAITS, Traits};
use crate::library::{self, Connection, Failure, Library};
use crate::value::Value;

/// Rows compared of one result; the rest is not read.
const MOST_ROWS: usize = 10_000;

/// How a library is asked to work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Options {
    /// Run on our side only, before the session.
    pub pragmas: Vec<String>,
    /// Alter our side's answers, to see whether that is noticed.
    pub plant: bool,
}

/// In which way two libraries differed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Rows,
    Error,
    Columns,
    Plan,
    State,
    File,
    Crash,
    Hang,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Difference {
    pub kind: Kind,
    /// The step of the session at which it showed.
    pub step: usize,
    pub stock: String,
    pub ours: String,
}

/// How much a run has tested.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub queries: u64,
    /// Queries whose plan says VECTORIZED or HASH TABLE.
    pub taken: u64,
    pub eligible: u64,
    pub eligible_taken: u64,
    /// Queries that failed, on both sides alike.
    pub errors: u64,
    /// For each trait, the queries that it decides about, and those of them taken over.
    pub traits: Vec<[u64; 2]>,
    /// Eligible queries that were left to stock.
    pub left: Vec<String>,
    /// PRAGMA hp_stats: what became of statements, and how often. EXPLAIN QUERY PLAN counts too.
    pub fates: BTreeMap<String, u64>,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.queries += other.queries;
        self.taken += other.taken;
        self.eligible += other.eligible;
        self.eligible_taken += other.eligible_taken;
        self.errors += other.errors;
        self.traits.resize(TRAITS.len(), [0, 0]);
        for (own, other) in self.traits.iter_mut().zip(&other.traits) {
            own[0] += other[0];
            own[1] += other[1];
        }
        self.left.extend_from_slice(&other.left);
        for (what, count) in &other.fates {
            *self.fates.entry(what.clone()).or_default() += count;
        }
    }

    fn count(&mut self, traits: Traits, taken: bool) {
        self.traits.resize(TRAITS.len(), [0, 0]);
        for one in traits.deciding() {
            self.traits[one as usize][0] += 1;
            self.traits[one as usize][1] += u64::from(taken);
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub difference: Option<Difference>,
    pub tally: Tally,
}

/// What one side answered in one run of a statement.
#[derive(Default)]
struct Answer {
    columns: Vec<String>,
    readonly: bool,
    plan: Option<Vec<String>>,
    rows: Vec<Vec<Value>>,
    failure: Option<Failure>,
    state: (i64, i32, i32),
    /// Whether a statement and how many bytes were left after the session.
    left: (bool, i64),
}

impl Answer {
    fn is_vectorized(&self) -> bool {
        self.plan
            .iter()
            .flatten()
            .any(|line| line.contains("VECTORIZED") || line.contains(" HASH TABLE "))
    }
}

/// Runs `case` in `folder`, which must be empty.
pub fn run(
    case: &Case,
    libraries: [&'static Library; 2],
    folder: &Path,
    options: &Options,
) -> Result<Report> {
    let files = [folder.join("stock.db"), folder.join("ours.db")];
    if case.file {
        create(case, libraries[0], &files)?;
    }
    let mut sides = Vec::new();
    for (i, library) in libraries.into_iter().enumerate() {
        // The text of an ATTACH must not differ between the sides: both work in their own current folder.
        let home = folder.join(["stock", "ours"][i]);
        std::fs::create_dir_all(&home)?;
        std::env::set_current_dir(&home)?;
        let pragmas = if i == 1 {
            options.pragmas.as_slice()
        } else {
            &[]
        };
        sides.push(session(case, library, &files[i], pragmas)?);
    }
    std::env::set_current_dir(folder)?;
    let (mut ours, stock) = (sides.pop().unwrap(), sides.pop().unwrap());
    if options.plant {
        plant(case, &mut ours.answers);
    }
    let mut report = compare(case, &stock.answers, &ours.answers);
    report.tally.fates = ours.fates;
    if case.file && report.difference.is_none() {
        report.difference = compare_files(case, libraries[0], &files)?;
    }
    Ok(report)
}

/// Makes the file once, by stock, and copies it for our side.
fn create(case: &Case, stock: &'static Library, files: &[PathBuf; 2]) -> Result<()> {
    let connection = Connection::open(stock, &files[0].to_string_lossy(), &case.setup)?;
    let _ = connection.execute("PRAGMA synchronous=OFF");
    build(case, &connection);
    connection.close();
    if files[0].exists() {
        std::fs::copy(&files[0], &files[1])?;
    }
    Ok(())
}

fn build(case: &Case, connection: &Connection) {
    let _ = connection.execute("BEGIN");
    for sql in case.schema.iter().flat_map(Statement::render) {
        let settles = ["PRAGMA", "VACUUM", "ATTACH"]
            .iter()
            .any(|word| sql.starts_with(word));
        if settles {
            let _ = connection.execute("COMMIT");
        }
        let _ = connection.execute(&sql);
        if settles {
            let _ = connection.execute("BEGIN");
        }
    }
    let _ = connection.execute("COMMIT");
}

/// What one library said in a session.
struct Side {
    /// The answers to every statement.
    answers: Vec<Vec<Answer>>,
    /// What became of them, by PRAGMA hp_stats.
    fates: BTreeMap<String, u64>,
}

/// Runs the session on one library.
fn session(
    case: &Case,
    library: &'static Library,
    file: &Path,
    pragmas: &[String],
) -> Result<Side> {
    let name = if case.file {
        file.to_string_lossy()
    } else {
        ":memory:".into()
    };
    let open = || -> Result<Connection> {
        let connection = Connection::open(library, &name, &case.setup)?;
        let _ = connection.execute("PRAGMA synchronous=OFF");
        for pragma in pragmas {
            let _ = connection.execute(pragma);
        }
        Ok(connection)
    };
    library.reseed();
    let before = library.memory_used();
    let mut connections = vec![open()?];
    if !case.file {
        build(case, &connections[0]);
    }
    let mut answers = Vec::new();
    for step in &case.session {
        if step.connection == 1 && connections.len() == 1 {
            connections.push(open()?);
        }
        let connection = &connections[step.connection.min(connections.len() - 1)];
        answers.push(perform(step, connection, case.wide));
    }
    let mut fates = BTreeMap::new();
    for connection in &connections {
        for row in connection.rows("PRAGMA hp_stats").unwrap_or_default() {
            if let [Value::Text(what), Value::Int(count)] = row.as_slice() {
                let what = String::from_utf8_lossy(what).into_owned();
                *fates.entry(what).or_default() += *count as u64;
            }
        }
    }
    let closed = connections.into_iter().all(Connection::close);
    let left = library.memory_used() - before;
    if let Some(answer) = answers.iter_mut().flatten().last() {
        answer.left = (!closed, left);
    }
    Ok(Side { answers, fates })
}

fn perform(step: &Step, connection: &Connection, wide: bool) -> Vec<Answer> {
    let sql = step.sql.render();
    let plan = plan(connection, &sql);
    let mut statement = match connection.prepare(&sql) {
        Ok(statement) => statement,
        Err(failure) => {
            return vec![Answer {
                plan,
                failure: Some(failure),
                state: connection.state(),
                ..Answer::default()
            }];
        }
    };
    let mut answers = Vec::new();
    let runs = [
        Some((&[][..], &step.binds)),
        step.again
            .as_ref()
            .map(|a| (a.between.as_slice(), &a.binds)),
    ];
    for (i, (between, binds)) in runs.into_iter().flatten().enumerate() {
        for sql in between {
            let _ = connection.execute(&sql.render());
        }
        statement.bind(binds);
        let mut answer = Answer {
            plan: if i == 0 { plan.clone() } else { None },
            readonly: statement.is_readonly(),
            ..Answer::default()
        };
        loop {
            let count = answer.rows.len();
            if let Some((rows, inner)) = &step.pause
                && count == *rows as usize
            {
                for sql in inner {
                    let _ = connection.execute(&sql.render());
                }
            }
            if count >= step.stop.map_or(MOST_ROWS, |rows| rows as usize) {
                break;
            }
            match statement.step() {
                Ok(true) => answer.rows.push(statement.row(wide)),
                Ok(false) => break,
                Err(failure) => {
                    answer.failure = Some(failure);
                    break;
                }
            }
        }
        answer.columns = statement.columns();
        statement.reset();
        answer.state = connection.state();
        answers.push(answer);
    }
    answers
}

/// The plan of a query as the shell draws it; nothing for what is no query.
/// The numbers of its nodes are addresses in the program, which we may move.
fn plan(connection: &Connection, sql: &str) -> Option<Vec<String>> {
    let words = ["SELECT", "WITH", "INSERT", "CREATE TABLE", "VALUES"];
    if !words.iter().any(|word| sql.starts_with(word)) {
        return None;
    }
    let rows = connection.rows(&format!("EXPLAIN QUERY PLAN {sql}")).ok()?;
    let mut depths: Vec<(&Value, usize)> = Vec::new();
    let mut lines = Vec::new();
    for row in &rows {
        let above = depths.iter().find(|(id, _)| id.same(&row[1]));
        let depth = above.map_or(0, |(_, depth)| depth + 1);
        depths.push((&row[0], depth));
        lines.push(format!("{}{}", "  ".repeat(depth), row[3].literal()));
    }
    Some(lines)
}

/// Planted errors: in results that a max() is in, the last value of the first
/// row becomes another one, as close to it as can be.
fn plant(case: &Case, ours: &mut [Vec<Answer>]) {
    for (step, answers) in case.session.iter().zip(ours) {
        if step.sql.render().contains("max(")
            && let Some(value) = answers
                .iter_mut()
                .find_map(|a| a.rows.first_mut()?.last_mut())
        {
            *value = match std::mem::replace(value, Value::Null) {
                Value::Null => Value::Text(Vec::new()),
                Value::Int(i) => Value::Real(i as f64),
                Value::Real(r) => Value::Real(f64::from_bits(r.to_bits() ^ 1)),
                Value::Text(bytes) => Value::Blob(bytes),
                Value::Blob(bytes) => Value::Text(bytes),
            };
        }
    }
}

fn compare(case: &Case, stock: &[Vec<Answer>], ours: &[Vec<Answer>]) -> Report {
    let mut tally = Tally::default();
    for (i, step) in case.session.iter().enumerate() {
        let (stock, ours) = (&stock[i], &ours[i]);
        let taken = ours.first().is_some_and(Answer::is_vectorized);
        if stock.first().is_some_and(|a| a.plan.is_some()) {
            tally.queries += 1;
            tally.taken += u64::from(taken);
            tally.errors += u64::from(stock.iter().any(|a| a.failure.is_some()));
            let eligible = step.traits.eligible();
            tally.eligible += u64::from(eligible);
            tally.eligible_taken += u64::from(eligible && taken);
            tally.count(step.traits, taken);
            if eligible && !taken {
                tally.left.push(step.sql.render());
            }
        }
        let different = stock.iter().zip(ours).find_map(|(s, o)| difference(s, o));
        let different = different.or_else(|| {
            (stock.len() != ours.len()).then(|| {
                (
                    Kind::Error,
                    format!("{} runs", stock.len()),
                    format!("{} runs", ours.len()),
                )
            })
        });
        if let Some((kind, stock, ours)) = different {
            let difference = Some(Difference {
                kind,
                step: i,
                stock,
                ours,
            });
            return Report { difference, tally };
        }
    }
    Report {
        difference: None,
        tally,
    }
}

fn difference(stock: &Answer, ours: &Answer) -> Option<(Kind, String, String)> {
    let same_rows = stock.rows.len() == ours.rows.len()
        && stock
            .rows
            .iter()
            .flatten()
            .zip(ours.rows.iter().flatten())
            .all(|(a, b)| a.same(b));
    if !same_rows {
        return Some((Kind::Rows, show(stock), show(ours)));
    }
    if stock.failure != ours.failure {
        return Some((Kind::Error, show(stock), show(ours)));
    }
    if stock.columns != ours.columns || stock.readonly != ours.readonly {
        return Some((
            Kind::Columns,
            format!("{:?}", stock.columns),
            format!("{:?}", ours.columns),
        ));
    }
    if (stock.state, stock.left) != (ours.state, ours.left) {
        let state = |a: &Answer| {
            format!(
                "(changes, autocommit, transaction) = {:?}, (statement, bytes) left = {:?}",
                a.state, a.left
            )
        };
        return Some((Kind::State, state(stock), state(ours)));
    }
    let plan = |a: &Answer| {
        a.plan
            .iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    };
    if !ours.is_vectorized() && stock.plan != ours.plan {
        return Some((Kind::Plan, plan(stock), plan(ours)));
    }
    None
}

/// Rows, one a line, then the error.
fn show(answer: &Answer) -> String {
    let mut lines: Vec<String> = answer
        .rows
        .iter()
        .map(|row| row.iter().map(Value::literal).collect::<Vec<_>>().join("|"))
        .collect();
    if let Some(failure) = &answer.failure {
        lines.push(format!("error {}: {}", failure.code, failure.message));
    }
    lines.join("\n")
}

/// Both files, opened by stock after the session: sound, and of one content.
fn compare_files(
    case: &Case,
    stock: &'static Library,
    files: &[PathBuf; 2],
) -> Result<Option<Difference>> {
    let mut contents = Vec::new();
    for file in files {
        let connection = Connection::open(stock, &file.to_string_lossy(), &case.setup)?;
        let mut content = vec![result(connection.rows("PRAGMA integrity_check"))];
        let tables = connection
            .rows("SELECT name, sql FROM sqlite_schema")
            .unwrap_or_default();
        for table in &tables {
            if let [Value::Text(name), sql] = table.as_slice() {
                content.push(sql.literal());
                let name = String::from_utf8_lossy(name).replace('"', "\"\"");
                content.push(result(
                    connection.rows(&format!("SELECT * FROM \"{name}\"")),
                ));
            }
        }
        connection.close();
        contents.push(content.join("\n"));
    }
    let (ours, stock) = (contents.pop().unwrap(), contents.pop().unwrap());
    let step = case.session.len().saturating_sub(1);
    Ok((stock != ours).then_some(Difference {
        kind: Kind::File,
        step,
        stock,
        ours,
    }))
}

fn result(rows: std::result::Result<Vec<Vec<Value>>, library::Failure>) -> String {
    show(&match rows {
        Ok(rows) => Answer {
            rows,
            ..Answer::default()
        },
        Err(failure) => Answer {
            failure: Some(failure),
            ..Answer::default()
        },
    })
}
