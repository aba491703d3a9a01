//! Writes: how a node has one written once and answered, whichever node leads meanwhile.
//!
//!   settled()  has a write written, by the node that leads
//!   decided()  what the node that leads says of a write
//!   given()    an id for a new request
//!
//! Whoever asks may ask any node. That node hands the write to the leader, at the port that clients use, and
//! when the leader is lost it hands the same request to the next one. hiqlite would do it, too, but its
//! connection to a leader that has been killed is found dead after ten seconds, and what it had been given
//! is neither answered nor handed on. So its client only writes where its node leads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hiqlite::{Client, Param};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use crate::client;
use crate::message::{Ask, Given, Handed, Refusal};
use crate::node::{self, NO_LEADER, Shared, leader_of, parameters, refuse, told};
use crate::request::{self, Found, Id, State, Statement};
use crate::sql;

/// Bytes of a transaction, which is one entry
pub const LARGEST_WRITE: usize = 8 << 20;
/// Bytes of what a node is sent, in which blobs are written with two digits a byte
pub const LARGEST_BODY: usize = 4 * LARGEST_WRITE;
/// How long a write may wait for the other nodes
pub const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(10);
/// How long a node that has no leader keeps a request whose client can ask another node
const LEADERLESS_WITHIN: Duration = Duration::from_secs(3);
/// A leader that most nodes have not confirmed for this time may be none.
const CONFIRMED_WITHIN: u64 = 1500;
/// Between two looks at who leads
const LOOK: Duration = Duration::from_millis(20);
/// How long the new leader may take to get up to what was acknowledged, before it judges a statement
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(3);

/// What a node needs for requests.
pub struct Requests {
    /// To the other nodes
    http: reqwest::Client,
    /// For looking requests up
    db: Mutex<Option<Connection>>,
    /// Requests that this node has handed to the log, and waits for
    busy: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Requests {
    pub fn new(http: reqwest::Client) -> Self {
        Self {
            http,
            db: Mutex::default(),
            busy: Mutex::default(),
        }
    }
}

/// What came of handing a request to the leader.
enum Attempt {
    /// The answer, which is the same however often one asks
    Decided(Response),
    /// Nothing has been written, because of this.
    NotYet(String),
    /// It may be written, or will be.
    Unknown(String),
}

/// Has a write written. Without an id of its own it gets one here.
pub async fn settled(shared: &Arc<Shared>, client: &Client, mut ask: Ask) -> Response {
    let begun = Instant::now();
    let named = ask.id.is_some();
    if !named {
        match given(shared, client).await {
            Ok(id) => ask.id = Some(id.to_string()),
            Err(refusal) => return refusal,
        }
    }
    let mut handed = Handed { ask, first: !named };
    let mut doubt = false;
    let mut of_leader = false;
    let mut led = begun;
    let mut patience = client::SILENT;
    loop {
        let leader = leading(client).await;
        let attempt = match leader {
            None => Attempt::NotYet(NO_LEADER.into()),
            Some(leader) => {
                led = Instant::now();
                let attempt = tokio::select! {
                    attempt = hand(shared, client, leader, patience, &handed) => attempt,
                    () = leader_lost(client, leader) => Attempt::Unknown("the leader was lost meanwhile".into()),
                    () = tokio::time::sleep(ACKNOWLEDGED_WITHIN.saturating_sub(begun.elapsed())) => {
                        Attempt::Unknown(format!("most nodes did not answer within {} s", ACKNOWLEDGED_WITHIN.as_secs()))
                    }
                };
                if leading(client).await == Some(leader) {
                    led = Instant::now();
                }
                attempt
            }
        };
        let why = match attempt {
            // This node is so far behind that the leader has forgotten its ids. Nobody else has this one.
            Attempt::Decided(response)
                if response.status() == StatusCode::GONE && handed.first && !of_leader =>
            {
                of_leader = true;
                match leader_gives(shared, client).await {
                    Ok(Some(id)) => handed.ask.id = Some(id.to_string()),
                    _ => return response,
                }
                continue;
            }
            Attempt::Decided(response) => return response,
            Attempt::NotYet(why) => why,
            Attempt::Unknown(why) => {
                (handed.first, doubt) = (false, true);
                patience = client::longer(patience);
                why
            }
        };
        if begun.elapsed() >= ACKNOWLEDGED_WITHIN || (named && led.elapsed() >= LEADERLESS_WITHIN) {
            let written = if doubt {
                "it may have been written, or not"
            } else {
                "this node has not written it"
            };
            let advice = match (named, doubt) {
                (true, _) => ": ask again with the same id",
                (false, true) => ": look before you send it again",
                (false, false) => "",
            };
            return unavailable(format!("{why}; {written}{advice}"), doubt);
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn unavailable(error: String, doubt: bool) -> Response {
    let refusal = Refusal {
        error,
        again: true,
        doubt,
        ..Refusal::default()
    };
    (StatusCode::SERVICE_UNAVAILABLE, Json(refusal)).into_response()
}

/// The node that leads; this one only if most nodes have lately confirmed it.
async fn leading(client: &Client) -> Option<u64> {
    let metrics = client.metrics_db().await.ok()?;
    metrics.current_leader.filter(|leader| {
        *leader != metrics.id
            || metrics
                .millis_since_quorum_ack
                .is_none_or(|silent| silent < CONFIRMED_WITHIN)
    })
}

/// Ends when the node does not lead any longer, as far as this one knows.
async fn leader_lost(client: &Client, leader: u64) {
    while leading(client).await == Some(leader) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Ends when this node does not lead any longer, or hiqlite's client would ask another one.
async fn deposed(client: &Client, this: u64) {
    while leading(client).await == Some(this) && client.is_leader_db().await {
        tokio::time::sleep(LOOK).await;
    }
}

/// Hands a request to the leader, which may be this node.
async fn hand(
    shared: &Arc<Shared>,
    client: &Client,
    leader: u64,
    patience: Duration,
    handed: &Handed,
) -> Attempt {
    if leader == shared.id {
        return decide(shared, client, handed).await;
    }
    let Ok(node) = shared.config.node(leader) else {
        return Attempt::NotYet(format!(
            "node {leader} leads, and the cluster.toml of node {} does not have it",
            shared.id
        ));
    };
    let relayed = tokio::select! {
        relayed = client::relay(&shared.requests.http, &shared.config, node, "write", handed) => relayed,
        () = client::silent(&shared.config, node, patience) => {
            return Attempt::Unknown(format!("node {leader}, which leads, is silent"));
        }
    };
    match relayed {
        Ok((code, body)) if code == StatusCode::SERVICE_UNAVAILABLE => {
            match serde_json::from_slice::<Refusal>(&body) {
                Ok(refusal) if !refusal.doubt => Attempt::NotYet(refusal.error),
                Ok(refusal) => Attempt::Unknown(refusal.error),
                Err(_) => Attempt::Unknown(format!("node {leader} broke off")),
            }
        }
        Ok((code, body)) => Attempt::Decided(
            (
                code,
                [(header::CONTENT_TYPE, "application/json")],
                Bytes::from(body),
            )
                .into_response(),
        ),
        Err(error) if client::was_not_sent(&error) => Attempt::NotYet(format!("{error:#}")),
        Err(error) => Attempt::Unknown(format!("{error:#}")),
    }
}

/// What the node that leads says, to the node that has been asked.
pub async fn decided(shared: &Arc<Shared>, client: &Client, handed: &Handed) -> Response {
    match decide(shared, client, handed).await {
        Attempt::Decided(response) => response,
        Attempt::NotYet(why) => unavailable(why, false),
        Attempt::Unknown(why) => unavailable(why, true),
    }
}

/// Decides in a task of its own: it goes on if whoever waits for it gives up, so that who asks next
/// waits for it, too, and the log does not get the same write again and again.
async fn decide(shared: &Arc<Shared>, client: &Client, handed: &Handed) -> Attempt {
    let id = match Id::parse(handed.ask.id.as_deref().unwrap_or("")) {
        Ok(id) => id,
        Err(error) => return wrong(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let (shared, client) = (Arc::clone(shared), client.clone());
    let handed = Handed {
        ask: handed.ask.clone(),
        first: handed.first,
    };
    let task = tokio::spawn(async move {
        if !leads(&shared, &client).await {
            return Attempt::NotYet(format!("node {} does not lead", shared.id));
        }
        let work = async {
            let turn = shared.requests.turn(&id);
            let _alone = turn.lock().await;
            decide_alone(&shared, &client, &id, &handed).await
        };
        let decided = tokio::select! {
            decided = work => decided,
            () = deposed(&client, shared.id) => {
                Ok(Attempt::Unknown(format!("node {} does not lead any longer", shared.id)))
            }
        };
        shared.requests.leave(&id);
        decided.unwrap_or_else(|error| Attempt::Unknown(format!("node {}: {error:#}", shared.id)))
    });
    task.await
        .unwrap_or_else(|_| Attempt::Unknown("the node has failed".into()))
}

impl Requests {
    /// Requests with one id are decided one after the other.
    fn turn(&self, id: &Id) -> Arc<tokio::sync::Mutex<()>> {
        let mut busy = self
            .busy
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        Arc::clone(busy.entry(id.to_string()).or_default())
    }

    fn leave(&self, id: &Id) {
        let mut busy = self
            .busy
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        // Nobody else waits: it is here and nowhere else.
        if busy
            .get(&id.to_string())
            .is_some_and(|turn| Arc::strong_count(turn) == 1)
        {
            busy.remove(&id.to_string());
        }
    }
}

fn wrong(code: StatusCode, error: String) -> Attempt {
    Attempt::Decided(refuse(code, error))
}

fn found(found: Found, id: &Id) -> Attempt {
    match found {
        Found::Answers(answers) => Attempt::Decided(Json(answers).into_response()),
        Found::Error(error) => wrong(StatusCode::BAD_REQUEST, error),
        Found::Other => wrong(
            StatusCode::CONFLICT,
            format!("the id {id} was for another statement, or other parameters: take a new one"),
        ),
    }
}

async fn decide_alone(
    shared: &Arc<Shared>,
    client: &Client,
    id: &Id,
    handed: &Handed,
) -> Result<Attempt> {
    let what = request::what(&handed.ask);
    if state(shared)?.is_none() {
        make_table(client).await?;
    }
    if let Some(answer) = look_up(shared, id, what)? {
        return Ok(found(answer, id));
    }
    // It is no longer there, or not yet. In the latter case the log decides below.
    if let Some(why) = state(shared)?.and_then(|state| state.refuses(id)) {
        return Ok(wrong(StatusCode::GONE, why));
    }

    let mut judged = judge(shared, &handed.ask);
    if judged.is_err() {
        // A node that leads since a moment ago may lack what makes the statement right.
        if tokio::time::timeout(CAUGHT_UP_WITHIN, node::linearizable(client, shared.id))
            .await
            .is_ok_and(|done| done.is_ok())
        {
            if let Some(answer) = look_up(shared, id, what)? {
                return Ok(found(answer, id));
            }
            judged = judge(shared, &handed.ask);
        } else {
            return Ok(Attempt::NotYet(NO_LEADER.into()));
        }
    }
    let entry = match judged {
        Ok(Judged::Write(statements)) => {
            let size: usize = statements.iter().map(size_of).sum();
            if size > LARGEST_WRITE {
                return Ok(wrong(
                    StatusCode::BAD_REQUEST,
                    format!(
                        "{:.1} MB are too much for one transaction: 8 MB at most",
                        size as f64 / 1e6
                    ),
                ));
            }
            request::transaction(id, what, statements)
        }
        // The node that was asked has not had the tables that this one has.
        Ok(Judged::Read(statements, parameters)) => {
            if handed.ask.consistent && node::linearizable(client, shared.id).await.is_err() {
                return Ok(Attempt::NotYet(NO_LEADER.into()));
            }
            return Ok(Attempt::Decided(
                node::read(client, statements, parameters).await,
            ));
        }
        Err(error) if handed.first => return Ok(wrong(StatusCode::BAD_REQUEST, error)),
        Err(error) => return recorded(shared, client, id, what, &error).await,
    };
    match client.txn(entry.into_iter().map(logged)).await {
        Ok(_) => {}
        Err(error) if is_refused(&error) => {
            if look_up(shared, id, what)?.is_none() {
                return recorded(shared, client, id, what, &told(&error)).await;
            }
        }
        Err(error) => return Ok(Attempt::Unknown(told(&error))),
    }
    Ok(look_up(shared, id, what)?.map_or_else(
        || Attempt::Unknown("its answer is not there yet".into()),
        |answer| found(answer, id),
    ))
}

/// Has the log keep an error; the answer is what it then has.
async fn recorded(
    shared: &Arc<Shared>,
    client: &Client,
    id: &Id,
    what: i64,
    error: &str,
) -> Result<Attempt> {
    if let Some(why) = state(shared)?.and_then(|state| state.refuses(id)) {
        return Ok(wrong(StatusCode::GONE, why));
    }
    match client
        .txn(request::failure(id, what, error).into_iter().map(logged))
        .await
    {
        Ok(_) => {}
        Err(refused) if told(&refused).contains(request::NOT_CLAIMED) => {
            let why = state(shared)?.and_then(|state| state.refuses(id));
            return Ok(wrong(
                StatusCode::GONE,
                why.unwrap_or_else(|| format!("no node has given out the id {id}")),
            ));
        }
        Err(error) => return Ok(Attempt::Unknown(told(&error))),
    }
    Ok(look_up(shared, id, what)?.map_or_else(
        || Attempt::Unknown("its answer is not there yet".into()),
        |answer| found(answer, id),
    ))
}

/// Does this node lead? hiqlite's client, which keeps its own record of it, is then told so.
async fn leads(shared: &Shared, client: &Client) -> bool {
    if leader_of(client).await != Some(shared.id) {
        return false;
    }
    if !client.is_leader_db().await {
        // The only call that renews the record. What else it waits for does not matter.
        let _ = client.wait_for_cluster_sync_timeout(LOOK).await;
    }
    client.is_leader_db().await
}

enum Judged {
    Read(Vec<(sql::Judged, String)>, Vec<Param>),
    Write(Vec<Statement>),
}

fn judge(shared: &Shared, ask: &Ask) -> std::result::Result<Judged, String> {
    let statements = tokio::task::block_in_place(|| node::judged(shared, ask))
        .map_err(|error| format!("{error:#}"))?;
    let mut values = parameters(ask, statements.len())?;
    if node::reads(&statements)? {
        let values = values.into_iter().map(param).collect();
        return Ok(Judged::Read(statements, values));
    }
    Ok(Judged::Write(
        statements
            .into_iter()
            .map(|(_, statement)| (statement.into(), std::mem::take(&mut values)))
            .collect(),
    ))
}

fn size_of((sql, values): &Statement) -> usize {
    let value = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    sql.len() + 64 + values.iter().map(|of| 16 + value(of)).sum::<usize>()
}

pub fn param(value: Value) -> Param {
    match value {
        Value::Null => Param::Null,
        Value::Integer(i) => Param::Integer(i),
        Value::Real(r) => Param::Real(r),
        Value::Text(text) => Param::Text(text),
        Value::Blob(bytes) => Param::Blob(bytes),
    }
}

fn logged((sql, values): Statement) -> (std::borrow::Cow<'static, str>, Vec<Param>) {
    (sql, values.into_iter().map(param).collect())
}

/// Has every node refused the statement, and in the same way?
fn is_refused(error: &hiqlite::Error) -> bool {
    use hiqlite::Error::{
        BadRequest, ConstraintViolation, PrepareStatement, QueryParams, Sqlite, Transaction,
    };
    matches!(
        error,
        BadRequest(_)
            | ConstraintViolation(_)
            | PrepareStatement(_)
            | QueryParams(_)
            | Sqlite(_)
            | Transaction(_)
    )
}

/// Runs something on a connection to the node's database.
fn with_db<T>(shared: &Shared, run: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    tokio::task::block_in_place(|| {
        let mut db = shared
            .requests
            .db
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        if db.is_none() {
            let new =
                Connection::open_with_flags(&shared.database, OpenFlags::SQLITE_OPEN_READ_ONLY)
                    .context("the node's database cannot be opened")?;
            new.busy_timeout(Duration::from_secs(30))?;
            *db = Some(new);
        }
        run(db.as_ref().context("the node's database is closed")?)
    })
}

fn state(shared: &Shared) -> Result<Option<State>> {
    with_db(shared, State::read)
}

fn look_up(shared: &Shared, id: &Id, what: i64) -> Result<Option<Found>> {
    with_db(shared, |db| match State::read(db)? {
        Some(_) => request::find(db, id, what),
        None => Ok(None),
    })
}

async fn make_table(client: &Client) -> Result<()> {
    client
        .txn(request::table()?.into_iter().map(logged))
        .await
        .map(drop)
        .map_err(|error| anyhow::anyhow!("{}", told(&error)))
}

/// An id for a new request. The first one of a cluster has the leader make the table.
pub async fn given(shared: &Arc<Shared>, client: &Client) -> std::result::Result<Id, Response> {
    let begun = Instant::now();
    loop {
        let why =
            match state(shared).and_then(|state| state.map(|state| state.new_id()).transpose()) {
                Ok(Some(id)) => return Ok(id),
                Ok(None) => match ask_for_id(shared, client).await {
                    Ok(Some(id)) => return Ok(id),
                    Ok(None) => NO_LEADER.to_string(),
                    Err(error) => format!("{error:#}"),
                },
                Err(error) => format!("{error:#}"),
            };
        if begun.elapsed() > ACKNOWLEDGED_WITHIN {
            return Err(unavailable(
                format!("{why}; it has not been written"),
                false,
            ));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// An id that the leader gives out, though this node could do so itself
async fn leader_gives(shared: &Arc<Shared>, client: &Client) -> Result<Option<Id>> {
    match leading(client).await {
        Some(leader) if leader == shared.id => {
            state(shared)?.map(|state| state.new_id()).transpose()
        }
        _ => ask_for_id(shared, client).await,
    }
}

async fn ask_for_id(shared: &Arc<Shared>, client: &Client) -> Result<Option<Id>> {
    let Some(leader) = leading(client).await else {
        return Ok(None);
    };
    let asked = async {
        if leader != shared.id {
            let node = shared.config.node(leader)?;
            let given: Given = client::given(&shared.requests.http, &shared.config, node).await?;
            return Id::parse(&given.id).map(Some);
        }
        if leads(shared, client).await {
            make_table(client).await?;
        }
        Ok(None)
    };
    tokio::select! {
        id = asked => id,
        () = leader_lost(client, leader) => Ok(None),
        () = tokio::time::sleep(LEADERLESS_WITHIN) => Ok(None),
    }
}
