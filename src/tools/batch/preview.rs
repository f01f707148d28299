//! The preview of a batch (SPEC §2). Only reads files.

use super::BatchError;
use super::compute::compute;
use super::error::Fault;
use super::files::Computed;
use crate::authorization::FileState;
use crate::plan::MutateBatch;
use crate::run::{ErrorInfo as _, FileEffect, Preview};
use crate::tools::changes::{earlier_step_note, file_change, too_large_note};
use crate::tools::tool::PreviewWithEffects;
use crate::tools::{ProjectedToolbox, ToolError};
use crate::workspace::Last;

/// The preview of a batch, and its file changes. A dry run has no file changes.
///
/// # Errors
/// A fault of the plan itself, such as a path that leads outside; a stop.
pub(in super::super) fn preview(
    projected: ProjectedToolbox<'_>,
    batch: &MutateBatch,
) -> Result<PreviewWithEffects, ToolError> {
    let mut computed = compute(projected, &batch.edits, &batch.expected_hashes)?;
    if let Some(error) = computed.take_plan_error() {
        return Err(error);
    }
    if !computed.faults.is_empty() {
        return Ok((refused(computed.faults), Vec::new()));
    }
    let mut notes = std::mem::take(&mut computed.notes);
    for effect in &computed.effects {
        notes.extend(notes_for(projected, effect)?);
    }
    if batch.edits.iter().any(|edit| edit.op() == "splice") {
        notes.push("Definitions are found and replaced by the embedded engine; the results parse. cargo check does not run for a batch.".to_owned());
    }
    let changes = computed.effects.iter().map(file_change).collect();
    let summary = summary(&computed, batch);
    let effects = if batch.dry_run { Vec::new() } else { computed.effects };
    Ok((Preview::exact(summary, changes, notes), effects))
}

fn refused(faults: Vec<Fault>) -> Preview {
    let mut notes: Vec<String> = match faults.as_slice() {
        [_] => Vec::new(),
        many => many.iter().map(|fault| format!("{}.", fault.sentence())).collect(),
    };
    let why = match faults.as_slice() {
        [only] => only.sentence(),
        many => format!("{} faults, and no file would change", many.len()),
    };
    notes.push(BatchError::Refused { faults }.next());
    Preview::failure(why, notes)
}

fn notes_for(
    projected: ProjectedToolbox<'_>,
    effect: &FileEffect,
) -> Result<Vec<String>, ToolError> {
    let path = &effect.path;
    let mut notes = Vec::new();
    if projected.overlay.get(path).is_some() {
        notes.push(earlier_step_note(path));
    } else if effect.before != FileState::Absent && effect.after != FileState::Absent {
        let place = projected.toolbox.resolve(path, Last::Follow)?;
        let keeps_mode = effect.modes.before == effect.modes.after;
        notes.extend(place.notes(path, keeps_mode)?);
    }
    notes.extend(too_large_note(effect));
    Ok(notes)
}

/// The summary, in one sentence.
fn summary(computed: &Computed, batch: &MutateBatch) -> String {
    let [mut created, mut replaced, mut deleted] = [0; 3];
    for effect in &computed.effects {
        match (effect.before, effect.after) {
            (FileState::Absent, _) => created += 1,
            (_, FileState::Absent) => deleted += 1,
            _ => replaced += 1,
        }
    }
    let counts = [("creat", created), ("chang", replaced), ("delet", deleted)];
    let end = if batch.dry_run { "e" } else { "es" };
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verb, count)| match count {
            1 => format!("{verb}{end} 1 file"),
            count => format!("{verb}{end} {count} files"),
        })
        .collect();
    let all = match parts.split_last() {
        None if batch.dry_run => "change nothing: the files have these contents already".to_owned(),
        None => {
            return "This step changes nothing: the files have these contents already.".to_owned();
        }
        Some((only, [])) => only.clone(),
        Some((last, earlier)) => format!("{} and {last}", earlier.join(", ")),
    };
    if batch.dry_run {
        return format!("A dry run, which changes nothing. It would {all}.");
    }
    let mut chars = all.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let atomic = if computed.effects.len() > 1 { ", all or none" } else { "" };
    format!("{first}{}{atomic}.", chars.as_str())
}
