//! The findings about a plan, each with its location in the file, so that the author can correct the plan.

use egui::{Frame, Label, Margin, ScrollArea, Ui, vec2};

use crate::plan::{Finding, Severity, ShownStep, StepPlace, drawable, prose};
use crate::ui::overlay::explain_ui;
use crate::ui::{Icon, Text, Theme, Tone, format, icon, widgets};

fn look(severity: Severity) -> (Icon, Tone, &'static str) {
    match severity {
        Severity::Error => (icon::FAILED, Tone::Danger, "error"),
        Severity::Warning => (icon::WARNING, Tone::Caution, "warning"),
        Severity::Note => (icon::INFO, Tone::Dim, "note"),
    }
}

/// The numbers of errors, warnings and notes as a sentence, and the consequence of errors.
pub fn summary(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let errors = count(Severity::Error);
    let (warnings, notes) = (count(Severity::Warning), count(Severity::Note));
    let parts = format::counts([(errors, "error"), (warnings, "warning"), (notes, "note")]);
    let consequence = if errors > 0 { ". The plan cannot be authorized." } else { "." };
    format!("{}{consequence}", parts.join(", "))
}

/// A finding as text for the author of the plan.
pub fn as_text(finding: &Finding) -> String {
    let mut text = format!(
        "{} {} at line {}, column {} ({}): {}",
        finding.code,
        look(finding.severity).2,
        finding.line,
        finding.column,
        if finding.pointer.is_empty() { "whole file" } else { &finding.pointer },
        finding.message,
    );
    if !finding.allowed.is_empty() {
        text.push_str(&format!(" Allowed: {}.", finding.allowed.join(", ")));
    }
    text
}

/// The place that a JSON pointer names. Steps are counted from 1, as in the list of these steps, in which the verification
/// of a step is one of its own.
fn place(pointer: &str, steps: &[ShownStep]) -> String {
    let unescape = |key: &str| key.replace("~1", "/").replace("~0", "~");
    let keys: Vec<_> = pointer.split('/').skip(1).map(unescape).collect();
    let in_step = |list: &String, index: &String| {
        let index: usize =
            ["steps", "actions"].contains(&&**list).then(|| index.parse().ok())??;
        let verifies = pointer.ends_with("/verificationCommand");
        let is_it = |place: StepPlace| match place {
            StepPlace::Step(it) | StepPlace::Command(it) | StepPlace::Action(it) => {
                it == index && !verifies
            }
            StepPlace::Verification(it) => it == index && verifies,
        };
        let listed = steps.iter().position(|step| is_it(step.place)).unwrap_or(index);
        Some(format!("step {}", listed + 1))
    };
    match keys.as_slice() {
        [] => "whole file".to_owned(),
        [list, index, rest @ ..] if let Some(step) = in_step(list, index) => match rest {
            [] => step,
            rest => format!("{step}, {}", rest.join(".")),
        },
        keys => keys.join("."),
    }
}

/// A finding for a dialog: what it says, and in which part of the plan.
pub(crate) fn finding_sentence(finding: &Finding, steps: &[ShownStep]) -> String {
    let message = prose(&format::sentence(&finding.message)).into_owned();
    if finding.pointer.is_empty() {
        return message;
    }
    format!("{message} ({})", drawable(&place(&finding.pointer, steps)))
}

pub(super) fn findings_ui(ui: &mut Ui, findings: &[Finding], steps: &[ShownStep]) {
    if findings.is_empty() {
        return;
    }
    let theme = Theme::of(ui);
    let room = ui.available_height();
    // In a low window, a row of the list stays in view below.
    let height = (room * 0.5).max((room - 110.0).min(120.0));
    Frame::NONE.fill(theme.panel).inner_margin(Margin::symmetric(18, 10)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            let worst = findings.iter().map(|finding| finding.severity).max();
            let (icon, tone, _) = look(worst.unwrap_or(Severity::Note));
            widgets::icon_ui(ui, vec2(16.0, 24.0), icon, 16.0, theme.tone(tone));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let all: Vec<_> = findings.iter().map(as_text).collect();
                widgets::copy_button(ui, &all.join("\n"), "all findings");
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    widgets::line(ui, summary(findings), Text::Body, Tone::Plain);
                });
            });
        });
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            // A plan has at most a thousand findings, and only a faulty plan has more than a few.
            for finding in findings {
                finding_ui(ui, finding, steps);
            }
        });
    });
    widgets::line_below(ui);
}

fn finding_ui(ui: &mut Ui, finding: &Finding, steps: &[ShownStep]) {
    let theme = Theme::of(ui);
    let (icon, tone, word) = look(finding.severity);
    ui.horizontal_top(|ui| {
        widgets::icon_ui(ui, vec2(16.0, 18.0), icon, 14.0, theme.tone(tone));
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.add(
                Label::new(widgets::rich(
                    prose(&format::sentence(&finding.message)),
                    Text::Body,
                    theme.text,
                ))
                .wrap(),
            );
            // A code says which error it is.
            let (code, title) = match finding.severity {
                Severity::Error => (format!("{} ", finding.code), finding.code.title()),
                Severity::Warning | Severity::Note => (String::new(), word),
            };
            let place = place(&finding.pointer, steps);
            // What is about the whole plan is at no line of it.
            let line = match (finding.pointer.is_empty(), finding.line, finding.column) {
                (true, 1, 1) => String::new(),
                (_, line, column) => format!(" · line {line}, column {column}"),
            };
            let location = format!("{code}{word} · {}{line}", drawable(&place));
            ui.add(Label::new(widgets::rich(location, Text::SmallMono, theme.dim)).wrap())
                .on_hover_text(format!("{title}\n{}", drawable(&finding.pointer)));
            if finding.severity == Severity::Error {
                explain_ui(ui, &[finding.code]);
            }
            if !finding.allowed.is_empty() {
                let allowed = format!("allowed: {}", drawable(&finding.allowed.join(", ")));
                ui.add(Label::new(widgets::rich(allowed, Text::SmallMono, theme.dim)).wrap());
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_count_steps_as_the_list_does() {
        for (pointer, expected) in [
            ("", "whole file"),
            ("/plan_id", "plan_id"),
            ("/steps", "steps"),
            ("/steps/2", "step 3"),
            ("/steps/2/arguments/file", "step 3, arguments.file"),
            ("/actions/0/edits/1/a~1b~0", "step 1, edits.1.a/b~"),
            ("/targets/0", "targets.0"),
        ] {
            assert_eq!(place(pointer, &[]), expected);
        }
    }

    #[test]
    fn a_verification_is_a_step_of_its_own() {
        let plan = r#"{"goal": "g", "steps": [
            {"command": "true", "verificationCommand": "true"}, {"command": "ls"}, {"command": 1}]}"#;
        let parsed = crate::plan::parse(plan.as_bytes()).plan;
        let shown = parsed.expect_err("a faulty step").expect("what can be shown");
        let place = |pointer| place(pointer, &shown.steps);
        assert_eq!(place("/steps/0/command"), "step 1, command");
        assert_eq!(place("/steps/0/verificationCommand"), "step 2, verificationCommand");
        assert_eq!(place("/steps/1/command"), "step 3, command");
        assert_eq!(place("/steps/2/command"), "step 4, command");
    }
}
