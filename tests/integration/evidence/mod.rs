//! The evidence: unusable, locked, after kills, with several processes, and without secrets (SPEC §8).

mod batch_kills;
mod concurrent;
mod crash;
#[path = "../../../examples/evidence/generate.rs"]
pub mod generate;
mod grown;
mod kept_heads;
#[cfg(unix)]
mod private_files;
mod purges;
mod queries;
mod restores;
mod retention;
#[cfg(unix)]
mod secrets;
#[cfg(target_os = "linux")]
mod system_calls;
mod unusable;
#[cfg(unix)]
mod without_powers;
