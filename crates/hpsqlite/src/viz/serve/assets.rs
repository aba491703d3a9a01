//! The page's own files: index.html, modules, style.
//!
//! A debug build reads them from the source folder at each request, so that one can work on the page
//! with nothing but an editor; in a release build they are in the tool.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use super::answer::At;
use super::guard::{policy, random};
use super::refusal::Refusal;
use crate::chart::engines;

#[derive(RustEmbed)]
#[folder = "src/viz/web/"]
struct Web;

/// Stands in index.html where the nonce goes.
const NONCE: &str = "{{nonce}}";

pub fn routes() -> Router {
    Router::new()
        .route("/", get(index))
        .route("/web/{*name}", get(file))
}

/// The colours of engines, which all pages of the tool have from one table.
const ENGINES: &str = "engines.css";

/// The names of the page's files, as `map/view.js`.
pub fn names() -> impl Iterator<Item = String> {
    Web::iter()
        .map(|name| name.into_owned())
        .chain([ENGINES.to_owned()])
}

/// The text of one of the page's files.
pub fn bytes(name: &str) -> Option<Vec<u8>> {
    if name == ENGINES {
        return Some(format!(":root {{\n{}}}\n", engines::variables()).into_bytes());
    }
    Web::get(name).map(|file| file.data.into_owned())
}

async fn index() -> Result<Response, Refusal> {
    let page = bytes("index.html").unwrap_or_default();
    let nonce = random()?;
    let page = String::from_utf8_lossy(&page).replace(NONCE, &nonce);
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy(&nonce)),
    ];
    Ok((headers, page).into_response())
}

async fn file(At(name): At<String>) -> Result<Response, Refusal> {
    let nothing = || Refusal::not_found("the page has no such file");
    // Names and nothing else: no hidden file, no way up.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let named = |part: &str| part.starts_with(|c| c != '.') && part.chars().all(plain);
    if !name.split('/').all(named) {
        return Err(nothing());
    }
    let kind = match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => return Err(nothing()),
    };
    let bytes = bytes(&name).ok_or_else(nothing)?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}
