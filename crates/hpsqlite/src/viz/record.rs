//! Records: the values of a row or of an index entry, decoded without SQLite.

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
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    #[serde(serialize_with = "hex")]
    Blob(Vec<u8>),
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
    pub value: Value,
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
fn length(serial: u64) -> u64 {
    match serial {
        0..=4 => serial,
        5 => 6,
        6 | 7 => 8,
        8..=11 => 0,
        n => (n - 12) / 2,
    }
}

/// A big-endian integer with its sign, of at most eight bytes.
fn integer(bytes: &[u8]) -> i64 {
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
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            0 | 10 | 11 => Value::Null,
            1..=7 if cut => break,
            7 => Value::Real(f64::from_bits(integer(bytes) as u64)),
            1..=6 => Value::Integer(integer(bytes)),
            n if n % 2 == 0 => Value::Blob(bytes.to_vec()),
            _ => Value::Text(encoding.text(bytes)),
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
        let values = |n: usize| -> Vec<Value> {
            let fields = decode(&payload[..n], Encoding::Utf8).unwrap();
            fields.into_iter().map(|f| f.value).collect()
        };
        let all = [
            Value::Null,
            Value::Integer(1),
            Value::Integer(258),
            Value::Text("ab".to_owned()),
            Value::Blob(vec![0xff]),
            Value::Real(1.0),
        ];
        assert_eq!(values(20), all);
        assert_eq!(values(12), all[..5]);
        assert_eq!(values(10)[3], Value::Text("a".to_owned()));
        assert_eq!(values(3), all[..2]);
        assert!(decode(&[], Encoding::Utf8).is_err());
        assert!(decode(&[2, 0x81, 0x01], Encoding::Utf8).is_err());
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
