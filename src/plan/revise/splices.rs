//! Replaces parts of a JSON text and keeps everything else as its author wrote it.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions};

/// A JSON text with the positions of its values.
pub(super) struct Document<'a> {
    text: &'a str,
    root: Value<'a>,
}

impl<'a> Document<'a> {
    /// Reads a text that is known to be JSON; `None` if it is not.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let parsed =
            jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        Some(Self { text, root: parsed.ok()?.value? })
    }

    pub(super) fn root(&self) -> &Value<'a> {
        &self.root
    }

    /// The text of a value, as written.
    pub(super) fn text_of(&self, value: &Value<'a>) -> &'a str {
        self.text.get(value.start()..value.end()).unwrap_or_default()
    }
}

/// The member of an object with this name; of duplicates the last one, which is the one that counts.
pub(super) fn member<'s, 'a>(value: &'s Value<'a>, name: &str) -> Option<&'s ObjectProp<'a>> {
    let members = &value.as_object()?.properties;
    members.iter().rev().find(|member| member.name.as_str() == name)
}

/// The elements of the array in this member of an object.
pub(super) fn elements<'s, 'a>(value: &'s Value<'a>, name: &str) -> Option<&'s Array<'a>> {
    member(value, name)?.value.as_array()
}

/// A text as JSON.
pub(super) fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Replacements of parts of one text.
pub(super) struct Splices<'d, 'a> {
    document: &'d Document<'a>,
    /// In the order in which they were added, which decides about those at the same place.
    parts: Vec<(Range<usize>, String)>,
}

impl<'d, 'a> Splices<'d, 'a> {
    pub(super) fn new(document: &'d Document<'a>) -> Self {
        Self { document, parts: Vec::new() }
    }

    pub(super) fn replace(&mut self, value: &Value<'_>, text: impl Into<String>) {
        self.parts.push((value.start()..value.end(), text.into()));
    }

    /// Puts members in front of the others of an object, or behind them, in the author's layout.
    pub(super) fn add_members(
        &mut self,
        object: &Object<'_>,
        members: &[(&str, String)],
        first: bool,
    ) {
        if members.is_empty() {
            return;
        }
        let text = self.document.text;
        let between = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        let (Some(head), Some(last)) = (object.properties.first(), object.properties.last()) else {
            let all: Vec<_> = members.iter().map(|(name, value)| pair(name, ": ", value)).collect();
            let range = object.range.start + 1..object.range.end.saturating_sub(1);
            self.parts.push((range, all.join(", ")));
            return;
        };
        let indent = between(object.range.start + 1, head.range.start);
        let name_end = head.name.range().end;
        let colon = between(name_end, head.value.start());
        // A compact object on one line has no space before its first member, and usually one before the others.
        let gap = match object.properties.get(1) {
            Some(second) => {
                let comma = between(head.range.end, second.range.start);
                comma.trim_start().strip_prefix(',').unwrap_or(indent)
            }
            None if indent.is_empty() && colon.ends_with(' ') => " ",
            None => indent,
        };
        for (name, value) in members {
            let pair = pair(name, colon, value);
            if first {
                let start = head.range.start;
                self.parts.push((start..start, format!("{pair},{gap}")));
            } else {
                let end = last.range.end;
                self.parts.push((end..end, format!(",{gap}{pair}")));
            }
        }
    }

    /// Takes the members with these names away, and puts others behind the rest.
    pub(super) fn change_members(
        &mut self,
        object: &Object<'_>,
        removed: &[&str],
        added: &[(&str, String)],
    ) {
        let stays = |name: &str| !removed.contains(&name);
        let is_emptied = object.properties.iter().all(|it| !stays(it.name.as_str()));
        let ends = object.properties.first().zip(object.properties.last());
        match ends.filter(|_| is_emptied && !added.is_empty()) {
            // Nothing is left behind which the others could stand.
            Some((first, last)) => {
                let pairs: Vec<_> =
                    added.iter().map(|(name, value)| pair(name, ": ", value)).collect();
                self.parts.push((first.range.start..last.range.end, pairs.join(", ")));
            }
            None => {
                self.remove_members(object, removed);
                self.add_members(object, added, false);
            }
        }
    }

    /// Takes these of `all` away, with the commas that belong to them. At least one must stay, otherwise the inside is
    /// emptied.
    pub(super) fn remove(&mut self, all: &[Range<usize>], is_removed: impl Fn(usize) -> bool) {
        let mut any_kept = false;
        for (index, range) in all.iter().enumerate() {
            if !is_removed(index) {
                any_kept = true;
                continue;
            }
            let before = index.checked_sub(1).and_then(|index| all.get(index));
            let part = match (before.filter(|_| any_kept), all.get(index + 1)) {
                (Some(before), _) => before.end..range.end,
                (None, Some(next)) => range.start..next.start,
                (None, None) => range.clone(),
            };
            self.parts.push((part, String::new()));
        }
    }

    /// Takes elements of an array away.
    pub(super) fn remove_elements(
        &mut self,
        array: &Array<'_>,
        is_removed: impl Fn(usize) -> bool,
    ) {
        let all: Vec<_> = array.elements.iter().map(|it| it.start()..it.end()).collect();
        self.remove(&all, is_removed);
    }

    /// Takes the members with these names away.
    pub(super) fn remove_members(&mut self, object: &Object<'_>, names: &[&str]) {
        let all: Vec<_> = object.properties.iter().map(|it| it.range.start..it.range.end).collect();
        let is_removed = |index: usize| {
            object.properties.get(index).is_some_and(|it| names.contains(&it.name.as_str()))
        };
        self.remove(&all, is_removed);
    }

    /// The text with all replacements.
    pub(super) fn apply(mut self) -> String {
        self.parts.sort_by_key(|(range, _)| (range.start, range.end));
        let source = self.document.text;
        let mut text = String::with_capacity(source.len());
        let mut next = 0;
        for (range, new) in &self.parts {
            // A part inside of one that was taken away is gone with it.
            if range.start < next {
                continue;
            }
            text.push_str(source.get(next..range.start).unwrap_or_default());
            text.push_str(new);
            next = range.end;
        }
        text.push_str(source.get(next..).unwrap_or_default());
        text
    }
}

fn pair(name: &str, colon: &str, value: &str) -> String {
    format!("{}{colon}{value}", json_text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(text: &str, change: impl Fn(&Document<'_>, &mut Splices<'_, '_>)) -> String {
        let document = Document::new(text).unwrap();
        let mut splices = Splices::new(&document);
        change(&document, &mut splices);
        splices.apply()
    }

    #[test]
    fn elements_go_with_their_commas() {
        for (removed, expected) in [
            (&[0][..], "[ 2 ,\n 3]"),
            (&[1], "[ 1 ,\n 3]"),
            (&[2], "[ 1 , 2]"),
            (&[0, 1], "[ 3]"),
            (&[1, 2], "[ 1]"),
            (&[0, 2], "[ 2]"),
            (&[0, 1, 2], "[ ]"),
        ] {
            let text = spliced("[ 1 , 2 ,\n 3]", |document, splices| {
                let array = document.root().as_array().unwrap();
                splices.remove_elements(array, |index| removed.contains(&index));
            });
            assert_eq!(text, expected, "{removed:?}");
        }
    }

    #[test]
    fn new_members_have_the_layout_of_the_others() {
        for (text, first, last) in [
            (r#"{"a":1,"b":2}"#, r#"{"n":0,"a":1,"b":2}"#, r#"{"a":1,"b":2,"n":0}"#),
            (r#"{"a": 1}"#, r#"{"n": 0, "a": 1}"#, r#"{"a": 1, "n": 0}"#),
            (
                "{\r\n\t\"a\" : 1,\r\n\t\"b\" : 2\r\n}",
                "{\r\n\t\"n\" : 0,\r\n\t\"a\" : 1,\r\n\t\"b\" : 2\r\n}",
                "{\r\n\t\"a\" : 1,\r\n\t\"b\" : 2,\r\n\t\"n\" : 0\r\n}",
            ),
            ("{ }", "{\"n\": 0}", "{\"n\": 0}"),
        ] {
            for (is_first, expected) in [(true, first), (false, last)] {
                let text = spliced(text, |document, splices| {
                    let object = document.root().as_object().unwrap();
                    splices.add_members(object, &[("n", "0".to_owned())], is_first);
                });
                assert_eq!(text, expected);
            }
        }
    }

    #[test]
    fn the_rest_of_the_text_stays() {
        let source = "\n{ \"a\" :1.50e0, \"\\u0062\": [ ] ,\"c\":\"é\\/\"}\r\n";
        let text = spliced(source, |document, splices| {
            splices.replace(&member(document.root(), "b").unwrap().value, "7");
        });
        assert_eq!(text, source.replace("[ ]", "7"));
        let text = spliced(source, |document, splices| {
            splices.remove_members(document.root().as_object().unwrap(), &["a"]);
        });
        assert_eq!(text, "\n{ \"\\u0062\": [ ] ,\"c\":\"é\\/\"}\r\n");
    }
}
