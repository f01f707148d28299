//! The workspace's commands in a review (SPEC §9): which steps would run them, the risk of each, and whether a person
//! trusts their file. No command is run.

use std::path::{Path, PathBuf};

use crate::plan::{COMMANDS_FILE, Code, Finding, Plan, RiskLevel, Step};
use crate::risk;
use crate::risk::{Policy, Shell, Verdict};
use crate::run::{CommandReview, CommandsReview};
use crate::tools::{ProjectedToolbox, ToolError, Toolbox, WorkspaceCommand, WorkspaceCommands};

/// The risk of a command, with the file that names the command as the origin.
fn verdict(command: &WorkspaceCommand, policy: &Policy, shell: Shell) -> Verdict {
    let verdict = risk::of_shell_command(&command.command, None, policy, shell);
    Verdict {
        // The span is a range of the command; a step's verdict has ranges of the step's argument.
        span: None,
        reason: format!("{} of {COMMANDS_FILE}: {}", command.name.as_str(), verdict.reason),
        ..verdict
    }
}

/// The highest risk among the workspace's commands that a step would run; `None` if it runs none, or if they cannot be
/// read.
pub(super) fn highest_risk(
    step: &Step,
    after: ProjectedToolbox<'_>,
    shell: Shell,
    policy: &Policy,
) -> Option<Verdict> {
    let commands = after.commands_of(&step.call).ok()?;
    let verdicts = commands.iter().map(|command| verdict(command, policy, shell));
    verdicts.max_by_key(|verdict| verdict.level)
}

/// Reviews the file of commands; returns no review if the file is missing or cannot be read, or if no step runs a
/// command. Each step that cannot run because of its commands has a finding.
pub(super) fn review(
    plan: &Plan,
    toolbox: &Toolbox,
    policy: &Policy,
) -> (Option<CommandsReview>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut used: Vec<(usize, Vec<WorkspaceCommand>)> = Vec::new();
    for step in &plan.steps {
        match toolbox.now().commands_of(&step.call) {
            Ok(commands) if commands.is_empty() => {}
            Ok(commands) => {
                findings.extend(refusals(step, &commands, toolbox, policy));
                used.push((step.step_index, commands));
            }
            Err(error) => findings.push(unusable(step, &error)),
        }
    }
    let is_used = !used.is_empty() || !findings.is_empty();
    let file = toolbox.workspace_commands().ok().flatten().filter(|_| is_used);
    let review = file.map(|file| file_review(&file, &used, toolbox, policy));
    (review, findings)
}

/// Errors for a step that cannot run, because one of its commands is blocked or their file is untrusted.
fn refusals(
    step: &Step,
    commands: &[WorkspaceCommand],
    toolbox: &Toolbox,
    policy: &Policy,
) -> Vec<Finding> {
    let what = format!("step {}", step.step_index + 1);
    let shell = toolbox.shell();
    let blocked = commands.iter().map(|command| (command, verdict(command, policy, shell)));
    let blocked = blocked.filter(|(_, verdict)| verdict.level == RiskLevel::Blocked);
    let mut findings: Vec<Finding> = blocked
        .map(|(_, verdict)| {
            let message = format!(
                "{what} is blocked by the rule {}: {} Take it out of {COMMANDS_FILE}.",
                verdict.rule, verdict.reason
            );
            Finding::error(Code::BlockedCommand, step.pointer(None), message)
        })
        .collect();
    let digest = toolbox.workspace_commands().ok().flatten().map(|file| file.digest);
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

/// The error for a step whose commands cannot be read.
fn unusable(step: &Step, error: &ToolError) -> Finding {
    let message = format!("step {}: {error}. {}", step.step_index + 1, error.next());
    Finding::error(error.code(), step.pointer(None), message)
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
            risk: risk::of_shell_command(&command.command, None, policy, toolbox.shell()),
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
