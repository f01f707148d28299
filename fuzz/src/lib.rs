//! The rooms under test, compiled from Countersign's own source files. Without the window they build in a few
//! minutes, and the fuzzer's coverage counters are in all of them.
//!
//! `sh packaging/fuzz.sh` builds the targets and runs them; README.md describes the kept inputs.

#[path = "../../src/acp/mod.rs"]
pub mod acp;
#[path = "../../src/authorization/mod.rs"]
pub mod authorization;
#[path = "../../src/cargo/mod.rs"]
pub mod cargo;
#[path = "../../src/code/mod.rs"]
pub mod code;
pub mod command;
pub mod engine;
#[path = "../../src/grammars/mod.rs"]
pub mod grammars;
pub mod mutate;
#[path = "../../src/openers/mod.rs"]
pub mod openers;
#[path = "../../src/plan/mod.rs"]
pub mod plan;
#[path = "../../src/process/mod.rs"]
pub mod process;
#[path = "../../src/remote/mod.rs"]
pub mod remote;
#[path = "../../src/risk/mod.rs"]
pub mod risk;
#[path = "../../src/run/mod.rs"]
pub mod run;
#[path = "../../src/symbols/mod.rs"]
pub mod symbols;
#[path = "../../src/tools/mod.rs"]
pub mod tools;
#[path = "../../src/workspace/mod.rs"]
pub mod workspace;
pub mod world;

/// Stands in for the evidence room, which the targets do not reach.
pub mod evidence {
    /// An error without values, because there is no evidence here.
    #[derive(Debug, thiserror::Error)]
    #[error("there is no evidence here")]
    pub enum EvidenceError {}

    impl EvidenceError {
        /// Never called: there are no values.
        pub fn next(&self) -> &'static str {
            match *self {}
        }
    }
}
