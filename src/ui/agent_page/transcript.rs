//! What has happened in a session, as text.

use egui::{Frame, Label, Margin, Response, ScrollArea, Ui, vec2};

use super::{AgentEntry, AgentPhase, AgentState};
use crate::plan::{drawable_lines, prose, prose_lines};
use crate::ui::{Icon, Text, Theme, Tone, access, format, icon, scroll, widgets};

/// The maximum width of a line, in points.
const WIDTH: f32 = 820.0;

pub(super) fn transcript_ui(ui: &mut Ui, state: &AgentState) {
    // While nobody scrolls, the latest words stay in sight.
    let area = ScrollArea::vertical().id_salt("agent words").auto_shrink([false, false]);
    // After a resize, the area finds its end only in the frame after the next one.
    let (id, width) = (ui.scope_id().with("transcript width"), ui.available_width());
    if ui.data_mut(|data| data.get_temp::<f32>(id) != Some(width)) {
        ui.data_mut(|data| data.insert_temp(id, width));
        ui.ctx().request_repaint();
    }
    area.stick_to_bottom(true).show(ui, |ui| {
        let margin = Margin { left: 24, right: 24, top: 18, bottom: 24 };
        Frame::NONE.inner_margin(margin).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            ui.set_max_width(ui.available_width().min(WIDTH));
            header_ui(ui, state);
            if state.is_cut {
                let text = "The beginning is not shown any more.";
                widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
            }
            state.entries.iter().for_each(|entry| entry_ui(ui, entry));
            end_ui(ui, &state.phase);
        });
        scroll::by_key(ui);
    });
}

fn header_ui(ui: &mut Ui, state: &AgentState) {
    let name = if state.name.is_empty() { &state.command } else { &state.name };
    widgets::line(ui, prose(name), Text::Title, Tone::Plain);
    widgets::paragraph(ui, prose_lines(&state.prompt), Text::Body, Tone::Dim);
    if !state.limits.is_empty() {
        let (icon, tone, text) = match state.is_held {
            true => (
                icon::WALL,
                Tone::Dim,
                "It cannot change the workspace by itself, and neither can its commands",
            ),
            false => (
                icon::WARNING,
                Tone::Caution,
                "Nothing keeps it from changing files without asking",
            ),
        };
        widgets::remark(
            ui,
            icon,
            tone,
            format!("{text}. It may do this: {}.", drawable_lines(&state.limits)),
        );
    }
    if !state.plan.is_empty() {
        ui.add_space(4.0);
        widgets::heading(ui, "The agent's plan");
        for line in &state.plan {
            status_ui(ui, &line.status, &line.content, Tone::Plain);
        }
    }
    ui.add_space(8.0);
}

/// Draws a line with the icon of a word with which agents say how far something is.
fn status_ui(ui: &mut Ui, status: &str, text: &str, text_tone: Tone) {
    let (icon, tone, word) = match status {
        "completed" => (icon::DONE, Tone::Safe, "done"),
        "in_progress" => (icon::RUNNING, Tone::Accent, "under way"),
        "failed" => (icon::FAILED, Tone::Danger, "failed"),
        _ => (icon::WAITING, Tone::Dim, "waiting"),
    };
    let line = marked_ui(ui, icon, tone, text, text_tone);
    // Whoever does not see the icon hears its meaning.
    access::describe(&line, word);
}

fn entry_ui(ui: &mut Ui, entry: &AgentEntry) {
    match entry {
        AgentEntry::Words(text) => text_ui(ui, text, Text::Body, Tone::Plain),
        AgentEntry::Thought(text) => text_ui(ui, text, Text::Body, Tone::Dim),
        AgentEntry::Printed(text) => text_ui(ui, text, Text::Mono, Tone::Dim),
        AgentEntry::Call { title, status, .. } => {
            let title = if title.is_empty() { "a call without a name" } else { title };
            status_ui(ui, status, title, Tone::Dim);
        }
        AgentEntry::Written(path) => {
            let text = format!("Written: {path}");
            marked_ui(ui, icon::WRITE, Tone::Safe, &text, Tone::Plain);
        }
        AgentEntry::Refused(why) => {
            marked_ui(ui, icon::PROHIBIT, Tone::Caution, why, Tone::Plain);
        }
    }
}

/// A line of words of the agent with an icon in front.
fn marked_ui(ui: &mut Ui, icon: Icon, tone: Tone, text: &str, text_tone: Tone) -> Response {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        widgets::icon_ui(ui, vec2(16.0, 18.0), icon, 15.0, theme.tone(tone));
        let color = if text_tone == Tone::Dim { theme.dim } else { theme.text };
        ui.add(Label::new(widgets::rich(prose(text), Text::Body, color)).wrap())
    })
    .inner
}

fn text_ui(ui: &mut Ui, text: &str, kind: Text, tone: Tone) {
    let theme = Theme::of(ui);
    let color = if tone == Tone::Dim { theme.dim } else { theme.text };
    let text = prose_lines(text.trim_matches('\n'));
    ui.add(Label::new(widgets::rich(text, kind, color)).wrap().selectable(true));
}

fn end_ui(ui: &mut Ui, phase: &AgentPhase) {
    match phase {
        AgentPhase::Failed { message, next } => {
            ui.add_space(8.0);
            let text = format!("{}. {next}", format::sentence(message));
            widgets::remark(ui, icon::FAILED, Tone::Danger, drawable_lines(text.trim_end()));
        }
        // The bar says the rest.
        AgentPhase::Starting
        | AgentPhase::Working
        | AgentPhase::Stopping
        | AgentPhase::Done { .. } => {}
    }
}
