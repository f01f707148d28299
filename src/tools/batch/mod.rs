//! `mutate_batch` (SPEC §9): edits of many files, made as a whole or not at all.
//!
//! What a batch does is computed in memory from the files alone; [`apply`] then brings the files there,
//! or leaves every one of them as it was.

#![allow(dead_code, unused_imports, reason = "the tools that call this follow")]

mod apply;
mod disk;
mod error;
mod folders;
mod restore;

pub(super) use apply::{Applied, apply, moved, waiting_names};
pub use error::BatchError;
pub(super) use restore::Undone;

#[cfg(test)]
mod tests;
