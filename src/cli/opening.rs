//! How a command opens a plan: where its evidence is, what the settings say, and a plan with its review.

use std::path::Path;

use super::args::{EvidenceFolder, Target};
use super::refusal::Refusal;
use crate::engine::{
    WorkspaceChoice, choose_workspace, review_alone, review_read, review_trusting, review_with,
};
use crate::evidence::EvidenceLocation;
use crate::plan::{Dialect, Digest, Finding, Parsed, Plan, ShownPlan, is_valid, limits, parse};
use crate::risk::Policy;
use crate::run::Review;
use crate::worker::{default_folders, load_policy, read_plan_file};

/// The evidence in the folder that was named, or in the user's own.
///
/// # Errors
/// A system that does not say where the user's folders are.
pub(super) fn evidence_location(named: &EvidenceFolder) -> Result<EvidenceLocation, Refusal> {
    let folders = default_folders().ok_or_else(|| {
        Refusal::usage(
            "the system does not say where your home folder is".to_owned(),
            "Set HOME and try again.",
        )
    })?;
    let own = folders.location();
    Ok(EvidenceLocation { evidence: named.evidence.clone().unwrap_or(own.evidence), ..own })
}

/// The policy of the settings file, which the window uses too.
///
/// # Errors
/// A settings file that cannot be used.
pub(super) fn policy() -> Result<Policy, Refusal> {
    let Some(folders) = default_folders() else { return Ok(Policy::default()) };
    load_policy(&folders.settings).map_err(|error| {
        Refusal::usage(error.to_string(), "Correct the settings file, or take it away.")
    })
}

/// A plan whose bytes were read once, and where it works.
pub(super) struct ReadPlan {
    /// The digest of its bytes; none when they could not be read as a whole.
    pub(super) digest: Option<Digest>,
    parsed: Parsed,
    workspace: WorkspaceChoice,
}

impl ReadPlan {
    /// Reads a plan file, with its commands on the target that was named, if one was.
    ///
    /// # Errors
    /// A target for a plan without commands. Everything about the file itself is a finding.
    pub(super) fn file(
        file: &Path,
        workspace: Option<&Path>,
        target: &Target,
    ) -> Result<Self, Refusal> {
        let home = default_folders().map(|folders| folders.home);
        let workspace = choose_workspace(file, workspace, home.as_deref());
        let bytes = match read_plan_file(file) {
            Ok(bytes) => bytes,
            Err(finding) => {
                let digest = Digest::of(&[]);
                let parsed = Parsed { plan: Err(None), findings: vec![finding], digest };
                return Ok(Self { digest: None, parsed, workspace });
            }
        };
        let mut read = Self::bytes(&bytes, workspace);
        if let Some(named) = target.named() {
            let dialect = match &read.parsed.plan {
                Ok(plan) => Some(plan.dialect),
                Err(faulty) => faulty.as_ref().map(|plan| plan.dialect),
            };
            if dialect.is_some_and(|dialect| dialect != Dialect::CommandPlan) {
                return Err(Refusal::usage(
                    "--target is for plans of commands".to_owned(),
                    "Leave it out: this plan works on files here.",
                ));
            }
            read.parsed = read.parsed.on_target(named.destination());
        }
        Ok(read)
    }

    /// Reads the bytes of a plan.
    pub(super) fn bytes(bytes: &[u8], workspace: WorkspaceChoice) -> Self {
        let parsed = parse(bytes);
        let digest = (bytes.len() <= limits::PLAN_BYTES).then_some(parsed.digest);
        Self { digest, parsed, workspace }
    }

    /// Reviews it under what is trusted; none where there is nothing to review.
    ///
    /// # Errors
    /// A workspace that cannot be opened; and where the plan would run commands of the workspace, evidence that
    /// cannot be read.
    pub(super) fn review(
        &self,
        policy: &mut Policy,
        folder: &EvidenceFolder,
    ) -> Result<Option<Review>, Refusal> {
        let evidence = evidence_location(folder).ok();
        let review = |plan: &Plan, policy: &Policy| {
            review_with(plan, &self.workspace, policy, evidence.as_ref())
        };
        let trust = || Ok(evidence_location(folder)?.open()?.trust()?);
        review_trusting(&self.parsed.plan, policy, review, trust)
    }

    /// Reviews it without starting a process (SPEC §11).
    ///
    /// # Errors
    /// A workspace that cannot be opened.
    pub(super) fn review_alone(
        &self,
        policy: &Policy,
        evidence: Option<&EvidenceLocation>,
    ) -> Result<Option<Review>, Refusal> {
        let review = |plan: &Plan| review_alone(plan, &self.workspace, policy, evidence);
        Ok(review_read(&self.parsed.plan, review)?)
    }

    /// The plan with this review.
    pub(super) fn with(mut self, review: Option<Review>) -> OpenedPlan {
        let mut findings = std::mem::take(&mut self.parsed.findings);
        findings.extend(review.iter().flat_map(|review| review.findings.iter().cloned()));
        OpenedPlan { digest: self.digest, plan: self.parsed.into_shown(), findings, review }
    }
}

/// A plan that was read once, and everything that is known about it.
pub(super) struct OpenedPlan {
    /// The digest of its bytes; none when they could not be read as a whole.
    pub(super) digest: Option<Digest>,
    pub(super) plan: Option<ShownPlan>,
    /// What the bytes, the workspace and the policy give to say.
    pub(super) findings: Vec<Finding>,
    /// None where there is no plan to review.
    pub(super) review: Option<Review>,
}

impl OpenedPlan {
    /// Whether it may be authorized.
    pub(super) fn is_valid(&self) -> bool {
        self.plan.is_some() && is_valid(&self.findings)
    }
}
