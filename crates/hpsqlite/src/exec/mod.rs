//! `hpsqlite exec`: any program on our library, and the truth about whether it was.
//!
//! ```text
//! reach   before: which SQLite will the program get?        ─┐
//! run     starts it and waits for its end                    ├─> what is told
//! loaded  what it, and what it started, have really loaded  ─┘
//! ```
//!
//! The library is put before the system's by `LD_LIBRARY_PATH`, and only where
//! a program insists on a folder of its own (an RPATH) by `LD_PRELOAD`, which
//! would also reach programs that carry a copy under the same names. What will
//! happen is not guessed: the program's own dynamic linker is asked which file
//! it would load. What is loaded later, such as an interpreter's modules, shows
//! only while the program runs.

pub mod command;
mod loaded;
mod run;

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use memchr::memmem;
use object::read::elf::{FileHeader, ProgramHeader};

use crate::sys::Library;
use crate::text;
use loaded::{ProgramWatch, has_sqlite};

/// Exit statuses of shells for a command that is not there or cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Exit status of `--check` for a program that does not come to run on our library.
const UNREACHED: u8 = 1;
/// What shells add to the number of a signal that ended a program.
const BY_SIGNAL: u8 = 128;

const SONAME: &str = "libsqlite3.so.0";
/// A script's interpreter may be a script; nobody nests deeper.
const MAX_SCRIPTS: usize = 4;

/// How a program relates to our library.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    /// It links `libsqlite3.so.0` and gets ours.
    Linked,
    /// It links none, but may load a module later that does.
    Later,
    /// It is the shell beside this tool, with our SQLite inside.
    OurShell,
    /// It is SQLite's shell, compiled with the header of another version, and gets this library if we
    /// let it alone.
    OtherShell(PathBuf),
    /// It, or this library of its own, has SQLite inside.
    Own(PathBuf),
    Static,
    /// It runs with other rights than ours, so the linker ignores our wish.
    Elevated,
    /// It loads this file in spite of all.
    Elsewhere(PathBuf),
    /// Not a program of this system.
    Unknown,
}

impl Reach {
    /// Whether it gets our library, if it uses SQLite at all.
    fn is_reached(&self) -> bool {
        matches!(self, Reach::Linked | Reach::Later | Reach::OurShell)
    }

    /// What is told before the program runs.
    fn tell(&self, program: &str, library: &str) -> String {
        match self {
            Reach::Linked => format!("{program} runs on {library}"),
            Reach::Later => format!(
                "{program} links no SQLite; if it, or a program it starts, loads the system's \
                 {SONAME} later, that is {library}; a copy of SQLite of its own stays as it is"
            ),
            Reach::OurShell => format!("{program} has High Performance SQLite inside"),
            Reach::OtherShell(_) => format!(
                "{program} is SQLite's shell, which refuses every library but that of its own version, and \
                 cannot be reached; {}",
                match crate::shell::program() {
                    Ok(shell) => format!("ours is {}", shell.display()),
                    Err(_) => "`make` builds one that is ours".to_owned(),
                }
            ),
            Reach::Own(_) => format!("{program} carries its own SQLite and cannot be reached"),
            Reach::Static => format!("{program} is statically linked and cannot be reached"),
            Reach::Elevated => format!(
                "{program} runs with the rights of another user or with capabilities and cannot be reached"
            ),
            Reach::Elsewhere(path) => {
                format!(
                    "{program} insists on {} and cannot be reached",
                    path.display()
                )
            }
            Reach::Unknown => format!("{program} is no ELF program and cannot be reached"),
        }
    }
}

/// What is asked for.
pub struct ExecOptions<'a> {
    /// The library to run on.
    pub library: &'a Path,
    /// Whether that is High Performance SQLite.
    pub ours: bool,
    /// Only to say what would happen.
    pub check: bool,
    /// Whether to tell what is as it should be, ...
    pub verbose: bool,
    /// ... or nothing at all.
    pub quiet: bool,
}

/// Runs `command`; its exit status is ours then.
pub fn exec(options: &ExecOptions<'_>, command: &[OsString]) -> Result<u8> {
    let library = options.library;
    let (name, arguments) = command.split_first().context("no command")?;
    let program = match find(Path::new(name)) {
        Ok(program) => program,
        Err((status, why)) => {
            eprintln!("hpsqlite: {}: {why}", Path::new(name).display());
            return Ok(status);
        }
    };
    let folder = folder_of(library)?;
    let image = interpreter_of(&program)?;
    let mut environment = LinkerEnvironment {
        path: prepend("LD_LIBRARY_PATH", folder.as_os_str().as_bytes()),
        preload: None,
    };
    let mut reach = reach(&image, library, &environment)?;
    if matches!(reach, Reach::Elsewhere(_)) {
        environment.preload = Some(prepend(
            "LD_PRELOAD",
            folder.join(SONAME).as_os_str().as_bytes(),
        ));
        reach = self::reach(&image, library, &environment)?;
    }

    let shown = match options.ours {
        true => format!("High Performance SQLite ({})", library.display()),
        false => library.display().to_string(),
    };
    let named = match image == program {
        true => program.display().to_string(),
        false => format!("{} (run by {})", program.display(), image.display()),
    };
    if options.check || options.verbose || (!reach.is_reached() && !options.quiet) {
        eprintln!("hpsqlite: {}", reach.tell(&named, &shown));
    }
    if options.check {
        return Ok(if reach.is_reached() { 0 } else { UNREACHED });
    }
    let mut process = Command::new(&program);
    process.arg0(name).args(arguments);
    if !matches!(reach, Reach::OtherShell(_)) {
        environment.set(&mut process);
    }
    let cannot = |e| anyhow!("cannot run {}: {e}", program.display());
    if options.quiet {
        return Err(cannot(process.exec()));
    }
    let mut watch = ProgramWatch::new()?;
    let linker = match linker_of(&std::fs::read(&image)?) {
        Linkage::Dynamic(linker) => Some(linker),
        // What it starts may have one, most likely ours.
        _ => std::fs::read("/proc/self/exe")
            .ok()
            .and_then(|own| linker_of(&own).path()),
    };
    watch.set(&mut process, linker.as_deref());
    let status = run::run(&mut process, &mut watch).map_err(cannot)?;
    let told = match &reach {
        Reach::Own(path) | Reach::Elsewhere(path) | Reach::OtherShell(path) => Some(path.as_path()),
        _ => None,
    };
    tell(watch, options, &shown, told);
    if let Some(signal) = status.signal() {
        run::end_by(signal);
        return Ok(BY_SIGNAL.wrapping_add(signal as u8));
    }
    Ok(status.code().unwrap_or_default() as u8)
}

/// Tells what was loaded that is not ours, but for what was told at the beginning; and of ours, if
/// that is asked for.
fn tell(watch: ProgramWatch, options: &ExecOptions<'_>, shown: &str, told: Option<&Path>) {
    let findings = watch.findings(options.library);
    let told = told.and_then(|path| path.canonicalize().ok());
    let is_told = |file: &Path| told.is_some() && file.canonicalize().ok() == told;
    if options.verbose {
        for (program, n) in &findings.ours {
            let queries = if *n == 1 { "query" } else { "queries" };
            eprintln!(
                "hpsqlite: {} ran on {shown}: {n} {queries} taken over",
                program.display()
            );
        }
        if findings.ours.is_empty() && findings.others.is_empty() {
            eprintln!("hpsqlite: no SQLite was loaded");
        }
    }
    for (program, file) in findings.others.iter().filter(|(_, f)| !is_told(f)) {
        let program = program.display();
        match file == Path::new(&program.to_string()) {
            true => eprintln!("hpsqlite: {program} carries its own SQLite and was not reached"),
            false => eprintln!(
                "hpsqlite: {program} loaded another SQLite with {}: what ran on that was not reached",
                file.display()
            ),
        }
    }
}

/// The variables by which the dynamic linker is told.
#[derive(Default)]
struct LinkerEnvironment {
    /// Empty: as it is.
    path: OsString,
    preload: Option<OsString>,
}

impl LinkerEnvironment {
    fn set(&self, command: &mut Command) {
        if !self.path.is_empty() {
            command.env("LD_LIBRARY_PATH", &self.path);
        }
        if let Some(preload) = &self.preload {
            command.env("LD_PRELOAD", preload);
        }
    }
}

/// The value of a list variable with `first` put before what is there.
fn prepend(variable: &str, first: &[u8]) -> OsString {
    let mut value = first.to_vec();
    if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
        value.push(b':');
        value.extend(old.as_bytes());
    }
    OsString::from_vec(value)
}

/// The file that a shell would run for `name`, or the exit status and the reason that it would give.
fn find(name: &Path) -> Result<PathBuf, (u8, String)> {
    let executable = |p: &Path| {
        let meta = std::fs::metadata(p).ok()?;
        Some(meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.as_os_str().as_bytes().contains(&b'/') {
        return match executable(name) {
            Some(true) => Ok(name.to_owned()),
            Some(false) => Err((NOT_EXECUTABLE, "not executable".to_owned())),
            None => Err((NOT_FOUND, "no such file".to_owned())),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|p| executable(p) == Some(true))
        .ok_or((NOT_FOUND, "command not found".to_owned()))
}

/// The program itself, or for a script the program that reads it.
fn interpreter_of(program: &Path) -> Result<PathBuf> {
    let mut program = program.to_owned();
    for _ in 0..MAX_SCRIPTS {
        let mut head = [0; 256];
        let mut file = std::fs::File::open(&program)
            .with_context(|| format!("cannot read {}", program.display()))?;
        let n = file.read(&mut head)?;
        let Some(line) = head[..n].strip_prefix(b"#!") else {
            break;
        };
        let line = line.split(|&b| b == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        let Some(interpreter) = words.next() else {
            break;
        };
        let is_env = Path::new(interpreter)
            .file_name()
            .is_some_and(|n| n == "env");
        let named = words.find(|w| !w.starts_with('-') && !w.contains('='));
        program = match named {
            Some(name) if is_env => find(Path::new(name)).unwrap_or_else(|_| interpreter.into()),
            _ => interpreter.into(),
        };
    }
    Ok(program)
}

/// A folder with `libsqlite3.so.0` and no other library, so that no other library is replaced.
fn folder_of(library: &Path) -> Result<PathBuf> {
    let folder = library.parent().unwrap_or(Path::new("/"));
    let other = |name: &str| name.contains(".so") && !name.starts_with("libsqlite3.so");
    let alone = std::fs::read_dir(folder)?
        .flatten()
        .all(|entry| !other(&entry.file_name().to_string_lossy()));
    // A colon would end the folder's name in LD_LIBRARY_PATH.
    let nameable = !folder.as_os_str().as_bytes().contains(&b':');
    if alone && nameable && folder.join(SONAME).canonicalize().ok().as_deref() == Some(library) {
        return Ok(folder.to_owned());
    }
    let links = crate::libs::cache_folder()?
        .join("lib")
        .join(text::fingerprint(library.as_os_str().as_bytes()));
    std::fs::create_dir_all(&links).with_context(|| format!("cannot make {}", links.display()))?;
    for name in [SONAME, "libsqlite3.so"] {
        let link = links.join(name);
        if std::fs::read_link(&link).ok().as_deref() != Some(library) {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(library, &link)
                .with_context(|| format!("cannot make {}", link.display()))?;
        }
    }
    Ok(links)
}

/// What becomes of the program `image` if it is run with `environment`.
fn reach(image: &Path, library: &Path, environment: &LinkerEnvironment) -> Result<Reach> {
    let bytes = std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let linker = match linker_of(&bytes) {
        Linkage::NoElf => return Ok(Reach::Unknown),
        Linkage::Static if has_sqlite(image) => return Ok(Reach::Own(image.to_owned())),
        Linkage::Static => return Ok(Reach::Static),
        Linkage::Dynamic(linker) => linker,
    };
    if elevated(image)? {
        return Ok(Reach::Elevated);
    }
    if is_our_shell(image) {
        return Ok(Reach::OurShell);
    }
    let loaded = loaded_files(&linker, image, environment)?;
    let ours = |l: &Loaded| l.path.canonicalize().ok().as_deref() == Some(library);
    let of_sqlite = |l: &&Loaded| l.name.starts_with("libsqlite3.so");
    let sqlite: Vec<&Loaded> = loaded.iter().filter(of_sqlite).collect();
    if !sqlite.is_empty() {
        return Ok(match sqlite.iter().find(|l| !ours(l)) {
            Some(other) => Reach::Elsewhere(other.path.clone()),
            None if refuses(&bytes, library)? => {
                let own = loaded_files(&linker, image, &LinkerEnvironment::default())?;
                let own = own.iter().find(|l| of_sqlite(l));
                Reach::OtherShell(own.map_or(image.to_owned(), |l| l.path.clone()))
            }
            None => Reach::Linked,
        });
    }
    let files = std::iter::once(image).chain(loaded.iter().map(|l| l.path.as_path()));
    let inside = files.into_iter().find(|file| has_sqlite(file));
    Ok(inside.map_or(Reach::Later, |file| Reach::Own(file.to_owned())))
}

/// Whether a program is the shell beside this tool.
fn is_our_shell(image: &Path) -> bool {
    let shell = crate::shell::program().and_then(|path| Ok(path.canonicalize()?));
    image
        .canonicalize()
        .ok()
        .is_some_and(|image| shell.ok() == Some(image))
}

/// Whether a program is SQLite's shell and was compiled with the header of another version than that of
/// the library: it compares the source ids, but for their last digits, and ends where they differ.
fn refuses(program: &[u8], library: &Path) -> Result<bool> {
    const COMPARED: usize = 60;
    if memmem::find(program, b"SQLite header and source version mismatch").is_none() {
        return Ok(false);
    }
    let id = Library::load(library)?.source_id();
    let id = id.as_bytes();
    Ok(memmem::find(program, &id[..id.len().min(COMPARED)]).is_none())
}

enum Linkage {
    NoElf,
    Static,
    /// With the path of its dynamic linker.
    Dynamic(PathBuf),
}

impl Linkage {
    /// The dynamic linker, if there is one.
    fn path(self) -> Option<PathBuf> {
        match self {
            Linkage::Dynamic(path) => Some(path),
            _ => None,
        }
    }
}

fn linker_of(bytes: &[u8]) -> Linkage {
    fn of<E: FileHeader<Endian = object::Endianness>>(bytes: &[u8]) -> Option<Linkage> {
        let header = E::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        for segment in header.program_headers(endian, bytes).ok()? {
            if let Ok(Some(path)) = segment.interpreter(endian, bytes) {
                return Some(Linkage::Dynamic(OsString::from_vec(path.to_vec()).into()));
            }
        }
        Some(Linkage::Static)
    }
    use object::elf::{FileHeader32, FileHeader64};
    of::<FileHeader64<object::Endianness>>(bytes)
        .or_else(|| of::<FileHeader32<object::Endianness>>(bytes))
        .unwrap_or(Linkage::NoElf)
}

/// Whether the kernel will start the program in secure mode, where the linker ignores the environment.
fn elevated(image: &Path) -> Result<bool> {
    const SETUID: u32 = 0o4000;
    const SETGID: u32 = 0o2000;
    let meta = std::fs::metadata(image)?;
    // SAFETY: these calls only return numbers.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    let other_user = meta.mode() & SETUID != 0 && meta.uid() != uid;
    let other_group = meta.mode() & SETGID != 0 && meta.gid() != gid;
    let path = std::ffi::CString::new(image.as_os_str().as_bytes())?;
    // SAFETY: both names end with a NUL; a size of zero only asks whether there is a value.
    let capabilities = unsafe {
        libc::getxattr(
            path.as_ptr(),
            c"security.capability".as_ptr(),
            std::ptr::null_mut(),
            0,
        )
    } > 0;
    Ok(other_user || other_group || (capabilities && uid != 0))
}

/// A library that the dynamic linker would load at the start.
struct Loaded {
    name: String,
    path: PathBuf,
}

/// Asks the program's dynamic linker which libraries it would load, without running the program.
fn loaded_files(
    linker: &Path,
    image: &Path,
    environment: &LinkerEnvironment,
) -> Result<Vec<Loaded>> {
    let mut command = Command::new(linker);
    command.arg("--list").arg(image.canonicalize()?);
    environment.set(&mut command);
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", linker.display()))?;
    let list = String::from_utf8_lossy(&output.stdout);
    Ok(list.lines().filter_map(loaded).collect())
}

/// One line of the linker's list: `name => path (address)` or `path (address)`.
fn loaded(line: &str) -> Option<Loaded> {
    let (entry, _address) = line.trim().rsplit_once(" (")?;
    let (name, path) = entry.split_once(" => ").unwrap_or((entry, entry));
    let name = Path::new(name).file_name()?.to_str()?;
    Some(Loaded {
        name: name.to_owned(),
        path: path.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_list() {
        let l = loaded("\tlibsqlite3.so.0 => /usr/lib/libsqlite3.so.0 (0x00007f)").unwrap();
        assert_eq!(l.name, "libsqlite3.so.0");
        assert_eq!(l.path, Path::new("/usr/lib/libsqlite3.so.0"));
        let l = loaded("\t/opt/a b/libsqlite3.so.0 (0x00007f)").unwrap();
        assert_eq!(l.path, Path::new("/opt/a b/libsqlite3.so.0"));
        assert!(loaded("\tstatically linked").is_none());
    }
}
