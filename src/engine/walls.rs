//! The walls of each step (SPEC §7.5), computed from the needs in its plan, the needs that the table proposes, and the
//! person's grants. An approval covers the result. This module starts no process except the probe of this computer.

mod paths;

use std::borrow::Cow;
use std::path::Path;

pub(super) use paths::{Folders, Location};

use super::commands::ReviewCommands;
use super::review::beginning;
use crate::authorization::{Grants, StepWalls, WallLevel};
use crate::evidence::EvidenceLocation;
use crate::plan::{Code, Finding, Needs, Plan, Severity, Step, StepPlace, ToolCall, ToolClass};
use crate::process::walls::WallProbe;
use crate::risk;
use crate::risk::{CommandNeeds, Policy, RiskLevel, Verdict, WallSetting};
use crate::run::{StepWallsReview, WallsReview};
use crate::tools::Toolbox;

/// The rule of a verdict that was raised because the walls of the step grant more than the workspace.
pub(super) const WIDENED: &str = "widened-walls";

/// Whether the call may start a process on this computer, so that the step has walls.
pub(super) fn has_walls(call: &ToolCall) -> bool {
    match call {
        ToolCall::Shell { target, .. } => target.is_none(),
        ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => true,
        ToolCall::Simulate(simulation) => simulation.runs_code(),
        call => call.class() == ToolClass::Check,
    }
}

fn is_walled(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| has_walls(&step.call))
}

/// The walls of every step of a plan, and the findings about them. Probes this computer only if a step has walls.
pub(super) fn review(
    plan: &Plan,
    commands: &ReviewCommands<'_>,
    policy: &Policy,
) -> (WallsReview, Vec<Finding>) {
    let level = if is_walled(plan) { level_for(policy) } else { (WallLevel::None, None) };
    review_at(plan, commands, policy, level)
}

/// The policy with the grants that a person gave to every plan in this workspace, and these grants; `None` if no step
/// has walls, walls are off, or there are no grants or they cannot be read.
pub(super) fn with_remembered<'p>(
    plan: &Plan,
    workspace: &Path,
    policy: &'p Policy,
    evidence: Option<&EvidenceLocation>,
) -> (Cow<'p, Policy>, Option<Grants>) {
    let evidence =
        evidence.filter(|_| is_walled(plan) && policy.wall_setting() != WallSetting::Off);
    let remembered = evidence.and_then(|it| it.reader().remembered_walls(workspace).ok()?);
    let policy = match &remembered {
        Some(grants) => Cow::Owned(Policy { grants: policy.grants.with(grants), ..policy.clone() }),
        None => Cow::Borrowed(policy),
    };
    (policy, remembered)
}

/// Checks that these grants can be given to every plan in the tools' workspace.
///
/// # Errors
/// Why one of the paths cannot be granted, as a sentence.
pub fn check_grants(toolbox: &Toolbox, grants: &Grants) -> Result<(), String> {
    let folders = Folders::new(toolbox);
    grants.write.iter().try_for_each(|path| {
        folders.resolve(path).map(drop).map_err(|why| format!("{path} cannot be granted: {why}"))
    })
}

/// The path that a person could grant so that this path can be written: itself, or else its folder if only that exists;
/// `None` if neither exists, or if it cannot be granted or needs no grant.
pub(super) fn grantable_path(toolbox: &Toolbox, path: &Path) -> Option<String> {
    let existing = [Some(path), path.parent()].into_iter().flatten().find(|path| path.exists())?;
    let location = Folders::new(toolbox).resolve(existing.to_str()?).ok()?;
    Some(location.outside()?.path)
}

/// The level of walls that works on this computer, found by trial, and why no stronger one works.
pub fn local_wall_level() -> (WallLevel, Option<&'static str>) {
    let probe = WallProbe::of_this_computer();
    (probe.level, probe.why_not_better.as_deref())
}

/// As [`local_wall_level`], unless the settings turn walls off.
pub(super) fn level_for(policy: &Policy) -> (WallLevel, Option<&'static str>) {
    match policy.wall_setting() {
        WallSetting::Off => (WallLevel::None, None),
        WallSetting::Required | WallSetting::Preferred => local_wall_level(),
    }
}

/// As [`review`], at this level.
fn review_at(
    plan: &Plan,
    commands: &ReviewCommands<'_>,
    policy: &Policy,
    (level, why): (WallLevel, Option<&str>),
) -> (WallsReview, Vec<Finding>) {
    let toolbox = commands.toolbox;
    let mut reviewer = WallsReviewer {
        commands,
        policy,
        level,
        folders: Folders::new(toolbox),
        run_grants: Vec::new(),
        findings: Vec::new(),
    };
    reviewer.resolve_run_grants();
    let steps: Vec<_> = plan.steps.iter().map(|step| reviewer.step(step)).collect();
    let mut findings = reviewer.findings;
    if policy.wall_setting() == WallSetting::Required
        && matches!(policy.choices.walls, Some(WallSetting::Preferred | WallSetting::Off))
    {
        let why = "your settings require walls, so this run cannot do without: choose no other walls for it";
        findings.push(Finding::error(Code::BadValue, "", why));
    }
    if steps.iter().flatten().next().is_some() {
        let level_error = level_error(policy, level, why);
        findings.extend(level_error.map(|why| Finding::error(Code::StoppedByWall, "", why)));
    }
    if steps.iter().flatten().any(|step| step.walls.level != WallLevel::None) {
        let why = toolbox.walls().unsupported_reason();
        findings.extend(why.map(|why| Finding::error(Code::StoppedByWall, "", why.to_owned())));
    }
    let why_not_better = why.filter(|_| steps.iter().any(Option::is_some)).map(str::to_owned);
    let setting = policy.wall_setting();
    (WallsReview { setting, level, why_not_better, remembered: None, steps }, findings)
}

/// The error if the settings require stronger walls than this computer has.
pub(super) fn level_error(policy: &Policy, level: WallLevel, why: Option<&str>) -> Option<String> {
    if policy.wall_setting() != WallSetting::Required || level == WallLevel::Full {
        return None;
    }
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    Some(if policy.walls == WallSetting::Required {
        format!(
            "your settings require walls of the level full, and this computer has the level {level}{why}: nothing \
             runs here until it has them, or the settings say walls = \"preferred\""
        )
    } else {
        format!(
            "you chose walls of the level full for this run, and this computer has the level {level}{why}: choose \
             the walls \"preferred\""
        )
    })
}

/// Computes the walls of the steps, one by one.
struct WallsReviewer<'a> {
    commands: &'a ReviewCommands<'a>,
    policy: &'a Policy,
    level: WallLevel,
    folders: Folders,
    /// The paths that a grant for the run lets every step write.
    run_grants: Vec<String>,
    findings: Vec<Finding>,
}

impl WallsReviewer<'_> {
    /// Resolves the paths that are granted to every step, with a finding for each that is missing or cannot be granted.
    fn resolve_run_grants(&mut self) {
        for path in &self.policy.grants.write {
            let missing = || format!("{path} does not exist; it is made as a folder");
            let fault = self.folders.add_grant(path, path, missing, &mut self.run_grants);
            self.findings
                .extend(fault.map(|(severity, message)| {
                    Finding::new(severity, Code::BadValue, "", message)
                }));
        }
    }

    fn step(&mut self, step: &Step) -> Option<StepWallsReview> {
        let call = &step.call;
        if let (ToolCall::Shell { target: Some(host), .. }, Some(needs)) = (call, &step.needs)
            && !needs.is_empty()
            && !step.is_verification()
        {
            if needs.terminal {
                let number = step.step_index + 1;
                let message = format!(
                    "step {number} opens a terminal on {host}, into which you type; its command is an argument of ssh, \
                     which other users of this computer may read"
                );
                self.add_finding(step, Severity::Note, "terminal", message);
            }
            if *needs == (Needs { terminal: true, ..Needs::default() }) {
                return None;
            }
            let message = format!("needs are about this computer, and the command runs on {host}");
            let pointer = step.pointer(Some("needs"));
            self.findings.push(Finding::new(Severity::Note, Code::BadValue, pointer, message));
        }
        if !has_walls(call) {
            return None;
        }
        let (needs, known) = self.needs_of(step, call);
        let includes_proposal = self.policy.grants.includes_proposal(&step.step_id);
        let mut granted = needs.clone();
        if includes_proposal {
            granted.add(&known.needs);
        }
        let walls = self.walls(&granted, known.writes_repository);
        let proposed = known.needs.beyond(&granted);
        self.refusals(step, &walls, &proposed, &known);
        let proposed = Some(proposed).filter(|it| !it.is_empty() && self.level > WallLevel::None);
        let reasons = if proposed.is_some() { known.reasons } else { Vec::new() };
        let granted = includes_proposal && !known.needs.beyond(&needs).is_empty();
        Some(StepWallsReview {
            walls,
            needs,
            granted,
            proposed: proposed.unwrap_or_default(),
            reasons,
        })
    }

    /// The needs that the step states, and those that the table lists for its programs, with resolved paths.
    fn needs_of(&mut self, step: &Step, call: &ToolCall) -> (Needs, CommandNeeds) {
        let shell = self.commands.toolbox.shell();
        if let ToolCall::Shell { command, .. } = call {
            let stated = step.needs.clone().unwrap_or_default();
            let needs = self.resolved(step, &stated);
            let mut known = risk::needs_of_command(command, shell);
            known.needs.write = self.folders.resolve_table_paths(&known.needs.write);
            return (needs, known);
        }
        let commands = self.commands.of(call).unwrap_or_default();
        let mut stated = Needs::default();
        let mut known = CommandNeeds::default();
        for command in &commands {
            stated.add(&command.needs);
            // Nothing is proposed for such a command: a person trusts the file with the needs that it states. Only
            // writing the repository is added.
            known.writes_repository |=
                risk::needs_of_command(&command.command, shell).writes_repository;
        }
        (self.resolved(step, &stated), known)
    }

    /// The same needs with resolved paths outside the workspace. Adds a finding for each missing or refused path.
    fn resolved(&mut self, step: &Step, stated: &Needs) -> Needs {
        let mut write = Vec::new();
        for (index, path) in stated.write.iter().enumerate() {
            let shown = beginning(path);
            let missing = || {
                format!(
                    "{shown} does not exist; it is made as a folder before the step runs. If it should be a \
                     file, name its folder instead"
                )
            };
            let fault = self.folders.add_grant(path, shown, missing, &mut write);
            if let Some((severity, message)) = fault.filter(|_| !step.is_verification()) {
                self.add_finding(step, severity, &format!("write/{index}"), message);
            }
        }
        write.sort();
        Needs { write, ..stated.clone() }
    }

    /// The walls of a step with these needs.
    fn walls(&self, granted: &Needs, writes_repository: bool) -> StepWalls {
        let terminal = granted.terminal;
        if granted.open {
            return StepWalls { open: true, terminal, ..StepWalls::default() };
        }
        if self.level == WallLevel::None {
            return StepWalls { terminal, ..StepWalls::default() };
        }
        let mut write = granted.write.clone();
        write.extend(self.run_grants.iter().filter(|path| !granted.write.contains(path)).cloned());
        write.sort();
        StepWalls {
            level: self.level,
            network: granted.network || self.policy.grants.network,
            write,
            writes_repository,
            terminal,
            open: false,
        }
    }

    /// Adds errors if the step cannot run with these walls, or a warning if it probably fails behind them.
    fn refusals(&mut self, step: &Step, walls: &StepWalls, missing: &Needs, known: &CommandNeeds) {
        let number = step.step_index + 1;
        if walls.open && self.policy.wall_setting() == WallSetting::Required {
            let message =
                format!("step {number} needs \"open\" (no walls), and your settings require walls");
            self.add_finding(step, Severity::Error, "open", message);
        }
        if walls.level == WallLevel::None || !missing.open {
            return;
        }
        let (severity, why) = match &known.refused {
            Some(why) => (Severity::Error, why.clone()),
            None => (Severity::Warning, known.reasons.join("; ")),
        };
        let message = format!(
            "step {number} cannot do its work behind walls: {why}. \"needs\": {{\"open\": true}} lets it run \
             without them, after a question; so does granting what is proposed"
        );
        let pointer = step.pointer(Some("command"));
        self.findings.push(Finding::new(severity, Code::StoppedByWall, pointer, message));
    }

    /// Adds a finding at a field of the step's needs.
    fn add_finding(&mut self, step: &Step, severity: Severity, field: &str, message: String) {
        let pointer = match step.place {
            StepPlace::Command(_) => step.pointer(Some(&format!("needs/{field}"))),
            _ => step.pointer(None),
        };
        self.findings.push(Finding::new(severity, Code::BadValue, pointer, message));
    }
}

/// The verdict on a step with these walls. A step whose walls grant more than the workspace is at least at caution.
pub(super) fn raised(verdict: Verdict, walls: Option<&StepWalls>) -> Verdict {
    match walls {
        Some(walls) if walls.is_widened() && verdict.level < RiskLevel::Caution => Verdict {
            level: RiskLevel::Caution,
            rule: WIDENED.into(),
            span: None,
            parts: Vec::new(),
            reason: format!("Reaches beyond its walls: {}. {}", granted(walls), verdict.reason),
            suggestion: verdict.suggestion,
        },
        _ => verdict,
    }
}

/// The needs that the walls grant.
fn granted(walls: &StepWalls) -> Needs {
    let StepWalls { network, ref write, terminal, open, .. } = *walls;
    Needs { network, write: write.clone(), terminal, open }
}

/// Why a person is asked before a step with these walls, if there is no other reason to ask.
pub(super) fn confirmation_reason(
    risk: &Verdict,
    walls: Option<&StepWalls>,
    policy: &Policy,
) -> Option<&'static str> {
    let walls = walls?;
    if walls.open {
        Some("The step runs without walls.")
    } else if walls.level > WallLevel::None || risk.level < RiskLevel::Caution {
        None
    } else if policy.walls == WallSetting::Off && policy.choices.walls.is_none() {
        Some("Walls are off in your settings, so steps rated caution ask.")
    } else if policy.wall_setting() == WallSetting::Off {
        Some("You chose no walls for this run, so steps rated caution ask.")
    } else {
        Some("This computer has no walls, so steps rated caution ask.")
    }
}

#[cfg(test)]
mod tests;
