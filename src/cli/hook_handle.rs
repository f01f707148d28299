//! Calls that cannot be run by a ticket: they are put into the inbox, and the agent is told so.

use std::path::PathBuf;

use super::opening::{inbox, policy};
use super::refusal::Refusal;
use crate::engine::{Clock as _, SystemClock};
use crate::hooks::{Agent, Answer, HookCall};
use crate::plan::Severity;
use crate::risk::RiskLevel;
use crate::worker::inbox::{InboxError, Proposal, list_inbox, propose as put, withdraw};

/// Puts the plan of a call into the inbox, unless it waits there already, and denies the call with its handle.
pub(super) fn propose(agent: Agent, call: &HookCall) -> Answer {
    let denied = match handle(agent, call) {
        Ok(id) => format!(
            "Countersign has not run the command: from the sandbox of {} it cannot be run for you. It waits as the plan \
             {id} in the inbox of Countersign. Tell your user so, and go on once they have run it there; the tool \
             plan_status of Countersign's MCP server says what became of it. Do not try to do the same in another way.",
            agent.name()
        ),
        Err(why) => {
            format!("Countersign: {why}. Do not try to do the same in another way; tell your user.")
        }
    };
    Answer::Deny(denied)
}

fn handle(agent: Agent, call: &HookCall) -> Result<String, String> {
    let sentences = |refusal: Refusal| refusal.sentences();
    let (policy, folder) = (policy().map_err(sentences)?, inbox().map_err(sentences)?);
    let proposal = Proposal {
        bytes: call.to_json(),
        name: "call".to_owned(),
        folder: None,
        workspace: PathBuf::from(&call.folder),
        from: agent.name().to_owned(),
        at_ms: SystemClock::default().now_ms(),
        asked_until_ms: None,
    };
    let before = list_inbox(&folder, &policy).map_err(|error| error.to_string())?;
    let handle = put(&folder, &proposal, &policy).map_err(|error| said(&error))?;
    if handle.plan.worst == Some(RiskLevel::Blocked) {
        withdraw(&folder, &handle.id);
        return Err("it never runs such a command, whoever authorizes it".to_owned());
    }
    // An agent that tries again adds nothing.
    let same = before.entries.iter().find(|entry| {
        entry.digest() == Some(handle.digest)
            && entry.workspace.as_ref() == Some(&handle.workspace)
            && entry.from.as_deref() == Some(agent.name())
            && entry.asked_until_ms.is_none()
    });
    match same {
        Some(entry) => {
            withdraw(&folder, &handle.id);
            Ok(entry.id.clone())
        }
        None => Ok(handle.id),
    }
}

fn said(error: &InboxError) -> String {
    let InboxError::NoPlan { findings, .. } = error else { return error.to_string() };
    let first = findings.iter().find(|it| it.severity == Severity::Error);
    let first = first.map_or("", |it| it.message.as_str());
    format!("the call cannot be shown as a plan: {first}")
}
