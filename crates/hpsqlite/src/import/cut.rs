//! Where records end, so that the file can be cut between two of them.
//!
//! A line end within quotes ends no record. Whether a quote opens or closes a field depends on all
//! that comes before it: an odd number of quotes may stand in fields that are not quoted. So the
//! thread that reads the file follows the quotes, from one to the next and no byte between. That is
//! exact where counting quotes is not, and at some gigabytes a second it waits for nobody.

use memchr::{memchr, memrchr};

/// How records are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// Fields with a separator, which quotes may surround.
    Fields { separator: u8 },
    /// One a line.
    Lines,
}

/// Looks for the ends of records in bytes that grow at their end.
#[derive(Debug)]
pub struct RecordCutter {
    records: Records,
    /// All before this has been looked at.
    at: usize,
    /// Where the quote is whose end has not come yet.
    open: Option<usize>,
    /// What lies outside of quotes, and has not been searched for line ends.
    outside: Vec<(usize, usize)>,
    /// Behind the last end of a record.
    end: usize,
}

impl RecordCutter {
    /// Begins at the beginning of a record.
    pub fn new(records: Records) -> RecordCutter {
        RecordCutter {
            records,
            at: 0,
            open: None,
            outside: Vec::new(),
            end: 0,
        }
    }

    /// Where the quote is that is open at the end of what was looked at.
    pub fn open(&self) -> Option<usize> {
        self.open
    }

    /// Looks at what has come, and gives where the last whole record ends; 0 if none does.
    pub fn look(&mut self, bytes: &[u8]) -> usize {
        match self.records {
            Records::Lines => self.outside_to(bytes.len()),
            Records::Fields { separator } => self.follow(bytes, separator),
        }
        // The last line end is in one of the last places, so the others need not be searched.
        let ends = self.outside.iter().rev();
        let mut found =
            ends.filter_map(|&(from, to)| Some(from + memrchr(b'\n', &bytes[from..to])?));
        if let Some(newline) = found.next() {
            self.end = newline + 1;
        }
        self.outside.clear();
        self.end
    }

    /// Bytes up to `to` are outside of quotes.
    fn outside_to(&mut self, to: usize) {
        self.outside.push((self.at, to));
        self.at = to;
    }

    fn follow(&mut self, bytes: &[u8], separator: u8) {
        while let Some(found) = memchr(b'"', &bytes[self.at..]) {
            let quote = self.at + found;
            if self.open.is_none() {
                self.outside_to(quote);
                let opens = match quote.checked_sub(1).map(|before| bytes[before]) {
                    None | Some(b'\n') => true,
                    Some(before) => before == separator,
                };
                self.at = quote + 1;
                match bytes.get(quote + 1..quote + 3) {
                    // Nothing in quotes is common, and quickly seen.
                    Some(&[b'"', next]) if opens && (next == separator || next == b'\n') => {
                        self.at += 1;
                    }
                    _ => self.open = opens.then_some(quote),
                }
                continue;
            }
            let next = match bytes.get(quote + 1) {
                Some(b'\r') if bytes.len() == quote + 2 => None,
                Some(b'\r') if bytes[quote + 2] == b'\n' => Some(&b'\n'),
                next => next,
            };
            self.at = match next {
                // It depends on what has not come yet.
                None => {
                    self.at = quote;
                    return;
                }
                Some(b'"') => quote + 2,
                Some(&next) => {
                    if next == separator || next == b'\n' {
                        self.open = None;
                    }
                    quote + 1
                }
            };
        }
        match self.open {
            None => self.outside_to(bytes.len()),
            Some(_) => self.at = bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the last record of a text ends, if it comes byte by byte.
    fn end(text: &str) -> usize {
        let mut cutter = RecordCutter::new(Records::Fields { separator: b',' });
        let mut end = 0;
        for length in 1..=text.len() {
            end = cutter.look(&text.as_bytes()[..length]);
        }
        let mut at_once = RecordCutter::new(Records::Fields { separator: b',' });
        assert_eq!(at_once.look(text.as_bytes()), end, "{text:?}");
        end
    }

    #[test]
    fn a_record_ends_at_a_line_end_outside_of_quotes() {
        for (text, rest) in [
            ("a,b\nc", "c"),
            ("a,b\n", ""),
            ("a,b", "a,b"),
            ("1,\"a\nb\"\nc\nd", "d"),
            ("1,\"a\nb", "1,\"a\nb"),
            ("\"a\"\"\nb\"\n\"c", "\"c"),
            ("\"a\"\r\nb", "b"),
            ("\"a\"\rx\nb", "\"a\"\rx\nb"),
            // Within a field that is not quoted a quote is a character.
            ("5\" disk\nb", "b"),
            ("5\"\n\"x\ny\"\nb", "b"),
            // What stands behind the closing quote is in quotes still.
            ("\"a\" x\ny\",b\nc", "c"),
            ("\"\"\nb", "b"),
            ("\"\"\"\nb\"\"\"\nc", "c"),
        ] {
            assert_eq!(&text[end(text)..], rest, "{text:?}");
        }
    }

    #[test]
    fn lines_know_no_quotes() {
        let mut cutter = RecordCutter::new(Records::Lines);
        assert_eq!(cutter.look(b"{\"a\n\"\nx"), 6);
        assert_eq!(cutter.open(), None);
    }
}
