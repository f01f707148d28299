//! The second pass: positions of JSON pointers in the file, and the spelling of numbers.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use jsonc_parser::ast::{Object, ObjectPropName, Value};
use jsonc_parser::{CollectOptions, ParseOptions};

use crate::plan::{Code, Finding};

/// A text that is known to be JSON. It is parsed with positions when they are first needed.
pub(super) struct Positions<'a> {
    text: &'a str,
    root: OnceCell<Option<Value<'a>>>,
    /// The indexes of large objects, by the offset at which each object begins.
    members: RefCell<HashMap<usize, Members<'a>>>,
    marks: OnceCell<Vec<Mark>>,
}

/// The index of an object: for each name, the index of the last member with this name.
type Members<'a> = HashMap<Cow<'a, str>, usize>;

/// Up to this many members, a linear search is faster than an index.
const FEW: usize = 16;

/// A position in the text, with its line and column from 1.
#[derive(Clone, Copy)]
struct Mark {
    offset: usize,
    line: usize,
    column: usize,
}

/// Distance between two marks, in bytes. A file may be one long line, so marks at line breaks would not suffice.
const STRIDE: usize = 1024;

impl Mark {
    const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// The mark after `text`, which follows this mark.
    fn after(self, text: &str) -> Self {
        let (line, column) = match text.rsplit_once('\n') {
            Some((before, last)) => {
                (self.line + before.matches('\n').count() + 1, last.chars().count() + 1)
            }
            None => (self.line, self.column + text.chars().count()),
        };
        Self { offset: self.offset + text.len(), line, column }
    }
}

impl<'a> Positions<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, root: OnceCell::new(), members: RefCell::default(), marks: OnceCell::new() }
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

    /// The number at a pointer, with the spelling of the file.
    pub(super) fn number(&self, pointer: &str) -> Option<String> {
        let node = self.find(pointer)?;
        Some(node.value.as_number_lit()?.value.to_owned())
    }

    /// Sets line and column of a finding: those of the key if the key is wrong, otherwise those of the value.
    pub(super) fn fill(&self, finding: &mut Finding) {
        let at_key = matches!(finding.code, Code::UnknownField | Code::DuplicateKey);
        let Some(node) = self.find(&finding.pointer) else { return };
        let offset = match node.key {
            Some(key) if at_key => key,
            _ => start(node.value),
        };
        (finding.line, finding.column) = self.line_and_column(offset);
    }

    /// Reports every duplicate key, at each position after the first. Called only if the first pass has found one; at
    /// least one is reported.
    ///
    /// `report` gets a function that creates the finding, and calls it only if the finding is kept.
    pub(super) fn duplicates(&self, report: &dyn Fn(&dyn Fn() -> Finding)) {
        let count = Cell::new(0_usize);
        let report = |make: &dyn Fn() -> Finding| {
            count.set(count.get() + 1);
            report(make);
        };
        if let Some(root) = self.root() {
            self.duplicates_below(root, "", &report);
        }
        if count.get() == 0 {
            // The two parsers disagree; a duplicate key must always be reported.
            let message = "some key stands twice in its object; keep one of them";
            report(&|| Finding::error(Code::DuplicateKey, "", message));
        }
    }

    fn duplicates_below(
        &self,
        value: &Value<'a>,
        pointer: &str,
        report: &dyn Fn(&dyn Fn() -> Finding),
    ) {
        match value {
            Value::Array(array) => {
                for (index, element) in array.elements.iter().enumerate() {
                    self.duplicates_below(element, &format!("{pointer}/{index}"), report);
                }
            }
            Value::Object(object) => {
                let mut seen = HashSet::new();
                for property in &object.properties {
                    let name = property.name.as_str();
                    let pointer = format!("{pointer}/{}", escape(name));
                    if !seen.insert(name) {
                        report(&|| {
                            let (line, column) = self.line_and_column(property.range.start);
                            let message = format!(
                                "the key {name:?} stands here a second time; keep one of them"
                            );
                            let finding = Finding::error(Code::DuplicateKey, &pointer, message);
                            Finding { line, column, ..finding }
                        });
                    }
                    self.duplicates_below(&property.value, &pointer, report);
                }
            }
            _ => {}
        }
    }

    /// The node at a pointer, or its nearest existing ancestor.
    fn find<'s>(&'s self, pointer: &str) -> Option<Node<'s, 'a>> {
        let mut node = Node { key: None, value: self.root()? };
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match node.value {
                Value::Object(object) => {
                    self.member(object, &token).and_then(|index| object.properties.get(index)).map(
                        |property| Node { key: Some(property.range.start), value: &property.value },
                    )
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

    /// The index of the member with this name; of duplicates, that of the last one.
    fn member(&self, object: &Object<'a>, name: &str) -> Option<usize> {
        let members = &object.properties;
        if members.len() <= FEW {
            return members.iter().rposition(|member| member.name.as_str() == name);
        }
        let mut indexes = self.members.borrow_mut();
        let index = indexes.entry(object.range.start).or_insert_with(|| {
            let names = members.iter().map(|member| match &member.name {
                ObjectPropName::String(text) => text.value.clone(),
                ObjectPropName::Word(word) => Cow::Borrowed(word.value),
            });
            names.enumerate().map(|(index, name)| (name, index)).collect()
        });
        index.get(name).copied()
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let marks = self.marks.get_or_init(|| {
            let mut marks = vec![Mark::START];
            let mut last = Mark::START;
            while last.offset + STRIDE < self.text.len() {
                let next = self.text.floor_char_boundary(last.offset + STRIDE);
                last = last.after(self.text.get(last.offset..next).unwrap_or_default());
                marks.push(last);
            }
            marks
        });
        let count = marks.partition_point(|mark| mark.offset <= offset);
        let mark = marks.get(count.saturating_sub(1)).copied().unwrap_or(Mark::START);
        let Mark { line, column, .. } =
            mark.after(self.text.get(mark.offset..offset).unwrap_or_default());
        (line, column)
    }
}

/// A value, with the offset of its key if it is a member of an object.
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
