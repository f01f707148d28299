//! Actions on what waits: in the inbox for the person, and in the queue for the worker.

use std::path::PathBuf;

use uuid::Uuid;

use crate::authorization::RuleTime;
use crate::run::SessionKey;

/// An action on the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboxAction {
    /// Move the entry with this id into the folder `removed` of the inbox.
    Remove(String),
}

/// An action on the plans that wait for the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueAction {
    /// Move the plan with this file by so many places.
    Move(PathBuf, isize),
    /// Take the plan with this file out of the queue.
    Remove(PathBuf),
}

/// An action on the sessions of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsAction {
    /// Show this session: the call that waits, otherwise the last one.
    Open(SessionKey),
    /// Take this session off the list. Its rules end.
    Forget(SessionKey),
    /// Show the call with this number.
    Show(SessionKey, usize),
    /// Open the dialog about a rule for calls that are identical with the one with this number.
    OfferRule(SessionKey, usize),
    /// Choose how long the rule in the open dialog is to count.
    ChooseTime(RuleTime),
    /// End this rule.
    TakeBack(Uuid),
}
