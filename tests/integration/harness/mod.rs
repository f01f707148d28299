//! Helpers of the tests: the executor in this process ([`Harness`]), the command line ([`home::Home`]), and
//! the servers, programs and projects around them. Helpers that several groups of tests use belong here;
//! tests do not.

#[cfg(target_os = "linux")]
pub mod agents;
pub mod cargo_project;
mod clock;
mod files;
#[cfg(target_os = "linux")]
pub mod fleet;
pub mod home;
mod in_process;
#[cfg(target_os = "linux")]
pub mod magellan;
mod plans;
#[cfg(target_os = "linux")]
pub mod postgres;
pub mod registry;
#[cfg(target_os = "linux")]
pub mod remote_session;
pub mod schemas;
#[cfg(unix)]
pub mod scripted_planner;
#[cfg(target_os = "linux")]
pub mod sshd;
mod tools;
#[cfg(unix)]
pub mod unprivileged;

pub use clock::{FakeClock, NOW_MS};
#[cfg(unix)]
pub use files::set_mode;
pub use files::{files_below, tree};
pub use in_process::{FinishedRun, Harness};
pub use plans::{
    action_plan, actions, and, asking, batch, command, create_file, plan, read, read_file, redo,
    restore, step, undo, undo_of, write_file,
};
pub use tools::invoke;
