//! `hpsqlite exec`: any program on our library, and the truth about whether it can be.
//!
//! The library is put before the system's by `LD_LIBRARY_PATH`, and only where
//! a program insists on a folder of its own (an RPATH) by `LD_PRELOAD`, which
//! would also reach programs that carry a copy under the same names. What will
//! happen is not guessed: the program's own dynamic linker is asked which file
//! it would load.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use object::read::elf::{FileHeader, ProgramHeader};

use crate::text;

/// Exit statuses of shells for a command that is not there or cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Exit status of `--check` for a program that does not come to run on our library.
const UNREACHED: u8 = 1;

const SONAME: &str = "libsqlite3.so.0";
/// SQLite declares its schema table by this text, in every version since 3.0 and in no other program.
const SQLITE_INSIDE: &[u8] =
    b"CREATE TABLE x(type text,name text,tbl_name text,rootpage int,sql text)";
/// A script's interpreter may be a script; nobody nests deeper.
const MAX_SCRIPTS: usize = 4;

/// How a program relates to our library.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    /// It links `libsqlite3.so.0` and gets ours.
    Linked,
    /// It links none, but may load a module later that does.
    Later,
    /// It has SQLite inside.
    Own,
    Static,
    /// It runs with other rights than ours, so the linker ignores our wish.
    Elevated,
    /// It loads this file in spite of all.
    Elsewhere(PathBuf),
    /// Not a program of this system.
    Unknown,
}

impl Reach {
    /// What is told before the program runs.
    fn tell(&self, program: &str, library: &str) -> String {
        match self {
            Reach::Linked => format!("{program} runs on {library}"),
            Reach::Later => format!(
                "{program} links no SQLite; if it, or a program it starts, loads the system's \
                 {SONAME} later, that is {library}; a copy of SQLite of its own stays as it is"
            ),
            Reach::Own => format!("{program} carries its own SQLite and cannot be reached"),
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

/// Runs `command` on `library` (its exit status is ours then), or with `check` only says what would happen.
pub fn exec(library: &Path, ours: bool, command: &[OsString], check: bool) -> Result<u8> {
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
    let mut environment = Environment {
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

    let shown = match ours {
        true => format!("High Performance SQLite ({})", library.display()),
        false => library.display().to_string(),
    };
    let named = match image == program {
        true => program.display().to_string(),
        false => format!("{} (run by {})", program.display(), image.display()),
    };
    eprintln!("hpsqlite: {}", reach.tell(&named, &shown));
    if check {
        let status = match reach {
            Reach::Linked | Reach::Later => 0,
            _ => UNREACHED,
        };
        return Ok(status);
    }
    let mut process = Command::new(&program);
    process.arg0(name).args(arguments);
    environment.set(&mut process);
    let error = process.exec();
    bail!("cannot run {}: {error}", program.display())
}

/// The variables by which the dynamic linker is told.
struct Environment {
    path: OsString,
    preload: Option<OsString>,
}

impl Environment {
    fn set(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", &self.path);
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
fn reach(image: &Path, library: &Path, environment: &Environment) -> Result<Reach> {
    let bytes = std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let has_sqlite = |bytes: &[u8]| memmem::find(bytes, SQLITE_INSIDE).is_some();
    let linker = match linker_of(&bytes) {
        Linkage::NoElf => return Ok(Reach::Unknown),
        Linkage::Static if has_sqlite(&bytes) => return Ok(Reach::Own),
        Linkage::Static => return Ok(Reach::Static),
        Linkage::Dynamic(linker) => linker,
    };
    if elevated(image)? {
        return Ok(Reach::Elevated);
    }
    let loaded = loaded_files(&linker, image, environment)?;
    let ours = |l: &Loaded| l.path.canonicalize().ok().as_deref() == Some(library);
    let of_sqlite = |l: &&Loaded| l.name.starts_with("libsqlite3.so");
    let sqlite: Vec<&Loaded> = loaded.iter().filter(of_sqlite).collect();
    if !sqlite.is_empty() {
        return Ok(match sqlite.iter().find(|l| !ours(l)) {
            Some(other) => Reach::Elsewhere(other.path.clone()),
            None => Reach::Linked,
        });
    }
    let inside = has_sqlite(&bytes)
        || loaded
            .iter()
            .any(|l| std::fs::read(&l.path).is_ok_and(|bytes| has_sqlite(&bytes)));
    Ok(if inside { Reach::Own } else { Reach::Later })
}

enum Linkage {
    NoElf,
    Static,
    /// With the path of its dynamic linker.
    Dynamic(PathBuf),
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
fn loaded_files(linker: &Path, image: &Path, environment: &Environment) -> Result<Vec<Loaded>> {
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
