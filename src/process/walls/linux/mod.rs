//! The walls on Linux: Landlock, seccomp, and namespaces that bubblewrap makes.

mod bubblewrap;
mod filter;
mod helper;
mod keeper;
mod landlock_rules;
mod lasting;
mod nested;
mod probe;
mod refused;
mod report;
mod repository;
mod start;
mod system;
mod table;
mod view;
mod watched;

use super::{RunWalls, TEMPORARY, WallPlace, WallProbe, WallReport};

pub use helper::start as start_helper;
pub(super) use lasting::State;
pub(in crate::process) use start::Walled;
