//! The walls around child processes: what they allow, what they refuse, and what can be granted (SPEC §7.5).

#[cfg(target_os = "linux")]
mod allowed;
mod between_steps;
#[cfg(target_os = "linux")]
mod escape;
mod grants;
mod needs;
