//! Copies of a file, made while one looks: asked for by the page or on the command line, stopped and
//! removed at the end.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use anyhow::{Result, bail};
use axum::http::StatusCode;
use tempfile::TempDir;

use super::{CopyOf, FileProgress, Files, Opened, Refusal, Stage};
use crate::viz::copy::{self, CopyJob, CopyKind, CopyStop, Room};

/// Copies at a time, copies of copies among them: each takes the room of a file.
const MOST: usize = 12;

/// The copies that are there or being made.
#[derive(Default)]
pub struct Copies(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Made when the first copy is.
    folder: Option<TempDir>,
    copies: Vec<Copy>,
    ended: bool,
}

struct Copy {
    /// The number of the copy.
    file: usize,
    kind: CopyKind,
    /// The number of what it is a copy of.
    source: usize,
    /// The same, as that was then.
    of: Weak<Opened>,
    room: Room,
    stop: Arc<CopyStop>,
    maker: Option<JoinHandle<()>>,
}

impl Copies {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to make a copy of file `f`; gives its number. A copy that is there already, or being
    /// made, is not made again.
    pub fn start(&self, files: &Arc<Files>, f: usize, kind: CopyKind) -> Result<usize, Refusal> {
        let (source, path) = (files.get(f)?, files.path(f)?);
        let mut inner = self.inner();
        let mut there = inner
            .copies
            .iter()
            .filter(|copy| copy.kind == kind && copy.of.as_ptr() == Arc::as_ptr(&source));
        // What was stopped is made again, even if it has not ended yet.
        let stays = |copy: &&Copy| match files.stage(copy.file) {
            Stage::Making => !copy.stop.stopped(),
            Stage::There => true,
            Stage::Failed => false,
        };
        if let Some(copy) = there.find(stays) {
            return Ok(copy.file);
        }
        let kept = |copy: &&Copy| files.stage(copy.file) != Stage::Failed;
        if inner.copies.iter().filter(kept).count() >= MOST {
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("there are {MOST} copies already, and each takes room on the disk"),
            ));
        }
        let making = inner.copies.iter();
        let making = making.filter(|copy| files.stage(copy.file) == Stage::Making);
        let taken = making.map(|copy| copy.room.left()).sum();
        let job = inner
            .job(&path, kind, taken)
            .map_err(|e| Refusal::new(StatusCode::CONFLICT, format!("{e:#}")))?;
        let (file, progress) =
            files.add_copy(&kind.title(&files.title(f)), &path, CopyOf { of: f, kind });
        let stop = Arc::new(CopyStop::default());
        let room = job.room();
        let maker = {
            let (files, stop) = (files.clone(), stop.clone());
            std::thread::spawn(move || make(&files, file, job, &stop, &progress))
        };
        inner.copies.push(Copy {
            file,
            kind,
            source: f,
            of: Arc::downgrade(&source),
            room,
            stop,
            maker: Some(maker),
        });
        Ok(file)
    }

    /// Stops the making of copy `f`.
    pub fn stop(&self, f: usize) -> Result<(), Refusal> {
        let inner = self.inner();
        let copy = inner.copies.iter().find(|copy| copy.file == f);
        let copy = copy.ok_or_else(|| Refusal::not_found(format!("file {f} is no copy")))?;
        copy.stop.stop();
        Ok(())
    }

    /// Removes the copies of a file that was opened anew: they are of what it was.
    pub fn drop_copies_of(&self, files: &Files, f: usize) {
        let inner = self.inner();
        for copy in inner.copies.iter().filter(|copy| copy.source == f) {
            match files.stage(copy.file) {
                Stage::Making => copy.stop.stop(),
                Stage::There => inner.remove(files, copy.file),
                Stage::Failed => {}
            }
        }
    }

    /// Stops what is being made, and removes all copies.
    pub fn end(&self) {
        let mut inner = self.inner();
        inner.ended = true;
        for copy in &inner.copies {
            copy.stop.stop();
        }
        for maker in inner.copies.iter_mut().filter_map(|copy| copy.maker.take()) {
            let _ = maker.join();
        }
        inner.folder = None;
    }
}

impl Inner {
    /// Removes copy `f` from the disk.
    fn remove(&self, files: &Files, f: usize) {
        let path = files.path(f).unwrap_or_default();
        let why = "it was of the file as it was before, and is removed; make it again";
        files.failed(f, why.to_owned());
        // Each has a folder of its own in ours.
        let ours = |folder: &&Path| folder.parent() == self.folder.as_ref().map(TempDir::path);
        if let Some(folder) = path.parent().filter(ours) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn job(&mut self, source: &Path, kind: CopyKind, taken: u64) -> Result<CopyJob> {
        if self.ended {
            bail!("the program is ending");
        }
        let folder = match &mut self.folder {
            Some(folder) => folder,
            none => none.insert(copy::folder()?),
        };
        CopyJob::new(source, kind, folder.path(), taken)
    }
}

fn make(files: &Files, file: usize, job: CopyJob, stop: &CopyStop, progress: &FileProgress) {
    let made = job.run(stop, |done, all| {
        progress.done.store(done, Ordering::Relaxed);
        progress.total.store(all, Ordering::Relaxed);
    });
    match made {
        Ok(copied) => files.made(file, &copied.path, copied.notes),
        Err(_) if stop.stopped() => files.failed(file, "its making was stopped".to_owned()),
        Err(e) => files.failed(file, format!("{e:#}")),
    }
}
