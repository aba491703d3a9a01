//! What answers have in common: how a question is taken apart, asked on another thread, and answered.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refusal::Refusal;

/// A page without owner in the map; as many b-trees have numbers of their own there.
pub const NOBODY: u16 = u16::MAX;

pub type Answer<T> = Result<T, Refusal>;

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

/// JSON that is made while the model is at hand, since it may borrow from it.
pub fn json(value: &impl Serialize) -> Answer<Response> {
    let json = serde_json::to_vec(value).map_err(|e| Refusal::failed(e.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}
