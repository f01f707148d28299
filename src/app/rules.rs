//! Changes the person's rules for commands, and opens their file.

use super::App;
use crate::risk::UserRules;
use crate::ui::Tone;
use crate::ui::overlay::RuleForm;
use crate::worker::{OpenSettingsFile, Query as _, RuleChange, SaveRules};

impl App {
    /// Opens the settings file. If there is none yet, it is saved first.
    pub(super) fn open_settings_file(&mut self) {
        let Some(file) = self.settings_file.clone() else {
            self.shared.notify(Tone::Caution, OpenSettingsFile::FAILURE, "There is none.", "");
            return;
        };
        let file = std::path::absolute(&file).unwrap_or(file);
        self.save_settings();
        let command = self.settings.editor_command.clone();
        self.shared.query(OpenSettingsFile { file, command }, |_, ()| {});
    }

    /// Saves the rule in the form. The form is closed once the rule is saved.
    pub(super) fn add_rule(&mut self, ctx: &egui::Context) {
        let rule = self.rule_form.as_ref().map(RuleForm::rule);
        if let Some(rule) = rule {
            self.change_rules(RuleChange::Add(rule), ctx);
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
        let query = SaveRules { file, known, change: change.clone() };
        self.shared.query_latest(query, move |app, answer| {
            let note = match answer {
                Ok(found) => {
                    app.use_rules(found.rules);
                    match change {
                        _ if !found.saved => (
                            Tone::Caution,
                            "Not saved: the rules were changed in the settings file. These are the rules as they \
                             are there now; look at them, then try again."
                                .to_owned(),
                        ),
                        RuleChange::Add(rule) => {
                            app.rule_form = None;
                            (Tone::Safe, format!("The rule {} is saved.", rule.id))
                        }
                        RuleChange::Remove(id) => {
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
            app.rules_note = Some(note);
            app.update_settings_view(&ctx);
        });
    }

    /// Applies rules to everything that is reviewed or run from now on. The shown plan is reviewed again, which makes
    /// an authorization under other rules void.
    fn use_rules(&mut self, rules: UserRules) {
        if rules == self.shared.setup.policy.command_rules {
            return;
        }
        self.shared.setup.policy.command_rules = rules.clone();
        self.shared.queries.set_command_rules(rules.clone());
        self.shared.worker.set_command_rules(rules);
        self.plan.review_again(false, &mut self.shared);
    }
}
