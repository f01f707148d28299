//! Walks the files below a folder, on several threads, through the root's handle alone.
//!
//! A walk by path would check a name and then open it by name; in between, another process could replace it
//! by a link to anywhere. Here every folder and every ignore list is opened below the root, and no link that
//! leads out of the root is followed. Files are visited in no particular order.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cap_std::fs::OpenOptionsExt as _;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};

use super::ignore_rules::{Folder, Rules};
use super::{
    Counted, FileSelection, Kind, Place, Root, SearchBudget, WorkspaceError, open_beneath,
};

/// Maximum number of threads. More of them would only wait for each other.
const MAX_THREADS: usize = 12;
/// The files of a folder are divided between the threads in groups of this size.
const FILES_AT_ONCE: usize = 64;
/// Maximum number of entries in one folder, because all of them are in memory at once.
const MAX_NAMES: usize = 1_000_000;
/// Matching an entry against this many rules counts as one more entry.
const RULES_AT_ONCE: u64 = 256;
/// A rule counts as this many entries, because it takes as much memory.
const NAMES_FOR_A_RULE: u64 = 20;
/// Maximum size of an ignore list: 1 MiB.
const LIST_BYTES: u64 = 1 << 20;

/// A file of this name with these first bytes marks its folder as one whose contents can be rebuilt
/// (<https://bford.info/cachedir/>). cargo marks its target folder this way.
const CACHE: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// An entry visited by a walk, by its path below the root, or a problem.
pub(crate) enum WalkEntry<'a> {
    /// A folder, before its entries; not reported in a search.
    Folder(&'a Path),
    /// A regular file.
    File(&'a Path),
    /// A link, which is not followed; not reported in a search.
    Link(&'a Path),
    /// A device, pipe or socket; not reported in a search.
    Other(&'a Path),
    /// A message about a folder or an ignore list that could not be read or used.
    Problem(String),
}

/// Calls `visit` for every file below `place` that `selection` selects, until `visit` breaks. Each thread passes its
/// own value from `state`.
///
/// # Errors
/// A limit is reached. A stop is not an error: the walk ends early.
pub(crate) fn walk_for<S>(
    selection: FileSelection,
    place: &Place<'_>,
    budget: SearchBudget<'_>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, WalkEntry<'_>) -> ControlFlow<()> + Sync,
) -> Result<(), WorkspaceError> {
    if place.kind == Kind::File {
        if place.root.hides(&place.relative) {
            return Ok(());
        }
        let _ = visit(&mut state(), WalkEntry::File(&place.relative));
        return Ok(());
    }
    let problem = |text| {
        let _ = visit(&mut state(), WalkEntry::Problem(text));
    };
    let rules = rules_above(place, selection, &problem);
    let first = Work::Folder { relative: place.relative.clone(), rules };
    let walk = Walk {
        root: place.root,
        selection,
        budget,
        queue: Mutex::new(Queue { waiting: vec![first], busy: 0, ended: None }),
        changed: Condvar::new(),
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let work = || walk.work(&mut state(), &visit);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If no other thread can be started, this one does all the work.
            let _ = std::thread::Builder::new().name("search".to_owned()).spawn_scoped(scope, work);
        }
        work();
    });
    match walk.queue.into_inner().unwrap_or_else(PoisonError::into_inner).ended {
        Some(Err(limit)) => Err(limit),
        Some(Ok(())) | None => Ok(()),
    }
}

/// A piece of pending work.
enum Work {
    Folder {
        relative: PathBuf,
        /// The rules that apply to the folder itself, not to its entries.
        rules: Arc<Rules>,
    },
    Files(Vec<PathBuf>),
}

struct Queue {
    waiting: Vec<Work>,
    /// The number of working threads, each of which may add more work.
    busy: usize,
    /// Set when the walk ends early: `Ok` after a break or a stop, `Err` at a limit.
    ended: Option<Result<(), WorkspaceError>>,
}

struct Walk<'a> {
    root: &'a Root,
    selection: FileSelection,
    budget: SearchBudget<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Counts a thread as busy until this is dropped, also when the work panics.
struct Busy<'a>(&'a Walk<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.busy -= 1;
        if queue.busy == 0 {
            self.0.changed.notify_all();
        }
    }
}

impl Walk<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the queue is empty and no busy thread can add to it.
    fn work<S>(&self, state: &mut S, visit: &impl Fn(&mut S, WalkEntry<'_>) -> ControlFlow<()>) {
        let mut visit = |step: WalkEntry<'_>| visit(state, step);
        while let Some((work, _busy)) = self.next() {
            let ended = match work {
                Work::Files(files) => {
                    files.iter().try_for_each(|file| visit(WalkEntry::File(file)))
                }
                Work::Folder { relative, rules } => self.folder(&relative, &rules, &mut visit),
            };
            if ended.is_break() || self.budget.stop.is_set() {
                self.end(Ok(()));
            }
        }
    }

    fn next(&self) -> Option<(Work, Busy<'_>)> {
        let mut queue = self.queue();
        loop {
            // Last in, first out: a depth-first walk keeps the queue short.
            if let Some(work) = queue.waiting.pop() {
                queue.busy += 1;
                return Some((work, Busy(self)));
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self, result: Result<(), WorkspaceError>) {
        let mut queue = self.queue();
        // A limit takes precedence over a break or a stop.
        if result.is_err() || queue.ended.is_none() {
            queue.ended = Some(result);
        }
        queue.waiting.clear();
    }

    /// Counts directory entries; ends the walk and breaks at the limit.
    fn count(&self, names: u64) -> ControlFlow<()> {
        match self.budget.count(Counted::Names, names) {
            Ok(()) => ControlFlow::Continue(()),
            Err(limit) => {
                self.end(Err(limit));
                ControlFlow::Break(())
            }
        }
    }

    fn add(&self, work: Vec<Work>) {
        let mut queue = self.queue();
        if queue.ended.is_none() && !work.is_empty() {
            queue.waiting.extend(work);
            self.changed.notify_all();
        }
    }

    fn folder(
        &self,
        relative: &Path,
        rules: &Arc<Rules>,
        visit: &mut dyn FnMut(WalkEntry<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let listing = match Listing::read(self.root, relative, &|| self.budget.stop.is_set()) {
            Ok(listing) if self.root.own.contains_folder(listing.identity) => {
                return ControlFlow::Continue(());
            }
            Ok(listing) => listing,
            Err(_) if self.budget.stop.is_set() => return ControlFlow::Break(()),
            Err(error) => {
                let text = format!("cannot read {}: {error}", self.root.key(relative));
                return visit(WalkEntry::Problem(text));
            }
        };
        // The folder itself is counted too, so that a tree of empty folders reaches the limit.
        self.count(1 + listing.names.len() as u64)?;
        if self.selection == FileSelection::Git {
            if !relative.as_os_str().is_empty() && self.is_cache(relative, &listing) {
                return ControlFlow::Continue(());
            }
            visit(WalkEntry::Folder(relative))?;
        }
        let problems = RefCell::new(Vec::new());
        let problem = |text| problems.borrow_mut().push(WalkEntry::Problem(text));
        let above = rules;
        let rules = rules_in(self.root, relative, rules, &|name| listing.has(name), &problem);
        self.count(listing.names.len() as u64 * (rules.count() / RULES_AT_ONCE))?;
        self.count((rules.count() - above.count()) * NAMES_FOR_A_RULE)?;
        problems.into_inner().into_iter().try_for_each(&mut *visit)?;
        let mut path = self.root.path.join(relative);
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for (name, kind) in listing.names {
            let is_special = !matches!(kind, FileType::Directory | FileType::RegularFile);
            if is_special && self.selection == FileSelection::Search {
                continue;
            }
            let is_folder = kind == FileType::Directory;
            path.push(&name);
            let left_out = rules.is_ignored(&path, is_folder) || self.root.own.contains(&path);
            path.pop();
            if left_out {
                continue;
            }
            let relative = relative.join(name);
            match kind {
                FileType::Directory => {
                    folders.push(Work::Folder { relative, rules: Arc::clone(&rules) });
                }
                FileType::RegularFile if self.root.hides(&relative) => {}
                FileType::RegularFile => files.push(relative),
                FileType::Symlink => visit(WalkEntry::Link(&relative))?,
                _ => visit(WalkEntry::Other(&relative))?,
            }
        }
        let now = files.split_off(files.len() - files.len().min(FILES_AT_ONCE));
        let later = files.chunks(FILES_AT_ONCE).map(|files| Work::Files(files.to_vec()));
        self.add(folders.into_iter().chain(later).collect());
        now.iter().try_for_each(|file| visit(WalkEntry::File(file)))
    }

    /// Whether a folder is marked as a cache; see `CACHE`.
    fn is_cache(&self, relative: &Path, listing: &Listing) -> bool {
        let (name, signature) = CACHE;
        let has_signature = || {
            let mut options = cap_std::fs::OpenOptions::new();
            options.read(true).custom_flags(nonblocking());
            let file = self.root.dir.open_with(relative.join(name), &options).ok()?.into_std();
            let mut bytes = Vec::new();
            file.take(signature.len() as u64).read_to_end(&mut bytes).ok()?;
            Some(bytes == signature)
        };
        listing.has(name) && has_signature() == Some(true)
    }
}

/// The entries of a folder.
struct Listing {
    /// Device and inode of the folder.
    identity: (u64, u64),
    names: Vec<(PathBuf, FileType)>,
}

impl Listing {
    fn read(root: &Root, relative: &Path, stop: &dyn Fn() -> bool) -> io::Result<Self> {
        let folder = open_beneath::open(&root.dir, relative, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let data = rustix::fs::fstat(&folder)?;
        let identity = (data.st_dev, data.st_ino);
        let mut entries = Dir::new(folder)?;
        let mut names = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not list the type of an entry.
                FileType::Unknown => {
                    match statat(entries.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(data) => FileType::from_raw_mode(data.st_mode),
                        Err(_) => continue,
                    }
                }
                kind => kind,
            };
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            names.push((PathBuf::from(name), kind));
            if names.len().is_multiple_of(10_000) && stop() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if names.len() > MAX_NAMES {
                return Err(io::Error::other(format!("it has more than {MAX_NAMES} names")));
            }
        }
        Ok(Self { identity, names })
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(entry, _)| entry.as_os_str() == name)
    }
}

/// The rules that apply to `place` itself. The lists in the folders above the root apply too, as in ripgrep; a plan
/// cannot choose these folders.
fn rules_above(
    place: &Place<'_>,
    selection: FileSelection,
    problem: &dyn Fn(String),
) -> Arc<Rules> {
    let root = &place.root;
    let mut rules = Rules::of_user(&root.path, selection);
    let mut above: Vec<&Path> = root.path.ancestors().skip(1).collect();
    above.reverse();
    for path in above {
        let has = |name: &str| path.join(name).exists();
        let read = |name: &str| {
            let mut options = File::options();
            options.read(true);
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nonblocking());
            content(options.open(path.join(name))?)
        };
        rules = rules.below(&Folder { path, has: &has, read: &read }, problem);
    }
    let mut folders: Vec<&Path> = place.relative.ancestors().skip(1).collect();
    folders.reverse();
    for folder in folders {
        let has = |name: &str| root.dir.symlink_metadata(folder.join(name)).is_ok();
        rules = rules_in(root, folder, &rules, &has, problem);
    }
    rules
}

/// The rules for the entries of a folder in the root. A list may be a link to another file in the root.
fn rules_in(
    root: &Root,
    relative: &Path,
    rules: &Arc<Rules>,
    has: &dyn Fn(&str) -> bool,
    problem: &dyn Fn(String),
) -> Arc<Rules> {
    let read = |name: &str| {
        let mut options = cap_std::fs::OpenOptions::new();
        options.read(true).custom_flags(nonblocking());
        content(root.dir.open_with(relative.join(name), &options)?.into_std())
    };
    rules.below(&Folder { path: &root.path.join(relative), has, read: &read }, problem)
}

/// The flag without which opening a pipe waits for its other end.
fn nonblocking() -> i32 {
    OFlags::NONBLOCK.bits().cast_signed()
}

fn content(file: File) -> io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(LIST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
