//! Rows for other programs: CSV, JSON, Markdown. Each is written as it comes.

use std::io::{self, Write};

use super::value::{RowValue, hexadecimal};

/// Writes the rows of one statement.
pub trait RowWriter {
    fn begin(&mut self, names: &[String], out: &mut dyn Write) -> io::Result<()>;
    fn row(&mut self, row: &[RowValue<'_>], out: &mut dyn Write) -> io::Result<()>;
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// As RFC 4180 has it, but for the ends of lines, which are those of the system.
pub struct Csv;

impl RowWriter for Csv {
    fn begin(&mut self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(out, "{}", names.join(","))
    }

    fn row(&mut self, row: &[RowValue<'_>], out: &mut dyn Write) -> io::Result<()> {
        for (i, cell) in row.iter().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            match cell {
                RowValue::Text(text) => out.write_all(quoted(text).as_bytes())?,
                cell => out.write_all(cell.shown("").as_bytes())?,
            }
        }
        // A line without a character would be no row for many readers.
        match row {
            [RowValue::Null] => out.write_all(b"\"\"\n"),
            _ => out.write_all(b"\n"),
        }
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && !text.contains(['"', ',', '\n', '\r']);
    let edge = text.starts_with(' ') || text.ends_with(' ');
    match is_plain && !edge {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

/// A list of objects, one a line.
#[derive(Default)]
pub struct Json {
    /// The names, quoted and with their colons.
    keys: Vec<String>,
    rows: u64,
}

impl RowWriter for Json {
    fn begin(&mut self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let mut used: Vec<String> = Vec::new();
        for name in names {
            let mut own = name.clone();
            let mut n = 1;
            while used.contains(&own) {
                n += 1;
                own = format!("{name}:{n}");
            }
            self.keys.push(format!("{}:", string(&own)?));
            used.push(own);
        }
        out.write_all(b"[")
    }

    fn row(&mut self, row: &[RowValue<'_>], out: &mut dyn Write) -> io::Result<()> {
        let mut between: &[u8] = if self.rows > 0 { b",\n{" } else { b"{" };
        self.rows += 1;
        for (key, cell) in self.keys.iter().zip(row) {
            out.write_all(between)?;
            out.write_all(key.as_bytes())?;
            match cell {
                RowValue::Null => out.write_all(b"null")?,
                RowValue::Integer(digits) => out.write_all(digits.as_bytes())?,
                // JSON has no word for infinity; readers make it of this.
                RowValue::Real(text) => out.write_all(match text.as_ref() {
                    "Inf" => b"9.0e+999",
                    "-Inf" => b"-9.0e+999",
                    number => number.as_bytes(),
                })?,
                RowValue::Text(text) => out.write_all(string(text)?.as_bytes())?,
                RowValue::Blob(bytes) => write!(out, "\"{}\"", hexadecimal(bytes))?,
            }
            between = b",";
        }
        out.write_all(b"}")
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"]\n")
    }
}

/// A string of JSON.
fn string(text: &str) -> io::Result<String> {
    Ok(serde_json::to_string(text)?)
}

/// A table as GitHub and others show it.
pub struct Markdown;

impl RowWriter for Markdown {
    fn begin(&mut self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = names.iter().map(|name| in_cell(name)).collect();
        writeln!(out, "| {} |", names.join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(names.len()))
    }

    fn row(&mut self, row: &[RowValue<'_>], out: &mut dyn Write) -> io::Result<()> {
        let cells: Vec<String> = row.iter().map(|cell| in_cell(&cell.shown(""))).collect();
        writeln!(out, "| {} |", cells.join(" | "))
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Text that ends neither its cell nor its line.
fn in_cell(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('|', "\\|");
    text.replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}
