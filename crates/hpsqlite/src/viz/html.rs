//! `--html`: the whole page in one file that needs no server and asks for nothing outside.
//!
//! ```text
//! index.html     with the styles inside, the modules as data: addresses in its import map,
//!                a policy that allows these and no request at all
//! index          name of an answer -> block, offset, length
//! block 0 …      answers of the server, one after another, compressed
//! ```
//!
//! What the page asks its server for is asked in advance, of the same routes, and kept by the
//! address it has there (`web/source-embedded.js` looks it up). Of a small file all pages are inside,
//! of a larger one those that are asked for; the b-trees' levels, the map and the numbers are always.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;

use super::Arguments;
use super::select::Selection;
use super::serve::assets;
use super::serve::files::Files;
use super::serve::inside::Inside;
use super::walk::Model;
use crate::chart::escape;
use crate::{interrupt, output, text};

/// A file of at most so many bytes is saved with what is in all its pages.
const SMALL: u64 = 4_000_000;
/// At most so many bytes of answers on pages; compressed they are about a tenth.
const PAGES: usize = 100_000_000;
/// At most so many bytes of two files are compared.
const COMPARED: u64 = 1_000_000_000;
/// Pages in a block: what is decompressed to look at one of them.
const TOGETHER: usize = 64;
/// Pages of the map in one answer.
const MAP: u32 = 1 << 20;

/// The saved page of the files that the arguments name.
pub fn page(args: &Arguments, files: &Arc<Files>) -> Result<String> {
    super::begin(args, files)?;
    wait(files)?;
    let inside = Inside::new(files)?;
    let mut answers = SavedAnswers::default();
    answers.ask_without_folders(&inside, "api/files")?;
    let mut whole = true;
    let opened = files.all();
    for (f, file) in &opened {
        let model = file.model();
        let selection = Selection::new(&model, &args.only, args.pages)?;
        model_answers(&mut answers, &inside, *f, &model)?;
        whole &= pages_of(&mut answers, &inside, *f, &model, &selection)?;
    }
    for (i, (f, one)) in opened.iter().enumerate() {
        for (g, other) in &opened[i + 1..] {
            differs(
                &mut answers,
                &inside,
                (*f, &one.model()),
                (*g, &other.model()),
            )?;
        }
    }
    let some = !args.only.is_empty() || args.pages.is_some();
    document(&answers, &note(args, whole, some))
}

/// Waits until all files were scanned, and copies made.
fn wait(files: &Files) -> Result<()> {
    let bar = output::bar("{bar:30} {wide_msg}")?;
    loop {
        interrupt::check()?;
        let status = files.status();
        if let Some(failed) = status.iter().find(|file| file.state == "failed") {
            bail!(
                "{}: {}",
                failed.title,
                failed.error.as_deref().unwrap_or("it cannot be looked at")
            );
        }
        if status.iter().all(|file| file.state == "ready") {
            break;
        }
        // One after the other, as bytes or rows that are copied are not pages that are read.
        let phase = |state| status.iter().find(|file| file.state == state);
        if let Some(file) = phase("copying").or(phase("scanning")) {
            bar.set_message(file.title.clone());
            bar.set_length(file.total);
            bar.set_position(file.done);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bar.finish_and_clear();
    Ok(())
}

/// Answers by their addresses, in blocks that are compressed one by one.
#[derive(Default)]
struct SavedAnswers {
    blocks: Vec<Vec<u8>>,
    index: BTreeMap<String, (usize, usize, usize)>,
}

impl SavedAnswers {
    fn block(&mut self) {
        self.blocks.push(Vec::new());
    }

    fn add(&mut self, path: &str, answer: &[u8]) {
        if self.blocks.is_empty() {
            self.block();
        }
        let at = self.blocks.len() - 1;
        let block = &mut self.blocks[at];
        let place = (at, block.len(), answer.len());
        block.extend_from_slice(answer);
        self.index.insert(path.to_owned(), place);
    }

    /// Asks and keeps the answer; gives its length.
    fn ask(&mut self, inside: &Inside, path: &str) -> Result<usize> {
        let answer = inside.ask(path)?;
        self.add(path, &answer);
        Ok(answer.len())
    }

    /// The same for an answer that says where files are: that is nobody's business to whom the page is
    /// given.
    fn ask_without_folders(&mut self, inside: &Inside, path: &str) -> Result<()> {
        self.add(path, &without_folders(&inside.ask(path)?)?);
        Ok(())
    }
}

/// An answer with the names of files in place of their paths.
fn without_folders(answer: &[u8]) -> Result<Vec<u8>> {
    let mut answer: Value = serde_json::from_slice(answer)?;
    let files = match &mut answer {
        Value::Array(files) => files.as_mut_slice(),
        file => std::slice::from_mut(file),
    };
    for path in files.iter_mut().filter_map(|file| file.get_mut("path")) {
        *path = path.as_str().map(|path| super::title(path.as_ref())).into();
    }
    Ok(serde_json::to_vec(&answer)?)
}

/// All but what is in the pages.
fn model_answers(
    answers: &mut SavedAnswers,
    inside: &Inside,
    f: usize,
    model: &Model,
) -> Result<()> {
    answers.ask_without_folders(inside, &format!("api/{f}/summary"))?;
    for what in ["problems", "wal", "overview"] {
        answers.ask(inside, &format!("api/{f}/{what}"))?;
    }
    for t in 0..model.trees.len() {
        answers.ask(inside, &format!("api/{f}/tree/{t}"))?;
    }
    for from in (1..=model.map.pages()).step_by(MAP as usize) {
        answers.block();
        answers.ask(inside, &format!("api/{f}/map?from={from}&count={MAP}"))?;
    }
    answers.block();
    for (t, tree) in model.trees.iter().enumerate() {
        for l in 0..tree.levels.len() {
            interrupt::check()?;
            let path = format!("api/{f}/tree/{t}/level/{l}");
            answers.add(&path, &differences(&inside.ask(&path)?));
            if l + 1 < tree.levels.len() {
                answers.ask(inside, &format!("{path}/fan"))?;
            }
        }
    }
    answers.block();
    Ok(())
}

/// Of each number how much larger it is than the one before: pages that follow each other are ones.
fn differences(numbers: &[u8]) -> Vec<u8> {
    let mut before = 0u32;
    let mut out = Vec::with_capacity(numbers.len());
    for bytes in numbers.chunks_exact(4) {
        let n = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        out.extend(n.wrapping_sub(before).to_le_bytes());
        before = n;
    }
    out
}

/// What is in the pages that are asked for, or in all of a small file; whether those are all.
fn pages_of(
    answers: &mut SavedAnswers,
    inside: &Inside,
    f: usize,
    model: &Model,
    selection: &Selection,
) -> Result<bool> {
    let size = u64::from(model.image.header.page_size);
    let all = selection.pages.is_none() && selection.has_nobody();
    if all && u64::from(model.map.pages()) * size > SMALL {
        return Ok(false);
    }
    let ranges = selection.ranges(model);
    let mut bytes = 0;
    for (i, n) in ranges.into_iter().flat_map(|(a, b)| a..=b).enumerate() {
        interrupt::check()?;
        if i % TOGETHER == 0 {
            answers.block();
        }
        bytes += answers.ask(inside, &format!("api/{f}/page/{n}"))?;
        bytes += answers.ask(inside, &format!("api/{f}/page/{n}/bytes"))?;
        if bytes > PAGES {
            bail!(
                "what is in these pages is too much for one file: {} pages are more than {}; choose \
                 fewer with --pages and --only",
                text::thousands(i as u64 + 1),
                text::bytes(PAGES as u64)
            );
        }
    }
    Ok(all)
}

/// Which pages of two files are not the same.
fn differs(
    answers: &mut SavedAnswers,
    inside: &Inside,
    (f, one): (usize, &Model),
    (g, other): (usize, &Model),
) -> Result<()> {
    let (size, pages) = (one.image.header.page_size, one.image.pages);
    let both = pages.min(other.image.pages);
    if other.image.header.page_size != size || u64::from(both) * u64::from(size) > COMPARED {
        return Ok(());
    }
    let path = format!("api/{f}/differs/{g}");
    let mut marks = Vec::new();
    while marks.len() < both as usize {
        interrupt::check()?;
        let more = inside.ask(&format!("{path}?from={}", marks.len() + 1))?;
        if more.is_empty() {
            break;
        }
        marks.extend(more);
    }
    answers.add(&path, &marks);
    Ok(())
}

/// What a reader of the saved page should know.
fn note(args: &Arguments, whole: bool, some: bool) -> String {
    let pages = match (whole, some) {
        (true, _) => "",
        (false, true) => {
            "What is in pages is inside for those that were chosen with --only and --pages. "
        }
        (false, false) => {
            "What is in the pages is not inside, as the file is large: --pages 1-200 would put some in. "
        }
    };
    let mut command = "hpsqlite viz".to_owned();
    for path in args.files() {
        command += &format!(" {}", super::title(path));
    }
    format!(
        "Saved by hpsqlite viz {}. {pages}To run statements, to look for keys and to make copies for \
         comparing, start \u{201c}{}\u{201d}.",
        env!("CARGO_PKG_VERSION"),
        text::printable(&command)
    )
}

fn packed(bytes: &[u8]) -> Result<String> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes)?;
    Ok(STANDARD.encode(out.finish()?))
}

/// Puts the page together.
fn document(answers: &SavedAnswers, note: &str) -> Result<String> {
    let mut data = String::new();
    let index = serde_json::to_vec(&answers.index)?;
    data += &format!(
        "<script type=\"text/plain\" id=\"index\">{}</script>\n",
        packed(&index)?
    );
    for (i, block) in answers.blocks.iter().enumerate() {
        interrupt::check()?;
        let block = packed(block)?;
        data += &format!("<script type=\"text/plain\" id=\"block-{i}\">{block}</script>\n");
    }
    // The same content has the same nonce, so that the file is the same.
    let nonce = text::fingerprint(data.as_bytes());
    let web = |name: &str| {
        let bytes = assets::bytes(name).with_context(|| format!("the page has no {name}"))?;
        String::from_utf8(bytes).with_context(|| format!("{name} is no text"))
    };
    let mut imports = BTreeMap::new();
    for name in assets::names().filter(|name| name.ends_with(".js")) {
        let module = STANDARD.encode(web(&name)?);
        imports.insert(
            format!("viz/{name}"),
            format!("data:text/javascript;base64,{module}"),
        );
    }
    let imports = serde_json::to_string(&BTreeMap::from([("imports", imports)]))?;
    let mut page = String::new();
    let mut seen = (false, false);
    for line in web("index.html")?.lines() {
        let plain = line.trim_start();
        if let Some(rest) = plain.strip_prefix("<link rel=\"stylesheet\" href=\"web/") {
            let name = rest.split('"').next().unwrap_or_default();
            page += &format!("<style nonce=\"{nonce}\">\n{}</style>\n", web(name)?);
        } else if plain.starts_with("<script type=\"importmap\"") {
            page += &format!("<script type=\"importmap\" nonce=\"{nonce}\">{imports}</script>\n");
            seen.0 = true;
        } else if plain.starts_with("<script type=\"module\" src=\"web/start.js\"") {
            let start = web("start-embedded.js")?;
            page += &format!("<script type=\"module\" nonce=\"{nonce}\">\n{start}</script>\n");
            seen.1 = true;
        } else if plain.starts_with("</body>") {
            let note = escape(note);
            let style = web("saved.css")?;
            page += &format!("<style nonce=\"{nonce}\">\n{style}</style>\n");
            page += &format!("<footer class=\"saved\">{note}</footer>\n{data}{line}\n");
        } else {
            page += &format!("{line}\n");
            if plain.starts_with("<meta charset") {
                page += &format!(
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                     script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data: blob:; \
                     base-uri 'none'; form-action 'none'\">\n"
                );
            }
        }
    }
    if seen != (true, true) || !page.contains(&data) || !page.contains(&nonce) {
        bail!("index.html has not the lines that a saved page replaces");
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::viz::tests::{folder, make, stock};

    fn unpacked(page: &str, id: &str) -> Vec<u8> {
        let start = format!("<script type=\"text/plain\" id=\"{id}\">");
        let text = page.split_once(&start).unwrap().1;
        let packed = STANDARD.decode(text.split_once('<').unwrap().0).unwrap();
        let mut bytes = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(&packed[..]);
        decoder.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn pages_that_follow_each_other_are_ones() {
        let numbers = [7u32, 8, 9, 4, u32::MAX];
        let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        let differences = differences(&bytes);
        let sums: Vec<u32> = differences
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
            .scan(0u32, |sum, n| {
                *sum = sum.wrapping_add(n);
                Some(*sum)
            })
            .collect();
        assert_eq!(sums, numbers);
        assert_eq!(differences[4..8], [1, 0, 0, 0]);
    }

    #[test]
    fn a_saved_page_can_be_asked_what_the_server_is_asked() {
        let methods = |name: &str| -> Vec<String> {
            let text = String::from_utf8(assets::bytes(name).unwrap()).unwrap();
            let named = text.lines().filter_map(|line| {
                let line = line.strip_prefix("  ")?;
                let line = line.strip_prefix("async ").unwrap_or(line);
                let (name, rest) = line.split_once('(')?;
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric());
                (plain && rest.ends_with('{')).then(|| name.to_owned())
            });
            named.collect()
        };
        let (asked, there) = (methods("source.js"), methods("source-embedded.js"));
        assert!(asked.contains(&"summary".to_owned()), "{asked:?}");
        // What only the program can do; views look whether the source has it.
        let program = ["constructor", "reload", "device", "stopCopy"];
        for method in asked {
            assert!(
                there.contains(&method) || program.contains(&method.as_str()),
                "{method} is not in source-embedded.js"
            );
        }
    }

    #[test]
    fn a_saved_page_does_not_say_in_which_folders_files_are() {
        #[derive(clap::Parser)]
        struct ToldArguments {
            #[command(flatten)]
            arguments: Arguments,
        }
        let (library, folder) = (stock(), folder());
        let inner = folder.path().join("private-folder");
        std::fs::create_dir(&inner).unwrap();
        let path = inner.join("my.db");
        drop(make(&library, &path, "CREATE TABLE t(a)"));
        let told = <ToldArguments as clap::Parser>::parse_from(["viz".as_ref(), path.as_os_str()]);
        let page = page(&told.arguments, &Arc::default()).unwrap();
        assert!(page.contains("hpsqlite viz my.db"));
        let index: BTreeMap<String, (usize, usize, usize)> =
            serde_json::from_slice(&unpacked(&page, "index")).unwrap();
        let mut said = page.clone();
        for block in 0..=index.values().map(|place| place.0).max().unwrap() {
            let bytes = unpacked(&page, &format!("block-{block}"));
            said += &String::from_utf8_lossy(&bytes);
        }
        assert!(said.contains("\"path\":\"my.db\""));
        assert!(!said.contains("private-folder"));
    }

    #[test]
    fn answers_are_found_by_their_addresses() {
        let mut answers = SavedAnswers::default();
        answers.add("a", b"one");
        answers.add("b", b"two");
        answers.block();
        answers.add("c", b"</script>three");
        let page = document(&answers, "A note with </footer><script>").unwrap();
        let index: BTreeMap<String, (usize, usize, usize)> =
            serde_json::from_slice(&unpacked(&page, "index")).unwrap();
        let answer = |path: &str| {
            let (block, at, length) = index[path];
            unpacked(&page, &format!("block-{block}"))[at..at + length].to_vec()
        };
        assert_eq!(answer("a"), b"one");
        assert_eq!(answer("b"), b"two");
        assert_eq!(answer("c"), b"</script>three");
        assert_eq!(
            page,
            document(&answers, "A note with </footer><script>").unwrap()
        );
        assert!(page.contains("A note with &lt;/footer&gt;&lt;script&gt;"));
    }

    #[test]
    fn nothing_outside_is_asked_for() {
        let page = document(&SavedAnswers::default(), "").unwrap();
        let allowed = |address: &str| address.starts_with(['#']) || address.starts_with("data:");
        for attribute in [" src=\"", " href=\"", " action=\"", "@import", "url("] {
            for (at, _) in page.match_indices(attribute) {
                let address = &page[at + attribute.len()..];
                assert!(allowed(address), "{attribute}{}", &address[..40]);
            }
        }
        let policy = page.split_once("Content-Security-Policy").unwrap().1;
        assert!(policy.starts_with("\" content=\"default-src 'none'; script-src 'nonce-"));
        assert!(!policy.split_once('>').unwrap().0.contains("connect-src"));
        // Nothing is run or styled before the policy is known.
        let head = page.split_once("Content-Security-Policy").unwrap().0;
        assert!(!head.contains("<script") && !head.contains("<style") && !head.contains("<link"));
        assert!(!page.contains("{{nonce}}"));
        // Every module that is named is there.
        for name in assets::names().filter(|name| name.ends_with(".js")) {
            assert!(page.contains(&format!("\"viz/{name}\":\"data:text/javascript;base64,")));
        }
    }
}
