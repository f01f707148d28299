//! Words that name a path outside the working folder (SPEC §7.1).
//!
//! No list of all options that write can be complete. Therefore a program that gets an outside path counts as changing
//! it, unless `rules.toml` lists the position of the path as one that is only read.

mod neighbours;
pub(super) mod outputs;
mod paths;
pub(super) mod positions;

use std::ops::Range;

use super::judge::Judge;
use super::place;
use super::syntax::{SimpleCommand, Word, before};
pub(super) use paths::{Use, is_elsewhere, is_planted, paths};
use paths::{archive, mounted};
use positions::Operands;

impl Judge<'_> {
    /// The first path outside the working folder that the call may change or run.
    pub(super) fn elsewhere(
        &self,
        program: &str,
        arguments: &[(String, bool)],
        raised: bool,
    ) -> Option<String> {
        let table = &self.table.elsewhere;
        let entry = table.reads.iter().find_map(|it| Some((it, it.begins(program, arguments)?)));
        let (begin, operands) = entry.map_or((0, Operands::None), |(it, at)| (at, it.operands));
        let named = |options: &[String], text: &str| options.iter().any(|option| option == text);
        let is_value = |at: usize| {
            before(arguments, at)
                .is_some_and(|(before, _)| entry.is_some_and(|(it, _)| named(&it.values, before)))
        };
        let is_option = |text: &str| text.starts_with('-') && text.len() > 1;
        let is_operand = |at: &usize| {
            arguments.get(*at).is_some_and(|(text, _)| !is_option(text)) && !is_value(*at)
        };
        let last = (0..arguments.len()).rfind(is_operand);
        let first = (begin..arguments.len()).find(is_operand);
        let containers = matches!(program, "docker" | "podman" | "nerdctl" | "docker-compose");
        let archive = archive(program, arguments);
        for (at, (text, _)) in arguments.iter().enumerate() {
            if archive.as_ref().is_some_and(|(creates, archive)| *creates != archive.contains(&at))
            {
                continue;
            }
            let before = before(arguments, at).map(|(text, _)| text.as_str());
            let before = before.filter(|text| is_option(text) && !text.contains('='));
            let own = text.split('=').next().filter(|_| is_option(text));
            let glued = own.is_some_and(|own| own.len() < text.len());
            let option = own.filter(|_| glued).or(before.filter(|_| own.is_none()));
            let used = match option {
                Some(option) if table.loads.is_match(option) => Use::Code,
                Some(option) if table.takes_code(program, option) => Use::Code,
                // The value is attached to a short option that loads code.
                _ if text.len() > 2
                    && own.is_some_and(|own| !own.starts_with("--"))
                    && text.get(..2).is_some_and(|it| table.takes_code(program, it)) =>
                {
                    Use::Code
                }
                // An installation target is written.
                _ if table.installs_to(program, text, before) => {
                    if text.ends_with("=/") || text == "/" {
                        return Some("/".to_owned());
                    }
                    Use::Raised
                }
                Some(option) if outputs::loads_code(option, text) => Use::Code,
                _ if raised || outputs::writes_to(program, option) => Use::Raised,
                // The target of a copy-like call.
                _ if operands == Operands::Sources && last == Some(at) && first != last => {
                    Use::Raised
                }
                _ => Use::Program,
            };
            // Build folders beside the project, and install prefixes that a build only records.
            if outputs::is_beside(program, option, text, (arguments.len() == at + 1, &self.folder))
                || outputs::only_named(program, own.or(before), text, raised)
            {
                continue;
            }
            let reads = match (entry, option) {
                _ if used == Use::Code => false,
                (Some((it, _)), Some(option)) if named(&it.options, option) => true,
                (_, Some(option)) if table.inputs.is_match(option) => true,
                // The value is attached to a short option that only reads it.
                (Some((it, _)), _) if own.is_some() && !glued => it
                    .options
                    .iter()
                    .any(|known| known.len() == 2 && text.starts_with(known.as_str())),
                _ if own.is_some() || is_value(at) => false,
                _ => match operands {
                    Operands::None => false,
                    Operands::All => at >= begin,
                    Operands::First => first == Some(at),
                    // After an unknown long option the word may be the option's value.
                    Operands::Sources => {
                        let flag = |text: &str| {
                            !text.starts_with("--")
                                || entry.is_some_and(|(it, _)| named(&it.flags, text))
                        };
                        last != Some(at) && before.is_none_or(flag)
                    }
                },
            };
            if reads {
                // A file in a hidden folder of a world-writable place is no ordinary input.
                let planted = paths(text).into_iter().find(|path| is_planted(path));
                if planted.is_some() {
                    return planted;
                }
                continue;
            }
            let mount =
                containers && (option.is_none_or(|it| it != "--entrypoint")) && text.contains(':')
                    || containers && text.contains("type=bind");
            let text = if mount { mounted(text).unwrap_or_default() } else { text.as_str() };
            if let Some(path) = self.outside(text, used) {
                return Some(path);
            }
        }
        None
    }

    /// The path outside the working folder that a text names.
    pub(super) fn outside(&self, text: &str, used: Use) -> Option<String> {
        let settled = place::normalize(text, "");
        if self.links.iter().any(|link| place::below(&settled, link)) {
            return Some(settled);
        }
        paths(text)
            .into_iter()
            .map(|path| place::normalize(&path, &self.folder))
            .find(|path| is_elsewhere(path, used) || path == "/")
    }

    /// The first outside path in commands whose output becomes words of a command.
    pub(super) fn named_inside(&self, words: &[Word]) -> Option<String> {
        words.iter().filter_map(|word| word.inner.clone()).find_map(|inner| self.named_by(inner))
    }

    /// The first outside path in the arguments of these commands.
    pub(super) fn named_by(&self, commands: Range<usize>) -> Option<String> {
        let commands = self.script.commands.get(commands)?;
        commands.iter().flat_map(|command| command.arguments().iter()).find_map(|word| {
            let known = word.text.strip_prefix("+").unwrap_or(&word.text);
            self.outside(known, Use::Program)
        })
    }

    /// The first outside path in the input of a command, which is assumed to contain one path per line.
    pub(super) fn named_in_input(&self, command: &SimpleCommand) -> Option<String> {
        let (text, _) = self.reads(command);
        match text {
            Some(text) => text
                .split(['\n', '\0'])
                .map(|line| line.trim_end_matches("\\0"))
                .filter(|line| !line.trim().contains(' '))
                .find_map(|line| self.outside(line, Use::Program)),
            None => {
                let printed = command.redirects.iter().rev().find(|it| it.operator == "<");
                let inner = printed.and_then(|it| it.target.inner.clone());
                inner.or_else(|| command.input.clone()).and_then(|it| self.named_by(it))
            }
        }
    }

    /// Records a link that the command creates to a place outside the working folder. Paths below the link are
    /// outside, too.
    pub(super) fn remember_link(&mut self, program: &str, arguments: &[(String, bool)]) {
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
        if self.outside(first, Use::Raised).is_none() {
            return;
        }
        let name = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let target = rest.last().copied().filter(|target| *target != ".").unwrap_or(name);
        self.links.push(place::normalize(target, ""));
    }

    /// Checks the words of a wrapper before its inner command.
    pub(super) fn wrapper_elsewhere(
        &mut self,
        outer: &SimpleCommand,
        (program, name): (&str, &str),
        words: &[Word],
    ) {
        let subcommands = name.split(' ').skip(1).map(|word| (word.to_owned(), false));
        let arguments: Vec<_> = subcommands.chain(self.arguments(words)).collect();
        self.goes_elsewhere(outer, program, &arguments, outer.span());
    }

    /// Rates a path outside the working folder that a local call may change or run.
    pub(super) fn goes_elsewhere(
        &mut self,
        command: &SimpleCommand,
        program: &str,
        arguments: &[(String, bool)],
        span: Range<usize>,
    ) {
        if !command.remote
            && let Some(path) = self.elsewhere(program, arguments, command.raised)
        {
            self.danger("elsewhere", span, &may_change(&path));
        }
    }
}

/// The reason for a path outside the working folder.
pub(super) fn may_change(path: &str) -> String {
    format!("May change something outside the working folder: {path}.")
}
