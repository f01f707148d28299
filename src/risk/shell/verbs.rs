//! What programs that no rule knows say about themselves: by their names, subcommands and options.

use serde::Deserialize;

use super::lazy_regex::LazyRegex;

/// Words by which a program that no rule knows says that it destroys, or runs something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verbs {
    words: LazyRegex,
    options: LazyRegex,
    /// Words that only destroy beside an option that switches questions off.
    removes: LazyRegex,
    forced: LazyRegex,
    /// Options with which nothing is done.
    dry: LazyRegex,
    /// Names of programs.
    names: LazyRegex,
    /// Words before a text that is a command.
    runs: LazyRegex,
    /// Options that only sound so.
    harmless: LazyRegex,
    strangers: Strangers,
    /// Programs whose operands are names, not what to do.
    except: Vec<String>,
}

/// What is asked of programs whose very name nobody knows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Strangers {
    /// Names with a destroying word in them.
    names: LazyRegex,
    /// Names that tell of what administrators look after.
    about: LazyRegex,
    options: LazyRegex,
    words: LazyRegex,
    /// Programs of developers, of which nothing of this is asked.
    tools: LazyRegex,
    families: LazyRegex,
}

impl Verbs {
    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &LazyRegex> {
        let Strangers { names, about, options, words, tools, families } = &self.strangers;
        let of_known = [
            &self.words,
            &self.options,
            &self.removes,
            &self.forced,
            &self.dry,
            &self.names,
            &self.runs,
            &self.harmless,
        ];
        of_known.into_iter().chain([names, about, options, words, tools, families])
    }

    /// Whether its name, one of its first operands, or an option says that the program destroys.
    pub(super) fn say(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        if self.excepted(program) {
            return false;
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let before =
            || arguments.iter().map(|(text, _)| text.as_str()).take_while(|text| *text != "--");
        if before().any(|text| self.dry.is_match(text)) {
            return false;
        }
        let operands = || before().filter(|text| !text.starts_with('-')).take(5);
        self.names.is_match(name)
            || operands().any(|text| self.words.is_match(text))
            // The options of a program of the project have their own meaning.
            || (!program.contains('/')
                && !program.contains('.')
                && before().any(|text| {
                    self.options.is_match(text) && !self.harmless.is_match(text)
                }))
            || (operands().any(|text| self.removes.is_match(text))
                && before().any(|text| self.forced.is_match(text)))
    }

    /// Whether a program that nobody knows at all gives any sign that it does more than read.
    pub(super) fn strange(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        let Strangers { names, about, options, words, tools, families } = &self.strangers;
        // Words of another language, as those of SQL, are no programs.
        if program.bytes().all(|it| it.is_ascii_uppercase()) {
            return false;
        }
        // A script of the project is a file that can be read.
        if program.contains('/') || tools.is_match(program) || self.excepted(program) {
            return false;
        }
        let texts = || arguments.iter().map(|(text, _)| text.as_str());
        if texts().any(|text| self.dry.is_match(text)) {
            return false;
        }
        if names.is_match(program) {
            return true;
        }
        let reads = |text: &str| {
            matches!(text, "list" | "show" | "status" | "info" | "version" | "get" | "report")
        };
        let first = texts().find(|text| !text.starts_with('-'));
        if families.is_match(program) || first.is_some_and(reads) {
            return false;
        }
        (about.is_match(program) && !arguments.is_empty())
            || texts().any(|text| options.is_match(text))
            || texts()
                .filter(|text| !text.starts_with('-') || *text == "--")
                .take(3)
                .any(|text| words.is_match(text))
    }

    /// Whether a program is one of developers that no rule has to name.
    pub(super) fn is_tool(&self, program: &str) -> bool {
        self.strangers.tools.is_match(program) || self.strangers.families.is_match(program)
    }

    /// Whether a program is one of those that are named in the list, and not only named as they are.
    pub(super) fn names_tool(&self, program: &str) -> bool {
        !program.contains('/') && self.strangers.tools.is_match(program)
    }

    /// Whether the operands of a program are names of other things.
    pub(super) fn excepted(&self, program: &str) -> bool {
        self.except.iter().any(|name| name == program)
    }

    /// Whether a text that follows this word is a command.
    pub(super) fn runs(&self, word: &str) -> bool {
        self.runs.is_match(word)
    }
}
