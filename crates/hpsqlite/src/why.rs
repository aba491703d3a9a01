//! `hpsqlite why`: is a statement accelerated, what keeps it from that, and where its time goes.
//!
//! The engine says it, in the error log, if PRAGMA hp_log is on (hp_config.c): notes and refusals while
//! a statement is prepared, a line for each step that has run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::CellAlignment;

use crate::compare::worker::{self, next_statement};
use crate::library::LibraryOption;
use crate::sys::{self, Db, Library, OPEN_READONLY, SqlError};
use crate::{interrupt, output, text};

/// What stands below the help.
pub const HELP: &str = "\
The statement runs three times on one connection, unless that takes long, because columns of tables \
are kept in memory once they have been read again; the steps are those of the last run. Then it runs \
on SQLite's own loops, ten seconds at most. A statement that writes is not run, only looked at.

A step reads a table, an index or what another step has left: how many rows, how many of them \
filters and joins let through, how long it took, and how much of the table was in memory as columns. \
What SQLite does with the rows, such as writing out the answer, is the rest.

Exit status: 0 accelerated, or in part; 1 not accelerated; 2 if the statement is wrong or fails, \
or is not the only one; 130 interrupted.

Examples:
  hpsqlite why app.db 'SELECT kind, count(*) FROM event GROUP BY kind'";

#[derive(Args)]
pub struct WhyArgs {
    /// The database file
    file: PathBuf,
    /// The statement; there may be only one
    sql: String,
    #[command(flatten)]
    lib: LibraryOption,
}

/// Exit status of a statement that is left to SQLite.
const NOT_ACCELERATED: u8 = 1;
/// How long a lock of another program is waited for, in milliseconds.
const BUSY_MS: i32 = 5_000;
/// The statement runs so often,
const RUNS: usize = 3;
/// but not again after this,
const ENOUGH: Duration = Duration::from_secs(10);
/// and so long on SQLite's own loops.
const LONGEST: Duration = Duration::from_secs(10);
/// SQLITE_NOTICE, with which the engine tells what it does.
const NOTICE: i32 = 27;

/// What the engine said of one execution.
#[derive(Debug, Default, PartialEq)]
struct EngineLog {
    /// SELECTs that have code of ours.
    taken: usize,
    /// Why others have not.
    refusals: Vec<String>,
    /// OP_HpScan declined, and why.
    given_back: Vec<String>,
    steps: Vec<ScanStep>,
}

#[derive(Debug, PartialEq)]
struct ScanStep {
    what: String,
    rows: u64,
    passed: u64,
    seconds: f64,
    /// Runs of leaves whose columns were in memory, of how many.
    kept: u64,
    runs: u64,
    workers: u64,
}

impl EngineLog {
    /// Reads the messages of the log. Notes belong to the refusal that comes after them, if there is one.
    fn of(log: impl IntoIterator<Item = (i32, String)>) -> EngineLog {
        let mut account = EngineLog::default();
        let mut notes: Vec<String> = Vec::new();
        let lines = log.into_iter().filter(|(code, _)| *code == NOTICE);
        for (_, line) in lines {
            let Some(line) = line.strip_prefix("hp ") else {
                continue;
            };
            match line.split_once(": ").unwrap_or((line, "")) {
                ("note", text) if notes.iter().any(|n| n == text) => {}
                ("note", text) => notes.push(text.to_owned()),
                ("refused", text) => {
                    let why = match notes.is_empty() {
                        true => text.to_owned(),
                        false => std::mem::take(&mut notes).join("; "),
                    };
                    if !account.refusals.contains(&why) {
                        account.refusals.push(why);
                    }
                }
                ("taken over", _) => {
                    notes.clear();
                    account.taken += 1;
                }
                ("given back", text) => account.given_back.push(text.to_owned()),
                ("begun again", _) => account.given_back.clear(),
                ("prepared again", _) => {
                    notes.clear();
                    account = EngineLog::default();
                }
                ("step", text) => account.steps.extend(ScanStep::of(text)),
                _ => {}
            }
        }
        account
    }

    /// The first lines of the report, and whether anything is accelerated.
    fn verdict(&self) -> (String, bool) {
        let reasons = self.refusals.join("; ");
        if !self.steps.is_empty() && self.given_back.is_empty() {
            return match self.refusals.is_empty() {
                true => ("Accelerated.".to_owned(), true),
                false => (
                    format!("Accelerated in part. Not the rest: {reasons}."),
                    true,
                ),
            };
        }
        let why = if self.given_back.iter().any(|why| why == "small") {
            "a table is small, and SQLite reads it as fast".to_owned()
        } else if !self.given_back.is_empty() {
            "while it ran something came up that is SQLite's to decide, such as a value of another type, \
             an error or a limit; its own loops have done all of it"
                .to_owned()
        } else if self.taken > 0 {
            "SQLite's own loops ended before a scan would have".to_owned()
        } else if reasons.is_empty() {
            "there is nothing to compute over many rows: no aggregate, no ORDER BY, no DISTINCT, no filter \
             of a whole table"
                .to_owned()
        } else {
            reasons
        };
        (format!("Not accelerated: {why}."), false)
    }

    /// What its author may do about it.
    fn advice(&self) -> Vec<&'static str> {
        const ADVICE: [(&str, &str); 5] = [
            (
                "by no unique key",
                "If its rows are unique by the columns that it is joined by, say so: CREATE UNIQUE INDEX.",
            ),
            (
                "gives another result each time",
                "Compute it outside of what is counted or sorted, or once, as (SELECT random()).",
            ),
            (
                "without ANALYZE",
                "SQLite guesses how many rows there are: run ANALYZE, so that it knows.",
            ),
            (
                "is not called for batches",
                "Filter and group by columns, and call the function for the rows of the answer.",
            ),
            (
                "something else than tables of the file",
                "Virtual tables, table functions and recursive WITH are SQLite's; a copy in a table is not.",
            ),
        ];
        let all = ADVICE.iter().filter(|(part, _)| {
            let has = |why: &String| why.contains(part);
            self.refusals.iter().any(has)
        });
        all.map(|(_, advice)| *advice).collect()
    }
}

impl ScanStep {
    /// What `WHAT|ROWS|PASSED|MICROSECONDS|KEPT|RUNS|WORKERS` says (hp_step.c).
    fn of(text: &str) -> Option<ScanStep> {
        let mut words = text.rsplitn(7, '|');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (workers, runs, kept) = (number()?, number()?, number()?);
        let (microseconds, passed, rows) = (number()?, number()?, number()?);
        Some(ScanStep {
            what: words.next()?.to_owned(),
            rows,
            passed,
            seconds: microseconds as f64 / 1e6,
            kept,
            runs,
            workers,
        })
    }
}

/// Runs the statement and tells; returns the exit status.
pub fn run(args: &WhyArgs) -> Result<u8> {
    let library = Library::load(&args.lib.path()?)?;
    library.keep_log();
    if !args.file.exists() {
        bail!("there is no file {}", args.file.display());
    }
    let db = library
        .open(&args.file, OPEN_READONLY)
        .with_context(|| format!("cannot open {}", args.file.display()))?;
    db.busy_timeout(BUSY_MS);
    db.stop_on_interrupt();
    let Some(offload) = db.first("PRAGMA hp_offload")? else {
        bail!(
            "{} is not High Performance SQLite",
            library.path().display()
        );
    };
    if offload == "off" {
        println!("Not accelerated: HPSQLITE in the environment is off.");
        return Ok(NOT_ACCELERATED);
    }
    let sql = next_statement(&args.sql);
    let (Some(statement), rest) = db.prepare_first(sql)? else {
        bail!("there is no statement");
    };
    let rest = next_statement(rest);
    if !rest.is_empty() {
        bail!(
            "one statement is wanted, and behind the first one stands: {}",
            text::printable(&text::shorten(rest, 60))
        );
    }
    let reads = statement.readonly();
    drop(statement);
    let plan = worker::plan(&db, sql)?;
    db.exec("PRAGMA hp_log=on")?;
    sys::logged();
    if !reads {
        drop(db.prepare(sql)?);
        let account = EngineLog::of(sys::logged());
        let head = match (account.taken, account.verdict().0) {
            (0, verdict) => verdict,
            _ => "Accelerated, in what it reads; it writes, so it was not run.".to_owned(),
        };
        report(&head, &account, &plan, &[])?;
        return Ok(if account.taken > 0 {
            0
        } else {
            NOT_ACCELERATED
        });
    }
    let mut times: Vec<Duration> = Vec::new();
    let mut account = EngineLog::default();
    while times.len() < RUNS && times.iter().sum::<Duration>() < ENOUGH {
        times.push(time(&db, sql)?);
        account = EngineLog::of(sys::logged());
    }
    let (head, is_accelerated) = account.verdict();
    let mut lines = vec![match times[..] {
        [only] => format!("One run took {}.", seconds(only)),
        [first, .., last] => format!(
            "The first run took {}, the last one {}.",
            seconds(first),
            seconds(last)
        ),
        [] => bail!("nothing was run"),
    }];
    if is_accelerated {
        db.exec("PRAGMA hp_offload=off")?;
        lines.push(beside(own_loops(&db, sql)?, times[times.len() - 1]));
    }
    report(&head, &account, &plan, &lines)?;
    Ok(if is_accelerated { 0 } else { NOT_ACCELERATED })
}

fn seconds(time: Duration) -> String {
    text::seconds(time.as_secs_f64())
}

/// Runs the statement to its end.
fn time(db: &Db<'_>, sql: &str) -> Result<Duration> {
    let start = Instant::now();
    let run = || -> Result<(), SqlError> {
        if let Some(mut statement) = db.prepare(sql)? {
            while statement.step()? {}
        }
        Ok(())
    };
    let result = run();
    interrupt::check()?;
    result?;
    Ok(start.elapsed())
}

/// How long SQLite's own loops take; none if that is too long.
fn own_loops(db: &Db<'_>, sql: &str) -> Result<Option<Duration>> {
    let (told, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let interrupter = db.interrupter();
        scope.spawn(move || {
            if wait.recv_timeout(LONGEST).is_err() {
                interrupter.interrupt();
            }
        });
        let start = Instant::now();
        let result = time(db, sql);
        // The other thread may have ended.
        let _ = told.send(());
        match result {
            Err(_) if start.elapsed() >= LONGEST && !interrupt::raised() => Ok(None),
            result => result.map(Some),
        }
    })
}

/// What SQLite's own loops take, beside what it took with ours.
fn beside(own: Option<Duration>, ours: Duration) -> String {
    match own {
        Some(own) => format!(
            "SQLite's own loops take {}: this {}.",
            seconds(own),
            text::times_as_fast(own.as_secs_f64() / ours.as_secs_f64())
        ),
        None => format!("SQLite's own loops take more than {}.", seconds(LONGEST)),
    }
}

fn report(head: &str, account: &EngineLog, plan: &[String], lines: &[String]) -> io::Result<()> {
    output::to_terminal(|out| {
        output::write_paragraph(out, 0, head)?;
        for line in lines {
            output::write_paragraph(out, 0, line)?;
        }
        for advice in account.advice() {
            output::write_paragraph(out, 0, advice)?;
        }
        if !account.steps.is_empty() {
            writeln!(out)?;
            output::print_table(&table(&account.steps), out)?;
        }
        writeln!(out, "\nEXPLAIN QUERY PLAN")?;
        plan.iter().try_for_each(|line| writeln!(out, "  {line}"))
    })
}

fn table(steps: &[ScanStep]) -> comfy_table::Table {
    let mut table = output::plain_table();
    table.set_header(["step", "rows", "passed", "time", "workers", "in memory"]);
    for step in steps {
        table.add_row([
            step.what.clone(),
            text::thousands(step.rows),
            text::thousands(step.passed),
            text::seconds(step.seconds),
            step.workers.to_string(),
            match (step.kept, step.runs) {
                (_, 0) => String::new(),
                (0, _) => "none".to_owned(),
                (kept, runs) => text::per_cent((kept as f64 / runs as f64).min(1.0)),
            },
        ]);
    }
    for i in 1..6 {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(lines: &[&str]) -> EngineLog {
        EngineLog::of(lines.iter().map(|line| (NOTICE, (*line).to_owned())))
    }

    #[test]
    fn steps_are_read_from_the_log() {
        let one = account(&["hp taken over", "hp step: a|b -> groups|10|7|1500|3|4|2"]);
        assert_eq!(
            one.steps,
            [ScanStep {
                what: "a|b -> groups".to_owned(),
                rows: 10,
                passed: 7,
                seconds: 0.0015,
                kept: 3,
                runs: 4,
                workers: 2,
            }]
        );
        assert_eq!(one.verdict(), ("Accelerated.".to_owned(), true));
        assert_eq!(
            EngineLog::of([(1, "hp taken over".to_owned())]),
            EngineLog::default()
        );
    }

    #[test]
    fn notes_say_more_than_the_refusal_after_them_and_nothing_before_success() {
        let no = account(&[
            "hp note: x",
            "hp note: x",
            "hp note: y",
            "hp refused: z",
            "hp refused: w",
        ]);
        assert_eq!(
            no.verdict(),
            ("Not accelerated: x; y; w.".to_owned(), false)
        );
        let yes = account(&[
            "hp note: x",
            "hp taken over",
            "hp step: t -> groups|1|1|1|0|1|1",
        ]);
        assert_eq!(yes.verdict(), ("Accelerated.".to_owned(), true));
        let part = account(&[
            "hp refused: z",
            "hp taken over",
            "hp step: t -> groups|1|1|1|0|1|1",
        ]);
        assert_eq!(
            part.verdict(),
            ("Accelerated in part. Not the rest: z.".to_owned(), true)
        );
    }

    #[test]
    fn what_was_taken_over_need_not_have_run() {
        for (line, why) in [
            ("hp given back: small", "a table is small"),
            ("hp given back: other", "while it ran something came up"),
            ("hp taken over", "SQLite's own loops ended before"),
            ("hp something new", "there is nothing to compute"),
        ] {
            let (verdict, is_accelerated) = account(&[line]).verdict();
            assert!(
                verdict.starts_with(&format!("Not accelerated: {why}")),
                "{verdict}"
            );
            assert!(!is_accelerated);
        }
    }
}
