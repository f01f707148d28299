//! One attempt: the planner's answer, the differences from the previous plan, the authorization, the actions, and the
//! verification.

use egui::{CornerRadius, Frame, Id, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::action_list::{actions_ui, verify_ui};
use super::looks::{live_question, looks_ui, words_ui};
use super::model::{BY_CLASS, is_by_class, verify_sentence};
use super::plan_difference::difference_ui;
use super::{TimelineView, attempt_look};
use crate::plan::{drawable, prose, prose_lines};
use crate::run::{
    AttemptState, LoopPhase, PlannerReport, PlannerStatus, VERIFY_GATE, failure_words,
};
use crate::ui::action::LoopAction;
use crate::ui::{
    Action, Chip, Command, Icon, Look, Text, Theme, Tone, access, format, icon, theme, widgets,
};

/// The maximum number of findings, changed steps or actions listed; the plan page shows all.
pub(super) const MAX_LISTED: usize = 50;
/// The maximum number of lines shown of the planner's stderr. The last ones are shown.
const MAX_LINES: usize = 12;
/// The maximum number of characters of a message that are shown.
const MAX_CHARS: usize = 2_000;
/// The width of the icon column, in points.
const ICONS: f32 = 24.0;

pub(super) fn attempt_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    actions: &mut Vec<Action>,
) {
    let number = attempt.attempt;
    let is_latest = view.shown.state.attempts.last().is_some_and(|last| last.attempt == number);
    let expanded = view.expanded.get(&number).copied().unwrap_or(is_latest);
    ui.push_id(number, |ui| {
        let frame: Frame = widgets::card(ui).inner_margin(0);
        frame.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if head_ui(ui, view, attempt, expanded) {
                actions.push(Action::Loop(LoopAction::SetExpanded(number, !expanded)));
            }
            if expanded {
                // Only the latest attempt of a live loop can still change.
                let id = Id::unique(("attempt", view.shown.state.loop_id, number));
                draw_if_near(ui, id, is_latest && !view.shown.recorded, |ui| {
                    Frame::NONE
                        .inner_margin(egui::Margin { left: 12, right: 12, top: 2, bottom: 12 })
                        .show(ui, |ui| {
                            access::landmark(ui, Role::Group, &format!("Attempt {number}"));
                            ui.set_min_width(ui.available_width());
                            ui.spacing_mut().item_spacing.y = 10.0;
                            body_ui(ui, view, attempt, is_latest, actions);
                        });
                });
            }
        });
    });
}

/// The header of an attempt, which expands or collapses it. Returns whether it was clicked.
fn head_ui(ui: &mut Ui, view: &TimelineView<'_>, attempt: &AttemptState, expanded: bool) -> bool {
    let theme = Theme::of(ui);
    let (icon, word, tone) = attempt_look(&view.shown.state, attempt);
    let size = vec2(ui.available_width(), 40.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let name = format!("Attempt {} of {}", attempt.attempt, view.shown.state.max_attempts);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name}, {word}")));
    access::expanded(&response, expanded);
    // A header out of sight is only needed for keyboard navigation.
    if !ui.is_rect_visible(rect) {
        return response.clicked();
    }
    let fill = if response.hovered() { theme.hover } else { theme.background };
    let inner = rect.shrink(1.0);
    ui.painter().rect_filled(inner, CornerRadius::same(theme::RADIUS), fill);
    let middle = rect.center().y;
    let arrow = if expanded { icon::DOWN } else { icon::RIGHT };
    widgets::paint_icon(ui, pos2(rect.left() + 18.0, middle), arrow, 14.0, theme.dim);
    let chip = Chip::new(icon, word, tone);
    let right = pos2(rect.right() - 12.0, middle);
    let time = view.now.second(attempt.started_at_ms);
    let time_width = widgets::paint_right(ui, right, (&time, Text::SmallMono, theme.dim));
    let chip_right = pos2(right.x - time_width - 10.0, middle);
    let chip_rect = chip.paint_right(ui, chip_right, fill);
    let summary = if expanded { String::new() } else { collapsed_summary(attempt) };
    let left = rect.left() + 34.0;
    let parts =
        [(name.as_str(), Text::Strong, theme.text), (summary.as_str(), Text::Meta, theme.dim)];
    widgets::paint_parts(ui, pos2(left, middle), chip_rect.left() - 10.0 - left, &parts);
    widgets::focus_ring(ui, &response);
    response.clicked()
}

/// The summary of a collapsed attempt: the planner's failure code, the action that failed, the result of the
/// verification, or the number of actions.
fn collapsed_summary(attempt: &AttemptState) -> String {
    let Some(planner) = &attempt.planner else { return String::new() };
    let rows = attempt.record.iter().flat_map(|record| &record.actions);
    let failed = rows.filter(|row| row.kind != VERIFY_GATE).find_map(|row| {
        let message = super::first_line(&row.error.as_ref()?.message);
        Some(format!("{}: {message}", row.kind))
    });
    if let Some(failed) = failed {
        return failed;
    }
    match (&planner.failure_code, verify_sentence(attempt)) {
        (Some(code), _) => drawable(failure_words(code)).into_owned(),
        (None, Some((_, sentence))) => sentence,
        (None, None) => format::counted(planner.action_count, "step"),
    }
}

fn body_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    is_latest: bool,
    actions: &mut Vec<Action>,
) {
    let plan = view.shown.plans.get(&attempt.attempt).map(AsRef::as_ref);
    let live = is_latest && !view.shown.state.is_over();
    looks_ui(ui, attempt);
    planner_ui(ui, view, attempt, live.then_some(&view.shown.state.phase));
    difference_ui(ui, attempt);
    authorization_ui(ui, view, attempt, live, actions);
    actions_ui(ui, attempt, plan, actions);
    words_ui(ui, view, attempt, live, actions);
    verify_ui(ui, attempt, actions);
}

/// A stage of an attempt, with an icon in front.
pub(super) fn stage(ui: &mut Ui, icon: Icon, tone: Tone, title: &str, add: impl FnOnce(&mut Ui)) {
    let theme = Theme::of(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (rect, _) = ui.allocate_exact_size(vec2(ICONS, 18.0), Sense::hover());
        let center = pos2(rect.left() + 8.0, rect.center().y);
        widgets::paint_icon(ui, center, icon, 16.0, theme.tone(tone));
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
            ui.set_min_width(ui.available_width());
            widgets::paragraph(ui, title, Text::Body, Tone::Plain);
            add(ui);
        });
    });
}

/// `phase` is that of the loop, in the attempt that it is in.
fn planner_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    phase: Option<&LoopPhase>,
) {
    let output = match attempt.planner_output.as_str() {
        "" => {
            view.shown.planner_output.get(&attempt.attempt).map(String::as_str).unwrap_or_default()
        }
        live => live,
    };
    match &attempt.planner {
        None if live_question(view) => {}
        None if phase == Some(&LoopPhase::Elsewhere) => {
            let title =
                "The planner is at work in another window or command, or its plan waits there.";
            stage(ui, icon::RUNNING, Tone::Accent, title, |_| {});
        }
        None if phase == Some(&LoopPhase::Planning) => {
            stage(ui, icon::RUNNING, Tone::Accent, "The planner is at work.", |ui| {
                planner_output_ui(ui, output);
            });
        }
        None => {
            let title = match attempt.run {
                Some(_) => "The planner's answer is not recorded: only that its plan had begun.",
                None => "The planner's answer is not recorded. Nothing of it ran.",
            };
            stage(ui, icon::WARNING, Tone::Caution, title, |ui| planner_output_ui(ui, output));
        }
        Some(report) => {
            let (icon, tone) = match report.status {
                PlannerStatus::Accepted => (icon::DONE, Tone::Safe),
                PlannerStatus::Failed => (icon::FAILED, Tone::Danger),
            };
            stage(ui, icon, tone, &answer_text(report), |ui| {
                if let Some(message) = &report.message {
                    widgets::paragraph(ui, beginning(message), Text::Mono, Tone::Plain);
                }
                findings_ui(ui, report);
                planner_output_ui(ui, output);
            });
        }
    }
}

/// The planner's answer, in a sentence.
fn answer_text(report: &PlannerReport) -> String {
    if report.status == PlannerStatus::Accepted {
        let count = format::counted(report.action_count, "step");
        let version = report.version.as_ref().map(|it| format!(", version {it}"));
        return format!("The planner proposed a plan of {count}{}.", version.unwrap_or_default());
    }
    let code = report.failure_code.as_deref().unwrap_or("no reason");
    let again = match report.retryable {
        Some(true) => "; asking again may help",
        Some(false) => "; asking again does not help",
        None => "",
    };
    format!("No plan: {}{again}.", drawable(failure_words(code)))
}

fn findings_ui(ui: &mut Ui, report: &PlannerReport) {
    for finding in report.findings.iter().take(MAX_LISTED) {
        let (icon, tone) = match finding.severity.as_str() {
            "error" => (icon::FAILED, Tone::Danger),
            "warning" => (icon::WARNING, Tone::Caution),
            _ => (icon::INFO, Tone::Dim),
        };
        let text = format!(
            "{} {} {}:{} {}",
            finding.severity,
            finding.code,
            finding.line,
            finding.column,
            beginning(&finding.message)
        );
        widgets::remark(ui, icon, tone, text);
    }
    more_ui(ui, report.findings.len());
}

/// Shows the last lines of the planner's stderr.
fn planner_output_ui(ui: &mut Ui, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let theme = Theme::of(ui);
    let latest = lines.get(lines.len().saturating_sub(MAX_LINES)..).unwrap_or_default();
    let frame = Frame::NONE
        .fill(theme.panel)
        .corner_radius(CornerRadius::same(theme::RADIUS))
        .inner_margin(egui::Margin::symmetric(10, 6));
    frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        if latest.len() < lines.len() {
            let text = format!("the last {} lines", latest.len());
            widgets::line(ui, text, Text::Small, Tone::Dim);
        }
        for line in latest {
            // An empty line counts as a line.
            let shown = if line.is_empty() { " ".into() } else { prose(line) };
            widgets::line(ui, shown, Text::SmallMono, Tone::Dim);
        }
    });
}

fn authorization_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    live: bool,
    actions: &mut Vec<Action>,
) {
    match (&attempt.authorized, &view.shown.state.phase) {
        (Some((true, how)), _) => {
            let (icon, title) = match is_by_class(how) {
                true => (icon::SEAL, BY_CLASS),
                false => (icon::SIGNATURE, "Authorized."),
            };
            stage(ui, icon, Tone::Safe, title, |ui| {
                widgets::paragraph(ui, beginning(how), Text::Meta, Tone::Dim);
                open_plan_ui(ui, view, attempt, actions);
            });
        }
        (Some((false, how)), _) => {
            let has_words = attempt.record.as_ref().is_some_and(|it| it.feedback.is_some());
            let title = if has_words {
                "Rejected; nothing ran. The planner gets the reason:"
            } else {
                "Not authorized; nothing ran."
            };
            stage(ui, icon::PROHIBIT, Tone::Caution, title, |ui| {
                widgets::paragraph(ui, beginning(how), Text::Meta, Tone::Dim);
                open_plan_ui(ui, view, attempt, actions);
            });
        }
        (None, LoopPhase::AwaitingAuthorization(outside)) if live => {
            let title = "Waits for your authorization. Nothing runs before that.";
            stage(ui, icon::HAND, Tone::Caution, title, |ui| {
                for reason in outside.iter().take(MAX_LISTED) {
                    let text = format!("Outside the class: {}", beginning(reason));
                    widgets::remark(ui, icon::SEAL, Tone::Caution, text);
                }
                more_ui(ui, outside.len());
                let (text, hint) =
                    ("Look at the plan, then authorize", Command::OpenAttempt.spec().tooltip);
                if widgets::tooltip_button(ui, Look::Plain, icon::PLAN, text, hint) {
                    actions.push(Action::Loop(LoopAction::OpenAttempt(attempt.attempt)));
                }
            });
        }
        (None, _) if !live => open_plan_ui(ui, view, attempt, actions),
        (None, _) => {}
    }
}

/// The button that opens the plan of an attempt, if there is one.
fn open_plan_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    attempt: &AttemptState,
    actions: &mut Vec<Action>,
) {
    let has_plan = attempt.plan_digest.is_some() || view.shown.plans.contains_key(&attempt.attempt);
    let has_run = attempt.run.as_ref().is_some_and(|run| run.run_id.is_some());
    let name = match (has_run, has_plan) {
        (true, _) => format!("Plan and run of attempt {}", attempt.attempt),
        (false, true) => format!("Look at the plan of attempt {}", attempt.attempt),
        (false, false) => return,
    };
    let hint = "Show the plan of this attempt, with its steps, on the plan page.";
    if widgets::tooltip_button(ui, Look::Bare, icon::PLAN, &name, hint) {
        actions.push(Action::Loop(LoopAction::OpenAttempt(attempt.attempt)));
    }
}

/// The remark that a list of `count` entries shows only [`MAX_LISTED`] of them, if so.
pub(super) fn more_ui(ui: &mut Ui, count: usize) {
    if let Some(more) = count.checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        let text = format!("{} more; the plan page has them all.", format::count(more as u64));
        widgets::paragraph(ui, text, Text::Small, Tone::Dim);
    }
}

/// The part of a long message from outside that is shown.
pub(super) fn beginning(text: &str) -> String {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(end, _)| end);
    prose_lines(text.get(..end).unwrap_or_default())
}

/// Distance from the visible area, in points, within which parts are still drawn, so that Tab can reach their controls.
const NEAR: f32 = 240.0;

/// Draws a part. If it is not near the visible area and was last drawn at this width, only reserves the height that it
/// had then. A part that `may_change` is always drawn, because its height may differ.
fn draw_if_near(ui: &mut Ui, id: Id, may_change: bool, add: impl FnOnce(&mut Ui)) {
    let width = ui.available_width();
    let drawn_size = ui.data(|data| data.get_temp::<(f32, f32)>(id));
    let known = drawn_size.filter(|(drawn_width, _)| *drawn_width == width && !may_change);
    if let Some((_, height)) = known {
        let rect = Rect::from_min_size(ui.cursor().min, vec2(width, height));
        if !rect.expand(NEAR).intersects(ui.clip_rect()) {
            ui.allocate_space(rect.size());
            return;
        }
    }
    let drawn = ui.scope(add).response.rect;
    ui.data_mut(|data| data.insert_temp(id, (width, drawn.height())));
}
