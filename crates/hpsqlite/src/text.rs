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
        format!("{n} bytes")
    } else {
        format!("{size:.1} {unit}")
    }
}
