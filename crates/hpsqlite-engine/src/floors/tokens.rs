//! As much of C as the tests of floors need: tokens, structures with their fields, and functions
//! with the types that they return.

use super::bare;
use std::collections::BTreeMap;

/// The words and the marks of bare C; `->` is one mark.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let text = bare(text);
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let n = if is_word(c) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("->") {
            2
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() {
            out.push(rest[..n].to_owned());
        }
        rest = &rest[n..];
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Behind the bracket that the tokens from `at` on begin with.
pub(super) fn behind(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// A structure or union that a file has: its fields with the types of ours that they are or point
/// to, and those that are pointers to functions.
#[derive(Debug, Default)]
pub(super) struct Structure {
    pub(super) file: usize,
    pub(super) fields: BTreeMap<String, Option<String>>,
    pub(super) functions: Vec<String>,
}

/// Types that the files have, by name: structures, unions, and what a typedef says of others.
pub(super) fn structures(files: &[Vec<String>]) -> BTreeMap<String, Structure> {
    let mut found: BTreeMap<String, Structure> = BTreeMap::new();
    for (file, tokens) in files.iter().enumerate() {
        for i in 0..tokens.len() {
            let is_structure = matches!(tokens[i].as_str(), "struct" | "union");
            if is_structure && tokens.get(i + 2).is_some_and(|t| t == "{") {
                let body = &tokens[i + 3..behind(tokens, i + 2) - 1];
                let (fields, functions) = fields(body);
                found.entry(tokens[i + 1].clone()).or_insert(Structure {
                    file,
                    fields,
                    functions,
                });
            } else if tokens[i] == "typedef"
                && let Some(name) = typedef(&tokens[i + 1..])
            {
                found.entry(name).or_insert(Structure {
                    file,
                    ..Structure::default()
                });
            }
        }
    }
    found
}

/// The name that a typedef gives to something that is no structure.
fn typedef(tokens: &[String]) -> Option<String> {
    let statement = &tokens[..tokens.iter().position(|t| t == ";")?];
    if matches!(statement[0].as_str(), "struct" | "union") {
        return None;
    }
    let of_function = statement.windows(3).find(|t| t[0] == "(" && t[1] == "*");
    let name = of_function.map_or(statement.last()?, |t| &t[2]);
    is_name(name).then(|| name.clone())
}

/// The fields in the body of a structure, and those of them that are pointers to functions.
fn fields(body: &[String]) -> (BTreeMap<String, Option<String>>, Vec<String>) {
    let mut found = BTreeMap::new();
    let mut functions = Vec::new();
    let mut i = 0;
    while i < body.len() {
        let mut end = i;
        while end < body.len() && body[end] != ";" {
            let is_open = matches!(body[end].as_str(), "(" | "[" | "{");
            end = if is_open { behind(body, end) } else { end + 1 };
        }
        let field = &body[i..end];
        if let Some(at) = field.windows(2).position(|t| t[0] == "(" && t[1] == "*") {
            functions.push(field[at + 2].clone());
            found.insert(field[at + 2].clone(), None);
        } else {
            let first = field
                .iter()
                .find(|t| is_name(t) && !matches!(t.as_str(), "const" | "struct" | "union"));
            let kind = first.filter(|t| is_of_ours(t)).cloned();
            for (k, token) in field.iter().enumerate().skip(1) {
                let last = field.get(k + 1).map_or("", String::as_str);
                if is_name(token) && matches!(last, "" | "," | "[" | ":") {
                    found.insert(token.clone(), kind.clone());
                }
            }
        }
        i = end + 1;
    }
    (found, functions)
}

/// HpXxx and, of the interface of the library, hp_xxx.
pub(super) fn is_of_ours(name: &str) -> bool {
    name.strip_prefix("Hp")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// What functions of ours return, if that is a type of ours or a pointer to one.
pub(super) fn returns(files: &[Vec<String>]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for tokens in files {
        for i in 2..tokens.len().saturating_sub(1) {
            let is_function = tokens[i].starts_with("hp") && tokens[i + 1] == "(";
            if is_function && tokens[i - 1] == "*" && is_of_ours(&tokens[i - 2]) {
                found.insert(tokens[i].clone(), tokens[i - 2].clone());
            }
        }
    }
    found
}

#[test]
fn structures_have_fields() {
    let text = "typedef struct HpA HpA;\nstruct HpA {\n  const HpB *pB, *pNext[3];\n  u8 b; /* x */\n  int (*xDo)(HpC*);\n  struct HpIn { HpB b; int n:3; } *aIn;\n};\ntypedef int (*HpGive)(void*);\ntypedef u32 HpNo;\n";
    let found = structures(&[tokens(text)]);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["HpA", "HpGive", "HpIn", "HpNo"]);
    let of = |name: &str| found["HpA"].fields[name].as_deref();
    assert_eq!(of("pB"), Some("HpB"));
    assert_eq!(of("pNext"), Some("HpB"));
    assert_eq!(of("b"), None);
    assert_eq!(of("aIn"), Some("HpIn"));
    assert_eq!(found["HpA"].functions, ["xDo"]);
    assert_eq!(found["HpIn"].fields["b"].as_deref(), Some("HpB"));
    assert!(found["HpIn"].fields.contains_key("n"));
}
