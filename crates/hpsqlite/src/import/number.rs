//! Which texts are numbers.

/// The integer that SQLite makes of a text in a column of INTEGER, REAL or NUMERIC affinity, if it
/// is nothing but digits, perhaps with a minus before them. All other texts are left to SQLite:
/// those with spaces, a plus, a point or too many digits. So is -0.
///
/// The text is `length` bytes at `from`; there are eight more behind it.
#[inline(always)]
pub fn integer_at(bytes: &[u8], from: usize, length: usize) -> Option<i64> {
    // Most numbers of tables with many columns are of one digit.
    if length == 1 {
        let digit = bytes[from].wrapping_sub(b'0');
        return (digit < 10).then_some(digit.into());
    }
    integer_of_digits(bytes, from, length)
}

fn integer_of_digits(bytes: &[u8], from: usize, length: usize) -> Option<i64> {
    let is_negative = length > 0 && bytes[from] == b'-';
    let (mut at, end) = (from + usize::from(is_negative), from + length);
    let digits = end - at;
    // 19 digits are less than 2^64.
    if digits == 0 || digits > 19 {
        return None;
    }
    // The first one to eight digits, behind as many zeros as make them eight.
    let head = (digits - 1) % 8 + 1;
    let bits = 8 * head as u32;
    let word = word_at(bytes, at) << (64 - bits) | ZEROS.unbounded_shr(bits);
    let mut value = eight_digits(word)?;
    at += head;
    while at < end {
        value = value * 100_000_000 + eight_digits(word_at(bytes, at))?;
        at += 8;
    }
    let value = i64::try_from(value).ok()?;
    match is_negative {
        true if value == 0 => None,
        true => Some(-value),
        false => Some(value),
    }
}

/// `0` in eight bytes.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes[at..at + 8].try_into().expect("eight bytes");
    u64::from_le_bytes(eight)
}

/// The number of eight digits, the first of which is in the lowest byte: pairs of digits become
/// numbers below 100, pairs of these numbers below 10,000, and so on.
#[inline]
fn eight_digits(word: u64) -> Option<u64> {
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // Adding this carries into the highest bit of a byte that is above 9.
    const ABOVE_9: u64 = u64::from_ne_bytes([0x80 - 10; 8]);
    let digits = word ^ ZEROS;
    if (digits.wrapping_add(ABOVE_9) | digits) & HIGHS != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// The same of a text with nothing known behind it.
fn integer(text: &[u8]) -> Option<i64> {
    let mut bytes = [0; 32];
    bytes.get_mut(..text.len() + 8)?[..text.len()].copy_from_slice(text);
    integer_at(&bytes, 0, text.len())
}

/// Whether a text is an integer as a program writes it: nothing is lost if the number is stored in
/// its place. 007 is none, it may be a code.
pub fn is_plain_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let leads = digits.first() == Some(&b'0') && digits.len() > 1;
    !leads && integer(text).is_some()
}

/// Whether a text is such an integer, or a number with a point or an exponent.
pub fn is_plain_number(text: &[u8]) -> bool {
    if is_plain_integer(text) {
        return true;
    }
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, rest) = leading_digits(text);
    if whole.is_empty() || (whole[0] == b'0' && whole.len() > 1) {
        return false;
    }
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(rest) => leading_digits(rest),
        None => (&b""[..], rest),
    };
    let has_point = !fraction.is_empty();
    match rest {
        [] => has_point,
        [b'e' | b'E', rest @ ..] => {
            let digits = rest
                .strip_prefix(b"-")
                .or_else(|| rest.strip_prefix(b"+"))
                .unwrap_or(rest);
            let (digits, rest) = leading_digits(digits);
            (1..=3).contains(&digits.len()) && rest.is_empty()
        }
        _ => false,
    }
}

fn leading_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_which_sqlite_makes_the_same() {
        for (text, expected) in [
            ("0", Some(0)),
            ("012", Some(12)),
            ("-5", Some(-5)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("99999999999999999999", None),
            ("-9223372036854775808", None),
            ("-0", None),
            ("", None),
            ("-", None),
            ("+1", None),
            (" 1", None),
            ("1.0", None),
            ("1e3", None),
            ("12345678", Some(12_345_678)),
            ("1234567/", None),
            ("1234567:", None),
            ("-1234567890123456789", Some(-1_234_567_890_123_456_789)),
            ("12345678 0123456", None),
        ] {
            assert_eq!(integer(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn plain_numbers_lose_nothing_as_numbers() {
        for text in ["0", "-7", "1.5", "0.25", "-1e5", "2E-3", "1.0e+10"] {
            assert!(is_plain_number(text.as_bytes()), "{text}");
        }
        for text in [
            "", "007", "1.", ".5", "1e", "0x1", "inf", "1 ", "00.5", "1.5.2", "1e9999",
        ] {
            assert!(!is_plain_number(text.as_bytes()), "{text}");
        }
        assert!(is_plain_integer(b"10") && !is_plain_integer(b"01"));
    }
}
