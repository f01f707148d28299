//! Finds references: places that use a name.

use tree_sitter::Node;

use super::source::Source;
use super::span::Span;
use super::symbol::segments;

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name.
    pub symbol: String,
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
        let mut next = definitions.iter().peekable();
        let mut around = Vec::new();
        let mut references: Vec<Reference> = Vec::new();
        let mut cursor = self.tree.walk();
        // Enclosing nodes. `Node::parent` would search from the root.
        let mut parents: Vec<Node<'_>> = Vec::new();
        loop {
            let node = cursor.node();
            if node.child_count() == 0 && self.language.is_identifier(node.kind()) {
                let at = node.start_byte();
                while let Some(definition) = next.next_if(|it| it.span.byte_start <= at) {
                    around.push(definition);
                }
                around.retain(|it| it.span.byte_end > at);
                let parent = parents.last().copied();
                if !names.contains(&at) && wanted(node, parent) {
                    references.push(Reference {
                        symbol: self.text_of(node).to_owned(),
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
                parents.pop();
                if !cursor.goto_parent() {
                    return references;
                }
            }
        }
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
