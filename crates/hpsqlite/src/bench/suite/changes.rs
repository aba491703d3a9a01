//! What the command line changes in a suite.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use super::file::SuiteFile;
use super::scalar::{OneOrMore, Scalar};
use crate::bench::model::PART;

/// What the command line changes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    pub quick: bool,
    /// `--set name=value` in their order; the value of an axis may be several, with commas between.
    pub set: Vec<(String, String)>,
}

/// What stands before a change of the command line, in the text that results are kept with.
const CHANGED: &str = "# --";

/// The suite file with what was changed, so that results of one are never taken for those of another.
pub fn described(text: &str, changes: &Changes) -> String {
    let mut all = text.to_owned();
    for change in changes.words() {
        all.push_str(&format!("\n{CHANGED}{change}"));
    }
    all
}

impl Changes {
    /// The options of the command line that make these changes, without their dashes.
    fn words(&self) -> Vec<String> {
        let quick = self.quick.then(|| "quick".to_owned());
        let set = self.set.iter().map(|(n, v)| format!("set {n}={v}"));
        quick.into_iter().chain(set).collect()
    }

    /// What was changed in a suite whose text is kept with results.
    pub fn of(text: &str) -> Changes {
        let mut changes = Changes::default();
        for line in text.lines().rev() {
            match line.strip_prefix(CHANGED) {
                Some("quick") => changes.quick = true,
                Some(set) => {
                    let pair = set.strip_prefix("set ").and_then(|s| s.split_once('='));
                    let Some((name, value)) = pair else { break };
                    changes.set.insert(0, (name.to_owned(), value.to_owned()));
                }
                None => break,
            }
        }
        changes
    }

    /// The command that runs a suite with these changes, as a shell takes it.
    pub fn command(&self, suite: &str) -> String {
        let mut command = format!("hpsqlite bench run {}", quoted(suite));
        if self.quick {
            command.push_str(" --quick");
        }
        for (name, value) in &self.set {
            command.push_str(&format!(" --set {}", quoted(&format!("{name}={value}"))));
        }
        command
    }
}

/// A word of a shell's command.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,=/+:".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The command that this process was started with, as a line for a shell: by the name that the
/// program was started by, which need not be on the PATH.
pub fn same_command() -> String {
    let words: Vec<String> = std::env::args_os()
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    words.join(" ")
}

/// Leaves only the parts of these names; all if there are none.
pub fn choose(files: &mut Vec<SuiteFile>, names: &[String]) -> Result<()> {
    let known: Vec<String> = files.iter().filter_map(SuiteFile::part_name).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        bail!("there is no part {name}; there are {}", known.join(", "));
    }
    if !names.is_empty() {
        files.retain(|f| f.part_name().is_some_and(|n| names.contains(&n)));
    }
    Ok(())
}

/// Sets what has this name in every part that has it.
pub fn set(files: &mut Vec<SuiteFile>, name: &str, value: &str, parts: bool) -> Result<()> {
    let values: Vec<String> = value.split(',').map(str::to_owned).collect();
    if name == PART && parts {
        return choose(files, &values).with_context(|| format!("--set {name}={value}"));
    }
    let mut found = false;
    for file in files.iter_mut() {
        if name == "trials" {
            file.trials = value
                .parse()
                .with_context(|| format!("--set trials={value}: want a number"))?;
        } else if let Some(axis) = file.axes.get_mut(name) {
            *axis = OneOrMore::More(values.iter().cloned().map(Scalar::Text).collect());
        } else if file.options.contains_key(name) {
            file.options
                .insert(name.to_owned(), Scalar::Text(value.to_owned()));
        } else {
            continue;
        }
        found = true;
    }
    if !found {
        let names: BTreeSet<&String> = files
            .iter()
            .flat_map(|f| f.axes.keys().chain(f.options.keys()))
            .collect();
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        bail!(
            "--set {name}={value}: the suite has no axis or option of this name; it has {}, and trials",
            names.join(", ")
        );
    }
    Ok(())
}
