//! What the form of a loop knows of the folders that it names (SPEC §9, §10).

use super::looping::Which;
use super::{App, Prompt};
use crate::run::PlaceReview;
use crate::ui::action::Page;
use crate::ui::theme::Tone;
use crate::worker::ReviewPlace;

/// How long typing pauses before the folders are looked at, in milliseconds.
pub(super) const TYPING_MS: i64 = 150;
/// How long until a place where no loop can start is looked at again: it may be made meanwhile.
const AGAIN_MS: i64 = 2_000;

/// What was seen of the folders, and when they are looked at next.
#[derive(Debug, Default)]
pub(super) struct PlaceLook {
    seen: Option<PlaceReview>,
    due_ms: Option<i64>,
}

impl App {
    /// Has the folders of the form looked at in so many milliseconds.
    pub(super) fn look_at_place(&mut self, in_ms: i64) {
        self.looping.place.due_ms = Some(self.now.ms + in_ms);
    }

    /// What was seen of the folders that stand in the form now, also while another planner is being typed.
    pub(super) fn place(&self) -> Option<&PlaceReview> {
        let place = self.looping.form.place()?;
        self.looping.place.seen.as_ref().filter(|seen| {
            (&seen.place.workspace, &seen.place.plans) == (&place.workspace, &place.plans)
        })
    }

    /// In how many milliseconds the folders are to be looked at; none while nobody sees the form.
    pub(super) fn place_due_in(&self) -> Option<i64> {
        let is_seen = self.page == Page::Loop && self.looping.which == Which::Form;
        let due = self.looping.place.due_ms.filter(|_| is_seen)?;
        Some((due - self.now.ms).max(0))
    }

    /// Has the folders looked at once that is due.
    pub(super) fn keep_place(&mut self) {
        if self.place_due_in() != Some(0) {
            return;
        }
        self.looping.place.due_ms = None;
        if let Some(place) = self.looping.form.place() {
            self.ask(ReviewPlace(place), Self::take_place);
        }
    }

    /// Takes in what was seen.
    pub(super) fn take_place(&mut self, seen: PlaceReview) {
        let digest = |seen: &PlaceReview| Some(seen.commands.as_ref().ok()?.as_ref()?.digest);
        let before = self.looping.place.seen.as_ref().and_then(digest);
        if self.prompt == Some(Prompt::TrustPlace) && before != digest(&seen) {
            self.prompt = None;
            self.notify(
                Tone::Caution,
                "Changed while you were reading: file countersign.toml.",
                "",
                "Look at the commands again, then decide.",
            );
        }
        let faulty = seen.refusal().is_some();
        self.looping.place.seen = Some(seen);
        if faulty && self.looping.place.due_ms.is_none() {
            self.look_at_place(AGAIN_MS);
        }
    }
}
