//! The C compiler and archiver: which they are and how they are called.

use crate::upstream::sha256;
use anyhow::{Context, Result, ensure};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The tools, as the environment's CC, AR, CFLAGS and LDFLAGS name them.
pub struct Toolchain {
    cc: Vec<String>,
    ar: Vec<String>,
    cflags: Vec<String>,
    ldflags: Vec<String>,
    version: String,
}

impl Toolchain {
    /// Finds the tools and asks the compiler for its version.
    pub fn find() -> Result<Self> {
        let words = |name: &str, default: &str| -> Vec<String> {
            let value = env::var(name).unwrap_or_else(|_| default.into());
            value.split_whitespace().map(str::to_string).collect()
        };
        let mut tools = Self {
            cc: words("CC", "cc"),
            ar: words("AR", "ar"),
            cflags: words("CFLAGS", ""),
            ldflags: words("LDFLAGS", ""),
            version: String::new(),
        };
        ensure!(
            !tools.cc.is_empty() && !tools.ar.is_empty(),
            "CC or AR is set but empty"
        );
        let output = command(&tools.cc)
            .arg("--version")
            .output()
            .ok()
            .filter(|output| output.status.success())
            .with_context(|| {
                format!(
                    "no C compiler: `{}` does not run; install gcc or clang, or set CC",
                    tools.cc.join(" ")
                )
            })?;
        tools.version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(tools)
    }

    /// What tells one set of tools and flags from another.
    pub fn identity(&self) -> String {
        format!(
            "{:?} {:?} {:?} {:?} {}",
            self.cc, self.ar, self.cflags, self.ldflags, self.version
        )
    }

    /// Compiles `source` to an object in `folder`, or returns the object that
    /// an earlier run made of the same text with the same flags. `headers` are
    /// files the source includes; their folders are searched for includes.
    pub fn compile(
        &self,
        name: &str,
        source: &Path,
        headers: &[&Path],
        flags: &[String],
        folder: &Path,
    ) -> Result<PathBuf> {
        let mut text = format!("{}\n{flags:?}\n", self.identity());
        for path in headers.iter().copied().chain([source]) {
            let bytes =
                fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            text.push_str(&sha256(&bytes));
        }
        let object = folder.join(format!("{name}-{}.o", &sha256(text.as_bytes())[..16]));
        if object.is_file() {
            return Ok(object);
        }
        remove_older(folder, name)?;
        let unfinished = object.with_extension("o.tmp");
        let mut compiler = command(&self.cc);
        compiler.args(flags).args(&self.cflags);
        for header in headers {
            compiler
                .arg("-I")
                .arg(header.parent().unwrap_or(Path::new(".")));
        }
        compiler.arg("-c").arg(source).arg("-o").arg(&unfinished);
        run(&mut compiler, &format!("compiling {}", source.display()))?;
        fs::rename(&unfinished, &object)?;
        Ok(object)
    }

    /// Links a shared library called `libsqlite3.so.0` to those who load it.
    /// Calls within it need no detour through the PLT where the linker can
    /// bind them (zig's cannot).
    pub fn link_library(&self, object: &Path, output: &Path) -> Result<()> {
        const BIND_CALLS: &str = "-Wl,-Bsymbolic-functions";
        let scratch = output.parent().unwrap_or(Path::new("."));
        let mut linker = command(&self.cc);
        if self.links("int main(void){return 0;}", &[BIND_CALLS], scratch) {
            linker.arg(BIND_CALLS);
        }
        linker
            .args(["-shared", "-Wl,-soname,libsqlite3.so.0"])
            .args(["-Wl,-z,defs", "-Wl,-z,relro", "-Wl,--as-needed"])
            .args(&self.ldflags)
            .arg(object)
            .args(["-lm", "-ldl", "-lpthread", "-o"])
            .arg(output);
        run(&mut linker, &format!("linking {}", output.display()))
    }

    /// Compiles and links a shared library that uses nothing, not even the C
    /// library; with the environment's flags it might, as a sanitizer's do.
    /// Not `-nostdlib`, which is the same for gcc and clang: zig's compiler
    /// then has no headers of the C library either.
    pub fn link_bare(&self, source: &Path, output: &Path) -> Result<()> {
        let mut compiler = command(&self.cc);
        compiler
            .args(["-O1", "-fPIC", "-ffreestanding", "-fno-stack-protector"])
            .args(["-fvisibility=hidden", "-D_GNU_SOURCE"])
            .args(["-shared", "-nostartfiles", "-nodefaultlibs"])
            .args(["-Wl,-z,defs", "-Wl,-z,relro"])
            .arg(source)
            .arg("-o")
            .arg(output);
        run(&mut compiler, &format!("compiling {}", source.display()))
    }

    /// Links a program of objects and libraries of the system.
    pub fn link_program(&self, objects: &[&Path], libs: &[&str], output: &Path) -> Result<()> {
        let mut linker = command(&self.cc);
        linker
            .args(&self.ldflags)
            .args(objects)
            .args(libs)
            .args(["-lm", "-ldl", "-lpthread", "-o"])
            .arg(output);
        run(&mut linker, &format!("linking {}", output.display()))
    }

    /// Makes a static library of one object under the name `member`.
    pub fn archive(&self, object: &Path, member: &str, output: &Path) -> Result<()> {
        let folder = output.parent().unwrap_or(Path::new("."));
        let renamed = folder.join(member);
        fs::copy(object, &renamed)?;
        if output.exists() {
            fs::remove_file(output)?;
        }
        let result = run(
            command(&self.ar).arg("rcsD").arg(output).arg(&renamed),
            &format!("archiving {}", output.display()),
        );
        fs::remove_file(&renamed)?;
        result
    }

    /// Whether a small program compiles and links with these arguments.
    pub fn links(&self, program: &str, args: &[&str], scratch: &Path) -> bool {
        let source = scratch.join("probe.c");
        let result = scratch.join("probe");
        let links = fs::write(&source, program).is_ok()
            && command(&self.cc)
                .arg(&source)
                .args(args)
                .arg("-o")
                .arg(&result)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
        // Nothing else looks at these; what cannot be removed does no harm.
        let _ = (fs::remove_file(&source), fs::remove_file(&result));
        links
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command
}

/// Runs a tool whose own messages go to the terminal.
fn run(command: &mut Command, what: &str) -> Result<()> {
    let program = command.get_program().to_owned();
    let status = command
        .status()
        .with_context(|| format!("{what}: cannot run {}", program.display()))?;
    ensure!(
        status.success(),
        "{what} failed ({} ended with {status}): see its messages above",
        program.display()
    );
    Ok(())
}

/// Removes the objects that earlier states of the same source left behind.
fn remove_older(folder: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_older = path
            .file_name()
            .and_then(OsStr::to_str)
            .and_then(|file| file.rsplit_once('-'))
            .is_some_and(|(stem, _)| stem == name);
        if is_older {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
