//! The rooms under test, taken from Countersign's sources as they are: without the window they build in a
//! few minutes, and the fuzzer sees into every one of their branches.
//!
//! `sh packaging/fuzz.sh` builds the targets and runs them; README.md describes the kept inputs.

#[path = "../../src/authorization/mod.rs"]
pub mod authorization;
#[path = "../../src/code/mod.rs"]
pub mod code;
pub mod command;
pub mod engine;
pub mod mutate;
#[path = "../../src/plan/mod.rs"]
pub mod plan;
#[path = "../../src/risk/mod.rs"]
pub mod risk;
#[path = "../../src/run/mod.rs"]
pub mod run;
#[path = "../../src/tools/mod.rs"]
pub mod tools;
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
