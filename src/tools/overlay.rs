//! What earlier steps of a plan would leave behind, so that a later step can be previewed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{ToolCall, ToolClass};
use crate::run::HistoryEntry;

use super::place::Place;
use super::preview::prepare;
use super::write::Existing;
use super::{Kind, ToolError, Toolbox, batch, history, splice};

/// Files as the earlier steps of a plan would leave them, by canonical path; `None` is absent.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    files: BTreeMap<String, Option<Arc<[u8]>>>,
    /// What the steps among them that take changes back would leave in the records.
    pub(super) done: Vec<HistoryEntry>,
    /// Whether one of them would leave any other change there.
    pub(super) edited: bool,
}

impl Overlay {
    /// What no step leaves.
    pub fn nothing() -> &'static Self {
        static NOTHING: Overlay =
            Overlay { files: BTreeMap::new(), done: Vec::new(), edited: false };
        &NOTHING
    }

    /// Whether an earlier step leaves something at this canonical path.
    pub(super) fn has(&self, key: &str) -> bool {
        self.files.contains_key(key)
    }

    /// Adds a file as an earlier step would leave it.
    pub(super) fn put(&mut self, key: String, content: Option<Arc<[u8]>>) {
        self.files.insert(key, content);
    }

    /// What is left, by canonical path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.files.iter().map(|(key, content)| (key.as_str(), content.as_deref()))
    }

    /// Whether no earlier step leaves anything.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds what `call` would leave behind; a call that would fail leaves nothing, and of a splice plan
    /// what it did before.
    ///
    /// # Errors
    /// A path that cannot be used or leads outside.
    pub fn apply(&mut self, toolbox: &Toolbox, call: &ToolCall) -> Result<(), ToolError> {
        self.edited |= call.class() != ToolClass::Read && !matches!(call, ToolCall::History { .. });
        let (path, contents, existing) = match call {
            ToolCall::FileWrite { path, contents } => (path, contents, Existing::Replace),
            ToolCall::FileCreate { path, contents } => (path, contents, Existing::Refuse),
            ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => {
                return match splice::leave(toolbox, self, call) {
                    Err(error) if error.is_about_the_plan() => Err(error),
                    _ => Ok(()),
                };
            }
            ToolCall::MutateBatch(batch) => return batch::leave(toolbox, self, batch),
            ToolCall::History { operation, .. } => {
                return match history::leave(toolbox, self, operation) {
                    Err(error) if error.is_about_the_plan() => Err(error),
                    _ => Ok(()),
                };
            }
            _ => return Ok(()),
        };
        match prepare(toolbox, self, path, existing) {
            Ok(prepared) => {
                self.files.insert(prepared.place.key, Some(Arc::from(contents.as_bytes())));
                Ok(())
            }
            Err(error) if error.is_about_the_plan() => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// What an earlier step leaves at this canonical path; `None` when none touches it.
    pub(super) fn get(&self, key: &str) -> Option<Option<&Arc<[u8]>>> {
        self.files.get(key).map(Option::as_ref)
    }

    /// What `place` is after the earlier steps.
    pub(super) fn kind(&self, place: &Place<'_>) -> Kind {
        match self.files.get(&place.key) {
            Some(Some(_)) => Kind::File,
            Some(None) => Kind::Absent,
            None if place.kind == Kind::Absent && self.has_below(&place.key) => Kind::Folder,
            None => place.kind,
        }
    }

    /// Whether an earlier step leaves a file below this folder.
    pub(super) fn has_below(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        self.files
            .range(prefix.clone()..)
            .take_while(|(key, _)| key.starts_with(&prefix))
            .any(|(_, content)| content.is_some())
    }

    /// Whether an earlier step leaves a file where a folder on the way to `key` would have to be.
    pub(super) fn blocks(&self, key: &str) -> bool {
        key.match_indices('/').any(|(end, _)| {
            key.get(..end).is_some_and(|folder| matches!(self.files.get(folder), Some(Some(_))))
        })
    }
}
