//! The executor thread and the query thread.
//!
//! The window uses both through bounded channels and never blocks on them. [`Worker`] is the handle of the executor
//! thread. [`QueryThread`] opens, reviews and previews plans, records decisions, and reads the evidence, so that no
//! query waits for a running step. This room uses no egui type; the window passes a [`Wake`].
//!
//! # Threads
//!
//! The window's thread never blocks. The executor thread runs plans and loops; a stop is a flag that the executor and
//! the tools poll, and it ends any wait of the thread. The query thread has its own database connections. It also
//! records decisions about plans (one transaction each), because the executor thread may be busy with another plan.
//! Each query is a type with an answer type (`query_thread.rs`) and is sent with a closure that takes the answer on
//! the window's thread, so that answers cannot be mixed up. A query that may take a minute has its own thread.
//!
//! The inbox has a thread that lists it after each change (`inbox/watch.rs`); the window gets the newest list.
//!
//! Each file dialog has a short-lived thread, and so has the preparation (parsing, indexing, sorting) of an artifact's
//! complete content. The views compute only what depends on the window's width or on typed text, for at most a
//! megabyte per frame.
//!
//! The queue of events for the window keeps the newest 2 MiB of output (`outbox.rs`). Older output is dropped and
//! replaced by its size. Each frame takes up to about 64 KiB.
//!
//! # Panics
//!
//! Both threads catch panics around each command or query and drop its state; then they take the next one. A panic in
//! a command interrupts its run. A panic of any view is caught around the drawing of the window: the actions of that
//! frame are dropped, and a message replaces the page. `COUNTERSIGN_FAULTS` plants panics for tests, only in builds
//! with the feature `inspection`.

pub mod acp;
mod answer_slots;
mod bounded_loop;
mod bug_report;
pub mod calls;
mod contents;
mod desktop;
mod editor;
mod evidence_queries;
mod executor_thread;
mod export;
mod faults;
mod files;
mod folders;
mod follow_up_plans;
pub mod inbox;
mod log_level;
mod loop_folders;
mod messages;
mod model;
mod notification;
mod opening;
mod outbox;
mod planner_stderr;
mod policy;
mod proposed_plans;
mod query_thread;
mod record_decisions;
mod retention;
mod review_requests;
mod revise_plan;
mod revisions;
mod save_rules;
mod save_settings;
mod secrets;
pub mod settings_file;
mod signature_settings;
mod suggestion_plans;
mod surroundings;
mod target;
mod team;
mod this_computer;

#[cfg(test)]
mod tests;

pub use crate::autonomy::{LoopOrder, PlanDecision, UnsignedEnd};
pub use crate::engine::{
    ChosenLines, Clock, CommandJudge, FollowUp, PreviewBatch, PreviewPosition, Simulation,
    SystemClock, WorkspaceChoice,
};
pub use bug_report::{BugReport, MakeBugReport, bug_report};
pub use contents::{Content, ReadContent, Save, SaveSource};
pub use desktop::{DesktopLook, ReadDesktopLook};
pub use editor::{EditorCommand, EditorLocation, OpenEditor, OpenSettingsFile, split_words};
pub use evidence_queries::{
    CountHits, CountTimes, IndexRecords, JudgeCommands, ListLoops, ListRuns, ReadExecution,
    ReadLoopAgain, ReadRunAgain, Reconcile, ReplayLoop, ReplayRun, ReplayedLoop, ReplayedRun,
    Search, Verify,
};
pub use executor_thread::Worker;
pub use export::{Export, ExportDone, ExportProgress};
pub use faults::Faults;
pub use files::{
    ChangedFiles, PlanFile, ReadSource, Unusable, read_file_bytes, read_plan_file, read_unlinked,
};
pub use folders::{Folders, default_folders, is_project, workspace_of};
pub use log_level::{load_log_level, log_level_of};
pub use loop_folders::ReviewLoopFolders;
pub use messages::{Command, Event, PlanProposal, Setup, Wake};
pub use model::{ModelSettings, load_model};
pub use notification::{Notification, Notifier};
pub use opening::{
    OpenFollowUp, OpenPlan, OpenQueued, OpenedPlan, PreviewStep, PreviewSteps, ReviewPlan, Simulate,
};
pub use policy::{PolicySettings, SETTINGS, SettingsError, load_inbox, load_policy, read_policy};
pub use proposed_plans::OpenProposed;
pub use query_thread::{Continuation, PlanRead, Query, QueryContext, QueryError, QueryThread};
pub use record_decisions::{
    RecordAuthorization, RecordTrust, RememberWalls, RevokeClass, SignAuthorization,
};
pub use retention::{PreviewPurge, PurgeRecords, PurgedRecords};
pub use review_requests::{
    AnswerRequest, GivenSignature, MakeRequest, OpenedRequest, answers_in, read_request,
    review_request,
};
pub use revise_plan::{ReadArgument, RevisePlan, RevisedPlan, RevisionBase, RevisionEdit};
pub use revisions::{BaseState, Revised};
pub use save_rules::{RuleChange, SaveRules, SavedRules};
pub use save_settings::{SaveSettings, UpdateSetting};
pub use signature_settings::SignatureSettings;
pub use suggestion_plans::PlanSuggestions;
pub use target::CheckTarget;
pub use team::{
    ReadTeamContent, ReadTeamExecution, SearchTeam, TeamHit, TeamPage, TeamPlace, TeamQuery,
    TeamServer, load_team, team_of,
};
pub use this_computer::{ComputerFacts, DescribeComputer};
