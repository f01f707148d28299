//! The bounded loop: its stop reasons, limits and interruptions, and the built-in planners (SPEC §10).

#[cfg(target_os = "linux")]
mod agents;
#[cfg(unix)]
mod authorization_class;
mod cargo_fix;
mod documents;
#[cfg(unix)]
mod interruptions;
#[cfg(target_os = "linux")]
mod kills;
mod limits;
#[cfg(unix)]
mod looks;
mod model;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod secrets;
#[cfg(unix)]
mod stop_reasons;
