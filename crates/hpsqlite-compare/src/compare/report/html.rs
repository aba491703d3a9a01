//! The report as one page that needs nothing from anywhere else.

use std::fmt::Write as _;

use super::{CompareReport, Difference, Statement, terminal};
use crate::chart::{Bar, Bars, Group, engines, escape, style};
use crate::text;

/// The page.
pub fn page(report: &CompareReport) -> String {
    let title = format!(
        "{} beside {}",
        escape(&text::capitalised(&report.sides[1].label)),
        escape(&report.sides[0].label)
    );
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}: hpsqlite compare</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n",
        style::page()
    );
    for line in report.verdict() {
        add(
            &mut out,
            format_args!("<p class=\"verdict\">{}</p>\n", escape(&line)),
        );
    }
    for line in report.warnings() {
        add(
            &mut out,
            format_args!("<p class=\"legend\">{}</p>\n", escape(&line)),
        );
    }
    environment(report, &mut out);
    charts(report, &mut out);
    results(report, &mut out);
    out.push_str("<h2>Statements</h2>\n");
    for statement in &report.statements {
        details(report, statement, &mut out);
    }
    add(
        &mut out,
        format_args!(
            "<footer>Made by hpsqlite {} on {}. Bars are medians. Error bars of times span the fastest and \
             the slowest run; those of speed-ups are 95 % intervals (percentile bootstrap over rounds).</footer>\n\
             </main>\n</body>\n</html>\n",
            escape(&report.hpsqlite),
            escape(&report.when),
        ),
    );
    out
}

fn add(out: &mut String, s: std::fmt::Arguments<'_>) {
    // Writing to a String succeeds.
    let _ = out.write_fmt(s);
}

fn environment(report: &CompareReport, out: &mut String) {
    out.push_str(
        "<details class=\"environment\"><summary>Libraries, settings, database and machine</summary>\n\
         <table class=\"environment\">\n",
    );
    let mut row = |name: &str, value: &str| {
        add(
            out,
            format_args!(
                "<tr><th>{}</th><td>{}</td></tr>\n",
                escape(name),
                escape(value)
            ),
        );
    };
    for side in &report.sides {
        row(
            &side.label,
            &format!(
                "{} ({}), {}",
                side.version(),
                side.opened.source_id,
                side.opened.library.display()
            ),
        );
        for s in &side.opened.settings {
            let value = match &s.effective {
                Some(v) => format!("PRAGMA {}={} reads back {v}", s.name, s.asked),
                None => format!("PRAGMA {}={} is not known, ignored", s.name, s.asked),
            };
            row("", &value);
        }
    }
    let db = &report.database;
    row(
        "database",
        &format!(
            "{}{}: {}, {}-byte pages, journal {}, {}",
            db.path,
            if db.scratch { " (a copy of it)" } else { "" },
            text::bytes(db.bytes),
            db.page_size,
            db.journal_mode,
            db.encoding
        ),
    );
    row(
        "machine",
        &format!(
            "{}, {} processors, {}; {}",
            report.machine.processor,
            report.machine.processors,
            report.machine.kernel,
            report.cache.words()
        ),
    );
    out.push_str("</table></details>\n");
}

fn charts(report: &CompareReport, out: &mut String) {
    let measured: Vec<&Statement> = report
        .statements
        .iter()
        .filter(|s| s.summaries.is_some())
        .collect();
    if measured.is_empty() {
        return;
    }
    let (a, b) = (&report.sides[0].label, &report.sides[1].label);
    let classes =
        engines::sides([0, 1].map(|i: usize| report.sides[i].opened.hp_version.is_some()));
    let newer = classes[1];
    let label = |s: &Statement| match report.statements.len() {
        1 => s.name(),
        _ => format!("{}  {}", s.number, s.name()),
    };
    let speedups: Vec<Group> = measured
        .iter()
        .filter_map(|s| {
            let speedup = s.speedup?;
            Some(Group {
                label: label(s),
                detail: String::new(),
                bars: vec![Bar {
                    class: if speedup.clear() { newer } else { "unclear" },
                    value: speedup.ratio,
                    low: speedup.low,
                    high: speedup.high,
                    caption: text::ratio(speedup.ratio),
                    hint: String::new(),
                }],
            })
        })
        .collect();
    let chart = Bars {
        title: &format!("How many times as fast {b} is as {a}"),
        frame: None,
        groups: &speedups,
        reference: Some(1.0),
        tick: &|ratio, _| text::ratio_tick(ratio),
    };
    add(
        out,
        format_args!(
            "<h2>How many times as fast {} is</h2>\n<figure>{}</figure>\n",
            escape(b),
            chart.svg().element()
        ),
    );
    if measured
        .iter()
        .any(|s| s.speedup.is_some_and(|s| !s.clear()))
    {
        out.push_str(
            "<p class=\"legend\"><span class=\"key unclear\"></span>no clear difference: \
             the 95 % interval includes 1</p>\n",
        );
    }
    let times: Vec<Group> = measured
        .iter()
        .filter_map(|s| {
            let summaries = s.summaries?;
            let bars = classes.into_iter().zip(summaries).map(|(class, t)| Bar {
                class,
                value: t.median,
                low: t.min,
                high: t.max,
                caption: text::seconds(t.median),
                hint: String::new(),
            });
            Some(Group {
                label: label(s),
                detail: String::new(),
                bars: bars.collect(),
            })
        })
        .collect();
    let chart = Bars {
        title: &format!("Times of {a} and {b}"),
        frame: None,
        groups: &times,
        reference: None,
        tick: &text::seconds_tick,
    };
    add(
        out,
        format_args!(
            "<h2>Times, <span class=\"key {}\"></span>{} and <span class=\"key {}\"></span>{}</h2>\n<figure>{}</figure>\n",
            classes[0],
            escape(a),
            newer,
            escape(b),
            chart.svg().element()
        ),
    );
}

fn results(report: &CompareReport, out: &mut String) {
    let (a, b) = (
        escape(&report.sides[0].label),
        escape(&report.sides[1].label),
    );
    add(
        out,
        format_args!(
            "<h2>Results</h2>\n<div class=\"wide\"><table class=\"results\">\n<thead><tr><th></th><th>statement</th>\
             <th class=\"n\">{a}</th><th class=\"n\">{b}</th><th class=\"n\">{b} is faster</th><th>answers</th></tr></thead>\n<tbody>\n"
        ),
    );
    for s in &report.statements {
        let times = |side: usize| match &s.summaries {
            Some(t) => text::seconds_spread(t[side].median, t[side].spread),
            None => "-".to_owned(),
        };
        let class = if s.differs() {
            " class=\"differs\""
        } else {
            ""
        };
        add(
            out,
            format_args!(
                "<tr{class}><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                s.number,
                escape(&text::shorten(&s.name(), 60)),
                times(0),
                times(1),
                terminal::speedup(s),
                escape(&terminal::answers(s)),
            ),
        );
    }
    out.push_str("</tbody></table></div>\n");
}

fn details(report: &CompareReport, s: &Statement, out: &mut String) {
    add(
        out,
        format_args!(
            "<section>\n<h3>{} <small>{}</small></h3>\n<pre>{}</pre>\n",
            match &s.title {
                Some(title) => format!("{}. {}", s.number, escape(title)),
                None => format!("Statement {}", s.number),
            },
            escape(&terminal::answers(s)),
            escape(&s.sql)
        ),
    );
    if let Some(difference) = &s.difference {
        let mut lines = Vec::new();
        // Writing to a Vec succeeds.
        let _ = terminal::explain(report, s, difference, &mut lines);
        add(
            out,
            format_args!(
                "<pre class=\"differs\">{}</pre>\n",
                escape(String::from_utf8_lossy(&lines).trim_end())
            ),
        );
    }
    if s.plans.iter().any(|p| !p.is_empty()) {
        out.push_str("<dl>");
        let mut plan = |label: &str, lines: &[String]| {
            add(
                out,
                format_args!(
                    "<dt>{}</dt><dd><pre>{}</pre></dd>",
                    escape(label),
                    escape(&lines.join("\n"))
                ),
            );
        };
        if s.plans[0] == s.plans[1] {
            plan("plan of both", &s.plans[0]);
        } else {
            for (side, lines) in report.sides.iter().zip(&s.plans) {
                plan(&format!("plan of {}", side.label), lines);
            }
        }
        out.push_str("</dl>\n");
    }
    if matches!(s.difference, Some(Difference::Row { .. })) || s.samples[0].is_empty() {
        out.push_str("</section>\n");
        return;
    }
    out.push_str(
        "<details><summary>Every sample</summary><div class=\"wide\"><table class=\"samples\">\n",
    );
    for (side, samples) in report.sides.iter().zip(&s.samples) {
        add(out, format_args!("<tr><th>{}</th>", escape(&side.label)));
        for sample in samples {
            add(
                out,
                format_args!("<td>{}</td>", text::seconds(sample.seconds)),
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div></details>\n</section>\n");
}
