//! What the tests share: an installed tool, databases, and libraries that misbehave on purpose.
//!
//! The libraries come from `dist`, as `make` leaves it, or from the folder named by
//! HPSQLITE_TEST_LIBS, which has the same layout.

// Each test file uses its own part.
#![allow(dead_code)]

pub mod import;
pub mod server;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long something that happens in another process may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn libraries() -> PathBuf {
    let folder = match std::env::var_os("HPSQLITE_TEST_LIBS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist"),
    };
    folder.canonicalize().unwrap_or_else(|_| {
        panic!(
            "{}: no libraries; run `make`, or set HPSQLITE_TEST_LIBS",
            folder.display()
        )
    })
}

/// SQLite's shell.
pub fn shell() -> PathBuf {
    libraries().join("bin/sqlite3")
}

/// Tells why a test, or a part of it, does nothing here.
pub fn skipped(why: &str) {
    // Not by a macro, whose output is shown only where a test fails.
    writeln!(std::io::stderr().lock(), "skipped: {why}").unwrap();
}

/// A folder of its own for a test, with the tool installed in it.
pub struct Place {
    root: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        // Not in /tmp, which may be in memory.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (from, to) = (libraries(), root.path());
        for folder in ["bin", "lib", "libexec/hpsqlite", "tmp", "cache"] {
            std::fs::create_dir_all(to.join(folder)).unwrap();
        }
        for file in [
            "lib/libsqlite3.so.0",
            "libexec/hpsqlite/libsqlite3-stock.so",
            "libexec/hpsqlite/hpsqlite-loaded.so",
        ] {
            std::fs::copy(from.join(file), to.join(file)).unwrap();
        }
        // Not copied, see [`Place::script`].
        std::fs::hard_link(env!("CARGO_BIN_EXE_hpsqlite"), to.join("bin/hpsqlite")).unwrap();
        Place { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a script that can be run.
    ///
    /// Another program writes it: what this process has open for writing, the child of a test that
    /// starts a program at this moment has open too, and then it cannot be run ("Text file busy").
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let mut writer = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // Taken out of the child, so that it ends before the wait.
        let mut pipe = writer.stdin.take().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        drop(pipe);
        assert!(writer.wait().unwrap().success());
        path
    }

    /// Names of what is in a folder.
    pub fn list(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path(folder))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The installed tool, run in the place's root.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/hpsqlite"));
        command
            .args(arguments)
            .current_dir(self.root.path())
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("LD_AUDIT")
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        Done::of(&self.command(arguments).output().unwrap())
    }

    /// Starts `hpsqlite measure` with a job on its standard input.
    pub fn start_job(&self, job: &Value) -> Child {
        let mut child = self
            .command(&["measure"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        child
    }

    /// Has `hpsqlite measure` do a job; gives its lines without progress.
    pub fn measure(&self, job: &Value) -> Vec<Value> {
        let output = self.start_job(job).wait_with_output().unwrap();
        assert!(output.status.success(), "{}", output.status);
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|line: &Value| line.get("progress").is_none())
            .collect()
    }

    /// A database of 3,000 rows `t(n INTEGER PRIMARY KEY, r REAL, s TEXT)`; row 2,500 has r = 42.5.
    pub fn database(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mut worker = Worker::on(self, &path);
        worker.sql("CREATE TABLE t(n INTEGER PRIMARY KEY, r REAL, s TEXT)");
        worker.sql(
            "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000)
             INSERT INTO t SELECT i, CASE i WHEN 2500 THEN 42.5 ELSE i*0.001 END, 'Text '||(i%7) FROM c",
        );
        path
    }

    /// Builds a library that is ours but for what the switch changes (see misbehaving.c).
    pub fn misbehaving(&self, switch: &str) -> String {
        self.misbehaving_as(switch, &self.path("lib/libsqlite3.so.0"))
    }

    /// The same of the stock library.
    pub fn misbehaving_stock(&self, switch: &str) -> String {
        // It is looked for by the name that is written in it.
        let named = self.path("tmp/libsqlite3.so.0");
        std::fs::copy(self.path("libexec/hpsqlite/libsqlite3-stock.so"), &named).unwrap();
        self.misbehaving_as(switch, &named)
    }

    fn misbehaving_as(&self, switch: &str, real: &Path) -> String {
        let library = self.path(&format!("{switch}.so"));
        self.cc(&[
            "-shared",
            "-fPIC",
            &format!("-D{switch}"),
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/misbehaving.c"),
            "-o",
            library.to_str().unwrap(),
            "-Wl,--no-as-needed",
            real.to_str().unwrap(),
            &format!("-Wl,-rpath,{}", real.parent().unwrap().display()),
        ]);
        library.to_str().unwrap().to_owned()
    }

    /// Runs the C compiler.
    pub fn cc(&self, arguments: &[&str]) {
        let done = Command::new("cc")
            .args(arguments)
            .current_dir(self.root.path())
            .output()
            .expect("a C compiler");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// Puts the static library into the place.
    pub fn link_static_library(&self) {
        symlink(
            libraries().join("lib/libsqlite3.a"),
            self.path("libsqlite3.a"),
        )
        .unwrap();
    }
}

/// What a run of the tool came to.
#[derive(Debug)]
pub struct Done {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    pub fn of(output: &Output) -> Done {
        Done {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub fn expect(self, status: i32) -> Done {
        assert_eq!(self.status, Some(status), "{self:#?}");
        self
    }

    /// The run failed with status 2 and this one line.
    #[track_caller]
    pub fn fails_with(self, line: &str) {
        assert_eq!(self.err, format!("hpsqlite: {line}\n"), "{self:#?}");
        self.expect(2);
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Done {
        assert!(
            self.out.contains(text) || self.err.contains(text),
            "no {text:?} in {self:#?}"
        );
        self
    }
}

/// A worker process driven by hand: SQL for preparing and looking into databases.
pub struct Worker {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

impl Worker {
    /// Opens a database for writing, a new one if there is none.
    pub fn on(place: &Place, database: &Path) -> Worker {
        std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(database)
            .unwrap();
        let mut child = place
            .command(&["worker", "lib/libsqlite3.so.0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut worker = Worker { child, output };
        worker.reply();
        worker.ask(json!({"Open": {"database": database, "writable": true, "pragmas": []}}));
        worker
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, request: Value) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
        let reply = self.reply();
        assert!(reply.get("Sql").is_none(), "{request}: {reply}");
        reply
    }

    /// Runs a statement.
    pub fn sql(&mut self, sql: &str) {
        let reply = self.ask(json!({"Run": {"sql": sql, "repeat": 1, "undo": false}}));
        let error = reply.pointer("/Ran/outcome/error");
        assert!(error.is_none(), "{sql}: {reply}");
    }

    /// The hash of all values that a query gives, with their types and in their order.
    pub fn hash(&mut self, sql: &str) -> String {
        let reply = self.ask(json!({"Run": {"sql": sql, "repeat": 1, "undo": false}}));
        let outcome = &reply["Ran"]["outcome"];
        assert!(outcome.get("error").is_none(), "{sql}: {reply}");
        outcome["hash"].as_str().unwrap().to_owned()
    }

    /// The rows of a query, values joined by `|`.
    pub fn rows(&mut self, sql: &str) -> Vec<String> {
        let reply = self.ask(json!({"Rows": {"sql": sql, "undo": false, "from": 0}}));
        let value = |cell: &Value| cell["value"].as_str().unwrap().to_owned();
        let row = |row: &Value| {
            let values: Vec<String> = row.as_array().unwrap().iter().map(value).collect();
            values.join("|")
        };
        reply["Rows"].as_array().unwrap().iter().map(row).collect()
    }

    /// Ends the process without letting SQLite close the database.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }
}

/// Presses Ctrl-C once `ready` is true, and waits for the end.
pub fn interrupt_when(mut command: Command, ready: impl Fn() -> bool) -> Done {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    wait_until(ready);
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    Done::of(&child.wait_with_output().unwrap())
}

/// Waits until something that another process does has happened.
#[track_caller]
pub fn wait_until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Process numbers of those whose command line contains `text`.
pub fn processes_with(text: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(text))
    })
    .collect()
}
