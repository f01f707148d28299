//! Opens plans for the window: reads a file, says where its plan would work, and reviews it there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::answers::OpenedPlan;
use super::desk::Reader;
use super::files::read_plan_file;
use super::folders::default_folders;
use super::kept::{self, Kind};
use super::messages::Reply;
use crate::authorization::Grants;
use crate::engine::{
    FollowUpError, WorkspaceChoice, cannot_be_reverted, changes_since, choose_workspace,
};
use crate::plan::{Code, Digest, Finding, parse};
use crate::run::RunSummary;

impl Reader {
    pub(super) fn open(&mut self, path: &Path, workspace: Option<&Path>, grants: Grants) -> Reply {
        self.setup.policy.grants = grants;
        let opened = |plan, digest, findings, review, continues| {
            let path = path.to_owned();
            Reply::Opened(Box::new(OpenedPlan { path, plan, digest, findings, review, continues }))
        };
        let bytes = match read_plan_file(path) {
            Ok(bytes) => bytes,
            Err(finding) => return opened(None, Digest::of(&[]), vec![finding], None, None),
        };
        let parsed = parse(&bytes);
        if parsed.plan == Err(None) {
            return opened(None, parsed.digest, parsed.findings, None, None);
        }
        let origin = match self.origin(path, &bytes) {
            Ok(origin) => origin,
            Err(error) => return Reply::Failed(error.failure()),
        };
        // What ran elsewhere than its file says runs again where it ran.
        let mut parsed = match &origin {
            Some((run, _)) => parsed.on_target(run.target.as_deref()),
            None => parsed,
        };
        let linked = |it: &&(RunSummary, Kind)| matches!(it.1, Kind::Rest | Kind::Revert);
        let continues = origin.as_ref().filter(linked).map(|it| it.0.run_id);
        let reverts = kept::origin(&self.setup.location.evidence, path)
            .filter(|it| it.1 == Kind::Revert && origin.is_some())
            .map(|it| it.0);
        let home: Option<PathBuf> = default_folders().map(|folders| folders.home);
        let choice = match (workspace, origin) {
            (None, Some((run, _))) => WorkspaceChoice {
                folder: run.workspace.into(),
                reason: "It is the workspace of the run that the plan comes from.".to_owned(),
            },
            _ => choose_workspace(path, workspace, home.as_deref()),
        };
        let reviewed = self.review(&parsed.plan, &choice);
        let mut findings = std::mem::take(&mut parsed.findings);
        let digest = parsed.digest;
        let plan = parsed.into_shown().map(Arc::new);
        match reviewed {
            Ok(review) => {
                findings.extend(review.iter().flat_map(|review| review.findings.iter().cloned()));
                let said = match reverts {
                    Some(id) => self
                        .evidence()
                        .map_err(Into::into)
                        .and_then(|evidence| cannot_be_reverted(evidence, id)),
                    None => self.changes_since(continues, &choice.folder),
                };
                match said {
                    Ok(changes) => findings.extend(changes),
                    Err(error) => return Reply::Failed(error.failure()),
                }
                opened(plan, digest, findings, review.map(Arc::new), continues)
            }
            Err(error) if error.code() == Code::Cancelled => Reply::Failed(error.failure()),
            Err(error) => {
                findings.push(Finding::error(error.code(), "", error.to_string()));
                opened(plan, digest, findings, None, continues)
            }
        }
    }

    /// The run that a kept plan was made of, when it still is exactly what is made of that run.
    fn origin(
        &mut self,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Option<(RunSummary, Kind)>, FollowUpError> {
        let Some((run_id, kind)) = kept::origin(&self.setup.location.evidence, path) else {
            return Ok(None);
        };
        let policy = self.setup.policy.clone();
        match kind.of(self.evidence()?, run_id, &policy) {
            Ok((run, made)) => Ok((made == bytes).then_some((run, kind))),
            Err(error @ FollowUpError::Evidence { .. }) => Err(error),
            // Of another evidence, or of a run that has nothing left: a file like any other.
            Err(_) => Ok(None),
        }
    }

    fn changes_since(
        &mut self,
        run_id: Option<Uuid>,
        workspace: &Path,
    ) -> Result<Vec<Finding>, FollowUpError> {
        let Some(run_id) = run_id else { return Ok(Vec::new()) };
        let policy = self.setup.policy.clone();
        changes_since(self.evidence()?, run_id, workspace, &policy)
    }
}
