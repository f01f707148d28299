//! The actions in dialogs.

use uuid::Uuid;

use super::{FilledIn, Typed};
use crate::authorization::{Grants, RuleTime};
use crate::plan::Digest;
use crate::run::{Decision, PurgeRule, SessionKey};
use crate::ui::dialog::ExportChoice;

/// An action in a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAction {
    /// Decide about the step that the run waits for.
    Answer {
        /// The run that waits.
        run_id: Uuid,
        /// The step that waits, counted from 0.
        step_index: usize,
        /// The decision.
        decision: Decision,
        /// The person's reason; may be empty.
        reason: String,
    },
    /// Authorize the plan with this digest, as shown.
    Authorize(Digest),
    /// Reject the plan with this digest.
    Reject {
        /// The digest of the plan that was shown.
        digest: Digest,
        /// The reason, in the person's words.
        reason: String,
        /// Whether the planner of the loop gets the reason and makes another plan.
        replan: bool,
    },
    /// Trust the commands that the workspace names in the file with this digest, or withdraw that trust.
    Trust {
        /// The digest of the file that was shown.
        digest: Digest,
        /// Whether they are trusted from now on.
        trusted: bool,
    },
    /// Apply these grants to every plan in this workspace.
    RememberWalls {
        /// The workspace that was shown.
        workspace: String,
        /// The grants that were shown.
        grants: Grants,
    },
    /// Give a plan values of its inputs.
    FillIn(FilledIn),
    /// Allow the calls that are identical with this one.
    MakeRule {
        /// The session.
        key: SessionKey,
        /// The number of the call that was shown.
        number: usize,
        /// How long, as it was shown.
        time: RuleTime,
    },
    /// Answer the question for a secret with this id; `None` declines.
    AnswerSecret {
        /// The question that was shown.
        id: Uuid,
        /// What the person typed.
        answer: Option<Typed>,
    },
    /// Choose the file for this export.
    Export(ExportChoice),
    /// Purge the records of this rule.
    Purge {
        /// The rule whose preview was shown.
        rule: PurgeRule,
        /// The reason, in the person's words; may be empty.
        reason: String,
    },
    /// Close the dialog without a decision.
    LeaveUndecided,
    /// Stop the run or the loop, and close the window.
    StopAndClose,
}
