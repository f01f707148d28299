//! A view of the file system, shared by the steps of a run that have the same walls.
//!
//! bubblewrap makes a view in a mount namespace that these steps join: the first view of a run together with
//! the run's other namespaces, every later view inside them. A mount disappears when a process outside removes the
//! file or folder on which it is mounted, so a view is reused only while all mount points are unchanged.

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
use crate::process::running::anonymous_file;
use crate::process::{command, tree};

/// A program that exits at once, because bubblewrap must start a program.
const EXIT_AT_ONCE: [&str; 3] = ["/bin/sh", "-c", ":"];

/// A mount namespace, and the inputs from which it was made.
#[derive(Debug)]
pub(super) struct View {
    pub(super) inputs: ViewInputs,
    pub(super) mounts: OwnedFd,
}

/// The inputs of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ViewInputs {
    /// bubblewrap's options.
    pub(super) options: Vec<OsString>,
    /// The identity of each mount point; `None` if it does not exist, or if the file system records no creation time,
    /// so that a replacement could not be detected.
    identities: Vec<Option<Identity>>,
}

/// Identifies a file or folder: device, inode number, and creation time, because inode numbers are reused.
type Identity = (u64, u64, SystemTime);

impl ViewInputs {
    pub(super) fn new(options: Vec<OsString>, table: &Table) -> Self {
        let identity = |data: Metadata| Some((data.dev(), data.ino(), data.created().ok()?));
        let identities = table
            .entries()
            .map(|(path, _)| path.symlink_metadata().ok().and_then(identity))
            .collect();
        Self { options, identities }
    }
}

impl View {
    /// Makes a view with bubblewrap (`program`) in the namespaces `within`, whose `/proc` is `processes`.
    ///
    /// # Errors
    /// The error message of bubblewrap, or an error of the operating system.
    pub(super) fn make(
        inputs: ViewInputs,
        program: &Path,
        within: Vec<OwnedFd>,
        processes: &Path,
    ) -> io::Result<Self> {
        let (mut information, information_end) = io::pipe()?;
        let (block_end, hold) = io::pipe()?;
        let stderr = anonymous_file()?;
        let (information_end, block_end) =
            (OwnedFd::from(information_end), OwnedFd::from(block_end));
        let mut command = command(OsStr::new(THIS_PROGRAM));
        command
            .args([COMMAND, work::VIEW])
            .args(within.iter().flat_map(|it| option::descriptor(option::JOIN, it)))
            .args([END.as_ref(), program.as_os_str()])
            .args(option::descriptor(bubblewrap::INFORMATION, &information_end))
            .args(option::descriptor(bubblewrap::BLOCK, &block_end))
            .args(&inputs.options)
            .arg(END)
            .args(EXIT_AT_ONCE)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr.try_clone()?);
        let inherited = within.into_iter().chain([information_end, block_end]).collect();
        tree::plain_session_with(&mut command, inherited);
        let mut child = command.spawn()?;
        // This process must not keep its copies of the child's ends of the pipes.
        drop(command);
        let mounts = bubblewrap::wait_for_output(&information)
            .and_then(|()| bubblewrap::child_id(&mut information))
            .and_then(|id| File::open(processes.join(format!("{id}/ns/mnt"))));
        // The child can exit now. Until here it kept the mount namespace alive.
        drop(hold);
        if mounts.is_err() {
            child.kill()?;
        }
        let status = child.wait()?;
        match mounts {
            Ok(mounts) if status.success() => Ok(Self { inputs, mounts: mounts.into() }),
            _ => Err(io::Error::other(bubblewrap::error_text(stderr))),
        }
    }

    /// Whether this view can be used for these inputs: they are the same, and every mount point has an identity.
    pub(super) fn matches(&self, wanted: &ViewInputs) -> bool {
        self.inputs == *wanted && wanted.identities.iter().all(Option::is_some)
    }
}
