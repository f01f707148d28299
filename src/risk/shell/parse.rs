//! The first parser: recursive descent over the grammar of bash.

use std::ops::Range;

use super::listed::listed;
use super::syntax::{DECLARING, ParseError, Script, SimpleCommand, Word, name_length};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Limit for nesting. The scan before parsing counts nesting only roughly.
const MAX_DEPTH: usize = 48;

/// Words that end a list.
const CLOSING: &str = "then do done fi elif else esac }";

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: Script,
    /// Here-documents whose text starts after the next newline.
    pub(super) waiting: Vec<HereDocument>,
}

/// A here-document whose text starts after the next newline.
pub(super) struct HereDocument {
    pub(super) command: usize,
    pub(super) redirect: usize,
    pub(super) end: String,
    pub(super) quoted: bool,
    pub(super) tabs: bool,
}

/// Parses a whole command line.
pub(super) fn parse(source: &str, depth: usize) -> Parsed<Script> {
    let mut parser = Parser::new(source, depth);
    parser.list()?;
    if parser.at < source.len() {
        return Err(parser.fault("a closing word or bracket without its beginning"));
    }
    if !parser.waiting.is_empty() {
        return Err(parser.fault("a here-document without its text"));
    }
    Ok(parser.script)
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, depth: usize) -> Self {
        Self { source, at: 0, depth, script: Script::default(), waiting: Vec::new() }
    }

    pub(super) fn fault(&self, what: &'static str) -> ParseError {
        ParseError { at: self.at, what }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes a text that must follow.
    pub(super) fn require(&mut self, text: &str, missing: &'static str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.fault(missing)) }
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn blanks(&mut self) {
        loop {
            if self.take("\\\n") || self.take(" ") || self.take("\t") {
                continue;
            }
            if self.peek() == Some('#') {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                self.at += line;
            }
            return;
        }
    }

    /// Skips blanks, comments and newlines. A newline starts the texts of pending here-documents.
    pub(super) fn lines(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if !self.newline()? {
                return Ok(());
            }
        }
    }

    fn newline(&mut self) -> Parsed<bool> {
        if !self.take("\n") {
            return Ok(false);
        }
        for waiting in std::mem::take(&mut self.waiting) {
            self.here_document(&waiting)?;
        }
        Ok(true)
    }

    /// Evaluates the expansions in a nested text.
    pub(super) fn nested_text(&mut self, text: &str, span: Range<usize>) -> Parsed<Word> {
        let mut inner = Parser::new(text, self.depth + 1);
        let mut word = inner.expanded_text()?;
        let first = self.script.commands.len();
        self.adopt(inner.script, span.clone());
        word.span = span;
        word.inner = word.inner.map(|inner| inner.start + first..inner.end + first);
        Ok(word)
    }

    /// Merges the result of parsing a nested text. All positions become those of the outer text.
    pub(super) fn adopt(&mut self, mut nested: Script, span: Range<usize>) {
        let first = self.script.commands.len();
        let shift = |range: Range<usize>| range.start + first..range.end + first;
        for command in &mut nested.commands {
            command.span = span.clone();
            command.adopted = true;
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

    /// Gives an input to the commands from `first` on that have none.
    pub(super) fn feed(&mut self, first: usize, input: Range<usize>) {
        for command in self.script.commands.iter_mut().skip(first) {
            command.input.get_or_insert(input.clone());
        }
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault("nested too deep"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The next unquoted word, without consuming it.
    pub(super) fn upcoming(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| c.is_whitespace() || ";&|()<>\"'`$\\#".contains(c))
            .unwrap_or(rest.len());
        match rest.get(end..).and_then(|after| after.chars().next()) {
            Some('"' | '\'' | '`' | '$' | '\\') => "",
            _ => rest.get(..end).unwrap_or_default(),
        }
    }

    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let found = self.upcoming() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn expect(&mut self, word: &'static str) -> Parsed<()> {
        self.lines()?;
        if self.keyword(word) {
            Ok(())
        } else {
            Err(self.fault("a compound command without its end"))
        }
    }

    fn ends_list(&self) -> bool {
        self.rest().is_empty()
            || self.rest().starts_with(')')
            || self.rest().starts_with(";;")
            || self.rest().starts_with(";&")
            || listed(CLOSING, self.upcoming())
    }

    pub(super) fn list(&mut self) -> Parsed<()> {
        loop {
            self.lines()?;
            if self.ends_list() {
                return Ok(());
            }
            let first = self.script.commands.len();
            self.pipeline()?;
            self.blanks();
            if self.take("&&") || self.take("||") {
                self.lines()?;
                if self.ends_list() || self.rest().starts_with([';', '&', '|']) {
                    return Err(self.fault("an operator without a command"));
                }
            } else if self.ends_list() || self.rest().starts_with('\n') {
            } else if self.take("&") {
                for command in self.script.commands.iter_mut().skip(first) {
                    command.background = true;
                }
            } else if !self.take(";") {
                return Err(self.fault("something that is no command"));
            }
        }
    }

    pub(super) fn body(&mut self) -> Parsed<()> {
        let before = self.script.commands.len();
        let at = self.at;
        self.list()?;
        let text = self.source.get(at..self.at).unwrap_or_default();
        if before == self.script.commands.len() && text.trim().is_empty() {
            return Err(self.fault("a compound command without commands"));
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if self.keyword("!") {
                continue;
            }
            if self.keyword("time") {
                self.blanks();
                while self.keyword("-p") || self.keyword("--") {
                    self.blanks();
                }
                // `time` without a command is rejected: parsers disagree on where it ends.
                continue;
            }
            break;
        }
        let mut previous = self.script.commands.len();
        self.command()?;
        loop {
            self.blanks();
            if self.rest().starts_with("||") {
                return Ok(());
            }
            if self.take("|&") {
                self.script.bash_only = true;
            } else if !self.take("|") {
                return Ok(());
            }
            self.lines()?;
            let start = self.script.commands.len();
            self.command()?;
            self.feed(start, previous..start);
            previous = start;
        }
    }

    pub(super) fn command(&mut self) -> Parsed<()> {
        self.deeper(|parser| {
            let start = parser.at;
            if !parser.compound()? {
                return parser.simple();
            }
            // The span ends before trailing blanks and comments.
            let mut end = parser.at;
            parser.blanks();
            // Redirections of a whole group are kept in a command without words.
            let index = parser.script.commands.len();
            parser.script.commands.push(SimpleCommand::default());
            while parser.redirect(index)? {
                end = parser.at;
                parser.blanks();
            }
            if let Some(command) = parser.script.commands.get_mut(index) {
                command.span = start..end;
            }
            Ok(())
        })
    }

    fn simple(&mut self) -> Parsed<()> {
        let start = self.at;
        let index = self.script.commands.len();
        // The slot is reserved first, because commands inside its words follow it.
        self.script.commands.push(SimpleCommand::default());
        let mut any = false;
        let mut end = start;
        loop {
            if any {
                end = self.at;
            }
            // Comments are not part of the command.
            self.blanks();
            if self.redirect(index)? {
                any = true;
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => {
                    let name = self.lone_word(index).ok_or_else(|| self.fault("a bracket"))?;
                    self.at += 1;
                    self.blanks();
                    self.require(")", "a function without its body")?;
                    self.script.commands.truncate(index);
                    return self.function(name);
                }
                Some(_) => {}
            }
            any = true;
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
        if !any {
            return Err(self.fault("no command where one is needed"));
        }
        if let Some(command) = self.script.commands.get_mut(index) {
            command.span = start..end;
        }
        Ok(())
    }

    fn array_follows(&self) -> bool {
        let rest = self.rest();
        let end = name_length(rest);
        // Without a name this is not an assignment.
        let named = end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit());
        let after = rest.get(end..).unwrap_or_default();
        named && (after.starts_with("=(") || after.starts_with("+=("))
    }

    fn lone_word(&self, index: usize) -> Option<String> {
        let command = self.script.commands.get(index)?;
        match command.words.as_slice() {
            [word] if command.assignments.is_empty() => Some(word.text.clone()),
            _ => None,
        }
    }
}
