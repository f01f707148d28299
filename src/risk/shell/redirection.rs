//! Redirections and here-documents.

use super::Word;
use super::parse::{HereDocument, Parsed, Parser};
use super::syntax::{Redirect, name_length};

const OPERATORS: [&str; 12] =
    ["<<<", "<<-", "&>>", "<<", ">>", ">|", "<>", ">&", "<&", "&>", "<", ">"];

impl Parser<'_> {
    /// Reads the text of a here-document, and stores it in its redirection.
    pub(super) fn here_document(&mut self, pending: &HereDocument) -> Parsed<()> {
        let start = self.position;
        let mut text = String::new();
        loop {
            if self.rest().is_empty() {
                return Err(self.error("a here-document without its end"));
            }
            let line = self.rest().split('\n').next().unwrap_or_default();
            self.position = (self.position + line.len() + 1).min(self.source.len());
            let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { line };
            if line == pending.delimiter {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        let span = start..self.position;
        let mut word = Word::literal(&text, span.clone());
        if !pending.quoted {
            word = self.nested_text(&text, span)?;
        }
        if let Some(redirect) = self
            .script
            .commands
            .get_mut(pending.command)
            .and_then(|command| command.redirects.get_mut(pending.redirect))
        {
            redirect.target = word;
        }
        Ok(())
    }

    /// Parses a redirection of the command at `index`. Returns whether one follows.
    pub(super) fn redirect(&mut self, index: usize) -> Parsed<bool> {
        let mark = self.position;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let mut is_standard = matches!(self.rest().get(..digits), Some("" | "0" | "1"));
        self.position += digits;
        if digits == 0 && self.rest().starts_with('{') {
            let name = self.rest().find('}').map_or(0, |end| end + 1);
            let named = self.rest().get(1..name.saturating_sub(1)).unwrap_or_default();
            let is_name = !named.is_empty() && name_length(named) == named.len();
            if is_name && self.rest().get(name..).is_some_and(|r| r.starts_with(['<', '>'])) {
                self.position += name;
                is_standard = false;
            }
        }
        let substitution = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        let operator = OPERATORS.iter().find(|operator| self.rest().starts_with(**operator));
        let Some(operator) = operator.filter(|_| !substitution).copied() else {
            self.position = mark;
            return Ok(false);
        };
        self.position += operator.len();
        self.script.bash_only |= matches!(operator, "<<<" | "&>" | "&>>");
        self.skip_blanks();
        let from = self.position;
        let target = self.word()?;
        if target.text.is_empty() && from == self.position {
            return Err(self.error("a redirection without its file"));
        }
        let is_here_document = matches!(operator, "<<" | "<<-");
        let written = self.source.get(from..self.position).unwrap_or_default();
        let delimiter = target.text.clone();
        let Some(command) = self.script.commands.get_mut(index) else { return Ok(true) };
        command.redirects.push(Redirect { operator, is_standard, target });
        if is_here_document {
            self.pending.push(HereDocument {
                command: index,
                redirect: command.redirects.len() - 1,
                delimiter,
                quoted: written.contains(['\'', '"', '\\']),
                strips_tabs: operator == "<<-",
            });
        }
        Ok(true)
    }
}
