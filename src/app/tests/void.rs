//! Authorizations that become void.

use super::*;
use crate::risk::RiskLevel;
use crate::ui::action::WindowAction;
use crate::ui::settings_page::{RuleForm, SettingsView};

/// The folder of a file that the plan only reads becomes a link to another folder. Nothing that the authorization
/// covers changes.
#[test]
fn errors_alone_void_with_a_notice() {
    let mut bench = Bench::new();
    let folder = bench.workspace.path().canonicalize().unwrap().join("notes");
    std::fs::create_dir(&folder).unwrap();
    bench.file("notes/a.txt", "heron\n");
    let plan = bench.file(
        "plan.json",
        r#"{"plan_id": "p", "intent": "READ", "title": "Read",
            "steps": [{"step_id": "a", "tool": "file_read", "arguments": {"path": "notes/a.txt"}}]}"#,
    );
    bench.open(&plan);
    bench.authorize();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(&folder, elsewhere.path().join("notes")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("notes"), &folder).unwrap();
    bench.act(Action::Do(Command::Reload));
    bench.wait_until("the end of the authorization", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    let Approval::Void(changes) = &bench.session().approval else { panic!("another state") };
    assert_eq!(changes.len(), 1, "{changes:?}");
    let notices = &bench.app.shared.notices;
    let text = "The authorization is void. Changed since: result of the review.";
    assert!(notices.iter().any(|notice| notice.summary == text), "{notices:?}");
}

/// Another folder with the same files takes the place of the workspace. A command would run there.
#[test]
fn a_folder_in_the_place_of_the_workspace_voids_the_authorization() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    bench.open(&plan);
    bench.authorize();
    let (space, moved) = (bench.workspace.path().to_owned(), tempfile::tempdir().unwrap());
    std::fs::rename(&space, moved.path().join("space")).unwrap();
    std::fs::create_dir(&space).unwrap();
    std::fs::copy(moved.path().join("space/plan.json"), &plan).unwrap();
    bench.act(Action::Do(Command::Run));
    bench.wait_until("the end of the run", |app| {
        let text = "E004 folder of the workspace was ";
        app.shared.notices.iter().any(|notice| notice.details.starts_with(text))
    });
    assert!(bench.session().run.steps.is_empty() || bench.session().run.steps.done() == 0);
}

/// A rule that is added in the settings counts at once: the authorization is void, and the command is blocked.
#[test]
fn a_new_rule_voids_the_authorization() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    bench.open(&plan);
    bench.authorize();
    let rule = RuleForm {
        id: "no-ls".into(),
        prefix: "ls".into(),
        level: RiskLevel::Blocked,
        reason: "a test".into(),
        must_match: "ls".into(),
        ..RuleForm::default()
    };
    bench.act(Action::Do(Command::Settings));
    bench.act(Action::Window(WindowAction::EditRule(rule.clone())));
    // The form outlives the settings, so that nothing typed is lost.
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::Settings));
    assert_eq!(settings_shown(&bench).rule_form.unwrap().form, rule);
    bench.act(Action::Window(WindowAction::SaveRule));
    bench.wait_until("the end of the authorization", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    assert!(bench.app.situation().not_authorizable.is_some(), "the command is blocked");
    let shown = settings_shown(&bench);
    assert_eq!((shown.rules.len(), shown.rule_form), (1, None));
    let file = bench.app.settings_file.clone().unwrap();
    assert_eq!(settings::load(Some(file.clone())).policy.command_rules.len(), 1);
    // Another program empties the file: removing the rule says so, and shows the rules as they are.
    std::fs::write(&file, "zoom = 1.0\n").unwrap();
    bench.act(Action::Window(WindowAction::RemoveRule("no-ls".into())));
    bench.wait_until("the rules of the file", |app| {
        app.shared.setup.policy.command_rules.is_empty()
    });
    let note = settings_shown(&bench).rules_note.unwrap().1;
    assert!(note.starts_with("Not saved: the rules were changed"), "{note}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "zoom = 1.0\n");
    // The thread that runs plans has the same rules, so that the plan can be authorized and run again.
    bench.act(Action::Do(Command::GoPlan));
    bench.wait_until("the review", |app| app.situation().not_authorizable.is_none());
    bench.authorize();
    bench.act(Action::Window(WindowAction::EditRule(RuleForm {
        prefix: "mv".into(),
        must_match: "mv a b".into(),
        ..rule
    })));
    bench.act(Action::Window(WindowAction::SaveRule));
    bench.wait_until("the second end", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    assert_eq!(bench.session().run.steps.first().unwrap().outcome(), Some(Outcome::Succeeded));
}

/// A rule is changed in its place; a removed one comes back to its place until the settings are closed.
#[test]
fn a_rule_is_changed_and_its_removal_undone() {
    let rule = |id: &str| {
        format!(
            "[[policy.command_rules]]\nid = '{id}'\nprefix = ['{id}']\nlevel = 'blocked'\nreason = 'r'\n\
             must_match = ['{id}']\nmust_not_match = []\n"
        )
    };
    let text = ["first", "second", "third"].map(rule).concat();
    let mut bench = Bench::with_settings(&text);
    let ids = |app: &App| {
        let rules = &app.shared.setup.policy.command_rules;
        rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>()
    };
    bench.act(Action::Do(Command::Settings));
    let old = settings_shown(&bench).rules.iter().nth(1).unwrap().clone();
    let form = RuleForm { id: "changed".into(), ..RuleForm::of(&old) };
    assert_eq!(RuleForm::of(&old).rule(), old);
    bench.act(Action::Window(WindowAction::EditRule(form)));
    assert_eq!(settings_shown(&bench).rule_form.unwrap().fault, None);
    bench.act(Action::Window(WindowAction::SaveRule));
    bench.wait_until("the changed rule", |app| ids(app) == ["first", "changed", "third"]);
    assert_eq!(settings_shown(&bench).rule_form, None);
    for id in ["first", "changed"] {
        bench.act(Action::Window(WindowAction::RemoveRule(id.into())));
        bench.wait_until("one rule less", |app| !ids(app).contains(&id.to_owned()));
    }
    let removed = settings_shown(&bench).removed_rules;
    assert_eq!(removed.iter().map(|it| &*it.rule.id).collect::<Vec<_>>(), ["first", "changed"]);
    for id in ["changed", "first"] {
        bench.act(Action::Window(WindowAction::RestoreRule(id.into())));
        bench.wait_until("one rule more", |app| ids(app).contains(&id.to_owned()));
    }
    assert_eq!(ids(&bench.app), ["first", "changed", "third"]);
    assert_eq!(settings_shown(&bench).removed_rules, []);
    bench.act(Action::Window(WindowAction::RemoveRule("third".into())));
    bench.wait_until("one rule less", |app| ids(app).len() == 2);
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::Settings));
    assert_eq!(settings_shown(&bench).removed_rules, [], "the settings were left");
    let file = bench.app.settings_file.clone().unwrap();
    assert_eq!(settings::load(Some(file)).policy.command_rules.len(), 2);
}

/// The settings say what the computer has. It is looked up when they are opened, with the workspace of the plan.
#[test]
fn settings_show_the_state_of_the_computer() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    bench.file("codegraph.db", "");
    bench.open(&plan);
    bench.act(Action::Do(Command::Settings));
    let line = |bench: &Bench, name: &str| {
        let computer = settings_shown(bench).computer;
        computer.into_iter().find(|line| line.0 == name).unwrap().1
    };
    assert_eq!(line(&bench, "walls"), "being looked up…");
    bench.wait_until("the facts", |app| app.computer.is_some());
    let level = crate::engine::local_wall_level().0;
    assert!(line(&bench, "walls").starts_with(&format!("{level}: ")));
    assert!(line(&bench, "code graph").ends_with("/codegraph.db"));
}

fn settings_shown(bench: &Bench) -> SettingsView {
    (**bench.app.settings_page.view.as_ref().unwrap()).clone()
}
