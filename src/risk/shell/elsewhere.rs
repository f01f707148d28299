//! Words that name a place outside the working folder (SPEC §7.1).
//!
//! Nobody can list every program with every option that writes. So the question is turned round: a program that
//! is given such a place may change it, unless the table of `rules.toml` says that it only reads in this position.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::judge::Judge;
use super::place;
use super::syntax::{END, SimpleCommand, UNKNOWN, Word};

/// The part of the table that says in which positions places are only read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Elsewhere {
    /// Options that every program uses for what it reads.
    inputs: String,
    /// Options whose value is code or names a file with code.
    loads: String,
    reads: Vec<Reads>,
    #[serde(skip)]
    compiled: Option<(Regex, Regex)>,
}

/// Which words of a program are only read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reads {
    /// `program` or `program subcommand`; words may be `a|b`.
    names: Vec<String>,
    #[serde(default)]
    operands: Operands,
    /// Options whose value is only read.
    #[serde(default)]
    options: Vec<String>,
    /// Long options without a value: what follows is an operand.
    #[serde(default)]
    flags: Vec<String>,
    /// Options whose value is written or runs; their value is no operand.
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Operands {
    /// None of them is known to be only read.
    #[default]
    None,
    /// All of them.
    All,
    /// The first one: a script, or what is opened.
    First,
    /// All but the last one, which is the target.
    Sources,
}

impl Elsewhere {
    pub(super) fn compile(&mut self) -> Result<(), String> {
        let regex = |text: &str| Regex::new(text).map_err(|error| format!("{text}: {error}"));
        self.compiled = Some((regex(&self.inputs)?, regex(&self.loads)?));
        Ok(())
    }

    fn is_input(&self, option: &str) -> bool {
        self.compiled.as_ref().is_some_and(|(inputs, _)| inputs.is_match(option))
    }

    fn loads(&self, option: &str) -> bool {
        self.compiled.as_ref().is_none_or(|(_, loads)| loads.is_match(option))
    }
}

impl Reads {
    /// Where the operands begin, when this is about the call.
    fn begins(&self, program: &str, arguments: &[(String, bool)]) -> Option<usize> {
        self.names.iter().find_map(|name| {
            let mut at = 0;
            for (index, alternatives) in name.split(' ').enumerate() {
                let is = |text: &str| alternatives.split('|').any(|word| word == text);
                if index == 0 {
                    if !is(program) {
                        return None;
                    }
                    continue;
                }
                at += arguments.iter().skip(at).position(|(text, _)| is(text))? + 1;
            }
            Some(at)
        })
    }
}

/// Folders in which a path that begins at the root is taken for one, and not for a route or a pattern.
const KNOWN: [&str; 31] = [
    "bin", "boot", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "nix",
    "opt", "private", "proc", "root", "run", "sbin", "snap", "srv", "sys", "tmp", "usr", "var",
    "Applications", "Library", "System", "Users", "Volumes", "workspace", "workspaces",
];

/// Where programs are installed; without more rights nobody writes there.
const INSTALLED: [&str; 9] =
    ["/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix", "/snap"];

/// Files of `/dev` that a program may be given.
const DEVICES: [&str; 6] =
    ["/dev/random", "/dev/urandom", "/dev/stdin", "/dev/tty", "/dev/null", "/dev/fd"];

/// Who asks for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A program that may write there.
    Program,
    /// A program that may write there with more rights.
    Raised,
    /// A program that takes code from there.
    Code,
}

/// Whether a settled path is outside the working folder, and not one of the places that everybody uses.
pub(super) fn is_elsewhere(path: &str, used: Use) -> bool {
    if !place::is_outside(path) {
        return false;
    }
    let below = |folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let temporary = below("/tmp") || below("/var/tmp") || below("/var/folders");
    let hidden = path.contains("/.") && !path.starts_with("/tmp/.X11") && !path.starts_with("/tmp/.ICE");
    if temporary && !hidden {
        return used == Use::Code;
    }
    if DEVICES.iter().any(|device| below(device)) || path.starts_with("/dev/tty") {
        return false;
    }
    used == Use::Raised || !INSTALLED.iter().any(|folder| below(folder))
}

/// The paths that a text may name: it itself, what stands behind a sign that joins names and values, and what is
/// glued to an option.
pub(super) fn paths(text: &str) -> Vec<String> {
    static HOME: LazyLock<[(String, &str); 5]> = LazyLock::new(|| {
        [("HOME", "~"), ("XDG_CONFIG_HOME", "~/.config"), ("XDG_DATA_HOME", "~/.local/share"),
            ("XDG_STATE_HOME", "~/.local/state"), ("XDG_CACHE_HOME", "~/.cache")]
        .map(|(name, path)| (format!("{UNKNOWN}{name}{END}"), path))
    });
    let mut text = text.to_owned();
    for (mark, path) in HOME.iter() {
        if text.contains(mark.as_str()) {
            text = text.replace(mark.as_str(), path);
        }
    }
    let is_path = |piece: &str| {
        piece.starts_with("~") && !piece.starts_with("~~")
            || piece == ".."
            || piece.starts_with("../")
            || piece.contains("/../")
            || piece.ends_with("/..")
            || piece.strip_prefix('/').is_some_and(|rest| {
                let rest = rest.trim_start_matches(['/', '.']);
                let first = rest.split(['/', ' ', '\n', ';', ':', ',']).next().unwrap_or_default();
                KNOWN.contains(&first) || first.contains(['*', '?', '[']) && first.len() < 8
            })
    };
    let mut found: Vec<String> = Vec::new();
    if matches!(text.as_str(), "/" | "/." | "/*") {
        found.push("/".to_owned());
    }
    let url = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.ends_with("file") && scheme.len() < 12 && !scheme.contains(['=', ' '])
    });
    if url {
        return found;
    }
    let text = text.replace("file://", "=");
    // A text of several words is one path with blanks, or something else, of which only the beginning counts.
    let head = if text.starts_with(['/', '~']) || !text.contains([' ', '\n']) {
        text.as_str()
    } else {
        text.split([' ', '\n']).next().unwrap_or_default()
    };
    for piece in head.split(['=', ':', ',', '@', '<', '>', '(', '\'', '"', '#']) {
        if is_path(piece) {
            found.push(piece.to_owned());
        }
    }
    if let Some(letters) = head.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
        let at = ["/", "~/", "../"].iter().filter_map(|begin| letters.find(begin)).min();
        if let Some(piece) = at.filter(|at| *at > 0).and_then(|at| letters.get(at..))
            && is_path(piece)
        {
            found.push(piece.to_owned());
        }
    }
    found
}

/// The path that a container is given of this computer: what stands before the colon, if it may write there.
fn mounted(text: &str) -> Option<&str> {
    let text = text.trim_start_matches("--volume=").trim_start_matches("-v");
    if let Some(source) = text.split(',').find_map(|part| {
        part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")).or_else(|| part.strip_prefix("dest="))
    }) {
        return (!text.contains("readonly") && !text.contains(",ro")).then_some(source);
    }
    let (source, target) = text.split_once(':')?;
    let read_only = target.rsplit(':').next().is_some_and(|mode| mode.split(',').any(|it| it == "ro"));
    (!read_only).then_some(source)
}

/// Of a call of `tar`: whether it makes an archive, and which words name that archive. One that is made is
/// written and all else read; one that is taken apart is read and all else may be written.
fn archive(program: &str, arguments: &[(String, bool)]) -> Option<(bool, Vec<usize>)> {
    if !matches!(program, "tar" | "bsdtar" | "gtar") {
        return None;
    }
    let (mut creates, mut named, mut written) = (false, Vec::new(), Vec::new());
    for (at, (text, _)) in arguments.iter().enumerate() {
        let letters = text.strip_prefix('-').or((at == 0).then_some(text.as_str()));
        let Some(letters) = letters else { continue };
        if let Some(long) = letters.strip_prefix('-') {
            creates |= matches!(long, "create" | "append" | "update" | "concatenate" | "catenate");
            match long.strip_prefix("file") {
                Some("") => named.push(at + 1),
                Some(value) if value.starts_with('=') => named.push(at),
                // Files of its own that are written while an archive is made.
                _ if long.contains('=') && !long.starts_with("exclude") => written.push(at),
                _ => {}
            }
            continue;
        }
        let known = letters.split(['/', '~', '=']).next().unwrap_or_default();
        let value = known.find(['f', 'C', 'g', 'X', 'T', 'I', 'H', 'b']);
        let bundle = known.get(..value.map_or(known.len(), |at| at + 1)).unwrap_or_default();
        creates |= bundle.contains(['c', 'r', 'u', 'A']);
        match bundle.chars().next_back() {
            Some('f') if at == 0 && !text.starts_with('-') => named.push(1),
            Some('f') if bundle.len() == letters.len() => named.push(at + 1),
            Some('f' | 'g') => named.push(at),
            _ => {}
        }
    }
    if creates {
        named.append(&mut written);
    }
    Some((creates, named))
}

impl Judge<'_> {
    /// The first place outside the working folder that a call may do more with than read.
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
            at.checked_sub(1).and_then(|at| arguments.get(at)).is_some_and(|(before, _)| {
                entry.is_some_and(|(it, _)| named(&it.values, before))
            })
        };
        let is_option = |text: &str| text.starts_with('-') && text.len() > 1;
        let last = (0..arguments.len())
            .rfind(|at| arguments.get(*at).is_some_and(|(text, _)| !is_option(text)) && !is_value(*at));
        let first = (begin..arguments.len())
            .find(|at| arguments.get(*at).is_some_and(|(text, _)| !is_option(text)) && !is_value(*at));
        let containers = matches!(program, "docker" | "podman" | "nerdctl" | "docker-compose");
        let archive = archive(program, arguments);
        for (at, (text, _)) in arguments.iter().enumerate() {
            if archive.as_ref().is_some_and(|(creates, archive)| *creates != archive.contains(&at)) {
                continue;
            }
            let before = at.checked_sub(1).and_then(|at| arguments.get(at)).map(|(text, _)| text.as_str());
            let before = before.filter(|text| is_option(text) && !text.contains('='));
            let own = text.split('=').next().filter(|_| is_option(text));
            let glued = own.is_some_and(|own| own.len() < text.len());
            let option = own.filter(|_| glued).or(before.filter(|_| own.is_none()));
            let used = match option {
                Some(option) if table.loads(option) => Use::Code,
                _ if raised => Use::Raised,
                _ => Use::Program,
            };
            let reads = match (entry, option) {
                _ if used == Use::Code => false,
                (Some((it, _)), Some(option)) if named(&it.options, option) => true,
                (_, Some(option)) if table.is_input(option) => true,
                // What is glued to a short option that is known to be read.
                (Some((it, _)), _) if own.is_some() && !glued => {
                    it.options.iter().any(|known| known.len() == 2 && text.starts_with(known.as_str()))
                }
                _ if own.is_some() || is_value(at) => false,
                _ => match operands {
                    Operands::None => false,
                    Operands::All => at >= begin,
                    Operands::First => first == Some(at),
                    // Behind a long option nobody knows whether it is its value.
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
                continue;
            }
            let mount = containers && (option.is_none_or(|it| it != "--entrypoint")) && text.contains(':')
                || containers && text.contains("type=bind");
            let text = if mount { mounted(text).unwrap_or_default() } else { text.as_str() };
            if let Some(path) = self.outside(text, used) {
                return Some(path);
            }
        }
        None
    }

    /// The place outside the working folder that a text names.
    pub(super) fn outside(&self, text: &str, used: Use) -> Option<String> {
        let link = |path: &str| {
            self.links.iter().any(|link| {
                path.strip_prefix(link.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let settled = place::settle(text, "");
        if link(&settled) {
            return Some(settled);
        }
        paths(text)
            .into_iter()
            .map(|path| place::settle(&path, &self.folder))
            .find(|path| is_elsewhere(path, used) || path == "/")
    }

    /// Places that the commands name whose output becomes words of a command.
    pub(super) fn named_inside(&self, words: &[Word]) -> Option<String> {
        words.iter().filter_map(|word| word.inner.clone()).find_map(|inner| self.named_by(inner))
    }

    /// The first place outside the working folder that one of these commands is given.
    pub(super) fn named_by(&self, commands: std::ops::Range<usize>) -> Option<String> {
        let commands = self.script.commands.get(commands)?;
        commands.iter().flat_map(|command| command.words.iter().skip(1)).find_map(|word| {
            let known = word.text.strip_prefix("+").unwrap_or(&word.text);
            self.outside(known, Use::Program)
        })
    }

    /// Places outside the working folder in what a command reads, where each line is one.
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

    /// A link that leads out makes what is below it outside, too.
    pub(super) fn remember_link(&mut self, program: &str, arguments: &[(String, bool)]) {
        if program != "ln" {
            return;
        }
        let operands: Vec<&str> =
            arguments.iter().map(|(text, _)| text.as_str()).filter(|text| !text.starts_with('-')).collect();
        let Some((first, rest)) = operands.split_first() else { return };
        if self.outside(first, Use::Raised).is_none() {
            return;
        }
        let name = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let target = rest.last().copied().filter(|target| *target != ".").unwrap_or(name);
        self.links.push(place::settle(target, ""));
    }

    /// Judges the words of a wrapper before the command that it runs.
    pub(super) fn wrapper_elsewhere(
        &mut self,
        outer: &SimpleCommand,
        (program, name): (&str, &str),
        words: &[Word],
    ) {
        let subcommands = name.split(' ').skip(1).map(|word| (word.to_owned(), false));
        let arguments: Vec<_> = subcommands.chain(self.arguments(words)).collect();
        if outer.remote {
            return;
        }
        if let Some(path) = self.elsewhere(program, &arguments, outer.raised) {
            let reason = format!("May change something outside the working folder: {path}.");
            self.danger("elsewhere", outer.span(), &reason);
        }
    }
}
