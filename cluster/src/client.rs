//! Asks nodes, from outside.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{Config, Node};
use crate::message::{Answer, Ask, Refusal, Status};
use crate::tls;

/// How long to wait for a node to take up a call, or to say how it is
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

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

    /// What a node answers: the text of a list of [`Answer`]s.
    pub async fn ask(&self, node: u64, ask: &Ask) -> Result<Vec<u8>> {
        let node = self.config.node(node)?;
        let request = self.http.post(url(&self.config, node, "sql")).json(ask);
        send_for_body(&self.config, node, request).await
    }
}

fn http(config: &Config) -> Result<Client> {
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

async fn send_for_body(config: &Config, node: &Node, request: RequestBuilder) -> Result<Vec<u8>> {
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
    if code.is_success() {
        return Ok(body.into());
    }
    match serde_json::from_slice::<Refusal>(&body) {
        Ok(refusal) => Err(refusal.into()),
        Err(_) => bail!("node {} answers {code}", node.id),
    }
}

fn url(config: &Config, node: &Node, path: &str) -> String {
    format!("{}://{}/{path}", tls::scheme(config), node.control())
}

pub async fn status(config: &Config, node: &Node) -> Result<Status> {
    let request = http(config)?
        .get(url(config, node, "status"))
        .timeout(CONNECTS_WITHIN);
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
