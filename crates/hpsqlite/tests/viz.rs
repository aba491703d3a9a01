//! `hpsqlite viz` as a user calls it.

mod common;

use std::os::unix::fs::FileExt;
use std::process::Command;

use common::{Done, Place, Worker};
use serde_json::Value;

#[test]
fn numbers_and_a_clean_check() {
    let place = Place::new();
    place.database("my.db");
    place
        .run(&["viz", "my.db", "--text"])
        .expect(0)
        .says("my.db: ")
        .says("pages of 4,096 bytes, UTF-8")
        .says("sqlite_schema")
        .says("3,000");
    let check = place.run(&["viz", "my.db", "--check"]).expect(0);
    assert!(check.out.ends_with("Nothing is wrong with its pages.\n"));
}

#[test]
fn damage_is_listed_page_by_page_and_bounded() {
    let place = Place::new();
    let path = place.database("my.db");
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0; 4096], 3 * 4096).unwrap();
    place
        .run(&["viz", "my.db", "--check"])
        .expect(1)
        .says("page 4 (t): it should be a page of a b-tree, but its first byte is 0");
    place
        .run(&["viz", "my.db", "--text"])
        .expect(0)
        .says("--check lists them");
    // All pages from the third on are in the wrong place.
    let bytes = std::fs::read(place.path("my.db")).unwrap();
    let twice = [&bytes[..8192], &bytes[4096..]].concat();
    let many: Vec<u8> = (0..40).flat_map(|_| twice.iter().copied()).collect();
    std::fs::write(place.path("long.db"), many).unwrap();
    let long = place.run(&["viz", "long.db", "--check"]).expect(1);
    assert!(long.out.lines().count() < 110);
}

#[test]
fn what_is_no_database_gets_one_line() {
    let place = Place::new();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path(name), bytes).unwrap();
    write("empty", b"");
    write("text", b"Dear reader,\nthis is a letter");
    write("zip", b"PK\x03\x04 and so on");
    let noise: Vec<u8> = (0..4096u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    write("noise", &noise);
    write("short", b"SQLite format 3\0");
    let path = place.database("my.db");
    let mut bytes = std::fs::read(path).unwrap();
    bytes[16..18].copy_from_slice(&[3, 3]);
    write("size", &bytes);
    let fails = |name: &str, line: &str| place.run(&["viz", name]).fails_with(line);
    fails(
        "empty",
        "empty is empty: SQLite takes that for a database without a table",
    );
    fails(
        "text",
        "text is no SQLite database: it starts with \"Dear reader,\\x0athi\"",
    );
    fails("zip", "zip is a zip file");
    fails(
        "noise",
        "noise is encrypted, or no SQLite database: its first 4096 bytes look like chance (8.0 of 8 \
         bits of information a byte)",
    );
    fails(
        "short",
        "short starts as a SQLite database and ends within its header",
    );
    fails(
        "size",
        "size: a damaged SQLite database: its header gives a page size of 771 bytes",
    );
    fails("bin", "bin is a folder");
    fails(
        "nowhere",
        "cannot open nowhere: No such file or directory (os error 2)",
    );
}

#[test]
fn pipes_are_not_waited_for() {
    let place = Place::new();
    let pipe = |name: &str| {
        let made = Command::new("mkfifo").arg(place.path(name)).status();
        assert!(made.unwrap().success());
    };
    // What waits is ended with status 124.
    let look = |name: &str| {
        let viz = place.command(&["viz", name, "--text"]);
        let mut command = Command::new("timeout");
        command
            .arg("20")
            .arg(viz.get_program())
            .args(viz.get_args());
        command.current_dir(viz.get_current_dir().unwrap());
        command.envs(viz.get_envs().filter_map(|(k, v)| Some((k, v?))));
        Done::of(&command.output().unwrap())
    };
    const NO_FILE: &str = "it is no ordinary file, but a pipe, a device or the like";
    pipe("pipe");
    look("pipe").fails_with(&format!("cannot open pipe: {NO_FILE}"));
    look("/dev/null").fails_with(&format!("cannot open /dev/null: {NO_FILE}"));
    place.database("journal.db");
    pipe("journal.db-journal");
    look("journal.db").expect(0);
    place.database("log.db");
    pipe("log.db-wal");
    look("log.db").fails_with(&format!("log.db-wal: {NO_FILE}"));
    let path = place.database("shared.db");
    let mut db = Worker::on(&place, &path);
    db.sql("PRAGMA journal_mode = wal");
    db.sql("CREATE TABLE another(x)");
    db.kill();
    drop(db);
    std::fs::remove_file(place.path("shared.db-shm")).unwrap();
    pipe("shared.db-shm");
    look("shared.db").expect(0);
}

#[test]
fn json_has_the_model_or_what_is_selected() {
    let place = Place::new();
    let path = place.database("my.db");
    {
        let mut worker = Worker::on(&place, &path);
        worker.sql("CREATE INDEX \"<b>\" ON t(s)");
    }
    let json = |arguments: &[&str]| -> Value {
        let all = [&["viz", "my.db", "--json", "out.json"], arguments].concat();
        place.run(&all).expect(0);
        serde_json::from_str(&place.text("out.json")).unwrap()
    };
    let all = json(&[]);
    assert_eq!(all["format"], "hpsqlite-viz");
    assert_eq!(all["version"], 1);
    assert_eq!(all["file"]["header"]["encoding"], "UTF-8");
    let pages = all["file"]["pages"].as_u64().unwrap();
    let kinds = all["map"]["kind"].as_str().unwrap();
    assert_eq!(kinds.len() as u64, pages);
    for column in ["owner", "parent", "fill"] {
        assert_eq!(all["map"][column].as_array().unwrap().len() as u64, pages);
    }
    let names: Vec<&str> = all["trees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tree| tree["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sqlite_schema", "t", "<b>"]);
    assert_eq!(all["trees"][1]["entries"], 3000);
    assert_eq!(all["problem_count"], 0);
    assert!(all.get("pages").is_none());

    let index = json(&["--only", "<B>"]);
    assert_eq!(index["trees"].as_array().unwrap().len(), 1);
    let kinds = index["map"]["kind"].as_str().unwrap();
    assert!(kinds.chars().all(|c| "iI".contains(c)), "{kinds}");
    assert_eq!(
        index["trees"][0]["pages"].as_u64().unwrap(),
        kinds.len() as u64
    );

    let two = json(&["--pages", "1-2"]);
    let pages = two["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["parts"][0]["what"], "file-header");
    assert_eq!(pages[0]["cells"][1]["record"][1]["value"], "<b>");
    assert_eq!(
        pages[1]["around"]["children"][0],
        two["trees"][1]["leaves"][0]
    );

    place
        .run(&["viz", "my.db", "--pages", "2-3"])
        .expect(0)
        .says("interior page of a table");
    place
        .run(&["viz", "my.db", "--only", "u"])
        .fails_with("there is no table or index \"u\"");
    place
        .run(&["viz", "my.db", "--pages", "9999"])
        .expect(2)
        .says("there is no page 9,999");
    place
        .run(&["viz", "my.db", "--json", "my.db"])
        .fails_with("my.db is the database; it is not overwritten");
}

#[test]
fn the_map_as_a_picture() {
    let place = Place::new();
    place.database("my.db");
    let draw = |arguments: &[&str]| {
        let quiet = place
            .run(&[&["viz", "my.db"], arguments].concat())
            .expect(0);
        assert_eq!(quiet.out, "");
    };
    draw(&["--svg", "map.svg", "--png", "map.png"]);
    let svg = place.text("map.svg");
    assert!(svg.starts_with("<svg ") && svg.contains("prefers-color-scheme"));
    assert!(svg.contains(">t (table)</text>"));
    assert!(
        std::fs::read(place.path("map.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    let pages = svg.matches("<title>page ").count();

    std::fs::copy(place.path("my.db"), place.path("copy.db")).unwrap();
    draw(&["copy.db", "--svg", "two.svg", "--dark"]);
    let two = place.text("two.svg");
    assert_eq!(two.matches("<title>page ").count(), 2 * pages);
    assert!(two.contains(">my.db</text>") && two.contains(">copy.db</text>"));
    assert!(!two.contains("prefers-color-scheme"));

    draw(&["--vacuumed", "--hp", "--svg", "three.svg"]);
    let three = place.text("three.svg");
    for title in [">my.db<", ">my.db, VACUUMed<", ">my.db, written anew"] {
        assert!(three.contains(title), "{title}");
    }

    draw(&["--svg", "part.svg", "--pages", "2-4", "--only", "t"]);
    assert_eq!(place.text("part.svg").matches("<title>page ").count(), 3);
    place
        .run(&["viz", "my.db", "--svg", "map.svg", "--text"])
        .expect(0)
        .says("sqlite_schema");
    for output in ["--svg", "--png"] {
        place
            .run(&["viz", "my.db", "copy.db", output, "copy.db"])
            .fails_with("copy.db is the database; it is not overwritten");
        place
            .run(&["viz", "my.db", output, "nowhere/map"])
            .expect(2)
            .says("cannot write nowhere/map");
    }
    place
        .run(&["viz", "my.db", "--dark"])
        .fails_with("--dark is for pictures: --svg and --png");
    place
        .run(&["viz", "my.db", "copy.db", "--pages", "1-2"])
        .expect(2)
        .says("--only and --pages are for one file");
}

#[test]
fn the_page_in_one_file() {
    let place = Place::new();
    let path = place.database("my.db");
    {
        let mut worker = Worker::on(&place, &path);
        worker.sql("CREATE TABLE \"</script><script>alert(1)</script>\"(a)");
    }
    let save = |arguments: &[&str]| {
        let all = [&["viz", "my.db", "--html", "my.html"], arguments].concat();
        assert_eq!(place.run(&all).expect(0).out, "");
        place.text("my.html")
    };
    let page = save(&[]);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("alert(1)"), "names are in compressed data");
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(page.contains("start \u{201c}hpsqlite viz my.db\u{201d}"));
    assert_eq!(save(&[]), page, "the same file gives the same page");
    // Less of it, and more: two files, a copy.
    let part = save(&["--pages", "1-2"]);
    assert!(part.len() < page.len());
    assert!(part.contains("inside for those that were chosen"));
    let two = save(&["--vacuumed"]);
    assert!(two.len() > page.len());
    place
        .run(&["viz", "my.db", "--html", "my.html", "--svg", "my.svg", "--vacuumed"])
        .fails_with(
            "the page (--html) and pictures (--svg, --png) would each make their copies: write them \
             one after the other",
        );
    place
        .run(&["viz", "my.db", "--html", "my.html", "--only", "u"])
        .fails_with("there is no table or index \"u\"");
    assert_eq!(place.text("my.html"), two, "the old page stays");
    place
        .run(&["viz", "my.db", "--html", "my.db"])
        .fails_with("my.db is the database; it is not overwritten");
}

#[test]
fn what_belongs_to_a_database_is_not_overwritten() {
    let place = Place::new();
    let path = place.database("my.db");
    place.database("other.db");
    std::os::unix::fs::symlink("my.db", place.path("link.db")).unwrap();
    let mut db = Worker::on(&place, &path);
    db.sql("PRAGMA journal_mode = wal");
    db.sql("CREATE TABLE another(x)");
    let log = std::fs::read(place.path("my.db-wal")).unwrap();
    let refused = |arguments: &[&str], into: &str| {
        place
            .run(&[arguments, &[into]].concat())
            .fails_with(&format!(
                "{into} belongs to the database; it is not overwritten"
            ));
    };
    for of in ["my.db", "link.db"] {
        for into in ["my.db-wal", "./my.db-shm", "bin/../my.db-journal"] {
            for option in ["--json", "--svg", "--png", "--html"] {
                refused(&["viz", of, option], into);
            }
        }
    }
    refused(&["viz", "link.db", "--svg"], "link.db-wal");
    refused(&["viz", "other.db", "my.db", "--svg"], "my.db-wal");
    assert_eq!(std::fs::read(place.path("my.db-wal")).unwrap(), log);
    place.run(&["viz", "my.db", "--svg", "my.db-map"]).expect(0);
}
