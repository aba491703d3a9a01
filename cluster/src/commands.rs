//! What the user calls: each command asks nodes through `client`, and starts processes of this program.

use std::fs;
use std::io::{IsTerminal, Read, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use crate::client;
use crate::config::{Config, FILE, Node, Tls, node_folder, process_file};
use crate::message::{Answer, Ask, Cell, Refusal, Status};
use crate::{library, request, sql};

/// How long a cluster may take to become healthy, beside what it copies
const HEALTHY_WITHIN: Duration = Duration::from_secs(60);
/// hiqlite lets a node that stops answer for ten seconds more.
const STOPPED_WITHIN: Duration = Duration::from_secs(40);

#[derive(Args)]
pub struct Start {
    /// Number of nodes of a new cluster: 1, or 3, 5, 7 to survive the loss of 1, 2, 3
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=7))]
    nodes: u64,
    /// Begin with a copy of this SQLite file
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// First port of node 1; each node has three
    #[arg(long, default_value_t = 7100, value_name = "PORT")]
    port: u16,
    /// Encrypt what the nodes of a new cluster say to each other, with certificates that they make
    #[arg(long)]
    tls: bool,
}

#[derive(Args)]
pub struct Sql {
    /// Statements [default: standard input]
    sql: Option<String>,
    /// For ?1, ?2 … of the statement, each an integer, a number, or a text
    #[arg(long = "bind", value_name = "VALUE", allow_hyphen_values = true)]
    parameters: Vec<String>,
    /// Read from this node [default: the first one that answers]
    #[arg(long, value_name = "N")]
    node: Option<u64>,
    /// Read from the leader what all acknowledged writes left
    #[arg(long, conflicts_with = "node")]
    consistent: bool,
    /// Print rows as a JSON array
    #[arg(long)]
    json: bool,
    /// The id of a write that had no answer: it is not written twice, and answered as it was
    #[arg(long, value_name = "ID", conflicts_with = "consistent")]
    id: Option<String>,
}

#[derive(Args)]
pub struct Stop {
    /// Stop this node only
    #[arg(long, value_name = "N")]
    node: Option<u64>,
}

#[derive(Args)]
pub struct Backup {
    /// The file to write; it must not exist
    file: PathBuf,
    /// Copy this node's data [default: the leader's, with all acknowledged writes]
    #[arg(long, value_name = "N")]
    node: Option<u64>,
}

pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future))
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is right"));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

pub fn start(dir: &Path, arguments: &Start) -> Result<bool> {
    library::version()?;
    let is_new = !dir.join(FILE).exists();
    let config = if is_new {
        ensure!(
            arguments.nodes % 2 == 1,
            "a cluster has an odd number of nodes: one more survives no more losses"
        );
        found(dir, arguments)?
    } else {
        ensure!(
            arguments.from.is_none(),
            "{} has a cluster with data of its own: --from is for a new one, in another --dir",
            dir.display()
        );
        Config::load(dir)?
    };
    let mut idle = Vec::new();
    for (node, status) in config
        .nodes
        .iter()
        .zip(block_on(client::statuses(&config))?)
    {
        if status.is_err() {
            node.check_ports()?;
            idle.push(node.id);
        }
    }
    let mut children = Vec::new();
    for id in idle {
        children.push((id, spawn(dir, id, is_new && id == 1)?));
    }
    if children.is_empty() {
        println!("all {} nodes run already", config.nodes.len());
        return Ok(true);
    }
    let healthy = wait_until_healthy(dir, &config, &mut children);
    if let (Err(_), true) = (&healthy, is_new) {
        for (_, child) in &mut children {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Logs stay for who wants to know why.
        let _ = fs::remove_file(dir.join(FILE));
    }
    let _ = fs::remove_file(seed(dir));
    let statuses = healthy?;
    let leader = statuses[0].leader.unwrap_or(0);
    println!(
        "{} nodes run in {}; node {leader} leads",
        statuses.len(),
        dir.display()
    );
    println!(
        "Ask them: hpsqlite cluster sql 'SELECT …'   See them: hpsqlite cluster status   End: hpsqlite cluster stop"
    );
    Ok(true)
}

/// Makes the folder of a new cluster.
fn found(dir: &Path, arguments: &Start) -> Result<Config> {
    if let Ok(mut entries) = fs::read_dir(dir)
        && entries.next().is_some()
    {
        bail!(
            "{} is no cluster and is not empty: --dir names another folder",
            dir.display()
        );
    }
    let database = match &arguments.from {
        None => "data.db".to_string(),
        Some(file) => file
            .file_name()
            .and_then(|name| name.to_str())
            .with_context(|| format!("{} has no name that a node can use", file.display()))?
            .to_string(),
    };
    let mut config = Config::local(arguments.nodes, arguments.port, database)?;
    config.tls = arguments.tls.then(|| Tls::Word("automatic".into()));
    // Before anything is made: what `start` finds in its way later leaves a cluster behind.
    for node in &config.nodes {
        node.check_ports()?;
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    if let Some(file) = &arguments.from
        && let Err(error) = plant(file, &seed(dir))
    {
        forget(dir);
        return Err(error);
    }
    config.save(dir).inspect_err(|_| forget(dir))?;
    Ok(config)
}

/// Takes back what `found` made.
fn forget(dir: &Path) {
    for file in [seed(dir), dir.join(FILE)] {
        let _ = fs::remove_file(file);
    }
    let _ = fs::remove_dir(dir);
}

/// The copy of --from that node 1 takes over.
pub fn seed(dir: &Path) -> PathBuf {
    dir.join("seed.db")
}

/// Copies a database, page by page, and adds the row in which hiqlite keeps how far a file is: nowhere.
pub fn plant(from: &Path, to: &Path) -> Result<()> {
    // Of StateMachineData::default() in bincode's legacy encoding: no entry applied, of no membership
    // (two empty lists with lengths of 8 bytes), and no snapshot. hiqlite checks it when it starts.
    const NOWHERE: [u8; 19] = [0; 19];
    ensure!(from.is_file(), "{} is no file", from.display());
    let bar = spinner();
    bar.set_message(format!("copying {}", from.display()));
    let copy = || -> rusqlite::Result<()> {
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        source.busy_timeout(Duration::from_secs(5))?;
        let mut target = Connection::open(to)?;
        rusqlite::backup::Backup::new(&source, &mut target)?.run_to_completion(
            4096,
            Duration::ZERO,
            None,
        )?;
        // A copy that hiqlite makes at night has them. The new cluster has requests of its own.
        let of_hiqlite: bool = target.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name='_metadata' AND sql LIKE '%_metadata_pk%'",
            [],
            |row| row.get(0),
        )?;
        if of_hiqlite {
            target.execute_batch("DROP TABLE _metadata")?;
        }
        target.execute_batch(&format!("DROP TABLE IF EXISTS {}", request::TABLE))?;
        target.execute_batch(
            "CREATE TABLE _metadata(key TEXT NOT NULL CONSTRAINT _metadata_pk PRIMARY KEY, data BLOB NOT NULL)",
        )?;
        target.execute("INSERT INTO _metadata VALUES('meta', ?1)", [&NOWHERE[..]])?;
        Ok(())
    };
    let copied = copy();
    bar.finish_and_clear();
    copied.map_err(|error| {
        anyhow::anyhow!(
            "{} cannot be copied: {}",
            from.display(),
            sql::first_line(&error.to_string())
        )
    })
}

/// Starts a node that outlives this process.
fn spawn(dir: &Path, id: u64, with_seed: bool) -> Result<Child> {
    let mut command = node_command(dir, id, with_seed)?;
    // SAFETY: setsid() is async-signal-safe, and nothing else happens between fork and exec.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
    command
        .spawn()
        .with_context(|| format!("cannot start node {id}"))
}

/// What runs a node; what it says is in its log. With the seed, if there is one, it begins with its data.
pub fn node_command(dir: &Path, id: u64, with_seed: bool) -> Result<Command> {
    let place = node_folder(dir, id);
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let path = place.join("log");
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command
        .arg("--dir")
        .arg(dir)
        .args(["node", &id.to_string()]);
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    // Of hiqlite's switches some throw data away: none of the caller's environment.
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HQL_"))
    {
        command.env_remove(name);
    }
    if with_seed && seed(dir).exists() {
        command.env(
            "HQL_BACKUP_RESTORE",
            format!("file:{}", seed(dir).display()),
        );
    }
    Ok(command)
}

/// Waits until all nodes vote, one leads, and all have what was written before.
pub fn wait_until_healthy(
    dir: &Path,
    config: &Config,
    children: &mut [(u64, Child)],
) -> Result<Vec<Status>> {
    let bar = spinner();
    let begun = Instant::now();
    // The newest entry when all nodes were members: the data of a node that lacks it is too old to read.
    let mut goal = None;
    let size = fs::metadata(seed(dir)).map_or(0, |file| file.len());
    // Each node checks and copies the file: at least 20 MB a second.
    let limit = HEALTHY_WITHIN + Duration::from_secs(size / 20_000_000 * config.nodes.len() as u64);
    let healthy = loop {
        for (id, child) in children.iter_mut() {
            if let Some(status) = child.try_wait()? {
                bar.finish_and_clear();
                bail!("node {id} ended ({status}): {}", last_words(dir, *id));
            }
        }
        let statuses = block_on(client::statuses(config))?;
        let working: Vec<Status> = statuses
            .into_iter()
            .flatten()
            .filter(|status| works(status, config))
            .collect();
        if working.len() == config.nodes.len() {
            let newest = working.iter().map(|status| status.log).max().unwrap_or(0);
            let goal = *goal.get_or_insert(newest);
            if working.iter().all(|status| status.applied >= goal) {
                break Ok(working);
            }
        }
        bar.set_message(format!(
            "{} of {} nodes are ready",
            working.len(),
            config.nodes.len()
        ));
        if begun.elapsed() > limit {
            break Err(anyhow::anyhow!(
                "after {} s {} of {} nodes are ready: their logs in {} say why",
                limit.as_secs(),
                working.len(),
                config.nodes.len(),
                node_folder(dir, config.nodes[0].id)
                    .with_file_name("node-*/log")
                    .display()
            ));
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    bar.finish_and_clear();
    healthy
}

fn works(status: &Status, config: &Config) -> bool {
    matches!(status.state.as_str(), "leader" | "follower")
        && status.leader.is_some()
        && config
            .nodes
            .iter()
            .all(|node| status.voters.contains(&node.id))
}

/// The last line of a node's log that says something to a reader.
fn last_words(dir: &Path, id: u64) -> String {
    let path = node_folder(dir, id).join("log");
    let text = fs::read(&path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    let said = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("error: "))
        .or_else(|| text.lines().next_back());
    format!(
        "{} (all of it: {})",
        said.unwrap_or("it said nothing").trim(),
        path.display()
    )
}

/// The nodes that may be asked, the wanted one alone, or all in their order.
fn candidates(config: &Config, wanted: Option<u64>) -> Result<Vec<&Node>> {
    match wanted {
        Some(id) => Ok(vec![config.node(id)?]),
        None => Ok(config.nodes.iter().collect()),
    }
}

/// Asks one node after the other until one answers, and the leader if that is wanted.
pub async fn answers(config: &Config, nodes: &[&Node], ask: &Ask) -> Result<Vec<Answer>> {
    let mut last = None;
    for node in nodes {
        match client::ask(config, node, ask).await {
            Ok(answers) => return Ok(answers),
            Err(error) => match error.downcast_ref::<Refusal>() {
                Some(Refusal {
                    leader: Some(leader),
                    ..
                }) => return client::ask(config, config.node(*leader)?, ask).await,
                // The node has decided.
                Some(_) => return Err(error),
                None => last = Some(error),
            },
        }
    }
    Err(last.unwrap_or_else(|| anyhow::anyhow!("there is no node"))).with_context(|| match nodes {
        [node] => format!("node {} is to be asked", node.id),
        _ => "no node answers: `hpsqlite cluster start` starts them".to_string(),
    })
}

pub fn sql(dir: &Path, arguments: &Sql) -> Result<bool> {
    let config = Config::load(dir)?;
    let text = match &arguments.sql {
        Some(text) => text.clone(),
        None => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read statements from standard input")?;
            text
        }
    };
    let ask = Ask {
        sql: text,
        parameters: arguments
            .parameters
            .iter()
            .map(|text| parameter(text))
            .collect(),
        consistent: arguments.consistent,
        id: arguments.id.clone(),
    };
    let nodes = candidates(&config, arguments.node)?;
    let answers = block_on(async {
        if arguments.id.is_none() && !arguments.consistent && sql::looks_like_read(&ask.sql) {
            answers(&config, &nodes, &ask).await
        } else {
            let settled = client::settle(&client::http(&config)?, &config, &nodes, &ask).await?;
            Ok(settled.answers)
        }
    })?;
    for answer in answers? {
        match answer {
            Answer::Rows { columns, rows } => print_rows(&columns, &rows, arguments.json)?,
            Answer::Changes { changes } if std::io::stderr().is_terminal() => {
                eprintln!("{changes} rows changed")
            }
            Answer::Changes { .. } => {}
        }
    }
    Ok(true)
}

/// A value of the command line: what looks like a number is one.
fn parameter(text: &str) -> Cell {
    if let Ok(integer) = text.parse() {
        Cell::Integer(integer)
    } else if let (Ok(real), true) = (text.parse(), text.contains(|c: char| c.is_ascii_digit())) {
        Cell::Real(real)
    } else {
        Cell::Text(text.to_string())
    }
}

/// Rows as SQLite's shell prints them by default, or as JSON.
fn print_rows(columns: &[String], rows: &[Vec<Cell>], json: bool) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let done = if json {
        write_json(&mut out, columns, rows)
    } else {
        write_list(&mut out, rows)
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        // Whoever reads has had enough.
        Err(error)
            if error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) =>
        {
            Ok(())
        }
        done => done,
    }
}

fn write_json(out: &mut impl std::io::Write, columns: &[String], rows: &[Vec<Cell>]) -> Result<()> {
    let objects: Vec<serde_json::Map<_, _>> = rows
        .iter()
        .map(|row| {
            columns
                .iter()
                .cloned()
                .zip(row.iter().map(|cell| serde_json::json!(cell)))
                .collect()
        })
        .collect();
    serde_json::to_writer(&mut *out, &objects)?;
    Ok(writeln!(out)?)
}

fn write_list(out: &mut impl std::io::Write, rows: &[Vec<Cell>]) -> Result<()> {
    // The digits of a real are SQLite's.
    let db = Connection::open_in_memory()?;
    let mut digits = db.prepare("SELECT CAST(?1 AS TEXT)")?;
    for row in rows {
        for (i, cell) in row.iter().enumerate() {
            if i > 0 {
                write!(out, "|")?;
            }
            match cell.value() {
                None | Some(Value::Null) => {}
                Some(Value::Integer(integer)) => write!(out, "{integer}")?,
                Some(Value::Real(real)) => write!(
                    out,
                    "{}",
                    digits.query_row([real], |row| row.get::<_, String>(0))?
                )?,
                Some(Value::Text(text)) => write!(out, "{text}")?,
                Some(Value::Blob(bytes)) => out.write_all(&bytes)?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

pub fn status(dir: &Path) -> Result<bool> {
    let config = Config::load(dir)?;
    let statuses = block_on(client::statuses(&config))?;
    let newest = statuses
        .iter()
        .flatten()
        .map(|status| status.log)
        .max()
        .unwrap_or(0);
    println!(
        "{:>4}  {:<10} {:>8} {:>12} {:>8} {:>12}  at",
        "node", "is", "process", "entries", "behind", "MB"
    );
    let mut all = true;
    for (node, status) in config.nodes.iter().zip(&statuses) {
        match status {
            Ok(status) => {
                all &= works(status, &config);
                println!(
                    "{:>4}  {:<10} {:>8} {:>12} {:>8} {:>12.1}  {}",
                    node.id,
                    status.state,
                    status.process,
                    status.applied,
                    newest.saturating_sub(status.applied),
                    status.size as f64 / 1e6,
                    node.control()
                );
            }
            Err(_) => {
                all = false;
                println!("{:>4}  {:<10} {:>54}", node.id, "down", node.control());
            }
        }
    }
    let mut libraries: Vec<&str> = statuses
        .iter()
        .flatten()
        .map(|status| status.library.as_str())
        .collect();
    libraries.dedup();
    if !libraries.is_empty() {
        println!("{}", libraries.join("; "));
    }
    Ok(all)
}

pub fn add(dir: &Path) -> Result<bool> {
    let mut config = Config::load(dir)?;
    let statuses = block_on(client::statuses(&config))?;
    ensure!(
        statuses
            .iter()
            .flatten()
            .any(|status| status.leader.is_some()),
        "the cluster has no leader, which must take the new node in: start its nodes first"
    );
    let id = config.add_local(config.nodes[0].port)?;
    config.node(id)?.check_ports()?;
    config.save(dir)?;
    let mut children = vec![(id, spawn(dir, id, false)?)];
    if let Err(error) = wait_until_healthy(dir, &config, &mut children) {
        let _ = children[0].1.kill();
        config.nodes.retain(|node| node.id != id);
        config.save(dir)?;
        return Err(error);
    }
    println!(
        "node {id} is a member; the other nodes read its address in {FILE} when they start again"
    );
    Ok(true)
}

pub fn stop(dir: &Path, arguments: &Stop) -> Result<bool> {
    let config = Config::load(dir)?;
    let nodes = candidates(&config, arguments.node)?;
    let mut asked = Vec::new();
    for node in nodes {
        if block_on(client::stop(&config, node))?.is_ok() {
            asked.push(node.id);
        }
    }
    if asked.is_empty() {
        println!("no node runs");
        return Ok(true);
    }
    let bar = spinner();
    let begun = Instant::now();
    loop {
        let running = asked.iter().filter(|id| is_running(dir, **id)).count();
        if running == 0 {
            break;
        }
        bar.set_message(format!("{running} nodes write down how far they are"));
        if begun.elapsed() > STOPPED_WITHIN {
            bar.finish_and_clear();
            bail!(
                "{running} nodes still run after {} s: their logs say why",
                STOPPED_WITHIN.as_secs()
            );
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    bar.finish_and_clear();
    println!("{} nodes have stopped", asked.len());
    Ok(true)
}

/// Does a process hold the node's folder?
fn is_running(dir: &Path, id: u64) -> bool {
    fs::File::open(process_file(dir, id))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

pub fn backup(dir: &Path, arguments: &Backup) -> Result<bool> {
    let config = Config::load(dir)?;
    let file = std::path::absolute(&arguments.file)?;
    ensure!(
        !file.exists(),
        "{} exists: name another file",
        file.display()
    );
    let nodes = candidates(&config, arguments.node)?;
    let bar = spinner();
    bar.set_message(format!("copying into {}", file.display()));
    let done = block_on(async {
        if arguments.node.is_some() {
            return client::backup(&config, nodes[0], &file).await;
        }
        // The leader has all acknowledged writes once it answers this.
        let ask = Ask {
            sql: "SELECT 1".into(),
            consistent: true,
            ..Ask::default()
        };
        answers(&config, &nodes, &ask).await?;
        for node in &nodes {
            if let Ok(Status {
                leader: Some(leader),
                ..
            }) = client::status(&config, node).await
            {
                return client::backup(&config, config.node(leader)?, &file).await;
            }
        }
        bail!("the cluster has lost its leader: try again")
    })?;
    bar.finish_and_clear();
    println!("{}: {:.1} MB", file.display(), done? as f64 / 1e6);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hiqlite's copies of the night have tables that belong to the cluster they are of.
    #[test]
    fn a_copy_of_hiqlite_begins_a_cluster() {
        let dir = std::env::temp_dir().join(format!("hpsqlite-plant-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        let (from, to) = (dir.join("from.db"), dir.join("to.db"));
        let source = Connection::open(&from).unwrap();
        source
            .execute_batch(
                "CREATE TABLE t(a); INSERT INTO t VALUES(7);
                 CREATE TABLE IF NOT EXISTS _metadata
                 (key TEXT NOT NULL CONSTRAINT _metadata_pk PRIMARY KEY, data BLOB NOT NULL);
                 INSERT INTO _metadata VALUES('meta', x'010203');
                 CREATE TABLE _hpsqlite_requests(number INTEGER PRIMARY KEY, id, what, answer)",
            )
            .unwrap();
        plant(&from, &to).unwrap();
        let has: String = Connection::open(&to)
            .unwrap()
            .query_row(
                "SELECT group_concat(name) || (SELECT hex(data) FROM _metadata) || (SELECT a FROM t)
                 FROM sqlite_schema WHERE type='table'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(has, format!("t,_metadata{}7", "00".repeat(19)));
        // A table of the user's with that name is not thrown away.
        fs::remove_file(&to).unwrap();
        source
            .execute_batch("DROP TABLE _metadata; CREATE TABLE _metadata(mine)")
            .unwrap();
        let error = plant(&from, &to).unwrap_err().to_string();
        assert!(error.contains("_metadata already exists"), "{error}");
        fs::remove_dir_all(&dir).unwrap();
    }
}
