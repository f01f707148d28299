//! What a person is asked about a step.

use super::StepRun;
use crate::plan::{Mode, ToolCall};
use crate::risk::Verdict;
use crate::run::{ConfirmationRequest, Host, Preview};

impl StepRun<'_, '_> {
    /// Everything that a person must see before they answer.
    pub(super) fn request(
        &self,
        verdict: &Verdict,
        why: String,
        preview: Preview,
    ) -> ConfirmationRequest {
        let plan = &self.run.runnable.plan;
        ConfirmationRequest {
            run_id: self.run.run_id,
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            step_count: plan.steps.len(),
            tool: self.step.tool_name.clone(),
            purpose: self.step.title.clone().or_else(|| self.step.reason.clone()),
            arguments: self.step.arguments.clone(),
            target: plan.target.clone(),
            host: self.run.runnable.toolbox.host().map(Host::line),
            cwd: self.cwd(),
            user: self.user(),
            risk: verdict.clone(),
            warning: self.step.stated.warning.clone(),
            why,
            guided: self.run.mode == Mode::Guided,
            preview,
        }
    }

    /// The folder in which the step works, on the host where it runs on one.
    fn cwd(&self) -> String {
        match self.call {
            ToolCall::Shell { target: Some(_), cwd, .. } => {
                let home = || self.run.runnable.toolbox.host().map(|host| host.home.clone());
                cwd.clone().or_else(home).unwrap_or_else(|| "the home folder".to_owned())
            }
            call => self.run.runnable.toolbox.folder_of(call).display().to_string(),
        }
    }

    /// Who runs it: the program's own user, or the one as whom the connection is made.
    fn user(&self) -> String {
        let toolbox = &self.run.runnable.toolbox;
        match self.call {
            ToolCall::Shell { target: Some(_), .. } => match toolbox.host() {
                Some(host) => host.target.user.clone(),
                None => "the user that ssh takes for it".to_owned(),
            },
            _ => toolbox.user(),
        }
    }
}
