//! The patterns for programs and code in the options and operands of any program.

use serde::Deserialize;

use crate::risk::shell::lazy_regex::LazyRegex;

/// The section `embedded` of `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::risk::shell) struct Embedded {
    /// Long options whose value is a program, a command line, or code for an event.
    pub(super) handlers: LazyRegex,
    /// The options among `handlers` whose program receives data, which a shell would run as commands.
    pub(super) fed: LazyRegex,
    /// Options that assign a setting: `NAME=VALUE`.
    pub(super) sets: LazyRegex,
    /// Settings that name a program.
    names_program: LazyRegex,
    /// Harmless values of settings that name a program.
    harmless_programs: LazyRegex,
    /// Settings of Mercurial that only change how it displays and compares, and its bundled extensions.
    shows: LazyRegex,
    /// Options whose value is a script. The output of a process substitution there is code.
    pub(super) scripts: LazyRegex,
    /// Options for an output file. A value with a leading bar is a pipe.
    pub(super) writes: LazyRegex,
    /// Calls in code of any language that run another program. The command line follows.
    pub(super) runs: LazyRegex,
    /// Functions that delete files or change their permissions.
    pub(super) deletes: LazyRegex,
    /// Programs whose operands are messages for people, or patterns of code to search for.
    pub(super) messages: String,
}

impl Embedded {
    #[cfg(test)]
    pub(in crate::risk::shell) fn patterns(&self) -> [&LazyRegex; 10] {
        [
            &self.handlers,
            &self.fed,
            &self.sets,
            &self.names_program,
            &self.harmless_programs,
            &self.shows,
            &self.scripts,
            &self.writes,
            &self.runs,
            &self.deletes,
        ]
    }

    /// Whether `key=value` configures a program that is run.
    pub(super) fn sets_program(&self, program: &str, text: &str) -> bool {
        let Some((key, value)) = text.split_once('=') else { return false };
        let (key, value) = (key.trim(), value.trim());
        if !key.bytes().all(|it| it.is_ascii_alphanumeric() || b"._:-".contains(&it)) {
            return false;
        }
        let known = key.starts_with("extensions.") && !value.is_empty();
        if program == "hg" {
            let tame = self.shows.is_match(key)
                && (!self.names_program.is_match(key) || key.starts_with("ext"));
            return known || !(tame || self.harmless_programs.is_match(value) && !value.is_empty());
        }
        let runs = value.trim_start_matches(['"', '\'']).starts_with(['!', '|']);
        let takes =
            !matches!(program, "ssh" | "scp" | "sftp" | "docker" | "podman" | "mount" | "sshfs");
        runs && value.len() > 1
            || takes && self.names_program.is_match(key) && !self.harmless_programs.is_match(value)
    }
}
