//! Adds edges to the files and symbols that a call touched, whether it succeeded or not (SPEC §8). A failed
//! call is the latest outcome for its file too. The diagnostics of a replacement get edges as those of a
//! check do.

use crate::plan::ToolCall;
use crate::run::{Edge, EdgeType, TargetKind};

use super::tool::Tool;
use super::{Invocation, Toolbox};

/// Maximum number of files to which one call has edges because of its diagnostics.
const MAX_FILES: usize = 1_000;

/// Adds the edges that the tool itself did not add.
pub(super) fn complete(
    toolbox: &Toolbox,
    call: &ToolCall,
    tool: &dyn Tool,
    invocation: &mut Invocation,
) {
    let worked_on = |edge: &Edge| {
        (edge.edge_type, edge.target_kind) == (EdgeType::ExecutedOn, TargetKind::File)
    };
    if !invocation.edges.iter().any(worked_on) {
        if let Some((edge_type, symbol)) = tool.symbol() {
            add(&mut invocation.edges, edge_type, TargetKind::Symbol, symbol);
        }
        // A path that leads outside was not touched.
        let named = call.paths();
        let file = named.first().filter(|_| !tool.tells_files());
        if let Some(key) = file.and_then(|named| toolbox.key_of(named.path).ok()) {
            add(&mut invocation.edges, EdgeType::ExecutedOn, TargetKind::File, &key);
        }
    }
    let changed = invocation.files.iter().chain(&invocation.beside);
    for file in changed.filter(|file| file.before != file.after) {
        add(&mut invocation.edges, EdgeType::Affected, TargetKind::File, &file.path);
    }
    let mut seen = std::collections::BTreeSet::new();
    for diagnostic in &invocation.diagnostics {
        if let Some(code) = &diagnostic.code {
            add(&mut invocation.edges, EdgeType::Produced, TargetKind::Diagnostic, code);
        }
        let file = diagnostic.file_name.as_str();
        if seen.len() < MAX_FILES
            && seen.insert(file)
            && toolbox.key_of(file).is_ok_and(|key| key == file)
            && !invocation.edges.iter().any(|edge| is_file(edge, file))
        {
            add(&mut invocation.edges, EdgeType::Referenced, TargetKind::File, file);
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
