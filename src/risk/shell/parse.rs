//! The first reader of a command line: a recursive descent over the grammar of bash.

use super::syntax::{Function, Redirect, Script, SimpleCommand, Unreadable, Word};

pub(super) type Read<T> = Result<T, Unreadable>;

/// Deeper nesting is refused; the scan before counts it too, but only roughly.
const DEEPEST: usize = 48;

const OPERATORS: [&str; 12] =
    ["<<<", "<<-", "&>>", "<<", ">>", ">|", "<>", ">&", "<&", "&>", "<", ">"];

const CLOSING: [&str; 9] = ["then", "do", "done", "fi", "elif", "else", "esac", "}", "in"];

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: Script,
    /// Here-documents whose text begins after the next newline: command, redirection, end, quoted, tabs.
    waiting: Vec<Waiting>,
}

struct Waiting {
    command: usize,
    redirect: usize,
    end: String,
    quoted: bool,
    tabs: bool,
}

/// Reads a whole command line.
pub(super) fn parse(source: &str, depth: usize) -> Read<Script> {
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
    pub(super) fn fault(&self, what: &'static str) -> Unreadable {
        Unreadable { at: self.at, what }
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

    /// Blanks, comments and newlines; a newline starts the texts of waiting here-documents.
    fn lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if !self.newline()? {
                return Ok(());
            }
        }
    }

    fn newline(&mut self) -> Read<bool> {
        if !self.take("\n") {
            return Ok(false);
        }
        for waiting in std::mem::take(&mut self.waiting) {
            self.here_document(&waiting)?;
        }
        Ok(true)
    }

    fn here_document(&mut self, waiting: &Waiting) -> Read<()> {
        let start = self.at;
        let mut text = String::new();
        loop {
            if self.rest().is_empty() {
                return Err(self.fault("a here-document without its end"));
            }
            let line = self.rest().split('\n').next().unwrap_or_default();
            self.at = (self.at + line.len() + 1).min(self.source.len());
            let line = if waiting.tabs { line.trim_start_matches('\t') } else { line };
            if line == waiting.end {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        let span = start..self.at;
        let mut word = Word::literal(&text, span.clone());
        if !waiting.quoted {
            // Expansions run although the rest is data.
            let mut inner = self.inside(&text);
            word = inner.expanded_text()?;
            word.span = span.clone();
            let first = self.script.commands.len();
            let nested = inner.script;
            self.adopt(nested, span);
            word.inner = word.inner.map(|inner| inner.start + first..inner.end + first);
        }
        if let Some(redirect) = self
            .script
            .commands
            .get_mut(waiting.command)
            .and_then(|command| command.redirects.get_mut(waiting.redirect))
        {
            redirect.target = word;
        }
        Ok(())
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

    /// Takes over what was found in a text that is part of this one.
    pub(super) fn adopt(&mut self, nested: Script, span: std::ops::Range<usize>) {
        let first = self.script.commands.len();
        let shift = |range: std::ops::Range<usize>| range.start + first..range.end + first;
        for mut command in nested.commands {
            command.span = span.clone();
            command.input = command.input.map(shift);
            for word in &mut command.words {
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
        self.script.bash_only |= nested.bash_only;
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("nested too deep"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The unquoted word that follows, without taking it.
    fn upcoming(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| c.is_whitespace() || ";&|()<>\"'`$\\#".contains(c))
            .unwrap_or(rest.len());
        match rest.get(end..).and_then(|after| after.chars().next()) {
            Some('"' | '\'' | '`' | '$' | '\\') => "",
            _ => rest.get(..end).unwrap_or_default(),
        }
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = self.upcoming() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &'static str) -> Read<()> {
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

    pub(super) fn list(&mut self) -> Read<()> {
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

    fn body(&mut self) -> Read<()> {
        let before = self.script.commands.len();
        let at = self.at;
        self.list()?;
        let text = self.source.get(at..self.at).unwrap_or_default();
        if before == self.script.commands.len() && text.trim().is_empty() {
            return Err(self.fault("a compound command without commands"));
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Read<()> {
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
                if self.ends_list() || self.rest().starts_with(['\n', ';']) {
                    return Ok(());
                }
                continue;
            }
            break;
        }
        let mut previous = self.script.commands.len();
        self.command()?;
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !(self.take("|&") || self.take("|")) {
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

    fn command(&mut self) -> Read<()> {
        self.deeper(|parser| {
            let start = parser.at;
            if !parser.compound()? {
                return parser.simple();
            }
            parser.blanks();
            // What a whole group writes belongs to no single command of it.
            let index = parser.script.commands.len();
            parser.script.commands.push(SimpleCommand::default());
            while parser.redirect(index)? {
                parser.blanks();
            }
            if let Some(command) = parser.script.commands.get_mut(index) {
                command.span = start..parser.at;
            }
            Ok(())
        })
    }

    fn compound(&mut self) -> Read<bool> {
        if self.rest().starts_with("((") && self.arithmetic_follows() {
            self.script.bash_only = true;
            self.at += 2;
            self.arithmetic("))")?;
        } else if self.take("(") {
            self.body()?;
            if !self.take(")") {
                return Err(self.fault("a bracket without its end"));
            }
        } else if self.keyword("{") {
            self.body()?;
            self.expect("}")?;
        } else if self.keyword("[[") {
            self.script.bash_only = true;
            self.condition()?;
        } else if self.keyword("if") {
            self.body()?;
            self.expect("then")?;
            self.body()?;
            while self.keyword("elif") {
                self.body()?;
                self.expect("then")?;
                self.body()?;
            }
            if self.keyword("else") {
                self.body()?;
            }
            self.expect("fi")?;
        } else if self.keyword("while") || self.keyword("until") {
            self.body()?;
            self.loop_body()?;
        } else if self.keyword("for") || self.keyword("select") {
            self.for_loop()?;
        } else if self.keyword("case") {
            self.case()?;
        } else if self.keyword("function") {
            self.script.bash_only = true;
            self.blanks();
            let name = self.word()?.text;
            self.blanks();
            if self.take("(") {
                self.blanks();
                if !self.take(")") {
                    return Err(self.fault("a function without its body"));
                }
            }
            self.function(name)?;
        } else if self.keyword("coproc") {
            self.script.bash_only = true;
            self.blanks();
            let mark = self.at;
            let name = self.upcoming();
            self.at += name.len();
            self.blanks();
            if !(self.rest().starts_with('{') || self.rest().starts_with('(')) {
                self.at = mark;
            }
            self.command()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn loop_body(&mut self) -> Read<()> {
        self.expect("do")?;
        self.body()?;
        self.expect("done")
    }

    fn for_loop(&mut self) -> Read<()> {
        self.blanks();
        if self.take("((") {
            self.script.bash_only = true;
            self.arithmetic("))")?;
            self.blanks();
            self.take(";");
        } else {
            let name = self.word()?.text;
            self.lines()?;
            // Without `in` it goes over the arguments.
            let mut values = vec![Word::literal("\u{E000}@\u{E001}", 0..0)];
            if self.keyword("in") {
                values.clear();
                loop {
                    self.blanks();
                    if self.rest().is_empty() || self.rest().starts_with([';', '\n']) {
                        break;
                    }
                    values.extend(self.words()?);
                }
            }
            self.blanks();
            self.take(";");
            self.script.loops.push((name, values));
        }
        self.lines()?;
        if self.keyword("{") {
            self.body()?;
            return self.expect("}");
        }
        self.loop_body()
    }

    fn case(&mut self) -> Read<()> {
        self.blanks();
        self.word()?;
        self.expect("in")?;
        loop {
            self.lines()?;
            if self.keyword("esac") {
                return Ok(());
            }
            self.take("(");
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return Err(self.fault("a case without its patterns"));
            }
            self.list()?;
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                self.expect("esac")?;
                return Ok(());
            }
        }
    }

    fn function(&mut self, name: String) -> Read<()> {
        self.lines()?;
        let start = self.at;
        let first = self.script.commands.len();
        self.command()?;
        let body = first..self.script.commands.len();
        self.script.functions.push(Function { name, body, span: start..self.at });
        Ok(())
    }

    fn simple(&mut self) -> Read<()> {
        let start = self.at;
        let index = self.script.commands.len();
        // The place is taken first, because commands inside its words follow it.
        self.script.commands.push(SimpleCommand::default());
        let mut any = false;
        loop {
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
            let text = self.source.get(start..self.at).unwrap_or_default().trim_end();
            command.span = start..start + text.len();
        }
        Ok(())
    }

    fn array_follows(&self) -> bool {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0);
        rest.get(end..).is_some_and(|after| after.starts_with("=(") || after.starts_with("+=("))
    }

    fn lone_word(&self, index: usize) -> Option<String> {
        let command = self.script.commands.get(index)?;
        match command.words.as_slice() {
            [word] if command.assignments.is_empty() => Some(word.text.clone()),
            _ => None,
        }
    }

    /// Takes a redirection, when one follows.
    fn redirect(&mut self, index: usize) -> Read<bool> {
        let mark = self.at;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        if digits == 0 && self.rest().starts_with('{') {
            let name = self.rest().find('}').map_or(0, |end| end + 1);
            let named = self.rest().get(1..name.saturating_sub(1)).unwrap_or_default();
            let is_name = !named.is_empty()
                && named.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_name && self.rest().get(name..).is_some_and(|r| r.starts_with(['<', '>'])) {
                self.at += name;
            }
        }
        let substitution = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        let operator = OPERATORS.iter().find(|operator| self.rest().starts_with(**operator));
        let Some(operator) = operator.filter(|_| !substitution).copied() else {
            self.at = mark;
            return Ok(false);
        };
        self.at += operator.len();
        self.script.bash_only |= matches!(operator, "<<<" | "&>" | "&>>");
        self.blanks();
        let from = self.at;
        let target = self.word()?;
        if target.text.is_empty() && from == self.at {
            return Err(self.fault("a redirection without its file"));
        }
        let here = matches!(operator, "<<" | "<<-");
        let written = self.source.get(from..self.at).unwrap_or_default();
        let end = target.text.clone();
        let Some(command) = self.script.commands.get_mut(index) else { return Ok(true) };
        command.redirects.push(Redirect { operator, target });
        if here {
            self.waiting.push(Waiting {
                command: index,
                redirect: command.redirects.len() - 1,
                end,
                quoted: written.contains(['\'', '"', '\\']),
                tabs: operator == "<<-",
            });
        }
        Ok(true)
    }
}
