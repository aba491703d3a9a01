//! What a floor knows of the types of higher ones. A call upward is found by its name
//! ([`super`]), but a module leans on a higher floor as well if it names a type that stands
//! there, or reads a field of one: then it cannot be read, tested or replaced without that floor.
//!
//! A type stands on the floor whose folder has its structure, union or typedef, in a header or in a
//! module. `typedef struct HpX HpX;` alone is a name for a pointer, and may stand anywhere; whoever
//! passes such a pointer on names the type, and is counted. A field is read where a chain such as
//! `p->pQuery->nWorker` leads through it, also where the type between is not named: types of
//! variables, of fields and of what functions return are followed.
//!
//! [`LIST`] has what goes up today, with the number of places, which may only shrink.

use super::engine;
use super::tokens::{Structure, behind, is_name, is_of_ours, returns, structures, tokens};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

/// Places of each file and type that lead up: `NUMBER FILE TYPE`.
const LIST: &str = "src/floors/types-upward.txt";

/// The folder of a file; the files that stand in none are below all floors.
fn folder(file: &str) -> &str {
    file.split_once('/').map_or("", |(folder, _)| folder)
}

/// The height of each folder: its modules stand together in `ORDER`.
fn heights(files: &[(String, String)]) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::from([("", 0)]);
    for (file, _) in files.iter().filter(|(file, _)| file.ends_with(".c")) {
        let next = found.len();
        found.entry(folder(file)).or_insert(next);
    }
    found
}

/// Where each file names types, and reads fields of types, whether they are named or not.
struct Reader<'a> {
    types: &'a BTreeMap<String, Structure>,
    returns: &'a BTreeMap<String, String>,
    tokens: &'a [String],
    /// Variables of the function, with their types
    variables: BTreeMap<&'a str, &'a str>,
    found: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn is(&self, at: usize, what: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token == what)
    }

    fn is_forward(&self, at: usize) -> bool {
        (self.is(at + 1, "struct") || self.is(at + 1, "union")) && self.is(at + 4, ";")
    }

    /// All types that the file names or reads, once for each place.
    fn read(mut self) -> Vec<&'a str> {
        let tokens = self.tokens;
        let mut depth = 0;
        let mut i = 0;
        while i < tokens.len() {
            let token = tokens[i].as_str();
            match token {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if depth == 0 {
                        self.variables.clear();
                    }
                }
                // typedef struct HpX HpX; says nothing of it
                "typedef" if self.is_forward(i) => i += 4,
                "struct" | "union" if self.is(i + 2, ";") && depth == 0 => i += 2,
                "(" if tokens.get(i + 1).is_some_and(|t| t == "(") => self.cast(i),
                _ if is_name(token) => self.name(i, token),
                _ => {}
            }
            i += 1;
        }
        self.found
    }

    fn name(&mut self, at: usize, token: &'a str) {
        let is_field = at > 0 && matches!(self.tokens[at - 1].as_str(), "." | "->");
        if is_of_ours(token) && self.types.contains_key(token) {
            self.found.push(token);
            self.declare(at, token);
        } else if is_field {
            // Its chain has been followed
        } else if let Some(&of) = self.variables.get(token) {
            self.chain(at + 1, of);
        } else if let Some(of) = self.returns.get(token)
            && self.is(at + 1, "(")
        {
            self.chain(behind(self.tokens, at + 1), of);
        }
    }

    /// ((HpX*)p)->a
    fn cast(&mut self, at: usize) {
        let of = self.tokens[at + 2..]
            .iter()
            .find(|token| !matches!(token.as_str(), "const" | "struct"));
        if let Some(of) = of.filter(|of| is_of_ours(of)) {
            self.chain(behind(self.tokens, at), of);
        }
    }

    /// Variables or parameters of a type that is named at `at`.
    fn declare(&mut self, at: usize, of: &'a str) {
        let mut i = at + 1;
        loop {
            while self.is(i, "*") || self.is(i, "const") {
                i += 1;
            }
            let Some(name) = self.tokens.get(i).filter(|token| is_name(token)) else {
                return;
            };
            i += 1;
            if self.is(i, "[") {
                i = behind(self.tokens, i);
            }
            let end = self.tokens.get(i).map_or("", String::as_str);
            if !matches!(end, "," | ";" | "=" | ")") {
                return;
            }
            self.variables.insert(name, of);
            if end != "," {
                return;
            }
            i += 1;
        }
    }

    /// The fields that are read from a value of type `of`, behind which the tokens from `at` stand.
    fn chain(&mut self, mut at: usize, mut of: &'a str) {
        loop {
            while self.is(at, "[") {
                at = behind(self.tokens, at);
            }
            if !self.is(at, ".") && !self.is(at, "->") {
                return;
            }
            let Some(field) = self.tokens.get(at + 1) else {
                return;
            };
            let Some(structure) = self.types.get(of) else {
                return;
            };
            if !structure.fields.contains_key(field) {
                return;
            }
            self.found.push(of);
            match structure.fields[field].as_deref() {
                Some(next) => of = next,
                None => return,
            }
            at += 2;
        }
    }
}

/// How often each file names or reads a type of a higher floor.
fn upward(files: &[(String, String)]) -> BTreeMap<(&str, String), usize> {
    let all: Vec<Vec<String>> = files.iter().map(|(_, text)| tokens(text)).collect();
    let types = structures(&all);
    let returns = returns(&all);
    let heights = heights(files);
    let height = |file: usize| heights.get(folder(&files[file].0)).copied().unwrap_or(0);
    let mut found = BTreeMap::new();
    for (i, tokens) in all.iter().enumerate() {
        let reader = Reader {
            types: &types,
            returns: &returns,
            tokens,
            variables: BTreeMap::new(),
            found: Vec::new(),
        };
        for name in reader.read() {
            if height(types[name].file) > height(i) && !folder(&files[i].0).is_empty() {
                *found
                    .entry((files[i].0.as_str(), name.to_owned()))
                    .or_insert(0) += 1;
            }
        }
    }
    found
}

/// What the list does not allow, and what it allows in vain.
pub(super) fn against<K: AsRef<str>>(found: &[(K, usize)], list: &str) -> Vec<String> {
    let mut allowed: BTreeMap<&str, usize> = list
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(n, what)| (what, n.parse().unwrap()))
        .collect();
    let mut wrong = Vec::new();
    for (what, n) in found {
        let most = allowed.remove(what.as_ref()).unwrap_or(0);
        if *n > most {
            wrong.push(format!("{}: {n} places, of old ones {most}", what.as_ref()));
        }
    }
    wrong.extend(allowed.keys().map(|what| format!("{what}: none any more")));
    wrong
}

/// Compares what is found with a list of this crate. With FLOORS=write in the environment the list
/// is written again first.
pub(super) fn hold(found: &[(String, usize)], list: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    if env::var("FLOORS").is_ok_and(|value| value == "write") {
        let lines: String = found
            .iter()
            .map(|(what, n)| format!("{n} {what}\n"))
            .collect();
        fs::write(&file, lines).unwrap();
    }
    against(found, &fs::read_to_string(file).unwrap())
}

#[test]
fn a_module_knows_only_types_below_it() {
    let files = engine();
    let found: Vec<(String, usize)> = upward(&files)
        .into_iter()
        .map(|((file, name), n)| (format!("{file} {name}"), n))
        .collect();
    assert_eq!(hold(&found, LIST), [] as [String; 0]);
}

#[test]
fn a_type_of_a_higher_floor_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file("hpInt.h", "/* HpHigh */"),
        file(
            "low/hpLow.h",
            "typedef struct HpLow HpLow;\ntypedef struct HpHigh HpHigh;\nstruct HpLow {\n  int n;\n  HpHigh *pHigh;\n};\n",
        ),
        file(
            "high/hpHigh.h",
            "struct HpHigh {\n  int n;\n  HpLow low;\n};\n",
        ),
        file(
            "low/hp_a.c",
            "int hpA(const HpLow *p){\n  return p->n + p->pHigh->low.pHigh->n;\n}\n",
        ),
        file(
            "low/hp_b.c",
            "int hpB(HpHigh *p){\n  return p->n;\n}\nint hpBTwo(void *p){\n  return ((HpHigh*)p)->n;\n}\nint hpBThree(int p){\n  return p->n + hpC()->n;\n}\n",
        ),
        file(
            "high/hp_c.c",
            "HpHigh *hpC(void){\n  HpHigh *a, *b = 0;\n  a->low.pHigh->n = b->n;\n  return 0;\n}\n",
        ),
    ];
    let found = upward(&files);
    let of = |file: &str| found.get(&(file, "HpHigh".to_owned())).copied();
    assert_eq!(of("low/hpLow.h"), Some(1));
    assert_eq!(of("low/hp_a.c"), Some(2));
    assert_eq!(of("low/hp_b.c"), Some(5));
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_list_may_only_shrink() {
    let found = [("a.c HpA", 2), ("b.c HpB", 3)];
    assert_eq!(against(&found, "2 a.c HpA\n4 b.c HpB\n"), [] as [String; 0]);
    assert_eq!(
        against(&found, "1 a.c HpA\n3 b.c HpB\n1 c.c HpC\n"),
        ["a.c HpA: 2 places, of old ones 1", "c.c HpC: none any more"]
    );
}
