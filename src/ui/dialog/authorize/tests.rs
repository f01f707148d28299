//! What the dialog says about steps and files, and which steps it folds.

use super::sentences::chosen;
use super::*;
use crate::authorization::{Binding, RunChoices, WallSetting};
use crate::plan::ToolCall;
use crate::risk::RiskLevel;
use crate::run::{DecidedBy, PreconditionState, Preview, PreviewProgress, PreviewedStep};
use crate::ui::tests::{fixture, signing};

#[test]
fn names_of_files_have_each_code_point_once_and_no_line_break() {
    let mut review = fixture::review(&fixture::plan());
    review.impact.files = vec!["pаypal.txt".to_owned(), "two\nlines".to_owned()];
    let rows = Entries::of_files(&review, &[FileFate::Written; 2]).rows(80, str::len);
    let texts: Vec<_> = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(texts, ["pа⟨U+0430⟩ypal.txt", "two⟨U+000A⟩lines"]);
}

#[test]
fn no_warning_about_no_step() {
    let (plan, mut review) = (fixture::plan(), fixture::review(&fixture::plan()));
    assert_eq!(lasting(&plan, &review), "Step 4");
    review.risks.truncate(3);
    assert_eq!(lasting(&plan, &review), "");
}

#[test]
fn steps_are_grouped_by_reason() {
    let asks = ["a", "", "b", "a", "a", "", "a", "a", "a"];
    let asks = asks.map(|reason| (!reason.is_empty()).then(|| reason.to_owned()));
    assert_eq!(by_reason(&asks), ["Steps 1, 4, 5, 7–9: a", "Step 3: b"]);
}

fn view(plan: &ShownPlan, review: &Review) -> AuthorizeView {
    let (plan, review) = (plan.clone().into(), review.clone().into());
    AuthorizeView::new(plan, review, None, None, None, 60_000, &PreviewedSteps::default())
}

/// The steps that stay listed while the others are folded; all if none are folded.
fn listed(plan: &ShownPlan, review: &Review) -> Vec<usize> {
    let view = view(plan, review);
    let listed = view.unfolded.as_ref().unwrap_or(&view.steps);
    listed.rows(80, str::len).iter().filter_map(|row| row.numbers.1).collect()
}

fn long() -> (ShownPlan, Review) {
    let plan = signing::long_plan();
    let mut review = fixture::review(&plan);
    signing::none_exists(&plan, &mut review);
    (plan, review)
}

#[test]
fn only_unremarkable_reads_are_folded() {
    let (plan, review) = long();
    let before = listed(&plan, &review);
    assert_eq!(before.len(), 130, "125 files are created, and five reads ask");
    let all = view(&plan, &review).steps.rows(80, str::len);
    assert_eq!(all.iter().filter_map(|row| row.numbers.1).count(), 500);
    assert!(!before.contains(&1) && before.contains(&2) && before.contains(&100));

    let with = |change: &dyn Fn(&mut ShownPlan, &mut Review)| {
        let (mut plan, mut review) = (plan.clone(), review.clone());
        change(&mut plan, &mut review);
        let after = listed(&plan, &review);
        after.into_iter().filter(|number| !before.contains(number)).collect::<Vec<_>>()
    };
    let walls = |plan: &ShownPlan| signing::walls(plan);
    assert_eq!(with(&|_, review| review.asks[0] = Some("You chose it.".to_owned())), [1]);
    assert_eq!(
        with(&|_, review| review.risks[2].level = RiskLevel::Caution),
        [3],
        "for example a sensitive file"
    );
    let fails = PreconditionState::Fails { found: "it is absent".to_owned() };
    assert_eq!(with(&|_, review| review.preconditions[3 - 1] = fails.clone()), [3]);
    assert_eq!(
        with(&|plan, review| {
            let mut found = walls(plan);
            for step in found.steps.iter_mut().skip(1) {
                *step = None;
            }
            review.walls = Some(found);
        }),
        [1],
        "a step that starts a program"
    );
    let path = "src/p\u{430}rser.rs".to_owned();
    let alike = ToolCall::FileRead { path };
    assert_eq!(with(&|plan, _| plan.steps[0].call = Some(alike.clone())), [1]);
    let command = ToolCall::Shell {
        command: "ls".to_owned(),
        target: None,
        cwd: None,
        timeout_seconds: None,
        inputs: Vec::new(),
    };
    assert_eq!(with(&|plan, _| plan.steps[4].call = Some(command.clone())), [5]);
    assert_eq!(with(&|plan, _| plan.steps[6].call = None), [7], "a faulty step");
    // A short plan is shown as it is.
    let mut short = plan.clone();
    short.steps.truncate(40);
    assert_eq!(listed(&short, &review), (1..=40).collect::<Vec<_>>());
}

#[test]
fn a_step_with_right_to_left_text_is_marked_and_not_folded() {
    let (mut plan, review) = long();
    let folded = (0..plan.steps.len()).find(|index| !listed(&plan, &review).contains(&(index + 1)));
    let index = folded.unwrap();
    plan.steps[index].arguments.insert("path".to_owned(), "\u{5D0}.txt".to_owned());
    assert!(listed(&plan, &review).contains(&(index + 1)));
    let rows = view(&plan, &review).steps.rows(80, str::len);
    let row = rows.into_iter().find(|row| row.numbers.1 == Some(index + 1)).unwrap();
    assert!(row.beside.unwrap().note.ends_with("right-to-left text"));
}

#[test]
fn lines_of_a_change_are_shown_only_where_they_are_known() {
    let (plan, mut review) = (fixture::plan(), fixture::review(&fixture::plan()));
    let beside = |review: &Review, known: &dyn Fn(usize) -> Option<Preview>, number| {
        let mut previewed = PreviewedSteps::new(plan.steps.len());
        for index in 0..plan.steps.len() {
            if let Some(preview) = known(index) {
                previewed.store(index, PreviewedStep::of(&preview));
            }
        }
        let (plan, review) = (plan.clone().into(), review.clone().into());
        let view = AuthorizeView::new(plan, review, None, None, None, 60_000, &previewed);
        let rows = view.steps.rows(80, str::len);
        let row = rows.into_iter().find(|row| row.numbers.1 == Some(number));
        row.and_then(|row| row.beside).map(|beside| (beside.note, beside.tone)).unwrap()
    };
    let note = |review: &Review, known: &dyn Fn(usize) -> Option<Preview>, number| {
        beside(review, known, number).0
    };
    let none = |_| None;
    let all = |index| Some(fixture::preview(&plan, index));
    assert_eq!(note(&review, &none, 3), "caution · asks", "no preview yet");
    assert_eq!(note(&review, &all, 3), "+3 −1 · caution · asks");
    let failing = |it| (it == 2).then(|| Preview::failure("it is absent", Vec::new()));
    assert_eq!(note(&review, &failing, 3), "caution · asks · would fail");
    assert_eq!(beside(&review, &failing, 3).1, Tone::Danger, "not the tone of its risk");
    assert_eq!(beside(&review, &all, 3).1, Tone::Caution);
    // The lines of a new file are in the plan.
    assert_eq!(note(&review, &none, 5), "+9 −0 · caution");
    review.binding.inputs.insert("CHANGELOG.md".into(), FileState::Content(plan.digest));
    assert_eq!(note(&review, &none, 5), "caution");
}

#[test]
fn findings_are_warnings_first_and_none_is_an_error() {
    use crate::plan::Code;
    let (plan, review) = (fixture::plan(), fixture::review(&fixture::plan()));
    let finding = |severity, pointer: &str, text: &str| {
        Finding::new(severity, Code::FileNotFound, pointer, text)
    };
    let findings = [
        finding(Severity::Note, "", "a note"),
        finding(Severity::Error, "", "an error"),
        finding(Severity::Warning, "/steps/2/arguments/path", "a\u{202e} warning"),
    ];
    let view = view(&plan, &review).with_findings(&findings);
    let warning = "a⟨U+202E⟩ warning (step 3, arguments.path)".to_owned();
    assert_eq!(view.findings, [(true, warning), (false, "A note".to_owned())]);
}

#[test]
fn only_steps_have_numbers() {
    let plan = fixture::command_plan();
    let mut review = fixture::review(&plan);
    review.walls = Some(signing::walls(&plan));
    let rows = view(&plan, &review).steps.rows(80, str::len);
    let walls = rows.iter().filter(|row| {
        row.beside
            .as_ref()
            .is_some_and(|beside| beside.icon == Some(WALLS) && row.numbers.1.is_none())
    });
    assert_eq!(walls.count(), 3);
    let numbers: Vec<_> = rows.iter().filter_map(|row| row.numbers.1).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn steps_that_would_fail_and_unknown_ones_are_named() {
    let mut previewed = PreviewedSteps::new(400);
    assert!(remarks(&previewed).is_empty(), "nothing is computed");
    previewed.progress = PreviewProgress::Computing;
    let failure = |why: &str| PreviewedStep::of(&Preview::failure(why, Vec::new()));
    previewed.store(6, failure("a.md exists already"));
    let remark = |index: usize, previewed: &PreviewedSteps| remarks(previewed)[index].1.clone();
    let one = "Step 7 would fail now: a.md exists already. The run would end at step 7; the 393 steps behind it would not run.";
    assert_eq!(remark(0, &previewed), one);
    assert_eq!(remark(1, &previewed), "What 399 steps would do is still being computed.");
    previewed.store(7, failure("b.md exists already"));
    previewed.progress = PreviewProgress::Ended;
    let two = "Steps 7, 8 would fail now. The run would end at step 7; the 393 steps behind it would not run.";
    assert_eq!(remark(0, &previewed), two);
    let rest = "What 398 steps would do is computed only when you look at them.";
    assert_eq!(remark(1, &previewed), rest);
}

#[test]
fn what_it_covers_names_the_choices_and_the_grants() {
    let plan = fixture::plan();
    let mut binding = fixture::review(&plan).binding;
    let values = |binding: &Binding| chosen(binding).map(|(_, value)| value);
    assert_eq!(values(&binding), ["when needed", "as in the settings"]);
    binding.choices = RunChoices { ask_every_step: true, walls: Some(WallSetting::Required) };
    binding.grants.network = true;
    assert_eq!(values(&binding), ["before every step", "required; beyond them: network"]);
}

#[test]
fn an_earlier_rejection_is_named() {
    let rejection = PlanRejection {
        authorization_id: Uuid::nil(),
        plan_digest: fixture::plan().digest,
        plan_id: "p".into(),
        plan_name: "p".into(),
        workspace: "/w".into(),
        reason: "It deletes the gulls.".into(),
        by: DecidedBy { place: "window".into(), user: Some("ada".into()) },
        timestamp_ms: fixture::now().ms,
        changed: false,
    };
    let plan = fixture::plan();
    let view = view(&plan, &fixture::review(&plan));
    assert!(view.rejected.is_empty());
    let rejected = view.with_rejection(Some(&rejection), &fixture::now()).rejected;
    assert!(rejected.starts_with("Rejected in the window by ada, "), "{rejected}");
    assert!(rejected.ends_with(": It deletes the gulls."), "{rejected}");
}
