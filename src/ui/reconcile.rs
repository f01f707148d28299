//! What a comparison of interrupted steps with the disk found, wherever it is shown.

use egui::Ui;

use super::icon::{self, Icon};
use super::theme::Tone;
use super::widgets;
use crate::run::{DiskState, Reconciled};

/// One remark for each finding.
pub fn reconciled_ui<'a>(ui: &mut Ui, found: impl IntoIterator<Item = &'a Reconciled>) {
    for found in found {
        let (icon, tone) = look(found.finding);
        let sentence = found.sentence();
        let mut letters = sentence.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let text: String = first.into_iter().chain(letters).chain(['.']).collect();
        widgets::remark(ui, icon, tone, text);
    }
}

fn look(state: DiskState) -> (Icon, Tone) {
    match state {
        DiskState::AsAfter => (icon::DONE, Tone::Safe),
        DiskState::AsBefore | DiskState::Same => (icon::INFO, Tone::Safe),
        DiskState::Neither | DiskState::Absent => (icon::WARNING, Tone::Danger),
        DiskState::WrittenUnchecked
        | DiskState::WrittenInPart
        | DiskState::Unreadable
        | DiskState::NotPredicted => (icon::WARNING, Tone::Caution),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_done_looks_done() {
        for (state, tone) in [
            (DiskState::AsAfter, Tone::Safe),
            (DiskState::WrittenUnchecked, Tone::Caution),
            (DiskState::WrittenInPart, Tone::Caution),
            (DiskState::Neither, Tone::Danger),
        ] {
            assert_eq!(look(state).1, tone, "{state:?}");
        }
    }
}
