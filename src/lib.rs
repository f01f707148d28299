//! Countersign runs machine-written plans that a person has authorized.
//!
//! A person authorizes exactly the bytes of a plan file. One thread then runs the steps in order. Every confirmation,
//! decision and result is recorded in the evidence, whose verification detects later changes.
//!
//! # Data flow
//!
//! ```text
//! plan file ─bytes→ plan ─Plan→ engine::review (risk, preview, preconditions)
//!                                    │ a person authorizes
//!                                    ▼
//!  window ──Command──▶ worker ──ApprovedPlan──▶ engine ──▶ tools ──▶ files
//!     ▲                   │                        │
//!     └──────Event────────┘                        └──▶ evidence (intent before, outcome after)
//!     └──────── queries: open, review, search ──────────┘
//! ```
//!
//! Data flows in one direction: bytes become a [`plan::Plan`], a plan becomes an [`authorization::ApprovedPlan`], and
//! each step gets a [`run::Outcome`]. The engine's journal commits each result as an [`evidence::Entry`] before it
//! sends the [`run::RunEvent`]. Replay converts rows back into the same events, and [`run::RunState::apply`] is pure.
//!
//! # Rooms
//!
//! A room is a top-level module.
//!
//! | room | contents |
//! |---|---|
//! | [`plan`] | plan files as pure data |
//! | [`authorization`] | authorizations of plans; pure |
//! | [`risk`] | the risk of steps and commands; pure |
//! | [`grammars`] | the grammars of source code and of shell commands; pure |
//! | [`code`] | source code: definitions, references, replaced spans; pure |
//! | [`openers`] | files of other programs as plans; pure |
//! | [`help`] | what the tables say about codes, tools, rules and words, for people who look something up; pure |
//! | [`hooks`] | the hooks of agents: their calls and answers, and the channel to the window; pure |
//! | [`mcp`] | the Model Context Protocol: answers to messages of agents; pure |
//! | [`acp`] | the Agent Client Protocol: what messages of agents mean, and answers to them; pure |
//! | [`proof`] | Merkle trees, checkpoints, signed statements; pure |
//! | [`run`] | events, results and records of runs as pure data |
//! | [`workspace`] | the folders that tools may touch: paths, reading, searching, writing whole files |
//! | [`process`] | the only room that starts programs; their time limits and isolation ("walls") |
//! | [`remote`] | commands on other hosts, through the system's `ssh` |
//! | [`signing`] | signatures with the SSH keys of persons, through the system's `ssh-keygen` |
//! | [`cargo`] | the user's cargo: checks, and which errors are new |
//! | [`symbols`] | the symbol engines: the embedded one, and `magellan` with `splice` |
//! | [`tools`] | the only room that changes the workspace: one module for each tool |
//! | [`evidence`] | the append-only record of runs and decisions: the only room with a database on this computer |
//! | [`team`] | evidence of a team in PostgreSQL: pushing, searching and verifying it |
//! | [`export`] | evidence that leaves the machine: exports, the case file of a run, proofs and attestations |
//! | [`engine`] | the step runner and the review before it |
//! | [`autonomy`] | the bounded loop above the engine: plan, authorize, apply, verify, replan |
//! | [`worker`] | the executor thread, the query thread, and the inbox with plans of others |
//! | [`logging`] | the log of the program, for faults of the program itself |
//! | [`planner`] | the built-in planners: each turns one request into one plan |
//! | [`cli`] | the headless commands |
//! | [`ui`] | views: pure functions from view models to widgets and actions |
//! | [`app`] | the window: state, channels, settings, file dialogs |
//!
//! # Arrows
//!
//! An arrow points from a room to the rooms that it may use.
//!
//! ```text
//! main → app, cli
//! app → ui, worker                 ui → code, help
//! cli → worker, planner, autonomy, engine, export, team, evidence, tools, signing, remote, process, openers, hooks, mcp,
//!       acp, code, help, proof, logging
//! worker → autonomy, engine, export, team, evidence, tools, remote, openers, hooks, acp, logging
//! planner → tools, cargo
//! autonomy → engine, evidence, tools, process
//! engine → tools, evidence, signing, remote, process, workspace
//! export → evidence, proof
//! team → evidence
//! logging → evidence
//! evidence → proof
//! tools → symbols, cargo, remote, process, workspace, code
//! symbols → process, workspace, code
//! cargo → process, workspace
//! remote → process
//! signing → process
//! workspace → code
//! ```
//!
//! `run`, `risk`, `authorization` and `plan` use each other only in the order
//! `run → risk → authorization → plan`. Every room above them may use them, with a few exceptions that the
//! architecture test lists. `code` uses none of them. `code` and `risk` use `grammars`. The test fails on any other dependency.
//!
//! # Invariants
//!
//! Each has a test named after it.
//!
//! 1. The executor takes an [`authorization::ApprovedPlan`] and first turns it into a private runnable
//!    value; nothing inside the engine takes anything else.
//! 2. A tool is a variant of one enum with typed arguments; no string can cause any other call.
//! 3. No effect without a durable intent; no result without its rows; rows are never changed.
//! 4. What was shown is what runs: approved bytes, arguments and target contents are compared again at
//!    the last moment.
//! 5. A plan cannot lower its own risk, skip its own prompts or raise its own limits.
//! 6. No frame waits: no I/O, no lock held across work, no system dialog inside `ui()` or `logic()`.
//! 7. Cancel and search never wait for a running step.
//! 8. Every text from outside is data: control, bidi and invisible characters are made visible, never
//!    interpreted.
//! 9. Everything has a limit, and a limit that is reached is reported.

#![cfg_attr(
    test,
    allow(
        clippy::duplicate_mod,
        reason = "src/process/tests also runs behind each level of walls"
    )
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        reason = "a test should fail at the first wrong assumption"
    )
)]

// The tests of the views include the example data of the gallery, which refers to this crate by its name.
#[cfg(test)]
extern crate self as countersign;

pub mod acp;
pub mod app;
pub mod authorization;
pub mod autonomy;
pub mod cargo;
pub mod cli;
pub mod code;
pub mod engine;
pub mod evidence;
pub mod export;
pub mod grammars;
pub mod help;
pub mod hooks;
pub mod logging;
pub mod mcp;
pub mod openers;
pub mod plan;
pub mod planner;
pub mod process;
pub mod proof;
pub mod remote;
pub mod risk;
pub mod run;
pub mod signing;
pub mod symbols;
pub mod team;
pub mod tools;
pub mod ui;
pub mod worker;
pub mod workspace;
