//! `hpsqlite kvtest`: the same blobs everywhere, every way to them gives them back, what is wrong
//! is noticed, and nothing is left half-made.

mod common;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Done, Place, Worker, interrupt_when};
use serde_json::Value;

/// Runs `hpsqlite kvtest`, with the arguments in one string.
fn kvtest(place: &Place, arguments: &str) -> Done {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    place.run(&[&["kvtest"], &arguments[..]].concat())
}

/// A place with the database x.db of 200 blobs, and the same as files in `flat` and `tree`.
fn blobs() -> Place {
    let place = Place::new();
    kvtest(&place, "init x.db --count 200 --size 5000 --variance 3000").expect(0);
    kvtest(&place, "export x.db flat").expect(0);
    kvtest(&place, "export x.db tree --tree").expect(0);
    place
}

/// What `run` recorded.
fn record(place: &Place, arguments: &str) -> Value {
    kvtest(place, &format!("run {arguments} --json r.json")).expect(0);
    serde_json::from_str(&place.text("r.json")).unwrap()
}

/// The hash of all that a run read or wrote.
fn answer(place: &Place, arguments: &str) -> String {
    let record = record(place, arguments);
    record["runs"][0]["sample"]["answer"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn lines(done: &Done) -> Vec<&str> {
    done.out.lines().collect()
}

#[test]
fn blobs_are_the_same_everywhere() {
    let place = Place::new();
    kvtest(&place, "init a.db --count 300 --lib stock")
        .expect(0)
        .says("a.db: 300 values of 3.0 MB together, ");
    kvtest(&place, "init b.db --count 300 --lib stock").expect(0);
    assert!(
        std::fs::read(place.path("a.db")).unwrap() == std::fs::read(place.path("b.db")).unwrap()
    );
    kvtest(&place, "init ours.db --count 300").expect(0);
    for database in ["a.db", "ours.db"] {
        assert_eq!(
            answer(&place, &format!("{database} --count 300")),
            "cd324778e563954d"
        );
    }
    let mut db = Worker::on(&place, &place.path("a.db"));
    assert_eq!(
        db.rows("SELECT sql FROM sqlite_schema"),
        ["CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)"]
    );
    assert_eq!(
        db.rows("SELECT min(k), max(k), min(length(v)), max(length(v)) FROM kv"),
        ["1|300|10000|10000"]
    );
    assert_eq!(db.rows("PRAGMA page_size"), ["4096"]);
    assert_eq!(db.rows("PRAGMA journal_mode"), ["delete"]);
}

#[test]
fn options_of_the_original_are_understood_as_it_writes_them() {
    let place = Place::new();
    kvtest(
        &place,
        "init x.db -count 0x10 --size 1KiB -variance=24 --pagesize 8KiB",
    )
    .expect(0);
    let mut db = Worker::on(&place, &place.path("x.db"));
    assert_eq!(db.rows("PRAGMA page_size"), ["8192"]);
    assert_eq!(
        db.rows("SELECT count(*), min(length(v)) >= 1000, max(length(v)) <= 1048, count(DISTINCT length(v)) > 4 FROM kv"),
        ["16|1|1|1"]
    );
    let done = kvtest(
        &place,
        "run x.db -random -asc -desc -blob-api -cache-size -2KiB -mmap 1MB -max-id 10 -start 3 -count 1K -stats -nosync",
    )
    .expect(0)
    .says("--count 1000 --max-id 10 --desc\n--cache-size -2048 --jmode delete\n--mmap 1000000 --blob-api\n--nosync\n")
    .says("Page cache hits: ")
    .says("Bytes received by read(): ");
    assert_eq!(done.err, "");
    for (wrong, line) in [
        (
            "init y.db --pagesize 1000",
            "must be a power of 2 from 512 to 65536",
        ),
        ("init y.db --count 0", "must be positive"),
        (
            "init y.db --size 1.5K",
            "not a number, with or without K, M,",
        ),
        (
            "run x.db --jmode fast",
            "[possible values: delete, truncate,",
        ),
        ("run x.db --faster", "unexpected argument '--faster'"),
    ] {
        kvtest(&place, wrong).expect(2).says(line);
    }
}

#[test]
fn the_lines_of_the_original_come_first() {
    let place = blobs();
    let done = kvtest(&place, "run x.db --count 500 --integrity-check --lib stock").expect(0);
    let lines = lines(&done);
    let starts = [
        "SQLite version: 3.",
        "integrity-check: ok",
        "--count 500 --max-id 200 --asc",
        "--cache-size 1000 --jmode delete",
        "--mmap 0",
        "Database page size: 4096",
        "Total elapsed time: 0.",
        "Microseconds per BLOB read: ",
        "Content read rate: ",
        "Microseconds at percentiles of BLOB reads: 50 % ",
    ];
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line:?} is not {start:?}");
    }
    assert!(lines[8].ends_with(" MB/s"));
    assert!(
        lines[0].split(' ').count() == 3,
        "stock is asked for: {}",
        lines[0]
    );
    kvtest(&place, "run flat --update --fsync --count 5")
        .expect(0)
        .says("Microseconds per BLOB write: ")
        .says("Content write rate: ");
}

#[test]
fn every_way_reads_the_same() {
    let place = blobs();
    for order in ["--asc", "--desc", "--random", "--start 150"] {
        let visit = format!("{order} --count 300");
        let expected = answer(&place, &format!("x.db {visit}"));
        for way in [
            "x.db --lib stock",
            "x.db --blob-api",
            "x.db --blob-api --multitrans",
            "x.db --multitrans --mmap 1GiB",
            "x.db --jmode wal",
            "flat",
            "tree",
        ] {
            assert_eq!(
                answer(&place, &format!("{way} {visit}")),
                expected,
                "{way} {visit}"
            );
        }
    }
    let expected = answer(&place, "x.db --threads 3 --count 200 --random");
    for way in ["x.db --blob-api", "flat", "tree"] {
        assert_eq!(
            answer(&place, &format!("{way} --threads 3 --count 200 --random")),
            expected
        );
    }
    // In order, three threads visit what one visits.
    assert_eq!(
        answer(&place, "x.db --threads 3 --count 200"),
        answer(&place, "x.db --count 200")
    );
}

#[test]
fn every_way_overwrites() {
    let place = blobs();
    let before = kvtest(&place, "stat x.db").expect(0).out;
    let mut last = answer(&place, "x.db --count 200");
    for way in [
        "--threads 2",
        "--jmode wal --multitrans --threads 3",
        "--jmode wal --nocheckpoint --nosync --blob-api",
        "--jmode truncate --blob-api --multitrans --threads 2",
        "--jmode delete --lib stock",
    ] {
        let written = answer(
            &place,
            &format!("x.db --update --count 150 --random --repeat 2 {way}"),
        );
        assert_ne!(written, last, "{way}");
        let read = answer(&place, "x.db --count 200");
        assert_ne!(read, last, "{way}");
        last = read;
    }
    assert_eq!(
        kvtest(&place, "stat x.db").expect(0).out,
        before,
        "sizes stay"
    );
    // The same seed writes the same, wherever to.
    let written = answer(&place, "x.db --update --count 200");
    for folder in ["flat", "tree"] {
        assert_eq!(
            answer(&place, &format!("{folder} --update --count 200")),
            written
        );
        assert_eq!(answer(&place, &format!("{folder} --count 200")), written);
    }
}

#[test]
fn a_changed_value_is_noticed() {
    let place = blobs();
    let wrong = |target: &str, more: &str| {
        let done = kvtest(&place, &format!("run {target} --count 200 {more}")).expect(1);
        assert_eq!(
            done.err,
            format!("hpsqlite: the value of key 77 in {target} is not what was written there\n")
        );
        assert_eq!(done.out, "");
    };
    Worker::on(&place, &place.path("x.db"))
        .sql("UPDATE kv SET v = substr(v, 1, 1000) || x'00' || substr(v, 1002) WHERE k = 77");
    wrong("x.db", "");
    wrong("x.db", "--blob-api --threads 2");
    // The value of another key, whole as it is.
    std::fs::copy(place.path("flat/000078"), place.path("flat/000077")).unwrap();
    wrong("flat", "");
    let short = std::fs::read(place.path("tree/00/00/77")).unwrap();
    std::fs::write(place.path("tree/00/00/77"), &short[1..]).unwrap();
    wrong("tree", "");
}

#[test]
fn values_of_others_are_read_but_not_checked() {
    let place = Place::new();
    let mut db = Worker::on(&place, &place.path("o.db"));
    db.sql("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)");
    db.sql("INSERT INTO kv VALUES(2, randomblob(5000)), (4, 'text'), (5, NULL), (6, '')");
    drop(db);
    kvtest(&place, "run o.db --count 4")
        .expect(0)
        .says("\n--count 4 --max-id 6 --asc\n")
        .says("Values: not checked, because hpsqlite kvtest did not make them");
    // Keys without a value are misses, as in the original: 1, 3, 5, 6, and 1, 3 again.
    for way in ["", " --blob-api"] {
        kvtest(&place, &format!("run o.db --count 4{way}"))
            .expect(0)
            .says("10 cycles due to 6 misses\n");
    }
    kvtest(&place, "export o.db o")
        .expect(0)
        .says("o: 4 files of 5.0 kB together");
    assert_eq!(place.list("o"), ["000002", "000004", "000005", "000006"]);
    assert_eq!(place.text("o/000004"), "text");
    kvtest(&place, "run o --count 4")
        .expect(0)
        .says("10 cycles due to 6 misses\n");
    kvtest(&place, "run o.db --max-id 1").fails_with("o.db has no value under the keys 1 to 1");
    kvtest(&place, "run o.db --start 7").fails_with("--start is beyond the largest key, 6");
    kvtest(&place, "run o.db --threads 7")
        .fails_with("there are more threads than keys or values to visit");
}

#[test]
fn everything_is_recorded() {
    let place = blobs();
    let record = record(
        &place,
        "x.db --repeat 3 --threads 2 --count 50 --cache-size 77 --mmap 9GB",
    );
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(run["nanoseconds"].as_array().unwrap().len(), 50);
        let sample = &run["sample"];
        assert_eq!(sample["operations"], 50);
        assert_eq!(sample["answer"], runs[0]["sample"]["answer"]);
        assert!(sample["seconds"].as_f64().unwrap() > 0.0);
        let longest = run["nanoseconds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .max();
        let most: f64 = sample["percentiles"]["100"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(longest, Some((most * 1e9).round() as u64));
    }
    let blocks = place.path("x.db").metadata().unwrap().blocks();
    assert_eq!(runs[0]["sample"]["space"].as_u64(), Some(blocks * 512));
    let settings = &record["effective"]["settings"];
    assert_eq!(settings["cache_size"], "77");
    assert_eq!(settings["synchronous"], "2");
    assert!(
        settings["compile_options"]
            .as_str()
            .unwrap()
            .contains("THREADSAFE=")
    );
    assert_ne!(
        settings["mmap_size"], "9000000000",
        "SQLite maps 2 GB at most"
    );
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains(
            "--mmap 9000000000 was not taken as it is: the library says that mmap_size is "
        ),
        "{warnings}"
    );
    for key in ["processor", "kernel", "memory", "file_system", "load"] {
        assert!(!record["environment"][key].is_null(), "{key}");
    }
    kvtest(&place, "run x.db --json flat").fails_with("flat is a folder");
    kvtest(&place, "run x.db --json x.db")
        .fails_with("x.db is the database; it is not overwritten");
}

#[test]
fn options_without_effect_are_told() {
    let place = blobs();
    let done = kvtest(&place, "run flat --nosync --mmap 1M").expect(0);
    // A system that is short of memory may have forgotten the files meanwhile, which is told, too.
    let told: Vec<&str> = done
        .err
        .lines()
        .filter(|line| !line.contains("so it was not warm"))
        .collect();
    assert_eq!(
        told,
        [
            "hpsqlite: warning: --mmap does nothing on a folder of files",
            "hpsqlite: warning: --nosync does nothing on a folder of files"
        ]
    );
    kvtest(&place, "run x.db --fsync")
        .expect(0)
        .says("warning: --fsync does nothing on a database");
}

#[test]
fn cold_is_cold_or_is_refused() {
    let place = blobs();
    for (target, dropped) in [("x.db", "the database"), ("tree", "contents")] {
        kvtest(&place, &format!("run {target} --cold --repeat 2"))
            .expect(0)
            .says(&format!(
                "Dropped from the cache before each run: {dropped}"
            ));
    }
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        println!("skipped in part: no /dev/shm here");
        return;
    }
    let memory = tempfile::tempdir_in(memory).unwrap();
    let database = memory.path().join("m.db");
    std::fs::copy(place.path("x.db"), &database).unwrap();
    let database = database.display();
    kvtest(&place, &format!("run {database} --cold")).fails_with(&format!(
        "--cold: {database} is on a file system in memory, where nothing is ever cold"
    ));
}

#[test]
fn stat_tells_what_is_there() {
    let place = blobs();
    kvtest(&place, "init s.db --count 20 --size 3000 --force").expect(0);
    Worker::on(&place, &place.path("s.db")).sql("DELETE FROM kv WHERE k > 10");
    assert_eq!(
        lines(&kvtest(&place, "stat s.db").expect(0))[..4],
        [
            "Number of entries:        10",
            "Average value size:     3000",
            "Minimum value size:     3000",
            "Maximum value size:     3000",
        ]
    );
    let done = kvtest(&place, "stat s.db --vacuum --lib stock").expect(0);
    assert_eq!(lines(&done)[0], "Vacuuming....       done");
    assert_eq!(
        lines(&done)[7..],
        ["Freelist-count:            0", "Integrity-check:    ok"]
    );

    let mut damaged = std::fs::read(place.path("x.db")).unwrap();
    // The last page of an overflow chain starts with four zeros: let it go on with page 1.
    let next = damaged
        .chunks_exact_mut(4096)
        .find(|page| page[..4] == [0; 4] && page[4] != 0)
        .map(|page| &mut page[..4])
        .unwrap();
    next.copy_from_slice(&[0, 0, 0, 1]);
    std::fs::write(place.path("x.db"), damaged).unwrap();
    let done = kvtest(&place, "stat x.db").expect(1);
    assert!(!done.out.contains("Integrity-check:    ok") && done.out.contains("Integrity-check: "));
}

#[test]
fn what_cannot_be_done_is_told_in_a_line() {
    let place = blobs();
    Worker::on(&place, &place.path("empty.db")).sql("CREATE TABLE t(x)");
    Worker::on(&place, &place.path("none.db"))
        .sql("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)");
    std::fs::write(place.path("note.txt"), "a note").unwrap();
    std::fs::create_dir(place.path("void")).unwrap();
    std::fs::write(place.path("y.db-journal"), "").unwrap();
    let journal = place.path("y.db-journal");
    let no_file = "No such file or directory (os error 2)";
    for (arguments, line) in [
        ("init x.db", "x.db is there already; --force replaces it".to_owned()),
        ("init flat --force", "flat is a folder".to_owned()),
        ("init no/x.db", format!("cannot write in no: {no_file} at path ")),
        ("init b.db --size 2G", "SQLite stores values of at most 1000000000 bytes".to_owned()),
        (
            "init y.db",
            "y.db-journal is there: it belongs to a database in use or one that crashed, and would be taken for part of the new one".to_owned(),
        ),
        ("export no.db d", format!("cannot read no.db: {no_file}")),
        ("export flat d", "flat is a folder, not a database".to_owned()),
        ("export x.db flat", "flat is not empty; name a new folder".to_owned()),
        ("export x.db note.txt", "note.txt is there and is no folder".to_owned()),
        ("stat note.txt", "note.txt is no SQLite database".to_owned()),
        (
            "stat empty.db",
            "empty.db has no table kv(k, v); `hpsqlite kvtest init` makes a database that has".to_owned(),
        ),
        ("run no", format!("cannot read no: {no_file}")),
        ("run note.txt", "note.txt is no SQLite database".to_owned()),
        ("run void", "void holds no values".to_owned()),
        ("run none.db", "none.db holds no values".to_owned()),
        ("run x.db --lib no.so", "no such library: no.so".to_owned()),
    ] {
        let done = kvtest(&place, arguments).expect(2);
        assert!(
            done.err.starts_with(&format!("hpsqlite: {line}")) && done.err.lines().count() == 1,
            "{arguments}: {done:?}"
        );
    }
    std::fs::remove_file(journal).unwrap();
    let left = place.list("");
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    // A folder that is there and empty is taken.
    kvtest(&place, "export x.db void --tree").expect(0);
    assert!(place.path("void/00/01/23").exists());
}

#[test]
fn what_is_interrupted_leaves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    let anything = |folder: PathBuf| move || std::fs::read_dir(&folder).unwrap().next().is_some();
    let init = place.command(&["kvtest", "init", "out/x.db", "--count", "100M"]);
    let done = interrupt_when(init, anything(place.path("out")));
    assert_eq!(done.err, "hpsqlite: interrupted\n");
    done.expect(130);
    assert_eq!(place.list("out"), Vec::<String>::new());

    kvtest(&place, "init x.db --count 50K --size 100").expect(0);
    let export = place.command(&["kvtest", "export", "x.db", "out/x"]);
    interrupt_when(export, anything(place.path("out"))).expect(130);
    assert_eq!(place.list("out"), Vec::<String>::new());

    let before = answer(&place, "x.db --count 50K");
    let update = "kvtest run x.db --update --count 9000000G --threads 2 --json out/x.json";
    let update = place.command(&update.split(' ').collect::<Vec<_>>());
    interrupt_when(update, || place.path("x.db-journal").exists()).expect(130);
    assert_eq!(place.list("out"), Vec::<String>::new());
    assert_eq!(
        answer(&place, "x.db --count 50K"),
        before,
        "the transaction was undone"
    );
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    kvtest(&place, "init x.db --count 1000").expect(0);
    // A disk of 2 MB, in a mount table of its own.
    let on_small_disk = |arguments: &str| {
        let script = format!(
            "mount -t tmpfs -o size=2m none small || exit 99; bin/hpsqlite kvtest {arguments}; s=$?; ls -A small; exit $s"
        );
        let output = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", &script])
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .output();
        output
            .ok()
            .map(|o| Done::of(&o))
            .filter(|d| ![Some(99), Some(1)].contains(&d.status))
    };
    for (arguments, line) in [
        ("init small/y.db --count 1000", "cannot write small/y.db: "),
        (
            "export x.db small/y",
            "cannot write small/y: No space left on device (os error 28)",
        ),
    ] {
        let Some(done) = on_small_disk(arguments) else {
            println!("skipped: no file system can be mounted here");
            return;
        };
        assert!(
            done.err.starts_with(&format!("hpsqlite: {line}")),
            "{done:?}"
        );
        assert_eq!(done.expect(2).out, "", "nothing is left");
    }
    // In place, so that it is as it was.
    let done = on_small_disk(
        "init small/y.db --count 100 --size 10000 --lib stock && bin/hpsqlite kvtest run small/y.db --update --jmode wal --nocheckpoint --count 500 --multitrans; bin/hpsqlite kvtest run small/y.db --count 100",
    )
    .unwrap();
    assert!(done.err.contains("database or disk is full\n"), "{done:?}");
    done.expect(0).says("Values: each that was read is whole");
}
