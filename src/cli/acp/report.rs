//! What an agent asked for and what became of it, for people and as JSON.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::output::{Output, quoted_in_line};
use crate::plan::{Digest, quoted};
use crate::worker::acp::{SessionEnd, StopReason};

/// The maximum number of bytes of the agent's words in the document.
const WORDS_BYTES: usize = 1 << 20;
/// The maximum number of requests that are listed.
const MAX_REQUESTS: usize = 10_000;

/// What became of something that an agent asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// It was approved, and the agent has not sent the file.
    Approved,
    /// The file was written here.
    Written,
    /// The agent may run the command itself.
    Permitted,
    /// It was rejected.
    Rejected,
    /// It could not be approved.
    NotApprovable,
    /// A file that the agent sent was refused: nobody has approved this text.
    Refused,
    /// The file was approved and could not be written.
    Failed,
    /// The agent had gone before it was decided about.
    Left,
}

/// Something that an agent asked for.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Request {
    /// The number of the question; `None` if nobody was asked.
    pub(super) number: Option<u64>,
    /// What the agent calls it.
    pub(super) title: String,
    /// The file; `None` if it is about something else, or about a file that is none of the workspace.
    pub(super) path: Option<String>,
    /// The command that it is about; `None` if it is about none, or cannot be shown.
    pub(super) command: Option<String>,
    pub(super) outcome: Outcome,
    /// Why; may be empty.
    pub(super) reason: String,
    pub(super) plan_digest: Option<Digest>,
    pub(super) run_id: Option<Uuid>,
}

/// What is known of a session.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) agent: String,
    pub(super) version: String,
    pub(super) session: Option<String>,
    pub(super) limits: String,
    pub(super) requests: Vec<Request>,
    words: String,
    left_out: usize,
}

impl Report {
    /// Adds words of the agent.
    pub(super) fn hear(&mut self, words: &str) {
        let room = WORDS_BYTES.saturating_sub(self.words.len());
        let end = words.floor_char_boundary(room.min(words.len()));
        self.words.push_str(words.get(..end).unwrap_or_default());
        self.left_out += words.len() - end;
    }

    pub(super) fn add(&mut self, request: Request) {
        if self.requests.len() < MAX_REQUESTS {
            self.requests.push(request);
        }
    }

    /// Sets what became of the request with this number.
    pub(super) fn set(&mut self, number: u64, change: impl FnOnce(&mut Request)) {
        let mut requests = self.requests.iter_mut().rev();
        if let Some(request) = requests.find(|it| it.number == Some(number)) {
            change(request);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.requests.iter().any(|it| it.outcome == Outcome::Failed)
    }

    pub(super) fn has_rejected(&self) -> bool {
        let is_rejected = |it: &Request| {
            matches!(it.outcome, Outcome::Rejected | Outcome::NotApprovable | Outcome::Refused)
        };
        self.requests.iter().any(is_rejected)
    }

    pub(super) fn document(&self, end: &SessionEnd) -> Value {
        let reason = end.reason.as_ref().map(|reason| match reason {
            StopReason::EndTurn => "end_turn",
            StopReason::Cancelled => "cancelled",
            StopReason::Other(word) => word,
        });
        json!({
            "agent": self.agent,
            "agent_version": self.version,
            "session": self.session,
            "limits": self.limits,
            "stop_reason": reason,
            "stopped": end.stopped,
            "failure": end.fault,
            "requests": self.requests,
            "words": self.words,
            "words_left_out": self.left_out,
        })
    }

    /// Prints what the agent asked for.
    pub(super) fn print(&self, out: &mut Output) {
        for request in &self.requests {
            let outcome = match request.outcome {
                Outcome::Approved => "approved, not sent",
                Outcome::Written => "written",
                Outcome::Permitted => "permitted, run by the agent",
                Outcome::Rejected => "rejected",
                Outcome::NotApprovable => "rejected, because it cannot be approved",
                Outcome::Refused => "refused",
                Outcome::Failed => "failed",
                Outcome::Left => "not decided",
            };
            let run = request.run_id.map_or_else(String::new, |run| format!(", run {run}"));
            let why = match request.reason.as_str() {
                "" => String::new(),
                why => format!(": {why}"),
            };
            // A title may say anything, so what it is about comes first.
            let what = match request.path.as_ref().or(request.command.as_ref()) {
                Some(about) => format!("{about} ({})", request.title),
                None => request.title.clone(),
            };
            out.line(&format!("{outcome}: {}{run}{}", quoted(&what), quoted_in_line(&why)));
        }
    }
}
