//! The bug report: all of it is shown before it can be copied.

use egui::style::ScrollAnimation;
use egui::{Label, ScrollArea, Ui};

use super::title_ui;
use crate::ui::access::Reason as _;
use crate::ui::action::WindowAction;
use crate::ui::{Action, Look, Text, Theme, Tone, icon, scroll, theme, widgets};

/// The greatest width of the report, in points.
pub(super) const WIDTH: f32 = 860.0;

/// A report about the program, as shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BugReportView {
    /// The report; `None` while it is collected.
    pub text: Option<String>,
    /// Whether it was copied.
    pub is_copied: bool,
}

pub(super) fn report_ui(ui: &mut Ui, report: &BugReportView, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 8.0;
    title_ui(ui, "Bug report", actions);
    let about = "What a report about a fault of the program needs. It has no contents of plans, outputs or evidence, and \
                 secrets are replaced. Nothing is sent: read it, copy it, and paste it where you report the fault.";
    widgets::paragraph(ui, about, Text::Meta, Tone::Dim);
    let buttons = theme::BUTTON + ui.spacing().item_spacing.y;
    // The frame has a margin above and below the text.
    let height = (ui.available_height() - buttons - 22.0).max(40.0);
    widgets::card(ui).show(ui, |ui| {
        let area = ScrollArea::vertical().auto_shrink([false, false]).max_height(height);
        area.show(ui, |ui| {
            // The bar floats over the content, so that room for it is left at the right.
            ui.set_max_width(ui.available_width() - 12.0);
            text_ui(ui, report.text.as_deref());
        });
    });
    ui.horizontal(|ui| {
        let is_ready = report.text.is_some();
        let copy = widgets::button(ui, Look::Primary, Some(icon::COPY), "Copy", is_ready);
        if copy.or_why("The report is still being collected.").clicked() {
            actions.push(Action::Window(WindowAction::CopyBugReport));
        }
        if report.is_copied {
            widgets::line(ui, "Copied.", Text::Meta, Tone::Safe);
        }
    });
}

fn text_ui(ui: &mut Ui, text: Option<&str>) {
    let Some(text) = text else {
        let text = "Collecting: the walls are tried, and the evidence is verified…";
        widgets::line(ui, text, Text::Body, Tone::Dim);
        return;
    };
    let height = ui.clip_rect().height();
    if let Some(delta) = scroll::pressed(ui.ctx(), height, &scroll::VERTICAL_KEYS) {
        ui.scroll_with_delta_animation(delta, ScrollAnimation::none());
    }
    let color = Theme::of(ui).text;
    ui.add(Label::new(widgets::rich(text, Text::Mono, color)).wrap());
}
