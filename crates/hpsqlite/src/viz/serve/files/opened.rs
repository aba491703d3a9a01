//! A file that is open: its model, its scan by a thread of its own, and whether it was written to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::interrupt;
use crate::viz::device::Device;
use crate::viz::figures::Figures;
use crate::viz::file::Image;
use crate::viz::scan::Scan;
use crate::viz::wal::{self, Wal};
use crate::viz::walk::Model;

/// How often a file is asked at most whether it was written to.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How far something has come that takes a while.
#[derive(Debug, Default)]
pub struct FileProgress {
    pub done: AtomicU64,
    pub total: AtomicU64,
}

/// A file that is open.
#[derive(Debug)]
pub struct Opened {
    model: RwLock<Model>,
    pub scanned: FileProgress,
    figures: OnceLock<Figures>,
    /// Why the scan ended before the file did.
    pub failed: OnceLock<String>,
    /// Whether it was written to, and when that was asked.
    changed: Mutex<Option<(Instant, Option<&'static str>)>>,
    /// The log as it was when it was last asked for, by what tells that it changed.
    log: Mutex<Option<(String, Option<Arc<Wal>>)>>,
    /// Nobody wants it any more.
    closed: AtomicBool,
    /// The thread that scans it.
    scanner: Mutex<Option<JoinHandle<()>>>,
}

impl Opened {
    /// Begins to scan a file that was opened.
    pub fn new(model: Model, device: Device) -> Arc<Opened> {
        let pages = u64::from(model.map.pages());
        let opened = Arc::new(Opened {
            model: RwLock::new(model),
            scanned: FileProgress {
                done: AtomicU64::new(0),
                total: AtomicU64::new(pages),
            },
            figures: OnceLock::new(),
            failed: OnceLock::new(),
            changed: Mutex::new(None),
            log: Mutex::new(None),
            closed: AtomicBool::new(false),
            scanner: Mutex::new(None),
        });
        let scanning = opened.clone();
        let scanner = std::thread::spawn(move || {
            let scan = AssertUnwindSafe(|| scanning.scan(device));
            let why = match catch_unwind(scan) {
                Ok(Ok(())) => return,
                Ok(Err(e)) => format!("{e:#}"),
                // It must not look as if it went on for ever.
                Err(_) => "the scan ended in a fault of the tool".to_owned(),
            };
            let _ = scanning.failed.set(why);
        });
        *opened.scanner() = Some(scanner);
        opened
    }

    fn scanner(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.scanner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes its scan end at the next safe place.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether the thread that scans it has not ended.
    pub fn is_scanning(&self) -> bool {
        self.scanner().as_ref().is_some_and(|s| !s.is_finished())
    }

    /// Makes its scan end and waits for that: a scan may have a temporary file.
    pub fn end(&self) {
        self.close();
        let scanner = self.scanner().take();
        if let Some(scanner) = scanner {
            // Its faults were told where they happened.
            let _ = scanner.join();
        }
    }

    /// Whether the scan goes on; an error after Ctrl-C.
    fn goes_on(&self) -> Result<bool> {
        interrupt::check()?;
        Ok(!self.closed.load(Ordering::Relaxed))
    }

    /// The model as far as the scan has come.
    pub fn model(&self) -> RwLockReadGuard<'_, Model> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers, once the scan is complete.
    pub fn figures(&self) -> Option<&Figures> {
        self.figures.get()
    }

    /// Goes through the file. The model is locked for others only while what was read is entered.
    fn scan(&self, device: Device) -> Result<()> {
        let mut scan = Scan::new(&self.model());
        let write = || self.model.write().unwrap_or_else(PoisonError::into_inner);
        while scan.read(&self.model()).context("cannot read the file")? {
            scan.digest(&mut write());
            self.scanned
                .done
                .store(u64::from(scan.done()), Ordering::Relaxed);
            if !self.goes_on()? {
                return Ok(());
            }
        }
        scan.finish(&mut write()).context("cannot read the file")?;
        if !self.goes_on()? {
            return Ok(());
        }
        let figures = Figures::of(&self.model(), device);
        let _ = self.figures.set(figures);
        Ok(())
    }

    /// The log as it is now, with a text that is another one whenever it changed. It is read again
    /// only then: a page that follows it asks each second.
    pub fn log_now(&self) -> std::io::Result<(String, Option<Arc<Wal>>)> {
        let path = self.model().image.path.clone();
        let mut last = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let tag = wal::state(&path);
        if let Some((of, log)) = last.as_ref()
            && *of == tag
        {
            return Ok((tag, log.clone()));
        }
        let log = Wal::read(&path)?.map(Arc::new);
        *last = Some((tag.clone(), log.clone()));
        Ok((tag, log))
    }

    fn asked_whether_changed(&self) -> Option<&'static str> {
        let model = self.model();
        let changed = model.image.changed();
        place_of(&model.image).or(changed.unwrap_or(Some("The file cannot be read any more.")))
    }

    /// Whether the path leads elsewhere now, as a sentence.
    pub fn replaced(&self) -> Option<&'static str> {
        place_of(&self.model().image)
    }

    /// What was written since the file was opened, as a sentence.
    pub fn changed(&self) -> Option<&'static str> {
        let mut last = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((when, what)) if what.is_some() || when.elapsed() < ASK_AGAIN => what,
            _ => {
                let what = self.asked_whether_changed();
                *last = Some((Instant::now(), what));
                what
            }
        }
    }
}

/// Whether a path leads to the file that was opened.
fn place_of(image: &Image) -> Option<&'static str> {
    match std::fs::metadata(&image.path) {
        Ok(there) if image.is_same(&there) => None,
        Ok(_) => Some("Another file has taken its place."),
        Err(_) => Some("It is not there any more."),
    }
}
