//! One node: hiqlite's Raft in this process, and the server that `hpsqlite cluster` talks to.
//!
//! Order: the lock of the node's folder, the library, the other nodes' versions, the server (it says
//! "starting" until the node is a member), hiqlite. Then the node waits for an end: a signal, `stop`, or
//! a Raft that has failed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hiqlite::{Client, LogSync, NodeConfig, Param, Row};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Notify;

use crate::client;
use crate::config::{Config, node_database, node_folder, process_file};
use crate::message::{Answer, Ask, Cell, Given, Handed, Refusal, Status};
use crate::request;
use crate::write::{self, ACKNOWLEDGED_WITHIN, LARGEST_BODY, Requests, param};
use crate::{library, sql, tls};

/// Log entries between two snapshots. A node that was killed reads a snapshot and at most twice as many.
const ENTRIES_A_SNAPSHOT: u64 = 10_000;
/// Bytes of a file of hiqlite's log. An entry that does not fit ends the node, and each one after it.
const LOG_FILE: u32 = 16 << 20;

/// What all that a node does needs.
pub struct Shared {
    pub id: u64,
    pub config: Config,
    pub database: std::path::PathBuf,
    pub requests: Requests,
    library: String,
    client: OnceLock<Client>,
    /// For judging statements only
    judge: Mutex<Option<Connection>>,
    stop: Notify,
}

/// Runs node `id` until it is told to stop.
pub fn run(folder: &Path, id: u64) -> Result<()> {
    library::guard()?;
    let config = Config::load(folder)?;
    let node = config.node(id)?.clone();
    let place = node_folder(folder, id);
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let _lock = lock(&process_file(folder, id), id)?;
    node.check_ports()?;
    let shared = Arc::new(Shared {
        id,
        database: node_database(folder, &config, id),
        library: library::version()?,
        requests: Requests::new(client::http(&config)?),
        config,
        client: OnceLock::new(),
        judge: Mutex::new(None),
        stop: Notify::new(),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name(library::THREADS)
        .build()
        .context("cannot start threads")?;
    tls::publish(&shared.config, folder)?;
    runtime.block_on(serve(&place, node, shared))
}

/// A folder belongs to one process. The file keeps its number, for `stop`.
fn lock(path: &Path, id: u64) -> Result<fs::File> {
    let mut file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => bail!(
            "node {id} runs already, as process {}",
            fs::read_to_string(path).unwrap_or_default().trim()
        ),
        Err(fs::TryLockError::Error(error)) => {
            return Err(error).context(format!("cannot lock {}", path.display()));
        }
    }
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())?;
    Ok(file)
}

async fn serve(place: &Path, node: crate::config::Node, shared: Arc<Shared>) -> Result<()> {
    same_library(&shared).await?;
    let routes = Router::new()
        .route("/status", get(status))
        .route("/sql", post(ask).layer(DefaultBodyLimit::max(LARGEST_BODY)))
        .route(
            "/write",
            post(lead).layer(DefaultBodyLimit::max(LARGEST_BODY)),
        )
        .route("/request", get(give))
        .route("/backup", post(backup))
        .route("/stop", post(stop))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&shared),
            authorized,
        ))
        .with_state(Arc::clone(&shared));
    let address = format!("{}:{}", node.listens_at(), node.port + 2);
    let listener = tokio::net::TcpListener::bind(&address)
        .await
        .with_context(|| format!("node {} cannot listen at {address}", node.id))?;
    match tls::of_node(&shared.config, &node)? {
        None => drop(tokio::spawn(
            async move { axum::serve(listener, routes).await },
        )),
        Some(tls) => {
            let server = axum_server::from_tcp_rustls(listener.into_std()?, tls)?;
            tokio::spawn(async move { server.serve(routes.into_make_service()).await });
        }
    }

    let mut raft = NodeConfig::default_raft_config(ENTRIES_A_SNAPSHOT);
    // A new leader within five seconds of the loss of the old one
    (
        raft.election_timeout_min,
        raft.election_timeout_max,
        raft.heartbeat_interval,
    ) = (800, 1600, 200);
    let tls = tls::of_raft(&shared.config);
    let started = hiqlite::start_node(NodeConfig {
        node_id: node.id,
        nodes: shared
            .config
            .nodes
            .iter()
            .map(|node| hiqlite::Node {
                id: node.id,
                addr_raft: node.raft(),
                addr_api: node.api(),
            })
            .collect(),
        listen_addr_api: node.listens_at().to_string().into(),
        listen_addr_raft: node.listens_at().to_string().into(),
        data_dir: place.display().to_string().into(),
        filename_db: shared.config.database.clone().into(),
        // What has been acknowledged is on the disks of most nodes.
        wal_sync: LogSync::Immediate,
        wal_size: LOG_FILE,
        raft_config: raft,
        tls_raft: tls.clone(),
        tls_api: tls,
        secret_raft: format!("raft {}", shared.config.secret),
        secret_api: format!("api {}", shared.config.secret),
        enc_keys: cryptr::EncKeys {
            enc_key_active: "cluster".into(),
            enc_keys: vec![(
                "cluster".into(),
                shared.config.secret.as_bytes()[..32].to_vec(),
            )],
        },
        ..NodeConfig::default()
    });
    let client = tokio::select! {
        started = started => started.map_err(|error| anyhow::anyhow!("node {} cannot start: {error}", node.id))?,
        end = asked_to_end(&shared) => return end,
    };
    let _ = shared.client.set(client.clone());
    eprintln!("node {} is a member of the cluster", node.id);

    tokio::select! {
        end = asked_to_end(&shared) => end?,
        why = failed(&client) => bail!("node {} has failed and ends: {why}", node.id),
    }
    client
        .shutdown()
        .await
        .map_err(|error| anyhow::anyhow!("node {} did not end in order: {error}", node.id))
}

/// Ends with the process's or the user's wish to end.
async fn asked_to_end(shared: &Shared) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for signals")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
        () = shared.stop.notified() => {}
    }
    Ok(())
}

/// Ends when Raft does not run any longer, as when its log cannot be written.
async fn failed(client: &Client) -> String {
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        match client.metrics_db().await {
            Ok(metrics) => {
                if let Err(why) = metrics.running_state {
                    return why.to_string();
                }
            }
            Err(error) => return error.to_string(),
        }
    }
}

/// Nodes that run another version might compute other values: statements are what is shipped.
async fn same_library(shared: &Shared) -> Result<()> {
    for node in shared
        .config
        .nodes
        .iter()
        .filter(|node| node.id != shared.id)
    {
        let Ok(status) = client::status(&shared.config, node).await else {
            continue;
        };
        if status.library != shared.library {
            bail!(
                "node {} runs on {}, and this one on {}: stop all nodes, then start all of them with one version",
                node.id,
                status.library,
                shared.library
            );
        }
    }
    Ok(())
}

async fn authorized(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let told = request
        .headers()
        .get(header::AUTHORIZATION)
        .map(|value| value.as_bytes().to_vec());
    let wanted = format!("Bearer {}", shared.config.secret).into_bytes();
    // Every byte is looked at, so that the time says nothing.
    let same = told.is_some_and(|told| {
        told.len() == wanted.len()
            && told
                .iter()
                .zip(&wanted)
                .fold(0, |bits, (a, b)| bits | (a ^ b))
                == 0
    });
    if same {
        next.run(request).await
    } else {
        refuse(StatusCode::UNAUTHORIZED, "this is not the cluster's secret")
    }
}

pub fn refuse(code: StatusCode, error: impl Into<String>) -> Response {
    let refusal = Refusal {
        error: error.into(),
        again: code == StatusCode::SERVICE_UNAVAILABLE,
        ..Refusal::default()
    };
    (code, Json(refusal)).into_response()
}

async fn status(State(shared): State<Arc<Shared>>) -> Json<Status> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let log = format!("{}-wal", shared.database.display());
    let mut status = Status {
        id: shared.id,
        process: std::process::id(),
        library: shared.library.clone(),
        state: "starting".into(),
        leader: None,
        term: 0,
        log: 0,
        applied: 0,
        snapshot: None,
        voters: Vec::new(),
        size: size(&shared.database) + size(Path::new(&log)),
    };
    let Some(client) = shared.client.get() else {
        return Json(status);
    };
    match client.metrics_db().await {
        Ok(metrics) => {
            status.state = match metrics.running_state {
                Ok(()) => format!("{:?}", metrics.state).to_lowercase(),
                Err(why) => why.to_string(),
            };
            status.leader = metrics.current_leader;
            status.term = metrics.current_term;
            status.log = metrics.last_log_index.unwrap_or(0);
            status.applied = metrics.last_applied.map_or(0, |entry| entry.index);
            status.snapshot = metrics.snapshot.map(|entry| entry.index);
            status.voters = metrics.membership_config.voter_ids().collect();
        }
        Err(error) => status.state = error.to_string(),
    }
    Json(status)
}

async fn stop(State(shared): State<Arc<Shared>>) -> Json<()> {
    shared.stop.notify_one();
    Json(())
}

fn starting(shared: &Shared) -> Response {
    refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        format!("node {} is starting", shared.id),
    )
}

async fn ask(State(shared): State<Arc<Shared>>, Json(ask): Json<Ask>) -> Response {
    let Some(client) = shared.client.get().cloned() else {
        return starting(&shared);
    };
    let wrong = |error| refuse(StatusCode::BAD_REQUEST, error);
    let judged = tokio::task::block_in_place(|| judged(&shared, &ask))
        .map_err(|error| format!("{error:#}"))
        .and_then(|statements| Ok((reads(&statements)?, statements)));
    let statements = match judged {
        Ok((true, statements)) => statements,
        Ok((false, _)) => return write::settled(&shared, &client, ask).await,
        // What has been asked before may have been done, and be an error for that.
        Err(_) if ask.id.is_some() => return write::settled(&shared, &client, ask).await,
        Err(error) => return wrong(error),
    };
    let parameters = match parameters(&ask, statements.len()) {
        Ok(values) => values.into_iter().map(param).collect(),
        Err(error) => return wrong(error),
    };
    if ask.consistent
        && let Err(refusal) = linearizable(&client, shared.id).await
    {
        return refusal;
    }
    read(&client, statements, parameters).await
}

/// A write that another node hands on to this one, which leads
async fn lead(State(shared): State<Arc<Shared>>, Json(handed): Json<Handed>) -> Response {
    match shared.client.get() {
        Some(client) => write::decided(&shared, client, &handed).await,
        None => starting(&shared),
    }
}

async fn give(State(shared): State<Arc<Shared>>) -> Response {
    let Some(client) = shared.client.get().cloned() else {
        return starting(&shared);
    };
    match write::given(&shared, &client).await {
        Ok(id) => Json(Given { id: id.to_string() }).into_response(),
        Err(refusal) => refusal,
    }
}

/// Do all statements read, or all write?
pub fn reads(statements: &[(sql::Judged, String)]) -> std::result::Result<bool, String> {
    let reads = statements
        .iter()
        .filter(|(judged, _)| judged.kind == sql::Kind::Read)
        .count();
    if reads > 0 && reads < statements.len() {
        return Err(
            "statements that read and statements that write go one after the other, not together"
                .into(),
        );
    }
    Ok(reads > 0)
}

/// The statements with what they are, without BEGIN and COMMIT around them.
pub fn judged(shared: &Shared, ask: &Ask) -> Result<Vec<(sql::Judged, String)>> {
    let mut judge = shared
        .judge
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if judge.is_none() {
        let db = Connection::open_with_flags(&shared.database, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .context("the node's database cannot be opened")?;
        db.busy_timeout(Duration::from_secs(30))?;
        *judge = Some(db);
    }
    let db = judge
        .as_ref()
        .context("the node's database cannot be opened")?;
    let mut statements = Vec::new();
    for statement in sql::split(&ask.sql)? {
        let judged = sql::judge(db, &statement)?;
        if judged.kind != sql::Kind::Bracket {
            statements.push((judged, statement));
        }
    }
    if statements.is_empty() {
        bail!("there is no statement");
    }
    // What names a table that an earlier statement makes writes, or fails where it is run.
    if statements[0].0.kind == sql::Kind::Later {
        let error = db.prepare(&statements[0].1).map(drop).err();
        bail!(
            "{}",
            error.map_or("it cannot be prepared".into(), |error| sql::first_line(
                &error.to_string()
            )
            .to_string())
        );
    }
    Ok(statements)
}

pub fn parameters(ask: &Ask, statements: usize) -> std::result::Result<Vec<Value>, String> {
    if statements != 1 && !ask.parameters.is_empty() {
        return Err("parameters are for one statement, and there are several".into());
    }
    ask.parameters
        .iter()
        .enumerate()
        .map(|(i, cell)| {
            cell.value()
                .ok_or_else(|| format!("parameter {} has no hexadecimal digits", i + 1))
        })
        .collect()
}

/// Waits until this node, which must be the leader, has all that has been acknowledged.
pub async fn linearizable(client: &Client, id: u64) -> std::result::Result<(), Response> {
    let leader = leader_of(client).await;
    if leader != Some(id) {
        let error = match leader {
            Some(leader) => format!("node {leader} leads: consistent reads are answered there"),
            None => NO_LEADER.into(),
        };
        return Err((
            StatusCode::SERVICE_UNAVAILABLE,
            Json(Refusal {
                error,
                leader,
                again: true,
                doubt: false,
            }),
        )
            .into_response());
    }
    let confirmed = async {
        tokio::select! {
            read = client.query_consistent("SELECT 1", Vec::new()) => read.map(drop),
            () = written_behind(client) => Ok(()),
        }
    };
    match tokio::time::timeout(ACKNOWLEDGED_WITHIN, confirmed).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(refuse(StatusCode::SERVICE_UNAVAILABLE, told(&error))),
        Err(_) => Err(refuse(StatusCode::SERVICE_UNAVAILABLE, NO_LEADER)),
    }
}

/// Ends when most nodes have a write that changes nothing, and this one has what came before.
///
/// hiqlite asks for a confirmed read over its stream to the leader, also on the leader itself. When the
/// leader before was frozen that stream may still lead to it, for the 35 seconds after which hiqlite
/// gives it up. What the leader writes does not take that way, and it is a confirmation as well: the
/// write stands in the log behind all that was acknowledged, and is answered when it is applied here.
async fn written_behind(client: &Client) {
    tokio::time::sleep(SILENT).await;
    loop {
        if client.is_leader_db().await {
            let nothing = ("DELETE FROM _metadata WHERE 0", Vec::<Param>::new());
            if client.txn([nothing]).await.is_ok() {
                return;
            }
        }
        tokio::time::sleep(SILENT / 4).await;
    }
}

/// The node that leads, as far as this one knows.
pub async fn leader_of(client: &Client) -> Option<u64> {
    client.metrics_db().await.ok()?.current_leader
}

/// How long hiqlite's way to a confirmed read may be silent before another one is taken.
const SILENT: Duration = Duration::from_secs(1);

pub const NO_LEADER: &str =
    "there is no leader: more than half of the nodes must run and reach each other";

/// A row with every value as it is stored, whatever type its column was declared with
struct Cells(Vec<Cell>);

impl From<&mut Row<'_>> for Cells {
    fn from(row: &mut Row<'_>) -> Self {
        let Row::Borrowed(row) = row else {
            return Self(Vec::new());
        };
        let count = row.as_ref().column_count();
        Self(
            (0..count)
                .map(|i| row.get_ref(i).map_or(Cell::Null(()), Cell::from))
                .collect(),
        )
    }
}

pub async fn read(
    client: &Client,
    statements: Vec<(sql::Judged, String)>,
    parameters: Vec<Param>,
) -> Response {
    let mut answers = Vec::new();
    for (judged, statement) in statements {
        match client
            .query_map::<Cells, _>(statement, parameters.clone())
            .await
        {
            Ok(rows) => answers.push(Answer::Rows {
                columns: judged.columns,
                rows: rows.into_iter().map(|cells| cells.0).collect(),
            }),
            Err(error) => return refuse(StatusCode::BAD_REQUEST, told(&error)),
        }
    }
    Json(answers).into_response()
}

/// What an error of hiqlite's says, without the names of its types.
pub fn told(error: &hiqlite::Error) -> String {
    let text = error.to_string();
    if text.contains("unwinding panic") {
        return "a function in this write would give each node another value: pass it as a parameter".into();
    }
    let mut text = text.as_str();
    // rusqlite writes "Error code 1555: constraint failed Some("UNIQUE constraint failed: t.a")".
    if let Some((_, said)) = text.split_once("Some(\"") {
        text = said.trim_end_matches("\")");
    }
    for prefix in [
        "Transaction: ",
        "Sqlite: ",
        "PrepareStatement: ",
        "QueryParams: ",
        "Connect: ",
        "Rusqlite: ",
    ] {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    sql::first_line(text).to_string()
}

/// Copies the node's database into a file without what belongs to the cluster.
async fn backup(
    State(shared): State<Arc<Shared>>,
    Json(file): Json<std::path::PathBuf>,
) -> Response {
    let done = tokio::task::block_in_place(|| copy(&shared.database, &file));
    match done {
        Ok(size) => Json(size).into_response(),
        Err(error) => refuse(StatusCode::BAD_REQUEST, format!("{error:#}")),
    }
}

fn copy(database: &Path, file: &Path) -> Result<u64> {
    let new = std::path::PathBuf::from(format!("{}.new", file.display()));
    let make = || -> Result<u64> {
        let db = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.execute("VACUUM INTO ?1", [new.display().to_string()])?;
        let db = Connection::open(&new)?;
        db.execute_batch(&format!(
            "DROP TABLE IF EXISTS _metadata; DROP TABLE IF EXISTS {}",
            request::TABLE
        ))?;
        drop(db);
        fs::File::open(&new)?.sync_all()?;
        fs::rename(&new, file)?;
        Ok(fs::metadata(file)?.len())
    };
    if new.exists() {
        bail!(
            "{} is there already: another backup, or what is left of one",
            new.display()
        );
    }
    make()
        .inspect_err(|_| drop(fs::remove_file(&new)))
        .with_context(|| format!("cannot write {}", file.display()))
}
