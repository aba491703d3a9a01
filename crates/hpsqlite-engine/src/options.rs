//! The compile-time options in `engine/OPTIONS`, as `-D` flags for the
//! baseline and as guarded defaults for the top of our `sqlite3.c`.

use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// One option: a macro, its value, whether only Linux gets it, and the macros that exclude it.
#[derive(Debug, PartialEq)]
pub struct CompileOption {
    name: String,
    value: String,
    linux_only: bool,
    unless: Vec<String>,
}

/// Reads `engine/OPTIONS`; its head explains the format.
pub fn read(path: &Path) -> Result<Vec<CompileOption>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut options = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words: Vec<&str> = line
            .split('#')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        let mut unless = Vec::new();
        while let Some(name) = words.last().and_then(|word| word.strip_prefix('!')) {
            unless.insert(0, name.to_string());
            words.pop();
        }
        let (name, value, linux_only) = match words.as_slice() {
            [] => continue,
            [name] => (name, "1", false),
            [name, "linux"] => (name, "1", true),
            [name, value] => (name, *value, false),
            [name, value, "linux"] => (name, *value, true),
            _ => bail!("{}:{}: cannot read `{line}`", path.display(), index + 1),
        };
        options.push(CompileOption {
            name: (*name).to_string(),
            value: value.to_string(),
            linux_only,
            unless,
        });
    }
    Ok(options)
}

/// The options as compiler flags for the machine at hand.
pub fn flags(options: &[CompileOption]) -> Vec<String> {
    options
        .iter()
        .filter(|option| !option.linux_only || cfg!(target_os = "linux"))
        .map(|option| format!("-D{}={}", option.name, option.value))
        .collect()
}

/// The options as C, each taking effect only where the one who compiles has
/// not decided otherwise.
pub fn defaults_block(options: &[CompileOption]) -> String {
    let mut text = String::from(
        "/*\n\
         ** Default compile-time options of High Performance SQLite. Each of them\n\
         ** yields to a -D on the command line. An option that is tested by #ifdef\n\
         ** alone can only be left out by -DHP_NO_DEFAULT_OPTIONS, which leaves\n\
         ** out all of them.\n\
         */\n\
         #ifndef HP_NO_DEFAULT_OPTIONS\n",
    );
    for linux_only in [false, true] {
        if linux_only {
            text.push_str("#ifdef __linux__\n");
        }
        for option in options.iter().filter(|o| o.linux_only == linux_only) {
            let CompileOption { name, value, .. } = option;
            let mut condition = format!("#ifndef {name}");
            if !option.unless.is_empty() {
                condition = format!("#if !defined({name})");
                for other in &option.unless {
                    write!(condition, " && !defined({other})")
                        .expect("writing to a string succeeds");
                }
            }
            writeln!(text, "{condition}\n# define {name} {value}\n#endif")
                .expect("writing to a string succeeds");
        }
        if linux_only {
            text.push_str("#endif /* __linux__ */\n");
        }
    }
    text.push_str("#endif /* HP_NO_DEFAULT_OPTIONS */\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<CompileOption>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("OPTIONS");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn values_default_to_one() {
        let options = read_text("# head\nA\nB 25\nC 1 linux\n").unwrap();
        assert_eq!(flags(&options)[..2], ["-DA=1", "-DB=25"]);
        assert!(options[2].linux_only);
    }

    #[test]
    fn a_default_is_guarded() {
        let block = defaults_block(&read_text("B 25").unwrap());
        assert!(
            block.contains("#ifndef B\n# define B 25\n#endif\n"),
            "{block}"
        );
    }

    #[test]
    fn a_default_yields_to_the_macros_that_exclude_it() {
        let block = defaults_block(&read_text("B 25 !C").unwrap());
        assert!(
            block.contains("#if !defined(B) && !defined(C)\n# define B 25\n#endif\n"),
            "{block}"
        );
        let block = defaults_block(&read_text("B 1 linux !C !D").unwrap());
        assert!(
            block.contains("#if !defined(B) && !defined(C) && !defined(D)\n# define B 1\n"),
            "{block}"
        );
    }

    #[test]
    fn too_many_words_are_refused() {
        assert!(read_text("A 1 2").is_err());
    }
}
