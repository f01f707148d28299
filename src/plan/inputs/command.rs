//! The inputs of a shell command. A template in it becomes a reference to a variable, according to the quotes around it, so
//! that no value can change its words. The scanner knows only the plainest syntax: where it is not sure which quotes a
//! template is in, the template is refused, and the author writes `"$input_name"`.

use super::template::{self, VARIABLE_PREFIX};

/// A fault of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plan) enum CommandFault<'c> {
    /// A template stands where it cannot be replaced by a reference.
    Template(&'c str),
    /// A reference to a declared input stands outside of quotes, so that its value would be split into words.
    Unquoted(&'c str),
    /// A reference names an input that the plan does not have.
    Undeclared(&'c str),
}

/// A command whose templates are replaced.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::plan) struct Referring<'c> {
    /// The command.
    pub(in crate::plan) text: String,
    /// The names of the declared inputs that it names anywhere, in order.
    pub(in crate::plan) used: Vec<String>,
    /// The names of templates that are not declared, which stay as they are.
    pub(in crate::plan) unknown: Vec<&'c str>,
    /// What is wrong with it.
    pub(in crate::plan) faults: Vec<CommandFault<'c>>,
}

/// Replaces the templates of a command by references to variables. `is_declared` says which inputs there are.
pub(in crate::plan) fn refer<'c>(
    command: &'c str,
    is_declared: &dyn Fn(&str) -> bool,
) -> Referring<'c> {
    let mut scanner = Scanner {
        rest: command,
        before: ' ',
        word_has_bracket: false,
        state: State::Plain,
        is_declared,
        found: Referring::default(),
    };
    while scanner.step() {}
    let mut found = scanner.found;
    for (name, is_reference) in variables(command) {
        if !is_declared(name) {
            let is_new = !found.faults.contains(&CommandFault::Undeclared(name));
            if is_reference && is_new {
                found.faults.push(CommandFault::Undeclared(name));
            }
        } else if !found.used.iter().any(|it| it == name) {
            found.used.push(name.to_owned());
        }
    }
    found
}

/// The names of inputs whose variables a command names anywhere, each with whether it is a reference to the variable.
fn variables(command: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    command.match_indices(VARIABLE_PREFIX).filter_map(move |(start, _)| {
        let before = command.get(..start).unwrap_or_default();
        if before.ends_with(is_of_name) {
            return None;
        }
        let rest = command.get(start + VARIABLE_PREFIX.len()..).unwrap_or_default();
        let name = rest.split(|it| !is_of_name(it)).next().unwrap_or_default();
        let is_reference =
            before.ends_with('$') || before.trim_end_matches(['!', '#']).ends_with("${");
        Some((name, is_reference))
    })
}

/// Whether a command mentions the variable of an input other than by expanding it, so that it may give it another value.
pub(super) fn may_assign(command: &str, input: &str) -> bool {
    variables(command).any(|(name, is_reference)| name == input && !is_reference)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of quotes.
    Plain,
    /// In double quotes.
    Double,
    /// What follows is not understood.
    Opaque,
}

struct Scanner<'c, 'd> {
    rest: &'c str,
    /// The character before `rest`.
    before: char,
    /// Whether the present word has an opening bracket: it may be a subscript, which bash evaluates.
    word_has_bracket: bool,
    state: State,
    is_declared: &'d dyn Fn(&str) -> bool,
    found: Referring<'c>,
}

impl<'c> Scanner<'c, '_> {
    /// Takes the next part; false at the end.
    fn step(&mut self) -> bool {
        let Some(next) = self.rest.chars().next() else { return false };
        if let Some((name, length)) = template::at(self.rest) {
            self.template(name, length);
            return true;
        }
        match (self.state, next) {
            (State::Opaque, _) => self.take(next.len_utf8()),
            (_, '\\') => {
                let escaped = self.rest.chars().nth(1).map_or(0, char::len_utf8);
                self.skip(1 + escaped);
            }
            (State::Plain, '\'') => {
                let end = self.rest.get(1..).and_then(|it| it.find('\''));
                self.skip_or_give_up(end.map(|end| end + 2));
            }
            (State::Plain, '"') => {
                self.take(1);
                self.state = State::Double;
            }
            (State::Double, '"') => {
                self.take(1);
                self.state = State::Plain;
            }
            (_, '$') => self.dollar(),
            (_, '`') => {
                self.state = State::Opaque;
            }
            (State::Double, _) => self.take(next.len_utf8()),
            (State::Plain, '#') if " \t\n;&|()".contains(self.before) => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.skip(end);
            }
            (State::Plain, '<') if self.rest.starts_with("<<<") => self.take(3),
            (State::Plain, '<') if self.rest.starts_with("<<") => self.state = State::Opaque,
            (State::Plain, '(') if self.rest.starts_with("((") => self.state = State::Opaque,
            (State::Plain, '[') if self.rest.starts_with("[[") => self.state = State::Opaque,
            (State::Plain, _) => {
                match next {
                    ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => {
                        self.word_has_bracket = false;
                    }
                    // The program `[`, which is a word of its own.
                    '[' => {
                        let is_alone = self.rest.starts_with("[ ") && self.before.is_whitespace();
                        self.word_has_bracket |= !is_alone;
                    }
                    _ => {}
                }
                self.take(next.len_utf8());
            }
        }
        true
    }

    /// Copies these bytes.
    fn take(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.found.text.push_str(taken);
        self.before = taken.chars().last().unwrap_or(self.before);
        self.rest = rest;
    }

    /// Copies these bytes, in which no template can be replaced.
    fn skip(&mut self, length: usize) {
        let skipped = self.rest.get(..length).unwrap_or(self.rest);
        let mut names = Vec::new();
        // A template may begin in what is skipped and end behind it: a backslash stands in front of one.
        for (start, _) in skipped.match_indices(['{', '\\']) {
            let start =
                start + usize::from(skipped.get(start..).is_some_and(|it| it.starts_with('\\')));
            if let Some((name, length)) = self.rest.get(start..).and_then(template::at) {
                names.push((name, start + length));
            }
        }
        let end = names.iter().map(|(_, end)| *end).fold(length, usize::max);
        for (name, _) in names {
            self.refuse(name);
        }
        self.take(end);
    }

    /// As [`Self::skip`]. Without an end, nothing that follows is understood.
    fn skip_or_give_up(&mut self, length: Option<usize>) {
        match length {
            Some(length) => self.skip(length),
            None => self.state = State::Opaque,
        }
    }

    fn refuse(&mut self, name: &'c str) {
        let fault = CommandFault::Template(name);
        if !(self.is_declared)(name) {
            self.found.unknown.push(name);
        } else if !self.found.faults.contains(&fault) {
            self.found.faults.push(fault);
        }
    }

    fn template(&mut self, name: &'c str, length: usize) {
        let is_declared = (self.is_declared)(name);
        let reference = match self.state {
            State::Plain if is_declared && !self.word_has_bracket => {
                format!("\"${VARIABLE_PREFIX}{name}\"")
            }
            State::Double if is_declared => format!("${{{VARIABLE_PREFIX}{name}}}"),
            _ => {
                self.refuse(name);
                return self.take(length);
            }
        };
        self.found.text.push_str(&reference);
        self.before = '"';
        self.rest = self.rest.get(length..).unwrap_or_default();
        if !self.found.used.iter().any(|it| it == name) {
            self.found.used.push(name.to_owned());
        }
    }

    /// An expansion, in double quotes or outside of quotes.
    fn dollar(&mut self) {
        let behind = self.rest.get(1..).unwrap_or_default();
        if self.state == State::Plain {
            let reference = behind.strip_prefix('{').unwrap_or(behind);
            if let Some((name, true)) = variables_at(self.rest, reference)
                && (self.is_declared)(name)
                && !self.found.faults.contains(&CommandFault::Unquoted(name))
            {
                self.found.faults.push(CommandFault::Unquoted(name));
            }
        }
        match behind.chars().next() {
            Some('(') if !behind.starts_with("((") => {
                self.skip_or_give_up(end_of(behind, '(', ')').map(|end| end + 1));
            }
            Some('{') => self.skip_or_give_up(end_of(behind, '{', '}').map(|end| end + 1)),
            Some('(' | '[' | '\'' | '"') if self.state == State::Plain => {
                self.state = State::Opaque;
            }
            Some('(' | '[') => self.state = State::Opaque,
            _ => self.take(1),
        }
    }
}

/// The input whose variable a reference names, at the beginning of a text behind `$` or `${`.
fn variables_at<'c>(whole: &'c str, reference: &'c str) -> Option<(&'c str, bool)> {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let rest = reference.strip_prefix(VARIABLE_PREFIX)?;
    let name = rest.split(|it| !is_of_name(it)).next()?;
    Some((name, whole.starts_with('$')))
}

/// The length of a text from an opening bracket to its closing one; `None` if there is anything that is not understood.
fn end_of(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut word = 0..0;
    let mut index = 0;
    while let Some(next) = text.get(index..)?.chars().next() {
        let is_at_word = index == word.end;
        if next.is_ascii_alphabetic() {
            word = if is_at_word { word.start } else { index }..index + 1;
        } else if is_at_word && text.get(word.clone()) == Some("case") {
            // A pattern of `case` has a closing bracket without an opening one.
            return None;
        }
        let starts_word = || {
            let before = text.get(..index).and_then(|it| it.chars().next_back());
            before.is_none_or(|it| it.is_whitespace() || "(;&|".contains(it))
        };
        let mut length = next.len_utf8();
        match next {
            '\'' => length = text.get(index + 1..)?.find('\'')? + 2,
            '"' => {
                let inside = text.get(index + 1..)?;
                let end = inside.find('"')?;
                if !expands_only_names(inside.get(..end)?) {
                    return None;
                }
                length = end + 2;
            }
            '`' | '\\' | '<' => return None,
            '#' if starts_word() => return None,
            _ if next == open => depth += 1,
            _ if next == close => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index + length);
                }
            }
            '{' | '}' | '(' | ')' => return None,
            _ => {}
        }
        index += length;
    }
    None
}

/// Whether a text in double quotes has no expansions but names of variables.
fn expands_only_names(text: &str) -> bool {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !text.contains(['`', '\\'])
        && text.split('$').skip(1).all(|behind| match behind.strip_prefix('{') {
            Some(name) => {
                name.split_once('}').is_some_and(|(name, _)| name.chars().all(is_of_name))
            }
            None => behind.starts_with(is_of_name),
        })
}
