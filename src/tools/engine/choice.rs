//! Which engine answers a call: what the policy says, and for `auto` what is there (SPEC §4).

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::code::Language;
use crate::risk::EngineChoice;

use super::super::place::Last;
use super::super::search::look_at_files;
use super::super::source_file::SourceFile;
use super::super::{Overlay, StopSignal, ToolError, Toolbox};
use super::codegraph::Codegraph;
use super::embedded::Embedded;
use super::external::External;
use super::{CodeEngine, Identity};

/// What the engine is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Work {
    /// To list symbols and references.
    Read,
    /// To replace definitions.
    Splice,
}

/// The engine that answers, and why it is this one where that needs a word.
pub(in super::super) struct Chosen<'a> {
    pub(in super::super) engine: Box<dyn CodeEngine + 'a>,
    /// Why `auto` did not take the external engine although there is a code graph.
    pub(in super::super) fallback: Option<String>,
    /// Whether it is the external one.
    pub(in super::super) is_external: bool,
}

impl Chosen<'_> {
    /// Who answered, for the result that goes into the evidence.
    pub(in super::super) fn evidence(&self, file: Option<&SourceFile<'_>>) -> Value {
        let Identity { name, version } = self.engine.identity();
        let mut evidence = json!({ "name": name, "version": version });
        let remarks: Vec<_> =
            self.fallback.iter().cloned().chain(self.engine.remarks(file)).collect();
        if let (false, Value::Object(fields)) = (remarks.is_empty(), &mut evidence) {
            fields.insert("remarks".to_owned(), json!(remarks));
        }
        evidence
    }

    /// Who will answer, as sentences for a preview.
    pub(in super::super) fn notes(&self, file: Option<&SourceFile<'_>>) -> Vec<String> {
        let who = format!("Done by {}.", self.engine.identity().words());
        std::iter::once(who).chain(self.fallback.clone()).chain(self.engine.remarks(file)).collect()
    }
}

/// Chooses the engine for one call.
///
/// # Errors
/// With `external`: no code graph (E103) or one that cannot be used (E310), no `splice` (E303).
pub(in super::super) fn choose<'a>(
    toolbox: &'a Toolbox,
    work: Work,
    stop: &StopSignal,
) -> Result<Chosen<'a>, ToolError> {
    choose_after(toolbox, Overlay::nothing(), work, stop)
}

/// The same after earlier steps. What they change is newer than any code graph.
///
/// # Errors
/// As [`choose`].
pub(in super::super) fn choose_after<'a>(
    toolbox: &'a Toolbox,
    overlay: &Overlay,
    work: Work,
    stop: &StopSignal,
) -> Result<Chosen<'a>, ToolError> {
    let embedded =
        |fallback| Chosen { engine: Box::new(Embedded { toolbox }), fallback, is_external: false };
    match toolbox.engine {
        EngineChoice::Embedded => Ok(embedded(None)),
        EngineChoice::External => external(toolbox, work),
        EngineChoice::Auto => {
            let Some(graph) = toolbox.codegraph() else { return Ok(embedded(None)) };
            let instead = |why: String| {
                Ok(embedded(Some(format!("The embedded engine is used, because {why}."))))
            };
            if !overlay.is_empty() {
                return instead(format!(
                    "{} is older than what earlier steps leave",
                    graph.display()
                ));
            }
            match newer_source(toolbox, &graph, stop) {
                Ok(None) => {}
                Ok(Some(newer)) => {
                    return instead(format!("{} is older than {newer}", graph.display()));
                }
                Err(error @ (ToolError::Cancelled | ToolError::TooMuchToLookAt { .. })) => {
                    return Err(error);
                }
                Err(error) => return instead(error.to_string()),
            }
            match Codegraph::open(&graph)
                .map_err(ToolError::from)
                .and_then(|_| external(toolbox, work))
            {
                Ok(external) => Ok(external),
                Err(error) => instead(error.to_string()),
            }
        }
    }
}

fn external(toolbox: &Toolbox, work: Work) -> Result<Chosen<'_>, ToolError> {
    let engine = match work {
        Work::Read => External::reading(toolbox)?,
        Work::Splice => External::splicing(toolbox)?,
    };
    Ok(Chosen { engine: Box::new(engine), fallback: None, is_external: true })
}

/// A source file that was changed after the code graph was; the first by its path.
fn newer_source(
    toolbox: &Toolbox,
    graph: &Path,
    stop: &StopSignal,
) -> Result<Option<String>, ToolError> {
    let Some(written) = Codegraph::written(graph) else { return Ok(None) };
    let newer = Mutex::new(None::<String>);
    let place = toolbox.roots.resolve(".", Last::Follow)?;
    look_at_files(&place, toolbox.looking(stop), |_, relative, key| {
        let changed = || {
            let metadata = place.root.dir.symlink_metadata(relative).ok()?;
            Some(metadata.modified().ok()?.into_std())
        };
        if Language::of_path(relative).is_some() && changed().is_some_and(|it| it > written) {
            let mut newer = newer.lock().unwrap_or_else(PoisonError::into_inner);
            if newer.as_ref().is_none_or(|other| key < other.as_str()) {
                *newer = Some(key.to_owned());
            }
        }
        Ok(None)
    })?;
    Ok(newer.into_inner().unwrap_or_else(PoisonError::into_inner))
}
