//! What the tool writes: files, and tables on the terminal.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use comfy_table::{ContentArrangement, Table, presets};
use tempfile::NamedTempFile;

/// A file to be written at the end of a long run: that it can be written is known at the start,
/// and whatever stops the run leaves the old one as it was.
pub struct OutputFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl OutputFile {
    /// Begins to write a file, if one is asked for; it must not be the database, nor a file that
    /// SQLite keeps beside it: in a log there are transactions.
    pub fn begin(path: Option<&Path>, database: &Path) -> Result<Option<OutputFile>> {
        let Some(path) = path else { return Ok(None) };
        if path.is_dir() {
            bail!("{} is a folder", path.display());
        }
        if let (Some(a), Ok(b)) = (place(path), database.canonicalize()) {
            if a == b {
                bail!("{} is the database; it is not overwritten", path.display());
            }
            for suffix in ["-wal", "-shm", "-journal"] {
                let of = |database: &Path| {
                    let mut name = database.as_os_str().to_owned();
                    name.push(suffix);
                    place(Path::new(&name))
                };
                if Some(&a) == of(&b).as_ref() || Some(&a) == of(database).as_ref() {
                    bail!(
                        "{} belongs to the database; it is not overwritten",
                        path.display()
                    );
                }
            }
        }
        let folder = match path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let temporary = NamedTempFile::new_in(folder)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Some(OutputFile {
            path: path.to_owned(),
            temporary,
        }))
    }

    /// Puts the file in its place.
    pub fn end(self, content: impl AsRef<[u8]>) -> Result<()> {
        self.end_with(|out| out.write_all(content.as_ref()))
    }

    /// Puts the file in its place with what is written to it now.
    pub fn end_with(
        self,
        write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<()> {
        let mut out = BufWriter::new(self.temporary.as_file());
        write(&mut out)
            .and_then(|()| out.flush())
            .and_then(|()| crate::data::set_ordinary_mode(self.temporary.path()))
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        drop(out);
        self.temporary
            .persist(&self.path)
            .map_err(|e| e.error)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }
}

/// Where a path leads, without links; a file that is not there yet goes into its folder.
fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = match path.parent()? {
            p if p.as_os_str().is_empty() => Path::new("."),
            p => p,
        };
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Prints on standard output; a reader that has seen enough is no error.
pub fn to_terminal(
    print: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>,
) -> io::Result<()> {
    match print(&mut io::stdout().lock()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A table without lines, as wide as the terminal at most.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// Prints a table without white space at the ends of lines.
pub fn print_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
