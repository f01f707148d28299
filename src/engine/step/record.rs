//! Records a step: makes its result and commits its entry to the journal.

use super::super::ExecutionError;
use super::super::capture::excerpts;
use super::super::drift_check::artifacts;
use super::super::walls::grantable_path;
use super::StepRun;
use super::context::StepProgress;
use crate::evidence::{Entry, EvidenceError, ExecutionRecord};
use crate::plan::Code;
use crate::process::walls::WallReport;
use crate::risk::Verdict;
use crate::run::{Failure, Outcome, StepResult};

/// Notes about the walls of a step: refused network access, if the step succeeded anyway, and incomplete protection of
/// nested repositories.
fn wall_notes(outcome: Outcome, walls: &WallReport) -> Vec<String> {
    let mut notes = Vec::new();
    if outcome == Outcome::Succeeded && walls.refused > 0 {
        let times =
            if walls.refused == 1 { "once".to_owned() } else { format!("{} times", walls.refused) };
        notes.push(format!("Its walls blocked network access {times}; the step succeeded anyway."));
    }
    if walls.is_incomplete {
        notes.push(
            "Its walls may not have protected all settings and hooks of repositories in the workspace: there are too \
             many files, repositories or included settings to find and compare them all."
                .to_owned(),
        );
    }
    notes
}

impl StepRun<'_, '_> {
    /// Records the step. Returns its result, and the failure if there is an error.
    ///
    /// # Errors
    /// When the output or the entry cannot be stored; the run then keeps the result of a step whose tool was called.
    pub(super) fn record(
        self,
        verdict: &Verdict,
        progress: StepProgress,
        outcome: Outcome,
        error: Option<ExecutionError>,
    ) -> Result<(StepResult, Option<Failure>), EvidenceError> {
        let mut failure = error.as_ref().map(ExecutionError::failure);
        let refused = matches!(&error, Some(ExecutionError::Tool(error)) if error.is_refusal());
        let invoked = progress.invocation.is_some();
        let invocation = progress.invocation.unwrap_or_default();
        let [stdout, stderr] = excerpts(&self.step.tool_name, &invocation);
        let mut refused_write = None;
        if let Some(failure) = failure.as_mut().filter(|it| it.code == Code::CommandFailed)
            && let Some(path) = stderr
                .as_ref()
                .and_then(|stderr| invocation.walls.likely_refused_path(&stderr.text))
        {
            failure.next = format!(
                "Its walls may have blocked writing to {}. If the step may write there, grant it and authorize again. {}",
                path.display(),
                failure.next
            );
            refused_write = grantable_path(&self.run.runnable.toolbox, &path);
        }
        let result = StepResult {
            step_id: self.step.step_id.clone(),
            step_index: self.step.step_index,
            tool_name: self.step.tool_name.clone(),
            success: outcome == Outcome::Succeeded,
            outcome,
            execution_id: progress.execution_id,
            exit_code: invocation.exit_code,
            terminal: progress.had_terminal,
            stdout_bytes: stdout.as_ref().map_or(0, |stdout| stdout.bytes),
            stdout_truncated: stdout.as_ref().is_some_and(|stdout| stdout.truncated),
            stdout: stdout.map(|stdout| stdout.text),
            stderr_bytes: stderr.as_ref().map_or(0, |stderr| stderr.bytes),
            stderr_truncated: stderr.as_ref().is_some_and(|stderr| stderr.truncated),
            stderr: stderr.map(|stderr| stderr.text),
            error_message: failure.as_ref().map(|failure| failure.message.clone()),
            error_code: failure.as_ref().map(|failure| failure.code),
            next: failure.as_ref().map(|failure| failure.next.clone()),
            timestamp_ms: progress.timestamp_ms,
            duration_ms: progress.duration_ms,
            diagnostic_artifacts: invocation.diagnostics,
            needs: self.step.needs.clone(),
            walls: self.walls.cloned(),
            wall_notes: wall_notes(outcome, &invocation.walls),
            refused,
            refused_write,
            note: outcome.words_of(progress.decision.as_ref().map(|it| it.answer.note.as_str())),
        };
        let (captured, capture_error) = match progress.captured {
            Some(Err(error)) => (None, Some(error)),
            captured => (captured.and_then(Result::ok), None),
        };
        let artifacts =
            artifacts(progress.preview.as_ref(), &invocation.files, &invocation.simulated);
        let files = [invocation.files, invocation.side_effects].concat();
        let record = Entry::Execution(ExecutionRecord {
            result: &result,
            run_id: self.run.run_id,
            plan: &self.run.runnable.plan,
            step: self.step,
            risk: verdict,
            policy: self.run.runnable.authorization.binding.policy,
            host: self.run.runnable.plan.target.as_deref(),
            walls: self.walls,
            invoked,
            stdout: invocation.stdout.as_deref(),
            stderr: invocation.stderr.as_deref(),
            captured: captured.as_ref().filter(|_| invocation.captured.is_some()),
            result_json: &invocation.result,
            artifacts: &artifacts,
            files: &files,
            predicted: &progress.predicted,
            edges: &invocation.edges,
            decision: progress.decision.as_ref().filter(|_| !progress.decision_recorded),
        });
        let recorded = match capture_error {
            Some(error) => Err(error),
            None => self.run.journal.commit(&record),
        };
        if let Err(error) = recorded {
            self.run.not_recorded = invoked.then(|| Box::new(result));
            return Err(error);
        }
        Ok((result, failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_in_the_walls_is_always_noted() {
        let walls = WallReport { is_incomplete: true, ..WallReport::default() };
        for outcome in [Outcome::Succeeded, Outcome::Failed] {
            assert!(wall_notes(outcome, &walls)[0].contains("repositories in the workspace"));
            assert!(wall_notes(outcome, &WallReport::default()).is_empty());
        }
        let both = WallReport { refused: 2, ..walls };
        assert_eq!(wall_notes(Outcome::Succeeded, &both).len(), 2);
    }
}
