//! One field of CSV, by the rules of the shell's `.import`.
//!
//! * A field that begins with a quote ends with a quote that a separator, a line end or the end of
//!   the file follows. Two quotes are one within it. Another quote is a stray one: it is a character
//!   of the field, which goes on in quotes.
//! * In any other field quotes are characters. A line end is a line feed; of a carriage return
//!   before it nothing stays.
//!
//! The crate `csv` has other rules: a stray quote ends the quoting, a carriage return alone ends a
//! line, and empty lines are no records. So files that are not quite CSV would become other rows.
//! Its fields are copied, too, where ours stay in the block.

use memchr::{memchr, memchr2};

/// So many bytes of any value stand behind the block's, so that it can be read eight by eight.
pub const PADDING: usize = 8;

/// What ended a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Separator,
    Newline,
    EndOfFile,
}

/// Where a field is in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvField {
    /// What is in it, without the quotes around.
    pub from: usize,
    pub to: usize,
    /// Behind what ended it.
    pub next: usize,
    pub stop: Stop,
    pub is_quoted: bool,
    /// Whether it has quotes that stand for one.
    pub has_doubled: bool,
    pub has_stray: bool,
    /// Whether the file ended before its quotes did.
    pub is_open: bool,
}

/// Bytes of a block, with [`PADDING`] behind them.
#[derive(Debug, Clone, Copy)]
pub struct CsvBytes<'b> {
    pub bytes: &'b [u8],
    /// Without the padding.
    pub length: usize,
    pub separator: u8,
}

impl CsvBytes<'_> {
    /// The field at a place before the end.
    #[inline]
    pub fn field(&self, at: usize) -> CsvField {
        if self.bytes[at] == b'"' {
            return self.quoted(at);
        }
        self.plain(at)
    }

    /// The field at a place where no quote is.
    #[inline(always)]
    pub fn plain(&self, at: usize) -> CsvField {
        let end = self.plain_end(at);
        let mut field = CsvField {
            from: at,
            to: end,
            next: end + 1,
            stop: Stop::Separator,
            is_quoted: false,
            has_doubled: false,
            has_stray: false,
            is_open: false,
        };
        if end == self.length {
            field.next = end;
            field.stop = Stop::EndOfFile;
        } else if self.bytes[end] == b'\n' {
            field.stop = Stop::Newline;
            if end > at && self.bytes[end - 1] == b'\r' {
                field.to -= 1;
            }
        }
        field
    }

    /// Where the first separator or line end is.
    #[inline(always)]
    fn plain_end(&self, at: usize) -> usize {
        /// Most fields end within so many words of eight bytes.
        const WORDS: usize = 4;
        let separators = u64::from_ne_bytes([self.separator; 8]);
        let newlines = u64::from_ne_bytes([b'\n'; 8]);
        let mut at = at;
        for _ in 0..WORDS {
            let Some(word) = self.bytes.get(at..at + 8) else {
                return self.length;
            };
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let found = zeros(word ^ separators) | zeros(word ^ newlines);
            if found != 0 {
                let end = at + found.trailing_zeros() as usize / 8;
                return end.min(self.length);
            }
            at += 8;
        }
        let rest = self.bytes.get(at..self.length).unwrap_or_default();
        match memchr2(self.separator, b'\n', rest) {
            Some(found) => at + found,
            None => self.length,
        }
    }

    fn quoted(&self, at: usize) -> CsvField {
        let mut field = CsvField {
            from: at + 1,
            to: self.length,
            next: self.length,
            stop: Stop::EndOfFile,
            is_quoted: true,
            has_doubled: false,
            has_stray: false,
            is_open: true,
        };
        let mut at = at + 1;
        // Nothing in quotes is common.
        if let Some(&[b'"', next]) = self.bytes.get(at..at + 2)
            && (next == self.separator || next == b'\n')
            && at + 1 < self.length
        {
            field.to = at;
            field.next = at + 2;
            field.stop = match next {
                b'\n' => Stop::Newline,
                _ => Stop::Separator,
            };
            field.is_open = false;
            return field;
        }
        while let Some(found) = memchr(b'"', &self.bytes[at..self.length]) {
            let quote = at + found;
            let ended = match self.bytes[quote + 1..self.length] {
                [] => Some((Stop::EndOfFile, 0)),
                [b'\n', ..] => Some((Stop::Newline, 1)),
                [b'\r', b'\n', ..] => Some((Stop::Newline, 2)),
                [next, ..] if next == self.separator => Some((Stop::Separator, 1)),
                _ => None,
            };
            if let Some((stop, length)) = ended {
                field.to = quote;
                field.next = quote + 1 + length;
                field.stop = stop;
                field.is_open = false;
                break;
            }
            at = quote + 1;
            match self.bytes[at] {
                b'"' => {
                    field.has_doubled = true;
                    at += 1;
                }
                b'\r' => {}
                _ => field.has_stray = true,
            }
        }
        field
    }
}

/// The highest bit of each byte that is 0, and perhaps of bytes above the first such one.
#[inline]
fn zeros(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Appends what is in a field that has doubled quotes: in quotes only two that follow each other
/// stand for one.
pub fn undouble(content: &[u8], to: &mut Vec<u8>) {
    let mut rest = content;
    while let Some(quote) = memchr(b'"', rest) {
        to.extend_from_slice(&rest[..=quote]);
        let skipped = usize::from(rest.get(quote + 1) == Some(&b'"'));
        rest = &rest[quote + 1 + skipped..];
    }
    to.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a text, with a bar where a line ended.
    fn fields(text: &str) -> Vec<String> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(text.len() + PADDING, 0);
        let csv = CsvBytes {
            bytes: &bytes,
            length: text.len(),
            separator: b',',
        };
        let (mut at, mut all) = (0, Vec::new());
        while at < text.len() {
            let field = csv.field(at);
            let mut content = Vec::new();
            match field.has_doubled {
                true => undouble(&bytes[field.from..field.to], &mut content),
                false => content.extend_from_slice(&bytes[field.from..field.to]),
            }
            let mut shown = String::from_utf8(content).unwrap();
            if field.stop == Stop::Newline {
                shown.push('|');
            }
            all.push(shown);
            at = field.next;
        }
        all
    }

    #[test]
    fn fields_are_those_of_the_shell() {
        for (text, expected) in [
            ("a,b\nc", &["a", "b|", "c"][..]),
            ("a,\r\n,b\r", &["a", "|", "", "b\r"]),
            ("\"a,\nb\",\"\"\n", &["a,\nb", "|"]),
            ("\"a\"\"b\"\r\n\"\"\"\"", &["a\"b|", "\""]),
            ("5\" disk,a\"\"b", &["5\" disk", "a\"\"b"]),
            ("\"a\"x,b\",c", &["a\"x,b", "c"]),
            ("\"a\"\rb\",c", &["a\"\rb", "c"]),
            ("\"a\"b\"\"c\",d", &["a\"b\"c", "d"]),
            ("\"never", &["never"]),
            (
                "12345678,123456789,1234567\n",
                &["12345678", "123456789", "1234567|"],
            ),
        ] {
            assert_eq!(fields(text), expected, "{text:?}");
        }
        let long = "x".repeat(70);
        assert_eq!(fields(&format!("{long},{long}\n{long}")).len(), 3);
    }
}
