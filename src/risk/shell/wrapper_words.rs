//! The words of a wrapper: where they begin, which options take a value, and which hold a command.

use super::judge::Judge;
use super::listed::listed;
use super::syntax::{Redirect, SimpleCommand, Word};
use super::table::Wrapper;

impl Judge<'_> {
    /// Whether another list of the table names a program: of those of administrators a call was found to read, and
    /// packages of projects are known.
    pub(super) fn named_elsewhere(&self, program: &str) -> bool {
        self.table.admin.names(program) || self.table.packages.known.is_match(program)
    }

    /// Whether the words are those of a tool of developers that is told to look at the project, whatever package
    /// brings it: its name alone would also be that of something else that is fetched.
    pub(super) fn checks_project(&self, words: &[Word]) -> bool {
        const CHECKS: &str = "lint check test tests format fmt validate build bundle compile typecheck type-check docs info \
            doctor diff coverage stats bench generate list --version";
        let [first, second, ..] = words else { return false };
        let name = first.text.split_once('@').map_or(first.text.as_str(), |(name, _)| name);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let version = first.text.get(name.len()..).unwrap_or_default();
        !name.is_empty()
            && name.chars().all(plain)
            && version.chars().all(|c| c.is_ascii_alphanumeric() || "@.^~-".contains(c))
            && self.table.verbs.names_tool(name)
            && listed(CHECKS, &second.text)
    }
}

/// The mark that operands replace, where they are not put behind the command.
pub(super) fn replaced(options: &[Word]) -> Option<String> {
    let (index, text) = options.iter().enumerate().find_map(|(index, word)| {
        let text = word.text.as_str();
        let value = ["-I", "--replace", "-i"].iter().find_map(|name| text.strip_prefix(name))?;
        Some((index, value.trim_start_matches('=').to_owned()))
    })?;
    let next = || options.get(index + 1).map(|word| word.text.clone());
    let named = options.get(index).is_some_and(|word| word.text == "-I");
    let text = if named { next().unwrap_or_default() } else { text };
    Some(if text.is_empty() { "{}".to_owned() } else { text })
}

/// What a command reads stays true inside its wrapper; what it writes was judged already.
pub(super) fn quiet(command: &SimpleCommand) -> Vec<Redirect> {
    command.redirects.iter().filter(|redirect| !redirect.writes()).cloned().collect()
}

/// The options of a wrapper whose operands are command lines, with the values of those that are known to take one;
/// a long option takes a value, too, where what follows is a path and no command line.
pub(super) fn own_words(rest: &[Word], values: &[String]) -> Vec<Word> {
    let mut own = Vec::new();
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        if !word.text.starts_with('-') {
            continue;
        }
        own.push(word.clone());
        let path = |it: &&Word| {
            it.text.starts_with(['/', '~'])
                && !it.text.contains(' ')
                && word.text.starts_with("--e")
        };
        if let Some(next) = rest.get(at).filter(|it| takes_next(&word.text, values) || path(it)) {
            own.push(next.clone());
            at += 1;
        }
    }
    own
}

/// Where the wrapper's own words begin, when the command starts with its name.
pub(super) fn begins(
    name: &str,
    program: &str,
    words: &[Word],
    globals: &[String],
) -> Option<usize> {
    let mut parts = name.split(' ');
    if parts.next() != Some(program) {
        return None;
    }
    let mut at = 1;
    for part in parts {
        while words.get(at).is_some_and(|word| word.text.starts_with('-')) {
            at += 1 + usize::from(words.get(at).is_some_and(|word| globals.contains(&word.text)));
        }
        if words.get(at)?.text != part {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The value of an option that holds a command, and whether the next word was used for it.
pub(super) fn value_of(
    text: &str,
    next: Option<&Word>,
    wrapper: &Wrapper,
) -> Option<(String, bool)> {
    let next_value = || next.map(|next| (next.text.clone(), true));
    for option in &wrapper.scripts {
        if text == option {
            return next_value();
        }
        let (name, value) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        // An abbreviation of a long option is the option.
        if name == option
            || (option.starts_with("--") && name.len() > 2 && option.starts_with(name))
        {
            return match value {
                Some(value) => Some((value.to_owned(), false)),
                None => next_value(),
            };
        }
        // Options of one dash and several letters, as `-pe`, stand for themselves.
        if option.len() > 2
            && !option.starts_with("--")
            && let Some(value) = text.strip_prefix(option.as_str())
        {
            return Some((value.to_owned(), false));
        }
    }
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    for (index, letter) in letters.char_indices() {
        let rest = letters.get(index + letter.len_utf8()..).unwrap_or_default();
        let is = |options: &[String]| options.iter().any(|option| *option == format!("-{letter}"));
        if is(&wrapper.scripts) {
            if rest.is_empty() {
                return next_value();
            }
            return Some((rest.strip_prefix('=').unwrap_or(rest).to_owned(), false));
        }
        if is(&wrapper.values) || !letter.is_ascii_alphanumeric() {
            return None;
        }
    }
    None
}

pub(super) fn takes_next(text: &str, values: &[String]) -> bool {
    let abbreviates = |value: &String| {
        value == text || (value.starts_with("--") && text.len() > 3 && value.starts_with(text))
    };
    if values.iter().any(abbreviates) {
        return true;
    }
    // `-nH user`: the last letter of a bundle takes the value.
    let bundle = text.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'));
    bundle.is_some_and(|rest| {
        let mut letters = rest.chars();
        let last = letters.next_back();
        let earlier =
            letters.any(|letter| values.iter().any(|value| *value == format!("-{letter}")));
        !earlier
            && last.is_some_and(|letter| values.iter().any(|value| *value == format!("-{letter}")))
    })
}
