//! Files to import, and what the shell says of databases.

use std::process::Command;

use super::{Done, Place, shell};

/// Runs the shell on a database.
pub fn sqlite3(place: &Place, database: &str, commands: &[&str]) -> Done {
    let output = Command::new(shell())
        .arg(place.path(database))
        .args(commands)
        .current_dir(place.path(""))
        .output()
        .unwrap();
    Done::of(&output)
}

/// All that is in a database, as SQL.
pub fn dump(place: &Place, database: &str) -> String {
    sqlite3(place, database, &[".dump"]).expect(0).out
}

pub fn sql(place: &Place, database: &str, sql: &str) -> String {
    sqlite3(place, database, &[sql]).expect(0).out
}

pub fn write(place: &Place, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(place.path(name), content).unwrap();
}

/// The file's rows `1 … n`, with a text.
pub fn numbered(n: u64) -> String {
    let row = |i| format!("{i},\"text, and\nmore {i}\"\n");
    "a,b\n".to_owned() + &(1..=n).map(row).collect::<String>()
}
