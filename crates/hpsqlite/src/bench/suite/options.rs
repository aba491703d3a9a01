//! Which options there are, so that one that changes nothing is told before hours are spent on it.

use anyhow::{Result, bail};

use super::Suite;
use crate::bench::model::{ENGINE, JobKind, PART, PRAGMA_PREFIX, PRAGMAS};
use crate::bench::work;

/// An error where an axis or an option of a suite would change nothing.
pub fn check(suite: &Suite) -> Result<()> {
    let work = work::of_kind(suite.kind);
    let mut known = work.options();
    known.sort_unstable();
    let used = |name: &str| {
        known.contains(&name)
            || [ENGINE, PART, PRAGMAS].contains(&name)
            || suite.text.contains(&format!("{{{name}}}"))
    };
    for point in &suite.points {
        let of_job = point.options.keys();
        // Settings of one step are for what opens connections for each.
        let steps = point.steps.iter().flat_map(|step| step.options.keys());
        let is_setting = |name: &str| name.starts_with(PRAGMA_PREFIX);
        let of_job = of_job.filter(|name| !is_setting(name));
        let steps = steps.filter(|name| !work.steps_connect() || !is_setting(name));
        if let Some(name) = of_job.chain(steps).find(|name| !used(name)) {
            if suite.kind == JobKind::Sql && name == "write" {
                bail!(
                    "write: statements that write are measured by a suite of kind = \"transactions\""
                );
            }
            bail!(
                "{name} would change nothing: no text of the suite has {{{name}}}, and it is no option here; those \
                 are {}, and {PRAGMA_PREFIX}NAME",
                known.join(", ")
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bench::suite::{Changes, SUITES, TEMPLATE};

    fn told(text: &str) -> String {
        let suite = Suite::parse("t", text, Path::new(""), &Changes::default()).unwrap();
        match check(&suite) {
            Ok(()) => String::new(),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn what_changes_nothing_is_told() {
        const TEXT: &str = r#"
            title = "t"
            kind = "keyvalue"
            [options]
            count = 5
            [axes]
            engine = "stock"
            threads = [1, 2]
            [[step]]
            name = "fill-random"
            seconds = 1
        "#;
        assert_eq!(told(TEXT), "");
        for (from, to) in [
            ("count", "counts"),
            ("threads", "thread"),
            ("seconds", "second"),
        ] {
            let said = told(&TEXT.replacen(from, to, 1));
            assert!(
                said.starts_with(&format!("{to} would change nothing")),
                "{said}"
            );
            assert!(said.contains(from), "{said}");
        }
        let of_step = TEXT.replacen("seconds", "\"pragma.cache_size\"", 1);
        assert!(told(&of_step).starts_with("pragma.cache_size"));
        let of_job = TEXT.replacen("[options]", "[options]\n\"pragma.cache_size\" = 1", 1);
        assert_eq!(told(&of_job), "");
        let named = TEXT.replacen("threads", "depth", 1);
        assert!(told(&named).starts_with("depth"));
        assert_eq!(told(&named.replacen("\"t\"", "\"{depth}\"", 1)), "");
    }

    #[test]
    fn statements_that_write_are_for_another_kind() {
        const TEXT: &str = r#"
            title = "t"
            kind = "sql"
            [options]
            setup = "CREATE TABLE t(a)"
            write = true
            [axes]
            engine = "stock"
            [[step]]
            name = "delete"
            sql = "DELETE FROM t"
        "#;
        let said = told(TEXT);
        assert!(said.contains("kind = \"transactions\""), "{said}");
        assert_eq!(told(&TEXT.replacen("FROM t", "FROM t -- {write}", 1)), "");
    }

    #[test]
    fn no_suite_of_the_lab_has_such() {
        for (name, text) in SUITES.iter().chain([&("template", TEMPLATE)]) {
            assert_eq!(told(text), "", "{name}");
        }
    }
}
