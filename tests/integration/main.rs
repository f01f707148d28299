//! Every integration test, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected should stop at once"
)]

#[cfg(target_os = "linux")]
mod agreement;
mod architecture;
mod authorization;
#[cfg(target_os = "linux")]
mod bad_code;
mod bad_evidence;
mod bad_plans;
mod batch_kills;
#[cfg(unix)]
mod bounded_loop;
#[cfg(unix)]
mod bounded_loop_breaks;
#[cfg(target_os = "linux")]
mod bounded_loop_kills;
mod bounded_loop_limits;
#[cfg(target_os = "linux")]
mod bounds;
mod categories;
mod cli_check;
#[cfg(unix)]
mod cli_commands;
mod cli_continue;
mod cli_evidence;
mod cli_heads;
mod cli_home;
mod cli_questions;
mod cli_risk;
mod cli_run;
mod cli_simulate;
#[cfg(target_os = "linux")]
mod cli_terminal;
mod cli_usage;
mod cli_walls;
#[cfg(target_os = "linux")]
mod code_gate;
mod code_patches;
mod code_plans;
#[cfg(unix)]
mod code_stops;
#[cfg(unix)]
mod commands;
mod concurrent;
mod crash;
mod evidence_first;
mod example_plans;
mod execution;
mod fixtures;
mod harness;
mod history;
mod history_cli;
mod history_modes;
mod history_property;
mod invariants;
#[cfg(target_os = "linux")]
mod large_output;
mod lsp_check;
mod planners;
#[cfg(unix)]
mod private_files;
mod program;
mod properties;
#[cfg(target_os = "linux")]
mod races;
#[cfg(target_os = "linux")]
mod real_programs;
mod registry;
#[cfg(target_os = "linux")]
mod remote;
#[cfg(target_os = "linux")]
mod remote_again;
#[cfg(target_os = "linux")]
mod remote_plans;
mod risk_trace;
mod schema;
#[cfg(unix)]
mod scripted;
#[cfg(unix)]
mod secrets;
#[cfg(target_os = "linux")]
mod simulations;
#[cfg(target_os = "linux")]
mod sshd;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(unix)]
mod unprivileged;
#[cfg(target_os = "linux")]
mod walls;
mod walls_between;
#[cfg(target_os = "linux")]
mod walls_escape;
#[cfg(unix)]
mod workspace_commands;
