//! The executor in this process: authorization, outcomes, control, callbacks and invariants (SPEC §2, §3).

mod authorization;
mod categories;
mod intent_first;
mod invariants;
mod outcomes;
mod properties;
#[cfg(target_os = "linux")]
mod simulations;
