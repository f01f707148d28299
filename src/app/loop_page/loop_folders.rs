//! Checks the folders in the form of a new loop.

use super::{LoopContent, LoopPage};
use crate::app::shared::{Prompt, Shared};
use crate::run::PlaceReview;
use crate::ui::{Page, Tone};
use crate::worker::ReviewLoopFolders;

/// The time without typing before the folders are checked, in milliseconds.
pub(super) const TYPING_DEBOUNCE_MS: i64 = 150;
/// The time between two checks while no loop can start in the folders, in milliseconds. The person may correct them
/// meanwhile.
const RECHECK_MS: i64 = 2_000;

/// The result of the latest check, and when the next one is due.
#[derive(Debug, Default)]
pub(super) struct LoopFolders {
    latest: Option<PlaceReview>,
    due_ms: Option<i64>,
}

impl LoopPage {
    /// Schedules a check of the folders in the form in `in_ms` milliseconds.
    pub fn schedule_folder_check(&mut self, in_ms: i64, shared: &Shared) {
        self.folders.due_ms = Some(shared.now.ms + in_ms);
    }

    /// The result of the latest check, if it is about the folders now in the form. The planner may differ.
    pub fn folder_review(&self) -> Option<&PlaceReview> {
        let place = self.form.place()?;
        self.folders.latest.as_ref().filter(|review| {
            (&review.place.workspace, &review.place.plans) == (&place.workspace, &place.plans)
        })
    }

    /// The milliseconds until the next check; `None` if none is scheduled or the form is not shown.
    pub fn folder_check_due_in(&self, shared: &Shared) -> Option<i64> {
        let form_is_shown = shared.page == Page::Loop && self.content == LoopContent::Form;
        let due_ms = self.folders.due_ms.filter(|_| form_is_shown)?;
        Some((due_ms - shared.now.ms).max(0))
    }

    /// Checks the folders if a check is due.
    pub fn check_folders_when_due(&mut self, shared: &mut Shared) {
        if self.folder_check_due_in(shared) != Some(0) {
            return;
        }
        self.folders.due_ms = None;
        if let Some(place) = self.form.place() {
            shared.query(ReviewLoopFolders(place), |app, review| {
                app.loop_page.store_folder_review(review, &mut app.shared);
            });
        }
    }

    /// Stores the result of a check, and schedules the next one if no loop can start. The dialog about the commands of
    /// the workspace is closed if they have changed.
    fn store_folder_review(&mut self, review: PlaceReview, shared: &mut Shared) {
        let digest = |review: &PlaceReview| Some(review.commands.as_ref().ok()?.as_ref()?.digest);
        let previous = self.folders.latest.as_ref().and_then(digest);
        if shared.prompt == Some(Prompt::TrustForLoop) && previous != digest(&review) {
            shared.prompt = None;
            shared.notify_here(
                Tone::Caution,
                "The dialog was closed, because this changed: file countersign.toml.",
                "",
                "Review the commands again, then reopen the dialog.",
            );
        }
        let is_refused = review.refusal().is_some();
        self.folders.latest = Some(review);
        if is_refused && self.folders.due_ms.is_none() {
            self.schedule_folder_check(RECHECK_MS, shared);
        }
    }
}
