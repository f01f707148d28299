//! Words that name a path outside the working folder, an *outside path* (SPEC §7.1).
//!
//! No list of all options that write can be complete. Therefore a program that gets an outside path counts as changing
//! this path, unless `rules.toml` lists the position of the path as one that is only read.

mod outputs;
mod paths;
pub(super) mod positions;
mod siblings;

use std::ops::Range;

use super::classifier::Classifier;
use super::syntax::before;
use super::{SimpleCommand, Word, path_kind};
pub(super) use paths::{PathUse, is_elsewhere, is_in_hidden_temporary, paths};
use paths::{tar_archive, writable_mount};
use positions::Operands;

impl Classifier<'_> {
    /// The first outside path that a call may change or run.
    pub(super) fn changed_path(
        &self,
        program: &str,
        arguments: &[(String, bool)],
        raised: bool,
    ) -> Option<String> {
        let table = &self.table.elsewhere;
        let entry =
            table.reads.iter().find_map(|it| Some((it, it.index_after_name(program, arguments)?)));
        let (begin, operands) =
            entry.map_or((0, Operands::None), |(it, index)| (index, it.operands));
        let named = |options: &[String], text: &str| options.iter().any(|option| option == text);
        let is_value = |index: usize| {
            before(arguments, index)
                .is_some_and(|(before, _)| entry.is_some_and(|(it, _)| named(&it.values, before)))
        };
        let is_option = |text: &str| text.starts_with('-') && text.len() > 1;
        let is_operand = |index: &usize| {
            arguments.get(*index).is_some_and(|(text, _)| !is_option(text)) && !is_value(*index)
        };
        let last = (0..arguments.len()).rfind(is_operand);
        let first = (begin..arguments.len()).find(is_operand);
        let containers = matches!(program, "docker" | "podman" | "nerdctl" | "docker-compose");
        let archive = tar_archive(program, arguments);
        for (index, (text, _)) in arguments.iter().enumerate() {
            if archive
                .as_ref()
                .is_some_and(|(creates, archive)| *creates != archive.contains(&index))
            {
                continue;
            }
            let before = before(arguments, index).map(|(text, _)| text.as_str());
            let before = before.filter(|text| is_option(text) && !text.contains('='));
            let own_option = text.split('=').next().filter(|_| is_option(text));
            let glued = own_option.is_some_and(|own_option| own_option.len() < text.len());
            let option = own_option.filter(|_| glued).or(before.filter(|_| own_option.is_none()));
            let used = match option {
                Some(option) if table.loads.is_match(option) => PathUse::LoadsCode,
                Some(option) if table.takes_code(program, option) => PathUse::LoadsCode,
                // The value is attached to a short option that loads code.
                _ if text.len() > 2
                    && own_option.is_some_and(|own_option| !own_option.starts_with("--"))
                    && text.get(..2).is_some_and(|it| table.takes_code(program, it)) =>
                {
                    PathUse::LoadsCode
                }
                // An installation target is written.
                _ if table.installs_to(program, text, before) => {
                    if text.ends_with("=/") || text == "/" {
                        return Some("/".to_owned());
                    }
                    PathUse::Written
                }
                Some(option) if table.loads_code(option, text) => PathUse::LoadsCode,
                _ if raised || table.writes_to(program, option) => PathUse::Written,
                // The target of a copy-like call.
                _ if operands == Operands::Sources && last == Some(index) && first != last => {
                    PathUse::Written
                }
                _ => PathUse::MayWrite,
            };
            // Build folders beside the project, and install prefixes that a build only records.
            if table.is_beside(program, option, text, (arguments.len() == index + 1, &self.folder))
                || outputs::only_named(program, own_option.or(before), text, raised)
            {
                continue;
            }
            let reads = match (entry, option) {
                _ if used == PathUse::LoadsCode => false,
                (Some((it, _)), Some(option)) if named(&it.options, option) => true,
                (_, Some(option)) if table.inputs.is_match(option) => true,
                // The value is attached to a short option that only reads it.
                (Some((it, _)), _) if own_option.is_some() && !glued => it
                    .options
                    .iter()
                    .any(|known| known.len() == 2 && text.starts_with(known.as_str())),
                _ if own_option.is_some() || is_value(index) => false,
                _ => match operands {
                    Operands::None => false,
                    Operands::All => index >= begin,
                    Operands::First => first == Some(index),
                    // After an unknown long option the word may be the option's value.
                    Operands::Sources => {
                        let flag = |text: &str| {
                            !text.starts_with("--")
                                || entry.is_some_and(|(it, _)| named(&it.flags, text))
                        };
                        last != Some(index) && before.is_none_or(flag)
                    }
                },
            };
            if reads {
                // A file in a hidden folder of a world-writable place is no ordinary input.
                let hidden = paths(text).into_iter().find(|path| is_in_hidden_temporary(path));
                if hidden.is_some() {
                    return hidden;
                }
                continue;
            }
            let mount =
                containers && (option.is_none_or(|it| it != "--entrypoint")) && text.contains(':')
                    || containers && text.contains("type=bind");
            let text = if mount { writable_mount(text).unwrap_or_default() } else { text.as_str() };
            if let Some(path) = self.outside_path(text, used) {
                return Some(path);
            }
        }
        None
    }

    /// The first outside path that a text names. Which paths count depends on their use.
    pub(super) fn outside_path(&self, text: &str, used: PathUse) -> Option<String> {
        let settled = path_kind::normalize(text, "");
        if self.links.iter().any(|link| path_kind::below(&settled, link)) {
            return Some(settled);
        }
        paths(text)
            .into_iter()
            .map(|path| path_kind::normalize(&path, &self.folder))
            .find(|path| is_elsewhere(path, used) || path == "/")
    }

    /// The first outside path in the commands whose output becomes a part of these words.
    pub(super) fn path_in_substitutions(&self, words: &[Word]) -> Option<String> {
        words
            .iter()
            .filter_map(|word| word.inner.clone())
            .find_map(|inner| self.path_in_commands(inner))
    }

    /// The first outside path in the arguments of these commands.
    pub(super) fn path_in_commands(&self, commands: Range<usize>) -> Option<String> {
        let commands = self.script.commands.get(commands)?;
        commands.iter().flat_map(|command| command.arguments().iter()).find_map(|word| {
            let known = word.text.strip_prefix("+").unwrap_or(&word.text);
            self.outside_path(known, PathUse::MayWrite)
        })
    }

    /// The first outside path in the input of a command, which is assumed to contain one path per line.
    pub(super) fn path_in_input(&self, command: &SimpleCommand) -> Option<String> {
        let (text, _) = self.known_input(command);
        match text {
            Some(text) => text
                .split(['\n', '\0'])
                .map(|line| line.trim_end_matches("\\0"))
                .filter(|line| !line.trim().contains(' '))
                .find_map(|line| self.outside_path(line, PathUse::MayWrite)),
            None => {
                let printed = command.redirects.iter().rev().find(|it| it.operator == "<");
                let inner = printed.and_then(|it| it.target.inner.clone());
                inner.or_else(|| command.input.clone()).and_then(|it| self.path_in_commands(it))
            }
        }
    }

    /// Records a link that the command creates to an outside path. Paths below the link are outside, too.
    pub(super) fn record_link(&mut self, program: &str, arguments: &[(String, bool)]) {
        let links = |text: &str| {
            matches!(text, "--link" | "--symbolic-link")
                || text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 's'])
        };
        let copies = program == "cp" && arguments.iter().any(|(text, _)| links(text));
        if program != "ln" && !copies {
            return;
        }
        let operands: Vec<&str> = arguments
            .iter()
            .map(|(text, _)| text.as_str())
            .filter(|text| !text.starts_with('-'))
            .collect();
        let Some((first, rest)) = operands.split_first() else { return };
        if self.outside_path(first, PathUse::Written).is_none() {
            return;
        }
        let name = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let target = rest.last().copied().filter(|target| *target != ".").unwrap_or(name);
        self.links.push(path_kind::normalize(target, ""));
    }

    /// Rates an outside path in the words of a wrapper before its inner command.
    pub(super) fn rate_wrapper_paths(
        &mut self,
        outer: &SimpleCommand,
        (program, name): (&str, &str),
        words: &[Word],
    ) {
        let subcommands = name.split(' ').skip(1).map(|word| (word.to_owned(), false));
        let arguments: Vec<_> = subcommands.chain(self.expand_arguments(words)).collect();
        self.rate_outside_path(outer, program, &arguments, outer.span());
    }

    /// Rates an outside path that a local call may change or run.
    pub(super) fn rate_outside_path(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        arguments: &[(String, bool)],
        span: Range<usize>,
    ) {
        if !command.remote
            && let Some(path) = self.changed_path(program, arguments, command.raised)
        {
            self.add_danger("elsewhere", span, &may_change(&path));
        }
    }
}

/// The reason for an outside path.
pub(super) fn may_change(path: &str) -> String {
    format!("May change something outside the working folder: {path}.")
}
