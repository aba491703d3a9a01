//! The engine's modules stand on floors: each calls only what stands before it in
//! `engine/src/ORDER`. A call upward would let two modules need each other, and then
//! neither can be read, tested or replaced alone.
//!
//! A name that is called is the plain way up. There are two hidden ones, which [`types`] and
//! [`callbacks`] hold: to know a structure that stands higher, and to call a function of which only
//! a pointer is seen. What leads up so today is in `types-upward.txt` and `callbacks-upward.txt`,
//! which may only shrink: `FLOORS=write cargo test -p hpsqlite-engine floors` writes them again.

mod callbacks;
mod tokens;
mod types;

use crate::amalgamation::order;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// C without its comments, strings and characters.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' => quoted(rest, c),
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        out.push(' ');
        rest = &rest[skipped..];
    }
    out
}

/// Bytes of the string or character that the text begins with.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Names of ours in bare C, each with where it ends: functions and macros, hpXxx and sqlite3HpXxx.
fn names(bare: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut at = 0;
    bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter_map(move |word| {
            let end = at + word.len();
            at = end + 1;
            let of_ours = word.strip_prefix("hp").or(word.strip_prefix("sqlite3Hp"))?;
            of_ours
                .starts_with(|c: char| c.is_ascii_uppercase())
                .then_some((word, end))
        })
}

/// The functions and macros that bare C defines.
fn definitions(bare: &str) -> BTreeSet<&str> {
    names(bare)
        .filter(|(name, end)| {
            let line = bare[..end - name.len()].rsplit('\n').next().unwrap_or("");
            if line.trim_start().starts_with('#') {
                return line.trim_start_matches(['#', ' ']).trim() == "define";
            }
            // A function begins at the left margin; its parameters end with a brace.
            let after = &bare[*end..];
            let is_word = |c: char| c.is_ascii_alphanumeric() || "_ *".contains(c);
            line.chars().all(is_word)
                && !line.starts_with(' ')
                && !line.is_empty()
                && after.starts_with('(')
                && closing(after).is_some_and(|i| after[i + 1..].trim_start().starts_with('{'))
        })
        .map(|(name, _)| name)
        .collect()
}

/// Where the parenthesis closes that the text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(i, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0).then_some(i)
    })
}

/// Calls that go up: the caller's file, the name, the file that has it.
fn upward(files: &[(String, String)]) -> Vec<String> {
    let texts: Vec<String> = files.iter().map(|(_, text)| bare(text)).collect();
    let mut owner: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, text) in texts.iter().enumerate() {
        for name in definitions(text) {
            owner.entry(name).or_insert(i);
        }
    }
    let mut found = BTreeSet::new();
    for (i, text) in texts.iter().enumerate() {
        // Headers declare what comes later.
        if files[i].0.ends_with(".h") {
            continue;
        }
        for (name, _) in names(text) {
            if let Some(&of) = owner.get(name).filter(|&&of| of > i) {
                found.insert(format!("{} uses {name} of {}", files[i].0, files[of].0));
            }
        }
    }
    found.into_iter().collect()
}

/// Where essays and code disagree: functions that other modules use and the essay of their own
/// does not name, and names that it lists and the module does not have.
fn unnamed(files: &[(String, String)]) -> Vec<String> {
    let texts: Vec<String> = files.iter().map(|(_, text)| bare(text)).collect();
    let used: Vec<BTreeSet<&str>> = texts
        .iter()
        .map(|text| names(text).map(|(name, _)| name).collect())
        .collect();
    let mut found = Vec::new();
    for (i, (file, text)) in files.iter().enumerate() {
        if file.ends_with(".h") {
            continue;
        }
        let essay = &text[..text.find("*/").unwrap_or(0)];
        let has = definitions(&texts[i]);
        for name in &has {
            let is_used = files.iter().enumerate().any(|(other, (file, _))| {
                other != i && file.ends_with(".c") && used[other].contains(name)
            });
            if is_used && !essay.contains(&format!("{name}()")) {
                found.push(format!("{file} does not name {name}()"));
            }
        }
        let lines = essay
            .lines()
            .filter_map(|line| line.strip_prefix("**    hp"));
        for line in lines {
            let name = line.split("()").next().unwrap_or("");
            let of_ours = name.starts_with(|c: char| c.is_ascii_uppercase());
            if of_ours && line.contains("()") && !has.contains(format!("hp{name}").as_str()) {
                found.push(format!("{file} lists hp{name}(), which it does not have"));
            }
        }
    }
    found
}

/// Names that other modules use and that do not tell their file: hpAggFind() is in hp_agg.c. Those
/// that SQLite's own code calls (sqlite3HpXxx) are named after what it asks for.
fn astray(files: &[(String, String)]) -> Vec<String> {
    let texts: Vec<String> = files.iter().map(|(_, text)| bare(text)).collect();
    let is_module = |i: usize| files[i].0.ends_with(".c");
    let used: Vec<BTreeSet<&str>> = texts
        .iter()
        .map(|text| names(text).map(|(name, _)| name).collect())
        .collect();
    let mut found = Vec::new();
    for i in (0..files.len()).filter(|&i| is_module(i)) {
        let stem = Path::new(&files[i].0).file_stem().unwrap_or_default();
        let prefix = stem.to_string_lossy().replace('_', "");
        for name in definitions(&texts[i]) {
            let is_used = (0..files.len())
                .any(|other| other != i && is_module(other) && used[other].contains(name));
            let of_sqlite = name.starts_with("sqlite3Hp");
            if is_used && !of_sqlite && !name.to_lowercase().starts_with(&prefix) {
                found.push(format!("{name} is in {}", files[i].0));
            }
        }
    }
    found
}

/// Words of ours in bare C, types and constants too, that begin as one of these.
fn words<'a>(bare: &'a str, begin: &'a [&str]) -> impl Iterator<Item = &'a str> {
    bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| begin.iter().any(|b| word.starts_with(b)))
}

/// What files of a room use of another one that they are not to know: any word that begins as
/// its words do.
fn known(files: &[(String, String)], room: &str, begin: &[&str]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (file, text) in files.iter().filter(|(file, _)| file.starts_with(room)) {
        let text = bare(text);
        found.extend(words(&text, begin).map(|word| format!("{file} uses {word}")));
    }
    found.into_iter().collect()
}

/// Modules that may read instructions of a program of SQLite's, and why. While a statement is
/// prepared only `hp_splice.c` does; the others look at a program that is finished.
const READERS: [(&str, &str); 12] = [
    (
        "hp_splice.c",
        "the room for it: SQLite's code is found and changed",
    ),
    (
        "hp_window.c",
        "codes windows in SQLite's place, and opens their table",
    ),
    (
        "hp_func.c",
        "a program of its own, for functions that look at theirs",
    ),
    ("hp_row.c", "OP_HpRow, OP_HpNext"),
    ("hp_find.c", "OP_HpFind"),
    ("hp_race.c", "may the loops that run be given up?"),
    ("hp_progress.c", "how far loops have come that run"),
    ("hp_task.c", "OP_HpTask"),
    ("hp_load.c", "is it an INSERT of one row?"),
    ("hp_deferrable.c", "may changes of indexes wait?"),
    ("hp_pending.c", "does it end the transaction?"),
    ("hp_fetch.c", "runs programs that look a row up"),
];

/// Does bare C read instructions: `sqlite3VdbeGetOp()`, or the array of a Vdbe?
fn reads_program(bare: &str) -> bool {
    let words = [
        "sqlite3VdbeGetOp",
        "sqlite3VdbeGetLastOp",
        "v->aOp",
        "pVdbe->aOp",
        "Op *aOp",
    ];
    words.iter().any(|word| bare.contains(word))
}

/// Modules that read instructions and are not in the list, and entries of that in vain.
fn readers(files: &[(String, String)], list: &[&str]) -> Vec<String> {
    let name = |file: &str| file.rsplit('/').next().unwrap_or("").to_owned();
    let found: BTreeSet<String> = files
        .iter()
        .filter(|(file, text)| file.ends_with(".c") && reads_program(&bare(text)))
        .map(|(file, _)| name(file))
        .collect();
    let allowed: BTreeSet<String> = list.iter().map(|&file| file.to_owned()).collect();
    let more = found.difference(&allowed);
    let less = allowed.difference(&found);
    more.map(|file| format!("{file} reads instructions: that is for hp_splice.c"))
        .chain(less.map(|file| format!("{file} reads no instructions")))
        .collect()
}

/// What `ORDER` lists, with the texts.
pub(crate) fn engine() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/src");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let names = order(&read("ORDER"));
    assert!(names.len() > 40, "{names:?}");
    names.into_iter().map(|n| (n.clone(), read(&n))).collect()
}

#[test]
fn a_module_calls_only_those_before_it() {
    assert_eq!(upward(&engine()), [] as [String; 0]);
}

/// Sorted runs are of groups, of rows and of pairs. They know keys, and HpEntryType.
#[test]
fn runs_know_no_groups() {
    let files = engine();
    assert!(files.iter().any(|(file, _)| file.starts_with("sink/run/")));
    let group = [
        "HpGroup", "hpGroup", "HpAgg", "hpAgg", "HP_AGG", "HpSum", "hpSum", "hpResult",
    ];
    assert_eq!(known(&files, "sink/run/", &group), [] as [String; 0]);
}

#[test]
fn what_a_room_is_not_to_know_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "run/a.c",
            "/* HpAgg */\nint f(HpAggDef *p){\n  return p->a;\n}\n",
        ),
        file("group/a.c", "int g(HpAgg *p){\n  return p->a;\n}\n"),
    ];
    assert_eq!(known(&files, "run/", &["HpAgg"]), ["run/a.c uses HpAggDef"]);
}

#[test]
fn an_essay_names_what_others_use() {
    assert_eq!(unnamed(&engine()), [] as [String; 0]);
}

#[test]
fn a_name_that_others_use_tells_its_file() {
    assert_eq!(astray(&engine()), [] as [String; 0]);
}

#[test]
fn instructions_are_read_in_few_rooms() {
    let list: Vec<&str> = READERS.iter().map(|(file, _)| *file).collect();
    assert_eq!(readers(&engine(), &list), [] as [String; 0]);
    assert!(READERS.iter().all(|(_, why)| !why.is_empty()));
}

#[test]
fn a_module_that_reads_instructions_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "plan/hp_a.c",
            "int f(Vdbe *v){ return sqlite3VdbeGetOp(v, 1)->p1; }",
        ),
        file(
            "plan/hp_b.c",
            "/* sqlite3VdbeGetOp() */ int g(HpProg *p){ return p->aOp[0].a; }",
        ),
        file("plan/hpC.h", "const VdbeOp *aOp;"),
        file("run/hp_d.c", "int h(Vdbe *v){ return v->aOp[0].p1; }"),
    ];
    assert_eq!(
        readers(&files, &["hp_d.c", "hp_e.c"]),
        [
            "hp_a.c reads instructions: that is for hp_splice.c",
            "hp_e.c reads no instructions"
        ]
    );
}

#[test]
fn a_name_that_does_not_tell_its_file_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "base/hp_low.c",
            "int hpLowOne(int a){\n  return a;\n}\nint hpTwo(int a){\n  return a;\n}\nint hpMine(int a){\n  return a;\n}\n",
        ),
        file(
            "sink/hp_high.c",
            "int hpHigh(int a){\n  return hpLowOne(hpTwo(a));\n}\n",
        ),
    ];
    assert_eq!(astray(&files), ["hpTwo is in base/hp_low.c"]);
}

#[test]
fn what_an_essay_does_not_name_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "low.c",
            "/*\n**    hpLow()  adds one\n**    hpGone()  is gone\n*/\nint hpLow(int a){\n  return a+1;\n}\nint hpMore(int a){\n  return a;\n}\n",
        ),
        file(
            "high.c",
            "/* */\nint hpHigh(int a){\n  return hpLow(hpMore(a));\n}\n",
        ),
    ];
    assert_eq!(
        unnamed(&files),
        [
            "low.c does not name hpMore()",
            "low.c lists hpGone(), which it does not have"
        ]
    );
}

#[test]
fn a_call_upward_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file("low.h", "static int hpHigh(int);\n"),
        file(
            "low.c",
            "/* hpHigh() is not called here */\nstatic int hpLow(\n  int a\n){\n  return hpHigh(a) + hpTwice(a);\n}\n",
        ),
        file(
            "high.c",
            "#define hpTwice(X) (2*(X))\nstatic int hpHigh(int a){\n  return hpLow(a) + \"hpNone(\"[0];\n}\n",
        ),
    ];
    assert_eq!(
        upward(&files),
        [
            "low.c uses hpHigh of high.c",
            "low.c uses hpTwice of high.c"
        ]
    );
}
