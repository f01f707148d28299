//! What is among the results, and the questions asked most.

use egui::{CornerRadius, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{EvidenceView, Filter, toggle, verify_button};
use crate::plan::visible;
use crate::ui::action::{Action, EvidenceAction};
use crate::ui::commands::Situation;
use crate::ui::format;
use crate::ui::theme::{self, Text, Theme};
use crate::ui::widgets;

/// The saved queries: a name and the text it puts into the search box.
pub const SAVED: [(&str, &str); 6] = [
    ("Everything", ""),
    ("Failures", "outcome:failed"),
    ("Denied by a person", "outcome:denied"),
    ("Interrupted", "outcome:interrupted"),
    ("Files written", "tool:file_write"),
    ("Dangerous steps", "risk:dangerous"),
];

pub(super) fn facets_ui(
    ui: &mut Ui,
    view: &EvidenceView<'_>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    verify_button(ui, situation, actions);
    ui.add_space(8.0);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if let Some(page) = view.page {
            for (title, filter, values) in [
                ("Outcome", Filter::Outcome, &page.facets.outcome),
                ("Tool", Filter::Tool, &page.facets.tool),
                ("Risk", Filter::Risk, &page.facets.risk),
            ] {
                if values.is_empty() {
                    continue;
                }
                widgets::heading(ui, title);
                ui.add_space(4.0);
                for (value, number) in values {
                    let text = toggle(view.text, filter, value);
                    // Toggling a filter that is set makes the text shorter.
                    let set = text.len() < view.text.len();
                    let number = format::count(*number);
                    let name = match filter {
                        Filter::Outcome => value.replace('_', " "),
                        _ => value.clone(),
                    };
                    if item(ui, &name, &number, set) {
                        actions.push(Action::Evidence(EvidenceAction::Search(text)));
                    }
                }
                ui.add_space(14.0);
            }
        }
        widgets::heading(ui, "Saved queries");
        ui.add_space(4.0);
        for (name, text) in SAVED {
            if item(ui, name, "", view.text == text) {
                actions.push(Action::Evidence(EvidenceAction::Search(text.to_owned())));
            }
        }
    });
}

fn item(ui: &mut Ui, name: &str, number: &str, set: bool) -> bool {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    if set || response.hovered() {
        let fill = if set { theme.selection } else { theme.hover };
        ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS), fill);
    }
    let middle = rect.center().y;
    let right = pos2(rect.right() - 6.0, middle);
    let taken = widgets::paint_right(ui, right, number, Text::SmallMono, theme.dim);
    let width = (rect.width() - taken - 18.0).max(0.0);
    let parts = [(name, Text::Body, theme.text)];
    widgets::paint_parts(ui, pos2(rect.left() + 6.0, middle), width, &parts);
    response.widget_info(|| {
        let text = format!("{} {number}", visible(name));
        WidgetInfo::selected(Role::Button, true, set, text.trim())
    });
    widgets::focus_ring(ui, &response);
    response.clicked()
}
