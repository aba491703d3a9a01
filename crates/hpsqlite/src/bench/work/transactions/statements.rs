//! The workload `statements`: what a step does stands in the suite file as SQL.
//!
//! | option | meaning |
//! |---|---|
//! | `sql` | one statement or several, with `;` between them; together they are an operation |
//! | `operations` | how often. Without it the statements run once, as a script: each is prepared when the one before it has run, and that takes part of the time |
//! | `transaction` | operations of a connection that are one transaction: `1` (default), any number, or `all` |
//! | `copies` | the statements are repeated for as many tables: `{n}` is 0, 1, ... in them |
//! | `keys` | how large `:random` may be; by default `operations` |
//! | `length` | bytes of `:text`, a number or two with `-` between them; by default 100 |
//! | `before` | statements that each connection runs before the clock starts, such as PRAGMAs |
//! | `check` | a query that is run afterwards, untimed: its rows are the answer, with what the statements themselves gave |
//!
//! Parameters have their values by their names; one of the same name has the same value in all
//! statements of an operation. A name may go on with `_` and anything: `:random_a` and `:random_b`
//! are two numbers.
//!
//! | parameter | value |
//! |---|---|
//! | `:i` | number of the operation, from 1 on |
//! | `:shuffled` | the numbers from 1 to `operations` in random order, each once |
//! | `:random` | a whole number from 1 to `keys` |
//! | `:real` | a number from 0 to 1 |
//! | `:word` | 4 to 12 letters |
//! | `:text` | words |
//! | `:file` | a file beside the database that is not there, as `VACUUM INTO` wants it |

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Client, OperationReading, StepWork, Workload, first, prepare, run};
use crate::bench::model::{Job, Step};
use crate::bench::work::options::JobOptions;
use crate::data::random::{SplitMix64, shuffled};
use crate::sys::{Db, SqlError, Stmt};

/// Places where a text may begin.
const TEXTS: usize = 1 << 16;
/// Longest text.
const MOST_TEXT: usize = 1 << 20;
/// More operations than this are a mistake.
const MOST_OPERATIONS: u64 = 1 << 32;

const NAMES: &str = ":i, :shuffled, :random, :real, :word, :text and :file";

/// Steps of SQL.
pub struct StatementSteps<'j> {
    job: &'j Job,
}

impl<'j> StatementSteps<'j> {
    pub fn new(job: &'j Job) -> StatementSteps<'j> {
        StatementSteps { job }
    }
}

impl Workload for StatementSteps<'_> {
    fn work(&self, step: &Step) -> Result<Box<dyn StepWork>> {
        let options = JobOptions::of(self.job, Some(step));
        let sql = options.text("sql").context("there is no sql")?;
        let sql = match options.text("copies") {
            None => sql.to_owned(),
            Some(_) => (0..options.number("copies", 1)?)
                .map(|n| sql.replace("{n}", &n.to_string()) + ";\n")
                .collect(),
        };
        // Those of the job are not meant: a script runs once.
        let operations = match step.options.get("operations") {
            None => None,
            Some(_) => Some(options.number("operations", 1)?),
        };
        if let Some(n) = operations {
            ensure!(
                (1..=MOST_OPERATIONS).contains(&n),
                "operations={n}: there may be 1 to {MOST_OPERATIONS}"
            );
        }
        let count = operations.unwrap_or(1);
        let length = length(options.text("length").unwrap_or("100"))?;
        let keys = options.number("keys", count)?;
        ensure!(keys > 0, "keys=0: there must be at least one");
        Ok(Box::new(Sql {
            transaction: match options.text("transaction") {
                Some("all") => u64::MAX,
                _ => options.number("transaction", 1)?.max(1),
            },
            before: options.text("before").unwrap_or_default().to_owned(),
            check: options.text("check").map(str::to_owned),
            values: Drawn {
                order: match [":", "@", "$"]
                    .iter()
                    .any(|c| sql.contains(&format!("{c}shuffled")))
                {
                    true => shuffled(count, xxh3_64_with_seed(b"shuffled", self.job.seed)),
                    false => Vec::new(),
                },
                keys,
                length,
                text: letters(length.1 + TEXTS, true),
                letters: letters(TEXTS + 12, false),
                file: beside(&self.job.folder)?,
            },
            sql,
            operations,
        }))
    }
}

/// The name of a file that the statements of a job in `folder` may make.
fn beside(folder: &Path) -> Result<String> {
    let path = folder.join("database/other.db");
    let text = path.to_str().context("the folder's name is no text")?;
    Ok(text.to_owned())
}

/// Least and greatest length.
fn length(text: &str) -> Result<(usize, usize)> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let range = least.trim().parse().ok().zip(most.trim().parse().ok());
    range
        .filter(|(least, most)| least <= most && *most <= MOST_TEXT)
        .with_context(|| {
            format!(
                "length={text}: want a number of bytes, or two such as 50-150, up to {MOST_TEXT}"
            )
        })
}

/// The same letters every time, with spaces where there are to be words.
fn letters(n: usize, words: bool) -> String {
    let mut random = SplitMix64(1);
    let letter = |random: &mut SplitMix64| char::from(b'a' + random.below(26) as u8);
    (0..n)
        .map(|_| match words && random.below(6) == 0 {
            true => ' ',
            false => letter(&mut random),
        })
        .collect()
}

/// A step.
struct Sql {
    before: String,
    sql: String,
    /// None for a script.
    operations: Option<u64>,
    transaction: u64,
    check: Option<String>,
    values: Drawn,
}

/// Where the values of parameters come from.
struct Drawn {
    order: Vec<u32>,
    keys: u64,
    length: (usize, usize),
    text: String,
    letters: String,
    file: String,
}

/// What a parameter is.
#[derive(Clone, Copy)]
enum ParameterKind {
    Number,
    Shuffled,
    Random,
    Real,
    Word,
    Text,
    File,
}

struct Parameter {
    kind: ParameterKind,
    /// Made of its name: what is random in it.
    salt: u64,
}

impl Parameter {
    fn named(name: &str) -> Result<Parameter> {
        let bare = name.trim_start_matches([':', '@', '$']);
        let kind = match bare.split('_').next().unwrap_or_default() {
            "i" => ParameterKind::Number,
            "shuffled" => ParameterKind::Shuffled,
            "random" => ParameterKind::Random,
            "real" => ParameterKind::Real,
            "word" => ParameterKind::Word,
            "text" => ParameterKind::Text,
            "file" => ParameterKind::File,
            _ if name.is_empty() => bail!("a parameter without a name; there are {NAMES}"),
            _ => bail!("no parameter is called {name}; there are {NAMES}"),
        };
        Ok(Parameter {
            kind,
            salt: xxh3_64_with_seed(bare.as_bytes(), 0),
        })
    }
}

impl Drawn {
    /// Binds the values that parameters have in operation `j`.
    ///
    /// # Safety
    /// The statement must not be stepped any more when this has gone.
    unsafe fn bind(
        &self,
        stmt: &mut Stmt<'_>,
        parameters: &[Parameter],
        j: u64,
        random: u64,
    ) -> Result<(), SqlError> {
        for (i, parameter) in (1..).zip(parameters) {
            let mut random = SplitMix64(random ^ parameter.salt);
            match parameter.kind {
                ParameterKind::Number => stmt.bind_int(i, j as i64 + 1)?,
                ParameterKind::Shuffled => {
                    let at = (j % self.order.len() as u64) as usize;
                    stmt.bind_int(i, i64::from(self.order[at]) + 1)?;
                }
                ParameterKind::Random => stmt.bind_int(i, random.below(self.keys) as i64 + 1)?,
                ParameterKind::Real => {
                    stmt.bind_real(i, random.below(1 << 53) as f64 / (1u64 << 53) as f64)?
                }
                ParameterKind::Word => {
                    let (from, n) = (
                        random.below(TEXTS as u64) as usize,
                        4 + random.below(9) as usize,
                    );
                    // SAFETY: the letters stay as long as the statement is used, by the caller's promise.
                    unsafe { stmt.bind_text_static(i, &self.letters[from..from + n])? };
                }
                ParameterKind::Text => {
                    let (least, most) = self.length;
                    let n = least + random.below((most - least) as u64 + 1) as usize;
                    let from = random.below(TEXTS as u64) as usize;
                    // SAFETY: as above.
                    unsafe { stmt.bind_text_static(i, &self.text[from..from + n])? };
                }
                // SAFETY: as above.
                ParameterKind::File => unsafe { stmt.bind_text_static(i, &self.file)? },
            }
        }
        Ok(())
    }
}

impl StepWork for Sql {
    fn operations(&self) -> u64 {
        self.operations.unwrap_or(1)
    }

    fn client<'d>(&'d self, db: &'d Db<'d>) -> Result<Box<dyn Client + 'd>> {
        db.exec(&self.before).map_err(|e| anyhow!("before: {e}"))?;
        if self.operations.is_none() {
            return Ok(Box::new(ScriptOnce { db, sql: &self.sql }));
        }
        let mut statements = Vec::new();
        let mut rest = self.sql.as_str();
        while !rest.trim().is_empty() {
            let (statement, tail) = db
                .prepare_first(rest)
                .map_err(|e| anyhow!("{e}: {}", rest.trim()))?;
            if let Some(stmt) = statement {
                let names = stmt.parameters();
                let parameters = names
                    .iter()
                    .map(|n| Parameter::named(n))
                    .collect::<Result<_>>()?;
                statements.push((stmt, parameters));
            }
            rest = tail;
        }
        ensure!(!statements.is_empty(), "the sql has no statement");
        let readonly = statements.iter().all(|(stmt, _)| stmt.readonly());
        let begin = if readonly { "BEGIN" } else { "BEGIN IMMEDIATE" };
        Ok(Box::new(KeptStatements {
            values: &self.values,
            readonly,
            begin: prepare(db, begin)?,
            commit: prepare(db, "COMMIT")?,
            // Several statements are one transaction, as they are one operation.
            transaction: (self.transaction > 1 || statements.len() > 1).then_some(self.transaction),
            open: 0,
            statements,
        }))
    }

    fn check(&self, db: &Db<'_>, _sum: i64, _alone: bool) -> Result<String> {
        let Some(sql) = &self.check else {
            return Ok(String::new());
        };
        let mut read = OperationReading::default();
        run(&mut prepare(db, sql)?, &mut read).map_err(|e| anyhow!("check: {e}"))?;
        Ok(format!("{:016x}", read.end(0)))
    }
}

/// Statements that run once.
struct ScriptOnce<'d> {
    db: &'d Db<'d>,
    sql: &'d str,
}

impl Client for ScriptOnce<'_> {
    fn operation(
        &mut self,
        _j: u64,
        _random: u64,
        read: &mut OperationReading,
    ) -> Result<(), SqlError> {
        let mut rest = self.sql;
        while !rest.is_empty() {
            let (statement, tail) = self.db.prepare_first(rest)?;
            if let Some(mut stmt) = statement {
                run(&mut stmt, read)?;
            }
            rest = tail;
        }
        Ok(())
    }

    fn readonly(&self) -> bool {
        false
    }
}

/// Statements that are kept.
struct KeptStatements<'d> {
    values: &'d Drawn,
    statements: Vec<(Stmt<'d>, Vec<Parameter>)>,
    readonly: bool,
    begin: Stmt<'d>,
    commit: Stmt<'d>,
    /// Operations that are one transaction; none where each statement is one by itself.
    transaction: Option<u64>,
    /// Operations of the transaction that is open.
    open: u64,
}

impl Client for KeptStatements<'_> {
    fn operation(
        &mut self,
        j: u64,
        random: u64,
        read: &mut OperationReading,
    ) -> Result<(), SqlError> {
        if self.transaction.is_some() && self.open == 0 {
            first(&mut self.begin)?;
            self.begin.reset();
        }
        for (stmt, parameters) in &mut self.statements {
            // SAFETY: the values belong to the work, which stays longer than its clients.
            unsafe { self.values.bind(stmt, parameters, j, random)? };
            run(stmt, read)?;
        }
        self.open += 1;
        match self.transaction {
            Some(n) if self.open >= n => self.finish(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), SqlError> {
        if self.transaction.is_some() && self.open > 0 {
            first(&mut self.commit)?;
            self.commit.reset();
        }
        self.open = 0;
        Ok(())
    }

    fn readonly(&self) -> bool {
        self.readonly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_a_number_or_two() {
        assert_eq!(length("100").unwrap(), (100, 100));
        assert_eq!(length("50-150").unwrap(), (50, 150));
        for wrong in ["", "x", "9-3", "-5", "99999999999"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_are_known_by_their_names() {
        let one = |name| Parameter::named(name).unwrap();
        assert_eq!(one(":random_a").salt, one("@random_a").salt);
        assert_ne!(one(":random_a").salt, one(":random_b").salt);
        let error = |name| Parameter::named(name).err().unwrap().to_string();
        assert!(error(":rendom").contains(":rendom; there are :i"));
        assert!(error("").contains("without a name"));
    }

    #[test]
    fn texts_are_the_same_every_time() {
        let text = letters(1000, true);
        assert_eq!(text, letters(1000, true));
        assert!(text.contains(' ') && !letters(1000, false).contains(' '));
    }
}
