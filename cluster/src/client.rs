//! Asks nodes, from outside.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{Config, Node};
use crate::message::{Answer, Ask, Refusal, Status};

/// How long to wait for a node to take up a call, or to say how it is
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

fn http() -> Result<Client> {
    Client::builder()
        .no_proxy()
        .connect_timeout(CONNECTS_WITHIN)
        .build()
        .context("cannot make an HTTP client")
}

async fn send<T: DeserializeOwned>(
    config: &Config,
    node: &Node,
    request: RequestBuilder,
) -> Result<T> {
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
        return serde_json::from_slice(&body)
            .with_context(|| format!("node {} answers in another way", node.id));
    }
    match serde_json::from_slice::<Refusal>(&body) {
        Ok(refusal) => Err(refusal.into()),
        Err(_) => bail!("node {} answers {code}", node.id),
    }
}

fn url(node: &Node, path: &str) -> String {
    format!("http://{}/{path}", node.control())
}

pub async fn status(config: &Config, node: &Node) -> Result<Status> {
    let request = http()?.get(url(node, "status")).timeout(CONNECTS_WITHIN);
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
    send(config, node, http()?.post(url(node, path)).json(body)).await
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
