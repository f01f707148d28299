//! Wrappers with special operands: `find` expressions, and programs that run each operand as a command line.

use super::classifier::Classifier;
use super::elsewhere::PathUse;
use super::syntax::{ARGUMENT, UNKNOWN, unknown};
use super::table::Wrapper;
use super::wrapper_words::takes_next_word;
use super::{SimpleCommand, Word};

impl Classifier<'_> {
    /// Rates each operand as a command line of its own.
    pub(super) fn rate_operands(
        &mut self,
        context: &SimpleCommand,
        wrapper: &Wrapper,
        rest: &[Word],
        depth: usize,
    ) {
        let reason = "Runs other commands, or code of its own.";
        self.add_caution("wrapper", context.span(), reason);
        let mut index = 0;
        while let Some(word) = rest.get(index) {
            index += 1;
            if word.text.starts_with('-') {
                index += usize::from(takes_next_word(&word.text, &wrapper.values));
                continue;
            }
            self.rate_text(&word.text, word, context, depth);
        }
    }

    /// The starting folder of `find`: the first one outside the working folder, or else the first. `None` if the call
    /// names none.
    pub(super) fn starting_point<'w>(&self, rest: &'w [Word]) -> Option<&'w Word> {
        let global = |text: &str| {
            matches!(text, "-H" | "-L" | "-P" | "--") || text.starts_with("-O") && text.len() == 3
        };
        let begin = rest.iter().position(|word| !global(&word.text))?;
        let starts = rest.get(begin..).unwrap_or_default();
        let end = starts.iter().position(|word| word.text.starts_with(['-', '(', '!', ',']));
        let starts = starts.get(..end.unwrap_or(starts.len())).unwrap_or_default();
        let outside = |word: &&Word| self.outside_path(&word.text, PathUse::Written).is_some();
        starts.iter().find(outside).or(starts.first())
    }

    /// The first path outside the working folder in the input or the options of a program such as `xargs`, which turns
    /// its input into words.
    pub(super) fn path_for_words(&self, outer: &SimpleCommand, options: &[Word]) -> Option<String> {
        let (text, _) = self.known_input(outer);
        let printed = options.iter().filter_map(|word| word.inner.clone());
        let printed = printed.filter_map(|inner| self.script.commands.get(inner)).flatten();
        let words = printed.flat_map(|command| command.arguments().iter());
        let mut texts: Vec<&str> = words.map(|word| word.text.as_str()).collect();
        texts.extend(text.as_deref());
        texts
            .into_iter()
            .flat_map(|text| text.split([' ', '\t', '\n', '\0', '"', '\'']))
            .filter(|piece| piece.starts_with(['/', '~', '.', UNKNOWN]))
            .find_map(|piece| self.outside_path(piece, PathUse::MayWrite))
    }

    /// Rates the commands that `find` or `fd` runs.
    pub(super) fn rate_find(&mut self, context: &SimpleCommand, rest: &[Word], depth: usize) {
        let flags = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut index = 0;
        while let Some(word) = rest.get(index) {
            index += 1;
            let glued = word.text.split_once('=').filter(|(flag, _)| flags.contains(flag));
            if let Some((_, program)) = glued {
                let first = Word::literal(program, word.span());
                let words = std::iter::once(first)
                    .chain(rest.get(index..).unwrap_or_default().iter().cloned());
                let words = words.chain([Word::literal(ARGUMENT, word.span())]).collect();
                let command = SimpleCommand { words, redirects: Vec::new(), ..context.clone() };
                return self.rate_command(&command, depth + 1);
            }
            if !flags.contains(&word.text.as_str()) {
                continue;
            }
            let tail = rest.get(index..).unwrap_or_default();
            let length = tail
                .iter()
                .position(|word| word.text == ";")
                .or_else(|| tail.iter().rposition(|word| word.text == "+"));
            let mut inner = tail.get(..length.unwrap_or(tail.len())).unwrap_or_default().to_vec();
            let named = inner.iter().any(|word| word.text.contains("{}"));
            if self.replace_in_words(&mut inner, "{}", ARGUMENT).is_none() {
                return;
            }
            // `find` passes names only with `{}`; `fd` always does.
            let is_find = context.words.first().is_some_and(|word| word.text.ends_with("find"));
            if !named && !is_find {
                inner.push(Word::literal(ARGUMENT, word.span()));
            }
            // The command gets paths below the starting folder.
            if let Some(first) = self.starting_point(rest).filter(|_| is_find) {
                let inside = !first.text.starts_with(['/', '~', UNKNOWN, '.']) || first.text == ".";
                let name = unknown(if inside { "FOUND" } else { "" });
                let found = format!("{}/{name}", first.text.trim_end_matches('/'));
                if self.replace_in_words(&mut inner, ARGUMENT, &found).is_none() {
                    return;
                }
            }
            index += inner.len();
            let command = SimpleCommand { words: inner, redirects: Vec::new(), ..context.clone() };
            self.rate_command(&command, depth + 1);
            self.rate_found_writes(rest, &command.words);
        }
    }
}
