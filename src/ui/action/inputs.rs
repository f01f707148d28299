//! What a person gives a plan for its inputs.

use std::path::PathBuf;

use super::Typed;

/// The values of the inputs of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledIn {
    /// The plan file.
    pub file: PathBuf,
    /// The values, by name.
    pub values: Vec<(String, String)>,
    /// The secrets that were typed, by name.
    pub secrets: Vec<(String, Typed)>,
}
