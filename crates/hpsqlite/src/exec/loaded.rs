//! What a program and those that it started have loaded, and which of it has SQLite inside.
//!
//! Three sources tell:
//!
//! * the dynamic linker of each process, by a library of ours (`engine/exec/loaded.c`) that writes a
//!   line for each file into a log, where the linker is glibc's of version 2.35 or later;
//! * `/proc`, which is looked at now and then, of processes that are not in the log: static programs,
//!   and those with another C library. One that ends at once is not seen;
//! * our library, which writes at its end how many queries it has taken over.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use memchr::memmem;
use tempfile::TempDir;

/// SQLite declares its schema table by this text, in every version since 3.0 and in no other program.
const SQLITE_INSIDE: &[u8] =
    b"CREATE TABLE x(type text,name text,tbl_name text,rootpage int,sql text)";
/// The variable by which the log is named.
const LOG: &str = "HPSQLITE_LOADED";
/// The first glibc that audits without making calls slower.
const GLIBC: (u32, u32) = (2, 35);
/// Files are read in pieces of so many bytes.
const PIECE: usize = 1 << 20;

/// Whether a program or library has SQLite inside; one that cannot be read has not.
pub fn has_sqlite(path: &Path) -> bool {
    search(path).unwrap_or(false)
}

fn search(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let kept = SQLITE_INSIDE.len() - 1;
    let mut piece = Vec::with_capacity(PIECE + kept);
    loop {
        let n = file.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        if memmem::find(&piece, SQLITE_INSIDE).is_some() {
            return Ok(true);
        }
        if n == 0 {
            return Ok(false);
        }
        // The text may begin in one piece and end in the next.
        piece.drain(..piece.len().saturating_sub(kept));
    }
}

/// What a run of a program is watched by.
pub struct ProgramWatch {
    // Removed with what is in it.
    _folder: TempDir,
    log: PathBuf,
    /// So many bytes of the log have been taken.
    taken: usize,
    processes: BTreeMap<u32, WatchedProcess>,
    programs: BTreeMap<PathBuf, Program>,
}

#[derive(Default)]
struct WatchedProcess {
    /// The program that its dynamic linker told of last.
    told: PathBuf,
    /// The program that it was when it was looked at last.
    seen: PathBuf,
}

/// All processes that ran one program.
#[derive(Default)]
struct Program {
    files: BTreeSet<PathBuf>,
    /// Queries that our library has taken over in it.
    taken_over: u64,
}

/// What there is to be said at the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Programs that loaded our library, and how many queries it has taken over there.
    pub ours: Vec<(PathBuf, u64)>,
    /// Programs, and the files with another SQLite that they loaded; itself where it has it inside.
    pub others: Vec<(PathBuf, PathBuf)>,
}

impl ProgramWatch {
    pub fn new() -> Result<ProgramWatch> {
        let make = || {
            let folder = tempfile::Builder::new().prefix("hpsqlite-").tempdir()?;
            let log = folder.path().join("loaded");
            File::create(&log)?;
            // Programs may go on as another user.
            std::fs::set_permissions(&log, PermissionsExt::from_mode(0o622))?;
            std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o711))?;
            io::Result::Ok(ProgramWatch {
                _folder: folder,
                log,
                taken: 0,
                processes: BTreeMap::new(),
                programs: BTreeMap::new(),
            })
        };
        make().with_context(|| format!("cannot write in {}", std::env::temp_dir().display()))
    }

    /// Makes a program, and what it starts, tell what they load, if `linker`, its dynamic linker, can.
    pub fn set(&self, command: &mut Command, linker: Option<&Path>) {
        command.env(LOG, &self.log);
        let Ok(auditor) = crate::libs::auditor() else {
            return;
        };
        // A colon would end the name.
        let nameable = !auditor.as_os_str().as_bytes().contains(&b':');
        if nameable && linker.is_some_and(audits) {
            command.env(
                "LD_AUDIT",
                super::prepend("LD_AUDIT", auditor.as_os_str().as_bytes()),
            );
        }
    }

    /// Looks at a process and all that it has started.
    pub fn look(&mut self, root: u32) {
        self.read_log();
        let mut all = vec![root];
        while let Some(pid) = all.pop() {
            all.extend(children(pid));
            let Ok(program) = std::fs::read_link(format!("/proc/{pid}/exe")) else {
                continue;
            };
            let process = self.processes.entry(pid).or_default();
            if process.told == program {
                continue;
            }
            process.seen = program.clone();
            let files = &mut self.programs.entry(program.clone()).or_default().files;
            files.insert(program);
            files.extend(mapped(pid));
        }
    }

    /// Takes what has been added to the log.
    fn read_log(&mut self) {
        let Ok(log) = std::fs::read(&self.log) else {
            return;
        };
        let new = log.get(self.taken..).unwrap_or_default();
        let whole = new.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        for line in new[..whole].split(|&b| b == b'\n') {
            self.take(line);
        }
        self.taken += whole;
    }

    /// Takes a line: `PID PATH`, of which the first after a start is the program, or `#PID NUMBER`.
    fn take(&mut self, line: &[u8]) {
        let mut words = line.splitn(2, |&b| b == b' ');
        let (Some(pid), Some(rest)) = (words.next(), words.next()) else {
            return;
        };
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u32>().ok();
        if let Some(pid) = pid.strip_prefix(b"#").and_then(number) {
            let process = self.processes.entry(pid).or_default();
            let program = match process.told.as_os_str().is_empty() {
                true => &process.seen,
                false => &process.told,
            };
            let program = self.programs.entry(program.clone()).or_default();
            program.taken_over += number(rest).map_or(0, u64::from);
        } else if let Some(pid) = number(pid) {
            let process = self.processes.entry(pid).or_default();
            let mut path = OsStr::from_bytes(rest);
            if let Some(program) = rest.strip_prefix(b"=") {
                path = OsStr::from_bytes(program);
                process.told = path.into();
            }
            let program = self.programs.entry(process.told.clone()).or_default();
            program.files.insert(path.into());
        }
    }

    /// What came of it. `library` is ours.
    pub fn findings(mut self, library: &Path) -> Findings {
        self.read_log();
        let mut known: HashMap<PathBuf, bool> = HashMap::new();
        let mut findings = Findings::default();
        for (name, program) in &self.programs {
            let mut told = HashSet::new();
            for file in &program.files {
                let place = file.canonicalize().unwrap_or_else(|_| file.clone());
                let is_ours = place == library || super::is_our_shell(&place);
                let found = known
                    .entry(place.clone())
                    .or_insert_with(|| is_ours || has_sqlite(file));
                if !*found || !told.insert(place) {
                    continue;
                }
                match is_ours {
                    true => findings.ours.push((name.clone(), program.taken_over)),
                    false => findings.others.push((name.clone(), file.clone())),
                }
            }
        }
        findings
    }
}

/// Whether a dynamic linker is one that audits at no cost: glibc's tells its version, musl's none.
fn audits(linker: &Path) -> bool {
    let Ok(output) = Command::new(linker).arg("--version").output() else {
        return false;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    version(&told).is_some_and(|version| version >= GLIBC)
}

/// The version in `ld.so (Debian GLIBC 2.36-9) stable release version 2.36.`
fn version(told: &str) -> Option<(u32, u32)> {
    let line = told.lines().next()?;
    let number = line.rsplit_once("version ")?.1.trim_end_matches('.');
    let (major, minor) = number.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The processes that a process has started and that it has not lost.
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let of_task = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let numbers = text.split_whitespace().map(str::parse);
        numbers.filter_map(Result::ok).collect::<Vec<u32>>()
    };
    tasks.flat_map(of_task).collect()
}

/// The files that a process has mapped; none of a process of another user.
fn mapped(pid: u32) -> BTreeSet<PathBuf> {
    let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let path = |line: &[u8]| {
        let at = memchr::memchr(b'/', line)?;
        Some(PathBuf::from(OsStr::from_bytes(&line[at..])))
    };
    text.split(|&b| b == b'\n').filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_dynamic_linker() {
        let told = "ld.so (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nCopyright";
        assert_eq!(version(told), Some((2, 36)));
        assert_eq!(
            version("ld.so (GNU libc) development release version 2.40.9000."),
            Some((2, 40))
        );
        assert_eq!(version("musl libc (x86_64)\nVersion 1.2.3"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn sqlite_is_found_across_the_pieces_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let mut content = vec![b'x'; PIECE - 10];
        std::fs::write(&file, &content).unwrap();
        assert!(!has_sqlite(&file));
        content.extend(SQLITE_INSIDE);
        std::fs::write(&file, &content).unwrap();
        assert!(has_sqlite(&file));
        assert!(!has_sqlite(folder.path()));
        assert!(!has_sqlite(&folder.path().join("none")));
    }

    #[test]
    fn what_a_log_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, content) in [
            ("a", &b"-"[..]),
            ("b", SQLITE_INSIDE),
            ("ours", SQLITE_INSIDE),
        ] {
            std::fs::write(path(name), content).unwrap();
        }
        let at = |name: &str| path(name).canonicalize().unwrap().display().to_string();
        let mut watch = ProgramWatch::new().unwrap();
        let log = format!(
            "7 ={a}\n7 {ours}\n8 ={a}\n8 {ours}\n#7 2\n#8 3\n7 ={b}\n7 {ours}\n#7 0\n9 ={a}\n9 {b}\n9 ",
            a = at("a"),
            b = at("b"),
            ours = at("ours"),
        );
        std::fs::write(&watch.log, log).unwrap();
        watch.read_log();
        let findings = watch.findings(at("ours").as_ref());
        let pair = |a: &str, b: &str| (at(a).into(), at(b).into());
        assert_eq!(
            findings,
            Findings {
                ours: vec![(at("a").into(), 5), (at("b").into(), 0)],
                others: vec![pair("a", "b"), pair("b", "b")],
            }
        );
    }
}
