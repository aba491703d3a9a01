//! Reports of several suites as one Markdown page, for a project's documentation: a table with a
//! line a suite, what each claims, and all its tables folded away below that.

use std::fmt::Write as _;

use super::table::ReportTable;
use super::{Chart, ChartCell, Report, claims, terminal};
use crate::bench::suite::chart::ChartPlan;
use crate::text;

/// With more series than this a cell has its speed-up without the interval.
const WIDE: usize = 3;

/// The page: how to read it, what was measured where, and a section for each report.
pub fn page(reports: &[Report]) -> String {
    let mut out = String::from(
        "# Benchmarks\n\n\
         Written by `hpsqlite bench document` from the results of the benchmark lab: a line for each suite,\n\
         with the command that measures it again. Its section has the claims, and the tables folded away.\n\
         A figure such as 2.5x is how many times as fast as the first engine of the section, in the\n\
         geometric mean over all steps.\n\n\
         Runs are interleaved, each engine in a process of its own; a value is the median of the trials\n\
         ± half their interquartile range, a speed-up has its 95 % interval in brackets (percentile\n\
         bootstrap over the trials). \"no difference\" means that the interval excludes one of a quarter or\n\
         more, \"too noisy to tell\" that it does not. Answers are compared between engines.\n\n\
         | measured | figures | command | trials | when | where |\n|---|---|---|--:|---|---|\n",
    );
    let places = places(reports);
    for report in reports {
        let session = report.results.sessions.last();
        let place = session.and_then(|s| {
            let words = s.environment.place();
            places.iter().position(|p| *p == words)
        });
        put(
            &mut out,
            format_args!(
                "| [{}](#{}) | {} | `{}` | {} | {} | {} |\n",
                cell(&report.title),
                anchor(&report.title),
                cell(&claims::figures(report)),
                report.command,
                report.trials(),
                report.days(),
                place.map_or(String::new(), |p| format!("[{}]", p + 1)),
            ),
        );
    }
    out.push('\n');
    for (i, place) in places.iter().enumerate() {
        put(&mut out, format_args!("[{}] {}  \n", i + 1, plain(place)));
    }
    for report in reports {
        section(&mut out, report);
    }
    out
}

fn put(out: &mut String, s: std::fmt::Arguments<'_>) {
    // Writing to a String succeeds.
    let _ = out.write_fmt(s);
}

/// The machines, each once; how busy one was is no part of what it is.
fn places(reports: &[Report]) -> Vec<String> {
    let mut all = Vec::new();
    for session in reports.iter().flat_map(|r| &r.results.sessions) {
        let words = session.environment.place();
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all
}

fn section(out: &mut String, report: &Report) {
    put(out, format_args!("\n## {}\n\n", plain(&report.title)));
    if !report.about.is_empty() {
        put(out, format_args!("{}\n\n", plain(&report.about)));
    }
    put(out, format_args!("`{}`\n", report.command));
    let claims: Vec<String> = claims::sentences(report).iter().map(|c| plain(c)).collect();
    if !claims.is_empty() {
        put(out, format_args!("\n* {}\n", claims.join("\n* ")));
    }
    put(out, format_args!("\n<details><summary>Tables</summary>\n"));
    for chart in &report.charts {
        if chart.cells.is_empty() {
            continue;
        }
        put(out, format_args!("\n### {}\n\n", plain(&chart.title())));
        let cut = chart.cut().unwrap_or_default();
        for words in [chart.plan.about.as_str(), &cut] {
            if !words.is_empty() {
                put(out, format_args!("{}\n\n", plain(words)));
            }
        }
        match &chart.plan.series {
            Some(_) => by_series(out, chart),
            None => by_x(out, chart),
        }
    }
    for table in &report.tables {
        summed(out, table);
    }
    if !report.missing.is_empty() {
        put(out, format_args!("\nNot measured:\n\n"));
        for m in &report.missing {
            let (what, reason) = (plain(&m.what), plain(&m.reason));
            put(
                out,
                format_args!("* {what}: {}: {reason}\n", m.kind.words()),
            );
        }
    }
    if !report.warnings.is_empty() {
        put(out, format_args!("\nTo be known:\n\n"));
        for warning in &report.warnings {
            put(out, format_args!("* {}\n", plain(warning)));
        }
    }
    let engines = terminal::all_abouts(report);
    if !engines.is_empty() {
        put(
            out,
            format_args!("\n<details><summary>Engines and their settings, read back</summary>\n\n"),
        );
        for engine in engines {
            put(out, format_args!("* {}\n", plain(&engine)));
        }
        put(out, format_args!("\n</details>\n"));
    }
    put(out, format_args!("\n</details>\n"));
}

/// A row for each value along the axis, a column for each series.
fn by_series(out: &mut String, chart: &Chart) {
    let name = |s: &str| cell(chart.plan.name(s));
    let mut header = format!("| {} |", cell(&chart.plan.x));
    let mut rule = String::from("|---|");
    for series in &chart.series {
        header += &format!(" {} |", name(series));
        rule += "--:|";
    }
    put(out, format_args!("{header}\n{rule}\n"));
    for x in &chart.xs {
        let mut row = format!("| {} |", name(x));
        for series in &chart.series {
            let words = chart.cell(x, series).map(|c| words(chart, c));
            row += &format!(" {} |", words.unwrap_or_default());
        }
        put(out, format_args!("{row}\n"));
    }
    below(out, chart);
}

/// A row for each bar.
fn by_x(out: &mut String, chart: &Chart) {
    let base = chart.plan.base.as_deref();
    let against = base.map(|b| format!(" against {} |", cell(chart.plan.name(b))));
    put(
        out,
        format_args!(
            "| {} | {} |{} what a crash may lose |\n|---|--:|{}---|\n",
            cell(&chart.plan.x),
            chart.plan.measure.words(),
            against.as_deref().unwrap_or_default(),
            if against.is_some() { "--:|" } else { "" },
        ),
    );
    for c in &chart.cells {
        let speedup = against.as_ref().map(|_| terminal::speedup(chart, c));
        put(
            out,
            format_args!(
                "| {} | {} |{} {} |\n",
                cell(chart.plan.name(&c.x)),
                terminal::spread(chart, c),
                speedup.map_or(String::new(), |s| format!(" {s} |")),
                cell(c.effective.as_ref().map_or("", |e| &e.durability)),
            ),
        );
    }
    below(out, chart);
}

/// A table of the suite, with a line for each of its columns, of which there may be many.
fn summed(out: &mut String, table: &ReportTable) {
    put(out, format_args!("\n### {}\n\n", plain(&table.title)));
    if !table.about.is_empty() {
        put(out, format_args!("{}\n\n", plain(&table.about)));
    }
    if !table.steps.is_empty() {
        put(out, format_args!("Sum of {}.\n\n", plain(&table.steps)));
    }
    let names: Vec<String> = table.rows.iter().map(|r| cell(&r.name)).collect();
    let rule = "--:|".repeat(names.len());
    put(
        out,
        format_args!("| | {} |\n|---|{rule}\n", names.join(" | ")),
    );
    for (i, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().filter_map(|r| r.cells.get(i));
        let cells: Vec<String> = cells.map(|c| cell(&c.words())).collect();
        put(
            out,
            format_args!("| {} | {} |\n", cell(column), cells.join(" | ")),
        );
    }
    put(out, format_args!("\n"));
    for (i, note) in (1..).zip(&table.notes) {
        put(out, format_args!("[{i}] {}  \n", plain(note)));
    }
}

/// The median with its spread, and how it compares.
fn words(chart: &Chart, c: &ChartCell) -> String {
    let median = match chart.series.len() > WIDE {
        true => chart.plan.measure.value(c.median),
        false => terminal::spread(chart, c),
    };
    match c.speedup {
        Some(speedup) if chart.series.len() > WIDE => format!("{median}, {}", speedup.short()),
        Some(speedup) => format!("{median}, {}", speedup.words(&chart.plan.measure)),
        None => median,
    }
}

/// What the numbers of a table are.
fn below(out: &mut String, chart: &Chart) {
    let ChartPlan { measure, base, .. } = &chart.plan;
    let what = text::capitalised(&measure.words());
    let against = base
        .as_ref()
        .filter(|_| chart.plan.series.is_some())
        .map(|b| format!("; speed-ups against {}", plain(chart.plan.name(b))));
    put(
        out,
        format_args!(
            "\n{what}: medians of {}{}.\n",
            chart.trials(),
            against.unwrap_or_default()
        ),
    );
}

/// Text that Markdown takes for nothing else.
fn plain(s: &str) -> String {
    let mut out = String::new();
    for c in text::printable(s.trim()).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The same in a table.
fn cell(s: &str) -> String {
    plain(s).replace('|', "\\|")
}

/// The name by which a heading is linked to, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}
