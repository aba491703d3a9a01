//! `hpsqlite exec`: what runs on our library, what cannot, and that it says so.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::Place;

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
    assert_eq!(
        done.err,
        format!("hpsqlite: ./program runs on {}\n", ours(&place))
    );
    let done = done.says(place.path("lib/libsqlite3.so.0").to_str().unwrap());
    assert!(done.out.ends_with("<-x><a b>"), "{done:?}");
    place.run(&["exec", "--check", "--", "./program"]).expect(0);
}

#[test]
fn another_library_on_request() {
    let place = place_with(CLIENT, &["lib/libsqlite3.so.0"]);
    let stock = place.path("libexec/hpsqlite/libsqlite3-stock.so");
    let stock = stock.to_str().unwrap();
    let done = place
        .run(&["exec", "--lib", stock, "--", "./program"])
        .expect(7);
    assert_eq!(done.err, format!("hpsqlite: ./program runs on {stock}\n"));
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
    let done = place.run(&["exec", "--", "./program"]).expect(7);
    assert_eq!(
        done.err,
        format!("hpsqlite: ./program runs on {}\n", ours(&place))
    );
    assert!(!done.out.contains("private"), "{done:?}");
}

#[test]
fn a_program_that_loads_sqlite_later() {
    let place = place_with(LATE_CLIENT, &["-ldl"]);
    place
        .run(&["exec", "--", "./program"])
        .expect(0)
        .says("./program links no SQLite; if it, or a program it starts, loads")
        .says(place.path("lib/libsqlite3.so.0").to_str().unwrap());
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
    let place = place_with(CLIENT, &["libsqlite3.a", "-lm", "-lpthread", "-ldl"]);
    let done = place.run(&["exec", "--", "./program"]).expect(7);
    assert_eq!(
        done.err,
        "hpsqlite: ./program carries its own SQLite and cannot be reached\n"
    );
    place.run(&["exec", "--check", "--", "./program"]).expect(1);
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
    std::fs::write(
        place.path("script"),
        format!("#!{} -q\n", interpreter.display()),
    )
    .unwrap();
    std::fs::set_permissions(place.path("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
    place
        .run(&["exec", "--", "./script"])
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
