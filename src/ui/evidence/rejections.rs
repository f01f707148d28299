//! The rejections of plans: their rows in the answer, and the way to them from a search.

use egui::{Rect, Sense, Ui, pos2};

use super::results::WAS_CHANGED;
use super::{EvidenceView, parse};
use crate::plan::drawable;
use crate::run::{PlanRejection, Question};
use crate::ui::{
    Action, EvidenceAction, Look, Now, PlanAction, Text, Theme, controls, format, icon, rows,
    widgets,
};

/// If rejected plans have the words of the search, a button that lists them. They are no executions.
pub(super) fn found_ui(ui: &mut Ui, view: &EvidenceView<'_>, actions: &mut Vec<Action>) {
    let number = view.page.map_or(0, |page| page.rejections);
    if number == 0 || view.question.is_some() {
        return;
    }
    let has = if number == 1 { "has" } else { "have" };
    let plans = format::counted(usize::try_from(number).unwrap_or(usize::MAX), "rejected plan");
    let text = format!("{plans} {has} these words");
    let hint = "List these plans: when they were rejected, by whom, and why.";
    if widgets::tooltip_button(ui, Look::Plain, Some(icon::PROHIBIT), &text, hint) {
        let words = parse(view.text, view.now).query.words;
        actions.push(Action::Evidence(EvidenceAction::RunQuery(Question::Rejected { words })));
    }
}

/// Draws a rejection: the plan and when it was rejected; by whom, and why.
pub(super) fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    rejection: &PlanRejection,
    now: &Now,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("rejection"), Sense::click());
    rows::row_background(ui, &response, false);
    let (middle, first) = (rect.center().y, rect.top() + 15.0);
    let icon = if rejection.changed { icon::WARNING } else { icon::PROHIBIT };
    widgets::paint_icon(ui, pos2(rect.left() + 26.0, middle), icon, 17.0, theme.danger);
    let (left, right) = (rect.left() + 46.0, rect.right() - 18.0);
    let when = now.moment(rejection.timestamp_ms);
    let time = widgets::paint_right(ui, pos2(right, first), (&when, Text::Mono, theme.dim));
    let title = [(&*rejection.plan_name, Text::Strong, theme.text)];
    widgets::paint_parts(ui, pos2(left, first), (right - time - 16.0 - left).max(0.0), &title);
    let why = match rejection.reason.trim() {
        _ if rejection.changed => WAS_CHANGED,
        "" => "no reason given",
        reason => reason,
    };
    let line = format!("{}: {why}", rejection.sentence());
    let parts = [(line.as_str(), Text::SmallMono, theme.dim)];
    widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), (right - left).max(0.0), &parts);
    let at = now.full(rejection.timestamp_ms);
    let name = drawable(&format!("{}, {line}, {at}", rejection.plan_name)).into_owned();
    if controls::painted_button(ui, &response, || name.clone()) {
        actions.push(Action::Plan(PlanAction::OpenRejected(rejection.plan_digest)));
    }
    let digest = rejection.plan_digest.to_string();
    let tooltip = format!(
        "{name}\n{digest}\nWorkspace {}\nA click opens the plan. The right mouse button copies.",
        drawable(&rejection.workspace)
    );
    controls::row_menu(ui, &response, |ui| {
        for (text, value) in
            [("Copy the reason", &rejection.reason), ("Copy the plan's digest", &digest)]
        {
            if controls::menu_item(ui, text) {
                ui.ctx().copy_text(value.clone());
            }
        }
    });
    rows::row_tooltip(&response, false, tooltip);
}
