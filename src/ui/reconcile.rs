//! The results of comparing interrupted steps with the disk, for all pages that show them.

use egui::Ui;

use uuid::Uuid;

use super::{Action, EvidenceAction, Icon, Look, Tone, icon, widgets};
use crate::run::text::capitalized;
use crate::run::{DiskState, Reconciled, SettleMode, sentences};

/// Shows each result as a remark; files with the same result share one.
pub fn reconciled_ui<'a>(ui: &mut Ui, found: impl IntoIterator<Item = &'a Reconciled>) {
    for (finding, sentence) in sentences(found) {
        let (icon, tone) = look(finding);
        widgets::remark(ui, icon, tone, format!("{}.", capitalized(&sentence)));
    }
}

/// The texts and the tooltips of the buttons.
const SETTLE_BUTTONS: [(SettleMode, &str, &str); 2] = [
    (
        SettleMode::RollBack,
        "Roll back the files…",
        "Open a plan that restores the files as they were before the step. It needs your authorization.",
    ),
    (
        SettleMode::Finish,
        "Finish the step…",
        "Open a plan that writes the files as the step was to write them. It needs your authorization.",
    ),
];

/// Buttons for the plans that settle the files of interrupted steps: those that would still change or remove a file.
pub fn settle_ui(
    ui: &mut Ui,
    run_id: Option<Uuid>,
    found: &[Reconciled],
    actions: &mut Vec<Action>,
) {
    let Some(run_id) = run_id else { return };
    let open: Vec<_> = SETTLE_BUTTONS.iter().filter(|(way, ..)| way.is_open(found)).collect();
    if open.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        for (way, text, tooltip) in open {
            if widgets::tooltip_button(ui, Look::Plain, None, text, tooltip) {
                actions.push(Action::Evidence(EvidenceAction::Settle(run_id, *way)));
            }
        }
    });
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
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn both_plans_are_offered_while_files_differ() {
        let row = |finding| Reconciled {
            execution_id: Uuid::nil(),
            step_id: "s".to_owned(),
            step_index: 0,
            tool_name: "mutate_batch".to_owned(),
            path: Some("a".to_owned()),
            before: None,
            after: None,
            now: None,
            finding,
            leftover: None,
        };
        let some = [row(DiskState::AsBefore), row(DiskState::AsAfter)];
        let run_id = Uuid::new_v4();
        let actions = std::cell::RefCell::new(Vec::new());
        let mut harness = Harness::new_ui(|ui| {
            settle_ui(ui, Some(run_id), &some, &mut actions.borrow_mut());
        });
        for (label, way) in [
            ("Roll back the files…", SettleMode::RollBack),
            ("Finish the step…", SettleMode::Finish),
        ] {
            harness.get_by_label(label).focus();
            harness.run();
            harness.key_press(egui::Key::Enter);
            harness.run();
            let done = actions.borrow_mut().pop();
            assert_eq!(done, Some(Action::Evidence(EvidenceAction::Settle(run_id, way))));
        }
        let none = [row(DiskState::Neither)];
        let harness = Harness::new_ui(|ui| settle_ui(ui, Some(run_id), &none, &mut Vec::new()));
        assert!(harness.query_by_label("Roll back the files…").is_none());
    }

    #[test]
    fn only_confirmed_writes_look_done() {
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
