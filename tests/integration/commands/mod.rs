//! Steps that run commands here: the shell, cargo, the commands of a workspace, and their verdicts (SPEC §1.2, §7, §9).

mod cargo;
#[cfg(unix)]
mod guided;
#[cfg(target_os = "linux")]
mod large_output;
#[cfg(unix)]
mod of_the_workspace;
mod risk_trace;
#[cfg(unix)]
mod steps;
