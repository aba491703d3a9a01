//! Questions about a file.
//!
//! Lists that are as long as the file are binary, little-endian; all else is JSON with the names that
//! the model's own structures have. A question that cannot be answered gets a status from 400 on and
//! `{"error": …}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Asked, At, NOBODY, aside, json};
use super::files::{Files, Opened, Status};
use super::find::{self, Found};
use super::refusal::Refusal;
use super::{overview, summary};
use crate::viz::ask::{Page, PathTarget, WayDown};
use crate::viz::columns;
use crate::viz::device::{self, MeasuredDevice};
use crate::viz::file::Version;
use crate::viz::map::{PageKind, Problem};
use crate::viz::wal::{self, Frame};
use crate::viz::walk::Model;

/// Pages of the map in one answer.
const MAP: u32 = 1 << 20;
/// Pages of a chain in one answer.
const CHAIN: usize = 100_000;

pub fn routes(files: Arc<Files>) -> Router {
    Router::new()
        .route("/api/files", get(status))
        .route("/api/{f}/summary", get(summary))
        .route("/api/{f}/overview", get(overview))
        .route("/api/{f}/log", get(log))
        .route("/api/{f}/log/frames", get(log_frames))
        .route("/api/{f}/map", get(map))
        .route("/api/{f}/page/{n}", get(page))
        .route("/api/{f}/page/{n}/bytes", get(page_bytes))
        .route("/api/{f}/tree/{t}", get(tree))
        .route("/api/{f}/tree/{t}/level/{l}", get(level))
        .route("/api/{f}/tree/{t}/level/{l}/fan", get(fan))
        .route("/api/{f}/tree/{t}/path", get(path))
        .route("/api/{f}/chain/{n}", get(chain))
        .route("/api/{f}/find", get(find))
        .route("/api/{f}/wal", get(wal))
        .route("/api/{f}/problems", get(problems))
        .route("/api/{f}/device", post(device))
        .route("/api/{f}/reload", post(reload))
        .with_state(files)
}

/// Asks the model of a file.
async fn ask<T: Send + 'static>(
    files: &Arc<Files>,
    f: usize,
    question: impl FnOnce(&Model) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let file: Arc<Opened> = files.get(f)?;
    aside(move || question(&file.model())).await
}

/// The model has such a page.
fn check_page(model: &Model, n: u32) -> Answer<()> {
    if model.map.has(n) {
        Ok(())
    } else {
        let last = model.map.pages();
        Err(Refusal::not_found(format!(
            "there is no page {n}: the last one is {last}"
        )))
    }
}

/// The model has such a b-tree.
fn check_tree(model: &Model, t: usize) -> Answer<()> {
    if t < model.trees.len() {
        Ok(())
    } else {
        Err(Refusal::not_found(format!("there is no b-tree {t}")))
    }
}

/// The same, and it has such a level.
fn check_level(model: &Model, t: usize, l: usize) -> Answer<()> {
    check_tree(model, t)?;
    if l < model.trees[t].levels.len() {
        Ok(())
    } else {
        let what = format!("the b-tree has no level {l}: the root's is 0");
        Err(Refusal::not_found(what))
    }
}

fn numbers(numbers: impl IntoIterator<Item = u32>) -> Response {
    binary(numbers.into_iter().flat_map(u32::to_le_bytes).collect())
}

fn binary(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

async fn status(State(files): State<Arc<Files>>) -> Answer<Json<Vec<Status>>> {
    aside(move || Ok(Json(files.status()))).await
}

async fn summary(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    aside(move || summary::of(&files, f)).await
}

async fn overview(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    let file = files.get(f)?;
    aside(move || overview::of(&file)).await
}

/// The log as it is now, which may be longer than it was when the file was opened.
#[derive(Serialize)]
struct LogNow {
    /// Another one whenever anything was written, or copied to the database.
    tag: String,
    facts: Option<wal::Facts>,
    /// Pages of the database after its last commit.
    pages: Option<u32>,
    /// Whether it is the log that was there when the file was opened, and has only grown: then the
    /// page views have its first frames.
    same: bool,
}

async fn log(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    let file = files.get(f)?;
    aside(move || {
        let (tag, log) = file.log_now().map_err(cannot_read_log)?;
        let header = |wal: &wal::Wal| wal.header;
        let then = file.model().image.wal.as_ref().map(header);
        json(&LogNow {
            tag,
            pages: log.as_ref().and_then(|wal| wal.pages()),
            same: log.as_deref().map(header) == then,
            facts: log.as_deref().map(wal::Wal::facts),
        })
    })
    .await
}

/// The frames of that log, as `/wal` gives those of the log that was there at first.
async fn log_frames(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    let file = files.get(f)?;
    aside(move || {
        let (_, log) = file.log_now().map_err(cannot_read_log)?;
        Ok(frames(log.as_deref()))
    })
    .await
}

fn cannot_read_log(e: std::io::Error) -> Refusal {
    Refusal::new(
        StatusCode::CONFLICT,
        format!("the write-ahead log cannot be read: {e}"),
    )
}

async fn reload(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Json<Vec<Status>>> {
    aside(move || {
        files.reload(f)?;
        Ok(Json(files.status()))
    })
    .await
}

/// Measures the device that a file is on; an error is the reason why it cannot be measured.
async fn device(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Json<MeasuredDevice>> {
    let path = files.path(f)?;
    aside(move || match device::measure(&path) {
        Ok(measured) => Ok(Json(measured)),
        Err(why) => Err(Refusal::new(StatusCode::CONFLICT, why)),
    })
    .await
}

#[derive(Deserialize)]
struct PagesAsked {
    #[serde(default = "first")]
    from: u32,
    #[serde(default = "most")]
    count: u32,
}

fn first() -> u32 {
    1
}

fn most() -> u32 {
    MAP
}

/// Of each page its owner, its kind and how full it is, in three arrays.
async fn map(
    State(files): State<Arc<Files>>,
    At(f): At<usize>,
    Asked(part): Asked<PagesAsked>,
) -> Answer<Response> {
    if part.from == 0 || part.count > MAP {
        let what = format!("pages are counted from 1, and asked for {MAP} at a time at most");
        return Err(Refusal::bad(what));
    }
    ask(&files, f, move |model| {
        let map = &model.map;
        let end = part.from.saturating_add(part.count).min(map.pages() + 1);
        let pages = part.from..end.max(part.from);
        let mut bytes = Vec::with_capacity(4 * pages.len());
        for n in pages.clone() {
            let owner = map.owner(n).and_then(|t| u16::try_from(t).ok());
            bytes.extend(owner.unwrap_or(NOBODY).to_le_bytes());
        }
        bytes.extend(pages.clone().map(|n| map.kind(n) as u8));
        bytes.extend(pages.map(|n| map.fill(n)));
        Ok(binary(bytes))
    })
    .await
}

async fn page(
    State(files): State<Arc<Files>>,
    At((f, n)): At<(usize, u32)>,
    Asked(which): Asked<Which>,
) -> Answer<Json<Page>> {
    ask(&files, f, move |model| {
        check_page(model, n)?;
        Ok(Json(model.look_at_version(n, which.version())?))
    })
    .await
}

#[derive(Deserialize)]
struct Which {
    frame: Option<u32>,
    #[serde(default)]
    file: u8,
}

impl Which {
    fn version(&self) -> Version {
        match self.frame {
            Some(frame) => Version::Frame(frame),
            None if self.file != 0 => Version::File,
            None => Version::Newest,
        }
    }
}

/// The bytes of a page: as it counts, as the file has it, or as a frame of the log has it.
async fn page_bytes(
    State(files): State<Arc<Files>>,
    At((f, n)): At<(usize, u32)>,
    Asked(which): Asked<Which>,
) -> Answer<Response> {
    ask(&files, f, move |model| {
        check_page(model, n)?;
        Ok(binary(model.bytes(n, which.version())?))
    })
    .await
}

/// Levels, fan-out, columns.
async fn tree(State(files): State<Arc<Files>>, At((f, t)): At<(usize, usize)>) -> Answer<Response> {
    ask(&files, f, move |model| {
        check_tree(model, t)?;
        json(&model.tree_facts(t))
    })
    .await
}

/// The pages of a level in the order of keys.
async fn level(
    State(files): State<Arc<Files>>,
    At((f, t, l)): At<(usize, usize, usize)>,
) -> Answer<Response> {
    ask(&files, f, move |model| {
        check_level(model, t, l)?;
        Ok(numbers(model.level(t, l)?))
    })
    .await
}

/// How many pages each of them leads to.
async fn fan(
    State(files): State<Arc<Files>>,
    At((f, t, l)): At<(usize, usize, usize)>,
) -> Answer<Response> {
    ask(&files, f, move |model| {
        check_level(model, t, l)?;
        Ok(numbers(model.fan(t, l)?))
    })
    .await
}

#[derive(Deserialize)]
struct Goal {
    key: Option<String>,
    rowid: Option<i64>,
    page: Option<u32>,
}

/// The way down a b-tree to a key, a row or a page.
async fn path(
    State(files): State<Arc<Files>>,
    At((f, t)): At<(usize, usize)>,
    Asked(goal): Asked<Goal>,
) -> Answer<Json<WayDown>> {
    let target = match (goal.key, goal.rowid, goal.page) {
        (Some(key), None, None) => PathTarget::key(&key).map_err(Refusal::bad)?,
        (None, Some(rowid), None) => PathTarget::Rowid(rowid),
        (None, None, Some(page)) => PathTarget::Page(page),
        _ => {
            let what = "a way leads to one of ?key=, ?rowid= and ?page=";
            return Err(Refusal::bad(what));
        }
    };
    ask(&files, f, move |model| {
        check_tree(model, t)?;
        let order = match target {
            PathTarget::Key(ref key) => model
                .columns(t)
                .and_then(|columns| columns::order(&columns[..key.len().min(columns.len())]))
                .map_err(|e| Refusal::not_found(format!("no key can be looked for: {e:#}")))?,
            _ => Vec::new(),
        };
        let way = model.way(t, &target, &order)?;
        way.map(Json).map_err(Refusal::not_found)
    })
    .await
}

#[derive(Serialize)]
struct Chain {
    /// From its first page on, wherever the page is in it that was asked for.
    pages: Vec<u32>,
    /// Whether it goes on.
    more: bool,
}

/// The chain of overflow pages, or the list of free pages' trunks, that a page is in.
async fn chain(
    State(files): State<Arc<Files>>,
    At((f, n)): At<(usize, u32)>,
) -> Answer<Json<Chain>> {
    ask(&files, f, move |model| {
        check_page(model, n)?;
        let kind = model.map.kind(n);
        if !matches!(kind, PageKind::Overflow | PageKind::FreeTrunk) {
            let what = format!("page {n} is {}: it is in no chain", kind.one());
            return Err(Refusal::not_found(what));
        }
        let first = model.chain_start(n);
        let mut pages = model.chain(first, CHAIN + 1)?;
        // A damaged chain may lead elsewhere, or in a circle.
        let whole = (1..pages.len()).take_while(|&i| {
            model.map.kind(pages[i]) == kind && model.map.parent(pages[i]) == pages[i - 1]
        });
        pages.truncate(1 + whole.count());
        let more = pages.len() > CHAIN;
        pages.truncate(CHAIN);
        Ok(Json(Chain { pages, more }))
    })
    .await
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

/// What a text may mean.
async fn find(
    State(files): State<Arc<Files>>,
    At(f): At<usize>,
    Asked(text): Asked<Text>,
) -> Answer<Json<Vec<Found>>> {
    ask(&files, f, move |model| {
        Ok(Json(find::find(model, &text.text)?))
    })
    .await
}

async fn wal(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    ask(&files, f, move |model| Ok(frames(model.image.wal.as_ref()))).await
}

/// Of each frame of a log its page, its commit, and the pages of the database after it if it ends
/// a commit.
fn frames(log: Option<&wal::Wal>) -> Response {
    let Some(wal) = log else {
        return binary(Vec::new());
    };
    let mut commit = 1;
    let of = |(i, frame): (u32, &Frame)| {
        let of = if i < wal.committed { commit } else { 0 };
        commit += u32::from(frame.commit > 0);
        [frame.page, of, frame.commit]
    };
    numbers((0..).zip(&wal.frames).flat_map(of))
}

#[derive(Serialize)]
struct ProblemsAnswer<'a> {
    /// All that were found; of very many only the first are told.
    count: u64,
    problems: Vec<ToldProblem<'a>>,
}

#[derive(Serialize)]
struct ToldProblem<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    /// The b-tree that the page belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<usize>,
}

async fn problems(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    ask(&files, f, move |model| {
        let owner = |n| model.map.has(n).then(|| model.map.owner(n)).flatten();
        json(&ProblemsAnswer {
            count: model.problems.count,
            problems: model
                .problems
                .found
                .iter()
                .map(|problem| ToldProblem {
                    problem,
                    tree: owner(problem.page),
                })
                .collect(),
        })
    })
    .await
}
