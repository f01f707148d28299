//! Two windows on the same evidence.

use super::searches::SearchesChange;
use super::*;
use crate::risk::RiskLevel;
use crate::run::RunFate;
use crate::ui::SettingsAction;
use crate::ui::action::WindowAction;
use crate::ui::loop_page::Shown;
use crate::ui::settings_page::RuleForm;

/// Another window on the same evidence and, if there is one, the same settings file.
pub(super) fn other_window(bench: &Bench, file: Option<PathBuf>) -> (App, Receiver<()>) {
    let mut loaded = settings::load(file);
    loaded.settings.must_see = MustSee::Nothing;
    let (sender, woken) = sync_channel(1_024);
    let wake: Wake = Arc::new(move || {
        let _ = sender.try_send(());
    });
    (App::new(bench.folders.clone(), loaded, wake).unwrap(), woken)
}

#[test]
fn a_run_of_another_window_is_listed_and_its_end_noticed() {
    let (mut bench, plan) = bench();
    // The evidence folder exists from the first run on.
    bench.open(&plan);
    bench.authorize();
    let (mut other, woken) = other_window(&bench, None);
    let fates = |app: &App| app.plan.runs.iter().map(|run| run.fate).collect::<Vec<_>>();
    // The other window does nothing but wait.
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    wait_until(&mut other, &woken, "a run", |app| fates(app) == [RunFate::Active]);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    wait_until(&mut other, &woken, "its end", |app| matches!(fates(app)[..], [RunFate::Ended(_)]));
}

#[test]
fn recent_plans_of_two_windows_are_merged() {
    let (mut bench, plan) = bench();
    let second = bench.file("second.json", PLAN);
    let file = bench.app.settings_file.clone();
    let (mut other, woken) = other_window(&bench, file.clone());
    let paths = |app: &App| app.plan.recent.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
    bench.open(&plan);
    bench.wait_until("the settings are saved", |_| {
        settings::load(file.clone()).settings.recent.len() == 1
    });
    // The other window has not read the list since.
    assert!(other.plan.recent.is_empty());
    let ctx = egui::Context::default();
    other.apply(Action::Plan(PlanAction::Open(second.clone())), &ctx);
    let both = [second.clone(), plan.clone()];
    wait_until(&mut other, &woken, "both plans", |app| paths(app) == both);
    assert_eq!(settings::load(file.clone()).settings.recent.len(), 2);
    // The first window takes it over although it has no focus.
    bench.wait_until("both plans", |app| paths(app) == both);

    bench.act(Action::Window(WindowAction::PinRecent(plan.clone(), true)));
    let pinned = [plan.clone(), second.clone()];
    // The file, because the list of the window changes before it is saved.
    bench.wait_until("a pinned plan", |app| {
        paths(app) == pinned && settings::load(file.clone()).settings.recent[0].pinned
    });
    other.apply(Action::Window(WindowAction::RemoveRecent(second)), &ctx);
    wait_until(&mut other, &woken, "one plan", |app| {
        paths(app) == [plan.clone()] && app.plan.recent[0].pinned
    });
    // The same by commands, for the shown plan.
    bench.act(Action::Do(Command::PinPlan));
    bench.wait_until("an unpinned plan", |app| !app.plan.recent[0].pinned);
    bench.act(Action::Do(Command::PinPlan));
    bench.wait_until("a pinned plan", |app| app.plan.recent[0].pinned);
    // Other settings do not write the list.
    bench.act(Action::Settings(SettingsAction::Set("high_contrast".to_owned(), Some(true.into()))));
    bench.wait_until("the settings are saved", |_| {
        settings::load(file.clone()).settings.high_contrast
    });
    assert_eq!(settings::load(file.clone()).settings.recent.len(), 1);
    bench.act(Action::Do(Command::ForgetPlan));
    bench.wait_until("an empty list", |_| settings::load(file.clone()).settings.recent.is_empty());
    assert_eq!(paths(&bench.app), [""; 0].map(PathBuf::from));
}

#[test]
fn saved_searches_of_two_windows_are_merged() {
    let (mut bench, _) = bench();
    let file = bench.app.settings_file.clone();
    let (mut other, woken) = other_window(&bench, file.clone());
    let saved = |text: &str, app: &mut App| {
        let ctx = egui::Context::default();
        app.apply(Action::Evidence(EvidenceAction::Search(text.into())), &ctx);
        app.apply(Action::Do(Command::SaveSearch), &ctx);
    };
    saved(" heron ", &mut bench.app);
    let load = || settings::load(file.clone()).settings.searches;
    bench.wait_until("a saved search", |_| load() == ["heron"]);
    saved("tool:file_write", &mut other);
    let both = ["heron", "tool:file_write"];
    wait_until(&mut other, &woken, "both searches", |app| app.evidence.saved == both);
    assert_eq!(load(), both);
    bench.app.change_searches(SearchesChange::Refresh);
    bench.wait_until("both searches", |app| app.evidence.saved == both);
    // What is always offered, and an empty search, are not saved.
    saved("outcome:failed", &mut bench.app);
    saved(" ", &mut bench.app);
    bench.act(Action::Window(WindowAction::ToggleSearch("heron".into())));
    bench.wait_until("one search", |_| load() == ["tool:file_write"]);
    saved("tool:file_write", &mut bench.app);
    bench.wait_until("no search", |_| load().is_empty());
    bench.app.change_searches(SearchesChange::Refresh);
    other.change_searches(SearchesChange::Refresh);
    wait_until(&mut other, &woken, "no search", |app| app.evidence.saved.is_empty());
}

/// A second run in one workspace is announced before it starts, and is no error.
#[test]
fn run_of_another_window_in_the_workspace_is_announced() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    let (mut other, woken) = other_window(&bench, None);
    let ctx = egui::Context::default();
    other.apply(Action::Plan(PlanAction::Open(plan)), &ctx);
    wait_until(&mut other, &woken, "opened", |app| app.plan.shown.is_some());
    let warning = |app: &App| app.view().plan.and_then(|plan| plan.other_runs.map(str::to_owned));
    assert_eq!(warning(&other), None);
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    wait_until(&mut other, &woken, "a warning", |app| {
        warning(app).is_some_and(|it| it.contains("(Two writes)"))
    });
    assert_eq!(warning(&bench.app), None, "its own run is no other one");
    assert_eq!(other.situation().not_authorizable, None);
    // The form of a loop in this workspace says it, too.
    other.apply(Action::Do(Command::NewLoop), &ctx);
    let form_warning = |app: &App| match app.view().looping.shown {
        Shown::Form(form) => form.other_runs.map(str::to_owned),
        _ => None,
    };
    wait_until(&mut other, &woken, "a warning in the form", |app| {
        form_warning(app).is_some_and(|it| it.contains("(Two writes)"))
    });
    other.apply(Action::Do(Command::GoPlan), &ctx);
    other.apply(Action::Do(Command::Authorize), &ctx);
    let view = other.view();
    let Question::Authorize(dialog) = view.dialog.unwrap().question else { panic!("no dialog") };
    assert!(dialog.other_runs.as_ref().unwrap().starts_with("Another run is under way"));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
    wait_until(&mut other, &woken, "no warning", |app| warning(app).is_none());
    let view = other.view();
    let Question::Authorize(dialog) = view.dialog.unwrap().question else { panic!("no dialog") };
    assert_eq!(dialog.other_runs, None, "the open dialog is kept up to date");
}

/// A rule that one window saves counts in the other one, too, which does nothing but wait: its authorization is void.
#[test]
fn a_rule_of_another_window_counts_at_once() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    let file = bench.app.settings_file.clone();
    let (mut other, woken) = other_window(&bench, file);
    let ctx = egui::Context::default();
    other.apply(Action::Plan(PlanAction::Open(plan.clone())), &ctx);
    wait_until(&mut other, &woken, "opened", |app| app.plan.shown.is_some());
    other.apply(Action::Do(Command::Authorize), &ctx);
    let digest = other.plan.shown.as_ref().unwrap().opened.digest;
    other.apply(Action::Dialog(DialogAction::Authorize(digest)), &ctx);
    let approval = |app: &App| app.plan.shown.as_ref().map(|shown| shown.approval.clone());
    wait_until(&mut other, &woken, "authorized", |app| {
        matches!(approval(app), Some(Approval::Approved { .. }))
    });
    other.apply(Action::Do(Command::Settings), &ctx);

    let rule = RuleForm {
        id: "no-ls".into(),
        prefix: "ls".into(),
        reason: "a test".into(),
        must_match: "ls".into(),
        level: RiskLevel::Blocked,
        ..RuleForm::default()
    };
    bench.act(Action::Window(WindowAction::EditRule(rule.clone())));
    bench.act(Action::Window(WindowAction::SaveRule));
    wait_until(&mut other, &woken, "the end of the authorization", |app| {
        matches!(approval(app), Some(Approval::Void(_)))
    });
    assert!(other.situation().not_authorizable.is_some(), "the command is blocked");
    let settings = other.settings_page.view.as_ref().unwrap();
    assert_eq!(settings.rules.len(), 1);
    let note = settings.rules_note.as_ref().unwrap().1.as_str();
    assert!(note.starts_with("The rules were changed in another window"), "{note}");
    // It changes the rule that it has just read, and the first window follows.
    let changed = RuleForm {
        level: RiskLevel::Caution,
        replaces: Some("no-ls".into()),
        prefix: "cargo publish".into(),
        must_match: "cargo publish".into(),
        ..rule
    };
    other.apply(Action::Window(WindowAction::EditRule(changed)), &ctx);
    other.apply(Action::Window(WindowAction::SaveRule), &ctx);
    wait_until(&mut other, &woken, "saved", |app| app.rules.form.is_none());
    assert!(other.rules.note.as_ref().unwrap().1.ends_with("is saved."));
    bench.wait_until("the changed rule", |app| {
        let rules = &app.shared.setup.policy.command_rules;
        rules.iter().any(|rule| rule.level == RiskLevel::Caution)
    });
    let weakened = |app: &App| {
        let notices = app.shared.notices.iter().filter(|it| it.summary.contains("weakened"));
        notices.map(|it| it.details.clone()).collect::<Vec<_>>()
    };
    let said = weakened(&bench.app);
    assert!(said.len() == 1 && said[0].contains("policy.command_rules"), "{said:?}");
    // A fault changes no rule, and is reported once.
    let file = bench.app.settings_file.clone().unwrap();
    // At once: an empty file in between would have no rules.
    let replace = |text: &str| {
        let new = file.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &file).unwrap();
    };
    replace("[policy]\nwalls = 'many'\n");
    let faults = |app: &App| {
        let notices = app.shared.notices.iter();
        notices.filter(|notice| notice.summary.contains("cannot be used")).count()
    };
    wait_until(&mut other, &woken, "a notice", |app| faults(app) == 1);
    assert_eq!(weakened(&other), [""; 0], "its own rule is none of another window");
    assert_eq!(other.shared.setup.policy.command_rules.len(), 1);
    other.read_settings(&ctx);
    replace("");
    wait_until(&mut other, &woken, "no rules", |app| {
        app.shared.setup.policy.command_rules.is_empty()
    });
    assert_eq!(faults(&other), 0, "what was corrected is no longer said");
}
