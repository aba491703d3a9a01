//! Makes our `sqlite3.c`, `sqlite3.h` and `sqlite3ext.h`: upstream's files with
//! the patches applied, our declarations where one of these includes them, the
//! default options in front, our modules behind, and the source id marked as
//! altered. Beside them goes `hpsqlite.h`, what we have beyond SQLite's interface.

use crate::options::{self, CompileOption};
use crate::patch;
use crate::upstream::{Pins, write_whole};
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The files an embedder takes, in memory.
pub struct Amalgamation {
    pub sqlite3_c: String,
    pub sqlite3_h: String,
    pub sqlite3ext_h: String,
    pub hpsqlite_h: String,
}

/// The marks that upstream asks altered versions to end their source id with.
const ALTERED: &str = "alt1";

/// What upstream's code knows of ours. A patch includes it.
const HOOKS: &str = "hpHooks.h";

/// Our headers that do not go behind upstream's text: that one, and the public one.
const NOT_IN_ORDER: [&str; 2] = [HOOKS, "hpsqlite.h"];

/// Makes the amalgamation from the pinned files and the engine folder.
pub fn make(engine: &Path, work: &Path, pins: &Pins) -> Result<Amalgamation> {
    let read = |name| -> Result<String> {
        let path = pins.obtain(name, work)?;
        String::from_utf8(fs::read(&path)?)
            .with_context(|| format!("{} is not UTF-8", path.display()))
    };
    let mut made = Amalgamation {
        sqlite3_c: read("sqlite3.c")?,
        sqlite3_h: read("sqlite3.h")?,
        sqlite3ext_h: read("sqlite3ext.h")?,
        hpsqlite_h: read_ours(&engine.join("src"), "hpsqlite.h")?,
    };
    for path in sorted_files(&engine.join("patches"), "patch")? {
        apply_patch(&path, &mut made).with_context(|| {
            format!(
                "cannot apply {}; rewrite it against the pinned SQLite and run make again",
                path.display()
            )
        })?;
    }
    made.sqlite3_c = mark_altered(&made.sqlite3_c).context("sqlite3.c")?;
    made.sqlite3_h = mark_altered(&made.sqlite3_h).context("sqlite3.h")?;
    let source = engine.join("src");
    made.sqlite3_c = include_hooks(&made.sqlite3_c, &source)?;
    let options = options::read(&engine.join("OPTIONS"))?;
    made.sqlite3_c = assemble(&made.sqlite3_c, &options, &modules(&source)?);
    Ok(made)
}

impl Amalgamation {
    /// Writes the files that are not yet there as they should be.
    pub fn write_to(&self, folder: &Path) -> Result<()> {
        for (name, text) in [
            ("sqlite3.c", &self.sqlite3_c),
            ("sqlite3.h", &self.sqlite3_h),
            ("sqlite3ext.h", &self.sqlite3ext_h),
            ("hpsqlite.h", &self.hpsqlite_h),
        ] {
            let path = folder.join(name);
            if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                write_whole(&path, text.as_bytes())?;
            }
        }
        Ok(())
    }
}

fn read_ours(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Applies one file of `engine/patches`.
fn apply_patch(path: &Path, made: &mut Amalgamation) -> Result<()> {
    let text = fs::read_to_string(path)?;
    for file in patch::parse(&text)? {
        let target = match file.file {
            "sqlite3.c" => &mut made.sqlite3_c,
            "sqlite3.h" => &mut made.sqlite3_h,
            "sqlite3ext.h" => &mut made.sqlite3ext_h,
            other => bail!("it changes {other}, which is no file of the amalgamation"),
        };
        *target = file.apply(target)?;
    }
    Ok(())
}

/// Replaces the last four hex digits of the source id, as upstream asks of
/// those who alter SQLite.
fn mark_altered(text: &str) -> Result<String> {
    const DEFINE: &str = "#define SQLITE_SOURCE_ID ";
    let mut places = text.match_indices(DEFINE);
    let (start, _) = places
        .next()
        .context("no SQLITE_SOURCE_ID in the pinned file")?;
    ensure!(places.next().is_none(), "SQLITE_SOURCE_ID is defined twice");
    let end = start
        + text[start..]
            .find("\"\n")
            .context("SQLITE_SOURCE_ID is no string")?;
    let (head, tail) = (&text[..end - ALTERED.len()], &text[end..]);
    Ok(format!("{head}{ALTERED}{tail}"))
}

/// Puts the text of `hpHooks.h` where a patch includes it, between the comments
/// with which upstream marks such a place.
fn include_hooks(upstream: &str, folder: &Path) -> Result<String> {
    let text = read_ours(folder, HOOKS)?;
    let include = format!("\n#include \"{HOOKS}\"\n");
    let places = upstream.matches(&include).count();
    ensure!(
        places == 1,
        "the patches include {HOOKS} {places} times and not once"
    );
    let included = [
        "\n",
        &boundary(&format!("Include {HOOKS} in the middle of sqliteInt.h")),
        &boundary(&format!("Begin file {HOOKS}")),
        &text,
        &boundary(&format!("End of {HOOKS}")),
        &boundary("Continuing where we left off in sqliteInt.h"),
    ];
    Ok(upstream.replace(&include, &included.concat()))
}

/// One of our modules: its name and text.
struct Module {
    name: String,
    text: String,
}

/// Reads what `ORDER` lists: headers and modules, in folders. Without `ORDER` there are
/// no modules. A file that `ORDER` forgets is an error, because the library would be
/// built without it.
fn modules(folder: &Path) -> Result<Vec<Module>> {
    let order_path = folder.join("ORDER");
    if !order_path.is_file() {
        return Ok(Vec::new());
    }
    let names = order(&fs::read_to_string(&order_path)?);
    let mut found = sources(folder)?;
    found.retain(|path| !NOT_IN_ORDER.iter().any(|name| path.ends_with(name)));
    for path in found {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        ensure!(
            names.iter().any(|known| Path::new(known) == name),
            "{} is not listed in {}: add it where it belongs",
            path.display(),
            order_path.display()
        );
    }
    names
        .into_iter()
        .map(|name| {
            let path = folder.join(&name);
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}, which ORDER asks for", path.display()))?;
            Ok(Module { name, text })
        })
        .collect()
}

/// The files that `ORDER` lists, each once, without its comments.
pub fn order(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let name = line.split('#').next().unwrap_or("").trim();
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.into());
        }
    }
    names
}

/// The C files of a folder and of its folders, sorted.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|e| e == "c" || e == "h") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Puts the default options before upstream's text and the modules behind it.
/// What the modules include of each other is dropped: it stands above already.
fn assemble(upstream: &str, options: &[CompileOption], modules: &[Module]) -> String {
    let mut out = options::defaults_block(options);
    out.push_str(upstream);
    let included: Vec<String> = modules
        .iter()
        .map(|module| format!("#include \"{}\"", module.name))
        .collect();
    for module in modules {
        let name = module.name.rsplit('/').next().unwrap_or(&module.name);
        out.push_str(&boundary(&format!("Begin file {name}")));
        for line in module.text.lines() {
            if !included.iter().any(|include| line.trim_end() == include) {
                writeln!(out, "{line}").expect("writing to a string succeeds");
            }
        }
        out.push_str(&boundary(&format!("End of {name}")));
    }
    out
}

/// A comment that marks where a file begins or ends, in the form upstream's
/// amalgamation uses, so that the same tools can cut files out of it.
fn boundary(label: &str) -> String {
    format!(
        "/************** {label} {:*<1$}/\n",
        "",
        61usize.saturating_sub(label.len())
    )
}

/// The files of a folder with a given extension, sorted by name; none where
/// the folder does not exist.
pub fn sorted_files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn modules_come_in_the_order_listed_and_without_their_includes() {
        let folder = folder_with(&[
            ("hpInt.h", "int a;\n"),
            ("ORDER", "hpInt.h\nlow/hp_z.c # first\nhp_a.c\n"),
            ("hp_a.c", "#include \"hpInt.h\"\nint c;\n"),
            (
                "low/hp_z.c",
                "#include \"hpInt.h\"\n#include <math.h>\nint b;\n",
            ),
        ]);
        let text = assemble("UP\n", &[], &modules(folder.path()).unwrap());
        let code: Vec<&str> = text
            .lines()
            .skip_while(|line| *line != "UP")
            .filter(|line| !line.starts_with("/****"))
            .collect();
        assert_eq!(
            code,
            ["UP", "int a;", "#include <math.h>", "int b;", "int c;"]
        );
    }

    #[test]
    fn the_hooks_stand_where_they_are_included_and_only_there() {
        let folder = folder_with(&[("hpHooks.h", "int hook;\n")]);
        let made = include_hooks("a\n#include \"hpHooks.h\"\nb\n", folder.path()).unwrap();
        let code: Vec<&str> = made
            .lines()
            .filter(|line| !line.starts_with("/****"))
            .collect();
        assert_eq!(code, ["a", "int hook;", "b"]);
        for text in [
            "a\n// #include \"hpHooks.h\"\n",
            "a\n#include \"hpHooks.h\"\nb\n#include \"hpHooks.h\"\n",
        ] {
            let error = include_hooks(text, folder.path()).err().unwrap();
            assert!(error.to_string().contains("and not once"), "{error}");
        }
    }

    #[test]
    fn no_modules_leave_upstream_as_it_is() {
        let folder = folder_with(&[]);
        let text = assemble("UP\n", &[], &modules(folder.path()).unwrap());
        assert!(text.ends_with("#endif /* HP_NO_DEFAULT_OPTIONS */\nUP\n"));
    }

    #[test]
    fn a_forgotten_module_is_an_error() {
        for forgotten in ["hp_a.c", "low/hp_a.c", "low/hpLow.h"] {
            let folder = folder_with(&[("ORDER", "# none\n"), (forgotten, "")]);
            let error = modules(folder.path()).err().unwrap().to_string();
            assert!(
                error.contains(&format!("{forgotten} is not listed")),
                "{error}"
            );
        }
    }

    #[test]
    fn the_source_id_is_marked_once() {
        let text = "#define SQLITE_SOURCE_ID      \"2026 abcd1234\"\nrest \"\n";
        let marked = mark_altered(text).unwrap();
        assert_eq!(
            marked,
            "#define SQLITE_SOURCE_ID      \"2026 abcdalt1\"\nrest \"\n"
        );
        assert_eq!(mark_altered(&marked).unwrap(), marked);
        assert!(mark_altered("none").is_err());
    }

    #[test]
    fn boundaries_are_as_wide_as_upstreams() {
        let line = boundary("Begin file sqliteInt.h");
        let upstream =
            "/************** Begin file sqliteInt.h ***************************************/\n";
        assert_eq!(line, upstream);
    }
}
