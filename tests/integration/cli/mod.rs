//! The command line, one file for each headless command: what it prints, asks and exits with (SPEC §11).

mod check;
#[cfg(unix)]
mod command_plans;
mod continuation;
mod evidence;
mod risk;
mod run;
mod simulate;
#[cfg(target_os = "linux")]
mod terminal;
mod usage;
