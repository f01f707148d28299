//! Read-only calls of git, and of programs that ask git.
//!
//! In such calls git runs programs that the settings of the repository name: a monitor of the file system, filters, and
//! converters of differences. A call is safe only if the settings of every repository in which it may run name none.
//! Reading them is left to the caller, because no file is read here.

use std::sync::Arc;

use super::classifier::Classifier;
use super::lazy_regex::LazyRegex;
use super::listed::listed;
use super::program::program_of;
use super::rating::Rating;
use super::syntax::{END, UNKNOWN};
use super::table::WrapperKind;
use super::{SimpleCommand, path_kind};

/// Reads the settings of repositories.
pub trait RepositorySettings: std::fmt::Debug + Send + Sync {
    /// What git may run in this folder, or why that is not known: a setting, a hook, or the rest of a sentence. `None` if
    /// it runs nothing. `cwd` is the working folder of the command, as a plan has it; `folder` is relative to it, absolute,
    /// or begins with `~`; empty for the working folder itself.
    fn named_program(&self, cwd: Option<&str>, folder: &str) -> Option<String>;
}

/// What is known of the settings of repositories.
#[derive(Debug, Clone, Default)]
pub enum Repositories {
    /// Nothing.
    #[default]
    Unknown,
    /// They are taken to name no program. Only for judging the rules, without any folder.
    NameNothing,
    /// They can be read.
    Read(Arc<dyn RepositorySettings>),
}

/// How settings are read is no part of a policy.
impl PartialEq for Repositories {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Repositories {}

/// What stands for a folder that is not known.
const UNKNOWN_FOLDER: &str = "\u{E000}\u{E001}";

impl Classifier<'_> {
    /// The rating of a call that only reads, but asks git.
    pub(super) fn repository_rating(&self, program: &str, arguments: &[(String, bool)]) -> Rating {
        let named = match &self.surroundings.repositories {
            Repositories::NameNothing => None,
            Repositories::Unknown => {
                Some("the settings of the repository are not read here".to_owned())
            }
            Repositories::Read(settings) => {
                let option = (program == "git").then(|| changed_folder(arguments)).flatten();
                let mut folders = self.visited_folders.iter().map(|visited| match &option {
                    None => visited.clone(),
                    Some(to) if is_unknown(to) || climbs_back(to, visited) => {
                        UNKNOWN_FOLDER.to_owned()
                    }
                    Some(to) => path_kind::normalize(to, visited),
                });
                let moves_again = moves_again(self.source);
                folders.find_map(|folder| {
                    if moves_again || is_unknown(&folder) || is_unknown(&self.folder) {
                        return Some("the folder in which it runs is not known".to_owned());
                    }
                    settings.named_program(self.surroundings.cwd, &folder)
                })
            }
        };
        named.map_or_else(Rating::reads, |named| Rating::reads_repository(&named))
    }

    /// Notes the folders in which later commands may run. A command that may fail, be skipped or run later leaves them in
    /// an earlier one, so all of them count.
    pub(super) fn note_folder(&mut self, command: &SimpleCommand, program: &str) {
        let is_known = matches!(program, "cd" | "pushd") && {
            let options = command.arguments().iter().any(|word| word.text.starts_with(['-', '+']));
            // The shell may know the parent of the working folder by another name.
            let climbs = self.folder.starts_with("..");
            !options && !climbs
        };
        let folder = if is_known { self.folder.clone() } else { UNKNOWN_FOLDER.to_owned() };
        if !self.visited_folders.contains(&folder) {
            self.visited_folders.push(folder);
        }
    }

    /// Whether a command is a wrapper that may run its command in another folder.
    pub(super) fn is_wrapper_that_may_move(&self, command: &SimpleCommand, program: &str) -> bool {
        const STAYS: &str = "time timeout nice nohup stdbuf ionice command builtin exec xargs bash sh dash zsh ksh eval trap \
            setsid taskset chrt flock watch";
        let before = command.arguments().iter().map(|word| word.text.as_str()).take_while(|text| {
            !program_of(text).is_some_and(|name| matches!(name.as_str(), "git" | "gh"))
        });
        match program {
            "env" => before.into_iter().any(|text| {
                text.starts_with("--c")
                    || text.starts_with('-') && !text.starts_with("--") && text.contains('C')
            }),
            "find" | "gfind" => {
                before.into_iter().any(|text| matches!(text, "-execdir" | "-okdir"))
            }
            _ => {
                let no_command = [WrapperKind::Options, WrapperKind::Interpreter];
                let mut wrappers = self.table.wrappers_of(program, command.arguments());
                !listed(STAYS, program) && wrappers.any(|it| !no_command.contains(&it.kind))
            }
        }
    }
}

/// Whether a command line changes its folder, and may run parts of itself again or later, in a folder that a later part has
/// changed.
fn moves_again(line: &str) -> bool {
    static MOVES: LazyRegex = LazyRegex::new(r"\b(cd|pushd|popd)\b");
    static REPEATS: LazyRegex =
        LazyRegex::new(r"\b(for|while|until|select|function|trap|alias|eval|coproc)\b|\(\s*\)");
    MOVES.is_match(line) && REPEATS.is_match(line)
}

fn is_unknown(folder: &str) -> bool {
    folder.contains([UNKNOWN, END])
}

/// Whether a path leaves a folder again that may be a link to somewhere else.
fn climbs_back(path: &str, from: &str) -> bool {
    let mut parts = path.split('/');
    let climbs = |part: &str| part == "..";
    if !from.is_empty() {
        return parts.any(climbs);
    }
    parts.skip_while(|part| matches!(*part, "" | "." | "..")).any(climbs)
}

/// The folder to which the options `-C` before the subcommand lead.
fn changed_folder(arguments: &[(String, bool)]) -> Option<String> {
    let mut folder: Option<String> = None;
    let mut index = 0;
    while let Some((text, glob)) = arguments.get(index).filter(|(text, _)| text.starts_with('-')) {
        index += 1;
        let value = match text.as_str() {
            "-C" => arguments.get(index).map(|(value, glob)| (value.as_str(), *glob)),
            _ => text.strip_prefix("-C").map(|value| (value.trim_start_matches('='), *glob)),
        };
        let Some((value, glob)) = value else { continue };
        index += usize::from(text == "-C");
        folder = Some(match folder {
            _ if glob => return Some(UNKNOWN_FOLDER.to_owned()),
            Some(folder) if !value.starts_with(['/', '~']) => format!("{folder}/{value}"),
            _ => value.to_owned(),
        });
    }
    folder
}
