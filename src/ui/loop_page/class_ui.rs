//! The form for a class of plans that is authorized in advance.

use egui::{Id, Margin, TextEdit, Ui};

use super::form::{Field, Form};
use super::form_ui::{choice_ui, fault_ui, number_ui};
use crate::plan::{RiskLevel, TOOLS};
use crate::ui::controls;
use crate::ui::icon;
use crate::ui::plan::risk_icon;
use crate::ui::theme::{Text, Tone};
use crate::ui::widgets;

pub(super) fn class_ui(ui: &mut Ui, form: &mut Form) {
    ui.add_space(6.0);
    widgets::heading(ui, "Signatures");
    ui.horizontal_wrapped(|ui| {
        if choice_ui(ui, icon::SIGNATURE, "ask for each plan", !form.class.on) {
            form.class.on = false;
        }
        if choice_ui(ui, icon::SEAL, "authorize a class in advance", form.class.on) {
            form.class.on = true;
        }
    });
    if !form.class.on {
        let text = "Every plan waits for your signature, even if it equals the plan before it.";
        widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
        return;
    }
    let text = "A plan inside the class runs without asking you; any other waits for you. Steps that must \
                ask still ask. You can revoke the class while the loop runs.";
    widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
    tools_ui(ui, form);
    ui.add_space(4.0);
    let label = widgets::heading(ui, "Paths, one per line; a dot is the whole workspace");
    let edit = TextEdit::multiline(&mut form.class.paths)
        .id(Id::unique("class paths"))
        .font(Text::Mono.font())
        .desired_rows(2)
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(10, 6));
    ui.add(edit).labelled_by(label.id);
    fault_ui(ui, form, Field::ClassPaths);
    let label = widgets::heading(ui, "Hosts; empty means this computer only");
    let edit = TextEdit::singleline(&mut form.class.hosts)
        .id(Id::unique("class hosts"))
        .font(Text::Mono.font())
        .hint_text("deploy@web-1.example.org")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(10, 6));
    ui.add(edit).labelled_by(label.id);
    fault_ui(ui, form, Field::ClassHosts);
    ui.add_space(4.0);
    widgets::heading(ui, "Highest risk of a step");
    ui.horizontal_wrapped(|ui| {
        for risk in [RiskLevel::Safe, RiskLevel::Caution, RiskLevel::Dangerous] {
            let on = form.class.max_risk == risk;
            if controls::toggle(ui, risk_icon(risk), risk.as_str(), risk.into(), on).clicked() {
                form.class.max_risk = risk;
            }
        }
    });
    ui.add_space(4.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 24.0;
        ui.vertical(|ui| {
            ui.set_width(190.0);
            let label = widgets::heading(ui, "Attempts covered");
            number_ui(ui, "class attempts", &mut form.class.max_attempts, &label);
            fault_ui(ui, form, Field::ClassAttempts);
        });
        ui.vertical(|ui| {
            ui.set_width(190.0);
            let label = widgets::heading(ui, "Valid for, in minutes");
            number_ui(ui, "class minutes", &mut form.class.minutes, &label);
            fault_ui(ui, form, Field::ClassMinutes);
        });
    });
}

fn tools_ui(ui: &mut Ui, form: &mut Form) {
    ui.add_space(4.0);
    widgets::heading(ui, "Tools");
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(6.0, 6.0);
        for spec in &TOOLS {
            let on = form.class.tools.contains(spec.name);
            let icon = if on { icon::DONE } else { icon::WAITING };
            let response = controls::toggle(ui, icon, spec.name, Tone::Accent, on);
            if response.clicked() {
                if on {
                    form.class.tools.remove(spec.name);
                } else {
                    form.class.tools.insert(spec.name);
                }
            }
            response.on_hover_text(spec.summary);
        }
    });
    fault_ui(ui, form, Field::ClassTools);
}
