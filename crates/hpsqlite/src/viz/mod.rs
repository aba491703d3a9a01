//! `hpsqlite viz`: a database file page by page.
//!
//! ```text
//! open, file, wal header, pages, the log laid over them
//!   │
//! walk            opening: interior pages, schema and free list say who owns which page
//!   │
//! scan            every page once: what it holds, what is wrong, overflow chains
//!   │
//! map, tree ──── numbers ──── advice ──── figures ──── show (terminal), json
//!   │              device    schema
//!   └─────────── problems ─── show (terminal), json
//!
//! ask ─── serve ── web: the page in the browser
//! query ─┘
//!
//! map, tree ──── draw: pictures of the map
//! serve ──────── html: the page in one file
//! ```
//!
//! `ask` has the questions that pictures ask: a page by its number, a b-tree by its name, the path to a
//! key, neighbours, chains. `query` runs a SELECT in a process of its own and sees what it reads.
//!
//! Except for queries, the file is read by code of our own (`page`, `record`), never through SQLite: so
//! what is damaged can be looked at as well, and nothing that is in the file decides what is run. It is
//! opened read-only, without locks. A file of 10 GB is open after reading a few thousand pages; the rest is
//! read when it is asked for, or by the scan.

pub mod advice;
pub mod ask;
mod catalog;
pub mod columns;
pub mod copy;
pub mod device;
pub mod draw;
pub mod figures;
pub mod file;
pub mod html;
pub mod json;
pub mod keyorder;
pub mod map;
pub mod numbers;
mod open;
pub mod page;
pub mod palette;
pub mod query;
pub mod record;
pub mod scan;
pub mod schema;
pub mod select;
pub mod serve;
pub mod show;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod wal;
pub mod walk;
pub mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use clap::Args;

use copy::CopyKind;
use device::{Choice, DISK};
use select::Range;
use serve::Files;

/// Further words in `hpsqlite viz --help`.
pub const HELP: &str = "\
The file is opened read-only and without locks, so it may be in use; it is read by code of the tool's \
own, so it may be damaged.

A page in the browser shows it, until Ctrl-C is pressed: an overview with advice, every page of the \
file on a map, what is in it, the b-trees (tables and indexes), their numbers, the write-ahead log \
as it grows. The page is served on \
127.0.0.1 only, and its address has a random part: whoever knows it can read the file. With a second \
file both are compared.

--vacuumed, --stock and --hp make copies to compare the file with, in a folder in TMPDIR that is removed \
at the end. --stock and --hp write the rows of all tables in turn into a new file, as an application \
would that fills all its tables together: so one sees how each library lays out a file that grows. While \
a copy is made, others cannot write to the file unless it is in WAL mode.

With --svg or --png the map is drawn as a picture instead, for a README or a report: every page in the \
order of the file, in the colour of its table or index, of several files side by side. --only fades \
the others, --pages draws only these. With --html the page of the browser is saved in one file that \
needs no server and asks for nothing outside; what is in the pages is inside if the file is small, or \
for those that --only and --pages choose.

With --text, --check, --json, --only or --pages nothing is served. --text prints the numbers of each \
b-tree: how many pages of what kind, how full, how deep, and how scattered, with advice.

Exit status: 0; with --check 1 if anything is wrong with the file's pages; 2 if it cannot be looked \
at, 130 interrupted.

Examples:
  hpsqlite viz app.db
  hpsqlite viz before.db after.db
  hpsqlite viz app.db --vacuumed --hp
  hpsqlite viz app.db --text
  hpsqlite viz app.db --check
  hpsqlite viz app.db --json model.json
  hpsqlite viz app.db --device measure
  hpsqlite viz app.db --vacuumed --svg map.svg
  hpsqlite viz app.db --html map.html
  hpsqlite viz app.db --only event,event_time --pages 1-5000";

/// What `hpsqlite viz` is told.
#[derive(Args)]
pub struct Arguments {
    /// The database file; it may be in use
    pub db: PathBuf,
    /// Another database file, to be compared with the first
    #[arg(conflicts_with_all = ["text", "check", "json"])]
    pub db2: Option<PathBuf>,
    /// Compare with a copy that VACUUM makes of the first file
    #[arg(long, conflicts_with_all = ["text", "check", "json"])]
    pub vacuumed: bool,
    /// Compare with a new file that stock SQLite fills with the content of the first
    #[arg(long, conflicts_with_all = ["text", "check", "json"])]
    pub stock: bool,
    /// Compare with a new file that High Performance SQLite fills with the content of the first
    #[arg(long, conflicts_with_all = ["text", "check", "json"])]
    pub hp: bool,
    /// Port of 127.0.0.1 to serve the page on [default: one that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open the page in a browser
    #[arg(long)]
    pub no_browser: bool,
    /// Print the numbers of each table and index instead of serving a page
    #[arg(long)]
    pub text: bool,
    /// Look for damage page by page
    #[arg(long, conflicts_with_all = ["text", "only", "pages"])]
    pub check: bool,
    /// Write everything that is known, for scripts
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw the map as SVG, light or dark as the reader has it
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Draw the map as PNG
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
    /// Save the page with its data in one file, for looking at it without this program
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Draw pictures on dark paper
    #[arg(long)]
    pub dark: bool,
    /// Only these tables and indexes
    #[arg(long, value_name = "TABLE,INDEX", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only these pages
    #[arg(long, value_name = "A-B")]
    pub pages: Option<Range>,
    /// The device that cold scans are estimated for: what it reads a second and how long a jump
    /// takes, as 500MB/s,100us; measure reads parts of the file for less than a second to find out
    /// [default: an ordinary SSD, 500MB/s,100us]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<Choice>,
}

impl Arguments {
    /// Whether a page is asked for, and not words or a file.
    fn serves(&self) -> bool {
        let words = self.text || self.check || self.pages.is_some() || !self.only.is_empty();
        !words && self.json.is_none() && !self.draws() && self.html.is_none()
    }

    /// Whether pictures are asked for.
    fn draws(&self) -> bool {
        self.svg.is_some() || self.png.is_some()
    }

    /// The files that are looked at.
    fn files(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.db), self.db2.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }

    /// The copies that the first file is to be compared with.
    fn copies(&self) -> impl Iterator<Item = CopyKind> {
        let all = [
            (self.vacuumed, CopyKind::Vacuumed),
            (self.stock, CopyKind::Stock),
            (self.hp, CopyKind::Hp),
        ];
        all.into_iter()
            .filter(|&(wanted, _)| wanted)
            .map(|(_, kind)| kind)
    }
}

/// Does what was asked; returns the exit status.
pub fn run(args: &Arguments) -> Result<u8> {
    if args.dark && !args.draws() {
        bail!("--dark is for pictures: --svg and --png");
    }
    let device = match args.device {
        None => DISK,
        Some(Choice::Given(device)) => device,
        Some(Choice::Measure) => device::measure(&args.db).map_err(|e| anyhow!(e))?.device,
    };
    if args.serves() {
        let files = Arc::new(Files::new(device));
        let served = serve(args, &files);
        files.end();
        return served.map(|()| 0);
    }
    write::run(args, device)
}

/// Serves the page until Ctrl-C is pressed.
fn serve(args: &Arguments, files: &Arc<Files>) -> Result<()> {
    begin(args, files)?;
    serve::until_interrupted(files.clone(), args.port, !args.no_browser)
}

/// Opens the files, and begins to scan them and to make copies.
fn begin(args: &Arguments, files: &Arc<Files>) -> Result<()> {
    for path in args.files() {
        files.open(&title(path), path)?;
    }
    for kind in args.copies() {
        files
            .copies
            .start(files, 0, kind)
            .map_err(|e| anyhow!(e.what))?;
    }
    Ok(())
}

/// What a file is called on the page.
fn title(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
