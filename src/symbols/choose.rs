//! Chooses the engine for a call: by the policy and, for `auto`, by whether a code graph is available and up
//! to date (SPEC §4).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::codegraph::Codegraph;
use super::embedded::Embedded;
use super::external::External;
use super::{CodeEngine, Identity, SourceFile, SymbolsError};
use crate::code::Language;
use crate::process::{Programs, is_executable};
use crate::risk::EngineChoice;
use crate::run::StopSignal;
use crate::workspace::scan::search_files;
use crate::workspace::{Last, Projected, Workspace, WorkspaceError};

/// What a call needs an engine for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// To list symbols and references.
    Read,
    /// To replace definitions.
    Splice,
}

/// The engine chosen for a call.
pub(crate) struct ChosenEngine<'a> {
    pub(crate) engine: Box<dyn CodeEngine + 'a>,
    /// Why `auto` did not choose the external engine although there is a code graph.
    pub(crate) fallback: Option<String>,
    /// Whether it is the external engine.
    pub(crate) is_external: bool,
}

impl ChosenEngine<'_> {
    /// The identity of the engine, for the result in the evidence.
    pub(crate) fn evidence(&self, file: Option<&SourceFile<'_>>) -> Value {
        let Identity { name, version } = self.engine.identity();
        let mut evidence = json!({ "name": name, "version": version });
        let remarks: Vec<_> =
            self.fallback.iter().cloned().chain(self.engine.remarks(file)).collect();
        if let (false, Value::Object(fields)) = (remarks.is_empty(), &mut evidence) {
            fields.insert("remarks".to_owned(), json!(remarks));
        }
        evidence
    }

    /// The identity of the engine, as sentences for a preview.
    pub(crate) fn notes(&self, file: Option<&SourceFile<'_>>) -> Vec<String> {
        let who = format!("Done by {}.", self.engine.identity().phrase());
        std::iter::once(who).chain(self.fallback.clone()).chain(self.engine.remarks(file)).collect()
    }
}

/// The settings of the code engines.
#[derive(Debug, Clone)]
pub(crate) struct SymbolSettings {
    pub(crate) choice: EngineChoice,
    /// The path of `splice` in the settings; `None` to search `PATH`.
    pub(crate) splice: Option<PathBuf>,
}

/// The code engines of one workspace, as the earlier steps leave it.
#[derive(Clone, Copy)]
pub(crate) struct Symbols<'a> {
    pub(crate) files: Projected<'a>,
    pub(crate) settings: &'a SymbolSettings,
    pub(crate) programs: &'a Programs,
}

impl<'a> Symbols<'a> {
    /// Chooses the engine for one call. With `auto`, a code graph is not used when an earlier step changes a
    /// file, because it would be outdated.
    ///
    /// # Errors
    /// With `external`: a code graph that is missing (E103) or cannot be used (E310), or a missing `splice`
    /// (E303). With `auto`: a limit of the search for newer files, or a stop.
    pub(crate) fn choose(
        self,
        work: Work,
        stop: &StopSignal,
    ) -> Result<ChosenEngine<'a>, SymbolsError> {
        let workspace = self.files.workspace;
        let embedded = |fallback| ChosenEngine {
            engine: Box::new(Embedded { workspace }),
            fallback,
            is_external: false,
        };
        match self.settings.choice {
            EngineChoice::Embedded => Ok(embedded(None)),
            EngineChoice::External => self.external(work),
            EngineChoice::Auto => {
                let Some(graph) = self.codegraph() else { return Ok(embedded(None)) };
                let fall_back = |why: String| {
                    Ok(embedded(Some(format!("The embedded engine is used, because {why}."))))
                };
                if !self.files.overlay.is_empty() {
                    return fall_back(format!(
                        "{} is older than the changes of earlier steps",
                        graph.display()
                    ));
                }
                match newer_source(workspace, &graph, stop) {
                    Ok(None) => {}
                    Ok(Some(newer)) => {
                        return fall_back(format!("{} is older than {newer}", graph.display()));
                    }
                    Err(
                        error @ (WorkspaceError::Cancelled | WorkspaceError::ReviewLimit { .. }),
                    ) => return Err(error.into()),
                    Err(error) => return fall_back(error.to_string()),
                }
                match Codegraph::open(&graph).and_then(|_| self.external(work)) {
                    Ok(external) => Ok(external),
                    Err(error) => fall_back(error.to_string()),
                }
            }
        }
    }

    fn external(self, work: Work) -> Result<ChosenEngine<'a>, SymbolsError> {
        let workspace = self.files.workspace;
        let graph = match work {
            Work::Read => Some(self.open_codegraph()?),
            Work::Splice => {
                self.splice_program()?;
                None
            }
        };
        let engine = Box::new(External { workspace, graph });
        Ok(ChosenEngine { engine, fallback: None, is_external: true })
    }

    /// Opens the code graph of magellan.
    ///
    /// # Errors
    /// There is no code graph (E103), or it cannot be used (E310).
    pub(super) fn open_codegraph(self) -> Result<Codegraph, SymbolsError> {
        Codegraph::open(&self.codegraph().ok_or(SymbolsError::NoCodegraph)?)
    }

    /// The `codegraph.db` in the workspace or the nearest folder above it; `None` if there is none.
    pub(crate) fn codegraph(self) -> Option<PathBuf> {
        self.files.workspace.find_upwards("codegraph.db").filter(|path| path.is_file())
    }

    /// The program `splice`: at the path in the settings, or else on `PATH`.
    ///
    /// # Errors
    /// The program is missing (E303).
    pub(crate) fn splice_program(self) -> Result<PathBuf, SymbolsError> {
        let configured = self.settings.splice.as_ref();
        let found = match configured {
            Some(path) => Some(path.clone()).filter(|path| is_executable(path)),
            None => self.programs.find("splice"),
        };
        found.ok_or_else(|| {
            let place = match configured {
                Some(path) => format!("at {}", path.display()),
                None => self.programs.where_searched("splice"),
            };
            SymbolsError::NoProgram { place }
        })
    }
}

/// The first source file, by path, that was changed after the code graph. `None` if there is none, or if the time of
/// the code graph is unknown.
fn newer_source(
    workspace: &Workspace,
    graph: &Path,
    stop: &StopSignal,
) -> Result<Option<String>, WorkspaceError> {
    let Some(graph_modified) = Codegraph::modified_at(graph) else { return Ok(None) };
    let newer = Mutex::new(None::<String>);
    let place = workspace.resolve(".", Last::Follow)?;
    search_files(&place, workspace.search_budget(stop), |_, relative, key| {
        let changed = || {
            let metadata = place.root.dir.symlink_metadata(relative).ok()?;
            Some(metadata.modified().ok()?.into_std())
        };
        if Language::of_path(relative).is_some() && changed().is_some_and(|it| it > graph_modified)
        {
            let mut newer = newer.lock().unwrap_or_else(PoisonError::into_inner);
            if newer.as_ref().is_none_or(|other| key < other.as_str()) {
                *newer = Some(key.to_owned());
            }
        }
        Ok(None)
    })?;
    Ok(newer.into_inner().unwrap_or_else(PoisonError::into_inner))
}
