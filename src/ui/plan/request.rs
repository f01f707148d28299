//! What a person must know before deciding about a step, in the dialog and in the card of a guided run.

use egui::Ui;

use super::code::whole_ui;
use super::command::command_ui;
use super::rows::risk_icon;
use super::walls::{WALLS, sentence};
use crate::authorization::WallLevel;
use crate::plan::visible;
use crate::run::ConfirmationRequest;
use crate::ui::icon;
use crate::ui::theme::{Text, Theme, Tone};
use crate::ui::widgets;

/// The host and user, the whole command, its purpose, and its risk with the reason.
pub(crate) fn request_ui(ui: &mut Ui, request: &ConfirmationRequest) {
    place_ui(ui, request);
    if let Some(command) = request.command() {
        command_ui(ui, ("command", request.step_index), command, Some(&request.risk));
    }
    if let Some(purpose) = &request.purpose {
        whole_ui(ui, "purpose", purpose, |ui, text| {
            widgets::paragraph(ui, text, Text::Strong, Tone::Plain);
        });
    }
    if let Some(explanation) = &request.explanation {
        whole_ui(ui, "explanation", explanation, |ui, text| {
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
        });
    }
    let level = request.risk.level;
    let reason = &request.risk.reason;
    let reason = format!("{reason} (rule {})", request.risk.rule);
    widgets::remark(ui, risk_icon(level), level.into(), visible(&reason));
    if let Some(walls) = &request.walls {
        let tone = if walls.is_widened() || walls.level == WallLevel::None {
            Tone::Caution
        } else {
            Tone::Safe
        };
        widgets::remark(ui, WALLS, tone, visible(&sentence(walls)));
    }
    if let Some(warning) = &request.warning {
        let text = format!("The plan's author warns: {warning}");
        whole_ui(ui, "warning", &text, |ui, text| {
            widgets::remark(ui, icon::WARNING, Tone::Caution, text);
        });
    }
    if let Some(suggestion) = &request.risk.suggestion {
        widgets::remark(ui, icon::INFO, Tone::Dim, format!("Safer: {suggestion}"));
    }
    if request.required {
        let why = format!("You are asked because {}", lower(&request.why));
        widgets::remark(ui, icon::HAND, Tone::Dim, visible(&why));
    }
}

fn place_ui(ui: &mut Ui, request: &ConfirmationRequest) {
    let theme = Theme::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let host = request.host.as_deref().or(request.target.as_deref());
        let host = host.unwrap_or("this computer");
        for (text, strong) in [
            ("on", false),
            (host, true),
            ("in", false),
            (&*request.cwd, true),
            ("as", false),
            (&*request.user, true),
        ] {
            let (kind, color) =
                if strong { (Text::Mono, theme.text) } else { (Text::Meta, theme.dim) };
            ui.label(widgets::rich(visible(text), kind, color));
        }
    });
}

/// A sentence in lower case, to follow a colon or a dash.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the plan says so.".to_owned(),
    }
}
