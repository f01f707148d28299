//! The one thread that executes, and the reader beside it (DESIGN "Threads and channels").
//!
//! The window talks to both through bounded channels and never waits. [`Worker`] owns the executor;
//! [`Desk`] opens, reviews and previews plans, records answers, and reads the evidence, so that
//! neither ever waits for a running step. Absent on purpose: any egui type; the window hands in a
//! [`Wake`].

mod answers;
mod contents;
mod desk;
mod editor;
mod executing;
mod faults;
mod files;
mod folders;
mod kept;
mod looping;
mod messages;
mod model;
mod opening;
mod outbox;
mod place;
mod policy;
mod printed;
mod prompt;
mod target;
mod trusting;

#[cfg(test)]
mod tests;

pub use crate::autonomy::{Authorization, LoopOutcome, VerifyChoice};
pub use crate::engine::{Clock, Simulation, SystemClock};
pub use answers::{Content, LoopReplayed, OpenedPlan, Replayed, ToSave};
pub use desk::Desk;
pub use editor::{EditorCommand, EditorPlace};
pub use executing::{Worker, panic_message};
pub use faults::Faults;
pub use files::{keep_file, read_plan_file};
pub use folders::{Folders, default_folders};
pub use messages::{Command, Event, LoopOrder, Proposed, Reply, Request, Setup, Ticket, Wake};
pub use model::{ModelSettings, load_model};
pub use policy::{PolicySettings, SettingsError, load_policy, read_policy};
