//! Finds all changes on the copy, whoever made them and whether they were predicted or not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::authorization::FileState;
use crate::run::{Diff, FileChange, StopSignal};

use crate::tools::Toolbox;
use crate::workspace::{
    Access, Choice, Kind, Last, Root, SearchBudget, Step, Workspace, WorkspaceError, diff, file,
    go_on, walk_for,
};

use super::copy::{Copied, Stamp};

/// Most changed files that are listed.
pub(super) const MAX_CHANGES: usize = 1_000;
/// Most other changes that are listed.
const MAX_BESIDES: usize = 100;

/// The changes on the copy.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// By path.
    pub(super) changes: Vec<FileChange>,
    /// The number of further changed files.
    pub(super) left_out: usize,
    /// Changes other than file contents, and warnings about incomplete results; at most [`MAX_BESIDES`].
    pub(super) besides: Vec<String>,
    /// The number of further ones.
    pub(super) besides_left_out: usize,
}

/// Compares the copy with the workspace. Only those copied files are read that were touched since `mark`.
/// New files are found by the same walk as for copying, and by the names in the plan.
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
    let mut look = Look {
        from: &toolbox.files.root,
        to: &copy.files.root,
        copied,
        mark,
        stop,
        found: Difference::default(),
    };
    let mut candidates = look.touched()?;
    let (new, links) = new(copy, copied, stop)?;
    for link in &links {
        look.found.add(|| format!("{} is a new link", look.to.key(link)));
    }
    candidates.extend(new);
    for path in named {
        let Ok(place) = copy.resolve(path, Last::Follow) else { continue };
        if place.kind == Kind::File && std::ptr::eq(place.root, look.to) {
            candidates.insert(place.relative);
        }
    }
    for path in candidates {
        go_on(stop)?;
        look.compare(&path)?;
    }
    look.found.changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(look.found)
}

/// The files and links on the copy that were not copied.
fn new(
    workspace: &Workspace,
    copied: &Copied,
    stop: &StopSignal,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), WorkspaceError> {
    let found = Mutex::<(Vec<PathBuf>, Vec<PathBuf>)>::default();
    let top = workspace.resolve(".", Last::Follow)?;
    let visit = |(): &mut (), step: Step<'_>| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Step::File(path) if !copied.entries.contains_key(path) => found.0.push(path.to_owned()),
            Step::Link(path) if !copied.entries.contains_key(path) => found.1.push(path.to_owned()),
            _ => {}
        }
        if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    walk_for(Choice::Git, &top, SearchBudget::of_run(stop), || (), visit)?;
    go_on(stop)?;
    let (files, mut links) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    links.sort();
    Ok((files, links))
}

struct Look<'a> {
    from: &'a Root,
    to: &'a Root,
    copied: &'a Copied,
    mark: Stamp,
    stop: &'a StopSignal,
    found: Difference,
}

/// One file, in the workspace or on the copy.
struct Side {
    state: FileState,
    size: Option<u64>,
    /// `None` where it is absent, or too large for a comparison of lines.
    bytes: Option<Vec<u8>>,
}

impl Look<'_> {
    /// The copied files that may have changed.
    fn touched(&mut self) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        let mut touched = BTreeSet::new();
        for (path, entry) in &self.copied.entries {
            go_on(self.stop)?;
            let now = self.to.dir.symlink_metadata(path).ok();
            let stamp = now.as_ref().map(Stamp::of);
            // A file that was copied at the very time of the mark may also have changed at that time.
            if stamp == Some(entry.copy) && entry.copy.changed < self.mark.changed {
                continue;
            }
            let key = self.to.key(path);
            let found = &mut self.found;
            match now {
                Some(data) if entry.is_link && data.is_symlink() => {
                    if stamp != Some(entry.copy) {
                        found.add(|| format!("the link {key} was changed"));
                    }
                    continue;
                }
                _ if entry.is_link => found.add(|| format!("{key} is no longer a link")),
                Some(data) if data.is_file() => {
                    let modes = [entry.copy.mode, Stamp::of(&data).mode].map(|mode| mode & 0o777);
                    if let [before, after] = modes
                        && before != after
                    {
                        found.add(|| format!("the mode of {key} is {after:o} and was {before:o}"));
                    }
                }
                Some(_) => found.add(|| format!("{key} is no longer a file")),
                None => {}
            }
            touched.insert(path.clone());
        }
        Ok(touched)
    }

    fn compare(&mut self, path: &Path) -> Result<(), WorkspaceError> {
        let key = self.to.key(path);
        let after = self.side(self.to, path, &key)?;
        let before = self.side(self.from, path, &key)?;
        if before.state == after.state {
            return Ok(());
        }
        if self.found.changes.len() >= MAX_CHANGES {
            self.found.left_out += 1;
            return Ok(());
        }
        let then = self.copied.entries.get(path).map(|entry| entry.source);
        let now = self.from.dir.symlink_metadata(path).ok().as_ref().map(Stamp::of);
        if then != now {
            self.found.add(|| {
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
        self.found.changes.push(FileChange { path: key, before, after, diff });
        Ok(())
    }

    /// The state of a file in the workspace or on the copy. Links are followed as long as they stay inside.
    fn side(&self, root: &Root, path: &Path, key: &str) -> Result<Side, WorkspaceError> {
        let absent = Side { state: FileState::Absent, size: None, bytes: None };
        let opened = match file::open(&root.dir, path, key, Access::Read) {
            Ok(opened) => opened,
            // The file was replaced by something else, which is reported separately.
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
    /// Adds a change other than a file's content, or counts it.
    fn add(&mut self, text: impl FnOnce() -> String) {
        if self.besides.len() < MAX_BESIDES {
            self.besides.push(text());
        } else {
            self.besides_left_out += 1;
        }
    }

    /// The changes other than file contents, and how many there are above the limit.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.besides);
        if self.besides_left_out > 0 {
            warnings.push(format!("{} further such changes are left out", self.besides_left_out));
        }
        warnings
    }

    /// The changes that are not in `earlier`, or differ there. Above the limit it is not known whose a change is;
    /// the number left out has all of them.
    pub(super) fn since(self, earlier: &Self) -> Self {
        let before: BTreeMap<_, _> =
            earlier.changes.iter().map(|change| (change.path.as_str(), change.after)).collect();
        let is_new = |change: &FileChange| before.get(change.path.as_str()) != Some(&change.after);
        let changes = self.changes.into_iter().filter(is_new).collect();
        let left_out = self.left_out.max(earlier.left_out);
        Self { changes, left_out, ..Self::default() }
    }
}

/// What a verification changed, from the difference after it and the one before.
pub(super) fn by_verification(
    after: Result<Difference, WorkspaceError>,
    before: &Difference,
) -> Difference {
    match after {
        Ok(after) => after.since(before),
        // After a stopped verification its changes do not matter.
        Err(WorkspaceError::Cancelled) => Difference::default(),
        Err(error) => Difference {
            besides: vec![format!("what the verification changed is not known: {error}")],
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
        let told = |after| {
            let Difference { changes, left_out, besides, .. } = by_verification(after, &before);
            let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
            (paths.join(" "), left_out, besides.join(" "))
        };
        assert_eq!(told(Ok(changed(&["a", "b"], 0))), ("b".to_owned(), 0, String::new()));
        assert_eq!(told(Ok(changed(&["a", "b"], 7))), ("b".to_owned(), 7, String::new()));
        assert_eq!(told(Err(WorkspaceError::Cancelled)), Default::default());
        let (paths, _, why) = told(Err(WorkspaceError::Outside { path: "b".to_owned() }));
        assert!(paths.is_empty() && why.contains("is not known: "), "{why}");
        let earlier = changed(&[], 3);
        assert_eq!(by_verification(Ok(changed(&["b"], 0)), &earlier).left_out, 3);
    }

    #[test]
    fn other_changes_are_limited_and_counted() {
        let mut found = Difference::default();
        (0..MAX_BESIDES + 5).for_each(|number| found.add(|| number.to_string()));
        let warnings = found.warnings();
        assert_eq!(warnings.len(), MAX_BESIDES + 1);
        assert_eq!(warnings[MAX_BESIDES], "5 further such changes are left out");
    }
}
