//! The thread that executes and the thread that answers queries.
//!
//! The window uses both through bounded channels and never blocks on them. [`Worker`] owns the executor.
//! [`QueryThread`] opens, reviews and previews plans, records decisions, and reads the evidence, so that no query
//! waits for a running step. This room uses no egui type; the window passes a [`Wake`].
//!
//! # Threads
//!
//! The window's thread never blocks. The executor thread runs plans; a stop is a flag that the executor and the tools
//! poll, and it ends whatever the thread waits for. The query thread uses its own connections. It also records
//! decisions about plans (one transaction each), because the executor thread may be busy with another plan. Each
//! query is a type with an answer type (`query_thread.rs`) and is sent with a closure that takes the answer on the
//! window's thread, so that answers cannot be mixed up. Each file dialog has a short-lived thread. Such a thread also
//! parses, indexes and sorts the content of an artifact that was read whole. What depends on the window's width or on
//! typed text is computed by the views, at most a megabyte per frame.
//!
//! Of the output that the window has not taken yet, the newest 2 MiB are kept (`outbox.rs`). A frame takes 64 KiB of
//! it. Dropped output is replaced by its size.
//!
//! # Panics
//!
//! Both threads catch panics around each command or query and drop its state, which interrupts a run; then they take
//! the next one. A panic of a view is caught around the whole window: the clicks of that frame are dropped, and the
//! rest of the window shows the panic. `COUNTERSIGN_FAULTS` plants panics for tests, only in builds with the feature
//! `inspection`.

mod bounded_loop;
mod contents;
mod editor;
mod evidence_queries;
mod executor_thread;
mod faults;
mod files;
mod folders;
mod follow_up_plans;
mod loop_place;
mod messages;
mod model;
mod opening;
mod outbox;
mod planner_stderr;
mod policy;
mod prompt;
mod query_thread;
mod record_decisions;
mod save_settings;
mod target;

#[cfg(test)]
mod tests;

pub use crate::autonomy::{LoopOrder, PlanDecision};
pub use crate::engine::{Clock, FollowUp, Simulation, SystemClock, WorkspaceChoice};
pub use contents::{Content, ReadContent, Save, ToSave};
pub use editor::{EditorCommand, EditorPlace, OpenEditor};
pub use evidence_queries::{
    ListLoops, ListRuns, LoopReplayed, ReadExecution, Reconcile, ReplayLoop, ReplayRun, Replayed,
    Search, Verify,
};
pub use executor_thread::Worker;
pub use faults::Faults;
pub use files::{ReadSource, read_plan_file};
pub use folders::{Folders, default_folders, workspace_of};
pub use loop_place::ReviewPlace;
pub use messages::{Command, Event, PlanProposal, Setup, Wake};
pub use model::{ModelSettings, load_model};
pub use opening::{OpenFollowUp, OpenPlan, OpenedPlan, PreviewStep, Simulate};
pub use policy::{PolicySettings, SettingsError, load_policy, read_policy};
pub use query_thread::{Continuation, PlanRead, Query, QueryContext, QueryError, QueryThread};
pub use record_decisions::{RecordAuthorization, RecordTrust, RememberWalls, RevokeClass};
pub use save_settings::SaveSettings;
pub use target::CheckTarget;
