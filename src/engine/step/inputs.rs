//! Compares the input files and the risk of a step with what was approved (SPEC §2).

use std::collections::BTreeMap;

use super::context::StepRun;
use crate::authorization::{Change, FileState};
use crate::engine::error::ExecutionError;
use crate::plan::COMMANDS_FILE;
use crate::risk::{RiskLevel, Verdict};

/// The state of a step's input files.
pub(super) enum Inputs {
    /// They are as approved, or as an earlier step of this run recorded them.
    AsApproved,
    /// Only commands of this run have changed these files since; a person must confirm them again.
    ChangedByRun(BTreeMap<String, FileState>),
    /// Something else has changed at least one of them.
    Stale(ExecutionError),
}

impl StepRun<'_, '_> {
    /// An error if the step is now blocked, or its risk is above the maximum of the authorization class under which
    /// the plan was authorized.
    pub(super) fn too_dangerous(&self, verdict: &Verdict) -> Option<ExecutionError> {
        let attempt = self.run.runnable.authorization.attempt.as_deref();
        let most = attempt.and_then(|attempt| attempt.max_risk).unwrap_or(RiskLevel::Dangerous);
        (verdict.level > most).then(|| {
            ExecutionError::stale(
                format!("the risk of step {}", self.step.step_id),
                format!("at most {}", most.as_str()),
                format!("{}: {}", verdict.level.as_str(), verdict.reason),
            )
        })
    }

    /// Compares the input files of this step with their expected states.
    pub(super) fn inputs(&self) -> Inputs {
        let Ok(inputs) = self.run.runnable.toolbox.inputs(&self.step.call) else {
            // The tool meets the same obstacle and reports it.
            return Inputs::AsApproved;
        };
        let changed: BTreeMap<String, FileState> = inputs
            .into_iter()
            .filter(|(path, now)| self.run.expected.get(path) != Some(now))
            .collect();
        // The verification of a loop was approved before its first attempt.
        let in_a_loop = self.run.runnable.authorization.attempt.is_some();
        let is_settled = in_a_loop && changed.contains_key(COMMANDS_FILE);
        if changed.is_empty() {
            Inputs::AsApproved
        } else if !is_settled
            && changed.iter().all(|(path, now)| self.run.changed.get(path) == Some(now))
        {
            Inputs::ChangedByRun(changed)
        } else {
            let changes = changed.into_iter().map(|(path, now)| Change {
                approved: match self.run.expected.get(&path) {
                    Some(approved) => approved.to_string(),
                    None => "not covered".to_owned(),
                },
                what: format!("file {path}"),
                now: now.to_string(),
            });
            Inputs::Stale(ExecutionError::Stale { changes: changes.collect() })
        }
    }

    /// The present state of each file that the approval covers.
    pub(super) fn covered_files(&self) -> BTreeMap<String, FileState> {
        let state = |path: &String| {
            let state = self.run.runnable.toolbox.digest_of(path).ok()?;
            Some((path.clone(), state))
        };
        self.run.expected.keys().filter_map(state).collect()
    }

    /// Notes which covered files changed while this step ran or was done by hand. A file that was different before
    /// the step was changed by something else, and stays stale.
    pub(super) fn note_changes(&mut self, before: &BTreeMap<String, FileState>) {
        for (path, then) in before {
            let now = self.run.runnable.toolbox.digest_of(path);
            let Some(now) = now.ok().filter(|now| now != then) else { continue };
            let known = [self.run.expected.get(path), self.run.changed.get(path)];
            if known.contains(&Some(then)) {
                self.run.changed.insert(path.clone(), now);
            }
        }
    }
}

/// The reason for a question about files that a command of this run has changed.
pub(super) fn why_again(changed: &BTreeMap<String, FileState>) -> String {
    let paths: Vec<&str> = changed.keys().map(String::as_str).collect();
    format!(
        "An earlier step of this run has changed files that your authorization covers: {}.",
        paths.join(", ")
    )
}
