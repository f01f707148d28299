//! The settings page: changes, questions before weaker protection, other windows, keys, import and export.

use toml::Value;

use super::two_windows::other_window;
use super::*;
use crate::authorization::WallSetting;
use crate::run::settings::Keys;
use crate::ui::SettingsAction;
use crate::ui::settings_page::{KeyNote, SettingsView};

fn set(key: &str, value: impl Into<Value>) -> Action {
    Action::Settings(SettingsAction::Set(key.to_owned(), Some(value.into())))
}

fn page(bench: &Bench) -> &SettingsView {
    bench.app.settings_page.view.as_ref().unwrap()
}

fn text(bench: &Bench) -> String {
    std::fs::read_to_string(bench.app.settings_file.as_ref().unwrap()).unwrap()
}

fn shown(bench: &Bench, key: &str) -> String {
    page(bench).rows.iter().find(|row| row.key == key).unwrap().shown()
}

#[test]
fn a_change_counts_at_once_and_keeps_the_comments() {
    let mut bench = Bench::with_settings("# mine\nzoom = 1.3 # large\n[policy] # strict\n");
    bench.act(Action::Do(Command::Settings));
    assert_eq!(bench.app.shared.page, Page::Settings);
    bench.act(set("policy.walls", "required"));
    bench.wait_until("the walls", |app| app.shared.setup.policy.walls == WallSetting::Required);
    bench.act(set("notifications", false));
    bench.wait_until("no notifications", |app| !app.settings.notifications);
    bench.act(set("policy.authorization_minutes", 5));
    bench.wait_until("the time", |app| app.shared.setup.policy.authorization_ttl_ms == 300_000);
    assert_eq!(
        text(&bench),
        "# mine\nzoom = 1.3 # large\nnotifications = false\n[policy] # strict\nwalls = \"required\"\n\
         authorization_minutes = 5\n"
    );
    assert_eq!(shown(&bench, "policy.authorization_minutes"), "5 minutes");
    bench.act(Action::Settings(SettingsAction::Set("notifications".to_owned(), None)));
    bench.wait_until("notifications", |app| app.settings.notifications);
    assert!(!text(&bench).contains("notifications"));
}

/// A plan that is authorized under other settings has to be authorized again.
#[test]
fn a_change_of_the_policy_voids_an_authorization() {
    let mut bench = Bench::new();
    let plan = bench.file("plan.json", r#"{"goal": "g", "steps": [{"command": "ls"}]}"#);
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Settings));
    bench.act(set("policy.confirm_tools", vec!["shell"]));
    bench.wait_until("the end of the authorization", |app| {
        matches!(app.plan.shown.as_ref().unwrap().approval, Approval::Void(_))
    });
    // The thread that runs plans has the same policy.
    bench.act(Action::Do(Command::GoPlan));
    bench.wait_until("the review", |app| app.situation().not_authorizable.is_none());
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench.act(Action::Do(Command::StopNow));
    bench.wait_for_end();
}

#[test]
fn what_weakens_protection_is_asked_about_first() {
    let mut bench = Bench::with_settings("must_see = 'everything'\n");
    let before = text(&bench);
    bench.act(Action::Do(Command::Settings));
    for (key, value) in [
        ("policy.walls", Value::from("off")),
        ("must_see", "careful".into()),
        ("policy.authorization_minutes", 60.into()),
        ("policy.extra_roots", vec!["/data"].into()),
        ("agents.session_rules", true.into()),
    ] {
        bench.act(set(key, value));
        let asked = page(&bench).rows.iter().find(|row| row.asks.is_some()).unwrap();
        assert_eq!(asked.key, key);
        bench.act(Action::Settings(SettingsAction::Decline));
        assert!(page(&bench).rows.iter().all(|row| row.asks.is_none()));
    }
    // A confirmation without a question changes nothing.
    bench.act(Action::Settings(SettingsAction::Confirm));
    assert_eq!(text(&bench), before);
    bench.act(set("policy.walls", "off"));
    bench.act(Action::Settings(SettingsAction::Confirm));
    bench.wait_until("no walls", |app| app.shared.setup.policy.walls == WallSetting::Off);
    let row = page(&bench).rows.iter().find(|row| row.key == "policy.walls").unwrap();
    assert!(row.is_weaker());
    // The way back needs no question.
    bench.act(Action::Settings(SettingsAction::Set("policy.walls".to_owned(), None)));
    bench.wait_until("walls", |app| app.shared.setup.policy.walls == WallSetting::Preferred);
    // A question ends when the page is left.
    bench.act(set("policy.walls", "off"));
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Settings(SettingsAction::Confirm));
    assert!(!text(&bench).contains("off"));
}

#[test]
fn an_invalid_value_is_refused_and_nothing_lost() {
    let mut bench = Bench::with_settings("# mine\nzoom = 1.3\n");
    let before = text(&bench);
    bench.act(Action::Do(Command::Settings));
    for (key, value, part) in [
        ("policy.authorization_minutes", Value::from("soon"), "1 and 1440"),
        ("signatures.required", 2.into(), "allowed_signers"),
        ("signatures.key", "id".into(), "absolute"),
        ("inbox", "relative".into(), "not absolute"),
    ] {
        bench.act(set(key, value));
        // The first of them also waits for a confirmation, if the value could weaken something.
        bench.act(Action::Settings(SettingsAction::Confirm));
        bench.wait_until(key, |app| {
            let rows = &app.settings_page.view.as_ref().unwrap().rows;
            rows.iter().any(|row| row.key == key && row.fault.is_some())
        });
        let rows = &page(&bench).rows;
        let fault = rows.iter().find(|row| row.key == key).unwrap().fault.clone().unwrap();
        assert!(fault.starts_with("Not saved: ") && fault.contains(part), "{fault}");
    }
    assert_eq!(text(&bench), before);
}

/// Another window follows, and says so; what weakens protection is a notice.
#[test]
fn a_change_of_another_window_is_seen() {
    const PLANNER: &str = "[planners.'plan.py']\nread = false\n";
    let bench = Bench::with_settings(&format!("[policy]\nwalls = 'required'\n{PLANNER}"));
    let file = bench.app.settings_file.clone().unwrap();
    let (mut other, woken) = other_window(&bench, Some(file.clone()));
    let ctx = egui::Context::default();
    other.apply(Action::Do(Command::Settings), &ctx);
    // The new table takes the place of the other one for this planner.
    let new =
        "high_contrast = true\n[policy]\nwalls = 'off'\n[planners.'/a/plan.py']\nnetwork = false\n";
    std::fs::write(&file, format!("{new}{PLANNER}")).unwrap();
    wait_until(&mut other, &woken, "the other walls", |app| {
        app.shared.setup.policy.walls == WallSetting::Off
    });
    assert!(other.settings.high_contrast);
    let view = other.settings_page.view.as_ref().unwrap();
    assert!(view.note.as_ref().unwrap().1.contains("another window"));
    let notices = &other.shared.notices;
    let notice = notices.iter().find(|it| it.summary.contains("weakened")).unwrap();
    assert!(notice.details.contains("policy.walls is now Off"), "{notice:?}");
    assert!(notice.details.contains("planners./a/plan.py.read is now "), "{notice:?}");
    // What this window saves does not undo what the other one did.
    other.apply(set("zoom", 1.3), &ctx);
    wait_until(&mut other, &woken, "the size", |app| app.settings.zoom > 1.2);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("walls = 'off'") && text.contains("high_contrast = true"), "{text}");
}

#[test]
fn keys_are_changed_exchanged_and_given_back() {
    let mut bench = Bench::with_settings("# mine\n");
    let ctx = bench.ctx.clone();
    let act = |bench: &mut Bench, action| bench.act(Action::Settings(action));
    let keys = |command: Command| {
        let shortcuts = crate::ui::commands::shortcuts(&ctx);
        shortcuts.at(command as usize).map(Keys::to_string)
    };
    let parse = |text: &str| Keys::parse(text).ok();
    bench.act(Action::Do(Command::Settings));
    act(&mut bench, SettingsAction::Capture(Command::Palette));
    assert_eq!(page(&bench).capturing, Some(Command::Palette));
    act(&mut bench, SettingsAction::SetKeys(Command::Palette, parse("Ctrl+Shift+K")));
    let is_set = |app: &App| app.settings.shortcuts.contains_key("palette");
    bench.wait_until("the keys", is_set);
    assert_eq!(keys(Command::Palette).as_deref(), Some("Ctrl+Shift+K"));
    assert_eq!(text(&bench), "# mine\n\n[shortcuts]\npalette = \"Ctrl+Shift+K\"\n");
    // Keys that another command has are exchanged, or nothing happens.
    act(&mut bench, SettingsAction::SetKeys(Command::Palette, parse("Ctrl+O")));
    assert!(matches!(page(&bench).key_note, Some(KeyNote::Clash(_, _, Command::OpenPlan))));
    act(&mut bench, SettingsAction::SwapKeys);
    bench.wait_until("both", |app| app.settings.shortcuts.contains_key("open_plan"));
    assert_eq!(keys(Command::Palette).as_deref(), Some("Ctrl+O"));
    assert_eq!(keys(Command::OpenPlan).as_deref(), Some("Ctrl+Shift+K"));
    // What is fixed stays.
    for (command, wanted) in [
        (Command::StopNow, "F12"),
        (Command::NextStep, "F12"),
        (Command::Authorize, "Enter"),
        (Command::Authorize, "Escape"),
        (Command::Run, "Space"),
    ] {
        act(&mut bench, SettingsAction::SetKeys(command, parse(wanted)));
        assert!(matches!(page(&bench).key_note, Some(KeyNote::Refused(..))), "{wanted}");
    }
    act(&mut bench, SettingsAction::SetKeys(Command::Authorize, parse("Ctrl+Shift+.")));
    act(&mut bench, SettingsAction::SwapKeys);
    assert_eq!(keys(Command::StopNow).as_deref(), Some("Ctrl+Shift+."));
    act(&mut bench, SettingsAction::Capture(Command::StopNow));
    assert_eq!(page(&bench).capturing, None);
    act(&mut bench, SettingsAction::UsualKeys(None));
    bench.wait_until("the usual keys", |app| app.settings.shortcuts.is_empty());
    assert_eq!(keys(Command::Palette).as_deref(), Some("Ctrl+K"));
    assert_eq!(text(&bench), "# mine\n");
}

#[test]
fn an_import_is_looked_at_first() {
    let mut bench = Bench::with_settings("theme = 'dark'\n[policy]\nwalls = 'required'\n");
    let before = text(&bench);
    let file = bench.file("import.toml", "theme = 'light'\nzoom = 1.3\n[policy]\nwalls = 'off'\n");
    bench.act(Action::Do(Command::Settings));
    let ctx = bench.ctx.clone();
    bench.act(Action::Settings(SettingsAction::Compare(file.clone())));
    let is_shown = |app: &App| app.settings_page.view.as_ref().unwrap().import.is_some();
    bench.wait_until("the differences", is_shown);
    let rows = page(&bench).import.as_ref().unwrap().rows.clone().unwrap();
    let chosen: Vec<_> = rows.iter().map(|row| (row.key.as_str(), row.chosen)).collect();
    assert_eq!(chosen, [("theme", true), ("zoom", true), ("policy.walls", false)]);
    bench.act(Action::Settings(SettingsAction::ChooseImport("zoom".to_owned(), false)));
    assert_eq!(text(&bench), before, "nothing happens before it is confirmed");
    bench.act(Action::Settings(SettingsAction::ApplyImport));
    bench.wait_until("the theme", |app| app.settings.theme == egui::ThemePreference::Light);
    assert_eq!(text(&bench), "theme = \"light\"\n[policy]\nwalls = 'required'\n");
    assert!(page(&bench).note.as_ref().unwrap().1.contains("settings.before-import-1.toml"));
    // The other two keys are left.
    bench.act(Action::Settings(SettingsAction::Compare(file)));
    bench.wait_until("two differences", |app| {
        let import = app.settings_page.view.as_ref().unwrap().import.as_ref();
        import.is_some_and(|it| it.rows.as_ref().unwrap().len() == 2)
    });
    bench.act(Action::Settings(SettingsAction::DropImport));
    let out = bench.workspace.path().join("out.toml");
    bench.app.export_settings(out.clone(), &ctx);
    bench.wait_until("the export", |_| out.exists());
    let exported = std::fs::read_to_string(&out).unwrap();
    assert!(exported.contains("theme = \"light\"") && exported.contains("required"), "{exported}");
}

/// Motion is what the settings say; with the system's, what the desktop says.
#[test]
fn reduced_motion_takes_effect_at_once() {
    let mut bench = Bench::new();
    let ctx = bench.ctx.clone();
    let time = || ctx.style_of(egui::Theme::Dark).animation_time;
    bench.app.use_look(&ctx);
    assert!(time() > 0.0);
    bench.act(set("motion", "reduced"));
    bench.wait_until("no motion", |_| time() == 0.0);
    bench.act(set("motion", "full"));
    bench.wait_until("motion", |_| time() > 0.0);
}
