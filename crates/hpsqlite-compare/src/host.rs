//! What the system tells of the machine: memory, load, and what is mounted where.

use std::path::Path;

/// Memory of the machine, in bytes; 0 where the system does not tell.
pub fn memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    told.lines()
        .find_map(|l| l.strip_prefix("MemTotal:"))
        .and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// The load average of the last minute; 0 where the system does not tell.
pub fn load() -> f64 {
    std::fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0)
}

/// A file system, as `mount` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub device: String,
    /// `ext4`, `tmpfs`, ...
    pub kind: String,
    /// `rw,relatime`
    pub options: String,
}

impl Mount {
    /// What a path is on; none where the system does not tell.
    pub fn of(path: &Path) -> Option<Mount> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
        Mount::among(&mounts, path)
    }

    /// The longest mount point that the path is below. The last mount at a place is the one that is seen.
    fn among(mounts: &str, path: &Path) -> Option<Mount> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let one = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let (device, place) = (words.next()?, words.next()?.replace("\\040", " "));
            let (kind, options) = (words.next()?, words.next()?);
            let mount = Mount {
                device,
                kind,
                options,
            };
            path.starts_with(&place).then_some((place.len(), mount))
        };
        let found = mounts.lines().filter_map(one);
        found.max_by_key(|(length, _)| *length).map(|(_, m)| m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_is_that_of_the_longest_mount_point() {
        let mounts = "/dev/vda1 / ext4 rw,relatime 0 0\ntmpfs /nowhere tmpfs rw 0 0\n\
                      tmpfs /no\\040where ramfs rw 0 0\n";
        let on = |path: &str| {
            let mount = Mount::among(mounts, Path::new(path)).unwrap();
            format!("{} on {}", mount.kind, mount.device)
        };
        assert_eq!(on("/nowhere/x"), "tmpfs on tmpfs");
        assert_eq!(on("/nowhereelse"), "ext4 on /dev/vda1");
        assert_eq!(on("/no where/x"), "ramfs on tmpfs");
        assert_eq!(Mount::among("", Path::new("/")), None);
    }
}
