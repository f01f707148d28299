//! Opens the evidence, the settings, and a plan with its review, according to the options of a command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{CommandChoices, EvidenceFolder, Inputs};
use super::inputs::{Ask, FilledIn, fill_in};
use super::output::{quoted_in_line, say};
use super::refusal::Refusal;
use crate::engine::{WorkspaceChoice, review, review_read, review_trusting, review_until};
use crate::evidence::EvidenceLocation;
use crate::plan::{Dialect, Digest, Finding, Parsed, Plan, ShownPlan, is_valid, limits, parse};
use crate::risk::Policy;
use crate::run::{Failure, Review, RunSummary, other_runs, other_runs_warning};
use crate::worker::inbox::{InboxFolder, held};
use crate::worker::{
    PlanFile, TeamServer, Unusable, default_folders, load_inbox, load_policy, load_team,
    read_plan_file, read_unlinked, workspace_of,
};

/// The evidence in the folder given on the command line, or in the user's own.
///
/// # Errors
/// The user's home folder cannot be determined.
pub(super) fn evidence_location(named: &EvidenceFolder) -> Result<EvidenceLocation, Refusal> {
    let folders = default_folders().ok_or_else(no_home)?;
    let own = folders.location();
    Ok(EvidenceLocation { evidence: named.evidence.clone().unwrap_or(own.evidence), ..own })
}

/// The path of the inbox, as the settings name it, otherwise in the user's data folder.
///
/// # Errors
/// The settings file cannot be used, or the user's home folder cannot be determined.
pub(super) fn inbox_path() -> Result<PathBuf, Refusal> {
    let folders = default_folders().ok_or_else(no_home)?;
    Ok(load_inbox(&folders.settings)?.unwrap_or(folders.inbox))
}

/// The settings file, which may not exist.
///
/// # Errors
/// The user's home folder cannot be determined.
pub(super) fn settings_file() -> Result<PathBuf, Refusal> {
    let folders = default_folders().ok_or_else(no_home)?;
    Ok(folders.settings.join("settings.toml"))
}

/// The server of the team's evidence that the settings name; `None` if they name none.
///
/// # Errors
/// The settings file cannot be used, or the user's home folder cannot be determined.
pub(super) fn team_of_settings() -> Result<Option<TeamServer>, Refusal> {
    let folders = default_folders().ok_or_else(no_home)?;
    Ok(load_team(&folders.settings)?)
}

/// The inbox, which is created if it does not exist.
///
/// # Errors
/// As [`inbox_path`]; and when it cannot be created or is not private.
pub(super) fn inbox() -> Result<InboxFolder, Refusal> {
    Ok(InboxFolder::open(&inbox_path()?)?)
}

fn no_home() -> Refusal {
    Refusal::usage("the system does not say where your home folder is", "Set HOME and try again.")
}

/// The maximum number of recorded runs among which those under way are searched.
const RECENT_RUNS: usize = 1_000;

/// The runs of other windows and commands under way in this workspace. Empty if the evidence cannot be read: the command
/// then fails or needs no evidence.
pub(super) fn under_way(location: &EvidenceLocation, workspace: &Path) -> Vec<RunSummary> {
    let runs = location.open().and_then(|mut evidence| evidence.runs(RECENT_RUNS));
    let runs = runs.unwrap_or_default();
    other_runs(&runs, workspace, None).into_iter().cloned().collect()
}

/// Prints a warning about the runs of other windows and commands under way in this workspace.
pub(super) fn warn_of_other_runs(location: &EvidenceLocation, workspace: &Path) {
    let runs = under_way(location, workspace);
    if let Some(warning) = other_runs_warning(&runs.iter().collect::<Vec<_>>()) {
        say(&quoted_in_line(&format!("Warning: {warning}")));
    }
}

/// The policy of the settings file, which the window uses too.
///
/// # Errors
/// The settings file cannot be used.
pub(super) fn policy() -> Result<Policy, Refusal> {
    let Some(folders) = default_folders() else { return Ok(Policy::default()) };
    Ok(load_policy(&folders.settings)?)
}

/// The folder in which the command was started.
///
/// # Errors
/// The folder no longer exists or cannot be read.
pub(super) fn current_folder() -> Result<PathBuf, Refusal> {
    std::env::current_dir().map_err(|error| {
        let message = format!("the current folder cannot be found: {error}");
        Refusal::usage(message, "Change to another folder.")
    })
}

/// The workspace of a command without a plan file: `chosen`, else the default workspace of a plan in `current`.
pub(super) fn workspace(chosen: Option<&Path>, current: &Path) -> WorkspaceChoice {
    let chosen = chosen.map(|folder| {
        let folder = current.join(folder);
        // Without `.` and `..`; a folder that does not exist is refused by this name later.
        folder.canonicalize().unwrap_or(folder)
    });
    let choice = workspace_of(&current.join("plan"), chosen.as_deref());
    if chosen.is_some() {
        return choice;
    }
    let reason = if choice.folder == current {
        "It is the current folder."
    } else {
        "It is the nearest folder above the current one with a Cargo.toml or .git."
    };
    WorkspaceChoice { reason: reason.to_owned(), ..choice }
}

/// A plan whose bytes were read once, and its workspace.
pub(super) struct ReadPlan {
    /// The digest of its bytes; `None` if they could not be read completely.
    pub(super) digest: Option<Digest>,
    parsed: Parsed,
    workspace: WorkspaceChoice,
    /// What was filled in.
    pub(super) filled_in: FilledIn,
}

impl ReadPlan {
    /// Reads a plan file, with the values of its inputs and the chosen host and mode.
    ///
    /// # Errors
    /// One of them was chosen, but the plan is not a command plan; or the plan is in the inbox and has no workspace. A file that cannot be read or parsed results in
    /// findings instead.
    pub(super) fn file(
        file: &Path,
        workspace: Option<&Path>,
        choices: &CommandChoices,
        (inputs, ask): (&Inputs, Ask),
    ) -> Result<Self, Refusal> {
        let settings = || policy().unwrap_or_default();
        let mut findings_before = Vec::new();
        // Without a home folder there is no inbox.
        let held = inbox_path().ok().and_then(|inbox| held(&inbox, file));
        let (workspace, read) = match held {
            Some(held) => {
                let refused = |it: Failure| Refusal::usage(it.message, &it.next);
                let workspace = held.workspace(workspace).map_err(refused)?;
                let read = read_unlinked(file, &workspace.folder, &settings);
                findings_before = held.notes();
                (workspace, read)
            }
            None => {
                let workspace = workspace_of(file, workspace);
                let read = read_plan_file(file, &workspace.folder, &settings);
                (workspace, read)
            }
        };
        let PlanFile { bytes, mut findings, .. } = match read {
            Ok(file) => file,
            Err(Unusable { findings, .. }) => {
                let digest = Digest::of(&[]);
                let parsed = Parsed { plan: Err(None), findings, digest };
                let filled_in = FilledIn::default();
                return Ok(Self { digest: None, parsed, workspace, filled_in });
            }
        };
        let mut read = Self::bytes(bytes, workspace, inputs, ask)?;
        findings.append(&mut findings_before);
        findings.append(&mut read.parsed.findings);
        read.parsed.findings = findings;
        if let Some(option) = choices.given() {
            let dialect = match &read.parsed.plan {
                Ok(plan) => Some(plan.dialect),
                Err(faulty) => faulty.as_ref().map(|plan| plan.dialect),
            };
            if dialect.is_some_and(|dialect| dialect != Dialect::CommandPlan) {
                return Err(Refusal::usage(
                    format!("{option} applies only to command plans"),
                    &format!(
                        "Omit {option}: only the commands of a command plan have a host and a mode."
                    ),
                ));
            }
            read.parsed = choices.choices().apply(read.parsed);
        }
        Ok(read)
    }

    /// Fills in and parses the bytes of a plan.
    ///
    /// # Errors
    /// As [`fill_in`].
    pub(super) fn bytes(
        bytes: Vec<u8>,
        workspace: WorkspaceChoice,
        inputs: &Inputs,
        ask: Ask,
    ) -> Result<Self, Refusal> {
        let (bytes, filled_in) = fill_in(bytes, inputs, ask)?;
        let parsed = parse(&bytes);
        let digest = (bytes.len() <= limits::PLAN_BYTES).then_some(parsed.digest);
        Ok(Self { digest, parsed, workspace, filled_in })
    }

    /// The workspace.
    pub(super) fn folder(&self) -> &Path {
        &self.workspace.folder
    }

    /// The plan, valid or faulty.
    ///
    /// # Errors
    /// The findings, if nothing can be shown as a plan.
    pub(super) fn into_plan(self) -> Result<ShownPlan, Vec<Finding>> {
        let findings = self.parsed.findings.clone();
        self.parsed.into_shown().ok_or(findings)
    }

    /// Reviews the plan with the recorded trust in workspace commands; `None` if the plan could not be parsed.
    ///
    /// # Errors
    /// The workspace cannot be opened; or the plan would run commands of the workspace, and the evidence
    /// cannot be read.
    pub(super) fn review(
        &self,
        policy: &mut Policy,
        folder: &EvidenceFolder,
    ) -> Result<Option<Review>, Refusal> {
        let evidence = evidence_location(folder).ok();
        let review =
            |plan: &Plan, policy: &Policy| review(plan, &self.workspace, policy, evidence.as_ref());
        let trust = || Ok(evidence_location(folder)?.open()?.trust()?);
        review_trusting(&self.parsed.plan, policy, review, trust)
    }

    /// Reviews the plan with this policy as it is; `None` if the plan could not be parsed.
    ///
    /// # Errors
    /// The workspace cannot be opened.
    pub(super) fn review_under(
        &self,
        policy: &Policy,
        location: &EvidenceLocation,
    ) -> Result<Option<Review>, Refusal> {
        let review = |plan: &Plan| review(plan, &self.workspace, policy, Some(location));
        Ok(review_read(&self.parsed.plan, review)?)
    }

    /// Reviews the plan without starting a process; `None` if the plan could not be parsed. Host and walls are not
    /// reviewed, so the result cannot be used to authorize the plan.
    ///
    /// # Errors
    /// The workspace cannot be opened.
    pub(super) fn review_without_processes(
        &self,
        policy: &Policy,
        evidence: Option<&EvidenceLocation>,
    ) -> Result<Option<Review>, Refusal> {
        let (workspace, stop) = (&self.workspace, Arc::default());
        let review = |plan: &Plan| review_until(plan, workspace, policy, evidence, false, &stop);
        Ok(review_read(&self.parsed.plan, review)?)
    }

    /// Adds the review and its findings.
    pub(super) fn with_review(mut self, review: Option<Review>) -> OpenedPlan {
        let mut findings = std::mem::take(&mut self.parsed.findings);
        findings.extend(review.iter().flat_map(|review| review.findings.iter().cloned()));
        let Self { digest, parsed, filled_in, .. } = self;
        OpenedPlan { digest, plan: parsed.into_shown(), findings, review, filled_in }
    }
}

/// A plan that was read once, with its review and all findings.
pub(super) struct OpenedPlan {
    /// The digest of its bytes; `None` if they could not be read completely.
    pub(super) digest: Option<Digest>,
    pub(super) plan: Option<ShownPlan>,
    /// The findings of the parser and of the review.
    pub(super) findings: Vec<Finding>,
    /// `None` if there was no plan to review.
    pub(super) review: Option<Review>,
    /// What was filled in.
    pub(super) filled_in: FilledIn,
}

impl OpenedPlan {
    /// Whether it may be authorized.
    pub(super) fn is_valid(&self) -> bool {
        self.plan.is_some() && is_valid(&self.findings)
    }
}
