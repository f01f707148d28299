//! The rooms under test, taken from Countersign's sources as they are: without the window they build in a
//! few minutes, and the fuzzer sees into every one of their branches.
//!
//! `sh packaging/fuzz.sh` builds the targets and runs them; what it found worth keeping is in `corpus`.

#[path = "../../src/authorization/mod.rs"]
pub mod authorization;
#[path = "../../src/cargo/mod.rs"]
pub mod cargo;
#[path = "../../src/code/mod.rs"]
pub mod code;
pub mod command;
pub mod engine;
pub mod mutate;
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

/// The evidence room is not here: nothing that is asked comes to it.
pub mod evidence {
    /// There is no evidence here, so there is no error of it either: a type without a value.
    #[derive(Debug, thiserror::Error)]
    #[error("there is no evidence here")]
    pub enum EvidenceError {}

    impl EvidenceError {
        /// Never called, because there is nothing to call it on.
        pub fn next(&self) -> &'static str {
            match *self {}
        }
    }
}
