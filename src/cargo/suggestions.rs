//! What the compiler itself offers to change (SPEC §10, the planner `cargo-fix`): only what it calls safe to
//! apply without a person.

use super::check::Scope;
use super::names::Names;
use super::run::Cargo;
use super::{CargoError, message, project, text};
use crate::process::Leftovers;
use cargo_metadata::diagnostic::{
    Applicability, Diagnostic, DiagnosticLevel, DiagnosticSpan as Span,
};

/// What a check of the program found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestions {
    /// How many errors the compiler reported.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// What can be applied, in the order of the compiler.
    pub offers: Vec<Offer>,
}

/// One change that the compiler offers, which may touch several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The code of what it mends, or the message where there is none.
    pub mends: String,
    /// The places; all of them are replaced, or none.
    pub replacements: Vec<Replacement>,
}

/// One place and what belongs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file, by its canonical path inside the workspace.
    pub path: String,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// What belongs there.
    pub text: String,
}

impl Cargo<'_> {
    /// Checks every target of the program in the workspace, and tells what the compiler offers to apply.
    ///
    /// # Errors
    /// A workspace without a Cargo project; a cargo that is missing, stopped, or ends without a verdict.
    pub(crate) fn suggestions(&self) -> Result<Suggestions, CargoError> {
        let project = project::find(self.workspace.unchanged(), ".")?;
        let arguments: Vec<&str> =
            Scope::Gate.arguments().iter().copied().chain(["--all-targets"]).collect();
        let finished = self.run(&project, &arguments, (self.check_timeout, Leftovers::End))?;
        let said = message::diagnostics(finished.stdout.bytes());
        let mut names = Names::new(self.workspace, self.root_of(&project));
        let found = Suggestions::of(&said, &mut names);
        if finished.exit_code != Some(0) && found.errors == 0 {
            let how = "ended without a verdict".to_owned();
            return Err(CargoError::Failed { how, said: text::said(finished.stderr.bytes()) });
        }
        Ok(found)
    }
}

impl Suggestions {
    fn of(said: &[Diagnostic], names: &mut Names<'_>) -> Self {
        let mut found = Self { errors: 0, warnings: 0, offers: Vec::new() };
        let mut seen = std::collections::HashSet::new();
        for said in said {
            // A library and its tests are compiled from the same text, and say the same of it.
            if !seen.insert((said.message.as_str(), &said.spans)) {
                continue;
            }
            match said.level {
                DiagnosticLevel::Error | DiagnosticLevel::Ice => found.errors += 1,
                DiagnosticLevel::Warning => found.warnings += 1,
                _ => {}
            }
            // Of several ways to mend the same thing the first one.
            let offer = said.children.iter().chain([said]).find_map(|child| offer(child, names));
            let mends =
                said.code.as_ref().map_or_else(|| said.message.clone(), |code| code.code.clone());
            found.offers.extend(offer.map(|replacements| Offer { mends, replacements }));
        }
        found
    }
}

/// The places of one suggestion; none where it is not for every place one that can be applied unseen, or
/// leads out of the workspace or into a macro.
fn offer(said: &Diagnostic, names: &mut Names<'_>) -> Option<Vec<Replacement>> {
    let offered: Vec<&Span> =
        said.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
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
