//! Syntax highlighting.

use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter_highlight::{HighlightConfiguration, HighlightEvent, Highlighter};

use super::{Language, Source};

/// The class of a highlighted range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variant names are descriptive")]
pub enum Class {
    Attribute,
    Comment,
    Constant,
    Function,
    Keyword,
    Number,
    String,
    Type,
}

/// Highlight names of the grammars with their classes. `function.method` has the class of `function`.
const NAMES: [(&str, Class); 14] = [
    ("attribute", Class::Attribute),
    ("comment", Class::Comment),
    ("constant", Class::Constant),
    ("constant.builtin", Class::Constant),
    ("constructor", Class::Type),
    ("escape", Class::Constant),
    ("function", Class::Function),
    ("function.macro", Class::Function),
    ("keyword", Class::Keyword),
    ("label", Class::Attribute),
    ("number", Class::Number),
    ("string", Class::String),
    ("type", Class::Type),
    ("type.builtin", Class::Type),
];

/// Size limit for highlighting, in bytes. Longer texts stay plain.
pub const MAX_COLOURED_BYTES: usize = 256 << 10;

/// The highlighted ranges of a text, in order and disjoint. The result is empty for texts over
/// [`MAX_COLOURED_BYTES`] and for texts that exceed a limit of the parser, because highlighting blocks the user
/// interface.
pub fn highlight(language: Language, text: &str) -> Vec<(Range<usize>, Class)> {
    if text.len() > MAX_COLOURED_BYTES {
        return Vec::new();
    }
    let Some(configuration) = configuration(language) else { return Vec::new() };
    // The highlighter has no limits of its own.
    if Source::parse(language, text, &|| false).is_err() {
        return Vec::new();
    }
    let mut highlighter = Highlighter::new();
    let events = highlighter.highlight(configuration, text.as_bytes(), None, None, |_| None);
    let Ok(events) = events else { return Vec::new() };
    let mut open = Vec::new();
    let mut ranges: Vec<(Range<usize>, Class)> = Vec::new();
    for event in events {
        match event {
            Ok(HighlightEvent::HighlightStart(highlight)) => open.push(highlight.0),
            Ok(HighlightEvent::HighlightEnd) => drop(open.pop()),
            Ok(HighlightEvent::Source { start, end, .. }) => {
                if let Some((_, class)) = open.last().and_then(|index| NAMES.get(*index)) {
                    match ranges.last_mut() {
                        Some((range, last)) if range.end == start && last == class => {
                            range.end = end
                        }
                        _ => ranges.push((start..end, *class)),
                    }
                }
            }
            // The ranges so far are correct; the rest stays plain.
            Err(_) => break,
        }
    }
    ranges
}

fn configuration(language: Language) -> Option<&'static HighlightConfiguration> {
    static CONFIGURATIONS: [OnceLock<Option<HighlightConfiguration>>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    let compile = || {
        let queries = language.highlights();
        let mut configuration =
            HighlightConfiguration::new(language.grammar(), language.name(), &queries, "", "")
                .ok()?;
        configuration.configure(&NAMES.map(|(name, _)| name));
        Some(configuration)
    };
    CONFIGURATIONS.get(language as usize)?.get_or_init(compile).as_ref()
}
