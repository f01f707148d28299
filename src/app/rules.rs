//! Changes the person's rules for commands, takes over what other windows change, and opens their file.

use std::path::Path;

use super::App;
use super::recent::RecentChange;
use super::searches::SearchesChange;
use super::shared_files::SharedFiles;
use crate::risk::{Policy, UserRules};
use crate::ui::settings_page::{RemovedRule, RuleForm};
use crate::ui::{Page, Tone};
use crate::worker::settings_file::ReadSettings;
use crate::worker::{Query as _, RuleChange, SaveRules, Wake};

/// What the settings show of the rules, besides the rules themselves.
pub(super) struct RulesEditor {
    /// The form for a rule. It stays when the settings are closed, so that nothing typed is lost.
    pub(super) form: Option<RuleForm>,
    /// What came of the last change of the rules.
    pub(super) note: Option<(Tone, String)>,
    /// The rules that were removed since the settings were opened, in the order of their places.
    pub(super) removed: Vec<RemovedRule>,
    /// The settings file, which other windows also change.
    file: Option<SharedFiles>,
    /// The fault that the file got since the start.
    fault: Option<String>,
    /// The notice about it.
    fault_notice: Option<u64>,
}

impl RulesEditor {
    pub(super) fn new(file: Option<&Path>, wake: Wake) -> Self {
        let file = file.and_then(|file| std::path::absolute(file).ok());
        let file = file.and_then(|file| {
            let folder = file.parent()?.to_owned();
            Some(SharedFiles::new(folder, [file].into(), wake))
        });
        Self { form: None, note: None, removed: Vec::new(), file, fault: None, fault_notice: None }
    }

    /// Forgets what can be undone only while the settings are open.
    pub(super) fn leave(&mut self) {
        self.removed.clear();
        self.note = None;
    }

    /// Notes that a rule was removed.
    fn note_removal(&mut self, removed: RemovedRule) {
        let index = self.removed.partition_point(|it| it.place <= removed.place);
        self.removed.iter_mut().skip(index).for_each(|later| later.place -= 1);
        self.removed.insert(index, removed);
    }

    /// Notes that the rule with this id was put back.
    fn note_restoration(&mut self, id: &str) {
        if let Some(index) = self.removed.iter().position(|it| it.rule.id == id) {
            self.removed.remove(index);
            self.removed.iter_mut().skip(index).for_each(|later| later.place += 1);
        }
    }
}

impl App {
    /// Saves the rule in the form. The form is closed once the rule is saved.
    pub(super) fn save_rule(&mut self, ctx: &egui::Context) {
        if let Some(form) = &self.rules.form {
            let change = match &form.replaces {
                Some(id) => RuleChange::Replace(id.clone(), form.rule()),
                None => RuleChange::Add(form.rule()),
            };
            self.change_rules(change, ctx);
        }
    }

    /// Undoes the removal of a rule.
    pub(super) fn restore_rule(&mut self, id: &str, ctx: &egui::Context) {
        let removed = self.rules.removed.iter().find(|it| it.rule.id == id);
        if let Some(RemovedRule { place, rule }) = removed.cloned() {
            self.change_rules(RuleChange::Restore(place, rule), ctx);
        }
    }

    pub(super) fn remove_rule(&mut self, id: String, ctx: &egui::Context) {
        self.change_rules(RuleChange::Remove(id), ctx);
    }

    fn change_rules(&mut self, change: RuleChange, ctx: &egui::Context) {
        let Some(file) = self.settings_file.clone().filter(|_| !self.settings_have_fault) else {
            return;
        };
        let known = self.shared.setup.policy.command_rules.clone();
        let ctx = ctx.clone();
        let query = SaveRules { file, known: known.clone(), change: change.clone() };
        self.shared.query_latest(query, move |app, answer| {
            let note = match answer {
                Ok(found) => {
                    if found.saved {
                        app.settings_page.note_own_rules(&found.rules);
                    }
                    app.use_rules(found.rules, &ctx);
                    match change {
                        _ if !found.saved => (
                            Tone::Caution,
                            "Not saved: the rules were changed in the settings file. These are the rules as they \
                             are there now; look at them, then try again."
                                .to_owned(),
                        ),
                        RuleChange::Add(rule) | RuleChange::Replace(_, rule) => {
                            app.rules.form = None;
                            (Tone::Safe, format!("The rule {} is saved.", rule.id))
                        }
                        RuleChange::Restore(_, rule) => {
                            app.rules.note_restoration(&rule.id);
                            (Tone::Safe, format!("The rule {} is back.", rule.id))
                        }
                        RuleChange::Remove(id) => {
                            let removed = known.iter().enumerate().find(|(_, rule)| rule.id == id);
                            let is_open = app.shared.page == Page::Settings;
                            if let Some((place, rule)) = removed.filter(|_| is_open) {
                                let rule = rule.clone();
                                app.rules.note_removal(RemovedRule { place, rule });
                            }
                            (Tone::Safe, format!("The rule {id} is removed."))
                        }
                    }
                }
                Err(failed) => match failed.into_failure() {
                    Ok(failure) => {
                        let summary = SaveRules::FAILURE;
                        (Tone::Danger, format!("{summary} {} {}", failure.message, failure.next))
                    }
                    Err(failed) => {
                        app.shared.report(failed);
                        return;
                    }
                },
            };
            app.rules.note = Some(note);
            app.update_settings_view(&ctx);
        });
    }

    /// Reads the rules if another window or program may have changed them. Returns the milliseconds left until then.
    pub(super) fn read_rules_when_due(&mut self, ctx: &egui::Context) -> Option<i64> {
        let now_ms = self.shared.now.ms;
        let file = self.rules.file.as_mut()?;
        let left_ms = file.due_in(now_ms, false)?;
        if left_ms > 0 {
            return Some(left_ms);
        }
        file.clear(now_ms);
        self.read_settings(ctx);
        self.change_recent(RecentChange::Refresh);
        self.change_searches(SearchesChange::Refresh);
        None
    }

    /// Reads the settings file, and uses what another window or program changed there.
    pub(super) fn read_settings(&mut self, ctx: &egui::Context) {
        let Some(file) = self.settings_file.clone().filter(|_| !self.settings_have_fault) else {
            return;
        };
        let ctx = ctx.clone();
        self.shared.query(ReadSettings(file), move |app, found| {
            let fault = found.as_ref().err().map(ToString::to_string);
            if fault != app.rules.fault {
                app.rules.fault.clone_from(&fault);
                // It is about the file as it was.
                if let Some(notice) = app.rules.fault_notice.take() {
                    app.shared.dismiss(notice);
                }
                if let Some(fault) = fault {
                    let summary = "The settings file was changed and cannot be used. The settings from before still apply.";
                    let next = "Correct it. With this fault, nothing runs after the next start, or every step asks.";
                    let notice = app.shared.notify(Tone::Caution, summary, fault, next);
                    app.rules.fault_notice = Some(notice);
                }
            }
            let Ok(found) = found else { return };
            if found.table == app.settings_page.file {
                return;
            }
            app.note_foreign_change(&found.table);
            let is_open = app.shared.page == Page::Settings;
            if is_open && found.policy.command_rules != app.shared.setup.policy.command_rules {
                let text = "The rules were changed in another window or in the settings file.";
                app.rules.note = Some((Tone::Caution, text.to_owned()));
            }
            app.use_settings(found, &ctx);
            app.update_settings_view(&ctx);
        });
    }

    /// Applies rules to everything that is reviewed or run from now on. The shown plan is reviewed again, which makes
    /// an authorization under other rules void.
    fn use_rules(&mut self, rules: UserRules, ctx: &egui::Context) {
        let policy = Policy { command_rules: rules, ..self.shared.setup.policy.clone() };
        if self.use_policy(&policy) {
            self.plan.review_again(false, &mut self.shared);
            // The other settings in the file, too.
            self.read_settings(ctx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::UserRule;

    /// Rules removed in any order go back to the places that they had.
    #[test]
    fn removed_rules_know_their_places() {
        const IDS: [&str; 4] = ["a", "b", "c", "d"];
        let rule = |id: &str| UserRule { id: id.into(), ..RuleForm::default().rule() };
        for removals in ["ab", "ba", "bad", "dbac", "abcd", "cad"] {
            let mut editor = RulesEditor::new(None, std::sync::Arc::new(|| ()));
            let mut list = IDS.map(str::to_owned).to_vec();
            for id in removals.chars().map(|id| id.to_string()) {
                let place = list.iter().position(|it| *it == id).unwrap();
                list.remove(place);
                editor.note_removal(RemovedRule { place, rule: rule(&id) });
            }
            let shown: Vec<_> = editor.removed.iter().map(|it| it.rule.id.clone()).collect();
            assert!(shown.is_sorted(), "{removals}: {shown:?}");
            for id in removals.chars().map(|id| id.to_string()) {
                let removed = editor.removed.iter().find(|it| it.rule.id == id).unwrap();
                list.insert(removed.place, id.clone());
                editor.note_restoration(&id);
            }
            assert_eq!(list, IDS, "{removals}");
        }
    }
}
