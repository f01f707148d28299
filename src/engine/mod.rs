//! The step runner (SPEC §2, §3): the only room that turns an approved plan into tool calls.
//!
//! Used by the worker's thread and by the headless commands. Plain synchronous code without a thread
//! of its own, without retries, and without any memory between runs.
//!
//! # From approved bytes to a tool
//!
//! `Executor::execute` makes a private `Runnable` from an `ApprovedPlan`, the only way to a tool. It parses the plan
//! again from the approved bytes, so that nothing in memory can differ from what was shown, and compares everything
//! that the approval covers with the present state.
//!
//! A step that can change something commits its intent, with the contents that it is about to replace, before the
//! tool is called, and its outcome afterwards. A step that only reads has one commit, its outcome. When the evidence
//! cannot be written, the run stops before the effect.
//!
//! # History
//!
//! The tools may not know the evidence, so the engine gives them a `Past` (`history_source.rs`) when it opens the
//! workspace for a review, a preview or a run.
//!
//! # Workspace commands
//!
//! `countersign.toml` is an input of every step that would use it, also while it does not exist, so that an approval
//! covers it. Only the evidence records whether a person trusts it; the executor asks before each run, and compares
//! with the bytes that are read when the step runs. A step that writes the file makes it untrusted.
//!
//! # Walls
//!
//! Three sources meet in `walls.rs`: what the plan asks for (`needs`), what the table knows of the programs of a
//! command, and what the person grants (`authorization::Grants`). They give one `StepWalls` for each step that
//! starts a process on this computer. File tools have none, because they stay inside the roots by themselves. The
//! list is part of the `Binding`. The executor computes it again from the grants in the binding, the approved bytes
//! and the present level, and compares. So a weaker wall, a link that leads elsewhere or a changed table voids the
//! approval and is named. Grants travel in the `Policy`, as trust in workspace commands does, and are no part of its
//! digest.
//!
//! Only the table decides, without a grant, that a command may write the repository: nobody would sign a `git add`
//! that cannot. Everything else that the table knows is only proposed, because a readable command line does not
//! prove what a program does. A path is judged where it leads, without links. What is in it counts as much as what
//! it is in, so that no grant reaches the home folder or an own folder from above. The caches that the table names
//! may be granted although their folders are sensitive.
//!
//! Without walls, what calls for caution asks. A flag may answer exactly that question
//! (`ConfirmationRequest::unwalled`) and no other: it states that the person knows there are no walls, not that they
//! looked at the step.

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
mod follow_up;
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
pub use continuation::{FollowUpError, reconcile, recorded_plan};
pub use control::ControlHandle;
pub use error::ExecutionError;
pub use executor::Executor;
pub use follow_up::FollowUp;
pub use journal::Journal;
pub use review::{
    preview_step, review, review_read, review_trusting, review_until, simulate_shown,
};
pub use simulation::Simulation;
pub use walls::{check_grants, planner_walls, walls_here};
pub use workspace::{WorkspaceChoice, choose_workspace};
