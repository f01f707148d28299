//! Answers a [`Question`] of the window about the evidence (SPEC §8).

use super::error::Result;
use super::{EvidenceReader, Range};
use crate::run::{EvidenceAnswer, MAX_ROWS, Question};

impl EvidenceReader {
    /// Answers a question by Q3, Q4, Q6, Q7, Q8 or the rejections of plans, with at most [`MAX_ROWS`] rows. The command line can set another
    /// limit.
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
        })
    }
}
