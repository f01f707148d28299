//! The form for a class of plans that is authorized in advance.

use egui::{Id, Margin, TextEdit, Ui};

use super::form_ui::{fault_ui, numbers_ui};
use super::{Field, LoopForm};
use crate::plan::{RiskLevel, TOOLS};
use crate::ui::controls::{Choice, choices_ui};
use crate::ui::plan::risk_icon;
use crate::ui::{Text, Tone, controls, icon, widgets};

const SIGNATURES: [Choice<bool>; 2] = [
    (
        false,
        icon::SIGNATURE,
        "ask for each plan",
        "Every plan waits for your authorization, even if it equals the previous plan.",
    ),
    (
        true,
        icon::SEAL,
        "authorize a class of plans in advance",
        "A plan inside the class runs without asking you; any other waits for you. Steps that must ask still \
         ask. You can revoke the class while the loop runs.",
    ),
];

pub(super) fn class_ui(ui: &mut Ui, form: &mut LoopForm) {
    ui.add_space(6.0);
    widgets::heading(ui, "Authorization");
    choices_ui(ui, &mut form.class.on, &SIGNATURES);
    if !form.class.on {
        return;
    }
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
    let id = Id::unique("class hosts");
    let edit = widgets::code_field(&mut form.class.hosts, id, f32::INFINITY);
    ui.add(edit.hint_text("deploy@web-1.example.org")).labelled_by(label.id);
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
    numbers_ui(
        ui,
        form,
        [
            (Field::ClassAttempts, "Attempts covered", |form| &mut form.class.max_attempts),
            (Field::ClassMinutes, "Valid for, in minutes", |form| &mut form.class.minutes),
        ],
    );
}

fn tools_ui(ui: &mut Ui, form: &mut LoopForm) {
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
