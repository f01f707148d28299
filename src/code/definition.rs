//! Finds the definitions of a text.

use std::collections::HashSet;

use tree_sitter::{Node, QueryCursor, StreamingIterator as _};

use super::error::CodeError;
use super::source::Source;
use super::span::Span;
use super::symbol::{Definition, KINDS, PART_END, SymbolKind, owns_methods, segments};

/// A match of the language's definition query.
pub(super) struct QueryMatch<'tree> {
    pub(super) node: Node<'tree>,
    name: Node<'tree>,
    kind: SymbolKind,
    receiver: Option<Node<'tree>>,
    implemented: Option<Node<'tree>>,
    pattern: usize,
}

/// An enclosing definition.
struct Enclosing {
    byte_end: usize,
    path: String,
    shown: String,
    kind: SymbolKind,
}

/// Limit for nested definitions. Without it, the names of a hundred thousand nested definitions would exhaust the
/// memory.
const MAX_NESTING: usize = 64;
/// Limit for a full name, in bytes. Long names around many definitions would exhaust the memory, too.
const MAX_NAME_BYTES: usize = 1_000;
impl SymbolKind {
    /// Parses the kind in a plan, ignoring case and surrounding space.
    ///
    /// # Errors
    ///
    /// The word is not a kind.
    pub fn parse(word: &str) -> Result<Self, CodeError> {
        let lower = word.trim().to_ascii_lowercase();
        KINDS
            .iter()
            .find(|(_, name, others)| *name == lower || others.contains(&&*lower))
            .map(|(kind, ..)| *kind)
            .ok_or_else(|| CodeError::UnknownKind {
                kind: word.to_owned(),
                known: KINDS.map(|(_, name, _)| name).join(", "),
            })
    }
}

impl Source<'_> {
    /// All definitions, in text order, except those nested more than 64 levels deep or with a full name over 1,000
    /// bytes.
    pub fn definitions(&self) -> Vec<Definition> {
        self.defined().into_iter().map(|(definition, _)| definition).collect()
    }

    /// The definitions, and the positions of all defined names, including those that are nested too deep.
    pub(super) fn definitions_and_names(&self) -> (Vec<Definition>, HashSet<usize>) {
        let found = self.found();
        let names = found.iter().map(|it| it.name.start_byte()).collect();
        let defined = self.defined_by(found).into_iter();
        (defined.map(|(definition, _)| definition).collect(), names)
    }

    /// The definitions with their syntax nodes.
    pub(super) fn defined(&self) -> Vec<(Definition, Node<'_>)> {
        self.defined_by(self.found())
    }

    fn defined_by<'s>(&'s self, mut found: Vec<QueryMatch<'s>>) -> Vec<(Definition, Node<'s>)> {
        // A definition precedes its inner ones. The first pattern in a query file is the most specific.
        found.sort_by_key(|it| (it.name.start_byte(), it.pattern));
        found.dedup_by_key(|it| it.name.start_byte());
        found.sort_by_key(|it| (it.node.start_byte(), usize::MAX - it.node.end_byte()));
        let separator = self.language.separator();
        let mut around: Vec<Enclosing> = Vec::new();
        found
            .into_iter()
            .filter_map(|it| {
                while around.last().is_some_and(|open| open.byte_end <= it.node.start_byte()) {
                    around.pop();
                }
                if around.len() >= MAX_NESTING {
                    return None;
                }
                let outer = around.last();
                let (name, receiver) = (self.text_of(it.name), it.receiver);
                let receiver = receiver.map(|node| self.text_of(node));
                let implemented = it.implemented.map(|node| self.text_of(node));
                let outer_length = outer.map_or(0, |open| open.path.len().max(open.shown.len()));
                let own = [receiver, implemented].map(|part| part.map_or(0, str::len));
                if outer_length + name.len() + own.into_iter().sum::<usize>() > MAX_NAME_BYTES {
                    return None;
                }
                let mut path = outer.map_or_else(String::new, |open| open.path.clone());
                let mut shown = outer.map_or_else(String::new, |open| open.shown.clone());
                let name = name.to_owned();
                for part in receiver.into_iter().chain([&*name]) {
                    path.push_str(part);
                    path.push(PART_END);
                    if !shown.is_empty() {
                        shown.push_str(separator);
                    }
                    shown.push_str(part);
                }
                let kind = match (it.kind, outer.map(|open| open.kind)) {
                    (SymbolKind::Function, Some(outer)) if owns_methods(outer) => {
                        SymbolKind::Method
                    }
                    (SymbolKind::Function, _) if receiver.is_some() => SymbolKind::Method,
                    (kind, _) => kind,
                };
                if kind.holds_names() {
                    let shown = implemented.map_or_else(
                        || shown.clone(),
                        |implemented| format!("<{shown} as {implemented}>"),
                    );
                    around.push(Enclosing {
                        byte_end: it.node.end_byte(),
                        path: path.clone(),
                        shown,
                        kind,
                    });
                }
                let definition = Definition {
                    name,
                    kind,
                    fqn: shown,
                    span: Span::of(it.node),
                    path,
                    is_signature: it.node.kind().ends_with("signature"),
                    name_start: it.name.start_byte(),
                };
                Some((definition, it.node))
            })
            .collect()
    }

    fn found(&self) -> Vec<QueryMatch<'_>> {
        let Some(query) = self.language.query() else { return Vec::new() };
        let names = query.capture_names();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, self.tree.root_node(), self.text.as_bytes());
        let mut found = Vec::new();
        while let Some(one) = matches.next() {
            let named = |wanted: &str| {
                let mut captures = one.captures().iter();
                captures.find(|it| names.get(it.index as usize) == Some(&wanted)).map(|it| it.node)
            };
            let item = one.captures().iter().find_map(|it| {
                let kind = names.get(it.index as usize)?.strip_prefix("definition.")?;
                Some((SymbolKind::parse(kind).ok()?, it.node))
            });
            if let (Some((kind, node)), Some(name)) = (item, named("name")) {
                found.push(QueryMatch {
                    node,
                    name,
                    kind,
                    receiver: named("receiver"),
                    implemented: named("trait"),
                    pattern: one.pattern_index,
                });
            }
        }
        found
    }

    /// The only definition that matches `symbol`: a name, optionally qualified, such as `Type::method`.
    ///
    /// # Errors
    ///
    /// No match, several matches, or an unknown kind.
    pub fn definition(&self, symbol: &str, kind: Option<&str>) -> Result<Definition, CodeError> {
        self.chosen(symbol, kind).map(|(definition, _)| definition)
    }

    /// The first definition, in text order, that matches `symbol`.
    pub fn defines(&self, symbol: &str) -> Option<Definition> {
        let parts = segments(symbol);
        self.definitions().into_iter().find(|it| it.is_named(symbol, &parts))
    }

    pub(super) fn chosen(
        &self,
        symbol: &str,
        kind: Option<&str>,
    ) -> Result<(Definition, Node<'_>), CodeError> {
        let wanted = kind.map(SymbolKind::parse).transpose()?;
        let parts = segments(symbol);
        let (by_name, others): (Vec<_>, Vec<_>) =
            self.defined().into_iter().partition(|(it, _)| it.is_named(symbol, &parts));
        let of_kind = |it: &Definition| wanted.is_none_or(|wanted| it.kind.is_meant_by(wanted));
        let named_but = by_name.first().map(|(it, _)| (it.kind.as_str(), it.span.start_line));
        let mut chosen: Vec<_> = by_name.into_iter().filter(|(it, _)| of_kind(it)).collect();
        // A symbol with a trait, such as `<Type as Trait>::name`, must match a full name exactly if one does.
        if symbol.starts_with('<') && chosen.iter().any(|(it, _)| it.fqn == symbol) {
            chosen.retain(|(it, _)| it.fqn == symbol);
        }
        if wanted.is_none() && !chosen.iter().all(|(it, _)| it.kind.is_minor()) {
            chosen.retain(|(it, _)| !it.kind.is_minor());
        }
        let bodies: HashSet<_> = chosen
            .iter()
            .filter(|(it, _)| !it.is_signature)
            .map(|(it, _)| it.path.clone())
            .collect();
        chosen.retain(|(it, _)| !(it.is_signature && bodies.contains(&it.path)));
        match chosen.len() {
            1 => Ok(chosen.remove(0)),
            0 => {
                let hint = match named_but {
                    Some((kind, line)) => {
                        Some(format!("what has this name is a {kind} (line {line})"))
                    }
                    None => self.hint(&parts, &others),
                };
                Err(CodeError::NotFound { symbol: symbol.to_owned(), hint })
            }
            _ => Err(CodeError::Ambiguous {
                symbol: symbol.to_owned(),
                candidates: chosen.into_iter().map(|(it, _)| it).collect(),
            }),
        }
    }

    /// A suggestion for a name without a definition.
    fn hint(&self, parts: &[&str], others: &[(Definition, Node<'_>)]) -> Option<String> {
        let name = parts.last()?;
        if let Some((near, _)) = others.iter().find(|(it, _)| it.name.eq_ignore_ascii_case(name)) {
            return Some(format!("did you mean {}", near.fqn));
        }
        let (it, _) = others.iter().find(|(it, _)| {
            it.kind == SymbolKind::Macro && {
                let whole = self.text.get(it.span.byte_start..it.span.byte_end);
                whole.is_some_and(|whole| whole.contains(*name))
            }
        })?;
        Some(format!("the name stands in the macro {}, whose output is not read", it.name))
    }
}
