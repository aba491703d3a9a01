//! Opening the page in the browser of the person at the terminal.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Whether somebody sits there who would see a browser.
pub fn can_be_seen() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal()
        && (cfg!(target_os = "macos")
            || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
                .iter()
                .any(|n| is_set(n)))
}

/// Starts the browser. If there is none, the address has been printed.
pub fn open(address: &str) {
    let chosen = std::env::var("BROWSER").unwrap_or_default();
    // BROWSER may be a list of commands; arguments of its own are taken apart at spaces.
    let chosen = chosen.split(':').find(|command| !command.trim().is_empty());
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut words = chosen.unwrap_or(usual).split_whitespace();
    let Some(program) = words.next() else { return };
    let started = Command::new(program)
        .args(words)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C is for the server, not for a browser that it happened to start.
        .process_group(0)
        .spawn();
    if let Ok(mut child) = started {
        // It ends at once or with the browser; nobody waits for it.
        std::thread::spawn(move || child.wait());
    }
}
