//! The evidence: unusable, locked, killed in the middle, read by several programs, and free of secrets (SPEC §8).

mod batch_kills;
mod concurrent;
mod crash;
mod kept_heads;
#[cfg(unix)]
mod private_files;
mod queries;
#[cfg(unix)]
mod secrets;
#[cfg(target_os = "linux")]
mod system_calls;
mod unusable;
#[cfg(unix)]
mod without_powers;
