//! The open record of the evidence page.

use uuid::Uuid;

use super::evidence_page::EvidencePage;
use super::shared::Shared;
use crate::run::ExecutionDetail;
use crate::ui::EvidenceAction;

impl EvidencePage {
    /// Stores the record that was read, if its execution is still selected.
    pub(super) fn take_execution(&mut self, detail: &ExecutionDetail) {
        if self.selected == Some(detail.row.execution_id) && !self.shows_team() {
            (self.detail, self.unreadable) = (Some(detail.clone()), None);
        }
    }

    /// Notes why the record of this execution could not be read.
    pub(super) fn take_failure(&mut self, id: Uuid, why: String) {
        if !self.shows_team() {
            self.unreadable = Some((id, why));
        }
    }

    /// Why the selected record cannot be shown; `None` if it can, or was not read yet.
    pub(super) fn why_unreadable(&self) -> Option<&str> {
        let of_selected = self.unreadable.as_ref().filter(|(id, _)| Some(*id) == self.selected);
        of_selected.map(|(_, why)| why.as_str())
    }

    /// The execution of the open record, if it belongs to this run.
    pub(super) fn open_record_of(&self, run_id: Uuid) -> Option<Uuid> {
        let row = &self.detail.as_ref()?.row;
        (row.run_id == run_id).then_some(row.execution_id)
    }

    /// Opens the record `by` rows below the open one. If none is open, opens the first.
    pub(super) fn move_selection(&mut self, by: isize, shared: &mut Shared) {
        if self.shows_team() {
            return self.move_in_team(by, shared);
        }
        let listed = self.listed();
        let position = |id| listed.iter().position(|listed| *listed == id);
        let index = match self.selected.and_then(position) {
            Some(index) => index.saturating_add_signed(by).min(listed.len().saturating_sub(1)),
            None => 0,
        };
        let Some(id) = listed.get(index).copied() else { return };
        self.apply(EvidenceAction::Open(id), shared);
        self.scroll_to_selected = true;
    }
}
