//! Calls of unlisted programs with files of a sibling folder, where nothing suggests writing.

use super::paths::is_root_folder_name;
use crate::risk::shell::classifier::Classifier;
use crate::risk::shell::path_kind;
use crate::risk::shell::syntax::UNKNOWN;

impl Classifier<'_> {
    /// Whether all outside paths of a call are plain files in sibling folders, and neither the program's name nor
    /// its other words suggest writing.
    pub(in crate::risk::shell) fn only_reads_siblings(
        &self,
        program: &str,
        arguments: &[(String, bool)],
    ) -> bool {
        let table = &self.table.elsewhere;
        let name = program.rsplit('/').next().unwrap_or(program);
        if table.writers.is_match(name) || path_kind::is_outside(&self.folder) {
            return false;
        }
        let in_sibling = |(text, glob): &(String, bool)| {
            !glob && is_in_sibling(&path_kind::normalize(text, &self.folder)) && is_in_sibling(text)
        };
        let (siblings, others): (Vec<_>, Vec<_>) =
            arguments.iter().cloned().partition(|argument| in_sibling(argument));
        let suggests_writing = |(text, _): &(String, bool)| {
            let (option, value) =
                text.split_once('=').map_or((text.as_str(), None), |(name, it)| (name, Some(it)));
            text.contains(['>', '<', '|', ';', '&', '`', '$', UNKNOWN])
                || (value.is_some() && !text.starts_with('-'))
                || table.writing_options.is_match(option)
                || table.writing_words.is_match(text)
        };
        if siblings.is_empty() || others.iter().any(suggests_writing) {
            return false;
        }
        // The last of several files may be the target.
        let mut plain = arguments.iter().filter(|(text, _)| !text.starts_with('-'));
        let subcommand = |text: &str| text.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        let first = plain.next().is_some_and(|it| in_sibling(it) || subcommand(&it.0));
        first && plain.all(in_sibling) && self.changed_path(program, &others, false).is_none()
    }

    /// The first outside path of an unlisted program, which may also be in a folder of installed programs; `None` unless
    /// the program's name or a word suggests writing.
    pub(in crate::risk::shell) fn changed_installed_path(
        &self,
        program: &str,
        arguments: &[(String, bool)],
    ) -> Option<String> {
        let table = &self.table.elsewhere;
        let name = program.rsplit('/').next().unwrap_or(program);
        let suggests_writing = |(text, _): &(String, bool)| {
            let option = text.split('=').next().unwrap_or_default();
            // An option of a single letter may have any meaning.
            let names = matches!(
                option.trim_start_matches('-'),
                "file" | "files" | "format" | "sort" | "load" | "dir"
            );
            option.len() > 2 && !names && table.writing_options.is_match(option)
                || table.writing_words.is_match(text)
        };
        let writes = table.writers.is_match(name) || arguments.iter().any(suggests_writing);
        let tool = self.table.verbs.is_tool(name) || self.table.verbs.excepted(name);
        // The options of a project script may have any meaning, and an option that names a file may only read it.
        if tool || !writes || program.contains('/') || program == "meson" {
            return None;
        }
        self.changed_path(program, arguments, true)
    }
}

/// Whether a text is one plain path in a sibling of the working folder or of its parent.
pub(super) fn is_in_sibling(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("../") else { return false };
    let rest = rest.strip_prefix("../").unwrap_or(rest);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+~^%,-/".contains(c);
    let mut parts = rest.split('/');
    let first = parts.next().unwrap_or_default();
    let named = |part: &str| !part.starts_with(['.', '-', '~']);
    !first.is_empty()
        && !is_root_folder_name(first)
        && named(first)
        && parts.all(named)
        && rest.chars().all(plain)
        && !path_kind::is_private(text)
}
