//! The report as text, for a person to read.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement};

use super::{CacheState, CompareReport, Difference, Statement};
use crate::compare::protocol::{ReportedError, ResultColumn, ShownValue};
use crate::output::{self, Ink, plain_table, print_table, write_inked, write_paragraph};
use crate::text;

/// A statement's name may be cut to this in the table, if the terminal has no room for more; the page
/// and the JSON file have all of it.
const NAME_WIDTH: usize = 44;
/// Where there is no terminal.
const FILE_NAME_WIDTH: usize = 100;
/// The column of the names.
const NAME: usize = 1;
/// A value is cut to this, around the place where it differs.
const VALUE_WIDTH: usize = 60;
const COLUMN_WIDTH: usize = 30;
/// Length of the part of a source id that tells versions apart.
const SOURCE_ID: usize = 31;

/// Prints the whole report, with the plans if they are wanted, on standard output; a reader that
/// has seen enough is no error.
pub fn show(report: &CompareReport, with_plans: bool) -> io::Result<()> {
    output::to_terminal(|out| print(report, with_plans, out))
}

fn print(report: &CompareReport, with_plans: bool, out: &mut impl Write) -> io::Result<()> {
    environment(report, out)?;
    writeln!(out)?;
    table(report, out)?;
    if with_plans {
        plans(report, out)?;
    }
    for statement in &report.statements {
        if let Some(difference) = &statement.difference {
            writeln!(out)?;
            explain(report, statement, difference, out)?;
        }
    }
    writeln!(out)?;
    for line in report.verdict() {
        let ink = match report.statements.iter().any(|s| s.differs()) {
            true => Ink::Wrong,
            false => Ink::Bold,
        };
        write_inked(out, ink, &line)?;
    }
    let warnings = report.warnings();
    warnings
        .iter()
        .try_for_each(|line| write_paragraph(out, 0, line))
}

fn environment(report: &CompareReport, out: &mut impl Write) -> io::Result<()> {
    let mut libraries = plain_table();
    libraries.set_content_arrangement(ContentArrangement::Disabled);
    for side in &report.sides {
        libraries.add_row([
            side.label.clone(),
            side.version(),
            side.opened.source_id.chars().take(SOURCE_ID).collect(),
            side.opened.library.display().to_string(),
        ]);
    }
    let lines: Vec<String> = libraries.lines().collect();
    let widest = lines.iter().map(|l| l.trim_end().chars().count()).max();
    match output::width_of_reports() {
        // Side by side they are compared at a glance; else each is a paragraph.
        Some(columns) if widest > Some(columns) => {
            for side in &report.sides {
                let id: String = side.opened.source_id.chars().take(SOURCE_ID).collect();
                let library = side.opened.library.display();
                let told = format!("{}: {}, {id}, {library}", side.label, side.version());
                write_paragraph(out, 1, &told)?;
            }
        }
        _ => print_table(&libraries, out)?,
    }
    let db = &report.database;
    let told = format!(
        "{}{}: {}, {}-byte pages, journal {}, {}; {}",
        db.path,
        if db.scratch { " (a copy of it)" } else { "" },
        text::bytes(db.bytes),
        db.page_size,
        db.journal_mode,
        db.encoding,
        report.cache.words(),
    );
    write_paragraph(out, 1, &told)?;
    for side in &report.sides {
        for setting in &side.opened.settings {
            let set = match setting.asked.as_str() {
                "" => setting.name.clone(),
                asked => format!("{}={asked}", setting.name),
            };
            match &setting.effective {
                Some(value) => writeln!(out, " {}: PRAGMA {set} reads back {value}", side.label)?,
                None => writeln!(out, " {}: PRAGMA {set} is not known, ignored", side.label)?,
            }
        }
    }
    Ok(())
}

fn table(report: &CompareReport, out: &mut impl Write) -> io::Result<()> {
    let (a, b) = (&report.sides[0].label, &report.sides[1].label);
    let faster = format!("{b} is faster");
    let header = ["", "statement", a, b, &faster, "answers"].map(str::to_owned);
    let mut rows = vec![header];
    for statement in &report.statements {
        let times = |side: usize| match &statement.summaries {
            Some(s) => text::seconds_spread(s[side].median, s[side].spread),
            None => "-".to_owned(),
        };
        rows.push([
            statement.number.to_string(),
            statement.name(),
            times(0),
            times(1),
            speedup(statement),
            answers(statement),
        ]);
    }
    let width = name_width(&rows, output::columns_of_terminal());
    for row in &mut rows {
        row[NAME] = text::shorten(&row[NAME], width);
    }
    let mut table = plain_table();
    table.set_header(rows.remove(0));
    table.add_rows(rows);
    for column in [0, 2, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    print_table(&table, out)?;
    let runs: Vec<usize> = report
        .statements
        .iter()
        .map(|s| s.samples[0].len())
        .filter(|&n| n > 0)
        .collect();
    if let (Some(least), Some(most)) = (runs.iter().min(), runs.iter().max()) {
        let runs = match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        };
        let told = format!(
            "Medians of {runs} runs a side in turn, {} cache, ± half the interquartile range; in brackets the 95 % interval.",
            match report.cache {
                CacheState::Warm => "warm",
                CacheState::Cold => "cold",
            }
        );
        write_paragraph(out, 1, &told)?;
    }
    Ok(())
}

/// How many characters of a statement fit into a line, beside the other columns. No fewer than
/// [`NAME_WIDTH`]: then a cell has several lines.
fn name_width(rows: &[[String; 6]], columns: Option<usize>) -> usize {
    let Some(columns) = columns else {
        return FILE_NAME_WIDTH;
    };
    let widest = |i: usize| rows.iter().map(|row| row[i].chars().count()).max();
    let others = (0..6).filter(|&i| i != NAME).filter_map(widest);
    // Each cell has a space on either side.
    let used = others.map(|width| width + 2).sum::<usize>() + 2;
    columns.saturating_sub(used).max(NAME_WIDTH)
}

/// The speed-up with its interval: `12.6x (12.4 to 12.8)`.
pub fn speedup(statement: &Statement) -> String {
    match statement.speedup {
        Some(s) => format!(
            "{} ({})",
            text::ratio(s.ratio),
            text::interval(s.low, s.high)
        ),
        None => "-".to_owned(),
    }
}

/// Whether the answers were the same, in a few words.
pub fn answers(statement: &Statement) -> String {
    match (&statement.difference, &statement.outcome) {
        (Some(Difference::Row { number, .. }), _) => {
            format!("DIFFER in row {}", text::thousands(*number))
        }
        (Some(Difference::Unsteady { label }), _) => format!("{label} VARIES"),
        (Some(Difference::Varies), _) => "vary".to_owned(),
        (Some(_), _) => "DIFFER".to_owned(),
        (None, Some(o)) => match (&o.error, o.rows) {
            (Some(e), _) => format!("same error: {}", e.message),
            (None, 1) => "same, 1 row".to_owned(),
            (None, n) => format!("same, {} rows", text::thousands(n)),
        },
        (None, None) => "-".to_owned(),
    }
}

fn plans(report: &CompareReport, out: &mut impl Write) -> io::Result<()> {
    if report
        .statements
        .iter()
        .all(|s| s.plans.iter().all(Vec::is_empty))
    {
        return Ok(());
    }
    writeln!(out, "\n Plans")?;
    let (a, b) = (&report.sides[0].label, &report.sides[1].label);
    let width = a.len().max(b.len()).max("both".len());
    for statement in &report.statements {
        let plans = &statement.plans;
        let shown = match plans[0] == plans[1] {
            true => vec![("both", &plans[0])],
            false => vec![(a.as_str(), &plans[0]), (b.as_str(), &plans[1])],
        };
        let mut number = statement.number.to_string();
        for (label, plan) in shown {
            let mut label = label;
            for line in plan {
                writeln!(out, " {number:>2}  {label:width$}  {line}")?;
                (number, label) = (String::new(), "");
            }
        }
    }
    Ok(())
}

/// How the answers of a statement differ.
pub fn explain(
    report: &CompareReport,
    statement: &Statement,
    difference: &Difference,
    out: &mut impl Write,
) -> io::Result<()> {
    let (a, b) = (
        report.sides[0].label.as_str(),
        report.sides[1].label.as_str(),
    );
    write!(
        out,
        " Statement {} ({}): ",
        statement.number, statement.place
    )?;
    match difference {
        Difference::Columns { a: ca, b: cb } => {
            writeln!(out, "the result columns differ")?;
            let show = |columns: &[ResultColumn]| -> String {
                let name = |c: &ResultColumn| match &c.declared {
                    Some(declared) => format!("{} {declared}", c.name),
                    None => c.name.clone(),
                };
                columns.iter().map(name).collect::<Vec<_>>().join(", ")
            };
            side_by_side(out, &[(a, show(ca)), (b, show(cb))])
        }
        Difference::Row {
            number,
            columns,
            a: ra,
            b: rb,
            reordered,
        } => {
            writeln!(
                out,
                "the answers differ first in row {}",
                text::thousands(*number)
            )?;
            match (ra, rb) {
                (Some(ra), Some(rb)) => rows(report, columns, ra, rb, out)?,
                (ra, rb) => {
                    let show = |row: &Option<Vec<ShownValue>>| match row {
                        Some(row) => {
                            let values = row.iter().map(|c| text::shorten(&c.value, VALUE_WIDTH));
                            values.collect::<Vec<_>>().join(" | ")
                        }
                        None => "has no such row".to_owned(),
                    };
                    side_by_side(out, &[(a, show(ra)), (b, show(rb))])?;
                }
            }
            if *reordered {
                writeln!(out, " Both give the same rows, in another order.")?;
            }
            Ok(())
        }
        Difference::Ending { rows, a: ea, b: eb } => {
            writeln!(out, "the answers end differently")?;
            let show = |error: &Option<ReportedError>, rows: u64| match error {
                Some(e) => format!("error {}: {}", e.code, e.message),
                None => format!("no error after {} rows", text::thousands(rows)),
            };
            side_by_side(out, &[(a, show(ea, rows[0])), (b, show(eb, rows[1]))])
        }
        Difference::Unsteady { label } => writeln!(
            out,
            "{label} gives another answer each time it is asked, and the other side does not"
        ),
        Difference::Varies => writeln!(
            out,
            "either side gives another answer each time, as with random(): there is nothing to compare"
        ),
    }
}

fn side_by_side(out: &mut impl Write, lines: &[(&str, String)]) -> io::Result<()> {
    let width = lines.iter().map(|l| l.0.len()).max().unwrap_or(0);
    for (label, line) in lines {
        writeln!(out, "   {label:width$}  {line}")?;
    }
    Ok(())
}

/// The two rows, a column a line, with a mark where they differ.
fn rows(
    report: &CompareReport,
    columns: &[String],
    a: &[ShownValue],
    b: &[ShownValue],
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = plain_table();
    table.set_header([
        "  ",
        "column",
        &report.sides[0].label,
        &report.sides[1].label,
    ]);
    for (column, (a, b)) in columns.iter().zip(a.iter().zip(b)) {
        let [shown_a, shown_b] = excerpts(&a.value, &b.value);
        let mark = if a == b { "" } else { "≠" };
        table.add_row([
            format!("  {mark}"),
            text::shorten(column, COLUMN_WIDTH),
            format!("{shown_a} ({})", a.kind),
            format!("{shown_b} ({})", b.kind),
        ]);
    }
    print_table(&table, out)
}

/// Both values, cut around the first place where they differ.
fn excerpts(a: &str, b: &str) -> [String; 2] {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let long = a.chars().count().max(b.chars().count()) > VALUE_WIDTH;
    let skip = match long {
        true => common.saturating_sub(VALUE_WIDTH / 2),
        false => 0,
    };
    [a, b].map(|s| {
        let rest: String = s.chars().skip(skip).collect();
        let dots = if skip > 0 { "…" } else { "" };
        format!("{dots}{}", text::shorten(&rest, VALUE_WIDTH))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_show_where_values_differ() {
        assert_eq!(excerpts("0.1", "0.2"), ["0.1", "0.2"]);
        let (a, b) = ("x".repeat(100) + "a", "x".repeat(100) + "b");
        let [shown_a, shown_b] = excerpts(&a, &b);
        assert!(shown_a.ends_with('a') && shown_b.ends_with('b'));
        assert!(shown_a.starts_with('…') && shown_a.chars().count() < 70);
    }
}
