//! The real window, driven from outside by mouse and keyboard.
//!
//! Needs the feature `inspection` and a few programs; `sh packaging/test.sh` provides both.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop at once"
)]

mod agent;
mod agents;
mod artifacts;
mod asked;
mod atspi;
mod attention;
mod commands;
mod compositor;
mod dialog;
mod dialogs_read;
mod export;
mod fleet;
mod hands;
mod harness;
mod hooks;
mod idle;
mod inbox;
mod input_method;
mod keyboard;
mod keyboards;
mod libraries;
mod looping;
#[expect(dead_code, reason = "the bench of the start uses the rest")]
mod painting;
mod panics;
mod pointing;
#[expect(dead_code, reason = "the tests of the server use the rest")]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the server of these tests runs or they stop"
)]
#[path = "../integration/harness/postgres.rs"]
mod postgres;
mod refusals;
mod remote;
mod revert;
mod revising;
mod screen;
mod screen_reader;
mod scripts;
mod second_person;
mod secrets;
mod shortcuts;
mod sign_and_run;
#[expect(dead_code, reason = "the tests of remote commands use the rest")]
#[expect(clippy::unwrap_used, reason = "the server of these tests runs or they stop")]
#[path = "../integration/harness/sshd.rs"]
mod sshd;
mod suggestion;
mod support;
mod team;
mod terminal;
mod tree;
mod trust;
mod wayland;
