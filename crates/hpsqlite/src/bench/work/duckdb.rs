//! Jobs of statements on DuckDB, in its own format with its native types.
//!
//! DuckDB is its Python module: `duckdb_helper.py` runs in a Python of its own and is spoken to by
//! lines of JSON. One such process has the statements timed through DuckDB's C API, to the last
//! chunk of rows; another one loads the data and asks for the answers, so that nothing of that is
//! in the first one's memory.
//!
//! | option | meaning |
//! |---|---|
//! | `duckdb` | the statement of a step, where it is not the one of `sql` |
//! | `pragma.threads` | how many threads DuckDB takes; by default as many as there are processors |
//! | `python` | the Python that has the module; by default `python3` |
//! | `limit`, `repeat` | as for SQLite |
//!
//! The clock, the runs before it and the limit are those of [`super::sql`], but that no value is read.
//!
//! **Data**: a copy of the SQLite database in DuckDB's format is kept in the cache folder, for each
//! version of DuckDB. Integers that fit have 32 bits there and others 64; REAL is DOUBLE; DECIMAL,
//! DATE and texts are what they are declared as. Keys are left out, which DuckDB advises for
//! scans; indexes that the database names are made. **Answers** are summed up by DuckDB itself, see
//! [`crate::bench::answer`].

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};

use super::Say;
use super::helper::Helper;
use super::options::JobOptions;
use super::sql::{self, OtherEngine, Stopped, limit_of, repetitions, tell};
use crate::bench::answer::{Answer, AnswerColumn, AnswerWay};
use crate::bench::dataset::{Cache, Name};
use crate::bench::engine::{Unavailable, server};
use crate::bench::meter::Usage;
use crate::bench::model::{Effective, Job, Line, PRAGMA_PREFIX, Sample, Step, Values};
use crate::compare::cache;
use crate::kvtest::place;
use crate::sys::{Db, Library, OPEN_READONLY, Stmt, Value};
use crate::{interrupt, libs};

/// The name of the engine.
pub const NAME: &str = "duckdb";
/// The version of the way in which data is copied.
const VERSION: u32 = 1;
const HELPER: &str = include_str!("duckdb_helper.py");

/// Statements that read a database, on DuckDB.
pub static ON_DUCKDB: OtherEngine = OtherEngine { name: NAME, run };

/// Does the steps of a job, telling each line to `say`.
fn run(job: &Job, say: Say<'_>) -> Result<()> {
    let options = JobOptions::of(job, None);
    let database = sql::database(job)?;
    let python = options.text("python").unwrap_or("python3");
    if options.counted("threads")?.is_some_and(|n| n > 1) {
        bail!(Unavailable(
            "several connections are not measured on DuckDB; pragma.threads sets how many threads one has"
                .to_owned()
        ));
    }
    let (mut timed, version) = start(python, &job.folder)?;
    let file = copied(job, python, &database, &version)?;
    let threads = options.text(&format!("{PRAGMA_PREFIX}threads"));
    let open = json!({"do": "open", "path": file, "threads": threads});
    timed.demand(open.clone())?;
    say(Line::Ready(effective(&mut timed, &version)?))?;
    // Before anything is cold: opening reads the file.
    let (mut asked, _) = start(python, &job.folder)?;
    asked.demand(json!({"do": "prepare", "path": file, "read_only": true}))?;
    for step in &job.steps {
        interrupt::check()?;
        if step.cold {
            timed.demand(json!({"do": "close"}))?;
            let dropped = cache::drop_files(&[&file]);
            timed.demand(open.clone())?;
            if let Err(e) = dropped {
                tell(job, step, Err(e.into()), say)?;
                continue;
            }
        }
        let mut measured = measure(job, step, &mut timed, &mut asked);
        if let Ok(sample) = &mut measured {
            sample.space = place::space(&file);
        }
        tell(job, step, measured, say)?;
    }
    Ok(())
}

/// Measures a step.
fn measure(
    job: &Job,
    step: &Step,
    timed: &mut Helper,
    asked: &mut Helper,
) -> Result<Sample, Stopped> {
    let options = JobOptions::of(job, Some(step));
    let statement = options
        .text(NAME)
        .or_else(|| options.text("sql"))
        .context("there is no sql")?;
    let limit = options.seconds("limit")?;
    let process = timed.id().to_string();
    let mut run = |repeat: u64| -> Result<Json, Stopped> {
        let limit = limit_of(limit, repeat).map(|l| l.as_secs_f64());
        let request = json!({"do": "run", "sql": statement, "repeat": repeat, "limit": limit});
        timed.ask(request)?.ok_or(Stopped::TooLong)
    };
    // The process knows its own time to the microsecond; others see it in ticks of the system.
    let time = |done: &Json, name: &str| {
        done[name]
            .as_f64()
            .context("DuckDB's process tells no time")
    };
    let repeat = match step.cold {
        true => 1,
        false => repetitions(&options, || Ok(time(&run(1)?, "seconds")?))?,
    };
    let before = Usage::begin_of(&process);
    let done = run(repeat)?;
    let usage = Usage::of(&process).since(&before);
    let answer = answer(statement, asked)?;
    if done["count"].as_u64() != Some(answer.rows) {
        return Err(sql::changed().into());
    }
    Ok(Sample {
        step: step.name.clone(),
        seconds: time(&done, "seconds")?,
        user: time(&done, "user")?,
        system: time(&done, "system")?,
        operations: repeat,
        peak_memory: usage.peak,
        device_read: usage.device_read,
        device_written: usage.device_written,
        answer: answer.text(),
        ..Sample::default()
    })
}

/// A Python with DuckDB in it, and DuckDB's version.
fn start(python: &str, folder: &Path) -> Result<(Helper, String)> {
    let log = folder.join("duckdb.log");
    let mut command = server::own(python, "python3", &log, folder)?;
    command.args(["-c", HELPER]);
    let (helper, hello) = Helper::start("DuckDB", command, &log)?;
    if let Some(why) = hello["missing"].as_str() {
        bail!(Unavailable(why.to_owned()));
    }
    let version = hello["version"].as_str().unwrap_or_default().to_owned();
    Ok((helper, version))
}

/// The rows of a statement, as text.
fn texts(helper: &mut Helper, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
    let mut answer = helper.demand(json!({"do": "rows", "sql": sql}))?;
    serde_json::from_value(answer["rows"].take()).context("rows of DuckDB")
}

/// What DuckDB says that the statement's rows come to.
fn answer(sql: &str, asked: &mut Helper) -> Result<Answer> {
    let columns = texts(asked, &format!("DESCRIBE {sql}"))?;
    let mut sums = vec!["count(*)".to_owned()];
    let mut names = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let kind = column.get(1).and_then(|k| k.as_deref()).unwrap_or_default();
        names.push(format!("c{i}"));
        let number = format!("c{i}::DOUBLE");
        let text = format!("('0x' || substr(md5(c{i}::VARCHAR), 1, 8))::UINTEGER");
        let of = match is_number(kind) {
            true => [
                format!("count(c{i})"),
                format!("sum({number})"),
                format!("sum(abs({number}))"),
                "0".to_owned(),
                "0".to_owned(),
            ],
            false => [
                "0".to_owned(),
                "0".to_owned(),
                "0".to_owned(),
                format!("count(c{i})"),
                format!("sum({text})"),
            ],
        };
        sums.extend(of);
    }
    let all = texts(
        asked,
        &format!(
            "SELECT {} FROM ({sql}) AS answer({})",
            sums.join(", "),
            names.join(", ")
        ),
    )?;
    let values = all.into_iter().next().context("no sums of the answer")?;
    // A sum of nothing is NULL.
    let number = |i: usize| -> Result<f64> {
        let text = values.get(i).and_then(|v| v.as_deref()).unwrap_or("0");
        text.parse().with_context(|| format!("{text} is no number"))
    };
    let count = |i: usize| -> Result<u64> {
        let text = values.get(i).and_then(|v| v.as_deref()).unwrap_or("0");
        text.parse().with_context(|| format!("{text} is no count"))
    };
    let rows = count(0)?;
    let columns = (0..columns.len()).map(|i| {
        let at = 1 + 5 * i;
        let (numbers, texts) = (count(at)?, count(at + 3)?);
        Ok(AnswerColumn {
            nulls: rows - numbers - texts,
            numbers,
            sum: number(at + 1)?,
            size: number(at + 2)?,
            texts,
            hash: count(at + 4)?,
        })
    });
    Ok(Answer {
        rows,
        way: AnswerWay::Duckdb,
        columns: columns.collect::<Result<_>>()?,
        ..Answer::default()
    })
}

/// Whether values of this type are numbers in SQLite, where a truth value is one too.
fn is_number(kind: &str) -> bool {
    kind.ends_with("INT")
        || kind.ends_with("INTEGER")
        || kind.starts_with("DECIMAL")
        || ["DOUBLE", "FLOAT", "BOOLEAN"].contains(&kind)
}

/// What is in force.
fn effective(timed: &mut Helper, version: &str) -> Result<Effective> {
    // What is timed gives no values, but it counts rows.
    let threads = timed.demand(json!({
        "do": "run",
        "sql": "SELECT 1 FROM range(current_setting('threads')::BIGINT)",
        "repeat": 1,
    }))?;
    let mut settings = Values::new();
    settings.insert("threads".to_owned(), threads["count"].to_string());
    Ok(Effective {
        version: format!("DuckDB {version}"),
        settings,
        durability: "no crash loses a committed transaction".to_owned(),
    })
}

/// The database in DuckDB's format.
fn copied(job: &Job, python: &str, database: &Path, version: &str) -> Result<PathBuf> {
    let folder = JobOptions::of(job, None).text("cache");
    let folder = Path::new(folder.context("there is no cache")?);
    let metadata = std::fs::metadata(database)
        .with_context(|| format!("cannot read {}", database.display()))?;
    let name = Name::new(NAME, VERSION).with("duckdb", version);
    let name = match database.parent() == Some(folder) {
        // Its name has all that its bytes depend on.
        true => name.with("of", database.file_name().unwrap_or_default().display()),
        false => name
            .with("of", database.display())
            .with("bytes", metadata.len())
            .with("modified", format!("{:?}", metadata.modified()?)),
    };
    Cache::new(folder).get(&name, |path| {
        let (mut helper, _) = start(python, &job.folder)?;
        helper.demand(json!({"do": "prepare", "path": path, "read_only": false}))?;
        load(database, &job.folder.join("table.csv"), &mut helper)
    })
}

/// Copies all tables, through a CSV file each.
fn load(database: &Path, csv: &Path, helper: &mut Helper) -> Result<()> {
    let library = Library::load(&libs::stock()?)?;
    let db = library
        .open(database, OPEN_READONLY)
        .map_err(|e| anyhow!("cannot open {}: {e}", database.display()))?;
    let schema = |kind: &str, what: &str| {
        db.column(&format!(
            "SELECT {what} FROM sqlite_schema WHERE type='{kind}' AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
             ORDER BY rowid"
        ))
    };
    for table in schema("table", "name")? {
        interrupt::check()?;
        copy_table(&db, &table, csv, helper).with_context(|| format!("table {table}"))?;
    }
    for sql in schema("index", "sql")? {
        texts(helper, &sql).with_context(|| sql.clone())?;
    }
    texts(helper, "CHECKPOINT")?;
    // Closes the file.
    helper.end()
}

fn copy_table(db: &Db<'_>, table: &str, csv: &Path, helper: &mut Helper) -> Result<()> {
    let name = quoted(table, '"');
    let info = |what: &str| {
        let sql = format!(
            "SELECT {what} FROM pragma_table_info({})",
            quoted(table, '\'')
        );
        db.column(&sql)
    };
    let columns: Vec<(String, String)> = info("name")?.into_iter().zip(info("type")?).collect();
    let mut kinds = Vec::new();
    for (column, declared) in &columns {
        let range = format!(
            "SELECT ifnull(max(abs({c})), 0) FROM {name}",
            c = quoted(column, '"')
        );
        kinds.push(native(declared, &mut || {
            let largest = db.first(&range)?.unwrap_or_default();
            Ok(largest.parse::<i64>().is_ok_and(|n| n <= i32::MAX.into()))
        })?);
    }
    let rows = write_csv(db, &format!("SELECT * FROM {name}"), csv)?;
    let each = |describe: &dyn Fn(&str, &str) -> String| -> String {
        let all = columns.iter().zip(&kinds);
        let all = all.map(|((column, _), kind)| describe(column, kind));
        all.collect::<Vec<_>>().join(", ")
    };
    let declared = each(&|column, kind| format!("{} {kind}", quoted(column, '"')));
    let read = each(&|column, kind| {
        let kind = if kind == "BLOB" { "VARCHAR" } else { kind };
        format!("{}: {}", quoted(column, '\''), quoted(kind, '\''))
    });
    let values = each(&|column, kind| match kind {
        "BLOB" => format!("unhex({})", quoted(column, '"')),
        _ => quoted(column, '"'),
    });
    texts(helper, &format!("CREATE TABLE {name}({declared})"))?;
    let path = csv.to_str().context("a path that is not UTF-8")?;
    let loaded = texts(
        helper,
        &format!(
            "INSERT INTO {name} SELECT {values} FROM read_csv({}, header=false, auto_detect=false, delim=',', \
         quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, columns={{{read}}})",
            quoted(path, '\'')
        ),
    )?;
    std::fs::remove_file(csv).with_context(|| format!("cannot remove {path}"))?;
    let loaded = loaded.into_iter().flatten().next().flatten();
    if loaded.as_deref() != Some(&rows.to_string()) {
        bail!("{rows} rows are there and DuckDB has loaded {loaded:?}");
    }
    Ok(())
}

/// DuckDB's type for a declared one; `small` tells whether all integers have 32 bits.
fn native(declared: &str, small: &mut dyn FnMut() -> Result<bool>) -> Result<String> {
    let declared = declared.to_ascii_uppercase();
    Ok(match declared.as_str() {
        "INTEGER" | "INT" | "BIGINT" if small()? => "INTEGER".to_owned(),
        "INTEGER" | "INT" | "BIGINT" => "BIGINT".to_owned(),
        "REAL" | "DOUBLE" | "FLOAT" => "DOUBLE".to_owned(),
        "BLOB" | "DATE" => declared,
        other if other.starts_with("DECIMAL(") => declared,
        _ => "VARCHAR".to_owned(),
    })
}

/// A name or a text of SQL.
fn quoted(text: &str, mark: char) -> String {
    let twice = format!("{mark}{mark}");
    format!("{mark}{}{mark}", text.replace(mark, &twice))
}

/// Writes rows as CSV: NULL as nothing, texts in quotes, blobs as hexadecimal digits; gives their
/// number.
fn write_csv(db: &Db<'_>, sql: &str, path: &Path) -> Result<u64> {
    let cannot = || format!("cannot write {}", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(cannot)?);
    let mut rows = 0;
    if let Some(mut stmt) = db.prepare(sql)? {
        let columns = stmt.columns();
        while stmt.step()? {
            write_row(&mut out, &stmt, columns).with_context(cannot)?;
            rows += 1;
        }
    }
    out.flush().with_context(cannot)?;
    Ok(rows)
}

fn write_row(out: &mut impl Write, stmt: &Stmt<'_>, columns: i32) -> std::io::Result<()> {
    for i in 0..columns {
        if i > 0 {
            out.write_all(b",")?;
        }
        match stmt.value(i) {
            Value::Null => {}
            Value::Integer(n) => write!(out, "{n}")?,
            Value::Real(r) => write!(out, "{r:?}")?,
            Value::Text(text) => {
                out.write_all(b"\"")?;
                for (n, part) in text.split(|b| *b == b'"').enumerate() {
                    if n > 0 {
                        out.write_all(b"\"\"")?;
                    }
                    out.write_all(part)?;
                }
                out.write_all(b"\"")?;
            }
            Value::Blob(bytes) => {
                out.write_all(b"\"")?;
                for byte in bytes {
                    write!(out, "{byte:02x}")?;
                }
                out.write_all(b"\"")?;
            }
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_native_ones() {
        let of = |declared: &str, small: bool| native(declared, &mut || Ok(small)).unwrap();
        assert_eq!(of("INTEGER", true), "INTEGER");
        assert_eq!(of("int", false), "BIGINT");
        assert_eq!(of("REAL", true), "DOUBLE");
        assert_eq!(of("DECIMAL(15,2)", true), "DECIMAL(15,2)");
        assert_eq!(of("CHAR(25)", true), "VARCHAR");
        assert_eq!(of("DATE", true), "DATE");
    }

    #[test]
    fn what_is_a_number_in_sqlite_is_one_here() {
        for kind in ["HUGEINT", "UINTEGER", "DECIMAL(18,3)", "DOUBLE", "BOOLEAN"] {
            assert!(is_number(kind), "{kind}");
        }
        for kind in ["VARCHAR", "DATE", "BLOB", "TIMESTAMP"] {
            assert!(!is_number(kind), "{kind}");
        }
    }

    #[test]
    fn names_and_texts_are_quoted() {
        assert_eq!(quoted("a\"b", '"'), "\"a\"\"b\"");
        assert_eq!(quoted("it's", '\''), "'it''s'");
    }
}
