//! Why a request is not answered, in words.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A status and what is wrong; the page gets `{"error": …}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    pub what: String,
}

impl Refusal {
    pub fn new(status: StatusCode, what: impl Into<String>) -> Refusal {
        let what = what.into();
        Refusal { status, what }
    }

    pub fn not_found(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, what)
    }

    pub fn bad(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, what)
    }

    pub fn forbidden(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::FORBIDDEN, what)
    }

    /// What should not happen, such as a disk that does not read.
    pub fn failed(what: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(e: std::io::Error) -> Refusal {
        match e.kind() {
            // A question for what is not there, as a frame of the log.
            std::io::ErrorKind::NotFound => Refusal::not_found(e.to_string()),
            _ => Refusal::failed(format!("the file cannot be read: {e}")),
        }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(e: anyhow::Error) -> Refusal {
        Refusal::failed(format!("{e:#}"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.what}))).into_response()
    }
}
