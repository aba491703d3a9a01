//! A build that cannot succeed says why in one line and leaves nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A copy of the engine folder in which a test may break something.
struct Workspace {
    folder: TempDir,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine");
        for name in ["UPSTREAM", "OPTIONS", "patches", "src"] {
            copy(&engine.join(name), &folder.path().join("engine").join(name));
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn replace(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has no `{from}`");
        fs::write(self.path(name), text.replace(from, to)).unwrap();
    }

    /// Runs a build that must fail and returns its only line of output.
    fn failing_build(&self, environment: &[(&str, &str)]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_hpsqlite-engine"))
            .current_dir(self.folder.path())
            .envs(environment.iter().copied())
            .arg("build")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("error: "), "{said}");
        assert!(!self.path("dist").exists(), "dist was begun: {said}");
        said
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn a_wrong_checksum_names_the_file_and_both_sums() {
    let workspace = Workspace::new();
    let pin = "0c657666d819f261cc4007526ad57e1669de9949df7a8ea847aa284a2bf0ee52";
    workspace.replace("engine/UPSTREAM", pin, &"0".repeat(64));
    let said = workspace.failing_build(&[]);
    assert!(said.contains("sqlite3.c has sha256 0c657666"), "{said}");
    assert!(said.contains("engine/UPSTREAM wants 0000"), "{said}");
}

#[test]
fn a_crate_that_cannot_be_fetched_is_named() {
    let workspace = Workspace::new();
    workspace.replace(
        "engine/UPSTREAM",
        "libsqlite3-sys 0.39.1",
        "libsqlite3-sys 0.0.0",
    );
    let said = workspace.failing_build(&[("CARGO_NET_OFFLINE", "true")]);
    assert!(
        said.contains("cannot fetch crate libsqlite3-sys 0.0.0"),
        "{said}"
    );
    assert!(said.contains("check the network"), "{said}");
}

#[test]
fn a_hunk_that_does_not_apply_is_named() {
    let workspace = Workspace::new();
    let patch = "--- a/sqlite3.c\n+++ b/sqlite3.c\n@@ -1,2 +1,2 @@ here\n no such line\n-x\n+y\n";
    fs::create_dir_all(workspace.path("engine/patches")).unwrap();
    fs::write(workspace.path("engine/patches/9999-bad.patch"), patch).unwrap();
    let said = workspace.failing_build(&[]);
    assert!(said.contains("9999-bad.patch"), "{said}");
    assert!(said.contains("hunk `@@ -1,2 +1,2 @@ here`"), "{said}");
}

#[test]
fn a_missing_compiler_is_named() {
    let said = Workspace::new().failing_build(&[("CC", "no-such-compiler")]);
    assert!(said.contains("`no-such-compiler` does not run"), "{said}");
}
