//! Opens the plan that a planner proposed in a recorded attempt, whether it ran or not. It is stored below the evidence
//! folder and opened like any other plan, in the workspace of its loop.

use std::any::TypeId;
use std::path::PathBuf;

use serde_json::Value;

use super::contents::not_in_evidence;
use super::{OpenPlan, OpenedPlan, PlanRead, Query, QueryContext, QueryError, follow_up_plans};
use crate::authorization::PlanChoices;
use crate::autonomy::{Answer, read_answer};
use crate::plan::Digest;
use crate::run::Attempt;

/// Opens the plan of a recorded attempt.
pub struct OpenProposed {
    /// The attempt.
    pub attempt: Attempt,
    /// The workspace of its loop.
    pub workspace: PathBuf,
    /// What else its loop decides, such as the host.
    pub choices: PlanChoices,
}

impl Query for OpenProposed {
    type Answer = OpenedPlan;
    const FAILURE: &str = "The plan of the attempt cannot be opened.";

    fn run(self, context: &mut QueryContext) -> Result<OpenedPlan, QueryError> {
        let Self { attempt, workspace, choices } = self;
        let missing = || not_in_evidence(format!("plan of attempt {}", attempt.number));
        let detail = context.evidence.bounded_loop(attempt.loop_id)?.ok_or_else(missing)?;
        let recorded = detail.attempts.iter().find(|it| it.attempt == attempt.number);
        let answer = recorded.and_then(|it| it.planner_process.pointer("/answer/blob"));
        let digest = answer.and_then(Value::as_str).and_then(|hex| hex.parse::<Digest>().ok());
        let answer = context.evidence.blob(&digest.ok_or_else(missing)?)?.ok_or_else(missing)?;
        let Answer::Plan(answer) = read_answer(&answer) else { return Err(missing().into()) };
        let plan = answer.plan.ok_or_else(missing)?;
        let evidence = &context.setup.location.evidence;
        let stored = follow_up_plans::store_proposal(evidence, attempt, &plan.source);
        let path = follow_up_plans::written(stored)?;
        context.open(OpenPlan { path, workspace: Some(workspace), choices, chosen_for: None })
    }

    fn plan(&self) -> PlanRead<'_> {
        PlanRead::New
    }

    /// The topic of [`OpenPlan`], because the page shows only the plan that was requested last.
    fn topic() -> TypeId {
        OpenPlan::topic()
    }
}
