//! What a person sees on a terminal of 80 columns: lines that wrap at words, no bar left after
//! Ctrl-C, no escape sequence where nobody wants one, and a command that can be pasted.

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;

const COLUMNS: usize = 80;
const PATIENCE: Duration = Duration::from_secs(60);

/// A suite with so many trials that it goes on until it is stopped.
const SUITE: &str = r#"
title = "Rows"
kind = "sql"
trials = 5000
[options]
setup = "CREATE TABLE t(a); INSERT INTO t WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n"
[axes]
engine = ["stock", "ours"]
[[step]]
name = "a step with a name that is long enough to fill all of a line of a terminal"
sql = "SELECT sum(a) FROM t"
"#;

/// A terminal: what the tool writes to goes in at one end, and out at the other.
struct Terminal {
    screen: File,
    program: File,
    seen: String,
}

impl Terminal {
    fn new() -> Terminal {
        let mut ends = [0; 2];
        let mut size = libc::winsize {
            ws_row: 24,
            ws_col: COLUMNS as u16,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: two numbers are filled in, the name and the settings are left out, and the size
        // lives on. The descriptors are new, and nothing else has them.
        let [screen, program] = unsafe {
            let [screen, program] = &mut ends;
            let none = std::ptr::null_mut();
            let made = libc::openpty(screen, program, none, none.cast(), &raw mut size);
            assert_eq!(made, 0, "no terminal can be made");
            libc::fcntl(ends[0], libc::F_SETFL, libc::O_NONBLOCK);
            ends.map(|end| File::from_raw_fd(end))
        };
        Terminal {
            screen,
            program,
            seen: String::new(),
        }
    }

    fn start(&self, command: &mut Command) -> Child {
        let end = || Stdio::from(self.program.try_clone().unwrap());
        command
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap()
    }

    /// Takes what was written so far.
    fn look(&mut self) -> &str {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = self.screen.read(&mut bytes) {
            self.seen += &String::from_utf8_lossy(&bytes[..n]);
        }
        &self.seen
    }

    /// Waits for the end of the program.
    fn end(&mut self, child: &mut Child) -> i32 {
        let began = Instant::now();
        loop {
            self.look();
            if let Some(status) = child.try_wait().unwrap() {
                self.look();
                return status.code().unwrap_or(-1);
            }
            assert!(began.elapsed() < PATIENCE, "it does not end: {}", self.seen);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ctrl-C: the terminal writes `^C` where its cursor is, and the program gets SIGINT.
    fn interrupt(&mut self, child: &Child) {
        self.screen.write_all(b"\x03").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        // SAFETY: a plain system call; the child has not been waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    }

    /// The lines that are on the screen in the end, as long as it is.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        let (mut row, mut column) = (0, 0);
        let mut rest = self.seen.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\r' => column = 0,
                '\n' => row += 1,
                '\u{1b}' => {
                    let mut number = String::new();
                    assert_eq!(rest.next(), Some('['));
                    let way = loop {
                        match rest.next().expect("an escape sequence ends") {
                            c if c.is_ascii_alphabetic() => break c,
                            c => number.push(c),
                        }
                    };
                    let n: usize = number.parse().unwrap_or(1);
                    match way {
                        'A' => row -= n.min(row),
                        'B' => row += n,
                        'C' => column += n,
                        'D' => column -= n.min(column),
                        'K' => lines[row].clear(),
                        _ => {}
                    }
                }
                c => {
                    if column == COLUMNS {
                        (row, column) = (row + 1, 0);
                    }
                    while lines.len() <= row {
                        lines.push(String::new());
                    }
                    let mut line: Vec<char> = lines[row].chars().collect();
                    line.resize(line.len().max(column + 1), ' ');
                    line[column] = c;
                    lines[row] = line.into_iter().collect();
                    column += 1;
                }
            }
            while lines.len() <= row {
                lines.push(String::new());
            }
        }
        lines.into_iter().map(|l| l.trim_end().to_owned()).collect()
    }
}

#[test]
fn a_bar_leaves_nothing_behind_after_ctrl_c_and_the_hint_can_be_pasted() {
    let place = Place::new();
    std::fs::write(place.path("rows and columns.toml"), SUITE).unwrap();
    let mut terminal = Terminal::new();
    let run = ["bench", "run", "rows and columns.toml"];
    let mut child = terminal.start(&mut place.command(&run));
    let began = Instant::now();
    while !terminal.look().contains("engine ours") {
        assert!(began.elapsed() < PATIENCE, "no bar: {}", terminal.seen);
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.interrupt(&child);
    assert_eq!(terminal.end(&mut child), 130);
    let lines = terminal.lines();
    assert!(terminal.seen.contains("^C"), "the keys were seen");
    let left = lines.iter().filter(|l| !l.is_empty());
    let left: Vec<&String> = left.collect();
    let program = place.path("bin/hpsqlite");
    let again = format!("{} bench run 'rows and columns.toml'", program.display());
    // The line may be longer than the terminal is wide, which is the terminal's to wrap.
    let all = lines.concat();
    assert!(left[0].starts_with("What was measured is in "), "{left:?}");
    assert!(all.contains(&again), "{all}");
    assert_eq!(left.last().unwrap().as_str(), "hpsqlite: interrupted");
    assert!(!all.contains("5000") && !all.contains('░'), "{left:?}");
}

#[test]
fn sentences_wrap_at_words() {
    let place = Place::new();
    let mut terminal = Terminal::new();
    let mut child = terminal.start(&mut place.command(&["bench", "list", "tpch"]));
    assert_eq!(terminal.end(&mut child), 0);
    let narrow = terminal.lines();
    assert!(narrow.len() > 4, "{narrow:?}");
    assert!(narrow.iter().all(|l| l.chars().count() <= COLUMNS));
    // A pipe has each sentence whole; no word is cut, none is lost.
    let piped = place.run(&["bench", "list", "tpch"]).expect(0).out;
    assert!(piped.lines().any(|l| l.chars().count() > COLUMNS));
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    assert_eq!(words(&narrow.join(" ")), words(&piped));
}

#[test]
fn bold_letters_are_only_for_terminals_and_people_who_want_them() {
    let place = Place::new();
    let list = ["bench", "list", "tpch"];
    let seen = |variable: Option<(&str, &str)>| {
        let mut terminal = Terminal::new();
        let mut command = place.command(&list);
        let mut child = match variable {
            // After what every command on a terminal gets.
            Some((name, value)) => {
                let end = || Stdio::from(terminal.program.try_clone().unwrap());
                let command = command.env("TERM", "xterm").env_remove("NO_COLOR");
                command
                    .env(name, value)
                    .stdout(end())
                    .stderr(end())
                    .spawn()
                    .unwrap()
            }
            None => terminal.start(&mut command),
        };
        terminal.end(&mut child);
        terminal.seen.contains('\u{1b}')
    };
    assert!(seen(None), "a title is bold");
    assert!(!seen(Some(("NO_COLOR", "1"))));
    assert!(!seen(Some(("TERM", "dumb"))));
    assert!(!place.run(&list).expect(0).out.contains('\u{1b}'), "a pipe");
}

/// The screen that the tests above look at is that of a terminal.
#[test]
fn the_screen_of_these_tests_wraps_and_clears_as_a_terminal_does() {
    let mut terminal = Terminal::new();
    assert!(terminal.screen.as_raw_fd() > 2);
    let bar = "#".repeat(COLUMNS);
    terminal.seen = format!("{bar}^C\r\u{1b}[2Kend");
    assert_eq!(terminal.lines(), [bar, "end".to_owned()]);
    terminal.seen = "###^C\r\u{1b}[2Kend".to_owned();
    assert_eq!(terminal.lines(), ["end"]);
}
