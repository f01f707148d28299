//! A view of the file system: what the steps of a run see that are walled alike.
//!
//! bubblewrap makes it once, in a namespace of mounts that these steps join: the first one of a run with all its
//! other namespaces, every other one in these. A mount goes away when somebody outside removes the file or folder on
//! which it stands. So a view is used again only as long as all of these are still the very same.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::SystemTime;

use super::super::running::nameless;
use super::super::{bare_command, tree};
use super::bubblewrap;
use super::helper::{COMMAND, END, option, work};
use super::keeper::THIS_PROGRAM;
use super::table::Table;

/// Ends at once: bubblewrap must start something.
const NOTHING: [&str; 3] = ["/bin/sh", "-c", ":"];

/// A namespace of mounts.
#[derive(Debug)]
pub(super) struct View {
    pub(super) made_of: Ingredients,
    pub(super) mounts: OwnedFd,
}

/// What a view is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ingredients {
    /// The options of bubblewrap.
    pub(super) options: Vec<OsString>,
    /// What its mounts stand on; none for what the system cannot tell from something that took its place.
    places: Vec<Option<Place>>,
}

/// A file or folder: its device, its number there, and when it was made, because numbers are given again.
type Place = (u64, u64, SystemTime);

impl Ingredients {
    pub(super) fn new(options: Vec<OsString>, table: &Table) -> Self {
        let place = |data: Metadata| Some((data.dev(), data.ino(), data.created().ok()?));
        let look = |path: &Path| path.symlink_metadata().ok().and_then(place);
        let places = table.entries().map(|(path, _)| look(path)).collect();
        Self { options, places }
    }
}

impl View {
    /// Makes a view in these namespaces; `processes` lists what runs there.
    ///
    /// # Errors
    /// What bubblewrap said.
    pub(super) fn make(
        made_of: Ingredients,
        program: &Path,
        within: Vec<OwnedFd>,
        processes: &Path,
    ) -> io::Result<Self> {
        let (mut information, told) = io::pipe()?;
        let (waits, hold) = io::pipe()?;
        let words = nameless()?;
        let (told, waits) = (OwnedFd::from(told), OwnedFd::from(waits));
        let mut command = bare_command(OsStr::new(THIS_PROGRAM));
        command
            .args([COMMAND, work::VIEW])
            .args(within.iter().flat_map(option::join))
            .args([END.as_ref(), program.as_os_str()])
            .args(bubblewrap::tells(&told))
            .args(bubblewrap::waits(&waits))
            .args(&made_of.options)
            .arg(END)
            .args(NOTHING)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(words.try_clone()?);
        tree::pass_on(&mut command, within.into_iter().chain([told, waits]).collect());
        let mut child = command.spawn()?;
        // Its own ends of the pipes must be the only ones.
        drop(command);
        let mounts = bubblewrap::is_quick(&information)
            .and_then(|()| bubblewrap::child(&mut information))
            .and_then(|id| File::open(processes.join(format!("{id}/ns/mnt"))));
        // Until here what it starts has waited, and with it its mounts.
        drop(hold);
        if mounts.is_err() {
            child.kill()?;
        }
        let ended = child.wait()?;
        match mounts {
            Ok(mounts) if ended.success() => Ok(Self { made_of, mounts: mounts.into() }),
            _ => Err(io::Error::other(bubblewrap::words(words))),
        }
    }

    /// Whether a view made now of these ingredients would be the same.
    pub(super) fn serves(&self, wanted: &Ingredients) -> bool {
        self.made_of == *wanted && wanted.places.iter().all(Option::is_some)
    }
}
