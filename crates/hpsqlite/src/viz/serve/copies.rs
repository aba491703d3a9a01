//! Copies that the page asks for.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::routing::{delete, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, At, aside};
use super::files::Files;
use super::refusal::Refusal;
use crate::viz::copy::CopyKind;

pub fn routes(files: Arc<Files>) -> Router {
    Router::new()
        .route("/api/copy", post(start))
        .route("/api/copy/{f}", delete(stop))
        .with_state(files)
}

#[derive(Deserialize)]
struct Wanted {
    of: usize,
    kind: CopyKind,
}

#[derive(Serialize)]
struct Begun {
    file: usize,
}

async fn start(
    State(files): State<Arc<Files>>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Answer<Json<Begun>> {
    let Json(wanted) = wanted.map_err(|e| Refusal::bad(e.body_text()))?;
    let start = move || files.copies.start(&files, wanted.of, wanted.kind);
    Ok(Json(Begun {
        file: aside(start).await?,
    }))
}

async fn stop(State(files): State<Arc<Files>>, At(f): At<usize>) -> Answer<StatusCode> {
    files.copies.stop(f)?;
    Ok(StatusCode::NO_CONTENT)
}
