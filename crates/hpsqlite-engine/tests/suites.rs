//! `tests/run-suites`: what ends a suite that does not end, and what does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

#[test]
fn a_suite_is_ended_for_its_processor_time_or_for_being_idle_and_not_for_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("tests");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    fs::create_dir(&tests).unwrap();
    for name in ["run-suites", "failures.sh"] {
        fs::copy(here.join(name), tests.join(name)).unwrap();
    }
    let end = "echo '1 passed, 0 failed, 0 skipped'";
    // `slow` takes more seconds of the clock than a suite may have of processors.
    let suites = [
        ("slow", format!("sleep 4; {end}")),
        ("idle", format!("(sleep 100; {end})")),
        ("spin", "bash -c 'while :; do :; done'".to_owned()),
    ];
    for (name, script) in &suites {
        let run = tests.join(name).join("run");
        fs::create_dir(tests.join(name)).unwrap();
        fs::write(&run, format!("#!/bin/bash\n{script}\n")).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = |seconds: &str, idle: &str, names: &[&str]| {
        let output = Command::new(tests.join("run-suites"))
            .args(names)
            .env("SUITE_SECONDS", seconds)
            .env("SUITE_IDLE", idle)
            .env("SUITE_WATCH", "1")
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };

    let (ok, said) = run("2", "60", &["slow", "spin"]);
    assert!(!ok, "{said}");
    assert!(said.contains("1 passed, 1 failed, 0 skipped\n"), "{said}");
    let spin = said.lines().find(|line| line.starts_with("spin"));
    let spin = spin.unwrap_or_default();
    assert!(spin.contains("(stopped after "), "{said}");

    let (ok, said) = run("60", "6", &["slow", "idle"]);
    assert!(!ok, "{said}");
    assert!(said.contains("1 passed, 1 failed, 0 skipped\n"), "{said}");
    let idle = said.lines().find(|line| line.starts_with("idle"));
    let idle = idle.unwrap_or_default();
    assert!(idle.contains("(stopped idle for 6 s, "), "{said}");

    let (ok, said) = run("1", "60", &["slow"]);
    assert!(
        ok && said.ends_with("1 passed, 0 failed, 0 skipped\n"),
        "{said}"
    );
}
