//! The server's answers without a socket, for a page that is saved with its data.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;

use super::files::Files;
use super::routes;

/// Whoever asks within the program.
pub struct Inside {
    runtime: Runtime,
    routes: TowerToHyperService<Router>,
}

impl Inside {
    pub fn new(files: &Arc<Files>) -> Result<Inside> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .context("cannot start a thread")?;
        Ok(Inside {
            runtime,
            routes: TowerToHyperService::new(routes(files)),
        })
    }

    /// The answer to `GET path`.
    pub fn ask(&self, path: &str) -> Result<Vec<u8>> {
        let request = Request::get(format!("/{path}")).body(Body::empty())?;
        self.runtime.block_on(async {
            let answer = match self.routes.call(request).await {
                Ok(answer) => answer,
                Err(never) => match never {},
            };
            let status = answer.status();
            let bytes = to_bytes(answer.into_body(), usize::MAX).await?;
            if !status.is_success() {
                bail!("{path}: {}", String::from_utf8_lossy(&bytes));
            }
            Ok(bytes.to_vec())
        })
    }
}
