//! The pinned upstream files: which they are, how they are fetched, and that
//! they are what `engine/UPSTREAM` says.

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The content of `engine/UPSTREAM`.
pub struct Pins {
    /// The SQLite release the library is made from.
    pub sqlite: String,
    files: Vec<Pin>,
}

/// One upstream file and the crate that carries it.
struct Pin {
    krate: String,
    version: String,
    path: String,
    sha256: String,
}

impl Pins {
    /// Reads `engine/UPSTREAM`; its head explains the format.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut sqlite = None;
        let mut krate: Option<(String, String)> = None;
        let mut files = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line
                .split('#')
                .next()
                .unwrap_or("")
                .split_whitespace()
                .collect();
            match (words.as_slice(), &krate) {
                ([], _) => {}
                (["sqlite", version], _) => sqlite = Some((*version).to_string()),
                (["crate", name, version], _) => {
                    krate = Some(((*name).to_string(), (*version).to_string()));
                }
                (["file", path, sha256], Some((name, version))) => files.push(Pin {
                    krate: name.clone(),
                    version: version.clone(),
                    path: (*path).to_string(),
                    sha256: sha256.to_lowercase(),
                }),
                _ => bail!("{}:{}: cannot read `{line}`", path.display(), index + 1),
            }
        }
        Ok(Self {
            sqlite: sqlite
                .with_context(|| format!("{}: no `sqlite VERSION` line", path.display()))?,
            files,
        })
    }

    /// Returns a checked copy of the file called `name` (its last component),
    /// fetching its crate where no such copy is left from an earlier run.
    pub fn obtain(&self, name: &str, work: &Path) -> Result<PathBuf> {
        let pin = self
            .files
            .iter()
            .find(|pin| pin.path.rsplit('/').next() == Some(name))
            .with_context(|| format!("engine/UPSTREAM names no {name}"))?;
        let copy = work
            .join("upstream")
            .join(&pin.sha256[..pin.sha256.len().min(12)])
            .join(name);
        if !copy.is_file() || sha256(&fs::read(&copy)?) != pin.sha256 {
            let source = crate_folder(&pin.krate, &pin.version, work)?.join(&pin.path);
            let bytes = fs::read(&source).with_context(|| {
                format!("crate {} {} has no {}", pin.krate, pin.version, pin.path)
            })?;
            let found = sha256(&bytes);
            ensure!(
                found == pin.sha256,
                "{} has sha256 {found}, engine/UPSTREAM wants {}: remove that crate's folder so \
                 that cargo unpacks it again, or correct engine/UPSTREAM if the pin has moved",
                source.display(),
                pin.sha256
            );
            write_whole(&copy, &bytes)?;
        }
        Ok(copy)
    }
}

/// Returns the folder into which cargo has unpacked a crate, fetching it if
/// need be. The crate is named in a manifest of its own, outside the
/// workspace: two crates that both link "sqlite3" cannot share one.
fn crate_folder(name: &str, version: &str, work: &Path) -> Result<PathBuf> {
    let folder = work.join("fetch").join(format!("{name}-{version}"));
    let manifest = folder.join("Cargo.toml");
    write_whole(
        &manifest,
        format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
             [lib]\npath = \"empty.rs\"\n[workspace]\n\
             [dependencies.{name}]\nversion = \"={version}\"\ndefault-features = false\n"
        )
        .as_bytes(),
    )?;
    write_whole(&folder.join("empty.rs"), b"")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}: install Rust", cargo.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // Cargo's last line names the cause; the ones above, what led to it.
        let cause = said
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or("no reason given");
        bail!(
            "cannot fetch crate {name} {version} ({cause}): \
             check the network and cargo's registry settings, then run make again"
        );
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .context("cargo metadata printed something that is not JSON")?;
    metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == name && package["version"] == version)
        .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .map(Path::to_path_buf)
        .with_context(|| format!("cargo fetched no crate {name} {version}"))
}

/// Writes a file by way of a temporary name, so that it is never seen half
/// written; makes its folder.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(context)?;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    fs::write(&temporary, bytes).with_context(context)?;
    fs::rename(&temporary, path).with_context(context)
}

/// The sha256 of some bytes in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins_for(folder: &Path, text: &str) -> Result<Pins> {
        let path = folder.join("UPSTREAM");
        fs::write(&path, text).unwrap();
        Pins::read(&path)
    }

    #[test]
    fn an_unreadable_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = pins_for(folder.path(), "sqlite 1.0\nfile a.c 00\n")
            .err()
            .unwrap();
        assert!(error.to_string().contains("UPSTREAM:2"), "{error}");
    }

    #[test]
    fn a_checked_copy_is_used_without_fetching() {
        let folder = tempfile::tempdir().unwrap();
        let sum = sha256(b"content");
        let text = format!("sqlite 1.0\ncrate no-such-crate 0.0.0\nfile x/a.c {sum}\n");
        let pins = pins_for(folder.path(), &text).unwrap();
        let copy = folder.path().join("upstream").join(&sum[..12]).join("a.c");
        write_whole(&copy, b"content").unwrap();
        assert_eq!(pins.obtain("a.c", folder.path()).unwrap(), copy);
    }

    #[test]
    fn the_sum_is_sha256() {
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
