//! Checks preconditions (SPEC §5). The tools look up the facts; this module evaluates them.

use std::collections::HashMap;
use std::path::PathBuf;

use super::ExecutionError;
use crate::authorization::FileState;
use crate::plan::{Code, Precondition, Step, ToolCall};
use crate::run::Outcome;
use crate::tools::ProjectedToolbox;
use crate::workspace::Kind;

/// The file of the precondition; `None` if it is not about one file.
pub(super) fn file_of<'a, C>(step: &'a Step<C>, call: &ToolCall) -> Option<&'a str> {
    match step.precondition {
        Precondition::SymbolExists { .. } => {
            // With an explicit name, the subject is the file in which the symbol is looked up.
            let in_file = Precondition::SymbolExists { named: Some(String::new()) };
            in_file.subject_in(call.tool(), &step.arguments)
        }
        _ => step.precondition.subject_in(call.tool(), &step.arguments),
    }
}

/// Checks the precondition of a step in the workspace `after` the previous steps, which had these outcomes. Returns what
/// was found, for a message; empty without a precondition.
///
/// # Errors
/// [`ExecutionError::PreconditionFailed`] with what was found instead; other errors if it cannot be checked.
pub(super) fn check<C>(
    step: &Step<C>,
    call: &ToolCall,
    after: ProjectedToolbox<'_>,
    outcomes: &HashMap<String, Outcome>,
) -> Result<String, ExecutionError> {
    let toolbox = after.toolbox();
    let precondition = &step.precondition;
    let fails = |code, found: String| ExecutionError::PreconditionFailed {
        code,
        precondition: step.precondition_text.trim().to_owned(),
        found,
    };
    let unmet = |found: String| fails(Code::PreconditionFailed, found);
    let exists_text = |path: PathBuf| format!("{} is there", path.display());
    let subject = || {
        let subject = precondition.subject_in(call.tool(), &step.arguments);
        subject.ok_or_else(|| unmet("the step has no argument to check".to_owned()))
    };
    let check_kind = |path: &str, wanted: Kind, code| {
        let kind = after.kind_of(path)?;
        let found = format!("{path} is {kind}");
        if kind == wanted { Ok(found) } else { Err(fails(code, found)) }
    };
    match precondition {
        Precondition::None => Ok(String::new()),
        Precondition::FileExists | Precondition::PlanFileExists => {
            check_kind(subject()?, Kind::File, Code::FileNotFound)
        }
        Precondition::FileDoesNotExist => {
            check_kind(subject()?, Kind::Absent, Code::PreconditionFailed)
        }
        Precondition::RootExists => check_kind(subject()?, Kind::Folder, Code::PreconditionFailed),
        Precondition::ParentExists => {
            let path = subject()?;
            match after.parent_kind(path)? {
                Kind::Folder => Ok(format!("the folder of {path} is there")),
                other => Err(unmet(format!("the folder of {path} is {other}"))),
            }
        }
        Precondition::FileHashIs(wanted) => {
            let path = subject()?;
            match after.digest_of(path)? {
                FileState::Content(digest) if digest == *wanted => {
                    Ok(format!("{path} is {digest}"))
                }
                FileState::Content(digest) => Err(unmet(format!("{path} is {digest}"))),
                FileState::Absent => Err(fails(Code::FileNotFound, format!("{path} is absent"))),
            }
        }
        Precondition::CargoWorkspace => {
            let path = subject()?;
            let manifest = after.cargo_manifest_for(path)?.ok_or_else(|| {
                let found = format!("no Cargo.toml at {path} or above it in the workspace");
                fails(Code::NoCargoProject, found)
            });
            Ok(format!("{} is there", manifest?))
        }
        Precondition::CodegraphDbExists => toolbox.codegraph().map(exists_text).ok_or_else(|| {
            fails(Code::NoCodegraph, "no codegraph.db in the workspace or above it".to_owned())
        }),
        Precondition::GitRepositoryExists => {
            let found = toolbox.git_repository().map(exists_text);
            found.ok_or_else(|| unmet("no .git in the workspace or above it".to_owned()))
        }
        Precondition::CommandAvailable(name) => {
            let found = toolbox.find_command(name).map(exists_text);
            found.ok_or_else(|| unmet(toolbox.missing_command_message(name)))
        }
        Precondition::StepSucceeded(id) => match outcomes.get(id) {
            Some(Outcome::Succeeded) => Ok(format!("step {id} succeeded")),
            Some(Outcome::DoneByHand) => Ok(format!("step {id} was done by hand")),
            Some(other) => Err(unmet(format!(
                "the outcome of step {id} is {}",
                other.as_str().replace('_', " ")
            ))),
            None => Err(unmet(format!("step {id} has not run"))),
        },
        Precondition::MagellanHasIndexedFile => {
            let path = subject()?;
            let indexed = toolbox.describe_indexed_file(path)?;
            indexed.ok_or_else(|| unmet(format!("magellan has not indexed {path}")))
        }
        Precondition::SymbolExists { named } => {
            let symbol = match named {
                Some(named) => named.as_str(),
                None => subject()?,
            };
            let file = file_of(step, call);
            after.describe_definition(symbol, file)?.ok_or_else(|| {
                let scope = file.unwrap_or("the workspace");
                fails(Code::SymbolNotFound, format!("nothing in {scope} defines {symbol}"))
            })
        }
    }
}
