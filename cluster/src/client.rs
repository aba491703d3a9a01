//! Asks nodes, from outside.
//!
//! `settle` has a write written, with an id, by whichever nodes live: it asks again until it knows.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{Config, Node};
use crate::message::{Answer, Ask, Given, Refusal, Status};
use crate::write::LARGEST_BODY;
use crate::{sql, tls};

/// How long to wait for a node to take up a call, or to say how it is
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
/// How long to ask again until a write is answered: an election takes less than five seconds.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(30);
/// A node that does not answer for this time, and then does not say how it is within as much, is given up.
pub const SILENT: Duration = Duration::from_millis(500);
/// What this time grows to, where all nodes are silent: the machines may just be slow.
const LONGEST_SILENCE: Duration = Duration::from_secs(8);
/// Between two rounds through all nodes
const ROUND: Duration = Duration::from_millis(50);

/// Asks nodes questions over connections that it keeps, within one runtime.
pub struct Asker {
    http: Client,
    config: Config,
}

impl Asker {
    pub fn new(config: &Config) -> Result<Self> {
        Ok(Self {
            http: http(config)?,
            config: config.clone(),
        })
    }

    /// Has a write written, by the node of that number if it lives.
    pub async fn settle(&self, first: usize, ask: &Ask) -> Result<Settled> {
        let mut nodes: Vec<_> = self.config.nodes.iter().collect();
        let count = nodes.len();
        nodes.rotate_left(first % count);
        settle(&self.http, &self.config, &nodes, ask).await
    }

    /// What a node answers: the text of a list of [`Answer`]s.
    pub async fn ask(&self, node: u64, ask: &Ask) -> Result<Vec<u8>> {
        let node = self.config.node(node)?;
        let request = self.http.post(url(&self.config, node, "sql")).json(ask);
        send_for_body(&self.config, node, request).await
    }
}

pub fn http(config: &Config) -> Result<Client> {
    let builder = Client::builder()
        .no_proxy()
        .connect_timeout(CONNECTS_WITHIN);
    tls::of_client(config, builder)?
        .build()
        .context("cannot make an HTTP client")
}

async fn send<T: DeserializeOwned>(
    config: &Config,
    node: &Node,
    request: RequestBuilder,
) -> Result<T> {
    let body = send_for_body(config, node, request).await?;
    serde_json::from_slice(&body)
        .with_context(|| format!("node {} answers in another way", node.id))
}

async fn send_for_any(
    config: &Config,
    node: &Node,
    request: RequestBuilder,
) -> Result<(StatusCode, Vec<u8>)> {
    let response = request
        .bearer_auth(&config.secret)
        .send()
        .await
        .with_context(|| format!("node {} at {} does not answer", node.id, node.control()))?;
    let code = response.status();
    let body = response
        .bytes()
        .await
        .with_context(|| format!("node {} broke off", node.id))?;
    Ok((code, body.into()))
}

async fn send_for_body(config: &Config, node: &Node, request: RequestBuilder) -> Result<Vec<u8>> {
    let (code, body) = send_for_any(config, node, request).await?;
    if code.is_success() {
        return Ok(body);
    }
    match serde_json::from_slice::<Refusal>(&body) {
        Ok(refusal) => Err(refusal.into()),
        // What is wrong with the request is wrong the next time, too.
        Err(_) if code.is_client_error() => Err(Refusal {
            error: format!("node {} answers {code}", node.id),
            ..Refusal::default()
        }
        .into()),
        Err(_) => bail!("node {} answers {code}", node.id),
    }
}

fn url(config: &Config, node: &Node, path: &str) -> String {
    format!("{}://{}/{path}", tls::scheme(config), node.control())
}

/// Has a node answer, whatever it says: for one that hands on what it has been asked.
pub async fn relay<Q: Serialize>(
    http: &Client,
    config: &Config,
    node: &Node,
    path: &str,
    body: &Q,
) -> Result<(StatusCode, Vec<u8>)> {
    send_for_any(config, node, http.post(url(config, node, path)).json(body)).await
}

/// Has the node taken nothing, because there was no connection to it?
pub fn was_not_sent(error: &anyhow::Error) -> bool {
    error
        .chain()
        .find_map(|cause| cause.downcast_ref::<reqwest::Error>())
        .is_some_and(reqwest::Error::is_connect)
}

/// An id for a new request
pub async fn given(http: &Client, config: &Config, node: &Node) -> Result<Given> {
    send(config, node, http.get(url(config, node, "request"))).await
}

/// How a write came to its answer
pub struct Settled {
    pub answers: Vec<Answer>,
    /// Times that it was sent
    pub sent: u32,
}

/// Why a write has no answer
#[derive(Debug)]
pub struct Unsettled {
    why: String,
    /// It may have been written; the same request may be sent again.
    pub doubt: Option<String>,
}

impl std::fmt::Display for Unsettled {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = ANSWERED_WITHIN.as_secs();
        match &self.doubt {
            None => to.write_str(&self.why),
            Some(id) => write!(
                to,
                "within {seconds} s there was no answer, and it may have been written, or not ({}): with \
                 --id {id} the same statement asks for the answer, and is not written twice",
                self.why
            ),
        }
    }
}

impl std::error::Error for Unsettled {}

/// Has a write written, or a consistent read answered: asks one node after the other, with one id, until one
/// of them knows the answer.
pub async fn settle(http: &Client, config: &Config, nodes: &[&Node], ask: &Ask) -> Result<Settled> {
    let begun = Instant::now();
    // A node refuses it while it is still sent, which looks as if the node were lost.
    ensure!(
        ask.sql.len() <= LARGEST_BODY,
        Refusal {
            error: format!(
                "{:.1} MB are too much for one transaction: 8 MB at most",
                ask.sql.len() as f64 / 1e6
            ),
            ..Refusal::default()
        }
    );
    let mut ask = ask.clone();
    // Someone may have sent the id that was given.
    let mut doubt = ask.id.is_some();
    let mut sent = 0;
    let mut patience = SILENT;
    loop {
        let mut why = None;
        let mut someone = false;
        for node in nodes {
            let mut attempt = attempt(http, config, node, patience, &mut ask, &mut sent).await;
            if let Some(leader) = attempt.as_ref().err().and_then(leader_in)
                && let Ok(node) = config.node(leader)
            {
                attempt = self::attempt(http, config, node, patience, &mut ask, &mut sent).await;
            }
            let error = match attempt {
                Ok(answers) => return Ok(Settled { answers, sent }),
                Err(error) => error,
            };
            match error.downcast_ref::<Refusal>() {
                Some(refusal) if !refusal.again => return Err(error),
                Some(refusal) => {
                    someone = true;
                    doubt |= refusal.doubt;
                }
                None if was_not_sent(&error) => {}
                None => {
                    someone = true;
                    doubt |= sent > 0;
                }
            }
            why = Some(error);
            if begun.elapsed() > ANSWERED_WITHIN {
                break;
            }
        }
        let why = why.with_context(|| "there is no node")?;
        let id = ask.id.clone().filter(|_| doubt);
        // Nobody runs, and nobody has got it.
        if !someone && id.is_none() {
            return Err(why).with_context(|| match nodes {
                [node] => format!("node {} is to be asked", node.id),
                _ => "no node answers: `hpsqlite cluster start` starts them".to_string(),
            });
        }
        if begun.elapsed() > ANSWERED_WITHIN {
            bail!(Unsettled {
                why: format!("{why:#}"),
                doubt: id
            });
        }
        patience = longer(patience);
        tokio::time::sleep(ROUND).await;
    }
}

/// The node that is to be asked instead
fn leader_in(error: &anyhow::Error) -> Option<u64> {
    error.downcast_ref::<Refusal>()?.leader
}

/// Asks one node, until it answers or is given up.
async fn attempt(
    http: &Client,
    config: &Config,
    node: &Node,
    patience: Duration,
    ask: &mut Ask,
    sent: &mut u32,
) -> Result<Vec<Answer>> {
    let asked = async {
        // Whoever wants a consistent read may have sent a write, which must not be sent twice without one.
        if ask.id.is_none() && !sql::looks_like_read(&ask.sql) {
            ask.id = Some(given(http, config, node).await?.id);
        }
        *sent += 1;
        let request = http.post(url(config, node, "sql")).json(&*ask);
        send(config, node, request).await
    };
    tokio::select! {
        answers = asked => answers,
        () = silent(config, node, patience) => bail!("node {} at {} is silent", node.id, node.control()),
    }
}

pub fn longer(patience: Duration) -> Duration {
    (2 * patience).min(LONGEST_SILENCE)
}

/// Ends when a node does not say how it is. A statement may take long; that it lives it says at once.
pub async fn silent(config: &Config, node: &Node, patience: Duration) {
    loop {
        tokio::time::sleep(patience).await;
        if status_within(config, node, patience).await.is_err() {
            return;
        }
    }
}

pub async fn status(config: &Config, node: &Node) -> Result<Status> {
    status_within(config, node, CONNECTS_WITHIN).await
}

async fn status_within(config: &Config, node: &Node, time: Duration) -> Result<Status> {
    let request = http(config)?.get(url(config, node, "status")).timeout(time);
    send(config, node, request).await
}

/// The state of each node, or why there is none, in the order of the configuration.
pub async fn statuses(config: &Config) -> Vec<Result<Status>> {
    let asked: Vec<_> = config
        .nodes
        .iter()
        .map(|node| {
            let (config, node) = (config.clone(), node.clone());
            tokio::spawn(async move { status(&config, &node).await })
        })
        .collect();
    let mut all = Vec::new();
    for answer in asked {
        all.push(answer.await.unwrap_or_else(|error| Err(error.into())));
    }
    all
}

async fn post<Q: Serialize, T: DeserializeOwned>(
    config: &Config,
    node: &Node,
    path: &str,
    body: &Q,
) -> Result<T> {
    send(
        config,
        node,
        http(config)?.post(url(config, node, path)).json(body),
    )
    .await
}

pub async fn ask(config: &Config, node: &Node, ask: &Ask) -> Result<Vec<Answer>> {
    post(config, node, "sql", ask).await
}

/// Has the node copy its database into a file of its machine; returns the file's size.
pub async fn backup(config: &Config, node: &Node, file: &std::path::Path) -> Result<u64> {
    post(config, node, "backup", &file).await
}

pub async fn stop(config: &Config, node: &Node) -> Result<()> {
    post(config, node, "stop", &()).await
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::Json;
    use axum::extract::State;
    use axum::response::{IntoResponse, Response};
    use axum::routing::{get, post};

    use super::*;

    type Asks = Arc<Mutex<Vec<Ask>>>;

    /// Says of the first thing that it is asked that it may have been written, and answers the second.
    async fn in_doubt(State(asks): State<Asks>, Json(ask): Json<Ask>) -> Response {
        let mut asks = asks.lock().unwrap();
        asks.push(ask);
        if asks.len() > 1 {
            return Json([Answer::Changes { changes: 1 }]).into_response();
        }
        let refusal = Refusal {
            error: "the leader was lost".into(),
            again: true,
            doubt: true,
            ..Refusal::default()
        };
        (StatusCode::SERVICE_UNAVAILABLE, Json(refusal)).into_response()
    }

    /// What a node is sent until it answers
    fn sent(sql: &str, consistent: bool) -> Vec<Ask> {
        let asks = Asks::default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port() - 2;
            let config = Config::local(1, port, "a.db".into()).unwrap();
            let given = || async { Json(Given { id: "a-0-b".into() }) };
            let routes = axum::Router::new()
                .route("/request", get(given))
                .route("/sql", post(in_doubt))
                .with_state(Arc::clone(&asks));
            tokio::spawn(async move { axum::serve(listener, routes).await });
            let ask = Ask {
                sql: sql.into(),
                consistent,
                ..Ask::default()
            };
            let settled = Asker::new(&config).unwrap().settle(0, &ask).await.unwrap();
            assert_eq!(settled.sent, 2, "{sql}");
        });
        std::mem::take(&mut *asks.lock().unwrap())
    }

    #[test]
    fn what_is_wrong_with_a_request_is_final() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port() - 2;
            let config = Config::local(1, port, "a.db".into()).unwrap();
            let routes = axum::Router::new().fallback(|| async { StatusCode::PAYLOAD_TOO_LARGE });
            tokio::spawn(async move { axum::serve(listener, routes).await });
            let asker = Asker::new(&config).unwrap();
            let mut ask = Ask {
                sql: "SELECT 1".into(),
                ..Ask::default()
            };
            let begun = Instant::now();
            let says = asker.settle(0, &ask).await.err().unwrap().to_string();
            assert!(says.contains("413"), "{says}");
            ask.sql = "x".repeat(LARGEST_BODY + 1);
            let says = asker.settle(0, &ask).await.err().unwrap().to_string();
            assert!(says.contains("too much for one transaction"), "{says}");
            assert!(begun.elapsed() < ANSWERED_WITHIN / 2);
        });
    }

    #[test]
    fn a_write_that_is_sent_again_has_one_id() {
        for sql in [
            "INSERT INTO t VALUES(1)",
            "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
            "PRAGMA optimize; INSERT INTO t VALUES(1)",
        ] {
            for consistent in [false, true] {
                let asks = sent(sql, consistent);
                assert!(
                    asks.iter().all(|ask| ask.id.as_deref() == Some("a-0-b")),
                    "{sql}, consistent: {consistent}"
                );
            }
        }
        assert!(sent("SELECT 1", true).iter().all(|ask| ask.id.is_none()));
    }
}
