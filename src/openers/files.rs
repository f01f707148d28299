//! The files that a format refers to without their text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::plan::{Digest, Edit};

/// The files around a file that is opened. Only those are read that it refers to.
pub trait Files {
    /// The path of the workspace.
    fn workspace(&self) -> &str;

    /// The text of a file of the workspace; `None` if there is none.
    ///
    /// # Errors
    /// Why it cannot be read as text.
    fn text(&self, path: &str) -> Result<Option<String>, String>;

    /// The file beside the opened one whose name has this ending in place of `.json`; `None` if there is none.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn beside(&self, ending: &str) -> Result<Option<Beside>, String>;
}

/// A file beside the one that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The folder of both.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// No files, for what was not read from a folder.
pub struct NoFiles;

impl Files for NoFiles {
    fn workspace(&self) -> &str {
        ""
    }

    fn text(&self, path: &str) -> Result<Option<String>, String> {
        Err(format!("{path} can be read only once the workspace is chosen"))
    }

    fn beside(&self, _: &str) -> Result<Option<Beside>, String> {
        Ok(None)
    }
}

/// Texts of files that are read when they are first needed, and then changed, in the order of the file that is opened.
pub(super) struct Texts<'f> {
    files: &'f dyn Files,
    known: BTreeMap<String, Known>,
    /// The bytes of texts that were read for changes.
    spent: usize,
}

/// The most bytes of texts that are read for the changes of one file: 256 MiB.
const MAX_BYTES: usize = 256 << 20;

/// The text of a file before and after the changes so far; `None` where there is no file.
#[derive(Default)]
struct Known {
    before: Option<String>,
    now: Option<String>,
}

impl<'f> Texts<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, known: BTreeMap::new(), spent: 0 }
    }

    /// A path as plans name it: relative to the workspace if it is inside.
    pub(super) fn path<'p>(&self, path: &'p str) -> &'p str {
        let inside = path.strip_prefix(self.files.workspace()).and_then(|it| it.strip_prefix('/'));
        inside.filter(|rest| !rest.is_empty() && path.starts_with('/')).unwrap_or(path)
    }

    fn known(&mut self, path: &str) -> Result<&mut Known, String> {
        // Two spellings of one file would be two files here, and a diff cannot name all characters.
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        let inside = path.strip_prefix('/').unwrap_or(path);
        if !inside.split('/').all(is_plain) || path.contains(char::is_control) {
            return Err(format!("{path:?} is no plain path of a file"));
        }
        // Not `entry(…).or_insert_with(…)`, because reading may fail.
        match self.known.entry(path.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let text = self.files.text(path)?;
                Ok(new.insert(Known { before: text.clone(), now: text }))
            }
        }
    }

    /// Whether a file is there now.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn exists(&mut self, path: &str) -> Result<bool, String> {
        Ok(self.known(path)?.now.is_some())
    }

    /// The text of a file as it is now.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub(super) fn now(&mut self, path: &str) -> Result<&mut String, String> {
        let now = self.known(path)?.now.as_mut();
        now.ok_or_else(|| format!("{path} is not in the workspace"))
    }

    /// Counts bytes of texts that are read again for one change after the other, so that a small file cannot ask for hours
    /// of work.
    ///
    /// # Errors
    /// They are too many.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent <= MAX_BYTES {
            Ok(())
        } else {
            Err("it changes large files too many times".to_owned())
        }
    }

    /// Notes the text of a file that is made, replaced or deleted as a whole, whether or not it could be read.
    pub(super) fn set(&mut self, path: &str, text: Option<String>) {
        match self.known(path) {
            Ok(known) => known.now = text,
            Err(_) => {
                self.known.insert(path.to_owned(), Known { before: None, now: text });
            }
        }
    }

    /// The digest of a file before all changes; `None` if there was none, or it was not read.
    pub(super) fn digest(&self, path: &str) -> Option<Digest> {
        Some(Digest::of(self.known.get(path)?.before.as_ref()?.as_bytes()))
    }

    /// An edit for each file whose text was changed, and the digests of those that were there.
    ///
    /// # Errors
    /// An edit is too long for a plan.
    pub(super) fn into_edits(self) -> Result<(Vec<Edit>, BTreeMap<String, Digest>), String> {
        let (mut edits, mut digests) = (Vec::new(), BTreeMap::new());
        for (path, Known { before, now }) in self.known {
            let edit = match (before, now) {
                (before, now) if before == now => continue,
                (None, Some(contents)) => Edit::Create { path: path.clone(), contents },
                (Some(before), Some(now)) => {
                    digests.insert(path.clone(), Digest::of(before.as_bytes()));
                    Edit::patch(&path, &before, &now)
                }
                (_, None) => Edit::Delete { path: path.clone() },
            };
            if edit.is_too_long() {
                return Err(format!("the change of {path} is longer than a plan can have"));
            }
            edits.push(edit);
        }
        Ok((edits, digests))
    }
}
