//! Resolves a path in a plan to the one file it means, without reading anything outside the roots (SPEC §4).
//!
//! A path is walked name by name. Links are read and followed here and not by the system, so that a link that
//! leads outside is refused before anything there is touched, and so that a file has one canonical path however
//! it was written. The result is then opened below the root's handle without following links: if a name has
//! become a link since, opening fails.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, MetadataExt as _};

use super::hidden::{self, HiddenFiles, REWRITTEN_BYTES};
use super::own_folders::{self as own, OwnFolders};
use super::{Access, Budget, Kind, WorkspaceError, file, open_beneath};
use crate::run::text::beginning;

/// More links than this in one path are treated as a loop, as on Linux.
const MAX_LINKS: usize = 40;
/// Maximum length of a path in bytes, as on Linux. Longer paths cannot be opened, and resolving them is slow.
const PATH_BYTES: usize = 4096;

/// A folder that tools may access.
pub(crate) struct Root {
    /// Absolute and without links.
    pub(crate) path: PathBuf,
    /// The absolute paths, besides `path`, by which plans may name this root: the path as given, and for a copy
    /// also the paths of its original.
    given: Vec<PathBuf>,
    /// The open handle; every access goes through it.
    pub(crate) dir: Dir,
    /// Whether this root is the workspace, in which canonical paths are relative.
    pub(crate) is_workspace: bool,
    /// The program's own folders, which tools must not access.
    pub(crate) own: Arc<OwnFolders>,
    /// The files that this view of the root does not show; `None` if it shows all.
    pub(crate) hidden: Option<HiddenFiles>,
}

impl Root {
    pub(crate) fn open(path: &Path, is_workspace: bool) -> Result<Self, WorkspaceError> {
        let failed =
            |source| WorkspaceError::OpenRoot { path: path.to_string_lossy().into_owned(), source };
        let given = std::path::absolute(path).map_err(failed)?;
        let path = std::fs::canonicalize(path).map_err(failed)?;
        let dir = open_beneath::open_root(&path).map_err(failed)?;
        Ok(Self { path, given: vec![given], dir, is_workspace, own: Arc::default(), hidden: None })
    }

    /// Opens a copy of the root `original`. A path that names the original then leads into the copy.
    pub(crate) fn open_copy(path: &Path, original: &Self) -> Result<Self, WorkspaceError> {
        let copy = Self::open(path, original.is_workspace)?;
        let given = [copy.given, original.given.clone(), vec![original.path.clone()]].concat();
        let own = Arc::new(original.own.on_copy(&original.path, &copy.path));
        Ok(Self { given, own, ..copy })
    }

    /// Opens the file at `relative`; `None` if it does not exist. `text` and `access` are for the error. A file
    /// that is also in an own folder, by a hard link, is refused, and so is a hidden one.
    pub(crate) fn open_file(
        &self,
        relative: &Path,
        text: &str,
        access: Access,
    ) -> Result<Option<(File, Metadata)>, WorkspaceError> {
        let opened = file::open(&self.dir, relative, text, access)?;
        match &opened {
            Some((_, data)) if self.own.contains_file((data.dev(), data.ino()), data.nlink()) => {
                Err(own::refused(text))
            }
            Some((_, data)) if self.hides_opened(relative, data) => Err(hidden::refused(text)),
            _ => Ok(opened),
        }
    }

    /// Whether this view does not show the file at `relative`, which is also hidden if another of its names is.
    pub(crate) fn hides(&self, relative: &Path) -> bool {
        self.hidden.is_some() && {
            let data = self.dir.symlink_metadata(relative);
            data.map_or(true, |data| self.hides_opened(relative, &data))
        }
    }

    /// The content of a file as this view shows it.
    ///
    /// # Errors
    /// The content is rewritten and has more than [`REWRITTEN_BYTES`].
    pub(crate) fn shown(&self, path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, WorkspaceError> {
        let Some(hidden) = &self.hidden else { return Ok(bytes) };
        if bytes.len() as u64 > REWRITTEN_BYTES {
            let (path, limit) = (path.to_owned(), REWRITTEN_BYTES);
            return Err(WorkspaceError::TooLarge { path, limit, access: Access::Read });
        }
        Ok((hidden.rewrite)(&String::from_utf8_lossy(&bytes)).into_bytes())
    }

    fn hides_opened(&self, relative: &Path, data: &Metadata) -> bool {
        self.hidden
            .as_ref()
            .is_some_and(|hidden| hidden.contains_opened(&self.path, &self.key(relative), data))
    }

    /// The part of a link-free path that is below this root. Compares bytes, because this runs for every name
    /// of every path, and comparing name by name takes ten times as long.
    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let root = self.path.as_os_str().as_bytes();
        let rest = path.as_os_str().as_bytes().strip_prefix(root)?;
        match rest {
            _ if root.ends_with(b"/") => Some(rest),
            [b'/', names @ ..] => Some(names),
            [] => Some(rest),
            _ => None,
        }
        .map(|names| Path::new(OsStr::from_bytes(names)))
    }

    /// The canonical path of `relative`, by which files are compared, reported and recorded.
    pub(crate) fn key(&self, relative: &Path) -> String {
        if !self.is_workspace {
            return self.path.join(relative).to_string_lossy().into_owned();
        }
        let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
        if names.is_empty() { ".".to_owned() } else { names.join("/") }
    }
}

/// Whether a link as the last name of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Follow,
    Keep,
}

/// A resolved path.
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Root,
    /// The path below the root, without links; empty for the root itself.
    pub(crate) relative: PathBuf,
    pub(crate) key: String,
    pub(crate) kind: Kind,
    /// Whether the last name of the path was a link, which was followed.
    pub(crate) through_link: bool,
    /// The links in the workspace that were followed, in this order.
    pub(crate) links: Vec<PathBuf>,
    /// The kind of the file at the parent of the path.
    pub(crate) parent: Kind,
    /// Whether the path leads through something that is not a folder.
    pub(crate) blocked: bool,
}

impl Place<'_> {
    /// Opens the file; `None` if it does not exist. Devices, pipes and sockets are refused without opening
    /// them. `text` and `access` are for the error.
    pub(crate) fn open(
        &self,
        text: &str,
        access: Access,
    ) -> Result<Option<(File, Metadata)>, WorkspaceError> {
        match self.kind {
            Kind::Absent | Kind::File => self.root.open_file(&self.relative, text, access),
            kind => Err(WorkspaceError::NotAFile { path: text.to_owned(), kind, access }),
        }
    }

    /// Notes, besides the diff, for the person who approves that this file is replaced.
    pub(crate) fn notes(
        &self,
        text: &str,
        keeps_mode: bool,
    ) -> Result<Vec<String>, WorkspaceError> {
        let mut notes = Vec::new();
        if let Some((_, data)) = self.open(text, Access::Write)? {
            if keeps_mode && file::is_executable(&data) {
                notes.push(format!("{} is executable and stays so.", self.key));
            }
            if data.nlink() > 1 {
                notes.push(format!(
                    "Its other names (hard links: {}) keep the old content.",
                    data.nlink() - 1
                ));
            }
        }
        Ok(notes)
    }
}

/// One step of the walk along a path.
enum Step {
    Up,
    Down(OsString),
}

/// The position of a link-free path relative to the roots.
enum Located<'a> {
    /// The root, and the path below it.
    Inside(&'a Root, PathBuf),
    /// A folder above one of the roots.
    Above,
    Outside,
}

/// The folders that tools may access: the workspace, and those that the person added.
pub struct Workspace {
    pub(crate) root: Root,
    pub(crate) extra: Vec<Root>,
    pub(crate) budget: Budget,
}

impl Workspace {
    /// The workspace and the other roots. Paths into the program's own folders, `own`, are refused in all of
    /// them.
    pub(crate) fn new(root: Root, extra: Vec<Root>, own: Vec<PathBuf>) -> Self {
        let mut workspace = Self { root, extra, budget: Budget::default() };
        workspace.set_own(own);
        workspace
    }

    fn set_own(&mut self, own: Vec<PathBuf>) {
        let paths: Vec<PathBuf> = self.iter().map(|root| root.path.clone()).collect();
        let own = Arc::new(OwnFolders::new(own, paths.iter().map(PathBuf::as_path)));
        for root in std::iter::once(&mut self.root).chain(&mut self.extra) {
            root.own = Arc::clone(&own);
        }
    }

    /// Adds these folders to the program's own folders, into which paths are refused. Returns all own folders.
    pub(crate) fn add_own_folders(&mut self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let named = self.own_folders().iter().chain(folders);
        let all = own::own_folders(named.map(PathBuf::as_path));
        self.set_own(all.clone());
        all
    }

    /// The program's own folders, which no tool accesses: settings, key, evidence, state, caches.
    pub fn own_folders(&self) -> &[PathBuf] {
        self.root.own.all()
    }

    fn iter(&self) -> impl Iterator<Item = &Root> {
        std::iter::once(&self.root).chain(&self.extra)
    }

    /// The nearest entry with this name in the workspace or a folder above it. Only the existence of the
    /// entry is checked, so that a plan cannot use this to read files outside.
    pub(crate) fn find_upwards(&self, name: &str) -> Option<PathBuf> {
        self.root.path.ancestors().map(|folder| folder.join(name)).find(|path| path.exists())
    }

    fn locate(&self, path: &Path) -> Located<'_> {
        for root in self.iter() {
            if let Some(relative) = root.below(path) {
                return Located::Inside(root, relative.to_owned());
            }
        }
        if self.iter().any(|root| root.path.starts_with(path)) {
            return Located::Above;
        }
        Located::Outside
    }

    /// Resolves `text`, a path as the plan wrote it, in the present state of the file system.
    pub(crate) fn resolve(&self, text: &str, last: Last) -> Result<Place<'_>, WorkspaceError> {
        let bad = |reason| WorkspaceError::BadPath { path: text.to_owned(), reason };
        let outside = || WorkspaceError::Outside { path: text.to_owned() };
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        if text.len() > PATH_BYTES {
            return Err(WorkspaceError::BadPath {
                path: beginning(text),
                reason: "it has more than 4096 bytes",
            });
        }
        if text.contains('\0') {
            return Err(bad("it contains a NUL character"));
        }
        let mut here = self.root.path.clone();
        let mut pending = Vec::new();
        follow(&self.with_canonical_root(Path::new(text)), &mut here, &mut pending);
        let (mut kind, mut parent) = (Kind::Folder, Kind::Folder);
        let (mut blocked, mut through_link) = (false, false);
        let (mut links, mut followed) = (Vec::new(), 0);
        while let Some(step) = pending.pop() {
            let name = match step {
                Step::Down(name) => name,
                Step::Up if kind != Kind::Folder => {
                    return Err(bad("it goes back up from something that is no folder"));
                }
                Step::Up => {
                    here.pop();
                    continue;
                }
            };
            blocked |= matches!(kind, Kind::File | Kind::Other);
            parent = kind;
            here.push(name);
            let (root, relative) = match self.locate(&here) {
                Located::Inside(root, relative) => (root, relative),
                // The paths of roots are canonical, so no folder above a root is a link.
                Located::Above => continue,
                Located::Outside => return Err(outside()),
            };
            if root.own.contains(&here) {
                return Err(own::refused(text));
            }
            if parent != Kind::Folder {
                kind = Kind::Absent;
                continue;
            }
            if relative.as_os_str().is_empty() {
                continue;
            }
            let failed = |source| WorkspaceError::ReadFailed { path: text.to_owned(), source };
            let metadata = match root.dir.symlink_metadata(&relative) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    kind = Kind::Absent;
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            if metadata.is_symlink() && (last == Last::Follow || !pending.is_empty()) {
                followed += 1;
                through_link |= pending.is_empty();
                if followed > MAX_LINKS {
                    return Err(bad("it follows too many links"));
                }
                let target = root.dir.read_link_contents(&relative).map_err(failed)?;
                if root.is_workspace {
                    links.push(relative);
                }
                here.pop();
                follow(&target, &mut here, &mut pending);
            } else {
                kind = Kind::of(&metadata);
                let identity = (metadata.dev(), metadata.ino());
                let is_own = match kind {
                    Kind::Folder => root.own.contains_folder(identity),
                    Kind::File => root.own.contains_file(identity, metadata.nlink()),
                    Kind::Absent | Kind::Other => false,
                };
                if is_own {
                    return Err(own::refused(text));
                }
            }
        }
        let Located::Inside(root, relative) = self.locate(&here) else { return Err(outside()) };
        if root.own.contains(&here) {
            return Err(own::refused(text));
        }
        if kind == Kind::File && text.ends_with('/') {
            return Err(bad("it ends in a slash, but is a file"));
        }
        if here.to_str().is_none() {
            return Err(bad("it leads to a name that is not UTF-8"));
        }
        let key = root.key(&relative);
        Ok(Place { key, root, relative, kind, through_link, links, parent, blocked })
    }

    /// Replaces the beginning of a path by the canonical path of a root, if it is one of the other paths of that
    /// root. Other paths are returned unchanged.
    fn with_canonical_root(&self, path: &Path) -> PathBuf {
        self.iter()
            .flat_map(|root| root.given.iter().map(move |given| (root, given)))
            .find_map(|(root, given)| Some(root.path.join(path.strip_prefix(given).ok()?)))
            .unwrap_or_else(|| path.to_owned())
    }
}

/// Puts the names of `path` before those that are still pending. An absolute path resets `here` to the file
/// system's root.
fn follow(path: &Path, here: &mut PathBuf, pending: &mut Vec<Step>) {
    let mut steps = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => *here = PathBuf::from(prefix.as_os_str()),
            Component::RootDir if here.is_absolute() => while here.pop() {},
            Component::RootDir => here.push(std::path::MAIN_SEPARATOR_STR),
            Component::CurDir => {}
            Component::ParentDir => steps.push(Step::Up),
            Component::Normal(name) => steps.push(Step::Down(name.to_owned())),
        }
    }
    pending.extend(steps.into_iter().rev());
}
