//! Answers a [`Question`] of the window about the evidence (SPEC §8).

use std::time::Duration;

use super::error::Result;
use super::{EvidenceReader, HistoryLimits, Range};
use crate::run::{EvidenceAnswer, Judgement, MAX_ROWS, Playback, Question};

/// The maximum number of runs that are offered for a comparison.
const MAX_RUNS: usize = 500;

/// The maximum number of executions of a step whose durations are shown: the newest ones.
const MAX_DURATIONS: usize = 1_000;

/// What the history of a file in the window may cost.
const FILE_HISTORY: HistoryLimits = HistoryLimits {
    changes: Some(500),
    lines: Some(20_000),
    time: Some(Duration::from_millis(1_500)),
};

impl EvidenceReader {
    /// Answers a question, with at most [`MAX_ROWS`] rows. The command line can set another limit. Runs are compared by
    /// the engine, which parses their plans, and commands are judged by it; here these have no answer.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn answer(&mut self, question: &Question) -> Result<EvidenceAnswer> {
        let range = Range { limit: MAX_ROWS, ..Range::default() };
        Ok(match question {
            Question::WithCode(code) => EvidenceAnswer::Executions(self.q3(code, range)?),
            Question::Touched { kind, target } => {
                EvidenceAnswer::Touched(self.touched(*kind, target, range)?)
            }
            Question::Latest(file) => {
                EvidenceAnswer::Executions(self.q6(file)?.into_iter().collect())
            }
            Question::Rejected { words } => {
                EvidenceAnswer::Rejections(self.rejections(words, range)?)
            }
            Question::InterruptedRuns => EvidenceAnswer::Runs(self.interrupted_runs(range)?),
            Question::Recurring => EvidenceAnswer::Recurring(self.q7(2, range)?),
            Question::ChangesAfter { code, file } => {
                EvidenceAnswer::Changes(self.q8(code, file.as_deref(), range)?)
            }
            Question::Times(run_id) => {
                EvidenceAnswer::Times(self.waterfall(*run_id)?.map(Box::new))
            }
            Question::RunsToCompare(run_id) => {
                EvidenceAnswer::Runs(self.other_runs_of_plan(*run_id, MAX_RUNS)?)
            }
            Question::Compare { .. } => EvidenceAnswer::Compared(None),
            Question::Replay(run_id) => EvidenceAnswer::Replay(match self.waterfall(*run_id)? {
                Some(times) => {
                    let events = self.replay(*run_id)?;
                    Some(Box::new(Playback::new(times, &events)))
                }
                None => None,
            }),
            Question::JudgedAgain => EvidenceAnswer::Judged(Judgement::default()),
            Question::Durations(id) => {
                EvidenceAnswer::Durations(self.step_durations(*id, MAX_DURATIONS)?.map(Box::new))
            }
            Question::FileHistory { path, workspace } => EvidenceAnswer::FileHistory(
                self.file_history(path, Some(workspace), FILE_HISTORY)?,
            ),
        })
    }
}
