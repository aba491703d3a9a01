//! What pages and essays promise of the code, where a test can tell: the regimes of
//! `docs/how-it-is-tested.md`, the opcodes that essays draw, the tables of functions that they
//! list, asserts, lines of 80 columns and files of 1,000 lines.

use crate::floors::engine;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What stands between two marks, each time.
fn between<'a>(text: &'a str, open: &'a str, close: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(open)
        .skip(1)
        .filter_map(move |part| part.split(close).next())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// Where the table of regimes and the switches disagree.
fn regimes(page: &str, config: &str) -> Vec<String> {
    let switches: BTreeSet<&str> = between(config, "HP_SWITCH(\"", "\"").collect();
    let table = page.split("\n## Regimes").nth(1).unwrap_or("");
    let table = table.split("\n## ").next().unwrap_or("");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    // `batch=N` and `run=1` are `batch=` and `run=`, whose number follows.
    let switch = |item: &str| {
        let (word, value) = item.split_once('=').unwrap_or((item, ""));
        let number = value == "N" || value.parse::<u64>().is_ok();
        let open = format!("{word}=");
        match number && switches.contains(open.as_str()) {
            true => open,
            false => item.to_owned(),
        }
    };
    let listed: BTreeSet<String> = rows
        .flat_map(|row| row.split('`').skip(1).step_by(2))
        .filter(|item| !item.contains(['/', ' ', '.']) && (item.contains('=') || *item == "force"))
        .map(switch)
        .collect();
    let missing = switches
        .iter()
        .filter(|switch| !listed.contains(**switch))
        .map(|switch| format!("the table of regimes lacks {switch}"));
    let gone = listed
        .iter()
        .filter(|item| !switches.contains(item.as_str()))
        .map(|item| format!("the table of regimes has {item}, which is no switch"));
    missing.chain(gone).collect()
}

/// The names of opcodes: ours, which hpHooks.h defines, and SQLite's, if it has been fetched.
fn opcodes() -> (BTreeSet<String>, bool) {
    let mut texts: Vec<String> = files(&root().join("engine/src"), "hpHooks.h");
    let upstream = files(&root().join("target/engine/upstream"), "sqlite3.c");
    let has_upstream = !upstream.is_empty();
    texts.extend(upstream);
    let define = |line: &str| {
        let (_, rest) = line.split_once("#define OP_")?;
        words(rest).next().map(str::to_owned)
    };
    let names = texts
        .iter()
        .flat_map(|text| text.lines().filter_map(define));
    (names.collect(), has_upstream)
}

/// The texts of the files below a folder whose names end so.
fn files(folder: &Path, end: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// Opcodes in comments that do not exist: OP_Name, and `Name P1=...` and `... -> HpName` of drawings.
fn unknown_opcodes(files: &[(String, String)], known: &BTreeSet<String>, all: bool) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (file, text) in files {
        for comment in between(text, "/*", "*/") {
            let named = words(comment)
                .filter_map(|word| word.strip_prefix("OP_"))
                // OP_xxx and OP_HpXxx are any of a kind
                .filter(|name| name.starts_with(char::is_uppercase) && !name.ends_with("xx"))
                .filter(|name| name.chars().any(char::is_lowercase));
            let drawn = comment.lines().flat_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let is_operand = |word: &str| {
                    let b = word.as_bytes();
                    b.len() > 3 && b[0] == b'P' && b[1].is_ascii_digit() && b[2] == b'='
                };
                let pairs = words
                    .windows(2)
                    .filter(move |pair| is_operand(pair[1]) && !is_operand(pair[0]));
                // Data flows by such arrows, too: only behind an opcode
                let jumps = words
                    .windows(3)
                    .filter(|w| w[1] == "->" && w[2].starts_with("Hp") && known.contains(w[0]));
                let drawn: Vec<&str> = pairs
                    .map(|pair| pair[0])
                    .chain(jumps.map(|w| w[2]))
                    .collect();
                drawn
            });
            for name in named.chain(drawn) {
                if (all || name.starts_with("Hp")) && !known.contains(name) {
                    found.insert(format!("{file} names the opcode {name}"));
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Sources and sinks that other modules use and the essay of their own does not name.
fn unnamed_tables(files: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in files {
        let essay = &text[..text.find("*/").unwrap_or(0)];
        let tables = ["HpSinkType ", "HpSourceType "]
            .into_iter()
            .flat_map(|kind| text.split(kind).skip(1))
            .filter_map(|rest| rest.split_once(" = {").map(|(name, _)| name))
            .filter(|name| words(name).eq([*name]));
        for name in tables {
            let is_used = files
                .iter()
                .any(|(other, text)| other != file && words(text).any(|word| word == name));
            if is_used && !words(essay).any(|word| word == name) {
                found.push(format!("{file} does not name {name}"));
            }
        }
    }
    found
}

const WIDTH: usize = 80;
const WIDE: &str = "crates/hpsqlite-engine/src/wide-lines.txt";

/// Lines of each file that are wider than 80 columns.
fn wide(files: &[(String, String)]) -> BTreeMap<&str, usize> {
    files
        .iter()
        .map(|(file, text)| {
            let wide = text.lines().filter(|line| line.chars().count() > WIDTH);
            (file.as_str(), wide.count())
        })
        .filter(|(_, n)| *n > 0)
        .collect()
}

/// Files with more wide lines than the list allows.
fn too_wide(found: &BTreeMap<&str, usize>, list: &str) -> Vec<String> {
    let allowed: BTreeMap<&str, usize> = list
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(n, file)| (file, n.parse().unwrap()))
        .collect();
    found
        .iter()
        .filter_map(|(file, n)| {
            let most = allowed.get(file).copied().unwrap_or(0);
            (*n > most).then(|| {
                format!("{file}: {n} lines are wider than {WIDTH} columns, of old ones {most}")
            })
        })
        .collect()
}

const LENGTH: usize = 1000;
const LONG: &str = "crates/hpsqlite-engine/src/long-files.txt";

/// Files of more than 1,000 lines that the list does not allow, and what it allows in vain: a file
/// of the list may only become shorter, and leaves it in the end.
fn too_long(files: &[(String, String)], list: &str) -> Vec<String> {
    let mut allowed: BTreeMap<&str, usize> = list
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(n, file)| (file, n.parse().unwrap()))
        .collect();
    let mut found = Vec::new();
    for (file, text) in files {
        let n = text.lines().count();
        let most = allowed.remove(file.as_str());
        if n > LENGTH && n > most.unwrap_or(0) {
            found.push(format!("{file} has {n} lines: more than {LENGTH}"));
        }
        if n <= LENGTH && most.is_some() {
            found.push(format!("{file} has {n} lines: take it off {LONG}"));
        }
    }
    let gone = allowed
        .keys()
        .map(|file| format!("{LONG} has {file}, which is gone"));
    found.extend(gone);
    found
}

/// In the modules of a folder there is an assert in so many lines.
fn lines_an_assert(files: &[(String, String)], folder: &str) -> usize {
    let lines: Vec<&str> = files
        .iter()
        .filter(|(file, _)| file.starts_with(folder) && file.ends_with(".c"))
        .flat_map(|(_, text)| text.lines())
        .collect();
    let is_assert = |line: &&&str| line.trim_start().starts_with("assert(");
    lines.len() / lines.iter().filter(is_assert).count().max(1)
}

#[test]
fn the_table_of_regimes_has_every_switch() {
    let page = read("docs/how-it-is-tested.md");
    let config = read("engine/src/base/hp_config.c");
    assert_eq!(regimes(&page, &config), [] as [String; 0]);
}

#[test]
fn a_switch_that_the_table_lacks_is_found() {
    let config = "HP_SWITCH(\"force\", a)\nHP_SWITCH(\"run=\", b)\nHP_SWITCH(\"rare=\", b)\nHP_SWITCH(\"disk=cold\", c)\n";
    let page = "\n## Regimes\n\n| item | regime |\n| `force` | `tree/x` all |\n| `run=N` | `run=1` |\n| `disk=cold` | `disk=hot` |\n\n## Next\n`x=1`\n";
    assert_eq!(
        regimes(page, config),
        [
            "the table of regimes lacks rare=",
            "the table of regimes has disk=hot, which is no switch"
        ]
    );
}

#[test]
fn opcodes_in_essays_exist() {
    let (known, all) = opcodes();
    assert!(known.len() >= 4, "{known:?}");
    assert_eq!(unknown_opcodes(&engine(), &known, all), [] as [String; 0]);
}

#[test]
fn an_opcode_that_does_not_exist_is_found() {
    let known = ["HpScan", "Next", "Goto"].map(str::to_owned).into();
    let text = "/*\n**  hp:  HpQuery  P1=r P2=x\n**  HpScan P1=r\n**  Next -> HpLine body\n**  OP_Goto, OP_Gone, OP_HpXxx, HP_OP_NOT\n*/\nint OP_Code;";
    let files = [("a.c".to_owned(), text.to_owned())];
    let found = |all| unknown_opcodes(&files, &known, all);
    assert_eq!(
        found(true),
        ["Gone", "HpLine", "HpQuery"].map(|name| format!("a.c names the opcode {name}"))
    );
    assert_eq!(found(false).len(), 2);
}

#[test]
fn essays_name_sources_and_sinks() {
    assert_eq!(unnamed_tables(&engine()), [] as [String; 0]);
}

#[test]
fn a_sink_that_no_essay_names_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "low.c",
            "/*\n** hpOne\n*/\nstatic const HpSinkType hpOne = { 0 };\nstatic const HpSourceType hpTwo = {\n0 };\nstatic const HpSinkType hpMine = { 0 };\n",
        ),
        file("high.c", "x = &hpOne; y = &hpTwo;"),
    ];
    assert_eq!(unnamed_tables(&files), ["low.c does not name hpTwo"]);
}

/// New lines have 80 columns at most. The list has how many wider ones each file has of old: with
/// WIDE=write in the environment this writes it again, when there are fewer.
#[test]
fn lines_have_80_columns() {
    let files = engine();
    let found = wide(&files);
    if env::var("WIDE").is_ok_and(|value| value == "write") {
        let lines: String = found
            .iter()
            .map(|(file, n)| format!("{n} {file}\n"))
            .collect();
        fs::write(root().join(WIDE), lines).unwrap();
    }
    assert_eq!(too_wide(&found, &read(WIDE)), [] as [String; 0]);
}

#[test]
fn a_line_that_is_too_wide_is_found() {
    let line = format!("{}\n", "é".repeat(WIDTH));
    let files = [
        ("a.c".to_owned(), format!("{line}x{line}")),
        ("b.c".to_owned(), format!("x{line}x{line}")),
        ("c.c".to_owned(), line.clone()),
    ];
    let found = wide(&files);
    assert_eq!(found, [("a.c", 1), ("b.c", 2)].into());
    assert_eq!(too_wide(&found, "1 a.c\n2 b.c\n"), [] as [String; 0]);
    assert_eq!(too_wide(&found, "1 b.c\n").len(), 2);
}

#[test]
fn files_have_1000_lines() {
    assert_eq!(too_long(&engine(), &read(LONG)), [] as [String; 0]);
}

#[test]
fn a_file_that_is_too_long_is_found() {
    let file = |name: &str, n: usize| (name.to_owned(), "x\n".repeat(n));
    let files = [file("a.c", 1000), file("b.c", 1001), file("c.c", 1200)];
    assert_eq!(too_long(&files, "1001 b.c\n1300 c.c\n"), [] as [String; 0]);
    let found = too_long(&files, "1000 a.c\n1199 c.c\n1100 d.c\n");
    assert_eq!(found.len(), 4, "{found:?}");
    for (name, message) in ["a.c", "b.c", "c.c", "d.c"].iter().zip(&found) {
        assert!(message.contains(name), "{message}");
    }
}

/// CONTRIBUTING.md: about one in 40 lines. Of these floors this holds.
#[test]
fn floors_are_asserted() {
    for folder in ["plan/", "turn/"] {
        let n = lines_an_assert(&engine(), folder);
        assert!(n <= 40, "{folder}: an assert in {n} lines");
    }
}

#[test]
fn asserts_are_counted_by_folder() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file("a/x.c", "int f(int a){\n  assert( a>0 );\n  return a;\n}\n"),
        file("a/y.c", "/* assert( 1 ) */\n  assert( b );\n"),
        file("a/z.h", "\n\n\n\n"),
        file("b/x.c", "x\ny\n"),
    ];
    assert_eq!(lines_an_assert(&files, "a/"), 3);
    assert_eq!(lines_an_assert(&files, "b/"), 2);
}
