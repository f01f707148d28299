//! The plan page: the list of plans and runs, the plan with its steps, the inspector of the selected step, the output
//! of the run, and the bar with the commands that authorize the plan and control its run.
//!
//! [`PlanView`] borrows all data. Pure functions compute what each part shows, row by row, so that a plan of
//! ten thousand steps costs no more than its visible rows.

mod action_bar;
mod argument_editor;
mod bar_fit;
mod bar_model;
mod bar_queue;
mod card;
mod change_jump;
mod changed_steps;
mod changes;
mod chips;
mod choices;
mod code;
mod code_row;
mod diagnostics;
mod did;
mod diff;
mod diff_layout;
mod file_list;
mod filter;
mod filter_bar;
mod findings;
mod header;
mod hosts;
mod inbox;
mod incremental_rows;
mod inspector;
mod letters;
mod line_choice;
mod line_cursor;
mod looked_at;
mod marks;
mod open_plans;
mod output;
mod output_pane;
mod output_tab;
mod page;
mod past_call;
mod path_end;
mod previewed;
mod request;
mod reviews;
mod revising;
mod row_cache;
mod row_paint;
mod rows;
mod rows_in_sight;
mod selection;
mod session;
mod sidebar;
mod simulation;
mod start;
#[cfg(test)]
mod tests;
mod twin_lines;
mod walls;
mod wrap;

use std::collections::BTreeMap;
use std::path::Path;

use uuid::Uuid;

use super::action::Tab;
use super::artifact::Contents;
use super::loop_page::Sequel;
use super::{Now, format};
use crate::authorization::Change;
use crate::plan::{Digest, Finding, ShownPlan};
use crate::risk::RiskLevel;
use crate::run::{
    Attempt, DecisionRecord, DoneFiles, ExecutionDetail, PlanRejection, Preview, PreviewedSteps,
    Reconciled, Review, RunState, RunSummary, StepTimer, Transcript,
};

pub(crate) use action_bar::{bar_height, bar_ui};
pub(super) use argument_editor::edits_argument;
pub use bar_model::{Bar, bar};
pub use card::CardView;
pub use change_jump::go_to_change;
pub use changed_steps::{ChangedSteps, SeenStep, StepChange};
pub(crate) use changes::{
    Cut, changes_ui, cut_changes_ui, difference_ui, lines_of_change_ui, preview_ui,
};
pub use chips::StepCounts;
pub(crate) use chips::{risk_chip, risk_icon};
pub use choices::ChoicesView;
pub use code::{Beside, CodeRow, Gutter, code_rows_ui, columns, full_text_ui};
pub(crate) use filter::kinds_help;
pub use filter::{KindSources, StepFilter, StepKind, StepList, steps_with_text};
pub(crate) use filter_bar::FIELD_HELP;
pub(crate) use findings::finding_sentence;
pub(crate) use header::commands_button;
pub(crate) use hosts::files_ui;
pub use inbox::InboxView;
use inspector::argument_with_ui;
pub(crate) use inspector::{argument_ui, indented};
pub(crate) use letters::{RIGHT_TO_LEFT, named_letters, step_has_right_to_left};
pub(crate) use line_choice::{no_lines, whole_choice};
pub(super) use line_cursor::chooses_lines;
pub use looked_at::{LookedAt, MustSee};
pub(crate) use marks::sections;
pub use open_plans::{OpenPlan, OpenState, QueueView, QueuedPlan};
pub(crate) use output::short_first;
pub use output::{output_lines, text_rows};
use page::{LOWEST, STEP_PANE};
pub use page::{plan_page_ui, show_step};
pub(crate) use previewed::not_previewed;
pub(crate) use request::{OUTDATED, command_rows, command_ui, outdated_ui, request_ui};
pub(crate) use reviews::answers_ui;
pub use reviews::{AnswerState, ReviewsView};
pub use revising::{ArgumentEdit, LineChoice, RevisedView, Revising, RevisionView};
pub use row_cache::cached_rows;
pub(crate) use rows::outcome_look;
pub use rows::{StepRow, step_row};
pub(crate) use session::call_look;
pub use session::{RuleOffer, SessionView};
pub(crate) use sidebar::{Entry, Place, fate_look, fate_text, run_look};
pub use sidebar::{RecentPlan, SidebarView, sidebar_ui};
pub(super) use simulation::take_keys;
pub use simulation::{Effect, Simulated};
pub(crate) use walls::{GroupedSteps, WALLS, beyond_walls, lines_ui, step_ranges};
pub use walls::{WallLines, wall_lines};
pub(crate) use wrap::row_length;

/// The authorization state of the open plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Approval {
    /// There is no decision.
    #[default]
    None,
    /// The decision is being recorded.
    Recording,
    /// The decision is being signed with the person's key, and will then be recorded.
    Signing,
    /// The plan was approved, and its run has not begun.
    Approved {
        /// The time of approval, in Unix milliseconds.
        at_ms: i64,
        /// The time at which the approval expires, in Unix milliseconds.
        until_ms: i64,
    },
    /// The approval has expired.
    Expired,
    /// What the approval covers has changed in these respects; none if the person has chosen something else for the run,
    /// and the next review tells what that changes.
    Void(Vec<Change>),
    /// The plan was rejected, for this reason.
    Rejected(String),
    /// The one run that the approval allows has begun or ended.
    Used {
        /// The time of approval, in Unix milliseconds.
        at_ms: i64,
    },
    /// A recorded run is shown; there is nothing to authorize.
    Recorded,
}

impl Approval {
    /// Whether a decision was given that is not recorded yet.
    pub const fn is_pending(&self) -> bool {
        matches!(self, Self::Recording | Self::Signing)
    }
}

/// What is known about a recorded run besides its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRun {
    /// The time of the start, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The workspace folder.
    pub workspace: String,
    /// The SSH destination on which its commands ran; `None` for this computer.
    pub host: Option<String>,
    /// The recorded risk of the steps, by the index of the step.
    pub risks: BTreeMap<usize, RiskLevel>,
    /// The risk of the other steps by the present rules.
    pub judged: BTreeMap<usize, RiskLevel>,
    /// The decisions about its authorization.
    pub decisions: Vec<DecisionRecord>,
}

/// All data of the plan page.
#[derive(Debug, Clone)]
pub struct PlanView<'a> {
    /// The plan's file; `None` for a plan without a file, for example from the evidence or of a loop.
    pub path: Option<&'a Path>,
    /// The digest of the plan's bytes.
    pub digest: Digest,
    /// The plan, if enough of it could be parsed to show it.
    pub plan: Option<&'a ShownPlan>,
    /// The numbers of steps of the plan.
    pub step_counts: StepCounts,
    /// The choices of the person, where they can be made.
    pub choices: Option<ChoicesView<'a>>,
    /// The findings about the plan.
    pub findings: &'a [Finding],
    /// What the run did to files, if it is over and began in this window.
    pub done: Option<&'a DoneFiles>,
    /// The result of the review; `None` for a recorded run.
    pub review: Option<&'a Review>,
    /// The id of this reading and review of the plan. Another one has another id.
    pub review_id: Uuid,
    /// The authorization state of the plan.
    pub approval: &'a Approval,
    /// The signatures of other persons, and a request for the person's own.
    pub reviews: ReviewsView<'a>,
    /// The rejection of the plan that was recorded before it was opened, unless it was authorized since.
    pub rejected: Option<&'a PlanRejection>,
    /// The run of the plan; idle if there is none.
    pub run: &'a RunState,
    /// The output of the run.
    pub output: &'a RunOutput,
    /// Whether the plan is in the inbox.
    pub in_inbox: bool,
    /// The name of the file that was proposed; the inbox has its own.
    pub proposed_name: Option<&'a str>,
    /// Who proposes it, in words that nobody has checked.
    pub proposed_by: Option<&'a str>,
    /// Until when an agent waits for the decision about its call, in Unix milliseconds.
    pub asked_until_ms: Option<i64>,
    /// How many calls of the same session of the agent were authorized and rejected before.
    pub session_decided: Option<(usize, usize)>,
    /// Whether the agent makes the call itself once it is authorized.
    pub agent_acts: bool,
    /// The latest run of these bytes in this workspace, while the page shows none.
    pub last_run: Option<&'a RunSummary>,
    /// The run that this plan or run continues or reverts.
    pub continues: Option<Uuid>,
    /// The name of the plan whose run is under way in this window, if it is not this one.
    pub other_plan: Option<&'a str>,
    /// The warning about other runs in the workspace of the plan.
    pub other_runs: Option<&'a str>,
    /// What is known about the run, if it is a recorded one.
    pub recorded: Option<&'a RecordedRun>,
    /// The attempt of a bounded loop that this plan belongs to, while this process runs the loop.
    pub attempt: Option<PlanAttempt>,
    /// The attempt that the plan and its run belong to, no matter which process runs the loop.
    pub of_loop: Option<Attempt>,
    /// Why there is this attempt after an earlier one, if this window knows that loop.
    pub prequel: Option<String>,
    /// How that loop went on, if this window knows it.
    pub sequel: Option<Sequel>,
    /// The results of comparing the interrupted steps of the run with the disk.
    pub reconciled: &'a [Reconciled],
    /// The step in the inspector, counted from 0.
    pub selected: usize,
    /// Whether to scroll the list to the selected step now.
    pub scroll_to_selected: bool,
    /// The filter of the list of steps, and the steps that it lists.
    pub list: &'a StepList,
    /// The selected tab of the inspector.
    pub tab: Tab,
    /// The steps that the person has looked at.
    pub looked_at: &'a LookedAt,
    /// The steps that differ from what the person saw.
    pub changed: &'a ChangedSteps,
    /// The card with which a guided run asks about its current step.
    pub card: Option<CardView<'a>>,
    /// The preview of the selected step; `None` until it is computed.
    pub preview: Option<&'a Preview>,
    /// What the previews of all steps say, as far as they are known.
    pub previewed: &'a PreviewedSteps,
    /// The simulation of all steps; `None` while the steps are shown.
    pub simulation: Option<&'a Simulated>,
    /// The states of the requested artifact contents.
    pub contents: &'a Contents,
    /// The evidence of the selected step; `None` until it is read.
    pub execution: Option<&'a ExecutionDetail>,
    /// What the person has changed in the plan, and is changing.
    pub revision: RevisionView<'a>,
    /// The current time.
    pub now: &'a Now,
}

impl PlanView<'_> {
    /// Whether the run is under way in another window or command.
    fn runs_elsewhere(&self) -> bool {
        self.run.is_active() && *self.approval == Approval::Recorded
    }

    /// Whether the person has yet to decide about the plan.
    fn awaits_decision(&self) -> bool {
        let undecided =
            matches!(self.approval, Approval::None | Approval::Void(_) | Approval::Expired);
        undecided && self.review.is_some() && !self.run.is_active() && !self.run.is_over()
    }

    /// A sentence about the steps that would fail by their previews; `None` if none would, as far as that is known.
    fn would_fail(&self) -> Option<String> {
        let failing = self.previewed.failing();
        if self.run.has_begun() {
            return None;
        }
        match failing {
            [] => self.preview.filter(|it| it.would_fail()).map(|_| self.selected + 1),
            [first, ..] => Some(first + 1),
        }
        .map(|first| match failing.len() {
            0 | 1 => format!("Step {first} would fail."),
            count => format!("{} would fail, step {first} first.", format::counted(count, "step")),
        })
    }
}

/// The output of a run.
#[derive(Debug, Default)]
pub struct RunOutput {
    /// The output of the steps, in lines.
    pub transcript: Transcript,
    /// The timing of the current step.
    pub timer: StepTimer,
    /// Whether the output pane below the steps is open.
    pub is_shown: bool,
    /// Whether it was opened by the start of a run, and not by the person.
    pub opened_by_itself: bool,
}

/// The attempt of a bounded loop that a plan belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanAttempt {
    /// The loop, and the number of the attempt.
    pub attempt: Attempt,
    /// The maximum number of attempts.
    pub max_attempts: u32,
    /// Whether the loop waits for a decision about this plan.
    pub waits: bool,
    /// Whether a class that was authorized in advance authorized this plan, so that nobody was asked.
    pub by_class: bool,
}
