//! The report as one page that needs nothing from anywhere else.

use std::fmt::Write as _;

use super::table::ReportTable;
use super::{Chart, ChartCell, Report, Verdict, draw, terminal};
use crate::chart::{escape, style};
use crate::text;

/// Rules that only this page needs.
const STYLE: &str = "\
section { background: none; padding: 0; margin: 2.4rem 0 0; }
figure { margin: .4rem 0 1rem; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
main { max-width: 62rem; }
.results td.about { color: var(--faint); font-size: .8rem; }
details.environment { margin: .6rem 0 0; }
.ignored { color: var(--wrong); }
.warnings { border-left: 3px solid var(--unclear); padding-left: .8rem; }
";

/// The page.
pub fn page(report: &Report) -> String {
    let name = escape(&report.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}: hpsqlite bench</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>\n",
        style::page()
    );
    let mut put = |s: std::fmt::Arguments<'_>| {
        // Writing to a String succeeds.
        let _ = out.write_fmt(s);
    };
    if !report.about.is_empty() {
        put(format_args!("<p>{}</p>\n", escape(&report.about)));
    }
    for line in report.verdict() {
        put(format_args!("<p class=\"verdict\">{}</p>\n", escape(&line)));
    }
    put(format_args!(
        "<details class=\"environment\"><summary>Command, versions and machine</summary>\n\
         <table class=\"environment\">\n"
    ));
    if !report.command.is_empty() {
        put(format_args!(
            "<tr><th>Command</th><td><code>{}</code></td></tr>\n",
            escape(&report.command)
        ));
    }
    for session in &report.results.sessions {
        put(format_args!(
            "<tr><th>{}</th><td>hpsqlite {}; {}</td></tr>\n",
            escape(&session.began),
            escape(&session.tool),
            escape(&session.environment.words())
        ));
    }
    put(format_args!("</table></details>\n"));
    if !report.warnings.is_empty() {
        put(format_args!("<div class=\"warnings\">\n"));
        for line in &report.warnings {
            put(format_args!("<p class=\"legend\">{}</p>\n", escape(line)));
        }
        put(format_args!("</div>\n"));
    }
    for chart in &report.charts {
        put(format_args!(
            "<section>\n<h2>{}</h2>\n",
            escape(&chart.title())
        ));
        if !chart.plan.about.is_empty() {
            put(format_args!("<p>{}</p>\n", escape(&chart.plan.about)));
        }
        if chart.cells.is_empty() {
            put(format_args!(
                "<p>Nothing was measured for it.</p>\n</section>\n"
            ));
            continue;
        }
        put(format_args!(
            "<figure>{}</figure>\n",
            draw::values(report, chart, false).element()
        ));
        if let Some(svg) = draw::speedups(report, chart, false) {
            put(format_args!("<figure>{}</figure>\n", svg.element()));
        }
        if let Some(cut) = chart.cut() {
            put(format_args!("<p class=\"legend\">{}</p>\n", escape(&cut)));
        }
        for found in chart.findings() {
            put(format_args!("<p>{}</p>\n", escape(found)));
        }
        put(format_args!("{}</section>\n", table(report, chart)));
    }
    for table in &report.tables {
        put(format_args!("{}", summed(table)));
    }
    if !report.missing.is_empty() {
        put(format_args!(
            "<h2>Not measured</h2>\n<div class=\"wide\"><table class=\"results\">\n"
        ));
        for m in &report.missing {
            put(format_args!(
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                escape(&m.what),
                m.kind.words(),
                escape(&m.reason)
            ));
        }
        put(format_args!("</table></div>\n"));
    }
    put(format_args!(
        "<h2>Every sample</h2>\n<details><summary>Show them</summary>\n{}</details>\n\
         <details><summary>The suite</summary>\n<pre>{}</pre></details>\n\
         <footer>Made by hpsqlite {} from results of the suite “{}” ({}). Speed-ups have 95 % intervals (percentile \
         bootstrap over the trials).</footer>\n</main>\n</body>\n</html>\n",
        samples(report),
        escape(&report.results.suite.text),
        env!("CARGO_PKG_VERSION"),
        escape(&report.results.suite.name),
        escape(&report.results.suite_hash),
    ));
    out
}

/// A table of the suite.
fn summed(table: &ReportTable) -> String {
    let mut out = format!("<section>\n<h2>{}</h2>\n", escape(&table.title));
    if !table.about.is_empty() {
        out += &format!("<p>{}</p>\n", escape(&table.about));
    }
    if !table.steps.is_empty() {
        out += &format!("<p class=\"legend\">Sum of {}.</p>\n", escape(&table.steps));
    }
    // A line for each column, of which there may be many, and words in place of numbers of notes.
    out += "<div class=\"wide\"><table class=\"results\">\n<thead><tr><th></th>";
    for row in &table.rows {
        out += &format!("<th class=\"n\">{}</th>", escape(&row.name));
    }
    out += "<th></th></tr></thead>\n<tbody>\n";
    for (i, column) in table.columns.iter().enumerate() {
        let cells: Vec<_> = table.rows.iter().filter_map(|r| r.cells.get(i)).collect();
        out += &format!("<tr><th>{}</th>", escape(column));
        for cell in &cells {
            out += &format!("<td class=\"n\">{}</td>", escape(&cell.text));
        }
        let mut notes: Vec<usize> = cells.iter().flat_map(|c| &c.notes).copied().collect();
        notes.dedup();
        let notes: Vec<&str> = notes
            .iter()
            .filter_map(|n| Some(table.notes.get(n.checked_sub(1)?)?.as_str()))
            .collect();
        out += &format!(
            "<td class=\"about\">{}</td></tr>\n",
            escape(&notes.join(" "))
        );
    }
    out += "</tbody></table></div>\n";
    out + "</section>\n"
}

fn table(report: &Report, chart: &Chart) -> String {
    let mut out = String::from("<div class=\"wide\"><table class=\"results\">\n<thead><tr>");
    let name = |s: &str| escape(chart.plan.name(s));
    out += &format!("<th>{}</th>", escape(&chart.plan.x));
    if let Some(series) = &chart.plan.series {
        out += &format!("<th>{}</th>", escape(series));
    }
    out += &format!(
        "<th class=\"n\">{}</th>",
        escape(&chart.plan.measure.words())
    );
    if let Some(base) = &chart.plan.base {
        out += &format!("<th>against {}</th>", name(base));
    }
    if let Some(against) = &report.against {
        out += &format!("<th>against {}</th>", escape(against));
    }
    out += "<th class=\"n\">trials</th><th></th></tr></thead>\n<tbody>\n";
    for cell in &chart.cells {
        out += &format!("<tr><td>{}</td>", name(&cell.x));
        if chart.plan.series.is_some() {
            out += &format!("<td>{}</td>", name(&cell.series));
        }
        out += &format!(
            "<td class=\"n\">{}</td>",
            escape(&terminal::spread(chart, cell))
        );
        if chart.plan.base.is_some() {
            out += &format!("<td>{}</td>", escape(&terminal::speedup(chart, cell)));
        }
        if report.against.is_some() {
            let worse = cell.change.is_some_and(|c| c.verdict == Verdict::Worse);
            out += &format!(
                "<td{}>{}</td>",
                if worse { " class=\"differs\"" } else { "" },
                escape(&terminal::change(chart, cell))
            );
        }
        out += &format!(
            "<td class=\"n\">{}</td><td class=\"about\">{}</td></tr>\n",
            cell.values.len(),
            notes(cell)
        );
    }
    out + "</tbody></table></div>\n" + &engines(chart)
}

/// What was measured in each of a chart's cells, folded away: each engine once, with its names.
fn engines(chart: &Chart) -> String {
    let mut known: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in &chart.cells {
        let named = [&cell.series, &cell.x];
        let name = named.into_iter().find(|n| !n.is_empty());
        let name = chart.plan.name(name.map_or("", String::as_str));
        match known.iter_mut().find(|k| k.0 == cell.about()) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => known.push((cell.about(), vec![name])),
        }
    }
    known.retain(|(about, _)| !about.is_empty());
    if known.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<details class=\"environment\"><summary>Engines, what a crash may lose, settings read back</summary>\n\
         <table class=\"environment\">\n",
    );
    for (about, names) in known {
        out += &format!(
            "<tr><th>{}</th><td>{}</td></tr>\n",
            escape(&names.join(", ")),
            escape(&about)
        );
    }
    out + "</table></details>\n"
}

/// What a reader must know of one result: that it was cut short, or that a setting had no effect.
fn notes(cell: &ChartCell) -> String {
    let mut lines = Vec::new();
    if let Some((done, asked)) = cell.cut {
        let (done, asked) = (text::thousands(done), text::thousands(asked));
        lines.push(format!("measured with {done} of {asked} operations"));
    }
    for ignored in &cell.ignored {
        lines.push(format!(
            "<span class=\"ignored\">{}</span>",
            escape(&ignored.words())
        ));
    }
    lines.join("<br>")
}

fn samples(report: &Report) -> String {
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"samples\">\n<tr><th>point</th><th>trial</th><th>step</th><th>wall</th>\
         <th>user</th><th>system</th><th>operations</th><th>values</th><th>peak memory</th><th>device read</th>\
         <th>device written</th><th>space</th><th>load</th><th>when</th></tr>\n",
    );
    for point in &report.results.points {
        let axes: Vec<&str> = point.axes.values().map(String::as_str).collect();
        let axes = axes.join(", ");
        for r in &point.samples {
            let s = &r.sample;
            let columns = [
                axes.clone(),
                r.trial.to_string(),
                s.step.clone(),
                text::seconds(s.seconds),
                text::seconds(s.user),
                text::seconds(s.system),
                text::thousands(s.operations),
                text::bytes(s.bytes),
                text::bytes(s.peak_memory),
                text::bytes(s.device_read),
                text::bytes(s.device_written),
                text::bytes(s.space),
                format!("{:.2}", r.load),
                r.at.clone(),
            ];
            out += "<tr>";
            for column in columns {
                out += &format!("<td>{}</td>", escape(&column));
            }
            out += "</tr>\n";
        }
    }
    out + "</table></div>\n"
}
