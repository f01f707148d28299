//! The step runner (SPEC §2, §3): the only room that turns an approved plan into tool calls.
//!
//! Used by the worker's thread and by the headless commands. Plain synchronous code without a thread
//! of its own, without retries, and without any memory between runs.

mod boot_clock;
mod callbacks;
mod capture;
mod clock;
mod commands;
mod continuation;
mod control;
mod drift_check;
mod error;
mod executor;
mod executor_state;
mod history_source;
mod host;
mod interrupted_plan;
mod journal;
mod preconditions;
mod projected;
mod revert;
mod review;
mod run;
mod runnable;
mod simulation;
mod step;
mod walls;
mod workspace;

pub use callbacks::{
    AutoApprove, AutoDeny, ConfirmationCallback, ExecutorDeps, NoopProgress, ProgressCallback,
    Provenance,
};
pub use clock::{Clock, SystemClock};
pub use commands::workspace_commands;
pub use continuation::{FollowUpError, changes_since, plan_of, reconcile, rest_of, rollback_of};
pub use control::ControlHandle;
pub use error::ExecutionError;
pub use executor::Executor;
pub use executor_state::ExecutorState;
pub use interrupted_plan::settlement_of;
pub use journal::Journal;
pub use revert::{cannot_be_reverted, revert_of};
pub use review::{
    preview_step, review, review_alone, review_read, review_trusting, review_until, review_with,
    simulate_shown,
};
pub use simulation::{Simulation, simulate, simulate_until};
pub use walls::{check_grants, planner_walls, walls_here};
pub use workspace::{WorkspaceChoice, choose_workspace};
