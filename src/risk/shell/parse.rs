//! The first parser: recursive descent over the grammar of bash.

use std::ops::Range;

use super::listed::listed;
use super::syntax::{DECLARING, ParseError, Script, name_length};
use super::{SimpleCommand, Word};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Limit for nesting. The scan before parsing counts nesting only roughly.
const MAX_DEPTH: usize = 48;

/// Words that end a list.
const CLOSING: &str = "then do done fi elif else esac }";

/// The state of the parser. Each method parses a part of the grammar from `position` on.
pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) position: usize,
    pub(super) depth: usize,
    pub(super) script: Script,
    /// Here-documents whose texts start after the next newline.
    pub(super) pending: Vec<HereDocument>,
}

/// A here-document whose text starts after the next newline.
pub(super) struct HereDocument {
    /// The index of its command.
    pub(super) command: usize,
    /// The index of its redirection in the command.
    pub(super) redirect: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
}

/// Parses a whole command line.
pub(super) fn parse(source: &str, depth: usize) -> Parsed<Script> {
    let mut parser = Parser::new(source, depth);
    parser.list()?;
    if parser.position < source.len() {
        return Err(parser.error("a closing word or bracket without its beginning"));
    }
    if !parser.pending.is_empty() {
        return Err(parser.error("a here-document without its text"));
    }
    Ok(parser.script)
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, depth: usize) -> Self {
        Self { source, position: 0, depth, script: Script::default(), pending: Vec::new() }
    }

    pub(super) fn error(&self, what: &'static str) -> ParseError {
        ParseError { position: self.position, what }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes a text if it follows.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    /// Consumes a text that must follow.
    pub(super) fn require(&mut self, text: &str, missing: &'static str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.error(missing)) }
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Skips blanks, line continuations and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            if self.take("\\\n") || self.take(" ") || self.take("\t") {
                continue;
            }
            if self.peek() == Some('#') {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                self.position += line;
            }
            return;
        }
    }

    /// Skips blanks, comments and newlines. A newline starts the texts of pending here-documents.
    pub(super) fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if !self.newline()? {
                return Ok(());
            }
        }
    }

    fn newline(&mut self) -> Parsed<bool> {
        if !self.take("\n") {
            return Ok(false);
        }
        for pending in std::mem::take(&mut self.pending) {
            self.here_document(&pending)?;
        }
        Ok(true)
    }

    /// Parses a nested text with its expansions into one word.
    pub(super) fn nested_text(&mut self, text: &str, span: Range<usize>) -> Parsed<Word> {
        let mut inner = Parser::new(text, self.depth + 1);
        let mut word = inner.expanded_text()?;
        let first = self.script.commands.len();
        self.merge_nested(inner.script, span.clone());
        word.span = span;
        word.inner = word.inner.map(|inner| inner.start + first..inner.end + first);
        Ok(word)
    }

    /// Merges the script of a nested text. Every span becomes `span`, the nested text in the outer one.
    pub(super) fn merge_nested(&mut self, mut nested: Script, span: Range<usize>) {
        let first = self.script.commands.len();
        let shift = |range: Range<usize>| range.start + first..range.end + first;
        for command in &mut nested.commands {
            command.span = span.clone();
            command.nested = true;
            command.input = command.input.take().map(shift);
        }
        let words = nested.commands.iter_mut().flat_map(SimpleCommand::all_words_mut);
        for word in words.chain(&mut nested.evaluated) {
            word.span = span.clone();
            word.inner = word.inner.take().map(shift);
        }
        for function in &mut nested.functions {
            function.body = shift(function.body.clone());
            function.span = span.clone();
        }
        self.script.endless.extend(nested.endless.iter().map(|_| span.clone()));
        if nested.overflow.is_some() {
            self.script.overflow = Some(span);
        }
        self.script.commands.append(&mut nested.commands);
        self.script.functions.append(&mut nested.functions);
        self.script.loops.append(&mut nested.loops);
        self.script.evaluated.append(&mut nested.evaluated);
        self.script.bash_only |= nested.bash_only;
    }

    /// Sets the input of those commands from `first` on that have none.
    pub(super) fn set_input(&mut self, first: usize, input: Range<usize>) {
        for command in self.script.commands.iter_mut().skip(first) {
            command.input.get_or_insert(input.clone());
        }
    }

    /// Runs `parse` one nesting level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deep"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// The next word, without consuming it; empty if a part of it is quoted or an expansion.
    pub(super) fn next_word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| c.is_whitespace() || ";&|()<>\"'`$\\#".contains(c))
            .unwrap_or(rest.len());
        match rest.get(end..).and_then(|after| after.chars().next()) {
            Some('"' | '\'' | '`' | '$' | '\\') => "",
            _ => rest.get(..end).unwrap_or_default(),
        }
    }

    /// Consumes a word if it follows unquoted.
    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.next_word() == word;
        if found {
            self.position += word.len();
        }
        found
    }

    /// Consumes a keyword that must follow, possibly after newlines.
    pub(super) fn expect_keyword(&mut self, word: &'static str) -> Parsed<()> {
        self.skip_lines()?;
        if self.take_keyword(word) {
            Ok(())
        } else {
            Err(self.error("a compound command without its end"))
        }
    }

    fn ends_list(&self) -> bool {
        self.rest().is_empty()
            || self.rest().starts_with(')')
            || self.rest().starts_with(";;")
            || self.rest().starts_with(";&")
            || listed(CLOSING, self.next_word())
    }

    pub(super) fn list(&mut self) -> Parsed<()> {
        loop {
            self.skip_lines()?;
            if self.ends_list() {
                return Ok(());
            }
            let first = self.script.commands.len();
            self.pipeline()?;
            self.skip_blanks();
            if self.take("&&") || self.take("||") {
                self.skip_lines()?;
                if self.ends_list() || self.rest().starts_with([';', '&', '|']) {
                    return Err(self.error("an operator without a command"));
                }
            } else if self.ends_list() || self.rest().starts_with('\n') {
            } else if self.take("&") {
                for command in self.script.commands.iter_mut().skip(first) {
                    command.background = true;
                }
            } else if !self.take(";") {
                return Err(self.error("something that is no command"));
            }
        }
    }

    /// Parses a list that must not be empty.
    pub(super) fn body(&mut self) -> Parsed<()> {
        let before = self.script.commands.len();
        let start = self.position;
        self.list()?;
        let text = self.source.get(start..self.position).unwrap_or_default();
        if before == self.script.commands.len() && text.trim().is_empty() {
            return Err(self.error("a compound command without commands"));
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.take_keyword("!") {
                continue;
            }
            if self.take_keyword("time") {
                self.skip_blanks();
                while self.take_keyword("-p") || self.take_keyword("--") {
                    self.skip_blanks();
                }
                // `time` without a command is rejected: parsers disagree on where it ends.
                continue;
            }
            break;
        }
        let mut previous = self.script.commands.len();
        self.command()?;
        loop {
            self.skip_blanks();
            if self.rest().starts_with("||") {
                return Ok(());
            }
            if self.take("|&") {
                self.script.bash_only = true;
            } else if !self.take("|") {
                return Ok(());
            }
            self.skip_lines()?;
            let start = self.script.commands.len();
            self.command()?;
            self.set_input(start, previous..start);
            previous = start;
        }
    }

    pub(super) fn command(&mut self) -> Parsed<()> {
        self.nested(|parser| {
            let start = parser.position;
            if !parser.compound()? {
                return parser.simple();
            }
            // The span ends before trailing blanks and comments.
            let mut end = parser.position;
            parser.skip_blanks();
            // Redirections of a whole group are kept in a command without words.
            let index = parser.script.commands.len();
            parser.script.commands.push(SimpleCommand::default());
            while parser.redirect(index)? {
                end = parser.position;
                parser.skip_blanks();
            }
            if let Some(command) = parser.script.commands.get_mut(index) {
                command.span = start..end;
            }
            Ok(())
        })
    }

    fn simple(&mut self) -> Parsed<()> {
        let start = self.position;
        let index = self.script.commands.len();
        // The command is added before its words are parsed, because commands inside its words follow it.
        self.script.commands.push(SimpleCommand::default());
        let mut is_empty = true;
        let mut end = start;
        loop {
            if !is_empty {
                end = self.position;
            }
            // Comments are not part of the command.
            self.skip_blanks();
            if self.redirect(index)? {
                is_empty = false;
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => {
                    let name = self.only_word(index).ok_or_else(|| self.error("a bracket"))?;
                    self.position += 1;
                    self.skip_blanks();
                    self.require(")", "a function without its body")?;
                    self.script.commands.truncate(index);
                    return self.function(name);
                }
                Some(_) => {}
            }
            is_empty = false;
            let command = self.script.commands.get(index);
            let declares = command.is_some_and(|it| it.starts(DECLARING));
            let plain = command.is_some_and(|it| it.words.is_empty());
            let (mut words, mut assignments) = (Vec::new(), Vec::new());
            if declares && self.array_follows() {
                let list = self.assignment()?.unwrap_or_default();
                words.extend(list.into_iter().take(1).map(|(name, word)| Word {
                    text: format!("{name}={}", word.text),
                    list: true,
                    ..word
                }));
            } else if plain && let Some(assignment) = self.assignment()? {
                assignments = assignment;
            } else {
                words = self.words()?;
            }
            if let Some(command) = self.script.commands.get_mut(index) {
                command.words.append(&mut words);
                command.assignments.append(&mut assignments);
            }
        }
        if is_empty {
            return Err(self.error("no command where one is needed"));
        }
        if let Some(command) = self.script.commands.get_mut(index) {
            command.span = start..end;
        }
        Ok(())
    }

    /// Whether an array assignment follows.
    fn array_follows(&self) -> bool {
        let rest = self.rest();
        let end = name_length(rest);
        // Without a name this is not an assignment.
        let named = end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit());
        let after = rest.get(end..).unwrap_or_default();
        named && (after.starts_with("=(") || after.starts_with("+=("))
    }

    /// The text of a command that consists of one word.
    fn only_word(&self, index: usize) -> Option<String> {
        let command = self.script.commands.get(index)?;
        match command.words.as_slice() {
            [word] if command.assignments.is_empty() => Some(word.text.clone()),
            _ => None,
        }
    }
}
