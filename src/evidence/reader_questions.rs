//! The questions Q1 to Q8 to the reader (SPEC §8).

use uuid::Uuid;

use super::error::Result;
use super::queries::{self, Range};
use super::reader::EvidenceReader;
use super::{diagnostics, summary};
use crate::run::{
    Answered, EvidenceSummary, ExecutionDetail, ExecutionRow, FileExecution, Focus, LaterMutation,
    MOST_ROWS, Question, RecurringDiagnostic, TargetKind,
};

impl EvidenceReader {
    /// Q5: one execution, or one intent without execution, in full.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn execution(&mut self, id: Uuid) -> Result<Option<ExecutionDetail>> {
        self.ask(|source| queries::execution(source, id))
    }

    /// Q1: executions of a tool, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q1(&mut self, tool: &str, range: Range) -> Result<Vec<ExecutionRow>> {
        self.ask(|source| queries::q1(source, tool, range))
    }

    /// Q2: failed and precondition-failed executions of a tool, time descending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q2(&mut self, tool: &str, range: Range) -> Result<Vec<ExecutionRow>> {
        self.ask(|source| queries::q2(source, tool, range))
    }

    /// Q3: executions with a diagnostic of this code, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q3(&mut self, code: &str, range: Range) -> Result<Vec<ExecutionRow>> {
        self.ask(|source| diagnostics::q3(source, code, range))
    }

    /// Q4: executions whose tool was called and that touched this file, time ascending.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q4(&mut self, file: &str, range: Range) -> Result<Vec<FileExecution>> {
        self.ask(|source| queries::q4(source, TargetKind::File, file, range))
    }

    /// Q6: the latest execution that worked on this file or changed it.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q6(&mut self, file: &str) -> Result<Option<ExecutionRow>> {
        self.ask(|source| queries::q6(source, file))
    }

    /// Q7: diagnostics that were seen at least `threshold` times, most frequent first.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q7(&mut self, threshold: u64, range: Range) -> Result<Vec<RecurringDiagnostic>> {
        self.ask(|source| diagnostics::q7(source, threshold, range))
    }

    /// Q8: changes of a file that occurred after a diagnostic in it, time ascending. Whether they have
    /// anything to do with it, nobody can say from here.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn q8(
        &mut self,
        code: &str,
        file: Option<&str>,
        range: Range,
    ) -> Result<Vec<LaterMutation>> {
        self.ask(|source| diagnostics::q8(source, code, file, range))
    }

    /// What Q1 to Q8 say of one workspace, a few rows of each.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn summary(&mut self, workspace: &str, focus: &Focus) -> Result<EvidenceSummary> {
        self.ask(|source| summary::of(source, workspace, focus))
    }

    /// The question of a page, answered by Q3, Q4, Q6, Q7 or Q8. What is shown has a limit; who asks
    /// for more asks headless.
    ///
    /// # Errors
    /// As for [`runs`](Self::runs).
    pub fn answer(&mut self, question: &Question) -> Result<Answered> {
        let range = Range { limit: MOST_ROWS, ..Range::default() };
        Ok(match question {
            Question::WithCode(code) => Answered::Executions(self.q3(code, range)?),
            Question::Touched { kind, target } => {
                Answered::Touched(self.ask(|source| queries::q4(source, *kind, target, range))?)
            }
            Question::Latest(file) => Answered::Executions(self.q6(file)?.into_iter().collect()),
            Question::Recurring => Answered::Recurring(self.q7(2, range)?),
            Question::ChangesAfter { code, file } => {
                Answered::Changes(self.q8(code, file.as_deref(), range)?)
            }
        })
    }
}
