//! What the names, subcommands and options of unlisted programs suggest.

use serde::Deserialize;

use super::lazy_regex::LazyRegex;

/// Words that suggest destructive actions or embedded commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verbs {
    /// Operands that suggest a destructive action.
    words: LazyRegex,
    /// Options that suggest a destructive action.
    options: LazyRegex,
    /// Operands that are destructive only together with an option of `forced`.
    removes: LazyRegex,
    /// Options that disable confirmations.
    forced: LazyRegex,
    /// Arguments that make a call a dry run, a check, a preview or a request for help.
    dry: LazyRegex,
    /// Program names that suggest a destructive action.
    names: LazyRegex,
    /// Words after which a command follows.
    runs: LazyRegex,
    /// Options that only resemble destructive ones.
    harmless: LazyRegex,
    strangers: UnlistedVerbs,
    /// Programs with arbitrary names as operands.
    except: Vec<String>,
}

/// Stricter patterns for programs that are entirely unknown: not named by the rules, the readers, the administration
/// programs or the well-known packages. Other programs may be known, while their call is unlisted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnlistedVerbs {
    /// Program names that contain a destructive word.
    names: LazyRegex,
    /// Program names that refer to administered objects.
    about: LazyRegex,
    /// Options that suggest an effect.
    options: LazyRegex,
    /// Operands that suggest an effect.
    words: LazyRegex,
    /// Development tools, to which these patterns do not apply.
    tools: LazyRegex,
    /// Naming patterns of development tools, to which only the patterns for names apply.
    families: LazyRegex,
}

impl Verbs {
    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &LazyRegex> {
        let UnlistedVerbs { names, about, options, words, tools, families } = &self.strangers;
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

    /// Whether the name, one of the first operands, or an option suggests a destructive action.
    pub(super) fn suggests_destruction(&self, program: &str, arguments: &[(String, bool)]) -> bool {
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
            // Options of a program with a path or a file extension, such as a script of the project, may have any
            // meaning.
            || (!program.contains('/')
                && !program.contains('.')
                && before().any(|text| {
                    self.options.is_match(text) && !self.harmless.is_match(text)
                }))
            || (operands().any(|text| self.removes.is_match(text))
                && before().any(|text| self.forced.is_match(text)))
    }

    /// Whether anything about a call of an entirely unknown program suggests more than reading.
    pub(super) fn suggests_effect(&self, program: &str, arguments: &[(String, bool)]) -> bool {
        let UnlistedVerbs { names, about, options, words, tools, families } = &self.strangers;
        // Uppercase words, such as those of SQL, are not programs.
        if program.bytes().all(|it| it.is_ascii_uppercase()) {
            return false;
        }
        // A program with a path is usually a script of the project, which can be reviewed. Programs from outside the
        // project are rated before.
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

    /// Whether a program is a development tool, by list or by naming pattern.
    pub(super) fn is_tool(&self, program: &str) -> bool {
        self.strangers.tools.is_match(program) || self.strangers.families.is_match(program)
    }

    /// Whether a program without a path is a listed development tool.
    pub(super) fn names_tool(&self, program: &str) -> bool {
        !program.contains('/') && self.strangers.tools.is_match(program)
    }

    /// Whether the operands of a program are arbitrary names.
    pub(super) fn excepted(&self, program: &str) -> bool {
        self.except.iter().any(|name| name == program)
    }

    /// Whether a command follows this word.
    pub(super) fn runs(&self, word: &str) -> bool {
        self.runs.is_match(word)
    }
}
