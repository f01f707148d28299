//! The executor in this process: authorization, outcomes, control, callbacks and invariants (SPEC §2, §3).

mod approval_voided;
mod authorization;
mod categories;
mod control;
mod intent_first;
mod invariants;
mod outcomes;
mod properties;
mod secret_inputs;
#[cfg(target_os = "linux")]
mod simulations;
#[cfg(target_os = "linux")]
mod soak;
mod states;
#[cfg(target_os = "linux")]
mod terminal;
