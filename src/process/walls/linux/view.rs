//! A view of the file system, shared by the steps of a run that have the same walls.
//!
//! bubblewrap makes a view in a mount namespace that these steps join: the first view of a run together with
//! the run's other namespaces, every later view inside of them. A mount disappears when a process outside
//! removes the file or folder on which it is mounted, so a view is reused only while all mount points are
//! unchanged.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::SystemTime;

use super::bubblewrap;
use super::helper::{COMMAND, END, option, work};
use super::keeper::THIS_PROGRAM;
use super::table::Table;
use crate::process::running::nameless;
use crate::process::{command, tree};

/// A program that exits at once, because bubblewrap must start some program.
const NOTHING: [&str; 3] = ["/bin/sh", "-c", ":"];

/// A mount namespace, and the inputs from which it was made.
#[derive(Debug)]
pub(super) struct View {
    pub(super) made_of: Ingredients,
    pub(super) mounts: OwnedFd,
}

/// The inputs of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ingredients {
    /// bubblewrap's options.
    pub(super) options: Vec<OsString>,
    /// Identity of each mount point; `None` where the file system records no creation time, so that a replacement
    /// could not be detected.
    places: Vec<Option<Place>>,
}

/// A file or folder: device, inode number, and creation time, because inode numbers are reused.
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
    /// Makes a view inside these namespaces; `processes` is their `/proc`.
    ///
    /// # Errors
    /// The error message of bubblewrap.
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
        let mut command = command(OsStr::new(THIS_PROGRAM));
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
        // This process must not keep its copies of the child's ends of the pipes.
        drop(command);
        let mounts = bubblewrap::is_quick(&information)
            .and_then(|()| bubblewrap::child(&mut information))
            .and_then(|id| File::open(processes.join(format!("{id}/ns/mnt"))));
        // Lets the child exit. Until here it kept the mount namespace alive.
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

    /// Whether a view made from these inputs would be the same as this one.
    pub(super) fn serves(&self, wanted: &Ingredients) -> bool {
        self.made_of == *wanted && wanted.places.iter().all(Option::is_some)
    }
}
