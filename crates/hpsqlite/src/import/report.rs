//! What an import says: the bar while it goes on, and a summary.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;

use super::rows::Oddity;
use super::writer::ImportTally;
use crate::{output, text};

/// How far the file has been read, of how many bytes if that is known.
pub struct ImportBar {
    bar: ProgressBar,
}

impl ImportBar {
    pub fn new(size: Option<u64>) -> Result<ImportBar> {
        let bar = output::bar(match size {
            Some(_) => "{wide_bar} {percent:>3} %  {msg}  {eta} left",
            None => "{decimal_bytes}  {msg}  {elapsed}",
        })?;
        match size {
            Some(size) => bar.set_length(size),
            None => bar.unset_length(),
        }
        Ok(ImportBar { bar })
    }

    pub fn show(&self, position: u64, rows: u64) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(text::plural(rows, "row", "rows"));
        self.bar.set_position(position);
    }

    pub fn show_indexes(&self, indexes: usize) {
        let indexes = text::plural(indexes as u64, "index", "indexes");
        self.bar.set_message(format!("making {indexes}"));
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// The last lines.
pub fn summary(
    tally: &ImportTally,
    file: &str,
    table: &str,
    took: Duration,
    bad: Option<&str>,
) -> Result<()> {
    let seconds = took.as_secs_f64();
    output::to_terminal(|out| {
        writeln!(
            out,
            "{} into {table}, {} in {}: {} rows a second",
            text::plural(tally.inserted, "row", "rows"),
            text::bytes(tally.bytes),
            text::seconds(seconds),
            text::thousands((tally.inserted as f64 / seconds.max(1e-6)) as u64)
        )?;
        if tally.ignored > 0 {
            let rows = text::plural(tally.ignored, "row was", "rows were");
            writeln!(out, "{rows} left out, because the key is there")?;
        }
        if let Some(bad) = bad {
            let rows = text::plural(tally.bad, "bad row", "bad rows");
            writeln!(out, "{rows} in {bad}")?;
        }
        Ok(())
    })?;
    for (oddity, count) in Oddity::ALL.into_iter().zip(&tally.odd) {
        if count.rows > 0 {
            let told = oddity.told(count.rows);
            eprintln!("hpsqlite: {file}:{}: {told}", count.first);
        }
    }
    Ok(())
}

impl Oddity {
    /// What is said of so many rows, of which the first one is named.
    fn told(self, rows: u64) -> String {
        let others = match rows {
            1 => String::new(),
            n => format!(" (so have {} more)", text::plural(n - 1, "row", "rows")),
        };
        let what = match self {
            Oddity::TooFew => "this row has too few fields; the rest is NULL",
            Oddity::TooMany => "this row has too many fields; the last are left out",
            Oddity::StrayQuote => "this row has a quote in a quoted field that is not doubled",
            Oddity::Nul => "this row has a NUL byte, where a text ends",
        };
        format!("{what}{others}; --strict makes it an error")
    }
}
