//! The page in the browser: a server on 127.0.0.1 that answers questions to the model.
//!
//! ```text
//! browser ── guard     who may ask (nobody but the person who started it); headers of every answer
//!              │
//!            assets    index.html and web/, as they are in this source folder
//!            api       questions about a file: map, page, b-tree, chain, log, problems
//!            find      what a text in the search box may mean
//!            summary   what the page shows of a file as a whole
//!            overview  what it begins with: advice, indexes, statistics
//!            queries   statements, run in processes of their own (viz::query)
//!            differ    which pages of two files are not the same
//!            copies    copies of a file, made by another process while one looks
//!              │
//!            answer    what all of these have in common
//!            files     the files that are open, and copies of them; each is scanned by a thread of its own
//!
//! inside                the same answers without a socket, for a page that is saved
//! ```
//!
//! What the model is and how it comes from the file: [`viz`](super). All answers are made while they
//! are asked for, so what a large file costs is its map: about 26 bytes a page while it is scanned.
//!
//! One thread does all talking; files are read by a few others, so that a slow disk stops nobody.

mod answer;
pub mod api;
pub mod assets;
mod browser;
mod copies;
mod differ;
pub mod files;
mod find;
mod guard;
pub mod inside;
mod overview;
mod queries;
mod refusal;
mod summary;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;

pub use files::Files;
pub use guard::Guard;
pub use refusal::Refusal;

use crate::interrupt;

/// How often it is looked whether Ctrl-C was pressed.
const TICK: Duration = Duration::from_millis(50);
/// How long answers that are on their way may take when the server ends.
const LAST: Duration = Duration::from_millis(200);
/// Threads that read files and wait for other processes.
const READERS: usize = 8;

/// What a client may take of the server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time; others wait.
    pub connections: usize,
    /// Until the head of a request is there; a tenth of it while less than half of the connections
    /// are left.
    pub head: Duration,
    /// Until its body is there.
    pub body: Duration,
    /// Until a client has taken any of what was sent to it.
    pub taken: Duration,
    /// How long the address is good that a browser is started with.
    pub once: Duration,
    /// Bytes of a request's head, and of its body.
    pub head_bytes: usize,
    pub body_bytes: usize,
}

impl Limits {
    pub const ORDINARY: Limits = Limits {
        connections: 64,
        head: Duration::from_secs(10),
        body: Duration::from_secs(10),
        taken: Duration::from_secs(60),
        once: Duration::from_secs(60),
        head_bytes: 16 << 10,
        body_bytes: 1 << 20,
    };
}

/// A server that listens.
pub struct PageServer {
    listener: TcpListener,
    guard: Arc<Guard>,
    files: Arc<Files>,
    limits: Limits,
}

impl PageServer {
    /// Begins to listen; port 0: any that is free.
    pub fn listen(files: Arc<Files>, port: u16, limits: Limits) -> Result<PageServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .with_context(|| format!("cannot listen on port {port} of 127.0.0.1"))?;
        let port = listener.local_addr().map(|at| at.port())?;
        Ok(PageServer {
            listener,
            guard: Arc::new(Guard::new(port, limits)?),
            files,
            limits,
        })
    }

    /// Where the page is. Whoever knows it can read the files.
    pub fn address(&self) -> String {
        self.guard.address()
    }

    /// An address that leads to the page once: other users of the machine may see what the browser
    /// is started with.
    pub fn address_for_once(&self) -> Result<String> {
        self.guard.address_for_once()
    }

    /// Answers until `ended` says so.
    pub fn run(self, ended: impl Fn() -> bool) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS)
            .build()
            .context("cannot start the server")?;
        let done = runtime.block_on(async {
            let connections = self.accept();
            let end = async {
                while !ended() {
                    tokio::time::sleep(TICK).await;
                }
            };
            tokio::select! {
                failed = connections => failed,
                () = end => Ok(()),
            }
        });
        runtime.shutdown_timeout(LAST);
        done
    }

    async fn accept(&self) -> Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?)?;
        let slots = Arc::new(Semaphore::new(self.limits.connections));
        let routes = TowerToHyperService::new(routes(&self.files));
        loop {
            let slot = slots.clone().acquire_owned().await?;
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // That client has gone, or there are too many open files for the moment.
                Err(_) => {
                    tokio::time::sleep(TICK).await;
                    continue;
                }
            };
            give_up_after(&stream, self.limits.taken);
            let (guard, routes) = (self.guard.clone(), routes.clone());
            let answer = service_fn(move |request| {
                let (guard, routes) = (guard.clone(), routes.clone());
                async move { guard.answer(request, &routes).await }
            });
            // Everybody on the machine can connect and say nothing.
            let scarce = slots.available_permits() < self.limits.connections / 2;
            let head = self.limits.head / if scarce { 10 } else { 1 };
            let mut connection = http1::Builder::new();
            connection
                .timer(TokioTimer::new())
                .header_read_timeout(head)
                .max_header_size(self.limits.head_bytes);
            let connection = connection.serve_connection(TokioIo::new(stream), answer);
            tokio::spawn(async move {
                // What goes wrong with one connection is its client's affair.
                let _ = connection.await;
                drop(slot);
            });
        }
    }
}

/// Everything that can be asked for below the token.
fn routes(files: &Arc<Files>) -> Router {
    Router::new()
        .merge(assets::routes())
        .merge(api::routes(files.clone()))
        .merge(queries::routes(files.clone()))
        .merge(copies::routes(files.clone()))
        .merge(differ::routes(files.clone()))
        .fallback(async || Refusal::not_found("there is nothing here"))
}

/// Has the system end the connection if a client takes nothing of what was sent to it.
fn give_up_after(stream: &tokio::net::TcpStream, time: Duration) {
    use std::os::fd::AsRawFd;
    let milliseconds = time.as_millis() as libc::c_uint;
    // SAFETY: the descriptor is open, and the value is as long as it is said to be. A system that
    // does not know the option leaves such a connection open.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_USER_TIMEOUT,
            (&raw const milliseconds).cast(),
            size_of_val(&milliseconds) as libc::socklen_t,
        );
    }
}

/// Shows files in the browser until Ctrl-C is pressed.
pub fn until_interrupted(files: Arc<Files>, port: u16, open: bool) -> Result<()> {
    let server = PageServer::listen(files, port, Limits::ORDINARY)?;
    crate::output::to_terminal(|out| {
        use std::io::Write;
        writeln!(out, "{} (Ctrl-C ends it)", server.address())?;
        out.flush()
    })?;
    if open && browser::can_be_seen() {
        browser::open(&server.address_for_once()?);
    }
    server.run(interrupt::raised)
}

/// The address that the server has on `port`.
fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
