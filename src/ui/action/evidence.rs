//! The actions on the evidence page.

use uuid::Uuid;

use super::RecordTab;
use crate::run::{Question, SettleMode};
use crate::ui::dialog::ExportChoice;

/// An action on the evidence page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceAction {
    /// The text of the search field changed; search once typing pauses.
    Edit(String),
    /// Search for exactly this text now.
    Search(String),
    /// Show the evidence of the team, or that of this computer.
    ShowTeam(bool),
    /// Ask the server of the team again for what it did not answer.
    TryAgain,
    /// Show the hit with this index of the team's evidence in full.
    OpenHit(usize),
    /// Show more hits of the search.
    More,
    /// Show this span of time in the timeline, in Unix milliseconds, both ends included; `None` for the usual one. The
    /// search stays as it is.
    ShowTimes(Option<(i64, i64)>),
    /// Show one execution in full.
    Open(Uuid),
    /// Show this tab of executions.
    ShowTab(RecordTab),
    /// Close the open execution.
    CloseDetail,
    /// Compare the interrupted steps of this run with the disk.
    Reconcile(Uuid),
    /// Open a plan that settles the files of this run's interrupted steps.
    Settle(Uuid, SettleMode),
    /// Open a plan that reverts the changes of this execution.
    Revert(Uuid),
    /// Run this query and show its answer in place of the search results.
    RunQuery(Question),
    /// Control the player of a recorded run.
    Play(PlayerAction),
    /// Stop judging past commands; what was found stays.
    StopJudging,
    /// Show the search results in place of the answer.
    CloseAnswer,
    /// Change what the dialog about an export has chosen.
    ChooseExport(ExportChoice),
    /// Stop the export under way. Nothing is left of it.
    StopExport,
}

/// An action on the player of a recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayerAction {
    /// Play, or pause. At the end, begin again.
    Toggle,
    /// Go to this time of the playback, in milliseconds.
    Seek(i64),
    /// Play this many times as fast as usual.
    Speed(u8),
}
