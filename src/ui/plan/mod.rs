//! The plan page: list of plans and runs, the plan with its steps, the bar where it is authorized
//! and led, and the inspector.
//!
//! [`PlanView`] borrows what is known; pure functions turn it into what each part shows, row by
//! row, so that a plan of ten thousand steps costs no more than the rows on screen.

mod action_bar;
mod bar_model;
mod card;
mod changes;
mod code;
mod command;
mod diagnostics;
mod diff;
mod files;
mod findings;
mod growing;
mod header;
mod inspector;
mod kept;
mod marks;
mod output;
mod output_pane;
mod preview;
mod request;
mod rows;
mod sidebar;
mod simulation;
#[cfg(test)]
mod tests;
mod walls;
mod workspace_commands;

use std::path::Path;

use egui::{CentralPanel, Margin, Panel, Ui};
use uuid::Uuid;

use super::action::{Action, Tab};
use super::artifact::Contents;
use super::commands::{Command, Situation, command_button};
use super::format::Now;
use super::icon;
use super::theme::{self, Theme};
use super::widgets::{self, Look, panel_frame};
use crate::authorization::Change;
use crate::plan::{Digest, Finding, ShownPlan};
use crate::run::{
    Attempt, ExecutionDetail, Preview, Reconciled, Review, RunState, StepTimer, Transcript,
};

pub use bar_model::{Bar, bar};
pub use card::CardView;
pub(crate) use changes::changes_ui;
pub use code::{CodeRow, Gutter, code_rows_ui, columns, whole_ui};
pub(crate) use command::command_ui;
pub use header::Figures;
pub(crate) use inspector::{argument_ui, short_first};
pub use kept::kept_rows;
pub use output::{output_lines, text_rows};
pub(crate) use preview::preview_ui;
pub(crate) use request::request_ui;
pub use rows::{StepRow, step_row};
pub(crate) use rows::{outcome_look, risk_icon};
pub use sidebar::{RecentPlan, SidebarView, sidebar_ui};
pub(super) use simulation::take_keys;
pub use simulation::{SimulationState, SimulationView};
pub(crate) use walls::lines_ui;
pub use walls::{WallLines, wall_lines};
pub(crate) use workspace_commands::commands_button;

/// Where the open plan stands with its person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Approval {
    /// Nobody has answered.
    #[default]
    None,
    /// The answer is being written down.
    Recording,
    /// Approved, waiting for its run.
    Approved {
        /// When, in Unix milliseconds.
        at_ms: i64,
        /// Until when, in Unix milliseconds.
        until_ms: i64,
    },
    /// It was approved, and its time has run out.
    Expired,
    /// It was approved, and what it covered has changed since.
    Void(Vec<Change>),
    /// Rejected.
    Rejected(String),
    /// Its one run has begun or ended.
    Used {
        /// When it was given, in Unix milliseconds.
        at_ms: i64,
    },
    /// A run from the records is shown; there is nothing to authorize.
    Recorded,
}

/// Everything the plan page shows.
#[derive(Debug, Clone)]
pub struct PlanView<'a> {
    /// Where the plan came from; none for a plan from the records.
    pub path: Option<&'a Path>,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The plan, where enough of it could be read to show it.
    pub plan: Option<&'a ShownPlan>,
    /// What there is to count in it.
    pub figures: Figures,
    /// What is wrong with it.
    pub findings: &'a [Finding],
    /// What the review found.
    pub review: Option<&'a Review>,
    /// Where it stands with its person.
    pub approval: &'a Approval,
    /// Its run, or an idle state.
    pub run: &'a RunState,
    /// What the run has printed.
    pub transcript: &'a Transcript,
    /// How the step under way is getting on.
    pub pace: StepTimer,
    /// Whether what is printed is shown below the steps.
    pub shows_output: bool,
    /// The run that the plan, or the run itself, continues.
    pub continues: Option<Uuid>,
    /// The attempt of a bounded loop whose plan it is, while its loop is led here.
    pub attempt: Option<AttemptView>,
    /// The attempt that the plan and its run are of, whoever leads its loop.
    pub of_loop: Option<Attempt>,
    /// What a comparison of its interrupted steps with the disk found.
    pub reconciled: &'a [Reconciled],
    /// The step in the inspector, from 0.
    pub selected: usize,
    /// Whether the list should bring that step into view now.
    pub scroll_to_selected: bool,
    /// The side of it that is shown.
    pub tab: Tab,
    /// The step that a guided run waits for, as the question in its place among the steps.
    pub card: Option<CardView<'a>>,
    /// What it would do, once computed.
    pub preview: Option<&'a Preview>,
    /// What all steps would do together; none while the steps are shown.
    pub simulation: Option<SimulationView<'a>>,
    /// Contents of artifacts that were asked for.
    pub contents: &'a Contents,
    /// Its evidence, once read.
    pub execution: Option<&'a ExecutionDetail>,
    /// The present moment.
    pub now: &'a Now,
}

/// Which attempt of a bounded loop a plan is (SPEC §10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptView {
    /// Which one, from 1.
    pub attempt: u32,
    /// Of so many.
    pub max_attempts: u32,
    /// Whether the loop waits for an answer to it.
    pub waits: bool,
}

/// The height of the output that is always left, in points.
const LITTLE_OUTPUT: f32 = 96.0;
/// Steps and output have less room than this, in points, in a small window.
const SMALL: f32 = 560.0;

/// The whole page.
pub fn plan_page_ui(
    ui: &mut Ui,
    sidebar: &SidebarView<'_>,
    plan: Option<&PlanView<'_>>,
    situation: &Situation,
    actions: &mut Vec<Action>,
) {
    let theme = Theme::of(ui);
    Panel::left("sidebar")
        .default_size(theme::SIDEBAR)
        .size_range(160.0..=360.0)
        .resizable(true)
        .frame(panel_frame(theme.panel, Margin::symmetric(12, 12)))
        .show(ui, |ui| sidebar_ui(ui, sidebar, situation, actions));
    let Some(view) = plan else {
        CentralPanel::no_frame().frame(panel_frame(theme.background, Margin::ZERO)).show(
            ui,
            |ui| {
                widgets::empty_state(
                    ui,
                    icon::SIGNATURE,
                    "No plan is open",
                    "Open a plan file, or drop one here. You will see what every step would do to \
                 which file before anything runs, and nothing runs until you authorize exactly \
                 that plan.",
                );
                ui.add_space(12.0);
                ui.vertical_centered(|ui| {
                    let tour = Command::OpenTour;
                    command_button(ui, tour, Look::Primary, None, situation, actions);
                });
            },
        );
        return;
    };
    if view.plan.is_some() && view.simulation.is_none() {
        let width = ui.available_width();
        Panel::right("inspector")
            .default_size(theme::INSPECTOR.min(width * 0.44))
            .size_range(260.0..=(width - 320.0).max(260.0))
            .resizable(true)
            .frame(panel_frame(theme.background, Margin::ZERO))
            .show(ui, |ui| inspector::inspector_ui(ui, view, actions));
    }
    Panel::bottom("action_bar")
        .exact_size(theme::ACTION_BAR)
        .resizable(false)
        .frame(panel_frame(theme.panel, Margin::symmetric(16, 0)))
        .show(ui, |ui| action_bar::action_bar_ui(ui, view, situation, actions));
    let height = ui.available_height();
    // In a small window a guided run has the room for its steps, where the person answers.
    let small = height < SMALL && view.run.is_active() && rows::is_guided(view);
    let (id, least) = if small { ("little output", 300.0) } else { ("output", 200.0) };
    let has_room = !small || height >= least + LITTLE_OUTPUT;
    if view.shows_output && view.simulation.is_none() && has_room {
        let usual = if small { LITTLE_OUTPUT } else { theme::OUTPUT.min(height * 0.4) };
        Panel::bottom(id)
            .default_size(usual)
            .size_range(LITTLE_OUTPUT..=(height - least).max(LITTLE_OUTPUT))
            .resizable(true)
            .frame(panel_frame(theme.background, Margin::ZERO))
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                output_pane::output_pane_ui(ui, view, actions);
            });
    }
    CentralPanel::no_frame().frame(panel_frame(theme.background, Margin::ZERO)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        header::header_ui(ui, view, situation, actions);
        if let Some(simulation) = &view.simulation {
            simulation::simulation_ui(ui, view, simulation, situation, actions);
            return;
        }
        findings::findings_ui(ui, view.findings);
        rows::rows_ui(ui, view, actions);
    });
}
