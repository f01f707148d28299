//! Positions in a text.

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

/// A range of a text. Lines count from 1. Columns count bytes from 0, as in code graphs. The order of the fields is
/// that of serialized results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names are descriptive")]
pub struct Span {
    pub start_line: usize,
    pub start_col: usize,
    pub end_line: usize,
    pub end_col: usize,
    pub byte_start: usize,
    pub byte_end: usize,
}

impl Span {
    pub(super) fn of(node: Node<'_>) -> Self {
        let (start, end) = (node.start_position(), node.end_position());
        Self {
            byte_start: node.start_byte(),
            byte_end: node.end_byte(),
            start_line: start.row + 1,
            start_col: start.column,
            end_line: end.row + 1,
            end_col: end.column,
        }
    }
}
