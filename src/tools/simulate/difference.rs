//! Finds all changes on the copy, whether a tool has reported them or not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::copy::Copied;
use super::stamp::Stamp;
use crate::authorization::FileState;
use crate::run::{Diff, FileChange, StopSignal};
use crate::tools::Toolbox;
use crate::workspace::{
    Access, FileSelection, Kind, Last, Root, SearchBudget, WalkEntry, Workspace, WorkspaceError,
    check_cancelled, diff, file, walk_for,
};

/// Maximum number of changed files that are listed.
pub(super) const MAX_CHANGES: usize = 1_000;
/// Maximum number of other changes that are listed.
const MAX_OTHERS: usize = 100;

/// The changes on the copy.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// The changed files, sorted by path; at most [`MAX_CHANGES`].
    pub(super) changes: Vec<FileChange>,
    /// The number of further changed files.
    pub(super) left_out: usize,
    /// Changes other than file contents, and warnings about incomplete results; at most [`MAX_OTHERS`].
    pub(super) others: Vec<String>,
    /// The number of further ones.
    pub(super) others_left_out: usize,
}

/// Compares the copy with the workspace. Of the copied files only those are read that may have changed since
/// `mark`. New files are found by the same walk as for copying, and by the paths that the simulation names.
///
/// # Errors
/// A file that cannot be read; a stop.
pub(super) fn difference(
    toolbox: &Toolbox,
    copy: &Toolbox,
    copied: &Copied,
    mark: Stamp,
    named: &[String],
    stop: &StopSignal,
) -> Result<Difference, WorkspaceError> {
    let mut comparison = Comparison {
        from: &toolbox.files.root,
        to: &copy.files.root,
        copied,
        mark,
        stop,
        difference: Difference::default(),
    };
    let mut candidates = comparison.touched()?;
    let (files, links) = new_files_and_links(copy, copied, stop)?;
    for link in &links {
        comparison.difference.add(|| format!("{} is a new link", comparison.to.key(link)));
    }
    candidates.extend(files);
    for path in named {
        let Ok(place) = copy.resolve(path, Last::Follow) else { continue };
        if place.kind == Kind::File && std::ptr::eq(place.root, comparison.to) {
            candidates.insert(place.relative);
        }
    }
    for path in candidates {
        check_cancelled(stop)?;
        comparison.compare(&path)?;
    }
    comparison.difference.changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(comparison.difference)
}

/// The files and the links on the copy that were not copied.
fn new_files_and_links(
    workspace: &Workspace,
    copied: &Copied,
    stop: &StopSignal,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), WorkspaceError> {
    let found = Mutex::<(Vec<PathBuf>, Vec<PathBuf>)>::default();
    let top = workspace.resolve(".", Last::Follow)?;
    let visit = |(): &mut (), step: WalkEntry<'_>| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            WalkEntry::File(path) if !copied.entries.contains_key(path) => {
                found.0.push(path.to_owned())
            }
            WalkEntry::Link(path) if !copied.entries.contains_key(path) => {
                found.1.push(path.to_owned())
            }
            _ => {}
        }
        if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    walk_for(FileSelection::Git, &top, SearchBudget::unlimited(stop), || (), visit)?;
    check_cancelled(stop)?;
    let (files, mut links) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    links.sort();
    Ok((files, links))
}

/// A comparison in progress.
struct Comparison<'a> {
    /// The folder of the workspace.
    from: &'a Root,
    /// The folder of the copy.
    to: &'a Root,
    copied: &'a Copied,
    mark: Stamp,
    stop: &'a StopSignal,
    difference: Difference,
}

/// One file, in the workspace or on the copy.
struct Side {
    state: FileState,
    size: Option<u64>,
    /// `None` if the file is absent, or too large for a diff of its lines.
    bytes: Option<Vec<u8>>,
}

impl Comparison<'_> {
    /// The copied files that may have changed. Adds the changes of links and modes to the difference.
    fn touched(&mut self) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        let mut touched = BTreeSet::new();
        for (path, entry) in &self.copied.entries {
            check_cancelled(self.stop)?;
            let now = self.to.dir.symlink_metadata(path).ok();
            let stamp = now.as_ref().map(Stamp::of);
            // A file whose change time is not before that of the mark may have changed after it was copied.
            if stamp == Some(entry.copy) && entry.copy.changed < self.mark.changed {
                continue;
            }
            let key = self.to.key(path);
            let difference = &mut self.difference;
            match now {
                Some(data) if entry.is_link && data.is_symlink() => {
                    if stamp != Some(entry.copy) {
                        difference.add(|| format!("the link {key} was changed"));
                    }
                    continue;
                }
                _ if entry.is_link => difference.add(|| format!("{key} is no longer a link")),
                Some(data) if data.is_file() => {
                    let modes = [entry.copy.mode, Stamp::of(&data).mode].map(|mode| mode & 0o777);
                    if let [before, after] = modes
                        && before != after
                    {
                        difference
                            .add(|| format!("the mode of {key} is {after:o} and was {before:o}"));
                    }
                }
                Some(_) => difference.add(|| format!("{key} is no longer a file")),
                None => {}
            }
            touched.insert(path.clone());
        }
        Ok(touched)
    }

    /// Adds the change of one file, if it has one.
    fn compare(&mut self, path: &Path) -> Result<(), WorkspaceError> {
        let key = self.to.key(path);
        let after = self.side(self.to, path, &key)?;
        let before = self.side(self.from, path, &key)?;
        if before.state == after.state {
            return Ok(());
        }
        if self.difference.changes.len() >= MAX_CHANGES {
            self.difference.left_out += 1;
            return Ok(());
        }
        let copied = self.copied.entries.get(path).map(|entry| entry.source);
        let now = self.from.dir.symlink_metadata(path).ok().as_ref().map(Stamp::of);
        if copied != now {
            self.difference.add(|| {
                format!(
                    "{key} was changed in the workspace meanwhile; the difference is against its present content there"
                )
            });
        }
        let is_shown = |side: &Side| side.bytes.is_some() || side.state == FileState::Absent;
        let diff = match is_shown(&before) && is_shown(&after) {
            true => diff::diff(before.bytes.as_deref(), after.bytes.as_deref()),
            false => Diff::Binary { before_bytes: before.size, after_bytes: after.size },
        };
        let (before, after) = (before.state, after.state);
        self.difference.changes.push(FileChange { path: key, before, after, diff });
        Ok(())
    }

    /// The state of a file in the workspace or on the copy. Links that stay inside are followed.
    fn side(&self, root: &Root, path: &Path, key: &str) -> Result<Side, WorkspaceError> {
        let absent = Side { state: FileState::Absent, size: None, bytes: None };
        let opened = match file::open(&root.dir, path, key, Access::Read) {
            Ok(opened) => opened,
            // The file was replaced by something else, which `touched` has reported.
            Err(WorkspaceError::NotAFile { .. }) => None,
            Err(_) if root.dir.symlink_metadata(path).is_ok_and(|data| data.is_symlink()) => None,
            Err(error) => return Err(error),
        };
        let Some((file, data)) = opened else { return Ok(absent) };
        let size = Some(data.len());
        if usize::try_from(data.len()).is_ok_and(|size| size <= diff::MAX_BYTES) {
            let bytes = file::read(file, key, Access::Read)?;
            return Ok(Side {
                state: file::state_of_bytes(Some(&bytes)),
                size,
                bytes: Some(bytes),
            });
        }
        Ok(Side { state: file::state_within(Some(file), key, u64::MAX)?, size, bytes: None })
    }
}

impl Difference {
    /// Adds a change other than that of a file's content, or only counts it above the limit.
    fn add(&mut self, text: impl FnOnce() -> String) {
        if self.others.len() < MAX_OTHERS {
            self.others.push(text());
        } else {
            self.others_left_out += 1;
        }
    }

    /// Takes the changes other than file contents, as warnings. The last one reports how many are above the limit.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.others);
        if self.others_left_out > 0 {
            warnings.push(format!("{} further such changes are left out", self.others_left_out));
        }
        warnings
    }

    /// The changed files that `earlier` does not have, or has with another content. The origin of changes above the
    /// limit is unknown, so `left_out` counts all of them.
    pub(super) fn since(self, earlier: &Self) -> Self {
        let before: BTreeMap<_, _> =
            earlier.changes.iter().map(|change| (change.path.as_str(), change.after)).collect();
        let is_new = |change: &FileChange| before.get(change.path.as_str()) != Some(&change.after);
        let changes = self.changes.into_iter().filter(is_new).collect();
        let left_out = self.left_out.max(earlier.left_out);
        Self { changes, left_out, ..Self::default() }
    }
}

/// The changes that a verification made, from the differences after and before it.
pub(super) fn by_verification(
    after: Result<Difference, WorkspaceError>,
    before: &Difference,
) -> Difference {
    match after {
        Ok(after) => after.since(before),
        // The changes of a stopped verification do not matter.
        Err(WorkspaceError::Cancelled) => Difference::default(),
        Err(error) => Difference {
            others: vec![format!("what the verification changed is not known: {error}")],
            ..Difference::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Digest;

    fn changed(paths: &[&str], left_out: usize) -> Difference {
        let change = |path: &&str| FileChange {
            path: (*path).to_owned(),
            before: FileState::Absent,
            after: FileState::Content(Digest::of(path.as_bytes())),
            diff: Diff::Binary { before_bytes: None, after_bytes: None },
        };
        let changes = paths.iter().map(change).collect();
        Difference { changes, left_out, ..Difference::default() }
    }

    #[test]
    fn verification_changes_keep_omissions_and_errors() {
        let before = changed(&["a"], 0);
        let fields = |after| {
            let Difference { changes, left_out, others, .. } = by_verification(after, &before);
            let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
            (paths.join(" "), left_out, others.join(" "))
        };
        assert_eq!(fields(Ok(changed(&["a", "b"], 0))), ("b".to_owned(), 0, String::new()));
        assert_eq!(fields(Ok(changed(&["a", "b"], 7))), ("b".to_owned(), 7, String::new()));
        assert_eq!(fields(Err(WorkspaceError::Cancelled)), Default::default());
        let (paths, _, why) = fields(Err(WorkspaceError::Outside { path: "b".to_owned() }));
        assert!(paths.is_empty() && why.contains("is not known: "), "{why}");
        let earlier = changed(&[], 3);
        assert_eq!(by_verification(Ok(changed(&["b"], 0)), &earlier).left_out, 3);
    }

    #[test]
    fn other_changes_are_limited_and_counted() {
        let mut difference = Difference::default();
        (0..MAX_OTHERS + 5).for_each(|number| difference.add(|| number.to_string()));
        let warnings = difference.warnings();
        assert_eq!(warnings.len(), MAX_OTHERS + 1);
        assert_eq!(warnings[MAX_OTHERS], "5 further such changes are left out");
    }
}
