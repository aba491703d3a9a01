//! What becomes of a file that an option names: regular files are replaced whole, whatever else is
//! there is written to and stays, and a failure is told.

mod common;

use std::ffi::CString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Done, Place, skipped};

const SUITE: &str = r#"
title = "One library"
kind = "sql"
trials = 2
[options]
setup = "CREATE TABLE t(a)"
[axes]
engine = "stock"
[[step]]
name = "count"
sql = "SELECT count(*) FROM t"
[[chart]]
title = "Counting"
x = "step"
series = "engine"
"#;

/// Every command with an option that names a file, the option last, and what such a file begins with.
const COMMANDS: [(&str, &str); 13] = [
    ("compare t.db --runs 5 SELECT@1 --json", "{"),
    ("compare t.db --runs 5 SELECT@1 --html", "<!doctype html>"),
    ("viz t.db --json", "{"),
    ("viz t.db --html", "<!doctype html>"),
    ("viz t.db --svg", "<svg"),
    ("viz t.db --png", "\u{fffd}PNG"),
    ("bench report tmp/r.db --json", "{"),
    ("bench report tmp/r.db --html", "<!doctype html>"),
    ("bench report tmp/r.db --csv", "engine,"),
    ("bench report tmp/r.db --summary-csv", "chart,"),
    ("bench run tmp/s.toml --results tmp/r.db --json", "{"),
    ("bench document tmp/r.db --into", "#"),
    ("kvtest run k.db --count 5 --json", "{"),
];

/// A place with what the commands read.
fn place() -> Place {
    let place = Place::new();
    place.database("t.db");
    std::fs::write(place.path("tmp/s.toml"), SUITE).unwrap();
    run(&place, "bench run tmp/s.toml --results tmp/r.db").expect(0);
    run(&place, "kvtest init k.db --count 10 --size 100").expect(0);
    place
}

fn words(line: &str) -> Vec<String> {
    // A space in an argument.
    line.split(' ').map(|word| word.replace('@', " ")).collect()
}

fn command(place: &Place, line: &str) -> Command {
    let words = words(line);
    place.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn run(place: &Place, line: &str) -> Done {
    Done::of(&command(place, line).output().unwrap())
}

fn begins_with(content: &[u8], beginning: &str, what: &str) {
    let content = String::from_utf8_lossy(content);
    let shown: String = content.chars().take(80).collect();
    assert!(
        content.trim_start().starts_with(beginning),
        "{what}: {shown:?}"
    );
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// A device node; none where that may not be made or opened.
fn device(place: &Place, name: &str, kind: libc::mode_t, numbers: (u32, u32)) -> bool {
    let path = place.path(name);
    let number = libc::makedev(numbers.0, numbers.1);
    // SAFETY: a plain system call with a name that ends with a NUL.
    let made = unsafe { libc::mknod(c_string(&path).as_ptr(), kind | 0o666, number) } == 0;
    if !made {
        skipped("only root makes device nodes");
        return false;
    }
    let opens =
        kind == libc::S_IFBLK || std::fs::OpenOptions::new().write(true).open(&path).is_ok();
    if !opens {
        skipped("device nodes cannot be opened on this file system");
    }
    opens
}

fn fifo(place: &Place, name: &str) {
    // SAFETY: a plain system call with a name that ends with a NUL.
    let made = unsafe { libc::mkfifo(c_string(&place.path(name)).as_ptr(), 0o600) };
    assert_eq!(made, 0);
}

#[test]
fn the_target_of_a_link_is_replaced_whole_and_the_link_stays() {
    let place = place();
    std::fs::create_dir(place.path("kept")).unwrap();
    let target = place.path("kept/old");
    symlink("kept/old", place.path("link")).unwrap();
    for (line, beginning) in COMMANDS {
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
        let before = target.metadata().unwrap().ino();
        run(&place, &format!("{line} link")).expect(0);
        assert_eq!(
            place.path("link").read_link().unwrap(),
            Path::new("kept/old"),
            "{line}"
        );
        begins_with(&std::fs::read(&target).unwrap(), beginning, line);
        let meta = target.metadata().unwrap();
        assert_ne!(meta.ino(), before, "{line}: written in place");
        assert_eq!(meta.mode() & 0o7777, 0o640, "{line}");
        assert_eq!(place.list("kept"), ["old"], "{line}");
    }
}

#[test]
fn a_link_to_nothing_makes_its_target() {
    let place = place();
    std::fs::create_dir(place.path("kept")).unwrap();
    symlink("second", place.path("first")).unwrap();
    symlink(place.path("kept/new"), place.path("second")).unwrap();
    run(&place, "viz t.db --json first").expect(0);
    begins_with(&std::fs::read(place.path("kept/new")).unwrap(), "{", "new");
    assert!(place.path("first").is_symlink() && place.path("second").is_symlink());
    symlink("no/where", place.path("third")).unwrap();
    run(&place, "viz t.db --json third")
        .expect(2)
        .says("hpsqlite: cannot write third: No such file or directory");
    symlink("circle", place.path("circle")).unwrap();
    run(&place, "viz t.db --json circle")
        .expect(2)
        .says("hpsqlite: cannot write circle: Too many levels of symbolic links");
}

#[test]
fn a_fifo_is_written_to() {
    let place = place();
    fifo(&place, "fifo");
    for (line, beginning) in COMMANDS {
        let fifo = place.path("fifo");
        let reader = std::thread::spawn(move || std::fs::read(fifo).unwrap());
        run(&place, &format!("{line} fifo")).expect(0);
        begins_with(&reader.join().unwrap(), beginning, line);
        let kind = place.path("fifo").symlink_metadata().unwrap().file_type();
        assert!(kind.is_fifo(), "{line}");
    }
}

#[test]
fn a_fifo_without_a_reader_can_be_given_up() {
    let place = place();
    fifo(&place, "fifo");
    let mut child = command(&place, "viz t.db --json fifo")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It looks for a reader again and again; when the signal comes does not matter.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it waits for a reader");
    // SAFETY: a plain system call; the child has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    Done::of(&child.wait_with_output().unwrap()).expect(130);
}

#[test]
fn a_device_is_written_to_and_stays() {
    let place = place();
    if !device(&place, "null", libc::S_IFCHR, (1, 3))
        || !device(&place, "full", libc::S_IFCHR, (1, 7))
    {
        return;
    }
    symlink("full", place.path("link")).unwrap();
    for (line, _) in COMMANDS {
        run(&place, &format!("{line} null")).expect(0);
        run(&place, &format!("{line} full"))
            .expect(2)
            .says("hpsqlite: cannot write full: No space left on device (os error 28)\n");
    }
    run(&place, "viz t.db --json link")
        .expect(2)
        .says("hpsqlite: cannot write link: No space left on device (os error 28)\n");
    assert!(place.path("link").is_symlink());
    for name in ["null", "full"] {
        let kind = place.path(name).symlink_metadata().unwrap().file_type();
        assert!(kind.is_char_device(), "{name}");
    }
}

#[test]
fn what_cannot_be_written_to_is_told() {
    let place = place();
    let says = |file: &str, why: &str| {
        run(&place, &format!("viz t.db --json {file}")).fails_with(why);
    };
    says("lib", "lib is a folder");
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    says("socket", "socket is a socket and cannot be written to");
    says("t.db", "t.db is the database; it is not overwritten");
    symlink("t.db", place.path("link")).unwrap();
    says("link", "link is the database; it is not overwritten");
    // A disk that is not there: nothing is harmed if it is opened.
    if device(&place, "disk", libc::S_IFBLK, (7, 250)) {
        says("disk", "disk is a disk; it is not overwritten");
    }
    // SAFETY: only returns a number.
    if unsafe { libc::getuid() } == 0 {
        return skipped("root may write to every file");
    }
    std::fs::write(place.path("mine"), "mine").unwrap();
    std::fs::set_permissions(place.path("mine"), PermissionsExt::from_mode(0o444)).unwrap();
    says("mine", "cannot write mine: Permission denied (os error 13)");
    assert_eq!(place.text("mine"), "mine");
}

#[test]
fn a_dash_is_standard_output_and_holds_nothing_else() {
    let place = place();
    for (line, beginning) in COMMANDS {
        let output = command(&place, &format!("{line} -")).output().unwrap();
        let done = Done::of(&output).expect(0);
        begins_with(&output.stdout, beginning, line);
        assert!(!place.path("-").exists(), "{line}");
        if beginning == "{" {
            serde_json::from_slice::<serde_json::Value>(&output.stdout)
                .unwrap_or_else(|e| panic!("{line}: {e}: {}", done.out));
        }
    }
    run(&place, "viz t.db --json - --svg -").fails_with("standard output can be one file only");
    let template = run(&place, "bench init -").expect(0).out;
    assert!(template.contains("[[step]]"), "{template}");
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let done = command(&place, "viz t.db --svg -")
        .stdout(full)
        .output()
        .unwrap();
    Done::of(&done).fails_with("cannot write -: No space left on device (os error 28)");
}

#[test]
fn what_the_shell_opened_is_written_where_it_stands() {
    let place = place();
    let out = |line: &str| {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).open(place.path("out")).unwrap();
        Done::of(&command(&place, line).stdout(file).output().unwrap()).expect(0);
    };
    std::fs::write(place.path("out"), "before\n").unwrap();
    out("viz t.db --svg /dev/stdout");
    out("viz t.db --svg /proc/self/fd/1");
    let text = place.text("out");
    assert!(text.starts_with("before\n<svg"), "{text}");
    assert_eq!(text.matches("</svg>").count(), 2);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let place = place();
    let mut child = command(&place, "viz t.db --json -")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut one = [0];
    child.stdout.take().unwrap().read_exact(&mut one).unwrap();
    Done::of(&child.wait_with_output().unwrap()).expect(0);
}

#[test]
fn a_database_is_a_regular_file() {
    let place = place();
    fifo(&place, "fifo");
    std::fs::write(place.path("old.db"), "old").unwrap();
    std::fs::set_permissions(place.path("old.db"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("old.db", place.path("link")).unwrap();
    for line in [
        "data h2o --rows 10 --groups 2 --force",
        "kvtest init --count 2 --force",
    ] {
        run(&place, &format!("{line} fifo")).fails_with("fifo is not a regular file");
        run(&place, &format!("{line} link")).expect(0);
        assert!(place.path("link").is_symlink(), "{line}");
        let content = std::fs::read(place.path("old.db")).unwrap();
        begins_with(&content, "SQLite format 3", line);
        let mode = place.path("old.db").metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, 0o600, "{line}");
    }
}
