//! Remembers from what `dist/` was made, so that a build with nothing to do
//! ends at once.

use crate::upstream::{sha256, write_whole};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Everything that decides what is built, as one hash.
pub fn inputs_key(engine: &Path, toolchain: &str) -> Result<String> {
    let mut text = format!("{toolchain}\n");
    let builder = std::env::current_exe().context("cannot find this program's own file")?;
    for path in files_below(engine)?.iter().chain([&builder]) {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        writeln!(text, "{} {}", path.display(), sha256(&bytes))
            .expect("writing to a string succeeds");
    }
    Ok(sha256(text.as_bytes()))
}

/// Whether the last build had these inputs and its outputs are untouched.
pub fn is_current(stamp: &Path, key: &str, outputs: &[PathBuf]) -> bool {
    describe(key, outputs)
        .is_some_and(|now| fs::read_to_string(stamp).is_ok_and(|then| then == now))
}

/// Records a finished build.
pub fn record(stamp: &Path, key: &str, outputs: &[PathBuf]) -> Result<()> {
    let text = describe(key, outputs).context("a file that was just made is missing")?;
    write_whole(stamp, text.as_bytes())
}

/// The key and each output's size and time of change; nothing if one is missing.
fn describe(key: &str, outputs: &[PathBuf]) -> Option<String> {
    let mut text = format!("{key}\n");
    for path in outputs {
        let data = fs::metadata(path).ok()?;
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        writeln!(text, "{} {} {changed:?}", path.display(), data.len()).ok()?;
    }
    Some(text)
}

/// All files of a folder and its folders, sorted, less the tests, which are no
/// part of the library.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .with_context(|| format!("cannot read the folder {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if !path.is_dir() {
                found.push(path);
            } else if !path.ends_with("test") {
                folders.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_input_or_a_lost_output_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("engine");
        let stamp = folder.path().join("stamp");
        let outputs = [folder.path().join("out")];
        fs::create_dir_all(engine.join("test")).unwrap();
        fs::write(engine.join("a.c"), "1").unwrap();
        fs::write(&outputs[0], "o").unwrap();
        let key = inputs_key(&engine, "cc").unwrap();
        assert!(!is_current(&stamp, &key, &outputs));
        record(&stamp, &key, &outputs).unwrap();
        assert!(is_current(&stamp, &key, &outputs));

        fs::write(engine.join("test/t.tcl"), "1").unwrap();
        assert_eq!(inputs_key(&engine, "cc").unwrap(), key);
        fs::write(engine.join("a.c"), "2").unwrap();
        assert_ne!(inputs_key(&engine, "cc").unwrap(), key);
        fs::remove_file(&outputs[0]).unwrap();
        assert!(!is_current(&stamp, &key, &outputs));
    }
}
