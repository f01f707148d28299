//! What the form of a loop knows of the folders that it names (SPEC §9, §10).

use super::{LoopPage, Which};
use crate::app::shared::{Prompt, Shared};
use crate::run::PlaceReview;
use crate::ui::action::Page;
use crate::ui::theme::Tone;
use crate::worker::ReviewPlace;

/// How long typing pauses before the folders are looked at, in milliseconds.
pub(super) const TYPING_MS: i64 = 150;
/// How long until folders with which no loop can start are looked at again: they may be made meanwhile.
const AGAIN_MS: i64 = 2_000;

/// What was seen of the folders, and when they are looked at next.
#[derive(Debug, Default)]
pub(super) struct LoopFolders {
    seen: Option<PlaceReview>,
    due_ms: Option<i64>,
}

impl LoopPage {
    /// Has the folders of the form looked at in so many milliseconds.
    pub fn look_at_folders(&mut self, in_ms: i64, shared: &Shared) {
        self.folders.due_ms = Some(shared.now.ms + in_ms);
    }

    /// What was seen of the folders that stand in the form now, also while another planner is being typed.
    pub fn place(&self) -> Option<&PlaceReview> {
        let place = self.form.place()?;
        self.folders.seen.as_ref().filter(|seen| {
            (&seen.place.workspace, &seen.place.plans) == (&place.workspace, &place.plans)
        })
    }

    /// In how many milliseconds the folders are to be looked at; none while the form is not shown.
    pub fn folders_due_in(&self, shared: &Shared) -> Option<i64> {
        let is_seen = shared.page == Page::Loop && self.which == Which::Form;
        let due = self.folders.due_ms.filter(|_| is_seen)?;
        Some((due - shared.now.ms).max(0))
    }

    /// Has the folders looked at when that is due.
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
