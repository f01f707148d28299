//! The rows of the steps; only visible rows are drawn.

use egui::style::ScrollAnimation;
use egui::{Id, Rect, Role, ScrollArea, Sense, Stroke, Ui, pos2, vec2};

use super::PlanView;
use super::StepChange;
use super::card::Card;
use super::path_end::end_of_path;
use super::risk_chip;
use super::walls::{step_walls, wider};
use crate::plan::{Mode, ToolCall, drawable, one_line, prose_lines, visible_name};
use crate::risk::RiskLevel;
use crate::run::{Outcome, Phase, Review, StepState};
use crate::ui::action::RevisionAction;
use crate::ui::rows::{row_background, row_tooltip};
use crate::ui::{
    Action, Chip, Icon, PlanAction, Text, Theme, Tone, access, controls, format, icon, theme,
    widgets,
};

/// The content of a step's row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub struct StepRow {
    /// The number of the step, counted from 1.
    pub number: usize,
    /// The state's icon.
    #[cfg_attr(test, serde(skip))]
    pub icon: Icon,
    /// The state, in a word.
    pub state: &'static str,
    /// The tone of the state.
    pub tone: Tone,
    /// The action, as a verb.
    pub verb: String,
    /// The object of the action.
    pub object: String,
    /// Where a command runs, if not on this computer: `on build`, `on 3 hosts`.
    #[cfg_attr(test, serde(skip_serializing_if = "Option::is_none"))]
    pub place: Option<String>,
    /// The second line: the tool, then the error or else the state, the walls and the title.
    pub detail: String,
    /// How the step differs from what the person saw: `new` or `changed`.
    pub change: Option<&'static str>,
    /// The risk and its reason.
    pub risk: Option<(RiskLevel, String)>,
    /// The duration.
    pub duration: Option<String>,
}

/// The icon, word and colour of an outcome.
pub(crate) fn outcome_look(outcome: Outcome) -> (Icon, &'static str, Tone) {
    match outcome {
        Outcome::Succeeded => (icon::DONE, "succeeded", Tone::Safe),
        Outcome::Failed => (icon::FAILED, "failed", Tone::Danger),
        Outcome::Denied => (icon::PROHIBIT, "denied", Tone::Danger),
        Outcome::Skipped => (icon::SKIP, "skipped", Tone::Dim),
        Outcome::DoneByHand => (icon::BY_HAND, "done by hand", Tone::Safe),
        Outcome::PreconditionFailed => (icon::WARNING, "precondition failed", Tone::Danger),
        Outcome::Cancelled => (icon::CANCELLED, "cancelled", Tone::Caution),
    }
}

/// The state of a waiting step that would stop the run at its precondition.
const UNMET: &str = "precondition does not hold now";

/// The state of a waiting step that would fail by its preview.
const WOULD_FAIL: &str = "would fail now";

/// The row of a step; `None` when there is no such step.
pub fn step_row(view: &PlanView<'_>, index: usize) -> Option<StepRow> {
    let step = view.plan?.steps.get(index)?;
    let mut place = None;
    let (verb, object) = match &step.call {
        // The place is no part of the command, and is not drawn like one.
        Some(ToolCall::Shell { command, target: Some(target), .. }) => {
            place = Some(format!("on {}", visible_name(target)));
            ("Run".to_owned(), one_line(command).into_owned())
        }
        Some(call) => {
            let (verb, object) = call.headline();
            let is_past = matches!(call, ToolCall::History { .. });
            let object = if is_past { format::short_ids(&object) } else { object };
            // A line break in the name of a file is no line break of the text around it.
            let is_command = matches!(call, ToolCall::Shell { .. });
            let shown = if is_command { one_line(&object) } else { visible_name(&object) };
            (verb.to_owned(), shown.into_owned())
        }
        None => ("Faulty".to_owned(), step.tool_name.clone()),
    };
    // Borrowed, because the result of a step may have half a megabyte of output.
    let state = view.run.steps.get(index).unwrap_or(&StepState::Waiting);
    let is_current = view.run.current_step == index;
    let predicts = !view.run.has_begun();
    let fails = predicts && view.review.is_some_and(|it| it.fails_precondition(index));
    let (icon, word, tone) = match (state, &view.run.phase) {
        (StepState::Done(result), _) => outcome_look(result.outcome),
        (StepState::Running, Phase::AwaitingConfirmation(_)) if is_current => {
            (icon::HAND, "waits for you", Tone::Caution)
        }
        (StepState::Running, Phase::Interrupted) => {
            (icon::WARNING, "interrupted, outcome unknown", Tone::Danger)
        }
        (StepState::Running, Phase::Ended(_)) => {
            (icon::WARNING, "not recorded, outcome unknown", Tone::Danger)
        }
        (StepState::Running, _) => (icon::RUNNING, "running", Tone::Accent),
        (StepState::Waiting, _) if step.call.is_none() => (icon::FAILED, "faulty", Tone::Danger),
        (StepState::Waiting, Phase::Ended(_) | Phase::Interrupted) => {
            (icon::WAITING, "not reached", Tone::Dim)
        }
        (StepState::Waiting, _) if fails => (icon::WARNING, UNMET, Tone::Danger),
        (StepState::Waiting, _) if predicts && view.previewed.failure(index).is_some() => {
            (icon::WARNING, WOULD_FAIL, Tone::Danger)
        }
        (StepState::Waiting, _) => (icon::WAITING, "not run yet", Tone::Dim),
    };
    // A faulty step may name no tool.
    let mut detail: Vec<_> =
        Some(step.tool_name.clone()).filter(|it| !it.is_empty()).into_iter().collect();
    detail.extend(place.clone());
    let result = match state {
        StepState::Done(result) => Some(result),
        StepState::Waiting | StepState::Running => None,
    };
    if let Some(result) = result
        && let Some(message) = &result.error_message
    {
        let first_line = message.lines().next().unwrap_or_default();
        detail.push(format::error(result.error_code, first_line));
    } else {
        let level = |review: &Review| review.risks.get(index).map(|risk| risk.level);
        let blocked = |review| level(review) == Some(RiskLevel::Blocked);
        let asks = |review: &Review| review.asks.get(index).is_some_and(Option::is_some);
        let note = match state {
            StepState::Done(result) if result.outcome != Outcome::Succeeded => word,
            // In a guided run every finished step shows its outcome.
            StepState::Done(_) if is_guided(view) => "run",
            StepState::Done(_) => "",
            StepState::Running => word,
            StepState::Waiting if step.call.is_none() => "its errors are listed above",
            StepState::Waiting if view.review.is_some_and(blocked) => "cannot run",
            StepState::Waiting if word == UNMET || word == WOULD_FAIL => word,
            StepState::Waiting if view.review.is_some_and(asks) => "asks before it runs",
            StepState::Waiting => "",
        };
        if view.looked_at.misses(index) && view.awaits_decision() {
            detail.push("look at it first".to_owned());
        }
        detail.extend(Some(note.to_owned()).filter(|note| !note.is_empty()));
        if view.looked_at.has_ends_only(index) && view.awaits_decision() {
            detail.push("only its beginning and end were shown".to_owned());
        }
        if let Some(walls) = step_walls(view, index) {
            detail.extend(wider(walls));
        }
        detail.extend(step.title.as_deref().map(prose_lines));
    }
    // The risk of a faulty step is unknown, and the step never runs.
    let risk = view
        .review
        .filter(|_| step.call.is_some())
        .and_then(|review| review.risks.get(index))
        .map(|verdict| (verdict.level, verdict.reason.clone()));
    let recorded = || {
        let recorded = view.recorded?;
        let (level, when) = match recorded.risks.get(&index) {
            Some(level) => (level, "The risk when the step ran."),
            None => (recorded.judged.get(&index)?, "Not reached. The risk by the present rules."),
        };
        Some((*level, when.to_owned()))
    };
    let risk = risk.or_else(recorded);
    Some(StepRow {
        number: index + 1,
        icon,
        state: word,
        tone,
        verb,
        object,
        place,
        detail: detail.join("  ·  "),
        change: view.changed.get(index).map(|change| match change {
            StepChange::New => "new",
            StepChange::Changed(_) => "changed",
        }),
        risk,
        duration: result
            .and_then(|result| result.outcome.took(result.duration_ms))
            .map(format::duration),
    })
}

/// Whether a person decides about every step of the run.
pub(super) fn is_guided(view: &PlanView<'_>) -> bool {
    view.run.became_guided || view.plan.is_some_and(|plan| plan.mode == Mode::Guided)
}

/// The positions of the rows. All have the same height, except for the row with the card, which is higher.
#[derive(Clone, Copy)]
struct RowPositions {
    /// The row with the card, and the height of the card.
    card: Option<(usize, f32)>,
}

impl RowPositions {
    /// The top of a row, relative to the list.
    fn top(self, index: usize) -> f32 {
        let above = self.card.filter(|(card, _)| *card < index);
        theme::ROW * index as f32 + above.map_or(0.0, |(_, height)| height)
    }

    /// The height of a row, with the card.
    fn height(self, index: usize) -> f32 {
        self.top(index + 1) - self.top(index)
    }

    /// The index of the row at this position; below the last row, the index that a further row would have.
    fn index_at(self, y: f32) -> usize {
        let row = |y: f32| (y / theme::ROW).floor().max(0.0) as usize;
        match self.card {
            Some((card, height)) if row(y) > card => row(y - height).max(card),
            _ => row(y),
        }
    }
}

pub(super) fn rows_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let steps = view.plan.map_or(0, |plan| plan.steps.len());
    if steps == 0 {
        return;
    }
    let (list, count) = (view.list, view.list.len(steps));
    if count == 0 {
        let text = "No step is as the field and the buttons above say.";
        let offer = (icon::PLAN, "Show all steps");
        if widgets::empty_state(ui, icon::SEARCH, ("Nothing found", text), offer) {
            actions.push(Action::Plan(PlanAction::CloseFilter));
        }
        return;
    }
    let theme = Theme::of(ui);
    // Each plan keeps a scroll position of its own, also while its file is edited.
    let recorded = view.path.is_none().then_some(view.digest);
    let id_salt = ("steps", view.path, recorded);
    let mut area = ScrollArea::vertical().id_salt(id_salt).auto_shrink([false, false]);
    if view.scroll_to_selected {
        area = area.animated(false);
    }
    area.show_viewport(ui, |ui, viewport| {
        let mut card = view.card.map(|card| Card::new(ui, card, viewport.size()));
        let card_height = card.as_ref().map(|card| (list.row(card.index()), card.height()));
        let positions = RowPositions { card: card_height };
        ui.set_height(positions.top(count));
        access::list(ui, Role::ListBox, "Steps", count);
        let row_rect = |ui: &Ui, row: usize| {
            let area = ui.max_rect();
            let (y, height) = (area.top() + positions.top(row), positions.height(row));
            Rect::from_min_size(pos2(area.left(), y), vec2(area.width(), height))
        };
        match &mut card {
            Some(card) if view.scroll_to_selected && view.selected == card.index() => {
                card.request_reveal();
            }
            _ if view.scroll_to_selected && list.lists(view.selected) => {
                ui.scroll_to_rect(row_rect(ui, list.row(view.selected)), None);
            }
            _ if list.lists(view.selected) => {
                let selected = row_rect(ui, list.row(view.selected));
                keep_in_view(ui, selected, (view.selected, viewport.height()));
            }
            _ => {}
        }
        let first = positions.index_at(viewport.top());
        let last = (positions.index_at(viewport.bottom()) + 1).min(count);
        // The width for the longest step number, the same in every row.
        let indent = if steps > 999 { 14.0 } else { 0.0 };
        for place in first..last {
            let Some(index) = list.step(place) else { continue };
            let Some(row) = step_row(view, index) else { continue };
            let rect = row_rect(ui, place);
            let selected = view.selected == index;
            let without_card = rect.with_max_y(rect.top() + theme::ROW);
            let id = ui.scope_id().with(("step", row.number));
            let marked = view.revision.revising.is_some_and(|it| it.marked.contains(&index));
            if row_ui(ui, without_card, id, &row, (selected, marked, place), indent) {
                let is_mark =
                    view.revision.revising.is_some() && ui.input(|input| input.modifiers.command);
                actions.push(Action::Plan(match is_mark {
                    true => PlanAction::Revise(RevisionAction::Mark(index)),
                    false => PlanAction::SelectStep(index),
                }));
            }
            if let Some(card) = card.filter(|card| card.index() == index) {
                card.ui(ui, rect, id, view, actions);
            }
            ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.line));
        }
        if let Some(card) = card {
            card.scroll_into_view(ui, row_rect(ui, list.row(card.index())));
        }
    });
}

/// Scrolls to the selected row if it was in view until the list lost height, for example to the output pane.
/// `now` is the selected step and the height of the visible part of the list, in points.
fn keep_in_view(ui: &Ui, row: Rect, now: (usize, f32)) {
    let id = ui.scope_id().with("selected in view");
    let is_in_view = ui.clip_rect().expand(1.0).contains_rect(row);
    let before = ui.data(|data| data.get_temp::<(usize, f32)>(id));
    let lost_height = before.is_some_and(|(step, height)| step == now.0 && now.1 < height);
    if !is_in_view && lost_height {
        ui.scroll_to_rect_animation(row, None, ScrollAnimation::none());
    }
    ui.data_mut(|data| {
        // A row that the person scrolled away stays away.
        if is_in_view {
            data.insert_temp(id, now);
        } else {
            data.remove::<(usize, f32)>(id);
        }
    });
}

/// Below this width, in points, rows have no room for durations and show them only on hover.
const NARROW: f32 = 460.0;

/// Draws a row, with `indent` more points for its number. Returns whether it was clicked.
fn row_ui(
    ui: &mut Ui,
    rect: Rect,
    id: Id,
    row: &StepRow,
    (selected, marked, at): (bool, bool, usize),
    indent: f32,
) -> bool {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, id, Sense::click());
    let background = row_background(ui, &response, selected);
    let middle = rect.center().y;
    if marked {
        widgets::paint_icon(ui, pos2(rect.left() + 11.0, middle), icon::CHECK, 13.0, theme.accent);
    }
    widgets::paint_icon(ui, pos2(rect.left() + 27.0, middle), row.icon, 18.0, theme.tone(row.tone));
    let number = row.number.to_string();
    let number_right = pos2(rect.left() + 62.0 + indent, middle);
    widgets::paint_right(ui, number_right, (&number, Text::Mono, theme.dim));
    // The columns at the right have fixed positions, so that nothing moves when a duration appears.
    let mut right = rect.right() - 18.0;
    if rect.width() > NARROW {
        if let Some(duration) = &row.duration {
            widgets::paint_right(ui, pos2(right, middle), (duration, Text::Mono, theme.dim));
        }
        right -= 68.0;
    }
    if let Some((level, _)) = &row.risk {
        right = risk_chip(*level).paint_right(ui, pos2(right, middle), background).left();
    }
    if let Some(change) = row.change {
        let chip = Chip::new(icon::DIFF, change, Tone::Accent);
        right = chip.paint_right(ui, pos2(right - 6.0, middle), background).left();
    }
    let left = rect.left() + 74.0 + indent;
    let width = (right - 12.0 - left).max(0.0);
    let beside_verb = width - Text::Strong.width_of(ui, &row.verb) - 8.0;
    let object = end_of_path(ui, &row.verb, &row.object, beside_verb);
    let parts = [(row.verb.as_str(), Text::Strong, theme.text), (&*object, Text::Mono, theme.text)];
    let (_, truncated) = widgets::paint_parts(ui, pos2(left, rect.top() + 15.0), width, &parts);
    let first_truncated = truncated || *object != *row.object;
    let failed = row.tone == Tone::Danger;
    let detail_color = if failed { theme.danger } else { theme.dim };
    let parts = [(row.detail.as_str(), Text::Small, detail_color)];
    let (_, second_truncated) =
        widgets::paint_parts(ui, pos2(left, rect.top() + 32.0), width, &parts);
    let clicked = controls::list_row(ui, &response, (selected, at), || {
        let risk = row.risk.as_ref().map_or("", |(level, _)| level.as_str());
        let place = row.place.as_ref().map_or_else(String::new, |place| format!(" {place}"));
        let action = format!("{} {}{place}", row.verb, drawable(&row.object));
        let change = row.change.map_or_else(String::new, |change| format!(", {change}"));
        let marked = if marked { ", marked" } else { "" };
        format!("Step {}: {action}, {}, {risk}{change}{marked}", row.number, row.state)
    });
    let mut hover = Vec::new();
    if first_truncated || second_truncated {
        let object = widgets::beginning(&row.object);
        hover.push(format!("{} {object}\n{}", row.verb, drawable(&row.detail)));
    }
    if let Some((level, reason)) = &row.risk {
        hover.push(format!("{}: {}", level.as_str(), drawable(reason)));
    }
    hover.extend(row.duration.as_ref().map(|duration| format!("took {duration}")));
    let text = format!("Step {}, {}\n{}", row.number, row.state, hover.join("\n"));
    row_tooltip(&response, false, text);
    clicked
}
