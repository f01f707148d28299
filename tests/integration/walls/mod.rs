//! The walls around child processes: what gets through, what does not, and what is granted (SPEC §7.5).

#[cfg(target_os = "linux")]
mod allowed;
mod between_steps;
#[cfg(target_os = "linux")]
mod escape;
mod grants;
mod needs;
