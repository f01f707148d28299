//! The walls on Linux: Landlock, seccomp, and namespaces that bubblewrap makes.

mod bubblewrap;
mod filter;
mod helper;
mod keeper;
mod landlock_rules;
mod nested;
mod probe;
mod protected;
mod refused;
mod report;
mod repository;
mod start;
mod system;
mod table;
mod view;
mod wall_state;

use super::{RunWalls, TEMPORARY, WallPaths, WallProbe, WallReport};

pub use helper::start as start_helper;
pub(in crate::process) use start::Walled;
pub(super) use wall_state::State;
