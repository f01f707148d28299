//! The page of the bounded loop: the form that describes a loop, and the timeline of its attempts, live or from the
//! evidence.
//!
//! Nothing is authorized here. The plan of an attempt is shown on the plan page and authorized in the same dialog as
//! any other plan.

mod action_list;
mod attempt;
mod bar;
mod class_form;
mod class_ui;
mod faults;
mod form;
mod form_ui;
mod looks;
pub(super) mod model;
mod plan_difference;
mod sequel;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::action::LoopAction;
use super::notice::{Notice, notices_ui};
use super::one_stop::OneStop;
use super::plan::{Entry, Place, bar_height, bar_ui};
use super::splits::side_panel_ui;
use super::widgets::panel_frame;
use super::{Action, Command, Commands, Look, Now, Text, Theme, Tone, icon, theme, widgets};
use crate::authorization::AuthorizationClass;
use crate::plan::{ShownPlan, drawable};
use crate::run::text::capitalized;
use crate::run::{Attempt, LoopState, LoopSummary, PlaceReview};
use egui::{Margin, Panel, ScrollArea, Ui, UiBuilder};

#[cfg(test)]
pub(crate) use bar::bar as bar_of;
pub use class_form::ClassForm;
pub use faults::Field;
pub use form::{LoopForm, LoopSettings, PlannerChoice};
pub use model::{
    ActionRow, BY_CLASS, action_rows, attempt_look, fate_look, gate_row, is_by_class, phase_look,
    state_look, stop_word, waiting_step,
};
pub(crate) use plan_difference::{lines_ui, plan_steps_ui};
pub use sequel::{Sequel, prequel, sequel};

/// All data of the page.
#[derive(Debug, Clone)]
pub struct LoopView<'a> {
    /// The loops in the evidence, latest first.
    pub loops: &'a [LoopSummary],
    /// The content next to the list.
    pub shown: Shown<'a>,
    /// The current time.
    pub now: &'a Now,
}

/// The content next to the list of loops.
#[derive(Debug, Clone)]
pub enum Shown<'a> {
    /// The form for a new loop.
    Form(FormView<'a>),
    /// A loop is being read from the evidence.
    Reading,
    /// A loop.
    Loop(TimelineView<'a>),
}

/// The form, with the review of its folders.
#[derive(Debug, Clone, Copy)]
pub struct FormView<'a> {
    /// The fields of the form.
    pub form: &'a LoopForm,
    /// The review of the folders and the planner; `None` until it is complete.
    pub place: Option<&'a PlaceReview>,
    /// The warning about other runs under way in the workspace.
    pub other_runs: Option<&'a str>,
    /// Whether to focus the goal now.
    pub focus_goal: bool,
}

/// A loop, live or from the evidence.
#[derive(Debug, Clone, Default)]
pub struct ShownLoop {
    /// The state of the loop, computed from its events.
    pub state: LoopState,
    /// Whether the loop is from the evidence, so that no events of it arrive.
    pub recorded: bool,
    /// The plans of its attempts, by attempt; empty for a loop from the evidence.
    pub plans: BTreeMap<u32, Arc<ShownPlan>>,
    /// The end of the planner's error output, by attempt; only for a loop from the evidence.
    pub planner_output: BTreeMap<u32, String>,
    /// The scope of the verification after each attempt, as shown.
    pub verify: String,
    /// The class that was authorized in advance.
    pub class: Option<AuthorizationClass>,
    /// Whether that class was revoked.
    pub class_revoked: bool,
    /// Whether a stop was requested; the loop may already have ended.
    pub stopping: bool,
    /// The time at which the loop ended, in Unix milliseconds.
    pub ended_at_ms: Option<i64>,
}

/// A loop as a timeline.
#[derive(Debug, Clone, Copy)]
pub struct TimelineView<'a> {
    /// The loop.
    pub shown: &'a ShownLoop,
    /// The attempts that the person has expanded or collapsed; by default only the latest is expanded.
    pub expanded: &'a BTreeMap<u32, bool>,
    /// The person's answer to the planner's question, as far as it is typed.
    pub answer: &'a str,
    /// Whether to scroll to the latest attempt now.
    pub scroll_to_latest: bool,
    /// The current time.
    pub now: &'a Now,
}

/// Draws the page.
pub fn loop_page_ui(
    ui: &mut Ui,
    view: &LoopView<'_>,
    notices: &[&Notice],
    commands: &mut Commands<'_>,
) {
    let theme = Theme::of(ui);
    side_panel_ui(ui, "loops", |ui| list_ui(ui, view, commands));
    let margin = Margin::symmetric(16, 0);
    let content = bar::bar(view, commands.situation);
    let height = match view.shown {
        Shown::Form(_) => bar_height(ui, &content, ui.available_width() - margin.sum().x),
        Shown::Reading | Shown::Loop(_) => theme::ACTION_BAR,
    };
    let bar = Panel::bottom("loop_bar")
        .exact_size(height)
        .resizable(false)
        .frame(panel_frame(theme.panel, margin))
        .show(ui, |ui| (ui.max_rect(), ui.clip_rect()))
        .inner;
    notices_ui(ui, notices, commands.actions);
    widgets::main_panel_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        match &view.shown {
            Shown::Form(form) => form_ui::form_ui(ui, form, commands.actions),
            Shown::Reading => {
                widgets::reading_state(ui, icon::DATABASE, "Reading the loop", "");
            }
            Shown::Loop(timeline) => timeline::timeline_ui(ui, timeline, commands.actions),
        }
    });
    // The bar is drawn last because Tab follows the drawing order: the person fills in the form before starting.
    let mut area = ui.new_child(UiBuilder::new().id_salt("loop bar").max_rect(bar.0));
    area.set_clip_rect(bar.1);
    bar_ui(&mut area, &content, commands);
}

/// The button that leads from a run to its loop.
pub(crate) fn loop_link_ui(ui: &mut Ui, attempt: Attempt, actions: &mut Vec<Action>) {
    let hint = format!("This is attempt {} of a loop. Show that loop.", attempt.number);
    if widgets::tooltip_button(ui, Look::Plain, icon::REPEAT, "Open its loop", &hint) {
        actions.push(Action::Do(Command::GoLoop));
        actions.push(Action::Loop(LoopAction::Show(attempt.loop_id)));
    }
}

fn list_ui(ui: &mut Ui, view: &LoopView<'_>, commands: &mut Commands<'_>) {
    commands.button(ui, Command::NewLoop, Look::Plain, None);
    ui.add_space(8.0);
    let open = match &view.shown {
        Shown::Loop(timeline) => timeline.shown.state.loop_id,
        Shown::Form(_) | Shown::Reading => None,
    };
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        widgets::list_heading(ui, "Loops");
        if view.loops.is_empty() {
            let text = "Every loop leaves its record here, with all of its attempts.";
            widgets::paragraph(ui, text, Text::Small, Tone::Dim);
        }
        let shown = view.loops.iter().position(|it| open == Some(it.loop_id));
        let list = OneStop::new(ui, "loops", view.loops.iter().map(|it| it.loop_id), shown);
        for (index, summary) in view.loops.iter().enumerate() {
            if entry_ui(ui, summary, (&list, index, shown == Some(index)), view.now) {
                commands.actions.push(Action::Loop(LoopAction::Show(summary.loop_id)));
            }
        }
    });
}

fn entry_ui(ui: &mut Ui, summary: &LoopSummary, place_in_list: Place<'_>, now: &Now) -> bool {
    let (icon, word, tone) = fate_look(summary.fate);
    let (goal, time) = (first_line(&summary.goal), now.short(summary.started_at_ms));
    let place = Entry::place(ui, &summary.workspace);
    let purged = summary.purged.as_ref();
    let purged = purged.map(|note| format!("\n{}", drawable(&capitalized(&note.sentence()))));
    let entry = Entry {
        look: Some((icon, tone)),
        title: goal,
        second_line: &format!("{word} · {place}"),
        time: &time,
        name: format!("Loop {}, {word}, {place}, {time}", drawable(goal)),
        tooltip: format!(
            "{}\n{word}, {} of {} attempts\nplanner {}\nstarted {}\nin {}{}",
            drawable(&summary.goal),
            summary.attempts_begun,
            summary.max_attempts,
            drawable(&summary.planner),
            now.full(summary.started_at_ms),
            drawable(&summary.workspace),
            purged.unwrap_or_default(),
        ),
    };
    entry.ui(ui, place_in_list)
}

/// The first non-blank line of a text.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}
