//! The settings page: carries out its actions, and takes over what was changed in the file.

mod keys;
mod transfer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use toml::{Table, Value};

use super::App;
use super::file_dialog::PickerRequest;
use super::settings::{Motion, parse};
use crate::risk::UserRules;
use crate::run::settings::{
    Shortcuts, default_of, found_in, leaves, row_of, shown, weakened, weaker_in,
};
use crate::ui::action::SettingsAction;
use crate::ui::commands::{set_shortcuts, shortcuts};
use crate::ui::settings_page::{KeyNote, RowView, SettingsView};
use crate::ui::{Command, Page, Tone, theme};
use crate::worker::settings_file::{FoundSettings, SetSetting};
use crate::worker::{DesktopLook, EditorCommand, OpenSettingsFile, Query as _, ReadDesktopLook};

use transfer::Import;

/// A change that weakens protection and waits for a confirmation.
struct Asked {
    key: String,
    value: Option<Value>,
    sentence: &'static str,
}

/// What the person chose in a file dialog, until the next frame.
pub(super) enum PickedSetting {
    /// A path for this key; with `add`, for its list.
    Path { key: String, path: PathBuf, add: bool },
    /// The file to export to.
    Export(PathBuf),
    /// The file to import.
    Import(PathBuf),
}

/// The state of the page.
#[derive(Default)]
pub(super) struct SettingsPage {
    /// The page as it is drawn; `None` before it was first shown.
    pub(super) view: Option<Box<SettingsView>>,
    /// The keys and values of the settings file.
    pub(super) file: Table,
    /// Why the last change of a key was refused.
    faults: BTreeMap<String, String>,
    asked: Option<Asked>,
    capturing: Option<Command>,
    key_note: Option<KeyNote>,
    import: Option<Import>,
    note: Option<(Tone, String)>,
    /// What the desktop prefers.
    desktop: DesktopLook,
    /// What was chosen in a file dialog.
    pub(super) picked: Option<PickedSetting>,
}

impl SettingsPage {
    pub(super) fn new(file: Table) -> Self {
        Self { file, ..Self::default() }
    }

    /// Forgets what is about the last look at the page.
    fn leave(&mut self) {
        (self.asked, self.capturing, self.key_note, self.note) = (None, None, None, None);
        self.faults.clear();
    }
}

impl SettingsPage {
    /// Takes over rules for commands that this window has saved, so that they are no change of another one.
    pub(super) fn note_own_rules(&mut self, rules: &UserRules) {
        let policy = self.file.entry("policy").or_insert_with(|| Value::Table(Table::new()));
        if let (Some(policy), Ok(rules)) = (policy.as_table_mut(), Value::try_from(rules)) {
            policy.insert("command_rules".to_owned(), rules);
        }
    }
}

impl App {
    /// Shows the settings.
    pub(super) fn show_settings(&mut self, ctx: &egui::Context) {
        self.show_page(Page::Settings);
        self.settings_page.view = Some(Box::new(self.settings_view(ctx)));
        self.describe_computer(ctx);
        self.read_desktop_look(ctx);
    }

    /// Forgets what the settings page only shows until it is left.
    pub(super) fn leave_settings(&mut self) {
        self.settings_page.leave();
        self.rules.leave();
    }

    /// Shows the page with what has changed, if it was shown before.
    pub(super) fn update_settings_view(&mut self, ctx: &egui::Context) {
        if self.settings_page.view.is_some() {
            self.settings_page.view = Some(Box::new(self.settings_view(ctx)));
        }
    }

    pub(super) fn settings_view(&self, ctx: &egui::Context) -> SettingsView {
        let page = &self.settings_page;
        let policy = &self.shared.setup.policy;
        let mut rows = RowView::all(&page.file);
        for row in &mut rows {
            row.fault = page.faults.get(&row.key).cloned();
            row.asks = page.asked.as_ref().filter(|asked| asked.key == row.key).map(|asked| {
                let default = default_of(row.row);
                (shown(row.row, asked.value.as_ref().or(default.as_ref())), asked.sentence)
            });
        }
        let file = self.settings_file.as_ref();
        let editor = Some(&self.settings.editor_command).filter(|command| !command.is_empty());
        SettingsView {
            rows,
            notification_fault: self.notifier.fault().filter(|_| self.settings.notifications),
            editor_fault: editor.and_then(|command| EditorCommand::parse(command).err()),
            file: file.map_or_else(|| "none".to_owned(), |file| file.display().to_string()),
            evidence: self.shared.setup.location.evidence.display().to_string(),
            can_change: file.is_some() && !self.settings_have_fault,
            rules: policy.command_rules.clone(),
            rule_form: self.rules.form.clone().map(|form| form.checked(&policy.command_rules)),
            removed_rules: self.rules.removed.clone(),
            rules_note: self.rules.note.clone(),
            note: page.note.clone(),
            computer: self.computer_lines(),
            shortcuts: Arc::new(shortcuts(ctx)),
            capturing: page.capturing,
            key_note: page.key_note.clone(),
            import: page.import.as_ref().map(Import::view),
        }
    }

    pub(super) fn apply_settings(&mut self, action: SettingsAction, ctx: &egui::Context) {
        match action {
            SettingsAction::Set(key, value) => self.ask_or_set(key, value, ctx),
            SettingsAction::Confirm => {
                if let Some(asked) = self.settings_page.asked.take() {
                    self.set_setting(asked.key, asked.value, ctx);
                }
            }
            SettingsAction::Decline => self.settings_page.asked = None,
            SettingsAction::Pick { key, folder, add } => {
                let start = found_in(&self.settings_page.file, &key).and_then(Value::as_str);
                let start = start.map(PathBuf::from).filter(|path| path.is_absolute());
                let start =
                    if folder { start } else { start.and_then(|it| Some(it.parent()?.into())) };
                self.pick(PickerRequest::Setting { key, folder, add, start });
            }
            SettingsAction::OpenAt(key) => self.open_settings_file(Some(key)),
            SettingsAction::Capture(command) => {
                self.settings_page.key_note = None;
                self.settings_page.capturing = Some(command).filter(|it| it.why_fixed().is_none());
            }
            SettingsAction::EndCapture => {
                (self.settings_page.capturing, self.settings_page.key_note) = (None, None);
            }
            SettingsAction::SetKeys(command, keys) => self.set_keys(command, keys, ctx),
            SettingsAction::SwapKeys => self.swap_keys(ctx),
            SettingsAction::UsualKeys(None) => self.set_setting("shortcuts".to_owned(), None, ctx),
            SettingsAction::UsualKeys(Some(command)) => {
                let usual = Shortcuts::default().at(command as usize).cloned();
                self.set_keys(command, usual, ctx);
            }
            SettingsAction::Export => self.pick(PickerRequest::ExportSettings),
            SettingsAction::Import => self.pick(PickerRequest::ImportSettings),
            SettingsAction::Compare(file) => self.compare_import(file, ctx),
            SettingsAction::ChooseImport(key, chosen) => {
                if let Some(import) = &mut self.settings_page.import {
                    if chosen {
                        import.chosen.insert(key);
                    } else {
                        import.chosen.remove(&key);
                    }
                }
            }
            SettingsAction::ApplyImport => self.apply_import(ctx),
            SettingsAction::DropImport => self.settings_page.import = None,
        }
        self.update_settings_view(ctx);
    }

    fn pick(&mut self, request: PickerRequest) {
        let opened = self.file_picker.start(request);
        let next = "Use the command line: countersign settings --help.";
        self.shared.report_io(opened, "The file picker cannot be opened.", next);
    }

    /// Carries out what was chosen in a file dialog.
    pub(super) fn take_picked(&mut self, ctx: &egui::Context) {
        match self.settings_page.picked.take() {
            None => return,
            Some(PickedSetting::Path { key, path, add }) => self.set_picked(key, &path, add, ctx),
            Some(PickedSetting::Export(out)) => self.export_settings(out, ctx),
            Some(PickedSetting::Import(file)) => self.compare_import(file, ctx),
        }
        self.update_settings_view(ctx);
    }

    fn set_picked(&mut self, key: String, path: &std::path::Path, add: bool, ctx: &egui::Context) {
        let path = Value::from(path.to_string_lossy().into_owned());
        let value = if add {
            let list = found_in(&self.settings_page.file, &key).and_then(Value::as_array);
            let mut list = list.cloned().unwrap_or_default();
            if !list.contains(&path) {
                list.push(path);
            }
            Value::Array(list)
        } else {
            path
        };
        self.ask_or_set(key, Some(value), ctx);
    }

    /// Saves a change, or asks first if it weakens protection.
    fn ask_or_set(&mut self, key: String, value: Option<Value>, ctx: &egui::Context) {
        let gives_up = weaker_in(&self.settings_page.file, &key, value.as_ref());
        let gives_up = gives_up.filter(|it| !it.of_others);
        match gives_up {
            Some(it) => {
                self.settings_page.asked = Some(Asked { key, value, sentence: it.sentence })
            }
            None => self.set_setting(key, value, ctx),
        }
    }

    fn set_setting(&mut self, key: String, value: Option<Value>, ctx: &egui::Context) {
        let known = found_in(&self.settings_page.file, &key).cloned();
        if value != known {
            self.save_setting(key, Some(known), value, ctx);
        }
    }

    /// Saves the value of a key, and uses the settings as they are in the file then. Does nothing without a file, and if
    /// it has a fault.
    pub(super) fn save_setting(
        &mut self,
        key: String,
        known: Option<Option<Value>>,
        value: Option<Value>,
        ctx: &egui::Context,
    ) {
        let Some(file) = self.settings_file.clone().filter(|_| !self.settings_have_fault) else {
            return;
        };
        self.settings_page.faults.remove(&key);
        let ctx = ctx.clone();
        let query = SetSetting { file, key: key.clone(), known, value };
        self.shared.query_each(query, move |app, answer, latest| {
            match answer {
                // A later change has more.
                Ok(Ok(found)) if latest => app.use_settings(found, &ctx),
                Ok(Ok(_)) => {}
                Ok(Err(problem)) => {
                    let fault = format!("Not saved: {problem}");
                    app.settings_page.faults.insert(key, fault);
                    app.read_settings(&ctx);
                }
                Err(failed) => match failed.into_failure() {
                    Ok(failure) => {
                        let summary = SetSetting::FAILURE;
                        let fault = format!("{summary} {} {}", failure.message, failure.next);
                        app.settings_page.faults.insert(key, fault);
                    }
                    Err(failed) => app.shared.report(failed),
                },
            }
            app.update_settings_view(&ctx);
        });
    }

    /// Uses the settings of the file from now on. What only counts at the start, such as the inbox, stays. The shown plan
    /// is reviewed again if its review depends on what changed, which makes its authorization void.
    pub(super) fn use_settings(&mut self, found: FoundSettings, ctx: &egui::Context) {
        let Ok(new) = parse(&found.text) else { return };
        let before = std::mem::replace(&mut self.settings_page.file, found.table);
        let now = &self.settings_page.file;
        let changed = |key: &str| found_in(&before, key) != found_in(now, key);
        if changed("theme") {
            self.settings.theme = new.theme;
            ctx.set_theme(new.theme);
        }
        if changed("zoom") {
            self.settings.zoom = new.zoom;
            ctx.set_zoom_factor(new.zoom);
        }
        if changed("shortcuts") {
            set_shortcuts(ctx, Shortcuts::of(&new.shortcuts).unwrap_or_default());
        }
        let must_see = changed("must_see");
        self.settings.high_contrast = new.high_contrast;
        self.settings.motion = new.motion;
        self.settings.notifications = new.notifications;
        self.settings.editor_command = new.editor_command;
        self.settings.agents = new.agents;
        self.settings.shortcuts = new.shortcuts;
        self.use_look(ctx);
        if must_see {
            self.settings.must_see = new.must_see;
            self.plan.set_must_see(new.must_see);
        }
        let is_other_policy = self.use_policy(&found.policy);
        if must_see || is_other_policy {
            self.plan.review_again(false, &mut self.shared);
        }
    }

    /// Uses what the settings say in this policy. Returns whether that is something else than before.
    pub(super) fn use_policy(&mut self, read: &crate::risk::Policy) -> bool {
        let before = self.shared.setup.policy.clone();
        self.shared.setup.policy.take_settings(read);
        if self.shared.setup.policy == before {
            return false;
        }
        self.shared.queries.take_settings(read);
        self.shared.worker.take_settings(read);
        self.inbox.use_policy(&self.shared.setup.policy);
        true
    }

    /// Uses the contrast and the motion of the settings.
    pub(super) fn use_look(&self, ctx: &egui::Context) {
        let reduced = match self.settings.motion {
            Motion::Reduced => true,
            Motion::Full => false,
            Motion::System => self.settings_page.desktop.reduced_motion.unwrap_or(false),
        };
        theme::set_look(ctx, self.settings.high_contrast, reduced);
    }

    /// Asks the desktop how windows should look.
    pub(super) fn read_desktop_look(&mut self, ctx: &egui::Context) {
        let ctx = ctx.clone();
        self.shared.query(ReadDesktopLook, move |app, look| {
            app.settings_page.desktop = look;
            app.use_look(&ctx);
        });
    }

    /// Says what another window or program has changed in the settings.
    pub(super) fn note_foreign_change(&mut self, new: &Table) {
        let old = &self.settings_page.file;
        let keys: BTreeSet<String> =
            leaves(old).into_iter().chain(leaves(new)).map(|(key, _)| key).collect();
        let changed = |key: &&String| found_in(old, key) != found_in(new, key);
        let changed: Vec<&String> = keys.iter().filter(changed).collect();
        let is_noted = |key: &&&String| {
            let is_remembered = ["window", "panels", "recent", "searches"].contains(&key.as_str());
            // The rules have their own note.
            !is_remembered && key.as_str() != "policy.command_rules"
        };
        let gives_up = weakened(old, new).into_iter().filter(|(_, found)| !found.of_others);
        let gives_up = gives_up.filter_map(|(key, found)| {
            let row = row_of(&key)?;
            let default = default_of(row);
            let value = shown(row, found_in(new, &key).or(default.as_ref()));
            Some(format!("{key} is now {value}. {}", found.sentence))
        });
        let gives_up: Vec<_> = gives_up.collect();
        if !gives_up.is_empty() {
            let summary = "Protection was weakened in another window or in the settings file.";
            let next = "If you did not do that, set it back in the settings.";
            self.shared.notify(Tone::Caution, summary, gives_up.join("\n"), next);
        }
        if changed.iter().any(|key| is_noted(&key)) {
            let text = "The settings were changed in another window or in the settings file.";
            self.settings_page.note = Some((Tone::Caution, text.to_owned()));
        }
    }

    /// Opens the settings file, at the line of this key. If there is no file yet, it is saved first.
    pub(super) fn open_settings_file(&mut self, key: Option<String>) {
        let Some(file) = self.settings_file.clone() else {
            self.shared.notify(Tone::Caution, OpenSettingsFile::FAILURE, "There is none.", "");
            return;
        };
        let file = std::path::absolute(&file).unwrap_or(file);
        self.save_settings();
        let command = self.settings.editor_command.clone();
        self.shared.query(OpenSettingsFile { file, command, key }, |_, ()| {});
    }
}

/// The theme as the settings file has it.
pub(super) fn theme_value(theme: egui::ThemePreference) -> Value {
    match theme {
        egui::ThemePreference::System => "system".into(),
        egui::ThemePreference::Light => "light".into(),
        egui::ThemePreference::Dark => "dark".into(),
    }
}
