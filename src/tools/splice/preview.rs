//! The preview of a replacement (SPEC §2). Only reads files.

use crate::code::Language;
use crate::plan::ToolCall;
use crate::run::{Diff, FileChange, FileEffect, Predicted, Preview, StopSignal, text};

use crate::symbols::{Chosen, Work};
use crate::tools::changes::{left_by_earlier_step, shown};
use crate::tools::tool::PreviewWithEffects;
use crate::tools::{After, ToolError, Toolbox};
use crate::workspace::{Overlay, go_on};

use super::done::add;
use super::plan_file::Patch;
use super::prepare::{Prepared, patches, prepare};

/// The preview of a call that replaces definitions, and its changes of files. When a later patch of a plan
/// would fail, the preview has the changes of the earlier ones and reports the failure.
///
/// # Errors
/// Why the first replacement would fail.
pub(in super::super) fn preview(
    at: After<'_>,
    call: &ToolCall,
    stop: &StopSignal,
) -> Result<PreviewWithEffects, ToolError> {
    let patches = patches(at, call, |_, _| Ok(()))?;
    let chosen = at.symbols().choose(Work::Splice, stop)?;
    let mut made = Made {
        toolbox: at.toolbox,
        stop,
        is_gated: false,
        overlay: at.overlay.clone(),
        changes: Vec::new(),
        effects: Vec::new(),
        notes: Vec::new(),
    };
    let mut failure = None;
    for patch in &patches {
        go_on(stop)?;
        if let Err(error) = made.add(patch, &chosen, patches.len() > 1) {
            failure = Some(error);
            break;
        }
    }
    let mut preview = match failure {
        Some(error) if made.changes.is_empty() => return Err(error),
        Some(error) => {
            // A run would still make the earlier replacements, so their changes are shown.
            made.notes.push(error.next());
            let (place, count) = (made.changes.len() + 1, patches.len());
            let why = format!("replacement {place} of {count}: {error}. The earlier ones stay");
            Preview::failure(why, Vec::new())
        }
        None => Preview::exact(made.summary(), Vec::new(), Vec::new()),
    };
    made.notes.extend(chosen.notes(None));
    if chosen.is_external {
        made.notes.push(
            "splice writes the file itself; if the result differs from this preview, the file is put back.".to_owned(),
        );
    }
    // The verdict of cargo or splice is known only after they have run.
    if chosen.is_external || made.is_gated {
        preview.predicted = Predicted::Partial;
    }
    Ok((Preview { changes: made.changes, notes: made.notes, ..preview }, made.effects))
}

struct Made<'a> {
    toolbox: &'a Toolbox,
    stop: &'a StopSignal,
    /// Whether `cargo check` must find no new errors.
    is_gated: bool,
    overlay: Overlay,
    changes: Vec<FileChange>,
    effects: Vec<FileEffect>,
    notes: Vec<String>,
}

/// Describes how the result is checked, in sentences, and returns whether cargo checks it.
fn gate(at: After<'_>, prepared: &Prepared<'_>) -> Result<(String, bool), ToolError> {
    let parses = format!("The result parses as {}.", prepared.language.name());
    if prepared.language != Language::Rust {
        return Ok((parses, false));
    }
    let is_gated = at.cargo_manifest_for(&prepared.path)?.is_some();
    let cargo = if is_gated {
        at.toolbox.launcher.cargo()?;
        "cargo check runs once you approve, before and after the change; a new error restores the file. If the \
         package does not compile before the change, earlier errors may hide new ones, and the result says so. \
         cargo check may write the target folder and Cargo.lock."
    } else {
        "There is no Cargo project here, so cargo check does not run."
    };
    Ok((format!("{parses} {cargo}"), is_gated))
}

impl Made<'_> {
    fn add(&mut self, patch: &Patch, chosen: &Chosen<'_>, many: bool) -> Result<(), ToolError> {
        let prepared =
            prepare(self.toolbox.projected(&self.overlay), patch, &*chosen.engine, self.stop)?;
        let effect = prepared.effect();
        let is_left = self.overlay.get(&effect.path).is_some();
        let unchanged = effect.before == effect.after;
        self.changes.push(shown(&effect));
        self.notes.push(found(&prepared, many));
        if is_left && !many {
            self.notes.push(left_by_earlier_step(&effect.path));
        }
        if let Some(name) = &prepared.replaced.defines_instead {
            let asked = &prepared.replaced.definition.name;
            self.notes.push(format!("The replacement defines {name}, not {asked}."));
        }
        if !unchanged {
            let (note, is_gated) = gate(self.toolbox.after(&self.overlay), &prepared)?;
            self.is_gated |= is_gated;
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.overlay.put(effect.path.clone(), effect.after_bytes.clone());
        add(&mut self.effects, effect);
        Ok(())
    }

    fn summary(&self) -> String {
        let changed: Vec<_> =
            self.changes.iter().filter(|change| change.diff != Diff::Unchanged).collect();
        let mut files: Vec<_> = changed.iter().map(|change| change.path.as_str()).collect();
        files.dedup();
        match (self.changes.as_slice(), files.as_slice()) {
            ([only], []) => {
                format!("This step changes nothing: {} has this definition already.", only.path)
            }
            (_, []) => {
                "This step changes nothing: the files have these definitions already.".to_owned()
            }
            ([only], _) => match &only.diff {
                Diff::Text { added, removed, .. } => format!(
                    "Replaces a definition in {}: {removed} {} {} {added}.",
                    only.path,
                    text::lines(*removed),
                    if *removed == 1 { "becomes" } else { "become" }
                ),
                _ => format!("Replaces a definition in {}.", only.path),
            },
            (all, _) => format!("Replaces {} definitions in {}.", all.len(), files.join(", ")),
        }
    }
}

/// A sentence with the place of the definition.
fn found(prepared: &Prepared<'_>, many: bool) -> String {
    let it = &prepared.replaced.definition;
    let span = it.span;
    let kind = match it.kind.as_str() {
        kind if kind.starts_with(['e', 'i']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    };
    let lines = match span.end_line - span.start_line {
        0 => format!("line {}", span.start_line),
        _ => format!("lines {} to {}", span.start_line, span.end_line),
    };
    let place = if many { format!(" of {}", prepared.target.key()) } else { String::new() };
    format!(
        "{} is found once{place}: {kind}, {lines}, bytes {} to {}.",
        it.fqn, span.byte_start, span.byte_end
    )
}
