//! Questions about a file.
//!
//! Lists that are as long as the file are binary, little-endian; all else is JSON with the names that
//! the model's own structures have. A question that cannot be answered gets a status from 400 on and
//! `{"error": …}`.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::files::{Files, Opened, Status};
use super::refusal::Refusal;
use super::summary;
use crate::viz::ask::Page;
use crate::viz::device::{self, Measured};
use crate::viz::file::Version;
use crate::viz::walk::Model;

/// Pages of the map in one answer.
const MAP: u32 = 1 << 20;
/// A page without owner in the map; as many b-trees have numbers of their own there.
const NOBODY: u16 = u16::MAX;

pub type Answer<T> = Result<T, Refusal>;

pub fn routes(files: Arc<Files>) -> Router {
    Router::new()
        .route("/api/files", get(status))
        .route("/api/{f}/summary", get(summary))
        .route("/api/{f}/map", get(map))
        .route("/api/{f}/page/{n}", get(page))
        .route("/api/{f}/page/{n}/bytes", get(page_bytes))
        .route("/api/{f}/device", post(device))
        .route("/api/{f}/reload", post(reload))
        .with_state(files)
}

/// The variable parts of a path; one that is no number is no question of ours.
pub struct At<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<At<T>> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(at)) => Ok(At(at)),
            Err(_) => Err(Refusal::not_found("there is nothing here")),
        }
    }
}

/// What follows the question mark.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Asked<T>> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Asked(asked)),
            Err(e) => Err(Refusal::bad(e.body_text())),
        }
    }
}

/// Does what may have to wait for a disk on a thread that is there for it.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(_) => Err(Refusal::failed(
            "this question ended in a fault of the tool",
        )),
    }
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

fn binary(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

async fn status(State(files): State<Arc<Files>>) -> Answer<Json<Vec<Status>>> {
    aside(move || Ok(Json(files.status()))).await
}

async fn summary(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Response> {
    let json = aside(move || summary::of(&files, f)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

async fn reload(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Json<Vec<Status>>> {
    aside(move || {
        files.reload(f)?;
        Ok(Json(files.status()))
    })
    .await
}

/// Measures the device that a file is on; an error is the reason why it cannot be measured.
async fn device(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<Json<Measured>> {
    let path = files.path(f)?;
    aside(move || match device::measure(&path) {
        Ok(measured) => Ok(Json(measured)),
        Err(why) => Err(Refusal::new(StatusCode::CONFLICT, why)),
    })
    .await
}

#[derive(Deserialize)]
struct Part {
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
    Asked(part): Asked<Part>,
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
