//! The thread that executes and the thread that answers queries.
//!
//! The window talks to both through bounded channels and never waits. [`Worker`] owns the executor;
//! [`QueryThread`] opens, reviews and previews plans, records decisions, and reads the evidence, so that
//! no query waits for a running step. Absent on purpose: any egui type; the window hands in a [`Wake`].

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
mod target;

#[cfg(test)]
mod tests;

pub use crate::autonomy::{Authorization, LoopOutcome, VerifyChoice};
pub use crate::engine::{Clock, Simulation, SystemClock};
pub use contents::{Content, ReadContent, Save, ToSave};
pub use editor::{EditorCommand, EditorPlace, OpenEditor};
pub use evidence_queries::{
    ListLoops, ListRuns, LoopReplayed, ReadExecution, Reconcile, ReplayLoop, ReplayRun, Replayed,
    Search, Verify,
};
pub use executor_thread::{Worker, panic_message};
pub use faults::Faults;
pub use files::{KeepFile, ReadSource, keep_file, read_plan_file};
pub use folders::{Folders, default_folders};
pub use follow_up_plans::FollowUp;
pub use loop_place::ReviewPlace;
pub use messages::{Command, Event, LoopOrder, PlanProposal, Setup, Wake};
pub use model::{ModelSettings, load_model};
pub use opening::{OpenFollowUp, OpenPlan, OpenedPlan, PreviewStep, Simulate};
pub use policy::{PolicySettings, SettingsError, load_policy, read_policy};
pub use query_thread::{Continuation, PlanRead, Query, QueryContext, QueryError, QueryThread};
pub use record_decisions::{RecordAuthorization, RecordTrust, RememberWalls, RevokeClass};
pub use target::CheckTarget;
