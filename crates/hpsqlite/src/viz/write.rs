//! What is written instead of served: numbers and problems on the terminal, JSON, pictures, a page with
//! its data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::copy::{self, CopyJob, CopyStop};
use super::device::Device;
use super::draw::{self, Paper};
use super::figures::Figures;
use super::scan::Scan;
use super::select::Selection;
use super::serve::Files;
use super::walk::Model;
use super::{Arguments, html, json, show, title};
use crate::interrupt;
use crate::output::{self, OutputFile};

/// A file that was looked at.
struct Looked {
    title: String,
    model: Model,
    figures: Figures,
    selection: Selection,
}

impl Looked {
    fn at(title: String, path: &Path, args: &Arguments, device: Device) -> Result<Looked> {
        let mut model = Model::open(path)?;
        let selection = Selection::new(&model, &args.only, args.pages)?;
        scan(&mut model)?;
        Ok(Looked {
            title,
            figures: Figures::of(&model, device),
            model,
            selection,
        })
    }
}

/// Writes what was asked for; returns the exit status.
pub fn run(args: &Arguments, device: Device) -> Result<u8> {
    let more = args.db2.is_some() || args.copies().next().is_some();
    if more && !args.draws() && args.html.is_none() {
        bail!("--only and --pages are for one file, or for pictures (--svg, --png, --html)");
    }
    if args.html.is_some() && args.draws() && args.copies().next().is_some() {
        bail!(
            "the page (--html) and pictures (--svg, --png) would each make their copies: write them one \
             after the other"
        );
    }
    let begin = |path: &Option<PathBuf>| OutputFile::begin(path.as_deref(), args.files());
    let (json, html) = (begin(&args.json)?, begin(&args.html)?);
    let (svg, png) = (begin(&args.svg)?, begin(&args.png)?);
    let words = args.text || args.check || (!args.draws() && html.is_none());
    if let Some(file) = html {
        save(args, device, file)?;
        if !words && !args.draws() && json.is_none() {
            return Ok(0);
        }
    }
    let first = Looked::at(title(&args.db), &args.db, args, device)?;
    if let Some(file) = json {
        let (model, figures, selection) = (&first.model, &first.figures, &first.selection);
        file.end_with(|out| json::write(model, figures, selection, out))?;
    }
    if words {
        say(args, &first)?;
    }
    let damaged = first.model.problems.count > 0;
    if args.draws() {
        pictures(args, device, first, svg, png)?;
    }
    Ok(u8::from(args.check && damaged))
}

/// Says on the terminal what was asked for.
fn say(args: &Arguments, file: &Looked) -> Result<()> {
    let (model, selection) = (&file.model, &file.selection);
    output::to_terminal(|out| {
        if args.check {
            show::problems(model, out)
        } else if args.pages.is_some() && !args.text {
            show::pages(model, selection, out)
        } else {
            show::numbers(model, &file.figures, selection, out)
        }
    })?;
    Ok(())
}

/// Saves the page with all files.
fn save(args: &Arguments, device: Device, file: OutputFile) -> Result<()> {
    let files = Arc::new(Files::new(device));
    let page = html::page(args, &files);
    files.end();
    file.end(page?)
}

/// Draws all files side by side.
fn pictures(
    args: &Arguments,
    device: Device,
    first: Looked,
    svg: Option<OutputFile>,
    png: Option<OutputFile>,
) -> Result<()> {
    let mut all = vec![first];
    for path in args.files().skip(1) {
        all.push(Looked::at(title(path), path, args, device)?);
    }
    // Copies are gone when this is.
    let folder = copy::folder()?;
    for kind in args.copies() {
        let bar = output::bar("{bar:30} {wide_msg}")?;
        let name = kind.title(&title(&args.db));
        bar.set_message(name.clone());
        let job = CopyJob::new(&args.db, kind, folder.path(), 0)?;
        let copied = job.run(&CopyStop::default(), |done, all| {
            bar.set_length(all);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        all.push(Looked::at(name, &copied.path, args, device)?);
    }
    let files: Vec<draw::DrawnFile<'_>> = all
        .iter()
        .map(|looked| draw::DrawnFile {
            title: looked.title.clone(),
            model: &looked.model,
            figures: &looked.figures,
            selection: &looked.selection,
        })
        .collect();
    let picture = draw::draw(&files)?;
    let paper = |otherwise| if args.dark { Paper::Dark } else { otherwise };
    if let Some(file) = svg {
        file.end(picture.svg(paper(Paper::Both)))?;
    }
    if let Some(file) = png {
        file.end(picture.png(paper(Paper::Light))?)?;
    }
    Ok(())
}

/// Scans the file, with a bar that shows how far it came.
fn scan(model: &mut Model) -> Result<()> {
    let bar = output::bar("{bar:30} {human_pos} of {human_len} pages, {eta} left")?;
    bar.set_length(u64::from(model.map.pages()));
    let mut scan = Scan::new(model);
    let path = model.image.path.clone();
    let failed = || format!("cannot read {}", path.display());
    while scan.step(model).with_context(failed)? {
        interrupt::check()?;
        bar.set_position(u64::from(scan.done()));
    }
    scan.finish(model).with_context(failed)
}
