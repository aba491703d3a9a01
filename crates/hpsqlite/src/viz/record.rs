//! Records: the values of a row or of an index entry, decoded without SQLite.

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

/// How text is stored in a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Encoding {
    #[serde(rename = "UTF-8")]
    Utf8,
    #[serde(rename = "UTF-16le")]
    Utf16le,
    #[serde(rename = "UTF-16be")]
    Utf16be,
}

impl Encoding {
    /// The name as PRAGMA encoding says it.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16le => "UTF-16le",
            Encoding::Utf16be => "UTF-16be",
        }
    }

    /// The bytes of text in the file.
    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf16le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }

    /// Text of the file, as far as it is well-formed.
    pub fn text(self, bytes: &[u8]) -> String {
        let units = |unit: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|b| unit([b[0], b[1]])).collect();
            String::from_utf16_lossy(&units)
        };
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Encoding::Utf16le => units(u16::from_le_bytes),
            Encoding::Utf16be => units(u16::from_be_bytes),
        }
    }
}

/// One value of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
pub enum RecordValue {
    Null,
    #[serde(serialize_with = "exact")]
    Integer(i64),
    #[serde(serialize_with = "real")]
    Real(f64),
    Text(String),
    #[serde(serialize_with = "hex")]
    Blob(Vec<u8>),
}

/// Integers up to here are exact in every reader of JSON.
const EXACT: u64 = (1 << 53) - 1;

/// An integer as a number, or as text where a reader of JSON would round it.
pub fn exact<S: Serializer>(n: &i64, to: S) -> Result<S::Ok, S::Error> {
    if n.unsigned_abs() <= EXACT {
        to.serialize_i64(*n)
    } else {
        to.collect_str(n)
    }
}

/// JSON has no infinity.
fn real<S: Serializer>(n: &f64, to: S) -> Result<S::Ok, S::Error> {
    if n.is_finite() {
        to.serialize_f64(*n)
    } else {
        to.collect_str(n)
    }
}

fn hex<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    to.serialize_str(&digits)
}

/// A value and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Field {
    /// Offset in the payload.
    pub at: u64,
    /// Bytes of the whole value.
    pub len: u64,
    /// What the record's header says it is.
    pub serial: u64,
    #[serde(flatten)]
    pub value: RecordValue,
    /// Whether the value is only the part that was at hand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A variable-length integer at the start of `bytes`, and how long it is.
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, &b) in bytes.iter().take(9).enumerate() {
        if i == 8 {
            return Some((value << 8 | u64::from(b), 9));
        }
        value = value << 7 | u64::from(b & 0x7f);
        if b < 0x80 {
            return Some((value, i + 1));
        }
    }
    None
}

/// Bytes of a value with a serial type.
pub(super) fn length(serial: u64) -> u64 {
    match serial {
        0..=4 => serial,
        5 => 6,
        6 | 7 => 8,
        8..=11 => 0,
        n => (n - 12) / 2,
    }
}

/// A big-endian integer with its sign, of at most eight bytes.
pub(super) fn integer(bytes: &[u8]) -> i64 {
    let sign = bytes.first().is_some_and(|&b| b >= 0x80);
    bytes
        .iter()
        .fold(if sign { -1i64 } else { 0 }, |n, &b| n << 8 | i64::from(b))
}

/// Decodes the fields of a record of which the first bytes are at hand. Numbers that are not
/// whole are left out; texts and blobs are cut.
pub fn decode(payload: &[u8], encoding: Encoding) -> Result<Vec<Field>, String> {
    let (header, mut at) = varint(payload).ok_or("a record without a header")?;
    let mut body = header;
    let mut fields = Vec::new();
    while (at as u64) < header {
        let Some((serial, n)) = payload.get(at..).and_then(varint) else {
            if header > payload.len() as u64 {
                break; // The header goes on where nothing is at hand.
            }
            return Err("the header of a record ends within a number".to_owned());
        };
        at += n;
        let len = length(serial);
        let start = (body as usize).min(payload.len());
        let end = (body.saturating_add(len)).min(payload.len() as u64) as usize;
        let bytes = payload.get(start..end).unwrap_or_default();
        let cut = (bytes.len() as u64) < len;
        let value = match serial {
            8 => RecordValue::Integer(0),
            9 => RecordValue::Integer(1),
            0 | 10 | 11 => RecordValue::Null,
            1..=7 if cut => break,
            7 => RecordValue::Real(f64::from_bits(integer(bytes) as u64)),
            1..=6 => RecordValue::Integer(integer(bytes)),
            n if n % 2 == 0 => RecordValue::Blob(bytes.to_vec()),
            _ => RecordValue::Text(encoding.text(bytes)),
        };
        fields.push(Field {
            at: body,
            len,
            serial,
            value,
            cut,
        });
        body = body.saturating_add(len);
    }
    if at as u64 > header {
        return Err("the header of a record ends within a number".to_owned());
    }
    Ok(fields)
}

/// SQLite's own orders of text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Collation {
    #[default]
    Binary,
    NoCase,
    RTrim,
}

/// How a column of a key is ordered.
#[derive(Debug, Default, Clone, Copy)]
pub struct SortColumn {
    pub descending: bool,
    pub collation: Collation,
}

/// Compares a record with a key, which may have fewer columns; columns that nothing is said of
/// ascend.
pub fn compare(
    record: &[Field],
    key: &[RecordValue],
    order: &[SortColumn],
    encoding: Encoding,
) -> Ordering {
    for (i, wanted) in key.iter().enumerate() {
        let column = order.get(i).copied().unwrap_or_default();
        let here = record.get(i).map_or(Ordering::Less, |field| {
            compare_values(&field.value, wanted, column.collation, encoding)
        });
        if here != Ordering::Equal {
            return if column.descending {
                here.reverse()
            } else {
                here
            };
        }
    }
    Ordering::Equal
}

/// NULL, numbers, texts, blobs: as SQLite sorts.
fn compare_values(
    a: &RecordValue,
    b: &RecordValue,
    collation: Collation,
    encoding: Encoding,
) -> Ordering {
    let class = |value: &RecordValue| match value {
        RecordValue::Null => 0,
        RecordValue::Integer(_) | RecordValue::Real(_) => 1,
        RecordValue::Text(_) => 2,
        RecordValue::Blob(_) => 3,
    };
    match (a, b) {
        (RecordValue::Integer(a), RecordValue::Integer(b)) => a.cmp(b),
        (RecordValue::Real(a), RecordValue::Real(b)) => a.total_cmp(b),
        (RecordValue::Integer(a), RecordValue::Real(b)) => integer_with_real(*a, *b),
        (RecordValue::Real(a), RecordValue::Integer(b)) => integer_with_real(*b, *a).reverse(),
        (RecordValue::Text(a), RecordValue::Text(b)) => match collation {
            Collation::Binary => encoding.bytes(a).cmp(&encoding.bytes(b)),
            Collation::NoCase => a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()),
            Collation::RTrim => a.trim_end_matches(' ').cmp(b.trim_end_matches(' ')),
        },
        (RecordValue::Blob(a), RecordValue::Blob(b)) => a.cmp(b),
        _ => class(a).cmp(&class(b)),
    }
}

/// Exact, also where a real cannot hold the integer.
pub(super) fn integer_with_real(a: i64, b: f64) -> Ordering {
    if b >= 9_223_372_036_854_775_808.0 {
        Ordering::Less
    } else if b < -9_223_372_036_854_775_808.0 {
        Ordering::Greater
    } else {
        let whole = b.trunc();
        a.cmp(&(whole as i64))
            .then(0f64.partial_cmp(&(b - whole)).unwrap_or(Ordering::Equal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        assert_eq!(varint(&[0x7f]), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00]), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9]), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0x81]), None);
        assert_eq!(integer(&[0xff, 0xfe]), -2);
        assert_eq!(integer(&[0x7f, 0xff]), 32767);
    }

    #[test]
    fn a_record_is_decoded_and_a_cut_one_as_far_as_it_goes() {
        // NULL, 1, 258, 'ab', x'ff', 1.0
        let payload = [
            7, 0, 9, 2, 17, 14, 7, 1, 2, b'a', b'b', 0xff, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,
        ];
        let values = |n: usize| -> Vec<RecordValue> {
            let fields = decode(&payload[..n], Encoding::Utf8).unwrap();
            fields.into_iter().map(|f| f.value).collect()
        };
        let all = [
            RecordValue::Null,
            RecordValue::Integer(1),
            RecordValue::Integer(258),
            RecordValue::Text("ab".to_owned()),
            RecordValue::Blob(vec![0xff]),
            RecordValue::Real(1.0),
        ];
        assert_eq!(values(20), all);
        assert_eq!(values(12), all[..5]);
        assert_eq!(values(10)[3], RecordValue::Text("a".to_owned()));
        assert_eq!(values(3), all[..2]);
        assert!(decode(&[], Encoding::Utf8).is_err());
        assert!(decode(&[2, 0x81, 0x01], Encoding::Utf8).is_err());
    }

    #[test]
    fn values_are_in_the_order_of_sqlite() {
        let text = |s: &str| RecordValue::Text(s.to_owned());
        let ascending = [
            RecordValue::Null,
            RecordValue::Real(-1e300),
            RecordValue::Integer(i64::MIN),
            RecordValue::Real(-1.5),
            RecordValue::Integer(-1),
            RecordValue::Real(0.5),
            RecordValue::Integer(9_007_199_254_740_993),
            RecordValue::Real(9_007_199_254_740_994.0),
            text("B"),
            text("a"),
            RecordValue::Blob(vec![0]),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                let order = compare_values(a, b, Collation::Binary, Encoding::Utf8);
                assert_eq!(order, i.cmp(&j), "{a:?} {b:?}");
            }
        }
        let compared = |a: &str, b: &str, collation, encoding| {
            compare_values(&text(a), &text(b), collation, encoding)
        };
        let utf8 = Encoding::Utf8;
        assert_eq!(
            compared("B", "a", Collation::NoCase, utf8),
            Ordering::Greater
        );
        assert_eq!(
            compared("a  ", "a", Collation::RTrim, utf8),
            Ordering::Equal
        );
        // In UTF-16 bytes are compared as they are in the file.
        let little = Encoding::Utf16le;
        assert_eq!(
            compared("ā", "b", Collation::Binary, little),
            Ordering::Less
        );
    }

    #[test]
    fn text_in_every_encoding() {
        assert_eq!(
            Encoding::Utf16le.text(&[0xe4, 0, 0x3d, 0xd8, 0x00, 0xde]),
            "ä😀"
        );
        assert_eq!(Encoding::Utf16be.text(&[0, 0xe4]), "ä");
        assert_eq!(Encoding::Utf8.text(&[0xff, b'a']), "\u{fffd}a");
    }
}
