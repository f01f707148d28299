//! A notice, usually about a problem: one line, with details to expand and copy, and what to do next. Notices are above
//! the status bar, so that the page does not move down when one appears.

use egui::{CollapsingHeader, Frame, Margin, Panel, Stroke, Ui, vec2};

use super::action::WindowAction;
use super::widgets::panel_frame;
use super::{Action, Text, Theme, Tone, format, icon, widgets};

/// A notice, as shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The identity of the notice, used to close it.
    pub id: u64,
    /// The severity of the notice.
    pub tone: Tone,
    /// The subject of the notice, in one line.
    pub summary: String,
    /// All details; may be empty.
    pub details: String,
    /// What to do next; may be empty.
    pub next: String,
}

/// The maximum number of notices shown. The latest ones are shown; older ones are only counted.
const MAX_SHOWN: usize = 3;

pub(super) fn notices_ui(ui: &mut Ui, notices: &[Notice], actions: &mut Vec<Action>) {
    if notices.is_empty() {
        return;
    }
    let theme = Theme::of(ui);
    Panel::bottom("notices").resizable(false).frame(panel_frame(theme.panel, Margin::ZERO)).show(
        ui,
        |ui| {
            let hidden = notices.len().saturating_sub(MAX_SHOWN);
            for notice in notices.iter().skip(hidden) {
                notice_ui(ui, notice, actions);
            }
            if hidden > 0 {
                let hidden = format::counted(hidden, "older notice");
                let text = format!("{hidden} not shown; close one of these to see the next.");
                ui.label(widgets::rich(text, Text::Small, theme.dim));
            }
        },
    );
}

fn notice_ui(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    let theme = Theme::of(ui);
    let fill = theme.chip(notice.tone, theme.panel);
    let icon = match notice.tone {
        Tone::Danger => icon::FAILED,
        Tone::Caution => icon::WARNING,
        Tone::Safe => icon::DONE,
        Tone::Plain | Tone::Dim | Tone::Accent => icon::INFO,
    };
    let response = Frame::NONE.fill(fill).inner_margin(Margin::symmetric(14, 6)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            widgets::icon_ui(ui, vec2(18.0, 24.0), icon, 16.0, theme.chip_text(notice.tone));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if widgets::icon_button(ui, icon::CLOSE, "Close this notice").clicked() {
                    actions.push(Action::Window(WindowAction::DismissNotice(notice.id)));
                }
                let text = format!("{}\n{}\n{}", notice.summary, notice.details, notice.next);
                widgets::copy_button(ui, text.trim_end(), "this notice");
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    widgets::line(ui, &notice.summary, Text::Body, Tone::Plain);
                });
            });
        });
        if !notice.next.is_empty() {
            ui.horizontal_top(|ui| {
                // Align with the summary, not with its icon.
                ui.add_space(26.0);
                widgets::paragraph(ui, &notice.next, Text::Meta, Tone::Plain);
            });
        }
        if !notice.details.is_empty() {
            CollapsingHeader::new(widgets::rich("Details", Text::Meta, theme.text))
                .id_salt(("notice", notice.id))
                .show(ui, |ui| widgets::paragraph(ui, &notice.details, Text::Mono, Tone::Plain));
        }
    });
    let rect = response.response.rect;
    ui.painter().hline(rect.x_range(), rect.top(), Stroke::new(1.0, theme.line));
}
