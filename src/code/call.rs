//! Tells calls from other uses of names.

use tree_sitter::Node;

/// The node kinds of calls in all languages, each with the field that has what is called.
const CALLS: [(&str, &str); 7] = [
    ("call_expression", "function"),
    ("call", "function"),
    ("macro_invocation", "macro"),
    ("method_invocation", "name"),
    ("new_expression", "constructor"),
    ("new_expression", "type"),
    ("object_creation_expression", "type"),
];

/// The fields that have the last part of a qualified name: `f` of `a::f`, `a.f` and `f::<T>`.
const LAST_PARTS: [&str; 5] = ["name", "field", "property", "attribute", "function"];

/// Whether the name `node` is what a call calls. `parents` are the enclosing nodes, the outermost first.
pub(super) fn is_called(node: Node<'_>, parents: &[Node<'_>]) -> bool {
    let mut part = node;
    for parent in parents.iter().rev() {
        let is_field = |field: &str| parent.child_by_field_name(field) == Some(part);
        let mut kind = CALLS.iter().filter(|(kind, _)| *kind == parent.kind()).peekable();
        if kind.peek().is_some() {
            return kind.any(|(_, field)| is_field(field));
        }
        let is_generic = parent.kind() == "generic_type" && parent.named_child(0) == Some(part);
        if !is_generic && !LAST_PARTS.iter().any(|field| is_field(field)) {
            return false;
        }
        part = *parent;
    }
    false
}
