//! Every integration test, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected should stop at once"
)]

#[cfg(target_os = "linux")]
mod acp;
mod architecture;
mod bounded_loop;
mod cli;
mod code;
mod commands;
mod evidence;
mod export;
mod harness;
mod history;
#[cfg(all(target_os = "linux", feature = "inspection"))]
mod hooks;
mod inbox;
#[cfg(unix)]
mod logging;
#[cfg(target_os = "linux")]
mod mcp;
mod openers;
mod packages;
mod pages;
mod plan;
#[cfg(target_os = "linux")]
mod remote;
mod run;
#[cfg(target_os = "linux")]
mod signatures;
#[cfg(target_os = "linux")]
mod team;
mod text;
mod walls;
#[cfg(target_os = "linux")]
mod workspace;
