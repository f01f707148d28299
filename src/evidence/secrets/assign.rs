//! Values that are assigned to a name: in settings files, source code, commands, JSON, XML and SQL.

use std::ops::Range;

use super::Match;
use super::names::{Class, classify};
use super::scan::{
    MAX_VALUE, alphanumeric_or, any_of, at, back_while, forward_while, is_name_byte, line_start,
    quoted, unspaced_except, wrapped,
};
use super::values::ValueForm;

/// The maximum number of bytes of a name before and after the trigger word.
const MAX_NAME: usize = 96;
/// The maximum number of spaces between the parts of an assignment.
pub(super) const MAX_GAP: usize = 80;

/// A name that indicates a secret value, with its position.
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    pub(super) class: Class,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The secret that belongs to the name around this word.
pub(super) fn at_word(text: &str, word: Range<usize>) -> Option<Match> {
    let bytes = text.as_bytes();
    let start = back_while(bytes, word.start, MAX_NAME, |byte| is_name_byte(byte) || byte == b'.');
    let mut end = forward_while(bytes, word.end, MAX_NAME, is_name_byte);
    while at(bytes, end) == b'.' && is_name_byte(at(bytes, end + 1)) {
        end = forward_while(bytes, end + 1, MAX_NAME, is_name_byte);
    }
    // `token->kind` is field access. A dash at the end belongs to the following text.
    while end > word.end && at(bytes, end - 1) == b'-' {
        end -= 1;
    }
    if at(bytes, end) == b'-' && at(bytes, end + 1) == b'>' {
        return None;
    }
    let (start, end) = in_words(text, start, end);
    let name = text.get(start..end)?;
    // The letter of an escaped line break or tab is not part of the name.
    let escaped = start > 0 && at(bytes, start - 1) == b'\\' && name.starts_with(['n', 't', 'r']);
    let class = escaped
        .then(|| classify(name.get(1..).unwrap_or_default()))
        .flatten()
        .or_else(|| classify(name))?;
    let name = Name { text, class, start: start + usize::from(escaped), end };
    name.flag()
        .or_else(|| name.tag())
        .or_else(|| name.assigned())
        .or_else(|| name.beside())
        .or_else(|| name.here_document())
        .or_else(|| name.spaced())
}

/// Extends `Key` to a label of several words and perhaps a number: `Unseal Key 1:`, `Secret Access Key:`.
fn in_words(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let name = text.get(start..end).unwrap_or_default();
    if !matches!(name, "Key" | "key" | "KEY" | "keys") || at(bytes, start.wrapping_sub(1)) != b' ' {
        return (start, end);
    }
    let before = back_while(bytes, start - 1, 24, |byte| byte.is_ascii_alphabetic());
    let number = forward_while(bytes, end, 1, |byte| byte == b' ');
    let number = forward_while(bytes, number, 2, |byte| byte.is_ascii_digit());
    match at(bytes, number) {
        b':' => (before, number),
        _ if at(bytes, end) == b':' => (before, end),
        _ => (start, end),
    }
}

impl Name<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    pub(super) fn found(&self, value: Range<usize>) -> Match {
        Match::new(self.start..value.end.max(self.end), value, "password")
    }

    /// `--password X`, `-storepass X`.
    fn flag(&self) -> Option<Match> {
        let bytes = self.bytes();
        if at(bytes, self.start) != b'-' || !matches!(at(bytes, self.end), b' ' | b'"' | b'\'') {
            return None;
        }
        let mut start = forward_while(bytes, self.end, 3, any_of(b" \"'"));
        // In an argument list: "--password", "X".
        if at(bytes, start) == b',' {
            start = forward_while(bytes, start + 1, MAX_GAP, any_of(b" \n"));
        }
        let before = quoted(self.text, start.saturating_sub(1));
        if let Some(value) = before.or_else(|| quoted(self.text, start)) {
            return self.secret_in(value, ValueForm::Quoted);
        }
        let end = forward_while(bytes, start, MAX_VALUE, unspaced_except(b"\"'`\\"));
        let value = self.text.get(start..end)?;
        let rest = forward_while(bytes, end, MAX_GAP, |byte| byte == b' ');
        // Prose about an option continues with words, a command with an option, an operator or the end of the line.
        let is_command = any_of(b"\0\n\r-|;&>\"'")(at(bytes, rest));
        let is_candidate = value.bytes().any(|byte| byte.is_ascii_digit())
            || (is_command
                && value.len() >= 6
                && self.class != Class::Key
                && !is_about_options(value));
        if !is_candidate || value.starts_with('-') || value.contains("://") {
            return None;
        }
        self.secret_in(start..end, ValueForm::Quoted)
    }

    /// `<password>X</password>`, `<key>Password</key><string>X</string>`.
    fn tag(&self) -> Option<Match> {
        let bytes = self.bytes();
        let before = back_while(bytes, self.start, 24, |byte| is_name_byte(byte) || byte == b':');
        if !matches!(at(bytes, before.wrapping_sub(1)), b'<')
            && !self.text.get(self.end..)?.starts_with("</")
        {
            return None;
        }
        let mut open = forward_while(bytes, self.end, 200, |byte| !matches!(byte, b'>' | b'\n'));
        if at(bytes, self.end) == b'<' {
            // If the name is the content of a tag, the next tag contains the value.
            let next = forward_while(bytes, open + 1, MAX_GAP, |byte| byte.is_ascii_whitespace());
            if at(bytes, next) != b'<' {
                return None;
            }
            open = forward_while(bytes, next, MAX_GAP, |byte| byte != b'>');
        }
        if at(bytes, open) != b'>' || at(bytes, open - 1) == b'/' {
            return None;
        }
        let mut start = forward_while(bytes, open + 1, MAX_GAP, |byte| byte.is_ascii_whitespace());
        // `<Password><Value>X</Value>`.
        let inner = self.text.get(start..)?;
        if inner.get(..7).is_some_and(|tag| tag.eq_ignore_ascii_case("<value>")) {
            start += 7;
        }
        let end = forward_while(bytes, start, MAX_VALUE, |byte| !matches!(byte, b'<' | b'\n'));
        if !self.text.get(end..)?.starts_with("</") {
            return None;
        }
        self.secret_in(start..end, ValueForm::Quoted)
    }

    /// The position after the quote, bracket or array length that follows the name, and whether the name is in quotes.
    pub(super) fn decorated(&self) -> (usize, bool) {
        let bytes = self.bytes();
        let mut end = forward_while(bytes, self.end, 8, |byte| byte == b'\\');
        let in_quotes = matches!(at(bytes, end), b'"' | b'\'' | b'`');
        if in_quotes {
            end += 1;
        } else {
            end = self.end;
        }
        if at(bytes, end) == b']' {
            end += 1;
        } else if at(bytes, end) == b'[' && !in_quotes {
            // `char password[32] = "X"`.
            let close = forward_while(bytes, end + 1, 8, |byte| byte.is_ascii_digit());
            if at(bytes, close) == b']' {
                end = close + 1;
            }
        }
        (end, in_quotes)
    }

    /// `NAME = X` in all its forms.
    fn assigned(&self) -> Option<Match> {
        let bytes = self.bytes();
        let (end, in_quotes) = self.decorated();
        let gap = forward_while(bytes, end, MAX_GAP, any_of(b" \t"));
        let rest = self.text.get(gap..)?;
        let operators =
            ["===", "==", "=>", ":=", "::", "?=", "||=", "+=", "<-", "=", ":", "|", "is "];
        let operator = operators.into_iter().find(|operator| rest.starts_with(operator));
        let Some(operator) = operator else {
            return if in_quotes { None } else { self.typed(gap) };
        };
        // LDAP's `userPassword:: X`, in base64.
        let ldap = operator == "::" && at(bytes, gap + 2) == b' ' && self.class == Class::Password;
        if (operator == "::" && !ldap) || (operator == "is " && self.class == Class::Key) {
            return None;
        }
        let after = gap + operator.len();
        let is_quoted = any_of(b"\"'`")(at(bytes, self.start.wrapping_sub(1)));
        let key = self.start - usize::from(in_quotes && is_quoted);
        if operator == ":"
            && let Some(block) = self.block(key, after)
        {
            return block;
        }
        let mut start = forward_while(bytes, after, MAX_GAP, any_of(b" \t"));
        let mut is_folded = false;
        if matches!(operator, ":" | "=") && matches!(at(bytes, start), b'\n' | b'\r' | b'>' | b'|')
        {
            // The value is on the next line, as in folded YAML or formatted JSON.
            let mark = forward_while(bytes, start, 3, any_of(b">|-+"));
            let next = forward_while(bytes, mark, MAX_GAP, |byte| byte.is_ascii_whitespace());
            is_folded = mark > start;
            if !is_folded && quoted(self.text, next).is_none() {
                return None;
            }
            start = next;
        }
        if at(bytes, start) == b'(' && matches!(at(bytes, start + 1), b'"' | b'\'') {
            start += 1;
        }
        // The name is a value in `ok ? "pass" : "fail"`.
        let is_conditional = in_quotes
            && operator == ":"
            && self.text.get(..self.start)?.trim_end_matches(['"', '\'']).ends_with("? ");
        if is_conditional {
            return None;
        }
        if let Some(value) = quoted(self.text, start) {
            let form =
                if matches!(operator, "|" | "is ") { ValueForm::Beside } else { ValueForm::Quoted };
            return self.secret_in(value, form);
        }
        if matches!(operator, ":" | "=" | ":=" | "=>")
            && let Some(found) = self.in_quoted_lines(start)
        {
            return Some(found);
        }
        if operator == ":"
            && let Some(found) = self.typed(start)
        {
            return Some(found);
        }
        // After a colon without a space, only long values are secrets: `libsecret-1-0:amd64`, `10.2:key:5`.
        if operator == ":" && start == after && !in_quotes && self.class != Class::Password {
            let end = forward_while(bytes, start, 16, |byte| byte.is_ascii_graphic());
            if end - start < 16 {
                return None;
            }
        }
        if operator == "=" && is_badge(self.text, self.start) {
            return None;
        }
        let tight = matches!(operator, "=" | ":=") && gap == end && start == after && !in_quotes;
        let colon = operator == ":" && (is_folded || start > after || in_quotes)
            || tight && operator == ":=";
        if operator == "|" && start == after {
            // A choice of types, not a table.
            return None;
        }
        if matches!(operator, "is " | "|") {
            // In a sentence or a table, words are no secrets.
            let end = forward_while(bytes, start, MAX_VALUE, |byte| !byte.is_ascii_whitespace());
            let value = self.text.get(start..end)?;
            let value = value.split('|').next()?.trim_end_matches(['.', ',', ';', ':', '!', ')']);
            return self.secret_in(start..start + value.len(), ValueForm::Beside);
        }
        self.bare(start, tight, colon)
    }

    /// `password: &str = "X"`, `password string = "X"`, `#define PASSWORD "X"`.
    fn typed(&self, start: usize) -> Option<Match> {
        let bytes = self.bytes();
        let line = self.text.get(line_start(bytes, self.start)..self.start)?;
        if line.trim_end().ends_with("#define") {
            return self.secret_in(quoted(self.text, start)?, ValueForm::Quoted);
        }
        let end = forward_while(bytes, start, 60, alphanumeric_or(b"_&<>'[]: .*?"));
        let words = self.text.get(start..end)?;
        // An HTML tag in a sentence is not a type.
        let tag =
            words.contains(" <") || words.starts_with('<') || words.split_whitespace().count() > 4;
        if end == start || tag || at(bytes, end) != b'=' || at(bytes, end + 1) == b'=' {
            return None;
        }
        let value = forward_while(bytes, end + 1, MAX_GAP, |byte| byte == b' ');
        self.secret_in(quoted(self.text, value)?, ValueForm::Quoted)
    }

    /// The secret in an unquoted value. `tight`: assigned without spaces; `colon`: assigned by a colon.
    pub(super) fn bare(&self, start: usize, tight: bool, colon: bool) -> Option<Match> {
        if self.class.is_structured() {
            return self.bare_structured(start, tight || colon);
        }
        let bytes = self.bytes();
        let is_part = unspaced_except(b"\"'`,;&(){}[]<>|\\\0");
        let mut end = forward_while(bytes, start, MAX_VALUE, is_part);
        if at(bytes, start) == b'{' {
            // `{SSHA}X` of LDAP.
            let close =
                forward_while(bytes, start + 1, 16, |byte| byte.is_ascii_graphic() && byte != b'}');
            end = forward_while(bytes, close + 1, MAX_VALUE, is_part);
            return self.secret_in(start..end, ValueForm::Quoted).filter(|_| end > close + 20);
        }
        let line = self.text.get(line_start(bytes, self.start)..self.start)?;
        let lead = line.trim_start();
        let is_own_line = lead.is_empty()
            || matches!(lead, "export " | "set " | "ENV " | "- " | "ARG " | "setx " | "$env:");
        if is_own_line
            && (tight || colon)
            && end > start
            && !matches!(at(bytes, end), b'(' | b'[' | b'{' | b'<')
        {
            // If the assignment has its own line, the value extends to the end of the word.
            let all = forward_while(bytes, end, MAX_VALUE, unspaced_except(b"\"'`\\"));
            let trimmed =
                self.text.get(..all)?.trim_end_matches([',', ';', ')', '}', '|', '&']).len();
            let closed = forward_while(bytes, all, MAX_GAP, |byte| byte == b' ');
            if trimmed > end && matches!(at(bytes, closed), b'\n' | b'\r' | 0) {
                end = trimmed;
            }
        }
        let next = at(bytes, end);
        let closed = forward_while(bytes, end, MAX_GAP, |byte| byte == b' ');
        // `NAME: TYPE = …` and `pub name: TYPE,` are declarations in source code.
        let declares = at(bytes, closed) == b'=' && !tight || lead.starts_with("pub ");
        if colon && declares {
            return None;
        }
        let last = matches!(at(bytes, closed), b'\n' | b'\r' | 0)
            || self.text.get(end..)?.starts_with("\\n");
        // A redaction marker, or the rest of one.
        if end == start || is_marker_rest(self.text.get(start..end)?) {
            return None;
        }
        // `;Pwd=X;` in a connection string.
        let in_list = tight && next == b';' && at(bytes, self.start.wrapping_sub(1)) == b';';
        let form =
            if in_list { ValueForm::Quoted } else { ValueForm::Bare { tight, last, next, colon } };
        let value = self.secret_in(start..end, form)?.secret;
        Some(self.found(value.start..wrapped(bytes, value)))
    }
}

/// Whether the name is a parameter in the URL of a badge, which is public.
fn is_badge(text: &str, name: usize) -> bool {
    let is_end = any_of(b"\"(<");
    let from =
        back_while(text.as_bytes(), name, 200, |byte| byte.is_ascii_graphic() && !is_end(byte));
    let url = text.get(from..name).unwrap_or_default();
    url.contains("://") && [".svg?", "/badge", "img.shields.io"].iter().any(|it| url.contains(it))
}

/// Whether a word after an option belongs to prose about the option.
fn is_about_options(value: &str) -> bool {
    const WORDS: &str = "option options flag flags instead argument arguments parameter parameters \
                         switch switches setting settings field fields value values respectively";
    WORDS.split_ascii_whitespace().any(|word| word == value.trim_end_matches(['.', ',', ')']))
}

/// Whether a value is the rest of a redaction marker after `[secret:` and before the bracket. The kind may be empty.
pub(in crate::evidence) fn is_marker_rest(value: &str) -> bool {
    value.rsplit_once(':').is_some_and(|(kind, mark)| {
        kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && mark.len() == 8
            && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
