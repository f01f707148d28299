//! The workspace's commands in a review (SPEC §9): which steps would run them, the risk of each, and whether a person
//! trusts their file. No command is run.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::plan::{COMMANDS_FILE, Code, Finding, Plan, RiskLevel, Step, ToolCall};
use crate::risk;
use crate::risk::{Policy, Verdict};
use crate::run::{CommandReview, CommandsReview, ErrorInfo as _, Failure};
use crate::tools::{ToolError, Toolbox, WorkspaceCommand, WorkspaceCommands};

/// The commands of the workspace, for one review or one step. Their file is read once, when a call may run them, so that
/// everything in a review is about the same bytes.
pub(super) struct ReviewCommands<'a> {
    pub(super) toolbox: &'a Toolbox,
    file: OnceCell<Result<Option<WorkspaceCommands>, Failure>>,
}

impl<'a> ReviewCommands<'a> {
    /// The commands of the present workspace.
    pub(super) fn new(toolbox: &'a Toolbox) -> Self {
        Self { toolbox, file: OnceCell::new() }
    }

    /// The contents of `countersign.toml`; `None` if the workspace has no such file.
    fn file(&self) -> Result<Option<&WorkspaceCommands>, Failure> {
        let read = || self.toolbox.workspace_commands().map_err(|error| error.failure());
        self.file.get_or_init(read).as_ref().map(Option::as_ref).map_err(Failure::clone)
    }

    /// The commands that a call would run.
    ///
    /// # Errors
    /// The file cannot be read or has a fault.
    pub(super) fn of(&self, call: &ToolCall) -> Result<Vec<WorkspaceCommand>, Failure> {
        if !WorkspaceCommands::concern(call) {
            return Ok(Vec::new());
        }
        let commands = self.file()?.map(|file| file.commands_of(call)).transpose();
        Ok(commands.map_err(|error| error.failure())?.unwrap_or_default())
    }

    /// The risk of a command, with the file that names the command as the origin.
    fn verdict(&self, command: &WorkspaceCommand, policy: &Policy) -> Verdict {
        let verdict = risk::of_shell_command(
            &command.command,
            &[],
            (None, None),
            policy,
            self.toolbox.shell(),
        );
        Verdict {
            // These are ranges of the command; a step's verdict has ranges of the step's argument.
            span: None,
            parts: Vec::new(),
            reason: format!("{} of {COMMANDS_FILE}: {}", command.name.as_str(), verdict.reason),
            ..verdict
        }
    }

    /// The highest risk among the commands that a step would run; `None` if it runs none, or if they cannot be read.
    pub(super) fn highest_risk(&self, step: &Step, policy: &Policy) -> Option<Verdict> {
        let commands = self.of(&step.call).ok()?;
        let verdicts = commands.iter().map(|command| self.verdict(command, policy));
        verdicts.max_by_key(|verdict| verdict.level)
    }

    /// Reviews the file; returns no review if it is missing or cannot be read, or if no step runs a command. Each step
    /// that cannot run because of its commands has a finding.
    pub(super) fn review(
        &self,
        plan: &Plan,
        policy: &Policy,
    ) -> (Option<CommandsReview>, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut used: Vec<(usize, Vec<WorkspaceCommand>)> = Vec::new();
        for step in &plan.steps {
            match self.of(&step.call) {
                Ok(commands) if commands.is_empty() => {}
                Ok(commands) => {
                    findings.extend(self.refusals(step, &commands, policy));
                    used.push((step.step_index, commands));
                }
                Err(Failure { code, message, next }) => {
                    let message = format!("step {}: {message}. {next}", step.step_index + 1);
                    findings.push(Finding::error(code, step.pointer(None), message));
                }
            }
        }
        let is_used = !used.is_empty() || !findings.is_empty();
        let file = self.file().ok().flatten().filter(|_| is_used);
        (file.map(|file| file_review(file, &used, self.toolbox, policy)), findings)
    }

    /// Errors for a step that cannot run, because one of its commands is blocked or their file is untrusted.
    fn refusals(
        &self,
        step: &Step,
        commands: &[WorkspaceCommand],
        policy: &Policy,
    ) -> Vec<Finding> {
        let toolbox = self.toolbox;
        let what = format!("step {}", step.step_index + 1);
        let verdicts = commands.iter().map(|command| self.verdict(command, policy));
        let blocked = verdicts.filter(|verdict| verdict.level == RiskLevel::Blocked);
        let mut findings: Vec<Finding> = blocked
            .map(|verdict| {
                let message = format!(
                    "{what} is blocked by the rule {}: {} Take it out of {COMMANDS_FILE}.",
                    verdict.rule, verdict.reason
                );
                Finding::error(Code::BlockedCommand, step.pointer(None), message)
            })
            .collect();
        let digest = self.file().ok().flatten().map(|file| file.digest);
        if let Some(digest) = digest.filter(|digest| !toolbox.trusts(*digest)) {
            let version = (toolbox.workspace().to_owned(), digest);
            let again = match policy.unproven_trust.contains(&version) {
                true => {
                    "; they were trusted before, by a record of an older version or under another key, \
                     which no longer counts"
                }
                false => "",
            };
            let message = format!(
                "{what} would run commands of {COMMANDS_FILE}, which are not trusted ({digest}): look at them, \
                 and trust them if they are what you want to run{again}"
            );
            findings.push(Finding::error(Code::NotAuthorized, step.pointer(None), message));
        }
        findings
    }
}

/// The workspace folder, absolute and without links, and the review of its commands; `None` without a file of commands.
///
/// # Errors
/// When the workspace cannot be opened, or the file of commands cannot be read.
pub fn workspace_commands(
    folder: &Path,
    policy: &Policy,
) -> Result<(PathBuf, Option<CommandsReview>), ToolError> {
    let toolbox = Toolbox::open(folder, policy)?;
    let file = toolbox.workspace_commands()?;
    let commands = file.map(|file| file_review(&file, &[], &toolbox, policy));
    Ok((toolbox.workspace().to_owned(), commands))
}

/// Whether these are the commands of the text of a file, with its digest.
pub fn are_commands_of(text: &str, shown: &CommandsReview) -> bool {
    let file = WorkspaceCommands::read(text);
    let is_same = |(command, shown): (&WorkspaceCommand, &CommandReview)| {
        (command.name.as_str(), &command.command) == (&*shown.name, &shown.command)
            && command.timeout.as_secs() == shown.timeout_seconds
    };
    file.digest == shown.digest
        && file.faults.is_empty()
        && file.commands.len() == shown.commands.len()
        && file.commands.iter().zip(&shown.commands).all(is_same)
}

/// The review of the file; `used` are the commands that each step would run.
fn file_review(
    file: &WorkspaceCommands,
    used: &[(usize, Vec<WorkspaceCommand>)],
    toolbox: &Toolbox,
    policy: &Policy,
) -> CommandsReview {
    let command = |command: &WorkspaceCommand| {
        let steps = used.iter().filter(|(_, used)| used.iter().any(|it| it.name == command.name));
        CommandReview {
            name: command.name.as_str().to_owned(),
            command: command.command.clone(),
            timeout_seconds: command.timeout.as_secs(),
            matcher: command.matcher(),
            risk: risk::of_shell_command(
                &command.command,
                &[],
                (None, None),
                policy,
                toolbox.shell(),
            ),
            steps: steps.map(|(step_index, _)| *step_index).collect(),
        }
    };
    CommandsReview {
        digest: file.digest,
        trusted: toolbox.trusts(file.digest),
        commands: file.commands.iter().map(command).collect(),
        faults: file.faults.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::parse;

    /// A file that changes during a review must not count as missing in a part of it.
    #[test]
    fn review_uses_one_read_of_the_commands() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(COMMANDS_FILE);
        std::fs::write(&file, "[verify.local]\ncommand = \"true\"\n").unwrap();
        let policy = Policy::default();
        let toolbox = Toolbox::open(folder.path(), &policy).unwrap();
        let plan = json!({
            "version": crate::plan::ACTION_PLAN_VERSION,
            "goal": "g",
            "actions": [{ "type": "verify", "request": {} }],
        });
        let plan = parse(plan.to_string().as_bytes()).plan.unwrap();
        let call = &plan.steps[0].call;
        let commands = ReviewCommands::new(&toolbox);
        assert_eq!(commands.of(call).unwrap().len(), 1);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        let (review, findings) = commands.review(&plan, &policy);
        assert!(!review.unwrap().trusted);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!(finding.code, Code::NotAuthorized);
        assert!(ReviewCommands::new(&toolbox).of(call).is_err());
    }
}
