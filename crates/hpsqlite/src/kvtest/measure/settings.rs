//! The settings that were in force, and what a crash may lose with them.

use anyhow::Result;

use super::plan::VisitPlan;
use crate::kvtest::place::{self, PathKind};
use crate::sample::Values;
use crate::sys::{Db, Library};

/// The settings of a connection, read back.
pub fn settings(db: &Db<'_>, library: &Library, plan: &VisitPlan) -> Result<Values> {
    const PRAGMAS: [&str; 9] = [
        "page_size",
        "cache_size",
        "mmap_size",
        "journal_mode",
        "synchronous",
        "locking_mode",
        "wal_autocheckpoint",
        "auto_vacuum",
        "encoding",
    ];
    let mut settings = Values::new();
    let asked = plan.pragmas.iter().map(|(name, _)| name.as_str());
    for name in PRAGMAS.into_iter().chain(asked) {
        settings.insert(
            name.to_owned(),
            place::value(db, &format!("PRAGMA {name}"))?,
        );
    }
    let options = db.column("PRAGMA compile_options")?.join(" ");
    settings.insert("compile_options".to_owned(), options);
    settings.insert("source_id".to_owned(), library.source_id());
    settings.insert("library".to_owned(), library.path().display().to_string());
    settings.insert("threads".to_owned(), plan.threads.to_string());
    Ok(settings)
}

/// What a crash may lose.
pub fn durability(plan: &VisitPlan, kind: PathKind, settings: &Values) -> String {
    let setting = |name: &str| settings.get(name).map_or("", String::as_str);
    let said = match kind {
        PathKind::Files(_) if plan.fsync => {
            "a crash may cut short the file that is being written, and no other"
        }
        PathKind::Files(_) => {
            "a crash of the program may cut short the file that is being written; a crash of the system, all files written in the last half minute or so"
        }
        PathKind::Database => match (setting("journal_mode"), setting("synchronous")) {
            ("off" | "memory", _) => "a crash, also of the program only, may destroy the database",
            ("wal", "0") => {
                "a crash of the program loses nothing; a crash of the system may lose the last transactions and may destroy the database"
            }
            (_, "0") => {
                "a crash of the program loses nothing; a crash of the system may destroy the database"
            }
            ("wal", "1") => {
                "a crash of the program loses nothing; a crash of the system may lose the last transactions"
            }
            _ => "no crash loses what was committed",
        },
    };
    said.to_owned()
}
