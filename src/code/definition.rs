//! Finds the definitions of a text.

use std::collections::HashSet;

use tree_sitter::{Node, QueryCursor, StreamingIterator as _};

use super::symbol::{KINDS, PART_END, owns_methods};
use super::{CodeError, Definition, Source, Span, SymbolKind, segments};

/// A match of the language's definition query.
pub(super) struct QueryMatch<'tree> {
    pub(super) node: Node<'tree>,
    name: Node<'tree>,
    kind: SymbolKind,
    receiver: Option<Node<'tree>>,
    implemented: Option<Node<'tree>>,
    pattern: usize,
}

/// An enclosing definition: where it ends, and the names by which it qualifies inner definitions.
struct Enclosing {
    byte_end: usize,
    path: String,
    fqn: String,
    kind: SymbolKind,
}

/// Limit for nested definitions. Without it, the names of a hundred thousand nested definitions would exhaust the
/// memory.
const MAX_NESTING: usize = 64;
/// Limit for a full name, in bytes. Long names around many definitions would exhaust the memory, too.
const MAX_NAME_BYTES: usize = 1_000;

impl SymbolKind {
    /// Parses the name or a synonym of a kind, ignoring case and surrounding space.
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
    /// All definitions, in text order, except those nested more than 64 levels deep or with a full name over about
    /// 1,000 bytes.
    pub fn definitions(&self) -> Vec<Definition> {
        self.definitions_with_nodes().into_iter().map(|(definition, _)| definition).collect()
    }

    /// The definitions, and the start bytes of all defined names, including those of definitions that
    /// [`Self::definitions`] leaves out.
    pub(super) fn definitions_and_names(&self) -> (Vec<Definition>, HashSet<usize>) {
        let query_matches = self.query_matches();
        let names = query_matches.iter().map(|it| it.name.start_byte()).collect();
        let definitions = self.definitions_from(query_matches).into_iter();
        (definitions.map(|(definition, _)| definition).collect(), names)
    }

    /// The definitions with their syntax nodes.
    pub(super) fn definitions_with_nodes(&self) -> Vec<(Definition, Node<'_>)> {
        self.definitions_from(self.query_matches())
    }

    /// The definitions of these matches, without duplicates and sorted by position.
    fn definitions_from<'s>(
        &'s self,
        mut query_matches: Vec<QueryMatch<'s>>,
    ) -> Vec<(Definition, Node<'s>)> {
        // A definition precedes its inner ones. The first pattern in a query file is the most specific.
        query_matches.sort_by_key(|it| (it.name.start_byte(), it.pattern));
        query_matches.dedup_by_key(|it| it.name.start_byte());
        query_matches.sort_by_key(|it| (it.node.start_byte(), usize::MAX - it.node.end_byte()));
        let separator = self.language.separator();
        let mut enclosing: Vec<Enclosing> = Vec::new();
        query_matches
            .into_iter()
            .filter_map(|it| {
                while enclosing.last().is_some_and(|open| open.byte_end <= it.node.start_byte()) {
                    enclosing.pop();
                }
                if enclosing.len() >= MAX_NESTING {
                    return None;
                }
                let outer = enclosing.last();
                let (name, receiver) = (self.text_of(it.name), it.receiver);
                let receiver = receiver.map(|node| self.text_of(node));
                let implemented = it.implemented.map(|node| self.text_of(node));
                let outer_length = outer.map_or(0, |open| open.path.len().max(open.fqn.len()));
                let own_lengths = [receiver, implemented].map(|part| part.map_or(0, str::len));
                if outer_length + name.len() + own_lengths.into_iter().sum::<usize>()
                    > MAX_NAME_BYTES
                {
                    return None;
                }
                let mut path = outer.map_or_else(String::new, |open| open.path.clone());
                let mut fqn = outer.map_or_else(String::new, |open| open.fqn.clone());
                let name = name.to_owned();
                for part in receiver.into_iter().chain([&*name]) {
                    path.push_str(part);
                    path.push(PART_END);
                    if !fqn.is_empty() {
                        fqn.push_str(separator);
                    }
                    fqn.push_str(part);
                }
                let kind = match (it.kind, outer.map(|open| open.kind)) {
                    (SymbolKind::Function, Some(outer)) if owns_methods(outer) => {
                        SymbolKind::Method
                    }
                    (SymbolKind::Function, _) if receiver.is_some() => SymbolKind::Method,
                    (kind, _) => kind,
                };
                if kind.qualifies_names() {
                    let fqn = implemented.map_or_else(
                        || fqn.clone(),
                        |implemented| format!("<{fqn} as {implemented}>"),
                    );
                    enclosing.push(Enclosing {
                        byte_end: it.node.end_byte(),
                        path: path.clone(),
                        fqn,
                        kind,
                    });
                }
                let definition = Definition {
                    name,
                    kind,
                    fqn,
                    span: Span::of(it.node),
                    path,
                    is_signature: it.node.kind().ends_with("signature"),
                    name_start: it.name.start_byte(),
                };
                Some((definition, it.node))
            })
            .collect()
    }

    /// The matches of the definition query, unsorted and with duplicates.
    fn query_matches(&self) -> Vec<QueryMatch<'_>> {
        let Some(query) = self.language.query() else { return Vec::new() };
        let names = query.capture_names();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, self.tree.root_node(), self.text.as_bytes());
        let mut query_matches = Vec::new();
        while let Some(captured) = matches.next() {
            let named = |wanted: &str| {
                let mut captures = captured.captures().iter();
                captures.find(|it| names.get(it.index as usize) == Some(&wanted)).map(|it| it.node)
            };
            let item = captured.captures().iter().find_map(|it| {
                let kind = names.get(it.index as usize)?.strip_prefix("definition.")?;
                Some((SymbolKind::parse(kind).ok()?, it.node))
            });
            if let (Some((kind, node)), Some(name)) = (item, named("name")) {
                query_matches.push(QueryMatch {
                    node,
                    name,
                    kind,
                    receiver: named("receiver"),
                    implemented: named("trait"),
                    pattern: captured.pattern_index,
                });
            }
        }
        query_matches
    }

    /// The only definition that matches `symbol`: a name, optionally qualified, such as `Type::method`.
    ///
    /// # Errors
    ///
    /// No match, several matches, or an unknown kind.
    pub fn definition(&self, symbol: &str, kind: Option<&str>) -> Result<Definition, CodeError> {
        self.matching(symbol, kind).map(|(definition, _)| definition)
    }

    /// The first definition, in text order, that matches `symbol`.
    pub fn first_definition(&self, symbol: &str) -> Option<Definition> {
        let parts = segments(symbol);
        self.definitions().into_iter().find(|it| it.is_named(symbol, &parts))
    }

    /// As [`Self::definition`], with the syntax node.
    pub(super) fn matching(
        &self,
        symbol: &str,
        kind: Option<&str>,
    ) -> Result<(Definition, Node<'_>), CodeError> {
        let wanted = kind.map(SymbolKind::parse).transpose()?;
        let parts = segments(symbol);
        let (by_name, others): (Vec<_>, Vec<_>) = self
            .definitions_with_nodes()
            .into_iter()
            .partition(|(it, _)| it.is_named(symbol, &parts));
        let of_kind = |it: &Definition| wanted.is_none_or(|wanted| it.kind.is_meant_by(wanted));
        let other_kind = by_name.first().map(|(it, _)| (it.kind.as_str(), it.span.start_line));
        let mut matching: Vec<_> = by_name.into_iter().filter(|(it, _)| of_kind(it)).collect();
        // A symbol with a trait, such as `<Type as Trait>::name`, must match a full name exactly if one does.
        if symbol.starts_with('<') && matching.iter().any(|(it, _)| it.fqn == symbol) {
            matching.retain(|(it, _)| it.fqn == symbol);
        }
        if wanted.is_none() && !matching.iter().all(|(it, _)| it.kind.is_minor()) {
            matching.retain(|(it, _)| !it.kind.is_minor());
        }
        let bodies: HashSet<_> = matching
            .iter()
            .filter(|(it, _)| !it.is_signature)
            .map(|(it, _)| it.path.clone())
            .collect();
        matching.retain(|(it, _)| !(it.is_signature && bodies.contains(&it.path)));
        match matching.len() {
            1 => Ok(matching.remove(0)),
            0 => {
                let hint = match other_kind {
                    Some((kind, line)) => {
                        Some(format!("what has this name is a {kind} (line {line})"))
                    }
                    None => self.hint(&parts, &others),
                };
                Err(CodeError::NotFound { symbol: symbol.to_owned(), hint })
            }
            _ => Err(CodeError::Ambiguous {
                symbol: symbol.to_owned(),
                candidates: matching.into_iter().map(|(it, _)| it).collect(),
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
                let macro_text = self.text.get(it.span.byte_start..it.span.byte_end);
                macro_text.is_some_and(|macro_text| macro_text.contains(*name))
            }
        })?;
        Some(format!("the name stands in the macro {}, whose output is not read", it.name))
    }
}
