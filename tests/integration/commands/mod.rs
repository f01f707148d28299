//! Steps that run local commands: the shell, cargo and the commands of a workspace (SPEC §1.2, §7, §9).

mod cargo;
#[cfg(unix)]
mod guided;
#[cfg(target_os = "linux")]
mod large_output;
#[cfg(unix)]
mod of_the_workspace;
#[cfg(unix)]
mod repository;
mod risk_trace;
#[cfg(unix)]
mod steps;
