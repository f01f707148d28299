//! Finds references, the uses of names.

use tree_sitter::Node;

use super::call::is_called;
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
    /// The last part of the path that qualifies the name, if it names a type or module: `A` of `a::A::new`.
    pub qualifier: Option<String>,
    /// Whether the name is called.
    pub is_call: bool,
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
                        qualifier: self.qualifier(node, parent).map(str::to_owned),
                        is_call: is_called(node, &parents),
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

    /// Whether the name may belong to the type `type_name`: nothing qualifies it, or `type_name` does.
    fn may_belong_to(&self, node: Node<'_>, parent: Option<Node<'_>>, type_name: &str) -> bool {
        self.qualifier(node, parent).is_none_or(|qualifier| qualifier == type_name)
    }

    /// The last segment of the path before the name; `None` without a path, or if that segment is `Self`, `self`,
    /// `super` or `crate`.
    fn qualifier(&self, node: Node<'_>, parent: Option<Node<'_>>) -> Option<&str> {
        let parent = parent?;
        let path = parent.child_by_field_name("path").or(parent.child_by_field_name("scope"))?;
        if path.end_byte() > node.start_byte() {
            return None;
        }
        let last = segments(self.text_of(path)).last().copied()?;
        (!matches!(last, "Self" | "self" | "super" | "crate")).then_some(last)
    }
}
