//! Templates in texts: `{{name}}`.

use crate::plan::limits;

/// The beginning of the names of the variables in which commands get their inputs. It is a name space of its own, so that no
/// plan can set a variable that programs read.
pub const VARIABLE_PREFIX: &str = "input_";

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Part<'t> {
    /// Text outside of templates.
    Text(&'t str),
    /// The name in a template.
    Name(&'t str),
}

/// Whether a text can be the name of an input.
pub(in crate::plan) fn is_name(text: &str) -> bool {
    text.len() <= limits::INPUT_NAME_BYTES
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

/// The template at the beginning of a text: its name, and its length in bytes.
pub(super) fn at(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("{{")?;
    let is_of_name = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == b'_';
    let length = rest.bytes().take(limits::INPUT_NAME_BYTES + 1).take_while(is_of_name).count();
    let (name, behind) = rest.split_at_checked(length)?;
    (behind.starts_with("}}") && is_name(name)).then_some((name, length + 4))
}

/// The parts of a text, in order. Braces that are no template are text: programs have templates of their own.
pub(in crate::plan) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, length)) = at(rest) {
            rest = rest.get(length..).unwrap_or_default();
            return Some(Part::Name(name));
        }
        let mut from = rest.chars().next().map_or(1, char::len_utf8);
        let end = loop {
            let Some(found) = rest.get(from..).and_then(|it| it.find("{{")) else {
                break rest.len();
            };
            if rest.get(from + found..).and_then(at).is_some() {
                break from + found;
            }
            from += found + 1;
        };
        let (text, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(Part::Text(text))
    })
}

/// The text with the values of its templates, in one pass: templates in values mean nothing. A template for which `value`
/// has none stays. `None` if the result is longer than `limit`.
pub(in crate::plan) fn fill<'v>(
    text: &str,
    limit: usize,
    mut value: impl FnMut(&str) -> Option<&'v str>,
) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Name(name) => match value(name) {
                Some(value) => filled.push_str(value),
                None => {
                    filled.push_str("{{");
                    filled.push_str(name);
                    filled.push_str("}}");
                }
            },
        }
        if filled.len() > limit {
            return None;
        }
    }
    Some(filled)
}
