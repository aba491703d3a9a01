//! Ctrl-C: work stops at the next safe place, temporary files go, exit status 130.
//!
//! The handler only raises a flag and ends the worker processes; the code that
//! was waiting for them then returns [`Interrupted`] and cleans up by its own
//! destructors. A second Ctrl-C does not wait for that.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static RAISED: AtomicBool = AtomicBool::new(false);
static WORKERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The exit status after Ctrl-C, as shells report a death by SIGINT.
pub const STATUS: u8 = 130;

/// The error that unwinds to `main` after Ctrl-C.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Starts to watch for SIGINT, SIGTERM and SIGHUP.
pub fn watch() {
    let handler = || {
        if RAISED.swap(true, Ordering::SeqCst) {
            wipe();
            std::process::exit(STATUS.into());
        }
        for &pid in WORKERS.lock().iter().flat_map(|w| w.iter()) {
            // SAFETY: a plain system call; the pid is our own child, not yet waited for.
            unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
        }
    };
    ctrlc::set_handler(handler).expect("the handler is set once");
}

/// Takes away the line of a progress bar, which nothing does after a second Ctrl-C.
fn wipe() {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // There is nobody left to tell that it failed.
        let _ = terminal.write_all(b"\r\x1b[2K");
    }
}

/// Whether Ctrl-C was pressed.
pub fn raised() -> bool {
    RAISED.load(Ordering::Relaxed)
}

/// An error if Ctrl-C was pressed.
pub fn check() -> Result<(), Interrupted> {
    if raised() { Err(Interrupted) } else { Ok(()) }
}

/// Makes Ctrl-C end the child process `pid`, until [`forget`] is called.
pub fn remember(pid: u32) {
    if let Ok(mut workers) = WORKERS.lock() {
        workers.push(pid);
    }
}

/// To be called before the child is waited for: afterwards its number may belong to another process.
pub fn forget(pid: u32) {
    if let Ok(mut workers) = WORKERS.lock() {
        workers.retain(|&w| w != pid);
    }
}
