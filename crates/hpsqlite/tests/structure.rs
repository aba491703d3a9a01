//! How the source is laid out: no type has the name of another one, and no modules go round in a
//! circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A module by its path below `src`.
type Module = Vec<String>;

/// The crates of the tool, and where their source is.
const CRATES: [&str; 2] = ["hpsqlite-compare", "hpsqlite"];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
        .join("src")
}

/// All files of Rust below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
    all
}

/// The name of the type or trait that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let (what, rest) = line.trim_start().split_once(' ')?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = rest.split(|c| !is_name(c)).next()?;
    (["struct", "enum", "trait"].contains(&what) && !name.is_empty()).then_some(name)
}

#[test]
fn no_name_of_a_type_is_there_twice() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in CRATES.iter().flat_map(|name| files(&source(name))) {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some(name) = defined(line) {
                let place = path.display().to_string();
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    assert!(places.len() > 300, "the scan finds too little");
    places.retain(|_, places| places.len() > 1);
    assert!(
        places.is_empty(),
        "name types after what they are: {places:#?}"
    );
}

/// Code without comments, and without the tests at its end.
fn plain(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    code.collect::<Vec<_>>().join("\n")
}

/// The modules of a crate, without those that are tests and programs of their own.
fn modules(name: &str) -> BTreeMap<Module, String> {
    let mut all = BTreeMap::new();
    for path in files(&source(name)) {
        let inside = path.strip_prefix(source(name)).unwrap().with_extension("");
        let parts = inside.iter().map(|part| part.to_str().unwrap().to_owned());
        let mut module: Module = parts.collect();
        if module[0] == "bin" || module.iter().any(|part| part.starts_with("tests")) {
            continue;
        }
        module.pop_if(|last| ["mod", "main", "lib"].contains(&last.as_str()));
        all.insert(module, plain(&std::fs::read_to_string(&path).unwrap()));
    }
    all
}

/// The paths that begin with `crate` or `super`, those in braces one by one.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| is_name(c) || c == ':') {
                add_paths(&code[at..], &[], &mut all);
            }
        }
    }
    all
}

/// Adds the paths that `code` begins with, and gives how long they are.
fn add_paths<'c>(code: &'c str, before: &[&'c str], all: &mut Vec<Vec<&'c str>>) -> usize {
    let mut path = before.to_vec();
    let mut at = 0;
    loop {
        let rest = &code[at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        at += name.len();
        if !name.is_empty() {
            path.push(name);
        }
        if name.is_empty() && rest.starts_with('{') {
            at += 1;
            while !code[at..].starts_with('}') {
                let skipped = code[at..].find(|c: char| !c.is_whitespace() && c != ',');
                at += skipped.expect("braces are closed");
                if !code[at..].starts_with('}') {
                    at += add_paths(&code[at..], &path, all);
                    // An `as NAME`, or a star.
                    at += code[at..].find([',', '}']).expect("braces are closed");
                }
            }
            return at + 1;
        }
        match code[at..].strip_prefix("::") {
            Some(_) => at += 2,
            None => break,
        }
    }
    all.push(path);
    at
}

/// The module that a path in `module` leads to.
fn target(module: &Module, path: &[&str], modules: &BTreeMap<Module, String>) -> Module {
    let mut at = match path[0] {
        "crate" => Module::new(),
        _ => module.clone(),
    };
    for name in path {
        match *name {
            "crate" | "self" => {}
            "super" => {
                at.pop();
            }
            name => {
                at.push(name.to_owned());
                if !modules.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
        }
    }
    at
}

/// The modules of each folder that use one another in a circle. A folder uses what any file in it
/// uses. What its own `mod.rs` has is the folder's, so a file and the folder it is in make none.
fn circles(modules: &BTreeMap<Module, String>) -> Vec<String> {
    let mut uses: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (module, code) in modules {
        for path in paths(code) {
            let target = target(module, &path, modules);
            let pairs = module.iter().zip(&target);
            let same = pairs.take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(same), target.get(same)) {
                let folder = uses.entry(module[..same].to_vec()).or_default();
                folder.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let mut found = Vec::new();
    for (folder, uses) in uses {
        let reached = |from: &str| {
            let mut all = BTreeSet::new();
            let mut next = vec![from];
            while let Some(one) = next.pop() {
                for to in uses.get(one).into_iter().flatten() {
                    if all.insert(to.as_str()) {
                        next.push(to);
                    }
                }
            }
            all
        };
        let round = uses
            .keys()
            .filter(|name| reached(name).contains(name.as_str()));
        let round: Vec<&str> = round.map(String::as_str).collect();
        if !round.is_empty() {
            found.push(format!("{}: {}", folder.join("::"), round.join(", ")));
        }
    }
    found
}

#[test]
fn no_modules_go_round_in_a_circle() {
    for name in CRATES {
        let circles = circles(&modules(name));
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

#[test]
fn a_circle_is_found() {
    let made = |a: &str| {
        let files = [
            ("lab", "mod a; mod b; use a::{A, B};"),
            ("lab/a", a),
            ("lab/b", "use super::{deep::c::C, Folder};"),
            ("lab/deep", "mod c;"),
            ("lab/deep/c", "use crate::{lab::{a::A, b as d}, x};"),
        ];
        let module = |path: &str| path.split('/').map(str::to_owned).collect();
        let files = files.map(|(path, code)| (module(path), plain(code)));
        circles(&files.into_iter().collect())
    };
    let uses = "fn f() -> super::b::B {}";
    assert_eq!(made(uses), ["lab: a, b, deep"]);
    assert_eq!(made("use super::b::{self, B};"), ["lab: a, b, deep"]);
    // A comment is no use, nor is a test.
    let none = "// super::b\n#[cfg(test)]\nmod tests {\n    use crate::lab::b;\n}";
    assert_eq!(made(none), ["lab: b, deep"]);
}
