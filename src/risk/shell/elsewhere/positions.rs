//! The table of argument positions in which paths outside the working folder are only read.

use serde::Deserialize;

use crate::risk::shell::lazy_regex::LazyRegex;
use crate::risk::shell::listed::listed;

/// The section `elsewhere` of `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct Elsewhere {
    /// Input options that are the same for every program.
    pub(super) inputs: LazyRegex,
    /// Options of every program that load code.
    pub(super) loads: LazyRegex,
    /// Names of options whose value is an output.
    pub(super) outputs: LazyRegex,
    /// Usual names of folders for build output beside the sources.
    pub(super) build_folders: LazyRegex,
    /// Extensions of files that are loaded as code.
    pub(super) code: LazyRegex,
    /// Options that load a file or a module.
    pub(super) code_options: LazyRegex,
    /// Names of programs that write, pack, convert or move files.
    pub(super) writers: LazyRegex,
    /// Options that write or change files, regardless of their values.
    pub(super) writing_options: LazyRegex,
    /// Subcommands and operands that suggest a change.
    pub(super) writing_words: LazyRegex,
    /// Options of certain programs that load code.
    coded: Vec<CodeOptions>,
    pub(super) reads: Vec<ReadPositions>,
}

/// Programs with their options that load code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CodeOptions {
    programs: Vec<String>,
    options: Vec<String>,
}

/// The read-only positions of a program.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReadPositions {
    /// `program` or `program subcommand`; words may be `a|b`.
    names: Vec<String>,
    pub(super) operands: Operands,
    /// Options whose value is only read.
    pub(super) options: Vec<String>,
    /// Long options without a value, after which an operand may follow.
    pub(super) flags: Vec<String>,
    /// Options whose value is written or run. The value is not an operand.
    pub(super) values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Operands {
    /// No operand.
    #[default]
    None,
    /// All operands.
    All,
    /// The first operand: a script, or the file to open.
    First,
    /// All operands but the last, which is the target.
    Sources,
}

impl Elsewhere {
    #[cfg(test)]
    pub(in crate::risk::shell) fn patterns(&self) -> [&LazyRegex; 9] {
        assert!(self.reads.iter().all(|it| !it.names.is_empty()));
        [
            &self.inputs,
            &self.loads,
            &self.outputs,
            &self.build_folders,
            &self.code,
            &self.code_options,
            &self.writers,
            &self.writing_options,
            &self.writing_words,
        ]
    }

    /// Whether an option of this program loads code.
    pub(super) fn takes_code(&self, program: &str, option: &str) -> bool {
        self.coded.iter().any(|it| {
            it.programs.iter().any(|name| name == program)
                && it.options.iter().any(|name| name == option)
        })
    }

    /// Whether a word, or the option before it, sets an installation target. Configure steps only record it.
    pub(super) fn installs_to(&self, program: &str, text: &str, before: Option<&str>) -> bool {
        let configures = program.ends_with("configure") || matches!(program, "meson" | "cmake");
        let is = |text: &str| {
            let name = text.split('=').next().unwrap_or_default();
            let name = name.trim_start_matches('-').to_ascii_lowercase();
            listed(
                "prefix destdir exec-prefix exec_prefix install-dir install-root installroot bindir sbindir \
                libdir sysconfdir install-prefix tree roles-path collections-path",
                &name,
            )
        };
        let glued = text.contains('=') && is(text);
        let installs = (program == "cmake" && text.starts_with('/')) || !configures;
        installs && (glued || before.is_some_and(is))
    }
}

impl ReadPositions {
    /// The index after the subcommands; `None` if this entry does not match the call.
    pub(super) fn index_after_name(
        &self,
        program: &str,
        arguments: &[(String, bool)],
    ) -> Option<usize> {
        self.names.iter().find_map(|name| {
            let mut next = 0;
            for (index, alternatives) in name.split(' ').enumerate() {
                let is = |text: &str| alternatives.split('|').any(|word| word == text);
                if index == 0 {
                    if !is(program) {
                        return None;
                    }
                    continue;
                }
                next += arguments.iter().skip(next).position(|(text, _)| is(text))? + 1;
            }
            Some(next)
        })
    }
}
