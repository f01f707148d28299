//! Takes something out of the inbox. It is moved and not deleted, so that nothing is lost by accident.

use std::ffi::CString;
use std::os::fd::AsFd as _;

use rustix::fs::{Mode, RenameFlags};
use uuid::Uuid;

use super::folder::{InboxFolder, folder_in, names_in, text_of};
use super::list::id_of;
use super::{InboxError, MAX_REMOVED, REMOVED_NAME};

/// The fewest characters of an id that name something.
const SHORTEST: usize = 8;

/// Moves what has this id, an id that begins so (at least 8 characters), or exactly this name, into the folder of what was
/// removed. Returns its id.
///
/// # Errors
/// Nothing or several things are named so, or it cannot be moved. Then the inbox is as before.
pub fn remove_from_inbox(folder: &InboxFolder, handle: &str) -> Result<String, InboxError> {
    let failed = |source: std::io::Error| InboxError::write(folder.path(), source);
    let (names, _) = folder.names().map_err(|source| InboxError::folder(folder.path(), source))?;
    let names: Vec<_> =
        names.into_iter().filter(|name| name.to_bytes() != REMOVED_NAME.as_bytes()).collect();
    let name = named(&names, handle)?;
    let id = id_of(name);
    match rustix::fs::mkdirat(folder.handle(), REMOVED_NAME, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(failed(error.into())),
    }
    let removed = folder_in(folder.handle(), REMOVED_NAME).map_err(failed)?;
    let (others, more) = names_in(removed.as_fd()).map_err(failed)?;
    if others.len() + more >= MAX_REMOVED {
        return Err(InboxError::full_of_removed());
    }
    // What was removed before may have had the same name.
    let target = match others.contains(name) {
        true => CString::new(format!("{id}.{}", Uuid::new_v4())).map_err(|it| failed(it.into()))?,
        false => name.clone(),
    };
    rustix::fs::renameat_with(
        folder.handle(),
        name.as_c_str(),
        &removed,
        target.as_c_str(),
        RenameFlags::NOREPLACE,
    )
    .map_err(|error| failed(error.into()))?;
    rustix::fs::fsync(&removed).map_err(|error| failed(error.into()))?;
    folder.flush().map_err(failed)?;
    Ok(id)
}

fn named<'a>(names: &'a [CString], handle: &str) -> Result<&'a CString, InboxError> {
    let not_found = || InboxError::NotFound { handle: handle.to_owned() };
    if let Some(exact) = names.iter().find(|name| id_of(name) == handle || text_of(name) == handle)
    {
        return Ok(exact);
    }
    if handle.len() < SHORTEST {
        return Err(not_found());
    }
    let mut found = names.iter().filter(|name| id_of(name).starts_with(handle));
    let first = found.next().ok_or_else(not_found)?;
    match found.count() {
        0 => Ok(first),
        more => Err(InboxError::Ambiguous { handle: handle.to_owned(), count: more + 1 }),
    }
}
