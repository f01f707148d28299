//! `inspect` (SPEC §9): describes the program from its files. Runs nothing.

mod manifest;
mod overview;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use super::search::{FileSearch, regex};
use super::tool::{PreviewWithEffects, Tool, read_only, set_field};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::InspectQuery;
use crate::run::{Edge, EdgeType, TargetKind};
use crate::symbols::Work;
use crate::workspace::check_cancelled;

/// A call of `inspect`. `max_results` is the maximum number of results of each kind.
pub(super) struct Inspect<'a> {
    pub(super) query: &'a InspectQuery,
    pub(super) max_results: usize,
}

impl Tool for Inspect<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        let (summary, mut notes) = match self.query {
            InspectQuery::Overview => {
                let summary = "Gives an overview of the program: packages, targets, languages.";
                (summary.to_owned(), vec!["Files are read, and nothing is run.".to_owned()])
            }
            InspectQuery::Search(text) => {
                regex(&regex::escape(text))?;
                (format!("Searches the files of the workspace for {text:?}."), Vec::new())
            }
            InspectQuery::Symbol(name) => {
                let chosen =
                    projected.toolbox.now().symbols().choose(Work::Read, projected.stop)?;
                let summary = format!("Looks up where {name} is defined and named.");
                (summary, chosen.notes(None))
            }
            InspectQuery::Semantic => {
                let symbols = projected.toolbox.now().symbols();
                let chosen = symbols.choose(Work::Read, projected.stop)?;
                let summary = match symbols.codegraph().filter(|_| chosen.is_external) {
                    Some(path) => format!("Reads the code graph {}.", path.display()),
                    None => "Reads what the files define and call.".to_owned(),
                };
                (summary, chosen.notes(None))
            }
        };
        notes.push(format!(
            "Gives at most {} of each, and says how many more there are.",
            self.max_results
        ));
        Ok(read_only(summary, notes))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        check_cancelled(context.stop)?;
        let symbols = toolbox.now().symbols();
        let answer = match self.query {
            InspectQuery::Overview => overview::overview(toolbox, self.max_results, context.stop)?,
            InspectQuery::Search(text) => {
                let pattern = &regex::escape(text);
                let mut found = FileSearch { pattern, root: "." }.invoke(toolbox, context)?;
                truncate(&mut found, self.max_results);
                return Ok(found);
            }
            InspectQuery::Symbol(name) => symbols.look_up(name, self.max_results, context.stop)?,
            InspectQuery::Semantic => symbols.summary(self.max_results, context.stop)?,
        };
        let edges = match self.query {
            InspectQuery::Symbol(name) => {
                vec![Edge::new(EdgeType::Referenced, TargetKind::Symbol, name)]
            }
            _ => Vec::new(),
        };
        let stdout = serde_json::to_vec(&answer).ok();
        Ok(CallResult { stdout, result: answer, edges, ..CallResult::default() })
    }
}

/// Truncates the JSON array in `found.stdout` to `max_results` elements, and adds the numbers of kept and omitted
/// elements to the result.
fn truncate(found: &mut CallResult, max_results: usize) {
    let stdout = found.stdout.take().unwrap_or_default();
    let mut all: Vec<&RawValue> = serde_json::from_slice(&stdout).unwrap_or_default();
    let left_out = all.len().saturating_sub(max_results);
    all.truncate(max_results);
    found.stdout = serde_json::to_vec(&all).ok();
    set_field(&mut found.result, "given", all.len());
    set_field(&mut found.result, "left_out", left_out);
}
