//! Fills `dist/`: compiles and links everything in the work folder, then
//! renames it into place.

use crate::amalgamation;
use crate::options;
use crate::shell;
use crate::stamp;
use crate::toolchain::Toolchain;
use crate::upstream::{Pins, write_whole};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

/// The files made, below `dist/`, in the order they are put in place.
const LIBRARY: &str = "lib/libsqlite3.so.0";
const ARCHIVE: &str = "lib/libsqlite3.a";
const PKGCONFIG: &str = "lib/pkgconfig/sqlite3.pc";
const STOCK: &str = "libexec/hpsqlite/libsqlite3-stock.so";
const LOADED: &str = "libexec/hpsqlite/hpsqlite-loaded.so";
const SHELL: &str = "bin/sqlite3";

/// The names under which linkers and older programs look for the library.
const LINKS: [&str; 2] = ["lib/libsqlite3.so", "lib/libsqlite3.so.0.8.6"];

/// Makes everything that is not up to date.
pub fn build(engine: &Path, work: &Path, dist: &Path, pins: &Pins) -> Result<()> {
    let tools = Toolchain::find()?;
    let key = stamp::inputs_key(engine, &tools.identity())?;
    let stamp = work.join("stamp");
    let outputs: Vec<PathBuf> = [
        LIBRARY,
        ARCHIVE,
        PKGCONFIG,
        STOCK,
        LOADED,
        SHELL,
        LINKS[0],
        LINKS[1],
        "include/sqlite3.h",
        "include/sqlite3ext.h",
        "include/hpsqlite.h",
        "src/sqlite3.c",
        "src/sqlite3.h",
        "src/sqlite3ext.h",
        "src/hpsqlite.h",
    ]
    .iter()
    .map(|name| dist.join(name))
    .collect();
    if stamp::is_current(&stamp, &key, &outputs) {
        return Ok(());
    }

    let source = work.join("src");
    let made = amalgamation::make(engine, work, pins)?;
    made.write_to(&source)?;
    let stock_source = pins.obtain("sqlite3.c", work)?;
    let options = options::flags(&options::read(&engine.join("OPTIONS"))?);
    eprintln!(
        "compiling SQLite {} with and without our modules",
        pins.sqlite
    );
    let objects = work.join("obj");
    fs::create_dir_all(&objects)?;
    let own_source = source.join("sqlite3.c");
    let (ours, stock, shell_engine) = thread::scope(|scope| {
        let ours = scope
            .spawn(|| tools.compile("sqlite3", &own_source, &[], &library_flags(&[]), &objects));
        let shell_engine = scope.spawn(|| shell::engine(&tools, &own_source, &objects));
        let stock = tools.compile(
            "stock",
            &stock_source,
            &[],
            &library_flags(&options),
            &objects,
        );
        let joined = [ours, shell_engine]
            .map(|thread| thread.join().expect("the compiling thread does not panic"));
        let [ours, shell_engine] = joined;
        (ours, stock, shell_engine)
    });
    let (ours, stock) = (ours?, stock?);

    let staged = work.join("out");
    for folder in ["lib/pkgconfig", "libexec/hpsqlite", "bin"] {
        fs::create_dir_all(staged.join(folder))?;
    }
    tools.link_library(&ours, &staged.join(LIBRARY))?;
    tools.link_library(&stock, &staged.join(STOCK))?;
    tools.archive(&ours, "sqlite3.o", &staged.join(ARCHIVE))?;
    write_whole(&staged.join(PKGCONFIG), pkgconfig(&pins.sqlite).as_bytes())?;
    let loaded = tools.link_bare(&engine.join("exec/loaded.c"), &staged.join(LOADED));
    let shell = shell_engine.and_then(|object| {
        let parts = shell::Parts {
            engine,
            work,
            pins,
            made: &made,
            options: &options,
        };
        parts.build(&tools, &object, &staged.join(SHELL))
    });

    for name in [LIBRARY, ARCHIVE, PKGCONFIG, STOCK] {
        put(&staged.join(name), &dist.join(name))?;
    }
    for link in LINKS {
        put_link("libsqlite3.so.0", &dist.join(link))?;
    }
    made.write_to(&dist.join("src"))?;
    for name in ["sqlite3.h", "sqlite3ext.h", "hpsqlite.h"] {
        put(&source.join(name), &dist.join("include").join(name))?;
    }
    let mut whole = true;
    for (made, name) in [(loaded, LOADED), (shell, SHELL)] {
        match made {
            Ok(()) => put(&staged.join(name), &dist.join(name))?,
            Err(error) => {
                // Everything else is of use without it, and the next run tries again.
                let path = dist.join(name);
                eprintln!("warning: no {} was made: {error:#}", path.display());
                whole = false;
            }
        }
    }
    match whole {
        true => stamp::record(&stamp, &key, &outputs),
        false => Ok(()),
    }
}

/// The flags for either library. Only what upstream declares SQLITE_API is
/// exported. A multiplication and an addition are never fused, or sums of
/// reals would differ from one processor to the next.
fn library_flags(options: &[String]) -> Vec<String> {
    let fixed = [
        "-O2",
        "-fPIC",
        "-ffp-contract=off",
        "-fvisibility=hidden",
        "-DSQLITE_API=__attribute__((visibility(\"default\")))",
    ];
    fixed
        .iter()
        .map(ToString::to_string)
        .chain(options.iter().cloned())
        .collect()
}

/// The pkg-config file; it finds its folders from where it stands itself, so
/// that `make install` can copy it as it is.
fn pkgconfig(version: &str) -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         libdir=${{prefix}}/lib\n\
         includedir=${{prefix}}/include\n\n\
         Name: SQLite\n\
         Description: SQL database engine (High Performance SQLite)\n\
         Version: {version}\n\
         Libs: -L${{libdir}} -lsqlite3\n\
         Libs.private: -lm -ldl -lpthread\n\
         Cflags: -I${{includedir}}\n"
    )
}

/// Puts a finished file in its place by a rename; a program that has the old
/// one loaded keeps it.
fn put(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from)?;
    if fs::read(to).ok().as_ref() != Some(&bytes) {
        write_whole(to, &bytes)?;
    }
    let mode = fs::metadata(from)?.permissions().mode();
    fs::set_permissions(to, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of {}", to.display()))
}

/// Puts a symbolic link in its place.
fn put_link(target: &str, link: &Path) -> Result<()> {
    if fs::read_link(link).is_ok_and(|now| now == Path::new(target)) {
        return Ok(());
    }
    if link.is_symlink() || link.exists() {
        fs::remove_file(link)?;
    }
    symlink(target, link).with_context(|| format!("cannot link {}", link.display()))
}
