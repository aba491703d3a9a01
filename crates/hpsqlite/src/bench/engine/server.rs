//! Servers of the lab's own: started in the job's folder, on loopback or a UNIX socket, and ended
//! with the job, however that ends.
//!
//! A server gets SIGTERM when its store is closed, SIGKILL at Ctrl-C, and SIGKILL from the kernel
//! when the job's process dies (PR_SET_PDEATHSIG). It is only ever addressed by the process id
//! that starting it gave.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::{StorePlan, Unavailable, not_installed};
use crate::interrupt;

/// How long a server may take to be ready, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it is.
const TICK: Duration = Duration::from_millis(10);
/// An answer that takes longer will not come.
const SILENCE: Duration = Duration::from_secs(120);
/// The longest path of a UNIX socket, in bytes.
const SOCKET_PATH: usize = 107;

/// Where a server listens.
#[derive(Debug, Clone)]
pub enum Address {
    Tcp(u16),
    Unix(PathBuf),
}

impl Address {
    /// As the plan has it: a port that is free just now, or a socket in the job's folder.
    pub fn of(plan: &StorePlan<'_>) -> Result<Address> {
        if plan.choice("connection", &["unix", "tcp"])? == "tcp" {
            let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
            return Ok(Address::Tcp(listener.local_addr()?.port()));
        }
        let path = plan.job.folder.join("socket");
        if path.as_os_str().len() > SOCKET_PATH {
            bail!(Unavailable(format!(
                "{} is too long a path for a UNIX socket; a shorter XDG_CACHE_HOME helps",
                path.display()
            )));
        }
        Ok(Address::Unix(path))
    }

    /// How it is told in settings.
    pub fn kind(&self) -> &'static str {
        match self {
            Address::Tcp(_) => "TCP on loopback",
            Address::Unix(_) => "UNIX socket",
        }
    }

    pub fn connect(&self) -> Result<ServerConnection> {
        Ok(ServerConnection(BufReader::new(match self {
            Address::Tcp(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port))?;
                // Each command waits for its answer: none may wait for the next one.
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(SILENCE))?;
                Stream::Tcp(stream)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(SILENCE))?;
                Stream::Unix(stream)
            }
        })))
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.read(to),
            Stream::Unix(s) => s.read(to),
        }
    }
}

/// A connection to a server.
pub struct ServerConnection(BufReader<Stream>);

impl ServerConnection {
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self.0.get_mut() {
            Stream::Tcp(s) => s.write_all(bytes),
            Stream::Unix(s) => s.write_all(bytes),
        }
        .context("the server takes no more commands")
    }

    /// Reads a line that ends with CR LF, and gives it without them.
    pub fn line<'l>(&mut self, to: &'l mut Vec<u8>) -> Result<&'l [u8]> {
        use std::io::BufRead;
        to.clear();
        self.0
            .read_until(b'\n', to)
            .context("the server does not answer")?;
        to.strip_suffix(b"\r\n")
            .context("the server ended the connection")
    }

    /// Reads a value of `size` bytes and the CR LF behind it.
    pub fn value<'l>(&mut self, size: usize, to: &'l mut Vec<u8>) -> Result<&'l [u8]> {
        to.resize(size + 2, 0);
        self.0
            .read_exact(to)
            .context("the server does not answer")?;
        Ok(&to[..size])
    }
}

/// A server that was started.
pub struct EngineServer {
    child: Child,
    pub address: Address,
}

/// What is needed to start one.
pub struct Start<'s> {
    pub program: &'static str,
    pub packages: &'static str,
    pub arguments: Vec<OsString>,
    /// What it reads on its standard input.
    pub input: &'s str,
    pub address: Address,
    /// Whether it answers, and is the one that has this process id.
    pub ready: &'s mut dyn FnMut(u32) -> Result<bool>,
}

impl EngineServer {
    pub fn start(plan: &StorePlan<'_>, how: Start<'_>) -> Result<EngineServer> {
        let log = plan.job.folder.join(format!("{}.log", how.program));
        let mut command = own(how.program, how.packages, &log, &plan.folder)?;
        let input = if how.input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        let mut child = command
            .args(&how.arguments)
            .stdin(input)
            .spawn()
            .with_context(|| format!("cannot start {}", how.program))?;
        interrupt::remember(child.id());
        let input = child.stdin.take();
        let mut server = EngineServer {
            child,
            address: how.address,
        };
        if let Some(mut input) = input {
            input
                .write_all(how.input.as_bytes())
                .with_context(|| format!("{} does not read its settings", how.program))?;
        }
        let start = Instant::now();
        loop {
            interrupt::check()?;
            if let Some(status) = server.child.try_wait()? {
                bail!("{} ended at once ({status}): {}", how.program, tail(&log));
            }
            if matches!((how.ready)(server.pid()), Ok(true)) {
                return Ok(server);
            }
            if start.elapsed() > PATIENCE {
                bail!(
                    "{} was not ready after {} seconds: {}",
                    how.program,
                    PATIENCE.as_secs(),
                    tail(&log)
                );
            }
            std::thread::sleep(TICK);
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for EngineServer {
    fn drop(&mut self) {
        // Before it is waited for: its number may then belong to another process.
        interrupt::forget(self.child.id());
        if let Ok(None) = self.child.try_wait() {
            // SAFETY: a plain system call; the child has not been waited for, so the number is its.
            unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGTERM) };
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE
            && !interrupt::raised()
            && matches!(self.child.try_wait(), Ok(None))
        {
            std::thread::sleep(TICK);
        }
        // Does nothing where it has been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Address::Unix(path) = &self.address {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A command that dies with the thread that starts it, in a process group of its own, so that
/// Ctrl-C on the terminal is for us to handle.
pub fn own(program: &str, packages: &str, log: &Path, folder: &Path) -> Result<Command> {
    let path = find(program, packages)?;
    let log = File::options()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(path);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: only system calls that may be made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have died before.
            if libc::getppid() != parent {
                return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
    Ok(command)
}

/// A program of the search path, or of the folders for the administrator's programs.
pub fn find(program: &str, packages: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/usr/libexec"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| not_installed(program, packages))
}

/// The last lines of a log, in one.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

/// A password for a server that others on this machine could connect to.
pub fn password() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut bytes))
        .context("cannot read /dev/urandom")?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Whether we are root, which some servers want to be told.
pub fn root() -> bool {
    // SAFETY: a plain system call.
    unsafe { libc::geteuid() == 0 }
}

/// A number in an answer of a server.
pub fn number(text: &[u8]) -> Result<usize> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.trim().parse().ok())
        .ok_or_else(|| anyhow!("the server answered {}", String::from_utf8_lossy(text)))
}
