//! The step runner (SPEC §2, §3): the only room that turns an approved plan into tool calls.
//!
//! The executor thread and the headless commands call it. It is synchronous, starts no thread of its own, does not
//! retry, and keeps no state of a run for the next one.
//!
//! # From approved bytes to a tool
//!
//! `Executor::execute` turns an `ApprovedPlan` into a private `Runnable`, and runs tools only with a `Runnable`.
//! `Runnable::new` parses the plan again from the approved bytes, so that nothing in memory can differ from what was
//! shown, and compares everything that the approval covers with the present state.
//!
//! A step that can change something commits its intent, with the contents that it is about to replace, before the
//! tool is called, and its outcome afterwards. A step that only reads has one commit, its outcome. When the evidence
//! cannot be written, the run stops before the effect.
//!
//! # History
//!
//! The tools do not depend on the evidence. The engine gives them a `HistorySource` (`history_source.rs`) when it opens
//! the workspace for a review, a preview or a run.
//!
//! # Workspace commands
//!
//! `countersign.toml` is an input of every step that would use it, even if it does not exist, so that an approval
//! covers it. Only the evidence records which versions of the file a person trusts, by digest. The executor reads
//! these digests before each run, and compares them with the bytes that are read when the step runs. So a step that
//! changes the file makes it untrusted.
//!
//! # Walls
//!
//! `walls.rs` combines three sources: the `needs` of the plan, the needs that a table (`assets/risk/needs.toml`) lists
//! for the programs of a command, and what the person grants (`authorization::Grants`). The result is one `StepWalls`
//! for each step that starts a process on this computer. File tools have none, because they check their paths
//! themselves. The list of walls is part of the `Binding`. Before a run, the walls are computed again from the grants
//! in the binding, the approved bytes and the present level, and compared with that list. So a weaker wall, a link
//! with another target or a changed table voids the approval, and the error names the difference. Grants are passed
//! in the `Policy`, like trust in workspace commands, and are not part of its digest.
//!
//! The table alone, without a grant, permits a command to write the repository, because `git add` is useless
//! otherwise. All other needs in the table are only proposed, because a command line does not prove what a program
//! does. A path is judged with its links resolved. It is refused if it is in a protected folder or contains one, so
//! that no grant of a parent folder covers the home folder or the program's own folders. The caches that the table
//! names may be granted although their folders are sensitive.
//!
//! Without walls, a person is asked before every step whose risk is at least caution. A flag can answer exactly that
//! question (`ConfirmationRequest::unwalled`) and no other: it states that the person accepts missing walls, not that
//! they have seen the step.

mod boot_clock;
mod callbacks;
mod capture;
mod chosen_lines;
mod clock;
mod commands;
mod compare_runs;
mod continuation;
mod control;
mod cut_off;
mod drift_check;
mod error;
mod executor;
mod executor_state;
mod fleet;
mod follow_up;
mod history_source;
mod host;
mod host_facts;
mod interrupted_plan;
mod journal;
mod judge_commands;
mod log_events;
mod made_earlier;
mod planner_walls;
mod preconditions;
mod previews;
mod projected;
mod revert;
mod review;
mod run;
mod runnable;
mod signing;
mod simulation;
mod step;
mod step_question;
mod walls;
mod workspace;

pub use crate::remote::fleet::are_of as are_fleet_files;
pub use crate::workspace::folder_id;
pub use callbacks::{
    AutoApprove, AutoDeny, ConfirmationCallback, ExecutorDeps, NoopProgress, ProgressCallback,
    Provenance,
};
pub use chosen_lines::{ChosenLines, ChosenStep, choose_lines};
pub use clock::{Clock, SystemClock};
pub use commands::{are_commands_of, workspace_commands};
pub use compare_runs::compare_runs;
pub use continuation::{FollowUpError, reconcile, recorded_plan};
pub use control::ControlHandle;
pub use cut_off::CutOff;
pub use error::ExecutionError;
pub use executor::Executor;
pub use executor_state::{ExecutorState, Waiting};
pub use follow_up::FollowUp;
pub use host_facts::HostFacts;
pub use journal::Journal;
pub use judge_commands::CommandJudge;
pub use planner_walls::planner_walls;
pub use previews::{PreviewBatch, PreviewPosition, preview_batch};
pub use review::{preview_step, review, review_read, review_trusting, review_until};
pub use signing::{NotRecorded, Signer, person};
pub use simulation::{Simulation, simulate_shown};
pub use step_question::step_question;
pub use walls::{check_grants, local_wall_level};
pub use workspace::{WorkspaceChoice, choose_workspace};
