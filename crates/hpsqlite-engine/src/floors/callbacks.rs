//! Calls upward through pointers to functions. A function whose address is given to a lower floor is
//! called from there, as surely as if that named it. This is right where the lower floor declares what
//! it calls, for whoever may come, and wrong where a call is only hidden. The rule that tells them apart:
//!
//! * An *interface* is a structure with pointers to functions, or a function that takes one, of a
//!   header or a module of the floor that calls or of a lower one, and it is in [`INTERFACES`], with
//!   what it is for. Higher modules may give it their functions.
//! * Any other pointer to a function (a field, a parameter) may only have functions that stand before
//!   whoever calls through it in `ORDER`, or in the same module.
//!
//! [`LIST`] has what goes up today, as `NUMBER CALLER SLOT MODULE`: NUMBER functions of MODULE are
//! called by CALLER through SLOT. It may only shrink.

use super::engine;
use super::tokens::{behind, is_name, structures, tokens};
use super::types::hold;
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = "src/floors/callbacks-upward.txt";

/// What lower floors call, and where it is declared.
const INTERFACES: &[(&str, &str)] = &[
    // What a pipe reads: a table of functions for each kind of source
    ("HpSourceType", "source/hpSource.h"),
    // What becomes of its rows: likewise
    ("HpSinkType", "base/hpQuery.h"),
    // What sorted runs consist of: groups, rows, entries of an index
    ("HpEntryType", "sink/run/hpRuns.h"),
    // Where states of aggregates are
    ("HpAccumulator", "sink/hpSink.h"),
    // What a query becomes: a table of functions for each kind of output
    ("HpOutput", "phys/hpPhys.h"),
    // Something is done by all workers, or by a new thread
    ("hpThreadEach", "base/hpBase.h"),
    ("hpThreadMake", "base/hp_thread.c"),
    // Records in order, for whoever lays them into a b-tree
    ("hpMergeGive", "sink/run/hpRuns.h"),
    ("hpSpoolGive", "sink/hpSink.h"),
    // Each sink of places says when it has enough
    ("hpFoundRun", "sink/hpSink.h"),
];

/// Where a function is put whose address is taken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone)]
enum Slot {
    /// The fields of this name
    Field(String),
    /// A table of structures of this type
    Table(String),
    /// A parameter of this function
    Argument(String),
}

/// Functions that are defined in tokens, those of ours.
fn functions(tokens: &[String]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut i = 0;
    while i < tokens.len() {
        let is_ours = tokens[i].starts_with("hp") || tokens[i].starts_with("sqlite3Hp");
        if is_ours && tokens.get(i + 1).is_some_and(|t| t == "(") {
            let end = behind(tokens, i + 1);
            if tokens.get(end).is_some_and(|t| t == "{") {
                found.insert(tokens[i].as_str());
                i = end;
            }
        }
        // What is in braces is a body
        i = if tokens[i] == "{" {
            behind(tokens, i)
        } else {
            i + 1
        };
    }
    found
}

/// Is the "=" at `at` an assignment?
fn assigns(tokens: &[String], at: usize) -> bool {
    let beside = |i: usize| tokens.get(i).map_or("", String::as_str);
    !matches!(beside(at - 1), "=" | "!" | "<" | ">") && beside(at + 1) != "="
}

/// Where the name at `at`, which is not called, is put; None: nowhere that is looked at.
fn slot(tokens: &[String], at: usize) -> Option<Slot> {
    let mut depth = 0;
    let mut is_table = false;
    let mut i = at;
    while i > 1 {
        i -= 1;
        let before = tokens[i - 1].as_str();
        match tokens[i].as_str() {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" if is_name(before) && !matches!(before, "if" | "while" | "return" | "for") => {
                let is_field = i > 1 && matches!(tokens[i - 2].as_str(), "." | "->");
                return (!is_field).then(|| Slot::Argument(before.to_owned()));
            }
            "{" if matches!(before, "=" | "," | "{") => is_table = true,
            "{" | ";" if depth == 0 => return None,
            "=" if depth == 0 && assigns(tokens, i) => {
                if is_table {
                    return table(&tokens[..i]);
                }
                let is_field = i > 2 && matches!(tokens[i - 2].as_str(), "." | "->");
                return is_field.then(|| Slot::Field(before.to_owned()));
            }
            _ => {}
        }
    }
    None
}

/// The type of the variable that the tokens end with, whose value follows.
fn table(tokens: &[String]) -> Option<Slot> {
    let start = tokens
        .iter()
        .rposition(|t| matches!(t.as_str(), ";" | "}" | "{"))
        .map_or(0, |i| i + 1);
    let skip = ["static", "const", "struct"];
    let kind = tokens[start..].iter().find(|t| !skip.contains(&t.as_str()));
    kind.map(|kind| Slot::Table(kind.clone()))
}

/// Functions of later modules that a module calls through a pointer: the caller, the slot, the module.
fn upward(
    files: &[(String, String)],
    interfaces: &[(&str, &str)],
) -> BTreeMap<(usize, String, usize), BTreeSet<String>> {
    let all: Vec<Vec<String>> = files.iter().map(|(_, text)| tokens(text)).collect();
    let types = structures(&all);
    let mut owner: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, tokens) in all.iter().enumerate() {
        for name in functions(tokens) {
            owner.entry(name).or_insert(i);
        }
    }
    // Structures that have a field of a name, and modules that call it
    let mut holders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, structure) in &types {
        for field in &structure.functions {
            holders.entry(field).or_default().push(name);
        }
    }
    let mut callers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (i, tokens) in all.iter().enumerate() {
        for at in 1..tokens.len().saturating_sub(2) {
            let is_field = matches!(tokens[at - 1].as_str(), "." | "->");
            let is_called = tokens[at + 1] == "(" || tokens[at + 1] == ")" && tokens[at + 2] == "(";
            if is_field && is_called && holders.contains_key(tokens[at].as_str()) {
                callers.entry(&tokens[at]).or_default().insert(i);
            }
        }
    }
    // An interface stands where it is said to, which is before whoever calls it
    let is_interface = |name: &str, caller: usize| {
        interfaces.iter().any(|(interface, header)| {
            let stands = files.iter().position(|(file, _)| file == header);
            *interface == name && stands.is_some_and(|at| at <= caller)
        })
    };
    let mut found: BTreeMap<(usize, String, usize), BTreeSet<String>> = BTreeMap::new();
    let mut note = |caller: usize, slot: String, module: usize, name: &str| {
        if module > caller {
            let names = found.entry((caller, slot, module)).or_default();
            names.insert(name.to_owned());
        }
    };
    for tokens in &all {
        for at in 2..tokens.len().saturating_sub(1) {
            let name = tokens[at].as_str();
            let Some(&module) = owner.get(name).filter(|_| tokens[at + 1] != "(") else {
                continue;
            };
            match slot(tokens, at) {
                Some(Slot::Argument(to)) => {
                    if let Some(&caller) =
                        owner.get(to.as_str()).filter(|c| !is_interface(&to, **c))
                    {
                        note(caller, to, module, name);
                    }
                }
                Some(Slot::Field(field)) => {
                    let of = holders.get(field.as_str()).cloned().unwrap_or_default();
                    for &caller in callers.get(field.as_str()).into_iter().flatten() {
                        let slot = format!("{}.{field}", of.join("|"));
                        if !of.iter().all(|of| is_interface(of, caller)) {
                            note(caller, slot, module, name);
                        }
                    }
                }
                Some(Slot::Table(of)) => {
                    let fields = types.get(&of).into_iter().flat_map(|of| &of.functions);
                    for field in fields {
                        for &caller in callers.get(field.as_str()).into_iter().flatten() {
                            if !is_interface(&of, caller) {
                                note(caller, of.clone(), module, name);
                            }
                        }
                    }
                }
                None => {}
            }
        }
    }
    found
}

#[test]
fn a_pointer_leads_to_functions_before_it_or_is_an_interface() {
    let files = engine();
    let found: Vec<(String, usize)> = upward(&files, INTERFACES)
        .into_iter()
        .map(|((caller, slot, module), names)| {
            let what = format!("{} {slot} {}", files[caller].0, files[module].0);
            (what, names.len())
        })
        .collect();
    assert_eq!(hold(&found, LIST), [] as [String; 0]);
}

#[test]
fn interfaces_are_where_they_are_said_to_be() {
    let files = engine();
    let with = upward(&files, INTERFACES).len();
    for (i, (name, header)) in INTERFACES.iter().enumerate() {
        let (_, text) = files.iter().find(|(file, _)| file == header).unwrap();
        assert!(tokens(text).iter().any(|t| t == name), "{name} in {header}");
        let others = [&INTERFACES[..i], &INTERFACES[i + 1..]].concat();
        let without = upward(&files, &others).len();
        assert!(
            without > with,
            "{name} is no interface: nothing above uses it"
        );
    }
}

#[test]
fn a_pointer_that_leads_upward_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "low/hpLow.h",
            "struct HpType {\n  int (*xNext)(void*);\n};\nstruct HpRow {\n  int n;\n  int (*xOther)(int);\n};\nint hpEach(int (*)(int));\n",
        ),
        file(
            "low/hp_a.c",
            "int hpA(HpType *p, HpRow *q){\n  q->xOther = hpAOne;\n  return p->xNext(q) + (*q->xOther)(1);\n}\nint hpEach(int (*x)(int)){\n  return x(1) + hpEach(x);\n}\nint hpAOne(int a){\n  return a;\n}\n",
        ),
        file(
            "high/hp_b.c",
            "int hpB(int a){\n  return a;\n}\nint hpBNext(void *p){\n  HpRow *q = p;\n  if( q->xOther==hpB ) return 1;\n  q->xOther = q->n==1 ? hpBTwo : hpB;\n  return hpEach(hpB) + qsort(a, (n), 8, hpBTwo);\n}\nint hpBTwo(int a){\n  return a;\n}\nstatic const HpType hpBType = {\n  hpBNext\n};\n",
        ),
    ];
    let found = |interfaces: &[(&str, &str)]| -> Vec<String> {
        upward(&files, interfaces)
            .into_iter()
            .map(|((caller, slot, module), names)| format!("{caller} {slot} {module} {names:?}"))
            .collect()
    };
    assert_eq!(
        found(&[]),
        [
            "1 HpRow.xOther 2 {\"hpB\", \"hpBTwo\"}",
            "1 HpType 2 {\"hpBNext\"}",
            "1 hpEach 2 {\"hpB\"}",
        ]
    );
    let interfaces = [("HpType", "low/hpLow.h"), ("hpEach", "low/hpLow.h")];
    assert_eq!(found(&interfaces).len(), 1);
    assert_eq!(found(&[("HpType", "high/hp_b.c")]).len(), 3);
}
