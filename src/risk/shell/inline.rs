//! Code in the command line that only computes and prints (SPEC §7.1).
//!
//! Only listed names are allowed: each name must be in the table (or, for some languages, in a file of
//! `assets/risk/words`) or be bound by the code itself, each attribute must be in another list, and file arguments
//! must be literal paths of the project. All other code is as dangerous as any code that has not been reviewed.

mod bindings;
mod calculators;
mod effects;
mod hidden;
mod imports;
pub(super) mod language;
mod lexer;
mod perl;
mod token_rules;
mod tokens;

use std::sync::LazyLock;

use super::classifier::Classifier;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::syntax::{UNKNOWN, before};
use super::{Word, path_kind};
use language::{InlineRules, Language};

/// The word lists of this module.
pub(in crate::risk) const WORDS: [&str; 6] = [
    calculators::GNUPLOT,
    calculators::LISP,
    calculators::LISP_VARIABLES,
    calculators::OCTAVE,
    effects::NAMES,
    effects::WORDS,
];

impl Classifier<'_> {
    /// Whether the code in the arguments of `timeit` or of `manage.py shell -c` only computes and prints.
    pub(super) fn only_computes_argument(
        &self,
        program: &str,
        arguments: &[(String, bool)],
    ) -> bool {
        let texts: Vec<&str> = arguments.iter().map(|(text, _)| text.as_str()).collect();
        let codes: Vec<&str> = match texts.as_slice() {
            _ if program == "timeit" => {
                texts.iter().copied().filter(|it| !it.starts_with('-')).collect()
            }
            ["manage.py" | "./manage.py", "shell" | "shell_plus", "-c" | "--command", code]
                if program.starts_with("python") =>
            {
                vec![code]
            }
            _ => return false,
        };
        let plain = |text: &&str| matches!(*text, "-s" | "-n" | "-r" | "-u" | "-v" | "-p");
        // Names that the setup code binds are known in the timed code.
        let numbered = |it: &&str| it.bytes().all(|byte| byte.is_ascii_digit());
        let joined = codes.iter().copied().filter(|it| !numbered(it)).collect::<Vec<_>>();
        let joined = joined.join("\n");
        let options =
            texts.iter().all(|it| !it.starts_with('-') || program != "timeit" || plain(it));
        let code = |text: &str| self.only_computes("python3", &[], &literal(text), &[]);
        options && !codes.is_empty() && (codes.into_iter().all(code) || code(&joined))
    }

    /// Whether a call of an interpreter with code only computes and prints.
    pub(super) fn only_computes(
        &self,
        program: &str,
        options: &[Word],
        code: &Word,
        rest: &[Word],
    ) -> bool {
        if !code.text.contains(UNKNOWN)
            && !code.escaped
            && self.folder.is_empty()
            && let Some(computes) = calculators::computes(program, options, &code.text, rest)
        {
            return computes;
        }
        let is = |it: &&InlineRules| it.programs.iter().any(|name| name == program);
        let Some(language) = self.table.inline.iter().find(is) else { return false };
        let valued = |index: usize| {
            language.language == Language::Python
                && before(options, index).is_some_and(|it| listed("-W -X", &it.text))
        };
        // Ruby may find modules of the project.
        let finds = |text: &str| {
            language.language == Language::Ruby
                && text
                    .strip_prefix("-I")
                    .is_some_and(|it| !it.is_empty() && path_kind::is_project_file(it))
        };
        let plain = |(index, word): (usize, &Word)| {
            valued(index) || language.options.is_match(&word.text) || finds(&word.text)
        };
        if !options.iter().enumerate().all(plain) || code.text.contains(UNKNOWN) || code.escaped {
            return false;
        }
        // For all interpreters but Python, these words may contain another option with code.
        if language.language != Language::Python
            && rest.iter().any(|word| word.text.starts_with('-'))
        {
            return false;
        }
        let perl = language.language == Language::Perl;
        let changes = perl
            && options.iter().any(|word| word.text.starts_with('-') && word.text.contains('i'));
        let reads = perl || language.language == Language::Ruby;
        // Perl may run an operand as a command, and changes files with `-i`.
        let inside = |word: &Word| {
            let path = path_kind::normalize(&word.text, &self.folder);
            let path = if word.glob { path.replace('*', "x") } else { path };
            if changes && self.lists_project_files(word) {
                return true;
            }
            !word.text.starts_with('-')
                && !word.text.contains(['|', '<', '>'])
                && (!changes || (!word.has_unknown() && path_kind::is_project_file(&path)))
        };
        if reads && !rest.iter().all(inside)
            || (changes && !self.folder.is_empty() && !path_kind::is_project_file(&self.folder))
        {
            return false;
        }
        // Names of methods that exist both for texts and for files.
        let both = ["os.replace", "import replace", "values(require"];
        if both.iter().any(|it| code.text.contains(it)) {
            return false;
        }
        if perl && perl::hides_call(&code.text) {
            return false;
        }
        (perl && (substitutes(&code.text) || perl::only_prints(&code.text)))
            || (language.language == Language::R && only_installs(&code.text))
            || language.allows(&code.text)
            || language.has_no_effects(&code.text)
    }
}

/// Whether R code only installs packages by name from their usual repositories.
fn only_installs(code: &str) -> bool {
    static CALL: LazyLock<LazyRegex> = LazyLock::new(|| {
        let names = r#"(["'][A-Za-z][\w.]*["']|c\((["'][A-Za-z][\w.]*["'],? ?)+\))"#;
        let places = r#"["']https://(cloud|cran)\.r-project\.org/?["']"#;
        LazyRegex::from(format!(
            "^(install\\.packages|BiocManager::install)\\({names}(, ?(repos ?= ?{places}|(update|ask|quiet) ?= ?(TRUE|FALSE)|Ncpus ?= ?\\d+))*\\);?$"
        ))
    });
    CALL.is_match(code.trim())
}

/// Whether Perl code consists of `s/../../`, `tr/../../` and the like, without code in a pattern.
fn substitutes(code: &str) -> bool {
    let mut rest = code.trim().trim_end_matches(';');
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        rest = rest.trim_start_matches([' ', ';', '\n']);
        let Some(body) = rest
            .strip_prefix('s')
            .or_else(|| rest.strip_prefix("tr"))
            .or_else(|| rest.strip_prefix('y'))
        else {
            return false;
        };
        let Some(mark) = body.chars().next().filter(|c| "/|,#!".contains(*c)) else { return false };
        let mut ends = Vec::new();
        let mut escaped = false;
        for (index, c) in body.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == mark {
                ends.push(index);
                if ends.len() == 2 {
                    break;
                }
            }
        }
        let [middle, end] = ends.as_slice() else { return false };
        let pattern = body.get(1..*middle).unwrap_or_default();
        let new = body.get(middle + 1..*end).unwrap_or_default();
        let hides = |text: &str, pattern: bool| {
            let names =
                |it: &str| it.starts_with(|c: char| c.is_ascii_digit() || "|)&".contains(c));
            let known = text.replace("\\\\", "").replace("\\$", "");
            let variable = known.split('$').skip(1).any(|it| !it.is_empty() && !names(it));
            variable || hidden::interpolates(text, pattern) || hidden::has_code_group(text)
        };
        if hides(pattern, true) || hides(new, false) {
            return false;
        }
        let after = body.get(end + 1..).unwrap_or_default();
        let flags = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        if !after.bytes().take(flags).all(|it| b"gimsxrcd".contains(&it)) {
            return false;
        }
        rest = after.get(flags..).unwrap_or_default();
        if !rest.is_empty() && !rest.starts_with(';') {
            return false;
        }
        rest = rest.trim_start_matches([' ', ';', '\n']);
    }
    true
}

fn literal(text: &str) -> Word {
    Word::literal(text, 0..0)
}
