//! The report as text, for a person to read.

use std::io::{self, Write};

use comfy_table::CellAlignment;

use super::table::ReportTable;
use super::{Chart, ChartCell, Report, Verdict};
use crate::output::{self, Ink, plain_table, print_table, write_inked, write_paragraph};
use crate::text;

/// Longer names and descriptions are cut; the page and the files have all of them.
const NAME_WIDTH: usize = 32;
const ABOUT_WIDTH: usize = 160;

/// Prints the whole report on standard output; a reader that has seen enough is no error.
pub fn show(report: &Report) -> io::Result<()> {
    output::to_terminal(|out| print(report, out))
}

/// Prints the whole report.
pub fn print(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let results = &report.results;
    write_inked(out, Ink::Bold, &text::printable(&report.title))?;
    for session in &results.sessions {
        let told = format!(
            "{}: hpsqlite {}, {}",
            text::printable(&session.began),
            text::printable(&session.tool),
            text::printable(&session.environment.words())
        );
        write_paragraph(out, 1, &told)?;
    }
    for chart in &report.charts {
        writeln!(out)?;
        write_inked(out, Ink::Bold, &text::printable(&chart.title()))?;
        if !chart.plan.about.is_empty() {
            write_paragraph(out, 1, &text::printable(&chart.plan.about))?;
        }
        table(report, chart, out)?;
        let told = format!(
            "{}: medians of {}, ± half the interquartile range{}",
            text::capitalised(&chart.plan.measure.words()),
            chart.trials(),
            match &chart.plan.base {
                Some(base) => format!(
                    "; against {}, in brackets the 95 % interval",
                    text::printable(chart.plan.name(base))
                ),
                None => String::new(),
            }
        );
        write_paragraph(out, 1, &told)?;
        for found in chart.findings() {
            write_paragraph(out, 1, &text::printable(found))?;
        }
        if let Some(cut) = chart.cut() {
            write_paragraph(out, 1, &text::printable(&cut))?;
        }
    }
    for table in &report.tables {
        summed(table, out)?;
    }
    abouts(report, out)?;
    if !report.missing.is_empty() {
        writeln!(out)?;
        write_inked(out, Ink::Bold, "Not measured")?;
        for m in &report.missing {
            let told = format!(
                "{}: {}: {}",
                text::printable(&m.what),
                m.kind.words(),
                text::printable(&m.reason)
            );
            write_paragraph(out, 1, &told)?;
        }
    }
    let verdict = report.verdict();
    if !verdict.is_empty() || !report.warnings.is_empty() {
        writeln!(out)?;
    }
    let ink = match report.changed(Verdict::Worse).is_empty() {
        true => Ink::Bold,
        false => Ink::Wrong,
    };
    for line in verdict {
        write_inked(out, ink, &text::printable(&line))?;
    }
    for line in &report.warnings {
        write_paragraph(out, 0, &text::printable(line))?;
    }
    Ok(())
}

fn table(report: &Report, chart: &Chart, out: &mut impl Write) -> io::Result<()> {
    let mut table = plain_table();
    let name = |s: &str| text::shorten(&text::printable(chart.plan.name(s)), NAME_WIDTH);
    let mut header = vec!["".to_owned(), text::printable(&chart.plan.x)];
    header.extend(chart.plan.series.as_ref().map(|s| text::printable(s)));
    header.push(chart.plan.measure.words());
    let base = chart.plan.base.as_ref();
    header.extend(base.map(|b| format!("against {}", name(b))));
    if report.against.is_some() {
        header.push("against the older results".to_owned());
    }
    header.push("engine".to_owned());
    let numbers: Vec<usize> = match chart.plan.series {
        Some(_) => vec![3],
        None => vec![2],
    };
    table.set_header(header);
    let abouts = all_abouts(report);
    for cell in &chart.cells {
        let mut row = vec!["".to_owned(), name(&cell.x)];
        if chart.plan.series.is_some() {
            row.push(name(&cell.series));
        }
        row.push(spread(chart, cell));
        if base.is_some() {
            row.push(speedup(chart, cell));
        }
        if report.against.is_some() {
            row.push(change(chart, cell));
        }
        let about = cell.about();
        let number = abouts.iter().position(|a| *a == about);
        row.push(number.map_or(String::new(), |n| format!("[{}]", n + 1)));
        table.add_row(row);
    }
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    print_table(&table, out)
}

/// A table of the suite, with a line for each of its columns, of which there may be many.
fn summed(table: &ReportTable, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    write_inked(out, Ink::Bold, &text::printable(&table.title))?;
    if !table.about.is_empty() {
        write_paragraph(out, 1, &text::printable(&table.about))?;
    }
    if !table.steps.is_empty() {
        write_paragraph(out, 1, &format!("Sum of {}", text::printable(&table.steps)))?;
    }
    let mut lines = plain_table();
    let names = table.rows.iter().map(|r| text::printable(&r.name));
    lines.set_header([String::new(), String::new()].into_iter().chain(names));
    for (i, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().filter_map(|r| r.cells.get(i));
        let cells = cells.map(|c| text::printable(&c.words()));
        lines.add_row(
            [String::new(), text::printable(column)]
                .into_iter()
                .chain(cells),
        );
    }
    for column in lines.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print_table(&lines, out)?;
    for (i, note) in (1..).zip(&table.notes) {
        write_paragraph(out, 1, &format!("[{i}] {}", text::printable(note)))?;
    }
    Ok(())
}

/// What the engines in all charts are, each once.
pub fn all_abouts(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    for cell in report.charts.iter().flat_map(|c| &c.cells) {
        let about = cell.about();
        if !about.is_empty() && !all.contains(&about) {
            all.push(about);
        }
    }
    all
}

fn abouts(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let all = all_abouts(report);
    if !all.is_empty() {
        writeln!(out)?;
        write_inked(out, Ink::Bold, "Engines")?;
    }
    for (i, about) in all.iter().enumerate() {
        let about = text::shorten(&text::printable(about), ABOUT_WIDTH);
        write_paragraph(out, 1, &format!("[{}] {about}", i + 1))?;
    }
    Ok(())
}

/// The median with half of the interquartile range.
pub fn spread(chart: &Chart, cell: &ChartCell) -> String {
    let measure = &chart.plan.measure;
    let spread = (cell.quartiles.1 - cell.quartiles.0) / 2.0;
    match cell.values.len() {
        1 => measure.value(cell.median),
        _ => format!("{} ± {}", measure.value(cell.median), measure.value(spread)),
    }
}

/// The speed-up over the base.
pub fn speedup(chart: &Chart, cell: &ChartCell) -> String {
    match cell.speedup {
        Some(s) => s.words(&chart.plan.measure),
        None if cell.is_base => "1".to_owned(),
        None => "-".to_owned(),
    }
}

/// The speed-up over the older results.
pub fn change(chart: &Chart, cell: &ChartCell) -> String {
    match cell.change {
        Some(c) => c.words(&chart.plan.measure),
        None => "new".to_owned(),
    }
}
