//! The reference of the command line, made from the help texts so that it cannot differ from them.

use clap::Command;

const WIDTH: usize = 100;

/// `docs/cli.md`, of the whole command line.
pub fn reference(cli: Command) -> String {
    let mut out = String::from(
        "# The hpsqlite command\n\n\
         Made from the help texts by `hpsqlite reference`; a test compares the two.\n",
    );
    let mut cli = cli.term_width(WIDTH);
    cli.build();
    add(&mut cli, &mut out);
    out
}

fn add(command: &mut Command, out: &mut String) {
    let name = command
        .get_bin_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    *out += &format!("\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim());
    for sub in command.get_subcommands_mut() {
        if !sub.is_hide_set() && sub.get_name() != "help" {
            add(sub, out);
        }
    }
}
