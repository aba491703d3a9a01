//! Which pages of two files are not the same, byte by byte.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::answer::{Answer, Asked, At, aside};
use super::files::Files;
use super::refusal::Refusal;
use crate::viz::file::Image;

/// Bytes of each file that are read for one answer.
const READ: usize = 32 << 20;
/// Bytes of each that are read at once.
const RUN: usize = 1 << 20;

pub fn routes(files: Arc<Files>) -> Router {
    Router::new()
        .route("/api/{f}/differs/{g}", get(differs))
        .with_state(files)
}

#[derive(Deserialize)]
struct DifferFrom {
    from: u32,
}

/// A byte a page from `from` on, 1 where the files differ, 0 where they are the same: of so many
/// pages as can be compared in a short time, up to the last one that both files have.
async fn differs(
    State(files): State<Arc<Files>>,
    At((f, g)): At<(usize, usize)>,
    Asked(part): Asked<DifferFrom>,
) -> Answer<Response> {
    let (a, b) = (files.get(f)?, files.get(g)?);
    let marks = aside(move || {
        // Each once, and in the order of their numbers as all who look at several do: a scan that
        // waits to write lets nobody else read, so two such questions could wait for each other.
        let (first, second) = if f <= g { (&a, &b) } else { (&b, &a) };
        let first = first.model();
        let second = (!Arc::ptr_eq(&a, &b)).then(|| second.model());
        let second = second.as_ref().unwrap_or(&first);
        let (left, right) = if f <= g {
            (&first, second)
        } else {
            (second, &first)
        };
        compare(&left.image, &right.image, part.from)
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], marks).into_response())
}

fn compare(a: &Image, b: &Image, from: u32) -> Answer<Vec<u8>> {
    let size = a.header.page_size as usize;
    if b.header.page_size as usize != size {
        return Err(Refusal::bad(format!(
            "one file has pages of {size} bytes, the other of {}: pages cannot be compared",
            b.header.page_size
        )));
    }
    if from == 0 {
        return Err(Refusal::bad("pages are counted from 1"));
    }
    let end = a.pages.min(b.pages);
    let mut next = from;
    let mut marks = Vec::new();
    let mut runs = [vec![0; RUN.max(size)], vec![0; RUN.max(size)]];
    while next <= end && marks.len() < READ / size {
        let count = ((end - next) as usize + 1).min(runs[0].len() / size);
        for (image, run) in [a, b].into_iter().zip(&mut runs) {
            image.read_run(next, &mut run[..count * size])?;
        }
        let pages = |i: usize| runs[i][..count * size].chunks_exact(size);
        marks.extend(pages(0).zip(pages(1)).map(|(a, b)| u8::from(a != b)));
        next += count as u32;
    }
    Ok(marks)
}
