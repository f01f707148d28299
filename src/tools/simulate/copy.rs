//! Copies the workspace: the files that git does not ignore, and those that the simulation names.
//!
//! All files are opened through the handle of the workspace, as in every tool. A link is copied as a link,
//! and only when it leads to a place inside, so that no tool can reach the workspace from the copy through
//! a link. Contents are shared with the workspace where the file system supports it (`FICLONE`: Btrfs, XFS
//! and others), and copied otherwise.

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cap_std::fs::{
    Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions,
    PermissionsExt as _,
};

use crate::run::{StopSignal, text};
use crate::tools::ToolError;
use crate::workspace::{
    Access, FileSelection, Kind, Last, Place, Root, SearchBudget, WalkEntry, Workspace,
    check_cancelled, walk_for,
};

use super::error::SimulationError;
use super::links;
use super::settings::Limits;

/// Number of bytes that are copied between two checks for a stop.
const PIECE: u64 = 64 << 20;
/// Maximum number of omitted names that are listed.
const MAX_TOLD: usize = 100;

/// Detects a change of a file. The kernel updates the change time (ctime) at every change of content, mode or
/// name, and no program can set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    pub(super) changed: (i64, i64),
    pub(super) mode: u32,
}

impl Stamp {
    pub(super) fn of(data: &Metadata) -> Self {
        let (inode, size) = (data.ino(), data.size());
        Self { inode, size, changed: (data.ctime(), data.ctime_nsec()), mode: data.mode() }
    }
}

/// A copied file or link: the stamps of the original and of the copy when it was copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) source: Stamp,
    pub(super) copy: Stamp,
    pub(super) is_link: bool,
}

/// The outcome of copying.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// The copied files and links, by path below the workspace.
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    pub(super) folders: u64,
    pub(super) bytes: u64,
    /// Whether the file system shares the contents of at least one file with the workspace.
    pub(super) is_shared: bool,
    /// Names that should have been copied and were not, with the reason; at most [`MAX_TOLD`].
    pub(super) left_out: Vec<String>,
    /// The number of further omissions.
    pub(super) left_out_more: usize,
}

/// Copies the workspace into the empty folder `to`, including the files `named`, whether git ignores them
/// or not.
///
/// # Errors
/// A limit that is exceeded, a file that cannot be read or written, a stop.
pub(super) fn copy(
    workspace: &Workspace,
    to: &Dir,
    named: &[String],
    limits: Limits,
    stop: &StopSignal,
) -> Result<Copied, ToolError> {
    let work = Work {
        workspace,
        from: &workspace.root,
        to,
        limits,
        until: Instant::now().checked_add(limits.time),
        stop,
        names: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        shares: AtomicBool::new(true),
        shared: AtomicBool::new(false),
        done: Mutex::default(),
    };
    let top = workspace.resolve(".", Last::Follow)?;
    walk_for(
        FileSelection::Git,
        &top,
        SearchBudget::unlimited(stop),
        || (),
        |(), step| work.step(step),
    )?;
    if let Some(error) = work.done().error.take() {
        return Err(error);
    }
    for path in named {
        work.name(path)?;
    }
    work.finish()
}

/// A copy in progress, shared by all threads.
struct Work<'a> {
    workspace: &'a Workspace,
    from: &'a Root,
    to: &'a Dir,
    limits: Limits,
    until: Option<Instant>,
    stop: &'a StopSignal,
    names: AtomicU64,
    bytes: AtomicU64,
    /// Whether to try to share contents.
    shares: AtomicBool,
    shared: AtomicBool,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    copied: Copied,
    /// The modes of the folders, set after their contents are copied.
    modes: Vec<(PathBuf, Permissions)>,
    error: Option<ToolError>,
}

impl Work<'_> {
    fn done(&self) -> std::sync::MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&self, step: WalkEntry<'_>) -> ControlFlow<()> {
        let done = match step {
            WalkEntry::Folder(path) => self.folder(path),
            WalkEntry::File(path) => self.file(path),
            WalkEntry::Link(path) => self.link(path),
            WalkEntry::Other(path) => {
                self.leave_out(path, "it is a device, pipe or socket");
                Ok(())
            }
            WalkEntry::Problem(text) => {
                self.leave_out_as(text);
                Ok(())
            }
        };
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                // The first error is the cause; later ones may be consequences.
                self.done().error.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    fn leave_out(&self, path: &Path, why: &str) {
        self.leave_out_as(format!("{}: {why}", self.from.key(path)));
    }

    fn leave_out_as(&self, text: String) {
        let copied = &mut self.done().copied;
        if copied.left_out.len() < MAX_TOLD {
            copied.left_out.push(text);
        } else {
            copied.left_out_more += 1;
        }
    }

    /// Fails at a stop, and when copying takes too long.
    fn goes_on(&self) -> Result<(), ToolError> {
        check_cancelled(self.stop)?;
        if self.until.is_some_and(|until| Instant::now() >= until) {
            let after = text::duration(self.limits.time);
            return Err(SimulationError::TooSlow { after }.into());
        }
        Ok(())
    }

    /// Counts one more name, with this many bytes.
    fn count(&self, bytes: u64) -> Result<(), ToolError> {
        let Limits { names, bytes: most, .. } = self.limits;
        self.goes_on()?;
        if self.names.fetch_add(1, Ordering::Relaxed) >= names {
            return Err(SimulationError::TooMany { limit: names }.into());
        }
        self.count_bytes(bytes, most)
    }

    fn count_bytes(&self, bytes: u64, limit: u64) -> Result<(), ToolError> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before.checked_add(bytes).is_some_and(|all| all <= limit) {
            true => Ok(()),
            false => Err(SimulationError::TooLarge { limit }.into()),
        }
    }

    fn failed(&self, path: &Path) -> impl Fn(io::Error) -> ToolError {
        let path = self.from.key(path);
        move |source| SimulationError::Copy { path: path.clone(), source }.into()
    }

    fn folder(&self, path: &Path) -> Result<(), ToolError> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let Ok(data) = self.from.dir.symlink_metadata(path) else { return Ok(()) };
        self.count(0)?;
        self.to.create_dir(path).map_err(self.failed(path))?;
        let mut done = self.done();
        done.copied.folders += 1;
        done.modes.push((path.to_owned(), Permissions::from_mode(data.mode() & 0o777)));
        Ok(())
    }

    fn file(&self, path: &Path) -> Result<(), ToolError> {
        let key = self.from.key(path);
        let (source, data) = match self.from.open_file(path, &key, Access::Read) {
            Ok(Some(opened)) => opened,
            // The file was removed since its folder was read.
            Ok(None) => return Ok(()),
            // The file is listed as left out, because a tool would fail on it in the workspace too.
            Err(error) => {
                self.leave_out_as(error.to_string());
                return Ok(());
            }
        };
        self.count(data.len())?;
        let mode = data.mode() & 0o777;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let failed = self.failed(path);
        let target = self.to.open_with(path, &options).map_err(&failed)?.into_std();
        self.content(&source, &target, data.len(), path)?;
        if let Ok(modified) = data.modified() {
            // Keep the modification times, because build tools compare them.
            let times = FileTimes::new().set_modified(modified.into_std());
            target.set_times(times).map_err(&failed)?;
        }
        let target = cap_std::fs::File::from_std(target);
        let mut copy = target.metadata().map_err(&failed)?;
        if copy.mode() & 0o777 != mode {
            target.set_permissions(Permissions::from_mode(mode)).map_err(&failed)?;
            copy = target.metadata().map_err(&failed)?;
        }
        let entry = Entry { source: Stamp::of(&data), copy: Stamp::of(&copy), is_link: false };
        self.done().copied.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    fn content(
        &self,
        source: &File,
        target: &File,
        size: u64,
        path: &Path,
    ) -> Result<(), ToolError> {
        if size > 0 && self.shares.load(Ordering::Relaxed) {
            if share(source, target).is_ok() {
                self.shared.store(true, Ordering::Relaxed);
                return Ok(());
            }
            // Sharing will fail for the other files too, and trying takes longer than copying.
            self.shares.store(false, Ordering::Relaxed);
        }
        let mut counted = size;
        let mut copied = 0;
        loop {
            let piece = io::copy(&mut io::Read::take(source, PIECE), &mut { target });
            let piece = piece.map_err(self.failed(path))?;
            copied += piece;
            if copied > counted {
                // The file has grown, or its reported size was wrong.
                self.count_bytes(copied - counted, self.limits.bytes)?;
                counted = copied;
            }
            if piece < PIECE {
                return Ok(());
            }
            self.goes_on()?;
        }
    }

    fn link(&self, path: &Path) -> Result<(), ToolError> {
        let Ok(text) = self.from.dir.read_link_contents(path) else { return Ok(()) };
        let Ok(data) = self.from.dir.symlink_metadata(path) else { return Ok(()) };
        let text = match links::on_copy(self.workspace, path, &text) {
            Ok(text) => text,
            Err(why) => {
                self.leave_out(path, why);
                return Ok(());
            }
        };
        self.count(0)?;
        self.to.symlink_contents(&text, path).map_err(self.failed(path))?;
        let copy = self.to.symlink_metadata(path).map_err(self.failed(path))?;
        let entry = Entry { source: Stamp::of(&data), copy: Stamp::of(&copy), is_link: true };
        self.done().copied.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    fn is_in_workspace(&self, place: &Place<'_>) -> bool {
        std::ptr::eq(place.root, self.from)
    }

    /// Copies the file at a path that the simulation names, whether git ignores it or not. If the file does
    /// not exist yet, only its existing parent folders are created.
    fn name(&self, path: &str) -> Result<(), ToolError> {
        for last in [Last::Keep, Last::Follow] {
            // The tool that uses the path reports what is wrong with it.
            let Ok(place) = self.workspace.resolve(path, last) else { return Ok(()) };
            if !self.is_in_workspace(&place) || self.to.symlink_metadata(&place.relative).is_ok() {
                continue;
            }
            if let (Kind::Folder, Some(above)) = (place.parent, place.relative.parent()) {
                self.to.create_dir_all(above).map_err(self.failed(above))?;
            }
            let is_link = self.from.dir.symlink_metadata(&place.relative);
            match place.kind {
                _ if is_link.is_ok_and(|data| data.is_symlink()) => self.link(&place.relative)?,
                Kind::File => self.file(&place.relative)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Copied, ToolError> {
        let shared = self.shared.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        let to = self.to;
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Folders are handled before their parents, because a folder without search permission blocks access
        // to the folders in it.
        done.modes.sort_by(|(one, _), (other, _)| other.cmp(one));
        for (path, mode) in done.modes {
            let failed = |source| {
                let path = path.to_string_lossy().into_owned();
                ToolError::from(SimulationError::Copy { path, source })
            };
            to.set_permissions(&path, mode).map_err(failed)?;
        }
        done.copied.left_out.sort();
        Ok(Copied { bytes, is_shared: shared, ..done.copied })
    }
}

#[cfg(target_os = "linux")]
fn share(source: &File, target: &File) -> io::Result<()> {
    rustix::fs::ioctl_ficlone(target, source).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
