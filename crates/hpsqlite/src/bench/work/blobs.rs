//! Jobs of large values, in a database or in files, by `kvtest`.
//!
//! Engines are SQLite libraries, `flat` (a folder with a file for each value) and `tree` (a tree of
//! folders with at most 100 files each).
//!
//! | step | what it does |
//! |---|---|
//! | `read-sequential` | reads values in the order of their keys |
//! | `read-random` | reads the values of random keys |
//! | `write-sequential` | overwrites values in the order of their keys, each with one of its size |
//! | `write-random` | the same, with random keys |
//! | `space` | looks how much disk space all values take |
//!
//! | option | of | meaning |
//! |---|---|---|
//! | `size` | data | bytes of a value |
//! | `variance` | data | values have so many bytes more or fewer |
//! | `total` | data | bytes of all values, which says how many there are, but at least 20 |
//! | `most` | data | how many there are at most where `total` says how many; by default 10,000 |
//! | `values` | data | how many there are, in place of `total` |
//! | `page_size` | data | of a database |
//! | `made_by` | data | `stock` or `ours`: the library that makes the database; by default the one that is measured |
//! | `access` | job | `sql` or `blob-api` (`sqlite3_blob_read()` and its like) |
//! | `transactions` | job | `one` for all operations, or `each` |
//! | `checkpoint` | job | `off`: copying the write-ahead log into the database is left out of the time |
//! | `fsync` | job | `on`: each file is synchronised when it was written |
//! | `pragma.NAME` | job | set on each connection, and read back |
//! | `threads` | step | each with a connection and a part of the keys of its own |
//! | `operations` | step | values to read or write; by default as many as there are; a share such as `10%` is of these, but at least 20 |
//!
//! Those of a step may be given to the whole job as well. `database`, the file or the folder of the
//! data set, comes from the runner ([`data_set`]).
//!
//! **Warm.** How fast a cached file is read depends on the memory that it got when it came into
//! the cache. So the data set is read into the cache anew before a job, files and databases in
//! the same way, and the median of several trials is one over several places in memory. Of two
//! runs of a reading step the second counts.
//!
//! **Writing** works on a copy, made and written to the device before the clock runs, and runs once.
//! A file is written as most programs do it: emptied, written and closed. How it is mounted is told
//! with the settings, because emptying a file waits for the device where that says `discard`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{DataWanted, Say, Work};
use crate::bench::connection;
use crate::bench::dataset::{self, Cache, Name};
use crate::bench::meter::Meter;
use crate::bench::model::{Effective, Job, Line, PRAGMA_PREFIX, Sample, Step, Values};
use crate::compare::cache;
use crate::host::Mount;
use crate::kvtest::measure::{self, Measured, VisitOrder, VisitPlan};
use crate::kvtest::place::{self, Layout, MARK, PathKind};
use crate::kvtest::{make, value};
use crate::sys::Library;
use crate::{interrupt, libs, text};

/// Fewer values are too few to be timed.
const FEWEST: u64 = 20;
/// More take too long to be made as files, unless that is asked for.
const MOST: u64 = 10_000;
/// `PRAGMA cache_size` where nothing else is asked for: that of SQLite's own kvtest.
const CACHE_PAGES: i64 = 1000;
/// PRAGMAs that change nothing in the file. With others a job works on a copy.
const HARMLESS: [&str; 3] = ["cache_size", "mmap_size", "synchronous"];
/// Options other than PRAGMAs that a job has as a whole, and that are read back as settings.
const SETTINGS: [&str; 4] = ["access", "transactions", "checkpoint", "fsync"];
/// What is shown of the settings of a connection, beside what was asked for.
const SHOWN: [&str; 5] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "page_size",
];

/// Large values, in a database or in files.
pub struct LargeValues;

impl Work for LargeValues {
    fn options(&self) -> Vec<&'static str> {
        vec![
            "access",
            "checkpoint",
            "fsync",
            "made_by",
            "most",
            "operations",
            "page_size",
            "size",
            "threads",
            "total",
            "transactions",
            "values",
            "variance",
        ]
    }

    fn has_engine(&self, engine: &str, is_sqlite: bool, _options: &Values) -> bool {
        is_sqlite || layout(engine).is_some()
    }

    fn asked(&self, options: &Values) -> Values {
        asked(options)
    }

    /// `database`, the file or the folder that the values are in, and `cache`, the folder of data sets.
    fn data(&self, wanted: &DataWanted<'_>) -> Result<Values> {
        let set = data_set(wanted.engine, wanted.library, wanted.options, wanted.cache)?;
        dataset::places(&[("database", &set), ("cache", wanted.cache.folder())])
    }

    fn run(&self, job: &Job, say: Say<'_>) -> Result<()> {
        run(job, say)
    }
}

/// The settings that a job asks for, by the names under which they are read back.
fn asked(options: &Values) -> Values {
    let mut asked = connection::pragmas(options);
    let own = |(name, _): &(&String, &String)| SETTINGS.contains(&name.as_str());
    asked.extend(
        options
            .iter()
            .filter(own)
            .map(|(n, v)| (n.clone(), v.clone())),
    );
    asked
}

/// How values are kept as files, if the engine is one that does.
fn layout(engine: &str) -> Option<Layout> {
    match engine {
        "flat" => Some(Layout::Flat),
        "tree" => Some(Layout::Tree),
        _ => None,
    }
}

fn number(options: &Values, name: &str) -> Result<Option<u64>> {
    let Some(text) = options.get(name) else {
        return Ok(None);
    };
    let number = text::parse_number(text).filter(|n| *n >= 0.0 && n.fract() == 0.0);
    match number {
        Some(number) => Ok(Some(number as u64)),
        None => bail!("{name}={text}: it is a whole number, such as 20000, 20 kB or 64 KiB"),
    }
}

fn choice(options: &Values, name: &str, choices: &[&'static str]) -> Result<&'static str> {
    let Some(text) = options.get(name) else {
        return Ok(choices[0]);
    };
    match choices.iter().find(|choice| *choice == text) {
        Some(choice) => Ok(choice),
        None => bail!("{name}={text}: it is {}", choices.join(" or ")),
    }
}

/// The data set of a job: a database, or a folder of files; made if it is not there.
fn data_set(
    engine: &str,
    library: Option<&Path>,
    options: &Values,
    cache: &Cache,
) -> Result<PathBuf> {
    let files = layout(engine);
    let stock;
    let library = match (files, options.get("made_by").map(String::as_str)) {
        (Some(_), _) | (None, Some("stock")) => {
            stock = libs::stock()?;
            &stock
        }
        (None, Some("ours")) => {
            stock = libs::ours()?;
            &stock
        }
        (None, Some(other)) => bail!("made_by={other}: a database is made by stock or ours"),
        (None, None) => library.with_context(|| {
            format!("{engine} is neither a SQLite library nor flat or tree, the two kinds of files")
        })?,
    };
    let size = number(options, "size")?.context("there is no size of the values")?;
    ensure!(size > 0, "size={size}: a value has at least a byte");
    let values = match (number(options, "values")?, number(options, "total")?) {
        (Some(values), None) => values,
        (None, Some(total)) => {
            let most = number(options, "most")?.unwrap_or(MOST);
            (total / size).min(most).max(FEWEST)
        }
        (None, None) => bail!("one of values and total says how many values there are"),
        (Some(_), Some(_)) => bail!("values and total cannot both say how many values there are"),
    };
    ensure!(values > 0, "values={values}: there is at least one");
    let values = make::Values {
        count: values,
        size,
        variance: number(options, "variance")?.unwrap_or(0),
        page_size: number(options, "page_size")?.unwrap_or(4096),
        seed: value::SEED,
    };
    let name = Name::new("blobs", value::VERSION)
        .with("size", values.size)
        .with("variance", values.variance)
        .with("values", values.count);
    let Some(layout) = files else {
        let name = name.with("page_size", values.page_size).by(library)?;
        return cache.get(&name, |path| {
            make::init(library, path, &values, false).map(|_| ())
        });
    };
    cache.get(&name.with("files", engine), |path| {
        // Whatever library wrote them, values are the same.
        let database = path.with_extension("db");
        make::init(library, &database, &values, false)?;
        make::export(library, &database, path, layout)?;
        Ok(std::fs::remove_file(&database)?)
    })
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlobStep {
    Read(VisitOrder),
    Write(VisitOrder),
    Space,
}

impl BlobStep {
    fn named(name: &str) -> Result<BlobStep> {
        Ok(match name {
            "read-sequential" => BlobStep::Read(VisitOrder::Asc),
            "read-random" => BlobStep::Read(VisitOrder::Random),
            "write-sequential" => BlobStep::Write(VisitOrder::Asc),
            "write-random" => BlobStep::Write(VisitOrder::Random),
            "space" => BlobStep::Space,
            _ => bail!("no such step for large values"),
        })
    }
}

/// Does the steps of a job, telling each line to `say`.
fn run(job: &Job, say: Say<'_>) -> Result<()> {
    let mut whats = Vec::new();
    for step in &job.steps {
        let context = || format!("step {}", step.name);
        whats.push(BlobStep::named(&step.name).with_context(context)?);
        let whole =
            |name: &&String| SETTINGS.contains(&name.as_str()) || name.starts_with(PRAGMA_PREFIX);
        if let Some(name) = step.options.keys().find(whole) {
            bail!("step {}: {name} is for the whole job", step.name);
        }
    }
    let data = job
        .options
        .get("database")
        .context("there is no data set")?;
    let data = PathBuf::from(data);
    let kind = PathKind::of(&data)?;
    let writes = whats.iter().any(|what| matches!(what, BlobStep::Write(_)));
    let harmful = |name: &String| {
        let pragma = name.strip_prefix(PRAGMA_PREFIX);
        pragma.is_some_and(|pragma| !HARMLESS.contains(&pragma))
    };
    let target = if writes || job.options.keys().any(harmful) {
        let own = job.folder.join("copy");
        match kind {
            PathKind::Database => copy_file(&data, &own)?,
            PathKind::Files(layout) => {
                let mut written = BTreeSet::new();
                let all = place::total(&data, None)?.values;
                for (step, what) in job.steps.iter().zip(&whats) {
                    if matches!(what, BlobStep::Write(_)) {
                        let plan = plan(job, step, *what, &data, kind)
                            .with_context(|| format!("step {}", step.name))?;
                        written.extend(measure::visited(&plan, all));
                    }
                }
                copy_folder(&data, &own, layout, &written)?;
            }
        }
        make::sync(&job.folder)
            .with_context(|| format!("cannot write {}", job.folder.display()))?;
        own
    } else {
        // What is to be cold is dropped again.
        if whats.iter().any(|what| *what != BlobStep::Space) {
            cache::read_anew(&all_files(&data, kind)?)?;
        }
        data
    };
    let mut told = false;
    for (step, what) in job.steps.iter().zip(whats) {
        interrupt::check()?;
        let context = || format!("step {}", step.name);
        let done = match what {
            BlobStep::Space => space(job, step, &target, kind),
            _ => visit(job, step, what, &target, kind, say),
        };
        let (effective, mut sample) = match done {
            Ok(done) => done,
            Err(e) => {
                say(job.not_cold(step, e).with_context(context)?)?;
                continue;
            }
        };
        if !told {
            say(Line::Ready(effective))?;
            told = true;
        }
        if !step.unmeasured {
            sample.step.clone_from(&step.name);
            say(Line::Sample(sample))?;
        }
    }
    Ok(())
}

/// Reads or writes values.
fn visit(
    job: &Job,
    step: &Step,
    what: BlobStep,
    target: &Path,
    kind: PathKind,
    say: Say<'_>,
) -> Result<(Effective, Sample)> {
    let plan = plan(job, step, what, target, kind)?;
    let measured = measure::measure(&plan, &|part| {
        // Nobody may be listening any more: then the samples will tell.
        let _ = say(Line::Progress(part));
    })?;
    ensure!(
        measured.verified,
        "{} was not made by the lab, so what is read from it cannot be verified",
        target.display()
    );
    let effective = effective(job, &plan, kind, &measured)?;
    let last = measured.runs.into_iter().next_back();
    Ok((effective, last.context("there was no run")?.sample))
}

fn plan(
    job: &Job,
    step: &Step,
    what: BlobStep,
    target: &Path,
    kind: PathKind,
) -> Result<VisitPlan> {
    let mut options = job.options.clone();
    options.extend(step.options.clone());
    let number = |name: &str| number(&options, name);
    let update = matches!(what, BlobStep::Write(_));
    let mut plan = VisitPlan {
        target: target.to_owned(),
        library: match kind {
            PathKind::Database => Some(job.library.clone().context("no library")?),
            PathKind::Files(_) => None,
        },
        order: match what {
            BlobStep::Read(order) | BlobStep::Write(order) => order,
            BlobStep::Space => VisitOrder::Asc,
        },
        count: operations(&options, target, job.library.as_deref())?,
        max_id: None,
        start: 1,
        update,
        blob_api: choice(&options, "access", &["sql", "blob-api"])? == "blob-api",
        cache_size: CACHE_PAGES,
        mmap: 0,
        journal_mode: None,
        no_sync: false,
        pragmas: Vec::new(),
        fsync: choice(&options, "fsync", &["off", "on"])? == "on",
        multi_transactions: choice(&options, "transactions", &["one", "each"])? == "each",
        no_checkpoint: choice(&options, "checkpoint", &["on", "off"])? == "off",
        integrity_check: false,
        stats: false,
        threads: number("threads")?.unwrap_or(1),
        repeat: if update || step.cold { 1 } else { 2 },
        cold: step.cold,
        seed: job.seed,
    };
    ensure!(
        (1..=1024).contains(&plan.threads),
        "threads={}: there may be 1 to 1024",
        plan.threads
    );
    for (name, value) in &job.options {
        let Some(pragma) = name.strip_prefix(PRAGMA_PREFIX) else {
            continue;
        };
        match pragma {
            "journal_mode" => plan.journal_mode = Some(value.clone()),
            "mmap_size" => plan.mmap = number(name)?.unwrap_or(0),
            "cache_size" => {
                plan.cache_size = value
                    .parse()
                    .with_context(|| format!("{name}={value}: it is a number"))?;
            }
            _ => plan.pragmas.push((pragma.to_owned(), value.clone())),
        }
    }
    Ok(plan)
}

/// How many values are to be visited.
fn operations(options: &Values, target: &Path, library: Option<&Path>) -> Result<u64> {
    let text = options.get("operations").map_or("100%", String::as_str);
    let Some(share) = text.strip_suffix('%') else {
        return match number(options, "operations")? {
            Some(0) | None => bail!("operations={text}: there is at least one"),
            Some(operations) => Ok(operations),
        };
    };
    let share: f64 = share
        .trim()
        .parse()
        .with_context(|| format!("operations={text}: it is a number or a share such as 10%"))?;
    let all = place::total(target, library)?.values as f64;
    Ok((all * share / 100.0).round().max(FEWEST as f64) as u64)
}

/// What the engine said about itself, as far as it matters here.
fn effective(
    job: &Job,
    plan: &VisitPlan,
    kind: PathKind,
    measured: &Measured,
) -> Result<Effective> {
    let asked = asked(&job.options);
    let real = &measured.effective.settings;
    let mut settings = Values::new();
    let mut set = |name: &str, value: &str| {
        settings.insert(name.to_owned(), value.to_owned());
    };
    let mut effective = measured.effective.clone();
    let writes = job.steps.iter().any(|s| s.name.starts_with("write"));
    match kind {
        PathKind::Database => {
            let asked = asked.keys().map(String::as_str);
            for name in SHOWN.into_iter().chain(asked).chain(["source_id"]) {
                // Of a PRAGMA that is not known there is no value.
                if let Some(value) = real.get(name).filter(|value| !value.is_empty()) {
                    set(name, value);
                }
            }
            set("access", if plan.blob_api { "blob-api" } else { "sql" });
            let each = plan.multi_transactions;
            set("transactions", if each { "each" } else { "one" });
            if plan.no_checkpoint && real.get("journal_mode").is_some_and(|mode| mode == "wal") {
                set("checkpoint", "off");
            }
            let library = Library::load(plan.library.as_deref().context("no library")?)?;
            let db = place::open(&library, &plan.target)?;
            effective.version = connection::version(&library, &db);
            let setting = |name: &str| real.get(name).map_or("", String::as_str);
            effective.durability =
                connection::durability(setting("journal_mode"), setting("synchronous")).to_owned();
        }
        PathKind::Files(layout) => {
            effective.version = match layout {
                Layout::Flat => "files in one folder",
                Layout::Tree => "files in a tree of folders",
            }
            .to_owned();
            if plan.update {
                set("fsync", if plan.fsync { "on" } else { "off" });
                let mount = Mount::of(&plan.target);
                let words = mount.map(|m| format!("{} {}", m.kind, m.options));
                set("mounted", &words.unwrap_or_default());
            }
        }
    }
    if !writes {
        effective.durability = "nothing is written".to_owned();
    }
    if let Some(dropped) = &measured.cold {
        set("dropped from the cache", dropped);
    }
    Ok(Effective {
        settings,
        ..effective
    })
}

/// How much room the values take, as the file system counts it: a sample whose operations and
/// bytes are those of all values.
fn space(job: &Job, step: &Step, target: &Path, kind: PathKind) -> Result<(Effective, Sample)> {
    // One value is read, so that the engine tells what it is.
    let mut plan = plan(job, step, BlobStep::Space, target, kind)?;
    (plan.count, plan.threads, plan.repeat) = (1, 1, 1);
    plan.cold = false;
    let measured = measure::measure(&plan, &|_| ())?;
    let effective = effective(job, &plan, kind, &measured)?;
    let meter = Meter::start();
    let all = place::total(target, job.library.as_deref())?;
    let space = measured.runs.first().map_or(0, |run| run.sample.space);
    Ok((
        effective,
        Sample {
            operations: all.values,
            bytes: all.bytes,
            space,
            ..meter.stop()
        },
    ))
}

/// The files of a data set, in the order of their keys.
fn all_files(target: &Path, kind: PathKind) -> Result<Vec<PathBuf>> {
    Ok(match kind {
        PathKind::Database => place::database_files(target),
        PathKind::Files(layout) => {
            let keys = place::list(target, layout)?.keys;
            keys.iter().map(|&key| layout.path(target, key)).collect()
        }
    })
}

/// Makes a folder of files a second time: with copies of the files that will be written, and links
/// to the others. It looks as the first one does, and is made and removed many times as fast, since
/// some file systems wait for the device to free the blocks of a file.
fn copy_folder(from: &Path, to: &Path, layout: Layout, written: &BTreeSet<i64>) -> Result<()> {
    let context = || format!("cannot copy {} to {}", from.display(), to.display());
    std::fs::create_dir(to).with_context(context)?;
    copy_file(&from.join(MARK), &to.join(MARK))?;
    let keys = place::list(from, layout)?.keys;
    // Other keys would be visited as well, of which there might be no copies.
    ensure!(
        keys.iter().copied().eq(1..=keys.len() as i64),
        "{} has not all keys from 1 to {}",
        from.display(),
        keys.len()
    );
    let mut last = to.to_owned();
    for key in keys {
        interrupt::check()?;
        let (old, new) = (layout.path(from, key), layout.path(to, key));
        let parent = place::parent(&new);
        if last != parent {
            std::fs::create_dir_all(parent).with_context(context)?;
            last = parent.to_owned();
        }
        // Not every file system has links.
        if written.contains(&key) || std::fs::hard_link(&old, &new).is_err() {
            copy_file(&old, &new)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}
