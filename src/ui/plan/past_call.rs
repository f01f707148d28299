//! What became of a call of an agent whose plan is not shown any more.

use egui::{Frame, Margin, ScrollArea, Ui};

use super::session::{SessionView, call_look};
use crate::plan::drawable;
use crate::run::text::capitalized;
use crate::ui::{Action, Look, Now, PlanAction, Text, Tone, icon, widgets};

/// Draws the record of the selected call.
pub(super) fn past_call_ui(
    ui: &mut Ui,
    view: &SessionView<'_>,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let Some(call) = view.call() else { return };
    let ((look_icon, _, tone), words) = call_look(call);
    let asked = &call.call;
    ScrollArea::vertical().id_salt("past call").auto_shrink([false, false]).show(ui, |ui| {
        Frame::NONE.inner_margin(Margin::symmetric(16, 14)).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 6.0;
            let title = format!("Call {} of this session", call.number);
            widgets::line(ui, title, Text::Title, Tone::Plain);
            widgets::remark(ui, look_icon, tone, capitalized(&words));
            widgets::fact(ui, "tool", drawable(&asked.tool), Text::Mono);
            let what = asked.command.as_deref().unwrap_or(&asked.subject);
            if !what.is_empty() {
                let name = if asked.command.is_some() { "command" } else { "about" };
                widgets::fact(ui, name, drawable(what), Text::Mono);
            }
            let workspace = asked.workspace.display().to_string();
            widgets::fact(ui, "workspace", drawable(&workspace), Text::Mono);
            widgets::fact(ui, "asked", now.full(asked.at_ms), Text::Body);
            if let Some(at_ms) = call.decided_at_ms {
                let by = match call.by_rule {
                    Some(rule_id) => format!("by the session rule {rule_id}"),
                    None => "by you, in this window".to_owned(),
                };
                widgets::fact(ui, "decided", format!("{}, {by}", now.full(at_ms)), Text::Body);
            }
            if let Some(digest) = asked.digest {
                widgets::copyable_value(ui, "plan", &digest.to_string(), "the plan's digest");
            }
            if let Some(id) = call.authorization_id {
                widgets::copyable_value(ui, "decision", &id.to_string(), "the decision's id");
            }
            ui.add_space(4.0);
            if let Some(run_id) = call.run_id {
                let text = "Show its run";
                if widgets::button(ui, Look::Primary, Some(icon::PLAY), text, true).clicked() {
                    actions.push(Action::Plan(PlanAction::OpenRun(run_id)));
                }
            } else {
                let text = match call.authorization_id {
                    Some(_) => "Nothing was run here. The decision is in the evidence.",
                    None => "Nobody decided about it, so the evidence has nothing about it.",
                };
                widgets::paragraph(ui, text, Text::Meta, Tone::Dim);
            }
        });
    });
}
