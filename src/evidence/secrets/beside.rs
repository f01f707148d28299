//! Values beside a name without an assignment operator: in pairs, calls, settings commands and `.netrc` files.

use super::assign::{MAX_GAP, Name};
use super::names::Class;
use super::scan::{
    MAX_VALUE, any_of, at, back_while, forward_while, line_end, line_start, quoted, quoted_as,
    unspaced_except,
};
use super::values::{ValueForm, is_mixed, is_wordy};
use super::{Match, has_digit};

impl Name<'_> {
    /// `("PASSWORD", "X")`, `name: PASSWORD` with `value: X` beside it, `password("X")`.
    pub(super) fn beside(&self) -> Option<Match> {
        let bytes = self.bytes();
        let (end, in_quotes) = self.decorated();
        let mut next =
            forward_while(bytes, end, MAX_GAP, |byte| byte.is_ascii_whitespace() || byte == b',');
        // In JSON, the line break is escaped.
        if next == end && self.text.get(end..)?.starts_with("\\n") {
            next = forward_while(bytes, end + 2, MAX_GAP, |byte| byte == b' ');
        }
        let rest = self.text.get(next..)?;
        let label = rest.trim_start_matches(['"', '\'', '\\']);
        let skipped = rest.len() - label.len();
        if let Some(word) =
            ["value", "Value", "VALUE"].into_iter().find(|word| label.starts_with(word))
        {
            let mut after = next + skipped + word.len();
            after = forward_while(bytes, after, 4, any_of(b"\"'\\"));
            after = forward_while(bytes, after, MAX_GAP, |byte| byte == b' ');
            if !matches!(at(bytes, after), b':' | b'=') {
                return None;
            }
            if let Some(block) = self.block(next, after + 1) {
                return block;
            }
            let start = forward_while(bytes, after + 1, MAX_GAP, |byte| byte == b' ');
            if let Some(value) = quoted(self.text, start) {
                return self.secret_in(value, ValueForm::Quoted);
            }
            if let Some(found) = self.in_quoted_lines(start) {
                return Some(found);
            }
            return self.bare(start, true, true);
        }
        if in_quotes && self.text.get(end..next)?.contains(',') {
            // In a pair, the name is the first element in its brackets; in a list of names it usually is not.
            let open = back_while(bytes, self.start, MAX_GAP, any_of(b" \t\n\x0c\r\"'`\\br"));
            if !matches!(at(bytes, open.wrapping_sub(1)), b'(' | b'[' | b'{') {
                return None;
            }
            return self.secret_in(quoted(self.text, next)?, ValueForm::Beside);
        }
        let is_verb = self.text.get(self.start..self.end)?.rsplit('.').next() == Some("pass");
        if !in_quotes && at(bytes, self.end) == b'(' && !is_verb {
            return self.secret_in(quoted(self.text, self.end + 1)?, ValueForm::Beside);
        }
        None
    }

    /// `login ada password X`, `requirepass X`, `PASSWORD 'X'`, `configure set NAME X`.
    pub(super) fn spaced(&self) -> Option<Match> {
        let bytes = self.bytes();
        if !matches!(at(bytes, self.end), b' ' | b'\t') {
            return None;
        }
        let mut start = forward_while(bytes, self.end, MAX_GAP, any_of(b" \t"));
        let from = line_start(bytes, self.start);
        let before = self.text.get(from..self.start)?.trim();
        // In JSON, line breaks are escaped.
        let before = before.rsplit("\\n").next()?.trim_start_matches('"');
        if let Some(value) = quoted_as(self.text, start, b'\'') {
            let statement = ["by", "with", "user", "role", "encrypted"];
            let last = before.rsplit(' ').next().unwrap_or_default();
            let is_sql = statement.iter().any(|word| word.eq_ignore_ascii_case(last));
            let form = if is_sql { ValueForm::Quoted } else { ValueForm::Beside };
            return self.secret_in(value, form);
        }
        let is_double = at(bytes, start + usize::from(at(bytes, start) == b'\\')) == b'"';
        if is_double && let Some(value) = quoted(self.text, start) {
            // `PSK "X"`, `secret "X";`. After `secret` or `key`, messages often quote the name of one.
            let text = self.text.get(value.clone())?;
            let random = text.len() >= 20 && !is_wordy(text);
            if self.class != Class::Password && !random {
                return None;
            }
            return self.secret_in(value, ValueForm::Beside);
        }
        let mut end = self.word_end(start);
        let digit = end == start + 1 && at(bytes, start).is_ascii_digit();
        if digit && at(bytes, end) == b' ' {
            // The digit is the encoding of the value, as in `password 7 X` on a router.
            start = end + 1;
            end = self.word_end(start);
        }
        let value = self.text.get(start..end)?;
        let rest = self.text.get(end..line_end(bytes, end))?.trim();
        if digit {
            let hex = value.len() >= 8 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            return (hex && rest.trim_matches('"').is_empty()).then(|| self.found(start..end));
        }
        if self.is_netrc_password(before, rest)? && value.len() >= 4 {
            return self.secret_in(start..end, ValueForm::Quoted);
        }
        let command = is_setting(before);
        let words = self.text.get(self.start..end)?.split_whitespace().count();
        let only =
            before.is_empty() && words == 2 && rest.trim_matches(['"', '\\', 'n']).is_empty();
        // In a command, the value of a key is long and random.
        let compound = self.text.get(self.start..self.end)?.contains('-');
        if compound && self.class == Class::Key && value.len() >= 24 && is_mixed(value) {
            return self.secret_in(start..end, ValueForm::Beside);
        }
        if !(command || only)
            || !has_digit(value)
            || value.contains("()")
            || value.starts_with('*')
            // A port with its protocol in a list of services.
            || (only && value.contains('/'))
        {
            return None;
        }
        let form = ValueForm::Bare { tight: true, last: true, next: b'\n', colon: false };
        self.secret_in(start..end, form)
    }

    fn word_end(&self, start: usize) -> usize {
        forward_while(self.bytes(), start, MAX_VALUE, unspaced_except(b"\"'`"))
    }

    /// Whether this is the password in `machine X login ada password Y`, in one line or in three.
    fn is_netrc_password(&self, before: &str, rest: &str) -> Option<bool> {
        if !matches!(self.text.get(self.start..self.end)?, "password" | "passwd") {
            return Some(false);
        }
        let begin = self.text.floor_char_boundary(self.start.saturating_sub(200));
        let starts = |line: &str| {
            let first = line.trim_start_matches(['"', ' ', '\t']).split(' ').next();
            matches!(first, Some("machine" | "login" | "default" | "account" | "user"))
        };
        let mut above = self.text.get(begin..self.start)?.lines().rev().skip(1);
        let in_line = starts(before) && before.contains("login ");
        let below = before.is_empty() && above.next().is_some_and(starts);
        let ends = rest.split(' ').next().unwrap_or_default();
        let ends = matches!(ends, "" | "machine" | "login" | "account" | "macdef" | "\"");
        Some((in_line || below) && ends)
    }
}

/// Whether a name and its value follow in a command that begins in this way.
fn is_setting(before: &str) -> bool {
    let words = ["set", "ENV", "ARG", "connect", "-x", "-gx", "-Ux", "setx", "setenv"];
    words.contains(&before.rsplit(' ').next().unwrap_or_default()) || before.contains("nmcli")
}
