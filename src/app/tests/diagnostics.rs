//! Diagnostics of a real crate, from real checks.

use super::*;
use crate::run::{BaselineState, EvidenceAnswer, Question, TargetKind};
use crate::ui::Page;
use crate::ui::action::DiagnosticsAction;
use crate::ui::diagnostics::{Excerpt, Facet};

const SOURCE: &str = "pub fn f() -> u8 {\n    nope();\n    missing()\n}\n";
const LATER: &str = "//! Moved.\n\npub fn f() -> u8 {\n    let unused = 1;\n    1 + \"x\"\n}\n";

/// A workspace with a crate, and a plan that checks it.
fn crate_and_plan() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let root = bench.workspace.path();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/lib.rs"), SOURCE).unwrap();
    bench.file(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    let plan = serde_json::json!({"plan_id": "p", "intent": "MUTATE", "steps": [
        {"step_id": "first", "tool": "lsp_check", "arguments": {"path": "."}},
    ]});
    let plan = bench.file("plan.json", &plan.to_string());
    (bench, plan)
}

fn run(bench: &mut Bench, plan: &Path) {
    bench.open(plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    bench.act(Action::Do(Command::GoDiagnostics));
}

fn excerpt(app: &App) -> Option<&Excerpt> {
    let shown = app.plan.shown.as_ref()?;
    shown.diagnostics.view(&shown.run, shown.opened.plan.as_deref()).excerpt
}

fn copied_text(bench: &Bench) -> String {
    bench.ctx.output_mut(|output| match output.commands.pop() {
        Some(egui::OutputCommand::CopyText(text)) => text,
        other => panic!("{other:?}"),
    })
}

/// The diagnostics of a check are shown with their source, copied, and queried in the evidence.
#[test]
fn diagnostics_show_source_copy_and_questions() {
    let (mut bench, plan) = crate_and_plan();
    run(&mut bench, &plan);
    assert_eq!(bench.app.shared.page, Page::Diagnostics);
    bench.wait_until("the source", |app| matches!(excerpt(app), Some(Excerpt::Shown { .. })));
    let Some(Excerpt::Shown { rows, compared }) = excerpt(&bench.app) else { panic!() };
    assert!(compared, "the evidence has the lines as they were checked");
    let line = rows.iter().position(|row| row.number == Some(2)).unwrap();
    assert_eq!(rows[line].text, "    nope();");
    assert_eq!(rows[line + 1].text, "    ^^^^ not found in this scope");
    assert_eq!(bench.app.situation().diagnostics, 2, "the compiler's summary is not listed");

    bench.act(Action::Do(Command::CopyDiagnostic));
    assert!(copied_text(&bench).starts_with("error[E0425]: cannot find function `nope`"));
    bench.act(Action::Do(Command::CopyDiagnostics));
    let all = copied_text(&bench);
    assert!(all.contains("`nope`") && all.contains("`missing`"), "{all}");
    bench.act(Action::Do(Command::NextStep));
    bench.act(Action::Do(Command::CopyDiagnostic));
    assert!(copied_text(&bench).starts_with("error[E0425]: cannot find function `missing`"));
    bench.act(Action::Diagnostics(DiagnosticsAction::Filter("code:e0425 NOPE".into())));
    bench.act(Action::Do(Command::CopyDiagnostics));
    assert!(!copied_text(&bench).contains("missing"), "only listed diagnostics are copied");

    let file = "src/lib.rs".to_owned();
    for (question, rows) in [
        (Question::WithCode("E0425".into()), 1),
        (Question::Touched { kind: TargetKind::File, target: file.clone() }, 1),
        (Question::Touched { kind: TargetKind::Symbol, target: file.clone() }, 0),
        (Question::Recurring, 1),
        (Question::ChangesAfter { code: "E0425".into(), file: Some(file) }, 0),
    ] {
        bench.act(Action::Evidence(EvidenceAction::RunQuery(question.clone())));
        assert_eq!(bench.app.shared.page, Page::Evidence);
        assert_eq!(bench.app.evidence.answer, None, "the previous answer is discarded");
        bench.wait_until("an answer", |app| app.evidence.answer.is_some());
        assert_eq!(bench.app.evidence.answer.as_ref().unwrap().len(), rows, "{question:?}");
        let listed = if question == Question::Recurring { 0 } else { rows };
        assert_eq!(bench.app.situation().results, listed, "{question:?}");
    }
    bench.act(Action::Evidence(EvidenceAction::CloseAnswer));
    assert_eq!(bench.app.evidence.question, None);
}

/// If a file has changed since the check, none of its lines are marked.
#[test]
fn changed_and_missing_sources_are_reported() {
    let (mut bench, plan) = crate_and_plan();
    run(&mut bench, &plan);
    bench.wait_until("the source", |app| matches!(excerpt(app), Some(Excerpt::Shown { .. })));
    bench.file("src/lib.rs", LATER);
    // The source is read again when the page is shown again.
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::GoDiagnostics));
    bench.wait_until("the changed file", |app| excerpt(app) == Some(&Excerpt::Changed));
    std::fs::remove_file(bench.workspace.path().join("src/lib.rs")).unwrap();
    bench.act(Action::Do(Command::NextStep));
    bench.wait_until("the missing file", |app| matches!(excerpt(app), Some(Excerpt::Missing(_))));
    let Some(Excerpt::Missing(why)) = excerpt(&bench.app) else { panic!() };
    assert_eq!(why, "cannot read src/lib.rs: it does not exist");
}

#[test]
fn the_second_check_compares_with_the_first() {
    let (mut bench, _) = crate_and_plan();
    // A check with errors ends its run, so the first check must find only warnings.
    bench.file("src/lib.rs", "pub fn f() {\n    let unused = 1;\n    let gone = 2;\n}\n");
    let plan = serde_json::json!({"plan_id": "p", "intent": "MUTATE", "steps": [
        {"step_id": "first", "tool": "lsp_check", "arguments": {"path": "."}},
        {"step_id": "change", "tool": "file_write",
         "arguments": {"path": "src/lib.rs", "contents": LATER}},
        {"step_id": "second", "tool": "lsp_check", "arguments": {"path": "."}},
    ]});
    let plan = bench.file("plan.json", &plan.to_string());
    run(&mut bench, &plan);
    let listing = &bench.session().diagnostics.listing;
    assert_eq!((listing.step, listing.base, listing.checks.len()), (Some(2), Some(0), 2));
    let of = |standing| listing.counts.of(Facet::BaselineState(standing));
    let counts = [BaselineState::New, BaselineState::Unchanged, BaselineState::Gone].map(of);
    // The compiler stops at the type errors, before it checks for unused items.
    assert_eq!(counts, [1, 0, 2], "{:?}", listing.counts);
    let run_id = bench.session().run.run_id.unwrap();
    bench.app.plan.shown = None;
    // The replayed run has the same counts.
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    bench.wait_until("the run", |app| app.plan.shown.is_some());
    bench.act(Action::Do(Command::GoDiagnostics));
    let replayed = &bench.session().diagnostics.listing;
    assert_eq!(
        [BaselineState::New, BaselineState::Unchanged, BaselineState::Gone]
            .map(|it| replayed.counts.of(Facet::BaselineState(it))),
        counts
    );
    let question = Question::ChangesAfter { code: "unused_variables".into(), file: None };
    bench.act(Action::Evidence(EvidenceAction::RunQuery(question)));
    bench.wait_until("an answer", |app| app.evidence.answer.is_some());
    let Some(EvidenceAnswer::Changes(rows)) = &bench.app.evidence.answer else { panic!() };
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].listed.row.tool_name.as_str(), rows[0].file_name.as_str()),
        ("file_write", "src/lib.rs")
    );
    bench.act(Action::Do(Command::NextStep));
    assert_eq!(bench.app.evidence.selected, Some(bench.app.evidence.listed()[0]));
}

#[test]
fn the_editor_opens_or_its_fault_shows() {
    let (mut bench, plan) = crate_and_plan();
    run(&mut bench, &plan);
    bench.act(Action::Do(Command::OpenInEditor));
    bench.wait_until("the notice about the setting", |app| !app.shared.notices.is_empty());
    let notice = bench.app.shared.notices.pop().unwrap();
    assert!(notice.summary.contains("No editor is set."), "{notice:?}");
    assert!(notice.next.contains("{file}:{line}:{column}"), "{notice:?}");
    let set = |command: &str| {
        let key = "editor_command".to_owned();
        Action::Settings(crate::ui::SettingsAction::Set(key, Some(command.into())))
    };
    bench.act(set("no-such-editor {file}"));
    let is_set = |app: &App| app.settings.editor_command == "no-such-editor {file}";
    bench.wait_until("the editor", is_set);
    bench.act(Action::Do(Command::OpenInEditor));
    bench.wait_until("the notice about the program", |app| !app.shared.notices.is_empty());
    assert!(bench.app.shared.notices[0].summary.contains("no-such-editor is not on PATH"));
    let fifo = bench.workspace.path().join("fifo");
    let made = assert_cmd::Command::new("mkfifo").arg(&fifo).output().unwrap();
    assert!(made.status.success());
    let command = format!("sh -c 'echo \"$0\" \"$1\" > \"{}\"' {{file}} {{line}}", fifo.display());
    bench.act(set(&command));
    bench.wait_until("the other editor", |app| app.settings.editor_command == command);
    bench.act(Action::Do(Command::OpenInEditor));
    let printed = std::fs::read_to_string(&fifo).unwrap();
    let file = bench.workspace.path().canonicalize().unwrap().join("src/lib.rs");
    assert_eq!(printed, format!("{} 2\n", file.display()));
    bench.wait_until("the saved settings", |app| {
        settings::load(app.settings_file.clone()).settings.editor_command == command
    });
}

/// Without an open plan and without a file, too: the settings are saved first.
#[test]
fn the_settings_file_opens_in_the_editor() {
    let mut bench = Bench::new();
    let file = bench.app.settings_file.clone().unwrap();
    std::fs::remove_file(&file).unwrap();
    let fifo = bench.workspace.path().join("fifo");
    let made = assert_cmd::Command::new("mkfifo").arg(&fifo).output().unwrap();
    assert!(made.status.success());
    let command = format!("sh -c 'echo \"$0\" \"$1\" > \"{}\"' {{file}} {{line}}", fifo.display());
    bench.app.settings.editor_command = command;
    bench.act(Action::Window(crate::ui::action::WindowAction::OpenSettingsFile));
    let printed = std::fs::read_to_string(&fifo).unwrap();
    assert!(printed.trim_end().ends_with("settings.toml 1"), "{printed}");
    assert!(file.is_file());
    bench.app.settings.editor_command = "no-such-editor {file}".to_owned();
    bench.act(Action::Window(crate::ui::action::WindowAction::OpenSettingsFile));
    bench.wait_until("the notice", |app| !app.shared.notices.is_empty());
    assert!(bench.app.shared.notices[0].summary.contains("no-such-editor is not on PATH"));
}

/// The goal of the plan on the page, once it was made of a suggestion.
fn wait_for_suggested_plan(bench: &mut Bench) {
    bench.act(Action::Do(Command::PlanSuggestion));
    bench.wait_until("the plan of the suggestion", |app| {
        let plan = app.plan.shown.as_ref().and_then(|session| session.opened.plan.as_ref());
        plan.and_then(|plan| plan.title.as_deref()).is_some_and(|it| it.contains("suggestion"))
    });
}

#[test]
fn suggestion_becomes_a_plan_like_any_other() {
    let (mut bench, plan) = crate_and_plan();
    let source = "// ä\npub fn f() -> u8 {\n    let mut x = 1;\n    x\n}\n";
    let file = bench.file("src/lib.rs", source);
    run(&mut bench, &plan);
    assert_eq!(bench.app.situation().suggestions, 1, "the only suggestion is picked");
    // Nothing is guessed about a file that has changed since the check.
    bench.file("src/lib.rs", &source.replace("mut x", "mut  x"));
    bench.act(Action::Do(Command::PlanSuggestion));
    bench.wait_until("a refusal", |app| !app.shared.notices.is_empty());
    let notice = format!("{:?}", bench.app.shared.notices);
    assert!(notice.contains("src/lib.rs has changed since the check"), "{notice}");
    bench.file("src/lib.rs", source);

    wait_for_suggested_plan(&mut bench);
    let session = bench.session();
    assert_eq!(bench.app.shared.page, Page::Plan);
    assert_eq!(session.approval, Approval::None);
    assert_eq!(session.opened.findings, []);
    let workspace = bench.workspace.path().canonicalize().unwrap();
    assert_eq!(session.reviewed_workspace(), Some(workspace));
    let path = session.path().unwrap().to_owned();
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    assert_eq!(std::fs::read_to_string(file).unwrap(), source.replace("mut x", "x"));
    // Opened again from its file, it still belongs to the workspace of its check.
    bench.app.plan.shown = None;
    bench.open(&path);
    let reviewed = bench.session().reviewed_workspace();
    assert_eq!(reviewed, Some(bench.workspace.path().canonicalize().unwrap()));
}

#[test]
fn alternatives_are_picked_one_by_one() {
    let (mut bench, plan) = crate_and_plan();
    let file = bench.file("src/lib.rs", "pub fn f() -> Ordering {\n    loop {}\n}\n");
    run(&mut bench, &plan);
    let session = bench.session();
    let (_, picked) = session.diagnostics.picked(&session.run).unwrap();
    assert!(picked.is_empty(), "none of them is sure");
    assert_eq!(bench.app.situation().suggestions, 0);
    bench.act(Action::Diagnostics(DiagnosticsAction::Pick(0)));
    bench.act(Action::Diagnostics(DiagnosticsAction::Pick(1)));
    bench.act(Action::Do(Command::PlanSuggestion));
    bench.wait_until("a refusal", |app| !app.shared.notices.is_empty());
    let notice = format!("{:?}", bench.app.shared.notices);
    assert!(notice.contains("two of the suggestions change the same text"), "{notice}");
    bench.act(Action::Diagnostics(DiagnosticsAction::Pick(0)));
    wait_for_suggested_plan(&mut bench);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("use std::sync::atomic::Ordering;\n"), "{text}");
}
