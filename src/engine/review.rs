//! Read-only review of a plan in its workspace (SPEC §1.4, §2): the binding of an approval, the risk of each step,
//! before which steps a person will be asked, and which preconditions hold now.

mod confirmation;
mod findings;
mod shown_plan;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) use self::confirmation::{Asking, ConfirmationReason, confirmation_reason};
pub(super) use self::findings::{beginning, limit_finding};
use self::findings::{blocked_finding, is_too_large, may_be_in_splice_plan, tool_finding};
pub(super) use self::shown_plan::faulty_preview;
pub use self::shown_plan::{review_read, review_trusting};
use super::commands::ReviewCommands;
use super::history_source::open_tools;
use super::made_earlier::FirstWrites;
use super::projected::ProjectedSteps;
use super::walls::with_remembered;
use super::{ExecutionError, WorkspaceChoice, fleet, host, preconditions, walls};
use crate::authorization::{Binding, FileState, StepWalls, why_not_signable};
use crate::evidence::EvidenceLocation;
use crate::plan::{Code, Finding, Plan, Precondition, Severity, ShownPlan, Step, ToolCall, locate};
use crate::risk;
use crate::risk::{Policy, Verdict};
use crate::run::{Impact, PreconditionState, Preview, Review, StopSignal, cannot_be_restored};
use crate::tools::{ProjectedToolbox, ToolError, Toolbox, Unsupported};
use crate::workspace::{INPUT_BYTES, Overlay, folder_id};

/// Reviews a plan with the recorded history of its workspace. Without the history, steps that take changes back
/// cannot be previewed.
///
/// # Errors
/// When the workspace or an added root cannot be opened.
pub fn review(
    plan: &Plan,
    workspace: &WorkspaceChoice,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
) -> Result<Review, ToolError> {
    review_until(plan, workspace, policy, evidence, true, &Arc::default())
}

/// As [`review`], but can be stopped with `stop`. Without `starts_processes`, the review omits host and walls, and
/// cannot be used to authorize the plan (SPEC §11).
///
/// # Errors
/// As [`review`]; and after a stop.
pub fn review_until(
    plan: &Plan,
    workspace: &WorkspaceChoice,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    starts_processes: bool,
    stop: &Arc<StopSignal>,
) -> Result<Review, ToolError> {
    let toolbox = open_tools(&workspace.folder, policy, evidence, stop)?;
    let (policy, remembered) = with_remembered(plan, toolbox.workspace(), policy, evidence);
    let (mut review, written) =
        review_without_preconditions(plan, &toolbox, &policy, starts_processes);
    review.workspace_reason.clone_from(&workspace.reason);
    if let Some(walls) = &mut review.walls {
        walls.remembered = remembered;
    }
    let (preconditions, limit_findings) = preconditions_now(plan, &toolbox, &written);
    // A review that was stopped has no result.
    toolbox.check_cancelled()?;
    review.preconditions = preconditions;
    review.findings.extend(limit_findings);
    locate(&plan.source, &mut review.findings);
    Ok(review)
}

/// Previews one step after the steps before it.
///
/// # Errors
/// When the workspace cannot be opened, a path leads outside, or after a stop. A faulty step has a preview that says so.
pub fn preview_step(
    plan: &ShownPlan,
    workspace: &std::path::Path,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
    step_index: usize,
    stop: &Arc<StopSignal>,
) -> Result<Preview, ToolError> {
    let toolbox = open_tools(workspace, policy, evidence, stop)?;
    let mut overlay = Overlay::default();
    for step in plan.steps.iter().take(step_index) {
        toolbox.check_cancelled()?;
        if let Some(call) = &step.call {
            // An error of an earlier step is shown with that step.
            let _ = toolbox.project(call, &mut overlay);
        }
    }
    match plan.steps.get(step_index).and_then(|step| step.call.as_ref()) {
        Some(call) => toolbox.preview(call, &overlay),
        None => Ok(faulty_preview()),
    }
}

/// The part of a review that the executor repeats before anything runs: a review without preconditions. Also returns
/// the first step that writes each file. The binding is complete only with `starts_processes`.
pub(super) fn review_without_preconditions(
    plan: &Plan,
    toolbox: &Toolbox,
    policy: &Policy,
    starts_processes: bool,
) -> (Review, BTreeMap<String, usize>) {
    let policy = &with_surroundings(policy, toolbox);
    let mut inputs: BTreeMap<String, FileState> = BTreeMap::new();
    let mut written = BTreeMap::new();
    let mut findings = Vec::new();
    if let Some(failure) = &plan.failure {
        let message = format!(
            "there is nothing to run: the planner reports {}: {}",
            failure.code, failure.message
        );
        findings.push(Finding::error(Code::Missing, "/failure", message));
    }
    if let Some(why) = &policy.refusal {
        // The settings are unusable: the plan may be valid, but there is no policy to authorize it under.
        findings.push(Finding::new(Severity::Error, Code::NotAuthorized, "", why.clone()));
    }
    if let Some(why) = why_not_signable(policy.signing.as_ref(), plan.signatures_required) {
        findings.push(Finding::error(Code::NotAuthorized, "/signatures_required", why));
    }
    let mut risks = Vec::with_capacity(plan.steps.len());
    let mut projected = ProjectedSteps::default();
    let mut remaining_bytes = INPUT_BYTES;
    let commands = ReviewCommands::new(toolbox);
    for step in &plan.steps {
        if toolbox.check_cancelled().is_err() {
            break;
        }
        let overlay = projected.before(step, plan, toolbox, &written);
        let after = toolbox.after(overlay);
        risks.push(step_risk(step, after, &commands, policy));
        let call = &step.call;
        for named in call.paths() {
            if let Err(error) = toolbox.kind_of(named.path) {
                findings.push(tool_finding(step, named.argument, &error.into()));
            }
        }
        match read_inputs(call, after, toolbox, &mut inputs, &mut remaining_bytes) {
            Ok(()) => {
                for key in after.written_keys(call).unwrap_or_default() {
                    written.entry(key).or_insert(step.step_index);
                }
            }
            // A wrong path of the call already has a finding; a path in a splice plan has none yet.
            Err(error)
                if error.is_about_the_plan()
                    && error.get::<Unsupported>().is_none()
                    && !may_be_in_splice_plan(call, toolbox) => {}
            // The state of the file is unknown, so the step cannot be authorized.
            Err(error) if error.code() == Code::Limit || is_too_large(&error) => {
                let message = format!("step {}: {error}", step.step_index + 1);
                findings.push(Finding::error(Code::Limit, step.pointer(None), message));
            }
            Err(error) => findings.push(tool_finding(step, None, &error)),
        }
    }
    let (secret_inputs, secret_findings) = secret_inputs(plan, policy);
    // A plan that is only simulated needs no secrets.
    findings.extend(secret_findings.into_iter().filter(|_| starts_processes));
    let (workspace_commands, command_findings) = commands.review(plan, policy);
    findings.extend(command_findings);
    for (step, verdict) in plan.steps.iter().zip(&risks) {
        // The findings about workspace commands were added above.
        let ToolCall::Shell { command, .. } = &step.call else { continue };
        let subject = format!("step {}", step.step_index + 1);
        findings.extend(blocked_finding(&subject, command, verdict, step.pointer(Some("command"))));
    }
    let target = plan.target.as_deref();
    let mut rollback = Vec::new();
    for (index, command) in plan.notes.rollback.iter().enumerate() {
        let inputs = plan.inputs_of(command);
        let verdict =
            risk::of_shell_command(command, &inputs, (target, None), policy, toolbox.shell());
        let subject = format!("command {} of the rollback", index + 1);
        let pointer = format!("/rollbackPlan/{index}");
        findings.extend(blocked_finding(&subject, command, &verdict, pointer));
        rollback.push(verdict);
    }
    let target = target.filter(|_| starts_processes && plan.fleet.is_none());
    let (host, host_finding) = host::review(target, policy, toolbox.workspace());
    findings.extend(host_finding);
    let (fleet, fleet_findings) =
        fleet::review(plan, toolbox, policy, starts_processes, &mut inputs);
    findings.extend(fleet_findings);
    // Finding out which walls this computer supports needs a process.
    let walls = starts_processes.then(|| {
        let (walls, wall_findings) = walls::review(plan, &commands, policy);
        findings.extend(wall_findings);
        walls
    });
    let step_walls: Option<Vec<Option<StepWalls>>> = walls.as_ref().map(|walls| {
        walls.steps.iter().map(|step| step.as_ref().map(|step| step.walls.clone())).collect()
    });
    let walls_of = |index: usize| step_walls.as_ref().and_then(|all| all.get(index)?.as_ref());
    let risks: Vec<Verdict> =
        (0..).zip(risks).map(|(index, risk)| walls::raised(risk, walls_of(index))).collect();
    let steps_and_risks = || plan.steps.iter().zip(&risks);
    let asking = Asking::of(policy, plan.mode);
    let asks: Vec<Option<String>> = (0..)
        .zip(steps_and_risks())
        .map(|(index, (step, risk))| {
            confirmation_reason(step, risk, policy, asking, walls_of(index))
        })
        .map(|reason| reason.map(|reason| reason.text))
        .collect();
    let impact = Impact {
        files: written.keys().cloned().collect(),
        hosts: host
            .iter()
            .map(ToString::to_string)
            .chain(fleet.iter().flat_map(|it| it.hosts.iter().map(ToString::to_string)))
            .collect(),
        worst: risks.iter().map(|verdict| verdict.level).max(),
        asks: asks.iter().flatten().count(),
        irreversible: steps_and_risks()
            .filter(|(step, risk)| cannot_be_restored(&step.call, risk))
            .count(),
    };
    let binding = Binding {
        workspace: toolbox.workspace().to_string_lossy().into_owned(),
        workspace_id: folder_id(toolbox.workspace()),
        mode: plan.mode,
        policy: policy.digest(),
        target: host,
        fleet: fleet.as_ref().map(|fleet| fleet.binding.clone()),
        inputs,
        grants: policy.grants.clone(),
        choices: policy.choices,
        walls: step_walls,
        secret_inputs,
    };
    let review = Review {
        workspace: toolbox.workspace().to_owned(),
        workspace_reason: String::new(),
        preconditions: Vec::new(),
        binding,
        risks,
        rollback,
        asks,
        walls,
        fleet,
        impact,
        workspace_commands,
        findings,
    };
    (review, written)
}

/// The policy with what decides the risk of a command besides its text: the folders of this program, and the settings of
/// the repositories as they are now.
pub(super) fn with_surroundings(policy: &Policy, toolbox: &Toolbox) -> Policy {
    Policy {
        own_folders: toolbox.own_folders().to_vec(),
        repositories: toolbox.repositories(),
        ..policy.clone()
    }
}

/// The keyed digests of the secret inputs that the steps use, and a finding for each that is not given.
fn secret_inputs(plan: &Plan, policy: &Policy) -> (BTreeMap<String, String>, Vec<Finding>) {
    let (mut digests, mut findings) = (BTreeMap::new(), Vec::new());
    for (index, input) in plan.inputs.iter().enumerate().filter(|(_, input)| input.secret) {
        let is_used = !input.used_by.is_empty();
        match policy.secret_inputs.digest(&input.name) {
            Some(digest) if is_used => drop(digests.insert(input.name.clone(), digest)),
            None if is_used => {
                let message = format!(
                    "the secret input {:?} is not given: give it in the window, or with --secret-input {}=FILE",
                    input.name, input.name
                );
                let pointer = format!("/inputs/{index}");
                findings.push(Finding::error(Code::NotFilledIn, pointer, message));
            }
            _ => {}
        }
    }
    (digests, findings)
}

/// Adds the present state of the call's input files, reading at most `remaining_bytes`. An earlier step that changes a
/// file records its new state when it runs. Each file is read once, even if many steps name it: it may be large.
fn read_inputs(
    call: &ToolCall,
    after: ProjectedToolbox<'_>,
    toolbox: &Toolbox,
    inputs: &mut BTreeMap<String, FileState>,
    remaining_bytes: &mut u64,
) -> Result<(), ToolError> {
    for (key, path) in after.input_keys(call)? {
        toolbox.check_cancelled()?;
        if let Entry::Vacant(entry) = inputs.entry(key) {
            entry.insert(toolbox.now().digest_within(&path, remaining_bytes)?);
        }
    }
    Ok(())
}

/// The risk of a step in the state `after` the earlier steps, judged by the paths in the plan and by the canonical
/// paths, because a link can give a sensitive file a harmless name.
pub(super) fn step_risk(
    step: &Step,
    after: ProjectedToolbox<'_>,
    commands: &ReviewCommands<'_>,
    policy: &Policy,
) -> Verdict {
    let verdict = risk::of_step(step, policy, after.toolbox().shell());
    let written = after.written_paths(&step.call).ok();
    let command_risk = commands.highest_risk(step, policy);
    let worst = written
        .into_iter()
        .flatten()
        .filter_map(|path| after.key_and_is_executable(&path).ok())
        .flat_map(|(key, is_program)| {
            [risk::of_written_path(&key), is_program.then(risk::of_written_program)]
        })
        .flatten()
        .fold(verdict, |worst, other| if replaces(&other, &worst) { other } else { worst });
    // The verdict on a workspace command is more specific than the verdict on the tool.
    match command_risk {
        Some(command_risk) if command_risk.level >= worst.level => command_risk,
        _ => worst,
    }
}

/// Whether the verdict on a path replaces an earlier verdict: its level is higher, or the levels are equal and the
/// earlier verdict is the general one for taking changes back.
fn replaces(path_risk: &Verdict, earlier: &Verdict) -> bool {
    path_risk.level > earlier.level
        || (path_risk.level == earlier.level && earlier.rule == risk::CHANGE_HISTORY)
}

/// The maximum number of preconditions about symbols that a review checks: each may read the whole workspace.
const MAX_SYMBOL_LOOKUPS: usize = 100;

/// The state of each step's precondition, and an error for each limit that a check reached. `written` has the first
/// step that writes each file.
fn preconditions_now(
    plan: &Plan,
    toolbox: &Toolbox,
    written: &BTreeMap<String, usize>,
) -> (Vec<PreconditionState>, Vec<Finding>) {
    let outcomes = HashMap::new();
    let writes = FirstWrites::new(written);
    let mut lookups = 0;
    let mut limit_findings = Vec::new();
    let later = |reason: String| PreconditionState::Later { reason };
    let mut state = |step: &Step| {
        let call = &step.call;
        match &step.precondition {
            Precondition::None => return PreconditionState::None,
            Precondition::StepSucceeded(id) => return later(format!("depends on step {id}")),
            _ => {}
        }
        let file = preconditions::file_of(step, call);
        let key = file.and_then(|path| toolbox.key_of(path).ok());
        let is_earlier = |earlier: &usize| *earlier < step.step_index;
        let earlier = key.as_deref().and_then(|key| writes.of_file(key)).filter(is_earlier);
        if let Some(earlier) = earlier {
            return later(format!("step {} writes the file first", earlier + 1));
        }
        if step.precondition.reads_symbols() {
            lookups += 1;
            if lookups > MAX_SYMBOL_LOOKUPS {
                return later(format!(
                    "is checked when the step begins; only {MAX_SYMBOL_LOOKUPS} symbols are looked up before"
                ));
            }
            if toolbox.exceeds_one_search() {
                let why = "is checked when the step begins; the symbols of earlier steps took up the limit";
                return later(why.to_owned());
            }
        }
        match preconditions::check(step, call, toolbox.now(), &outcomes) {
            Ok(found) => PreconditionState::Holds { found },
            Err(ExecutionError::PreconditionFailed { found, .. }) => {
                let help = writes.that_may_help(&step.precondition, key.as_deref());
                match help.filter(|(earlier, _)| is_earlier(earlier)) {
                    Some((earlier, what)) => later(format!("step {} {what}", earlier + 1)),
                    None => PreconditionState::Fails { found },
                }
            }
            Err(error) => {
                let found = error.to_string();
                limit_findings.extend(limit_finding(step, &error.failure()));
                PreconditionState::Fails { found }
            }
        }
    };
    let states =
        plan.steps.iter().take_while(|_| toolbox.check_cancelled().is_ok()).map(&mut state);
    (states.collect(), limit_findings)
}
