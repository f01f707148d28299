//! Whether a precondition holds (SPEC §5). The questions are asked of the tools' room; what the
//! answers mean is decided here.

use std::collections::HashMap;

use super::error::ExecutionError;
use crate::authorization::FileState;
use crate::plan::{Code, Precondition, Step, ToolCall};
use crate::run::Outcome;
use crate::run::StopSignal;
use crate::tools::{After, Toolbox};
use crate::workspace::Kind;

/// The file that the precondition is about; none when it is not about one file.
pub(super) fn file_of<'a>(step: &'a Step, call: &ToolCall) -> Option<&'a str> {
    match step.precondition {
        Precondition::SymbolExists { .. } => {
            let in_file = Precondition::SymbolExists { named: Some(String::new()) };
            in_file.subject_in(call.tool(), &step.arguments)
        }
        _ => step.precondition.subject_in(call.tool(), &step.arguments),
    }
}

/// What a precondition is held against.
pub(super) struct Now<'a> {
    /// The files, as the steps before leave them.
    pub(super) after: After<'a>,
    /// What does not depend on them.
    pub(super) toolbox: &'a Toolbox,
    /// What became of the steps before.
    pub(super) outcomes: &'a HashMap<String, Outcome>,
    /// Ends a long look.
    pub(super) stop: &'a StopSignal,
}

/// What was found, when the precondition holds.
///
/// # Errors
/// What was found instead, or that it cannot be checked.
pub(super) fn check(step: &Step, call: &ToolCall, now: &Now<'_>) -> Result<String, ExecutionError> {
    let Now { after, toolbox, outcomes, stop } = *now;
    let precondition = &step.precondition;
    let fails = |code, found: String| ExecutionError::PreconditionFailed {
        code,
        precondition: step.precondition_text.trim().to_owned(),
        found,
    };
    let subject = || {
        let found = "the step has no argument to look at".to_owned();
        precondition
            .subject_in(call.tool(), &step.arguments)
            .ok_or_else(|| fails(Code::PreconditionFailed, found))
    };
    let kind = |path: &str, wanted: Kind, code| {
        let kind = after.kind_of(path)?;
        let found = format!("{path} is {kind}");
        if kind == wanted { Ok(found) } else { Err(fails(code, found)) }
    };
    match precondition {
        Precondition::None => Ok(String::new()),
        Precondition::FileExists => kind(subject()?, Kind::File, Code::FileNotFound),
        Precondition::PlanFileExists => kind(subject()?, Kind::File, Code::FileNotFound),
        Precondition::FileDoesNotExist => kind(subject()?, Kind::Absent, Code::PreconditionFailed),
        Precondition::RootExists => kind(subject()?, Kind::Folder, Code::PreconditionFailed),
        Precondition::ParentExists => {
            let path = subject()?;
            match after.parent_kind(path)? {
                Kind::Folder => Ok(format!("the folder of {path} is there")),
                other => {
                    Err(fails(Code::PreconditionFailed, format!("the folder of {path} is {other}")))
                }
            }
        }
        Precondition::FileHashIs(wanted) => {
            let path = subject()?;
            match after.digest_of(path)? {
                FileState::Content(digest) if digest == *wanted => {
                    Ok(format!("{path} is {digest}"))
                }
                FileState::Content(digest) => {
                    Err(fails(Code::PreconditionFailed, format!("{path} is {digest}")))
                }
                FileState::Absent => Err(fails(Code::FileNotFound, format!("{path} is absent"))),
            }
        }
        Precondition::CargoWorkspace => {
            let path = subject()?;
            after
                .cargo_manifest_for(path)?
                .ok_or_else(|| {
                    let found = format!("no Cargo.toml at {path} or above it in the workspace");
                    fails(Code::NoCargoProject, found)
                })
                .map(|manifest| format!("{manifest} is there"))
        }
        Precondition::CodegraphDbExists => toolbox
            .codegraph()
            .map(|path| format!("{} is there", path.display()))
            .ok_or_else(|| {
                fails(Code::NoCodegraph, "no codegraph.db in the workspace or above it".to_owned())
            }),
        Precondition::GitRepositoryExists => toolbox
            .git_repository()
            .map(|path| format!("{} is there", path.display()))
            .ok_or_else(|| {
                let found = "no .git in the workspace or above it".to_owned();
                fails(Code::PreconditionFailed, found)
            }),
        Precondition::CommandAvailable(name) => toolbox
            .command_available(name)
            .map(|path| format!("{} is there", path.display()))
            .ok_or_else(|| fails(Code::PreconditionFailed, toolbox.not_available(name))),
        Precondition::StepSucceeded(id) => match outcomes.get(id) {
            Some(Outcome::Succeeded) => Ok(format!("step {id} succeeded")),
            Some(Outcome::DoneByHand) => Ok(format!("step {id} was done by hand")),
            Some(other) => Err(fails(
                Code::PreconditionFailed,
                format!("step {id} is {}", other.as_str().replace('_', " ")),
            )),
            None => Err(fails(Code::PreconditionFailed, format!("step {id} has not run"))),
        },
        Precondition::MagellanHasIndexedFile => {
            let path = subject()?;
            toolbox.indexed_by_magellan(path)?.ok_or_else(|| {
                fails(Code::PreconditionFailed, format!("magellan has not indexed {path}"))
            })
        }
        Precondition::SymbolExists { named } => {
            let symbol = match named {
                Some(named) => named.as_str(),
                None => subject()?,
            };
            let file = file_of(step, call);
            after.symbol_defined(symbol, file, stop)?.ok_or_else(|| {
                let place = file.unwrap_or("the workspace");
                fails(Code::SymbolNotFound, format!("nothing in {place} defines {symbol}"))
            })
        }
    }
}
