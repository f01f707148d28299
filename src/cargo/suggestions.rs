//! The compiler's own suggestions (SPEC §10, the planner `cargo-fix`), limited to those that it marks as
//! safe to apply without review.

use super::{Cargo, CargoError, Names, OUTPUT_BYTES, Scope, message, project, text};
use crate::process::Leftovers;
use cargo_metadata::diagnostic::{
    Applicability, Diagnostic, DiagnosticLevel, DiagnosticSpan as Span,
};

/// The result of a check for suggestions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestions {
    /// The number of errors that the compiler reported, without duplicates.
    pub errors: usize,
    /// The number of warnings that the compiler reported, without duplicates.
    pub warnings: usize,
    /// The applicable suggestions, in the compiler's order.
    pub list: Vec<Suggestion>,
}

/// One suggestion of the compiler, which may change several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The code of the diagnostic that the suggestion fixes, or the message of a diagnostic without a code.
    pub fixes: String,
    /// The replacements; they are applied together or not at all.
    pub replacements: Vec<Replacement>,
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file, by its canonical path inside the workspace.
    pub path: String,
    /// Start of the replaced text, in bytes.
    pub start: usize,
    /// End of the replaced text, in bytes.
    pub end: usize,
    /// The new text.
    pub text: String,
}

impl Cargo<'_> {
    /// Checks every target of the project in the workspace folder, and returns the suggestions that can be
    /// applied.
    ///
    /// # Errors
    /// There is no Cargo project, its manifest cannot be read, cargo cannot be started, is ended before its check is
    /// complete, or fails without reporting an error.
    pub(crate) fn suggestions(&self) -> Result<Suggestions, CargoError> {
        let project = project::find(self.workspace.unchanged(), ".")?;
        let arguments: Vec<&str> =
            Scope::KeepGoing.arguments().iter().copied().chain(["--all-targets"]).collect();
        let finished = self.run(&project, &arguments, (self.check_timeout, Leftovers::End))?;
        // The messages of a check that was ended are not complete.
        if let Some(ended) = finished.ended("cargo check", self.check_timeout, OUTPUT_BYTES) {
            return Err(ended.into());
        }
        let (diagnostics, _) = message::diagnostics(&finished.stdout);
        let mut names = Names::new(self.workspace, self.root_of(&project));
        let found = Suggestions::of(&diagnostics, &mut names);
        if finished.exit_code != Some(0) && found.errors == 0 {
            let status = "failed without reporting an error".to_owned();
            return Err(CargoError::Failed {
                status,
                output: text::failure_report(&finished.stderr),
            });
        }
        Ok(found)
    }
}

impl Suggestions {
    fn of(diagnostics: &[Diagnostic], names: &mut Names<'_>) -> Self {
        let mut found = Self { errors: 0, warnings: 0, list: Vec::new() };
        let mut seen = std::collections::HashSet::new();
        for diagnostic in diagnostics {
            // A library and its unit tests are compiled from the same source, and report the same
            // diagnostics.
            if !seen.insert((diagnostic.message.as_str(), &diagnostic.spans)) {
                continue;
            }
            match diagnostic.level {
                DiagnosticLevel::Error | DiagnosticLevel::Ice => found.errors += 1,
                DiagnosticLevel::Warning => found.warnings += 1,
                _ => {}
            }
            // Of several alternative suggestions, the first applicable one is taken.
            let applicable = diagnostic
                .children
                .iter()
                .chain([diagnostic])
                .find_map(|it| replacements(it, names));
            let fixes = diagnostic
                .code
                .as_ref()
                .map_or_else(|| diagnostic.message.clone(), |code| code.code.clone());
            found.list.extend(applicable.map(|replacements| Suggestion { fixes, replacements }));
        }
        found
    }
}

/// The replacements of one suggestion; `None` unless all of them are machine-applicable, inside the
/// workspace and outside macros.
fn replacements(diagnostic: &Diagnostic, names: &mut Names<'_>) -> Option<Vec<Replacement>> {
    let offered: Vec<&Span> =
        diagnostic.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
    if offered.is_empty() {
        return None;
    }
    let replacement = |span: &Span| {
        let name = names.get(&span.file_name);
        let usable =
            matches!(span.suggestion_applicability, Some(Applicability::MachineApplicable))
                && span.expansion.is_none()
                && name.is_inside
                && !name.path.starts_with('/');
        usable.then(|| {
            Some(Replacement {
                path: name.path,
                start: usize::try_from(span.byte_start).ok()?,
                end: usize::try_from(span.byte_end).ok()?,
                text: span.suggested_replacement.clone()?,
            })
        })?
    };
    offered.into_iter().map(replacement).collect()
}
