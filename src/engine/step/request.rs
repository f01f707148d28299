//! The question to a person about one step.

use std::collections::BTreeMap;

use super::context::StepRun;
use super::inputs;
use crate::authorization::FileState;
use crate::engine::review::{self, Ask};
use crate::plan::{Mode, ToolCall};
use crate::risk::Verdict;
use crate::run::{ConfirmationRequest, Host, Preview};

/// Why a person is asked.
pub(super) struct Why {
    ask: Ask,
    /// Whether the person would be asked without guided mode too.
    required: bool,
}

impl StepRun<'_, '_> {
    /// Why a person is asked before this step; `None` if nobody is. `changed` are the files that commands of this run
    /// have changed since the approval.
    pub(super) fn why(
        &self,
        verdict: &Verdict,
        changed: Option<&BTreeMap<String, FileState>>,
    ) -> Option<Why> {
        let policy = &self.run.deps.policy;
        let ask = |mode| review::ask(self.step, verdict, policy, mode, self.walls());
        let again = |changed| Ask { text: inputs::why_again(changed), unwalled: false };
        let ask_required = changed.map(again).or_else(|| ask(Mode::Automatic));
        let required = ask_required.is_some();
        Some(Why { ask: ask_required.or_else(|| ask(self.run.mode))?, required })
    }

    /// The question, with everything that a person must see before they answer.
    pub(super) fn request(
        &self,
        verdict: &Verdict,
        why: Why,
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
            explanation: self.step.title.as_ref().and(self.step.reason.clone()),
            arguments: self.step.arguments.clone(),
            target: plan.target.clone(),
            host: self.run.runnable.toolbox.host().map(Host::line),
            cwd: self.cwd(),
            user: self.user(),
            risk: verdict.clone(),
            warning: self.step.stated.warning.clone(),
            why: why.ask.text,
            required: why.required,
            unwalled: why.ask.unwalled,
            needs: self.step.needs.clone().filter(|_| plan.target.is_none()),
            walls: self.walls().cloned(),
            guided: self.run.mode == Mode::Guided,
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
            call => self.run.runnable.toolbox.folder_of(call).display().to_string(),
        }
    }

    /// The user that runs the step: that of this process, or that of the connection.
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
