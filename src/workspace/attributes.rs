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
const SET_ID_BITS: u32 = 0o6000;

/// Whether an attribute must not be copied: it describes the old content (capabilities, signatures, profiles),
/// or belongs to the system (`trusted`).
fn is_not_copied(name: &str) -> bool {
    matches!(name, "security.capability" | "security.ima" | "security.evm" | "security.apparmor")
        || name.starts_with("trusted.")
}

/// Copies owner, mode and extended attributes from `old` to `new`. Owner and attributes that cannot be copied,
/// for instance because this user may not set them, are no error; returns a description of each.
///
/// # Errors
/// The metadata of a file cannot be read, or the mode cannot be set, so that the new content could be open to
/// others.
pub(crate) fn copy(old: impl AsFd, new: impl AsFd) -> io::Result<Vec<String>> {
    let (was, is) = (fstat(&old)?, fstat(&new)?);
    let mut lost = Vec::new();
    let mut bits = was.st_mode & 0o7777 & !SET_ID_BITS;
    if (was.st_uid, was.st_gid) != (is.st_uid, is.st_gid) {
        let (owner, group) = (Uid::from_raw(was.st_uid), Gid::from_raw(was.st_gid));
        if fchown(&new, Some(owner), Some(group)).is_err() {
            lost.push(format!("its owner was {}:{}", was.st_uid, was.st_gid));
            if was.st_gid != is.st_gid && fchown(&new, None, Some(group)).is_err() {
                // The old group cannot be set, and its permissions are not meant for the new group: keep only
                // those that everybody has.
                bits = (bits & !0o070) | (bits & ((bits & 0o007) << 3));
            }
        }
    }
    fchmod(&new, Mode::from_raw_mode(bits))?;
    lost.extend(copy_extended(&old, &new));
    Ok(lost)
}

/// Copies the extended attributes; returns a description of each one that could not be copied.
fn copy_extended(old: impl AsFd, new: impl AsFd) -> Vec<String> {
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
        if is_not_copied(&name) {
            continue;
        }
        let copied = fgetxattr(&old, &*name, &mut value[..]).and_then(|length| {
            let value = value.get(..length).unwrap_or_default();
            fsetxattr(&new, &*name, value, XattrFlags::empty())
        });
        // The system sets security labels on a new file itself, usually the same ones: a failure is not
        // reported.
        if copied.is_err() && !name.starts_with("security.") {
            lost.push(format!("its attribute {name} could not be given to the new content"));
        }
    }
    lost
}
