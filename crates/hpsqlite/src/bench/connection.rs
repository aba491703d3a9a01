//! How jobs open a SQLite, and what they tell of the settings that are then in force.

use std::ffi::c_int;
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::model::{Effective, PRAGMA_PREFIX, Values};
use crate::sys::{Db, Library};
use crate::text;

/// Settings that are read back whether they were asked for or not.
const ALWAYS: [&str; 6] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "page_size",
    "locking_mode",
];

/// The PRAGMAs that the options of a job ask for.
pub fn pragmas(options: &Values) -> Values {
    options
        .iter()
        .filter_map(|(name, value)| {
            Some((name.strip_prefix(PRAGMA_PREFIX)?.to_owned(), value.clone()))
        })
        .collect()
}

/// Opens a database and sets PRAGMAs; locks of others are waited for `busy_ms` milliseconds.
pub fn open<'l>(
    library: &'l Library,
    file: &Path,
    flags: c_int,
    busy_ms: i32,
    pragmas: &Values,
) -> Result<Db<'l>> {
    let db = library
        .open(file, flags)
        .map_err(|e| anyhow!("cannot open {}: {e}", file.display()))?;
    db.busy_timeout(busy_ms);
    set(&db, pragmas)?;
    // Opening is lazy: only reading shows that it is a database.
    db.exec("SELECT count(*) FROM sqlite_master")
        .map_err(|e| anyhow!("{}: {e}", file.display()))?;
    Ok(db)
}

fn set(db: &Db<'_>, pragmas: &Values) -> Result<()> {
    // The page size cannot be changed once there is a WAL.
    let first = pragmas.get_key_value("page_size");
    for (name, value) in first.into_iter().chain(pragmas) {
        db.exec(&format!("PRAGMA {name}={value}"))
            .map_err(|e| anyhow!("PRAGMA {name}={value}: {e}"))?;
    }
    Ok(())
}

/// Sets PRAGMAs; one that the library ignores is an error.
pub fn insist(db: &Db<'_>, pragmas: &Values) -> Result<()> {
    set(db, pragmas)?;
    for (name, asked) in pragmas {
        match db.first(&format!("PRAGMA {name}"))? {
            Some(is) if same_setting(name, asked, &is) => {}
            Some(is) => bail!("PRAGMA {name}={asked} was ignored, it is {is}"),
            None => bail!("PRAGMA {name}={asked} was ignored, it is unknown to this library"),
        }
    }
    Ok(())
}

/// What a connection says about itself.
pub fn effective(library: &Library, db: &Db<'_>, pragmas: &Values) -> Result<Effective> {
    let mut settings = Values::new();
    for name in ALWAYS.into_iter().chain(pragmas.keys().map(|k| &**k)) {
        // What an engine does not know has no row.
        let value = db.first(&format!("PRAGMA {name}"))?;
        settings.insert(
            name.to_owned(),
            value.unwrap_or_else(|| "unknown to this library".to_owned()),
        );
    }
    settings.insert("source_id".to_owned(), library.source_id());
    Ok(Effective {
        durability: durability(&settings["journal_mode"], &settings["synchronous"]).to_owned(),
        version: version(library, db),
        settings,
    })
}

/// Name and version of a library, as to be shown.
pub fn version(library: &Library, db: &Db<'_>) -> String {
    let version = format!("SQLite {}", library.version());
    // Only ours knows the function.
    match db.first("SELECT hp_version()").unwrap_or(None) {
        Some(ours) => format!("High Performance SQLite {ours} ({version})"),
        None => version,
    }
}

/// What a crash may lose, by the settings that are in force.
pub fn durability(journal: &str, synchronous: &str) -> &'static str {
    match (journal, synchronous) {
        ("off" | "memory", _) => {
            "a crash of the process in a transaction may leave the file damaged"
        }
        (_, "0") => {
            "a crash of the process loses nothing; of the system or the power, recent \
             transactions, and it may leave the file damaged"
        }
        ("wal", "1") => {
            "a crash of the process loses nothing; of the system or the power, recent transactions"
        }
        _ => "no crash loses a committed transaction",
    }
}

/// Whether a setting is what was asked for: some PRAGMAs read back a number for a name.
pub fn same_setting(name: &str, asked: &str, is: &str) -> bool {
    let numbers: &[&[&str]] = match name {
        "synchronous" => &[&["off"], &["normal"], &["full"], &["extra"]],
        "temp_store" => &[&["default"], &["file"], &["memory"]],
        "auto_vacuum" => &[&["none"], &["full"], &["incremental"]],
        _ => &[&["off", "no", "false"], &["on", "yes", "true"]],
    };
    let meaning = |value: &str| {
        let value = value.trim().to_lowercase();
        let number = numbers.iter().position(|names| names.contains(&&*value));
        match number.map(|n| n as f64).or(text::parse_number(&value)) {
            Some(number) => Ok(number),
            None => Err(value),
        }
    };
    meaning(asked) == meaning(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_mean_the_same_are_the_same() {
        for (name, asked, is) in [
            ("journal_mode", "WAL", "wal"),
            ("synchronous", "normal", "1"),
            ("temp_store", "MEMORY", "2"),
            ("foreign_keys", "on", "1"),
            ("foreign_keys", "false", "off"),
            ("mmap_size", "1 MiB", "1048576"),
        ] {
            assert!(same_setting(name, asked, is), "{name} {asked} {is}");
        }
        for (name, asked, is) in [
            ("journal_mode", "WAL", "delete"),
            ("synchronous", "full", "1"),
            ("locking_mode", "exclusive", "normal"),
            ("mmap_size", "1048576", "0"),
        ] {
            assert!(!same_setting(name, asked, is), "{name} {asked} {is}");
        }
    }
}
