//! Rows for people: columns side by side.

use std::io::{self, Write};

use super::format::RowWriter;
use super::value::RowValue;
use crate::text::{printable, shorten, thousands};

/// The number of rows that decide how wide the columns are. Later rows are written as they come, so
/// that a long answer needs little memory.
const MEASURED: usize = 1_000;
/// Columns are not made narrower than this.
const NARROWEST: usize = 8;
const GAP: &str = "  ";

pub struct TextTable {
    /// Characters of a line; none: as many as it takes.
    columns: Option<usize>,
    names: Vec<String>,
    /// Rows that wait for the widths.
    waiting: Vec<Vec<PaddedText>>,
    /// Empty until they are known.
    widths: Vec<usize>,
    rows: u64,
    has_cut: bool,
}

/// What a cell shows.
struct PaddedText {
    shown: String,
    is_number: bool,
}

impl TextTable {
    pub fn new(columns: Option<usize>) -> TextTable {
        TextTable {
            columns,
            names: Vec::new(),
            waiting: Vec::new(),
            widths: Vec::new(),
            rows: 0,
            has_cut: false,
        }
    }

    /// Decides how wide the columns are, and writes what waited for that.
    fn settle(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| length(name)).collect();
        for row in &self.waiting {
            for (width, text) in widths.iter_mut().zip(row) {
                *width = (*width).max(length(&text.shown));
            }
        }
        if let Some(columns) = self.columns {
            let gaps = GAP.len() * (widths.len() - 1);
            narrow(&mut widths, columns.saturating_sub(gaps));
        }
        self.widths = widths;
        let heading = |text: &String| PaddedText {
            shown: text.clone(),
            is_number: false,
        };
        let rule = |&width: &usize| heading(&"-".repeat(width));
        let names: Vec<PaddedText> = self.names.iter().map(heading).collect();
        let rules: Vec<PaddedText> = self.widths.iter().map(rule).collect();
        self.line(&names, out)?;
        self.line(&rules, out)?;
        for row in std::mem::take(&mut self.waiting) {
            self.line(&row, out)?;
        }
        Ok(())
    }

    fn line(&mut self, row: &[PaddedText], out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for (i, (text, &width)) in row.iter().zip(&self.widths).enumerate() {
            if i > 0 {
                line += GAP;
            }
            let own = length(&text.shown);
            let shown = match self.columns.is_some() && own > width {
                true => {
                    self.has_cut = true;
                    shorten(&text.shown, width)
                }
                false => text.shown.clone(),
            };
            let space = " ".repeat(width.saturating_sub(own));
            line += &match text.is_number {
                true => space + &shown,
                false => shown + &space,
            };
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// Makes the widest columns narrower until all fit.
fn narrow(widths: &mut [usize], room: usize) {
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max().filter(|w| **w > NARROWEST) else {
            return;
        };
        *widest -= 1;
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

impl RowWriter for TextTable {
    fn begin(&mut self, names: &[String], _: &mut dyn Write) -> io::Result<()> {
        self.names = names.iter().map(|name| printable(name)).collect();
        Ok(())
    }

    fn row(&mut self, row: &[RowValue<'_>], out: &mut dyn Write) -> io::Result<()> {
        let row = row.iter().map(|cell| PaddedText {
            shown: printable(&cell.shown("NULL")),
            is_number: cell.is_number(),
        });
        let row: Vec<PaddedText> = row.collect();
        self.rows += 1;
        if !self.widths.is_empty() {
            return self.line(&row, out);
        }
        self.waiting.push(row);
        match self.waiting.len() >= MEASURED {
            true => self.settle(out),
            false => Ok(()),
        }
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.widths.is_empty() {
            self.settle(out)?;
        }
        if self.columns.is_none() {
            return Ok(());
        }
        let rows = match self.rows {
            1 => "1 row".to_owned(),
            n => format!("{} rows", thousands(n)),
        };
        match self.has_cut {
            true => writeln!(out, "({rows}; cells that end in … are cut: --json has all)"),
            false => writeln!(out, "({rows})"),
        }
    }
}
