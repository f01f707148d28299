//! The second pass, only for a plan that needs it: where in the file a JSON pointer leads.

use std::cell::OnceCell;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions};

use crate::plan::{Code, Finding};

/// A text that is known to be JSON, parsed again with places when first asked.
pub(super) struct Places<'a> {
    text: &'a str,
    root: OnceCell<Option<Value<'a>>>,
    line_starts: OnceCell<Vec<usize>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, root: OnceCell::new(), line_starts: OnceCell::new() }
    }

    fn root(&self) -> Option<&Value<'a>> {
        self.root
            .get_or_init(|| {
                jsonc_parser::parse_to_ast(
                    self.text,
                    &CollectOptions::default(),
                    &ParseOptions::default(),
                )
                .ok()?
                .value
            })
            .as_ref()
    }

    /// The text of the number at a pointer, exactly as the file writes it.
    pub(super) fn number(&self, pointer: &str) -> Option<String> {
        let node = self.find(pointer)?;
        Some(node.value.as_number_lit()?.value.to_owned())
    }

    /// Puts line and column into a finding: of the key for a wrong key, else of the value.
    pub(super) fn fill(&self, finding: &mut Finding) {
        let at_key = matches!(finding.code, Code::UnknownField | Code::DuplicateKey);
        let Some(node) = self.find(&finding.pointer) else { return };
        let offset = match node.key {
            Some(key) if at_key => key,
            _ => start(node.value),
        };
        (finding.line, finding.column) = self.line_and_column(offset);
    }

    /// One finding for every key that stands twice in its object, at its later place.
    pub(super) fn duplicates(&self, findings: &mut Vec<Finding>) {
        if let Some(root) = self.root() {
            self.duplicates_below(root, "", findings);
        }
    }

    fn duplicates_below(&self, value: &Value<'a>, pointer: &str, findings: &mut Vec<Finding>) {
        match value {
            Value::Array(array) => {
                for (index, element) in array.elements.iter().enumerate() {
                    self.duplicates_below(element, &format!("{pointer}/{index}"), findings);
                }
            }
            Value::Object(object) => {
                let mut seen = std::collections::HashSet::new();
                for property in &object.properties {
                    let name = property.name.as_str();
                    let pointer = format!("{pointer}/{}", escape(name));
                    if !seen.insert(name) {
                        let mut finding = Finding::error(
                            Code::DuplicateKey,
                            &pointer,
                            format!("the key {name:?} stands here a second time; keep one of them"),
                        );
                        (finding.line, finding.column) = self.line_and_column(property.range.start);
                        findings.push(finding);
                    }
                    self.duplicates_below(&property.value, &pointer, findings);
                }
            }
            _ => {}
        }
    }

    /// The node a pointer leads to, or the nearest one above it that exists.
    fn find<'s>(&'s self, pointer: &str) -> Option<Node<'s, 'a>> {
        let mut node = Node { key: None, value: self.root()? };
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match node.value {
                Value::Object(object) => {
                    let named = |property: &&ObjectProp<'_>| property.name.as_str() == token;
                    object.properties.iter().rev().find(named).map(|property| Node {
                        key: Some(property.range.start),
                        value: &property.value,
                    })
                }
                Value::Array(array) => token
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| array.elements.get(index))
                    .map(|value| Node { key: None, value }),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        Some(node)
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let starts = self.line_starts.get_or_init(|| {
            std::iter::once(0)
                .chain(self.text.match_indices('\n').map(|(index, _)| index + 1))
                .collect()
        });
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |head| head.chars().count());
        (line, column + 1)
    }
}

#[derive(Clone, Copy)]
struct Node<'s, 'a> {
    key: Option<usize>,
    value: &'s Value<'a>,
}

fn start(value: &Value<'_>) -> usize {
    use jsonc_parser::common::Ranged;
    value.range().start
}

/// A key as one token of a JSON pointer (RFC 6901).
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
