//! Tools that read or change source code, with the embedded engine and with the real `magellan`, `splice` and cargo
//! (SPEC §4).

#[cfg(target_os = "linux")]
mod agreement;
#[cfg(target_os = "linux")]
mod gate;
mod lsp_check;
mod patches;
mod plans;
#[cfg(target_os = "linux")]
mod real_programs;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(unix)]
mod stops;
