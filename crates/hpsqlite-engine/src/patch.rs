//! Applies unified diffs with zero fuzz: every line a hunk shows must be there
//! exactly. A hunk may have moved up or down, but only if the place it then
//! fits is the only one.

use anyhow::{Context, Result, bail, ensure};

/// The part of a patch that changes one file.
#[derive(Debug)]
pub struct FilePatch<'a> {
    /// The file's name without folders.
    pub file: &'a str,
    hunks: Vec<Hunk<'a>>,
}

#[derive(Debug)]
struct Hunk<'a> {
    header: &'a str,
    start: usize,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

/// Reads a patch: any text, then `---`/`+++` pairs with their hunks.
pub fn parse(text: &str) -> Result<Vec<FilePatch<'_>>> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            let path = lines.next().unwrap_or_default()[4..]
                .split('\t')
                .next()
                .unwrap_or_default()
                .trim();
            files.push(FilePatch {
                file: path.rsplit('/').next().unwrap_or(path),
                hunks: Vec::new(),
            });
        } else if line.starts_with("@@ ") {
            let (start, mut old_left, mut new_left) =
                parse_range(line).with_context(|| format!("cannot read `{line}`"))?;
            let mut hunk = Hunk {
                header: line,
                start,
                old: Vec::new(),
                new: Vec::new(),
            };
            while old_left > 0 || new_left > 0 {
                let body = lines
                    .next()
                    .with_context(|| format!("hunk `{line}` is cut short"))?;
                let content = body.get(1..).unwrap_or("");
                let (in_old, in_new) = match body.as_bytes().first() {
                    // Some editors strip the blank of an empty context line.
                    Some(b' ') | None => (true, true),
                    Some(b'-') => (true, false),
                    Some(b'+') => (false, true),
                    Some(b'\\') => continue,
                    _ => bail!("hunk `{line}` is shorter than its header says"),
                };
                if in_old {
                    old_left = old_left
                        .checked_sub(1)
                        .with_context(|| format!("hunk `{line}` is longer than its header says"))?;
                    hunk.old.push(content);
                }
                if in_new {
                    new_left = new_left
                        .checked_sub(1)
                        .with_context(|| format!("hunk `{line}` is longer than its header says"))?;
                    hunk.new.push(content);
                }
            }
            files
                .last_mut()
                .with_context(|| format!("hunk `{line}` stands before any `+++` line"))?
                .hunks
                .push(hunk);
        }
    }
    ensure!(
        files.iter().any(|file| !file.hunks.is_empty()),
        "it has no hunk"
    );
    Ok(files)
}

/// Reads `@@ -START[,COUNT] +START[,COUNT] @@` into the first old line (from
/// 1) and the two counts.
fn parse_range(header: &str) -> Option<(usize, usize, usize)> {
    let mut words = header.split_whitespace().skip(1);
    let old = words.next()?.strip_prefix('-')?;
    let new = words.next()?.strip_prefix('+')?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let start = old.split(',').next()?.parse().ok()?;
    Some((start, count(old)?, count(new)?))
}

impl FilePatch<'_> {
    /// Applies the hunks in order and returns the new text.
    pub fn apply(&self, text: &str) -> Result<String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut out: Vec<&str> = Vec::with_capacity(lines.len() + 64);
        let mut done = 0; // lines of the old text already copied or replaced
        let mut moved = 0; // how far the last hunk stood from where it said
        for hunk in &self.hunks {
            ensure!(
                !hunk.old.is_empty(),
                "hunk `{}` of {} has no context",
                hunk.header,
                self.file
            );
            let said = (hunk.start as isize - 1 + moved).max(0) as usize;
            let at = place(hunk, &lines, done, said).with_context(|| {
                format!("hunk `{}` of {} does not apply", hunk.header, self.file)
            })?;
            moved += at as isize - said as isize;
            out.extend(&lines[done..at]);
            out.extend(&hunk.new);
            done = at + hunk.old.len();
        }
        out.extend(&lines[done..]);
        let mut result = out.join("\n");
        result.push('\n');
        Ok(result)
    }
}

/// Finds where a hunk belongs: where it says, else the only place that fits.
fn place(hunk: &Hunk, lines: &[&str], from: usize, said: usize) -> Result<usize> {
    let fits =
        |at: usize| at >= from && lines.get(at..at + hunk.old.len()) == Some(hunk.old.as_slice());
    if fits(said) {
        return Ok(said);
    }
    let mut places = (from..lines.len()).filter(|&at| fits(at));
    match (places.next(), places.next()) {
        (Some(at), None) => Ok(at),
        (None, _) => bail!("its lines are not there"),
        (Some(first), Some(second)) => bail!(
            "it would fit at line {} and at line {}",
            first + 1,
            second + 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\nb\nc\nd\ne\n";
    const HUNK: &str =
        "why\n--- a/x/file.c\n+++ b/x/file.c\n@@ -2,3 +2,4 @@ place\n b\n-c\n+C\n+C2\n d\n";

    fn apply(patch: &str, text: &str) -> Result<String> {
        parse(patch)?[0].apply(text)
    }

    #[test]
    fn a_hunk_applies_where_it_says() {
        assert_eq!(parse(HUNK).unwrap()[0].file, "file.c");
        assert_eq!(apply(HUNK, TEXT).unwrap(), "a\nb\nC\nC2\nd\ne\n");
    }

    #[test]
    fn a_hunk_may_have_moved() {
        let moved = format!("0\n0\n{TEXT}");
        assert_eq!(apply(HUNK, &moved).unwrap(), "0\n0\na\nb\nC\nC2\nd\ne\n");
    }

    #[test]
    fn a_changed_context_line_is_refused_and_named() {
        let error = format!("{:#}", apply(HUNK, "a\nb\nc\nD\ne\n").unwrap_err());
        assert!(error.contains("@@ -2,3 +2,4 @@"), "{error}");
        assert!(error.contains("does not apply"), "{error}");
    }

    #[test]
    fn two_possible_places_are_refused() {
        let error = format!("{:#}", apply(HUNK, "0\n0\nb\nc\nd\nb\nc\nd\n").unwrap_err());
        assert!(error.contains("line 3 and at line 6"), "{error}");
    }

    #[test]
    fn a_cut_patch_is_refused() {
        assert!(parse(&HUNK[..HUNK.len() - 3]).is_err());
        assert!(parse("only words\n").is_err());
    }
}
