//! Countersign runs machine-written plans under a person's signature.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        reason = "a test that meets the unexpected should stop at once"
    )
)]

pub mod authorization;
pub mod engine;
pub mod evidence;
pub mod plan;
pub mod risk;
pub mod run;
pub mod tools;
pub mod worker;
