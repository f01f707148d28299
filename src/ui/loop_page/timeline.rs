//! The timeline of a loop: its goal, why it ended, and its attempts in order of time.

use egui::text::LayoutJob;
use egui::{Frame, Label, Margin, Ui, vec2};

use super::model::{stop_look, stop_sentences, stop_word};
use super::{TimelineView, attempt};
use crate::authorization::AuthorizationClass;
use crate::plan::{drawable, prose, prose_lines};
use crate::run::{LookScope, LoopPhase, LoopState, StopCode, StopReason, VERIFY_GATE};
use crate::ui::action::LoopAction;
use crate::ui::{
    Action, Chip, EvidenceAction, Look, Text, Theme, Tone, access, format, icon, scroll, theme,
    widgets,
};

/// Below this height, in points, a page has no room for a header that stays.
const LOW: f32 = 320.0;

pub(super) fn timeline_ui(ui: &mut Ui, view: &TimelineView<'_>, actions: &mut Vec<Action>) {
    // In a low window, what is above the attempts scrolls with them.
    let is_low = ui.available_height() < LOW;
    if !is_low {
        let margin = Margin { left: 18, right: 18, top: 16, bottom: 14 };
        header_ui(ui, view, margin, actions);
        widgets::line_below(ui);
    }
    let salt = ("timeline", view.shown.state.loop_id);
    let margin = Margin { left: 18, right: 18, top: 14, bottom: 18 };
    scroll::area(ui, salt, margin, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 10.0;
        if is_low {
            header_ui(ui, view, Margin::ZERO, actions);
        }
        // The stop reason comes first, because it matters most about a loop that has ended.
        ended_ui(ui, &view.shown.state);
        for attempt in &view.shown.state.attempts {
            attempt::attempt_ui(ui, view, attempt, actions);
        }
        if view.scroll_to_latest {
            ui.scroll_to_cursor(Some(egui::Align::BOTTOM));
        }
    });
}

fn header_ui(ui: &mut Ui, view: &TimelineView<'_>, margin: Margin, actions: &mut Vec<Action>) {
    let state = &view.shown.state;
    Frame::NONE.inner_margin(margin).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(6.0, 7.0);
        let goal = super::first_line(&state.goal);
        let color = Theme::of(ui).text;
        let mut job = LayoutJob::simple(
            widgets::beginning(&prose(goal)).into_owned(),
            Text::Title.font(),
            color,
            ui.available_width(),
        );
        // A goal is a sentence; one row would cut most of them.
        job.wrap.max_rows = 2;
        let goal_text = ui.painter().layout_job(job);
        let response = ui.add(Label::new(goal_text));
        access::heading(&response, 1);
        if state.goal.trim() != goal {
            response.on_hover_text(prose_lines(&state.goal));
        }
        let can_revoke = !view.shown.recorded && !view.shown.class_revoked && !state.is_over();
        let revocable = state.class_id.filter(|_| can_revoke);
        ui.scope(|ui| {
            if revocable.is_some() {
                // The chips are centred beside the button only if the row has its height from the start.
                ui.spacing_mut().interact_size.y = theme::BUTTON;
            }
            ui.horizontal_wrapped(|ui| {
                for chip in chips(view) {
                    chip.ui(ui);
                }
                if let Some(class_id) = revocable {
                    let hint = "From the next plan on, you are asked about each plan.";
                    if widgets::tooltip_button(
                        ui,
                        Look::Plain,
                        icon::PROHIBIT,
                        "Revoke the class",
                        hint,
                    ) {
                        actions.push(Action::Loop(LoopAction::RevokeClass(class_id)));
                    }
                }
            });
        });
        let labeled = |ui: &mut Ui, name: &str, value: &str, what: &str| {
            ui.spacing_mut().item_spacing.x = 8.0;
            ui.spacing_mut().interact_size.y = 18.0;
            widgets::line(ui, name, Text::Meta, Tone::Dim);
            widgets::copyable(ui, value, value, what);
        };
        ui.horizontal(|ui| labeled(ui, "planner", &state.planner, "the planner"));
        ui.horizontal(|ui| {
            labeled(ui, "in", &state.workspace, "the workspace");
            if let Some(loop_id) = state.loop_id {
                let name = "Records of the loop";
                let hint = "Search the evidence for everything that ran in this loop.";
                if widgets::tooltip_button(ui, Look::Bare, icon::DATABASE, name, hint) {
                    let search = EvidenceAction::Search(format!("loop:{loop_id}"));
                    actions.push(Action::Evidence(search));
                }
            }
        });
    });
}

fn chips(view: &TimelineView<'_>) -> Vec<Chip> {
    let (state, now) = (&view.shown.state, view.now);
    let attempts = format!("{} of {} attempts", state.attempts.len(), state.max_attempts);
    let mut chips = vec![
        Chip::new(icon::REPEAT, attempts, Tone::Dim)
            .with_tooltip("The attempts so far, and the maximum."),
        Chip::new(icon::SHIELD_CHECK, format!("verify: {}", view.shown.verify), Tone::Dim)
            .with_tooltip("What the loop verifies itself if a plan has not verified it."),
    ];
    if let Some(target) = &state.target {
        chips.push(
            Chip::new(icon::HOST, drawable(target), Tone::Accent)
                .with_tooltip("The host of the goal: commands of its plans run there."),
        );
    }
    if state.looks == LookScope::None {
        chips.push(
            Chip::new(icon::PROHIBIT, "no looks", Tone::Dim)
                .with_tooltip("The planner may not look into the workspace before it plans."),
        );
    }
    if state.attempts_left == Some(1) && !state.is_over() {
        chips.push(
            Chip::new(icon::WARNING, "last attempt", Tone::Caution)
                .with_tooltip("If this one fails, the loop ends."),
        );
    }
    if let Some(class) = &view.shown.class {
        let (text, tone) = match view.shown.class_revoked {
            true => ("class revoked", Tone::Dim),
            false => ("class authorized in advance", Tone::Accent),
        };
        chips.push(Chip::new(icon::SEAL, text, tone).with_tooltip(class_text(class)));
    }
    if state.started_at_ms > 0 {
        let end = view.shown.ended_at_ms.or((!view.shown.recorded).then_some(now.ms));
        let text = match end {
            Some(end) if state.is_over() => format::duration(end - state.started_at_ms),
            _ => format!("since {}", now.minute(state.started_at_ms)),
        };
        let started = format!("Started {}.", now.full(state.started_at_ms));
        chips.push(Chip::new(icon::CLOCK, text, Tone::Dim).with_tooltip(started));
    }
    chips
}

/// Everything that a class allows, one line each.
fn class_text(class: &AuthorizationClass) -> String {
    let list = |items: &[String], empty: &str| match items.is_empty() {
        true => empty.to_owned(),
        false => items.join(", "),
    };
    let text = format!(
        "tools: {}\npaths: {}\nhosts: {}\nworst risk: {}\nattempts: the first {}\nuntil {}",
        list(&class.tools, "none"),
        list(&class.paths, "none"),
        list(&class.hosts, "this computer alone"),
        class.max_risk.as_str(),
        class.max_attempts,
        class.expires_at,
    );
    crate::plan::drawable_lines(&text)
}

/// Shows why the loop ended, what that means, and what to do next; nothing while it is under way.
fn ended_ui(ui: &mut Ui, state: &LoopState) {
    match &state.phase {
        LoopPhase::Ended(reason) => boxed(ui, |ui| reason_ui(ui, state, reason)),
        LoopPhase::Interrupted => boxed(ui, |ui| {
            Chip::new(icon::WARNING, "interrupted", Tone::Danger).ui(ui);
            let [happened, next] = interrupted_sentences(state);
            let text = format!(
                "The program that ran this loop has stopped without recording an end. The loop will not \
                 resume by itself. {happened}"
            );
            widgets::paragraph(ui, text, Text::Body, Tone::Plain);
            widgets::paragraph(ui, next, Text::Body, Tone::Dim);
        }),
        _ => {}
    }
}

/// What is known of the last attempt of a loop that was interrupted, and what to do next.
fn interrupted_sentences(state: &LoopState) -> [&'static str; 2] {
    let last = state.attempts.last();
    let runs = last.iter().flat_map(|it| [&it.run, &it.gate]).flatten();
    let runs: Vec<_> = runs.collect();
    if runs.is_empty() {
        let happened = "No step of its last attempt had begun.";
        return [happened, "There is nothing to reconcile. Start a new loop."];
    }
    if runs.iter().any(|run| run.is_uncertain()) {
        let next = "Look at the last attempt and its run; Reconcile, on the page of the run, compares its files \
                    with the disk. Then start a new loop.";
        return ["The outcome of the step under way is unknown.", next];
    }
    let happened = "Nothing is uncertain: each step that had an effect has its outcome.";
    [happened, "Look at the last attempt and its run. Then start a new loop."]
}

fn boxed(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let frame: Frame = widgets::card(ui);
    frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 6.0;
        add(ui);
    });
}

fn reason_ui(ui: &mut Ui, state: &LoopState, reason: &StopReason) {
    let (icon, tone) = stop_look(reason.code);
    ui.horizontal_wrapped(|ui| {
        Chip::new(icon, stop_word(reason.code), tone).ui(ui);
        if reason.code != StopCode::Completed {
            widgets::line(ui, reason.code.as_str(), Text::Meta, Tone::Dim);
        }
        if reason.detail.verified == Some(false) {
            Chip::new(icon::WARNING, "not verified", Tone::Caution)
                .with_tooltip("No verification has passed: nothing has checked the result.")
                .ui(ui);
        }
    });
    widgets::paragraph(ui, what_happened(state, reason), Text::Body, Tone::Plain);
    let [_, next] = stop_sentences(reason);
    widgets::paragraph(ui, next, Text::Body, Tone::Dim);
}

/// How the loop ended, with the attempt, the action and the error: what happened, not what the stop reason means.
fn what_happened(state: &LoopState, reason: &StopReason) -> String {
    let number = reason.detail.attempt;
    let attempt = number.map(|number| format!("Attempt {number} of {}", state.max_attempts));
    let attempt = attempt.unwrap_or_else(|| "The loop".to_owned());
    let last = state.attempts.iter().find(|it| Some(it.attempt) == number);
    let what = match (reason.code, last.and_then(|it| it.record.as_ref())) {
        (StopCode::Completed, Some(record)) => {
            let done = record.actions.iter().filter(|row| row.kind != VERIFY_GATE).count();
            let verified = match &record.verify {
                Some(verify) if verify.passed => {
                    format!("the verification ({}) passed", verify.scope.as_str())
                }
                _ => "nothing has checked the result".to_owned(),
            };
            format!("{} succeeded, and {verified}.", format::counted(done, "step"))
        }
        _ if reason.message.is_empty() => stop_sentences(reason)[0].to_owned(),
        _ => match reason.message.ends_with('.') {
            true => reason.message.clone(),
            false => format!("{}.", reason.message),
        },
    };
    format!("{attempt}: {what}")
}
