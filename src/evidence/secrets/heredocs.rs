//! Here documents whose name is that of a secret: `PASSWORD=$(cat <<EOF`, `password = <<-EOF`, `read -rd '' PASSWORD <<EOF`,
//! `cat <<EOF > db_password`.

use memchr::memmem;

use super::Match;
use super::assign::Name;
use super::lines::Lines;
use super::scan::{any_of, at, forward_while, is_name_byte};
use super::values::{ValueForm, has_secret_line};

/// The maximum size of a document in bytes and lines. Both keep the time linear in texts with many documents that have no
/// end.
const MAX_DOCUMENT: usize = 32 << 10;
const MAX_DOCUMENT_LINES: usize = 128;
/// The maximum distance from a name to the end of its line, in bytes.
const MAX_COMMAND: usize = 512;

impl Name<'_> {
    /// The secret in the here document that is assigned to the name or written to a file with this name.
    pub(super) fn here_document(&self) -> Option<Match> {
        let bytes = self.bytes();
        if !any_of(b" \t=:\"'\n\r\\")(at(bytes, self.end)) {
            return None;
        }
        let end = self.line_end();
        let (lines, first) = Lines::after_break(bytes, end)?;
        let from = lines.start(self.start);
        let (before, rest) = (self.text.get(from..self.start)?, self.text.get(self.end..end)?);
        let is_document = is_assigned(rest) || is_read(before, rest) || is_target(before, rest);
        if !is_document {
            return None;
        }
        let operator = from + memmem::rfind(self.text.get(from..end)?.as_bytes(), b"<<")?;
        let word = forward_while(bytes, operator + 2, 8, any_of(b"-~ \"'\\"));
        let delimiter = self.text.get(word..forward_while(bytes, word, 64, is_name_byte))?;
        if delimiter.is_empty() {
            return None;
        }
        let (mut next, mut last) = (Some(first), first);
        for _ in 0..MAX_DOCUMENT_LINES {
            let start = next.filter(|start| start - first < MAX_DOCUMENT)?;
            let (end, following) = lines.end(start);
            let line = self.text.get(start..end)?.trim();
            if line.trim_end_matches([';', ',', ')', '"']) == delimiter {
                break;
            }
            (next, last) = (following, end);
        }
        let text = self.text.get(first..last)?;
        let start = first + (text.len() - text.trim_start().len());
        let value = start..start.max(first + text.trim_end().len());
        let text = self.text.get(value.clone())?;
        let is_one_line = lines.end(start).0 >= value.end;
        if is_one_line {
            return self.secret_in(value, ValueForm::Quoted);
        }
        has_secret_line(self.class, text).then(|| self.found(value))
    }

    /// The end of the line of the name, whose break may be escaped and may include a carriage return.
    fn line_end(&self) -> usize {
        let bytes = self.bytes();
        let mut end = self.end;
        loop {
            end = forward_while(bytes, end, MAX_COMMAND, |byte| !b"\\\n".contains(&byte));
            let after = forward_while(bytes, end, 64, |byte| byte == b'\\');
            let is_break = any_of(b"nr")(at(bytes, after));
            if after == end || is_break || after - self.end > MAX_COMMAND {
                return end;
            }
            end = after;
        }
    }
}

/// Whether a here document is assigned to the name before this text, also by a command.
fn is_assigned(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'', '\\']).trim_start();
    let operators = [":=", "=>", "=", ":"];
    let value = operators.into_iter().find_map(|operator| rest.strip_prefix(operator));
    value.is_some_and(|value| {
        let value = value.trim_start().trim_start_matches(['\\', '"']);
        let is_command = value.starts_with("$(") || value.starts_with('`');
        value.starts_with("<<") || (is_command && value.contains("<<"))
    })
}

/// Whether a command reads a here document into the name between these texts.
fn is_read(before: &str, rest: &str) -> bool {
    let command = before.rsplit([';', '&', '|']).next().unwrap_or_default();
    command.trim_start().starts_with("read ") && rest.trim_start().starts_with("<<")
}

/// Whether a here document is written to the file with the name between these texts.
fn is_target(before: &str, rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'']).trim();
    if !(rest.is_empty() || rest.starts_with("<<")) {
        return false;
    }
    let folder = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let command = before.strip_suffix(folder).unwrap_or_default().trim_end();
    folder.contains('>') || [">", "tee", "tee -a"].iter().any(|end| command.ends_with(end))
}

#[cfg(test)]
mod tests;
