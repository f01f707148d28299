//! Splits a line of a script into commands and words, if it has nothing but these: programs with arguments, pipes, `&&`,
//! `||`, `;` and redirections to files. Anything else is not understood.

/// A command of a line.
pub(super) struct Command<'a> {
    pub(super) words: Vec<Word<'a>>,
    /// Whether it is part of a pipeline, and so has a shell of its own.
    pub(super) is_piped: bool,
}

/// A word as it is written, with its quotes.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
}

/// The commands of a line without comments; `None` if the line is not understood.
pub(super) fn commands(line: &str) -> Option<Vec<Command<'_>>> {
    let mut reader = Reader { line, at: 0 };
    let (mut commands, mut words, mut is_piped) = (Vec::new(), Vec::new(), false);
    loop {
        reader.skip_spaces();
        let rest = reader.rest();
        if rest.is_empty() || rest.starts_with('#') {
            break;
        }
        let separator = ["&&", "||", ";", "|"].into_iter().find(|it| rest.starts_with(it));
        if let Some(separator) = separator {
            // Neither `;;` nor `|&`.
            if words.is_empty() || rest.starts_with(";;") || rest.starts_with("|&") {
                return None;
            }
            reader.at += separator.len();
            let piped = separator == "|";
            commands
                .push(Command { words: std::mem::take(&mut words), is_piped: is_piped || piped });
            is_piped = piped;
            continue;
        }
        if rest.starts_with(['<', '>'])
            || rest.starts_with(|it: char| it.is_ascii_digit()) && is_redirection(rest)
        {
            // A command begins with its name, and not with a redirection.
            let command: &[Word<'_>] = &words;
            command.iter().find(|word| !word.text.contains('='))?;
            reader.redirection()?;
            continue;
        }
        words.push(Word { text: reader.word()? });
    }
    if !words.is_empty() {
        commands.push(Command { words, is_piped });
    } else if is_piped {
        return None;
    }
    Some(commands)
}

/// Whether a number is followed by a redirection.
fn is_redirection(rest: &str) -> bool {
    rest.trim_start_matches(|it: char| it.is_ascii_digit()).starts_with(['<', '>'])
}

struct Reader<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Reads `>FILE`, `2>FILE`, `>>FILE`, `<FILE` or `2>&1`.
    fn redirection(&mut self) -> Option<()> {
        let rest = self.rest();
        let behind = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        let operator = [">>", ">&", ">", "<"].into_iter().find(|it| behind.starts_with(it))?;
        let target = behind.get(operator.len()..)?;
        // Here-documents and processes as files.
        if target.starts_with(['<', '>', '(', '&', '|']) {
            return None;
        }
        self.at += rest.len() - target.len();
        self.skip_spaces();
        self.word().filter(|word| !word.is_empty()).map(drop)
    }

    /// Reads a word to its end.
    fn word(&mut self) -> Option<&'a str> {
        let begin = self.at;
        while let Some(first) = self.rest().chars().next() {
            match first {
                ' ' | '\t' | ';' | '|' | '<' | '>' => break,
                // Only in front of another one does it separate.
                '&' if self.rest().starts_with("&&") => break,
                '\'' => self.at += 2 + self.rest().get(1..)?.find('\'')?,
                '"' => self.double_quoted()?,
                '\\' => self.at += 1 + self.rest().chars().nth(1)?.len_utf8(),
                '$' => self.expansion()?,
                '&' | '(' | ')' | '{' | '}' | '`' | '!' => return None,
                it if it.is_control() => return None,
                it => self.at += it.len_utf8(),
            }
        }
        self.line.get(begin..self.at).filter(|word| !word.is_empty())
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.rest().chars().next()? {
                '"' => break,
                '\\' => self.at += 1 + self.rest().chars().nth(1)?.len_utf8(),
                '$' => self.expansion()?,
                '`' | '!' => return None,
                it if it.is_control() => return None,
                it => self.at += it.len_utf8(),
            }
        }
        self.at += 1;
        Some(())
    }

    /// Reads `$NAME`, `${NAME}` or `$(COMMAND)`: neither changes a variable. Names such as `$?` depend on the command before.
    fn expansion(&mut self) -> Option<()> {
        let is_name = |text: &str| {
            text != "_"
                && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        };
        let behind = self.rest().get(1..)?;
        if let Some(braced) = behind.strip_prefix('{') {
            let name = braced.get(..braced.find('}')?)?;
            self.at += 3 + name.len();
            return is_name(name).then_some(());
        }
        if let Some(inner) = behind.strip_prefix('(') {
            let end = inner.find(')')?;
            let command = inner.get(..end)?;
            // Only one level, and nothing that could hide its end.
            if command.contains(['(', '\'', '"', '\\', '`', '#']) {
                return None;
            }
            self.at += 3 + command.len();
            return Some(());
        }
        let end = behind
            .find(|it: char| !it.is_ascii_alphanumeric() && it != '_')
            .unwrap_or(behind.len());
        let name = behind.get(..end)?;
        self.at += 1 + name.len();
        is_name(name).then_some(())
    }
}
