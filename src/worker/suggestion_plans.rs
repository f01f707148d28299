//! Makes a plan of suggestions that the person picked in a diagnostic. It is stored below the evidence folder and
//! opened like any other plan.

use std::any::TypeId;
use std::path::PathBuf;

use uuid::Uuid;

use super::{OpenPlan, OpenedPlan, PlanRead, Query, QueryContext, QueryError, follow_up_plans};
use crate::plan::{Digest, batch_plan, limits};
use crate::run::DiagnosticSpan;
use crate::tools::{SuggestionError, ToolError, Toolbox};

/// Makes a plan of suggestions, stores it as a file, and opens it.
pub struct PlanSuggestions {
    /// The run of the check.
    pub run_id: Uuid,
    /// The workspace of that run.
    pub workspace: PathBuf,
    /// The message of the diagnostic.
    pub message: String,
    /// The suggestions: the spans of each, with their replacements.
    pub suggestions: Vec<Vec<DiagnosticSpan>>,
}

impl Query for PlanSuggestions {
    type Answer = OpenedPlan;
    const FAILURE: &str = "No plan can be made of the suggestion.";

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        let Self { run_id, workspace, message, suggestions } = self;
        let toolbox = Toolbox::open(&workspace, &context.setup.policy)?;
        let batch = toolbox.suggested_batch(&suggestions)?;
        let mut goal = format!("Apply a suggestion: {message}");
        goal.truncate(goal.floor_char_boundary(limits::ID_BYTES));
        let why = format!("A check of run {run_id} suggests it for: {message}");
        let bytes = batch_plan(&goal, &why, &[batch])
            .ok_or_else(|| ToolError::from(SuggestionError::Nothing))?;
        let evidence = &context.setup.location.evidence;
        let stored =
            follow_up_plans::store_suggestion(evidence, run_id, Digest::of(&bytes), &bytes);
        context.open_stored(stored)
    }

    fn plan(&self) -> PlanRead<'_> {
        PlanRead::New
    }

    /// The topic of [`OpenPlan`], because the page shows only the plan that was requested last.
    fn topic() -> TypeId {
        OpenPlan::topic()
    }
}
