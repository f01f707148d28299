//! Snapshots of the texts of the rows and the bar, and tests of wrapped lines and output.

mod bar;
mod layout;
mod narrow;

use std::fmt::Write as _;

use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::run::{RunEvent, RunState, Stream};
use crate::ui::scroll::OnScreen;
use crate::ui::tests::fixture;
use crate::ui::{Command, Situation, Text};

fn page(approval: &Approval, run: &RunState, situation: &Situation) -> String {
    let plan = fixture::plan();
    let review = fixture::review(&plan);
    let now = fixture::now();
    let view = PlanView {
        revision: RevisionView::default(),
        path: None,
        digest: plan.digest,
        plan: Some(&plan),
        step_counts: StepCounts::of(&plan),
        choices: None,
        findings: &[],
        done: None,
        review: Some(&review),
        review_id: uuid::Uuid::nil(),
        approval,
        reviews: ReviewsView::default(),
        rejected: None,
        run,
        output: &RunOutput::default(),
        in_inbox: false,
        proposed_name: None,
        proposed_by: None,
        asked_until_ms: None,
        session_decided: None,
        agent_acts: false,
        last_run: None,
        continues: None,
        attempt: None,
        other_plan: None,
        other_runs: None,
        recorded: None,
        of_loop: None,
        prequel: None,
        sequel: None,
        reconciled: &[],
        selected: 0,
        scroll_to_selected: false,
        list: &StepList::default(),
        tab: Tab::default(),
        looked_at: &LookedAt::default(),
        changed: &ChangedSteps::default(),
        card: None,
        preview: None,
        previewed: &Default::default(),
        simulation: None,
        contents: &Default::default(),
        execution: None,
        now: &now,
    };
    let mut text = String::new();
    for index in 0..plan.steps.len() {
        let row = step_row(&view, index).unwrap();
        let risk = row.risk.map_or("", |(level, _)| level.as_str());
        let duration = row.duration.unwrap_or_default();
        let _ = writeln!(
            text,
            "{} {} | {} {} | {} | {risk} | {duration}",
            row.number, row.state, row.verb, row.object, row.detail
        );
    }
    let bar = bar(&view, situation);
    let _ = writeln!(text, "{}: {}", bar.title, bar.detail);
    let _ = write!(text, "{:?} then {:?}", bar.primary, bar.others);
    text
}

fn step_started(step_id: String, step_index: usize, timestamp_ms: i64) -> RunEvent {
    let (tool_name, about) = Default::default();
    RunEvent::StepStarted { step_id, step_index, tool_name, about, timestamp_ms }
}

#[test]
fn an_open_plan() {
    let text = page(&Approval::None, &RunState::default(), &Situation::default());
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_asks() {
    let run = fixture::asking(&fixture::plan());
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    let situation = Situation { running: true, asking: Some(2), ..Situation::default() };
    insta::assert_snapshot!(page(&used, &run, &situation));
}

/// The bar of a plan beside the run of another one, and of one in the queue.
#[test]
fn a_plan_can_be_queued_while_another_one_runs() {
    let approved =
        Approval::Approved { at_ms: fixture::NOW_MS, until_ms: fixture::NOW_MS + 60_000 };
    let bar_of = |approval: &Approval, situation: &Situation| {
        let text = page(approval, &RunState::default(), situation);
        text.lines().rev().take(2).collect::<Vec<_>>().join("\n")
    };
    let beside = Situation { running: true, approved: true, ..Situation::default() };
    let queued = Situation { queue_place: Some(1), queued: 2, ..beside.clone() };
    let held = Situation { running: false, queue_held: true, ..queued.clone() };
    let in_loop = Situation { running: false, looping: true, ..beside.clone() };
    for (approval, situation, texts) in [
        (&Approval::None, &beside, ["Another plan runs", "Some(Authorize)"]),
        (&approved, &beside, ["Another plan runs", "Some(Enqueue)"]),
        (&approved, &queued, ["This plan is queued: number 2.", "Unqueue]"]),
        (&approved, &held, ["Queued: number 2", "Some(GoOnQueue) then [Unqueue]"]),
        (&approved, &in_loop, ["Authorized", "Some(Enqueue)"]),
        (
            &approved,
            &Situation { approved: true, ..Situation::default() },
            ["Authorized", "Some(Run)"],
        ),
    ] {
        let bar = bar_of(approval, situation);
        assert!(texts.iter().all(|text| bar.contains(text)), "{bar}");
    }
}

#[test]
fn a_run_that_failed() {
    let run = fixture::failed(&fixture::plan());
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    insta::assert_snapshot!(page(&used, &run, &Situation::default()));
}

#[test]
fn the_bar_has_the_first_line_of_an_error() {
    let mut run = fixture::failed(&fixture::plan());
    run.failure.as_mut().expect("an error").1.push_str("\nStack backtrace:");
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    let text = page(&used, &run, &Situation::default());
    assert!(text.contains("Failed at step") && !text.contains("backtrace"), "{text}");
}

#[test]
fn a_run_that_completed() {
    let run = fixture::completed(&fixture::plan());
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    insta::assert_snapshot!(page(&used, &run, &Situation::default()));
}

fn ended_with(outcomes: &[crate::run::Outcome], end: Option<RunEvent>) -> String {
    let plan = fixture::plan();
    let mut run = RunState::default();
    run.apply(&RunEvent::RunStarted {
        run_id: uuid::Uuid::nil(),
        plan_id: String::new(),
        step_count: outcomes.len(),
        timestamp_ms: 0,
    });
    for (index, outcome) in outcomes.iter().enumerate() {
        let result = fixture::result(&plan, index, *outcome, 1);
        run.apply(&RunEvent::StepCompleted { result });
    }
    match end {
        Some(end) => run.apply(&end),
        None => run.interrupt(),
    }
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    let text = page(&used, &run, &Situation::default());
    let status = crate::ui::StatusView::new(&run, 0, None, None).text;
    let from = text.lines().count() - 2;
    let bar: Vec<_> = text.lines().skip(from).collect();
    format!("{status} | {}", bar.join(" | "))
}

#[test]
fn an_ending_tells_what_ran() {
    use crate::run::Outcome::{Denied, DoneByHand, Skipped, Succeeded};
    let completed = || Some(RunEvent::RunCompleted { step_count: 2 });
    let bar = ended_with(&[Skipped, Skipped], completed());
    assert!(bar.starts_with("Completed, nothing ran | Completed, nothing ran: 2 skipped"), "{bar}");
    let bar = ended_with(&[Skipped, DoneByHand], completed());
    assert!(bar.contains("Completed: 1 skipped, 1 done by hand"), "{bar}");
    let (code, message) = (crate::plan::Code::ConfirmationDenied, "denied".to_owned());
    let bar = ended_with(&[Succeeded, Denied], Some(RunEvent::RunFailed { code, message }));
    assert!(bar.starts_with("Denied | Denied at step 2: 1 succeeded. denied |"), "{bar}");
}

#[test]
fn a_run_that_ended_between_steps_has_nothing_to_reconcile() {
    let bar = ended_with(&[crate::run::Outcome::Succeeded], None);
    assert!(bar.contains("Interrupted between steps: 1 of 1 done, nothing is uncertain"), "{bar}");
    assert!(!bar.contains("Reconcile"), "{bar}");
}

#[test]
fn a_void_approval_says_what_changed() {
    let change = Change { what: "file src/lib.rs".into(), approved: "a".into(), now: "b".into() };
    let void = Approval::Void(vec![change.clone(), change]);
    let text = page(&void, &RunState::default(), &Situation::default());
    assert!(
        text.contains("The authorization is void: Changed since: file src/lib.rs and 1 more"),
        "{text}"
    );
}

#[test]
fn a_plan_that_cannot_be_authorized_says_why() {
    let situation = Situation {
        not_authorizable: Some("Correct the errors listed above."),
        ..Situation::default()
    };
    let text = page(&Approval::None, &RunState::default(), &situation);
    assert!(text.contains("Cannot be authorized: Correct the errors listed above."), "{text}");
}

#[test]
fn long_lines_are_wrapped_and_nothing_is_lost() {
    let line = "x".repeat(1_000) + "\u{202E}end";
    let pieces = wrap::wrap(&line, 80);
    assert!(pieces.iter().all(|piece| piece.chars().count() <= 80));
    assert_eq!(pieces.concat(), format!("{}⟨U+202E⟩end", "x".repeat(1_000)));
    assert_eq!(wrap::wrap("", 80), [""]);
    let words = "seven in these months, and the rest of the year stays as it is";
    assert_eq!(wrap::wrap(words, 20).concat(), words);
    assert_eq!(wrap::wrap("one two three four", 15), ["one two three ", "four"]);
}

#[test]
fn output_keeps_its_streams_apart() {
    use crate::run::Stream::{Stderr, Stdout};
    let transcript = printed(&[(Stdout, "a"), (Stdout, "b\nc\n"), (Stderr, "bad\n")]);
    let rows = output_lines(&transcript, 2, 80);
    let rows: Vec<_> = rows.iter().map(|row| (row.text.as_str(), row.stderr)).collect();
    assert_eq!(rows, [("ab", false), ("c", false), ("bad", true)]);
    assert!(output_lines(&transcript, 1, 80).is_empty(), "output of other steps is not shown");
}

/// Output of the second step, then these chunks of the third.
fn printed(chunks: &[(Stream, &str)]) -> Transcript {
    let mut transcript = Transcript::default();
    let step_id = String::new;
    let output = |(stream, chunk): &(Stream, &str)| RunEvent::StepOutput {
        step_id: step_id(),
        stream: *stream,
        chunk: (*chunk).to_owned(),
    };
    let started = |step_index| step_started(step_id(), step_index, 0);
    transcript.apply(&started(1));
    transcript.apply(&output(&(Stream::Stdout, "other\n")));
    transcript.apply(&started(2));
    chunks.iter().for_each(|chunk| transcript.apply(&output(chunk)));
    transcript
}

#[test]
fn colours_continue_in_wrapped_output() {
    let transcript = printed(&[(Stream::Stdout, "plain \x1b[31mred words that go on\x1b[0m end")]);
    let rows = output_lines(&transcript, 2, 12);
    let red: String = rows
        .iter()
        .flat_map(|row| row.marks.styles.iter().map(|(it, _)| row.text[it.clone()].to_owned()))
        .collect();
    assert!(rows.len() > 2, "{rows:?}");
    assert_eq!(red, "red words that go on");
}

#[test]
fn only_the_latest_output_is_laid_out() {
    let many = "kingfisher\n".repeat(20_000);
    let rows = output_lines(&printed(&[(Stream::Stdout, &many)]), 2, 80);
    assert!(rows[0].text.starts_with("Earlier output"), "{:?}", rows[0]);
    assert!((2_000..4_000).contains(&rows.len()), "{}", rows.len());
    let short = output_lines(&printed(&[(Stream::Stdout, "one\ntwo\n")]), 2, 80);
    assert_eq!(short.len(), 2);
}

#[test]
fn unrecorded_step_is_not_shown_as_running() {
    let mut run = fixture::asking(&fixture::plan());
    let step = run.current_step;
    run.apply(&crate::run::RunEvent::RunFailed {
        code: crate::plan::Code::EvidenceStore,
        message: "disk full".to_owned(),
    });
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    let text = page(&used, &run, &Situation::default());
    let row = text.lines().nth(step).unwrap();
    assert!(row.contains("not recorded") && !row.contains("running"), "{row}");
}

#[test]
fn bar_announces_guidance_until_it_begins() {
    let situation = Situation { running: true, ..Situation::default() };
    let used = Approval::Used { at_ms: fixture::NOW_MS };
    let plan = fixture::plan();
    let mut run = fixture::running(&plan);
    let announces =
        |run: &RunState| page(&used, run, &situation).contains("Guided from the next step on");
    assert!(!announces(&run));
    run.apply(&RunEvent::ControlRequested { control: crate::run::Control::GoOnGuided });
    assert!(announces(&run));
    let next = run.current_step + 1;
    let step_id = plan.steps[next].step_id.clone();
    let start = step_started(step_id, next, fixture::NOW_MS);
    run.apply(&start);
    assert!(!announces(&run) && run.became_guided);
}

#[test]
fn a_long_path_keeps_its_end() {
    let ctx = egui::Context::default();
    crate::ui::theme::install(&ctx);
    let mut shown = Vec::new();
    let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
        // 20 columns of code.
        let width = 20.5 * Text::Mono.digit_width(ui);
        let paths =
            ["src/lib.rs", "crates/core/src/very/deep/file.rs", "not a/path at all, of a length"];
        shown = paths.map(|it| path_end::end_of_path(ui, "Run", it, width).into_owned()).to_vec();
        let name = "a/name_that_is_longer_than_its_row.rs";
        shown.push(path_end::end_of_path(ui, "Run", name, width).into_owned());
        let name = "some of/a name of a file with spaces.rs";
        shown.push(path_end::end_of_path(ui, "Write", name, width).into_owned());
        let name = "a/a\u{202e}\u{feff}bcdefgh.rs";
        let name = crate::plan::drawable(name);
        shown.push(path_end::end_of_path(ui, "Write", &name, width).into_owned());
    });
    output.textures_delta.clear();
    assert_eq!(shown[..2], ["src/lib.rs", "…/very/deep/file.rs"]);
    assert_eq!(shown[2..4], ["not a/path at all, of a length", "…ger_than_its_row.rs"]);
    // A mark is whole or not there.
    assert_eq!(shown[4..], ["…file with spaces.rs", "…⟨U+FEFF⟩bcdefgh.rs"]);
}

#[test]
fn a_written_mark_in_prose_is_told_from_a_mark() {
    let mut harness = crate::ui::tests::window("command", [1280.0, 1000.0]);
    let plan = &mut harness.state_mut().scene.plan;
    plan.title = Some("Tidy ⟨U+202E⟩ up\u{202e}".to_owned());
    plan.created_by = Some("ada ⟨U+202E⟩".to_owned());
    plan.notes.success_criteria = vec!["it is ⟨U+202E⟩".to_owned()];
    for step in &mut plan.steps {
        step.title = Some("Look ⟨ESC⟩".to_owned());
    }
    harness.run_ok();
    for text in [
        "Tidy ⟨U+27E8⟩U+202E⟩ up⟨U+202E⟩",
        "ada ⟨U+27E8⟩U+202E⟩",
        "Done when: it is ⟨U+27E8⟩U+202E⟩",
        "Look ⟨U+27E8⟩ESC⟩",
    ] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
}

/// The bar of a scene, as if steps had to be looked at before its plan is authorized.
fn commands_looking_first(scene: &str) -> Vec<Command> {
    let scene = crate::ui::tests::scene::Scene::new(scene);
    let view = scene.view();
    let situation = Situation { look_first: true, ..view.situation };
    bar(view.plan.as_ref().unwrap(), &situation).others
}

/// What is to be looked at first is said after a rejection, too.
#[test]
fn a_rejected_plan_leads_to_unseen_steps() {
    let scene = crate::ui::tests::scene::Scene::new("plan");
    let view = scene.view();
    let situation = Situation { look_first: true, ..view.situation };
    let looked_at = LookedAt::new(vec![true, true], vec![OnScreen::Part, OnScreen::Part]);
    let rejected = Approval::Rejected("It writes too much.".to_owned());
    let (looked_at, approval, selected) = (&looked_at, &rejected, 2);
    let plan = PlanView { looked_at, approval, selected, ..view.plan.unwrap() };
    let bar = bar(&plan, &situation);
    assert_eq!((bar.primary, bar.others), (Some(Command::NextUnseen), Vec::new()));
    assert!(bar.title.starts_with("Rejected"), "{}", bar.title);
    assert_eq!(bar.detail, "2 steps to look at first.");
    assert!(bar.more.lines().count() > 1, "with the reason of the rejection: {}", bar.more);
}

#[test]
fn a_completed_run_does_not_lead_to_unseen_steps() {
    assert_eq!(commands_looking_first("completed"), [Command::RunAgain, Command::Revert]);
    assert_eq!(commands_looking_first("revert-done"), [Command::Revert]);
}

#[test]
fn the_header_of_a_run_that_is_over_tells_what_it_did() {
    let scene = crate::ui::tests::scene::Scene::new("done");
    let view = scene.view();
    let chips: Vec<String> =
        chips::chips(view.plan.as_ref().unwrap()).into_iter().map(|chip| chip.text).collect();
    // The step that could not be restored was skipped.
    assert_eq!(chips, ["files: 1 created, 1 replaced", "worst: caution", "old contents kept"]);
}
