//! Finds references: places that use a name.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;
use tree_sitter::{Node, QueryCursor, StreamingIterator as _};

use super::source::Source;
use super::span::Span;
use super::symbol::segments;

/// The kind of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// A call or a macro use.
    Call,
    /// An import.
    Import,
    /// Any other use.
    Other,
}

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// The name.
    pub symbol: String,
    /// The kind of use.
    pub kind: ReferenceKind,
    /// The position of the name.
    pub span: Span,
    /// The full name of the innermost definition around the place.
    pub from_symbol: Option<String>,
}

impl Source<'_> {
    /// All names in text order, except in definitions, comments and strings.
    pub fn references(&self) -> Vec<Reference> {
        self.named(|_, _| true)
    }

    /// The references to one symbol. Only names are compared: for `Type::method`, every use of `method` counts
    /// unless another type qualifies it.
    pub fn references_to(&self, symbol: &str) -> Vec<Reference> {
        let parts = segments(symbol);
        let Some((name, qualifiers)) = parts.split_last() else { return Vec::new() };
        self.named(|node, parent| {
            self.text_of(node) == *name
                && qualifiers.last().is_none_or(|wanted| self.may_be_of(node, parent, wanted))
        })
    }

    fn named(&self, wanted: impl Fn(Node<'_>, Option<Node<'_>>) -> bool) -> Vec<Reference> {
        let (definitions, names) = self.definitions_and_names();
        let (calls, imports) = self.calls_and_imports();
        let mut next = definitions.iter().peekable();
        let mut around = Vec::new();
        let mut references: Vec<Reference> = Vec::new();
        let mut cursor = self.tree.walk();
        // Enclosing nodes. Asking a node for its parent would search from the root.
        let mut parents: Vec<Node<'_>> = Vec::new();
        // The index of a name inside a macro, until the next sibling shows whether it is a call.
        let mut pending: Option<usize> = None;
        loop {
            let node = cursor.node();
            if let Some(reference) = pending.take().and_then(|at| references.get_mut(at))
                && opens_parentheses(node)
            {
                reference.kind = ReferenceKind::Call;
            }
            if node.child_count() == 0 && self.language.is_identifier(node.kind()) {
                let at = node.start_byte();
                while let Some(definition) = next.next_if(|it| it.span.byte_start <= at) {
                    around.push(definition);
                }
                around.retain(|it| it.span.byte_end > at);
                let parent = parents.last().copied();
                if !names.contains(&at) && wanted(node, parent) {
                    // The arguments of a macro are plain tokens.
                    let in_macro = parent.is_some_and(|parent| parent.kind() == "token_tree");
                    pending = in_macro.then_some(references.len());
                    references.push(Reference {
                        symbol: self.text_of(node).to_owned(),
                        kind: if calls.contains(&at) {
                            ReferenceKind::Call
                        } else if holds(&imports, at) {
                            ReferenceKind::Import
                        } else {
                            ReferenceKind::Other
                        },
                        span: Span::of(node),
                        from_symbol: around.last().map(|it| it.fqn.clone()),
                    });
                }
            }
            if cursor.goto_first_child() {
                parents.push(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                pending = None;
                parents.pop();
                if !cursor.goto_parent() {
                    return references;
                }
            }
        }
    }

    /// The positions of call names, and the ranges of imports, in order and disjoint.
    fn calls_and_imports(&self) -> (HashSet<usize>, Vec<Range<usize>>) {
        let (mut calls, mut imports) = (HashSet::new(), Vec::new());
        let Some(query) = self.language.query() else { return (calls, imports) };
        let names = query.capture_names();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, self.tree.root_node(), self.text.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures() {
                match names.get(capture.index as usize) {
                    Some(&"call") => drop(calls.insert(capture.node.start_byte())),
                    Some(&"import") => imports.push(capture.node.byte_range()),
                    _ => {}
                }
            }
        }
        (calls, merged(imports))
    }

    /// Whether the qualifier of a name allows the type `wanted`.
    fn may_be_of(&self, node: Node<'_>, parent: Option<Node<'_>>, wanted: &str) -> bool {
        let Some(parent) = parent else { return true };
        let before = parent.child_by_field_name("path").or(parent.child_by_field_name("scope"));
        let Some(before) = before.filter(|before| before.end_byte() <= node.start_byte()) else {
            return true;
        };
        let written = segments(self.text_of(before));
        matches!(written.last(), Some(&("Self" | "self" | "super" | "crate")) | None)
            || written.last() == Some(&wanted)
    }
}

/// Whether the name before this token tree is called.
fn opens_parentheses(node: Node<'_>) -> bool {
    node.kind() == "token_tree" && node.child(0).is_some_and(|first| first.kind() == "(")
}

/// Sorts ranges and merges overlapping ones.
pub(super) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|it| it.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Whether one of these ordered, disjoint ranges contains `at`.
pub(super) fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let behind = ranges.partition_point(|it| it.start <= at);
    behind.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|it| it.contains(&at))
}
