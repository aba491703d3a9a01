//! `hpsqlite-demo`, what `make demo` runs: it is `hpsqlite demo` in a program of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The program as it stands in dist/bin, beside the libraries of `dist`, or of the folder named by
/// HPSQLITE_TEST_LIBS.
fn installed() -> TempDir {
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let dist = std::env::var_os("HPSQLITE_TEST_LIBS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist"),
        Into::into,
    );
    let dist = dist
        .canonicalize()
        .expect("the libraries; run `make`, or set HPSQLITE_TEST_LIBS");
    for folder in ["lib", "libexec"] {
        symlink(dist.join(folder), place.path().join(folder)).expect("a link");
    }
    fs::create_dir(place.path().join("bin")).expect("a folder");
    // Not copied: while another test starts a program, its child holds what is open for writing
    // here, and the copy cannot be run ("Text file busy").
    fs::hard_link(
        env!("CARGO_BIN_EXE_hpsqlite-demo"),
        place.path().join("bin/hpsqlite-demo"),
    )
    .expect("the program");
    place
}

fn run(place: &TempDir, arguments: &[&str]) -> Output {
    Command::new(place.path().join("bin/hpsqlite-demo"))
        .args(arguments)
        .env("XDG_CACHE_HOME", place.path().join("cache"))
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_compares_draws_and_ends_with_the_table() {
    let place = installed();
    let done = run(&place, &["--sf", "0.01", "--runs", "5"]);
    let out = text(&done.stdout);
    assert!(done.status.success(), "{out}{}", text(&done.stderr));
    assert!(
        out.contains("The answers of all 14 statements are the same."),
        "{out}"
    );
    assert!(
        !out.contains("SCAN lineitem"),
        "plans are shown on request only: {out}"
    );
    assert!(place.path().join("cache/hpsqlite/demo.html").exists());
}

#[test]
fn plans_are_shown_on_request() {
    let place = installed();
    let done = run(&place, &["--sf", "0.01", "--runs", "5", "--plans"]);
    let out = text(&done.stdout);
    assert!(done.status.success(), "{out}{}", text(&done.stderr));
    assert!(out.contains("SCAN lineitem"), "{out}");
}

#[test]
fn a_missing_library_is_named() {
    let place = installed();
    fs::remove_file(place.path().join("libexec")).expect("the link");
    let done = run(&place, &["--sf", "0.01"]);
    let err = text(&done.stderr);
    assert!(!done.status.success());
    assert!(err.contains("libsqlite3-stock.so"), "{err}");
}

#[test]
fn nonsense_is_refused() {
    let place = installed();
    let done = run(&place, &["--sf", "many"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("many"));
    assert!(!place.path().join("cache").exists(), "nothing is written");
}
