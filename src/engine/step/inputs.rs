//! Compares the input files and the risk of a step with the approved ones (SPEC §2).

use std::collections::BTreeMap;

use super::StepRun;
use crate::authorization::{Change, FileState};
use crate::engine::ExecutionError;
use crate::plan::COMMANDS_FILE;
use crate::risk::Verdict;

/// The state of a step's input files.
pub(super) enum Inputs {
    /// They are as approved, or as an earlier step of this run recorded them.
    AsApproved,
    /// Only commands of this run, or a person in place of a step, have changed these files since; a person must confirm
    /// them.
    ChangedByRun(BTreeMap<String, FileState>),
    /// Something else has changed at least one of them.
    Stale(ExecutionError),
}

impl StepRun<'_, '_> {
    /// An error if the step is now blocked, or its risk is above the maximum of the authorization class or session
    /// rule under which the plan was authorized.
    pub(super) fn risk_error(&self, verdict: &Verdict) -> Option<ExecutionError> {
        let max_risk = self.run.runnable.authorization.max_risk();
        (verdict.level > max_risk).then(|| {
            ExecutionError::stale(
                format!("the risk of step {}", self.step.step_id),
                format!("at most {}", max_risk.as_str()),
                format!("{}: {}", verdict.level.as_str(), verdict.reason),
            )
        })
    }

    /// Compares the input files of this step with their expected states.
    pub(super) fn inputs(&self) -> Inputs {
        let Ok(inputs) = self.run.runnable.toolbox.inputs(&self.step.call) else {
            // The tool fails with the same error and reports it.
            return Inputs::AsApproved;
        };
        let changed: BTreeMap<String, FileState> = inputs
            .into_iter()
            .filter(|(path, now)| self.run.expected.get(path) != Some(now))
            .collect();
        // In a loop, a change of the workspace's commands cannot be confirmed: they verify its attempts, and were
        // approved before the first one.
        let is_in_loop = self.run.runnable.authorization.attempt.is_some();
        let is_fixed = is_in_loop && changed.contains_key(COMMANDS_FILE);
        if changed.is_empty() {
            Inputs::AsApproved
        } else if !is_fixed
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

    /// The present state of each file with an expected state. Files that cannot be read are omitted.
    pub(super) fn covered_files(&self) -> BTreeMap<String, FileState> {
        let state = |path: &String| {
            let state = self.run.runnable.toolbox.digest_of(path).ok()?;
            Some((path.clone(), state))
        };
        self.run.expected.keys().filter_map(state).collect()
    }

    /// Notes which covered files changed while this step ran or was done by hand; `before` are the states before it. A
    /// file whose state was unexpected even before was changed by something else, and stays stale.
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

/// The reason to ask about files that an earlier step of this run has changed.
pub(super) fn changed_files_reason(changed: &BTreeMap<String, FileState>) -> String {
    let paths: Vec<&str> = changed.keys().map(String::as_str).collect();
    format!(
        "An earlier step of this run has changed files that your authorization covers: {}.",
        paths.join(", ")
    )
}
