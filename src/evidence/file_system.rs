//! The file system of the evidence folder: whether it is on a network, and how much space it has.
//!
//! SQLite's write-ahead log needs memory that all processes share, which a network file system cannot give to two
//! computers. There the database gets a rollback journal instead, and every commit flushes the file and its folder.

use std::path::Path;

/// The network file system of a folder, for instance `nfs`; `None` for any other, and where the system does not tell.
///
/// A file system in user space (FUSE) that is not known to be on this computer counts as one of a network.
pub(super) fn network_file_system(dir: &Path) -> Option<String> {
    #[cfg(any(test, feature = "inspection"))]
    if let Ok(kind) = std::fs::read_to_string(dir.join("execution_log.mounted_as")) {
        let kind = kind.trim().parse().ok()?;
        return network_name(kind, || None);
    }
    #[cfg(target_os = "linux")]
    {
        let found = rustix::fs::statfs(dir).ok()?;
        #[expect(clippy::allow_attributes, reason = "the type differs between processors")]
        #[allow(
            clippy::cast_sign_loss,
            clippy::unnecessary_cast,
            reason = "32 bits of a magic number"
        )]
        let kind = found.f_type as u64 & 0xffff_ffff;
        network_name(kind, || mounted_as(dir))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = dir;
        None
    }
}

/// The number of file systems in user space.
const FUSE: u64 = 0x6573_5546;

/// The numbers by which Linux names file systems of networks.
const NETWORK: [(u64, &str); 13] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "afs"),
    (0x00c3_6400, "ceph"),
    (0x7375_7245, "coda"),
    (0x564c, "ncp"),
    (0x0bd0_0bd0, "lustre"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
];

/// File systems in user space that are on this computer.
const LOCAL_FUSE: [&str; 9] = [
    "fuseblk",
    "fuse.ntfs-3g",
    "fuse.gocryptfs",
    "fuse.encfs",
    "fuse.cryfs",
    "fuse.fuse-overlayfs",
    "fuse.mergerfs",
    "fuse.bindfs",
    "fuse.lxcfs",
];

/// The name of a network file system with this number. `name` is asked only for one in user space.
fn network_name(kind: u64, name: impl FnOnce() -> Option<String>) -> Option<String> {
    if kind == FUSE {
        let name = name().unwrap_or_else(|| "fuse".to_owned());
        return (!LOCAL_FUSE.contains(&name.as_str())).then_some(name);
    }
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| (*name).to_owned())
}

/// The type with which the file system of this folder is mounted, for instance `fuse.sshfs`.
#[cfg(target_os = "linux")]
fn mounted_as(dir: &Path) -> Option<String> {
    let dir = std::fs::canonicalize(dir).ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let of_line = |line: &str| {
        let (mount, rest) = line.split_once(" - ")?;
        // Spaces and backslashes in a path are octal.
        let place = mount.split(' ').nth(4)?.replace("\\040", " ").replace("\\134", "\\");
        let is_above = dir.starts_with(&place);
        is_above.then(|| (place.len(), rest.split(' ').next().unwrap_or_default().to_owned()))
    };
    // The last mount at the longest path hides those before it.
    mounts.lines().filter_map(of_line).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

/// The space that this user may still use in the file system of a folder, in bytes; `None` if the system does not tell.
pub(super) fn free_space(dir: &Path) -> Option<u64> {
    #[cfg(any(test, feature = "inspection"))]
    if let Ok(bytes) = std::fs::read_to_string(dir.join("execution_log.free")) {
        return bytes.trim().parse().ok();
    }
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(dir).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known() {
        let none = || None;
        assert_eq!(network_name(0x6969, none).as_deref(), Some("nfs"));
        assert_eq!(network_name(0xfe53_4d42, none).as_deref(), Some("smb2"));
        for local in [0xef53, 0x5846_5342, 0x0102_1994, 0x9123_683e] {
            assert_eq!(network_name(local, none), None, "{local:x}");
        }
        assert_eq!(network_name(FUSE, none).as_deref(), Some("fuse"));
        let sshfs = || Some("fuse.sshfs".to_owned());
        assert_eq!(network_name(FUSE, sshfs).as_deref(), Some("fuse.sshfs"));
        assert_eq!(network_name(FUSE, || Some("fuseblk".to_owned())), None);
    }

    #[test]
    fn a_folder_of_this_computer_is_none_of_a_network() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(network_file_system(dir.path()), None);
        #[cfg(unix)]
        assert!(free_space(dir.path()).unwrap() > 0);
    }
}
