//! Tool calls of a model, in the shapes of the interfaces of Anthropic, OpenAI and Gemini. A plan has either commands or
//! changes of files, so calls of both kinds are no plan.

mod reading;
mod shapes;
mod tools;

use std::collections::BTreeSet;

use super::files::{NoFiles, Texts};
use super::json::{At, located, read};
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
    for call in &calls {
        match tools::action(call, &mut texts, &mut findings) {
            Err(error) => errors.push(error),
            Ok(Action::Reads) => {
                findings.push(call.at.note(format!("{} only reads, and is left out", call.name)));
            }
            Ok(Action::Command(command)) => commands.push(command),
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
