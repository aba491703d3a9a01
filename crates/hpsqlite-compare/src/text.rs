//! Numbers as a person reads them.

/// 1234567 as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 page`, `1,234 pages`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// A size in the unit that suits it: `1.2 GB`.
pub fn bytes(n: u64) -> String {
    let mut size = n as f64;
    let mut units = ["bytes", "kB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if size < 1000.0 {
            break;
        }
        size /= 1000.0;
        unit = next;
    }
    if unit == "bytes" {
        plural(n, "byte", "bytes")
    } else {
        format!("{size:.1} {unit}")
    }
}

/// A duration in the unit that suits it, in three or four digits: `3.412 s`, `71.3 ms`.
pub fn seconds(s: f64) -> String {
    let (value, unit) = scaled(s, s);
    format!("{value} {unit}")
}

/// `3.412 s ± 0.030 s`, both in the unit of the first.
pub fn seconds_spread(s: f64, spread: f64) -> String {
    let (value, unit) = scaled(s, s);
    let (spread, _) = scaled(spread, s);
    format!("{value} {unit} ± {spread} {unit}")
}

/// `s` in the unit and with the decimals that suit a duration of about `like` seconds.
fn scaled(s: f64, like: f64) -> (String, &'static str) {
    let (factor, unit) = match like {
        x if x >= 0.9995 => (1.0, "s"),
        x if x >= 0.9995e-3 => (1e3, "ms"),
        _ => (1e6, "µs"),
    };
    let decimals = match like * factor {
        x if unit == "s" && x < 10.0 => 3,
        x if x < 10.0 => 2,
        x if x < 100.0 => 1,
        _ => 0,
    };
    (format!("{:.decimals$}", s * factor), unit)
}

/// `12.6x`, `1.02x`.
pub fn ratio(r: f64) -> String {
    format!("{}x", plain_ratio(r))
}

/// A share as `12 %`, a small one as `0.4 %`.
pub fn per_cent(share: f64) -> String {
    match share * 100.0 {
        p if p >= 0.95 => format!("{p:.0} %"),
        p if p >= 0.05 => format!("{p:.1} %"),
        _ => "less than 0.1 %".to_owned(),
    }
}

/// `12.4 to 12.8`.
pub fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", plain_ratio(low), plain_ratio(high))
}

/// `ran 12.6 times as fast`, or what reads better below one: `took 1.50 times as long`.
pub fn times_as_fast(r: f64) -> String {
    if r >= 1.0 {
        format!("ran {} times as fast", plain_ratio(r))
    } else {
        format!("took {} times as long", plain_ratio(1.0 / r))
    }
}

fn plain_ratio(r: f64) -> String {
    match r {
        r if r > 0.0 && r < 0.0995 => {
            // Two digits that say something.
            let decimals = (1.0 - r.log10().floor()).min(9.0) as usize;
            format!("{r:.decimals$}")
        }
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 99.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// A round speed-up at an axis: `2x`.
pub fn ratio_tick(r: f64) -> String {
    format!("{}x", round(r))
}

/// A round duration at an axis that ends at `max`: `0.5 s`, `20 ms`.
pub fn seconds_tick(s: f64, max: f64) -> String {
    match max {
        m if m >= 0.5 => format!("{} s", round(s)),
        m if m >= 0.5e-3 => format!("{} ms", round(s * 1e3)),
        _ => format!("{} µs", round(s * 1e6)),
    }
}

/// Without the digits that adding up ticks leaves behind.
fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// Cut to `width` characters, with an ellipsis where something is missing.
pub fn shorten(s: &str, width: usize) -> String {
    if s.chars().count() <= width {
        return s.to_owned();
    }
    let mut short: String = s.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Lines of at most `width` characters, broken between words; a word that is longer has a line of
/// its own and is not cut, so that a path can still be copied. All lines begin with `indent` spaces.
pub fn wrap(s: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in s.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && indent + used + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used == 0 {
            line = " ".repeat(indent);
        } else {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    if used > 0 {
        lines.push(line);
    }
    lines
}

/// With a capital first letter, as a sentence starts.
pub fn capitalised(s: &str) -> String {
    let mut chars = s.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// `1`, `1 and 2`, `1, 2 and 3`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Whether a character moves the cursor, reverses the direction of text or may not be in XML.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Text from elsewhere, as it may be printed on a terminal, on one line.
pub fn printable(s: &str) -> String {
    let one = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if is_unprintable(c) => '\u{fffd}',
        c => c,
    };
    s.chars().map(one).collect()
}

/// A number as people write sizes and counts: `10000`, `10,000`, `0.5`, `4 kB`, `64KiB`, `1M`.
pub fn parse_number(s: &str) -> Option<f64> {
    let s = s.trim();
    let end = s
        .rfind(|c: char| c.is_ascii_digit() || c == '.')
        .map_or(0, |at| at + 1);
    let (number, unit) = s.split_at(end);
    let factor = match unit.trim().to_lowercase().as_str() {
        "" | "b" | "bytes" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => return None,
    };
    let plain = number.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    let value: f64 = plain
        .then(|| number.replace([',', '_'], "").parse().ok())
        .flatten()?;
    Some(value * factor)
}

/// A short name for some bytes, the same everywhere.
pub fn fingerprint(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_wrap_at_words() {
        let sentence = "The times of 1, 2 and 13 vary by more than 10 %: something else keeps the \
                        machine busy. More --runs make the intervals narrower.";
        for width in [20, 40, 80] {
            let lines = wrap(sentence, 1, width);
            assert!(
                lines.iter().all(|l| l.chars().count() <= width),
                "{lines:?}"
            );
            assert!(
                lines
                    .iter()
                    .all(|l| l.starts_with(' ') && !l.ends_with(' '))
            );
            let words: Vec<&str> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
            assert_eq!(words.join(" "), sentence);
        }
        assert_eq!(
            wrap("in /a/very/long/path.db", 0, 8),
            ["in", "/a/very/long/path.db"]
        );
        assert!(wrap("  ", 2, 10).is_empty());
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(plural(1, "page", "pages"), "1 page");
        assert_eq!(plural(1234, "page", "pages"), "1,234 pages");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_252_864_000), "1.3 GB");
        assert_eq!(seconds(3.4123), "3.412 s");
        assert_eq!(seconds(0.0713), "71.3 ms");
        assert_eq!(seconds(0.00000123), "1.23 µs");
        assert_eq!(seconds_spread(0.271, 0.0042), "271 ms ± 4 ms");
        assert_eq!(seconds_spread(3.4, 0.03), "3.400 s ± 0.030 s");
        assert_eq!(ratio(12.64), "12.6x");
        assert_eq!(ratio(0.0214), "0.021x");
        assert_eq!(interval(0.98, 1.021), "0.98 to 1.02");
        assert_eq!(per_cent(0.104), "10 %");
        assert_eq!(per_cent(0.004), "0.4 %");
        assert_eq!(per_cent(0.0001), "less than 0.1 %");
        assert_eq!(times_as_fast(0.5), "took 2.00 times as long");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(parse_number("10,000"), Some(10_000.0));
        assert_eq!(parse_number(" 64 KiB"), Some(65_536.0));
        assert_eq!(parse_number("-1"), Some(-1.0));
        assert_eq!(parse_number("1e5x"), None);
        assert_eq!(parse_number("lmdb"), None);
        assert_eq!(printable("a\u{1b}[2J\nb"), "a\u{fffd}[2J b");
    }
}
