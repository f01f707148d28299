//! The request to a person to confirm one step.

use std::collections::BTreeMap;

use super::{StepRun, inputs};
use crate::authorization::FileState;
use crate::engine::review;
use crate::engine::review::{Asking, ConfirmationReason};
use crate::plan::{Mode, ToolCall};
use crate::risk::Verdict;
use crate::run::{ConfirmationRequest, Host, Preview};

/// Why a person is asked before this step of the run.
pub(super) struct StepReason {
    reason: ConfirmationReason,
    /// Whether the person would also be asked without the card of guided mode.
    required: bool,
}

impl StepRun<'_, '_> {
    /// Why a person is asked before this step; `None` if nobody is asked. `changed` are the files that earlier steps of
    /// this run have changed and that must be confirmed.
    pub(super) fn confirmation_reason(
        &self,
        verdict: &Verdict,
        changed: Option<&BTreeMap<String, FileState>>,
    ) -> Option<StepReason> {
        let policy = &self.run.deps.policy;
        let asking = Asking::of(policy, self.run.mode);
        let reason_in =
            |asking| review::confirmation_reason(self.step, verdict, policy, asking, self.walls);
        let changed_files = |changed| ConfirmationReason {
            text: inputs::changed_files_reason(changed),
            unwalled: false,
        };
        let required_reason =
            changed.map(changed_files).or_else(|| reason_in(asking.without_cards()));
        let required = required_reason.is_some();
        let mut reason = required_reason.or_else(|| reason_in(asking))?;
        // No flag answers for a person who wants to be asked.
        reason.unwalled &= !asking.by_choice;
        Some(StepReason { reason, required })
    }

    /// The request, with everything that a person must see before they answer.
    pub(super) fn request(
        &self,
        verdict: &Verdict,
        step_reason: StepReason,
        preview: Preview,
    ) -> ConfirmationRequest {
        let plan = &self.run.runnable.plan;
        let StepReason { reason, required } = step_reason;
        ConfirmationRequest {
            run_id: self.run.run_id,
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            step_count: plan.steps.len(),
            tool: self.step.tool_name.clone(),
            purpose: self.step.title.clone().or_else(|| self.step.reason.clone()),
            explanation: self.step.title.as_ref().and(self.step.reason.clone()),
            arguments: self.step.arguments.clone(),
            target: plan.target.clone(),
            host: self.run.runnable.toolbox.host().map(Host::line),
            cwd: self.cwd(),
            user: self.user(),
            risk: verdict.clone(),
            warning: self.step.stated.warning.clone(),
            why: reason.text,
            required,
            unwalled: reason.unwalled,
            needs: self.step.needs.clone().filter(|_| plan.target.is_none()),
            walls: self.walls.cloned(),
            needed_by: plan.needing(self.step.step_index),
            guided: self.run.mode == Mode::Guided,
            run_by_agent: false,
            preview,
        }
    }

    /// The folder in which the step runs, on the host where it runs.
    fn cwd(&self) -> String {
        match &self.step.call {
            ToolCall::Shell { target: Some(_), cwd, .. } => {
                let home = || self.run.runnable.toolbox.host().map(|host| host.home.clone());
                cwd.clone().or_else(home).unwrap_or_else(|| "the home folder".to_owned())
            }
            call => self.run.runnable.toolbox.working_directory(call).display().to_string(),
        }
    }

    /// The user as whom the step runs, on the host where it runs.
    fn user(&self) -> String {
        let toolbox = &self.run.runnable.toolbox;
        match &self.step.call {
            ToolCall::Shell { target: Some(_), .. } => match toolbox.host() {
                Some(host) => host.target.user.clone(),
                None => "the user that ssh chooses".to_owned(),
            },
            _ => toolbox.user(),
        }
    }
}
