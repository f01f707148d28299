//! Why a plan cannot be revised in some way.

/// Why a plan cannot be revised in some way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum RevisionError {
    #[error("the file is no JSON, so that nothing in it can be changed")]
    NotJson,
    #[error("the plan has no step {number}")]
    NoStep { number: usize },
    #[error("every step would be left out; reject the plan instead")]
    NothingLeft,
    #[error("step {number} has no argument {name:?} that could be changed")]
    NoArgument { number: usize, name: String },
    #[error(
        "a verification runs in the folder and with the time limit of its command; change them there"
    )]
    OfTheCommand,
    #[error("the target of a plan is chosen for the run, and not changed in its steps")]
    Target,
    #[error("{name:?} of step {number} must be JSON: {message}")]
    Value { number: usize, name: String, message: String },
    #[error("{name:?} of step {number} cannot have this value: it contains a NUL character")]
    Nul { number: usize, name: String },
    #[error("the input {name:?} cannot have this value: {why}")]
    Input { name: String, why: String },
    #[error("{file}: {why}")]
    Lines { file: String, why: String },
    #[error("step {number} has no lines to choose from: {why}")]
    NoLines { number: usize, why: &'static str },
}
