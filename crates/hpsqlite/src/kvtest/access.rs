//! One read or one write of a value: by SQL, by the blob API, or of a file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::place::Layout;
use crate::sys::{Blob, Db, Stmt, Value};

/// A way to the values. What is done in these two functions is what is measured.
pub trait Access {
    /// The value of a key; `None` where there is none.
    fn read(&mut self, key: i64) -> Result<Option<&[u8]>>;

    /// Overwrites the value of a key that is there with one of the same size.
    ///
    /// # Safety
    /// `content` must stay as it is until the next call has returned, if there is one.
    unsafe fn write(&mut self, key: i64, content: &[u8]) -> Result<()>;
}

/// By a statement.
pub struct BySql<'d> {
    stmt: Stmt<'d>,
    used: bool,
}

impl<'d> BySql<'d> {
    pub fn new(db: &'d Db<'d>, update: bool) -> Result<Self> {
        let sql = match update {
            true => "UPDATE kv SET v = ?2 WHERE k = ?1",
            false => "SELECT v FROM kv WHERE k = ?1",
        };
        Ok(BySql {
            stmt: db.prepare(sql)?.context("not a statement")?,
            used: false,
        })
    }

    fn restart(&mut self, key: i64) -> Result<()> {
        if self.used {
            self.stmt.reset();
        }
        self.used = true;
        Ok(self.stmt.bind_int(1, key)?)
    }
}

impl Access for BySql<'_> {
    fn read(&mut self, key: i64) -> Result<Option<&[u8]>> {
        self.restart(key)?;
        if !self.stmt.step()? {
            return Ok(None);
        }
        Ok(match self.stmt.value(0) {
            Value::Blob(content) | Value::Text(content) => Some(content),
            _ => None,
        })
    }

    unsafe fn write(&mut self, key: i64, content: &[u8]) -> Result<()> {
        self.restart(key)?;
        // SAFETY: the caller keeps the content until the parameter is bound again.
        unsafe { self.stmt.bind_blob_static(2, content) }?;
        self.stmt.step()?;
        Ok(())
    }
}

/// By the blob API.
pub struct ByBlob<'d> {
    db: &'d Db<'d>,
    handle: Option<Blob<'d>>,
    update: bool,
    /// Whether one handle goes from value to value. An open handle holds a transaction.
    keep: bool,
    buffer: Vec<u8>,
}

impl<'d> ByBlob<'d> {
    pub fn new(db: &'d Db<'d>, update: bool, keep: bool) -> Self {
        ByBlob {
            db,
            handle: None,
            update,
            keep,
            buffer: Vec::new(),
        }
    }

    /// The handle, at the value of `key`.
    fn at(&mut self, key: i64) -> Result<Option<&mut Blob<'d>>> {
        let there = match &mut self.handle {
            Some(handle) => handle.reopen(key)?,
            None => {
                self.handle = self.db.blob(c"kv", c"v", key, self.update)?;
                self.handle.is_some()
            }
        };
        if !there {
            // A handle that found no row is of no use any more.
            self.handle = None;
        }
        Ok(self.handle.as_mut())
    }
}

impl Access for ByBlob<'_> {
    fn read(&mut self, key: i64) -> Result<Option<&[u8]>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let Some(handle) = self.at(key)? else {
            self.buffer = buffer;
            return Ok(None);
        };
        let len = handle.size();
        let content = room(&mut buffer, len);
        handle.read(content)?;
        if !self.keep {
            self.handle = None;
        }
        self.buffer = buffer;
        Ok(Some(&self.buffer[..len]))
    }

    unsafe fn write(&mut self, key: i64, content: &[u8]) -> Result<()> {
        let handle = self
            .at(key)?
            .with_context(|| format!("the value of key {key} went away"))?;
        handle.write(content)?;
        if !self.keep {
            self.handle = None;
        }
        Ok(())
    }
}

/// Of a file.
pub struct ByFile {
    layout: Layout,
    path: String,
    /// How much of the path is the folder.
    folder: usize,
    fsync: bool,
    buffer: Vec<u8>,
}

impl ByFile {
    pub fn new(folder: &Path, layout: Layout, fsync: bool) -> Result<Self> {
        let mut path = folder
            .to_str()
            .with_context(|| format!("{} is not UTF-8", folder.display()))?
            .to_owned();
        path.push('/');
        Ok(ByFile {
            layout,
            folder: path.len(),
            path,
            fsync,
            buffer: Vec::new(),
        })
    }

    fn at(&mut self, key: i64) -> &Path {
        self.path.truncate(self.folder);
        self.layout.name(key, &mut self.path);
        Path::new(&self.path)
    }
}

impl Access for ByFile {
    fn read(&mut self, key: i64) -> Result<Option<&[u8]>> {
        let opened = File::open(self.at(key));
        let read = opened.and_then(|mut file| {
            let len = file.metadata()?.len() as usize;
            file.read_exact(room(&mut self.buffer, len))?;
            Ok(len)
        });
        match read {
            Ok(len) => Ok(Some(&self.buffer[..len])),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e).with_context(|| format!("cannot read {}", self.path)),
        }
    }

    unsafe fn write(&mut self, key: i64, content: &[u8]) -> Result<()> {
        let fsync = self.fsync;
        File::create(self.at(key))
            .and_then(|mut file| {
                file.write_all(content)?;
                if fsync { file.sync_all() } else { Ok(()) }
            })
            .with_context(|| format!("cannot write {}", self.path))
    }
}

/// The first `len` bytes of a buffer that grows where that is needed.
fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}
