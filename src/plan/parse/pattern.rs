//! Checks that a search pattern is a regular expression, without compiling it.
//!
//! Translating a pattern with large Unicode classes takes a thousand times its size, so that parsing a plan could take
//! minutes and gigabytes. Therefore only the grammar of a pattern is parsed, and each class in it is looked up once.
//! Only a pattern that switches Unicode off and has few classes is translated.

use std::collections::HashSet;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, Ast, ClassSetItem, ClassUnicode, ClassUnicodeKind, Flag, Flags};

/// Maximum number of classes in a pattern that switches Unicode off. Such a pattern must be translated to find out
/// whether it is valid.
const MAX_CLASSES: usize = 100;

/// The fault of a pattern as one line; `None` if it is valid.
pub(super) fn fault(pattern: &str) -> Option<String> {
    let tree = match Parser::new().parse(pattern) {
        Ok(tree) => tree,
        Err(error) => return Some(last_line(&error)),
    };
    match ast::visit(&tree, Classes::default()) {
        Err(fault) => Some(fault),
        Ok(Classes { matches_bytes: false, .. }) => None,
        Ok(Classes { count, .. }) if count > MAX_CLASSES => Some(format!(
            "where Unicode is switched off there may be {MAX_CLASSES} character classes, not {count}"
        )),
        Ok(_) => translate(pattern).err(),
    }
}

/// Translates a pattern. The error is its fault as one line.
fn translate(pattern: &str) -> Result<(), String> {
    regex_syntax::parse(pattern).map(|_| ()).map_err(|error| last_line(&error))
}

/// The message of an error, without the drawing of the pattern that `regex_syntax` puts before it.
fn last_line(error: &impl ToString) -> String {
    let message = error.to_string();
    message.lines().last().unwrap_or(&message).trim_start_matches("error: ").to_owned()
}

/// Visits a pattern and looks up its classes.
#[derive(Default)]
struct Classes {
    /// The valid classes found so far.
    known: HashSet<String>,
    /// The number of classes so far, with repeated ones.
    count: usize,
    /// Whether a part of the pattern switches Unicode off, so that it matches bytes instead of characters.
    matches_bytes: bool,
}

impl Classes {
    fn class(&mut self, class: &ClassUnicode) -> Result<(), String> {
        self.count += 1;
        // Formatted again, because the span of a class in the pattern may include a comment after it.
        let text = match &class.kind {
            ClassUnicodeKind::OneLetter(letter) => format!("\\p{{{letter}}}"),
            ClassUnicodeKind::Named(name) => format!("\\p{{{name}}}"),
            ClassUnicodeKind::NamedValue { name, value, .. } => format!("\\p{{{name}={value}}}"),
        };
        if self.known.contains(&text) {
            return Ok(());
        }
        translate(&text)?;
        self.known.insert(text);
        Ok(())
    }

    fn flags(&mut self, flags: &Flags) {
        self.matches_bytes |= flags.flag_state(Flag::Unicode) == Some(false);
    }
}

impl ast::Visitor for Classes {
    type Output = Self;
    type Err = String;

    fn finish(self) -> Result<Self, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::ClassUnicode(class) => self.class(class)?,
            Ast::ClassPerl(_) => self.count += 1,
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => group.flags().into_iter().for_each(|flags| self.flags(flags)),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Unicode(class) => self.class(class)?,
            ClassSetItem::Perl(_) => self.count += 1,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_of_large_classes_is_not_translated() {
        // Translating the classes of this pattern would take six gigabytes.
        assert_eq!(fault(&"\\w".repeat(1 << 19)), None);
        assert!(fault(&format!("(?-u:a){}", "\\w".repeat(1 << 19))).is_some());
        assert_eq!(fault(&format!("(?-u:a){}", "\\w".repeat(MAX_CLASSES))), None);
    }

    #[test]
    fn a_fault_has_one_line() {
        for pattern in ["(", "a\n(", "\\p{Nothing}", "[\\p{Nothing}]", "(?-u)\\pL", "(?-u)\\xFF"] {
            let fault = fault(pattern).unwrap();
            assert!(!fault.is_empty() && !fault.contains('\n'), "{pattern}: {fault:?}");
        }
    }

    #[test]
    fn a_comment_is_no_part_of_a_class() {
        for pattern in ["a(?x)\\pL#(", "(?x)\\p{Greek} # (\n a", "(?x)[\\pL#(\n]"] {
            assert!(regex_syntax::parse(pattern).is_ok(), "{pattern}");
            assert_eq!(fault(pattern), None, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn fault_agrees_with_regex_syntax(
            pattern in "(\\(|\\)|\\[|\\]|\\^|&&|\\?|\\*|\\{2\\}|a|é|\\\\w|\\\\D|\\\\pL|\\\\p\\{Greek\\}|\\\\p\\{No\\}|\\\\p\\{sc=Latn\\}|\\\\p\\{gc=Latn\\}|\\(\\?i\\)|\\(\\?-u|\\(\\?u|:|\\)|\\\\xFF|\\.|\\||\\(\\?x\\)| |#){0,12}"
        ) {
            prop_assert_eq!(fault(&pattern).is_some(), regex_syntax::parse(&pattern).is_err(), "{}", pattern);
        }
    }
}
