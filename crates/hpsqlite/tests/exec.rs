//! `hpsqlite exec`: what runs on our library, what cannot, and that it says so.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use common::{Done, Place, Worker, skipped, wait_until};

/// Prints which SQLite it has loaded and exits with status 7.
const CLIENT: &str = r#"
#include <stdio.h>
#include <string.h>
const char *sqlite3_libversion(void);
int main(int argc, char **argv){
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  printf("%s\n", sqlite3_libversion());
  while( fgets(line, sizeof line, maps) ){
    if( strstr(line, "sqlite3") && strchr(line, '/') ) fputs(strchr(line, '/'), stdout);
  }
  for(int i=1; i<argc; i++) printf("<%s>", argv[i]);
  return 7;
}
"#;

/// Loads SQLite only when it runs, as an extension module of an interpreter does.
const LATE_CLIENT: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void){
  void *lib = dlopen("libsqlite3.so.0", RTLD_NOW);
  Dl_info info;
  if( !lib || !dladdr(dlsym(lib, "sqlite3_libversion"), &info) ) return 1;
  puts(info.dli_fname);
  return 0;
}
"#;

const PLAIN: &str = "int main(void){ return 3; }";

/// Loads the library that is named first, as an interpreter loads a module that has SQLite inside.
const MODULE_CLIENT: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv){
  void *lib = dlopen(argv[1], RTLD_NOW);
  if( argc<2 || !lib ) return 1;
  return dlsym(lib, "sqlite3_libversion")==0;
}
"#;

/// Runs for a second, and has SQLite inside.
const SLOW_CLIENT: &str = r#"
#include <unistd.h>
const char *sqlite3_libversion(void);
int main(void){ sleep(1); return sqlite3_libversion()==0; }
"#;

/// Runs two queries over all of a table.
const QUERIES: &str = r#"
#include <stddef.h>
typedef struct sqlite3 sqlite3;
int sqlite3_open(const char*, sqlite3**);
int sqlite3_exec(sqlite3*, const char*, void*, void*, char**);
int main(int argc, char **argv){
  sqlite3 *db;
  if( sqlite3_open(argv[argc-1], &db) ) return 1;
  return sqlite3_exec(db, "SELECT s, count(*), sum(r) FROM t GROUP BY s", NULL, NULL, NULL)
      || sqlite3_exec(db, "SELECT s, max(r) FROM t GROUP BY s", NULL, NULL, NULL)
      || sqlite3_exec(db, "SELECT r FROM t WHERE n=5", NULL, NULL, NULL);
}
"#;

const OWN_SQLITE: [&str; 4] = ["libsqlite3.a", "-lm", "-lpthread", "-ldl"];

/// A place with the source compiled to `program`.
fn place_with(source: &str, options: &[&str]) -> Place {
    let place = Place::new();
    std::fs::write(place.path("program.c"), source).unwrap();
    place.link_static_library();
    place.cc(&[&["program.c", "-o", "program"], options].concat());
    place
}

/// How our library is called in what is said.
fn ours(place: &Place) -> String {
    let library = place.path("lib/libsqlite3.so.0");
    format!("High Performance SQLite ({})", library.display())
}

#[test]
fn a_program_that_links_sqlite() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0"]);
    let done = place
        .run(&["exec", "--", "./program", "-x", "a b"])
        .expect(7);
    assert_eq!(done.err, "", "all is as it should be");
    let done = done.says(place.path("lib/libsqlite3.so.0").to_str().unwrap());
    assert!(done.out.ends_with("<-x><a b>"), "{done:?}");
    let told = format!("hpsqlite: ./program runs on {}\n", ours(&place));
    let done = place.run(&["exec", "--check", "--", "./program"]).expect(0);
    assert_eq!(done.err, told);
    let done = place.run(&["exec", "-v", "--", "./program"]).expect(7);
    let ran = format!(
        "hpsqlite: {} ran on {}: 0 queries taken over\n",
        place.path("program").display(),
        ours(&place)
    );
    assert_eq!(done.err, told + &ran);
}

#[test]
fn another_library_on_request() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0"]);
    let stock = place.path("libexec/hpsqlite/libsqlite3-stock.so");
    let stock = stock.to_str().unwrap();
    let done = place
        .run(&["exec", "-v", "--lib", stock, "--", "./program"])
        .expect(7)
        .says(&format!("hpsqlite: ./program runs on {stock}\n"));
    assert!(done.out.contains(stock), "{done:?}");
}

#[test]
fn a_program_with_a_folder_of_its_own() {
    let place = Place::new();
    let private = place.path("private");
    std::fs::create_dir(&private).unwrap();
    let copy = private.join("libsqlite3.so.0");
    std::fs::copy(place.path("libexec/hpsqlite/libsqlite3-stock.so"), &copy).unwrap();
    std::fs::write(place.path("program.c"), CLIENT).unwrap();
    let rpath = format!("-Wl,--disable-new-dtags,-rpath,{}", private.display());
    place.cc(&["program.c", "-o", "program", copy.to_str().unwrap(), &rpath]);
    let done = place
        .run(&["exec", "-v", "--", "./program"])
        .expect(7)
        .says(&format!("hpsqlite: ./program runs on {}\n", ours(&place)));
    assert!(!done.out.contains("private"), "{done:?}");
}

#[test]
fn a_program_that_loads_sqlite_later() {
    let place = place_with(LATE_CLIENT, &["-ldl"]);
    let done = place.run(&["exec", "--", "./program"]).expect(0);
    assert_eq!(done.err, "", "all is as it should be");
    done.says(place.path("lib/libsqlite3.so.0").to_str().unwrap());
    place
        .run(&["exec", "-v", "--", "./program"])
        .expect(0)
        .says("./program links no SQLite; if it, or a program it starts, loads")
        .says(&format!("program ran on {}", ours(&place)));
    place
        .run(&["exec", "-v", "--", "true"])
        .expect(0)
        .says("hpsqlite: no SQLite was loaded\n");
}

#[test]
fn a_module_with_sqlite_inside_is_told_at_the_end() {
    let place = place_with(MODULE_CLIENT, &["-ldl"]);
    let whole = [
        "-Wl,--whole-archive",
        "libsqlite3.a",
        "-Wl,--no-whole-archive",
    ];
    let module = ["-shared", "-o", "module.so"];
    place.cc(&[&module[..], &whole, &OWN_SQLITE[1..]].concat());
    let said = |command: &[&str]| {
        let words = [&["exec", "--"], command].concat();
        place.run(&words).expect(0).err
    };
    let told = |name: &str| {
        format!(
            "hpsqlite: {} loaded another SQLite with {}: what ran on that was not reached\n",
            place.path("program").display(),
            place.path(name).display()
        )
    };
    assert_eq!(said(&["./program", "./module.so"]), told("./module.so"));
    // As a program that a program starts, and twice.
    let script = "./program ./module.so; ./program ./module.so";
    assert_eq!(said(&["sh", "-c", script]), told("./module.so"));
    // The system's SQLite by its place.
    let stock = place.path("libexec/hpsqlite/libsqlite3-stock.so");
    let told = told("libexec/hpsqlite/libsqlite3-stock.so");
    assert_eq!(said(&["./program", stock.to_str().unwrap()]), told);
    assert_eq!(said(&["./program", "libsqlite3.so.0"]), "");
    let quiet = place.run(&["exec", "-q", "--", "./program", "./module.so"]);
    assert_eq!(quiet.expect(0).err, "");
}

#[test]
fn programs_with_sqlite_inside_that_a_program_starts() {
    let place = place_with(SLOW_CLIENT, &OWN_SQLITE);
    place.cc(&[&["program.c", "-o", "static", "-static"], &OWN_SQLITE[..]].concat());
    for program in ["program", "static"] {
        let script = format!("./{program}; true");
        let done = place.run(&["exec", "--", "sh", "-c", &script]).expect(0);
        assert_eq!(
            done.err,
            format!(
                "hpsqlite: {} carries its own SQLite and was not reached\n",
                place.path(program).display()
            )
        );
    }
}

#[test]
fn the_queries_that_were_taken_over_are_counted() {
    let place = place_with(QUERIES, &["lib/libsqlite3.so.0"]);
    place.database("t.db");
    let run = |command: &[&str]| {
        let words = [&["exec", "-v", "--"], command].concat();
        let forced = place.command(&words).env("HPSQLITE_TEST", "force").output();
        Done::of(&forced.unwrap()).expect(0)
    };
    let program = place.path("program");
    let ran = format!("hpsqlite: {} ran on {}: ", program.display(), ours(&place));
    run(&["./program", "t.db"]).says(&format!("{ran}2 queries taken over\n"));
    // Those of all processes.
    run(&["sh", "-c", "./program t.db; ./program t.db"])
        .says(&format!("{ran}4 queries taken over\n"));
}

/// Prints the files with SQLite that the process has loaded, but for ours.
const PYTHON: &str = r#"
import sys
for name in sys.argv[2:]:
    __import__(name)
for path in sorted({l.split()[-1] for l in open("/proc/self/maps") if ".so" in l}):
    inside = b"CREATE TABLE x(type text,name text,tbl_name text" in open(path, "rb").read()
    if inside and path != sys.argv[1]:
        print(path)
"#;

#[test]
fn modules_of_python() {
    let place = Place::new();
    let ours = place.path("lib/libsqlite3.so.0");
    for module in ["sqlite3", "apsw"] {
        let import = ["-c", &format!("import {module}")].map(str::to_owned);
        let found = Command::new("python3").args(import).output();
        if !found.is_ok_and(|found| found.status.success()) {
            skipped(&format!("there is no {module} of Python here"));
            continue;
        }
        let ours = ours.to_str().unwrap();
        let command = ["exec", "--", "python3", "-c", PYTHON, ours, module];
        let done = place.run(&command).expect(0);
        let told: Vec<&str> = done.err.lines().collect();
        let others: Vec<&str> = done.out.lines().collect();
        assert_eq!(told.len(), others.len(), "{done:?}");
        for (line, path) in told.iter().zip(&others) {
            assert!(
                line.contains(&format!(" loaded another SQLite with {path}: ")),
                "{done:?}"
            );
        }
    }
}

#[test]
fn signals_reach_the_program_and_its_end_is_ours() {
    let place = Place::new();
    let script = "trap 'echo caught; exit 5' TERM; echo > ready; while :; do sleep 0.05; done";
    let child = place
        .command(&["exec", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| place.path("ready").exists());
    // SAFETY: a plain system call; the child has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    let done = Done::of(&child.wait_with_output().unwrap()).expect(5);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("caught\n", ""));
    for (name, number) in [("TERM", libc::SIGTERM), ("KILL", libc::SIGKILL)] {
        let script = format!("kill -{name} $$");
        let status = place.command(&["exec", "--", "sh", "-c", &script]).status();
        assert_eq!(status.unwrap().signal(), Some(number), "{name}");
    }
}

#[test]
fn a_program_has_the_signals_that_it_would_have_without_us() {
    let place = Place::new();
    let signals = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];
    let plain = Command::new(signals[0])
        .args(&signals[1..])
        .output()
        .unwrap();
    let done = place
        .run(&[&["exec", "--"], &signals[..]].concat())
        .expect(0);
    assert_eq!(done.out, Done::of(&plain).out);
}

#[test]
fn a_program_does_not_outlive_a_killed_command() {
    let place = Place::new();
    let script = "echo $$ > pid; mv pid ready; exec sleep 1000";
    let mut child = place
        .command(&["exec", "--", "sh", "-c", script])
        .spawn()
        .unwrap();
    wait_until(|| place.path("ready").exists());
    let pid = place.text("ready").trim().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let stat = format!("/proc/{pid}/stat");
    // Nobody may have waited for it yet.
    let is_gone = || std::fs::read_to_string(&stat).map_or(true, |s| s.contains(") Z "));
    wait_until(is_gone);
}

#[test]
fn a_quiet_command_becomes_the_program() {
    let place = Place::new();
    let child = place
        .command(&["exec", "--quiet", "--", "sh", "-c", "echo $$"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let done = Done::of(&child.wait_with_output().unwrap()).expect(0);
    assert_eq!(done.out.trim(), pid.to_string());
}

#[test]
fn other_libraries_of_the_folder_are_not_put_first() {
    let place = place_with(LATE_CLIENT, &["-ldl"]);
    std::fs::write(place.path("lib/libother.so.1"), "").unwrap();
    let done = place.run(&["exec", "--", "./program"]).expect(0);
    let link = place.path("cache/hpsqlite/lib");
    assert!(done.out.starts_with(link.to_str().unwrap()), "{done:?}");
    let target = std::fs::canonicalize(done.out.trim_end()).unwrap();
    assert_eq!(target, place.path("lib/libsqlite3.so.0"));
}

#[test]
fn a_program_with_sqlite_inside() {
    let place = place_with(CLIENT, &OWN_SQLITE);
    let done = place.run(&["exec", "--", "./program"]).expect(7);
    assert_eq!(
        done.err,
        "hpsqlite: ./program carries its own SQLite and cannot be reached\n"
    );
    place.run(&["exec", "--check", "--", "./program"]).expect(1);
}

/// Ends as SQLite's shell does where the library is not that of its header.
const SHELL: &str = r#"
#include <stdio.h>
#include <string.h>
const char *sqlite3_sourceid(void);
int main(void){
  if( strncmp(sqlite3_sourceid(), SOURCE_ID, 60)!=0 ){
    fprintf(stderr, "SQLite header and source version mismatch\n");
    return 1;
  }
  return 7;
}
"#;

/// Debian's shell is such a program.
#[test]
fn a_shell_of_another_version() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0"]);
    let mut ours = Worker::on(&place, &place.path("t.db"));
    let ours = ours.rows("SELECT sqlite_source_id()").remove(0);
    std::fs::write(place.path("shell.c"), SHELL).unwrap();
    for (id, name) in [("1999-01-01 another", "other"), (ours.as_str(), "same")] {
        let id = format!("-DSOURCE_ID=\"{id}\"");
        place.cc(&["shell.c", "-o", name, &id, "lib/libsqlite3.so.0"]);
    }
    place.run(&["exec", "--", "./same"]).expect(7);
    let done = place.run(&["exec", "--check", "--", "./other"]).expect(1);
    assert_eq!(
        done.err,
        "hpsqlite: ./other is SQLite's shell, which refuses every library but that of its own version, \
         and cannot be reached; `make` builds one that is ours\n"
    );
    place.script("bin/sqlite3", "");
    place
        .run(&["exec", "--check", "--", "./other"])
        .expect(1)
        .says(&format!(
            "; ours is {}\n",
            place.path("bin/sqlite3").display()
        ));
}

#[test]
fn the_shell_beside_the_tool_has_ours_inside() {
    let place = place_with(QUERIES, &OWN_SQLITE);
    place.database("t.db");
    std::fs::rename(place.path("program"), place.path("bin/sqlite3")).unwrap();
    let done = place
        .run(&["exec", "--check", "--", "bin/sqlite3"])
        .expect(0);
    assert_eq!(
        done.err,
        "hpsqlite: bin/sqlite3 has High Performance SQLite inside\n"
    );
    let done = place.run(&["exec", "--", "bin/sqlite3", "t.db"]).expect(0);
    assert_eq!(done.err, "");
    let mut verbose = place.command(&["exec", "-v", "--", "bin/sqlite3", "t.db"]);
    Done::of(&verbose.env("HPSQLITE_TEST", "force").output().unwrap())
        .expect(0)
        .says(": 2 queries taken over\n");
}

#[test]
fn a_static_program() {
    let place = place_with(PLAIN, &["-static"]);
    let done = place.run(&["exec", "--", "./program"]).expect(3);
    assert_eq!(
        done.err,
        "hpsqlite: ./program is statically linked and cannot be reached\n"
    );
}

#[test]
fn a_program_with_other_rights() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0"]);
    let program = place.path("program");
    // SAFETY: only returns a number.
    if unsafe { libc::getuid() } != 0 {
        eprintln!("skipped: only root can give a file to another user");
        return;
    }
    std::os::unix::fs::chown(&program, Some(65534), None).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    place
        .run(&["exec", "--check", "--", "./program"])
        .expect(1)
        .says("runs with the rights of another user or with capabilities and cannot be reached");
}

#[test]
fn a_script_is_as_its_interpreter() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0", "-o", "interpreter"]);
    let interpreter = place.path("interpreter");
    place.script("script", &format!("#!{} -q\n", interpreter.display()));
    place
        .run(&["exec", "-v", "--", "./script"])
        .expect(7)
        .says(&format!(
            "hpsqlite: ./script (run by {}) runs on {}\n",
            interpreter.display(),
            ours(&place)
        ));
}

#[test]
fn commands_that_cannot_run() {
    let place = Place::new();
    let said = |arguments: &[&str], status| place.run(arguments).expect(status).err;
    assert_eq!(
        said(&["exec", "--", "no-such"], 127),
        "hpsqlite: no-such: command not found\n"
    );
    assert_eq!(
        said(&["exec", "--", "./no-such"], 127),
        "hpsqlite: ./no-such: no such file\n"
    );
    std::fs::write(place.path("text"), "x").unwrap();
    assert_eq!(
        said(&["exec", "--", "./text"], 126),
        "hpsqlite: ./text: not executable\n"
    );
    place.run(&["exec"]).expect(2).says("<CMD>");
    place
        .run(&["exec", "--lib", "no.so", "--", "true"])
        .expect(2)
        .says("hpsqlite: no such library: no.so");
}
