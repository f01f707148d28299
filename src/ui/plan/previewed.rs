//! What the header and the dialogs say about the previews of all steps, and about what a run that is over did.

use super::chips::{restorable_chip, visible_list, worst_chip};
use super::{PlanView, step_ranges};
use crate::plan::{ShownStep, ToolClass};
use crate::run::{
    DoneFiles, FileFate, Impact, Outcome, PreviewProgress, PreviewedSteps, Review, StepState,
    cannot_be_restored,
};
use crate::ui::{Chip, Tone, format, icon};

/// A sentence about the steps whose previews are not known; `None` if all are, or none is wanted.
pub(crate) fn not_previewed(previewed: &PreviewedSteps) -> Option<String> {
    let unknown = previewed.unknown();
    if unknown == 0 {
        return None;
    }
    let steps = format::counted(unknown, "step");
    match previewed.progress {
        PreviewProgress::Idle => None,
        PreviewProgress::Computing => {
            Some(format!("What {steps} would do is still being computed."))
        }
        PreviewProgress::Ended => {
            Some(format!("What {steps} would do is computed only when you look at them."))
        }
    }
}

/// The chips about the steps that would fail by their previews, and about those that have none.
pub(super) fn chips(previewed: &PreviewedSteps) -> Vec<Chip> {
    let mut chips = Vec::new();
    let failing: Vec<_> = previewed.failing().iter().map(|index| index + 1).collect();
    if let Some(ends) = previewed.ends_early() {
        let steps = format::counted(failing.len(), "step");
        let tooltip = format!(
            "By what is there now, {} would fail. {ends}",
            step_ranges(&failing).to_lowercase()
        );
        let chip = Chip::new(icon::WARNING, format!("{steps} would fail"), Tone::Danger);
        chips.push(chip.with_tooltip(tooltip));
    }
    // Not while they are computed, which takes moments: the list below must not move twice.
    if previewed.progress == PreviewProgress::Ended
        && let Some(text) = not_previewed(previewed)
    {
        let unknown = format!("{} not previewed", format::count(previewed.unknown() as u64));
        chips.push(Chip::new(icon::INFO, unknown, Tone::Dim).with_tooltip(text));
    }
    chips
}

/// The files that the plan writes, and how many of them it deletes; for a plan of commands, their number.
pub(super) fn planned_files_chip(view: &PlanView<'_>, impact: &Impact) -> Chip {
    let (text, files) = match impact.files.len() {
        0 if view.step_counts.commands > 0 => (
            format::counted(view.step_counts.commands, "command"),
            "What a command changes cannot be predicted.".to_owned(),
        ),
        0 => ("no files".to_owned(), "Writes no file.".to_owned()),
        count => {
            let files = format!("Writes:\n{}", visible_list(&impact.files));
            match view.previewed.deleted() {
                [] => (format::counted(count, "file"), files),
                deleted => {
                    let number = format::count(deleted.len() as u64);
                    let text = format!("{}, {number} deleted", format::counted(count, "file"));
                    (text, format!("Deletes:\n{}", visible_list(deleted)))
                }
            }
        }
    };
    let tone = if view.previewed.deleted().is_empty() { Tone::Dim } else { Tone::Danger };
    Chip::new(icon::FILES, text, tone).with_tooltip(files)
}

/// The chips of a run that is over: what it did. What would be asked, or would fail now, is about another run.
pub(super) fn done_chips(view: &PlanView<'_>, review: &Review) -> Vec<Chip> {
    let steps = view.plan.map_or(&[][..], |plan| plan.steps.as_slice());
    let outcome =
        |step: &ShownStep| view.run.steps.get(step.step_index).and_then(StepState::outcome);
    let commands = steps.iter().filter(|step| {
        step.call.as_ref().is_some_and(|call| call.class() == ToolClass::Command)
            && matches!(outcome(step), Some(Outcome::Succeeded | Outcome::Failed))
    });
    let commands = commands.count();
    let files = view.done.and_then(|done| files_chip(done, commands == 0));
    let mut chips: Vec<Chip> = files.into_iter().collect();
    if commands > 0 {
        let text = format!("ran {}", format::counted(commands, "command"));
        let chip = Chip::new(icon::TERMINAL, text, Tone::Dim);
        chips.push(chip.with_tooltip("What a command changed is not known."));
    }
    chips.extend(worst_chip(review));
    let irreversible = steps.iter().filter(|step| {
        let invoked = [Outcome::Succeeded, Outcome::Failed, Outcome::Cancelled];
        let calls = step.call.as_ref().zip(review.risks.get(step.step_index));
        outcome(step).is_none_or(|outcome| invoked.contains(&outcome))
            && calls.is_some_and(|(call, risk)| cannot_be_restored(call, risk))
            && !matches!(view.run.steps.get(step.step_index), Some(StepState::Waiting))
    });
    chips.push(restorable_chip(irreversible.count()));
    chips
}

/// The files that the run is known to have changed. `is_all` is false if a command ran, which may change any file;
/// `None` if nothing is known then.
fn files_chip(done: &DoneFiles, is_all: bool) -> Option<Chip> {
    let words = [
        (FileFate::New, "created"),
        (FileFate::Replaced, "replaced"),
        (FileFate::Deleted, "deleted"),
        (FileFate::Written, "written"),
    ];
    let count = |fate| done.files.iter().filter(|(_, it)| *it == fate).count();
    let counts = words.map(|(fate, word)| (count(fate), word)).into_iter().filter(|it| it.0 > 0);
    let counts: Vec<_> =
        counts.map(|(count, word)| format!("{} {word}", format::count(count as u64))).collect();
    let text = match (counts.is_empty(), done.is_all && is_all) {
        (true, _) if !is_all => return None,
        (true, true) => "changed no file".to_owned(),
        (true, false) => "changed files".to_owned(),
        (false, true) => format!("files: {}", counts.join(", ")),
        (false, false) => format!("files, at least: {}", counts.join(", ")),
    };
    let names = done.files.iter().map(|(path, fate)| format!("{path}, {}", fate.as_str()));
    let chip = Chip::new(icon::FILES, text, Tone::Dim);
    Some(chip.with_tooltip(visible_list(&names.collect::<Vec<_>>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Phase, RunState};
    use crate::ui::Situation;
    use crate::ui::plan::filter::{KindSources, StepKind};
    use crate::ui::plan::{bar, chips, step_row};
    use crate::ui::tests::scene::Scene;

    /// The steps have changed the files that their plan was compared with: a file that a step created exists.
    #[test]
    fn nothing_is_predicted_to_fail_once_a_run_has_begun() {
        let scene = Scene::new("fails");
        let predicts = |phase: Phase| {
            let run = RunState { phase, ..RunState::default() };
            let view = PlanView { run: &run, ..scene.view().plan.unwrap() };
            let sources = KindSources {
                plan: view.plan.unwrap(),
                review: view.review,
                run: &run,
                looked_at: view.looked_at,
                changed: view.changed,
                previewed: view.previewed,
            };
            let row = step_row(&view, 4).unwrap();
            [
                chips::chips(&view).iter().any(|chip| chip.text.contains("would fail")),
                row.detail.contains("would fail") || row.state.contains("would fail"),
                sources.is(&sources.plan.steps[4], StepKind::Fails),
                bar(&view, &Situation::default()).detail.contains("would fail"),
            ]
        };
        assert_eq!(predicts(Phase::default()), [true; 4]);
        for phase in [Phase::Running, Phase::Paused, Phase::Interrupted] {
            assert_eq!(predicts(phase.clone()), [false; 4], "{phase:?}");
        }
    }

    #[test]
    fn commands_leave_open_which_files_changed() {
        let nothing = DoneFiles { files: Vec::new(), is_all: true };
        assert!(files_chip(&nothing, true).is_some(), "changed no file");
        assert!(files_chip(&nothing, false).is_none(), "a command may have changed any file");
        let files = vec![("a.txt".to_owned(), FileFate::New)];
        assert!(files_chip(&DoneFiles { files, is_all: true }, false).is_some());
    }
}
