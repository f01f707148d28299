//! The top of the plan page: the plan's name, its effects, and the digest of its bytes.

use egui::{Align, Frame, Layout, Margin, ScrollArea, Ui, vec2};

use super::chips::chips;
use super::{
    PlanView, RecordedRun, choices, fate_text, reviews, revising, run_look, show_step, walls,
};
use crate::plan::{Digest, ShownPlan, one_line, prose, visible_name};
use crate::run::text::capitalized;
use crate::run::{CommandsReview, NO_DEADLINE_MS};
use crate::ui::action::{LoopAction, PlanChoice, PlanFolder};
use crate::ui::dialog::input_lines;
use crate::ui::loop_page::{BY_CLASS, loop_link_ui};
use crate::ui::reconcile::{reconciled_ui, settle_ui};
use crate::ui::{
    Action, Chip, Command, Commands, Look, Now, PlanAction, Text, Theme, Tone, format, icon, theme,
    widgets,
};

/// Shows when and where a recorded run ran, and who authorized it and how.
fn recorded_ui(ui: &mut Ui, run: &RecordedRun, now: &Now) {
    let host = run.host.as_ref().map(|host| format!(", commands on {}", visible_name(host)));
    let place = format!(
        "Ran {} in {}{}",
        now.full(run.started_at_ms),
        visible_name(&run.workspace),
        host.unwrap_or_default()
    );
    widgets::remark(ui, icon::CLOCK, Tone::Dim, place);
    for decision in &run.decisions {
        let mut text = format!("{}, {}", decision.sentence(), now.full(decision.timestamp_ms));
        if !decision.note.is_empty() {
            text.push_str(&format!(": {}", prose(&decision.note)));
        }
        widgets::remark(ui, icon::SEAL, Tone::Dim, text);
    }
}

/// Shows the success criteria and the estimated time of a command plan, which are never evaluated.
fn success_ui(ui: &mut Ui, plan: &ShownPlan) {
    let notes = &plan.notes;
    let criteria = &notes.success_criteria;
    let success =
        (!criteria.is_empty()).then(|| format!("Done when: {}", prose(&criteria.join("; "))));
    let time = notes.estimated_time.as_ref().map(|time| format!("Estimated time: {}", prose(time)));
    let text = [success, time].into_iter().flatten().collect::<Vec<_>>().join("  ·  ");
    if text.is_empty() {
        return;
    }
    widgets::line(ui, text, Text::Meta, Tone::Dim);
}

/// A warning if steps change files although the plan's intent is not MUTATE.
pub fn contradiction(view: &PlanView<'_>) -> Option<String> {
    let intent = view.plan?.intent?;
    (view.step_counts.changing > 0 && intent.as_str() != "MUTATE").then(|| {
        format!("The plan calls itself {}, but some of its steps change files.", intent.as_str())
    })
}

/// The height that the header leaves for its first line, the filter and some steps, in points.
const FOR_STEPS: f32 = 60.0 + 40.0 + 2.0 * theme::ROW;

/// How much room the header takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderSize {
    /// Every line.
    Whole,
    /// Fewer lines, and while the plan runs, only the name.
    Small,
    /// One line, which the person can unfold.
    Line,
}

/// Shows the header. In a window with little height it leaves room for the steps. Returns whether the person has unfolded
/// a header of one line.
pub(super) fn header_ui(
    ui: &mut Ui,
    view: &PlanView<'_>,
    size: HeaderSize,
    is_one_pane: bool,
    commands: &mut Commands<'_>,
) -> bool {
    let situation = commands.situation;
    let is_small = size != HeaderSize::Whole;
    let folded_id = ui.scope_id().with("header is unfolded");
    let mut is_unfolded = ui.data(|data| data.get_temp(folded_id).unwrap_or(false));
    let room = ui.available_height();
    let (top, bottom, gap) = if is_small { (8, 6, 4.0) } else { (16, 14, 7.0) };
    Frame::NONE.inner_margin(Margin { left: 18, right: 18, top, bottom }).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(6.0, gap);
        let name =
            view.plan.map_or("This file cannot be read as a plan".into(), |it| prose(it.name()));
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if view.plan.is_some() {
                    // Commands on a host cannot be simulated.
                    let command = match (situation.remote, situation.testing_connection) {
                        (true, true) => Command::StopTrying,
                        (true, false) => Command::TryHost,
                        (false, _) => Command::Simulate,
                    };
                    if size == HeaderSize::Line {
                        let (icon, text) = match is_unfolded {
                            true => (icon::UP, "Hide what the plan is"),
                            false => (icon::DOWN, "Show what the plan is"),
                        };
                        if widgets::icon_button(ui, icon, text).clicked() {
                            is_unfolded = !is_unfolded;
                            ui.data_mut(|data| data.insert_temp(folded_id, is_unfolded));
                        }
                        let spec = command.spec();
                        let is_available = (spec.unavailable)(situation).is_none();
                        if let Some(icon) = spec.icon.filter(|_| is_available)
                            && widgets::icon_button(ui, icon, spec.text).clicked()
                        {
                            commands.actions.push(Action::Do(command));
                        }
                    } else {
                        commands.button(ui, command, Look::Plain, None);
                    }
                    let output =
                        if view.output.is_shown { "Hide the output" } else { "Show the output" };
                    if widgets::icon_button(ui, icon::TERMINAL, output).clicked() {
                        commands.actions.push(Action::Do(Command::ToggleOutput));
                    }
                    if is_one_pane
                        && widgets::icon_button(ui, icon::RIGHT, "Show the selected step").clicked()
                    {
                        show_step(ui.ctx());
                    }
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    widgets::line(ui, name, Text::Title, Tone::Plain);
                });
            });
        });
        let room_below = match size {
            HeaderSize::Line if !is_unfolded => return,
            HeaderSize::Small if view.run.is_active() => return,
            HeaderSize::Line => room * 0.5,
            // Some steps are always seen below it.
            HeaderSize::Small | HeaderSize::Whole => (room - FOR_STEPS).max(room * 0.4),
        };
        let height_id = ui.scope_id().with("height below the name");
        let height: f32 = ui.data(|data| data.get_temp(height_id)).unwrap_or_default();
        let area = ScrollArea::vertical().id_salt("header").max_height(room_below);
        let area = area.auto_shrink([false, true]).show(ui, |ui| {
            if height > room_below {
                ui.set_max_width(ui.available_width() - theme::SCROLL_BAR);
            }
            below_name_ui(ui, view, is_small, commands);
            widgets::reveal_focus_in(ui);
        });
        ui.data_mut(|data| data.insert_temp(height_id, area.content_size.y));
    });
    widgets::line_below(ui);
    is_unfolded
}

/// Shows the lines below the name of the plan.
fn below_name_ui(ui: &mut Ui, view: &PlanView<'_>, is_small: bool, commands: &mut Commands<'_>) {
    let chips = chips(view);
    if !chips.is_empty() {
        ui.horizontal_wrapped(|ui| {
            for chip in &chips {
                chip.ui(ui);
            }
        });
    }
    if !is_small {
        ui.horizontal(|ui| origin_ui(ui, view));
    }
    reviews::answers_ui(ui, view.reviews.lines);
    if let Some(run) = view.recorded {
        recorded_ui(ui, run, view.now);
    }
    let actions = &mut *commands.actions;
    if is_small || view.choices.is_some() {
        ui.horizontal_wrapped(|ui| {
            choices::choices_ui(ui, view, actions);
            if is_small {
                digest_ui(ui, view.digest);
            }
        });
    }
    if let Some(plan) = view.plan {
        success_ui(ui, plan);
    }
    if let Some(run) = view.last_run {
        let when = view.now.moment(run.started_at_ms);
        let text = format!("Last run {when}: {}", fate_text(run));
        let hint = "Show what the last run of this plan did.";
        if widgets::tooltip_button(ui, Look::Plain, run_look(run).0, &text, hint) {
            actions.push(Action::Plan(PlanAction::OpenRun(run.run_id)));
        }
    }
    if let Some(run_id) = view.continues {
        let text = view.plan.map(|plan| capitalized(&plan.relation(run_id, Some(8))));
        let reverted_loop = view.plan.and_then(|plan| plan.reverted_loop());
        let hint = match (reverted_loop, view.plan.is_some_and(|plan| plan.is_revert())) {
            (Some(_), _) => "Show the loop whose changes this plan reverts.",
            (None, true) => "Show the run whose changes this plan reverts.",
            (None, false) => "Show the run that this plan continues.",
        };
        let text = text.unwrap_or_default();
        if widgets::tooltip_button(ui, Look::Plain, icon::LINK, &text, hint) {
            match reverted_loop {
                Some(loop_id) => {
                    actions.push(Action::Do(Command::GoLoop));
                    actions.push(Action::Loop(LoopAction::Show(loop_id)));
                }
                None => actions.push(Action::Plan(PlanAction::OpenRun(run_id))),
            }
        }
    }
    inputs_ui(ui, view, is_small, commands);
    let actions = &mut *commands.actions;
    inbox_ui(ui, view, actions);
    revising::revision_ui(ui, view, commands);
    let actions = &mut *commands.actions;
    if let Some(prequel) = &view.prequel {
        widgets::remark(ui, icon::REPEAT, Tone::Caution, prequel);
    }
    if view.attempt.is_some_and(|attempt| attempt.by_class) {
        widgets::remark(ui, icon::SEAL, Tone::Dim, BY_CLASS);
    }
    if let Some(attempt) = view.of_loop {
        loop_link_ui(ui, attempt, actions);
    }
    walls::grants_ui(ui, view, actions);
    workspace_commands_ui(ui, view, actions);
    reconciled_ui(ui, view.reconciled);
    settle_ui(ui, view.run.run_id, view.reconciled, actions);
    if let Some(text) = contradiction(view) {
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    }
}

/// The number of inputs that are shown one by one; of more, only how many they are.
const MAX_INPUTS: usize = 4;
/// The number of inputs in the tooltip.
const MAX_LISTED: usize = 30;

/// Shows the inputs of the plan, with a button that fills them in.
fn inputs_ui(ui: &mut Ui, view: &PlanView<'_>, is_small: bool, commands: &mut Commands<'_>) {
    let Some(plan) = view.plan.filter(|plan| !plan.inputs.is_empty()) else { return };
    let secrets = view.choices.as_ref().map(|choices| &choices.chosen.secret_inputs);
    let is_given = |name: &str| secrets.is_some_and(|secrets| secrets.get(name).is_some());
    let lines: Vec<_> = input_lines(&plan.inputs, is_given).collect();
    ui.horizontal_wrapped(|ui| {
        if commands.situation.not_fillable.is_none() {
            commands.button(ui, Command::FillIn, Look::Plain, None);
        }
        let missing = lines.iter().filter(|(_, is_missing)| *is_missing).count();
        if lines.len() > MAX_INPUTS || is_small {
            let (count, tone) = match missing {
                0 => (format!("{} filled in", format::counted(lines.len(), "input")), Tone::Dim),
                _ => {
                    let count = format::counted(lines.len(), "input");
                    (format!("{missing} of {count} not filled in"), Tone::Caution)
                }
            };
            let all = lines.iter().take(MAX_LISTED).map(|(text, _)| text.as_str());
            let all = all.collect::<Vec<_>>().join("\n");
            Chip::new(icon::WRITE, count, tone).with_tooltip(all).ui(ui);
            return;
        }
        for (text, is_missing) in &lines {
            let tone = if *is_missing { Tone::Caution } else { Tone::Dim };
            Chip::new(icon::WRITE, format::short_name(text), tone)
                .with_tooltip(text.as_str())
                .ui(ui);
        }
    });
}

/// Shows who proposes a plan of the inbox. One that was put there by hand needs a workspace first.
fn inbox_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    if !view.in_inbox {
        return;
    }
    let text = match (view.proposed_by, view.asked_until_ms) {
        (Some(agent), Some(until_ms)) => {
            let before = match view.session_decided {
                None => {
                    let text = format!("Asked by {}, which waits no longer.", prose(agent));
                    return widgets::remark(ui, icon::ENVELOPE, Tone::Dim, text);
                }
                Some((0, 0)) => String::new(),
                Some((authorized, rejected)) => format!(
                    " In this session you have authorized {} and rejected {rejected}.",
                    format::counted(authorized, "call")
                ),
            };
            let agent = prose(agent);
            let who = match view.agent_acts {
                true => format!(" If you authorize it, {agent} does it itself."),
                false => String::new(),
            };
            let until = match until_ms {
                NO_DEADLINE_MS => ", which waits for your answer.".to_owned(),
                until_ms => {
                    let until = view.now.second(until_ms);
                    format!(", answer until {until}. Then the call is denied.")
                }
            };
            format!("Asked by {agent}{until}{who}{before}")
        }
        (Some(from), None) => {
            format!("From the inbox. Proposed by “{}”, as it says itself.", prose(from))
        }
        (None, _) => "From the inbox. Nobody says who proposes it.".to_owned(),
    };
    widgets::remark(ui, icon::ENVELOPE, Tone::Dim, text);
    if view.review.is_none() && view.plan.is_some() {
        let (text, hint) =
            ("Choose the workspace…", "Choose the folder in which the plan is to run.");
        if widgets::tooltip_button(ui, Look::Plain, icon::OPEN, text, hint) {
            let choice = PlanChoice::PickFolder(PlanFolder::Workspace);
            actions.push(Action::Plan(PlanAction::Choose(choice)));
        }
    }
}

/// Shows where the plan comes from: its purpose, the digest of its bytes, its file and its author.
fn origin_ui(ui: &mut Ui, view: &PlanView<'_>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.x = 8.0;
    if let Some(intent) = view.plan.and_then(|plan| plan.intent) {
        ui.label(widgets::rich(intent.as_str(), Text::Meta, theme.dim))
            .on_hover_text("What the author says the plan is for. It never changes what runs.");
    }
    digest_ui(ui, view.digest);
    if let Some(path) = view.path
        && ui.available_width() > 80.0
    {
        ui.label(widgets::rich("from", Text::Meta, theme.dim));
        let full_path = path.display().to_string();
        let of_file = || path.file_name().map(|name| name.to_string_lossy().into_owned());
        let proposed = view.proposed_name.map(|name| one_line(name).into_owned());
        let name = proposed.or_else(of_file).unwrap_or_else(|| full_path.clone());
        widgets::copyable(ui, &name, &full_path, "the path");
    }
    if let Some(author) = view.plan.and_then(|plan| plan.created_by.as_deref())
        && ui.available_width() > 80.0
    {
        ui.label(widgets::rich("by", Text::Meta, theme.dim));
        widgets::line(ui, prose(author), Text::Meta, Tone::Dim)
            .on_hover_text("As the file says; nobody has verified it.");
    }
}

/// Shows the digest of the plan's bytes. A file that could not be read has that of empty content, which says nothing.
fn digest_ui(ui: &mut Ui, digest: Digest) {
    if digest != Digest::of(b"") {
        let full = digest.to_string();
        widgets::copyable(ui, &format::digest(&digest), &full, "the plan's digest");
    }
}

/// Shows whether the commands that the workspace names are trusted, with a button that opens the trust dialog.
fn workspace_commands_ui(ui: &mut Ui, view: &PlanView<'_>, actions: &mut Vec<Action>) {
    let commands = view.review.and_then(|review| review.workspace_commands.as_ref());
    let Some(commands) = commands else { return };
    if !commands.trusted {
        let text =
            "The plan would run commands that the workspace names. You do not trust them yet.";
        widgets::remark(ui, icon::WARNING, Tone::Caution, text);
    } else {
        // Keeps the id of the button below, and so its keyboard focus.
        ui.skip_ahead_auto_ids(1);
    }
    if commands_button(ui, commands) {
        actions.push(Action::Plan(PlanAction::ReviewCommands));
    }
}

/// The button that opens the trust dialog for the commands of a workspace. Returns whether it was clicked.
pub(crate) fn commands_button(ui: &mut Ui, commands: &CommandsReview) -> bool {
    let (text, hint) = match commands.trusted {
        true => (
            "Commands of the workspace…",
            "You trust these commands. Look at them, or stop trusting them.",
        ),
        false => ("Look at the commands…", "See them all, and decide whether they may be run."),
    };
    widgets::tooltip_button(ui, Look::Plain, icon::TERMINAL, text, hint)
}
