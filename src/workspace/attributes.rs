//! What belongs to a file besides its content and name: owner, mode, access lists and other extended
//! attributes. A file whose content is replaced keeps them, except what lets it run as somebody else.

use std::io;

use rustix::fd::AsFd;
use rustix::fs::{
    Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat,
};
use rustix::io::Errno;

/// Most bytes of one list or value, as on Linux.
const MOST_BYTES: usize = 64 << 10;

/// The bits with which a program runs as somebody else; nobody has looked at the new content for that.
const SPECIAL: u32 = 0o6000;

/// Attributes that are about the content that goes: capabilities and signatures. `trusted` is for the system
/// itself.
fn is_of_content(name: &str) -> bool {
    matches!(name, "security.capability" | "security.ima" | "security.evm" | "security.apparmor")
        || name.starts_with("trusted.")
}

/// Gives `new` what belongs to `old`. What the system does not let this user give is named in the answer: the
/// content alone is no reason to fail.
///
/// # Errors
/// A mode that cannot be set: the new content could be open to others.
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
                // What the group may do was meant for another group: only what everybody may is left.
                bits = (bits & !0o070) | (bits & ((bits & 0o007) << 3));
            }
        }
    }
    fchmod(&new, Mode::from_raw_mode(bits))?;
    lost.extend(attributes(&old, &new));
    Ok(lost)
}

/// Copies the extended attributes; gives those that could not be.
fn attributes(old: impl AsFd, new: impl AsFd) -> Vec<String> {
    let mut list = vec![0; MOST_BYTES];
    let names = match flistxattr(&old, &mut list[..]) {
        Ok(length) => list.get(..length).unwrap_or_default(),
        // A file system without them.
        Err(Errno::NOTSUP | Errno::NOSYS) => return Vec::new(),
        Err(error) => return vec![format!("its extended attributes cannot be listed: {error}")],
    };
    let mut lost = Vec::new();
    let mut value = vec![0; MOST_BYTES];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        if is_of_content(&name) {
            continue;
        }
        let given = fgetxattr(&old, &*name, &mut value[..]).and_then(|length| {
            let value = value.get(..length).unwrap_or_default();
            fsetxattr(&new, &*name, value, XattrFlags::empty())
        });
        // The system labels a new file itself, and mostly as the old one.
        if given.is_err() && !name.starts_with("security.") {
            lost.push(format!("its attribute {name} could not be given to the new content"));
        }
    }
    lost
}
