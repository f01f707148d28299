//! Authorizations that become void.

use super::*;
use crate::risk::RiskLevel;
use crate::ui::action::WindowAction;
use crate::ui::overlay::{RuleForm, SettingsView};

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
    bench.act(Action::Window(WindowAction::CloseOverlay));
    bench.act(Action::Do(Command::Settings));
    assert_eq!(settings_shown(&bench).rule_form.unwrap().form, rule);
    bench.act(Action::Window(WindowAction::AddRule));
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
    bench.wait_until("the review", |app| app.situation().not_authorizable.is_none());
    bench.act(Action::Window(WindowAction::CloseOverlay));
    bench.authorize();
    bench.act(Action::Window(WindowAction::EditRule(RuleForm {
        prefix: "mv".into(),
        must_match: "mv a b".into(),
        ..rule
    })));
    bench.act(Action::Window(WindowAction::AddRule));
    bench.wait_until("the second end", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    assert_eq!(bench.session().run.steps.first().unwrap().outcome(), Some(Outcome::Succeeded));
}

fn settings_shown(bench: &Bench) -> SettingsView {
    match &bench.app.overlay {
        Some(Overlay::Settings(settings)) => (**settings).clone(),
        other => panic!("{other:?}"),
    }
}
