//! Finds references, the uses of names.

use tree_sitter::Node;

use super::{Source, Span, segments};

/// One use of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name.
    pub symbol: String,
    /// The position of the name.
    pub span: Span,
    /// The full name of the innermost definition that contains the name.
    pub from_symbol: Option<String>,
}

impl Source<'_> {
    /// All uses of names, in text order. A name that is being defined is no use; names in comments and strings are not
    /// found.
    pub fn references(&self) -> Vec<Reference> {
        self.references_where(|_, _| true)
    }

    /// The references to one symbol. Only names are compared: for `Type::method`, every use of `method` counts
    /// unless another type qualifies it.
    pub fn references_to(&self, symbol: &str) -> Vec<Reference> {
        let parts = segments(symbol);
        let Some((name, qualifiers)) = parts.split_last() else { return Vec::new() };
        self.references_where(|node, parent| {
            self.text_of(node) == *name
                && qualifiers.last().is_none_or(|wanted| self.may_belong_to(node, parent, wanted))
        })
    }

    fn references_where(
        &self,
        is_wanted: impl Fn(Node<'_>, Option<Node<'_>>) -> bool,
    ) -> Vec<Reference> {
        let (definitions, names) = self.definitions_and_names();
        let mut next = definitions.iter().peekable();
        let mut enclosing = Vec::new();
        let mut references: Vec<Reference> = Vec::new();
        let mut cursor = self.tree.walk();
        // Enclosing nodes. `Node::parent` would search from the root.
        let mut parents: Vec<Node<'_>> = Vec::new();
        loop {
            let node = cursor.node();
            if node.child_count() == 0 && self.language.is_identifier(node.kind()) {
                let at = node.start_byte();
                while let Some(definition) = next.next_if(|it| it.span.byte_start <= at) {
                    enclosing.push(definition);
                }
                enclosing.retain(|it| it.span.byte_end > at);
                let parent = parents.last().copied();
                if !names.contains(&at) && is_wanted(node, parent) {
                    references.push(Reference {
                        symbol: self.text_of(node).to_owned(),
                        span: Span::of(node),
                        from_symbol: enclosing.last().map(|it| it.fqn.clone()),
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

    /// Whether the name may belong to the type `type_name`: it has no qualifier, or the last segment of the qualifier
    /// is `type_name`, `Self`, `self`, `super` or `crate`.
    fn may_belong_to(&self, node: Node<'_>, parent: Option<Node<'_>>, type_name: &str) -> bool {
        let Some(parent) = parent else { return true };
        let qualifier = parent.child_by_field_name("path").or(parent.child_by_field_name("scope"));
        let Some(qualifier) =
            qualifier.filter(|qualifier| qualifier.end_byte() <= node.start_byte())
        else {
            return true;
        };
        let written = segments(self.text_of(qualifier));
        matches!(written.last(), Some(&("Self" | "self" | "super" | "crate")) | None)
            || written.last() == Some(&type_name)
    }
}
