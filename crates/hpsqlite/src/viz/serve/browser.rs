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
    let words = command(&chosen, address);
    let Some((program, arguments)) = words.split_first() else {
        return;
    };
    let started = Command::new(program)
        .args(arguments)
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

/// The program and its arguments. BROWSER may be a list of commands, of which the first is taken;
/// arguments of its own are taken apart at spaces, and the address is put where it says `%s`, or at the
/// end.
fn command(chosen: &str, address: &str) -> Vec<String> {
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let chosen = chosen.split(':').find(|command| !command.trim().is_empty());
    let words = chosen.unwrap_or(usual).split_whitespace();
    let mut command: Vec<String> = words.map(|word| word.replace("%s", address)).collect();
    if !chosen.is_some_and(|chosen| chosen.contains("%s")) {
        command.push(address.to_owned());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn the_address_is_put_where_the_browser_wants_it() {
        let words = |chosen| command(chosen, "http://here/").join(" ");
        assert_eq!(words("firefox"), "firefox http://here/");
        assert_eq!(words("firefox %s"), "firefox http://here/");
        assert_eq!(words("b --app=%s --new:c"), "b --app=http://here/ --new");
        assert_eq!(words(": :w3m"), "w3m http://here/");
        assert!(words("").ends_with("open http://here/"));
    }
}
