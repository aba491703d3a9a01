//! The names of a new table's columns, and its text, as the shell's `.import` makes them.

/// Names from the fields of the header. A name that is there twice, in upper or lower case, gets a
/// number in all its places: `a`, `A` are `a_1`, `A_2`. The number is that of the column, with as
/// many zeros before it as make all names differ. A column without a name is `?`.
pub fn from_header(fields: &[Vec<u8>]) -> Vec<String> {
    let given: Vec<String> = fields.iter().map(|field| name(field)).collect();
    let is_twice = |name: &String| {
        let same = given
            .iter()
            .filter(|other| other.eq_ignore_ascii_case(name));
        same.count() > 1
    };
    let numbered: Vec<bool> = given.iter().map(is_twice).collect();
    if !numbered.contains(&true) {
        return given;
    }
    for zeros in 0.. {
        let names: Vec<String> = given
            .iter()
            .zip(&numbered)
            .enumerate()
            .map(|(i, (name, numbered))| match numbered {
                true => format!("{name}_{}{}", "0".repeat(zeros), i + 1),
                false => name.clone(),
            })
            .collect();
        let mut sorted: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        sorted.sort();
        if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
            return names;
        }
    }
    unreachable!("some number of zeros is in no name")
}

fn name(field: &[u8]) -> String {
    let end = memchr::memchr(0, field).unwrap_or(field.len());
    match &field[..end] {
        b"" => "?".to_owned(),
        field => String::from_utf8_lossy(field).into_owned(),
    }
}

/// `"name"`
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `'text'`
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The statement that makes a table: four columns a line, each with its type.
pub fn create(table: &str, columns: &[(String, &str)]) -> String {
    let mut sql = format!("CREATE TABLE {}(\n", quoted(table));
    for (i, (name, kind)) in columns.iter().enumerate() {
        sql += match i {
            0 => "",
            i if i % 4 == 0 => ",\n ",
            _ => ", ",
        };
        sql += &quoted(name);
        if !kind.is_empty() {
            sql.push(' ');
            sql += kind;
        }
    }
    sql + ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        for (header, names) in [
            ("a,b", "a,b"),
            ("a,A,b", "a_1,A_2,b"),
            (",x,", "?_1,x,?_3"),
            ("a,a,a_1", "a_01,a_02,a_1"),
        ] {
            let fields: Vec<Vec<u8>> = header.split(',').map(|f| f.into()).collect();
            assert_eq!(from_header(&fields).join(","), names, "{header}");
        }
    }
}
