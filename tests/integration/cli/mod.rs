//! The command line, one file for each headless command: its output, prompts and exit codes (SPEC §11).

mod check;
#[cfg(unix)]
mod choices;
#[cfg(unix)]
mod command_plans;
mod continuation;
mod evidence;
mod evidence_schemas;
#[cfg(target_os = "linux")]
mod explain;
mod foreign_text;
#[cfg(target_os = "linux")]
mod inputs;
mod looking_back;
mod revise;
mod risk;
mod run;
mod settings;
mod simulate;
#[cfg(target_os = "linux")]
pub mod terminal;
mod usage;
