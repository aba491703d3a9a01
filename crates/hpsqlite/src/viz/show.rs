//! What the terminal shows.

use std::io::{self, Write};

use comfy_table::CellAlignment;

use super::figures::Figures;
use super::page::Btree;
use super::select::Selection;
use super::walk::Model;
use crate::output::{plain_table, print_table};
use crate::text;

/// Characters of a name in a table.
const NAME: usize = 30;
/// So many problems are printed.
const PROBLEMS: usize = 100;

/// What the file is, in a line or two.
fn head(model: &Model, out: &mut impl Write) -> io::Result<()> {
    let image = &model.image;
    let header = &image.header;
    write!(
        out,
        "{}: {} in {} of {} bytes, {}",
        image.path.display(),
        text::bytes(u64::from(image.pages) * u64::from(header.page_size)),
        text::plural(u64::from(image.pages), "page", "pages"),
        text::thousands(u64::from(header.page_size)),
        header.encoding.name(),
    )?;
    if header.reserved > 0 {
        write!(out, ", {} of each page reserved", bytes_of(header.reserved))?;
    }
    if header.largest_root != 0 {
        write!(out, ", auto_vacuum = {}", header.auto_vacuum())?;
    }
    writeln!(out)?;
    if let Some(wal) = &image.wal {
        writeln!(
            out,
            "Write-ahead log: {} of {} with newer versions of {}; a checkpoint would write {}.",
            text::plural(u64::from(wal.committed), "frame", "frames"),
            text::plural(u64::from(wal.commits), "commit", "commits"),
            text::plural(wal.versions() as u64, "page", "pages"),
            text::thousands(wal.to_checkpoint().len() as u64),
        )?;
    }
    for note in &image.notes {
        writeln!(out, "{note}")?;
    }
    if let Some(changed) = image.changed()? {
        writeln!(out, "{changed} What is shown may not fit together.")?;
    }
    Ok(())
}

fn bytes_of(n: u32) -> String {
    format!("{n} {}", if n == 1 { "byte" } else { "bytes" })
}

/// A table of all b-trees, the file's numbers, and advice.
pub fn numbers(
    model: &Model,
    figures: &Figures,
    selection: &Selection,
    out: &mut impl Write,
) -> io::Result<()> {
    head(model, out)?;
    let whole = &figures.whole;

    // Two tables, so that each fits into an ordinary terminal.
    let mut content = plain_table();
    content.set_header([
        "b-tree", "what", "pages", "overflow", "reserved", "size", "entries",
    ]);
    let mut order = plain_table();
    order.set_header([
        "b-tree",
        "depth",
        "fan-out",
        "fill",
        "scatter",
        "runs",
        "median",
        "cold scan",
    ]);
    for (t, n) in (0..)
        .zip(&figures.trees)
        .filter(|&(t, _)| selection.has_tree(t))
    {
        let name = text::shorten(&text::printable(&model.title(t)), NAME);
        content.add_row([
            name.clone(),
            n.role.name().to_owned(),
            text::thousands(n.pages),
            text::thousands(n.overflow_pages),
            text::thousands(n.reserved_pages),
            text::bytes(n.bytes),
            text::thousands(n.entries),
        ]);
        let fan_out = n.fan_out.first().map(|f| format!("{f:.0}"));
        let scatter = (n.order.steps > 0).then(|| format!("{:.3}", n.order.scatter));
        order.add_row([
            name,
            n.depth.to_string(),
            fan_out.unwrap_or_default(),
            format!("{:.0} %", 100.0 * n.leaf_fill),
            scatter.unwrap_or_default(),
            text::thousands(n.order.runs),
            text::thousands(n.order.median_run),
            text::seconds(n.cold_scan),
        ]);
    }
    for (mut table, first_number) in [(content, 2), (order, 1)] {
        for i in first_number..9 {
            if let Some(column) = table.column_mut(i) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        writeln!(out)?;
        print_table(&table, out)?;
    }
    writeln!(
        out,
        "\nFill: of leaves. Scatter: the share of steps from leaf to leaf, in the order of\n\
         keys, that do not go on in the file. Runs: leaves that follow each other, and the\n\
         median of how many. Cold scan: estimated time to read all rows when nothing is cached,\n\
         for {}.",
        figures.device.describe(),
    )?;
    let size = u64::from(model.image.header.page_size);
    writeln!(
        out,
        "\nThe file: {} of records, {} unused within pages, {} in {} ({} of them reserved for \
         b-trees that grow), scatter {:.3}.",
        text::bytes(whole.payload),
        text::bytes(whole.unused),
        text::bytes(whole.free_pages * size),
        text::plural(whole.free_pages, "free page", "free pages"),
        text::thousands(whole.reserved_pages),
        whole.order.scatter,
    )?;
    if !figures.advice.is_empty() {
        writeln!(out)?;
    }
    for advice in &figures.advice {
        writeln!(out, "* {}", text::printable(&advice.to_string()))?;
    }
    if model.problems.count > 0 {
        writeln!(
            out,
            "\n{} in the pages of the file; --check lists them.",
            text::plural(model.problems.count, "problem", "problems")
        )?;
    }
    Ok(())
}

/// A line for each page that is asked for.
pub fn pages(model: &Model, selection: &Selection, out: &mut impl Write) -> io::Result<()> {
    head(model, out)?;
    writeln!(
        out,
        "\n{:>10}  {:<28} {:>5} {:>6} {:>10}  of",
        "page", "what", "fill", "cells", "from"
    )?;
    for (first, last) in selection.ranges(model) {
        for n in first..=last {
            let place = model.map.place(n);
            let mut cells = String::new();
            if place.kind.is_btree() {
                let page = model.page(n)?;
                let btree = Btree::parse(&page, n, model.usable());
                cells = btree.map_or_else(|_| "?".to_owned(), |btree| btree.cells.to_string());
            }
            let from = match place.parent {
                0 => String::new(),
                parent => parent.to_string(),
            };
            let fill = 100.0 * f64::from(place.fill) / 255.0;
            let line = format!(
                "{n:>10}  {:<28} {fill:>3.0} % {cells:>6} {from:>10}  {}",
                place.kind.name(),
                model
                    .map
                    .owner(n)
                    .map_or(String::new(), |t| text::printable(&model.title(t))),
            );
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// What is wrong, page by page.
pub fn problems(model: &Model, out: &mut impl Write) -> io::Result<()> {
    head(model, out)?;
    let problems = &model.problems;
    for problem in problems.found.iter().take(PROBLEMS) {
        let what = text::printable(&problem.what);
        match problem.page {
            0 => writeln!(out, "file: {what}")?,
            n => {
                let owner = model.map.has(n).then(|| model.map.owner(n)).flatten();
                let of = owner.map_or(String::new(), |t| {
                    format!(" ({})", text::printable(&model.title(t)))
                });
                writeln!(out, "page {n}{of}: {what}")?;
            }
        }
    }
    let more = problems.count.saturating_sub(PROBLEMS as u64);
    match problems.count {
        0 => writeln!(out, "Nothing is wrong with its pages."),
        _ if more > 0 => writeln!(out, "and {} more", text::thousands(more)),
        _ => Ok(()),
    }
}
