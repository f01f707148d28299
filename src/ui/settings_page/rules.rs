//! The person's own rules for commands: the list in the settings, and the form for a rule.

use egui::{Align, Id, Layout, Margin, TextEdit, Ui};

use super::{SettingsView, with_footer};
use crate::risk::{BadRule, CommandVerdict, RiskLevel, Shell, UserRule, UserRules, of_command};
use crate::ui::access::Reason as _;
use crate::ui::action::WindowAction;
use crate::ui::plan::risk_chip;
use crate::ui::{Action, Look, Text, Tone, icon, theme, widgets};

/// The form for a rule, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleForm {
    /// The id of the rule that it changes; `None` for a new one.
    pub replaces: Option<String>,
    /// The id of the rule.
    pub id: String,
    /// The first words of matching commands, separated by white space.
    pub prefix: String,
    /// The level of matching commands.
    pub level: RiskLevel,
    /// The reason.
    pub reason: String,
    /// Commands that the rule must match, one a line.
    pub must_match: String,
    /// Commands that the rule must not match, one a line.
    pub must_not_match: String,
    /// A command to try the rule with. It is not saved.
    pub sample: String,
}

impl Default for RuleForm {
    fn default() -> Self {
        let empty = String::new;
        Self {
            replaces: None,
            id: empty(),
            prefix: empty(),
            level: RiskLevel::Dangerous,
            reason: empty(),
            must_match: empty(),
            must_not_match: empty(),
            sample: empty(),
        }
    }
}

/// A rule that was removed, and can be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRule {
    /// Its place in the list of rules.
    pub place: usize,
    /// The rule.
    pub rule: UserRule,
}

impl RuleForm {
    /// The form that changes a rule.
    pub fn of(rule: &UserRule) -> Self {
        Self {
            replaces: Some(rule.id.clone()),
            id: rule.id.clone(),
            prefix: rule.prefix.join(" "),
            level: rule.level,
            reason: rule.reason.clone(),
            must_match: rule.must_match.join("\n"),
            must_not_match: rule.must_not_match.join("\n"),
            sample: String::new(),
        }
    }

    /// The rule in the form.
    pub fn rule(&self) -> UserRule {
        let lines = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        UserRule {
            id: self.id.trim().to_owned(),
            prefix: self.prefix.split_whitespace().map(str::to_owned).collect(),
            level: self.level,
            reason: self.reason.trim().to_owned(),
            must_match: lines(&self.must_match),
            must_not_match: lines(&self.must_not_match),
        }
    }

    /// Whether nothing of what a rule needs is filled in.
    fn is_empty(&self) -> bool {
        [&self.id, &self.prefix, &self.must_match].iter().all(|it| it.trim().is_empty())
    }

    /// The form, checked together with the other rules as the settings file is.
    pub fn checked(self, others: &UserRules) -> CheckedForm {
        let all = match &self.replaces {
            Some(id) => others.replacing(id, self.rule()),
            None => others.with(self.rule()),
        };
        let sample = Some(self.sample.trim()).filter(|sample| !sample.is_empty());
        let sample = sample.zip(all.as_ref().ok());
        let sample = sample.map(|(sample, all)| of_command(sample, Shell::Bash, all));
        let sample = sample.map(|verdict| TriedSample::new(&verdict, self.id.trim()));
        CheckedForm { sample, fault: all.err().map(|fault| self.fault_text(&fault)), form: self }
    }

    /// A fault in the words of the form.
    fn fault_text(&self, fault: &BadRule) -> String {
        match fault {
            BadRule::Incomplete(_) => {
                let needed = [
                    ("a name", &self.id),
                    ("the first words of the command", &self.prefix),
                    ("a reason", &self.reason),
                    ("a command that it must match", &self.must_match),
                ];
                let missing = needed.into_iter().filter(|(_, text)| text.trim().is_empty());
                let missing: Vec<_> = missing.map(|(what, _)| what).collect();
                format!("Still needed: {}.", missing.join(", "))
            }
            BadRule::Twice(_) => "Another rule has this name.".to_owned(),
            BadRule::NoMatch { example, .. } => {
                format!("The rule does not match {example:?}, which it must match.")
            }
            BadRule::Match { example, .. } => {
                format!("The rule matches {example:?}, which it must not match.")
            }
            BadRule::Unreadable { .. } | BadRule::Safe(_) => fault.to_string(),
        }
    }
}

/// A form with the result of its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedForm {
    /// The form.
    pub form: RuleForm,
    /// Why the rule cannot be saved; `None` if it can.
    pub fault: Option<String>,
    /// The verdict on the sample; `None` without a sample, or if the rule has a fault.
    pub sample: Option<TriedSample>,
}

/// What the rules say about the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedSample {
    /// Whether the new rule matches it.
    pub matches: bool,
    /// The level that it gets from all rules.
    pub level: RiskLevel,
    /// The rule that decides.
    pub rule: String,
    /// The reason.
    pub reason: String,
}

impl TriedSample {
    fn new(verdict: &CommandVerdict, id: &str) -> Self {
        Self {
            matches: verdict.matched.contains(id),
            level: verdict.level,
            rule: verdict.rule.clone(),
            reason: verdict.reason.clone(),
        }
    }
}

/// The list of the rules, with a button to add one.
pub(super) fn list_ui(ui: &mut Ui, settings: &SettingsView, actions: &mut Vec<Action>) {
    if settings.rules.is_empty() && settings.removed_rules.is_empty() {
        widgets::line(ui, "None: the built-in rules alone judge.", Text::Body, Tone::Dim);
    }
    // A removed rule keeps its place, so that nothing moves under the pointer.
    let removed_at =
        |index: usize| settings.removed_rules.iter().filter(move |it| it.place == index);
    for (index, rule) in settings.rules.iter().enumerate() {
        removed_at(index).for_each(|it| removed_ui(ui, &it.rule, actions));
        rule_ui(ui, rule, settings.can_change, actions);
    }
    let beyond = settings.removed_rules.iter().filter(|it| it.place >= settings.rules.len());
    beyond.for_each(|it| removed_ui(ui, &it.rule, actions));
    note_ui(ui, settings.rules_note.as_ref());
    if !settings.can_change {
        let text = "They can be changed here once the settings file has no fault.";
        widgets::line(ui, text, Text::Small, Tone::Dim);
    } else if widgets::button(ui, Look::Plain, None, "New rule…", true).clicked() {
        actions.push(Action::Window(WindowAction::EditRule(RuleForm::default())));
    }
}

fn rule_ui(ui: &mut Ui, rule: &UserRule, can_change: bool, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.set_height(theme::BUTTON);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let name = format!("Remove the rule {}", rule.id);
            if can_change && widgets::icon_button(ui, icon::CLOSE, &name).clicked() {
                actions.push(Action::Window(WindowAction::RemoveRule(rule.id.clone())));
            }
            let name = format!("Change the rule {}", rule.id);
            if can_change && widgets::icon_button(ui, icon::WRITE, &name).clicked() {
                actions.push(Action::Window(WindowAction::EditRule(RuleForm::of(rule))));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                risk_chip(rule.level).ui(ui);
                let text = format!("{} …", rule.prefix.join(" "));
                widgets::line(ui, text, Text::Mono, Tone::Plain);
            });
        });
    });
    let text = format!("{}: {}", rule.id, rule.reason);
    widgets::paragraph(ui, text, Text::Small, Tone::Dim);
}

/// A removed rule, with as much height as before.
fn removed_ui(ui: &mut Ui, rule: &UserRule, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.set_height(theme::BUTTON);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let hint = format!("Put the rule {} back.", rule.id);
            if widgets::tooltip_button(ui, Look::Plain, icon::REVERT, "Undo", &hint) {
                actions.push(Action::Window(WindowAction::RestoreRule(rule.id.clone())));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let text = format!("{} …", rule.prefix.join(" "));
                widgets::line(ui, text, Text::Mono, Tone::Dim);
            });
        });
    });
    let text = format!("{}: removed. Until you leave the settings, you can put it back.", rule.id);
    widgets::paragraph(ui, text, Text::Small, Tone::Dim);
}

fn note_ui(ui: &mut Ui, note: Option<&(Tone, String)>) {
    if let Some((tone, text)) = note {
        let icon = if *tone == Tone::Safe { icon::CHECK } else { icon::WARNING };
        widgets::remark(ui, icon, *tone, text);
    }
}

/// The form for a rule, with its buttons in sight below its fields.
pub(super) fn form_ui(
    ui: &mut Ui,
    settings: &SettingsView,
    checked: &CheckedForm,
    actions: &mut Vec<Action>,
) {
    let title = match checked.form.replaces {
        Some(_) => "Change a rule for commands",
        None => "New rule for commands",
    };
    let mut of_footer = Vec::new();
    let note = settings.rules_note.as_ref();
    with_footer(
        ui,
        title,
        |ui| fields_ui(ui, checked, actions),
        |ui| save_ui(ui, checked, note, &mut of_footer),
    );
    actions.append(&mut of_footer);
}

/// The fields of the form for a rule. The first one has the focus when the form opens.
fn fields_ui(ui: &mut Ui, checked: &CheckedForm, actions: &mut Vec<Action>) {
    let mut form = checked.form.clone();
    if ui.ctx().read_response(field_id("Name")).is_none() {
        ui.memory_mut(|memory| memory.request_focus(field_id("Name")));
    }
    field_ui(ui, "Name", &mut form.id, "no-deploy", 1);
    field_ui(ui, "First words of the command", &mut form.prefix, "make deploy", 1);
    widgets::heading(ui, "Level");
    ui.horizontal(|ui| {
        for level in [RiskLevel::Caution, RiskLevel::Dangerous, RiskLevel::Blocked] {
            if widgets::choice(ui, level.as_str(), form.level == level).clicked() {
                form.level = level;
            }
        }
    });
    field_ui(ui, "Reason", &mut form.reason, "Only the pipeline deploys.", 1);
    field_ui(ui, "Commands it must match, one a line", &mut form.must_match, "make deploy", 2);
    let not = &mut form.must_not_match;
    field_ui(ui, "Commands it must not match, one a line", not, "make test", 2);
    field_ui(ui, "Try a command; it is not run", &mut form.sample, "sudo make deploy", 1);
    match &checked.sample {
        Some(sample) => sample_ui(ui, sample),
        None if !form.sample.trim().is_empty() => {
            let text = "It is judged as soon as the rule is complete.";
            widgets::line(ui, text, Text::Small, Tone::Dim);
        }
        None => {}
    }
    if form != checked.form {
        actions.push(Action::Window(WindowAction::EditRule(form)));
    }
}

/// What is wrong with the rule, and the buttons, below its fields.
fn save_ui(
    ui: &mut Ui,
    checked: &CheckedForm,
    note: Option<&(Tone, String)>,
    actions: &mut Vec<Action>,
) {
    match &checked.fault {
        Some(_) if checked.form.is_empty() => {
            let text = "Give the rule a name, the first words of its commands, and one that it must match.";
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }
        Some(fault) => widgets::remark(ui, icon::WARNING, Tone::Caution, fault),
        None => {
            let text = "Saving makes authorizations under the old rules void.";
            widgets::remark(ui, icon::INFO, Tone::Dim, text);
        }
    }
    note_ui(ui, note);
    ui.horizontal(|ui| {
        let can_save = checked.fault.is_none();
        let save = widgets::button(ui, Look::Primary, None, "Save the rule", can_save);
        if save.or_why(checked.fault.as_deref().unwrap_or_default()).clicked() {
            actions.push(Action::Window(WindowAction::SaveRule));
        }
        if widgets::button(ui, Look::Plain, None, "Cancel", true).clicked() {
            actions.push(Action::Window(WindowAction::DropRule));
        }
    });
}

fn field_id(name: &str) -> Id {
    Id::unique(("rule form", name))
}

/// A field below its name, with this many lines.
fn field_ui(ui: &mut Ui, name: &str, text: &mut String, hint: &str, lines: usize) {
    let label = widgets::heading(ui, name);
    let id = field_id(name);
    let edit = match lines {
        1 => widgets::code_field(text, id, f32::INFINITY),
        _ => TextEdit::multiline(text)
            .id(id)
            .font(Text::Mono.font())
            .margin(Margin::symmetric(10, 6))
            .desired_rows(lines)
            .desired_width(f32::INFINITY),
    };
    ui.add(edit.hint_text(hint)).labelled_by(label.id);
}

fn sample_ui(ui: &mut Ui, sample: &TriedSample) {
    ui.horizontal_wrapped(|ui| {
        risk_chip(sample.level).ui(ui);
        let matches = if sample.matches { "The rule matches." } else { "The rule does not match." };
        widgets::line(ui, matches, Text::Body, Tone::Plain);
    });
    let reason = format!("{}: {}", sample.rule, sample.reason);
    widgets::paragraph(ui, reason, Text::Small, Tone::Dim);
}

#[cfg(test)]
mod tests;
