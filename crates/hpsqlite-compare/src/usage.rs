//! What the system says that this process, or a thread of it, has used.

/// Seconds of user and system time of the process.
pub fn process_time() -> (f64, f64) {
    times(&usage(libc::RUSAGE_SELF))
}

/// Seconds of user and system time of this thread.
pub fn thread_time() -> (f64, f64) {
    times(&usage(libc::RUSAGE_THREAD))
}

/// Seconds of user and system time of the process and of all its children that have ended and were
/// waited for, with theirs.
pub fn with_children() -> f64 {
    let all = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(|of| times(&usage(of)));
    all.iter().map(|(user, system)| user + system).sum()
}

/// Largest resident size of a process (`self`, or its id), in bytes, since its beginning or since
/// [`forget_peak`]; 0 of one that has ended.
///
/// What `getrusage()` tells may be that of the process that started this one, and stays.
pub fn peak_memory(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Has the system count the largest resident size of a process from the present one. Where that is
/// not allowed, as with processes of other users, it stays what it is.
pub fn forget_peak(process: &str) {
    // See proc_pid_clear_refs(5).
    let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
}

fn times(usage: &libc::rusage) -> (f64, f64) {
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn usage(of: libc::c_int) -> libc::rusage {
    // SAFETY: getrusage fills the structure it is given, which may be all zeros before.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(of, &mut usage);
        usage
    }
}
