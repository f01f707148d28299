//! Actions on what waits: in the inbox for the person, and in the queue for the worker.

use std::path::PathBuf;

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
