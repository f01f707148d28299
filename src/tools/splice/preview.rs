//! The preview of a replacement (SPEC §2). Only reads files.

use super::plan_file::Patch;
use super::prepare::{Prepared, patches, prepare};
use super::progress::add_effect;
use crate::code::Language;
use crate::plan::ToolCall;
use crate::run::{Diff, FileChange, FileEffect, Predicted, Preview, StopSignal, text};
use crate::symbols::{ChosenEngine, Work};
use crate::tools::changes::{earlier_step_note, file_change};
use crate::tools::tool::PreviewWithEffects;
use crate::tools::{ProjectedToolbox, ToolError, Toolbox};
use crate::workspace::{Overlay, check_cancelled};

/// The preview of a call that replaces definitions, and its file changes. If a later patch of a plan would fail, the
/// preview has the changes of the earlier ones and reports the failure.
///
/// # Errors
/// Why the first replacement would fail; a stop.
pub(in super::super) fn preview(
    projected: ProjectedToolbox<'_>,
    call: &ToolCall,
) -> Result<PreviewWithEffects, ToolError> {
    let patches = patches(projected, call, |_, _| Ok(()))?;
    let chosen = projected.symbols().choose(Work::Splice, projected.stop)?;
    let mut computed = Computed {
        toolbox: projected.toolbox,
        stop: projected.stop,
        is_checked: false,
        overlay: projected.overlay.clone(),
        changes: Vec::new(),
        effects: Vec::new(),
        notes: Vec::new(),
    };
    let mut failure = None;
    for patch in &patches {
        check_cancelled(projected.stop)?;
        if let Err(error) = computed.add(patch, &chosen, patches.len() > 1) {
            failure = Some(error);
            break;
        }
    }
    let mut preview = match failure {
        Some(error) if computed.changes.is_empty() => return Err(error),
        Some(error) => {
            // A run would still make the earlier replacements, so their changes are shown.
            computed.notes.push(error.next());
            let (number, count) = (computed.changes.len() + 1, patches.len());
            let why = format!(
                "replacement {number} of {count}: {error}. The earlier replacements are kept"
            );
            Preview::failure(why, Vec::new())
        }
        None => Preview::exact(computed.summary(), Vec::new(), Vec::new()),
    };
    computed.notes.extend(chosen.notes(None));
    if chosen.is_external {
        computed.notes.push(
            "splice writes the file itself; if the result differs from this preview, the file is put back.".to_owned(),
        );
    }
    // The verdict of cargo or splice is known only after they have run.
    if chosen.is_external || computed.is_checked {
        preview.predicted = Predicted::Partial;
    }
    Ok((Preview { changes: computed.changes, notes: computed.notes, ..preview }, computed.effects))
}

/// The replacements that are computed so far.
struct Computed<'a> {
    toolbox: &'a Toolbox,
    stop: &'a StopSignal,
    /// Whether `cargo check` decides about at least one change.
    is_checked: bool,
    overlay: Overlay,
    changes: Vec<FileChange>,
    effects: Vec<FileEffect>,
    notes: Vec<String>,
}

/// The note on how the result is checked, and whether cargo checks it.
fn check_note(
    projected: ProjectedToolbox<'_>,
    prepared: &Prepared<'_>,
) -> Result<(String, bool), ToolError> {
    let parses = format!("The result parses as {}.", prepared.language.name());
    if prepared.language != Language::Rust {
        return Ok((parses, false));
    }
    let is_checked = projected.cargo_manifest_for(&prepared.path)?.is_some();
    let cargo = if is_checked {
        projected.toolbox.launcher.cargo()?;
        "cargo check runs once you approve, before and after the change; a new error restores the file. If the \
         package does not compile before the change, earlier errors may hide new ones, and the result says so. \
         cargo check may write the target folder and Cargo.lock."
    } else {
        "There is no Cargo project here, so cargo check does not run."
    };
    Ok((format!("{parses} {cargo}"), is_checked))
}

impl Computed<'_> {
    /// Computes one replacement after the earlier ones. `many` states whether the call has several.
    fn add(
        &mut self,
        patch: &Patch,
        chosen: &ChosenEngine<'_>,
        many: bool,
    ) -> Result<(), ToolError> {
        let prepared =
            prepare(self.toolbox.projected(&self.overlay), patch, &*chosen.engine, self.stop)?;
        let effect = prepared.effect();
        let is_from_earlier_step = self.overlay.get(&effect.path).is_some();
        // Comes first, because a replacement that fails must not be among the changes.
        let check = (effect.before != effect.after)
            .then(|| check_note(self.toolbox.after(&self.overlay), &prepared))
            .transpose()?;
        self.changes.push(file_change(&effect));
        self.notes.push(definition_note(&prepared, many));
        if is_from_earlier_step && !many {
            self.notes.push(earlier_step_note(&effect.path));
        }
        if let Some(name) = &prepared.replaced.defines_instead {
            let replaced = &prepared.replaced.definition.name;
            self.notes.push(format!("The replacement defines {name}, not {replaced}."));
        }
        if let Some((note, is_checked)) = check {
            self.is_checked |= is_checked;
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.overlay.insert(effect.path.clone(), effect.after_bytes.clone());
        add_effect(&mut self.effects, effect);
        Ok(())
    }

    fn summary(&self) -> String {
        let changed: Vec<_> =
            self.changes.iter().filter(|change| change.diff != Diff::Unchanged).collect();
        let mut files: Vec<&str> = Vec::new();
        for change in &changed {
            if !files.contains(&change.path.as_str()) {
                files.push(&change.path);
            }
        }
        match (self.changes.as_slice(), changed.as_slice()) {
            ([only], []) => {
                format!("This step changes nothing: {} has this definition already.", only.path)
            }
            (_, []) => {
                "This step changes nothing: the files have these definitions already.".to_owned()
            }
            (_, [only]) => match &only.diff {
                Diff::Text { added, removed, .. } => format!(
                    "Replaces a definition in {}: {removed} {} {} {added}.",
                    only.path,
                    text::lines(*removed),
                    if *removed == 1 { "becomes" } else { "become" }
                ),
                _ => format!("Replaces a definition in {}.", only.path),
            },
            (_, changed) => {
                format!("Replaces {} definitions in {}.", changed.len(), files.join(", "))
            }
        }
    }
}

/// The note on the kind and position of the definition; with `many` it names the file.
fn definition_note(prepared: &Prepared<'_>, many: bool) -> String {
    let definition = &prepared.replaced.definition;
    let span = definition.span;
    let kind = match definition.kind.as_str() {
        kind if kind.starts_with(['e', 'i']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    };
    let lines = match span.end_line - span.start_line {
        0 => format!("line {}", span.start_line),
        _ => format!("lines {} to {}", span.start_line, span.end_line),
    };
    let file = if many { format!(" in {}", prepared.target.key()) } else { String::new() };
    format!(
        "{} is found once{file}: {kind}, {lines}, bytes {} to {}.",
        definition.fqn, span.byte_start, span.byte_end
    )
}
