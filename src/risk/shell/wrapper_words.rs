//! The words of a wrapper: where they start, which options take a value, and which contain a command.

use super::classifier::Classifier;
use super::listed::listed;
use super::syntax::Redirect;
use super::table::Wrapper;
use super::{SimpleCommand, Word};

impl Classifier<'_> {
    /// Whether a program is an administration program or a well-known package.
    pub(super) fn is_otherwise_listed(&self, program: &str) -> bool {
        self.table.admin.names(program) || self.table.packages.known.is_match(program)
    }

    /// Whether the words call a development tool to check or build the project. The name of the tool alone could be
    /// that of another package.
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

/// The placeholder that operands replace; `None` if they are appended.
pub(super) fn placeholder(options: &[Word]) -> Option<String> {
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

/// The input redirections of a command, which its inner command inherits. Writes were rated already.
pub(super) fn input_redirects(command: &SimpleCommand) -> Vec<Redirect> {
    command.redirects.iter().filter(|redirect| !redirect.writes()).cloned().collect()
}

/// The options of a wrapper whose operands are command lines, with the values of the options that take one. A path
/// after a long option that starts with `e` is taken for its value, too.
pub(super) fn wrapper_options(rest: &[Word], values: &[String]) -> Vec<Word> {
    let mut options = Vec::new();
    let mut index = 0;
    while let Some(word) = rest.get(index) {
        index += 1;
        if !word.text.starts_with('-') {
            continue;
        }
        options.push(word.clone());
        let path = |it: &&Word| {
            it.text.starts_with(['/', '~'])
                && !it.text.contains(' ')
                && word.text.starts_with("--e")
        };
        if let Some(next) =
            rest.get(index).filter(|it| takes_next_word(&word.text, values) || path(it))
        {
            options.push(next.clone());
            index += 1;
        }
    }
    options
}

/// The index of the word after the wrapper's name; `None` if the command does not start with this name.
pub(super) fn index_after_name(
    name: &str,
    program: &str,
    words: &[Word],
    globals: &[String],
) -> Option<usize> {
    let mut parts = name.split(' ');
    if parts.next() != Some(program) {
        return None;
    }
    let mut index = 1;
    for part in parts {
        while words.get(index).is_some_and(|word| word.text.starts_with('-')) {
            index +=
                1 + usize::from(words.get(index).is_some_and(|word| globals.contains(&word.text)));
        }
        if words.get(index)?.text != part {
            return None;
        }
        index += 1;
    }
    Some(index)
}

/// The value of an option that contains a command, and whether it is the next word.
pub(super) fn command_value(
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
        // Long options may be abbreviated.
        if name == option
            || (option.starts_with("--") && name.len() > 2 && option.starts_with(name))
        {
            return match value {
                Some(value) => Some((value.to_owned(), false)),
                None => next_value(),
            };
        }
        // Options with one dash and several letters, such as `-pe`, count as a whole.
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

/// Whether an option takes the next word as its value. Long options may be abbreviated.
pub(super) fn takes_next_word(text: &str, values: &[String]) -> bool {
    let abbreviates = |value: &String| {
        value == text || (value.starts_with("--") && text.len() > 3 && value.starts_with(text))
    };
    if values.iter().any(abbreviates) {
        return true;
    }
    // `-nH user`: the last letter of a group takes the value.
    let bundle = text.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'));
    let takes = |letter: char| values.iter().any(|value| *value == format!("-{letter}"));
    bundle.is_some_and(|rest| {
        let mut letters = rest.chars();
        let last = letters.next_back();
        !letters.any(takes) && last.is_some_and(takes)
    })
}
