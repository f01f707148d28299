//! Tool calls of a model, in the shapes of the interfaces of Anthropic, OpenAI and Gemini. A plan has either commands or
//! changes of files, so calls of both kinds are no plan.

mod reading;
mod shapes;
mod tools;

use std::collections::BTreeSet;

use super::files::{NoFiles, Texts};
use super::json::{At, located, read};
use super::runbook::{State, looks_back};
use super::written::{Commands, Draft, Edits};
use crate::plan::{Code, Edit, Finding, limits};
use tools::Action;

pub(super) use shapes::are_in;

/// Whether a text is one call, and this call only reads or changes nothing outside of the agent.
pub(super) fn only_reads(text: &str) -> bool {
    let Ok(value) = read(text) else { return false };
    let mut arguments = Vec::new();
    let Ok(calls) = shapes::calls(&At::root(&value), &mut arguments) else { return false };
    let [call] = calls.as_slice() else { return false };
    let mut notes = Vec::new();
    let action = tools::action(call, &mut Texts::new(&NoFiles), &mut notes);
    notes.is_empty() && matches!(action, Ok(Action::Reads))
}

/// What the calls would do, in their order.
///
/// # Errors
/// An error for each call that is not known or that a plan cannot make, and for calls of different kinds.
pub(super) fn draft(text: &str, mut texts: Texts<'_>) -> Result<Draft, Vec<Finding>> {
    let value = read(text)?;
    let mut arguments = Vec::new();
    let calls = shapes::calls(&At::root(&value), &mut arguments)
        .map_err(|error| located(text, vec![error]))?;
    let (mut errors, mut findings) = (Vec::new(), Vec::new());
    let (mut commands, mut edits) = (Vec::new(), Edits::default());
    // Where the last call stands and why, if it left a folder or variables in the shell that the next call would use.
    let mut changed: Option<(String, String)> = None;
    for call in &calls {
        match tools::action(call, &mut texts, &mut findings) {
            Err(error) => errors.push(error),
            Ok(Action::Reads) => {
                findings.push(call.at.note(format!("{} only reads, and is left out", call.name)));
            }
            Ok(Action::Command(command)) => {
                // All calls of these tools go to one shell, whose folder and variables stay.
                let shares_shell = matches!(call.name, "Bash" | "bash");
                if shares_shell
                    && !commands.is_empty()
                    && let Some(name) = looks_back(&command.command)
                {
                    let why = format!(
                        "{name} is about the calls above it, and each step has a shell of its own"
                    );
                    errors.push(Finding::error(Code::BadValue, call.at.pointer.clone(), why));
                }
                if shares_shell && let Some((at, why)) = changed.take() {
                    errors.push(Finding::error(Code::BadValue, at, why));
                }
                let mut state = State::default();
                let left = state.add(&command.command).map_err(|(_, why)| why);
                if shares_shell && (left.is_err() || !state.is_empty()) {
                    let why = "it changes the shell for the calls below it, and each step has a shell of its own";
                    changed = Some((
                        call.at.pointer.clone(),
                        left.err().unwrap_or_else(|| why.to_owned()),
                    ));
                }
                commands.push(command);
            }
            Ok(Action::Edits(mut made, expected)) => {
                edits.edits.append(&mut made);
                edits.expected.extend(expected);
            }
        }
    }
    if !commands.is_empty() && !edits.edits.is_empty() {
        errors.push(Finding::error(
            Code::BadValue,
            "",
            "some calls run commands and some change files, and a plan has either: open them as two files",
        ));
    }
    if calls.is_empty() {
        errors.push(Finding::error(Code::Missing, "", "there is no tool call in it"));
    }
    if !errors.is_empty() {
        return Err(located(text, errors));
    }
    let findings = located(text, findings);
    if commands.is_empty() {
        edits.files = edits.edits.iter().flat_map(Edit::paths).collect::<BTreeSet<_>>().len();
        edits.findings = findings;
        return Ok(edits.into());
    }
    let title = (commands.len() == 1).then(|| commands.first()?.description.clone()).flatten();
    let title = title.filter(|title| title.len() <= limits::ID_BYTES);
    Ok(Commands { title, commands, findings, ..Commands::default() }.into())
}
