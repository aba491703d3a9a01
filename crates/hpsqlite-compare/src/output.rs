//! What the tool writes: files, and tables on the terminal.
//!
//! A name that is given for a file may stand for anything. What is done with it depends on what it
//! leads to, links followed:
//!
//! ```text
//! nothing, a regular file     replaced whole, by a rename: WholeFile
//! FIFO, character device      opened and written to
//! -, /dev/stdout              standard output; tables for people go to standard error then
//! /dev/fd/N                   what the shell opened there
//! folder, socket, disk        an error
//! ```

use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle, TermLike};
use tempfile::NamedTempFile;

use crate::{interrupt, text};

/// The name that stands for standard output.
pub const STDOUT: &str = "-";
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;
/// How often it is looked whether a FIFO has a reader.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether what is on standard output is one of the files that were asked for.
static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// A file to be written at the end of a long run: that it can be written is known at the start,
/// and whatever stops the run leaves the old one as it was.
pub struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Whole(Box<WholeFile>),
    Stream(File),
    Stdout,
}

impl OutputFile {
    /// Begins to write a file, if one is asked for; it must be none of the databases, nor a file that
    /// SQLite keeps beside one: in a log there are transactions.
    pub fn begin<'a>(
        path: Option<&Path>,
        databases: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Option<OutputFile>> {
        let Some(path) = path else { return Ok(None) };
        let target = OutputTarget::of(path)?;
        if let OutputTarget::Whole(place) = &target {
            for database in databases {
                belongs_to(database, path, place)?;
            }
        }
        let cannot = || format!("cannot write {}", path.display());
        let sink = match target {
            OutputTarget::Whole(place) => {
                Sink::Whole(Box::new(WholeFile::at(place).with_context(cannot)?))
            }
            OutputTarget::Stream(place) => Sink::Stream(open_stream(&place).with_context(cannot)?),
            OutputTarget::Descriptor(libc::STDOUT_FILENO) => {
                if STDOUT_TAKEN.swap(true, Ordering::Relaxed) {
                    bail!("standard output can be one file only");
                }
                Sink::Stdout
            }
            OutputTarget::Descriptor(number) => {
                Sink::Stream(duplicate(number).with_context(cannot)?)
            }
        };
        Ok(Some(OutputFile {
            path: path.to_owned(),
            sink,
        }))
    }

    /// Puts the file in its place.
    pub fn end(self, content: impl AsRef<[u8]>) -> Result<()> {
        self.end_with(|out| out.write_all(content.as_ref()))
    }

    /// Puts the file in its place with what is written to it now.
    pub fn end_with(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let through = |out: &mut dyn Write| {
            let mut out = BufWriter::new(out);
            write(&mut out).and_then(|()| out.flush())
        };
        match self.sink {
            Sink::Whole(file) => through(&mut file.file()).and_then(|()| file.replace()),
            Sink::Stream(mut file) => through(&mut file),
            Sink::Stdout => unless_unread(through(&mut io::stdout().lock())),
        }
        .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// A regular file that is written beside its place and put there when it is whole, with the rights
/// of the one that it replaces.
pub struct WholeFile {
    place: PathBuf,
    temporary: NamedTempFile,
    old: Option<Metadata>,
}

impl WholeFile {
    /// Begins a file that must be a regular one, as a database must.
    pub fn begin(path: &Path) -> Result<WholeFile> {
        match OutputTarget::of(path)? {
            OutputTarget::Whole(place) => {
                let folder = folder_of(path).display().to_string();
                WholeFile::at(place).with_context(|| format!("cannot write in {folder}"))
            }
            _ => bail!("{} is not a regular file", path.display()),
        }
    }

    fn at(place: PathBuf) -> io::Result<WholeFile> {
        let old = match place.metadata() {
            Ok(old) => {
                // Who may not write to it may not replace it either, though the folder allows it.
                File::options().write(true).open(&place)?;
                Some(old)
            }
            Err(_) => None,
        };
        let temporary = tempfile::Builder::new()
            .prefix(".hpsqlite-")
            .suffix(".tmp")
            .tempfile_in(folder_of(&place))?;
        Ok(WholeFile {
            place,
            temporary,
            old,
        })
    }

    /// Where it is until it is whole.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Puts it in its place.
    pub fn replace(self) -> io::Result<()> {
        match &self.old {
            None => set_ordinary_mode(self.path())?,
            Some(old) => {
                // Only root may give a file away; whose it is else is whoever writes it.
                let is_same = fchown(self.file(), Some(old.uid()), Some(old.gid())).is_ok();
                let kept = if is_same { 0o777 } else { 0o707 };
                let mode = Permissions::from_mode(old.mode() & kept);
                self.file().set_permissions(mode)?;
            }
        }
        self.temporary.persist(&self.place).map_err(|e| e.error)?;
        Ok(())
    }
}

/// What the name of a file leads to.
enum OutputTarget {
    /// A regular file, or nothing yet; the name is without links.
    Whole(PathBuf),
    /// A FIFO or a device, by the name that was given.
    Stream(PathBuf),
    /// A file that this process has open.
    Descriptor(RawFd),
}

impl OutputTarget {
    fn of(path: &Path) -> Result<OutputTarget> {
        if path == Path::new(STDOUT) {
            return Ok(OutputTarget::Descriptor(libc::STDOUT_FILENO));
        }
        let cannot = || format!("cannot write {}", path.display());
        let mut place = path.to_owned();
        for _ in 0..MAX_LINKS {
            if let Some(number) = descriptor(&place) {
                return Ok(OutputTarget::Descriptor(number));
            }
            match place.read_link() {
                Ok(link) => place = folder_of(&place).join(link),
                Err(_) => break,
            }
        }
        let meta = match path.metadata() {
            Ok(meta) => meta,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(OutputTarget::Whole(place)),
            Err(e) => return Err(e).with_context(cannot),
        };
        let kind = meta.file_type();
        if kind.is_dir() {
            bail!("{} is a folder", path.display());
        } else if kind.is_block_device() {
            bail!("{} is a disk; it is not overwritten", path.display());
        } else if kind.is_socket() {
            bail!("{} is a socket and cannot be written to", path.display());
        } else if kind.is_file() {
            Ok(OutputTarget::Whole(place))
        } else {
            Ok(OutputTarget::Stream(path.to_owned()))
        }
    }
}

/// The number of the descriptor that a name in `/proc/self/fd` stands for.
fn descriptor(path: &Path) -> Option<RawFd> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let own = Path::new("/proc/self/fd").canonicalize().ok()?;
    (folder_of(path).canonicalize().ok()? == own).then_some(number)
}

/// Another descriptor of the same open file, with its position: a new one would begin at its start.
fn duplicate(number: RawFd) -> io::Result<File> {
    // SAFETY: only asks for flags; a number that is not open is an error.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and whoever gave us the number keeps it so.
    let given = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(given.try_clone_to_owned()?.into())
}

/// Opens a FIFO, when it has a reader, or a device.
fn open_stream(path: &Path) -> Result<File> {
    let options = || {
        let mut options = File::options();
        options.write(true).custom_flags(libc::O_NOCTTY);
        options
    };
    if !path.metadata()?.file_type().is_fifo() {
        return Ok(options().open(path)?);
    }
    // Opening a FIFO waits for a reader, and Ctrl-C would not end that.
    loop {
        let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
        match options().custom_flags(flags).open(path) {
            // The reader stays: there is a writer now. This one waits where the FIFO is full.
            Ok(_first) => return Ok(options().open(path)?),
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => interrupt::check()?,
            Err(e) => return Err(e.into()),
        }
        std::thread::sleep(PAUSE);
    }
}

/// An error if the file at `place` is the database or belongs to it.
fn belongs_to(database: &Path, path: &Path, place: &Path) -> Result<()> {
    let (Some(a), Ok(b)) = (without_links(place), database.canonicalize()) else {
        return Ok(());
    };
    if a == b {
        bail!("{} is the database; it is not overwritten", path.display());
    }
    for suffix in ["-wal", "-shm", "-journal"] {
        let of = |database: &Path| {
            let mut name = database.as_os_str().to_owned();
            name.push(suffix);
            without_links(Path::new(&name))
        };
        if Some(&a) == of(&b).as_ref() || Some(&a) == of(database).as_ref() {
            bail!(
                "{} belongs to the database; it is not overwritten",
                path.display()
            );
        }
    }
    Ok(())
}

/// Where a path leads, without links; a file that is not there yet goes into its folder.
fn without_links(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Gives a temporary file, which only its owner may read, the rights of any new file.
fn set_ordinary_mode(path: &Path) -> io::Result<()> {
    set_mode(path, 0o666)
}

/// The same for a temporary folder.
pub fn set_ordinary_folder_mode(path: &Path) -> io::Result<()> {
    set_mode(path, 0o777)
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    // SAFETY: umask only returns and sets the process's mask; it is put back at once.
    let mask = unsafe {
        let mask = libc::umask(0o022);
        libc::umask(mask);
        mask
    };
    std::fs::set_permissions(path, Permissions::from_mode(mode & !mask))
}

/// Where tables are printed.
pub type Terminal = Box<dyn Write>;

/// Standard output; standard error where the other is one of the files that were asked for.
pub fn terminal() -> Terminal {
    match STDOUT_TAKEN.load(Ordering::Relaxed) {
        true => Box::new(io::stderr().lock()),
        false => Box::new(io::stdout().lock()),
    }
}

/// What is known of the place where tables and sentences are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Screen {
    /// None: a file or a pipe, whose reader breaks lines as it likes.
    columns: Option<usize>,
    has_colours: bool,
}

/// The screen of this process, once something is printed for a person. Until then, and in tests,
/// there is none.
static SCREEN: OnceLock<Screen> = OnceLock::new();

/// Sentences are hard to follow in longer lines.
const MOST_COLUMNS: usize = 100;
const FEWEST_COLUMNS: usize = 20;

impl Screen {
    fn ask() -> Screen {
        let variable = |name: &str| std::env::var(name).ok();
        let is_terminal = match STDOUT_TAKEN.load(Ordering::Relaxed) {
            true => io::stderr().is_terminal(),
            false => io::stdout().is_terminal(),
        };
        Screen {
            columns: columns(
                variable("COLUMNS").as_deref(),
                is_terminal
                    .then(|| comfy_table::Table::new().width())
                    .flatten(),
            ),
            has_colours: wants_colours(
                is_terminal,
                variable("NO_COLOR").as_deref(),
                variable("TERM").as_deref(),
            ),
        }
    }
}

/// How wide sentences are: as the terminal is, or as COLUMNS says.
fn columns(variable: Option<&str>, terminal: Option<u16>) -> Option<usize> {
    let told = variable.and_then(|text| text.trim().parse().ok());
    let columns = terminal.map(usize::from).or(told)?;
    Some(columns.clamp(FEWEST_COLUMNS, MOST_COLUMNS))
}

/// Colour and bold letters are for terminals that can show them, and for people who want them.
fn wants_colours(is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> bool {
    let refused = no_color.is_some_and(|value| !value.is_empty());
    is_terminal && !refused && !matches!(term, None | Some("dumb"))
}

/// What stands out of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The title of a table, the verdict.
    Bold,
    /// What is wrong: answers that differ, results that got worse.
    Wrong,
}

/// A line of a report that stands out where the terminal can show it.
pub fn inked(ink: Ink, line: &str) -> String {
    painted(ink, line, SCREEN.get().is_some_and(|s| s.has_colours))
}

fn painted(ink: Ink, line: &str, has_colours: bool) -> String {
    let code = match ink {
        Ink::Bold => "1",
        Ink::Wrong => "1;31",
    };
    match has_colours && !line.is_empty() {
        true => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
        false => line.to_owned(),
    }
}

/// A sentence as lines that fit the terminal, each with `indent` spaces before it.
pub fn paragraph(indent: usize, sentence: &str) -> Vec<String> {
    match width_of_reports() {
        Some(columns) => text::wrap(sentence, indent, columns),
        None => vec![format!("{}{sentence}", " ".repeat(indent))],
    }
}

/// Writes a sentence in lines that fit the terminal, each with `indent` spaces before it.
pub fn write_paragraph(out: &mut impl Write, indent: usize, sentence: &str) -> io::Result<()> {
    let lines = paragraph(indent, sentence);
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The same, so that it stands out.
pub fn write_inked(out: &mut impl Write, ink: Ink, sentence: &str) -> io::Result<()> {
    let lines = paragraph(0, sentence);
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{}", inked(ink, line)))
}

/// How wide a line of a report may be; none where it is not for a terminal.
pub fn width_of_reports() -> Option<usize> {
    SCREEN.get().and_then(|s| s.columns)
}

/// How many characters a line of the terminal has; none where standard output is none.
pub fn columns_of_terminal() -> Option<usize> {
    let width = || comfy_table::Table::new().width().map(usize::from);
    io::stdout().is_terminal().then(width).flatten()
}

/// Prints on the terminal; a reader that has seen enough is no error.
pub fn to_terminal(print: impl FnOnce(&mut Terminal) -> io::Result<()>) -> io::Result<()> {
    SCREEN.get_or_init(Screen::ask);
    unless_unread(print(&mut terminal()))
}

/// A reader of standard output that has seen enough is no error.
fn unless_unread(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A table without lines, as wide as the terminal at most.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// Prints a table without white space at the ends of lines.
pub fn print_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A bar that goes when it is done.
pub fn bar(template: &str) -> Result<ProgressBar> {
    Ok(progress(0)
        .with_style(ProgressStyle::with_template(template)?.progress_chars("=> "))
        .with_finish(ProgressFinish::AndClear))
}

/// A progress bar on standard error; hidden where that is no terminal that can move its cursor.
pub fn progress(length: u64) -> ProgressBar {
    let can_move = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|t| t != "dumb");
    let target = match can_move {
        true => ProgressDrawTarget::term_like_with_hz(Box::new(BarScreen), REDRAWN),
        false => ProgressDrawTarget::hidden(),
    };
    ProgressBar::with_draw_target(Some(length), target)
}

/// How often a bar is drawn at most, each second.
const REDRAWN: u8 = 20;
/// Columns to the right of a bar that stay free.
///
/// The terminal writes `^C` where the cursor is when the keys are pressed. Behind a bar as wide as
/// the terminal that is the next line: the cursor goes there, and the bar is not found to be cleared.
const MARGIN: u16 = 4;

/// Standard error, a little narrower than it is.
#[derive(Debug)]
struct BarScreen;

impl BarScreen {
    fn put(words: std::fmt::Arguments<'_>) -> io::Result<()> {
        io::stderr().write_fmt(words)
    }

    /// Moves the cursor; 0 would move it by 1.
    fn go(n: usize, way: char) -> io::Result<()> {
        match n {
            0 => Ok(()),
            _ => BarScreen::put(format_args!("\u{1b}[{n}{way}")),
        }
    }
}

impl TermLike for BarScreen {
    fn width(&self) -> u16 {
        columns_of_stderr().saturating_sub(MARGIN).max(1)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        BarScreen::go(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        BarScreen::go(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        BarScreen::go(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        BarScreen::go(n, 'D')
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        BarScreen::put(format_args!("{s}\n"))
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        BarScreen::put(format_args!("{s}"))
    }

    fn clear_line(&self) -> io::Result<()> {
        BarScreen::put(format_args!("\r\u{1b}[2K"))
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// How wide the terminal on standard error is; 80 where it does not say.
fn columns_of_stderr() -> u16 {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the call only fills in `size`, which lives on; its result is checked.
    let asked = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    match (asked, size.ws_col) {
        (0, columns @ 1..) => columns,
        _ => 80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_can_and_people_who_want_them() {
        let xterm = Some("xterm-256color");
        assert!(wants_colours(true, None, xterm));
        assert!(
            wants_colours(true, Some(""), xterm),
            "an empty NO_COLOR is none"
        );
        assert!(!wants_colours(false, None, xterm), "a pipe");
        assert!(!wants_colours(true, Some("1"), xterm), "NO_COLOR");
        assert!(!wants_colours(true, None, Some("dumb")), "TERM=dumb");
        assert!(!wants_colours(true, None, None), "no TERM");
        assert_eq!(painted(Ink::Bold, "x", false), "x");
        assert_eq!(painted(Ink::Wrong, "x", true), "\u{1b}[1;31mx\u{1b}[0m");
    }

    #[test]
    fn a_pipe_gets_whole_sentences_and_a_terminal_its_own_width() {
        assert_eq!(columns(None, None), None);
        assert_eq!(columns(None, Some(80)), Some(80));
        assert_eq!(columns(Some("60"), None), Some(60));
        assert_eq!(columns(Some("wide"), None), None);
        assert_eq!(columns(None, Some(300)), Some(MOST_COLUMNS));
        assert_eq!(columns(None, Some(1)), Some(FEWEST_COLUMNS));
    }
}
