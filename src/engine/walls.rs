//! The walls of each step (SPEC §7.5), computed from what its plan asks for, what the table proposes and what a
//! person grants. An approval covers the result. The only process that this module starts is the probe of this
//! computer.

mod paths;

use std::borrow::Cow;
use std::path::Path;

use paths::Folders;

use super::review::beginning;
use crate::authorization::{Grants, StepWalls, WallLevel};
use crate::evidence::EvidenceLocation;
use crate::plan::{Code, Finding, Needs, Plan, Severity, Step, StepPlace, ToolCall, ToolClass};
use crate::process::walls::{WallPlace, WallProbe};
use crate::risk::{self, CommandNeeds, PlannerNeeds, Policy, RiskLevel, Verdict, WallSetting};
use crate::run::{StepWallsReview, WallsReview};
use crate::tools::Toolbox;

/// The rule of a verdict that was raised only because the step reaches beyond its walls.
const WIDENED: &str = "widened-walls";

/// Whether the call may start a process on this computer, which then has walls.
pub(super) fn has_walls(call: &ToolCall) -> bool {
    match call {
        ToolCall::Shell { target, .. } => target.is_none(),
        ToolCall::SplicePatch { .. } | ToolCall::SplicePlan { .. } => true,
        ToolCall::Simulate(simulation) => simulation.runs_code(),
        call => call.class() == ToolClass::Check,
    }
}

fn is_concerned(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| has_walls(&step.call))
}

/// The walls of every step of a plan, and the findings about them.
pub(super) fn look(plan: &Plan, toolbox: &Toolbox, policy: &Policy) -> (WallsReview, Vec<Finding>) {
    let level = if is_concerned(plan) { level_for(policy) } else { (WallLevel::None, None) };
    of_steps(plan, toolbox, policy, level)
}

/// The policy with the grants that a person gave to every plan in this workspace, and these grants, if they can
/// matter to this plan. If the evidence cannot be read, nothing is granted.
pub(super) fn with_remembered<'p>(
    plan: &Plan,
    workspace: &Path,
    policy: &'p Policy,
    evidence: Option<&EvidenceLocation>,
) -> (Cow<'p, Policy>, Option<Grants>) {
    let evidence = evidence.filter(|_| is_concerned(plan) && policy.walls != WallSetting::Off);
    let remembered = evidence.and_then(|it| it.reader().remembered_walls(workspace).ok()?);
    let policy = match &remembered {
        Some(grants) => Cow::Owned(Policy { grants: policy.grants.with(grants), ..policy.clone() }),
        None => Cow::Borrowed(policy),
    };
    (policy, remembered)
}

/// Whether these grants can be given to every plan in the tools' workspace.
///
/// # Errors
/// Why one of the paths cannot be granted, as a sentence.
pub fn check_grants(toolbox: &Toolbox, grants: &Grants) -> Result<(), String> {
    let folders = Folders::new(toolbox);
    grants.write.iter().try_for_each(|path| {
        folders.resolve(path).map(drop).map_err(|why| format!("{path} cannot be granted: {why}"))
    })
}

/// What a person could grant so that this path can be written: the path itself, or the folder in which it would be
/// created; `None` if nobody can grant it.
pub(super) fn place_to_grant(toolbox: &Toolbox, path: &Path) -> Option<String> {
    let there = [Some(path), path.parent()].into_iter().flatten().find(|path| path.exists())?;
    let place = Folders::new(toolbox).resolve(there.to_str()?).ok()??;
    Some(place.path)
}

/// The level of walls on this computer, found by trying them, and why there is no stronger one.
pub fn walls_here() -> (WallLevel, Option<&'static str>) {
    let probe = WallProbe::of_this_computer();
    (probe.level, probe.why_not_better.as_deref())
}

/// As [`walls_here`], unless the settings turn walls off.
fn level_for(policy: &Policy) -> (WallLevel, Option<&'static str>) {
    match policy.walls {
        WallSetting::Off => (WallLevel::None, None),
        WallSetting::Required | WallSetting::Preferred => walls_here(),
    }
}

/// As [`look`], for this level.
fn of_steps(
    plan: &Plan,
    toolbox: &Toolbox,
    policy: &Policy,
    (level, why): (WallLevel, Option<&str>),
) -> (WallsReview, Vec<Finding>) {
    let folders = Folders::new(toolbox);
    let mut reviewer = WallsReviewer {
        toolbox,
        policy,
        level,
        folders,
        allowed: Vec::new(),
        findings: Vec::new(),
    };
    reviewer.allow();
    let steps: Vec<_> = plan.steps.iter().map(|step| reviewer.step(step)).collect();
    let mut findings = reviewer.findings;
    if steps.iter().flatten().next().is_some() {
        let required = required(policy, level, why);
        findings.extend(required.map(|why| Finding::error(Code::StoppedByWall, "", why)));
    }
    if steps.iter().flatten().any(|step| step.walls.level != WallLevel::None) {
        let why = toolbox.walls().impossible();
        findings.extend(why.map(|why| Finding::error(Code::StoppedByWall, "", why.to_owned())));
    }
    let why_not_better = why.filter(|_| steps.iter().any(Option::is_some)).map(str::to_owned);
    let setting = policy.walls;
    (WallsReview { setting, level, why_not_better, remembered: None, steps }, findings)
}

/// The error for settings that require stronger walls than this computer has.
fn required(policy: &Policy, level: WallLevel, why: Option<&str>) -> Option<String> {
    if policy.walls != WallSetting::Required || level == WallLevel::Full {
        return None;
    }
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    Some(format!(
        "your settings require walls of the level full, and this computer has the level {level}{why}: nothing \
         runs here until it has them, or the settings say walls = \"preferred\""
    ))
}

/// Computes the walls of one step after the other.
struct WallsReviewer<'a> {
    toolbox: &'a Toolbox,
    policy: &'a Policy,
    level: WallLevel,
    folders: Folders,
    /// The paths that every step may write, by a grant for the run.
    allowed: Vec<String>,
    findings: Vec<Finding>,
}

impl WallsReviewer<'_> {
    /// Resolves the paths that are granted to every step.
    fn allow(&mut self) {
        for path in &self.policy.grants.write {
            let (severity, message) = match self.folders.resolve(path) {
                Ok(None) => continue,
                Ok(Some(place)) => {
                    if !self.allowed.contains(&place.path) {
                        self.allowed.push(place.path);
                    }
                    if !place.is_missing {
                        continue;
                    }
                    (Severity::Warning, format!("{path} does not exist; it is made as a folder"))
                }
                Err(why) => (Severity::Error, format!("{path} cannot be granted: {why}")),
            };
            self.findings.push(Finding::new(severity, Code::BadValue, "", message));
        }
    }

    fn step(&mut self, step: &Step) -> Option<StepWallsReview> {
        let call = &step.call;
        if let (ToolCall::Shell { target: Some(host), .. }, Some(needs)) = (call, &step.needs)
            && !needs.is_empty()
            && !step.is_verification()
        {
            let message = format!("needs are about this computer, and the command runs on {host}");
            let pointer = step.pointer(Some("needs"));
            self.findings.push(Finding::new(Severity::Note, Code::BadValue, pointer, message));
        }
        if !has_walls(call) {
            return None;
        }
        let (needs, known) = self.wanted(step, call);
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

    /// What the step asks for, and what its programs are known to need. Every path is absolute and without links.
    fn wanted(&mut self, step: &Step, call: &ToolCall) -> (Needs, CommandNeeds) {
        let shell = self.toolbox.shell();
        if let ToolCall::Shell { command, .. } = call {
            let asked = step.needs.clone().unwrap_or_default();
            let needs = self.resolved(step, &asked);
            let mut known = risk::needs_of_command(command, shell);
            known.needs.write = self.folders.of_table(&known.needs.write);
            return (needs, known);
        }
        let commands = self.toolbox.now().commands_of(call).unwrap_or_default();
        let mut asked = Needs::default();
        let mut known = CommandNeeds::default();
        for command in &commands {
            asked.add(&command.needs);
            // Such a command gets only what the workspace's file asks for, because a person trusts the file as a
            // whole. Writing the repository is the exception.
            known.writes_repository |=
                risk::needs_of_command(&command.command, shell).writes_repository;
        }
        (self.resolved(step, &asked), known)
    }

    /// The same needs with absolute paths, with a finding for each path that cannot be granted.
    fn resolved(&mut self, step: &Step, asked: &Needs) -> Needs {
        let mut write = Vec::new();
        for (index, path) in asked.write.iter().enumerate() {
            let (severity, message) = match self.folders.resolve(path) {
                Ok(None) => continue,
                Ok(Some(place)) => {
                    if !write.contains(&place.path) {
                        write.push(place.path);
                    }
                    if !place.is_missing {
                        continue;
                    }
                    let message = format!(
                        "{} does not exist; it is made as a folder before the step runs. If it should be a \
                         file, name its folder instead",
                        beginning(path)
                    );
                    (Severity::Warning, message)
                }
                Err(why) => {
                    (Severity::Error, format!("{} cannot be granted: {why}", beginning(path)))
                }
            };
            if !step.is_verification() {
                self.tell(step, severity, &format!("write/{index}"), message);
            }
        }
        write.sort();
        Needs { write, ..asked.clone() }
    }

    fn walls(&self, granted: &Needs, writes_repository: bool) -> StepWalls {
        let terminal = granted.terminal;
        if granted.open {
            return StepWalls { open: true, terminal, ..StepWalls::default() };
        }
        if self.level == WallLevel::None {
            return StepWalls { terminal, ..StepWalls::default() };
        }
        let mut write = granted.write.clone();
        write.extend(self.allowed.iter().filter(|path| !granted.write.contains(path)).cloned());
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

    /// Adds the errors that keep the step from running with these walls.
    fn refusals(&mut self, step: &Step, walls: &StepWalls, missing: &Needs, known: &CommandNeeds) {
        let number = step.step_index + 1;
        if walls.terminal && !step.is_verification() {
            let message = format!(
                "step {number} asks for a terminal, and this version cannot run a command on one: take \
                 \"terminal\" out, and pass the command what it would ask for"
            );
            self.tell(step, Severity::Error, "terminal", message);
        }
        if walls.open && self.policy.walls == WallSetting::Required {
            let message =
                format!("step {number} needs \"open\" (no walls), and your settings require walls");
            self.tell(step, Severity::Error, "open", message);
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

    fn tell(&mut self, step: &Step, severity: Severity, field: &str, message: String) {
        let pointer = match step.place {
            StepPlace::Command(_) => step.pointer(Some(&format!("needs/{field}"))),
            _ => step.pointer(None),
        };
        self.findings.push(Finding::new(severity, Code::BadValue, pointer, message));
    }
}

/// The walls of a planner, and the notes about them.
///
/// # Errors
/// When a path cannot be made writable, or the settings require walls that this computer does not have; as a
/// sentence.
pub fn planner_walls(
    toolbox: &Toolbox,
    policy: &Policy,
    needs: &PlannerNeeds,
) -> Result<(StepWalls, WallPlace), String> {
    let (level, why) = level_for(policy);
    if let Some(why) = required(policy, level, why) {
        return Err(why);
    }
    let folders = Folders::new(toolbox);
    let mut write = Vec::new();
    let mut writes_workspace = false;
    for path in &needs.write {
        match folders.resolve(path).map_err(|why| format!("{path} cannot be granted: {why}"))? {
            Some(place) => write.push(place.path),
            None => writes_workspace = true,
        }
    }
    write.sort();
    write.dedup();
    let mut place = WallPlace::default();
    if !needs.read {
        place.hidden.push(toolbox.workspace().to_owned());
    } else if !writes_workspace {
        place.read_only.push(toolbox.workspace().to_owned());
    }
    if level == WallLevel::None {
        return Ok((StepWalls::NONE.clone(), place));
    }
    Ok((StepWalls { level, network: needs.network, write, ..StepWalls::default() }, place))
}

/// The verdict on a step with these walls. A step that reaches beyond its walls is never safe.
pub(super) fn raised(verdict: Verdict, walls: Option<&StepWalls>) -> Verdict {
    match walls {
        Some(walls) if walls.is_widened() && verdict.level < RiskLevel::Caution => Verdict {
            level: RiskLevel::Caution,
            rule: WIDENED.into(),
            span: None,
            reason: format!("Reaches beyond its walls: {}. {}", granted(walls), verdict.reason),
            suggestion: verdict.suggestion,
        },
        _ => verdict,
    }
}

/// What the walls grant.
fn granted(walls: &StepWalls) -> Needs {
    let StepWalls { network, ref write, terminal, open, .. } = *walls;
    Needs { network, write: write.clone(), terminal, open }
}

/// Why a person is asked before a step with these walls, if there is no other reason to ask.
pub(super) fn ask(
    risk: &Verdict,
    walls: Option<&StepWalls>,
    setting: WallSetting,
) -> Option<&'static str> {
    let walls = walls?;
    if walls.open {
        Some("The step runs without walls.")
    } else if walls.level > WallLevel::None || risk.level < RiskLevel::Caution {
        None
    } else if setting == WallSetting::Off {
        Some("Walls are off in your settings, so steps rated caution ask.")
    } else {
        Some("This computer has no walls, so steps rated caution ask.")
    }
}

#[cfg(test)]
mod tests;
