//! Parses the filter field and applies it to diagnostics. Pure.

use crate::run::DiagnosticArtifact;

/// A field of a diagnostic that a word such as `code:E0308` searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Code,
    File,
}

/// Each field by its word, with an example of its value and what it finds.
const FIELDS: [(&str, Field, &str, &str); 2] = [
    ("code", Field::Code, "E0308", "diagnostics with this in their code"),
    ("file", Field::File, "src/lib.rs", "diagnostics with this in the path of their file"),
];

/// Every filter for the help: an example, and what it finds.
pub(crate) fn filters_help() -> impl Iterator<Item = (String, &'static str)> {
    FIELDS.into_iter().map(|(word, _, value, meaning)| (format!("{word}:{value}"), meaning))
}

/// The parts of a filter text, which spaces separate outside of quotation marks. A mark without a partner is an ordinary
/// character.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text.matches('"').count() / 2 * 2;
    let mut quoted = false;
    let is_end = move |c: char| {
        if c == '"' && left > 0 {
            (quoted, left) = (!quoted, left - 1);
        }
        c.is_whitespace() && !quoted
    };
    text.split(is_end).filter(|token| !token.is_empty())
}

/// A parsed filter; all its parts must match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    words: Vec<String>,
    codes: Vec<String>,
    files: Vec<String>,
}

impl Filter {
    /// Parses a filter text. The words of [`FIELDS`] search one field; other words search the code, the file, the messages
    /// and the labels. The search ignores case. Quotation marks keep words together.
    pub fn parse(text: &str) -> Self {
        let mut filter = Self::default();
        for token in tokens(&text.to_lowercase()) {
            let is_quoted = token.matches('"').count() > 1;
            let token = if is_quoted { token.replace('"', "") } else { token.to_owned() };
            let field = token.split_once(':').and_then(|(word, value)| {
                let (_, field, ..) = FIELDS.iter().find(|(name, ..)| *name == word)?;
                Some((*field, value))
            });
            match field {
                // An unfinished filter hides nothing.
                Some((_, "")) => {}
                Some((Field::Code, code)) => filter.codes.push(code.to_owned()),
                Some((Field::File, file)) => filter.files.push(file.to_owned()),
                None => filter.words.push(token.to_owned()),
            }
        }
        filter
    }

    /// Whether the filter matches a diagnostic.
    pub fn matches(&self, it: &DiagnosticArtifact) -> bool {
        if *self == Self::default() {
            return true;
        }
        let code = it.code.as_deref().unwrap_or_default().to_lowercase();
        let file = it.file_name.to_lowercase();
        let all = |parts: &[String], text: &str| parts.iter().all(|part| text.contains(part));
        if !all(&self.codes, &code) || !all(&self.files, &file) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let children = it.children.iter().map(|child| child.message.as_str());
        let labels = it.spans.iter().filter_map(|span| span.label.as_deref());
        let texts = std::iter::once(it.message.as_str()).chain(children).chain(labels);
        let texts: Vec<_> = texts.map(str::to_lowercase).collect();
        self.words.iter().all(|word| {
            code.contains(word)
                || file.contains(word)
                || texts.iter().any(|text| text.contains(word.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Level;

    #[test]
    fn words_match_anywhere_filters_their_field() {
        let child = DiagnosticArtifact {
            level: Level::Info,
            tool_level: "help".to_owned(),
            message: "consider importing it".to_owned(),
            file_name: String::new(),
            line_start: 0,
            column_start: None,
            line_end: None,
            column_end: None,
            code: None,
            spans: Vec::new(),
            children: Vec::new(),
            rendered: None,
        };
        let it = DiagnosticArtifact {
            message: "cannot find function `nope`".to_owned(),
            file_name: "src/Lexer.rs".to_owned(),
            code: Some("E0425".to_owned()),
            children: vec![child.clone()],
            ..child
        };
        for (text, matches) in [
            ("", true),
            ("NOPE cannot", true),
            ("nope egret", false),
            ("lexer", true),
            ("importing", true),
            ("code:e04", true),
            ("code:", true),
            ("code:lexer", false),
            ("file:src/lexer find", true),
            ("file:parser", false),
            ("0425", true),
            ("\"find function\"", true),
            ("\"function find\"", false),
            ("file:\"src/lexer", false),
            ("\"nope", false),
            ("\"cannot code:e0425", false),
            ("\"\" nope", true),
            ("std::fs", false),
        ] {
            assert_eq!(Filter::parse(text).matches(&it), matches, "{text}");
        }
    }

    #[test]
    fn each_example_in_the_help_searches_a_field() {
        let examples: Vec<_> = filters_help().collect();
        assert_eq!(examples.len(), FIELDS.len());
        for (example, meaning) in examples {
            let filter = Filter::parse(&example);
            assert_eq!(filter.words, Vec::<String>::new(), "{example}");
            assert_eq!(filter.codes.len() + filter.files.len(), 1, "{example}");
            assert!(meaning.starts_with("diagnostics with"), "{example}");
        }
    }
}
