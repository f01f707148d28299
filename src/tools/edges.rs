//! Adds the edges from an execution to the files, symbols and diagnostics that it touched (SPEC §8). A failed call
//! gets them too, because it is the latest outcome for its file.

use super::tool::Tool;
use super::{CallResult, Toolbox};
use crate::plan::ToolCall;
use crate::run::{Edge, EdgeType, TargetKind};

/// Maximum number of files to which one call has edges because of its diagnostics.
const MAX_FILES: usize = 1_000;

/// Adds the edges that the tool itself did not add.
pub(super) fn add_missing(
    toolbox: &Toolbox,
    call: &ToolCall,
    tool: &dyn Tool,
    call_result: &mut CallResult,
) {
    let executed_on_file = |edge: &Edge| {
        (edge.edge_type, edge.target_kind) == (EdgeType::ExecutedOn, TargetKind::File)
    };
    if !call_result.edges.iter().any(executed_on_file) {
        if let Some((edge_type, symbol)) = tool.symbol() {
            add(&mut call_result.edges, edge_type, TargetKind::Symbol, symbol);
        }
        // A file outside the roots was not touched.
        let named = call.paths();
        let file = named.first().filter(|_| !tool.adds_file_edges());
        if let Some(key) = file.and_then(|named| toolbox.key_of(named.path).ok()) {
            add(&mut call_result.edges, EdgeType::ExecutedOn, TargetKind::File, &key);
        }
    }
    let changed = call_result.files.iter().chain(&call_result.side_effects);
    for file in changed.filter(|file| file.before != file.after) {
        add(&mut call_result.edges, EdgeType::Affected, TargetKind::File, &file.path);
    }
    let mut seen = std::collections::BTreeSet::new();
    for diagnostic in &call_result.diagnostics {
        if let Some(code) = &diagnostic.code {
            add(&mut call_result.edges, EdgeType::Produced, TargetKind::Diagnostic, code);
        }
        let file = diagnostic.file_name.as_str();
        if seen.len() < MAX_FILES
            && seen.insert(file)
            && toolbox.key_of(file).is_ok_and(|key| key == file)
            && !call_result.edges.iter().any(|edge| is_file(edge, file))
        {
            add(&mut call_result.edges, EdgeType::Referenced, TargetKind::File, file);
        }
    }
}

fn is_file(edge: &Edge, file: &str) -> bool {
    edge.target_kind == TargetKind::File && edge.target == file
}

fn add(edges: &mut Vec<Edge>, edge_type: EdgeType, target_kind: TargetKind, target: &str) {
    let edge = Edge::new(edge_type, target_kind, target);
    if !edges.contains(&edge) {
        edges.push(edge);
    }
}
