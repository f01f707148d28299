//! The questions that dialogs ask.

use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::{AuthorizeView, ExportView, FillInView, PurgeView, SessionRuleView};
use crate::authorization::Grants;
use crate::plan::Digest;
use crate::run::{CommandsReview, ConfirmationRequest, SecretQuestion};

/// Identifies one display of a dialog. The same question gets a new id each time it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PromptId {
    /// The run of a question about a step, or the id of a question for a secret; `None` for other questions.
    pub about: Option<Uuid>,
    /// The step of a question about a step, counted from 0; otherwise 0.
    pub step_index: usize,
    /// The number of times that a dialog was shown before.
    pub showing: u64,
}

/// A dialog in front of everything else.
#[derive(Debug, Clone)]
pub struct Dialog<'a> {
    /// The id of this display.
    pub prompt: PromptId,
    /// The question that the dialog asks.
    pub question: Question<'a>,
}

/// The question that a dialog asks.
#[derive(Debug, Clone)]
pub enum Question<'a> {
    /// Whether to run a step.
    Confirm {
        /// The question.
        request: &'a ConfirmationRequest,
        /// The name of its plan. The page may show another one.
        plan: &'a str,
        /// Whether the step belongs to a plan of a loop. A denial with a reason then leads to another plan.
        in_loop: bool,
        /// The files that are no longer as the question shows them.
        changed: &'a [String],
    },
    /// Whether to authorize the plan.
    Authorize(Arc<AuthorizeView>),
    /// Why the plan is rejected.
    Reject {
        /// The plan's digest.
        digest: Digest,
        /// The plan's name.
        name: &'a str,
        /// The plan file; `None` for the plan of a loop.
        file: Option<&'a Path>,
        /// What follows the rejection.
        then: AfterRejection,
    },
    /// Whether the commands of the workspace are trusted.
    Trust {
        /// The workspace folder.
        workspace: &'a str,
        /// The commands.
        commands: &'a CommandsReview,
        /// Whether the dialog was opened for the shown plan, and not for a loop.
        of_plan: bool,
    },
    /// Whether every plan in the workspace gets these grants.
    RememberWalls {
        /// The workspace folder.
        workspace: &'a str,
        /// What is granted beyond the walls.
        grants: Grants,
    },
    /// The values of the plan's inputs.
    FillIn(FillInView),
    /// Whether identical calls of an agent's session are allowed.
    SessionRule(SessionRuleView<'a>),
    /// A secret that a program asks for.
    Secret {
        /// The id of the question.
        id: Uuid,
        /// The question.
        question: &'a SecretQuestion,
        /// The name of the plan whose run asks; `None` if a check of the host asks.
        plan: Option<&'a str>,
    },
    /// What of the evidence is written to a file, and in which format.
    Export(ExportView),
    /// Whether to purge old records.
    Purge(&'a PurgeView),
    /// Whether to close the window while a run or a loop is under way, or plans are queued.
    Close {
        /// What is under way, `run` or `loop`; `None` if nothing is.
        under_way: Option<&'static str>,
        /// The number of plans in the queue.
        queued: usize,
    },
}

/// What follows the rejection of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRejection {
    /// An agent that waits for the plan gets the reason.
    AgentIsTold,
    /// The person who asks for a signature gets the signed words.
    RequesterIsTold,
    /// Nothing: the plan is a person's.
    Nothing,
    /// The planner of a loop gets the reason and makes another plan, or the loop ends.
    AnotherPlan,
    /// The loop ends, because this was its last attempt.
    LoopEnds,
}
