//! Example data: the settings page.

use std::sync::Arc;

use countersign::risk::{RiskLevel, UserRules};
use countersign::run::settings::Shortcuts;
use countersign::ui::Command;
use countersign::ui::action::{Action, SettingsAction, WindowAction};
use countersign::ui::settings_page::{
    ImportRow, ImportView, KeyNote, RemovedRule, RowView, RuleForm, SettingsView,
};

/// The settings file of the example.
const FILE: &str = "theme = 'dark'\neditor_command = 'code -g {file}:{line}:{column}'\n\
                    [policy]\nwalls = 'off'\nconfirm_tools = ['shell']\nextra_roots = ['/home/ada/data']\n\
                    [[policy.command_rules]]\nid = 'no-deploy'\n\
                    [planners.'plan.py']\nnetwork = true\n[model]\nkey = 'secret'\n\
                    [shortcuts]\nreject = 'F12'\n";

/// The page in the scene with this name; `None` in other scenes.
pub fn view(name: &str) -> Option<SettingsView> {
    let known = name == "rule" || name == "settings" || name.starts_with("settings-");
    known.then(|| settings(name))
}

fn settings(name: &str) -> SettingsView {
    let mut rows = RowView::all(&FILE.parse().unwrap_or_default());
    for row in &mut rows {
        match (name, &*row.key) {
            ("settings-asks", "must_see") => {
                let sentence =
                    "A plan can then be authorized with steps that you have not looked at.";
                row.asks = Some(("Nothing".into(), sentence));
            }
            ("settings-faulty", "policy.authorization_minutes") => {
                let fault =
                    "Not saved: policy.authorization_minutes is 0, and must lie between 1 and 1440";
                row.fault = Some(fault.into());
            }
            _ => {}
        }
    }
    let chosen = [("reject".to_owned(), "F12".to_owned())].into();
    let import_row = |key: &str, from: &str, to: &str, weakens: Option<&'static str>| ImportRow {
        key: key.into(),
        name: countersign::run::settings::row_of(key).map_or("", |row| row.name).into(),
        from: from.into(),
        to: to.into(),
        weakens,
        chosen: weakens.is_none(),
    };
    let walls = "A plan then also runs on a computer that has no walls or weaker ones.";
    SettingsView {
        rows,
        notification_fault: None,
        editor_fault: None,
        file: "/home/ada/.config/countersign/settings.toml".into(),
        evidence: "/home/ada/.local/share/countersign".into(),
        can_change: true,
        rules: own_rules(),
        rule_form: (name == "rule").then(|| rule_form().checked(&own_rules())),
        removed_rules: Vec::new(),
        rules_note: None,
        note: None,
        computer: [
            ("walls", "full: a step reaches only what it was granted"),
            ("code engine", "external with an up-to-date code graph, else embedded"),
            ("splice", "/home/ada/.cargo/bin/splice"),
            ("code graph", "none in the workspace of the shown plan"),
            ("model", "none is set"),
            ("evidence", "3,412 runs in 812 MiB, since 2025-01-03"),
            ("planners", "plan.py reads, network"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        shortcuts: Arc::new(Shortcuts::of(&chosen).unwrap_or_default()),
        capturing: None,
        key_note: None,
        import: match name {
            "settings-import" => Some(ImportView {
                file: "/home/ada/team/settings.toml".into(),
                rows: Ok(vec![
                    import_row("theme", "Dark", "Light", None),
                    import_row("zoom", "100 % (default)", "130 %", None),
                    import_row("policy.walls", "Required", "Preferred", Some(walls)),
                ]),
            }),
            "settings-import-faulty" => Some(ImportView {
                file: "/home/ada/team/settings.toml".into(),
                rows: Err("line 3: zoom is 9, and must lie between 0.5 and 3".into()),
            }),
            _ => None,
        },
    }
}

/// Changes the page as the window would.
pub fn play(settings: &mut SettingsView, action: &Action) {
    match action {
        Action::Window(WindowAction::EditRule(form)) => {
            settings.rule_form = Some(form.clone().checked(&settings.rules));
        }
        Action::Window(WindowAction::DropRule) => settings.rule_form = None,
        Action::Window(WindowAction::RemoveRule(id)) => {
            for (place, rule) in settings.rules.iter().enumerate() {
                if rule.id == *id {
                    let rule = rule.clone();
                    settings.removed_rules.push(RemovedRule { place, rule });
                }
            }
            let others = settings.rules.iter().filter(|rule| rule.id != *id).cloned();
            settings.rules = others
                .fold(UserRules::default(), |rules, rule| rules.with(rule).unwrap_or_default());
        }
        Action::Settings(SettingsAction::Set(key, value)) => {
            if let Some(row) = settings.rows.iter_mut().find(|row| row.key == *key) {
                row.in_file.clone_from(value);
            }
        }
        Action::Settings(SettingsAction::Decline) => {
            settings.rows.iter_mut().for_each(|row| row.asks = None);
        }
        Action::Settings(SettingsAction::Capture(command)) => settings.capturing = Some(*command),
        Action::Settings(SettingsAction::EndCapture) => {
            (settings.capturing, settings.key_note) = (None, None);
        }
        Action::Settings(SettingsAction::SetKeys(command, Some(keys))) => {
            settings.capturing = None;
            let other = settings.shortcuts.command_of(keys).and_then(Command::at);
            settings.key_note = other
                .filter(|other| other != command)
                .map(|other| KeyNote::Clash(*command, keys.clone(), other));
        }
        Action::Settings(SettingsAction::ChooseImport(key, chosen)) => {
            let rows = settings.import.iter_mut().filter_map(|import| import.rows.as_mut().ok());
            rows.flatten().filter(|row| row.key == *key).for_each(|row| row.chosen = *chosen);
        }
        Action::Settings(SettingsAction::DropImport) => settings.import = None,
        _ => {}
    }
}

/// A rule as a person would type it.
fn rule_form() -> RuleForm {
    RuleForm {
        replaces: None,
        id: "no-publish".into(),
        prefix: "cargo publish".into(),
        level: RiskLevel::Blocked,
        reason: "Releases are made by the pipeline.".into(),
        must_match: "cargo publish".into(),
        must_not_match: "cargo build".into(),
        sample: "cargo publish --dry-run".into(),
    }
}

/// The rules in the settings.
pub fn own_rules() -> UserRules {
    let rule = RuleForm {
        id: "no-deploy".into(),
        prefix: "make deploy".into(),
        reason: "Only the pipeline deploys.".into(),
        must_match: "make deploy".into(),
        must_not_match: String::new(),
        ..rule_form()
    };
    let careful = RuleForm {
        id: "careful-push".into(),
        prefix: "git push".into(),
        level: RiskLevel::Caution,
        reason: "Others see it.".into(),
        must_match: "git push".into(),
        ..rule.clone()
    };
    let rules = UserRules::default().with(rule.rule());
    rules.and_then(|rules| rules.with(careful.rule())).unwrap_or_default()
}
