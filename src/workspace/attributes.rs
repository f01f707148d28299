//! File metadata that survives a replacement of the content: owner, mode, access control lists and other
//! extended attributes. Set-user-ID and set-group-ID bits and file capabilities are dropped.

use std::io;

use rustix::fd::AsFd;
use rustix::fs::{
    Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat,
};
use rustix::io::Errno;

/// Maximum size of an attribute list or value in bytes, as on Linux.
const MAX_BYTES: usize = 64 << 10;

/// The set-user-ID and set-group-ID bits. They are dropped because nobody granted them to the new content.
const SPECIAL: u32 = 0o6000;

/// Whether an attribute describes the old content (capabilities, signatures) and must not be copied.
/// Attributes in `trusted` belong to the system.
fn is_of_content(name: &str) -> bool {
    matches!(name, "security.capability" | "security.ima" | "security.evm" | "security.apparmor")
        || name.starts_with("trusted.")
}

/// Copies owner, mode and extended attributes from `old` to `new`. Returns a description of each of them that
/// this user may not set, which is not an error.
///
/// # Errors
/// The mode cannot be set, so the new content could be open to others.
pub(crate) fn keep(old: impl AsFd, new: impl AsFd) -> io::Result<Vec<String>> {
    let (was, is) = (fstat(&old)?, fstat(&new)?);
    let mut lost = Vec::new();
    let mut bits = was.st_mode & 0o7777 & !SPECIAL;
    if (was.st_uid, was.st_gid) != (is.st_uid, is.st_gid) {
        let (owner, group) = (Uid::from_raw(was.st_uid), Gid::from_raw(was.st_gid));
        let given = fchown(&new, Some(owner), Some(group));
        if given.is_err() {
            lost.push(format!("its owner was {}:{}", was.st_uid, was.st_gid));
            if was.st_gid != is.st_gid && fchown(&new, None, Some(group)).is_err() {
                // The old group cannot be set, and its permissions are not meant for the new group: keep only
                // those that everybody has.
                bits = (bits & !0o070) | (bits & ((bits & 0o007) << 3));
            }
        }
    }
    fchmod(&new, Mode::from_raw_mode(bits))?;
    lost.extend(attributes(&old, &new));
    Ok(lost)
}

/// Copies the extended attributes; returns a description of each one that could not be copied.
fn attributes(old: impl AsFd, new: impl AsFd) -> Vec<String> {
    let mut list = vec![0; MAX_BYTES];
    let names = match flistxattr(&old, &mut list[..]) {
        Ok(length) => list.get(..length).unwrap_or_default(),
        // The file system has no extended attributes.
        Err(Errno::NOTSUP | Errno::NOSYS) => return Vec::new(),
        Err(error) => return vec![format!("its extended attributes cannot be listed: {error}")],
    };
    let mut lost = Vec::new();
    let mut value = vec![0; MAX_BYTES];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        if is_of_content(&name) {
            continue;
        }
        let given = fgetxattr(&old, &*name, &mut value[..]).and_then(|length| {
            let value = value.get(..length).unwrap_or_default();
            fsetxattr(&new, &*name, value, XattrFlags::empty())
        });
        // The system sets security labels on a new file itself, usually the same ones: a failure is not
        // reported.
        if given.is_err() && !name.starts_with("security.") {
            lost.push(format!("its attribute {name} could not be given to the new content"));
        }
    }
    lost
}
