//! `hpsqlite FILE`: SQLite's shell on High Performance SQLite, which lies beside this program.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::beside;

/// The name of the command.
pub const NAME: &str = "shell";

/// What stands below the help.
pub const HELP: &str = "\
`hpsqlite FILE` is short for it. The shell is SQLite's own, with everything that it can do, such as \
.recover, .dbinfo, .scanstats and .expert; .help lists it.

Exit status: the shell's; 2 if there is no shell beside this program.

Examples:
  hpsqlite app.db
  hpsqlite shell -json app.db 'SELECT * FROM event LIMIT 3'";

/// The shell.
pub fn program() -> Result<PathBuf> {
    beside::program("sqlite3", "`make` builds it, and Python's package has none")
}

/// Becomes the shell.
pub fn run(arguments: &[OsString]) -> Result<u8> {
    beside::become_program(&program()?, arguments)
}

/// Puts the name of the command before a file that is named in its place.
pub fn with_its_name(
    mut arguments: Vec<OsString>,
    is_command: impl Fn(&str) -> bool,
) -> Vec<OsString> {
    let is_file = arguments.get(1).is_some_and(|first| match first.to_str() {
        Some(text) if text.starts_with('-') || is_command(text) => false,
        _ => names_file(first),
    });
    if is_file {
        arguments.insert(1, NAME.into());
    }
    arguments
}

/// Whether a word can only be a file: it is one, or looks like the path of one to be made.
fn names_file(word: &OsStr) -> bool {
    word == ":memory:" || word.to_string_lossy().contains(['.', '/']) || Path::new(word).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_place_of_a_command_is_for_the_shell() {
        let made = |line: &str| {
            let arguments = line.split(' ').map(OsString::from).collect();
            let made = with_its_name(arguments, |word| word == "viz" || word == "a.b");
            let words: Vec<&str> = made.iter().skip(1).map(|w| w.to_str().unwrap()).collect();
            words.join(" ")
        };
        for (line, expected) in [
            ("hpsqlite app.db", "shell app.db"),
            ("hpsqlite :memory: -json", "shell :memory: -json"),
            ("hpsqlite ./app .tables", "shell ./app .tables"),
            ("hpsqlite viz app.db", "viz app.db"),
            ("hpsqlite a.b", "a.b"),
            ("hpsqlite comprae app.db", "comprae app.db"),
            ("hpsqlite --help", "--help"),
            ("hpsqlite", ""),
        ] {
            assert_eq!(made(line), expected, "{line}");
        }
    }
}
