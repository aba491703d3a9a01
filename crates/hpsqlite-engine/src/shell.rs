//! Builds the shell: upstream's, patched, on an engine of its own.
//!
//! The engine is ours compiled once more, with what some of the shell's commands need. The library
//! goes without: its options are Debian's, each instruction of a statement would be larger, and a
//! table of raw pages is for a person at a terminal and not for each application. The counters of
//! `.scanstats` cost nothing that can be measured while they are off.

use crate::amalgamation::{self, Amalgamation};
use crate::patch;
use crate::toolchain::Toolchain;
use crate::upstream::{Pins, write_whole};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// What the shell's engine, and the shell, have more than the library.
const OPTIONS: [&str; 2] = [
    // .recover and .dbinfo
    "-DSQLITE_ENABLE_DBPAGE_VTAB",
    // .scanstats
    "-DSQLITE_ENABLE_STMT_SCANSTATUS",
];

/// Libraries that the shell uses where this machine has them.
const EXTRAS: [(&str, &str, &str); 2] = [
    (
        "#include <stdio.h>\n#include <readline/readline.h>\nint main(void){return !readline(\"\");}",
        "-lreadline",
        "-DHAVE_READLINE=1",
    ),
    (
        "#include <zlib.h>\nint main(void){return !zlibVersion();}",
        "-lz",
        "-DSQLITE_HAVE_ZLIB=1",
    ),
];

/// The engine of the shell.
pub fn engine(tools: &Toolchain, source: &Path, objects: &Path) -> Result<PathBuf> {
    let mut flags: Vec<String> = ["-O2", "-ffp-contract=off"].map(str::to_owned).into();
    flags.extend(OPTIONS.map(str::to_owned));
    tools.compile("shell-engine", source, &[], &flags, objects)
}

/// What the shell is made of.
pub struct Parts<'a> {
    pub engine: &'a Path,
    pub work: &'a Path,
    pub pins: &'a Pins,
    pub made: &'a Amalgamation,
    /// The options of the library, as flags.
    pub options: &'a [String],
}

impl Parts<'_> {
    /// Makes the program `output` of the shell and the object of its engine.
    pub fn build(&self, tools: &Toolchain, engine: &Path, output: &Path) -> Result<()> {
        let source = self.work.join("src").join("shell.c");
        write_whole(&source, self.text()?.as_bytes())?;
        let mut flags = self.options.to_vec();
        flags.extend(OPTIONS.map(str::to_owned));
        flags.push("-O2".into());
        flags.push(format!("-DHPSQLITE_VERSION={}", self.version()?));
        let mut libs = Vec::new();
        for (program, lib, flag) in EXTRAS {
            if tools.links(program, &[lib], self.work) {
                libs.push(lib);
                flags.push(flag.into());
            }
        }
        let header = self.work.join("src").join("sqlite3.h");
        let objects = self.work.join("obj");
        let object = tools.compile("shell", &source, &[&header], &flags, &objects)?;
        tools.link_program(&[&object, engine], &libs, output)
    }

    /// The text of the shell: the pinned one with the patches of `engine/shell`.
    fn text(&self) -> Result<String> {
        let pinned = self.pins.obtain("shell.c", self.work)?;
        let mut text = fs::read_to_string(pinned).context("shell.c")?;
        for path in amalgamation::sorted_files(&self.engine.join("shell"), "patch")? {
            let patch = fs::read_to_string(&path)?;
            for file in patch::parse(&patch)? {
                ensure!(
                    file.file == "shell.c",
                    "{} changes {}, which is not the shell",
                    path.display(),
                    file.file
                );
                text = file.apply(&text).with_context(|| {
                    format!(
                        "cannot apply {}; rewrite it against the pinned shell and run make again",
                        path.display()
                    )
                })?;
            }
        }
        Ok(text)
    }

    /// Our version, in its quotes, as the engine defines it.
    fn version(&self) -> Result<&str> {
        let rest = self.made.sqlite3_c.split_once("#define HP_VERSION ");
        let (_, rest) = rest.context("no HP_VERSION in sqlite3.c")?;
        Ok(rest.lines().next().unwrap_or_default().trim())
    }
}
