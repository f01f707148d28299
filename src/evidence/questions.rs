//! Answers a [`Question`] of the window about the evidence (SPEC §8).

use super::error::Result;
use super::range::Range;
use super::reader::EvidenceReader;
use crate::run::{Answered, MOST_ROWS, Question};

impl EvidenceReader {
    /// Answers a question by Q3, Q4, Q6, Q7 or Q8, with at most [`MOST_ROWS`] rows. The command line can set another
    /// limit.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn answer(&mut self, question: &Question) -> Result<Answered> {
        let range = Range { limit: MOST_ROWS, ..Range::default() };
        Ok(match question {
            Question::WithCode(code) => Answered::Executions(self.q3(code, range)?),
            Question::Touched { kind, target } => {
                Answered::Touched(self.touched(*kind, target, range)?)
            }
            Question::Latest(file) => Answered::Executions(self.q6(file)?.into_iter().collect()),
            Question::Recurring => Answered::Recurring(self.q7(2, range)?),
            Question::ChangesAfter { code, file } => {
                Answered::Changes(self.q8(code, file.as_deref(), range)?)
            }
        })
    }
}
