//! Running a program and waiting for its end, so that it can be told what it loaded.
//!
//! To whoever started us we are the program: signals that are sent to us reach it, when it stops
//! so do we, and we end as it ended. What the terminal sends goes to both of us by itself.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use super::loaded::ProgramWatch;

/// How long is waited before it is looked again which processes there are: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_millis(250);
/// Looking takes a hundredth of a processor at most.
const SHARE: u32 = 100;

/// Runs the program to its end.
pub fn run(command: &mut Command, watch: &mut ProgramWatch) -> io::Result<ExitStatus> {
    let signals = Signals::hold();
    let before = signals.before;
    // SAFETY: plain system calls. Whoever kills us wants the program to end, which is to have the
    // signals that we had.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    let program = child.id() as libc::pid_t;
    let mut pause = FIRST_PAUSE;
    loop {
        match signals.next(pause) {
            Some(signal) if signal.number == libc::SIGCHLD => {
                if stopped_by_terminal(program) {
                    // SAFETY: plain system calls; the program has not been waited for.
                    unsafe {
                        libc::raise(libc::SIGSTOP);
                        libc::kill(program, libc::SIGCONT);
                    }
                }
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
            }
            Some(signal) => {
                if signal.is_for_program(program) {
                    // SAFETY: a plain system call; the program has not been waited for.
                    unsafe { libc::kill(program, signal.number) };
                }
            }
            None => {
                let start = Instant::now();
                watch.look(child.id());
                let wanted = (pause + pause / 8).min(LAST_PAUSE);
                pause = wanted.max(start.elapsed() * SHARE);
            }
        }
    }
}

/// Ends as the program ended that a signal ended.
pub fn end_by(signal: i32) {
    // SAFETY: plain system calls on structures that they fill. The program has left a core file if
    // one is wanted; ours would replace it.
    unsafe {
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

/// Whether Ctrl-Z, or the terminal otherwise, has stopped the program.
fn stopped_by_terminal(program: libc::pid_t) -> bool {
    // SAFETY: waitid fills the structure; without WEXITED the end of the program is left to others.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WSTOPPED | libc::WNOHANG;
        let done = libc::waitid(libc::P_PID, program as libc::id_t, &mut info, options) == 0;
        done && info.si_pid() == program
            && [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&info.si_status())
    }
}

/// All signals, which wait until they are asked for.
struct Signals {
    all: libc::sigset_t,
    /// Those that were blocked before.
    before: libc::sigset_t,
}

struct Signal {
    number: i32,
    code: i32,
    sender: libc::pid_t,
}

impl Signal {
    /// Whether somebody sent it to us alone: those of the terminal, and those that the program sends
    /// to its process group, reach it without us.
    fn is_for_program(&self, program: libc::pid_t) -> bool {
        let is_sent = [libc::SI_USER, libc::SI_QUEUE, libc::SI_TKILL].contains(&self.code);
        is_sent && self.sender != program
    }
}

impl Signals {
    fn hold() -> Signals {
        // SAFETY: both calls fill or read the sets.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
            Signals { all, before }
        }
    }

    /// The next one, if it comes in time.
    fn next(&self, within: Duration) -> Option<Signal> {
        let time = libc::timespec {
            tv_sec: within.as_secs() as _,
            tv_nsec: within.subsec_nanos().into(),
        };
        // SAFETY: the call reads set and time, and fills the structure where it gives a signal.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let number = libc::sigtimedwait(&self.all, &mut info, &time);
            (number > 0).then(|| Signal {
                number,
                code: info.si_code,
                sender: info.si_pid(),
            })
        }
    }
}
