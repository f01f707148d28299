//! Where a command works: the user's folders, and a plan with its review.

use std::path::{Path, PathBuf};

use super::args::{EvidenceFolder, Target};
use super::refusal::Refusal;
use crate::engine::{
    EvidenceLocation, WorkspaceChoice, choose_workspace, review_alone, review_with,
};
use crate::evidence::UserFolders;
use crate::plan::{Dialect, Digest, Finding, Parsed, Plan, is_valid, limits, parse};
use crate::risk::Policy;
use crate::run::Review;
use crate::tools::ToolError;
use crate::worker::{default_folders, load_policy, read_plan_file};

/// The folders of the evidence and of the key that protects secrets in it.
pub(super) struct EvidencePlace {
    pub(super) evidence: PathBuf,
    pub(super) secrets: UserFolders,
}

impl EvidencePlace {
    /// The folder that was named, or the user's own.
    pub(super) fn find(named: &EvidenceFolder) -> Result<Self, Refusal> {
        let folders = default_folders().ok_or_else(|| {
            Refusal::usage(
                "the system does not say where your home folder is".to_owned(),
                "Set HOME and try again.",
            )
        })?;
        Ok(Self {
            secrets: folders.user(),
            evidence: named.evidence.clone().unwrap_or(folders.evidence),
        })
    }

    /// What a review may know of earlier runs; none where nobody knows where they are recorded.
    pub(super) fn records(named: &EvidenceFolder) -> Option<EvidenceLocation> {
        Self::find(named).ok().map(|place| place.as_records())
    }

    /// The same folders, for the engine.
    pub(super) fn as_records(&self) -> EvidenceLocation {
        EvidenceLocation { evidence: self.evidence.clone(), secrets: self.secrets.clone() }
    }
}

/// What the user has settled in advance, in the same file as for the window.
///
/// # Errors
/// Settings that are there and cannot be used.
pub(super) fn policy() -> Result<Policy, Refusal> {
    let Some(folders) = default_folders() else { return Ok(Policy::default()) };
    load_policy(&folders.settings).map_err(|error| {
        Refusal::usage(error.to_string(), "Correct the settings file, or take it away.")
    })
}

/// A plan file that was read once, and everything that is known about it.
pub(super) struct OpenedPlan {
    /// The digest of its bytes; none when it could not be read as a whole.
    pub(super) digest: Option<Digest>,
    pub(super) plan: Option<Plan>,
    /// What the bytes, the workspace and the policy give to say.
    pub(super) findings: Vec<Finding>,
    /// None where there is no plan to review.
    pub(super) review: Option<Review>,
}

/// How a plan is reviewed.
type Reviewer =
    fn(&Plan, &WorkspaceChoice, &Policy, Option<&EvidenceLocation>) -> Result<Review, ToolError>;

impl OpenedPlan {
    /// Reads and reviews a plan file, with its commands on the target that was named, if one was.
    ///
    /// # Errors
    /// A workspace that cannot be opened; a target for a plan without commands. Everything about the file itself is a finding.
    pub(super) fn open(
        file: &Path,
        workspace: Option<&Path>,
        policy: &Policy,
        target: &Target,
        records: Option<&EvidenceLocation>,
    ) -> Result<Self, Refusal> {
        Self::open_with(file, workspace, policy, target, (records, review_with))
    }

    /// As [`OpenedPlan::open`], without starting a process (SPEC §11).
    ///
    /// # Errors
    /// As [`OpenedPlan::open`].
    pub(super) fn open_alone(
        file: &Path,
        workspace: Option<&Path>,
        policy: &Policy,
        target: &Target,
        records: Option<&EvidenceLocation>,
    ) -> Result<Self, Refusal> {
        Self::open_with(file, workspace, policy, target, (records, review_alone))
    }

    fn open_with(
        file: &Path,
        workspace: Option<&Path>,
        policy: &Policy,
        target: &Target,
        light: (Option<&EvidenceLocation>, Reviewer),
    ) -> Result<Self, Refusal> {
        let bytes = match read_plan_file(file) {
            Ok(bytes) => bytes,
            Err(finding) => {
                return Ok(Self {
                    digest: None,
                    plan: None,
                    findings: vec![finding],
                    review: None,
                });
            }
        };
        let home = default_folders().map(|folders| folders.home);
        let mut parsed = parse(&bytes);
        if let Some(named) = target.named()
            && let Some(plan) = parsed.plan.take()
        {
            if plan.dialect != Dialect::CommandPlan {
                let message = "--target is for plans of commands".to_owned();
                return Err(Refusal::usage(
                    message,
                    "Leave it out: this plan works on files here.",
                ));
            }
            parsed.plan = Some(plan.on_target(named.destination()));
        }
        let choice = choose_workspace(file, workspace, home.as_deref());
        Self::reviewed(bytes.len(), parsed, &choice, policy, light)
    }

    /// Reads and reviews the bytes of a plan.
    ///
    /// # Errors
    /// A workspace that cannot be opened.
    pub(super) fn of(
        bytes: &[u8],
        workspace: &WorkspaceChoice,
        policy: &Policy,
        records: &EvidenceLocation,
    ) -> Result<Self, Refusal> {
        let light: (_, Reviewer) = (Some(records), review_with);
        Self::reviewed(bytes.len(), parse(bytes), workspace, policy, light)
    }

    fn reviewed(
        length: usize,
        parsed: Parsed,
        workspace: &WorkspaceChoice,
        policy: &Policy,
        (records, review): (Option<&EvidenceLocation>, Reviewer),
    ) -> Result<Self, Refusal> {
        let mut opened = Self {
            digest: (length <= limits::PLAN_BYTES).then_some(parsed.digest),
            plan: parsed.plan,
            findings: parsed.findings,
            review: None,
        };
        if let Some(plan) = &opened.plan {
            let review = review(plan, workspace, policy, records)?;
            opened.findings.extend(review.findings.iter().cloned());
            opened.review = Some(review);
        }
        Ok(opened)
    }

    /// Whether it may be authorized.
    pub(super) fn is_valid(&self) -> bool {
        self.plan.is_some() && is_valid(&self.findings)
    }
}
