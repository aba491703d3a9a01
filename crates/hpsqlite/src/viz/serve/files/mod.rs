//! The files that the page shows: opened, scanned in the background, opened anew when they changed.

mod copies;
mod opened;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anyhow::Result;
use serde::Serialize;

use super::refusal::Refusal;
use crate::viz::copy;
use crate::viz::device::{DISK, Device};
use crate::viz::walk::Model;
use copies::Copies;
pub use opened::{FileProgress, Opened};

/// One of the files, open or not.
struct Slot {
    title: String,
    path: PathBuf,
    state: SlotState,
    copy: Option<CopyOf>,
}

enum SlotState {
    /// Something writes it.
    Copying(Arc<FileProgress>),
    Failed(String),
    Open(Arc<Opened>),
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Making,
    There,
    /// It could not be made, or not be opened.
    Failed,
}

/// What the page is told of a file's state.
#[derive(Debug, Serialize)]
pub struct Status {
    pub title: String,
    pub path: String,
    pub pages: u32,
    pub state: &'static str,
    pub done: u64,
    pub total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyOf>,
}

/// What a copy is a copy of, and what was done to the content.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CopyOf {
    pub of: usize,
    pub kind: copy::CopyKind,
}

/// All files, by their numbers.
pub struct Files {
    /// Those of them that are made here.
    pub copies: Copies,
    slots: RwLock<Vec<Slot>>,
    /// Files that nobody wants any more, whose scans have not ended yet.
    closing: Mutex<Vec<Arc<Opened>>>,
    /// What cold scans are estimated for.
    pub device: Device,
}

impl Default for Files {
    fn default() -> Files {
        Files::new(DISK)
    }
}

impl Files {
    pub fn new(device: Device) -> Files {
        Files {
            copies: Copies::default(),
            slots: RwLock::default(),
            closing: Mutex::default(),
            device,
        }
    }

    fn slots(&self) -> RwLockReadGuard<'_, Vec<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots_mut(&self) -> RwLockWriteGuard<'_, Vec<Slot>> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn closing(&self) -> MutexGuard<'_, Vec<Arc<Opened>>> {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, title: &str, path: &Path, state: SlotState, copy: Option<CopyOf>) -> usize {
        let mut slots = self.slots_mut();
        slots.push(Slot {
            title: title.to_owned(),
            path: path.to_owned(),
            state,
            copy,
        });
        slots.len() - 1
    }

    fn set(&self, f: usize, state: SlotState) {
        let mut slots = self.slots_mut();
        let Some(slot) = slots.get_mut(f) else { return };
        if let SlotState::Open(opened) = std::mem::replace(&mut slot.state, state) {
            opened.close();
            let mut closing = self.closing();
            closing.retain(|opened| opened.is_scanning());
            closing.push(opened);
        }
    }

    /// Opens a file and begins to scan it; gives its number.
    pub fn open(&self, title: &str, path: &Path) -> Result<usize> {
        let opened = Opened::new(Model::open(path)?, self.device);
        Ok(self.add(title, path, SlotState::Open(opened), None))
    }

    /// A file that is being written by somebody, who calls [`Files::made`] or [`Files::failed`]
    /// at the end. `path`: the file that it is a copy of.
    pub fn add_copy(&self, title: &str, path: &Path, copy: CopyOf) -> (usize, Arc<FileProgress>) {
        let progress = Arc::new(FileProgress::default());
        let f = self.add(
            title,
            path,
            SlotState::Copying(progress.clone()),
            Some(copy),
        );
        (f, progress)
    }

    /// The file is there: opens it. `notes` say how it was made.
    pub fn made(&self, f: usize, path: &Path, notes: Vec<String>) {
        match Model::open(path) {
            Ok(mut model) => {
                model.image.notes.splice(0..0, notes);
                if let Some(slot) = self.slots_mut().get_mut(f) {
                    path.clone_into(&mut slot.path);
                }
                self.set(f, SlotState::Open(Opened::new(model, self.device)));
            }
            Err(e) => self.failed(f, format!("{e:#}")),
        }
    }

    /// The file cannot be made.
    pub fn failed(&self, f: usize, why: String) {
        self.set(f, SlotState::Failed(why));
    }

    /// How far a copy is.
    pub fn stage(&self, f: usize) -> Stage {
        match self.slots().get(f).map(|slot| &slot.state) {
            Some(SlotState::Copying(_)) => Stage::Making,
            Some(SlotState::Open(_)) => Stage::There,
            Some(SlotState::Failed(_)) | None => Stage::Failed,
        }
    }

    /// Opens a file anew, as it is now, and drops copies of what it was. If that fails the old state
    /// stays.
    pub fn reload(&self, f: usize) -> Result<(), Refusal> {
        self.get(f)?;
        let path = self.path(f)?;
        let model = Model::open(&path)
            .map_err(|e| Refusal::new(axum::http::StatusCode::CONFLICT, format!("{e:#}")))?;
        self.set(f, SlotState::Open(Opened::new(model, self.device)));
        self.copies.drop_copies_of(self, f);
        Ok(())
    }

    /// Ends all work on files and removes the copies. To be called before the program ends.
    pub fn end(&self) {
        self.copies.end();
        let closing = std::mem::take(&mut *self.closing());
        for opened in self.all().into_iter().map(|(_, o)| o).chain(closing) {
            opened.end();
        }
    }

    /// A file that can be looked at.
    pub fn get(&self, f: usize) -> Result<Arc<Opened>, Refusal> {
        match self.slots().get(f).map(|slot| &slot.state) {
            Some(SlotState::Open(opened)) => Ok(opened.clone()),
            Some(SlotState::Copying(_)) => Err(Refusal::not_found("the copy is being made")),
            Some(SlotState::Failed(why)) => Err(Refusal::not_found(why)),
            None => Err(Refusal::not_found(format!("there is no file {f}"))),
        }
    }

    pub fn title(&self, f: usize) -> String {
        self.slots()
            .get(f)
            .map_or_else(String::new, |slot| slot.title.clone())
    }

    pub fn path(&self, f: usize) -> Result<PathBuf, Refusal> {
        let path = self.slots().get(f).map(|slot| slot.path.clone());
        path.ok_or_else(|| Refusal::not_found(format!("there is no file {f}")))
    }

    /// All files that can be looked at, with their numbers.
    pub fn all(&self) -> Vec<(usize, Arc<Opened>)> {
        let open = |(f, slot): (usize, &Slot)| match &slot.state {
            SlotState::Open(opened) => Some((f, opened.clone())),
            _ => None,
        };
        self.slots().iter().enumerate().filter_map(open).collect()
    }

    /// How far each is.
    pub fn status(&self) -> Vec<Status> {
        let of = |progress: &FileProgress| {
            (
                progress.done.load(Ordering::Relaxed),
                progress.total.load(Ordering::Relaxed),
            )
        };
        let one = |slot: &Slot| {
            let mut status = Status {
                title: slot.title.clone(),
                path: slot.path.to_string_lossy().into_owned(),
                pages: 0,
                state: "failed",
                done: 0,
                total: 0,
                error: None,
                changed: None,
                copy: slot.copy,
            };
            match &slot.state {
                SlotState::Copying(progress) => {
                    status.state = "copying";
                    (status.done, status.total) = of(progress);
                }
                SlotState::Failed(why) => status.error = Some(why.clone()),
                SlotState::Open(opened) => {
                    (status.done, status.total) = of(&opened.scanned);
                    status.pages = status.total as u32;
                    status.changed = opened.changed();
                    status.error = opened.failed.get().cloned();
                    status.state = match (&status.error, opened.figures()) {
                        (Some(_), _) => "failed",
                        (None, Some(_)) => "ready",
                        (None, None) => "scanning",
                    };
                }
            }
            status
        };
        self.slots().iter().map(one).collect()
    }
}
