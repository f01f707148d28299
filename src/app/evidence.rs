//! What the evidence page remembers.

use uuid::Uuid;

use crate::run::{Answered, ExecutionDetail, Question, SearchPage};
use crate::ui::evidence::Verification;

/// What the evidence page remembers.
#[derive(Debug, Default)]
pub(super) struct EvidenceSession {
    pub(super) text: String,
    pub(super) problems: Vec<String>,
    pub(super) page: Option<SearchPage>,
    /// The question whose answer stands in place of the search.
    pub(super) question: Option<Question>,
    pub(super) answer: Option<Answered>,
    pub(super) selected: Option<Uuid>,
    pub(super) detail: Option<ExecutionDetail>,
    pub(super) verification: Verification,
    pub(super) focus_search: bool,
    pub(super) scroll_to_selected: bool,
    /// When to search for what was typed, in Unix milliseconds.
    pub(super) search_at_ms: Option<i64>,
}

impl EvidenceSession {
    /// Goes back to the search.
    pub(super) fn close_answer(&mut self) {
        self.question = None;
        self.answer = None;
    }

    /// The executions that the page lists, in order.
    pub(super) fn listed(&self) -> Vec<Uuid> {
        match (&self.question, &self.answer, &self.page) {
            (Some(_), Some(answer), _) => {
                let row = |at| answer.execution(at).map(|row| row.execution_id);
                (0..answer.len()).filter_map(row).collect()
            }
            (None, _, Some(page)) => page.hits.iter().map(|hit| hit.row.execution_id).collect(),
            _ => Vec::new(),
        }
    }
}
