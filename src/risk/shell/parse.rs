//! The first parser: recursive descent over the grammar of bash.

use super::syntax::{Function, ParseError, Script, SimpleCommand, Word};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Limit for nesting. The scan before parsing counts nesting only roughly.
const MAX_DEPTH: usize = 48;

const CLOSING: [&str; 9] = ["then", "do", "done", "fi", "elif", "else", "esac", "}", "in"];

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
    let mut parser =
        Parser { source, at: 0, depth, script: Script::default(), waiting: Vec::new() };
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

    pub(super) fn inside<'b>(&self, text: &'b str) -> Parser<'b> {
        Parser {
            source: text,
            at: 0,
            depth: self.depth + 1,
            script: Script::default(),
            waiting: Vec::new(),
        }
    }

    /// Merges the result of parsing a nested text. All positions become those of the outer text.
    pub(super) fn adopt(&mut self, nested: Script, span: std::ops::Range<usize>) {
        let first = self.script.commands.len();
        let shift = |range: std::ops::Range<usize>| range.start + first..range.end + first;
        for mut command in nested.commands {
            command.span = span.clone();
            command.adopted = true;
            command.input = command.input.map(shift);
            let assigned = command.assignments.iter_mut().map(|(_, word)| word);
            let redirected = command.redirects.iter_mut().map(|redirect| &mut redirect.target);
            for word in command.words.iter_mut().chain(assigned).chain(redirected) {
                word.span = span.clone();
                word.inner = word.inner.take().map(shift);
            }
            self.script.commands.push(command);
        }
        for function in nested.functions {
            let body = shift(function.body);
            self.script.functions.push(Function { body, span: span.clone(), ..function });
        }
        self.script.loops.extend(nested.loops);
        for mut word in nested.evaluated {
            word.span = span.clone();
            word.inner = word.inner.take().map(shift);
            self.script.evaluated.push(word);
        }
        if nested.overflow.is_some() {
            self.script.overflow = Some(span.clone());
        }
        self.script.endless.extend(nested.endless.iter().map(|_| span.clone()));
        self.script.bash_only |= nested.bash_only;
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
            || CLOSING.iter().take(8).any(|word| self.upcoming() == *word)
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
            for command in self.script.commands.iter_mut().skip(start) {
                command.input.get_or_insert(previous..start);
            }
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
                    if !self.take(")") {
                        return Err(self.fault("a function without its body"));
                    }
                    self.script.commands.truncate(index);
                    return self.function(name);
                }
                Some(_) => {}
            }
            any = true;
            let declares = self
                .script
                .commands
                .get(index)
                .and_then(|command| command.words.first())
                .is_some_and(|word| {
                    matches!(
                        word.text.as_str(),
                        "declare" | "local" | "export" | "typeset" | "readonly"
                    )
                });
            if declares && self.array_follows() {
                let words = self.assignment()?.unwrap_or_default();
                if let Some(command) = self.script.commands.get_mut(index) {
                    command.words.extend(words.into_iter().take(1).map(|(name, word)| Word {
                        text: format!("{name}={}", word.text),
                        list: true,
                        ..word
                    }));
                }
                continue;
            }
            let plain =
                self.script.commands.get(index).is_some_and(|command| command.words.is_empty());
            if plain && let Some(assignment) = self.assignment()? {
                if let Some(command) = self.script.commands.get_mut(index) {
                    command.assignments.extend(assignment);
                }
                continue;
            }
            let words = self.words()?;
            if let Some(command) = self.script.commands.get_mut(index) {
                command.words.extend(words);
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
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0);
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
