//! Checks the folders that are named in the form of a loop.

use super::{LoopPage, Which};
use crate::app::shared::{Prompt, Shared};
use crate::run::PlaceReview;
use crate::ui::action::Page;
use crate::ui::theme::Tone;
use crate::worker::ReviewPlace;

/// The debounce time of typing before the folders are checked, in milliseconds.
pub(super) const TYPING_MS: i64 = 150;
/// The time between two checks of folders that are unusable, in milliseconds. The person may create them meanwhile.
const AGAIN_MS: i64 = 2_000;

/// The result of the latest check, and when the next one is due.
#[derive(Debug, Default)]
pub(super) struct LoopFolders {
    seen: Option<PlaceReview>,
    due_ms: Option<i64>,
}

impl LoopPage {
    /// Schedules a check of the folders in the form in `in_ms` milliseconds.
    pub fn look_at_folders(&mut self, in_ms: i64, shared: &Shared) {
        self.folders.due_ms = Some(shared.now.ms + in_ms);
    }

    /// The latest check, if it is about the folders in the form now. The planner in the form may be another one.
    pub fn place(&self) -> Option<&PlaceReview> {
        let place = self.form.place()?;
        self.folders.seen.as_ref().filter(|seen| {
            (&seen.place.workspace, &seen.place.plans) == (&place.workspace, &place.plans)
        })
    }

    /// Milliseconds until the folders are to be checked; `None` if no check is due or the form is not shown.
    pub fn folders_due_in(&self, shared: &Shared) -> Option<i64> {
        let is_seen = shared.page == Page::Loop && self.which == Which::Form;
        let due = self.folders.due_ms.filter(|_| is_seen)?;
        Some((due - shared.now.ms).max(0))
    }

    /// Checks the folders if that is due.
    pub fn look_when_due(&mut self, shared: &mut Shared) {
        if self.folders_due_in(shared) != Some(0) {
            return;
        }
        self.folders.due_ms = None;
        if let Some(place) = self.form.place() {
            shared.ask(ReviewPlace(place), |app, seen| app.loops.take_place(seen, &mut app.shared));
        }
    }

    fn take_place(&mut self, seen: PlaceReview, shared: &mut Shared) {
        let digest = |seen: &PlaceReview| Some(seen.commands.as_ref().ok()?.as_ref()?.digest);
        let before = self.folders.seen.as_ref().and_then(digest);
        if shared.prompt == Some(Prompt::TrustForLoop) && before != digest(&seen) {
            shared.prompt = None;
            shared.notify(
                Tone::Caution,
                "Changed while you were reading: file countersign.toml.",
                "",
                "Look at the commands again, then decide.",
            );
        }
        let faulty = seen.refusal().is_some();
        self.folders.seen = Some(seen);
        if faulty && self.folders.due_ms.is_none() {
            self.look_at_folders(AGAIN_MS, shared);
        }
    }
}
