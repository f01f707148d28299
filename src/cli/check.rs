//! `check`: prints everything that is known about a plan before it is authorized. Nothing of the plan is run.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::documents::finding_line;
use super::fleet::{fleet_files, fleet_header};
use super::inputs::{Ask, lines};
use super::opening::{OpenedPlan, ReadPlan, evidence_location, under_way};
use super::output::{Output, QUOTE, quoted_in_line};
use super::refusal::Refusal;
use super::time::local_time;
use super::trust::record_trust;
use super::{Exit, args, documents};
use crate::authorization::{RunChoices, WallLevel, persons_needed};
use crate::engine::simulate_shown;
use crate::evidence::EvidenceLocation;
use crate::plan::{Dialect, Severity, ShownPlan, quoted, quoted_lines, visible_name};
use crate::remote::{SshClient, check_target};
use crate::risk::{Policy, WallSetting};
use crate::run::{
    CommandReview, CommandsReview, Host, PlanRejection, PreconditionState, Review, StepWallsReview,
    StopSignal, TargetState, WallsReview, other_runs_warning,
};

/// Validates and reviews a plan file. With `--revoke-commands`, records that the workspace's commands are no longer
/// trusted; with `--connect`, connects to the plan's host.
pub(super) fn check(command: &args::CheckPlan, out: &mut Output) -> Result<Exit, Refusal> {
    let args::CheckPlan { check, revoke_commands, connect } = command;
    let mut policy = check.options.policy()?;
    let workspace = check.workspace.workspace.as_deref();
    let folder = &check.options.common.folder;
    let inputs = (&check.inputs, Ask::Never);
    let read = ReadPlan::file(&check.plan, workspace, &check.choices, inputs)?;
    policy.secret_inputs = read.filled_in.secret_inputs.clone();
    let mut review = read.review(&mut policy, folder)?;
    if let Some((digest, before)) = revoke_commands.as_ref().zip(review.as_ref()) {
        record_trust(&before.binding.workspace, *digest, None, &evidence_location(folder)?)?;
        review = read.review(&mut policy, folder)?;
    }
    let opened = read.with_review(review);
    let plan = opened.plan.as_ref().filter(|plan| plan.fleet.is_none());
    let target = plan.and_then(|plan| plan.target.as_deref());
    let state = target.filter(|_| *connect).zip(opened.review.as_ref());
    let state = state.map(|(target, review)| connect_to(target, &review.workspace, &policy));
    let workspace = opened.review.as_ref().map(|review| review.workspace.as_path());
    let evidence = evidence_location(folder).ok();
    let evidence = evidence.as_ref();
    let others = workspace.zip(evidence);
    let others = others.map(|(workspace, location)| under_way(location, workspace));
    let others = others.unwrap_or_default();
    let failure = first_failure(&opened, &policy, evidence);
    let rejection = evidence.zip(opened.digest).and_then(|(evidence, digest)| {
        // Without records, nothing is known about a rejection.
        evidence.open().and_then(|mut reader| reader.rejection_of(&digest)).ok()?
    });
    if out.json() {
        let mut document = documents::check(&opened);
        documents::insert(&mut document, "connection", state.as_ref());
        documents::insert(&mut document, "would_fail", failure.as_ref());
        documents::insert(&mut document, "rejected", rejection.as_ref());
        documents::insert(&mut document, "other_runs", Some(&others).filter(|it| !it.is_empty()));
        out.document(&document);
    } else {
        print(&opened, out);
        let of_plan = opened.plan.as_ref().map_or(0, |plan| plan.signatures_required);
        let persons = persons_needed(policy.signing.as_ref(), of_plan);
        if persons > 1 && opened.is_valid() {
            out.line(&format!(
                "It needs the signatures of {persons} persons: `countersign review-request` asks for them."
            ));
        }
        if let Some(failure) = &failure {
            out.line(&quoted_in_line(&format!("Warning: {failure}")));
        }
        if let Some(rejection) = &rejection {
            out.line(&quoted_in_line(&format!("Warning: {}", rejection_line(rejection))));
        }
        if let Some(warning) = other_runs_warning(&others.iter().collect::<Vec<_>>()) {
            out.line(&quoted_in_line(&format!("Warning: {warning}")));
        }
        if let Some(state) = &state {
            print_state(state, out);
        }
    }
    Ok(match state {
        _ if !opened.is_valid() => Exit::InvalidPlan,
        Some(state) if !state.is_reachable() => Exit::Failed,
        _ => Exit::Done,
    })
}

/// The first step of a plan that would fail as things are now. The steps after it would not be reached.
#[derive(Serialize)]
struct WouldFail<'a> {
    step_index: usize,
    step_id: &'a str,
    /// Why, as a sentence.
    reason: String,
    #[serde(skip)]
    after: usize,
}

impl std::fmt::Display for WouldFail<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { step_index, reason, after, .. } = self;
        write!(f, "Step {} would fail as things are now: {reason}", step_index + 1)?;
        match after {
            0 => Ok(()),
            1 => write!(f, " The step after it would not be reached."),
            _ => write!(f, " The {after} steps after it would not be reached."),
        }
    }
}

/// Simulates a valid plan up to the first step that would fail. What cannot be simulated is not known to fail.
fn first_failure<'a>(
    opened: &'a OpenedPlan,
    policy: &Policy,
    evidence: Option<&EvidenceLocation>,
) -> Option<WouldFail<'a>> {
    let review = opened.review.as_ref().filter(|_| opened.is_valid())?;
    let plan = opened.plan.as_ref()?;
    let simulated = simulate_shown(plan, &review.workspace, policy, evidence, &Arc::default());
    let previews = simulated.ok()?.previews;
    plan.steps.iter().zip(&previews).find_map(|(step, preview)| {
        let reason = preview.why_it_fails()?.to_owned();
        let after = plan.steps.len() - step.step_index - 1;
        Some(WouldFail { step_index: step.step_index, step_id: &step.step_id, reason, after })
    })
}

/// Says that a person rejected exactly this plan, when and why.
fn rejection_line(rejection: &PlanRejection) -> String {
    let why = match rejection.reason.as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let when = local_time(rejection.timestamp_ms);
    format!("This plan was rejected on {when}, and not authorized since{why}")
}

/// Connects to the host, to find out whether commands can run there. No command of the plan is sent.
fn connect_to(target: &str, workspace: &Path, policy: &Policy) -> TargetState {
    match SshClient::of_system(policy, workspace) {
        Ok(client) => check_target(&client, target, &StopSignal::default()),
        Err(error) => TargetState::Unreachable { said: error.to_string() },
    }
}

fn print_state(state: &TargetState, out: &mut Output) {
    let (status, detail, output) = match state {
        TargetState::Reachable { host } => {
            let Host { system, bash, bash_version, .. } = &**host;
            let detail = format!("{}, {system}, {bash} {bash_version}", host.line());
            ("is reachable", Some(detail), &host.said)
        }
        TargetState::UnknownKey { host_key, said } => {
            ("shows a key that is not known", host_key.clone(), said)
        }
        TargetState::ChangedKey { host_key, said } => {
            ("shows another key than the known one", host_key.clone(), said)
        }
        TargetState::Refused { said } => ("refused the login", None, said),
        TargetState::Unreachable { said } => ("cannot be reached", None, said),
        TargetState::Unusable { said } => {
            ("can be reached, but no command can run there", None, said)
        }
    };
    let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
    out.line(&quoted(&format!("The host {status}{detail}")));
    for line in quoted_lines(output).lines() {
        out.line(&format!("{QUOTE}{line}"));
    }
}

/// Prints everything that is known about a plan, for people.
pub(super) fn print(opened: &OpenedPlan, out: &mut Output) {
    describe(opened, out);
    let errors = opened.findings.iter().filter(|it| it.severity == Severity::Error).count();
    match opened.digest {
        Some(digest) if opened.is_valid() => {
            let fleet = opened.review.as_ref().and_then(|review| review.fleet.as_ref());
            let (hosts, them) = match fleet {
                Some(fleet) => (format!(" --hosts {}", fleet.digest), " and hosts"),
                None => (String::new(), ""),
            };
            let flags = format!("--authorize {digest}{hosts}");
            out.line(&format!("Valid. `{flags}` authorizes exactly these bytes{them}."));
        }
        _ if errors == 1 => out.line("Not valid: 1 error."),
        _ => out.line(&format!("Not valid: {errors} errors.")),
    }
}

/// Prints a plan with its review and findings.
pub(super) fn describe(opened: &OpenedPlan, out: &mut Output) {
    if let (Some(plan), Some(review)) = (&opened.plan, &opened.review) {
        header(opened, plan, review, out);
        steps(plan, review, out);
        if let Some(fleet) = &review.fleet {
            fleet_files(fleet).iter().for_each(|line| out.line(line));
        }
    }
    let review = opened.review.as_ref();
    if let Some(commands) = review.and_then(|review| review.workspace_commands.as_ref()) {
        workspace_commands(commands, "run").iter().for_each(|line| out.line(line));
    }
    let inputs = opened.plan.iter().flat_map(|plan| lines(&plan.inputs));
    let inputs: Vec<String> = inputs.collect();
    if !inputs.is_empty() {
        out.line("Inputs:");
        inputs.iter().for_each(|line| out.line(&quoted_in_line(&format!("    {line}"))));
    }
    for finding in &opened.findings {
        out.line(&finding_line(finding));
    }
}

/// Lists the commands of a workspace, one in a line, and states whether they are trusted or how to trust them with
/// `subcommand`.
pub(super) fn workspace_commands(commands: &CommandsReview, subcommand: &str) -> Vec<String> {
    let command = |command: &CommandReview| {
        let (name, risk) = (&command.name, command.risk.level.as_str());
        quoted(&format!("    {name} ({risk}): {}", command.command)).into_owned()
    };
    let trust = if commands.trusted {
        "They are trusted.".to_owned()
    } else {
        let digest = commands.digest;
        format!(
            "They are not trusted. `{subcommand} --trust-commands {digest}` trusts exactly these."
        )
    };
    let first = "Commands of countersign.toml:".to_owned();
    [first].into_iter().chain(commands.commands.iter().map(command)).chain([trust]).collect()
}

fn header(opened: &OpenedPlan, plan: &ShownPlan, review: &Review, out: &mut Output) {
    let mut rows = Vec::new();
    let mut row = |name: &'static str, value: &str| rows.push((name, value.to_owned()));
    match &plan.title {
        Some(title) => row("Plan", &format!("{title} ({})", plan.plan_id)),
        None => row("Plan", &plan.plan_id),
    }
    if let Some(created_by) = &plan.created_by {
        row("Written by", &format!("{created_by} (as the file says)"));
    }
    if let Some(intent) = plan.intent {
        row("Intent", intent.as_str());
    }
    if plan.dialect == Dialect::CommandPlan {
        row("Mode", plan.mode.as_str());
        let host = review.binding.target.as_ref().map(ToString::to_string);
        let host = host.or_else(|| plan.target.clone());
        row("Commands run", &host.map_or("on this computer".to_owned(), |it| format!("on {it}")));
    }
    for line in review.fleet.iter().flat_map(fleet_header) {
        row("", &line);
    }
    if let Some(digest) = opened.digest {
        row("Digest", &digest.to_string());
    }
    row("Workspace", &review.workspace.display().to_string());
    row("", &review.workspace_reason);
    if let Some(worst) = review.impact.worst {
        row("Worst risk", worst.as_str());
    }
    if let Some(walls) = review.walls.as_ref().filter(|walls| walls.concerns_any()) {
        row("Walls", &walls_line(walls, review.binding.choices));
        if walls.proposes() {
            row("Proposed", &format!("{}; --grant-proposed grants it", walls.proposed()));
        }
    }
    if review.binding.choices.ask_every_step {
        row("Asks", "before every step, as you chose");
    }
    if !review.impact.files.is_empty() {
        row("Writes", &review.impact.files.join(", "));
    }
    out.fields(rows);
    out.line("");
}

/// The grants of a step beyond its walls, and the proposed ones.
fn wall_notes(step: &StepWallsReview) -> Vec<String> {
    let granted = step.walls.is_widened().then(|| format!("walls: {}", step.walls));
    let reasons = step.reasons.join("; ");
    let proposed =
        (!step.proposed.is_empty()).then(|| format!("proposed: {} ({reasons})", step.proposed));
    granted.into_iter().chain(proposed).collect()
}

/// The level of the walls on this computer, and why it is not higher.
fn walls_line(walls: &WallsReview, choices: RunChoices) -> String {
    let level = match (walls.level, walls.setting) {
        (WallLevel::None, WallSetting::Off) if choices.walls.is_some() => {
            "off for this run, as you chose".to_owned()
        }
        (WallLevel::None, WallSetting::Off) => "off in your settings".to_owned(),
        (WallLevel::None, _) => "this computer has none".to_owned(),
        (level, _) => level.to_string(),
    };
    let why = walls.why_not_better.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    format!("{level}{why}")
}

fn steps(plan: &ShownPlan, review: &Review, out: &mut Output) {
    let states = review.risks.iter().zip(&review.asks).zip(&review.preconditions);
    let mut rows = Vec::new();
    for (step, ((risk, asks), precondition)) in plan.steps.iter().zip(states) {
        let what = match &step.call {
            Some(call) => {
                let (verb, object) = call.headline();
                format!("{verb} {}", visible_name(&object))
            }
            None => "faulty".to_owned(),
        };
        let mut notes = Vec::new();
        if let Some(why) = asks {
            notes.push(format!("asks first: {}", why.trim_end_matches('.')));
        }
        notes.extend(review.walls_of(step.step_index).into_iter().flat_map(wall_notes));
        match precondition {
            // A finding describes the fault of such a step.
            _ if step.call.is_none() => {}
            PreconditionState::Fails { found } => {
                notes.push(format!("precondition {:?} fails now: {found}", step.precondition_text));
            }
            PreconditionState::Later { reason } => {
                notes.push(format!("precondition {:?}: {reason}", step.precondition_text));
            }
            PreconditionState::None | PreconditionState::Holds { .. } => {}
        }
        rows.push([
            format!("{:>3}", step.step_index + 1),
            risk.level.as_str().to_owned(),
            quoted(&step.tool_name).into_owned(),
            what,
            quoted(&notes.join("; ")).into_owned(),
        ]);
    }
    out.columns(rows);
    out.line("");
}
