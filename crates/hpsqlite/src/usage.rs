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

/// Largest resident size of this process so far, in bytes.
pub fn peak_memory() -> u64 {
    // Linux counts in units of 1,024 bytes.
    usage(libc::RUSAGE_SELF).ru_maxrss as u64 * 1024
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
