//! `inspect` (SPEC §9): of what the program consists. Files are read, and nothing is run.

mod manifest;
mod overview;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::plan::InspectQuery;
use crate::run::{Edge, EdgeType, Predicted, Preview, TargetKind};

use super::{Context, Invocation, StopSignal, ToolError, Toolbox, engine, search};

/// Looks.
pub(super) fn invoke(
    toolbox: &Toolbox,
    query: &InspectQuery,
    most: usize,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    if context.stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    match query {
        InspectQuery::Overview => overview::overview(toolbox, most, context.stop).map(told),
        InspectQuery::Search(text) => {
            let pattern = regex::escape(text);
            let mut found = search::search(&toolbox.roots, &pattern, ".", context)?;
            cut(&mut found, most);
            Ok(found)
        }
        InspectQuery::Symbol(name) => {
            let mut answer = engine::look_up(toolbox, name, most, context.stop).map(told)?;
            answer.edges.push(Edge {
                edge_type: EdgeType::Referenced,
                target_kind: TargetKind::Symbol,
                target: name.clone(),
            });
            Ok(answer)
        }
        InspectQuery::Semantic => engine::semantic(toolbox, most, context.stop).map(told),
    }
}

/// An answer that is one JSON object.
fn told(answer: Value) -> Invocation {
    let stdout = serde_json::to_vec(&answer).ok();
    Invocation { stdout, result: answer, ..Invocation::default() }
}

/// Leaves as many of an array as were asked for, and says how many there were besides.
fn cut(found: &mut Invocation, most: usize) {
    let stdout = found.stdout.take().unwrap_or_default();
    let mut all: Vec<&RawValue> = serde_json::from_slice(&stdout).unwrap_or_default();
    let left_out = all.len().saturating_sub(most);
    all.truncate(most);
    found.stdout = serde_json::to_vec(&all).ok();
    if let Value::Object(fields) = &mut found.result {
        fields.insert("given".to_owned(), json!(all.len()));
        fields.insert("left_out".to_owned(), json!(left_out));
    }
}

/// What would be looked at.
pub(super) fn preview(
    toolbox: &Toolbox,
    query: &InspectQuery,
    most: usize,
    stop: &StopSignal,
) -> Result<Preview, ToolError> {
    let (summary, mut notes) = match query {
        InspectQuery::Overview => {
            let notes = vec!["Files are read, and nothing is run.".to_owned()];
            ("Gives an overview of the program: packages, targets, languages.".to_owned(), notes)
        }
        InspectQuery::Search(text) => {
            search::regex(&regex::escape(text))?;
            (format!("Searches the files of the workspace for {text:?}."), Vec::new())
        }
        InspectQuery::Symbol(name) => {
            let chosen = engine::choose(toolbox, engine::Work::Read, stop)?;
            let summary = format!("Looks up where {name} is defined and named.");
            (summary, chosen.notes(None))
        }
        InspectQuery::Semantic => {
            let path = toolbox.codegraph().ok_or(engine::EngineError::NoCodegraph)?;
            (format!("Reads the code graph {}.", path.display()), Vec::new())
        }
    };
    notes.push(format!("Gives at most {most} of each, and says how many more there are."));
    Ok(Preview { predicted: Predicted::Exact, summary, changes: Vec::new(), notes })
}
