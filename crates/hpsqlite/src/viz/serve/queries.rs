//! What the page asks about queries.
//!
//! | request | answer |
//! |---|---|
//! | `POST api/F/query` `{sql, library, id, measure}` | runs the statement on file F with the library `hp` or `stock`; when it has ended, a [`QueryAnswer`]. `id`, if it is there, is the page's own choice. With `measure` it runs several times, and its reads are not watched. If the page no longer waits the statement is stopped. |
//! | `GET api/query/ID` | the [`QueryAnswer`] so far |
//! | `GET api/query/ID/reads?from=N` | pages read, in order, from read N on (from 0): words of four bytes, little-endian |
//! | `DELETE api/query/ID` | stops it; its POST is answered with what there is |

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;

use super::answer::{Answer as Reply, Asked, At, aside};
use super::files::Files;
use super::refusal::Refusal;
use crate::libs;
use crate::viz::query::{LIMIT, Query, QueryAnswer, StopReason, protocol};

/// Statements that run at a time.
const RUNNING: usize = 2;
/// Statements whose reads are kept after they have ended: 16 MiB each at most.
const KEPT: usize = 4;
/// How often it is looked whether a statement has ended.
const TICK: Duration = Duration::from_millis(20);
/// Characters of a page's name for its query.
const NAME: usize = 64;

/// The files, and what was asked of them.
struct Queries {
    files: Arc<Files>,
    /// In the order in which they came.
    all: Mutex<VecDeque<Arc<Asking>>>,
}

struct Asking {
    id: String,
    file: usize,
    /// What was written to the file since it was opened here, before the statement ran.
    changed: Option<&'static str>,
    query: Query,
}

/// Stops a statement that nobody waits for any more.
struct Waiting(Arc<Asking>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.0.query.is_over() {
            self.0.query.kill();
        }
    }
}

impl Queries {
    fn find(&self, id: &str) -> Result<Arc<Asking>, Refusal> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|asking| asking.id == id).cloned();
        found.ok_or_else(|| Refusal::not_found("this query is forgotten; run it again"))
    }

    /// Starts a statement, if there is room for another one.
    fn start(&self, f: usize, asked: &Asks) -> Result<Arc<Asking>, Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if asked.id.is_empty() || asked.id.len() > NAME || !asked.id.chars().all(plain) {
            let what = format!("a query's id is up to {NAME} letters, digits and hyphens");
            return Err(Refusal::bad(what));
        }
        if asked.sql.len() > protocol::LONGEST {
            return Err(Refusal::bad("the statement is too long"));
        }
        let library = match asked.library {
            LibraryAsked::Hp => libs::ours(),
            LibraryAsked::Stock => libs::stock(),
        }?;
        let path = self.files.path(f)?;
        let file = self.files.get(f)?;
        let pages = file.model().map.pages();
        // The statement opens the path; whose pages it reads is told by the file that was opened.
        if let Some(gone) = file.replaced() {
            let what = format!("{gone} What is shown here is the old file: open it anew first.");
            return Err(Refusal::new(StatusCode::CONFLICT, what));
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|asking| asking.id == asked.id) {
            return Err(Refusal::bad("there is a query of this id"));
        }
        if all.iter().filter(|a| !a.query.is_over()).count() >= RUNNING {
            return Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{RUNNING} statements run already; stop one of them"),
            ));
        }
        let (query, output) = Query::start(&library, &path, &asked.sql, asked.measure, pages)?;
        let asking = Arc::new(Asking {
            id: asked.id.clone(),
            file: f,
            changed: file.changed(),
            query,
        });
        let followed = asking.clone();
        std::thread::spawn(move || followed.query.follow(output));
        let limited = asking.clone();
        std::thread::spawn(move || {
            if !limited.query.wait(LIMIT) {
                limited.query.stop(StopReason::TooLong);
            }
        });
        all.push_back(asking.clone());
        while all.len() > KEPT
            && let Some(old) = all.iter().position(|asking| asking.query.is_over())
        {
            all.remove(old);
        }
        Ok(asking)
    }

    fn answer(&self, asking: &Asking) -> Result<QueryAnswer, Refusal> {
        let file = self.files.get(asking.file)?;
        let model = file.model();
        let mut answer = asking.query.answer(&asking.id, &model);
        if asking.changed.is_some() {
            answer.notes.push(
                "The file was written to since it was opened here: which table or index a page is of \
                 may be out of date."
                    .to_owned(),
            );
        }
        Ok(answer)
    }
}

pub fn routes(files: Arc<Files>) -> Router {
    Router::new()
        .route("/api/{f}/query", post(query))
        .route("/api/query/{id}", get(look).delete(stop))
        .route("/api/query/{id}/reads", get(reads))
        .with_state(Arc::new(Queries {
            files,
            all: Mutex::default(),
        }))
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LibraryAsked {
    Hp,
    Stock,
}

#[derive(Deserialize)]
struct Asks {
    #[serde(default = "any_id")]
    id: String,
    sql: String,
    library: LibraryAsked,
    /// Take its time, in place of its reads.
    #[serde(default)]
    measure: bool,
}

/// For a page that does not want to know what its query is called.
fn any_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("unnamed-{}", LAST.fetch_add(1, Ordering::Relaxed))
}

async fn query(
    State(queries): State<Arc<Queries>>,
    At(f): At<usize>,
    asks: Result<Json<Asks>, JsonRejection>,
) -> Reply<Json<QueryAnswer>> {
    let Json(asks) = asks.map_err(|e| Refusal::bad(e.body_text()))?;
    let starting = queries.clone();
    // Made where it is started: who goes away meanwhile never comes to the next line.
    let waiting = aside(move || starting.start(f, &asks).map(Waiting)).await?;
    while !waiting.0.query.is_over() {
        tokio::time::sleep(TICK).await;
    }
    aside(move || Ok(Json(queries.answer(&waiting.0)?))).await
}

async fn look(State(queries): State<Arc<Queries>>, At(id): At<String>) -> Reply<Json<QueryAnswer>> {
    aside(move || Ok(Json(queries.answer(&*queries.find(&id)?)?))).await
}

#[derive(Deserialize)]
struct ReadsFrom {
    #[serde(default)]
    from: usize,
}

async fn reads(
    State(queries): State<Arc<Queries>>,
    At(id): At<String>,
    Asked(asked): Asked<ReadsFrom>,
) -> Reply<Response> {
    aside(move || {
        let bytes = queries.find(&id)?.query.reads(asked.from);
        let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
        Ok((kind, bytes).into_response())
    })
    .await
}

async fn stop(State(queries): State<Arc<Queries>>, At(id): At<String>) -> Reply<Json<QueryAnswer>> {
    aside(move || {
        let asking = queries.find(&id)?;
        asking.query.stop(StopReason::Asked);
        Ok(Json(queries.answer(&asking)?))
    })
    .await
}
